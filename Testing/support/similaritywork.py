"""What the tests of the similarity index share: slices of simple shapes, and their index."""

from __future__ import annotations

import numpy as np
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask

KEYS = ["MSI", "MSIPaired", "PairedDistance", "MeanBLD", "MSI3D"]


def measured(reference, test, **settings):
    return compare(reference, test, Settings(families="similarity", **settings))


def values(result) -> list[float]:
    return [result[key].value for key in KEYS]


def stack(slices, **geometry):
    """Return the image of slices [j, i]."""
    return shapes.imageOf(np.stack([np.asarray(s, np.uint8) for s in slices]), **geometry)


def disc(radius: float, center=(30, 30), size: int = 60) -> np.ndarray:
    j, i = np.mgrid[:size, :size]
    return np.hypot(i - center[0], j - center[1]) <= radius


def square(low, high, size: int = 30) -> np.ndarray:
    """Return the slice of a rectangle of pixels from low to high (i, j), both included."""
    array = np.zeros((size, size), bool)
    array[low[1] : high[1] + 1, low[0] : high[0] + 1] = True
    return array


def maskOf(array, axes=None, start=(0, 0, 0)) -> Mask:
    array = np.asarray(array)
    array = array[None] if array.ndim == 2 else array
    return Mask.fromArray(array, Grid(array.shape[::-1], np.eye(4) if axes is None else axes), start)
