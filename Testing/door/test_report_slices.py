"""The slices of a report: what is drawn is what was measured, on the sides of the patient where it is."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import shapes
from imagefiles import save
from reportpages import contoursOf, cuts, dataOf, decoded, largestOf, linesOf, reportOn, scaleOf
from sayings import says
from tiers import rarely

from SegmentMetricsLib import Grid

FEW = "--metrics", "HD", "--tolerance", 1
ACROSS, DOWN, ROOM = 264, 244, 14
# not symmetric in any direction, so that no mirrored or exchanged axis shows the same
PARTS = (8, (0, 0, 0)), (5, (8, 0, 0)), (4, (0, 9, 0)), (3, (0, 0, 10))


def figuresOf(page: str) -> list[ElementTree.Element]:
    """Return the slices of the only structure: axial, sagittal and coronal."""
    return cuts(page)[0].findall(".//figure")


def titles(page: str) -> list[str]:
    return [figure.find(".//title").text for figure in figuresOf(page)]


def captionOf(figure) -> str:
    return "".join(figure.find("figcaption").itertext())


def captions(page: str) -> list[str]:
    return list(map(captionOf, figuresOf(page)))


def wayOf(figure) -> np.ndarray | None:
    """Return the way in mm, right and down, from the largest distance to the other contour, None if it is not drawn."""
    mark = next(group for group in figure.iter("g") if group.get("class") == "mark")
    start, *end = sorted(mark.findall("circle"), key=lambda circle: circle.get("class") == "end")
    places = [np.array([float(circle.get(name)) for name in ("cx", "cy")]) for circle in (start, *end)]
    return (places[1] - places[0]) / scaleOf(figure) if end else None


def sizeOf(figure, side: str) -> float:
    """Return the area in mm2 that the only line of a side encloses."""
    ((points, isClosed),) = contoursOf(figure)[side]
    x, y = points.T
    assert isClosed
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2 / scaleOf(figure) ** 2


@pytest.mark.parametrize("toward", ["L", "P", "S", *rarely("RAI")])
def testSidesOfThePatientAreWhereTheirLettersAre(toward, tmp_path):
    """In radiological convention: a knob toward a side is drawn where the letter of that side stands."""
    axis, sign = {"L": (0, 1), "R": (0, -1), "P": (1, 1), "A": (1, -1), "S": (2, 1), "I": (2, -1)}[toward]
    knob = shapes.ball(5, 9.0 * sign * np.eye(3)[axis])
    page = reportOn(tmp_path, {"A": (shapes.ball(10), shapes.ball(10) | knob)}, *FEW)
    found = []
    for figure in figuresOf(page):
        places = {text.text: (float(text.get("x")), float(text.get("y"))) for text in figure.iter("text")}
        letters = "".join(letter for letter in places if len(letter) == 1)
        found.append(letters)
        contours = {side: np.concatenate([p for p, _ in lines]) for side, lines in contoursOf(figure).items()}
        for points in contours.values():  # nothing is cut off
            assert (points >= ROOM - 1).all() and (points <= np.array([ACROSS, DOWN]) - ROOM + 1).all()
        if toward in letters:
            number = letters.index(toward)
            column, side = ((0, -1), (0, 1), (1, -1), (1, 1))[number]
            opposite = places[letters[number ^ 1]]
            assert side * (places[toward][column] - opposite[column]) > 200
            r, t = ((side * contours[which][:, column]).max() for which in "rt")
            assert t > r + 3 * scaleOf(figure)
    assert found == ["RLAP", "APSI", "RLSI"]


def testTheWayGoesToTheOtherContour(tmp_path):
    boxes = shapes.boxMesh((0, 0, 0), (20, 20, 20)), shapes.boxMesh((0, 0, 0), (20, 20, 32))
    page = reportOn(tmp_path, {"A": boxes}, *FEW)
    axial, *others = figuresOf(page)
    for figure in others:
        np.testing.assert_allclose(wayOf(figure), (0, 12), atol=0.1)  # down, to I
    # across the axial plane, in which there is the end of the test alone
    assert wayOf(axial) is None and "r" not in contoursOf(axial) and sizeOf(axial, "t") == pytest.approx(400, rel=0.01)
    assert titles(page)[0].startswith("Axial, S 32.0 mm. ")
    says(titles(page)[0], largestOf(page), " 12.00 mm ", "reference", " 12.0 mm ", " I.")
    sides = [[side for side in ("reference", "test") if side in caption] for caption in captions(page)]
    assert sides == [["reference"], [], []] and says(captions(page)[0])
    assert 'class="only' not in ElementTree.tostring(axial, "unicode").replace('class="only test"', "")


@pytest.mark.parametrize("factor", [1, *rarely([0.05, 30])])
def testWhatIsDrawnIsLessThanAFifthOfAPixelOff(factor, tmp_path):
    """And the scale bar is as long as it says."""
    radii = {"r": 24 * factor, "t": 20 * factor}
    balls = [shapes.ballMesh(radius, (3 * factor * n, 0, 0), 100) for n, radius in enumerate(radii.values())]
    page = reportOn(tmp_path, {"A": balls}, "--metrics", "HD", "--tolerance", factor)
    for figure in figuresOf(page):
        scale = scaleOf(figure)
        (text,) = (text.text for text in figure.iter("text") if text.get("class") == "scale")
        assert f"{float(text.removesuffix(' mm')):e}"[0] in "125"
        heights = []
        for side, ((points, isClosed),) in contoursOf(figure).items():
            radius = radii[side]
            between = (points + np.roll(points, -1, axis=0)) / 2
            # the circle through the points: x² + y² = 2 a x + 2 b y + c
            a, b, c = np.linalg.lstsq(np.column_stack([2 * points, np.ones(len(points))]), (points**2).sum(axis=1))[0]
            drawn = np.sqrt(c + a**2 + b**2)
            away = np.linalg.norm(np.concatenate([points, between]) - (a, b), axis=1) - drawn
            assert isClosed and len(points) < 150 and (np.abs(away).max() < 0.25 or drawn < 20)  # pixels
            heights.append(radius**2 - (drawn / scale) ** 2)
        # both are cut by one plane, but for the tip of one
        assert np.ptp(heights) < 0.01 * radii["r"] ** 2 and len(heights) == 2 - (captionOf(figure).count(" mm") > 1)


def testALargeContourIsShownInPart(tmp_path):
    """So that a small largest distance is seen; the place is in sight."""
    size = (90, 90, 40)
    large = shapes.box((5, 5, 5), (84, 84, 34), size)
    page = reportOn(tmp_path, {"A": (large, large | shapes.box((70, 20, 30), (73, 23, 36), size))}, *FEW)
    says(titles(page)[2], " 2.00 mm ")
    coronal = figuresOf(page)[2]
    ring = next(circle for circle in coronal.iter("circle") if circle.get("r") == "5")
    assert ACROSS / scaleOf(coronal) < 50
    assert 30 < float(ring.get("cx")) < ACROSS and 30 < float(ring.get("cy")) < DOWN


def testPicturesSayInWordsWhatTheyShow(tmp_path):
    page = reportOn(tmp_path, {"A": (shapes.ball(10), shapes.ball(14, (2, 2, 2)))}, *FEW)
    assert [wayOf(figure) for figure in figuresOf(page)] == [None] * 3, "it is in none of the planes"
    sentence = largestOf(page)
    for caption, title, name, letters in zip(
        captions(page), titles(page), ("Axial", "Sagittal", "Coronal"), ("IS", "RL", "AP"), strict=True
    ):
        assert re.match(rf"{name}, [{letters}] \d+\.\d mm", caption)
        assert title.partition(".")[0] == caption.partition(".")[0] and sentence and sentence in title
    # names are not repeated, and everything that is used is there
    (block,) = cuts(page)
    names = [element.get("id") for element in block.iter() if element.get("id")]
    assert len(names) == len(set(names))
    assert {use.get("href")[1:] for use in block.iter("use")} <= set(names)
    says("".join(block.find("p").itertext()), "reference", "test")


def testEqualContoursAreShownThroughTheirMiddle(tmp_path):
    ball = shapes.ball(15, (2, 0, 0))
    page = reportOn(tmp_path, {"A": (ball, ball)}, *FEW)
    (block,) = cuts(page)
    assert says(block.find("h3").text) and not list(block.iter("circle"))
    assert [one.strip() for one in captions(page)] == ["Axial, I 0.0 mm", "Sagittal, L 2.0 mm", "Coronal, A 0.0 mm"]
    says("\n".join(titles(page)))
    assert not largestOf(page)


def testOpenSurfacesGiveLinesWithEnds(tmp_path):
    page = reportOn(tmp_path, {"A": (shapes.openBox(), shapes.boxMesh((1, 0, 0), (12, 10, 10)))}, *FEW)
    lines = contoursOf(figuresOf(page)[0])
    assert [isClosed for _, isClosed in lines["r"]] == [False] and [isClosed for _, isClosed in lines["t"]] == [True]
    # they enclose nothing
    assert 'href="#cut0at" class="only test"' in page and 'href="#cut0ar" class="only' not in page
    assert 'id="cut0ac"' not in page
    # nor does anybody know on which side of one a place lies
    places = page[page.index("<h3>Worst places</h3>") :].partition("</table>")[0]
    assert re.search(r">\d+\.\d\d mm<", places) and "+" not in places


def testContoursInAPlaneAreOnePicture(tmp_path):
    plane = {"size": (20, 20, 1), "origin": (0, 0, 45)}
    page = reportOn(tmp_path, {"A": [shapes.box((4, 4, 0), (13, 13 + more, 0), **plane) for more in (0, 3)]}, *FEW)
    (figure,) = figuresOf(page)
    np.testing.assert_allclose(wayOf(figure), (0, 3), atol=0.1)  # down, to P
    assert [sizeOf(figure, side) for side in "rt"] == [pytest.approx(100, abs=1), pytest.approx(130, abs=1)]
    says(cuts(page)[0].find("h3").text)
    assert captions(page)[0].startswith("Axial, S 45.0 mm")
    assert "step0" not in page
    turn = shapes.rotation((1, 1, 0), 30)
    oblique = [shapes.imageOf(shapes.blob(n, (20, 20, 1)), direction=turn) for n in (1, 2)]
    assert not cuts(reportOn(tmp_path / "oblique", {"A": oblique}, *FEW))


def testAtATipThePlaneIsMovedInward(tmp_path):
    spike = shapes.box((29, 29, 40), (30, 30, 58), (60, 60, 60), origin=(-30, -30, -30))
    page = reportOn(tmp_path, {"A": (shapes.ball(12), shapes.ball(12) | spike)}, *FEW)
    axial, sagittal, _ = captions(page)
    at, moved = map(float, re.match(r"Axial, S (\d+\.\d) mm\D* (\d+\.\d) mm\D* I\b", says(axial)).groups())
    assert at + moved == pytest.approx(28.5, abs=0.2) and at < 12 and sagittal.count(" mm") == 1
    assert "t" in contoursOf(figuresOf(page)[0])


@pytest.fixture(scope="module")
def imaged(tmp_path_factory) -> tuple[str, str]:
    """The pages of a pair on an image of the reference, on another, oblique grid, and of the pair alone."""
    folder = tmp_path_factory.mktemp("imaged")
    union = shapes.ball(*PARTS[0])
    for part in PARTS[1:]:
        union = union | shapes.ball(*part)
    pair = {"Part": (union, union | shapes.ball(3, (-9, 2, 1)))}
    turned, steps = shapes.rotation((1, 2, 3), 25), (0.7, 0.8, 0.9)
    origin = -turned @ (np.array(steps) * 30)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = turned * steps, origin
    k, j, i = np.indices((61, 61, 61)).reshape(3, -1)
    points = Grid((61, 61, 61), matrix).toWorld(np.column_stack([i, j, k]))
    inside = np.any([np.linalg.norm(points - center, axis=-1) <= radius for radius, center in PARTS], axis=0)
    values = np.where(inside, 200, -100).astype(np.int16).reshape(61, 61, 61)
    image = shapes.imageOf(values, steps, origin.tolist(), turned)
    ct = save(image, folder / "CT.nrrd")
    return reportOn(folder / "on", pair, *FEW, "--image", ct), reportOn(folder / "alone", pair, *FEW)


def isBright(page: str, codes: np.ndarray, window: str) -> np.ndarray:
    """Return which pixels of a picture are bright as a browser shows it: through the filter of a window."""
    table = re.search(rf'<filter id="{window}".*?tableValues="([^"]*)"', page, re.S)[1]
    return np.array(table.split(), float)[codes] > 0.5


def enclosed(path: str, shape: tuple[int, int], size: tuple[int, int]) -> np.ndarray:
    """Return which pixels of a picture lie inside an SVG path, in tenths of a pixel of a window, by even and odd."""
    rows, columns = shape
    x = (np.arange(columns) + 0.5) * size[0] / columns
    y = (np.arange(rows)[:, None] + 0.5) * size[1] / rows
    inside = np.zeros(shape, bool)
    for points, _ in linesOf(path):
        for (x0, y0), (x1, y1) in zip(points / 10, np.roll(points, -1, axis=0) / 10, strict=True):
            if y0 != y1:
                inside ^= ((y0 <= y) != (y1 <= y)) & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return inside


def areAlike(bright: np.ndarray, path: str, size: tuple[int, int]) -> bool:
    """Return whether the bright part of a picture is what a contour encloses, apart from its edge."""
    inside = enclosed(path, bright.shape, size)
    return inside.sum() > 20 and (bright != inside).sum() < 0.12 * inside.sum() + 8


def testTheImageIsWhereTheContoursAre(imaged, tmp_path):
    page, alone = imaged
    figures = figuresOf(page)
    assert len(figures) == 3
    compared = 0
    for figure in figures:
        (image,) = figure.iter("image")
        codes = decoded(image.get("href").partition(",")[2], tmp_path)
        window = re.fullmatch(r"url\(#(.*)\)", image.get("filter"))[1]
        paths = [path.get("d") for path in figure.iter("path") if (path.get("id") or "").endswith("r")]
        for path in paths:
            assert areAlike(isBright(page, codes, window), path, (ACROSS, DOWN)), figure.find(".//title").text
        compared += len(paths)
    assert compared >= 2
    # without an image all is as before
    assert cuts(alone)[0].get("class") == "cuts" and not list(cuts(alone)[0].iter("image"))


def testEverySliceCanBeSteppedTo(imaged, tmp_path):
    page, alone = imaged
    content = dataOf(page, "step0")
    count = len(content["at"])
    # those of the reference's image that either structure is in, as the images of these balls are of 1 mm
    assert content["at"][0] == "Axial, I 8.0 mm" and content["at"][-1] == "Axial, S 13.0 mm" and count == 22
    assert len(content["images"]) == len(content["reference"]) == len(content["test"]) == count
    window, size = re.search(r'id="step0".*?filter="url\(#([^)]*)\)"', page, re.S)[1], (400, 360)
    for number in range(2, count - 2, 3):
        bright = isBright(page, decoded(content["images"][number], tmp_path), window)
        path = content["reference"][number]
        if enclosed(path, bright.shape, size).sum() > 100:
            assert areAlike(bright, path, size), number
    # the worst slice comes first, and its ring is at the place
    mark = content["marks"][0]
    assert content["first"] == mark["slice"] and [mark["rank"] for mark in content["marks"]][:1] == [1]
    ((place, *_),) = re.findall(r'data-place="1">1</a>.*?([LR] \d+ [AP] \d+ ([IS]) (\d+))<', page, re.S)
    letter, height = place.split()[-2:]
    assert content["at"][mark["slice"]] == f"Axial, {letter} {height}.0 mm"
    plain = dataOf(alone, "step0")
    assert plain["images"] == [] and plain["reference"] == content["reference"]


def testMeshesHaveSlicesOfTheirOwn(tmp_path):
    page = reportOn(tmp_path, {"A": (shapes.ballMesh(20), shapes.ballMesh(20, (2, 0, 0)))}, *FEW)
    content = dataOf(page, "step0")
    assert 35 <= len(content["at"]) <= 61 and all(content["reference"])


@pytest.mark.parametrize(
    ("value", "around", "expected"), [(-780, 30, "lung"), (30, -1000, "soft tissue"), (-1000, 30, "soft tissue")]
)
def testLungIsFirstShownInItsWindow(value, around, expected, tmp_path):
    """Not black in black on paper, where nobody can choose; air around a patient is no lung."""
    values = np.full((61, 61, 61), around, np.int16)
    values[18:43, 18:43, 18:43] = value
    ct = save(shapes.imageOf(values, origin=(-30, -30, -30)), tmp_path / "CT.nrrd")
    page = reportOn(tmp_path, {"A": (shapes.ball(8), shapes.ball(8) | shapes.ball(3, (-9, 2, 1)))}, *FEW, "--image", ct)
    assert re.findall(r'<option selected="">(.*?)</option>', page) == [expected]
    used = set(re.findall(r'<image [^>]*filter="url\(#(.*?)\)"', page))
    assert used == {f"window-{expected.replace(' ', '-')}"}
    assert json.dumps(dataOf(page, "step0")["images"]) != "[]"
