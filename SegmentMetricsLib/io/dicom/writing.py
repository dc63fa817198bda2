"""Writing DICOM: whose files they are, and structures as segmentations (SEG) and encapsulated meshes (STL)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import InputError, installing
from ...base.texts import commaSeparated
from ...base.version import __version__
from ...geometry.masks import Mask
from ...model.structure import Structure
from .opening import isDicom, read, readable, textOf

MANUFACTURER, UTF8 = "SegmentMetrics", "ISO_IR 192"
# What all files of a study share, and what else may be given.
HEADER = (
    *("PatientID", "PatientName", "PatientBirthDate", "PatientSex"),
    *("StudyInstanceUID", "StudyID", "StudyDate", "StudyTime", "AccessionNumber", "ReferringPhysicianName"),
    "InstitutionName",
)
# Of the series that are made.
REPORT_SERIES, SEG_SERIES, MESH_SERIES, PDF_SERIES = 700, 701, 702, 703
ENCAPSULATED_STL, ENCAPSULATED_PDF = "1.2.840.10008.5.1.4.1.1.104.3", "1.2.840.10008.5.1.4.1.1.104.1"
# Structures are drawn on these: structure sets, doses and reports are no images.
IMAGES = ("CT", "MR", "PT", "NM", "US", "RTIMAGE", "XA")


class Place(NamedTuple):
    """Where a structure is in a DICOM file.

    dataset: the file's. number: of its segment or region, None for a mesh. isSegment: whether it is a segment. images:
    datasets that identify the images that it was drawn on. description: its item in a file that was read.
    """

    dataset: Any
    number: int | None
    isSegment: bool
    images: Sequence
    description: Any = None


class Copies(NamedTuple):
    """Structures of files that are not DICOM as DICOM: datasets by the path to write them to, places by id()."""

    datasets: Mapping[Path, Any]
    places: Mapping[int, Place]


@dataclass(frozen=True, eq=False)
class Sources:
    """The DICOM files that results are from, and whose patient and study they have.

    header: a pydicom Dataset with the elements of HEADER. files: the datasets without pixels by path. images: those of
    the image that the structures were drawn on, none if they are not there.
    """

    header: Any
    files: Mapping[str, Any]
    images: Sequence

    @staticmethod
    def of(
        files: Iterable[str | os.PathLike], images: Iterable[str | os.PathLike], given: Mapping[str, str]
    ) -> Sources:
        """Read what files say about the patient and the study.

        files: of the structures, DICOM or not. images: files of the image, or folders with them. given: elements of
        HEADER that the files do not have. Raises InputError for files that do not exist, are damaged, belong to several
        patients, or say otherwise than what is given; for other elements; and without highdicom.
        """
        try:
            import highdicom  # noqa: F401
        except ImportError as error:
            raise InputError(f"writing DICOM needs pydicom and highdicom: {installing('dicom')}.") from error
        from pydicom import Dataset
        from pydicom.uid import generate_uid

        if unknown := [name for name in given if name not in HEADER]:
            raise InputError(f"{commaSeparated(unknown)} cannot be given: use {commaSeparated(HEADER)}.")
        paths = [Path(path) for path in files]
        datasets = {str(p): read(p, stop_before_pixels=True) for p in paths if p.is_file() and isDicom(p)}
        slices = []
        for path in map(Path, images):
            if not path.exists():
                raise InputError(f"{path}: there is no such file or folder.")
            every = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
            found = [read(one, stop_before_pixels=True) for one in every if isDicom(one)]
            slices += [one for one in found if textOf(one, "Modality") in IMAGES]
            if not slices:
                raise InputError(f"{path}: there is no DICOM image.")
        with readable():
            told = [*datasets.values(), *slices]
            told.sort(key=lambda one: not textOf(one, "PatientID"))
            patients = sorted({textOf(one, "PatientID").strip() for one in told} - {""})
            if len(patients) > 1:
                raise InputError(f"the DICOM files belong to several patients: {commaSeparated(patients)}.")
            header = Dataset()
            for name in HEADER:
                said = textOf(told[0], name) if told and name != "InstitutionName" else ""
                if said and given.get(name, said) != said:
                    raise InputError(f"{name} is {said!r} in the DICOM files, not {given[name]!r}.")
                setattr(header, name, said or given.get(name, ""))
        header.SpecificCharacterSet = UTF8
        header.StudyInstanceUID = header.StudyInstanceUID or generate_uid()
        return Sources(header, datasets, slices)

    def placeOf(self, structure: Structure) -> Place | None:
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
            asked = [one for one in listed if structure.number is not None and one[number].value == structure.number]
            # regions without a name are called by their number
            found = asked or [
                one for one in listed if structure.name == (textOf(one, name) or f"ROI {one[number].value}")
            ]
            if len(found) != 1:
                many = "several structures" if found else "no structure"
                raise InputError(f"{structure.file} has {many} {structure.name!r} that a report could refer to.")
            return Place(dataset, int(found[0][number].value), isSegment, _imagesOf(dataset), found[0])

    def instance(self, storage: str, series: str, **elements):
        """Return a new pydicom Dataset of a kind in a series, with patient and study."""
        from pydicom.dataset import FileMetaDataset
        from pydicom.uid import ExplicitVRLittleEndian, generate_uid

        result = deepcopy(self.header)
        del result.InstitutionName
        result.SOPClassUID, result.SOPInstanceUID, result.SeriesInstanceUID = storage, generate_uid(), series
        result.file_meta = FileMetaDataset()
        result.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        result.file_meta.MediaStorageSOPClassUID = storage
        result.file_meta.MediaStorageSOPInstanceUID = result.SOPInstanceUID
        for name, value in elements.items():
            setattr(result, name, value)
        return result

    def frame(self) -> str:
        """Return the frame of reference of the images, a new one without images."""
        from pydicom.uid import generate_uid

        return textOf(self.images[0], "FrameOfReferenceUID") if self.images else generate_uid()


def _imagesOf(dataset) -> list:
    """Return datasets that identify the images that a SEG or RTSTRUCT refers to."""
    from pydicom import Dataset

    found = []
    for series in dataset.get("ReferencedSeriesSequence", []):
        found += [(dataset.StudyInstanceUID, series, one) for one in series.get("ReferencedInstanceSequence", [])]
    for frame in dataset.get("ReferencedFrameOfReferenceSequence", []):
        for study in frame.get("RTReferencedStudySequence", []):
            for series in study.get("RTReferencedSeriesSequence", []):
                listed = series.get("ContourImageSequence", [])
                found += [(study.ReferencedSOPInstanceUID, series, one) for one in listed]
    images = []
    for study, series, one in found:
        image = Dataset()
        image.StudyInstanceUID, image.SeriesInstanceUID = str(study), str(series.SeriesInstanceUID)
        image.SOPClassUID, image.SOPInstanceUID = one.ReferencedSOPClassUID, one.ReferencedSOPInstanceUID
        images.append(image)
    return images


def copiesOf(structures: Iterable[Structure], sources: Sources, target: Path) -> Copies:
    """Return structures as DICOM: those with voxels of one grid as a SEG, meshes as encapsulated STL files.

    Empty structures have no copy. target: path of the file that the others will be beside.
    """
    from pydicom.uid import generate_uid

    datasets: dict[Path, Any] = {}
    places: dict[int, Place] = {}
    byGrid: dict[tuple, list[Structure]] = {}
    used = [one for one in structures if not one.isEmpty]
    for one in used:
        if one.mask is not None:
            byGrid.setdefault((one.mask.grid.size, one.mask.grid.matrix.tobytes()), []).append(one)
    series = generate_uid()
    for count, alike in enumerate(byGrid.values(), start=1):
        dataset = segmentationOf([(one.name, one.mask) for one in alike if one.mask], sources, series, count)
        datasets[target.with_name(f"{target.stem}_segmentation{count if count > 1 else ''}{target.suffix}")] = dataset
        for number, one in enumerate(alike, start=1):
            places[id(one)] = Place(dataset, number, True, sources.images)
    series = generate_uid()
    for count, one in enumerate((one for one in used if one.mask is None), start=1):
        dataset = encapsulatedMesh(one, sources, series, count)
        datasets[target.with_name(f"{target.stem}_mesh{count if count > 1 else ''}{target.suffix}")] = dataset
        places[id(one)] = Place(dataset, None, False, sources.images)
    return Copies(datasets, places)


def segmentationOf(masks: Sequence[tuple[str, Mask]], sources: Sources, series: str, number: int = 1):
    """Return structures as the pydicom Dataset of a binary SEG, whose segments have the numbers 1, 2, ... in order.

    masks: with their names, all on one grid and none empty. series: instance UID of the new series. number: of the file
    within it. The image among the sources is referred to if there is one.
    """
    import highdicom
    from pydicom.sr.codedict import codes
    from pydicom.uid import CTImageStorage, generate_uid

    grid = masks[0][1].grid
    low = np.min([mask.low for _, mask in masks], axis=0)
    high = np.max([mask.high for _, mask in masks], axis=0)
    voxels = np.stack([mask.block(low, high) >= 0.5 for _, mask in masks], axis=-1).astype(np.uint8)
    affine = np.eye(4)
    affine[:3, :3] = grid.axes[:, ::-1]  # the axes of arrays are k, j, i
    affine[:3, 3] = grid.toWorld([low])[0]
    frame, numbers = sources.frame(), range(1, len(masks) + 1)
    # highdicom takes the patient and the study from an image; here one that exists nowhere may stand in for it
    instead = sources.instance(CTImageStorage, generate_uid(), Modality="CT", FrameOfReferenceUID=frame)
    instead.Rows, instead.Columns = voxels.shape[1:3]
    instead.ImagePositionPatient, instead.ImageOrientationPatient = [0, 0, 0], [1, 0, 0, 0, 1, 0]
    instead.PixelSpacing, instead.SliceThickness, instead.PositionReferenceIndicator = [1, 1], 1, ""
    segmentation = highdicom.seg.Segmentation(
        source_images=list(sources.images) or [instead],
        pixel_array=highdicom.Volume(
            voxels, affine, "PATIENT", frame_of_reference_uid=frame, channels={"SegmentNumber": list(numbers)}
        ),
        segmentation_type="BINARY",
        segment_descriptions=[
            highdicom.seg.SegmentDescription(
                segment_number=count,
                segment_label=name[:64],
                segmented_property_category=codes.SCT.AnatomicalStructure,
                segmented_property_type=codes.SCT.AnatomicalStructure,
                algorithm_type="MANUAL",
            )
            for count, (name, _) in zip(numbers, masks, strict=True)
        ],
        series_instance_uid=series,
        series_number=SEG_SERIES,
        sop_instance_uid=generate_uid(),
        instance_number=number,
        manufacturer=MANUFACTURER,
        manufacturer_model_name=MANUFACTURER,
        software_versions=__version__,
        device_serial_number=__version__,
        content_label="STRUCTURES",
        series_description="Structures that were compared",
    )
    segmentation.SpecificCharacterSet = UTF8
    if not sources.images:
        del segmentation.ReferencedSeriesSequence
        for group in (*segmentation.SharedFunctionalGroupsSequence, *segmentation.PerFrameFunctionalGroupsSequence):
            if "DerivationImageSequence" in group:
                del group.DerivationImageSequence
    return segmentation


def encapsulatedMesh(structure: Structure, sources: Sources, series: str, number: int):
    """Return the surface of a structure as the pydicom Dataset of an encapsulated STL file, points in LPS mm.

    series: instance UID of the new series. number: of the file within it.
    """
    from pydicom import Dataset

    corners = structure.surface.points[structure.surface.cells].astype("<f4")
    facets = np.zeros(len(corners), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]))
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facets["normal"] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo("f4").tiny)
    facets["corners"] = corners
    content = b"LPS".ljust(80) + np.array(len(facets), "<u4").tobytes() + facets.tobytes()
    result = _encapsulated(content, "model/stl", structure.name, sources, ENCAPSULATED_STL, series, number)
    result.Modality, result.SeriesNumber = "M3D", MESH_SERIES
    result.FrameOfReferenceUID, result.PositionReferenceIndicator = sources.frame(), ""
    unit = Dataset()
    unit.CodeValue, unit.CodingSchemeDesignator, unit.CodeMeaning = "mm", "UCUM", "millimeter"
    result.MeasurementUnitsCodeSequence = [unit]
    return result


def encapsulatedPdf(path: Path, sources: Sources, series: str):
    """Return a PDF as the pydicom Dataset of an encapsulated document. Raises InputError for anything else."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not content.startswith(b"%PDF-"):
        raise InputError(f"{path}: this is no PDF.")
    result = _encapsulated(content, "application/pdf", path.stem, sources, ENCAPSULATED_PDF, series, 1)
    result.Modality, result.SeriesNumber, result.ConversionType = "DOC", PDF_SERIES, "WSD"
    return result


def _encapsulated(content: bytes, kind: str, title: str, sources: Sources, storage: str, series: str, number: int):
    """Return a document of a MIME type as a pydicom Dataset."""
    now = datetime.now()
    result = sources.instance(storage, series, InstanceNumber=number)
    result.Manufacturer = result.ManufacturerModelName = MANUFACTURER
    result.DeviceSerialNumber = result.SoftwareVersions = __version__
    result.ContentDate, result.ContentTime, result.AcquisitionDateTime = f"{now:%Y%m%d}", f"{now:%H%M%S}", ""
    result.BurnedInAnnotation, result.RecognizableVisualFeatures = "NO", "NO"
    result.DocumentTitle, result.ConceptNameCodeSequence = title[:64], []
    result.MIMETypeOfEncapsulatedDocument, result.EncapsulatedDocumentLength = kind, len(content)
    result.EncapsulatedDocument = content + b"\0" * (len(content) % 2)
    return result


def writeDatasets(datasets: Mapping[Path, Any]) -> list[Path]:
    """Write pydicom Datasets, the first last, since it refers to the others, and return their paths.

    Each file is whole or not there. Raises InputError when one exists before anything is written, or cannot be written.
    """
    for path in datasets:
        if path.exists():
            raise InputError(f"{path} exists. Choose another name, or remove it first.")
    for path, dataset in reversed(list(datasets.items())):
        part = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
                part = Path(file.name)
                dataset.save_as(file, enforce_file_format=True)
            part.chmod(0o644)
            part.replace(path)
        except OSError as error:
            if part is not None:
                part.unlink(missing_ok=True)
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    return list(datasets)
