"""Which settings matter to which families of metrics, by what they do to the numbers."""

from __future__ import annotations

import pytest
import SimpleITK

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.metrics.registry import FAMILIES, REGISTRY
from SegmentMetricsLib.show.explanations import familiesUsing, ofFamily, ofSetting

# two balls of different place and size, and one nearby that is critical
SIZE, SPACING = (20, 18, 16), (1.5, 1.8, 3.0)
# setting -> another value than the default
OTHERS = {
    "percentiles": (70,), "tolerances": (1.0,), "betas": (2,), "quantiles": (0.5,), "convention": "Plastimatch",
    "grid": "union", "voxelUnit": "voxel", "critical": "Far", "hazardKernel": "exponential", "hazardReach": 30.0,
    "hazardPower": 1.0, "hazardBalance": 0.2, "hazardTail": 0.5, "il": 5.0, "ol": 5.0, "asPublished": True,
    "msiUnit": "pixel", "lesionMinimum": 1e6, "panopticOverlap": 0.9, "dosePercents": 10, "doseVolumes": 1,
    "doseLevels": 25,
}  # fmt: skip


def ball(center, radius) -> SimpleITK.Image:
    parts = [SimpleITK.PhysicalPointSource(SimpleITK.sitkVectorFloat64, SIZE, (0, 0, 0), SPACING)]
    squares = [
        (SimpleITK.VectorIndexSelectionCast(parts[0], axis) - float(middle)) ** 2 for axis, middle in enumerate(center)
    ]
    return SimpleITK.Cast(squares[0] + squares[1] + squares[2] <= radius**2, SimpleITK.sitkUInt8)


def dose() -> SimpleITK.Image:
    """Return a dose that rises along the first axis, from 20 Gy on."""
    places = SimpleITK.PhysicalPointSource(SimpleITK.sitkVectorFloat64, SIZE, (0, 0, 0), SPACING)
    return SimpleITK.VectorIndexSelectionCast(places, 0) + 20.0


def measured(**changes) -> dict[str, dict]:
    """Return the values of every family's measurements by key, sorted by what does not depend on the keys' words."""
    criticals = {"Near": ball((23, 12, 22), 4), "Far": ball((4, 25, 40), 4)}
    settings = Settings(**{"families": ("all", "dose"), "critical": "Near", "doseLevels": 30, **changes})
    comparison = compare(ball((12, 13, 20), 8.3), ball((13.5, 12, 21), 9.1), settings, criticals=criticals, dose=dose())
    result: dict[str, dict] = {}
    for key, measurement in comparison.items():
        result.setdefault(measurement.family, {})[key] = measurement.value
    return result


@pytest.fixture(scope="module")
def usual() -> dict[str, dict]:
    return measured()


@pytest.mark.parametrize("setting", OTHERS)
def testSettingChangesTheFamiliesThatUseItAndNoOthers(setting, usual):
    other = measured(**{setting: OTHERS[setting]})
    # which triangles are cut once more depends on all that is measured: less than the bounds say
    changed = {family for family in usual if other[family] != pytest.approx(usual[family], rel=1e-3, nan_ok=True)}
    assert changed == familiesUsing(setting)


@pytest.mark.parametrize(
    ("kernel", "setting", "values"),
    [("exponential", "hazardDecay", (8.0, 20.0)), ("dose", "prescription", (30.0, 60.0))],
)
def testWhatMattersToOneKernelOnly(kernel, setting, values):
    usual, other = (measured(hazardKernel=kernel, **{setting: value}) for value in values)
    assert {family for family in usual if other[family] != usual[family]} == familiesUsing(setting)


def testExplanationsNameWhatTheyAreAbout():
    """Families their measurements, and settings those that use them."""
    letters = {"percentile": "95", "tolerance": "τ", "dosePercent": "2", "doseVolume": "0.03", "doseLevel": "20"}
    for family in FAMILIES:
        keys = (ofFamily(family) + "\n").split("\n")[1].split(", ")  # the per-slice profile has no keys
        for definition in REGISTRY:
            assert (definition.keyFor(letters).replace("_", " ") in keys) == (definition.family == family)
    names = ("NSD", "BIoU", "OverFraction", "UnderFraction", "APL", "RelativeAPL")
    assert ofSetting("tolerances").endswith(f"Used by {', '.join(f'{name} τmm' for name in names)}.")
