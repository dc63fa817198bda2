"""Several observers as nodes: segments in; consensus, map of the local SD and matrices out, in one folder."""

from __future__ import annotations

import json

import numpy as np
import pytest
import segmentnodes
import shapes
from sayings import refused, says
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Settings, compareObservers

pytest.importorskip("slicer", reason="needs the slicer-core package")
import slicer

from SegmentMetricsLib import mrml

FEW = Settings(metrics=("HD95", "DSC"))


def box(x: int):
    return shapes.box((5 + x, 8, 8), (14 + x, 17, 17), (40, 26, 26), (1.0, 1.5, 2.0), (-20.0, 5.0, 30.0))


@pytest.fixture
def nodes(scene):
    """Three observers and a test with a node each, whose transforms and segments nobody may change."""
    made = []
    for name, x in (("Ärztin", 0), ("Observer 2", 2), ("Observer 3", 4), ("AI", 1)):
        made.append(segmentnodes.segmentationOf(scene, Parotid=box(x), Cord=box(3 * x)))
        made[-1].SetName(name)
    return made


def testSegmentsOfOneNodeAreObservers(scene):
    node = segmentnodes.segmentationOf(scene, A=box(0), B=box(2), C=box(4))
    study = mrml.compareObservers([(node, "A"), (node, "B")], FEW, tests=[(node, "C")])
    assert (study.observers, study.testNames, len(study)) == (("A", "B"), ("C",), 1)
    assert study.matrix["DSC"][0, 1] == pytest.approx(0.8)
    with refused("'D'", "A, B, C"):
        mrml.compareObservers([(node, "A"), (node, "D")])
    with refused("1"):
        mrml.compareObservers([node])


def testResultsOfAStudy(nodes, scene, savedAndLoaded):
    """Those of the library, in one folder, where a second run finds and replaces them, also in a loaded scene."""
    study = mrml.compareObservers(nodes[:3], FEW, tests=nodes[3:])
    expected = compareObservers([box(0), box(2), box(4)], FEW, tests=[box(1)])
    assert (study.observers, study.testNames) == (("Ärztin", "Observer 2", "Observer 3"), ("AI",))
    assert [found.name for found in study] == ["Parotid", "Cord"]
    parotid = study["Parotid"]
    np.testing.assert_allclose(parotid.matrix["HD95"], expected.matrix["HD95"])
    assert parotid.agreement == expected.agreement
    assert all(node.GetSegmentation().GetNumberOfSegments() == 2 for node in nodes)

    consensus = mrml.showConsensus(study)
    assert consensus not in nodes
    says(consensus.GetName(), "3", "majority")
    segmentation = consensus.GetSegmentation()
    names = [segmentation.GetSegment(identifier).GetName() for identifier in segmentation.GetSegmentIDs()]
    assert names == ["Parotid", "Cord"] and mrml.showConsensus(study) is consensus
    comparison = mrml.compareSegments(consensus, "Parotid", nodes[1], "Parotid", FEW)
    assert (comparison["HD95"].value, comparison["DSC"].value) == (0, 1) and len(segmentation.GetSegmentIDs()) == 2

    model = mrml.showVariation(parotid)
    values = vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("LocalSD"))
    points = vtk_to_numpy(model.GetPolyData().GetPoints().GetData())
    # the middle box in RAS; the left and right sides differ by 2 mm, the others hardly
    assert points.mean(axis=0) == pytest.approx((8.5, -23.75, 55), abs=1.0)
    assert values.max() == pytest.approx(2.0, abs=0.05) and np.median(values) < 1.0
    display = model.GetDisplayNode()
    assert display.GetActiveScalarName() == "LocalSD" and display.GetScalarRange() == (0.0, 2.0)
    assert slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(model).GetTitleText().startswith("Local SD (mm)")
    assert mrml.showVariation(parotid, surface="measured") is model
    assert model.GetPolyData().GetNumberOfPoints() == len(parotid.variation.surface.points)

    matrix = mrml.showMatrix(parotid, "HD95")
    table = matrix.GetTable()
    assert [table.GetColumnName(n) for n in range(5)] == ["Reference", "Ärztin", "Observer 2", "Observer 3", "AI"]
    assert table.GetValueByName(0, "Observer 3").ToDouble() == pytest.approx(4.0)
    assert np.isnan(table.GetValueByName(0, "Ärztin").ToDouble())
    assert json.loads(matrix.GetAttribute("SegmentMetrics.Observers"))["name"] == "Parotid"
    assert mrml.showMatrix(parotid, "DSC") is matrix
    says(matrix.GetName(), "Parotid", "DSC")
    with refused("HD ", "HD95, DSC"):
        mrml.showMatrix(parotid, "HD")

    hierarchy = scene.GetSubjectHierarchyNode()
    (folder,) = {hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node)) for node in (consensus, model, matrix)}
    says(hierarchy.GetItemName(folder), "Ärztin, ")
    loaded = savedAndLoaded(scene)
    found = loaded.GetFirstNodeByName(matrix.GetName())
    assert found is not None and mrml.showMatrix(parotid, "HD95", scene=loaded) is found


def testSegmentsThatCannotBeReadAndWorkThatIsStopped(scene):
    """Structures that were measured before are kept."""
    nodes = [segmentnodes.boxesNode(scene, "Parotid", "Cord") for _ in range(2)]  # three would have a consensus
    study = mrml.compareObservers(nodes, FEW, progress=lambda number, _count, _name: number < 1)
    assert [found.name for found in study] == ["Parotid"]
    says("\n".join(study.remarks), 1, 2)
    for node in nodes:
        segmentnodes.breakSegment(node, "Cord")
    study = mrml.compareObservers(nodes, FEW)
    assert [found.name for found in study] == ["Parotid"]
    says("\n".join(study.remarks), "Cord")


@pytest.mark.nightly
def testDisplayedSurfacesAreMeasured(nodes):
    """The surfaces that Slicer shows are measured, also that of the consensus."""
    study = mrml.compareObservers(nodes[:3], Settings(metrics=("HD95",), surface="displayed"))
    expected = mrml.compareSegments(nodes[0], "Parotid", nodes[2], "Parotid", study.settings)
    assert study["Parotid"].matrix["HD95"][0, 2] == expected["HD95"].value
    assert study["Parotid"].consensus.surfaceKind == "displayed"
