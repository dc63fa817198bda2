"""What can be counted instead of timed: modules that are imported, and when; and calls of a small comparison."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from SegmentMetricsLib import Settings, compare

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
    """Far places, which are searched, and worst places included; but for what is ours."""
    prepared = "import sys; from SegmentMetricsLib.mrml import comparing; comparing.prepare(); before = {*sys.modules}"
    found = imported(f"{prepared}{COMPARED}for name in before: del sys.modules[name]")
    assert found and not {name for name in found if name.startswith(("scipy", "vtkmodules", "SimpleITK"))}


def testASmallComparisonTakesFewCalls():
    """Of a small structure nearly all time goes into calls, about a microsecond each, whatever the arrays hold."""
    z, y, x = np.mgrid[:12, :14, :14] - np.array([5.5, 6.5, 6.5])[:, None, None, None]
    one, other = (((x - shift) ** 2 + y**2 + (1.5 * z) ** 2 < 20) for shift in (0.0, 1.2))
    settings = Settings(families=("boundary", "overlap"))
    compare(one, other, settings, spacing=(1.0, 1.0, 2.0))  # imports and tables
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        compare(one, other, settings, spacing=(1.0, 1.0, 2.0))
    finally:
        sys.setprofile(None)
    assert calls < 13_000
