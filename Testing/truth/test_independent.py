"""A second opinion: every metric but those of surfaces again, by its formula, one voxel and one point at a time.

Nothing here is fast, and nothing is shared with the library: that both agree is what tells that either is right.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from shapes import imageOf, rotation
from tiers import rarely

from SegmentMetricsLib import Grid, Settings, Structure, compare
from SegmentMetricsLib.geometry.masks import Mask

EPSILON = 1e-8


def quotient(a: float, b: float) -> float:
    return a / b if b else math.nan


def agreement(g, t, betas=()) -> dict[str, float]:
    """Overlap and agreement of memberships g (reference) and t (test) of all voxels of the evaluated grid."""
    g, t = (np.asarray(f, float).ravel() for f in (g, t))
    tp, fp = sum(min(a, b) for a, b in zip(t, g)), sum(max(a - b, 0) for a, b in zip(t, g))
    tn, fn = sum(min(1 - a, 1 - b) for a, b in zip(t, g)), sum(max(b - a, 0) for a, b in zip(t, g))
    middle = (g + t) / 2
    between = quotient(2 * sum((middle - middle.mean()) ** 2), len(g) - 1)
    within = sum((g - middle) ** 2 + (t - middle) ** 2) / len(g)
    return {
        **ofCounts(tp, fp, tn, fn, betas),
        "ICC": quotient(between - within, between + within),
        "PBD": sum(abs(g - t)) / (2 * sum(g * t)) if sum(g * t) else math.inf,
    }


def ofCounts(tp, fp, tn, fn, betas=()) -> dict:
    """The same of voxels that belong to a structure or do not: exactly, if the counts are fractions."""
    n = tp + fp + tn + fn
    tpr, ppv, tnr = quotient(tp, tp + fn), quotient(tp, tp + fp), quotient(tn, tn + fp)
    squares = tp**2 + tn**2 + fp**2 + fn**2
    a = sum(count * (count - 1) for count in (tp, fp, tn, fn)) / 2
    b = ((tp + fn) ** 2 + (tn + fp) ** 2 - squares) / 2
    c = ((tp + fp) ** 2 + (tn + fn) ** 2 - squares) / 2
    d = n * (n - 1) / 2 - (a + b + c)
    ofReference, ofTest = entropy(tp + fn, tn + fp), entropy(tp + fp, tn + fn)
    information = ofReference + ofTest - entropy(tp, fp, tn, fn)
    mean, within = (2 * tp + fp + fn) / (2 * n), (fp + fn) / (2 * n)
    between = 2 * quotient(tp * (1 - mean) ** 2 + (fp + fn) * (1 - 2 * mean) ** 2 / 4 + tn * mean**2, n - 1)
    chance = ((tn + fn) * (tn + fp) + (fp + tp) * (fn + tp)) / n
    oneWay = quotient(fn * (fn + 2 * tp), tp + fn) + quotient(fp * (fp + 2 * tn), tn + fp)
    otherWay = quotient(fp * (fp + 2 * tp), tp + fp) + quotient(fn * (fn + 2 * tn), tn + fn)
    counts = {"TP": tp, "FP": fp, "FN": fn, "TN": tn}
    rates = {"TPR": tpr, "PPV": ppv, "TNR": tnr, "FPR": 1 - tnr, "FNR": 1 - tpr}
    result = {
        **counts,
        **rates,
        "DSC": 2 * tp / (2 * tp + fp + fn),
        "IoU": tp / (tp + fp + fn),
        "ACC": (tp + tn) / n,
        "GCE": (min(oneWay, otherWay) + 0 * otherWay) / n,  # undefined if either way is
        "VS": 1 - abs(fn - fp) / (2 * tp + fp + fn),
        "RI": quotient(a + d, a + b + c + d),
        "ARI": quotient(2 * (a * d - b * c), c**2 + b**2 + 2 * a * d + (a + d) * (c + b)),
        "MI": information,
        "VOI": ofReference + ofTest - 2 * information,
        "ICC": quotient(between - within, between + within),
        "PBD": quotient(fp + fn, 2 * tp),
        "KAP": quotient(tp + tn - chance, n - chance),
        "AUC": 1 - ((1 - tnr) + (1 - tpr)) / 2,
    }
    for beta in betas:
        key = "FMS" if beta == 1 else f"FMS_{beta:g}"
        # without overlap the Dice coefficient is 0, and so is its sibling
        result[key] = (beta**2 + 1) * ppv * tpr / (beta**2 * ppv + tpr) if tp else 0.0
    return result


def entropy(*counts: float) -> float:
    return -sum(n / sum(counts) * math.log2(n / sum(counts)) for n in counts if n > 0)


def directed(points, others) -> list[float]:
    return [min(math.dist(p, q) for q in others) for p in points]


def quantile(values, q: float) -> float:
    """The q-quantile, linear between the sorted values."""
    ordered, place = sorted(values), (len(values) - 1) * q
    low = math.floor(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def voxelDistances(points, others, quantiles=(1.0,)) -> dict[str, float]:
    toTest, toReference = directed(points, others), directed(others, points)
    keys = {q: f"HDvox_{q:g}" if q < 1 else "HDvox" for q in quantiles}
    result = {key: max(quantile(toTest, q), quantile(toReference, q)) for q, key in keys.items()}
    result["AVD"] = max(sum(toTest) / len(toTest), sum(toReference) / len(toReference))
    # both sums by the number of the reference's voxels, those of the first set
    result["bAVD"] = (sum(toTest) + sum(toReference)) / (2 * len(toTest))
    result["MHD"] = mahalanobis(np.asarray(points, float), np.asarray(others, float))
    return result


def mahalanobis(points: np.ndarray, others: np.ndarray) -> float:
    scatter = sum(np.outer(x - c.mean(axis=0), x - c.mean(axis=0)) for c in (points, others) for x in c)
    covariance = scatter / (len(points) + len(others))
    if np.linalg.matrix_rank(covariance) < len(covariance):
        return math.nan
    offset = points.mean(axis=0) - others.mean(axis=0)
    return math.sqrt(offset @ np.linalg.inv(covariance) @ offset)


def hazardAt(point, criticals, settings: Settings) -> float:
    """criticals: pairs of points and weight."""
    terms = []
    for points, weight in criticals:
        d = min(math.dist(point, p) for p in points)
        fallen = max(0.0, 1 - (d / settings.hazardReach) ** settings.hazardPower)
        isExponential = settings.hazardKernel == "exponential"
        terms.append(weight * (math.exp(-d / settings.hazardDecay) if isExponential else fallen))
    return max(terms) if settings.hazardCombination == "max" else min(1.0, sum(terms))


def tailMean(values, share: float) -> float:
    """Mean of the worst share of the values, the last one counted in part."""
    total, left = 0.0, share * len(values)
    for value in sorted(values, reverse=True):
        total += min(1.0, max(left, 0.0)) * value
        left -= 1
    return total / (share * len(values)) if len(values) else 0.0


def hazards(g: np.ndarray, t: np.ndarray, w: np.ndarray, settings: Settings) -> dict[str, float]:
    balance, missed, added = settings.hazardBalance, w[g & ~t], w[~g & t]
    rfn, rfp = missed.sum() / (w[g].sum() + EPSILON), added.sum() / (w[~g].sum() + EPSILON)
    tails = [tailMean(values, settings.hazardTail) for values in (missed, added)]
    return {
        "RFN": rfn,
        "RFP": rfp,
        "SIS": balance * rfn + (1 - balance) * rfp,
        "STAR": balance * tails[0] + (1 - balance) * tails[1],
        "wDice": 2 * w[g & t].sum() / (w[g].sum() + w[t].sum() + EPSILON),
    }


class RandomPair:
    """Two masks on lattices that a whole number of voxels lies between, somewhere in space, and how to compare them."""

    def __init__(self, seed: int):
        random = np.random.default_rng(seed)
        n = 2 if seed % 4 == 0 else 3
        self.spacing, self.origin = random.choice([0.5, 0.977, 1.3, 2.5], n), random.uniform(-100, 100, n)
        self.direction = rotation(random.standard_normal(3) if n == 3 else [0, 0, 1], random.uniform(0, 180))[:n, :n]
        self.direction[:, 0] *= random.choice([-1, 1])  # left-handed
        size, self.shift = random.integers(3, 9, n), random.integers(-4, 5, n) * random.choice([0, 1])
        sizes = (size, random.integers(3, 9, n) if self.shift.any() else size)
        kinds = ["blob", "blob", "box", "voxel", "full"]
        self.masks = [randomMask(random, tuple(s), random.choice(kinds)) for s in sizes]
        self.criticals = {name: randomMask(random, tuple(size), name) for name in ("blob", "box")}
        self.settings = Settings(
            families=("overlap", "agreement", "voxel", "hazard"),
            grid=str(random.choice(["reference", "union"])),
            betas=(1, 0.5, 2),
            quantiles=(1, 0.95, 0.5),
            voxelUnit=str(random.choice(["mm", "voxel"])),
            critical={"blob": float(random.choice([1, 0.4])), "box": 0.7},
            hazardKernel=str(random.choice(["polynomial", "exponential"])),
            hazardReach=float(random.choice([10, 3])),
            hazardPower=float(random.choice([2, 1])),
            hazardDecay=float(random.choice([8, 2])),
            hazardCombination=str(random.choice(["max", "sum"])),
            hazardBalance=float(random.choice([0.7, 0.2])),
            hazardTail=float(random.choice([0.05, 0.3, 1])),
        )

    def image(self, mask: np.ndarray, shift=0):
        """mask: indexed as the spacing, [i, j, k]."""
        origin = self.origin + self.direction @ (self.spacing * shift)
        return imageOf(mask.T, self.spacing.tolist(), origin.tolist(), self.direction)

    def compared(self):
        images = self.image(self.masks[0]), self.image(self.masks[1], self.shift)
        criticals = {name: self.image(mask) for name, mask in self.criticals.items()}
        return compare(*images, self.settings, criticals=criticals)

    def expected(self) -> dict[str, float]:
        mine, other = np.argwhere(self.masks[0]), np.argwhere(self.masks[1]) + self.shift
        low, high = (f([f(mine, axis=0), f(other, axis=0)], axis=0) for f in (np.min, np.max))
        if self.settings.grid == "reference":
            low, high = np.minimum(low, 0), np.maximum(high, np.array(self.masks[0].shape) - 1)
        g, t = np.zeros((2, *(high - low + 1)), bool)
        g[tuple((mine - low).T)] = t[tuple((other - low).T)] = True
        step = self.spacing if self.settings.voxelUnit == "mm" else 1.0
        weights = dict(self.settings.critical)
        criticals = [(np.argwhere(mask) * self.spacing, weights[name]) for name, mask in self.criticals.items()]
        places = (np.argwhere(np.ones_like(g)) + low) * self.spacing
        w = np.reshape([hazardAt(place, criticals, self.settings) for place in places], g.shape)
        voxel = math.prod(self.spacing)
        return {
            **agreement(g, t, self.settings.betas),
            **voxelDistances(mine * step, other * step, self.settings.quantiles),
            **hazards(g, t, w, self.settings),
            "VoxelVolumeReference": len(mine) * voxel,
            "VoxelVolumeTest": len(other) * voxel,
        }


def randomMask(random: np.random.Generator, size: tuple[int, ...], kind: str) -> np.ndarray:
    mask = np.zeros(size, bool)
    if kind == "blob":
        noise = gaussian_filter(random.standard_normal(size), random.uniform(0, 1.5))
        return noise >= np.quantile(noise, random.uniform(0.3, 1))
    if kind == "voxel":
        mask[tuple(random.integers(size))] = True
    else:
        corners = [sorted(random.integers(0, n, 2)) if kind == "box" else (0, n - 1) for n in size]
        mask[tuple(slice(low, high + 1) for low, high in corners)] = True
    return mask


@pytest.mark.parametrize("seed", [*range(12), *rarely(range(12, 30))])
def testRandomPairs(seed):
    pair = RandomPair(seed)
    comparison, expected = pair.compared(), pair.expected()
    found = {key: comparison[key].value for key in expected}
    # the small number in the denominators of hazards shows where there is hardly any
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-7, nan_ok=True)
    surfaces = {"VolumeReference", "VolumeTest", "VolumeDifference"}
    assert set(comparison) - surfaces == set(expected)


@pytest.mark.parametrize("isFuzzy", [False, True])
@pytest.mark.parametrize("shift", [1, 7])
def testHugeGridsAreExact(shift, isFuzzy):
    """A few voxels in 5e8: every measure is the float nearest to what fractions give."""
    grid = Grid((1000, 1000, 500), np.eye(4))
    masks = [Mask(np.ones((20, 20, 20), np.uint8), (400 + n, 500, 250), grid) for n in (0, shift)]
    # memberships, of which none is a fraction, take the other road
    soft = [Mask(mask.voxels.astype(float), mask.offset, grid) if isFuzzy else None for mask in masks]
    structures = [Structure("a", mask, memberships=m) for mask, m in zip(masks, soft)]
    comparison = compare(*structures, Settings(families=("overlap", "agreement")))
    both, either, n = 400 * (20 - shift), 400 * (20 + shift), 5 * 10**8
    expected = ofCounts(*map(Fraction, (both, 400 * shift, n - either, 400 * shift)), betas=(1,))
    assert comparison.grid["evaluated"]["voxels"] == n
    for key in expected.keys() - {"MI", "VOI"}:  # logarithms are no fractions
        assert comparison[key].value == pytest.approx(float(expected[key]), rel=4e-16), key


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cuts", [None, 4])
def testMemberships(seed, cuts):
    random = np.random.default_rng(seed)
    g, t = (np.round(np.clip(gaussian_filter(random.standard_normal((6, 7, 5)), 1) * 3 + 0.3, 0, 1), 2) for _ in "gt")
    g[0, 0, 0] = t[5, 6, 4] = 1.0
    spacing = (0.9, 1.4, 2.2)
    settings = Settings(families=("overlap", "agreement", "voxel"), cuts=cuts)
    comparison = compare(imageOf(g, spacing), imageOf(t, spacing), settings)
    each = []
    for alpha in (np.arange(cuts) + 1) / cuts if cuts else [0.5]:
        mine, other = (np.argwhere(f >= alpha)[:, ::-1] * spacing for f in (g, t))
        each.append(voxelDistances(mine, other))
    expected = agreement(g, t, (1,)) | {key: np.mean([one[key] for one in each]) for key in each[0]}
    assert {key: comparison[key].value for key in expected} == pytest.approx(expected, rel=1e-6, abs=1e-9)


def segmentsOf(mask: np.ndarray, spacing) -> list:
    """The contour [j, i] half-way between pixel centers: one segment across every square of centers that differ."""
    padded, segments = np.pad(mask, 1), []
    for j in range(len(padded) - 1):
        for i in range(len(padded[0]) - 1):
            a, b, c, d = padded[j, i], padded[j, i + 1], padded[j + 1, i + 1], padded[j + 1, i]
            sides = [(a, b, (i + 0.5, j)), (b, c, (i + 1, j + 0.5)), (c, d, (i + 0.5, j + 1)), (d, a, (i, j + 0.5))]
            ends = [np.subtract(point, 1) * spacing for one, next, point in sides if one != next]
            assert len(ends) < 4, "two pixels that touch at a corner only are not for this test"
            if ends:
                segments.append(tuple(ends))
    return segments


def loopOf(segments) -> np.ndarray:
    """The points of the one closed line that segments make, in order."""
    left, loop = segments[1:], [*segments[0]]
    while left:
        for number, (a, b) in enumerate(left):
            if min(math.dist(a, loop[-1]), math.dist(b, loop[-1])) < 1e-9:
                loop.append(b if math.dist(a, loop[-1]) < 1e-9 else a)
                del left[number]
                break
        else:
            raise AssertionError("more than one line")
    return np.array(loop)


def toSegment(p, a, b) -> float:
    along = np.clip(np.dot(p - a, b - a) / np.dot(b - a, b - a), 0, 1)
    return math.dist(p, a + along * (b - a))


def resampled(loop: np.ndarray, step: float) -> np.ndarray:
    lengths = [0.0, *np.cumsum([math.dist(*ends) for ends in pairwise(loop)])]
    at = np.arange(round(lengths[-1] / step)) * lengths[-1] / round(lengths[-1] / step)
    return np.stack([np.interp(at, lengths, loop[:, axis]) for axis in (0, 1)], axis=1)


def isInside(p, loop: np.ndarray) -> bool:
    crossed = [(a, b) for a, b in pairwise(loop) if (a[1] > p[1]) != (b[1] > p[1])]
    return sum(p[0] < a[0] + (p[1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1]) for a, b in crossed) % 2 == 1


def similarityIndex(reference: np.ndarray, test: np.ndarray, spacing, il: float, ol: float) -> float:
    loops = [loopOf(segmentsOf(mask, spacing)) for mask in (reference, test)]
    mine, other = (resampled(loop, min(spacing) / 2) for loop in loops)
    aligned = other - other.mean(axis=0) + mine.mean(axis=0)
    apart = np.linalg.norm(aligned[:, None] - mine, axis=2)
    claims = apart.argmin(axis=0)
    scores = []
    for number, point in enumerate(other):
        candidates = [apart[number].argmin(), *np.flatnonzero(claims == number)]
        partner = max(candidates, key=lambda one: apart[number, one])
        level = il if isInside(point, loops[0]) else ol
        if min(toSegment(point, a, b) for a, b in pairwise(loops[0])) < 1e-6:
            level = min(il, ol)  # on the contour the milder one
        scores.append(math.exp(-(math.dist(point, mine[partner]) ** 2) / (2 * (10 / level) ** 2)))
    return sum(scores) / len(scores)


@pytest.mark.parametrize("il, ol", [pytest.param(1, 1, marks=pytest.mark.nightly), (1, 10), (3, 0.5)])
@pytest.mark.parametrize("case", ["moved disc", "larger disc", "rectangles", "rectangle in disc", "corners"])
def testSimilarityIndex(case, il, ol):
    j, i = np.mgrid[:32, :32]

    def disc(x, y, radius, wide=1.0):
        return ((i * wide - x) ** 2 + (j - y) ** 2) <= radius**2

    def rectangle(left, right, top, bottom):
        return (i >= left) & (i <= right) & (j >= top) & (j <= bottom)

    spacing = (0.7, 1.0) if case == "larger disc" else (1.0, 1.0)
    reference, test = {
        "moved disc": (disc(14, 14, 8), disc(18, 17, 8)),
        "larger disc": (disc(11, 15, 7, 0.7), disc(11, 15, 9, 0.7)),
        "rectangles": (rectangle(5, 20, 10, 20), rectangle(9, 20, 10, 20)),
        "rectangle in disc": (disc(15, 15, 12), rectangle(11, 21, 12, 17)),
        "corners": (rectangle(4, 24, 4, 9) | rectangle(4, 9, 4, 24), rectangle(6, 27, 6, 9) | rectangle(6, 11, 6, 20)),
    }[case]
    settings = Settings(families=("similarity",), il=il, ol=ol)
    found = compare(imageOf(reference, spacing), imageOf(test, spacing), settings)["MSI"].value
    # where the points of either start is nobody's business, and moves the mean a little
    assert found == pytest.approx(similarityIndex(reference, test, spacing, il, ol), abs=0.01)
    if case == "moved disc" and il == ol:
        assert found == pytest.approx(math.exp(-(4**2 + 3**2) / 200), abs=1e-9)
