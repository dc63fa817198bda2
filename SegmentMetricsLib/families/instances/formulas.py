"""Instances: which lesions are found, and how well.

Sources: Kirillov et al., arXiv:1801.00868 (panoptic quality); the lesion-wise scores of BraTS 2023, described
with their code in github.com/rachitsaluja/BraTS-2023-Metrics.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...base.errors import Undefined
from ...geometry.graphs import components

# Voxels that count as neighbors of a voxel, by how many coordinates of the step to them may differ from 0.
STEPS_OF = {6: 1, 18: 2, 26: 3}


class Event(enum.Enum):
    """What happened to a group of lesions that overlap, directly or through others."""

    MISSED = "missed"  # one of the reference alone
    INVENTED = "invented"  # one of the test alone
    MIXED = "mixed"  # several of both
    SPLIT = "split"  # one of the reference, several of the test
    MERGED = "merged"  # several of the reference, one of the test
    FOUND = "found"  # one of each


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
    """The lesions of a reference and a test, and which of them share voxels.

    reference, test: voxel counts (m,) and (n,) of the lesions. pairs: (q, 2) numbers of those that overlap, from 0.
    shared: (q,) voxels that they share.
    """

    reference: np.ndarray
    test: np.ndarray
    pairs: np.ndarray
    shared: np.ndarray

    @cached_property
    def ious(self) -> np.ndarray:
        """(q,) intersection over union of the lesions that overlap, in (0, 1]."""
        one, other = self.pairs.T
        return self.shared / (self.reference[one] + self.test[other] - self.shared)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups of lesions that overlap, in the order of the lesions, those of the reference first."""
        m, n = len(self.reference), len(self.test)
        if not m + n:
            return ()
        numbers = components(self.pairs[:, 0], self.pairs[:, 1] + m, m + n)
        found: dict[int, tuple[list[int], list[int]]] = {}
        for lesion, group in enumerate(numbers.tolist()):
            of = found.setdefault(group, ([], []))
            of[lesion >= m].append(lesion if lesion < m else lesion - m)
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


def numbered(voxels: np.ndarray, connectivity: int) -> np.ndarray:
    """Return the number of the connected part of every voxel [k, j, i] of a mask, from 1; 0 outside.

    connectivity: 6, 18 or 26 neighbors of a voxel count as connected to it.
    """
    from scipy.ndimage import generate_binary_structure, label

    return label(voxels, generate_binary_structure(3, STEPS_OF[connectivity]))[0]


def withoutSmall(numbers: np.ndarray, fewest: float) -> tuple[np.ndarray, int]:
    """Return lesions [k, j, i] without those of fewer voxels, numbered anew from 1, and how many were left out."""
    counts = np.bincount(numbers.ravel())
    isKept = counts >= max(fewest, 1)
    isKept[0] = False
    if isKept[1:].all():
        return numbers, 0
    anew = np.where(isKept, np.cumsum(isKept), 0).astype(numbers.dtype)
    return anew[numbers], int((counts[1:] > 0).sum() - isKept.sum())


def overlapsOf(reference: np.ndarray, test: np.ndarray) -> Overlaps:
    """Return how lesions [k, j, i] overlap that are numbered from 1 without gaps, 0 outside."""
    sizes = [np.bincount(numbers.ravel(), minlength=1)[1:] for numbers in (reference, test)]
    both = np.flatnonzero((reference > 0) & (test > 0))
    width = len(sizes[1])
    joint = (reference.ravel()[both].astype(np.int64) - 1) * width + test.ravel()[both] - 1
    found, shared = np.unique(joint, return_counts=True)
    return Overlaps(*sizes, np.stack([found // max(width, 1), found % max(width, 1)], axis=1), shared)


def matched(overlaps: Overlaps, threshold: float) -> Matches:
    """Return the one-to-one assignment of the largest total IoU among lesions whose IoU is above a threshold."""
    from scipy.optimize import linear_sum_assignment

    isLinked = overlaps.ious > threshold
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
        gain[one, other], links[one, other] = ious[rows], rows
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


def countOf(overlaps: Overlaps, event: Event) -> int:
    """Return the number of groups to which something happened."""
    return sum(group.event is event for group in overlaps.groups)


def meanOfLesions(scores: Sequence[float], invented: int, penalty: float) -> float:
    """Return the mean score of the reference's lesions and of the invented ones, which have the penalty."""
    if not len(scores) + invented:
        raise Undefined("neither structure has a lesion")
    return (float(sum(scores)) + penalty * invented) / (len(scores) + invented)
