"""The page Lesions: a list whose rows lead to their places, and lesions colored by what happened."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

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
    session.ui.lesionsButton.click()
    session.settle(0.1)
    (model,) = models()
    assert model.GetDisplayNode().GetVisibility() and not session.parameters.showMap
    session.ui.lesionsButton.click()
    session.settle(0.1)
    assert not model.GetDisplayNode().GetVisibility()
    session.chooseFamilies("boundary", "overlap")
    session.apply()
    assert "lesions" not in session.panel.pages.offered
