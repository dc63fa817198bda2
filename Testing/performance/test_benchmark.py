"""The benchmark on two tiny organs, SegmentMetrics alone; what it writes, not how long anything took."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree

import pytest
import shapes
import SimpleITK

pytestmark = pytest.mark.nightly

ROUNDS = 2
REFERENCE = {3: ((2, 3, 4), (12, 13, 12)), 7: ((16, 2, 1), (19, 9, 9))}
BOXES = {"reference": REFERENCE, "test": {**REFERENCE, 3: ((3, 3, 4), (12, 14, 12))}}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for which, boxes in BOXES.items():
        SimpleITK.WriteImage(shapes.labelImage(boxes, (20, 16, 14)), folder / f"organs_{which}_1mm.nii.gz")
    return folder


@pytest.fixture(scope="module")
def written(benchmark, data, tmp_path_factory):
    """The folder of a run and the JSON."""
    tools, run = benchmark("tools"), benchmark("run")
    folder = tmp_path_factory.mktemp("benchmark") / "made on demand"
    with pytest.MonkeyPatch.context() as patch:
        # every tool starts processes of its own
        ours = (tools.OURS, tools.OURS_WITHOUT_BANDS, tools.ON_MESHES[0])
        patch.setattr(tools.Tool, "isInstalled", property(lambda tool: tool in map(tools.TOOLS.get, ours)))
        patch.setattr(run, "ROUNDS", ROUNDS)
        patch.setattr(run.measure, "SIZES", (500, 1000))
        run.main(["--data", str(data), "--output", str(folder)])
    return folder, json.loads((folder / "benchmark.json").read_text("utf-8"))


def testEveryNumberIsThere(written):
    found = written[1]
    others = [name for name in found["missing"] if not name.startswith("SegmentMetrics")]
    assert others == ["pymeshmetrics", "surface-distance", "MONAI", "MedPy", "pymeshmetrics, smoothed meshes"]
    (case,) = found["cases"]
    assert case["name"] == "2 organs, 1 x 1 x 1 mm"
    assert case["triangles"] == sum(pair["triangles"] for pair in case["pairs"]) > 1000
    for tool in case["tools"].values():
        assert len(tool["warmRounds"]) == found["rounds"] == ROUNDS
        assert len(tool["warmPairs"]) == len(tool["values"]) == len(case["pairs"]) == 2
        assert min(tool["cold"], tool["warm"], tool["warmRatio"], tool["coldRatio"]) > 0
        if sys.platform == "linux":
            assert tool["peak"] > 0
    assert case["tools"]["SegmentMetrics"]["warmRatio"] == 1
    assert case["tools"]["SegmentMetrics without BIoU"]["warmRatioWithoutBands"] == 1
    assert found["startUp"]["segment-metrics compare (Label 7)"] > found["startUp"]["python"] > 0
    assert list(found["wholeSet"]["commands"]) == ["compare --numbers-only", "compare"]
    assert found["wholeSet"]["commands"]["compare --numbers-only"]["ratio"] == 1
    for taken in found["wholeSet"]["commands"].values():
        assert len(taken["rounds"]) == ROUNDS and min(taken["ratio"], *taken["rounds"]) > 0 <= taken["cores"]


def testPageIsMadeOfTheNumbersAlone(benchmark, written, tmp_path):
    page = benchmark("page")
    folder, result = written
    page.write(result, tmp_path)
    text = (tmp_path / "performance.md").read_text("utf-8")
    assert text == (folder / "performance.md").read_text("utf-8")
    assert "$" not in text and "No other tool was installed." in text and "pymeshmetrics was not installed." in text
    assert f"two label maps of 20 x 16 x 14 voxels with 2 structures, medians of {ROUNDS} rounds:" in text
    assert "| `compare --numbers-only` |" in text
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) >= 4 and all(len({line.count("|") for line in table}) == 1 for table in tables)
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == sorted(page.PICTURES)
    for name in page.PICTURES:
        assert f"]({name})" in text
        drawn = ElementTree.parse(tmp_path / name).getroot()
        assert any("SegmentMetrics" in (element.text or "") for element in drawn.iter())
