"""Numbers computed from the voxels of both masks instead of from distances between boundaries."""

from __future__ import annotations

import math

import numpy as np

from ..base.parallel import threads
from ..metrics import overlap
from .convention import DSC, IOU, Number
from .elements import faceBorder, masks
from .toolmasks import Sampling


def overlaps(dice: str, jaccard: str = "") -> dict[str, Number]:
    """Return the overlap of the voxels, on which all tools agree, by key.

    dice, jaccard: the tool's names of them, "" for none.
    """
    rules = {DSC: (overlap.dice, dice), IOU: (overlap.intersectionOverUnion, jaccard)}
    return {
        key: Number(lambda sampling, rule=rule: rule(sampling.pair.crispCounts), name, "overlap of the voxels", masks)
        for key, (rule, name) in rules.items()
        if name
    }


def voxelBands(sampling: Sampling, tolerance: float) -> float:
    """Return the overlap of the voxels closer than the tolerance, in voxels, to a voxel of their own mask's border."""
    first, second = (sampling.keep(("band", number, tolerance), lambda n=number: _band(sampling, n, tolerance))
                     for number in (0, 1))  # fmt: skip
    return sharedShare(first, second)


def sharedShare(first: np.ndarray, second: np.ndarray) -> float:
    """Return intersection over union, in [0, 1], of two sets of voxels, bool arrays; NaN when both are empty."""
    either = np.count_nonzero(first | second)
    return np.count_nonzero(first & second) / either if either else float("nan")


def _band(sampling: Sampling, number: int, tolerance: float) -> np.ndarray:
    mask, band = sampling.arrays[number], sampling.voxels(faceBorder, number)
    # only voxels in the box around a border voxel can be near it
    candidates = np.argwhere(mask & ~band & _spread(band, math.ceil(tolerance) - 1))
    tree = sampling.tree(faceBorder, number, (1.0, 1.0, 1.0))
    near, _ = tree.query(candidates.astype(float), workers=threads())
    band = band.copy()
    band[tuple(candidates[near < tolerance].T)] = True
    return band


def _spread(voxels: np.ndarray, reach: int) -> np.ndarray:
    """Return the voxels at most `reach` steps away from the given ones along every axis."""
    from scipy.ndimage import maximum_filter

    return maximum_filter(voxels, 2 * reach + 1, mode="constant") if reach else voxels
