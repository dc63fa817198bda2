"""The doses in both structures of a pair, and in the parts that only one of them has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...base.errors import Undefined
from ...geometry.masks import Mask
from ...model.dose import Dose
from ...model.structures import REFERENCE_AND_TEST, REFERENCE_EMPTY, TEST_EMPTY
from . import formulas, sampling
from .extremes import Solid, extremes
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
    found = pair.once(_sampled, number)
    if not len(found.doses):
        raise Undefined(f"the {REFERENCE_AND_TEST[number]} lies outside the region of the dose")
    return _doseVolume(pair, number, found.doses, found.places, solidOf(pair, number), None)


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
