"""Places that stand for equal volumes of a structure, without the rows and planes of a grid.

A dose that rises along an axis has the same value in a whole plane of a grid's voxels. Centers of voxels would thus
give few different doses, and an error of half a plane. So masks are sampled at shifted places in every voxel, exactly
within their voxels; and meshes at the points of a fine grid whose axes are turned against those of the image.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..base.progress import checkpoint
from ..geometry import voxelization
from ..geometry.grids import gridAround
from ..geometry.masks import Mask
from ..geometry.sharedvolume import EVENLY
from ..geometry.surfaces import Surface, empty
from ..geometry.voxelization import LARGEST_GRID, groupsApart
from ..model.structure import Structure
from .bands.bandvoxels import rotation

# Places in a structure: at least so many, one for so many mm3, so that 0.03 cm3 have 60 of them, but at most so many,
# unless it has more voxels.
FEWEST, VOLUME_OF_ONE, MOST = 150_000, 0.5, 2_000_000
# The seed of the shift in every voxel; the same places are taken whenever a structure is measured.
SEED = 7


def placesOf(structure: Structure, counterpart: Structure) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield LPS places (n, 3) in mm that stand for equal volumes of a structure, and whether the other has them (n,).

    Both must enclose something. Masks are the boxes of their voxels; meshes are closed.
    """
    if structure.mask is not None and counterpart.mask is not None:
        for points, _ in placesIn(structure.mask):
            yield points, areInVoxels(counterpart.mask, points)
        return
    parts: list[tuple[np.ndarray, Mask | Surface]]
    if structure.mask is not None:
        parts = [(structure.mask.corners(), structure.mask)]
    else:
        # each on a grid of its own: one around small parts far apart would be coarse
        parts = [(part.points, part) for part, _ in groupsApart(structure.surface.solid, empty())]
    # turned by an odd angle
    axes, volume = rotation(), volumeOf(structure)
    largest = max(float(np.ptp(corners @ axes, axis=0).prod()) for corners, _ in parts)
    step = max((volume / _count(volume)) ** (1 / 3), (largest / LARGEST_GRID) ** (1 / 3))
    for corners, part in parts:
        grid = gridAround(corners, axes * step, corners.mean(axis=0))
        own, others = (
            one if isinstance(one, Mask) else voxelization.maskOf(one, grid, isCropped=True)
            for one in (part, counterpart.mask or counterpart.surface)
        )
        for k in range(grid.size[2]):
            checkpoint()
            index = np.stack(np.meshgrid(*map(np.arange, grid.size[:2]), [k], indexing="ij"), axis=-1).reshape(-1, 3)
            points = grid.toWorld(index)
            points = points[areInVoxels(own, points)]
            yield points, areInVoxels(others, points)


def volumeOf(structure: Structure) -> float:
    """Return the volume in mm3 of a structure: of its voxels, or of what its closed surface encloses."""
    return structure.mask.size if structure.mask is not None else structure.surface.volume


def areInVoxels(mask: Mask, points: np.ndarray) -> np.ndarray:
    """Return whether LPS points (n, 3) lie in the voxels of a mask (n,)."""
    if mask.isEmpty:
        return np.zeros(len(points), bool)
    return areIn(mask.voxels, np.rint(mask.grid.toIndex(points)).astype(np.int64) - mask.low)


def areIn(voxels: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return whether voxels [k, j, i] are set at whole numbers i, j, k (n, 3), which may be beyond them."""
    result = np.asarray(((index >= 0) & (index < voxels.shape[::-1])).all(axis=1))
    i, j, k = index[result].T
    result[result] = voxels[k, j, i] > 0
    return result


def _count(volume: float) -> int:
    return int(min(max(FEWEST, volume / VOLUME_OF_ONE), MOST))


def placesIn(mask: Mask) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the same for a mask without a counterpart: places in its voxels, equally many in each, slice by slice."""
    many = math.ceil(_count(mask.size) / mask.count)
    random, steps = np.random.default_rng(SEED), np.arange(many)[:, None] * EVENLY
    for k, layer in enumerate(mask.voxels):
        checkpoint()
        j, i = np.nonzero(layer)
        corners = np.stack([i, j, np.full_like(i, k)], axis=1) + mask.low - 0.5
        within = (random.random((len(corners), 1, 3)) + steps) % 1
        points = mask.grid.toWorld((corners[:, None] + within).reshape(-1, 3))
        yield points, np.zeros(len(points), bool)
