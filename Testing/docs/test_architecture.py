"""The page on the architecture lists the layers that there are; lint-imports checks what they import."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def testThePageListsTheLayers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    first, *layers = project["contracts"][0]["layers"]
    library = ROOT / "SegmentMetricsLib"
    packages = {path.parent.name for path in library.glob("*/__init__.py")}
    modules = {path.stem for path in library.glob("*.py")} - {"__init__", "__main__"}
    assert first == "__main__" and set(layers) == packages | modules
    page = (ROOT / "docs" / "developer" / "architecture.md").read_text("utf-8")
    table = page[page.index("| layer |") : page.index("So a formula")]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == layers
