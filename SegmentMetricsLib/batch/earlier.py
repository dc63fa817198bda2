"""Outcomes of earlier runs that are no longer valid: moved to another file, once each, so that no work is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, cast

from ..base.texts import counted

EARLIER = "results.earlier.jsonl"


class Earlier:
    """Moves outcomes of a batch's folder to another file, which is flushed to disk and closed at the end of a `with`.

    others: number of outcomes made with other settings, files or software than the present ones. gone: number of
    outcomes of cases that are no longer in the list. Both count those that an earlier run has already moved.
    """

    def __init__(self, folder: Path):
        self.others, self.gone = 0, 0
        self._path = folder / EARLIER
        self._file: BinaryIO | None = None
        self._known: set[tuple] = set()

    def __enter__(self) -> Earlier:
        return self

    def __exit__(self, *_) -> None:
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def add(self, outcome: Mapping, line: bytes, isGone: bool) -> None:
        """Write the line of an outcome, unless the file already has it. isGone: its case is no longer in the list."""
        self.gone += isGone
        self.others += not isGone
        if self._file is None:
            self._open()
        which = _which(outcome)
        if which not in self._known:
            self._known.add(which)
            cast(BinaryIO, self._file).write(line)

    def describe(self) -> str:
        """Return a line with the file of the outcomes and the reasons, "" if there are none."""
        reasons = []
        if self.others:
            were = "was" if self.others == 1 else "were"
            reasons.append(f"{counted(self.others, 'result')} {were} made with other settings, files or software")
        if self.gone:
            which = f"{self.gone} more" if reasons else counted(self.gone, "result")
            of = "is of a case that is" if self.gone == 1 else "are of cases that are"
            reasons.append(f"{which} {of} no longer in the list")
        they = "it is" if self.others + self.gone == 1 else "they are"
        return f"{', and '.join(reasons)}: {they} in {EARLIER}" if reasons else ""

    def _open(self) -> None:
        isWhole = True
        if self._path.exists():
            with self._path.open("rb") as file:
                for line in file:
                    isWhole = line.endswith(b"\n")
                    if (outcome := parsed(line)) is not None:
                        self._known.add(_which(outcome))
        self._file = self._path.open("ab")
        if not isWhole:  # a run was killed while writing
            self._file.write(b"\n")


def parsed(line: bytes) -> dict | None:
    """Return the outcome in a line, None if it is incomplete or something else."""
    try:
        outcome = json.loads(line)
        complete = line.endswith(b"\n") and all(
            isinstance(outcome[key], str) for key in ("case", "method", "status", "fingerprint")
        )
        return outcome if complete and isinstance(outcome["pairs"], list) else None
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def measuredWith(fingerprint: str) -> str:
    """Return the part of a fingerprint that determines the numbers: the same with and without a report."""
    return fingerprint.split(" ")[0]


def _which(outcome: Mapping) -> tuple:
    """Return the identity of an outcome, which includes the status, as a case that failed may succeed later."""
    return outcome["case"], outcome["method"], outcome["status"], measuredWith(outcome["fingerprint"])
