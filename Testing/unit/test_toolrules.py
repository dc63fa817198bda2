"""What other tools do, in parts: bands of voxel centers asked one by one, and offsets that travel with their errors."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from scipy.ndimage import distance_transform_edt

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.conventions.elements import cornerSizes
from SegmentMetricsLib.conventions.propagation import distanceMaps
from SegmentMetricsLib.geometry.closest import ClosestSurface


@pytest.mark.parametrize("size", [(9, 8, 6), (12, 14, 1), (12, 1, 9)], ids=str)
def testBandsOfVoxelCenters(size):
    """By surface and by faces: every voxel asked by itself. Some centers are as deep as the tolerance, in any image."""
    spacing = (0.5, 0.5, 2.0)
    arrays = [shapes.blob(seed, [max(n, 2) for n in size], 0.5, 0.8)[tuple(map(slice, size[::-1]))] for seed in (1, 2)]
    arrays = [np.pad(array > 0, [(0, 0) if n == 1 else (2, 2) for n in size[::-1]]) for array in arrays]
    keys, everywhere = ("MeshMetrics-1.4.1", "MeshMetrics-surfacenets"), np.argwhere(np.ones(arrays[0].shape))
    for origin, direction in (((0, 0, 0), None), ((500.1, -300.7, 70.3), shapes.rotation((1, 2, 3), 40))):
        images = [shapes.imageOf(array, spacing, origin, direction) for array in arrays]
        comparison = compare(*images, Settings(tolerances=1.25))
        bands: dict[str, list] = {key: [] for key in keys}
        for array, structure in zip(arrays, (comparison.reference, comparison.test), strict=True):
            places = structure.mask.grid.toWorld(everywhere[:, ::-1])
            signed = ClosestSurface(structure.surface.target).signedDistances(places)
            bands[keys[0]].append((signed < -1e-5) & (signed > 1e-5 - 1.25))
            gaps = np.maximum(abs(everywhere[:, None] - everywhere[~array.ravel()]) - 0.5, 0) * spacing[::-1]
            bands[keys[1]].append(array.ravel() & (np.linalg.norm(gaps, axis=2).min(axis=1) < 1.25 - 1e-5))
        for key, (one, other) in bands.items():
            found = comparison.conventions(key)[key]["BIoU_1.25mm"].value
            assert 0 < found < 1 and found == np.count_nonzero(one & other) / np.count_nonzero(one | other), key


def testSizesOfTheBoundaryAtCorners():
    """A code and its opposite have the same triangles. One voxel of eight: a triangle that cuts half an edge each."""
    sizes = cornerSizes(np.array([2.0, 1.5, 1.0]), None)
    assert np.array_equal(sizes, sizes[::-1]) and sizes[0] == 0
    # of which the squares add up, seen along each axis: half of a quarter of a side
    assert sizes[1] == pytest.approx(np.linalg.norm([2 * 1.5, 2 * 1, 1.5 * 1]) / 8)
    assert sizes[0b1111] == pytest.approx(1.5) and sizes[0b11] == pytest.approx(2 * np.hypot(1.5 / 2, 2 / 2) / 2 * 1)


@pytest.mark.parametrize(
    ("seed", "spacing", "errors"),
    [
        (54, (2.5, 0.7, 1.0), {(1, 7, 13): 7.0007, (1, 8, 12): 6.8819, (1, 8, 13): 7.5073}),
        (52, (2.5, 0.7, 1.0), {(5, 11, 0): 2.9732, (6, 11, 0): 3.8846, (7, 11, 0): 5.8172}),
        (52, (1.0, 1.0, 1.0), {(6, 10, 0): 10**0.5, (7, 10, 0): 13**0.5}),
    ],
)
def testOffsetsTravelWithTheirErrors(seed, spacing, errors):
    """Distances to sparse voxels are exact but for some, where the best offset lost on its way."""
    borders = np.random.default_rng(seed).random((8, 12, 14)) < 0.01
    exact = distance_transform_edt(~borders, sampling=spacing)
    # beside another mask, which has no effect
    both = np.stack([borders, borders[::-1]], axis=2)
    found = distanceMaps(both, np.array(spacing))[:, :, 0]
    wrong = map(tuple, np.argwhere(found > exact + 1e-4).tolist())
    assert {place: found[place] for place in wrong} == pytest.approx(errors, abs=1e-4)
    assert (found >= exact - 1e-5).all()
    limited = distanceMaps(both, np.array(spacing), 3.0)[:, :, 0]
    assert np.array_equal(limited[found <= 3], found[found <= 3]) and np.isinf(limited[found > 3.001]).all()
