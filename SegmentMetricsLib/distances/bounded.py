"""Numbers with error bounds."""

from __future__ import annotations

from collections.abc import Callable


class Bounded(float):
    """A number with a lower and an upper bound; the bounds are None if its error is unknown.

    Arithmetic gives plain numbers; combine() propagates bounds to functions of several numbers.
    """

    lower: float | None
    upper: float | None

    def __new__(cls, value: float, lower: float | None = None, upper: float | None = None) -> Bounded:
        number = super().__new__(cls, value)
        number.lower, number.upper = lower, upper
        return number

    @property
    def bounds(self) -> tuple[float, float]:
        """The lower and the upper bound, the number itself where they are unknown."""
        return (self, self) if self.lower is None or self.upper is None else (self.lower, self.upper)

    @staticmethod
    def within(value: float, error: float, low: float, high: float) -> Bounded:
        """Return a number with an error to either side, clipped to the range of possible values from low to high."""
        value = min(max(value, low), high)
        return Bounded(value, max(value - error, low), min(value + error, high))


def combine(function: Callable[..., float], *numbers: float) -> Bounded:
    """Return the value of a function that increases with each of some numbers, with bounds if all of them have them."""
    lower = [getattr(number, "lower", None) for number in numbers]
    upper = [getattr(number, "upper", None) for number in numbers]
    value = function(*map(float, numbers))
    if None in lower or None in upper:
        return Bounded(value)
    return Bounded(value, float(function(*lower)), float(function(*upper)))
