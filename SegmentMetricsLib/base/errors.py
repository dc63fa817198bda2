"""Errors that users can cause."""

from __future__ import annotations

import enum
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .texts import Statement, oneLine

# Most mistakes in a file that are listed; more are not typing errors, and only counted.
MOST_MISTAKES = 20


class InputError(ValueError):
    """Input that cannot be compared or settings out of range; the message names the problem in words for users."""


# What Slicer can install of the extras of this package, for which its Python has no pip in a shell.
IN_SLICER = {"skeletons": "scikit-image", "report": "plotly", "dicom": "pydicom highdicom", "plots": "matplotlib"}


def installing(extra: str) -> str:
    """Return the command that installs what an extra of this package needs, for messages that something is missing."""
    if hasattr(sys.modules.get("slicer"), "app"):  # in the application
        return f'slicer.util.pip_install("{IN_SLICER.get(extra, extra)}")'
    return f'pip install "segment-metrics[{extra}]"'


class PairError(InputError):
    """Two structures that cannot be compared: the message names them and their files, and ends with the reason.

    reason: the reason alone, for places where files are known or must not be named.
    """

    def __init__(self, message: str, reason: str = ""):
        super().__init__(message)
        self.reason = reason or message


class Mistakes(InputError):
    """Several mistakes in one file, one per line; after MOST_MISTAKES lines, the number of further ones.

    problems: the sentences of the message.
    """

    def __init__(self, *problems: str):
        super().__init__(*problems)
        more = len(problems) - MOST_MISTAKES
        self.problems = tuple(map(oneLine, problems[:MOST_MISTAKES]))
        if more > 0:
            self.problems += (f"... and {more} more.",)

    def __str__(self) -> str:
        return "\n".join(self.problems)


def raiseAny(problems: Sequence[InputError]) -> None:
    """Raise a single error that lists all problems; do nothing if there are none."""
    if problems:
        raise problems[0] if len(problems) == 1 else Mistakes(*map(str, problems))


def reasonOf(error: Exception) -> str:
    """Return the reason in an error as one line; for a PairError without the names of the structures and files."""
    return oneLine(error.reason if isinstance(error, PairError) else str(error))


class NoSegmentation(InputError):
    """An image that is intact and readable but holds no structures, such as a CT or a dose."""


class Cause(enum.Enum):
    """The cause of a measurement without a value, for causes that other code depends on, with its sentence."""

    NOT_CLOSED = "the surface of the {which} is not closed, so it has no inside"
    # closed, but encloses no volume
    DEFECT = "the surface of the {which} {why}, so it has no inside"
    NO_BOUNDARY = "no part of the boundary faces {side}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return (self.value,)


class Reason(Statement):
    """Why a measurement has no value, where other code depends on that."""

    kind: Cause


class Undefined(ValueError):
    """A measurement has no value for a pair. reason: a Reason where other code depends on the cause."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


def requireKind(given: object, kinds: type | tuple[type, ...], what: str, needed: str) -> None:
    """Raise InputError unless an argument is of one of the kinds. what: it, and needed: what it must be, in words."""
    if not isinstance(given, kinds):
        raise InputError(f"{what} must be {needed}, not {type(given).__name__}.")


def requireFunction(given: object, what: str) -> None:
    """Raise InputError when an argument cannot be called. what: the argument, in words for the message."""
    if not callable(given):
        raise InputError(f"{what} must be a function, not {type(given).__name__}.")


def asPath(given: str | os.PathLike[str], what: str = "The path") -> Path:
    """Return the path of a file or folder. Raises InputError for anything but a text or a Path."""
    requireKind(given, (str, os.PathLike), what, "a text or a Path")
    return Path(given)


def requireText(path: Path) -> None:
    """Raise InputError when a path is not valid Unicode: some libraries that read or write files take no such name."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{path}: this name has characters that are not valid Unicode; choose another one.") from None
