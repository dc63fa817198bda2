"""Small scenes for tests of the panel, and what must not change in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import shapes
import slicer
from segmentnodes import segmentationOf

LIMITS = "Structure,Measurement,Relation,Pass,Warn\nBox,DSC,>=,0.99,0.5\n*,HD95,<=,1,\n"


def segmentation(name: str, **masks):
    """Return a new segmentation node with segments made of SimpleITK images, by name."""
    return segmentationOf(slicer.mrmlScene, name, **masks)


def twoBoxes(name: str = "Box") -> list:
    """Return two segmentation nodes with a box of that name, of which the second is the smaller one."""
    boxes = shapes.box((6, 5, 5), (9, 9, 9)), shapes.box((8, 5, 5), (9, 9, 9))
    return [segmentation(which, **{name: box}) for which, box in zip(("First", "Second"), boxes)]


def observers(first: str = "First", second: str = "Second") -> list:
    """Return two segmentation nodes: a box that was moved, a bar with another name, and a third structure of one."""
    nodes = []
    for shift, name, bar in ((0, first, "Bar"), (2, second, "Rod")):
        masks = {"Box": shapes.box((6 + shift, 5, 5), (15 + shift, 8, 8)), bar: shapes.box((4, 15, 16), (15, 17, 20))}
        if not shift:
            masks["Critical"] = shapes.box((3, 18, 4), (6, 20, 7))
        nodes.append(segmentation(name, **masks))
    return nodes


def choose(session, reference, test, name: str = "Box") -> None:
    """Choose a structure of two nodes in the panel."""
    p = session.parameters
    with slicer.util.NodeModify(p.parameterNode):
        p.reference, p.test = reference, test
        p.referenceSegment = reference.GetSegmentation().GetSegmentIdBySegmentName(name)
        p.testSegment = test.GetSegmentation().GetSegmentIdBySegmentName(name)
    session.settle(0.05)


def protocol():
    """Return a table node with a protocol."""
    from SegmentMetricsLib import mrml
    from SegmentMetricsLib.case.protocol.protocol import parseProtocol

    return mrml.tableFromProtocol(parseProtocol(LIMITS, "Limits"))


def showEverything(session) -> None:
    """Measure a pair, then all structures, with all that can be shown of them."""
    p = session.parameters
    session.chooseFamilies("boundary", "signed", "overlap", "hazard", "slices")
    session.checkCriticals("Critical")
    p.protocol = protocol()
    p.showMarkers = p.showHazard = True
    session.ui.mapSideComboBox.currentIndex = 2
    session.settle(0.05)
    session.apply()
    session.panel.compareTools()
    session.ui.modeComboBox.currentIndex = 1
    session.settle(0.05)
    session.apply()
    session.ui.plotComboBox.currentIndex = 1
    session.settle(0.05)


def saveToFolder(folder, without: Sequence[str] = ()) -> list[str]:
    """Save the scene as Slicer's Save dialog suggests, every node to a file of its name, and return the files' names.

    without: classes of the nodes whose files are left out. The scene's own file is scene.mrml.
    """
    scene, names = slicer.mrmlScene, []
    scene.SetRootDirectory(str(folder))
    for node in list(scene.GetNodes()):
        if not node.IsA("vtkMRMLStorableNode") or not node.GetSaveWithScene():
            continue
        if node.GetStorageNode() is None and not node.AddDefaultStorageNode():
            continue
        storage = node.GetStorageNode()
        if storage is None:  # the scene's own file is enough for it
            continue
        name = re.sub(r"[^A-Za-z0-9 \-_.()$!~#'%^{}]", "", node.GetName())
        names.append(f"{name}.{storage.GetDefaultWriteFileExtension()}")
        storage.SetFileName(f"{folder}/{names[-1]}")
        if not any(node.IsA(kind) for kind in without):
            assert storage.WriteData(node), names[-1]
    scene.SetURL(f"{folder}/scene.mrml")
    assert scene.Commit(f"{folder}/scene.mrml")
    return names


def observedNow(session) -> int:
    """How many observers the panel has."""
    parts = (session.panel, session.panel.watcher, session.panel.protocols, session.panel.map)
    return sum(len(part.Observations) for part in parts)


def applyAll(session, *choices: tuple) -> None:
    """Measure all matching structures, and the pairs that are chosen as well."""
    from SegmentMetricsPanel.model import editedpairs

    session.ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    session.ui.resetPairsButton.click()
    editedpairs.choose(session.parameters, list(choices))
    session.settle(0.1)
    session.apply()
