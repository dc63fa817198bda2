"""The matched-Dice stress test: Dice sees no difference where the hazard-aware measurements do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import run as run  # the fixture
from reference import HEAD_AND_NECK, needsReference
from sayings import refused, says
from scipy import ndimage
from scipy.stats import wilcoxon
from tiers import rarely

from SegmentMetricsLib import Settings, readStructures, stressTest

# organ and the critical structure beside, around or in it
ORGANS = {
    "Parotid-Lt": "Mandible",
    "Brainstem": "Spinal-Cord",
    "Optic-Nerve-Lt": "Orbit-Lt",
    "Orbit-Lt": "Lens-Lt",
    "Spinal-Cord": "Spinal-Canal",
}
QUICK = Settings(families=("overlap", "hazard"))
# The organ is a cube of 5 voxels; the critical structure a wall of voxels 2 to 4 along i, across the image.
WALL, CUBE = shapes.box((2, 0, 0), (4, 23, 23)), shapes.box((8, 5, 5), (12, 9, 9))
EVERYTHING = shapes.imageOf(np.ones((24, 24, 24), np.uint8))
WHOLE = (0, 0, 0), (23, 23, 23)


def requireTheFindingOfTheSource(result) -> None:
    """Require one Dice, and SIS and STAR of the risky variant never lower, and higher where the choice can matter."""
    keys = ("DSC", "SIS", "STAR")
    (dice, *risky), (same, *neutral) = ([one[key].value for key in keys] for one in (result.risky, result.neutral))
    assert dice == same < 1
    assert (np.array(risky) >= np.array(neutral) - 1e-12).all()
    assert risky[0] > neutral[0] or not result.varies


def testCubeBesideAWall():
    """Hazard is 1 - (d / 10)^2, and the cube's voxels along i lie at d = 4, 5, 6, 7, 8 mm.

    The inner boundary has 5^3 - 3^3 = 98 voxels, the outer one 6 faces of 25. The 9 most hazardous inner ones are in
    the face of 25 at 4 mm, the least hazardous in that at 8 mm; the outer ones in the faces at 3 and at 9 mm.
    """
    result = stressTest(CUBE, {"Wall": WALL}, QUICK)
    assert (result.count, result.inner, result.outer, result.varies) == (9, 98, 150, True)
    at = {d: 1 - (d / 10) ** 2 for d in range(1, 10)}
    reference = 25 * sum(at[d] for d in range(4, 9))
    outside = 24 * 24 * (3 + at[1] + at[2] + sum(at.values())) - reference
    for comparison, missed, added in ((result.risky, 4, 3), (result.neutral, 8, 9)):
        share = {"RFN": 9 * at[missed] / reference, "RFP": 9 * at[added] / outside}
        expected = {
            **share,
            "DSC": 2 * (125 - 9) / 250,
            "SIS": 0.7 * share["RFN"] + 0.3 * share["RFP"],
            "STAR": 0.7 * at[missed] + 0.3 * at[added],
            "wDice": 2 * (reference - 9 * at[missed]) / (2 * reference - 9 * at[missed] + 9 * at[added]),
        }
        assert {key: comparison[key].value for key in expected} == pytest.approx(expected, rel=1e-6)
    requireTheFindingOfTheSource(result)


@pytest.mark.parametrize(("critical", "how", "count"), [(WALL, {"share": 0.5}, 49), (EVERYTHING, {"count": 9}, 9)])
def testVariantsAreTheReferenceButForTheBoundary(critical, how, count):
    """At most half of the inner boundary each, which has 98 voxels.

    Where hazard is the same everywhere, the first voxels of the image are neutral, and the last ones risky.
    """
    result = stressTest(CUBE, {"Critical": critical}, QUICK, **how)
    reference = result.risky.reference.mask.block(*WHOLE) > 0
    boundaries = reference & ~ndimage.binary_erosion(reference), ndimage.binary_dilation(reference) & ~reference
    seen = {}
    for name, comparison in result.variants.items():
        variant = comparison.test.mask.block(*WHOLE) > 0
        changes = reference & ~variant, variant & ~reference
        seen[name] = variant != reference
        for changed, boundary in zip(changes, boundaries, strict=True):
            assert np.count_nonzero(changed) == count and not (changed & ~boundary).any()
            if critical is EVERYTHING:
                places = np.argwhere(boundary)
                expected = places[:count] if name == "neutral" else places[-count:]
                np.testing.assert_array_equal(np.argwhere(changed), expected)
    assert not (seen["risky"] & seen["neutral"]).any()
    assert result.varies == (critical is WALL)
    keys = ("DSC", "SIS", "STAR") if critical is EVERYTHING else ("DSC",)
    for key in keys:
        assert result.risky[key].value == pytest.approx(result.neutral[key].value, rel=1e-12)


def testBoundariesInAPlaneAndAtTheEdgeOfTheImage():
    organ, wall = (shapes.imageOf(SimpleITK.GetArrayFromImage(one)[7], (1, 1), (0, 0)) for one in (CUBE, WALL))
    result = stressTest(organ, {"Wall": wall}, QUICK)
    assert (result.count, result.inner, result.outer) == (1, 16, 20)
    assert result.risky["STAR"].value == pytest.approx(0.7 * 0.84 + 0.3 * 0.91)
    requireTheFindingOfTheSource(result)
    # a slab that fills the image along j and k has two sides only
    slab, wall = (shapes.box((at, 0, 0), (at + 3, 9, 9), size=(16, 10, 10)) for at in (4, 12))
    result = stressTest(slab, {"Wall": wall}, QUICK, count=5)
    assert (result.inner, result.outer) == (200, 200)


@needsReference
@pytest.mark.parametrize("case", ["0522c0017", *rarely(("0522c0057", "TCGA-CV-5977"))])
def testRealOrgans(case):
    """Reproduces what the source reports on organs at risk of patients, each beside a critical structure."""
    folder = HEAD_AND_NECK / case / "oncologist"
    found = {name: readStructures(folder / f"{name}.nrrd")[0] for name in {*ORGANS, *ORGANS.values()}}
    varying = 0
    for name, critical in ORGANS.items():
        result = stressTest(found[name], {critical: found[critical]}, QUICK)
        assert result.count == max(1, result.inner // 10)
        requireTheFindingOfTheSource(result)
        varying += result.varies
    assert varying >= 4


def testUnusableInput():
    tiny = shapes.box((8, 5, 5), (8, 5, 5))
    empty = shapes.imageOf(np.zeros((24, 24, 24), np.uint8))
    cavity = EVERYTHING - shapes.box((8, 5, 5), (10, 7, 7))
    for given, options, *names in (
        ((tiny, {"Wall": WALL}), {}, "reference", "1"),
        ((CUBE, {"Wall": WALL}), {"count": 50}, "98", "50", "49"),
        ((CUBE, {"Wall": WALL}), {"count": 0}, "count", "0"),
        ((CUBE, {"Wall": WALL}), {"count": 2.5}, "count", "2.5"),
        ((EVERYTHING, {"Wall": WALL}), {}, " 0"),
        ((cavity, {"Wall": WALL}), {"count": 14}, "outer", "26", "14", "13"),
        ((CUBE, {"Wall": WALL}), {"share": 0}, "share", "0"),
        ((empty, {"Wall": WALL}), {}, "reference"),
        ((CUBE, {}), {}),
        ((CUBE, {"Wall": empty}), {}),
        ((shapes.ballMesh(5, resolution=24), {"Wall": WALL}), {}, "reference"),
        ((CUBE, {"Wall": WALL, "Cube": SimpleITK.Image(CUBE)}), {}, "Cube"),
    ):
        with refused(*names):
            stressTest(*given, **options)


# The command


@pytest.fixture
def stress(run):
    """A function that runs the command on a label map, or on a list of five patients, and returns what it says.

    The cube of each patient is at another distance from the wall.
    """
    image = shapes.labelImage({1: ((8, 5, 5), (12, 9, 9)), 2: ((2, 0, 0), (4, 23, 23))})
    image.SetOrigin((-7.5, 12.0, 3.0))
    image.SetDirection(shapes.rotation((0, 1, 1), 30).ravel().tolist())
    SimpleITK.WriteImage(image, "reference.nrrd")
    lines = ["case,reference,test,method"]
    for number in range(5):
        first = 6 + number
        cubes = {label: ((first, low, low), (first + 4, low + 4, low + 4)) for label, low in ((1, 5), (3, 14))}
        SimpleITK.WriteImage(shapes.labelImage({**cubes, 2: ((2, 0, 0), (4, 23, 23))}), f"{number}.nrrd")
        # a list for batch, with two methods on the same reference
        lines += [f"{number},{number}.nrrd,x.nrrd,{method}" for method in "AB"]
    Path("cases.csv").write_text("\n".join(lines) + "\n")
    return lambda source, *arguments: run("stress", source, *arguments, "--output", "out", "--resamples", "200")


CHOSEN = ("--structure", "Label 1", "--critical", "Label 2")


def document() -> dict:
    return json.loads(Path("out/stress.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def files() -> set[str]:
    return {path.name for path in Path("out").iterdir()}


def testOneStructure(stress):
    status, out, err = stress("reference.nrrd", *CHOSEN)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["Label", "1", "Dice", "HD95", "wDice", "SIS", "STAR"]
    risky, neutral = (line.split() for line in lines[2:4])
    assert risky[0] == "risky" and neutral[0] == "neutral"
    assert risky[1] == neutral[1] == "0.9280" and risky[-1] == "0.8610" and neutral[-1] == "0.3090"
    assert lines[-1].endswith(f" out{os.sep}")
    says("\n".join(lines[4:-1]), 9, 98, 150, "24 x 24 x 24", "13824")
    assert files() == {"neutral_Label_1.nrrd", "risky_Label_1.nrrd", "stress.csv", "stress.json"}
    content = document()
    assert content["schema"] == "segment-metrics-stress/2" and content["count"] == 9
    assert content["boundary"] == {"inner": 98, "outer": 150, "hazardVaries": True}
    rows = {row["Variant"]: row for row in rowsOf("out/stress.csv")}
    reference = SimpleITK.ReadImage("reference.nrrd")
    for name, row in rows.items():
        measurements = content["variants"][name]["measurements"]
        assert float(row["STAR"]) == measurements["STAR"]["value"] and row["Count"] == "9"
        written = SimpleITK.ReadImage(f"out/{row['Mask']}")
        for value in ("Size", "Spacing", "Origin", "Direction"):
            given, kept = (getattr(image, f"Get{value}")() for image in (reference, written))
            assert kept == pytest.approx(given, abs=1e-9)
        mask = SimpleITK.GetArrayFromImage(written)
        whole = SimpleITK.GetArrayFromImage(reference) == 1
        assert set(np.unique(mask)) == {0, 1} and mask.sum() == 125 and (whole & (mask == 0)).sum() == 9
    assert list(rows) == ["risky", "neutral"]
    # other options
    assert stress("reference.nrrd", *CHOSEN, "--count", "3", "--kernel", "exponential")[0] == 0
    content = document()
    assert content["count"] == 3 and content["settings"]["hazardKernel"] == "exponential"
    star = content["variants"]["risky"]["measurements"]["STAR"]["value"]
    assert star == pytest.approx(0.7 * np.exp(-4 / 8) + 0.3 * np.exp(-3 / 8))
    assert stress("reference.nrrd", *CHOSEN[:3], "Label 2=0.5")[0] == 0
    assert document()["variants"]["risky"]["measurements"]["STAR"]["value"] == pytest.approx(0.5 * 0.861)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("--structure", "Heart", "--critical", "Label 2"), ["'Heart'", "Label 1, Label 2"]),
        (("--structure", "Label 1", "--critical", "Cord"), ["'Cord'"]),
        ((*CHOSEN, "--count", "few"), ["--count", "'few'"]),
        ((*CHOSEN, "--count", "4", "--share", "0.1"), ["--count", "--share"]),
        ((*CHOSEN, "--share", "0.51"), ["share", "0.5,", "0.51"]),
        ((*CHOSEN, "--structure", "Label 3"), ["--structure"]),
        (("--structure", "Label 1"), ["--critical"]),
    ],
)
def testRefusals(stress, arguments, names):
    status, out, err = stress("reference.nrrd", *arguments)
    assert status == 2 and out == ""
    assert says(err, *names).startswith("segment-metrics: ") and err.count("\n") == 1
    assert not Path("out").exists()


def testListOfCases(stress):
    status, out, err = stress("cases.csv", *CHOSEN)
    assert (status, err) == (0, "")
    head, _, *lines = out.splitlines()
    says("\n".join(lines[5:-1]), "5")
    assert " ".join(head.split()) == "Structure Measurement Cases Risky Neutral Difference 95 % interval p (one-sided)"
    assert [line.split()[2] for line in lines[:5]] == ["HD95", "DSC", "SIS", "STAR", "wDice"]
    tables = {"stress.schema.csv", "stress.summary.csv", "stress.summary.schema.csv"}
    assert files() == {"stress.csv", "stress.json", *tables}
    rows = rowsOf("out/stress.csv")
    assert [(row["Case"], row["Variant"]) for row in rows[:3]] == [("0", "risky"), ("0", "neutral"), ("1", "risky")]
    assert len(rows) == 10 and {row["Status"] for row in rows} == {"ok"}
    # every number is that of the test of the one case
    image = SimpleITK.ReadImage("3.nrrd")
    alone = stressTest(image == 1, {"Wall": image == 2}, QUICK)
    for key in ("STAR", "SIS", "wDice", "DSC", "RFN"):
        for row, comparison in zip(rows[6:8], (alone.risky, alone.neutral), strict=True):
            assert float(row[key]) == pytest.approx(comparison[key].value, rel=1e-12)
    summary = {row["Measurement"]: row for row in rowsOf("out/stress.summary.csv")}
    for key in ("SIS", "STAR", "wDice", "RFN", "RFP"):
        change = [float(risky[key]) - float(neutral[key]) for risky, neutral in zip(rows[::2], rows[1::2], strict=True)]
        assert float(summary[key]["MeanDifference"]) == pytest.approx(np.mean(change), rel=1e-9)
        assert float(summary[key]["Low"]) <= np.mean(change) <= float(summary[key]["High"])
        # five of five: where higher is better, the risky variant is worse if it is lower
        worse = "less" if key == "wDice" else "greater"
        assert float(summary[key]["P"]) == 1 / 32 == wilcoxon(change, alternative=worse).pvalue
        assert summary[key]["Alternative"] == worse
    assert summary["DSC"]["P"] == "" and float(summary["DSC"]["MeanDifference"]) == 0
    says(summary["DSC"]["Reason"])
    assert "VolumeTest" not in summary, "it has no better direction"
    content = document()
    assert content["schema"] == "segment-metrics-stress-cases/1" and content["resamples"] == 200
    assert len(content["tests"]) == 5 and len(content["differences"]) == len(summary)
    for name in ("stress", "stress.summary"):
        assert list(rowsOf(f"out/{name}.csv")[0]) == [row["key"] for row in rowsOf(f"out/{name}.schema.csv")]
    # a run replaces the other: of one structure, with masks, and of many, with tables
    assert stress("1.nrrd", *CHOSEN)[0] == 0
    assert files() == {"stress.csv", "stress.json", "risky_Label_1.nrrd", "neutral_Label_1.nrrd"}
    assert stress("cases.csv", *CHOSEN)[0] == 0 and files() == {"stress.csv", "stress.json", *tables}


def testSeveralStructures(stress):
    """Those of a case count once together, as they are not independent."""
    status, out, _ = stress("cases.csv", *CHOSEN, "--structure", "3", "--share", "0.3")
    assert status == 0 and "all structures" in out
    rows = rowsOf("out/stress.csv")
    assert len(rows) == 20 and {row["Count"] for row in rows} == {str(int(0.3 * 98))}
    star = {row["Structure"]: row for row in rowsOf("out/stress.summary.csv") if row["Measurement"] == "STAR"}
    assert {name: row["Cases"] for name, row in star.items()} == {"Label 1": "5", "3": "5", "all structures": "5"}
    means = [float(star[name]["MeanDifference"]) for name in ("Label 1", "3")]
    assert float(star["all structures"]["MeanDifference"]) == pytest.approx(np.mean(means))


def testCasesThatFail(stress, monkeypatch):
    """They are rows with their reason, and the others are tested."""
    SimpleITK.WriteImage(shapes.labelImage({2: ((2, 0, 0), (4, 23, 23))}), "3.nrrd")
    Path("4.nrrd").write_text("no image")
    with open("cases.csv", "a") as file:
        file.write("5,nowhere.nrrd,,\n0,1.nrrd,,\n")
    status, out, err = stress("cases.csv", *CHOSEN)
    assert status == 1 and says(out.splitlines()[-2], "3")
    lines = err.splitlines()
    assert len(lines) == 4 and all(line.startswith("segment-metrics: ") for line in lines)
    says(lines[0], "3, Label 1: ", "'Label 1'")
    failed = {(row["Case"], row["Reason"]) for row in rowsOf("out/stress.csv") if row["Status"] == "failed"}
    assert sorted(case for case, _ in failed) == ["0", "3", "4", "5"] and all(reason for _, reason in failed)
    assert rowsOf("out/stress.summary.csv")[0]["Cases"] == "3"

    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("scipy.ndimage.binary_dilation", fail)
    status, _, err = stress("cases.csv", *CHOSEN)
    assert status == 2
    says("\n".join(line for line in err.splitlines() if line not in lines), *(f"{n}, Label 1: " for n in range(3)))


def testListsThatAreRefused(stress):
    status, _, err = stress("cases.csv", "--structure", "Heart", "--critical", "Label 2")
    assert status == 2 and err.count("\n") == 5 and not Path("out").exists(), "none can be tested"
    for content, name in (("case,image\n1,1.nrrd\n", "reference"), ("case,reference\n", "cases.csv")):
        Path("cases.csv").write_text(content)
        status, _, err = stress("cases.csv", *CHOSEN)
        assert status == 2 and says(err, name)
