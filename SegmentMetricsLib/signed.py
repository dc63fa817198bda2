"""Signed distances: on which side the test lies. Positive is outside the reference, that is over-contoured.

Every function takes the distances of both directions and pools both boundaries by element size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from vtkmodules.vtkCommonCore import mutable
from vtkmodules.vtkCommonDataModel import vtkCellLocator

from .boundary import TIE_TOLERANCE
from .bounded import Bounded, combined
from .distances import DirectedDistances, SurfaceDistances
from .errors import Undefined
from .places import outwardNormals
from .progress import checkpoint
from .surfaces import Surface, elementCenters, toPolyData

# Sides of the patient and the LPS vectors that point there.
SIDES = {"R": (-1, 0, 0), "L": (1, 0, 0), "A": (0, -1, 0), "P": (0, 1, 0), "S": (0, 0, 1), "I": (0, 0, -1)}
# Components of unit normals that differ by less are equal: a diagonal surface faces two sides.
EQUAL_COMPONENTS = 1e-6
# Up to so many elements of a mesh are looked up one by one; of more, and of masks, those of one cell belong together.
MOST_ELEMENTS = 100_000


class Located(NamedTuple):
    """A value and the LPS position in mm where it was found, None when it stands for no place."""

    value: float
    position: tuple[float, float, float] | None


class Side(NamedTuple):
    """Signed distances in mm of the boundary toward one side of the patient: mean, largest and smallest."""

    mean: float
    largest: float
    smallest: float


def mean(distances: SurfaceDistances) -> float:
    """Return the signed mean distance in mm: positive where the test is larger than the reference on the whole."""
    sizes = [direction.totalSize for direction in distances.directions]
    means = [direction.signedMean for direction in distances.directions]
    return combined(lambda *parts: sum(m * s for m, s in zip(parts, sizes)) / sum(sizes), *means)


def overFraction(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the share of both boundaries in [0, 1] where the test lies farther outside the reference than tau."""
    return _fractionBeyond(distances, tolerance, 1)


def underFraction(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the share of both boundaries in [0, 1] where the test lies farther inside the reference than tau."""
    return _fractionBeyond(distances, tolerance, -1)


def largest(distances: SurfaceDistances, over: bool) -> Located:
    """Return the largest over- or under-contouring in mm, not negative, and where it is; 0 and nowhere without any."""
    side = 1 if over else -1
    found = [direction.farthest(side) for direction in distances.directions]
    value = combined(lambda *values: max(0.0, *values), *(value for value, _ in found))
    position = max(found, key=lambda one: one[0])[1]
    return Located(value, tuple(position.tolist()) if value > 0 else None)


def toward(sides: dict[str, Side], side: str) -> Side:
    """Return what bySide() found toward R, L, A, P, S or I. Raises Undefined when no boundary faces that side."""
    if side not in sides:
        raise Undefined(f"no part of the boundary faces {side}")
    return sides[side]


def bySide(distances: SurfaceDistances) -> dict[str, Side]:
    """Return the signed distances toward each side of the patient that some of the boundary faces.

    An element belongs to the side of the largest component of the reference's outward normal: its own on the reference,
    on the test the one at the nearest place of the reference. One that faces two sides equally belongs to both.
    """
    reference, test = distances.directions
    pieces = len(reference.signed) // len(reference.surface.cells)
    own = outwardNormals(reference.surface, np.arange(len(reference.surface.cells)))
    normals = np.concatenate([np.repeat(own, pieces, axis=0), _normalsBelow(test, reference.surface, own)])
    signed = np.concatenate([d.signed for d in distances.directions])
    low, high = (np.concatenate(values) for values in zip(*(d.ranges for d in distances.directions)))
    farthest = np.abs(normals).max(axis=1)
    between = reference.between if test.between is None else max(reference.between, test.between)
    sides = {}
    for name, vector in SIDES.items():
        facing = (normals @ np.array(vector, float) >= farthest - EQUAL_COMPONENTS) & (farthest > 0)
        parts = np.split(facing, [len(reference.signed)])
        sizes = [float(d.sizes[part].sum()) for d, part in zip(distances.directions, parts)]
        if sum(sizes) > 0:
            means = [d.meanOf(part) if size else 0.0 for d, part, size in zip(distances.directions, parts, sizes)]
            mean = combined(lambda *values, sizes=sizes: sum(m * s for m, s in zip(values, sizes)) / sum(sizes), *means)
            # An element's mean, not its ends: they may belong to a neighbor that faces another side. Adding 0 takes the
            # sign off zeros.
            largest, smallest = float(signed[facing].max()) + 0.0, float(signed[facing].min()) + 0.0
            if between is not None:
                largest = Bounded(largest, largest - between, float(high[facing].max()) + between)
                smallest = Bounded(smallest, float(low[facing].min()) - between, smallest + between)
            sides[name] = Side(mean, largest, smallest)
    return sides


def _normalsBelow(test: DirectedDistances, reference: Surface, normals: np.ndarray) -> np.ndarray:
    """Return the reference's outward unit normal (n, 3) at the place nearest to each element of the test.

    normals: (m, 3) of the reference's cells.
    """
    pieces = len(test.signed) // len(test.surface.cells)
    if reference.lattice is None and len(test.signed) <= MOST_ELEMENTS:
        return _normalsAt(reference, normals, test.positions, test.signed)
    # the piece in the middle of a cell stands for all of them: its place and its side belong together
    centers = elementCenters(test.surface.points, test.surface.cells, 0)
    apart = np.linalg.norm(test.positions.reshape(-1, pieces, 3) - centers[:, None], axis=2)
    middle = apart.argmin(axis=1) + pieces * np.arange(len(centers))
    return np.repeat(_normalsAt(reference, normals, test.positions[middle], test.signed[middle]), pieces, axis=0)


def _normalsAt(reference: Surface, normals: np.ndarray, points: np.ndarray, signed: np.ndarray) -> np.ndarray:
    """Return the outward unit normals (n, 3) of a boundary below points (n, 3), on whose side `signed` tells.

    Next to an edge between two cells it is the way from the edge to the point that counts.
    """
    center = reference.points.mean(axis=0)
    locator = vtkCellLocator()
    locator.SetDataSet(toPolyData(Surface(reference.points - center, reference.cells, reference.normal)))
    locator.BuildLocator()
    local = points - center
    closest, cell, part, squared = [0.0] * 3, mutable(0), mutable(0), mutable(0.0)
    feet, cells = np.empty_like(local), np.empty(len(local), np.int64)
    # how far the boundary is, is known, which makes the search short
    reach = (np.abs(signed) + TIE_TOLERANCE).tolist()
    for number, point in enumerate(local.tolist()):
        if number % 4096 == 0:
            checkpoint()
        if not locator.FindClosestPointWithinRadius(point, reach[number], closest, cell, part, squared):
            locator.FindClosestPoint(point, closest, cell, part, squared)
        feet[number], cells[number] = closest, cell.get()
    ways = (local - feet) * np.where(signed < 0, -1, 1)[:, None]
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    return np.where(lengths > TIE_TOLERANCE, ways / np.where(lengths > 0, lengths, 1), normals[cells])


def _fractionBeyond(distances: SurfaceDistances, tolerance: float, side: int) -> float:
    # the tie rule of the normalized surface distance, so that the two fractions and NSD add up to 1
    beyond = [d.sizeBeyond(tolerance + TIE_TOLERANCE, side) for d in distances.directions]
    size = sum(d.totalSize for d in distances.directions)
    return combined(lambda *parts: sum(parts) / size, *beyond)
