"""Files with the statistics of a cohort: summary.csv, means.csv, summary.json and tests.csv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from ..base.texts import commaSeparated, oneLine, pluralize
from ..conventions.convention import OWN_CONVENTION
from ..metrics.measurement import fixDecimals
from ..show.tablemodel import Table
from ..show.tables import LONGEST_NAME, align, shorten, shortenName
from ..show.writing import versions, writeJson, writeTable
from .alarms import Alarms
from .missing import REFERENCE, TEST
from .statistics import NO_METHOD, OVERALL, Cohort, PairedTest, Summary, summarize, summarizeOverall
from .summaryoptions import CONFIDENCE, LEAVE_OUT, Options
from .tableschema import SUMMARY_FILE, TESTS_FILE, columnsOfRows

SCHEMA = "segment-metrics-summary/2"
SUMMARY_FILES = TABLE, JSON, TESTS, MEANS = SUMMARY_FILE, "summary.json", TESTS_FILE, "means.csv"
# Most pairs of names of possibly the same structure that are printed; the others are in summary.json.
MOST_PROPOSALS = 3
# Measurements that the overview on the terminal shows, if measured.
SUMMARIZED = ("DSC", "HD95", "MASD", "NSD_")


def writeSummary(
    cohort: Cohort,
    options: Options,
    tests: Sequence[PairedTest],
    counts: Mapping[str, int],
    folder: Path,
    convention: str = OWN_CONVENTION,
    alarms: Alarms | None = None,
) -> list[Summary]:
    """Write all statistics of a cohort, in place of those of an earlier run, and return the summaries.

    Those of the mean over structures come last; they have a table of their own, as they are of no structure.

    tests: of all its methods. counts: number of cases by outcome. convention: that of the settings, stated in the
    files. alarms: of all pairs of the cohort.
    """
    summaries, means = summarize(cohort, options), summarizeOverall(cohort, options)
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
        "meansOfStructures": [summary.toDictionary() for summary in means],
        "pairedTests": [test.toDictionary() for test in tests],
        "undrawn": cohort.undrawn,
        "lacking": [{"method": name, "cases": cases} for name, cases in cohort.lacking.items()],
        "ofLacking": " ".join(lackingCases(cohort)),
        "onlyInTests": [{"structure": name, "cases": len(cases)} for name, cases in cohort.roster.unexpected.items()],
        "proposals": [
            {"reference": reference, "test": test, "cases": len(cases)}
            for (reference, test), cases in cohort.roster.proposals.items()
        ],
    }
    writeJson(content, folder / JSON)
    _writeRows(Summary, summaries, folder / TABLE, convention)
    if means:
        _writeRows(Summary, means, folder / MEANS, convention)
    if tests:
        _writeRows(PairedTest, tests, folder / TESTS, convention)
    return [*summaries, *means]


def removeSummary(folder: Path) -> None:
    """Remove the files that writeSummary() wrote into a folder, and no others."""
    for name in SUMMARY_FILES:
        (folder / name).unlink(missing_ok=True)


def _writeRows(kind: type, rows: Sequence, path: Path, convention: str) -> None:
    """Write a table, with the convention as last column if it is not that of this library."""
    stated = [] if convention == OWN_CONVENTION else [convention]
    writeTable(Table(columnsOfRows(kind, convention), [[*astuple(row), *stated] for row in rows]), path)


def summaryTable(
    summaries: Sequence[Summary], cohort: Cohort, options: Options | None = None, width: int | None = None
) -> str:
    """Return median and interquartile range of the main measurements, one line per structure and method.

    Structures that no test has get no line. A star marks statistics that leave cases out: values are undefined, or
    infinite without a better direction, the structure is missing and does not count, or the case's protocol does not
    ask for the measurement. summaries: of the cohort. width: as for tables.align().
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
    for (_, method), group in list(sides.items()):  # the mean over structures is of the cases of any
        sides.setdefault((OVERALL, method), {}).update(dict.fromkeys(group, ""))
    lackedBy, having = cohort.lacking, {case for group in sides.values() for case in group}
    lacks = {name: list(sides[name].values()) for name in dict.fromkeys((s.structure, s.method) for s in shown)}
    told = ["Missing"] if any(map(any, lacks.values())) else []
    isLeftOut = (options or Options()).missing == LEAVE_OUT
    units = {s.measurement: f" ({s.unit})" if s.unit else "" for s in shown}
    # no column for methods if the cases name none
    isNamed = any(summary.method for summary in shown)
    heads = ["Structure", *["Method"] * isNamed, "Cases", *told, *(f"{key}{units[key]}" for key in keys)]
    rows = []
    for (structure, method), lacking in lacks.items():
        texts = [_cell(found.get((structure, method, key)), len(lacking)) for key in keys]
        names = [shortenName(structure, LONGEST_NAME), *[shorten(method, LONGEST_NAME)] * isNamed]
        number = lacking.count("") if isLeftOut else len(lacking)
        # whether a reference has the structure in a case that no method has is unknown
        others = {*lackedBy.get(method, ())} - having
        for (name, _), group in sides.items():
            others |= {case for case, side in group.items() if name == structure and side != REFERENCE}
        others -= sides[structure, method].keys()
        whole = f" of {number + len(others)}" if others else ""
        sidesOf = ((lacking.count(side), side) for side in (TEST, REFERENCE))
        missing = ", ".join(f"{count} {side}" for count, side in sidesOf if count)
        counts = [f"{number}{whole}", *[missing] * len(told)]
        rows.append([*names, *counts, *texts])
    table = align(Table.ofRows(heads, rows, 1 + isNamed), width)
    if any(text.endswith("*") for row in rows for text in row):
        inTable = [summary for summary in shown if summary.measurement in keys]
        whys = _whyFewer(inTable, lacks, isLeftOut)
        table += f"\n\n* from fewer cases, because the others are {whys}; summary.csv says how many"
    return table


def _whyFewer(summaries: Sequence[Summary], lacks: Mapping[tuple[str, str], Sequence[str]], isLeftOut: bool) -> str:
    """Return why some summaries leave cases out, in words.

    lacks: by structure and method, the side that lacks the structure, "" for neither, case by case. isLeftOut: whether
    these cases do not count.
    """
    whys = [why for why in ("infinite", "undefined") if any(s.ranked < s.cases and getattr(s, why) for s in summaries)]
    if isLeftOut and any(map(any, lacks.values())):
        whys.append("missing")
    asked = {name: lacking.count("") if isLeftOut else len(lacking) for name, lacking in lacks.items()}
    if any(s.cases < asked[s.structure, s.method] for s in summaries):
        whys.append("not measured")
    *most, last = whys
    return f"{', '.join(most)} or {last}" if most else last


def _cell(summary: Summary | None, cases: int) -> str:
    """Return median and interquartile range as text, with a star if they are of fewer than all cases."""
    if summary is None:
        return ""
    median = "-"
    if summary.median is not None:
        spread = "-" if summary.iqr is None else fixDecimals(summary.iqr, summary.unit)
        median = f"{fixDecimals(summary.median, summary.unit)} ({spread})"
    return f"{median}*" if summary.ranked < cases else median


def lackingCases(cohort: Cohort) -> list[str]:
    """Return in sentences which cases a method lacks, and what that means for the statistics; [] if none does."""
    found = cohort.lacking
    sentences = [
        f"{f'Method {method}' if method else NO_METHOD.capitalize() if len(cohort.methods) > 1 else 'The test'} lacks "
        f"{pluralize(len(cases), 'case')}: {commaSeparated(cases)}."
        for method, cases in found.items()
    ]
    if found and len(cohort.methods) > 1:
        ofAll = "ranks and Friedman's test use" if len(cohort.methods) > 2 else "ranks use"
        sentences.append(
            "Medians and means of a method use the cases that it has. A test of two methods uses the cases that both "
            f"have; {ofAll} those that all have. So a missing case does not worsen a rank: add it, or leave it out of "
            "all methods."
        )
    elif found:
        sentences.append("All statistics use the other cases.")
    return list(map(oneLine, sentences))


def remarkOnMissing(cohort: Cohort, options: Options) -> list[str]:
    """Return remarks, in sentences, about cases that a method lacks and structures that one side of a case lacks."""
    sentences = lackingCases(cohort)
    # those that no test has are not in the table, and have a sentence of their own
    drawn = (group for (structure, *_), group in cohort.values.items() if structure not in cohort.undrawn)
    if any(value.missing for group in drawn for value in group.values()):
        empty = "that side is empty there, with an overlap of 0 and infinite distances"
        what = empty if options.missing != LEAVE_OUT else "these cases are left out"
        sentences.append(f"Missing: in how many cases only one side has the structure; {what} (--missing).")
    if cohort.undrawn:
        names = oneLine(commaSeparated(cohort.undrawn))
        sentences.append(f"Not in any test, so listed in summary.csv only: {names}.")
    unexpected = cohort.roster.unexpected
    if unexpected:
        sentences.append(f"Not in any reference, so not in the statistics: {oneLine(commaSeparated(unexpected))}.")
    proposals = sorted(cohort.roster.proposals.items(), key=lambda item: -len(item[1]))
    for (reference, test), cases in proposals[:MOST_PROPOSALS]:
        both = f"{reference} of the reference and {test} of the test are in the same place"
        advice = f'if they are the same structure, add --pair "{reference}={test}".'
        sentences.append(oneLine(f"{both} in {pluralize(len(cases), 'case')}; {advice}"))
    if len(proposals) > MOST_PROPOSALS:
        sentences.append(f"... and {len(proposals) - MOST_PROPOSALS} more such names in summary.json")
    return sentences
