"""Reading label maps, segmentations and meshes; every problem becomes one sentence that names the file."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import SimpleITK

from .. import dicom, inputs
from ..cores import eachSideBySide
from ..errors import InputError, NoSegmentation, asPath, requireText
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..settings import Settings
from ..structures import (
    LABEL,
    LEFT_OUT,
    NO_STRUCTURES,
    NOTES,
    WITHOUT_LABELS,
    Structure,
    asName,
    inAnySpelling,
    numbered,
    requireUsable,
)
from ..texts import commaSeparated, didYouMean, tellingApart
from . import fractional, integrity, niftiheaders, vtpheaders
from .labelnames import labelNamesFrom
from .meshfiles import readMesh
from .messages import quiet
from .segmentationfiles import readSegments, segmentHeaders, wholeGrid
from .textheaders import unicodeText

IMAGE_SUFFIXES = (".nrrd", ".nhdr", ".nii", ".nii.gz", ".mha", ".mhd")
MESH_SUFFIXES = (".stl", ".obj", ".ply", ".vtp")
DICOM_SUFFIX = ".dcm"
SUFFIXES = (".seg.nrrd", *IMAGE_SUFFIXES, *MESH_SUFFIXES, DICOM_SUFFIX)

# Coordinate spaces of NIfTI files in which equal coordinates mean equal places.
NIFTI_SPACES = {
    "NIFTI_XFORM_SCANNER_ANAT": "scanner",
    "NIFTI_XFORM_TALAIRACH": "Talairach",
    "NIFTI_XFORM_MNI_152": "MNI 152",
    "NIFTI_XFORM_TEMPLATE_OTHER": "template",
}


class UnusableFile(InputError):
    """A file that cannot be compared; the message names the file and the reason."""


class NoSegmentationFile(UnusableFile):
    """An image file that contains no structures, such as a CT. reason: without the file's name."""

    def __init__(self, path: Path, reason: str):
        super().__init__(f"{path}: {reason}")
        self.reason = reason


@dataclass(frozen=True)
class _How:
    """Options for reading files. threshold, maximum: of memberships, see Settings. labelNames: by label number.

    title: name of the file or folder in remarks, its own if "".
    """

    threshold: float | None
    maximum: int | None
    labelNames: Mapping[int, str]
    title: str = ""

    def within(self, path: Path) -> _How:
        """Return the options for a file of a folder."""
        return replace(self, title=self.title and str(Path(self.title, path.name)))


def readStructures(
    path: str | Path,
    *,
    threshold: float | None = None,
    maximum: int | None = None,
    name: str | int | None = None,
    labelNames: Mapping[int, str] | str | Path | None = None,
) -> list[Structure]:
    """Return the structures of a file or folder.

    The structures are every segment of a .seg.nrrd, every label of an image (named `Label 5`, or by the file's stem if
    it is the only one), a mesh (named by the file's stem), or those of all such files in a folder (named by stem). An
    image without labels is one empty structure. An image in a folder that is no segmentation, such as a CT, is left
    out, which is noted in the sources of the other structures. threshold, maximum: of images of memberships, see
    Settings. name: of the structures to return, such as "Parotid_L", usually one, in any spelling, or a label number;
    None returns all. labelNames: names by number for labels without a name of their own, or a file with them, of the
    kinds that the command-line option --label-names accepts. Raises UnusableFile, a ValueError, for a file that cannot
    be read or is no segmentation, and if there is no structure of that name; the message lists the available ones.
    Raises InputError, a ValueError, for invalid names of structures or labels.
    """
    # all arguments are checked before anything is read
    path, names = asPath(path), labelNamesFrom(labelNames)
    scale = Settings(threshold=threshold, membershipMaximum=maximum)
    if name is not None:
        asName(name)
    structures = _readAny(path, _How(scale.threshold, scale.membershipMaximum, names))
    if name is None:
        return structures
    wanted = inAnySpelling([name], names, structures)
    named = [structure for structure in structures if structure.name in wanted]
    if not named:
        try:
            requireUsable(wanted[0], structures)
        except InputError as error:
            raise UnusableFile(f"{path}: {error}") from error
        known = [structure.name for structure in structures]
        raise UnusableFile(
            f"{path}: there is no structure named {name!r}; it has {commaSeparated(known)}."
            f"{didYouMean(asName(name), known)}"
        )
    return named


def _readAny(path: Path, how: _How) -> list[Structure]:
    try:
        requireText(path)
    except InputError as error:
        raise UnusableFile(str(error)) from error
    try:
        isFolder, isThere = path.is_dir(), path.exists()
    except OSError as error:  # for example, the name is too long
        raise UnusableFile(f"{path}: the file cannot be opened ({error.strerror}).") from error
    if isFolder:
        return _readFolder(path, how)
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
            return dicom.readStructures(path, how.threshold, how.title)
        if suffix in MESH_SUFFIXES:
            return [readMesh(path, suffix, stemOf(path))]
        return _readImage(path, suffix, how)
    except UnusableFile:
        raise
    except NoSegmentation as error:
        raise NoSegmentationFile(path, str(error)) from error
    except ValueError as error:
        raise UnusableFile(f"{path}: {error}") from error
    except MemoryError as error:
        raise UnusableFile(f"{path}: it is too large for the memory of this computer.") from error


def readAll(
    paths: Iterable[str | Path],
    threshold: float | None = None,
    maximum: int | None = None,
    labelNames: Mapping[int, str] | None = None,
) -> list[list[Structure]]:
    """Return the result of readStructures() for each of several files or folders, which are read in parallel.

    Raises UnusableFile of the first path in order that fails.
    """
    paths, how = list(paths), _How(threshold, maximum, labelNames or {})
    titles = tellingApart(paths)
    return _readEach([(path, replace(how, title=titles[path])) for path in paths])


def _readEach(given: Iterable[tuple[str | Path, _How]], isFolder: bool = False) -> list:
    """Return the structures of each of several files or folders. Raises UnusableFile of the first in order that fails.

    given: each with its options. isFolder: whether the files are those of a folder; if so, the result for an image that
    is no segmentation is its NoSegmentationFile error.
    """
    errors: dict[int, UnusableFile] = {}

    def attempt(numbered: tuple[int, tuple[str | Path, _How]]) -> list[Structure] | NoSegmentationFile:
        number, (path, how) = numbered
        if any(other < number for other in list(errors)):
            return []  # not needed, because an earlier path has failed
        try:
            return _readAny(Path(path), how)
        except UnusableFile as error:
            if isFolder and isinstance(error, NoSegmentationFile):
                return error
            errors[number] = error
            return []

    found = eachSideBySide(attempt, enumerate(given))
    if errors:
        raise errors[min(errors)]
    return found


def suffixOf(path: Path) -> str:
    """Return the longest supported suffix that a file name ends with, in lower case, or "" if there is none."""
    return max((s for s in SUFFIXES if path.name.lower().endswith(s)), key=len, default="")


def stemOf(path: Path) -> str:
    """Return the file name without its supported suffix."""
    return path.name[: len(path.name) - len(suffixOf(path))]


def _saysDicom(path: Path) -> bool:
    try:
        return dicom.isDicom(path)
    except OSError:  # reading the file will raise the error
        return False


def _readFolder(folder: Path, how: _How) -> list[Structure]:
    """Return the structures of the files in a folder.

    Of DICOM files, only structure sets and segmentations are read. Results of SegmentMetrics are skipped. If the folder
    itself has nothing to compare, DICOM files in its subfolders are read: a patient has a folder for each series.
    """
    members = sorted(p for p in folder.iterdir() if not p.is_dir() and not p.name.startswith("."))
    found = [p for p in members if suffixOf(p) not in ("", DICOM_SUFFIX) and not _isResult(p)]
    objects = _dicomObjects(members)
    if not found and not objects:
        objects = _dicomObjects(sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")))
    if len(objects) == 1 and not found:
        return _readAny(objects[0], how.within(objects[0]))
    found = sorted([*found, *objects])
    if not found:
        raise UnusableFile(f"{folder}: the folder holds no files that can be compared ({', '.join(SUFFIXES)}).")
    contents = list(zip(found, _readEach([(p, how.within(p)) for p in found], isFolder=True), strict=True))
    others = {path: content for path, content in contents if isinstance(content, NoSegmentationFile)}
    if len(others) == len(found):
        raise _noneOf(folder, others)
    if len(objects) == 1 and [path for path in found if path not in others] == objects:
        # the only file except for images such as a CT, so its name is not part of the structures' names
        structures = next(content for path, content in contents if path == objects[0])
    else:
        structures = [s for path, content in contents if path not in others for s in _inFolder(path, content)]
    return _besideOthers(structures, others) if others else structures


def _inFolder(path: Path, structures: list[Structure]) -> list[Structure]:
    """Return the structures of a file in a folder, with the file's stem added to or replacing their names."""
    leftOut = {name: why for s in structures for name, why in s.source.get(LEFT_OUT, {}).items()}
    found = []
    for structure in structures:
        own = structure.source.get(LABEL, structure.name)
        name = stemOf(path) if len(structures) + len(leftOut) == 1 else f"{stemOf(path)} {own}"
        # in a folder, an image without labels is an empty structure with the name of the file
        source = {key: value for key, value in structure.source.items() if key not in (WITHOUT_LABELS, LABEL)}
        if leftOut:
            source[LEFT_OUT] = {f"{stemOf(path)} {name}": why for name, why in leftOut.items()}
        found.append(replace(structure, name=name, source=source))
    return found


def _besideOthers(structures: list[Structure], others: Mapping[Path, NoSegmentationFile]) -> list[Structure]:
    """Return structures of a folder with notes about its images that are no segmentations, and the reasons."""
    remarks = {path: f"{path.name} was left out: {error.reason}" for path, error in others.items()}
    # a structure is not missing if another file has it
    names = {structure.name for structure in structures}
    leftOut = {stemOf(path): remark for path, remark in remarks.items() if stemOf(path) not in names}
    found = []
    for structure in structures:
        source = {**structure.source, NO_STRUCTURES: tuple(leftOut)}
        source[LEFT_OUT] = {**leftOut, **source.get(LEFT_OUT, {})}
        source[NOTES] = (*source.get(NOTES, ()), *remarks.values())
        found.append(replace(structure, source=source))
    return found


def _noneOf(folder: Path, others: Mapping[Path, NoSegmentationFile]) -> UnusableFile:
    """Return the error to raise for a folder in which no file is a segmentation."""
    path, error = next(iter(others.items()))
    if len(others) == 1:
        return UnusableFile(str(error))
    return UnusableFile(f"{folder}: none of its {len(others)} files is a segmentation. {path.name}: {error.reason}")


def _isResult(path: Path) -> bool:
    """Return whether a file in a folder of structures is a result of SegmentMetrics that was written there."""
    try:
        return suffixOf(path) == ".vtp" and path.is_file() and vtpheaders.isResult(path)
    except OSError:  # reading the file will raise the error
        return False


def _dicomObjects(paths: list[Path]) -> list[Path]:
    """Return the files that are DICOM structure sets or segmentations, not images."""
    return [p for p in paths if suffixOf(p) in ("", DICOM_SUFFIX) and _saysDicom(p) and _holdsStructures(p)]


def _holdsStructures(path: Path) -> bool:
    try:
        return dicom.holdsStructures(path)
    except InputError as error:  # its contents are unknown, so it must not be silently left out
        raise UnusableFile(f"{path}: {error}") from error


def _readImage(path: Path, suffix: str, how: _How) -> list[Structure]:
    remarks, image = _inspected(path, suffix)
    frame = frameOfReference(image)
    if suffix in (".nii", ".nii.gz") and (header := niftiheaders.check(path)) is not None:
        grid = Grid.fromImage(image)
        remarks += niftiheaders.remarks(header, grid)
        frame = frameOfReference(image, niftiheaders.formsTaken(header, grid))
        names, doubts = niftiheaders.labelTable(path, header)
        remarks, how = (*remarks, *doubts), replace(how, labelNames={**how.labelNames, **names})
    structures = _structuresOf(path, image, frame, how)
    return [replace(s, source={**s.source, NOTES: remarks}) for s in structures] if remarks else structures


def _inspected(path: Path, suffix: str) -> tuple[tuple[str, ...], SimpleITK.Image]:
    """Return remarks on an image file for readers of the results, and the image."""
    if suffix in (".nrrd", ".seg.nrrd"):
        # comparing the checksum at the end of the file is much faster than decompressing the file a second time
        remarks, promised = integrity.inspect(path, suffix, withVoxels=False), integrity.promisedSum(path)
        if promised is not None:
            with suppress(UnusableFile):  # the full inspection may give a better reason
                image = _loadImage(path, suffix)
                if zlib.crc32(SimpleITK.GetArrayViewFromImage(image)) == promised:
                    return remarks, image
    return integrity.inspect(path, suffix), _loadImage(path, suffix)


def _structuresOf(path: Path, image: SimpleITK.Image, frame: str, how: _How) -> list[Structure]:
    segments = segmentHeaders(image)
    common = {"file": str(path), "frameOfReference": frame}
    if segments:
        if fractional.isFractional(image):
            whole = wholeGrid(image, Grid.fromImage(image))
            return fractional.segmentsOf(image, segments, whole, how.threshold, common)
        return readSegments(path, image, segments, frame)
    memberships = inputs.membershipsOf(image, how.maximum)
    if memberships is not None:
        name, source = _nameOf(path, 1, how)
        structure = inputs.structureFromMemberships(name, memberships, how.threshold, source=source, **common)
        if structure.isEmpty:
            structure = replace(structure, name=stemOf(path), source={WITHOUT_LABELS: True})
        return [structure]
    labels = inputs.labelMasks(image, inputs.HALF)
    if not labels:
        nothing = Mask.empty(Grid.fromImage(image))
        return [Structure(stemOf(path), nothing, source={WITHOUT_LABELS: True}, **common)]
    if len(labels) == 1:
        ((label, mask),) = labels.items()
        name, source = _nameOf(path, label, how)
        return [Structure(name, mask, source=source, **common)]
    return [Structure(how.labelNames.get(label, numbered(label)), mask, **common) for label, mask in labels.items()]


def _nameOf(path: Path, label: int, how: _How) -> tuple[str, dict[str, str]]:
    """Return the name of the only label of a file, that of the file if it has none, and its entries of the source."""
    if label in how.labelNames:
        return how.labelNames[label], {}
    return stemOf(path), {LABEL: numbered(label)}


def _loadImage(path: Path, suffix: str) -> SimpleITK.Image:
    try:
        with quiet(), niftiheaders.readable(path) as read:
            return SimpleITK.ReadImage(str(read))
    except RuntimeError as error:
        raise UnusableFile(
            f"{path}: the file cannot be read as an image: {_problem(str(error), path, suffix)}."
        ) from error


def _problem(message: str, path: Path, suffix: str) -> str:
    """Return an image reader's error message in plain words."""
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
    """Return the grid of an image file with any contents; for a segmentation, that of the image it was drawn on.

    Raises UnusableFile, a ValueError, for a file that is no image.
    """
    path = Path(path)
    suffix = suffixOf(path)
    if suffix in ("", *MESH_SUFFIXES):
        raise UnusableFile(f"{path}: this is not an image whose grid can be used; use {', '.join(IMAGE_SUFFIXES)}.")
    if not path.is_file():
        raise UnusableFile(f"{path}: there is no such file.")
    reader = SimpleITK.ImageFileReader()
    reader.SetFileName(str(path))
    try:
        integrity.inspect(path, suffix, withVoxels=False)
        with quiet():
            reader.ReadImageInformation()
        # the reader has the same interface as an image
        return wholeGrid(reader, Grid.fromImage(reader))
    except RuntimeError as error:
        raise UnusableFile(
            f"{path}: the file cannot be read as an image: {_problem(str(error), path, suffix)}."
        ) from error
    except InputError as error:
        raise UnusableFile(f"{path}: {error}") from error


def frameOfReference(image: SimpleITK.Image, forms: Iterable[str] = ("sform", "qform")) -> str:
    """Return the frame of reference of an image: a DICOM UID, the space of a NIfTI file, or "" if unknown.

    The NIfTI code "aligned" is ignored, because it does not name the target and common tools write it into every file.
    forms: names of the matrices in a NIfTI header that agree with the image; spaces of other matrices do not apply.
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
