#!/bin/sh
# Contours of a body that reaches both sides of the image enclose a fraction of it, or nothing.
# Guess: a mask that becomes an RTSTRUCT has its volume, up to half a pixel along its outline, also where the image cuts it off: a body or
#        an arm that is wider than the field of view is common.
# Seen:  the outline ends at the edge of the image, and each of its pieces is closed by a straight line. A body that reaches the left and
#        the right edge has an upper and a lower piece, so that only two segments of it are left, 41 and 36 % of the volume. A slab from
#        side to side has two pieces without an area: nothing is left. One that reaches one side is right in plastimatch, and is
#        halved by DicomRTTool. Inside the image all are right. No error and no warning.
# Version: plastimatch 1.10.0 (wheel of 2026) and DicomRTTool 6.2.0 with SimpleITK 2.5.7, pydicom 3.0.2, NumPy 2.4.6, SciPy 1.17.1,
#          scikit-image 0.26.0 and pandas 3.1.1.
# Output:
#   inside    : mask 21.6 ml; contours by plastimatch 21.6 ml, by DicomRTTool 21.6 ml
#   one side  : mask 21.6 ml; contours by plastimatch 21.3 ml, by DicomRTTool 10.8 ml
#   slab      : mask 32.4 ml; contours by plastimatch 0.0 ml, by DicomRTTool 0.0 ml
#   body      : mask 32.8 ml; contours by plastimatch 13.4 ml, by DicomRTTool 11.8 ml
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check plastimatch==1.10.0 DicomRTTool==6.2.0 \
    simpleitk==2.5.7 pydicom==3.0.2 numpy==2.4.6 scipy==1.17.1 scikit-image==0.26.0 pandas==3.1.1
"$folder/venv/bin/python" - "$folder" 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pydicom
import SimpleITK
from DicomRTTool.ReaderWriter import DicomReaderWriter
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

FOLDER = Path(sys.argv[1])
SLICES, ROWS, COLUMNS, THICKNESS = 10, 50, 60, 3.0


def writeSeries(folder):
    """Write a CT of pixels of 1 mm."""
    folder.mkdir()
    series, study, frame = generate_uid(), generate_uid(), generate_uid()
    for number in range(SLICES):
        image = Dataset()
        image.file_meta = FileMetaDataset()
        image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        image.SOPClassUID, image.SOPInstanceUID = CTImageStorage, generate_uid()
        image.Modality, image.PatientID, image.PatientName = "CT", "P", "A^B"
        image.PatientBirthDate, image.PatientSex, image.StudyDate, image.StudyTime = "", "", "20240101", "120000"
        image.StudyID, image.AccessionNumber, image.ReferringPhysicianName = "1", "", ""
        image.StudyInstanceUID, image.SeriesInstanceUID, image.FrameOfReferenceUID = study, series, frame
        image.SeriesNumber, image.InstanceNumber, image.SeriesDescription = 1, number + 1, "CT"
        image.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
        image.ImagePositionPatient = [0, 0, THICKNESS * number]
        image.PixelSpacing, image.SliceThickness = [1, 1], THICKNESS
        image.Rows, image.Columns, image.SamplesPerPixel = ROWS, COLUMNS, 1
        image.BitsAllocated = image.BitsStored = 16
        image.HighBit, image.PixelRepresentation, image.PhotometricInterpretation = 15, 1, "MONOCHROME2"
        image.RescaleSlope, image.RescaleIntercept = 1, 0
        image.PixelData = bytes(2 * ROWS * COLUMNS)
        image.save_as(folder / f"{number:02d}.dcm", enforce_file_format=True)


def volumesIn(path):
    """Return the volumes in ml that the contours of each structure enclose, none of which is in another."""
    structures, found = pydicom.dcmread(path), {}
    names = {int(one.ROINumber): str(one.ROIName) for one in structures.StructureSetROISequence}
    for region in structures.ROIContourSequence:
        area = 0.0
        for contour in region.get("ContourSequence", []):
            x, y, _ = np.reshape(contour.ContourData, (-1, 3)).astype(float).T
            area += abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
        found[names[int(region.ReferencedROINumber)]] = area * THICKNESS / 1000
    return found


writeSeries(FOLDER / "ct")
k, j, i = np.indices((SLICES, ROWS, COLUMNS))
depth, height = (k > 1) & (k < 8), (j >= 10) & (j < 40)
masks = {
    "inside": depth & height & (i >= 10) & (i < 50),
    "one side": depth & height & (i < 40),
    "slab": depth & height,
    "body": depth & (((j - 25) / 18) ** 2 + ((i - 30) / 34) ** 2 < 1),
}
(FOLDER / "masks").mkdir()
for name, mask in masks.items():
    image = SimpleITK.GetImageFromArray(mask.astype(np.uint8))
    image.SetSpacing((1, 1, THICKNESS))
    SimpleITK.WriteImage(image, FOLDER / "masks" / f"{name}.nii.gz")
subprocess.run(
    [f"{sysconfig.get_path('scripts')}/plastimatch", "convert", "--input-prefix", FOLDER / "masks",
     "--referenced-ct", FOLDER / "ct", "--output-dicom", FOLDER / "plastimatch"],
    check=True, capture_output=True,
)
(ofPlastimatch,) = (FOLDER / "plastimatch").glob("*rtss*")
writer = DicomReaderWriter(description="CT", arg_max=False)
writer.walk_through_folders(str(FOLDER / "ct"))
writer.get_images()
channels = np.stack([np.zeros(depth.shape, bool), *masks.values()], axis=-1).astype(np.float32)
writer.prediction_array_to_RT(channels, str(FOLDER / "tool"), list(masks))
(ofTool,) = (FOLDER / "tool").glob("RS*")
found = {}
for name, mask in masks.items():
    own, *others = mask.sum() * THICKNESS / 1000, volumesIn(ofPlastimatch)[name], volumesIn(ofTool)[name]
    found[name] = others
    print(f"{name:10s}: mask {own:.1f} ml; contours by plastimatch {others[0]:.1f} ml, by DicomRTTool {others[1]:.1f} ml")
assert np.allclose(found["inside"], 21.6, atol=0.1), found
assert np.allclose(found["one side"], (21.4, 10.8), atol=0.3), found
assert np.allclose(found["slab"], 0, atol=0.05) and np.allclose(found["body"], (13.4, 11.8), atol=0.3), found
PYTHON
