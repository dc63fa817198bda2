#!/bin/sh
# rt-utils cuts off what lies beyond the shorter side of an image.
# Guess: get_roi_mask_by_name() returns the structure as an array of the image's rows, columns and slices, as add_roi() takes it, and
#        all of the structure, whether the image is square or not.
# Seen:  the array has rows and columns exchanged, but is filled as if it had not. Of an image of 40 rows and 100 columns, as many MR
#        images and all crops have, only the first 40 columns are there: a structure farther to the left side is cut off at that
#        column, or is empty, and its volume is that of the rest. No error and no warning. Square images are right.
# Version: rt-utils 1.2.7 with pydicom 3.0.2, NumPy 2.4.6 and OpenCV 5.0.0.93.
# Output:
#   image of  40 x 100 pixels, structure in columns 10 to 19: array of 100 x  40, 300 of 300 voxels
#   image of  40 x 100 pixels, structure in columns 30 to 49: array of 100 x  40, 300 of 600 voxels
#   image of  40 x 100 pixels, structure in columns 60 to 79: array of 100 x  40, 0 of 600 voxels
#   image of 100 x 100 pixels, structure in columns 60 to 79: array of 100 x 100, 600 of 600 voxels
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
    rt-utils==1.2.7 pydicom==3.0.2 numpy==2.4.6 opencv-python==5.0.0.93 opencv-python-headless==5.0.0.93
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import contextlib
import io
import sys
from pathlib import Path

import numpy as np
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid
from rt_utils import RTStructBuilder

COLUMNS, SLICES = 100, 5


def writeSeries(folder, rows):
    """Write an axial series of an image."""
    folder.mkdir()
    series, study, frame = generate_uid(), generate_uid(), generate_uid()
    for number in range(SLICES):
        image = Dataset()
        image.file_meta = FileMetaDataset()
        image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        image.SOPClassUID, image.SOPInstanceUID = CTImageStorage, generate_uid()
        image.Modality, image.PatientID, image.PatientName = "CT", "P", "A^B"
        image.PatientBirthDate, image.PatientSex, image.StudyDate, image.StudyTime = "", "", "", ""
        image.StudyID, image.AccessionNumber, image.ReferringPhysicianName = "1", "", ""
        image.StudyInstanceUID, image.SeriesInstanceUID, image.FrameOfReferenceUID = study, series, frame
        image.SeriesNumber, image.InstanceNumber = 1, number + 1
        image.ImageOrientationPatient, image.ImagePositionPatient = [1, 0, 0, 0, 1, 0], [0, 0, number]
        image.PixelSpacing, image.SliceThickness = [1, 1], 1
        image.Rows, image.Columns, image.SamplesPerPixel = rows, COLUMNS, 1
        image.BitsAllocated = image.BitsStored = 16
        image.HighBit, image.PixelRepresentation, image.PhotometricInterpretation = 15, 0, "MONOCHROME2"
        image.RescaleSlope, image.RescaleIntercept = 1, 0
        image.PixelData = bytes(2 * rows * COLUMNS)
        image.save_as(folder / f"{number}.dcm", enforce_file_format=True)


found = []
for number, (rows, first, last) in enumerate(((40, 10, 19), (40, 30, 49), (40, 60, 79), (100, 60, 79))):
    folder, file = Path(sys.argv[1], f"{number}"), Path(sys.argv[1], f"{number}.dcm")
    writeSeries(folder, rows)
    mask = np.zeros((rows, COLUMNS, SLICES), bool)
    mask[10:20, first : last + 1, 1:4] = True
    structures = RTStructBuilder.create_new(dicom_series_path=str(folder))
    structures.add_roi(mask=mask, name="Organ")
    with contextlib.redirect_stdout(io.StringIO()):
        structures.save(str(file))
    again = RTStructBuilder.create_from(str(folder), str(file)).get_roi_mask_by_name("Organ")
    found.append((again.shape[:2], int(again.sum())))
    print(
        f"image of {rows:3d} x {COLUMNS} pixels, structure in columns {first} to {last}: "
        f"array of {again.shape[0]} x {again.shape[1]:3d}, {again.sum()} of {mask.sum()} voxels"
    )
assert found == [((100, 40), 300), ((100, 40), 300), ((100, 40), 0), ((100, 100), 600)], found
PYTHON
