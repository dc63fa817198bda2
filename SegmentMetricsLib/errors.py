"""Errors that users can cause, and helpers for their messages."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from pathlib import Path

# Most mistakes in a file that are listed; more are not typing errors, and only counted.
MOST_MISTAKES = 20
# Control characters, line breaks, and characters that change the writing direction, which names may contain.
UNSHOWABLE = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)), " ")


class InputError(ValueError):
    """Input that cannot be compared or settings out of range; the message names the problem in words for users."""


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
    """The cause of a measurement without a value, for causes that other code depends on."""

    NOT_CLOSED = "the surface of one of both is not closed"
    DEFECT = "the surface of one of both is closed, and has no inside all the same"
    NO_BOUNDARY = "there is no boundary that it could be about"


class Undefined(ValueError):
    """A measurement has no value for a pair; the message is the reason. cause: None if no other code depends on it."""

    def __init__(self, reason: str, cause: Cause | None = None):
        super().__init__(reason)
        self.cause = cause


def requireText(path: Path) -> None:
    """Raise InputError when a path is not valid Unicode, as the libraries that read and write files would crash."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{path}: this name has characters that are not valid Unicode; choose another one.") from None


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, singular or plural: 1 triangle, 2 triangles. many: one + "s" if "".

    The words may include more of the sentence, as far as it depends on the number.
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def didYouMean(given: str, choices: Iterable[str]) -> str:
    """Return " Did you mean X?" to append to a message about an unknown name, "" if no choice is similar."""
    import difflib  # not needed for a command's help

    known = {choice.casefold(): choice for choice in choices}
    likely = difflib.get_close_matches(given.casefold(), known, 1)
    return f" Did you mean {known[likely[0]]}?" if likely else ""


def inAnyCase(given: str, names: Iterable[str]) -> str:
    """Return the name that differs from a given one only in case; the given one if there is none."""
    return next((name for name in names if name.casefold() == given.casefold()), given)


def tellingApart(paths: Iterable[str | Path]) -> dict[str | Path, str]:
    """Return names for paths in messages, by path: the last part of each, or as many as no other path ends with."""
    parts = {path: Path(path).parts for path in paths}

    def ending(path: str | Path) -> tuple[str, ...]:
        others = [other for other in parts.values() if other != parts[path]]
        endings = (parts[path][-number:] for number in range(1, len(parts[path])))
        return next((some for some in endings if all(o[-len(some) :] != some for o in others)), parts[path])

    return {path: str(Path(*ending(path))) for path in parts}


def oneLine(text: str) -> str:
    """Return text without characters that would break a line on a terminal."""
    return text.translate(UNSHOWABLE)
