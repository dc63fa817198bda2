"""The registry: all measurements, with their names, texts and the functions that compute them.

Tables, tooltips, CSV headers, the README's table of metrics and the documentation are generated from it. A new metric
is a function in the file of its family and one entry in it. A new family is a file here, and its name in
settings/names.py.

Where a number comes from: its entry has the formula and, as `code`, the function that implements it; docs/formulas.md
lists both for every key. Entries of a kind, such as MeanR to MeanI, are made by one function of their file.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from ..settings.names import FAMILIES
from .measurement import Measurement
from .metric import Definition
from .multilabel import MULTI_LABEL


def _entriesOf(family: str) -> tuple[Definition, ...]:
    """Return what a family declares, under its own name, in its file."""
    return getattr(importlib.import_module(f".{family}", __package__), family.upper())


REGISTRY = tuple(definition for family in FAMILIES for definition in _entriesOf(family))


class Found(NamedTuple):
    """The definition of a key, and the key's parameters as text."""

    definition: Definition
    words: Mapping[str, str]


# every key read from a file is looked up; in a cohort, these are the same few keys many thousand times
@lru_cache(maxsize=4096)
def findDefinition(key: str) -> Found | None:
    """Return the definition of a key like "NSD_2mm" and its parameters as text, or None if the key is unknown."""
    for definition in (*REGISTRY, *MULTI_LABEL):
        if (words := definition.wordsIn(key)) is not None:
            return Found(definition, MappingProxyType(words))
    return None


def restored(key: str, data: Mapping) -> Measurement:
    """Return a measurement from the result of Measurement.toDictionary(), with the texts of its definition."""
    found = findDefinition(key)
    return Measurement.fromDictionary(key, data, found and found.definition)
