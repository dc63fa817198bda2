"""The Medical Similarity Index: how well a test contour follows the reference, with separate levels inside and outside.

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

# Points processed at a time.
CHUNK = 50_000
# Distance in mm (or pixels) at which a score of level 1 has fallen to exp(-1/2).
WIDTH = 10.0
ONE_SIDED = "only the {} has a contour here"
COUNTS_DIFFER = "the reference has {} here, the test {}"
CLAIMED_TWICE = "two contours of the reference are nearest to the same contour of the test"


@dataclass(frozen=True)
class ContourScore:
    """How well the test follows one contour of a slice.

    score: in [0, 1]. distance: mean distance of the paired points, mm or pixels. points: number of points. hole:
    whether the structure lies around the contour.
    """

    score: float
    distance: float
    points: int
    hole: bool


@dataclass(frozen=True)
class SliceScore:
    """How well the test follows the contours of one slice.

    index: of the slice on the grid. position: LPS center in mm of the reference's longest contour, or of the test's if
    the reference has none. score: median of the contours' scores, 0 if flagged. distance: median of their distances,
    None if flagged. flag: why the slice cannot be scored and should be reviewed, "" if it can be scored.
    """

    index: int
    position: tuple[float, float, float]
    score: float
    distance: float | None
    flag: str
    contours: tuple[ContourScore, ...]


@dataclass(frozen=True)
class Similarity:
    """How well the test follows the contours of the reference, slice by slice.

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
        """The slices that cannot be scored and should be reviewed."""
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
        """Return the Similarity that toDictionary() described."""
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
    """How severely deviations inside and outside the reference are judged; 1 is the usual level."""

    inside: float = 1.0
    outside: float = 1.0

    def scores(self, distances: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Return the scores (n,) in [0, 1] of distances (n,), 1 for a distance of 0.

        sides: (n,) -1 inside the reference, 1 outside, 0 on the contour, where the milder level applies.
        """
        milder = min(self.inside, self.outside)
        return weight(distances, np.choose(np.asarray(sides, int) + 1, [self.inside, milder, self.outside]))


def weight(distances: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    """Return W(d, l) = exp(-d² / (2 (10 / l)²)), in (0, 1], of distances d in mm (pixels) at a level l."""
    return np.exp(-0.5 * (np.asarray(distances) * level / WIDTH) ** 2)


def localDistances(
    points: np.ndarray, others: np.ndarray, shift: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return bidirectional local distances (n,) of points (n, d) after a shift (n, d), and of their pairs before it.

    The bidirectional local distance of a point is the larger of two: the distance to the closest of the others (m, d),
    and the largest distance of those others whose closest point it is. It pairs the point with one of the others; the
    second result is the distance of this pair without the shift. Of several partners equally far up to the tolerance,
    the one farthest away without the shift counts.
    """
    from scipy.spatial import cKDTree

    moved = points + shift
    # unbalanced trees are faster to build
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
                values.reshape(len(rest), count) for values in tree.query(points[rest], k=count, workers=threads())
            )
            ties = distances <= distances[:, :1] + tolerance
            # further neighbors may be equally close
            unclear = ties[:, -1] & (count < tree.n)
            row, column = np.nonzero(ties & ~unclear[:, None])
            found.append((rest[row], numbers[row, column], distances[row, column]))
            rest, count = rest[unclear], 4 * count
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))


# (contour of the reference, contour of the test)
ContourPair = tuple[Contour, Contour]


def paired(reference: list[Contour], test: list[Contour]) -> tuple[list[ContourPair], str]:
    """Return the pairs of contours of a slice by closest center of mass, and why pairing failed, "" if it did not.

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
# Maps positions (n, 2) and their slices (n,) to whether they are inside the reference.
Inside = Callable[[np.ndarray, np.ndarray], np.ndarray]


def insidePolygons(reference: Slices) -> Inside:
    """Return a test for positions inside contours that do not run around pixels, by the even-odd rule."""

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

    1. paired() pairs the contours of a slice.
    2. contourScores() samples them at equal steps of half a pixel's smaller side. There localDistances() pairs the
       points as if the two centers of mass coincided, but measures them where they are; sidesOf() finds those inside
       the reference; Levels.scores() turns every distance into a score by weight(). A contour has the mean score of its
       points.
    3. sliceScore() takes the median over the contours of a slice.
    4. Similarity.score takes the median over the slices, Similarity.pairedScore and pairedDistance over the paired
       ones.

    splits: whether to cut contours in two where this makes their numbers equal.
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
    """Return the contours of a slice, the fewer ones cut to as many as on the other side, if possible."""
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
    """Return the score of a slice from those of its contours, which are ignored if it is flagged."""
    if flag:
        return SliceScore(index, center, 0.0, None, flag, ())
    score, distance = median(c.score for c in contours), median(c.distance for c in contours)
    return SliceScore(index, center, score, distance, "", contours)


def contourScores(
    pairs: list[tuple[int, ContourPair]], step: float, levels: Levels, inside: Inside
) -> list[ContourScore]:
    """Return the scores of pairs of contours, the means over their points, computed in one batch.

    pairs: index of the slice, and the two contours. step: between the points, in the unit of the contours.
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
    """Return points (n, 3) and others (m, 3): the sets (k, 2) stacked in layers too far apart to interact.

    shifts: by which each set of the points will be moved in its plane.
    """
    span = max(np.abs(np.concatenate(sets)).max() for sets in (points, others)) + np.abs(shifts).max()
    return tuple(
        np.concatenate([np.column_stack([p, np.full(len(p), 4 * span * layer)]) for layer, p in enumerate(sets)])
        for sets in (points, others)
    )


def sidesOf(points: np.ndarray, slices: np.ndarray, inside: Inside, tolerance: float) -> np.ndarray:
    """Return -1 for points (n, 2) inside the reference, 1 outside, 0 on its contours up to a tolerance."""
    around = [(a * tolerance, b * tolerance) for a in (-1, 1) for b in (-1, 1)]
    count = np.sum([inside(points + corner, slices) for corner in around], axis=0)
    return np.where(count == 0, 1, np.where(count == len(around), -1, 0))


def surfaceScore(
    points: np.ndarray, sizes: np.ndarray, others: np.ndarray, otherSizes: np.ndarray, levels: Levels, sides: np.ndarray
) -> float:
    """Return MSI3D, the index on whole boundaries, in [0, 1]: the elements' scores weighted by their sizes.

    points, sizes: centers (n, 3) in mm and sizes (n,) of the test's elements. others, otherSizes: those of the
    reference's. sides: (n,) -1 inside the reference, 1 outside, 0 on its boundary. Elements are paired by their
    centers.
    """
    weights = sizes / sizes.sum()
    shift = otherSizes @ others / otherSizes.sum() - weights @ points
    tolerance = SAME * math.sqrt(float(otherSizes.mean()))
    _, distances = localDistances(points, others, np.broadcast_to(shift, points.shape), tolerance)
    # by what is lost, so that equal boundaries lose exactly nothing
    return 1 - float(weights @ (1 - levels.scores(distances, sides)))
