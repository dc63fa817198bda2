"""Results as text: what a terminal shows of one pair, and of several."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import shapes
from commandruns import files as files  # the fixtures
from commandruns import run as run
from imagefiles import save
from sayings import says

from SegmentMetricsLib import compare

# the test lacks a layer of the reference at i = 8, that is on the right, and adds one at k = 14, that is above
PAIR = shapes.box((8, 6, 6), (15, 14, 13)), shapes.box((9, 6, 6), (15, 14, 14))


@pytest.fixture
def printed(run):
    """A function that compares two images, or files, and returns what is printed."""

    def printOf(pair, *options):
        paths = [save(one, Path(f"{n}.nrrd")) if not isinstance(one, str) else one for n, one in enumerate(pair)]
        status, out, err = run("compare", *paths, *options)
        assert (status, err) == (0, "")
        return out

    return printOf


def testNumbersAsText():
    for value, unit, text in (
        (12.345, "mm", "12.35 mm"),
        (0.0028, "mm", "< 0.01 mm"),
        (-0.0028, "mm", "-0.003 mm"),
        (3e-7, "mm", "0.00 mm"),  # rounding
        (1234.5, "mm3", "1.23 cm3"),
        (12, "mm3", "12.0 mm3"),  # of which cm3 would show a digit
        (-0.00006, "Gy", "0.00 Gy"),  # of sampling
        (-0.0023, "Gy", "-0.002 Gy"),
        (0.0003, "", "< 0.001"),
    ):
        assert replace(compare(*PAIR)["HD"], value=value, unit=unit).text() == text


def testEveryNumberThatIsNotFiniteSaysWhyOnce(printed, files):
    for given, keys in (
        ((PAIR, "--metrics", "overlap,hazard"), "RFN, RFP, SIS, STAR, wDice"),
        ((files, "--convention", "MONAI"), "BIoU_2mm"),
    ):
        (told,) = [line for line in printed(*given).splitlines() if line.startswith(f"{keys} undefined: ")]
        says(told)
    assert "undefined" not in printed(PAIR)
    # not what a finding tells
    said = printed((files[0], PAIR[0] * 0))
    (told,) = compare(PAIR[0], PAIR[0] * 0).findings
    assert told.kind.name == "ONE_EMPTY" and told in said and "infinite: " not in said
    assert [line.split()[1] for line in said.splitlines() if line.startswith("Label ")] == ["1", "2", "3", "5"]


def testOverviewHasTheChosenFamiliesAndTheEvaluatedGrid(printed, files):
    said = printed(files, "--metrics", "agreement,voxel,hazard,similarity,effort", "--critical", "Label 2")
    for heading in ("KAP", "AVD", "SIS", "STAR", "wDice", "MSI", "APL 2 mm"):
        assert heading in said.splitlines()[0]
    # of the Hausdorff distance of voxels and the paired index nothing but the beginning of the key is the same
    assert not {"HDvox", "MSIPaired"} & set(said.split())
    (told,) = [line for line in said.splitlines() if "13824" in line]
    counted = says(told, "24 x 24 x 24").partition(" in ")[0]
    said = printed(files, "--metrics", "agreement", "--set", "grid=union")
    (told,) = [line for line in said.splitlines() if line.startswith(counted)]
    says(told, " 3 ")
    assert counted not in printed(files)
    # what clinicians look for first, then the order of the registry
    asked = ("--percentile", "95", "--percentile", "99.5", "--tolerance", "2.5", "--metrics", "boundary,voxel")
    heading = printed(files, *asked).splitlines()[0]
    assert re.split("  +", heading)[1:] == ["HD95", "HD99.5", "NSD 2.5 mm", "HD", "MASD", "BIoU 2.5 mm", "AVD"]


def testSlicesAloneAreATable(printed):
    lines = [line.split() for line in printed(PAIR, "--metrics", "slices").splitlines() if line]
    place = next(n for n, line in enumerate(lines) if line[0] == "Slice")
    units = "Slice DSC HD (mm) MASD (mm) Area ref. (mm2) Area test (mm2) Area diff. (mm2) APL 2 mm (mm)"
    assert lines[place] == units.split()
    assert lines[place + 2][:3] == ["6", "0.93", "1.00"]  # 2 * 63 / (72 + 63); a column of 9 of 72 voxels is missing
    assert lines[place + 10][:4] == ["14", "0.00", "inf", "inf"]


def testShortNamesOfPairsShowBothHalves(printed):
    """Which side the structures are of mostly stands at the end of their names."""
    for folder, names in (("a", "Submandibular_R Cord"), ("b", "Submandibular_L LymphNodes_pelvic_common_L")):
        Path(folder).mkdir()
        for name in names.split():
            save(PAIR[0], Path(folder, f"{name}.nrrd"))
    pairs = ("--pair", "Submandibular_R=Submandibular_L", "--pair", "Cord=LymphNodes_pelvic_common_L")
    said = printed(("a", "b"), *pairs)
    assert "Subman…lar_R / Subman…lar_L" in said and "Cord / LymphNodes…c_common_L" in said


@pytest.mark.parametrize(
    ("normal", "sides"), [(2, "right left anterior posterior"), (0, "anterior posterior superior inferior")]
)
def testContoursInAPlaneHaveFourSides(printed, normal, sides):
    """The other two are in the files, undefined, and nowhere else."""
    size = [16, 16, 16]
    size[normal] = 1
    low, high = ([0 if axis == normal else index for axis in range(3)] for index in (4, 9))
    pair = [shapes.box(low, [h + n for h, n in zip(high, (0, n, 0))], size) for n in (0, 1)]
    said = printed(pair)
    assert ["Toward", *sides.split()] in [line.split() for line in said.splitlines()]
    assert "undefined" not in said and "nan" not in said
    assert sum(one.status == "undefined" for one in compare(*pair).measurements.values()) == 6


def testTablesOfANarrowTerminal(printed, files, monkeypatch):
    """Titles make room for numbers; of two structures each block has the names."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    families = ("--metrics", "boundary,signed,slices")
    overview, one = (printed(pair, *families).partition("\n\nNothing")[0] for pair in (files, PAIR))
    assert "HD95  " in one and "Hausdorff" not in one and overview.count("Structure") == 2
    for text in (overview, one):
        rows = [line for line in text.splitlines() if re.search(r"  \S+  ", line)]
        assert rows and max(map(len, rows)) <= 60
    monkeypatch.setenv("COLUMNS", "200")
    wide = printed(PAIR, *families)
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert printed(PAIR, *families) == wide
    monkeypatch.setattr("sys.stdout", None)
    assert printed(PAIR, *families) == ""
