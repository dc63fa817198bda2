"""Tolerances and limits from what observers do, as a protocol."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ...base.errors import InputError
from ...base.texts import commaSeparated, shortest
from ...base.version import __version__
from ...model.naming import isPattern
from ..protocol.protocol import Protocol, Rule
from .gathering import UNNAMED
from .matrix import meansAsTest
from .observed import TOLERATED, ObservedStructure
from .study import ObserverStudy

# Measurements that get a limit where they were measured, beside distances by percentile and NSD; and the decimal places
# to which limits are rounded, toward the looser side.
JUDGED = ("MASD", "DSC")
OF_LENGTHS, OF_FRACTIONS = 1, 2
# What the rules of a protocol call structures of any name.
ALL_NAMES = "*"


def protocolFrom(study: ObserverStudy) -> Protocol:
    """Return a protocol whose limits are what the observers of a study do.

    For every structure, the tolerance of NSD is the 95th percentile of the distances between the observers'
    boundaries. Pass: as close to the observers as the worst of them is to the others. Warn: as close as the worst pair
    of observers. Empty contours do not count. Limits are rounded toward the looser side. Raises InputError if no
    structure has a limit.
    """
    rules = tuple(rule for structure in study for rule in _rules(structure))
    if len(study) == 1 and study[0].name == UNNAMED:
        # it is alone and has no name, or another one in every file, so that only the limits for all names find it
        rules = tuple(replace(rule, structure=ALL_NAMES) for rule in rules)
    if not rules:
        raise InputError("The observers give no limit for a protocol: no structure has a distance or overlap.")
    who = commaSeparated(study.observers)
    comments = (
        f"Limits from {len(study.observers)} observers ({who}), by SegmentMetrics {__version__}.",
        f"Tolerance of NSD: {TOLERATED} % of all boundaries of two observers lie within it from each other.",
        "Pass: not worse than the worst observer, on average against the others. Warn: not worse than the worst pair.",
        "They say how these observers differ, not what is safe: no clinical limits.",
    )
    return Protocol(rules, "observers", comments)


def _rules(found: ObservedStructure) -> Iterator[Rule]:
    if not found.name or isPattern(found.name):
        return
    names = [found.observers[n] for n in found.drawn]
    source = f"{len(names)} observers ({commaSeparated(names)})"
    if math.isfinite(found.tolerance) and found.tolerance > 0:
        tolerance = math.ceil(10 * found.tolerance - 1e-9) / 10
        shares = np.full((len(found.structures),) * 2, np.nan)
        for (first, second), pooled in found.pairs.pooled.items():
            shares[first, second] = shares[second, first] = pooled.within(tolerance)
        yield from _rule(found, f"NSD_{shortest(tolerance)}mm", shares, "higher", OF_FRACTIONS, source)
    for key in (*found.percentileKeys, *JUDGED):
        if key in found.pairs.keys:
            measurement = found.pairs.any(key)
            digits = OF_LENGTHS if measurement.unit == "mm" else OF_FRACTIONS
            yield from _rule(found, key, found.pairs.values(key), measurement.better, digits, source)


def _rule(
    found: ObservedStructure, key: str, values: np.ndarray, better: str, digits: int, source: str
) -> Iterable[Rule]:
    """Yield the rule for a measurement; none if a limit would not be finite."""
    members = found.drawn
    means = [meansAsTest(values, number, members)[0] for number in members]
    pairs = [values[a, b] for a in members for b in members if a != b]
    worst = max if better == "lower" else min
    known = [[value for value in some if not math.isnan(value)] for some in (means, pairs)]
    limits = [worst(some) for some in known if some]
    if len(limits) < 2 or not all(map(math.isfinite, limits)):
        return
    # rounded toward the side that lets more pass
    rounding, slack = (math.ceil, -1e-9) if better == "lower" else (math.floor, 1e-9)
    passing, warning = (rounding(limit * 10**digits + slack) / 10**digits for limit in limits)
    isLooser = warning > passing if better == "lower" else warning < passing
    relation = "<=" if better == "lower" else ">="
    yield Rule(found.name, key, relation, passing, warning if isLooser else None, source=source)
