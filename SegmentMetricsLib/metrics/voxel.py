"""How far apart the voxels of the segments lie, over whole segments rather than their contours.

Source: Taha & Hanbury, BMC Medical Imaging 2015, doi:10.1186/s12880-015-0068-x. Distances are measured between voxel
centers; a voxel in both structures has the distance 0. Of memberships, numbers are means over the cuts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import SimpleITK

from ..base.errors import Undefined
from ..base.parallel import sideBySide, threads
from ..base.progress import chunks
from ..geometry.masks import Mask, boxAround, slicesOf
from ..geometry.products import product
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST
from .metric import TAHA, Empty, Family, Value, formula, hint, metric, quantity
from .pair import Pair

FAMILY = Family(50)
AYDIN = "Aydin et al., doi:10.1186/s41747-020-00200-2"
# Voxels searched between two checks for cancellation.
CHUNK = 200_000
# Up to this many voxels of a mesh are searched one by one, which is the fastest for few. The voxel size of a filled
# mesh is this library's choice, and there can be tens of millions of them.
MOST_SEARCHED = 500_000
# Above this many voxels in both boxes, a thread per direction pays off.
LONG = 1_000_000
# A covariance is singular if its smallest variance is at most this fraction of its largest one.
FLAT = 1e-12


@dataclass(frozen=True)
class VoxelDistances:
    """Distances from the voxels of one structure to the nearest voxel of another one.

    distances: (n,) ascending, of the voxels outside the other structure. shared: number of voxels in both.
    """

    distances: np.ndarray
    shared: int

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
        ranks = (min(rank, self.count - 1) - self.shared for rank in (below, below + 1))
        low, high = (0.0 if rank < 0 else float(self.distances[rank]) for rank in ranks)
        return low + (high - low) * (position - below)


def measureCenters(
    reference: Mask, test: Mask, unit: str, areMeshes: bool = False
) -> tuple[VoxelDistances, VoxelDistances]:
    """Return the distances from reference to test and from test to reference, of two masks on one lattice.

    unit: "mm", or "voxel" for distances between voxel indices. areMeshes: whether they are filled meshes, whose voxels
    are cubes. Raises Undefined if a mask is empty.
    """
    requireVoxels(reference, test)
    isLong = min(reference.voxels.size, test.voxels.size) > LONG
    ways = ((reference, test), (test, reference))
    toTest, toReference = sideBySide([partial(_measureOneWay, *way, unit, areMeshes) for way in ways], isLong)
    return toTest, toReference


def requireVoxels(reference: Mask, test: Mask) -> None:
    """Raise Undefined if a mask has no voxel, like that of a mesh thinner than voxels."""
    for which, mask in (("reference", reference), ("test", test)):
        if mask.isEmpty:
            raise Undefined(f"the {which} encloses no voxel")


def _measureOneWay(start: Mask, goal: Mask, unit: str, areMeshes: bool) -> VoxelDistances:
    alone = start.voxels > goal.block(start.low, start.high)
    count = int(np.count_nonzero(alone))
    distances = np.zeros(0)
    if count:
        find = _mappedDistances if areMeshes and count > MOST_SEARCHED else _searchedDistances
        distances = find(alone, start, goal, unit)
    return VoxelDistances(np.sort(distances), start.count - count)


def _searchedDistances(alone: np.ndarray, start: Mask, goal: Mask, unit: str) -> np.ndarray:
    """Return the distances (n,) from voxels [k, j, i] in the box of a mask to the nearest voxel of another mask."""
    from scipy.ndimage import binary_erosion
    from scipy.spatial import cKDTree

    # on a rectangular lattice, the mask's voxel nearest to an outside one is on its rim
    isOnRim = unit == "voxel" or goal.grid.isRectangular
    targets = goal.voxels & ~binary_erosion(goal.voxels) if isOnRim else goal.voxels
    # for voxels, balancing the tree takes longer than it saves
    tree = cKDTree(_positions(np.argwhere(targets), goal, unit), balanced_tree=False)
    places, found = np.argwhere(alone), []
    for chosen in chunks(len(places), CHUNK):
        found.append(tree.query(_positions(places[chosen], start, unit), workers=threads())[0])
    return np.concatenate(found)


def _mappedDistances(alone: np.ndarray, start: Mask, goal: Mask, unit: str) -> np.ndarray:
    """Return the same on a lattice of cubes, from a map of the distances of all voxels: exact, and faster for many."""
    low, high = boxAround(start, goal)
    image = SimpleITK.GetImageFromArray(goal.block(low, high))
    squares = SimpleITK.SignedMaurerDistanceMap(image, squaredDistance=True, useImageSpacing=False)
    inBox = SimpleITK.GetArrayViewFromImage(squares)[slicesOf(start.low - low, start.high - low)]
    return np.sqrt(inBox[alone], dtype=float) * (1.0 if unit == "voxel" else start.grid.spacing[0])


def _positions(indices: np.ndarray, mask: Mask, unit: str) -> np.ndarray:
    """Return voxel indices [k, j, i] of a cropped mask as positions (n, 3) in a unit, relative to the grid's origin."""
    whole = (indices[:, ::-1] + mask.low).astype(float)
    return whole if unit == "voxel" else product(whole, mask.grid.axes.T)


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
    areMeshes = all(s.samplingGrid is None for s in structures)
    return [measureCenters(*cut, voxelUnit, areMeshes) for cut in voxelCuts]


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


# What all have in common, and what distances.
ofCuts = partial(metric, best=0, empty=Empty.INFINITE, emptiness="emptinessOfCuts", note=noteOnCuts)
ofDistances = partial(ofCuts, unit="mm", unitSetting=lambda settings: settings.voxelUnit)


@ofDistances("AVD: Average distance of voxels", TAHA, isMain=True, alias="AVGDIST")
@hint("Small structures and low density: less sensitive to single voxels than overlap.")
@formula(
    r"\mathrm{AVD} = \max\left(\frac{1}{n_A} \sum_{a \in A} \min_{b \in B} \lVert a - b \rVert, \; "
    r"\frac{1}{n_B} \sum_{b \in B} \min_{a \in A} \lVert a - b \rVert\right)",
    "VoxelDistances.mean",
    deviation="The source's own program takes the mean of the two directions instead of the larger one.",
)
def averageDistance(voxelDistances: list[tuple[VoxelDistances, VoxelDistances]]) -> Value:
    """Mean distance from the voxels of one structure to the nearest of the other, the larger of the two directions;
    shared voxels count as 0.
    """
    # equation 49 of the source
    return _average(max, [[way.mean for way in ways] for ways in voxelDistances])


@ofDistances("bAVD: Balanced average distance of voxels", AYDIN, symmetric=False, alias="bAVD")
@hint("Choose it to rank several tests of one reference: a large test does not dilute its own errors.")
@formula(
    r"\mathrm{bAVD} = \frac{1}{2 n_A} \left(\sum_{a \in A} \min_{b \in B} \lVert a - b \rVert + "
    r"\sum_{b \in B} \min_{a \in A} \lVert a - b \rVert\right)",
    "VoxelDistances.total",
)
def balancedDistance(voxelDistances: list[tuple[VoxelDistances, VoxelDistances]]) -> Value:
    """Half the sum of the distances from all voxels of each structure to the nearest of the other, per voxel of the
    reference; shared voxels count as 0.
    """
    perVoxel = [[way.total / ways[0].count for way in ways] for ways in voxelDistances]
    return _average(lambda toTest, toReference: (toTest + toReference) / 2, perVoxel)


@ofDistances(
    "HDvox_{quantile}: Hausdorff distance of voxels, quantile {quantile}", TAHA, trend="rising", alias="HDRFDST"
)
@hint("With quantile 1 a single outlier determines it: take a smaller one where outliers do not matter.")
@formula(
    r"\mathrm{HDvox}_q = \max\left(\mathrm{quantile}_q\left\lbrace \min_{b \in B} \lVert a - b "
    r"\rVert : a \in A \right\rbrace, \; "
    r"\mathrm{quantile}_q\left\lbrace \min_{a \in A} \lVert a - b \rVert : b \in B \right\rbrace\right)",
    "VoxelDistances.quantile",
)
def hausdorff(voxelDistances: list[tuple[VoxelDistances, VoxelDistances]], quantile: float) -> Value:
    """Distance to the nearest voxel of the other structure that a share of {quantile} of all voxels does not exceed;
    the larger of the two directions.
    """
    return _average(max, [[way.quantile(quantile) for way in ways] for ways in voxelDistances])


def _average(combine: Callable[[float, float], float], values: Sequence[Sequence[float]]) -> Value:
    """Return the means over the cuts of a number made of both directions, and of that of each direction."""
    columns = zip(*((combine(*ways), *ways) for ways in values), strict=True)
    value, toTest, toReference = (math.fsum(column) / len(values) for column in columns)
    return Value(value, toTest, toReference)


@ofCuts("MHD: Mahalanobis distance", TAHA, high=math.inf, alias="MAHLNBS")
@hint("Sees general shape and position only: 0 for concentric structures of any size.")
@formula(
    r"\mathrm{MHD} = \sqrt{(\mu_A - \mu_B)^\top S^{-1} (\mu_A - \mu_B)}, \quad "
    r"S = \frac{n_A S_A + n_B S_B}{n_A + n_B}",
    "mahalanobis",
    "moments",
)
def averageMahalanobis(voxelCuts: list[tuple[Mask, Mask]]) -> float:
    """Distance of the two centers in standard deviations of the voxels around them."""
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
