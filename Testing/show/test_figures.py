"""The pictures of a report as data: what is drawn is what was measured."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.show import charts
from SegmentMetricsLib.show.distributions import roundAbove
from SegmentMetricsLib.show.report import figures

FEW = Settings(families="boundary")


def areas(chart: str) -> dict[str, float]:
    """Return how much of the area of a histogram is drawn in each color, of 1 in all."""
    found: dict[str, float] = {}
    for width, height, color in re.findall(r'width="([\d.]+)" height="([\d.]+)" fill="(#\w+)"', chart):
        found[color] = found.get(color, 0.0) + float(width) * float(height)
    return {color: area / sum(found.values()) for color, area in found.items()}


def mapOf(*pair) -> dict:
    comparison = compare(*pair, FEW)
    return figures.distanceMap(comparison, figures.mapSurfaces(comparison))


def farAndNear(low: int):
    """Return a box, and the same box with a second one at its far end that begins at a row."""
    size = (30, 30, 160)
    near = shapes.box((8, 8, 8), (19, 19, 19), size)
    return near, near | shapes.box((4, 4, low), (26, 26, 150), size)


@pytest.mark.parametrize("tolerance", [2.0, *rarely((0.5, 1.0, 30.0))])
def testWhatIsDrawnAsWithinIsWhatIsWithin(tolerance):
    """Also where bars are wider than the tolerance, whose middles are all beyond it."""
    comparison = compare(*farAndNear(100), FEW.replace(tolerances=(tolerance,)))
    chart = charts.distribution(comparison)
    within = comparison[f"NSD_{tolerance:g}mm"].value
    assert 0.02 < within < 0.9
    assert areas(chart)[charts.WITHIN] == pytest.approx(within, abs=0.01)
    # areas are shares, if bars are of different widths
    bars = [tuple(map(float, one)) for one in re.findall(r"<title>(\S+) to (\S+) mm: (\S+) %", chart)]
    isWide = tolerance < 3
    assert (max(high - low for low, high, _ in bars) > tolerance) == isWide == ("% per mm" in chart)
    assert sum(share for *_, share in bars) == pytest.approx(100, abs=0.3)


@pytest.mark.parametrize("decade", [0.1, 10])
@pytest.mark.parametrize("limit", [1, 1.5, 8])
def testTheColorsAreLabeledFromEndToEnd(limit, decade):
    ticks = figures.colorTicks(roundAbove(limit * decade), False, False)
    values = ticks["tickvals"]
    assert values[-1] == -values[0] == pytest.approx(limit * decade) and 0 in values and len(values) <= 11
    assert [float(text.replace(figures.MINUS, "-")) for text in ticks["ticktext"]] == values


def testADistanceMapLiesAtTheOrigin():
    """plotly.js shades what is far from the origin as if it were flat; patients may be meters away."""
    array = shapes.blob(3)
    near, far = (
        mapOf(*(shapes.imageOf(array, origin=(x + n, y, z)) for n in (0, 2)))
        for x, y, z in ((0, 0, 0), (120, 900, -1600))
    )
    for mine, other in zip(near["data"][:2], far["data"][:2], strict=True):
        for axis in "xyz":
            points, moved = (np.frombuffer(base64.b64decode(each[axis]["bdata"]), "f4") for each in (mine, other))
            assert abs(points.min() + points.max()) < 6
            np.testing.assert_allclose(points, moved, atol=1e-3)


def testADistanceBeyondTheColorsIsSaid():
    """A thin rod sticks out of the test alone, farther than the colors go."""
    size = (40, 40, 60)
    plain = shapes.box((5, 5, 5), (34, 34, 34), size)
    figure = mapOf(plain, plain | shapes.box((18, 18, 35), (19, 19, 49), size))
    assert figure["limit"] < 15
    signed, absolute = figure["ticks"]["signed"]["ticktext"], figure["ticks"]["absolute"]["ticktext"]
    assert signed[-1].startswith("≥ ") and signed[0].startswith(figures.MINUS)
    assert absolute[-1].startswith("≥ ") and absolute[0] == "0"
    assert figure["data"][0]["colorbar"]["ticktext"] == signed
    same = mapOf(plain, plain)
    assert not any(text[0] in "≤≥" for ticks in same["ticks"].values() for text in ticks["ticktext"])
