"""Views that go to a pair and draw nothing but it, on odd pairs and beside what else is in the scene."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import shapes
import slicer
from panel_checks.views import drawn, shownIn
from panelfixtures import desktop as desktop  # the fixtures
from panelfixtures import session as session
from scenework import applyAll, choose, segmentation, twoBoxes

from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.mrml import navigation

FAR = (20, 18, 22), (26, 24, 27)  # voxels of 1 mm
NEAR = (4, 5, 5), (9, 9, 9)


def middleOf(box) -> np.ndarray:
    """The middle of a box of voxels, RAS."""
    return np.mean(structureFromImage(shapes.box(*box), "Box", None, 0.5).box, axis=0) * (-1, -1, 1)


def structures(name: str, **others):
    boxes = {"Near": NEAR, "Far": FAR} | others
    return segmentation(name, **{key: shapes.box(*box) for key, box in boxes.items()})


def centers() -> list[np.ndarray]:
    """The middle of every slice view, RAS."""
    nodes = navigation.sliceNodesOf(slicer.mrmlScene)
    return [np.array([node.GetSliceToRAS().GetElement(row, 3) for row in range(3)]) for node in nodes]


def look(at: float) -> dict:
    """Let all slice views look elsewhere, and return their state."""
    for node in navigation.sliceNodesOf(slicer.mrmlScene):
        node.JumpSliceByCentering(at, at, at)
    return navigation.viewState(slicer.mrmlScene)


def testAClickedRowIsLookedAt(session):
    """Also one that is shown already, as the user may have looked elsewhere; another run moves nothing."""
    session.parameters.reference, session.parameters.test = structures("First"), structures("Second")
    applyAll(session)
    for number, name, box in ((1, "Far", FAR), (0, "Near", NEAR), (0, "Near", NEAR)):
        look(at=77)
        session.panel.model.showPair(number)  # as the tables do
        session.settle(0.05)
        assert session.panel.model.record().name == name
        assert all(np.allclose(center, middleOf(box)) for center in centers()), name
    before = look(at=77)
    session.apply()
    session.settle(0.05)
    assert navigation.viewState(slicer.mrmlScene) == before
    session.ui.modeComboBox.currentIndex = 0


@pytest.mark.parametrize("which", ["identical", "empty test", "one segmentation"])
def testPairsWithoutAWorstPlace(session, which):
    """The views go to the structure all the same, and what there is of the pair is drawn."""
    first = structures("First", Other=((21, 18, 22), (26, 24, 27)))
    second = structures("Second")
    if which == "empty test":
        second.GetSegmentation().RemoveSegment(second.GetSegmentation().GetSegmentIdBySegmentName("Far"))
        second.GetSegmentation().AddEmptySegment("", "Far")
    choose(session, first, first if which == "one segmentation" else second, "Far")
    if which == "one segmentation":
        session.parameters.testSegment = first.GetSegmentation().GetSegmentIdBySegmentName("Other")
        session.settle(0.05)
    look(at=77)
    session.apply()
    assert all(np.allclose(center, middleOf(FAR), atol=4) for center in centers())
    for node in navigation.sliceNodesOf(slicer.mrmlScene):
        assert np.abs(shownIn(node, middleOf(FAR)[None])[0, :2]).max() < 0.1
    found = {("line", "reference")} if which == "empty test" else {("map", "reference"), ("line", "test")}
    assert set(drawn(session)) == found
    assert not first.GetDisplayNode().GetVisibility()


def testWhatIsShownBesideThePairStays(session):
    """What comes later, or is shown in spite of the focus, until another pair is compared."""
    choose(session, *twoBoxes())
    session.apply()
    third = structures("Third")
    session.nodes[0].GetDisplayNode().SetVisibility(True)
    session.ui.toleranceSpinBox.value = 1
    session.settle(0.1)
    session.apply()
    shown = [session.nodes[0], third]
    assert all(node.GetDisplayNode().GetVisibility() for node in shown)
    choose(session, structures("Fourth"), third, "Near")
    session.apply()
    assert not any(node.GetDisplayNode().GetVisibility() for node in [*shown, *session.nodes])
    session.ui.toleranceSpinBox.value = 2


def testViewsThatTheUserMovedAreNotMovedBack(session):
    choose(session, *twoBoxes())
    session.apply()
    session.panel.places.table.onCell(0, 0)
    before = look(at=5)
    session.ui.focusCheckBox.click()
    session.settle(0.05)
    assert navigation.viewState(slicer.mrmlScene) == before
    session.ui.focusCheckBox.click()
    session.settle(0.05)
    assert navigation.viewState(slicer.mrmlScene) == before


def testARunOfAScriptMovesAndHidesNothing(session):
    """While another module is open the views belong to that; they go to the pair when the user comes back."""
    choose(session, *twoBoxes())
    before = look(at=77)
    session.widget.exit()
    assert session.panel.apply()
    assert navigation.viewState(slicer.mrmlScene) == before and set(drawn(session)) == {("map", "reference")}
    assert all(node.GetDisplayNode().GetVisibility() for node in session.nodes)
    session.widget.enter()
    session.settle(0.05)
    assert navigation.viewState(slicer.mrmlScene) != before
    assert not any(node.GetDisplayNode().GetVisibility() for node in session.nodes)


def testOneScaleForAllStructures(session):
    """The range that the user set holds for the next structure; the automatic one is that of each."""
    first, second = (
        structures("First"),
        segmentation("Second", Near=shapes.box(*NEAR), Far=shapes.box((20, 18, 22), (21, 20, 23))),
    )
    session.parameters.reference, session.parameters.test = first, second
    applyAll(session)

    def ranges() -> set:
        found = set()
        for number in (0, 1):
            session.panel.model.showPair(number)
            session.settle(0.05)
            (model,) = session.maps().values()
            found.add(model.GetDisplayNode().GetScalarRange())
        return found

    assert len(ranges()) == 2
    session.ui.automaticRangeCheckBox.click()
    session.ui.rangeSpinBox.value = 7
    session.settle(0.05)
    assert ranges() == {(-7, 7)}
    session.ui.automaticRangeCheckBox.click()
    session.ui.modeComboBox.currentIndex = 0


def testOneLegendForBothSidesAlsoWhenOneIsHiddenElsewhere(session):
    from SegmentMetricsLib.mrml.colors import legendOf

    choose(session, *twoBoxes())
    session.ui.mapSideComboBox.currentIndex = 2
    session.apply()
    models = session.maps()
    assert [side for side, model in models.items() if legendOf(model).GetVisibility()] == ["reference"]
    models["reference"].GetDisplayNode().SetVisibility(False)
    assert [side for side, model in models.items() if legendOf(model).GetVisibility()] == ["test"]
    models["reference"].GetDisplayNode().SetVisibility(True)
    assert sum(bool(legendOf(model).GetVisibility()) for model in models.values()) == 1
    session.ui.mapSideComboBox.currentIndex = 0
