"""The panel in scenes that are saved, loaded, closed and taken apart: nothing breaks, nothing is left behind."""

from __future__ import annotations

import random

import pytest
import scenework
import slicer
from panel_checks.session import seen
from sayings import says


def worksAfterwards(session) -> None:
    """Another comparison in the same scene, or in a fresh one, is as good as the first."""
    nodes = scenework.observers("Third", "Fourth")
    session.settle(0.05)
    session.ui.modeComboBox.currentIndex = 0
    session.chooseFamilies("boundary", "overlap")
    session.parameters.protocol = None
    session.parameters.showMap = True
    scenework.choose(session, *nodes)
    session.apply()
    assert session.panel.outcome.records[0].measurements["DSC"].value == pytest.approx(0.8)
    assert len(session.maps()) >= 1 and session.ui.mainTable.rowCount


def measureAndShowAll(session) -> None:
    """Measure the chosen pair and make all nodes that the panel makes of it."""
    session.apply()
    session.panel.compareTools()
    for index in (1, 0):
        session.set(session.ui.plotComboBox, currentIndex=index)


def testEveryNodeHasAFileOfItsOwn(session, tmp_path):
    """None of the files that the Save dialog suggests overwrites another one, and file systems end at 255 letters."""
    boxes = [scenework.shapes.box((6 + n, 5, 5), (9, 8, 8)) for n in range(3)]
    nodes = [scenework.segmentation(letter * 110, Box=box) for letter, box in zip("ABC", boxes)]
    session.chooseFamilies("boundary", "slices")
    # of some letters Slicer makes nothing in the names of files
    for name, test in zip(("肝臓", "腎臓", "腎臓", "a" * 110), (*nodes[1:], *nodes[1:])):
        for node in nodes:
            node.GetSegmentation().GetNthSegment(0).SetName(name)
        scenework.choose(session, nodes[0], test, name)
        measureAndShowAll(session)
    names = [name.lower() for name in scenework.saveToFolder(tmp_path)]
    assert len(names) > 20 and sorted(names) == sorted(set(names)) and max(map(len, names)) < 140


def testFilesThatAreMissing(session, desktop, tmp_path):
    """Without the files of its surface and of the hazard a scene has its numbers, and says what has to be drawn."""
    scenework.choose(session, *scenework.observers())
    session.chooseFamilies("boundary", "hazard")
    session.checkCriticals("Critical")
    session.ui.showHazardCheckBox.click()
    session.apply()
    verdict = session.ui.summaryLabel.text
    missing = ("vtkMRMLModelNode", "vtkMRMLScalarVolumeNode")
    assert scenework.saveToFolder(tmp_path, missing)
    with pytest.raises(RuntimeError, match="Failed to load"):
        slicer.util.loadScene(str(tmp_path / "scene.mrml"), {"clear": True})
    session.settle(0.1)
    says(session.ui.messageLabel.text)
    assert session.ui.summaryLabel.text == verdict and session.visibleInThreeD() == [True, True]
    session.click(session.ui.showMapCheckBox)
    says(session.ui.messageLabel.text)
    session.click(session.ui.showMapCheckBox)
    session.apply()
    assert not session.ui.messageLabel.text and session.visibleInThreeD() == [False, False]
    (model,) = session.maps().values()
    assert model.GetPolyData().GetNumberOfPoints()


def onePair(session):
    scenework.choose(session, *scenework.observers())
    session.apply()


def editedPairs(session):
    scenework.showEverything(session)
    scenework.applyAll(session, ("Bar", "Rod", "chosen"))


def withoutTheTest(session):
    session.apply()
    slicer.mrmlScene.RemoveNode(session.parameters.test)


def look(session) -> dict:
    """What is seen, also where no segmentation is chosen."""
    if None in session.nodes:
        texts = session.texts(session.ui.mainTable)
        return {"table": texts, "results": sorted(node.GetName() for node in session.results())}
    shown = {**seen(session), "pairs": [box.currentText for box in session.panel.pairs.boxes]}
    shown["tools"] = None  # they are saved with the pair that they are about
    return shown


@pytest.mark.parametrize("state", [editedPairs, withoutTheTest])
def testSavedAndLoaded(session, tmp_path, state):
    scenework.choose(session, *scenework.observers())
    state(session)
    session.settle(0.4)
    before, path = look(session), str(tmp_path / "scene.mrb")
    observed = scenework.observedNow(session)
    assert slicer.util.saveScene(path)
    session.settle(0.05)
    assert look(session) == before, "saving changes nothing"
    for clear in (False, True):
        if not clear:
            slicer.mrmlScene.Clear(0)
            session.settle(0.05)
            assert session.panel.outcome is None and not session.results()
        slicer.util.loadScene(path, {"clear": clear})
        session.settle(0.4)
        now = look(session)
        assert now == before, {key: (before[key], now[key]) for key in now if now[key] != before[key]}
        assert scenework.observedNow(session) == observed


def testAddedScenesTakeNothingAway(session, tmp_path):
    """Results stay whole when somebody adds a scene that has nothing to do with them: all can still be made of them."""
    scenework.observers("Fifth", "Sixth")
    parameterNode = session.parameters.parameterNode
    parameterNode.SetSaveWithScene(0)  # as in the scene of somebody who never opened the module
    try:
        assert slicer.util.saveScene(str(tmp_path / "other.mrb"))
    finally:
        parameterNode.SetSaveWithScene(1)
    slicer.mrmlScene.Clear(0)
    session.settle(0.05)
    onePair(session)
    before, outcome = look(session), session.panel.outcome
    assert outcome.comparisons
    slicer.util.loadScene(str(tmp_path / "other.mrb"), {"clear": False})
    session.settle(0.4)
    assert len(slicer.util.getNodesByClass("vtkMRMLSegmentationNode")) == 4
    assert session.panel.outcome is outcome and look(session) == before and not session.panel.model.kept
    session.set(session.parameters, mapSurface=type(session.parameters.mapSurface).measured)
    assert not session.ui.messageLabel.text and len(session.maps()) == 1
    session.askTools()
    assert session.ui.conventionsTable.rowCount > 1
    session.set(session.parameters, mapSurface=type(session.parameters.mapSurface).displayed)
    slicer.mrmlScene.Clear(0)
    session.settle(0.1)
    assert session.panel.outcome is None and not session.panel.model.kept


def testAddedScenesWithResultsBringTheirOwn(session, tmp_path):
    """A scene with results of its own is shown as it was saved, without what was measured before in this one."""
    path = str(tmp_path / "scene.mrb")
    onePair(session)
    assert slicer.util.saveScene(path)
    first = session.panel.outcome
    slicer.util.loadScene(path, {"clear": False})
    session.settle(0.4)
    assert session.panel.outcome is not first and session.panel.outcome.comparisons is None
    assert session.panel.outcome.table is session.parameters.result


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (1, 2))])
def testNodesGoInAnyOrder(session, seed):
    """All nodes that the scene got, ours and the user's, also those that Slicer hides, one after the other."""
    scene = slicer.mrmlScene
    before, observed = {node.GetID() for node in scene.GetNodes()}, scenework.observedNow(session)
    nodes = scenework.observers()
    scenework.choose(session, *nodes)
    scenework.showEverything(session)
    parameterNode = session.parameters.parameterNode
    made = [node for node in scene.GetNodes() if node.GetID() not in before and node is not parameterNode]
    assert len(made) > 20
    identifiers = [node.GetID() for node in made]
    random.Random(seed).shuffle(identifiers)
    for number, identifier in enumerate(identifiers):
        node = scene.GetNodeByID(identifier)
        if node is None:
            continue  # it went along with another one
        scene.RemoveNode(node)
        if (number + seed) % 3:
            session.settle(0.02)
        if number % 10 == seed:
            session.click(session.ui.applyButton)
    for node in session.results():  # those of the clicks on Apply in between
        if scene.IsNodePresent(node):
            scene.RemoveNode(node)
    del node, nodes, made
    session.settle(0.5)
    assert session.panel.outcome is None
    left = [node.GetName() for node in scene.GetNodes() if node.GetID() not in before and node is not parameterNode]
    assert set(left) <= {"Segment Metrics plot"}
    assert scenework.observedNow(session) == observed
    worksAfterwards(session)


def testTheTableGoesAlone(session):
    """Who deletes the numbers keeps the map and the plot; the next run of the pair replaces those, and adds none."""
    scenework.choose(session, *scenework.observers())
    measureAndShowAll(session)
    before = session.results()
    mine = next(iter(session.maps().values()))
    mine.SetName("Mine")
    table = session.parameters.result
    others = [node for node in before if node is not table]
    slicer.mrmlScene.RemoveNode(table)
    assert session.panel.outcome is None and not session.panel.compareTools()
    session.settle(0.1)
    assert session.results() == others and {"Mine"} < {node.GetName() for node in others}
    assert says(session.ui.summaryLabel.text) and session.ui.mainTable.rowCount == 0
    assert session.panel.plot.chart is None and session.ui.conventionsTable.rowCount == 0
    measureAndShowAll(session)
    assert len(session.results()) == len(before) and list(session.maps().values()) == [mine]
    assert session.panel.outcome.shows(mine) and mine.GetName() == "Mine"


def testTwoComparisonsInTurn(session):
    """Each replaces its own results, whatever is called what; the map of segmentations that are gone makes way."""
    scene, pairs = slicer.mrmlScene, [scenework.observers(), scenework.observers("Third", "Fourth")]
    tables = []
    for nodes in pairs:
        scenework.choose(session, *nodes)
        session.apply()
        tables.append(session.parameters.result)
    before = session.results()
    for node in [*before, nodes[1].GetSegmentation().GetSegment(session.parameters.testSegment)]:
        node.SetName("=My <b>own</b> name/..")
    nodes[0].SetName("")
    session.settle(0.5)
    assert not session.panel.staleness()
    session.apply()
    assert session.parameters.result is tables[1] and session.results() == before
    scenework.choose(session, *pairs[0])
    session.apply()
    assert session.parameters.result is tables[0] and session.results() == before
    assert tables[0].GetName() == "=My <b>own</b> name/.."
    scene.RemoveNode(tables[1])
    session.settle(0.1)
    assert session.results() == [node for node in before if node is not tables[1]]
    assert session.panel.outcome is not None and not session.panel.staleness()
    session.set(session.parameters, focus=False)  # which would hide whatever there is
    (model,) = session.maps().values()
    for node in pairs[0]:
        scene.RemoveNode(node)
    session.settle(0.1)
    worksAfterwards(session)
    assert not model.GetDisplayNode().GetVisibility() and len(session.maps()) == 1


def testUndo(session):
    """What is undone and redone in the scene never breaks the panel, whatever the scene undoes."""
    scene, observed, nodes = slicer.mrmlScene, scenework.observedNow(session), scenework.observers()
    scenework.choose(session, *nodes)
    scene.SetUndoOn()
    for node in nodes:
        node.SetUndoEnabled(True)
    scene.SaveStateForUndo()
    session.apply()
    for node in session.results():
        node.SetUndoEnabled(True)
    for removed in (None, session.parameters.result, nodes[1]):
        scene.SaveStateForUndo()
        nodes[0].SetName("Renamed") if removed is None else scene.RemoveNode(removed)
        session.settle(0.2)
    for step in (scene.Undo, scene.Undo, scene.Undo, scene.Redo, scene.Undo, scene.Undo):
        step()
        session.settle(0.2)
    assert (session.panel.outcome, session.parameters.test, session.results()) == (None, None, [])
    scene.SetUndoOff()
    worksAfterwards(session)
    scene.Clear(0)
    session.settle(0.2)
    assert scenework.observedNow(session) == observed


def testClosedInABatch(session):
    """As applications close a scene that do many things at once, also twice, and with nodes that come meanwhile."""
    scene = slicer.mrmlScene
    scenework.choose(session, *scenework.observers())
    scenework.showEverything(session)
    scene.StartState(scene.BatchProcessState)
    scene.Clear(0)
    session.settle(0.1)
    scenework.observers("Fifth", "Sixth")
    scene.Clear(0)
    scene.EndState(scene.BatchProcessState)
    session.settle(0.2)
    assert session.panel.outcome is None and session.results() == [] and not session.ui.applyButton.enabled
    assert scenework.observedNow(session) <= 4
    worksAfterwards(session)
