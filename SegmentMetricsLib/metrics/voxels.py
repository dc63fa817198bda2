"""Distances between the voxels of two structures, all of them and not their contours only.

Source: Taha & Hanbury, BMC Medical Imaging 2015, doi:10.1186/s12880-015-0068-x. A voxel is its center; one that lies in
both structures is at distance 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..cores import threads
from ..errors import Undefined
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.products import product
from ..progress import checkpoint
from .boundary import Directed

# So many voxels are looked up between two checks whether the user wants to stop.
CHUNK = 200_000
# A covariance whose smallest axis has less than this share of the largest one's variance is flat.
FLAT = 1e-12


@dataclass(frozen=True)
class VoxelDistances:
    """How far the voxels of one structure are from the nearest voxel of another one.

    distances: (n,) ascending, of the voxels that the other structure does not have. shared: how many it has, too.
    """

    distances: np.ndarray
    shared: int

    @property
    def count(self) -> int:
        return len(self.distances) + self.shared

    @property
    def mean(self) -> float:
        return float(self.distances.sum()) / self.count

    def quantile(self, share: float) -> float:
        """Return the distance that so large a share of the voxels does not exceed, linearly interpolated."""
        position = (self.count - 1) * share
        below = math.floor(position)
        low, high = (self._ranked(min(rank, self.count - 1)) for rank in (below, below + 1))
        return low + (high - low) * (position - below)

    def _ranked(self, rank: int) -> float:
        return 0.0 if rank < self.shared else float(self.distances[rank - self.shared])


def measure(reference: Mask, test: Mask, unit: str) -> tuple[VoxelDistances, VoxelDistances]:
    """Return the distances from reference to test and from test to reference, of two masks on one lattice.

    unit: "mm", or "voxel" for distances between voxel indices. Raises Undefined when a mask is empty.
    """
    requireVoxels(reference, test)
    return _measureOneWay(reference, test, unit), _measureOneWay(test, reference, unit)


def requireVoxels(reference: Mask, test: Mask) -> None:
    """Raise Undefined when a mask has no voxel, as that of a mesh thinner than voxels."""
    for which, mask in (("reference", reference), ("test", test)):
        if mask.isEmpty:
            raise Undefined(f"the {which} encloses no voxel")


def _measureOneWay(start: Mask, goal: Mask, unit: str) -> VoxelDistances:
    from scipy.spatial import cKDTree

    alone = start.voxels > goal.block(start.low, start.high)
    shared = start.count - int(np.count_nonzero(alone))
    if not alone.any():
        return VoxelDistances(np.zeros(0), shared)
    grid = goal.grid
    # on a rectangular lattice the voxel nearest to one outside has a neighbor outside
    targets = _rim(goal) if unit == "voxel" or grid.isRectangular else goal.voxels
    tree = cKDTree(_positions(np.argwhere(targets), goal, grid, unit))
    found = []
    indices = np.argwhere(alone)
    for first in range(0, len(indices), CHUNK):
        checkpoint()
        points = _positions(indices[first : first + CHUNK], start, grid, unit)
        found.append(tree.query(points, workers=threads())[0])
    return VoxelDistances(np.sort(np.concatenate(found)), shared)


def _positions(indices: np.ndarray, mask: Mask, grid: Grid, unit: str) -> np.ndarray:
    """Return voxel indices [k, j, i] of a cropped mask as positions (n, 3) in the unit, from the grid's origin."""
    whole = (indices[:, ::-1] + mask.low).astype(float)
    return whole if unit == "voxel" else product(whole, grid.axes.T)


def _rim(mask: Mask) -> np.ndarray:
    """Return the voxels of a mask [k, j, i] that have a neighbor across a face outside the mask."""
    padded = np.pad(mask.voxels, 1)
    inner = padded[1:-1, 1:-1, 1:-1].copy()
    for axis in range(3):
        for step in (0, 2):
            window = [slice(1, -1)] * 3
            window[axis] = slice(step, step + mask.voxels.shape[axis])
            inner &= padded[tuple(window)]
    return mask.voxels > inner


def averageDistance(cuts: list[tuple[VoxelDistances, VoxelDistances]]) -> Directed:
    """Return the larger of the two mean distances, in [0, inf) (the source's equation 49), averaged over the cuts.

    The source's own program takes the mean of the two.
    """
    return _averaged((there.mean, back.mean) for there, back in cuts)


def hausdorff(cuts: list[tuple[VoxelDistances, VoxelDistances]], quantile: float) -> Directed:
    """Return the larger of the two quantiles of the distances, in [0, inf), averaged over the cuts.

    The quantile 1 is the largest distance.
    """
    return _averaged((there.quantile(quantile), back.quantile(quantile)) for there, back in cuts)


def _averaged(directed: Iterable[tuple[float, float]]) -> Directed:
    """Return the mean over the cuts of the larger value, and of either direction's."""
    values = [(max(there, back), there, back) for there, back in directed]
    return Directed(*(math.fsum(column) / len(values) for column in zip(*values, strict=True)))


def mahalanobis(cuts: list[tuple[Mask, Mask]]) -> float:
    """Return the Mahalanobis distance of two clouds of voxels, in [0, inf), without unit, averaged over the cuts.

    It is the distance of the centers, in standard deviations of the clouds' common covariance. Raises Undefined when
    both clouds lie in one plane (on one line, for planar images): there is no deviation across it.
    """
    return math.fsum(_mahalanobis(*cut) for cut in cuts) / len(cuts)


def _mahalanobis(reference: Mask, test: Mask) -> float:
    requireVoxels(reference, test)
    moments = [_moments(mask) for mask in (reference, test)]
    total = sum(count for count, _, _ in moments)
    covariance = sum(count * spread for count, _, spread in moments) / total
    difference = moments[0][1] - moments[1][1]
    if reference.grid.planar:
        kept = [axis for axis in range(3) if axis != reference.grid.flatAxis]
        covariance, difference = covariance[np.ix_(kept, kept)], difference[kept]
    variances = np.linalg.eigvalsh(covariance)
    if variances[0] <= FLAT * variances[-1]:
        raise Undefined(
            "the voxels of both structures lie in one plane or on one line, so their covariance is singular"
        )
    return math.sqrt(max(float(difference @ np.linalg.solve(covariance, difference)), 0.0))


def _moments(mask: Mask) -> tuple[int, np.ndarray, np.ndarray]:
    """Return count, mean (3,) and covariance (3, 3) of the voxel indices i, j, k of a mask.

    They suffice: the distance is the same in mm, in voxels or in any other coordinates.
    """
    # sums over planes and lines are all that first and second moments need
    planes = {axes: mask.voxels.sum(axis=2 - (3 - sum(axes)), dtype=np.int64) for axes in ((0, 1), (0, 2), (1, 2))}
    # planes[a, b] is indexed [b, a] since arrays are indexed [k, j, i]
    lines = (planes[0, 1].sum(axis=0), planes[0, 1].sum(axis=1), planes[0, 2].sum(axis=1))
    count = int(lines[0].sum())
    steps = [np.arange(len(line)) for line in lines]
    center = np.array([float(line @ step) / count for line, step in zip(lines, steps, strict=True)])
    off = [step - middle for step, middle in zip(steps, center, strict=True)]
    covariance = np.zeros((3, 3))
    for axis in range(3):
        covariance[axis, axis] = lines[axis] @ off[axis] ** 2 / count
    for (a, b), plane in planes.items():
        covariance[a, b] = covariance[b, a] = off[b] @ plane @ off[a] / count
    return count, center + mask.low, covariance
