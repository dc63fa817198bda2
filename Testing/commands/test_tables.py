"""Results as text: what a terminal shows of one pair."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.comparison import Comparison
from SegmentMetricsLib.metrics.findings import Finding, Kind
from SegmentMetricsLib.show import resulttables, tables

# the test lacks a layer of the reference at i = 8, that is on the right, and adds one at k = 14, that is above
PAIR = shapes.box((8, 6, 6), (15, 14, 13), (24, 24, 24)), shapes.box((9, 6, 6), (15, 14, 14), (24, 24, 24))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12.345, "mm", "12.35 mm"),
        (0.0028, "mm", "< 0.01 mm"),
        (-0.0028, "mm", "-0.003 mm"),
        (3e-7, "mm", "0.00 mm"),  # rounding
        (1234.5, "mm3", "1.23 cm3"),
        (12, "mm3", "12.0 mm3"),  # of which cm3 would show a digit
        (-0.00006, "Gy", "0.00 Gy"),  # of sampling
        (-0.0023, "Gy", "-0.002 Gy"),
        (0.0003, "", "< 0.001"),
    ],
)
def testNumbersAsText(value, unit, text):
    assert replace(compare(*PAIR)["HD"], value=value, unit=unit).text() == text


def testEveryNumberThatIsNotFiniteSaysWhy():
    hazard = compare(*PAIR, Settings(families=("overlap", "hazard"))).record()
    assert "RFN, RFP, SIS, STAR, wDice undefined: no critical structure is given." in tables.pairTable(hazard)
    convention = Settings(families="boundary", convention="MONAI")
    several = tables.overviewTable([compare(*PAIR, convention).record()] * 2)
    assert several.splitlines()[-1] == "BIoU_2mm undefined: MONAI does not report it."
    assert "undefined" not in tables.pairTable(compare(*PAIR).record())


def testOverviewHasTheChosenFamiliesAndTheEvaluatedGrid():
    settings = Settings(families=("agreement", "voxel", "hazard", "similarity", "effort"))
    records = [compare(*PAIR, settings, criticals={"cord": PAIR[1]}).record()] * 2
    table, grid = tables.overviewTable(records).split("\n\n")
    for heading in ("KAP", "AVD", "SIS", "STAR", "wDice", "MSI", "APL 2 mm"):
        assert heading in table.splitlines()[0]
    # of the Hausdorff distance of voxels and the paired index nothing but the beginning of the key is the same
    assert not {"HDvox", "MSIPaired"} & set(table.split()) and "HDvox" in records[0].measurements
    assert grid == "True negatives are counted in the reference's image: 24 x 24 x 24, 13824 voxels."
    union = compare(*PAIR, Settings(families="agreement", grid="union")).record()
    size = union.grid["evaluated"]["voxels"]
    said = f"both structures: 2 different sizes, {size} to 13824 voxels."
    assert tables.evaluatedGrid([records[0], union]).endswith(said)
    assert tables.evaluatedGrid([compare(*PAIR).record()]) == ""


def testSlicesAloneAreATable():
    heading, _, first, *_, last = tables.pairTable(compare(*PAIR, Settings(families="slices")).record()).splitlines()
    units = "Slice DSC HD (mm) MASD (mm) Area ref. (mm2) Area test (mm2) Area diff. (mm2) APL 2 mm (mm)"
    assert heading.split() == units.split()
    assert first.split()[:3] == ["6", "0.93", "1.00"]  # 2 * 63 / (72 + 63); a column of 9 of 72 voxels is missing
    assert last.split()[:4] == ["14", "0.00", "inf", "inf"]


def testShortNamesOfPairsShowBothHalves():
    """Which side the structures are of mostly stands at the end of their names."""
    for name, short in (
        ("Submandibular_R / Submandibular_L", "Subman…lar_R / Subman…lar_L"),
        ("Cord / LymphNodes_pelvic_common_L", "Cord / LymphNodes…c_common_L"),
    ):
        assert tables.shortenName(name, 28) == short


@pytest.mark.parametrize(
    ("normal", "sides"), [(2, "right left anterior posterior"), (0, "anterior posterior superior inferior")]
)
def testContoursInAPlaneHaveFourSides(normal, sides):
    """The other two are in the files, undefined, and nowhere else."""
    size = [16, 16, 16]
    size[normal] = 1
    low, high = ([0 if axis == normal else index for axis in range(3)] for index in (4, 9))
    pair = [shapes.box(low, [h + n for h, n in zip(high, (0, n, 0))], size) for n in (0, 1)]
    record = compare(*pair).record()
    assert record.dimension == 2 and sum(m.status == "undefined" for m in record.measurements.values()) == 6
    text = tables.pairTable(record)
    assert resulttables.sidesTable(record).texts()[0] == ["Toward", *sides.split()]
    assert "undefined" not in text and "nan" not in text
    assert sum(m["status"] == "undefined" for m in record.toDictionary()["measurements"].values()) == 6
    # a way through a file does not change that
    assert "undefined" not in tables.pairTable(Comparison.fromDictionary(record.toDictionary()))


@pytest.mark.parametrize("isFromFile", [False, True])
def testReasonsThatAFindingTellsAreNotRepeated(isFromFile):
    record = compare(PAIR[0], shapes.imageOf(np.zeros((24, 24, 24), np.uint8))).record()
    if isFromFile:
        record = Comparison.fromDictionary(json.loads(json.dumps(record.toDictionary())))
    assert record.findings == ("Only one contour exists: the test is empty.",) and not tables.reasons([record])
    untold = tables.reasons([replace(record, findings=("Of the test, the test is empty, or so its file says.",))])
    assert untold.startswith("HD, HD95, MASD, ASSD, ") and untold.splitlines()[0].endswith(
        "infinite: the test is empty."
    )


def testTheOverviewIsOfDefinitions():
    """What clinicians look for first, then the order of the registry."""
    asked = Settings(percentiles=(95, 99.5), tolerances=(2.5,), families=("boundary", "voxel"))
    heading = tables.overviewTable([compare(*PAIR, asked).record()] * 2).splitlines()[0]
    assert re.split("  +", heading)[1:] == ["HD95", "HD99.5", "NSD 2.5 mm", "HD", "MASD", "BIoU 2.5 mm", "AVD"]


def testTablesOfANarrowTerminal():
    record = compare(*PAIR, Settings(families=("boundary", "signed", "slices"))).record()
    for table in (tables.pairTable(record, 60), tables.overviewTable([record] * 2, 60), tables.slicesTable(record, 30)):
        assert max(map(len, table.splitlines())) <= 60
    # titles make room for numbers; of two structures each block has the names
    narrow = tables.pairTable(record, 60)
    assert "HD95  " in narrow and "Hausdorff" not in narrow
    assert tables.pairTable(record, 200) == tables.pairTable(record)
    assert tables.overviewTable([record] * 2, 60).count("Structure") == 2
    assert [line.split()[0] for line in tables.slicesTable(record, 30).splitlines() if line].count("Slice") > 1


def testFindingsHaveOneOrder():
    """Alarms come first, those of the case before those of pairs; then all that is no alarm, in the same order."""
    alarm, advice = Finding.of(Kind.EXCHANGED, first="A", second="B", pairs="so"), Finding("Something about the case.")
    apart = compare(*(shapes.box((at, 2, 2), (at + 3, 5, 5)) for at in (2, 14))).record()
    alike = replace(compare(*PAIR).record(), findings=(Finding("Something about the pair."),))
    lines = list(tables.remarks([replace(apart, findings=(*apart.findings, Finding("More."))), alike], [advice, alarm]))
    assert lines[0] == str(alarm) and "do not overlap" in lines[1]
    assert [line for line in lines if "Something" in line or "More." in line] == lines[-3:]
    assert lines[-3] == "Something about the case."
