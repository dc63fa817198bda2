"""What stands out on a report's first page: alarms among the findings of structures and of the case."""

from __future__ import annotations

import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.metrics.findings import split

pytest.importorskip("plotly", reason="plotly is not installed (extra report)")

from SegmentMetricsLib.show.report import Report, notices

SETTINGS = Settings(families=("boundary", "overlap"))


def report(*pairs) -> Report:
    found = Report("Case", SETTINGS)
    for pair in pairs:
        found.add(compare(*pair, SETTINGS))
    return found


def testAlarmsStandAboveTheOverviewAndLeadToTheirStructure():
    alike = shapes.ball(6), shapes.ball(7)
    apart = shapes.ball(5, (-15, 0, 0)), shapes.ball(5, (15, 0, 0))
    found = report(alike, apart)
    alarms = split(found.records[1].findings)[0]
    text = found.page(None, {}, {}, ())
    block = text[text.index('<section class="alarms">') : text.index("<h2>Overview</h2>")]
    assert "Check this first" in block and "do not overlap at all" in block
    assert block.count('href="#structure1"') == len(alarms) > 1 and "#structure0" not in block


def testWithoutAlarmsThereIsNoBlock():
    assert notices.alarms(report((shapes.ball(6), shapes.ball(7))).records, ["Only advice."]) == ""


def testAlarmsOfTheCaseHaveNoStructure():
    alarm = split(report((shapes.ball(5, (-15, 0, 0)), shapes.ball(5, (15, 0, 0)))).records[0].findings)[0][0]
    block = notices.alarms([], [alarm, "Only advice."])
    assert alarm in block and "advice" not in block and "href" not in block


def testAnAlarmOfAllStructuresIsSaidOnceAboveAndStaysWithEach():
    apart = shapes.ball(5, (-15, 0, 0)), shapes.ball(5, (15, 0, 0))
    text = report(apart, apart, apart).page(None, {}, {}, ())
    text = text[text.index("<body>") :]
    said = "The two contours do not overlap at all"
    assert text.count(said) == 4 and text.count(f"<b>All structures</b>: {said}") == 1
    assert text.index('class="alarms"') < text.index(said) < text.index("<h2>Overview</h2>")
