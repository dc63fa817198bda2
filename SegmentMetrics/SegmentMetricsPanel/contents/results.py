"""The numbers of a comparison: sentences about them, their tables, and what is exported of them."""

from __future__ import annotations

from SegmentMetricsLib.base.texts import Statement, commaSeparated
from SegmentMetricsLib.conventions import allConventions
from SegmentMetricsLib.conventions.convention import OWN_CONVENTION
from SegmentMetricsLib.metrics.findings import Kind, splitAlarms
from SegmentMetricsLib.metrics.measurement import fixDecimals, typeset
from SegmentMetricsLib.show import explanations, resulttables, tables
from SegmentMetricsLib.show.writing import fileNames

from ..markup import breakable, escape
from ..translation import _
from .table import TableContents, inUnit, sortable
from .verdicts import orderOfRows, partsWithoutResult, verdictCell

ALARM = "⚠"


def summary(outcome, number: int) -> str:
    """Return what a comparison found about the pair with this index, in one sentence of HTML."""
    if not outcome.records:
        return _("No structure is in both segmentations.")
    record = outcome.records[number]
    tool, asWhom = record.convention, ""
    if tool != OWN_CONVENTION:
        label = allConventions()[tool].label if tool in allConventions() else tool
        asWhom = " " + _("as {tool} reports it").format(tool=label)
    return f"<b>{breakable(record.name)}</b>{escape(asWhom)}: {escape(inWords(record.summary))}"


def findings(outcome, number: int) -> tuple[str, str, str]:
    """Return alarms and other findings about a pair, after those of the case, as HTML, and a line that counts them."""
    if outcome is None:
        return "", "", ""
    alarms, remarks, counts = [], remarksOnUnpaired(outcome) if outcome.isOfAll else [], []
    if outcome.records:
        mine = splitAlarms(outcome.records[number].findings)
        alarms = [*(splitAlarms(outcome.findings).alarms if outcome.isOfAll else ()), *mine.alarms]
        others = [r.name for n, r in enumerate(outcome.records) if n != number and splitAlarms(r.findings).alarms]
        if others:
            alarms.append(_("There are alarms about other structures: {names}.").format(names=commaSeparated(others)))
        # the sentence about the pair says already that one of the two is empty
        remarks += [finding for finding in mine.advice if finding.kind != Kind.ONE_EMPTY]
    lists = ([f"• {escape(inWords(sentence))}" for sentence in sentences] for sentences in (alarms, remarks))
    ofAlarms, ofRemarks = map("<br>".join, lists)
    if alarms:
        title = _("Check this first")  # a symbol and words, because not everybody can see the color
        ofAlarms = f"<b>{ALARM} {title}</b><br>{ofAlarms}"
        text = _("Check this first: 1 alarm") if len(alarms) == 1 else _("Check this first: {count} alarms")
        counts.append(f"{ALARM} {text.format(count=len(alarms))}")
    if remarks:
        text = _("1 note") if len(remarks) == 1 else _("{count} notes")
        counts.append(text.format(count=len(remarks)))
    return ofAlarms, ofRemarks, ", ".join(counts)


def mainNumbers(outcome) -> TableContents:
    """Return the table of the main measurements: of all pairs, one per row, or of the only one, one row for each."""
    if outcome is None or not (outcome.isOfAll or outcome.records):
        return TableContents()
    if outcome.isOfAll:
        return overview(outcome)
    measurements = outcome.records[0].measurements
    keys = tables.overviewKeys(measurements) or list(measurements)
    return details([measurements[key] for key in keys], stretched=[0]) if keys else TableContents()


def numbers(record) -> TableContents:
    """Return the table of all measurements of a record but those toward each side of the patient."""
    return details(tables.byFamily(measurementsOf(record)))


def sidesOf(record) -> TableContents:
    """Return the table of the distances toward each side of the patient, empty if there are none."""
    kinds = resulttables.bySides(record) if record is not None else {}
    if not kinds:
        return TableContents()
    words = list(dict.fromkeys(side for values in kinds.values() for side in values))
    about = _("Signed distances of {name}, by the side of the patient that the boundary faces.")
    headings = [(_("mm"), about.format(name=record.name)), *((word[0].upper(), word.capitalize()) for word in words)]
    rows = []
    for kind, values in kinds.items():
        name = next(iter(values.values())).key[:-1]  # MeanR -> Mean
        row = [(name, name, kind)]
        for measurement in map(values.get, words):
            tip = f"{measurement.text()}\n{explanations.ofMeasurement(measurement)}"
            row.append((short(measurement), sortable(measurement.value), tip))
        rows.append(row)
    return TableContents.of(headings, rows, stretched=range(1, len(headings)))


def suggestedFile(kind: str, outcome, number: int | None = None, suffix: str = ".csv") -> str:
    """Return a name for a file of one pair, or of all for None, with their segmentations. kind: "" for a report."""
    record = outcome.records[number or 0]
    whole = outcome.isOfAll and number is None
    nodes = [record.reference.segmentation, record.test.segmentation]
    text = " ".join(filter(None, (kind, "" if whole else record.name, *dict.fromkeys(nodes)))) or "report"
    return fileNames([text])[0] + suffix


def titlesOf(outcome) -> list[str]:
    """Return a line for each of the two that were compared, with the name of its segmentation."""
    record = outcome.records[0]
    lines = []
    for side, title in (("reference", _("Reference: {name}")), ("test", _("Test: {name}"))):
        structure = getattr(record, side)
        names = [structure.segmentation] if outcome.isOfAll else [structure.name, structure.segmentation]
        lines.append(title.format(name=", ".join(filter(None, names))))
    return lines


def measurementsOf(record) -> list:
    """Return the measurements of a record without those that the table of sides shows."""
    return [m for m in record.measurements.values() if not resulttables.sideOf(m.key)]


def details(measurements, **layout) -> TableContents:
    """Return the table of measurements of one pair."""
    headings = [
        (_("Metric"), _("Short name; hover over a row for its meaning and source.")),
        (_("Value"), _("The value, and its unit if it has one.")),
    ]
    isDirected = any(measurement.referenceToTest is not None for measurement in measurements)
    if isDirected:
        headings += [
            (_("→ test"), _("Reference to test: measured from the reference's surface to the test's only.")),
            (_("→ ref."), _("Test to reference: measured from the test's surface to the reference's only.")),
        ]
    rows = []
    for one in measurements:
        tip = explanations.ofMeasurement(one)
        row = [(tables.heading(one.key), one.key, tip), (typeset(one.text()), inUnit(one.value, one.unit), tip)]
        # the unit is shown with the value in the same row
        for value in (one.referenceToTest, one.testToReference) if isDirected else ():
            row.append(("" if value is None else fixDecimals(value, one.unit), inUnit(value, one.unit), tip))
        rows.append(row)
    return TableContents.of(headings, rows, **layout)


def short(measurement) -> str:
    """Return a signed value short enough to fit six of them side by side: without decimals from 10 on, 0.0 bare."""
    if measurement.status != "ok":
        return "-" if measurement.status == "undefined" else measurement.text()
    value = round(measurement.value, 1)
    if not value:
        return "0.0"
    return f"{value:+.1f}" if abs(value) < 10 else f"{value:+.0f}"


def inWords(sentence: str) -> str:
    """Return a sentence of the library as the panel shows it."""
    return typeset(sentence.inPanel if isinstance(sentence, Statement) else sentence)


def overview(outcome) -> TableContents:
    """Return the table of the main metrics of many pairs; last come structures of the protocol without any."""
    records, judgment, others = outcome.records, outcome.judgment, partsWithoutResult(outcome)
    if not records and not others:
        return TableContents()
    measurements = {m.key: m for record in records for m in measurementsOf(record)}
    headings, rows = [(_("Structure"), _("Click a structure to see it."))], []
    if judgment is not None:
        headings.append((_("Verdict"), _("What the protocol says; hover over a verdict to read why.")))
    for record in records:
        alarms, _advice = splitAlarms(record.findings)
        tip = "\n".join([record.name, inWords(record.summary), *(f"{ALARM} {inWords(alarm)}" for alarm in alarms)])
        rows.append([(f"{ALARM} {record.name}" if alarms else record.name, record.name.lower(), tip)])
    for structure in others:
        name, reason = structure["structure"], typeset(structure["reason"])
        rows.append([(name, name.lower(), f"{name}\n{reason}")])
    if judgment is not None:
        for row, name in zip(rows, [*(r.name for r in records), *(one["structure"] for one in others)]):
            row.append(verdictCell(judgment, name))
    for key in tables.overviewKeys(measurements) or measurements:
        found = [record.measurements.get(key) for record in records]
        heading, texts = tables.withCommonUnit(tables.heading(key), found)
        # in two lines, because numbers are short
        headings.append((heading.replace(" ", "\n", 1), explanations.ofMeasurement(measurements[key])))
        cells = [("", None, "") if m is None else (t, sortable(m.value), m.reason) for t, m in zip(texts, found)]
        for row, cell in zip(rows, [*cells, *(("", None, typeset(one["reason"])) for one in others)]):
            row.append(cell)
    return TableContents.of(headings, rows, order=orderOfRows(outcome))


def remarksOnUnpaired(outcome) -> list[str]:
    """Return remarks about structures that were not compared."""
    remarks = []
    for side, sentence in (
        ("reference", _("Only in the reference: {names}.")),
        ("test", _("Only in the test: {names}.")),
    ):
        if outcome.unmatched.get(side):
            remarks.append(sentence.format(names=commaSeparated(outcome.unmatched[side])))
    remarks += splitAlarms(outcome.findings).advice
    for reason in dict.fromkeys(outcome.failures.values()):
        names = [name for name, own in outcome.failures.items() if own == reason]
        remarks.append(f"{commaSeparated(names)}: {reason}")
    if others := partsWithoutResult(outcome):
        names = commaSeparated([structure["structure"] for structure in others])
        remarks.append(_("Not evaluable: {names}.").format(names=names))
    return remarks
