"""Alarms are decided from the two structures: they are the same whatever is measured."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import shapes
from vtkmodules.vtkCommonDataModel import vtkPolyData

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.given import asStructure
from SegmentMetricsLib.case.pairing import note, pairStructures
from SegmentMetricsLib.metrics.findings import Finding, Kind, Severity, split
from SegmentMetricsLib.metrics.registry import FAMILIES
from SegmentMetricsLib.model import inputs

BOX = ((6, 6, 6), (15, 14, 13))
# in the left and the right half of the image
LEFT, RIGHT = ((2, 6, 6), (8, 14, 13)), ((15, 6, 6), (21, 14, 13))
MESH = (-30, 15, 40), (10, 45, 90)
CODES = ("Segmentation~SCT^1^Organ~SCT^{}^Parotid~^^~Anatomic~^^~^^|", "10", "20")

WAYS = {
    **{family: {"families": family} for family in FAMILIES},
    "boundary without tolerances": {"families": "boundary", "tolerances": ()},
    "nothing but slices in pixels": {"families": "similarity", "msiUnit": "pixel"},
    "another tool": {"convention": "MedPy", "families": "boundary"},
    "all": {"families": "all"},
}


def structure(image, name: str = "Organ", frame: str = "", **source):
    return replace(inputs.structureFromImage(image, name, None, None), name=name, frameOfReference=frame, **source)


def boxes(first=BOX, second=BOX, names=("Organ", "Organ"), **details):
    """Return two boxes of voxels as structures. details: pairs of what differs."""
    sides = [{key: values[n] for key, values in details.items()} for n in (0, 1)]
    return [structure(shapes.box(*corners), name, **side) for corners, name, side in zip((first, second), names, sides)]


def meshes(first, second):
    return [asStructure(shapes.boxMesh(*corners), "mesh", None, Settings()) for corners in (first, second)]


def scaled(corners, factor: float):
    return tuple(tuple(factor * value for value in corner) for corner in corners)


def apart():
    moved = shapes.box(*BOX, origin=(500, 0, 0))
    return [structure(shapes.box(*BOX)), structure(moved)]


# Kind of alarm -> the pairs that raise it.
PAIRS = {
    Kind.NO_OVERLAP: lambda: boxes(second=((18, 17, 17), (21, 21, 21))),
    Kind.HARDLY_OVERLAP: lambda: boxes(((2, 2, 2), (11, 11, 11)), ((11, 2, 10), (20, 11, 19))),
    Kind.SAME: lambda: [replace(one, file="case.nrrd") for one in boxes()],
    Kind.OTHER_PATIENTS: lambda: boxes(patient=("A", "B")),
    Kind.MIRRORED: lambda: boxes(LEFT, RIGHT),
    Kind.OTHER_FRAMES: lambda: boxes(frame=("1.2.3", "1.2.4")),
    Kind.IMAGES_APART: apart,
    Kind.OTHER_UNITS: lambda: meshes(MESH, scaled(MESH, 1e-3)),
    Kind.OTHER_AXES: lambda: meshes(MESH, ((-10, -45, 40), (30, -15, 90))),
}
# Kind of alarm -> sets of structures of which the first pair raises it.
SETS = {
    Kind.EXCHANGED: lambda: (boxes(LEFT, RIGHT, ("A", "B")), boxes(LEFT, RIGHT, ("B", "A"))),
    Kind.OTHER_STRUCTURE: lambda: (boxes(LEFT, names=("A", "B"))[:1], boxes(RIGHT, LEFT, ("A", "C"))),
    Kind.OTHER_SIDES: lambda: (boxes(names=("Eye_L", ""))[:1], boxes(names=("Eye_R", ""))[:1]),
    Kind.OTHER_LABELS: lambda: tuple(boxes(names=(name, ""))[:1] for name in ("Label 1", "Label 2")),
    Kind.OTHER_CODES: lambda: tuple(boxes(terminology=[CODES[0].format(c)] * 2)[:1] for c in CODES[1:]),
}


def testEveryAlarmIsThere():
    # those of an image or a dose are about what lies beside the pair, whatever is measured
    ofOthers = {kind for kind in Kind if "IMAGE_" in kind.name or "DOSE" in kind.name} - {*PAIRS, *SETS}
    assert {*PAIRS, *SETS} == {kind for kind in Kind if kind.severity == Severity.ALARM} - ofOthers


@cache
def pairOf(kind: Kind):
    if kind in PAIRS:
        return tuple(PAIRS[kind]())
    return pairStructures(*SETS[kind]()).pairs[0]


def alarms(kind: Kind, **settings) -> list[Finding]:
    pair = pairOf(kind)
    comparison = compare(*pair, Settings(**settings))
    return split((comparison if kind in PAIRS else note(comparison, pair)).findings).alarms


@cache
def byDefault(kind: Kind) -> list[Finding]:
    return alarms(kind)


# What every day shows: by voxels, by surfaces, and as another tool does it.
DAILY = ("overlap", "boundary without tolerances", "another tool")
CASES = [
    pytest.param(kind, way, marks=() if way in DAILY else pytest.mark.nightly)
    for kind in (*PAIRS, *SETS)
    for way in WAYS
]


@pytest.mark.parametrize(("kind", "way"), CASES, ids=lambda one: getattr(one, "name", one))
def testTheSameAlarmsWhateverIsMeasured(kind, way):
    expected = byDefault(kind)
    assert kind in [alarm.kind for alarm in expected]
    assert alarms(kind, **WAYS[way]) == expected


@pytest.mark.parametrize("way", WAYS)
def testNoAlarmOfAGoodPair(way):
    pair = boxes(second=((7, 6, 6), (15, 14, 13)))
    assert split(compare(*pair, Settings(**WAYS[way])).findings).alarms == []


def testOpenSurfacesAreJudgedByTheirBoxes():
    """They have no inside to count."""
    near = openMesh()
    far = openMesh((200, 0, 0))
    for families in ("boundary", "overlap"):
        settings = Settings(families=families)
        assert [a.kind for a in split(compare(near, far, settings).findings).alarms] == [Kind.NO_OVERLAP]
        assert not split(compare(near, openMesh((1, 0, 0)), settings).findings).alarms


def openMesh(offset=(0, 0, 0)) -> vtkPolyData:
    """Return a box without two of its triangles."""
    closed = shapes.boxMesh(offset, tuple(np.add(offset, (10, 10, 10))))
    result = vtkPolyData()
    result.DeepCopy(closed)
    result.BuildLinks()
    for cell in (0, 1):
        result.DeleteCell(cell)
    result.RemoveDeletedCells()
    return result


def testOverlapIsNoneOfTheResults():
    """An alarm counts voxels for itself: the result and its remarks are those of what was asked for."""
    images = shapes.box(*BOX), shapes.box((7, 6, 6), (15, 14, 13), spacing=(1.1, 1.1, 1.1))
    result = compare(*images, Settings(families="boundary", tolerances=()))
    assert result.grid is None and not any("different grids" in finding for finding in result.findings)
