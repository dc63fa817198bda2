"""Digits: however far away, turned or stored, a pair keeps its numbers to a ten-thousandth.

The same two structures are compared in the middle of the coordinate system in double precision, and as patients have
them: 1e5 mm from the origin, with voxels of 0.2 x 0.2 x 10 mm, in left-handed and oblique images whose directions were
rounded in the 7th digit, with points in single precision; as voxels, as surfaces, as files.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import shapes
import strategies as some
from imagefiles import save

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry.meshing import fromPolyData
from SegmentMetricsLib.geometry.surfaces import Surface, toPolyData
from SegmentMetricsLib.io.reading import readStructures

pytestmark = [pytest.mark.nightly, pytest.mark.usefixtures("coarse")]

DIGITS = 1e-4
# What is as good as zero where the structures have some 10 mm: mm, mm2, mm3 or a share.
ZERO = 1e-6
SETTINGS = Settings(
    families="all", tolerances=(1.46, 2.83), percentiles=(61.7, 95), betas=(1, 0.5), quantiles=(1, 0.87), il=0.4, ol=0.9
)
SPACINGS = {"usual": (0.9, 1.1, 2.5), "flat": (0.2, 0.2, 10.0)}
# An oblique image, with and without a mirror in it.
OBLIQUE = shapes.rotation((1, 2, -0.5), 33)
LEFT_HANDED = OBLIQUE * (-1, 1, 1)
FAR = np.array([1e5, -1e5, 7e4])


def voxels(spacing) -> some.Voxels:
    size = (16, 14, 7)
    arrays = [np.pad(shapes.blob(seed, size, 0.35, 2.0), 2) for seed in (1, 2, 3)]
    return some.Voxels(*arrays, some.Placement(spacing))


def placed(spacing, direction: np.ndarray, origin=(0, 0, 0)) -> some.Placement:
    return some.Placement(spacing, tuple(np.asarray(origin, float).tolist()), tuple(map(tuple, direction.tolist())))


def compared(images, settings):
    return compare(images[0], images[1], settings, criticals={"Wall": images[2]})


@lru_cache
def expected(kind: str, direction: bytes = np.eye(3).tobytes()):
    spacing = SPACINGS[kind]
    place = placed(spacing, np.frombuffer(direction).reshape(3, 3))
    return compared(voxels(spacing).images(place), SETTINGS)


def requireDigits(found, wanted) -> None:
    """Require two comparisons to agree to DIGITS of every value, but for what is as good as zero."""
    assert found.keys() == wanted.keys()
    wrong = {}
    for key, measurement in wanted.items():
        if found[key].value != pytest.approx(measurement.value, rel=DIGITS, abs=ZERO, nan_ok=True):
            wrong[key] = found[key].value, measurement.value, found[key].reason
    assert not wrong, repr(wrong)


@pytest.mark.parametrize("kind", SPACINGS)
@pytest.mark.parametrize("direction", [OBLIQUE, LEFT_HANDED], ids=["oblique", "left-handed"])
def testImages(kind, direction, tmp_path):
    """Far from the origin, with directions as files have them, each in its own way: they are one lattice all the same.

    NIfTI has single precision, and origins as close as it is.
    """
    spacing, wanted = SPACINGS[kind], expected(kind, direction.tobytes())
    requireDigits(compared(voxels(spacing).images(placed(spacing, direction, FAR)), SETTINGS), wanted)
    random, images = np.random.default_rng(5), []
    for array in voxels(spacing).arrays:
        rounded = np.float32(direction + random.uniform(-3e-7, 3e-7, (3, 3))).astype(float)
        steps = tuple(np.float32(spacing).astype(float).tolist())
        images.append(placed(steps, rounded, np.float32(FAR * 1e-3)).image(array))
    requireDigits(compared(images, SETTINGS), wanted)
    paths = [save(image, tmp_path / f"{number}.nii.gz") for number, image in enumerate(images)]
    requireDigits(compared([readStructures(path)[0] for path in paths], SETTINGS), wanted)


def surfaces() -> list[Surface]:
    """Return two bodies and a wall that no lattice made, around the origin."""
    ball = fromPolyData(shapes.ballMesh(11, (0.3, -0.2, 0.1), 16))
    egg = fromPolyData(shapes.ballMesh(10, (0.7, 1.1, -0.4), 14))
    turn = shapes.rotation((3, 1, 2), 50)
    wall = fromPolyData(shapes.boxMesh((9, -15, -15), (14, 15, 15)))
    return [
        Surface(s.points * stretch @ turn.T, s.cells) for s, stretch in ((ball, 1), (egg, (1, 1.2, 0.9)), (wall, 1))
    ]


def polyData(surface: Surface, shift=(0, 0, 0), precision=float):
    return toPolyData(Surface((surface.points + shift).astype(precision).astype(float), surface.cells))


def testMeshes(tmp_path):
    """Far from the origin, in single precision, and in each kind of file, whose points are texts or single, too."""
    every = [[polyData(s, shift=FAR) for s in surfaces()], [polyData(s, precision=np.float32) for s in surfaces()]]
    for suffix in (".vtp", ".stl", ".ply", ".obj"):
        paths = [shapes.writeMesh(polyData(s), tmp_path / f"{n}{suffix}", "LPS") for n, s in enumerate(surfaces())]
        every.append([readStructures(path)[0] for path in paths])
    wanted = compared([polyData(s) for s in surfaces()], SETTINGS)
    for structures in every:
        requireDigits(compared(structures, SETTINGS), wanted)
