#!/bin/sh
# scikit-rt adds the volume of a hole instead of taking it off.
# Guess: ROI.get_volume() of a structure whose contours are an outer and an inner circle on each slice, as walls of a bladder or a bowel and
#        rings around a target are drawn, is the volume between the two; at worst the hole is filled.
# Seen:  the areas of all contours are added, so the hole counts once more on top: a ring of 7.6 ml has 13.6 ml, more than the 10.6 ml
#        without the hole. Its mask fills the hole, 10.5 ml, so that one structure has two volumes and both are wrong. Two contours that
#        overlap count twice where they do. Of a structure without a hole, both are right. No warning.
# Version: scikit-rt 0.3.19 with pydicom 2.4.5, NumPy 1.26.4, Matplotlib 3.8.4 and shapely 2.2.0.
# Output:
#   disc: 10.6 ml between its contours; get_volume() 10.6 ml, voxels of the mask 10.5 ml
#   ring:  7.6 ml between its contours; get_volume() 13.6 ml, voxels of the mask 10.5 ml
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
    scikit-rt==0.3.19 pydicom==2.4.5 numpy==1.26.4 matplotlib==3.8.4 shapely==2.2.0 pandas==2.3.3 scipy==1.17.1
"$folder/venv/bin/python" - "$folder" 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import math
import sys
from pathlib import Path

import numpy as np
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, RTStructureSetStorage, generate_uid
from skrt import Image, StructureSet

FOLDER = Path(sys.argv[1])
SIZE, SLICES, THICKNESS, DRAWN = 64, 12, 3.0, range(4, 9)
STUDY, FRAME = generate_uid(), generate_uid()


def fileOf(storage, modality):
    """Return the beginning of a file of the patient."""
    file = Dataset()
    file.file_meta = FileMetaDataset()
    file.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    file.is_little_endian, file.is_implicit_VR = True, False
    file.SOPClassUID, file.SOPInstanceUID, file.Modality = storage, generate_uid(), modality
    file.file_meta.MediaStorageSOPClassUID = storage
    file.file_meta.MediaStorageSOPInstanceUID = file.SOPInstanceUID
    file.PatientID, file.PatientName, file.StudyDate, file.StudyTime = "P", "A^B", "20240101", "120000"
    file.StudyID, file.SeriesNumber, file.PatientPosition, file.SeriesDescription = "1", 1, "HFS", modality
    file.PatientBirthDate, file.PatientSex, file.AccessionNumber, file.ReferringPhysicianName = "", "", "", ""
    file.StudyInstanceUID, file.SeriesInstanceUID, file.FrameOfReferenceUID = STUDY, generate_uid(), FRAME
    return file


def writeSeries(folder):
    """Write a CT of pixels of 1 mm."""
    folder.mkdir()
    series = generate_uid()
    for number in range(SLICES):
        image = fileOf(CTImageStorage, "CT")
        image.SeriesInstanceUID, image.InstanceNumber = series, number + 1
        image.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
        image.ImagePositionPatient = [-32, -32, THICKNESS * number]
        image.PixelSpacing, image.SliceThickness = [1, 1], THICKNESS
        image.Rows, image.Columns, image.SamplesPerPixel = SIZE, SIZE, 1
        image.BitsAllocated = image.BitsStored = 16
        image.HighBit, image.PixelRepresentation, image.PhotometricInterpretation = 15, 1, "MONOCHROME2"
        image.RescaleSlope, image.RescaleIntercept, image.PixelData = 1, 0, bytes(2 * SIZE * SIZE)
        image.save_as(folder / f"{number:02d}.dcm", write_like_original=False)


def contourOf(radius, z):
    angles = [2 * math.pi * k / 180 for k in range(180)]
    points = [(radius * math.cos(angle), radius * math.sin(angle), z) for angle in angles]
    contour = Dataset()
    contour.ContourGeometricType, contour.NumberOfContourPoints = "CLOSED_PLANAR", len(points)
    contour.ContourData = [f"{value:.4f}" for point in points for value in point]
    return contour


def writeStructures(path, radii):
    """Write structures of concentric circles. radii: in mm by name."""
    file = fileOf(RTStructureSetStorage, "RTSTRUCT")
    file.StructureSetLabel, file.StructureSetROISequence, file.ROIContourSequence = "S", [], []
    for number, (name, several) in enumerate(radii.items(), 1):
        region, drawn = Dataset(), Dataset()
        region.ROINumber = drawn.ReferencedROINumber = number
        region.ROIName, region.ReferencedFrameOfReferenceUID = name, FRAME
        drawn.ROIDisplayColor = [255, 0, 0]
        drawn.ContourSequence = [contourOf(radius, THICKNESS * k) for k in DRAWN for radius in several]
        file.StructureSetROISequence.append(region)
        file.ROIContourSequence.append(drawn)
    file.save_as(path, write_like_original=False)


circles = {"disc": [15], "ring": [15, 8]}
writeSeries(FOLDER / "ct")
writeStructures(FOLDER / "rs.dcm", circles)
structures = StructureSet(str(FOLDER / "rs.dcm"), image=Image(str(FOLDER / "ct")))
found = {}
for name, (outer, *inner) in circles.items():
    between = math.pi * (outer**2 - sum(radius**2 for radius in inner)) * THICKNESS * len(DRAWN) / 1000
    region = structures.get_roi(name)
    found[name] = between, region.get_volume(units="ml"), float(np.sum(region.get_mask())) * THICKNESS / 1000
    own, told, voxels = found[name]
    print(f"{name}: {own:4.1f} ml between its contours; get_volume() {told:.1f} ml, voxels of the mask {voxels:.1f} ml")
assert np.allclose(found["disc"], 10.6, atol=0.15), found
assert np.allclose(found["ring"], (7.6, 13.6, 10.5), atol=0.1), found
PYTHON
