"""What the pages of reports are made of: their frame, tables, names and verdicts, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from ..protocol.judgment import FAIL, PASS, WARN

NO_DEVICE = "SegmentMetrics is research software and no medical device: it must not be the only ground of a decision."
# Tables with more columns are set smaller on paper.
MANY_COLUMNS = 8
# Names with more characters are broken in tables.
LONG_NAME = 16
# How verdicts are colored, the others in gray; the words say the same.
CLASSES = {PASS: "pass", WARN: "warn", FAIL: "fail"}


def page(title: str, body: str, scripts: str = "") -> str:
    """Return a whole page, complete in itself. title: plain text. body, scripts: HTML."""
    style = (resources.files(__package__) / "report.css").read_text("utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: contour comparison</title>\n<style>{style}</style>\n"
        f"{scripts}</head>\n<body>\n{body}\n</body></html>\n"
    )


def badge(verdict: str, text: str = "") -> str:
    """Return a verdict as it stands in a page, "" for none. text: in its place, plain."""
    return f'<span class="verdict {CLASSES.get(verdict, "none")}">{escape(text or verdict)}</span>' if verdict else ""


def nameCell(text: str) -> str:
    """Return a name for a table; a long one is broken, so that the other columns stay on the page."""
    return f'<span class="long">{escape(text)}</span>' if len(text) > LONG_NAME else escape(text)


def linkTo(number: int | None, name: str) -> str:
    """Return the name of a structure for a table, leading to the section with its number if it has one."""
    return nameCell(name) if number is None else f'<a href="#structure{number}">{nameCell(name)}</a>'


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers=()) -> str:
    """Return a table; its cells are HTML already."""

    def row(cells: Sequence[str], tag: str) -> str:
        return (
            "<tr>"
            + "".join(f"<{tag}{' class=number' if n in numbers else ''}>{c}</{tag}>" for n, c in enumerate(cells))
            + "</tr>"
        )

    wide = ' class="wide"' if len(heads) > MANY_COLUMNS else ""
    return (
        f'<div class="scroll"><table{wide}><thead>{row(list(map(escape, heads)), "th")}</thead>'
        f"<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table></div>"
    )
