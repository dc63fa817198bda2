"""The table of results and the plot beside the slice views and the 3D view, in a layout that every Slicer has."""

import slicer

from .view import View

NODE = slicer.vtkMRMLLayoutNode
TABLE, TABLE_AND_PLOT = NODE.SlicerLayoutFourUpTableView, NODE.SlicerLayoutFourUpPlotTableView


class LayoutView(View):
    """The buttons that show the table, or table and plot, in the layout and go back to the layout before.

    plot: the DistancePlotView whose chart is shown.
    """

    def __init__(self, ui, model, plot):
        super().__init__(ui, model)
        self.plot = plot
        self.before = None  # the layout to go back to; None while table and plot are not shown there
        self.layout = None  # the one that is shown
        for button, layout in ((ui.layoutButton, TABLE_AND_PLOT), (ui.allNumbersButton, TABLE)):
            button.connect("clicked(bool)", lambda _checked=False, layout=layout: self.onClicked(layout))

    @property
    def isShown(self) -> bool:
        """Whether table and plot are shown in the layout."""
        return self.before is not None

    def draw(self) -> None:
        """Let the layout show the present table and plot, if the user wants them there."""
        manager = slicer.app.layoutManager()
        if self.isShown and manager.layout != self.layout:  # the user has chosen another one
            self.before = self.layout = None
        for button, layout in ((self.ui.layoutButton, TABLE_AND_PLOT), (self.ui.allNumbersButton, TABLE)):
            button.enabled, button.checked = manager is not None, self.layout == layout
        if not self.isShown:
            return
        outcome, chart = self.model.outcome, self.plot.chart
        for node in slicer.util.getNodesByClass("vtkMRMLTableViewNode"):
            node.SetTableNodeID(outcome.table.GetID() if outcome is not None else None)
        for node in slicer.util.getNodesByClass("vtkMRMLPlotViewNode"):
            node.SetPlotChartNodeID(chart.GetID() if chart is not None else None)

    def onClicked(self, layout: int) -> None:
        """Show a layout, or go back from it."""
        manager = slicer.app.layoutManager()
        if self.isShown and manager.layout == layout:
            layout, self.before, self.layout = self.before, None, None
        else:
            if not self.isShown:
                self.before = (
                    manager.layout if manager.layout not in (TABLE, TABLE_AND_PLOT) else NODE.SlicerLayoutFourUpView
                )
            self.layout = layout
        manager.setLayout(layout)
        self.show()
