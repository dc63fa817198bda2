"""Numbers that people write with a unit: 1 mm, 2000 cGy, 5 %."""

from __future__ import annotations

import re
from decimal import Decimal

# The units that a number may be written with, by the unit of its kind: each with its size there.
UNITS: dict[str, dict[str, float]] = {
    "mm": {"mm": 1, "cm": 10},
    "mm2": {"mm2": 1, "cm2": 100},
    "mm3": {"mm3": 1, "cm3": 1000, "ml": 1000, "cc": 1000, "ccm": 1000},
    "cm3": {"cm3": 1, "ml": 1, "cc": 1, "ccm": 1, "mm3": 0.001},
    "Gy": {"Gy": 1, "cGy": 0.01},
    "": {"%": 0.01},
}
WRITTEN = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(?!e[+-]?\d)([a-zA-Z%][^\s]*)", re.IGNORECASE)


def splitUnit(text: str) -> tuple[str, str] | None:
    """Return a number and the unit behind it, both as text, None for any other text. A unit may have ³ or ^3 for 3."""
    found = WRITTEN.fullmatch(text.strip())
    return found and (found[1], found[2].translate(str.maketrans("²³", "23")).replace("^", ""))


def isNumber(text: str) -> bool:
    """Return whether a text is a number, with or without a unit."""
    if splitUnit(text):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def unitsOf(unit: str) -> dict[str, float]:
    """Return the units that a number of a unit may be written with, and the size of each."""
    return UNITS.get(unit, {unit: 1.0})


def inUnit(number: str, written: str, unit: str) -> float | None:
    """Return a number that is written with one unit, in any case, in another one; None if they are of two kinds."""
    sizes = {name.casefold(): size for name, size in unitsOf(unit).items()}
    if written.casefold() not in sizes:
        return None
    # exactly what was written: 5 % is 0.05, and not 5 times 0.01
    return float(Decimal(number) * Decimal(str(sizes[written.casefold()])))
