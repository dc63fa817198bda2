"""The benchmark: quick mode on a tiny pair, SegmentMetrics alone; what it writes, not how long anything took."""

from __future__ import annotations

import json
import sys

import pytest

pytestmark = pytest.mark.nightly

ROUNDS = 2
TINY = {"radii": (5.0, 4.0, 6.0), "error": 2.0, "wobble": 0.5}


@pytest.fixture(scope="module")
def modules(benchmark):
    return benchmark("pairs"), benchmark("peers"), benchmark("run")


@pytest.fixture(scope="module")
def written(modules, tmp_path_factory):
    """The JSON and the page of a run on a tiny pair and on a case of two."""
    pairs, peers, run = modules
    folder = tmp_path_factory.mktemp("benchmark")
    one, other = pairs.Blob("tiny", **TINY).pair(), pairs.Blob("other", spacing=(1.0, 1.0, 2.0), **TINY).pair()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "generated", lambda quick: [pairs.Case("one", (one,)), pairs.Case("two", (one, other))])
        patch.setattr(run, "QUICK_ROUNDS", ROUNDS)
        # every tool starts processes of its own
        ours = (peers.OURS, peers.OURS_WITHOUT_BANDS, peers.ON_MESHES[0])
        patch.setattr(peers.Tool, "isInstalled", property(lambda tool: tool.name in ours))
        patch.setattr(run, "QUICK_SIZES", (500, 1000))
        patch.setattr(run.wholeset, "QUICK_SET", ((40, 32, 20), 2))
        run.main(["--quick", "--growth", "--output", str(folder / "made on demand")])
    folder = folder / "made on demand"
    return json.loads((folder / "benchmark.json").read_text("utf-8")), (folder / "performance.md").read_text("utf-8")


def test_missingPeersAreNamed(written):
    others = [name for name in written[0]["missing"] if not name.startswith("SegmentMetrics")]
    assert others == ["pymeshmetrics", "surface-distance", "MONAI", "MedPy", "pymeshmetrics, smoothed meshes"]


def test_everyNumberIsThere(written):
    one, two = written[0]["cases"]
    assert one["triangles"] > 500
    assert two["triangles"] == sum(pair["triangles"] for pair in two["pairs"]) > one["triangles"]
    for case in (one, two):
        for tool in case["tools"].values():
            assert len(tool["coldRounds"]) == len(tool["warmRounds"]) == written[0]["rounds"] == ROUNDS
            assert len(tool["warmPairs"]) == len(tool["values"]) == len(case["pairs"])
            assert min(tool["cold"], tool["warm"], tool["warmRatio"], tool["coldRatio"]) > 0
            if sys.platform == "linux":
                assert tool["peak"] > 0
        assert case["tools"]["SegmentMetrics"]["warmRatio"] == 1
        assert case["tools"]["SegmentMetrics without BIoU"]["warmRatioWithoutBands"] == 1
    assert "segment-metrics compare (other)" in written[0]["startUp"]
    assert all(seconds > 0 for seconds in written[0]["startUp"].values())
    assert written[0]["machine"]["cores"] >= 1


def test_wholeProcessesAreMeasuredInTurns(written):
    found = written[0]["wholeSet"]
    assert list(found["commands"]) == ["compare --numbers-only", "compare"]
    assert found["commands"]["compare --numbers-only"]["ratio"] == 1
    for taken in found["commands"].values():
        assert len(taken["rounds"]) == ROUNDS and min(taken["seconds"], taken["ratio"]) > 0 <= taken["cores"]


def test_withoutBandsMeasuresTheSame(written):
    tools = written[0]["cases"][1]["tools"]
    for everything, withoutBands in zip(
        tools["SegmentMetrics"]["values"], tools["SegmentMetrics without BIoU"]["values"], strict=True
    ):
        assert {"HD", "HD95", "MASD", "ASSD", "NSD_2mm"} == set(withoutBands)
        assert {key: everything[key] for key in withoutBands} == withoutBands
        assert 0 < everything["BIoU_2mm"] < everything["DSC"] < 1


def test_folderWithoutLabelMapsIsNamed(modules, tmp_path):
    pairs, _, _ = modules
    with pytest.raises(FileNotFoundError, match=r"organs_reference_1mm\.nii\.gz"):
        pairs.fromFolder(tmp_path, quick=False)


def test_labelMapsBecomeCases(modules, tmp_path):
    import numpy as np
    import SimpleITK

    pairs, _, _ = modules
    labels = np.zeros((8, 9, 10), np.uint8)
    labels[1:4, 2:5, 3:6], labels[6:8, 2:5, 3:6] = pairs.LIVER, 7
    image = SimpleITK.GetImageFromArray(labels)
    image.SetSpacing((1.0, 1.0, 1.0))
    for which in ("reference", "test"):
        SimpleITK.WriteImage(image, tmp_path / f"organs_{which}_1mm.nii.gz")
        SimpleITK.WriteImage(image, tmp_path / f"organs_{which}.nii.gz")
    (every,) = pairs.fromFolder(tmp_path, quick=False)
    (liver,) = pairs.fromFolder(tmp_path, quick=True)
    assert (liver.name, every.name) == ("liver, 1 x 1 x 1 mm", "2 organs, 1 x 1 x 1 mm")
    assert [pair.arrays[0].sum() for pair in every.pairs] == [27, 18] and len(liver.pairs) == 1
    # cropped with a margin, which may leave the stored image
    assert every.pairs[1].reference.GetSize() == (7, 7, 6)
    assert every.pairs[1].reference.GetOrigin() == (1.0, 0.0, 4.0)


def test_truthIsNear(written):
    for case in written[0]["cases"]:
        for ours, truth in zip(case["tools"]["SegmentMetrics"]["values"], case["truths"], strict=True):
            for key, limit in (("HD95", 0.05), ("MASD", 0.02), ("NSD_2mm", 0.02)):
                assert ours[key] == pytest.approx(truth[key][0], abs=limit)


def test_pageIsMadeOfTheNumbersAlone(written, modules, tmp_path):
    import xml.etree.ElementTree as ElementTree

    import page

    result = json.loads(json.dumps(written[0]))
    page.write(result, tmp_path)
    text = (tmp_path / "performance.md").read_text("utf-8")
    assert "$" not in text and "No other tool was installed." in text and "pymeshmetrics was not installed." in text
    assert f"two label maps of 40 x 32 x 20 voxels with 2 structures, medians of {ROUNDS} rounds:" in text
    assert "| `compare --numbers-only` |" in text
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) >= 5 and all(len({line.count("|") for line in table}) == 1 for table in tables)
    pictures = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert pictures == sorted(["performance_times.svg", *(f"performance_{key}.svg" for key in page.SHOWN_ERRORS)])
    for name in pictures:
        assert f"]({name})" in text
        drawn = ElementTree.parse(tmp_path / name).getroot()
        assert any("SegmentMetrics" in (element.text or "") for element in drawn.iter())
    # what was not measured is no reason for having no page
    del result["wholeSet"]
    # a peer that is slower and farther from the truth shows as such
    for case in result["cases"]:
        other = case["tools"]["other"] = json.loads(json.dumps(case["tools"]["SegmentMetrics"]))
        other["warmRatio"] = 7.04
        for values in other["values"]:
            values["HD95"] += 1
    page.write(result, tmp_path)
    text = (tmp_path / "performance.md").read_text("utf-8")
    assert "- other: 7.0 times as long" in text and "Not measured in this run." in text
    rows = page.errorRows(result["cases"], "HD95")
    assert rows[-1][0] == "other" and rows[-1][1] == pytest.approx(1, abs=0.1) and rows[-1][2] is False
