"""Settings: defaults, what is accepted, and the one sentence for what is not."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapes
from sayings import refused

from SegmentMetricsLib import Settings

FAMILIES = Settings(families=("all", "dose")).families

# As files of results hold them.
DEFAULTS = """{
    "families": ["boundary", "signed", "overlap"], "metrics": [], "convention": "SegmentMetrics",
    "tolerances": [2.0], "percentiles": [95.0], "betas": [1.0], "quantiles": [1.0], "placesBy": "distance",
    "surface": "unsmoothed", "grid": "reference", "ignore": null, "extent": "whole", "meshSpacing": 1.0,
    "threshold": null, "membershipMaximum": null, "cuts": null, "voxelUnit": "mm", "labelWeights": {}, "critical": {},
    "hazardKernel": "polynomial", "hazardReach": 10.0, "hazardPower": 2.0, "hazardDecay": 8.0,
    "hazardCombination": "max", "hazardBalance": 0.7, "hazardTail": 0.05,
    "il": 1.0, "ol": 1.0, "asPublished": false, "msiUnit": "mm", "splitContours": false,
    "lesionConnectivity": 26, "instanceMaps": false, "instanceClasses": {}, "lesionMinimum": 0.0, "lesionOverlap": 0.0,
    "panopticOverlap": 0.5, "lesionDilation": 0, "lesionPenalty": null,
    "dosePercents": [2.0, 50.0, 95.0, 98.0], "doseVolumes": [0.03], "doseLevels": [], "prescription": null
}"""


def testDefaults():
    assert Settings().toDictionary() == json.loads(DEFAULTS)


def testAcceptedValues():
    for given, kept in (
        ({"tolerances": 3}, {"tolerances": (3.0,)}),
        ({"tolerances": [3, 1, 3.0, 1]}, {"tolerances": (3.0, 1.0)}),
        ({"tolerances": np.array([1, 2])}, {"tolerances": (1.0, 2.0)}),
        ({"tolerances": (t for t in (1, 2))}, {"tolerances": (1.0, 2.0)}),
        ({"tolerances": ()}, {"tolerances": ()}),
        ({"percentiles": (100, 1e-3)}, {"percentiles": (100.0, 1e-3)}),
        ({"families": "all"}, {"families": tuple(one for one in FAMILIES if one != "dose")}),
        ({"metrics": "v20gytest"}, {"families": ("dose",), "doseLevels": (20.0,), "metrics": ("V20GyTest",)}),
        ({"families": ["overlap", "boundary", "overlap"]}, {"families": ("boundary", "overlap")}),
        ({"critical": "Cord"}, {"critical": (("Cord", 1.0),)}),
        ({"critical": {"Cord": 0.5}}, {"critical": (("Cord", 0.5),)}),
        ({"threshold": "0.25"}, {"threshold": 0.25}),
        ({"labelWeights": {"Liver": 20}}, {"labelWeights": (("Liver", 20.0),)}),
        ({"lesionConnectivity": "18", "lesionMinimum": 0}, {"lesionConnectivity": 18, "lesionMinimum": 0.0}),
        ({"instanceClasses": {7: "Edema"}}, {"instanceClasses": (("7", "Edema"),)}),
        ({"convention": "panoptica", "metrics": "DSC"}, {"families": ("overlap", "instances")}),
    ):
        settings = Settings(**given)
        assert {name: getattr(settings, name) for name in kept} == kept
        json.dumps(settings.toDictionary(), allow_nan=False)  # plain numbers, whatever they were given as


def testRefusedValues():
    for given, *names in (
        ({"lesionConnectivity": 8}, "6, 18, 26", "8."),
        ({"instanceClasses": "Edema"}, "'Edema'"),
        ({"tolerances": 0}, "1000 mm", "0."),
        ({"percentiles": 0}, "100 %", "0."),
        ({"surface": "smooth"}, "unsmoothed, displayed", "'smooth'"),
        ({"families": ()}, "boundary, "),
        ({"families": "volume"}, "'volume'", "boundary, "),
        ({"critical": {"Cord": 0}}, "'Cord'", "0"),
        ({"critical": None}, "None"),
        ({"hazardBalance": 1.1}, "1.1"),
        ({"ol": "high"}, "'high'"),
        ({"asPublished": 1}, "True", "False", "1."),
        ({"cuts": 0}, "100", "0."),
        ({"cuts": True}, "100", "True"),
        ({"grid": "image"}, "reference, union", "'image'"),
        ({"grid": 3}, "reference, union", "int"),
        ({"meshSpacing": 0}, "0 mm", "0."),
        # a result must not bear the name of a tool whose settings it does not have
        ({"convention": "BraTS 2023"}, "BraTS 2023"),
    ):
        with refused(*names) as caught:
            Settings(**given)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["SegmentMetrics", "BraTS 2023", "panoptica", "MeshMetrics-0.1", "MeshMetrics-1.4.1"])
def testPresets(name):
    settings = Settings.preset(name, tolerances=(1, 3))
    assert (settings.convention, settings.tolerances) == (name, (1.0, 3.0))
    # what a preset fixes may be said once more
    assert Settings.preset(name, lesionMinimum=Settings.preset(name).lesionMinimum) == Settings.preset(name)


def testPresetsRefuseContradictions():
    for name, change, fixed in (
        ("BraTS 2023", {"lesionMinimum": 2}, "lesionMinimum"),
        ("BraTS 2023 MET", {"lesionDilation": 3}, "lesionDilation"),
        ("MeshMetrics-1.4.1", {"surface": "displayed"}, "surface"),
        ("MedPy", {"surface": "displayed"}, "surface"),
    ):
        with refused(name, fixed):
            Settings.preset(name, **change)


def testNamesOfPresets():
    """In any case, or refused with the one that was probably meant."""
    assert Settings.preset("MEDPY") == Settings.preset("MedPy").replace(convention="medpy")
    assert Settings(convention="medpy").isOfAnotherTool and not Settings(convention="segmentmetrics").isOfAnotherTool
    with refused("'medpie'", "MedPy"):
        Settings.preset("medpie")
    with refused("'ITK'", "SegmentMetrics, BraTS 2023"):
        Settings.preset("ITK")


def testSettingsSurviveJson():
    for settings in (
        Settings(),
        Settings.preset("MeshMetrics-1.4.1", percentiles=(50, 99.5)),
        Settings(critical={"Cord": 0.5}, labelWeights={"Cord": 3}),
        Settings(grid=shapes.imageOf(np.zeros((4, 5, 6)), (0.1, 1 / 3, 2), (1, 2, 3), shapes.rotation((1, 1, 3), 20))),
    ):
        assert Settings(**json.loads(json.dumps(settings.toDictionary()))) == settings
