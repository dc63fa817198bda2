"""A small stand-in on PySide6 for the Qt half of 3D Slicer, so that the real module runs in pytest on slicer-core.

    from desktop import Desktop, photographs

    with Desktop() as desktop:
        desktop.loadModule()
        slicer.util.selectModule("SegmentMetrics")
        ui = slicer.modules.SegmentMetricsWidget.ui
        ...
        assert desktop.exceptions == []

What is real: the MRML scene with its nodes, events, logics and files, slicer.util, Qt itself, the 3D view's pictures.
What is made: the qt and ctk modules with PythonQt's manners, ctk's and Slicer's few widgets, slicer.app, the layout
manager, parameterNodeWrapper, ScriptedLoadableModule and the module factory.
What is not checked: Qt 5 against Qt 6 beyond the names in names.txt, fonts and style of a real Slicer, its other
modules, slice views and the look of plots, threads unless holdsLock is set, widgets and parameter types that the module
does not use (they are missing), and whatever was only read in Slicer's source instead of seen. A test that passes here
has not passed in Slicer.

It has slicer-core's slicer.util, which is Slicer's own, and needs PySide6-Essentials; on Debian also libegl1, libgl1,
libxkbcommon0, libdbus-1-3, libfontconfig1 and, to see letters, fonts-dejavu-core.
"""

from __future__ import annotations

import os
import sys
import tempfile
import types
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6 import QtCore, QtWidgets

from . import application, loading, modules, parameternodes, scenes, scripted, signals, views
from .pythonqt import CLASSES, nativeClass, wrap, wrapperClass

MODULE = Path(__file__).parents[3] / "SegmentMetrics" / "SegmentMetrics.py"
_CORE_LOGICS = {
    "colors": "vtkSlicerColorLogic",
    "markups": "vtkSlicerMarkupsLogic",
    "models": "vtkSlicerModelsLogic",
    "plots": "vtkSlicerPlotsLogic",
}


def _onQtMessage(kind, context, message: str) -> None:
    """Qt's warnings, as about a connection in a .ui file that cannot be made; not those about the missing screen."""
    if kind != QtCore.QtMsgType.QtDebugMsg and "propagateSizeHints" not in message and "plugin" not in message:
        signals.complain(message)


class Desktop:
    """The running application; close it, or use it in a with statement. One at a time.

    exceptions: what slots, observers and timers raised; Slicer would only have printed it. messages: what Qt and
    PythonQt would have printed, as about a connection to a signal that does not exist. shown: the dialogs that were
    shown: (icon, text, details) of message boxes, (function, directory) for files. answers: what the next dialogs will
    answer; without it message boxes say OK or Yes and file dialogs cancel.

    testing: as if Slicer was started with --testing: no message boxes. mainWindow: False is --no-main-window.
    version: Slicer's major and minor version. holdsLock: whether other threads of Python run only beside slots, as in
    the real Slicer; without it they have all the time in which nothing happens.
    """

    def __init__(
        self,
        testing: bool = False,
        mainWindow: bool = True,
        version: tuple[int, int] = (5, 13),
        holdsLock: bool = False,
    ) -> None:
        import slicer

        from SegmentMetricsLib.mrml.headless import HeadlessSlicer

        if hasattr(slicer, "app"):
            raise RuntimeError("There is a desktop, or a real Slicer, already.")
        self.qApplication = QtWidgets.QApplication.instance() or QtWidgets.QApplication(["Slicer"])
        self._folder = tempfile.TemporaryDirectory(prefix="desktop-")
        self.temporaryPath = self._folder.name
        self.testing, self.modules, self.version = testing, {}, version
        self._before = {"scene": getattr(slicer, "mrmlScene", None), "path": list(sys.path), "hook": sys.excepthook}
        self._modulesBefore, self._moduleFolders, self._added = dict(sys.modules), [], []
        self.exceptions, self.messages = signals.exceptions, signals.messages
        self.shown, self.answers = loading.shown, loading.answers
        sys.excepthook = signals.recordException
        QtCore.qInstallMessageHandler(_onQtMessage)
        self.forget()
        signals.holder = signals.LockHolder() if holdsLock else None

        self.scene = slicer.vtkMRMLScene()
        self._dataIO = slicer.vtkDataIOManager()  # without it no .mrb file can be read
        self._dataIO.SetCacheManager(slicer.vtkCacheManager())
        self._dataIO.GetCacheManager().SetRemoteCacheDirectory(f"{self.temporaryPath}/cache")
        self.scene.SetDataIOManager(self._dataIO)
        headless = HeadlessSlicer(self.scene)
        self._headless, self.applicationLogic = headless, headless.applicationLogic
        self.segmentationsLogic = headless.segmentationsLogic
        self.logics = {"segmentations": headless.segmentationsLogic}
        for name, className in _CORE_LOGICS.items():
            self.logics[name] = getattr(slicer, className)()
            self.logics[name].SetMRMLApplicationLogic(self.applicationLogic)
            self.logics[name].SetMRMLScene(self.scene)

        self.moduleManager, self.ioManager = modules.qSlicerModuleManager(), scenes.qSlicerCoreIOManager(self)
        self.layoutManager = views.qSlicerLayoutManager(self) if mainWindow else None
        self._keeper = scenes.SceneKeeper(self.scene, hasViews=mainWindow)
        self.segmentEditor = modules.SegmentEditor(self.scene)
        self.mainWindow = None
        self.app = application.qSlicerApplication(self)
        self._install()
        if mainWindow:
            self.mainWindow = application.qSlicerMainWindow(self)
            self.mainWindow.show()

    def forget(self) -> None:
        """Empty exceptions, messages, shown and answers."""
        for happened in (self.exceptions, self.messages, self.shown, self.answers):
            happened.clear()

    def processEvents(self, milliseconds: int = 0) -> None:
        """Let Qt do what is due, and what becomes due within a time."""
        timer = QtCore.QElapsedTimer()
        timer.start()
        rounds = 5  # a layout within a layout asks for one after the other
        while rounds > 0 or timer.elapsed() < milliseconds:
            rounds -= 1
            QtWidgets.QApplication.processEvents(QtCore.QEventLoop.ProcessEventsFlag.AllEvents, 10)
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete.value)

    def loadModule(self, path: str | Path = MODULE):
        """Load a module file as Slicer's factory does, and return slicer.modules.<name in lower case>."""
        import slicer

        path = Path(path).resolve()
        sys.path.append(str(path.parent))
        self._moduleFolders.append(path.parent)
        module = modules.qSlicerScriptedLoadableModule(path)
        self.modules[module.name] = module
        setattr(slicer.modules, module.name.lower(), module)
        setattr(slicer.modules, f"{module.name}Instance", module._instance)
        module.setup()
        self.moduleManager.moduleLoaded.emit(module.name)
        self.app.startupCompleted.emit()
        return module

    def unloadModule(self, name: str) -> None:
        """Let a module clean up and forget it, as at the end of the application."""
        import slicer

        self.moduleManager.moduleAboutToBeUnloaded.emit(name)
        module = self.modules.pop(name)
        if module._representation is not None:
            module._representation.deleteLater()
        for attribute in (name.lower(), f"{name}Instance", f"{name}Widget"):
            if hasattr(slicer.modules, attribute):
                delattr(slicer.modules, attribute)
        getattr(slicer, "selfTests", {}).pop(name, None)
        self.processEvents()

    def close(self) -> None:
        """Unload the modules and leave sys.modules and slicer as they were."""
        import slicer

        if self.scene is None:
            return
        if self.mainWindow is not None:
            self.mainWindow.moduleSelector().selectModule("")
        for name in list(self.modules):
            self.unloadModule(name)
        if self.layoutManager is not None:
            self.layoutManager.close()
        if self.mainWindow is not None:
            self.mainWindow.close()
            self.mainWindow.deleteLater()
        self.processEvents()
        self.scene.Clear(0)
        self._keeper.close()
        self.scene.RemoveAllObservers()  # the scene still tells things while it is destroyed
        for owner, name in self._added:
            if owner is sys.modules:
                sys.modules.pop(name, None)
            else:
                delattr(owner, name)
        for name, module in list(sys.modules.items()):
            folders = Path(getattr(module, "__file__", None) or ".").parents
            if any(folder in folders for folder in self._moduleFolders):
                del sys.modules[name]
        self._undoReload()
        sys.path[:] = self._before["path"]
        sys.excepthook = self._before["hook"]
        QtCore.qInstallMessageHandler(None)
        if self._before["scene"] is None:
            del slicer.mrmlScene
        else:
            slicer.mrmlScene = self._before["scene"]
        if signals.holder is not None:
            signals.holder.end()
            signals.holder = None
        self.scene = None
        self._folder.cleanup()

    def _undoReload(self) -> None:
        """Bring back the library that was there before a module's Reload loaded it anew, with all that it imported."""
        sys.modules.update(self._modulesBefore)
        for name in sorted(sys.modules, key=len):  # packages first
            package, _, own = name.rpartition(".")
            known = vars(sys.modules[package]).get(own) if package in sys.modules else None
            if isinstance(known, types.ModuleType) and known.__name__ == name:
                sys.modules[name] = known

    def __enter__(self) -> Desktop:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def _put(self, owner, name: str, value) -> None:
        """Add a name to slicer, one of its modules or sys.modules; close() takes it away."""
        if owner is sys.modules:
            sys.modules[name] = value
        else:
            setattr(owner, name, value)
        self._added.append((owner, name))

    def _module(self, name: str, **contents) -> types.ModuleType:
        module = types.ModuleType(name)
        vars(module).update(contents)
        self._put(sys.modules, name, module)
        return module

    def _install(self) -> None:
        import slicer
        import slicer.util

        loading.install()
        classes = {name: wrapperClass(nativeClass(name)) for name in CLASSES.split()}
        classes["QUiLoader"] = wrapperClass(loading.QUiLoader)
        self._module("qt", **classes)
        standIns = {name: wrapperClass(kind) for name, kind in loading.STANDINS.items()}
        self._module("ctk", **{name: kind for name, kind in standIns.items() if name.startswith("ctk")})
        for name, kind in standIns.items():
            if name.startswith("qMRML"):
                self._put(slicer, name, kind)
        self._put(slicer, "qSlicerScriptedLoadableModule", modules.qSlicerScriptedLoadableModule)
        widgetClass = wrapperClass(modules.qSlicerScriptedLoadableModuleWidget)
        self._put(slicer, "qSlicerScriptedLoadableModuleWidget", widgetClass)
        self._put(slicer, "app", wrap(self.app))
        self._put(slicer, "modules", types.ModuleType("slicer.modules"))
        self._put(slicer, "selfTests", {})
        for name, logic in self.logics.items():
            setattr(slicer.modules, name, types.SimpleNamespace(name=name, logic=lambda logic=logic: logic))
        slicer.mrmlScene = self.scene

        translation = {"tr": lambda text: text, "translate": lambda context, text: text}
        names = ("WithinRange", "Default", "parameterNodeWrapper")
        parameters = {name: getattr(parameternodes, name) for name in names}
        bases = {name: kind for name, kind in vars(scripted).items() if name.startswith("ScriptedLoadableModule")}
        for name, contents in (
            ("packaging", {"pip_ensure": loading.pipEnsure}),
            ("i18n", translation),
            ("parameterNodeWrapper", parameters),
            ("ScriptedLoadableModule", bases),
        ):
            self._put(slicer, name, self._module(f"slicer.{name}", **contents))
        self._put(sys.modules, "SampleData", modules.makeSampleData())
