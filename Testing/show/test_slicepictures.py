"""The slices of a report: what is drawn is what was measured, on the sides of the patient where it is."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.show.report import slicepictures as slices
from SegmentMetricsLib.show.report import sliceviews as views
from SegmentMetricsLib.show.report.sliceviews import Polyline

FEW = Settings(families="boundary")
AXES = {view.name: view for view in views.VIEWS}


def pictures(comparison) -> dict[str, views.Picture]:
    return {picture.view.name: picture for picture in views.picturesOf(comparison)}


def parsed(comparison) -> ElementTree.Element:
    """Return the HTML of the slices, which is XML as well."""
    return ElementTree.fromstring(slices.slicePictures(comparison, "cut0"))


def titles(comparison) -> list[str]:
    return [title.text for title in parsed(comparison).iter("title")]


def awayFrom(points: np.ndarray, line: Polyline) -> np.ndarray:
    """Return how far points (n, 2) are from a line."""
    start = line.points if line.isClosed else line.points[:-1]
    end = np.roll(line.points, -1, axis=0)[: len(start)]
    step = end - start
    along = ((points[:, None] - start) * step).sum(axis=2) / np.maximum((step**2).sum(axis=1), 1e-30)
    places = start + np.clip(along, 0, 1)[..., None] * step
    return np.linalg.norm(points[:, None] - places, axis=2).min(axis=1)


def enclosed(line: Polyline) -> float:
    x, y = line.points.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


@pytest.mark.parametrize("toward", "LRPASI")
def testSidesOfThePatientAreWhereTheirLettersAre(toward):
    """In radiological convention: a knob toward a side is drawn where the letter of that side stands."""
    assert {view.name: view.letters for view in views.VIEWS} == {"axial": "RLAP", "sagittal": "APSI", "coronal": "RLSI"}
    axis, sign = {"L": (0, 1), "R": (0, -1), "P": (1, 1), "A": (1, -1), "S": (2, 1), "I": (2, -1)}[toward]
    center = 9.0 * sign * np.eye(3)[axis]
    comparison = compare(shapes.ball(10), shapes.ball(10) | shapes.ball(5, center), FEW)
    for picture, figure in zip(pictures(comparison).values(), parsed(comparison).findall(".//figure"), strict=True):
        if toward not in picture.view.letters:
            continue
        # left, right, top, bottom
        column, side = ((0, -1), (0, 1), (1, -1), (1, 1))[picture.view.letters.index(toward)]
        reference, test = (np.concatenate([line.points for line in lines]) for lines in picture.contours)
        assert (side * test[:, column]).max() > (side * reference[:, column]).max() + 3
        texts = {text.text: (float(text.get("x")), float(text.get("y"))) for text in figure.iter("text")}
        x, y = np.array(texts[toward]) - (slices.LEFT + slices.ACROSS / 2, slices.TOP + slices.DOWN / 2)
        assert (side * (x, y)[column]) > 100 and abs((x, y)[1 - column]) < 20


def testTheWayGoesToTheOtherContour():
    boxes = shapes.boxMesh((0, 0, 0), (20, 20, 20)), shapes.boxMesh((0, 0, 0), (20, 20, 32))
    comparison = compare(*boxes, FEW.replace(tolerances=(1.0,)))
    largest = views.largestOf(comparison)
    assert (largest.side, largest.distance) == ("test", pytest.approx(12, abs=1e-3))
    found = pictures(comparison)
    for name in ("sagittal", "coronal"):
        np.testing.assert_allclose(found[name].end, (0, 12), atol=1e-2)  # down, to I
    # across the axial plane, in which there is the end of the test alone
    axial = found["axial"]
    assert axial.end is None and axial.behind == pytest.approx(-12, abs=1e-2)
    assert not axial.contours[0] and enclosed(axial.contours[1][0]) == pytest.approx(400, rel=1e-2)
    said = titles(comparison)[0]
    assert said.startswith("Axial, S 32.0 mm. Largest distance: 12.00 mm at ")
    assert said.endswith(" No reference in this plane. Nearest reference point 12.0 mm toward I.")
    text = slices.slicePictures(comparison, "cut0")
    assert text.count("no reference in this plane") == 1 and "no test" not in text
    assert "only in" not in text and 'id="cut0ar"' not in text and 'id="cut0at"' in text and 'id="cut0sr"' in text


def testWhatIsDrawnIsLessThanAFifthOfAPixelOff():
    comparison = compare(shapes.ball(24, (1, 2, 3)), shapes.ball(20), FEW)
    largest, found = views.largestOf(comparison), list(pictures(comparison).values())
    windows = slices.windowsOf(found, largest.distance, 50)
    for picture, window, sides in zip(found, windows, slices.contoursOf(found, windows), strict=True):
        for lines, shown in zip(picture.contours, sides, strict=True):
            (line,), (thin,) = lines, shown
            path = slices.pathOf(shown)
            start = list(map(int, re.match(r"M(-?\d+) ?(-?\d+)l", path).groups()))
            steps = np.reshape([int(n) for n in re.findall(r"-?\d+", path.partition("l")[2])], (-1, 2))
            asWritten = Polyline(np.cumsum([start, *steps], axis=0) * slices.STEP, path.endswith("z"))
            assert asWritten.isClosed and len(thin.points) < len(line.points)
            assert awayFrom(window.pixels(line.points), asWritten).max() < 0.2


def testALargeContourIsShownInPart():
    """So that a small largest distance is seen; the place is in sight."""
    size = (110, 110, 60)
    large = shapes.box((5, 5, 5), (104, 104, 54), size)
    comparison = compare(large, large | shapes.box((90, 20, 50), (93, 23, 56), size), FEW.replace(tolerances=(1.0,)))
    largest = views.largestOf(comparison)
    assert largest.distance == pytest.approx(2, abs=0.01)
    coronal = pictures(comparison)["coronal"]
    (window,) = slices.windowsOf([coronal], largest.distance, 100)
    assert window.isPart and slices.ACROSS / window.scale < 50
    assert (np.abs(window.pixels(np.zeros((1, 2))) - (slices.ACROSS / 2, slices.DOWN / 2)) < 100).all()
    assert "A part of the contours." in titles(comparison)[2]
    (whole,) = slices.windowsOf([coronal], 10.0, 100)
    points = whole.pixels(np.concatenate([line.points for lines in coronal.contours for line in lines]))
    assert not whole.isPart and (points >= slices.ROOM - 1e-6).all()
    assert (points <= np.array([slices.ACROSS, slices.DOWN]) - slices.ROOM + 1e-6).all()


@pytest.mark.parametrize("scale", [0.013, 3.3, 700.0])
def testTheScaleBarIsAsLongAsItSays(scale):
    bar = ElementTree.fromstring(f"<g>{slices.barOf(scale)}</g>")
    length = float(bar.find("text").text.removesuffix(" mm"))
    assert f"{length:e}"[0] in "125" and 0.39 * slices.LONGEST_BAR < length * scale <= slices.LONGEST_BAR + 1e-6
    drawn = float(re.search(r"h([\d.]+)", bar.find("path").get("d"))[1])
    assert drawn == pytest.approx(length * scale, abs=0.06)


def testPicturesSayInWordsWhatTheyShow():
    comparison = compare(shapes.ball(10), shapes.ball(14, (2, 0, 0)), FEW.replace(tolerances=(1.0,)))
    page, sentence = parsed(comparison), views.largestOf(comparison).sentence()
    captions = ["".join(caption.itertext()) for caption in page.iter("figcaption")]
    for caption, title, name, letters in zip(captions, titles(comparison), AXES, ("IS", "RL", "AP"), strict=True):
        assert re.match(rf"{name.capitalize()}, [{letters}] \d+\.\d mm", caption)
        assert title.partition(".")[0] == caption.partition(".")[0] and sentence in title
    # names are not repeated, and everything that is used is there
    names = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(names) == len(set(names))
    assert {use.get("href")[1:] for use in page.iter("use")} <= set(names)
    legend = "".join(page.find("p").itertext())
    assert all(word in legend for word in ("reference", "test", "only reference", "only test", "largest distance"))


def testEqualContoursAreShownThroughTheirMiddle():
    ball = shapes.ball(15, (2, 0, 0))
    text = slices.slicePictures(compare(ball, ball, FEW), "cut0")
    page = ElementTree.fromstring(text)
    assert page.find("h3").text == "Slices through the middle" and "largest" not in text and "circle" not in text
    assert [caption.text.strip() for caption in page.iter("figcaption")] == [
        "Axial, I 0.0 mm",
        "Sagittal, L 2.0 mm",
        "Coronal, A 0.0 mm",
    ]
    assert "The contours are equal." in text


def testOpenSurfacesGiveLinesWithEnds():
    comparison = compare(shapes.openBox(), shapes.boxMesh((1, 0, 0), (12, 10, 10)), FEW)
    lines = pictures(comparison)["axial"].contours
    assert [line.isClosed for line in lines[0]] == [False] and [line.isClosed for line in lines[1]] == [True]
    # they enclose nothing
    text = slices.slicePictures(comparison, "cut0")
    assert 'href="#cut0at" class="only test"' in text and 'href="#cut0ar" class="only' not in text
    assert 'id="cut0ac"' not in text
    ElementTree.fromstring(text)


def testContoursInAPlaneAreOnePicture():
    square, moved = [(0, 0), (10, 0), (10, 10), (0, 10)], [(0, 0), (10, 0), (10, 13), (0, 13)]
    comparison = compare(shapes.loops(square, z=45.0), shapes.loops(moved, z=45.0))
    (picture,) = pictures(comparison).values()
    assert picture.view.name == "axial" and picture.at == 45
    np.testing.assert_allclose(picture.end, (0, 3), atol=1e-6)  # down, to P
    assert [enclosed(*lines) for lines in picture.contours] == [pytest.approx(100), pytest.approx(130)]
    page = parsed(comparison)
    assert page.find("h3").text.startswith("Slice through") and page.find(".//figcaption").text == "Axial, S 45.0 mm"
    turn = shapes.rotation((1, 1, 0), 30)
    oblique = [shapes.imageOf(shapes.blob(n, (20, 20, 1)), direction=turn) for n in (1, 2)]
    assert slices.slicePictures(compare(*oblique), "cut0") == ""
