"""What users can do wrong, and how they are told."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from pathlib import Path

# More mistakes in a file than this are no typing errors, and told by their number.
MOST_MISTAKES = 20
# Control characters, line breaks, and those that turn the direction of writing: names may contain them.
UNSHOWABLE = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)), " ")


class InputError(ValueError):
    """Input that cannot be compared or settings out of range; the message says what and which, in words for users."""


class PairError(InputError):
    """Two structures that cannot be compared: the message names them and their files, and ends with the reason.

    reason: alone, for where files must not be named or are known.
    """

    def __init__(self, message: str, reason: str = ""):
        super().__init__(message)
        self.reason = reason or message


class Mistakes(InputError):
    """Several mistakes in one file, told a line each; so many lines say how many more there are.

    problems: the sentences that are told.
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
    """Raise one error that tells all problems; nothing where there are none."""
    if problems:
        raise problems[0] if len(problems) == 1 else Mistakes(*map(str, problems))


def reasonOf(error: Exception) -> str:
    """Return why something cannot be compared, in a line without the names of its files where these are known."""
    return oneLine(error.reason if isinstance(error, PairError) else str(error))


class NoSegmentation(InputError):
    """An image that is whole and can be read, but holds no structures: a CT, say, or a dose."""


class Cause(enum.Enum):
    """Why a measurement has no value, where something else depends on it."""

    NOT_CLOSED = "the surface of one of both is not closed"
    DEFECT = "the surface of one of both is closed, and has no inside all the same"
    NO_BOUNDARY = "there is no boundary that it could be about"


class Undefined(ValueError):
    """A measurement has no value for a pair; the message is the reason. cause: None where nothing depends on it."""

    def __init__(self, reason: str, cause: Cause | None = None):
        super().__init__(reason)
        self.cause = cause


def requireText(path: Path) -> None:
    """Raise InputError when a path is not valid Unicode: the libraries that read and write files end the program."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{path}: this name has characters that are not valid Unicode; choose another one.") from None


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number and what there are so many of, in a sentence: 1 triangle, 2 triangles. many: one + "s" if "".

    The words go on as far as they depend on the number.
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def didYouMean(given: str, choices: Iterable[str]) -> str:
    """Return what goes below a message about a name that there is not, " Did you mean X?", "" if none is like it."""
    import difflib  # a command's help does without it

    known = {choice.casefold(): choice for choice in choices}
    likely = difflib.get_close_matches(given.casefold(), known, 1)
    return f" Did you mean {known[likely[0]]}?" if likely else ""


def inAnyCase(given: str, names: Iterable[str]) -> str:
    """Return a name as it is written, whatever its capitals are here; what is none of the names stays."""
    return next((name for name in names if name.casefold() == given.casefold()), given)


def oneLine(text: str) -> str:
    """Return text as it can stand in a line on a terminal."""
    return text.translate(UNSHOWABLE)
