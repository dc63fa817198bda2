"""Effort: what it takes to turn the test into the reference.

Source of the added path length: Vaassen et al., Physics and Imaging in Radiation Oncology 2020,
doi:10.1016/j.phro.2019.12.001; here as a length in mm, measured to the contour itself instead of counted in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import meshing
from .boundary import TIE_TOLERANCE
from .errors import Undefined
from .grids import Grid, translation
from .masks import Mask
from .progress import checkpoint
from .signed import SIDES
from .structures import Structure
from .surfaces import Surface

# Segments that are looked at first when the nearest one is searched.
NEIGHBORS = 8
# mm; where a contour crosses the tolerance it is cut down to pieces of this length.
SHORTEST_PIECE = 0.02


@dataclass(frozen=True, eq=False)
class Outline:
    """The contours of one slice: the reference's, and those of the test to be near to, None where it has none."""

    reference: Surface
    test: NearContour | None


class NearContour:
    """Answers how far points are from contours of short segments, where that is no more than some limit."""

    def __init__(self, contour: Surface):
        from scipy.spatial import cKDTree

        self._start = contour.points[contour.cells[:, 0]]
        self._step = contour.points[contour.cells[:, 1]] - self._start
        self._halfLength = float(contour.sizes.max()) / 2
        self._middles = cKDTree(self._start + self._step / 2)

    def distances(self, points: np.ndarray, limit: float) -> np.ndarray:
        """Return distances (n,) in mm of LPS points (n, 3), exact where at most `limit`, else above it."""
        result = np.empty(len(points))
        rest, count = np.arange(len(points)), min(NEIGHBORS, self._middles.n)
        while len(rest):
            radii, numbers = (a.reshape(len(rest), count) for a in self._middles.query(points[rest], k=count))
            start, step = self._start[numbers], self._step[numbers]
            offset = points[rest, None] - start
            along = np.einsum("nkx,nkx->nk", offset, step) / np.einsum("nkx,nkx->nk", step, step)
            result[rest] = np.linalg.norm(offset - np.clip(along, 0, 1)[..., None] * step, axis=2).min(axis=1)
            if count == self._middles.n:
                break
            # segments that were not looked at are at least so far away
            least = radii[:, -1] - self._halfLength
            rest = rest[(least < result[rest]) & (least <= limit)]
            count = min(4 * count, self._middles.n)
        return result


def outlines(reference: Mask, test: Mask) -> list[Outline]:
    """Return the contours in every slice of the reference. Both masks are on one lattice; slices run along its k."""
    found = []
    first, last = reference.offset[2], reference.offset[2] + reference.voxels.shape[0]
    for k in range(first, last):
        checkpoint()
        mine, other = sliceOf(reference, k), sliceOf(test, k)
        if not mine.isEmpty:
            found.append(outline(meshing.fromMask(mine), None if other.isEmpty else meshing.fromMask(other)))
    return found


def outline(reference: Surface, test: Surface | None) -> Outline:
    """Return the contours of one slice."""
    return Outline(reference, None if test is None or test.isEmpty else NearContour(test))


def sliceOf(mask: Mask, k: int) -> Mask:
    """Return one slice of a mask as a mask on a planar grid."""
    grid = mask.grid
    # one row of pixels is a slice, too, but nothing must be mistaken for the direction across it
    size = (max(grid.size[0], 2), max(grid.size[1], 2), 1)
    plane = Grid(size, grid.matrix @ translation((0, 0, k)), planar=True)
    row = k - mask.offset[2]
    inside = 0 <= row < mask.voxels.shape[0]
    return Mask.fromArray(mask.voxels[row : row + 1] if inside else np.zeros((0, 0, 0)), plane, (*mask.offset[:2], 0))


def addedPathLength(slices: Sequence[Outline], tolerance: float) -> float:
    """Return APL in mm: the length of the reference's contours that lies farther than tau (mm) from the test's.

    A distance that equals the tolerance is within. Slices without a test count in full. 0 without a reference.
    """
    return float(sum(_lengthBeyond(one, tolerance + TIE_TOLERANCE) for one in slices))


def shareOf(slices: Sequence[Outline], length: float) -> float:
    """Return a length in mm over that of the reference's contours, in [0, 1]. Raises Undefined without a reference."""
    whole = float(sum(one.reference.sizes.sum() for one in slices))
    if not whole:
        raise Undefined("the reference has no contour")
    return min(length / whole, 1.0)


def _lengthBeyond(one: Outline, limit: float) -> float:
    if one.test is None:
        return float(one.reference.sizes.sum())
    start, end = (one.reference.points[one.reference.cells[:, corner]] for corner in (0, 1))
    beyond = 0.0
    while len(start):
        checkpoint()
        middle, half = (start + end) / 2, np.linalg.norm(end - start, axis=1) / 2
        distances = one.test.distances(middle, limit + half.max())
        # along a piece the distance changes by no more than half the piece's length
        isBeyond = distances > limit
        decided = (np.abs(distances - limit) >= half) | (2 * half <= SHORTEST_PIECE)
        beyond += 2 * float(half[decided & isBeyond].sum())
        rest = ~decided
        start, middle, end = start[rest], middle[rest], end[rest]
        start, end = np.concatenate([start, middle]), np.concatenate([middle, end])
    return beyond


def centroidShift(reference: Structure, test: Structure, side: str) -> float:
    """Return how far in mm the test's centroid lies from the reference's toward R, L, A, P, S or I."""
    return float((centroid(test) - centroid(reference)) @ np.array(SIDES[side], float))


def centroid(structure: Structure) -> np.ndarray:
    """Return the LPS center of mass (3,) in mm of a structure's voxels, or of what its closed surface encloses."""
    if structure.mask is not None:
        mask = structure.mask
        sums = [mask.voxels.sum(axis=others, dtype=np.int64) for others in ((0, 1), (0, 2), (1, 2))]
        return mask.grid.toWorld([[s @ np.arange(len(s)) / s.sum() for s in sums] + mask.low])[0]
    surface = structure.surface
    center = surface.points.mean(axis=0)
    corners = (surface.points - center)[surface.cells]
    # tetrahedra (triangles) between the center and every cell
    if surface.dimension == 2:
        sizes = np.cross(corners[:, 0], corners[:, 1]) @ surface.normal
    else:
        sizes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    return center + sizes @ corners.sum(axis=1) / (surface.dimension + 1) / sizes.sum()
