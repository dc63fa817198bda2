"""Reading the dose of a plan: RTDOSE, and images said to be in Gy."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import SimpleITK

from ..base.errors import InputError, asPath
from ..base.texts import commaSeparated
from ..geometry.grids import Grid
from ..model.dose import Dose
from .dicom.opening import isDicom, patientOf, read, textOf
from .dicom.opening import readable as decoded
from .formats.table import IMAGE_SUFFIXES
from .reading import inspected, suffixOf

# Differences between steps, as a fraction of the smallest, up to which planes lie at even distances.
EVEN = 1e-3
# Gy per unit of files.
UNITS = {"GY": 1.0, "CGY": 0.01}
IN_GY = "{file} does not say its unit: its values are taken to be in Gy."


def readDose(given: SimpleITK.Image | str | os.PathLike) -> Dose:
    """Return the dose of a plan.

    Parameters
    ----------
    given : SimpleITK.Image | str | os.PathLike
        An image in Gy, or a path: of an RTDOSE file, of a folder with one such file, or of an image, whose values are
        taken to be in Gy.

    Returns
    -------
    Dose

    Raises
    ------
    ValueError
        In a sentence that names the file, for anything else.
    """
    if isinstance(given, SimpleITK.Image):
        return Dose.fromImage(given)
    path = asPath(given, "The dose")
    try:
        if path.is_dir():
            path = _onlyDoseIn(path)
        return _readRtDose(path) if isDicom(path) else _readImage(path)
    except OSError as error:
        raise InputError(f"{path}: the dose cannot be opened ({error.strerror or error}).") from error
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text[:1].lower()}{text[1:]}") from error


def _onlyDoseIn(folder: Path) -> Path:
    """Return the only RTDOSE file of a folder. Raises InputError for none, and for several, which it lists."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and isDicom(path)]
    found = [path for path in files if textOf(read(path, stop_before_pixels=True), "Modality") == "RTDOSE"]
    if not found:
        raise InputError(f"{folder}: the folder has no RTDOSE file.")
    if len(found) > 1:
        names = commaSeparated(
            [f"{path.name} ({_whatIsSummed(read(path, stop_before_pixels=True))})" for path in found]
        )
        raise InputError(f"{folder}: the folder has several doses; choose one of {names}.")
    return found[0]


def _readImage(path: Path) -> Dose:
    suffix = suffixOf(path)
    if suffix not in IMAGE_SUFFIXES:
        raise InputError(f"this is no dose; use RTDOSE, or an image in Gy ({', '.join(IMAGE_SUFFIXES)}).")
    _, image = inspected(path, suffix)
    return Dose.fromImage(image, file=str(path), remarks=(IN_GY.format(file=path.name),))


def _readRtDose(path: Path) -> Dose:
    dataset = read(path)
    with decoded():
        if textOf(dataset, "Modality") != "RTDOSE":
            what = textOf(dataset, "Modality") or "unknown"
            raise InputError(f"this is DICOM of the modality {what}, not RTDOSE.")
        unit = UNITS.get(textOf(dataset, "DoseUnits").strip().upper())
        if unit is None:
            said = textOf(dataset, "DoseUnits")
            raise InputError(f"the dose is in the unit {said}, and Gy are needed." if said else "the dose has no unit.")
        kind = textOf(dataset, "DoseType").strip().upper()
        if kind == "ERROR":
            raise InputError("the file has the difference between two doses, not a dose.")
        values = dataset.pixel_array.astype(np.float64) * (float(dataset.DoseGridScaling) * unit)
        grid, values = _placed(dataset, values)
        remarks = [f"{path.name} is {what}." for what in [_whatIsSummed(dataset)] if what != "the dose of a plan"]
        if kind == "EFFECTIVE":
            remarks.append(f"{path.name} has the effective dose, weighted for its biological effect.")
        return Dose(
            values,
            grid,
            str(path),
            textOf(dataset, "FrameOfReferenceUID").strip(),
            patientOf(dataset),
            tuple(remarks),
        )


def _placed(dataset, values: np.ndarray) -> tuple[Grid, np.ndarray]:
    """Return the grid of an RTDOSE file, and its values on it. Planes at uneven distances are interpolated."""
    if values.ndim != 3:
        raise InputError("the dose is known in one plane only; a volume is needed.")
    row, column = np.array(dataset.ImageOrientationPatient, float).reshape(2, 3)
    rowSpacing, columnSpacing = map(float, dataset.PixelSpacing)
    offsets = np.array(dataset.GridFrameOffsetVector, float)
    if len(offsets) != len(values):
        raise InputError("the number of planes differs from the number of their positions.")
    # the vector may start at 0, or at the position of the first plane
    offsets = offsets - offsets[0]
    if offsets[-1] < 0:
        offsets, values, start = (offsets - offsets[-1])[::-1], values[::-1], offsets[-1]
    else:
        start = 0.0
    steps = np.diff(offsets)
    if (steps <= 0).any():
        raise InputError("the planes of the dose are not in order.")
    step = float(steps.min())
    if steps.max() - step > EVEN * step:
        even = np.arange(0, offsets[-1] + step / 2, step)
        even[-1] = min(even[-1], offsets[-1])
        below = np.clip(np.searchsorted(offsets, even, side="right") - 1, 0, len(steps) - 1)
        share = ((even - offsets[below]) / steps[below])[:, None, None]
        values = (1 - share) * values[below] + share * values[below + 1]
    normal = np.cross(row, column)
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack([row * columnSpacing, column * rowSpacing, normal * step])
    matrix[:3, 3] = np.array(dataset.ImagePositionPatient, float) + normal * start
    return Grid(values.shape[::-1], matrix), values


def _whatIsSummed(dataset) -> str:
    """Return what a dose is the sum of, in words."""
    plans = len(dataset.get("ReferencedRTPlanSequence", []))
    summed = textOf(dataset, "DoseSummationType").strip().upper()
    if summed == "MULTI_PLAN" or plans > 1:
        return f"the sum of {plans or 'several'} plans"
    if summed in ("BEAM", "BRACHY", "CONTROL_POINT"):
        beams = [
            str(beam.get("ReferencedBeamNumber", ""))
            for plan in dataset.get("ReferencedRTPlanSequence", [])
            for group in plan.get("ReferencedFractionGroupSequence", [])
            for beam in group.get("ReferencedBeamSequence", [])
        ]
        return f"the dose of beam {commaSeparated(beams)} alone" if beams else "the dose of a single beam"
    if summed == "FRACTION":
        return "the dose of a single fraction group"
    return "the dose of a plan"
