"""What commands have in common that write results: the folder that collects them until all are there, and failures."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import InputError, oneLine
from .options import FAIL_ON, VERDICT_REACHED, requireWritable

# The exit status when some pairs or cases could not be compared, and others could; and how many of them are told of.
SOME_FAILED, MOST_FAILURES = 1, 12


@contextmanager
def unfinishedResults(output: Path, earlier: Sequence[Path] | None = None) -> Iterator[Path]:
    """Give a new folder for results. At the end all files in it arrive in the output folder, or none after an error.

    earlier: as for writing.deliver. Raises InputError when nothing can be written there.
    """
    from ..files import writing

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
        # a full disk, say; nobody knows the unfinished folder, and the writers of surfaces and pictures give no reason
        reason = error.strerror or "is the disk full?"
        raise InputError(f"{output}: the results cannot be written into this folder ({reason}).") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def terminalWidth() -> int | None:
    """Return how many characters fit into a line of the terminal; None where no terminal shows what is printed."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def finalStatus(isPartial: bool, verdicts: Iterable[str], failOn: str | None) -> int:
    """Return the exit status of a command that has compared something, and say why if verdicts decide it.

    isPartial: whether some pairs or cases could not be compared. failOn: as the option gives it; who asks for it wants
    to know of verdicts whatever else there is.
    """
    bad = [verdict for verdict in verdicts if verdict in reached(failOn)]
    if bad:
        worst = min(bad, key=reached(failOn).index)
        print(f"segment-metrics: the verdict is {worst}, so --fail-on {failOn} sets the exit status", file=sys.stderr)
        return VERDICT_REACHED
    return SOME_FAILED if isPartial else 0


def reached(failOn: str | None) -> list[str]:
    """Return the verdicts that are at least as bad as an option says, the worst first; none without one."""
    return [] if failOn is None else [name.replace("-", " ") for name in FAIL_ON[: FAIL_ON.index(failOn) + 1]]


def tellFailures(sentences: Sequence[str], where: str) -> None:
    """Say on standard error what failed, a line each. where: the file that has those that are too many to be said."""
    for sentence in sentences[:MOST_FAILURES]:
        print(oneLine(f"segment-metrics: {sentence}"), file=sys.stderr)
    if len(sentences) > MOST_FAILURES:
        print(f"segment-metrics: ... and {len(sentences) - MOST_FAILURES} more in {where}", file=sys.stderr)
