"""How well the test follows the reference's contours slice by slice; levels weight errors inside and outside.

The Medical Similarity Index. Source: Fazekas et al., arXiv:2508.09722. Its bidirectional local distance: Kim et al.,
Medical Physics 2012, doi:10.1118/1.4754802.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import NamedTuple, cast

import numpy as np

from ..base.errors import Undefined
from ..base.parallel import threads
from ..base.progress import checkpoint
from ..distances.surfacedistances import touching
from ..geometry import crosssections, slicecontours
from ..geometry.contours import insideContours, liesInPlane
from ..geometry.crosssections import CrossSections
from ..geometry.slicecontours import SAME, Contour, Planes, cutApart
from ..geometry.surfaces import Surface, evenElements
from ..model.structure import Structure
from .effort import voxelSurfaces
from .metric import OURS, Empty, Family, each, formula, hint, metric, quantity
from .nearcontour import FEW, NearContour
from .pair import Pair
from .voxel import requireVoxels

FAMILY = Family(70)
FAZEKAS = "Fazekas et al., arXiv:2508.09722"
# The functions that compute W(d, l), and the steps to the index: first the function that lists them all, then from the
# last step to the first.
WEIGHTS = ("Levels.scores", "weight")
STEPS = ("measureSlices", "scoreContour", *WEIGHTS, "localDistances")
# Contours by the number of their slice.
Slices = Mapping[int, Sequence[Contour]]
# The settings behind the level of a point.
LEVEL = (("l_t", ("il", "ol")),)
LEVELS = "A higher outside level punishes over-contouring more, as next to an organ at risk."
# Maximum number of parts into which the elements of a mesh are cut.
MOST_ELEMENTS = 200_000
# Points processed at a time.
CHUNK = 50_000
# Distance in mm (or pixels) at which a score of level 1 has fallen to exp(-1/2).
WIDTH = 10.0
# From this level on, scores depend on where the sampling of a contour starts, by up to 0.1 in a slice. So they are
# integrated along the contour, in parts of a step that are at most so many mm (pixels) long at level 1, and shorter at
# higher levels; then the start matters less than 0.005 in a slice. A step has at most that many parts.
INTEGRATED, SHORT, MOST_PARTS = 5.0, 0.4, 64
ONE_SIDED = "only the {} has a contour here"
COUNTS_DIFFER = "the reference has {} here, the test {}"
CLAIMED_TWICE = "two contours of the reference are nearest to the same contour of the test"


@dataclass(frozen=True)
class ContourScore:
    """How well the test follows one contour of a slice.

    score: in [0, 1]. distance: average Hausdorff distance of the two contours where they are, mm or pixels. meanBLD:
    mean bidirectional local distance of the test's points, mm or pixels. points: number of points. hole: whether the
    structure lies around the contour.
    """

    score: float
    distance: float
    points: int
    hole: bool
    meanBLD: float


@dataclass(frozen=True)
class SliceScore:
    """How well the test follows the contours of one slice.

    index: of the slice on the grid. position: LPS center in mm of the reference's longest contour, or of the test's if
    the reference has none. score: median of the contours' scores, 0 if flagged. distance, meanBLD: medians of those of
    the contours, None if flagged. flag: why the slice cannot be scored and should be reviewed, "" if it can be scored.
    """

    index: int
    position: tuple[float, float, float]
    score: float
    distance: float | None
    flag: str
    contours: tuple[ContourScore, ...]
    meanBLD: float | None


@dataclass(frozen=True)
class Similarity:
    """How well the test follows the contours of the reference, slice by slice.

    slices: in ascending order. axis: the grid's axis (0, 1, 2) across them. unit: of distances, "mm" or "pixel".
    """

    slices: tuple[SliceScore, ...]
    axis: int
    unit: str

    def medianOf(self, number: str, otherwise: float) -> float:
        """Return the median of a number of the slices that are not flagged, another value if all are."""
        found = [getattr(one, number) for one in self.slices if not one.flag]
        return median(found) if found else otherwise

    @property
    def flagged(self) -> tuple[SliceScore, ...]:
        """The slices that cannot be scored and should be reviewed."""
        return tuple(one for one in self.slices if one.flag)


@dataclass(frozen=True)
class Levels:
    """How severely deviations inside and outside the reference are judged; 1 is the usual level."""

    inside: float = 1.0
    outside: float = 1.0

    def partsOf(self, step: float) -> int:
        """Return the number of parts of a step of sampling, in mm or pixels, in which scores are integrated."""
        highest = max(self.inside, self.outside)
        return 1 if highest < INTEGRATED else min(math.ceil(step * highest / SHORT), MOST_PARTS)

    def scores(self, distances: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Return the scores (n,) in [0, 1] of distances (n,), 1 for a distance of 0.

        sides: (n,) -1 inside the reference, 1 outside, 0 on the contour, where the milder level applies.
        """
        milder = min(self.inside, self.outside)
        return weight(distances, np.choose(np.asarray(sides, int) + 1, [self.inside, milder, self.outside]))


def weight(distances: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    """Return W(d, l) = exp(-d² / (2 (10 / l)²)), in (0, 1], of distances d in mm (pixels) at a level l."""
    return np.exp(-0.5 * (np.asarray(distances) * level / WIDTH) ** 2)


def localDistances(points: np.ndarray, others: np.ndarray, shift: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the distances (n,) of points (n, d) from those that bidirectional local distances pair them with.

    The bidirectional local distance of a point is the larger of two: the distance to the closest of the others (m, d),
    and the largest distance of those others whose closest point it is. It pairs the point with one of the others, after
    a shift (d,) of all points; the result is the distance of this pair without the shift. Of several partners equally
    far up to the tolerance, the one farthest away without the shift counts.
    """
    from scipy.spatial import cKDTree

    moved = points + shift
    # unbalanced trees are faster to build
    trees = [cKDTree(values, balanced_tree=False) for values in (others, moved)]
    ofPoints = _allClosest(moved, trees[0], tolerance)
    second, first, distances = _allClosest(others, trees[1], tolerance)
    first, second, distances = map(np.concatenate, zip(ofPoints, (first, second, distances)))
    local, result = np.zeros(len(points)), np.zeros(len(points))
    np.maximum.at(local, first, distances)
    realized = distances >= local[first] - tolerance
    first, second = first[realized], second[realized]
    apart = points[first] - others[second]
    np.maximum.at(result, first, np.sqrt(np.einsum("nx,nx->n", apart, apart)))
    return result


def _allClosest(points: np.ndarray, tree, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs of points and their closest neighbors in a tree: the indices (n,) of both, and distances (n,).

    A point has several pairs if several neighbors are equally close up to the tolerance.
    """
    found = []
    for first in range(0, len(points), CHUNK):
        checkpoint()
        rest, count = np.arange(first, min(first + CHUNK, len(points))), 2
        while len(rest):
            count = min(count, tree.n)
            distances, numbers = (
                values.reshape(len(rest), count)
                for values in tree.query(points[rest], k=count, workers=threads() if len(rest) > FEW else 1)
            )
            ties = distances <= distances[:, :1] + tolerance
            # further neighbors may be equally close
            unclear = ties[:, -1] & (count < tree.n)
            row, column = np.nonzero(ties & ~unclear[:, None])
            found.append((rest[row], numbers[row, column], distances[row, column]))
            rest, count = rest[unclear], 4 * count
    rows, others, lengths = (np.concatenate(column) for column in zip(*found, strict=True))
    return rows, others, lengths


def pairContours(reference: Sequence[Contour], test: Sequence[Contour]) -> tuple[list[tuple[Contour, Contour]], str]:
    """Return the pairs of contours of a slice by closest center of mass, and why pairing failed, "" if it did not.

    Holes are paired with holes.
    """
    if not (reference and test):
        return [], ONE_SIDED.format("reference" if reference else "test")
    pairs = []
    for hole in (False, True):
        followed, following = ([c for c in contours if c.isHole == hole] for contours in (reference, test))
        if len(followed) != len(following):
            what, numbers = "hole" if hole else "contour", (len(followed), len(following))
            return [], COUNTS_DIFFER.format(*(f"{n or 'no'} {what}{'' if n == 1 else 's'}" for n in numbers))
        if followed:
            centers = [np.array([c.center for c in contours]) for contours in (followed, following)]
            nearest = np.linalg.norm(centers[0][:, None] - centers[1], axis=2).argmin(axis=1).tolist()
            if len(set(nearest)) < len(nearest):
                return [], CLAIMED_TWICE
            pairs += [(contour, following[number]) for contour, number in zip(followed, nearest, strict=True)]
    return pairs, ""


def measureSlices(
    reference: Slices, test: Slices, planes: Planes, levels: Levels, splits: bool = False, isPublished: bool = False
) -> Similarity:
    """Return how well the contours of a test follow those of the reference, neither empty, slice by slice.

    1. pairContours() pairs the contours of a slice.
    2. scoreContour() samples them at equal steps of half a pixel's smaller side; at levels of 5 or more, scores are
       integrated along the contour in steps as much shorter as Levels.partsOf() says. There localDistances() pairs the
       points as if the two centers of mass coincided, but measures them where they are; sidesOf() finds those inside
       the reference; Levels.scores() turns every distance into a score by weight(). A contour has the mean score of its
       points, and their mean distance is its meanBLD. averageDistance() measures both contours where they are.
    3. A slice has the median of its contours, and 0 if they cannot be paired. similarityIndex() takes the median over
       the slices; pairedSimilarityIndex() and medianDistance() take it over the paired ones.

    splits: whether to cut contours in two where this makes their numbers equal. isPublished: whether they are chains of
    boundary pixels, which scoreAsPublished() scores.
    """
    slices = []
    for index in sorted({*reference, *test}):
        drawn = followed, following = reference.get(index, []), test.get(index, [])
        if splits:
            followed, following = _evenOut(followed, following, planes.pixelArea)
        longest = max(followed or following, key=lambda contour: contour.lengths.sum())
        center = tuple(planes.toWorld(index, longest.center).tolist())
        pairs, flag = pairContours(followed, following)
        if isPublished:
            scores = [scoreAsPublished(*pair, levels) for pair in pairs]
        else:
            scores = [scoreContour(*pair, planes.step, levels, drawn[0]) for pair in pairs]
        medians = map(median, zip(*((one.score, one.distance, one.meanBLD) for one in scores)))
        score, distance, local = (0.0, None, None) if flag else medians
        slices.append(SliceScore(index, center, score, distance, flag, tuple(scores), local))
    return Similarity(tuple(slices), planes.axis, planes.unit)


def _evenOut(
    followed: Sequence[Contour], following: Sequence[Contour], pixelArea: float
) -> tuple[Sequence[Contour], Sequence[Contour]]:
    """Return the contours of a slice, the fewer ones cut to as many as on the other side, if possible."""
    holes = [sum(c.isHole for c in contours) for contours in (followed, following)]
    counts = [len(contours) - have for contours, have in zip((followed, following), holes)]
    reference, test = (
        cutApart(contours, max(counts) + have, pixelArea) if 0 < count < max(counts) else contours
        for contours, count, have in zip((followed, following), counts, holes, strict=True)
    )
    isComplete = len(reference) - holes[0] == len(test) - holes[1] == max(counts)
    return (reference, test) if isComplete else (followed, following)


def scoreContour(
    reference: Contour, test: Contour, step: float, levels: Levels, contours: Sequence[Contour]
) -> ContourScore:
    """Return the score of a contour of the test, the mean over its points.

    step: between the points, in the unit of the contours. contours: all of the reference in the slice.
    """
    points, others, local = _pairPoints(reference, test, step)
    parts, scored, distances = levels.partsOf(step), points, local
    if parts > 1:
        scored, _, distances = _pairPoints(reference, test, step / parts)
    sides = np.zeros(len(distances), int)
    if levels.inside != levels.outside:
        sides = sidesOf(scored, contours, SAME * step)
    score, apart = _meanOf(levels.scores(distances, sides)), averageDistance(reference, test, others, points)
    return ContourScore(score, apart, len(points), reference.isHole, _meanOf(local))


def _pairPoints(reference: Contour, test: Contour, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points (n, 2) along the test, along the reference (m, 2), and distances (n,) for those of the test.

    They are the distances of the pairs that localDistances() finds when the centers of both contours coincide.
    """
    shift = reference.center - test.center
    others = reference.resample(step, reference.startToward(-shift, test))
    points = test.resample(step, test.startToward(-shift, reference))
    return points, others, localDistances(points, others, shift, SAME * step)


def averageDistance(reference: Contour, test: Contour, ofReference: np.ndarray, ofTest: np.ndarray) -> float:
    """Return the average Hausdorff distance of two contours, where they are.

    It is the mean of two means: over points of the reference, of their distance to the test's contour, and the other
    way round. ofReference, ofTest: (n, 2) points at equal steps along the contours.
    """
    means = []
    for points, contour in ((ofReference, test), (ofTest, reference)):
        distances = _distancesTo(contour, points, math.inf)
        # what both share is not apart by rounding
        distances[distances <= SAME * contour.lengths.max()] = 0
        means.append(_meanOf(distances))
    return (means[0] + means[1]) / 2


def _meanOf(values: np.ndarray) -> float:
    # added up one after the other, which does not depend on how many NumPy adds at a time
    return float(np.add.reduceat(values, [0])[0]) / len(values)


def _distancesTo(contour: Contour, points: np.ndarray, limit: float) -> np.ndarray:
    """Return the distances (n,) of points (n, 2) to a contour, exact up to a limit."""
    line, places = (np.column_stack([some, np.zeros(len(some))]) for some in (contour.points, points))
    numbers = np.arange(len(line))
    return NearContour(Surface(line, np.column_stack([numbers, np.roll(numbers, -1)]))).nearest(places, limit)[0]


def sidesOf(points: np.ndarray, contours: Sequence[Contour], tolerance: float) -> np.ndarray:
    """Return -1 for points (n, 2) inside contours, by the even-odd rule, 1 outside, 0 on them up to a tolerance."""
    start, steps = (np.concatenate(of) for of in zip(*((c.points, c.steps) for c in contours)))
    around = [(a * tolerance, b * tolerance) for a in (-1, 1) for b in (-1, 1)]
    count = np.sum([insideContours(points + corner, start, start + steps) for corner in around], axis=0)
    return np.where(count == 0, 1, np.where(count == len(around), -1, 0))


def localDistancesAt(surface: Surface, target: Surface, longest: float) -> np.ndarray:
    """Return the bidirectional local distances (n,) in mm of the points of a surface to another one.

    As for surfaceScore(), points are paired as if the centers of mass of both surfaces coincided, and measured where
    they are. If elements have sides longer than `longest`, mm, the centers of parts of them are points, too.
    """
    # moved to the origin, so that coordinates of any size keep their precision
    origin = target.center
    points, centers = [], []
    for one in (surface, target):
        parts, sizes = evenElements(one, longest, MOST_ELEMENTS)
        centers.append(sizes @ (parts - origin) / sizes.sum())
        isCut = len(parts) > len(one.cells)
        points.append(np.concatenate([one.points - origin, *([parts - origin] if isCut else [])]))
    tolerance = SAME * math.sqrt(float(target.sizes.mean()))
    return localDistances(points[0], points[1], centers[1] - centers[0], tolerance)[: len(surface.points)]


def scoreAsPublished(reference: Contour, test: Contour, levels: Levels) -> ContourScore:
    """Return the score of two chains, in [0, 1], from distances in pixels."""
    shift = test.center - reference.center
    distances = localDistances(reference.points, test.points, shift, SAME)
    moved = reference.points + shift
    start, end = test.points, test.points + test.steps
    # what the test encloses was drawn too far outside
    level = np.where(insideContours(moved, start, end), levels.outside, levels.inside)
    isOnLine = _distancesTo(test, moved, SAME) <= SAME
    scores = np.where((distances > SAME) & ~isOnLine, weight(distances, level), 0.0)
    apart = averageDistance(reference, test, reference.points, test.points)
    return ContourScore(float(scores.mean()), apart, len(scores), False, float(distances.mean()))


@quantity()
def sliceSimilarity(pair: Pair, il: float, ol: float) -> Similarity:
    """Return how well the contours are followed in every slice of the reference's image, neither structure empty.

    If the reference is a mesh, the slices are those of the test's image. A mesh, or a mask with other voxels, is cut by
    their planes; with the setting asPublished, the authors' formula on boundary chains, it is resampled to the image.
    Two contours given as lines are used as they are. Raises Undefined for an empty structure, for two meshes, which
    have no slices, for contours in different planes, and for a structure that no slice goes through.
    """
    if pair.emptiness:
        raise Undefined(pair.emptiness)
    if pair.dimension == 2 and not liesInPlane(*(s.surface for s in pair.structures)):
        raise Undefined("the contours lie in different planes")
    grid, levels = next((s.samplingGrid for s in pair.structures if s.samplingGrid is not None), None), Levels(il, ol)
    if grid is None:
        if pair.dimension == 3:
            raise Undefined("both are meshes, which have no slices: see MSI3D")
        if pair.settings.asPublished or pair.settings.msiUnit == "pixel":
            raise Undefined("contours without an image have no pixels")
        # lines, whose sampling density follows from the spacing for meshes
        grid = pair.overlapGrid.grid
    if pair.settings.asPublished:
        masks, planes = pair.masksOn(grid), Planes(grid, grid.sliceAxis, "pixel")
        requireVoxels(*masks)
        reference, test = (slicecontours.chains(mask, planes) for mask in masks)
        return measureSlices(reference, test, planes, levels, isPublished=True)
    planes = Planes(grid, grid.sliceAxis, pair.settings.msiUnit)
    followed, following = (_contoursOf(pair, which, planes) for which in (0, 1))
    return measureSlices(followed, following, planes, levels, pair.settings.splitContours)


def _contoursOf(pair: Pair, which: int, planes: Planes) -> Slices:
    """Return the contours of the reference (0) or the test (1) in the slices of a grid."""
    structure = pair.structures[which]
    if structure.mask is not None and structure.mask.fits(planes.grid):
        sections = crosssections.ofVoxels(structure.mask.on(planes.grid), planes.axis)
    elif pair.dimension == 2:
        pair.requireClosed(structure)
        return slicecontours.ofSurface(voxelSurfaces(structure), planes)
    else:  # its voxels do not fit the grid
        found = pair.find("slicedSide", {"which": which, "sliceGrid": planes.grid.slicesLast()})
        sections = cast(CrossSections, found)
    contours = slicecontours.ofSections(sections, planes)
    if not contours:
        raise Undefined(f"no slice of the image goes through the {('reference', 'test')[which]}")
    return contours


def noteOnSlices(fate: str, sliceSimilarity: Similarity) -> str:
    """Return a note on the slices whose contours cannot be paired, "" if there are none. fate: what becomes of them."""
    flagged, slices = len(sliceSimilarity.flagged), len(sliceSimilarity.slices)
    if flagged and flagged == slices:
        return "in no slice can the contours be paired"
    return f"{flagged} of {slices} slices cannot be paired: {fate}" if flagged else ""


noteOnPaired = partial(noteOnSlices, "left out")
# What the indices have in common, and what the distances.
ofFollowing = partial(metric, source=FAZEKAS, best=1, empty=Empty.ZERO, symmetric=False, symbols=LEVEL)
ofDistance = partial(
    metric,
    source=FAZEKAS,
    unit="mm",
    best=0,
    empty=Empty.INFINITE,
    symmetric=False,
    note=noteOnPaired,
    unitSetting=lambda settings: "pixel" if settings.asPublished else settings.msiUnit,
)


@ofFollowing("MSI: Medical Similarity Index", isMain=True, note=partial(noteOnSlices, "counted as 0"), hint=LEVELS)
@formula(
    r"\mathrm{MSI} = \mathrm{median}_s \, \mathrm{median}_{c \in s} \, \frac{1}{N_c} \sum_{t \in c} "
    r"W(d_t, l_t) \\ W(d, l) = \exp\left(-\frac{d^2}{2 (10 / l)^2}\right)",
    *STEPS,
    deviation="As published, and in the authors' code, a point on the contour scores 0, so that identical contours "
    "have the index 0; here it scores 1. Their code also takes the mean over the reference's points and decides "
    "about inside and outside after the alignment: `--set asPublished=yes` gives the authors' formula on chains of "
    "boundary pixels. It is not their program, which traces Canny edges of the gray picture first; that moves the "
    "score of a slice of 1 mm by 0.07 to 0.12 on average and by up to 0.46. The program leaves out slices that "
    "only one of the two has, and scores those where two contours of the reference are nearest to one of the test; "
    "here both count as 0, and MSIPaired leaves them out. Distances and the 10 are pixels in the article: compare "
    "published values with `--msi-unit pixel`. From a level of 5 on, the mean over the points is integrated along "
    "the contour, because it would depend on where sampling starts.",
)
def similarityIndex(sliceSimilarity: Similarity) -> float:
    """How well the test's contours follow the reference's, slice by slice, with inside and outside judged by levels of
    their own; median of the slices, where those that cannot be paired count as 0.

    Examples
    --------
    >>> masks = [Mask.fromArray(np.ones((1, n, n)), Grid((9, 9, 1), np.eye(4))) for n in (5, 8)]
    >>> sections, planes = (crosssections.ofVoxels(mask, 2) for mask in masks), Planes(masks[0].grid, 2, "mm")
    >>> reference, test = (slicecontours.ofSections(one, planes) for one in sections)
    >>> round(similarityIndex(measureSlices(reference, test, planes, Levels(outside=2))), 3)
    0.875
    """
    return median(one.score for one in sliceSimilarity.slices)


@ofFollowing("MSIPaired: Medical Similarity Index, paired slices", note=noteOnPaired)
@hint("Leaves out slices that only one of the two has: look at MSI, too.")
@formula(
    r"\mathrm{MSIPaired} = \mathrm{median}_{s \in P} \, \mathrm{median}_{c \in s} \, \frac{1}{N_c} "
    r"\sum_{t \in c} W(d_t, l_t)",
    *STEPS,
)
def pairedSimilarityIndex(sliceSimilarity: Similarity) -> float:
    """Medical Similarity Index of those slices only in which every contour has a counterpart."""
    return sliceSimilarity.medianOf("score", 0.0)


@ofDistance("{key}")
@each(
    key=("PairedDistance", "MeanBLD"),
    title=("Paired average Hausdorff distance", "Mean bidirectional local distance"),
    number=("distance", "meanBLD"),
    description=(
        "Mean distance between a contour and its counterpart in the slice, over both directions; "
        "median of the paired slices.",
        "Mean distance of the points that the Medical Similarity Index pairs; median of the paired slices.",
    ),
    hint=(
        "Leaves out slices that only one of the two has: look at MSI, too.",
        "Reflects spikes, which nearest points miss; leaves out slices that only one of the two has.",
    ),
    formula=(
        r"\mathrm{PairedDistance} = \mathrm{median}_{s \in P} \, \mathrm{median}_{(b, c) \in s} \, "
        r"\frac{1}{2} \left(\frac{1}{N_b} \sum_{r \in b} d(r, c) + \frac{1}{N_c} \sum_{t \in c} d(t, b)\right)",
        r"\mathrm{MeanBLD} = \mathrm{median}_{s \in P} \, \mathrm{median}_{c \in s} \, "
        r"\frac{1}{N_c} \sum_{t \in c} d_t",
    ),
    steps=((*STEPS[:2], "averageDistance"), tuple(step for step in STEPS if step not in WEIGHTS)),
)
def medianDistance(sliceSimilarity: Similarity, number: str) -> float:
    """A distance of the contours that are paired; median of the paired slices."""
    return sliceSimilarity.medianOf(number, math.inf)


class PairedElements(NamedTuple):
    """The elements of the test's boundary for the index on surfaces.

    distances: (n,) from those of the reference that they are paired with, mm. sizes: (n,). sides: (n,) -1 inside the
    reference, 1 outside, 0 on its boundary.
    """

    distances: np.ndarray
    sizes: np.ndarray
    sides: np.ndarray


@quantity()
def pairedElements(pair: Pair, meshSpacing: float, il: float, ol: float) -> PairedElements:
    """Return the elements of the test's measured surface (segments of contours in 2D), paired by their centers.

    Raises Undefined for contours in different planes, and if inside and outside are judged differently but the
    reference has no inside.
    """
    surfaces = [s.surface for s in pair.structures]
    if pair.dimension == 2 and not liesInPlane(*surfaces):
        raise Undefined("the contours lie in different planes")
    longest = longestSide(pair.structures, meshSpacing)
    (others, otherSizes), (points, sizes) = (evenElements(s, longest, MOST_ELEMENTS) for s in surfaces)
    sides = np.zeros(len(points))
    if il != ol:
        pair.requireClosed(pair.reference)
        signed = pair.boundaries.search(0).signedDistances(points)
        # where the two touch, rounding must not decide which level counts
        sides = np.where(np.abs(signed) > touching(math.sqrt(otherSizes.mean())), np.sign(signed), 0)
    points, others = points - surfaces[0].center, others - surfaces[0].center
    shift = otherSizes @ others / otherSizes.sum() - sizes / sizes.sum() @ points
    tolerance = SAME * math.sqrt(float(otherSizes.mean()))
    return PairedElements(localDistances(points, others, shift, tolerance), sizes, sides)


@ofFollowing("MSI3D: Medical Similarity Index on surfaces", source=OURS)
@hint("Choose it where slices are meaningless: meshes, oblique structures. " + LEVELS)
@formula(
    r"\mathrm{MSI3D} = \frac{\sum_{t \in \partial B} g_t \, W(d_t, l_t)}{\sum_{t \in \partial B} g_t}",
    *WEIGHTS,
    "localDistances",
)
def surfaceScore(pairedElements: PairedElements, il: float, ol: float) -> float:
    """The same index on the whole boundary instead of slices, every element weighted by its area. The elements of
    meshes are cut until their sides are no longer than a step of the grid for meshes.

    il, ol: the levels inside and outside.
    """
    distances, sizes, sides = pairedElements
    # by what is lost, so that equal boundaries lose exactly nothing
    return 1 - float(sizes / sizes.sum() @ (1 - Levels(il, ol).scores(distances, sides)))


def longestSide(structures: Iterable[Structure], meshSpacing: float) -> float:
    """Return the length in mm from which sides of elements are cut.

    Elements of masks are as small as voxels, those of meshes can have any size.
    """
    diagonals = (float(np.linalg.norm(s.mask.grid.spacing)) for s in structures if s.mask is not None)
    return max(meshSpacing, *diagonals, 0.0)
