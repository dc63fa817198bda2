"""Measurement of what a protocol needs: in addition to the settings, and to existing comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...metrics.measurement import Measurement
from ...model.structures import Match, Structure
from ...settings.settings import Settings
from .. import comparison
from ..comparison import Comparison
from ..pairing import noted
from .protocol import Protocol


def compareMatch(
    match: Match,
    settings: Settings,
    protocol: Protocol | None,
    compareTwo: Callable[[Structure, Structure, Settings], Comparison],
) -> tuple[Comparison, dict[str, Mapping[str, Measurement]]]:
    """Return the comparison of two structures, and all measurements by convention and key, the comparison's own first.

    protocol: adds measurements to those of the settings. compareTwo: compares two structures with settings.
    """
    chosen = {settings.convention: settings}
    if protocol is not None:
        chosen = protocol.settingsFor(settings, *(structure.name for structure in match))
    results = {convention: compareTwo(match.reference, match.test, wanted) for convention, wanted in chosen.items()}
    first = noted(next(iter(results.values())), match)
    return first, {convention: result.measurements for convention, result in results.items()}


def measuredFor(result: Comparison, protocol: Protocol) -> tuple[tuple[str, str], dict[str, Mapping[str, Measurement]]]:
    """Return the names of a comparison's structures and all measurements for a protocol, as judgeCase() takes them.

    The structures are compared again only for measurements that the comparison does not have. Raises InputError when
    that is not possible.
    """
    names = (result.reference.name, result.test.name)
    own = result.settings.convention
    found: dict[str, Mapping[str, Measurement]] = {own: result.measurements}
    criticals = {structure.name: structure for structure in result.criticals}
    for convention, wanted in protocol.settingsFor(result.settings, *names).items():
        keys = {rule.measurement for rule in protocol.rulesFor(*names) if (rule.convention or own) == convention}
        if not keys <= set(found.get(convention, ())):
            more = comparison.compare(result.reference, result.test, wanted, criticals=criticals, dose=result.dose)
            found[convention] = more.measurements
    return names, found
