"""The structures of one case, and the comparison of two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .. import comparison
from ..comparison import Comparison
from ..errors import InputError, PairError
from ..settings import Settings
from ..structures import Structure, nameMeant, requireUsable
from ..texts import commaSeparated


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
    weights = {nameMeant(name, [*reference, *test], labelNames): weight for name, weight in settings.labelWeights}
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
