"""Slabs: the space between two planes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .grids import Grid

# Fraction of a voxel, or mm for meshes: planes closer to each other than this are the same.
SAME_PLANE = 1e-3


@dataclass(frozen=True, eq=False)
class Slab:
    """The space between two planes.

    normal: (3,) unit vector toward L, P or S. low, high: mm along it where the boundary begins and ends. outerLow,
    outerHigh: mm along it where the volume begins and ends, half a slice beyond planes of slices. reach: mm, more than
    any distance in the slab.
    """

    normal: np.ndarray
    low: float
    high: float
    outerLow: float
    outerHigh: float
    reach: float

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Return whether LPS points (n, 3) lie between the planes where the boundary begins and ends."""
        heights = points @ self.normal
        return (heights >= self.low) & (heights <= self.high)

    def clip(self, grid: Grid, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a box of voxel indices without the slices beyond the slab; unchanged if the grid is oblique to it."""
        axis = alignedAxis(grid, self.normal)
        if axis is None:
            return low, high
        first, last = self.rows(grid, axis)
        low, high = np.array(low), np.array(high)
        low[axis], high[axis] = max(low[axis], first), min(high[axis], last)
        return low, high

    def rows(self, grid: Grid, axis: int) -> tuple[int, int]:
        """Return the first and the last voxel index that count as volume, along an axis across the slab's planes."""
        first, last = sorted(self._rowsOfEnds(grid, axis))
        return int(np.ceil(first - SAME_PLANE)), int(np.ceil(last - SAME_PLANE)) - 1

    def fits(self, grid: Grid) -> bool:
        """Return whether the slab ends half-way between slices of a grid and the grid's axes are at right angles."""
        axis = alignedAxis(grid, self.normal)
        if axis is None or not grid.isRectangular:
            return False
        return all(abs(row - np.floor(row) - 0.5) < SAME_PLANE for row in self._rowsOfEnds(grid, axis))

    def _rowsOfEnds(self, grid: Grid, axis: int) -> list[float]:
        """Return the continuous voxel indices along an axis where the volume begins and ends."""
        step, start = (float(vector @ self.normal) for vector in (grid.axes[:, axis], grid.origin))
        return [(height - start) / step for height in (self.outerLow, self.outerHigh)]


def normalOf(axes: np.ndarray) -> np.ndarray:
    """Return the unit normal (3,) of slices along k, its largest component toward L, P or S. axes: those of a Grid."""
    normal = np.cross(axes[:, 0], axes[:, 1])
    normal /= np.linalg.norm(normal)
    return normal * np.sign(normal[np.abs(normal).argmax()])


def alignedAxis(grid: Grid, normal: np.ndarray) -> int | None:
    """Return the axis of a grid whose slices are perpendicular to a normal, None if there is none."""
    across = np.abs(grid.direction.T @ normal) < 1e-6
    return int(np.flatnonzero(~across)[0]) if across.sum() == 2 else None
