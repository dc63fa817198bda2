"""The recipes run as they stand, one after the other."""

from __future__ import annotations

import pages
import pytest

RECIPES = pages.ROOT / "docs" / "guide" / "recipes.md"


@pytest.mark.nightly
def testRecipes(tmp_path):
    pytest.importorskip("slicer", reason="needs Slicer's classes (extra slicer)")
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    from SegmentMetricsLib import mrml

    scene = mrml.ensureScene()
    scene.Clear(0)
    namespace: dict = {}
    printed = dict(zip((block.text for block in pages.blocks(RECIPES)), pages.run(RECIPES, tmp_path, None, namespace)))

    def printedBy(code: str) -> str:
        """Return what the one block that has this code printed."""
        (found,) = (output for text, output in printed.items() if code in text)
        return found

    assert "HD95 4.59 mm" in printedBy("loadSample()") and "DSC 0.872" in printedBy("loadSample()")
    assert "Submandibular_R" in printedBy("showComparisonsTable")
    chosen = printedBy('"Mandible": None})\nprint(')
    assert "Eye_L" in chosen and "Mandible" not in chosen
    assert "common extent" in printedBy('extent="common"') and "MONAI" in printedBy("conventions([")
    verdicts = {line.split()[2] for line in printedBy("judged.verdicts").splitlines()}
    assert {"pass", "fail"} <= verdicts <= {"pass", "warn", "fail", "not"}
    assert printedBy("compareCase(").startswith("4 0.87")
    assert printedBy("(parotid,) = readStructures").startswith("Parotid_L ")
    assert printedBy("import SimpleITK").startswith("label 4: 4.59 mm, 87.2%")
    assert printedBy('n in (1, 2)), name="left parotid")').startswith("Parotid_L 0.872")
    assert "HD95: 4.59 mm" in printedBy("values.mean()") and (namespace["folder"] / "parotid.png").is_file()
    assert "Anima -\n" in printedBy('numbers.get("HD95")')
    assert scene.GetNumberOfNodesByClass("vtkMRMLTableNode") >= 4
    assert (namespace["folder"] / "report.html").stat().st_size > 5_000_000
    scene.Clear(0)
