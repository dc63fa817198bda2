"""Texts: numbers, positions, names, those that somebody typed, paths; and sentences that other code depends on."""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple, TypeVar

K = TypeVar("K", bound=enum.Enum)
S = TypeVar("S", bound="Statement")

# Sides of the patient toward which the LPS axes point, the negative direction first.
LETTERS_OF_AXES = (("R", "L"), ("A", "P"), ("I", "S"))
# Control characters, line breaks, and characters that change the writing direction, which names may contain.
UNSHOWABLE = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)), " ")


def shortest(number: float) -> str:
    """Return the shortest text for a number: 2.0 as 2, 2.5 as 2.5."""
    return format(number, ".12g")


def pluralize(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun, singular or plural: 1 triangle, 2 triangles. plural: singular + "s" if "".

    The words may include more of the sentence, as far as it depends on the number.
    """
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def positionText(position: Iterable[float]) -> str:
    """Return a position (3,), LPS in mm, as Slicer's views show it: R or L, A or P, S or I, and millimeters."""
    return " ".join(coordinateText(value, axis) for value, axis in zip(position, range(3), strict=True))


def coordinateText(value: float, axis: int, decimals: int = 0) -> str:
    """Return a coordinate of an LPS axis in mm as Slicer's views show it: R or L, A or P, S or I, and millimeters."""
    # half millimeters are common on lattices: noise in the last digit, as of a saved scene, must not affect rounding
    return f"{LETTERS_OF_AXES[axis][int(value > 0)]} {abs(value) + 1e-6:.{decimals}f}"


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
    folds: tuple[Callable[[str], str], ...] = (str.casefold, lambda name: re.sub(r"[\s_-]", "", name.casefold()))
    return next((name for fold in folds for name in names if fold(name) == fold(given)), given)


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


class SettingPlace(NamedTuple):
    """Where a setting can be changed that a sentence recommends; as text, all places in parentheses.

    option: of the command line, with its value. argument: the same in Python. panel: its place in Slicer, "" if the
    panel does not have it.
    """

    option: str
    argument: str
    panel: str = ""

    def __str__(self) -> str:
        slicer = [f"in Slicer {self.panel}"] if self.panel else []
        return f"({'; '.join([self.option, f'in Python {self.argument}', *slicer])})"

    @property
    def inPanel(self) -> str:
        """The text for users of Slicer's panel."""
        return f"({self.panel or 'in scripts only'})"


class Statement(str):
    """One sentence or several, made of a kind and values; a plain string to code that does not need these.

    With more text added, it keeps both. kind: a member of an enumeration whose members have templates as `sentences`;
    that of the class unless one is given.
    values: of the templates' blanks: texts, numbers or places. sentences: that the text consists of.
    """

    kind: Any
    values: dict[str, Any]
    sentences: tuple[str, ...]

    def __new__(
        cls: type[S],
        text: str,
        kind: enum.Enum | None = None,
        values: Mapping[str, Any] | None = None,
        sentences: Iterable[str] = (),
    ) -> S:
        statement = super().__new__(cls, text)
        statement.kind = cls.kind if kind is None else kind
        statement.values, statement.sentences = dict(values or {}), tuple(sentences) or (text,)
        return statement

    def __reduce__(self) -> tuple[type[Statement], tuple[str, Any, dict[str, Any], tuple[str, ...]]]:
        return type(self), (str(self), self.kind, self.values, self.sentences)

    def __add__(self: S, more: str) -> S:
        *before, last = self.sentences
        return type(self)(str(self) + more, self.kind, self.values, [*before, last + more])

    @classmethod
    def of(cls: type[S], kind: Any, **values: Any) -> S:
        """Return what a kind says, without sentences that have a blank of None. values: of its templates' blanks."""
        known = {name: value for name, value in values.items() if value is not None}
        sentences = [
            template.format(**known)
            for template in kind.sentences
            if all(values[name] is not None for _, name, _, _ in Formatter().parse(template) if name)
        ]
        return cls(" ".join(sentences), kind, known, sentences)

    def toDictionary(self) -> dict[str, Any]:
        """Return kind, values and text as plain values for files."""
        values = {name: one._asdict() if isinstance(one, SettingPlace) else one for name, one in self.values.items()}
        return {"kind": hyphenate(self.kind), "values": values, "text": str(self)}

    @property
    def isAdvice(self) -> bool:
        """Whether it recommends a setting."""
        return any(isinstance(value, SettingPlace) for value in self.values.values())

    @property
    def onPaper(self) -> str:
        """The text for pages to sign, on which nobody changes a setting: without the places where that is done."""
        text = str(self)
        for place in self.values.values():
            text = text.replace(f" {place}", "") if isinstance(place, SettingPlace) else text
        return text

    @property
    def inPanel(self) -> str:
        """The text for users of Slicer's panel: of the places where a setting can be changed, only that one."""
        text = str(self)
        for place in self.values.values():
            text = text.replace(str(place), place.inPanel) if isinstance(place, SettingPlace) else text
        return text


def hyphenate(kind: enum.Enum) -> str:
    """Return the name of a kind in files, such as "no-overlap"."""
    return kind.name.lower().replace("_", "-")


def kindNamed(name: object, kinds: type[K]) -> K | None:
    """Return the kind that has a name in files, None for an unknown one, as another version may have written it."""
    return next((kind for kind in kinds if hyphenate(kind) == name), None)
