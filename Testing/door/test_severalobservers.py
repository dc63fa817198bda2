"""Several observers of one structure: matrix, agreement, consensus, outlier, where they differ, and tests."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import run as run
from sayings import refused, says
from tiers import rarely
from vtkmodules.vtkCommonCore import mutable
from vtkmodules.vtkCommonDataModel import vtkStaticCellLocator

from SegmentMetricsLib import Grid, Mask, Settings, Structure, StructureSet, compare, compareCase, compareObservers

BOUNDARY = Settings(metrics=("HD95", "MASD", "DSC"))
MANY = Settings(metrics=("HD95", "MASD", "NSD", "signed", "overlap", "KAP", "AVD"))
FEW = Settings(metrics=("HD", "HD95", "MASD", "DSC", "VolumeDifference"))
GRID = Grid((40, 26, 26), np.eye(4))


def box(x: float, name: str = "Box", size=10) -> Structure:
    """A box of 10 x 10 x 10 voxels, moved along x."""
    return shapes.structureOf(shapes.box((5 + x, 8, 8), (4 + x + size, 17, 17), (40, 26, 26)), name)


def blob(seed: int, shift: int = 0) -> Structure:
    mask = np.pad(shapes.blob(seed, (14, 14, 14), share=0.4), 4)
    return Structure("Blob", Mask.fromArray(np.roll(mask, shift, 2), Grid(mask.shape[::-1], np.eye(4))))


def empty(name: str = "Box") -> Structure:
    return Structure(name, Mask.empty(GRID))


def majorityOf(structures) -> np.ndarray:
    """Return the voxels [k, j, i] that most have; of ties those where the mean signed distance is inside."""
    high = np.array(structures[0].mask.grid.size) - 1
    blocks = [one.mask.block(np.zeros(3, int), high).astype(bool) for one in structures]
    votes = np.sum(blocks, axis=0)
    ties = np.argwhere(2 * votes == len(structures))
    means = np.zeros(len(ties))
    place, cell, part, squared = [0.0, 0, 0], mutable(0), mutable(0), mutable(0.0)
    for one, block in zip(structures, blocks, strict=True):
        locator = vtkStaticCellLocator()
        locator.SetDataSet(shapes.meshOf(one.surface.points, one.surface.cells))
        locator.BuildLocator()
        for number, tie in enumerate(ties):
            locator.FindClosestPoint(tie[::-1].astype(float), place, cell, part, squared)
            means[number] += math.sqrt(squared) * (-1 if block[tuple(tie)] else 1) / len(structures)
    found = 2 * votes > len(structures)
    found[tuple(ties.T)] = means < -1e-6
    return found


@pytest.fixture(scope="module")
def boxes():
    """Three boxes moved by 0, 2 and 4 voxels, with one moved by 1 and one by 12 as tests."""
    return compareObservers([box(0), box(2), box(4)], FEW, tests=[box(1), box(12)], names=[*"ABC", "Near", "Far"])


@pytest.fixture(scope="module")
def mixed():
    """All kinds of structures: voxels on different grids, meshes, an open mesh, nothing."""
    turned = Grid((40, 26, 26), np.diag([0.9, 1.1, 1.3, 1.0]))
    meshes = shapes.boxMesh((6, 8, 8), (15, 17, 17)), shapes.openBox()
    return [box(0), empty(), Structure("Box", replace(box(3).mask, grid=turned)), *meshes]


def testCheckValue(boxes):
    """Pairwise intersections 800, 800, 600 and unions 1200, 1200, 1400; the middle box is the majority."""
    assert boxes.agreement["GeneralizedConformityIndex"] == 2200 / 3800
    assert boxes.agreement["ConformityIndex"] == 600 / 1400
    assert boxes.consensus.mask.isSameAs(box(2).mask)
    assert boxes.toDictionary()["structures"][0]["consensus"] == {"method": "majority", "volumeMm3": 1000.0}


@pytest.mark.parametrize("settings", [MANY, *rarely([Settings(extent="common")])])
def testMatrixIsThatOfCompare(mixed, settings):
    """Every pair in both orders is what compare() says, to the last digit and with its bounds and reasons."""
    observers = mixed if settings.extent == "whole" else [*mixed[:2], box(2)]
    study = compareObservers(observers, settings)
    for first, second in itertools.permutations(range(len(observers)), 2):
        expected = compare(observers[first], observers[second], settings)
        found = study.pairs.pairs[first, second]
        assert list(found) == list(expected)
        assert {key: repr(m) for key, m in found.items()} == {key: repr(m) for key, m in expected.items()}
        values = {key: study.matrix[key][first, second] for key in expected}
        np.testing.assert_equal(values, expected.numbers)


@pytest.mark.parametrize("method", ["majority", *rarely(["staple", "mean-surface"])])
def testOrderOfObserversChangesNothingElse(method):
    observers = [blob(1), blob(2), blob(3), blob(3, 1)]
    order = [2, 0, 3, 1]
    one = compareObservers(observers, BOUNDARY, names=list("abcd"), consensus=method)
    other = compareObservers([observers[n] for n in order], BOUNDARY, names=[*"cadb"], consensus=method)
    assert other.consensus.mask.isSameAs(one.consensus.mask)
    assert other.agreement == one.agreement
    assert other.tolerance == one.tolerance
    for key, values in one.matrix.items():
        np.testing.assert_equal(other.matrix[key], values[np.ix_(order, order)])
    found, expected = ({o.name: o.measurements["HD95"].value for o in study.leaveOneOut} for study in (other, one))
    assert found == pytest.approx(expected)
    assert other.variation.rootMeanSquareSD == pytest.approx(one.variation.rootMeanSquareSD)


def testMajorityWithTies():
    """Where exactly half have a voxel, it belongs to the majority if the mean of their signed distances is inside."""
    observers = [blob(1), blob(2), blob(3), blob(4)]
    found = compareObservers(observers, BOUNDARY).consensus.mask
    expected = majorityOf(observers)
    assert np.array_equal(found.block(np.zeros(3, int), np.array(expected.shape)[::-1] - 1), expected)


def testStapleIsThatOfSimpleITK():
    observers = [blob(1), blob(1, 1), blob(2)]
    study = compareObservers(observers, BOUNDARY, consensus="staple")
    low = np.min([s.mask.low for s in observers], axis=0) - 5
    high = np.max([s.mask.high for s in observers], axis=0) + 5
    images = [SimpleITK.GetImageFromArray(s.mask.block(low, high)) for s in observers]
    filter = SimpleITK.STAPLEImageFilter()
    filter.SetForegroundValue(1)
    expected = SimpleITK.GetArrayFromImage(filter.Execute(images)) >= 0.5
    assert np.array_equal(study.consensus.mask.block(low, high), expected)
    rates = [study.performances[f"Observer {n}"] for n in (1, 2, 3)]
    assert [sensitivity for sensitivity, _ in rates] == list(filter.GetSensitivity())
    assert [rate.specificity for rate in rates] == list(filter.GetSpecificity())
    written = study.toDictionary()["structures"][0]["consensus"]["performances"]
    assert list(written["Observer 1"]) == ["sensitivity", "specificity"]


def testLeaveOneOut(boxes):
    """Each against the consensus of the others: of two, the voxels of both and those nearer to both."""
    assert [one.name for one in boxes.leaveOneOut] == ["A", "B", "C"]
    for one, observer, others in zip(boxes.leaveOneOut, (0, 2, 4), ((2, 4), (0, 4), (0, 2)), strict=True):
        reference = Structure("Others", Mask.fromArray(majorityOf([box(x) for x in others]), GRID))
        expected = compare(reference, box(observer), FEW)
        assert {key: m.value for key, m in one.measurements.items()} == pytest.approx(expected.numbers, abs=1e-9)
        # beyond the tolerance, else the farthest
        assert one.places == (expected.worstPlaces or one.places[:1])
        assert abs(one.places[0].value) == pytest.approx(expected["HD"].value, abs=1e-4)
    assert boxes.outlier is None, "A and C differ equally"


def testOutlierHasItsPlace():
    study = compareObservers([box(0), box(0), box(0, size=12), box(0, size=18)], BOUNDARY, names=["A", "B", "C", "D"])
    assert (study.outlier.name, study.outlier.key, study.outlier.value) == ("D", "HD95", pytest.approx(8.0, abs=0.1))
    assert study.outlier.places[0].direction == "L" and study.outlier.places[0].value == pytest.approx(8.0, abs=0.1)
    says(study.sentence, "D ", "HD95 8.0 mm")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def testOutlierElsewhere(order):
    """Who drew it elsewhere leaves each of the others without a consensus to be compared with: he is the outlier."""
    drawn = [(box(0), "A"), (box(1), "B"), (box(20), "C")]
    given, names = zip(*(drawn[n] for n in order), strict=True)
    study = compareObservers(given, BOUNDARY, names=names)
    assert study.outlier.name == "C" and math.isfinite(study.outlier.value)


def testWhereObserversDiffer(boxes):
    """Their faces across x lie 2 mm apart from one to the next, so the local SD there is 2 mm, and 0 on the others."""
    variation = boxes.variation
    isAcross = (abs(variation.surface.points[:, 1:] - 12.5) < 3).all(axis=1)
    assert variation.localSD[isAcross] == pytest.approx(2) and variation.percentile95SD == pytest.approx(2)
    first, _, last = variation.distances[:, isAcross & (variation.surface.points[:, 0] > 12)]
    assert (first, last) == (pytest.approx(-2), pytest.approx(2)), "positive where an observer lies outside"
    # a third of the faces of the cube; at its edges the distances change
    assert variation.rootMeanSquareSD == pytest.approx(math.sqrt(4 / 3), rel=0.1)


def testTwoObservers():
    study = compareObservers([box(0), box(2)], BOUNDARY, tests=[box(1)])
    assert (study.consensus, study.variation, study.leaveOneOut, study.outlier) == (None, None, (), None)
    says(study[0].remarks[0])
    (test,) = study.tests
    assert (test.mean["HD95"], test.rank, test.isWithin) == (1.0, {}, {})


def testTestsAreRanked(boxes):
    """Against all observers; an observer against the others. Near is 1, 1 and 3 mm away from them, Far 12, 10 and 8."""
    near, far = boxes.tests
    assert near.mean["HD"] == pytest.approx(5 / 3) and far.mean["HD"] == pytest.approx(10)
    # the observers' own means are 3, 2 and 3
    assert (near.rank["HD"], far.rank["HD"]) == (1, 4)
    assert (near.isWithin["HD"], far.isWithin["HD"]) == (True, False)
    assert far.mean["DSC"] == pytest.approx((0 + 0 + 0.2) / 3) and not far.isWithin["DSC"]
    equal = compareObservers([box(0), box(2), box(4)], Settings(metrics="HD"), tests=[box(4)]).tests[0]
    # 0, 2 and 4 mm against all three; as A and C only have two others, its mean is better than theirs
    assert (equal.mean["HD"], equal.rank["HD"]) == (2.0, 1)
    assert "VolumeDifference" in near.mean and "VolumeDifference" not in near.rank, "it has no better direction"


def testTestThatIsEmptyIsTheWorst():
    study = compareObservers([box(0), box(2), box(4)], BOUNDARY, tests=[empty()])
    (test,) = study.tests
    assert (test.mean["HD95"], test.rank["HD95"], test.isWithin["HD95"]) == (math.inf, 4, False)
    assert (test.mean["DSC"], test.isWithin["DSC"]) == (0.0, False)
    assert study.toDictionary()["structures"][0]["tests"][0]["mean"]["HD95"] is None


def drawn(name: str, x: int | None) -> str:
    """Write a file with a box, or with nothing, and return its name."""
    array = (empty() if x is None else box(x)).mask.block((0, 0, 0), (39, 25, 25))
    SimpleITK.WriteImage(shapes.imageOf(array), f"{name}.nrrd")
    return f"{name}.nrrd"


def testNobodyIsWorseThanAnEmptyContour(run):
    """With one among the observers, every test is within their range by definition; that is not called a verdict."""
    study = compareObservers([box(0), box(1), box(2), empty()], BOUNDARY, tests=[box(15)], names=[*"ABCD", "Far"])
    assert study.tests[0].isWithin["HD95"] and study.tests[0].isWithin["DSC"]
    says(study.sentence, "Far ")
    files = [drawn(name, x) for name, x in (*zip("ABCD", (0, 1, 2, None)), ("Far", 15))]
    for observers, *names in ((files[:4],), (files[:3], 0, 1)):
        row = run("observers", *observers, "--test", files[4], "--metrics", "DSC")[1].splitlines()[2]
        says(row.rpartition("  ")[2], *names)


def testSpread(boxes):
    """Of a measurement that depends on the order, both orders count; of others, every pair once."""
    spread = boxes.pairs.spread("HD", [0, 1, 2])
    mean, sd, *_ = spread
    assert (mean, sd) == pytest.approx((8 / 3, math.sqrt(4 / 3)))
    assert list(spread.toDictionary()) == ["mean", "SD", "lowest", "highest", "pairs", "undefined"]
    assert (spread.low, spread.high, spread.pairs) == pytest.approx((2, 4, 3))
    signed = compareObservers([box(0), box(0, size=12)], Settings(metrics="signed")).pairs.spread("SignedMean", [0, 1])
    assert signed.pairs == 2 and signed.mean == pytest.approx(0, abs=1e-9) and signed.high == -signed.low > 0


def testTolerance(boxes):
    """Within the tolerance lie 95 % of all boundaries of the observers, in both directions; tests do not count."""
    tolerance = boxes.tolerance
    pairs = [compare(box(a), box(b), FEW.replace(tolerances=(tolerance,))) for a, b in ((0, 2), (0, 4), (2, 4))]
    directions = [direction for pair in pairs for direction in pair.distances.directions]
    within = sum(float(d.sizeWithin(tolerance + 0.01)) for d in directions) / sum(d.totalSize for d in directions)
    below = sum(float(d.sizeWithin(tolerance - 0.02)) for d in directions) / sum(d.totalSize for d in directions)
    assert below < 0.95 <= within


def testProtocolFromObservers(run):
    """The observers themselves pass, or at least are not worse than the worst pair; Far fails."""
    files = [drawn(name, x) for name, x in zip("ABC", (0, 2, 4))]
    assert run("observers", *files, "--write-protocol", "own.csv")[0] == 0
    rules = compareCase([box(0)], [box(1)], protocol="own.csv").judgment.protocol.rules
    assert {rule.measurement for rule in rules} == {"NSD_4mm", "HD95", "MASD", "DSC"}
    (source,) = {rule.source for rule in rules}
    says(source, "3 ", "(A, B, C)")
    hd95 = next(rule for rule in rules if rule.measurement == "HD95")
    assert (hd95.relation, hd95.limit, hd95.warning) == ("<=", 3.0, 4.0)
    judged = {x: compareCase([box(0)], [box(x)], protocol="own.csv").judgment.verdict for x in (1, 4, 12)}
    assert judged == {1: "pass", 4: "warn", 12: "fail"}
    # of two, the worst on average is the worst pair: there is nothing to be warned of
    assert run("observers", *files[:2], "--metrics", "DSC,HD95", "--write-protocol", "two.csv")[0] == 0
    rules = compareCase([box(0)], [box(1)], protocol="two.csv").judgment.protocol.rules
    assert {rule.warning for rule in rules} == {None}


def testOrgansAreMatched():
    """In any spelling over all observers; what some lack, has twice or cannot be used is told, and nothing is lost."""
    sets = [
        [box(0, "Parotid_L"), box(0, "Cord"), box(9, "Cord"), box(0, "Lens")],
        StructureSet((box(1, "parotid l"), empty("Lens"))),
        [box(2, "Left parotid"), box(2, "Lens"), box(2, "Mandible")],
    ]
    study = compareObservers(sets, BOUNDARY, tests=[[box(1, "Parotid_L")]], names=["A", "B", "C", "AI"])
    assert [found.name for found in study] == ["Parotid_L", "Lens"]
    missing, single, twice = study.remarks[-3:]
    says(missing, "Lens ", "AI")
    says(single, "Mandible: 1 ", " 3 ", ": C.")
    says(twice, "Cord ", "A ", "'Cord'")
    lens = study["Lens"]
    assert lens.having == ["A", "B", "C"] and lens.tests == [] and np.isnan(lens.matrix["DSC"][3]).all()
    assert says(lens.remarks[0], "B ", "Lens") and lens.consensus is None
    assert lens.agreement == {"ConformityIndex": 0.0, "GeneralizedConformityIndex": 800 / 3200}
    with refused("Parotid_L, Lens", "study[0].consensus", error=AttributeError):
        study.consensus  # noqa: B018


def testBadInput():
    for given, names in (
        ([box(0)], [" 1."]),
        ("folder", ["observers"]),
        ([box(0), 3], ["observer 2 "]),
        ([[box(0, "A")], [box(0, "B"), box(1, "C")]], ["A: ", "Observer 1"]),
        (["contour.nrrd", "contour.nrrd"], ["'contour.nrrd'"]),
    ):
        with refused(*names):
            compareObservers(given)
    for options, names in (
        ({"names": ["A"]}, [" 1 ", " 2 "]),
        ({"names": ["A", "A"]}, ["'A'"]),
        ({"consensus": "mean"}, ["majority, staple, mean-surface", "'mean'"]),
    ):
        with refused(*names):
            compareObservers([box(0), box(2)], **options)


def testAlarmsNameTheirPairs():
    frames = [replace(box(x), frameOfReference=frame) for x, frame in ((0, "1.2.3"), (2, "1.2.3"), (4, "9.9.9"))]
    remarks = compareObservers(frames, BOUNDARY, names=["A", "B", "C"])[0].remarks
    assert len(remarks) == 1
    says(remarks[0], "A (reference) ", "B (reference) ", "C (test): ", "1.2.3", "9.9.9")


def testIdenticalAndDisjointObservers():
    same = compareObservers([box(0)] * 3, BOUNDARY, names=["A", "B", "C"])
    assert says(same.sentence) and same.variation.percentile95SD == 0
    apart = compareObservers([box(0), box(11), box(22)], BOUNDARY)
    assert apart.consensus.isEmpty and apart.variation is None and apart.outlier is None and says(apart.sentence)
    says("\n".join(apart[0].remarks), "Box")


def testPlanarContours():
    squares = [shapes.box((4 + n, 4, 0), (13 + n, 13, 0), (24, 24, 1)) for n in (0, 1, 2)]
    study = compareObservers(squares, BOUNDARY)
    assert study.toDictionary()["structures"][0]["consensus"] == {"method": "majority", "areaMm2": 100.0}
    assert study.variation.localSD.max() == pytest.approx(1.0, abs=0.01)


def testFilesSayInWordsWhyANumberIsNotFinite():
    contours = [shapes.loops([(0, 0), (10, 0), (10, end), (0, end)], z=45.0) for end in (10, 13)]
    (found,) = compareObservers(contours).toDictionary()["structures"]
    for reason, side in zip(sorted({one["reason"] for one in found["notFinite"]}), "IS", strict=True):
        says(reason, f" {side}")
