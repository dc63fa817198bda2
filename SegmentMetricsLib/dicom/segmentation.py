"""DICOM SEG: segments as frames of voxels, whole or fractional."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import SimpleITK

from .. import inputs
from ..errors import InputError
from ..structures import PATIENT, Structure
from . import patientOf, read, readable


def readSegmentation(path: Path, threshold: float | None = None) -> list[Structure]:
    """Return every segment of a SEG file, on the grid of its frames; fractional segments have memberships, too.

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
            return [_structure(path, segmentation, number, threshold) for number in segmentation.segment_numbers]
        except RuntimeError as error:
            raise InputError(f"the segmentation's frames make no regular volume ({error}).") from error


def _structure(path: Path, segmentation, number: int, threshold: float | None) -> Structure:
    volume = segmentation.get_volume(segment_numbers=[number], dtype=None, rescale_fractional=True)
    image = volume.squeeze_channel().to_simpleitk()
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
