"""Protocols in table nodes of Slicer."""

from __future__ import annotations

import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.protocol.protocol import parseProtocol, readProtocol


def testTableNodes(scene, savedAndLoaded):
    from SegmentMetricsLib import mrml

    protocol = readProtocol("head-and-neck-observers")
    node = mrml.tableFromProtocol(protocol)
    again = mrml.protocolFromTable(node)
    assert again.version == protocol.version and again.name == node.GetName()
    assert mrml.tableFromProtocol(again, tableNode=node).GetTable().GetNumberOfRows() == len(protocol.rules)
    node.GetTable().GetColumnByName("Relation").SetValue(1, "about")
    with pytest.raises(ValueError, match="line 3, column Relation"):
        mrml.protocolFromTable(node)
    node.RemoveColumn(0)
    with pytest.raises(ValueError, match="the column Structure is missing"):
        mrml.protocolFromTable(node)
    with pytest.raises(ValueError, match="There is no table"):
        mrml.protocolFromTable(None)


def testTablesKeepNamesThatLookLikeComments(scene):
    from SegmentMetricsLib import mrml

    text = 'Structure,Measurement,Relation,Pass\n"#1 Lesion",DSC,>=,0.9\n"a ""b"", c",DSC,>=,0.8\n'
    protocol = parseProtocol(text, "Lesions")
    again = mrml.protocolFromTable(mrml.tableFromProtocol(protocol, scene=scene))
    assert [rule.structure for rule in again.rules] == ["#1 Lesion", 'a "b", c']
    assert again.version == protocol.version


def testRulesOfOtherSurfacesThanTheDisplayedOne(scene):
    """The preset of MeshMetrics goes by the boundary of the voxels, whatever Slicer shows."""
    import scenework

    from SegmentMetricsLib import mrml

    balls = shapes.ball(8.3), shapes.ball(7.1, (1.3, 0, 0))
    nodes = [scenework.segmentation(name, Ball=ball) for name, ball in zip("RT", balls)]
    rule = "Ball,HD95,<=,3,MeshMetrics-1.4.1\n"
    protocol = parseProtocol("Structure,Measurement,Relation,Pass,Convention\n" + rule, "Limits")
    wanted = compare(*balls, Settings.preset("MeshMetrics-1.4.1"))["HD95"].value
    shown = Settings(surface="displayed", families=("boundary",))
    (found,) = judged = mrml.compareSegmentations(*nodes, shown, protocol=protocol)
    assert judged.judgment.verdicts[0].measurement.value == pytest.approx(wanted, abs=1e-6)
    assert found["HD95"].value != pytest.approx(wanted, abs=1e-2) and found.reference.surfaceKind == "displayed"


def testTablesThatAreProtocols(scene):
    from SegmentMetricsLib import mrml
    from SegmentMetricsLib.mrml.protocols import allProtocols

    node = mrml.tableFromProtocol(readProtocol("head-and-neck-observers"), scene=scene)
    scene.AddNewNodeByClass("vtkMRMLTableNode", "Empty")
    mrml.showTable(compare(shapes.ball(6), shapes.ball(7)), scene=scene)
    assert allProtocols(scene) == [node]
