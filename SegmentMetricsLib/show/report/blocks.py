"""HTML building blocks of report pages: the page frame, template files, tables, names and verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib import resources

from ...base.markup import Markup, escape, fill, join
from ...case.protocol.judgment import FAIL, PASS, WARN
from ...metrics.measurement import typeset
from ..tablemodel import Table

NO_DEVICE = "SegmentMetrics is research software, not a medical device. Do not base decisions on it alone."
# The file with plotly.js that all pages of a batch share.
PLOTLY_FILE = "plotly.min.js"
# The heading of alarms.
CHECK_FIRST = "Check this first"
# Tables with more columns are printed in a smaller font.
MANY_COLUMNS = 8
# Longer names, in characters, are wrapped in tables.
LONG_NAME = 16
# CSS classes that color the verdicts, others are gray; the words say the same.
CLASSES = {PASS: "pass", WARN: "warn", FAIL: "fail"}
NOTHING = Markup()
# Head and foot of every printed page. Most characters of the head.
PAPER = """@page {
  @top-left { content: $running; width: 72%; } @top-right { content: $date; }
  @bottom-left { content: $what; width: 80%; } @bottom-right { content: "Page " counter(page) " of " counter(pages); }
}"""
MOST_RUNNING = 110


@cache
def resource(name: str) -> Markup:
    """Return the contents of a file that pages are made of: a template, styles or a script."""
    return Markup((resources.files(__package__) / name).read_text("utf-8"))


def fromFile(file: str, /, **values: object) -> Markup:
    """Return a template file of this folder with its placeholders filled, as by markup.fill()."""
    return fill(resource(f"{file}.html").removesuffix("\n"), **values)


def page(title: str, body: Markup, scripts: Markup = NOTHING, running: str = "", date: str = "") -> str:
    """Return a complete, self-contained page. running: what heads printed pages, the title if "". date: beside it."""
    paper = fill(PAPER, running=_inStyle(running or title), date=_inStyle(date), what=_inStyle(NO_DEVICE))
    style = join((resource("report.css"), paper), "\n")
    return fromFile("page", title=title, style=style, scripts=scripts, body=body) + "\n"


def now() -> str:
    """Return the date and time as pages show it."""
    return f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"


def data(values: object) -> Markup:
    """Return plain values as JSON for a script element, which nothing in them can end."""
    return Markup(json.dumps(values, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))


def _inStyle(text: str) -> Markup:
    """Return a text as a string of a style sheet, in which nothing ends the string or the style element."""
    short = text if len(text) <= MOST_RUNNING else f"{text[: MOST_RUNNING - 1]}…"
    unsafe = "".join(f"\\{ord(c):x} " if c in "\\\"<>&'" or not c.isprintable() else c for c in short)
    return Markup(f'"{unsafe}"')


def badge(verdict: str, text: str = "") -> Markup:
    """Return a colored verdict, nothing for none. text: what to show instead of the verdict."""
    if not verdict:
        return NOTHING
    kind = CLASSES.get(verdict, "none")
    return fill('<span class="verdict $kind">$text</span>', kind=kind, text=text or verdict)


def soft(text: str) -> Markup:
    """Return a text in gray, with a space before it; nothing for none."""
    return fill(' <span class="soft">$text</span>', text=text) if text else NOTHING


def nameCell(text: str) -> Markup:
    """Return a name for a table; a long one is wrapped, so that the other columns stay on the page."""
    return fill('<span class="long">$text</span>', text=text) if len(text) > LONG_NAME else escape(text)


def linkTo(number: int | None, name: str) -> Markup:
    """Return the name of a structure for a table, linked to the section with its number unless that is None."""
    cell = nameCell(name)
    return cell if number is None else fill('<a href="#structure$number">$cell</a>', number=number, cell=cell)


def table(
    content: Table, isProse: bool = False, groups: Sequence[str] = (), kind: str = "", most: int | None = None
) -> Markup:
    """Return a table; cells of Markup are shown as they are, all others are escaped.

    isProse: whether the last column has sentences, which get more room; in a narrow window they are on their own line,
    below the other cells, which are then labeled with their headings. groups: name of the group of every row, which is
    shown above its first row. kind: another CSS class of the frame. most: rows that are shown, with a note on how many
    more there are; None for all.
    """
    columns, more = content.columns, len(content.rows) - (most or len(content.rows))
    content = Table(columns, content.rows[:most])
    kinds = [NOTHING if column.isText else Markup(" class=number") for column in columns]
    heads = _row("th", kinds, [column.heading for column in columns])
    if isProse:  # the first cell is the subject of the row, and sentences need no heading
        labels = (fill(' data-head="$heading"', heading=column.heading) for column in columns[1:-1])
        kinds[1:-1] = map(join, zip(kinds[1:-1], labels, strict=True))
    rows, before, cells = [], "", []
    for column, values in content.byColumn():
        # Markup is shown as it is, and all others as people read them
        texts = zip(values, column.texts(values), strict=True)
        cells.append([value if isinstance(value, str) else typeset(text) for value, text in texts])
    for group, row in zip(groups or [""] * len(content.rows), zip(*cells, strict=True)):
        if group != before:
            family = '<tr class="family"><th colspan="$count">$name</th></tr>'
            rows.append(fill(family, count=len(columns), name=group))
        rows.append(_row("td", kinds, row))
        before = group
    classes = " ".join(name for name, isSo in (("wide", len(columns) > MANY_COLUMNS), ("prose", isProse)) if isSo)
    return fill(
        '<div class="$frame"><table$classes><thead>$heads</thead><tbody>$rows</tbody></table></div>$note',
        frame=f"scroll {kind}".strip(),
        classes=fill(' class="$classes"', classes=classes) if classes else "",
        heads=heads,
        rows=join(rows),
        note=fill('<p class="soft">… and $more more</p>', more=more) if more > 0 else NOTHING,
    )


def _row(tag: str, kinds: Sequence[Markup], texts: Sequence[str]) -> Markup:
    """Return a row of cells. kinds: their attributes."""
    cells = (
        fill("<$tag$kind>$text</$tag>", tag=tag, kind=kind, text=text) for kind, text in zip(kinds, texts, strict=True)
    )
    return fill("<tr>$cells</tr>", cells=join(cells))
