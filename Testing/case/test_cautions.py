"""Cautions: where the data make a metric say less than it seems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapes
import SimpleITK
from findingwork import found
from test_findings import BOX

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.findings.cautions import shareMissingInside
from SegmentMetricsLib.case.findings.imagefit import aroundPairs, imageFindings
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.surfaces import toPolyData
from SegmentMetricsLib.metrics.findings import Kind
from SegmentMetricsLib.model import inputs
from SegmentMetricsLib.model.grayimages import GrayImage


def testNothingIsCautionedAboutInAGoodPair():
    """Whatever is measured."""
    pair = BOX, shapes.box((7, 6, 6), (15, 14, 13))
    assert compare(*pair, Settings(families="all")).findings == ()
    meshes = shapes.boxMesh((0, 0, 0), (10, 10, 10)), shapes.boxMesh((0, 0, 0), (10, 10, 9))
    assert compare(*meshes, Settings(families=("signed", "overlap", "agreement"))).findings == ()


def testMembershipsThatCountInPart():
    soft = np.zeros((12, 12, 12))
    soft[3:9, 3:9, 3:9], soft[4:8, 4:8, 4:8] = 0.4, 1
    image, mask = shapes.imageOf(soft), shapes.imageOf(soft > 0.5)
    (finding,) = compare(image, mask).findings
    assert finding.startswith("Voxels of the reference count in part, by their membership, for overlap and agreement")
    assert "with a threshold, such as 0.5, every voxel counts fully or not at all" in finding
    assert finding.endswith("(--threshold 0.5; in Python threshold=0.5).")
    assert found(compare(mask, image), "Voxels of the test count")
    assert found(compare(image, image), "Voxels of the reference and the test count")
    for settings in (Settings(threshold=0.5), Settings(families="boundary")):
        assert not found(compare(image, mask, settings), Kind.COUNTED_IN_PART)
    assert not found(compare(mask, mask), Kind.COUNTED_IN_PART)
    # below 0.5 everywhere is not the same as not drawn
    faint, nothing = shapes.imageOf(0.3 * soft), shapes.imageOf(0 * soft)
    assert found(compare(faint, faint), "No voxel of the reference and the test has a membership of 0.5")
    assert not found(compare(faint, faint), "Absent") and not found(compare(mask, faint), Kind.ONE_EMPTY)
    assert found(compare(mask, nothing), Kind.ONE_EMPTY) and found(compare(nothing, nothing), "Absent")


def testAnOutlierThatDecidesHd():
    array = SimpleITK.GetArrayFromImage(BOX)
    array[10, 10, 16:23] = 1  # a spike of 7 mm
    spiked = shapes.imageOf(array)
    measured = compare(BOX, spiked)
    (finding,) = found(measured, "determines HD")
    assert f"A small part of the boundary determines HD ({measured['HD'].text()}): 95 % lie within 0.00 mm." in finding
    assert not found(compare(BOX, spiked, Settings(percentiles=())), "determines HD"), "nothing more is computed"
    # whichever of them is listed
    assert found(compare(BOX, spiked, Settings(metrics="HD")), "determines HD")
    assert not found(compare(BOX, spiked, Settings(metrics="MASD")), "determines HD")
    (finding,) = found(compare(BOX, spiked, Settings(metrics="HDvox")), "determines HDvox")
    assert "of the voxels" in finding and "prefer the quantile 0.95 or a mean distance" in finding
    assert found(compare(BOX, spiked, Settings(metrics="HDvox", voxelUnit="voxel")), "7.00 voxel")
    assert not found(compare(BOX, shapes.box((8, 6, 6), (15, 14, 13))), "determines HD")
    # far, but all of it
    assert not found(compare(BOX, shapes.box((16, 16, 14), (20, 20, 20))), "determines HD")
    # three voxels are no outlier yet
    array[10, 10, 19:23] = 0
    assert not found(compare(BOX, shapes.imageOf(array)), "determines HD")


def testTolerancesBelowTheVoxelSize():
    coarse = [shapes.box((6, 6, 6), (15 + n, 14, 13), spacing=(1, 1, 3)) for n in range(2)]
    (finding,) = found(compare(*coarse, Settings(tolerances=0.9)), "below the voxel size")
    assert finding.startswith("The tolerance of 0.9 mm is below the voxel size of 1 mm:")
    (finding,) = found(compare(*coarse, Settings(tolerances=(0.5, 0.75, 1))), "below the voxel size")
    assert finding.startswith("Tolerances (0.5, 0.75 mm) are below")
    # thick slices alone are nothing unusual
    for settings in (Settings(tolerances=1), Settings(families="overlap", tolerances=0.5)):
        assert not found(compare(*coarse, settings), "below the voxel size")
    # the thickness of the only slice means nothing
    flat = [
        shapes.imageOf(np.pad(np.ones((1, 6, 5 + n), np.uint8), ((0, 0), (4, 4), (4, 5 - n))), (3, 3, 1))
        for n in (0, 1)
    ]
    assert found(compare(*flat), "voxel size of 3 mm")
    assert not found(compare(*flat, Settings(tolerances=3)), "below the voxel size")


def testSeparateParts():
    array = SimpleITK.GetArrayFromImage(BOX)
    array[18:20, 18:20, 18:20] = 1
    two = shapes.imageOf(array)
    array[1, 1, 1] = 1
    three = shapes.imageOf(array)
    assert found(compare(two, BOX), "The reference has 2 separate parts, the test one part:")
    assert found(compare(BOX, three), "The test has 3 separate parts, the reference one part:")
    assert found(compare(two, three), "The reference has 2 and the test 3 separate parts:")
    assert found(compare(two, two), "Both structures have 2 separate parts:")
    # voxels that touch at a corner belong together
    array[2, 2, 2] = 1
    assert found(compare(BOX, shapes.imageOf(array)), "The test has 3 separate parts")
    assert not found(compare(BOX, BOX), Kind.SEVERAL_PARTS)
    # how many parts a mesh has is not known
    mesh = toPolyData(inputs.structureFromImage(two, "", None, 0.5).surface)
    assert not found(compare(mesh, two), Kind.SEVERAL_PARTS) and not found(compare(two, mesh), "separate parts")


def testStructuresThatAreSmallInTheirImage():
    """Along any one axis, however many voxels they have; a hint where the overlap is measured, whatever else is."""
    size = (100, 60, 60)
    small = [shapes.box((20, 20, 20), (23, 30 + n, 30), size) for n in (0, 1)]
    (finding,) = found(compare(*small), Kind.SMALL)
    assert "484 voxels, 4 of the image's 100 along one axis" in finding and "prefer distances" in finding
    assert not found(compare(*small, Settings(families="boundary")), Kind.SMALL)
    for metrics in (("VolumeTest", "TP"), "VS"):
        assert not found(compare(*small, Settings(metrics=metrics)), Kind.SMALL)
    assert found(compare(*small, Settings(metrics="KAP")), Kind.SMALL)
    plate = [shapes.box((20, 2, 2), (23, 56 + n, 57), size) for n in (0, 1)]
    (finding,) = found(compare(*plate), Kind.SMALL)
    assert "12320 voxels, 4 of the image's 100" in finding
    line = [shapes.box((20, 2, 30), (60, 3 + n, 31), (100, 60, 60)) for n in (0, 1)]
    assert "2 of the image's 60" in found(compare(*line), Kind.SMALL)[0]
    enough = [shapes.box((20, 20, 20), (24, 30 + n, 30), size) for n in (0, 1)]
    assert not found(compare(*enough), Kind.SMALL)
    # an image of one slice has no axis across it
    flat = [shapes.imageOf(np.pad(np.ones((1, 20, 20 + n)), ((0, 0), (5, 5), (5, 10 - n)))) for n in (0, 1)]
    assert not found(compare(*flat), Kind.SMALL)
    # for a mesh the image is that of the test
    assert "2 of the image's 100" in found(compare(shapes.boxMesh((0, 0, 0), (2, 9, 9)), small[0]), "is small")[0]
    assert not found(compare(*[shapes.boxMesh((0, 0, 0), (1, 9, 9 + n)) for n in (0, 1)]), Kind.SMALL)


def testImagesThatAreMostlyBackground():
    pair = [shapes.box((20, 20, 20), (30, 30 + n, 30), (60, 60, 60)) for n in (0, 1)]
    (finding,) = found(compare(*pair, Settings(families="agreement")), "of the evaluated grid")
    where = '(--set grid=union; in Python grid="union"; in Slicer Advanced > Evaluated grid)'
    assert "(the reference's image)" in finding and f"choose the grid union {where}, or one volume" in finding
    assert "is outside both structures: ACC, TNR, FPR and RI are near their best" in finding
    assert "Prefer KAP or ARI" in finding
    assert not found(compare(*pair, Settings(families="agreement", grid="union")), "of the evaluated grid")
    # a given volume is what cases are compared on, so there is nothing to choose
    (finding,) = found(compare(*pair, Settings(families="agreement", grid=pair[0])), "of the evaluated grid")
    assert "Prefer KAP or ARI, which" in finding and "union" not in finding
    assert not found(compare(*pair), "of the evaluated grid")
    assert not found(compare(BOX, BOX, Settings(families="agreement")), "of the evaluated grid")
    (finding,) = found(compare(*pair, Settings(metrics="RI")), "of the evaluated grid")
    assert "RI is near its best" in finding
    assert not found(compare(*pair, Settings(metrics=("KAP", "ARI", "VS"))), "of the evaluated grid")
    # chance agrees on what is nearly everywhere as well as on what is nearly nowhere
    full = [shapes.box((0, 0, 0), (38 + n, 39, 39), (40, 40, 40)) for n in (0, 1)]
    (finding,) = found(compare(*full, Settings(metrics=("ACC", "RI"))), "of the evaluated grid")
    assert "is in both structures: ACC and RI are near their best" in finding


def testVolumesThatAreAlikeElsewhere():
    """Whenever VS is measured and less than half is shared, whether DSC is measured or not."""
    apart = [shapes.box((3 + n, 3, 3), (12 + n, 12, 12)) for n in (0, 6)]
    for metrics in ("VS", ("VS", "DSC"), "agreement"):
        (finding,) = found(compare(*apart, Settings(metrics=metrics)), "says nothing about where they are")
        assert finding.startswith("VS (1.000) compares the two volumes") and finding.endswith("DSC is only 0.400.")
    assert not found(compare(*apart, Settings(metrics="DSC")), "VS")
    half = [shapes.box((3 + n, 3, 3), (12 + n, 12, 12)) for n in (0, 5)]
    assert compare(*half)["DSC"].value == 0.5
    assert not found(compare(*half, Settings(metrics="VS")), "says nothing about where they are")


def porous(missing: float) -> SimpleITK.Image:
    array = SimpleITK.GetArrayFromImage(shapes.ball(9))
    inner = SimpleITK.GetArrayFromImage(shapes.ball(8)) > 0
    holes = inner & (np.random.default_rng(2).random(array.shape) < missing)
    return shapes.imageOf(np.where(holes, 0, array), (1, 1, 1))


def hollow(radius: float) -> SimpleITK.Image:
    return shapes.ball(9) - shapes.ball(radius)


def testStructuresOfLowDensity():
    """Pores, connected or not, and cavities, of more than a tenth of the shape that they are in."""
    ball = shapes.imageOf(SimpleITK.GetArrayFromImage(shapes.ball(9)), (1, 1, 1))
    (finding,) = found(compare(ball, porous(0.4)), "missing inside")
    assert finding.startswith("2") and "% of the test's filled shape is missing inside: distances can" in finding
    assert "look at DSC and VS, too" in finding
    for missing in (0.3, 0.6, 0.8):
        assert found(compare(porous(missing), ball, Settings(metrics="MASD")), "of the reference's filled shape")
    assert not found(compare(ball, porous(0.1)), "missing inside")
    assert not found(compare(ball, porous(0.4), Settings(families="overlap")), "missing inside")
    assert found(compare(ball, porous(0.4), Settings(metrics="AVD")), "missing inside")
    both = found(compare(hollow(5), hollow(6)), "missing inside")[0]
    assert "of the reference's and" in both and "of the test's filled shape are missing inside" in both
    assert not found(compare(hollow(3), shapes.ball(9)), "missing inside"), "1/27 is less than a tenth"


def testOpenShapesAreNotHollow():
    """A tube, a ring and a bowl enclose nothing; a slice of a tube does."""
    k, j, i = np.indices((30, 30, 30)) - 14.5
    away = np.hypot(i, j)
    tube = (away < 9) & (away > 6) & (abs(k) < 12)
    ball = np.sqrt(i**2 + j**2 + k**2)
    bowl = (ball < 12) & (ball > 9) & (k < 3)
    tree = ((abs(i) < 1.5) & (abs(j) < 1.5)) | ((abs(k) % 6 < 1.5) & (abs(i) < 12) & (abs(j) < 1.5)) | (
        (abs(k + 3) % 6 < 1.5) & (abs(j) < 12) & (abs(i) < 1.5)
    )  # fmt: skip
    for array in (tube, bowl, tree):
        assert shareMissingInside(Mask.fromArray(array, Grid((30, 30, 30), np.eye(4)))) < 0.02
    closed = (ball < 12) & (ball > 9)
    expected = np.count_nonzero(ball <= 9) / np.count_nonzero(ball < 12)
    assert shareMissingInside(Mask.fromArray(closed, Grid((30, 30, 30), np.eye(4)))) == expected
    flat = Mask.fromArray(tube[10:11], Grid((30, 30, 1), np.eye(4)))
    assert shareMissingInside(flat) == np.count_nonzero(away[10] <= 6) / np.count_nonzero(away[10] < 9)
    assert shareMissingInside(flat, 0.6) == 0 and shareMissingInside(Mask.empty(flat.grid)) == 0
    assert shareMissingInside(Mask.fromArray(ball < 12, Grid((30, 30, 30), np.eye(4)))) == 0


# Whether the image under the contours is theirs is said before anybody signs contours on another patient's CT


BALL = replace(
    inputs.structureFromImage(shapes.ball(12), "Ball", None, 0.5), name="Ball", frameOfReference="1.2.3", patient="a"
)


def imageFrom(low: float, high: float, height: float | None = None, **told) -> GrayImage:
    matrix = np.diag([2.0, 2.0, 2.0, 1.0])
    matrix[:3, 3] = low, low, low if height is None else height
    size = [int((high - low) / 2) + 1] * 2
    grid = Grid((*size, size[0] if height is None else 1), matrix, planar=height is not None)
    return GrayImage(np.zeros(grid.size[::-1], np.int16), grid, name="CT", **told)


@pytest.mark.parametrize(
    ("image", "kinds"),
    [
        (imageFrom(-30, 30, frameOfReference="1.2.3", patient="a"), []),
        (imageFrom(-30, 30), []),
        (imageFrom(-30, 30, frameOfReference="1.2.4", patient="a"), [Kind.IMAGE_IN_OTHER_FRAME]),
        (imageFrom(-30, 30, frameOfReference="scanner"), []),  # nothing that a UID can be compared with
        (imageFrom(-30, 30, patient="b"), [Kind.IMAGE_OF_OTHER]),
        (imageFrom(40, 90), [Kind.IMAGE_ELSEWHERE]),
        (imageFrom(-30, 6), [Kind.IMAGE_IN_PART]),
        (imageFrom(-12, 12), []),  # the surface is half a voxel outside the centers
        (imageFrom(-30, 30, height=0.0), [Kind.IMAGE_IN_PART]),  # of a single slice
        (imageFrom(-30, 30, height=90.0), [Kind.IMAGE_ELSEWHERE]),
    ],
)
def testWhatIsDoubtfulAboutAnImage(image, kinds):
    found = list(imageFindings(image, [(BALL, BALL)]))
    assert [finding.kind for finding in found] == kinds
    assert all("CT" in finding and "Ball" in finding for finding in found)
    # what is kept around the structures does not change that
    kept = aroundPairs(image, [(BALL, BALL)])
    assert [finding.kind for finding in imageFindings(kept, [(BALL, BALL)])] == kinds
