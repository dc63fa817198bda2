"""Which tables there are of results, with the columns and values of each, and how notebooks show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ..base.errors import Cause
from ..base.plain import toPlain
from ..base.texts import commaSeparated, pluralize, positionText
from ..case.comparison import Comparison, identityOf
from ..conventions.convention import OWN_CONVENTION
from ..metrics.instances import Lesion
from ..metrics.measurement import Measurement, fixDecimals, withUnit
from ..metrics.metric import AREA
from ..metrics.registry import REGISTRY, findMetric, headingOf, rowOf
from .tablemodel import Amount, Column, Table, notebookSentences, notebookTable

# Keys of the definitions that an overview of many structures shows if measured, in their order: first what clinicians
# look for, as a narrow panel shows only three or four columns, then the others in the order of the registry.
FIRST = ("DSC", "HD{percentile}", "NSD_{tolerance}mm", "HD")
OVERVIEW = (*FIRST, *(definition.key for definition in REGISTRY if definition.isMain and definition.key not in FIRST))
# Short names of slice columns that are not in the registry, whose definitions have their own.
HEADINGS_OF_SLICES = {"AreaReference": "Area ref.", "AreaTest": "Area test", "AreaDifference": "Area diff."}

SHIFTED = "Standard deviation over shifts of the voxel grid by fractions of a voxel"
MEASUREMENT = (
    Column("Measurement", description="Short name of the measurement", isText=True),
    Column("Title", description="Full name of the measurement", isText=True),
    Column("Value", description="Value in the unit of its row"),
    Column("Unit", description="Unit of the values, empty for a ratio", isText=True),
    Column(
        "ReferenceToTest", "Reference to test", "", "The same, measured only from the reference's surface to the test's"
    ),
    Column(
        "TestToReference", "Test to reference", "", "The same, measured only from the test's surface to the reference's"
    ),
    Column("Status", description="ok, infinite or undefined", isText=True),
    Column("Reason", description="Why a value is not a finite number", isText=True),
)
# Columns with what the voxel grid contributes: fields of a Spread. They exist only if that was computed.
SPREAD = (
    Column("GridSD", "Grid: SD", "", SHIFTED),
    Column("GridRange", "95 % range", description="The value ± 1.96 of these standard deviations", isText=True),
    Column("GridMean", "Mean", "", "Mean over the shifts, if it lies more than one of them from the value"),
)
OF_GRID = (
    ("gridMean", "mean over shifts of the grid", "Mean over shifts of the voxel grid, if more than one SD off"),
    ("gridSD", "SD over shifts of the grid", SHIFTED),
    ("gridLow", "low for shifts of the grid", "Value less 1.96 standard deviations over shifts of the voxel grid"),
    ("gridHigh", "high for shifts of the grid", "Value plus 1.96 standard deviations over shifts of the voxel grid"),
)
# Columns of files that say which pair a row is about.
IDENTITY = (
    Column("Reference", description="Name of the reference structure", isText=True),
    Column("Test", description="Name of the test structure", isText=True),
    Column("ReferenceFile", description="File of the reference structure, or in Slicer its segmentation", isText=True),
    Column("TestFile", description="File of the test structure, or in Slicer its segmentation", isText=True),
)
CONVENTION = Column(
    "Convention", description="Tool whose convention the boundary and overlap measurements follow", isText=True
)
# What happened to a lesion, in words; those of the test are listed if the reference has nothing there.
HAPPENED = "missed, invented, mixed, merged, split or found; the reference's lesions, and the invented ones"
LESION_COLUMNS = (
    Column("Number", "Lesion", description="Number of the lesion in its structure, from 1"),
    Column("Side", "Of", description="Structure that has the lesion: reference or test", isText=True),
    Column("Event", "What happened", "", HAPPENED, isText=True),
    Column("VolumeReference", "Reference", "mm3", "Volume of the lesion in the reference, of contours its area"),
    Column("VolumeTest", "Test", "mm3", "Volume of the test's lesions that overlap it, or of the invented one"),
    Column("DSC", description="Dice of the lesion and those of the test that overlap it"),
    Column("IoU", description="Intersection over union of the same"),
    Column("HD95", unit="mm", description="95th percentile Hausdorff distance of the same"),
    Column("MASD", unit="mm", description="Mean average surface distance of the same"),
    Column("CenterDistance", "Centers", "mm", "Distance between the centers of the same"),
    Column("Clearance", None, "mm", "Distance of a missed or invented lesion from the other structure's nearest"),
)
RUN_COLUMNS = (
    Column("Kind", "", "", "gap, where the test lacks the center line, or spur, where only it has one", isText=True),
    Column("Length", unit="mm", description="Length along the center line"),
    Column("Voxels", description="Number of voxels of the center line"),
)
POSITION = tuple(
    Column(axis, unit="mm", description=f"LPS {axis.lower()} of its center, or of its middle") for axis in "XYZ"
)
# The files of lists, with the columns of each.
LESIONS_FILE, GAPS_FILE = "lesions.csv", "gaps.csv"
LISTED = {LESIONS_FILE: (*LESION_COLUMNS, *POSITION), GAPS_FILE: (*RUN_COLUMNS, *POSITION)}
FAMILY_OF_LIST = {LESIONS_FILE: "instances", GAPS_FILE: "topology"}
# Ends of keys of the dose family, with the column of a table that they are in: what only the test has is the test's.
OF_DOSE = {"Reference": "reference", "Test": "test", "Difference": "difference", "Under": "reference", "Over": "test"}
# Short headings of MEASUREMENT, where they have little room.
SHORT = {"Value": "value", "ReferenceToTest": "ref. to test", "TestToReference": "test to ref."}


def measurementsTable(measurements: Iterable[Measurement]) -> Table:
    """Return all that is known of measurements, one per row, under MEASUREMENT, and SPREAD if it was computed."""
    measurements, rows = list(measurements), []
    isSpread = any(one.grid for one in measurements)
    for one in measurements:
        directed = (one.referenceToTest, one.testToReference)
        amounts = (None if value is None else Amount(value, one.unit) for value in directed)
        row: list[Any] = [one.key, one.title, one, one.unit, *amounts, one.status, one.reason or ""]
        if one.grid is not None:
            mean, sd, low, high, _ = one.grid
            far = None if mean is None else Amount(mean, one.unit)
            row += [Amount(sd, one.unit), inOneUnit(low, " to ", high, one.unit), far]
        elif isSpread:
            row += [None, "", None]
        rows.append(row)
    return Table((*MEASUREMENT, *SPREAD) if isSpread else MEASUREMENT, rows)


def inOneUnit(first: float, between: str, second: float, unit: str) -> str:
    """Return two numbers with what is between them, and their unit once if they are shown in the same."""
    one, other = withUnit(first, unit), withUnit(second, unit)
    shown = other.rpartition(" ")[2] if unit else ""
    if shown and not one.endswith(f" {shown}"):  # a volume in mm3 and one in cm3
        one, other, shown = fixDecimals(first, unit), f"{fixDecimals(second, unit)} {unit}", ""
    return f"{one.removesuffix(f' {shown}') if shown else one}{between}{other}"


def spreadOf(table: Table) -> dict[str, str]:
    """Return the columns SPREAD of a measurementsTable() with their short headings, {} if it has none."""
    isSpread = len(table.columns) > len(MEASUREMENT)
    return {"GridSD": "grid: SD", "GridRange": "95 % range", "GridMean": "mean"} if isSpread else {}


def pairsTable(records: Sequence[Comparison]) -> Table:
    """Return the measurements of many pairs, one pair per row.

    The columns are IDENTITY, the convention if it is not our own, and one for every key that occurs, in the order of
    the registry. What a pair does not have is None.
    """
    isStated = any(record.convention != OWN_CONVENTION for record in records)
    found: dict[str, Column] = {}
    for record in records:
        for key, measurement in record.measurements.items():
            found.setdefault(key, columnFor(measurement))
    columns = [*IDENTITY, *[CONVENTION] * isStated, *found.values()]
    rows = [
        [*identityOf(record.sides), *[record.convention] * isStated, *map(record.measurements.get, found)]
        for record in records
    ]
    for key, column in found.items():
        grids = [None if (one := record.measurements.get(key)) is None else one.grid for record in records]
        if any(grids):
            for name, heading, description in OF_GRID:
                columns.append(Column(f"{key}_{name}", f"{column.heading}, {heading}", column.unit, description))
                for row, grid in zip(rows, grids, strict=True):
                    row.append(None if grid is None else getattr(grid, name.removeprefix("grid").lower()))
    return Table(columns, rows)


def columnFor(measurement: Measurement) -> Column:
    """Return the column of a table whose rows are pairs for measurements of the same key."""
    return Column(measurement.key, measurement.title, measurement.unit, measurement.description)


def overviewTable(named: Iterable[tuple[str, Mapping[str, Any]]], keys: Iterable[str]) -> Table:
    """Return some measurements of many pairs with short headings, one pair per row.

    named: the name and the measurements of each pair. What a pair does not have is None.
    """
    keys = list(keys)
    columns = [Column("Structure", isText=True), *(Column(key, heading(key)) for key in keys)]
    return Table(columns, [[name, *map(found.get, keys)] for name, found in named])


def listedRows(file: str, pair: Mapping) -> list[list[Any]] | None:
    """Return the rows of a file of LISTED about one pair, None if it was not measured. pair: as plain values."""
    if file == LESIONS_FILE:
        lesions = pair.get("lesions")
        return None if lesions is None else [[*list(one.values())[:-1], *one["position"]] for one in lesions]
    if "gaps" not in pair:
        return None
    return [
        [kind.removesuffix("s"), run["length"], run["voxels"], *run["position"]]
        for kind in ("gaps", "spurs")
        for run in pair[kind]
    ]


def lesionsTable(record: Comparison) -> Table | None:
    """Return what happened to each lesion, those that need a look first; None without any."""
    if not record.lesions:
        return None
    area = {"mm3": AREA} if record.dimension == 2 else {}
    shown = [column._replace(unit=area.get(column.unit, column.unit)) for column in LESION_COLUMNS]
    rows = []
    for lesion in record.lesions:
        *values, position = toPlain(lesion).values()
        # what one side does not have is no volume of 0
        told = (None if value == 0 and n in (3, 4) else value for n, value in enumerate(values))
        rows.append([*told, positionText(position)])
    table = Table([*shown, Column("Position", "Position (mm)")], rows)
    return table.only({column.key: column.heading for column in table.columns if column.key != "IoU"})


def runsTable(record: Comparison) -> Table | None:
    """Return the gaps and spurs of center lines, longest first; None without any."""
    runs = [("gap", run) for run in record.gaps or ()] + [("spur", run) for run in record.spurs or ()]
    rows = [[kind, run.length, positionText(run.position)] for kind, run in runs]
    return Table([RUN_COLUMNS[0], RUN_COLUMNS[1], Column("Position", "Position (mm)")], rows) if rows else None


def lesionsSentence(lesions: Sequence[Lesion]) -> str:
    """Return in a sentence what happened to lesions."""
    events = Counter(("found", "missed", *(lesion.event for lesion in lesions)))
    events.subtract(("found", "missed"))  # which are told in any case, first
    invented = events.pop("invented", 0)
    more = f"; the test has {invented} more, {'which are' if invented > 1 else 'which is'} invented"
    told = commaSeparated(f"{count} {event}" for event, count in events.items())
    return f"{pluralize(events.total(), 'lesion')} in the reference: {told}{more if invented else ''}."


def sidesTable(record: Comparison) -> Table | None:
    """Return the measurements that exist for every side of the patient, one column per side; None without any."""
    kinds = bySides(record)
    if not kinds:
        return None
    sides = list(dict.fromkeys(side for values in kinds.values() for side in values))
    return Table.ofRows(["Toward", *sides], [[kind, *map(values.get, sides)] for kind, values in kinds.items()])


def doseTable(record: Comparison) -> Table | None:
    """Return the dose of the reference, of the test, and the difference, one number per row; None without any."""
    rows: dict[str, dict[str, Measurement]] = {}
    for key, measurement in record.measurements.items():
        if isOfDose(key):
            end = next(end for end in OF_DOSE if key.endswith(end))
            rows.setdefault(rowOf(key), {})[OF_DOSE[end]] = measurement
    heads = [column for column in dict.fromkeys(OF_DOSE.values()) if any(column in row for row in rows.values())]
    return Table.ofRows(["Dose", *heads], [[n, *map(row.get, heads)] for n, row in rows.items()]) if rows else None


def tablesApart(record: Comparison) -> list[Table]:
    """Return the tables of measurements that are not in the table of all others; see isApart()."""
    return [table for table in (sidesTable(record), doseTable(record)) if table is not None]


def isApart(key: str) -> bool:
    """Return whether a measurement is shown in a table of its own: for a side of the patient, or of the dose."""
    return bool(sideOf(key)) or isOfDose(key)


def isOfDose(key: str) -> bool:
    """Return whether a measurement is of the dose family."""
    found = findMetric(key)
    return found is not None and found.metric.family == "dose"


def pairHtml(pair: Comparison) -> str:
    """Return one pair as HTML: the outcome in a sentence, the findings, and a table of all measurements."""
    found = [one for one in pair.measurements.values() if not isApart(one.key)]
    remark = {"Reason": "remark"} if any(one.reason for one in found) else {}
    everything = measurementsTable(found)
    main = everything.only({"Measurement": "", "Title": "", **SHORT, **spreadOf(everything), **remark})
    parts = (notebookSentences([pair.summary, *pair.findings]), notebookTable(main))
    return "\n".join((*parts, *(map(notebookTable, tablesApart(pair)))))


def overviewHtml(named: Iterable[tuple[str, Mapping[str, Measurement]]], remarks: Iterable[str]) -> str:
    """Return the main measurements of pairs as HTML, one per line, with remarks. named: names with measurements."""
    named = list(named)
    keys = overviewKeys(dict.fromkeys(key for _, measurements in named for key in measurements))
    return f"{notebookTable(overviewTable(named, keys))}\n{notebookSentences(remarks)}"


def labelsTable(measurements: Mapping[str, Measurement], remark: str = "") -> Table:
    """Return the overlap of all labels, one measurement per row. remark: heading of the reasons, "" for none."""
    reasons = {"Reason": remark} if remark else {}
    headings = {"Measurement": "", "Title": "All labels together", "Value": "value", **reasons}
    return measurementsTable(measurements.values()).only(headings)


def bySides(record: Comparison) -> dict[str, dict[str, Measurement]]:
    """Return the measurements that exist for every side of the patient: title without side -> side -> measurement.

    The two sides that no contour in the plane can face are omitted.
    """
    kinds: dict[str, dict[str, Measurement]] = {}
    for key, measurement in record.measurements.items():
        if (side := sideOf(key)) and not isAcrossPlane(record, measurement):
            kinds.setdefault(measurement.title.removesuffix(f", {side} side"), {})[side] = measurement
    return kinds


def isAcrossPlane(record: Comparison, measurement: Measurement) -> bool:
    """Return whether a measurement is for a side of the patient that no contour in the plane of a pair can face."""
    return record.dimension == 2 and measurement.cause == Cause.NO_BOUNDARY


def sideOf(key: str) -> str:
    """Return the side of the patient that a measurement is for, "" if it is for none."""
    found = findMetric(key)
    return found.metric.side if found else ""


@cache
def definitionOf(key: str) -> str:
    """Return the key of the definition of a measurement, as in OVERVIEW; "" if there is none."""
    found = findMetric(key)
    return found.metric.key if found else ""


def overviewKeys(keys: Iterable[str]) -> list[str]:
    """Return those keys of measurements that an overview of many structures shows, in its order."""
    main = [key for key in keys if definitionOf(key) in OVERVIEW]
    return sorted(main, key=lambda key: OVERVIEW.index(definitionOf(key)))


@cache
def heading(key: str) -> str:
    """Return a short name of a measurement as the heading of a column or row: NSD_2mm is "NSD 2 mm"."""
    found = findMetric(key)
    return headingOf(key, found.metric.heading.format(**found.words) if found else HEADINGS_OF_SLICES.get(key, ""))
