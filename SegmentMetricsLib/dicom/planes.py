"""The planes that contours and frames lie in: which share one, how far apart they are, and which slices they fill."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median_low

import numpy as np

# Contours this close together, in slices, lie in one plane: the digits of a file keep them no closer.
SAME_PLANE = 0.02
# A plane halfway between two slices is the upper one's, and the lower of two that are equally near is the nearer one,
# by this share of a slice, whatever rounding did to them.
HAIR = SAME_PLANE / 2
# Heights that differ by no more than this, in mm, are one height but for rounding.
ROUNDING = 1e-3
# Planes closer than this, in mm, or than this share of the usual distance, do not tell how far apart slices are.
LEAST_DISTANCE, LEAST_SHARE = 0.1, 0.25
# A distance counts as a multiple of another one up to this share of that one.
ALIKE = 0.05
# Planes are parallel when the cosine between what runs across them is at least this; decimals of such vectors that are
# certain in contours.
PARALLEL, ROUGHLY = 0.999, 3
# Slices of one image lie where equal distances put them, but for this share of the distance, and for what positions
# rounded to tenths of a mm make of it, and a hair.
UNEVENNESS, TENTH = 0.01, 0.11
# Steps are of one slice each up to so many times the smallest one.
ONE_SLICE = 1.5


def planesBySlice(heights: np.ndarray) -> dict[int, list[np.ndarray]]:
    """Return the planes of contours by the number of the slice that is nearest to them.

    heights: (n,) of contours, in slices. The planes of a slice, the numbers of their contours each, are in the order of
    their distance to it.
    """
    found: dict[int, list[tuple[float, np.ndarray]]] = {}
    order = np.argsort(heights, kind="stable")
    for plane in np.split(order, np.flatnonzero(np.diff(heights[order]) > SAME_PLANE) + 1):
        if len(plane):
            height = float(heights[plane].mean()) + HAIR
            number = math.floor(height + 0.5)
            found.setdefault(number, []).append((abs(height - number), plane))
    return {k: [plane for _, plane in sorted(some, key=lambda one: one[0])] for k, some in found.items()}


def usualDistance(heights: np.ndarray) -> float | None:
    """Return how far apart planes at heights (n,) in mm usually are, None when they are one plane.

    What is much closer together, as where somebody drew twice, does not count, nor do the gaps between separate parts.
    """
    heights = thinned(np.unique(heights), ROUNDING)
    gaps = np.diff(heights)
    heights = thinned(heights, min(LEAST_DISTANCE, LEAST_SHARE * gaps.max(initial=0.0)))
    gaps = np.diff(heights)
    if not len(gaps):
        return None
    gaps = np.diff(thinned(heights, LEAST_SHARE * float(np.quantile(gaps, 0.75, method="lower"))))
    usual = float(np.quantile(gaps, 0.5, method="lower"))
    # their mean, so that rounded heights do not drift away from the slices
    return round(float(gaps[np.abs(gaps - usual) <= LEAST_SHARE * usual].mean()), 6)


def thinned(heights: np.ndarray, least: float) -> np.ndarray:
    """Return the ascending heights that lie at least so far above the one before that is kept."""
    kept = heights[:1].tolist()
    for height in heights[1:].tolist():
        if height - kept[-1] >= least:
            kept.append(height)
    return np.array(kept)


def commonDistance(structures: Iterable[np.ndarray]) -> float | None:
    """Return how far apart the planes of most structures are, from the heights (n,) of each in mm; None without."""
    distances = [distance for heights in structures if (distance := usualDistance(heights)) is not None]
    return median_low(distances) if distances else None


def sliceDistance(heights: np.ndarray, common: float | None) -> float | None:
    """Return how far apart in mm the slices are that a structure with contours at heights (n,) was drawn on.

    common: that of most structures. One that was drawn on every second or third of their slices has the same slices.
    """
    own = usualDistance(heights)
    if own is None or common is None:
        return own or common
    times = round(own / common)
    return common if times > 1 and abs(own / common - times) <= ALIKE else own


def heightsOf(loops: Sequence[np.ndarray], normal: np.ndarray) -> np.ndarray:
    """Return how far in mm contours, LPS points (n, 3) each, lie along a unit vector."""
    return np.array([float((loop @ normal).mean()) for loop in loops])


def leastDistance(heights: np.ndarray) -> float:
    """Return how far apart slices are of which only some, at ascending heights (n,) in mm, are there.

    That is the smallest step between two, as exactly as all of them tell it. Raises ValueError for equal heights, and
    for fewer than two.
    """
    steps = np.diff(heights)
    if not len(steps) or steps.min() <= 0:
        raise ValueError("Heights that do not differ do not say how far apart slices are.")
    counts = stepCounts(steps, float(steps[steps < ONE_SLICE * steps.min()].mean()))
    return float((heights[-1] - heights[0]) / counts.sum())


def stepCounts(steps: np.ndarray, distance: float) -> np.ndarray:
    """Return how many slices each step (n,) in mm goes on, at least one. distance: how far apart slices are, mm."""
    return np.maximum(np.rint(steps / distance).astype(np.int64), 1)


def lieOnSlices(heights: np.ndarray, distance: float) -> bool:
    """Return whether those between heights (n,) in mm are whole multiples of a distance, but for rounding."""
    numbers = (heights - heights.min()) / distance
    return bool(np.abs(numbers - np.rint(numbers)).max() * distance <= allowance(distance))


def allowance(distance: float) -> float:
    """Return how far in mm a slice may lie beside where it should be. distance: how far apart slices are, mm.

    Nobody rounds the positions of slices to tenths of a mm that lie only a few of them apart.
    """
    return max(UNEVENNESS * distance, TENTH if LEAST_SHARE * distance >= TENTH else 0.0)


def normalOfLoops(loops: Sequence[np.ndarray]) -> np.ndarray:
    """Return the unit vector (3,) across the planes that most contours, LPS points (n, 3) in mm each, lie in.

    It is that of a side of the patient if it is nearly that one, and rounded a little else, so that several files of
    one image have the same one. A contour that is a line has none; without any other it is that of axial planes.
    """
    around = [loop - loop.mean(axis=0) for loop in loops]
    # twice the area of a contour, along the normal of its plane
    vectors = np.array([np.cross(loop, np.roll(loop, -1, axis=0)).sum(axis=0) for loop in around])
    lengths = np.linalg.norm(vectors, axis=1)
    normals = vectors[lengths > 0] / lengths[lengths > 0, None]
    if not len(normals):
        return np.eye(3)[2]
    # whichever way contours go around; those in odd planes do not count
    usual = np.median(normals[:, :, None] * normals[:, None, :], axis=0)
    normal = np.linalg.eigh(usual)[1][:, -1]
    largest = int(np.abs(normal).argmax())
    if abs(normal[largest]) >= PARALLEL:
        return np.eye(3)[largest]
    normal = np.round(normal * np.sign(normal[largest]), ROUGHLY)
    return normal / np.linalg.norm(normal)


def axesAlong(normal: np.ndarray) -> np.ndarray:
    """Return the normal of planes after two vectors in them, as columns (3, 3), all of length 1 and at right angles.

    The two run along the sides of the patient as far as the planes do.
    """
    first, second = (side for side in range(3) if side != np.abs(normal).argmax())
    along = np.eye(3)[first] - normal[first] * normal
    along /= np.linalg.norm(along)
    across = np.cross(normal, along)
    return np.column_stack([along, across * np.sign(across[second]), normal])
