"""What other tools would have reported: small masks whose numbers can be told by hand, empties, and the outputs."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, compare, conventions, tables
from SegmentMetricsLib.__main__ import main
from SegmentMetricsLib.conventions import evaluation, output
from SegmentMetricsLib.conventions.propagation import distanceMaps
from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.records import Record

KEYS = (
    "Anima",
    "DeepMind",
    "EvaluateSegmentation",
    "MedPy",
    "MeshMetrics-0.1",
    "MeshMetrics-1.4.1",
    "MeshMetrics-surfacenets",
    "MetricsReloaded",
    "MISeval",
    "MONAI",
    "Plastimatch",
    "pymia",
    "seg-metrics",
    "SimpleITK",
)
EMPTY = np.zeros((8, 8, 8), bool)


def table(reference, test, settings=None, **options):
    return compare(reference, test, settings).conventions(**options)


def values(reference, test, tool, *keys, settings=None):
    numbers = table(reference, test, settings, keys=[tool])[tool]
    return [numbers[key].value for key in keys]


def testToolsAreThoseOfTheFiles():
    assert tuple(conventions.known()) == KEYS
    with pytest.raises(ValueError, match="There is no convention 'ITK'; choose from Anima, "):
        conventions.find("ITK")


@pytest.mark.parametrize("key", KEYS)
def testEveryConventionSaysWhereItComesFromAndWhy(key):
    convention = conventions.known()[key]
    assert convention.version and convention.source and convention.tool
    for template, number in convention.numbers.items():
        assert template in (
            "HD",
            "HD{percentile}",
            "MASD",
            "ASSD",
            "NSD_{tolerance}mm",
            "BIoU_{tolerance}mm",
            "DSC",
            "IoU",
        )
        assert number.name and number.reason and "\n" not in number.reason


ANOTHER = """
from SegmentMetricsLib.conventions.convention import HD, Convention, Number
from SegmentMetricsLib.conventions.elements import Voxels, foreground
from SegmentMetricsLib.conventions.rules import largest

CONVENTION = Convention(
    key="Another",
    tool="Another tool",
    version="1",
    source="nowhere",
    elements=Voxels(foreground),
    numbers={HD: Number(largest, "hausdorff", "largest distance of all voxels")},
)
"""


def testAnotherToolIsOneFile(tmp_path, monkeypatch):
    from SegmentMetricsLib.conventions import tools

    (tmp_path / "anothertool.py").write_text(ANOTHER)
    monkeypatch.setattr(tools, "__path__", [*tools.__path__, str(tmp_path)])
    conventions.known.cache_clear()
    try:
        found = table(POINT, FAR)
        assert found["Another"]["HD"].value == 3
        assert compare(POINT, FAR, Settings(convention="Another"))["HD"].title == "Hausdorff distance (Another tool 1)"
    finally:
        conventions.known.cache_clear()


def testFilesOfToolsAreShort():
    from pathlib import Path

    from SegmentMetricsLib.conventions import tools

    for path in Path(tools.__path__[0]).glob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= 45, path.name


# Two voxels 3 mm apart along i, and a rod of two beside them: everything can be told by hand.
POINT = shapes.box((10, 10, 10), (10, 10, 10))
FAR = shapes.box((13, 10, 10), (13, 10, 10))


@pytest.mark.parametrize("key", [key for key in KEYS if not key.startswith("MeshMetrics")])
def testOneVoxelEachIsAsFarAsTheVoxels(key):
    numbers = table(POINT, FAR, keys=[key])[key]
    for name in ("HD", "HD95", "MASD", "ASSD"):
        if name in numbers:
            # corners of voxels: the far ones are 3 mm away, the near ones 2 mm; Plastimatch has no percentile of one
            expected = 2.5 if (key in ("DeepMind", "pymia") and name in ("MASD", "ASSD")) else 3.0
            expected = {("pymia", "MASD"): 3.0, ("Plastimatch", "HD95"): 0.0}.get((key, name), expected)
            assert numbers[name].value == pytest.approx(expected, abs=1e-6), name
    for name, expected in (("NSD_2mm", 0.5 if key in ("DeepMind", "pymia") else 0.0), ("DSC", 0.0)):
        if name in numbers:
            assert numbers[name].value == pytest.approx(expected), name


ROD, LONGER = shapes.box((5, 5, 5), (9, 5, 5)), shapes.box((5, 5, 5), (12, 5, 5))


def testMeansOfDirections():
    # all voxels are border voxels: five of them coincide, three lie 1, 2 and 3 mm beyond the end
    there, back = 0.0, (1 + 2 + 3) / 8
    assert values(ROD, LONGER, "MedPy", "MASD", "ASSD") == pytest.approx([back, 6 / 13])
    assert values(LONGER, ROD, "MedPy", "MASD") == pytest.approx([there])
    assert values(ROD, LONGER, "MONAI", "MASD", "ASSD") == pytest.approx([back, 6 / 13])
    assert values(ROD, LONGER, "MetricsReloaded", "MASD", "ASSD") == pytest.approx([back / 2, 6 / 13])
    assert values(ROD, LONGER, "SimpleITK", "MASD") == pytest.approx([back / 2])
    assert values(ROD, LONGER, "Plastimatch", "MASD") == pytest.approx([back / 2])
    assert values(ROD, LONGER, "EvaluateSegmentation", "MASD") == pytest.approx([back / 2])
    assert values(ROD, LONGER, "Anima", "HD", "MASD", "ASSD") == pytest.approx([3, back, 6 / 13])
    assert values(ROD, LONGER, "seg-metrics", "ASSD") == pytest.approx([6 / 13])


def testPercentilesOfDirections():
    settings = Settings(percentiles=(50, 80, 100))
    keys = ("HD50", "HD80", "HD100")
    distances = [0, 0, 0, 0, 0, 1, 2, 3]
    pooled = [*distances, 0, 0, 0, 0, 0]
    assert values(ROD, LONGER, "MedPy", *keys, settings=settings) == pytest.approx(np.percentile(pooled, (50, 80, 100)))
    for tool in ("MONAI", "MetricsReloaded"):
        found = values(ROD, LONGER, tool, *keys, settings=settings)
        assert found == pytest.approx(np.percentile(distances, (50, 80, 100)), abs=1e-6), tool
    # the mean of both directions, of which one is 0; ranks floor(p 8 - 1), counted from 0: 3, 5, 7
    assert values(ROD, LONGER, "Plastimatch", *keys, settings=settings) == pytest.approx([0, 0.5, 1.5])


def testSpacingIsIgnoredByThoseThatIgnoreIt():
    spacing = (1.0, 1.0, 2.0)
    reference = shapes.box((2, 2, 2), (9, 9, 9), (12, 12, 16), spacing)
    test = shapes.box((2, 2, 2), (9, 9, 11), (12, 12, 16), spacing)
    assert values(reference, test, "MISeval", "HD") == [2]
    assert table(reference, test, keys=["MISeval"])["MISeval"]["HD"].unit == "voxel"
    assert values(reference, test, "MONAI", "HD") == [4]
    # of either cube one layer of voxels on every side, and of both the part that they share
    settings = Settings(tolerances=(1.0,))
    shell = [8 * 8 * 8 - 6**3, 8 * 8 * 10 - 6 * 6 * 8]
    shared = 28 * 7 + 64
    expected = shared / (sum(shell) - shared)
    assert values(reference, test, "MetricsReloaded", "BIoU_1mm", settings=settings) == pytest.approx([expected])


def testSurfaceNetsMeasureFromVoxelFaces():
    # cubes of 4 and 6 mm with a common center: every face of the larger one is 1 mm outside
    inner, outer = shapes.box((10, 10, 10), (13, 13, 13)), shapes.box((9, 9, 9), (14, 14, 14))
    hd, masd, nsd, biou = values(inner, outer, "MeshMetrics-surfacenets", "HD", "MASD", "NSD_1mm", "BIoU_1mm",
                                 settings=Settings(tolerances=(1.0,)))  # fmt: skip
    # centers of the triangles at a corner of the larger cube's faces: 2/3 mm beyond the smaller one's edges
    assert hd == pytest.approx(math.sqrt(1 + 2 * (2 / 3) ** 2))
    assert 1 < masd < 1.15
    # all of the smaller cube's faces; of the larger one those that lie above it
    assert nsd == pytest.approx((6 * 16 + 6 * 16) / (6 * 16 + 6 * 36))
    # one layer of voxels inside either, and none in common
    assert biou == 0


def testSurfaceNetsAgreeWithMeshesOfVoxelFaces():
    first, second = (shapes.imageOf(shapes.blob(seed, share=0.2), (1.0, 1.5, 0.7)) for seed in (1, 2))
    from SegmentMetricsLib.conventions import facenets
    from SegmentMetricsLib.distances.surfacedistances import BoundaryPair

    pair = evaluation.referencePair(compare(first, second))[0]
    sampling = evaluation.Source(pair).sampling
    fast = facenets.Faces()(sampling)
    slow = facenets.samples(BoundaryPair(*(facenets._alongFaces(s.mask) for s in pair.structures)), 0)
    for one, other in zip(fast, slow, strict=True):
        assert one.total == pytest.approx(other.total)
        assert np.sort(one.distances) == pytest.approx(np.sort(other.distances), abs=1e-5)


def propagated(border, spacing):
    """The same transform as in propagation.py, voxel by voxel."""
    shape = border.shape
    unit = [np.float32(s) ** 2 for s in spacing]
    offsets = {tuple(place): (0, 0, 0) for place in np.argwhere(border)}

    def length(offset):
        k, j, i = (np.float32(n) ** 2 * u for n, u in zip(offset, unit, strict=True))
        return i + j + k

    def handOn(source, target, axis):
        if source in offsets:
            longer = tuple(n + (a == axis) for a, n in enumerate(offsets[source]))
            if target not in offsets or length(longer) < length(offsets[target]):
                offsets[target] = longer

    def row(k, j):
        for i in range(1, shape[2]):
            handOn((k, j, i - 1), (k, j, i), 2)
        for i in range(shape[2] - 2, -1, -1):
            handOn((k, j, i + 1), (k, j, i), 2)

    def slice(k):
        row(k, 0)
        for step, rows in ((1, range(1, shape[1])), (-1, range(shape[1] - 2, -1, -1))):
            for j in rows:
                for i in range(shape[2]):
                    handOn((k, j - step, i), (k, j, i), 1)
                row(k, j)

    slice(0)
    for step, slices in ((1, range(1, shape[0])), (-1, range(shape[0] - 2, -1, -1))):
        for k in slices:
            for j in range(shape[1]):
                for i in range(shape[2]):
                    handOn((k - step, j, i), (k, j, i), 0)
            slice(k)
    return np.array([np.sqrt(length(offsets[place])) for place in np.ndindex(shape)]).reshape(shape)


@pytest.mark.parametrize("seed", range(4))
def testOffsetsTravelAsVoxelByVoxel(seed):
    random = np.random.default_rng(seed)
    spacing = np.round(random.uniform(0.4, 2.5, 3), 3) if seed % 2 else np.ones(3)
    borders = [random.random((5, 7, 9)) < share for share in (0.02, 0.1)]
    for border in borders:
        border[random.integers(5), random.integers(7), random.integers(9)] = True
    found = distanceMaps(np.stack(borders, axis=2), spacing)
    for number, border in enumerate(borders):
        exact = propagated(border, spacing)
        assert found[:, :, number] == pytest.approx(exact, abs=0)
        limited = distanceMaps(np.stack(borders, axis=2), spacing, 3.0)[:, :, number]
        assert (limited[exact <= 3] == exact[exact <= 3]).all() and np.isinf(limited[exact > 3.001]).all()


# Empty masks: what each tool reports, for one and for both.

LARGEST = float(np.finfo(np.float32).max)
ONE = {
    "DeepMind": {"HD": math.inf, "NSD_2mm": 0},
    "MONAI": {"HD": math.inf, "HD95": math.nan, "NSD_2mm": 0},
    "MetricsReloaded": {"HD": math.nan, "MASD": math.nan, "BIoU_2mm": 0, "NSD_2mm": math.nan},
    "MedPy": {"HD": math.nan},
    "seg-metrics": {"HD": 0, "ASSD": 0},
    "pymia": {"HD": math.inf, "NSD_2mm": 0},
    "Plastimatch": {"HD": LARGEST, "MASD": LARGEST / 2},
    "SimpleITK": {"HD": math.nan},
    "EvaluateSegmentation": {"HD": math.nan},
    "MISeval": {"HD": math.nan},
    "Anima": {"HD": math.nan, "ASSD": math.nan},
    "MeshMetrics-0.1": {"HD": math.inf, "NSD_2mm": 0, "BIoU_2mm": 0},
    "MeshMetrics-1.4.1": {"HD": math.inf, "NSD_2mm": 0, "DSC": 0},
    "MeshMetrics-surfacenets": {"HD": math.inf, "NSD_2mm": 0},
}
BOTH = {
    "DeepMind": {"HD": math.inf, "MASD": math.nan, "NSD_2mm": math.nan},
    "MONAI": {"HD": math.nan, "NSD_2mm": math.nan},
    "MetricsReloaded": {"HD": 0, "HD95": 0, "MASD": 0, "NSD_2mm": 1, "BIoU_2mm": 1},
    "MedPy": {"HD": math.nan},
    "seg-metrics": {"HD": 0, "HD95": 0},
    "pymia": {"HD": math.inf, "NSD_2mm": -math.inf},
    "Plastimatch": {"HD": math.nan},
    "SimpleITK": {"HD": math.nan},
    "MISeval": {"HD": 0},
    "MeshMetrics-0.1": {"HD": math.nan, "NSD_2mm": math.nan},
    "MeshMetrics-1.4.1": {"HD": 0, "NSD_2mm": 1},
    "MeshMetrics-surfacenets": {"HD": 0, "BIoU_2mm": 1},
}


@pytest.mark.parametrize("swapped", [False, True])
def testOneEmptyMask(swapped):
    pair = (shapes.imageOf(EMPTY), POINT) if swapped else (POINT, shapes.imageOf(EMPTY))
    found = table(*pair)
    for tool, expected in ONE.items():
        for key, value in expected.items():
            assert found[tool][key].value == pytest.approx(value, nan_ok=True), (tool, key)
            assert f"the {'reference' if swapped else 'test'} is empty" in found[tool][key].reason


def testTwoEmptyMasks():
    found = table(shapes.imageOf(EMPTY), shapes.imageOf(EMPTY))
    for tool, expected in BOTH.items():
        for key, value in expected.items():
            assert found[tool][key].value == pytest.approx(value, nan_ok=True), (tool, key)
            assert "both masks are empty" in found[tool][key].reason


def testWhatCannotBeReproducedSaysSo():
    found = table(ROD, LONGER)
    marked = {(tool, key) for tool in found for key, number in found[tool].items() if not number.isReproducible}
    assert marked == {("EvaluateSegmentation", "HD95"), ("Anima", "ASSD"), ("MeshMetrics-0.1", "BIoU_2mm")}
    assert found["Anima"]["ASSD"].reason.endswith("this is the value of its definition")
    assert found["Anima"]["ASSD"].toDictionary()["reproducible"] is False


def testLeaning():
    found = table(shapes.ball(10), shapes.ball(11, (1, 0, 0)))
    ours = compare(shapes.ball(10), shapes.ball(11, (1, 0, 0)))
    for numbers in found.values():
        for key, number in numbers.items():
            assert number.reference == ours[key].value
            assert number.difference == pytest.approx(number.value - ours[key].value)
    assert found["SimpleITK"]["MASD"].leaning == "over-optimistic"
    assert found["MedPy"]["MASD"].leaning == "over-pessimistic"
    assert found["MONAI"]["NSD_2mm"].leaning == "over-pessimistic"
    assert found["DeepMind"]["NSD_2mm"].leaning == "over-optimistic"
    # samples between the farthest places
    assert found["MeshMetrics-0.1"]["HD"].leaning == "over-optimistic"
    assert found["MedPy"]["DSC"].leaning == ""
    assert found["SimpleITK"]["MASD"].differenceText() == "-0.79 mm"


def testSettingsOfTheComparisonDoNotChangeTheReferenceValue():
    ball, other = shapes.ball(6), shapes.ball(7)
    expected = table(ball, other, keys=["MONAI"])["MONAI"]["HD"].reference
    for settings in (Settings(families=("voxel",)), Settings.preset("MeshMetrics-1.4.1"), Settings(convention="MedPy")):
        assert table(ball, other, settings, keys=["MONAI"])["MONAI"]["HD"].reference == expected


def testEdgeOfTheImage():
    solid = np.zeros((6, 6, 6), bool)
    solid[:4] = True
    wider = np.zeros((6, 6, 6), bool)
    wider[:5] = True
    pair = shapes.imageOf(solid), shapes.imageOf(wider)
    beyond = table(*pair, keys=["seg-metrics", "MedPy"])
    stored = table(*pair, keys=["seg-metrics", "MedPy"], atEdge=True)
    # at the stored edge only the two inner faces are border
    assert stored["seg-metrics"]["ASSD"].value == 1
    assert beyond["seg-metrics"]["ASSD"].value < 1
    assert "at the edge" in beyond["seg-metrics"]["HD"].reason
    assert stored["MedPy"]["ASSD"].value == beyond["MedPy"]["ASSD"].value


def testStructuresWithoutBorderInTheirImage():
    full = shapes.imageOf(np.ones((6, 6, 6), np.uint8))
    for test in (full, shapes.box((2, 2, 2), (3, 3, 3), (6, 6, 6))):
        reported = compare(full, test).conventions(atEdge=True)
        assert math.isnan(reported["Anima"]["ASSD"].value) and "fills the image" in reported["Anima"]["ASSD"].reason
        assert math.isfinite(reported["MedPy"]["HD"].value)


def testEdgeOfImagesThatLieApart():
    near, far = (shapes.imageOf(np.ones((1, 3, 3)), origin=(x, 0.0, 0.0)) for x in (0.0, 40.0))
    reported = compare(near, far).conventions(atEdge=True)
    assert reported["MedPy"]["HD"].value == 40


def testMembershipsAreWholeForAllTools():
    whole = np.pad(np.ones((4, 4, 4)), 3)
    comparison = compare(shapes.imageOf(whole), shapes.imageOf(0.8 * whole))
    assert comparison["DSC"].value == pytest.approx(2 * 0.8 / (1 + 0.8))
    number = comparison.conventions()["MedPy"]["DSC"]
    assert (number.value, number.reference) == (1, 1)


def testToolsSeeTheCommonExtentAlone():
    long, short = shapes.box((8, 8, 2), (12, 12, 12)), shapes.box((8, 8, 6), (12, 13, 16))
    common = compare(long, short, Settings(extent="common"))
    assert common["HD"].value == 1
    assert common.conventions()["MedPy"]["HD"].value == common.conventions()["MedPy"]["HD"].reference == 1
    assert compare(long, short, Settings(extent="common", convention="MedPy"))["HD"].value == 1
    apart = compare(long, shapes.box((8, 8, 15), (12, 12, 20)), Settings(extent="common")).conventions()
    assert math.isnan(apart["MedPy"]["HD"].value) and "no common extent" in apart["MedPy"]["HD"].reason


@pytest.mark.parametrize("axis", [0, 1, 2])
def testSliceInAnyPosition(axis):
    first, second = (np.expand_dims(shapes.blob(seed, (9, 11, 13))[4], axis) for seed in (1, 2))
    spacing = np.insert([1.0, 2.0][::-1], 2 - axis, 5.0)
    found = table(*(shapes.imageOf(array, spacing.tolist()) for array in (first, second)))
    flat = table(*(shapes.imageOf(array.squeeze(axis), [2.0, 1.0]) for array in (first, second)))
    for tool in found:
        for key in found[tool]:
            # the reference value of BIoU is sampled
            exact = 2e-3 if (tool, key) == ("MeshMetrics-0.1", "BIoU_2mm") else 1e-5
            assert found[tool][key].value == pytest.approx(flat[tool][key].value, abs=exact), (tool, key)
            assert math.isfinite(found[tool][key].value)


def testMeshesAreVoxelized():
    found = table(shapes.ballMesh(8), shapes.ballMesh(9))
    assert found["MedPy"]["HD"].value == pytest.approx(1, abs=0.8)
    assert found["MeshMetrics-1.4.1"]["HD"].value == pytest.approx(1, abs=0.05)


# A convention chosen for a comparison.


@pytest.mark.parametrize("key", [key for key in KEYS if key not in ("MeshMetrics-0.1", "MeshMetrics-1.4.1")])
def testChosenConvention(key):
    pair = shapes.ball(6), shapes.ball(7, (1, 0, 0))
    comparison = compare(*pair, Settings(convention=key))
    expected = table(*pair, keys=[key])[key]
    for name in ("HD", "HD95", "MASD", "ASSD", "NSD_2mm", "BIoU_2mm", "DSC", "IoU"):
        if name in expected:
            assert comparison[name].value == expected[name].value
        else:
            assert comparison[name].status == "undefined" and "does not report it" in comparison[name].reason
        assert conventions.find(key).tool in comparison[name].title
    assert comparison["SignedMean"].title == "Signed mean distance"
    assert comparison.toDictionary()["convention"] == key
    assert any(conventions.find(key).label in finding for finding in comparison.findings)
    assert comparison.summary
    assert conventions.find(key).label in tables.pairTable(comparison.record())
    restored = Record.fromDictionary(json.loads(json.dumps(comparison.toDictionary())))
    assert restored.measurements["HD"].title == comparison["HD"].title
    assert restored.measurements["HD"].description == comparison["HD"].description


@pytest.mark.parametrize("pair", [(EMPTY, EMPTY), (EMPTY, shapes.blob(1)), (shapes.blob(1), EMPTY)])
def testChosenConventionOfEmptyMasks(pair):
    for key in KEYS:
        comparison = compare(*map(shapes.imageOf, pair), Settings.preset(key))
        assert comparison.summary
        assert comparison["HD"].status == "ok" or "empty" in comparison["HD"].reason


def testChosenConventionFixesHowIsMeasured():
    with pytest.raises(ValueError, match="The convention MedPy fixes the subdivisions"):
        Settings(convention="MedPy", subdivisions=2)
    with pytest.raises(ValueError, match="There is no convention 'Medpy'; choose from SegmentMetrics, "):
        Settings(convention="Medpy")


# Outputs.


@pytest.fixture
def files(tmp_path):
    import SimpleITK

    names = ("reference.nrrd", "test.nrrd")
    for name, image in zip(names, (shapes.ball(6), shapes.ball(7, (1, 0, 0))), strict=True):
        SimpleITK.WriteImage(image, str(tmp_path / name))
    return [str(tmp_path / name) for name in names]


def testCommand(files, tmp_path, capsys):
    assert main(["conventions", *files, "--output", str(tmp_path / "out"), "--reasons", "--percentile", "90"]) == 0
    printed = capsys.readouterr().out
    assert "\033[" not in printed
    assert "percentile over the pooled distances of both directions" in printed
    content = json.loads((tmp_path / "out" / "conventions.json").read_text("utf-8"))
    assert content["schema"] == "segment-metrics-conventions/1"
    pair = content["pairs"][0]
    assert tuple(pair["conventions"]) == KEYS
    found = table(shapes.ball(6), shapes.ball(7, (1, 0, 0)), Settings(percentiles=(90,)))
    for tool, numbers in pair["conventions"].items():
        assert set(numbers) == set(found[tool])
        for key, number in numbers.items():
            assert number["value"] == pytest.approx(found[tool][key].value) and number["status"] == "ok"
    with (tmp_path / "out" / "conventions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(map(len, found.values()))
    assert {row["Convention"] for row in rows} == set(KEYS)


def testCommandWithOneToolAndUnknownOnes(files, tmp_path, capsys):
    output = ["--output", str(tmp_path / "out")]
    assert main(["conventions", *files, *output, "--tool", "MedPy"]) == 0
    assert main(["conventions", *files, "--output", str(tmp_path / "none"), "--tool", "medpy"]) == 2
    assert "There is no convention 'medpy'" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def testCommandWithMembershipsAsWholeNumbers(tmp_path, capsys):
    import SimpleITK

    soft = np.pad(np.full((5, 5, 5), 200, np.uint8), 3)
    soft[3] //= 4
    SimpleITK.WriteImage(shapes.imageOf(soft), str(tmp_path / "soft.nrrd"))
    SimpleITK.WriteImage(shapes.imageOf((soft > 0).astype(np.uint8)), str(tmp_path / "mask.nrrd"))
    given = [str(tmp_path / name) for name in ("mask.nrrd", "soft.nrrd")]
    given += ["--membership-maximum", "255", "--tool", "MedPy", "--output", str(tmp_path / "out")]
    assert main(["conventions", *given]) == 0
    assert "0.889" in capsys.readouterr().out  # 2 * 100 / (125 + 100): one of five layers stays below 0.5


def testColorsOfTerminals():
    comparison = compare(shapes.ball(6), shapes.ball(7, (1, 0, 0)))
    record = output.ConventionsRecord({"name": "ball"}, {"name": "ball"}, comparison.conventions())
    plain, colored = output.textTable(record), output.textTable(record, colored=True)
    for code in (*output.TERMINAL_COLORS.values(), output.TERMINAL_RESET):
        assert code in colored
        colored = colored.replace(code, "")
    assert colored.split("\n") == [line.rstrip() for line in plain.split("\n")]


def testCompareCommandWithConvention(files, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["compare", *files, "--output", str(out), "--convention", "MedPy"]) == 0
    assert "MedPy 0.5.2" in capsys.readouterr().out
    with (out / "metrics.csv").open(encoding="utf-8") as file:
        assert next(csv.DictReader(file))["Convention"] == "MedPy"
    assert "MedPy" in (out / "metrics.schema.csv").read_text("utf-8")
    assert json.loads((out / "metrics.json").read_text("utf-8"))["pairs"][0]["convention"] == "MedPy"
    assert main(["compare", *files, "--output", str(out), "--convention", "MedPy", "--preset", "MeshMetrics-0.1"]) == 2


def testTableInTheScene(scene, savedAndLoaded):
    from SegmentMetricsLib import mrml

    comparison = compare(shapes.ball(6), shapes.ball(7, (1, 0, 0)))
    node = mrml.showConventionsTable(comparison, scene=scene)
    again = mrml.showConventionsTable(comparison, scene=scene)
    assert node is again
    found = comparison.conventions()
    assert node.GetNumberOfRows() == sum(map(len, found.values()))
    columns = {node.GetColumnName(n): n for n in range(node.GetNumberOfColumns())}
    row = next(
        r
        for r in range(node.GetNumberOfRows())
        if (node.GetCellText(r, 0), node.GetCellText(r, columns["Measurement"])) == ("SimpleITK", "MASD")
    )
    assert node.GetCellText(row, columns["Leaning"]) == "over-optimistic"
    number = node.GetTable().GetValue(row, columns["Difference"]).ToDouble()
    assert number == pytest.approx(found["SimpleITK"]["MASD"].difference)
    loaded = savedAndLoaded(scene).GetFirstNodeByName(node.GetName())
    kept = json.loads(loaded.GetAttribute("SegmentMetrics.Conventions"))
    assert kept["SimpleITK"]["MASD"]["value"] == found["SimpleITK"]["MASD"].value
    recalled = mrml.recallConventions(loaded)
    assert recalled == found and list(recalled) == list(found)


def testTableOfEmptyMasksIsRecalled(scene):
    from SegmentMetricsLib import mrml

    comparison = compare(shapes.ball(6), 0 * shapes.ball(6))
    node = mrml.showConventionsTable(comparison, scene=scene)
    found, recalled = comparison.conventions(), mrml.recallConventions(node)
    assert {key: repr(number) for key, number in found["MONAI"].items()} == {
        key: repr(number) for key, number in recalled["MONAI"].items()
    }
    assert any(math.isinf(number.reference) for numbers in recalled.values() for number in numbers.values())
    node.SetAttribute("SegmentMetrics.Conventions", '{"MedPy": {"HD": {}}}')
    with pytest.raises(InputError, match="cannot be read"):
        mrml.recallConventions(node)


def testMeasurementsTableNamesTheConvention(scene):
    from SegmentMetricsLib import mrml

    comparison = compare(shapes.ball(6), shapes.ball(7), Settings(convention="MedPy"))
    node = mrml.showTable(comparison, scene=scene)
    assert "MedPy" in node.GetName()
    assert "MedPy 0.5.2" in node.GetCellText(0, 1)
    overview = mrml.showComparisonsTable([comparison], scene=scene)
    assert (overview.GetColumnName(0), overview.GetCellText(0, 0)) == ("Convention", "MedPy")


def testCommandPairsStructuresAsToldTo(tmp_path, capsys):
    images = [shapes.labelImage({1: ((2, 2, 2), (6, 6, 6)), 2: ((10, 10, 10), (14, 15, high))}) for high in (14, 16)]
    paths = [str(tmp_path / f"{name}.nrrd") for name in ("one", "two")]
    for image, path in zip(images, paths, strict=True):
        SimpleITK.WriteImage(image, path)
    given = ["conventions", *paths, "--output", str(tmp_path / "out"), "--tool", "MedPy"]
    assert main([*given, "--pair", "Label 1=Label 2", "--pair", "Label 2="]) == 0
    capsys.readouterr()
    (pair,) = json.loads((tmp_path / "out" / "conventions.json").read_text("utf-8"))["pairs"]
    assert (pair["reference"]["name"], pair["test"]["name"]) == ("Label 1", "Label 2")
    assert main([*given, "--pair", "Label 1"]) == 2
    assert "REFERENCE=TEST" in capsys.readouterr().err
