"""Measure SegmentMetrics and the installed peers side by side: time, memory, and what they find.

    python Testing/benchmark/run.py [--data FOLDER] [--quick] [--growth] [--output DIR] [--page]

Without --data the pairs are generated. Prints the page of the documentation (see page.py), and writes it, its charts
and every single time, in benchmark.json, into an output folder. --page writes that page into docs, with growth, from
the real pairs where they are (see Testing/support/reference.py); that takes about half an hour.
`pip install -e ".[peers]"` installs the peers, but for MONAI (see peers.py); those that are not installed are
left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import math
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import accuracy
import growth
import measure
import page
import pairs
import peers
import wholeset

ROUNDS, QUICK_ROUNDS = 5, 3
REFERENCE = Path(os.environ.get("SEGMENTMETRICS_REFERENCE", Path(__file__).parents[3] / "shared" / "reference"))
# Elements of both boundaries of a pair that the densest subdivision, which tells the truth, may have.
TRUTH, QUICK_TRUTH = 4_000_000, 600_000
QUICK_SIZES = (2e3, 2e4)
# Pairs of fewer triangles are small: what they take is calls, not work on arrays.
SMALL = 10_000
TIME_COLUMNS = ("tool", "warm ms", "ratio", "cold ms", "ratio", "MB", "bytes/triangle")
NOTES = """\
Times are processor time of all pairs of a case, medians over {rounds} rounds, or {cold} of the cold ones; in a round
every tool takes its turn on every pair. *Cold* is the first call in a fresh process, imports excluded, tables and
caches included; *warm* are later calls. *SegmentMetrics* alone are the families boundary and overlap, which hold what
the others measure; the default families are these and the signed one. *Ratio* says how many times as long as that a
tool takes: the median of all rounds, so that what else the machine does cancels. *MB* is the peak of the first call's
memory beyond imports and images. What takes long is left out of cases of more than {most:,} triangles. *Truth* is what
the numbers of the unsmoothed surfaces tend to when these are sampled more and more densely. All tools get the same
images or arrays, cropped to the pair's common box and {margin} voxels, before the clock starts.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the page, write it and all numbers into the output folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="organs_reference_1mm.nii.gz, organs_test_1mm.nii.gz"
    )
    parser.add_argument("--page", action="store_true", help="write the page of the documentation, with growth")
    parser.add_argument("--quick", action="store_true", help="smaller pairs and fewer rounds")
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder for the page and benchmark.json")
    parser.add_argument("--growth", action="store_true", help="how time and memory grow with the surfaces, too")
    options = parser.parse_args(arguments)
    if options.output:  # before the long work
        options.output.mkdir(parents=True, exist_ok=True)
    isReal = options.page and REFERENCE.is_dir()
    data = options.data or (REFERENCE / "data" if isReal else None)
    cases = pairs.fromFolder(data, options.quick) if data else pairs.generated(options.quick)
    result = benchmark(cases, QUICK_ROUNDS if options.quick else ROUNDS, QUICK_TRUTH if options.quick else TRUTH)
    rounds = result["rounds"]
    print("a whole structure set ...", file=sys.stderr, flush=True)
    labelMaps = None if data is None or options.quick else pairs.labelMaps(data)
    with wholeset.drawn(options.quick) if labelMaps is None else contextlib.nullcontext(labelMaps) as files:
        result["wholeSet"] = wholeset.wholeSet(files, rounds)
    if options.growth or options.page:
        print("growth ...", file=sys.stderr, flush=True)
        result["growth"] = growth.growth(QUICK_SIZES if options.quick else growth.SIZES, rounds)
    print(page.pageOf(result))
    if options.output:
        (options.output / "benchmark.json").write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", "utf-8")
    for folder in filter(None, (options.output, page.DOCUMENTATION if options.page else None)):
        page.write(result, folder)


def notes(rounds: int) -> str:
    """Return what there is to say about the tables of a run of so many rounds."""
    cold = min(rounds, measure.MOST_COLD_ROUNDS)
    return NOTES.format(rounds=rounds, cold=cold, most=peers.MOST_FOR_LONG, margin=pairs.MARGIN)


def benchmark(cases: Sequence[pairs.Case], rounds: int, elements: int) -> dict:
    """Return everything that was measured, as plain values. elements: of the densest surfaces that tell the truth."""
    tools = [name for name, tool in peers.TOOLS.items() if tool.isInstalled]
    described = {name: {"version": peers.TOOLS[name].version, "does": peers.TOOLS[name].does} for name in tools}
    machine = describeMachine()  # before we are the load
    measured = []
    for case in cases:
        print(f"{case.name}: {len(case.pairs)} of {case.triangles:,} triangles ...", file=sys.stderr, flush=True)
        fitting = [tool for tool in tools if case.triangles <= peers.MOST_FOR_LONG or not peers.TOOLS[tool].isLong]
        times = measure.measureCase(case, fitting, rounds)
        truths = [accuracy.truth(*map(accuracy.structureOf, pair.images), elements) for pair in case.pairs]
        measured.append(describeCase(case, times, truths))
    smallest = min((pair for case in cases for pair in case.pairs), key=lambda pair: pair.triangles)
    commands = {
        "python": ["-c", "pass"],
        "import SegmentMetricsLib": ["-c", "import SegmentMetricsLib"],
        "segment-metrics --help": ["-m", "SegmentMetricsLib", "--help"],
        "from SegmentMetricsLib import compare": ["-c", "from SegmentMetricsLib import compare"],
        **{f"import {module}": ["-c", f"import {module}"] for module in {peers.TOOLS[t].module: None for t in tools}},
    }
    return {
        "schema": "segment-metrics-benchmark/1",
        "machine": machine,
        "tools": described,
        "missing": [name for name in peers.TOOLS if name not in tools],
        "rounds": rounds,
        "cases": measured,
        "startUp": {name: median(taken) for name, taken in startUpTimes(smallest, commands, rounds).items()},
    }


def startUpTimes(pair: pairs.Pair, commands: dict[str, list[str]], rounds: int) -> dict[str, list[float]]:
    """Return the times of some commands, and of comparing a pair on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        files = pairs.Case(pair.name, (pair,)).write(Path(folder))
        compared = [*wholeset.COMPARE, *map(str, files), "--numbers-only", "--output", str(Path(folder, "numbers"))]
        return measure.startUp({**commands, f"segment-metrics compare ({pair.name})": compared}, rounds)


def describeMachine() -> dict:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cores": cores,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "SimpleITK", "vtk")},
    }


def describeCase(case: pairs.Case, times: dict[str, measure.Times], truths: list[dict]) -> dict:
    """Return the medians and ratios of all tools on a case, every single time, and the truth about every pair.

    truths: by key, the value and how uncertain it is.
    """
    ours, withoutBands = times[peers.OURS], times[peers.OURS_WITHOUT_BANDS]
    tools = {}
    for tool, taken in times.items():
        # the peak of a case is that of its largest pair, so only a single pair has a number per triangle
        peak = median(taken.peaks) if taken.peaks else None
        tools[tool] = {
            "cold": median(taken.cold),
            "warm": median(taken.warm),
            "coldRatio": measure.ratio(taken.cold, ours.cold),
            "warmRatio": measure.ratio(taken.warm, ours.warm),
            "warmRatioWithoutBands": measure.ratio(taken.warm, withoutBands.warm),
            "peak": peak,
            "peakPerTriangle": peak / case.triangles if taken.peaks and len(case.pairs) == 1 else None,
            "coldRounds": taken.cold,
            "warmRounds": taken.warm,
            "warmPairs": taken.pairMedians,
            "values": [
                {key: float(value) if math.isfinite(value) else None for key, value in values.items()}
                for values in taken.values
            ],
        }
    described = [{"name": p.name, "triangles": p.triangles, "spacing": p.reference.GetSpacing()} for p in case.pairs]
    return {"name": case.name, "triangles": case.triangles, "pairs": described, "tools": tools, "truths": truths}


def timeTable(case: dict) -> list[str]:
    rows = []
    for name, tool in case["tools"].items():
        times = []
        for which in ("warm", "cold"):
            times += [f"{1000 * tool[which]:.1f}", f"{tool[which + 'Ratio']:.2f}"]
        memory = ["" if tool["peak"] is None else f"{tool['peak'] / 1e6:.0f}"]
        memory.append("" if tool["peakPerTriangle"] is None else f"{tool['peakPerTriangle']:.0f}")
        rows.append([name, *times, *memory])
    return table(TIME_COLUMNS, rows)


def smallPairs(case: dict) -> list[int]:
    """Return the numbers of the pairs of a case that are small."""
    return [number for number, pair in enumerate(case["pairs"]) if pair["triangles"] < SMALL]


def startUpRows(startUp: dict[str, float]) -> list[list[str]]:
    return [[f"`{name}`", f"{1000 * seconds:.0f}"] for name, seconds in startUp.items()]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a markdown table: the first column flush left, the others right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    line = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = []
    for row in (head, line, *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
