"""The table of results and the plot beside the slice views and the 3D view, in a layout that every Slicer has."""

import slicer

from .view import View

LAYOUT = slicer.vtkMRMLLayoutNode.SlicerLayoutFourUpPlotTableView


class LayoutView(View):
    """The button that shows table and plot in the layout and goes back to the layout before.

    plot: the DistancePlotView whose chart is shown.
    """

    def __init__(self, ui, model, plot):
        super().__init__(ui, model)
        self.plot = plot
        self.before = None  # the layout to go back to; None while table and plot are not shown there
        ui.layoutButton.connect("clicked(bool)", self.onClicked)

    @property
    def isShown(self) -> bool:
        """Whether table and plot are shown in the layout."""
        return self.before is not None

    def draw(self) -> None:
        """Let the layout show the present table and plot, if the user wants them there."""
        manager = slicer.app.layoutManager()
        self.ui.layoutButton.enabled = manager is not None
        if not self.isShown:
            return
        if manager.layout != LAYOUT:  # the user has chosen another one
            self.before = None
            return
        outcome, chart = self.model.outcome, self.plot.chart
        for node in slicer.util.getNodesByClass("vtkMRMLTableViewNode"):
            node.SetTableNodeID(outcome.table.GetID() if outcome is not None else None)
        for node in slicer.util.getNodesByClass("vtkMRMLPlotViewNode"):
            node.SetPlotChartNodeID(chart.GetID() if chart is not None else None)

    def onClicked(self, _checked=False) -> None:
        manager = slicer.app.layoutManager()
        if self.isShown and manager.layout == LAYOUT:
            before, self.before = self.before, None
            manager.setLayout(before)
            return
        usual = slicer.vtkMRMLLayoutNode.SlicerLayoutFourUpView
        self.before = manager.layout if manager.layout != LAYOUT else usual
        manager.setLayout(LAYOUT)
        self.show()
