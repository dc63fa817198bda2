"""Slices on an image and to step through: every picture shows the place that its contours are at."""

from __future__ import annotations

import base64
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import shapes
import SimpleITK
from test_report import structure

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.model.grayimages import GrayImage
from SegmentMetricsLib.show.report import Report, stepping
from SegmentMetricsLib.show.report import slicepictures as slices
from SegmentMetricsLib.show.report.gray import Gray

SETTINGS = Settings(families=("boundary", "overlap"), tolerances=(1.0,))
# not symmetric in any direction, so that no mirrored or exchanged axis shows the same
PARTS = (8, (0, 0, 0)), (5, (8, 0, 0)), (4, (0, 9, 0)), (3, (0, 0, 10))


def isInside(points: np.ndarray) -> np.ndarray:
    return np.any([np.linalg.norm(points - center, axis=-1) <= radius for radius, center in PARTS], axis=0)


@pytest.fixture(scope="module")
def pair():
    union = shapes.ball(*PARTS[0])
    for part in PARTS[1:]:
        union = union | shapes.ball(*part)
    return compare(structure(union, "Part"), structure(union | shapes.ball(3, (-9, 2, 1)), "Part"), SETTINGS)


@pytest.fixture(scope="module")
def gray():
    """The reference as an image on another, oblique grid: 200 inside, -100 outside."""
    turn, spacing = shapes.rotation((1, 2, 3), 25), np.array((0.7, 0.8, 0.9))
    grid = shapes.gridOf((61, 61, 61), spacing, -turn @ (30 * spacing), turn)
    k, j, i = np.indices((61, 61, 61)).reshape(3, -1)
    inside = isInside(grid.toWorld(np.column_stack([i, j, k]))).reshape(61, 61, 61)
    return Gray(GrayImage(np.where(inside, 200, -100).astype(np.int16), grid, name="CT"))


def decoded(data: str, folder) -> np.ndarray:
    path = folder / "picture.jpg"
    path.write_bytes(base64.b64decode(data))
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path)))


def enclosed(path: str, shape: tuple[int, int], size: tuple[int, int]) -> np.ndarray:
    """Return which pixels of a picture lie inside an SVG path, in tenths of a pixel of a window, by even and odd."""
    rows, columns = shape
    x = (np.arange(columns) + 0.5) * size[0] / columns
    y = (np.arange(rows)[:, None] + 0.5) * size[1] / rows
    inside = np.zeros(shape, bool)
    for line in re.findall(r"M(-?\d+) ?(-?\d+)l([^Mz]*)", path):
        start = list(map(int, line[:2]))
        steps = np.reshape([int(n) for n in re.findall(r"-?\d+", line[2])], (-1, 2))
        points = np.cumsum([start, *steps], axis=0) / 10
        for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
            if y0 != y1:
                inside ^= ((y0 <= y) != (y1 <= y)) & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return inside


def areAlike(picture: np.ndarray, gray: Gray, path: str, size: tuple[int, int]) -> bool:
    """Return whether the bright part of a picture is what a contour encloses, apart from its edge."""
    bright = gray.values[picture] > 50
    inside = enclosed(path, picture.shape, size)
    return inside.sum() > 20 and (bright != inside).sum() < 0.12 * inside.sum() + 8


def testTheImageIsWhereTheContoursAre(pair, gray, tmp_path):
    page = ElementTree.fromstring(slices.slicePictures(pair, "cut0", gray))
    images = [image.get("href").partition(",")[2] for image in page.iter("image")]
    paths = {path.get("id"): path.get("d") for path in page.iter("path") if path.get("id")}
    assert len(images) == 3
    for data, name in zip(images, "asc", strict=True):
        if f"cut0{name}r" in paths:
            assert areAlike(decoded(data, tmp_path), gray, paths[f"cut0{name}r"], (slices.ACROSS, slices.DOWN)), name
    assert sum(f"cut0{name}r" in paths for name in "asc") >= 2
    # without an image all is as before
    assert "<image" not in slices.slicePictures(pair, "cut0") and "imaged" not in slices.slicePictures(pair, "cut0")


def testEverySliceCanBeSteppedTo(pair, gray, tmp_path):
    page = ElementTree.fromstring(stepping.stepPictures(pair, "step0", gray))
    content = json.loads(page.find("script").text)
    count = len(content["at"])
    # those of the reference's image that either structure is in, as the images of these balls are of 1 mm
    assert content["at"][0] == "Axial, I 8.0 mm" and content["at"][-1] == "Axial, S 13.0 mm" and count == 22
    assert len(content["images"]) == len(content["reference"]) == len(content["test"]) == count
    size = (stepping.ACROSS, stepping.DOWN)
    for number in range(2, count - 2, 3):
        picture = decoded(content["images"][number], tmp_path)
        path = content["reference"][number]
        if enclosed(path, picture.shape, size).sum() > 100:
            assert areAlike(picture, gray, path, size), number
    # the worst slice comes first, and its ring is at the place
    mark = content["marks"][0]
    assert content["first"] == mark["slice"] and mark["rank"] == 1
    assert content["at"][mark["slice"]] == f"Axial, {'S' if pair.worstPlaces[0].position[2] > 0 else 'I'} " + (
        f"{abs(round(pair.worstPlaces[0].position[2])):.1f} mm"
    )
    ranks = [mark["rank"] for mark in content["marks"]]
    assert ranks == [place.rank for place in pair.worstPlaces[: len(ranks)]]
    plain = json.loads(ElementTree.fromstring(stepping.stepPictures(pair, "step0")).find("script").text)
    assert plain["images"] == [] and plain["reference"] == content["reference"]


def testMeshesHaveSlicesOfTheirOwnAndPlanesHaveNone():
    meshes = compare(shapes.ballMesh(20), shapes.ballMesh(20, (2, 0, 0)), SETTINGS)
    content = json.loads(ElementTree.fromstring(stepping.stepPictures(meshes, "step0")).find("script").text)
    assert 35 <= len(content["at"]) <= 61 and all(content["reference"])
    square = [(0, 0), (10, 0), (10, 10), (0, 10)]
    flat = compare(shapes.loops(square), shapes.loops([(x + 1, y) for x, y in square]), SETTINGS)
    assert stepping.stepPictures(flat, "step0") == ""


def testLungIsFirstShownInItsWindow():
    """Not black in black on paper, where nobody can choose; air around a patient is no lung."""
    inside = shapes.ball(8)
    pair = compare(structure(inside, "Organ"), structure(inside | shapes.ball(3, (-9, 2, 1)), "Organ"), SETTINGS)
    for value, around, expected in ((-780, 30, "lung"), (30, -1000, "soft tissue"), (-1000, 30, "soft tissue")):
        values = np.full((61, 61, 61), around, np.int16)
        values[18:43, 18:43, 18:43] = value
        gray = Gray(GrayImage(values, shapes.gridOf((61, 61, 61), origin=(-30,) * 3), modality="CT"))
        steps = ElementTree.fromstring(stepping.stepPictures(pair, "step0", gray))
        selected = [option.text for option in steps.iter("option") if option.get("selected") is not None]
        cuts = ElementTree.fromstring(slices.slicePictures(pair, "cut0", gray))
        used = {image.get("filter") for shown in (steps, cuts) for image in shown.iter("image")}
        assert (selected, used) == ([expected], {f"url(#window-{expected.replace(' ', '-')})"})


def testAtATipThePlaneIsMovedInward():
    size, spike = (60, 60, 60), shapes.box((29, 29, 40), (30, 30, 58), (60, 60, 60), origin=(-30, -30, -30))
    comparison = compare(shapes.ball(12, size=size), shapes.ball(12, size=size) | spike, SETTINGS)
    page = ElementTree.fromstring(slices.slicePictures(comparison, "cut0"))
    captions = ["".join(caption.itertext()) for caption in page.iter("figcaption")]
    moved = re.search(
        r"Axial, S (\d+\.\d) mm moved (\d+\.\d) mm toward I, as the place itself lies at a tip", captions[0]
    )
    assert moved and float(moved[1]) + float(moved[2]) == pytest.approx(28.5, abs=0.2)
    assert float(moved[1]) < 12 and "moved" not in captions[1]
    widths = [path.get("d") for path in page.iter("path") if path.get("id") == "cut0at"]
    assert len(widths) == 1


def testWhatIsSpecialOfAStructureIsSaid():
    """A profile without a slice in both contours, and volumes of surface and voxels that differ."""
    report = Report("Case", SETTINGS)
    low, high = (shapes.box((5, 5, z), (12, 12, z + 4)) for z in (3, 14))
    small, large = (shapes.box((2, 2, 2), (2 + size, 2 + size, 2 + size)) for size in (2, 18))
    for name, pair in {"Apart": (low, high), "Small": (small, small), "Large": (large, large)}.items():
        report.add(compare(*(structure(image, name) for image in pair), report.settings))
    text = report.page(None, {}, {}, ())
    assert text.count("No slice has both contours") == 1
    told = r"Volumes of reference and test within their surfaces: [\d.]+ mm³ and .*? mm³; of the voxels: "
    assert len(re.findall(told, text)) == 1 and "Volumes are those within the measured surfaces" in text
