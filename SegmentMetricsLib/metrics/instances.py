"""Which lesions are found, missed, invented, split or merged, and how well each is drawn.

Lesions that are given as regions may overlap: each keeps all of its voxels. A voxel that several have tells which of
them belong together only by the pair that fits best, so that a region which merely crosses another is not one with it.

Sources: Kirillov et al., arXiv:1801.00868 (panoptic quality); the lesion-wise scores of BraTS 2023, described with
their code in github.com/rachitsaluja/BraTS-2023-Metrics.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..base.errors import Undefined
from ..base.plain import storeAs
from ..base.progress import checkpoint
from ..geometry import voxelization
from ..geometry.grids import Grid
from ..geometry.masks import Mask, boxAround, finerFirst, slicesOf, union
from ..geometry.parts import components, partsOf
from ..geometry.ranges import splitBy
from ..geometry.sharedvolume import sharedVolume
from ..model.structure import Structure
from ..model.structures import BOTH_EMPTY, REFERENCE_AND_TEST
from . import boundary, overlap
from .metric import OURS, Empty, Family, Named, each, formula, hint, metric, quantity
from .pair import Pair

FAMILY = Family(90, called=("lesions",))
KIRILLOV = "Kirillov et al., arXiv:1801.00868"
BRATS_PROGRAM = "BraTS 2023, github.com/rachitsaluja/BraTS-2023-Metrics"
# The percentile of the Hausdorff distance of a lesion.
PERCENTILE = 95
# Steps of BraTS' dilation go to voxels that share a face or an edge.
DILATION_RANK = 2
# Shares that differ by less are equal.
ROUNDING = 1e-9


class Event(enum.Enum):
    """What happened to a group of lesions that overlap, directly or through others; what needs a look comes first."""

    MISSED = "missed"  # one of the reference alone
    INVENTED = "invented"  # one of the test alone
    MIXED = "mixed"  # several of both
    MERGED = "merged"  # several of the reference, one of the test
    SPLIT = "split"  # one of the reference, several of the test
    FOUND = "found"  # one of each


@dataclass(frozen=True, eq=False)
class Lesions:
    """The lesions of one structure.

    masks: of each, on one grid. omitted: how many were left out because they are too small. areOverlapping: whether
    several have a voxel in common.
    """

    masks: tuple[Mask, ...]
    grid: Grid
    omitted: int = 0
    areOverlapping: bool = False

    @property
    def count(self) -> int:
        return len(self.masks)

    @cached_property
    def sizes(self) -> np.ndarray:
        """(m,) voxel counts of the lesions."""
        return np.array([mask.count for mask in self.masks], int)

    def mask(self, lesions: Iterable[int]) -> Mask:
        """Return the mask of some lesions together."""
        some = [self.masks[lesion] for lesion in lesions]
        if len(some) == 1:
            return some[0]
        return union(some) if some else Mask.empty(self.grid)

    def center(self, lesions: Sequence[int]) -> np.ndarray:
        """Return the LPS center of mass (3,) of some lesions together in mm."""
        mask = self.mask(lesions)
        return self.grid.toWorld((np.argwhere(mask.voxels)[:, ::-1] + mask.low).mean(axis=0)[None])[0]


@dataclass(frozen=True)
class LesionGroup:
    """Lesions of both structures that belong together: their numbers, from 0."""

    reference: tuple[int, ...]
    test: tuple[int, ...]

    @property
    def event(self) -> Event:
        counts = len(self.reference), len(self.test)
        if 0 in counts:
            return Event.MISSED if counts[0] else Event.INVENTED
        if counts == (1, 1):
            return Event.FOUND
        return Event.SPLIT if counts[0] == 1 else Event.MERGED if counts[1] == 1 else Event.MIXED


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Which lesions of a reference and a test overlap.

    reference, test: sizes (m,) and (n,) of the lesions: voxel counts on one grid, mm3 (mm2) on two. pairs: (q, 2)
    numbers of those that overlap, from 0. shared: (q,) what they share, in the same unit. belong: (p, 2) those of the
    pairs that belong together: all of them unless lesions of one side overlap each other.
    """

    reference: np.ndarray
    test: np.ndarray
    pairs: np.ndarray
    shared: np.ndarray
    belong: np.ndarray

    @cached_property
    def ious(self) -> np.ndarray:
        """(q,) intersection over union of the lesions that overlap, in (0, 1]."""
        ofReference, ofTest = self.pairs.T
        return self.shared / (self.reference[ofReference] + self.test[ofTest] - self.shared)

    @cached_property
    def groups(self) -> tuple[LesionGroup, ...]:
        """The groups of lesions that overlap, in the order of the lesions, those of the reference first."""
        m, n = len(self.reference), len(self.test)
        numbers = components(self.belong[:, 0], self.belong[:, 1] + m, m + n)
        sides = [splitBy(np.arange(len(own)), own, numbers.max(initial=-1) + 1) for own in np.split(numbers, [m])]
        return tuple(LesionGroup(tuple(some.tolist()), tuple(others.tolist())) for some, others in zip(*sides))


@dataclass(frozen=True, eq=False)
class Matches:
    """A one-to-one assignment of lesions.

    pairs: (t, 2) their numbers. ious: (t,) of these. missed, invented: how many are left over.
    """

    pairs: np.ndarray
    ious: np.ndarray
    missed: int
    invented: int

    @property
    def found(self) -> int:
        return len(self.pairs)


def ofMasks(masks: Sequence[Mask], whole: Mask, areNested: bool = False) -> Lesions:
    """Return lesions that are given one by one, on one grid; each keeps the voxels that others have, too.

    whole: the mask of all of them; what it leaves out, such as a cavity in one of them, belongs to none. areNested:
    whether some are filled although others lie in their cavities, so that a voxel of several belongs to the smallest.
    """
    grid, taken = whole.grid, np.zeros_like(whole.voxels)
    found = [Mask.fromArray(mask.voxels & whole.block(mask.low, mask.high), grid, mask.low) for mask in masks]
    for number in sorted(range(len(masks)), key=lambda number: masks[number].count) if areNested else ():
        mask = found[number]
        box = slicesOf(mask.low - whole.low, mask.high - whole.low)
        found[number] = Mask.fromArray(mask.voxels > taken[box], grid, mask.low)
        taken[box] |= mask.voxels
    kept = tuple(mask for mask in found if not mask.isEmpty)
    areOverlapping = bool(kept) and sum(mask.count for mask in kept) > union(kept).count
    return Lesions(kept, grid, areOverlapping=areOverlapping)


@quantity()
def lesionOverlaps(lesions: tuple[Lesions, Lesions]) -> Overlaps:
    """Return how the lesions of both overlap: by their voxels on one grid, by volumes in mm3 on two."""
    reference, test = lesions
    # the box around each lesion of the test, among the voxels of the reference
    seen = np.reshape([reference.grid.toIndex(mask.corners()) for mask in test.masks], (-1, 8, 3))
    low, high = seen.min(axis=1), seen.max(axis=1)
    if reference.grid.flatAxis is not None:  # both are in one plane
        low[:, reference.grid.flatAxis], high[:, reference.grid.flatAxis] = -np.inf, np.inf
    pairs, shared = [], []
    for lesion, own in enumerate(reference.masks):
        checkpoint()
        for other in np.flatnonzero(((low < own.high + 0.5) & (high > own.low - 0.5)).all(axis=1)).tolist():
            if size := sizeShared(own, test.masks[other]):
                pairs.append((lesion, other))
                shared.append(size)
    m, n = (one.sizes * (1 if reference.grid == test.grid else one.grid.voxelSize) for one in lesions)
    linked = np.array(pairs, int).reshape(-1, 2)
    found = Overlaps(m, n, linked, np.array(shared), linked)
    if reference.areOverlapping or test.areOverlapping:
        return replace(found, belong=linked[_areBest(reference, test, linked, found.ious)])
    return found


def sizeShared(first: Mask, second: Mask) -> float:
    """Return what two masks share: the number of voxels on one grid, mm3 (mm2) on two."""
    if first.grid != second.grid:
        return sharedVolume(*finerFirst(first, second))
    return overlap.count(*sorted((first, second), key=lambda mask: mask.voxels.size)).truePositive


def _areBest(reference: Lesions, test: Lesions, pairs: np.ndarray, ious: np.ndarray) -> np.ndarray:
    """Return which pairs (q,) of lesions share a voxel that no lesion of either side has that fits the other better."""
    found = np.zeros(len(pairs), bool)
    for number, (pair, iou) in enumerate(zip(pairs, ious.tolist())):
        isBetter = ious > iou * (1 + ROUNDING)
        left = []
        for side, lesions in enumerate((reference, test)):
            better = pairs[isBetter & (pairs[:, 1 - side] == pair[1 - side]), side]
            left.append(lesions.masks[pair[side]].without(lesions.mask(better)))
        found[number] = not any(mask.isEmpty for mask in left) and sizeShared(*left) > 0
    return found


def matchLesions(overlaps: Overlaps, threshold: float, isAtLeast: bool = False, isByDice: bool = False) -> Matches:
    """Return the one-to-one assignment of the largest total IoU among lesions whose IoU is above a threshold.

    isAtLeast: whether an IoU that equals the threshold counts, too. isByDice: whether the total Dice is the largest.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    isLinked = overlaps.ious >= threshold if isAtLeast else overlaps.ious > threshold
    pairs, ious = overlaps.pairs[isLinked], overlaps.ious[isLinked]
    m, n = len(overlaps.reference), len(overlaps.test)
    scores = 2 * ious / (1 + ious) if isByDice else ious
    # a lesion of the reference that has none of the test has a place of its own instead
    alone = np.arange(m)
    ends = np.concatenate([pairs[:, 0], alone]), np.concatenate([pairs[:, 1], n + alone])
    # of equal totals the one of most pairs, so that the order of the lesions does not decide
    gains = np.concatenate([1 + scores + ROUNDING, np.ones(m)])
    _, partners = min_weight_full_bipartite_matching(coo_array((gains, ends), (m, n + m)), maximize=True)
    rows = np.flatnonzero(partners[pairs[:, 0]] == pairs[:, 1])
    return Matches(pairs[rows], ious[rows], m - len(rows), n - len(rows))


def meanOf(scores: Sequence[float]) -> float:
    """Return the mean of the scores of lesions. Raises Undefined without any."""
    if not scores:
        raise Undefined("neither structure has a lesion")
    return float(sum(scores)) / len(scores)


@quantity()
def connectivities(structures: tuple[Structure, Structure], lesionConnectivity: int) -> tuple[int, ...]:
    """Return how many neighbors of a voxel belong to one lesion with it, for the reference and for the test."""
    return (lesionConnectivity,) * len(structures)


@quantity("masks")
def allLesions(pair: Pair, connectivities: tuple[int, ...]) -> tuple[Lesions, Lesions]:
    """Return the lesions of both: on one grid, or of two masks each on its own."""
    if pair.emptiness == BOTH_EMPTY:
        grid = next((s.samplingGrid for s in pair.structures if s.samplingGrid is not None), Grid((1, 1, 1), np.eye(4)))
        masks = Mask.empty(grid), Mask.empty(grid)
    else:
        # where overlap is counted in parts of voxels, nothing is resampled
        masks = (pair.reference.ownMask, pair.test.ownMask) if pair.overlapGrid.isResampled else pair.masks
    reference, test = (_lesionsOf(*one) for one in zip(pair.structures, masks, connectivities, strict=True))
    return reference, test


def _lesionsOf(structure: Structure, mask: Mask, connectivity: int) -> Lesions:
    """Return the separate parts of a mask, or its instances, or the closed parts of a mesh, each filled by itself."""
    if structure.instances is not None:
        return ofMasks([one.on(mask.grid) for one in structure.instances], mask)
    if structure.mask is None and structure.dimension == 3 and not mask.isEmpty:
        filled = [voxelization.maskOf(part, mask.grid) for part in voxelization.closedParts(structure.surface.solid)]
        return ofMasks(filled, mask, areNested=True)
    return _separate(mask, connectivity)


def _separate(mask: Mask, connectivity: int = 26) -> Lesions:
    """Return the separate parts of a mask. connectivity: as for partsOf()."""
    parts = partsOf(mask, connectivity)
    every = splitBy(parts.voxels, parts.numbers, parts.count)
    return Lesions(tuple(Mask.ofVoxels(voxels, mask.grid) for voxels in every), mask.grid)


@quantity()
def lesions(allLesions: tuple[Lesions, Lesions], lesionMinimum: float) -> tuple[Lesions, Lesions]:
    """Return the lesions of both, without those that are too small."""
    found = []
    for one in allLesions:
        masks = tuple(mask for mask in one.masks if mask.count >= lesionMinimum / one.grid.voxelSize)
        found.append(replace(one, masks=masks, omitted=one.count - len(masks)))
    return found[0], found[1]


@quantity()
def lesionMatches(lesionOverlaps: Overlaps, lesionOverlap: float) -> Matches:
    """Return which lesions are found."""
    return matchLesions(lesionOverlaps, lesionOverlap)


@quantity()
def panopticMatches(lesionOverlaps: Overlaps, panopticOverlap: float) -> Matches:
    """Return which lesions are found for the panoptic quality."""
    return matchLesions(lesionOverlaps, panopticOverlap)


@quantity()
def scoredLesions(
    lesions: tuple[Lesions, Lesions], lesionOverlaps: Overlaps, lesionDilation: int
) -> tuple[tuple[LesionGroup, ...], int]:
    """Return the lesions of the reference that are scored, and how many of the test belong to none of them.

    Those of the reference that touch when they are dilated are one lesion, and every one of the test that such a
    dilated lesion reaches belongs to it.
    """
    reference, test = lesions
    owners, reached = np.arange(reference.count), lesionOverlaps.belong
    if lesionDilation:
        owners, reached = _dilate(reference, test, lesionDilation)
    numbers, count = np.arange(reference.count), owners.max(initial=-1) + 1
    sides = splitBy(numbers, owners, count), splitBy(reached[:, 1], reached[:, 0], count)
    scored = [LesionGroup(tuple(some.tolist()), tuple(others.tolist())) for some, others in zip(*sides)]
    scored.sort(key=lambda group: group.reference)
    return tuple(scored), test.count - len(np.unique(reached[:, 1]))


def _dilate(reference: Lesions, test: Lesions, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the dilated lesion (m,) that each of the reference belongs to, and pairs (q, 2) with those of the test.

    steps: of the dilation, each by the 18 neighbors of a voxel.
    """
    if not reference.count:
        return np.zeros(0, int), np.zeros((0, 2), int)
    from scipy.ndimage import binary_dilation, generate_binary_structure

    neighbors = generate_binary_structure(3, DILATION_RANK)
    dilated = [
        Mask.fromArray(binary_dilation(np.pad(mask.voxels, steps), neighbors, steps), mask.grid, mask.low - steps)
        for mask in reference.masks
    ]
    grown = _separate(union(dilated))
    owners, reached = (lesionOverlaps((grown, lesions)).pairs for lesions in (reference, test))
    return owners[np.argsort(owners[:, 1]), 0], reached


@quantity()
def drawnLesion(pair: Pair, ofReference: tuple[int, ...], ofTest: tuple[int, ...]) -> tuple[float, float]:
    """Return HD95 and MASD in mm of lesions of the reference and lesions of the test; there must be some of both."""
    distances = innerPair(pair, ofReference, ofTest).distances
    hausdorff = boundary.percentileHausdorff(distances, PERCENTILE)
    return float(hausdorff), float(boundary.meanAverageSurfaceDistance(distances))


@quantity()
def sharesOfLesion(
    pair: Pair,
    lesions: tuple[Lesions, Lesions],
    lesionOverlaps: Overlaps,
    ofReference: tuple[int, ...],
    ofTest: tuple[int, ...],
) -> tuple[float, float]:
    """Return Dice and IoU in [0, 1] of lesions of the reference and lesions of the test; there must be some of both."""
    if any(one.areOverlapping for one in lesions):
        counts = innerPair(pair, ofReference, ofTest).crispCounts
        return overlap.dice(counts), overlap.intersectionOverUnion(counts)
    isMeant = np.isin(lesionOverlaps.pairs, ofReference)[:, 0] & np.isin(lesionOverlaps.pairs, ofTest)[:, 1]
    both = lesionOverlaps.shared[isMeant].sum()
    total = lesionOverlaps.reference[list(ofReference)].sum() + lesionOverlaps.test[list(ofTest)].sum()
    return float(2 * both / total), float(both / (total - both))


@quantity()
def hausdorffOfLesion(pair: Pair, ofReference: tuple[int, ...], ofTest: tuple[int, ...]) -> float:
    """Return the 95th percentile Hausdorff distance in mm of lesions of the reference and lesions of the test."""
    return about(pair, "drawnLesion", ofReference, ofTest)[0]


def about(pair: Pair, name: str, ofReference: tuple[int, ...], ofTest: tuple[int, ...]) -> Any:
    """Return a quantity of some lesions of the reference and some of the test, given by number."""
    return pair.find(name, {"ofReference": ofReference, "ofTest": ofTest})


def innerPair(pair: Pair, ofReference: Sequence[int], ofTest: Sequence[int]) -> Pair:
    """Return some lesions of the reference and some of the test as a pair of their own."""
    masks = (lesions.mask(some) for lesions, some in zip(pair["lesions"], (ofReference, ofTest)))
    reference, test = (Structure("lesion", mask) for mask in masks)
    return Pair(reference, test, pair.settings.replace(extent="whole", critical=()))


@quantity()
def dicesOfLesions(pair: Pair, scoredLesions: tuple[tuple[LesionGroup, ...], int]) -> list[float]:
    """Return the Dice coefficients of the scored lesions; missed ones and the invented ones have 0."""
    scored, invented = scoredLesions
    dices = [about(pair, "sharesOfLesion", one.reference, one.test)[0] if one.test else 0.0 for one in scored]
    return dices + [0.0] * invented


@quantity()
def hausdorffsOfLesions(
    pair: Pair, scoredLesions: tuple[tuple[LesionGroup, ...], int], distanceOfMissed: float
) -> list[float]:
    """Return the 95th percentile Hausdorff distances in mm of the scored lesions; missed ones and the invented ones
    have the penalty.
    """
    scored, invented = scoredLesions
    distances = [
        about(pair, "hausdorffOfLesion", one.reference, one.test) if one.test else distanceOfMissed for one in scored
    ]
    return distances + [distanceOfMissed] * invented


@quantity()
def distanceOfMissed(pair: Pair, lesionPenalty: float | None) -> float:
    """Return the distance in mm that a missed or invented lesion counts: by default the diagonal of the image."""
    if lesionPenalty is not None:
        return lesionPenalty
    # the grid for two masks on different ones only surrounds the structures
    grid = pair.reference.ownMask.grid if pair.overlapGrid.isResampled else pair.overlapGrid.grid
    if any(s.samplingGrid is None for s in pair.structures):
        grid = grid.resize(*boxAround(*pair.masks))
    corners = grid.corners()
    return float(max(np.linalg.norm(one - other) for one in corners for other in corners))


def noteOnLesions(lesions: tuple[Lesions, Lesions]) -> str:
    """Return a note on lesions that were left out because they are small, "" if there are none."""
    ofReference, ofTest = (one.omitted for one in lesions)
    told = f"left out as smaller than the minimum: {ofReference} of the reference, {ofTest} of the test"
    return told if ofReference or ofTest else ""


# What all metrics of counts have in common, all of scores, and among these all that count the lesions found or matched.
ofCount = partial(
    metric, source=OURS, high=math.inf, empty=Empty.COMPUTED, symmetric=False, note=noteOnLesions, isCount=True
)
ofScore = partial(metric, best=1, empty=Empty.COUNTED, note=noteOnLesions)
ofMatches = partial(ofScore, steps=("matchLesions",))
ofFound = partial(ofMatches, source=OURS, symbols=((r"\mathrm{TP}_t", ("lesionOverlap",)),))
ofMatched = partial(ofMatches, source=KIRILLOV, symbols=((r"\mathrm{TP}_t", ("panopticOverlap",)),))


@ofCount("Lesions{Which}: Lesions of the {which}")
@hint("Voxels that share a corner belong to one lesion, unless the settings say otherwise.")
@formula(r"\mathrm{Lesions{Which}} = {letter}", "allLesions")
@each(**overlap.BOTH, letter=("m", "n"), ofOne=(Named("lesions", 0), Named("lesions", 1)))
def numberOf(ofOne: Lesions) -> int:
    """Separate lesions of the {which}."""
    return ofOne.count


@ofCount("Lesions{What}")
@formula(
    r"\mathrm{Lesions{What}} = \lvert \lbrace G : \lvert G_A \rvert {ofA} \lvert G_B \rvert {ofB} \rbrace \rvert",
    "Overlaps.groups",
)
@each(
    event=(Event.FOUND, Event.SPLIT, Event.MERGED, Event.MIXED, Event.MISSED, Event.INVENTED),
    What=("Found", "Split", "Merged", "Mixed", "Missed", "Invented"),
    title=(
        "Lesions found",
        "Lesions split",
        "Groups of lesions merged",
        "Groups of lesions mixed up",
        "Lesions missed",
        "Lesions invented",
    ),
    better=("higher", "lower", "lower", "lower", "lower", "lower"),
    description=(
        "Lesions of the reference that overlap exactly one of the test, which overlaps no other.",
        "Lesions of the reference that overlap several of the test, which overlap no other.",
        "Lesions of the test that overlap several of the reference, which overlap no other.",
        "Groups in which several lesions of the reference overlap several of the test.",
        "Lesions of the reference that no lesion of the test overlaps.",
        "Lesions of the test that no lesion of the reference overlaps.",
    ),
    hint=(
        "Any overlap counts: look at LesionDSC for how well they are drawn.",
        "Often one lesion with a gap; the volume hardly changes.",
        "Neighbors that are drawn as one; counts of lesions are then wrong.",
        "They fit no other description: look at them in the list.",
        "What matters most for treatment: the volume alone does not show that small ones are missed.",
        "Each one costs a second look, or a biopsy.",
    ),
    ofA=("=", "= 1,", "> 1,", "> 1,", "= 1,", "= 0,"),
    ofB=("= 1", "> 1", "= 1", "> 1", "= 0", "= 1"),
    identity=(None, 0, 0, 0, 0, 0),
    isMain=(False, False, False, False, True, True),
    heading=("", "", "", "", "Missed", "Invented"),
)
def countOf(lesionOverlaps: Overlaps, event: Event) -> int:
    """Groups of lesions to which something happened."""
    return sum(group.event is event for group in lesionOverlaps.groups)


@ofFound("Lesion{name}: {name} for lesions", symmetric=False)
@formula(r"\mathrm{Lesion{name}} = \frac{\mathrm{TP}_t}{\mathrm{TP}_t + \mathrm{{F}}_t}")
@each(
    name=("Sensitivity", "Precision"),
    heading=("Sens. lesions", "Prec. lesions"),
    others=("missed", "invented"),
    which=("reference", "test"),
    F=("FN", "FP"),
    what=(
        "Share of the reference's lesions that are found, each by a different lesion of the test",
        "Share of the test's lesions that belong to a lesion of the reference, each to a different one",
    ),
    hint=(
        "Choose it when missing a lesion matters most; inventing some never lowers it.",
        "Choose it when false alarms matter most; missing some never lowers it.",
    ),
)
def shareFound(lesionMatches: Matches, others: str, which: str) -> float:
    """{what}."""
    every = lesionMatches.found + getattr(lesionMatches, others)
    if not every:
        raise Undefined(f"the {which} has no lesion")
    return lesionMatches.found / every


@ofFound("LesionF1: F1 score of lesions", isMain=True, heading="F1 lesions")
@hint("One number for detection; any overlap is enough unless the settings ask for more.")
@formula(r"\mathrm{LesionF1} = \frac{2 \, \mathrm{TP}_t}{2 \, \mathrm{TP}_t + \mathrm{FP}_t + \mathrm{FN}_t}")
def scoreF1(lesionMatches: Matches) -> float:
    """Harmonic mean of sensitivity and precision for lesions."""
    all_ = 2 * lesionMatches.found + lesionMatches.missed + lesionMatches.invented
    if not all_:
        raise Undefined("neither structure has a lesion")
    return 2 * lesionMatches.found / all_


@ofMatched("PQ: Panoptic quality")
@hint("One number for finding and drawing; a match needs an IoU above one half, hard for small lesions.")
@formula(
    r"\mathrm{PQ} = \mathrm{SQ} \cdot \mathrm{RQ} = \frac{\sum_{(a, b)} \mathrm{IoU}(a, b)}"
    r"{\mathrm{TP}_t + \frac{1}{2} \mathrm{FP}_t + \frac{1}{2} \mathrm{FN}_t}"
)
def panopticQuality(panopticMatches: Matches) -> float:
    """Recognition quality times segmentation quality of the lesions that match."""
    recognition = recognitionQuality(panopticMatches)
    return recognition * segmentationQuality(panopticMatches) if panopticMatches.found else 0.0


@ofMatched("RQ: Recognition quality")
@hint("Stricter than LesionF1, as a match must overlap well.")
@formula(r"\mathrm{RQ} = \frac{2 \, \mathrm{TP}_t}{2 \, \mathrm{TP}_t + \mathrm{FP}_t + \mathrm{FN}_t}")
def recognitionQuality(panopticMatches: Matches) -> float:
    """F1 score of the lesions; those that match overlap by more than half."""
    return scoreF1(panopticMatches)


@ofMatched("SQ: Segmentation quality")
@hint("Of the matched lesions only, so missing hard ones raises it.")
@formula(r"\mathrm{SQ} = \frac{1}{\mathrm{TP}_t} \sum_{(a, b)} \mathrm{IoU}(a, b)")
def segmentationQuality(panopticMatches: Matches) -> float:
    """Mean intersection over union of the lesions that match."""
    if not panopticMatches.found:
        raise Undefined("no lesion is matched")
    return float(panopticMatches.ious.mean())


@ofScore("LesionDSC: Dice of lesions, one by one", BRATS_PROGRAM, symmetric=False, isMain=True, heading="DSC lesions")
@hint("Every lesion counts alike, however small; a single large one does not hide the others.")
@formula(r"\mathrm{LesionDSC} = \frac{1}{L + I} \sum_{l=1}^{L} \mathrm{DSC}(X_l, Y_l)", "scoredLesions")
def meanDice(dicesOfLesions: Sequence[float]) -> float:
    """Mean Dice of the reference's lesions with what overlaps each, where missed and invented lesions count 0."""
    return meanOf(dicesOfLesions)


@ofScore(
    "LesionHD95: HD95 of lesions, one by one", BRATS_PROGRAM, unit="mm", best=0, symmetric=False, heading="HD95 lesions"
)
@hint("The penalty decides it as soon as a lesion is missed: state it.")
@formula(
    r"\mathrm{LesionHD95} = \frac{1}{L + I} \left( \sum_{l} \mathrm{HD}_{95}(X_l, Y_l) + "
    r"P_0 \, (M + I) \right)",
    "scoredLesions",
    "distanceOfMissed",
    symbols=(("P_0", ("lesionPenalty",)),),
    deviation="The distance is that of exact surfaces; the presets of BraTS 2023 sample it as DeepMind's "
    "surface-distance does.",
)
def meanHausdorff(hausdorffsOfLesions: Sequence[float]) -> float:
    """Mean 95th percentile Hausdorff distance of the reference's lesions to what overlaps each, where missed and
    invented lesions count a penalty.
    """
    return meanOf(hausdorffsOfLesions)


@dataclass(frozen=True)
class Lesion:
    """A row of the list of lesions: one of the reference, or an invented one of the test.

    number: in the list of its structure, from 1. side: "reference" or "test", the structure that has it. event: what
    happened to it. volumeReference, volumeTest: mm3 (mm2 on a plane) of the lesion, and of those of the test that
    overlap it. dice, iou: of these; None for a missed or an invented lesion. hausdorff, mean: HD95 and MASD of these in
    mm; also None if nothing that was asked for needs distances. centerDistance: mm between their centers of mass, None
    without a counterpart. clearance: mm from the surface of a missed or invented
    lesion to the other structure, None for others, and if the other structure is empty. position: LPS mm of its center.
    """

    number: int
    side: str
    event: str
    volumeReference: float
    volumeTest: float
    dice: float | None = storeAs("DSC", None)
    iou: float | None = storeAs("IoU", None)
    hausdorff: float | None = storeAs("HD95", None)
    mean: float | None = storeAs("MASD", None)
    centerDistance: float | None = None
    clearance: float | None = None
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)


def listOf(pair: Pair, hasDistances: bool = True) -> tuple[Lesion, ...]:
    """Return all lesions of the reference and the invented ones, those that need a look first.

    Among those to which the same happened, larger ones come first where one side has none, and worse drawn ones else.
    hasDistances: whether HD95 and MASD of every lesion are measured, which takes most of the time.
    """
    overlaps, rows = pair["lesionOverlaps"], []
    partners = splitBy(overlaps.belong[:, 1], overlaps.belong[:, 0], len(overlaps.reference))
    clearances = [_clearances(pair, number) for number in (0, 1)]
    for group in overlaps.groups:
        for number, lesions in enumerate((group.reference, group.test if group.event is Event.INVENTED else ())):
            for lesion in lesions:
                checkpoint()
                overlapping = () if number else tuple(partners[lesion].tolist())
                row = _row(pair, number, lesion, group.event, overlapping, hasDistances)
                rows.append(replace(row, clearance=clearances[number].get(lesion)))
    order = {event.value: rank for rank, event in enumerate(Event)}
    return tuple(sorted(rows, key=lambda row: (order[row.event], row.dice or 0, -row.volumeReference - row.volumeTest)))


def _row(
    pair: Pair, number: int, lesion: int, event: Event, overlapping: tuple[int, ...], hasDistances: bool
) -> Lesion:
    """Return the row of a lesion of the reference (0) or the test (1). overlapping: those of the test, if any."""
    own, test = pair["lesions"][number], pair["lesions"][1]
    center, drawn = own.center([lesion]), ()
    volumes = (own.masks[lesion].size, test.mask(overlapping).size)
    if overlapping:
        shares = about(pair, "sharesOfLesion", (lesion,), overlapping)
        distances = about(pair, "drawnLesion", (lesion,), overlapping) if hasDistances else (None, None)
        drawn = (*shares, *distances, float(np.linalg.norm(test.center(overlapping) - center)))
    known = (lesion + 1, REFERENCE_AND_TEST[number], event.value, *(volumes[::-1] if number else volumes), *drawn)
    return Lesion(*known, position=tuple(center.tolist()))


def _clearances(pair: Pair, source: int) -> dict[int, float]:
    """Return the distances in mm of lesions without a counterpart from the other structure, by their number.

    From the corners of a lesion's surface to the surface of all of the other structure's lesions.
    """
    lesions = pair["lesions"]
    alone = sorted(set(range(lesions[source].count)) - set(pair["lesionOverlaps"].belong[:, source].tolist()))
    if not alone or not lesions[1 - source].count:
        return {}
    surfaces = [Structure("lesion", lesions[source].masks[lesion]).surface for lesion in alone]
    points = np.concatenate([surface.points for surface in surfaces])
    everything = innerPair(pair, *(range(one.count) for one in lesions))
    distances = everything.boundaries.search(1 - source).distances(points)
    ends = np.cumsum([len(surface.points) for surface in surfaces])[:-1]
    return {lesion: float(some.min()) for lesion, some in zip(alone, np.split(distances, ends), strict=True)}
