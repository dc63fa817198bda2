"""The analysis of Metrics Revolutions: on small structures, and what is known of the real ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
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
