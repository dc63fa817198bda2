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
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...base.errors import InputError
from ...base.progress import checkpoint
from ...geometry.filling import combineContours, fillContours, splitParts
from ...geometry.masks import LARGEST_BOX
from ...model.lattices import MOST_VOXELS

# A contour runs through pixel centers if all of its points lie at most this fraction of a pixel away from one.
AT_CENTER = 0.01
# Numbers of parts along a pixel that are tried, and by how many pixels the center of the structure may move.
PARTS, LARGEST_SHIFT = (2, 4, 8), 0.05
# Difference of areas above which a contour is known to cross itself, so that its polygon has no center to compare.
SAME_AREA = 0.01


class FilledSlices(NamedTuple):
    """The pixels of several slices inside contours.

    voxels: bool [slice, row, column], parts of pixels if there is more than one along each. low: (2,) first column and
    row, in pixels. parts: along a pixel. divided: number of contours through pixel centers. odd: number of slices with
    each irregularity of combineContours().
    """

    voxels: np.ndarray
    low: np.ndarray
    parts: int
    divided: int
    odd: Counter[str]


def filledSlices(
    contours: Sequence[np.ndarray], slices: Mapping[int, Sequence[np.ndarray]], exclusive: Collection[int]
) -> FilledSlices:
    """Return the pixels inside closed contours, with as many parts as their center needs.

    contours: column and row (n, 2) in pixels of each. slices: the planes of each slice, as from planesBySlice().
    exclusive: numbers of contours that are combined by exclusive or within their plane. Raises InputError for too large
    a box.
    """
    low, high = _boxAround(contours)
    depth = max(slices) - min(slices) + 1
    size = math.prod([depth, *(high - low + 1).tolist()])
    if size > LARGEST_BOX:
        raise InputError("its contours are too far apart, or too large, for an image of a patient.")
    areThrough = [bool((np.abs(points - np.rint(points)) <= AT_CENTER).all()) for points in contours]
    tried = [parts for parts in (PARTS if any(areThrough) else ()) if size * parts**2 <= MOST_VOXELS] or [1]
    for parts in tried:
        rows, columns = ((high - low + 1)[::-1] * parts).tolist()
        found = FilledSlices(np.zeros((depth, rows, columns), bool), low, parts, sum(areThrough), Counter())
        shift = _fill(found, contours, areThrough, slices, exclusive)
        if shift <= LARGEST_SHIFT * np.count_nonzero(found.voxels) / parts**2:
            break
    return found


def _boxAround(contours: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    corners = np.concatenate(contours)
    return np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int)


def _fill(
    found: FilledSlices,
    contours: Sequence[np.ndarray],
    areThrough: Sequence[bool],
    slices: Mapping[int, Sequence[np.ndarray]],
    exclusive: Collection[int],
) -> float:
    """Fill the empty slices, and return the sum of what _pixelsIn() says of the center."""
    shift, parts = 0.0, found.parts
    for k, planes in slices.items():
        checkpoint()
        odd: set[str] = set()
        for plane in planes:
            numbers = plane.tolist()
            low, high = _boxAround([contours[number] for number in numbers])
            columns, rows = (high - low + 1).tolist()
            own = [_pixelsIn(contours[n] - low, (rows, columns), parts, areThrough[n]) for n in numbers]
            isExclusive = [place for place, number in enumerate(numbers) if number in exclusive]
            together, oddInPlane = combineContours([pixels for pixels, _ in own], isExclusive)
            left, top = ((low - found.low) * parts).tolist()
            box = found.voxels[k - min(slices), top : top + rows * parts, left : left + columns * parts]
            box |= splitParts(together, box)
            odd |= oddInPlane
            shift += sum(moved for _, moved in own)
        found.odd.update(odd)
    return shift


def _pixelsIn(points: np.ndarray, shape: tuple[int, int], parts: int, isThrough: bool) -> tuple[np.ndarray, float]:
    """Return the parts [row, column] of pixels in a box inside a contour (n, 2), and how far they move the center.

    shape: rows and columns of the box. isThrough: whether the contour runs through the centers of pixels. The second
    number is the area times the way of the center, in pixels.
    """
    if parts == 1 or not isThrough:
        pixels = fillContours(points, np.roll(points, -1, axis=0), shape)
        return (pixels if parts == 1 else pixels.repeat(parts, 0).repeat(parts, 1)), 0.0
    points = np.rint(points) * parts + (parts - 1) / 2
    following = np.roll(points, -1, axis=0)
    pixels = fillContours(points, following, (shape[0] * parts, shape[1] * parts), isFair=True)
    doubled = points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]
    area = float(doubled.sum()) / 2
    counts = np.count_nonzero(pixels, axis=0), np.count_nonzero(pixels, axis=1)
    if abs(counts[0].sum() - abs(area)) > SAME_AREA * abs(area):
        return pixels, 0.0
    # areas times their centers
    moment = (doubled @ (points + following)) / 6 * np.sign(area)
    own = np.array([numbers @ np.arange(len(numbers)) for numbers in counts])
    return pixels, float(np.linalg.norm(own - moment)) / parts**3
