"""Triangles without area that close a mesh: simply removing them would leave invisible holes.

Programs that simplify or cut meshes leave such caps: three different points on one line. The triangles beside them are
cut at the points that lie on their sides. Then they meet without the caps, and no point has moved.
"""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from .parts import components
from .triangles import areaVectors, dot, orderRows, uniqueSides


def haveArea(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return which triangles (m, 3) of points (n, 3) have an area."""
    parts = (dot(vectors, vectors) > 0 for _, vectors in areaVectors(points, cells))
    return np.concatenate([np.zeros(0, bool), *parts])


def withoutCaps(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return triangles (k, 3) of points (n, 3) that all have an area, without holes where others were removed."""
    hasArea = haveArea(points, cells)
    caps, cells = cells[~hasArea], cells[hasArea]
    caps = caps[(caps != np.roll(caps, 1, axis=1)).all(axis=1)]
    if not len(caps):
        return cells
    linesAt, pointsOn = defaultdict(set), defaultdict(set)
    for line, corners in zip(_lines(caps).tolist(), caps.tolist(), strict=True):
        pointsOn[line].update(corners)
        for corner in corners:
            linesAt[corner].add(line)
    pieces: dict[int, list[tuple[int, ...]]] = {}
    for cell, start, end in _openSides(caps, cells, len(points)).tolist():
        others = set().union(*(pointsOn[line] for line in linesAt[start] & linesAt[end]))
        cuts = [start, *_between(points, start, end, np.array(sorted(others), np.int64)), end]
        # the triangle may already be cut into pieces, one of which has this side
        parts = pieces.setdefault(cell, [tuple(cells[cell].tolist())])
        (part,) = (part for part in parts if (start, end) in zip(part, (*part[1:], part[0])))
        (tip,) = set(part) - {start, end}
        parts.remove(part)
        parts.extend((a, b, tip) for a, b in itertools.pairwise(cuts))
    new = np.array([part for parts in pieces.values() for part in parts], np.int64).reshape(-1, 3)
    return np.concatenate([np.delete(cells, list(pieces), axis=0), new[haveArea(points, new)]])


def _lines(caps: np.ndarray) -> np.ndarray:
    """Return the number (m,) of the line that every cap lies on; caps that share a side lie on the same line."""
    sides = uniqueSides(caps)[1].ravel()
    order = orderRows(sides)
    same = np.diff(sides[order]) == 0
    return components(order[1:][same] // 3, order[:-1][same] // 3, len(caps))


def _openSides(caps: np.ndarray, cells: np.ndarray, count: int) -> np.ndarray:
    """Return sides between points of caps that only one triangle (m, 3) has, as (n, 3): triangle, start and end."""
    isOfCap = np.zeros(count, bool)
    isOfCap[caps] = True
    following, sides = np.roll(cells, -1, axis=1), uniqueSides(cells)[1]
    triangle, slot = np.nonzero(isOfCap[cells] & isOfCap[following] & (np.bincount(sides.ravel())[sides] == 1))
    return np.stack([triangle, cells[triangle, slot], following[triangle, slot]], axis=1)


def _between(points: np.ndarray, start: int, end: int, others: np.ndarray) -> list[int]:
    """Return the numbers of the other points between two points on the same line, in order from start to end."""
    way = points[end] - points[start]
    along = (points[others] - points[start]) @ way / (way @ way)
    along, first = np.unique(along, return_index=True)
    return others[first][(along > 0) & (along < 1)].tolist()
