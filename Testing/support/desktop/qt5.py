"""Which names of PySide6 (Qt 6) Slicer's qt module (Qt 5) has and which not, compared with a running Slicer 5.13."""

from __future__ import annotations

# the classes that the stand-in shows; only their members and those of their bases are visible
CLASSES = """
QAbstractItemView QAction QApplication QBrush QButtonGroup QByteArray QCheckBox QClipboard QColor QComboBox QCursor
QDesktopServices QDialog QDockWidget QDoubleSpinBox QEventLoop QFile QFileDialog QFont QFontMetrics QFormLayout QFrame
QGridLayout QGroupBox QHBoxLayout QHeaderView QIcon QImage QInputDialog QItemSelectionModel QKeySequence QLabel
QLineEdit QListWidget QListWidgetItem QMainWindow QMenu QMessageBox QModelIndex QObject QPainter QPalette QPen QPixmap
QPoint QProgressBar QProgressDialog QPushButton QRect QScrollArea QScrollBar QSettings QShortcut QSignalBlocker QSize
QSizePolicy QSlider QSpacerItem QSpinBox QSplitter QStackedWidget QStyle QTabWidget QTableView QTableWidget
QTableWidgetItem QTextDocument QTextEdit QTimer QToolButton QUrl QVBoxLayout QWidget Qt
"""
HIDDEN_CLASSES = "QRadioButton"  # not in Slicer's qt module, but one in a .ui file works

# members of these classes, by the class that declares them, that came after Qt 5 or that PythonQt does not show
_NOT_IN_QT5 = {
    "QAbstractItemView": (
        "closeEditor commitData currentChanged dataChanged editorDestroyed horizontalScrollbarAction "
        "horizontalScrollbarValueChanged initViewItemOption itemDelegateForIndex keyboardSearchFlags "
        "rowsAboutToBeRemoved rowsInserted selectionChanged setKeyboardSearchFlags setUpdateThreshold "
        "updateEditorData updateEditorGeometries updateGeometries updateThreshold verticalScrollbarAction "
        "verticalScrollbarValueChanged"
    ),
    "QAbstractSpinBox": "returnPressed",
    "QAction": "associatedObjects checkableChanged enabledChanged resetEnabled visibleChanged",
    "QApplication": "resolveInterface",
    "QByteArray": (
        "assign cbegin cend erase first fromRawData fromStdString isValidUtf8 last maxSize max_size nullTerminate "
        "nullTerminated percentDecoded removeAt removeFirst removeLast resizeForOverwrite slice sliced toLong "
        "toLongLong toShort toStdString toUInt toULong toULongLong"
    ),
    "QCheckBox": "checkStateChanged",
    "QColor": "fromString getHsv getHsvF getRgb getRgbF isValidColorName toTuple",
    "QComboBox": "LabelDrawingMode labelDrawingMode setLabelDrawingMode",
    "QCoreApplication": (
        "checkPermission installNativeEventFilter instanceExists removeNativeEventFilter requestPermission "
        "resolveInterface shutdown"
    ),
    "QDockWidget": "dockLocation setDockLocation",
    "QFile": "supportsMoveToTrash",
    "QFileDevice": "MemoryMapFlag",
    "QFont": (
        "Tag clearFeatures clearVariableAxes featureTags featureValue isFeatureSet isVariableAxisSet legacyWeight "
        "resolveMask setFeature setLegacyWeight setResolveMask setVariableAxis unsetFeature unsetVariableAxis "
        "variableAxisTags variableAxisValue"
    ),
    "QFontMetrics": "boundingRectChar horizontalAdvanceChar",
    "QFormLayout": "isRowVisible setRowVisible",
    "QGridLayout": "getItemPosition",
    "QGuiApplication": "nativeInterface platformFunction resolveInterface setBadgeNumber",
    "QHeaderView": (
        "currentChanged dataChanged initStyleOptionForIndex isSortIndicatorClearable rowsInserted "
        "sectionsAboutToBeRemoved sectionsInserted setSortIndicatorClearable sortIndicatorClearableChanged "
        "updateGeometries updateSection"
    ),
    "QIODevice": "readLineInto skipData",
    "QIcon": "ThemeIcon",
    "QImage": (
        "colorTransformed convertedTo detachMetadata deviceIndependentSize flip flipped mirror rgbSwap setColorTable"
    ),
    "QLayout": (
        "getContentsMargins horizontalSizeConstraint setHorizontalSizeConstraint setSizeConstraints "
        "setVerticalSizeConstraint totalMinimumHeightForWidth unsetContentsMargins verticalSizeConstraint"
    ),
    "QLayoutItem": "align",
    "QListView": (
        "currentChanged dataChanged initViewItemOption rowsAboutToBeRemoved rowsInserted selectionChanged "
        "updateGeometries"
    ),
    "QListWidget": "setSupportedDragActions supportedDragActions",
    "QMenu": "menuInAction",
    "QMessageBox": "Option buttonText options setButtonText setOption setOptions standardIcon testOption",
    "QModelIndex": "constInternalPointer multiData",
    "QObject": "connectNotify disconnectNotify emit isQmlExposed isQuickItemType receivers",
    "QPaintDevice": "encodeMetricF painters",
    "QPainter": "brushOriginF drawPointsNp",
    "QPalette": "accent resolveMask setResolveMask",
    "QPixmap": "deviceIndependentSize fromImageInPlace",
    "QPoint": "toPointF toTuple",
    "QProgressDialog": "forceShow",
    "QRect": "getCoords getRect span toRectF",
    "QScrollBar": "createStandardContextMenu",
    "QShortcut": "keys setKeys",
    "QSignalBlocker": "dismiss",
    "QSize": "toSizeF toTuple",
    "QSplitter": "getRange",
    "QStackedWidget": "widgetAdded",
    "QStyle": "itemTextRect name",
    "QTableView": (
        "columnCountChanged columnMoved columnResized currentChanged horizontalScrollbarAction initViewItemOption "
        "rowCountChanged rowMoved rowResized selectionChanged updateGeometries verticalScrollbarAction"
    ),
    "QTableWidget": "setSupportedDragActions supportedDragActions",
    "QTextDocument": (
        "baselineOffset isLayoutEnabled setBaselineOffset setLayoutEnabled setSubScriptBaseline "
        "setSuperScriptBaseline subScriptBaseline superScriptBaseline"
    ),
    "QTimer": "id intervalAsDuration remainingTimeAsDuration",
    "QUrl": "AceProcessingOption",
    "QWidget": (
        "accessibleIdentifier create find internalWinId isTopLevel setAccessibleIdentifier setScreen "
        "topLevelWidget updateMicroFocus"
    ),
}
NOT_IN_QT5 = {name: set(members.split()) for name, members in _NOT_IN_QT5.items()}

# properties of Qt 6 that are methods in Slicer; singleShot is the static function there
METHODS_NOT_PROPERTIES = {"QLayout": {"contentsMargins"}, "QTimer": {"singleShot"}}


def setSectionResizeMode(header, *arguments) -> None:
    """Refuse a section that a header does not have: Qt 6 ignores it, and Qt 5 crashes."""
    if len(arguments) == 2 and not 0 <= arguments[0] < header.count():
        raise IndexError(f"the header has {header.count()} sections, so there is no section {arguments[0]}")
    header.setSectionResizeMode(*arguments)


# (class, method) -> function(native object, *arguments), for what would end an application on Qt 5
FATAL_IN_QT5 = {("QHeaderView", "setSectionResizeMode"): setSectionResizeMode}
