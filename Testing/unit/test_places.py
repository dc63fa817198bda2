"""Worst places: where, how far, how large, toward which side."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.places import mostlyToward
from SegmentMetricsLib.geometry.closest import ClosestSurface

BOX = ((8, 8, 8), (19, 19, 19))


def withBump(low, high):
    """Return the box, and the box with a second one added."""
    plain = shapes.box(*BOX, (28, 28, 28))
    return plain, plain | shapes.box(low, high, (28, 28, 28))


# direction -> bump in voxel indices
BUMPS = {
    "L": ((20, 12, 12), (24, 15, 15)),
    "R": ((3, 12, 12), (7, 15, 15)),
    "P": ((12, 20, 12), (15, 24, 15)),
    "A": ((12, 3, 12), (15, 7, 15)),
    "S": ((12, 12, 20), (15, 15, 24)),
    "I": ((12, 12, 3), (15, 15, 7)),
}


@pytest.mark.parametrize("direction", BUMPS)
def testABumpIsOnePlace(direction):
    plain, bumped = withBump(*BUMPS[direction])
    (place,) = compare(plain, bumped).worstPlaces
    assert place.rank == 1 and place.direction == direction and place.side == "test"
    assert place.value == pytest.approx(5, abs=0.3)
    # of its far side, LPS mm
    end = 24.5 if direction in "LPS" else 2.5
    assert place.position["LRPASI".index(direction) // 2] == pytest.approx(end, abs=0.3)
    # the end and those parts of the four sides, each 4 voxels wide, that are more than 2 of 5 mm out
    assert place.area == pytest.approx(4 * 4 + 4 * 4 * 3, rel=0.15)
    # if it is missing it is the same place with the other sign
    (under,) = compare(bumped, plain).worstPlaces
    assert under.value == pytest.approx(-place.value) and under.side == "reference"
    assert under.position == pytest.approx(place.position) and under.area == pytest.approx(place.area)


def testSeveralPlacesAreRankedAndLimited():
    plain = shapes.box(*BOX, (28, 28, 28))
    bumps = [shapes.box(*BUMPS[direction], (28, 28, 28)) for direction in "LRP"]
    higher = shapes.box((12, 12, 20), (15, 15, 26), (28, 28, 28))
    test = plain | bumps[0] | bumps[1] | bumps[2] | higher
    comparison = compare(plain, test)
    assert [place.rank for place in comparison.worstPlaces] == [1, 2, 3, 4]
    assert comparison.worstPlaces[0].direction == "S" and comparison.worstPlaces[0].value == pytest.approx(7, abs=0.3)
    assert {place.direction for place in comparison.worstPlaces} == {"L", "R", "P", "S"}
    assert comparison.worstPlaces[0].value == pytest.approx(comparison["HD"].value)
    assert [p["rank"] for p in comparison.toDictionary()["worstPlaces"]] == [1, 2, 3, 4]


def testNothingBeyondTheTolerance():
    plain, bumped = withBump((20, 12, 12), (24, 15, 15))
    assert compare(plain, bumped, Settings(tolerances=(6.0,))).worstPlaces == ()
    assert compare(plain, plain).worstPlaces == ()
    assert compare(plain, shapes.imageOf(np.zeros((28, 28, 28), np.uint8))).worstPlaces == ()


def testBothBoundariesTellOfOnePlace():
    """A square moved by 6 mm: its L side is too far out, its R side too far in, each seen from either boundary."""
    places = compare(rectangle(0, 20, 0, 20), rectangle(6, 26, 0, 20)).worstPlaces
    assert sorted((place.direction, round(place.value, 3)) for place in places) == [("L", 6), ("R", -6)]
    assert [place.rank for place in places] == [1, 2]
    for place in places:
        assert place.normal == pytest.approx((1 if place.direction == "L" else -1, 0, 0), abs=1e-9)


@pytest.mark.parametrize("isMissing", [False, True])
def testTheNormalIsThatOfTheBoundaryInside(isMissing):
    """A slanted spike of the one on the straight side of the other, from 8 to 12 mm, its tip 6 mm out."""
    plain = rectangle(0, 20, 0, 20)
    # in steps of less than 1 mm, so that its tip has walls of its own around it
    spike = [(20 + 6 * t, 8 + 6 * t) for t in np.linspace(0, 1, 11)]
    spike += [(26 - 6 * t, 14 - 2 * t) for t in (0.25, 0.5, 0.75, 1)]
    spiked = shapes.loops([(0, 0), (20, 0), *spike, (20, 20), (0, 20)])
    comparison = compare(*((spiked, plain) if isMissing else (plain, spiked)))
    assert mostlyToward(comparison.distances, 2.0, over=not isMissing) == "L"
    (place,) = comparison.worstPlaces
    assert place.value == pytest.approx(-6 if isMissing else 6, abs=0.1)
    assert place.position == pytest.approx((26, 14, 0), abs=0.1)
    assert place.side == ("reference" if isMissing else "test")
    assert place.normal == pytest.approx((1, 0, 0), abs=1e-9) and place.direction == "L"


def testASideThatIsTooFarOutAndTooFarInHasTwoPlaces():
    """One segment, from 6 mm outside the reference to 6 mm inside it."""
    square = rectangle(0, 20, 0, 20)
    slanted = shapes.loops([(0, 0), (26, 0), (14, 20), (0, 20)])
    areas = {place.value > 0: place.area for place in compare(square, slanted).worstPlaces if place.side == "test"}
    # of the slanted side what lies 2 to 6 mm in or out, nearer to the back where it is in, and 4 of 6 mm of the front
    assert areas[True] == pytest.approx(4 + np.hypot(12, 20) * 4 / 12, abs=1)
    assert areas[False] == pytest.approx(np.hypot(12, 20) * 3 / 12, abs=1)
    # that side is one cell: its end outside is no under-contouring
    for sign, pair in ((1, (square, slanted)), (-1, (slanted, square))):
        first, *others = compare(*pair).worstPlaces
        assert first.value == pytest.approx(sign * 6, abs=0.3)
        assert np.linalg.norm(np.subtract(first.position, (26, 0, 0))) < 0.5
        assert all(np.linalg.norm(np.subtract(other.position, (26, 0, 0))) > 1 for other in others)


def rectangle(left: float, right: float, front: float, back: float):
    return shapes.loops([(left, front), (right, front), (right, back), (left, back)])


@pytest.mark.parametrize(
    ("test", "over", "under"),
    [
        (rectangle(6, 26, 0, 20), "L", "R"),
        (rectangle(0, 20, -6, 14), "A", "P"),
        (rectangle(1, 21, 0, 20), "", ""),  # 1 mm is within the tolerance
        (rectangle(6, 26, 6, 26), "", ""),  # toward two sides as much
        # 4 mm too far toward L and 3 toward P: on 20 mm each 2 and 1 mm more than the tolerance; then 2 and 1.5
        (rectangle(0, 24, 0, 23), "L", ""),
        (rectangle(0, 24, 0, 23.5), "", ""),
        (rectangle(-6, 26, -6, 26), "", ""),  # all around
        # toward L, and less so toward R: 3 - 1 of 3 + 1 parts are half of all
        (rectangle(-2.9, 26, 0, 20), "L", ""),
        (rectangle(-4.5, 26, 0, 20), "", ""),
    ],
)
def testTheSideTowardWhichMostLies(test, over, under):
    distances = compare(rectangle(0, 20, 0, 20), test).distances
    assert (mostlyToward(distances, 2.0), mostlyToward(distances, 2.0, over=False)) == (over, under)
    exchanged = compare(test, rectangle(0, 20, 0, 20)).distances
    assert mostlyToward(exchanged, 2.0, over=False) == over


def testTheFlanksOfABumpCountForItsSide():
    bumped = shapes.box((0, 0, 0), (19, 19, 19), (50, 24, 24))
    long = bumped | shapes.box((20, 8, 8), (40, 11, 11), (50, 24, 24))
    assert mostlyToward(compare(bumped, long).distances, 2.0) == "L"
    assert mostlyToward(compare(long, bumped).distances, 2.0, over=False) == "L"
    # what is the same, or open, has no side
    for pair in ((long, long), (shapes.ballMesh(6, resolution=16), shapes.openBox())):
        assert mostlyToward(compare(*pair).distances, 2.0) == ""


def testBothWallsOfSomethingThin():
    """A strip of half a millimeter, in segments of 1 mm: its walls face away from each other, its end tells."""
    strip = [(x, 0) for x in range(20)] + [(20, 0)] + [(x, 0.5) for x in range(20, 0, -1)] + [(0, 0.5)]
    (place,) = compare(shapes.loops(strip), rectangle(0, 26, 0, 0.5)).worstPlaces
    assert place.normal == pytest.approx((1, 0, 0)) and place.direction == "L"


def testTheWorstPlaceIsTheHausdorffDistance():
    """Where it lies within an element, too, farther away than any of the element's ends."""
    farther = 0
    for seed in range(4):
        blobs = [shapes.imageOf(shapes.blob(seed + n, (14, 15, 16), 0.35), (1, 1.3, 2.1)) for n in (0, 100)]
        found = compare(*blobs, Settings(tolerances=0.5))
        place, worst = found.worstPlaces[0], found["HD"]
        assert abs(place.value) == pytest.approx(worst.value, abs=1e-4)
        direction = max(found.distances.directions, key=lambda direction: direction.largest)
        farther += worst.value > np.abs(direction.rangesOf(np.arange(len(direction.signed)))).max() + 1e-4
        other = found.distances.directions[1 - found.distances.directions.index(direction)].surface
        assert ClosestSurface(other).distances(np.array([place.position]))[0] == pytest.approx(worst.value, abs=1e-3)
    assert farther
