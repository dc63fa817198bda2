"""Which structures of a report come first."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.protocol.judgment import judgeCase
from SegmentMetricsLib.case.protocol.protocol import parseProtocol
from SegmentMetricsLib.model.structure import Structure
from SegmentMetricsLib.show.report.ranking import Ranking

BOX = ((5, 5, 5), (14, 14, 14))
SIZE = (20, 20, 40)


def record(name: str, high: int, families=("boundary", "overlap")):
    """Return what is measured of a box and one that ends at a row; 14 is that of the first, 0 is an empty one."""
    image = shapes.box(BOX[0], (14, 14, high), SIZE) if high else shapes.imageOf(np.zeros(SIZE[::-1], np.uint8))
    settings = Settings(tolerances=(2.0,), families=families)
    return compare(named(shapes.box(*BOX, SIZE), name), named(image, name), settings).record()


def named(image, name: str) -> Structure:
    from SegmentMetricsLib.model import inputs

    return Structure(name, inputs.structureFromImage(image, name, None, 0.5).mask)


def judged(records, table: str, unmatched=()):
    measured = [((one.name, one.name), {"SegmentMetrics": one.measurements}) for one in records]
    rules = f"Structure,Measurement,Relation,Pass,Warn\n{table}"
    return judgeCase(parseProtocol(rules, "limits.csv"), measured, {"reference": list(unmatched)})


@cache
def records():
    return [record("same", 14), record("near", 15), record("far", 24), record("farther", 30), record("free", 26)]


TABLE = "same,HD,<=,1,\nnear,HD,<=,0.5,5\nfar,HD,<=,2,5\nfar,DSC,>=,0.1,\nfarther,HD,<=,2,5\nlost,HD,<=,2,\n"


def testTheWorstComesFirst():
    ranking = Ranking(records(), judged(records(), TABLE, ["lost"]))
    assert [records()[n].name for n in ranking.order] == ["farther", "far", "near", "same", "free"]
    assert ranking.verdicts == ["pass", "warn", "fail", "fail", "no limits"]
    assert records()[ranking.worst].name == "farther"
    assert [(rule.structure, rule.verdict) for rule in ranking.rules()] == [
        ("farther", "fail"),
        ("far", "fail"),
        ("far", "pass"),
        ("lost", "not evaluable"),
        ("near", "warn"),
        ("same", "pass"),
    ]
    assert ranking.headline().endswith("</span>: 2 fail, 1 not evaluable, 1 warn, 1 pass, 1 without limits</p>")
    assert 'class="verdict fail">fail<' in ranking.headline()
    assert [ranking.isBrief(n) for n in range(5)] == [True, False, False, False, True]


def testWithoutAProtocolTheOneThatAgreesLeastIsTheWorst():
    """The order is that of the structures in the files, which people know."""
    ranking = Ranking(records(), None)
    assert ranking.order == [0, 1, 2, 3, 4] and ranking.worst == 3 and not any(ranking.verdicts)
    value = records()[3].measurements["NSD_2mm"].text()
    assert f'Lowest NSD 2 mm: <a href="#structure3">farther</a>, {value}</p>' in ranking.headline()
    assert [n for n in range(5) if not ranking.isBrief(n)] == [3]
    assert ranking.rules() == []


@pytest.mark.parametrize("families", [("boundary",), ("overlap",), ("boundary", "overlap")])
def testWhatOneSideLacksIsWorseThanWhatBothLack(families):
    records = [record("near", 15, families), record("lacking", 0, families)]
    assert Ranking(records, None).worst == 1
    empty = shapes.imageOf(np.zeros(SIZE[::-1], np.uint8))
    settings = Settings(tolerances=(2.0,), families=families)
    nothing = compare(named(empty, "nothing"), named(empty, "nothing"), settings).record()
    assert Ranking([nothing, records[0]], None).worst == 1


def testWithoutNumbersThereIsNoLowestOne():
    records = [record(name, 15, ("agreement",)) for name in "ab"]
    assert Ranking(records, None).headline() == '<p class="headline">No protocol was applied.</p>'
    assert Ranking([], None).worst is None and Ranking([], None).headline() == ""
    assert Ranking([], judged([], TABLE)).headline().endswith(": 5 not evaluable</p>")
