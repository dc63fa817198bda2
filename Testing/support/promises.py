"""What every measurement keeps, whatever is compared; most of it is read from its entry in the registry."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from SegmentMetricsLib import Measurement
from SegmentMetricsLib.metrics.registry import findMetric, restore

# What rounding may change, mm or share; percentiles are looked for that closely.
ROUNDING = 1e-6
# Measurements that take each other's place when reference and test are exchanged.
EXCHANGED = [
    ("TPR", "PPV"),
    ("VolumeReference", "VolumeTest"),
    ("VoxelVolumeReference", "VoxelVolumeTest"),
    ("OverVolume", "UnderVolume"),
    ("OverMax", "UnderMax"),
    ("OverFraction_", "UnderFraction_"),
    ("LesionsReference", "LesionsTest"),
    ("LesionsMissed", "LesionsInvented"),
    ("LesionsSplit", "LesionsMerged"),
    ("LesionSensitivity", "LesionPrecision"),
    ("Tprec", "Tsens"),
    ("Gaps", "Spurs"),
    ("GapLength", "SpurLength"),
    ("DmeanOver", "DmeanUnder"),
    ("DmaxOver", "DmaxUnder"),
]
# Those that change their sign.
TURNED = ("SignedMean", "VolumeDifference", "CentroidShiftR", "CentroidShiftA", "CentroidShiftS")
# The end of what two structures have of a dose, each by itself.
OF_ONE = ("Reference", "Test")
# What a structure has by itself; two equal ones have it, too.
SIZES = (
    *("VolumeReference", "VolumeTest", "VoxelVolumeReference", "VoxelVolumeTest", "MI", "TP", "TN"),
    *("LesionsReference", "LesionsTest", "LesionsFound"),
)


def requireSound(key: str, measurement: Measurement) -> None:
    """Require status, reason, range, bounds and what is stored to go together."""
    definition = findMetric(key).metric
    value = measurement.value
    assert measurement.status == ("undefined" if math.isnan(value) else "infinite" if math.isinf(value) else "ok")
    assert measurement.status == "ok" or measurement.reason.strip()
    if measurement.status != "undefined":
        assert definition.low <= value <= definition.high, key
    for directed in (measurement.referenceToTest, measurement.testToReference):
        assert directed is None or definition.low <= directed <= definition.high
    assert (measurement.lower is None) == (measurement.upper is None)
    if measurement.lower is not None:
        assert definition.low <= measurement.lower <= value <= measurement.upper <= definition.high
    if measurement.position is not None:
        assert np.isfinite(measurement.position).all()
    plain = json.loads(json.dumps(measurement.toDictionary(), allow_nan=False))
    assert restore(key, plain).toDictionary() == measurement.toDictionary()


def isOfDose(key: str) -> bool:
    return findMetric(key).metric.family == "dose"


def exchanged(key: str) -> str:
    """Return the key of the measurement that takes the place of another one."""
    if isOfDose(key):
        for mine, its in (OF_ONE, OF_ONE[::-1]):
            if key.endswith(mine):
                return key.removesuffix(mine) + its
    for one, other in EXCHANGED:
        for mine, its in ((one, other), (other, one)):
            if key == mine or (mine.endswith("_") and key.startswith(mine)):
                return key.replace(mine, its)
    return key


def requireSymmetry(key: str, forward, reverse, error: float = ROUNDING) -> None:
    """Require a measurement of two comparisons, one with reference and test exchanged, to tell the same."""
    definition = findMetric(key).metric
    measurement = forward[key]
    isTurned = key in TURNED or (isOfDose(key) and key.endswith("Difference"))
    if definition.symmetric or exchanged(key) != key or isTurned:
        sign = -1 if isTurned else 1
        expected = pytest.approx(sign * reverse[exchanged(key)].value, rel=error, abs=error, nan_ok=True)
        assert measurement.value == expected, key
    if definition.symmetric and measurement.referenceToTest is not None:
        assert measurement.referenceToTest == pytest.approx(reverse[key].testToReference, abs=error), key


def requireIdentity(key: str, same, other, error: float = ROUNDING) -> None:
    """Require the value that equal structures have, and that nothing is better than that."""
    definition = findMetric(key).metric
    measurement = same[key]
    if definition.identity is None or measurement.status == "undefined":
        return
    assert measurement.value == pytest.approx(definition.identity, abs=error), key
    value = other[key].value
    if definition.better and not math.isnan(value):
        sign = 1 if definition.better == "lower" else -1
        assert sign * value >= sign * definition.identity - error, key


def requireNoDifference(key: str, measurement: Measurement) -> None:
    """Require what identical structures have to the last digit, in both directions: 0 or 1, and never -0."""
    if key in SIZES or (isOfDose(key) and key.endswith(OF_ONE)) or measurement.status != "ok":
        return
    identity = findMetric(key).metric.identity
    best = identity if identity is not None else int(measurement.better == "higher")
    for value in (measurement.value, measurement.referenceToTest, measurement.testToReference):
        assert value is None or (value == best and not np.signbit(value)), (key, measurement)


def requireTrend(definition, found: dict[str, Measurement], error: float = ROUNDING) -> None:
    """Require larger tolerances, percentiles and quantiles to change a value the way that its entry declares."""
    if definition.trend in ("rising", "falling"):
        ordered = sorted(found, key=lambda key: float(next(iter(findMetric(key).parameters.values()))))
        values = [found[key].value for key in ordered if found[key].status != "undefined"]
        assert (np.diff(values) * (1 if definition.trend == "rising" else -1) >= -error).all(), (definition.key, values)


def bounded(measurement: Measurement) -> tuple[float, float]:
    """Return what the true value lies between, as far as that is known."""
    if measurement.lower is None:
        return measurement.value, measurement.value
    return measurement.lower, measurement.upper


def requireOrder(comparison) -> None:
    """Require measurements that are never larger than others to be so."""
    percentiles = [key for key in comparison if findMetric(key).metric.key == "HD{percentile}"]
    quantiles = [key for key in comparison if key.startswith("HDvox_")]
    order = [(key, "HD") for key in (*percentiles, "MASD", "ASSD", "OverMax", "UnderMax")]
    order += [("AVD", "HDvox"), *((key, "HDvox") for key in quantiles)]
    order += [("IoU", "DSC"), ("DSC", "TPR or PPV"), ("MSI", "MSIPaired")]
    for side in "RLAPSI":
        order += [(f"Min{side}", f"Mean{side}"), (f"Mean{side}", f"Max{side}"), (f"Max{side}", "OverMax")]
    for lower, higher in order:
        each = [comparison[key] for key in (lower, *higher.split(" or "))]
        if all(one.status == "ok" for one in each):
            least = bounded(each[0])[0]
            most = max(bounded(one)[1] for one in each[1:])
            assert least <= most + ROUNDING, (lower, higher, least, most)


def requireSums(comparison) -> None:
    """Require what follows from other measurements to follow from them."""
    values = {key: m.value for key, m in comparison.items() if m.status == "ok"}
    sums = {
        "DSC": lambda v: 2 * v["IoU"] / (1 + v["IoU"]),
        "FMS": lambda v: v["DSC"],
        "FNR": lambda v: 1 - v["TPR"],
        "FPR": lambda v: 1 - v["TNR"],
        "AUC": lambda v: (v["TPR"] + v["TNR"]) / 2,
        "VolumeDifference": lambda v: v["VolumeTest"] - v["VolumeReference"],
    }
    sides = comparison.reference, comparison.test
    if comparison.grid is not None and not all(side.dimension == 2 and side.mask is None for side in sides):
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
        for tolerance in comparison.settings.tolerances:
            parts = [comparison[f"{name}_{tolerance:g}mm"] for name in ("NSD", "OverFraction", "UnderFraction")]
            error = sum(high - low for low, high in map(bounded, parts))
            assert sum(part.value for part in parts) == pytest.approx(1, abs=error + ROUNDING)
