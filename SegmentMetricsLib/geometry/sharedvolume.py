"""The volume that two masks on different grids share, wherever their voxels are.

A mask is the union of its voxels, and these are boxes.

Where the axes of both grids are parallel, the fraction of a voxel of one grid that lies in a voxel of the other is the
product of three lengths: along each axis, what two intervals have in common. Three sparse matrices, one for each axis,
therefore give the fraction of every voxel of one grid that the structure on the other grid fills. Summed over the
voxels of the first structure, this is the shared volume, exactly: nothing is resampled, and a shift by any part of a
voxel changes it.

Where the axes are turned against each other, two boxes share a polyhedron. Most voxels of one structure nevertheless
lie completely inside or completely outside the other one, which a look at the other grid's voxels around them shows.
The filled fraction of the few that its boundary crosses is counted at points spread evenly in each voxel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.progress import checkpoint, chunks
from .grids import SAME_LATTICE_TOLERANCE
from .masks import Mask

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# A shared fraction of a structure as small as this is 0.
ROUNDING = 1e-12
# Points in all voxels that the other boundary crosses, in one of them at least and at most, and processed at a time.
POINTS, FEWEST, MOST, CHUNK = 1_000_000, 64, 8_000, 1 << 18
# Multiples of these numbers modulo 1 fill a cube evenly: powers of the inverse of the root of x^4 = x + 1 (Roberts,
# "The unreasonable effectiveness of quasirandom sequences", 2018).
EVENLY = (1 / 1.2207440846057596) ** np.arange(1, 4)


def sharedVolume(first: Mask, second: Mask) -> float:
    """Return the volume in mm3 that both masks of 0 and 1 cover (area in mm2 on planar grids).

    Exact where the axes of their grids are parallel; otherwise sampled, within a few hundredths of a percent of the
    smaller structure for structures of thousands of voxels. 0 if either is empty.
    """
    isPlanar = first.grid.planar and second.grid.planar
    if isPlanar:
        first, second = first.oneThick(), second.oneThick()
    if first.isEmpty or second.isEmpty:
        return 0.0
    shared = _ofTurned(first, second) if areTurned(first, second) else _ofParallel(first, second)
    smaller = min(first.size, second.size)
    # structures that only touch, or lie within each other, differ from 0 and 1 by rounding
    if shared <= ROUNDING * smaller:
        return 0.0
    return smaller if shared >= (1 - ROUNDING) * smaller else shared


def areTurned(first: Mask, second: Mask) -> bool:
    """Return whether the axes of two masks' grids are not parallel, as far as the second structure extends."""
    order, _, aside = _steps(first, second)
    return len(set(order)) < 3 or bool((aside @ second.voxels.shape[::-1]).max() > SAME_LATTICE_TOLERANCE)


def _steps(first: Mask, second: Mask) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the steps along the second grid's axes, in voxels of the first.

    These are: which of these axes (3,) runs along each of the first's, by how much (3,), negative where it runs
    backward, and by how much (3, 3) each runs aside.
    """
    steps = np.linalg.inv(first.grid.axes) @ second.grid.axes
    order, aside = np.abs(steps).argmax(axis=1), np.abs(steps)
    aside[range(3), order] = 0
    return order, steps[range(3), order], aside


def _ofParallel(first: Mask, second: Mask) -> float:
    """Return the shared volume of masks with parallel axes."""
    order, lengths, _ = _steps(first, second)
    starts = first.grid.toIndex(second.grid.toWorld(second.low[None]))[0] - first.low
    if first.grid.planar and second.grid.planar:  # both are in one plane
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
    return shared * first.grid.voxelSize


def _ofTurned(first: Mask, second: Mask) -> float:
    """Return the shared volume of masks whose axes are turned against each other."""
    from scipy.ndimage import maximum_filter, minimum_filter

    toSecond = np.linalg.inv(second.grid.axes) @ first.grid.axes
    # the voxels of the second that one of the first may meet, around the one at its center
    reach = np.ceil(np.abs(toSecond).sum(axis=1) / 2).astype(int)
    margin = reach + 1
    voxels = second.block(second.low - margin, second.high + margin)
    size = tuple(2 * reach[::-1] + 1)
    touched, filled = maximum_filter(voxels, size), minimum_filter(voxels, size)

    def at(array: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the values at places (..., 3) counted in voxels of the second; beyond the margin all are 0."""
        index = np.rint(places - (second.low - margin)).astype(np.intp)
        return array[tuple(np.clip(index[..., axis], 0, array.shape[2 - axis] - 1) for axis in (2, 1, 0))]

    whole, crossed = 0, []
    for k, layer in enumerate(first.voxels):
        checkpoint()
        j, i = np.nonzero(layer)
        places = np.stack([i, j, np.full_like(i, k)], axis=1) + first.low
        centers = second.grid.toIndex(first.grid.toWorld(places))
        isWhole = at(filled, centers) > 0
        whole += int(np.count_nonzero(isWhole))
        crossed.append(centers[~isWhole & (at(touched, centers) > 0)])
    centers = np.concatenate(crossed)
    if not len(centers):
        return whole * first.grid.voxelSize
    flatAxis = first.grid.flatAxis if first.grid.planar and second.grid.planar else None
    count = int(np.clip(POINTS / len(centers), FEWEST, MOST))
    inside, together = 0, max(CHUNK // count, 1)
    for chosen in chunks(len(centers), together):
        part = centers[chosen]
        numbers = chosen.start * count + np.arange(len(part) * count)
        # a point for each number, evenly spread over the voxel, for those of every voxel and of all together
        offsets = numbers[:, None] * EVENLY
        offsets -= np.floor(offsets) + 0.5
        if flatAxis is not None:
            offsets[:, flatAxis] = 0
        places = part[:, None] + (offsets @ toSecond.T).reshape(len(part), count, 3)
        inside += int(np.count_nonzero(at(voxels, places)))
    return (whole + inside / count) * first.grid.voxelSize


def sharedParts(count: int, start: float, length: float, others: int) -> csr_array:
    """Return the fraction (count, others) of every voxel in a row that lies in every voxel of another row.

    Both rows lie along the same line. start: center of the first voxel of the other row, in voxels from the center of
    the first one of this row. length: step from one voxel of the other row to the next, negative if it runs backward.
    """
    from scipy.sparse import csr_array

    edges = start + length * (np.arange(others + 1) - 0.5)
    low, high = np.minimum(edges[:-1], edges[1:]), np.maximum(edges[:-1], edges[1:])
    own = np.arange(count)[:, None]
    return csr_array(np.maximum(np.minimum(own + 0.5, high) - np.maximum(own - 0.5, low), 0))
