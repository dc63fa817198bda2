"""Stand-ins for the layout manager and the views: real view nodes, layout and slice logics, no window on a screen."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Property, QObject, Signal
from PySide6.QtWidgets import QWidget


class qMRMLThreeDView(QWidget):
    """The real 3D view of a view node, drawn into memory from the first time that somebody looks at it."""

    exposed = frozenset({"cameraNode", "forceRender", "scheduleRender", "mrmlViewNode", "renderWindow"})
    exposed |= {"resetFocalPoint", "resetCamera"}

    def __init__(self, desktop, viewNode):
        super().__init__()
        self._desktop, self._viewNode, self._view = desktop, viewNode, None

    def mrmlViewNode(self):
        return self._viewNode

    def cameraNode(self):
        return self._desktop.camerasLogic.GetViewActiveCameraNode(self._viewNode)

    def offscreen(self):
        """SegmentMetricsLib's 3D view on this view node; NoOpenGLError where nothing can be drawn."""
        if self._view is None:
            from SegmentMetricsLib.mrml.views import ThreeDView

            viewNode = self._viewNode

            class LayoutView(ThreeDView):
                def _makeViewNode(self, background):
                    return viewNode

            self._view = LayoutView(self._desktop.scene)
            self._view._ownNodes.clear()
        return self._view

    def close(self):
        if self._view is not None:
            self._view.close()
            self._view = None

    def renderWindow(self):
        return self.offscreen().window

    def forceRender(self):
        self.scheduleRender()

    def scheduleRender(self):
        if self._view is not None:
            self._view.window.Render()

    def resetFocalPoint(self):
        bounds = self._contentBounds()
        if bounds is not None:
            self.cameraNode().SetFocalPoint(*bounds.mean(axis=1))

    def resetCamera(self):
        bounds = self._contentBounds()
        if bounds is not None:
            camera = self.cameraNode()
            direction = np.subtract(camera.GetPosition(), camera.GetFocalPoint())
            distance = 2 * np.linalg.norm(bounds[:, 1] - bounds[:, 0])
            camera.SetFocalPoint(*bounds.mean(axis=1))
            camera.SetPosition(*(bounds.mean(axis=1) + direction / np.linalg.norm(direction) * distance))

    def _contentBounds(self):
        """Return (3, 2) RAS bounds of the nodes that are shown in 3D, None when there is nothing."""
        found = []
        for node in self._desktop.scene.GetNodesByClass("vtkMRMLDisplayableNode"):
            display = node.GetDisplayNode()
            if display is None or not display.GetVisibility() or node.IsA("vtkMRMLSliceNode"):
                continue
            bounds = [0.0] * 6
            node.GetRASBounds(bounds)
            if bounds[0] <= bounds[1]:
                found.append(np.reshape(bounds, (3, 2)))
        if not found:
            return None
        return np.stack([np.min(found, axis=0)[:, 0], np.max(found, axis=0)[:, 1]], axis=1)


class qMRMLThreeDWidget(QWidget):
    exposed = frozenset({"mrmlViewNode", "threeDView"})

    def __init__(self, desktop, viewNode):
        super().__init__()
        self._view = qMRMLThreeDView(desktop, viewNode)

    def mrmlViewNode(self):
        return self._view.mrmlViewNode()

    def threeDView(self):
        return self._view


class qMRMLSliceWidget(QWidget):
    exposed = frozenset({"mrmlSliceNode", "sliceLogic", "mrmlSliceCompositeNode", "fitSliceToBackground"})

    def __init__(self, logic):
        super().__init__()
        self._logic = logic

    def mrmlSliceNode(self):
        return self._logic.GetSliceNode()

    def mrmlSliceCompositeNode(self):
        return self._logic.GetSliceCompositeNode()

    def sliceLogic(self):
        return self._logic

    def fitSliceToBackground(self):
        self._logic.FitSliceToBackground()


class qSlicerLayoutManager(QObject):
    layoutChanged = Signal(int)
    exposed = frozenset({"layoutChanged", "setLayout", "layoutLogic", "threeDWidget", "sliceWidget", "sliceViewNames"})
    exposed |= {"resetThreeDViews", "resetSliceViews", "mrmlScene", "pauseRender", "resumeRender"}

    def __init__(self, desktop):
        super().__init__()
        import slicer

        self._desktop = desktop
        self._logic = slicer.vtkMRMLLayoutLogic()
        self._logic.SetMRMLApplicationLogic(desktop.applicationLogic)
        self._logic.SetMRMLScene(desktop.scene)
        self.setLayout(slicer.vtkMRMLLayoutNode.SlicerLayoutFourUpView)
        self._threeDWidgets, self._sliceWidgets = {}, {}
        for name in self.sliceViewNames():
            logic = slicer.vtkMRMLSliceLogic()
            logic.SetMRMLApplicationLogic(desktop.applicationLogic)
            logic.SetMRMLScene(desktop.scene)
            logic.SetSliceNode(desktop.scene.GetNodeByID(f"vtkMRMLSliceNode{name}"))
            self._sliceWidgets[name] = qMRMLSliceWidget(logic)

    def setLayout(self, layout):
        before = self._logic.GetLayoutNode().GetViewArrangement()
        self._logic.GetLayoutNode().SetViewArrangement(int(layout))
        if before != layout:
            self.layoutChanged.emit(int(layout))

    def layoutLogic(self):
        return self._logic

    def mrmlScene(self):
        return self._desktop.scene

    def _threeDNodes(self) -> list:
        nodes = self._desktop.scene.GetNodesByClass("vtkMRMLViewNode")
        return [node for node in nodes if node.GetParentLayoutNode() is None]

    def threeDWidget(self, index):
        nodes = self._threeDNodes()
        if not 0 <= index < len(nodes):
            return None
        key = nodes[index].GetID()
        if key not in self._threeDWidgets:
            self._threeDWidgets[key] = qMRMLThreeDWidget(self._desktop, nodes[index])
        return self._threeDWidgets[key]

    def sliceViewNames(self):
        return ["Red", "Green", "Yellow"]

    def sliceWidget(self, name):
        return self._sliceWidgets.get(name)

    def resetThreeDViews(self):
        for index in range(len(self._threeDNodes())):
            self.threeDWidget(index).threeDView().resetFocalPoint()

    def resetSliceViews(self):
        for widget in self._sliceWidgets.values():
            widget.fitSliceToBackground()

    def pauseRender(self):
        return None

    def resumeRender(self):
        return None

    def close(self) -> None:
        for widget in self._threeDWidgets.values():
            widget.threeDView().close()

    def _count(self, className) -> int:
        nodes = self._desktop.scene.GetNodesByClass(className)
        return len([node for node in nodes if node.GetParentLayoutNode() is None])

    layout = Property(int, lambda self: self._logic.GetLayoutNode().GetViewArrangement(), setLayout)
    threeDViewCount = Property(int, lambda self: len(self._threeDNodes()))
    plotViewCount = Property(int, lambda self: self._count("vtkMRMLPlotViewNode"))
    tableViewCount = Property(int, lambda self: self._count("vtkMRMLTableViewNode"))
