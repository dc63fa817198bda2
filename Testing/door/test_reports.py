"""Reports as a reader gets them from the commands: complete when they are printed, and fit to be signed."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import shapes
from commandruns import metrics
from imagefiles import save
from reportpages import shown
from sayings import says
from tiers import rarely

from SegmentMetricsLib import Settings, Structure, compare, compareObservers
from SegmentMetricsLib.__main__ import main

PROTOCOL = "Structure,Measurement,Relation,Pass,Warn,Source\n*,DSC,>=,0.9,0.7,our ward\nCord,NSD_1mm,>=,0.99,,a paper\n"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two observers of a cord that one ends earlier, of two small glands, and of a large organ."""
    root, size = tmp_path_factory.mktemp("case"), (60, 60, 100)
    boxes = {
        "Cord": (((28, 28, 5), (33, 33, 90)), ((28, 28, 5), (33, 33, 70))),
        "Gland L": (((5, 5, 40), (6, 9, 44)), ((5, 5, 40), (6, 9, 45))),
        "Gland R": (((50, 5, 40), (51, 9, 44)), ((50, 5, 40), (51, 10, 44))),
        "Organ": (((5, 20, 20), (24, 50, 60)), ((5, 20, 20), (25, 50, 60))),
    }
    for name, both in boxes.items():
        for side, (low, high) in zip(("ref", "test"), both, strict=True):
            (root / side).mkdir(exist_ok=True)
            save(shapes.box(low, high, size), root / side / f"{name}.nrrd")
    (root / "limits.csv").write_text(PROTOCOL)
    return root


@pytest.fixture(scope="module")
def text(folders) -> str:
    given = ["compare", folders / "ref", folders / "test", "--protocol", folders / "limits.csv", "--numbers-only"]
    assert main([*map(str, given), "--report", "-o", str(folders / "out")]) == 0
    return (folders / "out" / "report.html").read_text("utf-8")


def testEveryPictureIsInThePageFromTheStart(text):
    titles = set()
    for section in re.findall(r'<section class="structure.*?</section>', text, re.S):
        # both surfaces, as the error may be on either one only
        assert len(set(re.findall(r'<img [^>]*src="(data:image/[^"]*)', section))) == 2
        charts = re.findall(r'<svg class="flat".*?</svg>', section, re.S)
        found = [ElementTree.fromstring(chart) for chart in charts]
        titles.add("\n".join(one.find("title").text for one in found))
        assert found[0].findall("rect") and found[1].findall("g")
    says(*titles)


def testThePageIsForWhoSignsIt(folders, text):
    page = shown(text)
    (finding,) = metrics(folders / "out")["pairs"][0]["findings"]
    assert finding["text"].partition(" (--")[0] + "." in page and not re.search(r"--[a-z]", page)
    assert not [where for where in finding["values"]["where"].values() if where in page]
    # once for all, and which they are only if it is unfolded
    summary, folded = re.search(r'<details class="small"><summary>(.*?)</summary>(.*?)</details>', text, re.S).groups()
    assert page.count(says(summary, 2, 4).partition(". ")[2]) == 1
    assert re.search(r"Gland L: 50 [a-z]+, 2 [a-z ]+ 60", shown(folded)) and len(re.findall(r"2 [a-z ]+ 60", page)) == 2
    assert ": [1] our ward; [2] a paper" in page
    assert '<input id="reviewed" type="date"' in text


def testAColumnHasOneUnit(text):
    table = text[text.rindex("<table", 0, text.index("Volume ref. (cm³)")) :].partition("</table>")[0]
    assert not re.search(r"<td[^>]*>[^<]*m[m²³]", table)
    assert "NSD 1 mm" in table or "NSD (at mm)" in table
    (small,) = re.findall(r"Gland L.*?</tr>", table, re.S)
    assert re.search(r">0\.0\d\d<", small)


@pytest.mark.nightly
def testPaperNeedsNoSecondTime(browser, folders, text):
    """Printed as soon as it is loaded, with scripts and without them, it has the same pages: one a structure."""
    pages = []
    for hasScripts in (True, False):
        page = browser.new_context(java_script_enabled=hasScripts).new_page()
        page.goto((folders / "out" / "report.html").as_uri())
        paper = page.pdf(prefer_css_page_size=True)
        pages.append(len(re.findall(rb"/MediaBox", paper)))
        page.close()
    # limits, overview and where to sign; what does not pass; the others; how it was measured
    assert pages[0] == pages[1] <= 1 + 3 + 1 + 1


def observer(name: str, shift: int = 0, size: int = 10) -> Structure:
    return shapes.structureOf(shapes.box((8 + shift, 8, 8), (7 + shift + size, 17, 17), (30, 30, 30)), name)


@pytest.mark.parametrize("metrics", ["DSC", *rarely(["boundary"])])
def testATestThatCopiesAnObserverIsCalledThat(metrics):
    panel = [observer("Box", shift) for shift in (0, 1, 2)]
    for copied, flattered in ((observer("Box", 1), True), (observer("Box", 1, 11), False)):
        study = compareObservers(panel, Settings(metrics=metrics), names=["Ann", "Ben", "Cleo", "AI"], tests=[copied])
        remarks = [text for found in study for text in found.remarks if "AI" in text and "Ben" in text]
        assert len(remarks) == flattered


def cropped(array, low, high, isMoved: bool):
    low, high = np.array(low), np.array(high)
    part = array[tuple(slice(a, b) for a, b in zip(low[::-1], high[::-1], strict=True))]
    spacing = np.array((1.0, 1.5, 2.0))
    return shapes.imageOf(part, spacing, tuple((low * spacing if isMoved else 0 * spacing).tolist()))


@pytest.mark.parametrize(
    ("low", "high", "isMoved", "isTold"),
    [
        ((6, 4, 3), (34, 33, 30), False, True),
        ((12, 10, 10), (34, 33, 30), False, True),  # so far that nothing overlaps
        ((2, 0, 0), (40, 36, 32), False, True),  # on one side only
        ((6, 4, 3), (34, 33, 30), True, False),
        ((0, 0, 0), (34, 33, 30), False, False),  # at the far ends, where the origin stays
        ((0, 0, 0), (40, 36, 32), False, False),
    ],
)
def testACroppedPredictionWhoseOriginStayedIsTold(low, high, isMoved, isTold):
    array = np.zeros((32, 36, 40), bool)
    array[12:22, 12:24, 14:26] = True
    test = array.copy()
    test[12, 12, 14:20] = False  # as no prediction is perfect
    whole, part = cropped(array, (0, 0, 0), (40, 36, 32), True), cropped(test, low, high, isMoved)
    for which, pair in (("test", (whole, part)), ("reference", (part, whole))):
        findings = compare(*pair, Settings(metrics="DSC")).findings
        assert [one.values["which"] for one in findings if one.kind.name == "CROPPED"] == [which] * isTold
