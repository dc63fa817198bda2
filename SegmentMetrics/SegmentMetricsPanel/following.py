"""Measuring the shown pair again after every edit, in a thread, while the user goes on drawing."""

from __future__ import annotations

from dataclasses import replace

import qt
import slicer

from SegmentMetricsLib.base.errors import InputError, PairError, reasonOf
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.case.places import MOST, worstPlaces
from SegmentMetricsLib.case.request import Request
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST, Match
from SegmentMetricsLib.mrml.comparing import openCase
from SegmentMetricsLib.mrml.contents import contentHashOfSegment
from SegmentMetricsLib.mrml.outcomes import drawAhead

from .work import TaskThread

# Milliseconds to wait after the last event of an edit, and between two looks at the thread.
DELAY, INTERVAL = 50, 10
# Seconds of such a look. Slicer's main thread keeps Python's lock while no slot runs, so the thread gets its time here.
SHARE = 0.03


class FollowedRun:
    """One measurement of a pair, its nodes and its segments, kept for a request; its thread touches no node."""

    def __init__(self, pair: tuple, request: Request, work):
        self.pair, self.request, self.isStopped = pair, request, False
        self.task = TaskThread(work, lambda: self.isStopped)


class Follower:
    """Measures the shown pair again whenever it was edited. A newer edit stops the run for the one before.

    Segments are read and results are shown in the main thread; structures that did not change are kept. onFound: called
    with the request and what was found: comparison, places, result of all that is shown, maps. onFailed: with a
    sentence.
    """

    def __init__(self, model, onFound, onFailed):
        self.model = model
        self.onFound, self.onFailed = onFound, onFailed
        self.run = None  # the Run in progress
        self.next = None  # the one after it
        self.known = {}  # key and Structure by side, as read last
        self.last = None  # what the last Run was prepared for
        self.timer = qt.QTimer()
        self.timer.setInterval(INTERVAL)
        self.timer.connect("timeout()", self.onTimeout)
        self.strokes = 0  # how many edits there were since practicing began

    @property
    def isBusy(self) -> bool:
        return self.run is not None

    def request(self, isEdit: bool = True) -> None:
        """Measure the shown pair again if it can be and has changed. isEdit: whether that counts as a stroke."""
        try:
            run = self._prepare()
        except InputError as error:
            self.stop()
            self.onFailed(str(error))
            return
        if run is None:
            return
        self.strokes += isEdit
        self.next = run
        if self.run is not None:
            self.run.isStopped = True
        else:
            self._begin()

    def stop(self) -> None:
        """Stop measuring, and forget what was read."""
        self.timer.stop()
        run, self.run, self.next, self.known, self.last = self.run, None, None, {}, None
        if run is not None:
            run.isStopped = True
            run.task.join()

    def settle(self) -> None:
        """Wait for the measurement that is on its way, for scripts and tests."""
        while self.run is not None:
            self.run.task.join()
            self.onTimeout()

    def _begin(self) -> None:
        self.run, self.next = self.next, None
        self.run.task.start()
        self.timer.start()

    def onTimeout(self) -> None:
        """See whether the measurement has ended, and show it or begin the next one."""
        self.run.task.join(SHARE)
        if self.run.task.is_alive() or slicer.mrmlScene.IsBatchProcessing():
            return
        run, self.run = self.run, None
        self.timer.stop()
        error = run.task.error
        isWanted = error is None and self.next is None and self._pair() == run.pair and self._isThere(run.pair)
        if not isWanted and self.next is None:
            self.last = None
        if self.next is not None:
            self._begin()
        if isWanted:
            self.onFound(run.request, run.task.found)
        elif isinstance(error, InputError):
            self.onFailed(str(error))
        elif error is not None and not isinstance(error, Cancelled):
            raise error

    def _pair(self) -> tuple | None:
        """Return the nodes and the segment IDs of the pair that is followed, None if there is none."""
        model = self.model
        if model.parameters is None or model.isBusy:
            return None
        if model.isPracticing() or model.outcome is None:
            if model.inputs.whyNot() or not model.isOnePair():
                return None
            return tuple(zip(*map(model.inputs.choiceOf, REFERENCE_AND_TEST)))
        if not model.isFollowable():
            return None
        return tuple(model.outcome.nodes), tuple(model.outcome.segments[model.number()])

    @staticmethod
    def _isThere(pair) -> bool:
        """Return whether the segments of a pair are in the scene."""
        return all(
            node.GetScene() is slicer.mrmlScene and node.GetSegmentation().GetSegment(segment) is not None
            for node, segment in zip(*pair)
        )

    def _prepare(self) -> FollowedRun | None:
        """Return the Run for the pair as it is now; None if there is none, or if nothing has changed since the last."""
        pair = self._pair()
        if pair is None or not self._isThere(pair):
            return None
        if self.model.outcome is not None and self.run is None:
            self.known, self.last = self._ofOutcome()
        request = self.model.request(shown=self.model.outcome)
        settings, structures = request.settings, []
        case = openCase(*zip(*pair), settings, by="ID", protocol=request.protocol, dose=request.dose)
        (match,) = case.pairing.pairs
        for side, node, structure in zip(REFERENCE_AND_TEST, pair[0], match):
            key = _keyOf(structure, settings, contentHashOfSegment(structure, node, settings.surface))
            if side not in self.known or self.known[side][0] != key:
                self.known[side] = key, structure
            structures.append(self.known[side][1])
        contents = {n: contentHashOfSegment(s, pair[0][0], settings.surface) for n, s in case.criticals.items()}
        now = {side: key for side, (key, _structure) in self.known.items()}, contents, settings
        isSame, self.last = now == self.last, now
        if isSame:
            return None
        case = replace(case, pairing=replace(case.pairing, pairs=(Match(*structures),)))
        return FollowedRun(pair, request, self._work(case))

    def _ofOutcome(self) -> tuple[dict, tuple | None]:
        """Return what was known for the pair that is shown, and what for; nothing without geometry."""
        outcome, number, known = self.model.outcome, self.model.number(), {}
        if outcome.comparisons is None or not outcome.records:
            return {}, None
        comparison = outcome.comparisons[number]
        for side, segment, hashes in zip(REFERENCE_AND_TEST, outcome.segments[number], outcome.hashes):
            structure = getattr(comparison, side)
            known[side] = _keyOf(structure, outcome.settings, hashes[segment]), structure
        contents = {s.name: outcome.hashes[0][s.segmentID] for s in comparison.criticals}
        return known, ({side: key for side, (key, _structure) in known.items()}, contents, outcome.settings)

    def _work(self, case):
        """Return the function that a thread runs for a case of one pair."""
        model = self.model
        outcome, number = model.outcome, model.number()
        others = outcome.comparisons if outcome is not None and outcome.isOfAll else None
        p = model.parameters
        sides = p.mapSide.sides if p.showMap and not model.isPracticing() else ()
        drawn = sides, p.mapSurface.name, p.mapKind.name

        def work() -> dict:
            (comparison,) = case.pairs(case.pairing.pairs)
            if isinstance(comparison, PairError):
                raise InputError(reasonOf(comparison))
            found = {"comparison": comparison, "maps": drawAhead(comparison, *drawn)}
            found["places"] = allPlaces(comparison) if comparison.distances is not None else ()
            found["result"] = (
                case.result({0: comparison}) if others is None else case.exchange(others, number, comparison)
            )
            return found

        return work


def allPlaces(comparison) -> tuple:
    """Return all places of a comparison where the contours lie farther apart than its first tolerance."""
    found = comparison.worstPlaces  # the worst only: a place must not count as corrected because others are worse
    if len(found) < MOST:
        return found
    return worstPlaces(comparison.distances, comparison.settings.tolerances[0], most=None)


def _keyOf(structure, settings, content: str) -> tuple:
    """Return what tells a structure from others. content: the hash of what it holds."""
    return structure.nodeID, structure.segmentID, structure.name, settings.surface, content
