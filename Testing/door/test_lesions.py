"""Lesions one by one, held against counts by brute force and against panoptica."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import run as run
from sayings import says
from scipy.ndimage import label
from scipy.optimize import linear_sum_assignment
from tiers import rarely
from vtkmodules.vtkCommonDataModel import vtkPolyData

from SegmentMetricsLib import Settings, compare, compareCase, readStructures

COUNTS = [f"Lesions{what}" for what in ("Reference", "Test", "Found", "Split", "Merged", "Mixed", "Missed", "Invented")]
LESIONS = Settings(metrics=("instances", "DSC"))


def tell(reference: list[np.ndarray], test: list[np.ndarray], voxel: float = 1.0) -> dict[str, float]:
    """Return the numbers of lesions, given as masks of one array, from their definitions, voxel by voxel."""
    sizes = [[int(one.sum()) for one in lesions] for lesions in (reference, test)]
    shared = np.array([[int((a & b).sum()) for b in test] for a in reference]).reshape(len(reference), len(test))
    iou = shared / np.maximum(np.add.outer(*sizes) - shared, 1) if shared.size else np.zeros(shared.shape)
    # a voxel of several on a side is for those that fit each other best
    linked = set()
    for place in zip(*np.nonzero(np.any(reference, axis=0) & np.any(test, axis=0))):
        ours = [a for a, one in enumerate(reference) if one[place]]
        theirs = [b for b, one in enumerate(test) if one[place]]
        linked |= {
            (a, b)
            for a in ours
            for b in theirs
            if iou[a, b] >= max(iou[a, theirs]) - 1e-12 and iou[a, b] >= max(iou[ours, b]) - 1e-12
        }
    found = dict.fromkeys(COUNTS, 0) | {"LesionsReference": len(reference), "LesionsTest": len(test)}
    groups = [({a}, set()) for a in range(len(reference))] + [(set(), {b}) for b in range(len(test))]
    for a, b in linked:
        joined = [group for group in groups if a in group[0] or b in group[1]]
        groups = [group for group in groups if group not in joined]
        groups.append((set().union(*(g[0] for g in joined)), set().union(*(g[1] for g in joined))))
    for ours, theirs in groups:
        kind = {(1, 0): "Missed", (0, 1): "Invented", (1, 1): "Found"}.get((len(ours), len(theirs)))
        found[f"Lesions{kind or ('Split' if len(ours) == 1 else 'Merged' if len(theirs) == 1 else 'Mixed')}"] += 1
    for key, threshold in (("LesionF1", 0.0), ("RQ", 0.5)):
        total, pairs = best(np.where(iou > threshold, iou, 0))
        found[key] = 2 * pairs / (len(reference) + len(test))
    found["PQ"] = 2 * total / (len(reference) + len(test))
    scores = []
    for a, one in enumerate(reference):
        drawn = np.any([test[b] for b in range(len(test)) if (a, b) in linked] or [one & False], axis=0)
        scores.append(2 * (one & drawn).sum() / (one.sum() + drawn.sum()))
    found["LesionDSC"] = sum(scores) / (len(reference) + found["LesionsInvented"])
    return found


def best(iou: np.ndarray) -> tuple[float, int]:
    """Return the largest total of a one-to-one assignment, and the most pairs that such a total has."""
    chosen = iou[linear_sum_assignment(-(iou + 1e-9 * (iou > 0)))]
    return float(chosen.sum()), int((chosen > 0).sum())


def boxesOf(seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return lesions of both sides that overlap each other, as boxes: those of the test are shifted, some are gone."""
    rng = np.random.default_rng(seed)
    sides: tuple[list, list] = ([], [])
    for _ in range(rng.integers(3, 6)):
        low, length = rng.integers(0, 7, 3), rng.integers(2, 6, 3)
        for side, shift in zip(sides, (0, rng.integers(-1, 2, 3))):
            one = np.zeros((14, 14, 14), bool)
            one[tuple(slice(a, a + n) for a, n in zip(np.maximum(low + shift, 0), length))] = True
            if rng.random() < 0.85:
                side.append(one)
    return sides


def casesOf(folder, reference, test, order: int):
    """Write every lesion into a file of its own, in the order of the files' names, and return what was compared."""
    sets = []
    for name, lesions in (("reference", reference), ("test", test)):
        (folder / f"{name}{order}").mkdir()
        for number, one in enumerate(lesions[::order]):
            SimpleITK.WriteImage(shapes.imageOf(one), str(folder / f"{name}{order}" / f"Lesion{number}.nrrd"))
        sets.append(readStructures(folder / f"{name}{order}"))
    (found,) = compareCase(*sets, LESIONS.replace(instanceMaps=True))
    return found


@pytest.mark.parametrize("seed", [0, 1, 2, *rarely(range(3, 8))])
def testOverlappingRegionsStayWholeInAnyOrder(seed, tmp_path):
    reference, test = boxesOf(seed)
    both = [casesOf(tmp_path, reference, test, order) for order in (1, -1)]
    first, second = ({key: one[key].value for key in one} for one in both)
    assert first == pytest.approx(second, rel=1e-12, nan_ok=True)
    expected = tell(reference, test)
    assert {key: first[key] for key in expected} == pytest.approx(expected, abs=1e-9)
    lists = [sorted((x.event, x.volumeReference, x.volumeTest, x.dice or 0) for x in one.lesions) for one in both]
    assert lists[0] == lists[1]


def testTheSameRegionsAreAllFound(tmp_path):
    """Of a large lesion, one that it crosses, and one within it."""
    lesions = [np.zeros((20, 20, 20), bool) for _ in range(3)]
    lesions[0][3:15, 3:15, 3:15], lesions[1][10:18, 10:18, 10:18], lesions[2][5:8, 5:8, 5:8] = True, True, True
    found = casesOf(tmp_path, lesions, [lesions[1], lesions[2], lesions[0]], 1)
    assert [found[key].value for key in ("LesionsFound", "PQ", "LesionDSC", "LesionHD95")] == [3, 1, 1, 0]
    assert sum(lesion.volumeTest for lesion in found.lesions) == sum(one.sum() for one in lesions)
    assert [finding for finding in found.findings if not finding.isAlarm]


class TestTwoGrids:
    """The two lattices have a finer one in common, on which everything can be counted."""

    @pytest.mark.parametrize("seed", [1, *rarely([0, 2, 3])])
    def testEveryNumber(self, seed):
        reference = shapes.blob(seed, (12, 12, 12), 0.1, 0.9)
        test = shapes.blob(seed, (16, 16, 16), 0.1, 1.2) | shapes.blob(seed + 50, (16, 16, 16), 0.02, 0.7)
        images = shapes.imageOf(reference, (2, 2, 2)), shapes.imageOf(test, (1.5, 1.5, 1.5), (0.25, -0.25, 1.25))
        found = compare(*images, LESIONS)
        fine = []
        for array, times, origin in ((reference, 4, (0, 0, 0)), (test, 3, (0.25, -0.25, 1.25))):
            numbers, count = label(array, np.ones((3, 3, 3)))
            whole = np.zeros((64, 64, 64), int)
            # half millimeters from a place below both to the lower corner of the first voxel
            i, j, k = (round(2 * (start + 4) - times / 2) for start in origin)
            some = numbers.repeat(times, 0).repeat(times, 1).repeat(times, 2)
            n = len(some)
            whole[k : k + n, j : j + n, i : i + n] = some
            fine.append([whole == number for number in range(1, count + 1)])
        expected = tell(*fine)
        assert {key: found[key].value for key in expected} == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("angle", [0.0, 0.3])
    def testOneLesionIsTheWhole(self, angle):
        turn = np.array([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]])
        test = shapes.imageOf(np.ones((4, 5, 6), np.uint8), (1.7, 1.9, 1.3), (11.2, 9.6, 10.3), turn)
        found = compare(shapes.box((10, 10, 10), (18, 17, 16)), test, LESIONS)
        (lesion,) = found.lesions
        assert found["DSC"].value > 0.3
        assert [found["LesionDSC"].value, lesion.dice] == pytest.approx([found["DSC"].value] * 2, rel=1e-12)
        assert (lesion.volumeReference, lesion.volumeTest) == pytest.approx((9 * 8 * 7, 120 * 1.7 * 1.9 * 1.3))
        # missed and invented ones count the diagonal of the reference's image, as on one grid
        apart = compare(shapes.box((2, 2, 2), (3, 3, 3)), test, LESIONS)
        assert apart["LesionHD95"].value == pytest.approx(24 * math.sqrt(3))


def testNobodyHasALesion(run, tmp_path):
    """Healthy patients are what a screening study counts, whatever they are given as, and in its means."""
    nothing = shapes.imageOf(np.zeros((6, 6, 6), np.uint8))
    coarse = shapes.imageOf(np.zeros((4, 4, 4), np.uint8), (2.0, 2.0, 3.0), (0.3, 0, 0))
    flat, mesh = shapes.imageOf(np.zeros((6, 6), np.uint8), (1.0, 1.0), (0.0, 0.0)), vtkPolyData()
    small = shapes.box((2, 2, 2), (3, 3, 3), size=(6, 6, 6))
    pairs = [(nothing, nothing), (nothing, coarse), (flat, flat), (mesh, mesh), (mesh, coarse)]
    for reference, test, changes in (*((*pair, {}) for pair in pairs), (small, small, {"lesionMinimum": 50.0})):
        found = compare(reference, test, LESIONS.replace(**changes))
        assert [found[key].value for key in COUNTS] == [0] * 8 and found.lesions == ()
        assert {found[key].status for key in ("LesionF1", "SQ", "PQ", "LesionDSC")} == {"undefined"}
    for folder in ("references", "tests"):
        (tmp_path / folder).mkdir()
    for number in range(5):
        for folder, image in (("references", nothing), ("tests", small if number == 3 else nothing)):
            SimpleITK.WriteImage(image, str(tmp_path / folder / f"case{number}.nrrd"))
    given = ("--reference-dir", "references", "--test-dir", "tests", "--metrics", "instances", "--workers", "1")
    assert run("batch", *given, "-o", "out")[0] == 0
    lines = [line.split(",") for line in (tmp_path / "out" / "summary.csv").read_text().splitlines()]
    means = {line[2]: float(line[lines[0].index("Mean")]) for line in lines[1:] if line[lines[0].index("Mean")]}
    assert (means["LesionsInvented"], means["LesionsReference"]) == (0.2, 0)


def testMeshesHaveLesionsInTheirCavities():
    """As the mask that they were made of: a ball in the cavity of a ball that lies in the cavity of another one."""
    k, j, i = np.indices((40, 40, 60))
    away = np.sqrt((i - 20) ** 2 + (j - 20) ** 2 + (k - 20) ** 2)
    array = (away <= 3) | ((away > 6) & (away <= 9)) | ((away > 12) & (away <= 16))
    array[18:22, 18:22, 45:55] = True
    image, mesh = shapes.imageOf(array), shapes.surfaceOf(shapes.imageOf(array))
    volumes = sorted(np.bincount(label(array, np.ones((3, 3, 3)))[0][array])[1:])
    assert len(volumes) == 4
    for pair in ((image, mesh), (mesh, image), (image, image)):
        found = compare(*pair, LESIONS)
        assert [found[key].value for key in ("LesionsFound", "LesionDSC", "PQ")] == [4, 1, 1]
        assert sorted(lesion.volumeTest for lesion in found.lesions) == pytest.approx(volumes)
    # a mesh of its own within another one
    shell = shapes.surfaceOf(shapes.imageOf((away <= 16) & (away > 12)))
    both = shapes.append(shell, shapes.ballMesh(3, (20, 20, 20)))
    found = compare(both, shapes.imageOf(away <= 3), LESIONS)
    assert [found[key].value for key in ("LesionsReference", "LesionsFound", "LesionsMissed")] == [2, 1, 1]


def testClassesNeedInstances(run, tmp_path):
    labels = np.zeros((8, 30, 30), np.uint8)
    labels[2:6, 2:28, 2:28] = 1
    labels[3:5, 5:8, 5:8], labels[3:5, 12:15, 5:8] = 10, 11
    SimpleITK.WriteImage(shapes.imageOf(labels), str(tmp_path / "a.nrrd"))
    (tmp_path / "classes.csv").write_text("label,class\n1,liver\n10,metastasis\n11,metastasis\n")
    given = ("compare", "a.nrrd", "a.nrrd", "--metrics", "DSC,LesionsReference", "--instance-classes", "classes.csv")
    status, out, error = run(*given)
    assert status == 0 and says(error, "--instance-classes", "--instances)") and "Label 10" in out
    status, out, error = run(*given, "--instances")
    assert (status, error) == (0, "") and "liver" in out and "metastasis" in out
    # they also decide what structures there are for all other numbers
    assert run("compare", "a.nrrd", "a.nrrd", "--metrics", "DSC", "--instances")[2] == ""


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.nightly
def testPanoptica(dimension):
    """Random masks in which panoptica finds the lesions itself; in two dimensions corners do not connect."""
    panoptica = pytest.importorskip("panoptica", reason="panoptica is missing: pip install -e .[challenges]")
    evaluator = panoptica.Panoptica_Evaluator(
        expected_input=panoptica.InputType.SEMANTIC,
        instance_approximator=panoptica.ConnectedComponentsInstanceApproximator(),
        instance_matcher=panoptica.NaiveThresholdMatching(matching_threshold=0.5),
    )
    settings, size = Settings.preset("panoptica", metrics="instances"), (24, 22, 20)
    nothing, corners = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    corners[2, 2, 2], corners[2, 3, 3], corners[2, 4, 4] = 1, 1, 1
    apart = np.roll(corners, 10, axis=2)
    given = [(nothing, corners), (corners, nothing), (corners, apart), (corners, corners)]
    for seed in range(8):
        one = shapes.blob(seed, size[::-1], 0.2, 0.8).astype(np.uint8)
        given.append((one, one & shapes.blob(seed + 90, size[::-1], 0.93, 0.6)))
    if dimension == 2:
        given = [(one[2], other[2]) for one, other in given]
    else:  # of one slice, too
        given += [(one[:1], other[:1]) for one, other in given[-3:]]
    for one, other in given:
        result = evaluator.evaluate(other, one)["ungrouped"]
        images = [shapes.imageOf(array, (1.0,) * array.ndim, (0.0,) * array.ndim) for array in (one, other)]
        found = compare(*images, settings)
        counts = [found[key].value for key in ("LesionsReference", "LesionsTest")]
        assert counts == [result.tp + result.fn, result.tp + result.fp]
        for key, value in (("RQ", result.rq), ("SQ", result.sq), ("PQ", result.pq)):
            assert found[key].value == pytest.approx(value, abs=1e-9)


def testMissedLesionsCountInOneOfTheTwoCommandsOfBratsEvaluation():
    """One of five lesions is found: the command for most tasks says 1, the one for metastases 1/5."""
    reference, test = (np.zeros((12, 12, 60), np.uint8) for _ in range(2))
    for n in range(5):
        reference[3:7, 3:7, 10 * n + 3 : 10 * n + 7] = 1
    test[3:7, 3:7, 3:7] = 1
    images = [SimpleITK.GetImageFromArray(one) for one in (reference, test)]
    found = {
        command: compare(*images, Settings.preset(f"BraTS_evaluation {command}", metrics=("LesionDSC", "LesionHD95")))
        for command in ("seg", "mets")
    }
    assert (found["seg"]["LesionDSC"].value, found["seg"]["LesionHD95"].value) == (1, 0)
    assert found["mets"]["LesionDSC"].value == pytest.approx(1 / 5)
    assert found["mets"]["LesionHD95"].value == pytest.approx(4 * 373 / 5)
    says(found["seg"]["LesionDSC"].description)
