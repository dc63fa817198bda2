#!/bin/sh
# highdicom does not find the segment of a measurement group if any item beside it has a code of more than 16 characters.
# Guess: a code of more than 16 characters stands in the element Long Code Value (PS3.3, section 8.8), where highdicom itself writes
#        it. So the segment that a measurement group refers to is found whatever codes the other items of the group have.
# Seen:  the group's numbers are read, but its property referenced_segment raises AttributeError: 'CodedConcept' object has no
#        attribute 'CodeValue'. With a code of 16 characters the segment is found.
# Version: highdicom 0.28.2 with pydicom 3.0.2.
# Output:
#   code of 16 characters: segment 1
#   code of 17 characters: AttributeError
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check highdicom==0.28.2 pydicom==3.0.2
"$folder/venv/bin/python" - <<'PYTHON'
import highdicom.sr as sr
from pydicom.sr.codedict import codes
from pydicom.uid import SegmentationStorage, generate_uid


def findSegment(code):
    """Return the number of the segment of a group with a measurement of this code, as read back."""
    segment = sr.ReferencedSegment(
        SegmentationStorage, generate_uid(), 1, source_series=sr.SourceSeriesForSegmentation(generate_uid())
    )
    number = sr.Measurement(sr.CodedConcept(code, "99LOCAL", "Distance"), 3.0, sr.CodedConcept("mm", "UCUM", "mm"))
    group = sr.VolumetricROIMeasurementsAndQualitativeEvaluations(
        sr.TrackingIdentifier(generate_uid(), "liver"),
        referenced_segment=segment,
        finding_type=codes.SCT.Liver,
        measurements=[number],
    )
    (measurement,) = group.get_measurements()
    assert measurement.value == 3
    return int(group.referenced_segment[0].ReferencedSOPSequence[0].ReferencedSegmentNumber)


segment = findSegment("c" * 16)
print(f"code of 16 characters: segment {segment}")
assert segment == 1
try:
    segment = findSegment("c" * 17)
    raise SystemExit(f"code of 17 characters: segment {segment}")
except AttributeError as error:
    assert "CodeValue" in str(error), error
    print(f"code of 17 characters: {type(error).__name__}")
PYTHON
