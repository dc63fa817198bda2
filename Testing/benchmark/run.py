"""Measure SegmentMetrics and the installed peers side by side: time, memory, and what they find.

    python Testing/benchmark/run.py [--data FOLDER] [--output DIR] [--page]

FOLDER holds organs_reference_1mm.nii.gz and organs_test_1mm.nii.gz, and headneck/CASE with two observers' structures.
Prints the page of the documentation (see page.py), and writes it, its charts and every single time, in benchmark.json,
into an output folder; --page writes that page into docs. It takes about 25 minutes. `pip install -e ".[peers]"`
installs the peers, but for MONAI (see tools.py); those that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import measure
import numpy as np
import page
import pairs
import tools

from SegmentMetricsLib import Settings
from SegmentMetricsLib.conventions.meshes import samples
from SegmentMetricsLib.metrics.pair import Pair

ROUNDS = 5
REFERENCE = Path(os.environ.get("SEGMENTMETRICS_REFERENCE", Path(__file__).parents[3] / "shared" / "reference"))
# Elements of both boundaries of a pair that the densest subdivision, which tells the truth, may have; and how often
# elements are cut at most and at least.
MOST_ELEMENTS, DENSEST, FEWEST = 4_000_000, 5, 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the page, write it and all numbers into the output folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", default=REFERENCE / "data", help="(%(default)s)")
    parser.add_argument("--page", action="store_true", help="write the page of the documentation")
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder for the page and benchmark.json")
    options = parser.parse_args(arguments)
    if options.output:  # before the long work
        options.output.mkdir(parents=True, exist_ok=True)
    result = benchmark(pairs.fromFolder(options.data), ROUNDS)
    print("a whole structure set ...", file=sys.stderr, flush=True)
    result["wholeSet"] = measure.wholeSet(pairs.labelMaps(options.data), ROUNDS)
    print("growth ...", file=sys.stderr, flush=True)
    result["growth"] = measure.growth(measure.SIZES, ROUNDS)
    print(page.pageOf(result))
    if options.output:
        (options.output / "benchmark.json").write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", "utf-8")
    for folder in filter(None, (options.output, page.DOCUMENTATION if options.page else None)):
        page.write(result, folder)


def benchmark(cases: Sequence[pairs.Case], rounds: int) -> dict:
    """Return what was measured in this process and as single calls in others, as plain values."""
    installed = {name: tool for name, tool in tools.TOOLS.items() if tool.isInstalled}
    machine = describeMachine()  # before we are the load
    measured = []
    for case in cases:
        print(f"{case.name}: {len(case.pairs)} of {case.triangles:,} triangles ...", file=sys.stderr, flush=True)
        isLarge = case.triangles > tools.MOST_FOR_LONG
        fitting = [name for name, tool in installed.items() if not (isLarge and tool.isLong)]
        times = measure.measureCase(case, fitting, rounds)
        measured.append(describeCase(case, times, [truth(pair) for pair in case.pairs]))
    smallest = min((pair for case in cases for pair in case.pairs), key=lambda pair: pair.triangles)
    return {
        "machine": machine,
        "tools": {name: tool.version for name, tool in installed.items()},
        "missing": [name for name in tools.TOOLS if name not in installed],
        "rounds": rounds,
        "cases": measured,
        "startUp": measure.startUp(smallest, {t.module: None for t in installed.values() if t.distribution}, rounds),
    }


def truth(pair: pairs.Pair) -> dict[str, float]:
    """Return the values that uniform subdivisions of the elements tend to, by key.

    Percentiles and shares converge in steps, so they are those of the densest subdivision; to the means a third of the
    difference to the one before is added (Richardson).
    """
    densest = DENSEST
    while densest > FEWEST and pair.triangles * 4**densest > MOST_ELEMENTS:
        densest -= 1
    quantities = Pair(*pair.structures, Settings(families="boundary"))
    coarse, fine = (uniform(quantities, subdivisions) for subdivisions in (densest - 1, densest))
    means = {key: fine[key] + (fine[key] - coarse[key]) / 3 for key in ("MASD", "ASSD")}
    return {**fine, **means}


def uniform(quantities: Pair, subdivisions: int) -> dict[str, float]:
    """Return the boundary metrics, by key, of the centers of pieces of elements that are cut so many times."""
    both = [(sample.distances, sample.weights) for sample in samples(quantities.boundaries, subdivisions)]
    means, totals = [float(d @ s / s.sum()) for d, s in both], [float(s.sum()) for _, s in both]
    percentiles = []
    for distances, sizes in both:
        order = np.argsort(distances)
        row = np.searchsorted(np.cumsum(sizes[order]), 0.95 * sizes.sum() * (1 - 1e-12))
        percentiles.append(float(distances[order][row]))
    return {
        "HD95": max(percentiles),
        "MASD": sum(means) / 2,
        "ASSD": float(np.dot(means, totals)) / sum(totals),
        "NSD_2mm": sum(float(s[d <= 2 + 1e-4].sum()) for d, s in both) / sum(totals),
    }


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
    """Return the medians and ratios of all tools on a case, every single time, and the truth about every pair."""
    warm = {tool: [sum(seconds) for seconds in taken.warm] for tool, taken in times.items()}
    described = {}
    for tool, taken in times.items():
        described[tool] = {
            "cold": taken.cold,
            "warm": median(warm[tool]),
            "coldRatio": taken.cold / times[tools.OURS].cold,
            "warmRatio": measure.ratio(warm[tool], warm[tools.OURS]),
            "warmRatioWithoutBands": measure.ratio(warm[tool], warm[tools.OURS_WITHOUT_BANDS]),
            "peak": taken.peak,
            "warmRounds": warm[tool],
            "warmPairs": [median(seconds) for seconds in zip(*taken.warm)],
            "values": [{k: float(v) if math.isfinite(v) else None for k, v in one.items()} for one in taken.values],
        }
    sizes = [{"name": p.name, "triangles": p.triangles, "spacing": p.reference.GetSpacing()} for p in case.pairs]
    return {"name": case.name, "triangles": case.triangles, "pairs": sizes, "tools": described, "truths": truths}


if __name__ == "__main__":
    main()
