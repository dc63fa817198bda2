"""The work on each pair of a comparison: in this process, or in several if that is worth starting them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from ..base.errors import InputError, PairError
from ..base.parallel import DIED, QUEUED, availableProcessors, localExecutor, runEach
from ..case.caseresult import PairResult
from ..case.casework import PairWork
from ..model.grayimages import GrayImage
from ..model.structures import Match, Structure

if TYPE_CHECKING:
    from ..show.report import Report

# Least number of pairs from which the speed is estimated; the first is not timed, as it also imports and tabulates.
FEWEST_TIMED = 2


@dataclass(frozen=True)
class Effort:
    """Durations on a fast computer, in seconds.

    perPair: base time of a pair with distances. perCost: additional time per unit of its costOf(). If these predict
    much work, workers are started without timing any pair. worthWorkers: remaining work above which workers are
    started.
    """

    perPair: float
    perCost: float
    worthWorkers: float


# A worker takes about a second to start, mostly for its imports.
WITH_PICTURES, NUMBERS_ONLY = Effort(0.15, 6e-5, 6.0), Effort(0.08, 7e-6, 2.2)


def displayed(structure: Structure) -> Structure:
    """Return a structure with the surface that Slicer displays, whose classes are not imported before."""
    from ..mrml import inputs

    return inputs.displayed(structure)


@dataclass(frozen=True)
class WrittenPairs:
    """The comparison of any pair of a case with the files about it; each process has its own.

    names: of the files of each pair. folder: for the files, None to write none. report: an empty report that makes the
    parts, or None. isNumbersOnly: whether surfaces and pictures are omitted, as they always are without a folder.
    image: under the contours, or None.
    """

    work: PairWork
    names: Sequence[str]
    folder: Path | None
    report: Report | None = None
    isNumbersOnly: bool = False
    image: GrayImage | None = None

    @property
    def isShowing(self) -> bool:
        """Whether surfaces and pictures are made."""
        return self.folder is not None and not self.isNumbersOnly

    def __call__(self, number: int, match: Match) -> PairResult:
        """Compare a pair, write its files and return the result. number: of the pair, from 0.

        Its output is the part of the report, or None. Raises InputError for a pair that cannot be compared, after
        removing its files.
        """
        try:
            return self._written(number, match)
        except InputError:
            for file in self.filesOf(number).values():
                (cast(Path, self.folder) / file).unlink()
            raise

    def filesOf(self, number: int) -> dict[str, str]:
        """Return the names of the existing files of a pair by kind."""
        from ..show import writing

        return {} if self.folder is None else writing.filesOf(self.names[number], self.folder)

    def _written(self, number: int, match: Match) -> PairResult:
        from ..show import writing

        # a copy, so that the surfaces made for measuring and drawing are freed with it
        match = match.anew()
        comparison, byConvention = self.work.compare(match)
        part = None if self.report is None else self.report.part(comparison, number)
        result = PairResult(comparison.record(), byConvention, comparison.settings, comparison.share, part)
        if self.folder is None:
            return result
        name = self.names[number]
        if comparison.slices:
            writing.writeSlices(comparison.slices, self.folder / writing.fileName("slices", name))
        # otherwise the modules for these are not even imported
        if comparison.distances is not None and self.isShowing:
            from ..show.pictures.overlay import drawOverlay

            writing.writeSurfaces(comparison, self.folder / writing.fileName("distances", name))
            drawOverlay(comparison, self.folder / writing.fileName("overlay", name), image=self.image)
        return result


def inProcesses(
    work: WrittenPairs, matches: Sequence[Match], workers: int | None
) -> Iterator[tuple[int, PairResult | InputError]]:
    """Compare pairs, and yield the number, from 0, and the result of each, or why it cannot be compared.

    workers: number of processes; None means one per processor, but only this process while little work is left.
    Results do not depend on it.
    """
    costs = np.array([costOf(match) for match in matches], float)
    # small pairs first: their time predicts that of the others, and the large ones remain to be distributed
    waiting = [int(number) for number in np.argsort(costs, kind="stable")]
    number = min(workers or availableProcessors(), len(matches))
    # the time that other families than boundary take is not known beforehand
    effort = WITH_PICTURES if work.isShowing else NUMBERS_ONLY
    expected = effort.perPair * len(costs) + effort.perCost * costs.sum()
    expected *= "boundary" in work.work.settings.families
    isWorth = _Forecast(costs, number, effort.worthWorkers, expected) if workers is None else lambda _: number > 1
    while waiting and not isWorth(waiting):
        pair = waiting.pop(0)
        try:
            yield pair, work(pair, matches[pair])
        except InputError as error:
            yield pair, error
    if not waiting:
        return
    tasks = [(pair, replace(matches[pair])) for pair in reversed(waiting)]
    helpers = min(number, len(tasks)) - 1
    makeExecutor = partial(_executor, helpers, work)
    for (pair, match), outcome in runEach(tasks, _ofPair, makeExecutor, QUEUED * helpers, lambda task: work(*task)):
        if isinstance(outcome, BrokenExecutor):
            outcome = PairError(f"{match.reference.name} and {match.test.name}: {DIED}", DIED)
        if isinstance(outcome, Exception) and not isinstance(outcome, InputError):
            raise outcome
        yield pair, outcome


class _Forecast:
    """Decides whether so much work is left that other processes should help.

    costs: of all pairs, in arbitrary units. worth: seconds of remaining work above which they should. expected: seconds
    for all pairs, as far as known beforehand.
    """

    def __init__(self, costs: np.ndarray, workers: int, worth: float, expected: float = 0.0):
        self._costs, self._workers, self._worth, self._expected = costs, workers, worth, expected
        self._start, self._done = time.perf_counter(), -1.0
        self._count = len(costs)

    def __call__(self, waiting: Sequence[int]) -> bool:
        done = self._count - len(waiting)
        if self._workers < 2 or len(waiting) < 2:
            return False
        if self._expected > self._worth:
            return True
        if done <= 1:
            self._start, self._done = time.perf_counter(), 0.0
            self._left = self._costs[list(waiting)].sum()
            return False
        spent = self._left - self._costs[list(waiting)].sum()
        if done <= FEWEST_TIMED or not spent:
            return False
        rate = (time.perf_counter() - self._start) / spent
        return rate * self._costs[list(waiting)].sum() > self._worth


def costOf(structures: Iterable[Structure]) -> float:
    """Return the approximate work for a pair in arbitrary units: roughly the number of its surface elements."""
    total = 1.0
    for structure in structures:
        if structure.mask is not None:
            total += structure.mask.voxels.size ** (2 / 3)
        elif structure.givenSurface is not None:
            total += len(structure.givenSurface.cells)
    return total


def _executor(helpers: int, work: WrittenPairs, number: int | None):
    """Return an executor with a number of processes, `helpers` for None."""
    return localExecutor(number or helpers, _prepare, (work,))


# The work of a worker process, which _prepare() sets.
_work: WrittenPairs


def _prepare(work: WrittenPairs) -> None:
    global _work
    _work = work


def _ofPair(task: tuple[int, Match]) -> PairResult:
    return _work(*task)
