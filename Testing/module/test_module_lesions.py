"""The page Lesions: a list whose rows lead to their places, and lesions colored by what happened."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import sys

import numpy as np
import shapes
import slicer
from panelfixtures import desktop as desktop  # the fixtures
from panelfixtures import session as session
from scenework import choose, segmentation


def cubes(*places: int):
    array = np.zeros((12, 12, 60), np.uint8)
    for place in places:
        array[3:8, 3:8, place : place + 5] = 1
    return shapes.imageOf(array)


def models() -> list:
    nodes = slicer.util.getNodesByClass("vtkMRMLModelNode")
    return [node for node in nodes if node.GetAttribute("SegmentMetrics.Role") == "lesions"]


def lines() -> list:
    """The surfaces and lines that focus draws."""
    models = slicer.util.getNodesByClass("vtkMRMLModelNode")
    return [node for node in models if node.GetAttribute("SegmentMetrics.FocusSide")]


def testMissingPackageIsOffered(desktop, session, monkeypatch):
    """Center lines need a package: it is offered once, and never as a command for a shell."""
    monkeypatch.setitem(sys.modules, "skimage", None)
    monkeypatch.setitem(sys.modules, "skimage.morphology", None)
    nodes = [segmentation(which, A=image) for which, image in (("First", cubes(4, 20)), ("Second", cubes(5, 40)))]
    choose(session, *nodes, "A")
    session.chooseFamilies("overlap", "topology")
    for _time in range(2):
        session.apply()
    assert desktop.shown == [("pip_ensure", "scikit-image>=0.22")]
    reasons = [one.reason for one in session.panel.outcome.records[0].measurements.values() if one.reason]
    assert any("slicer.util.pip_install" in reason for reason in reasons)
    session.chooseFamilies("boundary", "signed", "overlap")
    session.apply()


def testLesions(session):
    nodes = [segmentation(which, A=image) for which, image in (("First", cubes(4, 20)), ("Second", cubes(5, 40)))]
    choose(session, *nodes, "A")
    session.apply()
    assert "lesions" not in session.panel.pages.offered
    session.chooseFamilies("boundary", "overlap", "instances")
    session.apply()
    assert "lesions" in session.panel.pages.offered
    session.panel.pages.open("lesions")
    rows = session.texts(session.ui.lesionsTable)
    assert [row[0] for row in rows] == ["missed", "invented", "found"] and rows[0][3].startswith("L 22")
    assert "1 found, 1 missed" in session.ui.lesionsLabel.text
    session.panel.lesions.table.onCell(1, 0)
    session.settle(0.1)
    offsets = {n.GetName(): n.GetSliceOffset() for n in slicer.util.getNodesByClass("vtkMRMLSliceNode")}
    assert offsets["Yellow"] == pytest.approx(42, abs=1e-3)
    assert session.ui.summaryLabel.text.startswith("<b>A</b>: 1 of 2 lesions missed, 1 invented; DSC 0.4")
    assert "lesions" in session.ui.settingsButton.text and session.panel.settings.boxes["instances"].text == "Lesions"
    session.ui.lesionsButton.click()
    session.settle(0.1)
    (model,) = models()
    assert model.GetDisplayNode().GetVisibility() and not session.maps() and lines() == []
    assert session.ui.lesionsButton.text == "Back to the map"
    session.widget.exit()
    session.widget.enter()
    session.settle(0.1)
    assert model.GetDisplayNode().GetVisibility() and lines() == [], "also when the module is opened again"
    session.ui.lesionsButton.click()
    session.settle(0.1)
    assert not model.GetDisplayNode().GetVisibility() and session.maps() and lines()
    session.ui.lesionsButton.click()
    session.settle(0.1)
    session.ui.showMapCheckBox.click()
    session.settle(0.1)
    assert not model.GetDisplayNode().GetVisibility() and session.maps(), "the map takes the place of the lesions"
    session.chooseFamilies("boundary", "overlap")
    session.apply()
    assert "lesions" not in session.panel.pages.offered
