"""All metrics: every file of this package that declares some is a family, in the order of their ranks.

Tables, tool tips, CSV headers, the panel and the documentation follow from them. A new metric is a function in the
file of its family, and a new family is a file here: see docs/developer/adding-a-metric.md.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

from ..base.errors import InputError
from ..base.texts import inAnyCase, shortest
from .measurement import Measurement
from .metric import EXAMPLES, Asked, Metric, readTemplate


def _metricsOf(module: ModuleType) -> list[Metric]:
    """Return the metrics that a file declares, in the order of their functions."""
    own = (
        found for found in vars(module).values() if inspect.isfunction(found) and found.__module__ == module.__name__
    )
    return [metric for found in own for metric in getattr(found, "metrics", ())]


_PATHS = importlib.import_module(__package__).__path__
_EVERY = [importlib.import_module(f"{__package__}.{one.name}") for one in pkgutil.iter_modules(_PATHS)]
_FILES = sorted((file for file in _EVERY if hasattr(file, "FAMILY")), key=lambda file: file.FAMILY.rank)
# Families in the order in which results list them, and what each tells: the first line of its file.
PURPOSES = {
    file.__name__.rpartition(".")[2]: inspect.cleandoc(file.__doc__ or "").partition("\n")[0] for file in _FILES
}
FAMILIES = tuple(PURPOSES)
# What people call some of them.
CALLED = {word: family for family, file in zip(FAMILIES, _FILES) for word in file.FAMILY.called}
# Left out of "all", because they need extra input, such as a dose.
ONLY_BY_NAME = tuple(family for family, file in zip(FAMILIES, _FILES) if file.FAMILY.isOnlyByName)
# The metrics of a pair, and those of all labels of two segmentations at once.
REGISTRY = tuple(metric for file in _FILES for metric in _metricsOf(file))
MULTI_LABEL = tuple(_metricsOf(importlib.import_module(f"{__package__}.multilabel")))
ALL = "all"
FAMILY_CHOICE = ", ".join((*(next(iter(file.FAMILY.called), name) for name, file in zip(FAMILIES, _FILES)), ALL))
# What a name may leave out of a key, such as the 2mm of NSD_2mm.
PARAMETER = re.compile(r"_?\{\w+\}.*")
_BARE = Counter(PARAMETER.sub("", metric.key) for metric in REGISTRY)
# Ends of keys that are columns of a table, whose rows are called like the keys without them.
COLUMNS = re.compile("(Reference|Test|Difference)$")
OF_PART = re.compile("(Over|Under)$")
# Shorter words are in too many titles.
SHORT = 3


def metricOf(key: str) -> Metric:
    """Return the metric with a key in which parameters are in braces, such as HD{percentile}."""
    return next(metric for metric in REGISTRY if metric.key == key)


# every key read from a file is looked up; in a cohort, these are the same few keys many thousand times
@lru_cache(maxsize=4096)
def findMetric(key: str) -> Asked | None:
    """Return what a key like "NSD_2mm" stands for, or None if the key is unknown."""
    for metric in (*REGISTRY, *MULTI_LABEL):
        if (stated := metric.readKey(key)) is not None:
            return Asked(key, (metric,), stated)
    return None


def restore(key: str, data: Mapping) -> Measurement:
    """Return a measurement from the result of Measurement.toDictionary(), with the texts of its metric."""
    return Measurement.fromDictionary(key, data, findMetric(key))


@lru_cache(maxsize=1024)  # every measurement of every pair is held against the same few names
def readName(name: str) -> Asked:
    """Return the measurements that a name stands for.

    It is a key in any case, one without its parameter, such as NSD, or what tables call a measurement or several: D95
    for that of the reference, that of the test and their difference. Raises InputError for an unknown name, with the
    one that was probably meant.
    """
    everything = (*REGISTRY, *MULTI_LABEL)
    bare = {withoutParameter(metric): metric for metric in reversed(everything)}
    if (known := inAnyCase(name, bare)) in bare:
        return Asked(known, (bare[known],), {})
    for template, several in _namesInTables().items():
        plain, like = (re.sub(r"[\s_]", "", text) for text in (name, template))
        stated = readTemplate(like, plain, re.IGNORECASE)
        if stated is None:
            continue
        if len(several) > 1:
            words = {parameter: shortest(value) for parameter, value in stated.items()}
            return Asked(template.format(**words), several, stated)
        return Asked(several[0].keyFor(stated) if stated else withoutParameter(several[0]), several, stated)
    hint = f" Did you mean {meant}?" if (meant := likeliest(name)) else ""
    raise InputError(f"There is no measurement {name!r}; docs/formulas.md lists all of them.{hint}")


def rowOf(key: str) -> str:
    """Return what the row of a measurement is called in a table whose columns are the reference, the test and so on."""
    return OF_PART.sub(" outside the other", COLUMNS.sub("", key))


def headingOf(key: str, short: str = "") -> str:
    """Return the heading of a column or row with a measurement: NSD_2mm is "NSD 2 mm".

    short: what its metric says to be there in place of the key, with its {parameter}; "" for nothing.
    """
    name, _, parameter = key.partition("_")
    return f"{short or name} {parameter.replace('mm', ' mm')}".strip()


@cache
def _namesInTables() -> dict[str, tuple[Metric, ...]]:
    """Return what tables and other programs call measurements, and those that each name stands for.

    A name may have a {parameter}, and another case, spaces and underscores.
    """
    ways: list[Callable[[Metric], Iterable[str]]] = [
        lambda one: [one.key],
        lambda one: [headingOf(one.key, one.heading)],
        lambda one: [rowOf(one.key)] if one.family == "dose" or not OF_PART.search(one.key) else [],
        lambda one: [one.title, one.title.removesuffix(f", {one.side} side")],
        lambda one: [one.alias],
        # without the parameter, and "Sensitivity (recall)" is called either
        lambda one: re.findall(r"[^()]+", one.title.partition(",")[0]) if re.search(r"\(|, .*{", one.title) else [],
    ]
    found: dict[str, dict[str, Metric]] = {}
    for namesOf in ways:
        before = set(found)
        for metric in (*REGISTRY, *MULTI_LABEL):
            for name in map(str.strip, namesOf(metric)):
                if name and name not in before:
                    found.setdefault(name, {})[metric.key] = metric
    return {name: tuple(own.values()) for name, own in found.items()}


def keyMeant(name: str) -> str:
    """Return the key of the only measurement that a name stands for; another name is returned as it is."""
    try:
        one = readName(name)
    except InputError:
        return name
    isOnly = len(one.metrics) == 1 and one.metric.isStatedBy(one.parameters)
    return one.metric.keyFor(one.parameters) if isOnly else name


def withoutParameter(metric: Metric) -> str:
    """Return the key of a metric without its parameter, such as NSD for NSD_2mm.

    Keys that would then be the same keep it: HD95, as HD is another, and D95Test, as D95Reference is.
    Measurements that are called so have the parameters of the settings.
    """
    name = PARAMETER.sub("", metric.key)
    return metric.key if _BARE[name] > 1 else name


def likeliest(name: str, others: Iterable[str] = ()) -> str:
    """Return the key that was probably meant, "" if there is none: by its parts, beginning, title or likeness.

    others: further words that may have been meant.
    """
    # one of all labels is rarely meant
    keys = {metric.keyFor(EXAMPLES): metric for metric in REGISTRY}
    word, parts = name.casefold(), _partsOf(name)
    ways = [
        lambda key, title: _partsOf(key) == parts,
        lambda key, title: key.casefold().startswith(word),
        # "Dice" is the coefficient, though there is a surface Dice
        lambda key, title: title.casefold().startswith(word),
        lambda key, title: all(any(one.startswith(part) for one in _partsOf(title)) for part in parts),
    ]
    for isMeant in ways if parts and len(word) >= SHORT else ways[:1]:
        for key, metric in keys.items():
            if isMeant(key, metric.title):
                return key
    names = (name for name in map(withoutParameter, keys.values()) if not PARAMETER.search(name))
    known = {one.title.casefold(): key for key, one in keys.items()} | {
        n.casefold(): n for n in (*others, *names, *keys)
    }
    return next((known[one] for one in difflib.get_close_matches(word, known, 1)), "")


def _partsOf(name: str) -> list[str]:
    """Return the words and numbers in a name, in the order of the alphabet."""
    return sorted(re.findall(r"[^\W\d_]+|\d+", name.casefold()))


def meaningOf(name: str) -> Asked:
    """Return what a name means in settings: they accept names of families as well, so the message is about both.

    Raises InputError for an unknown name.
    """
    try:
        return readName(name.strip())
    except InputError:
        hint = f" Did you mean {meant}?" if (meant := likeliest(name.strip(), (*FAMILIES, *CALLED))) else ""
        raise InputError(
            f"There is no metric family or measurement {name!r}; choose from {FAMILY_CHOICE}, or from the keys of "
            f"measurements, such as DSC and HD95.{hint}"
        ) from None


def isWhole(family: str, settings: Any) -> bool:
    """Return whether settings select all measurements of a family."""
    named = {readName(name).metric.family for name in settings.metrics}
    return family in settings.families and family not in named


def select(settings: Any, metrics: Iterable[Metric] = REGISTRY) -> list[Asked]:
    """Return the measurements of a pair that settings ask for, in the order of the metrics.

    A family of which some are named has only these.
    """
    named, found = list(map(readName, settings.metrics)), []
    limited = {one.metric.family for one in named}
    for metric in metrics:
        if metric.family in settings.families:
            meant = [one.parameters for one in named if metric.key in (each.key for each in one.metrics)]
            keys = {metric.keyFor(stated) if stated else "" for stated in meant}
            isWhole = metric.family not in limited or "" in keys
            found += [one for one in metric.ask(settings) if isWhole or one.key in keys]
    return found
