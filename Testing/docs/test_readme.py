"""The README says what is so: its tables are those of today, its commands are one line each, its Python runs."""

from __future__ import annotations

import re

import pages
import pytest
import readme

from SegmentMetricsLib.io import samples
from SegmentMetricsLib.metrics.measurement import typeset

TEXT = readme.README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def testItStaysAFrontPage():
    """What takes more words is in docs/, and linked from here."""
    prose = re.sub(r"^```.*?^```|^\|.*?$", "", TEXT, flags=re.DOTALL | re.MULTILINE)
    assert len(prose.split()) < 1500
    for page in (
        "index",
        "guide/comparing",
        "guide/qa",
        "guide/batch",
        "guide/commandline",
        "guide/recipes",
        "measurements",
    ):
        assert f"(docs/{page}.md)" in TEXT


def testEveryBlockIsRun():
    """By the tests below, by the generator, or, the second one, by continuous integration."""
    languages = [block.language for block in pages.blocks(readme.README)]
    assert languages == ["bash", "bash", "console", "console", "python", "python", "python", "python"]


def testGeneratedPartsAreUpToDate(inOneProcess):
    assert readme.updated(TEXT) == TEXT, "run python Testing/docs/readme.py"


def testTheFirstTwoBlocksAreTheTwoCommands():
    first, second = re.findall(r"^```\w*\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)[:2]
    assert blocks("bash") == [first, second]
    assert first.count("\n") == second.count("\n") == 1
    assert first.rstrip().endswith("segment-metrics demo") and "pytest" in second


def testPicturesExist():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    sizes = [(readme.README.parent / picture).stat().st_size for picture in pictures]
    assert len(sizes) == 5 and max(sizes) < 256_000, "small enough to be looked at anywhere"


def testLinksWithinLeadToHeadings():
    headings = re.findall(r"^#+ (.*)", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= anchors


def testThePythonExamples(tmp_path, capsys):
    console, arrays, nodes, _ = blocks("python")
    # the files that the first command leaves
    samples.writeHeadAndNeck(tmp_path / "segment-metrics-demo")
    with pages.inFolder(tmp_path):
        namespace: dict = {}
        exec(compile(console, "README.md", "exec"), namespace)
    printed = capsys.readouterr().out
    exec(compile(arrays, "README.md", "exec"), namespace)
    assert capsys.readouterr().out == "2.50 mm\n", "a step along the first axis of the array is a slice"
    # the same organ and numbers as in the table above it
    hd95 = re.search(r"^Parotid_L .*", TEXT, re.MULTILINE)[0].split()[2]
    assert printed.startswith(hd95)
    assert "mm" in printed

    slicer = pytest.importorskip("slicer", reason="needs Slicer's classes (extra slicer)")
    from SegmentMetricsLib import mrml

    scene = mrml.ensureScene()
    loaded = []
    for number in (1, 2):
        node, storage = (scene.AddNewNodeByClass(f"vtkMRMLSegmentation{kind}Node") for kind in ("", "Storage"))
        storage.SetFileName(str(tmp_path / "segment-metrics-demo" / f"observer{number}.seg.nrrd"))
        assert storage.ReadData(node)
        loaded.append(node)
    exec(compile(nodes, "README.md", "exec"), {"referenceNode": loaded[0], "testNode": loaded[1]})
    assert scene.GetNumberOfNodesByClass("vtkMRMLTableNode") == 1
    assert isinstance(scene.GetFirstNodeByClass("vtkMRMLModelNode"), slicer.vtkMRMLModelNode)
    scene.Clear(0)


def testTheModuleExample(desktop, capsys):
    import slicer

    desktop.loadModule(readme.README.parent / "SegmentMetrics" / "SegmentMetrics.py")
    *_, module = blocks("python")
    from SegmentMetrics import SegmentMetricsLogic

    nodes = dict(zip(("referenceNode", "testNode"), SegmentMetricsLogic().loadSample()))
    exec(compile(module, "README.md", "exec"), {"slicer": slicer, **nodes})
    first, second = capsys.readouterr().out.splitlines()
    # the summary that the tutorial quotes is that of the tutorial's pair
    quoted = re.search(r"above the table: \*(.*?)\*", TEXT, re.DOTALL)[1]
    assert re.sub(r"\s+", " ", quoted) == typeset(first.split(" ", 1)[1])
    # the panel begins with the first structure that both have
    assert "within 3 mm" in second
