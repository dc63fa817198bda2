"""The registry's entries of the hazard family."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import hazard, voxelization
from ..definitions import Definition, Empty
from ..errors import Undefined
from ..grids import Grid
from ..masks import Mask, boxAround
from ..structures import BOTH_EMPTY, Structure

if TYPE_CHECKING:
    from ..pair import Pair

BEYOND_DICE = "Beyond Dice: SIS and STAR"


def errorsOf(pair: Pair) -> hazard.Errors:
    """Return the hazard of what the structures share and of what they do not."""
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
    return hazard.errors(pair.once(fieldOf), *pair.masks, boxAround(*pair.masks))


def fieldOf(pair: Pair) -> hazard.Field:
    """Return the hazard of all voxels of the evaluated grid, on the lattice on which overlap is counted."""
    if not pair.criticals:
        raise Undefined("no critical structure is given")
    grid, evaluated = pair.overlapGrid[0], pair.evaluatedGrid[0]
    low = np.array(evaluated.offsetOn(grid))
    given = [(_criticalMask(pair, structure, grid), weight) for structure, weight in pair.criticals]
    given = [(mask, weight) for mask, weight in given if not mask.isEmpty]
    if not given:
        raise Undefined("the critical structures are empty")
    return hazard.field(given, grid, (low, low + np.array(evaluated.size) - 1), pair.settings)


def _criticalMask(pair: Pair, structure: Structure, grid: Grid) -> Mask:
    if not structure.isEmpty and structure.dimension != pair.dimension:
        raise Undefined(f"the critical structure {structure.name} is not of the same kind as the structures")
    if structure.mask is not None:
        return structure.mask.on(grid)
    if not structure.isEmpty and not structure.surface.isClosed:
        raise Undefined(f"the surface of the critical structure {structure.name} {structure.surface.whyNoInside}")
    return voxelization.maskOf(structure.surface, grid)


HAZARD = (
    Definition(
        "RFN", "Missed hazard", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Share of the hazard in the reference, high near critical structures, that the test misses.",
        lambda pair: hazard.missedShare(pair.once(errorsOf)), symmetric=False, identity=0,
    ),
    Definition(
        "RFP", "Added hazard", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Share of the hazard outside the reference that the test covers.",
        lambda pair: hazard.addedShare(pair.once(errorsOf)), symmetric=False, identity=0, dependsOnGrid=True,
    ),
    Definition(
        "SIS", "Safety impact score", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Weighted mean of the missed and the added hazard.",
        lambda pair: hazard.safetyImpactScore(pair.once(errorsOf), pair.settings.hazardBalance),
        symmetric=False, identity=0, dependsOnGrid=True,
    ),
    Definition(
        "STAR", "Tail risk", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Mean hazard of the most hazardous missed and added voxels: how bad the worst errors are.",
        lambda pair: hazard.tailRisk(pair.once(errorsOf), pair.settings.hazardBalance, pair.settings.hazardTail),
        symmetric=False, identity=0,
        hint="Looks at the worst errors only: one voxel in a critical structure shows.",
    ),
    Definition(
        "wDice", "Dice weighted by hazard", "", 0, 1, "higher", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Dice coefficient in which every voxel counts by its hazard.",
        lambda pair: hazard.weightedDice(pair.once(errorsOf)), identity=1,
    ),
)  # fmt: skip
