"""The report, in a real browser: it draws, its switches work, it needs nothing from elsewhere and prints."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, compare, inputs
from SegmentMetricsLib.fingerprints import contentHash
from SegmentMetricsLib.protocol.judgment import judgeCase
from SegmentMetricsLib.protocol.protocol import parseProtocol
from SegmentMetricsLib.report.reduction import MOST_TRIANGLES, reduced
from SegmentMetricsLib.settings import DEFAULT_FAMILIES
from SegmentMetricsLib.structures import Structure

pytest.importorskip("plotly", reason="plotly is not installed (extra report)")

from SegmentMetricsLib.report import Report
from SegmentMetricsLib.report.document import MOST_MEASUREMENTS
from SegmentMetricsLib.report.provenance import checksum

NAME = "<script>alert('x')</script> & Ünï"
LONG = "PTV_minus_skin_" * 8


def structure(image, name: str, file: str = "") -> Structure:
    found = inputs.structureFromImage(image, name, None, 0.5)
    return Structure(name, found.mask, file=file)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A report about a ball, a structure that one observer lacks, and contours in one slice."""
    folder = tmp_path_factory.mktemp("report")
    file = folder / "observer one.nrrd"
    file.write_bytes(b"content")
    settings = Settings(tolerances=(1.5,))
    report = Report("Case <7>", settings)
    ball, larger = shapes.ball(12), shapes.ball(14, (2, 0, 0))
    report.add(compare(structure(ball, NAME, str(file)), structure(larger, NAME), settings))
    nothing = shapes.imageOf(np.zeros((60, 60, 60), np.uint8), origin=(-30, -30, -30))
    report.add(compare(structure(ball, LONG), structure(nothing, LONG), settings))
    slices = [shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0], (1, 2)) for seed in (3, 4)]
    report.add(compare(structure(slices[0], "Slice"), structure(slices[1], "Slice"), settings))
    table = f"Structure,Measurement,Relation,Pass,Warn,Source\n{LONG},HD95,<=,3,5,our <b>ward\nSlice,HD95,<=,3,,\n"
    measured = [((one.name, one.name), {"SegmentMetrics": one.measurements}) for one in report.records]
    judgment = judgeCase(parseProtocol(table, "limits.csv"), measured, {})
    report.write(folder / "report.html", judgment, unmatched={"reference": ["Left & over"]})
    return folder / "report.html"


@pytest.fixture(scope="module")
def opened(browser, written):
    """The report, opened once, as it takes long to draw; and what goes wrong in it."""
    page = browser.new_page()
    problems = []
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or problems.append(request.url)
    )
    page.goto(written.as_uri())
    page.wait_for_function("document.body.dataset.stills === 'ready'", timeout=120_000)
    yield page, problems
    page.close()


@pytest.fixture
def page(opened):
    """The report on a screen; anything it says to the console as a problem or asks for elsewhere fails the test."""
    page, problems = opened
    page.set_viewport_size({"width": 1200, "height": 1000})
    page.emulate_media(media="screen")
    page.evaluate("document.querySelector('#structure0 > details').open = true")
    page.wait_for_function("document.querySelector('#map0 canvas')")
    yield page
    assert not problems


def testItIsCompleteInItself(written):
    text = written.read_text("utf-8")
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=", text)
    # whatever structures are called, nothing of it is HTML
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
    assert text.count("<footer>") == 1 and "not a medical device" in text
    assert "Only in the reference: Left &amp; over" in text
    assert re.search(r"<td class=number>[\d.]+ cm³</td>", text) and not re.search(r"\d [mc]m[23]\b", text)


def testTheWorstIsOpen(written):
    text = written.read_text("utf-8")
    assert re.findall(r'id="structure(\d)"><details open>', text) == ["1"]
    # above what is said about the patient and the software
    assert text.index('<p class="headline">') < text.index("not a medical device")


def testItRepeatsWhereLimitsComeFrom(written):
    text = written.read_text("utf-8")
    assert "Source: our &lt;b&gt;ward" in text and text.count(">Source: ") == 1


def testItSaysWhereTheNumbersComeFrom(written):
    text = written.read_text("utf-8")
    assert checksum(written.parent / "observer one.nrrd") in text and "observer one.nrrd" in text
    assert str(written.parent) not in text
    settings = json.loads(re.search(r"<summary>All settings.*?<pre>(.*?)</pre>", text, re.S)[1].replace("&quot;", '"'))
    assert Settings(**settings) == Settings(tolerances=(1.5,), families=(*DEFAULT_FAMILIES, "slices"))


def testTheMapDrawsAndItsSwitchesWork(page):
    figure = page.locator("#map0")
    assert figure.locator("canvas").count() >= 1
    pictures = [figure.screenshot()]
    for switch in ('[data-what="side"][value="test"]', '[data-what="kind"][value="absolute"]'):
        page.locator(".switches").first.locator(switch).check()
        page.wait_for_timeout(500)
        pictures.append(figure.screenshot())
    assert len(set(pictures)) == 3
    shown = "document.getElementById('map0').data.slice(0, 2).map(trace => [trace.name, trace.visible, trace.cmin])"
    assert page.evaluate(shown) == [["reference", False, 0], ["test", True, 0]]
    labels = "document.getElementById('map0').data[1].colorbar.ticktext[0]"
    assert page.evaluate(labels) == "0"
    page.locator(".switches").first.locator('[value="both"]').check()
    assert [row[1] for row in page.evaluate(shown)] == [True, True]


def testColorsOfTheMapAreThoseOfItsBar(browser):
    """Of equal surfaces nearly all pixels have the color of 0, from wherever they are looked at."""
    from plotly.offline import get_plotlyjs

    from SegmentMetricsLib.report import figures

    figure = figures.distanceMap(compare(shapes.ball(15), shapes.ball(15)))
    page = browser.new_page()
    page.set_content('<canvas width="300" height="300"></canvas>')
    page.add_script_tag(content=get_plotlyjs())
    expected = np.array([int(figures.ABSOLUTE[0][n : n + 2], 16) for n in (1, 3, 5)])
    for eye in ((0, -1.4, 0.3), (1.4, 0, 0.3), (0, 1.4, 0.3)):
        figure["layout"]["scene"]["camera"]["eye"] = dict(zip("xyz", eye, strict=True))
        pixels = page.evaluate(PIXELS_OF_A_MAP, figure)
        differences = np.abs(np.reshape(pixels, (-1, 4))[:, :3] - expected).max(axis=1)
        # light before and above: a third of what is seen is a little darker
        assert np.median(differences) < 12 and np.quantile(differences, 0.9) < 40, eye
    page.close()


# What lies in the middle of a map: the half of its width and height that has no bar and no letters.
PIXELS_OF_A_MAP = """async (figure) => {
  const size = { width: 300, height: 300 };
  const drawn = { data: figure.data, layout: { ...figure.layout, ...size }, config: { staticPlot: true } };
  const image = new Image();
  image.src = await Plotly.toImage(drawn, { format: "png", ...size });
  await image.decode();
  const context = document.querySelector("canvas").getContext("2d");
  context.drawImage(image, 0, 0);
  return [...context.getImageData(90, 90, 90, 120).data];
}"""


def testLettersFollowTheCamera(page):
    text = "document.getElementById('map0').data.at(-1).text.join(' ')"
    assert page.evaluate(text) == "R L   I S"
    page.evaluate("Plotly.relayout('map0', {'scene.camera.eye': {x: 1.5, y: 0, z: 0.2}})")
    page.wait_for_function(f"{text} === '  A P I S'")
    page.evaluate("Plotly.relayout('map0', {'scene.camera.eye': {x: 0, y: -1.42, z: 0.27}})")
    page.wait_for_function(f"{text} === 'R L   I S'")


def testSectionsOpenAndClose(page):
    second = page.locator("#structure2")
    assert second.locator("svg.main-svg").count() == 0
    second.locator("summary").click()
    second.locator("svg.main-svg").first.wait_for()
    second.locator("summary").click()
    first = page.locator("#structure0 summary")
    first.click()
    page.wait_for_function("!document.querySelector('#map0 canvas')")
    first.click()
    page.wait_for_function("document.querySelector('#map0 canvas')")


def testNothingIsWiderThanThePage(page):
    """Nor does the long name of a structure push verdicts and reasons out of sight, or off the paper."""
    for width in (1200, 400):
        page.set_viewport_size({"width": width, "height": 900})
        # pictures follow a little later
        page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth", timeout=10_000)
    for media, width in (("screen", 900), ("print", 690)):  # A4 without its margins
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media=media)
        verdicts = page.locator("table").first
        assert verdicts.locator("th").last.inner_text() == "Reason"
        assert verdicts.evaluate("table => table.getBoundingClientRect().right <= window.innerWidth")


def testSentencesHaveALineOfTheirOwnInANarrowWindow(page):
    """Below the rest of their row, whose cells then say what they are."""
    page.set_viewport_size({"width": 490, "height": 900})
    row = page.locator("table.prose tbody tr").first
    sentence = row.locator("td").last.bounding_box()
    assert page.locator("table.prose thead").is_hidden() and sentence["width"] > 420
    cells = [cell.bounding_box() for cell in row.locator("td").all()[:-1] if cell.is_visible()]
    assert all(cell["y"] + cell["height"] <= sentence["y"] + 1 for cell in cells)
    headings = "[...document.querySelectorAll('table.prose tbody tr:first-child td')].map(cell => cell.dataset.head)"
    assert page.evaluate(headings) == [None, "Measurement", "Value", "Limit", "Verdict", None]
    page.set_viewport_size({"width": 800, "height": 900})
    assert page.locator("table.prose thead").is_visible() and row.locator("td").last.bounding_box()["width"] > 150


def testWideTablesScrollOrFitOnPaper(browser, tmp_path):
    from SegmentMetricsLib.report.elements import page as whole
    from SegmentMetricsLib.report.elements import table

    columns = MOST_MEASUREMENTS + 2
    heads = ["Structure", "Volume ref.", "Volume test", *(f"HD{90 + n} (mm)" for n in range(columns - 3))]
    cells = ["Organ", *["123.45\u00a0cm³"] * 2, *["123.45"] * (columns - 3)]
    text = table(heads, 3 * [cells], numbers=range(1, columns))
    path = tmp_path / "wide.html"
    path.write_text(whole("Wide", f'<div class="front"><h2>Overview</h2>{text}</div><p>More</p>'), "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    frame = page.locator(".scroll")
    for width in (1280, 480):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        isWhole = frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth")
        assert isWhole == (width == 1280)
    # what is told of stays in sight
    frame.evaluate("frame => { frame.scrollLeft = 1000 }")
    assert page.locator("td").first.bounding_box()["x"] == pytest.approx(frame.bounding_box()["x"], abs=1)
    page.set_viewport_size({"width": 690, "height": 900})  # A4 without its margins
    page.emulate_media(media="print")
    assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    assert sizesOfPaper(page) == [pytest.approx((595, 842), abs=2)]
    page.close()


def sizesOfPaper(page) -> list[tuple[float, ...]]:
    """Return width and height of the pages that are printed, in points."""
    paper = page.pdf(prefer_css_page_size=True)
    return [tuple(map(float, found)) for found in re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", paper)]


def testPaperHasTwoBriefStructuresOnAPage(browser, tmp_path):
    report = Report("Case", Settings(tolerances=(1.5,)))
    for number, radius in enumerate((14, 9, 9, 9, 9)):
        ball, other = (structure(shapes.ball(size), f"Ball {number}") for size in (8, radius))
        report.add(compare(ball, other, report.settings))
    report.write(tmp_path / "report.html")
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_function("document.body.dataset.stills === 'ready'", timeout=120_000)
    # the overview, the worst one on at most two, the others, and how it was measured
    assert len(sizesOfPaper(page)) <= 1 + 2 + 2 + 1
    page.close()


def testSlicesAreBesideOneAnotherWhereThereIsRoom(page):
    figures = page.locator("#structure0 .slices figure")
    assert figures.count() == 3

    def boxes() -> list[dict]:
        return [figure.bounding_box() for figure in figures.all()]

    def areBeside() -> bool:
        return len({round(box["y"]) for box in boxes()}) == 1

    assert areBeside() and all(250 < box["width"] < 400 for box in boxes())
    page.set_viewport_size({"width": 400, "height": 900})
    assert len({round(box["x"]) for box in boxes()}) == 1 and not areBeside()
    page.set_viewport_size({"width": 690, "height": 900})
    page.emulate_media(media="print")
    assert areBeside() and boxes()[2]["x"] + boxes()[2]["width"] <= 690
    styles = "use => { const style = getComputedStyle(use); return [style.stroke, style.strokeDasharray, style.fill] }"
    lines = [figures.first.locator(f"use.{side}:not(.only)") for side in ("reference", "test")]
    (blue, solid, no), (orange, dashed, _) = (line.evaluate(styles) for line in lines)
    assert blue != orange and solid == "none" and dashed != "none" and no == "none"
    areas = [figures.first.locator(f"use.{side}.only").evaluate(styles) for side in ("reference", "test")]
    assert [[area[0], area[2]] for area in areas] == [["none", blue], ["none", orange]]


def testItLeadsToTheWorst(page):
    """Verdicts at the top and on every section, the worst first, which is open; names lead to their sections."""
    assert page.locator(".headline").inner_text() == "fail: 2 fail, 1 without limits"
    sections = page.locator("section.structure")
    # the structure that one side lacks has no agreement at all
    assert [s.get_attribute("id")[-1] for s in sections.all()] == ["1", "2", "0"]
    assert [s.inner_text() for s in page.locator("summary .verdict").all()] == ["fail", "fail", "no limits"]
    rows = page.locator("h2:text('Overview') + div tbody tr")
    assert [row.locator("td").nth(1).inner_text() for row in rows.all()] == ["fail", "fail", "no limits"]
    closed = page.locator("#structure2 > details")
    closed.evaluate("details => { details.open = false }")
    for table in page.locator("table").all()[:2]:
        table.locator("a:text-is('Slice')").first.click()
        page.wait_for_function("document.querySelector('#structure2 > details').open")
        closed.evaluate("details => { details.open = false }")


def testPaperHasStillPictures(page):
    assert page.evaluate("[...document.querySelectorAll('img.still')].every(i => i.src.startsWith('data:image/'))")
    page.emulate_media(media="print")
    assert page.locator("#map0").is_hidden() and page.locator("#structure0 img.still").first.is_visible()
    # both surfaces of the map, as the error may be on either one only
    both = page.evaluate("[...document.getElementById('map0').nextElementSibling.children].map(still => still.src)")
    assert len(set(both)) == 2
    notice = page.locator(".unready")
    assert notice.is_hidden()
    page.evaluate("delete document.body.dataset.stills")
    assert notice.is_visible()
    page.evaluate("document.body.dataset.stills = 'ready'")
    assert page.pdf(format="A4").startswith(b"%PDF")


def testPaperHasTheNumbersOfWhatDoesNotPass(browser, tmp_path):
    """And where to sign right behind the overview; all numbers if that is wanted."""
    settings = Settings(tolerances=(1.5,))
    report = Report("Case", settings)
    for name, radius in (("Good", 12), ("Bad", 16)):
        report.add(compare(structure(shapes.ball(12), name), structure(shapes.ball(radius), name), settings))
    table = "Structure,Measurement,Relation,Pass,Warn\n*,HD95,<=,2,\n"
    measured = [((one.name, one.name), {"SegmentMetrics": one.measurements}) for one in report.records]
    report.write(tmp_path / "report.html", judgeCase(parseProtocol(table, "limits.csv"), measured, {}))
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_function("document.body.dataset.stills === 'ready'", timeout=120_000)
    headings = page.locator("h2").all_inner_texts()
    assert headings == ["Protocol", "Overview", "Review", "Structures", "How this was measured"]
    page.evaluate("for (const details of document.querySelectorAll('.structure > details')) details.open = true")
    good, bad = (page.locator(f"#structure{n} h3:text('Measurements')") for n in (0, 1))
    assert good.is_visible() and bad.is_visible() and page.locator(".paper").is_hidden()
    page.emulate_media(media="print")
    assert good.is_hidden() and bad.is_visible() and page.locator(".paper").is_visible()
    assert page.locator("#structure0 .stills").first.is_visible()
    # settings as a table, not as a page of JSON
    assert page.locator("pre").is_hidden() and page.locator("td:text-is('Tolerance') + td").inner_text() == "1.5 mm"
    page.emulate_media(media="screen")
    page.locator("[data-paper]").check()
    page.emulate_media(media="print")
    assert good.is_visible() and page.locator(".paper").is_hidden()
    page.close()


def testLongStructuresAreWhollyInThePicture():
    from SegmentMetricsLib.report import figures

    size = (20, 20, 150)
    tubes = [shapes.box((5, 5, 5), (9 + n, 9, 140), size) for n in (0, 1)]
    figure = figures.distanceMap(compare(*tubes))
    scene = figure["layout"]["scene"]
    ranges = {axis: scene[f"{axis}axis"]["range"] for axis in "xyz"}
    lengths = {axis: high - low for axis, (low, high) in ranges.items()}
    assert scene["aspectmode"] == "manual" and scene["aspectratio"]["z"] == 1
    for axis in "xyz":  # one scale for all axes, and room for everything
        assert scene["aspectratio"][axis] == pytest.approx(lengths[axis] / lengths["z"], rel=1e-3)
        letters = figure["data"][-1][axis]
        assert ranges[axis][0] < min(letters) and max(letters) < ranges[axis][1]
    assert lengths["x"] < lengths["z"] / 2


def testPlacesAreWrittenAsInThePanel():
    from SegmentMetricsLib.metrics.places import positionText
    from SegmentMetricsLib.report.document import _places

    record = compare(shapes.ball(10), shapes.ball(14, (2, 0, 0)), Settings(tolerances=(1.0,))).record()
    text = _places(record)
    assert f"<td class=number>{positionText(record.worstPlaces[0].position)}</td>" in text and "<td>left</td>" in text


def testPlacesHaveASignOnlyWhereThereAreSides():
    """Of an open surface nobody can tell on which side of it a place lies."""
    from SegmentMetricsLib.report.document import _places

    record = compare(shapes.boxMesh((0, 0, 0), (10, 10, 10)), shapes.openBox(), Settings(tolerances=(0.5,))).record()
    assert record.worstPlaces and not record.hasSides
    assert re.search(r">\d+\.\d\d mm<", _places(record)) and "+" not in _places(record)


def testSegmentsOfNoFileAreToldByTheirContents():
    report = Report("Case", Settings(families="overlap"))
    ball, larger = shapes.ball(12), shapes.ball(14, (2, 0, 0))
    report.add(compare(structure(ball, "Ball"), structure(larger, "Ball"), report.settings))
    text = report.page(None, {}, {}, ())
    assert "Input files" not in text
    assert f"{structure(ball, 'Ball').mask.count} voxels of 1 x 1 x 1 mm" in text
    digests = [contentHash(structure(image, "")).hexdigest() for image in (ball, larger, shapes.ball(12))]
    assert digests[0] == digests[2] != digests[1]
    assert all(f"<code>{digest}</code>" in text for digest in digests)


def testTheLargestDistanceIsSaidInALine():
    from SegmentMetricsLib.metrics.places import positionText
    from SegmentMetricsLib.report.document import _pictures

    plain = shapes.box((5, 5, 5), (14, 14, 14), (20, 20, 40))
    longer = shapes.box((5, 5, 5), (14, 14, 24), (20, 20, 40))
    text = _pictures(compare(plain, longer), 3)
    line = re.search(r"<p>Largest distance:( .*?)</p>", text)[1]
    assert re.fullmatch(r" 10\.00 mm at L \d+ P \d+ S 2[45], on the test's contour\.", line)
    assert 'name="side3" data-what="side" value="test" checked data-first' in text
    # of all places of the end, the one that is listed as the worst
    assert f" at {positionText(compare(plain, longer).worstPlaces[0].position)}, " in line
    assert "on the reference's contour" in _pictures(compare(longer, plain), 3)
    assert "Largest distance" not in _pictures(compare(plain, plain), 3)


def testColumnsOfTheOverviewAreOfOneDefinition():
    from SegmentMetricsLib.report.document import _columns

    settings = [Settings(tolerances=(t,), families=("boundary", "voxel")) for t in (1.0, 2.5)]
    records = [compare(shapes.ball(10), shapes.ball(11), one).record() for one in settings]
    assert [column.head for column in _columns(records, "HD")] == ["HD (mm)"]
    (percentile,) = _columns(records, "HD{percentile}")
    assert percentile.head == "HD95 (mm)" and all(re.fullmatch(r"\d\.\d\d", cell) for cell in percentile.cells)
    (own,) = _columns(records, "NSD_{tolerance}mm")
    assert own.head == "NSD" and [cell.partition("(")[2] for cell in own.cells] == ["1\u00a0mm)", "2.5\u00a0mm)"]
    # beside a tolerance that all have
    settings = [one.changed(tolerances=(2.0, *one.tolerances)) for one in settings] + [
        settings[0].changed(tolerances=2.0)
    ]
    records = [compare(shapes.ball(10), shapes.ball(11), one).record() for one in settings]
    (shared, own) = _columns(records, "NSD_{tolerance}mm")
    assert shared.head == "NSD 2 mm" and all(shared.cells)
    assert own.head == "NSD" and [cell.partition("(")[2] for cell in own.cells] == ["1\u00a0mm)", "2.5\u00a0mm)", ""]


def testTheUnitIsInTheHeadingWhereAllNumbersHaveIt():
    from SegmentMetricsLib.report.document import _columns

    settings = Settings(families=("boundary", "overlap"))
    balls = [shapes.ball(radius) for radius in (2, 14)]
    nothing = shapes.imageOf(np.zeros((60, 60, 60), np.uint8), origin=(-30, -30, -30))
    records = [compare(*pair, settings).record() for pair in zip(balls, (balls[0], nothing), strict=True)]
    (farthest,), (volume,) = (_columns(records, key) for key in ("HD", "VolumeReference"))
    assert (farthest.head, farthest.cells) == ("HD (mm)", ["0.00", "inf"])
    assert volume.head == "Volume ref." and [cell[-3:] for cell in volume.cells] == ["mm³", "cm³"]


def testTheOverviewHasRoomForTheMainMeasurements():
    """What no structure has a value of goes first, and what is left out is named."""
    report = Report("Case", Settings(families="all"))
    report.add(compare(shapes.ball(10), shapes.ball(11), report.settings))
    text = report.page(None, {}, {}, ())
    heads = re.findall(r"<th[^>]*>(.*?)</th>", text[text.index("<h2>Overview</h2>") :].partition("</thead>")[0])
    assert len(heads) == 1 + MOST_MEASUREMENTS and "DSC" in heads and "MSI" in heads
    more = re.search(r"Also measured, in the sections below: (.*?)</p>", text)[1]
    assert more.startswith("SIS, STAR, wDice") and not set(more.split(", ")) & set(heads)


def testMeasurementsBeginWithDistancesAndOverlap():
    report = Report("Case", Settings())
    report.add(compare(shapes.ball(10), shapes.ball(11), report.settings))
    text = report.page(None, {}, {}, ())
    assert text.index("<code>HD95</code>") < text.index("<code>DSC</code>") < text.index("<code>SignedMean</code>")


def testItSaysWhereBothSidesAreFrom():
    """What is not known is left out."""
    head = Report("Case", Settings(), origins=("Observer <1>", "Observer 2"), scene="Case 7.mrb").page(None, {}, {}, ())
    assert "Reference: <b>Observer &lt;1&gt;</b>" in head and "Test: <b>Observer 2</b>" in head
    assert "Scene: <b>Case 7.mrb</b>" in head
    assert "Scene: " not in Report("Case", Settings(), origins=("a", "b")).page(None, {}, {}, ())
    assert '<p class="origins">' not in Report("Case", Settings()).page(None, {}, {}, ())


def testRulesNameTheToolWhoseNumberTheyJudge(tmp_path):
    record = compare(structure(shapes.ball(8), "Ball"), structure(shapes.ball(9), "Ball")).record()
    report = Report("Case", Settings())
    table = "Structure,Measurement,Relation,Pass,Convention\nBall,HD95,<=,2,MedPy\nBall,DSC,>=,0.5,\n"
    measured = [(("Ball", "Ball"), dict.fromkeys(("SegmentMetrics", "MedPy"), record.measurements))]
    report.write(tmp_path / "report.html", judgeCase(parseProtocol(table, "limits.csv"), measured, {}))
    text = (tmp_path / "report.html").read_text("utf-8")
    assert '>HD95 <span class="soft">as by MedPy</span></td>' in text and 'data-head="Measurement">DSC</td>' in text


def testSizesOfPatches():
    from SegmentMetricsLib.report.document import _patchSize

    assert [_patchSize(size, 3) for size in (0.2, 5.0, 123.4)] == ["< 0.01 cm²", "0.05 cm²", "1.23 cm²"]
    assert _patchSize(12.34, 2) == "12.3 mm"


def testReducedSurfacesKeepShapeAndDistances():
    comparison = compare(shapes.ball(25), shapes.ball(22))
    for direction, radius in zip(comparison.distances.directions, (25, 22), strict=True):
        surface = reduced(direction)
        assert len(surface.triangles) <= 1.01 * MOST_TRIANGLES < len(direction.surface.cells)
        np.testing.assert_allclose(np.linalg.norm(surface.points, axis=1), radius, atol=0.6)
        np.testing.assert_allclose(surface.signed, -3, atol=1)
        # inner corners of the steps between voxels are nearer
        assert surface.signed.mean() == pytest.approx(-3, abs=0.25)


def testOnTheCommandLine(withoutPictures, tmp_path, capsys):
    """Compare --report writes the page beside the other results; its settings can be used again."""
    from SegmentMetricsLib import __main__

    images = [shapes.labelImage({1: ((5, 5, 5), (12, 12, high)), 2: ((15, 5, 5), (20, 12, 12))}) for high in (12, 14)]
    paths = [str(tmp_path / f"{name}.nrrd") for name in ("one", "two")]
    for image, path in zip(images, paths, strict=True):
        SimpleITK.WriteImage(image, path)
    out = tmp_path / "out"
    assert __main__.main(["compare", *paths, "--output", str(out), "--report-conventions", "--tolerance", "1.5"]) == 0
    text = (out / "report.html").read_text("utf-8")
    assert text.count('<section class="structure') == 2 and "Slice by slice" in text
    assert "two.nrrd compared with one.nrrd" in text and "MONAI" in text
    assert "Reference: <b>one.nrrd</b>" in text and "Test: <b>two.nrrd</b>" in text
    assert re.findall(r"<td>(\w+\.nrrd)</td><td>(\w+)</td>", text) == [("one.nrrd", "reference"), ("two.nrrd", "test")]
    # the value that the differences are to, and which numbers no run of the tool gives
    assert re.search(r">SegmentMetrics</t.>.*?>Anima</t.>", text, re.S) and "difference from SegmentMetrics" in text
    assert re.search(r'title="HDRFDST@95@: [^"]*in random order[^"]*">[\d.]+ mm\*', text)
    assert "Patient" not in text
    again = tmp_path / "again"
    arguments = ["--output", str(again), "--settings", str(out / "metrics.json"), "--report-patient", "A & B, 1970"]
    assert __main__.main(["compare", *paths, *arguments]) == 0
    assert "<p>Patient: A &amp; B, 1970</p>" in (again / "report.html").read_text("utf-8")
    first, second = (json.loads((folder / "metrics.json").read_text()) for folder in (out, again))
    assert first["settings"] == second["settings"] and first["settings"]["tolerances"] == [1.5]
    assert [p["measurements"] for p in first["pairs"]] == [p["measurements"] for p in second["pairs"]]
    # what is given beside the file counts
    assert __main__.main(["compare", *paths, *arguments, "--tolerance", "3", "--metrics", "boundary"]) == 0
    assert "NSD_3mm" in json.loads((again / "metrics.json").read_text())["pairs"][0]["measurements"]
    (tmp_path / "bad.json").write_text('{"settings": {"tolerances": [-1]}}')
    for file, problem in (("bad.json", "must be greater than 0"), ("one.nrrd", "holds no settings")):
        given = ["compare", *paths, "--output", str(again), "--settings", str(tmp_path / file)]
        assert __main__.main(given) == 2 and problem in capsys.readouterr().err


def testThatOfAnEarlierRunGoes(withoutPictures, tmp_path):
    """Left there, its verdict would seem to be about the new numbers."""
    from SegmentMetricsLib import __main__

    SimpleITK.WriteImage(shapes.box((5, 5, 5), (12, 12, 12)), str(tmp_path / "one.nrrd"))
    given = ["compare", *[str(tmp_path / "one.nrrd")] * 2, "--output", str(tmp_path / "out"), "--metrics", "overlap"]
    page = tmp_path / "out" / "report.html"
    assert __main__.main([*given, "--report"]) == 0 and page.exists()
    assert __main__.main(given) == 0 and not page.exists()
    page.write_text("of somebody else")
    assert __main__.main(given) == 0 and page.read_text() == "of somebody else"


def testOfABatch(tmp_path):
    from SegmentMetricsLib import __main__

    paths = [tmp_path / f"{name}.nrrd" for name in ("one", "two")]
    for high, path in zip((12, 14), paths, strict=True):
        SimpleITK.WriteImage(shapes.box((5, 5, 5), (12, 12, high)), str(path))
    lines = ["case,reference,test", "../odd/case,one.nrrd,two.nrrd", "missing,one.nrrd,three.nrrd"]
    (tmp_path / "cases.csv").write_text("\n".join(lines))
    out = tmp_path / "out"
    given = ["batch", str(tmp_path / "cases.csv"), "--output", str(out), "--report", "--workers", "1"]
    assert __main__.main(given) == 1
    (page,) = set((out / "reports").iterdir()) - {out / "reports" / "index.html"}
    text = page.read_text("utf-8")
    assert page.parent == out / "reports" and "../odd/case" in text
    assert "Reference: <b>one.nrrd</b>" in text and "Test: <b>two.nrrd</b>" in text
