"""What other programs do to a contour, and that this one does not, or says so: the lines of docs/surprises.md."""

from __future__ import annotations

import math

import findingwork
import numpy as np
import pytest
import shapes
import SimpleITK
from imagefiles import middleOf
from sayings import refused, says

from SegmentMetricsLib import Dose, Grid, Settings, compare, readStructures


def testImagesAreComparedWhereTheyLie():
    """nnU-Net's evaluation gives 0 for the first and 1 for the second."""
    reference = shapes.box((3, 3, 2), (8, 8, 4), (20, 20, 10), (1, 1, 3))
    turned = compare(reference, SimpleITK.DICOMOrient(reference, "RAS"), Settings(metrics="DSC"))
    assert turned["DSC"].value == pytest.approx(1)
    elsewhere = SimpleITK.Image(reference)
    elsewhere.SetOrigin((500, 0, 0))
    elsewhere.SetSpacing((2, 2, 2))
    found = compare(reference, elsewhere, Settings(metrics="DSC"))
    assert found["DSC"].value == 0 and "IMAGES_APART" in [one.kind.name for one in found.findings]


def testAnOrganNearTheEdgeOfItsImageKeepsItsVolume():
    """TotalSegmentator's statistics give 0 mm3 for the first two."""
    for gap in (0, 2, 3):
        organ = shapes.box((10, 10, gap), (19, 19, gap + 9))
        assert compare(organ, organ)["VoxelVolumeReference"].value == pytest.approx(1000)


def testCellsThatFillTheFieldAreAllCounted():
    """Cellpose's average precision is 2.0 here."""
    cells = np.zeros((20, 20), np.uint8)
    cells[:10, :10], cells[:10, 10:], cells[10:, :10], cells[10:, 10:] = 1, 2, 3, 4
    image = SimpleITK.GetImageFromArray(cells)
    found = compare(image, image, Settings(metrics=("LesionF1", "PQ", "LesionsReference"), instanceMaps=True))
    assert {key: one.value for key, one in found.items()} == {"LesionsReference": 4, "LesionF1": 1, "PQ": 1}


@pytest.mark.parametrize("shape", [(30, 30), (30, 31), (20, 40), (40, 20)])
def testAFlatImageMayHaveAnyShape(shape):
    """Torchmetrics' Hausdorff distance is right for the first alone; its convention says so."""
    reference, test = np.zeros((2, *shape), np.uint8)
    reference[5:12, 5:12], test[7:12, 5:15] = 1, 1
    found = compare(*map(SimpleITK.GetImageFromArray, (reference, test)))
    told = found.conventions(["torchmetrics"])["torchmetrics"]["HD"]
    assert told.value == pytest.approx(3) and says(told.reason)
    assert found["HD"].value == pytest.approx(3, abs=1e-6)


def testAGapThatInterpolationLeftIsTwoParts():
    """Where ITK's interpolation between drawn slices leaves a gap beside a thick one."""
    whole, gap = np.zeros((2, 16, 61, 61), np.uint8)
    y, x = np.mgrid[:61, :61]
    disc = (x - 30) ** 2 + (y - 30) ** 2 <= 100
    whole[2:13], gap[[2, 3, 12]] = disc, disc
    assert findingwork.found(compare(*map(SimpleITK.GetImageFromArray, (whole, gap))), {"parts": ".*test .* 2 .*"})


def testAStrayPieceIsSeenInAnyOrder():
    """Pymeshlab's Hausdorff distance of these is 0 in one order: its search ends at half of a diagonal."""
    organ = shapes.box((5, 5, 5), (14, 14, 14), (100, 20, 20))
    images = [organ, organ | shapes.box((74, 8, 8), (77, 11, 11), (100, 20, 20))]
    for pair in (images, images[::-1]):
        assert compare(*pair)["HD"].value == pytest.approx(63, abs=0.5)


def testD98OfASmallTargetIsNotZero():
    """Of 25 voxels that get 60 to 61 Gy dicompyler-core gives 0 Gy."""
    x = np.arange(20.0)
    dose = Dose(np.broadcast_to(60 + x / 20, (20, 20, 20)).copy(), Grid((20, 20, 20), np.eye(4)))
    target = shapes.box((5, 5, 9), (9, 9, 9), (20, 20, 20))
    found = compare(target, target, Settings(metrics="dose", dosePercents=(98,)), dose=dose)
    assert 60 < found["D98Reference"].value < 61


def testAMeanOfACenteredBoxIsTheDoseAtItsCenter():
    """Where dicompyler-core interpolates, it is shifted by half a pixel of the dose's grid: 48.75 Gy."""
    grid = np.diag([2.5, 2.5, 2.5, 1.0])
    dose = Dose(np.broadcast_to(2.5 * np.arange(40.0), (40, 40, 40)).copy(), Grid((40, 40, 40), grid))
    box = shapes.box((40, 30, 30), (60, 50, 50), (80, 80, 80))  # centered at x = 50 mm
    found = compare(box, box, Settings(metrics="dose"), dose=dose)
    assert found["DmeanReference"].value == pytest.approx(50, abs=1e-3)


def testTheSurfaceOfABoxDependsOnItsVoxels():
    """SimpleITK's perimeter of 10 x 10 x 30 mm on thick slices, which is 1400 mm2."""
    image = shapes.box((3, 3, 3), (22, 22, 12), (26, 26, 16), (0.5, 0.5, 3))
    statistics = SimpleITK.LabelShapeStatisticsImageFilter()
    statistics.Execute(image)
    assert statistics.GetPerimeter(1) == pytest.approx(876, abs=1) and statistics.GetRoundness(1) > 1.1


def testToolsSayWhatTheyDo():
    """The reason of a number tells what nobody would expect of the tool."""
    cube = shapes.box((10, 10, 10), (19, 19, 19))
    found = compare(cube, shapes.box((10, 10, 12), (19, 19, 21))).conventions()
    for tool, keys in (("panoptica-distances", ("HD95", "NSD_2mm")), ("platipy", ("HD95", "MASD"))):
        for key in keys:
            says(found[tool][key].reason)
    says(found["MISeval"]["HD"].reason)
    says(found["grand-challenge-metrics"]["ASSD"].reason)
    empty = compare(cube * 0, cube * 0).conventions()
    says(empty["MedPy"]["DSC"].reason, "NumPy 2.3")
    missed = compare(cube, cube * 0).conventions()
    says(missed["grand-challenge-metrics"]["MASD"].reason)
    monai = missed["MONAI"]
    assert math.isinf(monai["HD"].value) and math.isnan(monai["HD95"].value)
    says(monai["HD95"].reason)


@pytest.mark.filterwarnings("ignore:The value for the data element:UserWarning")
def testAContourOfManyPointsIsRead(tmp_path):
    """Its text is written by pydicom as of an unknown kind, and read as bytes; plastimatch leaves the structure out."""
    pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")
    import dicomfiles

    angles = np.linspace(0, 2 * np.pi, 2500, endpoint=False)
    circles = [np.stack([10 * np.cos(angles), 10 * np.sin(angles), np.full(2500, z)], axis=1) for z in (0.0, 3.0, 6.0)]
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Organ": circles})
    (organ,) = readStructures(tmp_path / "set.dcm")
    assert organ.mask.size == pytest.approx(np.pi * 100 * 9, rel=0.02) and len(organ.notes) == 1


def testAZarrFolderIsRefusedInWords(tmp_path):
    (tmp_path / "labels.ome.zarr").mkdir()
    with refused("labels.ome.zarr", "OME-Zarr"):
        readStructures(tmp_path / "labels.ome.zarr")


def testSurfacesOfASegmentationAreWhereItsSegmentsAre(request, tmp_path):
    """Slicer writes them in RAS, without the note that its models have, which are in LPS."""
    slicer = pytest.importorskip("slicer", reason="needs the slicer-core package")
    from segmentnodes import boxesNode

    storage = slicer.vtkMRMLSegmentationStorageNode()
    storage.SetFileName(str(tmp_path / "organs.seg.vtm"))
    assert storage.WriteData(boxesNode(request.getfixturevalue("scene"), "Organ"))
    ((organ,),) = map(readStructures, (tmp_path / "organs.seg").iterdir())
    assert middleOf(organ) == pytest.approx((-2.5, -2.5, 2.5)) and organ.name == "Organ"


def testSavedTablesAreRoundedButResultsAreNot(request, tmp_path):
    """Slicer writes six digits of a table; what this module recalls has all of them."""
    slicer = pytest.importorskip("slicer", reason="needs the slicer-core package")
    scene = request.getfixturevalue("scene")
    from SegmentMetricsLib import mrml

    comparison = compare(shapes.ball(6), shapes.ball(7, (1, 0, 0)))
    table = mrml.showConventionsTable(comparison, scene=scene)
    storage = slicer.vtkMRMLTableStorageNode()
    scene.AddNode(storage)
    storage.SetFileName(str(tmp_path / "conventions.csv"))
    assert storage.WriteData(table)
    exact = comparison.conventions()["MONAI"]["MASD"].value
    assert f"{exact:.6g}" in (tmp_path / "conventions.csv").read_text() and repr(exact) != f"{exact:.6g}"
    assert mrml.recallConventions(table)["MONAI"]["MASD"].value == exact
