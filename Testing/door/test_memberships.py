"""Memberships between 0 and 1: agreement by the definitions, thresholds, other grids, and cuts for distances."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK
from imagefiles import save
from sayings import refused, says
from scipy import ndimage

from SegmentMetricsLib import Settings, compare, readStructures

BOTH = Settings(families=("overlap", "agreement", "voxel"))
FUZZY = Settings(families=("overlap", "agreement"))


def soft(seed: int) -> np.ndarray:
    """Return memberships that are 0 and 1 in places."""
    values = np.clip(3 * ndimage.gaussian_filter(np.random.default_rng(seed).standard_normal((9, 11, 10)), 1.5), 0, 1)
    return np.round(values, 3)


def testAThresholdMakesMembershipsCrisp(tmp_path):
    f, g = (shapes.imageOf(soft(seed)) for seed in (1, 2))
    structures = [readStructures(save(one, tmp_path / f"{n}.nrrd"))[0] for n, one in enumerate((f, g))]
    for threshold in (0.25, 0.5, 0.751):
        cut = [shapes.imageOf(soft(seed) >= threshold) for seed in (1, 2)]
        crisp = compare(*cut, BOTH)
        given = compare(f, g, Settings(families=BOTH.families, threshold=threshold))
        assert {key: m.value for key, m in given.items()} == {key: m.value for key, m in crisp.items()}
        assert compare(f, g, BOTH)["KAP"].value != crisp["KAP"].value
        # also structures that were read without a threshold
        again = compare(*structures, Settings(families=BOTH.families, threshold=threshold))
        assert again["AVD"].value == given["AVD"].value and again["DSC"].value == given["DSC"].value
    # without one, surfaces and distances go by 0.5
    cut = [shapes.imageOf(soft(seed) >= 0.5) for seed in (1, 2)]
    surfaces = Settings(metrics=("HD", "MASD", "SignedMean", "AVD", "MHD", "VolumeReference"))
    assert compare(f, g, surfaces).numbers == compare(*cut, surfaces).numbers
    mixed = compare(f, cut[1], FUZZY)["FMS"].value
    both = np.minimum(soft(1), soft(2) >= 0.5).sum()
    assert mixed == pytest.approx(2 * both / (soft(1).sum() + (soft(2) >= 0.5).sum()))


def testFaintMembershipsAreNotNothing():
    faint = np.zeros((8, 8, 8))
    faint[2:5, 2:5, 2:5] = 0.25
    image, nothing = shapes.imageOf(faint), shapes.imageOf(np.zeros((8, 8, 8), np.uint8))
    assert compare(image, image, FUZZY)["FMS"].value == compare(image, image, FUZZY)["DSC"].value == 1
    alone = compare(image, nothing, FUZZY)
    assert alone["KAP"].value == 0 and says(alone["KAP"].reason)
    assert compare(image, image, Settings(families="agreement", threshold=0.5))["FMS"].status == "undefined"


def testMembershipsOnDifferentLatticesAreInterpolated():
    """A ramp is what linear interpolation keeps; beyond the image there is nothing."""
    f, g = soft(1), soft(2)
    other = compare(shapes.imageOf(f), shapes.imageOf(g, origin=(0.4, 0, 0)), FUZZY)
    # either image may keep its voxels
    padded = [np.pad(m, ((0, 0), (0, 0), (1, 1))) for m in (f, g)]
    possible = []
    for fixed, moving, step in ((*padded, 0.4), (*padded[::-1], -0.4)):
        moved = ndimage.shift(moving, (0, 0, step), order=1)
        possible.append(2 * np.minimum(fixed, moved).sum() / (fixed.sum() + moved.sum()))
    assert min(abs(other["DSC"].value - value) for value in possible) < 1e-9
    swapped = compare(shapes.imageOf(g, origin=(0.4, 0, 0)), shapes.imageOf(f), FUZZY)
    assert swapped["DSC"].value == pytest.approx(other["DSC"].value, abs=1e-12)
    (finding,) = (one for one in other.findings if " 1 x 1 x 1 mm" in one)
    says(finding)
    # what is interpolated exactly stays what it is
    ramp = np.zeros((5, 5, 12))
    ramp[1:4, 1:4, :] = np.linspace(0, 1, 12)
    fine = np.zeros((5, 5, 23))
    fine[1:4, 1:4, :] = np.linspace(0, 1, 23)
    same = compare(shapes.imageOf(ramp, (2, 1, 1)), shapes.imageOf(fine), Settings(families="overlap"))
    # but for the last voxel, which fades away beyond the coarse image's edge
    assert same["DSC"].value == pytest.approx(1, abs=0.05) and same["PPV"].value == pytest.approx(1, abs=1e-7)


def testWholeNumbersAsMemberships():
    f, g = soft(1), soft(2)
    for maximum in (255, 100, 4000):
        scaled = [np.rint(m * maximum).astype(np.uint8 if maximum < 256 else np.uint16) for m in (f, g)]
        settings = Settings(families=("overlap", "agreement"), membershipMaximum=maximum)
        measured = compare(*map(shapes.imageOf, scaled), settings)
        expected = compare(*(shapes.imageOf(m / maximum) for m in scaled), FUZZY)
        for key in ("DSC", "KAP", "ICC", "PBD"):
            assert measured[key].value == pytest.approx(expected[key].value, rel=1e-6), key
    # 0.7 in percent reaches the threshold of 0.7
    seventy = shapes.box((1, 1, 1), (2, 2, 2), (4, 4, 4), value=70)
    settings = Settings(families="overlap", membershipMaximum=100, threshold=0.7)
    assert compare(seventy, seventy, settings)["VoxelVolumeTest"].value == 8
    # masks of 0 and 1 are what they are; without the maximum the numbers are labels
    mask = seventy > 0
    settings = Settings(families="overlap", membershipMaximum=100)
    assert compare(mask, seventy, settings)["DSC"].value == pytest.approx(2 * 0.7 / 1.7)
    assert compare(mask, seventy, Settings(families="overlap"))["DSC"].value == 1
    with refused(" 50: ", " 70"):
        compare(mask, seventy, Settings(membershipMaximum=50))


@pytest.mark.parametrize(("high", "full"), [(100, 100), (250.5, 255), (64000.25, 65535), (1.5, 0), (1e30, 0)])
def testMembershipsBeyond1AreRefusedWithTheWayOut(high, full):
    array = np.array([[[-0.0, 0.25 * high, high]]])
    array[array == 25] = 25.5
    ways = (f"--set membershipMaximum={full}", f"Python membershipMaximum={full}") if full else ()
    with refused(f" {high:.12g}.", *ways) as error:
        compare(shapes.imageOf(array), shapes.imageOf(array))
    assert ("membershipMaximum" in str(error.value)) == bool(full)
    if full:
        compare(shapes.imageOf(array), shapes.imageOf(array), Settings(membershipMaximum=full, families="overlap"))


def testACutWithoutCounterpart():
    f = np.clip(3 * soft(1) / soft(1).max(), 0, 1)
    oneSided = compare(shapes.imageOf(f), shapes.imageOf(0.6 * f), Settings(families="voxel", cuts=4))
    assert oneSided["AVD"].status == oneSided["MHD"].status == "infinite" and says(oneSided["AVD"].reason)
    single = compare(shapes.imageOf(f), shapes.imageOf(0.6 * f), Settings(families="voxel", cuts=1))
    assert single["AVD"].status == "infinite"
    none = compare(*[shapes.imageOf(0.6 * f)] * 2, Settings(families="voxel", cuts=1))
    assert none["AVD"].status == "undefined" and says(none["AVD"].reason)
    # stored in single precision, 0.7 still reaches the cut at 7/10
    flat = np.zeros((6, 6, 6), np.float32)
    flat[1:4, 1:4, 1:4] = 0.7
    image = shapes.imageOf(flat)
    measured = compare(image, image, Settings(families="voxel", cuts=10))["AVD"]
    assert measured.value == 0 and says(measured.reason, 3, 10)


def testWhatRoundingMakesOfMemberships():
    """Single precision may leave [0, 1] by a last digit; anything more is no membership."""
    values = np.zeros((6, 6, 6), np.float32)
    values[2:4, 2:4, 2:4], values[1, 2:4, 2:4] = 1, 0.3
    exact = compare(shapes.imageOf(values), shapes.imageOf(np.roll(values, 1, 2)))
    rounded = values.copy()
    rounded[2, 2, 2], rounded[0, 0, 0] = np.nextafter(np.float32(1), np.float32(2)), -1e-8
    found = compare(shapes.imageOf(rounded), shapes.imageOf(np.roll(values, 1, 2)))
    assert found["DSC"].value == pytest.approx(exact["DSC"].value)
    rounded[2, 2, 2] = 1.001
    with refused(" 1.001"):
        compare(shapes.imageOf(rounded), shapes.imageOf(values))


def testIntensitiesFromZeroToOne():
    """A CT that was scaled for a network is no map of memberships, but cannot be told from one for certain."""
    random = np.random.default_rng(0)
    intensities = shapes.imageOf(random.random((30, 40, 50)).astype(np.float32))
    ball = shapes.ball(8, size=(50, 40, 30), origin=(-25, -20, -15))
    settings = Settings(families="overlap")
    found = compare(ball, intensities, settings)
    (note,) = found.test.notes
    assert any(says(note) in finding for finding in found.findings)
    # soft edges are usual, and so are structures that fill their images
    soft = SimpleITK.DiscreteGaussian(SimpleITK.Cast(ball, SimpleITK.sitkFloat32), 2.0)
    full = SimpleITK.Cast(ball, SimpleITK.sitkFloat32) * 0 + 1
    for image in (soft, full):
        assert compare(ball, image, settings).test.notes == ()
