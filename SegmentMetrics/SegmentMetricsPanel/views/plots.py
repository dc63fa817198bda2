"""The plots in the panel, with the tables of doses and of slices beside them."""

from functools import partial

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import charts, navigation

from ..contents import curves
from ..model.enumerations import Plot
from .tables import SortableTable
from .view import View


class ChartView(View):
    """A plot of the shown pair, which make() returns as a vtkMRMLPlotChartNode; None if there is none.

    It is independent of the layout and of charts that other modules show in all plot views. onSelected: called with a
    vtkStringArray of series and a vtkCollection of points when the user clicks a point; None for a plot whose points
    cannot be clicked. height: the least one, in pixels.
    """

    isDrawnEmpty = True

    def __init__(self, panel, frame, onSelected=None, height: int = 160):
        super().__init__(panel)
        self.frame, self.onSelected, self.height = frame, onSelected, height
        self.view, self.drawn = None, None
        # not in the scene: after a batch, the layout manager creates a view for every view node in the scene
        self.viewNode = slicer.vtkMRMLPlotViewNode()
        if onSelected is not None:
            self.viewNode.SetInteractionMode(self.viewNode.InteractionModeSelectPoints)

    def draw(self) -> None:
        self.drawn = chart = self.make()
        if chart is not None and chart is self.chart:
            return
        if chart is not None and self.view is None:
            self.view = slicer.qMRMLPlotView()
            self.view.setMRMLScene(slicer.mrmlScene)  # first, because it removes a view node that is not in the scene
            self.view.setMRMLPlotViewNode(self.viewNode)
            # it takes what is left of the page, whatever height it would like to have
            self.view.setSizePolicy(qt.QSizePolicy.Ignored, qt.QSizePolicy.Ignored)
            self.frame.layout().addWidget(self.view)
            self.frame.setMinimumHeight(self.height)
            if self.onSelected is not None:
                self.view.connect("dataSelected(vtkStringArray*,vtkCollection*)", self.onSelected)
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


class DistancePlotView(ChartView):
    """The plot of the distances of the shown pair or of all pairs."""

    def __init__(self, panel):
        super().__init__(panel, panel.ui.plotFrame)

    def make(self):
        if self.model.record() is None:
            return None
        (outcome, number), kind, session = self.pair, self.model.parameters.plot, self.model.parameters.session
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


class DoseView(ChartView):
    """The dose-volume histograms of the shown pair, and the table of its doses."""

    def __init__(self, panel):
        super().__init__(panel, panel.ui.dosePlotFrame)
        self.table = SortableTable(self.ui.doseTable)
        self.ui.doseCaveatLabel.text = f"{curves.CAVEAT}<br>{curves.doseLegend()}"

    def state(self) -> tuple | None:
        return self.pair if self.isIntact else None

    def make(self):
        (outcome, number), record, chart = self.pair, self.model.record(), None
        self.table.show(curves.doses(record))
        if record is not None and record.doseCurves is not None:
            chart = outcome.mark(charts.showDoseVolume(outcome.pair(number)))
            chart.SetLegendVisibility(False)  # it would lie on the curves: the label above says it
        self.frame.visible = chart is not None
        return chart


class SlicesView(ChartView):
    """The per-slice profile of the shown pair; clicking a point or a row moves the slice views there."""

    def __init__(self, panel):
        super().__init__(panel, panel.ui.slicesPlotFrame, onSelected=self.onSelected, height=132)  # above a table
        self.rows = ()
        self.table = SortableTable(self.ui.slicesTable, self.jump)

    def state(self) -> tuple | None:
        return (*self.pair, self.model.parameters.sliceQuantity) if self.isIntact else None

    def make(self):
        (outcome, number), record, ui = self.pair, self.model.record(), self.ui
        rows = record.slices if record else ()
        if rows is not self.rows:  # the table keeps its selection
            self.rows = rows
            self.table.show(curves.slices(rows))
        for widget in (ui.sliceQuantityLabel, ui.sliceQuantityComboBox, self.frame, ui.slicesTable):
            widget.visible = bool(rows)
        ui.slicesLabel.visible = not rows
        if not rows:
            return None
        key = curves.keyOf(self.model.parameters.sliceQuantity, rows)
        return outcome.mark(charts.showSlices(outcome.pair(number), quantity=key))

    def jump(self, number: int) -> None:
        """Move all slice views to the place in a slice where the contours differ most."""
        navigation.jumpTo(self.rows[number].place, scene=slicer.mrmlScene, cameras=())

    def onSelected(self, _series, selections) -> None:
        """Go to the slice of the point clicked in the plot; clearing a selection is reported as an empty selection."""
        for index in range(selections.GetNumberOfItems()):
            points = selections.GetItemAsObject(index)
            if points.GetNumberOfValues() and 0 <= points.GetValue(0) < len(self.rows):
                self.table.select(points.GetValue(0))
                self.jump(points.GetValue(0))
                return


def releaseAllCharts() -> None:
    """Remove the charts from all plot views before the scene is closed: shown charts would come back empty."""
    for node in slicer.util.getNodesByClass("vtkMRMLPlotViewNode"):
        node.SetPlotChartNodeID(None)
