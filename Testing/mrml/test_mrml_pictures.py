"""What is seen in pictures: colors, legend, directions, text; and that nothing of them stays in the scene."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from overlays import writeOverlay
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkFiltersSources import vtkPlaneSource, vtkSphereSource
from vtkmodules.vtkIOImage import vtkPNGReader

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.io.messages import quiet
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST, Structure
from SegmentMetricsLib.settings.settings import DEFAULT_FAMILIES

slicer = pytest.importorskip("slicer", reason="needs the slicer-core package")
from SegmentMetricsLib.mrml import colors, conversion, headless, lettering, outputs, pictures, views  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
NO_DRIVERS = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent", "LIBGL_DRIVERS_PATH": "/nonexistent"}


@pytest.fixture(scope="module", autouse=True)
def openGL(request):
    try:
        views.requireOpenGL()
    except views.NoOpenGLError as error:
        pytest.skip(str(error))


pytestmark = pytest.mark.opengl


@pytest.fixture(scope="module")
def comparison():
    """The test lies 7 mm further to the patient's left, LPS +x, and a critical structure in front of both, LPS -y."""
    balls = [shapes.ball(20), shapes.ball(20, (7, 0, 0)), shapes.ball(5, (0, -24, 0))]
    masks = [Mask.fromArray(SimpleITK.GetArrayFromImage(image), Grid.fromImage(image)) for image in balls]
    reference, test, critical = (Structure("Liver", mask) for mask in masks)
    return compare(reference, test, Settings(families=(*DEFAULT_FAMILIES, "hazard")), criticals={"Vessel": critical})


def read(path) -> np.ndarray:
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))).astype(int)


def near(image, color, tolerance=60) -> np.ndarray:
    """Where a picture has about the hue of a color #rrggbb, whatever the shading."""
    wanted = np.array(colors.rgb(color))
    shade = image / np.maximum(image.max(axis=2, keepdims=True), 1)
    return (np.abs(shade - wanted / wanted.max()).max(axis=2) < tolerance / 255) & (np.ptp(image, axis=2) > 60)


@pytest.fixture(scope="module")
def picture(comparison, tmp_path_factory):
    scene = headless.ensureScene()
    before = [node.GetID() for node in scene.GetNodes()]
    path = writeOverlay(comparison, tmp_path_factory.mktemp("overlay") / "Liver.png")
    assert [node.GetID() for node in scene.GetNodes()] == before
    return read(path)


@pytest.fixture(scope="module")
def contours():
    """Two circles in a slice, the test's 4 mm wider and 3 mm further to the patient's left."""
    circle = np.stack([np.cos(a := np.linspace(0, 2 * np.pi, 60, endpoint=False)), np.sin(a)], axis=1)
    return compare(shapes.loops(20 * circle), shapes.loops(24 * circle + [3, 0]))


class TestOverlay:
    def testSizeAndBackground(self, picture):
        assert picture.shape == (700, 1200, 3)
        background = np.rint(255 * np.array(pictures.BACKGROUND))
        for y, x in ((0, 0), (0, -1), (-1, 0), (-1, 524), (350, 524), (-1, -1)):
            np.testing.assert_array_equal(picture[y, x], background)

    def testBothSidesShowBothSigns(self, picture):
        for side in (picture[88:, :525], picture[88:, 525:1050]):
            assert near(side, colors.SIGNED[-2]).sum() > 500  # too far
            assert near(side, colors.SIGNED[1]).sum() > 100  # not far enough

    def testTheDifferenceIsWhereItBelongs(self, picture):
        # seen from the left front: the patient's left, where the test reaches too far, is at the right
        red = np.argwhere(near(picture[88:, :525], colors.SIGNED[-2]))[:, 1].mean()
        blue = np.argwhere(near(picture[88:, :525], colors.SIGNED[1]))[:, 1].mean()
        assert red > blue + 100

    def testNothingIsCutOff(self, picture):
        background = picture[0, 0]
        edges = [picture[:4], picture[-4:], picture[:, :8], picture[:, -4:], picture[88:, 521:530]]
        for edge in edges:
            assert (edge == background).all(axis=-1).mean() > 0.98
        assert (picture[100:640, 40:500] != background).any(axis=2).mean() > 0.25  # the structure fills its half

    def testLegendIsReadable(self, picture):
        strip = picture[88:560, 1050:]
        bar = np.flatnonzero(near(strip, colors.SIGNED[0]).any(axis=0))
        assert 15 <= np.ptp(bar) <= 30
        letters = strip.max(axis=2) < 100
        letters[:, bar.min() - 2 :] = False
        rows = np.flatnonzero(letters.any(axis=1))
        lines = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
        assert len(lines) >= 5 + 1  # five numbers and a title
        assert 7 <= max(len(line) for line in lines) <= 16

    def testNamesAndNumbers(self, picture, comparison):
        assert pictures.mainNumbers(comparison, 2.0) == [
            ("HD95", f"{comparison['HD95'].value:.2f} mm"),
            ("MASD", f"{comparison['MASD'].value:.2f} mm"),
            ("NSD 2 mm", f"{comparison['NSD_2mm'].value:.3f}"),
            ("DSC", f"{comparison['DSC'].value:.3f}"),
        ]
        dark = picture[:80].max(axis=2) < 80
        assert dark[:, :200].sum() > 300
        assert dark[:, 750:].sum() > 1000

    @pytest.mark.parametrize("kind", [kind for kind in colors.KINDS if kind != "dose"])
    @pytest.mark.parametrize("size", [(640, 400), pytest.param((1500, 600), marks=pytest.mark.nightly)])
    def testKindsAndSizes(self, comparison, tmp_path, kind, size):
        image = read(writeOverlay(comparison, tmp_path / "picture.png", size, kind))
        assert image.shape == (size[1], size[0], 3)
        for color in colors.mapColors(kind)[-2 if kind != "tolerance" else -1 :]:
            assert near(image[size[1] // 8 :], color).sum() > 50

    def testToleranceHasNoOtherColors(self, comparison, tmp_path):
        image = read(writeOverlay(comparison, tmp_path / "picture.png", kind="tolerance"))[110:640, 60:480]
        colored = np.ptp(image, axis=2) > 110
        hues = near(image, colors.TOLERANCE[0], 70) | near(image, colors.TOLERANCE[2], 70)
        assert (colored & ~hues).sum() < 0.1 * colored.sum()

    def testLongAndForeignNames(self, comparison, tmp_path):
        structures = [Structure(name, comparison.reference.mask) for name in ("Submandibular gland " * 6, "肝臓")]
        read(writeOverlay(compare(*structures), tmp_path / "picture.png"))

    def testContours(self, contours, tmp_path):
        image = read(writeOverlay(contours, tmp_path / "picture.png"))
        assert near(image[88:, :525], colors.SIGNED[-2]).sum() > 200
        assert pictures.sliceDirection(contours.reference.surface.normal)[0] == "the patient's feet"

    def testWhatSmoothingShrinksIsDrawnAroundItsVoxels(self, tmp_path):
        for side, isShrunk in ((4, True), (12, False)):
            boxes = [shapes.box((4 + n, 4, 4), np.add((4 + n, 4, 4), side - 1)) for n in (0, 1)]
            found = compare(*boxes)
            assert [bool(conversion.noteOf(surface)) for surface in pictures.visibleMaps(found)] == 2 * [isShrunk]
            image = read(writeOverlay(found, tmp_path / "picture.png"))
            below = image[112:128, 28:520].max(axis=2)  # the caption
            assert (below < 200).any() == isShrunk

    def testOnlySurfacesThatAreOpenAreDrawnFromInside(self, comparison):
        (ball, _), away = pictures.visibleMaps(comparison), vtkPlaneSource()
        away.SetNormal(0, -1, 0)
        away.Update()
        sheet = away.GetOutput()
        values = numpy_to_vtk(np.ones(sheet.GetNumberOfPoints()), deep=True)
        values.SetName("Distance")
        sheet.GetPointData().AddArray(values)
        drawn = {}
        with pictures.ViewCache() as cache:
            view = cache.view(0)
            for name, surface in (("ball", ball), ("sheet", sheet)):
                view.lookFrom((0, 1, 0), vtk_to_numpy(surface.GetPoints().GetData()))
                for isClosed in (False, True):
                    drawn[name, isClosed] = pictures._imageOf(
                        view, surface, pictures.Coloring("absolute", 5.0, 2.0, isClosed)
                    )
        background = drawn["ball", True][0, 0]
        assert (drawn["sheet", True] == background).all()
        assert (drawn["sheet", False] != background).any(axis=2).mean() > 0.5
        # what is not drawn of a closed one is behind what is drawn
        assert (drawn["ball", True] != background).any(axis=2).mean() > 0.3
        assert (drawn["ball", True] != drawn["ball", False]).any(axis=2).mean() < 1e-4

    def testPicturesAreWrittenAsTheyAre(self, tmp_path):
        noise = np.random.default_rng(1).integers(0, 256, (40, 30, 3), np.uint8)
        for pixels in (noise, noise[:1, :1], noise[::-1, :, ::-1], np.zeros_like(noise)):
            written = views.writePng(pixels, tmp_path / "picture.png")
            np.testing.assert_array_equal(read(written), pixels)
        reader = vtkPNGReader()  # complains of checksums
        reader.SetFileName(str(written))
        with quiet() as messages:
            reader.Update()
        assert reader.GetOutput().GetDimensions() == (30, 40, 1) and not messages.GetOutput()

    def testNothingOfAPictureStaysInACachedView(self, comparison, contours, tmp_path):
        drawn = [(comparison, (900, 600)), (contours, (640, 400)), (comparison, (1200, 700))]
        with pictures.ViewCache() as cache:
            for number, (result, size) in enumerate(drawn):
                alone = read(writeOverlay(result, tmp_path / "alone.png", size))
                together = read(pictures.Overlay(result, size).write(tmp_path / f"{number}.png", cache))
                np.testing.assert_array_equal(together, alone)

    def testWrongArguments(self, comparison, tmp_path):
        with pytest.raises(ValueError, match="at least 640 x 400"):
            writeOverlay(comparison, tmp_path / "picture.png", (600, 400))
        with pytest.raises(ValueError, match="kind"):
            writeOverlay(comparison, tmp_path / "picture.png", kind="hot")
        with pytest.raises(OSError, match="nowhere"):
            writeOverlay(comparison, tmp_path / "nowhere" / "picture.png")
        empty = Structure("Liver", Mask.fromArray(np.zeros((4, 4, 4)), comparison.reference.mask.grid))
        with pytest.raises(ValueError, match="the test is empty"):
            writeOverlay(compare(comparison.reference, empty), tmp_path / "picture.png")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("bump", "words"),
        [
            ((0, 30, 0), "left and front"),  # RAS; in front, so there is no reason to look from elsewhere
            ((-20, -22, 0), "left and back"),
            ((20, -22, 5), "right and back"),
            ((22, 20, 5), "right and front"),
            ((12, 8, -26), "right, front and feet"),
        ],
    )
    def testSeenFromWhereTheDifferencesAre(self, bump, words):
        surface = shapes.ballMesh(30)
        points = np.array(surface.GetPoints().GetData())
        distance = numpy_to_vtk(np.where(np.linalg.norm(points - bump, axis=1) < 12, 5.0, 0.1), deep=True)
        distance.SetName("Distance")
        surface.GetPointData().AddArray(distance)
        assert pictures.bestDirection([surface, surface], 5.0) == f"the patient's {words}"


class TestView:
    def testDirectionsInRas(self):
        scene = headless.privateScene()
        with views.ThreeDView(scene, (300, 200)) as view:
            for x, color in ((-30, (1, 0, 0)), (30, (0, 0, 1))):  # RAS: the patient's left is at -x
                addBall(scene, (x, 0, 0), color)
            view.lookFrom((0, 1, 0))
            image = view.image()
            red, blue = (centerOf(image[..., c].astype(int) - image[..., 2 - c] > 60) for c in (0, 2))
            assert red[1] > 150 > blue[1]  # seen from the front the patient's left is at the right
            view.lookFrom((0, 0, -1))
            assert centerOf(view.image()[..., 0].astype(int) - view.image()[..., 2] > 60)[1] > 150

    def testContentFillsTheArea(self):
        scene = headless.privateScene()
        with views.ThreeDView(scene, (400, 300)) as view:
            model = addBall(scene, (5, 80, -20), (0, 0, 0))
            points = np.array(model.GetPolyData().GetPoints().GetData())
            view.lookFrom((1, 1, 1), points, (0.5, 0.1, 1.0, 0.9))
            rows, columns = np.nonzero(view.image().max(axis=2) < 200)
            assert (columns.min() + columns.max()) / 2 == pytest.approx(300, abs=2)
            assert (rows.min() + rows.max()) / 2 == pytest.approx(150, abs=2)
            assert np.ptp(columns) == pytest.approx(200, abs=3)

    def testLegendIsDrawn(self, comparison):
        scene = headless.privateScene()
        model = outputs.showDistanceMap(comparison, scene=scene)  # before the view exists
        with views.ThreeDView(scene, (400, 300), ((0, 0, 0), (0.2, 0.2, 0.2))) as view:
            view.lookFrom()
            drawn = view.image().astype(int)
            colors.legendOf(model).SetVisibility(False)
            changed = (np.abs(drawn - view.image()) > 30).any(axis=2)
        assert changed.sum() > 500
        assert np.nonzero(changed)[1].min() > 200  # at the right edge, beside the structure

    def testLegendsOfDifferentMapsDoNotMeet(self, comparison):
        scene = headless.privateScene()
        with views.ThreeDView(scene, (500, 400), ((0, 0, 0), (0, 0, 0))) as view:
            kinds = {"reference": "signed", "test": "tolerance"}
            models = [outputs.showDistanceMap(comparison, side=s, kind=k, scene=scene) for s, k in kinds.items()]
            legends, places = [colors.legendOf(model) for model in models], []
            assert all(legend.GetVisibility() for legend in legends)
            for legend, model in zip(legends, models):
                legend.SetVisibility(False)
                model.GetDisplayNode().SetOpacity(0)
            for legend in legends:
                legend.SetVisibility(True)
                places.append((view.image() > 30).any(axis=2))
                legend.SetVisibility(False)
        assert places[0].any() and places[1].any() and not (places[0] & places[1]).any()

    @pytest.mark.parametrize("size", [(400, 240), (900, 600)])
    @pytest.mark.parametrize("kind", ["signed", "absolute", "tolerance"])
    def testOneLegendForBothSidesIsLegible(self, comparison, kind, size):
        """It is whole, leaves the middle of the view free, and its letters are neither tiny nor giant."""
        scene = headless.privateScene()
        with views.ThreeDView(scene, size, ((0, 0, 0), (0, 0, 0))) as view:
            for side in REFERENCE_AND_TEST:
                outputs.showDistanceMap(comparison, side=side, kind=kind, scene=scene).GetDisplayNode().SetOpacity(0)
            legends = [n for n in scene.GetNodes() if n.IsA("vtkMRMLColorLegendDisplayNode") and n.GetVisibility()]
            assert len(legends) == 1
            view.image()
            legends[0].Modified()
            drawn = (view.image() > 100).any(axis=2)
        rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
        assert rows[0] > 0 and rows[-1] < size[1] - 1 and columns[-1] < size[0] - 1
        assert columns[0] > 0.6 * size[0] and np.ptp(rows) > 0.4 * size[1]
        title = np.flatnonzero(~drawn.any(axis=1)[rows[0] :])[0]  # pixel rows of its letters
        assert 8 <= title <= 0.09 * size[1]

    def testOrientationMarker(self):
        scene = headless.privateScene()
        with views.ThreeDView(scene, (300, 300)) as view:
            without = view.image().astype(int)
            view.showOrientationMarker()
            changed = (np.abs(view.image() - without) > 20).any(axis=2)
        assert changed[150:, 150:].sum() == changed.sum() > 1000

    def testNothingStays(self):
        scene = headless.ensureScene()
        before = {node.GetID() for node in scene.GetNodes()}
        view = views.ThreeDView(scene, (320, 200))
        assert view.image().shape == (200, 320, 3)
        assert {node.GetID() for node in scene.GetNodes()} > before
        view.close()
        view.close()
        assert {node.GetID() for node in scene.GetNodes()} == before

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="hides the drivers of Linux")
    def testAMachineWithoutOpenGL(self):
        script = """
            from SegmentMetricsLib.mrml import headless, views
            try:
                views.ThreeDView(headless.ensureScene())
            except views.NoOpenGLError as error:
                print(error)
        """
        lines = "\n".join(line[12:] for line in script.splitlines())
        environment = {**os.environ, **NO_DRIVERS, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", lines], capture_output=True, text=True, env=environment, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Pictures cannot be drawn because this machine has no working OpenGL")
        assert done.stdout.count("\n") == 1


class TestLettering:
    def testTextIsWhereItIsWanted(self):
        canvas = np.full((60, 300, 3), 255, np.uint8)
        width = lettering.writeText(canvas, "HD95", (20, 40), 24)
        rows, columns = np.nonzero(canvas.max(axis=2) < 128)
        assert rows.max() == pytest.approx(39, abs=1)  # on the baseline
        assert columns.min() == pytest.approx(21, abs=2)
        assert columns.max() == pytest.approx(20 + width, abs=3)
        assert lettering.textWidth("HD95", 24) == pytest.approx(width, abs=2)

    def testLongTextIsShortened(self):
        canvas = np.full((60, 400, 3), 255, np.uint8)
        assert lettering.writeText(canvas, "Submandibular gland, left", (0, 40), 24, width=120) <= 120
        assert (canvas[:, 125:] == 255).all()

    def testTextBesideThePictureIsCutOff(self):
        canvas = np.full((20, 20, 3), 255, np.uint8)
        for position in ((-10, 10), (15, 10), (5, 0), (5, 30), (100, 100)):
            lettering.writeText(canvas, "Liver", position, 20)

    def testScriptsAreDrawnWithAFontOfTheComputer(self, tmp_path, monkeypatch):
        """Unless their letters have to be arranged, which would come out wrong."""
        file = tmp_path / "fonts" / "cjk" / lettering.FONT_FILES[0]
        monkeypatch.setattr(lettering, "FONT_FOLDERS", (str(tmp_path / "fonts"), str(tmp_path / "nowhere")))
        lettering._fonts.cache_clear()
        makeFont(file, "肝臓L כ")
        assert lettering.drawable("肝臓 L") == ("肝臓 L", str(file))
        canvas = np.full((40, 200, 3), 255, np.uint8)
        width = lettering.writeText(canvas, "肝臓", (5, 30), 20)
        assert width > 25 and (canvas[20, 7:20] < 128).all(), "the letters of the font are squares"
        assert lettering.drawable("כ L") == ("? L", "") and lettering.drawable("Liver") == ("Liver", "")
        assert lettering.drawable("ह") == ("", ""), "nothing of it can be drawn"
        lettering._fonts.cache_clear()

    def testMissingCharacters(self, monkeypatch):
        monkeypatch.setattr(lettering, "_fonts", lambda: ())
        assert lettering.drawable("肝臓") == ("", "")
        canvases = [np.full((40, 100, 3), 255, np.uint8) for _ in range(2)]
        for canvas, text in zip(canvases, ("肝 ö", "? ö"), strict=True):
            lettering.writeText(canvas, text, (5, 30), 20)
        np.testing.assert_array_equal(*canvases)


def makeFont(path: Path, characters: str) -> None:
    """Write a font whose letters are squares."""
    builders = pytest.importorskip("fontTools.fontBuilder")
    pens = pytest.importorskip("fontTools.pens.ttGlyphPen")
    names = {ord(character): f"letter{ord(character)}" for character in characters}
    pen = pens.TTGlyphPen(None)
    for n, corner in enumerate([(0, 0), (0, 800), (900, 800), (900, 0)]):
        (pen.lineTo if n else pen.moveTo)(corner)
    pen.closePath()
    square, nothing = pen.glyph(), pens.TTGlyphPen(None).glyph()
    order = [".notdef", *names.values()]
    builder = builders.FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap(names)
    builder.setupGlyf({name: nothing if name in (".notdef", names[ord(" ")]) else square for name in order})
    builder.setupHorizontalMetrics(dict.fromkeys(order, (1000, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    path.parent.mkdir(parents=True)
    builder.save(str(path))


def addBall(scene, center, color):
    source = vtkSphereSource()
    source.SetRadius(10)
    source.SetCenter(*center)
    source.SetThetaResolution(60)
    source.SetPhiResolution(60)
    source.Update()
    model = scene.AddNewNodeByClass("vtkMRMLModelNode")
    model.SetAndObservePolyData(source.GetOutput())
    model.CreateDefaultDisplayNodes()
    model.GetDisplayNode().SetColor(*color)
    return model


def centerOf(where: np.ndarray) -> np.ndarray:
    return np.argwhere(where).mean(axis=0)


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 2, 2), (4, 4, 1)])
def testWhatIsAVoxelThickIsSeen(tmp_path, size):
    """Slicer's smoothing makes a point or a sheet of it."""
    high = np.array(size) + 5
    images = [shapes.box((6 + shift, 6, 6), (high[0] + shift, high[1], high[2])) for shift in (0, 1)]
    picture = read(writeOverlay(compare(*images), tmp_path / "small.png", (640, 400)))
    area = picture[60:-30, 20:500]
    left, right = area[:, :240], area[:, 240:]
    for half in (left, right):
        colored = np.ptp(half, axis=2) > 25
        assert colored.mean() > 0.05
