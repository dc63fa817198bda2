"""The panel follows edits while somebody draws, on the stand-in for Slicer's application."""

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

from SegmentMetricsLib import mrml
from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.mrml.conversion import orientedImage


def drawn(session, low, high) -> None:
    """Replace the test by a box, as a stroke does."""
    mask = orientedImage(structureFromImage(shapes.box(low, high), "Box", None, 0.5).mask)
    node, segment = session.parameters.test, session.parameters.testSegment
    slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(mask, node, segment)


def followed(session) -> None:
    """Let the panel notice an edit and measure it."""
    session.settle(0.1)
    session.panel.follower.settle()
    session.settle(0.05)


def corners() -> list[str]:
    from SegmentMetricsPanel.views.corners import views

    return [view.cornerAnnotation().GetText(position) or "" for view, position in views()]


@pytest.fixture
def following(session):
    """The session with two boxes that were compared and are followed while another module is open."""
    nodes = [segmentation(n, Box=shapes.box(*box)) for n, box in (("First", BOX), ("Second", SMALL))]
    choose(session, *nodes, "Box")
    session.apply()
    session.ui.followCheckBox.click()
    session.settle(0.05)
    session.widget.exit()
    yield session
    session.widget.enter()
    session.parameters.follow = False
    session.settle(0.05)


BOX, SMALL = ((5, 5, 5), (14, 14, 14)), ((5, 5, 5), (9, 14, 14))


def testNumbersFollowWhileAnotherModuleIsOpen(following):
    session = following
    before = session.panel.outcome
    (model,) = session.maps().values()
    drawn(session, (5, 5, 5), (13, 14, 14))
    followed(session)
    panel = session.panel
    assert panel.outcome is not before and not panel.isActive and not panel.staleness()
    full = mrml.compareSegments(session.parameters.reference, "Box", session.parameters.test, "Box")
    assert panel.outcome.comparisons[0].numbers == pytest.approx(full.numbers, rel=0, abs=0, nan_ok=True)
    assert session.maps() == {"reference": model} and panel.outcome.shows(model), "the same node, filled anew"
    texts = set(corners())
    assert len(texts) == 1 and len(corners()) == 4
    print(texts, panel.parameters.edit[:300])
    assert 0
