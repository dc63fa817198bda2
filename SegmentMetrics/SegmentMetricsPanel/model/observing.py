"""Several observers: who is one, who is a test, what was found of them, and whether that is out of date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST

from ..translation import _
from .enumerations import Mode

if TYPE_CHECKING:
    from slicer import vtkMRMLSegmentationNode

LEAST = 2


@dataclass(frozen=True)
class ObserverCandidate:
    """A segmentation, or a segment of one by ID, and its role: "observer", "test" or ""."""

    node: vtkMRMLSegmentationNode
    segment: str
    title: str
    role: str


class Observers:
    """The choice of observers and tests, and the results. change: a sentence about the segments since then."""

    def __init__(self, scene):
        self.scene = scene
        self.parameters = None
        self.setOutcome(None)

    @property
    def isChosen(self) -> bool:
        return self.parameters is not None and self.parameters.mode == Mode.severalObservers

    @property
    def isShown(self) -> bool:
        return self.isChosen and self.outcome is not None

    def setParameters(self, parameters) -> None:
        self.parameters = parameters
        if parameters is None:
            self.setOutcome(None)

    def setOutcome(self, outcome) -> None:
        self.outcome, self.change = outcome, ""

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

    def setRole(self, number: int, role: str) -> None:
        """Make one of the candidates an observer, a test, or none of both."""
        every = self.candidates()
        roles = [one.role for one in every]
        roles[number] = role
        self._store(every, roles)

    def _store(self, every, roles) -> None:
        p = self.parameters
        observers, tests = ([c for c, r in zip(every, roles) if r == role] for role in ("observer", "test"))
        with self.scene.oneChange(p):
            if p.observersOf is not None:
                p.observerSegments, p.testSegments = [c.segment for c in observers], [c.segment for c in tests]
            else:
                p.observerNodes, p.testNodes = [c.node for c in observers], [c.node for c in tests]
                p.areObserversChosen = True

    def accept(self) -> None:
        """Keep the current choice, even if it was only a guess, because it is now being measured."""
        every = self.candidates()
        self._store(every, [one.role for one in every])

    def chooseSource(self, node) -> None:
        """Choose among the segments of a node, or among all segmentations for None."""
        with self.scene.oneChange(self.parameters):
            self.parameters.observersOf = node
            self.parameters.observerSegments, self.parameters.testSegments = [], []

    def given(self, role: str) -> list[tuple]:
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

    def watched(self) -> list:
        """Return the segmentations whose changes matter: all that may be chosen, and those that were measured."""
        if not self.isChosen:
            return []
        return [one.node for one in self.candidates()] + (self.outcome.nodes if self.outcome is not None else [])

    def whyNot(self) -> str:
        if self.parameters is None or self.scene.isChanging():
            return _("The scene is being opened or closed.")
        if len(self.given("observer")) < LEAST:
            return _("Check at least two observers.")
        return ""

    # What was found

    def isRecallDue(self) -> bool:
        """Return whether the scene holds other results than those that are shown."""
        return self.parameters.observersResult is not (self.outcome.table if self.outcome else None)

    def recall(self) -> str:
        """Load the results stored in the scene, or drop those whose table was deleted; return what is wrong, or ""."""
        try:
            self.setOutcome(self.scene.recall(self.parameters.observersResult))
        except InputError as error:
            self.setOutcome(None)
            self.parameters.observersResult = None
            return str(error)
        self.suspect(None)
        return ""

    def take(self, outcome) -> None:
        """Show a new outcome, and no pair of it; of other structures, that with the largest disagreement."""
        before = self.outcome
        self.setOutcome(outcome)
        p = self.parameters
        names = [[one["name"] for one in each.content["structures"]] for each in (before, outcome) if each is not None]
        if names[0] != names[-1] or before is None:
            p.observedStructure = ""
        with self.scene.oneChange(p):
            p.observersResult, p.result = outcome.table, None

    def suspect(self, segments) -> None:
        """Check whether segments really changed. segments: IDs of those that may have, None for all."""
        if self.outcome is not None:
            self.change = self.outcome.change(None if self.change else segments)

    def isSameChoice(self) -> bool:
        count, given = len(self.outcome.content["observers"]), list(zip(self.outcome.nodes, self.outcome.given))
        measured = {"observer": set(given[:count]), "test": set(given[count:])}
        return all(set(self.given(role)) == some for role, some in measured.items())

    def staleness(self, settings) -> str:
        """Return the reason why the results are out of date, or "" if they are not. settings: the chosen ones."""
        if self.outcome is None:
            return ""
        if self.change:
            return self.change
        if not self.isSameChoice():
            return _("The selection has changed.")
        isSame = settings == self.outcome.settings and self.parameters.consensus.method == self.outcome.method
        return "" if isSame else _("The settings have changed.")

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

    def cellOf(self, outcome) -> tuple[int, int] | None:
        """Return the row and column of the pair in an Outcome, None if it is not in the matrix."""
        everyone, pair = self.shownSegments(), list(zip(map(outcome.node, REFERENCE_AND_TEST), outcome.segments[0]))
        return tuple(map(everyone.index, pair)) if set(map(everyone.count, pair)) == {1} else None

    def choosePair(self, pair) -> None:
        """Make a pair of segmentsOf() reference and test."""
        p = self.parameters
        with self.scene.oneChange(p):
            for side, (node, segment) in zip(REFERENCE_AND_TEST, pair):
                setattr(p, side, node)
                setattr(p, f"{side}Segment", segment)


def disagreement(found: Mapping) -> float:
    """Return the mean HD95 of all pairs that have one, mm, or the local SD; -1 without both."""
    known = [value for row in found["matrix"].get("HD95", ()) for value in row if value is not None]
    if known:
        return sum(known) / len(known)
    return (found["variation"] or {}).get("rootMeanSquareSD") or -1.0
