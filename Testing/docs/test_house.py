"""The house page shows the rooms that there are; lint-imports checks what they import."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def testThePictureShowsTheRooms():
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0][
        "layers"
    ]
    rooms = {path.parent.name for path in (ROOT / "SegmentMetricsLib").glob("*/__init__.py")}
    assert layers[0] == "__main__" and set(layers[1:]) == rooms
    picture = (ROOT / "docs" / "pictures" / "House.svg").read_text("utf-8")
    assert re.findall(r'font-weight="bold">([^<]+)<', picture) == ["SegmentMetrics/", *layers[1:]]


def testTheLogicNeedsNoWidgets():
    """What the module's logic imports of the panel reads parameters; a script that measures needs no Qt."""
    folder = ROOT / "SegmentMetrics" / "SegmentMetricsPanel"
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
