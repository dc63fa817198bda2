"""The table of values that other tools would have reported for a pair."""

from __future__ import annotations

from ...base.markup import Markup, fill
from ...case.comparison import Comparison
from ...conventions.evaluation import Reported, conventions
from ..conventions import REFERENCE_ROW, ConventionsRecord, referenceText
from ..resulttables import heading
from ..tablemodel import Table
from .blocks import NOTHING, fromFile, table


def otherTools(comparison: Comparison) -> Markup:
    """Return the values of the tools, with their differences."""
    pair = (comparison.reference, comparison.test)
    found = conventions(pair, comparison.settings, measured=comparison.measurements, distances=comparison.distances)
    first = ConventionsRecord({}, {}, found).referenceValues()
    rows = [[REFERENCE_ROW, *map(referenceText, first.values())]]
    rows += [
        [tool, *(_cellOf(numbers[key]) if key in numbers else NOTHING for key in first)]
        for tool, numbers in found.items()
    ]
    values = table(Table.headed(["Tool", *map(heading, first)], rows))
    return fromFile("othertools", reference=REFERENCE_ROW, values=values)


def _cellOf(number: Reported) -> Markup:
    # slight leanings have no color
    leaning = number.leaning.removeprefix("over-") if number.leaning.startswith("over-") else ""
    difference = f" ({number.differenceText()})" if number.differenceText() else ""
    star = "" if number.isReproducible else "*"
    return fill(
        '<span class="$leaning" title="$reason">$text</span>',
        leaning=leaning,
        reason=f"{number.name}: {number.reason}",
        text=number.text() + star + difference,
    )
