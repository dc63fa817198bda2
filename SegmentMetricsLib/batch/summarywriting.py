"""Files with the statistics of a cohort: summary.csv, summary.json, tests.csv and the box plots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

from ..base.texts import commaSeparated, counted, oneLine
from ..case.missing import REFERENCE, TEST
from ..case.tablemodel import Column, Table
from ..comparison.measurements import fixed
from ..families.registry import findDefinition
from ..settings.names import OWN_CONVENTION
from ..show.tables import LONGEST_NAME, aligned, shortened, shortenedName
from ..show.writing import fileNames, versions, writeJson, writeTable
from .alarms import Alarms
from .boxplots import boxPlots
from .correlations import removeCorrelations
from .statistics import Cohort, PairedTest, Summary, compareMethods, summarize
from .summaryoptions import CONFIDENCE, LEAVE_OUT, Options
from .tableschema import SUMMARY_FILE, TESTS_FILE, columnName

SCHEMA = "segment-metrics-summary/2"
SUMMARY_FILES = TABLE, JSON, TESTS = SUMMARY_FILE, "summary.json", TESTS_FILE
BOX_PLOTS = "boxplots"
# Most pairs of names of possibly the same structure that are printed; the others are in summary.json.
MOST_PROPOSALS = 3
# Measurements that the overview on the terminal shows, if measured.
SUMMARIZED = ("DSC", "HD95", "MASD", "NSD_")


def writeSummary(
    cohort: Cohort,
    options: Options,
    counts: Mapping[str, int],
    folder: Path,
    convention: str = OWN_CONVENTION,
    alarms: Alarms | None = None,
) -> list[Summary]:
    """Write all statistics of a cohort, in place of those of an earlier run, and return the summaries.

    counts: number of cases by outcome. convention: that of the settings, stated in the files. alarms: of all pairs of
    the cohort.
    """
    summaries, tests = summarize(cohort, options), compareMethods(cohort, options)
    removeSummary(folder)
    content = {
        "schema": SCHEMA,
        "software": versions(),
        "cases": dict(counts),
        "convention": convention,
        "alarms": alarms.toDictionaries() if alarms else [],
        "treatment": options.describe(),
        "tests": "Wilcoxon signed-rank, two-sided, of pairs; Friedman of three or more methods",
        "confidence": CONFIDENCE,
        "summaries": [summary.toDictionary() for summary in summaries],
        "pairedTests": [test.toDictionary() for test in tests],
        "undrawn": cohort.undrawn,
        "onlyInTests": [{"structure": name, "cases": len(cases)} for name, cases in cohort.roster.unexpected.items()],
        "proposals": [
            {"reference": reference, "test": test, "cases": len(cases)}
            for (reference, test), cases in cohort.roster.proposals.items()
        ],
    }
    writeJson(content, folder / JSON)
    _writeRows(Summary, summaries, folder / TABLE, convention)
    if tests:
        _writeRows(PairedTest, tests, folder / TESTS, convention)
    _writeBoxPlots(cohort, options, folder / BOX_PLOTS, convention)
    return summaries


def removeSummary(folder: Path) -> None:
    """Remove the files that writeSummary() and writeCorrelations() wrote into a folder, and no others."""
    removeCorrelations(folder)
    plots = _earlierBoxPlots(folder)
    for path in (*plots, *(folder / name for name in SUMMARY_FILES)):
        path.unlink(missing_ok=True)
    with suppress(OSError):  # it does not exist, or contains something else
        (folder / BOX_PLOTS).rmdir()


def _writeRows(kind, rows: Sequence, path: Path, convention: str) -> None:
    """Write a table, with the convention as last column if it is not that of this library."""
    stated = [] if convention == OWN_CONVENTION else [convention]
    names = [field.name for field in fields(kind)]
    columns = [*map(columnName, names), *["Convention"] * len(stated)]
    values = [[*(getattr(row, name) for name in names), *stated] for row in rows]
    writeTable(Table(list(map(Column, columns)), values), path)


def _writeBoxPlots(cohort: Cohort, options: Options, folder: Path, convention: str) -> None:
    """Write one picture per measurement."""
    found = {key: findDefinition(key) for key in cohort.keys}
    titles = {key: given.definition.title.format(**given.words) for key, given in found.items() if given}
    if convention != OWN_CONVENTION:
        titles = {key: f"{title} (convention {convention})" for key, title in titles.items()}
    plots = boxPlots(cohort, options, titles)
    if not plots:
        return
    folder.mkdir(exist_ok=True)
    for name, plot in zip(fileNames(plots), plots.values(), strict=True):
        (folder / f"{name}.svg").write_text(plot, encoding="utf-8")


def _earlierBoxPlots(folder: Path) -> list[Path]:
    """Return the box plots of an earlier run in a folder, according to its summary.json."""
    try:
        content = json.loads((folder / JSON).read_text(encoding="utf-8"))
        keys = dict.fromkeys(str(row["measurement"]) for row in content["summaries"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # missing, or written by another program
        return []
    return [folder / BOX_PLOTS / f"{name}.svg" for name in fileNames(keys)]


def summaryTable(
    summaries: Sequence[Summary], cohort: Cohort, options: Options | None = None, width: int | None = None
) -> str:
    """Return median and interquartile range of the main measurements, one line per structure and method.

    Structures that no test has get no line. A star marks statistics that leave cases out: values are undefined, or
    infinite without a better direction, the structure is missing and does not count, or the case's protocol does not
    ask for the measurement. summaries: of the cohort. width: as for tables.aligned().
    """
    undrawn = cohort.undrawn
    shown = [summary for summary in summaries if summary.structure not in undrawn]
    if not shown:
        return ""
    measured = list(dict.fromkeys(s.measurement for s in shown))
    # without any of these, the first measurements
    keys = ([key for key in measured if key.startswith(SUMMARIZED)] or measured)[:6]
    found = {(s.structure, s.method, s.measurement): s for s in shown}
    sides = cohort.sides()
    sides = {name: list(sides[name].values()) for name in dict.fromkeys((s.structure, s.method) for s in shown)}
    told = ["Missing"] if any(map(any, sides.values())) else []
    isLeftOut = (options or Options()).missing == LEAVE_OUT
    units = {s.measurement: f" ({s.unit})" if s.unit else "" for s in shown}
    # no column for methods if the cases name none
    isNamed = any(summary.method for summary in shown)
    heads = ["Structure", *["Method"] * isNamed, "Cases", *told, *(f"{key}{units[key]}" for key in keys)]
    rows = []
    whys = dict.fromkeys(
        why
        for why in ("infinite", "undefined")
        if any(s.measurement in keys and s.ranked < s.cases and getattr(s, why) for s in shown)
    )
    isStarred = False
    for (structure, method), lacking in sides.items():
        cases = lacking.count("") if isLeftOut else len(lacking)
        cells = [found.get((structure, method, key)) for key in keys]
        names = [shortenedName(structure, LONGEST_NAME), *[shortened(method, LONGEST_NAME)] * isNamed]
        texts = [_cell(cell, len(lacking)) for cell in cells]
        rows.append([*names, str(cases), *[_missing(lacking)] * len(told), *texts])
        isStarred |= any(text.endswith("*") for text in texts)
        if isLeftOut and any(lacking):
            whys["missing"] = None
        if any(cell is not None and cell.cases < cases for cell in cells):
            whys["not measured"] = None
    table = aligned(Table.headed(heads, rows, 1 + isNamed), width)
    if isStarred:
        *most, last = whys
        told = f"{', '.join(most)} or {last}" if most else last
        table += f"\n\n* from fewer cases, because the others are {told}; summary.csv says how many"
    return table


def _missing(lacking: Sequence[str]) -> str:
    """Return the number of cases in which each side lacks a structure, in words."""
    counts = ((lacking.count(side), side) for side in (TEST, REFERENCE))
    return ", ".join(f"{count} {side}" for count, side in counts if count)


def _cell(summary: Summary | None, cases: int) -> str:
    """Return median and interquartile range as text, with a star if they are of fewer than all cases."""
    if summary is None:
        return ""
    median = "-"
    if summary.median is not None:
        spread = "-" if summary.iqr is None else fixed(summary.iqr, summary.unit)
        median = f"{fixed(summary.median, summary.unit)} ({spread})"
    return f"{median}*" if summary.ranked < cases else median


def remarks(cohort: Cohort, options: Options) -> list[str]:
    """Return remarks, in sentences, about the structures that only one side of a case has."""
    sentences = []
    isEmpty = options.missing != LEAVE_OUT
    # those that no test has are not in the table, and have a sentence of their own
    drawn = (group for (structure, *_), group in cohort.values.items() if structure not in cohort.undrawn)
    if any(value.missing for group in drawn for value in group.values()):
        what = (
            "that side is empty there, with an overlap of 0 and infinite distances"
            if isEmpty
            else "these cases are left out"
        )
        sentences.append(f"Missing: in how many cases only one side has the structure; {what} (--missing).")
    if cohort.undrawn:
        names = oneLine(commaSeparated(cohort.undrawn))
        sentences.append(f"Not in any test, so listed in summary.csv only: {names}.")
    unexpected = cohort.roster.unexpected
    if unexpected:
        sentences.append(f"Not in any reference, so not in the statistics: {oneLine(commaSeparated(unexpected))}.")
    proposals = sorted(cohort.roster.proposals.items(), key=lambda item: -len(item[1]))
    for (reference, test), cases in proposals[:MOST_PROPOSALS]:
        often = counted(len(cases), "case")
        sentences.append(
            oneLine(
                f"{reference} of the reference and {test} of the test are in the same place in {often}; if they are "
                f'the same structure, add --pair "{reference}={test}".'
            )
        )
    if len(proposals) > MOST_PROPOSALS:
        sentences.append(f"... and {len(proposals) - MOST_PROPOSALS} more such names in summary.json")
    return sentences
