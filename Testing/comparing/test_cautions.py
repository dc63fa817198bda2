"""Cautions: where the data make a metric say less than it seems."""

from __future__ import annotations

import numpy as np
import shapes
import SimpleITK
from findingwork import found
from scipy import ndimage
from test_findings import BOX

from SegmentMetricsLib import Settings, compare, inputs
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.parts import partSizes
from SegmentMetricsLib.geometry.surfaces import toPolyData


def testNothingIsCautionedAboutInAGoodPair():
    """Whatever is measured."""
    pair = BOX, shapes.box((7, 6, 6), (15, 14, 13))
    assert compare(*pair, Settings(families="all", oversampling=1)).findings == ()
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
        assert not found(compare(image, mask, settings), "membership")
    assert not found(compare(mask, mask), "membership")
    # below 0.5 everywhere is not the same as not drawn
    faint, nothing = shapes.imageOf(0.3 * soft), shapes.imageOf(0 * soft)
    assert found(compare(faint, faint), "No voxel of the reference and the test has a membership of 0.5")
    assert not found(compare(faint, faint), "Absent") and not found(compare(mask, faint), "Only one")
    assert found(compare(mask, nothing), "Only one contour exists") and found(compare(nothing, nothing), "Absent")


def testAnOutlierThatDecidesHd():
    array = SimpleITK.GetArrayFromImage(BOX)
    array[10, 10, 16:23] = 1  # a spike of 7 mm
    spiked = shapes.imageOf(array)
    measured = compare(BOX, spiked)
    (finding,) = found(measured, "decides HD")
    assert f"A small part of the boundary decides HD ({measured['HD'].text()}): 95 % lie within 0.00 mm." in finding
    assert not found(compare(BOX, spiked, Settings(percentiles=())), "decides HD"), "nothing more is computed"
    assert not found(compare(BOX, shapes.box((8, 6, 6), (15, 14, 13))), "decides HD")
    # far, but all of it
    assert not found(compare(BOX, shapes.box((16, 16, 14), (20, 20, 20))), "decides HD")
    # three voxels are no outlier yet
    array[10, 10, 19:23] = 0
    assert not found(compare(BOX, shapes.imageOf(array)), "decides HD")


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
    assert not found(compare(BOX, BOX), "separate parts")
    # how many parts a mesh has is not known
    mesh = toPolyData(inputs.structureFromImage(two, "", None, 0.5).surface)
    assert not found(compare(mesh, two), "separate parts") and not found(compare(two, mesh), "separate parts")


def testPartsAreThoseOfALabeling():
    for seed in range(30):
        array = np.random.default_rng(seed).random((6, 7, 8)) < (0.05, 0.15, 0.3)[seed % 3]
        labels, _ = ndimage.label(array, np.ones((3, 3, 3)))
        sizes = sorted(np.bincount(labels.ravel())[1:].tolist(), reverse=True)
        assert partSizes(Mask.fromArray(array, Grid((8, 7, 6), np.eye(4)))) == sizes
    assert partSizes(Mask.fromArray(np.zeros((2, 2, 2)), Grid((2, 2, 2), np.eye(4)))) == []


def testStructuresThatAreSmallInTheirImage():
    size = (100, 60, 60)
    small = [shapes.box((20, 20, 20), (23, 30 + n, 30), size) for n in (0, 1)]
    (finding,) = found(compare(*small), "reference is small")
    assert "484 voxels, 4 of the image's 100 along one axis" in finding and "prefer distances" in finding
    assert not found(compare(*small, Settings(families="boundary")), "reference is small")
    many = [shapes.box((20, 20, 20), (23, 45 + n, 45), size) for n in (0, 1)]
    assert not found(compare(*many), "reference is small")
    enough = [shapes.box((20, 20, 20), (24, 30 + n, 30), size) for n in (0, 1)]
    assert not found(compare(*enough), "reference is small")
    assert not found(compare(shapes.boxMesh((0, 0, 0), (1, 9, 9)), small[0]), "reference is small")


def testImagesThatAreMostlyBackground():
    pair = [shapes.box((20, 20, 20), (30, 30 + n, 30), (60, 60, 60)) for n in (0, 1)]
    (finding,) = found(compare(*pair, Settings(families="agreement")), "of the evaluated grid")
    where = '(--grid union; in Python grid="union"; in Slicer Advanced > Evaluated grid)'
    assert "(the reference's image)" in finding and f"choose the grid union {where}, or one volume" in finding
    for settings in (Settings(families="agreement", grid="union"), Settings(families="agreement", grid=pair[0])):
        assert not found(compare(*pair, settings), "of the evaluated grid")
    assert not found(compare(*pair), "of the evaluated grid")
    assert not found(compare(BOX, BOX, Settings(families="agreement")), "of the evaluated grid")


def testOneVoxelIsSaidToBeOne():
    speck = shapes.box((12, 12, 12), (12, 12, 12), (40, 40, 40))
    assert found(
        compare(speck, speck, Settings(families="overlap")), "The reference is small: 1 voxel, 1 of the image's 40"
    )
