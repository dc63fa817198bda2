"""Which tables there are of results, with the columns and values of each, and how notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ..base.errors import Cause
from ..comparison.measurements import Measurement
from ..families.registry import REGISTRY, findDefinition
from ..settings.names import OWN_CONVENTION
from .records import Record, identityOf
from .tablemodel import Amount, Column, Table, notebookSentences, notebookTable

if TYPE_CHECKING:
    from .comparison import Comparison

# Keys of the definitions that an overview of many structures shows if measured, in their order: first what clinicians
# look for, as a narrow panel shows only three or four columns, then the others in the order of the registry.
FIRST = ("DSC", "HD{percentile}", "NSD_{tolerance}mm", "HD")
OVERVIEW = (*FIRST, *(definition.key for definition in REGISTRY if definition.isMain and definition.key not in FIRST))
# Short names of slice columns that are not in the registry, whose definitions have their own.
HEADINGS_OF_SLICES = {"AreaReference": "Area ref.", "AreaTest": "Area test", "AreaDifference": "Area diff."}

MEASUREMENT = (
    Column("Measurement", description="Short name of the measurement", isText=True),
    Column("Title", description="Full name of the measurement", isText=True),
    Column("Value", description="Value in the unit of its row"),
    Column("Unit", description="Unit of the values, empty for a ratio", isText=True),
    Column(
        "ReferenceToTest",
        "Reference to test",
        description="The same, measured only from the reference's surface to the test's",
    ),
    Column(
        "TestToReference",
        "Test to reference",
        description="The same, measured only from the test's surface to the reference's",
    ),
    Column("Status", description="ok, infinite or undefined", isText=True),
    Column("Reason", description="Why a value is not a finite number", isText=True),
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
# Short headings of MEASUREMENT, where they have little room.
SHORT = {"Value": "value", "ReferenceToTest": "ref. to test", "TestToReference": "test to ref."}


def measurementsTable(measurements: Iterable[Measurement]) -> Table:
    """Return all that is known of measurements, one per row, with the columns MEASUREMENT."""
    rows = []
    for one in measurements:
        directed = (one.referenceToTest, one.testToReference)
        amounts = (None if value is None else Amount(value, one.unit) for value in directed)
        rows.append([one.key, one.title, one, one.unit, *amounts, one.status, one.reason or ""])
    return Table(MEASUREMENT, rows)


def pairsTable(records: Sequence[Record]) -> Table:
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
        [*identityOf(record), *[record.convention] * isStated, *map(record.measurements.get, found)]
        for record in records
    ]
    return Table(columns, rows)


def columnFor(measurement: Measurement) -> Column:
    """Return the column of a table whose rows are pairs for measurements of the same key."""
    return Column(measurement.key, measurement.title, measurement.unit, measurement.description)


def overviewTable(named: Iterable[tuple[str, Mapping[str, Measurement]]], keys: Iterable[str]) -> Table:
    """Return some measurements of many pairs with short headings, one pair per row.

    named: the name and the measurements of each pair. What a pair does not have is None.
    """
    keys = list(keys)
    columns = [Column("Structure", isText=True), *(Column(key, heading(key)) for key in keys)]
    return Table(columns, [[name, *map(found.get, keys)] for name, found in named])


def sidesTable(record: Record | Comparison) -> Table | None:
    """Return the measurements that exist for every side of the patient, one column per side; None without any."""
    kinds = bySides(record)
    if not kinds:
        return None
    sides = list(dict.fromkeys(side for values in kinds.values() for side in values))
    return Table.headed(["Toward", *sides], [[kind, *map(values.get, sides)] for kind, values in kinds.items()])


def pairHtml(pair: Record | Comparison) -> str:
    """Return one pair as HTML: the outcome in a sentence, the findings, and a table of all measurements."""
    found = [one for one in pair.measurements.values() if not sideOf(one.key)]
    remark = {"Reason": "remark"} if any(one.reason for one in found) else {}
    main = measurementsTable(found).only({"Measurement": "", "Title": "", **SHORT, **remark})
    sides = sidesTable(pair)
    parts = (notebookSentences([pair.summary, *pair.findings]), notebookTable(main))
    return "\n".join((*parts, notebookTable(sides) if sides else ""))


def overviewHtml(named: Iterable[tuple[str, Mapping[str, Measurement]]], remarks: Iterable[str]) -> str:
    """Return the main measurements of many pairs as HTML, one pair per line, with remarks below.

    named: the name and the measurements of each pair.
    """
    named = list(named)
    keys = overviewKeys(dict.fromkeys(key for _, measurements in named for key in measurements))
    return f"{notebookTable(overviewTable(named, keys))}\n{notebookSentences(remarks)}"


def labelsTable(measurements: Mapping[str, Measurement], remark: str = "") -> Table:
    """Return the overlap of all labels, one measurement per row. remark: heading of the reasons, "" for none."""
    reasons = {"Reason": remark} if remark else {}
    headings = {"Measurement": "", "Title": "All labels together", "Value": "value", **reasons}
    return measurementsTable(measurements.values()).only(headings)


def bySides(record: Record | Comparison) -> dict[str, dict[str, Measurement]]:
    """Return the measurements that exist for every side of the patient: title without side -> side -> measurement.

    The two sides that no contour in the plane can face are omitted.
    """
    kinds: dict[str, dict[str, Measurement]] = {}
    for key, measurement in record.measurements.items():
        if (side := sideOf(key)) and not isAcrossPlane(record, measurement):
            kinds.setdefault(measurement.title.removesuffix(f", {side} side"), {})[side] = measurement
    return kinds


def isAcrossPlane(record: Record | Comparison, measurement: Measurement) -> bool:
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


def overviewKeys(keys: Iterable[str]) -> list[str]:
    """Return those keys of measurements that an overview of many structures shows, in its order."""
    main = [key for key in keys if definitionOf(key) in OVERVIEW]
    return sorted(main, key=lambda key: OVERVIEW.index(definitionOf(key)))


@cache
def heading(key: str) -> str:
    """Return a short name of a measurement as the heading of a column or row: NSD_2mm is "NSD 2 mm"."""
    name, _, parameter = key.partition("_")
    found = findDefinition(key)
    short = found.definition.heading if found else HEADINGS_OF_SLICES.get(name, "")
    return f"{short or name} {parameter.replace('mm', ' mm')}".strip()
