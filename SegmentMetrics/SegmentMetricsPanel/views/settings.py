"""Choosing the families of metrics and the settings that they use."""

import qt

from SegmentMetricsLib.case import explanations
from SegmentMetricsLib.conventions import known
from SegmentMetricsLib.settings.settings import FAMILIES, OWN_CONVENTION

from ..chosensettings import OPTIONAL, criticalNames, possibleCriticals, shownSettings
from ..markup import explain

COLUMNS = 2


class SettingsView:
    """The check boxes of the families, the lists of critical structures and conventions, and the rows of settings."""

    def __init__(self, ui, model):
        self.ui, self.model = ui, model
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
        for name in (*OPTIONAL, "tolerance", "surface", "extent"):
            for widget in self._row(name):
                explain(widget, explanations.ofSetting(name))

    def _row(self, name: str) -> list:
        """Return the label and the control of a setting, which are named after it."""
        endings = ("Label", "SpinBox", "ComboBox")
        return [getattr(self.ui, name + ending) for ending in endings if hasattr(self.ui, name + ending)]

    def show(self) -> None:
        """Show the choices, and only the settings that the chosen families use."""
        parameters = self.model.parameters
        families, convention = list(parameters.families), parameters.convention
        self.isShowing = True
        try:
            for family, box in self.boxes.items():
                box.checked = family in families
            self._showCriticals()
            # -1 for an unknown one, for which the panel shows a message
            isKnown = convention in self.conventions
            self.ui.conventionComboBox.currentIndex = self.conventions.index(convention) if isKnown else -1
        finally:
            self.isShowing = False
        for name, isShown in shownSettings(parameters).items():
            for widget in self._row(name):
                widget.visible = isShown

    def takeFamilies(self, _checked=False) -> None:
        if self.model.parameters and not self.isShowing:
            self.model.parameters.families = [family for family, box in self.boxes.items() if box.checked]

    def takeCriticals(self) -> None:
        if self.model.parameters and not self.isShowing:
            box = self.ui.criticalComboBox
            states = [box.itemData(row, qt.Qt.CheckStateRole) for row in range(box.count)]
            chosen = [name for name, state in zip(self.listed, states) if state == qt.Qt.Checked]
            self.model.setCriticals(chosen, self.listed)

    def takeConvention(self, index: int) -> None:
        if self.model.parameters and not self.isShowing:
            self.model.parameters.convention = self.conventions[index]

    def _showCriticals(self) -> None:
        box, inputs = self.ui.criticalComboBox, (self.model.parameters, self.model.scene)
        names, chosen = possibleCriticals(*inputs), criticalNames(*inputs)
        if names != self.listed:
            box.clear()
            box.addItems(names)
            self.listed = names
        for row, name in enumerate(names):
            state = int(qt.Qt.Checked if name in chosen else qt.Qt.Unchecked)
            if box.itemData(row, qt.Qt.CheckStateRole) != state:
                box.setItemData(row, state, qt.Qt.CheckStateRole)
        tip = explanations.ofSetting("critical")
        explain(box, f"{tip}\n{', '.join(chosen)}" if chosen else tip)
