"""Clock and memory: calls in turn in this process, first calls and whole commands in fresh ones, and how both grow.

    python measure.py TOOL FOLDER

measures the first call of a tool on the pairs in a folder, and is how the other functions start a fresh process. All
seconds are processor seconds, of all cores: other programs delay a process, but hardly add to these.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pairs
import SimpleITK
import tools

from SegmentMetricsLib import Settings, compare

ROOT = Path(__file__).parents[2]
PROCESS_STATUS, FORGET_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
COMPARE = ("-m", "SegmentMetricsLib", "compare")
# Commands on a whole structure set; all are put in relation to the first.
NUMBERS, SCRIPT = "compare --numbers-only", "a script with surface-distance"
# How a pair of ellipsoids is measured as they grow: as masks, and as smoothed meshes; and their triangles.
METHODS, SIZES = ("fast", "general"), (2e3, 2e4, 2e5, 2e6)


@dataclass
class Times:
    """What one tool took on one case, round by round. A round is all pairs of the case.

    cold, warm: seconds of the first call in a fresh process, and of every pair in later rounds. peak: bytes of memory
    that the first call needed beyond what was loaded, None where the system does not tell. values: of every pair.
    """

    cold: float = 0.0
    peak: int | None = None
    warm: list[list[float]] = field(default_factory=list)
    values: list[tools.Values] = field(default_factory=list)


def ratio(times: Sequence[float], others: Sequence[float]) -> float:
    """Return how many times longer than the others: round by round, so that what slows both cancels; the median."""
    return median(a / b for a, b in zip(times, others, strict=True))


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of some work, and what it returns."""
    gc.collect()
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def measureCase(case: pairs.Case, names: Iterable[str], rounds: int) -> dict[str, Times]:
    """Return the times of tools on a case, by tool. rounds: of all tools in turn."""
    times = {name: Times() for name in names}
    with tempfile.TemporaryDirectory() as folder:
        pairs.write(case.pairs, Path(folder))
        for name, taken in times.items():
            first = json.loads(runPython([__file__, name, folder]))
            taken.cold, taken.peak = first["seconds"], first["peak"]
    measures = {name: tools.TOOLS[name].load() for name in times}
    for number in range(rounds):
        for taken in times.values():
            taken.warm.append([])
        for pair in case.pairs:
            # there and back, so that no tool always follows the same one
            for name in list(measures)[:: 1 if number % 2 == 0 else -1]:
                seconds, values = clock(lambda name=name, pair=pair: measures[name](pair))
                times[name].warm[-1].append(seconds)
                times[name].values += [values] if number == 0 else []
    return times


def firstCall(name: str, folder: Path) -> dict:
    """Return the seconds and the peak memory of a tool's first call in this process, on a folder's pairs.

    Imports, reading and converting images come before. The peak is in bytes beyond what was resident then; None where
    the system does not tell it.
    """
    measure = tools.TOOLS[name].load()
    given = pairs.read(folder)
    for pair in given:
        tools.TOOLS[name].isOnMeshes and pair.smoothed
    isTold = os.access(FORGET_PEAK, os.W_OK)
    if isTold:
        FORGET_PEAK.write_text("5")
        before = statusBytes("VmRSS")
    seconds, _ = clock(lambda: [measure(pair) for pair in given])
    return {"seconds": seconds, "peak": statusBytes("VmHWM") - before if isTold else None}


def statusBytes(key: str) -> int:
    line = next(line for line in PROCESS_STATUS.read_text().splitlines() if line.startswith(f"{key}:"))
    return 1024 * int(line.split()[1])


def runPython(arguments: Sequence) -> str:
    """Run a Python process with the same SegmentMetricsLib and return what it prints."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout


def startUp(pair: pairs.Pair, modules: Iterable[str], rounds: int) -> dict[str, float]:
    """Return the wall seconds of whole processes, which is what their users wait, by name: medians of the rounds."""
    with tempfile.TemporaryDirectory() as folder:
        files = pairs.write((pair,), Path(folder))
        commands = {
            "python": ["-c", "pass"],
            "import SegmentMetricsLib": ["-c", "import SegmentMetricsLib"],
            "segment-metrics --help": ["-m", "SegmentMetricsLib", "--help"],
            "from SegmentMetricsLib import compare": ["-c", "from SegmentMetricsLib import compare"],
            **{f"import {module}": ["-c", f"import {module}"] for module in modules},
            f"segment-metrics compare ({pair.name})": [*COMPARE, *files, "--numbers-only", "-o", Path(folder, "out")],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(rounds + 1):
            for name, arguments in commands.items():
                start = time.perf_counter()
                runPython(arguments)
                if number:  # the first one compiles and fills the disk's cache
                    times[name].append(time.perf_counter() - start)
    return {name: median(taken) for name, taken in times.items()}


def wholeSet(files: Sequence[Path], rounds: int) -> dict:
    """Return for each command on two label maps the seconds of each round and the cores that it kept busy."""
    labels = [SimpleITK.ReadImage(file) for file in files]
    common = np.intersect1d(*map(SimpleITK.GetArrayViewFromImage, labels))
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            NUMBERS: [*COMPARE, *files, "--numbers-only", "--output", Path(folder, "numbers")],
            "compare": [*COMPARE, *files, "--output", Path(folder, "everything")],
            SCRIPT: [Path(__file__).with_name("labelscript.py"), *files, Path(folder, "script.csv")],
        }
        if not tools.TOOLS["surface-distance"].isInstalled:
            del commands[SCRIPT]
        times, cores = ({name: [] for name in commands} for _ in range(2))
        for _ in range(rounds):
            for name, command in commands.items():
                start, before = time.perf_counter(), os.times()
                runPython(command)
                wall, after = time.perf_counter() - start, os.times()
                spent = after.children_user + after.children_system - before.children_user - before.children_system
                times[name].append(spent or wall)  # 0 on Windows
                cores[name].append(times[name][-1] / wall)
    taken = {
        name: {"ratio": ratio(times[name], times[NUMBERS]), "cores": median(cores[name]), "rounds": times[name]}
        for name in commands
    }
    return {"size": labels[0].GetSize(), "structures": int(np.count_nonzero(common)), "commands": taken}


def growth(sizes: Sequence[float], rounds: int) -> list[dict]:
    """Return for each size and method the triangles of both surfaces, and seconds and bytes per triangle."""
    works = [
        (method, pair.triangles, workOf(pair, method)) for pair in map(pairs.ellipsoids, sizes) for method in METHODS
    ]
    seconds: list[list[float]] = [[] for _ in works]
    for number in range(rounds + 1):
        for (_, _, work), taken in zip(works, seconds, strict=True):
            taken.append(clock(work)[0])
            if number == 0:  # imports and tables
                taken.clear()
    return [
        {
            "method": method,
            "triangles": triangles,
            "microseconds": 1e6 * median(taken) / triangles,
            "bytes": peakBytes(work) / triangles,
        }
        for (method, triangles, work), taken in zip(works, seconds, strict=True)
    ]


def workOf(pair: pairs.Pair, method: str) -> Callable[[], object]:
    given = pair.images if method == "fast" else pair.smoothed
    return lambda: compare(*given, Settings(families=("boundary", "overlap")))


def peakBytes(work: Callable[[], object]) -> int:
    """Return the most memory in bytes that arrays and objects took at once; that of search trees is not seen."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    print(json.dumps(firstCall(sys.argv[1], Path(sys.argv[2]))))
