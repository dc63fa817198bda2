"""Stand-ins for the module factory: how Slicer finds, loads, shows, reloads and unloads a scripted module."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import Property, QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from . import signals
from .pythonqt import wrap
from .selectors import observe

sampleDataSources: list[dict] = []  # what modules registered with SampleData


class qSlicerScriptedLoadableModuleWidget(QWidget):
    """The widget representation: owns the layout and the Python widget class's instance."""

    mrmlSceneChanged = Signal(object)
    exposed = frozenset({"self", "reload", "enter", "exit", "setMRMLScene", "mrmlSceneChanged"})
    signatures: ClassVar[dict[str, str]] = {"mrmlSceneChanged(vtkMRMLScene*)": "mrmlSceneChanged(PyObject)"}

    def __init__(self, module):
        super().__init__()
        self._module, self._python, self._entered = module, None, False
        QVBoxLayout(self)

    def self(self):
        return self._python

    def setMRMLScene(self, scene):
        self.mrmlSceneChanged.emit(scene)

    def enter(self):
        self._entered = True
        self._call("enter")

    def exit(self):
        self._entered = False
        self._call("exit")

    def reload(self):
        """Make the Python object anew from the class that sys.modules has now."""
        import slicer

        name = f"{self._module.name}Widget"
        try:
            self._python = getattr(sys.modules[self._module.name], name)(wrap(self))
        except Exception:
            signals.recordException(*sys.exc_info())
            return
        setattr(slicer.modules, name, self._python)
        self._call("setup")

    def _call(self, name: str) -> None:
        if hasattr(self._python, name):
            signals.callSlot(getattr(self._python, name))

    isEntered = Property(bool, lambda self: self._entered)


class qSlicerScriptedLoadableModule:
    """One loaded scripted module: what the module's own class gets as parent and slicer.modules.<name> is."""

    __slots__ = (
        *("name", "path", "title", "categories", "dependencies", "contributors", "helpText", "acknowledgementText"),
        *("icon", "hidden", "_instance", "_representation"),
    )

    def __init__(self, path: Path) -> None:
        self.name, self.path, self._representation = path.stem, str(path), None
        self.title, self.hidden = "", False
        self.categories, self.dependencies, self.contributors = [], [], []
        self._instance = getattr(loadSource(path), self.name)(self)

    def widgetRepresentation(self):
        if self._representation is None:
            import slicer

            self._representation = qSlicerScriptedLoadableModuleWidget(self)
            self._representation.setMRMLScene(slicer.mrmlScene)
            self._representation.reload()
        return wrap(self._representation)

    def showRepresentation(self, layout) -> None:
        self.widgetRepresentation()
        layout.addWidget(self._representation)
        self._representation.show()
        self._representation.enter()

    def hideRepresentation(self) -> None:
        self._representation.exit()
        self._representation.hide()
        self._representation.setParent(None)

    def setup(self) -> None:
        if hasattr(self._instance, "setup"):
            signals.callSlot(self._instance.setup)


class SegmentEditor:
    """What Segment Editor's widget chooses, once it was opened; read in qMRMLSegmentEditorWidget.cxx.

    Whenever it gets another segmentation, it takes its first segment, and the image that it was drawn on.
    """

    NAME = "SegmentEditor"

    def __init__(self, scene) -> None:
        self._scene, self._node, self._segmentation, self.observers = scene, None, None, []

    def enter(self) -> None:
        node = self._scene.GetSingletonNode(self.NAME, "vtkMRMLSegmentEditorNode")
        if node is not None and node is not self._node:
            self._node = node
            observe(node, "ModifiedEvent", self, "update", self.observers)
            self.update()

    def update(self) -> None:
        node = self._node.GetSegmentationNode()
        if node is self._segmentation:
            return
        self._segmentation = node
        if node is not None and node.GetSegmentation().GetNumberOfSegments():
            role = node.GetReferenceImageGeometryReferenceRole()
            self._node.SetSelectedSegmentID(node.GetSegmentation().GetNthSegmentID(0))
            self._node.SetAndObserveSourceVolumeNode(node.GetNodeReference(role))


class qSlicerModuleManager(QObject):
    moduleAboutToBeUnloaded = Signal(str)
    moduleLoaded = Signal(str)
    exposed = frozenset({"moduleAboutToBeUnloaded", "moduleLoaded"})


def loadSource(path: Path) -> types.ModuleType:
    """Execute a module file under its own name, as the factory does; sys.modules has it afterwards."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


def makeSampleData() -> types.ModuleType:
    """A SampleData module that only remembers what is registered."""

    class SampleDataLogic:
        @staticmethod
        def registerCustomSampleDataSource(**source):
            # the real one fails without, also where another downloader is given
            if not all(isinstance(source.get(name), (str, list)) for name in ("uris", "fileNames", "nodeNames")):
                raise TypeError("object of type 'NoneType' has no len()")
            sampleDataSources.append(source)

    module = types.ModuleType("SampleData")
    module.SampleDataLogic = SampleDataLogic
    return module
