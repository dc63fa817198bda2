"""A dozen pairs that serve all sweeps over the registry; each comparison of them is made once in a session.

What sweeps require of every measurement is in promises.py, which random pairs are held to as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import shapes
import SimpleITK
from scipy.ndimage import gaussian_filter

from SegmentMetricsLib import Dose, Settings, compare
from SegmentMetricsLib.case.given import asStructure

SETTINGS = Settings(
    families=("all", "dose"),
    tolerances=(1.5, 2),
    percentiles=(50, 95),
    betas=(1, 0.5, 2),
    quantiles=(1, 0.9),
    dosePercents=(5, 95),
    doseVolumes=(0.03,),
    doseLevels=(20, 30),
)
SIZE = (26, 24, 22)
EMPTY = shapes.imageOf(np.zeros(SIZE[::-1], np.uint8))
OBLIQUE = shapes.rotation((1, 2, -0.5), 33) * (-1, 1, 1)  # and left-handed


@dataclass(frozen=True, eq=False)
class SharedPair:
    """A reference, a test and what lies beside them. isExact: whether all is counted, and nothing sampled."""

    reference: object
    test: object
    critical: object
    isExact: bool = True


def masks(reference, test) -> SharedPair:
    """Return a pair of images with a critical structure: the voxels at one end of the reference's image."""
    array = np.zeros(SimpleITK.GetArrayViewFromImage(reference).shape, np.uint8)
    array[..., :4] = 1
    critical = SimpleITK.GetImageFromArray(array)
    critical.CopyInformation(reference)
    return SharedPair(reference, test, critical)


def blobs(size, seeds, share=0.3, **geometry) -> SharedPair:
    arrays = [np.pad(shapes.blob(seed, size, share, 2.0), 3) for seed in seeds]
    return masks(*(shapes.imageOf(array, **geometry) for array in arrays))


def memberships() -> SharedPair:
    noise = [gaussian_filter(np.random.default_rng(seed).standard_normal((9, 11, 10)), 1.5) for seed in (1, 2)]
    return masks(*(shapes.imageOf(np.round(np.clip(3 * one, 0, 1), 3), (1, 1.2, 2)) for one in noise))


def square(x: float, side: float):
    return shapes.loops([(x, 0), (x + side, 0), (x + side, side), (x, side)])


@cache
def pairs() -> dict[str, SharedPair]:
    """Return the pairs by name."""
    box = shapes.box((6, 6, 6), (15, 14, 13), SIZE)
    slab = shapes.boxMesh((-14, -12, -12), (-9, 12, 12))
    voxel = [shapes.box(at, at, (8, 8, 8), (0.5, 1, 2)) for at in ((3, 3, 3), (4, 3, 3))]
    grids = [
        shapes.ball(7, (0, 0, 0), (1, 1, 2), (-12, -12, -12), (25, 25, 13)),
        shapes.ball(6, (2, 1, 0), (1.5, 1.5, 1.5), (-12, -12, -11), (18, 18, 16)),
    ]
    return {
        "boxes": masks(box, shapes.box((7, 6, 5), (15, 16, 13), SIZE)),
        "apart": masks(shapes.box((2, 2, 2), (5, 6, 7), SIZE), shapes.box((12, 12, 10), (17, 16, 15), SIZE)),
        "inside": masks(shapes.box((3, 3, 3), (20, 18, 17), SIZE), shapes.box((9, 9, 9), (11, 10, 12), SIZE)),
        "blobs": blobs((14, 13, 11), (1, 2), spacing=(1, 1.5, 2)),
        "contours": masks(*(shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0], (1, 2)) for seed in (3, 4))),
        "voxels": masks(*voxel),
        "memberships": memberships(),
        "oblique": blobs((14, 12, 7), (5, 6), spacing=(0.9, 1.1, 3.3), origin=(1e5, -1e5, 7e4), direction=OBLIQUE),
        "grids": SharedPair(*grids, shapes.ball(4, (-7, 0, 0), (1, 1, 2), (-12, -12, -12), (25, 25, 13)), False),
        "meshes": SharedPair(shapes.ballMesh(7.3, (0, 0, 0), 12), shapes.ballMesh(6, (1, 2, 0.5), 10), slab, False),
        "mask and mesh": SharedPair(grids[0], shapes.surfaceOf(grids[1]), slab, False),
        "polylines": SharedPair(square(0, 6), square(2, 7), square(-3, 2), False),
    }


NAMES = tuple(pairs())


def compareWith(pair: SharedPair, reference, test, settings=SETTINGS):
    return compare(reference, test, settings, criticals={"Wall": pair.critical}, dose=doseAround(pair.reference))


def doseAround(given) -> Dose | None:
    """Return a dose that rises along all axes, in a box around a structure and beside it, None in a plane."""
    structure = asStructure(given, "reference", None, Settings())
    if structure.dimension == 2:
        return None
    step, middle = 4.0, np.mean(structure.box, axis=0)
    grid = shapes.gridOf((21, 21, 21), step, middle - 10 * step)
    return Dose(1.0 + np.indices((21, 21, 21)).sum(axis=0), grid)


# Other ways to measure, which keep the same promises.
VARIANTS = {
    "usual": {},
    "union": {"grid": "union"},
    "other": {"hazardKernel": "exponential", "voxelUnit": "voxel", "grid": "union", "splitContours": True, "ol": 3},
}


def compared(name: str, order: str = "AB", variant: str = "usual"):
    """Return the comparison of a pair, as "AB", "BA", "AA" or "BB"; "E" is a structure that is empty."""
    return _compared(name, order, variant)  # with all three, by which it is kept


@cache
def _compared(name: str, order: str, variant: str):
    pair = pairs()[name]
    known = {"A": pair.reference, "B": pair.test, "E": EMPTY}
    settings = SETTINGS.replace(**VARIANTS[variant])
    return compareWith(pair, *(known[letter] for letter in order), settings)


@cache
def changed(change: str, amount: int):
    """Return the comparison of a box with itself, "moved" or "enlarged" on one side by so many voxels."""
    low, high = (6, 8, 7), (17, 14, 13)
    start = low[0] + amount if change == "moved" else low[0]
    pair = masks(shapes.box(low, high, SIZE), shapes.box((start, *low[1:]), (high[0] + amount, *high[1:]), SIZE))
    return compareWith(pair, pair.reference, pair.test)
