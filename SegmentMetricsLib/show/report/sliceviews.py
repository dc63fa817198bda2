"""The slices of a report: axial, sagittal and coronal, through the place of the largest distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from ...base.texts import positionText
from ...case.comparison import Comparison
from ...distances.surfacedistances import TIE_TOLERANCE
from ...geometry.grids import Grid
from ...geometry.surfaces import Surface
from ...metrics.measurement import roundText
from ...model.structures import REFERENCE_AND_TEST
from .figures import worseSide
from .planecuts import BESIDE, Cut, Polyline, cutBeside, distanceFrom, joinSegments, nearestOnSegments, nearestPlace

# The line to the nearest place is drawn in a plane if its projection is at least this fraction of its length (less than
# 20 degrees out of plane), and if it ends within this fraction of its length from the contour.
IN_PLANE, NEAR_CONTOUR = 0.94, 0.1
# There is something to see in a plane if the contour that the place is on is there as long as a circle of this diameter
# in mm, or of this fraction of its extent along the axes of the plane. Else the plane is moved toward the middle of
# that contour, in as many steps as this.
LEAST_SEEN, LEAST_SHARE, MOST_STEPS = 8.0, 0.25, 40
# A normal is along an axis if the absolute value of that component is at least this.
STRAIGHT = 0.9999


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
