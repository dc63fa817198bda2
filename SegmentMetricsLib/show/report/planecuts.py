"""Cuts of surfaces with planes across the patient axes, as lines to be drawn, and the place next to a point.

Few triangles of a large surface reach a plane or a point. They are found with a byte per corner, whose bits encode
beyond which sides of a box it lies: a triangle whose corners share such a bit is not in the box. Surfaces may be open:
their lines then have ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...geometry.crosssections import CrossSections, cut
from ...geometry.grids import Grid
from ...geometry.surfaces import Surface
from ...geometry.triangles import closestPoints

# Offset of planes beside a place, as a fraction of the surfaces' extent: a plane that contains a flat end of a surface,
# as surfaces of masks have, would cut nothing.
BESIDE = 1e-4


class Polyline(NamedTuple):
    """A line through points (n, 2). isClosed: whether it goes back to the first one from the last."""

    points: np.ndarray
    isClosed: bool


class Cut(NamedTuple):
    """Segments (m, 2) from start to end, and numbers (m,) of the places there, equal where one continues another."""

    start: np.ndarray
    end: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def bySlice(cls, found: CrossSections, count: int) -> list[Cut]:
        """Return the segments of each of so many slices."""
        rows = np.searchsorted(found.slices, np.arange(count + 1))
        parts = [slice(first, end) for first, end in itertools.pairwise(rows)]
        return [cls(found.start[part], found.end[part], found.starts[part], found.ends[part]) for part in parts]


def cutBeside(surface: Surface, place: np.ndarray, axes: np.ndarray, beside: float) -> tuple[Cut, Cut]:
    """Return the cuts of a surface with the two planes beside a place.

    place: (3,) LPS in mm. axes: (3, 3) unit vectors along patient axes, in columns: two that span the planes, and their
    normal. beside: mm from the place to the planes, against the normal and along it. The segments are in mm from the
    place along the first two axes.
    """
    axis = int(np.abs(axes[:, 2]).argmax())
    reach = np.where(np.arange(3) == axis, 2 * beside, np.inf)
    near = _cellsWithin(surface, place - reach, place + reach)
    used, cells = np.unique(surface.cells.take(near, axis=0), return_inverse=True)
    few = Surface(surface.points.take(used, axis=0) - place, cells.reshape(-1, 3))
    matrix = np.eye(4)
    matrix[:3, :3] = axes * (1, 1, 2 * beside)
    matrix[:3, 3] = -beside * axes[:, 2]
    before, behind = Cut.bySlice(cut(few, Grid((1, 1, 2), matrix), within=(0, 1)), 2)
    return before, behind


def nearestPlace(surface: Surface, place: np.ndarray, distance: float) -> np.ndarray:
    """Return the place (3,) of a surface that is next to a place (3,), LPS in mm. distance: of the two, about, mm."""
    near = _cellsWithin(surface, place - 1.01 * distance, place + 1.01 * distance)
    corners = surface.corners(near if len(near) else np.arange(len(surface.cells)))
    found = closestPoints(np.zeros((1, 3)), corners - place)
    return place + found[np.linalg.norm(found, axis=1).argmin()]


def _cellsWithin(surface: Surface, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the numbers of the triangles that may reach into a box from low (3,) to high (3,), mm."""
    codes = np.zeros(len(surface.points), np.uint8)
    for axis, column in enumerate(surface.points.T):
        for bit, (isBeyond, limit) in enumerate(((np.less, low[axis]), (np.greater, high[axis])), 2 * axis):
            if np.isfinite(limit):
                codes |= isBeyond(column, limit).view(np.uint8) << bit
    shared, *others = (codes.take(corner) for corner in surface.cells.T)
    for other in others:
        shared &= other
    return np.flatnonzero(shared == 0)


def nearestOnSegments(segments: Cut) -> np.ndarray:
    """Return the place (2,) on segments that is next to the origin of their plane, mm; there must be a segment."""
    step = segments.end - segments.start
    squared = np.einsum("ij,ij->i", step, step)
    along = -np.einsum("ij,ij->i", segments.start, step) / np.where(squared > 0, squared, 1)
    places = segments.start + np.clip(along, 0, 1)[:, None] * step
    return places[np.einsum("ij,ij->i", places, places).argmin()]


def distanceFrom(segments: Cut) -> float:
    """Return the distance of segments from the origin of their plane, mm; infinite if there are none."""
    return float(np.linalg.norm(nearestOnSegments(segments))) if len(segments.start) else float("inf")


def joinSegments(segments: Cut) -> list[Polyline]:
    """Return segments joined to lines, as long as possible."""
    starts: dict[int, list[int]] = {}
    for row, place in enumerate(segments.starts.tolist()):
        starts.setdefault(place, []).append(row)
    # of several that start at one place, each continues another
    following = [of.pop(0) if (of := starts.get(place)) else -1 for place in segments.ends.tolist()]
    # lines that have a beginning come first
    heads = sorted(range(len(following)), key=set(following).__contains__)
    isDone, lines = bytearray(len(following)), []
    for head in heads:
        row, rows = head, []
        while row >= 0 and not isDone[row]:
            isDone[row] = True
            rows.append(row)
            row = following[row]
        if rows:
            isClosed = row == head
            last = segments.end[rows[-1:]][: 0 if isClosed else 1]
            lines.append(Polyline(np.concatenate([segments.start[rows], last]), isClosed))
    return lines


def thin(lines: Sequence[Polyline], tolerance: float) -> list[Polyline]:
    """Return lines through a subset of their points that the other points are within a tolerance of.

    Lines without points stay as they are.

    All spans are divided at once, each at its farthest point, until no point is too far.
    Source: Douglas and Peucker, Algorithms for the reduction of the number of points, Cartographica 10, 1973,
    doi:10.3138/FM57-6770-U75U-7727.
    """
    if not lines:
        return []
    # closed lines get their first point at their end, too
    whole = [np.concatenate([line.points, line.points[: int(line.isClosed)]]) for line in lines]
    points, ends = np.concatenate(whole), np.cumsum([len(some) for some in whole])
    isKept = np.zeros(len(points) + 1, bool)  # one extra entry, as the last line may be without points
    isKept[ends - 1] = isKept[np.append(0, ends)] = True
    isKept = isKept[:-1]
    while len(points):
        kept = np.flatnonzero(isKept)
        span = np.cumsum(isKept) - 1
        start, step = points[kept], np.diff(points[kept], axis=0, append=points[-1:])
        squared = np.einsum("ij,ij->i", step, step)
        way = points - start.take(span, axis=0)
        step, squared = step.take(span, axis=0), squared.take(span)
        along = np.einsum("ij,ij->i", way, step) / np.where(squared > 0, squared, 1)
        way -= np.clip(along, 0, 1)[:, None] * step
        away = np.einsum("ij,ij->i", way, way)
        away[kept] = 0
        farthest = np.maximum.reduceat(away, kept).take(span)
        rows = np.flatnonzero((away == farthest) & (farthest > tolerance**2))
        if not len(rows):
            break
        # the first of equally far points
        isKept[rows[np.diff(span[rows], prepend=-1) > 0]] = True
    parts = [some[chosen] for some, chosen in zip(whole, np.split(isKept, ends[:-1]), strict=True)]
    return [
        Polyline(part[: len(part) - int(line.isClosed)], line.isClosed) for line, part in zip(lines, parts, strict=True)
    ]


def thinToFew(lines: Sequence[Polyline], tolerance: float, most: int) -> list[Polyline]:
    """Return thinned lines with at most so many points in all; lines too small to be visible may become empty.

    tolerance: to begin with; it is doubled until there are few enough points.
    """
    result = thin(lines, tolerance)
    while sum(len(line.points) for line in result) > most:
        tolerance *= 2
        for number, line in enumerate(result):
            if not len(line.points) or np.ptp(line.points, axis=0).max() <= tolerance:
                result[number] = line._replace(points=line.points[:0])
        result = thin(result, tolerance)
    return result
