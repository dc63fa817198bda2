#!/bin/sh
# dciodvfy counts the bytes of a text where DICOM limits its characters, so valid names in other languages are errors.
# Guess: a Long String (LO) has at most 64 characters, whatever their encoding takes (PS3.5, 6.2: lengths of character strings are in
#        characters), so a series description of 33 letters is valid with SpecificCharacterSet ISO_IR 192, which is UTF-8.
# Seen:  33 letters with two bytes each are refused: "Length invalid for this VR = 66, expected <= 64". 32 of them pass, as 64 of
#        one byte do. The same happens to labels of segments, names of structures and IDs of patients.
# Version: dicom3tools 1.00~20220618093127-2 of Debian 12, with files by pydicom 3.0.2.
# Output:
#   64 letters of 1 byte: valid
#   32 letters of 2 bytes: valid
#   33 letters of 2 bytes: Length invalid for this VR = 66, expected <= 64
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check pydicom==3.0.2
cd "$folder"
apt-get download -q dicom3tools=1.00~20220618093127-2 > download.log
dpkg -x dicom3tools_*.deb tools
PATH="$folder/tools/usr/bin:$PATH" "$folder/venv/bin/python" - <<'PYTHON'
import re
import subprocess

from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage, generate_uid


def writeImage(path, description):
    """Write an image of four pixels whose series has a description."""
    image = Dataset()
    image.file_meta = FileMetaDataset()
    image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    image.SpecificCharacterSet = "ISO_IR 192"
    image.SOPClassUID, image.SOPInstanceUID = SecondaryCaptureImageStorage, generate_uid()
    image.StudyInstanceUID, image.SeriesInstanceUID = generate_uid(), generate_uid()
    image.PatientName, image.PatientID, image.Modality, image.ConversionType = "Doe^Jane", "1", "OT", "WSD"
    for name in ("PatientBirthDate", "PatientSex", "StudyDate", "StudyTime", "ReferringPhysicianName", "StudyID"):
        setattr(image, name, "")
    image.AccessionNumber = image.Laterality = image.PatientOrientation = ""
    image.SeriesNumber = image.InstanceNumber = "1"
    image.SeriesDescription = description
    image.SamplesPerPixel, image.PhotometricInterpretation, image.PixelRepresentation = 1, "MONOCHROME2", 0
    image.Rows = image.Columns = 2
    image.BitsAllocated, image.BitsStored, image.HighBit, image.PixelData = 8, 8, 7, bytes(4)
    image.save_as(path, enforce_file_format=True)


seen = []
for letter, count in (("o", 64), ("\u00f6", 32), ("\u00f6", 33)):
    writeImage("image.dcm", letter * count)
    told = subprocess.run(["dciodvfy", "image.dcm"], capture_output=True, text=True)
    errors = re.findall("Length invalid .*", told.stdout + told.stderr)
    assert (told.returncode == 0) == (not errors)
    seen.append(errors[0].strip() if errors else "valid")
    print(f"{count} letters of {len(letter.encode())} byte{'s' * (len(letter.encode()) > 1)}: {seen[-1]}")
assert seen == ["valid", "valid", "Length invalid for this VR = 66, expected <= 64"]
PYTHON
