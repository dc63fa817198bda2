"""Bar charts as SVG pictures, drawn without any library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

INK, PALE, OURS, OTHERS = "#24292f", "#d0d7de", "#0072B2", "#8c959f"
WIDTH, RIGHT, TOP, BAR, GAP = 800, 90, 54, 20, 8
# How wide a bold character is at most, on average.
CHARACTER = 8.6


def bars(title: str, unit: str, rows: Sequence[tuple[str, float, bool]]) -> str:
    """Return a chart with a bar on a logarithmic scale for each row: label, value > 0, and whether it is ours."""
    values = [value for _, value, _ in rows]
    left = round(20 + CHARACTER * max(len(label) for label, _, _ in rows))
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    height = TOP + len(rows) * (BAR + GAP) + 40
    bottom = TOP + len(rows) * (BAR + GAP)

    def x(exponent: float) -> float:
        return round(left + (WIDTH - left - RIGHT) * (exponent - low) / (high - low), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="13" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="16" y="26" font-size="15" font-weight="bold">{escape(title)}</text>',
    ]
    for exponent in range(low, high + 1):
        parts.append(f'<line x1="{x(exponent)}" x2="{x(exponent)}" y1="{TOP - 8}" y2="{bottom}" stroke="{PALE}"/>')
        label = f"{shown(10.0**exponent)} {unit}"
        parts.append(f'<text x="{x(exponent)}" y="{bottom + 20}" text-anchor="middle">{escape(label)}</text>')
    for number, (label, value, isOurs) in enumerate(rows):
        y, end = TOP + number * (BAR + GAP), max(x(math.log10(value)), left + 2)
        weight = ' font-weight="bold"' if isOurs else ""
        parts.append(f'<text x="{left - 10}" y="{y + 15}" text-anchor="end"{weight}>{escape(label)}</text>')
        color = OURS if isOurs else OTHERS
        parts.append(f'<rect x="{left}" y="{y}" width="{round(end - left, 1)}" height="{BAR}" fill="{color}"/>')
        parts.append(f'<text x="{end + 6}" y="{y + 15}">{shown(value)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def shown(value: float) -> str:
    """Return a number with three digits that count, and without an exponent where it is large."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
