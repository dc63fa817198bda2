"""What a cohort has in common, to files: summary.csv, summary.json, tests.csv and the box plots."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from ..files.writing import UNENCODABLE, fileNames, harmless, versions, writeJson
from ..measurements import findDefinition
from ..tables import LONGEST_NAME, aligned, shortened
from .boxplots import boxPlots
from .statistics import Cohort, PairedTest, Summary, compareMethods, summarize
from .summaryoptions import CONFIDENCE, Options

SCHEMA = "segment-metrics-summary/1"
BOX_PLOTS = "boxplots"
# The convention that nobody has to be told of.
PLAIN = "SegmentMetrics"
# What the overview on the terminal shows, where it was measured.
OVERVIEW = ("DSC", "HD95", "MASD", "NSD_")


def writeSummary(
    cohort: Cohort, options: Options, counts: Mapping[str, int], folder: Path, convention: str = PLAIN
) -> list[Summary]:
    """Write all statistics of a cohort and return the summaries.

    counts: of cases, by what became of them. convention: that of the settings, which the files state.
    """
    summaries, tests = summarize(cohort, options), compareMethods(cohort, options)
    content = {
        "schema": SCHEMA,
        "software": versions(),
        "cases": dict(counts),
        "convention": convention,
        "treatment": options.describe(),
        "tests": "Wilcoxon signed-rank, two-sided, Bonferroni-corrected for all tests of the same measurement",
        "confidence": CONFIDENCE,
        "summaries": [summary.toDictionary() for summary in summaries],
        "pairedTests": [test.toDictionary() for test in tests],
    }
    writeJson(content, folder / "summary.json")
    _writeRows(Summary, summaries, folder / "summary.csv", convention)
    if tests:
        _writeRows(PairedTest, tests, folder / "tests.csv", convention)
    else:
        (folder / "tests.csv").unlink(missing_ok=True)
    _writeBoxPlots(cohort, options, folder / BOX_PLOTS, convention)
    return summaries


def _writeRows(kind, rows: Sequence, path: Path, convention: str) -> None:
    """Write a table, with the convention as last column if it is not ours."""
    stated = [] if convention == PLAIN else [convention]
    names = [field.name for field in fields(kind)]
    with path.open("w", newline="", encoding="utf-8", errors=UNENCODABLE) as file:
        writer = csv.writer(file)
        writer.writerow(
            [name.upper() if name in ("sd", "iqr", "p") else f"{name[0].upper()}{name[1:]}" for name in names]
            + ["Convention"] * len(stated)
        )
        for row in rows:
            values = [getattr(row, name) for name in names]
            cells = ["" if v is None else harmless(v) if isinstance(v, str) else repr(v) for v in values]
            writer.writerow([*cells, *stated])


def _writeBoxPlots(cohort: Cohort, options: Options, folder: Path, convention: str) -> None:
    """Write one picture per measurement in place of those of an earlier run."""
    found = {key: findDefinition(key) for key in cohort.keys}
    titles = {key: given[0].title.format(**given[1]) for key, given in found.items() if given}
    if convention != PLAIN:
        titles = {key: f"{title} (convention {convention})" for key, title in titles.items()}
    plots = boxPlots(cohort, options, titles)
    for old in folder.glob("*.svg"):
        old.unlink()
    if not plots:
        shutil.rmtree(folder, ignore_errors=True)
        return
    folder.mkdir(exist_ok=True)
    for name, plot in zip(fileNames(plots), plots.values(), strict=True):
        (folder / f"{name}.svg").write_text(plot, encoding="utf-8")


def summaryTable(summaries: Sequence[Summary]) -> str:
    """Return median and interquartile range of the main measurements, one line per structure and method.

    A star marks those of fewer cases than there are, as some of their values are infinite or undefined.
    """
    keys = [key for key in dict.fromkeys(s.measurement for s in summaries) if key.startswith(OVERVIEW)][:6]
    found = {(s.structure, s.method, s.measurement): s for s in summaries}
    rows = [["Structure", "Method", "Cases", *keys]]
    for structure, method in dict.fromkeys((s.structure, s.method) for s in summaries):
        cells = [found.get((structure, method, key)) for key in keys]
        cases = max((cell.cases for cell in cells if cell), default=0)
        rows.append(
            [shortened(structure, LONGEST_NAME), shortened(method, LONGEST_NAME), str(cases), *map(_cell, cells)]
        )
    table = aligned(rows, left=2)
    if any(summary.used < summary.cases for summary in summaries if summary.measurement in keys):
        table += "\n\n* of fewer cases, as others are infinite or undefined; summary.csv says how many"
    return table


def _cell(summary: Summary | None) -> str:
    """Return median and interquartile range, with a star where they leave cases out."""
    if summary is None:
        return ""
    median = "-" if summary.median is None else f"{summary.median:.3g} ({summary.iqr:.2g})"
    return f"{median}*" if summary.used < summary.cases else median
