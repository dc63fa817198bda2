#!/bin/sh
# dcmqi's reader of structured reports drops the qualifier of a number, so a value that is out of range reads like any other.
# Guess: DICOM qualifies a number, or says why it has no value, by a code such as "Value out of range" or "Positive Infinity"
#        (PS3.3, C.18.1; PS3.16, CID 42). tid1500reader writes all that it reads of a measurement, so the JSON has the qualifier.
# Seen:  it has none. A number of 250 mm that is qualified as out of range is written like one that is right, and of one without
#        a value only an empty text is left: whether it is infinite or was never measured cannot be told. The exit status is 0.
# Version: dcmqi 1.5.7, with reports by highdicom 0.28.2 and pydicom 3.0.2.
# Output:
#   3 mm: value '3.0', qualifier: no
#   250 mm, Value out of range: value '250.0', qualifier: no
#   no value, Positive Infinity: value '', qualifier: no
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check dcmqi==1.5.7 highdicom==0.28.2 pydicom==3.0.2
cd "$folder"
PATH="$folder/venv/bin:$PATH" "$folder/venv/bin/python" - <<'PYTHON'
import json
import subprocess

import highdicom.sr as sr
import pydicom
from pydicom.sr.codedict import codes
from pydicom.uid import RawDataStorage, generate_uid


def writeReport(path, value, qualifier):
    """Write a report with one length. value: None for none. qualifier: code and meaning, None for none."""
    source = pydicom.Dataset()
    for name in ("PatientID", "PatientName", "PatientBirthDate", "PatientSex", "AccessionNumber", "StudyID"):
        setattr(source, name, "")
    source.StudyDate = source.StudyTime = source.ReferringPhysicianName = ""
    source.SOPClassUID = RawDataStorage
    source.SOPInstanceUID, source.StudyInstanceUID, source.SeriesInstanceUID = (generate_uid() for _ in range(3))
    group = sr.MeasurementsAndQualitativeEvaluations(
        sr.TrackingIdentifier(generate_uid(), "lesion"),
        measurements=[sr.Measurement(codes.SCT.Length, value or 0.0, sr.CodedConcept("mm", "UCUM", "mm"))],
    )
    device = sr.DeviceObserverIdentifyingAttributes(generate_uid(), "device")
    content = sr.MeasurementReport(
        sr.ObservationContext(observer_device_context=sr.ObserverContext(codes.DCM.Device, device)),
        codes.SCT.ImagingProcedure,
        [group],
    )
    report = sr.Comprehensive3DSR([source], content, generate_uid(), 1, generate_uid(), 1, manufacturer="maker")
    measurements = next(one for one in report.ContentSequence if one.ConceptNameCodeSequence[0].CodeValue == "126010")
    number = next(one for one in measurements.ContentSequence[0].ContentSequence if one.ValueType == "NUM")
    if qualifier is not None:
        number.NumericValueQualifierCodeSequence = [sr.CodedConcept(qualifier[0], "DCM", qualifier[1])]
    if value is None:
        number.MeasuredValueSequence = []
    report.save_as(path)


def readReport(path):
    """Return the value that tid1500reader finds, and whether its output has the qualifier anywhere."""
    command = ["tid1500reader", "--inputDICOM", path, "--outputMetadata", "out.json"]
    subprocess.run(command, check=True, capture_output=True)
    with open("out.json") as file:
        text = file.read()
    (group,) = json.loads(text)["Measurements"]
    (item,) = group["measurementItems"]
    return item["value"], any(code in text for code, _ in QUALIFIERS if code)


QUALIFIERS = (("", ""), ("114009", "Value out of range"), ("114002", "Positive Infinity"))
seen = []
for value, qualifier in zip((3.0, 250.0, None), QUALIFIERS):
    writeReport("report.dcm", value, qualifier if qualifier[0] else None)
    seen.append(readReport("report.dcm"))
    name = ", ".join(filter(None, ("no value" if value is None else f"{value:g} mm", qualifier[1])))
    print(f"{name}: value {seen[-1][0]!r}, qualifier: {'yes' if seen[-1][1] else 'no'}")
assert seen == [("3.0", False), ("250.0", False), ("", False)]
PYTHON
