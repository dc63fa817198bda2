"""Charts as SVG, for pages and documents: histogram, dose-volume histograms, slice profile, and boxes of a cohort.

They are in the page from the start, and need no script.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..base.markup import Markup, fill, join
from ..base.texts import pluralize, shortest
from ..case.comparison import Comparison
from ..metrics.dose import DoseCurves
from ..metrics.measurement import fixDecimals, roundText, withUnit
from ..metrics.slices import SliceRow
from .distributions import histogram, mapRange, roundAbove

INSIDE, WITHIN, OUTSIDE = "#3a76bd", "#b9b48a", "#d95f0e"
# Size of a chart in units of its view box, its margins, and about the distance of ticks there.
WIDTH, HEIGHT, APART = 440, 300, 60
LEFT, RIGHT, TOP, BOTTOM = 50, 10, 32, 42
# Most pixels of a character of the legend, whose font is larger on paper.
CHARACTER = 8
# Most doses whose volumes are told.
MOST_TOLD = 80


class Axis:
    """A scale from values to places in the picture, from start to end. hasRoom: whether there is some beyond them."""

    def __init__(self, values: Sequence[float], title: str, start: float, end: float, hasRoom: bool = True):
        low, high = min(values), max(values)
        high = high if high > low else low + 1
        if hasRoom:
            low -= 0.03 * (high - low) if low else 0
            high += 0.03 * (high - low)
        self.low, self.high, self.start, self.end, self.title = low, high, start, end, title

    def at(self, value: float) -> float:
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        step = roundAbove((self.high - self.low) * APART / abs(self.end - self.start), (1, 2, 5))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f"{number * step:.9g}") for number in range(first, last + 1)]


class Curve(NamedTuple):
    """A line through points, interrupted where y is not finite. isDotted: whether the points are marked."""

    name: str
    color: str
    x: Sequence[float]
    y: Sequence[float]
    isDotted: bool = False
    isDashed: bool = False


def distribution(comparison: Comparison) -> Markup:
    """Return the histogram of the distances of a comparison, with the first tolerance marked."""
    distances, tolerance = comparison.knownDistances, next(iter(comparison.settings.tolerances), None)
    signed, isJudged = distances.hasSides, tolerance is not None
    # without splitting, bars wider than the tolerance would be only partly within it
    shown = histogram(distances, tolerance or mapRange(distances, 0.0) / 2, signed, isSplit=isJudged)
    edges, heights = shown.edges.tolist(), shown.heights.tolist()
    across = "signed distance (mm), + outside" if signed else "distance (mm)"
    bottom = HEIGHT - (58 if shown.outerBars else BOTTOM)
    x = Axis(edges, "<br>".join(filter(None, (across, shown.outerBars))), LEFT, WIDTH - RIGHT)
    # bars of different widths represent fractions by their areas
    y = Axis([0.0, *heights], f"share of both contours ({'% per mm' if shown.isSplit else '%'})", bottom, TOP)
    bars = []
    for center, low, high, height, share in zip(shown.centers, edges, edges[1:], heights, shown.shares, strict=False):
        color = WITHIN if isJudged and abs(center) <= tolerance else OUTSIDE if center > 0 else INSIDE
        told = f"{roundText(low, 2)} to {roundText(high, 2)} mm: {roundText(float(share), 2)} %"
        left, top = x.at(low), y.at(height)
        size = f'width="{round(x.at(high) - left, 1)}" height="{round(y.at(0) - top, 1)}"'
        bars.append(Markup(f'<rect x="{left}" y="{top}" {size} fill="{color}"><title>{told}</title></rect>'))
    lines = [] if tolerance is None else [tolerance, -tolerance] if signed else [tolerance]
    marks = [Markup(f'<path class="limit" d="M{x.at(line)} {TOP}V{bottom}"/>') for line in lines]
    # outside the tolerance, where bars are low
    for line in lines[-1:]:
        note, side = f"τ = {shortest(abs(line))} mm", "end" if line < 0 else "start"
        marks.append(_write(side, x.at(line) + math.copysign(4, line), TOP + 8, note))
    return _chart("Distribution of the distances", (_frame(x, [y], bottom), *bars, *marks))


def doseVolume(curves: DoseCurves) -> Markup:
    """Return the dose-volume histograms of both: the share of the volume that receives at least a dose, by dose."""
    doses, reference, test = (one.tolist() for one in (curves.doses, 100 * curves.reference, 100 * curves.test))
    told = [
        (dose, f"{dose:.2f} Gy: {first:.1f} % of the reference, {second:.1f} % of the test")
        for dose, first, second in list(zip(doses, reference, test))[:: 1 + len(doses) // MOST_TOLD]
    ]
    lines = [Curve("reference", "#1f3f8f", doses, reference), Curve("test", OUTSIDE, doses, test, isDashed=True)]
    x = Axis([0.0, *doses], "dose (Gy)", LEFT, WIDTH - RIGHT)
    y = Axis((0, 102), "volume (%)", HEIGHT - BOTTOM, TOP, hasRoom=False)
    return _curves("Dose-volume histograms", lines, x, [y, y], told)


def profileChart(rows: Sequence[SliceRow]) -> Markup:
    """Return the per-slice profile: distances above and Dice below, by position along the slices."""
    positions = [float(row.position) for row in rows]
    looks = {"HD": ("HD (mm)", "#8c1427"), "MASD": ("mean distance (mm)", "#e98a50"), "DSC": ("DSC", "#1f3f8f")}
    curves = [
        Curve(*look, positions, [float(row.values[key]) for row in rows], isDotted=True) for key, look in looks.items()
    ]
    texts = {"HD": "HD {:.2f} mm", "MASD": "mean distance {:.2f} mm", "DSC": "DSC {:.3f}"}
    told = []
    for place, row in sorted(zip(positions, rows, strict=True), key=lambda one: one[0]):
        known = [text.format(row.values[key]) for key, text in texts.items() if math.isfinite(row.values[key])]
        only = [f"only the {row.only} has it"] if row.only else []
        told.append((place, f"Slice {row.index}: {', '.join([*only, *known])}"))
    x = Axis(positions, "position along the slices (mm)", LEFT, WIDTH - RIGHT)
    bottom, height = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP
    drawn = [value for one in curves[:2] for value in one.y if math.isfinite(value)]
    upper = Axis([0.0, *drawn], "mm", bottom - 0.45 * height, TOP)
    lower = Axis((0, 1.02), "DSC", bottom, bottom - 0.35 * height, hasRoom=False)
    return _curves("Slice by slice", curves, x, [upper, upper, lower], told)


def _curves(
    title: str, curves: Sequence[Curve], x: Axis, axes: Sequence[Axis], told: Sequence[tuple[float, str]]
) -> Markup:
    """Return a chart of curves, each on its axis. told: texts at ascending values of x, where the mouse points."""
    bottom, lines, names, at = HEIGHT - BOTTOM, [], [], LEFT
    for curve, y in zip(curves, axes, strict=True):
        path, dots, isGoingOn = [], [], False
        for across, up in zip(curve.x, curve.y, strict=True):
            if math.isfinite(up):
                place = f"{x.at(across)} {y.at(up)}"
                path.append(f"{'L' if isGoingOn else 'M'}{place}")
                dots += [f"M{place}h0"] if curve.isDotted else []
            isGoingOn = math.isfinite(up)
        look = {"color": curve.color, "dash": " dashed" if curve.isDashed else ""}
        if path:
            line = '<g style="--line:$color"><path class="line$dash" d="$path"/><path class="dots" d="$dots"/></g>'
            lines.append(fill(line, **look, path="".join(path), dots="".join(dots)))
        name = '<g style="--line:$color"><path class="line$dash" d="M$x 12h16"/></g><text x="$end" y="16">$text</text>'
        names.append(fill(name, **look, x=at, end=at + 20, text=curve.name))
        at += 34 + CHARACTER * len(curve.name)
    places = [x.at(value) for value, _ in told]
    ends = [x.start, *((before + after) / 2 for before, after in itertools.pairwise(places)), x.end]
    spot = '<rect class="told" x="$x" y="$y" width="$width" height="$height"><title>$text</title></rect>'
    spots = (
        fill(spot, x=f"{start:.4g}", y=TOP, width=f"{max(end - start, 0):.4g}", height=bottom - TOP, text=text)
        for start, end, (_, text) in zip(ends, ends[1:], told, strict=False)
    )
    return _chart(title, (_frame(x, dict.fromkeys(axes), bottom), *lines, *names, *spots))


class Boxed(NamedTuple):
    """Values that are drawn as a box. sides: low end, quartiles with the median, and high end; None for no box."""

    name: str
    color: str
    values: Sequence[float]
    sides: tuple[float, float, float, float, float] | None


def boxes(groups: Mapping[str, Sequence[Boxed]], title: str, unit: str, isLowerBetter: bool) -> Markup:
    """Return box plots below each other: for every group, such as a structure, one for each of its parts.

    Where a few values would squeeze all others, the axis ends before them, and it is told how many there are. Groups
    and parts have their numbers as data-group and data-part, so that a page can hide some.
    """
    values = [value for group in groups.values() for one in group for value in one.values]
    finite = np.array([value for value in values if math.isfinite(value)])
    if not len(finite):
        return Markup("There are no numbers.")
    least, most = np.quantile(finite, (0.02, 0.98)).tolist()
    room = 1.5 * (most - least) or abs(most) or 1.0
    ends = max(float(finite.min()), least - room), min(float(finite.max()), most + room)
    x = Axis(ends, f"{title}, {unit}" if unit else title, 12, WIDTH - 74)
    name, group, row = (
        '<span data-part="$n"><i style="background:$color"></i>$name</span>',
        '<div data-group="$n"><b>$name</b>$rows</div>',
        '<svg class="flat" role="img" data-part="$n" viewBox="0 0 $width 24" style="--line:$color">'
        "<title>$title</title>$box</svg>",
    )
    drawn, names = [], {}
    for number, (groupName, parts) in enumerate(groups.items()):
        rows = []
        for n, one in enumerate(parts):
            names[n] = fill(name, n=n, color=one.color, name=one.name)
            told = f"{groupName}, {one.name}" if one.name else groupName
            told += f": {pluralize(len(one.values), 'value')}"
            if one.sides is not None and math.isfinite(one.sides[2]):
                told += f", median {withUnit(one.sides[2], unit)}"
            box = _box(one, x, unit, isLowerBetter)
            rows.append(fill(row, n=n, width=WIDTH, color=one.color, title=told, box=box))
        drawn.append(fill(group, n=number, name=groupName, rows=join(rows)))
    numbers = join(_write("middle", x.at(tick), 13, _number(tick)) for tick in x.ticks())
    axis = '<svg class="flat" viewBox="0 0 $width 32">$numbers<text x="$start" y="28">$title</text></svg>'
    isCut = any(not x.low <= value <= x.high for value in values)
    return fill(
        '<p class="legend">$names$told</p>$drawn$axis',
        names=join(names.values()) if len(names) > 1 else "",
        told=Markup("<span>▸ beyond the axis: how many, and the worst</span>") if isCut else "",
        drawn=join(drawn),
        axis=fill(axis, width=WIDTH, numbers=numbers, start=x.start, title=x.title),
    )


def _box(boxed: Boxed, x: Axis, unit: str, isLowerBetter: bool) -> Markup:
    """Return one box with its whiskers, all values as points, and what lies beyond the axis."""
    grid = "".join(f"M{x.at(tick)} 0v24" for tick in x.ticks())
    parts = [Markup(f'<path class="grid" d="{grid}"/>')]
    if boxed.sides is not None:
        low, q1, median, q3, high = (x.at(min(max(side, x.low), x.high)) for side in boxed.sides)
        box = f'<rect class="box" x="{q1}" y="4" width="{max(q3 - q1, 1):.4g}" height="16"/>'
        parts.append(Markup(f'<path class="line" d="M{low} 12H{high}"/>{box}<path class="median" d="M{median} 4v16"/>'))
    inside = [(n, value) for n, value in enumerate(boxed.values) if x.low <= value <= x.high]
    dots = "".join(f"M{x.at(value)} {7 + n * 7 % 11}h0" for n, value in inside)
    parts.append(Markup(f'<path class="dots" d="{dots}"/>'))
    if beyond := [value for value in boxed.values if not x.low <= value <= x.high]:
        worst = max(beyond) if isLowerBetter else min(beyond)
        text = ("∞" if worst > 0 else "-∞") if math.isinf(worst) else fixDecimals(worst, unit)
        count = f"{len(beyond)}: " if len(beyond) > 1 else ""
        parts.append(fill('<text x="$x" y="16">▸ $count$text</text>', x=WIDTH - 68, count=count, text=text))
    return join(parts)


def _chart(title: str, parts: Iterable[Markup]) -> Markup:
    """Return a chart. title: for who cannot see it."""
    chart = '<svg class="flat" role="img" viewBox="0 0 $width $height"><title>$title</title>$parts</svg>'
    return fill(chart, width=WIDTH, height=HEIGHT, title=title, parts=join(parts))


def _frame(x: Axis, axes: Iterable[Axis], bottom: float) -> Markup:
    """Return grid lines, the numbers at them, and the titles of axes."""
    parts = [_write("middle", x.at(value), bottom + 14, _number(value)) for value in x.ticks()]
    for axis in axes:
        for value in axis.ticks():
            y = axis.at(value)
            parts.append(Markup(f'<path class="grid" d="M{LEFT} {y}H{x.end}"/>'))
            parts.append(_write("end", LEFT - 5, y + 4, _number(value)))
        turned = '<text class="middle" transform="translate(12 $y) rotate(-90)">$text</text>'
        parts.append(fill(turned, y=(axis.start + axis.end) / 2, text=axis.title))
    for number, line in enumerate(x.title.split("<br>")):
        parts.append(_write("middle", (x.start + x.end) / 2, bottom + 32 + 15 * number, line))
    return join(parts)


def _write(kind: str, x: float, y: float, text: str) -> Markup:
    """Return a text that starts, ends or has its middle at x, and whose baseline is at y."""
    return fill('<text class="$kind" x="$x" y="$y">$text</text>', kind=kind, x=x, y=y, text=text)


def _number(value: float) -> str:
    return shortest(value).replace("-", "\N{MINUS SIGN}")
