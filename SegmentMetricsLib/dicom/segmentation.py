"""DICOM SEG: segments as frames of voxels, whole or fractional."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import SimpleITK

from .. import inputs
from ..errors import InputError
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..structures import PATIENT, Structure
from . import patientOf, read, readable
from .series import findSlices, gridOf

# A frame belongs to the slices of an image when the cosine between what runs across them is at least this.
PARALLEL = 0.999


def readSegmentation(path: Path, threshold: float | None = None) -> list[Structure]:
    """Return every segment of a SEG file, on the grid of its frames; fractional segments have memberships, too.

    Where frames of some slices are not stored, the grid is that of the image that they belong to, if it is near the
    file. One frame is a slice of a structure in space, no contour in a plane.

    threshold: see Settings. Raises InputError for files that cannot be read, whose frames are no regular volume, and
    without highdicom.
    """
    try:
        import highdicom
    except ImportError as error:
        raise InputError("reading DICOM SEG needs highdicom: install segment-metrics with the extra dicom.") from error
    dataset = read(path)
    with readable():
        try:
            segmentation = highdicom.seg.Segmentation.from_dataset(dataset, copy=False)
            place = _placing(path, segmentation)
            structures = (_structure(path, segmentation, number, threshold) for number in segmentation.segment_numbers)
            return [_placed(structure, place) for structure in structures]
        except RuntimeError as error:
            raise InputError(f"the segmentation's frames make no regular volume ({error}).") from error


def _structure(path: Path, segmentation, number: int, threshold: float | None) -> Structure:
    volume = segmentation.get_volume(segment_numbers=[number], dtype=None, rescale_fractional=True)
    # from slices, rows and columns to columns, rows and slices
    image = SimpleITK.PermuteAxes(volume.squeeze_channel().to_simpleitk(), (2, 1, 0))
    description = segmentation.get_segment_description(number)
    fractional = segmentation.segmentation_type.value == "FRACTIONAL"
    image = SimpleITK.Cast(image, SimpleITK.sitkFloat32 if fractional else SimpleITK.sitkUInt8)
    structure = inputs.structureFromImage(image, "", None, threshold)
    return Structure(
        description.segment_label,
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


def _placing(path: Path, segmentation) -> Callable[[Mask], Mask]:
    """Return what puts the voxels of a segment onto the grid of the image that it was drawn on.

    Frames without voxels need not be stored, so the slices of the image near the file tell how far it goes. Without
    them, where the file names more slices than there are frames, the grid is one slice longer at either end: what is
    stored last is not taken for the edge of the image.
    """
    series = next(iter(segmentation.get("ReferencedSeriesSequence", [])), {})
    instances = {str(image.ReferencedSOPInstanceUID) for image in series.get("ReferencedInstanceSequence", [])}
    thickness = _thicknessOf(segmentation)

    @cache
    def home() -> Grid | None:
        return _gridOrNone(findSlices(path, str(series.get("SeriesInstanceUID", "")), instances))

    def place(mask: Mask) -> Mask:
        if mask.grid.size[2] >= len(instances):
            return replace(mask, grid=_inSpace(mask.grid, None, thickness))
        mask = replace(mask, grid=_inSpace(mask.grid, home(), thickness))
        if home() is not None and mask.alongAxesOf(home()).grid.offsetOn(home()) is not None:
            return mask.on(home())
        columns, rows, depth = mask.grid.size
        return mask.on(mask.grid.resized((0, 0, -1), (columns - 1, rows - 1, depth)))

    return place


def _gridOrNone(slices: list) -> Grid | None:
    if len(slices) < 2:  # they do not tell how far apart slices are
        return None
    try:
        return gridOf(slices)
    except InputError:  # the frames have positions of their own
        return None


def _inSpace(grid: Grid, home: Grid | None, thickness: float | None) -> Grid:
    """Return the grid of frames as one of voxels in space, though there may be a single frame.

    That one is as thick as a slice of the image that it was drawn on, or as the file says, in mm; as it is if neither
    is known.
    """
    matrix = grid.matrix.copy()
    if grid.size[2] == 1 and home is not None and abs(grid.direction[:, 2] @ home.direction[:, 2]) >= PARALLEL:
        matrix[:3, 2] = home.axes[:, 2]
    elif grid.size[2] == 1 and thickness:
        matrix[:3, 2] = grid.direction[:, 2] * thickness
    return Grid(grid.size, matrix)


def _thicknessOf(segmentation) -> float | None:
    """Return how thick the frames are in mm, None if the file does not say it."""
    for groups in ("SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence"):
        for group in list(segmentation.get(groups, []))[:1]:
            for measures in group.get("PixelMeasuresSequence", []):
                return float(measures.get("SpacingBetweenSlices", None) or measures.get("SliceThickness", None) or 0.0)
    return None


def _colorOf(segment) -> tuple[float, float, float] | None:
    """Return red, green and blue in [0, 1] of a segment's recommended CIELab color, None without one."""
    value = segment.get("RecommendedDisplayCIELabValue", None)
    if value is None:
        return None
    from vtkmodules.vtkCommonCore import vtkMath

    lightness, a, b = (np.array(value, float) / 65535) * (100, 255, 255) - (0, 128, 128)
    color = [0.0, 0.0, 0.0]
    vtkMath.LabToRGB([lightness, a, b], color)
    return tuple(min(max(c, 0.0), 1.0) for c in color)
