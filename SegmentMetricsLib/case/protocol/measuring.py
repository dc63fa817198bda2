"""Measurement of what a protocol needs in addition to existing comparisons."""

from __future__ import annotations

from collections.abc import Mapping

from ...metrics.measurement import Measurement
from .. import comparison
from ..comparison import Comparison
from .protocol import Protocol


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
