#!/bin/sh
# dicompyler-core takes the smallest gap between contours for the thickness of all of them.
# Guess: a structure with a contour every 3 mm, and one more in between, keeps its volume: 20 x 20 x 24 mm are about 10 ml, and the contours
#        are 27 mm thick at most. Unequal gaps are common, where a physician adds a slice or an end is capped.
# Seen:  every contour gets the smallest gap of all, here 1 mm, so the volume falls from 10.8 to 4.0 ml with ONE contour added, as if
#        there were ten thin slabs. Volumes at a dose, such as V30Gy in ml, shrink alike; the mean dose looks right, so nothing
#        attracts attention. No warning.
# Version: dicompyler-core 0.5.6 with pydicom 2.4.5, NumPy 2.4.6, Matplotlib 3.11.2 and six 1.17.0.
# Output:
#   every 3 mm: 9 contours, 10.8 ml, of which 4.8 ml get 30 Gy or more, mean 28.0 Gy
#   one more  : 10 contours, 4.0 ml, of which 1.6 ml get 30 Gy or more, mean 27.8 Gy
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
    dicompyler-core==0.5.6 pydicom==2.4.5 numpy==2.4.6 matplotlib==3.11.2 six==1.17.0
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from dicompylercore import dvhcalc
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian


def makeStructure(planes):
    """Return an RTSTRUCT of one structure: a square of 20 x 20 mm in each plane, given by its z in mm."""
    contours = []
    for z in planes:
        contour = Dataset()
        contour.ContourGeometricType = "CLOSED_PLANAR"
        contour.NumberOfContourPoints = 4
        contour.ContourData = [10.5, 10.5, z, 30.5, 10.5, z, 30.5, 30.5, z, 10.5, 30.5, z]
        contours.append(contour)
    structure, roi, file = Dataset(), Dataset(), Dataset()
    structure.ReferencedROINumber = roi.ROINumber = 1
    structure.ROIDisplayColor = [255, 0, 0]
    structure.ContourSequence = contours
    roi.ROIName = "Target"
    file.file_meta = FileMetaDataset()
    file.SOPClassUID, file.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.481.3", "1.2.3"
    file.StructureSetROISequence, file.ROIContourSequence = [roi], [structure]
    return file


def makeDose():
    """Return an RTDOSE of 1 x 1 x 1 mm voxels: 10 Gy at z = 0, and 1 Gy more with every mm."""
    file = Dataset()
    file.file_meta = FileMetaDataset()
    file.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    file.is_little_endian, file.is_implicit_VR = True, False
    file.SOPClassUID, file.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.481.2", "1.2.4"
    file.DoseUnits, file.DoseType, file.DoseSummationType, file.DoseGridScaling = "GY", "PHYSICAL", "PLAN", 0.01
    file.ImagePositionPatient, file.ImageOrientationPatient = [0, 0, 0], [1, 0, 0, 0, 1, 0]
    file.PixelSpacing, file.GridFrameOffsetVector = [1, 1], [float(z) for z in range(40)]
    file.NumberOfFrames = file.Rows = file.Columns = 40
    file.BitsAllocated = file.BitsStored = 16
    file.HighBit, file.PixelRepresentation, file.SamplesPerPixel = 15, 0, 1
    file.PhotometricInterpretation = "MONOCHROME2"
    file.PixelData = np.repeat(np.arange(10, 50) * 100, 1600).astype(np.uint16).tobytes()
    return file


found = {}
even = [float(z) for z in range(6, 31, 3)]
for name, planes in (("every 3 mm", even), ("one more  ", sorted([*even, 16.0]))):
    histogram = dvhcalc.get_dvh(makeStructure(planes), makeDose(), 1)
    found[len(planes)] = histogram.volume, float(histogram.V30Gy.value), histogram.mean
    volume, above, mean = found[len(planes)]
    print(f"{name}: {len(planes)} contours, {volume:.1f} ml, of which {above:.1f} ml get 30 Gy or more, mean {mean:.1f} Gy")
assert np.allclose(found[9][0], 10.8) and np.allclose(found[10][0], 4.0), found
assert found[10][1] < 0.4 * found[9][1] and abs(found[10][2] - found[9][2]) < 0.3, found
PYTHON
