"""Small helpers for sentences: numbers, lists of names, names that somebody typed, and paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

# Control characters, line breaks, and characters that change the writing direction, which names may contain.
UNSHOWABLE = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)), " ")


def shortest(number: float) -> str:
    """Return the shortest text for a number: 2.0 as 2, 2.5 as 2.5."""
    return format(number, ".12g")


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, singular or plural: 1 triangle, 2 triangles. many: one + "s" if "".

    The words may include more of the sentence, as far as it depends on the number.
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """Return a fraction in percent: 0.39 as 39 %, 0.006 as 0.6 %, and anything smaller as less than 0.1 %."""
    if share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.{0 if share >= 0.1 else 1}f} %"


def commaSeparated(names: Iterable[str], most: int = 10) -> str:
    """Return names as a list for a sentence, cut short if there are many."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more or "none"


def cutShort(sentences: Iterable[str], most: int = 3) -> list[str]:
    """Return sentences for one paragraph or line: the first ones, and how many more there are."""
    sentences = list(sentences)
    more = len(sentences) - most
    return [*sentences[:most], f"There are {more} more like this."] if more > 1 else sentences


def didYouMean(given: str, choices: Iterable[str]) -> str:
    """Return " Did you mean X?" to append to a message about an unknown name, "" if no choice is similar."""
    import difflib  # not needed for a command's help

    known = {choice.casefold(): choice for choice in choices}
    likely = difflib.get_close_matches(given.casefold(), known, 1)
    return f" Did you mean {known[likely[0]]}?" if likely else ""


def inAnyCase(given: str, names: Iterable[str]) -> str:
    """Return the name that differs from a given one only in case, or else in spaces, hyphens and underscores as well.

    The given one is returned if there is none.
    """
    names = list(names)
    exact = next((name for name in names if name.casefold() == given.casefold()), "")
    return exact or next((name for name in names if folded(name) == folded(given)), given)


def folded(name: str) -> str:
    """Return a name in lower case without spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", name.casefold())


def tellingApart(paths: Iterable[str | os.PathLike]) -> dict[str | os.PathLike, str]:
    """Return names for paths in messages, by path: the last part of each, or as many as no other path ends with."""
    parts = {path: Path(path).parts or Path.cwd().parts[-1:] for path in paths}

    def ending(path: str | os.PathLike) -> tuple[str, ...]:
        others = [other for other in parts.values() if other != parts[path]]
        endings = (parts[path][-number:] for number in range(1, len(parts[path])))
        return next((some for some in endings if all(o[-len(some) :] != some for o in others)), parts[path])

    return {path: str(Path(*ending(path))) for path in parts}


def oneLine(text: str) -> str:
    """Return text without characters that would break a line on a terminal."""
    return text.translate(UNSHOWABLE)
