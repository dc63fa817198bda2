"""Lesions one by one: what happened to each, and how many are found."""

from __future__ import annotations

import csv
import json
import math
import re

import numpy as np
import pytest
import shapes
import SimpleITK
from sayings import refused, says
from scipy.ndimage import binary_dilation, generate_binary_structure, label

from SegmentMetricsLib import Settings, compare, compareCase
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.plain import fromPlain
from SegmentMetricsLib.io import labelnames
from SegmentMetricsLib.metrics.findings import Kind
from SegmentMetricsLib.metrics.instances import Lesion, Overlaps, matchLesions
from SegmentMetricsLib.show import resulttables, tables, writing

PLACE = np.moveaxis(np.indices((60, 60, 60)), 0, -1)


def balls(*given: tuple[tuple[int, int, int], float]) -> np.ndarray:
    array = np.zeros((60, 60, 60), bool)
    for center, radius in given:
        array |= ((PLACE - center) ** 2).sum(axis=-1) <= radius**2
    return array


# Two of five lesions are found, and one is invented.
REFERENCE = balls(((20, 20, 20), 12), ((45, 45, 20), 3), ((45, 20, 45), 3), ((20, 45, 45), 3), ((50, 50, 50), 2))
TEST = balls(((20, 20, 20), 12), ((45, 45, 20), 3), ((10, 50, 10), 3))


def bratsOf(reference: np.ndarray, test: np.ndarray, steps: int, limit: float, spacing) -> tuple[float, float]:
    """Return LesionDSC and LesionHD95 as the code of BraTS 2023 finds them, lesion by lesion on whole images."""
    cross, corners = generate_binary_structure(3, 2), np.ones((3, 3, 3))
    parts, dilated = label(test, corners)[0], label(binary_dilation(reference, cross, steps), corners)[0]
    seen, scores, distances = set(), [], []
    for number in range(1, dilated.max() + 1):
        lesion = reference & (dilated == number)
        touched = set(np.unique(parts[binary_dilation(lesion, cross, steps)]).tolist()) - {0}
        seen |= touched
        if lesion.sum() * np.prod(spacing) <= limit:
            continue
        drawn = np.isin(parts, list(touched))
        scores.append(2 * (lesion & drawn).sum() / (lesion.sum() + drawn.sum()))
        images = [shapes.imageOf(array, spacing) for array in (lesion, drawn)]
        pair = compare(*images, Settings.preset("DeepMind", metrics="HD95")) if touched else None
        distances.append(pair["HD95"].value if pair else 374.0)
    invented = parts.max() - len(seen)
    if not scores and not invented:
        return 1.0, 0.0
    number = len(scores) + invented
    return sum(scores) / number, (sum(distances) + 374.0 * invented) / number


def places(*boxes: tuple[slice, slice, slice]) -> np.ndarray:
    array = np.zeros((16, 20, 40), bool)
    for place in boxes:
        array[place] = True
    return array


CUBE, NEAR, FAR = np.s_[3:8, 3:8, 3:8], np.s_[4:8, 4:9, 11:15], np.s_[3:8, 3:8, 30:36]
SMALL, OTHER = np.s_[12:14, 14:16, 20:22], np.s_[11:14, 12:17, 4:9]
# touches the cube when that is dilated, but does not overlap it
BESIDE = np.s_[3:8, 3:8, 10:12]


@pytest.mark.parametrize("preset", ["BraTS 2023", "BraTS 2023 MEN", "BraTS 2023 MET"])
@pytest.mark.parametrize(
    ("reference", "test"),
    [
        ((CUBE, NEAR, FAR), (np.s_[3:8, 3:8, 4:13],)),  # neighbors that dilation joins; one missed
        ((CUBE,), (BESIDE, OTHER)),  # reached by dilation alone; one invented
        ((CUBE, SMALL), (CUBE, np.s_[12:14, 14:16, 21:23])),  # a small one, and what is drawn of it
        ((SMALL,), (SMALL,)),
        ((), (SMALL, OTHER)),
        ((CUBE,), ()),
        ((), ()),
    ],
)
def testBrats(preset, reference, test):
    one, other, spacing = places(*reference), places(*test), (0.9, 1.0, 1.2)
    settings = Settings.preset(preset, metrics=("LesionDSC", "LesionHD95"))
    found = compare(shapes.imageOf(one, spacing), shapes.imageOf(other, spacing), settings)
    expected = bratsOf(one, other, settings.lesionDilation, settings.lesionMinimum, spacing)
    assert (found["LesionDSC"].value, found["LesionHD95"].value) == pytest.approx(expected, abs=1e-9)


class TestSettings:
    def testConnectivityMinimumAndPenalty(self):
        corner = places(np.s_[3:6, 3:6, 3:6], np.s_[6:9, 6:9, 6:9], np.s_[12:13, 12:13, 30:31])
        test = places(np.s_[3:6, 3:6, 3:6])

        def found(**settings):
            images = shapes.imageOf(corner), shapes.imageOf(test)
            return compare(*images, Settings(metrics="instances", **settings))

        assert [found(lesionConnectivity=c)["LesionsReference"].value for c in (6, 18, 26)] == [3, 3, 2]
        large = found(lesionMinimum=54.0)
        assert large["LesionsReference"].value == 1 and says(large["LesionsReference"].reason, "1 of ")
        usual, stated = found(lesionMinimum=27.0, lesionConnectivity=6), found(lesionConnectivity=6, lesionPenalty=5.0)
        assert usual["LesionHD95"].value == pytest.approx(math.dist((0, 0, 0), (40, 20, 16)) / 2)
        assert stated["LesionHD95"].value == pytest.approx(10 / 3)

    def testOverlapOfAMatch(self):
        one, half = places(np.s_[3:7, 3:7, 3:7]), places(np.s_[3:7, 3:7, 3:5])
        images = shapes.imageOf(one), shapes.imageOf(half)
        strict = compare(*images, Settings(metrics="instances", lesionOverlap=0.6))
        assert (strict["LesionF1"].value, strict["PQ"].value, strict["LesionsFound"].value) == (0, 0, 1)
        assert strict["SQ"].status == "undefined"
        # panoptica takes the threshold itself, too
        assert compare(*images, Settings.preset("panoptica"))["PQ"].value == 0.5

    @pytest.mark.parametrize(("one", "other", "missing"), [((CUBE,), (), "precision"), ((), (CUBE,), "sensitivity")])
    def testOneSideWithoutLesions(self, one, other, missing):
        found = compare(shapes.imageOf(places(*one)), shapes.imageOf(places(*other)), Settings(metrics="instances"))
        assert found[f"Lesion{missing.capitalize()}"].status == "undefined"
        says(found[f"Lesion{missing.capitalize()}"].reason, "test" if one else "reference")
        assert [found[key].value for key in ("PQ", "RQ", "LesionF1", "LesionDSC")] == [0, 0, 0, 0]
        (lesion,) = found.lesions
        assert lesion.event == ("missed" if one else "invented") and lesion.clearance is None


class TestList:
    def testOrderAndWhatIsKnownOfEach(self):
        reference, test = REFERENCE, np.roll(TEST, 1, axis=2)
        found = compare(shapes.imageOf(reference), shapes.imageOf(test), Settings(metrics="instances"))
        events = [lesion.event for lesion in found.lesions]
        assert events == ["missed"] * 3 + ["invented"] + ["found"] * 2
        missed, invented, drawn = (found.lesions[n] for n in (0, 3, 5))
        assert (missed.dice, missed.volumeTest, missed.hausdorff, missed.centerDistance) == (None, 0, None, None)
        assert missed.volumeReference >= found.lesions[2].volumeReference
        assert invented.side == "test" and invented.position == (11, 50, 10)
        assert drawn.centerDistance == pytest.approx(1) and drawn.position == (20, 20, 20)
        # of the ball alone, as if it were compared by itself
        only, moved = balls(((20, 20, 20), 12)), balls(((20, 20, 21), 12))
        alone = compare(shapes.imageOf(only), shapes.imageOf(moved), Settings(metrics=("DSC", "IoU", "HD95", "MASD")))
        values = (drawn.dice, drawn.iou, drawn.hausdorff, drawn.mean)
        assert values == pytest.approx([alone[key].value for key in ("DSC", "IoU", "HD95", "MASD")], abs=1e-6)

    def testClearanceIsBetweenSurfaces(self):
        lone, other = places(CUBE), places(FAR)
        found = compare(shapes.imageOf(lone), shapes.imageOf(other), Settings(metrics="instances"))
        # from the last voxel's face at 7.5 to the first one's at 29.5
        assert [lesion.clearance for lesion in found.lesions] == pytest.approx([22, 22])

    def testFiles(self, tmp_path):
        found = compare(shapes.imageOf(REFERENCE), shapes.imageOf(TEST), Settings(metrics="instances"))
        text = resulttables.lesionsSentence(found.lesions)
        says(text, "5 ", "2 found", "3 missed", " 1 ")
        plain = json.loads(json.dumps(found.toDictionary()))
        assert fromPlain(tuple[Lesion, ...], plain["lesions"]) == found.lesions
        writing.writeLists([found.toDictionary()], tmp_path)
        rows = list(csv.DictReader((tmp_path / "lesions.csv").open(encoding="utf-8")))
        expected = [(lesion.event, lesion.position[0]) for lesion in found.lesions]
        assert [(row["Event"], float(row["X"])) for row in rows] == expected
        assert not (tmp_path / "gaps.csv").exists()
        shown = tables.pairTable(found.record())
        assert re.search(r"5 +reference +missed +0.033 cm3 +25.02 mm +L 50 P 50 S 50", shown)


class TestInstanceMaps:
    labels = np.zeros((6, 6, 12), np.uint8)
    labels[1:4, 1:4, 1:4], labels[1:4, 1:4, 4:7], labels[2, 2, 9] = 7, 8, 9  # the first two touch

    def testEveryLabelIsALesion(self):
        settings = Settings(metrics="instances", instanceMaps=True)
        fewer = np.where(self.labels == 9, 0, self.labels)
        found = compare(shapes.imageOf(self.labels), shapes.imageOf(fewer), settings)
        assert [found[key].value for key in ("LesionsReference", "LesionsFound", "LesionsMissed")] == [3, 2, 1]
        # on another grid: the second of the reference now overlaps both that touch
        shifted = compare(shapes.imageOf(self.labels), shapes.imageOf(self.labels, origin=(0.25, 0, 0)), settings)
        assert [shifted[key].value for key in ("LesionsFound", "LesionsMixed", "RQ")] == [1, 1, 1]

    def testClasses(self, tmp_path):
        path, table = str(tmp_path / "map.nrrd"), tmp_path / "classes.csv"
        SimpleITK.WriteImage(shapes.imageOf(self.labels), path)
        table.write_text("label,class\n7,Edema\n8,Core\n9,Edema\n", encoding="utf-8")
        classes = labelnames.readClasses(table)
        case = compareCase(path, path, Settings(metrics="instances", instanceMaps=True, instanceClasses=classes))
        assert {c.reference.name: c["LesionsFound"].value for c in case} == {"Edema": 2, "Core": 1}
        with refused("Edema, Core", error=InputError):
            compare(path, path, Settings(metrics="instances", instanceMaps=True, instanceClasses=classes))


def testTheLargestTotalDiceMayBeOfOtherPairs():
    """IoU: 1/18 + 7/15 is more than 4/15 + 4/18; Dice: 2/19 + 14/22 is less than 8/19 + 8/22."""
    pairs = np.array([(0, 0), (1, 1), (0, 1), (1, 0)])
    overlaps = Overlaps(np.array([8, 11]), np.array([11, 11]), pairs, np.array([1, 7, 4, 4]), pairs)
    for isByDice in (False, True):
        found = matchLesions(overlaps, 0.0, isByDice=isByDice).pairs.tolist()
        assert found == pairs[2 * isByDice :][:2].tolist()


def testFindingPointsToTheFamily():
    images = [shapes.imageOf(array) for array in (REFERENCE, TEST)]
    (told,) = (one for one in compare(*images, Settings(metrics="DSC")).findings if one.kind is Kind.SEVERAL_PARTS)
    says(told, "--metrics lesions")
    assert (told.values["missed"], told.values["added"]) == (3, 1)
    (told,) = (one for one in compare(*images, Settings(metrics="PQ")).findings if one.kind is Kind.SEVERAL_PARTS)
    assert "--metrics" not in told
