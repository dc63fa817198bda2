"""The panel as a user sees it, and what all checks ask of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import slicer
from vtk.util.numpy_support import vtk_to_numpy

STRUCTURE = "Parotid_L"
SMALL = "Eye_L"


class Session:
    """The panel as a user sees it. Segments are looked up anew each time: scenes come and go.

    pace: the share of its seconds that settle() waits at least. The stand-in for Slicer needs none, as all that comes
    later there comes by a timer that isExpecting looks at; views of the real one draw when they like.
    """

    def __init__(self, pace: float = 1.0):
        self.pace = pace
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
        begin, quiet, rounds = time.monotonic(), 0, 10 if self.pace else 5
        while time.monotonic() < begin + self.pace * seconds or quiet < rounds:
            slicer.app.processEvents()
            time.sleep(0.01 if self.pace else 0.001)
            quiet = 0 if self.isExpecting else quiet + 1
            assert time.monotonic() < begin + 60, "the panel never comes to rest"

    @property
    def isExpecting(self) -> bool:
        """Whether something is about to happen in the panel, however slow the views draw."""
        panel = self.panel
        timers = (one.timer for one in (panel.watcher, panel.heights, panel.inputs, panel.pages))
        return panel.refreshTimer.isActive() or any(timer.isActive() for timer in timers)

    @contextmanager
    def isAlive(self, seconds: float = 0.3) -> Iterator[None]:
        """The main thread never works longer than this between two looks at what the user does, by its own clock."""
        import qt

        looks, timer = [time.thread_time()], qt.QTimer()
        timer.setInterval(10)
        timer.connect("timeout()", lambda: looks.append(time.thread_time()))
        timer.start()
        yield
        timer.stop()
        longest = max(after - before for before, after in pairwise([*looks, time.thread_time()]))
        assert longest < seconds, f"nothing moved for {longest:.2f} s"

    def click(self, button, seconds: float = 0.1) -> None:
        """Click a button and let happen what it starts."""
        button.click()
        self.settle(seconds)

    def set(self, owner, seconds: float = 0.1, **values) -> None:
        """Give a widget, or the parameters, other values, and let happen what that starts."""
        for name, value in values.items():
            setattr(owner, name, value)
        self.settle(seconds)

    def choose(self, name: str) -> None:
        """Choose a structure of the reference, as the segment selector does."""
        segmentation = self.nodes[0].GetSegmentation()
        self.ui.referenceSelector.setCurrentSegmentID(segmentation.GetSegmentIdBySegmentName(name))
        self.settle(0.1)

    def apply(self) -> None:
        assert self.ui.applyButton.enabled, self.ui.applyButton.accessibleDescription
        self.ui.applyButton.click()
        self.settle(0.2)

    @property
    def families(self) -> list[str]:
        """The families of metrics whose boxes are checked."""
        return [family for family, box in self.panel.settings.boxes.items() if box.checked]

    def chooseFamilies(self, *families: str) -> None:
        """Check the boxes of these families of metrics, and no others; most are among the advanced settings."""
        section = self.ui.advancedGroupBox
        before, section.collapsed = section.collapsed, False
        for family, box in self.panel.settings.boxes.items():
            if bool(box.checked) != (family in families):
                box.click()
        section.collapsed = before
        self.settle(0.1)

    def askTools(self) -> None:
        """Ask what other tools would report."""
        assert self.ui.conventionsButton.enabled, self.ui.conventionsButton.accessibleDescription
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
        return [[item.text().replace("\u200b", "") for item in line if item is not None] for line in items]

    def visibleInThreeD(self) -> list[bool]:
        segments = (self.parameters.referenceSegment, self.parameters.testSegment)
        return [bool(n.GetDisplayNode().GetSegmentVisibility3D(s)) for n, s in zip(self.nodes, segments)]

    def results(self) -> list:
        """All nodes that hold results."""
        return [node for node in slicer.mrmlScene.GetNodes() if node.GetAttribute("SegmentMetrics.Role")]


def isStale(session: Session) -> bool:
    session.settle(0.6)
    return bool(session.panel.staleness())


def edit(node, segment: str, image, change) -> None:
    """Change the voxels of a segment as an editor effect does."""
    change(vtk_to_numpy(image.GetPointData().GetScalars()))
    image.Modified()
    assert slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(image, node, segment)


def goBack(session: Session, nodes, results, *others) -> None:
    """Compare the structure of two segmentations again, without other nodes and the results that were not there."""
    from SegmentMetricsLib.mrml import folders

    folders.removeNodes([node for node in session.results() if node not in results], slicer.mrmlScene)
    folders.removeUnusedColors(slicer.mrmlScene)
    for node in others:
        slicer.mrmlScene.RemoveNode(node)
    session.settle(0.1)
    with slicer.util.NodeModify(session.parameters.parameterNode):
        session.parameters.reference, session.parameters.test = nodes
    session.settle(0.1)
    for side, node in zip(("reference", "test"), nodes):
        identifier = node.GetSegmentation().GetSegmentIdBySegmentName(STRUCTURE)
        setattr(session.parameters, f"{side}Segment", identifier)
    session.settle(0.1)
    session.apply()


def assertSeen(session: Session, before: dict) -> None:
    now = seen(session)
    assert now == before, {key: (before[key], now[key]) for key in now if now[key] != before[key]}


def seen(session: Session) -> dict:
    """What the panel and the views show, comparable between scenes."""
    chart = session.panel.plot.chart
    models = session.maps().items()
    return {
        "summary": session.ui.summaryLabel.text,
        "table": session.texts(session.ui.mainTable),
        "places": session.texts(session.ui.placesTable),
        "slices": session.texts(session.ui.slicesTable),
        "protocol": [session.ui.judgmentLabel.text, session.texts(session.ui.protocolTable)],
        "tools": session.texts(session.ui.conventionsTable),
        "profile": bool(session.panel.slices.chart),
        "inputs": [node.GetName() for node in session.nodes],
        "families": [family for family, box in session.panel.settings.boxes.items() if box.checked],
        "maps": {side: model.GetDisplayNode().GetScalarRange() for side, model in models},
        "covered": session.visibleInThreeD(),
        "series": chart.GetNumberOfPlotSeriesNodes() if chart else 0,
        "stale": session.ui.staleLabel.text if session.panel.staleness() else "",
        "results": sorted(node.GetName() for node in session.results()),
    }
