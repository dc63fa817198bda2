"""What several observers have in common and where they differ, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from ...base.texts import commaSeparated, counted
from ...metrics.measurement import fixDecimals, infiniteText, withUnit
from ...metrics.registry import findMetric
from ..summary import ADVERBS

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# Observers from which on there are a consensus, and what needs one.
ENOUGH = 3
# mm; below it, a difference is rounding.
NOTHING = 0.005


def sentence(found: Any) -> str:
    """Return how the observers agree, who differs most and where, and whether tests are within their range."""
    parts = [_agreement(found)]
    if found.outlier is not None:
        parts.append(_outlier(found, found.outlier))
    if found.isAnyWithin:
        parts += [f"{test.name} is not judged, as an observer left it empty" for test in found.tests if test.isWithin]
    else:
        parts += [_verdict(test) for test in found.tests if test.isWithin]
    text = "; ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}."


def _agreement(found: Any) -> str:
    if not found.drawn:
        return "all observers left it empty"
    count = len(found.having) if found.variation is None else len(found.variation.distances)
    who = f"{NUMBERS[count] if count < len(NUMBERS) else count} observers"
    # what an observer left empty is not in the variation
    isApart = found.agreement["ConformityIndex"] == 0 and not (found.variation and found.isAnyWithin)
    if found.variation is not None:
        sd = found.variation.rootMeanSquareSD
        if isApart:
            return f"{who} have no voxel in common and differ by {_mm(sd)} SD"
        return f"{who} are identical" if sd < NOTHING else f"{who} agree within {_mm(sd)} SD"
    if any(pair not in found.pairs.pairs for pair in combinations(found.members, 2)):
        return f"not all of the {who} can be compared with each other"
    told = []
    for key in ("DSC", *found.percentileKeys, "MASD"):
        if key in found.pairs.keys:
            one, mean = found.pairs.any(key), found.pairs.spread(key, found.members).mean
            if not math.isnan(mean):
                told.append(f"{key} {withUnit(mean, one.unit) if math.isfinite(mean) else infiniteText(mean)}")
    if not told:
        index = found.agreement["ConformityIndex"]
        return (
            f"{who} were compared" if math.isnan(index) else f"{who} have the conformity index {fixDecimals(index, '')}"
        )
    how = "have no voxel in common:" if isApart else "agree with"
    return f"{who} {how} {', '.join(told)}{' on average' if count > 2 else ''}"


def _outlier(found: Any, outlier: Any) -> str:
    value = _mm(outlier.value) if found.pairs.any(outlier.key).unit == "mm" else fixDecimals(outlier.value, "")
    text = f"{outlier.name} differs most from the others ({outlier.key} {value})"
    if not outlier.places:
        return text
    place = outlier.places[0]
    side = "outside" if place.value > 0 else "inside"
    return f"{text}, farthest {ADVERBS[place.direction]}, {_mm(abs(place.value))} {side}"


def _verdict(test) -> str:
    """Return whether a test is within the observers' range, by the main measurements; by all if none was measured."""
    main = [key for key in test.isWithin if _isMain(key)] or list(test.isWithin)
    beyond = [key for key in main if not test.isWithin[key]]
    if not beyond:
        return f"{test.name} is within their range"
    if len(beyond) == len(main):
        return f"{test.name} is outside their range"
    return f"{test.name} is outside their range in {commaSeparated(beyond)}"


def _isMain(key: str) -> bool:
    found = findMetric(key)
    return found is not None and found.metric.isMain


def _mm(value: float) -> str:
    return f"{value:.1f} mm" if value >= 0.05 else f"{fixDecimals(value, 'mm')} mm"


def tooFew(count: int) -> str:
    """Return why so many observers have no consensus, nor what needs one."""
    who = "one observer" if count == 1 else f"{NUMBERS[count]} observers"
    return (
        f"With {who} there is no consensus, map of where they differ, outlier or verdict on tests: these need at least "
        f"{NUMBERS[ENOUGH]}."
    )


def sayCopied(test: str, observers: Sequence[str]) -> str:
    """Return that a test is the same as some observers, and what that does to its rank."""
    whom = "that observer" if len(observers) == 1 else "them"
    return (
        f"{test} equals {' and '.join(observers)}: a distance of 0 to {whom} flatters its mean against the observers, "
        "its rank and its verdict."
    )


def missing(name: str, having: Sequence[str], every: Sequence[str]) -> str:
    """Return how many observers have a structure that some lack."""
    have = "has" if len(having) == 1 else "have"
    who = f": {commaSeparated(having)}" if having else ""
    left = "" if len(having) > 1 else " There is nothing to compare."
    return f"{name}: {len(having)} of {counted(len(every), 'observer')} {have} it{who}.{left}"
