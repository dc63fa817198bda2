"""The model of every table of results: columns that say what they are, and rows of values.

A terminal, a file, a table node, a widget and a page each show such a table in their own way; how a value reads is
decided here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..base.markup import Markup, fill, join
from ..metrics.measurement import IN_CENTIMETERS, decimalsOf, roundText, typeset, withUnit


class Column(NamedTuple):
    """A column of a table.

    key: its name in files. title: for people, the key if None. unit: of its numbers, "" for ratios, text, and values
    that have units of their own. isText: whether it holds text, which is flush left. digits: decimal places of its
    numbers; None for those of their unit.
    """

    key: str
    title: str | None = None
    unit: str = ""
    description: str = ""
    isText: bool = False
    digits: int | None = None

    @property
    def heading(self) -> str:
        return self.key if self.title is None else self.title

    def text(self, value: Any) -> str:
        """Return a value of this column as people read it; "" for None.

        value: a text, a number in the unit of the column, or something with a value and a text(), like a Measurement.
        """
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if hasattr(value, "text"):
            return value.text()
        if isinstance(value, int):
            return str(value)
        if math.isnan(value):
            return "undefined"
        return withUnit(value, self.unit) if self.digits is None else roundText(value, self.digits)

    def texts(self, values: Sequence[Any]) -> list[str]:
        """Return all values of this column as people read them: in one unit, if they have the same.

        Where some volumes are so small that alone they would be in mm3, all are in cm3 with one more decimal place.
        """
        found = [self.text(value) for value in values]
        # finite numbers, but no counts
        known = {n: one for n, one in enumerate(values) if isinstance(plain(one), float) and math.isfinite(plain(one))}
        units = {getattr(value, "unit", self.unit) for value in known.values()}
        areMixed = len(units) == 1 and len({found[number].rpartition(" ")[2] for number in known}) > 1
        if not areMixed or not units <= set(IN_CENTIMETERS):
            return found
        larger, scale = IN_CENTIMETERS[units.pop()]
        decimals = decimalsOf(larger) + 1
        for number, value in known.items():
            size = plain(value) / scale
            isSeen = round(size, decimals) != 0 or not size
            least = f"{'< ' if size > 0 else '> -'}{10.0**-decimals:.{decimals}f}"
            found[number] = f"{roundText(size, decimals) if isSeen else least} {larger}"
        return found


class Amount(NamedTuple):
    """A number in a unit that not all of its column have."""

    value: float
    unit: str

    def text(self) -> str:
        return withUnit(self.value, self.unit)


class Table(NamedTuple):
    """A table. rows: one value for every column, as for Column.text()."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]

    @classmethod
    def ofRows(cls, heads: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 1) -> Table:
        """Return a table with these headings. left: number of columns that are flush left, from the first on."""
        return cls([Column(head, isText=n < left) for n, head in enumerate(heads)], rows)

    @classmethod
    def ofColumns(cls, columns: Iterable[tuple[Column, Iterable[Any]]]) -> Table:
        """Return a table that is given column by column: what each is, and its values."""
        kinds, values = zip(*columns, strict=True)
        return cls(kinds, list(zip(*values, strict=True)))

    def only(self, headings: Mapping[str, str]) -> Table:
        """Return some of the columns. headings: by key, which replace their titles."""
        numbers = {column.key: n for n, column in enumerate(self.columns)}
        chosen = [numbers[key] for key in headings]
        titles = zip(chosen, headings.values(), strict=True)
        columns = [self.columns[n]._replace(title=title) for n, title in titles]
        return Table(columns, [[row[n] for n in chosen] for row in self.rows])

    def texts(self) -> list[list[str]]:
        """Return all rows as people read them, below a row of headings."""
        cells = zip(*(column.texts(values) for column, values in self.byColumn()), strict=True)
        return [[column.heading for column in self.columns], *map(list, cells)]

    def byColumn(self) -> Iterator[tuple[Column, Sequence[Any]]]:
        """Yield each column with its values."""
        for number, column in enumerate(self.columns):
            yield column, [row[number] for row in self.rows]


def plain(value: Any) -> Any:
    """Return a value of a table without its unit and wording: a text, a number or None."""
    return getattr(value, "value", value)


def notebookTable(table: Table) -> Markup:
    """Return a table as HTML for notebooks."""
    sides = ["left" if column.isText else "right" for column in table.columns]
    lines = []
    for number, row in enumerate(table.texts()):
        tag = Markup("td" if number else "th")
        cells = (
            fill('<$tag style="text-align: $side">$text</$tag>', tag=tag, side=side, text=typeset(text))
            for side, text in zip(sides, row, strict=True)
        )
        lines.append(fill("<tr>$cells</tr>", cells=join(cells)))
    return fill("<table>$lines</table>", lines=join(lines))


def notebookSentences(sentences: Iterable[str]) -> Markup:
    """Return sentences as HTML for notebooks."""
    return join(fill("<p>$sentence</p>", sentence=typeset(sentence)) for sentence in sentences)
