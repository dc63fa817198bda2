"""What settings accept: each function here returns the check for one kind of value.

`what` is what the setting is called in the sentence of an error, such as "tolerance".
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..base import units
from ..base.errors import InputError
from ..base.texts import commaSeparated, inAnyCase, shortest

# most values of tolerances, percentiles and so on, as each takes time
MOST_NUMBERS = 100


@dataclass(frozen=True)
class Check:
    """What a setting accepts.

    Called with a value, it returns the value as it is kept, such as a number for a text, or raises InputError, in a
    sentence for users. accepts: the same in words, "" if the setting explains it. option: how argparse reads an option
    for such values; read: returns the value that the option's text stands for. plain: returns a value as it is written
    into files. choices: the words that are accepted, if there are no others.
    """

    keep: Callable[[Any], Any]
    accepts: str = ""
    option: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[Any], Any] = lambda given: given
    plain: Callable[[Any], Any] = lambda value: list(value) if isinstance(value, tuple) else value
    choices: tuple[str, ...] = ()

    def __call__(self, value: Any) -> Any:
        return self.keep(value)


def oneOf(what: str, choices: Sequence[str] | Sequence[int]) -> Check:
    """Accept one of some words, in any case, or of some whole numbers, also as text."""
    words, kind = tuple(map(str, choices)), type(choices[0])
    accepts = f"one of {', '.join(words)}"

    def keep(value: Any) -> Any:
        known = inAnyCase(value, words) if isinstance(value, str) else value
        if isinstance(value, bool) or str(known) not in words:
            raise InputError(f"The {what} must be {accepts}, not {value!r}.")
        return kind(known)

    return Check(keep, accepts, {"type": kind, "choices": tuple(choices)}, choices=words)


def yesOrNo(what: str) -> Check:
    """Accept True or False. what: a sentence that is true or not."""

    def keep(value: Any) -> bool:
        if not isinstance(value, bool):
            raise InputError(f"Whether {what} must be True or False, not {value!r}.")
        return value

    return Check(keep, "True or False", {"action": "store_true", "default": None})


def wholeNumber(what: str, low: int, high: int) -> Check:
    """Accept whole numbers from low to high."""
    accepts = f"a whole number from {low} to {high}"

    def keep(value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            number = None
        if number is None or isinstance(value, bool) or not low <= number <= high:
            raise InputError(f"The {what} must be {accepts}, not {value!r}.")
        return number

    return Check(keep, accepts, {"type": int})


def _number(
    what: str, isAccepted: Callable[[float], bool], accepts: str, unit: str = "", article: str = "The"
) -> Check:
    def keep(value: Any) -> float:
        number = numberFrom(value, what, unit)
        if not isAccepted(number):
            raise InputError(f"{article} {what} must be {accepts}, not {number:g}.")
        return number

    return Check(keep, accepts, {"type": float})


def positive(what: str, most: float = math.inf, unit: str = "", article: str = "The") -> Check:
    """Accept numbers greater than 0, up to `most`."""
    accepts = f"greater than 0{'' if math.isinf(most) else f' and at most {most:g}'}{unit}"
    return _number(what, lambda number: 0 < number <= most, accepts, unit, article)


def fromZero(what: str, most: float = math.inf, unit: str = "") -> Check:
    """Accept numbers from 0 on, up to `most`."""
    accepts = f"at least 0{unit}" if math.isinf(most) else f"from 0 to {most:g}"
    return _number(what, lambda number: 0 <= number <= most, accepts, unit)


def several(what: str, most: float, unit: str = "") -> Check:
    """Accept one or several numbers greater than 0, up to `most`; a text may have several, with commas between them.

    Those that shortest() writes alike are kept once: they would share a key.
    """
    each = positive(what, most, unit, article="A")

    def keep(values: Any) -> tuple[float, ...]:
        if isinstance(values, str) or not isinstance(values, Iterable):
            values = (values,)
        parts = (part for value in values for part in (value.split(",") if isinstance(value, str) else [value]))
        different = {shortest(number): number for number in (numberFrom(part, what, unit) for part in parts)}
        if len(different) > MOST_NUMBERS:
            raise InputError(f"There can be at most {MOST_NUMBERS} values of the {what}, not {len(different)}.")
        return tuple(map(each, different.values()))

    return Check(keep, f"one or several numbers, each {each.accepts}", {"type": float, "action": "append"})


def weights(what: str, most: float = math.inf) -> Check:
    """Accept one name, several names, or name -> weight in (0, most]; they become pairs of name and weight."""

    def keep(given: Any) -> tuple[tuple[str, float], ...]:
        if isinstance(given, str):
            given = (given,)
        try:
            entries = given.items() if isinstance(given, Mapping) else given
            pairs = [(entry, 1.0) if isinstance(entry, str) else tuple(entry) for entry in entries]
            named = all(isinstance(name, str) for name, _ in pairs)
        except (TypeError, ValueError):
            named = False
        if not named:
            raise InputError(f"{what.capitalize()}s are given by name, or as name and weight, not as {given!r}.")
        return tuple({name: positive(f"weight of the {what} {name!r}", most)(weight) for name, weight in pairs}.items())

    accepts = f"names, or name -> weight {positive(what, most).accepts}; they are kept as pairs"
    return Check(keep, accepts, {"action": "append"}, read=_namedWeights, plain=dict)


def nameOrNumber(what: str) -> Check:
    """Accept the name of a structure, or the number of a label; both are kept as text."""

    def keep(given: Any) -> str:
        isNumber = isinstance(given, int) and not isinstance(given, bool) and given > 0
        if not isNumber and not (isinstance(given, str) and given.strip()):
            raise InputError(f"The {what} is given by its name or its number, not by {given!r}.")
        return str(given).strip()

    return Check(keep, "a name, or a whole number from 1")


def classes(what: str) -> Check:
    """Accept a mapping of names or numbers to names, or such pairs; they become pairs of texts."""

    def keep(given: Any) -> tuple[tuple[str, str], ...]:
        try:
            pairs = dict(given.items() if isinstance(given, Mapping) else given).items()
        except (TypeError, ValueError):
            pairs = {None: None}.items()
        found = tuple((str(label), name) for label, name in pairs)
        if not all(isinstance(name, str) and name.strip() for _, name in found):
            raise InputError(f"{what} are given as label and name, not as {given!r}.")
        return found

    return Check(keep, "pairs of a label and a name", plain=dict)


def orNone(check: Check) -> Check:
    """Accept None as well."""
    return replace(check, keep=lambda value: None if value is None else check(value))


def _namedWeights(given: Sequence[str]) -> dict[str, float]:
    """Return the weights of structures given as NAME or NAME=WEIGHT; names may contain equals signs."""
    found = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            found[name or text] = float(number) if name else 1.0
        except ValueError:
            found[text] = 1.0
    return found


def numberFrom(value: Any, what: str, unit: str = "") -> float:
    """Return a number that is given as it is or as text, which may have a unit of the same kind: 1 cm for 10 mm.

    unit: of the number, "" for a fraction, which may be in percent. Raises InputError for anything else.
    """
    if isinstance(value, str) and (written := units.splitUnit(value)):
        if (number := units.inUnit(*written, unit.strip())) is None:
            allowed = commaSeparated(units.unitsOf(unit.strip()))
            raise InputError(f"The {what} cannot be in {written[1]}, as in {value.strip()!r}; use {allowed}.")
        return number
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = None
    except OverflowError:  # an integer with hundreds of digits
        number = math.inf
    if number is None or isinstance(value, bool):
        raise InputError(f"The {what} must be a number, not {value!r}.")
    if not math.isfinite(number):
        raise InputError(f"The {what} must be a finite number, not {number}.")
    return number
