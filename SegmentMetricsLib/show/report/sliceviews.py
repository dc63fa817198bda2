"""The slices of a report: axial, sagittal and coronal, through the place of the largest distance.

Few triangles of a large surface reach a plane or a point. They are found with a byte per corner, whose bits encode
beyond which sides of a box it lies: a triangle whose corners share such a bit is not in the box. Surfaces may be open:
their lines then have ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from ...base.texts import positionText
from ...case.comparison import Comparison
from ...distances.surfacedistances import TIE_TOLERANCE
from ...geometry.crosssections import cut
from ...geometry.grids import Grid, affine
from ...geometry.surfaces import Surface
from ...geometry.triangles import closestPoints
from ...metrics.measurement import roundText
from ...model.structures import REFERENCE_AND_TEST
from .figures import worseSide

# The line to the nearest place is drawn in a plane if its projection is at least this fraction of its length (less than
# 20 degrees out of plane), and if it ends within this fraction of its length from the contour.
IN_PLANE, NEAR_CONTOUR = 0.94, 0.1
# There is something to see in a plane if the contour that the place is on is there as long as a circle of this diameter
# in mm, or of this fraction of its extent along the axes of the plane. Else the plane is moved toward the middle of
# that contour, in as many steps as this.
LEAST_SEEN, LEAST_SHARE, MOST_STEPS = 8.0, 0.25, 40
# A normal is along an axis if the absolute value of that component is at least this.
STRAIGHT = 0.9999
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


def cutAcross(surface: Surface, axes: np.ndarray, origin: np.ndarray, step: float, count: int) -> list[Cut]:
    """Return the cuts of a surface with planes side by side, from the first one on.

    axes: (3, 3) unit vectors along patient axes, in columns: two that span the planes, and their normal. origin: (3,)
    of the first plane. step: from one to the next, mm. The segments are in mm from the origin along the first two axes.
    """
    grid = Grid((1, 1, max(count, 2)), affine(axes * (1, 1, step), origin))
    found = cut(surface, grid, within=(0, count - 1))
    rows = np.searchsorted(found.slices, np.arange(count + 1))
    parts = [slice(first, end) for first, end in itertools.pairwise(rows)]
    return [Cut(found.start[part], found.end[part], found.starts[part], found.ends[part]) for part in parts]


def cutBeside(surface: Surface, place: np.ndarray, axes: np.ndarray, beside: float) -> list[Cut]:
    """Return the cuts of a surface with the two planes beside a place, in mm from it; axes: as for cutAcross().

    place: (3,) LPS in mm. beside: mm from the place to the planes, against the normal and along it.
    """
    axis = int(np.abs(axes[:, 2]).argmax())
    reach = np.where(np.arange(3) == axis, 2 * beside, np.inf)
    near = _cellsWithin(surface, place - reach, place + reach)
    used, cells = np.unique(surface.cells.take(near, axis=0), return_inverse=True)
    few = Surface(surface.points.take(used, axis=0) - place, cells.reshape(-1, 3))
    return cutAcross(few, axes, -beside * axes[:, 2], 2 * beside, 2)


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


def thinLines(lines: Sequence[Polyline], tolerance: float) -> list[Polyline]:
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
    result = thinLines(lines, tolerance)
    while sum(len(line.points) for line in result) > most:
        tolerance *= 2
        for number, line in enumerate(result):
            if not len(line.points) or np.ptp(line.points, axis=0).max() <= tolerance:
                result[number] = line._replace(points=line.points[:0])
        result = thinLines(result, tolerance)
    return result


class SliceView(NamedTuple):
    """An anatomical plane in radiological convention.

    axis: index of the LPS axis normal to the plane. axes: (3, 3) unit vectors as columns: right and down in the
    picture, and normal to it, toward L, P or S. letters: on the left, right, top and bottom.
    """

    name: str
    axis: int
    axes: np.ndarray
    letters: str


L, P, S = np.eye(3)
VIEWS = (
    SliceView("axial", 2, np.column_stack([L, P, S]), "RLAP"),
    SliceView("sagittal", 0, np.column_stack([P, -S, L]), "APSI"),
    SliceView("coronal", 1, np.column_stack([L, -S, P]), "RLSI"),
)


def viewAcross(comparison: Comparison) -> tuple[SliceView, Grid | None]:
    """Return the plane of the slices of a pair's image, and its grid with the slices along k; axial without one."""
    mask = comparison.reference.mask or comparison.test.mask
    if mask is None:
        return VIEWS[0], None
    grid = mask.grid.slicesLast()
    axis = int(np.abs(grid.direction[:, 2]).argmax())
    return next(view for view in VIEWS if view.axis == axis), grid


class Largest(NamedTuple):
    """The largest distance in mm, the side ("reference" or "test") it was measured from, and its place (3,), LPS mm."""

    distance: float
    side: str
    position: np.ndarray

    @property
    def isAny(self) -> bool:
        """Whether the boundaries differ at all."""
        return self.distance > TIE_TOLERANCE

    def sentence(self) -> str:
        """Return a sentence with the largest distance and its place."""
        where = f"{positionText(self.position)}, on the {self.side}'s contour"
        return f"Largest distance: {roundText(self.distance, 2)} mm at {where}."


class Picture(NamedTuple):
    """A slice through the place of the largest distance.

    place: (3,) LPS position of the largest distance, or of the middle of equal contours, mm. at: LPS coordinate of the
    plane, mm. contours: lines of the reference and the test, mm from the place. end: (2,) the nearest place on the
    other boundary, in the coordinates of the contours, None if it is not in the plane or does not exist. behind: signed
    distance of the nearest place from the plane along its normal, mm. moved: signed distance of the plane from the
    place along its normal, mm; not 0 where there is too little to see in the plane of the place.
    """

    view: SliceView
    place: np.ndarray
    at: float
    contours: tuple[list[Polyline], list[Polyline]]
    end: np.ndarray | None
    behind: float
    moved: float = 0.0


def largestOf(comparison: Comparison) -> Largest:
    """Return the largest distance of a comparison that has distances."""
    side = worseSide(comparison)
    direction = comparison.knownDistances.directions[REFERENCE_AND_TEST.index(side)]
    # if several places are equally far, use the one in the list of worst places
    listed = [place for place in comparison.worstPlaces[:1] if place.side == side]
    isSame = bool(listed) and abs(abs(listed[0].value) - direction.largest) <= TIE_TOLERANCE
    position = listed[0].position if isSame else direction.largestPlace
    return Largest(float(direction.largest), side, np.array(position, float))


def picturesOf(comparison: Comparison) -> list[Picture]:
    """Return the slices of the reference's and the test's boundary: three for surfaces, one or none for contours."""
    surfaces = [direction.surface for direction in comparison.knownDistances.directions]
    largest, way = largestOf(comparison), None
    place = largest.position if largest.isAny else np.mean(surfaces[0].box, axis=0)
    own = REFERENCE_AND_TEST.index(largest.side)
    pictures = []
    if surfaces[0].dimension == 2:
        # the one in the plane of the contours, which is normal to an anatomical axis unless it is oblique
        normal = np.abs(cast(np.ndarray, surfaces[0].normal))
        for view in (view for view in VIEWS if normal[view.axis] >= STRAIGHT):
            cuts = []
            for surface in surfaces:
                points = (surface.points - place) @ view.axes[:, :2]
                cuts.append(Cut(*(points[column] for column in surface.cells.T), *surface.cells.T))
            if largest.isAny:
                way = view.axes[:, :2] @ nearestOnSegments(cuts[1 - own])
            pictures.append(_picture(view, place, cuts, way, own))
        return pictures
    if largest.isAny:
        way = nearestPlace(surfaces[1 - own].target, place, largest.distance) - place
    beside = BESIDE * float(np.ptp([surface.box for surface in surfaces], axis=(0, 1)).max())
    for view in VIEWS:
        cuts, moved = _cutsToSee(surfaces, place, view, own, beside)
        pictures.append(_picture(view, place, cuts, way, own, moved))
    return pictures


def _cutsToSee(
    surfaces: Sequence[Surface], place: np.ndarray, view: SliceView, own: int, beside: float
) -> tuple[list[Cut], float]:
    """Return the cuts of both surfaces with a plane in which there is something to see, and how far it was moved.

    It is the plane through the place, unless the place lies at a tip. own: 0 if the place is on the reference, 1 if it
    is on the test.
    """
    low, high = surfaces[own].box
    inward = float((low + high)[view.axis] / 2 - place[view.axis])
    first: list[Cut] = []
    for moved in np.linspace(0, inward, MOST_STEPS + 1).tolist():
        at = place + moved * view.axes[:, 2]
        # the contours are in mm from the place, whose coordinates in the plane do not change
        cuts = [cutBeside(surface, at, view.axes, beside) for surface in surfaces]
        # choose the one of the two planes in which the contour is closer to the place
        before, behind = map(distanceFrom, cuts[own])
        chosen = [both[int(behind < before - 3 * beside)] for both in cuts]
        first = first or chosen
        length = float(np.linalg.norm(chosen[own].end - chosen[own].start, axis=1).sum())
        whole = float(np.delete(high - low, view.axis).max())
        if length >= np.pi * min(LEAST_SEEN, LEAST_SHARE * whole):
            return chosen, moved
    return first, 0.0


def _picture(
    view: SliceView, place: np.ndarray, cuts: Sequence[Cut], way: np.ndarray | None, own: int, moved: float = 0.0
) -> Picture:
    """Return a picture.

    place: (3,) LPS in mm. way: (3,) from there to the nearest place on the other boundary, mm, None to show none. own:
    0 if the place is on the reference, 1 if it is on the test. moved: of the plane from the place, mm.
    """
    contours = (joinSegments(cuts[0]), joinSegments(cuts[1]))
    at = float(place[view.axis]) + moved
    if way is None:
        return Picture(view, place, at, contours, None, 0.0, moved)
    right, down, behind = way @ view.axes
    end, length = np.array([right, down]), np.linalg.norm(way)
    other = cuts[1 - own]
    toContour = distanceFrom(other._replace(start=other.start - end, end=other.end - end))
    isIn = np.linalg.norm(end) >= IN_PLANE * length and toContour <= NEAR_CONTOUR * length
    return Picture(view, place, at, contours, end if isIn and not moved else None, float(behind) - moved, moved)
