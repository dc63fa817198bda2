"""Findings: each where it belongs, and not where it does not."""

from __future__ import annotations

import json
import pickle
import re
import struct
from dataclasses import replace

import numpy as np
import pytest
import shapes
import SimpleITK
from findingwork import found

from SegmentMetricsLib import Settings, compare, readStructures
from SegmentMetricsLib.base.texts import SettingPlace
from SegmentMetricsLib.case import pairing
from SegmentMetricsLib.case.comparison import Comparison
from SegmentMetricsLib.case.given import asStructure
from SegmentMetricsLib.case.pairing import note
from SegmentMetricsLib.metrics.findings import Finding, Kind, Severity, alarmsFirst, asFinding, split
from SegmentMetricsLib.model import inputs
from SegmentMetricsLib.model.notes import Note
from SegmentMetricsLib.model.structures import Match

BOX = shapes.box((6, 6, 6), (15, 14, 13))


# Placement


def testHardlyAnyOverlap():
    """Two organs that touch are as suspicious as two that do not; of those that share a little more nothing is said."""
    reference = shapes.box((2, 2, 2), (11, 11, 11))
    alarm = "hardly overlap (Dice 0.02): check that they are the same structure"
    assert found(compare(reference, shapes.box((11, 2, 10), (20, 11, 19))), alarm)
    assert not found(compare(reference, shapes.box((10, 2, 2), (19, 11, 11))), Kind.HARDLY_OVERLAP)
    assert not found(compare(reference, shapes.box((12, 2, 2), (20, 11, 11))), Kind.HARDLY_OVERLAP)


def testMeshesWithoutOverlap():
    box = shapes.boxMesh((0, 0, 0), (10, 10, 10))
    for families in ("overlap", "signed"):
        settings = Settings(families=families)
        assert found(compare(box, shapes.boxMesh((20, 0, 0), (30, 10, 10)), settings), Kind.NO_OVERLAP)
        assert not found(compare(box, shapes.boxMesh((9, 0, 0), (19, 10, 10)), settings), Kind.NO_OVERLAP)
    # so far away that the voxels of a common grid are larger than either
    assert found(compare(box, shapes.boxMesh((1e6, 0, 0), (1e6 + 10, 10, 10))), Kind.NO_OVERLAP)


def testAlarmsComeFirst():
    """Also after a file or a scene has kept their words alone."""
    edge = shapes.box((0, 0, 0), (3, 3, 3)), shapes.box((18, 17, 17), (23, 21, 21))
    result = compare(*edge)
    alarms, advice = split(result.findings)
    assert result.findings == (*alarms, *advice) and found(result, "touch the image edge")
    assert alarms[0].kind == Kind.NO_OVERLAP and "Both contours touch the image edge" in advice[-1]
    assert split(alarmsFirst(reversed(result.findings)))[0] == alarms[::-1]
    match = Match(
        inputs.structureFromImage(edge[0], "Eye_L", None, None),
        inputs.structureFromImage(edge[1], "Eye_R", None, None),
        "only",
    )
    named = note(result, replace(match, findings=("Eye_L was paired with Eye_R because.", *pairing._doubts(match))))
    assert named.findings[0] == "Check the sides: Eye_L is compared with Eye_R."
    assert named.findings[1].kind == Kind.NO_OVERLAP and named.findings[len(alarms) + 1].startswith("Eye_L was paired")
    again = Comparison.fromDictionary(json.loads(json.dumps(named.toDictionary())))
    assert again.findings == named.findings and split(again.findings)[0] == list(named.findings[: len(alarms) + 1])


@pytest.mark.parametrize("words", [{}, {"what": "x\ny", "reference": "{", "test": "(.*", "which": "test"}])
def testFilesKeepKindAndValues(words):
    """A plain sentence, as files had it once, is a remark; so is what another version may write."""
    for kind in set(Kind) - {Kind.REMARK}:
        values = {name: words.get(name, "1") for name in re.findall(r"{(\w+)}", " ".join(kind.sentences))}
        finding = pickle.loads(pickle.dumps(Finding.of(kind, **values)))
        kept = json.loads(json.dumps(finding.toDictionary()))
        again = asFinding(kept)
        assert again == finding == " ".join(kind.sentences).format(**kept["values"])
        assert (again.kind, again.values, again.reason) == (kind, values, finding.reason), kind
        assert bool(split([kept]).alarms) == finding.isAlarm == (kind.severity == Severity.ALARM)
        assert asFinding(str(finding)).kind == asFinding({**kept, "kind": "later"}).kind == Kind.REMARK


def testOtherUnitsAndAxes():
    settings = Settings(families="overlap")
    inMillimeters, inMeters = (
        shapes.boxMesh(*(scale * np.array(corner) for corner in ((-30, 15, 40), (10, 45, 90)))) for scale in (1, 1e-3)
    )
    for which, pair in (("test", (inMillimeters, inMeters)), ("reference", (inMeters, inMillimeters))):
        result = compare(*pair, settings)
        assert found(result, f"Scaled by 1000, the {which} would match the other contour")
        assert not found(result, Kind.OTHER_AXES)
    turned = compare(inMillimeters, shapes.boxMesh((-10, -45, 40), (30, -15, 90)), settings)
    assert found(turned, Kind.OTHER_AXES) and not found(turned, Kind.OTHER_UNITS)
    elsewhere = compare(inMillimeters, shapes.boxMesh((-10, -45, -90), (30, -15, -40)), settings)
    assert not found(elsewhere, Kind.OTHER_AXES) and not found(elsewhere, Kind.OTHER_UNITS)


def testPercentilesThatLookLikeShares():
    pair = shapes.ball(8), shapes.ball(9)
    said = found(compare(*pair, Settings(percentiles=(0.95, 95))), "HD0.95")
    assert said == [
        "HD0.95 is the distance within which 0.95 % of the boundary lies; the percentile that leaves out the farthest "
        "5 % is 95 (--percentile 95; in Python percentiles=95; in Slicer Percentile)."
    ]
    assert not found(compare(*pair, Settings(percentiles=(1, 95))), Kind.LOW_PERCENTILE)
    assert not found(compare(*pair, Settings(families="overlap", percentiles=(0.95,))), Kind.LOW_PERCENTILE)


def testToleranceLargerThanTheStructures():
    small = [shapes.boxMesh((0, 0, 0), (0.001 * size, 0.012, 0.01)) for size in (9, 10)]
    assert found(compare(*small), "larger than the structures, which measure 0.012 mm: nothing can exceed it.")
    assert not found(compare(*small, Settings(tolerances=(0.001, 2))), "larger than the structures")


LEFT, RIGHT = ((2, 6, 6), (8, 14, 13)), ((15, 6, 6), (21, 14, 13))


def testMirroredLeftRight():
    mirrored = compare(shapes.box(*LEFT), shapes.box(*RIGHT))
    (finding,) = found(mirrored, Kind.MIRRORED)
    assert "(Dice 1.00 instead of 0.00)" in finding
    # turned axes: the same patient, stored from left to right and upside down
    turned = [shapes.imageOf(SimpleITK.GetArrayFromImage(shapes.box(*sides)), origin=(23, 0, 23), direction=d)
              for sides, d in ((LEFT, np.diag([-1, 1, -1])), (RIGHT, np.diag([-1, 1, -1])))]  # fmt: skip
    assert found(compare(*turned), Kind.MIRRORED)


def testNotMirrored():
    same = compare(shapes.box(*LEFT), shapes.box((3, 6, 6), (8, 14, 13)))
    assert not found(same, Kind.MIRRORED)
    # mirrored front to back is something else
    frontToBack = compare(shapes.box((6, 2, 6), (14, 8, 13)), shapes.box((6, 15, 6), (14, 21, 13)))
    assert found(frontToBack, "do not overlap") and not found(frontToBack, Kind.MIRRORED)
    # apart, but not at the mirrored place either
    elsewhere = compare(shapes.box(*LEFT), shapes.box((15, 16, 16), (21, 21, 21)))
    assert found(elsewhere, "do not overlap") and not found(elsewhere, Kind.MIRRORED)
    # a slight gain is no reason to doubt the sides
    settings = Settings(families="overlap")
    for low, high in (((9, 6, 6), (16, 14, 13)), ((7, 6, 6), (17, 14, 13))):
        assert not found(compare(BOX, shapes.box(low, high), settings), Kind.MIRRORED)


def testASmallStructureInTheMiddleIsNotMirrored():
    """A mirror at the middle moves it by little: an ordinary disagreement explains the difference as well."""
    for radius in (3, 6):
        pair = [shapes.ball(radius, (x, 0, 0), origin=(-29.5, -30, -30)) for x in (-1.5, 1.5)]
        assert not found(compare(*pair, Settings(families="overlap")), Kind.MIRRORED)


def testMirroredAtTheOriginOfAnImageThatIsNotCentered():
    pair = [shapes.ball(6, (x, 0, 0), origin=(-30, -30, -30), size=(90, 60, 60)) for x in (-18, 18)]
    (finding,) = found(compare(*pair, Settings(families="overlap")), Kind.MIRRORED)
    assert "(Dice 1.00 instead of 0.00)" in finding


# Image edge


@pytest.mark.parametrize(
    ("low", "high"),
    [((0, 6, 6), (15, 14, 13)), ((6, 6, 0), (15, 14, 13)), ((6, 6, 6), (23, 14, 13)), ((6, 6, 6), (15, 14, 23))],
)
def testTouchingTheImageEdge(low, high):
    edge = shapes.box(low, high)
    assert found(compare(edge, BOX), "The reference touches the image edge")
    assert found(compare(BOX, edge), "The test touches the image edge")
    assert found(compare(edge, edge), "Both contours touch the image edge")


def testNotTouchingTheImageEdge():
    settings = Settings(families="overlap")
    assert not found(compare(shapes.box((1, 1, 1), (22, 22, 22)), BOX, settings), "image edge")
    # an image of one slice has no edge above and below
    square = shapes.imageOf(np.pad(np.ones((6, 5), np.uint8), 4))
    assert not found(compare(square, square), "image edge")
    corner = shapes.imageOf(np.pad(np.ones((6, 5), np.uint8), ((0, 4), (4, 4))))
    assert found(compare(corner, square), "The reference touches the image edge")
    mesh = shapes.boxMesh((0, 0, 0), (10, 10, 10))
    assert not found(compare(mesh, mesh, Settings(families="signed")), "image edge")


# Frames of reference


def framed(path, frame: str | None = None, code: int | None = None):
    """Write the box with a DICOM frame of reference, or with a NIfTI form code, and return its structure."""
    image = shapes.box((6, 6, 6), (15, 14, 13))
    if frame is not None:
        image.SetMetaData("FrameOfReferenceUID", frame)
    SimpleITK.WriteImage(image, str(path))
    if code is not None:
        data = bytearray(path.read_bytes())
        struct.pack_into("<2h", data, 252, code, code)
        path.write_bytes(data)
    (structure,) = readStructures(path)
    return structure


def testDifferentFramesOfReference(tmp_path):
    first, second = framed(tmp_path / "1.nrrd", "1.2.840.1"), framed(tmp_path / "2.nrrd", "1.2.840.2")
    (finding,) = found(compare(first, second), "different frames of reference")
    assert "(1.2.840.1 and 1.2.840.2)" in finding
    scanner, atlas = framed(tmp_path / "3.nii", code=1), framed(tmp_path / "4.nii", code=4)
    assert not found(compare(first, scanner), "frames of reference")
    assert "(scanner and MNI 152)" in found(compare(scanner, atlas), "different frames of reference")[0]
    again, unknown = framed(tmp_path / "5.nrrd", "1.2.840.1"), framed(tmp_path / "6.nrrd")
    for pair in ((first, again), (first, unknown), (unknown, unknown)):
        assert not found(compare(*pair), "frames of reference")


def testAnImageThatDoesNotHoldItsStructureIsNotItsPlace():
    """As where only some slices of the image are known."""
    whole = inputs.structureFromImage(BOX, "Box", None, None)
    far = whole.mask.grid.resize((30, 0, 0), (35, 19, 19))
    elsewhere = replace(whole, mask=whole.mask.on(far))
    assert elsewhere.mask.grid.corners()[:, 0].min() > whole.box[1][0]
    assert not found(compare(whole, elsewhere), Kind.IMAGES_APART)
    beside = whole.mask.grid.resize((-35, 0, 0), (-30, 19, 19))
    assert not found(compare(replace(whole, mask=whole.mask.on(beside)), elsewhere), Kind.IMAGES_APART)


# Surfaces


def testSurfacesThatAreNotClosed():
    closed = shapes.boxMesh((0, 0, 0), (10, 10, 10))
    result = compare(shapes.openBox(), closed)
    (finding,) = found(result, "is not closed")
    assert finding.startswith("The surface of the reference is not closed (4 open edges)")
    assert found(compare(closed, shapes.openBox()), "The surface of the test is not closed")
    assert result["DSC"].status == "undefined" and result["HD"].status == "ok"
    assert not found(compare(closed, closed), "not closed")
    assert not found(compare(BOX, closed), "not closed")


def testWhatReadingAFileHadToSay():
    """A note is about the structure, its contours or its file, and has to be a sentence about any of them."""
    notes = (
        Note("has no slice 3", isPossessive=False),
        Note("2 contours cross"),
        Note("contours were left out", number=3),
        "a file was cut",
        "So it is.",
    )
    said = [
        "The test has no slice 3.", "The test's 2 contours cross.", "3 of the test's contours were left out.",
        "Of the test, a file was cut.", "So it is.",
    ]  # fmt: skip
    assert notes[:3] == ("it has no slice 3", "its 2 contours cross", "3 of its contours were left out")
    structure = asStructure(BOX, "Box", None, Settings())
    result = compare(structure, replace(structure, notes=pickle.loads(pickle.dumps(notes))))
    assert [finding for finding in result.findings if finding in said] == said


# Grids and ties


def testDifferentGrids():
    coarse = shapes.box((3, 3, 3), (7, 6, 6), (12, 12, 12), (2, 2, 2))
    (finding,) = found(compare(BOX, coarse), "different grids")
    assert "in parts of voxels, exactly" in finding and "common grid" not in finding
    for families in ("voxel", "all"):
        (finding,) = found(compare(BOX, coarse, Settings(families=families)), "different grids")
        assert "common grid of 1 x 1 x 1 mm" in finding and "shifts of less than a voxel hardly show" in finding
    for family, words in (
        ("similarity", "Similarity Index"),
        ("effort", "added path length"),
        ("slices", "the slices"),
    ):
        (finding,) = found(compare(BOX, coarse, Settings(families=family)), "different grids")
        assert (
            words in finding
            and "planes of these slices cut the test's surface" in finding
            and "common grid" not in finding
        )
    published = Settings(families=("similarity", "slices"), asPublished=True)
    (finding,) = found(compare(BOX, coarse, published), "different grids")
    assert (
        "the slices. The planes of these slices cut the test's surface" in finding
        and "Index needs the voxels of the reference" in finding
    )
    assert not found(compare(BOX, BOX), "different grids")
    crop = shapes.box((4, 4, 4), (13, 12, 11), (18, 18, 18), origin=(2, 2, 2))  # of the same lattice
    assert not found(compare(BOX, crop), "different grids")


def testTies():
    shifted = shapes.box((8, 6, 6), (17, 14, 13))
    (finding,) = found(compare(BOX, shifted), "lies exactly 2 mm away")
    assert "instead of 1.000" in finding
    assert not found(compare(BOX, shifted, Settings(tolerances=(1.9,))), "lies exactly")
    assert not found(compare(BOX, shifted, Settings(families="overlap")), "lies exactly")


def testThePanelNamesItsOwnPlaceOnly():
    """Also of a finding that was kept in a file, and whatever structures are called."""
    odd = "A (1); in Slicer"
    where = SettingPlace(f'--pair "{odd}={odd}"', f"choices={ {odd: odd} }", "Inputs > Pairs")
    exchanged = Finding.of(Kind.EXCHANGED, first=odd, second="B", pairs=where)
    assert f"pair them {where}." in exchanged and str(where).startswith('(--pair "A (1)')
    for finding in (exchanged, asFinding(json.loads(json.dumps(exchanged.toDictionary())))):
        assert finding.inPanel.startswith(f"{odd} and B are exchanged")
        assert finding.inPanel.endswith("if only the names are wrong, pair them (Inputs > Pairs).")
    scripted = Finding.of(Kind.COUNTED_IN_PART, which="test", where=SettingPlace("--threshold 0.5", "threshold=0.5"))
    assert scripted.inPanel.endswith("fully or not at all (in scripts only).")
    assert Finding("Nothing (--x) to set {here}.").inPanel == "Nothing (--x) to set {here}."
