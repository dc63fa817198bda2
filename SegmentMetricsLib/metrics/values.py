"""What the function of a definition may return beside a plain number."""

from __future__ import annotations

from typing import NamedTuple


class Directed(NamedTuple):
    """A value, Bounded where its error is known, and the values of the single directions."""

    value: float
    referenceToTest: float
    testToReference: float


class Located(NamedTuple):
    """A value and the LPS position in mm where it was found, None if it has no place."""

    value: float
    position: tuple[float, float, float] | None


class Remarked(NamedTuple):
    """A value, and what a reader should know about it, "" for nothing."""

    value: float
    remark: str
