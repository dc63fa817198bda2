"""The panel on the stand-in for Slicer's application, as fixtures: one application a file, an empty scene a test."""

from __future__ import annotations

import pytest


class OfPanel(pytest.Module):
    """A file that needs Slicer's classes and Qt, which is skipped where these are not installed."""

    def collect(self):
        pytest.importorskip("slicer", reason="slicer-core is not installed")
        pytest.importorskip("PySide6", reason="PySide6 is not installed")
        return super().collect()


def pytest_pycollect_makemodule(module_path, parent):
    return OfPanel.from_parent(parent, path=module_path) if module_path.name.startswith("test_module") else None


@pytest.fixture(scope="module")
def desktop():
    import slicer
    from desktop import Desktop

    with Desktop() as desktop:
        desktop.loadModule()
        slicer.util.selectModule("SegmentMetrics")
        yield desktop


@pytest.fixture
def session(desktop):
    import slicer
    from panel_checks import Session

    slicer.mrmlScene.Clear(0)
    desktop.forget()
    session = Session(pace=0)
    session.settle(0.05)
    yield session
    assert desktop.exceptions == [] and desktop.messages == []
