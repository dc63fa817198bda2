"""HTML building blocks of report pages: the page frame, tables, names and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from ...case.protocol.judgment import FAIL, PASS, WARN

NO_DEVICE = "SegmentMetrics is research software, not a medical device. Do not base decisions on it alone."
# The heading of alarms.
CHECK_FIRST = "Check this first"
# Tables with more columns are printed in a smaller font.
MANY_COLUMNS = 8
# Longer names, in characters, are wrapped in tables.
LONG_NAME = 16
# CSS classes that color the verdicts, others are gray; the words say the same.
CLASSES = {PASS: "pass", WARN: "warn", FAIL: "fail"}


def page(title: str, body: str, scripts: str = "") -> str:
    """Return a complete, self-contained page. title: plain text. body, scripts: HTML."""
    style = (resources.files(__package__) / "report.css").read_text("utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: contour comparison</title>\n<style>{style}</style>\n"
        f"{scripts}</head>\n<body>\n{body}\n</body></html>\n"
    )


def badge(verdict: str, text: str = "") -> str:
    """Return a colored verdict as HTML, "" for none. text: plain text to show instead of the verdict."""
    return f'<span class="verdict {CLASSES.get(verdict, "none")}">{escape(text or verdict)}</span>' if verdict else ""


def nameCell(text: str) -> str:
    """Return a name for a table; a long one is wrapped, so that the other columns stay on the page."""
    return f'<span class="long">{escape(text)}</span>' if len(text) > LONG_NAME else escape(text)


def linkTo(number: int | None, name: str) -> str:
    """Return the name of a structure for a table, linked to the section with its number unless that is None."""
    return nameCell(name) if number is None else f'<a href="#structure{number}">{nameCell(name)}</a>'


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers=(), isProse: bool = False) -> str:
    """Return a table.

    heads: plain text. rows: cells as HTML. numbers: indices of the columns with numbers. isProse: whether the last
    column has sentences, which get more room; in a narrow window they are on their own line, below the other cells,
    which are then labeled with their headings.
    """

    def row(cells: Sequence[str], tag: str) -> str:
        def cell(n: int, content: str) -> str:
            number = " class=number" if n in numbers else ""
            # the first cell is the subject of the row, and sentences need no heading
            isNamed = isProse and tag == "td" and 0 < n < len(heads) - 1
            name = f' data-head="{escape(heads[n], quote=True)}"' if isNamed else ""
            return f"<{tag}{number}{name}>{content}</{tag}>"

        return f"<tr>{''.join(cell(n, content) for n, content in enumerate(cells))}</tr>"

    kinds = [kind for kind, isSo in (("wide", len(heads) > MANY_COLUMNS), ("prose", isProse)) if isSo]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return (
        f'<div class="scroll"><table{kind}><thead>{row(list(map(escape, heads)), "th")}</thead>'
        f"<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table></div>"
    )
