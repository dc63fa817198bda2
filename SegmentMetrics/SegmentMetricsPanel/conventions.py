"""The table of values that other tools would have reported for the shown pair, which can be copied and exported."""

import re
from dataclasses import replace
from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.comparison.measurements import statusOf
from SegmentMetricsLib.conventions import known
from SegmentMetricsLib.conventions.evaluation import OPTIMISTIC, PESSIMISTIC
from SegmentMetricsLib.mrml import folders, recallConventions
from SegmentMetricsLib.settings.settings import OWN_CONVENTION
from SegmentMetricsLib.show import conventions as output
from SegmentMetricsLib.show import tables
from SegmentMetricsLib.show.writing import pasteable

from .buttons import ExplainedButton
from .freshness import outOfDate
from .markup import explain
from .saving import askForPath, suggested
from .sorting import SortableTable, sortable

ROLE = "conventions"
# Orange and blue, which can be told apart with color vision deficiency.
COLORS = {OPTIMISTIC: "#f8cf94", PESSIMISTIC: "#a9d2f0"}
NOT_REPRODUCIBLE = "*"
NONE = "-"  # for metrics that a tool does not report


class Conventions:
    """The section about other tools. compute: called when their values are requested; must be followed by show()."""

    def __init__(self, ui, compute):
        self.ui, self.compute = ui, compute
        self.table = SortableTable(ui.conventionsTable)
        self.record = None  # a ConventionsRecord
        self.shown = None
        self.keys = []
        self.key = None  # the selected metric: "" for all of them, None before the first choice
        self.problem = _("Press Apply first.")
        ui.conventionsLegendLabel.text = legend()
        ui.conventionsButton.connect("clicked(bool)", self.onCompute)
        ui.conventionsKeyComboBox.connect("currentIndexChanged(int)", self.onKey)
        self.buttons = [ExplainedButton(button) for button in (ui.conventionsCopyButton, ui.conventionsExportButton)]
        ui.conventionsCopyButton.connect("clicked(bool)", self.copy)
        ui.conventionsExportButton.connect("clicked(bool)", self.onExport)

    def show(self, outcome, number: int, stale: str) -> None:
        """Show the stored values for a pair of an outcome, or nothing if it is None.

        stale: the reason why the outcome is out of date, or "".
        """
        node = None
        if outcome is not None and outcome.records:
            node = folders.findResult(outcome.pair(number), ROLE, slicer.mrmlScene)
            node = node if outcome.shows(node) else None
        self.problem = whyNot(outcome, stale)
        shown = (outcome, number, node and node.GetMTime())
        if shown != self.shown:
            self.shown = shown
            self._take(outcome.records[number] if node else None, node)
        self.ui.conventionsStaleLabel.text = _("Out of date: {reason}").format(reason=stale)
        self.ui.conventionsStaleLabel.visible = bool(stale) and self.record is not None
        for button in self.buttons:
            button.enable(outOfDate() if stale else "")
        self.ui.conventionsButton.visible = self.record is None
        self.ui.conventionsButton.enabled = not self.problem
        explain(self.ui.conventionsButton, self.problem or _("Calculate what every other tool would report."))
        if self.record is not None:
            about = _("What other tools would report for {name}. Hover over a row to read why.")
            self.ui.conventionsLabel.text = about.format(name=self.record.name)
        else:
            self.ui.conventionsLabel.text = self.problem or _("What would other tools report for these contours?")

    def clear(self) -> None:
        """Show nothing, while no scene is available."""
        self.show(None, 0, "")

    @staticmethod
    def forget(outcome) -> None:
        """Remove tables of earlier runs of an outcome's pairs from the scene: nothing would show that they are old."""
        scene = slicer.mrmlScene
        found = [folders.findResult(outcome.pair(number), ROLE, scene) for number in range(len(outcome.records))]
        folders.removeNodes([node for node in found if node is not None and not outcome.shows(node)], scene)

    def onCompute(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The results of other tools could not be calculated.")):
            self.compute()

    def onKey(self, index: int) -> None:
        if 0 <= index <= len(self.keys):
            self.key = self.keys[index - 1] if index else ""
            self._fill()

    def _take(self, record, node) -> None:
        """Load the values that a node stores for a pair; nothing if it is None."""
        self.record = None
        if node is not None:
            try:
                self.record = output.ConventionsRecord(record.reference, record.test, recallConventions(node))
            except InputError as error:  # from another version; the values can be computed again
                self.problem = self.problem or str(error)
        for name in ("KeyLabel", "KeyComboBox", "Table", "LegendLabel", "CopyButton", "ExportButton"):
            getattr(self.ui, f"conventions{name}").visible = self.record is not None
        self._listKeys()
        self._fill()

    def _listKeys(self) -> None:
        """List the available metrics, and keep the current one selected if it is among them."""
        box = self.ui.conventionsKeyComboBox
        self.keys = list(self.record.referenceValues()) if self.record else []
        if self.keys and self.key not in ("", *self.keys):
            self.key = next((key for key in self.keys if re.fullmatch(r"HD[\d.]+", key)), self.keys[0])
        wasBlocked = box.blockSignals(True)
        box.clear()
        if self.keys:
            box.addItems([_("All metrics"), *(tables.heading(key) for key in self.keys)])
            box.currentIndex = self.keys.index(self.key) + 1 if self.key in self.keys else 0
        box.blockSignals(wasBlocked)

    def _fill(self) -> None:
        if self.record is None:
            self.table.show([], [])
        elif self.key:
            self.table.show(*ofMetric(self.record, self.key), stretched=[0])
        else:
            self.table.show(*ofAllMetrics(self.record))

    def copy(self, _checked=False) -> None:
        """Copy the table as shown, for pasting into a spreadsheet."""
        qt.QApplication.clipboard().setText(pasteable(self.table.texts()))

    def onExport(self, _checked=False) -> None:
        suggestion = suggested("conventions", *self.shown[:2])
        path = askForPath(self.ui.conventionsExportButton, _("Export"), suggestion, _("Table (*.csv)"))
        if path:
            with slicer.util.tryWithErrorDisplay(_("The table could not be written.")):
                self.export(path)

    def export(self, path: Path) -> None:
        """Write the values of all tools and metrics, with all digits and explanations, as CSV."""
        output.writeCsv([self.record], path)


def whyNot(outcome, stale: str) -> str:
    """Return the reason why the conventions of an outcome cannot be computed, or "" if they can."""
    if outcome is None or not outcome.records:
        return _("Press Apply first.")
    if stale:
        return outOfDate()
    if outcome.comparisons is None:
        return _("Press Apply again first: a scene keeps the numbers, but not the surfaces that they were measured on.")
    return ""


def legend() -> str:
    """Return the legend of the table's colors and its mark, as HTML."""
    meanings = (
        (COLORS[OPTIMISTIC], _("over-optimistic: the contours seem more alike than they are")),
        (COLORS[PESSIMISTIC], _("over-pessimistic: they seem less alike")),
    )
    lines = [f'<span style="background-color: {color};">&nbsp;&nbsp;&nbsp;&nbsp;</span> {m}' for color, m in meanings]
    lines.append(_("no color: less than 0.1 mm or 1 %pt off"))
    unreliable = _("the tool itself does not give this number reliably")
    lines.append(f"{NOT_REPRODUCIBLE} {unreliable}")
    return "<br>".join(lines)


def ofMetric(record, key: str) -> tuple:
    """Return headings, rows and heading tips of the table of one metric: our own row first, then one per tool."""
    first = record.referenceValues()[key]
    unit = f" ({unitOf(first)})" if unitOf(first) else ""
    difference = _("± mm") if first.better == "lower" else _("± %pt")
    headings = [_("Tool"), f"{tables.heading(key)}{unit}", difference]
    tips = [
        _("Hover over a tool for its version."),
        _("What the tool would report."),
        _("The tool's value minus that of the definition, in mm or percentage points."),
    ]
    own = _("{title} as it is defined.").format(title=first.title)
    value = ownNumber(first)
    rows = [[(OWN_CONVENTION, "", own), (written(value, first), sortable(value.value), own), ("", None, own)]]
    for tool, numbers in record.conventions.items():
        number, label = numbers.get(key), known()[tool].label
        if number is None:
            tip = _("{tool} does not report it.").format(tool=label)
            rows.append([(tool, tool.lower(), tip), (NONE, None, tip), ("", None, tip)])
            continue
        tip = explained(number, label)
        color = COLORS.get(number.leaning, "")
        rows.append(
            [
                (tool, tool.lower(), tip),
                (written(number, first), sortable(number.value), tip, color),
                (number.differenceText().partition(" ")[0], sortable(number.difference), tip, color),
            ]
        )
    return headings, rows, tips


def ofAllMetrics(record) -> tuple:
    """Return headings, rows and heading tips of the table of all metrics: our own row first, then one per tool."""
    first = record.referenceValues()
    headings, tips = [_("Tool")], [_("Hover over a tool for its version.")]
    own = [(OWN_CONVENTION, "", _("Reference definition."))]
    for key, number in first.items():
        unit = unitOf(number)
        headings.append(f"{tables.heading(key)} ({unit})" if unit else tables.heading(key))
        tips.append(number.title)
        value = ownNumber(number)
        own.append((written(value, number), sortable(value.value), number.title))
    rows = [own]
    for tool, numbers in record.conventions.items():
        label = known()[tool].label
        row = [(tool, tool.lower(), label)]
        for key in first:
            number = numbers.get(key)
            if number is None:
                row.append((NONE, None, _("{tool} does not report it.").format(tool=label)))
            else:
                color = COLORS.get(number.leaning, "")
                row.append((written(number, first[key]), sortable(number.value), explained(number, label), color))
        rows.append(row)
    return headings, rows, tips


def ownNumber(number):
    """Return a copy of a tool's number that has the value of the definition instead."""
    value = number.reference
    return replace(number, value=value, status=statusOf(value), unit=unitOf(number), isReproducible=True)


def unitOf(number) -> str:
    """Return the unit of the metric, regardless of the unit that the tool uses."""
    return "mm" if number.better == "lower" else ""


def written(number, first) -> str:
    """Return a value as the table shows it: without its unit if that is the one in the heading."""
    text = number.text().removesuffix(f" {unitOf(first)}") if unitOf(first) else number.text()
    return text if number.isReproducible else f"{text}{NOT_REPRODUCIBLE}"


def explained(number, label: str) -> str:
    """Return a tool tip for a number of a tool."""
    lines = [f"{label}: {number.name}", f"{number.reason[:1].upper()}{number.reason[1:]}."]
    if number.differenceText():
        leaning = number.leaning or _("no difference that matters")
        lines.append(f"{number.differenceText()}: {leaning}.")
    elif number.leaning:
        lines.append(f"{number.leaning.capitalize()}.")
    if number.isInVoxels:
        lines.append(_("Voxels are compared as if they were mm."))
    return "\n".join(lines)
