"""The distance map as plain pictures, for paper and wherever a map cannot be turned; they need no graphics driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...base.markup import Markup, filled, joined
from ...base.palettes import ABSOLUTE, SIGNED
from .gray import jpeg
from .reduction import ReducedSurface

# The sides from which a map is shown, by directions toward the viewer, LPS.
SIDES = {"front": (0, -1, 0), "left": (1, 0, 0), "back": (0, 1, 0), "right": (-1, 0, 0)}
# Width and height of a view in pixels, the part of it that both surfaces fill, and how many times finer it is drawn.
SIZE, FILLED, FINER = (200, 182), 0.92, 2
# Pixels that are left above and below what is drawn.
MARGIN = 4
# Brightness of what is seen from its side, and the direction of the light: right, up, to the viewer.
AMBIENT, LIGHT = 0.6, np.array((-0.2, 0.45, 0.87))


def flatMap(
    surfaces: Mapping[str, ReducedSurface],
    limit: float,
    isSigned: bool,
    ticks: Mapping,
    palette: Sequence[str] = (),
    what: str = "",
) -> Markup:
    """Return the pictures of both surfaces from four sides, and the scale of their colors.

    surfaces: by side. limit: end of the color range, mm. isSigned: whether distances have signs. ticks: labels of the
    scale, as of figures.colorTicks(). palette, what: colors and meaning of the values, if they are no distances.
    """
    palette = palette or (SIGNED if isSigned else ABSOLUTE)
    points = np.concatenate([surface.points for surface in surfaces.values()])
    scale = min(_scaleOf(points @ _axes(toward).T) for toward in SIDES.values())
    rows = np.stack([
        np.hstack([picture(surface, points, toward, scale, limit, isSigned, palette) for toward in SIDES.values()])
        for surface in surfaces.values()
    ])  # fmt: skip
    used = np.flatnonzero((rows < 255).any(axis=(0, 2, 3)))
    rows = rows[:, max(used.min() - MARGIN, 0) : used.max() + 1 + MARGIN] if len(used) else rows
    told = f"from the {', '.join(SIDES)}"
    shown = joined(
        filled(
            '<figure><img alt="$side $told" src="data:image/jpeg;base64,$data"><figcaption><b>$side</b> $told'
            "</figcaption></figure>",
            side=side.capitalize(),
            told=told,
            data=jpeg(row),
        )
        for side, row in zip(surfaces, rows, strict=True)
    )
    return filled(
        '<div class="views">$shown</div>$scale', shown=shown, scale=_scale(limit, isSigned, ticks, palette, what)
    )


def picture(
    surface: ReducedSurface,
    points: np.ndarray,
    toward: Sequence[float],
    scale: float,
    limit: float,
    isSigned: bool,
    palette: Sequence[str],
) -> np.ndarray:
    """Return a surface seen from a side as colors (height, width, 3) of bytes, white where there is nothing.

    points: (n, 3) of all that lies in the middle of the picture, LPS mm. toward: (3,) to the viewer. scale: pixels per
    mm. limit, isSigned, palette: as of flatMap().
    """
    axes, (width, height) = _axes(toward), (FINER * side for side in SIZE)
    seen = points @ axes.T
    # pixels to the right and up from the lower left corner, and toward the viewer
    middle = (seen.min(axis=0) + seen.max(axis=0)) / 2
    places = (surface.points @ axes.T - middle) * FINER * scale + (width / 2, height / 2, 0)
    normals = _normals(places, surface.triangles)
    triangles = surface.triangles
    if isSigned:  # closed, so that half of it is hidden
        first, second, third = places[triangles].transpose(1, 0, 2)
        across = np.cross(second - first, third - first)
        triangles = triangles[across[:, 2] * np.sign((across * first).sum()) > 0]
    x, y, triangles, weights = _pixels(places, triangles)
    depth = (weights * places[triangles, 2]).sum(axis=1)
    pixels, nearest = y * width + x, np.full(width * height, -np.inf)
    np.maximum.at(nearest, pixels, depth)
    front = np.flatnonzero(depth == nearest[pixels])
    pixels, triangles, weights = pixels[front], triangles[front], weights[front, :, None]
    lit = (weights * normals[triangles]).sum(axis=1)
    # surfaces of either orientation look the same
    lit *= np.sign(lit[:, 2:]) / np.maximum(np.linalg.norm(lit, axis=1, keepdims=True), 1e-12)
    bright = AMBIENT + (1 - AMBIENT) * np.clip(lit @ LIGHT, 0, 1)
    values = (weights[:, :, 0] * surface.signed[triangles]).sum(axis=1)
    drawn = np.full((width * height, 3), 255.0)
    drawn[pixels] = bright[:, None] * _colorsOf(values if isSigned else np.abs(values), limit, isSigned, palette)
    drawn = drawn.reshape(height // FINER, FINER, width // FINER, FINER, 3).mean(axis=(1, 3))
    return np.rint(drawn[::-1]).astype(np.uint8)


def _axes(toward: Sequence[float]) -> np.ndarray:
    """Return the directions right, up and to the viewer of a view as rows (3, 3), LPS."""
    up, forward = np.array((0.0, 0.0, 1.0)), np.array(toward, float)
    return np.array((np.cross(up, forward), up, forward))


def _scaleOf(seen: np.ndarray) -> float:
    """Return the pixels per mm at which points (n, 3), seen from a side, fill a view."""
    return float((FILLED * np.array(SIZE) / np.maximum(np.ptp(seen[:, :2], axis=0), 1e-6)).min())


def _normals(places: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the normals (n, 3) of points, of any length: the sums of those of their triangles."""
    first, second, third = (places[corner] for corner in triangles.T)
    ofTriangles = np.cross(second - first, third - first)
    return np.stack([
        np.bincount(triangles.ravel(), np.repeat(part, 3), minlength=len(places)) for part in ofTriangles.T
    ], axis=1)  # fmt: skip


def _pixels(places: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the pixels whose centers triangles cover: their columns and rows (s,), corners and weights (s, 3) of each.

    places: (n, 3) in pixels. Triangles that are seen from their edge cover nothing.
    """
    corners = places[triangles][:, :, :2]
    (ax, ay), (bx, by), (cx, cy) = corners.transpose(1, 2, 0)
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    # one line for each row of pixels that a triangle meets, then one pixel after the other in it
    low, high = corners[:, :, 1].min(axis=1), corners[:, :, 1].max(axis=1)
    which, y = _expanded(np.where(np.abs(area) > 1e-9, low, np.inf), high)
    own = corners[which]
    ends = np.roll(own, -1, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (y[:, None] + 0.5 - own[:, :, 1]) / (ends[:, :, 1] - own[:, :, 1])
        crossings = own[:, :, 0] + along * (ends[:, :, 0] - own[:, :, 0])
    isMet = (along >= 0) & (along <= 1)
    left = np.where(isMet, crossings, np.inf).min(axis=1)
    lines, x = _expanded(left, np.where(isMet, crossings, -np.inf).max(axis=1))
    which, y = which[lines], y[lines]
    right, up = x + 0.5, y + 0.5
    second = ((right - ax[which]) * (cy - ay)[which] - (cx - ax)[which] * (up - ay[which])) / area[which]
    third = ((bx - ax)[which] * (up - ay[which]) - (right - ax[which]) * (by - ay)[which]) / area[which]
    return x, y, triangles[which], np.stack([1 - second - third, second, third], axis=1)


def _expanded(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the pixels whose middles are within intervals with ends (n,), and the interval of each."""
    isAny = low <= high
    first = np.ceil(np.where(isAny, low, 0) - 0.5).astype(int)
    counts = np.where(isAny, np.floor(np.where(isAny, high, 0) - 0.5).astype(int) - first + 1, 0).clip(0)
    which = np.repeat(np.arange(len(low)), counts)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts) + first[which]


def _colorsOf(values: np.ndarray, limit: float, isSigned: bool, palette: Sequence[str]) -> np.ndarray:
    """Return the colors (n, 3) from 0 to 255 of values (n,)."""
    channels = np.array([[int(color[n : n + 2], 16) for color in palette] for n in (1, 3, 5)], float)
    stops = np.linspace(-limit if isSigned else 0.0, limit, len(palette))
    return np.stack([np.interp(values, stops, channel) for channel in channels], axis=1)


def _scale(limit: float, isSigned: bool, ticks: Mapping, palette: Sequence[str], what: str) -> Markup:
    """Return the scale of the colors."""
    low = -limit if isSigned else 0.0
    labels = joined(
        filled('<span style="left:$place%">$text</span>', place=f"{100 * (value - low) / (limit - low):.4g}", text=text)
        for value, text in zip(ticks["tickvals"], ticks["ticktext"], strict=True)
    )
    return filled(
        '<div class="colors"><div style="background:linear-gradient(to right,$colors)"></div>$labels</div>'
        '<p class="soft">$what</p>',
        colors=",".join(palette),
        labels=labels,
        what=what or ("Signed distance, + outside (mm)" if isSigned else "Distance (mm)"),
    )
