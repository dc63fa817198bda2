"""Instances: which lesions are found, and how well.

Lesions that are given as regions may overlap: each keeps all of its voxels. A voxel that several have tells which of
them belong together only by the pair that fits best, so that a region which merely crosses another is not one with it.

Sources: Kirillov et al., arXiv:1801.00868 (panoptic quality); the lesion-wise scores of BraTS 2023, described with
their code in github.com/rachitsaluja/BraTS-2023-Metrics.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import Undefined
from ..base.progress import checkpoint
from ..geometry import voxelization
from ..geometry.graphs import components
from ..geometry.grids import Grid
from ..geometry.masks import Mask, boxAround, finerFirst
from ..geometry.parts import closedParts, partsOf
from ..geometry.sharedvolume import sharedVolume
from ..model.structures import BOTH_EMPTY, Structure
from ..settings.names import BRATS, BRATS_EVALUATION, METS, PANOPTICA
from . import boundary, overlap
from .metric import OURS, Definition, Empty
from .pair import Workspace

if TYPE_CHECKING:
    from ..settings.settings import Settings


# Shares that differ by less are equal.
ROUNDING = 1e-9


class Event(enum.Enum):
    """What happened to a group of lesions that overlap, directly or through others."""

    MISSED = "missed"  # one of the reference alone
    INVENTED = "invented"  # one of the test alone
    MIXED = "mixed"  # several of both
    SPLIT = "split"  # one of the reference, several of the test
    MERGED = "merged"  # several of the reference, one of the test
    FOUND = "found"  # one of each


@dataclass(frozen=True, eq=False)
class Lesions:
    """The lesions of one structure.

    voxels: (n, 3) indices i, j, k on a grid, once for every lesion that has them. numbers: (n,) of these lesions, from
    0. sizes: (m,) voxel counts of the lesions. omitted: how many were left out because they are too small.
    areOverlapping: whether several have a voxel in common.
    """

    voxels: np.ndarray
    numbers: np.ndarray
    sizes: np.ndarray
    grid: Grid
    omitted: int = 0
    areOverlapping: bool = False

    @property
    def count(self) -> int:
        return len(self.sizes)

    @cached_property
    def _rows(self) -> list[np.ndarray]:
        order = np.argsort(self.numbers, kind="stable")
        return np.split(order, np.cumsum(self.sizes)[:-1]) if self.count else []

    def voxelsOf(self, lesions: Sequence[int]) -> np.ndarray:
        """Return the voxels (n, 3) of some lesions together, each once."""
        found = np.concatenate([np.zeros((0, 3), int), *(self.voxels[self._rows[lesion]] for lesion in lesions)])
        return np.unique(found, axis=0) if self.areOverlapping and len(lesions) > 1 else found

    def mask(self, lesions: Sequence[int]) -> Mask:
        """Return the mask of some lesions together."""
        return maskOf(self.voxelsOf(lesions), self.grid)

    def volume(self, lesions: Sequence[int]) -> float:
        """Return the volume of some lesions together in mm3 (mm2 on a plane)."""
        return float(len(self.voxelsOf(lesions)) * self.grid.voxelSize)

    def center(self, lesions: Sequence[int]) -> np.ndarray:
        """Return the LPS center of mass (3,) of some lesions together in mm."""
        return self.grid.toWorld(self.voxelsOf(lesions).mean(axis=0)[None])[0]

    @cached_property
    def boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest indices i, j, k (m, 3) of the lesions' voxels."""
        low, high = ([function(self.voxels[rows], axis=0) for rows in self._rows] for function in (np.min, np.max))
        return np.reshape(low, (-1, 3)), np.reshape(high, (-1, 3))


@dataclass(frozen=True)
class Group:
    """Lesions that overlap, directly or through others: their numbers, from 0."""

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
        return iousOf(self.reference, self.test, self.pairs, self.shared)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups of lesions that overlap, in the order of the lesions, those of the reference first."""
        m, n = len(self.reference), len(self.test)
        if not m + n:
            return ()
        numbers = components(self.belong[:, 0], self.belong[:, 1] + m, m + n)
        found: dict[int, tuple[list[int], list[int]]] = {}
        for lesion, group in enumerate(numbers.tolist()):
            ours, theirs = found.setdefault(group, ([], []))
            if lesion < m:
                ours.append(lesion)
            else:
                theirs.append(lesion - m)
        return tuple(Group(tuple(ours), tuple(theirs)) for ours, theirs in found.values())


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


def maskOf(voxels: np.ndarray, grid: Grid) -> Mask:
    """Return the mask of voxels (n, 3), given by their indices i, j, k."""
    if not len(voxels):
        return Mask.empty(grid)
    low = voxels.min(axis=0)
    i, j, k = (voxels - low).T
    array = np.zeros((k.max() + 1, j.max() + 1, i.max() + 1), np.uint8)
    array[k, j, i] = 1
    return Mask(array, tuple(low.tolist()), grid)


def ofMasks(masks: Sequence[Mask], whole: Mask, areNested: bool = False) -> Lesions:
    """Return lesions that are given one by one, on one grid; each keeps the voxels that others have, too.

    whole: the mask of all of them; what it leaves out, such as a cavity in one of them, belongs to none. areNested:
    whether some are filled although others lie in their cavities, so that a voxel of several belongs to the smallest.
    """
    found = [np.argwhere(mask.voxels)[:, ::-1] + mask.low for mask in masks if not mask.isEmpty]
    if whole.isEmpty or not found:
        return Lesions(np.zeros((0, 3), int), np.zeros(0, int), np.zeros(0, int), whole.grid)
    sizes = np.array([len(some) for some in found])
    voxels, numbers = np.concatenate(found), np.repeat(np.arange(len(found)), sizes)
    isInside = ((voxels >= whole.low) & (voxels <= whole.high)).all(axis=1)
    rows = np.flatnonzero(isInside)
    places = (voxels[rows] - whole.low) @ np.cumprod([1, *(whole.high - whole.low + 1)[:2]])
    isKept = whole.voxels.ravel()[places] > 0
    rows, places = rows[isKept], places[isKept]
    if areNested:
        order = np.argsort(sizes[numbers[rows]], kind="stable")
        rows = np.sort(rows[order[np.unique(places[order], return_index=True)[1]]])
    areOverlapping = not areNested and len(np.unique(places)) < len(places)
    _, anew, sizes = np.unique(numbers[rows], return_inverse=True, return_counts=True)
    return Lesions(voxels[rows], anew, sizes, whole.grid, areOverlapping=areOverlapping)


def withoutSmall(lesions: Lesions, fewest: float) -> Lesions:
    """Return lesions without those of fewer voxels, and how many were left out."""
    isKept = lesions.sizes >= fewest
    if isKept.all():
        return lesions
    stay = isKept[lesions.numbers]
    anew = np.cumsum(isKept) - 1
    omitted = lesions.omitted + int((~isKept).sum())
    return replace(
        lesions,
        voxels=lesions.voxels[stay],
        numbers=anew[lesions.numbers[stay]],
        sizes=lesions.sizes[isKept],
        omitted=omitted,
    )


def overlapsOf(reference: Lesions, test: Lesions) -> Overlaps:
    """Return how the lesions of two structures overlap: by their voxels on one grid, by volumes in mm3 on two."""
    isOneGrid = reference.grid == test.grid
    m, n = (one.sizes if isOneGrid else one.sizes * one.grid.voxelSize for one in (reference, test))
    if reference.count and test.count:
        pairs, shared = (_sharedVoxels if isOneGrid else _sharedVolumes)(reference, test)
    else:
        pairs, shared = np.zeros((0, 2), int), np.zeros(0, int)
    belong = pairs
    if reference.areOverlapping or test.areOverlapping:
        belong = pairs[_areBest(reference, test, pairs, iousOf(m, n, pairs, shared))]
    return Overlaps(m, n, pairs, shared, belong)


def iousOf(reference: np.ndarray, test: np.ndarray, pairs: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """Return the intersection over union (q,) of pairs of lesions; arguments as in Overlaps."""
    one, other = pairs.T
    return shared / (reference[one] + test[other] - shared)


def _sharedVoxels(reference: Lesions, test: Lesions) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs (q, 2) of lesions on one grid that share voxels, and how many (q,)."""
    low = np.minimum(reference.voxels.min(axis=0), test.voxels.min(axis=0))
    size = np.maximum(reference.voxels.max(axis=0), test.voxels.max(axis=0)) - low + 1
    strides = np.array([1, size[0], size[0] * size[1]])
    ours, theirs = ((lesions.voxels - low) @ strides for lesions in (reference, test))
    order = np.argsort(theirs)
    first, last = (np.searchsorted(theirs, ours, side, sorter=order) for side in ("left", "right"))
    # every voxel of the reference with each lesion of the test that has it
    number = last - first
    one = np.repeat(np.arange(len(ours)), number)
    other = order[np.arange(len(one)) + np.repeat(first - np.cumsum(number) + number, number)]
    joint = reference.numbers[one] * test.count + test.numbers[other]
    found, shared = np.unique(joint, return_counts=True)
    return np.stack(np.divmod(found, test.count), axis=1), shared


def _sharedVolumes(reference: Lesions, test: Lesions) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs (q, 2) of lesions on two grids that overlap, and the volumes (q,) in mm3 that they share."""
    low, high = test.boxes
    # the box around each lesion of the test, among the voxels of the reference
    ends = np.stack([low - 0.5, high + 0.5])
    corners = np.stack([ends[[x, y, z], :, range(3)].T for x, y, z in np.ndindex(2, 2, 2)], axis=1)
    seen = reference.grid.toIndex(test.grid.toWorld(corners.reshape(-1, 3))).reshape(corners.shape)
    low, high = seen.min(axis=1), seen.max(axis=1)
    if reference.grid.flatAxis is not None:  # both are in one plane
        low[:, reference.grid.flatAxis], high[:, reference.grid.flatAxis] = -np.inf, np.inf
    pairs, shared = [], []
    for lesion, (first, last) in enumerate(zip(*reference.boxes)):
        for other in np.flatnonzero(((low < last + 0.5) & (high > first - 0.5)).all(axis=1)).tolist():
            checkpoint()
            volume = _common(reference.mask([lesion]), test.mask([other]))
            if volume:
                pairs.append((lesion, other))
                shared.append(volume)
    return np.array(pairs, int).reshape(-1, 2), np.array(shared, float)


def _common(one: Mask, other: Mask) -> float:
    """Return what two masks share: voxels if they lie on one grid, else mm3 (mm2)."""
    if one.grid == other.grid:
        return float(np.count_nonzero(one.voxels & other.block(one.low, one.high)))
    return sharedVolume(*finerFirst(one, other))


def _areBest(reference: Lesions, test: Lesions, pairs: np.ndarray, ious: np.ndarray) -> np.ndarray:
    """Return which pairs (q,) of lesions share a voxel that no lesion of either side has that fits the other better."""
    found = np.zeros(len(pairs), bool)
    for number, ((one, other), iou) in enumerate(zip(pairs.tolist(), ious.tolist())):
        isBetter = ious > iou * (1 + ROUNDING)
        ours = pairs[isBetter & (pairs[:, 1] == other), 0].tolist()
        theirs = pairs[isBetter & (pairs[:, 0] == one), 1].tolist()
        mine, yours = reference.mask([one]).without(reference.mask(ours)), test.mask([other]).without(test.mask(theirs))
        found[number] = not mine.isEmpty and not yours.isEmpty and _common(mine, yours) > 0
    return found


def matched(overlaps: Overlaps, threshold: float, isAtLeast: bool = False, isByDice: bool = False) -> Matches:
    """Return the one-to-one assignment of the largest total IoU among lesions whose IoU is above a threshold.

    isAtLeast: whether an IoU that equals the threshold counts, too. isByDice: whether the total Dice is the largest.
    """
    from scipy.optimize import linear_sum_assignment

    isLinked = overlaps.ious >= threshold if isAtLeast else overlaps.ious > threshold
    pairs, ious = overlaps.pairs[isLinked], overlaps.ious[isLinked]
    m, n = len(overlaps.reference), len(overlaps.test)
    taken = [np.zeros(0, np.int64)]
    # every group is assigned by itself: a table of all lesions would be large and nearly empty
    groups = components(pairs[:, 0], pairs[:, 1] + m, m + n)[pairs[:, 0]] if len(pairs) else np.zeros(0, int)
    order = np.argsort(groups, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        if len(rows) < 2:
            taken.append(rows)
            continue
        (ours, one), (theirs, other) = (np.unique(column, return_inverse=True) for column in pairs[rows].T)
        gain, links = np.zeros((len(ours), len(theirs))), np.full((len(ours), len(theirs)), -1)
        # of equal totals the one of most pairs, so that the order of the lesions does not decide
        scores = 2 * ious[rows] / (1 + ious[rows]) if isByDice else ious[rows]
        gain[one, other], links[one, other] = scores + ROUNDING, rows
        chosen = links[linear_sum_assignment(gain, maximize=True)]
        taken.append(chosen[chosen >= 0])
    rows = np.sort(np.concatenate(taken))
    return Matches(pairs[rows], ious[rows], m - len(rows), n - len(rows))


def sensitivity(matches: Matches) -> float:
    """Return the share of the reference's lesions that are found, in [0, 1]. Raises Undefined without any."""
    if not matches.found + matches.missed:
        raise Undefined("the reference has no lesion")
    return matches.found / (matches.found + matches.missed)


def precision(matches: Matches) -> float:
    """Return the share of the test's lesions that are in the reference, in [0, 1]. Raises Undefined without any."""
    if not matches.found + matches.invented:
        raise Undefined("the test has no lesion")
    return matches.found / (matches.found + matches.invented)


def recognitionQuality(matches: Matches) -> float:
    """Return RQ, which is the F1 score of the lesions, in [0, 1]. Raises Undefined if neither side has a lesion."""
    lesions = 2 * matches.found + matches.missed + matches.invented
    if not lesions:
        raise Undefined("neither structure has a lesion")
    return 2 * matches.found / lesions


def segmentationQuality(matches: Matches) -> float:
    """Return SQ, the mean IoU of the matched lesions, in (0, 1]. Raises Undefined if none is matched."""
    if not matches.found:
        raise Undefined("no lesion is matched")
    return float(matches.ious.mean())


def panopticQuality(matches: Matches) -> float:
    """Return PQ = SQ x RQ, in [0, 1]; 0 without a match. Raises Undefined if neither side has a lesion."""
    recognition = recognitionQuality(matches)
    return recognition * segmentationQuality(matches) if matches.found else 0.0


def numberOf(lesions: Lesions) -> int:
    """Return the number of the lesions of a structure."""
    return lesions.count


def countOf(overlaps: Overlaps, event: Event) -> int:
    """Return the number of groups to which something happened."""
    return sum(group.event is event for group in overlaps.groups)


def meanOfLesions(scores: Sequence[float], invented: int, penalty: float) -> float:
    """Return the mean score of the reference's lesions and of the invented ones, which have the penalty.

    Raises Undefined if neither side has a lesion.
    """
    if not len(scores) + invented:
        raise Undefined("neither structure has a lesion")
    return (float(sum(scores)) + penalty * invented) / (len(scores) + invented)


# The percentile of the Hausdorff distance of a lesion.
PERCENTILE = 95
# Steps of BraTS' dilation go to voxels that share a face or an edge.
DILATION_RANK = 2
# Neighbors of a voxel in panoptica's lesions of a flat image, which SciPy finds: with a common face, in the plane 4.
PANOPTICA_IN_2D = 6


@dataclass(frozen=True)
class Drawn:
    """How far some lesions of the reference and some of the test lie apart: HD95 and MASD in mm."""

    hausdorff: float
    mean: float


@dataclass(frozen=True)
class Scored:
    """Lesions of the reference that count as one, and those of the test that belong to it: their numbers, from 0."""

    reference: tuple[int, ...]
    test: tuple[int, ...]


def lesionsOf(pair: Workspace) -> tuple[Lesions, Lesions]:
    """Return the lesions of both, without those that are too small: on one grid, or of two masks each on its own."""
    if pair.emptiness == BOTH_EMPTY:
        grid = next((s.samplingGrid for s in pair.structures if s.samplingGrid is not None), Grid((1, 1, 1), np.eye(4)))
        masks = Mask.empty(grid), Mask.empty(grid)
    else:
        # where overlap is counted in parts of voxels, nothing is resampled
        masks = (pair.reference.ownMask, pair.test.ownMask) if pair.isResampled else pair.masks
    reference, test = (_lesionsOf(pair, *both) for both in zip(pair.structures, masks, strict=True))
    if isOf(pair.settings, BRATS) or isOf(pair.settings, BRATS_EVALUATION):  # they are left out later
        return reference, test
    reference, test = (withoutSmall(one, _fewestOf(pair, one)) for one in (reference, test))
    return reference, test


def _fewestOf(pair: Workspace, lesions: Lesions) -> float:
    """Return the number of voxels of the smallest lesion that counts."""
    return pair.settings.lesionMinimum / lesions.grid.voxelSize


def _lesionsOf(pair: Workspace, structure: Structure, mask: Mask) -> Lesions:
    """Return the separate parts of a mask, or its instances, or the closed parts of a mesh, each filled by itself."""
    if structure.instances is not None:
        return ofMasks([one.on(mask.grid) for one in structure.instances], mask)
    if structure.mask is None and structure.dimension == 3 and not mask.isEmpty:
        filled = [voxelization.maskOf(part, mask.grid) for part in closedParts(structure.surface.solid)]
        return ofMasks(filled, mask, areNested=True)
    connectivity = pair.settings.lesionConnectivity
    if isOf(pair.settings, PANOPTICA) and structure.samplingGrid is not None and structure.samplingGrid.isImage2D:
        connectivity = min(connectivity, PANOPTICA_IN_2D)
    parts = partsOf(mask, connectivity)
    return Lesions(parts.voxels, parts.numbers, np.bincount(parts.numbers, minlength=parts.count), mask.grid)


def isOf(settings: Settings, rules: str) -> bool:
    """Return whether the settings are those of a preset, or of one of its variants."""
    return settings.convention.startswith(rules)


def overlapsOfPair(pair: Workspace) -> Overlaps:
    """Return which lesions share voxels."""
    return overlapsOf(*pair.once(lesionsOf))


def detectionOf(pair: Workspace) -> Matches:
    """Return which lesions are found."""
    if isOf(pair.settings, BRATS_EVALUATION):
        return matched(pair.once(overlapsOfPair), 0.0, isByDice=True)
    return matched(pair.once(overlapsOfPair), pair.settings.lesionOverlap)


def panopticOf(pair: Workspace) -> Matches:
    """Return which lesions are found for the panoptic quality; for panoptica the threshold itself is enough."""
    return matched(pair.once(overlapsOfPair), pair.settings.panopticOverlap, isOf(pair.settings, PANOPTICA))


def scoredOf(pair: Workspace) -> tuple[tuple[Scored, ...], int]:
    """Return the lesions of the reference that are scored, and how many of the test belong to none of them.

    Those of the reference that touch when they are dilated are one lesion, and every one of the test that such a
    dilated lesion reaches belongs to it.
    """
    if isOf(pair.settings, BRATS_EVALUATION):
        return _scoredOneByOne(pair)
    reference, test = pair.once(lesionsOf)
    if pair.settings.lesionDilation:
        owners, reached = _dilated(reference, test, pair.settings.lesionDilation)
    else:
        owners, reached = np.arange(reference.count), pair.once(overlapsOfPair).belong
    ours: dict[int, list[int]] = {}
    for lesion, owner in enumerate(owners.tolist()):
        ours.setdefault(owner, []).append(lesion)
    theirs: dict[int, list[int]] = {owner: [] for owner in ours}
    for owner, lesion in reached.tolist():
        theirs[owner].append(lesion)
    invented = test.count - len(set(reached[:, 1].tolist()))
    scored = [Scored(tuple(ours[owner]), tuple(theirs[owner])) for owner in ours]
    if isOf(pair.settings, BRATS):
        largest = _fewestOf(pair, reference)
        scored = [one for one in scored if len(reference.voxelsOf(one.reference)) > largest]
    return tuple(scored), invented


def _scoredOneByOne(pair: Workspace) -> tuple[tuple[Scored, ...], int]:
    """Return scoredOf() as BraTS_evaluation has it, where a lesion has one counterpart.

    For metastases those of the reference that are large enough, whether found or missed, and the invented ones; for all
    other tasks the found ones alone, as long as any is found. Raises Undefined for metastases without a large one.
    """
    matches, reference = pair.once(detectionOf), pair.once(lesionsOf)[0]
    partners = {one: (other,) for one, other in matches.pairs.tolist()}
    if pair.settings.convention != METS:
        unmatched = matches.missed + matches.invented
        return tuple(Scored((one,), other) for one, other in partners.items()), 0 if partners else unmatched
    large = np.flatnonzero(reference.sizes >= _fewestOf(pair, reference)).tolist()
    if not large:
        raise Undefined("the reference has no lesion of the smallest size")
    return tuple(Scored((one,), partners.get(one, ())) for one in large), matches.invented


def _dilated(reference: Lesions, test: Lesions, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the dilated lesion (m,) that each of the reference belongs to, and pairs (q, 2) with those of the test.

    steps: of the dilation, each by the 18 neighbors of a voxel.
    """
    if not reference.count:
        return np.zeros(0, int), np.zeros((0, 2), int)
    from scipy.ndimage import binary_dilation, generate_binary_structure

    neighbors, parts = generate_binary_structure(3, DILATION_RANK), []
    for lesion in range(reference.count):
        mask = reference.mask([lesion])
        grown = binary_dilation(np.pad(mask.voxels, steps), neighbors, steps)
        k, j, i = np.nonzero(grown)
        parts.append(np.stack([i, j, k], axis=1) + mask.low - steps)
    joined = partsOf(maskOf(np.concatenate(parts), reference.grid))
    numbers = np.arange(joined.count)
    grown = Lesions(joined.voxels, joined.numbers, np.bincount(joined.numbers, minlength=joined.count), reference.grid)
    owners = overlapsOf(grown, reference).pairs
    reached = overlapsOf(grown, test).pairs
    return numbers[owners[np.argsort(owners[:, 1]), 0]], reached


def drawnOf(pair: Workspace, reference: tuple[int, ...], test: tuple[int, ...]) -> Drawn:
    """Return how well lesions of the reference are drawn by lesions of the test; there must be both."""
    distances = innerPair(pair, reference, test).distances
    return Drawn(
        float(boundary.percentileHausdorff(distances, PERCENTILE).value),
        float(boundary.meanAverageSurfaceDistance(distances).value),
    )


def overlapOf(pair: Workspace, reference: tuple[int, ...], test: tuple[int, ...]) -> tuple[float, float]:
    """Return Dice and IoU in [0, 1] of lesions of the reference and lesions of the test; there must be some of both."""
    if any(lesions.areOverlapping for lesions in pair.once(lesionsOf)):
        counts = innerPair(pair, reference, test).crispCounts
        return overlap.dice(counts), overlap.intersectionOverUnion(counts)
    known = pair.once(overlapsOfPair)
    isMeant = np.isin(known.pairs[:, 0], reference) & np.isin(known.pairs[:, 1], test)
    both, total = known.shared[isMeant].sum(), known.reference[list(reference)].sum() + known.test[list(test)].sum()
    return float(2 * both / total), float(both / (total - both))


def innerPair(pair: Workspace, reference: tuple[int, ...], test: tuple[int, ...]) -> Workspace:
    """Return some lesions of the reference and some of the test as a pair of their own."""
    one, other = (lesions.mask(some) for lesions, some in zip(pair.once(lesionsOf), (reference, test)))
    return _innerPair(pair, one, other)


def _innerPair(pair: Workspace, one: Mask, other: Mask) -> Workspace:
    return Workspace(
        Structure("lesion", one), Structure("lesion", other), pair.settings.changed(extent="whole", critical=())
    )


def meanDice(pair: Workspace) -> float:
    """Return LesionDSC in [0, 1]: the mean Dice of the scored lesions and of the invented ones, which have 0."""
    scored, invented = pair.once(scoredOf)
    if not scored and not invented and isOf(pair.settings, BRATS):
        return 1.0
    scores = [pair.once(overlapOf, one.reference, one.test)[0] if one.test else 0.0 for one in scored]
    return meanOfLesions(scores, invented, 0.0)


def hausdorffOf(pair: Workspace, one: Scored) -> float:
    """Return the 95th percentile Hausdorff distance in mm of a scored lesion that is found."""
    return pair.once(drawnOf, one.reference, one.test).hausdorff


def meanHausdorff(pair: Workspace, hausdorff: Callable[[Workspace, Scored], float] = hausdorffOf) -> float:
    """Return LesionHD95 in mm: the mean HD95 of the scored lesions; missed and invented ones have the penalty.

    hausdorff: of a lesion that is found; other conventions measure it in their way.
    """
    scored, invented = pair.once(scoredOf)
    if not scored and not invented and isOf(pair.settings, BRATS):
        return 0.0
    penalty = penaltyOf(pair)
    return meanOfLesions([hausdorff(pair, s) if s.test else penalty for s in scored], invented, penalty)


def penaltyOf(pair: Workspace) -> float:
    """Return the distance in mm that a missed or invented lesion counts: by default the diagonal of the image."""
    if pair.settings.lesionPenalty is not None:
        return pair.settings.lesionPenalty
    # the grid for two masks on different ones only surrounds the structures
    grid = pair.reference.ownMask.grid if pair.isResampled else pair.overlapGrid.grid
    if any(s.samplingGrid is None for s in pair.structures):
        grid = grid.resized(*boxAround(*pair.masks))
    corners = grid.corners()
    return float(max(np.linalg.norm(one - other) for one in corners for other in corners))


def noteOnLesions(pair: Workspace) -> str:
    """Return a note on lesions that were left out because they are small, "" if there are none."""
    omitted = [lesions.omitted for lesions in pair.once(lesionsOf)]
    if not any(omitted):
        return ""
    return f"left out as smaller than the minimum: {omitted[0]} of the reference, {omitted[1]} of the test"


@dataclass(frozen=True)
class Lesion:
    """A row of the list of lesions: one of the reference, or an invented one of the test.

    number: in the list of its structure, from 1. side: "reference" or "test", the structure that has it. event: what
    happened to it. volumeReference, volumeTest: mm3 (mm2 on a plane) of the lesion, and of those of the test that
    overlap it. dice, iou: of these; None for a missed or an invented lesion. hausdorff, mean: HD95 and MASD of these in
    mm; None, too, if nothing that was asked for needs distances. centerDistance: mm between their centers of mass, None
    without a counterpart. clearance: mm from the surface of a missed or invented
    lesion to the other structure, None for others, and if the other structure is empty. position: LPS mm of its center.
    """

    number: int
    side: str
    event: str
    volumeReference: float
    volumeTest: float
    dice: float | None = None
    iou: float | None = None
    hausdorff: float | None = None
    mean: float | None = None
    centerDistance: float | None = None
    clearance: float | None = None
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def toDictionary(self) -> dict:
        """Return the lesion as plain values for files."""
        return {**dict(zip(ROW, self.__dict__.values())), "position": list(self.position)}

    @staticmethod
    def fromDictionary(data: Mapping) -> Lesion:
        """Return the lesion that toDictionary() described."""
        values: dict[str, Any] = dict(zip(Lesion.__dataclass_fields__, (data[key] for key in ROW)))
        return Lesion(**values, position=tuple(data["position"]))


# The keys of a lesion in files, in the order of its fields; its position comes last.
ROW = (
    *("number", "side", "event", "volumeReference", "volumeTest", "DSC", "IoU", "HD95", "MASD"),
    *("centerDistance", "clearance"),
)
# What needs a look comes first.
ORDER = (Event.MISSED, Event.INVENTED, Event.MIXED, Event.MERGED, Event.SPLIT, Event.FOUND)


def listOf(pair: Workspace, hasDistances: bool = True) -> tuple[Lesion, ...]:
    """Return all lesions of the reference and the invented ones, those that need a look first.

    Among those to which the same happened, larger ones come first where one side has none, and worse drawn ones else.
    hasDistances: whether HD95 and MASD of every lesion are measured, which takes most of the time.
    """
    rows: list[Lesion] = []
    partners: dict[int, list[int]] = {}
    for one, other in pair.once(overlapsOfPair).belong.tolist():
        partners.setdefault(one, []).append(other)
    clearances = [_clearances(pair, source) for source in (0, 1)]
    for group in pair.once(overlapsOfPair).groups:
        for lesion in group.reference:
            checkpoint()
            theirs = tuple(partners.get(lesion, ()))
            rows.append(_row(pair, group.event, lesion, theirs, clearances[0].get(lesion), hasDistances))
        if group.event is Event.INVENTED:
            (lesion,) = group.test
            rows.append(_invented(pair, lesion, clearances[1].get(lesion)))
    order = {event.value: rank for rank, event in enumerate(ORDER)}
    return tuple(sorted(rows, key=lambda row: (order[row.event], row.dice or 0, -row.volumeReference - row.volumeTest)))


def _row(
    pair: Workspace, event: Event, lesion: int, theirs: tuple[int, ...], clearance: float | None, hasDistances: bool
) -> Lesion:
    """Return the row of a lesion of the reference. theirs: the lesions of the test that overlap it."""
    reference, test = pair.once(lesionsOf)
    center = reference.center([lesion])
    x, y, z = center.tolist()
    found = Lesion(
        lesion + 1, "reference", event.value, reference.volume([lesion]), 0.0, clearance=clearance,
        position=(x, y, z),
    )  # fmt: skip
    if not theirs:
        return found
    dice, iou = pair.once(overlapOf, (lesion,), theirs)
    drawn = pair.once(drawnOf, (lesion,), theirs) if hasDistances else None
    return replace(
        found,
        volumeTest=test.volume(theirs),
        dice=dice,
        iou=iou,
        hausdorff=drawn.hausdorff if drawn else None,
        mean=drawn.mean if drawn else None,
        centerDistance=float(np.linalg.norm(test.center(theirs) - center)),
    )


def _invented(pair: Workspace, lesion: int, clearance: float | None) -> Lesion:
    """Return the row of a lesion of the test that overlaps none of the reference."""
    test = pair.once(lesionsOf)[1]
    x, y, z = test.center([lesion]).tolist()
    return Lesion(
        lesion + 1, "test", Event.INVENTED.value, 0.0, test.volume([lesion]), clearance=clearance, position=(x, y, z)
    )  # fmt: skip


def _clearances(pair: Workspace, source: int) -> dict[int, float]:
    """Return the distances in mm of lesions without a counterpart from the other structure, by their number.

    From the corners of a lesion's surface to the surface of all of the other structure's lesions.
    """
    own, other = (pair.once(lesionsOf)[number] for number in (source, 1 - source))
    if not own.count or not other.count:
        return {}
    alone = sorted(set(range(own.count)) - set(pair.once(overlapsOfPair).belong[:, source].tolist()))
    if not alone:
        return {}
    surfaces = [Structure("lesion", own.mask([lesion])).surface for lesion in alone]
    points = np.concatenate([surface.points for surface in surfaces])
    everything = _innerPair(pair, own.mask(range(own.count)), other.mask(range(other.count)))
    distances = everything.boundaries.search(1).distances(points)
    ends = np.cumsum([len(surface.points) for surface in surfaces])[:-1]
    return {lesion: float(some.min()) for lesion, some in zip(alone, np.split(distances, ends), strict=True)}


KIRILLOV = "Kirillov et al., arXiv:1801.00868"
BRATS_PROGRAM = "BraTS 2023, github.com/rachitsaluja/BraTS-2023-Metrics"
# What the setting for the overlap of a match decides.
TRUE_POSITIVES = r"\mathrm{TP}_t"
NEEDS = (Workspace.masks, lesionsOf, overlapsOfPair)
# What all entries of counts have in common.
count = partial(
    Definition, family="instances", source=OURS, unit="", low=0, high=math.inf, empty=Empty.COMPUTED, needs=NEEDS,
    symmetric=False, note=noteOnLesions, isCount=True,
)  # fmt: skip
share = partial(
    Definition, family="instances", unit="", low=0, high=1, better="higher", empty=Empty.COUNTED, identity=1,
    note=noteOnLesions,
)  # fmt: skip

INSTANCES = (
    *(
        count(
            key=key, title=f"Lesions of the {which}", better="",
            description=f"Separate lesions of the {which}.",
            compute=lambda pair, number=number: numberOf(pair.once(lesionsOf)[number]),
            identity=None, hint="Voxels that share a corner belong to one lesion, unless the settings say otherwise.",
            formula=formula, code="metrics.instances.numberOf",
            steps=("metrics.instances.lesionsOf",),
        )
        for number, key, which, formula in (
            (0, "LesionsReference", "reference", r"\mathrm{LesionsReference} = m"),
            (1, "LesionsTest", "test", r"\mathrm{LesionsTest} = n"),
        )
    ),
    *(
        count(
            key=f"Lesions{event.value.capitalize()}", title=title, better=better,
            description=description,
            compute=lambda pair, event=event: countOf(pair.once(overlapsOfPair), event),
            identity=None if event is Event.FOUND else 0, isMain=event in (Event.MISSED, Event.INVENTED), hint=hint,
            heading=event.value.capitalize() if event in (Event.MISSED, Event.INVENTED) else "",
            formula=rf"\mathrm{{Lesions{event.value.capitalize()}}} = \lvert \lbrace G : {condition} \rbrace \rvert",
            code="metrics.instances.countOf", steps=("metrics.instances.Overlaps.groups",),
        )
        for event, title, better, description, hint, condition in (
            (Event.FOUND, "Lesions found", "higher",
             "Lesions of the reference that overlap exactly one of the test, which overlaps no other.",
             "Any overlap counts: look at LesionDSC for how well they are drawn.",
             r"\lvert G_A \rvert = \lvert G_B \rvert = 1"),
            (Event.SPLIT, "Lesions split", "lower",
             "Lesions of the reference that overlap several of the test, which overlap no other.",
             "Often one lesion with a gap; the volume hardly changes.",
             r"\lvert G_A \rvert = 1, \lvert G_B \rvert > 1"),
            (Event.MERGED, "Groups of lesions merged", "lower",
             "Lesions of the test that overlap several of the reference, which overlap no other.",
             "Neighbors that are drawn as one; counts of lesions are then wrong.",
             r"\lvert G_A \rvert > 1, \lvert G_B \rvert = 1"),
            (Event.MIXED, "Groups of lesions mixed up", "lower",
             "Groups in which several lesions of the reference overlap several of the test.",
             "Look at them in the list: nothing simple can be said.",
             r"\lvert G_A \rvert > 1, \lvert G_B \rvert > 1"),
            (Event.MISSED, "Lesions missed", "lower",
             "Lesions of the reference that no lesion of the test overlaps.",
             "What matters most for treatment: the volume alone does not tell that small ones are missed.",
             r"\lvert G_A \rvert = 1, \lvert G_B \rvert = 0"),
            (Event.INVENTED, "Lesions invented", "lower",
             "Lesions of the test that no lesion of the reference overlaps.",
             "Each one costs somebody a look, or a biopsy.",
             r"\lvert G_A \rvert = 0, \lvert G_B \rvert = 1"),
        )
    ),
    *(
        share(
            key=key, title=title, source=OURS, heading=heading,
            description=description, compute=lambda pair, ask=ask: ask(pair.once(detectionOf)),
            needs=(*NEEDS, detectionOf), symmetric=ask is recognitionQuality,
            isMain=ask is recognitionQuality, hint=hint,
            formula=formula, code=f"metrics.instances.{ask.__name__}",
            steps=("metrics.instances.matched",),
            symbols=((TRUE_POSITIVES, ("lesionOverlap",)),),
        )
        for ask, key, title, heading, description, hint, formula in (
            (sensitivity, "LesionSensitivity", "Sensitivity for lesions", "Sens. lesions",
             "Share of the reference's lesions that are found, each by a lesion of its own.",
             "Choose it when missing a lesion matters most; inventing some never lowers it.",
             r"\mathrm{LesionSensitivity} = \frac{\mathrm{TP}_t}{\mathrm{TP}_t + \mathrm{FN}_t}"),
            (precision, "LesionPrecision", "Precision for lesions", "Prec. lesions",
             "Share of the test's lesions that belong to a lesion of the reference of their own.",
             "Choose it when false alarms matter most; missing some never lowers it.",
             r"\mathrm{LesionPrecision} = \frac{\mathrm{TP}_t}{\mathrm{TP}_t + \mathrm{FP}_t}"),
            (recognitionQuality, "LesionF1", "F1 score of lesions", "F1 lesions",
             "Harmonic mean of sensitivity and precision for lesions.",
             "One number for detection; any overlap is enough unless the settings ask for more.",
             r"\mathrm{LesionF1} = \frac{2 \, \mathrm{TP}_t}{2 \, \mathrm{TP}_t + \mathrm{FP}_t + \mathrm{FN}_t}"),
        )
    ),
    *(
        share(
            key=key, title=title, source=KIRILLOV,
            description=description, compute=lambda pair, ask=ask: ask(pair.once(panopticOf)),
            needs=(*NEEDS, panopticOf), hint=hint,
            formula=formula, code=f"metrics.instances.{ask.__name__}",
            steps=("metrics.instances.matched",),
            symbols=((TRUE_POSITIVES, ("panopticOverlap",)),),
        )
        for ask, key, title, description, hint, formula in (
            (panopticQuality, "PQ", "Panoptic quality",
             "Recognition quality times segmentation quality of the lesions that match.",
             "One number for finding and drawing; a match needs an IoU above one half, hard for small lesions.",
             r"\mathrm{PQ} = \mathrm{SQ} \cdot \mathrm{RQ} = \frac{\sum_{(a, b)} \mathrm{IoU}(a, b)}"
             r"{\mathrm{TP}_t + \frac{1}{2} \mathrm{FP}_t + \frac{1}{2} \mathrm{FN}_t}"),
            (recognitionQuality, "RQ", "Recognition quality",
             "F1 score of the lesions, of which a match overlaps by more than half.",
             "Stricter than LesionF1, as a match must overlap well.",
             r"\mathrm{RQ} = \frac{2 \, \mathrm{TP}_t}{2 \, \mathrm{TP}_t + \mathrm{FP}_t + \mathrm{FN}_t}"),
            (segmentationQuality, "SQ", "Segmentation quality",
             "Mean intersection over union of the lesions that match.",
             "Of the matched lesions only: missing the hard ones raises it.",
             r"\mathrm{SQ} = \frac{1}{\mathrm{TP}_t} \sum_{(a, b)} \mathrm{IoU}(a, b)"),
        )
    ),
    share(
        key="LesionDSC", title="Dice of lesions, one by one", source=BRATS_PROGRAM, heading="DSC lesions",
        description="Mean Dice of the reference's lesions with what overlaps each, where missed and invented lesions "
        "count 0.",
        compute=meanDice, needs=(*NEEDS, scoredOf), symmetric=False, isMain=True,
        hint="Every lesion counts alike, however small; a single large one does not hide the others.",
        formula=r"\mathrm{LesionDSC} = \frac{1}{L + I} \sum_{l=1}^{L} \mathrm{DSC}(X_l, Y_l)",
        code="metrics.instances.meanDice", steps=("metrics.instances.scoredOf",),
    ),
    Definition(
        key="LesionHD95", title="HD95 of lesions, one by one", family="instances", source=BRATS_PROGRAM,
        unit="mm", low=0, high=math.inf, better="lower", empty=Empty.COUNTED, identity=0,
        description="Mean 95th percentile Hausdorff distance of the reference's lesions to what overlaps each, where "
        "missed and invented lesions count a penalty.",
        compute=meanHausdorff, needs=(*NEEDS, scoredOf), symmetric=False, note=noteOnLesions,
        heading="HD95 lesions",
        hint="The penalty decides it as soon as a lesion is missed: state it.",
        formula=r"\mathrm{LesionHD95} = \frac{1}{L + I} \left( \sum_{l} \mathrm{HD}_{95}(X_l, Y_l) + "
        r"P_0 \, (M + I) \right)",
        code="metrics.instances.meanHausdorff",
        steps=("metrics.instances.scoredOf", "metrics.instances.penaltyOf"),
        symbols=(("P_0", ("lesionPenalty",)),),
        deviation="The distance is that of exact surfaces; the presets of BraTS 2023 sample it as DeepMind's "
        "surface-distance does.",
    ),
)  # fmt: skip
