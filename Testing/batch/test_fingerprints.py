"""What counts as the same case when a batch goes on: the files, all that is read with them, and the settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from batchruns import study as study  # the fixture
from batchruns import write

from SegmentMetricsLib import Settings
from SegmentMetricsLib.batch.cases import readList, tasksOf


def fingerprints(**settings) -> list[str]:
    return [task.fingerprint for task in tasksOf(readList("data/cases.csv"), Settings(**settings))]


def testFingerprints(study):
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t1.nrrd", "c,nowhere,t1.nrrd")
    first, second, gone = fingerprints()
    assert first == second != gone and first != fingerprints(tolerances=(3,))[0]
    task, *_ = tasksOf(readList("data/cases.csv"), Settings())
    more = {"report": "a.html", "structuredReport": "a.dcm", "isSpread": True, "names": ("Label 1",)}
    assert len({first, *(replace(task, **{name: own}).fingerprint for name, own in more.items())}) == 5


@pytest.mark.parametrize("name", ["contours.dcm", "RS.1.2.3"])
@pytest.mark.parametrize("slices", ["patient/set/slice.dcm", "patient/set/ct/1.2.3", "patient/ct/slice.dcm"])
def testFingerprintsOfContours(study, name, slices):
    """The image on which contours were drawn counts, too; tables beside them do not."""
    folder = Path("data/patient/set")
    folder.mkdir(parents=True)
    (folder / name).write_bytes(bytes(128) + b"DICM contours")
    write(f"a,ref.nrrd,patient/set/{name}")
    first = fingerprints()
    (folder / "notes.csv").write_text("a,b")
    assert fingerprints() == first
    Path("data", slices).parent.mkdir(exist_ok=True)
    Path("data", slices).write_bytes(b"slice")
    assert fingerprints() != first


def testFingerprintsOfNestedFolders(study):
    """A folder of DICOM has folders for studies and series."""
    deep = Path("data/patient/study/series")
    other = deep.parent / "other"
    other.mkdir(parents=True)
    deep.mkdir()
    (deep / "1.dcm").write_bytes(b"one")
    write("a,patient,t1.nrrd")
    first = fingerprints()
    assert fingerprints() == first
    (deep / "2.dcm").write_bytes(b"two")
    second = fingerprints()
    (deep / "2.dcm").write_bytes(b"three")
    third = fingerprints()
    (deep / "2.dcm").rename(other / "2.dcm")
    assert len({*first, *second, *third, *fingerprints()}) == 4
    (other / "2.dcm").unlink()
    (other / "results.jsonl").write_text("{}\n")
    assert fingerprints() == first, "the results of a batch in it are no input"
