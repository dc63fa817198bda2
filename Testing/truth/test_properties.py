"""What holds for every pair and all settings, tried on random ones: ranges, bounds, symmetry, identity, order.

test_registry.py holds the shared pairs to the same promises. And what must not change: where a patient lies, how an
image is stored, in which unit it is; which measurement keeps what follows from the registry: its unit, its side of the
patient, whether the grid counts. See strategies.py for a long search.
"""

from __future__ import annotations

import numpy as np
import promises
import pytest
import shapes
import SimpleITK
import strategies as some
from hypothesis import assume, event, given
from hypothesis import strategies as st

from SegmentMetricsLib import Measurement, Settings, compare
from SegmentMetricsLib.geometry.surfaces import Surface, toPolyData
from SegmentMetricsLib.metrics.registry import findMetric
from SegmentMetricsLib.metrics.signed import DIRECTIONS
from SegmentMetricsLib.metrics.similarity import INTEGRATED

pytestmark = [pytest.mark.nightly, pytest.mark.usefixtures("coarse")]


@st.composite
def pairs(draw):
    """Reference, test and critical structures of every kind that compare() takes: two of one kind, or mask and mesh."""
    kind = draw(st.sampled_from(["masks", "masks", "slices", "meshes", "mask and mesh", "contours"]))
    event(kind)
    if kind == "meshes":
        reference, test, critical = (toPolyData(draw(some.meshes())) for _ in range(3))
        return reference, test, critical
    planar = kind in ("slices", "contours")
    images = draw(some.pairsOfMasks(some.spacedPlacements() if planar else some.placements(), 7, planar)).images()
    if kind == "contours":
        return tuple(map(shapes.surfaceOf, images))
    if kind == "mask and mesh":
        which = draw(st.sampled_from([0, 1]))
        images[which] = shapes.surfaceOf(images[which])
    return tuple(images)


def compared(pair, settings):
    reference, test, critical = pair
    return compare(reference, test, settings, criticals={"Wall": critical})


@given(pairs(), some.settings())
def testRangesAndBounds(pair, settings):
    for key, measurement in compared(pair, settings).items():
        promises.requireSound(key, measurement)


@given(pairs(), some.settings())
def testExchangingReferenceAndTest(pair, settings):
    forward, reverse = compared(pair, settings), compared((pair[1], pair[0], pair[2]), settings)
    assert forward.keys() == reverse.keys()
    for key in forward:
        # the image is another one where only one of the two has one
        if not (findMetric(key).metric.dependsOnGrid and settings.grid == "reference"):
            promises.requireSymmetry(key, forward, reverse)


@given(pairs(), some.settings(asPublished=False))
def testNothingIsBetterThanTheSame(pair, settings):
    """But for the similarity index as published: its authors' formula gives single pixels and lines a score of 0."""
    reference, _, critical = pair
    same, other = compared((reference, reference, critical), settings), compared(pair, settings)
    for key in same:
        promises.requireIdentity(key, same, other)


@given(pairs(), some.settings())
def testTrendInTheParameter(pair, settings):
    found = {}
    for key, measurement in compared(pair, settings).items():
        found.setdefault(findMetric(key).metric, {})[key] = measurement
    for definition, measurements in found.items():
        promises.requireTrend(definition, measurements)


@given(pairs(), some.settings(betas=(1.0,), quantiles=(0.5, 1.0)))
@pytest.mark.smoke
def testWhatFollowsFromOthers(pair, settings):
    comparison = compared(pair, settings)
    promises.requireOrder(comparison)
    promises.requireSums(comparison)


# What must not change


CLOSE = 1e-6
# Looked at slice by slice; which way the slices of cubic voxels run depends on the patient.
BY_SLICES = ("MSI", "MSIPaired", "PairedDistance", "MeanBLD", "APL_{tolerance}mm", "RelativeAPL_{tolerance}mm")
# Each point of a contour is paired with the nearest one of the other; of equally near ones rounding chooses, which
# another turn of the patient changes. By how much that may change what all pairs of a small contour tell.
PAIRED, TIES = ("MSI", "MSIPaired", "PairedDistance", "MeanBLD"), 0.005
# Counted in voxels or pixels, or followed along contours through their centers: no triangle is looked at.
OF_VOXELS = (*BY_SLICES, "DSC", "IoU", "TPR", "PPV", "OverVolume", "UnderVolume")
FAMILIES_OF_VOXELS = ("agreement", "voxel", "hazard")


def isOfVoxels(key: str) -> bool:
    definition = findMetric(key).metric
    return definition.family in FAMILIES_OF_VOXELS or definition.key in OF_VOXELS or key.startswith("VoxelVolume")


def turnsWithThePatient(key: str) -> bool:
    return bool(findMetric(key).metric.side) or key.startswith("CentroidShift")


def width(measurement: Measurement) -> float:
    """Return how far apart the bounds of a measurement are, 0 where its error is that of its sampling."""
    return 0.0 if measurement.lower is None else measurement.upper - measurement.lower


def requireEqual(first: Measurement, second: Measurement, factor: float = 1.0, error: float = 0.0) -> None:
    """Require two measurements to agree as well as both are known, the second one times a factor."""
    assert first.status == second.status, (first.key, first.value, first.reason, second.value, second.reason)
    expected = factor * second.value
    if first.key == "LesionHD95":  # a mean of percentiles, each as close as HD95, without bounds
        error += 0.01 * (1 + abs(factor))
    error = error + width(first) + abs(factor) * width(second) + CLOSE * max(1.0, abs(factor))
    assert first.value == pytest.approx(expected, rel=CLOSE, abs=error, nan_ok=True), (first.key, first.value, expected)


def keysOf(first, second, kept=lambda key: True) -> list[str]:
    assert first.keys() == second.keys()
    return [key for key in first if kept(key)]


@given(some.pairsOfMasks(some.placements(), 7), some.settings(), some.turns(), some.shifts())
def testRigidMotionOfImages(voxels, settings, turn, shift):
    still = compared(voxels.images(), settings)
    moved = compared(voxels.images(voxels.placement.moved(turn, shift)), settings)
    isCubic = np.ptp(voxels.placement.spacing) <= 2e-3 * max(voxels.placement.spacing)

    def kept(key):
        return not turnsWithThePatient(key) and not (isCubic and findMetric(key).metric.key in BY_SLICES)

    for key in keysOf(still, moved, kept):
        requireEqual(moved[key], still[key], error=TIES if findMetric(key).metric.key in PAIRED else 0.0)


def sideAfter(side: str, turn: np.ndarray) -> str:
    return next(name for name, vector in DIRECTIONS.items() if np.allclose(turn @ DIRECTIONS[side], vector))


@given(some.pairsOfMasks(most=7), some.settings(), st.sampled_from(some.ORDERS))
def testPatientOnTheOtherSideOfTheMirror(voxels, settings, axes):
    """With the patient's axes exchanged or reversed, what was on the right is where they say."""
    order, turned = axes
    turn = np.eye(3)[:, list(order)] * turned
    still = compared(voxels.images(), settings)
    moved = compared(voxels.images(voxels.placement.moved(turn, np.zeros(3))), settings)
    for key in keysOf(still, moved, lambda key: bool(findMetric(key).metric.side)):
        requireEqual(moved[key[:-1] + sideAfter(key[-1], turn)], still[key])
    shifts = ([found[f"CentroidShift{side}"].value for side in "RAS"] for found in (still, moved))
    there, here = (np.array(shift) * (-1, -1, 1) for shift in shifts)
    assert here == pytest.approx(turn @ there, abs=CLOSE, nan_ok=True)


def stored(images, order, turned) -> list:
    """Return images with their axes stored in another order, some of them backward; every voxel stays."""
    backward = [step < 0 for step in turned]
    return [SimpleITK.Flip(SimpleITK.PermuteAxes(image, order), backward) for image in images]


@given(some.pairsOfMasks(some.placements(), 7), some.settings(), st.sampled_from(some.ORDERS))
def testOrderInWhichVoxelsAreStored(voxels, settings, axes):
    """What is counted in voxels stays. Surfaces change by the diagonals that their cells are cut along, no more."""
    images = voxels.images()
    others = stored(images, *axes)
    one, other = compared(images, settings), compared(others, settings)
    isCubic = np.ptp(voxels.placement.spacing) <= 2e-3 * max(voxels.placement.spacing)
    for key in keysOf(one, other, isOfVoxels):
        if not (isCubic and findMetric(key).metric.key in BY_SLICES):
            requireEqual(other[key], one[key])
    alone = Settings(families="boundary", tolerances=())
    surfaces = [map(shapes.surfaceOf, both) for both in zip(images[:2], others)]
    apart = sum(compare(*both, alone)["HD"].upper for both in surfaces)
    sides = np.diff(sorted((one["HD"].value, other["HD"].value)))[0]
    assert sides <= apart + width(one["HD"]) + width(other["HD"]) + CLOSE


@given(some.pairsOfMasks(most=6), some.settings(grid="union"), st.tuples(*[st.integers(0, 3)] * 6))
def testMoreBackground(voxels, settings, margins):
    """However large the images are, and each for itself: where the evaluated grid ends is said by the setting."""
    low, high = np.array(margins[:3]), np.array(margins[3:])

    def image(array, before, after):
        origin = -before * np.array(voxels.placement.spacing)
        placement = some.Placement(voxels.placement.spacing, tuple(origin.tolist()))
        return placement.image(np.pad(array, list(zip(before, after))[::-1]))

    small = compared(voxels.images(), settings)
    large = map(image, voxels.arrays, (low, high, low), (high, low, low))
    other = compared(large, settings)
    # a lesion that is missed counts as far away as the image is long
    for key in keysOf(small, other, lambda key: key != "LesionHD95"):
        requireEqual(other[key], small[key])


def scaledSettings(settings: Settings, factor: float) -> Settings:
    """Return the settings in a space that many times as large, where they have a length."""
    lengths = {name: factor * getattr(settings, name) for name in ("hazardReach", "hazardDecay", "meshSpacing")}
    tolerances = tuple(factor * tolerance for tolerance in settings.tolerances)
    levels = {} if settings.asPublished else {"il": settings.il / factor, "ol": settings.ol / factor}
    return settings.replace(**lengths, **levels, tolerances=tolerances)


def isSampledAlike(*settings: Settings) -> bool:
    """Return whether the contours of all are sampled at points, or those of all integrated, which levels decide."""
    return len({max(one.il, one.ol) < INTEGRATED for one in settings}) == 1


# mm of contours that a tolerance may hold or not, for what counts as equal to it.
TIED = {"APL_{tolerance}mm": 0.03}


@given(some.pairsOfMasks(most=7), some.settings(), st.sampled_from([0.25, 0.5, 2.0, 4.0]))
def testScalingOfImages(voxels, settings, factor):
    """Lengths grow with the space, areas and volumes with its powers, shares do not."""
    # at levels of its own the index of whole surfaces is not of pixels
    assume(not settings.asPublished)
    one = compared(voxels.images(), settings)
    scaled = scaledSettings(settings, factor)
    assume(isSampledAlike(settings, scaled))
    other = compared(voxels.images(voxels.placement.scaled(factor)), scaled)
    for mine, its in zip(one.values(), other.values(), strict=True):
        # What counts as equal to a tolerance, and where a contour's cutting ends, is in mm. Where one contour only just
        # touches the tolerance of the other, its length within goes by the root of that.
        key = findMetric(mine.key).metric.key
        power = {"mm": 1, "mm2": 2, "mm3": 3}.get(mine.unit, 0)
        requireEqual(its, mine, factor**power, error=TIED.get(key, 0.005) if "{tolerance}" in key else 0.0)


def moved(surface: Surface, turn, shift, scale: float = 1.0) -> Surface:
    return Surface(surface.points @ turn.T * scale + shift, surface.cells)


# How fine the grid is on which meshes are counted decides about the last digits of these.
ON_A_GRID_FOR_MESHES = 0.1


def isOfSurfaces(key: str) -> bool:
    return not isOfVoxels(key) and not key.startswith("BIoU")


@given(some.meshes(), some.meshes(), some.settings(), some.turns(), some.shifts(300))
def testRigidMotionOfMeshes(reference, test, settings, turn, shift):
    settings = settings.replace(families=("boundary", "signed", "overlap", "effort"))
    still = compare(toPolyData(reference), toPolyData(test), settings)
    other = compare(*(toPolyData(moved(s, turn, shift)) for s in (reference, test)), settings)
    for key in keysOf(still, other, lambda key: isOfSurfaces(key) and not turnsWithThePatient(key)):
        requireEqual(other[key], still[key])
    for key in ("DSC", "IoU", "VoxelVolumeTest"):
        assert other[key].value == pytest.approx(still[key].value, rel=ON_A_GRID_FOR_MESHES, abs=ON_A_GRID_FOR_MESHES)


@given(some.meshes(), some.meshes(), some.settings(), st.randoms(use_true_random=False))
def testOrderOfPointsAndTriangles(reference, test, settings, random):
    def shuffled(surface):
        numbers = list(range(len(surface.points)))
        random.shuffle(numbers)
        places = np.argsort(numbers)
        cells = [places[np.roll(cell, random.randrange(3))] for cell in surface.cells]
        random.shuffle(cells)
        return Surface(surface.points[numbers], np.array(cells))

    settings = settings.replace(families=("boundary", "signed", "overlap", "agreement"))
    one = compare(toPolyData(reference), toPolyData(test), settings)
    other = compare(*(toPolyData(shuffled(s)) for s in (reference, test)), settings)
    for key in keysOf(one, other):
        requireEqual(other[key], one[key])


@given(some.pairsOfMasks(some.placements(), 7), some.settings(), st.sampled_from([0, 1]))
def testMaskAndItsOwnMesh(voxels, settings, which):
    """One of the two as the surface of its voxels: it is filled with the same voxels again, and as far away."""
    images = voxels.images()
    masks = compared(images, settings)
    images[which] = shapes.surfaceOf(images[which])
    mixed = compared(images, settings)
    for key in keysOf(masks, mixed):
        definition = findMetric(key).metric
        if key.startswith(("BIoU", "CentroidShift")):
            continue  # points in other places, see test_bands.py; of two masks, centers are those of voxels
        if definition.family == "instances":
            continue  # voxels that share only a corner or an edge are one lesion, and two closed parts of a mesh
        if definition.side:
            continue  # between two sides equally near, a search tells one of them
        if which == 0 and definition.key in BY_SLICES:
            continue  # the slices are those of the reference
        if which == 0 and definition.dependsOnGrid and settings.grid == "reference":
            continue
        requireEqual(mixed[key], masks[key])
