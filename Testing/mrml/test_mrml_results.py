"""What every result in a scene has in common: one node of a pair, replaced by the next run, in the pair's folder."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import slicer

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.model.dose import Dose
from SegmentMetricsLib.mrml import colors, folders

# How each result is shown, in another way, and the argument that takes a node to fill.
RESULTS = {
    "table": (mrml.showTable, {}, "tableNode"),
    "reference": (mrml.showDistanceMap, {"kind": "tolerance"}, "modelNode"),
    "test": (lambda pair, **more: mrml.showDistanceMap(pair, side="test", **more), {"kind": "absolute"}, "modelNode"),
    "histogram": (mrml.showHistogram, {"tolerance": 2}, "chartNode"),
    "cumulative": (mrml.showCumulative, {"tolerance": 2}, "chartNode"),
    "dose": (mrml.showDoseVolume, {}, "chartNode"),
    "slices": (mrml.showSlices, {"quantity": "DSC"}, "chartNode"),
    "markers": (mrml.showMarkers, {"places": ()}, "markersNode"),
    "hazard": (mrml.showHazard, {}, "volumeNode"),
    "lesions": (mrml.showLesions, {}, "modelNode"),
    "lesionsTable": (mrml.showLesionsTable, {}, "tableNode"),
}


@pytest.fixture(scope="module")
def pair():
    """Two boxes with everything that can be shown."""
    families = ("boundary", "signed", "overlap", "hazard", "slices", "instances", "dose")
    boxes = [shapes.box(low, high) for low, high in (((8, 5, 5), (14, 12, 11)), ((6, 5, 5), (13, 12, 11)))]
    wall = shapes.box((2, 0, 0), (3, 23, 23))
    dose = Dose(np.indices((24, 24, 24), float)[0] + 1, Grid((24, 24, 24), np.eye(4)))
    return compare(*boxes, Settings(families=families), criticals={"Wall": wall}, dose=dose)


def identifiers(scene) -> set:
    return {node.GetID() for node in scene.GetNodes()}


def folderOf(node) -> int:
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(node.GetScene())
    return hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node))


@pytest.mark.parametrize("result", RESULTS)
def testANextRunReplacesAndRemovingLeavesNothing(scene, pair, result):
    show, other, _ = RESULTS[result]
    slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)  # made when it is first asked for
    before = identifiers(scene)
    node = show(pair)
    made = identifiers(scene)
    node.SetName("renamed by the user")
    if node.IsA("vtkMRMLDisplayableNode"):
        node.GetDisplayNode().SetOpacity(0.4)
    assert show(pair, **other) is node and show(pair) is node
    assert len(identifiers(scene)) == len(made)
    if node.IsA("vtkMRMLDisplayableNode"):
        assert node.GetDisplayNode().GetOpacity() == 0.4
    # all of it, but colors, is in the folder of the pair, and is saved
    for one in filter(None, map(scene.GetNodeByID, made - before)):
        assert one.GetSaveWithScene()
        if not one.IsA("vtkMRMLDisplayNode") and not one.IsA("vtkMRMLColorNode"):
            assert folderOf(one) == folderOf(node) != 0
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
    folder = folderOf(node)
    assert hierarchy.GetItemName(folder) == folders.folderName(pair, scene)
    mrml.removeResults(pair)
    assert identifiers(scene) == before and hierarchy.GetItemName(folder) == ""
    assert not [one for one in scene.GetNodes() if one.GetAttribute(colors.COLORS_ATTRIBUTE)]


def testAllOfAPairShareOneFolderAndComeBackWithTheScene(scene, pair, savedAndLoaded):
    made = {result: show(pair) for result, (show, _, _) in RESULTS.items()}
    assert len({folderOf(node) for node in made.values()}) == 1
    loaded = savedAndLoaded(scene)
    count = loaded.GetNumberOfNodes()
    for result, (show, _, _) in RESULTS.items():
        found = show(pair, scene=loaded)
        assert found.GetScene() is loaded and found.GetName() == made[result].GetName()
    assert loaded.GetNumberOfNodes() == count


@pytest.mark.parametrize("result", [result for result in RESULTS if result != "test"])
def testIntoAGivenNode(scene, pair, result):
    show, _, argument = RESULTS[result]
    given = scene.AddNewNodeByClass(show(pair).GetClassName())
    mrml.removeResults(pair)
    assert show(pair, **{argument: given}) is given and show(pair) is given
