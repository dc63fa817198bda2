"""Contours that run through pixel centers keep their place, and share a lattice with what else is on the image."""

from __future__ import annotations

import dicomfiles
import numpy as np
import pytest
import shapes
import SimpleITK
from sayings import says
from scipy.spatial import ConvexHull
from tiers import rarely

from SegmentMetricsLib import Grid, Settings, compare, compareCase, compareObservers

# A hole of 5 x 3 pixels, which a channel joins to the outer contour.
KEYHOLE = (3, 3), (20, 3), (20, 12), (8, 12), (8, 9), (13, 9), (13, 6), (8, 6), (8, 9), (8, 12), (3, 12)


def gridOf(direction=None, lean=(0.0, 0.0), spacing=(0.9765625, 0.8, 3.0), size=(40, 36, 6)) -> Grid:
    """Return a grid; each slice lies `lean` mm beside the one below."""
    axes = (np.eye(3) if direction is None else direction) * spacing
    axes[:, 2] += axes[:, :2] / spacing[:2] @ np.array(lean)
    return shapes.gridOf(size, 1, (-120.3, 77.1, -31), axes)


# Numbers that are exact in files, so that centers on a contour are on it.
EXACT = shapes.gridOf((40, 36, 6), (1, 0.75, 3), (-20.5, 7.25, -9))
GRIDS = {
    "axial": gridOf(),
    "oblique": gridOf(shapes.rotation((1, 2, 3), 40)),
    "tilted": gridOf(shapes.rotation((1, 0, 0), 15), (0.0, 0.8)),
}


def read(folder, grid, regions: dict, withImage=True, kinds=None) -> dict:
    """Return the structures of contours, which are (slice, points (n, 2) in pixels), as a file has them."""
    drawn = {
        name: [grid.toWorld(np.column_stack([points, np.full(len(points), k)])) for k, points in loops]
        for name, loops in regions.items()
    }
    return dicomfiles.readContours(folder / "case", drawn, grid if withImage else None, kinds=kinds)


def polygon(*points) -> np.ndarray:
    return np.array(points, float)


def areaOf(points: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the area of a polygon and its area times its center, by the sum over its edges."""
    x, y = points.T
    nextX, nextY = np.roll(points, -1, axis=0).T
    cross = x * nextY - nextX * y
    area = cross.sum() / 2
    return abs(area), np.array([((x + nextX) * cross).sum(), ((y + nextY) * cross).sum()]) / 6 * np.sign(area)


def requirePlace(structure, grid, area: float, moment: np.ndarray) -> None:
    """Fail if the voxels have another volume or center than the polygons. area, moment: sums over the slices."""
    volume = area * abs(np.linalg.det(grid.matrix[:3, :3]))
    assert structure.mask.size == pytest.approx(volume, rel=0.01)
    places = np.argwhere(structure.mask.voxels)[:, ::-1] + structure.mask.low
    center = grid.toIndex(structure.mask.grid.toWorld(places)).mean(axis=0)[:2]
    assert np.abs(center - moment / area).max() <= 0.05
    (note,) = structure.notes
    says(note)


def hull(seed: int, radius: float) -> np.ndarray:
    """Return a convex polygon of pixel centers."""
    generator = np.random.default_rng(seed)
    angles, far = generator.uniform(0, 2 * np.pi, 12), generator.uniform(0.7, 1, 12) * radius
    points = np.unique(np.rint(np.stack([18 + far * np.cos(angles), 17 + far * np.sin(angles)], axis=1)), axis=0)
    return points[ConvexHull(points).vertices]


@pytest.mark.parametrize("which", GRIDS)
def testVolumeAndCenterAreThoseOfThePolygons(tmp_path, which):
    """Also of the smallest ones, and of lines of any slope; which of the points on a line count must not matter."""
    shaped = {
        "corner": polygon((4, 5), (5, 5), (4, 6)),
        "plus": polygon((9, 8), (10, 9), (9, 10), (8, 9)),
        "flat": polygon((4, 5), (7, 6), (5, 7)),
        "box": polygon((10, 10), (22, 10), (22, 19), (10, 19)),
        "slanting": polygon((5, 5), (20, 20), (19, 21), (4, 6)),
        "keyhole": polygon(*KEYHOLE),
    } | {f"hull{seed}": hull(seed, radius) for seed, radius in enumerate((2.5, 4, 7, 12, 15))}
    # as coordinates are rounded in files
    rounding = np.random.default_rng(1).uniform(-0.004, 0.004, (len(shaped), 2))
    regions = {
        name: [(k, points + away) for k in (1, 2, 3)]
        for (name, points), away in zip(shaped.items(), rounding, strict=True)
    }
    found = read(tmp_path, GRIDS[which], regions)
    for name, points in shaped.items():
        area, moment = areaOf(points)
        requirePlace(found[name], GRIDS[which], 3 * area, 3 * moment)


def testHolesAndIslandsAreThoseOfThePolygons(tmp_path):
    outer, hole, island = hull(3, 14), polygon((14, 13), (22, 13), (22, 21), (14, 21)), hull(8, 3)
    loops = [(k, points) for k in (2, 3) for points in (outer, hole, island)]
    regions = {"Nested": loops, "Exclusive": loops}
    kinds = {("Exclusive", number): "CLOSEDPLANAR_XOR" for number in range(len(loops))}
    found = read(tmp_path, GRIDS["axial"], regions, kinds=kinds)
    (whole, wholly), (gone, away), (back, again) = map(areaOf, (outer, hole, island))
    for name in regions:
        requirePlace(found[name], GRIDS["axial"], 2 * (whole - gone + back), 2 * (wholly - away + again))
    assert found["Nested"].mask.isSameAs(found["Exclusive"].mask)


def testOtherContoursAreFilledAsEver(tmp_path):
    """Also beside one through pixel centers, in the same structure: there a pixel consists of equal parts."""
    grid, box = EXACT, polygon((4, 4), (9, 4), (9, 9), (4, 9))
    away = np.add(box, (0, 0.011))  # one that misses the centers by more than rounding
    circle = np.stack([np.cos(np.linspace(0, 6, 40)), np.sin(np.linspace(0, 6, 40))], axis=1) * 7.3 + (25.2, 20.4)
    someOn = np.concatenate([box[:3], [(4, 8.6)]])
    regions = {"Away": away, "Circle": circle, "Some": someOn, "Mixed": circle}
    drawn = {name: [(2, points), (3, points)] for name, points in regions.items()}
    drawn["Mixed"] += [(2, box)]
    found = read(tmp_path, grid, drawn)
    j, i = np.indices((36, 40))
    for name, points in regions.items():
        # a center on a contour counts as if it were a hair farther along the columns, and less along the rows
        start, end = points, np.roll(points, -1, axis=0)
        inside = np.zeros((36, 40), bool)
        for (x, y), (farX, farY) in zip(start, end, strict=True):
            crosses = (j >= min(y, farY)) & (j < max(y, farY))
            if crosses.any():
                inside ^= crosses & (i >= x + (j - y) / (farY - y) * (farX - x))
        structure, parts = found[name], 2 if name == "Mixed" else 1
        assert (structure.mask.grid == grid) == (parts == 1)
        low, high = np.array([0, 0, 2]), np.array([40 * parts - 1, 36 * parts - 1, 3])
        voxels = structure.mask.block(low, high)
        np.testing.assert_array_equal(voxels[1], inside.repeat(parts, 0).repeat(parts, 1))
        assert len(structure.notes) == parts - 1
    says(found["Mixed"].notes[0], 1, "2 x 2")
    assert found["Mixed"].mask.count == found["Circle"].mask.count * 4 + 100


@pytest.mark.parametrize("withImage", [True, *rarely([False])])
def testTwoSetsShareALattice(tmp_path, withImage):
    """The small one needs more parts than the other: their numbers are those of the polygons all the same."""
    grid = Grid((40, 36, 6), np.diag([1.0, 1, 3, 1]))
    box, corner = polygon((10, 10), (20, 10), (20, 20), (10, 20)), polygon((19, 19), (20, 19), (19, 20))
    one, other = (
        read(tmp_path / name, grid, {"Box": [(2, points), (3, points)]}, withImage)["Box"]
        for name, points in (("a", box), ("b", np.add(box, (1, 0))))
    )
    small = read(tmp_path / "c", grid, {"Box": [(2, corner), (3, corner)]}, withImage)["Box"]
    c = compare(one, other)
    assert c["DSC"].value == pytest.approx(2 * 90 / 200) and c.reference.mask.fits(c.test.mask.grid)
    assert (c["MaxL"].value, c["MinR"].value, c["HD"].value) == pytest.approx((1, -1, 1), abs=0.01)
    assert small.mask.grid.spacing[0] < one.mask.grid.spacing[0]
    for pair in ((one, small), (small, one)):
        c = compare(*pair)
        assert c["DSC"].value == pytest.approx(2 * 0.5 / 100.5) and c.reference.mask.fits(c.test.mask.grid)


@pytest.mark.parametrize("turned", [True, *rarely([False])])
def testItsOwnMaskLiesHalfAPixelAround(tmp_path, turned):
    """A mask and what was traced around it, from the first to the last pixel center, whatever the mask's axes are."""
    grid = Grid((128, 128, 6), np.diag([1.0, 1, 3, 1]))
    corners = polygon((20, 20), (29, 20), (29, 29), (20, 29))
    traced = read(tmp_path, grid, {"Box": [(k, corners) for k in (1, 2, 3, 4)]})["Box"]
    image = shapes.box((20, 20, 1), (29, 29, 4), grid.size, (1.0, 1.0, 3.0))
    if turned:
        image = SimpleITK.Flip(SimpleITK.PermuteAxes(image, (2, 0, 1)), (True, False, True))
    dose = SimpleITK.GetImageFromArray(np.broadcast_to(np.arange(128, dtype=np.float32), (6, 128, 128)).copy())
    dose.SetSpacing((1, 1, 3))
    for pair, sign in (((image, traced), -1), ((traced, image), 1)):
        c = compare(*pair, dose=dose)
        assert [c[f"Mean{way}"].value for way in "RLAP"] == pytest.approx([sign * 0.5] * 4, abs=0.02)
        assert c["HD"].value == pytest.approx(np.sqrt(0.5), abs=0.01)
        assert c["DSC"].value == pytest.approx(2 * 81 / 181) and c.reference.mask.fits(c.test.mask.grid)
        assert [c[f"Dmean{side}"].value for side in ("Reference", "Test")] == pytest.approx([24.5, 24.5], abs=1e-3)
        which = "test" if sign < 0 else "reference"
        (told,) = [one for one in c.findings if "2 x 2" in one]
        says(told, which)
    ordinary = compare(image, image)
    assert ordinary.reference.mask.count == 400


def testLines(tmp_path):
    """A line encloses nothing, as a mask one pixel wide is traced."""
    grid, line = EXACT, polygon((4, 4), (9, 4), (12, 7), (9, 4))
    (found,) = read(tmp_path, grid, {"Line": [(2, line)]}).values()
    assert found.isEmpty and found.isUnfilled and found.mask.grid == grid


def testObserversAndLesionsShareALatticeToo(tmp_path):
    """One observer's contours run through pixel centers, another's do not, and the third has a mask."""
    grid = Grid((40, 36, 6), np.diag([1.0, 1, 3, 1]))
    box, small = polygon((10, 10), (20, 10), (20, 20), (10, 20)), polygon((30, 10), (31, 10), (30, 11))
    between = polygon((9.6, 9.6), (20.4, 9.6), (20.4, 20.4), (9.6, 20.4))
    traced = read(tmp_path / "a", grid, {"Box": [(2, box), (3, box)], "Small": [(2, small), (3, small)]})
    drawn = read(tmp_path / "b", grid, {"Box": [(2, between), (3, between)]})["Box"]
    image = shapes.box((10, 10, 2), (20, 20, 3), grid.size, (1.0, 1.0, 3.0))
    for three in ((traced["Box"], drawn, image), (image, traced["Box"], drawn)):
        (organ,) = compareObservers(list(three), Settings(metrics="DSC"))
        # all of the 121 pixels of two are those of the consensus, of which the third has 100
        assert organ.consensus.mask.size == pytest.approx(6 * 121)
        assert organ.agreement["ConformityIndex"] == pytest.approx(100 / 121)
    both = list(traced.values())
    (c,) = compareCase(both, both, Settings(instanceMaps=True, metrics="LesionsFound"))
    assert c["LesionsFound"].value == 2 and c.reference.mask.size == pytest.approx(6 * 100.5)
