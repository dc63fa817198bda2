"""The structures of one case, and the comparison of two of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ..base.errors import InputError, PairError
from ..base.texts import commaSeparated
from ..model.structures import Structure, nameMeant, requireUsable
from ..model.structureset import StructureSet
from ..settings.settings import Settings
from . import comparison
from .comparison import Comparison


def comparePair(
    reference: Structure, test: Structure, settings: Settings, criticals: Mapping[str, Structure] | None = None
) -> Comparison:
    """Return the comparison of two structures. Raises PairError, naming the two, when it is not possible."""
    try:
        return comparison.compare(
            withSurface(reference, settings), withSurface(test, settings), settings, criticals=criticals
        )
    except (InputError, MemoryError) as error:
        problem = str(error) if isinstance(error, InputError) else "this takes more memory than the computer has."
        names = f"{reference.name} of {reference.file} and {test.name} of {test.file}"
        raise PairError(f"{names}: {problem}", problem) from error


def withSurface(structure: Structure, settings: Settings) -> Structure:
    """Return a structure with the surface that the settings ask for."""
    if settings.surface == "unsmoothed" or structure.mask is None or structure.isEmpty:
        return structure
    from ..mrml import headless, inputs

    problem = headless.whyUnavailable()
    if problem:
        raise InputError(f"Displayed surfaces are made by Slicer's own conversion, but {problem}")
    return inputs.displayed(structure)


def withLabelsNamed(
    settings: Settings,
    reference: Sequence[Structure],
    test: Sequence[Structure] = (),
    labelNames: Mapping[int, str] | None = None,
) -> Settings:
    """Return settings in which structures given in another spelling, or by number, are replaced by their actual names.

    labelNames: names, by number, of labels that have none of their own.
    """
    critical = {nameMeant(name, reference, labelNames): weight for name, weight in settings.critical}
    both = StructureSet.of(reference) + test
    weights = {nameMeant(name, both, labelNames): weight for name, weight in settings.labelWeights}
    return replace(settings, critical=critical, labelWeights=weights)


def criticalsOf(structures: Sequence[Structure], settings: Settings) -> dict[str, Structure]:
    """Return the critical structures that the settings name. Raises InputError for missing or ambiguous ones."""
    found = {}
    for name, _ in settings.critical:
        matches = [s for s in structures if s.name == name]
        if len(matches) != 1:
            requireUsable(name, structures)
            problem = "more than one" if matches else "no"
            raise InputError(
                f"The reference has {problem} critical structure named {name!r}; it has "
                f"{commaSeparated(s.name for s in structures)}."
            )
        found[name] = matches[0]
    return found


def readableChoices(
    choices: Iterable[tuple[str, str | None]],
    reference: Collection[Structure],
    test: Collection[Structure],
    labelNames: Mapping[int, str] | None = None,
    isNeeded: bool = True,
) -> dict[str, str | None]:
    """Return chosen pairs as pairStructures() takes them, each in the way in which both of its structures exist.

    choices: names of a reference and a test structure, None for none. Several are ways to read the same text if they
    are the same with an equals sign between the names; a pair of which no way exists is returned in the first way if
    isNeeded, else left out. Raises InputError when a reference structure is in several pairs.
    """
    known = [{structure.name for structure in structures} for structures in (reference, test)]

    def isThere(pair: tuple[str, str | None]) -> bool:
        both = zip(pair, (reference, test), known, strict=True)
        return all(name is None or nameMeant(name, own, labelNames) in names for name, own, names in both)

    texts: dict[str, list[tuple[str, str | None]]] = {}
    for pair in choices:
        texts.setdefault("=".join(name or "" for name in pair), []).append(pair)
    found: dict[str, str | None] = {}
    for ways in texts.values():
        there = [way for way in ways if isThere(way)] or ways[: int(isNeeded)]
        for name, counterpart in there[:1]:
            if name in found:
                raise InputError(f"{name!r} is in more than one of the given pairs.")
            found[name] = counterpart
    return found
