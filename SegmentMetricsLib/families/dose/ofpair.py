"""The doses in both structures of a pair, and in the parts that only one of them has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import Undefined
from ...model.dose import Dose
from ...model.structures import REFERENCE_AND_TEST, REFERENCE_EMPTY, TEST_EMPTY
from . import formulas, sampling
from .formulas import DoseCurves, DoseVolume

if TYPE_CHECKING:
    from ...comparison.workspace import Workspace

# The numbers of the structures, and of the parts: what only the test has is over-contoured, and the rest of the
# reference is under-contoured.
REFERENCE, TEST = 0, 1


def doseOf(pair: Workspace) -> Dose:
    """Return the dose. Raises Undefined without one, and for contours in a plane."""
    if pair.dose is None:
        raise Undefined("no dose is given")
    if pair.dimension == 2:
        raise Undefined("contours in a plane have no volume that receives a dose")
    return pair.dose


def doseVolumeOf(pair: Workspace, number: int) -> DoseVolume:
    """Return the doses in the reference (0) or the test (1). Raises Undefined if all of it is outside the dose."""
    doses, isWithin, _ = pair.once(_sampled, number)
    structure = pair.structures[number]
    if not isWithin.any():
        raise Undefined(f"the {REFERENCE_AND_TEST[number]} lies outside the grid of the dose")
    share = float(isWithin.mean())
    inside = np.sort(doses[isWithin])
    extremes = [inside[[0, -1]]]
    dose = doseOf(pair)
    # the largest dose is on the boundary or at a point of the dose's grid
    for points in (sampling.boundaryOf(structure), sampling.pointsOf(structure, dose.grid)):
        values, areThere = dose.at(points)
        extremes.append(values[areThere])
    found = np.concatenate(extremes)
    volume = sampling.volumeOf(structure) * share
    return DoseVolume(inside, volume, float(found.min()), float(found.max()), 1 - share)


def bothOf(pair: Workspace) -> tuple[DoseVolume, DoseVolume]:
    """Return the doses in the reference and in the test."""
    return pair.once(doseVolumeOf, REFERENCE), pair.once(doseVolumeOf, TEST)


def curvesOf(pair: Workspace) -> DoseCurves:
    """Return the dose-volume histograms of both."""
    return formulas.curves(pair.once(bothOf))


def partOf(pair: Workspace, number: int) -> DoseVolume:
    """Return the doses in what only the reference (0) has, which is missing, or only the test (1), which is added.

    Raises Undefined if there is nothing, or all of it is outside the dose.
    """
    doses, isWithin, isShared = pair.once(_sampled, number)
    if isShared.all():
        raise Undefined(f"the {REFERENCE_AND_TEST[number]} has nothing that the other one lacks")
    chosen = isWithin & ~isShared
    if not chosen.any():
        raise Undefined("that part lies outside the grid of the dose")
    inside = np.sort(doses[chosen])
    volume = sampling.volumeOf(pair.structures[number]) * float(chosen.mean())
    return DoseVolume(inside, volume, float(inside[0]), float(inside[-1]), float((~isWithin & ~isShared).mean()))


def _sampled(pair: Workspace, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return doses (n,) at places of a structure, whether the dose is known there, and whether the other one has them.

    The places stand for equal volumes.
    """
    dose = doseOf(pair)
    structure, other = pair.structures[number], pair.structures[1 - number]
    if structure.isEmpty:
        raise Undefined(pair.emptiness if other.isEmpty else (REFERENCE_EMPTY, TEST_EMPTY)[number])
    pair.requireClosed(*(s for s in (structure, other) if s.mask is None and not s.isEmpty))
    points, isShared = sampling.placesOf(structure, other)
    doses, isWithin = dose.at(points)
    return doses, isWithin, isShared
