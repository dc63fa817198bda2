"""DICOM contours: between the slices of their image, across each other, of several images, and odd ones."""

from __future__ import annotations

import dicomfiles
import numpy as np
import pydicom
import pytest
import shapes
from commandruns import run as run
from dicomfiles import CENTER, GRID, circle, cylinder, edited, readContours
from sayings import refused, says
from tiers import rarely

from SegmentMetricsLib import Grid, Settings, compare, compareCase, readStructures

# turns a plane upright
X = np.array([(1.0, 0, 0), (0, 0, 1), (0, 1, 0)])
RADIUS = 25.0
HEIGHTS = np.arange(6, 54, 3.0)
ROD = cylinder(HEIGHTS)
OVERLAP = Settings(families="overlap")


def tube(heights, inner=(5, CENTER), outer=10.0, count=60):
    """Return circles with circles within, which are holes. inner: their radius and center."""
    return [loop for z in heights for loop in (circle(outer, z, count=count), circle(inner[0], z, inner[1], count))]


def testContoursBetweenSlicesCutNoHoles(tmp_path):
    """However densely a ball is drawn, the slices take the contours at their own height."""

    def ball(step: float):
        away = np.arange(0, 60, step) - 30
        return [circle(np.sqrt(RADIUS**2 - d**2), d + 30) for d in away[np.abs(away) < RADIUS]]

    slices, *dense = readContours(tmp_path, {f"{step}": ball(step) for step in (3.0, 1.5, 0.75)}).values()
    assert slices.notes == () and len(dense) == 2
    for structure in dense:
        assert structure.mask.isSameAs(slices.mask)
        assert structure.mask.size == pytest.approx(4 / 3 * np.pi * RADIUS**3, rel=0.01)
        (note,) = structure.notes
        says(note)


def testContoursOffTheSlicesFillEverySlice(tmp_path):
    """Halfway between two slices, too, and with the digits that a file leaves out."""
    digits = np.random.default_rng(3).uniform(-0.02, 0.02, 16)
    shifts = [shift + noise * digits for shift in (-1.5, -1.0, 1.0, 1.5) for noise in (0, 1)]
    for structure in readContours(tmp_path, {f"{n}": cylinder(HEIGHTS + s) for n, s in enumerate(shifts)}).values():
        counts = np.count_nonzero(structure.mask.voxels, axis=(1, 2))
        assert len(counts) == 16 and (counts == counts[0]).all()
        (note,) = structure.notes
        says(note, 16)


def testOfTwoPlanesEquallyFarFromASliceItTakesTheLower(tmp_path):
    heights = [k * 3 + away for k in range(4, 9) for away in (-0.75, 0.75)]
    loops = [circle(10 if number % 2 else 6, height) for number, height in enumerate(heights)]
    found = readContours(tmp_path, {"Up": loops, "Down": loops[::-1], "Lower": loops[::2], "Upper": loops[1::2]})
    assert found["Lower"].mask.count != found["Upper"].mask.count
    for name in ("Up", "Down"):
        assert found[name].mask.isSameAs(found["Lower"].mask)


def testHolesStayWhereTheyWereDrawnWithTheirContour(tmp_path):
    """Outer and inner contour belong together in their plane, not with those of a plane nearby; also if rounded."""
    rounded = [loop + np.array([0, 0, away]) for loop, away in zip(tube(HEIGHTS, (10, CENTER), 20), (0.01, -0.01) * 16)]
    regions = {"Dense": tube(np.arange(6, 52, 1.0), (10, CENTER), 20), "Rounded": rounded}
    found = readContours(tmp_path, regions)
    for name in regions:
        assert found[name].mask.count == pytest.approx(16 * np.pi * (20**2 - 10**2), rel=0.01)
    assert found["Rounded"].notes == ()


@pytest.mark.parametrize("grid", [GRID, None])
def testHolesStayInContoursThatLean(tmp_path, grid):
    """As those of an oblique image: the middle of a hole is not at the height of that of its contour."""
    turn = shapes.rotation((0, 1, 0), -0.5 if grid else -2)
    loops = [loop @ turn.T for loop in tube(HEIGHTS, (5, (3.3, 0.2)))]
    (structure,) = readContours(tmp_path, {"Tube": loops}, grid).values()
    assert structure.mask.size == pytest.approx(16 * 3 * np.pi * (10**2 - 5**2), rel=0.015)


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
    structure = readContours(folder, {"A": loops}, kinds=types)["A"]
    return structure.mask.block((0, 0, 3), (63, 63, 3))[0].astype(bool), structure.notes


WALL, INSIDE = (20, (0, 0)), (17, (0, 3.8))


@pytest.mark.parametrize(("beyond", "order"), [(0.0, 1), (0.4, -1), (0.8, 1), (1.4, -1)])
def testAHoleThatReachesBeyondItsContourStaysOne(tmp_path, beyond, order):
    """As in the wall of a bladder that was drawn up to its edge, whatever an observer's hand did there."""
    inside = (17, (0, 3 + beyond))
    found, notes = drawn(tmp_path, [WALL, inside][::order])
    np.testing.assert_array_equal(found, disk(*WALL) & ~disk(*inside))
    assert len(notes) == (beyond > 0) and all(map(says, notes))


# islands, and an outline that was drawn a second time a bit to the side: hardly any of it lies beyond the first one
@pytest.mark.parametrize("circles", [[(12, (0, 0)), (8, (0, 14)), (6, (-13, 3))], [(20, (0, 0)), (19.8, (0.9, 0))]])
def testOutlinesThatCrossAreJoined(tmp_path, circles):
    found, (note,) = drawn(tmp_path, circles)
    np.testing.assert_array_equal(found, np.any([disk(*one) for one in circles], axis=0))
    says(note)


def testHolesThatCrossAreOneHole(tmp_path):
    """And an island in them stays one although it reaches a little into the wall."""
    wall, one, other, island = (28, (0, 0)), (12, (-8, 0)), (10, (9, 0)), (5, (-8, 7.6))
    found, notes = drawn(tmp_path, [island, one, other, wall])
    np.testing.assert_array_equal(found, disk(*wall) & ~(disk(*one) | disk(*other)) | disk(*island))
    assert len(notes) == 2 and says("\n".join(notes))


@pytest.mark.parametrize(
    "circles",
    [
        [WALL, INSIDE],
        [(8, (-9, 0)), (8, (-9, 0)), (8, (9, 0))],
        [(8, (-9, 0)), (8, (9, 0)), (8, (-9, 0)), (8, (-9, 0))],
        [(5, (2, 0)), (20, (0, 0)), (5, (-2, 0)), (15, (12, 0))],
        [WALL, WALL],  # they cancel each other
    ],
)
def testExclusiveContoursAreWhatTheirTypeSays(tmp_path, circles):
    found, notes = drawn(tmp_path, circles, range(len(circles)))
    np.testing.assert_array_equal(found, np.bitwise_xor.reduce([disk(*one) for one in circles]))
    assert len(notes) == (1 if found.any() else 2) and says("\n".join(notes), "CLOSEDPLANAR_XOR")


def testExclusiveContoursBesideOthers(tmp_path):
    """Only those of the type are combined so, and nested ones are nothing to talk about."""
    circles = [(12, (-8, 0)), (12, (4, 0)), (9, (0, 0)), (3, (0, 0))]
    found, (note,) = drawn(tmp_path, circles, [2, 3])
    joined = disk(*circles[0]) | disk(*circles[1])
    np.testing.assert_array_equal(found, joined ^ disk(*circles[2]) ^ disk(*circles[3]))
    says(note)


def testSeparatePartsAtOtherHeightsAreKept(tmp_path):
    """One structure of two parts, the second of which was drawn at heights of its own."""
    left, right = cylinder(HEIGHTS, (-15, 0)), cylinder(HEIGHTS + 1, (15, 0))
    found = readContours(tmp_path, {"Both": left + right, "Left": left, "Right": right})
    assert found["Both"].mask.count == found["Left"].mask.count + found["Right"].mask.count


def bothImages(folder, order, withNames):
    """Write a CT and an MR and a structure set on the CT that lists both, and return its path."""
    coarse = Grid((32, 32, 10), np.array([[2.0, 0, 0, -32], [0, 2, 0, -32], [0, 0, 7, 1.2], [0, 0, 0, 1]]))
    ct = dicomfiles.writeSeries(folder / "ct", GRID, frame="1.2.3")
    mr = dicomfiles.writeSeries(folder / "mr", coarse, frame="1.2.9")
    frames, path = {}, folder / "set.dcm"
    for name, slices, frame in (("mr", mr, "1.2.9"), ("ct", ct, "1.2.3")):
        content = dicomfiles.writeStructureSet(path, {"Rod": ROD, "None": []}, slices, frame=frame)
        frames[name] = content.ReferencedFrameOfReferenceSequence[0]
    content.ReferencedFrameOfReferenceSequence = pydicom.Sequence([frames[name] for name in order])
    if withNames:
        for contour in content.ROIContourSequence[0].ContourSequence:
            image = ct[round(float(contour.ContourData[2]) / 3)]
            contour.ContourImageSequence = [dicomfiles.referenceTo(image.SOPClassUID, image.SOPInstanceUID)]
        # what the region says of its frame is then not what decides
        content.StructureSetROISequence[0].ReferencedFrameOfReferenceUID = "1.2.9"
    content.save_as(path)
    return path


@pytest.mark.parametrize(("order", "withNames"), [(("mr", "ct"), False), (("mr", "ct"), True), (("ct", "mr"), True)])
def testTheImageThatTheContoursName(tmp_path, order, withNames):
    """Of several images it is the one that the contours name, or that has the frame of reference of the structure."""
    rod, nothing = readStructures(bothImages(tmp_path, order, withNames))
    assert rod.mask.grid.size == GRID.size and rod.notes == ()
    assert rod.mask.size == pytest.approx(np.pi * 100 * 48, rel=0.02)
    assert nothing.isEmpty and nothing.frameOfReference == "1.2.3"


def testContoursAloneNameTheirImage(tmp_path):
    """Without a list of images, all slices of the series of those that the contours name make the image."""
    path = bothImages(tmp_path, ("mr", "ct"), True)
    with edited(path) as content:
        del content.ReferencedFrameOfReferenceSequence
        own = content.ROIContourSequence[0]
        own.ContourSequence = [own.ContourSequence[number] for number in (0, 1, 4)]
    rod, _ = readStructures(path)
    assert rod.mask.grid.size == GRID.size
    (note,) = rod.notes
    says(note, 2)


def testASingleSliceOfTheImage(tmp_path):
    """Contours tell how far apart slices are, else the thickness of the slice does."""
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID)
    for file in (tmp_path / "ct").iterdir():
        if file.name != "slice9":
            file.unlink()
    for heights, extent, distance in (
        (np.arange(5, 53, 2.0), 48, "2 mm"),
        ([27.0], 3, "3 mm"),
        ([6.0, 9, 12, 15, 21, 27, 33], 31.5, ""),
    ):
        dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Rod": cylinder(heights)}, slices)
        (rod,) = readStructures(tmp_path / "set.dcm")
        assert rod.mask.size == pytest.approx(np.pi * 100 * extent, rel=0.02)
        assert rod.mask.grid.size[2] >= len(heights)  # the grid of one slice is not the place of the structure
        (note,) = rod.notes
        says(note, distance)


def testContoursThatEncloseNoVoxel(tmp_path):
    seed = cylinder((6, 9, 12), (0.5, 0.5), 0.3)
    found = readContours(tmp_path, {"Seed": seed, "Dot": seed[:1], "None": [], "Rod": ROD})
    for name, count in (("Seed", 3), ("Dot", "")):
        (note,) = found[name].notes
        says(note, count)
    assert found["None"].notes == ()
    for other, count in (("Dot", 3), ("None", 2), ("Rod", 2)):
        findings = compare(found["Seed"], found[other], OVERLAP).findings
        assert len(findings) == count
        says("\n".join(findings), "reference", 3)


def tilted(height=20.0):
    return circle(10, height) + np.linspace(-4, 4, 60)[:, None] * (0, 0, 1.0)


def testOneOddStructureIsLeftOut(run, tmp_path):
    """The others of its file are as usable as before; who asks for the odd one hears why it is not there."""
    odd = readContours(tmp_path / "odd", {"Rod": ROD, "Needle": [tilted()]})
    readContours(tmp_path / "good", {"Rod": ROD, "Needle": ROD})
    found = readStructures(tmp_path / "odd" / "set.dcm")
    assert list(odd) == [s.name for s in found] == ["Rod"]
    assert says(found.remarkOn("Needle"), "'Needle'", "set.dcm") and found.remarkOn("Rod") == ""
    both = "odd/set.dcm", "good/set.dcm"  # the files are called alike
    case = compareCase(*both, OVERLAP)
    assert case[0]["DSC"].value == 1 and list(case.failures) == ["Needle"]
    said = says(case.failures["Needle"], "'Needle'", "odd/set.dcm")
    assert len(case) == case[0].findings.count(said) == 1
    for choice in ({"names": ["Needle"]}, {"choices": {"Needle": "Needle"}}):
        with refused(said):
            compareCase(*both, OVERLAP, **choice)
    command = ("compare", *both, "--metrics", "overlap")
    status, out, err = run(*command)
    # the reference has it as well
    assert status == 1 and said in out and said in err and out.count("Needle") == 1
    assert run(*command, "--structure", "Rod")[0] == 0
    for option in (("--structure", "Needle"), ("--pair", "Needle=Needle")):
        status, _, err = run(*command, *option)
        assert status != 0 and said in err
    # what is left is no pair by being alone
    readContours(tmp_path / "other", {"Needle": ROD})
    assert run("compare", "odd/set.dcm", "other/set.dcm")[0] == 2


def testOnlyOddStructures(tmp_path):
    for names in (["Needle"], ["Needle", "Other"]):
        with refused("set.dcm", "'Needle'"):
            readContours(tmp_path, {name: [tilted()] for name in names})


def testAnOddStructureOfAFolder(tmp_path):
    for name in ("one", "two"):
        dicomfiles.writeStructureSet(tmp_path / f"{name}.dcm", {"Rod": ROD, "Needle": [tilted()]})
    assert [s.name for s in readStructures(tmp_path)] == ["one Rod", "two Rod"]
    with refused("'Needle'", "two.dcm"):
        compareCase(tmp_path, tmp_path, OVERLAP, names=["two Needle"])


KNOWN = ["CLOSED_PLANAR", "closed_planar", "Closed Planar", "CLOSEDPLANAR"]
UNKNOWN = ["INTERPOLATED_PLANAR", "CLOSED_NONPLANAR", "PLANAR"]
OPEN = ["POINT", "OPEN_PLANAR", "OPEN_NONPLANAR", "open planar"]


def testTypesOfContours(tmp_path):
    """What is not known to be open is filled, and only what is open is called that."""
    every = (*KNOWN, *UNKNOWN, *OPEN)
    kinds = {(kind, number): kind for kind in every for number in (0, 2)}
    kinds |= {("None", number): "" for number in range(3)}
    found = readContours(tmp_path, dict.fromkeys(("All", "None", *every), ROD[:4]), kinds=kinds)
    assert found["None"].notes == () and found["None"].mask.count == found["All"].mask.count
    for kind in every:
        assert found[kind].mask.count == found["All"].mask.count / (2 if kind in OPEN else 1)
        notes = "\n".join(found[kind].notes)
        assert bool(notes) == (kind not in KNOWN)
        if notes:
            says(notes, 2, kind if kind in UNKNOWN else "")


def testContoursOfTooFewPointsAreNotCalledOpen(tmp_path):
    found = readContours(tmp_path, {"Rod": [*ROD, ROD[0][:2], np.zeros((0, 3))], "Spot": [*ROD, ROD[0][:1]]})
    for name, count in (("Rod", 2), ("Spot", 1)):
        (note,) = found[name].notes
        says(note, count)
    assert found["Rod"].mask.count == found["Spot"].mask.count


# The planes of DICOM contours: how far apart they are, and where they lie without their image


@pytest.mark.parametrize("shift", [0.01, 1.5, *rarely([0.2, 1.0])])
def testWithoutTheImageStructuresHaveTheirOwnPlanes(tmp_path, shift):
    heights = np.arange(0, 30, 3.0)
    regions = {"A": cylinder(heights), "B": cylinder(heights + shift, (40, 0)), "One": cylinder([6.0], (80, 0))}
    found = readContours(tmp_path, {**regions, "None": []}, None)
    for name in "AB":
        assert found[name].mask.size == pytest.approx(np.pi * 100 * 30, rel=0.01)
        (note,) = found[name].notes
        says(note, "3 mm")
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
    found = readContours(tmp_path, {"Eye": eye, "Cord": eye, "Lens": loops}, None)
    assert found["Lens"].mask.grid.spacing[2] == pytest.approx(3) and found["Eye"].mask.grid.spacing[2] == 3
    assert len(found["Lens"].mask.voxels) == 1


# what runs along the rows, the columns and across the slices
VIEWS = {
    "sagittal": np.array([(0, 1, 0), (0, 0, -1), (-1, 0, 0)], float).T,
    "coronal": np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)], float).T,
    "oblique": shapes.rotation((3, -1, 4), 45),
}


@pytest.mark.parametrize("view", ["sagittal", "oblique", *rarely(["coronal"])])
def testPlanesOfAnyImage(tmp_path, view):
    """Without the image it is the contours that tell in which planes they lie, whatever some odd one says."""
    turn, heights = VIEWS[view], np.arange(0, 30, 3.0)
    regions = {"Tube": tube(heights, (5, (3.3, 0.2)), count=720), "Rod": cylinder(heights, (30, 0))}
    regions |= {"Needle": [tilted()], "Upright": [circle(60, 0.0) @ X]}
    found = readContours(tmp_path, {name: [loop @ turn.T for loop in loops] for name, loops in regions.items()}, None)
    assert list(found) == ["Tube", "Rod"]
    grid = found["Tube"].mask.grid
    assert abs(grid.direction[:, 2] @ turn[:, 2]) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(grid.spacing, (0.5, 0.5, 3), rtol=1e-5)
    assert found["Tube"].mask.size == pytest.approx(10 * 3 * np.pi * (10**2 - 5**2), rel=0.01)
    says(found["Tube"].notes[0], "3 mm")


@pytest.mark.parametrize("turn", [np.eye(3), VIEWS["oblique"]])
def testSetsWithoutTheirImageShareALattice(tmp_path, turn):
    """What two observers drew on the same slices is compared voxel by voxel."""
    loops = [[loop @ turn.T for loop in cylinder(np.arange(low, 30, 3.0))] for low in (0, 6)]
    first, second = (readContours(tmp_path / str(n), {"A": some}, None)["A"] for n, some in enumerate(loops))
    assert second.mask.grid.offsetOn(first.mask.grid) is not None
    assert compare(first, second, OVERLAP)["DSC"].value == pytest.approx(2 * 8 / 18, abs=1e-3)
