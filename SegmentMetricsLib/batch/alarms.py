"""Alarms among many cases: the pairs that must be checked before their numbers can be used, and why."""

from __future__ import annotations

from collections.abc import Mapping

from ..base.texts import commaSeparated, oneLine, pluralize
from ..metrics.findings import Kind, splitAlarms
from ..model.naming import pairTitle
from ..model.structures import REFERENCE_AND_TEST
from .cases import caseTitle

# Short descriptions of alarms, in the order in which they are listed.
SHORT = {
    Kind.NO_OVERLAP: "no overlap at all",
    Kind.HARDLY_OVERLAP: "hardly any overlap",
    Kind.OTHER_STRUCTURE: "another structure in the same place",
    Kind.EXCHANGED: "exchanged with another structure",
    Kind.SAME: "the same structure of the same file twice",
    Kind.OTHER_PATIENTS: "different patients",
    Kind.OTHER_CODES: "different terminology codes",
    Kind.OTHER_LABELS: "different labels, the only ones of their images",
    Kind.OTHER_SIDES: "names that say different sides",
    Kind.MIRRORED: "a better match when mirrored left-right",
    Kind.OTHER_FRAMES: "different frames of reference",
    Kind.IMAGES_APART: "images that do not overlap in space",
    Kind.IMAGE_OF_OTHER: "an image of another patient",
    Kind.IMAGE_IN_OTHER_FRAME: "an image in another frame of reference",
    Kind.IMAGE_ELSEWHERE: "an image of another place",
    Kind.OTHER_DOSE_PATIENT: "a dose of another patient",
    Kind.OTHER_DOSE_FRAME: "a dose in another frame of reference",
    Kind.OUTSIDE_DOSE: "a part outside the dose",
    Kind.DOSE_IN_CGY: "a dose that is likely in cGy",
    Kind.OTHER_UNITS: "a match in another unit",
    Kind.OTHER_AXES: "a match with the signs of x and y changed",
}
# Most pairs that are named; further ones are only counted.
MOST_PAIRS = 5
# What an alarm about no single pair is about.
WHOLE_CASE = "all structures"


def titleOfPair(pair: Mapping) -> str:
    """Return what a pair from results.jsonl is called."""
    return pairTitle(pair[side]["name"] for side in REFERENCE_AND_TEST)


def alarmsOf(pair: Mapping) -> list[Kind]:
    """Return the kinds of alarms of a pair from results.jsonl, or of the pairing of a case, in the order of SHORT."""
    kinds = {finding.kind for finding in splitAlarms(pair.get("findings", ())).alarms}
    return [kind for kind in SHORT if kind in kinds]


def inShort(pair: Mapping) -> str:
    """Return the alarms of a pair, or of the pairing of a case, in a few words, "" without any."""
    return "; ".join(SHORT[kind] for kind in alarmsOf(pair))


class Alarms:
    """The alarms of all pairs of a cohort, to which cases are added one by one."""

    def __init__(self) -> None:
        self._pairs = self._alarmed = 0
        # by kind: case, method, and structure
        self._found: dict[Kind, list[tuple[str, str, str]]] = {kind: [] for kind in SHORT}

    def add(self, outcome: Mapping) -> None:
        """Add the alarms of an outcome from results.jsonl."""
        found = [(titleOfPair(pair), alarmsOf(pair)) for pair in outcome["pairs"]]
        self._pairs += len(found)
        self._alarmed += sum(bool(kinds) for _, kinds in found)
        for title, kinds in (*found, (WHOLE_CASE, alarmsOf(outcome.get("pairing", {})))):
            for kind in kinds:
                self._found[kind].append((outcome["case"], outcome["method"], title))

    def lines(self) -> list[str]:
        """Return a line with the number of pairs with alarms, and one per kind with its first pairs; [] without any."""
        if not any(self._found.values()):
            return []
        share = f"{self._alarmed} of {pluralize(self._pairs, 'pair')}"
        their = "its" if self._alarmed == 1 else "their"
        about = f"Alarms: {share} must be checked before {their} numbers can be used; results.csv lists all alarms."
        lines = [about if self._alarmed else "Alarms: check these cases first."]
        for kind, places in self._found.items():
            if places:
                named = (oneLine(f"{structure} of {caseTitle(case, method)}") for case, method, structure in places)
                lines.append(f"  {SHORT[kind]} ({len(places)}): {commaSeparated(named, MOST_PAIRS)}")
        return lines

    def toDictionaries(self) -> list[dict]:
        """Return each kind of alarm that occurs, with its pairs, for summary.json."""
        names = ("case", "method", "structure")
        return [
            {"alarm": SHORT[kind], "pairs": [dict(zip(names, place)) for place in places]}
            for kind, places in self._found.items()
            if places
        ]
