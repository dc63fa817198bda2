"""The plots in the panel."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import charts, folders

from .enumerations import Plot
from .work import waiting


class PlotView:
    """A plot view of the panel's own; it takes no part in the layout, nor in what other modules show in all plot views.

    It is not saved with the scene.

    name: tells its node from others. onSelected: called with a vtkStringArray of series and a vtkCollection of points
    when the user clicks a point; None for a plot whose points cannot be clicked.
    """

    def __init__(self, layout, name: str, onSelected=None):
        self.layout, self.name, self.onSelected = layout, name, onSelected
        self.view = None

    def show(self, chart, parameters) -> None:
        """Show a vtkMRMLPlotChartNode, or hide the plot when it is None."""
        if chart is not None:
            self._ensureView(parameters)
            self.viewNode.SetPlotChartNodeID(chart.GetID())
        elif self.viewNode is not None:
            self.viewNode.SetPlotChartNodeID(None)
        if self.view:
            self.view.visible = chart is not None

    def remove(self) -> None:
        """Take the plot view's node out of the scene."""
        if self.view is not None:
            self.view.setMRMLPlotViewNode(None)
        if self.viewNode is not None:
            slicer.mrmlScene.RemoveNode(self.viewNode)

    @property
    def chart(self):
        """The vtkMRMLPlotChartNode that is shown, None for none."""
        return self.viewNode.GetPlotChartNode() if self.viewNode is not None else None

    @property
    def viewNode(self):
        """The plot view's node, None when the scene has none."""
        return slicer.mrmlScene.GetSingletonNode(self.name, "vtkMRMLPlotViewNode")

    def _ensureView(self, parameters) -> None:
        node = self.viewNode
        isNew = node is None
        if isNew:
            node = slicer.vtkMRMLPlotViewNode()
            node.SetSingletonTag(self.name)
            node.SetLayoutName(self.name)
            node.SetName("Segment Metrics plot")
            node.SetHideFromEditors(True)
            node.SetSaveWithScene(False)
            if self.onSelected is not None:
                node.SetInteractionMode(node.InteractionModeSelectPoints)
        node.SetDoPropagatePlotChartSelection(False)
        # a parent keeps the layout manager from making a view for it
        node.SetAndObserveParentLayoutNodeID(parameters.parameterNode.GetID())
        if isNew:
            node = slicer.mrmlScene.AddNode(node)
        if self.view is None:
            self.view = slicer.qMRMLPlotView()
            self.view.setMRMLScene(slicer.mrmlScene)
            self.view.setMinimumHeight(200)
            self.layout.addWidget(self.view)
            if self.onSelected is not None:
                self.view.connect("dataSelected(vtkStringArray*,vtkCollection*)", self.onSelected)
        self.view.setMRMLPlotViewNode(node)


class PlotPanel(PlotView):
    """The plot of a pair's distances, or of those of all pairs.

    `problem` says why there is no plot where one could be expected, "" otherwise.
    """

    def __init__(self, layout):
        super().__init__(layout, "SegmentMetrics")
        self.problem = ""

    def showPair(self, parameters, outcome, number: int) -> None:
        """Show the chart of a pair of an outcome, or of all its pairs; nothing when the outcome is None."""
        self.problem = ""
        self.show(self._chart(parameters, outcome, number), parameters)

    def _chart(self, parameters, outcome, number: int):
        """Return the vtkMRMLPlotChartNode to show, made if it is missing or old; None when there is none."""
        if outcome is None or not outcome.records:
            return None
        isCumulative = parameters.plot == Plot.cumulative
        isOfAll = outcome.isOfAll and isCumulative
        owner = outcome.whole() if isOfAll else outcome.pair(number)
        chart = folders.findResult(owner, parameters.plot.name, slicer.mrmlScene)
        if outcome.shows(chart):
            return chart
        if outcome.comparisons is None:
            self.problem = _("This plot was not saved with the scene: Apply to draw it.")
            return None
        if isOfAll:
            chosen = [comparison for comparison in outcome.comparisons if comparison.distances is not None]
        else:
            chosen = outcome.comparisons[number]
        if not chosen or (not isOfAll and chosen.distances is None):
            return None
        with waiting():
            return outcome.mark(charts.showCumulative(chosen) if isCumulative else charts.showHistogram(chosen))


def releaseAllCharts() -> None:
    """Let all plot views go of their charts before the scene is closed: shown charts would come back empty."""
    for node in slicer.util.getNodesByClass("vtkMRMLPlotViewNode"):
        node.SetPlotChartNodeID(None)
