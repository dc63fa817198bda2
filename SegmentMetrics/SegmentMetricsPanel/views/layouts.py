"""The table of results, or table and plot, beside the slice views and the 3D view."""

import re

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml.nodes import oneChange
from SegmentMetricsLib.mrml.outputs import allNumbers, fillTable, withTexts

from .view import View

NODE = slicer.vtkMRMLLayoutNode
# Every Slicer has them, so a scene that is saved in one of them can be opened anywhere.
TABLE, TABLE_AND_PLOT = NODE.SlicerLayoutFourUpTableView, NODE.SlicerLayoutFourUpPlotTableView


class LayoutView(View):
    """The buttons that show the table, or table and plot, in the layout and go back to the layout before."""

    def __init__(self, panel):
        super().__init__(panel)
        self.before = None  # the layout to go back to; None while table and plot are not shown there
        self.layout = None  # the one that is shown
        self.usual = ""  # Slicer's description of TABLE_AND_PLOT while another one takes its place
        self.others = {}  # what the views showed before, by view node: what kind of node, and its ID
        self.table = None  # the node with the texts of all numbers that is shown there
        self.filled = None  # the outcome whose numbers they are
        self.buttons = (self.ui.layoutButton, TABLE_AND_PLOT), (self.ui.allNumbersButton, TABLE)
        for button, layout in self.buttons:
            button.connect("clicked(bool)", lambda _checked=False, layout=layout: self.onClicked(layout))
        manager = slicer.app.layoutManager()
        if manager is not None:
            manager.connect("layoutChanged(int)", lambda _layout: qt.QTimer.singleShot(0, self.onLayout))

    @property
    def isShown(self) -> bool:
        return self.before is not None

    def draw(self) -> None:
        manager = slicer.app.layoutManager()
        if self.isShown and manager.layout != self.layout:  # the user has chosen another one
            self.before = self.layout = None
        for button, layout in self.buttons:
            button.enabled, button.checked = manager is not None, self.layout == layout
        if not self.isShown:
            self._giveBack()
            return
        scene, outcome = slicer.mrmlScene, self.model.outcome
        if self.table is None or self.table.GetScene() is not scene:
            self.table, self.filled = scene.AddNewNodeByClass("vtkMRMLTableNode", _("Segment Metrics: numbers")), None
            self.table.SetSaveWithScene(False)
        if outcome is not None and outcome.records and outcome is not self.filled:
            fillTable(self.table, withTexts(allNumbers(outcome.records, outcome.isOfAll)))
            self.filled = outcome
        self._put("Table", self.table if outcome is not None and outcome is self.filled else None)
        self._put("PlotChart", self.panel.plot.chart)

    def release(self) -> None:
        super().release()
        if slicer.mrmlScene.IsClosing():
            self.others = {}

    def close(self) -> None:
        """Leave Slicer's layouts and views as they were before the panel is deleted."""
        self.before = self.layout = None
        self._giveBack()

    def onLayout(self) -> None:
        """Give back what was borrowed as soon as the user has chosen another layout."""
        if self.isShown and slicer.app.layoutManager().layout != self.layout:
            self.draw()

    def onClicked(self, layout: int) -> None:
        manager = slicer.app.layoutManager()
        if self.isShown and manager.layout == layout:
            layout, self.before, self.layout = self.before, None, None
        else:
            if not self.isShown:
                isOther = manager.layout not in (TABLE, TABLE_AND_PLOT)
                self.before = manager.layout if isOther else NODE.SlicerLayoutFourUpView
            self.layout = layout
        node = _layoutNode()
        with oneChange(node):
            if layout == TABLE_AND_PLOT and not self.usual:
                self.usual = node.GetLayoutDescription(TABLE_AND_PLOT)
                node.SetLayoutDescription(TABLE_AND_PLOT, _withMap(node))
            manager.setLayout(layout)
        self.show()

    def _put(self, kind: str, shown) -> None:
        """Show a node, or none, in the views of a kind that the layout has: "Table" or "PlotChart"."""
        for view in slicer.util.getNodesByClass(f"vtkMRML{kind.removesuffix('Chart')}ViewNode"):
            if view.IsMappedInLayout():
                self.others.setdefault(view, (kind, getattr(view, f"Get{kind}NodeID")()))
                getattr(view, f"Set{kind}NodeID")(shown.GetID() if shown is not None else None)

    def _giveBack(self) -> None:
        """Let views show what they did before, and Slicer's layout be what it was."""
        scene, node = slicer.mrmlScene, _layoutNode()
        for view, (kind, identifier) in self.others.items():
            isThere = identifier and scene.GetNodeByID(identifier) is not None
            getattr(view, f"Set{kind}NodeID")(identifier if isThere else None)
        if self.usual:
            node.SetLayoutDescription(TABLE_AND_PLOT, self.usual)
        self.others, self.usual = {}, ""
        if self.table is not None and self.table.GetScene() is scene:
            scene.RemoveNode(self.table)
        self.table = None


def _layoutNode():
    return slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLLayoutNode")


def _withMap(node) -> str:
    """Return the layout of the table with a plot beside it: in Slicer's, the plot takes the place of the 3D view."""
    layout, both = map(node.GetLayoutDescription, (TABLE, TABLE_AND_PLOT))
    kinds = ((layout, "Table"), (both, "Plot"))
    views = [re.search(f'<view class="vtkMRML{kind}ViewNode".*?</view>', text, re.DOTALL)[0] for text, kind in kinds]
    items = "".join(f"<item>{view}</item>" for view in views)
    return layout.replace(views[0], f'<layout type="horizontal" split="true">{items}</layout>')
