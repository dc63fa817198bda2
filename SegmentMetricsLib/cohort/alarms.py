"""Alarms among many cases: how many pairs have numbers that mean nothing until somebody has looked at them, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..errors import counted, oneLine
from ..findingkinds import Kind
from ..findings import split
from ..naming import pairTitle
from ..structures import REFERENCE_AND_TEST as SIDES
from ..structures import commaSeparated
from .cases import caseTitle

# What is wrong with a pair, in a few words, in the order in which it is listed.
SHORT = {
    Kind.NO_OVERLAP: "no overlap at all",
    Kind.OTHER_STRUCTURE: "another structure in the same place",
    Kind.SAME: "the same structure of the same file twice",
    Kind.OTHER_PATIENTS: "different patients",
    Kind.OTHER_CODES: "different terminology codes",
    Kind.OTHER_SIDES: "names that say different sides",
    Kind.MIRRORED: "a better match when mirrored left-right",
    Kind.OTHER_FRAMES: "different frames of reference",
    Kind.IMAGES_APART: "images that lie apart in space",
    Kind.OTHER_UNITS: "a match in another unit",
    Kind.OTHER_AXES: "a match with the signs of x and y changed",
}
# So many pairs are named, and then how many more there are.
MOST_PAIRS = 5


def alarmsOf(pair: Mapping) -> list[Kind]:
    """Return the kinds of alarms of a pair, as results.jsonl has it, in the order in which they are listed."""
    kinds = {finding.kind for finding in split(pair.get("findings", ()))[0]}
    return [kind for kind in SHORT if kind in kinds]


def inShort(pair: Mapping) -> str:
    """Return the alarms of a pair, as results.jsonl has it, in a few words; "" without any."""
    return "; ".join(SHORT[kind] for kind in alarmsOf(pair))


class Alarms:
    """The alarms of all pairs of a cohort, case by case as they are added."""

    def __init__(self) -> None:
        self._pairs = self._alarmed = 0
        self._found: dict[Kind, list[_Place]] = {kind: [] for kind in SHORT}

    def add(self, outcome: Mapping) -> None:
        """Add those of an outcome, as results.jsonl has it."""
        for pair in outcome["pairs"]:
            place = _Place(outcome["case"], outcome["method"], pairTitle(pair[side]["name"] for side in SIDES))
            kinds = alarmsOf(pair)
            for kind in kinds:
                self._found[kind].append(place)
            self._pairs += 1
            self._alarmed += bool(kinds)

    def lines(self) -> list[str]:
        """Return how many pairs have alarms, and a line for each kind with the first of them; [] without any."""
        if not self._alarmed:
            return []
        share = f"{self._alarmed} of {counted(self._pairs, 'pair')}"
        verb = "needs" if self._alarmed == 1 else "need"
        return [
            f"Alarms: {share} {verb} a look before any number means anything; results.csv has all of them.",
            *(
                f"  {SHORT[kind]} ({len(places)}): {commaSeparated(map(str, places), MOST_PAIRS)}"
                for kind, places in self._found.items()
                if places
            ),
        ]

    def toDictionaries(self) -> list[dict]:
        """Return each kind of alarm that there is, with its pairs, as summary.json has them."""
        return [
            {"alarm": SHORT[kind], "pairs": [place._asdict() for place in places]}
            for kind, places in self._found.items()
            if places
        ]


class _Place(NamedTuple):
    """Which pair has an alarm."""

    case: str
    method: str
    structure: str

    def __str__(self) -> str:
        return oneLine(f"{self.structure} of {caseTitle(self.case, self.method)}")
