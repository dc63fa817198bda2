"""How dangerous the differences are: those near the chosen critical structures count more.

Hazard is a number in [0, 1] per voxel: 1 (times the weight) in a critical structure, decreasing with the distance to
it. Source: Beyond Dice: SIS and STAR. Its equation 7 can exceed 1; here, the exact mean of the tail is used instead.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import SimpleITK

from ..base.errors import Undefined
from ..base.parallel import threads
from ..base.progress import checkpoint
from ..base.texts import commaSeparated
from ..geometry import voxelization
from ..geometry.closest import ClosestSurface
from ..geometry.grids import Grid
from ..geometry.masks import Mask, boxAround, slicesOf
from ..geometry.surfaces import Surface, elementCenters
from ..geometry.voxelization import LARGEST_GRID
from ..model.dose import Dose
from ..model.structure import Structure
from .metric import Empty, Family, formula, hint, metric, quantity
from .pair import Pair

FAMILY = Family(60)
# No DOI is known: see docs/guide/which-number.md.
BEYOND_DICE = "Beyond Dice: SIS and STAR"

# The settings behind symbols of the formulas: the weight of missed hazard, and those that decide the hazard of a voxel.
BALANCE = ((r"\lambda", ("hazardBalance",)),)
HAZARD_OF_VOXELS = (
    ("w_i", ("critical", "hazardKernel", "hazardReach", "hazardPower", "hazardDecay", "hazardCombination")),
)
# Prevents division by a sum of hazard that is zero: epsilon in the formulas.
EPSILON = 1e-8
# A distance map has at most this many voxels, or, if that is more, this multiple of the requested voxels.
LARGEST_MAP, MOST_LARGER = 20_000_000, 8


@dataclass(frozen=True)
class Kernel:
    """How hazard decreases with the distance from a critical structure, and how that of several is combined.

    kind: "polynomial", max(0, 1 - (d / reach)^power), or "exponential", exp(-d / decay). reach, decay: in mm.
    combination: "max" or "sum" (at most 1).
    """

    kind: str
    reach: float
    power: float
    decay: float
    combination: str

    def at(self, distances: np.ndarray) -> np.ndarray:
        """Return the hazard in [0, 1] at distances in mm."""
        if self.kind == "exponential":
            return np.exp(-distances / self.decay)
        return np.maximum(0.0, 1.0 - (distances / self.reach) ** self.power)


@dataclass(frozen=True, eq=False, repr=False)
class HazardField:
    """Hazard at the voxels of a box of a grid; only the part of the box that can have hazard is stored.

    values: float array in [0, 1], indexed [k, j, i]. low: (3,) voxel index i, j, k of values[0, 0, 0]. grid: the
    lattice. box: lowest and highest voxel index (3,) of the whole box, inclusive.
    """

    values: np.ndarray
    low: np.ndarray
    grid: Grid
    box: tuple[np.ndarray, np.ndarray]

    def __repr__(self) -> str:
        return f"<HazardField of hazard at {np.count_nonzero(self.values)} voxels of {self.grid!r}>"

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the hazard in [0, 1] at LPS points (n, 3) in mm, linearly interpolated between voxel centers.

        Points beyond the outermost voxel centers get the hazard of the nearest place in the box.
        """
        from scipy.ndimage import map_coordinates

        points = np.asarray(points, float)
        if not self.values.size:
            return np.zeros(len(points))
        index = np.clip(self.grid.toIndex(points), *self.box) - self.low
        return map_coordinates(self.values, index.T[::-1], float, order=1, mode="grid-constant", prefilter=False)

    def block(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return a copy [k, j, i] of the hazard from voxel index low to high (inclusive)."""
        return Mask(self.values, tuple(self.low.tolist()), self.grid).block(low, high)

    def within(self, evaluated: Grid) -> HazardField:
        """Return the field with hazard only at voxels whose centers lie in a grid that is on another lattice."""
        values = self.values.copy()
        for layer, points in _slices(values, self.low, self.grid):
            place = evaluated.toIndex(points)
            inside = ((place >= -0.5) & (place < np.array(evaluated.size) - 0.5)).all(axis=1)
            layer[~inside.reshape(layer.shape)] = 0
        return replace(self, values=values)

    def isOutside(self, mask: Mask) -> np.ndarray:
        """Return whether the voxels with values, [k, j, i], are outside a mask on the same lattice."""
        return mask.block(self.low, self.low + self.values.shape[::-1] - 1) == 0


def _slices(values: np.ndarray, low: np.ndarray, grid: Grid) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the slices [j, i] of values [k, j, i], and the LPS positions (n, 3) of their voxels. low: of the first."""
    j, i = np.indices(values.shape[1:])
    for k, layer in enumerate(values):
        yield layer, grid.toWorld(np.stack([i, j, np.full_like(i, k)], axis=-1).reshape(-1, 3) + low)


def hazardAround(
    criticals: Sequence[tuple[Mask | Surface, float]], grid: Grid, box: tuple, kernel: Kernel
) -> HazardField:
    """Return the hazard of the voxels in a box of a grid.

    criticals: masks on the grid or closed surfaces, none empty, and their weights in (0, 1]. box: lowest and highest
    voxel index (3,), inclusive. Distances are measured between voxel centers, or from voxel centers to the surface;
    they are 0 inside the critical structure.
    """
    low, high = box = tuple(np.asarray(corner) for corner in box)
    if kernel.kind == "polynomial":
        # beyond the kernel's reach there is no hazard, and nothing needs to be stored
        steps = np.ceil(kernel.reach * np.linalg.norm(np.linalg.inv(grid.axes), axis=1)).astype(int)
        places = np.concatenate(
            [[one.low, one.high] if isinstance(one, Mask) else grid.toIndex(one.points) for one, _ in criticals]
        )
        low = np.maximum(low, np.floor(places.min(axis=0)).astype(int) - steps)
        high = np.minimum(high, np.ceil(places.max(axis=0)).astype(int) + steps)
    if (low > high).any():
        return HazardField(np.zeros((0, 0, 0)), low, grid, box)
    values = np.zeros((high - low + 1)[::-1])
    for critical, weight in criticals:
        checkpoint()
        if kernel.kind == "polynomial" and isinstance(critical, Mask):
            critical = Mask.fromArray(critical.block(low - steps, high + steps), grid, low - steps)
            if critical.isEmpty:
                continue
        squared = _squaredDistances(critical, grid, low, high)
        for slab, distances in zip(values, squared, strict=True):  # a slice fits into the processor's cache
            more = weight * kernel.at(np.sqrt(distances, dtype=float))
            slab[:] = np.maximum(slab, more) if kernel.combination == "max" else np.minimum(slab + more, 1.0)
    return HazardField(values, low, grid, box)


def _squaredDistances(critical: Mask | Surface, grid: Grid, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the squared distance [k, j, i] in mm2 of every voxel of a box from a critical structure, 0 inside."""
    if isinstance(critical, Surface):
        distances = ClosestSurface(critical).signedDistances(_centers(grid, low, high))
        return np.square(np.maximum(distances, 0)).reshape((high - low + 1)[::-1])
    first, last = np.minimum(low, critical.low), np.maximum(high, critical.high)
    isMuchLarger = np.prod(last - first + 1.0) > max(LARGEST_MAP, MOST_LARGER * np.prod(high - low + 1.0))
    if isMuchLarger or not grid.isRectangular:
        from scipy.ndimage import binary_erosion
        from scipy.spatial import cKDTree

        targets = critical.voxels
        if grid.isRectangular:  # on a sheared grid, a voxel without outside neighbors can be the nearest
            targets = targets & ~binary_erosion(targets)
        tree = cKDTree(grid.toWorld(np.argwhere(targets)[:, ::-1] + critical.low))
        squared = np.square(tree.query(_centers(grid, low, high), workers=threads())[0]).reshape((high - low + 1)[::-1])
        squared[critical.block(low, high) != 0] = 0
        return squared
    voxels = critical.block(first, last)
    if voxels.all():  # the filter below finds no boundary without background
        return np.zeros((high - low + 1)[::-1])
    image = SimpleITK.GetImageFromArray(voxels)
    image.SetSpacing([float(length) for length in grid.spacing])
    squared = SimpleITK.SignedMaurerDistanceMap(image, squaredDistance=True, useImageSpacing=True)
    return np.maximum(SimpleITK.GetArrayViewFromImage(squared)[slicesOf(low - first, high - first)], 0)


def _centers(grid: Grid, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the LPS positions (n, 3) of the voxels of a box, i fastest."""
    k, j, i = np.indices((high - low + 1)[::-1]).reshape(3, -1)
    return grid.toWorld(np.column_stack([i, j, k]) + low)


@dataclass(frozen=True, eq=False)
class Errors:
    """The hazard of the overlap of two masks and of their differences.

    missed, added: hazard of every voxel in the reference only, and in the test only. both: sum of the hazard of voxels
    in both. outside: sum of the hazard of all voxels outside the reference.
    """

    missed: np.ndarray
    added: np.ndarray
    both: float
    outside: float


# The structures of one patient share a field, which can be as large as their image: while one comparison keeps it, the
# others reuse it. The key holds the critical structures, so that no others can take their place.
_fields: weakref.WeakValueDictionary[tuple, HazardField] = weakref.WeakValueDictionary()


@quantity()
def hazardErrors(
    someStructures: tuple[Structure, Structure],
    masks: tuple[Mask, Mask],
    hazardField: HazardField,
    ignored: Mask | None,
) -> Errors:
    """Return the hazard of the structures' overlap and of their differences."""
    if ignored is not None:
        isCounted = hazardField.isOutside(ignored.on(hazardField.grid))
        hazardField = replace(hazardField, values=np.where(isCounted, hazardField.values, 0))
    low, high = boxAround(*masks)
    values = hazardField.block(low, high)
    reference, test = (mask.block(low, high).astype(bool) for mask in masks)
    missed, added, both = (values[part] for part in (reference & ~test, test & ~reference, reference & test))
    outside = hazardField.values.sum(where=hazardField.isOutside(masks[0]))
    return Errors(missed, added, float(both.sum()), float(outside))


@quantity()
def hazardField(pair: Pair) -> HazardField:
    """Return the hazard of all voxels of the evaluated grid, on the lattice on which overlap is counted."""
    isOfDose = pair.settings.hazardKernel == "dose"
    if isOfDose and (pair.dose is None or pair.settings.prescription is None):
        raise Undefined("hazard by dose needs a dose and a prescription")
    if not isOfDose and not pair.criticals:
        raise Undefined("no critical structure is given")
    grid, evaluated = pair.overlapGrid.grid, pair.evaluatedGrid.grid
    start = evaluated.offsetOn(grid)
    if start is None:
        corners = grid.toIndex(evaluated.corners())
        box = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int)
    else:
        box = np.array(start), np.add(start, evaluated.size) - 1
    lattices = tuple((g.matrix.tobytes(), g.size, g.planar) for g in (grid.resize(*box), evaluated))
    source = (pair.dose, pair.settings.prescription) if isOfDose else tuple(pair.criticals)
    kernel = kernelOf(pair.settings)
    key = source, kernel, grid.matrix.tobytes(), lattices
    field = _fields.get(key)
    if field is None:
        if isOfDose:
            field = hazardOfDose(cast(Dose, pair.dose), pair.settings.prescription, grid, box)
        else:
            given = [(_critical(pair, s, grid), weight) for s, weight in pair.criticals if not s.isEmpty]
            if not given:
                raise Undefined("the critical structures are empty")
            field = hazardAround(given, grid, box, kernel)
        field = _fields[key] = field if start is not None else field.within(evaluated)
    return field


def kernelOf(settings: Any) -> Kernel:
    """Return the kernel by which hazard decreases with the distance, from settings."""
    s = settings
    return Kernel(s.hazardKernel, s.hazardReach, s.hazardPower, s.hazardDecay, s.hazardCombination)


def hazardOfDose(dose: Dose, full: float, grid: Grid, box: tuple[np.ndarray, np.ndarray]) -> HazardField:
    """Return the dose as a share of a full one in Gy, at most 1; outside the dose's grid there is no hazard."""
    low, high = box
    values = np.zeros((high - low + 1)[::-1])
    for layer, points in _slices(values, low, grid):
        layer[:] = np.minimum(dose.valuesAt(points, 0) / full, 1).reshape(layer.shape)
    return HazardField(values, low, grid, box)


def _critical(pair: Pair, structure: Structure, grid: Grid) -> Mask | Surface:
    """Return the voxels of a critical structure on a grid, or its surface if there would be too many voxels."""
    if structure.dimension != pair.dimension:
        raise Undefined(f"the critical structure {structure.name} is not of the same kind as the structures")
    if structure.mask is None and not structure.surface.isClosed:
        raise Undefined(f"the surface of the critical structure {structure.name} {structure.surface.whyNoInside}")
    isOnLattice = structure.mask is not None and structure.mask.alongAxesOf(grid).grid.offsetOn(grid) is not None
    if not isOnLattice:
        corners = grid.toIndex(np.array(list(itertools.product(*zip(*structure.box, strict=True)))))
        if np.prod(np.ptp(corners, axis=0) + 1) > LARGEST_GRID:
            return structure.surface
    mask = structure.mask.on(grid) if structure.mask is not None else voxelization.maskOf(structure.surface, grid)
    if not mask.isEmpty:
        return mask
    # a structure too thin to contain a voxel center is dangerous all the same: the voxels that its boundary crosses,
    # except for those that it only grazes at a corner
    surface = structure.surface
    corners = surface.points[surface.cells]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max()
    subdivisions = max(0, math.ceil(math.log2(4 * longest / grid.spacing.min())))
    places = elementCenters(surface.points, surface.cells, subdivisions)
    return Mask.ofVoxels(np.rint(grid.toIndex(places)).astype(int), grid)


def emptyCriticals(criticals: Sequence[tuple[Structure, float]]) -> str:
    """Return a note on critical structures left out because they are empty, "" if there are none."""
    names = [structure.name for structure, _ in criticals if structure.isEmpty]
    return f"left out because empty: {commaSeparated(names)}" if names else ""


# What all have in common, and those that are sums of the hazard of voxels.
ofHazard = partial(metric, source=BEYOND_DICE, best=0, empty=Empty.COMPUTED, symmetric=False, note=emptyCriticals)
ofWeights = partial(ofHazard, steps=("hazardAround", "Kernel.at"), symbols=HAZARD_OF_VOXELS)


@ofWeights("RFN: Missed hazard")
@hint("Choose it when missing a part near a critical structure matters most.")
@formula(r"\mathrm{RFN} = \frac{\sum_{i \in A \setminus B} w_i}{\sum_{i \in A} w_i + \varepsilon}")
def missedShare(hazardErrors: Errors) -> float:
    """Share of the hazard in the reference, high near critical structures, that the test misses."""
    missed = float(hazardErrors.missed.sum())
    return missed / (hazardErrors.both + missed + EPSILON)


@ofWeights("RFP: Added hazard", dependsOnGrid=True)
@hint("Choose it when adding near a critical structure matters most. Fix the evaluated grid.")
@formula(r"\mathrm{RFP} = \frac{\sum_{i \in B \setminus A} w_i}{\sum_{i \notin A} w_i + \varepsilon}")
def addedShare(hazardErrors: Errors) -> float:
    """Share of the hazard outside the reference that the test covers."""
    return float(hazardErrors.added.sum()) / (hazardErrors.outside + EPSILON)


@ofHazard("SIS: Safety impact score", dependsOnGrid=True, isMain=True, symbols=BALANCE)
@hint("A mean over all errors, in which a few grave ones vanish: look at STAR, too. Fix the evaluated grid.")
@formula(r"\mathrm{SIS} = \lambda \, \mathrm{RFN} + (1 - \lambda) \, \mathrm{RFP}", "missedShare", "addedShare")
def safetyImpactScore(hazardErrors: Errors, hazardBalance: float) -> float:
    """Weighted mean of the missed and the added hazard."""
    return hazardBalance * missedShare(hazardErrors) + (1 - hazardBalance) * addedShare(hazardErrors)


@ofHazard("STAR: Tail risk", isMain=True)
@hint("Looks at the worst errors only: one voxel in a critical structure shows.")
@formula(
    r"\mathrm{STAR} = \lambda \, C_\alpha(A \setminus B) + (1 - \lambda) \, C_\alpha(B \setminus A) \\ "
    r"C_\alpha(E) = q + \frac{1}{\alpha \lvert E \rvert} \sum_{i \in E} \max(w_i - q, 0), \quad C_\alpha(\emptyset) = "
    r"0 \\ q = \min\left\lbrace t : \lvert \lbrace i \in E : w_i \le t \rbrace \rvert \ge (1 - \alpha) \lvert E \rvert "
    r"\right\rbrace",
    "tailMean",
    symbols=(*BALANCE, (r"\alpha", ("hazardTail",)), *HAZARD_OF_VOXELS),
    deviation="Equation 7 of the source sums every hazard from q on and can exceed 1. Here it is the exact "
    "mean of the worst share, the last voxel counted in part; both are equal where that share is a "
    "whole number of voxels and nothing ties.",
)
def tailRisk(hazardErrors: Errors, hazardBalance: float, hazardTail: float) -> float:
    """Mean hazard of the most hazardous missed and added voxels: how bad the worst errors are.

    hazardBalance: lambda in [0, 1], the weight of the missed voxels. hazardTail: alpha in (0, 1], the share of voxels
    that counts, the worst ones.

    Examples
    --------
    >>> missed, added = np.array([0.9, 0.2]), np.array([0.1])  # hazard of voxels that only one of both has
    >>> errors = Errors(missed, added, both=5.0, outside=3.0)
    >>> tailRisk(errors, hazardBalance=0.7, hazardTail=0.05)
    0.66
    """
    missed, added = (tailMean(values, hazardTail) for values in (hazardErrors.missed, hazardErrors.added))
    return hazardBalance * missed + (1 - hazardBalance) * added


def tailMean(values: np.ndarray, share: float) -> float:
    """Return the mean of a share of the values, the largest, the last one counted fractionally; 0 without values.

    In the formulas, this is C of alpha, where alpha is the share and q the threshold.
    """
    if not len(values):
        return 0.0
    threshold = np.quantile(values, 1 - share, method="inverted_cdf")
    return float(threshold + np.maximum(values - threshold, 0).mean() / share)


@ofWeights("wDice: Dice weighted by hazard", best=1, symmetric=True, isMain=True)
@hint("Choose it when overlap matters near critical structures only; elsewhere errors hardly count.")
@formula(
    r"\mathrm{wDice} = \frac{2 \sum_{i \in A \cap B} w_i}{\sum_{i \in A} w_i + \sum_{i \in B} w_i}",
    deviation="The source adds a small number to the denominator; here it is undefined where neither "
    "structure has any hazard.",
)
def weightedDice(hazardErrors: Errors) -> float:
    """Dice coefficient in which every voxel counts by its hazard."""
    both = 2 * hazardErrors.both
    whole = both + float(hazardErrors.missed.sum()) + float(hazardErrors.added.sum())
    if not whole:
        raise Undefined("neither structure has any hazard")
    return both / whole
