"""Thinning: the center lines of voxels, and of the lattice of twice the resolution, on which every width is odd.

Thinning as Lee, Kashyap & Chu 1994, doi:10.1006/cgip.1994.1042, erases straight parts of an even width altogether
(scikit-image issue 3757). Of cells, faces, edges and corners of voxels, n voxels have 2 n + 1 across.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..base.errors import Undefined, installing
from ..base.progress import checkpoint
from ..geometry.masks import Labels, Mask

# A point of the finer skeleton is lost if the skeleton of the voxels is farther away than the background, by more than
# so many voxels, and at least so many points in a row are: fewer are how the two differ at tips and branchings. The
# limits are lower for what the other structure lacks, or gaps of four voxels in thin branches go unseen, as in one of
# a hundred random trees.
LOST, LOST_OUTSIDE = (2.0, 8), (0.0, 4)
# Boxes of more voxels that are less filled are halved, so that nobody thins the space between vessels. Each half has
# some of the other, so that how it ends does not matter where they are joined.
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


def thinFiner(mask: Mask) -> np.ndarray:
    """Return the points (n, 3) of the skeleton of a mask's cells, faces, edges and corners, in half voxels i, j, k.

    Large boxes are thinned in halves; where these do not agree, as a whole. Raises TooLarge.
    """
    from scipy.ndimage import label

    checkpoint()
    voxels, grid = mask.voxels, mask.grid
    axis = int(np.argmax(voxels.shape))
    length, along = voxels.shape[axis], 2 - axis
    if voxels.size <= SMALL_BOX or length < 4 * OVERLAP or mask.count > SPARSE * voxels.size:
        numbers, count = label(voxels, np.ones((3, 3, 3)))
        parts = Labels(numbers)
        return np.concatenate([_finer(parts.mask(number, grid, mask.low)) for number in range(1, count + 1)])
    # where little is cut
    third = length // 3
    counts = np.count_nonzero(voxels, axis=tuple(other for other in range(3) if other != axis))
    middle = third + int(counts[third : length - third].argmin())
    halves = []
    for first, last in ((0, middle + OVERLAP), (middle - OVERLAP, length)):
        start = mask.low + first * (np.arange(3) == along)
        halves.append(thinFiner(Mask.fromArray(voxels.take(range(first, last), axis), grid, start)))
    seam = 2 * (mask.offset[along] + middle) - 1
    here, there = ({*map(tuple, half[np.abs(half[:, along] - seam) <= 3])} for half in halves)
    if here != there:
        return _finer(mask)
    return np.concatenate([halves[0][halves[0][:, along] < seam], halves[1][halves[1][:, along] >= seam]])


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


def depthsOf(points: np.ndarray, mask: Mask) -> np.ndarray:
    """Return how far (n,) in voxels points (n, 3) in half voxels are from the middle of the nearest voxel outside."""
    from scipy.spatial import cKDTree

    # the nearest one shares a face with the mask
    padded = np.pad(mask.voxels > 0, 1)
    flat = padded.ravel()
    places = np.flatnonzero(flat)
    steps = [step for axis, step in enumerate(np.array(padded.strides)) if 2 - axis != mask.grid.flatAxis]
    near = np.concatenate([places + sign * step for step in steps for sign in (-1, 1)])
    near = np.unique(near[~flat[near]])
    outside = np.stack(np.unravel_index(near, padded.shape)[::-1], axis=1) - 1 + mask.low
    return cKDTree(outside).query(points / 2)[0]


def thinVoxels(voxels: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the places (n, 3), i, j, k, of the skeleton of voxels [k, j, i] that may lie in a plane."""
    if flatAxis is None:
        return np.argwhere(skeletonizer()(voxels))[:, ::-1]
    across = 2 - flatAxis
    return np.insert(np.argwhere(skeletonizer()(voxels.take(0, across))), across, 0, axis=1)[:, ::-1]


def _finer(mask: Mask) -> np.ndarray:
    """Return the points of thinFiner(), thinned as a whole."""
    from scipy.ndimage import distance_transform_cdt

    voxels, isFlat = mask.voxels > 0, np.arange(3) == mask.grid.flatAxis
    if voxels.size > SMALL_BOX and voxels.size * distance_transform_cdt(np.pad(voxels, 1)).max() > MOST_WORK:
        raise TooLarge
    for axis in np.flatnonzero(~isFlat[::-1]):
        # every voxel twice in a row: what is between two is part of the mask if either is
        twice = np.repeat(np.pad(np.moveaxis(voxels, axis, 0), ((1, 1), (0, 0), (0, 0))), 2, axis=0)
        voxels = np.moveaxis(twice[1:-2] | twice[2:-1], 0, axis)
    return thinVoxels(voxels, mask.grid.flatAxis) - ~isFlat + 2 * mask.low
