"""Overlap of all labels: the definitions, labels that a side lacks, weights, and where it appears."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes
from commandruns import metrics
from commandruns import run as run  # the fixture
from imagefiles import save
from sayings import refused, says

from SegmentMetricsLib import Settings, compareLabels, readStructures

# 64 and 8 voxels; of the first the test has 48, of the second 4 and 2 beside it
BOXES = {1: ((1, 1, 1), (4, 4, 4)), 2: ((6, 6, 6), (7, 7, 7))}
OTHERS = {1: ((2, 1, 1), (4, 4, 4)), 2: ((6, 6, 7), (8, 7, 7))}
REFERENCE, TEST = (shapes.labelImage(boxes, (12, 12, 12)) for boxes in (BOXES, OTHERS))


def testOneLabelOnEachSideIsPairedByItsName():
    box = shapes.box((5, 5, 5), (9, 9, 9))
    assert compareLabels({"Liver": box}, {"Kidney": box})["JACml"].value == 0
    maps = [shapes.labelImage({label: ((5, 5, 5), (9, 9, 9))}) for label in (1, 2)]
    assert compareLabels(*maps)["DICEml"].value == 0
    assert compareLabels(maps[0], maps[0])["DICEml"].value == 1


def testByHand():
    found = compareLabels(REFERENCE, TEST, weights={"Label 2": 5})
    expected = {
        "JACml": (48 + 4) / (64 + 10),
        "JACml_volume": (48 / 64 + 4 / 8) / (64 / 64 + 10 / 8),
        "JACml_given": (48 + 5 * 4) / (64 + 5 * 10),
    }
    assert list(found) == [*expected, "DICEml", "DICEml_volume", "DICEml_given"]
    for key, value in expected.items():
        assert found[key].value == pytest.approx(value, abs=1e-15), key
        assert found[f"DICE{key[3:]}"].value == pytest.approx(2 * value / (1 + value), abs=1e-15), key
        assert (found[key].status, found[key].unit, found[key].family) == ("ok", "", "agreement")
    assert "JACml_given" not in compareLabels(REFERENCE, TEST)
    assert "Crum" in found["DICEml"].source
    # the size of voxels cancels
    wide = [shapes.labelImage(boxes, (12, 12, 12), spacing=(0.7, 2, 3)) for boxes in (BOXES, OTHERS)]
    assert compareLabels(*wide)["JACml_volume"].value == pytest.approx(expected["JACml_volume"], abs=1e-15)


def testLabelsThatASideLacks():
    alone = shapes.labelImage({1: BOXES[1]}, (12, 12, 12))
    missing = compareLabels(REFERENCE, alone)
    assert missing["JACml"].value == 64 / 72 and missing["JACml_volume"].value == 1 / 2
    added = compareLabels(alone, REFERENCE)
    assert added["JACml"].value == 64 / 72
    volume = added["JACml_volume"]
    assert volume.status == "undefined" and math.isnan(volume.value) and says(volume.reason, "Label 2")
    nothing = shapes.labelImage({}, (12, 12, 12))
    assert compareLabels(REFERENCE, nothing)["DICEml"].value == 0
    both = compareLabels(nothing, nothing)
    ((status, reason),) = {(m.status, m.reason) for m in both.values()}
    assert status == "undefined" and says(reason)
    # empty on both sides: it counts nothing, whatever the weights
    empty = {"a": shapes.box(*BOXES[1]), "b": shapes.imageOf(np.zeros((24, 24, 24), np.uint8))}
    assert {m.value for m in compareLabels(empty, empty).values()} == {1}


def testMemberships():
    generator = np.random.default_rng(3)
    first, second = ({name: generator.random((5, 6, 7)).round(3) for name in "ab"} for _ in range(2))
    images = [{name: shapes.imageOf(array) for name, array in given.items()} for given in (first, second)]
    found = compareLabels(*images)
    both = {name: np.minimum(first[name], second[name]).sum() for name in "ab"}
    either = {name: np.maximum(first[name], second[name]).sum() for name in "ab"}
    assert found["JACml"].value == pytest.approx(sum(both.values()) / sum(either.values()), rel=1e-12)
    weights = {name: 1 / first[name].sum() for name in "ab"}
    expected = sum(weights[n] * both[n] for n in "ab") / sum(weights[n] * either[n] for n in "ab")
    assert found["JACml_volume"].value == pytest.approx(expected, rel=1e-12)
    crisp = compareLabels(*images, Settings(threshold=0.4))
    cuts = [{name: array >= 0.4 for name, array in given.items()} for given in (first, second)]
    both, either = (sum(op(cuts[0][n], cuts[1][n]).sum() for n in "ab") for op in (np.logical_and, np.logical_or))
    assert crisp["JACml"].value == both / either
    # a label that the other side lacks counts by its memberships, too
    missing = compareLabels(images[0], {"a": images[0]["a"], "c": images[0]["b"]})
    total = {name: first[name].sum() for name in "ab"}
    assert missing["JACml"].value == pytest.approx(total["a"] / (total["a"] + 2 * total["b"]), rel=1e-12)


def testMeshes():
    box, shifted = shapes.boxMesh((0, 0, 0), (10, 10, 10)), shapes.boxMesh((5, 0, 0), (15, 10, 10))
    found = compareLabels({"a": box, "b": box}, {"a": box, "b": shifted})
    assert found["JACml"].value == pytest.approx(1500 / 2500, rel=0.02)
    assert compareLabels({"a": box, "b": box}, {"a": box, "c": box})["JACml"].value == pytest.approx(1 / 3, rel=0.02)


def testWhatIsRefused():
    with refused("'Label 9'", " Label 1, Label 2"):
        compareLabels(REFERENCE, TEST, weights={"Label 9": 1})
    with refused("'Label 1'", " -1"):
        compareLabels(REFERENCE, TEST, weights={"Label 1": -1})
    with refused("test"):
        compareLabels(REFERENCE, 3)
    with refused("reference", " -1"):
        compareLabels(shapes.imageOf(np.full((4, 4, 4), -1, np.int16)), TEST)


@pytest.mark.parametrize(
    ("given", "kind"), [(shapes.box(*BOXES[1]), "image"), (shapes.boxMesh((0, 0, 0), (9, 9, 9)), "mesh")]
)
def testWithoutNamesNothingCanBePaired(given, kind):
    """Two lists of images would else be labels that either side lacks, with an overlap of 0."""
    for sides, which in ((([given], [given]), "reference"), (({"Liver": given}, [given]), "test")):
        with refused(which, f"{{'Liver': {kind}}}"):
            compareLabels(*sides)
    assert compareLabels({"Liver": given}, {"Liver": given})["JACml"].value == 1


def testAProblemOfOneLabelIsSaid(tmp_path):
    meshes = {"open": shapes.openBox(), "box": shapes.boxMesh((0, 0, 0), (9, 9, 9))}
    mesh, box = (readStructures(shapes.writeMesh(one, tmp_path / f"{n}.stl"))[0] for n, one in meshes.items())
    found = compareLabels([box, mesh], [box, mesh])
    assert found["DICEml"].status == "undefined" and found["DICEml"].reason.startswith("open: ")
    other = compareLabels([box, mesh], [box.rename("other"), box])["JACml"]
    assert other.status == "undefined" and other.reason.startswith("open: ")


def testInFilesAndOnTheTerminal(run, tmp_path):
    one = shapes.labelImage({1: BOXES[1]}, (12, 12, 12))
    first, second, third = (save(image, tmp_path / f"{n}.nrrd") for n, image in enumerate((REFERENCE, TEST, one)))

    def printed(test, *arguments):
        status, out, err = run("compare", first, test, "--output", "out", *arguments)
        return out if not status else err, metrics("out").get("multiLabel")

    weighted = ("--metrics", "agreement", "--set", "labelWeights=Label 2=5")
    expected = compareLabels(REFERENCE, TEST, weights={"Label 2": 5})
    told, content = printed(second, *weighted)
    assert content == expected.toDictionary()
    assert content["labels"][1] == {"name": "Label 2", "reference": 8, "test": 6, "both": 4}
    assert f"{expected['DICEml_given'].value:.3f}" in told and "All labels together" in told
    # a label that one side lacks is empty there, also when but one is in both
    told, content = printed(third, *weighted)
    assert content["measurements"]["DICEml_given"]["value"] < 1 and "DICEml" in told
    # only with the agreement family, only for several structures
    assert printed(second, "--metrics", "overlap")[1] is None
    assert printed(second, "--metrics", "agreement", "--structure", "Label 2")[1] is None
    told, _ = printed(second, *weighted[2:])
    assert says(told, "agreement").count("\n") == 1


def testOfSegmentations(scene):
    from segmentnodes import segmentationOf

    from SegmentMetricsLib import mrml

    def node(boxes):
        return segmentationOf(scene, **{f"L{n}": shapes.labelImage({1: box}, (12,) * 3) for n, box in boxes.items()})

    found = mrml.compareSegmentations(node(BOXES), node(OTHERS), Settings(families="agreement"))
    assert found.multiLabel["JACml_volume"].value == compareLabels(REFERENCE, TEST)["JACml_volume"].value
    more = {**BOXES, 3: ((9, 9, 9), (9, 9, 9))}
    extra = mrml.compareSegmentations(node(more), node(OTHERS), Settings(families="all"))
    assert extra.multiLabel["JACml"].value == 52 / 75
    assert mrml.compareSegmentations(node(BOXES), node(OTHERS)).multiLabel is None
