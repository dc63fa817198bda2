"""The names of measurements that settings may give: rooms above declare them, so they are handed in from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Named(NamedTuple):
    """The measurements that a name stands for.

    key: as it is kept. family: of the measurements. stated: the values of parameters that the name states, by the
    setting that lists such values: {"tolerances": (3.0,)} for NSD_3mm.
    """

    key: str
    family: str
    stated: Mapping[str, tuple[float, ...]]


_handed: list[Callable[[str], Named]] = []


def handIn(vocabulary: Callable[[str], Named]) -> None:
    """Use a function that returns what a name stands for, and raises InputError for an unknown name."""
    _handed[:] = [vocabulary]


def meaningOf(name: str) -> Named:
    """Return the measurements that a name stands for. Raises InputError for an unknown name."""
    (vocabulary,) = _handed
    return vocabulary(name)
