"""Every entry of the registry keeps what it declares, on a dozen pairs, and on empty and ever worse ones."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from dataclasses import replace
from functools import cache

import numpy as np
import promises
import pytest
import shapes
from sharedpairs import NAMES, changed, compared, pairs
from tiers import rarely, throughout

from SegmentMetricsLib import Settings, metrics
from SegmentMetricsLib.case.given import asStructure
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics.measurement import measure
from SegmentMetricsLib.metrics.metric import PARAMETERS, Empty
from SegmentMetricsLib.metrics.pair import Pair
from SegmentMetricsLib.metrics.registry import FAMILIES, MULTI_LABEL, REGISTRY, findMetric
from SegmentMetricsLib.show.explanations import ofMeasurement

pytestmark = pytest.mark.usefixtures("coarse")


def measured(comparison, definition):
    return {key: m for key, m in comparison.items() if findMetric(key).metric is definition}


def errorOf(name: str) -> float:
    """Return by how much two ways to the same value may differ: of counts only by rounding."""
    return 1e-12 if pairs()[name].isExact else promises.ROUNDING


@throughout("definition", REGISTRY, lambda definition: definition.key)
class TestEntry:
    def testWords(self, definition):
        assert definition.family in FAMILIES
        assert definition.unit in ("mm", "mm3", "cm3", "Gy", "bit", "voxels", "")
        assert definition.better in ("lower", "higher", "")
        ofAreas = (definition.areaTitle, definition.areaDescription)
        # contours have areas where surfaces have volumes
        assert all(bool(text) == (definition.unit == "mm3") for text in ofAreas)
        assert not any("olume" in text or "surface" in text for text in ofAreas)
        assert isinstance(definition.empty, Empty) and definition.source and definition.description.endswith(".")
        assert definition.hint.endswith(".") and len(definition.hint) < 160
        assert not definition.dependsOnGrid or definition.family not in ("boundary", "signed", "voxel")
        assert definition.hint and definition.hint not in definition.description

    def testSymmetry(self, definition):
        for name in NAMES:
            forward, reverse = compared(name), compared(name, "BA")
            assert forward.keys() == reverse.keys() and measured(forward, definition)
            if pairs()[name].isExact or not definition.dependsOnGrid:  # the image of one alone is another one
                for key in measured(forward, definition):
                    promises.requireSymmetry(key, forward, reverse, max(errorOf(name), 1e-11))

    def testMonotonicity(self, definition):
        """The farther the test is moved, by less than half of it, or the larger it is, the worse it is."""
        for change in ("moved", "enlarged"):
            series = [measured(changed(change, amount), definition) for amount in (0, 1, 4)]
            for key in series[0]:
                values = [found[key].value for found in series if found[key].status != "undefined"]
                assert len(values) != 1
                steps = np.diff(values) * {"lower": 1, "higher": -1, "": 0}[definition.better]
                assert (steps >= -1e-9).all(), (change, key, values)

    def testMonotonicityInItsParameter(self, definition):
        names = [name for name in PARAMETERS if f"{{{name}}}" in definition.key]
        assert bool(names) == bool(definition.trend) and definition.trend in ("", "rising", "falling", "any")
        for name in NAMES if definition.trend in ("rising", "falling") else ():
            found = measured(compared(name), definition)
            assert len(found) > 1
            promises.requireTrend(definition, found, errorOf(name))

    def testEmpty(self, definition):
        for order in ("AE", "EA"):
            for key, measurement in measured(compared("boxes", order), definition).items():
                promises.requireSound(key, measurement)
                if definition.empty in (Empty.ZERO, Empty.ONE):
                    assert measurement.value == (definition.empty == Empty.ONE)
                elif definition.empty in (Empty.INFINITE, Empty.SIGNED):
                    assert measurement.status == "infinite"
        if definition.empty != Empty.COMPUTED:
            for measurement in measured(compared("boxes", "EE"), definition).values():
                assert measurement.status == "undefined" and measurement.empty == measurement.reason != ""

    def testGrid(self, definition):
        """What depends on the grid changes with it, nothing else does."""
        for key, measurement in measured(compared("boxes"), definition).items():
            assert (measurement.value != compared("boxes", variant="union")[key].value) == definition.dependsOnGrid


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variant", ["usual", *rarely(["other"])])
def testWhatFollowsFromOthers(name, variant):
    """However it is measured, and equal structures do not differ."""
    itself = "BB" if name == "mask and mesh" else "AA"  # its reference is one of the grids
    comparison, same = compared(name, "AB", variant), compared(name, itself, variant)
    promises.requireOrder(comparison)
    promises.requireSums(comparison)
    for key, measurement in comparison.items():
        promises.requireSound(key, measurement)
        promises.requireIdentity(key, same, comparison, errorOf(name))
        if pairs()[name].isExact:
            promises.requireNoDifference(key, same[key])


def testKeysOfParameters():
    keys = list(compared("boxes"))
    expected = ["FMS", "FMS_0.5", "FMS_2", "HDvox", "HDvox_0.9"]
    assert [key for key in keys if key.startswith(("FMS", "HDvox"))] == expected
    assert compared("boxes")["HDvox_0.9"].title == "Hausdorff distance of voxels, quantile 0.9"
    assert findMetric("FMS").words == {"beta": "1"} and findMetric("FMS_0.5").words == {"beta": "0.5"}


def testToolTips():
    """They say the hint, and bounds that look the same are one number."""
    hint = findMetric("ACC").metric.hint
    assert hint and hint in ofMeasurement(compared("boxes")["ACC"])
    measurement = replace(compared("boxes")["HD"], value=2.0, lower=1.99998, upper=2.00001)
    assert "Here: 2.0000 mm." in ofMeasurement(measurement)
    assert "Here: between 1.9000 and 2.0000 mm." in ofMeasurement(replace(measurement, lower=1.9))


# all but volumes, which are those of surfaces and of whole voxels
OF_MEMBERSHIPS = [d for d in REGISTRY if d.family in ("overlap", "agreement") and d.unit != "mm3"]


@throughout("definition", OF_MEMBERSHIPS, lambda definition: definition.key)
def testMembershipsCountInPart(definition):
    """No entry of the families that count memberships looks at whole voxels, unless a threshold asks for that."""
    j, i = np.mgrid[:20, :20]
    images = [shapes.imageOf(np.clip(1.3 - np.hypot(i - x, j - 9)[None] / r, 0, 1)) for x, r in ((9, 6), (11, 9))]
    fuzzy, crisp = (
        Pair(*(asStructure(image, "image", None, settings) for image in images), settings)
        for settings in (Settings(), Settings(threshold=0.5))
    )
    for one in definition.ask(Settings()):
        given = {**definition.given, **one.parameters}
        weighted, whole = (pair.call(definition.function, given) for pair in (fuzzy, crisp))
        assert weighted != pytest.approx(whole, abs=1e-6)
    assert "crispCounts" not in vars(fuzzy) and definition.emptiness == "emptinessOfMemberships"


@cache
def balls():
    images = shapes.ball(6), shapes.ball(5, (1, 0, 0)), shapes.ball(3, (0, 9, 0))
    return [asStructure(image, "image", None, Settings()) for image in images]


@throughout("definition", REGISTRY, lambda definition: definition.key)
def testWhatAnEntryNeedsIsDeclared(definition):
    """Findings and results go by that, whatever was computed on the way."""
    reference, test, critical = balls()
    settings = Settings(families=("all", "dose"), doseLevels=(20,))
    pair = Pair(reference, test, settings, {"Cord": critical})
    measure(pair, definition.ask(settings)[0])
    computed = {*vars(pair), *(key[0] for key in pair._done)}
    pair.needed.update(definition.needs)
    assert (pair.findIfNeeded("distances", "signedDistances") is not None) == ("distances" in computed)
    assert pair.areVoxelsCounted == bool({"crispCounts", "masks"} & computed)
    for quantity in ("sliceSimilarity", "hazardErrors"):
        assert (pair.findIfNeeded(quantity) is not None) == (quantity in computed)


# The examples in the docstrings of formulas give what they say


# As docs/guide/python.md imports them.
EXAMPLES = {one.__name__.rpartition(".")[2]: one for one in (BoundaryPair, meshing, Grid, Mask)} | {"np": np}


def testExamples():
    tried = set()
    for found in pkgutil.iter_modules(metrics.__path__):
        module = importlib.import_module(f"{metrics.__name__}.{found.name}")
        for test in doctest.DocTestFinder().find(module, extraglobs=EXAMPLES):
            assert not doctest.DocTestRunner(verbose=False).run(test).failed
            tried |= {test.name.rpartition(".")[2]} if test.examples else set()
    keys = {one.key for one in (*REGISTRY, *MULTI_LABEL) if one.function.__name__ in tried}
    assert keys >= {"DSC", "HD{percentile}", "STAR", "MSI"}
