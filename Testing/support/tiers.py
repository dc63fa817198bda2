"""Which parameters of a test are measured nightly only."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def rarely(values: Iterable) -> list:
    """Return values of one parameter, marked as nightly: what they show is much as it is for the others."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]
