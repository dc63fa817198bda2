"""Stand-in for qMRMLSegmentSelectorWidget on the real scene, with the traps of the real one.

Read in its source: a segmentation that is added later is not selected by itself; removing the current one selects
another one; the segment's signal comes before the node's. Seen in a running Slicer: setMRMLScene selects without any
signal, removing the last node gives no signal and leaves currentSegmentID() as it was, a rename gives none either.
"""

from __future__ import annotations

import weakref
from typing import ClassVar

import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from .widgets import qMRMLWidget

_NONE = "None"


def observe(caller, event, owner, method: str, observers: list, withNode: bool = False) -> None:
    """Call a method of owner upon an event, as long as owner lives; (caller, tag) is appended to observers."""
    import vtk

    reference = weakref.ref(owner)

    def callback(caller, event, callData=None):
        receiver = reference()
        if receiver is not None and (not isinstance(receiver, QObject) or shiboken6.isValid(receiver)):
            getattr(receiver, method)(*([callData] if withNode else []))

    if withNode:
        callback.CallDataType = vtk.VTK_OBJECT
    observers.append((caller, caller.AddObserver(event, callback)))


def unobserve(observers: list) -> None:
    for caller, tag in observers:
        caller.RemoveObserver(tag)
    observers.clear()


class _Nodes(QComboBox):
    """The part of qMRMLNodeComboBox that the segment selector needs: a combo box of the scene's segmentations."""

    def __init__(self, parent):
        super().__init__(parent)
        self.changed = lambda: None
        self.scene, self.ids = None, [""]
        self._observers, self._renames = [], []
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setPlaceholderText("Select a Segmentation")
        self.setEnabled(False)
        self.currentIndexChanged.connect(lambda index: self.changed())

    def minimumSizeHint(self):
        """As wide as the longest name: nothing is elided unless the size policy allows it."""
        return self.sizeHint()

    def setScene(self, scene) -> None:
        import slicer

        unobserve(self._observers)
        self.scene = scene
        self.setEnabled(scene is not None)
        wasBlocked = self.blockSignals(True)
        self.refresh()
        self.setCurrentIndex(0 if self.count() else -1)
        self.blockSignals(wasBlocked)
        if scene is not None:
            observe(scene, slicer.vtkMRMLScene.NodeAddedEvent, self, "refresh", self._observers)
            observe(scene, slicer.vtkMRMLScene.NodeRemovedEvent, self, "nodeRemoved", self._observers, withNode=True)
            observe(scene, slicer.vtkMRMLScene.EndImportEvent, self, "refresh", self._observers)

    def refresh(self) -> None:
        """Show the scene's segmentations by their present names; the selected one stays, without a signal."""
        from vtkmodules.vtkCommonCore import vtkCommand

        nodes = self.scene.GetNodesByClass("vtkMRMLSegmentationNode") if self.scene is not None else []
        nodes = [node for node in nodes if not node.GetHideFromEditors()]
        current = self.currentNodeID()
        wasBlocked = self.blockSignals(True)
        self.clear()
        self.ids = ["", *(node.GetID() for node in nodes)]
        self.addItems([_NONE, *(node.GetName() or "" for node in nodes)])
        self.setCurrentIndex(self.ids.index(current) if current in self.ids else -1)
        self.blockSignals(wasBlocked)
        self.updateGeometry()
        unobserve(self._renames)
        for node in nodes:
            observe(node, vtkCommand.ModifiedEvent, self, "rename", self._renames)

    def rename(self) -> None:
        for index, nodeID in enumerate(self.ids):
            node = self.scene.GetNodeByID(nodeID) if nodeID else None
            if node is not None and self.itemText(index) != node.GetName():
                self.setItemText(index, node.GetName())

    def nodeRemoved(self, node) -> None:
        if node.GetID() not in self.ids:
            return
        index, wasCurrent = self.ids.index(node.GetID()), node.GetID() == self.currentNodeID()
        self.refresh()
        remaining = [i for i, nodeID in enumerate(self.ids) if nodeID]
        if wasCurrent and remaining:  # the one that takes its place, else the last one
            self.setCurrentIndex(index if index in remaining else remaining[-1])

    def currentNodeID(self) -> str:
        index = self.currentIndex()
        return self.ids[index] if 0 <= index < len(self.ids) else ""

    def setCurrentNodeID(self, nodeID) -> None:
        self.setCurrentIndex(self.ids.index(nodeID) if nodeID in self.ids else 0)


class qMRMLSegmentSelectorWidget(qMRMLWidget):
    currentNodeChanged = Signal(object)
    currentSegmentChanged = Signal(str)
    exposed = frozenset({"currentNode", "currentSegmentID", "setCurrentNode", "setCurrentSegmentID"})
    exposed |= {"currentNodeChanged", "currentSegmentChanged", "setMRMLScene"}
    signatures: ClassVar[dict[str, str]] = {
        **qMRMLWidget.signatures,
        "currentNodeChanged(vtkMRMLNode*)": "currentNodeChanged(PyObject)",
    }

    def __init__(self, parent=None):
        super().__init__(parent)
        self._segmentID, self._segmentation, self._observers = "", None, []
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(0)
        layout.setVerticalSpacing(2)
        self._nodes, self._segments = _Nodes(self), QComboBox()
        self._segments.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._label = QLabel("Segment: ")
        self._label.setObjectName("label_Segment")
        self._segments.setObjectName("comboBox_Segment")
        layout.addWidget(self._nodes, 0, 0)
        row = QWidget()
        row.setObjectName("frame_Segment")
        rowLayout = QHBoxLayout(row)
        rowLayout.setContentsMargins(4, 0, 0, 0)
        rowLayout.setSpacing(4)
        for part in (self._label, self._segments):
            rowLayout.addWidget(part)
        layout.addWidget(row, 1, 0)
        self._nodes.changed = self._onNodeChanged
        self._segments.currentIndexChanged.connect(self._onSegmentChanged)
        self._populate()

    def setMRMLScene(self, scene):
        super().setMRMLScene(scene)
        if scene is not self._nodes.scene:
            self._nodes.setScene(scene)
            wasBlocked = self.blockSignals(True)
            self._follow()
            self.blockSignals(wasBlocked)

    def currentNode(self):
        nodeID = self._nodes.currentNodeID()
        return self._nodes.scene.GetNodeByID(nodeID) if nodeID else None

    def setCurrentNode(self, node):
        self._nodes.setCurrentNodeID(node.GetID() if node is not None else "")

    def currentSegmentID(self):
        return self._segmentID

    def setCurrentSegmentID(self, segmentID):
        index = self._segments.findData(segmentID) if segmentID else 0
        if index >= 0:
            self._segments.setCurrentIndex(index)

    def _onNodeChanged(self) -> None:
        self._follow()
        self.currentNodeChanged.emit(self.currentNode())

    def _follow(self) -> None:
        """Observe the selected segmentation and show its segments."""
        import slicer

        node = self.currentNode()
        if node is self._segmentation:
            return
        unobserve(self._observers)
        self._segmentation = node
        if node is not None:
            for event in ("SegmentAdded", "SegmentRemoved", "SegmentModified"):
                observe(node, getattr(slicer.vtkSegmentation, event), self, "_populate", self._observers)
        self._populate()

    def _populate(self) -> None:
        wasBlocked = self._segments.blockSignals(True)
        self._segments.clear()
        segmentation = self._segmentation.GetSegmentation() if self._segmentation is not None else None
        ids = list(segmentation.GetSegmentIDs()) if segmentation is not None else []
        self._label.setVisible(bool(ids))
        self._segments.setVisible(bool(ids))
        if ids:
            self._segments.addItem(_NONE, _NONE)
        for segmentID in ids:
            self._segments.addItem(segmentation.GetSegment(segmentID).GetName(), segmentID)
        keep = self._segmentID in ids or not self._segmentID
        self._segments.setCurrentIndex(-1)
        if ids and keep:
            self.setCurrentSegmentID(self._segmentID)
        self._segments.blockSignals(wasBlocked)
        if ids and not keep:
            self._segments.setCurrentIndex(1)

    def _onSegmentChanged(self, index) -> None:
        if self._segmentation is None:
            return
        segmentID = self._segments.itemData(index)
        self._segmentID = "" if segmentID == _NONE else segmentID or ""
        self.currentSegmentChanged.emit(self._segmentID)
