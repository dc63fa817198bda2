"""DICOM RTSTRUCT: planar contours, filled on the slices of the image that they were drawn on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..geometry.filling import combined
from ..geometry.grids import Grid, requireScale
from ..geometry.masks import LARGEST_BOX, Mask
from ..progress import checkpoint
from ..structures import NOTES, PATIENT, Structure
from . import patientOf, read, readable
from .series import findSlices, gridOf

# A contour may leave its plane by this share of the distance between slices.
FLATNESS = 0.25
# mm; pixels of a grid that is made for contours whose image is not at hand.
PIXEL = 0.5
NO_POSITIONS = "a contour has coordinates that are no positions in space."
CLOSED = ("CLOSED_PLANAR", "CLOSEDPLANAR_XOR")


def readStructureSet(path: Path) -> list[Structure]:
    """Return every region of interest of an RTSTRUCT file, with voxels on the referenced image's grid.

    A voxel belongs to a structure when its center lies inside the contours of its slice: holes may be contours of their
    own or joined to the outer one by a channel. Without the image near the file, a grid is made from the contours.
    Raises InputError for a file without regions of interest and for contours that do not run along slices.
    """
    dataset = read(path)
    with readable():  # what every structure set has may be missing, too
        return _structuresOf(path, dataset)


def _structuresOf(path: Path, dataset) -> list[Structure]:
    regions = _byNumber(dataset.get("StructureSetROISequence", []), "ROINumber")
    if not regions:
        raise InputError("the structure set has no regions of interest.")
    if "ROIContourSequence" not in dataset:
        raise InputError("the part of the structure set that holds the contours of its regions of interest is missing.")
    drawn = _byNumber(dataset.get("ROIContourSequence", []), "ReferencedROINumber")
    loops = {number: _loopsOf(drawn.get(number)) for number in regions}
    grid, note = _gridFor(path, dataset, [loop for closed, _ in loops.values() for loop in closed])
    frame = str(dataset.get("FrameOfReferenceUID", "")) or _referencedFrame(dataset)
    structures = []
    for number, region in regions.items():
        checkpoint()
        closed, others = loops[number]
        mask, notes = fill(closed, grid)
        if others:
            notes.append(f"{others} of its contours are open lines or points and were left out")
        structures.append(
            Structure(
                str(region.get("ROIName", "")) or f"ROI {number}",
                mask,
                file=str(path),
                frameOfReference=str(region.get("ReferencedFrameOfReferenceUID", "")) or frame,
                color=_colorOf(drawn.get(number)),
                source={"roiNumber": number, PATIENT: patientOf(dataset), NOTES: tuple(filter(None, (note, *notes)))},
            )
        )
    return structures


def _byNumber(items, name: str) -> dict:
    """Return the items of a sequence by their number. Raises InputError when two have the same one."""
    found = {int(getattr(item, name)): item for item in items}
    if len(found) < len(items):
        raise InputError("two regions of interest have the same number, so it cannot be told which contours are whose.")
    return found


def _loopsOf(contours) -> tuple[list[np.ndarray], int]:
    """Return the closed contours of a region as LPS points (n, 3) in mm, and how many others there are."""
    closed, others = [], 0
    for contour in [] if contours is None else contours.get("ContourSequence", []):
        try:
            points = np.array(contour.get("ContourData", None) or [], float)
        except ValueError as error:  # a word among the numbers
            raise InputError(NO_POSITIONS) from error
        if len(points) != 3 * int(contour.get("NumberOfContourPoints", len(points) / 3)):
            raise InputError("a contour has another number of points than it says.")
        if len(points) % 3 or not np.isfinite(points).all():
            raise InputError(NO_POSITIONS)
        requireScale(float(np.abs(points).max(initial=0)))
        if str(contour.get("ContourGeometricType", CLOSED[0])) in CLOSED and len(points) >= 9:
            closed.append(points.reshape(-1, 3))
        else:
            others += 1
    return closed, others


def _gridFor(path: Path, dataset, loops: Sequence[np.ndarray]) -> tuple[Grid, str]:
    """Return the grid to fill contours on, and what there is to say about it."""
    series, instances = _referencedImage(dataset)
    slices = findSlices(path, series, instances)
    if slices:
        return gridOf(slices), ""
    if not loops:
        raise InputError("the structure set has no contours, and the image that it belongs to is not near it.")
    grid = gridAroundLoops(loops)
    return grid, (
        "The image that the contours were drawn on is not near the file: they are filled on planes "
        f"{grid.spacing[2]:.4g} mm apart, with pixels of {PIXEL:g} mm."
    )


def _referencedImage(dataset) -> tuple[str, list[str]]:
    """Return the series instance UID of the image that contours were drawn on, and its slices' SOP instance UIDs."""
    for frame in dataset.get("ReferencedFrameOfReferenceSequence", []):
        for study in frame.get("RTReferencedStudySequence", []):
            for series in study.get("RTReferencedSeriesSequence", []):
                images = [str(i.ReferencedSOPInstanceUID) for i in series.get("ContourImageSequence", [])]
                return str(series.get("SeriesInstanceUID", "")), images
    images = {
        str(image.ReferencedSOPInstanceUID)
        for region in dataset.get("ROIContourSequence", [])
        for contour in region.get("ContourSequence", [])
        for image in contour.get("ContourImageSequence", [])
    }
    return "", sorted(images)


def _referencedFrame(dataset) -> str:
    frames = dataset.get("ReferencedFrameOfReferenceSequence", [])
    return str(frames[0].get("FrameOfReferenceUID", "")) if frames else ""


def _colorOf(contours) -> tuple[float, float, float] | None:
    color = None if contours is None else contours.get("ROIDisplayColor", None)
    return None if color is None or len(color) != 3 else tuple(min(max(int(c) / 255, 0.0), 1.0) for c in color)


def gridAroundLoops(loops: Sequence[np.ndarray]) -> Grid:
    """Return axial planes through contours, LPS points (n, 3) in mm each, as far apart as the closest two of them."""
    points = np.concatenate(loops)
    heights = np.unique(np.round([loop[:, 2].mean() for loop in loops], 3))
    steps = np.diff(heights)
    step = float(steps.min()) if len(steps) else 1.0
    low, high = points[:, :2].min(axis=0) - PIXEL, points[:, :2].max(axis=0) + PIXEL
    size = np.ceil((high - low) / PIXEL).astype(int) + 1
    matrix = np.diag([PIXEL, PIXEL, step, 1.0])
    matrix[:3, 3] = (*low, heights[0])
    return Grid((*size, round((heights[-1] - heights[0]) / step) + 1), matrix)


def fill(loops: Sequence[np.ndarray], grid: Grid) -> tuple[Mask, list[str]]:
    """Return the voxels of a grid inside closed planar contours, LPS points (n, 3) in mm each, and remarks.

    Contours belong to the nearest slice. Raises InputError when one does not run along the slices.
    """
    slices: dict[int, list[np.ndarray]] = {}
    displaced = 0
    for loop in loops:
        index = grid.toIndex(loop)
        height = index[:, 2].mean()
        if np.abs(index[:, 2] - height).max() > FLATNESS:
            raise InputError("a contour does not run along the slices of the image, so it cannot be filled on them.")
        displaced += abs(height - round(height)) > FLATNESS
        slices.setdefault(round(height), []).append(index[:, :2])
    notes = []
    if displaced:
        notes.append(f"{displaced} of its contours lie between slices and were filled on the nearest one")
    if not slices:
        return Mask(np.zeros((0, 0, 0), np.uint8), (0, 0, 0), grid), notes
    planar = np.concatenate([loop for found in slices.values() for loop in found])
    low, high = np.floor(planar.min(axis=0)).astype(int), np.ceil(planar.max(axis=0)).astype(int)
    first, last = min(slices), max(slices)
    shape = (last - first + 1, *(high - low + 1)[::-1].tolist())
    if math.prod(shape) > LARGEST_BOX:
        raise InputError("its contours are too far apart, or too large, for an image of a patient.")
    voxels = np.zeros(shape, bool)
    crossing = 0
    for k, found in slices.items():
        checkpoint()
        voxels[k - first], crosses = combined([loop - low for loop in found], voxels.shape[1:])
        crossing += crosses
    if crossing:
        notes.append(f"its contours cross each other on {crossing} slices; what any of them encloses was filled")
    missing = last - first + 1 - len(slices)
    if missing:
        notes.append(f"it has no contour on {missing} slices between its first and its last one")
    return Mask.fromArray(voxels, grid, (*low, first)), notes
