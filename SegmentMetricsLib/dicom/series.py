"""The image that contours were drawn on, as a grid of voxels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..geometry.grids import Grid
from ..progress import checkpoint
from .neighbors import filesNear, sliceOf
from .planes import UNEVENNESS, allowance, leastDistance, stepCounts

# Least distance of slices in mm.
SMALLEST_STEP = 1e-6
GEOMETRY = (
    "SOPInstanceUID",
    "SeriesInstanceUID",
    "FrameOfReferenceUID",
    "ImageOrientationPatient",
    "PixelSpacing",
    "Rows",
    "Columns",
    "SliceThickness",
)


def findSlices(path: Path, series: str, instances: Collection[str]) -> list:
    """Return the headers of an image's slices near a file: in its folder, below it, or in a folder beside its own.

    Each header is a pydicom Dataset with the geometry only. series: the series instance UID, "" if unknown. instances:
    SOP instance UIDs of some slices, which identify the series if it is unknown.
    """
    wanted = set(instances)
    for files in filesNear(path):
        bySeries: dict[str, dict] = {}
        for file in files:
            checkpoint()
            header = sliceOf(file, GEOMETRY)
            if header is not None:
                bySeries.setdefault(str(header.get("SeriesInstanceUID", "")), {})[header.SOPInstanceUID] = header
        named = series or max(bySeries, key=lambda uid: len(wanted & bySeries[uid].keys()), default="")
        found = bySeries.get(named, {})
        if found and (series or wanted & found.keys()):
            return list(found.values())
    return []


def normalOf(slices: Sequence) -> np.ndarray:
    """Return the unit normal (3,) of an image's slices, LPS."""
    along, down = _directionsOf(slices[0])
    return np.cross(along, down)


def _directionsOf(header) -> np.ndarray:
    # the first cosines are along a row, that is from column to column
    return np.reshape(np.array(header.ImageOrientationPatient, float), (2, 3))


def gridOf(slices: Sequence, distance: float | None = None) -> Grid:
    """Return the grid of an image's slices, including those that are missing between others.

    distance: of slices in mm if there is only one; None uses its thickness, or 1 mm. Raises InputError when they are
    not equally spaced along one line.
    """
    first = slices[0]
    along, down = _directionsOf(first)
    normal = normalOf(slices)
    rowSpacing, columnSpacing = (float(value) for value in first.PixelSpacing)
    positions = np.array([s.ImagePositionPatient for s in slices], float)
    positions = positions[np.argsort(positions @ normal)]
    if len(slices) > 1:
        step, depth = _stepOf(positions, normal)
    else:
        step, depth = normal * (distance or float(first.get("SliceThickness", None) or 1.0)), 1
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack([along * columnSpacing, down * rowSpacing, step])
    matrix[:3, 3] = positions[0]
    return Grid((int(first.Columns), int(first.Rows), depth), matrix)


def _stepOf(positions: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the step (3,) in mm from one slice to the next, and the number of slices including missing ones.

    positions: (n, 3) of the slices, at least two, in ascending order along the normal. Raises InputError when they are
    not equally spaced along one line.
    """
    heights = positions @ normal
    uneven = InputError("the slices of the image that the contours were drawn on are not equally spaced.")
    if not np.diff(heights).min() > SMALLEST_STEP:  # or NaN
        raise uneven
    counts = stepCounts(np.diff(heights), leastDistance(heights))
    numbers = np.concatenate([[0], np.cumsum(counts)])
    step = (positions[-1] - positions[0]) / numbers[-1]
    beside = positions - positions[0] - numbers[:, None] * step
    length = float(np.linalg.norm(step))
    # deviations that accumulate gradually may become larger than single ones
    isSteady = np.abs(np.diff(beside, axis=0)).max() <= UNEVENNESS * length
    if not isSteady and np.linalg.norm(beside, axis=1).max() > allowance(length):
        raise uneven
    # slices that are farther apart in one part of the image do not mean that others are missing
    isWide = counts > 1
    if (isWide[1:] & isWide[:-1]).any() or numbers[-1] >= 2 * len(positions):
        raise uneven
    return step, int(numbers[-1]) + 1
