"""The results of a batch as data frames."""

from __future__ import annotations

import json
import math
import sys

import pytest
import samplefiles
from test_statistics import outcome

from SegmentMetricsLib import Settings, compareCase, readBatch
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.batch.statistics import OVERALL

pandas = pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture
def folder(tmp_path):
    """The output of a batch of three cases and two methods, in the order of completion, with a torn line."""
    rows = []
    done = [("=3", "b", 0.7, 3.0), ("1", "a", 0.9, 1.0), ("1", "b", 0.8, 2.0), ("=3", "a", 0.6, 1.5)]
    for case, method, dice, far in (*done, ("2", "a", 0.5, math.nan), ("2", "b", 0.0, math.inf)):
        one, two = (outcome(case, {"DSC": dice, "HD95": far}, method, name) for name in ("Lens", "Eye"))
        one["pairs"] += two["pairs"]
        given = {"status": "ok", "fingerprint": "x", "reason": "Odd." if case == "2" else "", "missing": []}
        if (case, method) == ("2", "b"):
            given["missing"] = [{**one["pairs"].pop(), "missing": "test"}]
        rows.append(json.dumps({**one, **given}))
    (tmp_path / "results.jsonl").write_text("\n".join([*rows, rows[0][:30]]))
    order = "Case,Method,Structure\n1,a,Lens\n1,a,Eye\n1,b,Lens\n2,a,Lens\n2,b,Lens\n'=3,a,Lens\n'=3,b,Lens\n"
    (tmp_path / "results.csv").write_text(order)
    return tmp_path


def testFrames(folder):
    batch = readBatch(folder)
    frame = batch.toFrame()
    assert list(frame.columns) == ["Missing", "HD95", "DSC"] and len(frame) == 12
    # in the order of the cases, so that the second method is b as in the other tables
    assert list(dict.fromkeys(frame.index.get_level_values("Case"))) == ["1", "2", "=3"]
    assert frame.loc[("2", "b", "Eye"), "Missing"] == "test" and math.isinf(frame.loc[("2", "b", "Eye"), "HD95"])
    assert math.isnan(frame.loc[("2", "a", "Lens"), "HD95"])
    assert frame.loc[("=3", "b", "Lens"), "DSC"] == 0.7
    summary = batch.summary()
    assert summary.loc[("Lens", "a", "DSC"), "mean"] == pytest.approx((0.9 + 0.5 + 0.6) / 3)
    assert list(dict.fromkeys(summary.index.get_level_values("structure"))) == ["Lens", "Eye", OVERALL]
    tests = batch.tests()
    assert tests.loc[("Lens", "DSC", "a", "b"), "medianDifference"] == pytest.approx(-0.1)
    assert batch.failures() == {"2 (a)": "Odd.", "2 (b)": "Odd."}
    assert repr(batch) == "<BatchResults: 6 cases, structures: 2, methods: 2>" and "<table" in batch._repr_html_()


def testWhatIsNoBatch(tmp_path):
    with pytest.raises(InputError, match="there are no results of a batch, as there is no"):
        readBatch(tmp_path)
    with pytest.raises(InputError):
        readBatch(3)


def testACaseIsAFrame(tmp_path, monkeypatch):
    files = samplefiles.writeHeadAndNeck(tmp_path)
    case = compareCase(*files[:2], Settings(metrics=("DSC",)), names=["Eye_L", "Brainstem"])
    frame = case.toFrame()
    assert list(frame.index) == [("Brainstem", "DSC"), ("Eye_L", "DSC")] and frame.index.names == ["structure", "key"]
    assert frame.loc[("Eye_L", "DSC"), "value"] == case[1]["DSC"].value
    assert list(frame.columns) == list(case[0].toFrame().columns)
    assert case[:0].toFrame().empty
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="A frame needs pandas, which is not installed"):
        case.toFrame()
