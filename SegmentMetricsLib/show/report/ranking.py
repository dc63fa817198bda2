"""The order of structures in a report: by the verdicts of a protocol, and by the agreement of their contours."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...base.markup import Markup, fill
from ...case.comparison import Comparison
from ...case.protocol.judgment import FAIL, NOT_EVALUABLE, PASS, WARN, Judgment, Verdict, worst
from ..resulttables import definitionOf, heading
from ..verdicts import summary
from .blocks import NOTHING, badge

# Worst first. Structures without rules have no verdict, so they come after those that have one.
UNJUDGED = "no limits"
SEVERITY = (FAIL, NOT_EVALUABLE, WARN, PASS, UNJUDGED)
# Structures with equal verdicts, or without a protocol, are ranked by the first of these that is available.
AGREEMENT = ("NSD_{tolerance}mm", "DSC")


class Ranking:
    """The order of the structures in a report, and the worst of them.

    verdicts: of every record, "no limits" if no rule applies to it, "" without a protocol. order: indices of the
    records, worst first with a protocol, otherwise as given. worst: index of the worst record, None without records.
    """

    def __init__(self, records: Sequence[Comparison], judgment: Judgment | None):
        self.records, self.judgment = records, judgment
        self._ofNames = {} if judgment is None else judgment.byStructure()
        self.verdicts = ["" if judgment is None else self._verdict(record.name) for record in records]
        # by verdict, then by agreement of the contours
        ranked = sorted(range(len(records)), key=lambda n: (severity(self.verdicts[n]), _agreement(records[n])))
        self.worst = ranked[0] if ranked else None
        self.order = ranked if judgment is not None else list(range(len(records)))
        self.numbers = {record.name: n for n, record in reversed(list(enumerate(records)))}

    def _verdict(self, name: str) -> str:
        verdicts = self._ofNames.get(name)
        return worst(verdict.verdict for verdict in verdicts) if verdicts else UNJUDGED

    def isBrief(self, number: int) -> bool:
        """Return whether to print only a structure's pictures: it passes, or without a verdict it is not the worst."""
        verdict = self.verdicts[number]
        return verdict == PASS or (verdict in ("", UNJUDGED) and number != self.worst)

    def rules(self) -> list[Verdict]:
        """Return all verdicts of the protocol, the worst structures first, and for each its worst verdicts first."""
        places = {self.records[n].name: place for place, n in enumerate(self.order)}

        def place(verdict: Verdict) -> tuple:
            name = verdict.structure
            ofStructure = severity(self._verdict(name))
            return ofStructure, places.get(name, len(places)), name, severity(verdict.verdict)

        return sorted(self.judgment.verdicts if self.judgment else (), key=place)

    def headline(self) -> Markup:
        """Return a one-line summary, nothing without structures."""
        if self.judgment is not None:
            verdicts = [self._verdict(name) for name in self._ofNames]
            unjudged = self.verdicts.count(UNJUDGED)
            counts = ", ".join(filter(None, [summary(verdicts), f"{unjudged} without limits" if unjudged else ""]))
            return fill(
                '<p class="headline">$verdict: $counts</p>', verdict=badge(self.judgment.verdict), counts=counts
            )
        if self.worst is None:
            return NOTHING
        record = self.records[self.worst]
        key = _agreementKey(record)
        lowest = NOTHING
        if len(self.records) > 1 and key:
            lowest = fill(
                ' Lowest $measurement: <a href="#structure$number">$name</a>, $value',
                measurement=heading(key),
                number=self.worst,
                name=record.name,
                value=record.measurements[key].text(),
            )
        return fill('<p class="headline">No protocol was applied.$lowest</p>', lowest=lowest)


def severity(verdict: str) -> int:
    """Return the rank of a verdict ("" for none), 0 for the worst."""
    return SEVERITY.index(verdict or UNJUDGED)


def _agreementKey(record: Comparison) -> str:
    """Return the key of the measurement by which a structure is ranked, or "" if there is none."""
    for definition in AGREEMENT:
        for key, measurement in record.measurements.items():
            if definitionOf(key) == definition and not math.isnan(measurement.value):
                return key
    return ""


def _agreement(record: Comparison) -> tuple[float, float]:
    """Return a sorting key that is lower for less agreement, then for a larger HD; a missing value sorts last."""
    key = _agreementKey(record)
    farthest = record.measurements.get("HD")
    distance = farthest.value if farthest is not None and not math.isnan(farthest.value) else 0.0
    return (record.measurements[key].value if key else math.inf), -distance
