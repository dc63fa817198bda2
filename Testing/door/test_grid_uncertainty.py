"""What the grid contributes: surfaces put on other grids by VTK's own filters, and balls by their formula."""

from __future__ import annotations

import csv
import json
import math
import re

import numpy as np
import pytest
import shapes
import SimpleITK
from sayings import says
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkImagingStencil import vtkImageStencilToImage, vtkPolyDataToImageStencil

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.__main__ import main

SPACING = np.array((1.0, 1.2, 2.5))
KEYS = ("DSC", "VoxelVolumeTest")


def nerve(shift: float) -> np.ndarray:
    """Return a bent tube with a radius of 2.2 mm in voxels [k, j, i] of SPACING."""
    k, j, i = np.mgrid[:16, :34, :30]
    x, y, z = (index * side for index, side in zip((i, j, k), SPACING))
    t = (y - 8) / 26
    near = np.hypot(x - 9 - shift - 10 * t, z - 16 - 8 * t**2)
    return ((near <= 2.2) & (t >= 0) & (t <= 1)).astype(np.uint8)


def voxelized(surface, shift: np.ndarray, shape: tuple) -> np.ndarray:
    """Return which centers of a grid are within a surface. shift: of the grid in voxels along x, y, z."""
    stencil, image = vtkPolyDataToImageStencil(), vtkImageStencilToImage()
    stencil.SetInputData(surface)
    stencil.SetOutputOrigin(shift * SPACING)
    stencil.SetOutputSpacing(SPACING)
    stencil.SetOutputWholeExtent([end for size in shape[::-1] for end in (0, size - 1)])
    image.SetInputConnection(stencil.GetOutputPort())
    image.SetInsideValue(1)
    image.SetOutsideValue(0)
    image.Update()
    return vtk_to_numpy(image.GetOutput().GetPointData().GetScalars()).reshape(shape) > 0


MASKS = nerve(0), nerve(0.8)


@pytest.fixture(scope="module")
def spread():
    images = [shapes.imageOf(one, SPACING) for one in MASKS]
    settings = Settings(metrics=(*KEYS, "HD95", "HD", "NSD", "SignedMean"), tolerances=0.9)
    return compare(*images, settings).withGridUncertainty()


def testItIsThatOfAnotherVoxelization(spread):
    surfaces = [shapes.surfaceOf(shapes.imageOf(one, SPACING)) for one in MASKS]
    shifts = np.random.default_rng(7).uniform(-0.5, 0.5, (200, 3))
    pairs = np.array([[voxelized(s, shift, MASKS[0].shape) for s in surfaces] for shift in shifts])
    sizes = pairs.sum(axis=(2, 3, 4))
    dice = 2 * pairs.all(axis=1).sum(axis=(1, 2, 3)) / sizes.sum(axis=1)
    for key, values in zip(KEYS, (dice, sizes[:, 1] * SPACING.prod())):
        grid, number = spread[key].grid, spread[key].value
        assert grid.sd == pytest.approx(values.std(ddof=1), rel=0.25)
        # the surface of so thin a tube encloses less than its voxels
        assert values.mean() < number - values.std() and grid.mean == pytest.approx(values.mean(), rel=0.02)
    assert spread["DSC"].grid.shifts == 36


def testTheRangeIsAroundTheNumber(spread):
    limits = {"DSC": (0, 1), "NSD_0.9mm": (0, 1), "SignedMean": (-math.inf, math.inf)}
    for key, measurement in spread.measurements.items():
        (mean, sd, low, high, _), number = measurement.grid, measurement.value
        least, most = limits.get(key, (0, math.inf))
        assert (low, high) == pytest.approx((max(number - 1.96 * sd, least), min(number + 1.96 * sd, most)))
        assert sd > 0 and low <= number <= high
        assert mean is None or abs(mean - number) > sd
    assert spread["HD95"].grid.mean is None


def testAMeshIsPutOnTheGridAsItIs():
    center, radius, origin = np.array((1.0, 0.5, 0.0)), 5.0, np.array((-15.0, -15.0, -15.0))
    image = shapes.ball(6, spacing=(1, 1.5, 2), origin=origin, size=(30, 20, 15))
    mesh = shapes.ballMesh(radius, center, 160)
    grid = compare(image, mesh, Settings(metrics=("VoxelVolumeTest",))).withGridUncertainty()["VoxelVolumeTest"].grid
    places = np.stack(np.meshgrid(np.arange(30), np.arange(20), np.arange(15), indexing="ij"), axis=-1)
    volumes = [
        3 * (np.linalg.norm((places + shift) * (1, 1.5, 2) + origin - center, axis=-1) <= radius).sum()
        for shift in np.random.default_rng(3).uniform(-0.5, 0.5, (200, 3))
    ]
    assert grid is not None and grid.sd == pytest.approx(np.std(volumes), rel=0.25)
    # of whole numbers, as those of voxels of 3 mm3, n (n - 1) times the variance is a whole number
    scaled = (grid.sd / 3) ** 2 * grid.shifts * (grid.shifts - 1)
    assert scaled == pytest.approx(round(scaled), abs=1e-4)


def testWhatVanishesHasNoRange(tmp_path, capsys):
    paths = [str(tmp_path / name) for name in ("large.nrrd", "voxel.nrrd")]
    for (low, high), path in zip(((2, 8), (5, 5)), paths):
        SimpleITK.WriteImage(shapes.box((low,) * 3, (high,) * 3, (12, 12, 12)), path)
    assert main(["compare", *paths, "--grid-uncertainty", "--numbers-only", "-o", str(tmp_path / "out")]) == 0
    (pair,) = json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8"))["pairs"]
    assert not any("gridUncertainty" in one for one in pair["measurements"].values())
    # its surface is an octahedron: it has a center with a probability of 1/6
    (told,) = [finding["text"] for finding in pair["findings"] if finding["kind"] == "remark"]
    number, of = map(int, re.findall(r"\d+", told))
    assert 22 <= number <= of == 36 and "reference" not in told
    says(re.sub(r"\d+", "...", told), "test")
    assert told in " ".join(capsys.readouterr().out.split())
    empty = shapes.box((5, 5, 5), (5, 5, 5), (12, 12, 12)) * 0
    assert compare(paths[0], empty, Settings(metrics=("DSC",))).withGridUncertainty()["DSC"].grid is None


def testLesionsOfAnInstanceMapMoveWithTheGrid(tmp_path):
    boxes = {1: ((4, 4, 4), (7, 8, 8)), 2: ((8, 4, 4), (12, 8, 8)), 3: ((4, 14, 14), (9, 18, 18))}
    other = {1: ((4, 4, 5), (7, 8, 8)), 2: ((8, 4, 4), (12, 7, 8)), 3: ((5, 14, 14), (9, 18, 18))}
    paths = [str(tmp_path / name) for name in ("one.nrrd", "two.nrrd")]
    for path, lesions in zip(paths, (boxes, other)):
        SimpleITK.WriteImage(shapes.labelImage(lesions), path)
    given = ["--instances", "--metrics", "LesionDSC,LesionsFound", "--grid-uncertainty", "--numbers-only"]
    assert main(["compare", *paths, *given, "-o", str(tmp_path / "out")]) == 0
    (pair,) = json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8"))["pairs"]
    found = {key: (one["value"], one["gridUncertainty"]["sd"]) for key, one in pair["measurements"].items()}
    # lesions that touch stay apart on every grid
    assert found["LesionsFound"] == (3, 0) and 0.002 < found["LesionDSC"][1] < 0.2


def testTheCommandWritesIt(tmp_path, capsys):
    for name, high in (("one", 12), ("two", 13)):
        SimpleITK.WriteImage(shapes.box((5, 5, 5), (12, 12, high)), str(tmp_path / f"{name}.nrrd"))
    paths = [str(tmp_path / "one.nrrd"), str(tmp_path / "two.nrrd")]
    given = [*paths, "--metrics", "DSC", "--numbers-only", "--grid-uncertainty"]
    assert main(["compare", *given, "--report", "--output", str(tmp_path / "out")]) == 0
    (pair,) = json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8"))["pairs"]
    dsc = pair["measurements"]["DSC"]
    told = dsc["gridUncertainty"]
    assert list(told) == ["mean", "sd", "low", "high", "shifts"] and told["low"] <= dsc["value"] <= told["high"]
    (row,) = csv.DictReader((tmp_path / "out" / "metrics.csv").open(encoding="utf-8"))
    assert float(row["DSC_gridSD"]) == told["sd"] and float(row["DSC_gridHigh"]) == told["high"]
    assert row["DSC_gridMean"] == ("" if told["mean"] is None else repr(told["mean"])) and "DSC_gridLow" in row
    text = (tmp_path / "out" / "report.html").read_text("utf-8")
    note = text.partition("measured spread")[2].partition('<p class="soft">')[2].partition("</p>")[0]
    says(note, 36)
    printed = " ".join(capsys.readouterr().out.split())
    for shown in (text, printed):
        assert "95 % range" in shown and note in shown
        assert f"{told['low']:.3f} to {told['high']:.3f}" in shown
    # of several structures, beside each number
    for name, high in (("one", 12), ("two", 13)):
        labels = shapes.labelImage({1: ((5, 5, 5), (12, 12, high)), 2: ((15, 5, 5), (20, 9, 9))})
        SimpleITK.WriteImage(labels, str(tmp_path / f"{name}_labels.nrrd"))
    several = [path.replace(".nrrd", "_labels.nrrd") for path in paths]
    assert main(["compare", *several, "--metrics", "DSC", "--grid-uncertainty"]) == 0
    assert f"{dsc['value']:.3f} ± {told['sd']:.3f}" in capsys.readouterr().out
    # the same in a batch, and nothing of it where nobody asked
    cases = tmp_path / "cases.csv"
    cases.write_text(f"case,reference,test\na,{paths[0]},{paths[1]}\n")
    for extra, expected in ((["--grid-uncertainty"], told), ([], None)):
        out = tmp_path / f"batch{len(extra)}"
        assert main(["batch", str(cases), "--metrics", "DSC", "--workers", "1", "-o", str(out), *extra]) == 0
        (line,) = (out / "results.jsonl").read_text("utf-8").splitlines()
        (one,) = json.loads(line)["pairs"]
        assert one["measurements"]["DSC"].get("gridUncertainty") == expected
