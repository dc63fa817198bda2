"""What the tests of DICOM files share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def tmp_path(tmp_path) -> Path:
    """A folder of its own in one of its own: images are looked for beside it, where other tests have theirs."""
    folder = tmp_path / "patient"
    folder.mkdir()
    return folder
