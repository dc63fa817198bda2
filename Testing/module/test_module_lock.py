"""Edits are followed although the main thread of Slicer keeps Python's lock while nothing happens."""

from __future__ import annotations

import time

import pytest
import shapes
import slicer
from desktop import Desktop
from scenework import choose, segmentation

from SegmentMetricsLib.case import comparison as comparing
from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.mrml.conversion import orientedImage

BOX, SMALL, ALMOST = ((5, 5, 5), (14, 14, 14)), ((5, 5, 5), (9, 14, 14)), ((5, 5, 5), (13, 14, 14))


@pytest.fixture(scope="module")
def desktop():
    with Desktop(holdsLock=True) as desktop:
        desktop.loadModule()
        slicer.util.selectModule("SegmentMetrics")
        yield desktop


def testThreadsGetTheirTime(session, monkeypatch):
    """A run that gives the lock away a hundred times does not wait as often for the next look at it."""
    nodes = [segmentation(name, Box=shapes.box(*box)) for name, box in (("First", BOX), ("Second", SMALL))]
    choose(session, *nodes, "Box")
    session.apply()
    session.parameters.follow = True
    session.settle(0.05)
    panel, compared, seconds = session.panel, comparing.comparePair, []

    def slow(pair):
        begin = time.monotonic()
        for _ in range(100):
            time.sleep(0)
        seconds.append(time.monotonic() - begin)
        return compared(pair)

    monkeypatch.setattr(comparing, "comparePair", slow)
    before, looks = panel.outcome, []
    panel.follower.timer.connect("timeout()", lambda: looks.append(1))
    mask = orientedImage(structureFromImage(shapes.box(*ALMOST), "Box", None, 0.5).mask)
    slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(mask, nodes[1], session.parameters.testSegment)
    begin = time.monotonic()
    while panel.outcome is before and time.monotonic() < begin + 20:
        slicer.app.processEvents()
        time.sleep(0.001)
    assert panel.outcome is not before and seconds[0] < 0.5 and len(looks) < 50
    session.parameters.follow = False
    session.settle(0.05)
