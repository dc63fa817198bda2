"""Contours slice by slice: of cross-sections, resampled, cut in two.

A contour is a closed polygon in the plane of its slice. Coordinates are those of the slice, in mm or in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from ..base.progress import checkpoint
from .crosssections import CrossSections, cycles, follow, trace
from .grids import Grid, roundIndex
from .masks import Mask
from .surfaces import Surface

# Coordinates that differ by less than this fraction of a contour's size are equal.
SAME = 1e-7
# A contour may be cut if it encloses more than this many pixels and its convex hull is larger by more than this factor.
# Only notches deeper than this fraction of the deepest one count.
SMALLEST_CUT_AREA, LEAST_HULL_RATIO, LEAST_NOTCH = 50.0, 1.2, 0.5


@dataclass(frozen=True, eq=False)
class Contour:
    """A closed polygon of points (n, 2), the last joined to the first, with the inside of the structure on its left."""

    points: np.ndarray

    @cached_property
    def steps(self) -> np.ndarray:
        """(n, 2) from every point to the next."""
        return np.roll(self.points, -1, axis=0) - self.points

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n,) of the steps."""
        return np.hypot(*self.steps.T)

    @cached_property
    def area(self) -> float:
        """The enclosed area, negative for a hole, which the structure lies around."""
        local = self.points - self.points[0]
        x, y = local.T
        return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2

    @property
    def isHole(self) -> bool:
        return self.area < 0

    @cached_property
    def center(self) -> np.ndarray:
        """(2,) center of mass of the line."""
        return self.lengths @ (self.points + self.steps / 2) / self.lengths.sum()

    def resample(self, step: float, start: int = 0) -> np.ndarray:
        """Return points (m, 2) at equal steps along the contour, no longer than `step`, from its point `start` on."""
        lengths = np.roll(self.lengths, -start)
        points = np.roll(self.points, -start, axis=0)
        ends = np.concatenate([[0.0], np.cumsum(lengths)])
        count = max(3, int(np.ceil(ends[-1] / step * (1 - SAME))))
        positions = np.arange(count) * (ends[-1] / count)
        closed = np.concatenate([points, points[:1]])
        return np.stack([np.interp(positions, ends, closed[:, axis]) for axis in (0, 1)], axis=1)

    def startToward(self, direction: np.ndarray, other: Contour) -> int:
        """Return the index of a starting point that depends neither on how the slice is stored nor on where it lies.

        It is the point farthest from the center; among several, the one farthest in a direction (2,), then the one
        farthest from another contour, with both centers aligned.
        """
        offsets = self.points - self.center
        radii = np.hypot(*offsets.T)
        size = radii.max()
        chosen = np.flatnonzero(radii >= size * (1 - SAME))
        for isApart in (False, True):
            if len(chosen) == 1:
                break
            if isApart:
                apart = offsets[chosen][:, None] - (other.points - other.center)
                values = np.linalg.norm(apart, axis=2).min(axis=1)
            else:
                values = offsets[chosen] @ direction
            chosen = chosen[values >= values.max() - SAME * size]
        return int(chosen[0])


class Chain(Contour):
    """The pixels along the inside of an outer contour, each sharing a side or a corner with the one before."""

    isHole = False

    @cached_property
    def center(self) -> np.ndarray:
        """(2,) mean of the pixels."""
        return self.points.mean(axis=0)


@dataclass(frozen=True, eq=False)
class Planes:
    """The slices of a grid, and coordinates in them.

    axis: the grid's axis across the slices. scale: (2, 2) maps pixels along the other two axes, in the order of the
    grid, to coordinates. unit: "mm" or "pixel".
    """

    grid: Grid
    axis: int
    unit: str

    @property
    def kept(self) -> list[int]:
        return [axis for axis in range(3) if axis != self.axis]

    @cached_property
    def scale(self) -> np.ndarray:
        if self.unit == "pixel":
            return np.eye(2)
        upright = np.linalg.qr(self.grid.axes[:, self.kept], mode="r")
        # no reflection: left stays left
        return upright * np.sign(np.diag(upright))[:, None]

    @property
    def step(self) -> float:
        """Half the smaller side of a pixel."""
        return 0.5 if self.unit == "pixel" else float(self.grid.spacing[self.kept].min()) / 2

    @property
    def pixelArea(self) -> float:
        return abs(float(np.linalg.det(self.scale)))

    def toWorld(self, index: int, position: np.ndarray) -> np.ndarray:
        """Return the LPS position (3,) in mm of a position (2,) in the slice with an index."""
        full = np.empty(3)
        full[self.axis] = index
        full[self.kept] = np.linalg.solve(self.scale, position)
        return self.grid.toWorld(full[None])[0]


def chains(mask: Mask, planes: Planes) -> dict[int, list[Chain]]:
    """Return the outer contours of every slice of a mask, through the centers of boundary pixels, by slice index.

    Pixels that share a corner are connected. Holes are left out.
    """
    pixels, outward, slices, starts = trace(mask, planes.axis, joined=True)
    found: dict[int, list[Chain]] = {}
    loops = (np.split(places @ planes.scale.T, starts[1:]) for places in (pixels.astype(float), pixels + outward / 2))
    for through, between, index in zip(*loops, slices[starts].tolist(), strict=True):
        ofSlice = found.setdefault(index, [])
        if not Contour(between).isHole:  # which the contour between the pixels shows
            ofSlice.append(Chain(_withoutRepeats(through)))
    return found


def _withoutRepeats(points: np.ndarray) -> np.ndarray:
    """Return the points (n, 2) of a closed polygon without consecutive repeats."""
    kept = (points != np.roll(points, 1, axis=0)).any(axis=1)
    return points[kept] if kept.any() else points[:1]


def ofSurface(surface: Surface, planes: Planes) -> dict[int, list[Contour]]:
    """Return the contours of a surface in the one slice of a planar grid, which lies in their plane."""
    points = planes.grid.toIndex(surface.points)[:, planes.kept] @ planes.scale.T
    start, end = surface.cells.T
    numbers, starts = cycles(follow(start, end))
    loops = np.split(points[start[numbers]], starts[1:])
    contours = [Contour(loop) for loop in loops]
    if np.linalg.det(np.column_stack([planes.grid.axes[:, planes.kept], cast(np.ndarray, surface.normal)])) < 0:
        contours = [Contour(contour.points[::-1]) for contour in contours]
    return {0: contours}


def ofSections(sections: CrossSections, planes: Planes) -> dict[int, list[Contour]]:
    """Return the contours of cross-sections with the slices of the planes' grid, by slice index."""
    if sections.isEmpty:
        return {}
    numbers, starts = cycles(follow(sections.starts, sections.ends))
    loops = np.split(roundIndex(sections.start)[numbers], starts[1:])
    found: dict[int, list[Contour]] = {}
    for points, index in zip(loops, sections.slices[numbers[starts]].tolist(), strict=True):
        contour = Contour(_withoutRepeats(points))
        # the contour of something that only touches a plane runs back and forth along a line
        if abs(contour.area) > SAME * contour.lengths.sum() ** 2:
            points = np.roll(contour.points, -_firstTraced(contour), axis=0)
            found.setdefault(index, []).append(Contour(points @ planes.scale.T))
    return found


def _firstTraced(contour: Contour) -> int:
    """Return the index of the point at which trace() would begin a contour, given in pixels, if it runs around pixels.

    Among equally good starting points, the first one of a contour is chosen, so it must not depend on how the contour
    was made.
    """
    lowest = np.lexsort(contour.points.T)[0]
    if contour.isHole:
        return int(lowest)
    # the lowest point is below the first pixel, whose other sides come first, in this order: right, above, left
    for step in ((0.5, 0.5), (0.0, 1.0), (-0.5, 0.5)):
        away = np.abs(contour.points - contour.points[lowest] - step).max(axis=1)
        if away.min() <= 10 * SAME:
            return int(away.argmin())
    return int(lowest)


def cutApart(given: Sequence[Contour], count: int, pixelArea: float) -> list[Contour]:
    """Return contours of one slice, cut where they look like touching ones until there are `count`, if possible.

    pixelArea: in the square of the contours' unit. Source: the splitting of Fazekas et al., arXiv:2508.09722.
    """
    contours = list(given)
    while len(contours) < count:
        checkpoint()
        cuts = [(number, cut) for number, c in enumerate(contours) if (cut := _cutOf(c, pixelArea)) is not None]
        if not cuts:
            break
        # the shortest cut first
        number, (first, second, _) = min(cuts, key=lambda found: found[1][2])
        points = contours[number].points
        one, other = points[first : second + 1], np.concatenate([points[second:], points[: first + 1]])
        contours[number : number + 1] = [Contour(one), Contour(other)]
    return contours


def _cutOf(contour: Contour, pixelArea: float) -> tuple[int, int, float] | None:
    """Return the indices (ascending) of the two points between which a contour is cut, and its length, or None."""
    from scipy.spatial import ConvexHull

    if contour.isHole or contour.area <= SMALLEST_CUT_AREA * pixelArea:
        return None
    hull = ConvexHull(contour.points)
    # for a polygon in the plane, `volume` is the area
    if hull.volume <= LEAST_HULL_RATIO * contour.area:
        return None
    notches = [n for n in _notches(contour, np.sort(hull.vertices)) if n[0] > 0]
    deepest = max((depth for depth, _ in notches), default=0.0)
    deep = [points for depth, points in notches if depth > LEAST_NOTCH * deepest]
    best: tuple[int, int, float] | None = None
    for number, mine in enumerate(deep):
        for others in deep[number + 1 :]:
            ends = contour.points[mine][:, None], contour.points[others][None]
            lengths = np.hypot(*np.moveaxis(ends[1] - ends[0], 2, 0))
            # among equally long cuts, the one nearest to the center
            away = np.hypot(*np.moveaxis((ends[0] + ends[1]) / 2 - contour.center, 2, 0))
            ties = lengths <= lengths.min() + SAME * contour.lengths.sum()
            a, b = np.unravel_index(np.where(ties, away, np.inf).argmin(), lengths.shape)
            if best is None or lengths[a, b] < best[2]:
                ordered = sorted((int(mine[a]), int(others[b])))
                best = ordered[0], ordered[1], float(lengths[a, b])
    return best


def _notches(contour: Contour, hull: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Return the depth of every notch below the convex hull, and its deepest points. hull: its points, ascending."""
    found = []
    for first, last in zip(hull, np.roll(hull, -1), strict=True):
        between = np.arange(first + 1, last if last > first else last + len(contour.points)) % len(contour.points)
        if not len(between):
            continue
        chord = contour.points[last] - contour.points[first]
        offsets = contour.points[between] - contour.points[first]
        depths = np.abs(chord[0] * offsets[:, 1] - chord[1] * offsets[:, 0]) / np.hypot(*chord)
        found.append((float(depths.max()), between[depths >= depths.max() - SAME * contour.lengths.sum()]))
    return found
