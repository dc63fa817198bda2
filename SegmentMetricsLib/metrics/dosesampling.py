"""Places that stand for equal volumes of a structure, without the rows and planes of a grid.

A dose that rises along an axis has the same value in a whole plane of a grid's voxels. Centers of voxels would thus
give few different doses, and an error of half a plane. So masks are sampled at shifted places in every voxel, exactly
within their voxels; and the parts of meshes at the points of fine grids whose axes are turned against those of the
image.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..base.progress import checkpoint
from ..geometry import voxelization
from ..geometry.grids import gridAround
from ..geometry.masks import Mask
from ..geometry.sharedvolume import EVENLY
from ..geometry.surfaces import Surface, empty
from ..geometry.voxelization import LARGEST_GRID, groupsApart
from ..model.dose import Dose
from ..model.structure import Structure
from .bands.bandvoxels import rotation

# Places in a structure: at least so many, one for so many mm3, so that 0.03 cm3 have 60 of them, but at most so many,
# unless it has more voxels.
FEWEST, VOLUME_OF_ONE, MOST = 150_000, 0.5, 2_000_000
# Places in the cells of a dose's grid that reach the largest doses.
PLACES_IN_HOTTEST = 300_000
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


def hottestPlaces(
    dose: Dose, box: np.ndarray, contains: Callable[[np.ndarray], np.ndarray], levels: Iterable[float], most: float
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Return the first level in Gy that is reached in few cells of the dose's grid, and places that have at least that.

    box: (n, 3) LPS corners in mm of a box around the places. contains: returns which places (n, 3) count. Cells are few
    if they have at most so many mm3. The places are given by their doses (n,) in Gy, ascending, and by the mm3 (n,)
    that they stand for. Returns None without such a level: the dose is so even that it does not matter.
    """
    index, steps, ranges = dose.grid.toIndex(box), [], []
    for axis, along in enumerate(dose.steps):
        low, high = np.searchsorted(along, [index[:, axis].min(), index[:, axis].max()])
        ranges.append(slice(max(low - 1, 0), high + 1))
        steps.append(along[ranges[-1]])
    values = dose.values[tuple(ranges[::-1])]
    # within a cell, an interpolated dose is at most the largest one at its corners
    corners = [values[tuple(slice(n, n - 1 or None) for n in ends)] for ends in itertools.product((0, 1), repeat=3)]
    largest = functools.reduce(np.maximum, corners)
    for level in levels:
        cells = np.argwhere(largest >= level).T[::-1]
        widths = np.stack([np.diff(along)[which] for along, which in zip(steps, cells, strict=True)], axis=1)
        volumes = widths.prod(axis=1) * dose.grid.voxelSize
        if not len(volumes) or volumes.sum() > most:
            continue
        starts = np.stack([along[which] for along, which in zip(steps, cells, strict=True)], axis=1)
        many = math.ceil(PLACES_IN_HOTTEST / len(starts))
        within = _spread(np.random.default_rng(SEED), len(starts), many)
        places = (starts[:, None] + within * widths[:, None]).reshape(-1, 3)
        doses, areKnown = dose.atSteps(places)
        chosen = np.flatnonzero(areKnown & (doses >= level))
        chosen = chosen[contains(dose.grid.toWorld(places[chosen]))]
        order = chosen[np.argsort(doses[chosen])]
        return level, doses[order], volumes[order // many] / many
    return None


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
    random = np.random.default_rng(SEED)
    for k, layer in enumerate(mask.voxels):
        checkpoint()
        j, i = np.nonzero(layer)
        corners = np.stack([i, j, np.full_like(i, k)], axis=1) + mask.low - 0.5
        within = _spread(random, len(corners), many)
        points = mask.grid.toWorld((corners[:, None] + within).reshape(-1, 3))
        yield points, np.zeros(len(points), bool)


def _spread(random: np.random.Generator, count: int, many: int) -> np.ndarray:
    """Return many places in each of so many cubes, (count, many, 3) between 0 and 1, shifted in each."""
    return (random.random((count, 1, 3)) + np.arange(many)[:, None] * EVENLY) % 1
