"""Several observers: who is one, who is a test, what was found of them, and whether that is out of date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..translation import _
from .enumerations import Mode

if TYPE_CHECKING:
    from slicer import vtkMRMLSegmentationNode

# The parameter with the table of what is shown.
OF_OBSERVERS = "observersResult"


@dataclass(frozen=True)
class ObserverCandidate:
    """A segmentation, or a segment of one by ID, and its role: "observer", "test" or ""."""

    node: vtkMRMLSegmentationNode
    segment: str
    title: str
    role: str


class Observers:
    """The choice of observers and tests, and what was found. outcomes: all that is shown, by its table's parameter."""

    def __init__(self, scene, outcomes: Mapping):
        self.scene, self.outcomes = scene, outcomes
        self.parameters = None

    @property
    def outcome(self):
        return self.outcomes[OF_OBSERVERS]

    @property
    def isChosen(self) -> bool:
        return self.parameters is not None and self.parameters.mode == Mode.severalObservers

    @property
    def isShown(self) -> bool:
        return self.isChosen and self.outcome is not None

    # Who is an observer

    def candidates(self) -> list[ObserverCandidate]:
        """Return all segmentations, or segments of the chosen one; all that have segments are observers at first."""
        p, scene, of = self.parameters, self.scene, self.parameters.observersOf
        if of is not None:
            roles = dict.fromkeys(p.observerSegments, "observer") | dict.fromkeys(p.testSegments, "test")
            return [ObserverCandidate(of, i, name, roles.get(i, "")) for i, name in scene.segments(of).items()]
        nodes = [node for node in scene.segmentations() if scene.segments(node) and not scene.isConsensus(node)]
        observers, tests = list(p.observerNodes) if p.areObserversChosen else nodes, list(p.testNodes)
        roles = ["observer" if node in observers else "test" if node in tests else "" for node in nodes]
        return [ObserverCandidate(node, "", scene.name(node), role) for node, role in zip(nodes, roles)]

    def setRole(self, number: int | None = None, role: str = "") -> None:
        """Make one of the candidates an observer, a test, or none of both; None keeps what was only a guess, too."""
        p, every = self.parameters, self.candidates()
        roles = [role if n == number else one.role for n, one in enumerate(every)]
        observers, tests = ([c for c, r in zip(every, roles) if r == role] for role in ("observer", "test"))
        with self.scene.oneChange(p):
            if p.observersOf is not None:
                p.observerSegments, p.testSegments = [c.segment for c in observers], [c.segment for c in tests]
            else:
                p.observerNodes, p.testNodes = [c.node for c in observers], [c.node for c in tests]
                p.areObserversChosen = True

    def chooseSource(self, node) -> None:
        """Choose among the segments of a node, or among all segmentations for None."""
        with self.scene.oneChange(self.parameters):
            self.parameters.observersOf = node
            self.parameters.observerSegments, self.parameters.testSegments = [], []

    def segmentsInRole(self, role: str) -> list[tuple]:
        """Return node and segment ID of everybody with a role, of those who have it if only one structure is chosen."""
        found = [(one.node, one.segment) for one in self.candidates() if one.role == role]
        only = self.parameters.observedOnly
        if not only or self.parameters.observersOf is not None:
            return found
        named = [(node, [i for i, name in self.scene.segments(node).items() if name == only]) for node, _s in found]
        return [(node, segments[0]) for node, segments in named if segments]

    def structures(self) -> list[str]:
        """Return the names of all structures that the observers have."""
        if self.parameters.observersOf is not None:
            return []
        every = [self.scene.segments(one.node).values() for one in self.candidates() if one.role]
        return list(dict.fromkeys(name for names in every for name in names))

    def shownSegments(self) -> list[tuple]:
        """Return node and segment ID of the shown structure of all observers, then all tests; "" for who lacks it."""
        found, outcome = self.structure(), self.outcome
        isNone = found is None
        return [] if isNone else list(zip(outcome.nodes, outcome.segments[outcome.content["structures"].index(found)]))

    def whyNot(self) -> str:
        if self.parameters is None or self.scene.isChanging():
            return _("The scene is being opened or closed.")
        return _("Check at least two observers.") if len(self.segmentsInRole("observer")) < 2 else ""

    # What was found

    def structure(self) -> dict | None:
        """Return ObservedStructure.toDictionary() of the chosen structure, or of that with the largest disagreement."""
        if self.outcome is None or not self.outcome.content["structures"]:
            return None
        every = self.outcome.content["structures"]
        chosen = next((one for one in every if one["name"] == self.parameters.observedStructure), None)
        return chosen or max(every, key=disagreement)

    def key(self) -> str:
        """Return the measurement whose matrix is shown, "" if there is none."""
        found = self.structure()
        keys = list(found["matrix"]) if found is not None else []
        return self.parameters.observedKey if self.parameters.observedKey in keys else next(iter(keys), "")

    def segmentsOf(self, row: int, column: int) -> list[tuple] | None:
        """Return node and segment ID of the reference and of the test in a cell of the matrix, None if it has none."""
        everyone = self.shownSegments()
        if not everyone or row == column:
            return None
        pair = [everyone[row], everyone[column]]
        return pair if all(node is not None and segment for node, segment in pair) else None


def disagreement(found: Mapping) -> float:
    """Return the mean HD95 of all pairs that have one, mm, or the local SD; -1 without both."""
    known = [value for row in found["matrix"].get("HD95", ()) for value in row if value is not None]
    if known:
        return sum(known) / len(known)
    return (found["variation"] or {}).get("rootMeanSquareSD") or -1.0
