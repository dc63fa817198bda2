"""What a table of the panel shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Table(NamedTuple):
    """The arguments of SortableTable.show(), which describes them."""

    headings: Sequence[str] = ()
    rows: Sequence[Sequence[tuple]] = ()
    tips: Sequence[str] = ()
    stretched: Sequence[int] = ()
    groups: Sequence[tuple[str, str]] = ()
    order: Sequence[int] = ()


def sortable(value: float | None) -> float | None:
    """Return a number as a sorting key: None if it is None or NaN."""
    return None if value is None or math.isnan(value) else value


def inUnit(value: float | None, unit: str) -> tuple[str, float] | None:
    """Return a number as a sorting key in a column with several units: those of a unit stay together."""
    return None if sortable(value) is None else (unit, value)
