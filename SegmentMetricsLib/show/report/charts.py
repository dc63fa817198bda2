"""The charts of a report as SVG: they are in the page from the start, and need no script."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from ...base.markup import Markup, filled, joined
from ...base.texts import shortest
from ...metrics.measurement import rounded
from .blocks import NOTHING

# Size of a chart in units of its view box, and about the distance of ticks there.
WIDTH, HEIGHT, APART = 440, 300, 60
# Most pixels of a character of the legend, whose font is larger on paper.
CHARACTER = 8


class _Axis:
    """A scale from values, low to high, to places in the picture, start to end."""

    def __init__(self, values: Sequence[float], axis: Mapping, start: float, end: float):
        low, high = axis.get("range") or (min(values, default=0), max(values, default=1))
        if axis.get("rangemode") == "tozero":
            low, high = min(low, 0), max(high, 0)
        high = high if high > low else low + 1
        if "range" not in axis and low != 0:
            low -= 0.03 * (high - low)
        if "range" not in axis:
            high += 0.03 * (high - low)
        self.low, self.high, self.start, self.end = low, high, start, end
        self.title = axis.get("title", {}).get("text", "")

    def at(self, value: float) -> float:
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        step = (self.high - self.low) * APART / abs(self.end - self.start)
        decade = 10.0 ** math.floor(math.log10(step))
        step = decade * next(factor for factor in (1, 2, 5, 10) if factor * decade >= step * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f"{number * step:.9g}") for number in range(first, last + 1)]


def chart(figure: Mapping, title: str) -> Markup:
    """Return a figure of figures.distribution(), profile() or doseVolume() as SVG. title: for who cannot see it."""
    layout = figure["layout"]
    margin = layout["margin"]
    top, bottom = margin["t"] + 8, HEIGHT - margin["b"]
    traces = figure["data"]
    across = [x for trace in traces for x in trace["x"]]
    if traces[0]["type"] == "bar":
        widths = traces[0]["width"]
        across = [x + sign * w / 2 for x, w in zip(traces[0]["x"], widths, strict=True) for sign in (-1, 1)]
    x = _Axis(across, layout["xaxis"], margin["l"], WIDTH - margin["r"])
    names = [name for name in ("yaxis", "yaxis2") if name in layout]
    axes = {}
    for name in names:
        own = [y for trace in traces if _axisOf(trace) == name for y in trace["y"] if y is not None]
        low, high = layout[name].get("domain", (0, 1))
        ends = (bottom - share * (bottom - top) for share in (low, high))
        # bars begin at 0
        axes[name] = _Axis([0.0, *own] if traces[0]["type"] == "bar" else own, layout[name], *ends)
    parts = [_frame(x, axes, bottom, margin["l"])]
    parts += [_bars(trace, x, axes["yaxis"]) if trace["type"] == "bar" else _line(trace, x, axes) for trace in traces]
    parts += [
        filled('<path class="limit" d="M$x ${top}V$bottom"/>', x=x.at(shape["x0"]), top=top, bottom=bottom)
        for shape in layout.get("shapes", ())
    ]
    parts += [
        filled(
            '<text class="$kind" x="$x" y="$y">$text</text>',
            kind="end" if note["x"] < 0 else "start",
            x=x.at(note["x"]) + math.copysign(4, note["x"]),
            y=top + 8,
            text=note["text"],
        )
        for note in layout.get("annotations", ())
    ]
    if len(traces) > 1:
        parts.append(_legend(traces, margin["l"]))
    parts.append(_told(layout.get("told", ()), x, top, bottom))
    return filled(
        '<svg class="flat" role="img" viewBox="0 0 $width $height"><title>$title</title>$parts</svg>',
        width=WIDTH,
        height=HEIGHT,
        title=title,
        parts=joined(parts),
    )


def _axisOf(trace: Mapping) -> str:
    return "yaxis2" if trace.get("yaxis") == "y2" else "yaxis"


def _frame(x: _Axis, axes: Mapping[str, _Axis], bottom: float, left: float) -> Markup:
    """Return grid lines, the numbers at them, and the titles of axes."""
    parts = []
    for value in x.ticks():
        words = {"x": x.at(value), "bottom": bottom, "y": bottom + 14, "text": _number(value)}
        parts.append(filled('<text class="middle" x="$x" y="$y">$text</text>', **words))
    for axis in axes.values():
        for value in axis.ticks():
            y = axis.at(value)
            words = {"y": y, "left": left, "right": x.end, "before": left - 5, "base": y + 4, "text": _number(value)}
            line = '<path class="grid" d="M$left ${y}H$right"/><text class="end" x="$before" y="$base">$text</text>'
            parts.append(filled(line, **words))
        middle = (axis.start + axis.end) / 2
        turned = '<text class="middle" transform="translate(12 $y) rotate(-90)">$text</text>'
        parts.append(filled(turned, y=middle, text=axis.title))
    for number, line in enumerate(x.title.split("<br>")):
        words = {"x": (x.start + x.end) / 2, "y": bottom + 32 + 15 * number, "text": line}
        parts.append(filled('<text class="middle" x="$x" y="$y">$text</text>', **words))
    return joined(parts)


def _number(value: float) -> str:
    return shortest(value).replace("-", "\N{MINUS SIGN}")


def _bars(trace: Mapping, x: _Axis, y: _Axis) -> Markup:
    bars = zip(trace["x"], trace["y"], trace["width"], trace["marker"]["color"], trace["shares"], strict=True)
    return joined(
        filled(
            '<rect x="$x" y="$y" width="$width" height="$height" fill="$color"><title>$low to $high mm: $share %'
            "</title></rect>",
            x=x.at(center - width / 2),
            y=y.at(height),
            width=round(x.at(center + width / 2) - x.at(center - width / 2), 1),
            height=round(y.at(0) - y.at(height), 1),
            color=color,
            low=rounded(center - width / 2, 2),
            high=rounded(center + width / 2, 2),
            share=rounded(share, 2),
        )
        for center, height, width, color, share in bars
    )


def _line(trace: Mapping, x: _Axis, axes: Mapping[str, _Axis]) -> Markup:
    """Return a line through points, interrupted where there is no value."""
    y, parts, dots, isGoingOn = axes[_axisOf(trace)], [], [], False
    for across, up in zip(trace["x"], trace["y"], strict=True):
        if up is not None:
            place = f"{x.at(across)} {y.at(up)}"
            parts.append(f"{'L' if isGoingOn else 'M'}{place}")
            if "markers" in trace["mode"]:
                dots.append(f"M{place}h0")
        isGoingOn = up is not None
    line = '<g style="--line:$color"><path class="line$dash" d="$path"/><path class="dots" d="$dots"/></g>'
    words = {"path": "".join(parts), "dots": "".join(dots)}
    return filled(line, color=trace["line"]["color"], dash=_dash(trace), **words) if parts else NOTHING


def _dash(trace: Mapping) -> str:
    return " dashed" if trace["line"].get("dash") else ""


def _told(told: Sequence[tuple[float, str]], x: _Axis, top: float, bottom: float) -> Markup:
    """Return what is told where the mouse points: texts at ascending values, each up to the middle between two."""
    places = [x.at(value) for value, _ in told]
    middles = [(before + after) / 2 for before, after in itertools.pairwise(places)]
    ends = [x.start, *middles, x.end]
    return joined(
        filled(
            '<rect class="told" x="$x" y="$y" width="$width" height="$height"><title>$text</title></rect>',
            x=f"{start:.4g}", y=top, width=f"{max(end - start, 0):.4g}", height=bottom - top, text=text,
        )
        for start, end, (_, text) in zip(ends, ends[1:], told, strict=False)
    )  # fmt: skip


def _legend(traces: Sequence[Mapping], left: float) -> Markup:
    parts, at = [], left
    for trace in traces:
        words = {"color": trace["line"]["color"], "dash": _dash(trace), "x": at, "text": trace["name"], "end": at + 20}
        line = '<g style="--line:$color"><path class="line$dash" d="M$x 12h16"/></g><text x="$end" y="16">$text</text>'
        parts.append(filled(line, **words))
        at += 34 + CHARACTER * len(trace["name"])
    return joined(parts)
