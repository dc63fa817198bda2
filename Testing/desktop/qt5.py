"""Which names of PySide6 (Qt 6) Slicer's qt module (Qt 5) has and which not, compared with a running Slicer 5.13."""

from __future__ import annotations

# the classes that the qt module of the stand-in has; Slicer has no qt.QRadioButton (one in a .ui file works)
CLASSES = """
QAbstractItemView QAction QApplication QBrush QButtonGroup QCheckBox QClipboard QColor QComboBox QCursor
QDesktopServices QDialog QDoubleSpinBox QFile QFileDialog QFont QFontMetrics QFormLayout QFrame QGridLayout QGroupBox
QHBoxLayout QHeaderView QIcon QKeySequence QLabel QLineEdit QMainWindow QMenu QMessageBox QObject QPainter QPalette
QPen QPixmap QPoint QProgressBar QProgressDialog QPushButton QRect QScrollArea QSettings QShortcut QSignalBlocker
QSize QSizePolicy QSlider QSpacerItem QSpinBox QSplitter QStackedWidget QStyle QTabWidget QTableView QTableWidget
QTableWidgetItem QTextEdit QTimer QToolButton QUrl QVBoxLayout QWidget Qt
"""

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
    "QCheckBox": "checkStateChanged",
    "QColor": "fromString getHsv getHsvF getRgb getRgbF isValidColorName toTuple",
    "QComboBox": "LabelDrawingMode labelDrawingMode setLabelDrawingMode",
    "QCoreApplication": (
        "checkPermission installNativeEventFilter instanceExists removeNativeEventFilter requestPermission "
        "resolveInterface shutdown"
    ),
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
    "QLayout": (
        "getContentsMargins horizontalSizeConstraint setHorizontalSizeConstraint setSizeConstraints "
        "setVerticalSizeConstraint totalMinimumHeightForWidth unsetContentsMargins verticalSizeConstraint"
    ),
    "QLayoutItem": "align",
    "QMenu": "menuInAction",
    "QMessageBox": "Option buttonText options setButtonText setOption setOptions standardIcon testOption",
    "QObject": "connectNotify disconnectNotify emit isQmlExposed isQuickItemType receivers",
    "QPaintDevice": "encodeMetricF painters",
    "QPainter": "brushOriginF drawPointsNp",
    "QPalette": "accent resolveMask setResolveMask",
    "QPixmap": "deviceIndependentSize fromImageInPlace",
    "QPoint": "toPointF toTuple",
    "QProgressDialog": "forceShow",
    "QRect": "getCoords getRect span toRectF",
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
