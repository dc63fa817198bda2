"""The panel in scenes that are saved, loaded, closed and taken apart: nothing breaks, nothing is left behind."""

from __future__ import annotations

import pytest
import scenework
import slicer
from panel_checks.session import seen


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


# Saved and loaded


def measureAndShowAll(session) -> None:
    """Measure the chosen pair and make all nodes that the panel makes of it."""
    session.apply()
    session.panel.compareTools()
    for index in (1, 0):
        session.set(session.ui.plotComboBox, currentIndex=index)


@pytest.mark.nightly
def testEveryNodeHasAFileOfItsOwn(session, tmp_path):
    """Whatever structures are called, none of the files that the Save dialog suggests overwrites another one."""
    first, second = scenework.observers()
    session.chooseFamilies("boundary", "hazard", "slices")
    session.ui.mapSideComboBox.currentIndex = 2
    session.parameters.showMarkers = session.parameters.showHazard = True
    inside = first.GetSegmentation()
    segments = [inside.GetSegmentIdBySegmentName(name) for name in ("Box", "Bar")]
    scenework.choose(session, first, second)
    session.checkCriticals("Critical")
    measureAndShowAll(session)
    before = {node.GetID(): node.GetName() for node in session.results()}
    assert not [name for name in before.values() if name.endswith("_1")]
    assert {"Box: measurements", "Box: distance map on test", "Box: histogram (bars)"} <= set(before.values())
    assert {"Box: histogram (tolerance)", "Box: cumulative (tolerance)"} <= set(before.values())
    # the same name, and letters that Slicer leaves out of the names of files
    third = scenework.segmentation("Third", Box=scenework.shapes.box((7, 5, 5), (15, 11, 12)))
    scenework.choose(session, first, third)
    measureAndShowAll(session)
    for name, node in (("肝臓", second), ("腎臓", third)):
        other = node.GetSegmentation().GetSegmentIdBySegmentName("Box")
        node.GetSegmentation().GetSegment(other).SetName(name)
        inside.GetSegment(segments[1]).SetName(name)
        session.parameters.test, session.parameters.testSegment = node, other
        session.set(session.parameters, referenceSegment=segments[1])
        measureAndShowAll(session)
    names = [name.lower() for name in scenework.saveToFolder(tmp_path)]
    assert len(names) > 50 and sorted(names) == sorted(set(names))
    # another run of the first pair leaves the names as they are, also those that the user chose
    table = next(key for key, name in before.items() if name == "Box: measurements")
    before[table] = "Mine"
    slicer.mrmlScene.GetNodeByID(table).SetName("Mine")
    second.GetSegmentation().GetNthSegment(0).SetName("Box")
    scenework.choose(session, first, second)
    measureAndShowAll(session)
    assert set(before.values()) <= {node.GetName() for node in session.results()}


def testLongNamesCanBeSaved(session, tmp_path):
    """A file's name has the names of two structures, or of two segmentations, and file systems end at 255 letters."""
    boxes = [scenework.shapes.box((6 + n, 5, 5), (15, 11, 12)) for n in range(2)]
    nodes = [
        scenework.segmentation(letter * 110, **{letter.lower() * 110: boxes[0], "Box": boxes[1]}) for letter in "AB"
    ]
    p = session.parameters
    p.reference, p.test = nodes
    p.referenceSegment, p.testSegment = (node.GetSegmentation().GetNthSegmentID(0) for node in nodes)
    session.set(session.ui.mapSideComboBox, currentIndex=2)
    measureAndShowAll(session)
    session.set(session.ui.modeComboBox, currentIndex=1)
    session.apply()
    names = scenework.saveToFolder(tmp_path)
    assert max(map(len, names)) < 140 and len(names) == len(set(names))
    assert any(name.startswith("aaa") and name.endswith("b distance map on reference.vtk") for name in names)


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
    assert session.ui.messageLabel.text == "This map is not in the scene. Press Apply again to draw it."
    assert session.ui.summaryLabel.text == verdict and session.visibleInThreeD() == [True, True]
    session.click(session.ui.showMapCheckBox)
    assert session.ui.messageLabel.text == "The hazard is not in the scene. Press Apply again to show it."
    session.click(session.ui.showMapCheckBox)
    session.apply()
    assert not session.ui.messageLabel.text and session.visibleInThreeD() == [False, False]
    (model,) = session.maps().values()
    assert model.GetPolyData().GetNumberOfPoints()


def chooseNothing(session):
    pass


def chooseOnly(session):
    scenework.choose(session, *scenework.observers())


def onePair(session):
    chooseOnly(session)
    session.apply()


def everything(session):
    chooseOnly(session)
    scenework.showEverything(session)


def editedPairs(session):
    chooseOnly(session)
    scenework.applyAll(session, ("Bar", "Rod", "chosen"))
    assert len(session.panel.outcome.records) == 2


def outOfDate(session):
    onePair(session)
    session.set(session.ui.toleranceSpinBox, value=3)


def hiddenMap(session):
    onePair(session)
    session.click(session.ui.showMapCheckBox)


def withoutTable(session):
    onePair(session)
    slicer.mrmlScene.RemoveNode(session.parameters.result)
    session.settle(0.05)


def withoutTest(session):
    onePair(session)
    slicer.mrmlScene.RemoveNode(session.parameters.test)
    session.settle(0.4)


STATES = [everything, editedPairs, outOfDate, withoutTest]
RARE_STATES = [chooseNothing, chooseOnly, onePair, hiddenMap, withoutTable]
STATES += [pytest.param(state, marks=pytest.mark.nightly) for state in RARE_STATES]


def look(session) -> dict:
    """What is seen, also where no segmentation is chosen."""
    if None in session.nodes:
        texts = session.texts(session.ui.mainTable)
        return {"table": texts, "results": sorted(node.GetName() for node in session.results())}
    shown = {**seen(session), "pairs": [box.currentText for box in session.panel.pairs.boxes]}
    shown["tools"] = None  # they are saved with the pair that they are about
    return shown


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def testSavedAndLoaded(session, tmp_path, state):
    state(session)
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
    assert session.panel.outcome is outcome and look(session) == before and session.panel.model.kept is None
    session.set(session.parameters, mapSurface=type(session.parameters.mapSurface).measured)
    assert not session.ui.messageLabel.text and len(session.maps()) == 1
    session.askTools()
    assert session.ui.conventionsTable.rowCount > 1
    session.set(session.parameters, mapSurface=type(session.parameters.mapSurface).displayed)
    slicer.mrmlScene.Clear(0)
    session.settle(0.1)
    assert session.panel.outcome is None and session.panel.model.kept is None


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


# Taken apart


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
    for number, identifier in enumerate(scenework.shuffled(made, seed)):
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


def testWithoutTheParameterNode(session):
    scenework.choose(session, *scenework.observers())
    session.apply()
    slicer.mrmlScene.RemoveNode(session.parameters.parameterNode)
    session.settle(0.2)
    session.widget.exit()
    session.widget.enter()
    session.settle(0.2)
    worksAfterwards(session)


def testTwoComparisonsAtOnce(session):
    """Two pairs of segmentations, measured in turn; the table of one goes without any other result."""
    pairs = [scenework.observers(), scenework.observers("Third", "Fourth")]
    untouched = scenework.Untouched(*pairs[0], *pairs[1])
    tables = []
    for _ in range(2):
        for nodes in pairs:
            scenework.choose(session, *nodes)
            session.apply()
            tables.append(session.parameters.result)
    assert tables[0] is tables[2] and tables[1] is tables[3] and tables[0] is not tables[1]
    others = session.results()
    others.remove(tables[1])
    slicer.mrmlScene.RemoveNode(tables[1])
    session.settle(0.1)
    assert session.results() == others
    scenework.choose(session, *pairs[0])
    session.set(session.parameters, result=tables[0])
    assert session.panel.outcome is not None and not session.panel.staleness()
    session.click(session.ui.showMapCheckBox)
    assert untouched.changes() == []


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
    assert session.ui.summaryLabel.text == "Press Apply." and session.ui.mainTable.rowCount == 0
    assert session.panel.plot.chart is None and session.ui.conventionsTable.rowCount == 0
    measureAndShowAll(session)
    assert len(session.results()) == len(before) and list(session.maps().values()) == [mine]
    assert session.panel.outcome.shows(mine) and mine.GetName() == "Mine"


def testColorsThatNobodyUsesYetStay(session):
    """What goes with a deleted map are its own helpers, not those that somebody else is about to use."""
    scene = slicer.mrmlScene
    scenework.choose(session, *scenework.observers())
    session.apply()
    (model,) = session.maps().values()
    kept = scene.CopyNode(model.GetDisplayNode().GetColorNode())
    own = [node.GetID() for node in (model, model.GetDisplayNode(), model.GetDisplayNode().GetColorNode())]
    scene.RemoveNode(model)
    session.settle(0.1)
    assert [identifier for identifier in own if scene.GetNodeByID(identifier)] == []
    assert scene.IsNodePresent(kept)
    scene.RemoveNode(kept)


def testRenaming(session):
    """Names of nodes, segments and folders are the user's; results stay what they are about."""
    nodes = scenework.observers()
    scenework.choose(session, *nodes)
    session.apply()
    for node in session.results():
        node.SetName("=My <b>own</b> name/..")
    nodes[0].SetName("")
    nodes[1].GetSegmentation().GetSegment(session.parameters.testSegment).SetName("x" * 300)
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer.mrmlScene)
    hierarchy.SetItemName(hierarchy.GetItemParent(hierarchy.GetItemByDataNode(session.parameters.result)), "Mine")
    session.settle(0.5)
    assert not session.panel.staleness()
    untouched, observed = scenework.Untouched(*nodes), scenework.observedNow(session)
    count = len(session.results())
    session.apply()
    assert len(session.results()) == count
    assert untouched.changes() == [] and scenework.observedNow(session) == observed


def testUndo(session):
    """What is undone and redone in the scene never breaks the panel, whatever the scene undoes."""
    scene, observed = slicer.mrmlScene, scenework.observedNow(session)
    nodes = scenework.observers()
    scenework.choose(session, *nodes)
    scene.SetUndoOn()
    try:
        for node in nodes:
            node.SetUndoEnabled(True)
        scene.SaveStateForUndo()
        session.apply()
        for result in session.results():
            result.SetUndoEnabled(True)
        for change in (
            lambda: nodes[1].SetName("Renamed"),
            lambda: scene.RemoveNode(session.parameters.result),
            lambda: scene.RemoveNode(nodes[1]),
        ):
            scene.SaveStateForUndo()
            change()
            session.settle(0.4)
        for step in (scene.Undo, scene.Undo, scene.Undo, scene.Redo, scene.Undo, scene.Undo):
            step()
            session.settle(0.4)
    finally:
        scene.SetUndoOff()
        scene.ClearUndoStack()
        scene.ClearRedoStack()
    worksAfterwards(session)
    scene.Clear(0)
    session.settle(0.2)
    assert scenework.observedNow(session) == observed


@pytest.mark.parametrize(
    "state", [pytest.param(onePair, marks=pytest.mark.nightly), everything], ids=lambda state: state.__name__
)
def testClosedInABatch(session, state):
    """As applications close a scene that do many things at once, also twice, and with nodes that come meanwhile."""
    scene = slicer.mrmlScene
    state(session)
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


def testNodesGoInABatch(session):
    scene = slicer.mrmlScene
    everything(session)
    scene.StartState(scene.BatchProcessState)
    for node in [*session.results(), *session.nodes]:
        scene.RemoveNode(node)
    session.settle(0.1)
    scene.EndState(scene.BatchProcessState)
    session.settle(0.4)
    assert session.panel.outcome is None and session.results() == []
    worksAfterwards(session)
