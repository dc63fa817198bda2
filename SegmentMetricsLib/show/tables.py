"""Results as tables: plain text for the terminal, HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape

from ..base.errors import Cause
from ..base.texts import commaSeparated, counted, oneLine
from ..case.findings import repeated
from ..case.multilabel import MultiLabel
from ..case.records import Record
from ..comparison.findings import asFinding
from ..comparison.measurements import Measurement, rounded, typeset, withUnit
from ..families.registry import REGISTRY, findDefinition
from ..families.slices.formulas import columnOf

# Keys of the definitions that an overview of many structures shows if measured, in their order: first what clinicians
# look for, as a narrow panel shows only three or four columns, then the others in the order of the registry.
FIRST = ("DSC", "HD{percentile}", "NSD_{tolerance}mm", "HD")
OVERVIEW = (*FIRST, *(definition.key for definition in REGISTRY if definition.isMain and definition.key not in FIRST))
# The families that the measurements of one pair begin with, so that DSC is seen without scrolling.
FIRST_FAMILIES = ("boundary", "overlap")
# Short names of slice columns that are not in the registry, whose definitions have their own.
HEADINGS_OF_SLICES = {"AreaReference": "Area ref.", "AreaTest": "Area test", "AreaDifference": "Area diff."}
LONGEST_NAME = 28
LONGEST_TITLE = 48
# Between the columns of a table.
GAP = "  "


def pairTable(record: Record, width: int | None = None) -> str:
    """Return all measurements of one pair, one per line, with the values of each direction.

    width: of a line, as for aligned(); titles are omitted if there is no room for them.
    """
    rows = [["", shortenedName(record.name, LONGEST_TITLE), "value", "ref. to test", "test to ref."]]
    for key, measurement in record.measurements.items():
        if not sideOf(key):
            directed = (measurement.referenceToTest, measurement.testToReference)
            rows.append([key, measurement.title, measurement.text(), *(number(v, measurement) for v in directed)])
    if len(blocks(rows, 2, width)) > 1:
        rows = [[rows[0][1], *rows[0][2:]], *([key, *values] for key, _, *values in rows[1:])]
    left = len(rows[0]) - 3
    main = aligned(rows, left, width) if len(rows) > 1 or not record.slices else slicesTable(record, width)
    parts = (main, sidesTable(record, width), reasons([record]), evaluatedGrid([record]))
    return "\n\n".join(filter(None, parts))


def pairHtml(pair) -> str:
    """Return one pair as HTML: the outcome in a sentence, the findings, and a table of all measurements.

    pair: a Comparison or a Record.
    """
    rows = [["", "", "value", "ref. to test", "test to ref.", "remark"]]
    for key, measurement in pair.measurements.items():
        if not sideOf(key):
            directed = (measurement.referenceToTest, measurement.testToReference)
            numbers = (measurement.text(), *(number(value, measurement) for value in directed))
            rows.append([key, measurement.title, *numbers, measurement.reason])
    if not any(row[-1] for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    sides = sideRows(pair)
    return "\n".join([_sentencesHtml([pair.summary, *pair.findings]), _html(rows, 2), _html(sides, 1) if sides else ""])


def overviewHtml(named: Iterable[tuple[str, Mapping[str, Measurement]]], remarks: Iterable[str]) -> str:
    """Return the main measurements of many pairs as HTML, one pair per line, with remarks below.

    named: the name and the measurements of each pair. A cell is empty where a pair does not have a measurement.
    """
    named = list(named)
    keys = overviewKeys(dict.fromkeys(key for _, measurements in named for key in measurements))
    rows = [["Structure", *(heading(key) for key in keys)]]
    rows += [[name, *(found[key].text() if key in found else "" for key in keys)] for name, found in named]
    return f"{_html(rows, 1)}\n{_sentencesHtml(remarks)}"


def multiLabelHtml(multiLabel: MultiLabel) -> str:
    """Return the overlap of all labels as HTML."""
    rows = [["", "All labels together", "value", "remark"]]
    return _html([*rows, *([key, m.title, m.text(), m.reason] for key, m in multiLabel.items())], 2)


def _html(rows: Sequence[Sequence[str]], left: int) -> str:
    """Return rows, heading first, as an HTML table. left: number of columns that are flush left, as is the text."""
    lines = []
    for tag, row in zip(("th", *["td"] * (len(rows) - 1)), rows, strict=True):
        sides = ("left" if n < left or rows[0][n] == "remark" else "right" for n in range(len(row)))
        cells = zip(sides, row, strict=True)
        lines.append("".join(f'<{tag} style="text-align: {s}">{escape(typeset(c))}</{tag}>' for s, c in cells))
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _sentencesHtml(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{escape(typeset(sentence))}</p>" for sentence in sentences)


def slicesTable(record: Record, width: int | None = None) -> str:
    """Return the per-slice profile, one slice per line. width: as for aligned()."""
    units = {key: f" ({unit})" if (unit := columnOf(key)[1]) else "" for key in record.slices[0].values}
    rows = [["Slice", *(f"{heading(key)}{unit}" for key, unit in units.items())]]
    for row in record.slices:
        rows.append([str(row.index), *("inf" if math.isinf(v) else rounded(v, 2) for v in row.values.values())])
    # if columns are wrapped, the slice number leads every line
    return aligned(rows, 0 if width is None else 1, width)


def reasons(records: Sequence[Record], keys: Iterable[str] | None = None) -> str:
    """Return the reasons for values that are not finite, one line each, except those in findings; "" without any.

    keys: of the measurements to consider, all when None.
    """
    found: dict[str, dict[str, None]] = {}
    for record in records:
        told = {"", *(asFinding(finding).reason for finding in record.findings)}
        for key in record.measurements if keys is None else keys:
            measurement = record.measurements[key]
            isTold = measurement.reason in told
            if measurement.status != "ok" and not (isTold or isAcrossPlane(record, measurement)):
                found.setdefault(f"{measurement.status}: {measurement.reason}.", {})[key] = None
    return "\n".join(oneLine(f"{commaSeparated(own)} {why}") for why, own in found.items())


def evaluatedGrid(records: Sequence[Record]) -> str:
    """Return a line that describes the grid on which true negatives were counted, "" if none were."""
    grids = [record.grid["evaluated"] for record in records if record.grid and record.grid.get("evaluated")]
    if not grids:
        return ""
    places = " or ".join(dict.fromkeys(grid["choice"] for grid in grids))
    sizes = dict.fromkeys(f"{' x '.join(map(str, grid['size']))}, {counted(grid['voxels'], 'voxel')}" for grid in grids)
    numbers = [grid["voxels"] for grid in grids]
    span = f"{len(sizes)} different sizes, {min(numbers)} to {max(numbers)} voxels"
    size = next(iter(sizes)) if len(sizes) == 1 else span
    return f"True negatives are counted in {places}: {size}."


def sidesTable(record: Record, width: int | None = None) -> str:
    """Return the measurements that exist for every side of the patient, one column per side; "" without any.

    width: as for aligned().
    """
    rows = sideRows(record)
    return aligned(rows, 1, width) if rows else ""


def sideRows(record: Record) -> list[list[str]]:
    """Return the rows, heading first, of the measurements that exist for every side of the patient; [] without any."""
    kinds = bySides(record)
    if not kinds:
        return []
    sides = list(dict.fromkeys(side for values in kinds.values() for side in values))
    texts = {kind: {side: m.text() for side, m in values.items()} for kind, values in kinds.items()}
    return [["Toward", *sides], *([kind, *(values.get(side, "") for side in sides)] for kind, values in texts.items())]


def bySides(record: Record) -> dict[str, dict[str, Measurement]]:
    """Return the measurements that exist for every side of the patient: title without side -> side -> measurement.

    The two sides that no contour in the plane can face are omitted.
    """
    kinds: dict[str, dict[str, Measurement]] = {}
    for key, measurement in record.measurements.items():
        if (side := sideOf(key)) and not isAcrossPlane(record, measurement):
            kinds.setdefault(measurement.title.removesuffix(f", {side} side"), {})[side] = measurement
    return kinds


def isAcrossPlane(record: Record, measurement: Measurement) -> bool:
    """Return whether a measurement is for a side of the patient that no contour in the plane of a pair can face."""
    return record.dimension == 2 and measurement.cause == Cause.NO_BOUNDARY


def sideOf(key: str) -> str:
    """Return the side of the patient that a measurement is for, "" if it is for none."""
    found = findDefinition(key)
    return found.definition.side if found else ""


@cache
def definitionOf(key: str) -> str:
    """Return the key of the definition of a measurement, as in OVERVIEW; "" if there is none."""
    found = findDefinition(key)
    return found.definition.key if found else ""


def byFamily(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Return measurements family by family, FIRST_FAMILIES first; within a family the order is kept."""
    measurements = list(measurements)
    families = list(dict.fromkeys((*FIRST_FAMILIES, *(measurement.family for measurement in measurements))))
    return sorted(measurements, key=lambda measurement: families.index(measurement.family))


def withCommonUnit(heading: str, found: Sequence[Measurement | None]) -> tuple[str, list[str]]:
    """Return the heading of a column of measurements and their typeset texts, "" for None.

    A unit that all numbers have is in the heading instead; small and large volumes have different ones, and numbers
    that are not finite have none.
    """
    texts = ["" if measurement is None else typeset(measurement.text()) for measurement in found]
    units = {
        text.rpartition(" ")[2]
        for text, measurement in zip(texts, found, strict=True)
        if measurement is not None and measurement.unit and math.isfinite(measurement.value)
    }
    if len(units) != 1:
        return heading, texts
    (unit,) = units
    return f"{heading} ({unit})", [text.removesuffix(f" {unit}") for text in texts]


def overviewKeys(keys: Iterable[str]) -> list[str]:
    """Return those keys of measurements that an overview of many structures shows, in its order."""
    main = [key for key in keys if definitionOf(key) in OVERVIEW]
    return sorted(main, key=lambda key: OVERVIEW.index(definitionOf(key)))


def multiLabelTable(multiLabel: MultiLabel) -> str:
    """Return the overlap of all labels, one measurement per line, with the reason where there is no value."""
    rows = [["", "All labels together", "value"]]
    rows += [[key, measurement.title, measurement.text()] for key, measurement in multiLabel.items()]
    reasons = dict.fromkeys(measurement.reason for measurement in multiLabel.values() if measurement.reason)
    return "\n".join([aligned(rows, left=2), *(f"Undefined: {oneLine(reason)}." for reason in reasons)])


def overviewTable(records: Sequence[Record], width: int | None = None) -> str:
    """Return the main measurements of many pairs, one pair per line; those that not all pairs have are omitted.

    width: as for aligned().
    """
    common = set.intersection(*(set(record.measurements) for record in records))
    keys = overviewKeys(key for key in records[0].measurements if key in common)
    rows = [["Structure", *(heading(key) for key in keys)]]
    for record in records:
        rows.append([shortenedName(record.name, LONGEST_NAME), *(record.measurements[key].text() for key in keys)])
    return "\n\n".join(filter(None, (aligned(rows, 1, width), reasons(records, keys), evaluatedGrid(records))))


@cache
def heading(key: str) -> str:
    """Return a short name of a measurement as the heading of a column or row: NSD_2mm is "NSD 2 mm"."""
    name, _, parameter = key.partition("_")
    found = findDefinition(key)
    short = found.definition.heading if found else HEADINGS_OF_SLICES.get(name, "")
    return f"{short or name} {parameter.replace('mm', ' mm')}".strip()


def remarks(records: Sequence[Record]) -> Iterable[str]:
    """Yield the findings of all pairs, one line each, alarms first; shared ones appear only once."""
    names = [record.name for record in records]
    for text, members in repeated.inOrder([record.findings for record in records]):
        yield oneLine(f"{repeated.whom(members, names)}: {text}" if len(records) > 1 else text)


def shortened(name: str, length: int) -> str:
    """Return a name, cut short to fit into a column."""
    return oneLine(name if len(name) <= length else f"{name[: length - 1]}…")


def shortenedName(name: str, length: int) -> str:
    """Return the name of a pair, cut short to fit into a column.

    Two names are both shown, and with their ends, which often give the side.
    """
    first, between, second = name.partition(" / ")
    if len(name) <= length or not between:
        return shortened(name, length)
    room = length - len(between)
    # room that one name does not need goes to the other
    longest = [max(room // 2, room - len(other)) for other in (second, first)]
    halves = (_withEnds(half, most) for half, most in zip((first, second), longest, strict=True))
    return oneLine(between.join(halves))


def _withEnds(name: str, length: int) -> str:
    end = (length - 1) // 2
    return name if len(name) <= length else f"{name[: length - 1 - end]}…{name[-end:]}"


def number(value: float | None, measurement: Measurement) -> str:
    """Return a directed value formatted like its measurement, "" for None."""
    if value is None:
        return ""
    return withUnit(value, measurement.unit)


def aligned(rows: Sequence[Sequence[str]], left: int, width: int | None = None) -> str:
    """Return rows as text, with a line below the heading. left: number of columns flush left; the others are right.

    width: characters of a line. Columns that do not fit are put in another block below, which repeats the left ones.
    None does not limit the lines.
    """
    return "\n\n".join(
        _alignedBlock([[row[n] for n in block] for row in rows], left) for block in blocks(rows, left, width)
    )


def blocks(rows: Sequence[Sequence[str]], left: int, width: int | None) -> list[list[int]]:
    """Return the numbers of the columns in each block, all of which begin with the left ones; see aligned()."""
    widths = [len(GAP) + max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    found = [list(range(left))]
    for column in range(left, len(widths)):
        isFull = width is not None and sum(widths[n] for n in (*found[-1], column)) - len(GAP) > width
        if isFull and len(found[-1]) > left:
            found.append(list(range(left)))
        found[-1].append(column)
    return found


def _alignedBlock(rows: Sequence[Sequence[str]], left: int) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [c.ljust(w) if n < left else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append(GAP.join(cells).rstrip())
    lines.insert(1, GAP.join("-" * width for width in widths))
    return "\n".join(lines)
