"""Vessels: gaps are found whatever the width of a branch and wherever the grid starts; Betti numbers of solids."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import shapes
from findingwork import ofKind
from sayings import says
from scipy.ndimage import label
from scipy.spatial import cKDTree
from skimage.morphology import skeletonize
from tiers import rarely

from SegmentMetricsLib import Comparison, Settings, compare

SIZE = 64
PLACES = np.stack(np.indices((SIZE,) * 3), axis=-1).reshape(-1, 3).astype(float)


def topologyOf(reference: np.ndarray, test: np.ndarray, spacing=(1.0, 1.0, 1.0)) -> Comparison:
    images = (shapes.imageOf(array, spacing) for array in (reference, test))
    return compare(*images, Settings(metrics="topology"))


def remarkOn(found: Comparison, key: str = "clDice") -> str:
    """Return what is remarked on a measurement: on clDice, what thinning the voxels loses."""
    return next((text for text in ofKind(found, "remark") if key in text), "")


class Tree:
    """A bent or straight stem with branches, at any offset; each has a line, lengths along it, and a radius."""

    def __init__(self, rng: np.random.Generator):
        along = np.linspace(0, 1, 400)
        offset = rng.uniform(-0.5, 0.5, 3) if rng.random() < 0.5 else rng.choice([0, 0.5], 3)
        stem = np.outer(48 * along, [1, 0, 0]) + np.add([8, 32, 32], offset)
        if rng.random() < 0.5:
            turns = rng.random(2) * 6
            stem += rng.uniform(1, 5) * np.c_[0 * along, np.sin(3 * along + turns[0]), np.cos(3 * along + turns[1])]
        self.lines, self.radii = [stem], [self.radius(rng)]
        for _ in range(rng.integers(2, 4)):
            way = rng.normal(size=3) * [0.3, 1, 1]
            if rng.random() < 0.5:  # along an axis
                way *= np.arange(3) == rng.integers(1, 3)
            way /= np.linalg.norm(way)
            bend = rng.normal(size=3) * rng.choice([0, 2])
            start = stem[rng.integers(80, 320)]
            self.lines.append(start + np.outer(rng.uniform(12, 20) * along, way) + np.outer(along**2, bend))
            self.radii.append(self.radius(rng))
        steps = [np.linalg.norm(np.diff(line, axis=0), axis=1) for line in self.lines]
        self.along = [np.append(0, np.cumsum(some)) for some in steps]

    @staticmethod
    def radius(rng: np.random.Generator) -> float:
        return float(rng.choice([1, 1.5, 2, 2.5, 3]) if rng.random() < 0.5 else rng.uniform(1, 3))

    def cut(self, rng: np.random.Generator) -> tuple[int, float, float] | None:
        """Return a branch, and from where to where along it a piece is missing that is far from other branches."""
        number = int(rng.integers(len(self.lines)))
        line, along, radius = self.lines[number], self.along[number], self.radii[number]
        most = along[-1]
        if rng.random() < 0.5:  # out of the middle
            length = max(4.0, 0.2 * most) * rng.choice([1, rng.uniform(1, 1.5)])
            low = rng.uniform(1, most - length - 1)
        else:  # off the tip
            length = (radius + 3) * rng.choice([1, rng.uniform(1, 1.5)])
            low = most - length
        piece = line[(along >= low) & (along <= low + length)]
        others = ((other, at) for at, other in enumerate(self.lines) if at != number)
        isFar = all(cKDTree(o).query(piece)[0].min() > 2 * max(radius, self.radii[at]) + 1 for o, at in others)
        return (number, low, low + length) if isFar else None

    def voxels(self, shift: float = 0.0, cut: tuple[int, float, float] | None = None) -> np.ndarray:
        inside = np.zeros(len(PLACES), bool)
        for number, (line, along, radius) in enumerate(zip(self.lines, self.along, self.radii, strict=True)):
            low, high = line.min(axis=0) + shift - radius, line.max(axis=0) + shift + radius
            rows = np.flatnonzero(((low <= PLACES) & (high >= PLACES)).all(axis=1))
            distances, nearest = cKDTree(line + shift).query(PLACES[rows], distance_upper_bound=radius)
            isIn = np.isfinite(distances)
            if cut is not None and cut[0] == number:
                at = along[np.minimum(nearest, len(along) - 1)]
                isIn &= (at < cut[1]) | (at > cut[2])
            inside[rows[isIn]] = True
        return inside.reshape((SIZE,) * 3)


def treeWithCut(seed: int) -> tuple[Tree, tuple[int, float, float]]:
    rng = np.random.default_rng(seed)
    while True:
        tree = Tree(rng)
        for _ in range(20):
            if (cut := tree.cut(rng)) is not None:
                return tree, cut


@pytest.mark.parametrize("count", [3, *rarely([200])])
def testRandomTrees(count):
    """Every missing piece is a gap, and half a voxel further clDice is the same."""
    moved, lost = [], 0
    for seed in range(count):
        tree, cut = treeWithCut(seed)
        whole = tree.voxels()
        itself, found = topologyOf(whole, whole), topologyOf(whole, tree.voxels(cut=cut))
        further = topologyOf(tree.voxels(0.5), tree.voxels(0.5, cut))
        assert found["Gaps"].value >= 1 and further["Gaps"].value >= 1, seed
        assert [itself[key].value for key in ("clDice", "Gaps", "Spurs")] == [1, 0, 0], seed
        if remarkOn(found):
            lost += 1
            if cut[2] < tree.along[cut[0]][-1]:
                assert found["GapLength"].value == pytest.approx(cut[2] - cut[1], abs=3), seed
        moved.append(abs(found["clDice"].value - further["clDice"].value))
    assert lost  # thinning the voxels alone does not do
    assert max(moved) <= 0.06 and np.mean(np.array(moved) <= 0.03) >= 0.95


class TestEvenWidths:
    @pytest.mark.parametrize("width", [(2, 2), (3, 4), (4, 4)])
    def testGapHasItsLength(self, width):
        bar = np.zeros((16, 16, 80), bool)
        bar[6 : 6 + width[0], 5 : 5 + width[1], 4:-4] = True
        cut = bar.copy()
        cut[:, :, 30:37] = False
        for axis in range(3):
            spacing = np.roll([0.7, 1.1, 2.0], axis)
            arrays = [np.moveaxis(array, 2, 2 - axis) for array in (bar, cut)]
            found = topologyOf(*arrays, spacing.tolist())
            (gap,) = found.gaps
            assert gap.length == pytest.approx(7 * spacing[axis]) and gap.voxels == 7
            assert gap.position[axis] == pytest.approx(33 * spacing[axis])
            assert found["Spurs"].value == 0 and 0.9 < found["clDice"].value < 0.97

    def testOddWidthsAreThoseOfTheVoxels(self):
        for width, isFlat in itertools.product((1, 3, 5), (False, True)):
            bar = np.zeros((1 if isFlat else 20, 20, 60), bool)
            bar[0 if isFlat else slice(8, 8 + width), 8 : 8 + width, 5:-5] = True
            cut = bar.copy()
            cut[..., 40:] = False
            thin = [skeletonize(array[0])[None] if isFlat else skeletonize(array) for array in (bar, cut)]
            found = topologyOf(*((bar[0], cut[0]) if isFlat else (bar, cut)))
            assert found["Tsens"].value == pytest.approx((thin[0] & cut).sum() / thin[0].sum())
            assert found["Tprec"].value == 1 and found["Gaps"].value == 1 and not remarkOn(found)

    def testMissingBranchByBruteForce(self):
        """On the lattice of twice the resolution, made of the cells, faces, edges and corners one by one."""
        tree = np.zeros((40, 40, 40), bool)
        tree[3:37, 18:21, 18:21] = tree[20:24, 17:21, 20:37] = tree[28:30, 3:20, 18:20] = True
        pruned = tree.copy()
        pruned[20:24, 17:21, 22:37] = False
        found = topologyOf(tree, pruned)

        def closed(array: np.ndarray) -> np.ndarray:
            lattice = np.zeros(np.array(array.shape) * 2 + 1, bool)
            for step in itertools.product((0, 1, 2), repeat=3):
                lattice[tuple((2 * np.argwhere(array) + step).T)] = True
            return lattice

        a, b = closed(tree), closed(pruned)
        thinA, thinB = skeletonize(a), skeletonize(b)
        precision, sensitivity = (thinB & a).sum() / thinB.sum(), (thinA & b).sum() / thinA.sum()
        assert found["clDice"].value == pytest.approx(2 * precision * sensitivity / (precision + sensitivity))
        assert found["Tsens"].value == pytest.approx(sensitivity)
        assert found["GapLength"].value == pytest.approx(15, abs=2)
        thinA, thinB = skeletonize(tree), skeletonize(pruned)
        shares = (thinB & tree).sum() / thinB.sum(), (thinA & pruned).sum() / thinA.sum()
        alone = 2 * shares[0] * shares[1] / sum(shares)
        says(remarkOn(found), f"{alone:.3f}")

    def testWhatIsLostIsNamed(self):
        bar = np.zeros((60, 12, 12), bool)
        bar[5:55, 4:8, 4:8] = True
        half = bar.copy()
        half[30:] = False
        says(remarkOn(topologyOf(bar, half)), "reference 4", "test 2", "L 6 P 6 S 30", "L 6 P 6 S 17")


def testPartsWithoutGap():
    """A part that only the test has is a spur, and no gap."""
    bar = np.zeros((12, 12, 40), bool)
    bar[4:7, 4:7, 3:20] = True
    more = bar.copy()
    more[4:7, 4:7, 30:36] = True
    found = topologyOf(bar, more)
    assert [found[key].value for key in ("BettiError0", "Gaps", "Spurs")] == [1, 0, 1]
    says(remarkOn(found, "BettiError0"), "1")
    assert not remarkOn(topologyOf(more, bar), "BettiError0")


# Betti numbers of hand-made solids, and center lines of what is cut, or goes astray


Z, Y, X = np.mgrid[:24, :40, :40].astype(float)


def torus(x: float, y: float, isUpright: bool = False) -> np.ndarray:
    u, v, w = (X - x, Z - 12, Y - y) if isUpright else (X - x, Y - y, Z - 12)
    return (np.hypot(u, v) - 8) ** 2 + w**2 < 4


def ball(radius: float) -> np.ndarray:
    return radius**2 > (X - 20) ** 2 + (Y - 20) ** 2 + (Z - 12) ** 2


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
        found = topologyOf(reference, test)
        assert [found[f"BettiError{k}"].value for k in range(3)] == [0, 1, 0] and found["BettiError"].value == 1
        nothing = compare(shapes.imageOf(reference), shapes.imageOf(0 * test), Settings(metrics="BettiError"))
        assert nothing["BettiError"].value == 3


class TestCenterLines:
    def testClDiceIsTheFormulaOfThePaper(self):
        a = bent(7, 1.8)
        b = strayed(a)
        thinA, thinB = skeletonize(a) > 0, skeletonize(b) > 0
        precision, sensitivity = (thinB & (a > 0)).sum() / thinB.sum(), (thinA & (b > 0)).sum() / thinA.sum()
        found = topologyOf(a, b)
        expected = 2 * precision * sensitivity / (precision + sensitivity)
        assert found["clDice"].value == pytest.approx(expected, abs=1e-12)
        assert found["Gaps"].value == label(thinA & (b == 0), np.ones((3, 3, 3)))[1]
        assert found["Spurs"].value == label(thinB & (a == 0), np.ones((3, 3, 3)))[1]

    def testLengthsAreThoseOfAShortestTree(self):
        """One by one, the shortest link first that joins what is not joined; of equally long ones, those outside.

        Also where directions are rounded, as in files, so that links along diagonals are not quite equally long.
        """
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
        found = topologyOf(array, large)
        # as in the source, shares are those of what is left when all is thinned
        assert (found["Gaps"].value, found["Tsens"].value, found["Tprec"].value) == (1, 1, 1)
        # where nothing is left, the voxels that stand for the parts count
        block = shapes.imageOf(array - large)
        assert compare(block, block, Settings(metrics="topology"))["clDice"].value == 1

    def testWithoutScikitImage(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "skimage.morphology", None)
        found = topologyOf(torus(20, 20), torus(20, 20))
        assert says(found["clDice"].reason, "scikit-image") and found["BettiError"].value == 0
