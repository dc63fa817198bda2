"""Which names of Slicer's Qt half the module uses, read from its Python files and its .ui file.

python Testing/support/slicer_names.py prints the list that Testing/support/desktop/names.txt has to be. It finds
attributes of qt, ctk, slicer.util, slicer.app and slicer.modules, of objects that the same file makes with qt.X() or
slicer.qMRMLX(), of parameters that are annotated with such a class, and of the widgets of the .ui file by their names;
it does not follow values through functions.
slicer.vtkMRML classes are left out: tests use the real ones.
"""

from __future__ import annotations

import ast
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "SegmentMetrics"
LIST = Path(__file__).parent / "desktop" / "names.txt"

# what some methods return, so that the attributes of that are found, too
RESULTS = {
    "qt.QTableWidget.horizontalHeader()": "qt.QHeaderView",
    "qt.QTableWidget.verticalHeader()": "qt.QHeaderView",
    "qt.QTableWidget.fontMetrics()": "qt.QFontMetrics",
    "qt.QTableWidget.item()": "qt.QTableWidgetItem",
    "qt.QTableWidget.horizontalHeaderItem()": "qt.QTableWidgetItem",
    "qt.QTableWidgetItem.font()": "qt.QFont",
    "qt.QFrame.layout()": "qt.QGridLayout",
    "qt.QApplication.clipboard()": "qt.QClipboard",
    "itemOf()": "qt.QTableWidgetItem",  # of the panel
    "slicer.util.createProgressDialog()": "qt.QProgressDialog",
    "slicer.util.childWidgetVariables()": None,  # the widgets of the .ui file, which are known by their names
    "slicer.util.loadUI()": "slicer.qMRMLWidget",
    "slicer.util.mainWindow()": "slicer.qSlicerMainWindow",
}
_ROOTS = ("qt", "ctk", "slicer")
_IGNORED = ("slicer.mrmlScene", "slicer.vtk", "slicer.modules.SegmentMetrics", "slicer.modules.segmentmetrics")


def classPath(className: str) -> str:
    """Return where Python finds a widget class: "QLabel" -> "qt.QLabel"."""
    if className.startswith("ctk"):
        return f"ctk.{className}"
    return f"slicer.{className}" if className.startswith("qMRML") else f"qt.{className}"


def namesOfUi(path: Path) -> tuple[set[str], dict[str, str]]:
    """Return the names that a .ui file uses, and the class of each of its widgets by the widget's name."""
    root = ElementTree.parse(path).getroot()
    used, widgets = set(), {}
    for widget in root.iter("widget"):
        kind = classPath(widget.get("class"))
        widgets[widget.get("name")] = kind
        used.add(kind)
        # stdset="0" marks properties that the class does not have: SlicerParameterName
        used.update(f"{kind}.{p.get('name')}" for p in widget.findall("property") if p.get("stdset") != "0")
    for connection in root.iter("connection"):
        for owner, member in (("sender", "signal"), ("receiver", "slot")):
            used.add(f"{widgets[connection.findtext(owner)]}.{connection.findtext(member).split('(')[0]}")
    return used, widgets


class _Collector(ast.NodeVisitor):
    """Collects the dotted names of one file; known: what a variable or an attribute of that name holds."""

    def __init__(self, widgets: dict[str, str]) -> None:
        self.used: set[str] = set()
        self.known = {**widgets, "itemOf": "itemOf"}

    def path(self, node) -> str | None:
        """Return "qt.QTimer.singleShot" or "slicer.app.layoutManager().layout" for an expression, None for others."""
        if isinstance(node, ast.Name):
            return node.id if node.id in _ROOTS else self.known.get(node.id)
        if isinstance(node, ast.Call):
            function = self.path(node.func)
            if function is None:
                return None
            return RESULTS.get(f"{function}()", function if _isClass(function) else f"{function}()")
        if isinstance(node, ast.Attribute):
            owner = self.path(node.value)
            return f"{owner}.{node.attr}" if owner is not None else self.known.get(node.attr)
        return None

    def visit_Attribute(self, node):
        path = self.path(node)
        if path is not None and self.path(node.value) is not None:
            self.used.add(path)
        self.generic_visit(node)

    def visit_Assign(self, node):
        made = self.path(node.value)
        for target in node.targets:
            name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", None)
            if name is None:
                continue
            if made is not None and (_isClass(made) or made.endswith("()")):
                self.known[name] = made
            elif isinstance(target, ast.Name):
                self.known.pop(name, None)  # another thing by the same name
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        before = dict(self.known)
        for argument in node.args.args:
            self.known.pop(argument.arg, None)
            if argument.annotation is not None and _isClass(self.path(argument.annotation) or ""):
                self.known[argument.arg] = self.path(argument.annotation)
        self.generic_visit(node)
        attributes = {
            name: kind for name, kind in self.known.items() if name not in before and self._isAttribute(name, node)
        }
        self.known = before | attributes

    @staticmethod
    def _isAttribute(name: str, function) -> bool:
        return any(isinstance(part, ast.Attribute) and part.attr == name for part in ast.walk(function))

    def visit_ImportFrom(self, node):
        if node.module in ("slicer.util", "slicer.i18n", "slicer.parameterNodeWrapper"):
            self.used.update(f"{node.module}.{name.name}" for name in node.names)

    def visit_ClassDef(self, node):
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id.startswith("ScriptedLoadableModule"):
                self.used.add(f"slicer.ScriptedLoadableModule.{base.id}")
        self.generic_visit(node)


def _isClass(path: str) -> bool:
    return path.split(".")[-1].startswith(("Q", "ctk", "qMRML", "qSlicer"))


def usedNames() -> list[str]:
    """Return the sorted names that the module's files use; [] when there is no module."""
    used, widgets = set(), {}
    for path in MODULE.rglob("*.ui"):
        names, found = namesOfUi(path)
        used |= names
        widgets |= found
    for path in MODULE.rglob("*.py"):
        collector = _Collector(widgets)
        for _ in range(2):  # the second time with what __init__ and setup put into attributes
            collector.visit(ast.parse(path.read_text()))
        used |= collector.used
    return sorted(name for name in used if not name.startswith(_IGNORED))


if __name__ == "__main__":
    print("\n".join(usedNames()))
