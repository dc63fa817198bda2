"""Overlap of two structures: shared voxels, or shared area of contours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import contours
from .masks import Mask
from .surfaces import Surface


@dataclass(frozen=True)
class Counts:
    """How much two structures share: voxels of two masks on one grid as exact integers, or areas of contours in mm2.

    truePositive: in both. falsePositive: in the test only. falseNegative: in the reference only.
    """

    truePositive: float
    falsePositive: float
    falseNegative: float


def count(reference: Mask, test: Mask) -> Counts:
    """Return how many voxels two masks on one lattice share."""
    both = 0
    if not reference.isEmpty and not test.isEmpty:
        low, high = np.maximum(reference.low, test.low), np.minimum(reference.high, test.high)
        if (low <= high).all():
            both = int(np.count_nonzero(reference.block(low, high) & test.block(low, high)))
    return Counts(both, test.count - both, reference.count - both)


def areas(reference: Surface, test: Surface) -> Counts:
    """Return how much area two contours in one plane share."""
    both = contours.sharedArea(reference, test)
    return Counts(both, test.volume - both, reference.volume - both)


def dice(counts: Counts) -> float:
    """Return the Dice similarity coefficient 2 TP / (2 TP + FP + FN) in [0, 1] (Dice 1945)."""
    return 2 * counts.truePositive / (2 * counts.truePositive + counts.falsePositive + counts.falseNegative)


def intersectionOverUnion(counts: Counts) -> float:
    """Return TP / (TP + FP + FN) in [0, 1] (Jaccard 1912)."""
    return counts.truePositive / (counts.truePositive + counts.falsePositive + counts.falseNegative)


def sensitivity(counts: Counts) -> float:
    """Return the share of the reference that the test found, TP / (TP + FN) in [0, 1]."""
    return counts.truePositive / (counts.truePositive + counts.falseNegative)


def precision(counts: Counts) -> float:
    """Return the share of the test that is in the reference, TP / (TP + FP) in [0, 1]."""
    return counts.truePositive / (counts.truePositive + counts.falsePositive)
