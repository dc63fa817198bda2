"""The plot below the table."""

import slicer

NAME = "SegmentMetrics"


class PlotPanel:
    """A plot view of the panel's own; it takes no part in the layout and is not saved with the scene."""

    def __init__(self, layout):
        self.layout = layout
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

    @property
    def viewNode(self):
        """The plot view's node; made when the scene has none."""
        return slicer.mrmlScene.GetSingletonNode(NAME, "vtkMRMLPlotViewNode")

    def _ensureView(self, parameters) -> None:
        node = self.viewNode
        if node is None:
            node = slicer.vtkMRMLPlotViewNode()
            node.SetSingletonTag(NAME)
            node.SetLayoutName(NAME)
            node.SetName("Segment Metrics plot")
            node.SetHideFromEditors(True)
            node.SetSaveWithScene(False)
            # a parent keeps the layout manager from making a view for it
            node.SetAndObserveParentLayoutNodeID(parameters.parameterNode.GetID())
            node = slicer.mrmlScene.AddNode(node)
        if self.view is None:
            self.view = slicer.qMRMLPlotView()
            self.view.setMRMLScene(slicer.mrmlScene)
            self.view.setMinimumHeight(200)
            self.layout.addWidget(self.view)
        self.view.setMRMLPlotViewNode(node)


def releaseAllCharts() -> None:
    """Let all plot views go of their charts before the scene is closed: shown charts would come back empty."""
    for node in slicer.util.getNodesByClass("vtkMRMLPlotViewNode"):
        node.SetPlotChartNodeID(None)
