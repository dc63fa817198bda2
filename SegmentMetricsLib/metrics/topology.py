"""Whether vessels are in one piece: gaps, spurs, and the numbers of parts, tunnels and cavities.

Sources: Shit et al., arXiv:2003.07311 (clDice); Hu et al., arXiv:1906.05404 (Betti error, there as an average over
patches, here of the whole volume). scikit-image thins skeletons as Lee, Kashyap & Chu 1994,
doi:10.1006/cgip.1994.1042, and in a plane as Zhang & Suen 1984, doi:10.1145/357994.358023.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..base.errors import Undefined
from ..base.parallel import sideBySide
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.parts import components, partSizes
from ..geometry.ranges import splitBy
from . import thinning
from .metric import OURS, Empty, Family, Named, each, formula, hint, metric, quantity
from .thinning import TooLarge

FAMILY = Family(80, called=("vessels",))
SHIT = "Shit et al., arXiv:2003.07311"
HU = "Hu et al., arXiv:1906.05404"
# What shares of center lines have in common, what numbers of gaps and spurs, and what Betti errors.
ofLines = partial(
    metric,
    source=SHIT,
    best=1,
    empty=Empty.ZERO,
    steps=("skeletonOf", "lostRuns"),
    deviation="Where thinning the voxels loses a part of a vessel, both structures are thinned at twice the "
    "resolution.",
)
ofRuns = partial(metric, source=OURS, best=0, empty=Empty.COUNTED, symmetric=False, steps=("runsOutside",))
ofBetti = partial(
    metric,
    source=HU,
    best=0,
    empty=Empty.COUNTED,
    isCount=True,
    deviation="The source averages over patches of the image; here the whole structures count.",
)
# Stretches of center lines outside the other structure: of the reference, and of the test.
OUTSIDE = {"runs": (Named("gaps"), Named("spurs")), "X": ("A", "B"), "Y": ("B", "A")}
# Voxels of both together from which on they are thinned side by side.
MANY_VOXELS = 50_000
# Distance up to which points are neighbors: the corners of a cube of two voxels are a little less apart.
NEIGHBORING = 1.8
# Links whose lengths differ by less than this fraction are equally long: directions in files are rounded.
EQUALLY_LONG = 1e-5


class Betti(NamedTuple):
    """The Betti numbers of a structure: separate parts, tunnels, and cavities that are closed on all sides."""

    parts: int
    tunnels: int
    cavities: int


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The center lines of a structure, one point thin.

    points: (n, 3) indices i, j, k on `grid`, in voxels or in parts of them. perVoxel: 1 for voxels, or 2 for half ones:
    cells, faces, edges and corners of voxels. isCovered: (n,) whether they lie in the other structure, or on it. added:
    how many of the points, the last ones, stand for parts that vanish when they are thinned.
    """

    points: np.ndarray
    isCovered: np.ndarray
    grid: Grid
    added: int = 0
    perVoxel: int = 1

    @property
    def thinned(self) -> np.ndarray:
        """(t, 3) the points that are left when all is thinned."""
        return self.points[: len(self.points) - self.added]


@dataclass(frozen=True)
class Run:
    """A connected stretch of one structure's skeleton outside the other structure.

    length: in mm along the skeleton; a link to a voxel that is covered counts half, one to the other's border fully.
    voxels: how many. position: LPS mm of its point that is nearest to its middle.
    """

    length: float
    voxels: int
    position: tuple[float, float, float]


def bettiNumbers(mask: Mask) -> Betti:
    """Return the Betti numbers of a mask whose voxels are connected if they share a corner (26, in a plane 8).

    The background is connected through faces (6, in a plane 4). A solid torus has (1, 1, 0), a hollow ball (1, 0, 1).
    """
    if mask.isEmpty:
        return Betti(0, 0, 0)
    from scipy.ndimage import label

    # the background that reaches the edge is no cavity
    background = np.pad(mask.voxels == 0, 1, constant_values=True)
    parts, cavities = len(partSizes(mask)), label(background)[1] - 1
    return Betti(parts, parts + cavities - eulerCharacteristic(mask.voxels), cavities)


def eulerCharacteristic(voxels: np.ndarray) -> int:
    """Return corners - edges + faces - voxels of the union of a mask's closed voxels [k, j, i], each counted once."""
    total = 0
    for isAcross in itertools.product((False, True), repeat=3):
        # across all axes there are corners, across two edges, across one faces; each is there if a voxel beside it is
        parts = np.pad(voxels != 0, 1)
        for axis in np.flatnonzero(isAcross):
            along = np.moveaxis(parts, axis, 0)
            parts = np.moveaxis(along[1:] | along[:-1], 0, axis)
        total -= (-1) ** sum(isAcross) * int(np.count_nonzero(parts))
    return total


def skeletonOf(mask: Mask, counterpart: Mask, perVoxel: int = 1) -> Skeleton:
    """Return the skeleton of a mask, and where another mask on the same lattice covers it.

    perVoxel: 1 for the skeleton of the voxels, 2 for that of the lattice of twice the resolution. Every separate part
    has one: blocks of an even number of voxels vanish when they are thinned, and keep a voxel, which makes a gap or a
    spur but does not count in shares, as in the source.
    Raises Undefined without scikit-image, and TooLarge.
    """
    if mask.isEmpty:
        thinning.skeletonizer()
        return Skeleton(np.zeros((0, 3), int), np.zeros(0, bool), mask.grid, perVoxel=perVoxel)
    points = (
        thinning.thinFiner(mask) if perVoxel == 2 else thinning.thinVoxels(mask.voxels, mask.grid.flatAxis) + mask.low
    )
    middles = perVoxel * _middlesOfVanished(mask, points, perVoxel)
    points = np.concatenate([points, middles])
    isCovered = thinning.valuesAt(counterpart.voxels, counterpart.low, points, perVoxel) > 0
    return Skeleton(points, isCovered, mask.grid, len(middles), perVoxel)


def lostRuns(finer: Skeleton, skeleton: Skeleton, mask: Mask) -> tuple[Run, ...]:
    """Return the stretches of a mask's finer skeleton that the skeleton of its voxels does not reach, longest first."""
    if not len(finer.points):
        return ()
    from scipy.spatial import cKDTree

    away = np.full(len(finer.points), np.inf)
    if len(skeleton.thinned):
        away, _ = cKDTree(skeleton.thinned).query(finer.points / finer.perVoxel)
    loss = away - thinning.depthsOf(finer.points, mask)
    (most, count), (mostOutside, countOutside) = thinning.LOST, thinning.LOST_OUTSIDE
    anywhere = runsOutside(replace(finer, isCovered=loss <= most), count)
    return anywhere or runsOutside(replace(finer, isCovered=finer.isCovered | (loss <= mostOutside)), countOutside)


def withoutSpikes(skeleton: Skeleton, mask: Mask) -> Skeleton:
    """Return a skeleton of half voxels without the spikes that bumps of its mask leave beside the center line.

    From where it branches off, a spike is longer than the way to the background by at most a voxel. Where a center
    line ends in several spikes, the longest one is its end.
    """
    points, count = skeleton.points, len(skeleton.points)
    one, other, lengths = _links(skeleton)
    if not len(one):
        return skeleton
    one, other, _ = _tree(one, other, lengths, np.zeros(len(one), int), count)
    ends, beside = np.concatenate([one, other]), np.concatenate([other, one])
    degrees = np.bincount(ends, minlength=count)
    isBranching, isTip = degrees > 2, degrees == 1
    isAlong = ~(isBranching[one] | isBranching[other])
    lines, tips = components(one[isAlong], other[isAlong], count), np.full(count, -1)
    tips[lines[isTip]] = np.flatnonzero(isTip)
    # the lines with a tip, and where they branch off
    links = np.flatnonzero(isBranching[beside] & ~isBranching[ends] & (tips[lines[ends]] >= 0))
    found, branchings = lines[ends[links]], beside[links]
    reach = np.linalg.norm(points[tips[found]] - points[branchings], axis=1) / skeleton.perVoxel
    others = degrees[branchings] - np.bincount(branchings, minlength=count)[branchings]
    order = np.lexsort([tips[found], -reach, branchings])
    isLongest = np.zeros(len(found), bool)
    isLongest[order] = np.diff(branchings[order], prepend=-1) != 0
    isSpike = (reach <= thinning.depthsOf(points[branchings], mask) + 1) & ~(isLongest & (others < 2))
    isKept = ~np.isin(lines, found[isSpike])
    return replace(skeleton, points=points[isKept], isCovered=skeleton.isCovered[isKept])


def runsOutside(skeleton: Skeleton, least: int = 1) -> tuple[Run, ...]:
    """Return the connected stretches of a skeleton, of at least so many points, outside the other, longest first.

    Of the links between neighboring points, those of a shortest tree that joins all of them make the length.
    """
    outside = np.flatnonzero(~skeleton.isCovered)
    if not len(outside):
        return ()
    one, other, lengths = _links(skeleton)
    isApart = ~(skeleton.isCovered[one] | skeleton.isCovered[other])
    ends = [np.searchsorted(outside, some[isApart]) for some in (one, other)]
    found = components(ends[0], ends[1], len(outside))
    numbers = np.full(len(skeleton.points), -1)
    numbers[outside] = found
    total = np.zeros(found.max() + 1)
    coveredEnds = skeleton.isCovered[one].astype(int) + skeleton.isCovered[other]
    one, other, lengths = _tree(one, other, lengths, coveredEnds, len(numbers))
    # between voxels the border is half-way; in half voxels the covered end lies on it
    isAcross = skeleton.isCovered[one] != skeleton.isCovered[other]
    parts = np.where(isAcross, skeleton.perVoxel / 2, 0.5) * lengths
    for some in (one, other):
        isOutside = ~skeleton.isCovered[some]
        np.add.at(total, numbers[some[isOutside]], parts[isOutside])
    runs = []
    for length, rows in zip(total, splitBy(outside, found, len(total)), strict=True):
        if len(rows) >= least:
            places = skeleton.grid.toWorld(skeleton.points[rows] / skeleton.perVoxel)
            middle = places[np.linalg.norm(places - places.mean(axis=0), axis=1).argmin()]
            runs.append(Run(float(length), -(-len(rows) // skeleton.perVoxel), tuple(middle.tolist())))
    return tuple(sorted(runs, key=lambda run: (-run.length, -run.voxels, run.position)))


def _middlesOfVanished(mask: Mask, points: np.ndarray, perVoxel: int) -> np.ndarray:
    """Return one voxel (n, 3), nearest to the middle, of every part of a mask without a point (p, 3) of a skeleton."""
    from scipy.ndimage import find_objects, label

    parts, count = label(mask.voxels, np.ones((3, 3, 3)))
    isThere = np.bincount(thinning.valuesAt(parts, mask.low, points, perVoxel), minlength=count + 1) > 0
    found = [np.zeros((0, 3), int)]
    for number, box in enumerate(find_objects(parts), 1):
        if not isThere[number]:
            inside = np.argwhere(parts[box] == number)
            middle = inside[[np.linalg.norm(inside - inside.mean(axis=0), axis=1).argmin()]]
            found.append(middle + [side.start for side in box])
    return np.concatenate(found)[:, ::-1] + mask.low


def _links(skeleton: Skeleton) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the links between neighboring points as the numbers (l,) of both ends, and their lengths (l,) in mm."""
    from scipy.spatial import cKDTree

    points = skeleton.points
    ends = cKDTree(points).query_pairs(NEIGHBORING, output_type="ndarray")
    # in an order that depends on the points alone
    ways = (points[ends[:, 1]] - points[ends[:, 0]]) @ (9, 3, 1)
    ends[ways < 0] = ends[ways < 0, ::-1]
    one, other = ends[np.lexsort([ends[:, 0], np.abs(ways)])].T
    return one, other, np.linalg.norm((points[other] - points[one]) @ skeleton.grid.axes.T / skeleton.perVoxel, axis=1)


def _tree(
    starts: np.ndarray, ends: np.ndarray, lengths: np.ndarray, preferred: np.ndarray, count: int
) -> tuple[np.ndarray, ...]:
    """Return those links (ends and lengths) between a number of nodes that make a shortest tree of every part.

    preferred: (l,) whole numbers from 0 to 2; of links that are equally long up to rounding, those with the smaller
    ones are taken. So the lengths of links of each kind do not depend on how an image is stored or turned.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    steps, numbers = np.unique(lengths, return_inverse=True)
    ranks = np.cumsum(np.diff(np.log(steps), prepend=-np.inf) > EQUALLY_LONG)
    weights = 3.0 * ranks[numbers.ravel()] + preferred
    tree = coo_array(minimum_spanning_tree(coo_array((weights, (starts, ends)), (count, count)).tocsr()))
    ofRanks = np.zeros(len(steps) + 1)
    ofRanks[ranks] = steps
    return tree.row, tree.col, ofRanks[tree.data.astype(int) // 3]


class Finer(NamedTuple):
    """The skeletons of both on the lattice of twice the resolution, without spikes.

    lost: of each, the stretches that the skeleton of its voxels does not reach; if there are none, nobody needs these.
    """

    skeletons: tuple[Skeleton, ...]
    lost: tuple[tuple[Run, ...], ...]


def _skeletons(masks: tuple[Mask, Mask], perVoxel: int) -> tuple[Skeleton, ...]:
    reference, test = masks
    tasks = [partial(skeletonOf, *both, perVoxel) for both in ((reference, test), (test, reference))]
    return tuple(sideBySide(tasks, reference.voxels.size + test.voxels.size > MANY_VOXELS))


@quantity()
def thinnedSkeletons(masks: tuple[Mask, Mask]) -> tuple[Skeleton, ...]:
    """Return the skeletons of the voxels of both, as other tools take them."""
    return _skeletons(masks, 1)


@quantity()
def finerSkeletons(masks: tuple[Mask, Mask], thinnedSkeletons: tuple[Skeleton, ...]) -> Finer | None:
    """Return the skeletons of twice the resolution, None for structures that are too large for them."""
    try:
        skeletons = _skeletons(masks, 2)
    except TooLarge:
        return None
    lost = tuple(map(lostRuns, skeletons, thinnedSkeletons, masks))
    return Finer(tuple(map(withoutSpikes, skeletons, masks)) if any(lost) else skeletons, lost)


@quantity()
def skeletons(finerSkeletons: Finer | None, thinnedSkeletons: tuple[Skeleton, ...]) -> tuple[Skeleton, ...]:
    """Return the skeletons of both on the grid on which overlap is counted.

    They are those of the voxels, or where these do not reach a part of one of both, those of twice the resolution.
    """
    return finerSkeletons.skeletons if finerSkeletons and any(finerSkeletons.lost) else thinnedSkeletons


@quantity()
def betti(masks: tuple[Mask, Mask]) -> tuple[Betti, Betti]:
    """Return the numbers of parts, tunnels and cavities of both."""
    return bettiNumbers(masks[0]), bettiNumbers(masks[1])


@quantity()
def gaps(skeletons: tuple[Skeleton, ...]) -> tuple[Run, ...]:
    """Return the stretches of the reference's skeleton that the test does not cover."""
    return runsOutside(skeletons[0])


@quantity()
def spurs(skeletons: tuple[Skeleton, ...]) -> tuple[Run, ...]:
    """Return the stretches of the test's skeleton outside the reference."""
    return runsOutside(skeletons[1])


@ofLines("clDice: Center line Dice (clDice)", isMain=True)
@hint("For vessels and airways: it sees an interruption, which hardly changes the volume.")
@formula(r"\mathrm{clDice} = \frac{2 \, \mathrm{Tprec} \, \mathrm{Tsens}}{\mathrm{Tprec} + \mathrm{Tsens}}")
def centerLineDice(skeletons: tuple[Skeleton, ...]) -> float:
    """Harmonic mean of the shares of both center lines that the other structure covers."""
    shares = [coveredShare(skeleton) for skeleton in skeletons[::-1]]
    return 2 * shares[0] * shares[1] / sum(shares) if any(shares) else 0.0


@ofLines("{name}: Topology {what}", symmetric=False)
@formula(r"\mathrm{{name}} = \frac{\lvert S({X}) \cap {Y} \rvert}{\lvert S({X}) \rvert}")
@each(
    name=("Tprec", "Tsens"),
    what=("precision", "sensitivity"),
    skeleton=(Named("skeletons", 1), Named("skeletons", 0)),
    heading=("Topol. prec.", "Topol. sens."),
    X=("B", "A"),
    Y=("A", "B"),
    share=(
        "Share of the test's center line that lies inside the reference",
        "Share of the reference's center line that the test covers",
    ),
    hint=(
        "Low where the test has branches that the reference lacks.",
        "Low where the test misses branches, or is interrupted.",
    ),
)
def coveredShare(skeleton: Skeleton) -> float:
    """{share}."""
    if not len(skeleton.points):
        raise Undefined("a structure encloses no voxel")
    # points that stand for parts without a skeleton count only if there are no others
    return float(skeleton.isCovered[: len(skeleton.thinned) or None].mean())


@ofBetti("BettiError: Betti error", isMain=True)
@hint("It ignores position: a part missing here and a part added there cancel out.")
@formula(r"\mathrm{BettiError} = \sum_{k=0}^{2} \lvert \beta_k(A) - \beta_k(B) \rvert", "bettiNumbers")
def bettiError(betti: tuple[Betti, Betti]) -> int:
    """How many parts, tunnels and cavities one structure has more than the other, all added up."""
    return sum(bettiErrorOf(betti, number) for number in range(3))


@ofBetti("BettiError{digit}: Betti error, {words}")
@formula(r"\mathrm{BettiError}_k = \lvert \beta_k(A) - \beta_k(B) \rvert", "bettiNumbers", "eulerCharacteristic")
@each(
    number=(0, 1, 2),
    digit=("0", "1", "2"),
    words=("separate parts", "tunnels", "cavities"),
    hint=(
        "Voxels that share a corner are connected; choose it for vessels in one piece.",
        "A ring that is closed in only one of the two structures counts.",
        "Hollows that are closed on all sides count; a plane has none.",
    ),
)
def bettiErrorOf(betti: tuple[Betti, Betti], number: int) -> int:
    """Difference between the numbers of {words} of the two structures."""
    return abs(betti[0][number] - betti[1][number])


@ofRuns("{name}: {name} of the center line", isCount=True)
@formula(r"\mathrm{{name}} = \beta_0(S({X}) \setminus {Y})")
@each(
    name=("Gaps", "Spurs"),
    **OUTSIDE,
    what=(
        "Connected stretches of the reference's center line that the test does not cover",
        "Connected stretches of the test's center line outside the reference",
    ),
    hint=(
        "Each has a length and a place in the list of gaps and spurs.",
        "Branches that the reference lacks, and leaks.",
    ),
)
def numberOf(runs: tuple[Run, ...]) -> int:
    """{what}."""
    return len(runs)


@ofRuns("{name}Length: Length of {names}", unit="mm", heading="Length of {names}")
@formula(r"\mathrm{{name}Length} = \lvert S({X}) \setminus {Y} \rvert")
@each(
    name=("Gap", "Spur"),
    names=("gaps", "spurs"),
    **OUTSIDE,
    what=(
        "Length of the reference's center line that the test does not cover",
        "Length of the test's center line outside the reference",
    ),
    hint=(
        "In mm along the vessel, so compare it between cases of the same vessel only.",
        "In mm, along branches that the reference lacks.",
    ),
)
def lengthOf(runs: tuple[Run, ...]) -> float:
    """{what}."""
    return sum(run.length for run in runs)
