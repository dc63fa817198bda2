"""Verdicts as files and as tables for the terminal."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..files.writing import UNENCODABLE, harmless
from ..tables import LONGEST_NAME, aligned, shortened, shortenedName
from ..texts import commaSeparated
from .judgment import VERDICTS, Judgment, worst

# Most structures without limits that are listed; further ones are only counted.
MOST_UNJUDGED = 30
# Columns of the file, with the keys of the verdict's dictionary.
COLUMNS = {
    "Structure": "structure",
    "Measurement": "measurement",
    "Convention": "convention",
    "Value": "value",
    "Unit": "unit",
    "Relation": "relation",
    "Pass": "pass",
    "Warn": "warn",
    "Weight": "weight",
    "Verdict": "verdict",
    "Reason": "reason",
    "Source": "source",
}


def cells(verdict: Mapping) -> list[str]:
    """Return the cells of a verdict's row. verdict: as from Verdict.toDictionary()."""
    values = (verdict[key] for key in COLUMNS.values())
    # harmless() does not change relations; numbers stay numbers
    return ["" if v is None else harmless(v) if isinstance(v, str) else repr(v) for v in values]


def writeVerdicts(judgment: Mapping, path: Path) -> None:
    """Write one row per structure and rule. judgment: as from Judgment.toDictionary()."""
    rules = [rule for structure in judgment["structures"] for rule in structure["rules"]]
    with path.open("w", newline="", encoding="utf-8", errors=UNENCODABLE) as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(map(cells, rules))


def verdictTable(judgment: Judgment) -> str:
    """Return a table of the verdict on every structure, worst first, with its reason; a sentence if there is none.

    Structures that were not judged are listed below, so that nobody takes their absence for a pass.
    """
    rows = []
    for name, verdicts in judgment.byStructure().items():
        verdict = worst(v.verdict for v in verdicts)
        reasons = [v.reason for v in verdicts if v.verdict == verdict]
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        rows.append([shortenedName(name, LONGEST_NAME), verdict, f"{shortened(reasons[0], 90)}{more}"])
    rows.sort(key=lambda row: -VERDICTS.index(row[1]))
    if not rows:
        return "No rule applies to the compared structures."
    table = aligned([["Structure", "Verdict", "Reason"], *rows], left=3)
    return "\n\n".join(filter(None, (table, unjudged(judgment.withoutLimits))))


def unjudged(names: Iterable[str]) -> str:
    """Return a line that lists the structures without any rule, each once; "" without any."""
    shown = [shortenedName(name, LONGEST_NAME) for name in dict.fromkeys(names)]
    return f"No limits for: {commaSeparated(shown, MOST_UNJUDGED)}" if shown else ""


def summary(judgments: Iterable[str]) -> str:
    """Return the number of verdicts of each kind, worst first: "1 fail, 4 pass"."""
    judgments = list(judgments)
    counts = [(verdict, judgments.count(verdict)) for verdict in reversed(VERDICTS)]
    return ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
