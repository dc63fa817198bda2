"""Which settings matter to which families of metrics, by what they do to the numbers."""

from __future__ import annotations

import pytest
import SimpleITK

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.relevance import familiesUsing, isRelevant
from SegmentMetricsLib.settings.settings import FAMILIES

# two balls of different place and size, and one nearby that is critical
SIZE, SPACING = (30, 26, 24), (1.0, 1.2, 2.0)
# setting -> field of Settings and another value than the default
OTHERS = {
    "percentile": ("percentiles", (70,)),
    "tolerance": ("tolerances", (1.0,)),
    "beta": ("betas", (2,)),
    "quantile": ("quantiles", (0.5,)),
    "convention": ("convention", "Plastimatch"),
    "subdivisions": ("subdivisions", 0),
    "oversampling": ("oversampling", 1),
    "grid": ("grid", "union"),
    "voxelUnit": ("voxelUnit", "voxel"),
    "critical": ("critical", "Far"),
    "hazardKernel": ("hazardKernel", "exponential"),
    "hazardReach": ("hazardReach", 30.0),
    "il": ("il", 5.0),
    "ol": ("ol", 5.0),
}


def ball(center, radius) -> SimpleITK.Image:
    parts = [SimpleITK.PhysicalPointSource(SimpleITK.sitkVectorFloat64, SIZE, (0, 0, 0), SPACING)]
    squares = [
        (SimpleITK.VectorIndexSelectionCast(parts[0], axis) - float(middle)) ** 2 for axis, middle in enumerate(center)
    ]
    return SimpleITK.Cast(squares[0] + squares[1] + squares[2] <= radius**2, SimpleITK.sitkUInt8)


def measured(**changes) -> dict[str, dict]:
    """Return the values of every family's measurements by key, sorted by what does not depend on the keys' words."""
    criticals = {"Near": ball((23, 12, 22), 4), "Far": ball((4, 25, 40), 4)}
    settings = Settings(**{"families": "all", "critical": "Near", **changes})
    comparison = compare(ball((12, 13, 20), 8.3), ball((13.5, 12, 21), 9.1), settings, criticals=criticals)
    result: dict[str, dict] = {}
    for key, measurement in comparison.items():
        result.setdefault(measurement.family, {})[key] = measurement.value
    return result


@pytest.fixture(scope="module")
def usual() -> dict[str, dict]:
    return measured()


@pytest.mark.parametrize("setting", OTHERS)
def testSettingChangesTheFamiliesThatUseItAndNoOthers(setting, usual):
    name, value = OTHERS[setting]
    other = measured(**{name: value})
    changed = {family for family in usual if other[family] != usual[family]}
    assert changed == familiesUsing(setting) == familiesUsing(name)


def testDecayMattersToTheExponentialKernelOnly():
    usual, other = (measured(hazardKernel="exponential", hazardDecay=decay) for decay in (8.0, 20.0))
    assert {family for family in usual if other[family] != usual[family]} == familiesUsing("hazardDecay")


def testUnknownSetting():
    assert isRelevant("grid", ["agreement"]) and not isRelevant("grid", ["boundary"])
    assert familiesUsing("quantile") <= set(FAMILIES)
    with pytest.raises(KeyError):
        isRelevant("color", FAMILIES)
