"""The report, in a real browser: it draws, its switches work, it needs nothing from elsewhere and prints."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
import shapes
import SimpleITK
from imagefiles import save
from reportpages import reportOn
from sayings import says

from SegmentMetricsLib import Settings
from SegmentMetricsLib.__main__ import main

pytest.importorskip("plotly", reason="plotly is not installed (extra report)")

NAME = "<script>alert('x')</script> & Ünï"
LONG = "PTV_minus_skin_" * 8


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A report about a ball, a structure that one observer lacks, and contours in one slice."""
    folder = tmp_path_factory.mktemp("report")
    ball, larger = (SimpleITK.GetArrayFromImage(shapes.ball(*how)) for how in ((12,), (14, (2, 0, 0))))
    slices = [shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0], (1, 2)) for seed in (3, 4)]
    for side, layers, flat in zip(("ref", "Case <7>"), ((ball, ball, ball), (larger, 0 * ball)), slices, strict=True):
        (folder / side).mkdir(parents=True)
        named = zip((NAME, LONG, "Left & over"), layers)
        segments = [{"Name": name, "ID": n, "Layer": n, "LabelValue": 1} for n, (name, _) in enumerate(named)]
        image = shapes.segmentation(list(layers), segments, origin=(-30, -30, -30))
        save(image, folder / side / "A.seg.nrrd")
        save(flat, folder / side / "Slice.nrrd")
    limits = folder / "limits.csv"
    heading = "Structure,Measurement,Relation,Pass,Warn,Source"
    limits.write_text(f"{heading}\nA {LONG},HD95,<=,3,5,our <b>ward\nSlice,HD95,<=,3,,\n")
    given = ["compare", folder / "ref", folder / "Case <7>", "--report", "--numbers-only", "--tolerance", 1.5]
    assert main([str(one) for one in (*given, "--protocol", limits, "-o", folder / "out")]) == 0
    return folder / "out" / "report.html"


@pytest.fixture(scope="module")
def opened(browser, written):
    """The report, opened once, as it takes long to draw; and what goes wrong in it."""
    page = browser.new_page()
    problems = []
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: asked.url.startswith(("file:", "data:", "blob:")) or problems.append(asked.url))
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
    assert text.count("<footer>") == text.count('<p class="notice">') == 1
    assert re.search(r"<td class=number>[\d.]+ cm³</td>", text) and not re.search(r"\d [mc]m[23]\b", text)
    # the worst is open, and the verdict stands above what is said about the patient and the software
    assert re.findall(r'id="structure(\d)">\s*<details open>', text) == ["1"]
    body = text.partition("<body>")[2]
    assert body.index('<p class="headline">') < body.index('<p class="notice">')
    # where the numbers come from
    for side in ("ref", "Case <7>"):
        file = written.parents[1] / side / "A.seg.nrrd"
        assert hashlib.sha256(file.read_bytes()).hexdigest() in text
    assert str(written.parent) not in text
    settings = json.loads(re.search(r"<pre>(.*?)</pre>", text, re.S)[1].replace("&quot;", '"'))
    assert Settings(**settings) == Settings(tolerances=(1.5,), families=(*Settings().families, "slices"))


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
        assert all(verdicts.locator("tr td:last-child").all_inner_texts()), "the reason is the last"
        assert verdicts.evaluate("table => table.getBoundingClientRect().right <= window.innerWidth")


def testSlicesAreSteppedThrough(page):
    """By the slider, the buttons and the worst places, each of which leads to its slice."""
    steps = page.locator("#step0")
    caption, slider = steps.locator("figcaption"), steps.locator("input[type=range]")
    path = "document.querySelector('#step0 figure path.reference').getAttribute('d')"
    first = caption.inner_text()
    assert len(page.evaluate(path)) > 50
    steps.locator("[data-by='1']").click()
    second = caption.inner_text()
    assert second != first and int(slider.input_value()) == int(re.search(r"(\d+) of", second)[1]) - 1
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert caption.inner_text() == first
    page.keyboard.press("Home")
    assert re.search(r"\b1 of .*reference", caption.inner_text(), re.S)
    page.locator("[data-place]").nth(0).click()
    place = json.loads(page.locator("#step0-data").inner_text())["marks"][1]
    assert place["rank"] == 1 and f" {place['slice'] + 1} of " in caption.inner_text()
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
    assert re.search(r" 20\d\d-", copy.locator(".signed").inner_text()) and not problems
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
    assert re.search(r'@top-left { content: "Case \\3c 7\\3e  [^"]*ref"', text)
    assert re.search(r"counter\(page\)[^;]*counter\(pages\)", text)


def testItLeadsToTheWorst(page):
    """Verdicts at the top and on every section, the worst first, which is open; names lead to their sections."""
    says(page.locator(".headline").inner_text(), "fail", "2", "1")
    sections = page.locator("section.structure")
    # the structure that one side lacks has no agreement at all
    assert [s.get_attribute("id")[-1] for s in sections.all()] == ["1", "2", "0"]
    assert [s.inner_text() for s in page.locator("summary .verdict").all()] == ["fail", "fail", "no limits"]
    rows = page.locator(".front table:not(.prose) tbody tr")
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
        for part in ("0 .pictures img", "0 .pictures svg", "2 svg.flat", "1 summary"):
            found = shown.locator(f"#structure{part}")
            assert all(one.is_visible() for one in found.all()) and found.count()
        assert shown.locator("#map0").is_hidden() and shown.locator(".switches").first.is_hidden()
        date = shown.locator("#reviewed").evaluate("field => [getComputedStyle(field).color, field.type]")
        assert date == ["rgba(0, 0, 0, 0)", "date"]
        assert shown.pdf(format="A4").startswith(b"%PDF")
    shown.close()


def testPaperHasTheNumbersOfWhatDoesNotPass(browser, tmp_path):
    """And where to sign right behind the overview; all numbers if that is wanted."""
    limits = tmp_path / "limits.csv"
    limits.write_text("Structure,Measurement,Relation,Pass,Warn\n*,HD95,<=,2,\n")
    pairs = {"1 good": [shapes.ball(12)] * 2, "2 bad": (shapes.ball(12), shapes.ball(16))}
    reportOn(tmp_path, pairs, "--tolerance", 1.5, "--protocol", limits)
    page = browser.new_page()
    page.goto((tmp_path / "out" / "report.html").as_uri())
    parts = page.locator(".front table, form, section.structure, pre")
    order = parts.evaluate_all("parts => parts.map(part => part.matches('.prose') ? 'verdicts' : part.localName)")
    assert order == ["verdicts", "table", "form", "section", "section", "pre"]
    page.evaluate("for (const details of document.querySelectorAll('.structure > details')) details.open = true")
    good, bad = (page.locator(f"#structure{n} .measured table") for n in (0, 1))
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
