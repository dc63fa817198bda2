"""The real panel on the stand-in for Slicer's application."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import panel_checks
from desktop import Desktop, photographs


@pytest.fixture(scope="module")
def desktop():
    with Desktop() as desktop, photographs.usualFont():
        desktop.loadModule()
        yield desktop


@pytest.fixture(scope="module")
def session(desktop):
    return panel_checks.Session(pace=0)


@pytest.mark.parametrize("check", panel_checks.CHECKS, ids=lambda check: check.__name__)
def testPanel(desktop, session, check):
    desktop.forget()
    check(session)
    assert desktop.exceptions == [] and desktop.messages == []
    assert [shown for shown in desktop.shown if shown[0] == "Critical"] == []
