"""What a table of the panel shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from SegmentMetricsLib.show import tablemodel
from SegmentMetricsLib.show.tablemodel import Column


class Cell(NamedTuple):
    """A cell. value: by which it is sorted: text, number, or None, which is last. color: of its background, light."""

    words: str
    value: str | float | tuple | None
    tip: str = ""
    color: str = ""

    def text(self) -> str:
        return self.words


class TableContents(NamedTuple):
    """A table of results, and how a widget lays it out. The tool tips of headings are descriptions of their columns.

    stretched: indices of the columns that share the remaining width; without any, or if numbers need more width, the
    table may scroll. order: row indices from top to bottom while not sorted, () for the order of the rows.
    """

    columns: Sequence[Column] = ()
    rows: Sequence[Sequence[Cell]] = ()
    stretched: Sequence[int] = ()
    order: Sequence[int] = ()

    @classmethod
    def of(cls, headings: Iterable[tuple[str, str]], rows: Iterable[Iterable[tuple]], **layout) -> TableContents:
        """Return a table of headings with their tool tips, and of rows of (words, value, tip, color)."""
        columns = [Column(heading, description=tip) for heading, tip in headings]
        return cls(columns, [[Cell(*cell) for cell in row] for row in rows], **layout)

    def texts(self, order: Iterable[int] | None = None) -> list[list[str]]:
        """Return rows, all or those with the given indices, as people read them, below a row of headings."""
        rows = self.rows if order is None else [self.rows[number] for number in order]
        return tablemodel.Table(self.columns, rows).texts()


def sortable(value: float | None) -> float | None:
    """Return a number as a sorting key: None if it is None or NaN."""
    return None if value is None or math.isnan(value) else value


def inUnit(value: float | None, unit: str) -> tuple[str, float] | None:
    """Return a number as a sorting key in a column with several units: those of a unit stay together."""
    return None if sortable(value) is None else (unit, value)
