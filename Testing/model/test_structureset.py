"""Sets of structures: a sequence that keeps what cannot be used of a file or folder."""

from __future__ import annotations

import pickle

import pytest
import shapes

from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.model.structures import inAnySpelling, remarksOnLeftOut, requireUsable, unusableOf
from SegmentMetricsLib.model.structureset import LeftOut, StructureSet


def structure(name: str):
    return structureFromImage(shapes.box((2, 2, 2), (5, 5, 5)), name, None, None)


NAMES = ("Liver", "Heart", "Eye")
OPEN = LeftOut("Parotid_L", "Parotid_L of r.dcm is open.")
CT = LeftOut("CT", "CT.nrrd was left out: it is no label map.", isOptional=True)


@pytest.fixture
def found() -> StructureSet:
    return StructureSet(tuple(map(structure, NAMES)), path="case", leftOut=(OPEN, CT), lost={"": "a.dcm is damaged."})


def testTheyAreASequence(found):
    liver, _, eye = found
    assert len(found) == 3 and found[0] is liver and found[-1] is eye and liver in found and found.index(eye) == 2
    assert [s.name for s in found] == list(NAMES) and [s.name for s in reversed(found)] == list(reversed(NAMES))
    assert not StructureSet() and sorted(found, key=lambda s: s.name)[0] is eye
    with pytest.raises(IndexError):
        found[3]
    assert repr(found[:1]) == f"<StructureSet of case: [{liver!r}]>"


def testPartsKeepWhatWasLeftOut(found):
    for part in (
        found[1:],
        found.having([found[0]]),
        found + StructureSet((structure("Lung"),)),
        found[:0] + found[:1],
    ):
        assert isinstance(part, StructureSet) and part.remarkOn("Parotid_L") == OPEN.remark
        assert part.whyLost("Spleen") == "a.dcm is damaged."
    assert StructureSet.of(found) is found and StructureSet.of(list(found)).leftOut == ()
    assert pickle.loads(pickle.dumps(found)).leftOut == found.leftOut


def testBothSidesOfASum(found):
    other = StructureSet((structure("CT"),), leftOut=(LeftOut("Parotid_L", "Parotid_L of t.dcm is open."),))
    both = found + other
    assert [s.name for s in both] == [*NAMES, "CT"]
    # a CT counts as left out only where there is a structure of that name
    said = {"Parotid_L": f"{OPEN.remark} Parotid_L of t.dcm is open.", "CT": CT.remark}
    assert unusableOf(both) == unusableOf(found, other) == said
    assert unusableOf(found) == {"Parotid_L": OPEN.remark}
    assert remarksOnLeftOut(found, other) == [OPEN.remark, CT.remark, "Parotid_L of t.dcm is open."]


def testWhatWasLeftOutIsKnownByName(found):
    assert inAnySpelling(["parotid l"], None, found) == ["Parotid_L"]
    with pytest.raises(ValueError, match=r"Parotid_L of r\.dcm is open\."):
        requireUsable("Parotid_L", found)
    requireUsable("Parotid_L", list(found))
    assert found.whyLost("Left Parotid") == OPEN.remark  # the same in other words
