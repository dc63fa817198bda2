"""What is in a report, and when commands write one: read without a browser."""

from __future__ import annotations

import base64
import re
import sys
from html import escape, unescape
from html.parser import HTMLParser

import numpy as np
import pytest
import shapes
import SimpleITK
from findingwork import ofKind
from imagefiles import save
from reportpages import dataOf, decoded, largestOf, reportOn, shown
from sayings import says
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.__main__ import main

FEW = "--metrics", "HD"
WITHIN = "#b9b48a"
BALLS = shapes.ball(6), shapes.ball(8, (2, 0, 0))
PAIR = shapes.box((8, 6, 6), (15, 14, 13), (24, 24, 24)), shapes.box((9, 6, 6), (15, 14, 14), (24, 24, 24))
# It would end an element, an attribute or a script, and it has what templates begin placeholders with.
NAME = "</p></script><i id='x' title=\"y\">$name & ${name}"
SAFE = escape(NAME)


def protocol(folder, *rules: str):
    """Write limits into a file, below the heading of their columns, and return its path."""
    path = folder / "limits.csv"
    path.write_text("\n".join(rules) + "\n", encoding="utf-8")
    return path


def testTheLargestDistanceIsSaidInALine(tmp_path):
    plain, longer = (shapes.box((5, 5, 5), (14, 14, end), (20, 20, 40)) for end in (14, 24))
    for name, pair, side in (("a", (plain, longer), "test"), ("b", (longer, plain), "reference")):
        page = unescape(reportOn(tmp_path / name, {"A": pair}, *FEW))
        # of all places of the end, the one that is listed as the worst
        worst = re.findall(r"<td[^>]*>(L \d+ P \d+ S 2[45])<", page)[0]
        says(largestOf(page), " 10.00 mm ", worst, f"{side}'s")
        if "map0-data" in page:
            assert f'name="side0" data-what="side" value="{side}" checked data-first' in page


def testTheOverviewHasRoomForTheMainMeasurements(tmp_path):
    """What no structure has a value of goes first, and what is left out is named."""
    page = reportOn(tmp_path, {"A": (shapes.ball(5), shapes.ball(6))}, "--metrics", "all")
    heads = re.findall(r"<th[^>]*>(.*?)</th>", page[page.index("<table") :].partition("</thead>")[0])
    assert 'class="alarms"' not in page.partition("<body>")[2]
    assert len(heads) == 13 and "DSC" in heads and "MSI" in heads
    lead, more = re.search(r">([^<>]*): (SIS, STAR, wDice, [^<]*)</p>", page).groups()
    assert says(lead) and not set(more.split(", ")) & set(heads)


def testInfiniteNumbersAreShownWithTheirSign(tmp_path):
    ball, nothing = shapes.ball(6), shapes.ball(6) * 0
    for name, pair in (("missed", (ball, nothing)), ("added", (nothing, ball))):
        page = reportOn(tmp_path / name, {"A": pair}, "--metrics", "HD95,SignedMean,DSC")
        cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)
        assert "inf" in cells and ("-inf" in cells) == (name == "missed")


def testRulesNameTheToolWhoseNumberTheyJudge(tmp_path):
    """And the structures that do not pass come first, of which more is printed."""
    rules = "Structure,Measurement,Relation,Pass,Convention", "*,HD95,<=,2,MedPy", "*,DSC,>=,0.1,"
    pairs = {"Ball": (shapes.ball(8), shapes.ball(9)), "Far": (shapes.ball(8), shapes.ball(13))}
    page = reportOn(tmp_path, pairs, *FEW, "--protocol", protocol(tmp_path, *rules))
    assert re.search(r'>HD95 <span class="soft">[^<]* MedPy</span></td>', page)
    assert 'data-head="Measurement">DSC</td>' in page
    assert re.findall(r'<section class="structure( brief)?" id="structure(\d)"', page) == [("", "1"), (" brief", "0")]
    assert ">Weight<" not in page and ">Score<" not in page


def testWeightsAndScoresAreShown(tmp_path):
    rules = "Structure,Measurement,Relation,Pass,Weight", "*,HD95,<=,100,3", "*,DSC,>=,0.999,"
    page = reportOn(tmp_path, {"A": BALLS}, *FEW, "--protocol", protocol(tmp_path, *rules))
    # three of four parts of the weight pass
    assert all(text in page for text in (">Weight<", ">Score<", ">0.75<"))
    (note,) = (note for note in re.findall("<p[^>]*>([^<]*)</p>", unescape(page)) if "0.75" in note)
    says(note)


def testWhatIsSpecialOfAStructureIsSaid(tmp_path):
    """A profile without a slice in both contours, and volumes of surface and voxels that differ."""
    low, high = (shapes.box((5, 5, z), (12, 12, z + 4)) for z in (3, 14))
    small, large = (shapes.box((2, 2, 2), (2 + size, 2 + size, 2 + size)) for size in (2, 18))
    page = reportOn(tmp_path, {"Apart": (low, high), "Small": (small, small), "Large": (large, large)})
    (note,) = re.findall(r"</svg><p>([^<]*)</p>", page)
    (volumes,) = re.findall(r"<p[^>]*>([^<]* mm³[^<]*)</p>", page)
    (overview,) = re.findall(r'</table></div><p class="soft">([^<]*)</p>', page)
    says("\n".join((note, volumes, overview)), " 23.2 mm³", " 27.0 mm³")


def testAlarmsStandAboveTheOverviewAndLeadToTheirStructure(tmp_path):
    """Those of all structures are said once."""
    alike, apart = (shapes.ball(6), shapes.ball(7)), tuple(shapes.ball(5, (x, 0, 0)) for x in (-15, 15))
    (said,) = ofKind(compare(*apart), "no-overlap")
    page = reportOn(tmp_path / "one", {"A": alike, "B": apart}, *FEW)
    block = page[page.index('<section class="alarms">') : page.index("<table")]
    assert said in block
    assert block.count('href="#structure1"') > 1 and "#structure0" not in block
    page = reportOn(tmp_path / "all", {"A": apart, "B": apart, "C": apart}, *FEW).partition("<body>")[2]
    assert page.count(said) == 4 and page.count(f"<b>All structures</b>: {said}") == 1
    assert page.index('class="alarms"') < page.index(said) < page.index("<table")


def told(folder, *options) -> dict[str, str]:
    """Return the settings that the report of a pair tells."""
    page = reportOn(folder, {"A": PAIR, "cord": (PAIR[1], None)}, *options)
    table = page[page.index(">Setting</th>") :].partition("</table>")[0]
    return {label: unescape(value) for label, value in re.findall(r"<td>(.*?)</td><td>(.*?)</td>", table)}


def testOnlyWhatDecidesNumbersIsTold(tmp_path):
    found = told(tmp_path / "boundary", "--metrics", "boundary")
    assert list(found)[:2] == ["Measured as", "Families of measurements"]
    assert found["Measured as"] == "SegmentMetrics" and "boundary" in found["Families of measurements"]
    assert (found["Tolerance"], found["Percentile of the Hausdorff distance"]) == ("2 mm", "95 %")
    assert (found["Surface"], found["Extent"]) == ("unsmoothed", "whole")
    kernels = {"polynomial": "Reach", "exponential": "Decay length"}
    for kernel, length in kernels.items():
        options = "--metrics", "hazard", "--critical", "cord=0.5", "--set", f"hazardKernel={kernel}"
        found = told(tmp_path / kernel, *options)
        assert found["Critical structures"] == "cord (0.5)" and found["Hazard falls with the distance"] == kernel
        assert [name for name in found if name.endswith("of the hazard")] == [f"{length} of the hazard"]
        assert "Percentile of the Hausdorff distance" not in found
    # a protocol asks for tolerances of its own, beside those that were set
    rules = protocol(tmp_path, "Structure,Measurement,Relation,Pass", "*,NSD_3mm,>=,0.1")
    assert told(tmp_path / "protocol", *FEW, "--protocol", rules)["Tolerance"] == "2 mm, 3 mm"


def areas(page: str) -> dict[str, float]:
    """Return how much of the area of a histogram is drawn in each color, of 1 in all."""
    found: dict[str, float] = {}
    for width, height, color in re.findall(r'width="([\d.]+)" height="([\d.]+)" fill="(#\w+)"><title>[\d-]', page):
        found[color] = found.get(color, 0.0) + float(width) * float(height)
    return {color: area / sum(found.values()) for color, area in found.items()}


@pytest.mark.parametrize("tolerance", [3.0, *rarely((0.5, 1.0, 30.0))])
def testWhatIsDrawnAsWithinIsWhatIsWithin(tolerance, tmp_path):
    """Also where bars are wider than the tolerance, whose middles are all beyond it."""
    size = (30, 30, 160)
    near = shapes.box((8, 8, 8), (19, 19, 19), size)
    pair = near, shapes.box((8, 8, 8), (24, 19, 19), size) | shapes.box((4, 4, 100), (26, 26, 150), size)
    page = reportOn(tmp_path, {"A": pair}, *FEW, "--tolerance", tolerance)
    within = compare(*pair, Settings(metrics=f"NSD {tolerance:g} mm"))[f"NSD_{tolerance:g}mm"].value
    assert 0.02 < within < 0.9
    assert areas(page)[WITHIN] == pytest.approx(within, abs=0.01)
    # areas are shares, if bars are of different widths
    bars = [tuple(map(float, one)) for one in re.findall(r"<title>(\S+) [a-z ]+ (\S+) mm: (\S+) %", page)]
    isWide = tolerance < 5
    assert (max(high - low for low, high, _ in bars) > tolerance) == isWide == ("% per mm" in page)
    assert sum(share for *_, share in bars) == pytest.approx(100, abs=0.3)


def ticksOf(page: str) -> list[tuple[float, str]]:
    """Return the numbers at the colors of the flat map: how far along them in percent, and the text."""
    colors = re.search(r'<div class="colors">.*?</div>(.*?)</div>', page, re.S)[1]
    return [(float(at), text) for at, text in re.findall(r'left:([\d.]+)%">(.*?)<', colors)]


@pytest.mark.parametrize("spacing", [1, *rarely([0.1, 7])])
def testTheColorsAreLabeledFromEndToEnd(spacing, tmp_path):
    boxes = [shapes.box((6, 6, 6), (high, 17, 17), spacing=(spacing,) * 3) for high in (12, 17)]
    ticks = ticksOf(reportOn(tmp_path, {"A": boxes}, *FEW))
    values = [float(text.replace("\N{MINUS SIGN}", "-")) for _, text in ticks]
    assert values[-1] == -values[0] >= 5 * spacing and 0 in values and len(values) <= 11
    np.testing.assert_allclose([at for at, _ in ticks], 50 + 50 * np.array(values) / values[-1], atol=0.1)


def testADistanceBeyondTheColorsIsSaid(tmp_path):
    """A thin rod sticks out of the test alone, farther than the colors go."""
    size = (40, 40, 60)
    plain = shapes.box((5, 5, 5), (34, 34, 34), size)
    pair = plain, plain | shapes.box((18, 18, 35), (19, 19, 49), size)
    texts = [text for _, text in ticksOf(reportOn(tmp_path, {"A": pair}, *FEW))]
    assert texts[-1].startswith("≥ ") and float(texts[-1][2:]) < 15 and texts[0].startswith("\N{MINUS SIGN}")


def testTheFlatMapIsSeenFromTheNamedSides(tmp_path):
    """A bump toward A is in the middle from the front, at the edge from the sides, and hidden from behind."""
    pair = shapes.ball(10), shapes.ball(10) | shapes.ball(4, (0, -9, 0))
    page = reportOn(tmp_path, {"A": pair}, *FEW, "--tolerance", 1)
    words, encoded = re.search(r'alt="(Test [^"]*)" src="data:image/jpeg;base64,([^"]*)"', page).groups()
    says(words)
    picture = decoded(encoded, tmp_path).astype(int)
    isOver = picture[..., 0] - picture[..., 2] > 80
    front, left, back, right = (np.nonzero(view)[1] for view in np.split(isOver, 4, axis=1))
    width = picture.shape[1] / 4
    assert abs(front.mean() - width / 2) < 0.1 * width and not len(back)
    assert left.mean() < 0.3 * width and right.mean() > 0.7 * width


def meshesOf(page: str) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Return the points (n, 3), the signed distances (n,), and how many triangles, of both surfaces of the map."""
    found = []
    for mesh in dataOf(page, "map0")["data"][:2]:
        x, y, z, values = (np.frombuffer(base64.b64decode(mesh[key]["bdata"]), "f4") for key in (*"xyz", "intensity"))
        found.append((np.column_stack([x, y, z]), values, len(base64.b64decode(mesh["i"]["bdata"])) // 2))
    return found


def testTheMapThatTurnsKeepsShapeAndDistances(tmp_path):
    """And lies at the origin: plotly.js shades what is far from it as if it were flat; patients may be meters away."""
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    balls = [shapes.ball(radius, (120, 900, -1600), origin=(90, 870, -1630)) for radius in (20, 17)]
    meshes = meshesOf(reportOn(tmp_path, {"A": balls}, *FEW))
    for (points, values, count), radius in zip(meshes, (20, 17), strict=True):
        assert count <= 1.01 * 8000
        np.testing.assert_allclose(np.linalg.norm(points, axis=1), radius, atol=0.7)
        np.testing.assert_allclose(values, -3, atol=1)
        # inner corners of the steps between voxels are nearer
        assert values.mean() == pytest.approx(-3, abs=0.25)


def testABrokenPlotlyIsAsGoodAsNone(tmp_path, monkeypatch):
    (tmp_path / "plotly").mkdir()
    (tmp_path / "plotly" / "__init__.py").write_text("raise ImportError")
    for name in [name for name in sys.modules if name.partition(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    assert '<div class="views">' in reportOn(tmp_path, {"A": PAIR}, *FEW)


def testOnTheCommandLine(tmp_path):
    """Compare writes the page beside the other results, with the other tools if that is asked for."""
    images = [shapes.labelImage({1: ((5, 5, 5), (12, 12, high)), 2: ((15, 5, 5), (20, 12, 12))}) for high in (12, 14)]
    paths = [str(save(image, tmp_path / f"{name}.nrrd")) for image, name in zip(images, ("one", "two"), strict=True)]
    out = tmp_path / "out"
    given = ["compare", *paths, "--output", str(out), "--report-conventions", "--numbers-only", "--tolerance", "1.5"]
    assert main(given) == 0
    text = (out / "report.html").read_text("utf-8")
    assert text.count('<section class="structure') == 2 and 'id="step0"' in text
    assert says(re.search("<h1>(.*?)</h1>", text)[1], "two.nrrd ", " one.nrrd") and "MONAI" in text
    assert "Reference: <b>one.nrrd</b>" in text and "Test: <b>two.nrrd</b>" in text
    assert re.findall(r"<td>(\w+\.nrrd)</td><td>(\w+)</td>", text) == [("one.nrrd", "reference"), ("two.nrrd", "test")]
    # the value that the differences are to, and which numbers no run of the tool gives
    assert re.search(r">SegmentMetrics</t.>.*?>Anima</t.>", text, re.S)
    says(shown(re.search(r'<p class="soft">[^<]* SegmentMetrics; .*?</p>', text)[0]))
    says(re.search(r'title="(HDRFDST@95@: [^"]*)">[\d.]+ mm\*', text)[1])
    assert "Patient" not in text


def testOfABatch(tmp_path, capsys):
    for high, name in zip((12, 14), ("one", "two"), strict=True):
        save(shapes.box((5, 5, 5), (12, 12, high)), tmp_path / f"{name}.nrrd")
    save(shapes.imageOf(np.full((8, 8, 8), 40, np.int16), (2, 2, 2), (100, 0, 0)), tmp_path / "CT of another.nrrd")
    lines = "../odd/case,one.nrrd,two.nrrd,CT of another.nrrd\nmissing,one.nrrd,three.nrrd,"
    (tmp_path / "cases.csv").write_text(f"case,reference,test,image\n{lines}")
    out = tmp_path / "out"
    given = ["batch", str(tmp_path / "cases.csv"), "--output", str(out), "--report", "--workers", "1"]
    assert main(given) == 1
    (page,) = set((out / "reports").glob("*.html")) - {out / "reports" / "index.html"}
    text = page.read_text("utf-8")
    # one plotly for all pages
    assert '<script src="plotly.min.js"></script>' in text and len(text) < 200_000
    assert (out / "reports" / "plotly.min.js").stat().st_size > 1_000_000
    assert "../odd/case" in text and "Reference: <b>one.nrrd</b>" in text and "Test: <b>two.nrrd</b>" in text
    # the image under the contours is another one, which the list of cases says, too
    assert "Image: <b>CT of another.nrrd</b>" in text and '<image class="gray"' in text
    assert "CT of another.nrrd" in text.partition('class="alarms"')[2].partition("</section>")[0]
    index = (out / "reports" / "index.html").read_text("utf-8")
    (checked,) = re.findall(r'<a href="[^"]*case[^"]*">.*?<b>(.*?)</b>', index)
    alarm = says(checked).rpartition(": ")[2].removesuffix(".")
    about = capsys.readouterr().out.partition(f"\n  {alarm} (1): ")[0]
    says(about.splitlines()[-1])


class Elements(HTMLParser):
    """The names of the elements of a page, and of their attributes."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[tuple[str, ...]] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, *(name for name, _ in attributes)))


def pageAbout(name: str, folder) -> str:
    """Return a report in which everything that users name has this name."""
    folder.mkdir()
    paths = []
    for side, radii in (("ref", (6, 6, 4)), ("test", (8, 9))):
        layers = [SimpleITK.GetArrayFromImage(shapes.ball(radius)) for radius in radii]
        segments = [{"Name": f"{name}{n}", "ID": n, "Layer": n, "LabelValue": 1} for n in range(len(radii))]
        paths.append(save(shapes.segmentation(layers, segments, origin=(-30, -30, -30)), folder / f"{side}.seg.nrrd"))
    quoted = name.replace('"', '""')
    rules = "Structure,Measurement,Relation,Pass,Source", f'*,HD,<=,1,"{quoted}"', "*,HD95,<=,1,other"
    given = ["compare", *paths, "--report", "--numbers-only", "--workers", 1, "-o", folder / "out", *FEW]
    given += ["--protocol", protocol(folder, *rules), "--report-patient", name]
    assert main([str(one) for one in given]) == 0
    text = (folder / "out" / "report.html").read_text("utf-8")
    return text[: text.index("<script>")] + text[text.index("</head>") :]


def testNamesDoNotChangeTheElementsOfAReport(tmp_path):
    plain, odd = (pageAbout(name, tmp_path / str(n)) for n, name in enumerate((f"N{'a' * (len(NAME) - 1)}", NAME)))
    assert Elements(odd).found == Elements(plain).found and NAME not in odd and odd.count(SAFE) >= 15
    assert f" {SAFE}2" in odd and f"Patient: {SAFE}" in odd
    # all placeholders of the template files are filled
    rest = re.sub(r'content: "[^"]*"', "", odd.replace(SAFE, ""))  # on paper, as CSS writes it
    assert not re.search(r"\$[a-z{]", rest)
