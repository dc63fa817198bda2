"""What the columns of a batch's tables mean: the content of schema.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from ..conventions.convention import OWN_CONVENTION
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


def columnsOfRows(kind: type, convention: str = OWN_CONVENTION) -> list[Column]:
    """Return the columns of a table whose rows are instances of a dataclass, with a convention that is not our own."""
    words = {}
    for one in fields(kind):
        name = one.name.upper() if one.name in ABBREVIATIONS else f"{one.name[0].upper()}{one.name[1:]}"
        words[name] = one.metadata["about"]
    return _columns(words | ({} if convention == OWN_CONVENTION else {"Convention": CONVENTION_WORDS}))


def write(
    results: Sequence[Column], convention: str, folder: Path, lists: Iterable[str] = ()
) -> dict[str, Sequence[Column]]:
    """Write schema.json into a folder, and return the columns of each table.

    results: the columns of results.csv. convention: that of the tables of statistics. lists: the files of lesions, and
    of gaps and spurs, that there are.
    """
    identity = _columns({CASE: "Name of the case", METHOD: METHOD_WORDS, STRUCTURE: STRUCTURE_WORDS})
    # by file: what a row is, the columns that tell rows apart, and all columns
    judged = "case, method, structure and rule of a protocol, if there is one"
    tested = "structure, measurement and pair of methods, if there are several"
    summarized, tests = (columnsOfRows(kind, convention) for kind in (Summary, PairedTest))
    tables: dict[str, tuple[str, Sequence[str], Sequence[Column]]] = {
        RESULTS_FILE: ("case, method and structure", (CASE, METHOD, STRUCTURE), results),
        VERDICTS_FILE: (judged, (*JOIN, "Convention", "Relation"), _columns(VERDICT_COLUMNS)),
        SUMMARY_FILE: ("structure, method and measurement", (STRUCTURE, METHOD, MEASUREMENT), summarized),
        TESTS_FILE: (tested, (STRUCTURE, MEASUREMENT, "First", "Second"), tests),
    }
    for file in lists:
        rows, ownKey = LISTS[file]
        tables[file] = (rows, (CASE, METHOD, STRUCTURE, *ownKey), [*identity, *LISTED[file]])
    if LESIONS_FILE in lists:
        rows = "structure, method and size of lesions"
        tables[SIZES_FILE] = (rows, (STRUCTURE, METHOD, "VolumeLow"), _columns(SIZE_COLUMNS))
    about = (
        "Tables join on these columns. In results.csv, each measurement has a column of its own; a difference of two "
        "methods is the second minus the first; a difference of two structures is the test minus the reference."
    )
    told = {}
    for file, (rows, key, columns) in tables.items():
        names = ("name", "title", "type", "unit", "description")
        described = ((c.key, c.heading, "text" if c.isText else "number", c.unit, c.description) for c in columns)
        own = [dict(zip(names, one, strict=True)) for one in described]
        told[file] = {"rows": f"one per {rows}", "key": list(key), "columns": own}
    writeJson({"schema": SCHEMA, "join": list(JOIN), "about": about, "tables": told}, folder / SCHEMA_FILE)
    return {file: columns for file, (_, _, columns) in tables.items()}


def _columns(words: Mapping[str, str]) -> list[Column]:
    return [Column(name, description=text, isText=name in TEXTS) for name, text in words.items()]
