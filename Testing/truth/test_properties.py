"""What holds for every pair and all settings, tried on random ones: ranges, bounds, symmetry, identity, order.

What a measurement promises is read from the registry, so that a new one is tried without a word here. See strategies.py
for a long search.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import SimpleITK
import strategies as some
from hypothesis import event, given
from hypothesis import strategies as st

from SegmentMetricsLib import Measurement, compare
from SegmentMetricsLib.families.registry import findDefinition, restored
from SegmentMetricsLib.geometry.surfaces import toPolyData

pytestmark = pytest.mark.usefixtures("coarse")

# What rounding may change, mm or share; percentiles are looked for that closely.
ROUNDING = 1e-6
# Measurements that take each other's place when reference and test are exchanged.
EXCHANGED = [
    ("TPR", "PPV"), ("VolumeReference", "VolumeTest"), ("VoxelVolumeReference", "VoxelVolumeTest"),
    ("OverVolume", "UnderVolume"), ("OverMax", "UnderMax"), ("OverFraction_", "UnderFraction_"),
]  # fmt: skip
# Those that change their sign.
TURNED = ("SignedMean", "VolumeDifference", "CentroidShiftR", "CentroidShiftA", "CentroidShiftS")


@st.composite
def pairs(draw):
    """Reference, test and critical structures of every kind that compare() takes: two of one kind, or mask and mesh."""
    kind = draw(st.sampled_from(["masks", "masks", "slices", "meshes", "mask and mesh", "contours"]))
    event(kind)
    if kind == "meshes":
        reference, test, critical = (toPolyData(draw(some.meshes())) for _ in range(3))
        return reference, test, critical
    planar = kind in ("slices", "contours")
    images = draw(some.pairsOfMasks(some.spacedPlacements() if planar else some.placements(), 7, planar)).images()
    if kind == "contours":
        return tuple(map(some.meshOf, images))
    if kind == "mask and mesh":
        which = draw(st.sampled_from([0, 1]))
        images[which] = some.meshOf(images[which])
    return tuple(images)


def compared(pair, settings):
    reference, test, critical = pair
    if not all(isinstance(one, SimpleITK.Image) for one in pair):
        settings = settings.changed(oversampling=None)  # the fine grid for meshes has a million voxels, times that
    return compare(reference, test, settings, criticals={"Wall": critical})


def requireSound(key: str, measurement: Measurement) -> None:
    """What every measurement keeps, whatever was compared."""
    definition, _ = findDefinition(key)
    value = measurement.value
    assert measurement.status == ("undefined" if math.isnan(value) else "infinite" if math.isinf(value) else "ok")
    assert measurement.status == "ok" or measurement.reason.strip()
    if measurement.status != "undefined":
        assert definition.low <= value <= definition.high
    for directed in (measurement.referenceToTest, measurement.testToReference):
        assert directed is None or definition.low <= directed <= definition.high
    assert (measurement.lower is None) == (measurement.upper is None)
    if measurement.lower is not None:
        assert definition.low <= measurement.lower <= value <= measurement.upper <= definition.high
    if measurement.position is not None:
        assert np.isfinite(measurement.position).all()
    plain = json.loads(json.dumps(measurement.toDictionary(), allow_nan=False))
    assert restored(key, plain).toDictionary() == measurement.toDictionary()


@given(pairs(), some.settings())
def testRangesAndBounds(pair, settings):
    for key, measurement in compared(pair, settings).items():
        requireSound(key, measurement)


def exchanged(key: str) -> str:
    for one, other in EXCHANGED:
        for mine, its in ((one, other), (other, one)):
            if key == mine or (mine.endswith("_") and key.startswith(mine)):
                return key.replace(mine, its)
    return key


@given(pairs(), some.settings())
def testExchangingReferenceAndTest(pair, settings):
    there, back = compared(pair, settings), compared((pair[1], pair[0], pair[2]), settings)
    assert there.keys() == back.keys()
    for key, measurement in there.items():
        definition, _ = findDefinition(key)
        if definition.dependsOnGrid and settings.grid == "reference":
            continue  # the image is another one where only one of the two has one
        if definition.symmetric or exchanged(key) != key or key in TURNED:
            counterpart = back[exchanged(key)]
            sign = -1 if key in TURNED else 1
            expected = pytest.approx(sign * counterpart.value, rel=ROUNDING, abs=ROUNDING, nan_ok=True)
            assert measurement.value == expected, key
        if definition.symmetric and measurement.referenceToTest is not None:
            assert measurement.referenceToTest == pytest.approx(back[key].testToReference, abs=ROUNDING), key


@given(pairs(), some.settings(asPublished=False))
def testNothingIsBetterThanTheSame(pair, settings):
    """But for the similarity index as published: its authors' formula gives single pixels and lines a score of 0."""
    reference, _, critical = pair
    same, other = compared((reference, reference, critical), settings), compared(pair, settings)
    for key, measurement in same.items():
        definition, _ = findDefinition(key)
        if definition.identity is not None and measurement.status != "undefined":
            assert measurement.value == pytest.approx(definition.identity, abs=ROUNDING), key
            value = other[key].value
            if definition.better and not math.isnan(value):
                sign = 1 if definition.better == "lower" else -1
                assert sign * value >= sign * definition.identity - ROUNDING, key


@given(pairs(), some.settings())
def testTrendInTheParameter(pair, settings):
    """Larger tolerances, percentiles and quantiles change a value the way that its entry declares."""
    found = {}
    for key, measurement in compared(pair, settings).items():
        definition, words = findDefinition(key)
        if definition.trend in ("rising", "falling") and measurement.status != "undefined":
            found.setdefault(definition, []).append((float(next(iter(words.values()))), measurement.value))
    for definition, series in found.items():
        steps = np.diff([value for _, value in sorted(series)])
        assert (steps * (1 if definition.trend == "rising" else -1) >= -ROUNDING).all(), (definition.key, series)


def bounded(measurement: Measurement) -> tuple[float, float]:
    """Return what the true value lies between, as far as that is known."""
    if measurement.lower is None:
        return measurement.value, measurement.value
    return measurement.lower, measurement.upper


@given(pairs(), some.settings(betas=(1.0,), quantiles=(0.5, 1.0)))
def testWhichIsAtMostWhich(pair, settings):
    comparison = compared(pair, settings)
    percentiles = [key for key in comparison if findDefinition(key)[0].key == "HD{percentile}"]
    order = [(key, "HD") for key in (*percentiles, "MASD", "ASSD", "OverMax", "UnderMax")]
    order += [("AVD", "HDvox"), ("HDvox_0.5", "HDvox"), ("IoU", "DSC"), ("DSC", "TPR or PPV"), ("MSI", "MSIPaired")]
    for side in "RLAPSI":
        order += [(f"Min{side}", f"Mean{side}"), (f"Mean{side}", f"Max{side}"), (f"Max{side}", "OverMax")]
    for lower, higher in order:
        each = [comparison[key] for key in (lower, *higher.split(" or "))]
        if all(one.status == "ok" for one in each):
            least = bounded(each[0])[0]
            most = max(bounded(one)[1] for one in each[1:])
            assert least <= most + ROUNDING, (lower, higher, least, most)


@given(pairs(), some.settings(betas=(1.0,)))
def testWhatAddsUp(pair, settings):
    comparison = compared(pair, settings)
    values = {key: m.value for key, m in comparison.items() if m.status == "ok"}
    sums = {
        "DSC": lambda v: 2 * v["IoU"] / (1 + v["IoU"]),
        "FMS": lambda v: v["DSC"],
        "FNR": lambda v: 1 - v["TPR"],
        "FPR": lambda v: 1 - v["TNR"],
        "AUC": lambda v: (v["TPR"] + v["TNR"]) / 2,
        "VolumeDifference": lambda v: v["VolumeTest"] - v["VolumeReference"],
    }
    if comparison.grid is not None and not all(
        s.dimension == 2 and s.mask is None for s in comparisonSides(comparison)
    ):
        # between contours in a plane the area is known without pixels
        sums["OverVolume"] = lambda v: v["UnderVolume"] + v["VoxelVolumeTest"] - v["VoxelVolumeReference"]
    for key, function in sums.items():
        try:
            expected = function(values)
        except KeyError:
            continue  # undefined for this pair
        if key in values:
            assert values[key] == pytest.approx(expected, rel=ROUNDING, abs=1e-6), key
    if "OverMax" in values:
        error = max(high - low for low, high in (bounded(comparison[key]) for key in ("HD", "OverMax", "UnderMax")))
        assert max(values["OverMax"], values["UnderMax"]) == pytest.approx(values["HD"], abs=error + 1e-6)
        for tolerance in settings.tolerances:
            parts = [comparison[f"{name}_{tolerance:g}mm"] for name in ("NSD", "OverFraction", "UnderFraction")]
            error = sum(high - low for low, high in map(bounded, parts))
            assert sum(part.value for part in parts) == pytest.approx(1, abs=error + ROUNDING)


def comparisonSides(comparison):
    return comparison.reference, comparison.test
