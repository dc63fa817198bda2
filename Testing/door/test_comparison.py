"""compare(): what it takes, what empty structures give, what a result says about itself."""

from __future__ import annotations

import gc
import json
import math
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import files as files  # the fixture
from commandruns import metrics
from commandruns import run as run
from sayings import refused, says
from vtkmodules.vtkCommonDataModel import vtkPolyData

from SegmentMetricsLib import Grid, Mask, Settings, Structure, compare, compareBatch, compareCase, readStructures

BOX = shapes.box((6, 6, 6), (15, 14, 13))
OTHER = shapes.box((7, 6, 6), (17, 14, 14))
EMPTY = shapes.imageOf(np.zeros((24, 24, 24), np.uint8))


# Empty structures: Metrics Revolutions, Table A3.

INFINITE = ("HD", "HD95", "MASD", "ASSD")
ZERO = ("NSD_2mm", "BIoU_2mm", "DSC", "IoU", "TPR", "PPV")


@pytest.mark.parametrize("emptyInput", [EMPTY, vtkPolyData()], ids=["mask", "mesh"])
@pytest.mark.parametrize("which", ["reference", "test"])
def testOneEmpty(emptyInput, which):
    inputs = (emptyInput, BOX) if which == "reference" else (BOX, emptyInput)
    comparison = compare(*inputs)
    for key in INFINITE:
        assert comparison[key].value == math.inf and comparison[key].status == "infinite", key
    for key in ZERO:
        assert comparison[key].value == 0 and comparison[key].status == "ok", key
    reason = says(comparison["HD"].reason, which)
    assert {comparison[key].reason for key in (*INFINITE, *ZERO)} == {reason}
    assert comparison["SignedMean"].value == (math.inf if which == "reference" else -math.inf)
    volumes = comparison["VoxelVolumeReference"].value, comparison["VoxelVolumeTest"].value
    assert volumes == ((0, 720) if which == "reference" else (720, 0))
    assert comparison.distances is None
    assert [(one.kind.name, one.reason) for one in comparison.findings] == [("ONE_EMPTY", reason)]


# What compare() takes.


def testLabelsHaveToBeNamed():
    labels = SimpleITK.GetArrayFromImage(BOX)
    labels[20:, 20:, 20:] = 5
    image = shapes.imageOf(labels)
    with refused("(1, 5)"):
        compare(image, BOX)
    assert compare(image, image, label=5)["VoxelVolumeTest"].value == 64
    # a label that the other image does not have is an empty structure
    comparison = compare(image, BOX, label=5)
    says(comparison["HD"].reason, "test")
    says("\n".join(comparison.findings), "5")


def testSpaceAndPlaneDoNotMix():
    flat = shapes.imageOf(np.ones((1, 9, 9), bool))
    with refused():
        compare(flat, BOX)
    with refused():
        compare(shapes.loops([(0, 0), (4, 0), (4, 4)]), shapes.loops([(0, 0), (4, 0), (4, 4)], z=7))


def testPlanarMasksAndContours():
    first, second = (shapes.box((x, 5, 0), (x + 14, 19, 0), (30, 30, 1)) for x in (6, 9))
    masks = compare(first, second)
    assert masks["HD"].value == pytest.approx(3, abs=0.05)
    assert masks["DSC"].value == pytest.approx(2 * 12 / 30)
    assert masks["VoxelVolumeTest"].value == 225 and masks["VoxelVolumeTest"].unit == "mm2"
    assert masks["VolumeTest"].title == "Area of the test"
    says(masks["OverVolume"].description)
    square = shapes.loops([(8.5, 4.5), (23.5, 4.5), (23.5, 19.5), (8.5, 19.5)])
    mixed = compare(first, square)
    assert mixed["DSC"].value == pytest.approx(masks["DSC"].value)
    assert mixed["HD"].value == pytest.approx(3, abs=0.05)


# What a result says about itself.


def testAResultIsAMapping():
    comparison = compare(BOX, OTHER)
    assert "HD95" in comparison and len(comparison) == len(list(comparison)) == len(comparison.numbers)
    assert {one.family for one in comparison.values()} == {"boundary", "signed", "overlap"}
    assert comparison["hd95"] is comparison["Hausdorff distance, 95th percentile"] is comparison["HD95"]
    with refused("HD95", error=KeyError):
        comparison["?"]
    assert "HD95 2.00 mm" in repr(comparison)


def testComparisonsGoToOtherProcesses():
    comparison = compare(BOX, shapes.ball(7))
    again = pickle.loads(pickle.dumps(comparison))
    assert again.toDictionary() == comparison.toDictionary()
    # where nothing is imported yet, they show themselves all the same
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer)._repr_html_())"
    shown = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(comparison), stdout=subprocess.PIPE, check=True
    )
    assert shown.stdout.decode().strip() == comparison._repr_html_().strip()
    assert len(pickle.dumps(comparison.record())) < 20_000
    # findings are sentences that keep their kind, values and advice
    tiny = (shapes.box((2, 2, 2), (n, 3, 3), (60, 60, 60)) for n in (3, 4))
    advised = compare(*tiny, Settings(families="agreement"))
    alarmed = compare(BOX, shapes.box((18, 18, 18), (22, 22, 22)))
    for one in (advised, advised.record(), alarmed, alarmed.record()):
        sent = pickle.loads(pickle.dumps(one)).findings
        assert sent == one.findings
        for finding, before in zip(sent, one.findings, strict=True):
            for name in ("kind", "values", "sentences", "isAlarm", "isAdvice"):
                assert getattr(finding, name) == getattr(before, name)
    assert advised.findings[-1].isAdvice and alarmed.findings[0].isAlarm
    for one, other in zip(again.distances.directions, comparison.distances.directions, strict=True):
        # what searches is made anew
        assert one.percentile(80) == other.percentile(80)
        assert np.array_equal(one.atPoints, other.atPoints)


def testNothingIsLeftForTheGarbageCollector():
    """Which may come by late: a cohort would pile up what its comparisons have needed."""
    pairs = [shapes.ball(6, (shift, 0.3, 0.1)) for shift in (0.0, 2.0)], [shapes.ballMesh(6), shapes.ballMesh(5)]
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for pair in pairs:
            comparison = compare(*pair)
            comparison.record()
            kept = [weakref.ref(comparison), *map(weakref.ref, comparison.distances.directions)]
            del comparison
            assert [reference() for reference in kept] == [None] * len(kept)
        gc.collect()
        assert [one for one in gc.garbage if type(one).__module__.startswith("SegmentMetricsLib")] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def testThinVoxelsOfALargeImage():
    """Of a long vessel in an image of 0.005 x 0.005 x 0.2 mm: many voxels, were they cubes, but they are not."""
    tube = np.zeros((270, 40, 40), bool)
    tube[:, 8:30, 8:30] = True
    images = [shapes.imageOf(np.roll(tube, n, 2), (0.0005, 0.0005, 20.0)) for n in (0, 3)]
    found = compare(*images, Settings(families="overlap"))
    assert found["DSC"].value == pytest.approx(19 / 22)


# All structures of a case, from files or structures: comparisons, failures and verdicts are the same everywhere


OVERLAP = Settings(families="overlap")


def named(*names: str) -> list[Structure]:
    """Return boxes one voxel apart, each longer than the one before."""
    return [shapes.structureOf(shapes.box((2, 2, 2), (6, 6, 6 + n)), name) for n, name in enumerate(names)]


def testEachPairIsComparedAsByItself(files):
    case = compareCase(*files, OVERLAP)
    assert [one.reference.name for one in case] == ["Label 1", "Label 2", "Label 3"]
    fromSets = compareCase(files[0], readStructures(files[1]), OVERLAP)
    assert [one.numbers for one in fromSets] == [one.numbers for one in case] and fromSets.remarks == case.remarks
    for label, one in enumerate(case, 1):
        alone = compare(*files, OVERLAP, label=label)
        assert one.numbers == alone.numbers and one.findings == alone.findings
    assert case.unmatched == {"reference": ["Label 5"], "test": ["Label 4"]} and case.failures == {}
    for remark, names in zip(case.remarks, (("reference", "Label 5"), ("test", "Label 4")), strict=True):
        says(remark, *names)
    assert case.judgment is None and not case.wasStopped


def testEveryDoorGivesTheSameNumbers(run, files):
    wanted = [one.toDictionary()["measurements"] for one in compareCase(*files, OVERLAP)]
    assert run("compare", *files, "-o", "out", "--metrics", "overlap")[0] == 0
    Path("cases.csv").write_text(f"case,reference,test\none,{','.join(files)}\n")
    compareBatch("cases.csv", OVERLAP, output="all")
    for document in (metrics("out"), json.loads(Path("all/results.jsonl").read_text())):
        assert [pair["measurements"] for pair in document["pairs"]] == wanted
        assert document["unmatched"] == {"reference": ["Label 5"], "test": ["Label 4"]}


def testChosenStructuresAndPairs():
    reference, test = named("Lens_L", "Lens_R", "Eye"), named("Left lens", "Lens_R", "Globe")
    chosen = compareCase(reference, test, OVERLAP, choices={"Eye": "Globe", "Lens_R": None})
    assert [(one.reference.name, one.test.name) for one in chosen] == [("Lens_L", "Left lens"), ("Eye", "Globe")]
    assert chosen.unmatched == {"reference": ["Lens_R"], "test": ["Lens_R"]}
    (only,) = compareCase(reference, test, OVERLAP, names=["lens r"])
    assert only.reference.name == "Lens_R"
    with refused("'Nose'"):
        compareCase(reference, test, OVERLAP, names=["Nose"])


class Endless(Structure):
    @property
    def surface(self):
        raise MemoryError


def testWhatCannotBeComparedIsAFailure(tmp_path):
    """Of two that lie too far apart, and of what is too large, the reason is told; the others are compared."""
    (tmp_path / "limits.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.5\n")
    reference, test = named("A", "B", "C", "D"), named("A", "B", "C", "D")
    matrix = np.eye(4)
    matrix[0, 3] = 1e7
    test[1] = Structure("B", Mask(test[1].mask.voxels, test[1].mask.offset, Grid(test[1].mask.grid.size, matrix)))
    reference[3] = Endless("D", reference[3].mask)
    settings = Settings(metrics=("DSC", "HD"))
    case = compareCase(reference, test, settings, protocol=tmp_path / "limits.csv")
    assert [one.reference.name for one in case] == ["A", "C"]
    assert list(case.failures) == ["B", "D"] and says(case.failures["B"])
    says(case.failures["D"])
    judged = [*((name, "pass") for name in "AC"), *((name, "not evaluable") for name in "BD")]
    assert [(one.structure, one.verdict) for one in case.judgment.verdicts] == judged
    case.requireAny()
    with refused("D"):
        compareCase(reference[3:], test[3:], settings).requireAny()


def testItCanBeStopped():
    sets, seen = (named("A", "B", "C"), named("A", "B", "C")), []

    def twice(*given):
        seen.append(given)
        return len(seen) < 3

    case = compareCase(*sets, OVERLAP, progress=twice)
    assert seen == [(0, 3, "A"), (1, 3, "B"), (2, 3, "C")]
    assert len(case) == 2 and case.wasStopped
    says("\n".join(case.findings), 2, 3)
    assert list(case.failures) == ["C"]
    says(case.failures["C"])


def testNothingInCommonSaysWhatThereIs():
    low, high = named("Lung", "Heart"), [Structure(s.name[::-1], s.mask) for s in named("Lung", "Heart")]
    case = compareCase(low[:1], high[1:], OVERLAP, choices={"Lung": None})
    assert list(case) == [] and case.judgment is None
    says(case.findings[0], "Lung", "traeH")
