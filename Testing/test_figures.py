"""The pictures of a report as data: what is drawn is what was measured."""

from __future__ import annotations

import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.report import figures


def areas(figure: dict) -> dict[str, float]:
    """Return how much of the area of a histogram is drawn in each color, of 1 in all."""
    (bars,) = figure["data"]
    found: dict[str, float] = {}
    for height, width, color in zip(bars["y"], bars["width"], bars["marker"]["color"], strict=True):
        found[color] = found.get(color, 0.0) + height * width
    return {color: area / sum(found.values()) for color, area in found.items()}


def farAndNear(low: int):
    """Return a box, and the same box with a second one at its far end that begins at a row."""
    size = (30, 30, 160)
    near = shapes.box((8, 8, 8), (19, 19, 19), size)
    return near, near | shapes.box((4, 4, low), (26, 26, 150), size)


@pytest.mark.parametrize("tolerance", [0.5, 1.0, 2.0, 30.0])
def testWhatIsDrawnAsWithinIsWhatIsWithin(tolerance):
    """Also where bars are wider than the tolerance, whose middles are all beyond it."""
    comparison = compare(*farAndNear(100), Settings(tolerances=(tolerance,), accuracy="sampled"))
    figure = figures.distribution(comparison)
    within = comparison[f"NSD_{tolerance:g}mm"].value
    assert 0.02 < within < 0.9
    assert areas(figure)[figures.WITHIN] == pytest.approx(within, abs=1e-4)
    isWide = tolerance < 3
    assert (max(figure["data"][0]["width"]) > tolerance) == isWide
    # areas are shares of the whole then, and heights those of a whole bar
    assert (" mm)" in figure["layout"]["yaxis"]["title"]["text"]) == isWide
    parts = [part for _, _, part in figure["data"][0]["customdata"]]
    assert sum(parts) == pytest.approx(100, abs=0.01)


def testNothingIsWithinWithoutATolerance():
    figure = figures.distribution(compare(*farAndNear(100), Settings(tolerances=())))
    assert figures.WITHIN not in areas(figure)
