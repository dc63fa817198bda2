"""Hazard-aware metrics: errors near critical structures count more.

Hazard is a number in [0, 1] at every voxel: 1 in a critical structure (times its weight), less with the distance to it.
Source: Beyond Dice: SIS and STAR. Where its equation 7 can exceed 1, the exact mean of the tail is taken instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import SimpleITK

from .errors import Undefined
from .grids import Grid
from .masks import Mask
from .progress import checkpoint
from .settings import Settings

# Keeps sums of hazard from being divided by zero.
EPSILON = 1e-8


@dataclass(frozen=True, eq=False)
class Field:
    """Hazard on a part of a lattice of voxels, 0 elsewhere.

    values: float array in [0, 1], indexed [k, j, i]. low: (3,) voxel index i, j, k of values[0, 0, 0].
    """

    values: np.ndarray
    low: np.ndarray

    def block(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return a copy [k, j, i] of the box from voxel index low to high (both included)."""
        result = np.zeros((high - low + 1)[::-1])
        first = np.maximum(low, self.low)
        last = np.minimum(high, self.low + self.values.shape[::-1] - 1)
        if (first <= last).all():
            target = _slices(first - low, last - low)
            result[target] = self.values[_slices(first - self.low, last - self.low)]
        return result

    def totalOutside(self, mask: Mask) -> float:
        """Return the sum of the hazard of all voxels that do not belong to a mask on the same lattice."""
        high = self.low + self.values.shape[::-1] - 1
        return float(self.values.sum(where=mask.block(self.low, high) == 0))


def field(criticals: Sequence[tuple[Mask, float]], grid: Grid, box: tuple, settings: Settings) -> Field:
    """Return the hazard of the voxels in a box of a grid.

    criticals: masks on the grid, none empty, and their weights in (0, 1]. box: lowest and highest voxel index (3,),
    both included. Distances are those between voxel centers, 0 inside the critical structure.
    """
    low, high = (np.asarray(corner) for corner in box)
    if settings.hazardKernel == "polynomial":
        # beyond the kernel's reach there is no hazard, and nothing needs to be stored
        steps = np.ceil(settings.hazardReach * np.linalg.norm(np.linalg.inv(grid.axes), axis=1)).astype(int)
        low = np.maximum(low, np.min([mask.low for mask, _ in criticals], axis=0) - steps)
        high = np.minimum(high, np.max([mask.high for mask, _ in criticals], axis=0) + steps)
    if (low > high).any():
        return Field(np.zeros((0, 0, 0)), low)
    total = np.zeros((high - low + 1)[::-1])
    for mask, weight in criticals:
        checkpoint()
        part = weight * kernel(_distances(mask, grid, low, high), settings)
        if settings.hazardCombination == "max":
            np.maximum(total, part, out=total)
        else:
            total += part
    return Field(np.minimum(total, 1.0), low)


def kernel(distances: np.ndarray, settings: Settings) -> np.ndarray:
    """Return the hazard in [0, 1] at distances in mm: max(0, 1 - (d/m)^p), or exp(-d/t)."""
    if settings.hazardKernel == "exponential":
        return np.exp(-distances / settings.hazardDecay)
    return np.maximum(0.0, 1.0 - (distances / settings.hazardReach) ** settings.hazardPower)


def _distances(mask: Mask, grid: Grid, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the distance [k, j, i] in mm of every voxel of a box from the nearest voxel of a mask."""
    if not grid.isRectangular:
        from scipy.spatial import cKDTree

        index = np.argwhere(mask.voxels)[:, ::-1] + mask.low
        wanted = np.stack(np.meshgrid(*[np.arange(a, b + 1) for a, b in zip(low, high)], indexing="ij"), axis=-1)
        found = cKDTree(grid.toWorld(index)).query(grid.toWorld(wanted.reshape(-1, 3)), workers=-1)[0]
        return found.reshape(wanted.shape[:3]).transpose(2, 1, 0)
    first, last = np.minimum(low, mask.low), np.maximum(high, mask.high)
    image = SimpleITK.GetImageFromArray(mask.block(first, last))
    image.SetSpacing([float(length) for length in grid.spacing])
    squared = SimpleITK.SignedMaurerDistanceMap(image, squaredDistance=True, useImageSpacing=True)
    values = SimpleITK.GetArrayViewFromImage(squared)[_slices(low - first, high - first)]
    return np.sqrt(np.maximum(values.astype(float), 0.0))


def _slices(low: np.ndarray, high: np.ndarray) -> tuple[slice, ...]:
    return tuple(slice(int(a), int(b) + 1) for a, b in zip(low[::-1], high[::-1], strict=True))


@dataclass(frozen=True, eq=False)
class Errors:
    """The hazard of what two masks share and of what they do not.

    missed, added: the hazard of every voxel that only the reference, or only the test has. both: sum of the hazard
    where they agree. outside: sum of the hazard of all voxels outside the reference.
    """

    missed: np.ndarray
    added: np.ndarray
    both: float
    outside: float


def errors(hazard: Field, reference: Mask, test: Mask, box: tuple) -> Errors:
    """Return the hazard of two masks on one lattice that lie in a box; one of them may be empty."""
    low, high = (np.asarray(corner) for corner in box)
    values = hazard.block(low, high)
    mine, other = (mask.block(low, high).astype(bool) for mask in (reference, test))
    return Errors(
        values[mine & ~other], values[other & ~mine], float(values[mine & other].sum()), hazard.totalOutside(reference)
    )


def missedShare(found: Errors) -> float:
    """Return R-FN in [0, 1]: the share of the reference's hazard that the test misses; 0 without hazard there."""
    missed = float(found.missed.sum())
    return missed / (found.both + missed + EPSILON)


def addedShare(found: Errors) -> float:
    """Return R-FP in [0, 1]: the share of the hazard outside the reference that the test covers; 0 without any."""
    return float(found.added.sum()) / (found.outside + EPSILON)


def safetyImpactScore(found: Errors, balance: float) -> float:
    """Return SIS in [0, 1]: balance times R-FN plus the rest times R-FP."""
    return balance * missedShare(found) + (1 - balance) * addedShare(found)


def tailRisk(found: Errors, balance: float, tail: float) -> float:
    """Return STAR in [0, 1]: balance times the tail mean of the missed hazard plus the rest times the added one's."""
    return balance * tailMean(found.missed, tail) + (1 - balance) * tailMean(found.added, tail)


def tailMean(values: np.ndarray, share: float) -> float:
    """Return the mean of the largest values, a share in (0, 1] of them, the last one counted in part; 0 without any."""
    if not len(values):
        return 0.0
    threshold = np.quantile(values, 1 - share, method="inverted_cdf")
    return float(threshold + np.maximum(values - threshold, 0).mean() / share)


def weightedDice(found: Errors) -> float:
    """Return the Dice coefficient in [0, 1] of voxels that count by hazard. Raises Undefined where none has any."""
    both = 2 * found.both
    whole = both + float(found.missed.sum()) + float(found.added.sum())
    if not whole:
        raise Undefined("neither structure has any hazard")
    return both / whole
