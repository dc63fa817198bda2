"""One road for every number: the command line, Python and the segments of a scene measure the same, to the last digit."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapes
import SimpleITK
import strategies as some
from hypothesis import given

from SegmentMetricsLib import compare
from SegmentMetricsLib.__main__ import main
from SegmentMetricsLib.files.reading import readStructures

pytestmark = pytest.mark.usefixtures("coarse", "withoutPictures")

SEGMENTS = [{"ID": name, "Name": name, "LabelValue": 1, "Layer": layer} for layer, name in enumerate(("Organ", "Wall"))]


@pytest.fixture(scope="module")
def withoutPictures():
    """Pictures take long, and hold no numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("SegmentMetricsLib.commands.compare.Overlays.write", lambda self, result, path: None)
        yield


@pytest.fixture(scope="module")
def scene():
    pytest.importorskip("slicer", reason="needs Slicer's classes: pip install slicer-core")
    from SegmentMetricsLib.mrml import headless

    return headless.ensureScene()


def withWall(voxels, settings):
    return settings.changed(critical=(("Wall", 1.0),))


def written(voxels, folder) -> list:
    """Write reference and test, each with the critical structure, as Slicer does, and return the paths."""
    place, paths = voxels.placement, []
    geometry = {
        "spacing": place.spacing, "origin": place.origin, "direction": np.array(place.direction).ravel().tolist(),
    }  # fmt: skip
    for name, array in (("reference", voxels.reference), ("test", voxels.test)):
        layers = [layer.astype(np.uint8) for layer in (array, voxels.critical)]
        paths.append(folder / f"{name}.seg.nrrd")
        SimpleITK.WriteImage(shapes.segmentation(layers, SEGMENTS, **geometry), str(paths[-1]))
    return paths


def byCommandLine(paths, settings, folder) -> dict:
    saved, output = folder / "settings.json", folder / "results"
    saved.write_text(json.dumps({"settings": settings.toDictionary()}))
    names = ["--structure", "Organ"]
    assert main(["compare", *map(str, paths), "--output", str(output), "--settings", str(saved), *names]) == 0
    return json.loads((output / "metrics.json").read_text())["pairs"][0]["measurements"]


def byPython(paths, settings) -> dict:
    sets = [{structure.name: structure for structure in readStructures(path)} for path in paths]
    found = compare(sets[0]["Organ"], sets[1]["Organ"], settings, criticals={"Wall": sets[0]["Wall"]})
    return found.toDictionary()["measurements"]


def byScene(scene, paths, settings) -> dict:
    from SegmentMetricsLib import mrml

    nodes = []
    for path in paths:
        nodes.append(scene.AddNewNodeByClass("vtkMRMLSegmentationNode"))
        storage = scene.AddNewNodeByClass("vtkMRMLSegmentationStorageNode")
        storage.SetFileName(str(path))
        assert storage.ReadData(nodes[-1])
        scene.RemoveNode(storage)
    try:
        return mrml.compareSegments(nodes[0], "Organ", nodes[1], "Organ", settings).toDictionary()["measurements"]
    finally:
        for node in nodes:
            scene.RemoveNode(node)


@given(some.pairsOfMasks(some.placements(), 6), some.settings())
def testFilesAreMeasuredAlike(tmp_path_factory, voxels, settings):
    folder = tmp_path_factory.mktemp("routes")
    settings = withWall(voxels, settings)
    paths = written(voxels, folder)
    assert byCommandLine(paths, settings, folder) == byPython(paths, settings)


@given(some.pairsOfMasks(some.placements(), 6), some.settings())
def testSegmentsAreMeasuredAlike(scene, tmp_path_factory, voxels, settings):
    folder = tmp_path_factory.mktemp("routes")
    settings = withWall(voxels, settings)
    paths = written(voxels, folder)
    assert byScene(scene, paths, settings) == byPython(paths, settings)
