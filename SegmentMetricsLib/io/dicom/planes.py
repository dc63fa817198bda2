"""The planes of contours and frames: grouping, distances, and assignment to slices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median_low

import numpy as np

# Contours closer together than this, in slices, lie in one plane: the precision of numbers in files.
SAME_PLANE = 0.02
# Ties despite rounding: within this fraction of a slice, a plane halfway between two slices belongs to the upper one,
# and of two planes at equal distances from a slice the lower is the nearer one.
HAIR = SAME_PLANE / 2
# Heights that differ by at most this, in mm, are equal apart from rounding.
ROUNDING = 1e-3
# Planes closer than this, in mm, or than this fraction of the usual distance, are ignored for the slice distance.
LEAST_DISTANCE, LEAST_SHARE = 0.1, 0.25
# Relative difference, as a fraction of a distance, up to which another distance is a multiple of it.
ALIKE = 0.05
# A contour runs along a plane if its heights above it differ by at most this fraction of its extent.
LEANING = 0.1
# Planes are parallel if the cosine between their normals is at least this; reliable decimals of normals of contours.
PARALLEL, ROUGHLY = 0.999, 3
# Slices of an image may deviate from equal spacing by this fraction of it; or by this in mm, because positions may be
# rounded to tenths of a mm, with a small margin.
UNEVENNESS, TENTH = 0.01, 0.11
# Steps up to this many times the smallest one are of one slice.
ONE_SLICE = 1.5


def planesBySlice(heights: np.ndarray) -> dict[int, list[np.ndarray]]:
    """Return the planes of contours by the number of the nearest slice.

    Each plane is an array of the numbers of its contours. The planes of a slice are in ascending order of distance to
    it. heights: (n,) of contours, in slices.
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
    """Return the usual distance in mm of planes at heights (n,) in mm, None for a single plane.

    Planes that are much closer together, as where something was drawn twice, are ignored, as are gaps between separate
    parts.
    """
    gaps = np.diff(distinct(heights))
    if not len(gaps):
        return None
    usual = float(np.quantile(gaps, 0.5, method="lower"))
    # the mean, so that rounded heights do not drift away from the slices
    return round(float(gaps[np.abs(gaps - usual) <= LEAST_SHARE * usual].mean()), 6)


def distinct(heights: np.ndarray) -> np.ndarray:
    """Return the heights (n,) of planes in mm, ascending, without those much closer together than the rest."""
    heights = thinOut(np.unique(heights), ROUNDING)
    gaps = np.diff(heights)
    heights = thinOut(heights, min(LEAST_DISTANCE, LEAST_SHARE * gaps.max(initial=0.0)))
    gaps = np.diff(heights)
    return thinOut(heights, LEAST_SHARE * float(np.quantile(gaps, 0.75, method="lower"))) if len(gaps) else heights


def thinOut(heights: np.ndarray, least: float) -> np.ndarray:
    """Return those of the ascending heights that are at least a distance above the previous one that is kept."""
    kept = heights[:1].tolist()
    for height in heights[1:].tolist():
        if height - kept[-1] >= least:
            kept.append(height)
    return np.array(kept)


def commonDistance(structures: Iterable[np.ndarray]) -> float | None:
    """Return the median of the usual distances of several structures' planes, from the heights (n,) of each in mm.

    None if no structure has more than one plane.
    """
    distances = [distance for heights in structures if (distance := usualDistance(heights)) is not None]
    return median_low(distances) if distances else None


def sliceDistance(heights: np.ndarray, common: float | None) -> float | None:
    """Return the distance in mm of the slices that a structure with contours at heights (n,) in mm was drawn on.

    common: that of most structures. It is also that of a structure that was drawn on every second or third slice.
    """
    own = usualDistance(heights)
    if own is None or common is None:
        return own or common
    times = round(own / common)
    return common if times > 1 and abs(own / common - times) <= ALIKE else own


def heightsOf(loops: Sequence[np.ndarray], normal: np.ndarray) -> np.ndarray:
    """Return the positions in mm of contours, LPS points (n, 3) each, along a unit vector."""
    return np.array([float((loop @ normal).mean()) for loop in loops])


def alongPlanes(loops: Sequence[np.ndarray], normal: np.ndarray) -> list[np.ndarray]:
    """Return those contours, LPS points (n, 3) in mm each, that run along planes with a normal, or nearly so."""
    return [loop for loop in loops if np.ptp(loop @ normal) <= LEANING * np.ptp(loop, axis=0).max()]


def leastDistance(heights: np.ndarray) -> float:
    """Return the distance in mm of slices, of which some may be missing, from ascending heights (n,) in mm.

    It is the smallest step between two, refined by all heights together; these are at least two, and differ.
    """
    steps = np.diff(heights)
    counts = stepCounts(steps, float(steps[steps < ONE_SLICE * steps.min()].mean()))
    return float((heights[-1] - heights[0]) / counts.sum())


def stepCounts(steps: np.ndarray, distance: float) -> np.ndarray:
    """Return the number of slices, at least one, that each step (n,) in mm spans. distance: of slices in mm."""
    return np.maximum(np.rint(steps / distance).astype(np.int64), 1)


def lieOnSlices(heights: np.ndarray, distance: float) -> bool:
    """Return whether the differences of heights (n,) in mm are multiples of a distance in mm, apart from rounding."""
    numbers = (heights - heights.min()) / distance
    return bool(np.abs(numbers - np.rint(numbers)).max() * distance <= allowance(distance))


def allowance(distance: float) -> float:
    """Return the largest deviation in mm of a slice from its expected position. distance: of slices in mm.

    Positions of slices that are only a few tenths of a mm apart are assumed not to be rounded to tenths.
    """
    return max(UNEVENNESS * distance, TENTH if LEAST_SHARE * distance >= TENTH else 0.0)


def normalOfLoops(loops: Sequence[np.ndarray]) -> np.ndarray:
    """Return the unit normal (3,) of the planes of most contours, LPS points (n, 3) in mm each.

    It is exactly along an axis of the patient if it is nearly so, and otherwise slightly rounded, so that several files
    of one image have the same normal. Contours that are lines are ignored; if there are no others, it is that of axial
    planes.
    """
    around = [loop - loop.mean(axis=0) for loop in loops]
    # along the normal of a contour's plane, with twice its area as length
    vectors = np.array([np.cross(loop, np.roll(loop, -1, axis=0)).sum(axis=0) for loop in around])
    lengths = np.linalg.norm(vectors, axis=1)
    normals = vectors[lengths > 0] / lengths[lengths > 0, None]
    if not len(normals):
        return np.eye(3)[2]
    # independent of the direction of contours; the median ignores those in unusual planes
    usual = np.median(normals[:, :, None] * normals[:, None, :], axis=0)
    normal = np.linalg.eigh(usual)[1][:, -1]
    largest = int(np.abs(normal).argmax())
    if abs(normal[largest]) >= PARALLEL:
        return np.eye(3)[largest]
    normal = np.round(normal * np.sign(normal[largest]), ROUGHLY)
    return normal / np.linalg.norm(normal)


def axesAlong(normal: np.ndarray) -> np.ndarray:
    """Return two vectors in planes with a normal, and that normal, as orthonormal columns (3, 3).

    The two are along the axes of the patient as far as the planes allow.
    """
    first, second = (side for side in range(3) if side != np.abs(normal).argmax())
    along = np.eye(3)[first] - normal[first] * normal
    along /= np.linalg.norm(along)
    across = np.cross(normal, along)
    return np.column_stack([along, across * np.sign(across[second]), normal])
