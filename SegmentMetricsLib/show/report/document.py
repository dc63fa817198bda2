"""Assembling a report: the section of every structure and the page around them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...base.errors import asPath, requireKind
from ...base.markup import Markup, fill, join
from ...base.texts import pluralize, positionText, shortest
from ...case.comparison import Comparison
from ...case.gridspread import NOTE as SPREAD_NOTE
from ...case.protocol.judgment import SCORE_NOTE, Judgment, scoreText
from ...conventions.evaluation import Reported, conventions
from ...metrics.findings import Finding, Kind, splitAlarms
from ...metrics.measurement import typeset
from ...metrics.registry import PURPOSES
from ...metrics.signed import SIDES
from ...model.grayimages import GrayImage
from ...model.naming import notAmong, onlyIn
from ...model.structures import REFERENCE_AND_TEST
from ...settings.settings import Settings, asSettings
from .. import charts, repeated
from ..conventions import REFERENCE_ROW, ConventionsRecord
from ..explanations import ofMeasurement
from ..resulttables import OVERVIEW, definitionOf, doseTable, heading, isApart, measurementsTable, sidesTable
from ..tablemodel import Column, Table
from ..tables import byFamily, withCommonUnit
from . import figures
from .blocks import NO_DEVICE, NOTHING, badge, data, fromFile, linkTo, now, page, resource, soft, table
from .gray import Gray
from .lesions import gapsAndSpurs, lesionsSection
from .notices import alarms, block, isSmall, sayCommon, sentences, small
from .provenance import Origin, originOf, provenance
from .ranking import UNJUDGED, Ranking
from .slicepictures import slicePictures
from .sliceviews import largestOf
from .stepping import stepPictures

MOST_PLACES = 10
DOSE_VOLUME = '<h3>Dose-volume histograms</h3>$chart<p class="soft">$caveat</p>'
# Volumes of surface and voxels are alike if they differ by less than this fraction.
ALIKE = 0.05
SURFACE_NOTE = (
    "Volumes are those within the measured surfaces; where those of the voxels differ clearly, the structure has both."
)
# Most measurements in the overview: what fits across a page of paper beside names and verdicts.
MOST_MEASUREMENTS = 12


def hasPlotly() -> bool:
    """Return whether plotly, which draws a map to turn, is installed and not broken."""
    with suppress(ImportError):
        return bool(importlib.import_module("plotly.offline"))
    return False


def plotlyScript() -> Markup:
    """Return the content of plotly.js."""
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())


class Part(NamedTuple):
    """One pair of a report: its numbers, the sources of both structures, the contents of its section, and the dose.

    dose: file or name of the dose, "" without one.
    """

    record: Comparison
    sources: tuple[Origin, Origin]
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

    Without plotly, no map can be rotated; the pictures that paper has are shown instead.
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
        self.parts: list[Part] = []

    def add(self, comparison: Comparison) -> None:
        """Add a pair. Raises InputError for anything but a comparison."""
        requireKind(comparison, Comparison, "The input of a report", "a Comparison")
        self.parts.append(self.part(comparison, len(self.parts)))

    def part(self, comparison: Comparison, number: int) -> Part:
        """Return the part of the report about a pair, for `parts`, also of another process. number: from 0."""
        record = comparison.record()
        sources = originOf(comparison.reference), originOf(comparison.test)
        dose = "" if comparison.dose is None else comparison.dose.file
        return Part(record, sources, self._section(comparison, record, number), dose)

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
        path, failures, records = asPath(path), failures or {}, [part.record for part in self.parts]
        dose = next((part.dose for part in self.parts if part.dose), "")
        ranking = Ranking(records, judgment)
        # a structure that the other side has, but damaged, is among the failures
        missing = onlyIn({side: notAmong(names, failures) for side, names in (unmatched or {}).items()})
        areSmall = [(n, one) for n, record in enumerate(records) for one in record.findings if isSmall(one)]
        isOnce = len(areSmall) > 1
        found = [[one for one in record.findings if not (isOnce and isSmall(one))] for record in records]
        shared, own = repeated.sortOut(found)
        date = now()
        structuresHead = Markup('<h2 class="structures">Structures</h2>')
        if any(map(ranking.isBrief, ranking.order)):  # and what is left out in print, with a switch for it
            which = "structures that agree better"
            if judgment is not None:
                which = f"structures that pass{' or have no limits' if UNJUDGED in ranking.verdicts else ''}"
            structuresHead = fromFile("briefly", which=which)
        framed = (
            fromFile(
                "structure",
                brief=" brief" if ranking.isBrief(n) else "",
                number=n,
                open=" open" if n == ranking.worst else "",
                name=records[n].name,
                verdict=badge(ranking.verdicts[n]),
                summary=typeset(records[n].summary),
                findings=sentences(own[n]),
                contents=self.parts[n].section,
            )
            for n in ranking.order
        )
        body = fromFile(
            "report",
            head=self._head(ranking, len(failures), dose, date),
            failed=block("failed", "Not compared", list(failures.items())),
            alarms=alarms(records, findings),
            judged=_protocolOf(ranking, judgment) if judgment is not None else "",
            filters=self.gray.filters() if self.gray else "",
            overview=_overview(missing, findings, ranking, bool(failures)),
            common=join((sayCommon(shared, records), small(areSmall if isOnce else (), records))),
            review=resource("review.html"),
            structuresHead=structuresHead,
            structures=join(framed, "\n"),
            provenance=provenance(self.settings, records, [part.sources for part in self.parts], judgment, dose),
            noDevice=NO_DEVICE,
        )
        scripts = [fill("<script>$script</script>", script=resource("report.js"))]
        if not self.isFlat and self.script:
            scripts.insert(0, fill('<script src="$file"></script>', file=self.script))
        elif not self.isFlat:
            scripts.insert(0, fill("<script>$script</script>", script=plotlyScript()))
        # whose page it is, if it lies beside others on a desk
        running = " · ".join(filter(None, (self.patient and f"Patient: {self.patient}", self.title)))
        text = page(self.title, body, join(scripts, "\n"), running, date)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")

    def _head(self, ranking: Ranking, failures: int, dose: str, date: str) -> Markup:
        named = [*zip(("Reference", "Test"), self.origins), ("Scene", self.scene)]
        named += [("Image", self.gray.image.name)] if self.gray else []
        named.append(("Dose", Path(dose).name if Path(dose).is_file() else dose))
        origins = [fill("<span>$what: <b>$name</b></span>", what=what, name=name) for what, name in named if name]
        of = f"{len(ranking.records)} of " if failures else ""
        return fromFile(
            "head",
            title=self.title,
            headline=ranking.headline(),
            patient=fill("<p>Patient: $patient</p>", patient=self.patient) if self.patient else "",
            origins=fill('<p class="origins">$origins</p>', origins=join(origins, " ")) if origins else "",
            count=f"{of}{pluralize(len(ranking.records) + failures, 'structure')} compared",
            date=date,
            convention=self.settings.convention,
            noDevice=NO_DEVICE,
        )

    def _section(self, comparison: Comparison, record: Comparison, n: int) -> Markup:
        """Return the contents of a pair's section below its summary and findings."""
        steps = stepPictures(comparison, f"step{n}", self.gray) if comparison.distances is not None else NOTHING
        beside = [_div(_places(record, n if steps else None), "places"), _div(gapsAndSpurs(record))]
        if comparison.slices:
            none = "<p>No slice has both contours, so there are no distances within slices.</p>"
            note = Markup(none if all(row.only for row in comparison.slices) else "")
            profile = charts.profileChart(comparison.slices)
            beside.append(_div(fill("<h3>Profile</h3>$profile$note", profile=profile, note=note), "profile"))
        if comparison.doseCurves is not None:
            curves = charts.doseVolume(comparison.doseCurves)
            beside.append(_div(fill(DOSE_VOLUME, chart=curves, caveat=Finding.of(Kind.PLAN_OF_ONE)), "profile"))
        # in print, only the pictures are left of structures that are brief
        return fromFile(
            "contents",
            volumes=_volumes(record),
            pictures=self._pictures(comparison, n) if comparison.distances is not None else "",
            where=join((_div(steps), _div(join(beside), "besides"))),
            lesions=lesionsSection(record),
            measurements=_measurements(record),
            conventions=_otherTools(comparison) if self.withConventions else "",
        )

    def _pictures(self, comparison: Comparison, n: int) -> Markup:
        """Return the distance map with its switches, the histogram, and slices through the largest distance."""
        found = [charts.distribution(comparison)]
        switches = NOTHING
        if comparison.dimension == 3:
            surfaces = figures.mapSurfaces(comparison)
            still = figures.flatMap(comparison, surfaces)
            if self.isFlat:
                found.insert(0, still)
            else:
                figure = figures.distanceMap(comparison, surfaces)
                # beside the map that is drawn, what stands there until then and on paper
                found.insert(0, fromFile("map", name=f"map{n}", still=still, data=data(figure)))
                sides = {side: " checked data-first" if side == figure["first"] else "" for side in REFERENCE_AND_TEST}
                kinds = fromFile("kinds", n=n) if figure["signed"] else NOTHING
                switches = fromFile("switches", n=n, kinds=kinds, **sides)
            if comparison.dose is not None:
                dose = figures.flatMap(comparison, surfaces, isOfDose=True)
                found.append(fill("<h3>Dose on the surfaces</h3>$dose", dose=dose))
        largest = largestOf(comparison)
        said = fill("<p>$sentence</p>", sentence=largest.sentence()) if largest.isAny else NOTHING
        pictures = fill('<div class="pictures">$pictures</div>', pictures=join(map(_div, found)))
        return join((said, switches, pictures, slicePictures(comparison, f"cut{n}", self.gray)))


def _overview(missing: Sequence[str], findings: Sequence[str], ranking: Ranking, isFailed: bool) -> Markup:
    """Return one line per structure, the structures without a counterpart, and the findings of the whole case.

    missing: sentences on the former. isFailed: whether there are structures that could not be compared, which are
    listed elsewhere.
    """
    notes = [fill("<p>$sentence</p>", sentence=sentence) for sentence in missing]
    notes.append(sentences(splitAlarms(findings).advice))  # alarms are above
    records = ranking.records
    if not records:
        return join((NOTHING if isFailed else Markup('<p class="notice">No structure is in both.</p>'), *notes))
    every = [column for definition in OVERVIEW for column in _columns(records, definition)]
    # those without any value, such as of the hazard without critical structures, have the least to say
    isRoomy = len(every) <= MOST_MEASUREMENTS
    shown = [(head, cells) for head, cells, hasValues in every if hasValues or isRoomy][:MOST_MEASUREMENTS]
    if more := [head for head, cells, _ in every if (head, cells) not in shown]:
        also = '<p class="soft">Also measured, in the sections below: $more</p>'
        notes.insert(0, fill(also, more=", ".join(more)))
    links = [linkTo(n, record.name) for n, record in enumerate(records)]
    columns: list[tuple[Column, Sequence[str]]] = [(Column("Structure", isText=True), links)]
    if ranking.judgment is not None:
        columns.append((Column("Verdict", isText=True), list(map(badge, ranking.verdicts))))
    columns += [(Column(head), cells) for head, cells in shown]
    overview = table(Table.ofColumns([(column, [cells[n] for n in ranking.order]) for column, cells in columns]))
    if any(head.startswith(("Volume", "Area")) for head, _ in shown):
        notes.insert(0, fill('<p class="soft">$note</p>', note=SURFACE_NOTE))
    return fill("<h2>Overview</h2>$overview$missing", overview=overview, missing=join(notes))


def _columns(records: Sequence[Comparison], definition: str) -> list[tuple[str, list[str], bool]]:
    """Return the columns for the measurements of the definition with this key: heading, cells, whether any has a value.

    Measurements whose tolerances not all structures share are merged into one column with the tolerance, in mm, in each
    cell. The unit of the numbers of a column is in its heading.
    """
    found = [[key for key in record.measurements if definitionOf(key) == definition] for record in records]
    keys = list(dict.fromkeys(key for own in found for key in own))
    # ignore structures that have none of them because other families were measured
    everyones = [key for key in keys if all(key in own for own in found if own)]
    special = [[key for key in own if key not in everyones] for own in found]
    isOneColumn = "{tolerance}" in definition and len(keys) - len(everyones) > 1 and all(len(s) <= 1 for s in special)
    columns = []
    for key in everyones if isOneColumn else keys:
        values = [record.measurements.get(key) for record in records]
        head, texts = withCommonUnit(heading(key), values)
        hasValues = any(one is not None and one.status != "undefined" for one in values)
        columns.append((head, list(map(_solid, texts)), hasValues))
    if isOneColumn:
        cells = [
            "".join(_solid(f"{typeset(record.measurements[key].text())} ({heading(key).split(' ')[1]})") for key in own)
            for record, own in zip(records, special, strict=True)
        ]
        columns.append((f"{definition.partition('_')[0]} (at mm)", cells, True))
    return columns


def _div(part: Markup, kind: str = "") -> Markup:
    """Return a part in an element of a CSS class, "" for none; nothing for nothing."""
    named = fill(' class="$kind"', kind=kind) if kind else NOTHING
    return fill("<div$named>$part</div>", named=named, part=part) if part else NOTHING


def _volumes(record: Comparison) -> Markup:
    """Return the volumes of surfaces and of voxels where they differ clearly, as in small structures; else nothing."""
    found = record.measurements
    pairs = [(f"Volume{side}", f"VoxelVolume{side}") for side in ("Reference", "Test")]
    if any(key not in found or not math.isfinite(found[key].value) for pair in pairs for key in pair):
        return NOTHING
    if all(abs(found[a].value - found[b].value) <= ALIKE * max(found[a].value, found[b].value) for a, b in pairs):
        return NOTHING
    texts = [" and ".join(typeset(found[key].text()) for key in keys) for keys in zip(*pairs, strict=True)]
    what, within, by = ("Areas", "contours", "pixels") if record.dimension == 2 else ("Volumes", "surfaces", "voxels")
    sentence = f"{what} of reference and test: {texts[0]} inside their {within}, {texts[1]} by their {by}."
    return fill("<p>$sentence</p>", sentence=sentence)


def _places(record: Comparison, steps: int | None = None) -> Markup:
    """Return the list of worst places. steps: number of the slices in which they can be shown, None without any."""
    if not record.worstPlaces:
        return NOTHING
    goTo, isFlat = '<a href="#step$steps" data-place="$rank">$rank</a>', record.dimension == 2
    rows = [
        [
            place.rank if steps is None else fill(goTo, steps=steps, rank=place.rank),
            f"{place.value:+.2f} mm" if record.hasSides else f"{place.value:.2f} mm",
            SIDES[place.direction],
            # in a plane it is a length
            f"{place.area:.1f} mm" if isFlat else f"{place.area / 100:.2f} cm²" if place.area >= 0.5 else "< 0.01 cm²",
            positionText(place.position),
            "" if place.dose is None else f"{place.dose:.2f} Gy",
        ]
        for place in record.worstPlaces
    ]
    heads = ("Place" if steps is not None else "", "Distance", "Side", "Size", "Position (mm)", "Dose")
    places = Table([Column(head, isText=head in ("", "Place", "Side")) for head in heads], rows)
    if all(place.dose is None for place in record.worstPlaces):
        places = places.only({head: head for head in heads[:-1]})
    return fill("<h3>Worst places</h3>$places", places=table(places, most=MOST_PLACES))


def _measurements(record: Comparison) -> Markup:
    """Return the table of all measurements by family; those by sides of the patient are in a separate table."""
    found = byFamily(one for one in record.measurements.values() if not isApart(one.key))
    everything = measurementsTable(found)
    spread = any(one.grid for one in found)
    left = {one.key: one.heading for one in everything.columns if one.key not in ("Unit", "Status", "Reason")}
    values = everything.only({**left, "Measurement": "", "Title": "Measurement"})
    rows = []
    for one, (key, title, _, *directed) in zip(found, values.rows, strict=True):
        explained = fill('<abbr title="$meaning">$title</abbr>', meaning=ofMeasurement(one), title=title)
        value = join((typeset(one.text()), soft(one.reason)))
        rows.append([fill("<code>$key</code>", key=key), explained, value, *directed])
    families = [PURPOSES.get(one.family, one.family) for one in found]
    sides = sidesTable(record)
    if sides is not None:  # a side per row
        names, *columns = zip(*sides.rows, strict=True)
        heads = [column.heading for column in sides.columns]
        sides = Table.ofRows([heads[0], *names], [[head, *own] for head, own in zip(heads[1:], columns, strict=True)])
    toward = '<div class="sides"><h3>Toward the sides of the patient</h3>$sides</div>'
    dose = doseTable(record)
    return fromFile(
        "measurements",
        measurements=table(Table(values.columns, rows), groups=families, kind=f"measured{' spread' if spread else ''}"),
        note=fill('<p class="soft">$note</p>', note=SPREAD_NOTE) if spread else "",
        sides=fill(toward, sides=table(sides)) if sides else "",
        dose=fill("<h3>Dose</h3>$dose", dose=table(dose)) if dose else "",
    )


def _otherTools(comparison: Comparison) -> Markup:
    """Return the values of the tools, with their differences."""
    pair = (comparison.reference, comparison.test)
    found = conventions(pair, comparison.settings, measured=comparison.measurements, distances=comparison.distances)
    values = ConventionsRecord({}, {}, found).table("Tool", _cellOf)
    return fromFile("othertools", reference=REFERENCE_ROW, values=table(values))


def _cellOf(number: Reported) -> Markup:
    # slight leanings have no color
    leaning = number.leaning.removeprefix("over-") if number.leaning.startswith("over-") else ""
    difference = f" ({number.differenceText()})" if number.differenceText() else ""
    star = "" if number.isReproducible else "*"
    return fill(
        '<span class="$leaning" title="$reason">$text</span>',
        leaning=leaning,
        reason=f"{number.name}: {number.reason}",
        text=number.text() + star + difference,
    )


def _solid(text: str) -> str:
    """Return a text that is not broken into lines."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _protocolOf(ranking: Ranking, judgment: Judgment) -> Markup:
    """Return the verdicts of the protocol, rule by rule, the worst structure first."""
    sources = list(dict.fromkeys(verdict.rule.source for verdict in judgment.verdicts))
    notes = {source: f"[{n}]" for n, source in enumerate(filter(None, sources), 1)} if len(sources) > 1 else {}
    scores = {name: scoreText(verdicts) for name, verdicts in judgment.byStructure().items()}
    rows = []
    for verdict in ranking.rules():
        tool = verdict.rule.convention
        rows.append(
            [
                linkTo(ranking.numbers.get(verdict.structure), verdict.structure),
                scores[verdict.structure],
                join((heading(verdict.rule.measurement), soft(tool and f"as by {tool}"))),
                shortest(verdict.rule.weight),
                typeset(verdict.valueText),
                _solid(typeset(verdict.limitsText)),
                badge(verdict.verdict),
                join((typeset(verdict.reason), soft(notes.get(verdict.rule.source, "")))),
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
        source=soft(f"Source: {sources[0]}") if len(sources) == 1 and sources[0] else "",
        sources=soft(f"Sources: {'; '.join(f'{note} {source}' for source, note in notes.items())}") if notes else "",
        note=fill('<p class="soft">$note</p>', note=SCORE_NOTE) if judgment.isWeighted else "",
        rules=table(rules, isProse=True),
    )
