"""The registry's entries of the hazard family."""

from __future__ import annotations

import itertools
import math
import weakref
from typing import TYPE_CHECKING

import numpy as np

from ..definitions import Definition, Empty
from ..errors import Undefined
from ..geometry import voxelization
from ..geometry.grids import Grid
from ..geometry.masks import Mask, boxAround
from ..geometry.surfaces import Surface, elementCenters
from ..geometry.voxelization import LARGEST_GRID
from ..metrics import hazard
from ..structures import BOTH_EMPTY, Structure, commaSeparated

if TYPE_CHECKING:
    from ..pair import Pair

# No DOI, arXiv number, author or year of it could be verified.
BEYOND_DICE = "Beyond Dice: SIS and STAR (authors and identifier unverified)"

# The settings behind symbols of the formulas: the weight of what is missed, and all that decides the hazard of a voxel.
BALANCE = ((r"\lambda", ("hazardBalance",)),)
HAZARD_OF_VOXELS = (
    ("w_i", ("critical", "hazardKernel", "hazardReach", "hazardPower", "hazardDecay", "hazardCombination")),
)

# The structures of one patient have the same field, which can be as large as their image: while one comparison keeps
# it, it serves the others, too. The key holds the critical structures, so that no others can take their place.
_fields: weakref.WeakValueDictionary[tuple, hazard.Field] = weakref.WeakValueDictionary()


def errorsOf(pair: Pair) -> hazard.Errors:
    """Return the hazard of what the structures share and of what they do not."""
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
    return hazard.errors(pair.once(fieldOf), *pair.masks, boxAround(*pair.masks))


def fieldOf(pair: Pair) -> hazard.Field:
    """Return the hazard of all voxels of the evaluated grid, on the lattice on which overlap is counted."""
    if not pair.criticals:
        raise Undefined("no critical structure is given")
    grid, evaluated, s = pair.overlapGrid[0], pair.evaluatedGrid[0], pair.settings
    start = evaluated.offsetOn(grid)
    if start is None:
        corners = grid.toIndex(evaluated.corners())
        box = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int)
    else:
        box = np.array(start), np.add(start, evaluated.size) - 1
    kernel = s.hazardKernel, s.hazardReach, s.hazardPower, s.hazardDecay, s.hazardCombination
    lattices = tuple((g.matrix.tobytes(), g.size, g.planar) for g in (grid.resized(*box), evaluated))
    key = tuple(pair.criticals), kernel, grid.matrix.tobytes(), lattices
    field = _fields.get(key)
    if field is None:
        field = _newField(pair, grid, box)
        field = _fields[key] = field if start is not None else field.within(evaluated)
    return field


def _newField(pair: Pair, grid: Grid, box: tuple[np.ndarray, np.ndarray]) -> hazard.Field:
    given = [(_critical(pair, s, grid), weight) for s, weight in pair.criticals if not s.isEmpty]
    if not given:
        raise Undefined("the critical structures are empty")
    return hazard.field(given, grid, box, pair.settings)


def _critical(pair: Pair, structure: Structure, grid: Grid) -> Mask | Surface:
    """Return the voxels of a critical structure on a grid; its surface where they are too many to be listed."""
    if structure.dimension != pair.dimension:
        raise Undefined(f"the critical structure {structure.name} is not of the same kind as the structures")
    if structure.mask is None and not structure.surface.isClosed:
        raise Undefined(f"the surface of the critical structure {structure.name} {structure.surface.whyNoInside}")
    isOnLattice = structure.mask is not None and structure.mask.alongAxesOf(grid).grid.offsetOn(grid) is not None
    if not isOnLattice:
        corners = grid.toIndex(list(itertools.product(*zip(*structure.box, strict=True))))
        if np.prod(np.ptp(corners, axis=0) + 1) > LARGEST_GRID:
            return structure.surface
    mask = structure.mask.on(grid) if structure.mask is not None else voxelization.maskOf(structure.surface, grid)
    # too thin to contain the center of a voxel, and dangerous all the same
    return _crossed(structure.surface, grid) if mask.isEmpty else mask


def _crossed(surface: Surface, grid: Grid) -> Mask:
    """Return the voxels that a boundary crosses, but for corners that it only grazes."""
    corners = surface.points[surface.cells]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max()
    subdivisions = max(0, math.ceil(math.log2(4 * longest / grid.spacing.min())))
    return _voxelsAt(elementCenters(surface.points, surface.cells, subdivisions), grid)


def _voxelsAt(points: np.ndarray, grid: Grid) -> Mask:
    """Return the voxels in which points (n, 3) lie."""
    index = np.rint(grid.toIndex(points)).astype(int)
    low = index.min(axis=0)
    voxels = np.zeros((index.max(axis=0) - low + 1)[::-1], np.uint8)
    voxels[tuple((index - low).T[::-1])] = 1
    return Mask.fromArray(voxels, grid, low)


def emptyCriticals(pair: Pair) -> str:
    """Return which critical structures do not count because they are empty, "" if all do."""
    names = [structure.name for structure, _ in pair.criticals if structure.isEmpty]
    return f"left out because empty: {commaSeparated(names)}" if names else ""


HAZARD = (
    Definition(
        "RFN", "Missed hazard", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Share of the hazard in the reference, high near critical structures, that the test misses.",
        lambda pair: hazard.missedShare(pair.once(errorsOf)),
        symmetric=False, identity=0, note=emptyCriticals,
        hint="Choose it when missing a part near a critical structure matters most.",
        formula=r"\mathrm{RFN} = \frac{\sum_{i \in A \setminus B} w_i}{\sum_{i \in A} w_i + \varepsilon}",
        code="metrics.hazard.missedShare",
        steps=("metrics.hazard.field", "metrics.hazard.kernel"),
        symbols=HAZARD_OF_VOXELS,
    ),
    Definition(
        "RFP", "Added hazard", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Share of the hazard outside the reference that the test covers.",
        lambda pair: hazard.addedShare(pair.once(errorsOf)),
        symmetric=False, identity=0, dependsOnGrid=True, note=emptyCriticals,
        hint="Choose it when adding near a critical structure matters most. Fix the evaluated grid.",
        formula=r"\mathrm{RFP} = \frac{\sum_{i \in B \setminus A} w_i}{\sum_{i \notin A} w_i + \varepsilon}",
        code="metrics.hazard.addedShare",
        steps=("metrics.hazard.field", "metrics.hazard.kernel"),
        symbols=HAZARD_OF_VOXELS,
    ),
    Definition(
        "SIS", "Safety impact score", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Weighted mean of the missed and the added hazard.",
        lambda pair: hazard.safetyImpactScore(pair.once(errorsOf), pair.settings.hazardBalance),
        symmetric=False, isMain=True, identity=0, dependsOnGrid=True, note=emptyCriticals,
        hint="A mean over all errors: few grave ones vanish among many, look at STAR, too. Fix the evaluated grid.",
        formula=r"\mathrm{SIS} = \lambda \, \mathrm{RFN} + (1 - \lambda) \, \mathrm{RFP}",
        code="metrics.hazard.safetyImpactScore",
        steps=("metrics.hazard.missedShare", "metrics.hazard.addedShare"),
        symbols=BALANCE,
    ),
    Definition(
        "STAR", "Tail risk", "", 0, 1, "lower", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Mean hazard of the most hazardous missed and added voxels: how bad the worst errors are.",
        lambda pair: hazard.tailRisk(pair.once(errorsOf), pair.settings.hazardBalance, pair.settings.hazardTail),
        symmetric=False, isMain=True, identity=0, note=emptyCriticals,
        hint="Looks at the worst errors only: one voxel in a critical structure shows.",
        formula=r"\mathrm{STAR} = \lambda \, C_\alpha(A \setminus B) + (1 - \lambda) \, C_\alpha(B \setminus A) \\ "
        r"C_\alpha(E) = q + \frac{1}{\alpha \lvert E \rvert} \sum_{i \in E} \max(w_i - q, 0), \quad "
        r"C_\alpha(\emptyset) = 0 \\ "
        r"q = \min\left\lbrace t : \lvert \lbrace i \in E : w_i \le t \rbrace \rvert \ge (1 - \alpha) "
        r"\lvert E \rvert \right\rbrace",
        code="metrics.hazard.tailRisk",
        steps=("metrics.hazard.tailMean",),
        symbols=(*BALANCE, (r"\alpha", ("hazardTail",)), *HAZARD_OF_VOXELS),
        deviation="Equation 7 of the source sums every hazard from q on and can exceed 1. Here it is the exact "
        "mean of the worst share, the last voxel counted in part; both are equal where that share is a "
        "whole number of voxels and nothing ties.",
    ),
    Definition(
        "wDice", "Dice weighted by hazard", "", 0, 1, "higher", "hazard", BEYOND_DICE, Empty.COMPUTED,
        "Dice coefficient in which every voxel counts by its hazard.",
        lambda pair: hazard.weightedDice(pair.once(errorsOf)), isMain=True, identity=1, note=emptyCriticals,
        hint="Choose it when overlap matters near critical structures only; elsewhere errors hardly count.",
        formula=r"\mathrm{wDice} = \frac{2 \sum_{i \in A \cap B} w_i}{\sum_{i \in A} w_i + \sum_{i \in B} w_i}",
        code="metrics.hazard.weightedDice",
        steps=("metrics.hazard.field", "metrics.hazard.kernel"),
        symbols=HAZARD_OF_VOXELS,
        deviation="The source adds a small number to the denominator; here it is undefined where neither "
        "structure has any hazard.",
    ),
)  # fmt: skip
