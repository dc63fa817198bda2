"""The table of values that other tools would have reported for a pair."""

from __future__ import annotations

from html import escape

from ...case.comparison import Comparison
from ..conventions import REFERENCE_ROW, ConventionsRecord, referenceText
from ..tables import heading

NOTE = (
    f"In parentheses the difference from {REFERENCE_ROW}; "
    '<span class="optimistic">over-optimistic</span>, <span class="pessimistic">over-pessimistic</span>, by 0.1 mm '
    "or 1 %pt or more. A number in voxels is compared as if they were mm. "
    '<span class="noprint">The reason, and what the tool calls the number, are shown where the pointer rests on '
    "it.</span> A star: the tool's "
    "own number is not reproducible or not its definition; the definition's value is shown."
)


def otherTools(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows as HTML: the values of the tools, with their differences."""
    found = comparison.conventions()
    first = ConventionsRecord({}, {}, found).referenceValues()
    rows = [[REFERENCE_ROW, *(escape(referenceText(number)) for number in first.values())]]
    rows += [[escape(tool), *(_reported(numbers.get(key)) for key in first)] for tool, numbers in found.items()]
    return ["Tool", *map(heading, first)], rows


def _reported(number) -> str:
    if number is None:
        return ""
    # slight leanings have no color
    leaning = number.leaning.removeprefix("over-") if number.leaning.startswith("over-") else ""
    difference = f" ({number.differenceText()})" if number.differenceText() else ""
    star = "" if number.isReproducible else "*"
    reason = escape(f"{number.name}: {number.reason}", quote=True)
    return f'<span class="{leaning}" title="{reason}">{escape(number.text() + star + difference)}</span>'
