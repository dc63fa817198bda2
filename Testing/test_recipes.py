"""The recipes run as they stand, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[1] / "docs" / "recipes.md"


def testRecipes(capsys):
    pytest.importorskip("slicer", reason="needs Slicer's classes: pip install slicer-core")
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    from SegmentMetricsLib import mrml

    scene = mrml.ensureScene()
    scene.Clear(0)
    text = RECIPES.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    namespace: dict = {}
    printed = []
    for number, block in enumerate(blocks):
        exec(compile(block, f"{RECIPES.name}, block {number}", "exec"), namespace)
        printed.append(capsys.readouterr().out)
    assert "HD95 4.59 mm" in printed[0] and "DSC 0.872" in printed[0]
    assert "Submandibular_R" in printed[2] and "Eye_L" in printed[3] and "Mandible" not in printed[3]
    assert "Parotid_L Parotid_L name" in printed[4] and len(namespace["choices"]) == 1
    assert "common extent" in printed[5] and "MONAI" in printed[6]
    verdicts = {line.split()[2] for line in printed[7].splitlines()}
    assert {"pass", "fail"} <= verdicts <= {"pass", "warn", "fail", "not"}
    assert printed[8].startswith("4 0.87")
    assert scene.GetNumberOfNodesByClass("vtkMRMLTableNode") >= 4
    assert (namespace["folder"] / "report.html").stat().st_size > 5_000_000
    scene.Clear(0)
