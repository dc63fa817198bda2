"""The panel on the stand-in for Slicer's application, as fixtures: one application a file, an empty scene a test."""

from __future__ import annotations

from pathlib import Path

import pytest
import slicer
from desktop import Desktop
from panel_checks import Session

MODULE = Path(__file__).parents[2] / "SegmentMetrics" / "SegmentMetrics.py"


@pytest.fixture(scope="module")
def desktop():
    with Desktop() as desktop:
        desktop.loadModule(MODULE)
        slicer.util.selectModule("SegmentMetrics")
        yield desktop


@pytest.fixture
def session(desktop):
    slicer.mrmlScene.Clear(0)
    desktop.forget()
    session = Session(pace=0)
    session.settle(0.05)
    yield session
    assert desktop.exceptions == [] and desktop.messages == []
