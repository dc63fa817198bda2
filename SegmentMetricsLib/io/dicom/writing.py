"""Writing DICOM: whose files they are, and structures as segmentations (SEG) and encapsulated meshes (STL)."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import InputError, installing
from ...base.texts import commaSeparated
from ...base.version import __version__
from ...model.structure import Structure
from .opening import isDicom, read, readable, textOf

MANUFACTURER, UTF8 = "SegmentMetrics", "ISO_IR 192"
# What all files of a study share.
HEADER = (
    *("PatientID", "PatientName", "PatientBirthDate", "PatientSex"),
    *("StudyInstanceUID", "StudyID", "StudyDate", "StudyTime", "AccessionNumber", "ReferringPhysicianName"),
)
# Of the series that are made.
REPORT_SERIES, SEG_SERIES, MESH_SERIES, PDF_SERIES = 700, 701, 702, 703
ENCAPSULATED_STL, ENCAPSULATED_PDF = "1.2.840.10008.5.1.4.1.1.104.3", "1.2.840.10008.5.1.4.1.1.104.1"
# Structures are drawn on these: structure sets, doses and reports are no images.
IMAGES = ("CT", "MR", "PT", "NM", "US", "RTIMAGE", "XA")
LONGEST_NAME = 64


class Referent(NamedTuple):
    """Where a structure is in a DICOM file.

    dataset: the file's, a SEG if it has a SegmentSequence. number: of its segment or region, None for a mesh. images:
    datasets that identify the images that it was drawn on. anatomy: as of anatomyOf().
    """

    dataset: Any
    number: int | None
    images: Sequence
    anatomy: Sequence


@dataclass(frozen=True, eq=False)
class Sources:
    """The DICOM files that results are from, and whose patient and study they have.

    header: a pydicom Dataset with the elements of HEADER. files: the datasets of structures without pixels, by path.
    images: those of the image that the structures were drawn on, none if they are not there. frame: of reference, a new
    one if no file has one.
    """

    header: Any
    files: Mapping[str, Any]
    images: Sequence
    frame: str

    @staticmethod
    def of(
        structures: Collection[Structure], paths: Iterable[str | os.PathLike], given: Mapping[str, str] | None
    ) -> Sources:
        """Read what the files of structures, and others or folders with them, say about the patient and the study.

        given: elements of HEADER that the files do not have, and InstitutionName. Raises InputError for files that do
        not exist, are damaged, or belong to several patients; for images of several series or without a frame of
        reference; for elements that the files say otherwise, or that cannot be given; and without highdicom.
        """
        try:
            import highdicom  # noqa: F401
        except ImportError as error:
            raise InputError(f"writing DICOM needs pydicom and highdicom: {installing('dicom')}.") from error
        from pydicom import Dataset
        from pydicom.uid import RE_VALID_UID, generate_uid

        given = given or {}
        if unknown := [name for name in given if name not in (*HEADER, "InstitutionName")]:
            raise InputError(f"{commaSeparated(unknown)} cannot be given: use {commaSeparated(HEADER)}.")
        if not re.fullmatch(RE_VALID_UID, given.get("StudyInstanceUID", "1.2")):
            raise InputError(f"StudyInstanceUID {given['StudyInstanceUID']!r} is no UID: use numbers with dots.")
        own = {one.file: Path(one.file) for one in structures if one.file}
        files = {file: _read(path) for file, path in own.items() if path.is_file() and isDicom(path)}
        others = []
        for path in map(Path, paths):
            if not path.exists():
                raise InputError(f"{path}: there is no such file or folder.")
            every = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
            found = [_read(one) for one in every if isDicom(one)]
            if not found:
                raise InputError(f"{path}: there is no DICOM file.")
            others += found
        with readable():
            images = [one for one in others if textOf(one, "Modality") in IMAGES]
            if len({textOf(one, "SeriesInstanceUID") for one in images}) > 1:
                raise InputError(
                    "the DICOM images are of several series; give that on which the structures were drawn."
                )
            if images and not textOf(images[0], "FrameOfReferenceUID"):
                raise InputError("the DICOM images have no frame of reference, in which structures could be placed.")
            told = sorted((*files.values(), *others), key=lambda one: not textOf(one, "PatientID").strip())
            patients = sorted({textOf(one, "PatientID").strip() for one in told} - {""})
            if len(patients) > 1:
                raise InputError(f"the DICOM files belong to several patients: {commaSeparated(patients)}.")
            header = Dataset()
            for name in HEADER:
                said = textOf(told[0], name) if told else ""
                if said and given.get(name, said) != said:
                    raise InputError(f"{name} is {said!r} in the DICOM files, not {given[name]!r}.")
                setattr(header, name, said or given.get(name, ""))
            frames = [
                *(textOf(one, "FrameOfReferenceUID") for one in images),
                *(s.frameOfReference for s in structures),
            ]
        if "InstitutionName" in given:
            header.InstitutionName = given["InstitutionName"]
        header.SpecificCharacterSet = UTF8
        header.StudyInstanceUID = header.StudyInstanceUID or generate_uid()
        # other files say in words how they were placed
        known = [one for one in frames if re.fullmatch(RE_VALID_UID, one)]
        return Sources(header, files, images, known[0] if known else generate_uid())

    def placeOf(self, structure: Structure) -> Referent | None:
        """Return where a structure is in a SEG or RTSTRUCT among the files, None if it is from another file.

        Raises InputError if its file does not have it, or several of its name.
        """
        dataset = self.files.get(structure.file)
        if dataset is None:
            return None
        with readable():
            isSegment = "SegmentSequence" in dataset
            number, name = ("SegmentNumber", "SegmentLabel") if isSegment else ("ROINumber", "ROIName")
            listed = dataset.get("SegmentSequence" if isSegment else "StructureSetROISequence", [])
            if structure.number is not None:
                told, found = f"number {structure.number}", [o for o in listed if o[number].value == structure.number]
            else:  # regions without a name are called by their number
                told = repr(structure.name)
                found = [o for o in listed if structure.name == (textOf(o, name) or f"ROI {o[number].value}")]
            if len(found) != 1:
                many = "several structures" if found else "no structure"
                raise InputError(f"{structure.file} has {many} {told} that a report could refer to.")
            which = int(found[0][number].value)
            observed = [one for one in dataset.get("RTROIObservationsSequence", []) if one.ReferencedROINumber == which]
            return Referent(dataset, which, list(_imagesOf(dataset)), anatomyOf(structure, found[0], *observed))

    def instance(self, storage: str, series: str, **elements):
        """Return a new pydicom Dataset of a kind in a series, with patient, study and what made it."""
        from pydicom.dataset import FileMetaDataset
        from pydicom.uid import ExplicitVRLittleEndian, generate_uid

        result, now = deepcopy(self.header), datetime.now()
        result.SOPClassUID, result.SOPInstanceUID, result.SeriesInstanceUID = storage, generate_uid(), series
        result.ContentDate, result.ContentTime = f"{now:%Y%m%d}", f"{now:%H%M%S}"
        result.Manufacturer = result.ManufacturerModelName = MANUFACTURER
        result.DeviceSerialNumber = result.SoftwareVersions = __version__
        result.file_meta = FileMetaDataset()
        result.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        result.file_meta.MediaStorageSOPClassUID = storage
        result.file_meta.MediaStorageSOPInstanceUID = result.SOPInstanceUID
        for name, value in elements.items():
            setattr(result, name, value)
        return result


def _read(path: Path):
    """Return a DICOM file without pixels. Raises InputError, naming the file, if it is damaged."""
    try:
        return read(path, stop_before_pixels=True)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _imagesOf(dataset) -> Iterator:
    """Yield datasets that identify the images that a SEG or RTSTRUCT refers to."""
    from pydicom import Dataset

    listed = [
        (dataset.StudyInstanceUID, series, one)
        for series in dataset.get("ReferencedSeriesSequence", [])
        for one in series.get("ReferencedInstanceSequence", [])
    ] + [
        (study.ReferencedSOPInstanceUID, series, one)
        for frame in dataset.get("ReferencedFrameOfReferenceSequence", [])
        for study in frame.get("RTReferencedStudySequence", [])
        for series in study.get("RTReferencedSeriesSequence", [])
        for one in series.get("ContourImageSequence", [])
    ]
    for study, series, one in listed:
        image = Dataset()
        image.StudyInstanceUID, image.SeriesInstanceUID = str(study), str(series.SeriesInstanceUID)
        image.SOPClassUID, image.SOPInstanceUID = one.ReferencedSOPClassUID, one.ReferencedSOPInstanceUID
        yield image


def anatomyOf(structure: Structure, *descriptions) -> list:
    """Return a structure's category, type and side, and its region and that one's side; None for what is not known.

    They are highdicom's CodedConcepts. descriptions: the structure's items in its DICOM file; without any code there,
    those of Slicer's terminology are taken.
    """
    from highdicom.sr import CodedConcept

    def code(name: str, *items) -> CodedConcept | None:
        found = [item[name][0] for item in items if item is not None and item.get(name)]
        return CodedConcept.from_dataset(found[0]) if found else None

    kind = code("SegmentedPropertyTypeCodeSequence", *descriptions)
    kind = kind or code("RTROIIdentificationCodeSequence", *descriptions)
    if kind is None:
        triplets = [part.split("^") for part in structure.terminology.split("~")[1:]]
        known = [CodedConcept(t[1], t[0], t[2]) if len(t) == 3 and all(t) else None for t in triplets]
        category, kind, side, _, region, regionSide = [*known, *[None] * 6][:6]
        return [category, kind, side, region, regionSide]
    side = code("SegmentedPropertyTypeModifierCodeSequence", kind)
    region = code("AnatomicRegionSequence", *descriptions)
    category = code("SegmentedPropertyCategoryCodeSequence", *descriptions)
    return [category, kind, side, region, code("AnatomicRegionModifierSequence", region)]


def copiesOf(named: Mapping[int, tuple[str, Structure]], sources: Sources, target: Path) -> tuple[dict, dict]:
    """Return structures as DICOM: voxels of one grid as a SEG, meshes as encapsulated STL files.

    Empty structures and contours in a plane have no copy. named: with their names in the files, by any keys. target:
    path of the file that the others will be beside. Returns the datasets by path, and the places by these keys.
    """
    from pydicom.uid import generate_uid

    files: dict[tuple, dict[int, tuple[str, Structure]]] = {}
    for key, (name, one) in named.items():
        if one.mask is not None and not one.isEmpty:
            grid = one.mask.grid
            files.setdefault(("segmentation", grid.size, grid.matrix.tobytes()), {})[key] = name, one
        elif not one.isEmpty and one.surface.dimension == 3:
            files["mesh", key] = {key: (name, one)}
    datasets: dict[Path, Any] = {}
    places: dict[int, Referent] = {}
    series, counts = {"segmentation": generate_uid(), "mesh": generate_uid()}, Counter[str]()
    for (kind, *_), alike in files.items():
        counts[kind] += 1
        isSegment, count = kind == "segmentation", counts[kind]
        make = _segmentationOf if isSegment else _encapsulatedMesh
        dataset = make(list(alike.values()), sources, series[kind], count)
        datasets[target.with_name(f"{target.stem}_{kind}{count if count > 1 else ''}{target.suffix}")] = dataset
        for number, (key, (_, one)) in enumerate(alike.items(), start=1):
            places[key] = Referent(dataset, number if isSegment else None, sources.images, anatomyOf(one))
    return datasets, places


def _segmentationOf(named: Sequence[tuple[str, Structure]], sources: Sources, series: str, count: int):
    """Return structures as the pydicom Dataset of a binary SEG, whose segments have the numbers 1, 2, ... in order.

    named: with their names, all on one grid and none empty. series: instance UID of the new series. count: number of
    the file within it. The image among the sources is referred to if there is one.
    """
    import highdicom
    from pydicom.sr.codedict import codes
    from pydicom.uid import CTImageStorage, generate_uid

    masks = [one.ownMask for _, one in named]
    grid = masks[0].grid
    low = np.min([mask.low for mask in masks], axis=0)
    high = np.max([mask.high for mask in masks], axis=0)
    voxels = np.stack([mask.block(low, high) >= 0.5 for mask in masks], axis=-1).astype(np.uint8)
    affine = np.eye(4)
    affine[:3, :3] = grid.axes[:, ::-1]  # the axes of arrays are k, j, i
    affine[:3, 3] = grid.toWorld([low])[0]
    descriptions = []
    for number, (name, one) in enumerate(named, start=1):
        category, kind, side, region, regionSide = anatomyOf(one)
        described = highdicom.seg.SegmentDescription(
            number,
            name[:LONGEST_NAME],
            category or codes.SCT.AnatomicalStructure,
            kind or codes.SCT.AnatomicalStructure,
            "MANUAL",
            anatomic_regions=region and [region],
        )
        if side:
            described.SegmentedPropertyTypeCodeSequence[0].SegmentedPropertyTypeModifierCodeSequence = [side]
        if region and regionSide:
            described.AnatomicRegionSequence[0].AnatomicRegionModifierSequence = [regionSide]
        descriptions.append(described)
    # highdicom takes the patient and the study from an image; here one that exists nowhere may stand in for it
    instead = sources.instance(CTImageStorage, generate_uid(), FrameOfReferenceUID=sources.frame)
    instead.Rows, instead.Columns = voxels.shape[1:3]
    instead.ImagePositionPatient, instead.ImageOrientationPatient = [0, 0, 0], [1, 0, 0, 0, 1, 0]
    instead.PixelSpacing, instead.SliceThickness, instead.PositionReferenceIndicator = [1, 1], 1, ""
    channels: Any = {"SegmentNumber": range(1, len(named) + 1)}
    segmentation = highdicom.seg.Segmentation(
        list(sources.images) or [instead],
        highdicom.Volume(voxels, affine, "PATIENT", frame_of_reference_uid=sources.frame, channels=channels),
        "BINARY",
        descriptions,
        series,
        SEG_SERIES,
        generate_uid(),
        count,
        *(MANUFACTURER, MANUFACTURER, __version__, __version__),
        content_label="STRUCTURES",
        series_description="Structures that were compared",
    )
    segmentation.SpecificCharacterSet = UTF8
    if not sources.images:
        del segmentation.ReferencedSeriesSequence
        for group in (*segmentation.SharedFunctionalGroupsSequence, *segmentation.PerFrameFunctionalGroupsSequence):
            group.pop("DerivationImageSequence", None)
    return segmentation


def _encapsulatedMesh(named: Sequence[tuple[str, Structure]], sources: Sources, series: str, count: int):
    """Return the surface of a structure as the pydicom Dataset of an encapsulated STL file, points in LPS mm.

    Arguments are those of _segmentationOf().
    """
    from pydicom import Dataset

    ((name, structure),) = named
    corners = structure.surface.points[structure.surface.cells].astype("<f4")
    facets = np.zeros(len(corners), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]))
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facets["normal"] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo("f4").tiny)
    facets["corners"] = corners
    content = b"LPS".ljust(80) + np.array(len(facets), "<u4").tobytes() + facets.tobytes()
    unit = Dataset()
    unit.CodeValue, unit.CodingSchemeDesignator, unit.CodeMeaning = "mm", "UCUM", "millimeter"
    result = _encapsulated(content, "model/stl", name, sources, ENCAPSULATED_STL, series)
    result.InstanceNumber, result.Modality, result.SeriesNumber = count, "M3D", MESH_SERIES
    result.FrameOfReferenceUID, result.PositionReferenceIndicator = sources.frame, ""
    result.MeasurementUnitsCodeSequence = [unit]
    return result


def encapsulatedPdf(path: Path, sources: Sources):
    """Return a PDF as the pydicom Dataset of an encapsulated document. Raises InputError for anything else."""
    from pydicom.uid import generate_uid

    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not content.startswith(b"%PDF-"):
        raise InputError(f"{path}: this is no PDF.")
    result = _encapsulated(content, "application/pdf", path.stem, sources, ENCAPSULATED_PDF, generate_uid())
    result.InstanceNumber, result.Modality, result.SeriesNumber, result.ConversionType = 1, "DOC", PDF_SERIES, "WSD"
    return result


def _encapsulated(content: bytes, kind: str, title: str, sources: Sources, storage: str, series: str):
    """Return a document of a MIME type as a pydicom Dataset."""
    result = sources.instance(storage, series)
    result.AcquisitionDateTime, result.BurnedInAnnotation, result.RecognizableVisualFeatures = "", "NO", "NO"
    result.DocumentTitle, result.ConceptNameCodeSequence = title[:LONGEST_NAME], []
    result.MIMETypeOfEncapsulatedDocument, result.EncapsulatedDocumentLength = kind, len(content)
    result.EncapsulatedDocument = content + b"\0" * (len(content) % 2)
    return result


def writeDatasets(datasets: Mapping[Path, Any]) -> list[Path]:
    """Write pydicom Datasets into one folder and return their paths; either all are written or none.

    Raises InputError if one of the files exists or cannot be written.
    """
    folder = next(iter(datasets)).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as unfinished:
            for path, dataset in datasets.items():
                if path.exists():
                    raise InputError(f"{path} exists. Choose another name, or remove it first.")
                dataset.save_as(Path(unfinished, path.name), enforce_file_format=True)
            for path in reversed(list(datasets)):  # the first refers to the others
                Path(unfinished, path.name).replace(path)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return list(datasets)
