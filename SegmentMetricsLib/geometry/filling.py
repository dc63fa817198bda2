"""Pixels inside closed contours and voxels inside closed surfaces, by the even-odd rule.

A center is inside if a line from it toward lower numbers crosses the boundary an odd number of times. A center on the
boundary counts as if it were shifted a tiny amount toward higher numbers along every axis. So a box from 2 to 5 has the
centers 2, 3 and 4, and where two structures touch, a center on their common boundary belongs to exactly one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..base.progress import chunks
from .grids import SMALLEST_STEP, roundIndex
from .ranges import levelsOf, partsOf

# Cuts or crossings processed at a time.
PART = 1 << 16
# Far less than the difference between two places of centers, in pixels.
TINY = SMALLEST_STEP / 2
# Layers below this length are accumulated faster line by line than layer by layer.
SHORT = 512
# Irregularities of the contours of one slice: they cross each other so that their areas are joined, or so that one is a
# hole in the other; or they cross or repeat each other where they are combined by exclusive or.
JOINED, CUT, EXCLUSIVE = "joined", "cut", "exclusive"
# A hole may extend beyond the contour around it by at most these fractions of its own area, and of the area around it.
BEYOND, AROUND = 0.1, 0.25


def fillContours(start: np.ndarray, end: np.ndarray, shape: tuple[int, int], isFair: bool = False) -> np.ndarray:
    """Return whether pixels [row, column] have their center inside closed contours.

    start, end: (n, 2) column and row, in pixels, where their line segments start and end. A contour that goes to a hole
    and back along the same line leaves the hole out. The tiny shift of a center on a contour is larger along the
    columns than along the rows. isFair: whether it goes the other way in every second row, so that a slanting line
    through many centers leaves half of them on either side.
    """
    rows, columns = shape
    changes = np.zeros((columns, rows), np.uint8)
    _switch(changes, np.zeros(len(start), np.int64), start.T[::-1], end.T[::-1], rows, isFair)
    return _between(changes).T


def fillSolid(points: np.ndarray, cells: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """Return whether voxels [k, j, i] have their center inside closed surfaces.

    points: (n, 3) voxel indices i, j, k, also outside the voxels. cells: (m, 3) point indices of triangles, an even
    number of them at every edge, in any orientation. The tiny shift of a center on a surface is largest along k and
    smallest along j.
    """
    depth, rows, columns = shape
    changes = np.zeros((depth, rows * columns), np.uint8)
    coordinates = np.ascontiguousarray(points.T[[1, 0, 2]])
    levels = np.clip(np.ceil(coordinates[:2]), 0, [[rows], [columns]]).astype(np.int32)
    for chosen in chunks(len(cells), PART):
        part = cells[chosen]
        # triangles between two rows or two columns of centers cross no line through centers
        for level in levels:
            a, b, c = (level.take(numbers) for numbers in part.T)
            part = part.take(np.flatnonzero((a != b) | (b != c)), axis=0)
        for start, end, row in _cuts(coordinates, levels[0], _ascending(part.T, coordinates[0])):
            _switch(changes, row * columns, start, end, columns)
    return _between(changes).reshape(shape)


def _cuts(coordinates: np.ndarray, levels: np.ndarray, corners: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield the segments in which rows of centers cut triangles: their starts and ends (2, n), and their rows (n,).

    coordinates: (3, p) of points, the first across the rows. levels: (p,) the first row that is not below each point.
    corners: (3, n) points of the triangles, in the order of their first coordinates.
    """
    first, middle, last = levels.take(corners)
    for triangles in partsOf(last - first, PART):
        low, between, high = corners[:, triangles]
        number, row = levelsOf(first[triangles], last[triangles])
        isBelow = row < middle[triangles].take(number)
        low, between, high = (end.take(number) for end in (low, between, high))
        sides = (low, high), (np.where(isBelow, low, between), np.where(isBelow, between, high))
        # both triangles at an edge compute the same point on it, as both go from its lower end to its upper one
        start, end = (_cut(coordinates.take(a, axis=1), coordinates.take(b, axis=1), row) for a, b in sides)
        yield start, end, row


def _ascending(corners: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return the corners (3, n) of triangles, as point numbers, in ascending order of the points' heights."""
    a, b, c = corners
    for _ in range(2):
        isWrong = heights[a] > heights[b]
        a, b = np.where(isWrong, b, a), np.where(isWrong, a, b)
        isWrong = heights[b] > heights[c]
        b, c = np.where(isWrong, c, b), np.where(isWrong, b, c)
    return np.stack([a, b, c])


def _switch(
    changes: np.ndarray, lines: np.ndarray, start: np.ndarray, end: np.ndarray, width: int, isFair: bool = False
) -> None:
    """Toggle the first center behind each crossing of a segment with a line of centers.

    changes: (depth, lines). lines: (n,) the first of the `width` lines next to each other that a segment may cross.
    start, end: (2, n) where it starts and ends, across the lines and along them. isFair: as for fillContours().
    """
    swapped = start[0] > end[0]
    low, high = np.where(swapped, end, start), np.where(swapped, start, end)
    first, last = (np.clip(np.ceil(ends[0]).astype(np.int64), 0, width) for ends in (low, high))
    flat = changes.reshape(-1)
    for segments in partsOf(last - first, PART):
        number, line = levelsOf(first[segments], last[segments])
        (along,) = _cut(low[:, segments].take(number, axis=1), high[:, segments].take(number, axis=1), line)
        if isFair:
            along = roundIndex(along) + np.where(line % 2, TINY, -TINY)
        place = np.clip(np.ceil(along).astype(np.int64), 0, len(changes)) * changes.shape[1]
        place += lines[segments].take(number) + line
        # counting is much faster than toggling bits, and parity survives the overflow
        np.add.at(flat, place[place < len(flat)], np.uint8(1))


def _cut(low: np.ndarray, high: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the other coordinates (d - 1, n) of lines from low to high (d, n) where the first one is `level`."""
    share = (level - low[0]) / (high[0] - low[0])
    return low[1:] + share * (high[1:] - low[1:])


def _between(changes: np.ndarray) -> np.ndarray:
    """Return, in place, whether centers (depth, n) are inside. changes: where the inside begins and ends along them."""
    if changes.shape[1] < SHORT:
        changes &= 1
        np.bitwise_xor.accumulate(changes, axis=0, out=changes)
        return changes.view(bool)
    before = np.uint8(0)
    for layer in changes:
        layer &= 1
        layer ^= before
        before = layer
    return changes.view(bool)


def combineContours(parts: Sequence[np.ndarray], exclusive: Collection[int] = ()) -> tuple[np.ndarray, frozenset[str]]:
    """Return the pixels [row, column] enclosed by the contours of one slice together, and their irregularities.

    A contour inside another is a hole, one inside a hole is an island again, even if it reaches slightly beyond. The
    areas of contours that cross otherwise are joined; one that repeats another counts once. parts: the pixels that each
    of the contours, at least one, encloses. exclusive: numbers of contours that are instead combined with the others by
    exclusive or. Irregularities are some of JOINED, CUT and EXCLUSIVE.
    """
    shape = parts[0].shape
    order = sorted(range(len(parts)), key=lambda number: np.count_nonzero(parts[number]), reverse=True)
    others = [parts[number] for number in order if number in exclusive]
    plain = _different([parts[number] for number in order if number not in exclusive])
    total, isOdd = _either(plain, shape)
    total, odd = _nest(plain, shape) if isOdd else (total, frozenset())
    remaining, isOdd = _either(others, shape)
    if isOdd or len(_different(others)) < len(others):
        odd |= {EXCLUSIVE}
    return total ^ remaining, odd


def _different(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the pixels of contours without repetitions."""
    different: list[np.ndarray] = []
    for part in parts:
        if not any(np.array_equal(part, earlier) for earlier in different):
            different.append(part)
    return different


def _either(parts: Sequence[np.ndarray], shape: tuple[int, ...]) -> tuple[np.ndarray, bool]:
    """Return the pixels in an odd number of contours, and whether some cross. parts: pixels of each, largest first."""
    total, isOdd = np.zeros(shape, bool), False
    for part in parts:
        isOdd = isOdd or np.count_nonzero(total & part) not in (0, np.count_nonzero(part))
        total ^= part
    return total, isOdd


def _nest(parts: Sequence[np.ndarray], shape: tuple[int, ...]) -> tuple[np.ndarray, frozenset[str]]:
    """Return the pixels enclosed by contours some of which cross, and how they cross: JOINED, CUT or both.

    parts: the pixels of each, largest first. Contours at the same nesting depth are joined.
    """
    layers: list[np.ndarray] = []
    depths: list[int] = []
    odd: set[str] = set()
    for number, part in enumerate(parts):
        isInside = [_isInside(part, outer) for outer in parts[:number]]
        depth = max((depths[outer] + 1 for outer in np.flatnonzero(isInside)), default=0)
        shared = [np.count_nonzero(part & outer) for outer in parts[:number]]
        odd.update(CUT if i else JOINED for i, some in zip(isInside, shared) if 0 < some < np.count_nonzero(part))
        depths.append(depth)
        if depth == len(layers):
            layers.append(np.zeros(shape, bool))
        layers[depth] |= part
    total = np.zeros(shape, bool)
    for depth, layer in enumerate(layers):
        total = total & ~layer if depth % 2 else total | layer
    return total, frozenset(odd)


def _isInside(part: np.ndarray, outer: np.ndarray) -> bool:
    """Return whether a contour lies inside a larger one, except for a small part.

    The part must be small compared to the contour, and to the area left around it: two contours drawn for one and the
    same outline extend equally far beyond each other. Two islands overlap less.
    """
    beyond = np.count_nonzero(part & ~outer)
    return bool(beyond <= BEYOND * np.count_nonzero(part) and beyond <= AROUND * np.count_nonzero(outer & ~part))


def splitParts(pixels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the connected parts of pixels [row, column] that do not overlap other pixels."""
    if not (pixels & others).any():
        return pixels
    from scipy.ndimage import label

    parts, number = label(pixels)
    isApart = np.ones(number + 1, bool)
    isApart[parts[others]] = isApart[0] = False
    return isApart[parts]
