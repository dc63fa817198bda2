#!/bin/sh
# rt-utils exchanges the height and the width of a pixel.
# Guess: add_roi() writes the contour of a mask where the mask lies in the image, in mm, whatever shape the pixels have: in DICOM, Pixel
#        Spacing is the distance of rows first, and then that of columns.
# Seen:  the first number is taken for the columns, the second for the rows. On pixels that are 1 mm wide and 3 mm high, as in a coronal
#        series made from slices of 3 mm, a square of 30 x 30 mm becomes a contour of 87 x 9 mm whose center is 113 mm off. rt-utils
#        reads the mask back as it was, since its reader exchanges them again. Square pixels are right. Nothing is said.
# Version: rt-utils 1.2.7 with pydicom 3.0.2, NumPy 2.4.6 and OpenCV 5.0.0.93.
# Output:
#   1 mm wide, 1 mm high: mask x 40 to 69 mm, z -19 to -10 mm; contour x 40 to 69 mm, z -19 to -10 mm; read back as it was: True
#   1 mm wide, 3 mm high: mask x 40 to 69 mm, z -57 to -30 mm; contour x 120 to 207 mm, z -19 to -10 mm; read back as it was: True
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
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid
from rt_utils import RTStructBuilder

SIZE, SLICES = 100, 5


def writeSeries(folder, height):
    """Write a coronal series: rows run to the patient's left, columns down. height: of a pixel in mm."""
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
        image.ImageOrientationPatient, image.ImagePositionPatient = [1, 0, 0, 0, 0, -1], [0, number, 0]
        image.PixelSpacing, image.SliceThickness = [height, 1], 1
        image.Rows, image.Columns, image.SamplesPerPixel = SIZE, SIZE, 1
        image.BitsAllocated = image.BitsStored = 16
        image.HighBit, image.PixelRepresentation, image.PhotometricInterpretation = 15, 0, "MONOCHROME2"
        image.RescaleSlope, image.RescaleIntercept = 1, 0
        image.PixelData = bytes(2 * SIZE * SIZE)
        image.save_as(folder / f"{number}.dcm", enforce_file_format=True)


mask = np.zeros((SIZE, SIZE, SLICES), bool)
mask[10:20, 40:70, 1:4] = True
found = {}
for height in (1, 3):
    folder = Path(sys.argv[1], f"{height}")
    writeSeries(folder, height)
    structures = RTStructBuilder.create_new(dicom_series_path=str(folder))
    structures.add_roi(mask=mask, name="Organ")
    file = Path(sys.argv[1], f"{height}.dcm")
    with contextlib.redirect_stdout(io.StringIO()):
        structures.save(str(file))
    contour = pydicom.dcmread(file).ROIContourSequence[0].ContourSequence[0]
    x, _, z = np.reshape(contour.ContourData, (-1, 3)).astype(float).T
    found[height] = [float(number) for number in (x.min(), x.max(), z.min(), z.max())]
    again = RTStructBuilder.create_from(str(folder), str(file)).get_roi_mask_by_name("Organ")
    isSame = np.array_equal(again, mask)
    print(
        f"1 mm wide, {height} mm high: mask x 40 to 69 mm, z {-19 * height} to {-10 * height} mm; contour x {x.min():.0f} to "
        f"{x.max():.0f} mm, z {z.min():.0f} to {z.max():.0f} mm; read back as it was: {isSame}"
    )
    assert isSame
assert np.allclose(found[1], [40, 69, -19, -10], atol=0.01), found
assert np.allclose(found[3], [120, 207, -19, -10], atol=0.01), found
PYTHON
