"""The table of results and the plot beside the slice views and the 3D view, in a layout that every Slicer has."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml.outputs import allNumbers, fillTable, withTexts

from .view import View

NODE = slicer.vtkMRMLLayoutNode
TABLE, TABLE_AND_PLOT = NODE.SlicerLayoutFourUpTableView, NODE.SlicerLayoutFourUpPlotTableView


class LayoutView(View):
    """The buttons that show the table, or table and plot, in the layout and go back to the layout before."""

    def __init__(self, panel):
        super().__init__(panel)
        self.before = None  # the layout to go back to; None while table and plot are not shown there
        self.layout = None  # the one that is shown
        self.table = None  # the node with the texts of all numbers that is shown there
        self.filled = None  # the outcome whose numbers they are
        self.buttons = (self.ui.layoutButton, TABLE_AND_PLOT), (self.ui.allNumbersButton, TABLE)
        for button, layout in self.buttons:
            button.connect("clicked(bool)", lambda _checked=False, layout=layout: self.onClicked(layout))

    @property
    def isShown(self) -> bool:
        return self.before is not None

    def draw(self) -> None:
        manager = slicer.app.layoutManager()
        if self.isShown and manager.layout != self.layout:  # the user has chosen another one
            self.before = self.layout = None
        for button, layout in self.buttons:
            button.enabled, button.checked = manager is not None, self.layout == layout
        scene, outcome, chart = slicer.mrmlScene, self.model.outcome, self.panel.plot.chart
        isThere = self.table is not None and self.table.GetScene() is scene
        if not self.isShown:
            if isThere:
                scene.RemoveNode(self.table)
            self.table = None
            return
        if not isThere:
            self.table, self.filled = scene.AddNewNodeByClass("vtkMRMLTableNode", _("Segment Metrics: numbers")), None
            self.table.SetSaveWithScene(False)
        if outcome is not None and outcome.records and outcome is not self.filled:
            fillTable(self.table, withTexts(allNumbers(outcome.records, outcome.isOfAll)))
            self.filled = outcome
        isFilled = outcome is not None and outcome is self.filled
        for node in slicer.util.getNodesByClass("vtkMRMLTableViewNode"):
            node.SetTableNodeID(self.table.GetID() if isFilled else None)
        for node in slicer.util.getNodesByClass("vtkMRMLPlotViewNode"):
            node.SetPlotChartNodeID(chart.GetID() if chart is not None else None)

    def onClicked(self, layout: int) -> None:
        manager = slicer.app.layoutManager()
        if self.isShown and manager.layout == layout:
            layout, self.before, self.layout = self.before, None, None
        else:
            if not self.isShown:
                isOther = manager.layout not in (TABLE, TABLE_AND_PLOT)
                self.before = manager.layout if isOther else NODE.SlicerLayoutFourUpView
            self.layout = layout
        manager.setLayout(layout)
        self.show()
