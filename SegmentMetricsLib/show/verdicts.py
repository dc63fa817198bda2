"""Verdicts as files and as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..base.texts import commaSeparated
from ..case.protocol.judgment import SCORE_NOTE, VERDICTS, Judgment, scoreText, worst
from .tablemodel import Column, Table
from .tables import LONGEST_NAME, align, shorten, shortenName
from .writing import writeTable

# Most structures without limits that are listed; further ones are only counted.
MOST_UNJUDGED = 30
# Columns of the file, which are keys of the verdict's dictionary in lower case.
COLUMNS = (
    *("Structure", "Measurement", "Convention", "Value", "Unit", "Relation"),
    *("Pass", "Warn", "Weight", "Verdict", "Reason", "Source"),
)
# All columns: those, and the score of the structure.
HEADINGS = (*COLUMNS, "Score")


def rows(judgment: Mapping, nameOf: Callable[[str], str] = str) -> Iterator[list[Any]]:
    """Yield the values of a row per structure and rule, under HEADINGS.

    judgment: as from Judgment.toDictionary(). nameOf: takes the title of a structure and returns its name in the rows.
    """
    for structure in judgment["structures"]:
        for rule in structure["rules"]:
            given = {**rule, "structure": nameOf(rule["structure"])}
            yield [*(given[key.lower()] for key in COLUMNS), structure["score"]]


def writeVerdicts(judgment: Mapping, path: Path) -> None:
    """Write one row per structure and rule. judgment: as from Judgment.toDictionary()."""
    writeTable(Table([Column(key) for key in HEADINGS], list(rows(judgment))), path)


def verdictTable(judgment: Judgment) -> str:
    """Return a table of the verdict on every structure, worst first, with its reason; a sentence if there is none.

    Scores are shown if rules have weights.

    Structures that were not judged are listed below, so that nobody takes their absence for a pass.
    """
    found = []
    for name, verdicts in judgment.byStructure().items():
        verdict = worst(v.verdict for v in verdicts)
        reasons = [v.reason for v in verdicts if v.verdict == verdict]
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        scored = [scoreText(verdicts)] * judgment.isWeighted
        found.append([shortenName(name, LONGEST_NAME), verdict, *scored, f"{shorten(reasons[0], 90)}{more}"])
    found.sort(key=lambda row: -VERDICTS.index(row[1]))
    if not found:
        return "No rule applies to the compared structures."
    heads = ["Structure", "Verdict", *["Score"] * judgment.isWeighted, "Reason"]
    table = align(Table.ofRows(heads, found, left=len(heads)))
    note = SCORE_NOTE if judgment.isWeighted else ""
    return "\n\n".join(filter(None, (table, note, noLimits(judgment.withoutLimits))))


def noLimits(names: Iterable[str]) -> str:
    """Return a line that lists the structures without any rule, each once; "" without any."""
    shown = [shortenName(name, LONGEST_NAME) for name in dict.fromkeys(names)]
    return f"No limits for: {commaSeparated(shown, MOST_UNJUDGED)}" if shown else ""


def summary(judgments: Iterable[str]) -> str:
    """Return the number of verdicts of each kind, worst first: "1 fail, 4 pass"."""
    judgments = list(judgments)
    counts = [(verdict, judgments.count(verdict)) for verdict in reversed(VERDICTS)]
    return ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
