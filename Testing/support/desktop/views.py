"""Stand-ins for the layout manager and the views: real view nodes, layout and slice logics, no window on a screen."""

from __future__ import annotations

from PySide6.QtCore import Property, QObject, Signal
from PySide6.QtWidgets import QWidget
from vtkmodules.vtkCommonCore import vtkCollection
from vtkmodules.vtkRenderingAnnotation import vtkCornerAnnotation

from .plotview import qMRMLPlotView
from .selectors import observe, unobserve


class qMRMLThreeDView(QWidget):
    """The real 3D view of a view node, drawn into memory from the first time that somebody looks at it."""

    exposed = frozenset({"scheduleRender", "cornerAnnotation"})

    def __init__(self, desktop, viewNode):
        super().__init__()
        self._annotation = vtkCornerAnnotation()
        self._desktop, self._viewNode, self._view = desktop, viewNode, None

    def cornerAnnotation(self):
        return self._annotation

    def offscreen(self):
        """Slicer's 3D view on this view node; NoOpenGLError where nothing can be drawn."""
        if self._view is None:
            from .threedview import ThreeDView

            self._view = ThreeDView(self._desktop.scene, viewNode=self._viewNode)
        return self._view

    def close(self):
        if self._view is not None:
            self._view.close()
            self._view = None

    def scheduleRender(self):
        if self._view is not None:
            self._view.window.Render()


class qMRMLThreeDWidget(QWidget):
    exposed = frozenset({"threeDView"})

    def __init__(self, desktop, viewNode):
        super().__init__()
        self._view = qMRMLThreeDView(desktop, viewNode)

    def threeDView(self):
        return self._view

    def close(self):
        self._view.close()


class qMRMLSliceView(QWidget):
    """The corners of a slice view, of which nothing is drawn."""

    exposed = frozenset({"cornerAnnotation", "scheduleRender"})

    def __init__(self):
        super().__init__()
        self._annotation = vtkCornerAnnotation()

    def cornerAnnotation(self):
        return self._annotation

    def scheduleRender(self):
        pass


class qMRMLSliceWidget(QWidget):
    exposed = frozenset({"sliceLogic", "sliceView"})

    def __init__(self, logic):
        super().__init__()
        self._logic, self._view = logic, qMRMLSliceView()

    def sliceView(self):
        return self._view

    def sliceLogic(self):
        return self._logic


class qMRMLPlotWidget(QWidget):
    exposed = frozenset({"mrmlPlotViewNode"})

    def __init__(self, desktop, viewNode):
        super().__init__()
        self._viewNode, self._view = viewNode, qMRMLPlotView(self)
        self._view.setMRMLScene(desktop.scene)
        self._view.setMRMLPlotViewNode(viewNode)

    def mrmlPlotViewNode(self):
        return self._viewNode


class ViewFactory:
    """Makes the views of one kind in the layout, as qMRMLLayoutViewFactory does.

    A node that is added gets one unless it has a parent layout node; when a batch ends, each node without a view does.
    """

    def __init__(self, desktop, className: str, widgetClass) -> None:
        self._desktop, self._className, self._widgetClass = desktop, className, widgetClass
        self._observers, self._widgets = [], {}
        scene = desktop.scene
        observe(scene, scene.NodeAddedEvent, self, "nodeAdded", self._observers, withNode=True)
        observe(scene, scene.NodeRemovedEvent, self, "nodeRemoved", self._observers, withNode=True)
        observe(scene, scene.EndBatchProcessEvent, self, "sceneModified", self._observers)
        self.sceneModified()

    def nodeAdded(self, node) -> None:
        if self._desktop.scene.IsBatchProcessing() or not node.IsA(self._className):
            return
        if node.GetParentLayoutNode() is None:
            self.viewNodeAdded(node)

    def viewNodeAdded(self, node) -> None:
        if node not in self._widgets:
            self._widgets[node] = self._widgetClass(self._desktop, node)

    def nodeRemoved(self, node) -> None:
        widget = self._widgets.pop(node, None)
        if widget is not None:
            widget.close()
            widget.deleteLater()

    def sceneModified(self) -> None:
        for node in self._desktop.scene.GetNodesByClass(self._className):
            self.viewNodeAdded(node)

    def widgets(self) -> list:
        return list(self._widgets.values())

    def widget(self, index: int):
        return self.widgets()[index] if 0 <= index < len(self._widgets) else None

    def close(self) -> None:
        unobserve(self._observers)
        for node in list(self._widgets):
            self.nodeRemoved(node)


class qSlicerLayoutManager(QObject):
    layoutChanged = Signal(int)
    exposed = frozenset({"layoutChanged", "setLayout", "threeDWidget", "sliceWidget", "sliceViewNames", "plotWidget"})
    exposed |= {"mrmlSliceLogics"}

    def __init__(self, desktop):
        super().__init__()
        import slicer

        self._desktop = desktop
        self._logic = slicer.vtkMRMLLayoutLogic()
        self._logic.SetMRMLApplicationLogic(desktop.applicationLogic)
        self._logic.SetMRMLScene(desktop.scene)
        self._observers = []
        self.setLayout(slicer.vtkMRMLLayoutNode.SlicerLayoutFourUpView)
        self._threeD = ViewFactory(desktop, "vtkMRMLViewNode", qMRMLThreeDWidget)
        self._plots = ViewFactory(desktop, "vtkMRMLPlotViewNode", qMRMLPlotWidget)
        self._tables = ViewFactory(desktop, "vtkMRMLTableViewNode", lambda _desktop, _node: QWidget())
        self._sliceWidgets = {}
        for name in self.sliceViewNames():
            logic = slicer.vtkMRMLSliceLogic()
            logic.SetMRMLApplicationLogic(desktop.applicationLogic)
            logic.SetMRMLScene(desktop.scene)
            logic.SetSliceNode(desktop.scene.GetNodeByID(f"vtkMRMLSliceNode{name}"))
            self._sliceWidgets[name] = qMRMLSliceWidget(logic)
        observe(self._logic.GetLayoutNode(), "ModifiedEvent", self, "updateLayout", self._observers)
        observe(desktop.scene, desktop.scene.EndBatchProcessEvent, self, "updateLayout", self._observers)
        self.updateLayout()

    def setLayout(self, layout):
        self._logic.GetLayoutNode().SetViewArrangement(int(layout))

    def updateLayout(self) -> None:
        """Tell the view nodes which of them are shown, and others that there may be another layout."""
        if self._desktop.scene.IsBatchProcessing():
            return
        shown = self._logic.GetViewNodes()
        for node in self._desktop.scene.GetNodesByClass("vtkMRMLAbstractViewNode"):
            node.SetMappedInLayout(bool(shown.IsItemPresent(node)))
        self.layoutChanged.emit(self.layout)

    def threeDWidget(self, index):
        return self._threeD.widget(index)

    def plotWidget(self, index):
        return self._plots.widget(index)

    def sliceViewNames(self):
        return ["Red", "Green", "Yellow"]

    def sliceWidget(self, name):
        return self._sliceWidgets.get(name)

    def mrmlSliceLogics(self):
        logics = vtkCollection()
        for widget in self._sliceWidgets.values():
            logics.AddItem(widget.sliceLogic())
        return logics

    def close(self) -> None:
        unobserve(self._observers)
        for factory in (self._threeD, self._plots, self._tables):
            factory.close()

    layout = Property(int, lambda self: self._logic.GetLayoutNode().GetViewArrangement(), setLayout)
    threeDViewCount = Property(int, lambda self: len(self._threeD.widgets()))
    plotViewCount = Property(int, lambda self: len(self._plots.widgets()))
