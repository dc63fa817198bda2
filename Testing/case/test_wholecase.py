"""Why structures do not fit is decided for all structures of a case together, so that the explanations agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, Structure, __main__, compare
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.pairing import pairStructures
from SegmentMetricsLib.case.protocol.measuring import compareMatch
from SegmentMetricsLib.metrics.findings import Kind, split
from SegmentMetricsLib.model.inputs import labelMasks, structureFromPolyData

# LPS boxes in mm of an image that is centered at the patient's origin in x and y; none of them is symmetric.
SIZE = (100, 80, 60)
PARTS = [((x, y, z), (x + 9, y + 8, z + 10)) for z in (5, 35) for y in (-33, 5) for x in (-45, -33, -20, 6, 22)]
LATERAL = [
    *(((12, -5, 10), (22, 5, 20)), ((-22, -5, 10), (-12, 5, 20))),
    *(((27, -4, 40), (41, 4, 50)), ((-41, -4, 40), (-27, 4, 50))),
]
SIDES = ["Parotid_L", "Parotid_R", "Lens_L", "Lens_R"]


def mirrored(box):
    (x, y, z), (X, Y, Z) = box
    return (-X, y, z), (-x, Y, Z)


def turned(box):
    (x, y, z), (X, Y, Z) = mirrored(box)
    return (x, -Y, z), (X, -y, Z)


def drawn(boxes, names=None, unit: float = 1) -> list[Structure]:
    """Return structures of an image with the boxes as labels, in a unit of that many mm."""
    boxes = list(boxes)
    low = [-size // 2 for size in SIZE[:2]] + [0]
    # both ends of a box are given by their voxels
    inside = {
        label: [[int(c - o) - last for c, o in zip(corner, low, strict=True)] for last, corner in enumerate(box)]
        for label, box in enumerate(boxes, start=1)
    }
    image = shapes.labelImage(inside, size=SIZE)
    image.SetSpacing([1 / unit] * 3)
    # voxels are centered half a voxel from their corners
    image.SetOrigin([(place + 0.5) / unit for place in low])
    names = names or [f"S{number}" for number in range(len(boxes))]
    return [Structure(name, mask) for name, mask in zip(names, labelMasks(image, 0.5).values(), strict=True)]


def alarms(reference, test, chosen=None) -> dict[Kind, set[str]]:
    """Return the names of the structures with each kind of alarm, without those that only state the lack of overlap."""
    found: dict[Kind, set[str]] = {}
    for match in pairStructures(reference, test, names=chosen).pairs:
        comparison, _ = compareMatch(match, Settings(families="overlap"), None, compare)
        for alarm in split(comparison.findings).alarms:
            found.setdefault(alarm.kind, set()).add(match.reference.name)
    return {kind: names for kind, names in found.items() if kind not in (Kind.NO_OVERLAP, Kind.HARDLY_OVERLAP)}


def names(count: int) -> set[str]:
    return {f"S{number}" for number in range(count)}


def testWhatFitsAsItIs():
    assert alarms(drawn(PARTS), drawn(PARTS)) == {}


def testAFileThatIsMirroredOrHasOtherAxes():
    """In a mirror a structure may also lie where it would with other axes, and the other way round."""
    both = [*PARTS, ((26, -4, 48), (40, 4, 58))]
    everything = names(len(both))
    assert alarms(drawn(both), drawn(map(mirrored, both))) == {Kind.MIRRORED: everything}
    assert alarms(drawn(both), drawn(map(turned, both))) == {Kind.OTHER_AXES: everything}


@pytest.mark.nightly
def testAnotherUnit():
    reference = drawn(PARTS)
    assert alarms(reference, drawn(PARTS, unit=10)) == {Kind.OTHER_UNITS: names(len(PARTS))}
    # a box around the origin holds a file that is ten times too small
    brain = ((-30, -28, 0), (30, 28, 55))
    assert alarms(drawn([brain]), drawn([brain], unit=10)) == {Kind.OTHER_UNITS: {"S0"}}


def testMasksInMeters():
    """They cannot be compared, but what they are is said, for each of them."""
    for match in pairStructures(drawn(PARTS), drawn(PARTS, unit=1000)).pairs:
        try:
            compareMatch(match, Settings(families="overlap"), None, compare)
        except InputError as error:
            assert str(error).startswith("Scaled by 1000, the test would match the other contour: its file may be in")
        else:
            raise AssertionError("masks in meters were compared")


def testOneStructureThatIsElsewhere():
    """The others refute that the file is in RAS coordinates; that it is mirrored is a fact of this one."""
    boxes = [*PARTS, ((26, -4, 48), (40, 4, 58))]
    for moved in (turned, mirrored):
        found = alarms(drawn(boxes), drawn([*PARTS, moved(boxes[-1])]))
        assert found == {Kind.MIRRORED: {f"S{len(PARTS)}"}}


def testASingleFileInAnotherUnit():
    """Other files say nothing about the unit of one; others of the same file do."""

    def mesh(number: int, unit: float, file: str) -> Structure:
        low, high = ([value / unit for value in corner] for corner in PARTS[number])
        return replace(structureFromPolyData(shapes.boxMesh(low, high), f"S{number}"), file=file)

    whole = [mesh(number, 1, f"{number}.stl") for number in range(5)]
    assert alarms(whole, [mesh(0, 1000, "small.stl"), *whole[1:]])[Kind.OTHER_UNITS] == {"S0"}
    together = [replace(structure, file="all.vtp") for structure in whole]
    assert alarms(whole, [mesh(0, 1000, "all.vtp"), *together[1:]]) == {}


def testExchangedNames():
    """Where only the names are exchanged, no word is said of mirrors and axes."""
    middle = [((-6, -20, 30), (6, -10, 45)), ((20, 10, 5), (45, 30, 30))]
    every = [*SIDES, "Cord", "Liver"]
    exchanged = [LATERAL[1], LATERAL[0], LATERAL[3], LATERAL[2], *middle]
    assert alarms(drawn([*LATERAL, *middle], every), drawn(exchanged, every)) == {Kind.EXCHANGED: set(SIDES)}


def testOneOfTwoExchangedNames():
    """A single pair that was chosen has one explanation, too: its counterpart is known all the same."""
    reference, test = drawn(LATERAL[:2], SIDES[:2]), drawn(LATERAL[1::-1], SIDES[:2])
    assert alarms(reference, test, ["Parotid_L"]) == {Kind.EXCHANGED: {"Parotid_L"}}


def testAMirroredFileIsNotOneWithExchangedNames():
    """The liver tells the two apart: it lies on the other side, too."""
    boxes, every = [*LATERAL, ((20, 10, 5), (45, 30, 30))], [*SIDES, "Liver"]
    reference = drawn(boxes, every)
    assert alarms(reference, drawn(map(mirrored, boxes), every)) == {Kind.MIRRORED: set(every)}
    assert alarms(reference, drawn(map(turned, boxes), every)) == {Kind.OTHER_AXES: set(every)}


@pytest.mark.parametrize("command", [("compare", "a.nrrd", "b.nrrd"), ("conventions", "a.nrrd", "b.nrrd", "-o", "c")])
def testAllPairsThatFailAreNamed(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    image = shapes.labelImage({1: ((2, 2, 2), (6, 6, 6)), 2: ((9, 2, 2), (12, 6, 6)), 7: ((2, 9, 9), (6, 14, 14))})
    SimpleITK.WriteImage(image, "a.nrrd")
    image.SetSpacing([0.001] * 3)
    SimpleITK.WriteImage(image, "b.nrrd")
    assert __main__.main([*command]) == 2
    lines = capsys.readouterr().err.splitlines()
    for label, line in zip((1, 2, 7), lines, strict=True):
        assert f"Label {label} of a.nrrd and Label {label} of b.nrrd: Scaled by 1000, the test would match" in line
