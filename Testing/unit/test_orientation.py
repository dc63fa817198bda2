"""Meshes whose triangles face the wrong way, repeat each other, are as thin as a line, or enclose nothing."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from sayings import says
from shapes import together

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import Cause
from SegmentMetricsLib.geometry import meshing, orientation
from SegmentMetricsLib.geometry.surfaces import Surface, toPolyData
from SegmentMetricsLib.metrics.findings import Kind

BALL, SHELL, CORE, FAR = (
    meshing.fromPolyData(shapes.ballMesh(radius, (x, 0, 0), 24)) for radius, x in ((10, 0), (5, 0), (2, 0), (5, 30))
)
NEEDS_INSIDE = ("BIoU_2mm", "SignedMean", "DSC", "IoU", "TPR", "PPV", "VolumeTest", "VoxelVolumeTest")


def reversed_(surface: Surface) -> Surface:
    return Surface(surface.points, surface.cells[:, ::-1])


def read(surface: Surface) -> Surface:
    return meshing.fromPolyData(toPolyData(surface))


def halfTurned(surface: Surface) -> Surface:
    chosen = np.random.default_rng(1).random(len(surface.cells)) < 0.4
    return Surface(surface.points, np.where(chosen[:, None], surface.cells[:, ::-1], surface.cells))


HOLLOW = together(BALL, reversed_(SHELL))
# What is given, and what it is repaired to.
REPAIRED = {
    "mixed": (halfTurned(BALL), BALL),
    "inside out": (reversed_(BALL), BALL),
    "cavity": (together(BALL, SHELL), HOLLOW),
    "a part in a cavity": (together(BALL, SHELL, CORE), together(BALL, reversed_(SHELL), CORE)),
    "both wrong": (together(reversed_(BALL), SHELL), HOLLOW),
    "one of two parts": (together(BALL, reversed_(FAR)), together(BALL, FAR)),
    "two mixed parts": (halfTurned(together(BALL, FAR)), together(BALL, FAR)),
    "stored twice": (together(BALL, BALL), BALL),
    "seen from both sides": (together(BALL, reversed_(BALL)), BALL),
    "three times": (together(BALL, BALL, reversed_(BALL)), BALL),
    "a cavity seen from both sides": (together(HOLLOW, reversed_(BALL), SHELL), HOLLOW),
    "one reversed": (together(BALL, Surface(BALL.points, BALL.cells[:1, ::-1])), BALL),
    "some reversed": (together(BALL, Surface(BALL.points, BALL.cells[5:40, ::-1])), BALL),
    "some reversed first": (together(Surface(BALL.points, BALL.cells[5:40, ::-1]), BALL), BALL),
    "of one of two parts": (together(FAR, BALL, Surface(BALL.points, BALL.cells[9:12, ::-1])), together(FAR, BALL)),
}


def triangles(surface: Surface) -> set:
    """Return the triangles, which may begin with any corner, but face one way."""
    corners = surface.corners(np.arange(surface.count)).round(9) + 0.0
    return {min(tuple(map(tuple, np.roll(one, n, axis=0).tolist())) for n in range(3)) for one in corners}


@pytest.mark.parametrize("name", REPAIRED)
def testMeshesAreRepaired(name):
    given, right = REPAIRED[name]
    found = read(given)
    assert triangles(found) == triangles(right) and found.count == right.count and found.isClosed
    assert found.repairs and says("\n".join(found.repairs))


def testRepairsAreFindings():
    """Every number is that of the right mesh."""
    ball, given, right = map(toPolyData, (BALL, *REPAIRED["a cavity seen from both sides"]))
    repaired, expected = compare(ball, given), compare(ball, right)
    assert repaired.numbers == pytest.approx(expected.numbers, abs=1e-9, nan_ok=True)
    (finding,) = repaired.findings
    assert expected.findings == () and says(finding, "test", *meshing.fromPolyData(given).repairs)


@pytest.mark.parametrize("seed", [1, 2])
def testRightMeshesStayAsTheyAre(seed):
    """Also with many parts and cavities, and parts that touch along edges."""
    surface = shapes.boundaryOf(shapes.blob(seed, (30, 28, 26), 0.3, 0.8))
    again = read(surface)
    assert again.repairs == () and again.defect == ""
    assert again.volume == pytest.approx(surface.volume)
    turned = read(halfTurned(surface))
    says(turned.repairs[0], len(turned.cells))
    assert turned.volume == pytest.approx(surface.volume)
    assert (turned.cells == again.cells).all(axis=1).mean() > 0.5  # corners may begin elsewhere


FLAT = meshing.fromPolyData(shapes.boxMesh((0, 0, 0), (10, 0, 10)))
CROSSING = together(BALL, Surface(SHELL.points + np.array([8, 0, 0]), SHELL.cells))


@pytest.mark.parametrize(("surface", "defect"), [(FLAT, orientation.FLAT), (CROSSING, orientation.SELF_CROSSING)])
def testMeshesWithoutAnInside(surface, defect):
    for one, other in ((BALL, surface), (surface, surface)):
        result = compare(toPolyData(one), toPolyData(other))
        for key in NEEDS_INSIDE:
            assert result[key].status == "undefined" and result[key].cause is Cause.DEFECT, key
            assert defect in result[key].reason
        assert np.isfinite(result["HD"].value) and np.isfinite(result["NSD_2mm"].value)
        (told,) = (one for one in result.findings if f"test {defect}" in one)
        says(told)


def testAKleinBottleHasNoInside():
    u, v = np.meshgrid(np.arange(40), np.arange(40), indexing="ij")
    a, b = 2 * np.pi * u.ravel() / 40, 2 * np.pi * v.ravel() / 40
    radius = 4 + np.cos(a / 2) * np.sin(b) - np.sin(a / 2) * np.sin(2 * b)
    height = np.sin(a / 2) * np.sin(b) + np.cos(a / 2) * np.sin(2 * b)
    points = np.stack([radius * np.cos(a), radius * np.sin(a), height], axis=1)

    def number(i, j):
        # once around, the tube comes back turned by half
        return (i % 40) * 40 + np.where(i >= 40, -j, j) % 40

    cells = [
        [number(u, v), number(u + 1, v), number(u + 1, v + 1)],
        [number(u, v), number(u + 1, v + 1), number(u, v + 1)],
    ]
    surface = read(Surface(points, np.concatenate([np.stack(c, axis=-1).reshape(-1, 3) for c in cells])))
    assert surface.openEdges == 0 and surface.defect == orientation.ONE_SIDED


def testMeshesBetweenVoxelCenters():
    """Too small for any voxel: what would divide by zero is undefined and says why; its bands need none."""
    image = shapes.box((6, 6, 6), (15, 14, 13))
    speck = shapes.boxMesh((-8.6, -8.6, 8.4), (-8.4, -8.4, 8.6))
    result = compare(image, speck)
    assert result["DSC"].value == result["TPR"].value == 0
    assert result["PPV"].status == "undefined" and result["BIoU_2mm"].value == 0
    says(result["PPV"].reason, "test")
    apart, remark = result.findings
    assert apart.kind is Kind.NO_OVERLAP and says(remark, "test")
    grain = shapes.boxMesh((8.4, 8.4, 8.4), (8.6, 8.6, 8.6))
    within = compare(grain, image, Settings(families="overlap"))
    assert Kind.NO_OVERLAP not in [one.kind for one in within.findings] and says(within["TPR"].reason, "reference")


def testWallsBetweenBodiesStay():
    """They belong to both, also where one body is all around the other."""
    core, left, right = BALL, *(meshing.fromPolyData(shapes.boxMesh((x, 0, 0), (x + 2, 3, 4))) for x in (0, 2))
    outer = meshing.fromPolyData(shapes.ballMesh(20, resolution=24))
    for parts, volume in (((left, right), 48), ((outer, reversed_(core), core), outer.volume)):
        surface = read(together(*parts))
        assert surface.volume == pytest.approx(volume)
        assert len(surface.cells) == sum(len(part.cells) for part in parts)


@pytest.mark.parametrize("distance", [1e-9, 1e-7, 5e-6])
def testPointsThatAreAsGoodAsEqual(distance):
    """Each triangle has points of its own, which rounding has moved apart."""
    points = BALL.points[BALL.cells].reshape(-1, 3)
    points = points + np.random.default_rng(3).uniform(-distance / 4, distance / 4, points.shape)
    apart = read(Surface(points, np.arange(len(points)).reshape(-1, 3)))
    assert apart.isClosed and apart.volume == pytest.approx(BALL.volume, rel=1e-5)
    number = len(points) - len(BALL.points)
    (repair,) = apart.repairs
    says(repair, number, "3e-05 mm")


def testPointsStayApartWhereNothingIsOpen():
    tiny = Surface(SHELL.points * 1e-7 + np.array([20, 0, 0]), SHELL.cells)
    both = read(together(BALL, tiny))
    assert both.isClosed and both.repairs == () and len(both.points) == len(BALL.points) + len(tiny.points)
    # where merging closes nothing, nothing is merged
    opened = read(together(Surface(BALL.points, BALL.cells[1:]), tiny))
    assert opened.openEdges == 3 and opened.repairs == () and len(opened.cells) == len(both.cells) - 1
    # nor where nothing would be left
    line = Surface(np.array([(0, 0, 0), (10.0, 0, 0), (5, 1e-8, 0)]), np.array([(0, 1, 2)]))
    assert read(line).openEdges == 3


# Triangles as thin as a line, which close a mesh: those without any area, and those that rounding gave one.

SIZE = np.array([8.0, 4.0, 16.0])
BOX = meshing.fromPolyData(shapes.boxMesh((0, 0, 0), SIZE))


def capped(surface: Surface, seed: int) -> Surface:
    """Return a surface with caps on some of its sides: the triangle on one hand is cut in two there, the other is not.

    No triangle has two of them. A cap is between the ends of the side and the point where it is cut.
    """
    random = np.random.default_rng(seed)
    points, cells = list(surface.points), list(map(tuple, surface.cells.tolist()))
    sides = {side: cell for cell in cells for side in zip(cell, (*cell[1:], cell[0]))}
    used = set()
    for start, end in random.permutation(list(sides)).tolist():
        one, other = sides[start, end], sides[end, start]
        if used & {one, other}:
            continue
        used |= {one, other}
        share, middle = random.choice([0.25, 0.5, 0.75]), len(points)
        (tip,) = set(one) - {start, end}
        points.append(points[start] + share * (points[end] - points[start]))
        cells.remove(one)
        cells += [(start, middle, tip), (middle, end, tip), (start, end, middle)]
    return Surface(np.array(points), np.array(cells))


def rounded(surface: Surface) -> Surface:
    """Return a turned surface as files with single precision hold it, in which no three points are on one line."""
    turned = surface.points @ shapes.rotation((1, 2, 3), 37).T
    return Surface(turned.astype(np.float32).astype(float), surface.cells)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("times", [1, 3])
def testCapsLeaveNoHoles(seed, times):
    """Also where caps have caps."""
    surface = BOX
    for _ in range(times):
        surface = capped(surface, seed)
    whole = read(surface)
    assert whole.isClosed and whole.nonManifoldEdges == 0
    assert whole.volume == pytest.approx(SIZE.prod(), rel=1e-12)
    (repair,) = whole.repairs
    says(repair)


def testCapsThatNothingNeeds():
    """One beside whole triangles is left out, and nothing is cut; so is one whose points are those of a hole."""
    points = np.concatenate([BOX.points, [BOX.points[BOX.cells[0, :2]].mean(axis=0)]])
    loose = [*BOX.cells[0, :2], len(BOX.points)]
    whole = read(Surface(points, np.array([*BOX.cells, loose])))
    assert whole.isClosed and len(whole.cells) == len(BOX.cells)
    (repair,) = whole.repairs
    says(repair, "1")
    opened = read(Surface(points, np.array([*BOX.cells[1:], loose])))
    assert not opened.isClosed and opened.sizes.sum() == pytest.approx(BOX.sizes[1:].sum())


def testFlatBodiesAreNotSaidToBeTurned():
    """Which way their triangles face is a matter of rounding."""
    for cell in BALL.cells[:20]:
        flat = read(Surface(BALL.points, np.array([cell, cell[::-1]])))
        assert flat.defect == orientation.FLAT and flat.repairs == ()
