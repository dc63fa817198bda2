"""DICOM contours: between the slices of their image, across each other, of several images, and odd ones."""

from __future__ import annotations

import dicomfiles
import numpy as np
import pydicom
import pytest
from commandruns import run as run
from scipy.spatial.transform import Rotation

from SegmentMetricsLib import Settings, compare, readStructures
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.pairing import pairStructures
from SegmentMetricsLib.geometry.grids import Grid

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")


# slices every 3 mm from 0 to 57 mm
GRID = Grid((64, 64, 20), np.array([[1.0, 0, 0, -32], [0, 1, 0, -32], [0, 0, 3, 0], [0, 0, 0, 1]]))
# turns a plane upright
X = np.array([(1.0, 0, 0), (0, 0, 1), (0, 1, 0)])
RADIUS = 25.0
SPHERE = 4 / 3 * np.pi * RADIUS**3


# beside the middle of a pixel, so that no contour runs through the middle of others
CENTER = (0.3, 0.2)


def circle(radius, height, center=CENTER, count=60):
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1) * radius + center
    return np.column_stack([around, np.full(count, height)])


def sphere(heights, radius=RADIUS, center=(*CENTER, 30.0)):
    """Return the contours of a ball at heights in mm."""
    away = np.array(heights, float) - center[2]
    inside = np.abs(away) < radius
    return [circle(np.sqrt(radius**2 - d**2), d + center[2], center[:2]) for d in away[inside]]


def cylinder(heights, center=CENTER, radius=10.0):
    return [circle(radius, height, center) for height in heights]


def written(folder, regions, grid=GRID, **options):
    """Return the structures of a structure set by name. grid: of the image beside it, None for none."""
    slices = () if grid is None else dicomfiles.writeSeries(folder / "ct", grid)
    dicomfiles.writeStructureSet(folder / "set.dcm", regions, slices, **options)
    return {s.name: s for s in readStructures(folder / "set.dcm")}


def testContoursBetweenSlicesCutNoHoles(tmp_path):
    """However densely a ball is drawn, the slices take the contours at their own height."""
    steps = (3.0, 1.5, 1.0, 0.75)
    slices, *dense = written(tmp_path, {f"{step}": sphere(np.arange(0, 60, step)) for step in steps}).values()
    assert slices.notes == () and len(dense) == 3
    for structure in dense:
        np.testing.assert_array_equal(structure.mask.corners(), slices.mask.corners())
        np.testing.assert_array_equal(structure.mask.voxels, slices.mask.voxels)
        assert structure.mask.size == pytest.approx(SPHERE, rel=0.01)
        assert "it has contours at several heights" in structure.notes[0]


def testContoursOffTheSlicesFillEverySlice(tmp_path):
    """Halfway between two slices, too, and with the digits that a file leaves out."""
    heights, digits = np.arange(6, 54, 3.0), np.random.default_rng(3).uniform(-0.02, 0.02, 16)
    shifts = [shift + noise * digits for shift in (-1.5, -1.0, 1.0, 1.5) for noise in (0, 1)]
    for structure in written(tmp_path, {f"Rod {n}": cylinder(heights + s) for n, s in enumerate(shifts)}).values():
        counts = np.count_nonzero(structure.mask.voxels, axis=(1, 2))
        assert len(counts) == 16 and (counts == counts[0]).all()
        assert structure.notes == ("16 of its contours lie between slices and were filled on the nearest one",)


def testOfTwoPlanesEquallyFarFromASliceItTakesTheLower(tmp_path):
    heights = [k * 3 + away for k in range(4, 9) for away in (-0.75, 0.75)]
    loops = [circle(10 if number % 2 else 6, height) for number, height in enumerate(heights)]
    found = written(tmp_path, {"Up": loops, "Down": loops[::-1], "Lower": loops[::2], "Upper": loops[1::2]})
    assert found["Lower"].mask.count != found["Upper"].mask.count
    for name in ("Up", "Down"):
        np.testing.assert_array_equal(found[name].mask.voxels, found["Lower"].mask.voxels)


def testHolesStayWhereTheyWereDrawnWithTheirContour(tmp_path):
    """Outer and inner contour belong together in their plane, not with those of a plane nearby."""
    heights = np.arange(6, 52, 1.0)
    tube = [loop for height in heights for loop in (circle(20, height), circle(10, height))]
    found = written(tmp_path, {"Dense": tube, "Slices": [loop for loop in tube if loop[0, 2] % 3 == 0]})
    for name in ("Dense", "Slices"):
        assert found[name].mask.count == pytest.approx(16 * np.pi * (20**2 - 10**2), rel=0.01)


@pytest.mark.parametrize("grid", [GRID, None])
def testHolesStayInContoursThatLean(tmp_path, grid):
    """As those of an oblique image: the middle of a hole is not at the height of that of its contour."""
    lean = np.radians(0.5 if grid else 2)
    turn = np.array([[np.cos(lean), 0, -np.sin(lean)], [0, 1, 0], [np.sin(lean), 0, np.cos(lean)]])
    loops = [loop for height in range(6, 54, 3) for loop in (circle(10, height), circle(5, height, (3.3, 0.2)))]
    (structure,) = written(tmp_path, {"Tube": [loop @ turn.T for loop in loops]}, grid).values()
    assert structure.mask.size == pytest.approx(16 * 3 * np.pi * (10**2 - 5**2), rel=0.015)


def testRoundedHeightsAreOnePlane(tmp_path):
    tube = [loop for height in range(6, 54, 3) for loop in (circle(20, height + 0.01), circle(10, height - 0.01))]
    (structure,) = written(tmp_path, {"Tube": tube}).values()
    assert structure.mask.count == pytest.approx(16 * np.pi * (20**2 - 10**2), rel=0.01)
    assert structure.notes == ()


def disk(radius, center=(0.0, 0.0)):
    """Return the pixels [row, column] of the image whose center lies inside a circle."""
    row, column = np.mgrid[-32:32, -32:32]
    return np.hypot(column - CENTER[0] - center[0], row - CENTER[1] - center[1]) < radius


def drawn(folder, circles, kinds=()):
    """Return the pixels of circles, radius and center each, that are contours of one slice, and the remarks.

    kinds: the numbers of those that are combined by exclusive or.
    """
    loops = [circle(radius, 9.0, np.add(CENTER, center), 720) for radius, center in circles]
    types = {("A", number): "CLOSEDPLANAR_XOR" for number in kinds}
    structure = written(folder, {"A": loops}, kinds=types)["A"]
    return structure.mask.block((0, 0, 3), (63, 63, 3))[0].astype(bool), structure.notes


JOIN, HOLE = "the areas inside those that cross were joined", "it was taken for a hole"
ODD = "areas inside an odd number of them"
WALL, INSIDE = (20, (0, 0)), (17, (0, 3.8))


@pytest.mark.parametrize(("beyond", "order"), [(0.0, 1), (0.4, -1), (0.8, 1), (1.4, -1)])
def testAHoleThatReachesBeyondItsContourStaysOne(tmp_path, beyond, order):
    """As in the wall of a bladder that was drawn up to its edge, whatever an observer's hand did there."""
    inside = (17, (0, 3 + beyond))
    found, notes = drawn(tmp_path, [WALL, inside][::order])
    np.testing.assert_array_equal(found, disk(*WALL) & ~disk(*inside))
    assert len(notes) == (beyond > 0) and all(HOLE in note for note in notes)


# islands, and an outline that was drawn a second time a bit to the side: hardly any of it lies beyond the first one
@pytest.mark.parametrize("circles", [[(12, (0, 0)), (8, (0, 14)), (6, (-13, 3))], [(20, (0, 0)), (19.8, (0.9, 0))]])
def testOutlinesThatCrossAreJoined(tmp_path, circles):
    found, (note,) = drawn(tmp_path, circles)
    np.testing.assert_array_equal(found, np.any([disk(*one) for one in circles], axis=0))
    assert JOIN in note and HOLE not in note


def testHolesThatCrossAreOneHole(tmp_path):
    """And an island in them stays one although it reaches a little into the wall."""
    wall, one, other, island = (28, (0, 0)), (12, (-8, 0)), (10, (9, 0)), (5, (-8, 7.6))
    found, notes = drawn(tmp_path, [island, one, other, wall])
    np.testing.assert_array_equal(found, disk(*wall) & ~(disk(*one) | disk(*other)) | disk(*island))
    assert [JOIN in note for note in notes] == [True, False] and HOLE in notes[1]


@pytest.mark.parametrize(
    "circles",
    [
        [WALL, INSIDE],
        [(8, (-9, 0)), (8, (-9, 0)), (8, (9, 0))],
        [(8, (-9, 0)), (8, (9, 0)), (8, (-9, 0)), (8, (-9, 0))],
        [(5, (2, 0)), (20, (0, 0)), (5, (-2, 0)), (15, (12, 0))],
    ],
)
def testExclusiveContoursAreWhatTheirTypeSays(tmp_path, circles):
    found, (note,) = drawn(tmp_path, circles, range(len(circles)))
    np.testing.assert_array_equal(found, np.bitwise_xor.reduce([disk(*one) for one in circles]))
    assert ODD in note


def testExclusiveContoursBesideOthers(tmp_path):
    """Only those of the type are combined so, and nested ones are nothing to talk about."""
    circles = [(12, (-8, 0)), (12, (4, 0)), (9, (0, 0)), (3, (0, 0))]
    found, (note,) = drawn(tmp_path, circles, [2, 3])
    joined = disk(*circles[0]) | disk(*circles[1])
    np.testing.assert_array_equal(found, joined ^ disk(*circles[2]) ^ disk(*circles[3]))
    assert JOIN in note


def testExclusiveContoursThatCancelEachOther(tmp_path):
    found, notes = drawn(tmp_path, [WALL, WALL], [0, 1])
    assert not found.any()
    assert notes[0] == "its 2 contours enclose no voxel center of the image" and ODD in notes[1]


def testSeparatePartsAtOtherHeightsAreKept(tmp_path):
    """One structure of two parts, the second of which was drawn at heights of its own."""
    left, right = cylinder(np.arange(6, 54, 3.0), (-15, 0)), cylinder(np.arange(7, 55, 3.0), (15, 0))
    found = written(tmp_path, {"Both": left + right, "Left": left, "Right": right})
    assert found["Both"].mask.count == found["Left"].mask.count + found["Right"].mask.count


def bothImages(folder, order, withNames):
    """Write a CT and an MR and a structure set on the CT that lists both; return the contours and the reading."""
    coarse = Grid((32, 32, 10), np.array([[2.0, 0, 0, -32], [0, 2, 0, -32], [0, 0, 7, 1.2], [0, 0, 0, 1]]))
    ct = dicomfiles.writeSeries(folder / "ct", GRID, frame="1.2.3")
    mr = dicomfiles.writeSeries(folder / "mr", coarse, frame="1.2.9")
    loops = cylinder(np.arange(6, 54, 3.0))
    frames = {}
    for name, slices, frame in (("mr", mr, "1.2.9"), ("ct", ct, "1.2.3")):
        content = dicomfiles.writeStructureSet(folder / "set.dcm", {"Rod": loops, "None": []}, slices, frame=frame)
        frames[name] = content.ReferencedFrameOfReferenceSequence[0]
    content.ReferencedFrameOfReferenceSequence = pydicom.Sequence([frames[name] for name in order])
    if withNames:
        at = {float(image.ImagePositionPatient[2]): image for image in ct}
        for contour in content.ROIContourSequence[0].ContourSequence:
            image = at[float(contour.ContourData[2])]
            contour.ContourImageSequence = [dicomfiles.referenceTo(image.SOPClassUID, image.SOPInstanceUID)]
        # what the region says of its frame is then not what decides
        content.StructureSetROISequence[0].ReferencedFrameOfReferenceUID = "1.2.9"
    return content


@pytest.mark.parametrize(("order", "withNames"), [(("mr", "ct"), False), (("mr", "ct"), True), (("ct", "mr"), True)])
def testTheImageThatTheContoursName(tmp_path, order, withNames):
    """Of several images it is the one that the contours name, or that has the frame of reference of the structure."""
    bothImages(tmp_path, order, withNames).save_as(tmp_path / "set.dcm")
    rod, nothing = readStructures(tmp_path / "set.dcm")
    assert rod.mask.grid.size == GRID.size and rod.notes == ()
    assert rod.mask.size == pytest.approx(np.pi * 100 * 48, rel=0.02)
    assert nothing.isEmpty and nothing.frameOfReference == "1.2.3"


def testContoursAloneNameTheirImage(tmp_path):
    """Without a list of images, all slices of the series of those that the contours name make the image."""
    content = bothImages(tmp_path, ("mr", "ct"), True)
    del content.ReferencedFrameOfReferenceSequence
    drawn = content.ROIContourSequence[0]
    drawn.ContourSequence = [drawn.ContourSequence[number] for number in (0, 1, 4)]
    content.save_as(tmp_path / "set.dcm")
    rod, _ = readStructures(tmp_path / "set.dcm")
    assert rod.mask.grid.size == GRID.size
    assert rod.notes == ("it has no contour on 2 slices between its first and its last one",)


def testASingleSliceOfTheImage(tmp_path):
    """Contours tell how far apart slices are, else the thickness of the slice does."""
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID)
    for file in (tmp_path / "ct").iterdir():
        if file.name != "slice9":
            file.unlink()
    for name, heights, distance in (("many", np.arange(5, 53, 2.0), 2), ("one", [27.0], 3)):
        dicomfiles.writeStructureSet(tmp_path / f"{name}.dcm", {"Rod": cylinder(heights)}, slices)
        (rod,) = readStructures(tmp_path / f"{name}.dcm")
        assert rod.mask.size == pytest.approx(np.pi * 100 * len(heights) * distance, rel=0.02)
        assert rod.notes[0].startswith("Only one slice of the image") and len(rod.notes) == 1
        assert rod.mask.grid.size[2] >= len(heights)  # the grid of one slice is not the place of the structure
        assert f"{distance} mm apart" in rod.notes[0]


def testContoursThatEncloseNoVoxel(tmp_path):
    seed = [circle(0.3, height, (0.5, 0.5)) for height in (6, 9, 12)]
    found = written(tmp_path, {"Seed": seed, "Dot": seed[:1], "None": [], "Rod": cylinder(np.arange(6, 54, 3.0))})
    assert found["Seed"].notes == ("its 3 contours enclose no voxel center of the image",)
    assert found["Dot"].notes == ("its only contour encloses no voxel center of the image",)
    assert found["None"].notes == ()

    def findings(reference, test):
        return compare(found[reference], found[test], Settings(families="overlap")).findings

    both = "The reference and the test were drawn, but enclose no voxel center of the image, so they count as empty."
    assert findings("Seed", "Dot")[0] == both
    assert "The test's only contour encloses no voxel center of the image." in findings("Seed", "Dot")
    one = "The reference was drawn, but encloses no voxel center of the image, so it counts as empty."
    for other in ("None", "Rod"):
        assert findings("Seed", other)[0] == one
        assert not any("neither observer" in finding for finding in findings("Seed", other))


def tilted(height=20.0):
    return circle(10, height) + np.linspace(-4, 4, 60)[:, None] * (0, 0, 1.0)


LEFT_OUT = "The structure 'Needle' of set.dcm was left out: a contour does not run along the slices of the image"


def testOneOddStructureIsLeftOut(tmp_path):
    """The others of its file are as usable as before; who asks for the odd one hears why it is not there."""
    rod = cylinder(np.arange(6, 54, 3.0))
    odd = written(tmp_path / "odd", {"Rod": rod, "Needle": [tilted()]})
    assert list(odd) == ["Rod"]
    written(tmp_path / "good", {"Rod": rod, "Needle": rod})
    sets = odd, _ = [readStructures(tmp_path / name / "set.dcm") for name in ("odd", "good")]
    assert odd.remarkOn("Needle").startswith(LEFT_OUT) and odd.remarkOn("Rod") == ""
    pairing = pairStructures(*sets)
    assert [match.reference.name for match in pairing.pairs] == ["Rod"]
    comparison = compare(*pairing.pairs[0])
    assert comparison["DSC"].value == 1
    assert sum(finding.startswith(LEFT_OUT) for finding in comparison.findings) == 1
    for choice in ({"names": ["Needle"]}, {"choices": {"Needle": "Needle"}}):
        with pytest.raises(InputError, match=f"^{LEFT_OUT}"):
            pairStructures(*sets, **choice)
    # what is left is no pair by being alone
    written(tmp_path / "other", {"Needle": rod})
    assert pairStructures(odd, readStructures(tmp_path / "other" / "set.dcm"), isProposing=False).pairs == ()


def testOnlyOddStructures(tmp_path):
    with pytest.raises(InputError, match=r"set.dcm: the structure 'Needle' cannot be used: a contour does not run"):
        written(tmp_path, {"Needle": [tilted()]})
    with pytest.raises(InputError, match=r"the structure 'Needle' cannot be used, nor any other: a contour"):
        written(tmp_path, {"Needle": [tilted()], "Other": [tilted(30)]})


def testAnOddStructureOfAFolder(tmp_path):
    rod = cylinder(np.arange(6, 54, 3.0))
    for name in ("one", "two"):
        dicomfiles.writeStructureSet(tmp_path / f"{name}.dcm", {"Rod": rod, "Needle": [tilted()]})
    found = readStructures(tmp_path)
    assert [s.name for s in found] == ["one Rod", "two Rod"]
    with pytest.raises(InputError, match=r"The structure 'Needle' of two\.dcm was left out"):
        pairStructures(found, found, names=["two Needle"])


def testOddStructuresOnTheCommandLine(run, tmp_path):
    rod = cylinder(np.arange(6, 54, 3.0))
    for name, regions in (("odd", {"Rod": rod, "Needle": [tilted()]}), ("good", {"Rod": rod, "Needle": rod})):
        written(tmp_path / name, regions)
    leftOut = LEFT_OUT.replace("set.dcm", "odd/set.dcm")  # the others are called alike
    both = ("compare", "odd/set.dcm", "good/set.dcm", "--metrics", "overlap", "-o", "out")
    status, out, err = run(*both)
    # the reference has it as well
    assert status == 1 and leftOut in out and leftOut in err and "Only in the test" not in out
    assert run(*both, "--structure", "Rod")[0] == 0
    for option in (("--structure", "Needle"), ("--pair", "Needle=Needle")):
        status, _, err = run(*both, *option)
        assert status != 0 and leftOut in err


KNOWN = ["CLOSED_PLANAR", "closed_planar", "Closed Planar", "CLOSEDPLANAR"]
UNKNOWN = ["INTERPOLATED_PLANAR", "CLOSED_NONPLANAR", "PLANAR"]
OPEN = ["POINT", "OPEN_PLANAR", "OPEN_NONPLANAR", "open planar"]


def testTypesOfContours(tmp_path):
    """What is not known to be open is filled, and only what is open is called that."""
    rod, every = cylinder(np.arange(6, 54, 3.0)), (*KNOWN, *UNKNOWN, *OPEN)
    kinds = {(kind, number): kind for kind in every for number in range(0, 16, 2)}
    kinds |= {("None", number): "" for number in range(3)}
    found = written(tmp_path, {"All": rod, "None": rod, **dict.fromkeys(every, rod)}, kinds=kinds)
    assert found["None"].notes == () and found["None"].mask.count == found["All"].mask.count
    for kind in every:
        isOpen, notes = kind in OPEN, " ".join(found[kind].notes)
        assert found[kind].mask.count == found["All"].mask.count / (2 if isOpen else 1)
        assert ("8 of its contours are open lines or points and were left out" in notes) == isOpen
        said = f"8 of its contours are of the type {kind}, which DICOM does not know, and were filled like closed ones"
        assert (said in notes) == (kind in UNKNOWN) and bool(notes) == (kind not in KNOWN)


def testContoursOfTooFewPointsAreNotCalledOpen(tmp_path):
    rod = cylinder(np.arange(6, 54, 3.0))
    found = written(tmp_path, {"Rod": [*rod, rod[0][:2], np.zeros((0, 3))], "Spot": [*rod, rod[0][:1]]})
    assert found["Rod"].notes == ("2 of its contours have fewer than three points and were left out",)
    assert found["Spot"].notes == ("1 of its contours has fewer than three points and was left out",)
    assert found["Rod"].mask.count == found["Spot"].mask.count


def testTooManyPixelsThroughTheirCenters(tmp_path, monkeypatch):
    """Contours through pixel centers that would need too much memory as parts of pixels are filled as ever."""
    from SegmentMetricsLib.io.dicom import filledslices

    grid = Grid((20, 20, 5), np.diag([1.0, 1, 3, 1]))
    slices = dicomfiles.writeSeries(tmp_path / "image", grid)
    corners = np.array([(4, 4, 6), (9, 4, 6), (9, 9, 6), (4, 9, 6)], float)
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Box": [corners]}, slices)
    monkeypatch.setattr(filledslices, "MOST_VOXELS", 100)
    (found,) = readStructures(tmp_path / "set.dcm")
    assert found.mask.count == 25 and found.mask.grid == grid
    assert "too large to be filled with parts of pixels" in " ".join(found.notes)


# The planes of DICOM contours: how far apart they are, and where they lie without their image


@pytest.mark.parametrize("shift", [0.01, 0.2, 1.0, 1.5])
def testWithoutTheImageStructuresHaveTheirOwnPlanes(tmp_path, shift):
    heights = np.arange(0, 30, 3.0)
    regions = {"A": cylinder(heights), "B": cylinder(heights + shift, (40, 0)), "One": cylinder([6.0], (80, 0))}
    found = written(tmp_path, {**regions, "None": []}, None)
    for name in "AB":
        assert found[name].mask.size == pytest.approx(np.pi * 100 * 30, rel=0.01)
        (note,) = found[name].notes
        assert "planes 3 mm apart" in note
        assert not found[name].mask.touchesEdge
    assert found["One"].mask.size == pytest.approx(np.pi * 100 * 3, rel=0.01)
    assert found["None"].isEmpty
    corners = found["B"].mask.corners()[:, 2]
    assert (corners.min(), corners.max()) == pytest.approx((shift - 1.5, shift + 28.5))


@pytest.mark.parametrize("height", [0.1, -62.7, 10.1, 5.0])
def testWithoutTheImageOnePlaneIsOne(tmp_path, height):
    """The mean of many equal heights is not always that height."""
    loops = [circle(3, height), circle(2, height, (9.3, 0.2))[::7], circle(2, height, (-9.3, 0.2))[::20]]
    eye = cylinder(height + np.arange(-15, 15, 3.0))
    found = written(tmp_path, {"Eye": eye, "Cord": eye, "Lens": loops}, None)
    assert found["Lens"].mask.grid.spacing[2] == pytest.approx(3) and found["Eye"].mask.grid.spacing[2] == 3
    assert len(found["Lens"].mask.voxels) == 1


# what runs along the rows, the columns and across the slices
VIEWS = {
    "sagittal": np.array([(0, 1, 0), (0, 0, -1), (-1, 0, 0)], float).T,
    "coronal": np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)], float).T,
    "oblique": Rotation.from_euler("xyz", (25, -15, 40), degrees=True).as_matrix(),
}


@pytest.mark.parametrize("view", VIEWS)
def testPlanesOfAnyImage(tmp_path, view):
    """Without the image it is the contours that tell in which planes they lie, whatever some odd one says."""
    turn, heights = VIEWS[view], np.arange(0, 30, 3.0)
    tube = [loop for height in heights for loop in (circle(10, height, count=720), circle(5, height, (3.3, 0.2), 720))]
    regions = {"Tube": tube, "Rod": cylinder(heights, (30, 0)), "Needle": [tilted()], "Upright": [circle(60, 0.0) @ X]}
    found = written(tmp_path, {name: [loop @ turn.T for loop in loops] for name, loops in regions.items()}, None)
    assert list(found) == ["Tube", "Rod"]
    grid = found["Tube"].mask.grid
    assert abs(grid.direction[:, 2] @ turn[:, 2]) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(grid.spacing, (0.5, 0.5, 3), rtol=1e-5)
    assert found["Tube"].mask.size == pytest.approx(10 * 3 * np.pi * (10**2 - 5**2), rel=0.01)
    assert "planes 3 mm apart" in found["Tube"].notes[0]


@pytest.mark.parametrize("turn", [np.eye(3), VIEWS["oblique"]])
def testSetsWithoutTheirImageShareALattice(tmp_path, turn):
    """What two observers drew on the same slices is compared voxel by voxel."""
    loops = [[loop @ turn.T for loop in cylinder(np.arange(low, 30, 3.0))] for low in (0, 6)]
    first, second = (written(tmp_path / str(n), {"A": some}, None)["A"] for n, some in enumerate(loops))
    assert second.mask.grid.offsetOn(first.mask.grid) is not None
    assert compare(first, second, Settings(families="overlap"))["DSC"].value == pytest.approx(2 * 8 / 18, abs=1e-3)
