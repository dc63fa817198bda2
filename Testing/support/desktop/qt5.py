"""Which classes of PySide6 (Qt 6) the stand-in shows, and what differs in Slicer's qt module (Qt 5).

Whether a running Slicer has the names that the module uses is said by names.txt.
"""

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

# properties of Qt 6 that are methods in Slicer; singleShot is the static function there
METHODS_NOT_PROPERTIES = {"QLayout": {"contentsMargins"}, "QTimer": {"singleShot"}}


def setSectionResizeMode(header, *arguments) -> None:
    """Refuse a section that a header does not have: Qt 6 ignores it, and Qt 5 crashes."""
    if len(arguments) == 2 and not 0 <= arguments[0] < header.count():
        raise IndexError(f"the header has {header.count()} sections, so there is no section {arguments[0]}")
    header.setSectionResizeMode(*arguments)


# (class, method) -> function(native object, *arguments), for what would end an application on Qt 5
FATAL_IN_QT5 = {("QHeaderView", "setSectionResizeMode"): setSectionResizeMode}
