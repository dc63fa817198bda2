"""The analysis of Metrics Revolutions: on small structures, and what is known of the real ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from reference import HEAD_AND_NECK, needsReference

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def revolutions(benchmark):
    return benchmark("revolutions")


def testSignificance(revolutions):
    """Twenty differences of one sign: p is 2 / 2^20; three tests; single precision alone is no difference."""
    first = [1 + 0.01 * n for n in range(1, 21)]
    numbers = {"MetricsReloaded": first, "MONAI": [value + 3e-7 for value in first], "SegmentMetrics": [1.0] * 20}
    rows = [
        (f"case {n}", "Lens-Lt", 0.2, "2 x 2 x 2", 0, tool, "MASD", value, 1.0, 1.2)
        for tool, row in numbers.items()
        for n, value in enumerate(row)
    ]
    found = revolutions.significance(pd.DataFrame(rows, columns=revolutions.COLUMNS))
    assert len(found) == 3
    rows = found.set_index(["first", "second"])
    assert tuple(rows.loc[("MetricsReloaded", "MONAI"), ["p", "bonferroni", "holm"]]) == (1, 1, 1)
    apart = rows.loc[("MetricsReloaded", "SegmentMetrics")]
    assert apart["p"] == pytest.approx(2 / 2**20) and apart["medianDifference"] == pytest.approx(0.105)
    assert (apart["bonferroni"], apart["holm"]) == pytest.approx((3 * apart["p"],) * 2)
    # the definition is no tool: of two tools none differ
    assert "| MASD | 0 / 0 of 1 |" in revolutions.counts(found)


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
    rows = [row for row in rowsOf(out / "values.csv") if (row["key"], row["start"]) == ("MASD", "0")]
    values = {tool: [row for row in rows if row["tool"] == tool] for tool in ("MeshMetrics-0.1", "SegmentMetrics")}
    for papers, ours in zip(*values.values(), strict=True):
        assert float(papers["volume"]) == pytest.approx(4 / 3 * np.pi * 6**3 / 1000, rel=0.05)
        assert float(papers["original"]) == pytest.approx(1, abs=0.2)
        # the paper's program measures on meshes of the same voxels as the definition, at fewer places
        assert papers["value"] == papers["remeshed"] == ours["remeshed"]
        assert float(ours["value"]) == pytest.approx(float(papers["value"]), abs=0.02)
        assert abs(float(ours["value"]) - float(ours["original"])) > 0.005
    assert [row["structure"] for row in values["SegmentMetrics"]] == ["Orbit-Lt", "Orbit-Rt"]
    tables = (out / "tables.md").read_text("utf-8")
    assert "| tool | 2 x 2 x 2 (2 pairs) |" in tables and "| tool | small (2 pairs) |" in tables
    assert "### Where the grid starts, at 2 x 2 x 2 mm" in tables
    assert {row["pairs"] for row in rowsOf(out / "significance.csv")} == {"2"}
    revolutions.main(["--from", str(out / "values.csv"), "--output", str(tmp_path / "again")])
    assert (tmp_path / "again" / "tables.md").read_text("utf-8") == tables


@needsReference
def testTheSignDependsOnWhereTheGridStarts(revolutions, tmp_path):
    """HD95 of DeepMind at 2 mm: too small for the meshes of the voxels from everywhere, as in the paper.

    Against the original meshes it is too large or too small, as the grid starts. The growth of HD depends on that, too.
    """
    values = revolutions.measured(HEAD_AND_NECK, [(2.0, 2.0, 2.0)], 200.0, tmp_path / "values.csv", ["DeepMind"])

    def means(tool, key, reference):
        found = revolutions.differences(values[(values["tool"] == tool) & (values["key"] == key)], reference)
        starts = found.groupby("start")["difference"]
        assert set(starts.count()) == {52}
        corner, *others = starts.mean()
        return [corner, np.mean(others), np.std(others, ddof=1), min(others), max(others)]

    ofVoxels = means("DeepMind", "HD95", "remeshed")
    assert ofVoxels == pytest.approx([-0.14, -0.10, 0.05, -0.18, -0.04], abs=0.006)
    ofMeshes = means("DeepMind", "HD95", "original")
    assert ofMeshes == pytest.approx([0.11, 0.04, 0.09, -0.07, 0.15], abs=0.006)
    assert means("SegmentMetrics", "HD", "original") == pytest.approx([0.48, 0.25, 0.17, 0.02, 0.50], abs=0.006)
    assert means("SegmentMetrics", "HD95", "original") == pytest.approx([0.25, 0.15, 0.06, 0.07, 0.24], abs=0.006)
