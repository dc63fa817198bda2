"""Inputs that are bad or odd, and what becomes of each: tables that test_hostile.py runs row by row.

A row says in words what goes in, makes it, and states the outcome: the one sentence with which it is refused, or the
right numbers with the finding that a reader of them needs. More rows are welcome wherever something new turns up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Measured:
    """Exit status 0 with these values, or "undefined" or "infinite", and a finding of this kind or with these words."""

    values: Mapping[str, float | str]
    finding: str = ""


@dataclass(frozen=True)
class Row:
    """One input: what it is in words, what makes it in a folder and returns its path, and the outcome.

    outcome: numbers, or words of the one line with which it is refused: exit status 2, and nothing is written.
    against: what makes the reference, "mask" is the common one. options: more words for the command.
    """

    given: str
    make: Callable[[Path], Path]
    outcome: str | Measured
    against: str | Callable[[Path], Path] = "mask"
    options: Sequence[str] = field(default_factory=tuple)
