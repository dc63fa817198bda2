"""Results as plain text for the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from ..base.texts import commaSeparated, oneLine, pluralize
from ..case.comparison import Comparison
from ..case.gridspread import NOTE as SPREAD_NOTE
from ..case.gridspread import SHIFTS
from ..case.multilabel import MultiLabel
from ..metrics.findings import asFinding, splitAlarms
from ..metrics.measurement import Measurement, typeset
from ..metrics.slices import columnOf
from . import repeated, resulttables
from .resulttables import SHORT, heading, inOneUnit, isAcrossPlane, isApart, overviewKeys
from .tablemodel import Column, Table

# The families that the measurements of one pair begin with, so that DSC is seen without scrolling.
FIRST_FAMILIES = ("boundary", "overlap")
LONGEST_NAME = 28
LONGEST_TITLE = 48
# Most lesions, or gaps and spurs, of a pair.
MOST_LISTED = 20
# Between the columns of a table.
GAP = "  "


def pairTable(record: Comparison, width: int | None = None) -> str:
    """Return all measurements of one pair, one per line, with the values of each direction.

    width: of a line, as for align(); titles are omitted if there is no room for them.
    """
    found = [one for key, one in record.measurements.items() if not isApart(key)]
    everything = resulttables.measurementsTable(found)
    name, spread = shortenName(record.name, LONGEST_TITLE), resulttables.spreadOf(everything)
    table = everything.only({"Measurement": "", "Title": name, **SHORT, **spread})
    if len(blocks(table, width)) > 1:
        table = everything.only({"Measurement": name, **SHORT, **spread})
    apart = resulttables.tablesApart(record)
    main = align(table, width) if found or not (record.slices or apart) else ""
    if not found and record.slices:
        main = slicesTable(record, width)
    lists = (_list(resulttables.lesionsTable(record), width), _list(resulttables.runsTable(record), width))
    parts = (main, SPREAD_NOTE if spread else "", *(align(one, width) for one in apart), *lists)
    return "\n\n".join(filter(None, (*parts, reasons([record]), evaluatedGrid([record]))))


def _list(table: Table | None, width: int | None) -> str:
    """Return the first rows of a list of lesions, gaps or spurs, and how many more there are; "" without any."""
    if table is None:
        return ""
    more = len(table.rows) - MOST_LISTED
    shown = align(Table(table.columns, table.rows[:MOST_LISTED]), width)
    return f"{shown}\n... and {more} more" if more > 0 else shown


def slicesTable(record: Comparison, width: int | None = None) -> str:
    """Return the per-slice profile, one slice per line. width: as for align()."""
    units = {key: columnOf(key)[1] for key in record.slices[0].values}
    heads = {key: f"{heading(key)} ({unit})" if unit else heading(key) for key, unit in units.items()}
    # if columns are wrapped, the slice number leads every line
    columns = [Column("Slice", isText=width is not None), *(Column(key, head, digits=2) for key, head in heads.items())]
    return align(Table(columns, [[row.index, *row.values.values()] for row in record.slices]), width)


def reasons(records: Sequence[Comparison], keys: Iterable[str] | None = None) -> str:
    """Return why values are not finite, one reason per line, except those in findings. keys: None for all."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        told = {"", *(asFinding(finding).reason for finding in record.findings)}
        for key in record.measurements if keys is None else keys:
            measurement = record.measurements[key]
            isTold = measurement.reason in told
            if measurement.status != "ok" and not (isTold or isAcrossPlane(record, measurement)):
                found.setdefault(f"{measurement.status}: {measurement.reason}.", {})[key] = None
    return "\n".join(oneLine(f"{commaSeparated(own)} {why}") for why, own in found.items())


def evaluatedGrid(records: Sequence[Comparison]) -> str:
    """Return a line that describes the grid on which true negatives were counted, "" if none were."""
    grids = [record.grid["evaluated"] for record in records if record.grid and record.grid.get("evaluated")]
    if not grids:
        return ""
    places = " or ".join(dict.fromkeys(grid["choice"] for grid in grids))
    sizes = dict.fromkeys(f"{' x '.join(map(str, one['size']))}, {pluralize(one['voxels'], 'voxel')}" for one in grids)
    numbers = [grid["voxels"] for grid in grids]
    span = f"{len(sizes)} different sizes, {min(numbers)} to {max(numbers)} voxels"
    size = next(iter(sizes)) if len(sizes) == 1 else span
    return f"True negatives are counted in {places}: {size}."


def byFamily(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Return measurements family by family, FIRST_FAMILIES first; within a family the order is kept."""
    measurements = list(measurements)
    families = list(dict.fromkeys((*FIRST_FAMILIES, *(measurement.family for measurement in measurements))))
    return sorted(measurements, key=lambda measurement: families.index(measurement.family))


def withCommonUnit(heading: str, found: Sequence[Measurement | None]) -> tuple[str, list[str]]:
    """Return the heading of a column of measurements and their typeset texts, "" for None.

    The unit of all numbers is in the heading instead; numbers that are not finite have none.
    """
    texts = list(map(typeset, Column(heading).texts(found)))
    units = {
        text.rpartition(" ")[2]
        for text, measurement in zip(texts, found, strict=True)
        if measurement is not None and measurement.unit and math.isfinite(measurement.value)
    }
    if len(units) != 1:
        return heading, texts
    (unit,) = units
    return f"{heading} ({unit})", [text.removesuffix(f" {unit}") for text in texts]


def multiLabelTable(multiLabel: MultiLabel) -> str:
    """Return the overlap of all labels, one measurement per line, with the reason where there is no value."""
    reasons = dict.fromkeys(measurement.reason for measurement in multiLabel.values() if measurement.reason)
    table = align(resulttables.labelsTable(multiLabel.measurements))
    return "\n".join([table, *(f"Undefined: {oneLine(reason)}." for reason in reasons)])


def overviewTable(records: Sequence[Comparison], width: int | None = None) -> str:
    """Return the main measurements that all of many pairs have, one pair per line. width: as for align()."""
    common = set.intersection(*(set(record.measurements) for record in records))
    keys = overviewKeys(key for key in records[0].measurements if key in common)
    named = [(shortenName(record.name, LONGEST_NAME), record.measurements) for record in records]
    table = resulttables.overviewTable(named, keys)
    parts = (align(table, width), _spreadTable(records, keys, width), reasons(records, keys), evaluatedGrid(records))
    return "\n\n".join(filter(None, parts))


def _spreadTable(records: Sequence[Comparison], keys: Sequence[str], width: int | None) -> str:
    """Return the measurements with their SD over shifts of the grid, one pair per line, "" if none were computed."""
    named = []
    for record in records:
        found = {key: record.measurements[key] for key in keys}
        texts = {n: inOneUnit(one.value, " ± ", one.grid.sd, one.unit) for n, one in found.items() if one.grid}
        named.append((shortenName(record.name, LONGEST_NAME), texts))
    if not any(texts for _, texts in named):
        return ""
    title = f"With the standard deviation when the voxel grid is shifted by fractions of a voxel ({SHIFTS} times):"
    return f"{title}\n\n{align(resulttables.overviewTable(named, keys), width)}\n\n{SPREAD_NOTE}"


def remarks(records: Sequence[Comparison], ofCase: Iterable[str] = ()) -> Iterable[str]:
    """Yield the findings of a case and of all its pairs, one line each; shared ones appear only once.

    Alarms come first, then the other findings; those of the case lead each. ofCase: the findings of the case.
    """
    names = [record.name for record in records]
    alarms, others = splitAlarms(ofCase)
    lines: tuple[list[str], list[str]] = [*alarms], [*others]
    for text, members in repeated.orderFindings([record.findings for record in records]):
        line = f"{repeated.phraseFor(members, names)}: {text}" if len(records) > 1 else text
        lines[0 if asFinding(text).isAlarm else 1].append(line)
    yield from map(oneLine, (*lines[0], *lines[1]))


def shorten(name: str, length: int) -> str:
    """Return a name, cut short to fit into a column."""
    return oneLine(name if len(name) <= length else f"{name[: length - 1]}…")


def shortenName(name: str, length: int) -> str:
    """Return a pair's name, cut short for a column; two are both shown, with their ends, which often say the side."""
    first, between, second = name.partition(" / ")
    if len(name) <= length or not between:
        return shorten(name, length)
    room = length - len(between)
    # room that one name does not need goes to the other
    longest = [max(room // 2, room - len(other)) for other in (second, first)]
    halves = []
    for half, most in zip((first, second), longest, strict=True):
        end = (most - 1) // 2
        halves.append(half if len(half) <= most else f"{half[: most - 1 - end]}…{half[-end:]}")
    return oneLine(between.join(halves))


def align(table: Table, width: int | None = None, paint: Callable[[int, int, str], str] | None = None) -> str:
    """Return a table as text, with a line below the heading.

    width: characters of a line. Columns that do not fit are put in another block below, which repeats the columns of
    text that the table begins with. None does not limit the lines. paint: colors a cell, given its row, from 0, its
    column, and its text.
    """
    rows, parts = table.texts(), []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for block in blocks(table, width):
        lines = []
        for number, row in enumerate(rows, -1):
            cells = [row[n].ljust(widths[n]) if table.columns[n].isText else row[n].rjust(widths[n]) for n in block]
            if paint is not None and number >= 0:
                cells = [paint(number, n, cell) for n, cell in zip(block, cells, strict=True)]
            lines.append(GAP.join(cells).rstrip())
        lines.insert(1, GAP.join("-" * widths[n] for n in block))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def blocks(table: Table, width: int | None) -> list[list[int]]:
    """Return the numbers of the columns in each block, all of which begin with the same ones; see align()."""
    rows = table.texts()
    widths = [len(GAP) + max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    left = next((n for n, column in enumerate(table.columns) if not column.isText), len(widths))
    found = [list(range(left))]
    for column in range(left, len(widths)):
        isFull = width is not None and sum(widths[n] for n in (*found[-1], column)) - len(GAP) > width
        if isFull and len(found[-1]) > left:
            found.append(list(range(left)))
        found[-1].append(column)
    return found
