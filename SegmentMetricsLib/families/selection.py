"""Single measurements that somebody asks for by name, and which measurements settings select."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..base.errors import InputError
from ..base.texts import inAnyCase, shortest
from ..comparison.definitions import Asked, Definition
from ..settings.names import FAMILIES, FAMILY_CHOICE
from ..settings.settings import EXAMPLES, PARAMETERS
from ..settings.vocabulary import Named
from .multilabel.entries import MULTI_LABEL
from .registry import REGISTRY

if TYPE_CHECKING:
    from ..settings.settings import Settings

# What a name may leave out of a key, such as the 2mm of NSD_2mm.
PARAMETER = re.compile(r"_?\{\w+\}.*")
# Shorter words are in too many titles.
SHORT = 4


class Wanted(NamedTuple):
    """Measurements that one name stands for.

    key: as it is kept. definition: of the measurement. words: the parameters that the name states, as text; those it
    leaves out have the values of the settings.
    """

    key: str
    definition: Definition
    words: Mapping[str, str]


@lru_cache(maxsize=1024)  # every measurement of every pair is held against the same few names
def wanted(name: str) -> Wanted:
    """Return the measurements that a name stands for: a key in any case, or one without its parameter, such as NSD.

    Raises InputError for an unknown name, with the one that was probably meant.
    """
    definitions = (*REGISTRY, *MULTI_LABEL)
    bare = {nameOf(definition): definition for definition in reversed(definitions)}
    if (known := inAnyCase(name, bare)) in bare:
        return Wanted(known, bare[known], {})
    for definition in definitions:
        if words := definition.wordsIn(name, inAnyCase=True):
            words = {parameter: shortest(float(word)) for parameter, word in words.items()}
            return Wanted(definition.keyFor(words), definition, words)
    hint = f" Did you mean {meant}?" if (meant := likeliest(name)) else ""
    raise InputError(f"There is no measurement {name!r}; docs/formulas.md lists all of them.{hint}")


def nameOf(definition: Definition) -> str:
    """Return the key of a definition without its parameter, such as NSD for NSD_2mm.

    Keys that would then be the same keep it: HD95, as HD is another, and D95Test, as D95Reference is.
    Measurements that are called so have the parameters of the settings.
    """
    name = PARAMETER.sub("", definition.key)
    return definition.key if _bareNames()[name] > 1 else name


@cache
def _bareNames() -> Counter[str]:
    """Return how many definitions of the registry have each name without its parameter."""
    return Counter(PARAMETER.sub("", definition.key) for definition in REGISTRY)


def likeliest(name: str, others: Iterable[str] = ()) -> str:
    """Return the key that was probably meant: by the name in another program, by title, by likeness; "" for none.

    others: further words that may have been meant.
    """
    word = name.casefold()
    keys = {definition.keyFor(EXAMPLES): definition for definition in (*REGISTRY, *MULTI_LABEL)}
    if not word:
        return ""
    plain = re.sub(r"[\W_]", "", word)
    ways = [
        lambda key, one: word == one.alias.casefold() or plain == re.sub(r"[\W_]", "", key.casefold()),
        # "Dice" is the coefficient, not the beginning of a longer word; one of all labels is rarely meant
        lambda key, one: one not in MULTI_LABEL and re.match(rf"{re.escape(word)}\b", one.title.casefold()),
        lambda key, one: len(word) >= SHORT and re.search(rf"\b{re.escape(word)}\b", one.title.casefold()),
    ]
    for isMeant in ways:
        for key, definition in keys.items():
            if isMeant(key, definition):
                return key
    names = {name.casefold(): name for name in (*others, *map(nameOf, keys.values()), *keys)}
    likely = difflib.get_close_matches(word, names, 1)
    return names[likely[0]] if likely else ""


def meaningOf(name: str) -> Named:
    """Return what a name means in settings: they accept names of families as well, so the message is about both.

    Raises InputError for an unknown name.
    """
    try:
        one = wanted(name.strip())
    except InputError:
        meant = likeliest(name.strip(), FAMILIES)
        hint = f" Did you mean {meant}?" if meant else ""
        raise InputError(
            f"There is no metric family {name!r}, nor such a measurement; choose from {FAMILY_CHOICE}, or from the "
            f"keys of measurements, such as DSC and HD95.{hint}"
        ) from None
    stated = {PARAMETERS[parameter]: (float(word),) for parameter, word in one.words.items()}
    return Named(one.key, one.definition.family, stated)


def isSelected(definition: Definition, settings: Settings, key: str | None = None) -> bool:
    """Return whether settings select a measurement.

    key: with its parameters; None asks for the definition, whatever its parameters.
    """
    if definition.family not in settings.families:
        return False
    names = _namesOf(definition.family, settings)
    if not names:
        return True
    return any(
        name == key or (one.definition.key == definition.key and (key is None or not one.words))
        for name, one in names.items()
    )


def isWhole(family: str, settings: Settings) -> bool:
    """Return whether settings select all measurements of a family."""
    return family in settings.families and not _namesOf(family, settings)


def _namesOf(family: str, settings: Settings) -> dict[str, Wanted]:
    """Return the measurements that settings name in a family; none if they select all of it."""
    found = {name: wanted(name) for name in settings.metrics}
    return {name: one for name, one in found.items() if one.definition.family == family}


def selected(settings: Settings, definitions: Iterable[Definition] = REGISTRY) -> Iterator[Asked]:
    """Yield the measurements of a pair that settings select, in the order of the definitions."""
    for definition in definitions:
        if isSelected(definition, settings):
            for parameter in definition.parameters(settings):
                words = {name: shortest(value) for name, value in parameter.items()}
                if isSelected(definition, settings, definition.keyFor(words)):
                    yield Asked(definition, parameter)
