"""The matched-Dice stress test: Dice sees no difference where the hazard-aware measurements do."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import run as run  # the fixture
from reference import HEAD_AND_NECK, needsReference
from tiers import rarely

from SegmentMetricsLib import Settings, readStructures, stressTest
from SegmentMetricsLib.case import stress
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask

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


def valuesOf(comparison) -> np.ndarray:
    return np.array([comparison[key].value for key in ("DSC", "SIS", "STAR")])


def requireTheFindingOfTheSource(result) -> None:
    """Require one Dice, and SIS and STAR of the risky variant never lower, and higher where the choice can matter."""
    (dice, *risky), (same, *neutral) = (valuesOf(comparison) for comparison in (result.risky, result.neutral))
    assert dice == same < 1
    assert (np.array(risky) >= np.array(neutral) - 1e-12).all()
    field = result.risky.hazard
    parts = [hazardAt(field, index) for index in stress.boundaries(result.risky.reference.mask)]
    assert result.varies == any(np.ptp(values) > 0 for values in parts)
    if result.varies:
        assert risky[0] > neutral[0]
    # the k-th lowest hazard is the most that the neutral variant's tail can be
    if any(np.sort(values)[result.count - 1] < values.max() for values in parts):
        assert risky[1] > neutral[1]


def hazardAt(field, index) -> np.ndarray:
    box = np.array([0, 0, 0]), np.array(field.grid.size) - 1
    return field.block(*box)[tuple(index.T[::-1])]


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


def testVariantsAreTheReferenceButForTheBoundary():
    result = stressTest(CUBE, {"Wall": WALL}, QUICK, count=30)
    whole = np.zeros(3, int), np.array((23, 23, 23))
    reference = result.risky.reference.mask.block(*whole)
    inner, outer = stress.boundaries(result.risky.reference.mask)
    seen = {}
    for name, comparison in result.variants.items():
        variant = comparison.test.mask.block(*whole)
        missed, added = (np.argwhere(reference > variant), np.argwhere(variant > reference))
        seen[name] = {tuple(index) for index in (*missed, *added)}
        assert len(missed) == len(added) == 30
        for found, boundary in ((missed, inner), (added, outer)):
            assert {tuple(index) for index in found[:, ::-1]} <= {tuple(index) for index in boundary}
    assert not seen["risky"] & seen["neutral"]


def testTiesAreBrokenByTheOrderOfTheImage():
    """Everywhere in the critical structure hazard is 1: the first voxels are neutral, the last ones risky."""
    everything = shapes.imageOf(np.ones((24, 24, 24), np.uint8))
    result = stressTest(CUBE, {"Everything": everything}, QUICK, count=9)
    assert not result.varies
    np.testing.assert_allclose(valuesOf(result.risky), valuesOf(result.neutral), rtol=1e-12)
    reference = result.risky.reference.mask
    inner, _ = stress.boundaries(reference)
    for comparison, expected in ((result.neutral, inner[:9]), (result.risky, inner[-9:])):
        missed = reference.voxels > comparison.test.mask.block(reference.low, reference.high)
        np.testing.assert_array_equal(np.argwhere(missed)[:, ::-1] + reference.low, expected)


def testNothingIsChangedAtTheEdgeOfTheImage():
    """A slab that fills the image along j and k has two sides only, 10 x 10 voxels each."""
    slab = shapes.box((4, 0, 0), (7, 9, 9), size=(12, 10, 10))
    inner, outer = stress.boundaries(Mask.fromArray(SimpleITK.GetArrayFromImage(slab), Grid.fromImage(slab)))
    assert sorted(set(inner[:, 0])) == [4, 7] and sorted(set(outer[:, 0])) == [3, 8]
    assert len(inner) == len(outer) == 200


def testContoursInASlice():
    organ, wall = (SimpleITK.GetArrayFromImage(image)[7] for image in (CUBE, WALL))
    organ, wall = (shapes.imageOf(pixels, (1.0, 1.0), (0.0, 0.0)) for pixels in (organ, wall))
    result = stressTest(organ, {"Wall": wall}, QUICK)
    assert (result.count, result.inner, result.outer) == (1, 16, 20)
    assert result.risky["STAR"].value == pytest.approx(0.7 * 0.84 + 0.3 * 0.91)
    requireTheFindingOfTheSource(result)


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
    corner = shapes.box((0, 0, 0), (23, 23, 22))
    for arguments, message in (
        ((tiny, {"Wall": WALL}), r"has too few voxels, 1, to change 1 for the risky and 1 for the neutral variant\.$"),
        ((CUBE, {"Wall": WALL}, {"count": 50}), r"too few voxels, 98, .*: choose a count of at most 49\."),
        ((CUBE, {"Wall": WALL}, {"count": 0}), "must be a whole number from 1, not 0"),
        ((CUBE, {"Wall": WALL}, {"count": 2.5}), "must be a whole number from 1, not 2.5"),
        ((shapes.imageOf(np.ones((9, 9, 9), np.uint8)), {"Wall": WALL}), "has too few voxels, 0,"),
        ((corner, {"Wall": WALL}, {"count": 300}), "The inner boundary of reference has too few voxels, 576,"),
        ((empty, {"Wall": WALL}), "reference is empty"),
        ((CUBE, {}), "There is no hazard: no critical structure is given"),
        ((CUBE, {"Wall": empty}), "There is no hazard: the critical structures are empty"),
        ((shapes.ballMesh(5, resolution=24), {"Wall": WALL}), "is a surface: give it as an image"),
        ((CUBE, {"Wall": WALL, "Cube": SimpleITK.Image(CUBE)}), "Cube is the structure to be changed"),
    ):
        *given, options = arguments if len(arguments) == 3 else (*arguments, {})
        with pytest.raises(ValueError, match=message):
            stressTest(*given, **options)


# The command


@pytest.fixture
def command(run):
    """A function that runs the command stress on a label map and returns status, standard output and error."""
    image = shapes.labelImage({1: ((8, 5, 5), (12, 9, 9)), 2: ((2, 0, 0), (4, 23, 23))})
    image.SetOrigin((-7.5, 12.0, 3.0))
    image.SetDirection(shapes.rotation((0, 1, 1), 30).ravel().tolist())
    SimpleITK.WriteImage(image, "reference.nrrd")
    return partial(run, "stress", "reference.nrrd", "--output", "out")


CHOSEN = ("--structure", "Label 1", "--critical", "Label 2")


def testCommand(command):
    status, out, err = command(*CHOSEN)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["Label", "1", "Dice", "HD95", "wDice", "SIS", "STAR"]
    risky, neutral = (line.split() for line in lines[2:4])
    assert risky[0] == "risky" and neutral[0] == "neutral"
    assert risky[1] == neutral[1] == "0.9280" and risky[-1] == "0.8610" and neutral[-1] == "0.3090"
    assert "9 of 98 voxels of the inner boundary are left out, and 9 of 150 voxels of the outer one added." in out
    assert "True negatives are counted in the reference's image: 24 x 24 x 24, 13824 voxels." in out
    assert out.endswith(f"Results are in out{os.sep}\n")
    files = sorted(path.name for path in Path("out").iterdir())
    assert files == ["neutral_Label_1.nrrd", "risky_Label_1.nrrd", "stress.csv", "stress.json"]
    content = json.loads(Path("out/stress.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
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


def testCommandOptions(command):
    assert command(*CHOSEN, "--count", "3", "--kernel", "exponential")[0] == 0
    content = json.loads(Path("out/stress.json").read_text(encoding="utf-8"))
    assert content["count"] == 3 and content["settings"]["hazardKernel"] == "exponential"
    star = content["variants"]["risky"]["measurements"]["STAR"]["value"]
    assert star == pytest.approx(0.7 * np.exp(-4 / 8) + 0.3 * np.exp(-3 / 8))
    assert command("--structure", "Label 1", "--critical", "Label 2=0.5")[0] == 0
    content = json.loads(Path("out/stress.json").read_text(encoding="utf-8"))
    assert content["variants"]["risky"]["measurements"]["STAR"]["value"] == pytest.approx(0.5 * 0.861)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--structure", "Heart", "--critical", "Label 2"), "has no structure named 'Heart'; it has Label 1, Label 2."),
        (("--structure", "Label 1", "--critical", "Cord"), "The reference has no critical structure named 'Cord'"),
        ((*CHOSEN, "--count", "few"), "'few' is not a whole number"),
        (("--structure", "Label 1"), "the following arguments are required: --critical"),
    ],
)
def testCommandRefuses(command, arguments, message):
    status, out, err = command(*arguments)
    assert status == 2 and out == "" and message in err
    assert err.startswith("segment-metrics: ") and err.count("\n") == 1
    assert not Path("out").exists()
