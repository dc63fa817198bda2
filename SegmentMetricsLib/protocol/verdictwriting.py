"""Verdicts to files and to the terminal."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..files.writing import UNENCODABLE, harmless
from ..structures import commaSeparated
from ..tables import LONGEST_NAME, aligned, shortened, shortenedName
from .judgment import VERDICTS, Judgment, worst

# So many structures without limits are listed, and then how many more there are.
MOST_UNJUDGED = 30
# A column of the file and the key of the verdict's dictionary.
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
    """Return the cells of a verdict's row, given as its dictionary."""
    values = (verdict[key] for key in COLUMNS.values())
    # the relations are harmless, and numbers stay numbers
    return ["" if v is None else harmless(v) if isinstance(v, str) else repr(v) for v in values]


def writeVerdicts(judgment: Mapping, path: Path) -> None:
    """Write one row per structure and rule. judgment: as Judgment.toDictionary()."""
    rules = [rule for structure in judgment["structures"] for rule in structure["rules"]]
    with path.open("w", newline="", encoding="utf-8", errors=UNENCODABLE) as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(map(cells, rules))


def verdictTable(judgment: Judgment) -> str:
    """Return the verdict on every structure, the worst first, with its reason; a sentence if there is none.

    Below it stands which structures were not judged: nobody should take their silence for a pass.
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
    """Return in a line which structures no rule is about, each once; "" without any."""
    shown = [shortenedName(name, LONGEST_NAME) for name in dict.fromkeys(names)]
    return f"No limits for: {commaSeparated(shown, MOST_UNJUDGED)}" if shown else ""


def summary(judgments: Iterable[str]) -> str:
    """Return how many verdicts there are of each kind, the worst first: "1 fail, 4 pass"."""
    judgments = list(judgments)
    counts = [(verdict, judgments.count(verdict)) for verdict in reversed(VERDICTS)]
    return ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
