"""The module as it comes: with the application, without a window, or into an application that is running."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

from desktop import Desktop, modules
from panelfixtures import MODULE


@pytest.mark.parametrize("isRunning", [True, False])
def testTheSampleIsOfferedInTheSession(monkeypatch, isRunning):
    """Once, also where the application has started up long ago and will not say so again."""
    monkeypatch.setattr(modules, "sampleDataSources", [])
    with Desktop(mainWindow=isRunning) as desktop:
        desktop.app.blockSignals(isRunning)
        desktop.loadModule(MODULE)
        desktop.app.blockSignals(False)
        assert [source["sampleName"] for source in modules.sampleDataSources] == ["HeadAndNeckObservers"]
        assert desktop.exceptions == [] and desktop.messages == []
