"""Assembling a report: the section of every structure and the page around them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...base.coordinates import positionText
from ...base.errors import InputError, asPath, installing, requireKind
from ...base.markup import Markup, filled, joined
from ...base.palettes import DOSE
from ...base.texts import counted, shortest
from ...case.comparison import Comparison
from ...case.findings import repeated
from ...case.gridspread import NOTE as SPREAD_NOTE
from ...case.protocol.judgment import SCORE_NOTE, Judgment, scoreText
from ...case.protocol.protocol import Rule
from ...metrics.findings import Finding, Kind, split
from ...metrics.measurement import Measurement, typeset
from ...metrics.registry import PURPOSES
from ...metrics.signed import SIDES
from ...model.grayimages import GrayImage
from ...model.naming import notAmong, onlyIn
from ...settings.settings import Settings, asSettings
from .. import charts
from ..explanations import ofMeasurement
from ..resulttables import (
    OVERVIEW,
    definitionOf,
    doseTable,
    heading,
    isApart,
    measurementsTable,
    sidesTable,
    spreadOf,
)
from ..tablemodel import Column, Table
from ..tables import byFamily, withCommonUnit
from . import figures
from .blocks import NO_DEVICE, NOTHING, badge, fromFile, linkTo, page, resource, soft, table
from .flatmap import flatMap
from .gray import Gray
from .lesions import gapsAndSpurs, lesions
from .notices import alarms, common, failed, isSmall, sentences, small
from .provenance import FileSource, provenance, sourceOf
from .ranking import UNJUDGED, Ranking
from .slicepictures import slicePictures
from .sliceviews import largestOf
from .stepping import stepPictures

MOST_PLACES = 10
DOSE_VOLUME = '<h3>Dose-volume histograms</h3>$chart<p class="soft">$caveat</p>'
# Volumes of surface and voxels are alike if they differ by less than this fraction.
ALIKE = 0.05
SOLID = "\N{NO-BREAK SPACE}"
SURFACE_NOTE = (
    "Volumes are those within the measured surfaces; where those of the voxels differ clearly, the structure has both."
)
# Most measurements in the overview: what fits across a page of paper beside names and verdicts.
MOST_MEASUREMENTS = 12


def requirePlotly() -> None:
    """Raise InputError if plotly, which draws a map to turn, is not installed."""
    try:
        import plotly.offline  # noqa: F401
    except ImportError as error:
        raise InputError(f"A map to turn in a report needs plotly: {installing('report')}.") from error


def hasPlotly() -> bool:
    """Return whether plotly is installed."""
    try:
        requirePlotly()
    except InputError:
        return False
    return True


def plotlyScript() -> Markup:
    """Return the content of plotly.js. Raises InputError if plotly is not installed."""
    requirePlotly()
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())


class Shown(NamedTuple):
    """A column of the overview: its heading, its cells, and whether any has a value."""

    head: str
    cells: list[str]
    hasValues: bool = True


class Part(NamedTuple):
    """One pair of a report: its numbers, the sources of both structures, the contents of its section, and the dose.

    dose: file or name of the dose, "" without one.
    """

    record: Comparison
    sources: tuple[FileSource, FileSource]
    section: Markup
    dose: str = ""


class Report:
    """A report about one case, filled pair by pair, so that only one pair's geometry must be in memory at a time.

    The report contains the names and checksums of the files, but nothing that they contain about the patient. title:
    name of the case. settings: of the comparisons. withConventions: whether to show the values that other tools would
    have reported. patient: text about the patient to include, "" for none. origins: names of the files or segmentations
    that the reference and the test are from, () if unknown. scene: name of the scene that they are in, "" for none.
    image: what is shown under the contours, None for nothing. script: name of a file beside the page with plotly.js, ""
    to put it into the page.

    Without plotly, isFlat is true: no map can be turned, and its pictures, which paper has anyway, are shown instead.
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
        image: GrayImage | None = None,
        script: str = "",
    ):
        self.isFlat, self.script = not hasPlotly(), script
        settings = asSettings(settings)
        requireKind(title, str, "The title of a report", "a text")
        self.title, self.withConventions, self.patient = title, withConventions, patient
        self.origins, self.scene = tuple(origins), scene
        if image is not None:
            requireKind(image, GrayImage, "The image under the contours", "a GrayImage")
        self.gray = None if image is None else Gray(image)
        # reports also show every pair's per-slice profile
        self.settings = replace(settings, families=(*settings.families, "slices"))
        self.records: list[Comparison] = []
        self._sections: list[Markup] = []
        self._sources: list[tuple[FileSource, FileSource]] = []
        self._dose = ""

    def add(self, comparison: Comparison) -> None:
        """Add a pair. Raises InputError for anything but a comparison."""
        requireKind(comparison, Comparison, "The input of a report", "a Comparison")
        self.include(self.part(comparison, len(self._sections)))

    def part(self, comparison: Comparison, number: int) -> Part:
        """Return the part of the report about a pair, for include(); it holds no geometry. number: from 0."""
        record = comparison.record()
        sources = sourceOf(comparison.reference), sourceOf(comparison.test)
        dose = "" if comparison.dose is None else comparison.dose.file
        return Part(record, sources, self._section(comparison, record, number), dose)

    def include(self, part: Part) -> None:
        """Add the part() of the next pair, which may have been created in another process."""
        self.records.append(part.record)
        self._sources.append(part.sources)
        self._sections.append(part.section)
        self._dose = self._dose or part.dose

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
        ranking = Ranking(self.records, judgment)
        # a structure that the other side has, but damaged, is among the failures
        unmatched = {side: notAmong(names, failures) for side, names in unmatched.items()}
        areSmall = [(n, one) for n, record in enumerate(self.records) for one in record.findings if isSmall(one)]
        isOnce = len(areSmall) > 1
        found = [[one for one in record.findings if not (isOnce and isSmall(one))] for record in self.records]
        shared, own = repeated.sortOut(found)
        body = fromFile(
            "report",
            head=self._head(ranking, len(failures)),
            failed=failed(failures),
            alarms=alarms(self.records, findings),
            judged=_judged(ranking, judgment) if judgment is not None else "",
            filters=self.gray.filters() if self.gray else "",
            overview=self._overview(unmatched, findings, ranking, bool(failures)),
            common=joined((common(shared, self.records), small(areSmall if isOnce else (), self.records))),
            review=resource("review.html"),
            structuresHead=_structuresHead(ranking),
            structures=joined((self._framed(n, ranking, own[n]) for n in ranking.order), "\n"),
            provenance=provenance(self.settings, self.records, self._sources, judgment, self._dose),
            noDevice=NO_DEVICE,
        )
        script = filled("<script>$script</script>", script=resource("report.js"))
        # whose page it is, if it lies beside others on a desk
        running = " · ".join(filter(None, (self.patient and f"Patient: {self.patient}", self.title)))
        return page(self.title, body, joined((self._plotly(), script), "\n"), running, self._date())

    def _date(self) -> str:
        return f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"

    def _plotly(self) -> Markup:
        """Return the script that draws the maps, nothing without plotly."""
        if self.isFlat:
            return NOTHING
        if self.script:
            return filled('<script src="$file"></script>', file=self.script)
        return filled("<script>$script</script>", script=plotlyScript())

    def _head(self, ranking: Ranking, failures: int) -> Markup:
        of = f"{len(self.records)} of " if failures else ""
        return fromFile(
            "head",
            title=self.title,
            headline=ranking.headline(),
            patient=filled("<p>Patient: $patient</p>", patient=self.patient) if self.patient else "",
            origins=self._origins(),
            count=f"{of}{counted(len(self.records) + failures, 'structure')} compared",
            date=self._date(),
            convention=self.settings.convention,
            noDevice=NO_DEVICE,
        )

    def _origins(self) -> Markup:
        """Return a line that says where the reference and the test are from, nothing if unknown."""
        named = [*zip(("Reference", "Test"), self.origins), ("Scene", self.scene)]
        named += [("Image", self.gray.image.name)] if self.gray else []
        named.append(("Dose", Path(self._dose).name if Path(self._dose).is_file() else self._dose))
        found = [filled("<span>$what: <b>$name</b></span>", what=what, name=name) for what, name in named if name]
        return filled('<p class="origins">$origins</p>', origins=joined(found, " ")) if found else NOTHING

    def _overview(
        self, unmatched: Mapping[str, Sequence[str]], findings: Sequence[str], ranking: Ranking, isFailed: bool
    ) -> Markup:
        """Return one line per structure, the structures without a counterpart, and the findings of the whole case.

        isFailed: whether there are structures that could not be compared, which are listed elsewhere.
        """
        missing = [filled("<p>$sentence</p>", sentence=sentence) for sentence in onlyIn(unmatched)]
        missing.append(sentences(split(findings).advice))  # alarms are above
        if not self.records:
            return joined((NOTHING if isFailed else Markup('<p class="notice">No structure is in both.</p>'), *missing))
        shown, more = _chosen([column for definition in OVERVIEW for column in _columns(self.records, definition)])
        if more:
            also = '<p class="soft">Also measured, in the sections below: $more</p>'
            missing.insert(0, filled(also, more=", ".join(more)))
        links = [linkTo(n, record.name) for n, record in enumerate(self.records)]
        columns: list[tuple[Column, Sequence[str]]] = [(Column("Structure", isText=True), links)]
        if ranking.judgment is not None:
            columns.append((Column("Verdict", isText=True), list(map(badge, ranking.verdicts))))
        columns += [(Column(column.head), column.cells) for column in shown]
        ranked = [(column, [cells[n] for n in ranking.order]) for column, cells in columns]
        overview = table(Table.ofColumns(ranked))
        if any(column.head.startswith(("Volume", "Area")) for column in shown):
            missing.insert(0, filled('<p class="soft">$note</p>', note=SURFACE_NOTE))
        return filled("<h2>Overview</h2>$overview$missing", overview=overview, missing=joined(missing))

    def _section(self, comparison: Comparison, record: Comparison, n: int) -> Markup:
        """Return the contents of a pair's section below its summary and findings."""
        from .othertools import otherTools

        steps = stepPictures(comparison, f"step{n}", self.gray) if comparison.distances is not None else NOTHING
        beside = [_div(_places(record, n if steps else None), "places"), _div(gapsAndSpurs(record))]
        if comparison.slices:
            profile = charts.profile(comparison.slices)
            found = filled("<h3>Profile</h3>$profile$note", profile=profile, note=_profileNote(comparison))
            beside.append(_div(found, "profile"))
        if comparison.doseCurves is not None:
            curves = charts.doseVolume(comparison.doseCurves)
            beside.append(_div(filled(DOSE_VOLUME, chart=curves, caveat=Finding.of(Kind.PLAN_OF_ONE)), "profile"))
        where = (_div(steps), _div(joined(beside), "besides"))
        # in print, only the pictures are left of structures that are brief
        return fromFile(
            "contents",
            volumes=_volumes(record),
            pictures=self._pictures(comparison, n) if comparison.distances is not None else "",
            where=joined(where),
            lesions=lesions(record),
            measurements=_measurements(record),
            conventions=otherTools(comparison) if self.withConventions else "",
        )

    def _pictures(self, comparison: Comparison, n: int) -> Markup:
        """Return the distance map with its switches, the histogram, and slices through the largest distance."""
        found = [charts.distribution(comparison)]
        switches = NOTHING
        if comparison.dimension == 3:
            surfaces = figures.mapSurfaces(comparison)
            still = flatMap(surfaces, *figures.colorRange(comparison))
            if self.isFlat:
                found.insert(0, still)
            else:
                figure = figures.distanceMap(comparison, surfaces)
                found.insert(0, _map(f"map{n}", figure, still))
                switches = _switches(n, figure["signed"], figure["first"])
            if comparison.dose is not None:
                dose = flatMap(*figures.doseMap(comparison, surfaces), palette=DOSE, what="Dose (Gy)")
                found.append(filled("<h3>Dose on the surfaces</h3>$dose", dose=dose))
        largest = largestOf(comparison)
        said = filled("<p>$sentence</p>", sentence=largest.sentence()) if largest.isAny else NOTHING
        pictures = filled('<div class="pictures">$pictures</div>', pictures=joined(map(_div, found)))
        return joined((said, switches, pictures, slicePictures(comparison, f"cut{n}", self.gray)))

    def _framed(self, n: int, ranking: Ranking, findings: Sequence[str]) -> Markup:
        """Return the section of a pair with its summary; the worst pair's is open. findings: of this pair only."""
        return fromFile(
            "structure",
            brief=" brief" if ranking.isBrief(n) else "",
            number=n,
            open=" open" if n == ranking.worst else "",
            name=self.records[n].name,
            verdict=badge(ranking.verdicts[n]),
            summary=typeset(self.records[n].summary),
            findings=sentences(findings),
            contents=self._sections[n],
        )


def _chosen(columns: Sequence[Shown]) -> tuple[list[Shown], list[str]]:
    """Return the columns for which an overview has room, and the headings of the others."""
    if len(columns) <= MOST_MEASUREMENTS:
        return list(columns), []
    # those without any value, such as of the hazard without critical structures, have the least to say
    first = [column for column in columns if column.hasValues][:MOST_MEASUREMENTS]
    return first, [column.head for column in columns if column not in first]


def _columns(records: Sequence[Comparison], definition: str) -> list[Shown]:
    """Return the columns for the measurements of the definition with this key.

    Measurements whose tolerances not all structures share are merged into one column with the tolerance, in mm, in each
    cell. The unit of the numbers of a column is in its heading.
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
            "".join(_solid(f"{typeset(record.measurements[key].text())} ({heading(key).split(' ')[1]})") for key in own)
            for record, own in zip(records, special, strict=True)
        ]
        columns.append(Shown(f"{definition.partition('_')[0]} (at mm)", cells))
    return columns


def _column(head: str, found: Sequence[Measurement | None]) -> Shown:
    hasValues = any(measurement is not None and measurement.status != "undefined" for measurement in found)
    head, texts = withCommonUnit(head, found)
    return Shown(head, list(map(_solid, texts)), hasValues)


def _map(name: str, figure: Mapping, still: Markup) -> Markup:
    """Return the place of a map that can be turned, its data, and what stands there until it is drawn and on paper."""
    # escape "<", so that no data can end the script element
    data = Markup(json.dumps(figure, allow_nan=False).replace("<", "\\u003c"))
    return fromFile("map", name=name, still=still, data=data)


def _switches(n: int, signed: bool, side: str) -> Markup:
    def choice(what: str, values: Sequence[str], first: str, legend: str) -> Markup:
        inputs = (
            filled(
                '<label><input type="radio" name="$what$number" data-what="$what" value="$value"$checked> $value'
                "</label>",
                what=what,
                number=n,
                value=value,
                checked=" checked data-first" if value == first else "",
            )
            for value in values
        )
        return filled("<fieldset><legend>$legend</legend>$inputs</fieldset>", legend=legend, inputs=joined(inputs))

    kinds = choice("kind", ("signed", "absolute"), "signed", "Distance") if signed else NOTHING
    sides = choice("side", ("reference", "test", "both"), side, "Surface")
    return filled('<div class="switches" data-for="map$n">$choices</div>', n=n, choices=joined((sides, kinds)))


def _div(part: Markup, kind: str = "") -> Markup:
    """Return a part in an element of a CSS class, "" for none; nothing for nothing."""
    named = filled(' class="$kind"', kind=kind) if kind else NOTHING
    return filled("<div$named>$part</div>", named=named, part=part) if part else NOTHING


def _volumes(record: Comparison) -> Markup:
    """Return the volumes of surfaces and of voxels where they differ clearly, as in small structures; else nothing."""
    found = record.measurements
    pairs = [(f"Volume{side}", f"VoxelVolume{side}") for side in ("Reference", "Test")]
    if any(key not in found or not math.isfinite(found[key].value) for pair in pairs for key in pair):
        return NOTHING
    if all(abs(found[a].value - found[b].value) <= ALIKE * max(found[a].value, found[b].value) for a, b in pairs):
        return NOTHING
    texts = [" and ".join(typeset(found[key].text()) for key in keys) for keys in zip(*pairs, strict=True)]
    what = "Areas" if record.dimension == 2 else "Volumes"
    within = "contours" if record.dimension == 2 else "surfaces"
    by = "the voxels" if record.dimension == 3 else "the pixels"
    sentence = f"{what} of reference and test within their {within}: {texts[0]}; of {by}: {texts[1]}."
    return filled("<p>$sentence</p>", sentence=sentence)


def _profileNote(comparison: Comparison) -> Markup:
    """Return a note if no slice has both contours, so that nothing but DSC can be drawn; else nothing."""
    if any(not row.only for row in comparison.slices):
        return NOTHING
    return Markup("<p>No slice has both contours, so there are no distances within slices.</p>")


def _places(record: Comparison, steps: int | None = None) -> Markup:
    """Return the list of worst places. steps: number of the slices in which they can be shown, None without any."""
    if not record.worstPlaces:
        return NOTHING
    hasDose = any(place.dose is not None for place in record.worstPlaces)
    goTo = '<a href="#step$steps" data-place="$rank">$rank</a>'
    rows = [
        [
            place.rank if steps is None else filled(goTo, steps=steps, rank=place.rank),
            f"{place.value:+.2f} mm" if record.hasSides else f"{place.value:.2f} mm",
            SIDES[place.direction],
            _patchSize(place.area, record.dimension),
            positionText(place.position),
            *(["" if place.dose is None else f"{place.dose:.2f} Gy"] if hasDose else []),
        ]
        for place in record.worstPlaces[:MOST_PLACES]
    ]
    ofDose = ["Dose"] if hasDose else []
    heads = ("Place" if steps is not None else "", "Distance", "Side", "Size", "Position (mm)", *ofDose)
    columns = [Column(head, isText=head in ("", "Place", "Side")) for head in heads]
    more = len(record.worstPlaces) - MOST_PLACES
    note = filled('<p class="soft">… and $more more</p>', more=more) if more > 0 else NOTHING
    return filled("<h3>Worst places</h3>$places$note", places=table(Table(columns, rows)), note=note)


def _patchSize(size: float, dimension: int) -> str:
    """Return a readable size of a patch, which is in mm2 in space and in mm in a plane."""
    if dimension == 2:
        return f"{size:.1f} mm"
    return f"{size / 100:.2f} cm²" if size >= 0.5 else "< 0.01 cm²"


def _measurements(record: Comparison) -> Markup:
    """Return the table of all measurements by family; those by sides of the patient are in a separate table."""
    found = byFamily(one for one in record.measurements.values() if not isApart(one.key))
    everything = measurementsTable(found)
    spread = spreadOf(everything)
    values = everything.only(
        {
            "Measurement": "",
            "Title": "Measurement",
            "Value": "Value",
            "ReferenceToTest": "Reference to test",
            "TestToReference": "Test to reference",
            **({"GridSD": "Grid: SD", "GridRange": "95 % range", "GridMean": "Mean"} if spread else {}),
        }
    )
    rows = []
    for one, (key, title, _, *directed) in zip(found, values.rows, strict=True):
        explained = filled('<abbr title="$meaning">$title</abbr>', meaning=ofMeasurement(one), title=title)
        value = joined((typeset(one.text()), soft(one.reason)))
        rows.append([filled("<code>$key</code>", key=key), explained, value, *directed])
    families = [PURPOSES.get(one.family, one.family) for one in found]
    sides = sidesTable(record)
    toward = '<div class="sides"><h3>Toward the sides of the patient</h3>$sides</div>'
    dose = doseTable(record)
    return fromFile(
        "measurements",
        measurements=table(
            Table(values.columns, rows), groups=families, kind="measured spread" if spread else "measured"
        ),
        note=filled('<p class="soft">$note</p>', note=SPREAD_NOTE) if spread else "",
        sides=filled(toward, sides=table(_turned(sides))) if sides else "",
        dose=filled("<h3>Dose</h3>$dose", dose=table(dose)) if dose else "",
    )


def _turned(content: Table) -> Table:
    """Return a table with its rows as columns."""
    names, *rows = ([row[n] for row in content.rows] for n in range(len(content.columns)))
    heads = [column.heading for column in content.columns]
    return Table.headed([heads[0], *names], [[head, *row] for head, row in zip(heads[1:], rows, strict=True)])


def _solid(text: str) -> str:
    """Return a text that is not broken into lines."""
    return text.replace(" ", SOLID)


def _judged(ranking: Ranking, judgment: Judgment) -> Markup:
    """Return the verdicts of the protocol, rule by rule, the worst structure first."""
    sources = list(dict.fromkeys(verdict.rule.source for verdict in judgment.verdicts))
    notes = {source: f"[{n}]" for n, source in enumerate(filter(None, sources), 1)} if len(sources) > 1 else {}
    scores = {name: scoreText(verdicts) for name, verdicts in judgment.byStructure().items()}
    rows = []
    for verdict in ranking.rules():
        rows.append(
            [
                linkTo(ranking.numbers.get(verdict.structure), verdict.structure),
                scores[verdict.structure],
                joined((heading(verdict.rule.measurement), _tool(verdict.rule))),
                shortest(verdict.rule.weight),
                typeset(verdict.valueText),
                _solid(typeset(verdict.limitsText)),
                badge(verdict.verdict),
                joined((typeset(verdict.reason), soft(notes.get(verdict.rule.source, "")))),
            ]
        )
    heads = ("Structure", "Score", "Measurement", "Weight", "Value", "Limit", "Verdict", "Reason")
    columns = [Column(head, isText=head not in ("Score", "Weight", "Value")) for head in heads]
    rules = Table(columns, rows)
    if not judgment.isWeighted:
        # without weights, a score says no more than the verdicts
        rules = rules.only({head: head for head in heads if head not in ("Score", "Weight")})
    return fromFile(
        "protocol",
        name=judgment.protocol.name,
        source=_source(*sources) if len(sources) == 1 else "",
        sources=soft(f"Sources: {'; '.join(f'{note} {source}' for source, note in notes.items())}") if notes else "",
        note=filled('<p class="soft">$note</p>', note=SCORE_NOTE) if judgment.isWeighted else "",
        rules=table(rules, isProse=True),
    )


def _tool(rule: Rule) -> Markup:
    """Return the tool whose number a rule judges, nothing if the rule names none."""
    return soft(f"as by {rule.convention}") if rule.convention else NOTHING


def _source(text: str) -> Markup:
    """Return the source of limits, nothing if there is none."""
    return soft(f"Source: {text}") if text else NOTHING


def _structuresHead(ranking: Ranking) -> Markup:
    """Return the heading of the sections, with a note on what is left out in print and a switch for it."""
    if not any(map(ranking.isBrief, ranking.order)):
        return Markup('<h2 class="structures">Structures</h2>')
    which = "structures that agree better"
    if ranking.judgment is not None:
        which = f"structures that pass{' or have no limits' if UNJUDGED in ranking.verdicts else ''}"
    return fromFile("briefly", which=which)
