"""What other tools would have reported: the tools there are, and small masks whose numbers can be told by hand."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
import shapes
from scipy.ndimage import distance_transform_edt

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.conventions.evaluation import Reported
from SegmentMetricsLib.conventions.propagation import distanceMaps
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.settings.names import TOOLS


def table(reference, test, settings=None, **options):
    return compare(reference, test, settings).conventions(**options)


def values(reference, test, tool, *keys, settings=None):
    numbers = table(reference, test, settings, keys=[tool])[tool]
    return [numbers[key].value for key in keys]


# Two voxels 3 mm apart along i, and a rod of two beside them: everything can be told by hand.
POINT = shapes.box((10, 10, 10), (10, 10, 10))
FAR = shapes.box((13, 10, 10), (13, 10, 10))


@pytest.mark.parametrize("key", [key for key in TOOLS if not key.startswith("MeshMetrics")])
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
    toTest, toReference = 0.0, (1 + 2 + 3) / 8
    assert values(ROD, LONGER, "MedPy", "MASD", "ASSD") == pytest.approx([toReference, 6 / 13])
    assert values(LONGER, ROD, "MedPy", "MASD") == pytest.approx([toTest])
    assert values(ROD, LONGER, "MONAI", "MASD", "ASSD") == pytest.approx([toReference, 6 / 13])
    assert values(ROD, LONGER, "MetricsReloaded", "MASD", "ASSD") == pytest.approx([toReference / 2, 6 / 13])
    assert values(ROD, LONGER, "SimpleITK", "MASD") == pytest.approx([toReference / 2])
    assert values(ROD, LONGER, "Plastimatch", "MASD") == pytest.approx([toReference / 2])
    assert values(ROD, LONGER, "EvaluateSegmentation", "MASD") == pytest.approx([toReference / 2])
    assert values(ROD, LONGER, "Anima", "HD", "MASD", "ASSD") == pytest.approx([3, toReference, 6 / 13])
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


@pytest.mark.parametrize("size", [(9, 8, 6), (12, 14, 1), (12, 1, 9)], ids=str)
def testBandsOfVoxelCenters(size):
    """By surface and by faces: every voxel asked by itself. Some centers are as deep as the tolerance, in any image."""
    spacing = (0.5, 0.5, 2.0)
    arrays = [shapes.blob(seed, [max(n, 2) for n in size], 0.5, 0.8)[tuple(map(slice, size[::-1]))] for seed in (1, 2)]
    arrays = [np.pad(array > 0, [(0, 0) if n == 1 else (2, 2) for n in size[::-1]]) for array in arrays]
    keys, everywhere = ("MeshMetrics-1.4.1", "MeshMetrics-surfacenets"), np.argwhere(np.ones(arrays[0].shape))
    for origin, direction in (((0, 0, 0), None), ((500.1, -300.7, 70.3), shapes.rotation((1, 2, 3), 40))):
        images = [shapes.imageOf(array, spacing, origin, direction) for array in arrays]
        comparison = compare(*images, Settings(tolerances=1.25))
        bands: dict[str, list] = {key: [] for key in keys}
        for array, structure in zip(arrays, (comparison.reference, comparison.test), strict=True):
            places = structure.mask.grid.toWorld(everywhere[:, ::-1])
            signed = ClosestSurface(structure.surface.target).signedDistances(places)
            bands[keys[0]].append((signed < -1e-5) & (signed > 1e-5 - 1.25))
            gaps = np.maximum(abs(everywhere[:, None] - everywhere[~array.ravel()]) - 0.5, 0) * spacing[::-1]
            bands[keys[1]].append(array.ravel() & (np.linalg.norm(gaps, axis=2).min(axis=1) < 1.25 - 1e-5))
        for key, (one, other) in bands.items():
            found = comparison.conventions(key)[key]["BIoU_1.25mm"].value
            assert 0 < found < 1 and found == np.count_nonzero(one & other) / np.count_nonzero(one | other), key


@pytest.mark.parametrize(
    ("seed", "spacing", "errors"),
    [
        (54, (2.5, 0.7, 1.0), {(1, 7, 13): 7.0007, (1, 8, 12): 6.8819, (1, 8, 13): 7.5073}),
        (52, (2.5, 0.7, 1.0), {(5, 11, 0): 2.9732, (6, 11, 0): 3.8846, (7, 11, 0): 5.8172}),
        (52, (1.0, 1.0, 1.0), {(6, 10, 0): 10**0.5, (7, 10, 0): 13**0.5}),
    ],
)
def testOffsetsTravelWithTheirErrors(seed, spacing, errors):
    """Distances to sparse voxels are exact but for some, where the best offset lost on its way."""
    borders = np.random.default_rng(seed).random((8, 12, 14)) < 0.01
    exact = distance_transform_edt(~borders, sampling=spacing)
    # beside another mask, which has no effect
    both = np.stack([borders, borders[::-1]], axis=2)
    found = distanceMaps(both, np.array(spacing))[:, :, 0]
    assert {tuple(place): found[tuple(place)] for place in np.argwhere(found > exact + 1e-4).tolist()} == pytest.approx(
        errors, abs=1e-4
    )
    assert (found >= exact - 1e-5).all()
    limited = distanceMaps(both, np.array(spacing), 3.0)[:, :, 0]
    assert np.array_equal(limited[found <= 3], found[found <= 3]) and np.isinf(limited[found > 3.001]).all()


def testToolsThatTakeASliceForAVolume():
    """A slice is a volume 1 mm thick for pymia, its two faces are boundary: all of what both have is at distance 0."""
    y, x = np.mgrid[:32, :32]
    discs = [shapes.imageOf((x - at) ** 2 + (y - 16) ** 2 <= radius**2) for at, radius in ((15, 10), (17, 7))]
    found = compare(*discs, Settings(tolerances=1.5, percentiles=(95, 50))).conventions(["pymia", "Plastimatch"])
    values = {key: found["pymia"][key].value for key in ("HD", "HD95", "HD50", "NSD_1.5mm")}
    assert values == pytest.approx({"HD": 26**0.5, "HD95": 4, "HD50": 0, "NSD_1.5mm": 0.8159}, abs=1e-4)
    # Plastimatch measures between the border pixels of the slice
    assert found["Plastimatch"]["HD95"].value == pytest.approx(5)
    assert found["Plastimatch"]["MASD"].value == pytest.approx(2.9441, abs=1e-4)


def testWhatAToolDoesNotReport():
    """The key is missing, as before, and the error says why and what there is instead."""
    found = table(shapes.ball(4), shapes.ball(4, (1, 0, 0)))["Anima"]
    assert "HD95" not in found and found.get("HD95") is None
    for numbers in (found, pickle.loads(pickle.dumps(found))):
        with pytest.raises(KeyError) as error:
            numbers["HD95"]
        assert error.value.args == (f"Anima does not report 'HD95' here; it reports {', '.join(found)}.",)
    assert list(pickle.loads(pickle.dumps(found))) == list(found) == ["HD", "MASD", "ASSD"]
    assert str(found["HD"]).startswith(f"HD: {found['HD'].text()} (")


def testLeaning():
    found = table(shapes.ball(10), shapes.ball(11, (1, 0, 0)))
    ours = compare(shapes.ball(10), shapes.ball(11, (1, 0, 0)))
    for numbers in found.values():
        for key, number in numbers.items():
            assert number.reference == ours[key].value
            assert number.difference == pytest.approx(number.value - ours[key].value)
    assert found["SimpleITK"]["MASD"].leaning == "over-optimistic"
    assert found["MONAI"]["NSD_2mm"].leaning == "over-pessimistic"
    assert found["MedPy"]["DSC"].leaning == ""
    assert found["SimpleITK"]["MASD"].differenceText() == "-0.79 mm"


def reported(value: float, reference: float = 4.59, better: str = "lower", **bounds: float) -> Reported:
    return Reported("HD95", "", "", value, "mm", "ok", "", reference, better, **bounds)


@pytest.mark.parametrize(
    ("value", "leaning"),
    [
        (2.76, "over-optimistic"), (4.48, "over-optimistic"), (4.56, "slightly over-optimistic"), (4.587, ""),
        (4.59, ""), (4.68, "slightly over-pessimistic"), (4.70, "over-pessimistic"), (math.inf, "over-pessimistic"),
        (math.nan, ""),
    ],
)  # fmt: skip
def testLeaningSaysHowMuch(value, leaning):
    """-0.03 mm is not called what -1.83 mm is called."""
    assert reported(value).leaning == leaning


def testWithinItsBoundsTheReferenceIsTheSame():
    assert reported(4.56, lower=4.55, upper=4.6).leaning == ""
    assert reported(4.54, lower=4.55, upper=4.6).leaning == "slightly over-optimistic"
    assert reported(2.0, lower=1.5, upper=6.0).leaning == ""
    fraction = reported(0.9, 0.905, "higher")
    assert fraction.leaning == "slightly over-pessimistic"
    assert replace(fraction, lower=0.89, upper=0.91).leaning == ""


BALL = shapes.ball(6)
LARGEST = float(np.finfo(np.float32).max)
# What tools report for empty masks: the test is empty, both are. A number, or None for none, and its leaning.
FOR_EMPTY = {
    ("DeepMind", "HD"): ((math.inf, "same"), (math.inf, "over-pessimistic")),
    ("DeepMind", "MASD"): ((None, "undefined"), (None, "same")),
    ("MONAI", "HD"): ((math.inf, "same"), (None, "same")),
    ("MONAI", "HD95"): ((None, "undefined"), (None, "same")),
    ("MetricsReloaded", "NSD_2mm"): ((None, "undefined"), (1, "over-optimistic")),
    ("MedPy", "IoU"): ((0, "same"), (1, "over-optimistic")),
    ("seg-metrics", "ASSD"): ((0, "over-optimistic"), (0, "over-optimistic")),
    ("pymia", "MASD"): ((math.inf, "same"), (math.inf, "over-pessimistic")),
    ("pymia", "NSD_2mm"): ((0, "same"), (-math.inf, "over-pessimistic")),
    ("MetricsReloaded", "MASD"): ((None, "undefined"), (0, "over-optimistic")),
    ("Plastimatch", "HD"): ((LARGEST, "same"), (None, "same")),
    ("MeshMetrics-surfacenets", "HD"): ((math.inf, "same"), (0, "over-optimistic")),
    ("SimpleITK", "DSC"): ((0, "same"), (math.inf, "over-optimistic")),
    ("EvaluateSegmentation", "MASD"): ((None, "undefined"), (None, "same")),
    ("MISeval", "IoU"): ((0, "same"), (0, "over-pessimistic")),
    ("Anima", "HD"): ((None, "undefined"), (None, "same")),
    ("grand-challenge-metrics", "MASD"): ((None, "undefined"), (None, "same")),
    ("panoptica-distances", "ASSD"): ((math.inf, "same"), (None, "same")),
    ("platipy", "MASD"): ((None, "undefined"), (None, "same")),
    ("torchmetrics", "IoU"): ((0, "same"), (-1, "over-pessimistic")),
    ("MeshMetrics-0.1", "HD"): ((math.inf, "same"), (None, "same")),
    ("MeshMetrics-1.4.1", "HD95"): ((math.inf, "same"), (0, "over-optimistic")),
}


@pytest.mark.parametrize("empty", ["the test is", "the reference is", "both masks are"])
def testLeaningForEmptyMasks(empty):
    """The best score for two empty masks praises nothing; no number at all is not the same number."""
    found = table(0 * BALL if empty != "the test is" else BALL, 0 * BALL if empty != "the reference is" else BALL)
    for (tool, key), expected in FOR_EMPTY.items():
        value, leaning = expected[empty == "both masks are"]
        reported = found[tool][key]
        assert reported.leaningText == reported.toDictionary()["leaning"] == leaning, (tool, key)
        assert reported.value == value if value is not None else math.isnan(reported.value), (tool, key)
        assert (reported.leaning or "same") == leaning.replace("undefined", "same")
        assert f"{empty} empty" in reported.reason
