"""Files: label maps, segmentations and meshes in; every problem becomes one sentence that names the file."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from .. import dicom, inputs
from ..cores import eachSideBySide
from ..errors import InputError, requireText
from ..geometry import meshing
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..structures import LEFT_OUT, NOTES, WITHOUT_LABELS, Structure, listed
from . import fractional, integrity, niftiheaders, stlheaders, vtpheaders
from .messages import quiet
from .segmentationfiles import readSegments, segmentHeaders, wholeGrid
from .textheaders import unicodeText

IMAGE_SUFFIXES = (".nrrd", ".nhdr", ".nii", ".nii.gz", ".mha", ".mhd")
MESH_SUFFIXES = (".stl", ".obj", ".ply", ".vtp")
DICOM_SUFFIX = ".dcm"
SUFFIXES = (".seg.nrrd", *IMAGE_SUFFIXES, *MESH_SUFFIXES, DICOM_SUFFIX)

# Spaces of NIfTI files in which equal coordinates mean equal places.
NIFTI_SPACES = {
    "NIFTI_XFORM_SCANNER_ANAT": "scanner",
    "NIFTI_XFORM_TALAIRACH": "Talairach",
    "NIFTI_XFORM_MNI_152": "MNI 152",
    "NIFTI_XFORM_TEMPLATE_OTHER": "template",
}


class UnusableFile(InputError):
    """A file that cannot be compared; the message says which file and why."""


def readStructures(
    path: str | Path, threshold: float | None = None, maximum: int | None = None, name: str | None = None
) -> list[Structure]:
    """Return the structures of a file or folder.

    Every segment of a .seg.nrrd, every label of an image (named `Label 5`), a mesh (named by the file's stem), or every
    such file of a folder (named by stem). An image without labels is one empty structure. threshold, maximum: of images
    of memberships, see Settings. name: of the structures that are wanted, such as "Parotid_L", usually one; all when
    None. Raises UnusableFile, a ValueError, for whatever cannot be read or is no segmentation, and when there
    is no structure of that name: the message lists those that there are.
    """
    structures = _readAny(Path(path), threshold, maximum)
    if name is None:
        return structures
    named = [structure for structure in structures if structure.name == name]
    if not named:
        known = listed(structure.name for structure in structures)
        raise UnusableFile(f"{path}: there is no structure named {name!r}; it has {known}.")
    return named


def _readAny(path: Path, threshold: float | None, maximum: int | None) -> list[Structure]:
    try:
        requireText(path)
    except InputError as error:
        raise UnusableFile(str(error)) from error
    try:
        isFolder, isThere = path.is_dir(), path.exists()
    except OSError as error:  # a name that is too long, say
        raise UnusableFile(f"{path}: the file cannot be opened ({error.strerror}).") from error
    if isFolder:
        return _readFolder(path, threshold, maximum)
    if not isThere:
        raise UnusableFile(f"{path}: there is no such file.")
    suffix = suffixOf(path) or (DICOM_SUFFIX if path.is_file() and _saysDicom(path) else "")
    if not suffix:
        raise UnusableFile(
            f"{path}: this kind of file is not supported; use {', '.join(SUFFIXES)} or a folder of such files."
        )
    try:
        if not path.is_file():
            raise UnusableFile(f"{path}: this is neither a file nor a folder.")
        if path.stat().st_size == 0:
            raise UnusableFile(f"{path}: the file is empty.")
        with path.open("rb"):
            pass
    except OSError as error:
        raise UnusableFile(f"{path}: the file cannot be opened ({error.strerror}).") from error
    try:
        if suffix == DICOM_SUFFIX:
            return dicom.readStructures(path, threshold)
        return _readMesh(path, suffix) if suffix in MESH_SUFFIXES else _readImage(path, suffix, threshold, maximum)
    except UnusableFile:
        raise
    except ValueError as error:
        raise UnusableFile(f"{path}: {error}") from error
    except MemoryError as error:
        raise UnusableFile(f"{path}: it is too large for the memory of this computer.") from error


def readAll(paths: Iterable[Path], threshold: float | None = None, maximum: int | None = None) -> list[list[Structure]]:
    """Return what readStructures() returns for each of some files or folders, several of them read at a time.

    Raises its UnusableFile, that of the first in order.
    """
    errors: dict[int, UnusableFile] = {}

    def attempt(numbered: tuple[int, Path]) -> list[Structure]:
        number, path = numbered
        if any(other < number for other in list(errors)):
            return []  # nobody wants to see it any more
        try:
            return readStructures(path, threshold, maximum)
        except UnusableFile as error:
            errors[number] = error
            return []

    found = eachSideBySide(attempt, enumerate(paths))
    if errors:
        raise errors[min(errors)]
    return found


def suffixOf(path: Path) -> str:
    """Return the supported suffix of a file name in lower case, the longest that fits; "" if none does."""
    return max((s for s in SUFFIXES if path.name.lower().endswith(s)), key=len, default="")


def stemOf(path: Path) -> str:
    """Return the file name without its supported suffix."""
    return path.name[: len(path.name) - len(suffixOf(path))]


def _saysDicom(path: Path) -> bool:
    try:
        return dicom.isDicom(path)
    except OSError:  # whoever reads it says why
        return False


def _readFolder(folder: Path, threshold: float | None, maximum: int | None) -> list[Structure]:
    """Return the structures of the files of a folder; of DICOM files, the contours and segmentations; no results.

    Where nothing in it can be compared, DICOM files in the folders below count: a patient has some for each series.
    """
    members = sorted(p for p in folder.iterdir() if not p.is_dir() and not p.name.startswith("."))
    found = [p for p in members if suffixOf(p) not in ("", DICOM_SUFFIX) and not _isResult(p)]
    objects = _dicomObjects(members)
    if not found and not objects:
        objects = _dicomObjects(sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")))
    if len(objects) == 1 and not found:
        return readStructures(objects[0], threshold)
    found = sorted([*found, *objects])
    if not found:
        raise UnusableFile(f"{folder}: the folder holds no files that can be compared ({', '.join(SUFFIXES)}).")
    structures = []
    for path, members in zip(found, readAll(found, threshold, maximum), strict=True):
        leftOut = {name: why for member in members for name, why in member.source.get(LEFT_OUT, {}).items()}
        for member in members:
            name = stemOf(path) if len(members) + len(leftOut) == 1 else f"{stemOf(path)} {member.name}"
            # in a folder an image without labels is the empty structure of that name
            source = {key: value for key, value in member.source.items() if key != WITHOUT_LABELS}
            if leftOut:
                source[LEFT_OUT] = {f"{stemOf(path)} {name}": why for name, why in leftOut.items()}
            structures.append(replace(member, name=name, source=source))
    return structures


def _isResult(path: Path) -> bool:
    """Return whether a file in a folder of structures is none of them, but a result that was written there."""
    try:
        return suffixOf(path) == ".vtp" and path.is_file() and vtpheaders.isResult(path)
    except OSError:  # whoever reads it says why
        return False


def _dicomObjects(paths: list[Path]) -> list[Path]:
    """Return which of some files are DICOM structure sets or segmentations, not images."""
    return [p for p in paths if suffixOf(p) in ("", DICOM_SUFFIX) and _saysDicom(p) and _holdsStructures(p)]


def _holdsStructures(path: Path) -> bool:
    try:
        return dicom.holdsStructures(path)
    except InputError as error:  # what it holds cannot be told, so it is not left out either
        raise UnusableFile(f"{path}: {error}") from error


def _readImage(path: Path, suffix: str, threshold: float | None, maximum: int | None) -> list[Structure]:
    remarks, image = _inspected(path, suffix)
    frame = frameOfReference(image)
    if suffix in (".nii", ".nii.gz") and (header := niftiheaders.check(path)) is not None:
        grid = Grid.fromImage(image)
        remarks += niftiheaders.remarks(header, grid)
        frame = frameOfReference(image, niftiheaders.formsTaken(header, grid))
    structures = _structuresOf(path, image, frame, threshold, maximum)
    return [replace(s, source={**s.source, NOTES: remarks}) for s in structures] if remarks else structures


def _inspected(path: Path, suffix: str) -> tuple[tuple[str, ...], SimpleITK.Image]:
    """Return what a reader of the numbers should know of an image file, and the image."""
    if suffix in (".nrrd", ".seg.nrrd"):
        # the sum that the file ends with is looked at much sooner than the file is decompressed once more
        remarks, promised = integrity.inspect(path, suffix, withVoxels=False), integrity.promisedSum(path)
        if promised is not None:
            with suppress(UnusableFile):  # a full look may know better what is wrong
                image = _loadImage(path, suffix)
                if zlib.crc32(SimpleITK.GetArrayViewFromImage(image)) == promised:
                    return remarks, image
    return integrity.inspect(path, suffix), _loadImage(path, suffix)


def _structuresOf(
    path: Path, image: SimpleITK.Image, frame: str, threshold: float | None, maximum: int | None
) -> list[Structure]:
    segments = segmentHeaders(image)
    common = {"file": str(path), "frameOfReference": frame}
    if segments:
        if fractional.isFractional(image):
            return fractional.segmentsOf(image, segments, wholeGrid(image, Grid.fromImage(image)), threshold, common)
        return readSegments(path, image, segments, frame)
    memberships = inputs.membershipsOf(image, maximum)
    if memberships is not None:
        structure = inputs.structureFromMemberships("Label 1", memberships, threshold, **common)
        if structure.isEmpty:
            structure = replace(structure, name=stemOf(path), source={WITHOUT_LABELS: True})
        return [structure]
    labels = inputs.labelMasks(image, inputs.HALF)
    if not labels:
        nothing = Mask.empty(Grid.fromImage(image))
        return [Structure(stemOf(path), nothing, source={WITHOUT_LABELS: True}, **common)]
    return [Structure(f"Label {label}", mask, **common) for label, mask in labels.items()]


def _loadImage(path: Path, suffix: str) -> SimpleITK.Image:
    try:
        with quiet(), niftiheaders.readable(path) as read:
            return SimpleITK.ReadImage(str(read))
    except RuntimeError as error:
        raise UnusableFile(
            f"{path}: the file cannot be read as an image: {_problem(str(error), path, suffix)}."
        ) from error


def _problem(message: str, path: Path, suffix: str) -> str:
    """Return in plain words what a reader of images complains about."""
    if not path.name.endswith(suffix):
        return f"rename it so that it ends in {suffix}, in small letters"
    if "Unable to determine ImageIO" in message or "not recognized" in message:
        return f"its content is not that of a {suffix} file"
    if "allocate" in message:
        return "it is too large for the memory of this computer"
    if "orthonormal" in message:
        return "the axes in its header are not at right angles to each other"
    if suffix in (".nhdr", ".mhd"):
        return "it is damaged, or the data file that belongs to it is missing"
    return "it is damaged or incomplete"


def readGrid(path: str | Path) -> Grid:
    """Return the grid of an image file, whatever its voxels hold; of a segmentation, that of the image it was drawn on.

    Raises UnusableFile, a ValueError, for a file that is no image.
    """
    path = Path(path)
    suffix = suffixOf(path)
    if suffix in ("", *MESH_SUFFIXES):
        raise UnusableFile(f"{path}: this is no image whose grid could be taken; use {', '.join(IMAGE_SUFFIXES)}.")
    if not path.is_file():
        raise UnusableFile(f"{path}: there is no such file.")
    reader = SimpleITK.ImageFileReader()
    reader.SetFileName(str(path))
    try:
        integrity.inspect(path, suffix, withVoxels=False)
        with quiet():
            reader.ReadImageInformation()
        # it answers as an image does
        return wholeGrid(reader, Grid.fromImage(reader))
    except RuntimeError as error:
        raise UnusableFile(
            f"{path}: the file cannot be read as an image: {_problem(str(error), path, suffix)}."
        ) from error
    except InputError as error:
        raise UnusableFile(f"{path}: {error}") from error


def frameOfReference(image: SimpleITK.Image, forms: Iterable[str] = ("sform", "qform")) -> str:
    """Return what a file says about its frame of reference: a DICOM UID, or the space of a NIfTI file.

    "Aligned" NIfTI files do not say with what, and common tools write it into every file: it counts as nothing said.
    forms: places in the header of a NIfTI file that are where the voxels were put; the space of others is not theirs.
    """
    keys = image.GetMetaDataKeys()
    for key in ("0020|0052", "FrameOfReferenceUID"):
        if key in keys:
            return unicodeText(image.GetMetaData(key)).strip()
    for form in forms:
        key = f"{form}_code_name"
        name = image.GetMetaData(key) if key in keys else ""
        if name in NIFTI_SPACES:
            return NIFTI_SPACES[name]
    return ""


def _readMesh(path: Path, suffix: str) -> list[Structure]:
    polyData, inRas = readPolyData(path, suffix)
    if polyData.GetNumberOfCells() == 0:
        raise InputError("the mesh has no cells: no triangles and no contour lines.")
    surface = meshing.fromPolyData(polyData)
    if inRas:
        surface = meshing.transformed(surface, lambda points: points * (-1, -1, 1))
    return [Structure(stemOf(path), givenSurface=surface, surfaceKind="imported", file=str(path))]


def readPolyData(path: Path, suffix: str) -> tuple[vtkPolyData, bool]:
    """Return a mesh file's polydata, and whether the file says that it is in RAS; files that say nothing are in LPS."""
    if suffix == ".ply":
        from .ply import readPly

        polyData, note = readPly(path)
        return polyData, "SPACE=RAS" in note
    if suffix == ".vtp":
        vtpheaders.check(path)
        from vtkmodules.vtkIOXML import vtkXMLPolyDataReader as Reader
    elif suffix == ".stl":
        stlheaders.check(path)
        from vtkmodules.vtkIOGeometry import vtkSTLReader as Reader
    else:
        from vtkmodules.vtkIOGeometry import vtkOBJReader as Reader
    reader = Reader()
    reader.SetFileName(str(path))
    with quiet() as messages:
        reader.Update()
    polyData = reader.GetOutput()
    if polyData is None or "ERROR:" in messages.GetOutput():
        raise InputError(vtpheaders.NO_MESH)
    # Slicer notes the coordinate system in the header or in the field data
    if suffix == ".vtp":
        space = polyData.GetFieldData().GetAbstractArray("SPACE")
        note = f"SPACE={space.GetValue(0)}" if space is not None and space.GetNumberOfValues() else ""
    else:
        note = (reader.GetHeader() if suffix == ".stl" else reader.GetComment()) or ""
    if isinstance(note, bytes):  # a header that is no text in VTK's eyes
        note = note.decode("latin-1")
    return polyData, "SPACE=RAS" in note
