"""Stand-ins for slicer.app and the main window."""

from __future__ import annotations

from PySide6.QtCore import Property, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QScrollArea, QToolBar, QVBoxLayout, QWidget

# Pixels of a real window's height for Help & Acknowledgement in the panel; for menus, logo and Data Probe around it.
HELP = 54
AROUND_PANEL = 268


class qSlicerApplication(QObject):
    startupCompleted = Signal()
    mrmlSceneChanged = Signal(object)
    exposed = frozenset({"startupCompleted", "processEvents", "layoutManager", "testingEnabled", "setOverrideCursor"})
    exposed |= {"restoreOverrideCursor", "moduleManager", "coreIOManager", "ioManager", "topLevelWidgets", "clipboard"}

    def __init__(self, desktop):
        super().__init__()
        self._desktop = desktop

    def processEvents(self):
        QApplication.processEvents()

    def layoutManager(self):
        return self._desktop.layoutManager

    def testingEnabled(self):
        return self._desktop.testing

    def moduleManager(self):
        return self._desktop.moduleManager

    def coreIOManager(self):
        return self._desktop.ioManager

    ioManager = coreIOManager

    def setOverrideCursor(self, cursor):
        QGuiApplication.setOverrideCursor(cursor)

    def restoreOverrideCursor(self):
        QGuiApplication.restoreOverrideCursor()

    def clipboard(self):
        return QGuiApplication.clipboard()

    def topLevelWidgets(self):
        return [widget for widget in (self._desktop.mainWindow,) if widget is not None]

    temporaryPath = Property(str, lambda self: self._desktop.temporaryPath)
    applicationName = Property(str, lambda self: "Slicer")
    majorVersion = Property(int, lambda self: self._desktop.version[0])
    minorVersion = Property(int, lambda self: self._desktop.version[1])


class qSlicerModuleSelectorToolBar(QToolBar):
    moduleSelected = Signal(str)
    exposed = frozenset({"moduleSelected", "selectModule"})

    def __init__(self, window):
        super().__init__(window)
        self._window = window

    def selectModule(self, name):
        self._window._selectModule(name)
        self.moduleSelected.emit(name)


class _PlainLayout(QVBoxLayout):
    """Slicer's module panel does not ask how high wrapped texts become: unless told, it has one line for each."""

    def hasHeightForWidth(self) -> bool:
        return False


class qSlicerMainWindow(QMainWindow):
    """A window with the module panel; like the real one the panel does not scroll sideways but widens the window."""

    exposed = frozenset({"moduleSelector"})

    def __init__(self, desktop):
        super().__init__()
        self._desktop, self._selected = desktop, ""
        self.setObjectName("qSlicerMainWindow")
        self.setWindowTitle("3D Slicer stand-in")
        self._selector = qSlicerModuleSelectorToolBar(self)
        self.addToolBar(self._selector)
        self._panel = QScrollArea()
        self._panel.setWidgetResizable(True)
        self._panel.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._content = QWidget()
        self._content.setLayout(_PlainLayout())
        self._content.layout().setContentsMargins(0, 0, 0, 0)
        self._panel.setWidget(self._content)
        self._content.layout().addSpacing(HELP)
        dock, inDock = QDockWidget("Module Panel"), QWidget()
        inDock.setLayout(QVBoxLayout())
        inDock.layout().setContentsMargins(0, 0, 0, 0)
        inDock.layout().addWidget(self._panel)
        inDock.layout().addSpacing(AROUND_PANEL)
        dock.setWidget(inDock)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        self.setCentralWidget(QWidget())
        self.resize(1920, 1080)

    def moduleSelector(self):
        return self._selector

    def _selectModule(self, name) -> None:
        if name == self._selected:
            return
        before = self._desktop.modules.get(self._selected)
        if before is not None:
            before.hideRepresentation()
        self._selected = name
        if name == self._desktop.segmentEditor.NAME:
            self._desktop.segmentEditor.enter()
        module = self._desktop.modules.get(name)
        if module is not None:
            module.showRepresentation(self._content.layout())
            QApplication.processEvents()
            bar = self._panel.verticalScrollBar().sizeHint().width()
            self._panel.setMinimumWidth(self._content.minimumSizeHint().width() + bar)
