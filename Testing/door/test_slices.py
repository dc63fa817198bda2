"""The per-slice profile against cases worked out by hand, and what is made of it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import shapes
from batchruns import rowsOf
from findingwork import ofKind
from imagefiles import save
from sayings import refused, says
from shapes import imageOf

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.__main__ import main

SLICES = Settings(families="slices", tolerances=(1, 2))
# 10 x 10 pixels of 1 mm: the contour runs half a pixel outside their centers and cuts the corners
OUTLINE = 4 * 9 + 4 * math.sqrt(0.5)
# two boxes of 10 x 10 pixels, the test 3 mm farther toward L and two slices higher
BOXES = shapes.box((5, 5, 5), (14, 14, 14)), shapes.box((8, 5, 7), (17, 14, 16))
TURNED = shapes.rotation((1, 2, 3), 40)


def slicesOf(reference, test, settings=SLICES):
    return compare(reference, test, settings).slices


def testBoxesThatAreMovedSideways():
    rows = slicesOf(*BOXES)
    assert [row.index for row in rows] == list(range(5, 17)) == [row.position for row in rows]
    assert [row.only for row in rows] == ["reference"] * 2 + [""] * 8 + ["test"] * 2
    for row in rows[2:10]:
        assert row["DSC"] == 2 * 70 / 200
        # the sides toward R and L, 3 mm apart; the cut corners are a little farther, as their ends are 3 mm apart, too
        assert row["HD"] == pytest.approx(3)
        assert (row["AreaReference"], row["AreaTest"], row["AreaDifference"]) == (100, 100, 0)
        assert row.place[2] == row.index
    for row in (*rows[:2], *rows[10:]):
        assert row["DSC"] == 0 and row["HD"] == row["MASD"] == math.inf
    assert [row["AreaDifference"] for row in rows] == [-100] * 2 + [0] * 8 + [100] * 2
    # a slice that the test lacks is to be drawn as a whole
    assert [rows[number]["APL_2mm"] for number in (0, 11)] == pytest.approx([OUTLINE, 0])
    assert rows[0].place == (9.5, 9.5, 5) and rows[11].place == (12.5, 9.5, 16)


@pytest.mark.parametrize("order", [1, -1])
def testTheTipOfASpikeIsWhereTheyDifferMost(order):
    """A row of four pixels that stick out toward L: its tip, half a pixel beyond the last center, is 4 mm away."""
    plain = shapes.box((5, 5, 5), (14, 14, 8))
    spiked = plain | shapes.box((15, 10, 6), (18, 10, 7))
    rows = slicesOf(*(plain, spiked)[::order])
    assert [row["HD"] for row in rows] == pytest.approx([0, 4, 4, 0])
    assert [row.place for row in rows[1:3]] == [pytest.approx((18.5, 10, k)) for k in (6, 7)]


@pytest.mark.parametrize("direction", [np.eye(3), TURNED], ids=["straight", "oblique"])
def testRowsAreTheComparisonsOfTheSlices(direction):
    """Every row is what comparing the two slices as images of their own gives, also with oblique slices."""
    arrays = [np.pad(shapes.blob(seed, (22, 20, 9), 0.35, 2.0), 2) for seed in (1, 2)]
    spacing = (1, 1.5, 3)
    rows = slicesOf(*(imageOf(array, spacing, (4, 5, 6), direction) for array in arrays))
    both = [k for k in range(len(arrays[0])) if all(array[k].any() for array in arrays)]
    assert both == [row.index for row in rows if not row.only] and len(both) > 6
    normal = np.asarray(direction)[:, 2]
    for row in rows:
        # planar positions count toward L, P or S
        assert abs(row.position) == pytest.approx(abs(normal @ ((4, 5, 6) + normal * 3 * row.index)))
        pair = [imageOf(array[row.index], spacing[:2]) for array in arrays]
        single = compare(*pair, Settings(families=("boundary", "overlap", "effort"), tolerances=(1, 2)))
        assert row["DSC"] == single["DSC"].value
        assert row["AreaReference"] == pytest.approx(single["VoxelVolumeReference"].value)
        if row.only:
            continue
        assert row["HD"] == pytest.approx(single["HD"].value, abs=0.03)
        assert row["MASD"] == pytest.approx(single["MASD"].value, abs=0.002)
        for tolerance in (1, 2):
            assert row[f"APL_{tolerance}mm"] == pytest.approx(single[f"APL_{tolerance}mm"].value, abs=0.05)
        assert np.dot(row.place, normal) == pytest.approx(np.dot((4, 5, 6), normal) + 3 * row.index)


def testWhatHasNoSlices():
    mesh, box = shapes.boxMesh((4.5, 4.5, 4.5), (14.5, 14.5, 14.5)), BOXES[0]
    found = compare(mesh, box, SLICES)
    assert found.slices == ()
    (finding,) = ofKind(found, "no-profile")
    says(finding, "reference")
    # a test mesh is cut by the reference's slices
    assert [row["DSC"] for row in slicesOf(box, mesh)] == [1.0] * 10
    empty = imageOf(np.zeros((24, 24, 24), np.uint8))
    says(ofKind(compare(empty, empty, SLICES), "no-profile")[0])
    assert [row.only for row in slicesOf(box, empty)] == ["reference"] * 10
    assert [(row.only, row["APL_1mm"]) for row in slicesOf(empty, box)] == [("test", 0.0)] * 10
    # not asked for: none, and no word about it
    other = compare(mesh, box, Settings(families="overlap"))
    assert other.slices == () and not ofKind(other, "no-profile")


def testContoursInOnePlane():
    square, moved = (shapes.loops([(x, 0), (x + 10, 0), (x + 10, 10), (x, 10)], z=7) for x in (0, -2))
    (row,) = slicesOf(square, moved)
    assert (row.index, row.position, row.only) == (0, 7, "")
    assert (row["DSC"], row["AreaReference"], row["AreaDifference"]) == pytest.approx((0.8, 100, 0))
    assert row["HD"] == pytest.approx(2, abs=1e-6) and row["APL_2mm"] == 0
    (row,) = slicesOf(*(imageOf(np.pad(np.ones((10, width)), 3).astype(np.uint8), (1, 2)) for width in (10, 10)))
    assert (row["DSC"], row["HD"], row["AreaTest"]) == (1, 0, 200)


def testFiles(tmp_path, capsys):
    paths = [str(save(image, tmp_path / name)) for name, image in zip(("a.nrrd", "b.nrrd"), BOXES, strict=True)]
    output = tmp_path / "out"
    arguments = ["compare", *paths, "--numbers-only", "-o", str(output)]
    assert main([*arguments, "--metrics", "slices,overlap"]) == 0
    (pair,) = json.loads((output / "metrics.json").read_text())["pairs"]
    table = rowsOf(output / pair["files"]["slices"])
    columns = "Slice Position Only DSC HD MASD AreaReference AreaTest AreaDifference APL_2mm X Y Z"
    assert list(table[0]) == columns.split()
    assert len(table) == len(pair["slices"]) == 12
    assert table[0]["HD"] == "inf" and float(table[5]["HD"]) == pair["slices"][5]["HD"]
    # a run without them leaves no file of an earlier run
    assert main([*arguments, "--metrics", "overlap"]) == 0
    (pair,) = json.loads((output / "metrics.json").read_text())["pairs"]
    assert not list(output.glob("slices_*")) and pair["slices"] == []
    capsys.readouterr()


class TestChart:
    def testPointsJumpTheSliceViews(self, scene):
        from SegmentMetricsLib import mrml

        comparison = compare(*BOXES, SLICES)
        chart = mrml.showSlices(comparison)
        series = chart.GetNthPlotSeriesNode(0)
        table = series.GetTableNode().GetTable()
        assert (series.GetXColumnName(), series.GetYColumnName()) == ("Position", "HD")
        assert table.GetNumberOfRows() == len(comparison.slices)
        assert math.isnan(table.GetValueByName(0, "HD").ToDouble())
        assert table.GetValueByName(4, "DSC").ToDouble() == 0.7
        view = scene.AddNewNodeByClass("vtkMRMLSliceNode")
        for node in (series, series.GetTableNode()):
            for number in (0, 7, 11):
                place = comparison.slices[number].place
                assert mrml.jumpToSlice(node, number) == pytest.approx(place)
                assert view.GetSliceToRAS().GetElement(2, 3) == pytest.approx(place[2])
        with refused(" 12; ", " 12."):
            mrml.jumpToSlice(series, 12)
        table = mrml.showTable(comparison)
        with refused(table.GetName()):
            mrml.jumpToSlice(table, 0)

    def testAnotherRunReplaces(self, scene):
        from SegmentMetricsLib import mrml

        comparison = compare(*BOXES, SLICES)
        chart = mrml.showSlices(comparison)
        count = scene.GetNumberOfNodes()
        low, high = chart.GetXAxisRange()
        rows = comparison.slices
        assert low < rows[0].position and high > rows[-1].position
        for written in (low, (low + high) / 2, high):  # where VTK writes numbers
            assert written == round(written, 1)
        assert mrml.showSlices(comparison, quantity="DSC").GetYAxisRange() == (0, 1)
        assert mrml.showSlices(comparison, quantity="AreaDifference") is chart and scene.GetNumberOfNodes() == count
        assert all(end % 10 == 0 for end in chart.GetYAxisRange())
        assert chart.GetYAxisTitle() == "Area diff. (mm2)" and chart.GetYAxisRange()[0] < -100
        with refused("'NSD'", "DSC, HD"):
            mrml.showSlices(comparison, quantity="NSD")
        with refused():
            mrml.showSlices(compare(*BOXES, Settings(families="overlap")))


# Slices, effort and similarity of a test on another grid than the reference, against cases worked out by hand


FAMILIES = ("slices", "effort", "similarity", "overlap")
# 10 x 10 x 10 voxels of 1 mm, from -5 to 5 mm: the contour cuts the corners half a pixel from them
BOX = shapes.box((4, 4, 4), (13, 13, 13), origin=(-8.5, -8.5, -8.5))
SHIFT = 0.3


def settings(**changed) -> Settings:
    return Settings(families=FAMILIES, **{"tolerances": (0.2,), **changed})


def moved(shift=(SHIFT, 0, 0)):
    return shapes.box((4, 4, 4), (13, 13, 13), origin=np.add((-8.5, -8.5, -8.5), shift).tolist())


def testPartOfAVoxel():
    """The same box 0.3 mm farther toward L: every slice sees it."""
    found = compare(BOX, moved(), settings())
    assert [row.index for row in found.slices] == list(range(4, 14))
    for row in found.slices:
        assert row.only == "" and (row["AreaReference"], row["AreaTest"]) == (100, pytest.approx(100, abs=1e-6))
        assert row["DSC"] == pytest.approx(0.97) == found["DSC"].value
        assert row["HD"] == pytest.approx(SHIFT) and 0 < row["MASD"] < SHIFT
        # the sides toward R and L, and the cut corners but for what is near the sides along the shift: where a side
        # ends toward R it is nearer to the corner's line, which is 0.3 mm away along the shift; toward L the corners
        # leave the side's line at 45 degrees
        sides, right = 2 * 9, 2 * (math.sqrt(0.5) + SHIFT - 0.2 * math.sqrt(2))
        left = 2 * 0.3 * math.sqrt(2)
        assert row["APL_0.2mm"] == pytest.approx(sides + right + left, abs=0.005)
    assert found["APL_0.2mm"].value == pytest.approx(sum(row["APL_0.2mm"] for row in found.slices))
    # contours of one shape are paired as if they lay on each other, and measured where they are
    assert found["MeanBLD"].value == pytest.approx(SHIFT)
    assert found["MSI"].value == pytest.approx(math.exp(-0.5 * (SHIFT / 10) ** 2))
    assert compare(BOX, moved(), settings(tolerances=(0.3,)))["APL_0.3mm"].value == 0


@pytest.mark.parametrize("shift", [0.3, -0.3, 0.5, -0.5, 1.3])
def testAcrossTheSlices(shift):
    """Moved along the slices, the box is in those whose planes go through it; a low face in a plane is in it."""
    found = compare(BOX, moved((0, 0, shift)), settings())
    planes = np.arange(24) - 8.5
    isThere = (planes >= shift - 5) & (planes < shift + 5)
    assert [row.index for row in found.slices if row["AreaTest"]] == np.flatnonzero(isThere).tolist()
    assert all(row["DSC"] == 1 for row in found.slices if not row.only)


@pytest.mark.parametrize("order", [1, -1])
def testCoarserAndFiner(order):
    """The same box of 5 x 5 x 5 voxels of 2 mm: in the slices only the corners differ, which it cuts 1 mm from them."""
    coarse = shapes.box((2, 2, 2), (6, 6, 6), (9, 9, 9), (2, 2, 2), (-8, -8, -8))
    found = compare(*(BOX, coarse)[::order], settings(tolerances=(0.3, 0.4)))
    rows = found.slices
    assert len(rows) == (10 if order == 1 else 5)
    for row in rows:
        assert row.only == "" and row["DSC"] == 1 and row["AreaReference"] == row["AreaTest"] == 100
    # next to its ends the surface of the coarse one is cut, too
    for row in rows[1:-1]:
        assert row["HD"] == pytest.approx(math.sqrt(0.5) / 2)
        assert row["APL_0.4mm"] == 0
    # the fine one's corners lie beyond the coarse one's lines; of these no more than their middles is as far away
    middle = rows[len(rows) // 2]["APL_0.3mm"]
    assert middle >= 4 * math.sqrt(0.5) - 0.01 if order == 1 else 0 < middle < 4 * math.sqrt(2)


def testTurnedGrid():
    """The same box turned by 45 degrees about its middle: the two share a regular octagon in every slice."""
    turned = shapes.rotation((0, 0, 1), 45)
    origin = (turned @ np.full(3, -8.5)).tolist()
    test = shapes.imageOf(np.pad(np.ones((10, 10, 10), np.uint8), 4), origin=origin, direction=turned)
    found = compare(BOX, test, settings())
    assert len(found.slices) == 10
    for row in found.slices:
        assert row["AreaTest"] == pytest.approx(100) and row["DSC"] == pytest.approx(2 * (math.sqrt(2) - 1), abs=1e-6)
    # a corner's cut is 9.5 / sqrt(2) mm from the middle, the side beside it 5 mm
    assert found.slices[5]["HD"] == pytest.approx(9.5 * math.sqrt(0.5) - 5, abs=1e-3)


def testMeshesAreCutWhereTheyAre():
    mesh = shapes.boxMesh((-5 + SHIFT, -5, -5), (5 + SHIFT, 5, 5))
    found = compare(BOX, mesh, settings())
    for row in found.slices:
        assert row.only == "" and row["AreaTest"] == pytest.approx(100) and row["DSC"] == pytest.approx(0.97)
        # toward L the mesh has whole corners, beyond those that the reference cuts
        assert row["HD"] == pytest.approx((0.5 + SHIFT) * math.sqrt(0.5))
    assert len(found.slices) == 10 and found["MeanBLD"].value == pytest.approx(SHIFT, abs=0.05)
    # as a reference it has no slices of its own: the index takes those of the test
    other = compare(mesh, BOX, Settings(families="similarity", ol=3))
    assert other["MeanBLD"].value == pytest.approx(SHIFT, abs=0.05) and len(other.similarity.slices) == 10
    opened = compare(BOX, shapes.openBox(), settings())
    assert opened["APL_0.2mm"].cause is opened["MSI"].cause and opened["MSI"].cause.name == "NOT_CLOSED"
    assert opened.slices == () and any(opened["MSI"].reason in finding for finding in opened.findings)


def testSlicesThatOneLacks():
    """A mesh between two slices is in none of them."""
    found = compare(BOX, shapes.boxMesh((-1, -1, 0.6), (1, 1, 1.4)), settings())
    assert [row.only for row in found.slices] == ["reference"] * 10
    found = compare(BOX, shapes.boxMesh((-1, -1, 3), (3, 1, 7)), settings())
    assert [row.only for row in found.slices] == ["reference"] * 8 + [""] * 2 + ["test"] * 2
    assert found.slices[-1].place == pytest.approx((1, 0, 6.5)) and found.slices[-1]["AreaTest"] == pytest.approx(8)
    assert found.slices[0]["APL_0.2mm"] == pytest.approx(36 + 4 * math.sqrt(0.5))


def testWithinTheCommonExtent():
    """Cut to the slices that both have, a test on another grid is measured in these only."""
    reference, test = shapes.box((4, 4, 2), (13, 13, 20)), shapes.box((4, 4, 6), (13, 13, 22), origin=(SHIFT, 0, 0.2))
    found = compare(reference, test, settings(extent="common"))
    # the test's first slice lies at 6.2 mm
    assert [row.index for row in found.slices] == list(range(7, 21))
    for row in found.slices:
        assert row.only == "" and row["HD"] == pytest.approx(SHIFT) and row["DSC"] == pytest.approx(0.97)
    assert [one.index for one in found.similarity.slices] == [row.index for row in found.slices]


def testContoursOfOnePlane():
    """Images of one slice whose pixels lie apart by part of a pixel, and contours given as lines."""
    square = np.pad(np.ones((10, 10), np.uint8), 4)
    reference, test = shapes.imageOf(square), shapes.imageOf(square, origin=(SHIFT, 0))
    lines = shapes.loops([(3.5, 3.5), (13.5, 3.5), (13.5, 13.5), (3.5, 13.5)])
    assert compare(reference, test, settings())["MeanBLD"].value == pytest.approx(SHIFT)
    for pair in ((test, lines), (lines, test)):
        found = compare(*pair, Settings(families="similarity", ol=2))
        assert found["MeanBLD"].value == pytest.approx(SHIFT, abs=0.05)
