"""What other tools would have reported of empty masks, at edges, of memberships, slices, meshes; a chosen one."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
import shapes
from test_conventions import LONGER, ROD, table

from SegmentMetricsLib import Settings, compare, conventions
from SegmentMetricsLib.case.comparison import Comparison
from SegmentMetricsLib.settings.names import TOOLS
from SegmentMetricsLib.show import tables

EMPTY = np.zeros((8, 8, 8), bool)


def testWhatCannotBeReproducedSaysSo():
    found = table(ROD, LONGER)
    marked = {(tool, key) for tool in found for key, number in found[tool].items() if not number.isReproducible}
    assert marked == {("EvaluateSegmentation", "HD95"), ("Anima", "ASSD"), ("MeshMetrics-0.1", "BIoU_2mm")}
    assert found["Anima"]["ASSD"].reason.endswith("this is the value of its definition")
    assert found["Anima"]["ASSD"].toDictionary()["reproducible"] is False


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


@pytest.mark.parametrize(("radius", "spacing", "expected"), [(8, 1.0, 1.0), (8, 2.0, 1.6), (2, 1.0, 0.4)])
def testMeshesAreFilledOnVoxelsAsTheyWouldBeExported(radius, spacing, expected):
    """On voxels of the chosen size, of which ten at least lie across the smaller one; tools see what images hold."""
    meshes = shapes.ballMesh(radius), shapes.ballMesh(radius + 1)
    comparison = compare(*meshes, Settings(meshSpacing=spacing))
    tools = comparison.conventions(["MedPy", "MeshMetrics-1.4.1"])
    found, ofMeshes = tools["MedPy"]["HD"], tools["MeshMetrics-1.4.1"]["HD"]
    assert ofMeshes.value == pytest.approx(1, abs=0.05) and "voxels" not in ofMeshes.reason
    assert "; both meshes were filled on voxels of" in found.reason
    voxels = float(found.reason.split()[-2])
    assert voxels == pytest.approx(expected, rel=0.01)
    # between voxel centers, and so no part of a voxel
    assert (found.value / voxels) ** 2 == pytest.approx(round((found.value / voxels) ** 2), abs=0.02)
    assert comparison["DSC"].value == pytest.approx(2 * radius**3 / (radius**3 + (radius + 1) ** 3), abs=0.003)


# A convention chosen for a comparison.


@pytest.mark.parametrize("key", [key for key in TOOLS if key not in ("MeshMetrics-0.1", "MeshMetrics-1.4.1")])
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
    restored = Comparison.fromDictionary(json.loads(json.dumps(comparison.toDictionary())))
    assert restored.measurements["HD"].title == comparison["HD"].title
    assert restored.measurements["HD"].description == comparison["HD"].description


@pytest.mark.parametrize("pair", [(EMPTY, EMPTY), (EMPTY, shapes.blob(1)), (shapes.blob(1), EMPTY)])
def testChosenConventionOfEmptyMasks(pair):
    for key in TOOLS:
        comparison = compare(*map(shapes.imageOf, pair), Settings.preset(key))
        assert comparison.summary
        assert comparison["HD"].status == "ok" or re.search("empty|does not report", comparison["HD"].reason)
