#!/bin/sh
# A contour of many points is no longer one in the file that pydicom writes of it.
# Guess: pydicom reads the RTSTRUCT that it wrote as it was, and other readers do so as well, however many points a contour has; a
#        program that cannot read one says so.
# Seen:  the text of more than 64 kB of one contour, here of 4000 points, does not fit into an explicit transfer syntax, so pydicom
#        warns and writes it as of unknown kind (UN), which the standard allows. Reading it again gives bytes, not numbers, without
#        a word. plastimatch writes no mask for that structure, without a word and with exit status 0; the structure beside it is
#        there. With 100 points, or in the implicit syntax, both programs read all.
# Version: pydicom 3.0.2 and plastimatch 1.10.0 (wheel of 2026).
# Output:
#   explicit,  100 points: pydicom reads numbers, plastimatch writes organ, box
#   explicit, 4000 points: pydicom reads bytes, plastimatch writes box
#   implicit, 4000 points: pydicom reads numbers, plastimatch writes organ, box
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check pydicom==3.0.2 plastimatch==1.10.0
FOLDER="$folder" "$folder/venv/bin/python" - <<'PYTHON'
import math
import os
import subprocess
import sysconfig
import warnings

import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.sequence import Sequence
from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian, RTStructureSetStorage, generate_uid

warnings.simplefilter("ignore")


def itemOf(**values):
    item = Dataset()
    for name, value in values.items():
        setattr(item, name, Sequence(value) if name.endswith("Sequence") else value)
    return item


def contourOf(points, z):
    text = [f"{value:.4f}" for x, y in points for value in (x, y, z)]
    return itemOf(ContourGeometricType="CLOSED_PLANAR", NumberOfContourPoints=len(points), ContourData=text)


def writeStructures(path, syntax, count):
    """Write a circle with a number of points and a box, on three slices each."""
    angles = [2 * math.pi * k / count for k in range(count)]
    circle = [(15.5 + 10 * math.cos(angle), 15.5 + 10 * math.sin(angle)) for angle in angles]
    box = [(4.5, 4.5), (9.5, 4.5), (9.5, 14.5), (4.5, 14.5)]
    regions, frame = {"organ": circle, "box": box}, generate_uid()
    structures = itemOf(
        SOPClassUID=RTStructureSetStorage, SOPInstanceUID=generate_uid(), Modality="RTSTRUCT", PatientID="P",
        StudyInstanceUID=generate_uid(), SeriesInstanceUID=generate_uid(), StructureSetLabel="S",
        StructureSetROISequence=[
            itemOf(ROINumber=n, ROIName=name, ReferencedFrameOfReferenceUID=frame, ROIGenerationAlgorithm="MANUAL")
            for n, name in enumerate(regions, 1)
        ],
        ROIContourSequence=[
            itemOf(ReferencedROINumber=n, ROIDisplayColor=[255, 0, 0],
                   ContourSequence=[contourOf(points, z) for z in (6, 9, 12)])
            for n, points in enumerate(regions.values(), 1)
        ],
        RTROIObservationsSequence=[
            itemOf(ObservationNumber=n, ReferencedROINumber=n, RTROIInterpretedType="ORGAN", ROIInterpreter="")
            for n in (1, 2)
        ],
    )
    structures.file_meta = FileMetaDataset()
    structures.file_meta.TransferSyntaxUID = syntax
    structures.file_meta.MediaStorageSOPClassUID = structures.SOPClassUID
    structures.file_meta.MediaStorageSOPInstanceUID = structures.SOPInstanceUID
    structures.save_as(path, enforce_file_format=True)


program = os.path.join(sysconfig.get_path("scripts"), "plastimatch")
found = []
for name, syntax, count in (
    ("explicit", ExplicitVRLittleEndian, 100),
    ("explicit", ExplicitVRLittleEndian, 4000),
    ("implicit", ImplicitVRLittleEndian, 4000),
):
    path, masks = (os.path.join(os.environ["FOLDER"], f"{name}{count}{end}") for end in (".dcm", ""))
    writeStructures(path, syntax, count)
    contour = pydicom.dcmread(path).ROIContourSequence[0].ContourSequence[0]
    subprocess.run(
        [program, "convert", "--input", path, "--output-prefix", masks, "--prefix-format", "mha",
         "--dim", "32 32 8", "--origin", "0 0 0", "--spacing", "1 1 3"],
        check=True, capture_output=True,
    )
    kind = "bytes" if isinstance(contour.ContourData, bytes) else "numbers"
    assert kind == "bytes" or len(contour.ContourData) == 3 * count
    found.append((kind, sorted(os.listdir(masks), reverse=True)))
    written = ", ".join(os.path.splitext(file)[0] for file in found[-1][1])
    print(f"{name}, {count:4d} points: pydicom reads {kind}, plastimatch writes {written}")
both = ["organ.mha", "box.mha"]
assert found == [("numbers", both), ("bytes", ["box.mha"]), ("numbers", both)], found
PYTHON
