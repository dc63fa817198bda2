"""One case: its pairs compared, with what a protocol asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from .. import comparison
from ..comparison import Comparison
from ..errors import InputError, PairError
from ..measurements import Measurement
from ..pairing import noted
from ..protocol.protocol import Protocol
from ..settings import Settings
from ..structures import Match, Structure, commaSeparated, labelNamed, requireUsable


def compareMatch(
    match: Match,
    settings: Settings,
    protocol: Protocol | None,
    compareTwo: Callable[[Structure, Structure, Settings], Comparison],
) -> tuple[Comparison, dict[str, Mapping[str, Measurement]]]:
    """Return the comparison of two structures, and all measurements by convention and key, the comparison's own first.

    protocol: says what to measure beyond the settings. compareTwo: compares, as comparePair does.
    """
    chosen = {settings.convention: settings}
    if protocol is not None:
        chosen = protocol.settingsFor(settings, *(structure.name for structure in match))
    results = {convention: compareTwo(*match, wanted) for convention, wanted in chosen.items()}
    first = noted(next(iter(results.values())), match)
    return first, {convention: result.measurements for convention, result in results.items()}


def measuredFor(result: Comparison, protocol: Protocol) -> tuple[tuple[str, str], dict[str, Mapping[str, Measurement]]]:
    """Return the names of the two structures of a comparison, and all that a protocol asks for, as judgeCase takes it.

    Only what the comparison does not have is measured, beside it. Raises InputError when that is not possible.
    """
    names = (result.reference.name, result.test.name)
    own = result.settings.convention
    found: dict[str, Mapping[str, Measurement]] = {own: result.measurements}
    criticals = {structure.name: structure for structure in result.criticals}
    for convention, wanted in protocol.settingsFor(result.settings, *names).items():
        keys = {rule.measurement for rule in protocol.rulesFor(*names) if (rule.convention or own) == convention}
        if not keys <= set(found.get(convention, ())):
            more = comparison.compare(result.reference, result.test, wanted, criticals=criticals)
            found[convention] = more.measurements
    return names, found


def comparePair(
    reference: Structure, test: Structure, settings: Settings, criticals: Mapping[str, Structure] | None = None
) -> Comparison:
    """Return the comparison of two structures. Raises PairError that names the two when it is not possible."""
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
    """Return settings in which structures that are given by the number of their label have their names.

    labelNames: what labels are called that have no names of their own, by number.
    """
    critical = {labelNamed(name, reference, labelNames): weight for name, weight in settings.critical}
    weights = {labelNamed(name, [*reference, *test], labelNames): weight for name, weight in settings.labelWeights}
    return replace(settings, critical=critical, labelWeights=weights)


def criticalsOf(structures: Sequence[Structure], settings: Settings) -> dict[str, Structure]:
    """Return the critical structures that the settings name. Raises InputError for those that are not there."""
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
