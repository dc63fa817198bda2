"""The random draw of voxels to be searched because their interpolated depth may be wrong, and the corrections by it.

A voxel is searched for one boundary at a time, with a separate chance for each: voxels close to the end of one band are
mostly far from the end of the other. Changes that the search of one boundary makes by itself are divided by its chance;
changes that only both make together, by the smaller chance. So the expected result is that of searching every voxel
(Horvitz and Thompson, doi:10.1080/01621459.1952.10483446).

A voxel next to the end of a band counts fractionally, on a ramp as wide as a voxel. So a correction is as large as the
error of the depth, instead of all or nothing at random, and a draw is as accurate with a tenth of the searches. On
ridges, where depths turn before they reach the other end of the ramp, this would change the mean; there, ramps are so
narrow that voxels count all or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Chance of voxels far from the end of the band, as a fraction of that of voxels at the end; and minimum chance of
# voxels outside the other band, as a fraction of that of voxels inside.
LEAST_CHANCE, LEAST_OUTSIDE = 0.01, 0.2
# Voxels are far if only an interpolation error of more than this many times the usual one would matter.
FAR = 4


def ramp(above: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return the fractions (n,) of voxels, in [0, 1], that count as in a band.

    above: (n,) mm by which they are less deep than the end of the band. width: of the ramp, mm, or (n,) of each.
    """
    return np.clip(above / np.float32(width) + np.float32(0.5), 0, 1)


def isNear(above: np.ndarray, scales: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return whether voxels (...) are close enough to the end of the band for a higher chance; see chancesOf()."""
    return np.abs(above) < np.float32(FAR) * scales + np.float32(width / 2)


def chancesOf(above: np.ndarray, scales: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return the numbers (n,) to which the chances of voxels should be proportional, at most 1; float32.

    above, scales: (n,) mm by which they are less deep than the end of the band, and the approximate errors of that.
    width: of the ramp, mm, or (n,) of each. The optimum is the root mean square of a voxel's change (Neyman's
    allocation), here for exponentially distributed errors of depths.
    """
    beyond = np.maximum(np.abs(above) - np.float32(width / 2), 0)
    return largestChances(scales, width) * np.exp(beyond / (-2 * scales))


def largestChances(scales: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return chancesOf() voxels at the end of the band. scales: (...) approximate errors of their depths, mm."""
    return np.minimum(scales * np.float32(1.4) / np.float32(width), 1)


class Corrections:
    """Changes to the numbers of voxels in both bands and in either, estimated from drawn voxels.

    guessed, found: for each boundary, the fractions of voxels (k,) in its band, as guessed and as searched; for a voxel
    that was not searched, both are the guess. chances: for each boundary, the probabilities (k,) of being searched.
    """

    def __init__(self, guessed: list[np.ndarray], found: list[np.ndarray], chances: list[np.ndarray]):
        (a, b), (c, d) = ([part.astype(float) for part in parts] for parts in (guessed, found))
        # voxels that are never searched change nothing
        one, other = (np.where(chance > 0, chance, 1) for chance in chances)
        self._inverse = 1 / one, 1 / other, 1 / np.minimum(one, other)
        # the ends of both bands are mostly parallel, so the smaller fraction of a voxel is in both bands
        self._both = _changes(*(np.minimum(*parts) for parts in ((a, b), (c, b), (a, d), (c, d))))
        self._either = _changes(*(np.maximum(*parts) for parts in ((a, b), (c, b), (a, d), (c, d))))

    @property
    def both(self) -> float:
        """Change of the number of voxels in both bands."""
        return float(self._estimates(self._both).sum())

    @property
    def either(self) -> float:
        """Change of the number of voxels in either band."""
        return float(self._estimates(self._either).sum())

    def error(self, overlap: float) -> float:
        """Return the standard error in voxels of the intersection minus the overlap times the union."""
        parts = [both - overlap * either for both, either in zip(self._both, self._either, strict=True)]
        return float(np.sqrt((self._estimates(parts) ** 2 * (1 - 1 / self._inverse[2])).sum()))

    def _estimates(self, changes: Sequence[np.ndarray]) -> np.ndarray:
        first, second, whole = changes
        one, other, together = self._inverse
        # in this order, equal changes in both bands and in either are equal to the last digit
        return whole * together + (first * (one - together) + second * (other - together))


def _changes(none: np.ndarray, one: np.ndarray, other: np.ndarray, all_: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the changes of numbers (k,) by the search of one boundary, of the other, and of both."""
    return one - none, other - none, all_ - none
