"""What the panel's model makes of what is chosen: inputs, pairs, settings and protocols."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from panelfakes import Segmentation, modelOf
from sayings import says
from SegmentMetricsPanel.model import editedpairs
from SegmentMetricsPanel.model.chosensettings import criticalNames, possibleCriticals
from SegmentMetricsPanel.model.enumerations import Mode

MODULE = Path(__file__).parents[2] / "SegmentMetrics" / "SegmentMetricsPanel"


def chosen(model) -> list:
    """Return the names of what is chosen: segmentation and segment of the reference, then of the test."""
    p, named = model.parameters, model.inputs.segmentName
    return [p.reference and p.reference.name, named("reference"), p.test and p.test.name, named("test")]


def test_the_model_knows_neither_qt_nor_nodes():
    for path in (*MODULE.glob("model/*.py"), *MODULE.glob("contents/*.py")):
        imported = re.findall(r"^(?:from|import) ([\w.]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert not {name.partition(".")[0] for name in imported} & {"qt", "ctk", "slicer", "vtk"}, path
        assert not [name for name in imported if name.startswith("SegmentMetricsLib.mrml")], path


def test_likely_inputs_are_chosen():
    for segmentations, expected in (
        ([], [None, "", None, ""]),
        ([("Empty",)], [None, "", None, ""]),
        ([("One", "A")], ["One", "A", "One", ""]),
        ([("One", "A", "B")], ["One", "A", "One", "B"]),
        ([("One", "A", "B"), ("Two", "C", "B")], ["One", "B", "Two", "B"]),
        ([("One", "A"), ("Empty",), ("Two", "C")], ["One", "A", "Two", "C"]),
        ([("One", "A"), ("Two", "A"), ("Three", "A")], ["One", "A", "Two", "A"]),
    ):
        assert chosen(modelOf(*(Segmentation(*each) for each in segmentations))) == expected


def test_the_guess_follows_the_scene_until_somebody_chooses():
    model = modelOf(Segmentation("One", "A", "B"))
    model.scene.nodes.append(Segmentation("Two", "B"))
    model.inputs.chooseLikely()
    assert chosen(model) == ["One", "B", "Two", "B"]
    model.parameters.testSegment = ""  # by a script
    model.scene.nodes.insert(0, Segmentation("Zero", "B"))
    model.inputs.chooseLikely()
    assert chosen(model) == ["One", "B", "Two", ""]


@pytest.mark.parametrize("what", ["choose", "swap"])
def test_a_guess_that_was_used_stays(what):
    one = Segmentation("One", "A", "B")
    model = modelOf(one)
    {"swap": model.inputs.swap, "choose": lambda: model.inputs.choose("test", one, "b")}[what]()
    before = chosen(model)
    model.scene.nodes.append(Segmentation("Two", "B"))
    model.inputs.chooseLikely()
    assert chosen(model) == before


def test_another_segmentation_is_chosen_with_the_same_structure():
    third = Segmentation("Three", "Other", "B")
    model = modelOf(Segmentation("One", "A", "B"), Segmentation("Two", "B"), third)
    model.inputs.take("test", third, "other")  # a selector begins with the first segment
    assert chosen(model) == ["One", "B", "Three", "B"]


def test_the_test_follows_the_reference_as_long_as_names_are_equal():
    one, two = Segmentation("One", "A", "B", "C"), Segmentation("Two", "A", "C")
    model = modelOf(one, two)
    followed = []
    for segment in "cba":
        model.inputs.take("reference", one, segment)
        followed.append(chosen(model)[3])
    assert followed == ["C", "", "A"], "and again to the next one that it has"
    model.inputs.take("test", two, "c")
    assert chosen(model) == ["One", "A", "Two", "C"], "the reference never follows"
    model.inputs.take("reference", one, "b")
    assert chosen(model) == ["One", "B", "Two", "C"], "what was chosen differently stays so"


@pytest.mark.parametrize("side", ["reference", "test"])
@pytest.mark.parametrize("mode", [Mode.onePair, Mode.allStructures])
def test_a_segment_that_is_removed_is_not_replaced(side, mode):
    """The selector goes on to the next one; the segmentation stays chosen, without a segment."""
    model = modelOf(Segmentation("One", "A", "B"), Segmentation("Two", "A", "B"), mode=mode)
    node = getattr(model.parameters, side)
    del node.segments["a"]
    model.inputs.take(side, node, "b")
    assert model.inputs.choiceOf(side) == (node, "")
    if mode == Mode.allStructures:
        assert model.whyNot() == ""
    else:
        says(model.whyNot(), side)
    model.inputs.take(side, node, "b")
    assert model.inputs.choiceOf(side) == (node, "b")


def test_a_segmentation_that_is_removed_is_not_replaced():
    one, two, three = (Segmentation(name, "A") for name in ("One", "Two", "Three"))
    model = modelOf(one, two, three)
    assert [model.inputs.lose(side, two) for side in ("reference", "test")] == [False, True]
    model.parameters.test = None  # as Slicer does after that
    model.inputs.take("test", three, "a")  # what the selector goes on to
    assert chosen(model) == ["One", "A", None, ""]
    model.inputs.lose("reference", one)
    model.parameters.reference = three  # chosen at the same moment
    model.inputs.take("reference", three, "a")
    assert model.parameters.reference is three


def test_a_segment_that_was_removed_meanwhile_is_not_chosen():
    model = modelOf(Segmentation("One", "A", "B"), Segmentation("Two", "A"))
    model.inputs.setActive(False)
    del model.parameters.test.segments["a"]
    assert model.parameters.testSegment == "a", "nothing is written while another module is open"
    model.inputs.setActive(True)
    assert model.parameters.testSegment == ""


def test_swapping_takes_pairs_along():
    model = modelOf(Segmentation("One", "A", "B"), Segmentation("Two", "A", "C"))
    model.parameters.pairs = ["A", "C", "chosen", "B", "", "chosen"]
    model.inputs.swap()
    assert chosen(model) == ["Two", "A", "One", "A"] and model.parameters.pairs == ["C", "A", "chosen"]


WHOLE = {"mode": Mode.allStructures}


def test_why_inputs_cannot_be_compared():
    for first, second, chosen, *names in (
        (None, None, {}, "reference"),
        (("One", "A"), None, {}, "test"),
        (("One", "A"), ("Two",), {}, "Two"),
        (("One", "A"), ("Two", "A"), {}, "reference"),
        (("One", "A"), ("Two", "A"), {"referenceSegment": "a", "testSegment": "A"}, "test"),
        (("One", "A"), ("One", "A"), WHOLE, ""),
        (("One", "A"), ("Two", "A"), {"referenceSegment": "a", "testSegment": "a"}),
        (("One", "A"), ("Two", "B"), WHOLE),
    ):
        nodes = [Segmentation(*each) if each else None for each in (first, second)]
        nodes[1] = nodes[0] if first == second else nodes[1]
        model = modelOf(reference=nodes[0], test=nodes[1], **chosen)
        why = model.whyNot()
        assert bool(why) == bool(names)
        if names:
            says(why, *names)
        assert model.inputs.mistake() == (why if None not in nodes else "")
        model.scene.isBusy = True
        assert model.whyNot() not in ("", why)
    says(model.whyNot())


def pairsOf(model):
    return editedpairs.shownPairs(model.parameters, model.scene)


def pairModel(*entries: str):
    return modelOf(Segmentation("One", "A", "B", "C"), Segmentation("Two", "a", "B", "X"), pairs=list(entries), **WHOLE)


def test_pairs_are_shown_with_how_they_were_found():
    shown = pairsOf(pairModel())
    assert says(shown.title, "2 of 3") and shown.possible == ("", "a", "B", "X")
    found = [(name, shown.possible[index], how) for name, index, how, _tip in shown.rows]
    assert found == [("A", "a", "spelling"), ("B", "B", "name"), ("C", "", "")]
    assert (shown.canPropose, shown.canReset) == (True, False)
    says(shown.unpaired, "test", "X")
    assert not pairsOf(pairModel("C", "", "chosen")).canPropose, "it was left without a counterpart"
    shown = pairsOf(modelOf(Segmentation("One", "A", "A"), Segmentation("Two", "A", "A"), **WHOLE))
    assert shown.title == "Pairs" and "A" in shown.unpaired and not shown.rows and not shown.canPropose


def test_pairs_of_other_segmentations_stay():
    """When those of the chosen ones are edited, and when all of these are reset."""
    model = pairModel("Elsewhere", "X", "chosen")
    choose = lambda *pair: editedpairs.choose(model.parameters, [(*pair, "chosen")])  # noqa: E731
    choose("C", "B")
    choose("A", "B")
    assert editedpairs.choicesOf(model.parameters, model.scene) == {"A": "B"}, "it is taken from its former partner"
    choose("B", "")
    assert editedpairs.choicesOf(model.parameters, model.scene) == {"A": "B", "B": None} and pairsOf(model).canReset
    editedpairs.reset(model.parameters, model.scene)
    assert model.parameters.pairs == ["Elsewhere", "X", "chosen"] and not pairsOf(model).canReset


def settingsModel(**chosen):
    return modelOf(Segmentation("One", "Organ", "Cord", "Nerve", "Nerve"), Segmentation("Two", "Organ"), **chosen)


def test_settings_that_no_family_uses_keep_their_defaults():
    model = settingsModel(percentile=90.0, tolerance=3.0, beta=2.0, families=["agreement"])
    settings = model.readSettings().settings
    assert settings.tolerances == (3,) and settings.percentiles == (95,) and settings.betas == (2,)
    model.parameters.families = ["boundary"]
    settings = model.readSettings().settings
    assert settings.percentiles == (90,) and settings.betas == (1,) and settings.families == ("boundary",)
    assert settings.prescription is None, "automatic numbers"


@pytest.mark.parametrize(("chosen", "names"), [({"convention": "Nobody"}, ["Nobody"]), ({"families": []}, [])])
def test_settings_that_make_no_sense(chosen, names):
    model = settingsModel(**chosen)
    for said in (model.whyNot(), model.message()):
        says(said, *names)


def test_critical_structures_are_those_of_the_reference():
    model = settingsModel(families=["hazard"])
    inputs = model.parameters, model.scene
    assert possibleCriticals(*inputs) == ["Cord", "Nerve"] and says(model.whyNot())
    model.setCriticals(["Cord"], ["Cord", "Nerve"])
    assert criticalNames(*inputs) == ["Cord"] and not model.whyNot()
    assert model.readSettings().settings.critical == (("Cord", 1.0),)
    model.inputs.swap()  # the other one has no such segment
    assert possibleCriticals(*inputs) == [] and says(model.whyNot())
    model.setCriticals([], [])
    model.inputs.swap()
    assert criticalNames(*inputs) == ["Cord"], "a name that was not offered is kept"
    model.parameters.referenceSegment = "cord"
    assert possibleCriticals(*inputs) == ["Organ", "Nerve"], "a structure is not critical to itself"
    model.parameters.mode = Mode.allStructures
    assert possibleCriticals(*inputs) == ["Organ", "Cord", "Nerve"]
