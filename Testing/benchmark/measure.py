"""Clock and memory: calls in turn in this process, first calls in fresh ones.

    python measure.py TOOL FOLDER

measures the first call of a tool on the pairs in a folder, and is how the other functions start a fresh process.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import pairs
import peers

# Most first calls in fresh processes: they repeat the imports, which are not measured, every time.
MOST_COLD_ROUNDS = 3
PROCESS_STATUS = Path("/proc/self/status")
FORGET_PEAK = Path("/proc/self/clear_refs")


@dataclass
class Times:
    """What one tool took on one case, round by round. A round is all pairs of the case.

    All seconds are processor seconds, of all cores: other programs delay a process, but hardly add to these.
    cold, warm: of the first call in a fresh process, and of later calls. pairs: warm seconds of every pair in every
    round. peaks: bytes of memory that the first call needed beyond what was loaded, empty where they cannot be
    measured. values: what it measured on every pair.
    """

    cold: list[float] = field(default_factory=list)
    pairs: list[list[float]] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)
    values: list[peers.Values] = field(default_factory=list)

    @property
    def warm(self) -> list[float]:
        return [sum(seconds) for seconds in self.pairs]

    @property
    def pairMedians(self) -> list[float]:
        """Median warm seconds of every pair, over all rounds."""
        return [median(seconds) for seconds in zip(*self.pairs)]


def ratio(times: Sequence[float], others: Sequence[float]) -> float:
    """Return how many times longer than the others: round by round, so that what slows both cancels; the median."""
    return median(a / b for a, b in zip(times, others, strict=True))


def measureCase(case: pairs.Case, tools: Iterable[str], rounds: int) -> dict[str, Times]:
    """Return the times of the tools on a case, by tool. rounds: of all tools in turn."""
    times = {tool: Times() for tool in tools}
    with tempfile.TemporaryDirectory() as folder:
        case.write(Path(folder))
        for _ in range(min(rounds, MOST_COLD_ROUNDS)):
            for tool, taken in times.items():
                first = json.loads(runPython([__file__, tool, folder]))
                taken.cold.append(first["seconds"])
                if first["peak"] is not None:
                    taken.peaks.append(first["peak"])
    measures = {tool: peers.TOOLS[tool].load() for tool in times}
    for tool, measure in measures.items():
        times[tool].values = [measure(pair) for pair in case.pairs]
    for number in range(rounds):
        for taken in times.values():
            taken.pairs.append([])
        for pair in case.pairs:
            # there and back, so that no tool always follows the same one
            for tool in list(measures)[:: 1 if number % 2 == 0 else -1]:
                gc.collect()
                start = time.process_time()
                measures[tool](pair)
                times[tool].pairs[-1].append(time.process_time() - start)
    return times


def startUp(commands: dict[str, list[str]], rounds: int) -> dict[str, list[float]]:
    """Return the wall seconds of whole Python processes, which is what their users wait, round by round, by name."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, arguments in commands.items():
            start = time.perf_counter()
            runPython(arguments)
            if number:  # the first one compiles and fills the disk's cache
                times[name].append(time.perf_counter() - start)
    return times


def runPython(arguments: list[str]) -> str:
    """Run a Python process with the same SegmentMetricsLib and return what it prints."""
    import SegmentMetricsLib

    home = str(Path(SegmentMetricsLib.__file__).parents[1])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    return done.stdout


def firstCall(tool: str, folder: Path) -> dict:
    """Return the processor seconds and the peak memory of a tool's first call in this process, on a folder's pairs.

    Imports, reading and converting images come before. The peak is in bytes beyond what was resident then; None where
    the system does not tell it.
    """
    measure = peers.TOOLS[tool].load()
    given = pairs.read(folder)
    for pair in given:
        peers.TOOLS[tool].prepare(pair)
    gc.collect()
    before = forgetPeak()
    start = time.process_time()
    for pair in given:
        measure(pair)
    seconds = time.process_time() - start
    return {"seconds": seconds, "peak": None if before is None else statusBytes("VmHWM") - before}


def forgetPeak() -> int | None:
    """Let the peak of this process's memory begin at what it has now, and return that in bytes; None off Linux."""
    if not os.access(FORGET_PEAK, os.W_OK):
        return None
    FORGET_PEAK.write_text("5")
    return statusBytes("VmRSS")


def statusBytes(key: str) -> int:
    line = next(line for line in PROCESS_STATUS.read_text().splitlines() if line.startswith(f"{key}:"))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    print(json.dumps(firstCall(sys.argv[1], Path(sys.argv[2]))))
