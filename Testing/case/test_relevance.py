"""Which settings matter to which families of metrics, by what they do to the numbers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.metrics.registry import FAMILIES, REGISTRY
from SegmentMetricsLib.show.explanations import familiesUsing, ofFamily, ofSetting

pytestmark = pytest.mark.usefixtures("coarse")
# two balls of different place and size, and one nearby that is critical
SIZE, SPACING = (20, 18, 16), (1.5, 1.8, 3.0)
# setting -> another value than the default
OTHERS = {
    "percentiles": (70,),
    "tolerances": (1.0,),
    "betas": (2,),
    "quantiles": (0.5,),
    "convention": "Plastimatch",
    "grid": "union",
    "voxelUnit": "voxel",
    "critical": "Far",
    "hazardKernel": "exponential",
    "hazardReach": 30.0,
    "hazardPower": 1.0,
    "hazardBalance": 0.2,
    "hazardTail": 0.5,
    "il": 5.0,
    "ol": 5.0,
    "asPublished": True,
    "msiUnit": "pixel",
    "lesionMinimum": 1e6,
    "panopticOverlap": 0.9,
    "dosePercents": 10,
    "doseVolumes": 1,
    "doseLevels": 25,
}
# each matters to the same families as one that stays
ALIKE = ("ol", "hazardReach", "hazardPower", "hazardBalance", "dosePercents", "doseVolumes", "quantiles", "msiUnit")

ball = partial(shapes.ball, spacing=SPACING, origin=(0, 0, 0), size=SIZE)


def dose():
    """Return a dose that rises along the first axis, from 20 Gy on."""
    return shapes.imageOf(20 + SPACING[0] * np.indices(SIZE[::-1])[2], SPACING)


def measured(**changes) -> dict[str, dict]:
    """Return the values of every family's measurements by key, sorted by what does not depend on the keys' words."""
    criticals = {"Near": ball(4, (23, 12, 22)), "Far": ball(4, (4, 25, 40))}
    settings = Settings(**{"families": ("all", "dose"), "critical": "Near", "doseLevels": 30, **changes})
    comparison = compare(ball(8.3, (12, 13, 20)), ball(9.1, (13.5, 12, 21)), settings, criticals=criticals, dose=dose())
    result: dict[str, dict] = {}
    for key, measurement in comparison.items():
        result.setdefault(measurement.family, {})[key] = measurement.value
    return result


@pytest.fixture(scope="module")
def usual() -> dict[str, dict]:
    return measured()


@pytest.mark.parametrize("setting", [*(one for one in OTHERS if one not in ALIKE), *rarely(ALIKE)])
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
