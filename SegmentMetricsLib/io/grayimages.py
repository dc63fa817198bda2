"""Reading the image under the contours: NIfTI, NRRD, MetaImage, or a series of DICOM files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import SimpleITK

from ..base.errors import InputError, asPath
from ..base.texts import commaSeparated, pluralize
from ..geometry.grids import Grid
from ..model.grayimages import GrayImage, shownValues
from ..model.inputs import valuesOf
from .dicom.opening import hashOf
from .dicom.series import Slice, gridOfSlabs, groupsOf, heightsOfSlices, lineThrough, withoutRepeats
from .dicom.unevenslices import Slabs
from .formats import nifti
from .formats.headers import unicodeText
from .formats.table import IMAGE_SUFFIXES
from .messages import quiet
from .reading import DICOM_SUFFIX, NIFTI_SUFFIXES, frameOfReference, kindOfFile, nameFile, readChecked
from .segmentationfiles import segmentHeaders

# Modalities of DICOM files that are no images of the patient.
NO_IMAGES = ("RTSTRUCT", "SEG", "RTPLAN", "RTDOSE", "RTRECORD", "RTIMAGE", "REG", "PR", "SR", "KO", "DOC", "FID")
MODALITY, DESCRIPTION, PATIENT = "0008|0060", "0008|103e", "0010|0020"
POSITION, ORIENTATION, FRAME, INSTANCE = "0020|0032", "0020|0037", "0020|0052", "0008|0018"
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
    with nameFile(path, "image"):
        if not path.exists():
            raise InputError("there is no such file or folder.")
        suffix = kindOfFile(path)
        if path.is_dir() or suffix == DICOM_SUFFIX:
            return _fromSeries(path)
        if suffix not in (SEGMENTATION_SUFFIX, *IMAGE_SUFFIXES):
            kinds = ", ".join((*IMAGE_SUFFIXES, DICOM_SUFFIX))
            raise InputError(f"this is not an image that can be shown; use {kinds} or a folder of DICOM files.")
        _, image = readChecked(path, suffix)
        if segmentHeaders(image) or suffix == SEGMENTATION_SUFFIX:
            raise InputError("this is a segmentation, not the image that it was drawn on.")
        values, grid = _contentOf(image)
        header = nifti.check(path) if suffix in NIFTI_SUFFIXES else None
        return GrayImage(values, grid, name=path.name, frameOfReference=frameOfReference(image, header))


def _contentOf(image: SimpleITK.Image) -> tuple[np.ndarray, Grid]:
    """Return the values [k, j, i] of an image as they are shown, and its grid.

    Raises InputError unless it has one value per voxel, in 2 or 3 dimensions, and if they are complex or not finite.
    """
    if image.GetNumberOfComponentsPerPixel() > 1:
        number = image.GetNumberOfComponentsPerPixel()
        raise InputError(f"it has {number} values per voxel, as color images have; an image of gray values is needed.")
    if any(size > 1 for size in image.GetSize()[3:]):
        raise InputError(f"it has {image.GetDimension()} dimensions; choose one of its volumes and save it by itself.")
    values = valuesOf(image).copy()
    if values.dtype.kind == "c":
        raise InputError("its values are complex; an image of gray values is needed.")
    return shownValues(values), Grid.fromImage(image)


def _fromSeries(path: Path) -> GrayImage:
    """Return the image of the only series in a folder, or of the series of a file."""
    folder, file = (path, None) if path.is_dir() else (path.parent, path)
    reader = SimpleITK.ImageSeriesReader()
    with quiet():
        found = {one: reader.GetGDCMSeriesFileNames(str(folder), one) for one in reader.GetGDCMSeriesIDs(str(folder))}
    if file is not None:
        found = {one: names for one, names in found.items() if any(Path(name).samefile(file) for name in names)}
    given = ((_headerOf(names[0]), names) for names in found.values())
    series = [(header, names) for header, names in given if header and _text(header, MODALITY) not in NO_IMAGES]
    if not series:
        raise InputError("there is no DICOM image in it." if file is None else "this is not a DICOM image.")
    if len(series) > 1:
        told = []
        for header, names in series[:MOST_SERIES]:
            title = " ".join(filter(None, (_text(header, MODALITY), _text(header, DESCRIPTION)))) or "image"
            told.append(f"{title} ({pluralize(len(names), 'file')}, such as {Path(names[0]).name})")
        raise InputError(
            f"this folder holds {len(series)} series of images: {commaSeparated(told)}; give a file of the right "
            "one, or a folder with that one alone."
        )
    header, names = series[0]
    return _read(names, header)


def _headerOf(file: str) -> SimpleITK.ImageFileReader | None:
    """Return a reader with the elements of a DICOM file, None if it is no image."""
    reader = SimpleITK.ImageFileReader()
    reader.SetFileName(file)
    try:
        with quiet():
            reader.ReadImageInformation()
    except RuntimeError:
        return None
    return reader


def _text(header: SimpleITK.ImageFileReader, key: str) -> str:
    return unicodeText(header.GetMetaData(key)).strip(" \0") if header.HasMetaDataKey(key) else ""


def _read(names: Sequence[str], header: SimpleITK.ImageFileReader) -> GrayImage:
    """Return the image in the files of a series: those of its slices that lie in one row."""
    slices = {one: name for name in names if (one := _sliceOf(name)) is not None}
    # of the geometry that most have, in ascending order
    stack = withoutRepeats(max(groupsOf(list(slices)), key=len)) if len(names) > 1 and slices else []
    shown = [slices[one] for one in stack] or names
    try:
        with quiet():
            image = SimpleITK.ReadImage(shown[0] if len(shown) == 1 else shown)
    except RuntimeError as error:
        raise InputError("the DICOM series is damaged, incomplete, or compressed in a way that is not read.") from error
    (values, grid), remarks = _contentOf(image), []
    # a copy of the same image is nothing to talk about
    instances = {name: one.instance for one, name in slices.items()}
    known = {instances.get(name) for name in shown}
    others = [name for name in names if name not in shown and instances.get(name) not in known]
    if others:
        which = "one image that is" if len(others) == 1 else f"{len(others)} images that are"
        remarks.append(
            f"The series under the contours has {which} not shown: only {pluralize(len(stack), 'slice')} lie in one "
            "row, each at another place."
        )
    if len(stack) > 1:
        values, grid, remark = _inPlace(values, grid, stack)
        remarks += filter(None, [remark])
    return GrayImage(
        values,
        grid,
        name=Path(names[0]).parent.name if len(names) > 1 else Path(names[0]).name,
        modality=_text(header, MODALITY),
        frameOfReference=_text(header, FRAME),
        patient=hashOf(_text(header, PATIENT)),
        remarks=tuple(remarks),
    )


def _sliceOf(file: str) -> Slice | None:
    """Return the slice in a DICOM file, None if it does not say where it lies."""
    header = _headerOf(file)
    if header is None or not all(header.HasMetaDataKey(key) for key in (POSITION, ORIENTATION)):
        return None
    try:
        told = [np.array(header.GetMetaData(key).split("\\"), float) for key in (POSITION, ORIENTATION)]
    except ValueError:
        return None
    if [len(numbers) for numbers in told] != [3, 6] or not np.isfinite(np.concatenate(told)).all():
        return None
    columns, rows = header.GetSize()[:2]
    spacing = np.array(header.GetSpacing()[:2])
    return Slice(_text(header, INSTANCE) or file, "", told[0], told[1].reshape(2, 3), spacing, (columns, rows), 0.0)


def _inPlace(values: np.ndarray, grid: Grid, stack: Sequence[Slice]) -> tuple[np.ndarray, Grid, str]:
    """Return the values [k, j, i] of a stack of slices where each of them lies, and a remark, "" without one.

    grid: of ITK, which puts slices straight above each other, at even distances. Slices that are not equally spaced, or
    of which some are missing, are layers of their own thickness. Raises InputError unless they lie in a row.
    """
    ways = np.diff(np.array([one.position for one in stack]), axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    if np.ptp(lengths) <= UNEVEN * np.median(lengths):
        matrix = grid.matrix.copy()
        matrix[:3, 2] = ways.mean(axis=0)
        return values, Grid(grid.size, matrix, grid.planar), ""
    start, way = lineThrough(stack)
    slabs = Slabs.of(heightsOfSlices(stack))
    places = start + slabs.heights[:, None] * way
    if np.linalg.norm(places - [one.position for one in stack], axis=1).max() > lengths.min() / 2:
        raise InputError("the slices of this series do not lie in a row.")
    grid = gridOfSlabs(stack, slabs)
    remark = f"The slices under the contours are not equally spaced: they are shown {slabs.description}."
    return slabs.layersOf(values, 0)[0], grid, remark
