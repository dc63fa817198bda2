"""Fixtures that several test files share."""

from __future__ import annotations

import pytest


@pytest.fixture
def desktop(request):
    """A stand-in for Slicer's application; the test fails when a slot, an observer or a timer raised something.

    Other settings: @pytest.mark.parametrize("desktop", [{"mainWindow": False}], indirect=True). A test that expects
    such an exception looks at desktop.exceptions and empties it.
    """
    pytest.importorskip("slicer", reason="slicer-core is not installed")
    pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")
    from desktop import Desktop

    with Desktop(**getattr(request, "param", {})) as running:
        yield running
        unexpected = list(running.exceptions)
    assert unexpected == []
