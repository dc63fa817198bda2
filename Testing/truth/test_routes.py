"""One road for every number: command line, Python and segments of a scene measure the same, to the last digit."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapes
import SimpleITK
import strategies as some
from hypothesis import given
from segmentnodes import move, segmentationOf

from SegmentMetricsLib import compare
from SegmentMetricsLib.__main__ import main
from SegmentMetricsLib.geometry.grids import RAS_FROM_LPS
from SegmentMetricsLib.io.reading import readStructures
from SegmentMetricsLib.model.inputs import labelMasks

pytestmark = pytest.mark.usefixtures("coarse", "withoutPictures")

SEGMENTS = [{"ID": name, "Name": name, "LabelValue": 1, "Layer": layer} for layer, name in enumerate(("Organ", "Wall"))]


@pytest.fixture(scope="module")
def withoutPictures():
    """Pictures take long, and hold no numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("SegmentMetricsLib.show.pictures.overlay.drawOverlay", lambda *given, **options: None)
        yield


@pytest.fixture(scope="module")
def scene():
    pytest.importorskip("slicer", reason="needs Slicer's classes (extra slicer)")
    from SegmentMetricsLib.mrml import headless

    return headless.ensureScene()


def written(voxels, folder) -> list:
    """Write reference and test, each with the critical structure, as Slicer does, and return the paths."""
    place, paths = voxels.placement, []
    geometry = {"spacing": place.spacing, "origin": place.origin, "direction": np.ravel(place.direction).tolist()}
    for name, array in (("reference", voxels.reference), ("test", voxels.test)):
        layers = [layer.astype(np.uint8) for layer in (array, voxels.critical)]
        paths.append(folder / f"{name}.seg.nrrd")
        SimpleITK.WriteImage(shapes.segmentation(layers, SEGMENTS, **geometry), str(paths[-1]))
    return paths


def nodeOf(scene, image, wall):
    """Return a node with the two segments, which knows the image that they were drawn on as nodes in Slicer do."""
    import slicer

    node = segmentationOf(scene, Organ=image, Wall=wall)
    grid = labelMasks(image, 0.5)[1].grid
    numbers = [*(RAS_FROM_LPS @ grid.matrix).ravel().tolist(), *(n for size in grid.size for n in (0, size - 1))]
    parameter = slicer.vtkSegmentationConverter.GetReferenceImageGeometryParameterName()
    node.GetSegmentation().SetConversionParameter(parameter, ";".join(map(repr, numbers)) + ";")
    return node


def byScene(scene, nodes, settings):
    """Compare nodes of the scene, and take them out of it."""
    from SegmentMetricsLib import mrml

    try:
        return mrml.compareSegments(nodes[0], "Organ", nodes[1], "Organ", settings)
    finally:
        for node in nodes:
            scene.RemoveNode(node)


def requireAlike(found, expected, error: float = 1e-6) -> None:
    values = {key: measurement.value for key, measurement in expected.items()}
    assert {key: m.value for key, m in found.items()} == pytest.approx(values, rel=error, abs=error, nan_ok=True)


@some.few
@given(some.pairsOfMasks(some.placements(), 6), some.settings())
def testFilesAreMeasuredAlike(tmp_path_factory, voxels, settings):
    folder = tmp_path_factory.mktemp("routes")
    settings = settings.replace(critical=(("Wall", 1.0),))
    paths, saved, output = written(voxels, folder), folder / "settings.json", folder / "results"
    saved.write_text(json.dumps({"settings": settings.toDictionary()}))
    names = ["--structure", "Organ"]
    assert main(["compare", *map(str, paths), "--output", str(output), "--settings", str(saved), *names]) == 0
    byCommandLine = json.loads((output / "metrics.json").read_text())["pairs"][0]["measurements"]
    sets = [{structure.name: structure for structure in readStructures(path)} for path in paths]
    byPython = compare(sets[0]["Organ"], sets[1]["Organ"], settings, criticals={"Wall": sets[0]["Wall"]})
    assert byCommandLine == byPython.toDictionary()["measurements"]


@some.few
@given(some.pairsOfMasks(some.placements() | some.straightPlacements(), 6), some.settings())
def testSegmentsAreMeasuredAlike(scene, voxels, settings):
    """To the last digit in images along the patient's axes; of others VTK keeps spacing and direction apart."""
    settings = settings.replace(critical=(("Wall", 1.0),))
    reference, test, wall = voxels.images()
    expected = compare(reference, test, settings, criticals={"Wall": wall})
    nodes = [nodeOf(scene, image, wall) for image in (reference, test)]
    found = byScene(scene, nodes, settings)
    if np.isin(voxels.placement.direction, (-1, 0, 1)).all():
        assert found.toDictionary()["measurements"] == expected.toDictionary()["measurements"]
    requireAlike(found, expected)


@some.few
@given(some.pairsOfMasks(some.placements(), 6), some.settings(), some.turns(), some.shifts())
def testSegmentsUnderATransformAreMeasuredAlike(scene, voxels, settings, turn, shift):
    """They are where the transform puts them, as images that were stored there."""
    settings = settings.replace(critical=(("Wall", 1.0),))
    reference, test, wall = voxels.images(voxels.placement.moved(turn, shift))
    expected = compare(reference, test, settings, criticals={"Wall": wall})
    still = voxels.images()
    nodes = [nodeOf(scene, image, still[2]) for image in still[:2]]
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = turn, shift
    transform = move(scene, *nodes, matrix=RAS_FROM_LPS @ matrix @ RAS_FROM_LPS)
    try:
        requireAlike(byScene(scene, nodes, settings), expected)
    finally:
        scene.RemoveNode(transform)
