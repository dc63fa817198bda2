"""What can be counted instead of timed: modules that are imported, and when; and calls of a small comparison."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shapes
from imagefiles import LABELS, read, save

from SegmentMetricsLib import Grid, Mask, Settings, Structure, compare, compareCase
from SegmentMetricsLib.geometry.nearest import NearestTriangles
from SegmentMetricsLib.io import reading

ROOT = Path(__file__).parents[2]
# Comparing any two files takes these, before a file is read.
STARTED = (
    "from SegmentMetricsLib.__main__ import main; from SegmentMetricsLib.case import casework; "
    "from SegmentMetricsLib.commands import compare, comparing; "
    "from SegmentMetricsLib.show import tables, writing"
)
COMPARED = """
import numpy as np
from SegmentMetricsLib import compare
one = np.zeros((14, 14, 14), bool)
one[3:9, 3:10, 3:9] = True
far = one.copy()
far[5:7, 5:7, 9:13] = True
found = compare(one, far, spacing=(1.0, 1.0, 2.0))
found.record()
assert found.worstPlaces
"""


def imported(code: str) -> set[str]:
    """Return the names of all modules that a fresh process has after running some code."""
    code += "\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def plain():
    return imported("pass")


def testACommandStartsWithWhatItNeeds(plain):
    """Of other packages these are numpy, SimpleITK and VTK's basic classes, without filters and writers."""
    found = imported(STARTED) - plain
    assert not {name.split(".")[0] for name in found} & {"scipy", "pydicom", "matplotlib", "multiprocessing", "tqdm"}
    assert not {name for name in found if name.startswith(("vtkmodules.vtkFilters", "vtkmodules.vtkIO"))}
    assert len(found) < 480 and sum(name.startswith("SegmentMetricsLib") for name in found) < 240


def testHelpNeedsLittle(plain):
    """The list of commands needs none of them; a command's options know families, metrics and tools, but no files."""
    found = imported("from SegmentMetricsLib import __main__; __main__.makeParser().format_help()") - plain
    assert not {name.split(".")[0] for name in found} & {"numpy", "SimpleITK", "vtkmodules"}
    assert sum(name.startswith("SegmentMetricsLib") for name in found) < 15
    options = "from SegmentMetricsLib import __main__; __main__.makeParser().parse_args(['compare', 'a', 'b'])"
    found = imported(options) - plain
    assert not {name.split(".")[0] for name in found} & {"scipy", "pydicom", "matplotlib", "multiprocessing", "tqdm"}
    assert sum(name.startswith("SegmentMetricsLib") for name in found) < 170


def testASmallComparisonNeedsNoSciPy():
    """Far places, the sides they face, worst places and several labels included: the import takes longer than these."""
    several = "from SegmentMetricsLib.model.inputs import labelMasks; import SimpleITK\n"
    several += "labelMasks(SimpleITK.GetImageFromArray(one + 2 * far.astype(np.uint8)), 0.5)"
    assert not {name for name in imported(COMPARED + several) if name.startswith("scipy")}


def testNothingIsLeftToImportForThePanelsFirstComparison():
    """Far places, which are searched, and worst places included."""
    prepared = "from SegmentMetricsLib.mrml import comparing; comparing.prepare()"
    before, after = imported(prepared), imported(prepared + COMPARED)
    assert "scipy" in before and not {one for one in after - before if one.startswith(("scipy", "vtk", "SimpleITK"))}


def callsOf(work) -> int:
    """Return how many functions some work calls, the second time: the first one imports, and fills tables."""
    work()
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def testASmallComparisonTakesFewCalls():
    """Of a small structure nearly all time goes into calls, about a microsecond each, whatever the arrays hold."""
    z, y, x = np.mgrid[:12, :14, :14] - np.array([5.5, 6.5, 6.5])[:, None, None, None]
    one, other = (((x - shift) ** 2 + y**2 + (1.5 * z) ** 2 < 20) for shift in (0.0, 1.2))
    settings = Settings(families=("boundary", "overlap"))
    assert callsOf(lambda: compare(one, other, settings, spacing=(1.0, 1.0, 2.0))) < 13_000


def testManyPairsTakeNoMoreCallsEach():
    """Of 500 structures in places of their own, which stay in their order; what is kept of each are its numbers."""
    sets: list[list[Structure]] = [[], []]
    for number in range(500):
        low = tuple(5 * place for place in np.unravel_index(number, (10, 10, 5)))
        for structures, width in zip(sets, (3, 4)):
            mask = Mask(np.ones((3, 3, width), np.uint8), low, Grid((50, 50, 25), np.eye(4)))
            structures.append(Structure(f"S{number}", mask))

    def work(count: int):
        return compareCase(*(structures[-count:] for structures in sets), Settings(metrics="DSC"))

    assert callsOf(lambda: work(500)) < 1.2 * 5 * callsOf(lambda: work(100))
    case = work(500)
    assert [pair.reference.name for pair in case] == [structure.name for structure in sets[0]]
    assert {pair["DSC"].value for pair in case} == {6 / 7}
    assert len(pickle.dumps([pair.record() for pair in case])) < 500 * 1000


def testFewPointsAreSearched(monkeypatch):
    """Distances of masks on one lattice are looked up; of others nodes are searched, and some again."""
    searched = []
    find = NearestTriangles.find
    monkeypatch.setattr(
        NearestTriangles, "find", lambda self, points: searched.append(len(points)) or find(self, points)
    )
    balls = [shapes.ball(9, center) for center in ((0, 0, 0), (1.2, 0.3, 0.1))]
    for pair, most in ((balls, 0.02), ([shapes.ballMesh(9), shapes.ballMesh(10, (3, 0, 0))], 3.3)):
        del searched[:]
        found = compare(*pair, Settings(metrics="HD95, MASD, NSD"))
        triangles = sum(len(direction.surface.cells) for direction in found.distances.directions)
        assert sum(searched) <= most * triangles, (sum(searched), triangles)


@pytest.mark.parametrize("suffix", [".nrrd", ".nii.gz"])
def testWholeFilesAreUnpackedOnce(tmp_path, monkeypatch, suffix):
    """The check sum at their end says that nothing is wrong with the voxels that ITK has read."""
    monkeypatch.setattr(reading, "inspect", lambda path, withVoxels=True: pytest.fail() if withVoxels else ())
    assert set(read(save(LABELS, tmp_path / f"whole{suffix}"))) == {"Label 1", "Label 5"}
