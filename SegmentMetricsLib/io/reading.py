"""Reading label maps, segmentations and meshes; every problem becomes one sentence that names the file."""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK

from ..base.errors import InputError, NoSegmentation, asPath, requireText
from ..base.parallel import eachSideBySide
from ..base.texts import oneLine, tellingApart
from ..geometry import meshing
from ..geometry.grids import Grid
from ..geometry.masks import Mask, union
from ..model import inputs, naming
from ..model.structure import Structure
from ..model.structures import Labels, asName, inAnySpelling, nameNumber, requireKnown
from ..model.structureset import LeftOut, StructureSet
from ..settings.settings import Settings
from .dicom.kinds import FileKind, kindOf
from .dicom.kinds import readStructures as readDicom
from .dicom.opening import DAMAGED, isDicom, requireInstalled
from .formats import nifti, vtp
from .formats.headers import unicodeText
from .formats.table import IMAGE_SUFFIXES, MESH_SUFFIXES, MESHES, imageFormat, inspect, readable
from .labelnames import labelNamesFrom
from .messages import quiet
from .segmentationfiles import readSegments, segmentHeaders, segmentOfMesh, wholeGrid
from .unread import MOST_ALONE, NOT_READ, dataFiles, mayHoldStructures, remarkOn, remarksOn, unwrap

DICOM_SUFFIX, NIFTI_SUFFIXES = ".dcm", (".nii", ".nii.gz")
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
    """An image file that contains no structures, such as a CT."""


@contextmanager
def nameFile(path: Path, what: str = "file", done: str = "read") -> Iterator[None]:
    """Raise an UnusableFile that names a file in place of any problem with it. what: it is. done: to it."""
    try:
        yield
    except UnusableFile:
        raise
    except NoSegmentation as error:
        raise NoSegmentationFile(f"{path}: {error}") from error
    except ValueError as error:
        raise UnusableFile(f"{path}: {oneLine(str(error)).removeprefix(f'{path}: ')}") from error
    except NotImplementedError as error:  # pydicom's for the type of an element that does not exist
        raise UnusableFile(f"{path}: {DAMAGED}") from error
    except OSError as error:  # such as of a disk or a network
        raise UnusableFile(f"{path}: the {what} cannot be {done} ({error.strerror}).") from error
    except MemoryError as error:
        raise UnusableFile(f"{path}: it is too large for the memory of this computer.") from error


@dataclass(frozen=True)
class _How:
    """Options for reading files. threshold, maximum: of memberships, see Settings. labelNames: by label number.

    title: name of the file or folder in remarks, its own if "".
    """

    threshold: float | None
    maximum: int | None
    labelNames: Mapping[Labels, str]
    title: str = ""

    def within(self, folder: Path, path: Path) -> _How:
        """Return the options for a file of a folder, or deeper in it."""
        return replace(self, title=self.title and str(Path(self.title, path.relative_to(folder))))


def readStructures(
    path: str | os.PathLike,
    *,
    threshold: float | None = None,
    maximum: int | None = None,
    name: str | int | None = None,
    labelNames: Mapping[Labels, str] | str | Path | None = None,
) -> StructureSet:
    """Return the structures of a file or folder, as a sequence.

    The structures are every segment of a .seg.nrrd, every label of an image (named `Label 5`, or by the file's stem if
    it is the only one), a mesh (named by the file's stem), or those of all such files in a folder (named by stem). An
    image without labels is one empty structure. Files of a folder that are damaged, of a kind that is not read, or not
    segmentations, such as a CT, are left out; the result and the notes of the other structures name them.

    Parameters
    ----------
    path : str | os.PathLike
        A file or folder.
    threshold, maximum : optional
        For images of memberships: threshold and membershipMaximum of Settings.
    name : str | int | None, optional
        Name of the structures to return, usually one, such as "Parotid_L", in any spelling, or a label number; None
        returns all.
    labelNames : Mapping[int, str] | str | Path | None, optional
        Names by number for labels without a name of their own, or a file with them, of the kinds that the command-line
        option --label-names accepts.

    Returns
    -------
    StructureSet

    Raises
    ------
    UnusableFile
        A ValueError, for a file that cannot be read or is not a segmentation, and if there is no structure of that
        name; the message lists the available ones.
    InputError
        A ValueError, for invalid names of structures or labels.
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
    named = structures.having(structure for structure in structures if structure.name in wanted)
    if not named:
        with nameFile(path):
            requireKnown(wanted, structures)
    return named


def _readAny(path: Path, how: _How) -> StructureSet:
    with nameFile(path, done="opened"):  # for example, the name may be too long
        requireText(path)
        if path.is_dir():
            return _readFolder(path, how)
        if not path.exists():
            raise InputError("there is no such file.")
        suffix = kindOfFile(path)
        if not suffix:
            kinds = ", ".join(SUFFIXES)
            raise InputError(f"this kind of file is not supported; use {kinds} or a folder of such files.")
        if not path.is_file():
            raise InputError("this is neither a file nor a folder.")
        if path.stat().st_size == 0:
            raise InputError("the file is empty.")
        path.open("rb").close()
    with nameFile(path):
        if suffix == DICOM_SUFFIX:
            return readDicom(path, how.threshold, how.title)
        if suffix in MESH_SUFFIXES:
            return StructureSet((_readMesh(path, suffix),), path=str(path))
        return StructureSet(tuple(_readImage(path, suffix, how)), path=str(path))


def readAll(
    paths: Iterable[str | os.PathLike],
    threshold: float | None = None,
    maximum: int | None = None,
    labelNames: Mapping[Labels, str] | None = None,
    isGoingOn: bool = False,
) -> list:
    """Return the result of readStructures() for each of several files or folders, which are read in parallel.

    Raises UnusableFile of the first path in order that fails. isGoingOn: whether the error is the result for that path
    instead.
    """
    paths, how = list(paths), _How(threshold, maximum, labelNames or {})
    titles = tellingApart(paths)
    found = eachSideBySide(_attempt, [(Path(path), replace(how, title=titles[path])) for path in paths])
    errors = [one for one in found if isinstance(one, UnusableFile)]
    if errors and not isGoingOn:
        raise errors[0]
    return found


def _attempt(task: tuple[Path, _How]) -> StructureSet | UnusableFile:
    """Return the structures of a file or folder with its options, or the error for it."""
    try:
        return _readAny(*task)
    except UnusableFile as error:
        return error


def suffixOf(path: Path) -> str:
    """Return the longest supported suffix that a file name ends with, in lower case, or "" if there is none."""
    return max((s for s in SUFFIXES if path.name.lower().endswith(s)), key=len, default="")


def stemOf(path: Path) -> str:
    """Return the file name without its supported suffix."""
    return path.name[: len(path.name) - len(suffixOf(path))]


def kindOfFile(path: Path) -> str:
    """Return the suffix of a file, that of DICOM for a file of its content without one, "" for what is not read."""
    return suffixOf(path) or (DICOM_SUFFIX if path.is_file() and _saysDicom(path) else "")


def _saysDicom(path: Path) -> bool:
    try:
        return isDicom(path)
    except OSError:  # reading the file will raise the error
        return False


def _readFolder(folder: Path, how: _How) -> StructureSet:
    """Return the structures of the files in a folder.

    Of DICOM files, only structure sets and segmentations are read. Results of SegmentMetrics are skipped. If the folder
    itself has nothing to compare, DICOM files in its subfolders are read: a patient has a folder for each series. Files
    that are damaged, hold no structures, or are of a kind that is not read are left out, which the set and the notes of
    its structures say. Raises UnusableFile if nothing is left.
    """
    found, objects, unread = _filesToRead(folder)
    if len(objects) == 1 and not found and not unread:
        return replace(_readAny(objects[0], how.within(folder, objects[0])), path=str(folder))
    files = sorted([*found, *objects])
    if not files:
        raise _nothingIn(folder, unread)
    contents = dict(zip(files, eachSideBySide(_attempt, [(p, how.within(folder, p)) for p in files]), strict=True))
    failed = {path: content for path, content in contents.items() if isinstance(content, UnusableFile)}
    if len(failed) == len(files):
        raise _noneOf(folder, failed)
    read = {path: content for path, content in contents.items() if not isinstance(content, UnusableFile)}
    areImages = [path for path, error in failed.items() if isinstance(error, NoSegmentationFile)]
    # the only file except for images such as a CT: its name is not part of the structures' names
    isAlone = len(objects) == 1 and len(files) - len(areImages) == 1 and objects[0] in read
    surfaces = [path for path, content in read.items() if suffixOf(path) in MESH_SUFFIXES and content[0].segmentID]
    sets = list(read.values()) if isAlone else _callByFiles(folder, read, [*objects, *surfaces])
    structures = replace(sum(sets, StructureSet()), path=str(folder))
    return _besideOthers(folder, structures, failed, unread) if failed or unread else structures


def _filesToRead(folder: Path) -> tuple[list[Path], list[Path], dict[Path, str]]:
    """Return the files of a folder that are read, those of DICOM apart, and reasons for others that are not."""
    members = sorted(p for p in folder.iterdir() if not p.is_dir() and not p.name.startswith("."))
    found = [p for p in members if suffixOf(p) not in ("", DICOM_SUFFIX) and not vtp.holdsResult(p)]
    objects, unread = _dicomObjects(members)
    if not found and not objects:
        deeper = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
        objects, unread = _dicomObjects(deeper)
    unknown = [p for p in members if not kindOfFile(p) and mayHoldStructures(p)]
    voxels = dataFiles(members) if unknown else set()
    return found, objects, unread | {path: NOT_READ for path in unknown if path not in voxels}


def _callByFiles(folder: Path, contents: Mapping[Path, StructureSet], named: Collection[Path]) -> list[StructureSet]:
    """Return what the files of a folder hold, called by their files: by these alone, or as well.

    A single region of DICOM has a name, which is that of the structure if no other file has it as well, and so has the
    surface of a segment. Files of one name in several folders are told apart by these.

    named: files whose structures have names.
    """
    stems = Counter(map(stemOf, contents))
    titles = {path: stemOf(path) for path in contents}
    titles |= {p: str(p.relative_to(folder).with_name(stem)) for p, stem in titles.items() if stems[stem] > 1}
    names = Counter(naming.parse(s.name).spelled for content in contents.values() for s in content)
    found = []
    for path, content in contents.items():
        if path in named and len(content) == 1 and names[naming.parse(content[0].name).spelled] == 1:
            found.append(content)
            continue
        # in a folder, an image without labels is an empty structure with the name of the file
        stem, isAlone = titles[path], len(content) + len(content.leftOut) == 1
        plain: dict[str, Any] = {"label": "", "number": None, "isUnlabeled": False}
        called = (replace(s, name=stem if isAlone else f"{stem} {s.label or s.name}", **plain) for s in content)
        leftOut = tuple(one._replace(name=f"{stem} {one.name}") for one in content.leftOut)
        found.append(replace(content, structures=tuple(called), leftOut=leftOut))
    return found


def _besideOthers(
    folder: Path, structures: StructureSet, failed: Mapping[Path, UnusableFile], unread: Mapping[Path, str]
) -> StructureSet:
    """Return the structures of a folder with what is known of its files that were left out.

    failed: those without structures, such as a CT, and those that cannot be used. unread: reasons for which others, of
    which nobody knows what they hold, were not read.
    """
    reasons = {path: error.about(path) for path, error in failed.items()} | dict(unread)
    # a structure is not missing if another file has it
    known = {naming.parse(structure.name).spelled for structure in structures}
    kinds = {path: path if suffixOf(path) else unwrap(path) for path in reasons}  # also those that are not read
    stems = {path: stemOf(kind) if suffixOf(kind) else kind.stem for path, kind in kinds.items()}
    alone = [path for path in reasons if naming.parse(stems[path]).spelled not in known]
    isDamaged = {path for path, error in failed.items() if not isinstance(error, NoSegmentationFile)}
    remarks = {path: remarkOn(path, why, folder) for path, why in reasons.items()}
    leftOut = tuple(LeftOut(stems[path], remarks[path], path not in isDamaged) for path in alone)
    # beginnings of the names that structures of these files would have: any if the file names its structures
    lost = {stems[path]: remarks[path] for path in alone if path in isDamaged or path in unread}
    named = {DICOM_SUFFIX, ".seg.nrrd", *(suffixOf(Path(one.file)) for one in structures if one.segmentID)}
    for path in reasons:
        if (path in isDamaged or path in unread) and kindOfFile(path) in named:
            lost.setdefault("", remarks[path])
    notes = remarksOn(reasons, folder)
    found = tuple(replace(structure, notes=(*structure.notes, *notes)) for structure in structures)
    return replace(structures, structures=found, leftOut=(*leftOut, *structures.leftOut), lost=lost)


def _noneOf(folder: Path, failed: Mapping[Path, UnusableFile]) -> UnusableFile:
    """Return the error to raise for a folder in which no file can be used."""
    # what is damaged may have been a segmentation
    damaged = [path for path, error in failed.items() if not isinstance(error, NoSegmentationFile)]
    path = next(iter(damaged or failed))
    if len(failed) == 1:
        return UnusableFile(str(failed[path]))
    what = "can be used" if damaged else "is a segmentation"
    return UnusableFile(
        f"{folder}: none of its {len(failed)} files {what}. {path.relative_to(folder)}: {failed[path].about(path)}"
    )


def _nothingIn(folder: Path, unread: Mapping[Path, str]) -> UnusableFile:
    """Return the error to raise for a folder without any file that is read. unread: reasons for its other files."""
    told = remarksOn(unread, folder)[:MOST_ALONE]
    deeper = (p.relative_to(folder).parent for p in sorted(folder.rglob("*")) if suffixOf(p) and p.is_file())
    if (within := next(deeper, None)) is not None:
        told.append(
            f"Its folders have some, such as {within}: compare one of them, or list them for segment-metrics batch if "
            "they are the cases of a study."
        )
    if folder.suffix.casefold() == ".zarr":
        told.append(
            "OME-Zarr is not read: its axes are named after the nearest directions of the patient, so that some "
            "writers straighten an oblique image. Convert the image that it was made of."
        )
    what = f"the folder holds no files that can be compared ({', '.join(SUFFIXES)})."
    return UnusableFile(f"{folder}: {' '.join([what, *told])}")


def _dicomObjects(paths: list[Path]) -> tuple[list[Path], dict[Path, str]]:
    """Return the DICOM files that hold structures, and reasons for others of which nobody knows what they hold."""
    objects, unread = [], {}
    for path in paths:
        if kindOfFile(path) != DICOM_SUFFIX:
            continue
        kind = None
        if _saysDicom(path):
            with nameFile(path):
                requireInstalled("pydicom")
            with suppress(InputError):  # reading it gives the reason
                kind = kindOf(path)
        if kind is FileKind.UNTOLD:
            unread[path] = UNTOLD
        elif kind is not FileKind.NO_STRUCTURES:
            objects.append(path)
    return objects, unread


def _readMesh(path: Path, suffix: str) -> Structure:
    polyData, note, remarks = MESHES[suffix](path)
    if polyData.GetNumberOfCells() == 0:
        raise InputError("the mesh has no cells: no triangles and no contour lines.")
    surface = meshing.fromPolyData(polyData)
    if "SPACE=RAS" in note:  # Slicer's note; the default is LPS
        surface = meshing.transform(surface, lambda points: points * (-1, -1, 1))
    structure = Structure(stemOf(path), givenSurface=surface, surfaceKind="imported", file=str(path), notes=remarks)
    return replace(structure, **segmentOfMesh(polyData))


def _readImage(path: Path, suffix: str, how: _How) -> list[Structure]:
    remarks, image = readChecked(path, suffix)
    header, why = None, ""
    if suffix in NIFTI_SUFFIXES and (header := nifti.check(path)) is not None:
        why = header.whyFractional
        names, doubts = nifti.labelTable(path, header)
        remarks += (*nifti.remarkOnPosition(header, Grid.fromImage(image)), *doubts)
        how = replace(how, labelNames=dict(how.labelNames) | dict[Labels, str](names.items()))
    frame = frameOfReference(image, header)
    try:
        structures = _structuresOf(stemOf(path), image, how)
    except NoSegmentation as error:
        raise NoSegmentation(f"{error} {why}".rstrip()) from error
    return [replace(s, file=str(path), frameOfReference=frame, notes=(*remarks, *s.notes)) for s in structures]


def readChecked(path: Path, suffix: str) -> tuple[tuple[str, ...], SimpleITK.Image]:
    """Return remarks on an image file for readers of the results, and the image.

    Values of a NIfTI file that are not finite, which ITK replaces by 0, are NaN.
    """
    remarks = inspect(path, withVoxels=False)
    if (sums := imageFormat(path).checkSums(path)) is not None:
        # comparing the check sum at the end of the file takes a tenth of decompressing the file a second time
        before, promised = sums
        with suppress(InputError):  # the whole inspection may give a better reason
            with _asImage(path, suffix) as volume:
                image = SimpleITK.ReadImage(volume)
            if zlib.crc32(SimpleITK.GetArrayViewFromImage(image).data, before) == promised:
                return remarks, image
    remarks = inspect(path)
    with _asImage(path, suffix) as volume:
        image = SimpleITK.ReadImage(volume)
    header = nifti.check(path) if suffix in NIFTI_SUFFIXES else None
    if header is not None and header.kind and not (areFinite := nifti.areFinite(path, header)).all():
        values = SimpleITK.GetArrayFromImage(image)
        values[~areFinite.reshape(values.shape)] = np.nan
        found = SimpleITK.GetImageFromArray(values)
        found.CopyInformation(image)
        for key in image.GetMetaDataKeys():
            found.SetMetaData(key, image.GetMetaData(key))
        image = found
    return remarks, image


def _structuresOf(stem: str, image: SimpleITK.Image, how: _How) -> list[Structure]:
    """Return the structures of an image, without its file. stem: name of the file."""
    segments = segmentHeaders(image)
    if segments:
        return readSegments(image, segments, how.threshold)
    memberships = inputs.membershipsOf(image, how.maximum)
    if memberships is not None:
        only = inputs.structureFromMemberships(stem, memberships, how.threshold)
        return [replace(only, notes=(), isUnlabeled=True) if only.isEmpty else _nameByLabel(only, 1, how)]
    labels = inputs.labelMasks(image, inputs.HALF)
    if not labels:
        return [Structure(stem, Mask.empty(Grid.fromImage(image)), isUnlabeled=True)]
    if any(isinstance(which, tuple) and labels.keys() & {*which} for which in how.labelNames):
        return _regionsOf(labels, how)
    if len(labels) == 1:
        return [_nameByLabel(Structure(stem, mask), label, how) for label, mask in labels.items()]
    return [Structure(how.labelNames.get(n, nameNumber(n)), mask, number=n) for n, mask in labels.items()]


def _regionsOf(labels: Mapping[int, Mask], how: _How) -> list[Structure]:
    """Return the structures of a label map with regions of several labels.

    A label that only belongs to regions is no structure of its own. The order is that of the names, others come last.
    """
    named = {(which if isinstance(which, tuple) else (which,)): name for which, name in how.labelNames.items()}
    inRegions = {label for which in named if len(which) > 1 for label in which}
    found = []
    for which, name in named.items():
        if parts := [labels[label] for label in which if label in labels]:
            number = which[0] if len(which) == 1 else None
            found.append(Structure(name, parts[0] if len(parts) == 1 else union(parts), number=number))
    others = (label for label in labels if label not in inRegions and (label,) not in named)
    return [*found, *(Structure(nameNumber(label), labels[label], number=label) for label in others)]


def _nameByLabel(structure: Structure, label: int, how: _How) -> Structure:
    """Return the only structure of a file under the name of its label, or that of the file if the label has none."""
    if label in how.labelNames:
        return replace(structure, name=how.labelNames[label], number=label)
    return replace(structure, label=nameNumber(label), number=label)


@contextmanager
def _asImage(path: Path, suffix: str) -> Iterator[str]:
    """Yield the path from which ITK reads an image file rightly; its errors become an InputError."""
    try:
        with quiet(), readable(path) as volume:
            yield str(volume)
    except RuntimeError as error:
        raise InputError(f"the file cannot be read as an image: {_problem(str(error), path, suffix)}.") from error


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
    suffix, reader = suffixOf(path), SimpleITK.ImageFileReader()
    with nameFile(path):
        if suffix in ("", *MESH_SUFFIXES):
            raise InputError(f"this is not an image whose grid can be used; use {', '.join(IMAGE_SUFFIXES)}.")
        if not path.is_file():
            raise InputError("there is no such file.")
        inspect(path, withVoxels=False)
        with _asImage(path, suffix) as volume:
            reader.SetFileName(volume)
            reader.ReadImageInformation()
        # the reader has the same interface as an image
        return wholeGrid(reader, Grid.fromImage(reader))


def frameOfReference(image: SimpleITK.Image, header: nifti.Header | None) -> str:
    """Return the frame of reference of an image: a DICOM UID, the space of a NIfTI file, or "" if unknown.

    The NIfTI code "aligned" is ignored, because it does not name the target and common tools write it into every file.
    header: of a NIfTI file; spaces of its matrices that do not agree with the image do not apply.
    """
    keys = image.GetMetaDataKeys()
    for key in ("0020|0052", "FrameOfReferenceUID"):
        if key in keys:
            return unicodeText(image.GetMetaData(key)).strip()
    for form in ("sform", "qform") if header is None else nifti.formsTaken(header, Grid.fromImage(image)):
        key = f"{form}_code_name"
        name = image.GetMetaData(key) if key in keys else ""
        if name in NIFTI_SPACES:
            return NIFTI_SPACES[name]
    return ""
