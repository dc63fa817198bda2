"""The largest and the smallest dose in a solid, or in what it has beyond another one.

Between the points of its grid a dose is linear along each axis of that grid, so it has no peak inside of a cell: it is
largest at a point of the grid, or on the boundary. There, in one cell, it is largest at a corner of what a face has in
that cell; on faces that are turned against the grid, also where it is stationary along a side or within the face. So
the result is exact for the boxes of voxels and for triangles. Of two masks on different grids, the parts of faces that
count are cut out along the voxels of the other mask. Of meshes, the triangles that the other surface crosses are left
out.

Few faces need that look: most reach no cell with a dose beyond what is known already.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.polynomial import Polynomial

from ..base.progress import checkpoint, chunks
from ..geometry.crosssections import boxesOf
from ..geometry.enclosure import Enclosure
from ..geometry.grids import SAME_LATTICE_TOLERANCE
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface
from ..model.dose import Dose
from ..model.structure import Structure
from .dosesampling import areIn

# Triangles, points or pieces processed at a time.
PART = 1 << 14
# In steps of a grid: places this close to a plane lie in it.
ROUNDING = 1e-9
# How far beside a face one looks for what is there, in voxels (mm for meshes), or as a part of the way to its middle.
BESIDE = SAME_LATTICE_TOLERANCE


@dataclass(frozen=True, eq=False)
class Solid:
    """The boxes of a mask's voxels, or what a closed surface encloses without a mask."""

    mask: Mask | None
    surface: Surface | None = None

    @staticmethod
    def of(structure: Structure) -> Solid:
        """Return what a structure fills."""
        return Solid(structure.mask) if structure.mask is not None else Solid(None, structure.surface)

    @cached_property
    def faces(self) -> Surface:
        """Its boundary."""
        return cast(Surface, self.surface).solid if self.mask is None else boxesOf(self.mask)

    @cached_property
    def corners(self) -> np.ndarray:
        """(8, 3) LPS corners in mm of a box around it."""
        if self.mask is not None:
            return self.mask.corners()
        return np.array(list(itertools.product(*zip(*self.faces.box, strict=True))))

    @cached_property
    def _enclosure(self) -> Enclosure:
        return Enclosure(self.faces.points, self.faces.cells)

    def contains(self, points: np.ndarray, margin: float = 0.0) -> np.ndarray:
        """Return whether LPS points (n, 3) lie inside, or no farther away than a margin in voxels (mm for meshes)."""
        index = points if self.mask is None else self.mask.grid.toIndex(points) - self.mask.low
        found = np.zeros(len(points), bool)
        for shift in itertools.product((-margin, margin), repeat=3) if margin else [(0.0, 0.0, 0.0)]:
            if self.mask is None:
                found |= self._enclosure.contains(np.ascontiguousarray((index + shift).T))
            else:
                found |= areIn(self.mask.voxels, np.rint(index + shift).astype(np.int64))
        return found


def extremes(dose: Dose, solid: Solid, excluded: Solid | None, low: float, high: float) -> tuple[float, float]:
    """Return the smallest and the largest dose in Gy where it is known in a solid, without what another one has.

    low, high: the smallest and the largest at some places there, which must exist.
    """
    return -_Search(dose, -1, solid, excluded).largest(-low), _Search(dose, 1, solid, excluded).largest(high)


class _Search:
    """The search for the largest dose, or of the negative dose, sign -1."""

    def __init__(self, dose: Dose, sign: int, solid: Solid, excluded: Solid | None):
        self.dose, self.sign, self.solid, self.excluded = dose, sign, solid, excluded
        corners = dose.grid.toIndex(solid.corners)
        # what the solid can reach; its places are in steps of the dose's grid
        ends = [_around(*one) for one in zip(dose.steps, corners.min(axis=0), corners.max(axis=0), strict=True)]
        reached = [slice(max(first, 0), last + 1) for first, last in ends]
        self.steps = [steps[part] for steps, part in zip(dose.steps, reached, strict=True)]
        values = sign * dose.values[tuple(reached[::-1])]
        self.values = np.where(np.isnan(values), -np.inf, values)

    def largest(self, known: float) -> float:
        """Return the largest dose, times the sign. known: such a dose at some place."""
        known = max(known, self._atPoints(known))
        known = self._onFaces(self.solid, self.excluded, -1, known)
        return known if self.excluded is None else self._onFaces(self.excluded, self.solid, 1, known)

    def _at(self, places: np.ndarray) -> np.ndarray:
        """Return the dose at places (..., 3), minus infinity where it is not known."""
        doses, isKnown = self.dose.atSteps(places.reshape(-1, 3))
        return np.where(isKnown, self.sign * doses, -np.inf).reshape(places.shape[:-1])

    def _atPoints(self, known: float) -> float:
        """Return the largest dose at the points of its grid if it is beyond what is known; else what is known."""
        values = self.values.ravel()
        numbers = np.flatnonzero(values > known)
        numbers = numbers[np.argsort(-values[numbers])]
        for first in range(0, len(numbers), PART):
            checkpoint()
            part = numbers[first : first + PART]
            index = np.unravel_index(part, self.values.shape)[::-1]
            points = self.dose.grid.toWorld(np.stack([s[n] for s, n in zip(self.steps, index, strict=True)], axis=1))
            isThere = self.solid.contains(points)
            if self.excluded is not None:
                isThere[isThere] = ~self.excluded.contains(points[isThere], BESIDE)
            if isThere.any():
                return float(values[part[isThere.argmax()]])
        return known

    def _onFaces(self, solid: Solid, neighbor: Solid | None, side: int, known: float) -> float:
        """Return the largest dose on the faces of a solid if it is beyond what is known; else what is known.

        neighbor: the solid that must be beside a face outward, side 1, or must not be inward, side -1.
        """
        faces = solid.faces
        first, last = np.empty((2, len(faces.cells), 3), np.int32)
        for part in chunks(len(first), PART):
            corners = self._toSteps(faces.corners(np.arange(len(first))[part]))
            low, high = corners.min(axis=1), corners.max(axis=1)
            for axis, steps in enumerate(self.steps):
                first[part, axis], last[part, axis] = _around(steps, low[:, axis], high[:, axis])
        bounds = _largestIn(self.values, first, last)
        order = np.argsort(-bounds, kind="stable")[: np.count_nonzero(bounds > known)]
        for part in chunks(len(order), PART):
            chosen = order[part][bounds[order[part]] > known]
            if not len(chosen):
                break
            known = self._onTriangles(faces.corners(chosen), neighbor, side, known)
        return known

    def _onTriangles(self, corners: np.ndarray, neighbor: Solid | None, side: int, known: float) -> float:
        """Return the same of triangles (n, 3, 3) with corners in LPS mm that point outward."""
        pieces, number = _cut(self._toSteps(corners), np.arange(len(corners)), self.steps)
        chosen = self._bounds(pieces) > known
        pieces, number = pieces[chosen], number[chosen]
        if neighbor is not None and len(pieces):
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
            pieces = self._beside(pieces, number, side * normals, neighbor, side > 0)
        known = max(known, float(self._at(pieces).max(initial=-np.inf)))
        # faces along the axes of the dose's grid have nothing left
        pieces = pieces[self._bounds(pieces) > known + ROUNDING * abs(known)]
        known = max(known, float(self._at(_stationaryOnSides(pieces, self._at)).max(initial=-np.inf)))
        for piece in pieces[self._bounds(pieces) > known + ROUNDING * abs(known)]:
            checkpoint()
            known = max(known, float(self._at(self._stationaryWithin(piece)).max(initial=-np.inf)))
        return known

    def _toSteps(self, corners: np.ndarray) -> np.ndarray:
        """Return corners (n, 3, 3) in LPS mm in steps of the dose's grid."""
        return self.dose.grid.toIndex(corners.reshape(-1, 3)).reshape(-1, 3, 3)

    def _bounds(self, pieces: np.ndarray) -> np.ndarray:
        """Return (n,) doses that pieces (n, 3, 3) within a cell do not exceed: those at the corners of their boxes."""
        ends = np.stack([pieces.min(axis=1), pieces.max(axis=1)])
        boxes = np.stack([ends[list(which), :, range(3)] for which in itertools.product((0, 1), repeat=3)])
        return self._at(boxes.transpose(2, 0, 1)).max(axis=1, initial=-np.inf)

    def _beside(
        self, pieces: np.ndarray, number: np.ndarray, toward: np.ndarray, neighbor: Solid, isWanted: bool
    ) -> np.ndarray:
        """Return the pieces beside which the other solid is, or is not.

        number: (n,) of the triangle of each. toward: (m, 3) for each triangle, the direction in which one looks.
        """
        grid = self.dose.grid
        world = grid.toWorld(pieces.reshape(-1, 3)).reshape(-1, 3, 3)
        if neighbor.mask is not None:
            own = neighbor.mask.grid
            edges = [
                np.arange(low, high + 2) - 0.5 for low, high in zip(neighbor.mask.low, neighbor.mask.high, strict=True)
            ]
            index, which = _cut(own.toIndex(world.reshape(-1, 3)).reshape(-1, 3, 3), np.arange(len(world)), edges)
            world, number = own.toWorld(index.reshape(-1, 3)).reshape(-1, 3, 3), number[which]
        step = BESIDE * (1.0 if neighbor.mask is None else neighbor.mask.grid.spacing.min())
        middle = world.mean(axis=1, keepdims=True)
        # the voxels of a mask have whole pieces
        looks = middle if neighbor.mask is not None else world + BESIDE * (middle - world)
        looks = looks + step * toward[number][:, None]
        isThere = neighbor.contains(looks.reshape(-1, 3)).reshape(looks.shape[:2]) == isWanted
        return self._toSteps(world[isThere.all(axis=1)])

    def _stationaryWithin(self, piece: np.ndarray) -> np.ndarray:
        """Return the places (n, 3) within a piece (3, 3) in one cell where the dose may have a peak on its plane."""
        none = np.zeros((0, 3))
        cell = [int(np.searchsorted(steps, m)) - 1 for steps, m in zip(self.steps, piece.mean(axis=0), strict=True)]
        if any(not 0 <= n < len(steps) - 1 for n, steps in zip(cell, self.steps, strict=True)):
            return none
        start = np.array([steps[n] for n, steps in zip(cell, self.steps, strict=True)])
        size = np.array([steps[n + 1] - steps[n] for n, steps in zip(cell, self.steps, strict=True)])
        normal = np.cross(*((piece[1:] - piece[0]) / size))
        order = np.argsort(np.abs(normal))
        # along an axis that lies in the plane, the dose is linear
        if abs(normal[order[0]]) <= ROUNDING * abs(normal[order[2]]):
            return none
        a, b, c = ((piece - start) / size)[:, order]
        i, j, k = (slice(n, n + 2) for n in cell)
        factors = self.values[k, j, i].transpose(2, 1, 0).transpose(order)
        if not np.isfinite(factors).all():
            return none
        for axis in range(3):
            low, high = np.moveaxis(factors, axis, 0)
            factors = np.stack([low, high - low], axis=axis)
        # factors of x^a y^b z^c, with z on the plane: a polynomial of y whose factors are polynomials of x
        alongX, alongY = -normal[order[:2]] / normal[order[2]]
        z = Polynomial([a[2] - alongX * a[0] - alongY * a[1], alongX])
        (constant, linear), above = (
            [Polynomial(factors[:, n, 0]) + Polynomial(factors[:, n, 1]) * z for n in (0, 1)],
            alongY * Polynomial(factors[:, 0, 1]),
        )
        linear, square = linear + above, alongY * Polynomial(factors[:, 1, 1])
        # at the best y = -linear / (2 square) for each x
        slope = 4 * constant.deriv() * square**2 - 2 * linear * linear.deriv() * square + linear**2 * square.deriv()
        x = np.real(slope.roots())
        with np.errstate(all="ignore"):
            y = -linear(x) / (2 * square(x))
            weights = np.linalg.solve(np.stack([(b - a)[:2], (c - a)[:2]], axis=1), np.stack([x, y]) - a[:2, None])
            isWithin = (weights >= 0).all(axis=0) & (weights.sum(axis=0) <= 1)
        return piece[0] + weights[:, isWithin].T @ (piece[1:] - piece[0])


def _stationaryOnSides(pieces: np.ndarray, at) -> np.ndarray:
    """Return the places (m, 3) on the sides of pieces (n, 3, 3) in one cell each where the dose may have a peak."""
    start, step = pieces.reshape(-1, 3), (np.roll(pieces, -1, axis=1) - pieces).reshape(-1, 3)
    # along a line in a cell it is a polynomial of the third degree
    shares = np.arange(4) / 3
    values = at(start + shares[:, None, None] * step)
    with np.errstate(all="ignore"):
        _, linear, square, cube = np.linalg.inv(np.vander(shares, increasing=True)) @ values
        half = -square - np.copysign(np.sqrt(square**2 - 3 * linear * cube), square)
        found = np.stack([half / (3 * cube), linear / half])
        isOn = (found > 0) & (found < 1)
    _, side = np.nonzero(isOn)
    return start[side] + found[isOn][:, None] * step[side]


def _around(steps: np.ndarray, low, high):
    """Return the numbers of the last step up to `low` and of the first one from `high` on, also beyond the ends."""
    first = np.searchsorted(steps, low + ROUNDING, side="right") - 1
    last = np.searchsorted(steps, high - ROUNDING, side="left")
    # -1 where all of it is below the first step
    return first, last - (high < steps[0] - ROUNDING)


def _largestIn(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return (n,) numbers that values [k, j, i] from index first to last (n, 3), both included, do not exceed.

    It is minus infinity for a range without values.
    """
    from scipy.ndimage import maximum_filter1d

    most = np.array(values.shape[::-1]) - 1
    isAway = ((last < 0) | (first > most)).any(axis=1)
    first, last = np.clip(first, 0, most), np.clip(last, 0, most)
    for axis, width in enumerate((last - first)[~isAway].max(axis=0, initial=0) + 1):
        if width > 1:
            values = maximum_filter1d(values, width, 2 - axis, mode="constant", cval=-np.inf, origin=-(width // 2))
    i, j, k = first.T
    return np.where(isAway, -np.inf, values[k, j, i])


def _cut(triangles: np.ndarray, number: np.ndarray, planes) -> tuple[np.ndarray, np.ndarray]:
    """Return the pieces (m, 3, 3) into which planes across three axes cut triangles (n, 3, 3), and their numbers (m,).

    planes: where they cross each axis, ascending.
    """
    for axis, across in enumerate(planes):
        done = [(triangles[:0], number[:0])]
        while len(triangles):
            heights = triangles[:, :, axis]
            first = np.searchsorted(across, heights.min(axis=1) + ROUNDING, side="right")
            last = np.searchsorted(across, heights.max(axis=1) - ROUNDING, side="left")
            isWhole = first >= last
            done.append((triangles[isWhole], number[isWhole]))
            triangles, number = triangles[~isWhole], number[~isWhole]
            level = across[((first + last) // 2)[~isWhole]]
            triangles, number = _halve(triangles, axis, level), np.tile(number, 3)
        triangles, number = (np.concatenate(found) for found in zip(*done, strict=True))
    return triangles, number


def _halve(triangles: np.ndarray, axis: int, level: np.ndarray) -> np.ndarray:
    """Return the three pieces of each triangle (n, 3, 3) that a plane at a level (n,) of an axis cuts: (3 n, 3, 3)."""
    isAbove = triangles[:, :, axis] > level[:, None]
    # the corner that is alone on its side comes first
    alone = np.where(isAbove.sum(axis=1) == 1, isAbove.argmax(axis=1), (~isAbove).argmax(axis=1))
    a, b, c = (triangles[np.arange(len(triangles)), (alone + n) % 3] for n in range(3))
    share = [((level - a[:, axis]) / (end[:, axis] - a[:, axis]))[:, None] for end in (b, c)]
    ab, ac = (a + part * (end - a) for part, end in zip(share, (b, c), strict=True))
    ab[:, axis] = ac[:, axis] = level
    return np.concatenate([np.stack(corners, axis=1) for corners in ((a, ab, ac), (ab, b, c), (ab, c, ac))])
