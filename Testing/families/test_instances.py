"""Lesions one by one: what happened to each, and how many are found."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.ndimage import label

from SegmentMetricsLib.base.errors import Undefined
from SegmentMetricsLib.families.instances import formulas
from SegmentMetricsLib.families.instances.formulas import Event
from SegmentMetricsLib.geometry.grids import Grid

PLACE = np.moveaxis(np.indices((60, 60, 60)), 0, -1)


def balls(*given: tuple[tuple[int, int, int], float]) -> np.ndarray:
    array = np.zeros((60, 60, 60), bool)
    for center, radius in given:
        array |= ((PLACE - center) ** 2).sum(axis=-1) <= radius**2
    return array


def lesionsOf(numbers: np.ndarray) -> formulas.Lesions:
    """Return the lesions of an array [k, j, i] of their numbers, from 1."""
    k, j, i = np.nonzero(numbers)
    found = numbers[k, j, i] - 1
    return formulas.Lesions(
        np.stack([i, j, k], axis=1), found, np.bincount(found), Grid(numbers.shape[::-1], np.eye(4))
    )


def overlapsOf(one: np.ndarray, other: np.ndarray) -> formulas.Overlaps:
    return formulas.overlapsOf(*(lesionsOf(label(array, np.ones((3, 3, 3)))[0]) for array in (one, other)))


class TestFiveLesions:
    """Two of five lesions are found, and one is invented."""

    reference = balls(((20, 20, 20), 12), ((45, 45, 20), 3), ((45, 20, 45), 3), ((20, 45, 45), 3), ((50, 50, 50), 2))
    test = balls(((20, 20, 20), 12), ((45, 45, 20), 3), ((10, 50, 10), 3))

    def testQuality(self):
        matches = formulas.matched(overlapsOf(self.reference, self.test), 0.5)
        assert (matches.found, matches.missed, matches.invented) == (2, 3, 1)
        assert formulas.recognitionQuality(matches) == 0.5 == formulas.panopticQuality(matches)
        assert formulas.segmentationQuality(matches) == 1
        assert formulas.sensitivity(matches) == 2 / 5 and formulas.precision(matches) == 2 / 3

    def testEvents(self):
        overlaps = overlapsOf(self.reference, self.test)
        assert {event: formulas.countOf(overlaps, event) for event in Event} == {
            Event.FOUND: 2, Event.MISSED: 3, Event.INVENTED: 1, Event.SPLIT: 0, Event.MERGED: 0, Event.MIXED: 0,
        }  # fmt: skip


def lines(*spans: tuple[int, int]) -> np.ndarray:
    """Return lesions along one axis, numbered in the order given."""
    array = np.zeros((1, 1, 40), int)
    for number, (first, last) in enumerate(spans, 1):
        array[..., first:last] = number
    return array


class TestEvents:
    @pytest.mark.parametrize(
        ("reference", "test", "event"),
        [
            ([(0, 10)], [(0, 4), (6, 10)], Event.SPLIT),
            ([(0, 4), (6, 10)], [(0, 10)], Event.MERGED),
            ([(0, 4), (6, 10)], [(2, 8), (9, 12)], Event.MIXED),
            ([(0, 4)], [(3, 8)], Event.FOUND),
            ([(0, 4)], [], Event.MISSED),
            ([], [(0, 4)], Event.INVENTED),
        ],
    )
    def testGroups(self, reference, test, event):
        (group,) = formulas.overlapsOf(lesionsOf(lines(*reference)), lesionsOf(lines(*test))).groups
        assert group.event is event
        assert (len(group.reference), len(group.test)) == (len(reference), len(test))

    def testNothing(self):
        overlaps = formulas.overlapsOf(lesionsOf(lines()), lesionsOf(lines()))
        assert overlaps.groups == ()
        for quality in (formulas.panopticQuality, formulas.sensitivity, formulas.precision):
            with pytest.raises(Undefined):
                quality(formulas.matched(overlaps, 0))

    def testSmallLesionsAreLeftOut(self):
        found = formulas.withoutSmall(lesionsOf(lines((0, 2), (4, 8), (10, 11), (20, 23))), 3)
        assert found.omitted == 2 and found.sizes.tolist() == [4, 3]
        assert found.voxelsOf([1])[:, 0].tolist() == [20, 21, 22]


class TestAssignment:
    def testLargestTotalOfAll(self):
        """The best pair alone would leave both others without a partner."""
        rng = np.random.default_rng(2)
        for _ in range(40):
            one, other = (rng.integers(0, 4, (1, 3, 6)) for _ in range(2))
            one, other = (np.searchsorted(np.unique([0, *a.ravel()]), a) for a in (one, other))
            threshold = rng.choice([0, 0.1, 0.25])
            overlaps = formulas.overlapsOf(lesionsOf(one), lesionsOf(other))
            matches = formulas.matched(overlaps, threshold)
            m, n = one.max(), other.max()
            iou = np.array([[(((one == a + 1) & (other == b + 1)).sum() / ((one == a + 1) | (other == b + 1)).sum())
                             for b in range(n)] for a in range(m)]).reshape(m, n)  # fmt: skip
            iou[iou <= threshold] = 0
            rows = range(max(m, n))
            padded = np.zeros((len(rows), len(rows)))
            padded[:m, :n] = iou
            best = max(sum(padded[a, b] for a, b in zip(rows, order)) for order in itertools.permutations(rows))
            assert matches.ious.sum() == pytest.approx(best)
            assert [iou[a, b] for a, b in matches.pairs] == pytest.approx(matches.ious.tolist())
            assert all(len(set(column)) == matches.found for column in matches.pairs.T)
