"""The module as it comes: with the application, without a window, or into an application that is running."""

from __future__ import annotations

import ast
import sys
import threading

import pytest
import shapes
import slicer
from desktop import MODULE, Desktop, modules
from panel_checks import drawing
from panel_checks.session import edit
from sayings import says
from scenework import applyAll, choose, twoBoxes
from segmentnodes import voxelsOf
from tiers import rarely

from SegmentMetricsLib.case import comparison
from SegmentMetricsLib.mrml import outcomes

# Slicer's modules, by what sources name that comes with them.
MODULES = {
    "slicer.vtkSlicerColorLogic": "Colors",
    "vtkMRMLMarkups": "Markups",
    "slicer.qMRMLPlotView": "Plots",
    "slicer.vtkSlicerSegmentationsModuleLogic": "Segmentations",
}
# What the module Sample Data offers.
SAMPLES = ["HeadAndNeckObservers", "ContouringPractice", "BrainLesions", "BranchingVessel"]


def testTheModulesThatItNeedsAreThereFirst():
    folders = (MODULE.parent, MODULE.parents[1] / "SegmentMetricsLib")
    sources = "".join(path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.rglob("*.py")))
    needed = sorted(module for name, module in MODULES.items() if name in sources)
    with Desktop() as desktop:
        desktop.loadModule()
        assert list(slicer.modules.segmentmetrics.dependencies) == needed


@pytest.mark.parametrize("isRunning", [True, False])
def testTheSampleIsOfferedInTheSession(monkeypatch, isRunning):
    """Once, also where the application has started up long ago and will not say so again."""
    monkeypatch.setattr(modules, "sampleDataSources", [])
    with Desktop(mainWindow=isRunning) as desktop:
        desktop.app.blockSignals(isRunning)
        desktop.loadModule()
        desktop.app.blockSignals(False)
        assert [source["sampleName"] for source in modules.sampleDataSources] == SAMPLES
        assert desktop.exceptions == [] and desktop.messages == []


@pytest.mark.parametrize("mainWindow", [True, False])
def testAWidgetThatNobodyOpens(mainWindow):
    """A script that makes it gets parameters and can measure; the panel neither writes to them nor follows them."""
    with Desktop(mainWindow=mainWindow) as desktop:
        desktop.loadModule()
        nodes = twoBoxes()
        panel = slicer.modules.segmentmetrics.widgetRepresentation().self().panel
        p = panel.parameters
        desktop.processEvents()
        twoBoxes()
        desktop.processEvents()
        assert not panel.isActive and (p.reference, p.test) == (None, None) and not panel.apply()
        p.reference, p.test = nodes
        p.referenceSegment, p.testSegment = (node.GetSegmentation().GetNthSegmentID(0) for node in nodes)
        assert panel.apply() and not panel.isActive and panel.ui.mainTable.rowCount > 0
        assert panel.outcome.table is p.result and panel.plot.chart is not None
        slicer.mrmlScene.Clear(0)
        desktop.processEvents()
        assert panel.parameters is None and panel.outcome is None
        if mainWindow:
            slicer.util.selectModule("SegmentMetrics")
            assert panel.isActive and panel.parameters is not None
            slicer.modules.SegmentMetricsWidget.onReload()
            assert slicer.modules.SegmentMetricsWidget.panel.isActive, "nobody enters a module that is shown"
            slicer.util.selectModule("")
            slicer.modules.SegmentMetricsWidget.onReload()
            assert not slicer.modules.SegmentMetricsWidget.panel.isActive
        assert desktop.exceptions == [] and desktop.messages == []


@pytest.mark.nightly
@pytest.mark.parametrize("mainWindow", [True, False])
def testItsOwnTests(mainWindow):
    """What Slicer itself runs, all of it."""
    with Desktop(mainWindow=mainWindow, testing=True) as desktop:
        desktop.loadModule()
        slicer.selfTests["SegmentMetrics"](msec=0)
        assert desktop.exceptions == [] and desktop.messages == []


@pytest.mark.parametrize("version", [*rarely([(4, 11)]), (5, 8), (5, 10), *rarely([(6, 0)])])
def testTheVersionThatItNeeds(monkeypatch, version):
    """An older Slicer, whose Python cannot import the panel, says so, whatever the user does next."""
    monkeypatch.setattr(modules, "sampleDataSources", [])
    with Desktop(version=version) as desktop:
        desktop.loadModule()
        slicer.util.selectModule("SegmentMetrics")
        widget = slicer.modules.SegmentMetricsWidget
        isNewEnough = version >= (5, 10)
        assert bool(widget.panel) == bool(modules.sampleDataSources) == isNewEnough
        assert ("SegmentMetricsPanel.panel" in sys.modules) == isNewEnough
        if not isNewEnough:
            (label,) = slicer.util.findChildren(widget.parent, className="QLabel")
            says(label.text, "5.10", "{}.{}".format(*version))
        slicer.mrmlScene.Clear(0)
        slicer.util.selectModule("")
        slicer.util.selectModule("SegmentMetrics")
        widget.onReload()
        slicer.util.selectModule("")
        desktop.unloadModule("SegmentMetrics")
        assert desktop.exceptions == [] and desktop.messages == []


def testOlderPythonsReadTheModulesFile():
    """The sentence about the version comes from it: Python 3.9 has to read it, and to evaluate its annotations."""
    tree = ast.parse(MODULE.read_text(encoding="utf-8"), feature_version=(3, 9))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    arguments = [node for node in ast.walk(tree) if isinstance(node, (ast.arg, ast.AnnAssign))]
    annotations = [*(node.returns for node in functions), *(node.annotation for node in arguments)]
    parts = [part for annotation in annotations if annotation for part in ast.walk(annotation)]
    assert functions and not any(isinstance(part, ast.BinOp) for part in parts)


@pytest.fixture(scope="module")
def desktop():
    with Desktop(holdsLock=True) as desktop:
        desktop.loadModule()
        slicer.util.selectModule("SegmentMetrics")
        yield desktop


def testDrawingWhileTheLockIsHeld(session, monkeypatch):
    """Edits are followed, and all structures compared, where threads only run beside slots; nothing stands still."""
    from SegmentMetricsPanel import following

    threads = []

    def noting(function):
        return lambda *given: threads.append(threading.current_thread()) or function(*given)

    choose(session, *twoBoxes())
    session.apply()
    session.click(session.ui.followCheckBox)
    run, mask = session.panel.outcome.run, voxelsOf(shapes.box((7, 5, 5), (9, 9, 9)))
    for owner, name in ((comparison, "comparePair"), (following, "drawAhead"), (outcomes, "drawAhead")):
        monkeypatch.setattr(owner, name, noting(getattr(owner, name)))
    with session.isAlive():
        edit(session.parameters.test, session.parameters.testSegment, mask, lambda voxels: None)
        drawing.waitFor(session, lambda: session.panel.outcome.run != run)
        assert len(threads) > 1, "it is measured, and drawn ahead"
        applyAll(session)
    assert session.panel.outcome.isOfAll and not session.panel.staleness()
    assert len(threads) > 3 and threading.main_thread() not in threads
