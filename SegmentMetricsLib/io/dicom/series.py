"""The image that contours were drawn on, as a grid of voxels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...base.errors import InputError
from ...base.progress import checkpoint
from ...geometry.grids import Grid, affine
from . import planes
from .images import Image
from .neighbors import FRAMES, areEnough, filesNear, sliceOf
from .opening import readable
from .unevenslices import Slabs

# Least distance of slices in mm.
SMALLEST_STEP = 1e-6
# Relative difference up to which the pixels of two slices are of one size, and two slices are equally thick.
SAME_SIZE, SAME_THICKNESS = 1e-3, 0.02
SHARED = "SharedFunctionalGroupsSequence"
GEOMETRY = (
    "SOPInstanceUID",
    "SeriesInstanceUID",
    "ImageOrientationPatient",
    "PixelSpacing",
    "Rows",
    "Columns",
    "SliceThickness",
    SHARED,
)


@dataclass(frozen=True, eq=False)
class Slice:
    """A slice of an image, or a frame of an image with several.

    instance, series: UIDs. position: (3,) of the first pixel, LPS mm. directions: (2, 3) unit vectors along a row and
    down a column. spacing: (2,) from column to column and from row to row in mm. size: columns, rows. thickness: in mm,
    0 if unknown.
    """

    instance: str
    series: str
    position: np.ndarray
    directions: np.ndarray
    spacing: np.ndarray
    size: tuple[int, int]
    thickness: float

    @property
    def normal(self) -> np.ndarray:
        """(3,) unit vector across the slice, LPS."""
        return np.cross(*self.directions)

    def isLike(self, other: Slice) -> bool:
        """Return whether another slice has as many pixels, of the same size and directions."""
        return (
            self.size == other.size
            and bool((np.abs(self.spacing - other.spacing) <= SAME_SIZE * other.spacing).all())
            and bool((np.abs(self.directions - other.directions) <= SAME_SIZE).all())
        )


def findSlices(path: Path, image: Image) -> list[Slice]:
    """Return the slices of an image near a file: in its folder, below it, or in the folders beside its own.

    They are all slices of its series; others that are named are slices of the image all the same, and identify the
    series if it is unknown.
    """
    series, wanted = image.series, image.instances
    found: dict[str, list[Slice]] = {}
    for files in filesNear(path):
        bySeries: dict[str, dict[str, list[Slice]]] = {}
        for file in files:
            checkpoint()
            header = sliceOf(file, GEOMETRY)
            with suppress(InputError), readable():  # a neighbor that cannot be read is not a slice of the image
                for one in [] if header is None else list(slicesIn(header)):
                    bySeries.setdefault(one.series, {}).setdefault(one.instance, []).append(one)
        for uid, byInstance in bySeries.items():
            if uid == series or (wanted and wanted & byInstance.keys()):
                found = {**byInstance, **found}
        if found and areEnough(found, wanted):
            break
    return [one for frames in found.values() for one in frames]


def slicesIn(header) -> Iterator[Slice]:
    """Yield the slices in an image, or its frames, as far as they lie in the patient."""
    shared: Mapping = next(iter(header.get(SHARED, None) or ()), {})
    for frame in header.get(FRAMES, None) or (header,):

        def valueOf(sequence: str, name: str, frame=frame):
            groups = (frame.get(sequence, None), shared.get(sequence, None))
            items: Iterable[Mapping] = (next(iter(group or ()), {}) for group in groups)
            return next((item[name].value for item in (*items, header) if item.get(name, None) is not None), None)

        spacing = np.array(valueOf("PixelMeasuresSequence", "PixelSpacing"), float)[::-1]
        directions = np.array(valueOf("PlaneOrientationSequence", "ImageOrientationPatient"), float).reshape(2, 3)
        position = np.array(valueOf("PlanePositionSequence", "ImagePositionPatient"), float)
        if position.shape != (3,) or spacing.shape != (2,) or not np.isfinite([*position, *directions.ravel()]).all():
            continue
        yield Slice(
            str(header.SOPInstanceUID),
            str(header.get("SeriesInstanceUID", "")),
            position,
            directions,
            spacing,
            (int(header.Columns), int(header.Rows)),
            float(valueOf("PixelMeasuresSequence", "SliceThickness") or 0.0),
        )


def groupsOf(slices: Sequence[Slice]) -> list[list[Slice]]:
    """Return slices in groups of one geometry: a scout and a second reconstruction are groups of their own."""
    groups: list[list[Slice]] = []
    for one in slices:
        group = next((group for group in groups if one.isLike(group[0])), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


def contoursOn(slices: Sequence[Slice], loops: Sequence[np.ndarray]) -> int:
    """Return how many contours, LPS points (n, 3) in mm each, lie on slices, all of which are parallel to the first."""
    if not slices:
        return 0
    heights, normal = heightsOfSlices(slices), slices[0].normal
    drawn = planes.heightsOf(planes.alongPlanes(loops, normal), normal)
    return sum(bool(np.abs(heights - height).min() <= planes.TENTH) for height in drawn)


def withoutRepeats(slices: Sequence[Slice]) -> list[Slice]:
    """Return slices of one geometry in ascending order along their normal; of several at one place, the first."""
    heights = heightsOfSlices(slices)
    nearest = max(planes.ROUNDING, planes.SAME_PLANE * (planes.usualDistance(heights) or 0.0))
    kept: list[int] = []
    for number in np.argsort(heights, kind="stable").tolist():
        if not kept or heights[number] - heights[kept[-1]] > nearest:
            kept.append(number)
    return [slices[number] for number in kept]


def stackSlices(
    group: Sequence[Slice], slices: Sequence[Slice], instances: Collection[str], contoured: np.ndarray
) -> list[Slice]:
    """Return the slices of an image in ascending order, one at each place: a group, and others that belong to it, too.

    Where a structure set names slices without contours, it names all, and others are only what goes on at the same
    distance. It may also name no more than the slices with contours; then all slices of the series are the image, if
    they are evenly spaced. group: of one geometry, all of them named if any is. slices: all that were found. instances:
    UIDs of those that are named. contoured: (n,) heights of contours in mm.
    """
    named = withoutRepeats(group)
    others = [one for one in slices if one.instance not in instances and one.isLike(group[0])]
    if group[0].instance not in instances or not others:
        return named
    together = withoutRepeats([*named, *others])
    whole = None if namesOthers(named, contoured) else gridOf(together)
    if whole is not None and _isOne(whole, named):
        return together
    grid = gridOf(named)
    if grid is None:
        return named
    numbers = grid.toIndex(np.array([one.position for one in others]))
    beside = (numbers - np.rint(numbers) * (0, 0, 1)) * grid.spacing
    isOn = np.linalg.norm(beside, axis=1) <= planes.allowance(grid.spacing[2])
    return withoutRepeats([*named, *(one for one, belongs in zip(others, isOn, strict=True) if belongs)])


def namesOthers(named: Sequence[Slice], contoured: np.ndarray) -> bool:
    """Return whether some of the named slices have no contour. contoured: (n,) heights of contours in mm."""
    heights = heightsOfSlices(named)
    # half the way to the next slice
    reach = (planes.usualDistance(heights) or named[0].thickness or planes.TENTH) / 2 + planes.ROUNDING
    return any(not (np.abs(contoured - height) <= reach).any() for height in heights)


def _isOne(grid: Grid, named: Sequence[Slice]) -> bool:
    """Return whether the grid of all slices of a series is that of an image of which some slices are named.

    The series may also hold the image twice, the second time with slices between those of the first.
    """
    if len(named) == 1:
        return True
    distance = planes.leastDistance(heightsOfSlices(named))
    thickness = named[0].thickness
    isThick = abs(thickness - grid.spacing[2]) <= SAME_THICKNESS * grid.spacing[2]
    times = distance / grid.spacing[2]
    return times < planes.ONE_SLICE or times > 2 * planes.ONE_SLICE or isThick


def heightsOfSlices(slices: Sequence[Slice]) -> np.ndarray:
    """Return the positions (n,) in mm of slices along the normal of the first."""
    return np.array([one.position for one in slices]) @ slices[0].normal


def lineThrough(slices: Sequence[Slice]) -> tuple[np.ndarray, np.ndarray]:
    """Return a point (3,) and the way (3,) from one slice to the next per mm of height; the slices lie on that line.

    The first pixel of the first slice lies on it, in the plane of height 0. It runs along the normal if the slices do
    not lie on a line. slices: in ascending order.
    """
    heights, positions = heightsOfSlices(slices), np.array([one.position for one in slices])
    way = slices[0].normal
    if len(slices) > 1:
        leaning = (positions[-1] - positions[0]) / (heights[-1] - heights[0])
        beside = positions - positions[0] - (heights - heights[0])[:, None] * leaning
        if np.linalg.norm(beside, axis=1).max() <= planes.allowance(float(np.diff(heights).min())):
            way = leaning
    return positions[0] - heights[0] * way, way


def gridOf(slices: Sequence[Slice]) -> Grid | None:
    """Return the grid of an image's slices, including those that are missing between others.

    None for a single one, and unless they are equally spaced along one line.
    """
    first = slices[0]
    positions = np.array([one.position for one in slices])
    positions = positions[np.argsort(positions @ first.normal)]
    heights = positions @ first.normal
    if len(slices) == 1 or not np.diff(heights).min() > SMALLEST_STEP:
        return None
    counts = planes.stepCounts(np.diff(heights), planes.leastDistance(heights))
    numbers = np.concatenate([[0], np.cumsum(counts)])
    step = (positions[-1] - positions[0]) / numbers[-1]
    beside = positions - positions[0] - numbers[:, None] * step
    length = float(np.linalg.norm(step))
    # deviations that accumulate gradually may become larger than single ones
    isSteady = np.abs(np.diff(beside, axis=0)).max() <= planes.UNEVENNESS * length
    if not isSteady and np.linalg.norm(beside, axis=1).max() > planes.allowance(length):
        return None
    # slices that are farther apart in one part of the image do not mean that others are missing
    isWide = counts > 1
    if (isWide[1:] & isWide[:-1]).any() or numbers[-1] >= 2 * len(positions):
        return None
    return gridAlong(first, positions[0], step, int(numbers[-1]) + 1)


def gridOfSlabs(stack: Sequence[Slice], slabs: Slabs) -> Grid:
    """Return the grid of the layers of unevenly spaced slices. stack: some of these slices, in ascending order."""
    start, way = lineThrough(stack)
    return gridAlong(stack[0], start + way * slabs.start, way * slabs.distance, slabs.depth)


def gridAlong(like: Slice, origin: np.ndarray, step: np.ndarray, depth: int) -> Grid:
    """Return the grid with the pixels of a slice, the first at an origin (3,), and a step (3,) in mm between slices."""
    axes = np.column_stack([*(like.directions * like.spacing[:, None]), step])
    return Grid((*like.size, depth), affine(axes, origin))
