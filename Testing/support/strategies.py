"""Hypothesis strategies: random structures, where they lie in the patient, and ways to compare them.

The tests that use them try the same examples every time; the nightly workflow tries others. For a long search:

    HYPOTHESIS_PROFILE=thorough python -m pytest -m '' Testing/truth/test_{properties,routes}.py

What it finds becomes an @example of the test.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, replace

import hypothesis
import numpy as np
import shapes
from hypothesis import strategies as st

from SegmentMetricsLib import Settings
from SegmentMetricsLib.geometry.meshing import fromPolyData
from SegmentMetricsLib.geometry.surfaces import Surface
from SegmentMetricsLib.settings.settings import DECLARED, GRIDS

# The time of a comparison is no property; health checks would make a slow machine fail.
COMMON = {"deadline": None, "suppress_health_check": list(hypothesis.HealthCheck), "print_blob": True}
hypothesis.settings.register_profile("default", derandomize=True, database=None, max_examples=25, **COMMON)
hypothesis.settings.register_profile("nightly", max_examples=100, **COMMON)
hypothesis.settings.register_profile("thorough", max_examples=1000, **COMMON)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
# For tests whose examples take long, and that are not nightly.
few = hypothesis.settings(max_examples=max(2, hypothesis.settings().max_examples // 12))

# Those of clinical images, some of which are seen again: tables are made once for each.
SPACINGS = [(1.0, 1.0, 1.0), (1.0, 1.5, 2.0), (0.9, 0.9, 2.5), (0.2, 0.2, 10.0), (2.0, 0.7, 0.7), (0.3125, 0.5, 3.0)]
# All ways to store the axes of an image: which of them comes first, and whether it runs backward.
ORDERS = [
    (order, turned) for order in itertools.permutations(range(3)) for turned in itertools.product((1, -1), repeat=3)
]


@dataclass(frozen=True)
class Placement:
    """Where voxels lie: spacing, origin in LPS mm, direction (3, 3)."""

    spacing: tuple[float, ...] = (1.0, 1.0, 1.0)
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    direction: tuple[tuple[float, ...], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def image(self, array: np.ndarray):
        """Return the image of an array [k, j, i], or [j, i] on a slice."""
        n = array.ndim
        return shapes.imageOf(array, self.spacing[:n], self.origin[:n], np.array(self.direction)[:n, :n])

    def moved(self, turn: np.ndarray, shift) -> Placement:
        """Return the placement turned about the patient's origin and then shifted."""
        origin = turn @ np.array(self.origin) + shift
        direction = turn @ np.array(self.direction)
        return replace(self, origin=tuple(origin.tolist()), direction=tuple(map(tuple, direction.tolist())))

    def scaled(self, factor: float) -> Placement:
        """Return the placement in a space that many times as large."""
        spacing, origin = (tuple(factor * x for x in values) for values in (self.spacing, self.origin))
        return replace(self, spacing=spacing, origin=origin)


@dataclass(frozen=True, eq=False)
class Voxels:
    """A reference, a test and a critical structure, bool arrays [k, j, i] or [j, i] of one image."""

    reference: np.ndarray
    test: np.ndarray
    critical: np.ndarray
    placement: Placement = Placement()

    def __repr__(self) -> str:
        boxes = [np.argwhere(array).tolist() for array in (self.reference, self.test)]
        return f"Voxels(shape={self.reference.shape}, {boxes[0]}, {boxes[1]}, {self.placement})"

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.reference, self.test, self.critical

    def images(self, placement: Placement | None = None) -> list:
        return [(placement or self.placement).image(array) for array in self.arrays]

    def mapped(self, function) -> Voxels:
        """Return the structures after a function of each array."""
        return Voxels(*map(function, self.arrays), self.placement)


@st.composite
def boxes(draw, shape):
    """A few boxes of voxels together; the smallest is one voxel."""
    array = np.zeros(shape, bool)
    for _ in range(draw(st.integers(1, 3))):
        low = [draw(st.integers(0, n - 1)) for n in shape]
        high = [draw(st.integers(a, n - 1)) for a, n in zip(low, shape)]
        array[tuple(slice(a, b + 1) for a, b in zip(low, high))] = True
    return array


@st.composite
def blobs(draw, shape):
    """Smooth or rough, connected or not, with and without holes."""
    from scipy.ndimage import gaussian_filter

    noise = np.random.default_rng(draw(st.integers(0, 999))).standard_normal(shape)
    noise = gaussian_filter(noise, draw(st.sampled_from([0.0, 0.7, 1.5])))
    return noise >= np.quantile(noise, draw(st.sampled_from([0.3, 0.6, 0.9])))


def masks(shape):
    """Arrays of bool of a shape with at least one voxel."""
    return boxes(shape) | blobs(shape)


@st.composite
def pairsOfMasks(draw, placements=None, most=8, planar=False):
    """Voxels in an image with a margin, so that what lies around them is known to be background."""
    shape = tuple(draw(st.integers(2, most)) for _ in range(2 if planar else 3))
    reference = draw(masks(shape))
    # what a test often is: the reference moved by a voxel or two
    test = draw(masks(shape) | st.sampled_from([1, 2]).map(lambda n: np.roll(reference, n, 0)))
    found = Voxels(reference, test, draw(boxes(shape)), draw(spacedPlacements() if placements is None else placements))
    return found.mapped(lambda array: np.pad(array, 1))


def spacings():
    """Of voxels, mm."""
    return st.sampled_from(SPACINGS) | st.tuples(*[st.floats(0.2, 5.0).map(lambda x: round(x, 3))] * 3)


def spacedPlacements():
    """Images along the patient's axes, at the origin."""
    return spacings().map(lambda spacing: Placement(spacing))


@st.composite
def straightPlacements(draw):
    """Images along the patient's axes in any order, right- and left-handed, anywhere."""
    order, turned = draw(st.sampled_from(ORDERS))
    direction = np.eye(3)[:, list(order)] * turned
    return Placement(draw(spacings()), tuple(draw(shifts()).tolist()), tuple(map(tuple, direction.tolist())))


@st.composite
def turns(draw):
    """Rotations (3, 3): of any angle, or in quarters."""
    axis = np.array([draw(st.integers(-3, 3)) for _ in range(3)])
    degrees = draw(st.sampled_from([0, 90, 180, 30, 45]) | st.floats(-180, 180))
    return shapes.rotation(axis if axis.any() else (0, 0, 1), degrees)


def shifts(largest=1e3):
    """Vectors (3,) in mm."""
    return st.tuples(*[st.floats(-largest, largest).map(lambda x: round(x, 6))] * 3).map(np.array)


@st.composite
def directions(draw):
    """Direction matrices (3, 3): any rotation, axes in any order, right- and left-handed."""
    order, turned = draw(st.sampled_from(ORDERS))
    return draw(turns()) @ (np.eye(3)[:, list(order)] * turned)


@st.composite
def placements(draw):
    """Images anywhere in the patient."""
    direction = draw(directions())
    origin = draw(shifts())
    return Placement(draw(spacings()), tuple(origin.tolist()), tuple(map(tuple, direction.tolist())))


@st.composite
def meshes(draw):
    """Closed surfaces that no lattice made: ellipsoids and boxes, one or two apart, turned."""
    parts, start = [], 0.0
    for _ in range(draw(st.integers(1, 2))):
        radius = draw(st.floats(2, 9))
        kind = draw(st.sampled_from(["ball", "box"]))
        center = (start + draw(st.floats(0, 2)), draw(st.floats(-4, 4)), draw(st.floats(-4, 4)))
        if kind == "ball":
            polyData = shapes.ballMesh(radius, center, draw(st.sampled_from([6, 9, 16])))
        else:
            high = [draw(st.floats(2, 9)) for _ in range(3)]
            polyData = shapes.boxMesh(np.array(center) - radius, np.array(center) + high)
        parts.append(fromPolyData(polyData))
        start = parts[-1].points[:, 0].max() + 13
    turn, stretch = draw(turns()), draw(st.sampled_from([(1, 1, 1), (1, 0.6, 1.7)]))
    both = shapes.together(*parts)
    return Surface(both.points * stretch @ turn.T, both.cells)


def numbers(low: float, high: float, most: int = 3):
    """A few different numbers in a range, as they are typed."""
    return st.lists(st.floats(low, high).map(lambda x: round(x, 2)), min_size=1, max_size=most, unique=True).map(tuple)


@st.composite
def settings(draw, families="all", **fixed) -> Settings:
    """Everything that can be chosen but memberships, common extents and other tools' conventions."""
    chosen = {
        "families": families,
        "tolerances": draw(numbers(0.1, 6)),
        "percentiles": draw(numbers(1, 100)),
        "betas": draw(numbers(0.1, 9, 2)),
        "quantiles": draw(numbers(0.05, 1, 2)),
        "grid": draw(st.sampled_from(GRIDS)),
        "voxelUnit": draw(st.sampled_from(["mm", "voxel"])),
        "hazardKernel": draw(st.sampled_from(DECLARED["hazardKernel"].check.choices)),
        "hazardCombination": draw(st.sampled_from(DECLARED["hazardCombination"].check.choices)),
        "hazardReach": draw(st.sampled_from([3.0, 10.0])),
        "hazardPower": draw(st.sampled_from([1.0, 2.0])),
        "hazardDecay": draw(st.sampled_from([2.0, 8.0])),
        "hazardBalance": draw(st.sampled_from([0.0, 0.7, 1.0])),
        "hazardTail": draw(st.sampled_from([0.05, 0.4, 1.0])),
        "il": draw(st.sampled_from([1.0, 2.0])),
        "ol": draw(st.sampled_from([1.0, 5.0])),
        "asPublished": draw(st.booleans()),
        "splitContours": draw(st.booleans()),
    }
    return Settings(**{**chosen, **fixed})
