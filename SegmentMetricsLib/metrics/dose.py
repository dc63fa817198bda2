"""What dose each of the two receives; the plan was made for one of them.

Dose-volume histograms are those of ICRU Report 83, doi:10.1093/jicru_ndq002: D95 is the dose that 95 % of the volume
receives at least, V20Gy the share of the volume that receives at least 20 Gy. Nelms et al. 2015, doi:10.1118/1.4923175,
give analytic shapes to test them with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np

from ..base.errors import Undefined
from ..model.dose import Dose
from ..model.structures import REFERENCE_AND_TEST, REFERENCE_EMPTY, TEST_EMPTY
from . import dosesampling
from .doseextremes import Solid, extremes
from .metric import OURS, PARAMETERS, Empty, Family, Named, argumentsOf, each, formula, hint, metric, quantity
from .pair import Pair

FAMILY = Family(100, isOnlyByName=True)
ICRU = "ICRU Report 83, doi:10.1093/jicru_ndq002"
CUBIC_CENTIMETER = 1000.0
# Of a curve.
POINTS = 201
# A structure of more mm3 gets places of its own in the part with the largest doses: in the first of so many mm3 around
# which the dose is uneven.
LARGE, HOTTEST = 40_000.0, (4000.0, 1000.0, 250.0, 60.0)


@dataclass(frozen=True, eq=False)
class DoseVolume:
    """The doses in a structure, or a part of one.

    doses: (n,) Gy, ascending, at places that stand for shares (n,) of the volume, together 1. volume: mm3 of them all,
    which is the part of the structure within the dose grid. lowest, highest: dose in Gy, of all places and the
    boundary. outside: share of the structure where the dose is not known, in [0, 1). precision: fraction of a dose that
    rounding may take.
    """

    doses: np.ndarray
    shares: np.ndarray
    volume: float
    lowest: float
    highest: float
    outside: float = 0.0
    precision: float = 1e-9

    @cached_property
    def colder(self) -> np.ndarray:
        """Shares (n + 1,) of the volume, from the coldest place on, that are colder than each place, and than all."""
        sums = np.concatenate([[0.0], np.cumsum(self.shares)])
        return sums / sums[-1]

    @cached_property
    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the volume, from the coldest place on, and the doses up to which these shares go."""
        middles = (self.colder[1:] + self.colder[:-1]) / 2
        return np.concatenate([[0.0], middles, [1.0]]), np.concatenate([[self.lowest], self.doses, [self.highest]])

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
        return {name: [round(float(value), 5) for value in curve] for name, curve in vars(self).items()}


# What a metric is called for the reference, for the test, and for the test minus the reference.
REFERENCE, TEST, DIFFERENCE = "Reference", "Test", "Difference"


@quantity()
def givenDose(dose: Dose | None, dimension: int) -> Dose:
    """Return the dose. Raises Undefined without one, and for contours in a plane."""
    if dose is None:
        raise Undefined("no dose is given")
    if dimension == 2:
        raise Undefined("contours in a plane have no volume that receives a dose")
    return dose


class SampledDoses(NamedTuple):
    """The doses at places that stand for equal volumes of a structure.

    doses: (n,) Gy where they are known, ascending. areOwn: (n,) whether the other structure lacks these places. places,
    ownPlaces: number of all places, and of those outside the other one, also where the dose is not known.
    """

    doses: np.ndarray
    areOwn: np.ndarray
    places: int
    ownPlaces: int


@quantity()
def sampledDoses(pair: Pair, givenDose: Dose, number: int) -> SampledDoses:
    """Return the doses in the reference (0) or the test (1). Raises Undefined if it is empty."""
    structure, counterpart = pair.structures[number], pair.structures[1 - number]
    if structure.isEmpty:
        raise Undefined(pair.emptiness if counterpart.isEmpty else (REFERENCE_EMPTY, TEST_EMPTY)[number])
    pair.requireClosed(*(s for s in (structure, counterpart) if s.mask is None and not s.isEmpty))
    return _dosesAt(dosesampling.placesOf(structure, counterpart), givenDose)


def _dosesAt(places: Iterable[tuple[np.ndarray, np.ndarray]], dose: Dose) -> SampledDoses:
    """Return the doses at LPS places (n, 3) in mm, each with whether the other structure has them (n,)."""
    known, own, count, ownCount = [], [], 0, 0
    for points, areShared in places:
        doses, areWithin = dose.at(points)
        known.append(doses[areWithin])
        own.append(~areShared[areWithin])
        count, ownCount = count + len(points), ownCount + int(np.count_nonzero(~areShared))
    found, areOwn = np.concatenate(known), np.concatenate(own)
    order = np.argsort(found)
    return SampledDoses(found[order], areOwn[order], count, ownCount)


def _doseVolume(
    dose: Dose, volume: float, doses: np.ndarray, count: int, solid: Solid, excluded: Solid | None = None
) -> DoseVolume:
    """Return the doses in a solid without another one, which have a volume in mm3.

    doses: those that are known of `count` places, ascending.
    """
    share, shares = len(doses) / count, np.full(len(doses), 1 / len(doses))
    ends = extremes(dose, solid, excluded, float(doses[0]), float(doses[-1]))
    return DoseVolume(doses, shares, volume * share, *ends, 1 - share, dose.precision)


@quantity()
def dosesInside(pair: Pair, givenDose: Dose, sampledDoses: SampledDoses, number: int) -> DoseVolume:
    """Return the doses in the reference (0) or the test (1). Raises Undefined if all of it is outside the dose."""
    if not len(sampledDoses.doses):
        raise Undefined(f"the {REFERENCE_AND_TEST[number]} lies outside the region of the dose")
    structure, (doses, _, count, _) = pair.structures[number], sampledDoses
    solid = Solid.of(structure)
    return _withHottest(_doseVolume(givenDose, dosesampling.volumeOf(structure), doses, count, solid), givenDose, solid)


def _withHottest(found: DoseVolume, dose: Dose, solid: Solid) -> DoseVolume:
    """Return the doses in a solid, at many more places in its hottest part, which has few of them if it is large."""
    if found.volume <= LARGE:
        return found
    levels = [found.atHottest(part / found.volume) for part in HOTTEST]
    hottest = dosesampling.hottestPlaces(dose, solid.corners, solid.contains, levels, LARGE)
    if hottest is None:
        return found
    level, doses, volumes = hottest
    colder, shares = found.doses[found.doses < level], volumes / found.volume
    even = np.full(len(colder), (1 - shares.sum()) / max(len(colder), 1))
    return replace(found, doses=np.concatenate([colder, doses]), shares=np.concatenate([even, shares]))


@quantity()
def bothDoses(pair: Pair) -> tuple[DoseVolume, DoseVolume]:
    """Return the doses in the reference and in the test."""
    return pair.find("dosesInside", {"number": 0}), pair.find("dosesInside", {"number": 1})


@quantity()
def doseCurves(bothDoses: tuple[DoseVolume, DoseVolume]) -> DoseCurves:
    """Return the cumulative dose-volume histograms of both, at the same doses."""
    doses = np.linspace(0, max(one.highest for one in bothDoses), POINTS)
    reference, test = (np.array([shareOfDose(one, dose) for dose in doses]) for one in bothDoses)
    return DoseCurves(doses, reference, test)


@quantity()
def doseOfPart(pair: Pair, givenDose: Dose, sampledDoses: SampledDoses, number: int) -> DoseVolume:
    """Return the doses in what only the reference (0) has, which is missing, or only the test (1), which is added.

    Raises Undefined if there is nothing, or all of it is outside the dose.
    """
    structure, counterpart = pair.structures[number], pair.structures[1 - number]
    own, excluded, volume = Solid.of(structure), None, dosesampling.volumeOf(structure)
    if all(s.mask is not None for s in pair.structures) and not pair.overlapGrid.isResampled:
        # on one lattice the part is a mask, too, with places of its own: few of a large structure's are in a small part
        mask = pair.masks[number].without(pair.masks[1 - number])
        if not mask.isEmpty:
            own, volume, sampledDoses = Solid(mask), mask.size, _dosesAt(dosesampling.placesIn(mask), givenDose)
    elif not counterpart.isEmpty:
        excluded = Solid.of(counterpart)
    doses, count = sampledDoses.doses[sampledDoses.areOwn], sampledDoses.ownPlaces
    if not count:
        raise Undefined(f"no part of the {REFERENCE_AND_TEST[number]} lies outside the other one")
    if not len(doses):
        raise Undefined("that part lies outside the region of the dose")
    return _doseVolume(givenDose, volume * count / sampledDoses.places, doses, count, own, excluded)


# Metrics of one structure are made three times: of the reference, of the test, and of their difference.
Number = TypeVar("Number", bound=Callable[..., float])
ofEither = each(
    suffix=(REFERENCE, TEST), of=("of the reference", "of the test"), it=("the reference", "the test"), number=(0, 1)
)


def ofBoth(named: str, unit: str, isMain: bool = False) -> Callable[[Number], Number]:
    """Declare a number of a structure's doses as a metric of the reference, of the test, and of their difference."""
    key, _, title = named.partition(": ")
    whole = 1 if unit == "" else math.inf

    def declare(function: Number) -> Number:
        parameter = next((one for one in argumentsOf(function) if one in PARAMETERS), None)
        symbol = vars(function)["told"]["formula"].partition(" = ")[0]
        trend = "any" if parameter else ""
        ofDose = partial(metric, source=ICRU, unit=unit, empty=Empty.COMPUTED, symmetric=False, trend=trend)
        ofDose(f"{key}{{suffix}}: {title} {{of}}", steps=("dosesInside",))(ofEither(function))
        ofDose(
            f"{key}{DIFFERENCE}: {title}, test minus reference",
            low=-whole,
            high=whole,
            identity=0,
            description=f"{title} of the test, minus that of the reference; the plan was made for one of the two.",
            heading=f"{key} diff.",
            isMain=isMain,
            steps=(function.__name__,),
            formula=rf"{symbol.partition('_')[0]}_\Delta = {symbol}(B) - {symbol}(A)",
            function=difference,
            given={"number": function, "value": parameter and Named(parameter)},
        )(function)
        return function

    return declare


def difference(
    bothDoses: tuple[DoseVolume, DoseVolume], number: Callable[..., float], value: float | None = None
) -> float:
    """Return a number of the test minus that of the reference. value: of its parameter, None without one."""
    reference, test = (number(one) if value is None else number(one, value) for one in bothDoses)
    return test - reference


@ofBoth("Dmean: Mean dose", "Gy", isMain=True)
@hint("For organs that lose function part by part, such as salivary glands and lungs.")
@formula(r"\mathrm{Dmean} = \frac{1}{\lvert S \rvert} \int_S D(x) \, dx")
def meanDose(dosesInside: DoseVolume) -> float:
    """Mean dose in {it}."""
    return float(dosesInside.shares @ dosesInside.doses)


@ofBoth("Dmax: Maximum dose", "Gy")
@hint("A single point decides it: protocols limit D0.03cc instead.")
@formula(r"\mathrm{Dmax} = \max_{x \in S} D(x)")
def maximumDose(dosesInside: DoseVolume) -> float:
    """Largest dose in {it}."""
    return dosesInside.highest


@ofBoth("Dmin: Minimum dose", "Gy")
@hint("A single point decides it: protocols ask for D98 instead.")
@formula(r"\mathrm{Dmin} = \min_{x \in S} D(x)")
def minimumDose(dosesInside: DoseVolume) -> float:
    """Smallest dose in {it}."""
    return dosesInside.lowest


@ofBoth("D{dosePercent}: D{dosePercent}", "Gy", isMain=True)
@hint("For targets: D95 and D98 show underdose, D2 shows overdose.")
@formula(r"\mathrm{D}_x = \max \lbrace d : V(d) \geq x \, \% \rbrace")
def doseOfShare(dosesInside: DoseVolume, dosePercent: float) -> float:
    """Dose that is reached in {dosePercent} % of the volume of {it}."""
    return dosesInside.atHottest(dosePercent / 100)


@ofBoth("D{doseVolume}cc: D{doseVolume}cc", "Gy")
@hint("For organs that a small volume of high dose damages, such as the spinal cord.")
@formula(r"\mathrm{D}_v = \max \lbrace d : V(d) \geq v \rbrace")
def doseOfVolume(dosesInside: DoseVolume, doseVolume: float) -> float:
    """Dose that is reached in the hottest {doseVolume} cm3 of {it}."""
    share = doseVolume * CUBIC_CENTIMETER / dosesInside.volume
    if share > 1:
        raise Undefined(f"the structure has less than {doseVolume:g} cm3 within the dose")
    return dosesInside.atHottest(share)


@ofBoth("V{doseLevel}Gy: V{doseLevel}Gy", "")
@hint("For organs whose tolerance depends on the volume, such as V20Gy of the lungs.")
@formula(r"\mathrm{V}_d = \frac{\lvert \lbrace x \in S : D(x) \geq d \rbrace \rvert}{\lvert S \rvert}")
def shareOfDose(dosesInside: DoseVolume, doseLevel: float) -> float:
    """Share of the volume of {it} that receives at least {doseLevel} Gy."""
    least = doseLevel * (1 - dosesInside.precision)
    if least <= dosesInside.lowest:
        return 1.0
    return 1 - float(dosesInside.colder[np.searchsorted(dosesInside.doses, least)])


@ofBoth("V{doseLevel}Gycc: V{doseLevel}Gy in cm3", "cm3")
@hint("Unlike the share it does not depend on where the structure ends.")
@formula(r"\mathrm{V}_d = \lvert \lbrace x \in S : D(x) \geq d \rbrace \rvert")
def volumeOfDose(dosesInside: DoseVolume, doseLevel: float) -> float:
    """Volume in cm3 of {it} that receives at least {doseLevel} Gy."""
    return shareOfDose(dosesInside, doseLevel) * dosesInside.volume / CUBIC_CENTIMETER


@metric("{name}{suffix}: {called} of what {what}", OURS, unit="Gy", empty=Empty.COMPUTED, symmetric=False)
@formula(r"\mathrm{{name}{suffix}} = \mathrm{{name}}({part})")
@each(
    number=(1, 0),
    suffix=("Over", "Under"),
    what=("only the test has", "the test misses"),
    part=(r"B \setminus A", r"A \setminus B"),
    hint=(
        "For an organ at risk: dose to what is not part of it.",
        "For an organ at risk: dose that the plan's statistics do not include.",
    ),
)
@each(
    ask=(meanDose, maximumDose),
    name=("Dmean", "Dmax"),
    called=("Mean dose", "Maximum dose"),
    steps=(("meanDose", "doseOfPart"), ("maximumDose", "doseOfPart")),
)
def numberOfPart(doseOfPart: DoseVolume, ask: Callable[[DoseVolume], float]) -> float:
    """{called} of the part that {what}."""
    return ask(doseOfPart)
