"""The analysis of Metrics Revolutions, on two small structures."""

from __future__ import annotations

import csv

import pytest
import shapes
import SimpleITK


@pytest.fixture(scope="module")
def revolutions(benchmark):
    return benchmark("revolutions")


def testHolm(revolutions):
    assert revolutions.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def testKinds(revolutions):
    assert revolutions.kindOf("Optic-Nerve-Lt", 0.5) == "tubular"
    assert [revolutions.kindOf("Lens-Lt", volume) for volume in (0.1, 2, 15)] == ["small", "midsize", "large"]


def testBoxPlots(revolutions, tmp_path, monkeypatch):
    """Medians are seen on every color of box, and the scale is named."""
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    drawn = []
    monkeypatch.setattr(pyplot, "close", drawn.append)
    values = [
        revolutions.Value("case", f"Lens-{n}", "small", spacing, "MedPy", key, 1 + 0.1 * n, 1.0)
        for key in revolutions.KEYS for n in range(5) for spacing in ("1 x 1 x 1", "2 x 2 x 2")
    ]  # fmt: skip
    revolutions.drawBoxes(values, tmp_path)
    assert len(drawn) == len(revolutions.KEYS) == len(list(tmp_path.glob("*.png")))
    for key, figure in zip(revolutions.KEYS, drawn):
        (axes,) = figure.axes
        linear, unit = (1, "mm") if revolutions.isDistance(key) else (5, "percentage points")
        words = f"difference to the meshes in {unit} (linear from -{linear} to {linear}, logarithmic beyond)"
        assert axes.get_xlabel() == f"{key}: {words}"
        medians = [line for line in axes.lines if line.get_color() == "black" and line.get_linewidth() == 1.5]
        assert len(medians) == 2, "one in each box"


def testTwoStructures(revolutions, tmp_path):
    for observer, radius in (("oncologist", 6), ("radiographer", 7)):
        folder = tmp_path / "data" / "case" / observer
        folder.mkdir(parents=True)
        for name, center in (("Orbit-Lt", (0, 0, 0)), ("Orbit-Rt", (1, 0, 0))):
            # meshes of these have no faces through the centers of the voxels of 2 mm that are drawn
            image = shapes.ball(radius, center, (1.1, 1.1, 1.1), (-12, -12, -12), (25, 25, 25))
            SimpleITK.WriteImage(image, str(folder / f"{name}.nrrd"))
    out = tmp_path / "out"
    revolutions.main(["--data", str(tmp_path / "data"), "--output", str(out), "--spacing", "2,2,2"])
    with (out / "values.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if (row["tool"], row["key"]) == ("MeshMetrics-0.1", "MASD")]
    assert [row["structure"] for row in rows] == ["Orbit-Lt", "Orbit-Rt"]
    for row in rows:
        assert float(row["reference"]) == pytest.approx(1, abs=0.2)
        assert float(row["value"]) == pytest.approx(1, abs=0.4)
    tables = (out / "tables.md").read_text("utf-8")
    assert "| tool | 2 x 2 x 2 (2 pairs) |" in tables and "| tool | small (2 pairs) |" in tables
    with (out / "significance.csv").open(encoding="utf-8") as file:
        assert {row["pairs"] for row in csv.DictReader(file)} == {"2"}
    revolutions.main(["--from", str(out / "values.csv"), "--output", str(tmp_path / "again")])
    assert (tmp_path / "again" / "tables.md").read_text("utf-8") == tables
