"""Box plots of a cohort as SVG pictures, which every browser can show and which need no graphics card to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..analysis.distributions import roundAbove
from ..base.markup import escaped
from ..base.texts import oneLine, shortest
from ..comparison.measurements import ROUNDING
from ..families.registry import findDefinition
from .statistics import NO_METHOD, Box, Cohort, box
from .summaryoptions import Options

# Colors that people with color vision deficiencies can distinguish (Okabe & Ito); reused in a cycle.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INK, PALE = "#24292f", "#d0d7de"
SLOT, BOX_WIDTH, HEIGHT = 26, 16, 320
LEFT, TOP, BOTTOM, RIGHT = 70, 64, 150, 20
TICKS = 5
# Pixels between the axis and the line that stands for infinity.
APART = 30
# Most characters of the title, of a method and of a structure; and pixels per character, level and rotated.
MOST_CHARACTERS, MOST_OF_METHOD, MOST_OF_STRUCTURE = 90, 40, 26
CHARACTER, SLANTED = 7, 5


@dataclass(frozen=True)
class Series:
    """The boxes of one method, one per structure; None where it has no values that can be ordered.

    infinite: number of infinite values of each structure, which lie beyond the axis or, without a better direction, in
    no box.
    """

    method: str
    boxes: Sequence[Box | None]
    infinite: Sequence[int]


def boxPlot(
    title: str,
    structures: Sequence[str],
    series: Sequence[Series],
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> str:
    """Return a picture with a group of boxes per structure and a color per method.

    Boxes and whiskers that reach to infinity end at a line of its own, apart from the axis. limits: range of possible
    values.
    """
    boxes = [one for given in series for one in given.boxes if one is not None]
    drawn = [value for one in boxes for value in (one.low, one.q1, one.q3, one.high)]
    ends = [value for value in (*drawn, *(v for one in boxes for v in one.outliers)) if math.isfinite(value)]
    ticks = axisTicks(min(ends), max(ends), *limits)
    top = TOP + (APART if math.inf in drawn else 0)
    bottom = TOP + HEIGHT - (APART if -math.inf in drawn else 0)
    narrowest = SLOT * len(series) + 12
    shown = svgText(title)
    entries = [max(120, 35 + CHARACTER * len(given.method[:MOST_OF_METHOD])) for given in series]
    inner = max(narrowest * len(structures), sum(entries), round(8.8 * len(title[:MOST_CHARACTERS])))
    # if the title or legend is wider than the boxes, spread the boxes over that width
    offsets = [inner * (place + 0.5) / len(structures) for place in range(len(structures))]
    # slanted names end below their boxes and begin farther left
    names = [SLANTED * len(structure[:MOST_OF_STRUCTURE]) for structure in structures]
    left = max(LEFT, *(math.ceil(name - offset) + 8 for name, offset in zip(names, offsets, strict=True)))
    width = left + inner + RIGHT
    centers = [round(left + offset, 2) for offset in offsets]
    height = TOP + HEIGHT + BOTTOM

    def y(value: float) -> float:
        if math.isinf(value):
            return TOP if value > 0 else TOP + HEIGHT
        return round(top + (bottom - top) * (ticks[-1] - value) / (ticks[-1] - ticks[0]), 2)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="22" font-size="15" font-weight="bold">{shown}</text>',
    ]
    for tick in ticks:
        parts.append(f'<line x1="{left}" x2="{width - RIGHT}" y1="{y(tick)}" y2="{y(tick)}" stroke="{PALE}"/>')
        parts.append(f'<text x="{left - 8}" y="{y(tick) + 4}" text-anchor="end">{shortest(tick)}</text>')
    for far, sign in ((math.inf, "∞"), (-math.inf, "-∞")):
        if far in drawn:
            line = f'stroke="{PALE}" stroke-dasharray="4"'
            parts.append(f'<line x1="{left}" x2="{width - RIGHT}" y1="{y(far)}" y2="{y(far)}" {line}/>')
            parts.append(f'<text x="{left - 8}" y="{y(far) + 4}" text-anchor="end">{sign}</text>')
    for number, given in enumerate(series):
        color = COLORS[number % len(COLORS)]
        if len(series) > 1:
            x = left + sum(entries[:number])
            parts.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{color}"/>')
            parts.append(f'<text x="{x + 17}" y="46">{svgText(given.method or NO_METHOD, MOST_OF_METHOD)}</text>')
        for center, one, infinite in zip(centers, given.boxes, given.infinite, strict=True):
            x = round(center + SLOT * (number - (len(series) - 1) / 2), 2)
            if one is not None:
                parts += _drawn(one, x, y, color)
            if infinite:
                parts.append(f'<text x="{x}" y="{TOP - 6}" font-size="10" text-anchor="middle">∞ {infinite}</text>')
    for x, structure in zip(centers, structures, strict=True):
        below = TOP + HEIGHT + 14
        parts.append(
            f'<text x="{x}" y="{below}" text-anchor="end" transform="rotate(-45 {x} {below})">'
            f"{svgText(structure, MOST_OF_STRUCTURE)}</text>"
        )
    return "\n".join([*parts, "</svg>\n"])


def _drawn(one: Box, x: float, y, color: str) -> list[str]:
    left, half = x - BOX_WIDTH / 2, BOX_WIDTH / 4
    line = f'stroke="{INK}" stroke-width="1.2"'
    parts = [
        f'<line x1="{x}" x2="{x}" y1="{y(a)}" y2="{y(b)}" {line}/>' for a, b in ((one.q3, one.high), (one.low, one.q1))
    ]
    parts += [f'<line x1="{x - half}" x2="{x + half}" y1="{y(v)}" y2="{y(v)}" {line}/>' for v in (one.low, one.high)]
    size = round(max(y(one.q1) - y(one.q3), 0.5), 2)
    fill = f'fill="{color}" fill-opacity="0.65"'
    parts.append(f'<rect x="{left}" y="{y(one.q3)}" width="{BOX_WIDTH}" height="{size}" {fill} {line}/>')
    parts.append(
        f'<line x1="{left}" x2="{left + BOX_WIDTH}" y1="{y(one.median)}" y2="{y(one.median)}" stroke="{INK}" '
        'stroke-width="2"/>'
    )
    parts += [
        f'<circle cx="{x}" cy="{y(value)}" r="2.2" fill="none" {line}/>'
        for value in one.outliers
        if math.isfinite(value)
    ]
    return parts


def axisTicks(low: float, high: float, least: float = -math.inf, most: float = math.inf) -> list[float]:
    """Return ticks 1, 2 or 5 times a power of ten apart that enclose the values from low to high.

    least, most: range of possible values; the axis does not extend beyond it unless values do.
    """
    least, most = min(least, low), max(most, high)
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        middle = (low + high) / 2
        half = (abs(middle) or 1.0) / 2
        low, high = max(middle - half, least), min(middle + half, most)
    step = roundAbove((high - low) / TICKS, (1, 2, 5))
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    ticks = [float(f"{number * step:.10g}") for number in range(first, last + 1)]
    # ends of ranges are integers and therefore ticks; rounding must not remove these
    return [tick for tick in ticks if least - 1e-9 * step <= tick <= most + 1e-9 * step]


def svgText(text: str, length: int = MOST_CHARACTERS) -> str:
    """Return text escaped for SVG; characters that XML does not allow become question marks."""
    shown = oneLine(text if len(text) <= length else f"{text[: length - 1]}…")
    return escaped(shown.encode("utf-8", "replace").decode("utf-8").replace("\ufffe", "?").replace("\uffff", "?"))


def boxPlots(cohort: Cohort, options: Options, titles) -> dict[str, str]:
    """Return a picture, by key, for every measurement that has finite values. titles: of the measurements, by key."""
    given, ranked = cohort.given(options), cohort.ranked(options)

    def infinite(name: tuple[str, str, str]) -> int:
        return sum(math.isinf(value.value) for value in given.get(name, {}).values())

    result = {}
    for key in cohort.keys:
        structures = [s for s in cohort.structures if any(ranked.get((s, m, key)) for m in cohort.methods)]
        groups = {m: [list(ranked.get((s, m, key), {}).values()) for s in structures] for m in cohort.methods}
        series = [
            Series(
                method,
                [box(values) if values else None for values in ofMethod],
                [infinite((s, method, key)) for s in structures],
            )
            for method, ofMethod in groups.items()
        ]
        if any(math.isfinite(value) for ofMethod in groups.values() for values in ofMethod for value in values):
            unit = f", {cohort.units[key]}" if cohort.units[key] else ""
            result[key] = boxPlot(f"{titles.get(key, key)} ({key}{unit})", structures, series, _limits(key))
    return result


def _limits(key: str) -> tuple[float, float]:
    """Return the range of possible values of a measurement."""
    found = findDefinition(key)
    return (found.definition.low, found.definition.high) if found else (-math.inf, math.inf)
