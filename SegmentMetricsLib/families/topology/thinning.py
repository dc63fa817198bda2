"""Thinning: the center lines of voxels, and of the lattice of twice the resolution, on which every width is odd.

Thinning as Lee, Kashyap & Chu 1994, doi:10.1006/cgip.1994.1042, erases straight parts of an even width altogether
(scikit-image issue 3757). On the lattice of the cells, faces, edges and corners of the voxels a part of n voxels is
2 n + 1 points wide.
"""

from __future__ import annotations

import itertools

import numpy as np

from ...base.errors import Undefined, installing
from ...base.progress import checkpoint
from ...geometry.masks import Mask

# A point of the finer skeleton is lost if the skeleton of the voxels is farther than the background by this many
# voxels; lost points of fewer voxels in a row are how the two differ at tips and branchings. With more, stretches of
# thin branches are missed in which a gap of four voxels fits: tried on six hundred random trees.
BEYOND, LEAST_LOST = 1.0, 2
# Boxes of more voxels than this that are less filled are halved, so that nothing thins the space between vessels. The
# halves overlap: from an end that is not there to the plane between them is twice this many voxels.
SMALL_BOX, SPARSE, OVERLAP = 48**3, 0.05, 8
# Voxels of a box times the layers to peel off, above which its finer lattice would take longer than some seconds.
MOST_WORK = 3e7


class TooLarge(Exception):
    """A structure is so thick that its finer lattice would take too long."""


def skeletonizer():
    """Return scikit-image's function. Raises Undefined without it."""
    try:
        from skimage.morphology import skeletonize
    except ImportError:
        raise Undefined(f"skeletons need scikit-image: {installing('skeletons')}") from None
    return skeletonize


def thinned(mask: Mask) -> np.ndarray:
    """Return the voxels (n, 3), i, j, k on the mask's grid, of its skeleton."""
    return _placesOf(mask.voxels > 0, mask.grid.flatAxis)[:, ::-1] + mask.low


def thinnedFiner(mask: Mask) -> np.ndarray:
    """Return the points (n, 3) of the skeleton of a mask's cells, faces, edges and corners, in half voxels i, j, k.

    Raises TooLarge.
    """
    points = _inParts(mask.voxels > 0, mask.grid.flatAxis)[:, ::-1]
    isDoubled = np.arange(3) != (-1 if mask.grid.flatAxis is None else mask.grid.flatAxis)
    return points - isDoubled + 2 * mask.low


def coveredBy(mask: Mask, points: np.ndarray, perVoxel: int) -> np.ndarray:
    """Return whether points (n, 3), in voxels i, j, k of the grid or in half ones, lie in or on a mask's voxels."""
    return valuesAt(mask.voxels, mask.low, points, perVoxel) > 0


def valuesAt(values: np.ndarray, low: np.ndarray, points: np.ndarray, perVoxel: int) -> np.ndarray:
    """Return the largest of the values [k, j, i] of the voxels that points (n, 3) lie in, or between; 0 elsewhere.

    low: (3,) i, j, k of the first voxel. perVoxel: 1 for points in voxels, 2 in half ones.
    """
    found = np.zeros(len(points), values.dtype)
    for ends in itertools.product(range(perVoxel), repeat=3):
        places = (points + ends) // perVoxel - low
        rows = np.flatnonzero(((places >= 0) & (places < values.shape[::-1])).all(axis=1))
        i, j, k = places[rows].T
        found[rows] = np.maximum(found[rows], values[k, j, i])
    return found


def isLost(finer: np.ndarray, voxels: np.ndarray, mask: Mask) -> np.ndarray:
    """Return which points (n,) of the finer skeleton of a mask the skeleton of its voxels does not reach.

    finer: in half voxels. They are farther from all voxels of that skeleton than from the background, by BEYOND.
    """
    from scipy.spatial import cKDTree

    away = np.full(len(finer), np.inf)
    if len(voxels) and len(finer):
        away, _ = cKDTree(voxels).query(finer / 2)
    # the background begins half a voxel away, or more
    rows = np.flatnonzero(away > BEYOND + 0.5)
    if len(rows):
        rows = rows[away[rows] > depthsOf(finer[rows], mask) + BEYOND]
    result = np.zeros(len(finer), bool)
    result[rows] = True
    return result


def depthsOf(points: np.ndarray, mask: Mask) -> np.ndarray:
    """Return how far (n,) in voxels points (n, 3) in half voxels are from the middle of the nearest voxel outside."""
    from scipy.spatial import cKDTree

    return cKDTree(_backgroundBeside(mask)).query(points / 2)[0]


def _placesOf(voxels: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the places (n, 3) of the skeleton of voxels [k, j, i], in the order of the array's axes."""
    if flatAxis is None:
        return np.argwhere(skeletonizer()(voxels))
    across = 2 - flatAxis
    return np.insert(np.argwhere(skeletonizer()(voxels.take(0, across))), across, 0, axis=1)


def _inParts(voxels: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the places (n, 3) of the skeleton of the finer lattice of voxels [k, j, i], thinned in small boxes.

    Both halves of a box are thinned with some of the other; where they do not agree, the box is thinned as a whole.
    """
    from scipy.ndimage import find_objects, label

    checkpoint()
    corner, voxels = _cropped(voxels)
    axis = int(np.argmax(voxels.shape))
    length = voxels.shape[axis]
    if voxels.size <= SMALL_BOX or length < 4 * OVERLAP or np.count_nonzero(voxels) > SPARSE * voxels.size:
        parts, _count = label(voxels, np.ones((3, 3, 3)))
        found = [
            _finer(parts[box] == number, flatAxis) + 2 * np.array([side.start for side in box])
            for number, box in enumerate(find_objects(parts), 1)
        ]
        return np.concatenate([np.zeros((0, 3), int), *found]) + 2 * corner
    third = length // 3
    counts = np.count_nonzero(voxels, axis=tuple(other for other in range(3) if other != axis))
    middle = third + int(counts[third : length - third].argmin())
    here, there = (
        _inParts(voxels.take(range(*ends), axis), flatAxis) + 2 * ends[0] * (np.arange(3) == axis)
        for ends in ((0, middle + OVERLAP), (middle - OVERLAP, length))
    )
    atSeam = [{*map(tuple, some[np.abs(some[:, axis] - 2 * middle) <= 3])} for some in (here, there)]
    if atSeam[0] == atSeam[1]:
        joined = np.concatenate([here[here[:, axis] < 2 * middle], there[there[:, axis] >= 2 * middle]])
        return joined + 2 * corner
    return _finer(voxels, flatAxis) + 2 * corner


def _cropped(voxels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest place (3,) of an array that is not 0, and the box of all such places."""
    layer = voxels.any(axis=0)
    found = [np.flatnonzero(some) for some in (voxels.any(axis=(1, 2)), layer.any(axis=1), layer.any(axis=0))]
    if not len(found[0]):
        return np.zeros(3, int), voxels[:0]
    return np.array([some[0] for some in found]), voxels[tuple(slice(some[0], some[-1] + 1) for some in found)]


def _finer(voxels: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the places (n, 3) of the skeleton of the cells, faces, edges and corners of voxels [k, j, i]."""
    from scipy.ndimage import distance_transform_cdt

    if voxels.size > SMALL_BOX:
        layers = distance_transform_cdt(np.pad(voxels, 1)).max()
        if layers * voxels.size > MOST_WORK:
            raise TooLarge
    for axis in range(3):
        if flatAxis is None or axis != 2 - flatAxis:
            shape = list(voxels.shape)
            shape[axis] = 2 * shape[axis] + 1
            wide = np.zeros(shape, bool)
            # along this axis, views of the points within voxels and of those between them
            within, before, behind = (np.moveaxis(wide, axis, 0)[some] for some in _ALONG)
            within[:] = np.moveaxis(voxels, axis, 0)
            before |= within
            behind |= within
            voxels = wide
    return _placesOf(voxels, flatAxis)


_ALONG = slice(1, None, 2), slice(None, -1, 2), slice(2, None, 2)


def _backgroundBeside(mask: Mask) -> np.ndarray:
    """Return the voxels (n, 3), i, j, k, outside a mask that share a face with it."""
    padded = np.pad(mask.voxels > 0, 1)
    flat = padded.ravel()
    places = np.flatnonzero(flat)
    steps = [step for axis, step in enumerate(np.array(padded.strides)) if 2 - axis != mask.grid.flatAxis]
    near = np.concatenate([places + sign * step for step in steps for sign in (-1, 1)])
    near = np.unique(near[~flat[near]])
    return np.stack(np.unravel_index(near, padded.shape)[::-1], axis=1) - 1 + mask.low
