"""What other tools would have reported for the pair that is shown: a table, copied and exported."""

import math
import re
from dataclasses import replace
from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib import tables
from SegmentMetricsLib.conventions import known, output
from SegmentMetricsLib.conventions.evaluation import OPTIMISTIC, PESSIMISTIC
from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.files.writing import pasteable
from SegmentMetricsLib.mrml import folders, recallConventions
from SegmentMetricsLib.settings import OWN_CONVENTION

from .buttons import ExplainedButton
from .freshness import outOfDate
from .markup import explain
from .saving import askForPath
from .sorting import SortableTable, sortable

ROLE = "conventions"
# Orange and blue: people who see few colors can tell them apart.
COLORS = {OPTIMISTIC: "#f8cf94", PESSIMISTIC: "#a9d2f0"}
NOT_REPRODUCIBLE = "*"
NONE = "-"  # where a tool does not report a metric


class Conventions:
    """The section of the other tools. compute: called when their numbers are wanted; show() has to follow."""

    def __init__(self, ui, compute):
        self.ui, self.compute = ui, compute
        self.table = SortableTable(ui.conventionsTable)
        self.record = None  # a ConventionsRecord
        self.shown = None
        self.keys = []
        self.key = None  # "" for all of them, None as long as there was none
        self.problem = _("Press Apply first.")
        ui.conventionsLegendLabel.text = legend()
        ui.conventionsButton.connect("clicked(bool)", self.onCompute)
        ui.conventionsKeyComboBox.connect("currentIndexChanged(int)", self.onKey)
        self.buttons = [ExplainedButton(button) for button in (ui.conventionsCopyButton, ui.conventionsExportButton)]
        ui.conventionsCopyButton.connect("clicked(bool)", self.copy)
        ui.conventionsExportButton.connect("clicked(bool)", self.onExport)

    def show(self, outcome, number: int, stale: str) -> None:
        """Show what is known about a pair of an outcome; nothing when that is None. stale: why it is out of date."""
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
        """Show nothing, while there is no scene to work with."""
        self.show(None, 0, "")

    @staticmethod
    def forget(outcome) -> None:
        """Remove what earlier runs of the pairs of an outcome left in the scene: nobody would see that it is old."""
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
        """Take over what a node keeps about a pair; nothing when it is None."""
        self.record = None
        if node is not None:
            try:
                self.record = output.ConventionsRecord(record.reference, record.test, recallConventions(node))
            except InputError as error:  # of another version: it can be computed again
                self.problem = self.problem or str(error)
        for name in ("KeyLabel", "KeyComboBox", "Table", "LegendLabel", "CopyButton", "ExportButton"):
            getattr(self.ui, f"conventions{name}").visible = self.record is not None
        self._listKeys()
        self._fill()

    def _listKeys(self) -> None:
        """Offer the metrics that there are, and keep the one that is shown as long as it is there."""
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
        """Copy the table as it is shown, for a spreadsheet."""
        qt.QApplication.clipboard().setText(pasteable(self.table.texts()))

    def onExport(self, _checked=False) -> None:
        path = askForPath(self.ui.conventionsExportButton, _("Export"), "conventions.csv", _("Table (*.csv)"))
        if path:
            with slicer.util.tryWithErrorDisplay(_("The table could not be written.")):
                self.export(path)

    def export(self, path: Path) -> None:
        """Write what every tool would report of every metric, with all digits and why, as CSV."""
        output.writeCsv([self.record], path)


def whyNot(outcome, stale: str) -> str:
    """Return why the conventions of an outcome cannot be computed, "" when they can."""
    if outcome is None or not outcome.records:
        return _("Press Apply first.")
    if stale:
        return outOfDate()
    if outcome.comparisons is None:
        return _("Press Apply again first: a scene keeps the numbers, but not the surfaces that they were measured on.")
    return ""


def legend() -> str:
    """Return what the colors and the mark of the table mean."""
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
    """Return headings, rows and heading tips of the table of one metric: a row per tool, below our own."""
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
    """Return headings, rows and heading tips of the table of all metrics: a row per tool, below our own."""
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
    """Return the value of the definition in the place of a tool's."""
    value = number.reference
    status = "undefined" if math.isnan(value) else "infinite" if math.isinf(value) else "ok"
    return replace(number, value=value, status=status, unit=unitOf(number), isReproducible=True)


def unitOf(number) -> str:
    """Return the unit of a metric's values, whatever a tool uses."""
    return "mm" if number.better == "lower" else ""


def written(number, first) -> str:
    """Return a value as the table shows it: the heading has the unit, unless the tool uses another one."""
    text = number.text().removesuffix(f" {unitOf(first)}") if unitOf(first) else number.text()
    return text if number.isReproducible else f"{text}{NOT_REPRODUCIBLE}"


def explained(number, label: str) -> str:
    """Return what there is to say about a number of a tool."""
    lines = [f"{label}: {number.name}", f"{number.reason[:1].upper()}{number.reason[1:]}."]
    if number.differenceText():
        leaning = number.leaning or _("no difference that matters")
        lines.append(f"{number.differenceText()}: {leaning}.")
    if number.isInVoxels:
        lines.append(_("Voxels are compared as if they were mm."))
    return "\n".join(lines)
