"""One case: its pairs compared, with what a protocol asks for."""

from __future__ import annotations

from collections.abc import Mapping

from . import comparison
from .comparison import Comparison
from .errors import InputError
from .measurements import Measurement
from .pairing import noted
from .protocol import Protocol
from .settings import Settings
from .structures import Match, Structure


def compareMatch(
    match: Match, settings: Settings, protocol: Protocol | None = None
) -> tuple[Comparison, dict[str, Mapping[str, Measurement]]]:
    """Return the comparison of two structures, and all measurements by convention and key, the comparison's own first.

    protocol: says what to measure beyond the settings. Raises InputError that names the two when it is not possible.
    """
    if protocol is None:
        result = noted(comparePair(*match, settings), match)
        return result, {settings.convention: result.measurements}
    chosen = protocol.settingsFor(settings, *(structure.name for structure in match))
    results = {convention: comparePair(*match, wanted) for convention, wanted in chosen.items()}
    first = noted(next(iter(results.values())), match)
    return first, {convention: result.measurements for convention, result in results.items()}


def comparePair(reference: Structure, test: Structure, settings: Settings) -> Comparison:
    """Return the comparison of two structures. Raises InputError that names the two when it is not possible."""
    try:
        return comparison.compare(withSurface(reference, settings), withSurface(test, settings), settings)
    except (InputError, MemoryError) as error:
        problem = str(error) if isinstance(error, InputError) else "this takes more memory than the computer has."
        raise InputError(f"{reference.name} of {reference.file} and {test.name} of {test.file}: {problem}") from error


def withSurface(structure: Structure, settings: Settings) -> Structure:
    """Return a structure with the surface that the settings ask for."""
    if settings.surface == "unsmoothed" or structure.mask is None or structure.isEmpty:
        return structure
    from .mrml import headless, inputs

    problem = headless.whyUnavailable()
    if problem:
        raise InputError(f"Displayed surfaces are made by Slicer's own conversion, but {problem}")
    return inputs.displayed(structure)
