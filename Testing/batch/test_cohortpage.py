"""The page about all cases: its content, and what it shows in a browser."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
import shapes
from batchruns import outcome

from SegmentMetricsLib import compare
from SegmentMetricsLib.batch.alarms import SHORT
from SegmentMetricsLib.batch.cohortpage import CohortPage
from SegmentMetricsLib.batch.statistics import Cohort, compareMethods
from SegmentMetricsLib.batch.summaryoptions import Options
from SegmentMetricsLib.metrics.findings import Finding, Kind
from SegmentMetricsLib.show.report.index import CaseLine, indexOf
from SegmentMetricsLib.show.report.slicepictures import thumbnail

PICTURE = {"view": "axial", "reference": "M100 100l900 0l0 900z", "test": "M200 100l900 0l0 900z"}


def cases() -> list[dict]:
    """Return eight cases with two structures and two methods: one misses a structure once, and one has an alarm."""
    rows = []
    for number in range(8):
        for method, shift in (("net <1>", 0), ("atlas", 0.1)):
            both = [
                outcome(f"case {number}", {"DSC": 0.9 - number / 50 - shift, "HD95": 1 + number + shift}, method, name)
                for name in ("Eye", "Lens </script>")
            ]
            pairs = [one["pairs"][0] | {"thumbnail": PICTURE} for one in both]
            if (number, method) == (2, "atlas"):
                pairs[1] = outcome("", {"DSC": 0.0, "HD95": math.inf}, name="Lens </script>")["pairs"][0]
                missing = [pairs.pop() | {"missing": "test"}]
            else:
                missing = []
            if (number, method) == (7, "net <1>"):
                pairs[0]["findings"] = [Finding.of(Kind.OTHER_PATIENTS).toDictionary()]
            given = {"case": f"case {number}", "method": method, "report": f"case {number} {method}.html"}
            rows.append({**given, "pairs": pairs, "missing": missing})
    return rows


@pytest.fixture(scope="module")
def content() -> dict:
    rows = cases()
    cohort, page = Cohort(), CohortPage()
    for row in rows:
        page.add(row, cohort.add(row))
    return page.content(cohort, Options(), compareMethods(cohort))


def testContent(content):
    assert content["cases"] == [f"case {n}" for n in range(8)] and content["methods"] == ["net <1>", "atlas"]
    assert content["structures"] == ["Eye", "Lens </script>"] and content["first"] == "DSC"
    assert [one["key"] for one in content["measurements"]] == ["HD95", "DSC"]
    assert len(content["values"]["DSC"]) == 32 and [2, 1, 1, "inf"] in content["values"]["HD95"]
    assert content["missing"] == {"2,1,1": "missing in the test"}
    assert content["pairs"]["7,0,0"]["alarm"] == SHORT[Kind.OTHER_PATIENTS] and content["pairs"]["7,1,0"]["number"] == 1
    assert content["reports"]["3,1"] == "case 3 atlas.html"
    pictured = {at for at, pair in content["pairs"].items() if {"picture", "typical"} & set(pair)}
    # the worst four and the best two of each method and structure, no others
    assert {"0,0,0", "1,0,0", "7,0,0", "4,0,0"} <= pictured and "3,0,0" not in pictured
    assert {(test["structure"], test["measurement"]) for test in content["tests"]} == {
        (name, key) for name in content["structures"] for key in ("HD95", "DSC")
    }
    assert json.dumps(content, allow_nan=False)


@pytest.mark.parametrize(("low", "view"), [((8, 8, 12), "sagittal"), ((9, 8, 8), "axial")])
def testThumbnailsShowBothContours(low, view):
    """At the upper end only one of them is in the axial slice."""
    pair = [shapes.box(at, tuple(np.add(at, 7))) for at in ((8, 8, 8), low)]
    found = thumbnail(compare(*pair))
    assert found["view"] == view and found["reference"] and found["test"]


def testThePageHoldsTheNumbersSafely(content):
    text = indexOf([CaseLine("a", "", "1", "", "")], "x", content)
    (held,) = re.findall(r'<script id="cohort-data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert "<" not in held and json.loads(held) == json.loads(json.dumps(content))
    assert not re.search(r"https?://(?!www\.w3\.org)|<script src|<link", text)


@pytest.mark.nightly
@pytest.mark.parametrize("width", [1280, 390])
def testInABrowser(content, browser, tmp_path, width):
    path = tmp_path / "index.html"
    long = "a_very_long_name_of_a_patient_" * 5
    path.write_text(indexOf([CaseLine(long, "", "2", "Fine.", "")], "Study", content), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    heat = page.locator("#heat tbody tr")
    assert heat.count() == 8 and page.locator("#heat td").count() == 32
    assert page.locator("#heat td.missing").count() == 1 and page.locator("#heat td.alarm").count() == 1
    assert SHORT[Kind.OTHER_PATIENTS] in page.locator("#alarms").inner_text()
    cards = page.locator("#extremes figcaption b").all_inner_texts()
    assert cards[0] == "Worst: missing in the test" and cards[-1].startswith("Best: 0.9") and len(cards) == 6
    assert page.locator("#boxes rect:visible").count() == 4
    assert page.locator("#tests tbody tr").count() == 2
    page.select_option("#choose-measurement", "HD95")
    page.select_option("#choose-structure", "Eye")
    page.select_option("#choose-method", "atlas")
    page.select_option("#choose-order", "worst")
    assert page.locator("#heat td").count() == 8 and page.locator("#boxes rect:visible").count() == 1
    # from the worst down, with the link to the structure in the report of the case
    assert heat.first.locator("th").inner_text() == "case 7"
    assert heat.first.locator("a").get_attribute("href") == "case%207%20atlas.html#structure0"
    assert heat.first.locator("td").inner_text() == "8.10"
    assert page.locator("#alarms-section").is_hidden()
    assert not errors
    page.close()
