"""The Medical Similarity Index: how well a test contour follows the reference, inside and outside judged differently.

Source: Fazekas et al., arXiv:2508.09722. Its bidirectional local distance: Kim et al., Medical Physics 2012,
doi:10.1118/1.4754802.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import median

import numpy as np

from ..cores import threads
from ..geometry.contours import insideContours
from ..progress import checkpoint
from .slicecontours import SAME, Contour, Planes, cutApart

# Points asked at a time.
CHUNK = 50_000
# mm (or pixels) at which a score of level 1 has fallen to exp(-1/2).
WIDTH = 10.0
ONE_SIDED = "only the {} has a contour here"
COUNTS_DIFFER = "the reference has {} here, the test {}"
CLAIMED_TWICE = "two contours of the reference are nearest to the same contour of the test"


@dataclass(frozen=True)
class ContourScore:
    """How well one contour of a slice is followed.

    score: in [0, 1]. distance: mean distance of the paired points, mm or pixels. points: how many there are. hole:
    whether the structure lies around the contour.
    """

    score: float
    distance: float
    points: int
    hole: bool


@dataclass(frozen=True)
class SliceScore:
    """How well the contours of one slice are followed.

    index: of the slice on the grid. position: LPS center of the reference's contours in mm, or of the test's where the
    reference has none. score: median of the contours' scores, 0 if flagged. distance: median of their distances, None
    if flagged. flag: why the slice cannot be judged but should be looked at, "" if it can.
    """

    index: int
    position: tuple[float, float, float]
    score: float
    distance: float | None
    flag: str
    contours: tuple[ContourScore, ...]


@dataclass(frozen=True)
class Similarity:
    """How well the contours of a structure are followed, slice by slice.

    slices: in ascending order. axis: the grid's axis (0, 1, 2) across them. unit: of distances, "mm" or "pixel".
    """

    slices: tuple[SliceScore, ...]
    axis: int
    unit: str

    @property
    def score(self) -> float:
        """Median of the slices, in [0, 1]; flagged ones count as 0."""
        return median(one.score for one in self.slices)

    @cached_property
    def paired(self) -> tuple[SliceScore, ...]:
        """The slices that are not flagged."""
        return tuple(one for one in self.slices if not one.flag)

    @property
    def flagged(self) -> tuple[SliceScore, ...]:
        """The slices that should be looked at."""
        return tuple(one for one in self.slices if one.flag)

    @property
    def pairedScore(self) -> float:
        """Median of the slices that are not flagged, 0 when all are."""
        return median(one.score for one in self.paired) if self.paired else 0.0

    @property
    def pairedDistance(self) -> float:
        """Median distance of the slices that are not flagged, infinite when all are."""
        return median(one.distance for one in self.paired) if self.paired else math.inf

    def toDictionary(self) -> dict:
        """Return plain values for JSON."""
        values = asdict(self)
        values["slices"] = [
            {**one, "position": list(one["position"]), "contours": list(one["contours"])} for one in values["slices"]
        ]
        return values

    @staticmethod
    def fromDictionary(data: Mapping) -> Similarity:
        """Return what toDictionary() described."""
        slices = (
            SliceScore(
                **{
                    **one,
                    "position": tuple(one["position"]),
                    "contours": tuple(ContourScore(**contour) for contour in one["contours"]),
                }
            )
            for one in data["slices"]
        )
        return Similarity(tuple(slices), data["axis"], data["unit"])


@dataclass(frozen=True)
class Levels:
    """How severely deviations are judged: inside the reference, and outside; 1 is the usual level."""

    inside: float = 1.0
    outside: float = 1.0

    def scores(self, distances: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Return the scores (n,) in [0, 1] of distances (n,): 1 at 0; sides: -1 inside, 1 outside, 0 on the contour.

        On the contour the milder level counts.
        """
        milder = min(self.inside, self.outside)
        return weight(distances, np.choose(np.asarray(sides, int) + 1, [self.inside, milder, self.outside]))


def weight(distances: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    """Return W(d, l) = exp(-d² / (2 (10 / l)²)), in (0, 1], of distances d in mm (pixels) at a level l."""
    return np.exp(-0.5 * (np.asarray(distances) * level / WIDTH) ** 2)


def localDistances(
    points: np.ndarray, others: np.ndarray, shift: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bidirectional local distances (n,) of points (n, d) after a shift (n, d), and of the pairs without it.

    The first is the larger of the distance to the closest one of the others (m, d) and of the largest distance of those
    others that have the point as their closest one. It pairs the point with one of the others; the second is how far
    apart the two lie. Where several others are equally far, to a tolerance, the pair that lies farthest apart counts.
    """
    from scipy.spatial import cKDTree

    moved = points + shift
    # trees that need not be balanced are made faster
    trees = [cKDTree(values, balanced_tree=False) for values in (others, moved)]
    mine, closest, forward = _allClosest(moved, trees[0], tolerance)
    other, closestMine, backward = _allClosest(others, trees[1], tolerance)
    first, second = np.concatenate([mine, closestMine]), np.concatenate([closest, other])
    distances = np.concatenate([forward, backward])
    local, unmoved = np.zeros(len(points)), np.zeros(len(points))
    np.maximum.at(local, first, distances)
    realized = distances >= local[first] - tolerance
    first, second = first[realized], second[realized]
    apart = points[first] - others[second]
    np.maximum.at(unmoved, first, np.sqrt(np.einsum("nx,nx->n", apart, apart)))
    return local, unmoved


def _allClosest(points: np.ndarray, tree, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which points (n,) have which ones in a tree (n,) at which distances (n,), such that none is closer."""
    found = []
    for first in range(0, len(points), CHUNK):
        checkpoint()
        rest, count = np.arange(first, min(first + CHUNK, len(points))), 2
        while len(rest):
            count = min(count, tree.n)
            distances, numbers = (
                values.reshape(len(rest), count) for values in tree.query(points[rest], k=count, workers=threads())
            )
            ties = distances <= distances[:, :1] + tolerance
            # further ones may be as close
            unclear = ties[:, -1] & (count < tree.n)
            row, column = np.nonzero(ties & ~unclear[:, None])
            found.append((rest[row], numbers[row, column], distances[row, column]))
            rest, count = rest[unclear], 4 * count
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))


# (contour of the reference, contour of the test)
ContourPair = tuple[Contour, Contour]


def paired(reference: list[Contour], test: list[Contour]) -> tuple[list[ContourPair], str]:
    """Return which contours of a slice belong together, by the closest center of mass, and why that fails, "" if not.

    Holes are paired with holes.
    """
    if not (reference and test):
        return [], ONE_SIDED.format("reference" if reference else "test")
    pairs = []
    for hole in (False, True):
        mine, other = ([c for c in contours if c.isHole == hole] for contours in (reference, test))
        if len(mine) != len(other):
            return [], COUNTS_DIFFER.format(*(_counted(len(c), "hole" if hole else "contour") for c in (mine, other)))
        if not mine:
            continue
        apart = np.linalg.norm(
            np.array([c.center for c in mine])[:, None] - np.array([c.center for c in other]), axis=2
        )
        nearest = apart.argmin(axis=1).tolist()
        if len(set(nearest)) < len(nearest):
            return [], CLAIMED_TWICE
        pairs += [(c, other[number]) for c, number in zip(mine, nearest, strict=True)]
    return pairs, ""


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


Slices = Mapping[int, list[Contour]]
# From positions (n, 2) and the slices (n,) that they are in to whether they are inside the reference.
Inside = Callable[[np.ndarray, np.ndarray], np.ndarray]


def insidePolygons(reference: Slices) -> Inside:
    """Return the function that tells what is inside contours that are not those of pixels, by the even-odd rule."""

    def inside(positions: np.ndarray, slices: np.ndarray) -> np.ndarray:
        result = np.zeros(len(positions), bool)
        for index in np.unique(slices).tolist():
            here = slices == index
            start = np.concatenate([c.points for c in reference[index]])
            steps = np.concatenate([c.steps for c in reference[index]])
            result[here] = insideContours(positions[here], start, start + steps)
        return result

    return inside


def measure(
    reference: Slices, test: Slices, planes: Planes, levels: Levels, inside: Inside, splits: bool = False
) -> Similarity:
    """Return how well the contours of a test follow those of the reference, neither empty, slice by slice.

    1. paired() finds the contours of a slice that belong together.
    2. contourScores() puts points on them at equal steps of half a pixel's smaller side. There localDistances() pairs
       the points as if the two centers of mass coincided, but measures them where they are; sidesOf() tells which lie
       inside the reference; Levels.scores() weights every distance by weight(); a contour has the mean of its points.
    3. sliceScore() takes the median of the contours of a slice.
    4. Similarity.score takes that of the slices, Similarity.pairedScore and pairedDistance that of the paired ones.

    splits: cut contours in two where that makes their numbers equal.
    """
    judged = []
    for index in sorted({*reference, *test}):
        mine, other = reference.get(index, []), test.get(index, [])
        if splits:
            mine, other = _evened(mine, other, planes.pixelArea)
        pairs, flag = paired(mine, other)
        judged.append((index, position(index, mine or other, planes), pairs, flag))
    together = [(index, pair) for index, _, pairs, _ in judged for pair in pairs]
    scores = iter(contourScores(together, planes.step, levels, inside))
    return Similarity(
        tuple(
            sliceScore(index, center, tuple(next(scores) for _ in pairs), flag) for index, center, pairs, flag in judged
        ),
        planes.axis,
        planes.unit,
    )


def _evened(mine: list[Contour], other: list[Contour], pixelArea: float) -> tuple[list[Contour], list[Contour]]:
    """Return the contours of a slice; of one side as many as of the other, if cutting makes them so."""
    counts = [sum(not c.isHole for c in contours) for contours in (mine, other)]
    holes = [len(contours) - count for contours, count in zip((mine, other), counts, strict=True)]
    cut = [
        cutApart(contours, max(counts) + have, pixelArea) if 0 < count < max(counts) else contours
        for contours, count, have in zip((mine, other), counts, holes, strict=True)
    ]
    complete = [len(contours) - have == max(counts) for contours, have in zip(cut, holes, strict=True)]
    return tuple(cut) if all(complete) else (mine, other)


def position(index: int, contours: list[Contour], planes: Planes) -> tuple[float, float, float]:
    """Return the LPS center in mm of the longest contour of a slice."""
    longest = max(contours, key=lambda contour: contour.lengths.sum())
    return tuple(planes.toWorld(index, longest.center).tolist())


def sliceScore(
    index: int, center: tuple[float, float, float], contours: tuple[ContourScore, ...], flag: str
) -> SliceScore:
    """Return the score of a slice from those of its contours; none count when it is flagged."""
    if flag:
        return SliceScore(index, center, 0.0, None, flag, ())
    score, distance = median(c.score for c in contours), median(c.distance for c in contours)
    return SliceScore(index, center, score, distance, "", contours)


def contourScores(
    pairs: list[tuple[int, ContourPair]], step: float, levels: Levels, inside: Inside
) -> list[ContourScore]:
    """Return the scores of pairs of contours and the slices that they are in, all at once: the means of their points.

    step: between the points, in the unit of the contours.
    """
    if not pairs:
        return []
    others, points, shifts = [], [], []
    for _, (mine, other) in pairs:
        shift = mine.center - other.center
        others.append(mine.resampled(step, mine.startToward(-shift, other)))
        points.append(other.resampled(step, other.startToward(-shift, mine)))
        shifts.append(shift)
    counts = [len(p) for p in points]
    flat = np.concatenate(points)
    _, distances = localDistances(
        *_layered(points, others, shifts), np.repeat(_raised(shifts), counts, axis=0), SAME * step
    )
    if levels.inside == levels.outside:
        sides = np.zeros(len(flat), int)
    else:
        sides = sidesOf(flat, np.repeat([index for index, _ in pairs], counts), inside, SAME * step)
    scores = levels.scores(distances, sides)
    starts = np.cumsum([0, *counts[:-1]])
    means = (np.add.reduceat(values, starts) / counts for values in (scores, distances))
    return [
        ContourScore(float(score), float(distance), count, mine.isHole)
        for score, distance, count, (_, (mine, _)) in zip(*means, counts, pairs, strict=True)
    ]


def _raised(shifts: list[np.ndarray]) -> np.ndarray:
    return np.column_stack([shifts, np.zeros(len(shifts))])


def _layered(
    points: list[np.ndarray], others: list[np.ndarray], shifts: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) and others (m, 3), each set (k, 2) of the lists so far above the last that none meet.

    shifts: how far each set of the points is going to be moved in its plane.
    """
    span = max(np.abs(np.concatenate(sets)).max() for sets in (points, others)) + np.abs(shifts).max()
    return tuple(
        np.concatenate([np.column_stack([p, np.full(len(p), 4 * span * layer)]) for layer, p in enumerate(sets)])
        for sets in (points, others)
    )


def sidesOf(points: np.ndarray, slices: np.ndarray, inside: Inside, tolerance: float) -> np.ndarray:
    """Return for points (n, 2) -1 inside the reference, 1 outside, 0 on its contours to a tolerance."""
    around = [(a * tolerance, b * tolerance) for a in (-1, 1) for b in (-1, 1)]
    count = np.sum([inside(points + corner, slices) for corner in around], axis=0)
    return np.where(count == 0, 1, np.where(count == len(around), -1, 0))


def surfaceScore(
    points: np.ndarray, sizes: np.ndarray, others: np.ndarray, otherSizes: np.ndarray, levels: Levels, sides: np.ndarray
) -> float:
    """Return MSI3D, the index on whole boundaries, in [0, 1]: the elements' scores weighted by their sizes.

    points (n, 3), sizes (n,): of the test's elements in mm; others, otherSizes: of the reference's. sides (n,): -1
    inside the reference, 1 outside. Elements are paired by their centers.
    """
    weights = sizes / sizes.sum()
    shift = otherSizes @ others / otherSizes.sum() - weights @ points
    tolerance = SAME * math.sqrt(float(otherSizes.mean()))
    _, distances = localDistances(points, others, np.broadcast_to(shift, points.shape), tolerance)
    return min(float(weights @ levels.scores(distances, sides)), 1.0)
