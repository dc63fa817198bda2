"""Fixtures that several test files share."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest
import sayings

# Bytecode is kept: workers share what one of them has translated, and every process that a test starts uses it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Files that take longest, by their names behind "test_": workers take them first, so that none goes on alone at last.
LONGEST = ("panel", "registry", "report_pages", "hostile", "dicom_reports", "field", "severalobservers")


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, which Slicer's own Python does not have
def pytest_xdist_auto_num_workers(config):
    """One worker more than there are cores: a part of the time, tests wait for the processes that they start."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config):
    """Let each worker begin with other folders, as the first one to read a file translates it for all of them."""
    if hasattr(config, "workerinput") and config.args == config.getini("testpaths"):
        folders = sorted(path.parent for path in Path(__file__).parent.glob("*/test_*.py"))
        folders = [str(folder) for folder in dict.fromkeys(folders)]
        worker = int(config.workerinput["workerid"].removeprefix("gw"))
        start = worker * len(folders) // config.workerinput["workercount"]
        config.args = folders[start:] + folders[:start]


def pytest_addoption(parser):
    """Let --sayings write what is said in the tests that run."""
    parser.addoption("--sayings", action="store_true", help="write Testing/golden/sayings.txt")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call):
    """Put what was said in a test into its report, which a worker sends to the main process."""
    report = yield
    report.said = [*sayings.heard]
    if call.when == "teardown":
        sayings.heard.clear()
    return report


def pytest_runtest_logreport(report):
    """Collect what was said; what is said in tests that fail, or are skipped, is left as the file has it."""
    if report.when == "call" or not report.passed:
        sayings.told[report.nodeid.removeprefix("Testing/")] = report.said if report.passed else None


def pytest_sessionfinish(session):
    """Hold what was said against the file, or write it, once all workers have come back."""
    config = session.config
    config.changedSayings = []
    # other systems write paths and say errors their own way
    if hasattr(config, "workerinput") or sys.platform != "linux":
        return
    some = ("file_or_dir", "keyword", "markexpr", "deselect", "lf", "stepwise")
    isWhole = session.exitstatus == pytest.ExitCode.OK and not any(config.getoption(one, None) for one in some)
    said = sayings.updated(isWhole)
    if config.getoption("sayings"):
        sayings.write(said)
    config.changedSayings = sayings.changes(said)
    if config.changedSayings and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    """Print what was said otherwise."""
    if config.changedSayings:
        terminalreporter.section("sentences differ from Testing/golden/sayings.txt; --sayings writes the new ones")
        terminalreporter.line("\n".join(config.changedSayings))


@pytest.hookimpl(tryfirst=True)  # before tests are deselected by their marks
def pytest_collection_modifyitems(items):
    """Put the longest files first; the order within a file stays. Smoke tests, browsers and builds are nightly."""
    places = {f"test_{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (places.get(item.path.name, len(places)), item.path))
    for item in items:
        if item.get_closest_marker("smoke") or {"browser", "built"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.nightly)


@pytest.fixture
def desktop(request):
    """A stand-in for Slicer's application; the test fails when a slot, an observer or a timer raised something.

    Other settings: @pytest.mark.parametrize("desktop", [{"mainWindow": False}], indirect=True). A test that expects
    such an exception looks at desktop.exceptions and empties it.
    """
    pytest.importorskip("slicer", reason="slicer-core is not installed")
    pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")
    from desktop import Desktop

    with Desktop(**getattr(request, "param", {})) as running:
        yield running
        unexpected = list(running.exceptions)
    assert unexpected == []


@pytest.fixture
def scene():
    """Slicer's scene without its application; what a test adds to it is gone afterwards."""
    slicer = pytest.importorskip("slicer", reason="slicer-core is not installed")
    from SegmentMetricsLib import mrml

    scene = mrml.ensureScene()
    before = set(scene.GetNodes())
    yield scene
    for node in set(scene.GetNodes()) - before:
        scene.RemoveNode(node)
    slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene).RemoveAllItems()


@pytest.fixture
def savedAndLoaded():
    """A function that returns a scene as it is after saving and loading, in a scene of its own."""
    slicer = pytest.importorskip("slicer", reason="slicer-core is not installed")

    def load(scene):
        scene.SetSaveToXMLString(1)
        scene.Commit()
        saved = scene.GetSceneXMLString()
        scene.SetSaveToXMLString(0)
        loaded = slicer.vtkMRMLScene()
        loaded.RegisterNodeClass(slicer.vtkMRMLColorLegendDisplayNode())
        loaded.SetLoadFromXMLString(1)
        loaded.SetSceneXMLString(saved)
        loaded.Connect()
        return loaded

    return load


@pytest.fixture(autouse=True, scope="session")
def inOneProcess():
    """What is given to other processes is done in this one; tests of processes have the fixture inProcesses."""
    import batchruns

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("concurrent.futures.ProcessPoolExecutor", batchruns.Inline)
        yield


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, for a file."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra test)")
    import browsers

    if browsers.chromium() is None:
        pytest.skip("there is no Chromium here (package chromium)")
    with browsers.headless() as browser:
        yield browser


@pytest.fixture(scope="module")
def benchmark():
    """A function that imports a module of the benchmark; they import each other by their bare names, as in a script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent / "benchmark"))
        yield importlib.import_module


@pytest.fixture(scope="module")
def coarse():
    """Meshes are counted and bands searched in few voxels and doses at few places, where precision does not matter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("SegmentMetricsLib.metrics.dosesampling.FEWEST", 10_000)
        patch.setattr("SegmentMetricsLib.geometry.voxelization.STEPS_ACROSS", 15)
        patch.setattr("SegmentMetricsLib.metrics.bands.bandvoxels.MOST_VOXELS", 1 << 15)
        for name, number in {"FIRST_DRAW": 200, "LARGEST_FIRST_DRAW": 600, "LARGEST_DRAW": 600}.items():
            patch.setattr(f"SegmentMetricsLib.metrics.bands.bandsearch.{name}", number)
        yield
