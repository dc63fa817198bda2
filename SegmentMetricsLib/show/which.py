"""Which tool or mistake gives a number: the answer as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.texts import oneLine, pluralize
from ..conventions.which import Candidate
from ..settings.settings import Settings
from .resulttables import heading
from .tablemodel import Table
from .tables import align
from .writing import headOf

SCHEMA = "segment-metrics-which/1"
# Most tools of a row that are named.
MOST_TOOLS = 3


def answer(value: str, candidates: Sequence[Candidate], key: str | None = None) -> str:
    """Return the answer in a sentence. value: as given. candidates: as which() returns them, at least one."""
    number = sum(one.isExact for one in candidates)
    first = candidates[0]
    what = f"{key} {value}" if key else value
    if not number:
        nothing = f"No known tool, direction or common mistake gives {what} for this pair."
        return f"{nothing} The nearest is {phraseCandidate(first)}."
    more = f" {pluralize(number - 1, 'other way gives', 'other ways give')} it, too." if number > 1 else ""
    return f"{what} is {phraseCandidate(first)}.{more}"


def phraseCandidate(candidate: Candidate) -> str:
    """Return what a candidate is, in words, with its value."""
    how = f", {candidate.how}" if candidate.how else ""
    return oneLine(f"{heading(candidate.key)} of {tools(candidate)} ({candidate.text()}{how})")


def tools(candidate: Candidate) -> str:
    """Return the tools of a candidate, cut short."""
    more = len(candidate.tools) - MOST_TOOLS
    shown = "; ".join(candidate.tools[:MOST_TOOLS])
    return f"{shown} and {more} more" if more > 0 else shown


def textTable(candidates: Sequence[Candidate], width: int | None = None) -> str:
    """Return a table of candidates as text; a star marks those that agree with all digits."""
    rows = []
    for one in candidates:
        star, difference = "*" if one.isExact else "", f"{one.difference:+.3g}"
        rows.append([star, heading(one.key), one.text(), difference, one.how, tools(one)])
    return align(Table.ofRows(["", "Measurement", "Value", "Difference", "How", "Tools"], rows, 6), width)


def document(value: str, found: Mapping[str, Sequence[Candidate]], settings: Settings, key: str | None = None) -> dict:
    """Return the content of which.json. value: as given. found: candidates by name of the structure."""
    return {
        **headOf(SCHEMA, settings),
        "value": value,
        "key": key,
        "found": any(one.isExact for candidates in found.values() for one in candidates),
        "structures": [
            {"structure": name, "candidates": [one.toDictionary() for one in candidates]}
            for name, candidates in found.items()
        ],
    }
