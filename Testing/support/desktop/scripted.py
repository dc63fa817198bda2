"""Stand-ins for slicer.ScriptedLoadableModule: the base classes of a scripted module."""

from __future__ import annotations

import importlib
import os
import unittest


class ScriptedLoadableModule:
    def __init__(self, parent):
        import qt
        import slicer

        super().__init__()
        self.parent = parent
        self.moduleName = type(self).__name__
        parent.icon = qt.QIcon(self.resourcePath(f"Icons/{self.moduleName}.png"))
        slicer.selfTests[self.moduleName] = self.runTest

    def resourcePath(self, filename):
        return os.path.join(os.path.dirname(self.parent.path), "Resources", filename)

    def runTest(self, msec=100):
        test = getattr(importlib.import_module(type(self).__module__), f"{self.moduleName}Test")()
        test.messageDelay = msec
        test.runTest()


class ScriptedLoadableModuleWidget:
    def __init__(self, parent=None):
        import qt
        import slicer

        super().__init__()
        self.moduleName = type(self).__name__.removesuffix("Widget")
        self.parent = parent
        if not parent:
            self.parent = slicer.qMRMLWidget()
            self.parent.setLayout(qt.QVBoxLayout())
            self.parent.setMRMLScene(slicer.mrmlScene)
        self.layout = self.parent.layout()
        if not parent:
            self.setup()
            self.parent.show()
        manager = slicer.app.moduleManager()
        manager.connect("moduleAboutToBeUnloaded(QString)", self._onModuleAboutToBeUnloaded)

    def resourcePath(self, filename):
        import slicer

        return os.path.join(os.path.dirname(slicer.util.modulePath(self.moduleName)), "Resources", filename)

    def setup(self):
        """The real one adds the section for developers here."""

    def cleanup(self):
        """What a module does before it is unloaded."""

    def _onModuleAboutToBeUnloaded(self, moduleName):
        import slicer

        if moduleName == self.moduleName:
            self.cleanup()
            manager = slicer.app.moduleManager()
            manager.disconnect("moduleAboutToBeUnloaded(QString)", self._onModuleAboutToBeUnloaded)

    def onReload(self):
        import slicer

        slicer.util.reloadScriptedModule(self.moduleName)


class ScriptedLoadableModuleLogic:
    def __init__(self, parent=None):
        super().__init__()
        self.moduleName = type(self).__name__.removesuffix("Logic")

    def getParameterNode(self):
        import slicer

        node = slicer.mrmlScene.GetSingletonNode(self.moduleName, "vtkMRMLScriptedModuleNode")
        if node is not None and node.GetAttribute("ModuleName") != self.moduleName:
            node.SetAttribute("ModuleName", self.moduleName)  # closing a scene takes it away
        if node is not None:
            return node
        node = slicer.mrmlScene.CreateNodeByClass("vtkMRMLScriptedModuleNode")
        node.UnRegister(None)
        node.SetSingletonTag(self.moduleName)
        node.SetAttribute("ModuleName", self.moduleName)
        node.SetName(slicer.mrmlScene.GenerateUniqueName(self.moduleName))
        return slicer.mrmlScene.AddNode(node)


class ScriptedLoadableModuleTest(unittest.TestCase):
    def delayDisplay(self, message, requestedDelay=None, msec=None):
        import slicer

        slicer.util.delayDisplay(message, getattr(self, "messageDelay", msec or requestedDelay or 100))
