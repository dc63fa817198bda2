"""What the panel's model makes of several observers: who is one, what is out of date, and what is said and shown."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import shapes
from panelfakes import Host, Segmentation, Table, modelOf
from SegmentMetricsPanel.contents import observers as contents
from SegmentMetricsPanel.contents.pages import allPages
from SegmentMetricsPanel.model.enumerations import ConsensusMethod, Mode

from SegmentMetricsLib import Settings, compareObservers
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled

NAMES = ["Ärztin & Co", "Ben", "Chris", "AI"]


@dataclass(eq=False)
class Observed:
    """What mrml.outcomes.ObservedOutcome is for the model. changed: what change() says."""

    content: dict
    nodes: list
    given: list
    segments: list
    settings: Settings = field(default_factory=Settings)
    method: str = "majority"
    table: Table = field(default_factory=Table)
    changed: str = ""
    wasStopped: bool = False

    @property
    def names(self) -> list:
        return NAMES

    def change(self, suspects=None) -> str:
        return self.changed


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
    model = modelOf(
        *nodes, Segmentation("Consensus", "Box"), Segmentation("Nothing"), mode=Mode.severalObservers, **chosen
    )
    return model, nodes


def observed(content, nodes, **options) -> Observed:
    return Observed(content, nodes, [""] * 4, [["box"] * 4], **options)


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
    assert model.whyNot() == "Check at least two observers."


def test_segments_of_one_segmentation():
    model, _nodes = chosenModel()
    readers = Segmentation("Readers", "A", "B", "A")
    model.scene.nodes.append(readers)
    model.observers.chooseSource(readers)
    assert [one.segment for one in model.observers.candidates()] == ["a", "b", "a_1"] and model.whyNot()
    for number, role in enumerate(("observer", "observer", "test")):
        model.observers.setRole(number, role)
    assert model.observers.given("observer") == [(readers, "a"), (readers, "b")]
    assert model.observers.given("test") == [(readers, "a_1")] and not model.whyNot()
    model.observers.chooseSource(None)
    assert roles(model) == {**dict.fromkeys(NAMES, "observer"), "Readers": "observer"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda model, found: None, ""),
        (lambda model, found: setattr(found, "changed", "Box of Ben has changed."), "Box of Ben has changed."),
        (lambda model, found: model.observers.setRole(0, ""), "The selection has changed."),
        (lambda model, found: model.observers.setRole(0, "test"), "The selection has changed."),
        (lambda model, found: setattr(model.parameters, "tolerance", 3.0), "The settings have changed."),
        (lambda model, found: setattr(model.parameters, "tolerance", -3.0), "The settings have changed."),
        (
            lambda model, found: setattr(model.parameters, "consensus", ConsensusMethod.meanSurface),
            "The settings have changed.",
        ),
    ],
)
def test_what_is_out_of_date(content, change, reason):
    model, nodes = chosenModel()
    model.observers.setRole(3, "test")
    found = observed(content, nodes)
    model.observers.take(found)
    change(model, found)
    model.suspect(None)
    assert model.staleness() == reason
    model.isNews = model.parameters.follow = True
    isRepeated = bool(reason) and "selection" not in reason and not model.chosen().problem
    assert model.isUpdateDue() == isRepeated, "only what was chosen is measured again by itself"
    model.parameters.mode = Mode.onePair
    assert model.staleness() == "", "which is about the pair"


def test_results_come_and_go_with_their_table(content):
    model, nodes = chosenModel()
    found = observed(content, nodes)
    found.table.results = lambda: found
    assert not model.isRecallDue()
    model.parameters.observersResult = found.table
    assert model.isRecallDue()
    model.recall()
    assert model.observers.outcome is found and not model.isRecallDue()
    assert [page.name for page in allPages() if page.hasContent(model)] == ["observers"]
    model.parameters.observersResult = Table(results=lambda: raising("These results cannot be read."))
    model.recall()
    assert model.observers.outcome is None and model.parameters.observersResult is None
    assert model.message() == "These results cannot be read."


def raising(text: str, kind=InputError):
    raise kind(text)


@pytest.mark.parametrize("isRepeated", [False, True])
def test_what_is_finished_is_kept_when_the_work_is_stopped(content, isRepeated):
    model, nodes = chosenModel(follow=True)
    host, found = Host(model), observed(content, nodes, wasStopped=True)
    host.attempts.logic.measure = lambda request, work: found if work.isPartWanted() else raising("", Cancelled)
    assert host.attempts.apply(isRepeated) != isRepeated
    assert ("takeObserved" in host.asked) != isRepeated, "after an automatic update, what was there before stays"
    assert not model.parameters.follow and model.message() == "The comparison was stopped."
    host.attempts.logic.measure = lambda request, work: raising("", Cancelled)
    assert not host.attempts.apply() and model.message() == "The comparison was stopped."
    assert list(model.parameters.observerNodes) == nodes, "the guess was accepted when it was measured"


def test_what_the_page_says(content):
    (found,) = content["structures"]
    assert contents.summary(found).startswith("<b>Structure</b>: Three observers agree within 1.6 mm SD; Chris differs")
    cells = contents.matrix(found, NAMES, "HD95", 3)
    assert len(cells) == 3, "a test is never the reference"
    assert [[cell.text for cell in row] for row in cells[:2]] == [
        ["", "2.00", "6.00", "1.00"],
        ["2.00", "", "4.00", "1.00"],
    ]
    assert "Ben (reference) and Chris (test): HD95 4.00 mm" in cells[1][2].tip
    assert (cells[0][2].share, cells[0][3].share, cells[0][0].share) == (1.0, 0.0, None), "the worst is the darkest"
    assert contents.matrix(found, NAMES, "DSC", 3)[0][2].share == 1.0, "the lowest overlap is the worst"
    assert {cell.share for row in contents.matrix(found, NAMES, "VolumeTest", 3) for cell in row} == {None}
    assert [contents.short(name) for name in ("Ben", "nnU-Net version 2.1 of May")] == ["Ben", "nnU-Ne… of May"]
    assert contents.colorOf(0.0) == (255, 255, 255) and contents.colorOf(1.0) == (255, 170, 90)
    assert contents.about(found).split("\n") == [
        "Conformity index 0.250, generalized 0.429.",
        "Local SD on the consensus: 1.58 mm; 95 % of its surface is below 3.06 mm.",
        "AI: rank 1 in HD95, mean 2.33 mm.",
    ]
    assert contents.aboutPlaces(found).startswith("Where Chris lies farthest from the consensus of the others.")
    assert contents.outlierPlaces(found)[0].rank == 1 and contents.placesTable(found).rows[0][1][0] == "+5.2"


def test_infinite_numbers_and_observers_without_a_consensus():
    empty = shapes.box((0, 0, 0), (-1, -1, -1), (40, 26, 26))
    study = compareObservers([box(0), empty], Settings(metrics=("HD95",)), names=["A", "B"])
    (found,) = study.toDictionary()["structures"]
    (_same, cell), *_others = contents.matrix(found, ["A", "B"], "HD95", 2)
    assert (cell.text, cell.share) == ("∞", 1.0) and cell.tip.endswith("the test is empty")
    assert (
        contents.aboutPlaces(found) == "" and contents.outlierPlaces(found) == [] and contents.aboutPlaces(None) == ""
    )
    assert "B left Structure empty" in contents.remarks(study.toDictionary(), found)
