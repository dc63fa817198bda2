"""The voxels in which bands are searched, on a grid that runs askew, so that no face of a boundary is parallel to it.

The voxel centers that a boundary encloses are known exactly, at almost no cost. Counting them is as accurate as with
evenly spread points, unless faces are parallel to rows of them, like those of boxes and masks on their own grids. On a
grid turned by an odd angle, none is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from ...base.progress import checkpoint
from ...distances.surfacedistances import BoundaryPair
from ...geometry.grids import Grid, affine
from ...geometry.masks import slicesOf
from ...geometry.voxelization import maskOf
from .lookup import spreadBits

# Voxels along each side of a block, a power of two.
SIDE = 8
# Code of voxels in both structures.
BOTH = np.uint8(3)
# Rotation of the grid: a quaternion, not normalized, and in a plane the tangent of the angle.
TURN, TILT = (0.8371, 0.2713, 0.3517, 0.3198), 0.4142
# Minimum and maximum number of voxels in the box around both structures.
FEWEST_VOXELS, MOST_VOXELS = 1 << 14, 1 << 24


@dataclass(frozen=True, eq=False)
class BandVoxels:
    """The voxels of two structures on a grid that runs askew, in whole blocks of SIDE along each axis.

    grid: cubes or squares. codes: uint8 [k, j, i], or [j, i] in a plane; the first bit is set in the reference, the
    second one in the test, within the slab if there is one. Indices are in the order of this array.
    """

    grid: Grid
    codes: np.ndarray

    @staticmethod
    def around(boundaries: BoundaryPair, home: Grid, step: float) -> BandVoxels:
        """Return the voxels of two boundaries. home, step: see askewGrid()."""
        grid = askewGrid(boundaries, home, step)
        codes = np.zeros(grid.size[::-1], np.uint8)
        for number, surface in enumerate(boundaries.surfaces):
            checkpoint()
            mask = maskOf(surface, grid)
            low, high = np.maximum(mask.low, 0), np.minimum(mask.high, np.array(grid.size) - 1)
            if (low <= high).all():
                voxels = mask.voxels[slicesOf(low - mask.low, high - mask.low)]
                codes[slicesOf(low, high)] |= voxels << np.uint8(1) if number else voxels
        slab = boundaries.surfaces[0].slab
        if slab is not None:
            for k, layer in enumerate(codes):
                checkpoint()
                j, i = np.nonzero(layer)
                isOutside = ~slab.contains(grid.toWorld(np.stack([i, j, np.full(len(i), k)], axis=1)))
                layer[j[isOutside], i[isOutside]] = 0
        return BandVoxels(grid, codes[0] if grid.planar else codes)

    @property
    def dimension(self) -> int:
        return self.codes.ndim

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Number of voxels in both structures, and in at least one."""
        return int(np.count_nonzero(self.codes == BOTH)), int(np.count_nonzero(self.codes))

    @property
    def step(self) -> float:
        """Width of the voxels in mm."""
        return float(self.grid.spacing[0])

    @property
    def axes(self) -> np.ndarray:
        """(3, d) steps from voxel to voxel in mm, in the order of indices."""
        return self.grid.axes[:, : self.dimension][:, ::-1]

    def places(self, index: np.ndarray) -> np.ndarray:
        """Return the LPS positions (n, 3) in mm of voxel indices (n, d), which may be fractional."""
        full = np.zeros((len(index), 3))
        full[:, : self.dimension] = index[:, ::-1]
        return self.grid.toWorld(full)

    @cached_property
    def blocks(self) -> np.ndarray:
        """Contents of blocks as bits: voxels in the reference, in the test, outside the reference, outside the test."""
        outside = joinBlocks(self.codes, np.bitwise_and) ^ BOTH
        return joinBlocks(self.codes, np.bitwise_or) | outside << np.uint8(2)

    def deeper(self, number: int, depth: float) -> np.ndarray:
        """Return whether blocks are certainly deeper than `depth` mm inside the reference (0) or the test (1).

        That is, all blocks around are inside, too. Others can be as deep, which only a search finds out.
        """
        reach = int(np.ceil((depth + self.step) / (SIDE * self.step)))
        isOutside = self.blocks >> np.uint8(2 + number) & np.uint8(1)
        return spreadBits(isOutside.copy(), np.full(self.dimension, reach)) == 0

    def inBlocks(self, chosen: tuple[np.ndarray, ...]) -> np.ndarray:
        """Return the codes (n, SIDE ** d) of blocks, given their indices (n,) along each axis."""
        counts = [side for count in self.blocks.shape for side in (count, SIDE)]
        order = [*range(0, 2 * self.dimension, 2), *range(1, 2 * self.dimension, 2)]
        return self.codes.reshape(counts).transpose(order)[chosen].reshape(-1, SIDE**self.dimension)


def joinBlocks(codes: np.ndarray, join: np.ufunc) -> np.ndarray:
    """Return what bits of voxels [k, j, i] are together in each block of SIDE voxels along each axis."""
    for axis in range(codes.ndim):
        before, after = codes.shape[:axis], codes.shape[axis + 1 :]
        codes = join.reduce(codes.reshape(*before, -1, SIDE, *after), axis=axis + 1)
    return codes


def askewGrid(boundaries: BoundaryPair, home: Grid, step: float) -> Grid:
    """Return a grid around two boundaries, of whole blocks of SIDE voxels along each axis, turned by an odd angle.

    home: the grid that it is turned against, so that turning all images together does not change the numbers. step:
    width of the voxels in mm; widened if there would be more than MOST_VOXELS, narrowed if fewer than FEWEST_VOXELS.
    """
    points = np.concatenate([surface.points for surface in boundaries.surfaces])
    axes = askewAxes(home)
    along = points @ axes
    low, high = along.min(axis=0), along.max(axis=0)
    span = (high - low)[:2] if home.planar else high - low
    fewest, most = ((span.prod() / count) ** (1 / len(span)) for count in (MOST_VOXELS, FEWEST_VOXELS))
    step = max(float(np.clip(step, fewest, most)), float(span.max()) / MOST_VOXELS)
    size, origin = np.ones(3, int), low.copy()
    size[: len(span)] = SIDE * np.ceil((span / step + 2) / SIDE).astype(int)
    # one voxel of background at every edge
    origin[: len(span)] -= step / 2
    return Grid(tuple(size), affine(axes * step, axes @ origin), planar=home.planar)


def askewAxes(home: Grid) -> np.ndarray:
    """Return three orthonormal vectors (3, 3), as columns, to which faces are hardly ever parallel.

    home: a grid to which faces may be parallel. If it is planar, the last vector is normal to it.
    """
    direction, turn = home.direction, rotation()
    if home.planar:
        direction, turn = np.roll(direction, 2 - cast(int, home.flatAxis), axis=1), np.eye(3)
        turn[:2, :2] = np.array([[1, -TILT], [TILT, 1]]) / np.hypot(1, TILT)
    # the axes of sheared grids are not orthogonal
    axes, lengths = np.linalg.qr(direction)
    return axes * np.sign(np.diag(lengths)) @ turn


def rotation() -> np.ndarray:
    """Return the rotation (3, 3) of the quaternion TURN."""
    w, x, y, z = np.array(TURN) / np.linalg.norm(TURN)
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * across + 2 * across @ across
