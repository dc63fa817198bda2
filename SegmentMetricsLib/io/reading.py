"""Reading label maps, segmentations and meshes; every problem becomes one sentence that names the file."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import SimpleITK

from ..base.errors import InputError, NoSegmentation, asPath, requireText
from ..base.parallel import eachSideBySide
from ..base.texts import commaSeparated, didYouMean, oneLine, tellingApart
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..model import inputs, naming
from ..model.structures import (
    LABEL,
    LEFT_OUT,
    LOST,
    NO_STRUCTURES,
    NOTES,
    WITHOUT_LABELS,
    Structure,
    asName,
    inAnySpelling,
    numbered,
    requireUsable,
)
from ..settings.settings import Settings
from . import dicom, fractional, integrity, niftiheaders, vtpheaders
from .flatimages import asVolume
from .labelnames import labelNamesFrom
from .meshfiles import readMesh
from .messages import quiet
from .segmentationfiles import readSegments, segmentHeaders, wholeGrid
from .textheaders import unicodeText
from .unread import MOST_ALONE, NOT_READ, dataFiles, mayHoldStructures, remarkOn, remarksOn, stemOfUnread

IMAGE_SUFFIXES = (".nrrd", ".nhdr", ".nii", ".nii.gz", ".mha", ".mhd")
MESH_SUFFIXES = (".stl", ".obj", ".ply", ".vtp")
DICOM_SUFFIX = ".dcm"
UNTOLD = "it is DICOM that does not say what it holds."
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

    def about(self, path: Path) -> str:
        """Return the reason without the name of the file."""
        return str(self).removeprefix(f"{path}: ")


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
    image without labels is one empty structure. A file in a folder that is no segmentation, such as a CT, is damaged,
    or is of a kind that is not read is left out, which is noted in the sources of the other structures. threshold,
    maximum: of images of memberships, see
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
        raise UnusableFile(f"{path}: {oneLine(str(error))}") from error
    except NotImplementedError as error:  # pydicom's for the type of an element that does not exist
        raise UnusableFile(f"{path}: {dicom.DAMAGED}") from error
    except OSError as error:  # such as of a disk or a network
        raise UnusableFile(f"{path}: the file cannot be read ({error.strerror}).") from error
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

    given: each with its options. isFolder: whether the files are those of a folder; if so, the result for one that
    fails is its UnusableFile error.
    """
    errors: dict[int, UnusableFile] = {}

    def attempt(numbered: tuple[int, tuple[str | Path, _How]]) -> list[Structure] | UnusableFile:
        number, (path, how) = numbered
        if any(other < number for other in list(errors)):
            return []  # not needed, because an earlier path has failed
        try:
            return _readAny(Path(path), how)
        except UnusableFile as error:
            if isFolder:
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
    itself has nothing to compare, DICOM files in its subfolders are read: a patient has a folder for each series. Files
    that are damaged, hold no structures, or are of a kind that is not read are left out, which the sources of the
    structures say. Raises UnusableFile if nothing is left.
    """
    members = sorted(p for p in folder.iterdir() if not p.is_dir() and not p.name.startswith("."))
    found = [p for p in members if suffixOf(p) not in ("", DICOM_SUFFIX) and not _isResult(p)]
    objects, unread = _dicomObjects(members)
    if not found and not objects:
        deeper = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
        objects, unread = _dicomObjects(deeper)
    unread |= _ofUnknownKind(members)
    if len(objects) == 1 and not found and not unread:
        return _readAny(objects[0], how.within(objects[0]))
    found = sorted([*found, *objects])
    if not found:
        raise _nothingIn(folder, unread)
    contents = dict(zip(found, _readEach([(p, how.within(p)) for p in found], isFolder=True), strict=True))
    failed = {path: content for path, content in contents.items() if isinstance(content, UnusableFile)}
    if len(failed) == len(found):
        raise _noneOf(folder, failed)
    others = [path for path, error in failed.items() if isinstance(error, NoSegmentationFile)]
    if len(objects) == 1 and [path for path in found if path not in others] == objects:
        # the only file except for images such as a CT, so its name is not part of the structures' names
        structures = contents[objects[0]]
    else:
        structures = [s for path, content in contents.items() if path not in failed for s in _inFolder(path, content)]
    return _besideOthers(structures, failed, unread) if failed or unread else structures


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


def _besideOthers(
    structures: list[Structure], failed: Mapping[Path, UnusableFile], unread: Mapping[Path, str]
) -> list[Structure]:
    """Return structures of a folder with notes about its files that were left out.

    failed: those without structures, such as a CT, and those that cannot be used. unread: reasons for which others, of
    which nobody knows what they hold, were not read.
    """
    reasons = {path: error.about(path) for path, error in failed.items()} | dict(unread)
    # a structure is not missing if another file has it
    known = {naming.parse(structure.name).spelled for structure in structures}
    stems = {path: stemOf(path) if suffixOf(path) else stemOfUnread(path) for path in reasons}
    alone = [path for path in reasons if naming.parse(stems[path]).spelled not in known]
    leftOut = {stems[path]: remarkOn(path, reasons[path]) for path in alone}
    isDamaged = {path for path, error in failed.items() if not isinstance(error, NoSegmentationFile)}
    optional = tuple(stems[path] for path in alone if path not in isDamaged)
    # beginnings of the names that structures of these files would have: any if the file names its structures
    lost = {stems[path]: leftOut[stems[path]] for path in alone if path in isDamaged or path in unread}
    anyName = next((path for path in reasons if path in isDamaged | set(unread) and _namesItsStructures(path)), None)
    if anyName is not None:
        lost[""] = remarkOn(anyName, reasons[anyName])
    notes = remarksOn(reasons)
    found = []
    for structure in structures:
        source = {**structure.source, NO_STRUCTURES: optional, LOST: lost}
        source[LEFT_OUT] = {**leftOut, **source.get(LEFT_OUT, {})}
        source[NOTES] = (*source.get(NOTES, ()), *notes)
        found.append(replace(structure, source=source))
    return found


def _namesItsStructures(path: Path) -> bool:
    """Return whether a file is of a kind that holds several structures with names of their own."""
    return suffixOf(path) in (".seg.nrrd", DICOM_SUFFIX) or (not suffixOf(path) and _saysDicom(path))


def _noneOf(folder: Path, failed: Mapping[Path, UnusableFile]) -> UnusableFile:
    """Return the error to raise for a folder in which no file can be used."""
    # what is damaged may have been a segmentation
    damaged = [path for path, error in failed.items() if not isinstance(error, NoSegmentationFile)]
    path = next(iter(damaged or failed))
    if len(failed) == 1:
        return UnusableFile(str(failed[path]))
    what = "can be used" if damaged else "is a segmentation"
    return UnusableFile(f"{folder}: none of its {len(failed)} files {what}. {path.name}: {failed[path].about(path)}")


def _nothingIn(folder: Path, unread: Mapping[Path, str]) -> UnusableFile:
    """Return the error to raise for a folder without any file that is read. unread: reasons for its other files."""
    told = " ".join(["", *remarksOn(unread)[:MOST_ALONE]])
    return UnusableFile(f"{folder}: the folder holds no files that can be compared ({', '.join(SUFFIXES)}).{told}")


def _isResult(path: Path) -> bool:
    """Return whether a file in a folder of structures is a result of SegmentMetrics that was written there."""
    try:
        return suffixOf(path) == ".vtp" and path.is_file() and vtpheaders.isResult(path)
    except OSError:  # reading the file will raise the error
        return False


def _dicomObjects(paths: list[Path]) -> tuple[list[Path], dict[Path, str]]:
    """Return the DICOM files that hold structures, and reasons for others of which nobody knows what they hold."""
    objects, unread = [], {}
    for path in paths:
        if suffixOf(path) not in ("", DICOM_SUFFIX):
            continue
        isDicom = _saysDicom(path)
        if not isDicom:
            if suffixOf(path) == DICOM_SUFFIX:  # reading it gives the reason
                objects.append(path)
            continue
        try:
            dicom.requirePydicom()
        except InputError as error:
            raise UnusableFile(f"{path}: {error}") from error
        try:
            kind = dicom.kindOf(path)
        except InputError:  # reading it gives the reason
            objects.append(path)
            continue
        if kind is dicom.Kind.UNTOLD:
            unread[path] = UNTOLD
        elif kind is not dicom.Kind.NO_STRUCTURES:
            objects.append(path)
    return objects, unread


def _ofUnknownKind(members: list[Path]) -> dict[Path, str]:
    """Return reasons for the files of a folder that are not read although they may hold a structure."""
    others = [p for p in members if not suffixOf(p) and mayHoldStructures(p) and not _saysDicom(p)]
    voxels = dataFiles(members) if others else set()
    return {path: NOT_READ for path in others if path not in voxels}


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
        with quiet(), niftiheaders.readable(path) as read, asVolume(read) as volume:
            return SimpleITK.ReadImage(str(volume))
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
    try:
        integrity.inspect(path, suffix, withVoxels=False)
        with quiet(), asVolume(path) as volume:
            reader.SetFileName(str(volume))
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
