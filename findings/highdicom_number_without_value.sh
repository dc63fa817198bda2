#!/bin/sh
# highdicom cannot read a structured report in which a number has no value.
# Guess: DICOM lets a number (NUM) go without a value and say why by a qualifier, such as "Not a number" or "Positive Infinity"
#        (PS3.3, C.18.1: the Measured Value Sequence has zero or one item). highdicom knows the qualifier, so it reads such a
#        report and gives the qualifier of that number.
# Seen:  reading fails with an IndexError, for the whole report, whatever else is in it. Nor can highdicom write one: its
#        constructor wants a value, and checks by reading. dciodvfy of dicom3tools finds no error in the file, and pydicom reads it.
# Version: highdicom 0.28.2 with pydicom 3.0.2.
# Output:
#   all numbers have values: 2 numbers are read
#   one has none, but a qualifier: IndexError: list index out of range
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check highdicom==0.28.2 pydicom==3.0.2
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import highdicom.sr as sr
import pydicom
from pydicom.sr.codedict import codes
from pydicom.uid import RawDataStorage, generate_uid


def writeReport(path):
    """Write a report with two numbers."""
    source = pydicom.Dataset()
    for name in ("PatientID", "PatientName", "PatientBirthDate", "PatientSex", "AccessionNumber", "StudyID"):
        setattr(source, name, "")
    source.StudyDate = source.StudyTime = source.ReferringPhysicianName = ""
    source.SOPClassUID = RawDataStorage
    source.SOPInstanceUID, source.StudyInstanceUID, source.SeriesInstanceUID = (generate_uid() for _ in range(3))
    device = sr.DeviceObserverIdentifyingAttributes(generate_uid(), "device")
    group = sr.MeasurementsAndQualitativeEvaluations(
        sr.TrackingIdentifier(generate_uid(), "lesion"),
        measurements=[sr.Measurement(name, 3.0, sr.CodedConcept("mm", "UCUM", "mm")) for name in (codes.SCT.Length, codes.SCT.Width)],
    )
    report = sr.MeasurementReport(
        sr.ObservationContext(observer_device_context=sr.ObserverContext(codes.DCM.Device, device)),
        codes.SCT.ImagingProcedure,
        [group],
    )
    uids = [generate_uid(), 1, generate_uid(), 1]
    sr.Comprehensive3DSR([source], report, *uids, manufacturer="maker").save_as(path)


def countNumbers(path):
    (group,) = sr.srread(path).content.get_image_measurement_groups()
    return len(group.get_measurements())


writeReport("whole.dcm")
count = countNumbers("whole.dcm")
print(f"all numbers have values: {count} numbers are read")
assert count == 2
report = pydicom.dcmread("whole.dcm")
(measurements,) = [one for one in report.ContentSequence if one.ConceptNameCodeSequence[0].CodeMeaning == "Imaging Measurements"]
number = next(one for one in measurements.ContentSequence[0].ContentSequence if one.ValueType == "NUM")
number.MeasuredValueSequence = []
number.NumericValueQualifierCodeSequence = [sr.CodedConcept("114000", "DCM", "Not a number")]
report.save_as("without.dcm")
try:
    count = countNumbers("without.dcm")
    raise SystemExit(f"{count} numbers were read")
except IndexError as error:
    print(f"one has none, but a qualifier: {type(error).__name__}: {error}")
PYTHON
