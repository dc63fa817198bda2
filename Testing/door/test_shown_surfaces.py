"""Maps of what Slicer's smoothing shrinks, and numbers measured on the surfaces that it shows."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from findingwork import ofKind
from sayings import refused, says
from segmentnodes import segmentationOf
from tiers import rarely
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Settings, compare

slicer = pytest.importorskip("slicer", reason="needs the slicer-core package")
from SegmentMetricsLib import mrml  # noqa: E402

SPACING = (1.0, 1.2, 2.0)
# What smoothing leaves less than 90 % of, and what it leaves as it is: voxels along i, j, k.
SHRUNK, KEPT = [(1, 1, 1), (14, 14, 1), (4, 4, 4), (2, 2, 16)], [(12, 12, 12), (16, 9, 12)]
DISPLAYED = Settings(metrics=("HD95", "DSC"), surface="displayed")


def block(*sides: int, shift: int = 0, **geometry):
    array = np.zeros((24, 24, 24), np.uint8)
    array[tuple(slice(low, low + side) for low, side in zip((4, 4, 4 + shift), sides[::-1]))] = 1
    return shapes.imageOf(array, **{"spacing": SPACING, **geometry})


def volumeOf(polyData) -> float:
    """Return the volume in a closed surface, positive if its triangles face outward."""
    points = vtk_to_numpy(polyData.GetPoints().GetData()).astype(float)
    points -= points.mean(axis=0)
    a, b, c = points[vtk_to_numpy(polyData.GetPolys().GetConnectivityArray()).reshape(-1, 3)].transpose(1, 0, 2)
    return float((a * np.cross(b, c)).sum() / 6)


def pair(*sides: int, surface: str = "unsmoothed", **geometry):
    organs = [block(*sides, shift=shift, **geometry) for shift in (0, 1)]
    nodes = [segmentationOf(slicer.mrmlScene, name, Organ=organ) for name, organ in zip(("First", "Second"), organs)]
    few = Settings(metrics=("HD95", "DSC", "VolumeReference"), surface=surface)
    return mrml.compareSegments(nodes[0], "Organ", nodes[1], "Organ", few)


@pytest.mark.parametrize("surface", ["unsmoothed", "displayed"])
@pytest.mark.parametrize("sides", [*SHRUNK[:2], KEPT[0], *rarely([*SHRUNK[2:], KEPT[1]])], ids=str)
def testAMapIsDrawnOnASurfaceOfTheSizeOfTheStructure(scene, sides, surface):
    found = pair(*sides, surface=surface)
    model = mrml.showDistanceMap(found, side="test")
    voxels = mrml.showDistanceMap(pair(*sides), side="test", surface="measured").GetPolyData()
    drawn, ofVoxels = volumeOf(model.GetPolyData()), np.prod(sides) * np.prod(SPACING)
    points = [vtk_to_numpy(one.GetPoints().GetData()) for one in (model.GetPolyData(), voxels)]
    areSame = np.allclose(*points, atol=1e-3)
    distances = vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("SignedDistance"))
    assert np.isfinite(distances).all()
    if sides in SHRUNK:
        assert areSame and drawn > 0 and says(model.GetDescription())
        # the one that the user sees is not the last one's
        assert mrml.showDistanceMap(pair(12, 12, 12), side="test", modelNode=model).GetDescription() == ""
    else:
        assert ofVoxels > drawn > 0.9 * ofVoxels and not areSame and model.GetDescription() == ""


@pytest.mark.parametrize("surface", ["unsmoothed", "displayed"])
@pytest.mark.parametrize("sides", [(4, 4, 4), (12, 12, 12)], ids=str)
@pytest.mark.parametrize("flip", [(1, 1, -1), *rarely([(-1, 1, 1), (-1, -1, -1), (-1, -1, 1)])], ids=str)
def testTheMapOfLeftHandedVoxelsIsNotInsideOut(scene, flip, sides, surface):
    direction = np.diag(flip).ravel().astype(float).tolist()
    found = pair(*sides, surface=surface, direction=direction)
    plain = pair(*sides, surface=surface)
    assert found.findings == plain.findings
    assert found["HD95"].value == pytest.approx(plain["HD95"].value, abs=1e-3)
    for side in ("reference", "test"):
        drawn = mrml.showDistanceMap(found, side=side).GetPolyData()
        other = volumeOf(mrml.showDistanceMap(plain, side=side).GetPolyData())
        assert volumeOf(drawn) == pytest.approx(other, rel=1e-3)
        normals = drawn.GetPointData().GetNormals()
        if normals is not None:
            points = vtk_to_numpy(drawn.GetPoints().GetData())
            assert ((points - points.mean(axis=0)) * vtk_to_numpy(normals)).sum(axis=1).mean() > 0


def testNumbersOfShrunkSurfacesAreSaidToBe(scene):
    found = pair(4, 4, 4, surface="displayed")
    reference, test = found.findings
    volume, share = found["VolumeReference"].value, found["VolumeReference"].value / (64 * 2.4)
    assert 0.2 < share < 0.6
    says(reference, "reference", f"{100 * share:.0f} %", f"{volume:.1f} of 153.6 mm3")
    says(test, "test")
    for others in (pair(4, 4, 4), pair(12, 12, 12, surface="displayed")):
        assert others.findings == ()


@pytest.mark.parametrize("surface", ["unsmoothed", "displayed"])
def testASingleVoxelIsNotSaidToBeInAnotherUnit(scene, surface):
    for sides in ((1, 1, 1), (1, 2, 1)):
        found = pair(*sides, surface=surface, spacing=(0.7, 0.7, 0.7))
        # those that are remarked on are too small for smoothing
        assert all(" mm3" in finding for finding in ofKind(found, "remark")) and not ofKind(found, "other-units")
    # an organ of 12 voxels across whose file is in cm
    found = pair(12, 12, 12, surface=surface, spacing=(0.1, 0.1, 0.1))
    (finding,) = found.findings
    says(finding, "2 mm", "1.2 mm")


@pytest.mark.parametrize("isMade", [False, True], ids=["to make", "made"])
def testJointSmoothingIsNamed(scene, isMade):
    node = segmentationOf(scene, "Both", First=block(5, 5, 5), Second=block(5, 5, 5, shift=5))
    other = segmentationOf(scene, "Other", First=block(5, 5, 5, shift=1))
    node.GetSegmentation().SetConversionParameter("Joint smoothing", "1")
    if isMade:
        node.CreateClosedSurfaceRepresentation()
    for name in ("First", "Second"):
        with refused(name, "Both", "Joint smoothing"):
            mrml.compareSegments(node, name, other, "First", DISPLAYED)
    # what is measured and drawn otherwise does not depend on it
    found = mrml.compareSegments(node, "First", other, "First", Settings(metrics=("HD95",)))
    assert volumeOf(mrml.showDistanceMap(found).GetPolyData()) > 0


def testSmallLesionsAreSeen(scene):
    arrays = np.zeros((2, 12, 12, 40), np.uint8)
    arrays[:, 3:5, 3:5, 4:6] = 1
    arrays[0, 3:5, 3:5, 20] = arrays[1, 6, 6, 30] = 1
    model = mrml.showLesions(compare(*map(shapes.imageOf, arrays), Settings(metrics="instances")))
    points = vtk_to_numpy(model.GetPolyData().GetPoints().GetData())
    events = vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("Event"))
    assert len(np.unique(events)) == 3
    assert all(np.ptp(points[events == event], axis=0).min() >= 1 for event in np.unique(events))


def testObserversOfASmallOrgan(scene):
    nodes = [segmentationOf(scene, str(n), Cochlea=block(4, 4, 3, shift=n)) for n in range(3)]
    study = mrml.compareObservers(nodes, Settings(metrics=("HD95",)))
    model = mrml.showVariation(study["Cochlea"])
    around = volumeOf(mrml.showVariation(study["Cochlea"], surface="measured").GetPolyData())
    says(mrml.showVariation(study["Cochlea"]).GetDescription())
    assert volumeOf(model.GetPolyData()) == pytest.approx(around)
