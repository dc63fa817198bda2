#!/bin/sh
# SimpleITK reads a DICOM segmentation as if its frames lay 1 mm apart, one upon the other.
# Guess: ReadImage() of a DICOM SEG, where empty slices are left out as the standard allows, either refuses the file or puts each frame
#        where it says that it lies, as it does with a dose (RTDOSE).
# Seen:  the frames are stacked in the order of the file, with 1 mm between them and from the place of the first one upward, whatever the
#        file says. Here highdicom wrote 7 frames from the top down, 3 mm apart, in two lesions with 30 mm between them. SimpleITK has a
#        third of the volume, upside down, above where it is, and ONE lesion, as there is no gap left. No error and no warning.
# Version: SimpleITK 2.5.7 with a file by highdicom 0.28.2, pydicom 3.0.2 and NumPy 2.4.6.
# Output:
#   highdicom: spacing 3 mm, z from 15 to 63 mm, 2.10 ml in 2 lesions
#   SimpleITK: spacing 1 mm, z from 63 to 69 mm, 0.70 ml in 1 lesions
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
    SimpleITK==2.5.7 highdicom==0.28.2 pydicom==3.0.2 numpy==2.4.6
"$folder/venv/bin/python" - "$folder/lesions.dcm" <<'PYTHON'
import sys

import highdicom
import numpy as np
import SimpleITK
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.sr.codedict import codes
from pydicom.uid import ExplicitVRLittleEndian, generate_uid


def makeSlices(count, size):
    """Return a CT image with slices of 3 mm and pixels of 1 x 1 mm."""
    study, series, frame = generate_uid(), generate_uid(), generate_uid()
    slices = []
    for k in range(count):
        one = Dataset()
        one.file_meta = FileMetaDataset()
        one.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        one.SOPClassUID, one.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.2", generate_uid()
        one.StudyInstanceUID, one.SeriesInstanceUID, one.FrameOfReferenceUID = study, series, frame
        one.PatientName, one.PatientID, one.PatientBirthDate, one.PatientSex = "Doe^Jane", "1", "", ""
        one.StudyDate = one.StudyTime = one.StudyID = one.AccessionNumber = one.ReferringPhysicianName = ""
        one.Modality, one.SeriesNumber, one.InstanceNumber = "CT", 1, k + 1
        one.Rows = one.Columns = size
        one.ImagePositionPatient, one.ImageOrientationPatient = [0, 0, 3 * k], [1, 0, 0, 0, 1, 0]
        one.PixelSpacing, one.SliceThickness = [1, 1], 3
        slices.append(one)
    return slices


def measure(array, z, spacing):
    """Return the spacing in mm, the lowest and highest z in mm, the volume in ml and the number of lesions."""
    used = z[array.any(axis=(1, 2))]
    parts = SimpleITK.ConnectedComponent(SimpleITK.GetImageFromArray((array > 0).astype(np.uint8)))
    lesions = int(SimpleITK.GetArrayViewFromImage(parts).max())
    return spacing, float(min(used)), float(max(used)), np.count_nonzero(array) * spacing / 1000, lesions


path = sys.argv[1]
mask = np.zeros((30, 40, 40), np.uint8)
mask[5:8, 10:20, 10:20] = mask[18:22, 10:20, 10:20] = 1
segment = highdicom.seg.SegmentDescription(
    1, "Lesions", codes.SCT.MorphologicallyAbnormalStructure, codes.SCT.Lesion, "MANUAL"
)
made = [generate_uid(), 2, generate_uid(), 1, "Maker", "Model", "1", "1"]
highdicom.seg.Segmentation(makeSlices(30, 40), mask, "BINARY", [segment], *made).save_as(path)

volume = highdicom.seg.segread(path).get_volume(combine_segments=True)
z = volume.position[2] + np.arange(volume.shape[0]) * volume.spacing[0] * volume.direction[2, 0]
found = {"highdicom": measure(volume.array, z, volume.spacing[0])}
image = SimpleITK.ReadImage(path)
z = image.GetOrigin()[2] + np.arange(image.GetDepth()) * image.GetSpacing()[2] * image.GetDirection()[8]
found["SimpleITK"] = measure(SimpleITK.GetArrayFromImage(image), z, image.GetSpacing()[2])
for name, (spacing, low, high, milliliters, lesions) in found.items():
    print(f"{name}: spacing {spacing:g} mm, z from {low:g} to {high:g} mm, {milliliters:.2f} ml in {lesions} lesions")
assert np.allclose(found["highdicom"], (3, 15, 63, 2.1, 2)), found
assert np.allclose(found["SimpleITK"], (1, 63, 69, 0.7, 1)), found
PYTHON
