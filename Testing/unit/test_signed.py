"""Signed and directional measurements against cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes
import SimpleITK
from sayings import says
from vtkmodules.vtkCommonDataModel import vtkPolyData

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import Cause
from SegmentMetricsLib.distances import largest
from SegmentMetricsLib.geometry.surfaces import toPolyData

SIGNED = Settings(families="signed")
OPPOSITE = {"R": "L", "L": "R", "A": "P", "P": "A", "S": "I", "I": "S"}


def testWhatLiesInsideIsToldFromVoxels():
    """Nested contours of thick slices touch along hundreds of edges, where no distance tells which side it is."""
    outer = shapes.ball(5.2, spacing=(0.98, 0.98, 2.5), origin=(-12, -12, -15), size=(25, 25, 13))
    voxels = SimpleITK.GetArrayFromImage(outer)
    voxels[:, :, :11] = 0
    voxels[7] &= np.roll(voxels[7], 1, axis=0)
    inner = shapes.imageOf(voxels, outer.GetSpacing(), outer.GetOrigin())
    for pair, none, some in (((outer, inner), "OverMax", "UnderMax"), ((inner, outer), "UnderMax", "OverMax")):
        found = compare(*pair, Settings(families=("boundary", "signed")))
        assert found[none].value == pytest.approx(0, abs=1e-9) and found[none].upper == pytest.approx(0, abs=1e-9)
        assert found[some].value == found["HD"].value and found[some].upper - found[some].value <= 0.01


def testFacesThatAreFarAllOver():
    """One slice too many, while the largest distance lies elsewhere: all of the slice is equally far."""
    image = {"size": (44, 44, 14), "spacing": (1.0, 1.0, 3.0)}
    whole, cut, added = (shapes.box((x, 4, z), (39, 39, max(z, 8)), **image) for x, z in ((4, 3), (9, 3), (4, 9)))
    found = compare(whole, cut | added, SIGNED)
    for key in ("OverMax", "UnderMax"):
        assert found[key].lower == found[key].value <= found[key].upper <= found[key].value + 0.01
    assert (found["OverMax"].value, found["UnderMax"].value) == pytest.approx((3, 5))


def squares(scale: float = 1) -> list:
    """Return a square of 10 mm, and one of 2 mm that lies 10 mm to its left, opposite the middle of its L side.

    Sides consist of four segments each.
    """
    corners = [[(x, y), (x + w, y), (x + w, y + w), (x, y + w)] for x, y, w in ((0, 0, 10), (20, 4, 2))]
    split = [
        [np.array(a) * (1 - t) + np.array(b) * t for a, b in zip(one, [*one[1:], one[0]]) for t in (0, 0.25, 0.5, 0.75)]
        for one in corners
    ]
    return [shapes.loops(scale * np.array(one, float)) for one in split]


@pytest.mark.parametrize("scale", [1, 0.02])
def testSquareFarToTheLeft(scale):
    """All of it is nearest to the L side, x = 10; the R side, x = 0, is 20 mm away along x, and up to 4 mm along y."""
    found = compare(*squares(scale), SIGNED).numbers
    y = np.linspace(0, 10, 100_001)
    beside = np.maximum(np.maximum(4 - y, y - 6), 0)
    right, left = -np.hypot(20, beside).mean(), -np.hypot(10, beside).mean()
    # the other square's near side is 10, its far one 12, the two between 11 mm away
    expected = {"MeanR": right, "MeanL": (10 * left + 2 * 10 + 2 * 12 + 2 * 2 * 11) / 18, "MaxR": -20, "MaxL": 12}
    assert {key: found[key] / scale for key in expected} == pytest.approx(expected, abs=2e-3)
    # of an element 10/32 mm long at a corner
    expected = {"MinR": -math.hypot(20, 4), "MinL": -math.hypot(10, 4)}
    assert {key: found[key] / scale for key in expected} == pytest.approx(expected, abs=0.07)


def bounds(measurement) -> tuple[float, float, float]:
    return measurement.value, measurement.lower, measurement.upper


def testBoundsOfExtremes():
    """The farthest side has the largest distance of all; nothing on the others exceeds it."""
    comparison = compare(*squares(), SIGNED)
    over, under = comparison["OverMax"], comparison["UnderMax"]
    assert over.value == 12 and under.value == pytest.approx(math.hypot(20, 4), abs=0.01)
    assert bounds(comparison["MaxL"]) == bounds(over)
    assert bounds(comparison["MinR"]) == tuple(-number for number in (under.value, under.upper, under.lower))
    # of contours no place between two nodes is farther from both than half of their distance
    sides = comparison.distances.referenceToTest.field.base.sides
    between = float(sides.max()) / 4
    left = comparison["MinL"]
    # at a corner, where another side begins
    assert left.value == left.upper == pytest.approx(-math.hypot(10, 4), abs=1e-9)
    assert left.lower == pytest.approx(left.value - between)
    right = comparison["MaxR"]
    assert right.value == pytest.approx(-20) and right.upper == pytest.approx(-20 + between)


def testNothingTowardOneSideIsFartherThanTheLargestDistance(monkeypatch):
    """Though the search of one side alone may tell less closely how far that is, and whichever is asked first."""
    narrow = largest._narrow

    def narrowLess(field, side, *others):
        narrow(field, side, *others)
        highest = others[-1][1]
        highest += 1 if side else 0

    monkeypatch.setattr(largest, "_narrow", narrowLess)
    pair = [shapes.ballMesh(20, resolution=24), shapes.ballMesh(20, (0, 0, 3), resolution=20)]
    comparison = compare(*pair)
    assert max(comparison[key].upper for key in ("OverMax", "UnderMax")) <= comparison["HD"].upper
    alone = compare(*pair, SIGNED)
    for key in ("OverMax", "UnderMax"):
        assert bounds(alone[key]) == bounds(comparison[key])


@pytest.mark.parametrize(("axis", "lacking"), [(0, "SI"), (1, "AP"), (2, "LR")])
def testSidesThatAPlaneLacksDoNotDependOnWhatIsEmpty(axis, lacking):
    """An image of one slice, along each axis [k, j, i]: two sides are undefined in it, whichever structure is empty."""
    pixels = np.zeros([1 if one == axis else 20 for one in range(3)], np.uint8)
    pixels[tuple(slice(None) if one == axis else slice(5, 15) for one in range(3))] = 1
    drawn, nothing = shapes.imageOf(pixels), shapes.imageOf(pixels * 0)
    for reference, test, value in ((drawn, drawn, 0), (drawn, nothing, -math.inf), (nothing, drawn, math.inf)):
        comparison = compare(reference, test, SIGNED)
        for side in OPPOSITE:
            for kind in ("Mean", "Max", "Min"):
                found = comparison[f"{kind}{side}"]
                if side in lacking:
                    assert found.status == "undefined" and found.cause is Cause.NO_BOUNDARY
                    assert f" {side}" in found.reason
                else:
                    assert found.value == value
    says(compare(nothing, nothing, SIGNED)["MaxS"].reason)


@pytest.mark.parametrize("side", OPPOSITE)
def testBoxDrawnTooLongTowardOneSide(side):
    axis, sign = {"R": (0, -1), "L": (0, 1), "A": (1, -1), "P": (1, 1), "S": (2, 1), "I": (2, -1)}[side]
    farther = 3 * sign * (np.arange(3) == axis)
    ends = np.minimum(5, 5 + farther), np.maximum(14, 14 + farther)
    reference, test = shapes.box((5, 5, 5), (14, 14, 14)), shapes.box(*(tuple(end.tolist()) for end in ends))
    comparison = compare(reference, test, SIGNED)
    found = comparison.numbers
    assert found[f"Max{side}"] == pytest.approx(3) == found["OverMax"]
    assert found["OverVolume"] == 10 * 10 * 3 and found["UnderVolume"] == 0 == found["UnderMax"]
    assert found[f"Mean{side}"] > 1.2
    for kind in ("Mean", "Max", "Min"):
        assert found[f"{kind}{OPPOSITE[side]}"] == pytest.approx(0, abs=1e-9)
    face = {1: 14.5, -1: 4.5}[sign]
    assert comparison["OverMax"].position[axis] in (pytest.approx(face), pytest.approx(face + 3 * sign))
    assert comparison["UnderMax"].position is None
    # the test as reference: what was too much is too little, on the same side
    swapped = compare(test, reference, SIGNED).numbers
    assert swapped[f"Min{side}"] == pytest.approx(-3) and swapped["UnderMax"] == pytest.approx(3)
    assert swapped["UnderVolume"] == 300 and swapped["OverVolume"] == 0


@pytest.mark.parametrize("empty", [shapes.imageOf(shapes.blob(0) * 0), vtkPolyData()], ids=["mask", "mesh"])
def testEmptyStructures(empty):
    box = shapes.box((5, 5, 5), (14, 14, 14))
    missed, invented = compare(box, empty, SIGNED), compare(empty, box, SIGNED)
    keys = [f"{kind}{what}" for what in ("Fraction_2mm", "Max", "Volume") for kind in ("Over", "Under")]
    keys += ["MeanR", "MinS"]
    assert [missed[key].value for key in keys] == [0, 1, 0, math.inf, 0, 1000, -math.inf, -math.inf]
    assert [invented[key].value for key in keys] == [1, 0, math.inf, 0, 1000, 0, math.inf, math.inf]
    assert says(missed["UnderMax"].reason, "test") and missed["UnderMax"].status == "infinite"


def testSidesOfMasksAreThoseOfTheirMeshes():
    """A bar that sticks out toward the left starts at a beveled edge, which faces another side just as well."""
    reference, test = np.zeros((2, 24, 24, 24), np.uint8)
    reference[2:7, 4:13, 4:13] = test[2:7, 4:13, 4:13] = test[3:6, 11:13, 10:21] = 1
    masks = compare(*(shapes.imageOf(array, (1, 1, 3)) for array in (reference, test)), SIGNED)
    meshes = [toPolyData(direction.surface) for direction in masks.distances.directions]
    found = compare(*meshes, SIGNED)
    sides = [key for key in masks if key[:-1] in ("Mean", "Max", "Min")]
    assert [masks[key].value for key in sides] == pytest.approx([found[key].value for key in sides], abs=0.002)
    assert masks["MaxL"].value > 7.5 and masks["MaxP"].value < 1.5
