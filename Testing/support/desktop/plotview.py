"""Stand-in for qMRMLPlotView: draws the chart node's series with Qt's painter. A plain picture, not VTK's chart."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget
from vtkmodules.vtkChartsCore import vtkChart, vtkChartXY
from vtkmodules.vtkCommonCore import vtkWeakReference

from .selectors import observe, unobserve


class qMRMLPlotView(QWidget):
    """Bars, lines and points in the chart's axis ranges, its titles, no legend; in the order of qMRMLPlotView.cxx.

    The chart is looked for by its ID in the view's own scene. chart() has what was there when the view node, or the
    chart that it said it has, was changed last; a view node in no scene says nothing about its chart.
    """

    mrmlSceneChanged = Signal(object)
    dataSelected = Signal(object, object)
    exposed = frozenset({"mrmlSceneChanged", "dataSelected", "setMRMLScene", "setMRMLPlotViewNode", "chart"})
    signatures: ClassVar[dict[str, str]] = {
        "mrmlSceneChanged(vtkMRMLScene*)": "mrmlSceneChanged(PyObject)",
        "dataSelected(vtkStringArray*,vtkCollection*)": "dataSelected(PyObject,PyObject)",
    }

    def __init__(self, parent=None):
        super().__init__(parent)
        self._scene, self._viewNode = None, vtkWeakReference()
        self._sceneObservers, self._nodeTags, self._chartObservers = [], [], []
        self._chart = vtkChartXY()
        self.setBackgroundRole(self.palette().ColorRole.Base)
        self.setAutoFillBackground(True)

    def setMRMLScene(self, scene):
        if scene is self._scene:
            return
        unobserve(self._sceneObservers)
        self._scene = scene
        if scene is not None:
            observe(scene, scene.EndBatchProcessEvent, self, "updateWidgetFromMRML", self._sceneObservers)
        self.onPlotChartNodeChanged()
        node = self._viewNode.Get()
        if node is not None and node.GetScene() is not scene:
            self.setMRMLPlotViewNode(None)
        self.mrmlSceneChanged.emit(scene)

    def setMRMLPlotViewNode(self, node):
        before, observers = self._viewNode.Get(), []
        if node is before:
            return
        if before is not None:
            unobserve([(before, tag) for tag in self._nodeTags])
        self._viewNode.Set(node)
        if node is not None:
            observe(node, "ModifiedEvent", self, "updateWidgetFromMRML", observers)
            observe(node, node.PlotChartNodeChangedEvent, self, "onPlotChartNodeChanged", observers)
        self._nodeTags = [tag for _, tag in observers]  # without the node: the view does not keep it
        self.onPlotChartNodeChanged()

    def chart(self):
        """A vtkChartXY with as many plots as there were when something said that it was changed."""
        return self._chart

    def sizeHint(self):
        return QSize(256, 192)

    def minimumSizeHint(self):
        return QSize(0, 0)

    def _chartNode(self):
        node = self._viewNode.Get()
        if node is None or self._scene is None:
            return None
        return self._scene.GetNodeByID(node.GetPlotChartNodeID() or "")

    def onPlotChartNodeChanged(self) -> None:
        unobserve(self._chartObservers)
        chart = self._chartNode()
        if chart is not None:
            observe(chart, "ModifiedEvent", self, "updateWidgetFromMRML", self._chartObservers)
        self.updateWidgetFromMRML()

    def updateWidgetFromMRML(self) -> None:
        if self._scene is None or self._viewNode.Get() is None or not self.isEnabled():
            return  # with what was drawn before
        self._chart.ClearPlots()
        for _series in self._curves():
            self._chart.AddPlot(vtkChart.LINE)
        self.update()

    def _curves(self) -> list[tuple]:
        chart = self._chartNode()
        count = chart.GetNumberOfPlotSeriesNodes() if chart is not None else 0
        nodes = [chart.GetNthPlotSeriesNode(number) for number in range(count)]
        return [(series, self._points(series)) for series in nodes if series is not None]

    def _points(self, series) -> np.ndarray:
        """Return (n, 2) x and y of a series; nothing when its table or columns are missing."""
        from vtkmodules.util.numpy_support import vtk_to_numpy

        table = series.GetTableNode().GetTable() if series.GetTableNode() is not None else None
        columns = [table.GetColumnByName(name) if table is not None and name else None for name in self._names(series)]
        if None in columns or not all(hasattr(column, "GetTuple1") for column in columns):
            return np.zeros((0, 2))
        return np.stack([vtk_to_numpy(column).astype(float) for column in columns], axis=1)

    @staticmethod
    def _names(series) -> tuple[str, str]:
        return series.GetXColumnName(), series.GetYColumnName()

    def _range(self, axis: str, values: np.ndarray) -> tuple[float, float]:
        chart = self._chartNode()
        if getattr(chart, f"Get{axis}AxisRangeAuto")():
            low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
        else:
            low, high = getattr(chart, f"Get{axis}AxisRange")()
        return (low, high) if high > low else (low - 0.5, low + 0.5)

    def paintEvent(self, event):
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._chartNode() is not None:
            self._draw(painter, self._chartNode(), self._curves())
        painter.end()

    def _draw(self, painter: QPainter, chart, curves) -> None:
        line = self.fontMetrics().height()
        xTitle = chart.GetXAxisTitle() or ""
        below = line * (1 + xTitle.count("\n"))
        area = QRectF(self.rect()).adjusted(3.5 * line, 1.5 * line, -line, -1.8 * line - below)
        values = np.concatenate([np.zeros((0, 2)), *[points for _, points in curves]])
        (left, right), (bottom, top) = self._range("X", values[:, 0]), self._range("Y", values[:, 1])

        def place(x: float, y: float) -> QPointF:
            across, up = (x - left) / (right - left), (y - bottom) / (top - bottom)
            return QPointF(area.left() + across * area.width(), area.bottom() - up * area.height())

        middle = Qt.AlignmentFlag.AlignCenter
        painter.drawText(QRectF(0, 0, self.width(), 1.5 * line), middle, chart.GetTitle() or "")
        painter.drawText(QRectF(0, self.height() - 0.4 * line - below, self.width(), below), middle, xTitle)
        for share in (0, 0.5, 1):
            x, y = left + share * (right - left), bottom + share * (top - bottom)
            across, up = place(x, bottom), place(left, y)
            painter.drawText(QRectF(across.x() - 30, area.bottom(), 60, 1.4 * line), middle, f"{x:g}")
            right_ = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(line, up.y() - line, 2.3 * line, 2 * line), right_, f"{y:.3g}")
        painter.save()
        painter.translate(line * 0.8, area.center().y())
        painter.rotate(-90)
        height = area.height() + 4 * line
        painter.drawText(QRectF(-height / 2, -line / 2, height, line), middle, chart.GetYAxisTitle() or "")
        painter.restore()
        painter.drawRect(area)
        painter.setClipRect(area)
        for series, points in curves:
            self._drawSeries(painter, series, points, place, bottom)

    def _drawSeries(self, painter, series, points, place, bottom) -> None:
        color = QColor.fromRgbF(*series.GetColor(), series.GetOpacity())
        style = series.GetLineStyle()
        dashed = style in (series.LineStyleDash, series.LineStyleDot, series.LineStyleDashDot)
        pen = QPen(color, max(series.GetLineWidth(), 1), Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine)
        if series.GetPlotType() in (series.PlotTypeBar, series.PlotTypeScatterBar):
            x = points[:, 0] if series.GetPlotType() == series.PlotTypeScatterBar else np.arange(len(points))
            half = (np.diff(np.unique(x)).min() if len(np.unique(x)) > 1 else 1.0) / 2
            for middle, height in zip(x, points[:, 1]):
                box = QRectF(place(middle - half, height), place(middle + half, bottom))
                painter.fillRect(box.adjusted(0.5, 0, -0.5, 0), color)
            return
        painter.setPen(pen)
        isKnown = np.isfinite(points).all(axis=1)
        # a line goes on behind a gap, but not across it
        for part in np.split(np.arange(len(points)), np.flatnonzero(np.diff(isKnown)) + 1):
            positions = [place(*point) for point in points[part] if np.isfinite(point).all()]
            if style != series.LineStyleNone and positions:
                painter.drawPolyline(QPolygonF(positions))
            if series.GetMarkerStyle() != series.MarkerStyleNone:
                for position in positions:
                    painter.drawEllipse(position, 2, 2)
