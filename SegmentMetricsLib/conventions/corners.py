"""The boundary at the corners of voxels, which depends on which of the eight voxels around belong to the structure."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..geometry.cellcases import caseTriangles, cellCodes


def corners(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return for every corner of a voxel [k, j, i], one more than voxels along each axis, a code of the voxels around.

    Bit x + 2 y + 4 z is set if the voxel x, y, z steps along i, j, k from the one before the corner is in the mask. For
    an image of one slice, the two axes of the slice take the places of i and j.
    """
    if flatAxis is None:
        return cellCodes(np.pad(mask, 1).view(np.uint8))
    padded = np.pad(mask.squeeze(flatAxis), 1).view(np.uint8)
    codes = padded[:-1, :-1] | padded[:-1, 1:] << 1 | padded[1:, :-1] << 2 | padded[1:, 1:] << 3
    return np.expand_dims(codes, flatAxis)


def cornerSizes(spacing: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the size of the boundary at a corner by its code: (256,) mm2 in 3D, (16,) mm for one slice.

    spacing: (3,) mm along k, j, i. As in the original marching cubes, a code and its opposite, with inside and outside
    exchanged, have the same triangles: those of the one that has fewer voxels inside.
    """
    return _areas(tuple(spacing)) if flatAxis is None else _lengths(*np.delete(spacing, flatAxis))


@lru_cache(maxsize=8)
def _areas(spacing: tuple[float, float, float]) -> np.ndarray:
    triangles, cases = caseTriangles()
    placed = triangles * spacing[::-1]
    areas = np.linalg.norm(np.cross(placed[:, 1] - placed[:, 0], placed[:, 2] - placed[:, 0]), axis=1) / 2
    # the last triangle of a case is repeated to fill the row
    first = np.ones(cases.shape, bool)
    first[:, 1:] = np.diff(cases, axis=1) != 0
    sizes = np.where(first & (cases >= 0), areas[cases], 0).sum(axis=1)
    inside = np.array([code.bit_count() for code in range(256)])
    return np.where(inside <= 4, sizes, sizes[::-1])


def _lengths(alongJ: float, alongI: float) -> np.ndarray:
    diagonal = np.hypot(alongJ, alongI) / 2
    sizes = np.full(16, diagonal)
    sizes[[0, 15]] = 0
    sizes[[3, 12]] = alongI
    sizes[[5, 10]] = alongJ
    sizes[[6, 9]] = 2 * diagonal
    return sizes
