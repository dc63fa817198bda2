"""Choosing the families of metrics and the settings that they use."""

import qt
from slicer.i18n import tr as _

from SegmentMetricsLib.conventions import allConventions
from SegmentMetricsLib.conventions.convention import OWN_CONVENTION
from SegmentMetricsLib.metrics.measurement import typeset
from SegmentMetricsLib.metrics.registry import FAMILIES
from SegmentMetricsLib.settings.names import familyTitle
from SegmentMetricsLib.settings.settings import DECLARED
from SegmentMetricsLib.show import explanations

from ..markup import explain
from ..model.chosensettings import IN_PANEL, criticalNames, inFull, inOneLine, offeredSettings, possibleCriticals
from ..model.enumerations import translateDeclared
from .view import ChoiceList, View, silent, widen

# The families that people look for; the others are among the advanced settings.
IN_SIGHT = ("instances", "topology", "dose")


class SettingsView(View):
    """The check boxes of the families, the lists of critical structures and conventions, and the rows of settings."""

    def __init__(self, panel):
        super().__init__(panel)
        ui, self.boxes = self.ui, {}
        for family in FAMILIES:
            box = qt.QCheckBox(familyTitle(family))
            explain(box, explanations.ofFamily(family))
            box.connect("toggled(bool)", self.takeFamilies)
            self.boxes[family] = box
        others = [family for family in FAMILIES if family not in IN_SIGHT]
        for frame, columns, families in ((ui.familiesFrame, 3, IN_SIGHT), (ui.otherFamiliesFrame, 2, others)):
            for number, family in enumerate(families):
                frame.layout().addWidget(self.boxes[family], number // columns, number % columns)
        self.listed = []
        ui.criticalComboBox.connect("checkedIndexesChanged()", self.takeCriticals)
        self.conventions = {OWN_CONVENTION: OWN_CONVENTION, **{key: one.label for key, one in allConventions().items()}}
        choose = lambda convention: setattr(self.model.parameters, "convention", convention)  # noqa: E731
        self.convention = ChoiceList(ui.conventionComboBox, choose)
        addRows(ui)
        ui.settingsButton.connect("toggled(bool)", self.onOpen)
        for name, panel in IN_PANEL.items():
            for widget in (f"{panel.name}Label", f"{panel.name}{panel.control}"):
                explain(getattr(ui, widget), explanations.ofSetting(name))

    def draw(self) -> None:
        parameters = self.model.parameters
        families = list(parameters.families)
        for family, box in self.boxes.items():
            with silent(box):
                box.checked = family in families
        self._showCriticals()
        self.convention.show(self.conventions, parameters.convention)  # none is an unknown one: a message says so
        offered = offeredSettings(parameters)
        for name, panel in IN_PANEL.items():
            for widget in (f"{panel.name}Label", f"{panel.name}{panel.control}"):
                getattr(self.ui, widget).visible = name in offered
        protocol = self.model.scene.name(parameters.protocol) if parameters.protocol is not None else ""
        self.ui.settingsButton.text = inOneLine(parameters, protocol)
        explain(self.ui.settingsButton, inFull(parameters, protocol))

    def onOpen(self, isOpen: bool) -> None:
        self.ui.measureSection.visible = isOpen
        self.ui.settingsButton.arrowType = qt.Qt.DownArrow if isOpen else qt.Qt.RightArrow

    def takeFamilies(self, _checked=False) -> None:
        self.model.parameters.families = [family for family, box in self.boxes.items() if box.checked]

    def takeCriticals(self) -> None:
        box = self.ui.criticalComboBox
        states = [box.itemData(row, qt.Qt.CheckStateRole) for row in range(box.count)]
        chosen = [name for name, state in zip(self.listed, states) if state == qt.Qt.Checked]
        self.model.setCriticals(chosen, self.listed)

    def _showCriticals(self) -> None:
        box, inputs = self.ui.criticalComboBox, (self.model.parameters, self.model.scene)
        names, chosen = possibleCriticals(*inputs), criticalNames(*inputs)
        with silent(box):
            if names != self.listed:
                box.clear()
                box.addItems(names)
                widen(box)
                self.listed = names
            for row, name in enumerate(names):
                state = int(qt.Qt.Checked if name in chosen else qt.Qt.Unchecked)
                if box.itemData(row, qt.Qt.CheckStateRole) != state:
                    box.setItemData(row, state, qt.Qt.CheckStateRole)
        tip = explanations.ofSetting("critical")
        explain(box, f"{tip}\n{', '.join(chosen)}" if chosen else tip)


def addRows(ui) -> None:
    """Make the rows of the section Advanced that SegmentMetrics.ui does not have, and add their widgets to the ui."""
    layout, previous = ui.advancedGroupBox.layout(), ui.advancedGroupBox
    rows = {panel.row: name for name, panel in IN_PANEL.items() if panel.row is not None}
    for row, name in sorted(rows.items()):
        panel, declaration = IN_PANEL[name], DECLARED[name]
        if panel.words:
            control, usual = qt.QComboBox(), qt.QComboBox.AdjustToMinimumContentsLengthWithIcon
            control.sizeAdjustPolicy, control.minimumContentsLength = usual, 8
        else:
            control = qt.QSpinBox() if declaration.check.option["type"] is int else qt.QDoubleSpinBox()
            control.keyboardTracking, control.singleStep = False, panel.step
            if panel.decimals:
                control.decimals = panel.decimals
            if declaration.unit:
                control.suffix = typeset(f" {declaration.unit}")
            if panel.isAutomatic:
                control.specialValueText = _("Automatic")
        control.setProperty("SlicerParameterName", panel.name)
        label = qt.QLabel(translateDeclared(panel.label) + ":")
        label.setBuddy(control)
        label.objectName, control.objectName = f"{panel.name}Label", f"{panel.name}{panel.control}"
        for column, widget in enumerate((label, control)):
            layout.addWidget(widget, row, column)
            setattr(ui, widget.objectName, widget)
        qt.QWidget.setTabOrder(previous, control)
        previous = control
