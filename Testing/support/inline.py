"""Batches in the process of the tests: starting others takes longer than comparing their small cases."""

from __future__ import annotations

from SegmentMetricsLib.base import parallel


class Inline:
    """Counts the cases that are compared."""

    count = 0


def spread(work, items, **_):
    """Stand for parallel.spread(), without other processes."""
    for found in parallel.spread(work, items, workers=1):
        Inline.count += 1
        yield found
