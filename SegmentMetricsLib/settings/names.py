"""The names that settings accept: families of measurements, tools, presets; and the checks of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..base.errors import InputError, requireKind
from ..base.texts import didYouMean, inAnyCase
from ..conventions import allConventions
from ..conventions.presets import PRESETS
from ..metrics.registry import ALL, CALLED, FAMILIES, FAMILY_CHOICE, ONLY_BY_NAME, meaningOf
from .checks import Check

if TYPE_CHECKING:
    from ..geometry.grids import Grid

# What people call some of them comes first in lists.
TITLES = {family: name.capitalize() for name, family in CALLED.items()}
DEFAULT_FAMILIES = ("boundary", "signed", "overlap")
GRIDS = ("reference", "union")
# The versions of MeshMetrics that the option --preset knows, too: conventions like those of the other tools.
MESHMETRICS = ("MeshMetrics-0.1", "MeshMetrics-1.4.1")
# Tools whose numbers can be reported, each a file in conventions/tools.
TOOLS = tuple(allConventions())


def orderFamilies(families: Iterable[str]) -> tuple[str, ...]:
    """Return families in the order in which results list them, each once; "all" is every one but ONLY_BY_NAME."""
    families = set(families)
    isAll = ALL in families
    return tuple(one for one in FAMILIES if one in families or (isAll and one not in ONLY_BY_NAME))


def familyTitle(family: str) -> str:
    """Return the name of a family for readers: "Lesions" for instances, "Boundary" for boundary."""
    return TITLES.get(family, family.capitalize())


def isFamily(name: str) -> bool:
    """Return whether a name stands for whole families."""
    return name in (*FAMILIES, ALL)


def familyMeant(name: str) -> str:
    """Return the proper name of a family, given in any case or as people call it; another name is returned as it is."""
    known = inAnyCase(name.strip(), (*FAMILIES, ALL, *CALLED))
    return CALLED.get(known, known)


def knownConvention(given: Any) -> str:
    """Return the proper spelling of a preset or convention given in any case. Raises InputError for unknown names."""
    choices = dict.fromkeys((*PRESETS, *TOOLS))
    name = inAnyCase(str(given), choices)
    if name not in choices:
        hint = didYouMean(name, choices)
        raise InputError(f"There is no convention {given!r}; choose from {', '.join(choices)}.{hint}")
    return name


def _chosenFamilies(families: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(families, str):
        families = families.split(",")
    requireKind(families, Iterable, "The metric families", "names")
    families = tuple(familyMeant(one) if isinstance(one, str) else one for one in families)
    if not families:
        raise InputError(f"No metric family is chosen; choose from {FAMILY_CHOICE}.")
    for family in families:
        if not isFamily(family):
            hint = didYouMean(str(family), (*FAMILIES, *CALLED))
            raise InputError(f"There is no metric family {family!r}; choose from {FAMILY_CHOICE}.{hint}")
    return orderFamilies(families)


def _chosenMetrics(names: str | Iterable[str]) -> tuple[str, ...]:
    names = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else (names,)
    found = (one for name in names for one in (_namesIn(name) if isinstance(name, str) else [name]))
    return tuple(dict.fromkeys(map(_metricOf, found)))


def _namesIn(text: str) -> list[str]:
    """Return the names in a text with commas between them; some have one, as Hausdorff distance, 95th percentile."""
    first, *others = text.split(",")
    found = [first]
    for part in others:
        whole = f"{found[-1]},{part}"
        try:
            meaningOf(whole)
            found[-1] = whole
        except InputError:
            found.append(part)
    return [name for name in found if name.strip()] or [text]


def _metricOf(name: Any) -> str:
    if not isinstance(name, str):
        raise InputError(f"Measurements and families are given by name, not as {name!r}.")
    family = familyMeant(name)
    return family if isFamily(family) else meaningOf(name).key


def _chosenGrid(given: Any) -> str | Grid:
    """Return the evaluated grid: a choice by name, or the grid of the given Grid, mapping or image."""
    if isinstance(given, str) and (known := inAnyCase(given, GRIDS)) in GRIDS:
        return known
    from ..geometry.grids import Grid

    if isinstance(given, Grid):
        return given
    if isinstance(given, Mapping):
        return Grid.fromDictionary(given)
    if hasattr(given, "GetDirection") and hasattr(given, "GetSpacing"):
        return Grid.fromImage(given)
    told = repr(given) if isinstance(given, str) else type(given).__name__
    raise InputError(f"The evaluated grid must be one of {', '.join(GRIDS)}, a Grid or an image, not {told}.")


chosenFamilies = Check(_chosenFamilies)
chosenMetrics = Check(_chosenMetrics, option={"action": "append"})
chosenGrid = Check(_chosenGrid, plain=lambda grid: grid if isinstance(grid, str) else grid.toDictionary())
chosenConvention = Check(knownConvention)
