"""The side of a surface that places lie on: in front of or behind the nearest face, side or corner of a triangle.

Where a corner is nearest, some of the triangles around it may be seen from the front and others from behind. The sum of
their normals, each weighted by the angle of its triangle at the corner, still determines the side for every closed
surface, and so does the sum of the two normals at a side.

A triangle as thin as a line has no meaningful normal, and triangles that fold over each other hide what is behind them.
Where one of these is nearest, the crossings of the surface on the way out are counted (enclosure.py).

Source: Baerentzen & Aanaes, Signed Distance Computation Using the Angle Weighted Pseudonormal, IEEE Transactions on
Visualization and Computer Graphics 11(3), 2005, doi:10.1109/TVCG.2005.49.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..base.progress import chunks
from .enclosure import Enclosure
from .triangles import areaVectors, columns, dot, uniqueSides

# Places processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 14
# A triangle is thin if its height is less than this fraction of its longest side; two triangles are folded over each
# other if the sum of their unit normals is shorter than this.
THIN, FOLDED = 1e-3, 0.6


class PseudoNormals:
    """The normals of all faces, sides and corners of triangles; the nearest one determines the side of a place.

    points: (n, 3) mm. cells: (m, 3) triangles of them, which face outward.
    """

    def __init__(self, points: np.ndarray, cells: np.ndarray):
        self._points = points
        sides, numbers = uniqueSides(cells)
        normals, angles = np.empty((3, len(cells))), np.empty((3, len(cells)))
        isThin = np.empty(len(cells), bool)
        first = 0
        for corners, vectors in areaVectors(points, cells):
            chosen = slice(first, first + vectors.shape[1])
            first = chosen.stop
            doubled = np.sqrt(dot(vectors, vectors))
            np.divide(vectors, np.where(doubled > 0, doubled, 1), out=normals[:, chosen])
            steps = [corners[(corner + 1) % 3] - corners[corner] for corner in range(3)]
            longest = reduce(np.maximum, (dot(step, step) for step in steps))
            np.less(doubled, THIN * longest, out=isThin[chosen])
            for corner in range(3):
                angles[corner, chosen] = np.arctan2(doubled, -dot(steps[corner], steps[corner - 1]))
        ofSides = [reduce(np.add, (np.bincount(column, one, len(sides)) for column in numbers.T)) for one in normals]
        ofCorners = [
            reduce(np.add, (np.bincount(column, normal * angle, len(points)) for column, angle in zip(cells.T, angles)))
            for normal in normals
        ]
        # seven parts may be nearest: the face, the sides from each corner to the next one, and the corners
        self._normals = np.concatenate([normals, ofSides, ofCorners], axis=1).T.copy()
        self._cells = np.ascontiguousarray(cells.T)
        ofEach = len(cells) + numbers.T, len(cells) + len(sides) + self._cells
        self._parts = np.concatenate([np.arange(len(cells))[None], *ofEach])
        # a point on each part
        self._starts = np.concatenate([self._cells[:1], self._cells, self._cells])
        # only for closed surfaces: counting crossings needs an even number of triangles at every side
        folded = dot(ofSides, ofSides) < FOLDED**2
        self._isDoubtful = None
        if (isThin.any() or folded.any()) and not (np.bincount(numbers.ravel()) % 2).any():
            self._isDoubtful = self._doubtful(isThin, folded, numbers, len(points))
            self._enclosure = Enclosure(points, cells)

    def _doubtful(self, isThin: np.ndarray, folded: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
        """Return whether the normals of faces, sides and corners are unreliable for deciding the side of a place.

        isThin: (m,) of faces. folded: (s,) of sides. numbers: (m, 3) sides of the faces. count: number of points.
        """
        faces = isThin | folded[numbers].any(axis=1)
        sides, corners = folded.copy(), np.zeros(count, bool)
        sides[numbers[isThin]] = True
        corners[self._cells[:, faces]] = True
        return np.concatenate([faces, sides, corners])

    def isBehind(self, places: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Return whether places (n, 3) lie behind the triangles (n,), by number, that are next to them."""
        result = np.empty(len(places), bool)
        for chosen in chunks(len(places), CHUNK):
            some, near = np.ascontiguousarray(places[chosen].T), triangles[chosen]
            nearest = self._nearestParts(some, near)
            parts = self._parts[nearest, near]
            way = some - columns(self._points, self._starts[nearest, near])
            isBehind = dot(way, columns(self._normals, parts)) < 0
            if self._isDoubtful is not None:
                doubtful = np.flatnonzero(self._isDoubtful[parts])
                isBehind[doubtful] = self._enclosure.contains(some[:, doubtful])
            result[chosen] = isBehind
        return result

    def _nearestParts(self, places: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Return the number (n,) of the part, out of seven, of a triangle (n,) each that is next to places (3, n)."""
        a, b, c = (columns(self._points, column.take(triangles)) for column in self._cells)
        ab, ac, toA, toB, toC = b - a, c - a, places - a, places - b, places - c
        alongA, acrossA = dot(ab, toA), dot(ac, toA)
        alongB, acrossB = dot(ab, toB), dot(ac, toB)
        alongC, acrossC = dot(ab, toC), dot(ac, toC)
        result = np.zeros(len(triangles), np.int64)
        # beyond a side, and between its ends
        result[(alongA * acrossB <= alongB * acrossA) & (alongA >= 0) & (alongB <= 0)] = 1
        result[(alongB * acrossC <= alongC * acrossB) & (acrossB >= alongB) & (alongC >= acrossC)] = 2
        result[(alongC * acrossA <= alongA * acrossC) & (acrossA >= 0) & (acrossC <= 0)] = 3
        result[(alongA <= 0) & (acrossA <= 0)] = 4
        result[(alongB >= 0) & (acrossB <= alongB)] = 5
        result[(acrossC >= 0) & (alongC <= acrossC)] = 6
        return result
