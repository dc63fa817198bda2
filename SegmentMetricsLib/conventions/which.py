"""Which tool, percentile, direction or common mistake gives a number that somebody reports for a pair.

    from SegmentMetricsLib import compare

    for found in compare(reference, test).which("3.7"):
        print(found.value, found.isExact, found)

Every number of every tool is tried, in both directions and in each alone, with other percentiles and tolerances, and
with what goes wrong most often: a spacing that is ignored or whose axes are exchanged, a diameter for a radius, a wrong
unit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ..base import units
from ..base.errors import InputError, Undefined
from ..base.plain import finite
from ..base.progress import checkpoint
from ..base.texts import commaSeparated
from ..base.version import __version__
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..metrics.measurement import Measurement, measure
from ..metrics.pair import Pair
from ..metrics.registry import findMetric, metricOf, readName, select
from ..model.structure import Structure
from . import known
from .convention import BIOU, DISTANCES, NSD, OWN_CONVENTION, Convention, Number
from .evaluation import Source
from .rules import Sample, linearPercentile, pooledPercentile, testToReferenceMean

# Percentiles and tolerances in mm that are tried besides those of the settings.
PERCENTILES, TOLERANCES = (50, 75, 90, 95, 98, 99), (1.0, 2.0, 3.0, 5.0)
FAMILIES = ("boundary", "overlap", "signed")
TO_TEST, TO_REFERENCE = "reference to test only", "test to reference only"
# A number of a computer has more digits than its rounding is good for: relative difference of equal ones.
SAME = 1e-6
# What is reported as another quantity by mistake is searched as that, too: beginnings of keys.
KINDS = (
    ("HD",),
    ("MASD", "ASSD", "SignedMean"),
    ("NSD",),
    ("BIoU",),
    ("DSC", "IoU", "TPR", "PPV"),
    ("Volume", "Voxel"),
)


@dataclass(frozen=True)
class Candidate:
    """A number that a pair may be given, and how.

    value, unit: as it would be reported. key, title: of the measurement. tools: names and versions of the tools that
    give it. direction: "" for both, or the only one. mistake: what goes wrong, "" if nothing does. reason: what the
    tools do. difference: from the number that is searched. isExact: whether both are the same to the digits that were
    given.
    """

    value: float
    unit: str
    key: str
    title: str
    tools: tuple[str, ...]
    direction: str
    mistake: str
    reason: str
    difference: float
    isExact: bool
    oddity: int = 0

    def __str__(self) -> str:
        how = ", ".join(filter(None, (self.direction, self.mistake)))
        return f"{self.key} of {'; '.join(self.tools)}{f' ({how})' if how else ''}: {self.text()}"

    def text(self) -> str:
        """Return value and unit in readable form."""
        return f"{self.value:.6g} {self.unit}".rstrip()

    def toDictionary(self) -> dict:
        """Return the candidate as plain values, for files: with the percentile or the tolerance in mm of its key."""
        names = ("key", "title", "unit", "direction", "mistake", "reason")
        numbers = {"value": finite(self.value), "difference": finite(self.difference), "exact": self.isExact}
        found = findMetric(self.key)
        parameter = dict(found.parameters) if found else {}
        versions = {one.label: {"tool": one.tool, "version": one.version} for one in known().values()}
        own = {"tool": OWN_CONVENTION, "version": __version__}
        tools = [versions.get(label, own) for label in self.tools]
        return {**numbers, **{name: getattr(self, name) for name in names}, **parameter, "tools": tools}


@dataclass(frozen=True)
class Wanted:
    """A number that is searched, half of the unit of its last digit, and the unit that is said to be its own, or ""."""

    value: float
    half: float
    unit: str = ""

    @staticmethod
    def of(given: str | float) -> Wanted:
        """Return a number as text, which may have a unit, or as it is.

        Raises InputError for anything else, and if it is not finite.
        """
        text = str(given).strip().replace(",", ".").replace("\N{MINUS SIGN}", "-")
        text, unit = units.split(text) or (text, "")
        unit = "cm3" if units.UNITS["cm3"].get(unit.casefold()) == 1 else unit  # such as ml
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or isinstance(given, bool):
            raise InputError(f"The number to search is given in digits, such as 3.7, not as {given!r}.")
        value, exponent = float(number), number.as_tuple().exponent
        half = 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)
        return Wanted(value, max(half * (1 + 1e-9), SAME * abs(value)), unit)

    def among(self, numbers: Sequence[Found]) -> list[Found]:
        """Return those numbers that have the unit of this one, all without one. Raises InputError if none has."""
        known = dict.fromkeys(found.unit for found in numbers if found.unit)
        own = [found for found in numbers if not self.unit or found.unit.casefold() == self.unit.casefold()]
        if not own:
            raise InputError(f"No number of this pair is in {self.unit}; there are some in {commaSeparated(known)}.")
        return own


@dataclass(frozen=True)
class Found:
    """A value before it is compared with the number that is searched. oddity: how unusual it is to report it."""

    value: float
    unit: str
    key: str
    title: str
    tool: str
    direction: str
    mistake: str
    reason: str
    oddity: int


def which(value: str | float, numbers: Sequence[Found], key: str | None = None) -> list[Candidate]:
    """Return the numbers that a pair may be given, the nearest to a value first.

    Those that agree with all digits of the value come first of all, beginning with the most usual. value: as text, so
    that 3.70 is more exact than 3.7 and 75.3% is in percent, or as a number. numbers: of the pair, from numbersOf().
    key: of the measurement that the value is said to be, such as HD95; None for any. Raises InputError for a value that
    is not a finite number, and for a key that is not searched.
    """
    wanted = Wanted.of(value)
    collected: dict[tuple, list[Found]] = {}
    for found in wanted.among(numbers if key is None else _ofKind(numbers, key)):
        # several tools that agree are one candidate
        same = (found.key, found.direction, found.mistake, f"{found.value:.6g}")
        collected.setdefault(same, []).append(found)
    result = [_candidate(group, wanted) for group in collected.values()]
    return sorted(
        result,
        key=lambda one: (not one.isExact, one.oddity if one.isExact else abs(one.difference), abs(one.difference)),
    )


def _candidate(group: Sequence[Found], wanted: Wanted) -> Candidate:
    first = min(group, key=lambda found: found.oddity)
    return Candidate(
        value=first.value,
        unit=first.unit,
        key=first.key,
        title=first.title,
        tools=tuple(dict.fromkeys(found.tool for found in group)),
        direction=first.direction,
        mistake=first.mistake,
        reason=first.reason,
        difference=first.value - wanted.value,
        isExact=abs(first.value - wanted.value) <= wanted.half,
        oddity=first.oddity,
    )


def _ofKind(everything: Sequence[Found], key: str) -> list[Found]:
    """Return what is called by a key, or is another one of the same kind, such as HD for HD95."""
    with suppress(InputError):  # it may be what only a tool calls its number
        key = readName(key).key
    alike = next((kind for kind in KINDS if key.casefold().startswith(tuple(name.casefold() for name in kind))), None)
    found = [one for one in everything if alike and one.key.startswith(alike)]
    if not found:
        names = ", ".join(dict.fromkeys(one.key for one in everything))
        raise InputError(f"{key} is not a measurement that is searched; those are {names}.")
    return [replace(one, oddity=one.oddity + (one.key.casefold() != key.casefold())) for one in found]


def numbersOf(given: tuple[Structure, Structure], settings: Any) -> Iterator[Found]:
    """Yield all finite numbers that a pair may be given, without and with mistakes.

    settings: their percentiles and tolerances are the usual ones.
    """
    tried = settings.changed(
        threshold=0.5 if any(s.memberships is not None for s in given) else settings.threshold,
        percentiles=sorted({*settings.percentiles, *PERCENTILES}),
        tolerances=sorted({*settings.tolerances, *TOLERANCES}),
        families=FAMILIES,
        metrics=(),
        convention=OWN_CONVENTION,
    )
    usual = Pair(*given, tried)
    plain = [found for found in _numbersIn(usual, settings, "") if math.isfinite(found.value)]
    yield from plain
    yield from _mistakeScales(plain)
    seen = set(map(_identity, plain))
    for mistake, pair in _misread(usual):
        for found in _numbersIn(pair, settings, mistake):
            if math.isfinite(found.value) and _identity(found) not in seen:
                yield found


def _identity(found: Found) -> tuple[str, ...]:
    """Return what is the same for a number with and without a mistake that does not change it."""
    return found.tool, found.key, found.direction, f"{found.value:.6g}"


def _numbersIn(pair: Pair, settings: Any, mistake: str) -> Iterator[Found]:
    """Yield the numbers of a pair in both directions and in each, of the own definitions and of all tools.

    settings: whose percentiles and tolerances are the usual ones. mistake: in words, "" for none.
    """
    # boundary IoU of many tolerances takes long, and nobody reports numbers of one side of the patient alone
    asked = [
        one
        for one in select(pair.settings)
        if not one.metric.side and (one.metric.key != BIOU or one.parameters["tolerance"] in settings.tolerances)
    ]
    odd = 2 * bool(mistake)
    for one in asked:
        measurement = measure(pair, one)
        unusual = odd + _isUnusual(one.parameters, settings)
        yield from _ofMeasurement(measurement, mistake, unusual)
    source = Source(pair)
    for convention in known().values():
        for template, number in convention.numbers.items():
            metric = metricOf(template)
            for parameter in (one.parameters for one in metric.ask(pair.settings)):
                if template == BIOU and parameter["tolerance"] not in settings.tolerances:
                    continue
                checkpoint()
                unusual = odd + _isUnusual(parameter, settings)
                reported = source.reportOne(convention, number, metric, parameter, {})
                unit = reported.unit
                about = (reported.key, reported.title, convention.label)
                yield Found(reported.value, unit, *about, "", mistake, reported.reason, unusual)
                for direction, value in _reportDirections(source, convention, number, template, parameter):
                    if math.isclose(value, reported.value, rel_tol=SAME):
                        continue  # the larger one of both directions, which is nothing else
                    yield Found(value, unit, *about, direction, mistake, reported.reason, unusual + 1)


def _isUnusual(parameter: Mapping[str, float], settings: Any) -> bool:
    """Return whether a percentile or tolerance is none of the settings."""
    return not all(value in (*settings.percentiles, *settings.tolerances) for value in parameter.values())


def _ofMeasurement(measurement: Measurement, mistake: str, oddity: int) -> Iterator[Found]:
    """Yield the value of a measurement by the own definition, and those of its directions."""
    values = {"": measurement.value, TO_TEST: measurement.referenceToTest, TO_REFERENCE: measurement.testToReference}
    # in the unit in which tables show them
    unit, size = ("cm3", 1000) if measurement.unit == "mm3" else (measurement.unit, 1)
    for direction, value in values.items():
        isLarger = bool(direction) and value == values[""]
        if value is not None and not isLarger:
            told = (measurement.key, measurement.title, OWN_CONVENTION, direction, mistake, measurement.description)
            yield Found(value / size, unit, *told, oddity + bool(direction))


def _reportDirections(
    source: Source, convention: Convention, number: Number, template: str, parameter: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Yield what a tool's rule makes of the distances of one direction alone, for each."""
    if template not in (*DISTANCES, NSD) or any(source.empty) or not source.isFor(number):
        return
    if number.rule is testToReferenceMean:
        return
    # the pooled distances of a direction with itself would be interpolated otherwise
    rule = linearPercentile if number.rule is pooledPercentile else number.rule
    elements = number.elements or convention.elements
    try:
        measured = source.sampling.keep(elements, lambda: elements(source.sampling))
        if not all(isinstance(one, Sample) and one.total for one in measured):
            return
        for direction, sample in zip((TO_TEST, TO_REFERENCE), measured, strict=True):
            yield direction, float(rule(sample, sample, *parameter.values()))
    except Undefined:  # there is no number, as for the tool itself
        return


def _mistakeScales(plain: Sequence[Found]) -> Iterator[Found]:
    """Yield the numbers of both directions as they are when a radius, a unit or the complement is mistaken."""
    for found in plain:
        if found.direction:
            continue
        if found.unit in ("mm", "voxel"):
            changes = [
                (2.0, 0.0, "", "doubled, as a diameter for a radius"),
                (0.5, 0.0, "", "halved, as a radius for a diameter"),
                (0.1, 0.0, "cm", "in cm"),
            ]
        elif found.unit == "cm3":
            changes = [(1000.0, 0.0, "mm3", "in mm3")]
        else:
            changes = [(100.0, 0.0, "%", "in percent"), (-1.0, 1.0, "", "its complement, 1 minus the value")]
        for factor, offset, unit, mistake in changes:
            value = factor * found.value + offset
            # a unit is no mistake as long as it is said
            oddity = found.oddity + (1 if unit in ("%", "mm3") else 2)
            yield replace(found, value=value, unit=unit or found.unit, mistake=mistake, oddity=oddity)


def _misread(pair: Pair) -> Iterator[tuple[str, Pair]]:
    """Yield a pair as it is with a wrong spacing, each with the mistake in words; nothing for meshes and empty ones."""
    if any(structure.mask is None or structure.isEmpty for structure in pair.structures):
        return
    try:
        masks = pair.masks
    except Undefined:
        return
    spacing = np.round(masks[0].grid.spacing, 9)
    if not np.allclose(spacing, 1):
        yield "spacing ignored: voxels counted as mm", _withSpacing(pair, masks, np.ones(3))
    told = _sayTold(spacing.tolist())
    for other in sorted({*itertools.permutations(spacing.tolist())} - {tuple(spacing.tolist())}):
        yield (
            f"axes exchanged: a spacing of {told} taken for {_sayTold(other)}",
            _withSpacing(pair, masks, np.array(other)),
        )


def _sayTold(spacing: Sequence[float]) -> str:
    return " x ".join(f"{step:.4g}" for step in spacing)


def _withSpacing(pair: Pair, masks: Sequence[Mask], spacing: np.ndarray) -> Pair:
    """Return a pair whose voxels have another spacing (3,) along i, j, k."""
    grid = masks[0].grid
    matrix = np.array(grid.matrix)
    matrix[:3, :3] *= spacing / grid.spacing
    grid = Grid(grid.size, matrix, grid.planar)
    reference, test = (
        Structure(structure.name, Mask(mask.voxels, mask.offset, grid))
        for structure, mask in zip(pair.structures, masks, strict=True)
    )
    return Pair(reference, test, pair.settings)
