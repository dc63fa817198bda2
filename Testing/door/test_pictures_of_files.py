"""Pictures of pairs as files: what is seen in them. They need neither Slicer nor a graphics driver."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import command
from imagefiles import save
from sayings import refused, says
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.__main__ import main

BACKGROUND = (251, 252, 253)
# From the lowest to the highest value of each kind of map.
SIGNED = ("#1f3f8f", "#3a76bd", "#77b0dc", "#bcd6dd", "#f1e8ca", "#f6c48d", "#e98a50", "#cc4a31", "#8c1427")
ABSOLUTE = ("#f1e8ca", "#f8cf84", "#f4a653", "#e2733f", "#c14140", "#8d2349", "#551247")
HAZARD = ("#ddd1ab", "#d6bdbf", "#c5a0c4", "#aa7bba", "#8d57a8", "#6c3089", "#4c1768")
TOLERANCE = ("#3a76bd", "#dfe3bd", "#d95f0e")
FEW = Settings(metrics="HD")
KINDS = {"signed": SIGNED, "absolute": ABSOLUTE, "bld": ABSOLUTE, "hazard": HAZARD, "tolerance": TOLERANCE}


@pytest.fixture(scope="module")
def comparison():
    """The test lies 7 mm further to the patient's left, LPS +x, and a critical structure in front of both, LPS -y."""
    settings = Settings(families=("boundary", "overlap", "hazard"))
    vessel = shapes.ball(5, (0, -24, 0))
    return compare(shapes.ball(20), shapes.ball(20, (7, 0, 0)), settings, criticals={"Vessel": vessel})


def read(path) -> np.ndarray:
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))).astype(int)


def near(image, color, tolerance=60) -> np.ndarray:
    """Where a picture has about the hue of a color #rrggbb, whatever the shading."""
    wanted = np.array([int(color[n : n + 2], 16) for n in (1, 3, 5)])
    shade = image / np.maximum(image.max(axis=2, keepdims=True), 1)
    return (np.abs(shade - wanted / wanted.max()).max(axis=2) < tolerance / 255) & (np.ptp(image, axis=2) > 60)


def testThePicture(comparison, tmp_path):
    picture = read(comparison.picture(tmp_path / "Liver.png"))
    assert picture.shape == (700, 1200, 3)
    for y, x in ((0, 0), (0, -1), (-1, 0), (-1, 524), (350, 524), (-1, -1)):
        np.testing.assert_array_equal(picture[y, x], BACKGROUND)
    for side in (picture[88:, :525], picture[88:, 525:1050]):
        assert near(side, SIGNED[-2]).sum() > 500  # too far
        assert near(side, SIGNED[1]).sum() > 100  # not far enough
    # seen from the left front: the patient's left, where the test reaches too far, is at the right
    red, blue = (np.argwhere(near(picture[88:, :525], SIGNED[n]))[:, 1].mean() for n in (-2, 1))
    assert red > blue + 100
    # nothing is cut off, and the structure fills its half
    for edge in (picture[:4], picture[-4:], picture[:, :8], picture[:, -4:], picture[88:, 521:530]):
        assert (edge == BACKGROUND).all(axis=-1).mean() > 0.98
    assert (picture[100:640, 40:500] != BACKGROUND).any(axis=2).mean() > 0.25
    # the legend: a bar, five numbers and a title
    strip = picture[88:560, 1050:]
    bar = np.flatnonzero(near(strip, SIGNED[0]).any(axis=0))
    assert 15 <= np.ptp(bar) <= 30
    letters = strip.max(axis=2) < 100
    letters[:, bar.min() - 2 :] = False
    rows = np.flatnonzero(letters.any(axis=1))
    lines = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    assert len(lines) >= 5 + 1 and 7 <= max(len(line) for line in lines) <= 16


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(640, 400), *rarely([(1500, 600)])])
def testKindsAndSizes(comparison, tmp_path, kind, size):
    image = read(comparison.picture(tmp_path / "picture.png", size=size, kind=kind))
    assert image.shape == (size[1], size[0], 3)
    for color in KINDS[kind][-2 if kind != "tolerance" else -1 :]:
        assert near(image[size[1] // 8 :], color).sum() > 50
    if kind == "tolerance":
        colored = np.ptp(image[60:-50, 30:260], axis=2) > 110
        bands = near(image[60:-50, 30:260], TOLERANCE[0], 70) | near(image[60:-50, 30:260], TOLERANCE[2], 70)
        assert (colored & ~bands).sum() < 0.1 * colored.sum(), "there are no colors between the bands"


def headOf(name: str, folder) -> np.ndarray:
    """Return which pixels above the line are dark in the picture of a pair with that name."""
    pair = (shapes.structureOf(shapes.box((1, 1, 1), (high, 4, 4), (7, 7, 7)), name) for high in (4, 5))
    picture = read(compare(*pair, Settings(metrics="HD95, DSC")).picture(folder / "picture.png"))
    return picture[:80].max(axis=2) < 128


def testTheNameIsWrittenWhereThereIsRoom(tmp_path):
    head = headOf("HD95", tmp_path)[:, :600]
    rows, columns = np.nonzero(head)
    assert rows.max() == pytest.approx(46, abs=1) and columns.min() == pytest.approx(29, abs=3)  # on the baseline
    assert 60 < columns.max() < 130
    # shortened before the numbers, where it is too long
    used = np.flatnonzero(headOf("Submandibular gland " * 6, tmp_path).any(axis=0))
    gap = np.diff(used).argmax()
    assert used[gap] > 800 and used[gap + 1] - used[gap] > 25 and used[-1] < 1175


def testHalvesOfSurrogatesAreQuestionMarks(tmp_path):
    heads = [headOf(name, tmp_path) for name in ("Half \ud800", "Half ?", "Half")]
    assert (heads[0] == heads[1]).all() and (heads[0] != heads[2]).any()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere fonts are in other places")
def testScriptsAreDrawnByPillowWithAFontOfTheComputer(tmp_path, monkeypatch):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib, which has a font, is not installed")
    for name in ("XDG_DATA_HOME", "XDG_DATA_DIRS"):
        monkeypatch.setenv(name, f"{matplotlib.get_data_path()}")
    assert headOf("Жабри", tmp_path)[:, :200].sum() > 200
    # of a script that no font has, nothing is drawn, and beside others a question mark
    assert not headOf("脳", tmp_path)[:, :200].any()
    marked = headOf("脳 L", tmp_path)
    assert marked[:, :200].any() and (marked == headOf("? L", tmp_path)).all()
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert (headOf("Щ ö", tmp_path) == headOf("? ö", tmp_path)).all()


@pytest.mark.parametrize("size", [(1, 1, 1), (4, 4, 1)])
def testWhatIsAVoxelThickIsSeen(tmp_path, size):
    high = np.array(size) + 5
    images = [shapes.box((6 + shift, 6, 6), (high[0] + shift, high[1], high[2])) for shift in (0, 1)]
    area = read(compare(*images, FEW).picture(tmp_path / "small.png", size=(640, 400)))[60:-30, 20:500]
    for half in (area[:, :240], area[:, 240:]):
        assert (np.ptp(half, axis=2) > 25).mean() > 0.05


def testContoursInAPlane(tmp_path):
    """Two circles in a slice, the test's 4 mm wider and 3 mm further to the patient's left."""
    circle = np.stack([np.cos(a := np.linspace(0, 2 * np.pi, 60, endpoint=False)), np.sin(a)], axis=1)
    pair = shapes.loops(20 * circle), shapes.loops(24 * circle + [3, 0])
    image = read(compare(*pair, FEW).picture(tmp_path / "2.png"))
    half = image[88:, :525]
    isFar = near(half, SIGNED[-2])
    # from the feet, the patient's left is at the right: there the circle is 7 mm inside of the other one, else 1 mm
    assert isFar.sum() > 200 and np.argwhere(isFar)[:, 1].mean() > 300
    rows, columns = np.nonzero((half[60:560] != BACKGROUND).any(axis=2))
    assert np.ptp(columns) == pytest.approx(np.ptp(rows), rel=0.02), "circles are round"


@pytest.mark.parametrize("bump", [(0, -22, 0), *rarely([(22, 20, 0), (-20, 22, 5)]), (-12, -8, -26)])
def testSeenFromWhereTheDifferencesAre(tmp_path, bump):
    """A bump is in the middle of its picture rather than behind the ball, whose other parts are equal."""
    ball = shapes.ball(20)
    other = ball | shapes.ball(8, tuple(0.75 * np.array(bump)))
    image = read(compare(ball, other, FEW.replace(tolerances=(1,))).picture(tmp_path / "bump.png"))
    half = image[100:650, 525:1050]
    isFar, drawn = near(half, SIGNED[-1]) | near(half, SIGNED[-2]), (half != BACKGROUND).any(axis=2)
    assert isFar.sum() > 0.04 * drawn.sum()


def testCommandsDrawWithoutSlicerAndWithoutADriver(tmp_path):
    """As on a server: the package slicer-core and every driver are missing."""
    (tmp_path / "slicer.py").write_text("raise ImportError('it is not there')")
    first, second = (save(shapes.ball(radius), tmp_path / f"{radius}.nrrd") for radius in (8, 9))
    hidden = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent", "LIBGL_DRIVERS_PATH": "/nonexistent", "DISPLAY": ""}
    environment = {**hidden, "PYTHONPATH": f"{tmp_path}:{':'.join(filter(None, sys.path))}"}
    done = command("compare", first, second, "--metrics", "HD", "-o", tmp_path / "out", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert read(next((tmp_path / "out").glob("overlay_*.png"))).shape == (700, 1200, 3)
    done = command("compare", first, second, "--surface", "displayed", env=environment)
    assert done.returncode == 2 and says(done.stderr, "slicer-core").count("\n") == 1


def testWhereObserversDifferIsDrawn(tmp_path):
    drawings = [save(shapes.ball(10, (x, 0, 0)), tmp_path / f"{x}.nrrd") for x in (-2, 0, 2)]
    assert main(["observers", *map(str, drawings), "--metrics", "HD", "-o", str(tmp_path / "out")]) == 0
    image = read(next((tmp_path / "out").glob("*.png")))
    for half in (image[100:, :525], image[100:, 525:1050]):
        assert (np.ptp(half, axis=2) > 40).mean() > 0.1


def testWrongArguments(comparison, tmp_path):
    with refused("640 x 400"):
        comparison.picture(tmp_path / "picture.png", size=(600, 400))
    with refused("kind", "'hot'"):
        comparison.picture(tmp_path / "picture.png", kind="hot")
    with refused("hazard"):
        compare(shapes.ball(8), shapes.ball(9)).picture(tmp_path / "picture.png", kind="hazard")
    with pytest.raises(OSError, match="nowhere"):
        comparison.picture(tmp_path / "nowhere" / "picture.png")
    with refused("test"):
        compare(shapes.ball(8), shapes.ball(8) * 0).picture(tmp_path / "picture.png")
    assert not list(tmp_path.iterdir())
