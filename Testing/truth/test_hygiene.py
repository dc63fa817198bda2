"""Digits: however far away, turned or stored, a pair keeps its numbers to a ten-thousandth.

The same two structures are compared in the middle of the coordinate system in double precision, and as patients have
them: 1e5 mm from the origin, with voxels of 0.2 x 0.2 x 10 mm, in left-handed and oblique images whose directions were
rounded in the 7th digit, with points in single precision; as voxels, as surfaces, as files.
"""

from __future__ import annotations

import numpy as np
import pytest
import shapes
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


def voxels(spacing, direction=None, origin=(0, 0, 0)) -> list:
    """Return two bodies and a critical structure in images of 16 x 14 x 7 voxels and a margin."""
    arrays = (np.pad(shapes.blob(seed, (16, 14, 7), 0.35, 2.0), 2) for seed in (1, 2, 3))
    return [shapes.imageOf(array, spacing, np.array(origin, float).tolist(), direction) for array in arrays]


def compared(reference, test, critical):
    return compare(reference, test, SETTINGS, criticals={"Wall": critical})


def requireDigits(found, wanted) -> None:
    """Require two comparisons to agree to DIGITS of every value, but for what is as good as zero."""
    assert found.numbers == pytest.approx(wanted.numbers, rel=DIGITS, abs=ZERO, nan_ok=True)


@pytest.mark.parametrize("kind", SPACINGS)
class TestImages:
    @pytest.mark.parametrize("direction", [OBLIQUE, LEFT_HANDED], ids=["oblique", "left-handed"])
    def testFarFromTheOrigin(self, kind, direction):
        wanted, found = (compared(*voxels(SPACINGS[kind], direction, origin)) for origin in ((0, 0, 0), FAR))
        requireDigits(found, wanted)

    def testDirectionsRoundedInTheSeventhDigit(self, kind, tmp_path):
        """As NIfTI files have them, each in its own way: the two images are the same lattice all the same."""
        random, wanted = np.random.default_rng(5), compared(*voxels(SPACINGS[kind], OBLIQUE))
        spacing, images = tuple(np.float32(SPACINGS[kind]).astype(float).tolist()), []
        for number in range(3):
            direction = np.float32(OBLIQUE + random.uniform(-3e-7, 3e-7, (3, 3))).astype(float)
            images.append(voxels(spacing, direction, np.float32(FAR * 1e-3))[number])
        requireDigits(compared(*images), wanted)
        paths = [save(image, tmp_path / f"{number}.nii.gz") for number, image in enumerate(images)]
        requireDigits(compared(*(readStructures(path)[0] for path in paths)), wanted)


def testMeshes(tmp_path):
    """Two bodies and a wall that no lattice made: far away, in single precision, and in each kind of file."""
    ball, egg = (fromPolyData(shapes.ballMesh(*of)) for of in ((11, (0.3, -0.2, 0.1), 16), (10, (0.7, 1.1, -0.4), 14)))
    turn, wall = shapes.rotation((3, 1, 2), 50), fromPolyData(shapes.boxMesh((9, -15, -15), (14, 15, 15)))
    stretched = (ball, 1), (egg, (1, 1.2, 0.9)), (wall, 1)
    surfaces = [Surface(one.points * stretch @ turn.T, one.cells) for one, stretch in stretched]

    def given(shift=(0, 0, 0), precision=float) -> list:
        return [toPolyData(Surface((s.points + shift).astype(precision).astype(float), s.cells)) for s in surfaces]

    wanted = compared(*given())
    requireDigits(compared(*given(FAR)), wanted)
    requireDigits(compared(*given(precision=np.float32)), wanted)
    for suffix in (".vtp", ".stl", ".ply", ".obj"):
        paths = [shapes.writeMesh(one, tmp_path / f"{n}{suffix}", "LPS") for n, one in enumerate(given())]
        requireDigits(compared(*(readStructures(path)[0] for path in paths)), wanted)
