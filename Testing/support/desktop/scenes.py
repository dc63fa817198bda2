"""The scene as the application keeps it: cameras, subject hierarchy items, and scene files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from .selectors import observe, unobserve

# nodes for which Slicer makes a subject hierarchy item by itself; color nodes get none
_ITEM_CLASSES = (
    *("vtkMRMLModelNode", "vtkMRMLSegmentationNode", "vtkMRMLTableNode", "vtkMRMLTextNode", "vtkMRMLVolumeNode"),
    *("vtkMRMLPlotChartNode", "vtkMRMLPlotSeriesNode", "vtkMRMLMarkupsNode", "vtkMRMLTransformNode"),
)


class SceneKeeper:
    """Does what the application does beside the scene: a camera for the 3D view, items for new nodes."""

    def __init__(self, scene, hasViews: bool) -> None:
        import slicer

        self._scene, self._hasViews, self.observers = scene, hasViews, []
        events = slicer.vtkMRMLScene
        for event in (events.EndCloseEvent, events.EndImportEvent, events.EndBatchProcessEvent):
            observe(scene, event, self, "restore", self.observers)
        observe(scene, events.NodeAddedEvent, self, "nodeAdded", self.observers, withNode=True)
        observe(scene, events.NodeAboutToBeRemovedEvent, self, "nodeRemoved", self.observers, withNode=True)
        self.restore()

    def restore(self) -> None:
        if self._scene.IsClosing() or self._scene.IsImporting():
            return
        for viewNode in self._scene.GetNodesByClass("vtkMRMLViewNode") if self._hasViews else []:
            cameras = self._scene.GetNodesByClass("vtkMRMLCameraNode")
            if all(camera.GetLayoutName() != viewNode.GetLayoutName() for camera in cameras):
                camera = self._scene.CreateNodeByClass("vtkMRMLCameraNode")
                camera.UnRegister(None)
                camera.SetName(self._scene.GenerateUniqueName("Camera"))
                camera.SetLayoutName(viewNode.GetLayoutName())
                self._scene.AddNode(camera)
        for className in _ITEM_CLASSES:
            for node in self._scene.GetNodesByClass(className):
                self.nodeAdded(node)

    def close(self) -> None:
        unobserve(self.observers)

    def nodeAdded(self, node) -> None:
        hierarchy = self._hierarchy(node)
        if hierarchy is not None and not hierarchy.GetItemByDataNode(node):
            hierarchy.CreateItem(hierarchy.GetSceneItemID(), node)

    def nodeRemoved(self, node) -> None:
        hierarchy = self._hierarchy(node)
        item = hierarchy.GetItemByDataNode(node) if hierarchy is not None else 0
        if item:
            hierarchy.RemoveItem(item, False, False)

    def _hierarchy(self, node):
        import slicer

        busy = self._scene.IsClosing() or self._scene.IsImporting()
        if busy or node is None or node.GetHideFromEditors() or not any(node.IsA(name) for name in _ITEM_CLASSES):
            return None
        return slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(self._scene)


class qSlicerCoreIOManager(QObject):
    """Reads scenes (.mrb, .mrml) and writes them (.mrb); everything else fails with a message."""

    exposed = frozenset({"loadNodes", "saveNodes", "fileType"})

    def __init__(self, desktop):
        super().__init__()
        self._desktop = desktop

    def fileType(self, fileName):
        return "SceneFile" if str(fileName).endswith((".mrb", ".mrml")) else "SegmentationFile"

    def loadNodes(self, fileType, properties, nodes=None, messages=None):
        scene, fileName = self._desktop.scene, str(Path(properties["fileName"]).absolute())
        if fileType == "SceneFile" and fileName.endswith(".mrb"):
            return bool(scene.ReadFromMRB(fileName, properties.get("clear", False), messages))
        if fileType == "SceneFile":
            scene.SetURL(fileName)
            return bool(scene.Connect(messages) if properties.get("clear", False) else scene.Import(messages))
        raise NotImplementedError(f"the stand-in does not load {fileType}")

    def saveNodes(self, fileType, properties, messages=None):
        fileName = str(Path(properties["fileName"]).absolute())
        if not fileName.endswith(".mrb"):
            raise NotImplementedError(f"the stand-in does not save {fileName}")
        return bool(self._desktop.scene.WriteToMRB(fileName, None, messages))
