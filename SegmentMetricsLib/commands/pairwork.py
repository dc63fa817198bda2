"""The work on each pair of a comparison: in this process, or in several if that is worth starting them."""

from __future__ import annotations

import atexit
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import RLock

import numpy as np

from ..base import workers as processes
from ..base.cores import availableProcessors, onOneThread
from ..base.errors import InputError, raiseAny
from ..case.records import Record
from ..model.structures import Match, Structure
from ..settings.settings import Settings

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


# A worker takes one to two seconds to start, mostly for its imports; without Slicer's classes less than one.
WITH_PICTURES, NUMBERS_ONLY = Effort(0.15, 6e-5, 6.0), Effort(0.08, 7e-6, 2.2)


@dataclass(frozen=True)
class Job:
    """The common part of the work on all pairs of a comparison.

    protocol: to judge by, or None. criticals: critical structures by name. folder: for the files, None to write none.
    report: an empty report that makes the parts, or None. isNumbersOnly: whether surfaces and pictures are omitted, as
    they always are without a folder.
    """

    settings: Settings
    protocol: object
    criticals: Mapping[str, Structure]
    folder: Path | None
    report: object
    isNumbersOnly: bool = False

    @property
    def isShowing(self) -> bool:
        """Whether surfaces and pictures are made."""
        return self.folder is not None and not self.isNumbersOnly


@dataclass(frozen=True)
class PairResult:
    """The results of a pair that are kept after its files are written.

    byConvention: all measurements, by convention and key. settings: those of the comparison, with the additions of the
    protocol. files: names by kind. part: of the report, or None. problem: why overlay pictures cannot be drawn, or "".
    """

    record: Record
    byConvention: Mapping
    settings: Settings
    share: object
    files: Mapping[str, str]
    part: object
    problem: str


class WorkerError(InputError):
    """A process died, and its work was lost; the comparison of all pairs fails."""


class Overlays:
    """Draws overlay pictures until it is closed, if the machine can; `problem` is the reason if not."""

    def __init__(self) -> None:
        self.problem = ""
        self._easel = None

    def prepared(self, result):
        """Return the picture of a comparison for write(), which does not need the comparison; None if there is none."""
        if self.problem:
            return None
        from ..mrml import headless, views

        views.startOpenGLCheck()  # runs in parallel to the import of Slicer
        self.problem = headless.whyUnavailable()
        if self.problem:
            return None
        from ..mrml import pictures

        self._easel = self._easel or pictures.Easel()
        return pictures.Overlay(result)

    def write(self, picture, path: Path) -> None:
        """Draw the result of prepared() into a file; nothing for None."""
        if picture is None:
            return
        from ..mrml import views

        try:
            picture.write(path, self._easel)
        except views.NoOpenGLError as error:
            self.problem = str(error)

    def close(self) -> None:
        """Free the resources for drawing; nothing can be drawn afterwards."""
        if self._easel is not None:
            self._easel.close()


def comparePairAlone(job: Job, overlays: Overlays, number: int, match: Match, name: str) -> PairResult:
    """Compare a pair, write its files and return the results. number: of the pair, from 0. name: of its files.

    Raises InputError for a pair that cannot be compared, after removing its files.
    """
    from ..show import writing

    try:
        return _compared(job, overlays, number, match, name)
    except InputError:
        if job.folder is not None:
            for file in writing.filesOf(name, job.folder).values():
                (job.folder / file).unlink()
        raise


def _compared(job: Job, overlays: Overlays, number: int, match: Match, name: str) -> PairResult:
    from ..case.casework import comparePair
    from ..case.protocol.measuring import compareMatch
    from ..show import writing

    # a copy, so that the surfaces made for measuring and drawing are freed with it
    match = match.anew()
    compareTwo = partial(comparePair, criticals=job.criticals)
    result, byConvention = compareMatch(match, job.settings, job.protocol, compareTwo)
    record, settings, share = result.record(), result.settings, result.share
    part = None if job.report is None else job.report.part(result, number)
    if job.folder is None:
        return PairResult(record, byConvention, settings, share, {}, part, "")
    if result.slices:
        writing.writeSlices(result.slices, job.folder / writing.fileName("slices", name))
    picture = None
    # otherwise the modules for these are not even imported
    if result.distances is not None and job.isShowing:
        writing.writeSurfaces(result, job.folder / writing.fileName("distances", name))
        picture = overlays.prepared(result)
    # free memory, as drawing needs as much again
    del result, match
    overlays.write(picture, job.folder / writing.fileName("overlay", name))
    files = writing.filesOf(name, job.folder)
    return PairResult(record, byConvention, settings, share, files, part, overlays.problem)


def compareEach(
    job: Job, matches: Sequence[Match], names: Sequence[str], workers: int | None, done: Callable[[str], None]
) -> tuple[dict[int, PairResult], dict[int, InputError]]:
    """Return the results of the pairs by number from 0, and the errors of those that cannot be compared.

    Both are in the order of the pairs and do not depend on the number of processes. names: of their files. workers:
    number of processes; None means one per processor, but only this process while little work is left. done: called
    with the name of each finished pair. Raises InputError, which names all pairs, when none can be compared, and when
    a process dies; no process is left running.
    """
    costs = np.array([costOf(match) for match in matches], float)
    found: dict[int, PairResult] = {}
    errors: dict[int, InputError] = {}
    # small pairs first: their time predicts that of the others, and the large ones remain to be distributed
    waiting = [int(number) for number in np.argsort(costs, kind="stable")]
    number = min(workers or availableProcessors(), len(matches))
    # the time that other families than boundary take is not known beforehand
    effort = WITH_PICTURES if job.isShowing else NUMBERS_ONLY
    expected = effort.perPair * len(costs) + effort.perCost * costs.sum()
    expected *= "boundary" in job.settings.families
    isWorth = _Forecast(costs, number, effort.worthWorkers, expected) if workers is None else lambda _: number > 1
    with closing(Overlays()) as overlays:
        while waiting and not isWorth(waiting):
            pair = waiting.pop(0)
            try:
                found[pair] = comparePairAlone(job, overlays, pair, matches[pair], names[pair])
            except InputError as error:
                errors[pair] = error
            done(matches[pair].reference.name)
        if waiting:
            tasks = {pair: (pair, replace(matches[pair]), names[pair]) for pair in reversed(waiting)}
            helpers = min(number, len(tasks)) - 1
            for pair, result in _inProcesses(job, tasks, helpers, errors, partial(comparePairAlone, job, overlays)):
                if result is not None:
                    found[pair] = result
                done(matches[pair].reference.name)
    died = [error for error in errors.values() if isinstance(error, WorkerError)]
    if died:
        raise died[0]
    if errors and not found:
        raiseAny([errors[number] for number in sorted(errors)])
    return dict(sorted(found.items())), dict(sorted(errors.items()))


class _Forecast:
    """Decides whether so much work is left that other processes should help.

    costs: of all pairs, in arbitrary units. worth: seconds of remaining work above which they should. expected: seconds
    for all pairs, as far as known beforehand.
    """

    def __init__(self, costs: np.ndarray, workers: int, worth: float, expected: float = 0.0):
        self._costs, self._workers, self._worth, self._expected = costs, workers, worth, expected
        self._start, self._done = time.perf_counter(), -1
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


def costOf(match: Match) -> float:
    """Return the approximate work for a pair in arbitrary units: roughly the number of its surface elements."""
    total = 1.0
    for structure in match:
        if structure.mask is not None:
            total += structure.mask.voxels.size ** (2 / 3)
        elif structure.givenSurface is not None:
            total += len(structure.givenSurface.cells)
    return total


class _Shared:
    """Queue of the remaining pairs, largest first; other processes take the largest, this one the smallest.

    Thus the pairs that remain at the end are small. Pairs are submitted to other processes only after these have
    started; this process works meanwhile and does not wait for them. executor: of the other processes, None if there
    are none. tasks: the arguments of _work(), by pair.
    """

    def __init__(self, executor: Executor | None, tasks: Mapping[int, tuple]):
        self._executor, self._tasks = executor, tasks
        self._left, self._begun, self._starting = deque(tasks), {}, []
        self._lock = RLock()

    def start(self, helpers: int) -> None:
        """Start a number of other processes, which take pairs as soon as they are ready."""
        self._starting = [self._executor.submit(_isReady) for _ in range(helpers)]
        for future in self._starting:
            future.add_done_callback(self.send)

    def send(self, last: Future | None = None) -> None:
        """Submit the largest remaining pairs to other processes that are idle.

        last: a future that has just finished. As this is its callback, idle processes need not wait until this process
        has finished its own pair.
        """
        if last is not None and (last.cancelled() or last.exception() is not None):
            return  # the work may be about to be stopped
        with self._lock:
            ready = sum(future.done() for future in self._starting)
            while self._left and sum(not future.done() for future in self._begun) < ready:
                try:
                    future = self._executor.submit(_work, *self._tasks[self._left[0]])
                except BrokenExecutor:  # this process does the remaining pairs
                    return
                self._begun[future] = self._left.popleft()
                future.add_done_callback(self.send)

    def take(self) -> int | None:
        """Return the smallest remaining pair, for this process; None if there is none."""
        with self._lock:
            return self._left.pop() if self._left else None

    def finished(self, isPatient: bool) -> list[tuple[int, Future]]:
        """Return the pairs that other processes have finished. isPatient: whether to wait for one if any is running."""
        done, _ = wait(list(self._begun), None if isPatient else 0, FIRST_COMPLETED)
        with self._lock:
            return [(self._begun.pop(future), future) for future in list(self._begun) if future in done]

    def drop(self) -> None:
        """Discard the remaining pairs."""
        with self._lock:
            self._left.clear()

    @property
    def isDone(self) -> bool:
        with self._lock:
            return not self._left and not self._begun


def _inProcesses(
    job: Job, tasks: Mapping[int, tuple], helpers: int, errors: dict, own: Callable[..., PairResult]
) -> Iterator[tuple[int, PairResult | None]]:
    """Yield the number and result of each task as it is completed; None for one that failed.

    helpers: number of processes besides this one, which calls own(). errors: filled with the errors by number.
    """
    executor = None
    with suppress(InputError):  # if the system refuses processes, this one does all the work
        executor = processes.localExecutor(helpers, _prepare, (job,))
    shared = _Shared(executor, tasks)
    try:
        if executor is not None:
            with suppress(InputError), processes.ignoringInterrupts(), processes.starting():
                shared.start(helpers)
        while not shared.isDone:
            mine = shared.take()
            if mine is not None:
                result = None
                try:
                    with onOneThread():
                        result = own(*tasks[mine])
                except InputError as error:
                    errors[mine] = error
                yield mine, result
            for pair, future in shared.finished(isPatient=mine is None):
                result = None
                try:
                    result = future.result()
                except BrokenExecutor:
                    reference, test = tasks[pair][1]
                    errors[pair] = WorkerError(
                        f"{reference.name} and {test.name}, or a pair beside them: {processes.DIED}"
                    )
                    shared.drop()
                except InputError as error:
                    errors[pair] = error
                yield pair, result
            shared.send()
    finally:
        shared.drop()
        if executor is not None:
            processes.stop(executor)


# State of a worker process.
_job: Job | None = None
_overlays: Overlays | None = None


def _prepare(job: Job) -> None:
    global _job, _overlays
    _job, _overlays = job, Overlays()
    # graphics that still exist when the interpreter shuts down may crash it
    atexit.register(_overlays.close)


def _isReady() -> bool:
    """Return True, which shows that the process has started."""
    return True


def _work(number: int, match: Match, name: str) -> PairResult:
    return comparePairAlone(_job, _overlays, number, match, name)
