"""Instances: which lesions are found, and how well.

Lesions that are given as regions may overlap: each keeps all of its voxels. A voxel that several have tells which of
them belong together only by the pair that fits best, so that a region which merely crosses another is not one with it.

Sources: Kirillov et al., arXiv:1801.00868 (panoptic quality); the lesion-wise scores of BraTS 2023, described with
their code in github.com/rachitsaluja/BraTS-2023-Metrics.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...base.errors import Undefined
from ...base.progress import checkpoint
from ...geometry.graphs import components
from ...geometry.grids import Grid
from ...geometry.masks import Mask, finerFirst
from ...geometry.sharedvolume import sharedVolume

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


def matched(overlaps: Overlaps, threshold: float, isAtLeast: bool = False) -> Matches:
    """Return the one-to-one assignment of the largest total IoU among lesions whose IoU is above a threshold.

    isAtLeast: whether an IoU that equals the threshold counts, too.
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
        gain[one, other], links[one, other] = ious[rows] + ROUNDING, rows
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
