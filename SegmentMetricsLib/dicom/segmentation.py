"""DICOM SEG: segments as frames of voxels, binary or fractional."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import SimpleITK

from .. import inputs
from ..errors import InputError, installing
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..structures import NOTES, PATIENT, Structure
from . import patientOf, read, readable, textOf
from .planes import LEAST_SHARE, PARALLEL, ROUNDING, allowance, leastDistance, lieOnSlices, thinned
from .series import findSlices, gridOf, normalOf

UNTOLD = "The segmentation does not say how far apart its slices are"


def readSegmentation(path: Path, threshold: float | None = None) -> list[Structure]:
    """Return every segment of a SEG file, on the grid of its frames; fractional segments also have memberships.

    If frames of some slices are not stored, the grid is that of the image that they belong to, if it is near the file.
    A single frame is a slice of a structure in space, not a contour in a plane.

    threshold: see Settings. Raises InputError for files that cannot be read, for frames that do not form a regular
    volume, and without highdicom.
    """
    try:
        import highdicom
    except ImportError as error:
        raise InputError(f"reading DICOM SEG needs highdicom: {installing('dicom')}.") from error
    dataset = read(path)
    with readable():
        try:
            _requireAllFrames(dataset)
            frames = Frames.of(path, dataset)
            note = frames.tellDistance(dataset)
            segmentation = highdicom.seg.Segmentation.from_dataset(dataset, copy=False)
            structures = (_structure(path, segmentation, number, threshold) for number in segmentation.segment_numbers)
            placed = [_placed(structure, frames.place) for structure in structures]
        except RuntimeError as error:
            raise InputError(f"the segmentation's frames make no regular volume ({error}).") from error
    return [replace(s, source={**s.source, NOTES: (note,)}) for s in placed] if note else placed


def _requireAllFrames(dataset) -> None:
    """Raise InputError when a file counts other frames than it describes, as highdicom accesses all that it counts."""
    described = len(dataset.get("PerFrameFunctionalGroupsSequence", []))
    if described and int(dataset.get("NumberOfFrames", None) or 1) != described:
        raise InputError(
            f"the segmentation is damaged: it counts {dataset.NumberOfFrames} frames and describes {described}."
        )


def _structure(path: Path, segmentation, number: int, threshold: float | None) -> Structure:
    # a large tolerance, as the spacing of frames was checked before
    volume = segmentation.get_volume(segment_numbers=[number], dtype=None, rescale_fractional=True, rtol=LEAST_SHARE)
    # from slices, rows and columns to columns, rows and slices
    image = SimpleITK.PermuteAxes(volume.squeeze_channel().to_simpleitk(), (2, 1, 0))
    description = segmentation.get_segment_description(number)
    fractional = segmentation.segmentation_type.value == "FRACTIONAL"
    image = SimpleITK.Cast(image, SimpleITK.sitkFloat32 if fractional else SimpleITK.sitkUInt8)
    structure = inputs.structureFromImage(image, "", None, threshold)
    return Structure(
        textOf(description, "SegmentLabel"),
        structure.mask,
        memberships=structure.memberships,
        file=str(path),
        frameOfReference=str(segmentation.get("FrameOfReferenceUID", "")),
        color=_colorOf(description),
        source={"segmentNumber": number, PATIENT: patientOf(segmentation)},
    )


def _placed(structure: Structure, place: Callable[[Mask], Mask]) -> Structure:
    memberships = None if structure.memberships is None else place(structure.memberships)
    return replace(structure, mask=place(structure.mask), memberships=memberships)


@dataclass(frozen=True, eq=False)
class Frames:
    """The positions of the frames of a SEG file, and the image that it was drawn on.

    heights: (n,) of the stored slices in mm along the normal, ascending; empty for files without a position for each
    frame. positions: (m, 3) of the frames, LPS mm. normal: (3,) of the frames. listed: number of slices of its image
    that the file names. findHome: returns the grid of that image, None if it is not near the file.
    """

    heights: np.ndarray
    positions: np.ndarray
    normal: np.ndarray
    listed: int
    findHome: Callable[[], Grid | None]

    @staticmethod
    def of(path: Path, dataset) -> Frames:
        """Return the positions of the frames of a file."""
        groups = list(_groupsOf(dataset))
        planes = [plane for group in groups for plane in group.get("PlanePositionSequence", [])]
        positions = np.reshape([np.array(plane.ImagePositionPatient, float) for plane in planes], (-1, 3))
        turns = [plane for group in groups for plane in group.get("PlaneOrientationSequence", [])]
        normal = normalOf(turns[:1]) if turns else np.zeros(3)
        heights = thinned(np.unique(positions @ normal), ROUNDING) if turns else np.zeros(0)
        series = next(iter(dataset.get("ReferencedSeriesSequence", [])), {})
        instances = {str(image.ReferencedSOPInstanceUID) for image in series.get("ReferencedInstanceSequence", [])}

        @cache
        def findHome() -> Grid | None:
            return _gridOrNone(findSlices(path, str(series.get("SeriesInstanceUID", "")), instances))

        return Frames(heights, positions, normal, len(instances), findHome)

    def tellDistance(self, dataset) -> str:
        """Set the distance of slices in a dataset that lacks it, and return a note if it had to be assumed, else "".

        Only the dataset in memory is changed, not the file. Raises InputError for frames that are not on equally spaced
        slices.
        """
        if not len(self.heights):
            return ""
        measures = [item for group in _groupsOf(dataset) for item in group.get("PixelMeasuresSequence", [])]
        told = [abs(float(item.get("SpacingBetweenSlices", None) or 0.0)) for item in measures]
        distance, note = next(((length, "") for length in told if length), None) or self._assumed(measures)
        if not lieOnSlices(self.heights, distance):
            raise InputError(
                f"the segmentation's frames make no regular volume (they do not lie on slices {distance:.4g} mm apart)."
            )
        for item in measures:
            item.SpacingBetweenSlices = distance
            item.SliceThickness = item.get("SliceThickness", None) or distance  # required by highdicom
        return note

    def _assumed(self, measures: Sequence) -> tuple[float, str]:
        """Return the distance of slices in mm, and a note if it had to be assumed. measures: items of pixel measures.

        It is that of the image if all frames lie on its slices, else the thickness of frames if they lie on slices at
        that distance, else the smallest distance between two.
        """
        home = self.findHome()
        if home is not None and self._areOn(home):
            return abs(float(home.axes[:, 2] @ self.normal)), ""
        thickness = next((float(item.get("SliceThickness", None) or 0.0) for item in measures), 0.0)
        isAlone = len(self.heights) == 1
        distance = (thickness or 1.0) if isAlone else leastDistance(self.heights)
        if isAlone and not thickness:
            return distance, f"{UNTOLD}, nor how thick its only one is: {distance:g} mm is assumed."
        if not thickness or not lieOnSlices(self.heights, thickness):
            return distance, f"{UNTOLD}: the smallest distance between two, {distance:.4g} mm, is assumed."
        isSkipping = thickness < distance - allowance(thickness)
        return thickness, f"{UNTOLD}: their thickness, {thickness:.4g} mm, is assumed." if isSkipping else ""

    def _areOn(self, home: Grid) -> bool:
        """Return whether all frames lie on slices of an image."""
        if abs(self.normal @ home.direction[:, 2]) < PARALLEL:
            return False
        numbers = home.toIndex(self.positions)[:, 2]
        return bool(np.abs(numbers - np.rint(numbers)).max() * home.spacing[2] <= allowance(home.spacing[2]))

    def place(self, mask: Mask) -> Mask:
        """Return the voxels of a segment on the grid of the image that it was drawn on.

        Frames without voxels need not be stored, so the extent of the image is taken from its slices near the file. If
        these are not found, and the file names more slices than there are frames or frames are missing between others,
        the grid is extended by one slice at each end, so that the last stored frame is not taken for the image edge.
        """
        columns, rows, depth = mask.grid.size
        mask = replace(mask, grid=Grid(mask.grid.size, mask.grid.matrix))  # in space, though there may be one frame
        if depth >= self.listed and len(self.heights) in (0, depth):
            return mask
        home = self.findHome()
        if home is not None:
            mask = replace(mask, grid=_onSlicesOf(home, mask.grid))
            if mask.alongAxesOf(home).grid.offsetOn(home) is not None:
                return mask.on(home)
        return mask.on(mask.grid.resized((0, 0, -1), (columns - 1, rows - 1, depth)))


def _groupsOf(dataset) -> Iterator:
    """Yield the items about all frames of a file, then those about each frame."""
    for groups in ("SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence"):
        yield from dataset.get(groups, [])


def _gridOrNone(slices: list) -> Grid | None:
    if len(slices) < 2:  # the distance of slices is unknown
        return None
    try:
        return gridOf(slices)
    except InputError:  # not needed, as the frames have their own positions
        return None


def _onSlicesOf(home: Grid, grid: Grid) -> Grid:
    """Return the grid of frames, moved exactly onto the slices of an image if it deviates from these only by rounding.

    A single frame gets the thickness of the image's slices.
    """
    along = float(grid.direction[:, 2] @ home.direction[:, 2])
    step = home.axes[:, 2] * np.sign(along)
    depth = grid.size[2]
    if abs(along) < PARALLEL or (depth > 1 and not _isClose(grid.axes[:, 2] * (depth - 1), step * (depth - 1), home)):
        return grid
    number = float(home.toIndex(grid.origin[None])[0, 2])
    beside = (np.rint(number) - number) * home.axes[:, 2]
    matrix = grid.matrix.copy()
    matrix[:3, 2] = step
    if _isClose(beside, np.zeros(3), home):
        matrix[:3, 3] += beside
    return Grid(grid.size, matrix)


def _isClose(one: np.ndarray, other: np.ndarray, home: Grid) -> bool:
    """Return whether two points (3,) in mm are equal apart from rounding of the slice positions of an image."""
    return bool(np.linalg.norm(one - other) <= allowance(home.spacing[2]))


def _colorOf(segment) -> tuple[float, float, float] | None:
    """Return a segment's recommended CIELab color as red, green and blue in [0, 1], None without one."""
    value = segment.get("RecommendedDisplayCIELabValue", None)
    if value is None:
        return None
    from vtkmodules.vtkCommonCore import vtkMath

    lightness, a, b = (np.array(value, float) / 65535) * (100, 255, 255) - (0, 128, 128)
    color = [0.0, 0.0, 0.0]
    vtkMath.LabToRGB([lightness, a, b], color)
    return tuple(min(max(c, 0.0), 1.0) for c in color)
