"""Imports point one way: from the roof of the house to its ground."""

from __future__ import annotations

import house
import pytest

IMPORTS = sorted(set(house.imports()))


def testEveryPartHasItsRow():
    listed = [part for _, row in house.ROWS for part in row]
    assert len(listed) == len(set(listed))
    assert set(listed) == house.parts(), "say in Testing/docs/house.py where a new part belongs"


def testImportsPointDown():
    upward = [one for one in IMPORTS if house.rowOf(one[1]) < house.rowOf(one[0])]
    assert [one for one in upward if not one[2]] == [], "imports at the top of a file go down the house"
    late = {(part, target) for part, target, _, _ in upward}
    assert late == set(house.DOORS), "a late import up the house needs a reason in Testing/docs/house.py"


def testNeighborsDoNotImportEachOther():
    beside = {(one[0], one[1]) for one in IMPORTS if not one[2] and house.rowOf(one[0]) == house.rowOf(one[1])}
    assert [(part, target) for part, target in beside if (target, part) in beside] == []


def testTheRegistryHoldsDataOnly():
    """What computes is below it: an entry needs the words of definitions, formulas, and what a pair shares."""
    assert {one[1] for one in IMPORTS if one[0] == "registry"} == {"definitions", "metrics", "quantities"}


def testNamesAreImportedFromWhereTheyAreDefined():
    assert list(house.borrowed()) == []


@pytest.mark.parametrize(
    ("part", "above"), [("metrics", "commands"), ("metrics", "registry"), ("geometry", "metrics"), ("report", "mrml")]
)
def testWhatNobodyMayImport(part, above):
    assert (part, above) not in {(one[0], one[1]) for one in IMPORTS}


def testTheReaderSeesLateImportsToo(tmp_path):
    path = tmp_path / "one.py"
    path.write_text("from ..settings import Settings\nfrom .. import pair\ndef f():\n    from ..mrml import views\n")
    found = set(house.importsOf(path, ("SegmentMetricsLib", "metrics")))
    assert found == {("settings", False), ("pair", False), ("mrml", True)}


def testTheDiagramIsThatOfTheCode():
    assert house.DIAGRAM.read_text(encoding="utf-8") == house.diagram(), "run python Testing/docs/house.py"


def testThePageTellsTheDoors():
    text = (house.ROOT / "docs" / "developer" / "house.md").read_text(encoding="utf-8")
    for (part, target), reason in house.DOORS.items():
        assert f"| `{part}` | `{target}` | {reason} |" in text
