"""What several observers have drawn of one structure, and how each differs from the consensus of the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, cast

import numpy as np

from ...base.plain import toPlain
from ...base.texts import commaSeparated, shortest
from ...geometry.masks import Mask
from ...metrics.measurement import Measurement, fixDecimals, withUnit
from ...metrics.registry import findMetric
from ...model.structure import Structure
from ...settings.settings import Settings
from ..places import Place
from ..summary import ADVERBS
from .consensus import Performance, Variation
from .matrix import Matrix, TestVerdict

# Percentage of all distances between observers that a tolerance from them covers (Nikolov et al., arXiv:1809.04430).
TOLERATED = 95
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# Observers from which on there are a consensus, and what needs one.
ENOUGH = 3
# mm; below it, a difference is rounding.
NOTHING = 0.005


@dataclass(frozen=True)
class AgainstOthers:
    """An observer compared with the consensus of the others, which is the reference.

    measurements: by key. places: where the two are farthest apart, the worst first.
    """

    name: str
    measurements: Mapping[str, Measurement]
    places: Sequence[Place] = ()

    def toDictionary(self) -> dict:
        """Return name and values for JSON, with null for what is not finite."""
        values = {key: m.value for key, m in self.measurements.items()}
        return toPlain({"name": self.name, **values, "worstPlaces": self.places})


@dataclass(frozen=True)
class Outlier:
    """The observer who differs most from the consensus of the others.

    key, value: the measurement that says so. places: the worst places, see AgainstOthers.
    """

    name: str
    key: str
    value: float
    places: Sequence[Place] = ()


@dataclass(frozen=True, eq=False, repr=False)
class ObservedStructure:
    """What several observers have drawn of one structure.

    observers, testNames: the names of all, whether they have the structure or not; rows and columns of the matrix are
    in this order. structures: of them, None for those who lack it. agreement: ConformityIndex and
    GeneralizedConformityIndex. tolerance: the 95th percentile in mm of the distances between the observers'
    boundaries, NaN if no distances were measured. method: of the consensus. consensus: as a structure, variation:
    where the observers differ, leaveOneOut: each against the consensus of the others; None and () with fewer than
    three. performances: by name, what STAPLE finds of the observers. tests: their verdicts. remarks: sentences on what
    a reader should know.
    """

    name: str
    observers: Sequence[str]
    testNames: Sequence[str]
    structures: Sequence[Structure | None]
    settings: Settings
    pairs: Matrix
    agreement: Mapping[str, float]
    method: str
    tolerance: float = math.nan
    consensus: Structure | None = None
    variation: Variation | None = None
    leaveOneOut: Sequence[AgainstOthers] = ()
    performances: Mapping[str, Performance] = field(default_factory=dict)
    tests: Sequence[TestVerdict] = ()
    remarks: Sequence[str] = ()

    def __repr__(self) -> str:
        return f"<ObservedStructure {self.name!r}: {self.sentence}>"

    @property
    def everyone(self) -> list[str]:
        """The names of the observers, and then of the tests."""
        return [*self.observers, *self.testNames]

    @property
    def members(self) -> list[int]:
        """The numbers of the observers who have the structure."""
        return [n for n in range(len(self.observers)) if self.structures[n] is not None]

    @property
    def drawn(self) -> list[int]:
        """The numbers of the observers who have the structure and did not leave it empty."""
        return [n for n in self.members if not cast(Structure, self.structures[n]).isEmpty]

    @property
    def isComparable(self) -> bool:
        """Whether all observers can be compared with each other."""
        return all(pair in self.pairs.pairs for pair in combinations(self.members, 2))

    @property
    def isAnyWithin(self) -> bool:
        """Whether any test is within the range because an observer left the structure empty, which is no verdict."""
        return len(self.drawn) < len(self.members)

    @property
    def having(self) -> list[str]:
        """The names of the observers who have the structure."""
        return [self.observers[n] for n in self.members]

    @property
    def matrix(self) -> dict[str, np.ndarray]:
        """By key, the values (n, n) of every measurement, with the reference in the row and the test in the column."""
        return {key: self.pairs.values(key) for key in self.pairs.keys}

    @property
    def percentileKeys(self) -> list[str]:
        """The keys of the percentiles of distances in the settings, such as HD95."""
        return [f"HD{shortest(percent)}" for percent in self.settings.percentiles]

    @property
    def outlier(self) -> Outlier | None:
        """The observer who differs most from the consensus of the others; None if no single one does, or with too few.

        By the first percentile of distances that was measured, else by the mean distance or the Dice coefficient.
        """
        wanted = [*self.percentileKeys, "MASD", "ASSD", "HD", "DSC", "IoU"]
        every = [one.measurements for one in self.leaveOneOut]
        key = next((key for key in wanted if every and all(key in own for own in every)), None)
        if key is None:
            return None
        sign = 1 if every[0][key].better == "lower" else -1
        values = {number: sign * one[key].value for number, one in enumerate(every)}
        if any(map(math.isnan, values.values())):  # in no order
            return None
        # infinite means that the others have no voxel in common: that is not this observer's fault
        known = sorted((value, number) for number, value in values.items() if math.isfinite(value))
        # of two who differ equally neither is the outlier
        if not known or (len(known) > 1 and known[-1][0] - known[-2][0] <= NOTHING):
            return None
        found = self.leaveOneOut[known[-1][1]]
        return Outlier(found.name, key, found.measurements[key].value, found.places)

    @property
    def sentence(self) -> str:
        """How the observers agree, who differs most and where, and whether tests are within their range."""
        parts = [_agreement(self)]
        if self.outlier is not None:
            parts.append(_outlier(self, self.outlier))
        for test in (test for test in self.tests if test.isWithin):
            unjudged = f"{test.name} is not judged, as an observer left it empty"
            parts.append(unjudged if self.isAnyWithin else _verdict(test))
        text = "; ".join(filter(None, parts))
        return f"{text[:1].upper()}{text[1:]}."

    def toDictionary(self) -> dict:
        """Return the result for JSON, with null for what is not finite."""
        content: dict[str, Any] = {
            "name": self.name,
            "having": self.having,
            "sentence": self.sentence,
            "agreement": self.agreement,
            "matrix": self.matrix,
            "spread": {key: self.pairs.spread(key, self.members) for key in self.pairs.keys},
            "consensus": None,
            "variation": None,
            "leaveOneOut": self.leaveOneOut,
            "tests": self.tests,
            "tolerance": {"percentile": TOLERATED, "mm": self.tolerance},
            "remarks": self.remarks,
        }
        if self.consensus is not None:
            size = "volumeMm3" if self.consensus.dimension == 3 else "areaMm2"
            content["consensus"] = {"method": self.method, size: cast(Mask, self.consensus.mask).size}
            if self.performances:
                content["consensus"]["performances"] = {n: one._asdict() for n, one in self.performances.items()}
        if self.variation is not None:
            names = ("rootMeanSquareSD", "percentile95SD")
            content["variation"] = {name: getattr(self.variation, name) for name in names}
        if self.outlier is not None:
            content["outlier"] = {"name": self.outlier.name, self.outlier.key: self.outlier.value}
        notFinite = [
            {"reference": self.everyone[row], "test": self.everyone[column], "measurement": key}
            | {"status": m.status, "reason": m.reason and str(m.reason)}
            for (row, column), found in sorted(self.pairs.pairs.items())
            for key, m in found.items()
            if m.status != "ok"
        ]
        return toPlain(content | ({"notFinite": notFinite} if notFinite else {}))


def _agreement(found: ObservedStructure) -> str:
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
    if not found.isComparable:
        return f"not all of the {who} can be compared with each other"
    told = []
    for key in ("DSC", *found.percentileKeys, "MASD"):
        if key in found.pairs.keys:
            one, mean = found.pairs.any(key), found.pairs.spread(key, found.members).mean
            if not math.isnan(mean):
                told.append(f"{key} {withUnit(mean, one.unit)}")
    if not told:
        index = found.agreement["ConformityIndex"]
        return (
            f"{who} were compared" if math.isnan(index) else f"{who} have the conformity index {fixDecimals(index, '')}"
        )
    how = "have no voxel in common:" if isApart else "agree with"
    return f"{who} {how} {', '.join(told)}{' on average' if count > 2 else ''}"


def _outlier(found: ObservedStructure, outlier: Outlier) -> str:
    value = _mm(outlier.value) if found.pairs.any(outlier.key).unit == "mm" else fixDecimals(outlier.value, "")
    text = f"{outlier.name} differs most from the others ({outlier.key} {value})"
    if not outlier.places:
        return text
    place = outlier.places[0]
    side = "outside" if place.value > 0 else "inside"
    return f"{text}, farthest {ADVERBS[place.direction]}, {_mm(abs(place.value))} {side}"


def _verdict(test) -> str:
    """Return whether a test is within the observers' range, by the main measurements; by all if none was measured."""
    asked = {key: findMetric(key) for key in test.isWithin}
    main = [key for key, found in asked.items() if found is not None and found.metric.isMain] or list(asked)
    if not (beyond := [key for key in main if not test.isWithin[key]]):
        return f"{test.name} is within their range"
    if len(beyond) == len(main):
        return f"{test.name} is outside their range"
    return f"{test.name} is outside their range in {commaSeparated(beyond)}"


def _mm(value: float) -> str:
    return f"{value:.1f} mm" if value >= 0.05 else f"{fixDecimals(value, 'mm')} mm"
