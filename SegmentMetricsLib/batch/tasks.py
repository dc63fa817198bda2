"""Execution of many cases: each is a task that any executor can run, on this computer or on a cluster."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import InputError, PairError, installing
from ..base.parallel import DIED, Died, spread
from ..base.texts import cutShort, oneLine, tellingApart
from ..case.casework import openCase
from ..io.dicom.opening import isDicom
from ..io.doses import readWeighted
from ..metrics.findings import asDictionaries
from .cases import FAILED, OK, Task
from .missing import compareMissing, describeForCohort

if TYPE_CHECKING:
    from ..case.comparison import Comparison
    from ..show.report.document import Part

# Workers for which cases are submitted to a cluster, even if it has fewer.
FEWEST_OF_CLUSTER = 8
# Some libraries do not support several cases at once in one process, as threads of a cluster would run them.
_oneAtATime = threading.Lock()


def runCase(task: Task) -> dict:
    """Compare and judge the structures of one case, and return the outcome as plain values, strict JSON.

    Never raises for a case that cannot be run; its status is then "failed", with the reason.
    """
    started = time.perf_counter()
    outcome = _outcome(task)
    try:
        if task.problem:
            raise InputError(task.problem)
        with _oneAtATime:
            outcome.update(outcomeOf(task))
    except (InputError, OSError) as error:
        outcome.update(status=FAILED, reason=oneLine(str(error)))
    except MemoryError:
        outcome.update(status=FAILED, reason="This takes more memory than the computer has.")
    except Exception as error:  # one case of thousands must not stop the others; it fails and says why
        outcome.update(status=FAILED, reason=oneLine(f"This should not happen: {type(error).__name__}: {error}"))
    outcome["seconds"] = round(time.perf_counter() - started, 3)
    return outcome


def outcomeOf(task: Task) -> dict:
    """Compare and judge the structures of a case, write its report if requested, and return the outcome as strict JSON.

    If a structure cannot be used or a pair cannot be compared, the case fails, but its other pairs are kept. Raises
    InputError and OSError for a case that cannot be run at all.
    """
    case = openCase(
        task.reference,
        task.test,
        task.settings,
        names=task.names or None,
        choices=task.choices,
        labelNames=dict(task.labelNames),
        listedAs=task.structure,
        dose=readWeighted(task.doses),
        image=task.image if task.image and task.report else None,
        protocol=task.protocol,
    )
    case = replace(case, displayed=task.displayed, isSpread=task.isSpread)
    report = None
    if task.report:
        from ..show.report import Report
        from ..show.report.slicepictures import thumbnail, typical

        titles = tellingApart([task.reference, task.test])
        about: dict[str, Any] = {"origins": (titles[task.reference], titles[task.test]), "image": case.image}
        about |= {"withConventions": task.withConventions, "script": task.script}
        report = Report(task.title, case.settings, **about)
        case = replace(case, settings=report.settings)
    found: dict[int, Comparison | PairError] = {}
    reported: dict[int, tuple[Part, dict]] = {}
    for pack in case.packs():
        # copies, so that the surfaces made on the way are freed with them
        compared = case.pairs(case.pairing.pairs[number].anew() for number in pack)
        for number in pack:
            one = next(compared)
            if report is not None and not isinstance(one, PairError):
                both = {"thumbnail": thumbnail(one), "typical": typical(one)}
                pictures = {name: picture for name, picture in both.items() if picture}
                reported[number] = report.part(one, number), pictures
            found[number] = one if isinstance(one, PairError) else one.record(hasPlaces=report is not None)
            del one  # before the next pair is measured
    result = case.result(found)
    missing, more = compareMissing(case)
    problems = [*dict.fromkeys(map(oneLine, [*case.unusable.values(), *map(str, result.errors.values())])), *more]
    pairs = [
        {
            **record.toDictionary(),
            "pairing": {"how": match.how, "confidence": match.confidence},
            **describeForCohort(match),
        }
        for record, match in zip(result, result.pairing.pairs, strict=True)
    ]
    outcome: dict[str, Any] = {
        "status": FAILED if problems else OK,
        "reason": " ".join(cutShort(problems)),
        "pairs": pairs,
        "unmatched": result.unmatched,
        "missing": missing,
        "pairing": {
            "proposals": [match.toDictionary() for match in result.proposals],
            "findings": asDictionaries(result.findings),
        },
        **({"failures": result.failures} if result.failures else {}),
    }
    if result.judgment is not None:
        outcome["protocol"] = result.judgment.toDictionary()
    if report is not None:
        for record, number in zip(pairs, sorted(reported), strict=True):
            part, pictures = reported[number]
            report.parts.append(part)
            record.update(pictures)
        lacking: dict[str, Any] = {"unmatched": result.unmatched, "failures": result.failures}
        report.write(Path(task.report), judgment=result.judgment, findings=case.pairing.findings, **lacking)
        outcome["report"] = Path(task.report).name
    if task.structuredReport and result:
        from ..show.structuredreport import writeReport

        target = Path(task.structuredReport)
        shutil.rmtree(target.parent, ignore_errors=True)  # of a run of this case that failed
        image = Path(task.image)
        sources = [image] if task.image and (image.is_dir() or isDicom(image)) else []
        files = writeReport(result, target, sources=sources, hasCopies=task.hasCopies)
        outcome["structuredReport"] = "/".join(files[0].parts[-3 if task.method else -2 :])
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


def runAll(
    tasks: Sequence[Task], workers: int, executor: Executor | None = None, *, isHere: bool = False
) -> Generator[tuple[Task, dict], None, None]:
    """Run tasks and yield each with its outcome as it is completed.

    A task whose process dies, and dies again when it is run alone, fails. workers: number of processes. executor: runs
    the tasks instead of processes on this computer, with that number of workers. isHere: whether a single worker is
    this process itself. Raises InputError when no process can be started.
    """
    found = spread(runCase, tasks, workers=workers, takesPart=isHere and workers == 1, executor=executor)
    with closing(found):
        for number, outcome in found:
            task = tasks[number]
            if isinstance(outcome, Exception):
                kind = type(outcome).__name__
                # the other is what a cluster raises for a lost worker
                isDead = isinstance(outcome, Died) or kind == "KilledWorker"
                outcome = _outcome(task, DIED if isDead else f"The worker could not run it: {kind}: {outcome}")
            yield task, outcome


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield an executor on a Dask cluster, and the number of its workers.

    address: of the scheduler. Raises InputError when Dask is not installed or there is no scheduler.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import resolve_address
    except ImportError as error:
        raise InputError(f"A cluster needs Dask: {installing('cluster')}.") from error
    try:
        # a client would try an invalid address for a long time, and report errors when the program ends
        resolve_address(address)
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"There is no Dask scheduler at {address}; an address is like tcp://HOST:8786.") from error
    with client:
        # a cluster may grow
        yield client.get_executor(pure=False), max(sum(client.nthreads().values()), FEWEST_OF_CLUSTER)
