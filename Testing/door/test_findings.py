"""Findings: each where it belongs, and not where it does not; alarms whatever is measured."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import run as run
from findingwork import found, marksOf, ofKind
from sayings import says
from shapes import structureOf
from tiers import rarely

from SegmentMetricsLib import Grid, Settings, Structure, compare, compareCase

PHRASEBOOK = Path(__file__).parents[1] / "golden" / "phrasebook.txt"
BOX, CUBE = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((2, 2, 2), (11, 11, 11))
LONGER, SHIFTED = shapes.box((7, 6, 6), (15, 14, 13)), shapes.box((8, 6, 6), (17, 14, 13))
LEFT, RIGHT = ((2, 6, 6), (8, 14, 13)), ((15, 6, 6), (21, 14, 13))
# Boxes of which one fits a little better when it is mirrored.
TURNED = ((3, 4, 6), (15, 13, 13)), ((15, 12, 6), (25, 21, 13))
IN_MM = ((-30, 15, 40), (10, 45, 90))
MESH = shapes.boxMesh((0, 0, 0), (10, 10, 10))
NOTHING = shapes.imageOf(np.zeros((24, 24, 24), np.uint8))


def mesh(low, high, scale: float = 1.0):
    return shapes.boxMesh(*(tuple(scale * np.array(corner)) for corner in (low, high)))


def turned(corners):
    """Return a box as it is stored from left to right and upside down."""
    image = shapes.imageOf(SimpleITK.GetArrayFromImage(shapes.box(*corners)), origin=(23, 0, 23))
    image.SetDirection(np.diag([-1.0, 1, -1]).ravel().tolist())
    return image


def away(x: float, radius: float = 6, origin=(-30, -30, -30), size=(60, 60, 60)):
    return shapes.ball(radius, (x, 0, 0), origin=origin, size=size)


def movedBy(steps: int):
    return [shapes.box((3 + n, 3, 3), (12 + n, 12, 12)) for n in (0, steps)]


def case(marks: str, reference, test, *told: str | dict, **settings):
    """Return a pair with all that is found of it, and what this tells: names, or patterns of values of a finding."""
    return pytest.param(reference, test, settings, marks, told, id=" ".join([marks or "nothing", *map(str, told)]))


OVERLAP, AGREEMENT, TINY = {"families": "overlap"}, {"families": "agreement"}, "no-overlap other-units remark"
SPIKED, STUB = (BOX | shapes.box((16, 10, 10), (end, 10, 10)) for end in (22, 18))
PUBLISHED = {"families": ("similarity", "slices"), "asPublished": True}
THICK, ALIGNED = shapes.box((3, 3, 3), (7, 6, 6), (12, 12, 12), (2, 2, 2)), BOX[2:20, 2:20, 2:20]
COARSE = [shapes.box((6, 6, 6), (15 + n, 14, 13), spacing=(1, 1, 3)) for n in (0, 1)]
FLAT = [shapes.box((4, 4, 0), (8 + n, 9, 0), (14, 14, 1), (3, 3, 1)) for n in (0, 1)]
TWO = BOX | shapes.box((18, 18, 18), (19, 19, 19))
# voxels that touch at a corner belong together
THREE = TWO | shapes.box((1, 1, 1), (1, 1, 1)) | shapes.box((2, 2, 2), (2, 2, 2))
WIDE = (100, 60, 60)
OFF_CENTER = [away(x, size=(90, 60, 60)) for x in (-18, 18)]
LONG = [shapes.box((20, 2, 30), (60, 3 + n, 31), WIDE) for n in (0, 1)]
SMALL = [shapes.box((20, 20, 20), (23, 30 + n, 30), WIDE) for n in (0, 1)]
MIDDLE = [shapes.box((20, 20, 20), (30, 30 + n, 30), (60, 60, 60)) for n in (0, 1)]
FULL = [shapes.box((1, 1, 1), (37 + n, 38, 38), (40, 40, 40)) for n in (0, 1)]
SOFT = np.zeros((12, 12, 12))
SOFT[3:9, 3:9, 3:9], SOFT[4:8, 4:8, 4:8] = 0.4, 1
HARD, FAINT, NONE = shapes.imageOf(SOFT > 0.5), shapes.imageOf(0.3 * SOFT), shapes.imageOf(0 * SOFT)
SOFT = shapes.imageOf(SOFT)


@pytest.mark.parametrize(
    ("reference", "test", "settings", "marks", "told"),
    [
        # placement
        # two organs that touch are as suspicious as two that do not; of those that share a little more nothing is said
        case("hardly-overlap", CUBE, shapes.box((11, 2, 10), (20, 11, 19)), {"dice": "0.02"}),
        case("", CUBE, shapes.box((10, 2, 2), (19, 11, 11)), **OVERLAP),
        case("no-overlap", CUBE, shapes.box((12, 2, 2), (20, 11, 11))),
        case("no-overlap", MESH, mesh((20, 0, 0), (30, 10, 10)), families="signed"),
        case("", MESH, mesh((9, 0, 0), (19, 10, 10)), **OVERLAP),
        # so far away that the voxels of a common grid are larger than either
        case("no-overlap", MESH, mesh((1e6, 0, 0), (1e6 + 10, 10, 10))),
        case(TINY, mesh(*IN_MM), mesh(*IN_MM, 1e-3), {"scale": "1000", "which": "test"}, **OVERLAP),
        case(TINY, mesh(*IN_MM, 1e-3), mesh(*IN_MM), {"scale": "1000", "which": "reference"}, **OVERLAP),
        case("no-overlap other-axes", mesh(*IN_MM), mesh((-10, -45, 40), (30, -15, 90)), **OVERLAP),
        case("no-overlap", mesh(*IN_MM), mesh((-10, -45, -90), (30, -15, -40)), **OVERLAP),
        case("mirrored no-overlap", shapes.box(*LEFT), shapes.box(*RIGHT), {"best": "1.00", "dice": "0.00"}),
        case("mirrored no-overlap", turned(LEFT), turned(RIGHT)),
        case("", shapes.box(*LEFT), shapes.box((3, 6, 6), (8, 14, 13))),
        # mirrored front to back is something else; and apart, but not at the mirrored place either
        case("no-overlap", shapes.box((6, 2, 6), (14, 8, 13)), shapes.box((6, 15, 6), (14, 21, 13))),
        case("no-overlap", shapes.box(*LEFT), shapes.box((15, 16, 16), (21, 21, 21))),
        # a slight gain is no reason to doubt the sides, nor is one that a mirror in the middle of something small gives
        case("", BOX, shapes.box((9, 6, 6), (16, 14, 13)), **OVERLAP),
        case("", BOX, shapes.box((7, 6, 6), (17, 14, 13)), **OVERLAP),
        *(case("", *(away(x, radius, (-29.5, -30, -30)) for x in (-1.5, 1.5)), **OVERLAP) for radius in (3, 6)),
        case("hardly-overlap", *(shapes.box(*one, (30, 30, 24)) for one in TURNED), {"dice": "0.02"}, **OVERLAP),
        # at the origin of an image that is not centered
        case("mirrored no-overlap other-axes", *OFF_CENTER, {"best": "1.00"}, **OVERLAP),
        case("remark", shapes.box((0, 6, 6), (15, 14, 13)), BOX, "reference", **OVERLAP),
        case("remark", BOX, shapes.box((6, 6, 6), (23, 14, 13)), "test", **OVERLAP),
        case("remark", *2 * [shapes.box((6, 6, 0), (15, 14, 13))], **OVERLAP),
        case("", shapes.box((1, 1, 1), (22, 22, 22)), shapes.box((2, 1, 1), (22, 22, 22)), **OVERLAP),
        # an image of one slice has no edge above and below
        case("", *2 * [shapes.imageOf(np.pad(np.ones((6, 5), np.uint8), 4))], **OVERLAP),
        case("remark", *2 * [shapes.imageOf(np.pad(np.ones((6, 5), np.uint8), ((0, 4), (4, 4))))], **OVERLAP),
        case("", MESH, MESH, families="signed"),
        # surfaces without an inside are judged by their boxes
        case("no-overlap remark remark", shapes.openBox(), shapes.openBox(200), "4", **OVERLAP),
        case("remark remark", shapes.openBox(), shapes.openBox(1), families="boundary"),
        case("no-overlap other-units remark remark", shapes.openBox(15), shapes.openBox(0.015, 0.01), **OVERLAP),
        case("remark", shapes.openBox(), MESH, "4"),
        case("remark", shapes.append(MESH, mesh((2000,) * 3, (2002,) * 3)), MESH, "5.4 mm", **OVERLAP),
        # one that is no longer there counts as one that is empty
        case("one-empty", BOX, NOTHING),
        case("remark", NOTHING, NOTHING),
        # what is measured
        case("", BOX, LONGER, families="all"),
        case("remark", BOX, LONGER, "MedPy", convention="MedPy"),
        case("", MESH, mesh((0, 0, 0), (10, 10, 9)), families=("signed", "overlap", "agreement")),
        # memberships count in part; below 0.5 everywhere is not the same as not drawn
        case("counted-in-part", SOFT, HARD, {"which": "reference"}),
        case("counted-in-part", HARD, SOFT, {"where": ".--threshold 0.5; .* threshold=0.5."}),
        case("counted-in-part", SOFT, SOFT, {"which": "reference .* test"}),
        case("", SOFT, HARD, threshold=0.5),
        case("", SOFT, HARD, families="boundary"),
        case("", HARD, HARD),
        case("counted-in-part remark", FAINT, FAINT, "reference", "test"),
        case("counted-in-part remark", HARD, FAINT, "test"),
        case("one-empty", HARD, NONE),
        case("remark", NONE, NONE),
        # whichever of the distances is listed, and nothing more is computed; far is no outlier if all of it is
        case("remark", BOX, SPIKED, "HD (7.00 mm)", "95 %", "0.00 mm", "HD95"),
        case("", BOX, SPIKED, percentiles=()),
        case("remark", BOX, SPIKED, "HD (7.00 mm)", metrics="HD"),
        case("", BOX, SPIKED, metrics="MASD"),
        case("remark", BOX, SPIKED, "HDvox (7.00 mm)", "0.95", metrics="HDvox"),
        case("remark", BOX, SPIKED, "7.00 voxel", metrics="HDvox", voxelUnit="voxel"),
        case("no-overlap", BOX, shapes.box((16, 16, 14), (20, 20, 20))),
        case("", BOX, STUB, metrics=("HD", "DSC")),
        # slices thicker than the tolerance are nothing unusual, and the thickness of the only slice means nothing
        case("remark", *COARSE, "0.9 mm", "1 mm", tolerances=0.9),
        case("remark remark", *COARSE, "(0.5, 0.75 mm)", "1 mm", metrics="NSD", tolerances=(0.5, 0.75, 1)),
        case("", *COARSE, metrics=("HD", "NSD"), tolerances=2),
        case("", *COARSE, **OVERLAP, tolerances=0.5),
        case("remark", *FLAT, "2 mm", "3 mm", metrics="NSD"),
        case("", *FLAT, metrics="NSD", tolerances=4),
        case("remark", *(mesh((0, 0, 0), (s, 12, 10), 1e-3) for s in (9, 10)), "2 mm", "0.012 mm"),
        case("", *(mesh((0, 0, 0), (s, 12, 10), 1e-3) for s in (9, 10)), tolerances=(0.0015, 2)),
        case("remark", BOX, SHIFTED, "2 mm", "NSD", metrics="NSD"),
        case("", BOX, SHIFTED, metrics="NSD", tolerances=1.9),
        case(
            "low-percentile",
            away(0, 8),
            away(0, 9),
            {"percentile": "0.95", "better": "95"},
            percentiles=(0.95, 95),
            metrics=("HD", "HD95"),
        ),
        case("", away(0, 8), away(0, 9), percentiles=(1, 95), metrics=("HD1", "HD95")),
        # parts, whose number is not known of a mesh
        case("several-parts", TWO, BOX, {"told": " 1 .*reference.* 2 .*", "missed": "1"}, **OVERLAP),
        case("several-parts", TWO, THREE, {"parts": ".*reference .* 2 .*test 3 .*"}, **OVERLAP),
        case("several-parts", BOX, THREE, {"parts": ".*test .* 3 .*", "told": " 2 .*test.* 3 .*"}, **OVERLAP),
        case("several-parts", TWO, TWO, {"parts": ".* 2 .*"}, **OVERLAP),
        case("", shapes.surfaceOf(TWO), TWO, **OVERLAP),
        case("", TWO, shapes.surfaceOf(TWO), **OVERLAP),
        # small along any one axis, however many voxels; a hint where the overlap is measured
        case("small", *SMALL, {"extent": "484 .* 4", "size": "100"}, **OVERLAP),
        case("", *SMALL, metrics="HD95"),
        case("", *SMALL, metrics=("VolumeTest", "TP")),
        case("", *SMALL, metrics="VS"),
        case("small", *SMALL, metrics="KAP"),
        case("small", *LONG, {"extent": ".* 2", "size": "60"}, **OVERLAP),
        case("", *(shapes.box((20, 20, 20), (24, 30 + n, 30), WIDE) for n in (0, 1)), **OVERLAP),
        # an image of one slice has no axis across it; for a mesh the image is that of the test
        case("", *FLAT, **OVERLAP),
        case("", *(mesh((0, 0, 0), (1, 9, 9 + n)) for n in (0, 1)), **OVERLAP),
        case("no-overlap small", mesh((0, 0, 0), (2, 9, 9)), SMALL[0], {"extent": "2", "size": "100"}, **OVERLAP),
        # agreement by chance on what is nearly nowhere, or nearly everywhere; a given volume leaves nothing to choose
        case("image-mostly-one-kind", *MIDDLE, {"where": ".*grid=union.*"}, **AGREEMENT),
        case("image-mostly-one-kind", *MIDDLE, {"keys": "ACC, TNR, FPR and RI .*"}, **AGREEMENT),
        case("", *MIDDLE, **AGREEMENT, grid="union"),
        case("", BOX, BOX, **AGREEMENT),
        case("mostly-one-kind", *MIDDLE, **AGREEMENT, grid=MIDDLE[0]),
        case("image-mostly-one-kind", *MIDDLE, {"keys": "RI .*"}, metrics="RI"),
        case("", *MIDDLE, metrics=("KAP", "ARI", "VS")),
        case("mostly-one-kind", *FULL, {"keys": "ACC.*RI.*"}, metrics=("ACC", "RI"), grid="union"),
        # different grids, by what is measured; not where both are of one lattice
        case("remark", BOX, THICK, **OVERLAP),
        case("remark", BOX, THICK, "1 x 1 x 1 mm", families="voxel"),
        case("remark remark", BOX, THICK, "1 x 1 x 1 mm", "S 5.0, S 13.0 mm", families="all"),
        case("remark remark", BOX, THICK, "S 5.0, S 13.0 mm", families="similarity"),
        case("remark", BOX, THICK, families="effort"),
        case("remark remark", BOX, THICK, "S 5.0, S 13.0 mm", **PUBLISHED),
        *(case("", BOX, ALIGNED, families=one) for one in ("overlap", "voxel", "all", "similarity", "effort")),
        case("", BOX, ALIGNED, **PUBLISHED),
        # whether DSC is measured or not; half is enough
        case("remark", *movedBy(6), "VS (1.000)", "DSC", "0.400", metrics="VS"),
        case("remark", *movedBy(6), "VS (1.000)", "DSC", "0.400", **AGREEMENT),
        case("", *movedBy(6), metrics="DSC"),
        case("", *movedBy(5), metrics="VS"),
    ],
)
def testFindingsOfAPair(reference, test, settings, marks, told):
    result = compare(reference, test, Settings(**settings))
    assert marksOf(result) == marks, result.findings
    assert all(found(result, one) for one in told if isinstance(one, dict)), result.findings
    if told or "remark" in marks:
        says("\n".join(result.findings), *(one for one in told if isinstance(one, str)))


Z, Y, X = np.indices((30, 30, 30)) - 14.5
ACROSS, FAR = np.hypot(X, Y), np.sqrt(X**2 + Y**2 + Z**2)
BALL = FAR < 12
ALONG_X, ALONG_Y = ((abs(a) < 12) & (abs(b) < 1.5) for a, b in ((X, Y), (Y, X)))
BRANCHES = ALONG_X & (abs(X) < 1.5) | ALONG_X & (abs(Z) % 6 < 1.5) | ALONG_Y & (abs(Z + 3) % 6 < 1.5)


def porous(missing: float) -> np.ndarray:
    return BALL & ~((FAR < 11) & (np.random.default_rng(2).random(BALL.shape) < missing))


@pytest.mark.parametrize(
    ("array", "share"),
    [
        # pores, connected or not, and cavities, of more than a tenth of the shape that they are in
        *((porous(missing), share) for missing, share in ((0.05, 0), (0.3, 0.22), (0.6, 0.45), (0.8, 0.6))),
        (BALL & (FAR > 4), 0),
        (BALL & (FAR > 9), np.count_nonzero(FAR <= 9) / np.count_nonzero(BALL)),
        # a tube, a bowl and a tree enclose nothing; a slice of a tube does
        ((ACROSS < 9) & (ACROSS > 6) & (abs(Z) < 12), 0),
        (BALL & (FAR > 9) & (Z < 3), 0),
        (BRANCHES & (abs(Z) < 13), 0),
        (((ACROSS < 9) & (ACROSS > 6))[14:15], np.count_nonzero(ACROSS[14] <= 6) / np.count_nonzero(ACROSS[14] < 9)),
    ],
)
def testStructuresOfLowDensity(array, share):
    """Distances can be short although much is missing; said where these are measured, whatever else is."""
    image = shapes.imageOf(array)
    remarks = ofKind(compare(image, image, Settings(metrics="AVD")), "remark")
    assert len(remarks) == bool(share)
    if share:
        percents = [int(number) for number in re.findall(r"(\d+) %", says(remarks[0]))]
        assert percents[0] == percents[1] == pytest.approx(100 * share, abs=3)
    assert not ofKind(compare(image, image, Settings(metrics="DSC")), "remark")


def testWhatAnAlarmCountsIsNoneOfTheResults():
    assert compare(BOX, THICK, Settings(families="boundary", tolerances=())).grid is None


# Alarms are decided from the two structures: they are the same whatever is measured.


def both(reference=BOX, test=BOX, **details):
    """Return two structures. details: pairs of what differs."""
    sides = ({key: values[n] for key, values in details.items()} for n in (0, 1))
    return [structureOf(image, **side) for image, side in zip((reference, test), sides, strict=True)]


def named(**boxes) -> list[Structure]:
    return [structureOf(shapes.box(*corners), name) for name, corners in boxes.items()]


CODE = "Segmentation~SCT^1^Organ~SCT^{}^Parotid~^^~Anatomic~^^~^^|"
# Kind of alarm -> the pair that raises it, or the structures of two sets of which the first pair does.
ALARMING = {
    "no-overlap": (BOX, shapes.box((18, 17, 17), (21, 21, 21))),
    "hardly-overlap": (CUBE, shapes.box((11, 2, 10), (20, 11, 19))),
    "same": both(file=("case.nrrd",) * 2),
    "other-patients": both(patient=("A", "B")),
    "mirrored": (shapes.box(*LEFT), shapes.box(*RIGHT)),
    "other-frames": both(frameOfReference=("1.2.3", "1.2.4")),
    "images-apart": (BOX, shapes.box((6, 6, 6), (15, 14, 13), origin=(500, 0, 0))),
    "other-units": (mesh(*IN_MM), mesh(*IN_MM, 1e-3)),
    "other-axes": (mesh(*IN_MM), mesh((-10, -45, 40), (30, -15, 90))),
    "exchanged": (named(A=LEFT, B=RIGHT), named(A=RIGHT, B=LEFT)),
    "other-structure": (named(A=LEFT), named(A=RIGHT, C=LEFT)),
    "other-sides": [[one] for one in both(name=("Eye_L", "Eye_R"))],
    "other-labels": [[one] for one in both(name=("Label 1", "Label 2"))],
    "other-codes": [[one] for one in both(terminology=[CODE.format(code) for code in (10, 20)])],
}
WAYS = {
    **{family: {"families": family} for family in (*Settings(families="all").families, "dose")},
    "all": {"families": "all"},
    "boundary without tolerances": {"families": "boundary", "tolerances": ()},
    "nothing but slices in pixels": {"families": "similarity", "msiUnit": "pixel"},
    "another tool": {"convention": "MedPy", "families": "boundary"},
}
# what every day shows: by voxels, by surfaces, and as another tool does it
DAILY = ("overlap", "boundary without tolerances", "another tool")


def testEveryAlarmIsThere():
    """But those of an image or a dose, which are about what lies beside the pair."""
    kinds = [line.split()[0] for line in PHRASEBOOK.read_text(encoding="utf-8").splitlines() if " (ALARM):" in line]
    ofPairs = {kind.lower().replace("_", "-") for kind in kinds if "IMAGE_" not in kind and "DOSE" not in kind}
    assert set(ALARMING) == ofPairs | {"images-apart"}


@cache
def alarms(kind: str, way: str) -> dict[str, str]:
    given, settings = ALARMING[kind], Settings(**WAYS.get(way, {}))
    result = compareCase(*given, settings)[0] if isinstance(given[0], list) else compare(*given, settings)
    return {one.toDictionary()["kind"]: str(one) for one in result.findings if one.isAlarm}


@pytest.mark.parametrize("kind", ALARMING)
@pytest.mark.parametrize("way", [*DAILY, *rarely(way for way in WAYS if way not in DAILY)])
def testTheSameAlarmsWhateverIsMeasured(kind, way):
    assert kind in alarms(kind, "usual")
    assert alarms(kind, way) == alarms(kind, "usual")


def testTheWordsOfAlarms():
    """What follows from another is not said; the panel names its own place only, whatever structures are called."""
    odd, places = "A (1); in Slicer", (shapes.box(*LEFT), shapes.box(*RIGHT))
    sets = [[structureOf(image, name) for image, name in zip(images, (odd, "B"))] for images in (places, places[::-1])]
    for chosen in (None, [odd]):
        for result in compareCase(*sets, Settings(**OVERLAP), names=chosen):
            (alarm,) = (one for one in result.findings if one.isAlarm)
            assert alarm.kind.name == "EXCHANGED" and f'--pair "{odd}=B" --pair "B={odd}"' in alarm
            again = type(result).fromDictionary(json.loads(json.dumps(result.toDictionary()))).findings[0]
            for finding in (alarm, again):
                assert odd in finding.inPanel and finding.inPanel.endswith("(Pairs).")
    scripted = compare(HARD, SOFT).findings[0]
    assert "--threshold 0.5" in scripted and "threshold 0.5" not in says(scripted.inPanel)
    # what another version may write is a remark
    content = compare(*places).toDictionary()
    content["findings"][0]["kind"] = "later"
    assert type(result).fromDictionary(content).findings[0].kind.name == "REMARK"


# What files say of their structures.


def testDifferentFramesOfReference():
    for first, second in (("1.2.840.1", "1.2.840.2"), ("scanner", "MNI 152")):
        (finding,) = ofKind(compare(*both(frameOfReference=(first, second))), "other-frames")
        assert finding.values == {"reference": first, "test": second}
    for frames in (("1.2.840.1", "scanner"), ("1.2.840.1",) * 2, ("1.2.840.1", ""), ("", "")):
        assert "other-frames" not in marksOf(compare(*both(frameOfReference=frames)))


def testAnImageThatDoesNotHoldItsStructureIsNotItsPlace():
    """As where only some slices of the image are known."""
    whole = structureOf(BOX)
    far, beside = (whole.mask.grid.resize((low, 0, 0), (low + 5, 19, 19)) for low in (30, -35))
    elsewhere = Structure("Organ", whole.mask.on(far))
    assert elsewhere.mask.grid.corners()[:, 0].min() > whole.box[1][0]
    for one in (whole, Structure("Organ", whole.mask.on(beside))):
        assert "images-apart" not in marksOf(compare(one, elsewhere))


def testWhatReadingAFileHadToSay():
    pair = both(notes=((), ("a file was cut", "So it is.")))
    for structures, sides in ((pair, ["test"]), (pair[::-1], ["reference"]), (2 * [pair[1]], ["reference", "test"])):
        findings = list(compare(*structures).findings)
        assert findings.pop(1) == "So it is."
        for finding, side in zip(findings, sides, strict=True):
            says(finding, side, "a file was cut")


# Whether the image under the contours is theirs is said before anybody signs contours on another patient's CT.


def imageFrom(low: float, high: float, height: float | None = None, frame: str = "") -> SimpleITK.Image:
    size = int((high - low) / 2) + 1
    origin = (low, low, low if height is None else height)
    image = shapes.imageOf(np.zeros((size if height is None else 1, size, size), np.int16), (2, 2, 2), origin)
    if frame:
        image.SetMetaData("FrameOfReferenceUID", frame)
    return image


@pytest.mark.parametrize(
    ("image", "kinds"),
    [
        (imageFrom(-30, 30, frame="1.2.3"), []),
        (imageFrom(-30, 30), []),
        (imageFrom(-30, 30, frame="1.2.4"), ["image-in-other-frame"]),
        (imageFrom(-30, 30, frame="scanner"), []),  # nothing that a UID can be compared with
        (imageFrom(40, 90), ["image-elsewhere"]),
        (imageFrom(-30, 6), ["image-in-part"]),
        (imageFrom(-12, 12), []),  # the surface is half a voxel outside the centers
        (imageFrom(-30, 30, height=0.0), ["image-in-part"]),  # of a single slice
        (imageFrom(-30, 30, height=90.0), ["image-elsewhere"]),
    ],
)
def testWhatIsDoubtfulAboutAnImage(run, image, kinds):
    ball = shapes.ball(12)
    ball.SetMetaData("FrameOfReferenceUID", "1.2.3")
    SimpleITK.WriteImage(ball, "Ball.nrrd")
    SimpleITK.WriteImage(image, "CT.nrrd")
    status, out, _ = run("compare", "Ball.nrrd", "Ball.nrrd", "--image", "CT.nrrd", "--metrics", "DSC", "--json")
    findings = json.loads(out).get("pairing", {"findings": []})["findings"]
    assert status == 0 and [one["kind"] for one in findings] == kinds
    assert all("CT" in one["text"] and "Ball" in one["text"] for one in findings)


@pytest.mark.parametrize(("patient", "kinds"), [("A", []), ("B", ["image-of-other"])])
def testAnImageOfAnotherPatient(run, patient, kinds, tmp_path):
    dicomfiles = pytest.importorskip("dicomfiles", reason="pydicom is not installed (extra dicom)")
    slices = dicomfiles.writeSeries(tmp_path / "CT", Grid((20, 20, 6), np.eye(4)), patient=patient)
    square = [[(5, 5, z), (12, 5, z), (12, 12, z), (5, 12, z)] for z in (1, 2, 3)]
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Organ": square}, slices if patient == "A" else ())
    status, out, err = run("compare", "set.dcm", "set.dcm", "--image", "CT", "--metrics", "DSC", "--json")
    assert status == 0, err
    assert [one["kind"] for one in json.loads(out).get("pairing", {"findings": []})["findings"]] == kinds
