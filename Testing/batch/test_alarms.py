"""Alarms among many cases: a batch says which pairs must be checked before their numbers can be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import batch, table, write
from batchruns import inline as inline  # the fixtures
from batchruns import study as study

from SegmentMetricsLib.batch.alarms import MOST_PAIRS, SHORT, Alarms
from SegmentMetricsLib.metrics.findings import Finding, Kind, Severity


def testABatchTellsOfPairsThatDoNotOverlap(study, inline, capsys):
    SimpleITK.WriteImage(shapes.box((6, 14, 14), (15, 17, 17)), "data/far.nrrd")
    write("a,ref.nrrd,t1.nrrd,,", "b,ref.nrrd,far.nrrd,,new", "c,ref.nrrd,ref.nrrd,,")
    for _ in range(2):  # those of an earlier run, too
        assert batch("--metrics", "overlap") == 0
        out = capsys.readouterr().out
        assert (
            "\n\nAlarms: 2 of 3 pairs must be checked before their numbers can be used; results.csv lists all alarms.\n"
            "  no overlap at all (1): Label 1 of b (new)\n"
            "  the same structure of the same file twice (1): Label 1 of c\n"
        ) in out
    rows = table()
    assert [row["Alarms"] for row in rows] == ["", "no overlap at all", "the same structure of the same file twice"]
    assert json.loads(Path("out/summary.json").read_text())["alarms"] == [
        {"alarm": "no overlap at all", "pairs": [{"case": "b", "method": "new", "structure": "Label 1"}]},
        {
            "alarm": "the same structure of the same file twice",
            "pairs": [{"case": "c", "method": "", "structure": "Label 1"}],
        },
    ]
    write("a,ref.nrrd,t1.nrrd,,")
    assert batch("--metrics", "overlap", "--overwrite") == 0 and "Alarms" not in capsys.readouterr().out


@pytest.mark.parametrize("number", [1, MOST_PAIRS + 2])
def testTheFirstPairsAreNamed(number):
    finding = Finding.of(Kind.NO_OVERLAP).toDictionary()  # as in files
    alarms = Alarms()
    for case in range(number):
        pair = {"reference": {"name": "A"}, "test": {"name": "B\n"}, "findings": ["Else.", finding]}
        alarms.add({"case": str(case), "method": "", "pairs": [pair]})
    first, line = alarms.lines()
    their = " must be checked before its" if number == 1 else "s must be checked before their"
    assert first.startswith(f"Alarms: {number} of {number} pair{their} numbers can be used;")
    named = ", ".join(f"A / B  of {case}" for case in range(min(number, MOST_PAIRS)))
    assert line == f"  no overlap at all ({number}): {named}" + (" and 2 more" if number > 1 else "")


def testEveryAlarmHasAFewWords():
    assert set(SHORT) == {kind for kind in Kind if kind.severity == Severity.ALARM}
    assert Alarms().lines() == []
