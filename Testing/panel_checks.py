"""What a user does in the panel and what must then be seen; the same in a running Slicer and on the stand-in.

Every check takes the Session and begins where the one before has ended.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from pathlib import Path

import numpy as np
import slicer
import vtk
from vtk.util.numpy_support import vtk_to_numpy

STRUCTURE = "Parotid_L"


class Session:
    """The panel as a user sees it. Segments are looked up anew each time: scenes come and go."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="segment-metrics-")
        self.remembered = {}

    @property
    def widget(self):
        return slicer.modules.SegmentMetricsWidget

    @property
    def panel(self):
        return self.widget.panel

    @property
    def ui(self):
        return self.widget.ui

    @property
    def parameters(self):
        return self.panel.parameters

    @property
    def nodes(self) -> list:
        return [self.parameters.reference, self.parameters.test]

    def settle(self, seconds: float = 0.5) -> None:
        """Let timers and events happen."""
        begin, rounds = time.monotonic(), 0
        while time.monotonic() < begin + seconds or rounds < 10 or self.isExpecting:
            slicer.app.processEvents()
            time.sleep(0.01)
            rounds += 1
            assert time.monotonic() < begin + 60, "the panel never comes to rest"

    @property
    def isExpecting(self) -> bool:
        """Whether something is about to happen in the panel, however slow the views draw."""
        panel = self.panel
        timers = [panel.refreshTimer, panel.watcher.timer, *(chooser.timer for chooser in panel.inputs.choosers)]
        return any(timer.isActive() for timer in timers)

    def choose(self, name: str) -> None:
        """Choose a structure of the reference, as the segment selector does."""
        segmentation = self.nodes[0].GetSegmentation()
        self.ui.referenceSelector.setCurrentSegmentID(segmentation.GetSegmentIdBySegmentName(name))
        self.settle(0.1)

    def apply(self) -> None:
        assert self.ui.applyButton.enabled, self.ui.applyButton.toolTip
        self.ui.applyButton.click()
        self.settle(0.2)

    def chooseFamilies(self, *families: str) -> None:
        """Check the boxes of these families of metrics, and no others."""
        for family, box in self.panel.choices.boxes.items():
            if bool(box.checked) != (family in families):
                box.click()
        self.settle(0.1)

    def askTools(self) -> None:
        """Ask what other tools would report."""
        assert self.ui.conventionsButton.enabled, self.ui.conventionsButton.toolTip
        self.ui.conventionsButton.click()
        self.settle(0.2)

    def checkCriticals(self, *names: str) -> None:
        """Check these names in the list of critical structures, and no others."""
        import qt

        box = self.ui.criticalComboBox
        for row in range(box.count):
            state = qt.Qt.Checked if box.itemText(row) in names else qt.Qt.Unchecked
            box.setItemData(row, int(state), qt.Qt.CheckStateRole)
        self.settle(0.1)

    def isShown(self, widget) -> bool:
        """Whether a widget can be seen when its section is open."""
        return not widget.isHidden()

    def maps(self) -> dict:
        """The distance maps that can be seen, by the side they are on."""
        from SegmentMetricsLib.mrml import maps

        models = maps.allMaps(slicer.mrmlScene)
        return {maps.mapInformation(m)["side"]: m for m in models if m.GetDisplayNode().GetVisibility()}

    def texts(self, table) -> list[list[str]]:
        """The texts of all lines of a table; one text only where that goes over the whole width."""
        items = [[table.item(r, c) for c in range(table.columnCount)] for r in range(table.rowCount)]
        return [[item.text() for item in line if item is not None] for line in items]

    def visibleInThreeD(self) -> list[bool]:
        segments = (self.parameters.referenceSegment, self.parameters.testSegment)
        return [bool(n.GetDisplayNode().GetSegmentVisibility3D(s)) for n, s in zip(self.nodes, segments)]

    def results(self) -> list:
        """All nodes that hold results."""
        return [node for node in slicer.mrmlScene.GetNodes() if node.GetAttribute("SegmentMetrics.Role")]


def checkOpening(session: Session) -> None:
    """The module opens with two segmentations and a structure that both have already chosen."""
    from SegmentMetrics import SegmentMetricsLogic

    SegmentMetricsLogic().loadSample()
    slicer.util.selectModule("SegmentMetrics")
    session.settle(0.2)
    assert [node.GetName() for node in session.nodes] == ["Observer 1", "Observer 2"]
    assert session.ui.applyButton.enabled and not session.results()
    session.choose(STRUCTURE)
    names = [
        node.GetSegmentation().GetSegment(segment).GetName()
        for node, segment in zip(session.nodes, (session.parameters.referenceSegment, session.parameters.testSegment))
    ]
    assert names == [STRUCTURE, STRUCTURE], "the other observer's contour of the same structure follows"


def checkApply(session: Session) -> None:
    """Apply shows the numbers that the library computes, and the segmentations stay what they were."""
    from SegmentMetricsLib import mrml

    before = [node.GetSegmentation().GetMTime() for node in session.nodes]
    session.apply()
    assert [node.GetSegmentation().GetMTime() for node in session.nodes] == before
    expected = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE)
    shown = session.panel.outcome.records[0].measurements
    assert {key: m.value for key, m in shown.items()} == {key: m.value for key, m in expected.items()}
    rows = session.texts(session.ui.resultsTable)
    assert [row[0] for row in rows][:4] == ["Boundary", "HD", "HD95", "MASD"]
    headed = [row[0] for row in rows if len(row) == 1]
    assert headed == ["Boundary", "Signed", "Overlap"], "a heading for every family"
    sides = session.texts(session.ui.sidesTable)
    assert [row[0] for row in sides] == ["Mean", "Max", "Min"]
    assert len(rows) - len(headed) + 6 * len(sides) == len(expected), "every number has its place"
    assert rows[1][1:] == [expected["HD"].text()] + [
        f"{value:.2f}" for value in (expected["HD"].referenceToTest, expected["HD"].testToReference)
    ]
    assert [float(text) for text in sides[1][1:]] == [round(expected[f"Max{side}"].value, 1) for side in "RLAPSI"]
    assert expected.summary.split(";")[0] in session.ui.verdictLabel.text
    assert not session.ui.staleLabel.isVisibleTo(session.ui.staleLabel.parent())
    assert "doi" in session.ui.resultsTable.item(len(rows) - 7, 0).toolTip()
    table = session.parameters.result
    saved = json.loads(table.GetAttribute("SegmentMetrics.Comparison"))["measurements"]
    assert saved["HD95"]["value"] == expected["HD95"].value
    session.remembered["HD95"] = expected["HD95"].value


def checkSorting(session: Session) -> None:
    """A click on a heading sorts by value, the third one brings the order back."""
    table = session.panel.results.table
    before = session.texts(session.ui.resultsTable)
    table.onHeading(1)
    values = [table.rows[n][1][1] for n in table.order]
    assert values == sorted(values) and session.texts(session.ui.resultsTable) != before
    table.onHeading(1)
    assert [table.rows[n][1][1] for n in table.order] == sorted(values, reverse=True)
    table.onHeading(1)
    assert session.texts(session.ui.resultsTable) == before
    places = session.panel.places.table
    places.onCell(0, 0)
    places.onHeading(2)
    assert places.order[session.ui.placesTable.currentRow()] == 0, "what is selected stays selected"
    places.onHeading(2)
    places.onHeading(2)


def checkCopyAndExport(session: Session) -> None:
    """The table can be pasted into a spreadsheet, and is exported with all digits."""
    import csv

    import qt

    session.ui.copyButton.click()
    lines = qt.QApplication.clipboard().text().split("\n")
    shown = [row for row in session.texts(session.ui.resultsTable) if len(row) > 1]
    assert len(lines) == 1 + len(shown) + 1 + session.ui.sidesTable.rowCount and lines[1].split("\t")[0] == "HD"
    path = Path(session.folder.name) / "metrics.csv"
    session.panel.results.export(path)
    with path.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["HD95"]) == session.remembered["HD95"] and row["Reference"] == STRUCTURE
    assert path.with_name("metrics.schema.csv").exists()


def checkMap(session: Session) -> None:
    """The map is there, finite, with a legend, in place of the segments; one check box takes all of it back."""
    (model,) = session.maps().values()
    values = vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("SignedDistance"))
    assert np.isfinite(values).all() and values.min() < -2 and len(values) > 1000
    display = model.GetDisplayNode()
    assert display.GetActiveScalarName() == "SignedDistance" and display.GetScalarVisibility()
    low, high = display.GetScalarRange()
    assert low == -high and high == session.ui.rangeSpinBox.value
    assert display.GetVisibility2D() and display.GetSliceIntersectionThickness() >= 4
    legend = slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(model)
    assert legend.GetVisibility() and "mm" in legend.GetTitleText()
    assert session.visibleInThreeD() == [False, False]
    session.ui.showMapCheckBox.click()
    session.settle(0.1)
    assert not session.maps() and session.visibleInThreeD() == [True, True] and not legend.GetVisibility()
    session.ui.showMapCheckBox.click()
    session.settle(0.1)
    assert session.maps() and session.visibleInThreeD() == [False, False]


def checkMapOptions(session: Session) -> None:
    """Side, kind, surface, range, opacity, slices and legend do what they say, with one model per side."""
    ui = session.ui
    ui.mapSideComboBox.currentIndex = 2
    session.settle(0.1)
    assert set(session.maps()) == {"reference", "test"}
    ui.mapSideComboBox.currentIndex = 1
    session.settle(0.1)
    assert set(session.maps()) == {"test"} and session.visibleInThreeD() == [False, False]
    ui.mapSideComboBox.currentIndex = 2
    ui.mapKindComboBox.currentIndex = 1
    session.settle(0.1)
    for model in session.maps().values():
        assert model.GetDisplayNode().GetActiveScalarName() == "Distance"
        assert model.GetDisplayNode().GetScalarRange()[0] == 0
    ui.mapKindComboBox.currentIndex = 2
    session.settle(0.1)
    assert session.maps()["test"].GetDisplayNode().GetScalarRange() == (-6, 6)
    ui.mapKindComboBox.currentIndex = 0
    session.settle(0.1)
    ui.automaticRangeCheckBox.click()
    ui.rangeSpinBox.value = 4
    ui.opacitySlider.value = 0.5
    ui.sliceContourCheckBox.click()
    ui.legendCheckBox.click()
    session.settle(0.1)
    display = session.maps()["reference"].GetDisplayNode()
    assert display.GetScalarRange() == (-4, 4) and math.isclose(display.GetOpacity(), 0.5)
    assert not display.GetVisibility2D()
    legend = slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(session.maps()["reference"])
    assert not legend.GetVisibility()
    ui.mapSurfaceComboBox.currentIndex = 1
    session.settle(0.1)
    measured = session.panel.outcome.comparisons[0].reference.surface
    assert session.maps()["reference"].GetPolyData().GetNumberOfPoints() == len(measured.points)
    ui.mapSurfaceComboBox.currentIndex = 0
    for box in (ui.automaticRangeCheckBox, ui.sliceContourCheckBox, ui.legendCheckBox):
        box.click()
    ui.opacitySlider.value = 1
    ui.mapSideComboBox.currentIndex = 0
    session.settle(0.1)
    assert set(session.maps()) == {"reference"}


def checkPlot(session: Session) -> None:
    """The plot shows the histogram, or the cumulative curve, with the tolerance marked."""
    viewNode = session.panel.plot.viewNode
    histogram = viewNode.GetPlotChartNode()
    assert histogram.GetAttribute("SegmentMetrics.Role") == "histogram"
    series = [histogram.GetNthPlotSeriesNode(n) for n in range(histogram.GetNumberOfPlotSeriesNodes())]
    shares = vtk_to_numpy(series[0].GetTableNode().GetTable().GetColumnByName(series[0].GetYColumnName()))
    assert math.isclose(shares.sum(), 100, abs_tol=1e-6)
    lines = [s for s in series if "Tolerance" in s.GetName()]
    at = [s.GetTableNode().GetTable().GetColumnByName(s.GetXColumnName()).GetValue(0) for s in lines]
    assert sorted(at) == [-2, 2]
    session.ui.plotComboBox.currentIndex = 1
    session.settle(0.1)
    assert viewNode.GetPlotChartNode().GetAttribute("SegmentMetrics.Role") == "cumulative"
    session.ui.plotComboBox.currentIndex = 0
    session.settle(0.1)
    assert viewNode.GetPlotChartNode() is histogram


def checkPlaces(session: Session) -> None:
    """A click on a worst place brings the slice views and the camera there; markers come and go."""
    from SegmentMetricsPanel.places import cameras

    from SegmentMetrics import SegmentMetricsLogic  # noqa: F401  (the library is importable from here on)

    places = session.panel.outcome.records[0].worstPlaces
    rows = session.texts(session.ui.placesTable)
    assert len(rows) == len(places) and rows[0][0] == "1" and rows[0][1] == f"{places[0].value:+.1f}"
    session.panel.places.table.onCell(0, 0)
    session.settle(0.1)
    ras = np.array(places[0].position) * (-1, -1, 1)
    sliceNodes = [
        n for n in slicer.util.getNodesByClass("vtkMRMLSliceNode") if n.GetName() in ("Red", "Green", "Yellow")
    ]
    assert sliceNodes
    for node in sliceNodes:
        normal = [node.GetSliceToRAS().GetElement(row, 2) for row in range(3)]
        assert math.isclose(np.dot(normal, ras), node.GetSliceOffset(), abs_tol=1e-3), node.GetName()
    for camera in cameras():
        assert np.allclose(camera.GetFocalPoint(), ras)
    assert not markersOf(session)
    session.ui.showMarkersCheckBox.click()
    session.settle(0.1)
    (markers,) = markersOf(session)
    assert markers.GetNumberOfControlPoints() == len(places) and markers.GetLocked()
    assert markers.GetNthControlPointLabel(0) == "1" and np.allclose(markers.GetNthControlPointPosition(0), ras)
    session.ui.showMarkersCheckBox.click()
    session.settle(0.1)
    assert not markersOf(session)


def markersOf(session: Session) -> list:
    nodes = slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode")
    return [node for node in nodes if node.GetDisplayNode().GetVisibility()]


def isStale(session: Session) -> bool:
    session.settle(0.6)
    return bool(session.panel.staleness())


def checkStaleness(session: Session) -> None:
    """Results are out of date as soon as a segment, a transform or a setting changes, and only then."""
    node, segment = session.nodes[1], session.parameters.testSegment
    assert not isStale(session)
    node.GetSegmentation().GetSegment(segment).SetColor(0.1, 0.6, 0.2)
    node.SetName("Observer two")
    node.GetDisplayNode().SetSegmentOpacity3D(segment, 0.5)
    assert not isStale(session), "colors and names change no number"
    image = slicer.vtkOrientedImageData()
    node.GetBinaryLabelmapRepresentation(segment, image)
    before = slicer.vtkOrientedImageData()
    before.DeepCopy(image)
    edit(node, segment, image, lambda voxels: voxels[: len(voxels) // 2].fill(0))
    assert isStale(session) and STRUCTURE in session.ui.staleLabel.text
    others = [i for i in node.GetSegmentation().GetSegmentIDs() if i != segment]
    node.GetSegmentation().GetSegment(others[0]).SetColor(0.3, 0.2, 0.9)
    assert isStale(session), "events of other segments do not make it fresh"
    edit(node, segment, before, lambda voxels: None)
    assert not isStale(session), "undone"
    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    node.SetAndObserveTransformNodeID(transform.GetID())
    assert not isStale(session), "identity moves nothing"
    matrix = vtk.vtkMatrix4x4()
    matrix.SetElement(0, 3, 3.0)
    transform.SetMatrixTransformToParent(matrix)
    assert isStale(session)
    slicer.mrmlScene.RemoveNode(transform)
    assert not isStale(session)
    session.ui.toleranceSpinBox.value = 3
    assert isStale(session)
    session.ui.toleranceSpinBox.value = 2
    assert not isStale(session)
    session.ui.swapButton.click()
    assert isStale(session) and session.nodes[0] is node
    session.ui.swapButton.click()
    assert not isStale(session)


def edit(node, segment: str, image, change) -> None:
    """Change the voxels of a segment as an editor effect does."""
    change(vtk_to_numpy(image.GetPointData().GetScalars()))
    image.Modified()
    assert slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(image, node, segment)


def checkRerun(session: Session) -> None:
    """Another run of the same pair replaces its results."""
    before = sorted(node.GetID() for node in session.results())
    session.apply()
    assert sorted(node.GetID() for node in session.results()) == before
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer.mrmlScene)
    folders = {hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node)) for node in session.results()}
    assert len(folders) == 1, "all results of a pair are in one folder"


def checkAutoUpdate(session: Session) -> None:
    """With auto-update a change is measured a moment later."""
    session.ui.autoUpdateCheckBox.click()
    session.ui.toleranceSpinBox.value = 1
    session.settle(0.5)
    deadline = time.monotonic() + 20
    while session.panel.staleness() and time.monotonic() < deadline:
        session.settle(0.2)
    assert not session.panel.staleness() and "NSD_1mm" in session.panel.outcome.records[0].measurements
    session.chooseFamilies("boundary", "effort")
    deadline = time.monotonic() + 20
    while session.panel.staleness() and time.monotonic() < deadline:
        session.settle(0.2)
    assert "APL_1mm" in session.panel.outcome.records[0].measurements, "another family is measured, too"
    session.chooseFamilies("boundary", "signed", "overlap")
    session.settle(0.5)
    session.ui.autoUpdateCheckBox.click()
    session.ui.toleranceSpinBox.value = 2
    session.settle(0.1)
    session.apply()


def checkFamilies(session: Session) -> None:
    """Every family of the library can be chosen; what concerns only families that are not chosen is not shown."""
    from SegmentMetricsLib.settings import FAMILIES

    ui = session.ui
    boxes = session.panel.choices.boxes
    assert list(boxes) == list(FAMILIES) and all(box.toolTip for box in boxes.values())
    assert [family for family, box in boxes.items() if box.checked] == ["boundary", "signed", "overlap"]
    assert session.isShown(ui.percentileSpinBox)
    hidden = (ui.criticalComboBox, ui.hazardKernelComboBox, ui.hazardReachSpinBox, ui.hazardDecaySpinBox)
    hidden += (ui.gridComboBox, ui.betaSpinBox, ui.quantileSpinBox, ui.voxelUnitComboBox)
    ui.advancedGroupBox.collapsed = False
    assert not any(session.isShown(widget) for widget in hidden)
    ui.advancedGroupBox.collapsed = True
    session.chooseFamilies("agreement", "voxel")
    assert session.panel.staleness()
    ui.advancedGroupBox.collapsed = False
    assert all(session.isShown(widget) for widget in hidden[4:]) and not session.isShown(ui.percentileSpinBox)
    session.apply()
    before = session.panel.outcome.records[0].measurements
    assert {m.family for m in before.values()} == {"agreement", "voxel"}
    ui.betaSpinBox.value = 2
    ui.gridComboBox.currentIndex = 1
    ui.voxelUnitComboBox.currentIndex = 1
    session.settle(0.1)
    assert session.panel.staleness()
    session.apply()
    after = session.panel.outcome.records[0].measurements
    assert "FMS_2" in after and after["AVD"].unit == "voxel" and after["ACC"].value < before["ACC"].value
    families = ui.shownFamilyComboBox
    assert [families.itemText(n) for n in range(families.count)] == ["All metrics", "Agreement", "Voxel"]
    families.currentIndex = 2
    assert [row[0] for row in session.texts(ui.resultsTable)] == ["AVD", "HDvox", "MHD"]
    ui.betaSpinBox.value = 1
    ui.gridComboBox.currentIndex = ui.voxelUnitComboBox.currentIndex = 0
    session.chooseFamilies("boundary", "signed", "overlap")
    session.apply()
    assert ui.shownFamilyComboBox.currentIndex == 0, "a family that is gone is not shown any more"


def checkExtent(session: Session) -> None:
    """The common extent can be chosen, and the results say so."""
    session.ui.extentComboBox.currentIndex = 1
    session.settle(0.1)
    assert session.panel.staleness()
    session.apply()
    assert "common extent" in session.ui.findingsLabel.text
    session.ui.extentComboBox.currentIndex = 0
    session.settle(0.1)
    session.apply()
    assert "Evaluated over the common extent" not in session.ui.findingsLabel.text


def checkConvention(session: Session) -> None:
    """The numbers can be those of another tool, which then decides the surface, and the results say so."""
    from SegmentMetricsLib import Settings, mrml

    ui = session.ui
    ui.advancedGroupBox.collapsed = False
    tools = [ui.conventionComboBox.itemText(n) for n in range(ui.conventionComboBox.count)]
    assert tools[0] == "SegmentMetrics" and ui.conventionComboBox.currentIndex == 0 and len(tools) == 15
    ui.subdivisionsSpinBox.value = 2
    session.settle(0.1)
    assert session.isShown(ui.subdivisionsSpinBox) and session.isShown(ui.surfaceComboBox)
    ui.conventionComboBox.currentIndex = next(n for n, text in enumerate(tools) if text.startswith("MedPy"))
    session.settle(0.1)
    assert session.parameters.convention == "MedPy" and session.panel.staleness()
    assert not session.isShown(ui.subdivisionsSpinBox) and not session.isShown(ui.surfaceComboBox)
    session.apply()
    settings = Settings(convention="MedPy")
    expected = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE, settings)
    assert session.panel.outcome.records[0].measurements["HD95"].value == expected["HD95"].value
    assert expected["HD95"].value != session.remembered["HD95"]
    assert "as MedPy" in ui.verdictLabel.text and "MedPy" in ui.findingsLabel.text
    session.chooseFamilies("signed")
    assert not session.isShown(ui.conventionComboBox), "the signed distances are no other tool's"
    session.chooseFamilies("boundary", "signed", "overlap")
    ui.conventionComboBox.currentIndex = 0
    ui.subdivisionsSpinBox.value = -1
    session.settle(0.1)
    session.apply()
    assert session.panel.outcome.records[0].measurements["HD95"].value == session.remembered["HD95"]
    assert "MedPy" not in ui.verdictLabel.text


PROTOCOL = """Structure,Measurement,Relation,Pass,Warn,Source
Parotid_L,HD95,<=,3,10,Somebody 2020
Parotid_L,DSC,>=,0.99,,
Parotid_*,NSD_3mm,>=,0.5,,
Nowhere,DSC,>=,0.5,,
"""


def checkProtocol(session: Session) -> None:
    """A protocol in a table judges what is compared; what it says follows the table and never changes the numbers."""
    from SegmentMetricsPanel.protocols import COLORS

    from SegmentMetricsLib import Settings, mrml
    from SegmentMetricsLib.protocol.protocol import parseProtocol

    ui, before = session.ui, session.texts(session.ui.resultsTable)
    assert not session.isShown(ui.judgmentLabel) and not session.isShown(ui.protocolTable)
    node = mrml.tableFromProtocol(parseProtocol(PROTOCOL, "Limits"))
    session.settle(0.1)
    box = ui.protocolComboBox
    box.currentIndex = box.findText(node.GetName())
    session.settle(0.1)
    assert session.parameters.protocol is node and session.panel.staleness()
    session.apply()
    assert session.texts(ui.resultsTable) == before
    assert "FAIL" in ui.judgmentLabel.text and "1 fail, 1 warn, 1 pass" in ui.judgmentLabel.text
    settings = Settings(tolerances=3)
    wider = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE, settings)
    rows = session.texts(ui.protocolTable)
    assert [row[2] for row in rows] == ["warn", "fail", "pass"]
    assert rows[0][0] == "HD95 <= 3" and rows[2][1] == f"{wider['NSD_3mm'].value:.3f}"
    item = ui.protocolTable.item(0, 2)
    assert item.background().color().name() == COLORS["warn"]
    assert "is not <= 3" in item.toolTip() and "Somebody 2020" in item.toolTip()
    column = next(n for n in range(node.GetNumberOfColumns()) if node.GetColumnName(n) == "Pass")
    assert node.SetCellText(1, column, "0.1")
    session.settle(0.1)
    assert session.panel.staleness(), "the table was edited"
    session.apply()
    assert "WARN" in ui.judgmentLabel.text and session.texts(ui.protocolTable)[1][2] == "pass"
    assert node.SetCellText(1, column, "much")
    session.settle(0.1)
    assert not ui.applyButton.enabled and "much" in ui.messageLabel.text and "line 3" in ui.messageLabel.text
    assert node.SetCellText(1, column, "0.1")
    session.settle(0.1)
    assert not session.panel.staleness() and ui.applyButton.enabled
    ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    session.apply()
    verdicts = {row[0]: row[1] for row in session.texts(ui.resultsTable)}
    assert verdicts[STRUCTURE] == "warn" and verdicts["Mandible"] == "" and len(verdicts) == 8
    assert "Nowhere" in ui.findingsLabel.text and "not evaluable" in ui.judgmentLabel.text
    ui.modeComboBox.currentIndex = 0
    session.settle(0.1)
    session.choose(STRUCTURE)
    session.apply()


def checkTools(session: Session) -> None:
    """What other tools would report, in colors that say how misleading it is; older numbers are not shown."""
    import csv

    import qt
    from SegmentMetricsPanel.conventions import COLORS

    from SegmentMetricsLib import mrml

    ui = session.ui
    comparison = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE)
    expected = comparison.conventions()
    assert ui.conventionsTable.rowCount == 0
    ui.conventionsSection.collapsed = False  # asks for the numbers
    session.settle(0.2)
    assert not session.isShown(ui.conventionsButton) and session.isShown(ui.conventionsLegendLabel)
    shown = session.panel.conventions.record.conventions
    assert {tool: {k: n.value for k, n in numbers.items()} for tool, numbers in shown.items()} == {
        tool: {k: n.value for k, n in numbers.items()} for tool, numbers in expected.items()
    }
    assert ui.conventionsKeyComboBox.currentText.startswith("HD95")
    rows = session.texts(ui.conventionsTable)
    assert rows[0] == ["SegmentMetrics", comparison["HD95"].text().partition(" ")[0], ""]
    assert [row[0] for row in rows[1:]] == list(expected)
    line = [row[0] for row in rows].index("Plastimatch")
    number = expected["Plastimatch"]["HD95"]
    assert rows[line][1:] == [number.text().partition(" ")[0], f"{number.difference:+.2f}"]
    item = ui.conventionsTable.item(line, 1)
    assert number.leaning and item.background().color().name() == COLORS[number.leaning]
    assert number.reason[1:] in item.toolTip() and number.leaning in item.toolTip()
    starred = [row[0] for row in rows if row[1].endswith("*")]
    assert starred == [tool for tool in expected if not expected[tool].get("HD95", number).isReproducible] != []
    ui.conventionsKeyComboBox.currentIndex = 0
    session.settle(0.1)
    everything = session.texts(ui.conventionsTable)
    assert len(everything) == len(rows) and len(everything[0]) > 7
    ui.conventionsCopyButton.click()
    assert len(qt.QApplication.clipboard().text().split("\n")) == 1 + len(rows)
    path = Path(session.folder.name) / "conventions.csv"
    session.panel.conventions.export(path)
    with path.open(encoding="utf-8", newline="") as file:
        written = {(row["Convention"], row["Key"]): row for row in csv.DictReader(file)}
    assert float(written["MedPy", "HD95"]["Value"]) == expected["MedPy"]["HD95"].value
    ui.conventionsKeyComboBox.currentIndex = ui.conventionsKeyComboBox.findText("HD95")
    (node,) = [node for node in session.results() if node.GetAttribute("SegmentMetrics.Role") == "conventions"]
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer.mrmlScene)
    folders = {hierarchy.GetItemParent(hierarchy.GetItemByDataNode(n)) for n in (node, session.parameters.result)}
    assert len(folders) == 1, "it is in the folder of the pair"
    ui.toleranceSpinBox.value = 3
    assert isStale(session) and session.isShown(ui.conventionsStaleLabel)
    ui.toleranceSpinBox.value = 2
    assert not isStale(session) and not session.isShown(ui.conventionsStaleLabel)
    session.apply()
    assert ui.conventionsTable.rowCount == 0 and session.isShown(ui.conventionsButton)
    assert not [n for n in session.results() if n.GetAttribute("SegmentMetrics.Role") == "conventions"]
    session.askTools()
    assert session.texts(ui.conventionsTable) == rows
    ui.conventionsSection.collapsed = True


def checkReport(session: Session) -> None:
    """A report is written for what is chosen, with the other tools if that is wanted, once there are results."""
    ui, path = session.ui, Path(session.folder.name) / "Case 1.html"
    from SegmentMetricsPanel.reports import hasPlotly

    assert ui.reportButton.enabled, ui.reportButton.toolTip
    if not hasPlotly():  # the button would ask whether to install it
        assert not session.panel.report(path) and "plotly" in ui.messageLabel.text and not path.exists()
        return
    assert session.panel.report(path)
    page = path.read_text(encoding="utf-8")
    assert "<title>Case 1: contour comparison</title>" in page and f"{STRUCTURE}</summary>" not in page
    assert "Slice by slice" in page and "Plastimatch" not in page and "Observer two" not in page
    assert "is not &lt;= 3" in page, "with what the protocol says"
    assert str(path) in ui.messageLabel.text
    ui.reportConventionsCheckBox.click()
    session.settle(0.1)
    assert session.panel.report(path) and "Plastimatch" in path.read_text(encoding="utf-8")
    ui.reportConventionsCheckBox.click()
    ui.toleranceSpinBox.value = 3
    session.settle(0.1)
    assert not ui.reportButton.enabled and "apply" in ui.reportButton.toolTip
    assert not session.panel.report(path)
    ui.toleranceSpinBox.value = 2
    session.settle(0.1)
    assert ui.reportButton.enabled


def checkHazard(session: Session) -> None:
    """Hazard needs critical structures of the reference; results are out of date when one of those changes."""
    from SegmentMetricsLib import Settings, mrml

    ui, reference = session.ui, session.nodes[0]
    session.chooseFamilies("boundary", "hazard")
    assert not ui.applyButton.enabled and "critical" in ui.applyButton.toolTip
    assert session.isShown(ui.messageLabel) and "critical" in ui.messageLabel.text
    offered = [ui.criticalComboBox.itemText(row) for row in range(ui.criticalComboBox.count)]
    segmentation = reference.GetSegmentation()
    everything = [segmentation.GetSegment(i).GetName() for i in segmentation.GetSegmentIDs()]
    assert offered == [name for name in everything if name != STRUCTURE]
    session.checkCriticals("Mandible")
    assert list(session.parameters.critical) == ["Mandible"] and ui.applyButton.enabled
    assert "Mandible" in ui.criticalComboBox.toolTip
    assert session.isShown(ui.hazardReachSpinBox) and not session.isShown(ui.hazardDecaySpinBox)
    session.apply()
    settings = Settings(families=("boundary", "hazard"), critical="Mandible")
    expected = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE, settings)
    shown = session.panel.outcome.records[0].measurements
    assert {key: m.value for key, m in shown.items()} == {key: m.value for key, m in expected.items()}
    assert not isStale(session)
    ui.hazardKernelComboBox.currentIndex = 1
    session.settle(0.1)
    assert session.panel.staleness()
    assert session.isShown(ui.hazardDecaySpinBox) and not session.isShown(ui.hazardReachSpinBox)
    ui.hazardKernelComboBox.currentIndex = 0
    session.settle(0.1)
    assert not session.panel.staleness()
    critical = segmentation.GetSegmentIdBySegmentName("Mandible")
    image = slicer.vtkOrientedImageData()
    reference.GetBinaryLabelmapRepresentation(critical, image)
    before = slicer.vtkOrientedImageData()
    before.DeepCopy(image)
    edit(reference, critical, image, lambda voxels: voxels[: len(voxels) // 2].fill(0))
    assert isStale(session) and "Mandible" in ui.staleLabel.text
    edit(reference, critical, before, lambda voxels: None)
    assert not isStale(session), "undone"
    session.choose("Mandible")
    assert not ui.applyButton.enabled, "a structure is not critical to itself"
    session.choose(STRUCTURE)
    assert ui.applyButton.enabled and not isStale(session), "it is again what was chosen before"
    session.checkCriticals("Mandible", "SpinalCord")
    assert session.panel.staleness()
    session.checkCriticals("Mandible")
    checkHazardInViews(session)
    session.checkCriticals()
    session.chooseFamilies("boundary", "signed", "overlap")
    session.ui.mapKindComboBox.currentIndex = 3
    session.apply()
    assert session.maps()["reference"].GetDisplayNode().GetActiveScalarName() == "SignedDistance"
    assert "Hazard was not measured" in ui.messageLabel.text
    session.ui.mapKindComboBox.currentIndex = 0
    session.settle(0.1)
    assert not session.isShown(ui.messageLabel)


def checkHazardInViews(session: Session) -> None:
    """Hazard colors the map, and lies over the image in the slice views until the box is not checked any more."""
    ui = session.ui
    ui.mapKindComboBox.currentIndex = 3
    session.settle(0.1)
    display = session.maps()["reference"].GetDisplayNode()
    assert display.GetActiveScalarName() == "Hazard" and display.GetScalarRange() == (0, 1)
    assert not ui.rangeSpinBox.enabled
    ui.mapKindComboBox.currentIndex = 0
    session.settle(0.1)
    composites = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
    image = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", "Image")
    for composite in composites:
        composite.SetForegroundVolumeID(image.GetID())
        composite.SetForegroundOpacity(0.25)
    assert composites and session.isShown(ui.showHazardCheckBox)
    ui.showHazardCheckBox.click()
    session.settle(0.1)
    for composite in composites:
        shown = slicer.mrmlScene.GetNodeByID(composite.GetForegroundVolumeID())
        assert shown.GetAttribute("SegmentMetrics.Role") == "hazard" and composite.GetForegroundOpacity() > 0.5
    session.apply()
    assert slicer.mrmlScene.GetNodeByID(composites[0].GetForegroundVolumeID()) is shown, "another run replaces it"
    ui.showHazardCheckBox.click()
    session.settle(0.1)
    for composite in composites:
        assert composite.GetForegroundVolumeID() == image.GetID()
        assert math.isclose(composite.GetForegroundOpacity(), 0.25)
    slicer.mrmlScene.RemoveNode(image)
    slicer.mrmlScene.RemoveNode(shown)
    session.settle(0.1)


def checkSlices(session: Session) -> None:
    """Slices are listed and plotted; a click on a row or a point brings the slice views there."""
    from SegmentMetricsLib import Settings, mrml

    ui, slices = session.ui, session.panel.slices
    assert not session.isShown(ui.slicesSection)
    session.chooseFamilies("boundary", "signed", "overlap", "slices")
    session.apply()
    assert session.isShown(ui.slicesSection)
    settings = Settings(families=("boundary", "slices"))
    expected = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE, settings).slices
    rows = session.texts(ui.slicesTable)
    assert len(rows) == len(expected) and rows[3][0] == f"{expected[3].position:.1f}"
    assert rows[3][1:4] == [
        f"{expected[3].hausdorff:.1f}",
        f"{expected[3].meanDistance:.1f}",
        f"{expected[3].dice:.2f}",
    ]
    series = slices.plot.chart.GetNthPlotSeriesNode(0)
    assert series.GetYColumnName() == "HD" and series.GetTableNode().GetNumberOfRows() == len(expected)
    ui.sliceQuantityComboBox.currentIndex = 2
    session.settle(0.1)
    assert slices.plot.chart.GetNthPlotSeriesNode(0).GetYColumnName() == "DSC"
    ui.sliceQuantityComboBox.currentIndex = 0
    session.settle(0.1)
    assert slices.plot.viewNode.GetInteractionMode() == slices.plot.viewNode.InteractionModeSelectPoints
    red = next(n for n in slicer.util.getNodesByClass("vtkMRMLSliceNode") if n.GetName() == "Red")
    slices.table.onCell(3, 0)
    assert math.isclose(red.GetSliceOffset(), expected[3].place[2], abs_tol=1e-3)
    series, points = vtk.vtkStringArray(), vtk.vtkCollection()
    slices.onSelected(series, points)  # one that is gone
    assert math.isclose(red.GetSliceOffset(), expected[3].place[2], abs_tol=1e-3)
    chosen = vtk.vtkIdTypeArray()
    chosen.InsertNextValue(7)
    points.AddItem(chosen)
    slices.onSelected(series, points)
    assert math.isclose(red.GetSliceOffset(), expected[7].place[2], abs_tol=1e-3)
    assert ui.slicesTable.currentRow() == 7, "the point's row is marked"


def checkBadInput(session: Session) -> None:
    """What cannot be compared is said in words; nothing is left behind."""
    ui, parameters = session.ui, session.parameters
    before = sorted(node.GetName() for node in session.results())
    test = parameters.test, parameters.testSegment
    parameters.test, parameters.testSegment = parameters.reference, parameters.referenceSegment
    session.settle(0.1)
    assert not ui.applyButton.enabled and "same segment" in ui.applyButton.toolTip
    parameters.test = None
    session.settle(0.1)
    assert not ui.applyButton.enabled and ui.applyButton.toolTip == "Choose a test segmentation."
    parameters.test, parameters.testSegment = test
    session.chooseFamilies()
    session.settle(0.1)
    assert not ui.applyButton.enabled and "famil" in ui.applyButton.toolTip and "famil" in ui.messageLabel.text
    session.chooseFamilies("boundary", "signed", "overlap", "slices")
    session.settle(0.1)
    # an empty segment is no error: distances are infinite, and there is no map
    empty = parameters.test.GetSegmentation().AddEmptySegment("Nothing")
    parameters.testSegment = empty
    session.settle(0.1)
    session.apply()
    assert session.panel.outcome.records[0].measurements["HD"].status == "infinite"
    assert "empty" in ui.messageLabel.text and not session.maps()
    assert session.panel.plot.viewNode.GetPlotChartNode() is None
    slicer.mrmlScene.RemoveNode(parameters.result)
    session.settle(0.2)
    assert session.panel.outcome is None and ui.resultsTable.rowCount == 0
    parameters.testSegment = test[1]
    session.settle(0.1)
    parameters.test.GetSegmentation().RemoveSegment(empty)
    session.settle(0.5)
    session.apply()
    after = sorted(node.GetName() for node in session.results())
    assert after == before, set(after) ^ set(before)
    assert not ui.messageLabel.text


def checkAllStructures(session: Session) -> None:
    """All structures of the same name: a row each, unmatched ones named; a click shows one of them."""
    ui = session.ui
    ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    session.apply()
    names = [row[0] for row in session.texts(ui.resultsTable)]
    assert len(names) == 8 and STRUCTURE in names
    assert "Only in the reference: Submandibular_R." in ui.findingsLabel.text
    session.panel.results.table.onCell(names.index("Mandible"), 0)
    session.settle(0.2)
    assert "Mandible" in ui.verdictLabel.text
    assert [model.GetName() for model in session.maps().values()] == ["Mandible: distance map on reference"]
    ui.plotComboBox.currentIndex = 1
    session.settle(0.1)
    chart = session.panel.plot.viewNode.GetPlotChartNode()
    assert chart.GetNumberOfPlotSeriesNodes() == 8 + 1
    ui.plotComboBox.currentIndex = 0
    ui.modeComboBox.currentIndex = 0
    session.settle(0.1)
    session.choose(STRUCTURE)
    session.apply()


def checkSaving(session: Session) -> None:
    """Everything visible survives saving, closing and loading the scene."""
    path = str(Path(session.folder.name) / "scene.mrb")
    before = seen(session)
    assert slicer.util.saveScene(path)
    assert not isStale(session), "saving changes nothing"
    for clear in (False, True):
        if not clear:
            slicer.mrmlScene.Clear(0)
            session.settle(0.2)
            assert session.panel.outcome is None and not session.ui.applyButton.enabled
        slicer.util.loadScene(path, {"clear": clear})
        session.settle(0.5)
        assertSeen(session, before)
    assert not isStale(session)
    (model,) = session.maps().values()
    assert model.GetPolyData().GetPointData().GetArray("SignedDistance") is not None
    assert slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(model).GetVisibility()
    session.ui.mapKindComboBox.currentIndex = 2  # other colors need no measuring
    session.settle(0.1)
    assert model.GetDisplayNode().GetScalarRange() == (-6, 6)
    session.ui.mapKindComboBox.currentIndex = 0
    session.settle(0.1)
    session.apply()
    session.askTools()
    assertSeen(session, before)


def assertSeen(session: Session, before: dict) -> None:
    now = seen(session)
    assert now == before, {key: (before[key], now[key]) for key in now if now[key] != before[key]}


def seen(session: Session) -> dict:
    """What the panel and the views show, comparable between scenes."""
    chart = session.panel.plot.viewNode.GetPlotChartNode()
    models = session.maps().items()
    return {
        "verdict": session.ui.verdictLabel.text,
        "table": session.texts(session.ui.resultsTable),
        "places": session.texts(session.ui.placesTable),
        "slices": session.texts(session.ui.slicesTable),
        "protocol": [session.ui.judgmentLabel.text, session.texts(session.ui.protocolTable)],
        "tools": session.texts(session.ui.conventionsTable),
        "profile": bool(session.panel.slices.plot.chart),
        "inputs": [node.GetName() for node in session.nodes],
        "families": [family for family, box in session.panel.choices.boxes.items() if box.checked],
        "maps": {side: model.GetDisplayNode().GetScalarRange() for side, model in models},
        "covered": session.visibleInThreeD(),
        "series": chart.GetNumberOfPlotSeriesNodes() if chart else 0,
        "stale": session.ui.staleLabel.text if session.panel.staleness() else "",
        "results": sorted(node.GetName() for node in session.results()),
    }


def checkReload(session: Session) -> None:
    """Reloading the module reloads its library; the results are still there and everything goes on working."""
    import sys

    before = seen(session)
    library = sys.modules["SegmentMetricsLib"]
    session.widget.onReload()
    session.settle(0.3)
    assert sys.modules["SegmentMetricsLib"] is not library
    assertSeen(session, before)
    session.apply()
    session.askTools()
    assertSeen(session, before)


def checkRemovedSegmentation(session: Session) -> None:
    """A segmentation that is deleted while its results are shown leaves a panel that says so."""
    slicer.mrmlScene.RemoveNode(session.nodes[1])
    session.settle(0.6)
    assert not session.ui.applyButton.enabled
    assert session.panel.staleness() and session.ui.resultsTable.rowCount > 0
    assert session.parameters.test is None, "no other one is chosen silently"
    slicer.mrmlScene.Clear(0)
    session.settle(0.2)
    assert session.panel.outcome is None and not session.results()


CHECKS = (
    checkOpening,
    checkApply,
    checkSorting,
    checkCopyAndExport,
    checkMap,
    checkMapOptions,
    checkPlot,
    checkPlaces,
    checkStaleness,
    checkRerun,
    checkAutoUpdate,
    checkFamilies,
    checkExtent,
    checkConvention,
    checkHazard,
    checkSlices,
    checkBadInput,
    checkAllStructures,
    checkProtocol,
    checkTools,
    checkReport,
    checkSaving,
    checkReload,
    checkRemovedSegmentation,
)
