"""Contours filled slice by slice: with whole pixels, or with parts of pixels where they run through pixel centers.

A contour that was traced around a mask, as OpenCV does it, runs through the centers of the outermost pixels. Whichever
of the centers on it count, whole pixels would move it by half a pixel to one side. So its pixels are divided into an
even number of parts along rows and columns: no line along these then meets the center of a part, and of the parts on a
slanting line one half counts. Divided into 2 x 2, the area is that of the polygon; only a few of them in a small
structure need more parts for the center.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...base.errors import InputError
from ...base.progress import checkpoint
from ...geometry.filling import apart, combined, filled
from ...geometry.masks import LARGEST_BOX
from ...model.lattices import MOST_VOXELS
from ...model.notes import Note

# A contour runs through pixel centers if all of its points lie at most this fraction of a pixel away from one.
AT_CENTER = 0.01
# Numbers of parts along a pixel that are tried, and by how many pixels the center of the structure may move.
PARTS, LARGEST_SHIFT = (2, 4, 8), 0.05
# Difference of areas above which a contour is known to cross itself, so that its polygon has no center to compare.
SAME_AREA = 0.01


@dataclass(frozen=True, eq=False)
class PlanarContour:
    """A closed contour in a slice. points: (n, 2) column and row, in pixels."""

    points: np.ndarray

    @cached_property
    def isThroughCenters(self) -> bool:
        """Whether it runs through the centers of pixels, apart from rounding."""
        return bool((np.abs(self.points - np.rint(self.points)) <= AT_CENTER).all())

    def filled(self, low: np.ndarray, shape: tuple[int, int], parts: int) -> tuple[np.ndarray, float]:
        """Return the enclosed parts [row, column] of pixels in a box, and how far they move the center.

        low: (2,) first column and row of the box. shape: its rows and columns. parts: along a pixel. The second number
        is the area times the way of the center, in pixels.
        """
        if parts == 1 or not self.isThroughCenters:
            points = self.points - low
            pixels = filled(points, np.roll(points, -1, axis=0), shape)
            return (pixels if parts == 1 else pixels.repeat(parts, 0).repeat(parts, 1)), 0.0
        points = (np.rint(self.points) - low) * parts + (parts - 1) / 2
        pixels = filled(points, np.roll(points, -1, axis=0), (shape[0] * parts, shape[1] * parts), isFair=True)
        area, moment = _momentsOf(points)
        counts = np.count_nonzero(pixels, axis=0), np.count_nonzero(pixels, axis=1)
        if abs(counts[0].sum() - area) > SAME_AREA * area:
            return pixels, 0.0
        own = np.array([numbers @ np.arange(len(numbers)) for numbers in counts])
        return pixels, float(np.linalg.norm(own - moment)) / parts**3


def _momentsOf(points: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the area of a polygon of points (n, 2), and its area times its center (2,)."""
    following = np.roll(points, -1, axis=0)
    doubled = points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]
    area = float(doubled.sum()) / 2
    return abs(area), (doubled @ (points + following)) / 6 * np.sign(area)


@dataclass(frozen=True, eq=False)
class FilledSlices:
    """The pixels of several slices inside contours.

    voxels: bool [slice, row, column], parts of pixels if there is more than one along each. low: (2,) first column and
    row, in pixels. parts: along a pixel. divided: number of contours through pixel centers. odd: number of slices with
    each irregularity of combined(). shift: how far their center lies from that of the contours, in pixels.
    """

    voxels: np.ndarray
    low: np.ndarray
    parts: int
    divided: int
    odd: Counter[str] = field(default_factory=Counter)
    shift: float = 0.0

    def remarks(self, number: int) -> Iterator[str]:
        """Yield a remark on contours through pixel centers. number: of all contours."""
        which = self.divided if self.divided < number else 0
        if self.parts > 1:
            how = f"were filled with pixels divided into {self.parts} x {self.parts}, so that none moves to one side"
            yield Note(f"contours run through the centers of pixels and {how}", number=which)
        elif self.divided:
            how = "are too large to be filled with parts of pixels: they lie up to half a pixel to one side"
            yield Note(f"contours run through the centers of pixels and {how}", number=which)


def filledSlices(
    contours: Sequence[PlanarContour], slices: Mapping[int, Sequence[np.ndarray]], exclusive: Collection[int]
) -> FilledSlices:
    """Return the pixels inside contours, with as many parts as their center needs.

    slices: the planes of each slice, as from planesBySlice(). exclusive: numbers of contours that are combined by
    exclusive or within their plane. Raises InputError for too large a box.
    """
    corners = np.concatenate([contour.points for contour in contours])
    low, high = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int)
    depth = max(slices) - min(slices) + 1
    size = math.prod([depth, *(high - low + 1).tolist()])
    if size > LARGEST_BOX:
        raise InputError("its contours are too far apart, or too large, for an image of a patient.")
    divided = sum(contour.isThroughCenters for contour in contours)
    tried = [parts for parts in (PARTS if divided else ()) if size * parts**2 <= MOST_VOXELS] or [1]
    for parts in tried:
        rows, columns = ((high - low + 1)[::-1] * parts).tolist()
        found = FilledSlices(np.zeros((depth, rows, columns), bool), low, parts, divided)
        shift = _fill(found, contours, slices, exclusive)
        if shift <= LARGEST_SHIFT * np.count_nonzero(found.voxels) / parts**2:
            break
    return found


def _fill(
    found: FilledSlices,
    contours: Sequence[PlanarContour],
    slices: Mapping[int, Sequence[np.ndarray]],
    exclusive: Collection[int],
) -> float:
    """Fill the empty slices, and return the sum of what PlanarContour.filled() says of the center."""
    shift, parts = 0.0, found.parts
    for k, planes in slices.items():
        checkpoint()
        odd: set[str] = set()
        for plane in planes:
            own = [contours[number] for number in plane.tolist()]
            corners = np.concatenate([contour.points for contour in own])
            low, high = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int)
            columns, rows = (high - low + 1).tolist()
            pixels, shifts = zip(*(contour.filled(low, (rows, columns), parts) for contour in own), strict=True)
            isExclusive = [place for place, number in enumerate(plane.tolist()) if number in exclusive]
            together, oddInPlane = combined(pixels, isExclusive)
            left, top = ((low - found.low) * parts).tolist()
            box = found.voxels[k - min(slices), top : top + rows * parts, left : left + columns * parts]
            box |= apart(together, box)
            odd |= oddInPlane
            shift += sum(shifts)
        found.odd.update(odd)
    return shift
