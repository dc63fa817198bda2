"""What the outcomes of all cases of a batch say together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..case.missing import REFERENCE, TEST, Roster
from ..show.report.index import CaseLine
from .alarms import Alarms
from .caselist import lineOf, titleOf
from .cohortpage import CohortPage
from .lesionsizes import LesionSizes
from .statistics import Cohort


class Collected:
    """What a batch tells of all its cases, whose outcomes are added one by one.

    cases: as of a Cohort.
    paired: names of reference and test of the compared pairs. lines: of the list of cases. judged: titles of cases and
    their verdicts. withoutLimits: names of structures for which a protocol has no limits.
    """

    def __init__(self, roster: Roster, cases: Iterable[str] = ()):
        self.cohort = Cohort(roster=roster, cases=cases)
        self.alarms, self.page, self.lesionSizes = Alarms(), CohortPage(), LesionSizes(roster)
        self.paired: set[tuple[str, str]] = set()
        self.lines: list[CaseLine] = []
        self.judged: list[tuple[str, str]] = []
        self.withoutLimits: list[str] = []

    def add(self, outcome: Mapping) -> None:
        """Add the outcome of a case that was run."""
        self.page.add(outcome, self.cohort.add(outcome))
        self.lesionSizes.add(outcome)
        self.alarms.add(outcome)
        self.paired |= {(pair[REFERENCE]["name"], pair[TEST]["name"]) for pair in outcome["pairs"]}
        if outcome.get("protocol"):
            self.judged.append((titleOf(outcome), outcome["protocol"]["verdict"]))
            self.withoutLimits += outcome["protocol"].get("withoutLimits", ())
        self.list(outcome)

    def list(self, outcome: Mapping) -> None:
        """Add an outcome to the list of cases only: that of a line that is not a case."""
        self.lines.append(lineOf(outcome))

    @property
    def names(self) -> set[str]:
        """The names of all structures that were compared."""
        return {name for pair in self.paired for name in pair} | set(self.cohort.structures)
