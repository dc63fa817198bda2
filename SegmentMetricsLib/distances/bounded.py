"""Numbers that say how well they are known."""

from __future__ import annotations

from collections.abc import Callable


class Bounded(float):
    """A number between a lower and an upper bound; None where nothing is said about its error.

    Arithmetic gives plain numbers: whatever is computed from several combines their bounds by combined().
    """

    lower: float | None
    upper: float | None

    def __new__(cls, value: float, lower: float | None = None, upper: float | None = None) -> Bounded:
        number = super().__new__(cls, value)
        number.lower, number.upper = lower, upper
        return number

    @staticmethod
    def within(value: float, error: float, low: float, high: float) -> Bounded:
        """Return a number with an error to either side, inside the range from low to high that is possible at all."""
        value = min(max(value, low), high)
        return Bounded(value, max(value - error, low), min(value + error, high))


def combined(function: Callable[..., float], *numbers: float) -> Bounded:
    """Return a function of some numbers that grows with each of them, with bounds if all of them have."""
    lower = [getattr(number, "lower", None) for number in numbers]
    upper = [getattr(number, "upper", None) for number in numbers]
    value = function(*map(float, numbers))
    if None in lower or None in upper:
        return Bounded(value)
    return Bounded(value, float(function(*lower)), float(function(*upper)))
