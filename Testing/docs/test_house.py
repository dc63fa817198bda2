"""Imports point one way: from the roof of the house to its ground."""

from __future__ import annotations

import ast
from collections.abc import Iterator

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


def testTheLogicNeedsNoWidgets():
    """What the module's logic imports of the panel reads parameters; a script that measures needs no Qt."""
    folder = house.ROOT / "SegmentMetrics" / "SegmentMetricsPanel"
    module = ast.parse((folder.parent / "SegmentMetrics.py").read_text(encoding="utf-8"))
    logic = next(node for node in module.body if getattr(node, "name", "") == "SegmentMetricsLogic")
    waiting, seen = {name.rpartition(".")[2] for name in importedBy(logic) if "SegmentMetricsPanel." in name}, set()
    assert "parameters" in waiting
    while waiting:
        seen.add(name := waiting.pop())
        found = set(importedBy(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))))
        assert not found & {"qt", "ctk"}, name
        waiting |= {one[1:] for one in found if one.startswith(".")} - seen


def importedBy(tree: ast.AST) -> Iterator[str]:
    """Yield the names of the modules that code imports; those of its own package begin with a dot."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


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
