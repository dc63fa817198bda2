"""The evaluated grid, on which true negatives are counted."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry.grids import Grid

BOTH = Settings(families=("overlap", "agreement", "voxel"))


def testTheEvaluatedGrid():
    reference = shapes.box((6, 6, 6), (15, 14, 13))
    test = shapes.box((7, 6, 6), (15, 16, 13), (20, 20, 20), origin=(5, 0, 0))
    own = compare(reference, test, BOTH).grid["evaluated"]
    assert own["size"] == [24, 24, 24] and own["voxels"] == 24**3
    far = compare(reference, shapes.box((7, 6, 6), (15, 16, 13), (20, 20, 20), origin=(15, -8, 0)), BOTH)
    evaluated = far.grid["evaluated"]
    assert evaluated["size"] == [31, 26, 24] and evaluated["origin"] == [0, -2, 0]
    assert evaluated["choice"] == "the reference's image, extended to contain both structures"
    union = compare(reference, test, Settings(families="agreement", grid="union")).grid["evaluated"]
    assert union["size"] == [15, 11, 8] and union["choice"] == "the box around both structures"
    # the image's size counts in mm where the masks are resampled
    coarse = shapes.box((3, 3, 3), (7, 7, 7), (12, 12, 12), (2, 2, 2), (0.5, 0.5, 0.5))
    resampled = compare(coarse, reference, BOTH).grid["evaluated"]
    assert resampled["size"] == [24, 24, 24]
    assert "evaluated" not in compare(reference, test, Settings(families="overlap")).grid


def testTheEvaluatedGridOfAVolume():
    reference, test = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((7, 6, 6), (15, 14, 13))

    def evaluated(*geometry, **more):
        volume = shapes.imageOf(np.zeros(geometry[0][::-1], np.uint8), *geometry[1:], **more)
        comparison = compare(reference, test, Settings(families=("agreement", "hazard"), grid=volume), criticals=wall)
        grid = comparison.grid["evaluated"]
        outside = grid["voxels"] - 10 * 9 * 8
        assert comparison["TNR"].value == 1 and comparison["ACC"].value == (grid["voxels"] - 72) / grid["voxels"]
        assert outside > 0
        return grid, comparison

    wall = {"Wall": shapes.box((0, 0, 0), (3, 23, 23))}
    # of the same lattice
    grid, _ = evaluated((30, 24, 20), (1, 1, 1), (-3, 0, 0))
    assert (grid["size"], grid["voxels"], grid["choice"]) == ([30, 24, 20], 14400, "the given volume")
    # extended
    grid, _ = evaluated((10, 24, 20), (1, 1, 1), (0, 0, 0))
    assert grid["size"] == [16, 24, 20] and grid["choice"] == "the given volume, extended to contain both structures"
    # of another size of voxels: so many of ours fill it
    grid, _ = evaluated((10, 12, 14), (3, 2, 2), (1, 0.5, 0.5))
    assert (grid["size"], grid["voxels"]) == ([30, 24, 28], 20160)
    assert grid["choice"] == "the given volume, counted in voxels of the size in which overlap is counted"
    # turned: its own box counts, not the box around it
    turned = shapes.rotation((0, 0, 1), 45)
    middle = np.array([11.5, 11.5, 11.5]) - turned @ (np.array([39, 39, 23]) / 2)
    grid, comparison = evaluated((40, 40, 24), (1, 1, 1), tuple(middle), direction=turned)
    assert grid["voxels"] == 40 * 40 * 24 and grid["size"] == [40, 40, 24]
    # what of the wall's hazard lies outside the reference in it, voxel by voxel
    k, j, i = np.meshgrid(*[np.arange(-20, 45)] * 3, indexing="ij")
    place = (np.stack([i, j, k], axis=-1) - middle) @ turned
    within = ((place >= -0.5) & (place < np.array([40, 40, 24]) - 0.5)).all(axis=-1)
    gap = [np.maximum(np.maximum(low - n, n - high), 0) for n, low, high in ((i, 0, 3), (j, 0, 23), (k, 0, 23))]
    weight = np.maximum(0, 1 - sum(g.astype(float) ** 2 for g in gap) / 100) * within
    inReference = (i >= 6) & (i <= 15) & (j >= 6) & (j <= 14) & (k >= 6) & (k <= 13)
    missed = weight[inReference & (i == 6)].sum() / weight[inReference].sum()
    assert comparison["RFN"].value == pytest.approx(missed, rel=1e-6)
    swapped = compare(test, reference, Settings(families="hazard", grid=compareGrid(grid)), criticals=wall)
    inTest = inReference & (i >= 7)
    assert swapped["RFP"].value == pytest.approx(weight[inReference & ~inTest].sum() / weight[~inTest].sum(), rel=1e-6)


def compareGrid(described: dict) -> Grid:
    """Return the grid that a result describes."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.reshape(described["direction"], (3, 3)) * described["spacing"]
    matrix[:3, 3] = described["origin"]
    return Grid(tuple(described["size"]), matrix)


def testTheEvaluatedGridOfPlanarAndOfMeshes():
    contours = [shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0], (1, 2)) for seed in (3, 4)]
    volume = shapes.imageOf(np.zeros((9, 40, 50), np.uint8), (1, 2, 1), (-5, -10, -4))
    grid = compare(*contours, Settings(families="agreement", grid=volume)).grid["evaluated"]
    assert grid["size"] == [50, 40, 1] and grid["voxels"] == 2000
    meshes = shapes.boxMesh((0, 0, 0), (10, 10, 10)), shapes.boxMesh((1, 0, 0), (11, 10, 10))
    around = shapes.imageOf(np.zeros((20, 20, 20), np.uint8), origin=(-4.5, -4.5, -4.5))
    comparison = compare(*meshes, Settings(families="agreement", grid=around))
    # a tenth of a millimeter is the step for meshes of a centimeter
    assert comparison.grid["evaluated"]["voxels"] == 200**3
    assert comparison["TNR"].value == pytest.approx(1 - 100 / (8000 - 1000), rel=1e-3)
