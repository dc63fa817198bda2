"""DICOM files that the tests read: CT slices, structure sets and segmentations, made on the spot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import SimpleITK

from SegmentMetricsLib import Grid, Structure, readStructures

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")

import pydicom
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, RTDoseStorage, RTStructureSetStorage, generate_uid

# 20 slices of 64 x 64 pixels, every 3 mm from 0 to 57 mm.
GRID = Grid((64, 64, 20), np.array([[1.0, 0, 0, -32], [0, 1, 0, -32], [0, 0, 3, 0], [0, 0, 0, 1]]))
# Beside the middle of a pixel, so that no contour runs through the middle of others.
CENTER = (0.3, 0.2)


def dataset(path: Path, storage: str, modality: str, patient: str, frame: str) -> FileDataset:
    """Return a new DICOM object with what every file needs."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = storage
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    result = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    result.SOPClassUID, result.SOPInstanceUID = storage, meta.MediaStorageSOPInstanceUID
    result.Modality, result.PatientID, result.PatientName = modality, patient, "Test^Case"
    result.PatientBirthDate = result.PatientSex = result.AccessionNumber = ""
    result.StudyInstanceUID, result.SeriesInstanceUID = generate_uid(), generate_uid()
    result.StudyID, result.SeriesNumber, result.InstanceNumber = "1", 1, 1
    result.StudyDate, result.StudyTime, result.Manufacturer = "20240101", "120000", ""
    result.ReferringPhysicianName = ""
    if frame:
        result.FrameOfReferenceUID = frame
        result.PositionReferenceIndicator = ""
    return result


def item(**elements) -> Dataset:
    """Return an item of a sequence with these elements."""
    result = Dataset()
    for name, value in elements.items():
        setattr(result, name, value)
    return result


def referenceTo(storage: str, instance: str) -> Dataset:
    return item(ReferencedSOPClassUID=storage, ReferencedSOPInstanceUID=instance)


@contextmanager
def edited(path: Path) -> Iterator[FileDataset]:
    """Let a DICOM file be changed inside the block."""
    content = pydicom.dcmread(path)
    yield content
    content.save_as(path, enforce_file_format=False)


def circle(radius: float, height: float, center=CENTER, count: int = 60) -> np.ndarray:
    """Return a contour (n, 3)."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1) * radius + center
    return np.column_stack([around, np.full(count, height)])


def cylinder(heights, center=CENTER, radius: float = 10.0) -> list[np.ndarray]:
    """Return circles at heights in mm."""
    return [circle(radius, height, center) for height in heights]


def readContours(folder: Path, regions: dict, grid: Grid | None = GRID, **options) -> dict[str, Structure]:
    """Return the structures of a structure set by name. grid: of the image beside it, None for none."""
    slices = () if grid is None else writeSeries(folder / "ct", grid)
    writeStructureSet(folder / "set.dcm", regions, slices, **options)
    return {s.name: s for s in readStructures(folder / "set.dcm")}


def voxelsOf(structure: Structure) -> np.ndarray:
    """Return the mask of a structure on its whole grid, [k, j, i]."""
    return structure.mask.block((0, 0, 0), np.array(structure.mask.grid.size) - 1)


def writeSeries(
    folder: Path, grid: Grid, patient: str = "A", frame: str = "1.2.3", heights=None, **elements
) -> list[FileDataset]:
    """Write the slices of an empty CT on a grid, in no special order, and return them in ascending order.

    heights: in mm, instead of those of the grid. elements: with other values.
    """
    series, study, slices = generate_uid(), generate_uid(), []
    folder.mkdir(parents=True, exist_ok=True)
    for k in np.random.default_rng(0).permutation(grid.size[2]):
        path = folder / f"slice{k}"
        image = dataset(path, CTImageStorage, "CT", patient, frame)
        image.SeriesInstanceUID, image.StudyInstanceUID, image.InstanceNumber = series, study, int(k) + 1
        image.ImagePositionPatient = [float(x) for x in grid.toWorld([[0, 0, k]])[0]]
        if heights is not None:
            image.ImagePositionPatient[2] = float(heights[k])
        image.ImageOrientationPatient = [float(x) for x in grid.direction[:, :2].T.ravel()]
        image.PixelSpacing = [float(grid.spacing[1]), float(grid.spacing[0])]
        image.SliceThickness = float(grid.spacing[2])
        image.Columns, image.Rows = grid.size[0], grid.size[1]
        image.BitsAllocated = image.BitsStored = 16
        image.HighBit, image.PixelRepresentation, image.SamplesPerPixel = 15, 0, 1
        image.PhotometricInterpretation = "MONOCHROME2"
        image.PixelData = bytes(2 * grid.size[0] * grid.size[1])
        for name, value in elements.items():
            setattr(image, name, value)
        image.save_as(path, enforce_file_format=True)
        slices.append(image)
    return sorted(slices, key=lambda one: one.InstanceNumber)


def writeSlices(folder: Path, positions, like: FileDataset, **elements) -> list[FileDataset]:
    """Write further slices at positions in LPS mm, of the series of a slice unless elements say otherwise."""
    from copy import deepcopy

    folder.mkdir(parents=True, exist_ok=True)
    slices = []
    for number, position in enumerate(positions):
        image = deepcopy(like)
        image.SOPInstanceUID = image.file_meta.MediaStorageSOPInstanceUID = generate_uid()
        image.ImagePositionPatient = [float(x) for x in position]
        for name, value in elements.items():
            setattr(image, name, value)
        image.PixelData = bytes(2 * image.Rows * image.Columns)
        image.save_as(folder / f"other{number}", enforce_file_format=True)
        slices.append(image)
    return slices


@pydicom.config.disable_value_validation()  # which takes as long as all the rest
def writeStructureSet(path: Path, regions: dict, slices=(), patient: str = "A", frame: str = "1.2.3", kinds=None):
    """Write an RTSTRUCT: regions are names -> contours, each LPS points (n, 3). Return it."""
    result = dataset(path, RTStructureSetStorage, "RTSTRUCT", patient, "")
    result.StructureSetLabel = "Test"
    if slices:
        named = [referenceTo(image.SOPClassUID, image.SOPInstanceUID) for image in slices]
        series = item(SeriesInstanceUID=slices[0].SeriesInstanceUID, ContourImageSequence=named)
        study = referenceTo("1.2.840.10008.3.1.2.3.1", generate_uid())
        study.RTReferencedSeriesSequence = [series]
        result.ReferencedFrameOfReferenceSequence = [item(FrameOfReferenceUID=frame, RTReferencedStudySequence=[study])]
    result.StructureSetROISequence, result.ROIContourSequence = [], []
    for number, (name, loops) in enumerate(regions.items(), start=1):
        region = item(ROINumber=number, ROIName=name, ReferencedFrameOfReferenceUID=frame, ROIGenerationAlgorithm="")
        result.StructureSetROISequence.append(region)
        contours = [
            item(
                ContourGeometricType=(kinds or {}).get((name, count), "CLOSED_PLANAR"),
                NumberOfContourPoints=len(points),
                ContourData=[f"{x:.6f}" for x in np.ravel(points)],
            )
            for count, points in enumerate(loops)
        ]
        drawn = item(ReferencedROINumber=number, ROIDisplayColor=[255, 0, 51], ContourSequence=contours)
        result.ROIContourSequence.append(drawn)
    path.parent.mkdir(parents=True, exist_ok=True)
    result.save_as(path, enforce_file_format=True)
    return result


def writeDose(
    path: Path,
    image,
    offsets,
    isDescending: bool = False,
    summed: str = "PLAN",
    plan: str = "1.2",
    beam: int = 2,
    **change,
):
    """Write an image in Gy as RTDOSE and return its path.

    offsets: positions of the planes, from any start. isDescending: whether the planes are stored the other way round.
    summed: kind of the sum; that of a beam is of a beam of a plan, told by its UID. change: elements with other values.
    """
    values = SimpleITK.GetArrayFromImage(image)
    offsets, (x, y, z) = np.array(offsets, float), image.GetOrigin()
    if isDescending:
        z += offsets[-1] - offsets[0]
        values, offsets = values[::-1], offsets[::-1] - offsets[-1]
    scaling = float(values.max()) / 65535
    result = dataset(path, RTDoseStorage, "RTDOSE", "A", "1.2.3")
    result.DoseUnits, result.DoseType, result.DoseSummationType = "GY", "PHYSICAL", summed
    result.NumberOfFrames, result.Rows, result.Columns = values.shape
    result.PixelSpacing = [image.GetSpacing()[1], image.GetSpacing()[0]]
    result.ImageOrientationPatient, result.ImagePositionPatient = [1, 0, 0, 0, 1, 0], [x, y, z]
    result.GridFrameOffsetVector = list(map(float, offsets))
    result.DoseGridScaling = scaling
    result.SamplesPerPixel, result.PhotometricInterpretation = 1, "MONOCHROME2"
    result.BitsAllocated = result.BitsStored = 16
    result.HighBit, result.PixelRepresentation = 15, 0
    result.PixelData = np.rint(values / scaling).astype(np.uint16).tobytes()
    if summed == "BEAM":
        group = item(ReferencedBeamSequence=[item(ReferencedBeamNumber=beam)], ReferencedFractionGroupNumber=1)
        whole = item(ReferencedSOPInstanceUID=plan, ReferencedFractionGroupSequence=[group])
        result.ReferencedRTPlanSequence = [whole]
    for name, value in change.items():
        setattr(result, name, value)
    result.save_as(path, enforce_file_format=True)
    return path


def writeSegmentation(path: Path, slices, arrays: dict, fractional: bool = False):
    """Write a SEG of arrays [k, j, i] by name on the slices of a series, which are in the order of k."""
    pixels = np.stack(list(arrays.values()), axis=-1).astype(np.float32 if fractional else np.uint8)
    kind = "FRACTIONAL" if fractional else "BINARY"
    return _writeSegments(path, slices, pixels, kind, dict(enumerate(arrays, start=1)))


def writeLabelMap(path: Path, slices, labels: np.ndarray, names: dict[int, str]):
    """Write a SEG of labels [k, j, i] with names on the slices of a series, which are in the order of k."""
    return _writeSegments(path, slices, labels, "LABELMAP", names)


def _writeSegments(path: Path, slices, pixels: np.ndarray, kind: str, names: dict[int, str]):
    highdicom = pytest.importorskip("highdicom", reason="highdicom is not installed (extra dicom)")
    from pydicom.sr.codedict import codes

    descriptions = [
        highdicom.seg.SegmentDescription(
            segment_number=number,
            segment_label=name,
            segmented_property_category=codes.SCT.Organ,
            segmented_property_type=codes.SCT.Liver,
            algorithm_type="MANUAL",
        )
        for number, name in names.items()
    ]
    segmentation = highdicom.seg.Segmentation(
        source_images=slices,
        pixel_array=pixels,
        segmentation_type=kind,
        segment_descriptions=descriptions,
        series_instance_uid=generate_uid(),
        series_number=2,
        sop_instance_uid=generate_uid(),
        instance_number=1,
        manufacturer="Test",
        manufacturer_model_name="Test",
        software_versions="1",
        device_serial_number="1",
        omit_empty_frames=True,
    )
    segmentation.save_as(path)
    return segmentation
