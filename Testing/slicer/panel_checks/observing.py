"""Several observers."""

from __future__ import annotations

import numpy as np
import slicer
from sayings import says

from .fitting import covered
from .lesions import cubes
from .session import SMALL, STRUCTURE, Session, goBack
from .views import shownIn

READERS = {"Anna": 0, "Ben": 1, "Chris": 0}


def checkObservers(session: Session) -> None:
    """Segments of one segmentation are compared as observers; a cell of the matrix shows its pair, as usual."""
    ui, nodes, before = session.ui, session.nodes, session.results()
    readers = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Readers")
    readers.CreateDefaultDisplayNodes()
    for name, number in READERS.items():
        source = nodes[number].GetSegmentation()
        segment = slicer.vtkSegment()
        segment.DeepCopy(source.GetSegment(source.GetSegmentIdBySegmentName(SMALL)))
        segment.SetName(name)
        readers.GetSegmentation().AddSegment(segment, name)
    session.settle(0.1)
    session.set(ui.modeComboBox, currentIndex=2)
    assert session.isShown(ui.observersTable) and not session.isShown(ui.referenceSelector)
    says(session.panel.staleness(), STRUCTURE)
    session.set(ui.observersOfComboBox, currentIndex=ui.observersOfComboBox.findText("Segments of Readers"))
    assert [line[0] for line in session.texts(ui.observersTable)] == list(READERS)
    assert not ui.applyButton.enabled, "nobody has been checked"
    for row in range(len(READERS)):
        check(ui.observersTable.item(row, 0))
    session.settle(0.1)
    session.apply()
    assert "Ben" in ui.summaryLabel.text and "Anna" not in ui.summaryLabel.text, "who differs most"
    assert session.isShown(ui.observersPage) and ui.matrixTable.rowCount == len(READERS)
    assert ui.matrixTable.item(0, 2).text() == "0.00" and session.panel.staleness() == ""
    assert not covered(session.panel.pages.frame("observers")), "no text lies on rows"
    assertOutlines(session, readers, nodes)
    assertVariation(session)
    ui.matrixTable.cellClicked(0, 1)
    session.settle(0.2)
    assert session.panel.model.observedPair() == (0, 1) and list(session.maps()) == ["reference"]
    assert "<b>Anna" in ui.summaryLabel.text
    assert session.isShown(ui.allObserversButton) and ui.matrixTable.item(0, 1).font().underline()
    ui.matrixTable.cellClicked(1, 1)
    session.settle(0.1)
    assert session.panel.model.observedPair() == (0, 1), "nobody is compared with himself"
    session.click(ui.allObserversButton, seconds=0.2)
    assert session.maps() == {} and session.panel.outcome is None
    assertOutlines(session, readers, nodes)
    check(ui.observersTable.item(2, 1))
    session.settle(0.1)
    says(session.panel.staleness())
    session.apply()
    says(ui.observersRemarksLabel.text, "Chris", "Anna")
    assert (ui.matrixTable.rowCount, ui.matrixTable.columnCount) == (2, 3), "a test is never the reference"
    assert session.panel.staleness() == ""
    session.parameters.observersOf = None
    ui.modeComboBox.currentIndex = 0
    goBack(session, nodes, before, readers)


def checkObservedStructures(session: Session) -> None:
    """Of several structures the largest disagreement is shown first; views go to another one; one alone will do."""
    from SegmentMetricsLib.mrml import navigation

    ui, nodes, before, families = session.ui, session.nodes, session.results(), session.families
    readers = [cubes(name, Near=4 + n, Far=20 + 4 * n) for n, name in enumerate(READERS)]
    session.set(ui.modeComboBox, currentIndex=2)
    for row, (name, *_others) in enumerate(session.texts(ui.observersTable)):
        check(ui.observersTable.item(row, 0), name in READERS)
        session.settle(0.1)
    session.chooseFamilies("boundary", "overlap")
    with session.isAlive():
        session.apply()
    assert "<b>Far</b>" in ui.summaryLabel.text
    there = navigation.viewState(slicer.mrmlScene)
    session.set(ui.observedStructureComboBox, currentIndex=ui.observedStructureComboBox.findText("Near"))
    assert "<b>Near</b>" in ui.summaryLabel.text
    assert not navigation.isSameView(navigation.viewState(slicer.mrmlScene), there)
    found = session.panel.model.observers.outcome.study["Near"].consensus
    middle, size = np.mean(found.box, axis=0) * (-1, -1, 1), np.ptp(found.box, axis=0)
    for node in navigation.sliceNodesOf(slicer.mrmlScene):
        assert abs(shownIn(node, middle[None])[0, 2]) <= size.max() / 2, "slices go through it"
    session.click(ui.showVariationCheckBox)
    there = navigation.viewState(slicer.mrmlScene)
    session.set(ui.observedStructureComboBox, currentIndex=ui.observedStructureComboBox.findText("Far"))
    assert not navigation.isSameView(navigation.viewState(slicer.mrmlScene), there), "also without the map"
    session.click(ui.showVariationCheckBox)
    only = ui.observedOnlyComboBox
    assert [only.itemText(n) for n in range(only.count)] == ["All structures", "Near", "Far"]
    session.set(only, currentIndex=1)
    says(session.panel.staleness())
    session.apply()
    assert [one["name"] for one in session.panel.model.observers.outcome.content["structures"]] == ["Near"]
    only.currentIndex = ui.modeComboBox.currentIndex = 0
    session.chooseFamilies(*families)
    goBack(session, nodes, before, *readers)


def assertVariation(session: Session) -> None:
    """The consensus is colored by the local SD in place of the segmentations; hidden anywhere, they come back."""
    from SegmentMetricsLib.mrml.outcomes import variationMaps

    ui, (model,) = session.ui, variationMaps(slicer.mrmlScene)
    (consensus,) = (node for node in session.results() if node.GetAttribute("SegmentMetrics.Role") == "consensus")
    assert "3" in model.GetName() and model.GetDisplayNode().GetVisibility()
    assert consensus.GetSegmentation().GetNumberOfSegments() == 1
    display, segment = consensus.GetDisplayNode(), consensus.GetSegmentation().GetNthSegmentID(0)
    assert not display.GetVisibility2DFill() and not display.GetSegmentVisibility3D(segment)
    assert "Consensus" not in str(session.texts(ui.observersTable)), "it is no observer"
    for hide in (ui.showVariationCheckBox.click, lambda: model.GetDisplayNode().SetVisibility(False)):
        hide()
        session.settle(0.1)
        assert not model.GetDisplayNode().GetVisibility() and not ui.showVariationCheckBox.checked
        assert display.GetSegmentVisibility3D(segment)
        session.click(ui.showVariationCheckBox)
        assert model.GetDisplayNode().GetVisibility() and not display.GetSegmentVisibility3D(segment)


def assertOutlines(session: Session, readers, others) -> None:
    """The observers are drawn as outlines, each in its color, as in the list and the matrix; all else is hidden."""
    from SegmentMetricsPanel.contents.observers import colorOfObserver

    display = readers.GetDisplayNode()
    assert display.GetVisibility() and not display.GetVisibility2DFill() and not display.GetVisibility3D()
    assert display.GetSliceIntersectionThickness() == 2 and list(display.GetVisibleSegmentIDs()) == list(READERS)
    colors = [[round(255 * x) for x in display.GetSegmentOverrideColor(segment)] for segment in READERS]
    assert ["#" + bytes(color).hex() for color in colors] == [colorOfObserver(n) for n in range(len(READERS))]
    assert not any(node.GetDisplayNode().GetVisibility() for node in others)
    for item in (session.ui.observersTable.item(1, 0), session.ui.matrixTable.horizontalHeaderItem(1)):
        color = item.icon().pixmap(10, 10).toImage().pixelColor(5, 5).name()
        assert color == colorOfObserver(1), "the same color in the list and the matrix"


def check(item, isChecked: bool = True) -> None:
    import qt

    item.setCheckState(qt.Qt.Checked if isChecked else qt.Qt.Unchecked)
