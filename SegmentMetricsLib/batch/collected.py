"""What the outcomes of all cases of a batch say together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..case.missing import REFERENCE, TEST, Roster
from .alarms import Alarms
from .caselist import lineOf, titleOf
from .cohortpage import CohortPage
from .lesionsizes import LesionSizes
from .statistics import Cohort


class Collected:
    """What a batch tells of all its cases.

    outcomes: of the cases that were run. broken: of lines that are not cases, which are in the list of cases only.
    cases: as of a Cohort.
    paired: names of reference and test of the compared pairs. lines: of the list of cases. judged: titles of cases and
    their verdicts. withoutLimits: names of structures for which a protocol has no limits.
    """

    def __init__(
        self, outcomes: Iterable[Mapping], broken: Iterable[Mapping], roster: Roster, cases: Iterable[str] = ()
    ):
        self.cohort = Cohort(roster=roster, cases=cases)
        self.alarms, self.page, self.lesionSizes = Alarms(), CohortPage(), LesionSizes(roster)
        self.paired: set[tuple[str, str]] = set()
        self.judged: list[tuple[str, str]] = []
        self.withoutLimits: list[str] = []
        self.lines = []
        for outcome in outcomes:
            self.page.add(outcome, self.cohort.add(outcome))
            self.lesionSizes.add(outcome)
            self.alarms.add(outcome)
            self.paired |= {(pair[REFERENCE]["name"], pair[TEST]["name"]) for pair in outcome["pairs"]}
            if outcome.get("protocol"):
                self.judged.append((titleOf(outcome), outcome["protocol"]["verdict"]))
                self.withoutLimits += outcome["protocol"].get("withoutLimits", ())
            self.lines.append(lineOf(outcome))
        self.lines += map(lineOf, broken)
