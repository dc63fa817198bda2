"""What is in a report, and when commands write one: read without a browser."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
import shapes
import SimpleITK
from test_report import structure

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.protocol.judgment import judgeCase
from SegmentMetricsLib.case.protocol.protocol import parseProtocol
from SegmentMetricsLib.metrics.findings import split
from SegmentMetricsLib.show.fingerprints import contentHash
from SegmentMetricsLib.show.report import Report, notices
from SegmentMetricsLib.show.report.document import MOST_MEASUREMENTS
from SegmentMetricsLib.show.report.provenance import usedSettings
from SegmentMetricsLib.show.report.reduction import MOST_TRIANGLES, reduce


def testPlacesHaveASignOnlyWhereThereAreSides():
    """Of an open surface nobody can tell on which side of it a place lies."""
    from SegmentMetricsLib.show.report.document import _places

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
    from SegmentMetricsLib.base.texts import positionText

    plain = shapes.box((5, 5, 5), (14, 14, 14), (20, 20, 40))
    longer = shapes.box((5, 5, 5), (14, 14, 24), (20, 20, 40))
    report = Report("Case", Settings())
    text = unescape(report._pictures(compare(plain, longer), 3))
    line = re.search(r"<p>Largest distance:( .*?)</p>", text)[1]
    assert re.fullmatch(r" 10\.00 mm at L \d+ P \d+ S 2[45], on the test's contour\.", line)
    assert 'name="side3" data-what="side" value="test" checked data-first' in text
    # of all places of the end, the one that is listed as the worst
    assert f" at {positionText(compare(plain, longer).worstPlaces[0].position)}, " in line
    assert "on the reference's contour" in unescape(report._pictures(compare(longer, plain), 3))
    assert "Largest distance" not in report._pictures(compare(plain, plain), 3)


def testTheOverviewHasRoomForTheMainMeasurements():
    """What no structure has a value of goes first, and what is left out is named."""
    report = Report("Case", Settings(families="all"))
    report.add(compare(shapes.ball(10), shapes.ball(11), report.settings))
    text = report.page(None, {}, {}, ())
    heads = re.findall(r"<th[^>]*>(.*?)</th>", text[text.index("<h2>Overview</h2>") :].partition("</thead>")[0])
    assert len(heads) == 1 + MOST_MEASUREMENTS and "DSC" in heads and "MSI" in heads
    more = re.search(r"Also measured, in the sections below: (.*?)</p>", text)[1]
    assert more.startswith("SIS, STAR, wDice") and not set(more.split(", ")) & set(heads)


def testRulesNameTheToolWhoseNumberTheyJudge(tmp_path):
    record = compare(structure(shapes.ball(8), "Ball"), structure(shapes.ball(9), "Ball")).record()
    report = Report("Case", Settings())
    table = "Structure,Measurement,Relation,Pass,Convention\nBall,HD95,<=,2,MedPy\nBall,DSC,>=,0.5,\n"
    measured = [(("Ball", "Ball"), dict.fromkeys(("SegmentMetrics", "MedPy"), record.measurements))]
    report.write(tmp_path / "report.html", judgment=judgeCase(parseProtocol(table, "limits.csv"), measured, {}))
    text = (tmp_path / "report.html").read_text("utf-8")
    assert '>HD95 <span class="soft">as by MedPy</span></td>' in text and 'data-head="Measurement">DSC</td>' in text


def testReducedSurfacesKeepShapeAndDistances():
    comparison = compare(shapes.ball(25), shapes.ball(22), Settings(families="boundary"))
    for direction, radius in zip(comparison.distances.directions, (25, 22), strict=True):
        surface = reduce(direction)
        assert len(surface.triangles) <= 1.01 * MOST_TRIANGLES < len(direction.surface.cells)
        np.testing.assert_allclose(np.linalg.norm(surface.points, axis=1), radius, atol=0.6)
        np.testing.assert_allclose(surface.signed, -3, atol=1)
        # inner corners of the steps between voxels are nearer
        assert surface.signed.mean() == pytest.approx(-3, abs=0.25)


def testOnTheCommandLine(withoutPictures, tmp_path):
    """Compare --report writes the page beside the other results."""
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


def testOfABatch(tmp_path, capsys):
    from SegmentMetricsLib import __main__

    paths = [tmp_path / f"{name}.nrrd" for name in ("one", "two")]
    for high, path in zip((12, 14), paths, strict=True):
        SimpleITK.WriteImage(shapes.box((5, 5, 5), (12, 12, high)), str(path))
    image = shapes.imageOf(np.full((8, 8, 8), 40, np.int16), (2, 2, 2), (100, 0, 0))
    SimpleITK.WriteImage(image, str(tmp_path / "CT of another.nrrd"))
    lines = [
        "case,reference,test,image",
        "../odd/case,one.nrrd,two.nrrd,CT of another.nrrd",
        "missing,one.nrrd,three.nrrd,",
    ]
    (tmp_path / "cases.csv").write_text("\n".join(lines))
    out = tmp_path / "out"
    given = ["batch", str(tmp_path / "cases.csv"), "--output", str(out), "--report", "--workers", "1"]
    assert __main__.main(given) == 1
    (page,) = set((out / "reports").glob("*.html")) - {out / "reports" / "index.html"}
    text = page.read_text("utf-8")
    # one plotly for all pages
    assert '<script src="plotly.min.js"></script>' in text and len(text) < 200_000
    assert (out / "reports" / "plotly.min.js").stat().st_size > 1_000_000
    assert page.parent == out / "reports" and "../odd/case" in text
    # the image under the contours is another one, which the list of cases says, too
    assert "Image: <b>CT of another.nrrd</b>" in text and '<image class="gray"' in text
    assert "CT of another.nrrd, does not reach" in text.partition('class="alarms"')[2].partition("</section>")[0]
    index = (out / "reports" / "index.html").read_text("utf-8")
    assert "The whole case: an image of another place." in index
    assert "Alarms: check these cases first." in capsys.readouterr().out
    assert "Reference: <b>one.nrrd</b>" in text and "Test: <b>two.nrrd</b>" in text


PAIR = shapes.box((8, 6, 6), (15, 14, 13), (24, 24, 24)), shapes.box((9, 6, 6), (15, 14, 14), (24, 24, 24))


def told(settings: Settings, measured: Settings | None = None, **more) -> dict[str, str]:
    return dict(usedSettings(settings, [compare(*PAIR, measured or settings, **more).record()]))


def testOnlyWhatDecidesNumbersIsTold():
    assert told(Settings(families="boundary")) == {
        "Measured as": "SegmentMetrics",
        "Families of measurements": "boundary",
        "Tolerance": "2 mm",
        "Percentile of the Hausdorff distance": "95 %",
        "Surface": "unsmoothed",
        "Extent": "whole",
    }
    assert list(told(Settings()))[:3] == ["Measured as", "Families of measurements", "Tolerance"]
    overlap = told(Settings(families="overlap"))
    assert "Tolerance" not in overlap and "Percentile of the Hausdorff distance" not in overlap


@pytest.mark.parametrize(("kernel", "length"), [("polynomial", "Reach"), ("exponential", "Decay length")])
def testHazardIsToldByItsKernel(kernel, length):
    settings = Settings(families="hazard", critical={"cord": 0.5}, hazardKernel=kernel)
    found = told(settings, criticals={"cord": PAIR[1]})
    assert found["Critical structures"] == "cord (0.5)" and found["Hazard falls with the distance"] == kernel
    assert [name for name in found if name.endswith("of the hazard")] == [f"{length} of the hazard"]


def testWhatAProtocolAskedForIsTold():
    """It measures with tolerances of its own, beside those that were set."""
    assert told(Settings(tolerances=(2,)), Settings(tolerances=(2, 3)))["Tolerance"] == "2 mm, 3 mm"


def testAlarmsStandAboveTheOverviewAndLeadToTheirStructure():
    """Those of the case lead nowhere, those of all structures are said once, and without any there is no block."""

    def report(*pairs) -> Report:
        found = Report("Case", Settings(families=("boundary", "overlap")))
        for pair in pairs:
            found.add(compare(*pair, found.settings))
        return found

    alike, apart = [(shapes.ball(6), shapes.ball(7)), tuple(shapes.ball(5, (x, 0, 0)) for x in (-15, 15))]
    found = report(alike, apart)
    alarms = split(found.records[1].findings)[0]
    text = found.page(None, {}, {}, ())
    block = text[text.index('<section class="alarms">') : text.index("<h2>Overview</h2>")]
    assert "Check this first" in block and "do not overlap at all" in block
    assert block.count('href="#structure1"') == len(alarms) > 1 and "#structure0" not in block
    assert notices.alarms(found.records[:1], ["Only advice."]) == ""
    block = notices.alarms([], [alarms[0], "Only advice."])
    assert alarms[0] in block and "advice" not in block and "href" not in block
    text = report(apart, apart, apart).page(None, {}, {}, ()).partition("<body>")[2]
    said = "The two contours do not overlap at all"
    assert text.count(said) == 4 and text.count(f"<b>All structures</b>: {said}") == 1
    assert text.index('class="alarms"') < text.index(said) < text.index("<h2>Overview</h2>")
