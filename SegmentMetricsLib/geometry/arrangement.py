"""Contours that cross, touch or repeat each other, turned into the plain boundary of the area they enclose.

A place is enclosed if an odd number of contours goes around it, as when contours are filled with pixels. Lines are cut
where others cross or meet them. After that, a line that occurs twice has the same on both sides and is not a boundary.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .ranges import levelsOf, partsOf

# Points closer to a line than this fraction of the contours' extent lie on it.
TOUCHING = 1e-9
CHUNK = 1 << 21


def withoutRepeats(loops: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Return the polylines, each given by its line segments (m, 2), without closed ones that repeat an earlier one."""
    different: dict[bytes | int, np.ndarray] = {}
    for number, loop in enumerate(loops):
        sides = np.sort(loop, axis=1)
        isClosed = len(loop) and loop[0, 0] == loop[-1, 1]
        different.setdefault(sides[np.lexsort(sides.T)].tobytes() if isClosed else number, loop)
    return list(different.values())


def cutAtCrossings(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 2) and segments (m, 2) cut where others cross or meet them; points of crossings come last."""
    extent = np.ptp(points, axis=0).max()
    lines, places, cuts, added = (list[np.ndarray]() for _ in range(4))
    for one, other in _neighbors(points, cells):
        a, b, c, d = (points[cells[n, end]] for n in (one, other) for end in (0, 1))
        u, v = b - a, d - c
        lengths = np.linalg.norm(u, axis=1), np.linalg.norm(v, axis=1)
        # ends of either line that lie on the other
        for first, second, start, step, length in ((one, other, a, u, lengths[0]), (other, one, c, v, lengths[1])):
            for end in (0, 1):
                number = cells[second, end]
                to = points[number] - start
                along = (to * step).sum(axis=1) / length**2
                aside = np.abs(cross(step, to)) / length
                margin = TOUCHING * extent / length
                met = (aside <= TOUCHING * extent) & (along > margin) & (along < 1 - margin)
                met &= (number != cells[first, 0]) & (number != cells[first, 1])
                lines.append(first[met])
                places.append(along[met])
                cuts.append(number[met])
        # proper crossings: the ends of each lie clearly on different sides of the other
        sideC, sideD = cross(u, c - a) / lengths[0], cross(u, d - a) / lengths[0]
        sideA, sideB = cross(v, a - c) / lengths[1], cross(v, b - c) / lengths[1]
        clear = np.min(np.abs([sideA, sideB, sideC, sideD]), axis=0) > TOUCHING * extent
        crossed = np.flatnonzero(clear & (sideA * sideB < 0) & (sideC * sideD < 0))
        alongOne = sideA[crossed] / (sideA[crossed] - sideB[crossed])
        alongOther = sideC[crossed] / (sideC[crossed] - sideD[crossed])
        numbers = len(points) + sum(map(len, added)) + np.arange(len(crossed))
        added.append(a[crossed] + alongOne[:, None] * u[crossed])
        lines += [one[crossed], other[crossed]]
        places += [alongOne, alongOther]
        cuts += [numbers, numbers]
    if not sum(map(len, lines)):
        return points, cells
    new = np.concatenate(added)
    line, place, point = np.concatenate(lines), np.concatenate(places), np.concatenate(cuts)
    # the points of every line: its start, its cuts, its end
    count = len(cells)
    line = np.concatenate([np.arange(count), line, np.arange(count)])
    place = np.concatenate([np.full(count, -1.0), place, np.full(count, 2.0)])
    point = np.concatenate([cells[:, 0], point, cells[:, 1]])
    order = np.lexsort((place, line))
    line, point = line[order], point[order]
    inLine = (line[1:] == line[:-1]) & (point[1:] != point[:-1])
    return np.concatenate([points, new]), np.stack([point[:-1], point[1:]], axis=1)[inLine]


def dropShared(cells: np.ndarray) -> np.ndarray:
    """Return the line segments (m, 2) that occur an odd number of times, once each, in their original order."""
    _, first, counts = np.unique(np.sort(cells, axis=1), axis=0, return_index=True, return_counts=True)
    return cells[np.sort(first[counts % 2 == 1])]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cross products (n,) of vectors (n, 2) in a plane."""
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _neighbors(points: np.ndarray, cells: np.ndarray) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs of line segments whose bounding boxes meet, in large batches."""
    low, high = points[cells].min(axis=1), points[cells].max(axis=1)
    order = np.argsort(low[:, 0], kind="stable")
    # candidates of each segment: the later ones in this order that begin before it ends
    last = np.searchsorted(low[order, 0], high[order, 0], side="right")
    following = np.arange(1, len(cells) + 1)
    for part in partsOf(last - following, CHUNK):
        one, other = levelsOf(following[part], last[part])
        one, other = order[one + part.start], order[other]
        meet = (low[one, 1] <= high[other, 1]) & (low[other, 1] <= high[one, 1])
        yield one[meet], other[meet]
