"""Reading the dose of a plan: RTDOSE, and images said to be in Gy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import SimpleITK

from ..base.errors import InputError, asPath
from ..base.texts import commaSeparated, pluralize
from ..geometry.grids import Grid, affine
from ..model.dose import Dose
from .dicom.opening import canDecode, isDicom, patientOf, read, readNamed, textOf
from .dicom.opening import readable as decoded
from .formats.table import IMAGE_SUFFIXES
from .reading import nameFile, readChecked, suffixOf

# Part of a step by which planes at even distances may lie aside through rounding.
EVEN = 1e-6
# In mm: numbers in files are rounded.
SAME_PLACE = 0.01
# Gy per unit of files.
UNITS = {"GY": 1.0, "CGY": 0.01}
# What a dose may be summed over that is part of a plan.
PARTS = {"BEAM", "BRACHY", "FRACTION", "BEAM_SESSION", "BRACHY_SESSION", "CONTROL_POINT"}
IN_GY = "{file} does not say its unit: its values are taken to be in Gy."


def readDose(
    given: SimpleITK.Image | str | os.PathLike | Sequence[str | os.PathLike], *, weights: Sequence[float] | None = None
) -> Dose:
    """Return the dose of a plan.

    Parameters
    ----------
    given : SimpleITK.Image | str | os.PathLike | Sequence[str | os.PathLike]
        An image in Gy, or a path: of an RTDOSE file, of a folder with RTDOSE, or of an image, whose values are taken to
        be in Gy. Several paths are RTDOSE of the beams or fraction groups of one plan, which are summed, as are those
        of a folder.
    weights : Sequence[float] | None, optional
        A factor for each path, such as the number of its fractions; None for 1.

    Returns
    -------
    Dose
        A sum has the grid of the finest part; the other parts are interpolated linearly. It is unknown where any part
        is unknown.

    Raises
    ------
    ValueError
        In a sentence that names the file: for anything else, parts of several plans or frames of reference, a sum
        together with its parts, or the same dose twice.
    """
    if isinstance(given, SimpleITK.Image):
        return Dose.fromImage(given)
    paths = [asPath(one, "The dose") for one in ([given] if isinstance(given, (str, os.PathLike)) else given)]
    weights = [1.0] * len(paths) if weights is None else list(weights)
    if len(weights) != len(paths):
        raise InputError(f"The number of weights, {len(weights)}, is not that of the doses, {len(paths)}.")
    owner = paths[0] if len(paths) == 1 else paths[0].parent
    try:
        if len(paths) == 1 and owner.is_dir():
            files = [path for path in sorted(owner.iterdir()) if path.is_file() and isDicom(path)]
            opened = {path: read(path, stop_before_pixels=True) for path in files}
            found = [path for path, dataset in opened.items() if textOf(dataset, "Modality") == "RTDOSE"]
            if not found:
                raise InputError(f"{owner}: the folder has no RTDOSE file.")
            # those without pixels have histograms only
            paths = [path for path in found if "Rows" in opened[path]] or found
            weights *= len(paths)
        if len(paths) > 1 or weights[0] != 1:
            return _sumOf(paths, weights)
        owner = paths[0]
        return _readRtDose(owner) if isDicom(owner) else _readImage(owner)
    except OSError as error:
        raise InputError(
            f"{error.filename or owner}: the dose cannot be opened ({error.strerror or error})."
        ) from error
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(owner)) else f"{owner}: {text[:1].lower()}{text[1:]}") from error


def weightedDoses(given: str | os.PathLike | Iterable[str | os.PathLike], folder: Path) -> list[tuple[str, float]]:
    """Return the paths of doses in a folder, and their weights.

    given: FILE or FILE=WEIGHT, several of them, or with semicolons between them, as in a cell of a table.
    """
    found = []
    for text in map(str, [given] if isinstance(given, (str, os.PathLike)) else given):
        for part in map(str.strip, [text] if (folder / text).exists() else text.split(";")):
            path, weight = part, 1.0
            if "=" in part and not (folder / part).exists():
                with suppress(ValueError):  # the name of a file that does not exist
                    path, weight = part.rpartition("=")[0], float(part.rpartition("=")[2])
            found.append((str(folder / path), weight))
    return found


def readWeighted(parts: Sequence[tuple[str, float]]) -> Dose | None:
    """Return the dose of paths with weights, None without any."""
    return readDose([path for path, _ in parts], weights=[weight for _, weight in parts]) if parts else None


def _sumOf(paths: Sequence[Path], weights: Sequence[float]) -> Dose:
    """Return the sum of the RTDOSE files of beams or fraction groups of one plan, each with its weight; or of one."""
    for path in paths:
        if not isDicom(path):
            raise InputError(f"{path}: only RTDOSE can be weighted or summed, because it says what it is a part of.")
    opened = {path: readNamed(path, stop_before_pixels=True) for path in paths}
    if aside := [path for path, dataset in opened.items() if textOf(dataset, "Modality") != "RTDOSE"]:
        raise InputError(f"{aside[0]}: this is not RTDOSE.")
    listed = commaSeparated([f"{path.name} ({_whatIsSummed(dataset)})" for path, dataset in opened.items()])
    plans = [plan for dataset in opened.values() for plan in dataset.get("ReferencedRTPlanSequence", [])]
    kinds, types = (
        {textOf(dataset, name).strip().upper() for dataset in opened.values()}
        for name in ("DoseSummationType", "DoseType")
    )
    beams = [beam for dataset in opened.values() for beam in _beamsOf(dataset) if kinds == {"BEAM"}]
    isMixed = len(paths) > 1 and not kinds <= PARTS
    reasons = {
        "the same dose occurs twice": len({textOf(one, "SOPInstanceUID") for one in opened.values()}) < len(paths),
        "there are a sum and its parts": isMixed and kinds & PARTS,
        "there are several doses": isMixed,
        "there are parts of several kinds, which may contain each other": len(kinds) > 1,
        "there are doses of several plans": len({textOf(plan, "ReferencedSOPInstanceUID") for plan in plans}) > 1,
        "there are physical and effective doses, which have no sum": len(types) > 1,
        "the dose of a beam occurs twice": len(set(beams)) < len(beams),
    }
    if why := next((why for why, applies in reasons.items() if applies), ""):
        raise InputError(f"{why}; choose one of {listed}.")
    doses = []
    for path in paths:
        with nameFile(path, "dose"):
            doses.append(_readRtDose(path))
    for name, values in (("patients", "patient"), ("frames of reference", "frameOfReference")):
        if len({getattr(dose, values) for dose in doses}) > 1:
            raise InputError(f"there are doses of several {name}; choose one of {listed}.")
    if not all(np.isfinite(weight) and weight > 0 for weight in weights):
        raise InputError("weights of doses must be greater than 0.")
    finest = min(doses, key=lambda dose: dose.grid.voxelSize)
    places = np.stack(np.meshgrid(*finest.steps, indexing="ij"), axis=-1).reshape(-1, 3)
    points = finest.grid.toWorld(places)
    total = np.zeros(finest.values.shape)
    for dose, weight in zip(doses, weights, strict=True):
        own = dose.values if dose is finest else dose.valuesAt(points).reshape(finest.grid.size).transpose()
        total += weight * own
    times = [f"{weight:g} x " if weight != 1 else "" for weight in weights]
    named = commaSeparated([f"{factor}{path.name}" for factor, path in zip(times, paths, strict=True)])
    what = f"the sum of {pluralize(len(paths), 'file')}: {named}" if len(paths) > 1 else named
    remark = f"The dose is {what}."
    others = [text for dose in doses for text in dose.remarks if "effective" in text]
    return replace(finest, values=total, file=str(paths[0].parent), remarks=(remark, *others))


def _readImage(path: Path) -> Dose:
    suffix = suffixOf(path)
    if suffix not in IMAGE_SUFFIXES:
        raise InputError(f"this is not a dose; use RTDOSE, or an image in Gy ({', '.join(IMAGE_SUFFIXES)}).")
    _, image = readChecked(path, suffix)
    return Dose.fromImage(image, file=str(path), remarks=(IN_GY.format(file=path.name),))


def _readRtDose(path: Path) -> Dose:
    dataset = read(path)
    with decoded():
        if textOf(dataset, "Modality") != "RTDOSE":
            what = textOf(dataset, "Modality") or "unknown"
            raise InputError(f"this is DICOM of the modality {what}, not RTDOSE.")
        if "PixelData" not in dataset and dataset.get("DVHSequence"):
            raise InputError("the file has dose-volume histograms only, and no grid of the dose.")
        _require(dataset, "DoseUnits")
        unit = UNITS.get(textOf(dataset, "DoseUnits").strip().upper())
        if unit is None:
            raise InputError(f"the dose is in the unit {textOf(dataset, 'DoseUnits')}, and Gy are needed.")
        kind = textOf(dataset, "DoseType").strip().upper()
        if kind == "ERROR":
            raise InputError("the file has the difference between two doses, not a dose.")
        grid, planes, isReversed = _placeOf(dataset)
        values = _values(dataset) * unit
        remarks = [f"{path.name} is {what}." for what in [_whatIsSummed(dataset)] if what != "the dose of a plan"]
        if kind == "EFFECTIVE":
            remarks.append(f"{path.name} has the effective dose, weighted for its biological effect.")
        return Dose(
            values[::-1] if isReversed else values,
            grid,
            str(path),
            textOf(dataset, "FrameOfReferenceUID").strip(),
            patientOf(dataset),
            tuple(remarks),
            planes,
        )


def _require(dataset, *names: str) -> None:
    """Raise InputError, naming the first element that a dataset lacks, or that has no value."""
    from pydicom.tag import Tag

    for name in names:
        if name not in dataset or dataset[name].is_empty:
            raise InputError(f"the file lacks the element {name} {Tag(name)}.")


def _numbers(dataset, name: str, count: int | None = None) -> np.ndarray:
    """Return the numbers of an element. Raises InputError without it, and if there are not `count` of them."""
    _require(dataset, name)
    numbers = np.array(dataset[name].value, float).reshape(-1)
    needed = count or len(numbers)
    if len(numbers) != needed or not np.isfinite(numbers).all():
        raise InputError(f"the element {name} is {textOf(dataset, name)}, instead of {pluralize(needed, 'number')}.")
    return numbers


def _values(dataset) -> np.ndarray:
    """Return the values [k, j, i] of a dose in its own unit."""
    _require(dataset, "PixelData", "BitsStored", "PixelRepresentation", "SamplesPerPixel", "PhotometricInterpretation")
    (scaling,) = _numbers(dataset, "DoseGridScaling", 1)
    if scaling <= 0:
        raise InputError(f"the element DoseGridScaling is {scaling:g}, so the file has no dose.")
    syntax = dataset.file_meta.TransferSyntaxUID
    if not canDecode(syntax):
        raise InputError(f"the dose is stored as {syntax.name}, which is not supported; store it without compression.")
    return dataset.pixel_array.astype(np.float64).reshape(-1, dataset.Rows, dataset.Columns) * scaling


def _placeOf(dataset) -> tuple[Grid, np.ndarray | None, bool]:
    """Return the grid of an RTDOSE file, its planes as of a Dose, and whether they are stored the other way round."""
    _require(dataset, "Rows", "Columns", "BitsAllocated")
    if (dataset.get("NumberOfFrames") or 1) == 1 and np.size(dataset.get("GridFrameOffsetVector")) < 2:
        raise InputError("the dose is known in one plane only; a volume is needed.")
    _require(dataset, "NumberOfFrames")
    row, column = _numbers(dataset, "ImageOrientationPatient", 6).reshape(2, 3)
    rowSpacing, columnSpacing = _numbers(dataset, "PixelSpacing", 2)
    origin, offsets = _numbers(dataset, "ImagePositionPatient", 3), _numbers(dataset, "GridFrameOffsetVector")
    normal = np.cross(row, column)
    # the vector starts at 0 and goes along the normal, or it has the patient's z of every plane
    isOfPatient = offsets[0] != 0 and abs(offsets[0] - origin[2]) < SAME_PLACE
    if len(offsets) != dataset.NumberOfFrames:
        raise InputError("the number of planes differs from the number of their positions.")
    offsets = (offsets - offsets[0]) * (-1 if isOfPatient and normal[2] < 0 else 1)
    isReversed = bool(offsets[-1] < 0)
    start = min(offsets[-1], 0.0)
    planes = (offsets - start)[::-1] if isReversed else offsets
    if (np.diff(planes) <= 0).any():
        raise InputError("the planes of the dose are not in order.")
    step = planes[-1] / (len(planes) - 1)
    planes = planes / step
    axes = np.column_stack([row * columnSpacing, column * rowSpacing, normal * step])
    matrix = affine(axes, origin + normal * start)
    isEven = np.abs(planes - np.arange(len(planes))).max() <= EVEN
    return Grid((dataset.Columns, dataset.Rows, len(planes)), matrix), None if isEven else planes, isReversed


def _beamsOf(dataset) -> list[tuple[str, str]]:
    """Return the beams that a dose is of: the number of the fraction group and that of the beam."""
    return [
        (textOf(group, "ReferencedFractionGroupNumber"), textOf(beam, "ReferencedBeamNumber"))
        for plan in dataset.get("ReferencedRTPlanSequence", [])
        for group in plan.get("ReferencedFractionGroupSequence", [])
        for beam in group.get("ReferencedBeamSequence", [])
    ]


def _whatIsSummed(dataset) -> str:
    """Return what a dose is the sum of, in words."""
    plans = len(dataset.get("ReferencedRTPlanSequence", []))
    summed = textOf(dataset, "DoseSummationType").strip().upper()
    if summed == "MULTI_PLAN" or plans > 1:
        return f"the sum of {plans or 'several'} plans"
    if summed in ("BEAM", "BRACHY", "CONTROL_POINT"):
        beams = [beam for _, beam in _beamsOf(dataset)]
        return f"the dose of beam {commaSeparated(beams)} alone" if beams else "the dose of a single beam"
    if summed == "FRACTION":
        return "the dose of a single fraction group"
    return "the dose of a plan"
