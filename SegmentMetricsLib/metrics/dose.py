"""Dose: how much of it a structure receives.

Dose-volume histograms are those of ICRU Report 83, doi:10.1093/jicru_ndq002: D95 is the dose that 95 % of the volume
receives at least, V20Gy the share of the volume that receives at least 20 Gy. Nelms et al. 2015, doi:10.1118/1.4923175,
give analytic shapes to test them with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..base.errors import Undefined
from ..geometry.masks import Mask
from ..model.dose import Dose
from ..model.structures import REFERENCE_AND_TEST, REFERENCE_EMPTY, TEST_EMPTY
from . import dosesampling as sampling
from .doseextremes import Solid, extremes
from .metric import OURS, Definition, Empty
from .pair import Workspace

if TYPE_CHECKING:
    from .pair import Workspace


CUBIC_CENTIMETER = 1000.0
# Of a curve.
POINTS = 201


@dataclass(frozen=True, eq=False)
class DoseVolume:
    """The doses in a structure, or a part of one.

    doses: (n,) Gy, ascending, at places that stand for equal volumes. volume: mm3 of all of them together, which is the
    part of the structure within the dose grid. lowest, highest: dose in Gy, of all places and the boundary. outside:
    share of the structure where the dose is not known, in [0, 1). precision: fraction of a dose that rounding may take.
    """

    doses: np.ndarray
    volume: float
    lowest: float
    highest: float
    outside: float = 0.0
    precision: float = 1e-9

    @cached_property
    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the volume, from the coldest place on, and the doses up to which these shares go."""
        n = len(self.doses)
        shares = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
        return shares, np.concatenate([[self.lowest], self.doses, [self.highest]])

    def atHottest(self, share: float) -> float:
        """Return the dose in Gy that the hottest share of the volume receives at least."""
        return float(np.interp(1 - share, *self._known))


@dataclass(frozen=True, eq=False)
class DoseCurves:
    """Cumulative dose-volume histograms of a pair.

    Parameters
    ----------
    doses : np.ndarray
        (n,) Gy, from 0 to the largest dose of both.
    reference, test : np.ndarray
        (n,) shares of the volume, in [0, 1], that receive at least these doses.
    """

    doses: np.ndarray
    reference: np.ndarray
    test: np.ndarray

    def toDictionary(self) -> dict:
        """Return the curves as plain values for files."""
        names = ("doses", "reference", "test")
        return {name: [round(float(value), 5) for value in getattr(self, name)] for name in names}

    @staticmethod
    def fromDictionary(data: Mapping) -> DoseCurves:
        """Return the curves from the result of toDictionary()."""
        return DoseCurves(*(np.array(data[name], float) for name in ("doses", "reference", "test")))


def meanDose(one: DoseVolume) -> float:
    """Return the mean dose in Gy."""
    return float(one.doses.mean())


def maximumDose(one: DoseVolume) -> float:
    """Return the largest dose in Gy."""
    return one.highest


def minimumDose(one: DoseVolume) -> float:
    """Return the smallest dose in Gy."""
    return one.lowest


def doseOfShare(one: DoseVolume, percent: float) -> float:
    """Return the dose in Gy that a percentage of the volume receives at least, such as D95."""
    return one.atHottest(percent / 100)


def doseOfVolume(one: DoseVolume, volume: float) -> float:
    """Return the dose in Gy that the hottest `volume` cm3 receive at least, such as D0.03cc.

    Raises Undefined for a structure that is smaller.
    """
    share = volume * CUBIC_CENTIMETER / one.volume
    if share > 1:
        raise Undefined(f"the structure has less than {volume:g} cm3 within the dose")
    return one.atHottest(share)


def shareOfDose(one: DoseVolume, dose: float) -> float:
    """Return the share of the volume, in [0, 1], that receives at least a dose in Gy, such as V20Gy."""
    least = dose * (1 - one.precision)
    if least <= one.lowest:
        return 1.0
    return 1 - float(np.searchsorted(one.doses, least)) / len(one.doses)


def volumeOfDose(one: DoseVolume, dose: float) -> float:
    """Return the volume in cm3 that receives at least a dose in Gy, such as V20Gycc."""
    return shareOfDose(one, dose) * one.volume / CUBIC_CENTIMETER


def difference(both: Sequence[DoseVolume], ask: Callable[..., float], *value: float) -> float:
    """Return a number of the test minus that of the reference."""
    reference, test = both
    return ask(test, *value) - ask(reference, *value)


def curves(both: Sequence[DoseVolume]) -> DoseCurves:
    """Return the cumulative dose-volume histograms of both, at the same doses."""
    doses = np.linspace(0, max(one.highest for one in both), POINTS)
    reference, test = (np.array([shareOfDose(one, dose) for dose in doses]) for one in both)
    return DoseCurves(doses, reference, test)


# The numbers of the structures, and of the parts: what only the test has is over-contoured, and the rest of the
# reference is under-contoured.
OF_REFERENCE, OF_TEST = 0, 1


def doseOf(pair: Workspace) -> Dose:
    """Return the dose. Raises Undefined without one, and for contours in a plane."""
    if pair.dose is None:
        raise Undefined("no dose is given")
    if pair.dimension == 2:
        raise Undefined("contours in a plane have no volume that receives a dose")
    return pair.dose


def doseVolumeOf(pair: Workspace, number: int) -> DoseVolume:
    """Return the doses in the reference (0) or the test (1). Raises Undefined if all of it is outside the dose."""
    found = pair.once(_sampled, number)
    if not len(found.doses):
        raise Undefined(f"the {REFERENCE_AND_TEST[number]} lies outside the region of the dose")
    return _doseVolume(pair, number, found.doses, found.places, solidOf(pair, number), None)


def bothOf(pair: Workspace) -> tuple[DoseVolume, DoseVolume]:
    """Return the doses in the reference and in the test."""
    return pair.once(doseVolumeOf, OF_REFERENCE), pair.once(doseVolumeOf, OF_TEST)


def curvesOf(pair: Workspace) -> DoseCurves:
    """Return the dose-volume histograms of both."""
    return curves(pair.once(bothOf))


def partOf(pair: Workspace, number: int) -> DoseVolume:
    """Return the doses in what only the reference (0) has, which is missing, or only the test (1), which is added.

    Raises Undefined if there is nothing, or all of it is outside the dose.
    """
    found = pair.once(_sampled, number)
    if not found.ownPlaces:
        raise Undefined(f"the {REFERENCE_AND_TEST[number]} has nothing that the other one lacks")
    inside = found.doses[found.areOwn]
    if not len(inside):
        raise Undefined("that part lies outside the region of the dose")
    own, other = solidOf(pair, number), None
    if all(structure.mask is not None for structure in pair.structures) and not pair.isResampled:
        # on one lattice the part is a mask, too
        own = Solid(_difference(pair.masks[number], pair.masks[1 - number]))
    elif not pair.structures[1 - number].isEmpty:
        other = solidOf(pair, 1 - number)
    return _doseVolume(pair, number, inside, found.ownPlaces, own, other)


def solidOf(pair: Workspace, number: int) -> Solid:
    """Return what the reference (0) or the test (1) fills."""
    structure = pair.structures[number]
    return Solid(structure.mask) if structure.mask is not None else Solid(None, structure.surface)


def _doseVolume(
    pair: Workspace, number: int, doses: np.ndarray, count: int, solid: Solid, other: Solid | None
) -> DoseVolume:
    """Return the doses in a solid without another one. doses: those that are known of `count` places, ascending."""
    dose, whole = doseOf(pair), pair.once(_sampled, number).places
    ends = extremes(dose, solid, other, float(doses[0]), float(doses[-1]))
    volume = sampling.volumeOf(pair.structures[number]) * (len(doses) / whole)
    return DoseVolume(doses, volume, *ends, (count - len(doses)) / count, dose.precision)


def _difference(mask: Mask, other: Mask) -> Mask:
    """Return the voxels of a mask that another one on its lattice lacks."""
    isOther = other.block(mask.low, mask.high) > 0
    return Mask.fromArray((mask.voxels > 0) & ~isOther, mask.grid, mask.low, isOwn=True)


class _Sample(NamedTuple):
    """The doses at places that stand for equal volumes of a structure.

    doses: (n,) Gy where they are known, ascending. areOwn: (n,) whether the other structure lacks these places. places,
    ownPlaces: number of all places, and of those that the other one lacks, also where the dose is not known.
    """

    doses: np.ndarray
    areOwn: np.ndarray
    places: int
    ownPlaces: int


def _sampled(pair: Workspace, number: int) -> _Sample:
    """Return the doses in a structure."""
    dose = doseOf(pair)
    structure, other = pair.structures[number], pair.structures[1 - number]
    if structure.isEmpty:
        raise Undefined(pair.emptiness if other.isEmpty else (REFERENCE_EMPTY, TEST_EMPTY)[number])
    pair.requireClosed(*(s for s in (structure, other) if s.mask is None and not s.isEmpty))
    known, own, count, ownCount = [], [], 0, 0
    for points, areShared in sampling.placesOf(structure, other):
        doses, areWithin = dose.at(points)
        known.append(doses[areWithin])
        own.append(~areShared[areWithin])
        count, ownCount = count + len(points), ownCount + int(np.count_nonzero(~areShared))
    found, areOwn = np.concatenate(known), np.concatenate(own)
    order = np.argsort(found)
    return _Sample(found[order], areOwn[order], count, ownCount)


ICRU = "ICRU Report 83, doi:10.1093/jicru_ndq002"
# Suffixes of keys, and whose number it is: of the reference, of the test, or of the test minus that of the reference.
REFERENCE, TEST, DIFFERENCE = "Reference", "Test", "Difference"


def _compute(ask: Callable[..., float], suffix: str) -> Callable[..., float]:
    """Return the function of a pair, and of a parameter if there is one, for one of the suffixes."""

    def compute(pair: Workspace, **parameter: float) -> float:
        value = tuple(parameter.values())
        if suffix == DIFFERENCE:
            return difference(pair.once(bothOf), ask, *value)
        return ask(pair.once(doseVolumeOf, int(suffix == TEST)), *value)

    return compute


def _ofBoth(
    ask: Callable[..., float],
    name: str,
    title: str,
    unit: str,
    description: str,
    hint: str,
    formula: str,
    trend: str = "",
) -> tuple[Definition, ...]:
    """Return the entries of a number of the reference, of the test, and of their difference.

    description: of the number of one structure, which is called {it}.
    """
    whole = 1 if unit == "" else math.inf
    words = {REFERENCE: ("of the reference", "the reference"), TEST: ("of the test", "the test")}
    code = f"metrics.dose.{ask.__name__}"
    symbol = formula.partition(" = ")[0]
    changed = rf"{symbol.partition('_')[0]}_\Delta"
    common = partial(
        Definition, family="dose", source=ICRU, unit=unit, better="", needs=(doseVolumeOf, bothOf, curvesOf),
        symmetric=False, hint=hint,
    )  # fmt: skip
    single = [
        common(
            key=f"{name}{suffix}", title=f"{title} {of}", low=0, high=whole, empty=Empty.COMPUTED, identity=None,
            description=description.format(it=it, **KEPT), compute=_compute(ask, suffix), trend=trend,
            formula=formula, code=code, steps=("metrics.dose.doseVolumeOf",),
        )
        for suffix, (of, it) in words.items()
    ]  # fmt: skip
    return (
        *single,
        common(
            key=f"{name}{DIFFERENCE}", title=f"{title}, test minus reference", low=-whole, high=whole,
            empty=Empty.COMPUTED, identity=0,
            description=f"{title} of the test, minus that of the reference; the plan was made for one of the two.",
            heading=f"{name} diff.", compute=_compute(ask, DIFFERENCE), trend="any" if trend else "",
            isMain=name in MAIN,
            formula=rf"{changed} = {symbol}(B) - {symbol}(A)",
            code="metrics.dose.difference", steps=(code,),
        ),
    )  # fmt: skip


# Parameters stay in descriptions until their values are known.
KEPT = {name: f"{{{name}}}" for name in ("dosePercent", "doseVolume", "doseLevel")}
MAIN = ("Dmean", "D{dosePercent}")

DOSE = (
    *_ofBoth(
        meanDose, "Dmean", "Mean dose", "Gy", "Mean dose in {it}.",
        "For organs that lose function part by part, such as salivary glands and lungs.",
        r"\mathrm{Dmean} = \frac{1}{\lvert S \rvert} \int_S D(x) \, dx",
    ),
    *_ofBoth(
        maximumDose, "Dmax", "Maximum dose", "Gy", "Largest dose in {it}.",
        "Of a single point: D0.03cc is what protocols limit.",
        r"\mathrm{Dmax} = \max_{x \in S} D(x)",
    ),
    *_ofBoth(
        minimumDose, "Dmin", "Minimum dose", "Gy", "Smallest dose in {it}.",
        "Of a single point: D98 is what protocols ask for.",
        r"\mathrm{Dmin} = \min_{x \in S} D(x)",
    ),
    *_ofBoth(
        doseOfShare, "D{dosePercent}", "D{dosePercent}", "Gy",
        "Dose that is reached in {dosePercent} % of the volume of {it}.",
        "Targets are judged by D95 and D98, and what they receive too much by D2.",
        r"\mathrm{D}_x = \max \lbrace d : V(d) \geq x \, \% \rbrace", "any",
    ),
    *_ofBoth(
        doseOfVolume, "D{doseVolume}cc", "D{doseVolume}cc", "Gy",
        "Dose that is reached in the hottest {doseVolume} cm3 of {it}.",
        "For organs that a small volume of high dose damages, such as the spinal cord.",
        r"\mathrm{D}_v = \max \lbrace d : V(d) \geq v \rbrace", "any",
    ),
    *_ofBoth(
        shareOfDose, "V{doseLevel}Gy", "V{doseLevel}Gy", "",
        "Share of the volume of {it} that receives at least {doseLevel} Gy.",
        "For organs whose tolerance depends on the volume, such as V20Gy of the lungs.",
        r"\mathrm{V}_d = \frac{\lvert \lbrace x \in S : D(x) \geq d \rbrace \rvert}{\lvert S \rvert}", "any",
    ),
    *_ofBoth(
        volumeOfDose, "V{doseLevel}Gycc", "V{doseLevel}Gy in cm3", "cm3",
        "Volume in cm3 of {it} that receives at least {doseLevel} Gy.",
        "Unlike the share it does not depend on where the structure ends.",
        r"\mathrm{V}_d = \lvert \lbrace x \in S : D(x) \geq d \rbrace \rvert", "any",
    ),
    *(
        Definition(
            key=f"{name}{suffix}", title=f"{title} of what {what}", family="dose", source=OURS,
            unit="Gy", low=0, high=math.inf, better="", empty=Empty.COMPUTED, identity=None,
            description=f"{title} of the part that {what}.",
            compute=lambda pair, ask=ask, number=number: ask(pair.once(partOf, number)),
            needs=(partOf,), symmetric=False, hint=hint,
            formula=rf"\mathrm{{{name}{suffix}}} = \mathrm{{{name}}}({part})",
            code=f"metrics.dose.{ask.__name__}", steps=("metrics.dose.partOf",),
        )
        for number, suffix, what, part, hint in (
            (1, "Over", "only the test has", r"B \setminus A", "For an organ at risk: dose that is not its own."),
            (0, "Under", "the test misses", r"A \setminus B", "For an organ at risk: dose that nobody saw."),
        )
        for ask, name, title in (
            (meanDose, "Dmean", "Mean dose"),
            (maximumDose, "Dmax", "Maximum dose"),
        )
    ),
)  # fmt: skip
