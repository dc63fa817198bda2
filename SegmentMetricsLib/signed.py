"""Signed distances: on which side the test lies. Positive is outside the reference, that is over-contoured.

Every function takes the distances of both directions and pools both boundaries by element size.
"""

from __future__ import annotations

from .boundary import TIE_TOLERANCE
from .distances import SurfaceDistances


def mean(distances: SurfaceDistances) -> float:
    """Return the signed mean distance in mm: positive where the test is larger than the reference on the whole."""
    total = sum(direction.totalSize for direction in distances.directions)
    return float(sum(direction.signed @ direction.sizes for direction in distances.directions)) / total


def overFraction(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the share of both boundaries in [0, 1] where the test lies farther outside the reference than tau."""
    return _fractionBeyond(distances, tolerance, 1)


def underFraction(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the share of both boundaries in [0, 1] where the test lies farther inside the reference than tau."""
    return _fractionBeyond(distances, tolerance, -1)


def _fractionBeyond(distances: SurfaceDistances, tolerance: float, side: int) -> float:
    # the tie rule of the normalized surface distance, so that the two fractions and NSD add up to 1
    beyond = sum(d.sizes[side * d.signed > tolerance + TIE_TOLERANCE].sum() for d in distances.directions)
    return float(beyond) / sum(d.totalSize for d in distances.directions)
