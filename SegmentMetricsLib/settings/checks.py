"""What settings accept: each function here returns a check for one kind of value.

A check returns the value as it is kept, such as a number for a text. It raises InputError, in a sentence for users, for
a value that is not accepted. `what` is what the setting is called in that sentence.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..base.errors import InputError
from ..base.texts import shortest

# most values of tolerances, percentiles and so on, as each takes time
MOST_NUMBERS = 100


def oneOf(what: str, choices: Sequence[str]) -> Callable[[object], str]:
    """Accept one of some words."""

    def check(value) -> str:
        if value not in choices:
            raise InputError(f"The {what} must be one of {', '.join(choices)}, not {value!r}.")
        return value

    return check


def yesOrNo(what: str) -> Callable[[object], bool]:
    """Accept True or False. what: a sentence that is true or not."""

    def check(value) -> bool:
        if not isinstance(value, bool):
            raise InputError(f"Whether {what} must be True or False, not {value!r}.")
        return value

    return check


def wholeNumber(what: str, low: int, high: int) -> Callable[[object], int]:
    """Accept whole numbers from low to high."""

    def check(value) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            number = None
        if number is None or isinstance(value, bool) or not low <= number <= high:
            raise InputError(f"The {what} must be a whole number from {low} to {high}, not {value!r}.")
        return number

    return check


def positive(what: str, most: float = math.inf, unit: str = "", article: str = "The") -> Callable[[object], float]:
    """Accept numbers greater than 0, up to `most`."""
    limit = "" if math.isinf(most) else f" and at most {most:g}"

    def check(value) -> float:
        number = _number(value, what)
        if not 0 < number <= most:
            raise InputError(f"{article} {what} must be greater than 0{limit}{unit}, not {number:g}.")
        return number

    return check


def share(what: str) -> Callable[[object], float]:
    """Accept numbers from 0 to 1."""

    def check(value) -> float:
        number = _number(value, what)
        if not 0 <= number <= 1:
            raise InputError(f"The {what} must be from 0 to 1, not {number:g}.")
        return number

    return check


def several(what: str, most: float, unit: str = "") -> Callable[[object], tuple[float, ...]]:
    """Accept one or several numbers greater than 0, up to `most`.

    Those that shortest() writes alike are kept once: they would share a key.
    """
    each = positive(what, most, unit, article="A")

    def check(values) -> tuple[float, ...]:
        if isinstance(values, str) or not isinstance(values, Iterable):
            values = (values,)
        different = {shortest(number): number for number in (_number(value, what) for value in values)}
        if len(different) > MOST_NUMBERS:
            raise InputError(f"There can be at most {MOST_NUMBERS} values of the {what}, not {len(different)}.")
        return tuple(map(each, different.values()))

    return check


def weights(what: str, most: float = math.inf) -> Callable[[object], tuple[tuple[str, float], ...]]:
    """Accept one name, several names, or name -> weight in (0, most]; they become pairs of name and weight."""

    def check(given) -> tuple[tuple[str, float], ...]:
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

    return check


def orNone(check: Callable) -> Callable:
    """Accept None as well."""
    return lambda value: None if value is None else check(value)


def _number(value, what: str) -> float:
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
