"""Overlap of two structures: shared voxels, or shared area of contours."""

from __future__ import annotations

from ...base.errors import Undefined
from ...comparison.counts import Counts
from ...model.structures import REFERENCE_AND_TEST

# Volumes that differ by less than this fraction differ by rounding only: a single voxel is a larger fraction of any
# image.
VOLUME_ROUNDING = 1e-12


def dice(counts: Counts) -> float:
    """Return the Dice similarity coefficient 2 TP / (2 TP + FP + FN) in [0, 1] (Dice 1945)."""
    return _ratio(2 * counts.truePositive, counts.reference + counts.test, counts)


def intersectionOverUnion(counts: Counts) -> float:
    """Return TP / (TP + FP + FN) in [0, 1] (Jaccard 1912)."""
    either = counts.truePositive + counts.falsePositive + counts.falseNegative
    return _ratio(counts.truePositive, either, counts)


def diceOf(jaccard: float) -> float:
    """Return the Dice coefficient 2 J / (1 + J) in [0, 1] that belongs to a Jaccard index J in [0, 1]."""
    return float(2 * jaccard / (1 + jaccard))


def sensitivity(counts: Counts) -> float:
    """Return the share of the reference that the test found, TP / (TP + FN) in [0, 1]."""
    return _ratio(counts.truePositive, counts.reference, counts)


def precision(counts: Counts) -> float:
    """Return the share of the test that is in the reference, TP / (TP + FP) in [0, 1]."""
    return _ratio(counts.truePositive, counts.test, counts)


def volumeDifference(reference: float, test: float) -> float:
    """Return the test's volume minus the reference's, in their unit; 0 if they differ by rounding only."""
    difference = test - reference
    return 0.0 if abs(difference) <= VOLUME_ROUNDING * max(reference, test) else difference


def _ratio(part: float, whole: float, counts: Counts) -> float:
    """Return a quotient. Raises Undefined if the denominator is 0; the counts tell the reason."""
    if whole:
        return part / whole
    hollow = [which for which in REFERENCE_AND_TEST if not getattr(counts, which)]
    if not hollow:
        raise Undefined("the denominator of its formula is 0")
    who = "both structures enclose" if len(hollow) == 2 else f"the {hollow[0]} encloses"
    raise Undefined(f"{who} no {counts.unit}")
