"""What the grid contributes: held against balls that are put on shifted grids by the formula of a ball."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.gridspread import NOTE, SEED, SHIFTS
from SegmentMetricsLib.case.records import Record
from SegmentMetricsLib.comparison.measurements import Measurement
from SegmentMetricsLib.geometry.meshing import fromPolyData
from SegmentMetricsLib.model import inputs
from SegmentMetricsLib.show import tables

RADII, MOVED, SPACING = {"A": 6.0, "B": 5.0}, {"A": (0, 0, 0), "B": (1, 0.5, 0)}, (1.0, 1.5, 2.0)


def smooth(structure):
    """Return a structure with the surface of its ball, as the one that is displayed."""
    surface = fromPolyData(shapes.ballMesh(RADII[structure.name], MOVED[structure.name], 160))
    return replace(structure, givenSurface=surface, surfaceKind="displayed")


@pytest.fixture(scope="module")
def spread():
    images = {name: shapes.ball(RADII[name], MOVED[name], SPACING, (-15, -15, -16), (30, 20, 16)) for name in "AB"}
    balls = [inputs.structureFromImage(image, name, None, 0.5).named(name) for name, image in images.items()]
    return compare(*balls, Settings(metrics=("DSC", "VoxelVolumeTest"))).withGridUncertainty(smooth)


def testItIsTheSpreadOverShiftsOfTheGrid(spread):
    center = np.stack(np.meshgrid(*[np.arange(-20.0, 21)] * 3, indexing="ij"), axis=-1)
    origin = np.array([-15.0, -15, -16])
    dice, volumes = [], []
    for shift in np.random.default_rng(SEED).uniform(-0.5, 0.5, (SHIFTS, 3)):
        # voxel centers of the reference's grid, moved
        places = (center + 15 + shift) * SPACING + origin
        a, b = (np.linalg.norm(places - MOVED[name], axis=-1) <= RADII[name] for name in "AB")
        dice.append(2 * (a & b).sum() / (a.sum() + b.sum()))
        volumes.append(b.sum() * np.prod(SPACING))
    for key, values, tolerance in (("DSC", dice, 2e-3), ("VoxelVolumeTest", volumes, 4.0)):
        grid = spread[key].grid
        expected = [np.mean(values), np.std(values, ddof=1), *np.percentile(values, (2.5, 97.5))]
        np.testing.assert_allclose(grid[:4], expected, atol=tolerance)
        assert grid.shifts == SHIFTS and grid.low <= grid.mean <= grid.high and grid.sd > 0


def testItIsInFilesAndTables(spread):
    dsc = spread["DSC"]
    told = dsc.toDictionary()["gridUncertainty"]
    assert list(told) == ["mean", "sd", "low", "high", "shifts"] and told["mean"] == dsc.grid.mean
    assert Measurement.fromDictionary("DSC", dsc.toDictionary()).grid == dsc.grid
    record = spread.record()
    assert isinstance(record, Record)
    heading, _, *rows = tables.pairTable(record).splitlines()
    assert heading.split()[-6:] == ["grid:", "mean", "SD", "95", "%", "range"]
    assert f"{dsc.grid.mean:.3f}" in rows[0] and f"{dsc.grid.low:.3f} to {dsc.grid.high:.3f}" in rows[0]
    overview = tables.overviewTable([record, record])
    assert f"shifted by fractions of a voxel ({SHIFTS} times)" in overview
    assert f"{dsc.grid.mean:.3f} ± {dsc.grid.sd:.3f}" in overview
    assert NOTE in tables.pairTable(record).split("\n\n") and NOTE in overview.split("\n\n")
    # nothing of it where nobody asked
    plain = compare(spread.reference, spread.test, spread.settings)
    assert plain["DSC"].grid is None and plain["DSC"].value == dsc.value
    assert (
        "gridUncertainty" not in plain["DSC"].toDictionary() and "grid" not in tables.pairTable(plain.record()).lower()
    )


def testAnEmptyStructureHasNoSpread():
    empty = shapes.imageOf(np.zeros((16, 20, 30), np.uint8))
    comparison = compare(shapes.ball(6), empty, Settings(metrics=("DSC",)))
    assert comparison.withGridUncertainty(smooth)["DSC"].grid is None


def testTheCommandWritesIt(tmp_path):
    pytest.importorskip("slicer", reason="slicer-core is not installed")
    import csv
    import json

    import SimpleITK

    from SegmentMetricsLib.__main__ import main

    for name, high in (("one", 12), ("two", 13)):
        SimpleITK.WriteImage(shapes.box((5, 5, 5), (12, 12, high)), str(tmp_path / f"{name}.nrrd"))
    given = ["compare", str(tmp_path / "one.nrrd"), str(tmp_path / "two.nrrd"), "--metrics", "DSC", "--numbers-only"]
    assert main([*given, "--grid-uncertainty", "--report", "--output", str(tmp_path / "out")]) == 0
    (pair,) = json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8"))["pairs"]
    told = pair["measurements"]["DSC"]["gridUncertainty"]
    (row,) = csv.DictReader((tmp_path / "out" / "metrics.csv").open(encoding="utf-8"))
    assert float(row["DSC_gridMean"]) == told["mean"] and float(row["DSC_gridHigh"]) == told["high"]
    assert {"DSC_gridSD", "DSC_gridLow"} < set(row)
    # and so does a case of a batch
    from SegmentMetricsLib.batch.cases import Task
    from SegmentMetricsLib.batch.tasks import runCase

    task = Task("case", "", str(tmp_path / "one.nrrd"), str(tmp_path / "two.nrrd"), Settings(metrics=("DSC",)))
    outcomes = [runCase(replace(task, isSpread=isSpread)) for isSpread in (True, False)]
    found = [outcome["pairs"][0]["measurements"]["DSC"] for outcome in outcomes]
    assert found[0]["gridUncertainty"] == told and "gridUncertainty" not in found[1]
    text = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "95 % range" in text and f"from {SHIFTS} shifts" in text
