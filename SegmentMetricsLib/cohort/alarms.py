"""Alarms among many cases: how many pairs have numbers that mean nothing until somebody has looked at them, and why."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import counted, oneLine
from ..findingkinds import Kind
from ..findings import split
from ..structures import commaSeparated
from .caselist import titleOf

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


class Alarms:
    """The alarms of all pairs of a cohort, case by case as they are added."""

    def __init__(self) -> None:
        self._pairs = self._alarmed = 0
        self._found: dict[Kind, list[str]] = {kind: [] for kind in SHORT}

    def add(self, outcome: Mapping) -> None:
        """Add those of an outcome, as results.jsonl has it."""
        for pair in outcome["pairs"]:
            name = " / ".join(dict.fromkeys(pair[side]["name"] for side in ("reference", "test")))
            kinds = {finding.kind for finding in split(pair.get("findings", ()))[0]}
            for kind in kinds:
                self._found[kind].append(oneLine(f"{name} of {titleOf(outcome)}"))
            self._pairs += 1
            self._alarmed += bool(kinds)

    def lines(self) -> list[str]:
        """Return how many pairs have alarms, and a line for each kind with the first of them; [] without any."""
        if not self._alarmed:
            return []
        share = f"{self._alarmed} of {counted(self._pairs, 'pair')}"
        verb = "needs" if self._alarmed == 1 else "need"
        return [
            f"Alarms: {share} {verb} a look before any number means anything; results.jsonl has the details.",
            *(
                f"  {SHORT[kind]} ({len(names)}): {commaSeparated(names, MOST_PAIRS)}"
                for kind, names in self._found.items()
                if names
            ),
        ]
