"""The plots in the panel."""

from functools import partial

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import charts

from ..model.enumerations import Plot
from .view import View


class PlotView:
    """A plot view inside the panel, independent of the layout and of charts that other modules show in all plot views.

    onSelected: called with a vtkStringArray of series and a vtkCollection of points when the user clicks a point; None
    for a plot whose points cannot be clicked. height: the least one, in pixels.
    """

    def __init__(self, layout, onSelected=None, height: int = 160):
        self.layout, self.onSelected, self.height = layout, onSelected, height
        self.view, self.drawn = None, None
        # not in the scene: after a batch, the layout manager creates a view for every view node in the scene
        self.viewNode = slicer.vtkMRMLPlotViewNode()
        if onSelected is not None:
            self.viewNode.SetInteractionMode(self.viewNode.InteractionModeSelectPoints)

    def draw(self, chart) -> None:
        """Show a vtkMRMLPlotChartNode, or hide the plot if it is None."""
        self.drawn = chart
        if chart is not None and chart is self.chart:
            return
        if chart is not None:
            self._ensureView()
        self.viewNode.SetPlotChartNodeID(chart.GetID() if chart is not None else None)
        # a node outside the scene does not report a new chart by itself, and the view would keep the previous one
        self.viewNode.InvokeEvent(self.viewNode.PlotChartNodeChangedEvent)
        if self.view:
            self.view.visible = chart is not None

    @property
    def chart(self):
        """The shown vtkMRMLPlotChartNode, or None."""
        return slicer.mrmlScene.GetNodeByID(self.viewNode.GetPlotChartNodeID() or "")

    @property
    def isIntact(self) -> bool:
        """Whether the chart that was drawn last is still what it was."""
        return self.drawn is None or (self.chart is self.drawn and charts.isDrawn(self.drawn))

    def _ensureView(self) -> None:
        if self.view is not None:
            return
        self.view = slicer.qMRMLPlotView()
        self.view.setMRMLScene(slicer.mrmlScene)  # first, because it removes a view node that is not in the scene
        self.view.setMRMLPlotViewNode(self.viewNode)
        # it takes what is left of the page, whatever height it would like to have
        self.view.setSizePolicy(qt.QSizePolicy.Ignored, qt.QSizePolicy.Ignored)
        self.layout.addWidget(self.view)
        self.layout.parentWidget().setMinimumHeight(self.height)
        if self.onSelected is not None:
            self.view.connect("dataSelected(vtkStringArray*,vtkCollection*)", self.onSelected)


class DistancePlotView(View):
    """The plot of the distances of the shown pair or of all pairs."""

    def __init__(self, panel):
        super().__init__(panel)
        self.plot = PlotView(self.ui.plotFrame.layout())

    @property
    def chart(self):
        """The shown vtkMRMLPlotChartNode, or None."""
        return self.plot.chart

    def draw(self) -> None:
        """Show the chart of the shown pair, or of all pairs; nothing without an outcome."""
        self.plot.draw(self._chart())

    def release(self) -> None:
        super().release()
        self.plot.draw(None)

    def _chart(self):
        """Return the vtkMRMLPlotChartNode to show, created if it is missing or outdated; None if there is none."""
        (outcome, number), kind, session = self.pair, self.model.parameters.plot, self.model.parameters.session
        if self.model.record() is None:
            return None
        if kind == Plot.session and session is None:
            self.problem = _("There is no practice session: check Practice, draw, and press Reveal.")
            return None
        isOfAll, compared = outcome.isOfAll and kind == Plot.cumulative, outcome.comparisons
        owner = outcome.pair(None if isOfAll else number)
        if kind == Plot.session:
            measured, make = session, partial(charts.showSession, owner)
        else:
            given = () if compared is None else compared if isOfAll else [compared[number]]
            chosen = [comparison for comparison in given if comparison.distances is not None]
            if compared is not None and not chosen:
                return None
            measured = None if compared is None else chosen if isOfAll else chosen[0]
            make = charts.showCumulative if kind == Plot.cumulative else charts.showHistogram
        lost = _("This plot is not in the scene. Press Apply again to draw it.")
        return self.resultOf(outcome, owner, kind.name, charts.isDrawn, measured, make, lost)


def releaseAllCharts() -> None:
    """Remove the charts from all plot views before the scene is closed: shown charts would come back empty."""
    for node in slicer.util.getNodesByClass("vtkMRMLPlotViewNode"):
        node.SetPlotChartNodeID(None)
