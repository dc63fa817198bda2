"""Places that stand for equal volumes of a structure, without the rows and planes of a grid.

A dose that rises along an axis has the same value in a whole plane of a grid's voxels. Centers of voxels would thus
give few different doses, and an error of half a plane. So masks are sampled at shifted places in every voxel, exactly
within their voxels; and meshes at the points of a fine grid whose axes are turned against those of the image.
"""

from __future__ import annotations

import math

import numpy as np

from ...geometry import voxelization
from ...geometry.grids import Grid, gridAround
from ...geometry.masks import Mask
from ...geometry.voxelization import LARGEST_GRID
from ...model.structures import Structure

# Places in a structure: at least so many, one for so many mm3, so that 0.03 cm3 have 60 of them, but at most so many,
# unless it has more voxels.
FEWEST, VOLUME_OF_ONE, MOST = 150_000, 0.5, 2_000_000
# Steps of a sequence that fills a cube evenly: powers of the root of x^4 = x + 1 (Roberts, "The unreasonable
# effectiveness of quasirandom sequences", 2018).
STEPS = 1.2207440846057596 ** -np.arange(1.0, 4.0)
# The seed of the shift in every voxel; the same places are taken whenever a structure is measured.
SEED = 7


def turned() -> np.ndarray:
    """Return a rotation (3, 3) whose axes are along no line of a grid."""
    cosines, sines = np.cos([0.61, 0.83, 1.07]), np.sin([0.61, 0.83, 1.07])
    matrix = np.eye(3)
    for axis, (c, s) in enumerate(zip(cosines, sines)):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3)
        turn[[one, one, other, other], [one, other, one, other]] = c, -s, s, c
        matrix = matrix @ turn
    return matrix


def placesOf(structure: Structure, other: Structure) -> tuple[np.ndarray, np.ndarray]:
    """Return LPS places (n, 3) in mm that stand for equal volumes of a structure, and whether the other has them (n,).

    Both must enclose something. Masks are the boxes of their voxels; meshes are closed.
    """
    if structure.mask is not None and other.mask is not None:
        points = _inVoxels(structure.mask)
        return points, areInVoxels(other.mask, points)
    grid = _turnedGrid(structure)
    points = pointsOf(structure, grid)
    if other.mask is not None:
        return points, areInVoxels(other.mask, points)
    return points, areInVoxels(voxelization.maskOf(other.surface, grid), points)


def volumeOf(structure: Structure) -> float:
    """Return the volume in mm3 of a structure: of its voxels, or of what its closed surface encloses."""
    return structure.mask.size if structure.mask is not None else structure.surface.volume


def boundaryOf(structure: Structure) -> np.ndarray:
    """Return LPS places (n, 3) in mm on the boundary: the corners of the outermost voxels, or of a mesh's triangles."""
    if structure.mask is None:
        return structure.surface.points
    voxels = np.pad(structure.mask.voxels > 0, 1)
    inner = voxels.copy()
    for axis in range(3):
        inner &= np.roll(voxels, 1, axis) & np.roll(voxels, -1, axis)
    k, j, i = np.nonzero(voxels & ~inner)
    centers = np.stack([i, j, k], axis=1) - 1 + structure.mask.low
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return structure.mask.grid.toWorld(np.unique((2 * (centers[:, None] + corners)).reshape(-1, 3), axis=0) / 2)


def areInVoxels(mask: Mask, points: np.ndarray) -> np.ndarray:
    """Return whether LPS points (n, 3) lie in the voxels of a mask (n,)."""
    result = np.zeros(len(points), bool)
    if mask.isEmpty:
        return result
    index = np.rint(mask.grid.toIndex(points)).astype(np.int64)
    rows = np.flatnonzero(((index >= mask.low) & (index <= mask.high)).all(axis=1))
    i, j, k = (index[rows] - mask.low).T
    result[rows] = mask.voxels[k, j, i] > 0
    return result


def _count(volume: float) -> int:
    return int(min(max(FEWEST, volume / VOLUME_OF_ONE), MOST))


def _inVoxels(mask: Mask) -> np.ndarray:
    """Return places in the voxels of a mask, equally many in each."""
    k, j, i = np.nonzero(mask.voxels)
    corners = np.stack([i, j, k], axis=1) + mask.low - 0.5
    many = math.ceil(_count(mask.size) / len(corners))
    shifts = np.random.default_rng(SEED).random((len(corners), 1, 3))
    within = (shifts + np.arange(many)[:, None] * STEPS) % 1
    return mask.grid.toWorld((corners[:, None] + within).reshape(-1, 3))


def _turnedGrid(structure: Structure) -> Grid:
    axes, corners = turned(), _cornersOf(structure)
    box = float(np.prod(np.ptp(corners @ axes, axis=0)))
    volume = volumeOf(structure)
    step = max((volume / _count(volume)) ** (1 / 3), (box / LARGEST_GRID) ** (1 / 3))
    return gridAround(corners, axes * step, corners.mean(axis=0))


def _cornersOf(structure: Structure) -> np.ndarray:
    return structure.mask.corners() if structure.mask is not None else structure.surface.points


def pointsOf(structure: Structure, grid: Grid) -> np.ndarray:
    """Return the LPS points (n, 3) in mm of a grid that lie in a structure."""
    if structure.mask is None:
        k, j, i = np.nonzero(voxelization.maskOf(structure.surface, grid).block((0, 0, 0), np.array(grid.size) - 1))
        return grid.toWorld(np.stack([i, j, k], axis=1))
    # no others than those in the box around it
    corners = grid.toIndex(_cornersOf(structure))
    low = np.maximum(np.floor(corners.min(axis=0)), 0).astype(int)
    high = np.minimum(np.ceil(corners.max(axis=0)), np.array(grid.size) - 1).astype(int)
    ranges = [np.arange(first, last + 1) for first, last in zip(low, high)]
    points = grid.toWorld(np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, 3))
    return points[areInVoxels(structure.mask, points)]
