"""Which tool, percentile, direction or common mistake gives a number."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import shapes
import SimpleITK
from imagefiles import save
from sayings import refused, says
from scipy.ndimage import binary_erosion
from scipy.spatial import cKDTree
from tiers import rarely

from SegmentMetricsLib import Settings, __main__, compare

SPACING = (0.8, 0.8, 2.7)


@pytest.fixture(scope="module")
def images():
    """Two shapes on an anisotropic grid, whose distances differ in both directions."""
    first, second = (np.zeros((14, 16, 12), np.uint8) for _ in range(2))
    first[3:8, 3:9, 3:7], first[6:10, 5:7, 4:6] = 1, 1
    second[4:9, 3:11, 4:8], second[4:6, 2:4, 2:9] = 1, 1
    return [shapes.imageOf(array, SPACING) for array in (first, second)]


@pytest.fixture(scope="module")
def pair(images):
    return compare(*images, Settings(metrics=("DSC", "HD95")))


def distances(images, spacing) -> list[np.ndarray]:
    """Return the distances from the reference's border voxels to the test's, and the reverse, in mm of some spacing."""
    arrays = [SimpleITK.GetArrayFromImage(image) > 0 for image in images]
    first, second = (np.argwhere(array & ~binary_erosion(array))[:, ::-1] * np.array(spacing) for array in arrays)
    return [cKDTree(second).query(first)[0], cKDTree(first).query(second)[0]]


@pytest.mark.parametrize("tool", ["MONAI", "MeshMetrics-0.1", *rarely(["MedPy", "Plastimatch", "MISeval"])])
def testAToolsOwnNumberIsFound(pair, tool):
    """Each with its name, as a number of both directions without a mistake."""
    numbers = pair.conventions(tool)[tool]
    for key in ("HD", "HD95"):
        if key in numbers and math.isfinite(value := numbers[key].value):
            found = [one for one in pair.which(value, key) if one.isExact and not one.mistake]
            assert any(key == one.key and not one.direction and numbers.tool in str(one) for one in found)


def testDirectionsPercentilesAndUnits(pair, images):
    """Computed here from the border voxels alone."""
    toTest, toReference = distances(images, SPACING)
    pooled = np.concatenate([toTest, toReference])
    for value, key, isOneWay, isMistake, tool in (
        (np.percentile(toReference, 90), "HD90", True, False, "MONAI"),
        (toReference.mean(), "MASD", True, False, "Metrics Reloaded"),
        (toReference.mean(), "MASD", False, False, "MedPy"),
        (np.percentile(pooled, 98), "HD98", False, False, "MedPy"),
        (2 * pooled.max(), "HD", False, True, "MONAI"),
        (pooled.max() / 2, "HD", False, True, "MONAI"),
        (pooled.max() / 10, "HD", False, True, "MONAI"),
        (100 * np.mean(pooled <= 3), "NSD_3mm", False, True, "MONAI"),
        (1 - np.mean(pooled <= 2), "NSD_2mm", False, True, "MONAI"),
    ):
        found = [one for one in pair.which(float(value), key) if one.isExact and one.key == key and tool in str(one)]
        (one,) = (one for one in found if (bool(one.direction), bool(one.mistake)) == (isOneWay, isMistake))
        assert not one.how or says(f"{key}: {one.how}")


def testAWrongSpacing(pair, images):
    for spacing, names in (((1, 1, 1), ()), ((2.7, 0.8, 0.8), ("0.8 x 0.8 x 2.7", "2.7 x 0.8 x 0.8"))):
        value = float(max(np.percentile(one, 95) for one in distances(images, spacing)))
        found = [one for one in pair.which(value, "HD95") if one.isExact and one.key == "HD95" and "MONAI" in str(one)]
        (mistake,) = (one.mistake for one in found if not one.direction)
        says(mistake, *names)


def testTheNearestComeFirst(pair):
    found = pair.which("1.23456789")
    apart = [abs(one.difference) for one in found]
    assert not found[0].isExact and apart == sorted(apart)
    # with few digits, many agree; the most usual of them are first
    rough = pair.which(f"{pair['DSC'].value:.2f}")
    exact = [one for one in rough if one.isExact]
    assert rough[: len(exact)] == exact and rough[0].key == "DSC" and not rough[0].mistake
    assert [one.oddity for one in exact] == sorted(one.oddity for one in exact)
    assert all(abs(one.difference) <= 0.005 * (1 + 1e-6) for one in exact)
    # a unit that is said is less unusual than a mistake
    same = [(one.oddity, one.unit) for one in pair.which("1") if (one.key, one.tools) == ("DSC", exact[0].tools)]
    assert sorted(same) == [(0, ""), (1, "%"), (2, "")]
    # of one kind only
    assert {one.key for one in pair.which("3", "NSD_2mm")} == {f"NSD_{n}mm" for n in (1, 2, 3, 5)}


@pytest.mark.parametrize(
    ("given", "value", "half"),
    [("3.7", 3.7, 0.05), ("3.70", 3.7, 0.005), ("3,7", 3.7, 0.05), (" -12 ", -12, 0.5), (0.5, 0.5, 0.05), (4, 4, 0.5)],
)
def testDigitsSayHowExactANumberIs(pair, given, value, half):
    found = pair.which(given)
    assert [one.value - one.difference for one in found] == pytest.approx([value] * len(found))
    assert all(one.isExact == (abs(one.difference) <= half * (1 + 1e-9)) for one in found)


def testWhatIsNoNumber(pair):
    for given in ("", "x", "nan", "inf", True, None, "mm 3.7"):
        with refused(repr(given)):
            pair.which(given)
    with refused("FOO", "HD, "):
        pair.which(1, "FOO")


def testEmptyStructuresAndMeshes():
    empty = shapes.imageOf(np.zeros((8, 8, 8), np.uint8))
    found = compare(shapes.box((2, 2, 2), (5, 5, 5), (8, 8, 8)), empty).which("0")
    assert all(one.value >= 0 or one.mistake or "Volume" in one.key for one in found)
    meshes = compare(shapes.boxMesh((0, 0, 0), (8, 8, 8)), shapes.boxMesh((1, 0, 0), (9, 8, 8))).which("1.0", "HD")
    assert meshes[0].isExact and meshes[0].key == "HD" and not any("spacing" in one.mistake for one in meshes)


def testTheCommand(images, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for image, name in zip(images, ("a.nrrd", "b.nrrd")):
        # voxels of 1 mm, whose spacing cannot be taken for another one
        save(shapes.imageOf(SimpleITK.GetArrayFromImage(image)), name)
    toTest, toReference = distances(images, (1, 1, 1))
    value = f"{max(toTest.max(), toReference.max()):.4f}"
    assert __main__.main(["which", value, "a.nrrd", "b.nrrd", "--measurement", "hd", "--most", "2", "-o", "out"]) == 0
    out = capsys.readouterr().out
    sentences = [line for line in out.splitlines() if line and "  " not in line]  # beside the table
    says("\n".join(sentences), f"hd {value}", "HD")
    stored = json.loads((tmp_path / "out/which.json").read_text())
    (one,) = stored["structures"]
    first = one["candidates"][0]
    assert stored["schema"] == "segment-metrics-which/1" and stored["found"] is True and stored["value"] == value
    assert first["exact"] and first["key"] == "HD" and {"tool": "MONAI", "version": "1.6.1"} in first["tools"]
    assert {c["percentile"] for c in one["candidates"] if c["key"] == "HD98"} == {98}
    # nothing gives it, which is said, and the nearest is there all the same
    assert __main__.main(["which", "123.456", "a.nrrd", "b.nrrd", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["found"] is False and not any(c["exact"] for c in printed["structures"][0]["candidates"])
    assert __main__.main(["which", "mm", "a.nrrd", "b.nrrd"]) == 2
    says(capsys.readouterr().err, "'mm'")
