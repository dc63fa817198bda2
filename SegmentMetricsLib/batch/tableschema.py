"""What the columns of a batch's tables mean: the content of schema.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from ..show.resulttables import GAPS_FILE, LESIONS_FILE, LISTED
from ..show.tablemodel import Column
from ..show.writing import VERDICTS_FILE, writeJson
from .statistics import BOUND, MEASUREMENT_WORDS, METHOD_WORDS, STRUCTURE_WORDS, PairedTest, Summary

SCHEMA_FILE, SCHEMA = "schema.json", "segment-metrics-tables/1"
RESULTS_FILE, SUMMARY_FILE, TESTS_FILE = "results.csv", "summary.csv", "tests.csv"
SIZES_FILE = "lesions_by_size.csv"
# The columns on which the tables join; a measurement has a column of its own in the results.
CASE, METHOD, STRUCTURE, MEASUREMENT = "Case", "Method", "Structure", "Measurement"
JOIN = (CASE, METHOD, STRUCTURE, MEASUREMENT)
ABBREVIATIONS = ("sd", "iqr", "p")
CONVENTION_WORDS = "Tool whose convention boundary and overlap follow"

VERDICT_COLUMNS = {
    CASE: "Name of the case",
    METHOD: METHOD_WORDS,
    STRUCTURE: f"{STRUCTURE_WORDS}; the name in the rule if no structure has it",
    MEASUREMENT: MEASUREMENT_WORDS,
    "Convention": "Tool whose number is judged, if the rule names one",
    "Value": "Value that is judged; empty if it is infinite or undefined",
    "Unit": "Unit of value and limits",
    "Relation": "Comparison of the value with the limit, such as <=",
    "Pass": "Limit",
    "Warn": "Second, looser limit, if there is one",
    "Weight": "How much the rule counts in the score",
    "Verdict": "pass, warn, fail or not evaluable",
    "Reason": "Why, in a sentence",
    "Source": "Where the limit comes from",
    "Score": "Score of the structure: weight of its passed rules over that of all that could be evaluated",
}
SIZE_COLUMNS = {
    STRUCTURE: STRUCTURE_WORDS,
    METHOD: METHOD_WORDS,
    "VolumeLow": "Smallest volume of the lesions of a row in mm3, for contours their area in mm2",
    "VolumeHigh": "Volume below which they are",
    "Lesions": "Number of lesions of the reference of this size, in all cases",
    "Found": "Number of those that a lesion of the test overlaps",
    "Sensitivity": "Found as a share of Lesions",
    "Low": f"Lower end {BOUND} of the sensitivity (Wilson)",
    "High": f"Upper end {BOUND} of the sensitivity (Wilson)",
}
# The rows of lists, and the columns that tell those of a structure apart.
LISTS = {
    LESIONS_FILE: ("lesion of the reference and invented lesion", ("Side", "Number")),
    GAPS_FILE: ("gap or spur of the center lines", ("Kind", "X", "Y", "Z")),
}
# Columns of text; all others hold numbers.
TEXTS = (
    *JOIN,
    *("Unit", "Better", "First", "Second", "Reason", "Correction", "Direction", "Favors", "Convention"),
    *("Relation", "Verdict", "Source"),
)


def columnName(field: str) -> str:
    """Return the heading of the column for a field of a Summary or a PairedTest."""
    return field.upper() if field in ABBREVIATIONS else f"{field[0].upper()}{field[1:]}"


def write(results: Sequence[Column], convention: bool, folder: Path, lists: Iterable[str] = ()) -> None:
    """Write schema.json into a folder.

    results: the columns of results.csv. convention: whether the tables of statistics state a convention. lists: the
    files of lesions, and of gaps and spurs, that there are.
    """
    stated = {"Convention": CONVENTION_WORDS} if convention else {}
    tables = {
        RESULTS_FILE: _table("case, method and structure", (CASE, METHOD, STRUCTURE), map(_column, results)),
        VERDICTS_FILE: _table(
            "case, method, structure and rule of a protocol, if there is one",
            (*JOIN, "Convention", "Relation"),
            _columns(VERDICT_COLUMNS),
        ),
        SUMMARY_FILE: _table(
            "structure, method and measurement",
            (STRUCTURE, METHOD, MEASUREMENT),
            _columns(describedFields(Summary) | stated),
        ),
        TESTS_FILE: _table(
            "structure, measurement and pair of methods, if there are several",
            (STRUCTURE, MEASUREMENT, "First", "Second"),
            _columns(describedFields(PairedTest) | stated),
        ),
    }
    identity = _columns({CASE: "Name of the case", METHOD: METHOD_WORDS, STRUCTURE: STRUCTURE_WORDS})
    for file in lists:
        rows, key = LISTS[file]
        tables[file] = _table(rows, (CASE, METHOD, STRUCTURE, *key), [*identity, *map(_column, LISTED[file])])
    if LESIONS_FILE in lists:
        rows = "structure, method and size of lesions"
        tables[SIZES_FILE] = _table(rows, (STRUCTURE, METHOD, "VolumeLow"), _columns(SIZE_COLUMNS))
    about = (
        "Tables join on these columns. In results.csv, each measurement has a column of its own; a difference of two "
        "methods is the second minus the first; a difference of two structures is the test minus the reference."
    )
    writeJson({"schema": SCHEMA, "join": list(JOIN), "about": about, "tables": tables}, folder / SCHEMA_FILE)


def _table(rows: str, key: Sequence[str], columns: Iterable[Mapping]) -> dict:
    return {"rows": f"one per {rows}", "key": list(key), "columns": list(columns)}


def describedFields(kind: type) -> dict[str, str]:
    """Return the headings of the fields of a dataclass whose instances are rows of a table, with their descriptions."""
    return {columnName(one.name): one.metadata["about"] for one in fields(kind)}


def _columns(words: Mapping[str, str]) -> list[dict]:
    return [_column(Column(name, description=text, isText=name in TEXTS)) for name, text in words.items()]


def _column(column: Column) -> dict:
    return {
        "name": column.key,
        "title": column.heading,
        "type": "text" if column.isText else "number",
        "unit": column.unit,
        "description": column.description,
    }
