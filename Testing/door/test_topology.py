"""Topology: Betti numbers of hand-made solids, and center lines of tubes that are cut, or go astray."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import shapes
from scipy.ndimage import label

from SegmentMetricsLib import Settings, compare

Z, Y, X = np.mgrid[:24, :40, :40].astype(float)


def torus(x: float, y: float, isUpright: bool = False) -> np.ndarray:
    u, v, w = (X - x, Z - 12, Y - y) if isUpright else (X - x, Y - y, Z - 12)
    return (np.hypot(u, v) - 8) ** 2 + w**2 < 4


def ball(radius: float) -> np.ndarray:
    return radius**2 > (X - 20) ** 2 + (Y - 20) ** 2 + (Z - 12) ** 2


def tube(length: int = 60, cut: slice | None = None) -> np.ndarray:
    z, y, _x = np.mgrid[:15, :15, :length]
    array = ((z - 7) ** 2 + (y - 7) ** 2 < 12).astype(np.uint8)
    array[:, :, :4] = array[:, :, -4:] = 0
    if cut:
        array[:, :, cut] = 0
    return array


def bent(seed: int, radius: float) -> np.ndarray:
    """Return a bent tube with a bent branch."""
    rng = np.random.default_rng(seed)
    along = np.linspace(0, 1, 200)[:, None]
    ends, turns = rng.uniform(6, [18, 34, 34], (3, 2, 3)), rng.normal(size=(2, 3)) * 4
    stem = ends[0, 0] + along * (ends[0, 1] - ends[0, 0]) + np.sin(3 * along) * turns[0]
    branch = stem[100] + along * (ends[1, 0] - stem[100]) + np.sin(3 * along) * turns[1] * along
    line = np.concatenate([stem, branch])
    away = np.min([(Z - z) ** 2 + (Y - y) ** 2 + (X - x) ** 2 for z, y, x in line[::4]], axis=0)
    return away <= radius**2


def strayed(array: np.ndarray) -> np.ndarray:
    """Return an array whose right half is moved aside by two voxels."""
    moved = np.roll(array, 2, (1, 2))
    moved[:, :, :20] = array[:, :, :20]
    return moved


def bettiNumbers(array: np.ndarray) -> tuple[float, ...]:
    """Return separate parts, tunnels and cavities, which are those of the difference from nothing."""
    keys = ("BettiError0", "BettiError1", "BettiError2")
    found = compare(shapes.imageOf(array), shapes.imageOf(0 * array), Settings(metrics=keys))
    return tuple(found[key].value for key in keys)


SOLIDS = {
    "ball": (ball(9), (1, 0, 0)),
    "torus": (torus(20, 20), (1, 1, 0)),
    "hollow ball": (ball(9) & ~ball(5), (1, 0, 1)),
    "linked rings": (torus(14, 20) | torus(22, 20, isUpright=True), (2, 2, 0)),
    "figure eight": (torus(11, 20) | torus(28, 20), (1, 2, 0)),
    "ball in a hollow ball": (ball(9) & ~ball(6) | ball(3), (2, 0, 1)),
    "corner to corner": (np.eye(3, dtype=bool)[:, :, None] & np.eye(3, dtype=bool)[:, None], (1, 0, 0)),
    "plane with two holes": (np.array([[[1, 1, 1, 1, 1], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1]]], bool), (1, 2, 0)),
}


class TestBettiNumbers:
    @pytest.mark.parametrize("name", SOLIDS)
    def testSolids(self, name):
        array, expected = SOLIDS[name]
        assert bettiNumbers(array) == expected

    def testEulerCharacteristicIsThatOfTheCellsCountedOneByOne(self):
        rng = np.random.default_rng(3)
        for share in (0.1, 0.5, 0.9):
            array = rng.random((4, 5, 6)) < share
            cells = {
                tuple(2 * np.array(voxel) + step)  # even along an axis: inside the voxel; odd: on its border
                for voxel in np.argwhere(array)
                for step in itertools.product((-1, 0, 1), repeat=3)
            }
            signs = [(-1) ** sum(coordinate % 2 == 0 for coordinate in cell) for cell in cells]
            parts, tunnels, cavities = bettiNumbers(array)
            assert parts - tunnels + cavities == sum(signs)

    def testErrors(self):
        # the first torus is open at one place, and there is a hollow ball beside it
        reference, test = torus(11, 20) | torus(28, 20), torus(11, 20)
        found = compare(shapes.imageOf(reference), shapes.imageOf(test), Settings(metrics="topology"))
        assert [found[f"BettiError{k}"].value for k in range(3)] == [0, 1, 0] and found["BettiError"].value == 1
        nothing = compare(shapes.imageOf(reference), shapes.imageOf(0 * test), Settings(metrics="BettiError"))
        assert nothing["BettiError"].value == 3


class TestCenterLines:
    def testClDiceIsTheFormulaOfThePaper(self):
        from skimage.morphology import skeletonize

        a = bent(7, 1.8)
        b = strayed(a)
        thinA, thinB = skeletonize(a) > 0, skeletonize(b) > 0
        precision, sensitivity = (thinB & (a > 0)).sum() / thinB.sum(), (thinA & (b > 0)).sum() / thinA.sum()
        found = compare(shapes.imageOf(a), shapes.imageOf(b), Settings(metrics="topology"))
        expected = 2 * precision * sensitivity / (precision + sensitivity)
        assert found["clDice"].value == pytest.approx(expected, abs=1e-12)
        assert found["Gaps"].value == label(thinA & (b == 0), np.ones((3, 3, 3)))[1]
        assert found["Spurs"].value == label(thinB & (a == 0), np.ones((3, 3, 3)))[1]

    def testLengthsAreThoseOfAShortestTree(self):
        """One by one, the shortest link first that joins what is not joined; of equally long ones, those outside.

        Also where directions are rounded, as in files, so that links along diagonals are not quite equally long.
        """
        from skimage.morphology import skeletonize

        spacing = (0.9, 1.1, 2.5)
        a = bent(7, 1.8)
        b = strayed(a)
        places = [tuple(place) for place in np.argwhere(skeletonize(b))]
        isOutside = {place: not a[place] for place in places}
        links = []
        for one, other in itertools.combinations(places, 2):
            if max(abs(p - q) for p, q in zip(one, other)) == 1:
                length = math.hypot(*((p - q) * side for p, q, side in zip(one, other, spacing[::-1])))
                links.append((round(length, 9), 2 - isOutside[one] - isOutside[other], one, other))
        trees, expected = {place: {place} for place in places}, 0.0
        for length, covered, one, other in sorted(links):
            if trees[one] is not trees[other]:
                trees[one] |= trees[other]
                trees.update(dict.fromkeys(trees[other], trees[one]))
                expected += length * (2 - covered) / 2
        assert expected > 10
        for seed in range(4):
            noise = np.random.default_rng(seed).uniform(-3e-7, 3e-7, (3, 3)) if seed else 0
            images = [shapes.imageOf(array, spacing, direction=np.eye(3) + noise) for array in (a, b)]
            found = compare(*images, Settings(metrics="SpurLength"))
            assert found["SpurLength"].value == pytest.approx(expected, rel=1e-5)

    def testEveryPartHasACenterLine(self):
        array = np.zeros((9, 9, 20), np.uint8)
        array[2:4, 2:4, 2:4] = 1  # thinning removes it, and keeps two voxels of the other one
        array[2:6, 3:8, 10:16] = 1
        large = array.copy()
        large[2:4, 2:4, 2:4] = 0
        found = compare(shapes.imageOf(array), shapes.imageOf(large), Settings(metrics="topology"))
        # as in the source, shares are those of what is left when all is thinned
        assert (found["Gaps"].value, found["Tsens"].value, found["Tprec"].value) == (1, 1, 1)
        # where nothing is left, the voxels that stand for the parts count
        block = shapes.imageOf(array - large)
        assert compare(block, block, Settings(metrics="topology"))["clDice"].value == 1

    def testWithoutScikitImage(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "skimage.morphology", None)
        found = compare(shapes.imageOf(tube()), shapes.imageOf(tube()), Settings(metrics="topology"))
        assert "scikit-image" in found["clDice"].reason and found["BettiError"].value == 0
