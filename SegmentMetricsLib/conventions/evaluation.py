"""The numbers of a pair under the conventions, side by side with the reference value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..base.errors import Undefined, requireKind
from ..base.plain import finite
from ..base.progress import checkpoint
from ..base.texts import commaSeparated, shortest
from ..distances.surfacedistances import SurfaceDistances
from ..metrics.measurement import Measurement, Reading, measure, statusOf, withUnit
from ..metrics.metric import Metric, quantity
from ..metrics.pair import Pair
from ..metrics.registry import metricOf
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST
from . import allConventions, find
from .convention import DISTANCES, KEYS, OWN_CONVENTION, Convention, Number
from .meshes import Meshes
from .rules import Sample
from .toolmasks import NO_BORDER, Sampling

OPTIMISTIC, PESSIMISTIC, SAME = "over-optimistic", "over-pessimistic", ""
# Prefix of these for slight differences.
SLIGHTLY = "slightly "
# Differences below these concern only the last digit shown: mm (or voxels) for distances, else fractions.
SMALLEST_DIFFERENCE = {True: 0.005, False: 0.0005}
# Differences below these are slight: a tenth of the usual voxels of 1 mm, one percentage point.
SLIGHT_DIFFERENCE = {True: 0.1, False: 0.01}
# Some tools report the largest number that their computer knows instead of infinity. Nothing measured is that large.
LIKE_INFINITY = 1e9


@dataclass(frozen=True)
class Reported(Reading):
    """What a tool would have reported for one measurement.

    key, title: of the measurement. name: the tool's name for it. value, unit, status: as in Measurement; value may be
    finite for empty masks, for which tools have numbers of their own. reason: one line on what the tool does.
    reference: the value without any convention. lower, upper: its bounds, None if it has none. isReproducible: whether
    this is the tool's own number; if not, the value is that of the tool's definition, and the reason explains why.
    """

    key: str
    title: str
    name: str
    value: float
    unit: str
    status: str
    reason: str
    reference: float
    better: str
    isReproducible: bool = True
    lower: float | None = None
    upper: float | None = None

    @property
    def difference(self) -> float:
        """Value minus reference value, in mm or as a fraction; NaN where one of them is not finite.

        Voxels are treated as millimeters, as users do when they compare the numbers of two tools.
        """
        return self.value - self.reference if math.isfinite(self.value) and math.isfinite(self.reference) else math.nan

    @property
    def leaning(self) -> str:
        """Whether contours seem more alike by the tool than they are ("over-optimistic"), or less ("over-pessimistic").

        "slightly over-optimistic" for less than 0.1 mm or 1 %pt; "" if the difference is not visible, or within the
        bounds of the reference value, or if either has no number. Where the reference value is undefined, as for two
        empty masks, the best possible score is over-optimistic and the worst is over-pessimistic.
        """
        value, reference, isDistance = self.value, self.reference, self.better == "lower"
        if math.isnan(value):
            return SAME
        if math.isnan(reference):
            isBest, isWorst = value >= 1, value <= 0
            if isDistance:
                isBest, isWorst = value <= 0, value >= LIKE_INFINITY
            return OPTIMISTIC if isBest else PESSIMISTIC if isWorst else SAME
        if value == reference or min(value, reference) >= LIKE_INFINITY:
            return SAME
        size = abs(value - reference)
        isWithinBounds = self.lower is not None and self.upper is not None and self.lower <= value <= self.upper
        if size < SMALLEST_DIFFERENCE[isDistance] or isWithinBounds:
            return SAME
        leaning = OPTIMISTIC if (value < reference) == isDistance else PESSIMISTIC
        return SLIGHTLY + leaning if size < SLIGHT_DIFFERENCE[isDistance] else leaning

    @property
    def leaningText(self) -> str:
        """The leaning in words for files, "same" for none, "undefined" where only one of the two has a number."""
        hasNoNumber = math.isnan(self.value) != math.isnan(self.reference)
        return self.leaning or ("undefined" if hasNoNumber else "same")

    @property
    def isInVoxels(self) -> bool:
        """Whether the value is in voxels and the reference in mm, which the difference treats as equal."""
        return self.unit == "voxel"

    def text(self) -> str:
        """Return value and unit in readable form."""
        if self.status == "undefined":
            return self.status
        if LIKE_INFINITY <= abs(self.value) < math.inf:
            return f"{self.value:.2g} {self.unit}".rstrip()
        return withUnit(self.value, self.unit)

    def differenceText(self) -> str:
        """Return the difference with its sign, in mm (voxels count as mm) or percentage points."""
        if not math.isfinite(self.difference) or abs(self.difference) >= LIKE_INFINITY:
            return ""
        if self.unit:
            return f"{round(self.difference, 2) + 0.0:+.2f} mm"
        return f"{round(100 * self.difference, 1) + 0.0:+.1f} %pt"

    def toDictionary(self) -> dict:
        """Return values for JSON, null unless finite; "sign": -1 marks a negative infinite one, as in Measurement."""
        result = {"value": finite(self.value), "unit": self.unit, "status": self.status, "name": self.name}
        if self.value == -math.inf:
            result["sign"] = -1
        result |= {"reason": self.reason, "difference": finite(self.difference), "leaning": self.leaningText}
        return result if self.isReproducible else {**result, "reproducible": False}


class Reports(dict):
    """What one tool would have reported, by key. tool: its name.

    A key that it does not report raises KeyError with a message that lists the reported ones; get() returns None.
    """

    def __init__(self, tool: str, reports: Mapping[str, Reported]):
        super().__init__(reports)
        self.tool = tool

    def __missing__(self, key: str) -> Reported:
        raise KeyError(f"{self.tool} does not report {key!r} here; it reports {commaSeparated(self, len(self))}.")

    def __reduce__(self):
        return Reports, (self.tool, dict(self))


def conventions(
    given: tuple[Structure, Structure],
    settings: Any,
    keys: str | Iterable[str] | None = None,
    atEdge: bool = False,
    measured: Mapping[str, Measurement] | None = None,
    distances: SurfaceDistances | None = None,
) -> dict[str, dict[str, Reported]]:
    """Return what each tool would have reported for two structures: convention -> key -> Reported.

    The percentiles and tolerances are those of the settings. A key that a tool does not report is missing: the KeyError
    for it lists the reported ones, and get() returns None. keys: one convention or several, all when None. atEdge:
    whether to keep the edge of the image; otherwise background continues beyond it, so that numbers do not depend on
    how the image was cropped. measured, distances: what is known of the two with these settings, so that of the
    reference values only others have to be measured. Raises ValueError for an unknown convention.
    """
    keys = allConventions() if keys is None else (keys,) if isinstance(keys, str) else keys
    requireKind(keys, Iterable, "The conventions", "names of tools")
    chosen = [find(key) for key in keys]
    # tools do not support memberships: the reference value is that of the same whole voxels
    isFuzzy = settings.threshold is None and any(s.memberships is not None for s in given)
    plain = {"families": ("boundary", "overlap"), "metrics": (), "convention": OWN_CONVENTION}
    pair = Pair(*given, settings.replace(**plain, threshold=0.5 if isFuzzy else settings.threshold))
    isKnown = not isFuzzy and settings.convention == OWN_CONVENTION
    if isKnown and distances is not None:
        pair.distances = distances
    needed = [metricOf(key) for key in KEYS if any(key in one.numbers for one in chosen)]
    asked = [one for metric in needed for one in metric.ask(pair.settings)]
    values = {one.key: measured[one.key] for one in asked if isKnown and measured and one.key in measured}
    values |= {one.key: measure(pair, one) for one in asked if one.key not in values}
    source = Source(pair, atEdge)
    return {one.key: Reports(one.tool, source.report(one, values)) for one in chosen}


class Source:
    """The data of one pair from which conventions compute their numbers."""

    def __init__(self, pair: Pair, atEdge: bool = False):
        self.pair, self.atEdge = pair, atEdge
        self.empty = [structure.isEmpty for structure in pair.structures]

    @cached_property
    def sampling(self) -> Sampling:
        """The voxels of both. Raises Undefined when a mesh has no inside or encloses no voxel."""
        if self.pair.extent.problem:
            raise Undefined(self.pair.extent.problem)
        sampling = Sampling(self.pair, self.atEdge)
        empty = [side for side, mask in zip(REFERENCE_AND_TEST, sampling.masks, strict=True) if mask.isEmpty]
        if empty:
            raise Undefined(f"the {empty[0]} encloses no voxel")
        return sampling

    def report(self, convention: Convention, reference: Mapping[str, Measurement]) -> dict[str, Reported]:
        """Return the numbers of one tool, by key. reference: the reference values."""
        result = {}
        for key in (key for key in KEYS if key in convention.numbers and self.isFor(convention.numbers[key])):
            for asked in metricOf(key).ask(self.pair.settings):
                checkpoint()
                own = reference.get(asked.key)
                result[asked.key] = self.reportOne(convention, asked.metric, asked.parameters, own)
        return result

    def isFor(self, number: Number) -> bool:
        """Return whether the tool reports a number of such a pair: some are of volumes or of slices alone."""
        return number.dimension in (None, self.pair.dimension)

    def reportOne(
        self, convention: Convention, metric: Metric, parameters: Mapping[str, float], own: Measurement | None = None
    ) -> Reported:
        """Return one number of one tool, which reports it. own: the reference value, if it is known."""
        number, words = convention.numbers[metric.key], {name: shortest(value) for name, value in parameters.items()}
        value, reason = self._value(convention, metric.key, parameters, words)
        isReproducible = not number.notReproducible or any(self.empty)
        if not isReproducible:
            reason += f"; {number.notReproducible}: this is the value of its definition"
        return Reported(
            key=metric.keyFor(parameters),
            title=metric.title.format(**words),
            name=number.name.format(**words),
            value=value,
            unit=metric.unit if number.unit is None else number.unit,
            status=statusOf(value),
            reason=reason,
            reference=own.value if own else math.nan,
            lower=own.lower if own else None,
            upper=own.upper if own else None,
            better=metric.better,
            isReproducible=isReproducible,
        )

    def _value(
        self, convention: Convention, key: str, parameters: Mapping[str, float], words: Mapping[str, str]
    ) -> tuple[float, str]:
        """Return the value and the reason of one number. words: the parameters as texts."""
        number = convention.numbers[key]
        if not self.isFor(number):
            return math.nan, f"the tool does not report it for {'volumes' if number.dimension == 2 else 'slices'}"
        if any(self.empty):
            given = convention.valueIfEmpty(key, *self.empty)
            who = "both masks are" if all(self.empty) else f"the {'reference' if self.empty[0] else 'test'} is"
            if isinstance(given, str):
                return math.nan, f"{who} empty: {given}"
            said = "no number" if math.isnan(given) else f"{given:.6g}"
            return given, f"{who} empty: the tool reports {said}"
        try:
            value = float(number.rule(*self.measure(convention, number), *parameters.values()))
        except Undefined as undefined:
            return math.nan, undefined.reason
        reason = number.reason.format(**words)
        if self.sampling.ofMeshes and not isinstance(number.elements or convention.elements, Meshes):
            reason += f"; both meshes were filled on voxels of {self.sampling.spacing[0]:.3g} mm"
        isCutOff = any(one.mask is not None and one.mask.touchesEdge for one in self.pair.structures)
        if convention.atEdge and key in DISTANCES and isCutOff and not self.atEdge:
            reason += f"; {convention.atEdge}"
        return value, reason

    def measure(self, convention: Convention, number: Number) -> tuple:
        """Return what a number is computed from. Raises Undefined if there is no border."""
        elements = number.elements or convention.elements
        measured = self.sampling.keep(elements, lambda: elements(self.sampling))
        if any(isinstance(given, Sample) and not given.total for given in measured):
            raise Undefined(NO_BORDER)
        return measured


@quantity("masks")
def toolSource(pair: Pair) -> Source:
    """Return the data from which conventions compute their numbers."""
    return Source(pair)
