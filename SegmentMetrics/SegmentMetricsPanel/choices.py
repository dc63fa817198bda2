"""Choosing the families of metrics and the settings that they use."""

import qt

from SegmentMetricsLib.case import explanations
from SegmentMetricsLib.case.relevance import isRelevant
from SegmentMetricsLib.conventions import known
from SegmentMetricsLib.settings.settings import DECIDED_BY_TOOLS, FAMILIES, OWN_CONVENTION

from .enumerations import HazardKernel
from .markup import explain
from .parameters import conventionOf, criticalNames, possibleCriticals

COLUMNS = 2
# settings whose rows are hidden while no chosen family uses them; each has a label and a control named after it
OPTIONAL = {
    "percentile": "SpinBox",
    "critical": "ComboBox",
    "subdivisions": "SpinBox",
    "oversampling": "SpinBox",
    "grid": "ComboBox",
    "beta": "SpinBox",
    "quantile": "SpinBox",
    "voxelUnit": "ComboBox",
    "hazardKernel": "ComboBox",
    "hazardReach": "SpinBox",
    "hazardDecay": "SpinBox",
    "il": "SpinBox",
    "ol": "SpinBox",
    "convention": "ComboBox",
}


class Choices:
    """The check boxes of the families, the lists of critical structures and conventions, and the rows of settings."""

    def __init__(self, ui):
        self.ui = ui
        self.parameters = None
        self.boxes = {}
        for number, family in enumerate(FAMILIES):
            box = qt.QCheckBox(family.capitalize())
            explain(box, explanations.ofFamily(family))
            box.connect("toggled(bool)", self.takeFamilies)
            ui.familiesFrame.layout().addWidget(box, number // COLUMNS, number % COLUMNS)
            self.boxes[family] = box
        self.isShowing = False
        self.listed = []
        ui.criticalComboBox.connect("checkedIndexesChanged()", self.takeCriticals)
        self.conventions = [OWN_CONVENTION, *known()]
        ui.conventionComboBox.addItems([OWN_CONVENTION, *(convention.label for convention in known().values())])
        ui.conventionComboBox.connect("currentIndexChanged(int)", self.takeConvention)
        for name, kind in {**OPTIONAL, "tolerance": "SpinBox", "surface": "ComboBox", "extent": "ComboBox"}.items():
            for widget in (f"{name}Label", f"{name}{kind}"):
                explain(getattr(ui, widget), explanations.ofSetting(name))

    def show(self, parameters) -> None:
        """Show the choices of a parameter node, and only the settings that the chosen families use."""
        self.parameters = parameters
        families = list(parameters.families)
        self.isShowing = True
        try:
            for family, box in self.boxes.items():
                box.checked = family in families
            self._showCriticals()
            self.ui.conventionComboBox.currentIndex = self._conventionIndex()
        finally:
            self.isShowing = False
        hidden = {HazardKernel.polynomial: "hazardDecay", HazardKernel.exponential: "hazardReach"}
        isOwn = conventionOf(parameters) == OWN_CONVENTION
        for name, kind in {**OPTIONAL, "surface": "ComboBox"}.items():
            isShown = name == "surface" or isRelevant(name, families)
            isShown = isShown and name != hidden[parameters.hazardKernel] and (isOwn or name not in DECIDED_BY_TOOLS)
            for widget in (f"{name}Label", f"{name}{kind}"):
                getattr(self.ui, widget).visible = isShown

    def takeFamilies(self, _checked=False) -> None:
        if self.parameters and not self.isShowing:
            self.parameters.families = [family for family, box in self.boxes.items() if box.checked]

    def takeCriticals(self) -> None:
        if self.parameters and not self.isShowing:
            box = self.ui.criticalComboBox
            states = [box.itemData(row, qt.Qt.CheckStateRole) for row in range(box.count)]
            # keep names that are not offered now: they apply again when a reference that has them is chosen
            others = [name for name in self.parameters.critical if name not in self.listed]
            chosen = [name for name, state in zip(self.listed, states) if state == qt.Qt.Checked]
            self.parameters.critical = chosen + others

    def takeConvention(self, index: int) -> None:
        if self.parameters and not self.isShowing:
            self.parameters.convention = self.conventions[index]

    def _conventionIndex(self) -> int:
        """Return the index of the chosen convention, or -1 for an unknown one, for which the panel shows a message."""
        chosen = self.parameters.convention
        return self.conventions.index(chosen) if chosen in self.conventions else -1

    def _showCriticals(self) -> None:
        box, names = self.ui.criticalComboBox, possibleCriticals(self.parameters)
        if names != self.listed:
            box.clear()
            box.addItems(names)
            self.listed = names
        chosen = criticalNames(self.parameters)
        for row, name in enumerate(names):
            state = int(qt.Qt.Checked if name in chosen else qt.Qt.Unchecked)
            if box.itemData(row, qt.Qt.CheckStateRole) != state:
                box.setItemData(row, state, qt.Qt.CheckStateRole)
        tip = explanations.ofSetting("critical")
        explain(box, f"{tip}\n{', '.join(chosen)}" if chosen else tip)
