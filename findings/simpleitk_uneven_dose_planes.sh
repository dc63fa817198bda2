#!/bin/sh
# SimpleITK spaces all planes of a dose as the first two.
# Guess: DICOM gives each plane of an RTDOSE its own offset, so they may lie at unequal distances (PS3.3, C.8.8.3). ReadImage() refuses such
#        a file, as an image has one spacing, or warns; plastimatch does refuse it. Descending offsets, another speciality, are right.
# Seen:  the distance of the first two planes is taken for all. With planes every 3 mm, and every 5 mm from the fifth on, the dose
#        slides down: at 117 mm it is 30.3 Gy instead of 27, at 122 mm 37 instead of 32, and above 122.5 mm there is none. The volume
#        of an isodose is wrong alike. No error and no warning.
# Version: SimpleITK 2.5.7 with a file by pydicom 3.0.2 and NumPy 2.4.6.
# Output:
#   even:   origin 100, spacing 3 mm; at 112, 117, 122, 127 mm 22.0 27.0 32.0 37.0 Gy
#   uneven: origin 100, spacing 3 mm; at 112, 117, 122, 127 mm 22.0 30.3 37.0 0.0 Gy
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check SimpleITK==2.5.7 pydicom==3.0.2 numpy==2.4.6
"$folder/venv/bin/python" - "$folder/dose.dcm" <<'PYTHON'
import sys

import numpy as np
import SimpleITK
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, generate_uid


def writeDose(path, offsets):
    """Write an RTDOSE from z = 100 mm on: 10 Gy in the first plane, and 1 Gy more with every mm of an offset."""
    file = Dataset()
    file.file_meta = FileMetaDataset()
    file.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    file.SOPClassUID, file.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.481.2", generate_uid()
    file.StudyInstanceUID, file.SeriesInstanceUID, file.FrameOfReferenceUID = (generate_uid() for _ in range(3))
    file.Modality, file.PatientName, file.PatientID = "RTDOSE", "Doe^Jane", "1"
    file.DoseUnits, file.DoseType, file.DoseSummationType, file.DoseGridScaling = "GY", "PHYSICAL", "PLAN", 0.01
    file.ImagePositionPatient, file.ImageOrientationPatient = [0, 0, 100], [1, 0, 0, 0, 1, 0]
    file.PixelSpacing, file.GridFrameOffsetVector = [2, 2], [float(offset) for offset in offsets]
    file.FrameIncrementPointer = 0x3004000C
    file.NumberOfFrames, file.Rows, file.Columns = len(offsets), 10, 10
    file.BitsAllocated = file.BitsStored = 16
    file.HighBit, file.PixelRepresentation, file.SamplesPerPixel = 15, 0, 1
    file.PhotometricInterpretation = "MONOCHROME2"
    file.PixelData = np.repeat((10 + np.array(offsets)) * 100, 100).astype(np.uint16).tobytes()
    file.save_as(path, enforce_file_format=True)


heights = [112.0, 117.0, 122.0, 127.0]
found = {}
for name, offsets in (("even:  ", range(0, 28, 3)), ("uneven:", (0, 3, 6, 9, 12, 17, 22, 27))):
    writeDose(sys.argv[1], offsets)
    dose = SimpleITK.ReadImage(sys.argv[1], SimpleITK.sitkFloat64)
    places = SimpleITK.Image([1, 1, 1], SimpleITK.sitkFloat64)
    values = []
    for height in heights:
        places.SetOrigin((6, 6, height))
        values.append(SimpleITK.Resample(dose, places)[0, 0, 0] * 0.01)
    found[name.strip(" :")] = values
    shown = " ".join(f"{value:.1f}" for value in values)
    origin, spacing = dose.GetOrigin()[2], dose.GetSpacing()[2]
    print(f"{name} origin {origin:g}, spacing {spacing:g} mm; at 112, 117, 122, 127 mm {shown} Gy")
assert np.allclose(found["even"], [22, 27, 32, 37]), found
assert np.allclose(found["uneven"], [22, 30.333, 37, 0], atol=0.01), found
PYTHON
