"""What counts as the same case when a batch goes on: the files, all that is read with them, and the settings."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import SimpleITK
from batchruns import study as study  # the fixture
from batchruns import write

from SegmentMetricsLib import Settings
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.batch.cases import readCases


def testFingerprints(study):
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t1.nrrd", "c,nowhere,t1.nrrd")
    first, second, gone = readCases("data/cases.csv", Settings())
    assert first.fingerprint == second.fingerprint != gone.fingerprint
    other = readCases("data/cases.csv", Settings(tolerances=(3,)))[0]
    assert other.fingerprint != first.fingerprint and replace(other, case="x").key == ("x", "")
    with pytest.raises(InputError, match="there is no such file"):
        readCases("data/none.csv", Settings())


@pytest.mark.parametrize("header, name", [("t.mhd", "t.mhd"), ("t.nhdr", "t.nhdr"), ("t.mhd", "u.mha")])
def testFingerprintsOfDataFiles(study, header, name):
    """What a header describes is in another file."""
    SimpleITK.WriteImage(SimpleITK.ReadImage("data/t1.nrrd"), f"data/{header}")
    (data,) = (path for path in Path("data").glob("t.*") if path.name != header)
    header = Path(f"data/{header}").rename(f"data/{name}").name
    write(f"a,ref.nrrd,{header}")
    first = readCases("data/cases.csv", Settings())[0].fingerprint
    assert readCases("data/cases.csv", Settings())[0].fingerprint == first
    data.write_bytes(data.read_bytes()[::-1])
    os.utime(data, (1, 1))
    assert readCases("data/cases.csv", Settings())[0].fingerprint != first


@pytest.mark.parametrize("name", ["contours.dcm", "RS.1.2.3"])
@pytest.mark.parametrize("slices", ["patient/set/slice.dcm", "patient/set/ct/1.2.3", "patient/ct/slice.dcm"])
def testFingerprintsOfContours(study, name, slices):
    """The image on which contours were drawn counts, too; tables beside them do not."""
    folder = Path("data/patient/set")
    folder.mkdir(parents=True)
    (folder / name).write_bytes(bytes(128) + b"DICM contours")
    write(f"a,ref.nrrd,patient/set/{name}")
    first = readCases("data/cases.csv", Settings())[0].fingerprint
    (folder / "notes.csv").write_text("a,b")
    assert readCases("data/cases.csv", Settings())[0].fingerprint == first
    Path("data", slices).parent.mkdir(exist_ok=True)
    Path("data", slices).write_bytes(b"slice")
    assert readCases("data/cases.csv", Settings())[0].fingerprint != first


def testFingerprintsOfNestedFolders(study):
    """A folder of DICOM has folders for studies and series."""
    deep = Path("data/patient/study/series")
    deep.mkdir(parents=True)
    (deep / "1.dcm").write_bytes(b"one")
    write("a,patient,t1.nrrd")

    def now() -> str:
        return readCases("data/cases.csv", Settings())[0].fingerprint

    first = now()
    assert now() == first
    (deep / "2.dcm").write_bytes(b"two")
    second = now()
    (deep / "2.dcm").write_bytes(b"three")
    third = now()
    (deep.parent / "other").mkdir()
    (deep / "2.dcm").rename(deep.parent / "other" / "2.dcm")
    assert len({first, second, third, now()}) == 4
    (deep.parent / "other" / "2.dcm").unlink()
    assert now() == first
    (deep.parent / "other" / "results.jsonl").write_text("{}\n")
    assert now() == first, "the results of a batch in it are no input"
