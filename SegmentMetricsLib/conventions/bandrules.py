"""Numbers computed from the voxels of both masks instead of from distances between boundaries."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base.parallel import threads
from ..metrics import overlap
from .convention import DSC, IOU, Number
from .elements import faceBorder, masks
from .toolmasks import Sampling


def overlaps(dice: str, jaccard: str = "") -> dict[str, Number]:
    """Return the overlap of voxels, on which all tools agree, by key. dice, jaccard: the tool's names, "" for none."""
    rules = {DSC: (overlap.dice, dice), IOU: (overlap.intersectionOverUnion, jaccard)}
    return {
        key: Number(lambda sampling, rule=rule: rule(sampling.pair.crispCounts), name, "overlap of the voxels", masks)
        for key, (rule, name) in rules.items()
        if name
    }


@dataclass(frozen=True)
class VoxelBands:
    """The overlap, in [0, 1], of the voxels near the boundary of each mask; NaN when there are none.

    band: returns those voxels [k, j, i] of a mask, given the Sampling, the number of the mask, and the tolerance.
    """

    band: Callable[[Sampling, int, float], np.ndarray]

    def __call__(self, sampling: Sampling, tolerance: float) -> float:
        first, second = (
            sampling.keep((self.band, number, tolerance), lambda n=number: self.band(sampling, n, tolerance))
            for number in (0, 1)
        )
        either = np.count_nonzero(first | second)
        return np.count_nonzero(first & second) / either if either else math.nan


def nearBorder(sampling: Sampling, number: int, tolerance: float) -> np.ndarray:
    """Return the voxels of a mask closer than the tolerance, in voxels, to a voxel of its border."""
    from scipy.ndimage import maximum_filter

    mask, band = sampling.arrays[number], sampling.voxels(faceBorder, number)
    # only voxels in the box around a border voxel can be near it
    reach = math.ceil(tolerance) - 1
    around = maximum_filter(band, 2 * reach + 1, mode="constant") if reach else band
    candidates = np.argwhere(mask & ~band & around)
    tree = sampling.tree(faceBorder, number, (1.0, 1.0, 1.0))
    near, _ = tree.query(candidates.astype(float), workers=threads())
    band = band.copy()
    band[tuple(candidates[near < tolerance].T)] = True
    return band
