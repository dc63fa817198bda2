"""Dose: how much of it a structure receives.

Dose-volume histograms are those of ICRU Report 83, doi:10.1093/jicru_ndq002: D95 is the dose that 95 % of the volume
receives at least, V20Gy the share of the volume that receives at least 20 Gy. Nelms et al. 2015, doi:10.1118/1.4923175,
give analytic shapes to test them with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...base.errors import Undefined

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
