"""What scripts give and get: arrays, paths, keywords and their kinds; numbers, formats and tables of notebooks."""

from __future__ import annotations

import ast
import inspect
import math
import pickle
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import shapes
import SimpleITK
from sayings import refused, says

import SegmentMetricsLib
from SegmentMetricsLib import Settings, Structure, compare, compareBatch, compareLabels, readStructures, stressTest

SPACING, ORIGIN = (0.8, 1.0, 2.5), (-12.0, 30.0, 7.0)
DIRECTION = shapes.rotation((1, 2, 3), 30)
LABELS = np.zeros((12, 18, 22), np.int16)
LABELS[2:9, 3:12, 4:18] = 1
LABELS[9:11, 3:12, 4:18] = 7
MOVED = np.roll(LABELS, 2, axis=2)


def imageOf(array, direction=None):
    return shapes.imageOf(array, SPACING, ORIGIN, direction)


@pytest.fixture
def files(tmp_path):
    """Return the paths of two label maps, and of a segmentation with two segments by name."""
    for name, array in (("reference", LABELS), ("test", MOVED)):
        SimpleITK.WriteImage(imageOf(array), tmp_path / f"{name}.nii.gz")
    segments = [{"ID": n, "Name": n, "LabelValue": v, "Layer": 0} for n, v in (("Parotid_L", 1), ("SpinalCord", 7))]
    image = shapes.segmentation([MOVED], segments, spacing=SPACING, origin=ORIGIN)
    SimpleITK.WriteImage(image, tmp_path / "set.seg.nrrd")
    return [tmp_path / name for name in ("reference.nii.gz", "test.nii.gz", "set.seg.nrrd")]


@pytest.mark.parametrize("direction", [None, DIRECTION, DIRECTION.ravel().tolist()], ids=["none", "matrix", "numbers"])
def testArraysGiveTheNumbersOfImages(direction):
    arrays = [array == 1 for array in (LABELS, MOVED)]
    byImages = compare(*(imageOf(array, direction) for array in arrays))
    byArrays = compare(*arrays, spacing=SPACING, origin=ORIGIN, direction=direction)
    assert byArrays.numbers == byImages.numbers and byArrays.grid == byImages.grid


def testAnArrayIsIndexedFromTheSlices():
    """A step along the first axis of the array is one along k, and the spacing of k is the last one, however small."""
    one, other = np.zeros((2, 9, 9, 9), bool)
    one[3:6, 3:6, 3:6] = other[4:7, 3:6, 3:6] = True
    assert compare(one, other, spacing=(1, 2, 5))["HD"].value == pytest.approx(5)
    along = compare(one.transpose(2, 1, 0), other.transpose(2, 1, 0), spacing=(1e-3, 2e-3, 5e-3))
    assert along["HD"].value == pytest.approx(1e-3)
    place = compare(one, other, spacing=(1, 2, 5), origin=(10, 20, 30)).reference.box
    np.testing.assert_allclose(place, [(10 + 2.5, 20 + 5, 30 + 12.5), (10 + 5.5, 20 + 11, 30 + 27.5)])


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64, np.uint64, ">i2", np.float16, np.float64, np.longdouble])
def testArraysOfEveryKindOfNumber(kind):
    comparison = compare((LABELS == 1).astype(kind), (MOVED == 1).astype(kind)[:, :, :], spacing=1)
    assert comparison["DSC"].value == pytest.approx(12 / 14)
    assert comparison.reference.dimension == 3


def testArraysInAPlaneAndViews():
    flat = compare(LABELS[4] == 1, MOVED[4] == 1, spacing=(2, 1))
    assert flat.dimension == 2 and flat["HD"].value == pytest.approx(4)
    view = compare(LABELS[::-1, ::2] == 1, imageOf(LABELS[::-1, ::2] == 1), spacing=SPACING, origin=ORIGIN)
    assert view["DSC"].value == 1 and view["HD"].value == 0


def testLabelsAndCriticalStructuresMayBeArrays():
    settings = Settings(families=("overlap", "hazard"))
    comparison = compare(LABELS, MOVED, settings, label=1, criticals={"Cord": LABELS == 7}, spacing=SPACING)
    images = [shapes.imageOf(array, SPACING) for array in (LABELS, MOVED, LABELS == 7)]
    images = compare(*images[:2], settings, label=1, criticals={"Cord": images[2]})
    assert comparison.numbers == images.numbers
    assert compareLabels(LABELS, MOVED, spacing=SPACING)["DICEml"].value == pytest.approx(12 / 14)
    tested = stressTest(LABELS == 1, {"Cord": LABELS == 7}, count=10, spacing=SPACING)
    assert tested.count == 10 and says(repr(tested), "reference", "10")


MASK = LABELS == 1


def testArraysThatAreRefused():
    for given, options, *names in (
        ((MASK, MASK), {}),
        ((MASK, MASK[1:]), {"spacing": 1}, "(12, 18, 22)", "(11, 18, 22)"),
        ((MASK, MASK), {"spacing": (1, 2)}, "spacing", "3", "2"),
        ((MASK, MASK), {"spacing": (1, 2, 0)}, "spacing", "0 mm"),
        ((MASK, MASK), {"spacing": "wide"}, "spacing", "'wide'"),
        ((MASK, MASK), {"spacing": 1, "origin": 5}, "origin", "3", "1"),
        ((MASK, MASK), {"spacing": 1, "direction": (1, 0, 0)}, "direction", "9", "3"),
        ((MASK, MASK), {"spacing": 1, "direction": np.ones((3, 3))}, "direction"),
        ((MASK[None], MASK[None]), {"spacing": 1}, "4"),
        ((MASK.astype("U1"), MASK.astype("U1")), {"spacing": 1}, "str"),
        ((imageOf(MASK), imageOf(MASK)), {"spacing": 1}, "spacing"),
        ((LABELS, LABELS), {"spacing": 1}, "(1, 7)", "(label=...)"),
        ((LABELS, LABELS), {"spacing": 1, "label": 9}, "9"),
    ):
        with refused(*names):
            compare(*given, **options)


@pytest.mark.parametrize("kind", [str, Path])
def testFilesAreComparedByTheirPaths(files, kind):
    reference, test, several = map(kind, files)
    inMemory = compare(imageOf(LABELS), imageOf(MOVED), label=1)
    comparison = compare(reference, test, label=1)
    assert comparison.numbers == pytest.approx(inMemory.numbers, rel=1e-6, abs=1e-6)
    assert comparison.reference.file == str(files[0])
    # images and files side by side; the name is for the file, the label for the image
    mixed = compare(imageOf(LABELS), several, label=1, name="left parotid")
    assert mixed.test.name == "Parotid_L" and mixed["DSC"].value == pytest.approx(12 / 14)
    assert compare(several, several, name="Spinal Cord")["DSC"].value == 1
    hazard = Settings(families=("hazard",))
    withCord = compare(reference, test, hazard, label=1, criticals={"SpinalCord": several})
    (critical,) = withCord.criticals
    assert critical.mask.count == (MOVED == 7).sum()
    # and whole segmentations
    assert compareLabels(reference, test)["DICEml"].value == pytest.approx(12 / 14)
    assert compareLabels({"SpinalCord": several}, {"SpinalCord": imageOf(MOVED == 7)})["JACml"].value == 1
    assert stressTest(several, {"SpinalCord": several}, name="Parotid_L", count=5).risky.reference.name == "Parotid_L"


def testALabelThatOneFileLacks(files, tmp_path):
    """As for images: one side is empty and the result says so, and a label that neither has is an error."""
    SimpleITK.WriteImage(imageOf((LABELS > 0).astype(np.uint8) * 2 + (LABELS == 7)), tmp_path / "other.nrrd")
    comparison = compare(files[0], tmp_path / "other.nrrd", label=7)
    says("\n".join((comparison["DSC"].reason, *comparison.findings)), "7", "other.nrrd")
    with refused("9", "(1, 7)"):
        compare(files[0], files[1], label=9)


def testFilesOfSeveralStructures(files):
    for options, *names in (
        ({}, "set.seg.nrrd", "(Parotid_L, SpinalCord)", "(name=...)"),
        ({"name": "Parotid_LL"}, "'Parotid_LL'", "Parotid_L"),
        ({"name": 2.5}, "2.5"),
        ({"label": 9}, "set.seg.nrrd", "'9'", "Parotid_L, SpinalCord"),
        ({"name": ["Parotid_L"]}, "['Parotid_L']"),
    ):
        with refused(*names):
            compare(files[2], files[2], **options)


# What may be given by place to a function that scripts call; everything else is given by keyword.
BY_PLACE = """
    reference test settings cases observers criticals folder path given result request position protocol node row study
    found key comparison comparisons referenceNode referenceSegment testNode testSegment tableNode volumeNode
"""


def byPlace(function) -> list[str]:
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]


def testOnlyInputsAndSettingsAreGivenByPlace():
    pytest.importorskip("slicer", reason="needs Slicer's classes: pip install slicer-core")
    from SegmentMetricsLib import mrml

    functions = [getattr(one, name) for one in (SegmentMetricsLib, mrml) for name in one.__all__]
    for function in filter(inspect.isfunction, functions):
        places = byPlace(function)
        assert set(places) <= set(BY_PLACE.split()) and "settings" not in places[:-1], function
    for given, places in (
        (Settings, []),
        (Structure, ["name", "mask"]),
        (SegmentMetricsLib.Comparison.picture, ["self", "path"]),
        (SegmentMetricsLib.Comparison.conventions, ["self", "keys"]),
    ):
        assert byPlace(given) == places


def testWrongKindsOfArgumentsAreRefusedInASentence():
    for call, *names in (
        (lambda: readStructures(["a.nrrd"]), "Path", "list"),
        (lambda: readStructures("a.nrrd", maximum="full"), "'full'"),
        (lambda: readStructures("a.nrrd", labelNames=5), "int"),
        (lambda: compare(MASK, MASK, {"tolerances": 3}, spacing=1), "Settings", "dict"),
        (lambda: compare(MASK, MASK, spacing=1, label="Liver"), "'Liver'"),
        (lambda: compare(MASK, MASK, spacing=1, criticals=["Cord"]), "list"),
        (lambda: compare(MASK, MASK, spacing=1, criticals={1: MASK}), "int"),
        (lambda: stressTest(MASK, {"Cord": MASK}, 10, spacing=1), "Settings", "int"),
        (lambda: compareLabels({1: MASK}, {1: MASK}, spacing=1), "reference", "int"),
        (lambda: compareLabels(LABELS, LABELS, spacing=1, weights=[2]), "2"),
        (lambda: Structure("Liver", MASK), "'Liver'", "Mask", "ndarray"),
        (lambda: compareBatch(["a.csv"], output="out"), "Path", "list"),
        (lambda: compare(MASK, MASK, spacing=1).conventions(5), "int"),
    ):
        with refused(*names) as told:
            call()
        assert "\n" not in str(told.value)


def testWeightsOfLabelsInAnySpelling():
    sides = ({"Parotid_L": imageOf(LABELS == 1), "Cord": imageOf(LABELS == 7)},) * 2
    assert compareLabels(*sides, weights={"left parotid": 2})["JACml_given"].value == 1
    with refused("'Parotis_L'", "Parotid_L"):
        compareLabels(*sides, weights={"Parotis_L": 2})


def testCriticalStructuresInAnySpelling():
    criticals = {"SpinalCord": imageOf(LABELS == 7), "Cord": imageOf(LABELS == 7)}
    pair = imageOf(LABELS == 1), imageOf(MOVED == 1)
    hazard = Settings(families=("hazard",), critical={"spinal cord": 0.5})
    byName = Settings(families=("hazard",), critical={"SpinalCord": 0.5})
    assert compare(*pair, hazard, criticals=criticals).numbers == compare(*pair, byName, criticals=criticals).numbers
    for critical, *names in (
        (("Spinalkord",), "'Spinalkord'", "SpinalCord"),
        (("SpinalCord", "spinal cord"), "SpinalCord", "'spinal cord'"),
    ):
        with refused(*names):
            compare(*pair, Settings(families=("hazard",), critical=critical), criticals=criticals)
    twice = {"Spinal Cord": pair[0], "spinal_cord": pair[1]}
    with refused("'SpinalCord'", "Spinal Cord, s"):
        compare(*pair, byName, criticals=twice)


def testNumbersConvertAndFormat():
    comparison = compare(imageOf(LABELS == 1), imageOf(MOVED == 1))
    distance = comparison["HD95"]
    assert float(distance) == distance.value and math.sqrt(distance) == math.sqrt(distance.value)
    assert f"{distance:.2f}" == f"{distance.value:.2f}" and f"{distance:>9.1f}" == f"{distance.value:>9.1f}"
    assert f"{comparison['DSC']:.0%}" == "86%"
    assert f"{distance}" == str(distance) and f"{distance:>30s}" == str(distance).rjust(30)
    with pytest.raises(ValueError):
        f"{distance:nonsense}"
    both = comparison["DSC"], comparison["IoU"]
    np.testing.assert_array_equal(np.array(both, float), [one.value for one in both])
    assert math.isnan(float(compare(imageOf(LABELS * 0), imageOf(LABELS * 0))["HD"]))
    assert f"{compare(imageOf(LABELS == 1), imageOf(LABELS * 0))['HD']:.1f}" == "inf"
    reported = comparison.conventions("MedPy")["MedPy"]["HD95"]
    assert float(reported) == reported.value and f"{reported:.3f}" == f"{reported.value:.3f}"
    assert pickle.loads(pickle.dumps(distance)) == distance


def shownIn(page: str) -> tuple[list[list[str]], list[str]]:
    """Return the texts of the rows of tables, and of sentences; every tag is closed."""
    whole = ElementTree.fromstring(f"<div>{page}</div>")
    rows = [["".join(cell.itertext()) for cell in row] for row in whole.iter("tr")]
    return rows, ["".join(sentence.itertext()) for sentence in whole.iter("p")]


def testNotebooksShowATable():
    one, other = compare(imageOf(LABELS == 1), imageOf(MOVED == 1)), compare(imageOf(MASK), imageOf(MASK * 0))
    rows, sentences = shownIn(one._repr_html_())
    told = {row[0]: row for row in rows}
    assert told["DSC"][:3] == ["DSC", "Dice similarity coefficient", "0.857"]
    assert told["HD95"][2:5] == [one["HD95"].text()] * 3
    assert told["VolumeReference"][2].endswith("cm³") and "remark" not in rows[0]
    assert told["Toward"][1:] == ["right", "left", "anterior", "posterior", "superior", "inferior"]
    assert sentences == [one.summary, *one.findings]
    empty = {row[0]: row for row in shownIn(other._repr_html_())[0]}
    assert empty["HD"][2] == "inf" and empty["HD"][-1] == says(other["HD"].reason)
    several, _ = shownIn(compareLabels(LABELS, MOVED, spacing=1)._repr_html_())
    assert ["DICEml", "Dice coefficient of all labels", "0.857", ""] in several


def testFramesForPandas(monkeypatch):
    comparison = compare(imageOf(LABELS == 1), imageOf(LABELS * 0))
    frame = pytest.importorskip("pandas", reason="pandas is not installed") and comparison.toFrame()
    assert list(frame.index) == list(comparison) and frame.index.name == "key"
    assert frame.loc["DSC", "value"] == 0 and math.isinf(frame.loc["HD", "value"])
    assert frame.loc["HD", "reason"] == comparison["HD"].reason and frame.loc["HD", "unit"] == "mm"
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with refused("pandas"):
        comparison.toFrame()


def testTheConsoleShowsWhatMatters():
    comparison = compare(imageOf(LABELS == 1), imageOf(MOVED == 1), Settings(tolerances=(1, 2)))
    assert repr(comparison.settings) == "Settings(tolerances=(1.0, 2.0))" and repr(Settings()) == "Settings()"
    for settings in (Settings(betas=2), Settings.preset("MeshMetrics-1.4.1"), Settings(critical={"Cord": 0.5})):
        assert eval(repr(settings)) == settings
    mask = comparison.reference.mask
    says(repr(mask), mask.count, says(repr(mask.grid), "22 x 18 x 12", "0.8 x 1 x 2.5 mm", "(-12, 30, 7)"))
    says(repr(comparison.reference.surface))
    openBox = compare(shapes.openBox(), shapes.openBox(), Settings(metrics="MASD")).reference
    says(repr(openBox.givenSurface))
    assert "array(" not in repr(comparison.distances) and len(repr(comparison.distances)) < 250
    assert repr(comparison["HD"]).startswith("Measurement(key='HD', value=")


def testTypesAreShipped():
    """A checker of types reads those of a package only if it says that it has them."""
    root = Path(SegmentMetricsLib.__file__).parent
    assert (root / "py.typed").is_file()
    assert "py.typed" in (root / "CMakeLists.txt").read_text(encoding="utf-8")
    tree = ast.parse((root / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    named = {alias.asname or alias.name for line in block.body for alias in line.names}
    assert named == set(SegmentMetricsLib.__all__) - {"__version__"}
