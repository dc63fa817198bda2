"""The plots in the panel."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import charts, folders

from .enumerations import Plot
from .work import waiting


class PlotView:
    """A plot view of the panel's own; it takes no part in the layout, nor in what other modules show in all plot views.

    onSelected: called with a vtkStringArray of series and a vtkCollection of points when the user clicks a point; None
    for a plot whose points cannot be clicked.
    """

    def __init__(self, layout, onSelected=None):
        self.layout, self.onSelected = layout, onSelected
        self.view = None
        # in no scene: the layout manager makes a view of its own for each view node that it finds there after a batch
        self.viewNode = slicer.vtkMRMLPlotViewNode()
        if onSelected is not None:
            self.viewNode.SetInteractionMode(self.viewNode.InteractionModeSelectPoints)

    def show(self, chart) -> None:
        """Show a vtkMRMLPlotChartNode, or hide the plot when it is None."""
        if chart is not None and chart is self.chart:
            return
        if chart is not None:
            self._ensureView()
        self.viewNode.SetPlotChartNodeID(chart.GetID() if chart is not None else None)
        # a node in no scene does not say by itself that it has another chart, and the view would follow the one before
        self.viewNode.InvokeEvent(self.viewNode.PlotChartNodeChangedEvent)
        if self.view:
            self.view.visible = chart is not None

    @property
    def chart(self):
        """The vtkMRMLPlotChartNode that is shown, None for none."""
        return slicer.mrmlScene.GetNodeByID(self.viewNode.GetPlotChartNodeID() or "")

    def _ensureView(self) -> None:
        if self.view is not None:
            return
        self.view = slicer.qMRMLPlotView()
        self.view.setMRMLScene(slicer.mrmlScene)  # first: it would make the view let go of a node in no scene
        self.view.setMRMLPlotViewNode(self.viewNode)
        self.view.setMinimumHeight(200)
        self.layout.addWidget(self.view)
        if self.onSelected is not None:
            self.view.connect("dataSelected(vtkStringArray*,vtkCollection*)", self.onSelected)


class PlotPanel(PlotView):
    """The plot of a pair's distances, or of those of all pairs.

    `problem` says why there is no plot where one could be expected, "" otherwise.
    """

    def __init__(self, layout):
        super().__init__(layout)
        self.problem = ""

    def showPair(self, parameters, outcome, number: int) -> None:
        """Show the chart of a pair of an outcome, or of all its pairs; nothing when the outcome is None."""
        self.problem = ""
        self.show(self._chart(parameters, outcome, number))

    def _chart(self, parameters, outcome, number: int):
        """Return the vtkMRMLPlotChartNode to show, made if it is missing or old; None when there is none."""
        if outcome is None or not outcome.records:
            return None
        isCumulative = parameters.plot == Plot.cumulative
        isOfAll = outcome.isOfAll and isCumulative
        owner = outcome.whole() if isOfAll else outcome.pair(number)
        chart = folders.findResult(owner, parameters.plot.name, slicer.mrmlScene)
        if outcome.shows(chart) and charts.isDrawn(chart):
            return chart
        if outcome.comparisons is None:
            self.problem = _("This plot is not in the scene. Press Apply again to draw it.")
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
