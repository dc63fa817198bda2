"""The house page shows the rooms that there are; lint-imports checks what they import."""

from __future__ import annotations

import re
import tomllib
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
