"""How far apart the voxels of the segments lie, over whole segments rather than their contours.

Source: Taha & Hanbury, BMC Medical Imaging 2015, doi:10.1186/s12880-015-0068-x. Distances are measured between voxel
centers; a voxel in both structures has the distance 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import Undefined
from ..base.parallel import sideBySide, threads
from ..base.progress import checkpoint
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.products import product
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST
from .metric import TAHA, Empty, Family, Value, metric, quantity

if TYPE_CHECKING:
    from .pair import Pair


FAMILY = Family(50)
AYDIN = "Aydin et al., doi:10.1186/s41747-020-00200-2"
# Voxels searched between two checks for cancellation.
CHUNK = 200_000
# Up to this many voxels of a mesh are measured one by one; more are measured in cubes. The voxel size of a filled mesh
# is this library's choice, so users should not have to wait for tens of millions of voxels.
MOST_OF_MESH = 500_000
# Above this many voxels in both boxes, a thread per direction pays off.
LONG = 1_000_000
# A covariance is singular if its smallest variance is at most this fraction of its largest one.
FLAT = 1e-12


@dataclass(frozen=True)
class VoxelDistances:
    """Distances from the voxels of one structure to the nearest voxel of another one.

    distances: (n,) ascending, of the voxels outside the other structure. shared: number of voxels in both. step: side
    length in voxels of the cubes whose voxels count as equally far, 1 for single voxels.
    """

    distances: np.ndarray
    shared: int
    step: int = 1

    @property
    def count(self) -> int:
        return len(self.distances) + self.shared

    @property
    def total(self) -> float:
        return float(self.distances.sum())

    @property
    def mean(self) -> float:
        return self.total / self.count

    def quantile(self, share: float) -> float:
        """Return a quantile of the distances, linearly interpolated between voxels. share: in [0, 1]."""
        position = (self.count - 1) * share
        below = math.floor(position)
        low, high = (self._ranked(min(rank, self.count - 1)) for rank in (below, below + 1))
        return low + (high - low) * (position - below)

    def _ranked(self, rank: int) -> float:
        return 0.0 if rank < self.shared else float(self.distances[rank - self.shared])


def measure(reference: Mask, test: Mask, unit: str, most: int | None = None) -> tuple[VoxelDistances, VoxelDistances]:
    """Return the distances from reference to test and from test to reference, of two masks on one lattice.

    unit: "mm", or "voxel" for distances between voxel indices. most: up to this many voxels outside the other structure
    are measured one by one, more in cubes; None for no limit. Raises Undefined if a mask is empty.
    """
    requireVoxels(reference, test)
    ways = ((reference, test), (test, reference))
    isLong = min(reference.voxels.size, test.voxels.size) > LONG
    there, back = sideBySide([partial(_measureOneWay, *way, unit, most) for way in ways], isLong)
    return there, back


def requireVoxels(reference: Mask, test: Mask) -> None:
    """Raise Undefined if a mask has no voxel, like that of a mesh thinner than voxels."""
    for which, mask in (("reference", reference), ("test", test)):
        if mask.isEmpty:
            raise Undefined(f"the {which} encloses no voxel")


def _measureOneWay(start: Mask, goal: Mask, unit: str, most: int | None) -> VoxelDistances:
    alone = start.voxels > goal.block(start.low, start.high)
    shared = start.count - int(np.count_nonzero(alone))
    if not alone.any():
        return VoxelDistances(np.zeros(0), shared)
    nearest = _Nearest(goal, unit)
    count = start.count - shared
    if most is not None and count > most:
        step = math.ceil((count / most) ** (1 / (2 if start.grid.planar else 3)))
        return VoxelDistances(_fromCubes(alone, start, nearest, step), shared, step)
    return VoxelDistances(np.sort(nearest.distances(np.argwhere(alone), start)), shared)


class _Nearest:
    """Search for the distances of places to the nearest voxel of a mask, in a unit."""

    def __init__(self, goal: Mask, unit: str):
        from scipy.spatial import cKDTree

        self._grid, self._unit = goal.grid, unit
        # on a rectangular lattice, the mask's voxel nearest to an outside one is on its rim
        targets = _rim(goal) if unit == "voxel" or goal.grid.isRectangular else goal.voxels
        # for voxels, balancing the tree takes longer than it saves
        self._tree = cKDTree(_positions(np.argwhere(targets), goal, self._grid, unit), balanced_tree=False)

    def distances(self, indices: np.ndarray, mask: Mask) -> np.ndarray:
        """Return the distances (n,) of places (n, 3) in voxels [k, j, i] of a cropped mask."""
        found = []
        for first in range(0, len(indices), CHUNK):
            checkpoint()
            points = _positions(indices[first : first + CHUNK], mask, self._grid, self._unit)
            found.append(self._tree.query(points, workers=threads())[0])
        return np.concatenate(found)

    def longest(self, ways: np.ndarray) -> np.ndarray:
        """Return upper bounds (n,) of the lengths of vectors (n, 3) given in voxels [k, j, i]."""
        lengths = np.linalg.norm(ways, axis=1)
        return lengths if self._unit == "voxel" else lengths * np.linalg.norm(self._grid.axes, 2)


def _fromCubes(alone: np.ndarray, start: Mask, nearest: _Nearest, step: int) -> np.ndarray:
    """Return the distances of voxels [k, j, i], ascending, where all voxels of a cube get that of their center.

    The largest distance is exact.
    """
    cubes, counts, centers = _cubes(alone, step)
    found = nearest.distances(centers, start)
    # upper bound: the distance of the center plus the length from there to the farthest corner of the cube
    reach = found + nearest.longest(np.maximum(centers - cubes * step, (cubes + 1) * step - 1 - centers))
    largest = 0.0
    order = np.argsort(-reach)
    first, stop = 0, 1
    while first < len(order) and reach[order[first]] > largest:
        voxels = np.concatenate([_within(alone, cube, step) for cube in cubes[order[first:stop]]])
        largest = max(largest, float(nearest.distances(voxels, start).max()))
        first, stop = stop, min(2 * stop, stop + CHUNK // step**3)
    order = np.argsort(found)
    distances = np.repeat(np.minimum(found[order], largest), counts[order])
    distances[-1] = largest
    return distances


def _cubes(voxels: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the non-empty cubes (n, 3) of voxels [k, j, i], the voxels' number (n,) and center (n, 3) in each.

    step: side length of the cubes in voxels, at most 22. Cubes are numbered from 0 along each axis.
    """
    # weighted sums along k are at most 0 + 1 + ... + 21 = 231, which fits into the bytes of voxels
    padded = np.pad(voxels.view(np.uint8), [(0, -length % step) for length in voxels.shape])
    plain, weighted = (_sums(padded, 0, step, weights).astype(np.int32) for weights in (False, True))
    alongK, alongJ, plain = _sums(weighted, 1, step), _sums(plain, 1, step, True), _sums(plain, 1, step)
    totals = [_sums(total, 2, step) for total in (plain, alongK, alongJ)] + [_sums(plain, 2, step, True)]
    isMet = totals[0] > 0
    cubes, (counts, *moments) = np.argwhere(isMet), (total[isMet] for total in totals)
    return cubes, counts, cubes * step + np.stack(moments, axis=1) / counts[:, None]


def _sums(values: np.ndarray, axis: int, step: int, areWeighted: bool = False) -> np.ndarray:
    """Return sums of `step` values each along an axis. areWeighted: whether to weight each by 0, 1, ..., step - 1."""
    parts = np.moveaxis(values.reshape(*values.shape[:axis], -1, step, *values.shape[axis + 1 :]), axis + 1, 0)
    result = np.zeros_like(parts[0])
    for place, part in enumerate(parts):
        result += part * part.dtype.type(place) if areWeighted else part
    return result


def _within(voxels: np.ndarray, cube: np.ndarray, step: int) -> np.ndarray:
    """Return the indices (n, 3) of the voxels [k, j, i] in a cube."""
    low = cube * step
    return np.argwhere(voxels[tuple(slice(first, first + step) for first in low)]) + low


def _positions(indices: np.ndarray, mask: Mask, grid: Grid, unit: str) -> np.ndarray:
    """Return voxel indices [k, j, i] of a cropped mask as positions (n, 3) in a unit, relative to the grid's origin."""
    whole = (indices[:, ::-1] + mask.low).astype(float)
    return whole if unit == "voxel" else product(whole, grid.axes.T)


def _rim(mask: Mask) -> np.ndarray:
    """Return the voxels of a mask [k, j, i] with a face neighbor outside the mask."""
    padded = np.pad(mask.voxels, 1)
    inner = padded[1:-1, 1:-1, 1:-1].copy()
    for axis in range(3):
        for step in (0, 2):
            window = [slice(1, -1)] * 3
            window[axis] = slice(step, step + mask.voxels.shape[axis])
            inner &= padded[tuple(window)]
    return mask.voxels > inner


@quantity()
def cutNumber(isFuzzy: bool, cuts: int | None) -> int:
    """Return the number of cuts of memberships, 0 without any."""
    return (cuts or 0) if isFuzzy else 0


@quantity("masks")
def voxelCuts(pair: Pair, cutNumber: int) -> list[tuple[Mask, Mask]]:
    """Return the voxels whose distances are measured: those of the masks, or of every cut not empty on both sides."""
    if not cutNumber:
        return [pair.masks]
    reference, test = pair.memberships
    cuts = ((reference.cut(n / cutNumber), test.cut(n / cutNumber)) for n in range(1, cutNumber + 1))
    return [cut for cut in cuts if not all(mask.isEmpty for mask in cut)]


@quantity()
def voxelDistances(
    voxelCuts: list[tuple[Mask, Mask]], structures: tuple[Structure, Structure], voxelUnit: str
) -> list[tuple[VoxelDistances, VoxelDistances]]:
    """Return the distances of the voxels in every cut, from the reference to the test and from the test to it."""
    most = MOST_OF_MESH if all(s.samplingGrid is None for s in structures) else None
    return [measure(*cut, voxelUnit, most) for cut in voxelCuts]


@quantity()
def emptinessOfCuts(pair: Pair, cutNumber: int) -> str:
    """Return text on the structure that is empty in the pair, or in any measured cut; "" if there is none."""
    if not cutNumber:
        return pair.emptiness
    if not pair["voxelCuts"]:
        raise Undefined("every cut of the memberships is empty on both sides")
    for number, which in enumerate(REFERENCE_AND_TEST):
        if any(cut[number].isEmpty for cut in pair["voxelCuts"]):
            return f"the {which} is empty in a cut of the memberships"
    return ""


def noteOnCuts(voxelCuts: list[tuple[Mask, Mask]], cutNumber: int) -> str:
    """Return a note on the number of cuts left out because both structures are empty there, "" if none is."""
    omitted = cutNumber and cutNumber - len(voxelCuts)
    are = "is" if omitted == 1 else "are"
    return f"{omitted} of {cutNumber} cuts {are} empty on both sides and left out" if omitted else ""


def noteOnDistances(
    voxelDistances: list[tuple[VoxelDistances, VoxelDistances]], voxelCuts: list[tuple[Mask, Mask]], cutNumber: int
) -> str:
    """Return a note on cuts that were left out, or on voxels that were taken together."""
    step = max((way.step for ways in voxelDistances for way in ways), default=1)
    if step > 1:
        return f"voxels alone in one mesh were taken together in cubes {step} voxels long"
    return noteOnCuts(voxelCuts, cutNumber)


# What the metrics of distances have in common.
ofDistances = partial(
    metric,
    unit="mm",
    best=0,
    empty=Empty.INFINITE,
    emptiness="emptinessOfCuts",
    unitSetting=lambda settings: settings.voxelUnit,
    note=noteOnDistances,
)


@ofDistances(
    "AVD",
    "Average distance of voxels",
    TAHA,
    isMain=True,
    alias="AVGDIST",
    steps=("metrics.voxel.VoxelDistances.mean",),
    hint="Small structures and low density: less sensitive to single voxels than overlap.",
    formula=r"\mathrm{AVD} = \max\left(\frac{1}{n_A} \sum_{a \in A} \min_{b \in B} \lVert a - b \rVert, \; "
    r"\frac{1}{n_B} \sum_{b \in B} \min_{a \in A} \lVert a - b \rVert\right)",
    deviation="The source's own program takes the mean of the two directions instead of the larger one.",
)
def averageDistance(voxelDistances: list[tuple[VoxelDistances, VoxelDistances]]) -> Value:
    """Mean distance from the voxels of one structure to the nearest of the other, the larger of the two directions;
    shared voxels count as 0.

    Equation 49 of the source, averaged over the cuts.
    """
    return _averaged(_larger(there.mean, back.mean) for there, back in voxelDistances)


@ofDistances(
    "bAVD",
    "Balanced average distance of voxels",
    AYDIN,
    symmetric=False,
    alias="bAVD",
    steps=("metrics.voxel.VoxelDistances.total",),
    hint="Choose it to rank several tests of one reference: a large test does not dilute its own errors.",
    formula=r"\mathrm{bAVD} = \frac{1}{2 n_A} \left(\sum_{a \in A} \min_{b \in B} \lVert a - b \rVert + "
    r"\sum_{b \in B} \min_{a \in A} \lVert a - b \rVert\right)",
)
def balancedDistance(voxelDistances: list[tuple[VoxelDistances, VoxelDistances]]) -> Value:
    """Half the sum of the distances from all voxels of each structure to the nearest of the other, per voxel of the
    reference; shared voxels count as 0.

    Averaged over the cuts. Each direction alone is the sum of its distances per voxel of the reference.
    """
    return _averaged(_balanced(there.total / there.count, back.total / there.count) for there, back in voxelDistances)


def _balanced(there: float, back: float) -> Value:
    return Value((there + back) / 2, there, back)


@ofDistances(
    "HDvox_{quantile}",
    "Hausdorff distance of voxels, quantile {quantile}",
    TAHA,
    trend="rising",
    alias="HDRFDST",
    steps=("metrics.voxel.VoxelDistances.quantile",),
    hint="With quantile 1 a single outlier determines it: take a smaller one where outliers do not matter.",
    formula=r"\mathrm{HDvox}_q = \max\left(\mathrm{quantile}_q\left\lbrace \min_{b \in B} \lVert a - b "
    r"\rVert : a \in A \right\rbrace, \; "
    r"\mathrm{quantile}_q\left\lbrace \min_{a \in A} \lVert a - b \rVert : b \in B \right\rbrace\right)",
)
def hausdorff(voxelDistances: list[tuple[VoxelDistances, VoxelDistances]], quantile: float) -> Value:
    """Distance to the nearest voxel of the other structure that a share of {quantile} of all voxels does not exceed;
    the larger of the two directions.

    Averaged over the cuts. The quantile 1 is the largest distance.
    """
    return _averaged(_larger(there.quantile(quantile), back.quantile(quantile)) for there, back in voxelDistances)


def _larger(there: float, back: float) -> Value:
    return Value(max(there, back), there, back)


def _averaged(values: Iterable[Value]) -> Value:
    """Return the means over the cuts of the larger value and of the value of each direction."""
    values = list(values)
    ways = ([one, one.referenceToTest, one.testToReference] for one in values)
    value, toTest, toReference = (math.fsum(column) / len(values) for column in zip(*ways, strict=True))
    return Value(value, toTest, toReference)


@metric(
    "MHD",
    "Mahalanobis distance",
    TAHA,
    best=0,
    high=math.inf,
    empty=Empty.INFINITE,
    emptiness="emptinessOfCuts",
    alias="MAHLNBS",
    note=noteOnCuts,
    steps=("metrics.voxel.mahalanobis", "metrics.voxel.moments"),
    hint="Sees general shape and position only: 0 for concentric structures of any size.",
    formula=r"\mathrm{MHD} = \sqrt{(\mu_A - \mu_B)^\top S^{-1} (\mu_A - \mu_B)}, \quad "
    r"S = \frac{n_A S_A + n_B S_B}{n_A + n_B}",
)
def averageMahalanobis(voxelCuts: list[tuple[Mask, Mask]]) -> float:
    """Distance of the two centers in standard deviations of the voxels around them.

    Averaged over the cuts.
    """
    return math.fsum(mahalanobis(*cut) for cut in voxelCuts) / len(voxelCuts)


def mahalanobis(reference: Mask, test: Mask) -> float:
    """Return the Mahalanobis distance of two clouds of voxels, in [0, inf), without unit.

    It is the distance of the clouds' centers in standard deviations of their pooled covariance. Raises Undefined if
    both clouds lie in one plane (on one line for planar images), where that covariance is singular.
    """
    requireVoxels(reference, test)
    (count, center, spread), (otherCount, otherCenter, otherSpread) = moments(reference), moments(test)
    covariance = (count * spread + otherCount * otherSpread) / (count + otherCount)
    difference = center - otherCenter
    if reference.grid.planar:
        kept = [axis for axis in range(3) if axis != reference.grid.flatAxis]
        covariance, difference = covariance[np.ix_(kept, kept)], difference[kept]
    variances = np.linalg.eigvalsh(covariance)
    if variances[0] <= FLAT * variances[-1]:
        raise Undefined(
            "the voxels of both structures lie in one plane or on one line, so their covariance is singular"
        )
    return math.sqrt(max(float(difference @ np.linalg.solve(covariance, difference)), 0.0))


def moments(mask: Mask) -> tuple[int, np.ndarray, np.ndarray]:
    """Return count, mean (3,) and covariance (3, 3) of the voxel indices i, j, k of a mask.

    Indices suffice, because the Mahalanobis distance is the same in mm, in voxels or in any other coordinates.
    """
    # projections onto planes and axes suffice for first and second moments
    planes = {axes: mask.voxels.sum(axis=2 - (3 - sum(axes)), dtype=np.int64) for axes in ((0, 1), (0, 2), (1, 2))}
    # planes[a, b] is indexed [b, a], because arrays are indexed [k, j, i]
    lines = (planes[0, 1].sum(axis=0), planes[0, 1].sum(axis=1), planes[0, 2].sum(axis=1))
    count = int(lines[0].sum())
    steps = [np.arange(len(line)) for line in lines]
    center = np.array([float(line @ step) / count for line, step in zip(lines, steps, strict=True)])
    off = [step - middle for step, middle in zip(steps, center, strict=True)]
    covariance = np.zeros((3, 3))
    for axis in range(3):
        covariance[axis, axis] = lines[axis] @ off[axis] ** 2 / count
    for (a, b), plane in planes.items():
        covariance[a, b] = covariance[b, a] = off[b] @ plane @ off[a] / count
    return count, center + mask.low, covariance
