"""Helpers for commands that write results: the folder that collects them until all are written, and failures."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..base.errors import InputError
from ..base.texts import commaSeparated, oneLine
from .options import FAIL_ON, VERDICT_REACHED, requireWritable

# The exit status if some, but not all, pairs or cases could not be compared; and most failures that are printed.
SOME_FAILED, MOST_FAILURES = 1, 12
# What is said where there is no folder for results.
NOT_WRITTEN = "Nothing was written; --output DIR saves the numbers, surfaces and pictures, and --report adds a report."
# Columns and lines of a terminal that does not say how many it has.
UNKNOWN_SIZE = 80, 24


@contextmanager
def unfinishedResults(output: Path | None, earlier: Sequence[Path] | None = None) -> Iterator[Any]:
    """Yield a new folder for results, whose files are moved to the output folder at the end; none are after an error.

    output: None to yield None, as nothing is to be written. earlier: as for writing.deliver(). Raises InputError when
    nothing can be written there.
    """
    if output is None:
        yield None
        return
    from ..show import writing

    # on the same disk as the output folder, so that the files only need to be renamed
    existing = requireWritable(output)
    try:
        unfinished = Path(tempfile.mkdtemp(prefix=".segment-metrics-", dir=existing))
    except OSError as error:
        raise InputError(f"{output}: results cannot be written into this folder ({error.strerror}).") from error
    try:
        yield unfinished
        writing.deliver(unfinished, output, earlier)
    except OSError as error:
        # such as a full disk; name the folder that the user knows, and a reason if the writers of files give none
        reason = error.strerror or "is the disk full?"
        raise InputError(f"{output}: the results cannot be written into this folder ({reason}).") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def terminalWidth() -> int | None:
    """Return the number of characters in a line of the terminal, None if standard output is not a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


@contextmanager
def progressBar(total: int, unit: str, isWanted: bool = True) -> Iterator[Callable[[str], None]]:
    """Yield a function that counts a step, with its name, on a bar on standard error that disappears at the end.

    The bar is shown on terminals only, if wanted.
    """
    if not isWanted or sys.stderr is None or not sys.stderr.isatty():
        yield lambda name: None
        return
    from tqdm import tqdm

    size = {}
    with suppress(OSError, ValueError, AttributeError):  # there is no terminal
        if 0 in os.get_terminal_size(sys.stderr.fileno()):  # as in some containers; tqdm would show nothing
            size = {"ncols": UNKNOWN_SIZE[0], "nrows": UNKNOWN_SIZE[1]}
    with tqdm(total=total, unit=unit, leave=False, smoothing=0.05, **size) as bar:

        def step(name: str) -> None:
            bar.set_postfix_str(oneLine(name), refresh=False)
            bar.update()

        yield step


def finalStatus(isPartial: bool, verdicts: Iterable[str], failOn: str | None) -> int:
    """Return the exit status of a command that has compared something, and print the reason if verdicts determine it.

    isPartial: whether some pairs or cases could not be compared. failOn: in the spelling of the option; verdicts take
    precedence over isPartial.
    """
    # those that are at least as bad as that of the option, worst first
    names = [] if failOn is None else [name.replace("-", " ") for name in FAIL_ON[: FAIL_ON.index(failOn) + 1]]
    if bad := [verdict for verdict in verdicts if verdict in names]:
        worst = min(bad, key=names.index)
        print(f"segment-metrics: the verdict is {worst}, so --fail-on {failOn} sets the exit status", file=sys.stderr)
        return VERDICT_REACHED
    return SOME_FAILED if isPartial else 0


def tellWhere(output: Path | None, isApart: bool = False, isAside: bool = False, dicom: Sequence[Path] = ()) -> None:
    """Print where the results are. isApart: after an empty line. isAside: to standard error. dicom: files beside."""
    places = ([] if output is None else [f"{output}{os.sep}"]) + list(map(str, dicom))
    said = f"Results are in {oneLine(commaSeparated(places))}" if places else NOT_WRITTEN
    print(f"\n{said}" if isApart else said, file=sys.stderr if isAside else sys.stdout)


def tellFailures(sentences: Sequence[str], where: str) -> None:
    """Print failures to standard error, one per line. where: the file with those that are not printed."""
    for sentence in sentences[:MOST_FAILURES]:
        print(oneLine(f"segment-metrics: {sentence}"), file=sys.stderr)
    if len(sentences) > MOST_FAILURES:
        print(f"segment-metrics: ... and {len(sentences) - MOST_FAILURES} more in {where}", file=sys.stderr)
