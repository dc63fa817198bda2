"""How much two masks share whose grids run along the same axes, however large and wherever their voxels are.

A mask is the union of its voxels, and these are boxes. How much of a voxel of one grid belongs to a voxel of the other
is the product of three lengths, along each axis that of what two intervals have in common, as parts of the voxel. So
three sparse matrices, one for each axis, tell how much of every voxel of one grid the structure on the other one fills.
Summed over the voxels of the first structure that is the volume that both share, exactly: nothing is resampled, and a
shift of any part of a voxel is seen.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ..progress import checkpoint
from .grids import SAME_LATTICE_TOLERANCE
from .masks import Mask

# A share of a structure this small is none.
ROUNDING = 1e-12


def sharedVolume(first: Mask, second: Mask) -> float | None:
    """Return the volume in mm3 that both masks of 0 and 1 cover (area in mm2 on planar grids).

    None where the axes of their grids do not run along the same lines.
    """
    isPlanar = first.grid.planar and second.grid.planar
    if isPlanar:
        first, second = first.oneThick(), second.oneThick()
    # where the voxels of the second lie among those of the first, as these are counted
    steps = np.linalg.inv(first.grid.axes) @ second.grid.axes
    order = np.abs(steps).argmax(axis=1)
    lengths = steps[range(3), order]
    aside = np.abs(steps)
    aside[range(3), order] = 0
    if len(set(order)) < 3 or (aside @ second.voxels.shape[::-1]).max() > SAME_LATTICE_TOLERANCE:
        return None
    if first.isEmpty or second.isEmpty:
        return 0.0
    starts = first.grid.toIndex(second.grid.toWorld(second.low[None]))[0] - first.low
    if isPlanar:  # both are in one plane
        starts[first.grid.flatAxis] = np.rint(starts[first.grid.flatAxis])
    # arrays are indexed [k, j, i]
    voxels = second.voxels.transpose([2 - axis for axis in reversed(order)])
    rows = zip(first.voxels.shape, starts[::-1], lengths[::-1], voxels.shape, strict=True)
    alongK, alongJ, alongI = (sharedParts(*row) for row in rows)
    shared = 0.0
    for k, layer in enumerate(first.voxels):
        checkpoint()
        others = slice(*alongK.indptr[k : k + 2])
        if others.start == others.stop:
            continue
        across = np.einsum("m,mji->ji", alongK.data[others], voxels[alongK.indices[others]])
        filled = (alongI @ (alongJ @ across).T).T
        shared += float(filled[layer != 0].sum())
    shared *= first.grid.voxelSize
    smaller = min(first.size, second.size)
    # of what touches, and of what lies within the other, only rounding says otherwise
    if shared <= ROUNDING * smaller:
        return 0.0
    return smaller if shared >= (1 - ROUNDING) * smaller else shared


def sharedParts(count: int, start: float, length: float, others: int) -> csr_array:
    """Return what part (count, others) of every voxel in a row belongs to every one in another row along the same line.

    start: center of the first one of the others, counted in voxels from the center of the first one. length: from one
    of the others to the next, which is negative where they run backward.
    """
    edges = start + length * (np.arange(others + 1) - 0.5)
    low, high = np.minimum(edges[:-1], edges[1:]), np.maximum(edges[:-1], edges[1:])
    own = np.arange(count)[:, None]
    return csr_array(np.maximum(np.minimum(own + 0.5, high) - np.maximum(own - 0.5, low), 0))
