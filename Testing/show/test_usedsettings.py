"""The settings of a report in words."""

from __future__ import annotations

import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.show.report.provenance import usedSettings

PAIR = shapes.box((8, 6, 6), (15, 14, 13), (24, 24, 24)), shapes.box((9, 6, 6), (15, 14, 14), (24, 24, 24))


def told(settings: Settings, measured: Settings | None = None, **more) -> dict[str, str]:
    return dict(usedSettings(settings, [compare(*PAIR, measured or settings, **more).record()]))


def testOnlyWhatDecidesNumbersIsTold():
    assert told(Settings(families="boundary")) == {
        "Measured as": "SegmentMetrics",
        "Families of measurements": "boundary",
        "Tolerance": "2 mm",
        "Percentile of the Hausdorff distance": "95 %",
        "Surface": "unsmoothed",
        "Extent": "whole",
    }
    assert list(told(Settings()))[:3] == ["Measured as", "Families of measurements", "Tolerance"]
    overlap = told(Settings(families="overlap"))
    assert "Tolerance" not in overlap and "Percentile of the Hausdorff distance" not in overlap


@pytest.mark.parametrize(("kernel", "length"), [("polynomial", "Reach"), ("exponential", "Decay length")])
def testHazardIsToldByItsKernel(kernel, length):
    settings = Settings(families="hazard", critical={"cord": 0.5}, hazardKernel=kernel)
    found = told(settings, criticals={"cord": PAIR[1]})
    assert found["Critical structures"] == "cord (0.5)" and found["Hazard falls with the distance"] == kernel
    assert [name for name in found if name.endswith("of the hazard")] == [f"{length} of the hazard"]


def testWhatAProtocolAskedForIsTold():
    """It measures with tolerances of its own, beside those that were set."""
    assert told(Settings(tolerances=(2,)), Settings(tolerances=(2, 3)))["Tolerance"] == "2 mm, 3 mm"
