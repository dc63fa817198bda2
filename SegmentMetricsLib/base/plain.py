"""Plain values for files: objects of the library as numbers, texts, lists and dictionaries, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np


def finite(value: float | None) -> float | None:
    """Return a value, None if it is not finite, which JSON cannot represent."""
    return value if value is not None and math.isfinite(value) else None


def storeAs(key: str = "", default: Any = MISSING, *, isLeftOut: bool = False) -> Any:
    """Return a field of a dataclass. key: in files, if not its name. isLeftOut: whether they leave out an empty one."""
    return field(default=default, metadata={"key": key, "isLeftOut": isLeftOut})


def toPlain(value: Any) -> Any:
    """Return a value as JSON can have it: dataclasses by their fields, and None for numbers that are not finite.

    An object with a toDictionary() says itself what it is.
    """
    if hasattr(value, "toDictionary"):
        return value.toDictionary()
    if is_dataclass(value):
        told = ((one, getattr(value, one.name)) for one in fields(value))
        return {_keyOf(f): toPlain(own) for f, own in told if not f.metadata.get("isLeftOut") or own not in (None, {})}
    if isinstance(value, Mapping):
        return {key: toPlain(own) for key, own in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return [toPlain(own) for own in value]
    return finite(value) if isinstance(value, float) else value


def fromPlain(kind: Any, data: Any) -> Any:
    """Return the value of a type, such as tuple[Place, ...], that toPlain() turned into plain values."""
    if hasattr(kind, "fromDictionary"):
        return kind.fromDictionary(data)
    given = get_args(kind)
    if get_origin(kind) is UnionType:
        return None if data is None else fromPlain(given[0], data)
    if get_origin(kind) is tuple:
        return tuple(fromPlain(given[0], one) for one in data)
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: fromPlain(own, data[key]) for name, (key, own) in _typesOf(kind).items() if key in data})
    return np.array(data, float) if kind is np.ndarray else data


@cache
def _typesOf(kind: type) -> dict[str, tuple[str, Any]]:
    """Return the key in files and the type of each field of a dataclass, by its name."""
    hints = get_type_hints(kind)
    return {one.name: (_keyOf(one), hints[one.name]) for one in fields(kind)}


def _keyOf(field) -> str:
    return field.metadata.get("key") or field.name
