"""The table of measurements, which can be copied and exported."""

import re
from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.statements import Statement
from SegmentMetricsLib.base.texts import commaSeparated
from SegmentMetricsLib.case import explanations, resulttables
from SegmentMetricsLib.comparison.findings import split
from SegmentMetricsLib.comparison.measurements import fixed, typeset
from SegmentMetricsLib.conventions import known
from SegmentMetricsLib.model.structures import SEGMENTATION
from SegmentMetricsLib.settings.names import PURPOSES
from SegmentMetricsLib.settings.settings import OWN_CONVENTION
from SegmentMetricsLib.show import tables, writing

from .buttons import ExplainedButton
from .markup import breakable, escaped
from .protocols import notJudged, orderOf, verdictCell
from .saving import askForPath, suggested
from .sorting import SortableTable, sortable

ALARM = "⚠"


class Results:
    """The summary, the tables and the findings of a comparison."""

    def __init__(self, ui, onPair):
        self.ui, self.onPair = ui, onPair
        self.table = SortableTable(ui.resultsTable, self.onRow)
        self.sides = SortableTable(ui.sidesTable)
        self.outcome, self.number = None, 0
        self.families = []
        self.buttons = [ExplainedButton(button) for button in (ui.copyButton, ui.exportButton)]
        ui.copyButton.connect("clicked(bool)", self.copy)
        ui.exportButton.connect("clicked(bool)", self.onExport)
        ui.shownFamilyComboBox.connect("currentIndexChanged(int)", self.onFamily)

    @property
    def family(self) -> str:
        """The family of metrics that is shown, "" if not restricted to one."""
        index = self.ui.shownFamilyComboBox.currentIndex
        return self.families[index - 1] if 0 < index <= len(self.families) else ""

    def show(self, outcome, number: int) -> None:
        """Show an outcome, with the pair of the given number in detail; nothing if it is None."""
        self.outcome, self.number = outcome, number
        records = outcome.records if outcome is not None else ()
        for widget in (self.ui.resultsTable, self.ui.copyButton, self.ui.exportButton, self.ui.reportButton):
            widget.visible = bool(records)
        for widget in (self.ui.plotLabel, self.ui.plotComboBox):
            widget.visible = any(record.method for record in records)  # of distances
        self._listFamilies()
        self._fill()
        if records:
            record = records[number]
            name = f"<b>{breakable(record.name)}</b>{escaped(asWhom(record))}"
            self.ui.summaryLabel.text = f"{name}: {escaped(worded(record.summary))}"
        elif outcome is not None:
            self.ui.summaryLabel.text = _("There is no structure that both segmentations have.")
        self._showFindings(records, notCompared(outcome) if outcome is not None and outcome.isOfAll else [])

    def enable(self, problem: str) -> None:
        """Enable the buttons below the table, or disable them and show the problem in their tool tips."""
        for button in self.buttons:
            button.enable(problem)

    def invite(self, isReady: bool) -> None:
        """Show the next step in place of a summary. isReady: whether the chosen inputs can be compared."""
        text = _("Press Apply.") if isReady else _("Choose a reference and a test segment, then Apply.")
        self.ui.summaryLabel.text = text

    def _showFindings(self, records, remarks: list[str]) -> None:
        """Show the findings of the pair, alarms first. remarks: about structures that were not compared."""
        alarms, advice = split(records[self.number].findings) if records else ([], [])
        others = [r.name for n, r in enumerate(records) if n != self.number and split(r.findings).alarms]
        if others:
            alarms.append(_("There are alarms about other structures: {names}.").format(names=commaSeparated(others)))
        # a symbol and words, because not everybody can see the color
        title = _("Check this first")
        self.ui.alarmsLabel.text = "<br>".join([f"<b>{ALARM} {title}</b>", *map(bulleted, alarms)])
        self.ui.alarmsLabel.visible = bool(alarms)
        self.ui.findingsLabel.text = "<br>".join(map(bulleted, [*remarks, *advice]))
        self.ui.findingsLabel.visible = bool(remarks or advice)

    def _listFamilies(self) -> None:
        """List the measured families, and keep the current one selected if it is among them."""
        box, family = self.ui.shownFamilyComboBox, self.family
        records = self.outcome.records if self.outcome else ()
        self.families = list(dict.fromkeys(m.family for record in records for m in record.measurements.values()))
        wasBlocked = box.blockSignals(True)
        box.clear()
        box.addItem(_("Main metrics") if self.outcome and self.outcome.isOfAll else _("All metrics"))
        box.addItems([each.capitalize() for each in self.families])
        box.currentIndex = self.families.index(family) + 1 if family in self.families else 0
        box.blockSignals(wasBlocked)
        box.visible = self.ui.shownFamilyLabel.visible = len(self.families) > 1

    def onFamily(self, _index: int) -> None:
        self._fill()

    def _fill(self) -> None:
        """Fill the tables with the measurements of the selected family."""
        records = self.outcome.records if self.outcome else ()
        if not records:
            self.table.show([], [])
        elif self.outcome.isOfAll:
            self.table.show(*overview(records, self.family, self.outcome.judgment), order=orderOf(self.outcome))
            self.table.select(self.number)
        else:
            record, family = records[0], self.family
            self.table.show(*details(record, family), stretched=[0], groups=() if family else groups(record))
        sided = sides(records[self.number]) if records and self.family in ("", "signed") else ()
        self.sides.show(*(sided or ([], [])), stretched=range(1, len(sided[0])) if sided else ())
        self.ui.sidesTable.visible = bool(sided)

    def onRow(self, number: int) -> None:
        if self.outcome and self.outcome.isOfAll:
            self.onPair(number)

    def copy(self, _checked=False) -> None:
        """Copy the tables as shown, below what was compared, for pasting into a spreadsheet."""
        rows = [[line] for line in compared(self.outcome)] + self.table.texts()
        if self.sides.rows:
            about = [[self.outcome.records[self.number].name]] if self.outcome.isOfAll else []
            rows += about + self.sides.texts()
        qt.QApplication.clipboard().setText(writing.pasteable(rows))

    def onExport(self, _checked=False) -> None:
        suggestion = suggested("metrics", self.outcome)
        path = askForPath(self.ui.exportButton, _("Export measurements"), suggestion, _("Table (*.csv)"))
        if path:
            with slicer.util.tryWithErrorDisplay(_("The measurements could not be written.")):
                self.export(path)

    def export(self, path: Path) -> None:
        """Write all measurements with all digits as CSV, and a schema that describes the columns beside it."""
        writing.writeCsv(self.outcome.records, path)
        name = re.sub(r"\.csv$", "", path.name, flags=re.IGNORECASE)
        writing.writeCsvSchema(self.outcome.records, path.with_name(f"{name}.schema.csv"))


def compared(outcome) -> list[str]:
    """Return a line for each of the two that were compared, with the name of its segmentation."""
    record = outcome.records[0]
    lines = []
    for side, title in (("reference", _("Reference: {name}")), ("test", _("Test: {name}"))):
        structure = getattr(record, side)
        node = structure.get(SEGMENTATION, "")
        names = [node] if outcome.isOfAll else [structure["name"], node]
        lines.append(title.format(name=", ".join(filter(None, names))))
    return lines


def shown(record, family: str) -> list:
    """Return the measurements of a family ("" for all), without those that the table of sides shows."""
    measurements = record.measurements.values()
    found = [m for m in measurements if family in ("", m.family) and not tables.sideOf(m.key)]
    return tables.byFamily(found)


def details(record, family: str = "") -> tuple:
    """Return headings, rows and heading tips of the table of one pair."""
    headings = [_("Metric"), _("Value")]
    tips = [
        _("Short name; hover over a row for its meaning and source."),
        _("The value, and its unit if it has one."),
    ]
    isDirected = any(measurement.referenceToTest is not None for measurement in shown(record, family))
    if isDirected:
        headings += [_("→ test"), _("→ ref.")]
        tips += [
            _("Reference to test: measured from the reference's surface to the test's only."),
            _("Test to reference: measured from the test's surface to the reference's only."),
        ]
    rows = []
    for measurement in shown(record, family):
        tip = explanations.ofMeasurement(measurement)
        row = [
            (tables.heading(measurement.key), measurement.key, tip),
            (typeset(measurement.text()), sortable(measurement.value), tip),
        ]
        if isDirected:
            directed = (measurement.referenceToTest, measurement.testToReference)
            # the unit is shown with the value in the same row
            row += [("" if v is None else fixed(v, measurement.unit), sortable(v), tip) for v in directed]
        rows.append(row)
    return headings, rows, tips


def groups(record) -> list[tuple[str, str]]:
    """Return the family name and description for every row of the table of one pair; [] if there is only one family."""
    families = [measurement.family for measurement in shown(record, "")]
    if len(set(families)) < 2:
        return []
    return [(family.capitalize(), PURPOSES.get(family, "")) for family in families]


def sides(record) -> tuple:
    """Return headings, rows and heading tips of the distances toward each side of the patient, or () without any."""
    kinds = resulttables.bySides(record)
    if not kinds:
        return ()
    words = list(dict.fromkeys(side for values in kinds.values() for side in values))
    headings = [_("mm"), *(word[0].upper() for word in words)]
    about = _("Signed distances of {name}, by the side of the patient that the boundary faces.")
    tips = [about.format(name=record.name), *(word.capitalize() for word in words)]
    rows = []
    for kind, values in kinds.items():
        name = next(iter(values.values())).key[:-1]  # MeanR -> Mean
        row = [(name, name, kind)]
        for word in words:
            measurement = values[word]
            tip = f"{measurement.text()}\n{explanations.ofMeasurement(measurement)}"
            row.append((short(measurement), sortable(measurement.value), tip))
        rows.append(row)
    return headings, rows, tips


def short(measurement) -> str:
    """Return a signed value short enough to fit six of them side by side; 0.0 has no sign."""
    if measurement.status != "ok":
        return "-" if measurement.status == "undefined" else measurement.text()
    value = round(measurement.value, 1)
    return f"{value:+.1f}" if value else "0.0"


def bulleted(sentence: str) -> str:
    """Return a sentence as a list item for a label."""
    return f"• {escaped(worded(sentence))}"


def worded(sentence: str) -> str:
    """Return a sentence of the library as the panel shows it."""
    return typeset(sentence.inPanel if isinstance(sentence, Statement) else sentence)


def overview(records, family: str = "", judgment=None) -> tuple:
    """Return headings, rows and heading tips of the table of many pairs, with one row per pair.

    family: the family to show, "" for the main metrics. judgment: of a protocol, for a column of verdicts; None without
    one.
    """
    if not records:
        return [], [], []
    measurements = {m.key: m for record in records for m in shown(record, family)}
    keys = list(measurements) if family else tables.overviewKeys(measurements) or list(measurements)
    columns = [column(key, records) for key in keys]
    headings = [_("Structure"), *(heading for heading, _cells in columns)]
    tips = [_("Click a structure to see it."), *(explanations.ofMeasurement(measurements[key]) for key in keys)]
    if judgment is not None:
        headings.insert(1, _("Verdict"))
        tips.insert(1, _("What the protocol says; hover over a verdict to read why."))
    rows = []
    for number, record in enumerate(records):
        alarms, _advice = split(record.findings)
        tip = "\n".join([record.name, *worded(record.summary), *(f"{ALARM} {worded(alarm)}" for alarm in alarms)])
        row = [(f"{ALARM} {record.name}" if alarms else record.name, record.name.lower(), tip)]
        if judgment is not None:
            row.append(verdictCell(judgment, record.name))
        rows.append(row + [cells[number] for _heading, cells in columns])
    return headings, rows, tips


def column(key: str, records) -> tuple[str, list[tuple]]:
    """Return the heading of a measurement and its cells for all records.

    The heading has two lines, because numbers are short.
    """
    found = [record.measurements.get(key) for record in records]
    heading, texts = tables.withCommonUnit(tables.heading(key), found)
    cells = [("", None, "") if m is None else (t, sortable(m.value), m.reason) for t, m in zip(texts, found)]
    return heading.replace(" ", "\n", 1), cells


def asWhom(record) -> str:
    """Return a note naming the other tool whose convention the numbers follow, or "" for none."""
    if record.convention == OWN_CONVENTION:
        return ""
    label = known()[record.convention].label if record.convention in known() else record.convention
    return " " + _("as {tool} reports it").format(tool=label)


def notCompared(outcome) -> list[str]:
    """Return remarks about structures that were not compared."""
    remarks = []
    for side, sentence in (
        ("reference", _("Only in the reference: {names}.")),
        ("test", _("Only in the test: {names}.")),
    ):
        if outcome.unmatched.get(side):
            remarks.append(sentence.format(names=commaSeparated(outcome.unmatched[side])))
    remarks += outcome.findings
    for reason in dict.fromkeys(outcome.failures.values()):
        names = [name for name, own in outcome.failures.items() if own == reason]
        remarks.append(f"{commaSeparated(names)}: {reason}")
    if outcome.judgment and notJudged(outcome):
        remarks.append(_("Not evaluable: {names}.").format(names=notJudged(outcome)))
    return remarks
