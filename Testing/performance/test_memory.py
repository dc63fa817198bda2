"""Memory: what a comparison keeps, what a command keeps of the structures it is done with, and what goes back."""

from __future__ import annotations

import gc
import platform
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, __main__, compare
from SegmentMetricsLib.case.comparison import comparePair
from SegmentMetricsLib.commands import comparing
from SegmentMetricsLib.metrics.pair import Pair
from SegmentMetricsLib.show.maps import samplesOf

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).resolve().parents[2]
STRUCTURES = 6


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two label maps with equally large structures, which are measured one by one, as large ones are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("SegmentMetricsLib.case.casework.SMALL", 0)
    for name, shift in (("ref.nrrd", 0), ("test.nrrd", 2)):
        boxes = {n: ((4 + shift, 4, 12 * n), (25, 25 + shift, 12 * n + 9)) for n in range(1, STRUCTURES + 1)}
        SimpleITK.WriteImage(shapes.labelImage(boxes, (32, 32, 12 * STRUCTURES + 24)), name, True)
    return "ref.nrrd", "test.nrrd"


def testWhatStructuresNeedGoesWithThem(files, monkeypatch):
    """Of every further structure a command keeps its numbers, which are a thousandth of the arrays behind them."""
    kept, needed = [], []
    original = comparing.WrittenPairs.__call__

    def watched(*given):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        outcome = original(*given)
        gc.collect()
        kept.append(tracemalloc.get_traced_memory()[0])
        needed.append(tracemalloc.get_traced_memory()[1] - before)
        return outcome

    monkeypatch.setattr(comparing.WrittenPairs, "__call__", watched)
    tracemalloc.start()
    try:
        assert __main__.main(["compare", *files, "--output", "out", "--workers", "1"]) == 0
    finally:
        tracemalloc.stop()
    assert len(kept) == STRUCTURES
    # what the first ones leave are tables and modules
    assert (kept[-1] - kept[2]) / (STRUCTURES - 3) < min(needed[2:]) / 50


def testAComparisonKeepsLittleMoreThanItsSurfacesAndDistances():
    images = shapes.ball(24), shapes.ball(24, (1.4, 0.3, 0.2))
    compare(*images)  # tables
    tracemalloc.start()
    try:
        pair = [shapes.structureOf(image) for image in images]
        before = tracemalloc.get_traced_memory()[0]
        comparison = compare(*pair)
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    triangles = sum(len(direction.surface.cells) for direction in comparison.distances.directions)
    assert triangles > 40_000
    # with what is only kept to be found sooner it would be half as much again
    assert kept / triangles < 200


@pytest.mark.smoke
def testWhatIsForgottenIsMadeAnew():
    pair = Pair(*(shapes.structureOf(shapes.ball(12, at)) for at in ((0, 0, 0), (2.4, 0.3, 0.2))), Settings())
    result = comparePair(pair)

    def numbers() -> list:
        found = [result[key].value for key in ("HD", "NSD_2mm")]
        for direction in result.distances.directions:
            found += [*direction.farthest(1), *direction.farthest(-1), direction.percentile(90)]
            found += [direction.sizeWithin(1), direction.distances, direction.centers, direction.atPoints]
            found += samplesOf(direction)
            found += [direction.field.sampler.measureAt(direction.number, direction.surface.points)]
        return found

    first = numbers()
    result.distances.forget()
    pair.boundaries.forget()
    for one, other in zip(first, numbers(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is a setting of glibc")
def testLargeArraysGoBackToTheSystem():
    """Also between smaller ones that stay, after a still larger one was freed."""
    code = (
        "import numpy as np\n"
        "from SegmentMetricsLib.base.allocation import giveBackLargeArrays\n"
        "def resident(): return int(open('/proc/self/statm').read().split()[1]) * 4096 / 1e6\n"
        "giveBackLargeArrays()\n"
        "np.ones(30 << 20, np.uint8)\n"
        "before, large, small = resident(), [], []\n"
        "for _ in range(20):\n"
        "    large.append(np.ones(10 << 20, np.uint8)); small.append(np.ones(1 << 20, np.uint8))\n"
        "del large\n"
        "print(resident() - before)\n"
    )
    environment = {"PYTHONPATH": str(ROOT)}
    more = float(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout)
    assert more < 60  # the small ones stay: 21 MB
