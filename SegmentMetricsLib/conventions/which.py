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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np

from ..base import units
from ..base.errors import InputError, Undefined
from ..base.plain import finite
from ..base.progress import checkpoint
from ..base.texts import commaSeparated
from ..base.version import __version__
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..metrics.measurement import measure
from ..metrics.metric import Asked
from ..metrics.pair import Pair
from ..metrics.registry import findMetric, metricOf, readName, select
from ..model.structure import Structure
from . import allConventions
from .convention import BIOU, DISTANCES, NSD, OWN_CONVENTION, Convention
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
# What happens to numbers by their unit: they are multiplied by a factor, get an offset, and another unit unless "".
OF_LENGTHS = (
    (2.0, 0.0, "", "doubled, as a diameter for a radius"),
    (0.5, 0.0, "", "halved, as a radius for a diameter"),
    (0.1, 0.0, "cm", "in cm"),
)
SCALES = {"mm": OF_LENGTHS, "voxel": OF_LENGTHS, "cm3": ((1000.0, 0.0, "mm3", "in mm3"),)}
SCALES_OF_SHARES = ((100.0, 0.0, "%", "in percent"), (-1.0, 1.0, "", "its complement, 1 minus the value"))


@dataclass(frozen=True)
class Candidate:
    """A number that a pair may be given, and how.

    value, unit: as it would be reported. key, title: of the measurement. tools: names and versions of the tools that
    give it. direction: "" for both, or the only one. mistake: what goes wrong, "" if nothing does. reason: what the
    tools do. oddity: how unusual it is to report it. difference: from the number that is searched for. isExact: whether
    both are the same to the digits that were given.
    """

    value: float
    unit: str
    key: str
    title: str
    tools: tuple[str, ...]
    direction: str
    mistake: str
    reason: str
    oddity: int
    difference: float = math.nan
    isExact: bool = False

    @property
    def how(self) -> str:
        """The direction and the mistake in words, "" for neither."""
        return ", ".join(filter(None, (self.direction, self.mistake)))

    def __str__(self) -> str:
        return f"{self.key} of {'; '.join(self.tools)}{f' ({self.how})' if self.how else ''}: {self.text()}"

    def text(self) -> str:
        """Return value and unit in readable form."""
        return f"{self.value:.6g} {self.unit}".rstrip()

    def toDictionary(self) -> dict:
        """Return the candidate as plain values, for files: with the percentile or the tolerance in mm of its key."""
        names = ("key", "title", "unit", "direction", "mistake", "reason")
        numbers = {"value": finite(self.value), "difference": finite(self.difference), "exact": self.isExact}
        found = findMetric(self.key)
        parameter = dict(found.parameters) if found else {}
        versions = {one.label: {"tool": one.tool, "version": one.version} for one in allConventions().values()}
        own = {"tool": OWN_CONVENTION, "version": __version__}
        tools = [versions.get(label, own) for label in self.tools]
        return {**numbers, **{name: getattr(self, name) for name in names}, **parameter, "tools": tools}


class Wanted(NamedTuple):
    """A number that is searched, half of the unit of its last digit, and the unit that is said to be its own, or ""."""

    value: float
    half: float
    unit: str = ""

    @staticmethod
    def of(given: str | float) -> Wanted:
        """Return a number, as text that may have a unit or as it is. Raises InputError unless it is a finite one."""
        text = str(given).strip().replace(",", ".").replace("\N{MINUS SIGN}", "-")
        text, unit = units.splitUnit(text) or (text, "")
        unit = "cm3" if units.UNITS["cm3"].get(unit.casefold()) == 1 else unit  # such as ml
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or isinstance(given, bool):
            raise InputError(f"The number to search for is given in digits, such as 3.7, not as {given!r}.")
        value, exponent = float(number), number.as_tuple().exponent
        half = 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)
        return Wanted(value, max(half * (1 + 1e-9), SAME * abs(value)), unit)


def which(value: str | float, numbers: Sequence[Candidate], key: str | None = None) -> list[Candidate]:
    """Return the numbers that a pair may be given, the nearest to a value first.

    Those that agree with all digits of the value come first of all, beginning with the most usual. value: as text, so
    that 3.70 is more exact than 3.7 and 75.3% is in percent, or as a number. numbers: of the pair, from numbersOf().
    key: of the measurement that the value is said to be, such as HD95; None for any. Raises InputError for a value that
    is not a finite number, and for a key that is not searched.
    """
    wanted = Wanted.of(value)
    if key is not None:
        numbers = _ofKind(numbers, key)
    own = [one for one in numbers if not wanted.unit or one.unit.casefold() == wanted.unit.casefold()]
    if not own:
        existing = commaSeparated(dict.fromkeys(one.unit for one in numbers if one.unit))
        raise InputError(f"No number of this pair is in {wanted.unit}; there are some in {existing}.")
    # several tools that agree are one candidate
    groups: dict[tuple, list[Candidate]] = {}
    for one in own:
        groups.setdefault((one.key, one.direction, one.mistake, f"{one.value:.6g}"), []).append(one)
    result = []
    for group in groups.values():
        first = min(group, key=lambda candidate: candidate.oddity)
        tools = tuple(dict.fromkeys(tool for one in group for tool in one.tools))
        difference = first.value - wanted.value
        result.append(replace(first, tools=tools, difference=difference, isExact=abs(difference) <= wanted.half))
    return sorted(
        result,
        key=lambda candidate: (
            not candidate.isExact,
            candidate.oddity if candidate.isExact else abs(candidate.difference),
            abs(candidate.difference),
        ),
    )


def _ofKind(everything: Sequence[Candidate], key: str) -> list[Candidate]:
    """Return what is called by a key, or is another one of the same kind, such as HD for HD95."""
    with suppress(InputError):  # it may be what only a tool calls its number
        key = readName(key).key
    alike = next((kind for kind in KINDS if key.casefold().startswith(tuple(name.casefold() for name in kind))), None)
    found = [one for one in everything if alike and one.key.startswith(alike)]
    if not found:
        names = ", ".join(dict.fromkeys(one.key for one in everything))
        raise InputError(f"{key} cannot be searched; choose from {names}.")
    return [replace(one, oddity=one.oddity + (one.key.casefold() != key.casefold())) for one in found]


def numbersOf(given: tuple[Structure, Structure], settings: Any) -> Iterator[Candidate]:
    """Yield all finite numbers that a pair may be given, without and with mistakes.

    settings: their percentiles and tolerances are the usual ones.
    """
    tried = settings.replace(
        threshold=0.5 if any(s.memberships is not None for s in given) else settings.threshold,
        percentiles=sorted({*settings.percentiles, *PERCENTILES}),
        tolerances=sorted({*settings.tolerances, *TOLERANCES}),
        families=FAMILIES,
        metrics=(),
        convention=OWN_CONVENTION,
    )

    def identityOf(candidate: Candidate) -> tuple:
        # the same for a number with and without a mistake that does not change it
        return candidate.tools, candidate.key, candidate.direction, f"{candidate.value:.6g}"

    usual = Pair(*given, tried)
    plain = [one for one in _numbersIn(usual, settings, "") if math.isfinite(one.value)]
    yield from plain
    for one in plain:
        for factor, offset, unit, mistake in () if one.direction else SCALES.get(one.unit, SCALES_OF_SHARES):
            # giving the unit is not a mistake
            oddity = one.oddity + (1 if unit in ("%", "mm3") else 2)
            value = factor * one.value + offset
            yield replace(one, value=value, unit=unit or one.unit, mistake=mistake, oddity=oddity)
    seen = set(map(identityOf, plain))
    for mistake, pair in _misread(usual):
        for one in _numbersIn(pair, settings, mistake):
            if math.isfinite(one.value) and identityOf(one) not in seen:
                yield one


def _numbersIn(pair: Pair, settings: Any, mistake: str) -> Iterator[Candidate]:
    """Yield the numbers of a pair in both directions and in each, of the own definitions and of all tools.

    settings: whose percentiles and tolerances are the usual ones. mistake: in words, "" for none.
    """

    def isTried(asked: Asked) -> bool:
        # boundary IoU of many tolerances takes long, and nobody reports numbers of one side of the patient alone
        isUsual = asked.metric.key != BIOU or asked.parameters["tolerance"] in settings.tolerances
        return isUsual and not asked.metric.side

    def oddityOf(asked: Asked) -> int:
        usual = (*settings.percentiles, *settings.tolerances)
        return 2 * bool(mistake) + any(value not in usual for value in asked.parameters.values())

    for asked in filter(isTried, select(pair.settings)):
        one, oddity = measure(pair, asked), oddityOf(asked)
        # in the unit in which tables show them
        unit, size = ("cm3", 1000) if one.unit == "mm3" else (one.unit, 1)
        own = (one.key, one.title, (OWN_CONVENTION,))
        yield Candidate(one.value / size, unit, *own, "", mistake, one.description, oddity)
        for direction, value in ((TO_TEST, one.referenceToTest), (TO_REFERENCE, one.testToReference)):
            if value is not None and value != one.value:  # the larger one of both directions is nothing else
                yield Candidate(value / size, unit, *own, direction, mistake, one.description, oddity + 1)
    source = Source(pair)
    for convention in allConventions().values():
        for key in convention.numbers:
            for asked in filter(isTried, metricOf(key).ask(pair.settings)):
                checkpoint()
                tool, oddity = source.reportOne(convention, asked.metric, asked.parameters), oddityOf(asked)
                about = (tool.unit, tool.key, tool.title, (convention.label,))
                yield Candidate(tool.value, *about, "", mistake, tool.reason, oddity)
                for direction, value in _reportDirections(source, convention, asked):
                    if not math.isclose(value, tool.value, rel_tol=SAME):
                        yield Candidate(value, *about, direction, mistake, tool.reason, oddity + 1)


def _reportDirections(source: Source, convention: Convention, asked: Asked) -> Iterator[tuple[str, float]]:
    """Yield what a tool's rule makes of the distances of one direction alone, for each."""
    number = convention.numbers[asked.metric.key]
    if asked.metric.key not in (*DISTANCES, NSD) or any(source.empty) or not source.isFor(number):
        return
    if number.rule is testToReferenceMean:
        return
    # the pooled distances of a direction with itself would be interpolated otherwise
    rule = linearPercentile if number.rule is pooledPercentile else number.rule
    with suppress(Undefined):  # there is no number, as for the tool itself
        measured = source.measure(convention, number)
        if all(isinstance(one, Sample) for one in measured):
            for direction, sample in zip((TO_TEST, TO_REFERENCE), measured, strict=True):
                yield direction, float(rule(sample, sample, *asked.parameters.values()))


def _misread(pair: Pair) -> Iterator[tuple[str, Pair]]:
    """Yield a pair as it is with a wrong spacing, each with the mistake in words; nothing for meshes and empty ones."""
    if any(structure.mask is None or structure.isEmpty for structure in pair.structures):
        return
    try:
        masks = pair.masks
    except Undefined:
        return

    def withSpacing(spacing: Sequence[float]) -> Pair:
        grid = masks[0].grid
        matrix = np.array(grid.matrix)
        matrix[:3, :3] *= np.array(spacing) / grid.spacing
        grid = Grid(grid.size, matrix, grid.planar)
        reference, test = (
            Structure(structure.name, Mask(mask.voxels, mask.offset, grid))
            for structure, mask in zip(pair.structures, masks, strict=True)
        )
        return Pair(reference, test, pair.settings)

    def say(spacing: Sequence[float]) -> str:
        return " x ".join(f"{step:.4g}" for step in spacing)

    spacing = np.round(masks[0].grid.spacing, 9).tolist()
    if not np.allclose(spacing, 1):
        yield "spacing ignored: voxels counted as mm", withSpacing((1.0, 1.0, 1.0))
    for other in sorted({*itertools.permutations(spacing)} - {tuple(spacing)}):
        yield f"axes exchanged: a spacing of {say(spacing)} taken for {say(other)}", withSpacing(other)
