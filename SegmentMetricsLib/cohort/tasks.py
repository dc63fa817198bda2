"""Many cases: each a task that any executor can run, on this computer or on a cluster."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..errors import InputError, oneLine, reasonOf
from ..structures import labelNamed
from ..workers import DIED, localExecutor, stop
from .cases import Task

OK, FAILED = "ok", "failed"
# How many cases wait at a worker, so that it never does.
QUEUED = 2
# After so many cases, or seconds, the workers are replaced, which gives back what the libraries below keep: VTK 9.6
# loses 8 bytes per point of every boundary that distances are measured to.
RENEWED_AFTER, RENEWED_AFTER_SECONDS = 500, 900.0
# The libraries below are not made for several cases at once in one process, which is what threads of a cluster do.
_oneAtATime = threading.Lock()


def runCase(task: Task) -> dict:
    """Compare the structures of one case, judge them, and return the outcome as plain values, strict JSON.

    Never raises for a case that cannot be run: its status is then "failed", with the reason.
    """
    started = time.perf_counter()
    outcome = _outcome(task)
    try:
        if task.problem:
            raise InputError(task.problem)
        with _oneAtATime:
            outcome.update(_compared(task))
    except (InputError, OSError) as error:
        outcome.update(status=FAILED, reason=oneLine(str(error)))
    except MemoryError:
        outcome.update(status=FAILED, reason="This takes more memory than the computer has.")
    except Exception as error:  # one case of thousands must not stop the others; it fails and says why
        outcome.update(status=FAILED, reason=oneLine(f"This should not happen: {type(error).__name__}: {error}"))
    outcome["seconds"] = round(time.perf_counter() - started, 3)
    return outcome


def _outcome(task: Task, reason: str = "") -> dict:
    return {
        "case": task.case,
        "method": task.method,
        "status": FAILED if reason else OK,
        "reason": oneLine(reason),
        "fingerprint": task.fingerprint,
        "reference": task.reference,
        "test": task.test,
        "pairs": [],
        "unmatched": {"reference": [], "test": []},
        "missing": [],
    }


def _compared(task: Task) -> dict:
    from ..files.reading import readAll
    from ..pairing import pairStructures
    from ..protocol.judgment import judgeCase, titleOf
    from ..structures import unusableOf
    from .casework import compareMatch, comparePair, criticalsOf, withLabelsNamed
    from .missing import compareMissing, diagonal, isAlonePair, structureName, whatIsMissing, whichLacks

    paths = (task.reference, task.test)
    labelNames = dict(task.labelNames)
    sets = readAll(paths, task.settings.threshold, task.settings.membershipMaximum, labelNames)
    task = replace(task, settings=withLabelsNamed(task.settings, *sets, labelNames))
    isAlone = isAlonePair(*sets, paths)
    choices = _applicable(task, labelNames, *sets)
    pairing = pairStructures(*sets, choices=choices, isAlonePair=isAlone, labelNames=labelNames)
    compareTwo = partial(comparePair, criticals=criticalsOf(sets[0], task.settings))
    report = _newReport(task)
    settings = task.settings if report is None else report.settings
    pairs, measured = [], []
    problems = list(dict.fromkeys(oneLine(str(error)) for error in pairing.failures.values()))
    failures = {**unusableOf(*sets), **{name: reasonOf(error) for name, error in pairing.failures.items()}}
    for match in pairing.pairs:
        try:
            # the surfaces made on the way do not outlive the pair
            comparison, byConvention = compareMatch(match.anew(), settings, task.protocol, compareTwo)
        except InputError as error:
            problems.append(oneLine(str(error)))
            failures[titleOf(structure.name for structure in match)] = reasonOf(error)
            continue
        if report is not None:
            report.add(comparison)
        measured.append(((match.reference.name, match.test.name), byConvention))
        pairs.append(
            {
                **comparison.toDictionary(),
                "pairing": {"how": match.how, "confidence": match.confidence},
                "structure": structureName(match),
                "diagonal": diagonal(match),
                **whatIsMissing(whichLacks(match), structureName(match)),
            }
        )
        del comparison
    missing, more = compareMissing(
        sets,
        pairing,
        [name for name, _ in settings.critical],
        lambda match: compareMatch(match, settings, task.protocol, compareTwo)[0],
    )
    problems += more
    unmatched = {
        "reference": [structure.name for structure in pairing.unmatchedReference],
        "test": [structure.name for structure in pairing.unmatchedTest],
    }
    result = {
        "status": FAILED if problems else OK,
        "reason": " ".join(problems),
        "pairs": pairs,
        "unmatched": unmatched,
        "missing": missing,
        "pairing": {
            "proposals": [match.toDictionary() for match in pairing.proposals],
            "findings": [*pairing.findings, *_nothingInCommon(pairing, sets)],
        },
        **({"failures": failures} if failures else {}),
    }
    judged = None
    if task.protocol is not None:
        judged = judgeCase(task.protocol, measured, unmatched, failures=failures)
        result["protocol"] = judged.toDictionary()
    if report is not None:
        report.write(Path(task.report), judged, unmatched, failures, pairing.findings)
        result["report"] = Path(task.report).name
    return result


def _nothingInCommon(pairing, sets) -> list[str]:
    """Return what there is to say about a case without a pair."""
    if pairing.pairs:
        return []
    from ..structures import commaSeparated, leftOutOf

    reference, test = (commaSeparated(s.name for s in structures) for structures in sets)
    problem = f"No structure has the same name in both: the reference has {reference}; the test has {test}."
    return [problem, *leftOutOf(*sets)]


def _applicable(task: Task, labelNames: Mapping[int, str], *sets) -> dict[str, str | None]:
    """Return the choices of a task that are about structures of this case."""
    names = [{structure.name for structure in structures} for structures in sets]

    def isThere(pair: tuple[str, str]) -> bool:
        meant = (labelNamed(name, structures, labelNames) for name, structures in zip(pair, sets, strict=True))
        return all(name in known for name, known in zip(meant, names, strict=True))

    return dict(filter(isThere, task.choices))


def _newReport(task: Task):
    if not task.report:
        return None
    from ..report import Report

    return Report(task.title, task.settings, task.withConventions)


def runAll(
    tasks: Sequence[Task], makeExecutor: Callable[[int | None], Executor], window: int
) -> Iterator[tuple[Task, dict]]:
    """Run tasks on an executor and yield each with its outcome as it comes.

    makeExecutor: makes an executor with so many workers, or as many as there are when None; it is asked for another one
    when the first breaks. window: how many tasks are handed over at a time. When a worker process dies, the tasks that
    may have killed it run again, each alone, and the one that does it again has failed.
    """
    pending = deque(tasks)
    running: dict[Future, Task] = {}
    if not pending:
        return
    executor = makeExecutor(None)
    submitted, begun = 0, time.monotonic()

    def isWorn() -> bool:
        isOld = time.monotonic() > begun + RENEWED_AFTER_SECONDS
        return submitted >= RENEWED_AFTER or (isOld and submitted > 0)

    try:
        while pending or running:
            isBroken = False
            if isWorn() and not running:
                stop(executor)
                executor, submitted, begun = makeExecutor(None), 0, time.monotonic()
            try:
                while pending and len(running) < window and not isWorn():
                    future = executor.submit(runCase, pending[0])
                    running[future] = pending.popleft()
                    submitted += 1
            except BrokenExecutor:
                isBroken = True
            done = wait(running, return_when=FIRST_COMPLETED).done if not isBroken else wait(running).done
            suspects = []
            for future in [given for given in running if given in done]:  # in their order
                task = running.pop(future)
                try:
                    yield task, future.result()
                except BrokenExecutor:
                    suspects.append(task)
                except Exception as error:  # what a cluster says about a worker that it lost, for example
                    yield task, _outcome(task, _problem(error))
            if suspects or isBroken:
                suspects += running.values()
                running.clear()
                stop(executor)
                for task in suspects:
                    yield task, _alone(task, makeExecutor)
                executor, submitted, begun = makeExecutor(None), 0, time.monotonic()
    finally:
        # nothing is cancelled: a pool whose processes end tells all futures, and its thread fails at a cancelled one
        stop(executor)


def _alone(task: Task, makeExecutor: Callable[[int | None], Executor]) -> dict:
    executor = makeExecutor(1)
    try:
        return executor.submit(runCase, task).result()
    except BrokenExecutor:
        return _outcome(task, DIED)
    finally:
        stop(executor)


def _problem(error: Exception) -> str:
    """Return what is wrong with a task that did not come back."""
    if type(error).__name__ == "KilledWorker":
        return DIED
    return f"The worker could not run it: {type(error).__name__}: {error}"


@contextmanager
def cluster(address: str) -> Iterator[tuple[Callable[[int | None], Executor], int]]:
    """Give what makes executors of a Dask cluster, by its scheduler's address, and how many cases it takes at a time.

    Raises InputError when Dask is not installed or there is no scheduler.
    """
    try:
        from distributed import Client
        from distributed.comm import resolve_address
    except ImportError as error:
        raise InputError("A cluster needs Dask: pip install distributed.") from error
    try:
        # what is no address at all, a client would try for long, and complain of when the program ends
        resolve_address(address)
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"There is no Dask scheduler at {address}; an address is like tcp://HOST:8786.") from error
    with client:
        # a cluster may grow, so it is given some more
        yield lambda _: client.get_executor(pure=False), max(QUEUED * sum(client.nthreads().values()), 16)


@contextmanager
def processes(workers: int) -> Iterator[tuple[Callable[[int | None], Executor], int]]:
    """Give what makes executors of processes of this computer, and how many cases they take at a time."""
    yield lambda number: localExecutor(number or workers), QUEUED * workers
