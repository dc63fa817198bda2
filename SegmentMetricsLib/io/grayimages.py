"""Reading the image under the contours: NIfTI, NRRD, MetaImage, or a series of DICOM files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import SimpleITK

from ..base.errors import InputError, asPath
from ..base.texts import commaSeparated, counted
from ..geometry.grids import Grid
from ..model.grayimages import GrayImage
from .dicom.opening import isDicom
from .formats import nifti
from .formats.headers import unicodeText
from .formats.table import IMAGE_SUFFIXES
from .messages import quiet
from .reading import DICOM_SUFFIX, UnusableFile, frameOfReference, inspected, suffixOf
from .segmentationfiles import segmentHeaders

# Modalities of DICOM files that are no images of the patient.
NO_IMAGES = ("RTSTRUCT", "SEG", "RTPLAN", "RTDOSE", "RTRECORD", "RTIMAGE", "REG", "PR", "SR", "KO", "DOC", "FID")
MODALITY, DESCRIPTION, PATIENT = "0008|0060", "0008|103e", "0010|0020"
POSITION, FRAME = "0020|0032", "0020|0052"
SEGMENTATION_SUFFIX = ".seg.nrrd"
# The distances of slices may differ by this fraction.
UNEVEN = 0.02
# Most series that a message lists.
MOST_SERIES = 5


def readGrayImage(path: str | Path) -> GrayImage:
    """Return the image in a file, or that of the DICOM series in a folder or of which a file is given.

    Raises UnusableFile, a ValueError, for anything but one image of gray values in space, such as a color image, one of
    four dimensions, a segmentation, or a folder of several series.
    """
    path = asPath(path)
    try:
        if not path.exists():
            raise InputError("there is no such file or folder.")
        if path.is_dir() or suffixOf(path) == DICOM_SUFFIX or (not suffixOf(path) and isDicom(path)):
            return _fromSeries(path)
        if suffixOf(path) not in (SEGMENTATION_SUFFIX, *IMAGE_SUFFIXES):
            kinds = ", ".join((*IMAGE_SUFFIXES, DICOM_SUFFIX))
            raise InputError(f"this is not an image that can be shown; use {kinds} or a folder of DICOM files.")
        return _fromFile(path)
    except UnusableFile:
        raise
    except InputError as error:
        raise UnusableFile(f"{path}: {error}") from error
    except OSError as error:
        raise UnusableFile(f"{path}: the image cannot be read ({error.strerror}).") from error
    except MemoryError as error:
        raise UnusableFile(f"{path}: it is too large for the memory of this computer.") from error


def _fromFile(path: Path) -> GrayImage:
    suffix = suffixOf(path)
    _, image = inspected(path, suffix)
    if segmentHeaders(image) or suffix == SEGMENTATION_SUFFIX:
        raise InputError("this is a segmentation, not the image that it was drawn on.")
    grid = _gridOf(image)
    header = nifti.check(path) if suffix in (".nii", ".nii.gz") else None
    forms = ("sform", "qform") if header is None else nifti.formsTaken(header, grid)
    return GrayImage(_valuesOf(image), grid, name=path.name, frameOfReference=frameOfReference(image, forms))


def _gridOf(image: SimpleITK.Image) -> Grid:
    """Return the grid of an image. Raises InputError unless it has one value per voxel, in 2 or 3 dimensions."""
    if image.GetNumberOfComponentsPerPixel() > 1:
        number = image.GetNumberOfComponentsPerPixel()
        raise InputError(f"it has {number} values per voxel, as color images have; an image of gray values is needed.")
    if image.GetDimension() > 3:
        raise InputError(f"it has {image.GetDimension()} dimensions; choose one of its volumes and save it by itself.")
    return Grid.fromImage(image)


def _valuesOf(image: SimpleITK.Image) -> np.ndarray:
    """Return the values [k, j, i], those that are not finite as the lowest. Raises InputError if none is finite."""
    values = SimpleITK.GetArrayFromImage(image)
    if values.ndim == 2:
        values = values[None]
    if values.dtype.kind == "c":
        raise InputError("its values are complex; an image of gray values is needed.")
    if values.dtype.kind == "f":
        isFinite = np.isfinite(values)
        if not isFinite.any():
            raise InputError("none of its values is a number.")
        if not isFinite.all():
            values = np.where(isFinite, values, values[isFinite].min())
    # large whole numbers as fractions: these are pictures, and small types are faster
    return values if values.dtype.itemsize <= 2 else values.astype(np.float32)


def _fromSeries(path: Path) -> GrayImage:
    """Return the image of the only series in a folder, or of the series of a file."""
    folder, file = (path, None) if path.is_dir() else (path.parent, path)
    reader = SimpleITK.ImageSeriesReader()
    with quiet():
        found = {one: reader.GetGDCMSeriesFileNames(str(folder), one) for one in reader.GetGDCMSeriesIDs(str(folder))}
    if file is not None:
        found = {one: names for one, names in found.items() if any(Path(name).samefile(file) for name in names)}
    given = ((_headerOf(names[0]), names) for names in found.values())
    series = [(header, names) for header, names in given if header is not None and header.modality not in NO_IMAGES]
    if not series:
        raise InputError("this holds no DICOM image." if file is None else "this is no DICOM image.")
    if len(series) > 1:
        told = [
            f"{header.title} ({counted(len(names), 'file')}, such as {Path(names[0]).name})"
            for header, names in series[:MOST_SERIES]
        ]
        raise InputError(
            f"this folder holds {len(series)} series of images: {commaSeparated(told)}; give a file of the one that is "
            "meant, or a folder with this one alone."
        )
    header, names = series[0]
    return _read(names, header)


class _Header(NamedTuple):
    """What the header of a DICOM file says.

    modality: "" if unknown. patient: fingerprint of the patient's ID. frame: UID of the frame of reference. title: of
    the series, for messages. reader: with all elements.
    """

    modality: str
    patient: str
    frame: str
    title: str
    reader: SimpleITK.ImageFileReader


def _headerOf(file: str) -> _Header | None:
    """Return the header of a DICOM file, None if it is no image."""
    reader = SimpleITK.ImageFileReader()
    reader.SetFileName(file)
    try:
        with quiet():
            reader.ReadImageInformation()
    except RuntimeError:
        return None

    def text(key: str) -> str:
        return unicodeText(reader.GetMetaData(key)).strip(" \0") if reader.HasMetaDataKey(key) else ""

    patient = text(PATIENT)
    # the same as of structures
    fingerprint = hashlib.sha256(patient.encode()).hexdigest() if patient else ""
    title = " ".join(filter(None, (text(MODALITY), text(DESCRIPTION)))) or "image"
    return _Header(text(MODALITY), fingerprint, text(FRAME), title, reader)


def _read(names: tuple[str, ...], header: _Header) -> GrayImage:
    step = _stepOf(names)
    try:
        with quiet():
            image = SimpleITK.ReadImage(names[0] if len(names) == 1 else names)
    except RuntimeError as error:
        raise InputError("the DICOM series is damaged, incomplete, or compressed in a way that is not read.") from error
    grid = _gridOf(image)
    if step is not None:
        # ITK puts the slices of a tilted gantry straight above each other
        matrix = grid.matrix.copy()
        matrix[:3, 2] = step
        grid = Grid(grid.size, matrix, grid.planar)
    return GrayImage(
        _valuesOf(image),
        grid,
        name=Path(names[0]).parent.name if len(names) > 1 else Path(names[0]).name,
        modality=header.modality,
        frameOfReference=header.frame,
        patient=header.patient,
    )


def _stepOf(names: tuple[str, ...]) -> np.ndarray | None:
    """Return the way (3,) from one slice to the next in mm, None if there is one file only, or no positions.

    Raises InputError if the slices are not equally spaced: ITK would move those behind a gap.
    """
    positions = []
    for name in names:
        found = _headerOf(name)
        if found is None or not found.reader.HasMetaDataKey(POSITION):
            return None
        positions.append([float(number) for number in found.reader.GetMetaData(POSITION).split("\\")])
    ways = np.diff(np.array(positions), axis=0)
    if not len(ways):
        return None
    lengths = np.linalg.norm(ways, axis=1)
    if np.ptp(lengths) > UNEVEN * np.median(lengths):
        raise InputError(
            f"the slices of this series are not equally spaced ({lengths.min():.4g} to {lengths.max():.4g} mm apart): "
            "a slice is missing, or one is there twice."
        )
    return ways.mean(axis=0)
