"""Numbers with units, wherever somebody may write them: in protocols, settings and options."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import run as run
from sayings import refused, says

from SegmentMetricsLib import Settings, compareCase


@pytest.fixture(autouse=True)
def inputs(run):
    """Two balls and a dose, as files."""
    for x, name in enumerate("ab"):
        SimpleITK.WriteImage(shapes.ball(6, (x, 0, 0), origin=(-10, -10, -10), size=(20, 20, 20)), f"{name}.nrrd")
    dose = 20 + np.mgrid[:20, :20, :20][0].astype(np.float32)
    SimpleITK.WriteImage(shapes.imageOf(dose, origin=(-10, -10, -10)), "dose.nrrd")


def limitsOf(*lines: str) -> list[float]:
    """Return the limits of a protocol, in the units of the measurements."""
    rules = (f"{'*' * n},{line}" for n, line in enumerate(lines, 1))
    Path("limits.csv").write_text("\n".join(["Structure,Measurement,Relation,Pass", *rules]))
    case = compareCase("a.nrrd", "b.nrrd", Settings(metrics="DSC"), protocol="limits.csv", dose="dose.nrrd")
    return [verdict.rule.limit for verdict in case.judgment.verdicts]


def testLimitsOfAProtocol():
    gray = limitsOf(*(f"DmeanTest,<=,{limit}" for limit in ("26", "26 Gy", "2600 cGy", "26gy", "2600CGY")))
    assert gray == [26] * 5
    assert limitsOf("D95Difference,<=,1 Gy", "D0.03ccTest,<=,6000 cGy", "DmaxOver,<=,70Gy") == [1, 60, 70]
    volumes = ("10", "10 cm3", "10 ml", "10 cc", "10 mL", "10 cm³", "10 ccm", "10000 mm3")
    assert limitsOf(*(f"V20GyccTest,<=,{limit}" for limit in volumes)) == [10] * len(volumes)
    assert limitsOf(*(f"VolumeTest,<=,{limit}" for limit in volumes[1:])) == [10000] * (len(volumes) - 1)
    assert limitsOf("V20GyTest,<=,35 %", "HD95,<=,0.5 cm", "DSC,>=,95%") == [0.35, 5, 0.95]


def testAnotherKindOfUnitIsRefused():
    for line, names in (
        ("DmeanTest,<=,26 cc", ("DmeanTest", "cc;", "Gy, cGy")),
        ("V20GyccTest,<=,35 %", ("V20GyccTest", "%;", "cm3, ml, cc, ccm, mm3")),
        ("VolumeTest,<=,20 Gy", ("VolumeTest", "Gy;", "mm3, cm3, ml, cc")),
        ("V20GyTest,<=,10 cc", ("V20GyTest", "cc;")),
    ):
        with refused(*names):
            limitsOf(line)


def testSettings():
    assert Settings(tolerances="1,2,3") == Settings(tolerances=("1 mm", "0.2 cm", 3)) == Settings(tolerances=(1, 2, 3))
    assert Settings(percentiles="95 %,99%").percentiles == (95, 99) and Settings(quantiles="95 %").quantiles == (0.95,)
    dose = Settings(doseLevels="20Gy, 3000 cGy", doseVolumes="0.03 cc", dosePercents="95%", prescription="6000 cGy")
    assert dose == Settings(doseLevels=(20, 30), doseVolumes=0.03, dosePercents=95, prescription=60)
    lesions = Settings(lesionMinimum="0.05 ml", lesionPenalty="374 mm", panopticOverlap="50 %")
    assert lesions == Settings(lesionMinimum=50, lesionPenalty=374)
    assert Settings(hazardReach="1 cm").hazardReach == 10 and Settings(meshSpacing="0.5mm").meshSpacing == 0.5
    for wrong in ({"tolerances": "1 Gy"}, {"doseLevels": "20 mm"}, {"tolerances": "1;2"}, {"prescription": "60 cc"}):
        with refused(*wrong.values()):
            Settings(**wrong)


def testOptions(run):
    pair = ("compare", "a.nrrd", "b.nrrd", "--metrics", "NSD,HD,V,dose", "--json", "--dose", "dose.nrrd")
    given = ("--tolerance=1,2,3", "--tolerance=0.5 mm", "--percentile=50 %", "--set=doseLevels=20Gy,4500 cGy")
    status, out, _ = run(*pair[:3], *pair[5:], "--metrics", "NSD,HD95,dose", *given)
    keys = set(json.loads(out)["pairs"][0]["measurements"])
    assert status == 0 and {"NSD_0.5mm", "NSD_1mm", "NSD_2mm", "NSD_3mm", "V20GyTest", "V45GyccReference"} <= keys
    status, _, error = run(*pair[:3], "--tolerance", "1 kg")
    assert status == 2 and says(error, "'1 kg'", "mm, cm")
    # the same through --share, which is no setting
    says(run("stress", "a.nrrd", "--structure", "1", "--critical", "1", "--share", "x")[2], "'x'")


def testANumberToSearch(run):
    (pair,) = compareCase("a.nrrd", "b.nrrd", Settings(metrics="DSC,VolumeTest,HD"))
    percent, volume = 100 * pair["DSC"].value, pair["VolumeTest"].value / 1000
    found = pair.which(f"{percent:.2f}%")
    assert found[0].isExact and {one.unit for one in found} == {"%"}
    assert pair.which(f"{volume:.3f} ml", "Volume")[0].isExact
    assert pair.which("1.0 mm", "Hausdorff distance")[0].key == "HD"
    with refused("kg", "mm"):
        pair.which("3 kg")
    status, out, _ = run("which", f"{percent:.2f}%", "a.nrrd", "b.nrrd", "--measurement", "Dice")
    assert status == 0 and f"{percent:.2f}%" in out and "DSC" in out
