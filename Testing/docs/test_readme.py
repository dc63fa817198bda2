"""The README says what is so: its outputs are those of today, its commands are one line each, its Python runs."""

from __future__ import annotations

import re

import pages
import pytest
import readme
import samplefiles

from SegmentMetricsLib.metrics.measurement import typeset

TEXT = readme.README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return [block.text for block in pages.blocks(readme.README) if block.language == language]


def testItIsReadToItsEnd():
    """What takes more words is in docs/, and linked from here."""
    assert len(TEXT.split()) <= 1000
    for page in (
        "index",
        "measurements",
        "guide/slicer",
        "guide/python",
        "guide/qa",
        "guide/batch",
        "guide/commandline",
    ):
        assert f"(docs/{page}.md)" in TEXT


@pytest.mark.nightly
@pytest.mark.smoke
@pytest.mark.parametrize("path", [readme.README, readme.MEASUREMENTS], ids=lambda path: path.name)
def testGeneratedPartsAreUpToDate(path, inOneProcess):
    assert readme.updated(path) == path.read_text(encoding="utf-8"), "run python Testing/docs/readme.py"


def testTheFirstTwoBlocksAreTheTwoCommands():
    first, second = re.findall(r"^```\w*\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)[:2]
    assert blocks("bash") == [first, second]
    assert first.count("\n") == second.count("\n") == 1
    assert first.rstrip().endswith("segment-metrics demo") and "pytest" in second


def testPictures():
    """Small enough to be looked at anywhere, and made in Slicer."""
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)\n\n(.*)", TEXT)
    assert len(pictures) == 2
    for picture, caption in pictures:
        assert (readme.README.parent / picture).stat().st_size < 256_000 and caption.startswith("*Made in Slicer 5.13")


def testThePythonExample(tmp_path, capsys):
    samplefiles.writeHeadAndNeck(tmp_path / "segment-metrics-demo")  # the files that the first command leaves
    (example,) = blocks("python")
    with pages.inFolder(tmp_path):
        exec(compile(example, "README.md", "exec"), {})
    # the same organ and number as in the table above it
    assert capsys.readouterr().out.startswith(re.search(r"^Parotid_L +\S+ +(\S+ mm)", TEXT, re.M)[1])


def testTheSummaryThatTheTutorialQuotes(desktop):
    desktop.loadModule()
    from SegmentMetrics import SegmentMetricsLogic

    reference, test = SegmentMetricsLogic().loadSample()
    comparison = SegmentMetricsLogic().compareSegments(reference, "Parotid_L", test, "Parotid_L")
    quoted = re.search(r"above the table: \*(.*?)\*", TEXT, re.DOTALL)[1]
    assert re.sub(r"\s+", " ", quoted) == typeset(comparison.summary)
