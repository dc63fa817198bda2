"""Where contours are filled: on the slices of their image, or without it on planes of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...base.errors import InputError
from ...geometry.grids import Grid, gridAround
from . import series
from .images import Image
from .planes import (
    ALIKE,
    PARALLEL,
    alongPlanes,
    axesAlong,
    commonDistance,
    distinct,
    heightsOf,
    normalOfLoops,
    sliceDistance,
)
from .unevenslices import Slabs, goOn, unevenPlanes

# In mm: pixel size of a grid for contours without their image, and distance of slices that nothing determines.
PIXEL, DISTANCE = 0.5, 1.0


class SlicePlace(NamedTuple):
    """Where the contours of a region are filled.

    slabs: the layers of the grid that each slice consists of, None if it is one layer. remark: on the slices, or "".
    """

    grid: Grid
    remark: str
    slabs: Slabs | None = None


class Drawn:
    """The contours of all regions of an image. regions: for each, LPS points (n, 3) in mm of its contours."""

    def __init__(self, regions: Sequence[Sequence[np.ndarray]]):
        self.regions = regions
        self._heights: dict[bytes, list[np.ndarray]] = {}

    def heightsAlong(self, normal: np.ndarray) -> list[np.ndarray]:
        """Return the heights (n,) in mm of the contours of each region that run along planes with a normal (3,)."""
        # the same for every region of the image
        key = normal.tobytes()
        if key not in self._heights:
            self._heights[key] = [heightsOf(alongPlanes(loops, normal), normal) for loops in self.regions]
        return self._heights[key]


def placesFor(
    path: Path, images: Mapping[int, Sequence[Image]], loops: Mapping[int, Sequence[np.ndarray]]
) -> Callable[[int], SlicePlace]:
    """Return a function of a region's number that returns where to fill its contours.

    images: that each region may have been drawn on; of several, it is the one on whose slices most of its contours lie.
    loops: closed contours, LPS points (n, 3) in mm each, by region. Raises InputError without any contour and any slice
    of an image.
    """
    every = dict.fromkeys(image for some in images.values() for image in some)
    slices = {image: series.findSlices(path, image) for image in every}
    chosen = {
        number: max(some, key=lambda image: series.contoursOn(slices[image], loops[number]))
        for number, some in images.items()
    }
    drawn = {
        image: Drawn([loops[number] for number, other in chosen.items() if other == image and loops[number]])
        for image in slices
    }
    everything = Drawn(list(filter(None, loops.values())))
    if not any(loops.values()) and not any(slices.values()):
        raise InputError("the structure set has no contours, and the image that it belongs to was not found near it.")

    def placeFor(number: int) -> SlicePlace:
        image = chosen[number]
        if slices[image]:
            return _placeOnImage(slices[image], image.instances, loops[number], drawn[image])
        return _placeOnPlanes(loops[number], drawn[image] if drawn[image].regions else everything)

    return placeFor


def _placeOnPlanes(loops: Sequence[np.ndarray], drawn: Drawn) -> SlicePlace:
    """Return where to fill contours, LPS points (n, 3) in mm each, without their image. drawn: all on the image."""
    remark = (
        "The image that the contours were drawn on was not found near the file: they are filled on {}, with pixels of "
        f"{PIXEL:g} mm."
    )
    together = [loop for others in drawn.regions for loop in others]
    normal, points = normalOfLoops(together), np.concatenate(together)
    planes = unevenPlanes(heightsOf(alongPlanes(loops, normal), normal), drawn.heightsAlong(normal))
    if planes is None:  # pixels lie at multiples of their size, so that contours in several files may share a grid
        heights = [heightsOf(others, normal) for others in drawn.regions]
        own = heightsOf(loops, normal) if loops else np.concatenate(heights)
        distance = sliceDistance(own, commonDistance(heights)) or DISTANCE
        grid = gridAround(points, axesAlong(normal) * (PIXEL, PIXEL, distance), normal * own.min())
        return SlicePlace(grid, remark.format(f"planes {grid.spacing[2]:.4g} mm apart"))
    # a slice beyond each end, so that the last contour does not lie at the edge of an image
    slabs = Slabs.of(goOn(planes, 2 * planes[0] - planes[1], 2 * planes[-1] - planes[-2]))
    grid = gridAround(points, axesAlong(normal) * (PIXEL, PIXEL, slabs.distance), normal * slabs.start)
    columns, rows, _ = grid.size
    first = round(float(grid.toIndex(normal[None] * slabs.start)[0, 2]))
    grid = grid.resize((0, 0, first), (columns - 1, rows - 1, first + slabs.depth - 1))
    return SlicePlace(grid, remark.format(f"planes that are not equally spaced, {slabs.description}"), slabs)


def _placeOnImage(
    slices: Sequence[series.Slice], instances: Collection[str], loops: Sequence[np.ndarray], drawn: Drawn
) -> SlicePlace:
    """Return where to fill contours, LPS points (n, 3) in mm each, on the slices of their image.

    slices: that were found of the image. instances: SOP instance UIDs of all slices, as far as the structure set names
    them; those that it names are the image, whatever else is in the series. drawn: all contours on the image.
    """
    named = [one for one in slices if one.instance in instances]
    groups = series.groupsOf(named or slices)
    # a scout and a second reconstruction are groups of their own
    group = max(groups, key=lambda one: (series.contoursOn(one, loops), len(one)))
    normal = group[0].normal
    heights = drawn.heightsAlong(normal)
    contoured = np.concatenate([np.zeros(0), *heights])
    stack = series.stackSlices(group, slices, instances, contoured)
    # without any of the slices that it names, the image was copied under other numbers
    unseen = len(set(instances) - {one.instance for one in named}) if named else 0
    beyond = _slicesBeyond(stack, [one for other in groups if other is not group for one in other], loops)
    distance = commonDistance(heights)
    if len(stack) == 1 and not len(beyond):
        planes = unevenPlanes(heightsOf(alongPlanes(loops, normal), normal), heights)
        remark = "Only one slice of the image that the contours were drawn on was found: the others are assumed"
        if planes is not None:
            place = _placeOnSlabs(stack, planes, contoured)
            return SlicePlace(place.grid, f"{remark} to be where the contours are.", place.slabs)
        only = stack[0]
        step = only.normal * (distance or only.thickness or DISTANCE)
        grid = _grow(series.gridAlong(only, only.position, step, 1), loops)
        return SlicePlace(grid, f"{remark} to be {grid.spacing[2]:.4g} mm apart.")
    areAllThere = bool(named) and not unseen and series.namesOthers(stack, contoured)
    found = series.gridOf(stack)
    if found is None or len(beyond) or (areAllThere and found.size[2] > len(stack)):
        return _placeOnSlabs(stack, np.concatenate([series.heightsOfSlices(stack), beyond]), contoured)
    columns, rows, depth = found.size
    times = found.spacing[2] / distance if distance and unseen > depth - len(stack) else 1
    if round(times) > 1 and abs(times - round(times)) <= ALIKE:
        # contours show slices to be missing between all others, as every second one is
        matrix = found.matrix @ np.diag([1, 1, 1 / round(times), 1])
        found = Grid((columns, rows, (depth - 1) * round(times) + 1), matrix)
    missing = max(unseen, found.size[2] - len(stack))
    if not missing:
        return SlicePlace(found, "")
    were = "was" if missing == 1 else "were"
    return SlicePlace(
        _grow(found, loops),
        f"{missing} of the {len(stack) + missing} slices of the image that the contours were drawn on {were} not found "
        f"near the file: all are assumed to be {found.spacing[2]:.4g} mm apart.",
    )


def _slicesBeyond(
    stack: Sequence[series.Slice], others: Sequence[series.Slice], loops: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the heights (n,) in mm of other slices above or below those of a stack, if contours lie there.

    others: slices with other pixels, such as those of another series that the structure set names.
    """
    heights = series.heightsOfSlices(stack)
    normal = stack[0].normal
    parallel = [one.position @ normal for one in others if one.normal @ normal >= PARALLEL]
    margin = np.diff(heights).min(initial=stack[0].thickness) / 2
    beyond = np.array([z for z in parallel if not heights[0] - margin <= z <= heights[-1] + margin])
    drawn = heightsOf(loops, normal)
    isUsed = any(not heights[0] - margin <= z <= heights[-1] + margin for z in drawn)
    return distinct(beyond) if isUsed and len(beyond) else np.zeros(0)


def _placeOnSlabs(stack: Sequence[series.Slice], heights: np.ndarray, contoured: np.ndarray) -> SlicePlace:
    """Return where to fill contours on slices that are not equally spaced.

    stack: slices of the image, in ascending order. heights: (n,) of all in mm. contoured: (m,) heights of contours.
    """
    heights = np.sort(heights)
    reached = np.concatenate([heights, contoured])
    slabs = Slabs.of(goOn(heights, reached.min(), reached.max()))
    remark = (
        f"The slices of the image that the contours were drawn on are not equally spaced: they are {slabs.description}."
    )
    return SlicePlace(series.gridOfSlabs(stack, slabs), remark, slabs)


def _grow(grid: Grid, loops: Sequence[np.ndarray]) -> Grid:
    """Return the grid of an image of which slices are missing, with those on which contours lie and one beyond.

    loops: contours, LPS points (n, 3) in mm each.
    """
    if not loops:
        return grid
    heights = grid.toIndex(np.array([loop.mean(axis=0) for loop in loops]))[:, 2]
    columns, rows, depth = grid.size
    low, high = (int(np.rint(height)) for height in (heights.min(), heights.max()))
    first, last = (low - 1 if low < 0 else 0), (high + 1 if high >= depth else depth - 1)
    return grid.resize((0, 0, first), (columns - 1, rows - 1, last))
