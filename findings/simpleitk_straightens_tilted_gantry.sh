#!/bin/sh
# SimpleITK straightens a CT with a tilted gantry.
# Guess: ReadImage() of a tilted series places each voxel where its slice says that it lies, or warns, as an image has to have its
#        slices stacked at right angles, and those of a tilted gantry are not.
# Seen:  they are stacked at right angles, at the distance by which the table moved. Only the first slice is where it was. With a tilt
#        of 20 degrees, as for a head, the last of 40 slices of 5 mm lies 67.7 mm off, and volumes are 6 % too large, as the slices
#        are 4.7 mm apart. Contours of that series, which are in mm, leave the image. No error and no warning. Images with axes
#        at other angles are possible: ForceOrthogonalDirectionOff() of ImageSeriesReader is right, but not the default.
# Version: SimpleITK 2.5.7 with files by pydicom 3.0.2 and NumPy 2.4.6.
# Output:
#    0 degrees: slices 5.00 mm apart, in SimpleITK 5.00 mm; the center of the last one is  0.0 mm off
#   20 degrees: slices 4.70 mm apart, in SimpleITK 5.00 mm; the center of the last one is 67.7 mm off
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check simpleitk==2.5.7 pydicom==3.0.2 numpy==2.4.6
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import math
import sys
from pathlib import Path

import numpy as np
import SimpleITK
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

SIZE, SLICES, STEP = 32, 40, 5.0


def writeSeries(folder, degrees):
    """Write a CT whose table moved by STEP mm from slice to slice, with a tilted gantry. Return its files in order."""
    folder.mkdir()
    down = [0, math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))]
    series, study, frame = generate_uid(), generate_uid(), generate_uid()
    images = []
    for number in range(SLICES):
        image = Dataset()
        image.file_meta = FileMetaDataset()
        image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        image.SOPClassUID, image.SOPInstanceUID, image.Modality = CTImageStorage, generate_uid(), "CT"
        image.StudyInstanceUID, image.SeriesInstanceUID, image.FrameOfReferenceUID = study, series, frame
        image.ImageOrientationPatient = [f"{length:.10f}" for length in (1, 0, 0, *down)]
        image.ImagePositionPatient, image.PixelSpacing = [-20, -30, 100 + STEP * number], [1, 1]
        image.GantryDetectorTilt, image.SliceThickness = degrees, round(STEP * down[1], 3)
        image.Rows, image.Columns, image.SamplesPerPixel = SIZE, SIZE, 1
        image.BitsAllocated = image.BitsStored = 16
        image.HighBit, image.PixelRepresentation, image.PhotometricInterpretation = 15, 1, "MONOCHROME2"
        image.InstanceNumber, image.PixelData = number + 1, bytes(2 * SIZE * SIZE)
        image.save_as(folder / f"{number:02d}.dcm", enforce_file_format=True)
        images.append(image)
    return images


found = {}
for degrees in (0, 20):
    folder = Path(sys.argv[1], f"{degrees}")
    images = writeSeries(folder, degrees)
    files = SimpleITK.ImageSeriesReader.GetGDCMSeriesFileNames(str(folder))
    assert [Path(file).name for file in files] == [f"{number:02d}.dcm" for number in range(SLICES)]
    image = SimpleITK.ReadImage(files)
    across, down = np.reshape(np.array(images[-1].ImageOrientationPatient, float), (2, 3))
    middle = np.array(images[-1].ImagePositionPatient, float) + SIZE // 2 * (across + down)
    there = image.TransformIndexToPhysicalPoint((SIZE // 2, SIZE // 2, SLICES - 1))
    apart = STEP * abs(float(np.cross(across, down)[2]))
    found[degrees] = apart, image.GetSpacing()[2], float(np.linalg.norm(middle - there))
    reader = SimpleITK.ImageSeriesReader()
    reader.SetFileNames(files)
    reader.ForceOrthogonalDirectionOff()
    assert np.allclose(reader.Execute().TransformIndexToPhysicalPoint((SIZE // 2, SIZE // 2, SLICES - 1)), middle)
    own, inImage, off = found[degrees]
    print(
        f"{degrees:2d} degrees: slices {own:.2f} mm apart, in SimpleITK {inImage:.2f} mm; "
        f"the center of the last one is {off:4.1f} mm off"
    )
assert np.allclose(found[0], (5, 5, 0), atol=1e-3), found
assert np.allclose(found[20], (4.698, 5, 67.724), atol=1e-2), found
PYTHON
