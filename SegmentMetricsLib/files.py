"""Files: label maps, segmentations and meshes in; every problem becomes one sentence that names the file."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonCore import vtkObject
from vtkmodules.vtkCommonDataModel import vtkPolyData

from . import inputs, meshing
from .errors import InputError
from .grids import Grid
from .masks import fromLabels
from .structures import Structure

IMAGE_SUFFIXES = (".nrrd", ".nhdr", ".nii", ".nii.gz", ".mha", ".mhd")
MESH_SUFFIXES = (".stl", ".obj", ".ply", ".vtp")
SUFFIXES = (".seg.nrrd", *IMAGE_SUFFIXES, *MESH_SUFFIXES)


class UnusableFile(InputError):
    """A file that cannot be compared; the message says which file and why."""


def readStructures(path: str | Path, threshold: float = 0.5) -> list[Structure]:
    """Return the structures of a file or folder.

    Every segment of a .seg.nrrd, every label of an image (named `Label 5`), a mesh (named by the file's stem), or every
    such file of a folder (named by stem). An image without labels is one empty structure. threshold: see Settings.
    Raises UnusableFile, a ValueError, for whatever cannot be read or is no segmentation.
    """
    path = Path(path)
    if path.is_dir():
        return _readFolder(path, threshold)
    if not path.exists():
        raise UnusableFile(f"{path}: there is no such file.")
    suffix = suffixOf(path)
    if not suffix:
        raise UnusableFile(
            f"{path}: this kind of file is not supported; use {', '.join(SUFFIXES)} or a folder of such files."
        )
    try:
        if path.stat().st_size == 0:
            raise UnusableFile(f"{path}: the file is empty.")
        with path.open("rb"):
            pass
    except OSError as error:
        raise UnusableFile(f"{path}: the file cannot be opened ({error.strerror}).") from error
    try:
        return _readMesh(path, suffix) if suffix in MESH_SUFFIXES else _readImage(path, threshold)
    except UnusableFile:
        raise
    except ValueError as error:
        raise UnusableFile(f"{path}: {error}") from error


def suffixOf(path: Path) -> str:
    """Return the supported suffix of a file name in lower case, the longest that fits; "" if none does."""
    return max((s for s in SUFFIXES if path.name.lower().endswith(s)), key=len, default="")


def stemOf(path: Path) -> str:
    """Return the file name without its supported suffix."""
    return path.name[: len(path.name) - len(suffixOf(path))]


def _readFolder(folder: Path, threshold: float) -> list[Structure]:
    found = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith(".") and suffixOf(p))
    if not found:
        raise UnusableFile(f"{folder}: the folder holds no files that can be compared ({', '.join(SUFFIXES)}).")
    structures = []
    for path in found:
        members = readStructures(path, threshold)
        for member in members:
            name = stemOf(path) if len(members) == 1 else f"{stemOf(path)} {member.name}"
            structures.append(replace(member, name=name))
    return structures


def _readImage(path: Path, threshold: float) -> list[Structure]:
    image = _loadImage(path)
    segments = segmentHeaders(image)
    frame = frameOfReference(image)
    if segments:
        return _readSegments(path, image, segments, frame)
    labels = inputs.labelMasks(image, threshold)
    if not labels:
        labels = {0: inputs.emptyMask(Grid.fromImage(image))}
    return [
        Structure(f"Label {label}" if label else stemOf(path), mask, file=str(path), frameOfReference=frame)
        for label, mask in labels.items()
    ]


def _loadImage(path: Path) -> SimpleITK.Image:
    try:
        with quiet():
            return SimpleITK.ReadImage(str(path))
    except RuntimeError as error:
        detail = re.sub(r"\s+", " ", str(error)).rsplit("ITK ERROR:", 1)[-1].strip()
        # what the readers add about themselves helps nobody
        detail = re.sub(r"^\S+\(0x[0-9a-f]+\):\s*", "", detail)
        raise UnusableFile(f"{path}: the file cannot be read as an image ({detail[:200]}).") from error


def segmentHeaders(image: SimpleITK.Image) -> list[dict]:
    """Return the segments that a Slicer segmentation lists in its header; [] if it is none."""
    keys = image.GetMetaDataKeys()
    segments = []
    while f"Segment{len(segments)}_ID" in keys:
        prefix = f"Segment{len(segments)}_"

        def value(key: str, default: str, prefix: str = prefix) -> str:
            return image.GetMetaData(prefix + key) if prefix + key in keys else default

        color = tuple(float(c) for c in value("Color", "").split()) or None
        segments.append(
            {
                "id": value("ID", ""),
                "name": value("Name", value("ID", "")),
                # files of Slicer before 4.11 keep every segment in a layer of its own
                "label": int(value("LabelValue", "1")),
                "layer": int(value("Layer", str(len(segments)))),
                "color": color if color and len(color) == 3 else None,
            }
        )
    return segments


def _readSegments(path: Path, image: SimpleITK.Image, segments: list[dict], frame: str) -> list[Structure]:
    array = SimpleITK.GetArrayViewFromImage(image)
    if array.dtype.kind not in "iu":
        raise InputError("the segmentation is stored with values that are not whole numbers.")
    grid = Grid.fromImage(image)
    whole = wholeGrid(image, grid)
    layers = [array] if image.GetNumberOfComponentsPerPixel() == 1 else list(np.moveaxis(array, -1, 0))
    masks = [fromLabels(np.ascontiguousarray(layer), grid) for layer in layers]
    structures = []
    for segment in segments:
        if segment["layer"] >= len(masks):
            raise InputError(f"the header puts segment {segment['name']!r} into a layer that the file does not have.")
        mask = masks[segment["layer"]].get(segment["label"], inputs.emptyMask(grid)).on(whole)
        structures.append(
            Structure(
                segment["name"],
                mask,
                file=str(path),
                frameOfReference=frame,
                color=segment["color"],
                source={"segmentID": segment["id"]},
            )
        )
    return structures


def wholeGrid(image: SimpleITK.Image, grid: Grid) -> Grid:
    """Return the grid of the image that a segmentation was drawn on; Slicer stores only the part that is in use."""
    key = "Segmentation_ConversionParameters"
    parameters = image.GetMetaData(key) if key in image.GetMetaDataKeys() else ""
    found = re.search(r"Reference image geometry\|([^|]*)\|", parameters)
    geometry = Grid.fromSlicerGeometry(found.group(1)) if found else None
    return geometry if geometry is not None and grid.offsetOn(geometry) is not None else grid


def frameOfReference(image: SimpleITK.Image) -> str:
    """Return what a file says about its frame of reference: a DICOM UID or a NIfTI space other than the scanner's."""
    keys = image.GetMetaDataKeys()
    for key in ("0020|0052", "FrameOfReferenceUID"):
        if key in keys:
            return image.GetMetaData(key).strip()
    for key in ("sform_code_name", "qform_code_name"):
        name = image.GetMetaData(key) if key in keys else "NIFTI_XFORM_UNKNOWN"
        if name != "NIFTI_XFORM_UNKNOWN":
            return name.removeprefix("NIFTI_XFORM_").replace("_", " ").lower()
    return ""


def _readMesh(path: Path, suffix: str) -> list[Structure]:
    polyData, inRas = readPolyData(path, suffix)
    if polyData.GetNumberOfCells() == 0:
        raise InputError("the mesh has no cells.")
    surface = meshing.fromPolyData(polyData)
    if inRas:
        surface = meshing.transformed(surface, lambda points: points * (-1, -1, 1))
    return [Structure(stemOf(path), givenSurface=surface, surfaceKind="imported", file=str(path))]


def readPolyData(path: Path, suffix: str) -> tuple[vtkPolyData, bool]:
    """Return a mesh file's polydata, and whether the file says that it is in RAS; files that say nothing are in LPS."""
    if suffix == ".vtp":
        from vtkmodules.vtkIOXML import vtkXMLPolyDataReader as Reader
    elif suffix == ".stl":
        from vtkmodules.vtkIOGeometry import vtkSTLReader as Reader
    elif suffix == ".obj":
        from vtkmodules.vtkIOGeometry import vtkOBJReader as Reader
    else:
        from vtkmodules.vtkIOPLY import vtkPLYReader as Reader
    reader = Reader()
    reader.SetFileName(str(path))
    problems = []
    reader.AddObserver("ErrorEvent", lambda *_: problems.append(True))
    with quiet():
        reader.Update()
    polyData = reader.GetOutput()
    if problems or polyData is None:
        raise InputError("the file cannot be read as a mesh.")
    # Slicer notes the coordinate system in the header or in the field data
    if suffix == ".vtp":
        space = polyData.GetFieldData().GetAbstractArray("SPACE")
        note = f"SPACE={space.GetValue(0)}" if space is not None and space.GetNumberOfValues() else ""
    elif suffix == ".ply":
        comments = reader.GetComments()
        note = " ".join(comments.GetValue(n) for n in range(comments.GetNumberOfValues()))
    else:
        note = (reader.GetHeader() if suffix == ".stl" else reader.GetComment()) or ""
    return polyData, "SPACE=RAS" in note


@contextmanager
def quiet():
    """Keep the readers' own warnings off the terminal: what matters becomes an exception."""
    vtkWarnings = vtkObject.GetGlobalWarningDisplay()
    itkWarnings = SimpleITK.ProcessObject.GetGlobalWarningDisplay()
    vtkObject.GlobalWarningDisplayOff()
    SimpleITK.ProcessObject.GlobalWarningDisplayOff()
    try:
        yield
    finally:
        vtkObject.SetGlobalWarningDisplay(vtkWarnings)
        SimpleITK.ProcessObject.SetGlobalWarningDisplay(itkWarnings)
