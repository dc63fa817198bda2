"""Test whether places lie inside a closed surface, by counting the triangles on one side of them.

The result does not depend on normals, so it also holds where triangles are as thin as a line or fold over each other.
"""

from __future__ import annotations

import numpy as np

from .ranges import levelsOf, partsOf

# Triangles processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 15
# Largest number of fields along either axis.
MOST_FIELDS = 512


class Enclosure:
    """Finds the places that a closed surface encloses, by the even-odd rule along the x axis.

    points: (n, 3) mm. cells: (m, 3) triangles of them, an even number of them at every side. Seen along the x axis, the
    surface is divided into fields, each with a list of the triangles that reach into it.
    """

    def __init__(self, points: np.ndarray, cells: np.ndarray):
        self._points = np.ascontiguousarray(points.T)
        self._cells = np.ascontiguousarray(cells.T)
        flat = self._points[1:]
        self._low, self._high = flat.min(axis=1), flat.max(axis=1)
        self._fields = int(np.clip(np.sqrt(len(cells)) / 2, 1, MOST_FIELDS))
        corners = flat[:, self._cells]
        (firstRow, firstColumn), (lastRow, lastColumn) = (
            self._fieldsAt(reduced(axis=1)) for reduced in (corners.min, corners.max)
        )
        triangle, row = levelsOf(firstRow, lastRow + 1)
        number, column = levelsOf(firstColumn[triangle], lastColumn[triangle] + 1)
        field = row[number] * self._fields + column
        self._triangles = triangle[number][np.argsort(field, kind="stable")]
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(field, minlength=self._fields**2))])

    def contains(self, places: np.ndarray) -> np.ndarray:
        """Return whether places (3, n) in mm lie inside."""
        crossed = np.zeros(places.shape[1], np.int64)
        isBeside = ((places[1:] >= self._low[:, None]) & (places[1:] <= self._high[:, None])).all(axis=0)
        chosen = np.flatnonzero(isBeside)
        row, column = self._fieldsAt(places[1:, chosen])
        field = row * self._fields + column
        first, last = self._starts[field], self._starts[field + 1]
        for part in partsOf(last - first, CHUNK):
            number, entry = levelsOf(first[part], last[part])
            place = chosen[part][number]
            isCrossed = self._areCrossed(places[:, place], self._triangles[entry])
            crossed += np.bincount(place[isCrossed], minlength=len(crossed))
        return crossed % 2 == 1

    def _fieldsAt(self, flat: np.ndarray) -> np.ndarray:
        """Return the row and column (2, n) of the fields in which coordinates y and z (2, n) lie."""
        span = np.where(self._high > self._low, self._high - self._low, 1)
        fields = (flat - self._low[:, None]) * (self._fields / span)[:, None]
        return np.clip(fields.astype(np.int64), 0, self._fields - 1)

    def _areCrossed(self, places: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Return whether the lines from places (3, n) toward higher x cross one triangle (n,) each."""
        y, z = places[1:]
        numbers = self._cells[:, triangles]
        isWithin = np.zeros(len(triangles), bool)
        for start, end in ((0, 1), (1, 2), (2, 0)):
            # both triangles at a side compute the same, so that a line passes through exactly one of them
            isTurned = numbers[start] > numbers[end]
            a, b = np.where(isTurned, numbers[[end, start]], numbers[[start, end]])
            (_, ya, za), (_, yb, zb) = self._points[:, a], self._points[:, b]
            isBetween = (za > z) != (zb > z)
            rise = np.where(isBetween, zb - za, 1)
            isWithin ^= isBetween & (ya + (z - za) / rise * (yb - ya) > y)
        places, numbers = places[:, isWithin], numbers[:, isWithin]
        isWithin[isWithin] = self._heights(numbers, *places[1:]) > places[0]
        return isWithin

    def _heights(self, numbers: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the x (n,) at which lines at y and z (n,) pass through triangles of points (3, n)."""
        (xa, ya, za), (xb, yb, zb), (xc, yc, zc) = (self._points[:, column] for column in numbers)
        ofA = (yb - y) * (zc - z) - (yc - y) * (zb - z)
        ofB = (yc - y) * (za - z) - (ya - y) * (zc - z)
        ofC = (ya - y) * (zb - z) - (yb - y) * (za - z)
        total = ofA + ofB + ofC
        isFlat = total == 0
        height = (ofA * xa + ofB * xb + ofC * xc) / np.where(isFlat, 1, total)
        low, high = (kind(kind(xa, xb), xc) for kind in (np.minimum, np.maximum))
        # for a triangle seen edge-on, any of its points will do
        return np.where(isFlat, high, np.clip(height, low, high))
