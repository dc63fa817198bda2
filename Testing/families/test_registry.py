"""Every entry of the registry keeps what it declares: range, symmetry, value of equal structures, empty structures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.comparison import asStructure
from SegmentMetricsLib.case.explanations import ofMeasurement
from SegmentMetricsLib.comparison.definitions import BY_MEMBERSHIPS, PARAMETERS, Asked, Empty, ofMemberships
from SegmentMetricsLib.comparison.measurements import evaluate
from SegmentMetricsLib.comparison.workspace import Workspace
from SegmentMetricsLib.families.hazard.ofpair import errorsOf
from SegmentMetricsLib.families.registry import REGISTRY, findDefinition
from SegmentMetricsLib.families.similarity.ofpair import inSlices
from SegmentMetricsLib.settings.settings import FAMILIES

SETTINGS = Settings(
    families="all", tolerances=(1.5, 2), percentiles=(50, 95), betas=(1, 0.5, 2), quantiles=(1, 0.9), oversampling=1
)
SIZE = (26, 24, 22)


def blob(seed: int):
    return shapes.imageOf(np.pad(shapes.blob(seed, (20, 18, 16), 0.3, 2.0), 3), (1, 1.5, 2))


PAIRS = {
    "boxes": (shapes.box((6, 6, 6), (15, 14, 13), SIZE), shapes.box((7, 6, 5), (15, 16, 13), SIZE)),
    "apart": (shapes.box((2, 2, 2), (5, 6, 7), SIZE), shapes.box((12, 12, 10), (17, 16, 15), SIZE)),
    "inside": (shapes.box((3, 3, 3), (20, 18, 17), SIZE), shapes.box((9, 9, 9), (11, 10, 12), SIZE)),
    "blobs": (blob(1), blob(2)),
    "contours": tuple(shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0], (1, 2)) for seed in (3, 4)),
}
EMPTY = shapes.imageOf(np.zeros(SIZE[::-1], np.uint8))


def wall(image):
    """Return a critical structure: a layer of voxels at the edge of an image, in reach of what the image shows."""
    array = np.zeros(SimpleITK.GetArrayViewFromImage(image).shape, np.uint8)
    array[..., :4] = 1
    critical = SimpleITK.GetImageFromArray(array)
    critical.CopyInformation(image)
    return {"Wall": critical}


def compareBoth(reference, test, settings=SETTINGS):
    return compare(reference, test, settings, criticals=wall(reference))


@cache
def compared(name: str, order: str):
    """Return the comparison of a pair, as "AB", "BA", "AA" or "BB"."""
    return compareBoth(*(PAIRS[name]["AB".index(letter)] for letter in order))


@cache
def comparedWithNothing(order: str):
    """Return the comparison of a box with an empty structure, as "AE" or "EA", or of two of these."""
    return compareBoth(*({"A": PAIRS["boxes"][0], "E": EMPTY}[letter] for letter in order))


@cache
def comparedOn(grid: str):
    """Return the comparison of two boxes with that setting of the grid."""
    return compareBoth(*PAIRS["boxes"], Settings(families="all", oversampling=1, grid=grid))


CHANGES = ("moved", "enlarged")


@cache
def changed(change: str, amount: int):
    """Return the comparison of a box with itself moved, or made larger on one side, by so many voxels."""
    low, high = (6, 8, 7), (17, 14, 13)
    start = low[0] + amount if change == "moved" else low[0]
    test = shapes.box((start, *low[1:]), (high[0] + amount, *high[1:]), SIZE)
    return compareBoth(shapes.box(low, high, SIZE), test)


def measured(comparison, definition):
    return {key: m for key, m in comparison.items() if findDefinition(key)[0] is definition}


@pytest.mark.parametrize("definition", REGISTRY, ids=lambda definition: definition.key)
class TestEntry:
    def testWords(self, definition):
        assert definition.family in FAMILIES
        assert definition.unit in ("mm", "mm3", "bit", "voxels", "")
        assert definition.better in ("lower", "higher", "")
        ofAreas = (definition.areaTitle, definition.areaDescription)
        # contours have areas where surfaces have volumes
        assert all(bool(text) == (definition.unit == "mm3") for text in ofAreas)
        assert not any("olume" in text or "surface" in text for text in ofAreas)
        assert isinstance(definition.empty, Empty) and definition.source and definition.description.endswith(".")
        assert definition.hint.endswith(".") and len(definition.hint) < 160
        assert not definition.dependsOnGrid or definition.family not in ("boundary", "signed", "voxel")
        assert definition.hint and definition.hint not in definition.description

    @pytest.mark.parametrize("name", PAIRS)
    def testRangeSymmetryIdentity(self, definition, name):
        there, back = (measured(compared(name, order), definition) for order in ("AB", "BA"))
        assert there and there.keys() == back.keys()
        for key, measurement in there.items():
            assert measurement.status == "undefined" or definition.low <= measurement.value <= definition.high
            assert measurement.status == "ok" or measurement.reason
            if definition.symmetric:
                assert measurement.value == pytest.approx(back[key].value, abs=1e-12, nan_ok=True)
            for order in ("AA", "BB"):
                same = compared(name, order)[key]
                if measurement.status == "undefined" == same.status:
                    continue
                assert definition.low <= same.value <= definition.high
                if definition.identity is not None:
                    assert same.value == pytest.approx(definition.identity, abs=1e-12)
                # nothing is better than being the same
                if definition.better and definition.key != "MI":
                    sign = 1 if definition.better == "lower" else -1
                    assert sign * measurement.value >= sign * same.value - 1e-12

    def testMonotonicity(self, definition):
        """The farther the test is moved, by less than half of it, or the larger it is, the worse it is."""
        for change in CHANGES:
            series = [measured(changed(change, amount), definition) for amount in range(5)]
            for key in series[0]:
                values = [found[key].value for found in series if found[key].status != "undefined"]
                assert len(values) != 1
                steps = np.diff(values) * {"lower": 1, "higher": -1, "": 0}[definition.better]
                assert (steps >= -1e-9).all(), (change, key, values)

    def testMonotonicityInItsParameter(self, definition):
        """Larger tolerances and percentiles change a value the way that the entry declares."""
        names = [name for name in PARAMETERS if f"{{{name}}}" in definition.key]
        assert bool(names) == bool(definition.trend) and definition.trend in ("", "rising", "falling", "any")
        for name in PAIRS if definition.trend in ("rising", "falling") else ():
            found = measured(compared(name, "AB"), definition)
            ordered = sorted(found, key=lambda key: float(next(iter(findDefinition(key)[1].values()))))
            values = [found[key].value for key in ordered if found[key].status != "undefined"]
            assert len(ordered) > 1
            assert (np.diff(values) * (1 if definition.trend == "rising" else -1) >= -1e-12).all()

    def testEmpty(self, definition):
        for order in ("AE", "EA"):
            for measurement in measured(comparedWithNothing(order), definition).values():
                if definition.empty in (Empty.ZERO, Empty.ONE):
                    assert measurement.value == (definition.empty == Empty.ONE)
                elif definition.empty in (Empty.INFINITE, Empty.SIGNED):
                    assert measurement.status == "infinite"
                else:
                    assert measurement.status == "undefined" or definition.low <= measurement.value <= definition.high
                assert measurement.status == "ok" or measurement.reason
        if definition.empty != Empty.COMPUTED:
            for measurement in measured(comparedWithNothing("EE"), definition).values():
                assert measurement.status == "undefined" and measurement.reason == "both structures are empty"

    def testGrid(self, definition):
        """What depends on the grid changes with it, nothing else does."""
        for key, measurement in measured(comparedOn("reference"), definition).items():
            assert (measurement.value != comparedOn("union")[key].value) == definition.dependsOnGrid


def testHintsAreExplained():
    assert "fix the evaluated grid" in ofMeasurement(compared("boxes", "AB")["ACC"])


def testKeysOfParameters():
    keys = list(compared("boxes", "AB"))
    assert [key for key in keys if key.startswith(("FMS", "HDvox"))] == [
        "FMS", "FMS_0.5", "FMS_2", "HDvox", "HDvox_0.9",
    ]  # fmt: skip
    assert compared("boxes", "AB")["HDvox_0.9"].title == "Hausdorff distance of voxels, quantile 0.9"
    assert findDefinition("FMS")[1] == {"beta": "1"} and findDefinition("FMS_0.5")[1] == {"beta": "0.5"}


def testBoundsThatLookTheSameAreOneNumber():
    """In the tool tip of a measurement."""
    measurement = replace(compared("boxes", "AB")["HD"], value=2.0, lower=1.99998, upper=2.00001)
    assert "Here: 2.0000 mm." in ofMeasurement(measurement)
    assert "Here: between 1.9000 and 2.0000 mm." in ofMeasurement(replace(measurement, lower=1.9))


# all but volumes, which are those of surfaces and of whole voxels
OF_MEMBERSHIPS = [d for d in REGISTRY if d.family in BY_MEMBERSHIPS and d.unit != "mm3"]


@pytest.mark.parametrize("definition", OF_MEMBERSHIPS, ids=lambda definition: definition.key)
def testMembershipsCountInPart(definition):
    """No entry of the families that count memberships looks at whole voxels, unless a threshold asks for that."""
    j, i = np.mgrid[:20, :20]
    images = [shapes.imageOf(np.clip(1.3 - np.hypot(i - x, j - 9)[None] / r, 0, 1)) for x, r in ((9, 6), (11, 9))]
    fuzzy, crisp = (
        Workspace(*(asStructure(image, "image", None, settings) for image in images), settings)
        for settings in (Settings(), Settings(threshold=0.5))
    )
    for parameter in definition.parameters(Settings()):
        weighted, whole = (definition.compute(pair, **parameter) for pair in (fuzzy, crisp))
        assert weighted != pytest.approx(whole, abs=1e-6)
    assert (Workspace.crispCounts.fget,) not in fuzzy._done
    assert definition.emptiness is ofMemberships


@pytest.mark.parametrize("definition", REGISTRY, ids=lambda definition: definition.key)
def testWhatAnEntryNeedsIsDeclared(definition):
    """Findings and results go by that, whatever was computed on the way."""
    settings = Settings(families="all")
    images = shapes.ball(6), shapes.ball(5, (1, 0, 0)), shapes.ball(3, (0, 9, 0))
    reference, test, critical = (asStructure(image, "image", None, settings) for image in images)
    pair = Workspace(reference, test, settings, {"Cord": critical})
    evaluate(pair, [Asked(definition, next(definition.parameters(settings)))])
    computed = {key[0] for key in pair._done}
    pair.plan(definition.needs)
    assert (pair.plannedDistances is not None) == (Workspace.distances.fget in computed)
    assert pair.areVoxelsCounted == bool({Workspace.crispCounts.fget, Workspace.masks.fget} & computed)
    for quantity in (inSlices, errorsOf):
        assert (pair.planned(quantity) is not None) == (quantity in computed)
