"""Scenes that are saved, loaded and closed, a module that is reloaded, and nodes that go."""

from __future__ import annotations

from pathlib import Path

import slicer

from .session import Session, assertSeen, isStale, seen


def checkSaving(session: Session) -> None:
    """Everything visible survives saving, closing and loading the scene."""
    path = str(Path(session.folder.name) / "scene.mrb")
    before = seen(session)
    assert slicer.util.saveScene(path)
    assert not isStale(session), "saving changes nothing"
    for clear in (False, True):
        if not clear:
            slicer.mrmlScene.Clear(0)
            session.settle(0.2)
            assert session.panel.outcome is None and not session.ui.applyButton.enabled
        slicer.util.loadScene(path, {"clear": clear})
        session.settle(0.5)
        assertSeen(session, before)
    assert not isStale(session)
    (model,) = session.maps().values()
    assert model.GetPolyData().GetPointData().GetArray("SignedDistance") is not None
    assert slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(model).GetVisibility()


def checkReload(session: Session) -> None:
    """Reloading the module reloads its library; the results are still there and everything goes on working.

    Another run forgets what other tools would report; asked again, it is the same.
    """
    import sys

    before = seen(session)
    library = sys.modules["SegmentMetricsLib"]
    session.widget.onReload()
    session.settle(0.3)
    assert sys.modules["SegmentMetricsLib"] is not library
    assertSeen(session, before)
    session.apply()
    assert session.ui.conventionsTable.rowCount == 0 and session.isShown(session.ui.conventionsButton)
    assert not [n for n in session.results() if n.GetAttribute("SegmentMetrics.Role") == "conventions"]
    session.askTools()
    assertSeen(session, before)


def checkRemovedSegmentation(session: Session) -> None:
    """A segmentation that is deleted while its results are shown leaves a panel that says so."""
    reference = session.nodes[0]
    slicer.mrmlScene.RemoveNode(session.nodes[1])
    session.settle(0.6)
    assert not session.ui.applyButton.enabled and reference.GetDisplayNode().GetVisibility()
    assert session.panel.staleness() and session.ui.mainTable.rowCount > 0
    assert session.parameters.test is None, "no other one is chosen silently"
    slicer.mrmlScene.Clear(0)
    session.settle(0.2)
    assert session.panel.outcome is None and not session.results()
