"""Tests of what Slicer's classes hold are skipped where these are not installed."""

from __future__ import annotations

import pytest


def pytest_pycollect_makemodule():
    pytest.importorskip("slicer", reason="slicer-core is not installed")
