"""Writing DICOM: whose files they are, and structures as segmentations (SEG) and encapsulated meshes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import InputError, installing
from ...base.texts import commaSeparated
from ...base.version import __version__
from ...geometry.masks import Mask
from ...model.structures import Structure
from .opening import isDicom, read, readable, textOf

MANUFACTURER = "SegmentMetrics"
# Elements of a patient and of a study, which all files of a study share; those that may be given; and the numbers of
# the series that are made.
PATIENT = ("PatientID", "PatientName", "PatientBirthDate", "PatientSex")
STUDY = ("StudyInstanceUID", "StudyID", "StudyDate", "StudyTime", "AccessionNumber", "ReferringPhysicianName")
GIVEN = (*PATIENT, *STUDY)
SEG_SERIES, MESH_SERIES, REPORT_SERIES = 701, 702, 700
ENCAPSULATED_STL = "1.2.840.10008.5.1.4.1.1.104.3"
# Dose, structure sets and reports are no images that something was drawn on.
IMAGES = ("CT", "MR", "PT", "NM", "US", "CR", "DX", "MG", "RTIMAGE", "XA")


def requireHighdicom() -> None:
    """Raise InputError if highdicom, which brings pydicom, is not installed."""
    try:
        import highdicom  # noqa: F401
    except ImportError as error:
        raise InputError(f"writing DICOM needs pydicom and highdicom: {installing('dicom')}.") from error


class Place(NamedTuple):
    """Where a structure is in a DICOM file.

    dataset: the file's. number: of its segment or region, None for a mesh. isSegment: whether it is a segment. images:
    datasets that identify the images that it was drawn on. description: its item in the file, None for a mesh.
    """

    dataset: Any
    number: int | None
    isSegment: bool
    images: Sequence
    description: Any = None


class Copies(NamedTuple):
    """Files that are written since structures are in no DICOM file: datasets by path, and places by id(structure)."""

    datasets: Mapping[Path, Any]
    places: Mapping[int, Place]

    def placeOf(self, structure: Structure) -> Place | None:
        """Return where the copy of a structure is, None without one."""
        return self.places.get(id(structure))


@dataclass(frozen=True, eq=False)
class Sources:
    """The DICOM files that results are from, and whose patient and study they have.

    header: a pydicom Dataset with the elements of patient and study. files: the content without pixels by path. images:
    the slices of the image that the structures were drawn on, none if they are not there. hasPatient: whether the
    patient is known.
    """

    header: object
    files: Mapping[str, object]
    images: Sequence

    @property
    def hasPatient(self) -> bool:
        return bool(textOf(self.header, "PatientID"))

    def placeOf(self, structure: Structure) -> Place | None:
        """Return where a structure is in a SEG or RTSTRUCT among the files, None if it is from another file.

        Raises InputError if its file does not have it.
        """
        dataset = self.files.get(structure.file)
        if dataset is None:
            return None
        isSegment = "SegmentSequence" in dataset
        number, name = ("SegmentNumber", "SegmentLabel") if isSegment else ("ROINumber", "ROIName")
        listed = dataset.get("SegmentSequence" if isSegment else "StructureSetROISequence", [])
        asked = [one for one in listed if structure.number is not None and int(one[number].value) == structure.number]
        called = [one for one in listed if textOf(one, name) == structure.name]
        found = asked or called
        if len(found) != 1:
            many = "several structures" if found else "no structure"
            raise InputError(f"{structure.file} has {many} {structure.name!r} that a report could refer to.")
        return Place(dataset, int(found[0][number].value), isSegment, _imagesOf(dataset), found[0])

    @staticmethod
    def of(
        files: Iterable[str | os.PathLike], images: Iterable[str | os.PathLike], given: Mapping[str, str]
    ) -> Sources:
        """Read what the files say about the patient and the study.

        files: of the structures, DICOM or not. images: files of the image, or folders with them. given: elements of
        GIVEN that the files do not have. Raises InputError for files that do not exist, are damaged, belong to several
        patients, or say otherwise than what is given; and without highdicom.
        """
        requireHighdicom()
        from pydicom import Dataset
        from pydicom.uid import generate_uid

        contents = {str(path): read(Path(path), stop_before_pixels=True) for path in files if _isDicomFile(Path(path))}
        slices = []
        for path in images:
            found = [one for one in _filesIn(Path(path)) if isDicom(one)]
            if not found:
                raise InputError(f"{path}: there is no DICOM file.")
            read_ = [read(one, stop_before_pixels=True) for one in found]
            slices += [one for one in read_ if textOf(one, "Modality") in IMAGES]
            contents.update({str(one): content for one, content in zip(found, read_, strict=True)})
        with readable():
            patients = sorted({textOf(one, "PatientID").strip() for one in contents.values()} - {""})
            if len(patients) > 1:
                raise InputError(f"the DICOM files belong to several patients: {commaSeparated(patients)}.")
            header = Dataset()
            known = [*(one for one in contents.values() if textOf(one, "PatientID")), *contents.values()]
            for name in GIVEN:
                said = textOf(known[0], name) if known else ""
                if said and given.get(name) and said != given[name]:
                    raise InputError(f"{name} is {said!r} in the DICOM files, not {given[name]!r}.")
                setattr(header, name, said or given.get(name, ""))
        if not header.StudyInstanceUID:
            header.StudyInstanceUID = generate_uid()
        return Sources(header, contents, slices)


def _isDicomFile(path: Path) -> bool:
    return path.is_file() and isDicom(path)


def _filesIn(path: Path) -> list[Path]:
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder.")
    return sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]


def writeDataset(dataset, path: Path) -> Path:
    """Write a pydicom Dataset so that there is a whole file or none, and return its path.

    Raises InputError when the file exists, or cannot be written.
    """
    if path.exists():
        raise InputError(f"{path} exists. Choose another name, or remove it first.")
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
    return path


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


def copiesOf(structures: Mapping[int, Structure], sources: Sources, target: Path) -> Copies:
    """Return structures as DICOM: those with voxels of one grid as a SEG, meshes as encapsulated STL files.

    structures: by id; empty ones have no copy. target: path of the report that the files will be beside.
    """
    from pydicom.uid import generate_uid

    datasets: dict[Path, Any] = {}
    places: dict[int, Place] = {}
    byGrid: dict[tuple, list[int]] = {}
    for key, one in structures.items():
        if one.mask is not None and not one.mask.isEmpty:
            byGrid.setdefault((one.mask.grid.size, one.mask.grid.matrix.tobytes()), []).append(key)
    series = generate_uid()
    for count, keys in enumerate(byGrid.values(), start=1):
        masks = [(structures[key].name, structures[key].mask) for key in keys]
        dataset = segmentationOf(masks, sources, series, count)
        datasets[target.with_name(f"{target.stem}_segmentation{count if count > 1 else ''}{target.suffix}")] = dataset
        for key, item in zip(keys, dataset.SegmentSequence, strict=True):
            places[key] = Place(dataset, int(item.SegmentNumber), True, sources.images)
    series = generate_uid()
    meshes = [key for key, one in structures.items() if one.mask is None and not one.isEmpty]
    for count, key in enumerate(meshes, start=1):
        dataset = encapsulatedMesh(structures[key], sources, series, count)
        datasets[target.with_name(f"{target.stem}_mesh{count}{target.suffix}")] = dataset
        places[key] = Place(dataset, None, False, sources.images)
    return Copies(datasets, places)


def withHeader(header):
    """Return a pydicom Dataset of no instance with the elements of a header, from which highdicom takes them."""
    from copy import deepcopy

    from pydicom.uid import RawDataStorage, generate_uid

    result = deepcopy(header)
    result.SOPClassUID, result.SOPInstanceUID, result.SeriesInstanceUID = RawDataStorage, generate_uid(), generate_uid()
    return result


def leaveOut(report, instance) -> None:
    """Remove an instance from those that a report says it is based on."""
    name = "CurrentRequestedProcedureEvidenceSequence"
    for study in report.get(name, []):
        kept = [s for s in study.ReferencedSeriesSequence if s.SeriesInstanceUID != instance.SeriesInstanceUID]
        study.ReferencedSeriesSequence = kept
    left = [study for study in report.get(name, []) if study.ReferencedSeriesSequence]
    if left:
        setattr(report, name, left)
    elif name in report:
        delattr(report, name)


def segmentationOf(masks: Sequence[tuple[str, Mask]], sources: Sources, series: str, number: int = 1):
    """Return structures as the pydicom Dataset of a binary SEG, whose segments have the numbers 1, 2, ... in order.

    masks: with their names, all on one grid and not all empty. The image among the sources is referred to if there is one.
    series: instance UID of the new series. number: of the file within it.
    """
    import highdicom
    from pydicom.sr.codedict import codes
    from pydicom.uid import generate_uid

    used = [mask for _, mask in masks if not mask.isEmpty]
    grid = used[0].grid
    low = np.min([mask.low for mask in used], axis=0)
    high = np.max([mask.high for mask in used], axis=0)
    voxels = np.stack([mask.block(low, high) >= 0.5 for _, mask in masks], axis=-1).astype(np.uint8)
    affine = np.eye(4)
    affine[:3, :3] = grid.axes[:, ::-1]  # the axes of arrays are k, j, i
    affine[:3, 3] = grid.toWorld([low])[0]
    images = list(sources.images)
    frame = textOf(images[0], "FrameOfReferenceUID") if images else generate_uid()
    numbers = {"SegmentNumber": list(range(1, len(masks) + 1))}
    volume = highdicom.Volume(voxels, affine, "PATIENT", frame_of_reference_uid=frame, channels=numbers)
    descriptions = [
        highdicom.seg.SegmentDescription(
            segment_number=count,
            segment_label=name[:64],
            segmented_property_category=codes.SCT.AnatomicalStructure,
            segmented_property_type=codes.SCT.AnatomicalStructure,
            algorithm_type="MANUAL",
        )
        for count, (name, _) in enumerate(masks, start=1)
    ]
    segmentation = highdicom.seg.Segmentation(
        source_images=images or [_imageInstead(sources.header, frame, voxels.shape)],
        pixel_array=volume,
        segmentation_type="BINARY",
        segment_descriptions=descriptions,
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
    if not images:
        del segmentation.ReferencedSeriesSequence
        for group in (*segmentation.SharedFunctionalGroupsSequence, *segmentation.PerFrameFunctionalGroupsSequence):
            if "DerivationImageSequence" in group:
                del group.DerivationImageSequence
    return segmentation


def _imageInstead(header, frame: str, shape: Sequence[int]):
    """Return what highdicom wants to know of an image, which exists nowhere, with a patient, a study and a frame."""
    from copy import deepcopy

    from pydicom.dataset import FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

    image = deepcopy(header)
    image.SOPClassUID, image.SOPInstanceUID, image.SeriesInstanceUID = CTImageStorage, generate_uid(), generate_uid()
    image.Modality, image.FrameOfReferenceUID, image.PositionReferenceIndicator = "CT", frame, ""
    image.Rows, image.Columns = shape[1:3]
    image.ImagePositionPatient, image.ImageOrientationPatient = [0, 0, 0], [1, 0, 0, 0, 1, 0]
    image.PixelSpacing, image.SliceThickness = [1, 1], 1
    image.file_meta = FileMetaDataset()
    image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    return image


def encapsulatedMesh(structure: Structure, sources: Sources, series: str, number: int):
    """Return the surface of a structure as the pydicom Dataset of an encapsulated STL file, points in LPS mm.

    series: instance UID of the new series. number: of the file within it.
    """
    from copy import deepcopy
    from datetime import datetime

    from pydicom import Dataset
    from pydicom.dataset import FileMetaDataset
    from pydicom.sr.codedict import codes
    from pydicom.uid import ExplicitVRLittleEndian, generate_uid

    surface = structure.surface
    corners = surface.points[surface.cells].astype("<f4")
    facets = np.zeros(len(corners), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]))
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facets["normal"] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo("f4").tiny)
    facets["corners"] = corners
    content = b"LPS".ljust(80) + np.array(len(facets), "<u4").tobytes() + facets.tobytes()
    result: Dataset = deepcopy(sources.header)
    result.file_meta = FileMetaDataset()
    result.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    result.SOPClassUID, result.SOPInstanceUID = ENCAPSULATED_STL, generate_uid()
    result.file_meta.MediaStorageSOPClassUID = result.SOPClassUID
    result.file_meta.MediaStorageSOPInstanceUID = result.SOPInstanceUID
    now = datetime.now()
    result.Modality, result.SeriesInstanceUID, result.SeriesNumber = "M3D", series, MESH_SERIES
    result.InstanceNumber, result.Manufacturer, result.ManufacturerModelName = number, MANUFACTURER, MANUFACTURER
    result.DeviceSerialNumber = result.SoftwareVersions = __version__
    result.ContentDate, result.ContentTime = f"{now:%Y%m%d}", f"{now:%H%M%S}"
    result.AcquisitionDateTime = ""
    images = sources.images
    result.FrameOfReferenceUID = textOf(images[0], "FrameOfReferenceUID") if images else generate_uid()
    result.PositionReferenceIndicator = ""
    result.BurnedInAnnotation, result.RecognizableVisualFeatures = "NO", "NO"
    result.DocumentTitle, result.ConceptNameCodeSequence = structure.name[:64], []
    unit = Dataset()
    code = codes.UCUM.mm
    unit.CodeValue, unit.CodingSchemeDesignator, unit.CodeMeaning = code.value, code.scheme_designator, code.meaning
    result.MeasurementUnitsCodeSequence = [unit]
    result.MIMETypeOfEncapsulatedDocument = "model/stl"
    result.EncapsulatedDocumentLength = len(content)
    result.EncapsulatedDocument = content + b"\0" * (len(content) % 2)
    return result
