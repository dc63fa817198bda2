"""How time and memory grow with the size of the surfaces, on the fast road and on the general one.

The pairs are ellipsoids at 1 mm, larger and larger, that lie 2 mm apart; every size takes its turn in every round.
Times are processor seconds, as wall seconds tell of whatever else a machine does. The fast road takes the masks, the
general one their smoothed surfaces as meshes.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
import pairs
import SimpleITK

SIZES = (2e3, 2e4, 2e5, 2e6)
PROPORTIONS, APART = np.array([1.0, 0.8, 1.2]), np.array([1.6, -0.9, 0.7])
ROADS = ("fast", "general")


def growth(sizes: Sequence[float], rounds: int) -> list[dict]:
    """Return for each size and road the triangles of both surfaces, and seconds and bytes per triangle."""
    works = [(road, pair.triangles, workOf(pair, road)) for pair in map(pairOf, sizes) for road in ROADS]
    seconds: list[list[float]] = [[] for _ in works]
    for number in range(rounds + 1):
        for (_, _, work), taken in zip(works, seconds, strict=True):
            taken.append(processorSeconds(work))
            if number == 0:  # imports and tables
                taken.clear()
    return [
        {
            "road": road,
            "triangles": triangles,
            "microseconds": 1e6 * median(taken) / triangles,
            "bytes": peakBytes(work) / triangles,
        }
        for (road, triangles, work), taken in zip(works, seconds, strict=True)
    ]


def pairOf(triangles: float) -> pairs.Pair:
    """Return two ellipsoids at 1 mm whose surfaces together have about so many triangles."""
    # a sphere of radius r has about 29 r^2 triangles at 1 mm
    radii = PROPORTIONS * np.sqrt(triangles / 2 / 29)
    shape = (2 * np.ceil(radii + np.abs(APART)).astype(int) + 5)[::-1]
    masks = []
    for shift in (np.zeros(3), APART):
        mask = np.zeros(shape, np.uint8)
        pairs.draw(mask, (shape - 1) / 2 + shift[::-1], radii[::-1], 1)
        masks.append(mask != 0)
    grid = SimpleITK.Image([1, 1, 1], SimpleITK.sitkUInt8)
    return pairs.cropped(f"{triangles:g}", *masks, grid)


def workOf(pair: pairs.Pair, road: str) -> Callable[[], object]:
    """Return what measures a pair on a road."""
    from SegmentMetricsLib import Settings, compare

    settings = Settings(families=("boundary", "overlap"))
    given = pair.images if road == "fast" else pair.smoothed
    return lambda: compare(*given, settings)


def processorSeconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def peakBytes(work: Callable[[], object]) -> int:
    """Return the most memory in bytes that arrays and objects took at once; that of search trees is not seen."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def inWords(rows: Sequence[dict]) -> list[str]:
    """Return for each road what every pair costs and what each triangle adds, the items of a list.

    These are the straight line with the least sum of squared relative errors.
    """
    lines = []
    for road in ROADS:
        chosen = [row for row in rows if row["road"] == road]
        parts = []
        for key, scale, unit, each in (("microseconds", 1e3, "ms", "µs"), ("bytes", 1e6, "MB", "bytes")):
            triangles, cost = np.array([(row["triangles"], row["triangles"] * row[key]) for row in chosen]).T
            fixed, slope = np.linalg.lstsq(np.column_stack([1 / cost, triangles / cost]), np.ones(len(cost)))[0]
            parts.append(f"{max(fixed, 0) / scale:.2g} {unit} and {float(f'{slope:.2g}'):g} {each} per triangle")
        lines.append(f"- {road}: {', '.join(parts)}")
    return lines


def table(rows: Sequence[dict]) -> list[str]:
    """Return the lines of a markdown table."""
    lines = ["| road | triangles | µs per triangle | bytes per triangle |", "|---|---:|---:|---:|"]
    for row in rows:
        lines.append(f"| {row['road']} | {row['triangles']:,} | {row['microseconds']:.2f} | {row['bytes']:.0f} |")
    return lines
