"""The numbers of a comparison: sentences about them, their tables, and what is exported of them."""

from __future__ import annotations

from SegmentMetricsLib.base.texts import Statement, commaSeparated
from SegmentMetricsLib.conventions import known
from SegmentMetricsLib.conventions.convention import OWN_CONVENTION
from SegmentMetricsLib.metrics.findings import Kind, split
from SegmentMetricsLib.metrics.measurement import fixDecimals, typeset
from SegmentMetricsLib.show import explanations, resulttables, tables
from SegmentMetricsLib.show.writing import fileNames

from ..markup import breakable, escaped
from ..translation import _
from .table import TableContents, inUnit, sortable
from .verdicts import notCompared, orderOfRows, verdictCell

ALARM = "⚠"


def summary(outcome, number: int) -> str:
    """Return what a comparison found about the pair with this index, in one sentence of HTML."""
    if not outcome.records:
        return _("No structure is in both segmentations.")
    record = outcome.records[number]
    return f"<b>{breakable(record.name)}</b>{escaped(asWhom(record))}: {escaped(worded(record.summary))}"


def alarms(outcome, number: int) -> str:
    """Return the alarms about a pair, and the names of other structures that have some, as HTML; "" without any."""
    found = alarmsOf(outcome, number)
    # a symbol and words, because not everybody can see the color
    title = _("Check this first")
    return "<br>".join([f"<b>{ALARM} {title}</b>", *map(bulleted, found)]) if found else ""


def alarmsOf(outcome, number: int) -> list[str]:
    """Return the alarms about a case and a pair, and a sentence about those of other structures."""
    if outcome is None or not outcome.records:
        return []
    ofCase = split(outcome.findings).alarms if outcome.isOfAll else []
    found = [*ofCase, *split(outcome.records[number].findings).alarms]
    others = [r.name for n, r in enumerate(outcome.records) if n != number and split(r.findings).alarms]
    if others:
        found.append(_("There are alarms about other structures: {names}.").format(names=commaSeparated(others)))
    return found


def remarks(outcome, number: int) -> str:
    """Return the other findings about a pair, after what was not compared, as HTML; "" without any."""
    return "<br>".join(map(bulleted, remarksOf(outcome, number)))


def remarksOf(outcome, number: int) -> list[str]:
    """Return the other findings about a pair, after what was not compared."""
    if outcome is None:
        return []
    advice = split(outcome.records[number].findings).advice if outcome.records else []
    # the sentence about the pair says already that one of the two is empty
    advice = [finding for finding in advice if finding.kind != Kind.ONE_EMPTY]
    return [*(leftOut(outcome) if outcome.isOfAll else []), *advice]


def notes(outcome, number: int) -> str:
    """Return a line that says how many alarms and other findings there are about a pair, "" for none."""
    urgent, others = len(alarmsOf(outcome, number)), len(remarksOf(outcome, number))
    texts = []
    if urgent:
        text = _("Check this first: 1 alarm") if urgent == 1 else _("Check this first: {count} alarms")
        texts.append(f"{ALARM} {text.format(count=urgent)}")
    if others:
        text = _("1 note") if others == 1 else _("{count} notes")
        texts.append(text.format(count=others))
    return ", ".join(texts)


def mainNumbers(outcome) -> TableContents:
    """Return the table of the main measurements: of all pairs, one per row, or of the only one, one row for each."""
    if outcome is None:
        return TableContents()
    if outcome.isOfAll:
        return TableContents.of(*overview(outcome), order=orderOfRows(outcome))
    if not outcome.records:
        return TableContents()
    measurements = outcome.records[0].measurements
    keys = tables.overviewKeys(measurements) or list(measurements)
    return TableContents.of(*details([measurements[key] for key in keys]), stretched=[0]) if keys else TableContents()


def numbers(outcome, number: int) -> TableContents:
    """Return the table of all measurements of a pair but those toward each side of the patient."""
    if outcome is None or not outcome.records:
        return TableContents()
    return TableContents.of(*details(tables.byFamily(shown(outcome.records[number]))))


def sidesOf(outcome, number: int) -> TableContents:
    """Return the table of the distances toward each side of the patient, empty if there are none."""
    found = sides(outcome.records[number]) if outcome is not None and outcome.records else ()
    return TableContents.of(*found, stretched=range(1, len(found[0]))) if found else TableContents()


def suggestedFile(kind: str, outcome, number: int | None = None, suffix: str = ".csv") -> str:
    """Return a name for a file with results of an outcome, so that files of several observers can be told apart.

    kind: of the results, "" for a report. number: index of the pair that they are of, None for all of a comparison of
    all structures.
    """
    record = outcome.records[number or 0]
    whole = outcome.isOfAll and number is None
    nodes = [record.reference.segmentation, record.test.segmentation]
    text = " ".join(filter(None, (kind, "" if whole else record.name, *dict.fromkeys(nodes)))) or "report"
    return fileNames([text])[0] + suffix


def compared(outcome) -> list[str]:
    """Return a line for each of the two that were compared, with the name of its segmentation."""
    record = outcome.records[0]
    lines = []
    for side, title in (("reference", _("Reference: {name}")), ("test", _("Test: {name}"))):
        structure = getattr(record, side)
        names = [structure.segmentation] if outcome.isOfAll else [structure.name, structure.segmentation]
        lines.append(title.format(name=", ".join(filter(None, names))))
    return lines


def shown(record) -> list:
    """Return the measurements of a record without those that the table of sides shows."""
    return [m for m in record.measurements.values() if not resulttables.sideOf(m.key)]


def details(measurements) -> tuple:
    """Return headings, rows and heading tips of the table of measurements of one pair."""
    headings = [_("Metric"), _("Value")]
    tips = [
        _("Short name; hover over a row for its meaning and source."),
        _("The value, and its unit if it has one."),
    ]
    isDirected = any(measurement.referenceToTest is not None for measurement in measurements)
    if isDirected:
        headings += [_("→ test"), _("→ ref.")]
        tips += [
            _("Reference to test: measured from the reference's surface to the test's only."),
            _("Test to reference: measured from the test's surface to the reference's only."),
        ]
    rows = []
    for measurement in measurements:
        tip = explanations.ofMeasurement(measurement)
        row = [
            (tables.heading(measurement.key), measurement.key, tip),
            (typeset(measurement.text()), inUnit(measurement.value, measurement.unit), tip),
        ]
        if isDirected:
            directed = (measurement.referenceToTest, measurement.testToReference)
            # the unit is shown with the value in the same row
            row += [
                ("" if v is None else fixDecimals(v, measurement.unit), inUnit(v, measurement.unit), tip)
                for v in directed
            ]
        rows.append(row)
    return headings, rows, tips


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
    """Return a signed value short enough to fit six of them side by side: without decimals from 10 on, 0.0 bare."""
    if measurement.status != "ok":
        return "-" if measurement.status == "undefined" else measurement.text()
    value = round(measurement.value, 1)
    if not value:
        return "0.0"
    return f"{value:+.1f}" if abs(value) < 10 else f"{value:+.0f}"


def bulleted(sentence: str) -> str:
    """Return a sentence as a list item for a label."""
    return f"• {escaped(worded(sentence))}"


def worded(sentence: str) -> str:
    """Return a sentence of the library as the panel shows it."""
    return typeset(sentence.inPanel if isinstance(sentence, Statement) else sentence)


def overview(outcome) -> tuple:
    """Return headings, rows and heading tips of the table of many pairs, of their main metrics, with one row per pair.

    Structures with limits in the protocol that could not be
    compared have the last rows, with their verdict and the reason.
    """
    records, judgment, others = outcome.records, outcome.judgment, notCompared(outcome)
    if not records and not others:
        return [], [], []
    measurements = {m.key: m for record in records for m in shown(record)}
    keys = tables.overviewKeys(measurements) or list(measurements)
    columns = [column(key, records) for key in keys]
    headings = [_("Structure"), *(heading for heading, _cells in columns)]
    tips = [_("Click a structure to see it."), *(explanations.ofMeasurement(measurements[key]) for key in keys)]
    if judgment is not None:
        headings.insert(1, _("Verdict"))
        tips.insert(1, _("What the protocol says; hover over a verdict to read why."))
    rows = []
    for number, record in enumerate(records):
        alarms, _advice = split(record.findings)
        tip = "\n".join([record.name, worded(record.summary), *(f"{ALARM} {worded(alarm)}" for alarm in alarms)])
        row = [(f"{ALARM} {record.name}" if alarms else record.name, record.name.lower(), tip)]
        if judgment is not None:
            row.append(verdictCell(judgment, record.name))
        rows.append(row + [cells[number] for _heading, cells in columns])
    for structure in others:
        name, reason = structure["structure"], typeset(structure["reason"])
        row = [(name, name.lower(), f"{name}\n{reason}"), verdictCell(judgment, name)]
        rows.append(row + [("", None, reason)] * len(columns))
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


def leftOut(outcome) -> list[str]:
    """Return remarks about structures that were not compared."""
    remarks = []
    for side, sentence in (
        ("reference", _("Only in the reference: {names}.")),
        ("test", _("Only in the test: {names}.")),
    ):
        if outcome.unmatched.get(side):
            remarks.append(sentence.format(names=commaSeparated(outcome.unmatched[side])))
    remarks += split(outcome.findings).advice
    for reason in dict.fromkeys(outcome.failures.values()):
        names = [name for name, own in outcome.failures.items() if own == reason]
        remarks.append(f"{commaSeparated(names)}: {reason}")
    if others := notCompared(outcome):
        names = commaSeparated([structure["structure"] for structure in others])
        remarks.append(_("Not evaluable: {names}.").format(names=names))
    return remarks
