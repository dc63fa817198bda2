"""Which structures of a report come first: what a protocol says about them, and how well their contours agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ..protocol.judgment import FAIL, NOT_EVALUABLE, PASS, WARN, Judgment, Verdict, worst
from ..protocol.verdictwriting import summary
from ..records import Record
from ..tables import definitionOf, heading
from .elements import badge

# The worst first. What no rule is about may be as bad as it likes: it comes before what passes.
UNJUDGED = "no limits"
SEVERITY = (FAIL, NOT_EVALUABLE, WARN, UNJUDGED, PASS)
# By which measurement structures are compared where no protocol judges them: the first of these that there is.
AGREEMENT = ("NSD_{tolerance}mm", "DSC")


class Ranking:
    """In which order a report tells of its structures, and which of them is the worst.

    verdicts: of every record, "no limits" where no rule is about it, "" without a protocol. order: the numbers of the
    records, the worst first where a protocol judges them, else as they are given. worst: the number of the one to look
    at first, None if there is none.
    """

    def __init__(self, records: Sequence[Record], judgment: Judgment | None):
        self.records, self.judgment = records, judgment
        self._ofNames = {} if judgment is None else judgment.byStructure()
        self.verdicts = ["" if judgment is None else self._verdict(record.name) for record in records]
        ranked = worstFirst(records, self.verdicts)
        self.worst = ranked[0] if ranked else None
        self.order = ranked if judgment is not None else list(range(len(records)))
        self.numbers = {record.name: n for n, record in reversed(list(enumerate(records)))}

    def _verdict(self, name: str) -> str:
        verdicts = self._ofNames.get(name)
        return worst(verdict.verdict for verdict in verdicts) if verdicts else UNJUDGED

    def isBrief(self, number: int) -> bool:
        """Whether paper needs no more of a structure than its pictures: it passes, or is not the worst of unjudged."""
        return self.verdicts[number] == PASS or (self.judgment is None and number != self.worst)

    def rules(self) -> list[Verdict]:
        """Return all verdicts of the protocol: those on the worst structure first, and of each the worst first."""
        places = {self.records[n].name: place for place, n in enumerate(self.order)}

        def place(verdict: Verdict) -> tuple:
            name = verdict.structure
            ofStructure = severity(self._verdict(name))
            return ofStructure, places.get(name, len(places)), name, severity(verdict.verdict)

        return sorted(self.judgment.verdicts if self.judgment else (), key=place)

    def headline(self) -> str:
        """Return in a line what there is to look at: HTML, "" without structures."""
        if self.judgment is not None:
            verdicts = [self._verdict(name) for name in self._ofNames]
            counts = [summary(verdicts), *self._unjudged()]
            return f'<p class="headline">{badge(self.judgment.verdict)}: {", ".join(filter(None, counts))}</p>'
        if self.worst is None:
            return ""
        record = self.records[self.worst]
        key = _agreementKey(record)
        if len(self.records) < 2 or not key:
            return '<p class="headline">No protocol was applied.</p>'
        name = f'<a href="#structure{self.worst}">{escape(record.name)}</a>'
        lowest = f"Lowest {escape(heading(key))}: {name}, {escape(record.measurements[key].text())}"
        return f'<p class="headline">No protocol was applied. {lowest}</p>'

    def _unjudged(self) -> list[str]:
        count = self.verdicts.count(UNJUDGED)
        return [f"{count} without limits"] if count else []


def severity(verdict: str) -> int:
    """Return the place of a verdict, "" for none, among all of them, the worst first."""
    return SEVERITY.index(verdict or UNJUDGED)


def worstFirst(records: Sequence[Record], verdicts: Sequence[str]) -> list[int]:
    """Return the numbers of records, the worst first: by their verdicts, then by how little the contours agree."""
    return sorted(range(len(records)), key=lambda n: (severity(verdicts[n]), _agreement(records[n])))


def _agreementKey(record: Record) -> str:
    """Return the key of the measurement by which a structure is compared with others, "" if there is none."""
    for definition in AGREEMENT:
        for key, measurement in record.measurements.items():
            if definitionOf(key) == definition and not math.isnan(measurement.value):
                return key
    return ""


def _agreement(record: Record) -> tuple[float, float]:
    """Return what is lower for a structure that agrees less, or lies farther apart; what has no number is last."""
    key = _agreementKey(record)
    farthest = record.measurements.get("HD")
    distance = farthest.value if farthest is not None and not math.isnan(farthest.value) else 0.0
    return (record.measurements[key].value if key else math.inf), -distance
