"""Assembling a report: the section of every structure and the page around them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from html import escape
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from ...analysis.places import positionText
from ...base.errors import InputError, asPath, installing, requireKind
from ...base.texts import counted, shortest
from ...case.comparison import Comparison
from ...case.explanations import FAMILIES, ofMeasurement
from ...case.findings import repeated
from ...case.protocol.judgment import scoreText
from ...case.protocol.protocol import Rule
from ...case.records import Record
from ...comparison.measurements import Measurement, typeset
from ...families.signed.entries import SIDES
from ...model.naming import notAmong, onlyIn
from ...settings.settings import Settings, asSettings
from ..tables import OVERVIEW, byFamily, definitionOf, heading, number, sideOf, sideRows, withCommonUnit
from . import figures
from .elements import NO_DEVICE, badge, linkTo, page, table
from .notices import alarms, common, failed, sentences
from .provenance import Source, provenance, sourceOf
from .ranking import UNJUDGED, Ranking
from .slicepictures import slicePictures
from .sliceviews import largestOf

NOTHING = '<p class="notice">No structure is in both.</p>'
MOST_PLACES = 10
SOLID = "\N{NO-BREAK SPACE}"
SCORE_NOTE = "The score is the weight of a structure's passed rules over that of all its rules that could be evaluated."
# Most measurements in the overview: what fits across a page of paper beside names and verdicts.
MOST_MEASUREMENTS = 12


def requirePlotly() -> None:
    """Raise InputError if plotly, which draws the figures of the page, is not installed."""
    try:
        import plotly.offline  # noqa: F401
    except ImportError as error:
        raise InputError(f"A report needs plotly: {installing('report')}.") from error


class Column(NamedTuple):
    """A column of the overview: its heading, its cells as HTML, and whether any has a value."""

    head: str
    cells: list[str]
    hasValues: bool = True


class Part(NamedTuple):
    """One pair of a report: its numbers, the sources of both structures, and the HTML of its section."""

    record: Record
    sources: tuple[Source, Source]
    section: str


class Report:
    """A report about one case, filled pair by pair, so that only one pair's geometry must be in memory at a time.

    The report contains the names and checksums of the files, but nothing that they contain about the patient. title:
    name of the case. settings: of the comparisons. withConventions: whether to show the values that other tools would
    have reported. patient: text about the patient to include, "" for none. origins: names of the files or segmentations
    that the reference and the test are from, () if unknown. scene: name of the scene that they are in, "" for none.
    """

    def __init__(
        self,
        title: str,
        settings: Settings,
        *,
        withConventions: bool = False,
        patient: str = "",
        origins: Sequence[str] = (),
        scene: str = "",
    ):
        requirePlotly()
        settings = asSettings(settings)
        requireKind(title, str, "The title of a report", "a text")
        self.title, self.withConventions, self.patient = title, withConventions, patient
        self.origins, self.scene = tuple(origins), scene
        # reports also show every pair's per-slice profile
        self.settings = replace(settings, families=(*settings.families, "slices"))
        self.records: list[Record] = []
        self._sections: list[str] = []
        self._sources: list[tuple[Source, Source]] = []

    def add(self, comparison: Comparison) -> None:
        """Add a pair. Raises InputError for anything but a comparison."""
        requireKind(comparison, Comparison, "What a report shows", "a Comparison")
        self.include(self.part(comparison, len(self._sections)))

    def part(self, comparison: Comparison, number: int) -> Part:
        """Return the part of the report about a pair, for include(); it holds no geometry. number: from 0."""
        record = comparison.record()
        sources = sourceOf(comparison.reference), sourceOf(comparison.test)
        return Part(record, sources, self._section(comparison, record, number))

    def include(self, part: Part) -> None:
        """Add the part() of the next pair, which may have been created in another process."""
        self.records.append(part.record)
        self._sources.append(part.sources)
        self._sections.append(part.section)

    def write(
        self,
        path: str | Path,
        *,
        judgment=None,
        unmatched: Mapping[str, Sequence[str]] | None = None,
        failures: Mapping[str, str] | None = None,
        findings: Sequence[str] = (),
    ) -> None:
        """Write the page. Raises OSError, and InputError for anything but a path.

        judgment: of a protocol, or None. unmatched: names of structures without a counterpart, by side. failures: the
        reasons why structures could not be compared, by name. findings: sentences about the whole case.
        """
        path = asPath(path)
        text = self.page(judgment, unmatched or {}, failures or {}, findings)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")

    def page(
        self, judgment, unmatched: Mapping[str, Sequence[str]], failures: Mapping[str, str], findings: Sequence[str]
    ) -> str:
        """Return the whole page; arguments as for write()."""
        from plotly.offline import get_plotlyjs

        folder = resources.files(__package__)
        ranking = Ranking(self.records, judgment)
        # a structure that the other side has, but damaged, is among the failures
        unmatched = {side: notAmong(names, failures) for side, names in unmatched.items()}
        shared, own = repeated.sortedOut([record.findings for record in self.records])
        body = "\n".join(
            (
                '<div class="front">',
                self._head(ranking, len(failures)),
                failed(failures),
                alarms(self.records, findings),
                _judged(ranking) if judgment is not None else "",
                self._overview(unmatched, findings, ranking, bool(failures)),
                common(shared, self.records),
                "</div>",
                _signOff(),
                _structuresHead(ranking),
                *(self._framed(n, ranking, own[n]) for n in ranking.order),
                provenance(self.settings, self.records, self._sources, judgment),
                f"<footer>{escape(NO_DEVICE)}</footer>",
            )
        )
        scripts = f"<script>{get_plotlyjs()}</script>\n<script>{(folder / 'report.js').read_text('utf-8')}</script>\n"
        return page(self.title, body, scripts)

    def _head(self, ranking: Ranking, failures: int) -> str:
        of = f"{len(self.records)} of " if failures else ""
        count = f"{of}{counted(len(self.records) + failures, 'structure')} compared"
        patient = f"<p>Patient: {escape(self.patient)}</p>\n" if self.patient else ""
        return (
            f"<h1>{escape(self.title)}</h1>\n{ranking.headline()}{patient}{self._origins()}"
            f'<p class="soft">Contour comparison · {count} · {datetime.now().astimezone():%Y-%m-%d %H:%M %Z} · '
            f"measured as {escape(self.settings.convention)}</p>\n"
            f'<p class="notice">{escape(NO_DEVICE)}</p>'
            '<p class="notice unready">Printed before all pictures were ready: print it again in a moment.</p>'
        )

    def _origins(self) -> str:
        """Return a line that says where the reference and the test are from, "" if unknown."""
        named = [*zip(("Reference", "Test"), self.origins), ("Scene", self.scene)]
        found = [f"<span>{what}: <b>{escape(name)}</b></span>" for what, name in named if name]
        return f'<p class="origins">{" ".join(found)}</p>' if found else ""

    def _overview(
        self, unmatched: Mapping[str, Sequence[str]], findings: Sequence[str], ranking: Ranking, isFailed: bool
    ) -> str:
        """Return one line per structure, the structures without a counterpart, and the findings of the whole case.

        isFailed: whether there are structures that could not be compared, which are listed elsewhere.
        """
        missing = "".join(f"<p>{escape(sentence)}</p>" for sentence in onlyIn(unmatched))
        missing += sentences(findings)
        if not self.records:
            return f"{'' if isFailed else NOTHING}{missing}"
        columns, more = _chosen([column for definition in OVERVIEW for column in _columns(self.records, definition)])
        if more:
            missing = f'<p class="soft">Also measured, in the sections below: {escape(", ".join(more))}</p>{missing}'
        if ranking.judgment is not None:
            columns.insert(0, Column("Verdict", list(map(badge, ranking.verdicts))))
        rows = [[linkTo(n, self.records[n].name), *(column.cells[n] for column in columns)] for n in ranking.order]
        heads = ["Structure", *(column.head for column in columns)]
        first = 1 if ranking.judgment is None else 2
        return f"<h2>Overview</h2>{table(heads, rows, numbers=range(first, len(heads)))}{missing}"

    def _section(self, comparison: Comparison, record: Record, n: int) -> str:
        """Return the contents of a pair's section below its summary and findings."""
        parts = []
        if comparison.distances is not None:
            parts.append(_pictures(comparison, n))
        # left out in print for structures that are brief
        parts.append('<div class="full">')
        where = [_places(record)]
        if comparison.slices:
            profile = _figure("chart profile", f"slices{n}", figures.profile(comparison.slices))
            where.append(f"<h3>Slice by slice</h3>{profile}")
        parts.append(f'<div class="where">{"".join(f"<div>{part}</div>" for part in where if part)}</div>')
        parts.append(_measurements(record))
        if self.withConventions:
            parts.append(_conventions(comparison))
        return "".join((*parts, "</div>"))

    def _framed(self, n: int, ranking: Ranking, findings: Sequence[str]) -> str:
        """Return the section of a pair with its summary; the worst pair's is open. findings: of this pair only."""
        record = self.records[n]
        isOpen = " open" if n == ranking.worst else ""
        isBrief = " brief" if ranking.isBrief(n) else ""
        return (
            f'<section class="structure{isBrief}" id="structure{n}"><details{isOpen}>'
            f"<summary>{escape(record.name)} {badge(ranking.verdicts[n])} "
            f"<small>{escape(typeset(record.summary))}</small></summary>"
            f'<div class="inside">{sentences(findings)}{self._sections[n]}</div></details></section>'
        )


def _chosen(columns: Sequence[Column]) -> tuple[list[Column], list[str]]:
    """Return the columns for which an overview has room, and the headings of the others."""
    if len(columns) <= MOST_MEASUREMENTS:
        return list(columns), []
    # those without any value, such as of the hazard without critical structures, have the least to say
    first = [column for column in columns if column.hasValues][:MOST_MEASUREMENTS]
    return first, [column.head for column in columns if column not in first]


def _columns(records: Sequence[Record], definition: str) -> list[Column]:
    """Return the columns for the measurements of the definition with this key.

    Measurements whose tolerances not all structures share are merged into one column with the tolerance in each cell. A
    unit that all numbers of a column have is in its heading.
    """
    found = [[key for key in record.measurements if definitionOf(key) == definition] for record in records]
    keys = list(dict.fromkeys(key for own in found for key in own))
    # ignore structures that have none of them because other families were measured
    everyones = {key for key in keys if all(key in own for own in found if own)}
    special = [[key for key in own if key not in everyones] for own in found]
    isOneColumn = "{tolerance}" in definition and len(keys) - len(everyones) > 1 and all(len(s) <= 1 for s in special)
    shown = [key for key in keys if key in everyones] if isOneColumn else keys
    columns = [_column(heading(key), [record.measurements.get(key) for record in records]) for key in shown]
    if isOneColumn:
        cells = [
            "".join(
                f"{_solid(_value(record.measurements[key]))} ({_solid(heading(key).partition(' ')[2])})" for key in own
            )
            for record, own in zip(records, special, strict=True)
        ]
        columns.append(Column(definition.partition("_")[0], cells))
    return columns


def _column(head: str, found: Sequence[Measurement | None]) -> Column:
    hasValues = any(measurement is not None and measurement.status != "undefined" for measurement in found)
    head, texts = withCommonUnit(head, found)
    return Column(head, [_solid(escape(text)) for text in texts], hasValues)


def _pictures(comparison: Comparison, n: int) -> str:
    """Return the distance map with its switches, the histogram, and slices through the largest distance."""
    found = [_figure("chart", f"histogram{n}", figures.distribution(comparison))]
    switches = ""
    if comparison.dimension == 3:
        figure = figures.distanceMap(comparison)
        found.insert(0, _figure("map", f"map{n}", figure, stills=2))
        switches = _switches(n, figure["signed"], figure["first"])
    largest = largestOf(comparison)
    said = f"<p>{largest.sentence()}</p>" if largest.isAny else ""
    slices = slicePictures(comparison, f"cut{n}")
    return f'{said}{switches}<div class="pictures">{"".join(found)}</div>{slices}'


def _figure(kind: str, name: str, figure: Mapping, stills: int = 1) -> str:
    """Return the placeholder of a figure, the still images that replace it in print, and its data."""
    # escape "<", so that no data can end the script element
    text = json.dumps(figure, allow_nan=False).replace("<", "\\u003c")
    images = '<img class="still" alt="">' * stills
    return (
        f'<div><div class="{kind}" id="{name}" data-figure="{name}-data"></div><div class="stills">{images}</div>'
        f'<script type="application/json" id="{name}-data">{text}</script></div>'
    )


def _switches(n: int, signed: bool, side: str) -> str:
    def choice(what: str, values: Sequence[str], first: str, legend: str) -> str:
        inputs = "".join(
            f'<label><input type="radio" name="{what}{n}" data-what="{what}" value="{value}"'
            f"{' checked data-first' if value == first else ''}> {value}</label>"
            for value in values
        )
        return f"<fieldset><legend>{legend}</legend>{inputs}</fieldset>"

    kinds = choice("kind", ("signed", "absolute"), "signed", "Distance") if signed else ""
    sides = choice("side", ("reference", "test", "both"), side, "Surface")
    return f'<div class="switches" data-for="map{n}">{sides}{kinds}</div>'


def _places(record: Record) -> str:
    if not record.worstPlaces:
        return ""
    rows = [
        [
            str(place.rank),
            f"{place.value:+.2f} mm" if record.hasSides else f"{place.value:.2f} mm",
            SIDES[place.direction],
            _patchSize(place.area, record.dimension),
            positionText(place.position),
        ]
        for place in record.worstPlaces[:MOST_PLACES]
    ]
    more = len(record.worstPlaces) - MOST_PLACES
    note = f'<p class="soft">… and {more} more</p>' if more > 0 else ""
    heads = ["", "Distance", "Side", "Size", "Position (mm)"]
    return f"<h3>Worst places</h3>{table(heads, rows, numbers=(1, 3, 4))}{note}"


def _patchSize(size: float, dimension: int) -> str:
    """Return a readable size of a patch, which is in mm2 in space and in mm in a plane."""
    if dimension == 2:
        return f"{size:.1f} mm"
    return f"{size / 100:.2f} cm²" if size >= 0.5 else "< 0.01 cm²"


def _measurements(record: Record) -> str:
    """Return the table of all measurements by family; those by sides of the patient are in a separate table."""
    rows, family = [], None
    for measurement in byFamily(record.measurements.values()):
        key = measurement.key
        if measurement.family != family:
            family = measurement.family
            rows.append(f'<tr class="family"><th colspan="5">{escape(FAMILIES.get(family, family))}</th></tr>')
        if sideOf(key):
            continue
        cells = (
            f"<code>{escape(key)}</code>",
            f'<abbr title="{escape(ofMeasurement(measurement), quote=True)}">{escape(measurement.title)}</abbr>',
            _value(measurement)
            + (f' <span class="soft">{escape(measurement.reason)}</span>' if measurement.reason else ""),
            escape(number(measurement.referenceToTest, measurement)),
            escape(number(measurement.testToReference, measurement)),
        )
        rows.append(
            "<tr>" + "".join(f"<td{' class=number' if n > 1 else ''}>{c}</td>" for n, c in enumerate(cells)) + "</tr>"
        )
    heads = ("", "Measurement", "Value", "Reference to test", "Test to reference")
    head = "".join(f"<th{' class=number' if n > 1 else ''}>{text}</th>" for n, text in enumerate(heads))
    grouped = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    text = f'<h3>Measurements</h3><div class="scroll measured">{grouped}</div>'
    if sides := sideRows(record):
        text += f"<h3>Toward the sides of the patient</h3>{table(sides[0], sides[1:], range(1, len(sides[0])))}"
    return text


def _value(measurement) -> str:
    return "" if measurement is None else escape(typeset(measurement.text()))


def _solid(text: str) -> str:
    """Return a text that is not broken into lines."""
    return text.replace(" ", SOLID)


def _conventions(comparison: Comparison) -> str:
    """Return the table of values that other tools would have reported, with their differences."""
    from .othertools import NOTE, otherTools

    heads, rows = otherTools(comparison)
    numbers = range(1, len(heads))
    return f'<h3>What other tools would report</h3><p class="soft">{NOTE}</p>{table(heads, rows, numbers)}'


def _judged(ranking: Ranking) -> str:
    """Return the verdicts of the protocol, rule by rule, the worst structure first."""
    judgment = ranking.judgment
    sources = {verdict.rule.source for verdict in judgment.verdicts}
    rows = []
    scores = {name: scoreText(verdicts) for name, verdicts in judgment.byStructure().items()}
    # without weights, a score says no more than the verdicts
    weighted = int(judgment.isWeighted)
    for verdict in ranking.rules():
        ofRule = _source(verdict.rule.source) if len(sources) > 1 else ""
        rows.append(
            [
                linkTo(ranking.numbers.get(verdict.structure), verdict.structure),
                *[scores[verdict.structure]] * weighted,
                _ofRule(verdict.rule),
                *[shortest(verdict.rule.weight)] * weighted,
                escape(typeset(verdict.valueText)),
                _solid(escape(typeset(verdict.limitsText))),
                badge(verdict.verdict),
                escape(typeset(verdict.reason)) + ofRule,
            ]
        )
    heads = ["Structure", *["Score"] * weighted, "Measurement", *["Weight"] * weighted]
    heads += ["Value", "Limit", "Verdict", "Reason"]
    ofAll = _source(*sources) if len(sources) == 1 else ""
    rules = table(heads, rows, numbers=(1, 3, 4) if weighted else (2,), isProse=True)
    note = f'<p class="soft">{SCORE_NOTE}</p>' if weighted else ""
    return f"<h2>Protocol</h2><p>{escape(judgment.protocol.name)}{ofAll}</p>{note}{rules}"


def _ofRule(rule: Rule) -> str:
    """Return as HTML what a rule judges, and the tool whose number it is if the rule names one."""
    tool = f' <span class="soft">as by {escape(rule.convention)}</span>' if rule.convention else ""
    return escape(heading(rule.measurement)) + tool


def _source(text: str) -> str:
    """Return the source of limits as HTML, "" if there is none."""
    return f' <span class="soft">Source: {escape(text)}</span>' if text else ""


def _structuresHead(ranking: Ranking) -> str:
    """Return the heading of the sections, with a note on what is left out in print and a switch for it."""
    brief = sum(map(ranking.isBrief, ranking.order))
    if not brief:
        return "<h2>Structures</h2>"
    which = "structures that agree better"
    if ranking.judgment is not None:
        which = f"structures that pass{' or have no limits' if UNJUDGED in ranking.verdicts else ''}"
    return (
        f'<h2>Structures</h2><p class="soft paper">Of {which}, the pictures; all numbers are in the file.</p>'
        '<p class="noprint"><label><input type="checkbox" data-paper> Print all numbers, '
        f"also of {which}</label></p>"
    )


def _signOff() -> str:
    return """<h2>Review</h2><form class="sign" onsubmit="return false">
<div><label for="reviewer">Reviewer</label><input id="reviewer" autocomplete="off"></div>
<div><label for="reviewed">Date</label><input id="reviewed" type="date" required></div>
<div><label for="decision">Decision</label><select id="decision"><option></option><option>Accepted</option>
<option>Accepted with changes</option><option>Not accepted</option></select></div>
<div><label for="signature">Signature</label><input id="signature" autocomplete="off"></div>
<div class="wide"><label for="comment">Comment</label><textarea id="comment" rows="4"></textarea></div></form>"""
