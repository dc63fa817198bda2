"""What is compared with itself differs by exactly nothing, whatever the grid, the surface and the accuracy."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonTransforms import vtkTransform
from vtkmodules.vtkFiltersGeneral import vtkTransformPolyDataFilter

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.casework import comparePair
from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.settings.settings import FAMILIES

# Sizes of the structures, and the entropy that a structure shares with itself: these are not differences.
SIZES = {"VolumeReference", "VolumeTest", "VoxelVolumeReference", "VoxelVolumeTest", "MI"}
SPACINGS = ((1, 1, 1), (0.977, 0.977, 3.3))


def image(array: np.ndarray, spacing, angle: float) -> SimpleITK.Image:
    made = SimpleITK.GetImageFromArray(array.astype(np.uint8))
    made.SetSpacing(spacing)
    made.SetOrigin((-103.3, 55.17, 12.9))
    turn = SimpleITK.Euler3DTransform()
    turn.SetRotation(angle, -angle, angle / 2)
    made.SetDirection(turn.GetMatrix())
    return made


def drawn(kind: str) -> np.ndarray:
    z, y, x = np.mgrid[:20, :20, :20] - 9.7
    if kind == "ball":
        return (x / 1.3) ** 2 + y**2 + (1.2 * z) ** 2 < 36
    if kind == "noise":
        return np.random.default_rng(1).random(x.shape) > 0.6
    return (np.abs([x, y, z]) < 0.5).all(axis=0)  # a single voxel


def requireNothing(comparison) -> None:
    """Every difference is 0 and every similarity 1, in both directions, and none is a negative zero."""
    found = 0
    for key, measurement in comparison.items():
        values = (measurement.value, measurement.referenceToTest, measurement.testToReference)
        if key in SIZES or measurement.status != "ok":
            continue
        best = 1 if measurement.better == "higher" else 0
        for value in values:
            assert value is None or (value == best and not np.signbit(value)), (key, values)
        found += 1
    assert found > 50


@pytest.mark.parametrize("accuracy", ["converged", "sampled"])
@pytest.mark.parametrize("angle", [0, 0.4])
@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("kind", ["ball", "noise", "voxel"])
def testMasks(kind, spacing, angle, accuracy):
    one = image(drawn(kind), spacing, angle)
    requireNothing(compare(one, SimpleITK.Image(one), Settings(families="all", accuracy=accuracy)))


@pytest.mark.parametrize("angle", [0, 0.4])
def testTheSameMaskStoredInAnotherWay(angle):
    one = image(drawn("ball"), SPACINGS[1], angle)
    padded = SimpleITK.ConstantPad(one, (3, 4, 5), (1, 2, 6))
    requireNothing(compare(one, padded, Settings(families="all")))
    # the cells of a flipped mask are cut into other triangles, whose centers MSI3D compares, and where the volume
    # between the surfaces is counted
    for other in (SimpleITK.Flip(one, (True, False, True)), SimpleITK.PermuteAxes(one, (2, 0, 1))):
        found = compare(one, other, Settings(families=("boundary", "overlap", "effort", "voxel")))
        for key in ("HD95", "CentroidShiftR", "CentroidShiftA", "CentroidShiftS", "VolumeDifference"):
            assert found[key].value == pytest.approx(0, abs=1e-9), key
        assert found["CentroidShiftS"].value == found["CentroidShiftR"].value == 0


@pytest.mark.parametrize("accuracy", ["converged", "sampled"])
@pytest.mark.parametrize("angle", [0, 0.4])
def testDisplayedSurfaces(scene, angle, accuracy):
    one = image(drawn("ball"), SPACINGS[1], angle)
    both = [structureFromImage(each, "A", None, None) for each in (one, SimpleITK.Image(one))]
    requireNothing(comparePair(*both, Settings(families="all", accuracy=accuracy, surface="displayed")))


@pytest.mark.parametrize("accuracy", ["converged", "sampled"])
@pytest.mark.parametrize("angle", [0, 33])
@pytest.mark.parametrize("mesh", [shapes.ballMesh(7.3), shapes.boxMesh((0, 0, 0), (5, 6, 7))])
def testMeshes(mesh, angle, accuracy):
    turn, moved, again = vtkTransform(), vtkTransformPolyDataFilter(), vtkPolyData()
    turn.RotateWXYZ(angle, 1, 2, 3)
    turn.Translate(-103.3, 55.2, 12.7)
    moved.SetTransform(turn)
    moved.SetInputData(mesh)
    moved.Update()
    again.DeepCopy(moved.GetOutput())
    found = compare(moved.GetOutput(), again, Settings(families=("boundary", "signed", "overlap"), accuracy=accuracy))
    for key, measurement in found.items():
        if key not in SIZES and measurement.status == "ok":
            assert measurement.value == (1 if measurement.better == "higher" else 0), key


def testADistanceIsNotRoundedAway():
    """A shift of a hundred thousandth of a millimeter is one."""
    one = image(drawn("ball"), SPACINGS[0], 0)
    moved = SimpleITK.Image(one)
    moved.SetOrigin([value + step for value, step in zip(one.GetOrigin(), (0, 1e-5, 0), strict=True)])
    assert compare(one, moved)["HD"].value == pytest.approx(1e-5, rel=1e-3)


def testAllFamiliesAreTested():
    assert set(Settings(families="all").families) == set(FAMILIES)
