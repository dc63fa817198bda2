"""Figures for papers: what they show of the numbers, by the objects of which matplotlib draws them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from batchruns import outcome, rowsOf
from sayings import refused, says
from scipy.stats import spearmanr

from SegmentMetricsLib import __main__
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.batch.plots import (
    KINDS,
    STYLE,
    blandAltman,
    boxPlot,
    correlations,
    keysToPlot,
    ranksOfMethods,
    removePlots,
    structuresToPlot,
    writePlots,
)
from SegmentMetricsLib.batch.statistics import Cohort, compareMethods
from SegmentMetricsLib.batch.summaryoptions import Options

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def cohortOf(columns: dict[str, list], key: str = "HD95", name: str = "Lens") -> Cohort:
    """Return a cohort of the values of each method."""
    each = ((method, n, value) for method, values in columns.items() for n, value in enumerate(values))
    return Cohort(outcome(f"case {n}", {key: value}, method, name) for method, n, value in each)


def axesOf(cohort: Cohort, key: str = "HD95"):
    figure, caption = boxPlot(cohort, Options(), compareMethods(cohort), key, cohort.structures)
    (axes,) = figure.axes
    return axes, caption


def pointsOf(axes) -> list[float]:
    """Return the heights of all points."""
    lines = [line for line in axes.lines if line.get_linestyle() == "None" and len(line.get_ydata())]
    return sorted(float(y) for line in lines for y in line.get_ydata())


def testFewValuesAreShownAsPoints():
    values = [1.0, 2.0, 2.5, 3.0, 4.0]
    axes, caption = axesOf(cohortOf({"": values}))
    assert pointsOf(axes) == values and says(caption, "n = 5 ")
    # of many, only those beyond the whiskers
    many = [*np.linspace(1, 2, 30), 3.5]
    axes, caption = axesOf(cohortOf({"": many}))
    assert pointsOf(axes) == [3.5] and says(caption, "n = 31 ")


def testAnOutlierDoesNotSqueezeTheRest():
    for values, key, scale in (
        ([1.0, 1.1, 1.2, 1.3, 1.4] * 5 + [90.0], "HD95", "log"),
        ([0.0, 1.1, 1.2, 1.3, 1.4] * 5 + [90.0], "HD95", "symlog"),
        ([1.0, 2.0, 3.0, 4.0, 5.0] * 5 + [9.0], "HD95", "linear"),
        ([-1.0, 1.1, 1.2, 1.3, 1.4] * 5 + [90.0], "SignedMean", "linear"),
        ([0.5] * 9, "DSC", "linear"),
    ):
        axes, caption = axesOf(cohortOf({"": values}, key), key)
        assert axes.get_yscale() == scale and says(caption)


def testMissedStructuresDoNotSqueezeTheRest():
    """Their overlap of 0 is below a broken axis."""
    values = [0.9 + n / 500 for n in range(25)]
    cohort = cohortOf({"": [*values, 0.0]}, "DSC")
    figure, caption = boxPlot(cohort, Options(), [], "DSC", cohort.structures)
    upper, lower = figure.axes
    says(caption)
    assert 0.89 < upper.get_ylim()[0] < 0.9 and lower.get_ylim()[0] < 0 < lower.get_ylim()[1] < 0.1
    assert pointsOf(upper) == pointsOf(lower) == [0.0, *values]
    # not where the low values are many, or near
    assert len(axesOf(cohortOf({"": [*values, 0.0, 0.0, 0.0]}, "DSC"), "DSC")[0].figure.axes) == 1
    assert len(axesOf(cohortOf({"": [*values, 0.85]}, "DSC"), "DSC")[0].figure.axes) == 1


def testInfiniteValuesAreCounted():
    axes, caption = axesOf(cohortOf({"A": [1, 2, 3, math.inf, math.inf], "B": [1, 2, 3, 4, 5]}))
    assert [text.get_text() for text in axes.texts if "∞" in text.get_text()] == ["∞ 2"]
    says(caption)
    # no box reaches to infinity, but all finite values are there
    assert pointsOf(axes) == [1, 1, 2, 2, 3, 3, 4, 5]
    assert boxPlot(cohortOf({"": [math.inf]}), Options(), [], "HD95", ["Lens"]) is None


def testSignificantDifferencesAreMarked():
    better = [1 + n / 10 for n in range(12)]
    axes, caption = axesOf(cohortOf({"A": better, "B": [value + 1 for value in better], "C": better}))
    # A and C are the same; 12 differences of one sign: p = 2 / 2 ** 12, times two tests
    assert [text.get_text() for text in axes.texts] == ["***", "***"]
    says(caption, "Wilcoxon", "(bonferroni)")
    axes, caption = axesOf(cohortOf({"A": [1, 2, 3], "B": [2, 3, 4]}))
    assert not axes.texts and "Wilcoxon" not in caption


def testBlandAltman():
    pairs = [(1000.0, 1100.0), (2000.0, 2300.0), (3000.0, 2900.0), (4000.0, 4200.0)]
    rows = [outcome(str(n), {"VolumeReference": a, "VolumeTest": b}) for n, (a, b) in enumerate(pairs)]
    for measurement in (one for row in rows for one in row["pairs"][0]["measurements"].values()):
        measurement["unit"] = "mm3"
    figure, caption = blandAltman(Cohort(rows), ["Lens"])
    (axes,) = figure.axes
    (points,) = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert list(points.get_xdata()) == pytest.approx([1.05, 2.15, 2.95, 4.1])  # cm3
    assert list(points.get_ydata()) == pytest.approx([0.1, 0.3, -0.1, 0.2])
    # mean 0.125; deviations -0.025, 0.175, -0.225, 0.075 with squares 0.0875 / 3
    reach = 1.96 * math.sqrt(0.0875 / 3)
    levels = sorted(float(line.get_ydata()[0]) for line in axes.lines if line is not points)
    assert levels == pytest.approx([0.125 - reach, 0, 0.125, 0.125 + reach]) and says(caption)
    assert blandAltman(Cohort(rows[:2]), ["Lens"]) is blandAltman(cohortOf({"": [1, 2, 3]}), ["Lens"]) is None


def testRanking():
    """A is best in two of three blocks and shares the first place in the other."""
    cohort = cohortOf({"A": [1, 2, 3], "B": [2, 2, 4], "C": [9, math.inf, math.inf]})
    rows = ranksOfMethods(cohort, Options(), ["HD95", "SignedMean"], ["Lens"])
    assert [(row[0], row[1], row[5]) for row in rows] == [("HD95", name, 3) for name in "ABC"]
    assert [row[2] for row in rows] == pytest.approx([3.5 / 3, 5.5 / 3, 3])
    assert all(low <= mean <= high for _, _, mean, low, high, _ in rows)
    # for overlap, higher is better
    (first, second) = ranksOfMethods(cohortOf({"A": [0.5], "B": [0.7]}, "DSC"), Options(), ["DSC"], ["Lens"])
    assert (first[2], second[2]) == (2, 1)
    assert not ranksOfMethods(cohortOf({"A": [1]}), Options(), ["HD95"], ["Lens"])


def testFiles(tmp_path, monkeypatch):
    monkeypatch.setitem(STYLE, "savefig.dpi", 30)
    rows = [
        outcome(str(n), {"HD95": n + shift, "DSC": 1 - (n + shift) / 20}, method, name)
        for method, shift in (("A", 0), ("B", 1))
        for name in ("Lens <ü>", "Eye")
        for n in range(4)
    ]
    cohort = Cohort(rows)
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "mine.svg").write_text("mine")
    files = writePlots(cohort, Options(), compareMethods(cohort), tmp_path, structures=["eye"])
    names = ("HD95", "DSC", "ranking", "correlations")
    assert {path.name for path in files} == {f"{n}.{k}" for n in names for k in KINDS} | {"ranking.csv", "plots.json"}
    starts = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
    assert all(path.read_bytes().startswith(starts[path.suffix[1:]]) for path in files if path.suffix[1:] in KINDS)
    assert "Eye" in (tmp_path / "plots/HD95.svg").read_text(), "text stays text"
    assert "Lens" not in (tmp_path / "plots/HD95.svg").read_text()
    document = json.loads((tmp_path / "plots/plots.json").read_text())
    assert document["schema"] == "segment-metrics-plots/1"
    assert [entry["figure"] for entry in document["figures"]] == list(names)
    says(document["figures"][0]["caption"], "(mm)", "n = 4 ")
    says(document["figures"][3]["caption"], "8 contours")
    ranked = [(row["Method"], row["MeanRank"]) for row in rowsOf(tmp_path / "plots/ranking.csv")]
    assert ranked[:2] == [("A", "1.0"), ("B", "2.0")]
    # numbers that count otherwise have other figures
    removePlots(tmp_path, unless=Options())
    assert (tmp_path / "plots/HD95.svg").exists()
    removePlots(tmp_path, unless=Options(missing="leave-out"))
    assert [path.name for path in (tmp_path / "plots").iterdir()] == ["mine.svg"]


def testWhatIsDrawnIsChosen(tmp_path, capsys):
    assert keysToPlot([], ["HD", "HD95", "DSC", "NSD_2mm"]) == ["HD95", "DSC", "NSD_2mm"]
    assert keysToPlot(["overlap"], ["HD", "DSC", "IoU"]) == ["DSC", "IoU"]
    assert keysToPlot([], ["PBD"]) == ["PBD"]
    with refused("'Eyes'", error=InputError):
        structuresToPlot(["Eyes"], ["Eye"])
    # said before anything is compared
    (tmp_path / "cases.csv").write_text("case,reference,test\na,r,t\n")
    command = ["batch", str(tmp_path / "cases.csv"), "-o", str(tmp_path / "out"), "--metrics", "HD"]
    for options, *names in (
        (("--plots", "Sensitivty"), "Sensitivty"),
        (("--plots", "IoU"), "IoU", "--metrics"),
        (("--plot-structure", "Eye"), "--plot-structure", "--plots"),
    ):
        assert __main__.main([*command, *options]) == 2 and says(capsys.readouterr().err, *names)
    assert not (tmp_path / "out").exists()


def testRankCorrelations():
    """Every measurement ranks from the best to the worst; infinite is the worst, undefined is left out pair by pair."""

    def correlate(columns: dict):
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        cohort = Cohort(outcome(f"case {n}", row) for n, row in enumerate(rows))
        return correlations(cohort, Options(), list(columns), cohort.structures)

    # HD95 from the best: 1 2 3 4; DSC from the best: 2 1 4 3; differences of ranks 1 1 1 1: 1 - 6 * 4 / (4 * 15)
    found = correlate({"HD95": [1, 2, 3, 4], "DSC": [0.8, 0.9, 0.6, 0.7]})
    assert found.loc["HD95", "DSC"] == pytest.approx(0.6) and found.attrs["contours"] == 4
    found = correlate({"HD95": [1, 2, math.inf, math.inf], "DSC": [0.9, 0.8, 0, 0], "MASD": [1, math.nan, 2, 3]})
    assert found.loc["HD95", "DSC"] == pytest.approx(1)
    assert found.loc["HD95", "MASD"] == pytest.approx(spearmanr([1, 9, 9], [1, 2, 3]).statistic)
    assert correlate({"HD95": [1, 2], "DSC": [0, 1]}).isna().all(axis=None)
