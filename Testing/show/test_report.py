"""The report, in a real browser: it draws, its switches work, it needs nothing from elsewhere and prints."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.protocol.judgment import judgeCase
from SegmentMetricsLib.case.protocol.protocol import parseProtocol
from SegmentMetricsLib.model import inputs
from SegmentMetricsLib.model.structure import Structure
from SegmentMetricsLib.settings.settings import DEFAULT_FAMILIES

pytest.importorskip("plotly", reason="plotly is not installed (extra report)")

from SegmentMetricsLib.show.report import Report
from SegmentMetricsLib.show.report.provenance import checksum

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
    report.write(folder / "report.html", judgment=judgment, unmatched={"reference": ["Left & over"]})
    return folder / "report.html"


def testTheReportShowsWeightsAndScores(tmp_path):
    record = compare(structure(shapes.ball(12), NAME), structure(shapes.ball(14, (2, 0, 0)), NAME))
    for weight, isShown in ((3, True), ("", False)):
        table = f"Structure,Measurement,Relation,Pass,Weight\n*,HD95,<=,100,{weight}\n*,DSC,>=,0.999,\n"
        judgment = judgeCase(
            parseProtocol(table, "limits.csv"), [((NAME, NAME), {"SegmentMetrics": record.measurements})], {}
        )
        report = Report("Case", Settings())
        report.add(record)
        report.write(tmp_path / "report.html", judgment=judgment)
        text = (tmp_path / "report.html").read_text("utf-8")
        # three of four parts of the weight pass
        assert [words in text for words in (">Weight<", ">Score<", ">0.75<", "The score is")] == [isShown] * 4


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
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=(?!\"data:)", text)
    # whatever structures are called, nothing of it is HTML
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
    assert text.count("<footer>") == 1 and "not a medical device" in text
    assert "Only in the reference: Left &amp; over" in text
    assert re.search(r"<td class=number>[\d.]+ cm³</td>", text) and not re.search(r"\d [mc]m[23]\b", text)
    # the worst is open, and the verdict stands above what is said about the patient and the software
    assert re.findall(r'id="structure(\d)">\s*<details open>', text) == ["1"]
    body = text.partition("<body>")[2]
    assert body.index('<p class="headline">') < body.index("not a medical device")
    # where the numbers come from
    assert checksum(written.parent / "observer one.nrrd") in text and "observer one.nrrd" in text
    assert str(written.parent) not in text
    settings = json.loads(re.search(r"<summary>All settings.*?<pre>(.*?)</pre>", text, re.S)[1].replace("&quot;", '"'))
    assert Settings(**settings) == Settings(tolerances=(1.5,), families=(*DEFAULT_FAMILIES, "slices"))


@pytest.mark.smoke
def testTheMapDrawsAndItsSwitchesWork(page):
    figure = page.locator("#map0")
    assert figure.locator("canvas").count() >= 1
    # those of the sides before and behind would lie on the structure
    sides = "document.getElementById('map0').data.at(-1).text.join()"
    assert page.evaluate(sides) == "R,L,,,I,S"
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


def testSectionsOpenAndClose(page):
    second = page.locator("#structure2")
    assert second.locator("svg.flat").first.is_hidden()
    second.locator("summary").click()
    second.locator("svg.flat").first.wait_for()
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


def testSlicesAreSteppedThrough(page):
    """By the slider, the buttons and the worst places, each of which leads to its slice."""
    steps = page.locator("#step0")
    caption, slider = steps.locator("figcaption"), steps.locator("input[type=range]")
    path = "document.querySelector('#step0 figure path.reference').getAttribute('d')"
    first = caption.inner_text()
    assert "the largest distance" in first and len(page.evaluate(path)) > 50
    steps.locator("[data-by='1']").click()
    second = caption.inner_text()
    assert second != first and int(slider.input_value()) == int(re.search(r"slice (\d+) of", second)[1]) - 1
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert caption.inner_text() == first
    page.keyboard.press("Home")
    assert "slice 1 of" in caption.inner_text() and "no reference in this slice" in caption.inner_text()
    page.locator("[data-place]").nth(0).click()
    place = json.loads(page.locator("#step0-data").inner_text())["marks"][1]
    assert place["rank"] == 1 and f"slice {place['slice'] + 1} of" in caption.inner_text()
    ring = steps.locator(".mark circle").last
    assert [float(ring.get_attribute(name)) for name in ("cx", "cy")] == [place["x"], place["y"]]
    steps.locator("[data-worst]").click()
    assert caption.inner_text() == first


def testASignedCopyHoldsWhatWasEntered(page, browser, tmp_path):
    page.locator("#reviewer").fill('Dr. "Jürgen" <Müller>')
    page.locator("#reviewed").fill("2024-05-06")
    page.locator("[value='Accepted with changes']").check()
    page.locator("#comment").fill("Looks right.\n</textarea><script>alert(1)</script>")
    with page.expect_download() as given:
        page.locator("#save").click()
    assert given.value.suggested_filename == "report signed.html"
    given.value.save_as(tmp_path / "signed.html")
    for field in ("reviewer", "reviewed", "comment"):
        page.locator(f"#{field}").fill("")
    copy = browser.new_page()
    problems = []
    copy.on("pageerror", lambda error: problems.append(str(error)))
    copy.goto((tmp_path / "signed.html").as_uri())
    copy.wait_for_function("document.querySelector('.map canvas')", timeout=120_000)
    values = [copy.locator(f"#{field}").input_value() for field in ("reviewer", "reviewed", "comment")]
    assert values[:2] == ['Dr. "Jürgen" <Müller>', "2024-05-06"] and values[2].endswith("<script>alert(1)</script>")
    assert copy.locator("[name=decision]:checked").input_value() == "Accepted with changes"
    assert not copy.locator("#reviewer").is_editable() and copy.locator("#save").is_hidden()
    assert copy.locator(".signed").inner_text().startswith("Saved as a signed copy on 20") and not problems
    assert copy.locator(".map canvas").count() >= 1
    copy.close()


def testPaperHasRoomForAPenAndSaysWhoseItIs(page, written):
    page.set_viewport_size({"width": 690, "height": 900})
    page.emulate_media(media="print")
    millimeter = page.evaluate("""() => {
      const probe = document.body.appendChild(document.createElement("div"));
      probe.style.height = "100mm";
      const height = probe.getBoundingClientRect().height;
      probe.remove();
      return height / 100;
    }""")
    boxes = {name: page.locator(name).bounding_box() for name in ("#signature", "#comment", "#reviewer")}
    assert boxes["#signature"]["height"] >= 15 * millimeter and boxes["#comment"]["height"] >= 15 * millimeter
    styles = "field => { const s = getComputedStyle(field); return [s.borderBottomWidth, s.borderTopWidth] }"
    assert page.locator("#reviewer").evaluate(styles)[0] != "0px" == page.locator("#reviewer").evaluate(styles)[1]
    choices = page.locator(".sign [type=radio]")
    assert choices.count() == 3 and all(one.bounding_box()["width"] > 3 * millimeter for one in choices.all())
    assert page.locator("#step0").is_hidden() and page.locator("#save").is_hidden()
    text = written.read_text("utf-8")
    assert r'@top-left { content: "Case \3c 7\3e "' in text and 'counter(page) " of " counter(pages)' in text


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


def testPaperIsCompleteWithoutAnyScript(page, written, browser):
    """What is printed at once, and by a browser that runs no scripts, has every chart and picture."""
    for shown in (page, browser.new_context(java_script_enabled=False).new_page()):
        shown.goto(written.as_uri())
        shown.emulate_media(media="print")
        for part in ("#structure0 .views img", "#structure0 svg.flat", "#structure2 svg.flat", "#structure1 summary"):
            assert all(one.is_visible() for one in shown.locator(part).all()) and shown.locator(part).count()
        # both surfaces of the map, as the error may be on either one only
        both = shown.locator("#structure0 .views img")
        assert len({one.get_attribute("src") for one in both.all()}) == 2
        assert shown.locator("#map0").is_hidden() and shown.locator(".switches").first.is_hidden()
        date = shown.locator("#reviewed").evaluate("field => [getComputedStyle(field).color, field.type]")
        assert date == ["rgba(0, 0, 0, 0)", "date"]
        assert shown.pdf(format="A4").startswith(b"%PDF")
    shown.close()


def testPaperHasTheNumbersOfWhatDoesNotPass(browser, tmp_path):
    """And where to sign right behind the overview; all numbers if that is wanted."""
    settings = Settings(tolerances=(1.5,))
    report = Report("Case", settings)
    for name, radius in (("Good", 12), ("Bad", 16)):
        report.add(compare(structure(shapes.ball(12), name), structure(shapes.ball(radius), name), settings))
    table = "Structure,Measurement,Relation,Pass,Warn\n*,HD95,<=,2,\n"
    measured = [((one.name, one.name), {"SegmentMetrics": one.measurements}) for one in report.records]
    report.write(tmp_path / "report.html", judgment=judgeCase(parseProtocol(table, "limits.csv"), measured, {}))
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    headings = page.locator("h2").all_inner_texts()
    assert headings == ["Protocol", "Overview", "Review", "Structures", "How this was measured"]
    page.evaluate("for (const details of document.querySelectorAll('.structure > details')) details.open = true")
    good, bad = (page.locator(f"#structure{n} h3:text('Measurements')") for n in (0, 1))
    assert good.is_visible() and bad.is_visible() and page.locator(".paper").is_hidden()
    page.emulate_media(media="print")
    assert good.is_hidden() and bad.is_visible() and page.locator(".paper").is_visible()
    assert page.locator("#structure0 .views").first.is_visible()
    # settings as a table, not as a page of JSON
    assert page.locator("pre").is_hidden() and page.locator("td:text-is('Tolerance') + td").inner_text() == "1.5 mm"
    page.emulate_media(media="screen")
    page.locator("[data-paper]").check()
    page.emulate_media(media="print")
    assert good.is_visible() and page.locator(".paper").is_hidden()
    page.close()
