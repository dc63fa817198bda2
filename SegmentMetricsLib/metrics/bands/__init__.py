"""Boundary intersection over union: overlap of the two bands just inside the contours.

The band of a structure is the part of its interior closer than tau to its own boundary. Points are spread over both
structures, and each is tested against both bands; the sizes of the bands' intersection and union are those of the space
that the points in them represent. Begin with methods, which chooses where the points lie and how they are tested:

lookup: by tables, for masks on one lattice.
bandsearch: by search, for any two closed boundaries; bandvoxels: at which points; depths: how deep these lie,
interpolated.

Source: Cheng et al., Boundary IoU, CVPR 2021, arXiv:2103.16562; Podobnik & Vrtovec, Metrics Revolutions,
arXiv:2410.02630.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...distances.bounded import Bounded
from ...distances.field import LEAST_SHARE_ERROR


@dataclass(frozen=True)
class Bands:
    """Sizes of the two bands' intersection and union in mm3 (mm2 for contours).

    error: standard error of the overlap, None where it is not known.
    """

    intersection: float
    union: float
    error: float | None = None

    @property
    def overlap(self) -> float:
        """Intersection over union in [0, 1]; NaN when both bands are empty."""
        if not self.union:
            return float("nan")
        value = self.intersection / self.union
        if self.error is None:
            return value
        # wrong points that are not drawn are never corrected, so a few of them may go unnoticed
        error = max(2 * self.error, LEAST_SHARE_ERROR) if self.error > 0 else 0.0
        return Bounded.within(value, error, 0.0, 1.0)
