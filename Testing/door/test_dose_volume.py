"""The dose of a plan: the largest and the smallest against all places where they can be, and files of dose."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import run as run  # the fixture
from commandruns import valuesOf
from dicomfiles import edited, item, writeDose
from imagefiles import save
from sayings import refused, says
from shapes import gridOf
from tiers import rarely

from SegmentMetricsLib import Dose, Grid, Settings, compare, readBatch, readDose

EXTREMES = ("DmaxReference", "DminReference", "DmaxTest", "DminTest", "DmaxUnder", "DmaxOver")


def doseAt(dose: Dose, points: np.ndarray) -> np.ndarray:
    """Return the trilinear dose from the eight corners of the cells, NaN where it is not known."""
    places = np.linalg.solve(dose.grid.axes, (points - dose.grid.origin).T)
    planes = [np.arange(size) for size in dose.grid.size[:2]]
    planes.append(np.arange(dose.grid.size[2]) if dose.planes is None else dose.planes)
    cells = [np.clip(np.searchsorted(p, x, "right") - 1, 0, len(p) - 2) for p, x in zip(planes, places)]
    shares = np.array([(x - p[n]) / (p[n + 1] - p[n]) for p, x, n in zip(planes, places, cells)])
    i, j, k = cells
    result = np.zeros(len(points))
    for corner in itertools.product((0, 1), repeat=3):
        weights = np.prod([share if up else 1 - share for share, up in zip(shares, corner)], axis=0)
        result += weights * dose.values[k + corner[2], j + corner[1], i + corner[0]]
    return np.where(((shares > -1e-9) & (shares < 1 + 1e-9)).all(axis=0), result, np.nan)


def isInside(grid: Grid, array: np.ndarray, points: np.ndarray) -> np.ndarray:
    index = np.rint(np.linalg.solve(grid.axes, (points - grid.origin).T)).astype(int)
    isNear = ((index >= 0) & (index < np.array(grid.size)[:, None])).all(axis=0)
    return isNear & (array[tuple(np.clip(index[::-1], 0, np.array(array.shape)[:, None] - 1))] > 0)


def edgesOf(grid: Grid, axis: int) -> np.ndarray:
    return grid.origin[axis] + grid.spacing[axis] * (np.arange(grid.size[axis] + 1) - 0.5)


def alongAxes(dose: Dose, own, other=None) -> tuple[float, float]:
    """Return the extremes of a dose in a mask without another one, all along the axes.

    They are at the corners of the boxes into which the planes of the three grids cut space.
    """
    planes = []
    for axis in range(3):
        steps = dose.planes if axis == 2 and dose.planes is not None else np.arange(dose.grid.size[axis])
        of = [dose.grid.origin[axis] + dose.grid.spacing[axis] * steps, edgesOf(own[0], axis)]
        planes.append(np.unique(np.concatenate(of if other is None else [*of, edgesOf(other[0], axis)])))
    middles = np.stack(np.meshgrid(*[(p[1:] + p[:-1]) / 2 for p in planes], indexing="ij"), axis=-1).reshape(-1, 3)
    isThere = isInside(*own, middles) & np.isfinite(doseAt(dose, middles))
    if other is not None:
        isThere &= ~isInside(*other, middles)
    boxes = np.stack(np.unravel_index(np.flatnonzero(isThere), [len(p) - 1 for p in planes]), axis=1)
    corners = np.unique((boxes[:, None] + list(itertools.product((0, 1), repeat=3))).reshape(-1, 3), axis=0)
    found = doseAt(dose, np.stack([p[n] for p, n in zip(planes, corners.T)], axis=1))
    return float(np.nanmin(found)), float(np.nanmax(found))


def case(seed: int):
    """Return two masks with their grids, the same for both for even seeds, and a dose, all of them random."""
    random = np.random.default_rng(seed)
    grids = [gridOf(random.integers(3, 8, 3), random.uniform(0.8, 3, 3), random.uniform(-3, 3, 3)) for _ in range(2)]
    grids = grids[:1] * 2 if seed % 2 == 0 else grids
    masks = [(random.random(grid.size[::-1]) < 0.6).astype(np.uint8) for grid in grids]
    corners = np.concatenate([grid.corners() for grid in grids])
    spacing = random.uniform(1, 5, 3)
    # in part beyond the dose for some seeds
    size = np.maximum(np.ceil(np.ptp(corners, axis=0) / spacing).astype(int) + 1 - seed % 3, 3)
    planes = np.cumsum(random.uniform(0.2, 2, size[2]))
    planes = (planes - planes[0]) / np.ptp(planes) * (size[2] - 1)
    grid = gridOf(size, spacing, corners.min(axis=0) - random.uniform(0, 0.5, 3))
    return grids, masks, Dose(60 * random.random(size[::-1]), grid, planes=planes if seed % 4 < 2 else None)


def measured(grids, masks, dose, **settings):
    images = [
        shapes.imageOf(mask, grid.spacing.tolist(), grid.origin.tolist(), grid.direction)
        for grid, mask in zip(grids, masks, strict=True)
    ]
    return compare(*images, Settings(metrics="dose", **settings), dose=dose)


@pytest.mark.parametrize("seed", [*range(4), *rarely(range(4, 8))])
def testExtremesAreExact(seed):
    grids, masks, dose = case(seed)
    found = measured(grids, masks, dose)
    reference, test = zip(grids, masks, strict=True)
    of = [*alongAxes(dose, reference)[::-1], *alongAxes(dose, test)[::-1]]
    of += [alongAxes(dose, reference, test)[1], alongAxes(dose, test, reference)[1]]
    assert {key: found[key].value for key in EXTREMES} == pytest.approx(dict(zip(EXTREMES, of)), abs=1e-8)


@pytest.mark.parametrize("seed", [1, 2, *rarely([0, 3])])
def testTurnedGridsReachAllThatASampleFinds(seed):
    """No place in a mask, or in a part, is beyond the extremes, and some place is near them."""
    grids, masks, dose = case(seed)
    random = np.random.default_rng(seed)
    turns = [np.linalg.qr(random.normal(size=(3, 3)))[0] for _ in range(2)]
    grids = [gridOf(g.size, 1, g.origin, turns[n % (1 + seed % 2)] @ g.axes) for n, g in enumerate(grids)]
    found = measured(grids, masks, dose)
    shares = np.linspace(-0.5, 0.5, 13)[:, None] * (1 - 1e-9)
    for own, other, names in ((0, 1, ("Reference", "Under")), (1, 0, ("Test", "Over"))):
        index = np.argwhere(masks[own])[:, ::-1]
        within = np.stack(np.meshgrid(shares, shares, shares), axis=-1).reshape(-1, 3)
        points = (index[:, None] + within).reshape(-1, 3) @ grids[own].axes.T + grids[own].origin
        doses = doseAt(dose, points)
        isPart = np.isfinite(doses) & ~isInside(grids[other], masks[other], points)
        near = 0.06 * np.ptp(dose.values)
        for key, value in ((f"Dmax{names[0]}", np.nanmax(doses)), (f"Dmax{names[1]}", doses[isPart].max())):
            assert value - 1e-6 <= found[key].value <= value + near, key
        assert np.nanmin(doses) - near <= found[f"Dmin{names[0]}"].value <= np.nanmin(doses) + 1e-6


@pytest.mark.parametrize(
    ("dose", "directions", "highest"),
    [
        # ((x + y + z)^2 - r^2) / 2: on the face across the diagonal, 1 mm away, largest in the middle
        (lambda x, y, z: x * y + y * z + z * x, [(1, -1, 0), (1, 1, -2), (1, 1, 1)], 1.0),
        # largest on an upright face that is turned by 45 degrees, also in the middle of its edges
        (lambda x, y, z: x * y, [(1, 1, 0), (-1, 1, 0), (0, 0, 1)], 0.5),
    ],
)
def testPeaksOfTurnedVoxels(dose, directions, highest):
    """In one cell of the dose, around a voxel with a side of 2 mm that is turned about its middle."""
    z, y, x = 8.0 * np.indices((2, 2, 2)) - 4
    axes = np.array(directions, float).T / np.linalg.norm(directions, axis=1)
    grid = gridOf((3, 3, 3), 2.0, axes @ np.full(3, -2.0), axes)
    voxel = np.zeros((3, 3, 3), np.uint8)
    voxel[1, 1, 1] = 1
    found = measured((grid, grid), (voxel, voxel), Dose(50 + dose(x, y, z), gridOf((2, 2, 2), 8.0, (-4, -4, -4))))
    assert found["DmaxReference"].value == pytest.approx(50 + highest, abs=1e-9)


@pytest.mark.parametrize("isMesh", [(False, False), (True, True), (True, False), *rarely([(False, True)])])
@pytest.mark.parametrize("isHot", [True, False])
def testWhatTheTestMissesHasTheLargestDoseOfTheReference(isMesh, isHot):
    """The test lacks one half of a box: the hot one, or the other one, whose largest dose is where they meet."""
    ends = [((1, 2, 2), (18, 17, 21)), ((1, 2, 2), (18, 17, 8)) if isHot else ((1, 2, 9), (18, 17, 21))]
    images = [shapes.box(low, high, (20, 20, 24)) for low, high in ends]
    meshes = [shapes.boxMesh(np.subtract(low, 0.5), np.add(high, 0.5)) for low, high in ends]
    given = [both[number] for number, both in zip(isMesh, zip(images, meshes, strict=True), strict=True)]
    k, j, i = np.indices((20, 24, 24))
    values = 70 * np.exp(-((2 * i - 13) ** 2 + (2 * j - 13) ** 2) / 81 - (3 * k - 23) ** 2 / 144)
    dose = Dose(values, gridOf((24, 24, 20), (2, 2, 3), (-3, -3, -3)))
    found = compare(*given, Settings(metrics="dose"), dose=dose)
    # the points of the dose's grid are at odd numbers of mm
    x, y = np.meshgrid(np.arange(1, 18), np.arange(3, 18))
    where = np.stack([x, y, np.full_like(x, 8.5, float)], axis=-1).reshape(-1, 3)
    expected = found["DmaxReference"].value if isHot else doseAt(dose, where).max()
    assert found["DmaxUnder"].value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", [45.3, 0.1, *rarely([30.0])])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def testVolumeOfAUniformDose(level, kind):
    """Rounding takes nothing away: neither while the dose is interpolated nor in single precision."""
    dose = Dose(np.full((9, 8, 7), level, kind), gridOf((7, 8, 9), (2.7, 3.1, 2.9), (0.1, 0.2, 0.3)))
    box = shapes.box((3, 3, 3), (12, 12, 12), (16, 16, 16))
    found = compare(box, box, Settings(metrics="dose", doseLevels=(level, level * (1 + 1e-6))), dose=dose)
    assert [one.value for key, one in found.items() if key.startswith("V") and key.endswith("GyReference")] == [1, 0]


@pytest.mark.parametrize(("far", "other"), [(999, 4), (0, 300)])
def testMeshesMuchSmallerThanTheBoxAroundBoth(far, other):
    """Each small part has many places, and those next to it are all that is filled of the other structure."""
    part, away, whole = (shapes.boxMesh((low,) * 3, (high,) * 3) for low, high in ((0, 3), (far, far + 6), (-1, other)))
    reference, test = shapes.append(part, away) if far else part, shapes.append(whole, away) if far else whole
    dose = Dose(np.mgrid[:60, :60, :60].sum(axis=0) / 4, gridOf((60,) * 3, (20,) * 3, (-20,) * 3))
    found = compare(reference, test, Settings(metrics="dose", doseLevels=()), dose=dose)
    middle = np.average([1.5, far + 3], weights=[27, 216 * bool(far)])
    assert found["DmeanReference"].value == pytest.approx((3 + 3 * middle / 20) / 4, rel=1e-4)


class TestUnknown:
    def doses(self, isKnown: slice):
        """Return a dose that is NaN but for some planes, and the one of these planes alone."""
        values = 60 * np.random.default_rng(3).random((12, 9, 8))
        values[np.setdiff1d(np.arange(12), np.arange(12)[isKnown])] = np.nan
        grid = gridOf((8, 9, 12), (3, 3, 2), (-2, -2, -2))
        part = gridOf((8, 9, len(values[isKnown])), (3, 3, 2), (-2, -2, -2 + 2 * isKnown.start))
        return Dose(values, grid), Dose(values[isKnown], part)

    @pytest.mark.parametrize("isKnown", [slice(0, 12), slice(0, 6), slice(4, 12)])
    def testIsOutside(self, isKnown):
        boxes = shapes.box((3, 3, 3), (12, 12, 12), (16, 16, 16)), shapes.box((3, 4, 3), (12, 12, 10), (16, 16, 16))
        dose, alone = self.doses(isKnown)
        found, expected = (compare(*boxes, Settings(metrics="dose"), dose=one) for one in (dose, alone))
        assert found.numbers == pytest.approx(expected.numbers, abs=1e-9, nan_ok=True)
        assert [one for one in found.findings if one.isAlarm] == [one for one in expected.findings if one.isAlarm]
        assert ("OUTSIDE_DOSE" in [one.kind.name for one in found.findings]) == (isKnown != slice(0, 12))

    @pytest.mark.parametrize("name", ["dose.nrrd", "dose.nii.gz", "dose.mha"])
    def testInFiles(self, tmp_path, name):
        values = np.full((16, 16, 16), 20, np.float32)
        values[10:] = np.nan
        box = shapes.box((3, 3, 3), (12, 12, 12), (16, 16, 16))
        found = compare(box, box, Settings(metrics="dose"), dose=save(shapes.imageOf(values), tmp_path / name))
        assert found["DminTest"].value == pytest.approx(20)
        # from 2.5 to 12.5, of which 9 and more is not known
        alarm = next(one for one in found.findings if one.isAlarm)
        assert float(alarm.values["share"]) == pytest.approx(35, abs=0.2)

    def testSinglePointsAreNoRegion(self):
        values = np.full((9, 9, 9), np.nan)
        values[:4], values[7, 4, 4] = 20, 70
        box = shapes.box((2, 2, 2), (13, 13, 13), (16, 16, 16))
        found = compare(box, box, Settings(metrics="dose"), dose=Dose(values, gridOf((9, 9, 9), 2, (0, 0, 0))))
        assert found["DmaxReference"].value == pytest.approx(20)

    def testAll(self):
        box = shapes.box((20, 20, 20), (25, 25, 25), (30, 30, 30))
        dose, _ = self.doses(slice(0, 6))
        says(compare(box, box, Settings(metrics="dose"), dose=dose)["DmeanTest"].reason, "test")


class TestFiles:
    """RTDOSE: whichever way the planes are told, and without what."""

    image = shapes.imageOf(np.linspace(0, 70, 5 * 6 * 7).reshape(5, 6, 7).astype(np.float32), (2, 3, 4), (-5, 7, 11))

    def write(self, path, **change):
        return writeDose(path / "dose.dcm", self.image, change.pop("offsets", (0, 4, 8, 12, 16)), **change)

    @pytest.mark.parametrize("offsets", [(0, 3, 7, 9.5, 20), (11, 14, 18, 20.5, 31), (0, 2.999, 6.001, 9, 12)])
    @pytest.mark.parametrize("isUpsideDown", [False, True])
    def testPlanesAreInterpolatedBetweenThemselves(self, tmp_path, offsets, isUpsideDown):
        """With rows that run against y the normal points down; absolute positions then descend along it."""
        change = {"ImageOrientationPatient": [1, 0, 0, 0, -1, 0]} if isUpsideDown else {}
        dose = readDose(self.write(tmp_path, offsets=offsets, **change))
        shown = np.linspace(0, 70, 5 * 6 * 7).reshape(5, 6, 7)
        isDown = isUpsideDown and offsets[0] == 0
        for plane, offset in enumerate(offsets):
            z = 11 + (offset - offsets[0]) * (-1 if isDown else 1)
            for share in (0, 0.25) if plane < 4 else (0,):
                step = share * (offsets[min(plane + 1, 4)] - offset) * (-1 if isDown else 1)
                found, isKnown = dose.at(np.array([[-5 + 2 * 3.5, 7, z + step]]))
                expected = (1 - share) * shown[plane, 0, 3:5].mean() + share * shown[min(plane + 1, 4), 0, 3:5].mean()
                assert isKnown.all() and found == pytest.approx(expected, abs=0.002)

    @pytest.mark.parametrize(("isImplicit", "isLittle"), [(True, True), (False, True), (False, False)])
    def testWithoutPreamble(self, tmp_path, isImplicit, isLittle):
        from pydicom import Dataset, dcmread, dcmwrite

        path, bare = self.write(tmp_path), tmp_path / "bare.dcm"
        stored = Dataset({element.tag: element for element in dcmread(path)})
        if not isLittle:
            stored.PixelData = np.frombuffer(stored.PixelData, "<u2").astype(">u2").tobytes()
        dcmwrite(bare, stored, implicit_vr=isImplicit, little_endian=isLittle, enforce_file_format=False)
        assert bare.read_bytes()[128:132] != b"DICM"
        assert readDose(bare).values == pytest.approx(readDose(path).values)

    # what values are, how they are stored, and where they lie
    VALUES = ("DoseUnits", "DoseGridScaling", "PixelData", "Rows", "Columns", "NumberOfFrames")
    STORED = ("BitsAllocated", "BitsStored", "PixelRepresentation", "SamplesPerPixel", "PhotometricInterpretation")
    PLACE = ("PixelSpacing", "ImageOrientationPatient", "ImagePositionPatient", "GridFrameOffsetVector")

    @pytest.mark.parametrize("name", (*VALUES, *STORED, *PLACE))
    def testRefusedByTheNameOfWhatIsMissing(self, tmp_path, name):
        path = self.write(tmp_path)
        with edited(path) as stored:
            stored.pop(name)
        with refused(f" {name} "):
            readDose(path)

    @pytest.mark.parametrize(
        ("change", "names"),
        [
            *(({"DoseGridScaling": scale}, ["DoseGridScaling", str(scale)]) for scale in (0, -0.01, np.nan)),
            ({"PixelSpacing": [2, 3, 4]}, ["PixelSpacing", " 2 "]),
            *(({"GridFrameOffsetVector": given}, []) for given in ([0, 4, 8], [0], [0, 4, 4, 8, 12])),
            ({"NumberOfFrames": 1, "GridFrameOffsetVector": [0]}, []),
            ({"PixelData": None, "DVHSequence": []}, ["PixelData"]),
            *(({name: None}, [name]) for name in ("DoseUnits", "ImagePositionPatient")),
        ],
    )
    def testRefused(self, tmp_path, change, names):
        with refused("dose.dcm", *names):
            readDose(self.write(tmp_path, **change))

    def testHistogramsOnly(self, tmp_path):
        path = self.write(tmp_path)
        shutil.copy(path, tmp_path / "curves.dcm")
        with edited(tmp_path / "curves.dcm") as stored:
            for name in ("GridFrameOffsetVector", *self.VALUES[1:]):
                del stored[name]
            stored.DVHSequence = [item()]
        with refused("curves.dcm"):
            readDose(tmp_path / "curves.dcm")
        assert readDose(tmp_path).file == str(path)  # of a folder, the one that has a dose


@pytest.mark.parametrize("factor", [1, 100])
def testADoseInCgyIsNoticed(factor):
    dose = Dose(np.full((8, 8, 8), 60.0 * factor), gridOf((8, 8, 8), 3, (0, 0, 0)))
    box = shapes.box((3, 3, 3), (12, 12, 12), (16, 16, 16))
    alarms = [str(one) for one in compare(box, box, Settings(metrics="DSC"), dose=dose).findings if one.isAlarm]
    assert ["cGy" in one and "6000 Gy" in one for one in alarms] == [True] * (factor > 1)


def partOf(path, spacing, slope, summed="BEAM", **change):
    """Write the dose of a part of a plan, linear in space, over 40 mm from -20; its values have 16 bits."""
    size = [int(40 / step) + 1 for step in spacing]
    points = gridOf(size, spacing, (-20, -20, -20)).toWorld(np.stack(np.indices(size), axis=-1).reshape(-1, 3))
    image = shapes.imageOf((30 + points @ slope).reshape(size).transpose(), spacing, (-20, -20, -20))
    change = {"beam": ord(path.name[0]), **change}
    return writeDose(path, image, np.arange(size[2]) * spacing[2], summed=summed, **change)


class TestPartsOfAPlan:
    POINTS = np.array([[0, 0, 0], [-20, 20, 3.3], [7.1, -11.9, 19.5], [20, 20, 20]])

    def testAreAddedUpOnTheFinestGrid(self, tmp_path):
        fine, coarse = (2, 2, 4), (4, 5, 8)
        slopes = np.array([0.5, 0, 0.1]), np.array([0, 0.25, 0])
        paths = [partOf(tmp_path / f"{n}.dcm", *part) for n, *part in zip("ab", (coarse, fine), slopes)]
        for given, weights in ((paths, None), (tmp_path, None), (paths, [0.5, 2])):
            dose = readDose(given, weights=weights)
            expected = [weight * (30 + self.POINTS @ slope) for weight, slope in zip(weights or (1, 1), slopes)]
            np.testing.assert_allclose(dose.valuesAt(self.POINTS), sum(expected), atol=0.003)
            assert tuple(dose.grid.spacing) == fine
            assert "a.dcm" in dose.remarks[0] and "b.dcm" in dose.remarks[0]
        assert readDose(paths[0], weights=[3]).valuesAt(self.POINTS[:1]) == pytest.approx(90, abs=0.003)
        with refused(1, 2):
            readDose(paths, weights=[1.0])
        with refused("a.dcm"):
            readDose([paths[0], paths[0]])

    def testCommandsTakeWeights(self, tmp_path, run):
        """Both compare and batch, in an option and in a cell of the list of cases."""
        paths = [partOf(tmp_path / f"{name}=1.dcm", (4, 4, 4), np.zeros(3)) for name in "ab"]  # 30 Gy
        box = shapes.imageOf(np.ones((4, 4, 4), np.uint8))
        SimpleITK.WriteImage(box, "box.nrrd")
        asked = ("--metrics", "DmeanTest")
        doses = ("--dose", f"{paths[0]}=0.5", "--dose", paths[1])
        assert run("compare", "box.nrrd", "box.nrrd", *asked, *doses, "-o", "one", "--numbers-only")[0] == 0
        assert valuesOf("one")["DmeanTest"] == pytest.approx(45, abs=0.01)
        lines = ["case,reference,test,dose", "one,box.nrrd,box.nrrd,a=1.dcm=0.5; b=1.dcm", "two,box.nrrd,box.nrrd,"]
        Path("cases.csv").write_text("\n".join(lines))
        assert run("batch", "cases.csv", "-o", "out", *asked, "--dose", f"{paths[0]}=3", "--workers", 1)[0] == 0
        assert readBatch("out").toFrame()["DmeanTest"].tolist() == pytest.approx([45, 90], abs=0.02)

    @pytest.mark.parametrize(
        "change",
        [
            *({"summed": kind} for kind in ("PLAN", "FRACTION")),
            *({"FrameOfReferenceUID": "1.2.4"}, {"plan": "1.2.5"}, {"PatientID": "B"}, {"beam": ord("a")}),
            *({"DoseType": "EFFECTIVE"}, {"DoseUnits": "RELATIVE"}),
        ],
    )
    def testOfOtherThingsAreRefused(self, tmp_path, change):
        partOf(tmp_path / "a.dcm", (4, 4, 4), np.zeros(3))
        partOf(tmp_path / "b.dcm", (4, 4, 4), np.zeros(3), **change)
        with refused("b.dcm", change.get("DoseUnits", "")):
            readDose(tmp_path)
