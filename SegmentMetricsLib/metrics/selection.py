"""Single measurements that somebody asks for by name, and which measurements settings select."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..base.errors import InputError
from ..base.texts import inAnyCase, shortest
from ..settings.names import FAMILIES, FAMILY_CHOICE
from ..settings.settings import EXAMPLES, PARAMETERS
from ..settings.vocabulary import Named
from .metric import Asked, Definition
from .multilabel import MULTI_LABEL
from .registry import REGISTRY

if TYPE_CHECKING:
    from ..settings.settings import Settings

# What a name may leave out of a key, such as the 2mm of NSD_2mm.
PARAMETER = re.compile(r"_?\{\w+\}.*")
# Ends of keys that are columns of a table, whose rows are called like the keys without them.
COLUMNS = re.compile("(Reference|Test|Difference)$")
OF_PART = re.compile("(Over|Under)$")
# Shorter words are in too many titles.
SHORT = 4


class Wanted(NamedTuple):
    """Measurements that one name stands for.

    key: as it is kept. definitions: of the measurements. words: the parameters that the name states, as text; those it
    leaves out have the values of the settings.
    """

    key: str
    definitions: tuple[Definition, ...]
    words: Mapping[str, str]


@lru_cache(maxsize=1024)  # every measurement of every pair is held against the same few names
def wanted(name: str) -> Wanted:
    """Return the measurements that a name stands for.

    It is a key in any case, one without its parameter, such as NSD, or what tables call a measurement or several: D95
    for that of the reference, that of the test and their difference. Raises InputError for an unknown name, with the
    one that was probably meant.
    """
    definitions = (*REGISTRY, *MULTI_LABEL)
    bare = {nameOf(definition): definition for definition in reversed(definitions)}
    if (known := inAnyCase(name, bare)) in bare:
        return Wanted(known, (bare[known],), {})
    for definition in definitions:
        if words := definition.wordsIn(name, inAnyCase=True):
            return _wantedAs(definition.key, [definition], words)
    for template, several in _called().items():
        if (words := _valuesIn(template, name)) is not None:
            return _wantedAs(template, several, words)
    hint = f" Did you mean {meant}?" if (meant := likeliest(name)) else ""
    raise InputError(f"There is no measurement {name!r}; docs/formulas.md lists all of them.{hint}")


def _wantedAs(called: str, several: Sequence[Definition], given: Mapping[str, str]) -> Wanted:
    """Return definitions as the measurements that a name stands for. called: as by _called(). given: parameters."""
    words = {parameter: shortest(float(word)) for parameter, word in given.items()}
    if len(several) > 1:
        return Wanted(called.format(**words), tuple(several), words)
    (only,) = several
    return Wanted(only.keyFor(words) if words else nameOf(only), (only,), words)


def rowOf(key: str) -> str:
    """Return what the row of a measurement is called in a table whose columns are the reference, the test and so on."""
    return OF_PART.sub(" of what the other one lacks", COLUMNS.sub("", key))


def headingOf(key: str, short: str = "") -> str:
    """Return the heading of a column or row with a measurement: NSD_2mm is "NSD 2 mm".

    short: what its definition says to be there in place of the key, with its {parameter}; "" for nothing.
    """
    name, _, parameter = key.partition("_")
    return f"{short or name} {parameter.replace('mm', ' mm')}".strip()


@cache
def _called() -> dict[str, tuple[Definition, ...]]:
    """Return what tables and other programs call measurements, and those that each name stands for.

    A name may have a {parameter}.
    """
    ways: list[Callable[[Definition], Iterable[str]]] = [
        lambda one: [headingOf(one.key, one.heading)],
        lambda one: [rowOf(one.key)] if one.family == "dose" or not OF_PART.search(one.key) else [],
        lambda one: [one.title, one.title.removesuffix(f", {one.side} side")],
        lambda one: [one.alias],
        # without the parameter, and "Sensitivity (recall)" is called either
        lambda one: re.findall(r"[^()]+", one.title.partition(",")[0]) if re.search(r"\(|, .*{", one.title) else [],
    ]
    found: dict[str, dict[str, Definition]] = {}
    for namesOf in ways:
        before = set(found)
        for definition in (*REGISTRY, *MULTI_LABEL):
            for name in map(str.strip, namesOf(definition)):
                if name and name not in before:
                    found.setdefault(name, {})[definition.key] = definition
    return {name: tuple(own.values()) for name, own in found.items()}


def _valuesIn(template: str, name: str) -> dict[str, str] | None:
    """Return the parameters in a name that is like a template but for case, spaces and underscores; None for others."""
    plain, like = (re.sub(r"[\s_]", "", text.casefold()) for text in (name, template))
    pattern = re.sub(r"\\{\w+\\}", r"(\\d[\\d.e+-]*)", re.escape(like))
    found = re.fullmatch(pattern, plain)
    return found and dict(zip(re.findall(r"{(\w+)}", template), found.groups(), strict=True))


def keyMeant(name: str) -> str:
    """Return the key of the only measurement that a name stands for; another name is returned as it is."""
    try:
        one = wanted(name)
        return one.definitions[0].keyFor(one.words) if len(one.definitions) == 1 else name
    except (InputError, KeyError):  # the latter for a parameter that the name leaves out
        return name


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
        lambda key, one: plain == re.sub(r"[\W_]", "", key.casefold()),
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
    return Named(one.key, one.definitions[0].family, stated)


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
        any(each.key == definition.key for each in one.definitions)
        and (key is None or not one.words or definition.keyFor(one.words) == key)
        for one in names
    )


def isWhole(family: str, settings: Settings) -> bool:
    """Return whether settings select all measurements of a family."""
    return family in settings.families and not _namesOf(family, settings)


def _namesOf(family: str, settings: Settings) -> list[Wanted]:
    """Return the measurements that settings name in a family; none if they select all of it."""
    found = map(wanted, settings.metrics)
    return [one for one in found if one.definitions[0].family == family]


def selected(settings: Settings, definitions: Iterable[Definition] = REGISTRY) -> Iterator[Asked]:
    """Yield the measurements of a pair that settings select, in the order of the definitions."""
    for definition in definitions:
        if isSelected(definition, settings):
            for parameter in definition.parameters(settings):
                words = {name: shortest(value) for name, value in parameter.items()}
                if isSelected(definition, settings, definition.keyFor(words)):
                    yield Asked(definition, parameter)
