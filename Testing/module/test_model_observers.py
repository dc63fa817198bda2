"""What the panel's model makes of several observers: who is one, what is out of date, and what is said and shown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import shapes
from panelfakes import Segmentation, Table, modelOf
from sayings import says
from SegmentMetricsPanel.contents import observers as contents
from SegmentMetricsPanel.model.enumerations import ConsensusMethod, Mode

from SegmentMetricsLib import Settings, compareObservers

NAMES = ["Ärztin & Co", "Ben", "Chris", "AI"]


def box(x: int):
    return shapes.box((5 + x, 8, 8), (14 + x, 17, 17), (40, 26, 26))


@pytest.fixture(scope="module")
def content() -> dict:
    settings = Settings(metrics=("HD95", "DSC", "VolumeTest"))
    study = compareObservers([box(0), box(2), box(6)], settings, tests=[box(1)], names=NAMES)
    return study.toDictionary()


def chosenModel(**chosen):
    """Return a model with three observers, a test, and a consensus of an earlier run."""
    nodes = [Segmentation(name, "Box") for name in NAMES]
    others = Segmentation("Consensus", "Box"), Segmentation("Nothing")
    model = modelOf(*nodes, *others, mode=Mode.severalObservers, **chosen)
    return model, nodes


def observed(content, nodes) -> SimpleNamespace:
    """Return what mrml.outcomes.ObservedOutcome is for the model. changed: what change() says."""
    found = SimpleNamespace(content=content, nodes=nodes, given=[""] * 4, segments=[["box"] * 4], names=NAMES)
    found.settings, found.method, found.table, found.changed = Settings(), "majority", Table(), ""
    found.change = lambda suspects=None: found.changed
    return found


def roles(model) -> dict:
    return {one.title: one.role for one in model.observers.candidates()}


def test_all_segmentations_are_observers_until_somebody_chooses():
    model, nodes = chosenModel()
    assert roles(model) == dict.fromkeys(NAMES, "observer"), "neither the consensus nor what has no segments"
    model.observers.setRole(3, "test")
    model.observers.setRole(1, "")
    assert list(roles(model).values()) == ["observer", "", "observer", "test"] and model.whyNot() == ""
    model.scene.nodes.append(Segmentation("Later", "Box"))
    assert roles(model)["Later"] == ""
    model.parameters.observerNodes[0] = None  # as Slicer does with the reference to a removed node
    model.scene.nodes.remove(nodes[0])
    says(model.whyNot())


CHANGES = {
    "nothing": [lambda model, found: None],
    "segment": [lambda model, found: setattr(found, "changed", "Box of Ben")],
    "selection": [lambda model, found, role=role: model.observers.setRole(0, role) for role in ("", "test")],
    "settings": [
        lambda model, found, name=name, value=value: setattr(model.parameters, name, value)
        for name, value in (("tolerance", 3.0), ("tolerance", -3.0), ("consensus", ConsensusMethod.meanSurface))
    ],
}


@pytest.mark.parametrize(("what", "change"), [(what, c) for what, changes in CHANGES.items() for c in changes])
def test_what_is_out_of_date(content, what, change):
    model, nodes = chosenModel()
    model.observers.setRole(3, "test")
    found = observed(content, nodes)
    model.takeObserved(found)
    change(model, found)
    model.suspect(None)
    if what in ("nothing", "segment"):
        assert model.staleness() == found.changed
    else:
        says(model.staleness())
    model.isNews = model.parameters.follow = True
    isRepeated = what in ("segment", "settings") and not model.readSettings().problem
    assert model.isUpdateDue() == isRepeated, "only what was chosen is measured again by itself"
    model.parameters.mode = Mode.onePair
    assert model.staleness() == "", "which is about the pair"


def test_what_the_page_says(content):
    (found,) = content["structures"]
    says(contents.summary(found), "<b>Structure</b>", "1.6 mm", "Chris")
    cells = contents.matrix(found, NAMES, "HD95", 3)
    assert len(cells) == 3, "a test is never the reference"
    words = [[cell.words for cell in row] for row in cells[:2]]
    assert words == [["", "2.00", "6.00", "1.00"], ["2.00", "", "4.00", "1.00"]]
    says(cells[1][2].tip, "Ben (reference)", "Chris (test)", "HD95 4.00 mm")
    assert [cell.color for cell in cells[0]] == ["", "#ffeede", "#ffaa5a", "#ffffff"], "the worst is the darkest"
    assert contents.matrix(found, NAMES, "DSC", 3)[0][2].value == 1.0, "the lowest overlap is the worst"
    assert {cell.color for row in contents.matrix(found, NAMES, "VolumeTest", 3) for cell in row} == {""}
    assert [contents.short(name) for name in ("Ben", "nnU-Net version 2.1 of May")] == ["Ben", "nnU-Ne… of May"]
    says(contents.about(found), "0.250", "0.429", "1.58 mm", "3.06 mm", "AI: ", "HD95", "2.33 mm")
    says(contents.aboutPlaces(found), "Chris")
    assert contents.outlierPlaces(found)[0].rank == 1 and f"{contents.outlierPlaces(found)[0].value:+.1f}" == "+5.2"


def test_infinite_numbers_and_observers_without_a_consensus():
    empty = shapes.box((0, 0, 0), (-1, -1, -1), (40, 26, 26))
    study = compareObservers([box(0), empty], Settings(metrics=("HD95",)), names=["A", "B"])
    (found,) = study.toDictionary()["structures"]
    (_same, cell), *_others = contents.matrix(found, ["A", "B"], "HD95", 2)
    assert (cell.words, cell.value) == ("∞", 1.0) and says(cell.tip, "A", "B")
    assert contents.aboutPlaces(found) == contents.aboutPlaces(None) == "" and contents.outlierPlaces(found) == []
    says(found["remarks"][0], "B", "Structure")
