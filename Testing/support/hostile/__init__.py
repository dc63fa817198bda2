"""Inputs that are bad or odd, and what becomes of each: tables that test_hostile.py runs row by row.

A row says in words what goes in, makes it, and states the outcome: what the one sentence tells that refuses it, or the
right numbers with the finding that a reader of them needs. More rows are welcome wherever something new turns up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sayings import says

# The finding of a row: a remark on the test.
REMARK = ("remark", "test")


@dataclass(frozen=True)
class Measured:
    """Exit status 0 with these values, or "undefined" or "infinite", and a finding: its kind, and what it tells."""

    values: Mapping[str, float | str]
    finding: Sequence[str] = ()

    def requireFinding(self, findings: Sequence[Mapping]) -> None:
        """Fail unless the finding is among those given, once."""
        if self.finding:
            kind, *names = self.finding
            told = [one["text"] for one in findings if one["kind"] == kind]
            (text,) = [text for text in told if all(name in text for name in names)]
            says(text)


@dataclass(frozen=True)
class Row:
    """One input: what it is in words, what makes it in a folder and returns its path, and the outcome.

    outcome: numbers, or what is told beside the file's name as it is refused: exit status 2, and nothing is written.
    against: what makes the reference, "mask" is the common one. options: more words for the command. file: how the one
    that is refused is called, unless as what is made.
    """

    given: str
    make: Callable[[Path], Path]
    outcome: tuple[str, ...] | Measured = ()
    against: str | Callable[[Path], Path] = "mask"
    options: Sequence[str] = ()
    file: str = ""
