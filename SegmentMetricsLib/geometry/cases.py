"""What the cells between voxel centers hold: the triangles of their 256 cases, and the places inside a cell.

A cell is the box between eight neighboring voxel centers; which of the eight belong to a structure is its case.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkFiltersGeneral import vtkDiscreteFlyingEdges3D

from ..cores import lockedCache
from .surfaces import barycentricWeights, triangleIndices
from .triangles import TriangleSet, segmentsCrossTriangles

# The corner (x, y, z) of a cell contributes bit 1 << (x + 2 y + 4 z) to its case.
CORNERS = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)])
# Corners from which the side of a place is told, and how far off them, toward the middle of the cell. By odd amounts,
# so that the way from there meets no edge of a triangle; three outvote the rare one that does.
WITNESSES = ((0, (0.011, 0.017, 0.0232)), (3, (0.019, 0.0131, 0.0273)), (5, (0.0253, 0.0149, 0.0127)))

# Into how many pieces, as a number of cuts, the triangles of cases are cut to see whether they leave another one, and
# how close, as a share of a cell, a place of one touches another.
NESTED_SUBDIVISIONS, TOUCHING = 1, 1e-6
# Layers of voxels looked at at a time, so that temporary arrays are small beside the whole.
LAYERS = 16


def cellCodes(block: np.ndarray) -> np.ndarray:
    """Return the case (0..255) of every cell between the voxels of a mask [k, j, i]; one shorter along each axis."""
    result = np.empty(np.subtract(block.shape, 1), np.uint8)
    row = block.shape[2]
    for first in range(0, len(result), LAYERS):
        layers = block[first : first + LAYERS + 1]
        codes = layers.astype(np.uint8).ravel()
        # two voxels, four, eight: of all rows in one go, so that what the last of each row tells has no meaning
        for step, weight in ((1, 2), (row, 4), (row * block.shape[1], 16)):
            # several times faster than to shift bits
            codes[:-step] |= codes[step:] * np.uint8(weight)
        result[first : first + LAYERS] = codes.reshape(layers.shape)[:-1, :-1, :-1]
    return result


@lru_cache(maxsize=1)
def caseTriangles() -> tuple[np.ndarray, np.ndarray]:
    """Return the triangles of all cases, as the surface filter itself makes them.

    The first array (189, 3, 3) holds the corners of every different triangle in cell coordinates 0..1; the second
    (256, 5) the triangle numbers of every case, the last one repeated to fill up, -1 for the two cases without any.
    """
    image = vtkImageData()
    image.SetDimensions(2, 2, 2)
    flyingEdges = vtkDiscreteFlyingEdges3D()
    flyingEdges.SetValue(0, 1)
    flyingEdges.ComputeScalarsOff()
    numbers: dict[tuple, int] = {}
    cases = np.full((256, 5), -1)
    for case in range(1, 255):
        voxels = np.array([(case >> bit) & 1 for bit in range(8)], np.uint8)
        image.GetPointData().SetScalars(numpy_to_vtk(voxels, deep=True))
        flyingEdges.SetInputData(image)
        flyingEdges.Modified()
        flyingEdges.Update()
        output = flyingEdges.GetOutput()
        triangles = vtk_to_numpy(output.GetPoints().GetData())[triangleIndices(output)]
        # where the corners are, not in which order, is what makes a triangle
        found = [numbers.setdefault(tuple(sorted(map(tuple, t.tolist()))), len(numbers)) for t in triangles]
        cases[case] = (found + found[-1:] * 5)[:5]
    return np.array(list(numbers)), cases


def ofCases(ofTriangles: np.ndarray, combine: np.ufunc) -> np.ndarray:
    """Return what is known of all cases (256, k) together, combined from what is known of their triangles.

    ofTriangles: (t + 1, k) of the triangles of all cases, and in the last row of none.
    """
    _, cases = caseTriangles()
    result = ofTriangles.take(cases[:, 0], axis=0)
    for column in cases.T[1:]:
        combine(result, ofTriangles.take(column, axis=0), out=result)
    return result


@lru_cache(maxsize=1)
def caseEdges() -> tuple[np.ndarray, np.ndarray]:
    """Return the different sides (e, 2, 3) of the triangles of all cases, and each triangle's side numbers (189, 3)."""
    triangles, _ = caseTriangles()
    pairs = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 6)
    rank = pairs.reshape(-1, 2, 3) @ [9, 3, 1]  # coordinates are 0, 1/2 or 1, so no two corners share a rank
    pairs = np.where((rank[:, 0] > rank[:, 1])[:, None], pairs[:, [3, 4, 5, 0, 1, 2]], pairs)
    edges, sides = np.unique(pairs, axis=0, return_inverse=True)
    return edges.reshape(-1, 2, 3), sides.reshape(-1, 3)


def isInside(local: np.ndarray, cases: np.ndarray) -> np.ndarray:
    """Return whether places (p, 3) in a cell, each coordinate from 0 to 1, lie inside the structure of a case (p,)."""
    triangles, _ = caseTriangles()
    return _byWitnesses(cases, lambda end: lambda numbers: segmentsCrossTriangles(local, end, triangles[numbers]))


def isInsideAllCases(local: np.ndarray) -> np.ndarray:
    """Return whether places (p, 3) in a cell lie inside the structure of each of the cases, as (p, 256)."""
    triangles, _ = caseTriangles()

    def crossing(end: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        crossed = segmentsCrossTriangles(local[:, None], end, triangles)
        return lambda numbers: crossed[:, numbers]

    return _byWitnesses(np.arange(256), crossing)


def _byWitnesses(cases: np.ndarray, crossing: Callable[[np.ndarray], Callable]) -> np.ndarray:
    """Return whether places lie inside the structures of cases (c,), by the ways to corners whose side is known.

    crossing: tells of the end of such ways what tells of numbers (c,) of triangles whether they are crossed.
    """
    _, trianglesOf = caseTriangles()
    isOther = trianglesOf >= 0
    isOther[:, 1:] &= np.diff(trianglesOf, axis=1) != 0
    votes = 0
    for corner, nudge in WITNESSES:
        isCrossed = crossing(CORNERS[corner] + np.where(CORNERS[corner], -1, 1) * nudge)
        # an odd number of times when the sides differ
        isOdd = (cases >> corner) & 1 == 1
        for numbers, isCounted in zip(trianglesOf.T, isOther.T, strict=True):
            isOdd = isOdd ^ (isCrossed(numbers[cases]) & isCounted[cases])
        votes = votes + isOdd.astype(np.int8)
    return votes >= 2


@lru_cache(maxsize=1)
def nestedSurfaces() -> tuple[np.ndarray, np.ndarray]:
    """Return whether the triangles of one case (rows) lie nowhere outside the structure of another (columns, 256).

    And, as a second array (256, 256), whether they lie nowhere inside it. Where voxels are nested the surfaces mostly
    are as well, but some cases are triangulated in another way; where voxels are not, neither is told. The rows of the
    two cases without triangles have no meaning.
    """
    triangles, trianglesOf = caseTriangles()
    weights = barycentricWeights(3, NESTED_SUBDIVISIONS)
    places = np.einsum("pc,tcx->tpx", weights / weights[0].sum(), triangles).reshape(-1, 3)
    inside = isInsideAllCases(places)
    ends, sides = caseEdges()
    squared = TriangleSet(triangles, ends, sides).squaredDistances(places)
    # the triangles of what has none are infinitely far
    squared = np.concatenate([squared, np.full((1, len(places)), np.inf)])
    apart = np.stack([squared[numbers].min(axis=0) > TOUCHING**2 for numbers in trianglesOf], axis=1)
    outward, inward = ((apart & flags).reshape(len(triangles), -1, 256).any(axis=1) for flags in (~inside, inside))
    cases = np.arange(256)
    isWithin = (cases[:, None] & ~cases) == 0
    return isWithin & ~outward[trianglesOf].any(axis=1), isWithin.T & ~inward[trianglesOf].any(axis=1)


@dataclass(frozen=True, eq=False)
class Positions:
    """The different places inside a cell from which distances are asked.

    denominator: coordinates are whole multiples of 1 / denominator. local: (p, 3) those multiples, 0 <= local <
    denominator.
    """

    denominator: int
    local: np.ndarray

    @cached_property
    def numbers(self) -> np.ndarray:
        """(denominator ** 3,) number of every position by its multiples x + denominator * (y + denominator * z)."""
        numbers = np.full(self.denominator**3, -1)
        numbers[self.local @ self.denominator ** np.arange(3)] = np.arange(len(self.local))
        return numbers


@lru_cache(maxsize=8)
def elementPositions(subdivisions: int) -> Positions:
    """Return the positions of the centers of all pieces of all triangles, subdivided so often."""
    weights = barycentricWeights(3, subdivisions)
    denominator = 2 * int(weights[0].sum())
    triangles, _ = caseTriangles()
    centers = np.einsum("pc,tcx->tpx", weights, np.rint(2 * triangles).astype(int)).reshape(-1, 3)
    return Positions(denominator, np.unique(centers % denominator, axis=0))


@lru_cache(maxsize=8)
def cornerPositions() -> Positions:
    """Return the positions of triangle corners: the middles of cell edges."""
    corners = np.rint(2 * caseTriangles()[0]).astype(int).reshape(-1, 3)
    return Positions(2, np.unique(corners % 2, axis=0))


@lockedCache(8)
def nodePositions(halvings: int) -> Positions:
    """Return the positions of the corners of all pieces of all triangles whose sides have been halved so often."""
    count = 2**halvings
    weights = np.array([(a, b, count - a - b) for a in range(count + 1) for b in range(count + 1 - a)])
    nodes = np.einsum("pc,tcx->tpx", weights, np.rint(2 * caseTriangles()[0]).astype(int)).reshape(-1, 3)
    return Positions(2 * count, np.unique(nodes % (2 * count), axis=0))


@lru_cache(maxsize=8)
def subVoxelPositions(pieces: int) -> Positions:
    """Return the centers of voxels cut into pieces along each axis."""
    if pieces % 2:  # a whole multiple of 1 / pieces away from the voxel center
        axis, denominator = np.arange(pieces), pieces
    else:
        axis, denominator = np.arange(1, 2 * pieces, 2), 2 * pieces
    return Positions(denominator, np.array(list(itertools.product(axis, repeat=3))))
