"""The distance map as plain pictures, for paper and wherever a map cannot be turned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...base.markup import Markup, filled, joined
from ...base.palettes import ABSOLUTE, SIGNED
from ..rendering import Shape, draw, fit, interpolate
from .gray import jpeg
from .reduction import ReducedSurface

# The sides from which a map is shown, by directions toward the viewer, LPS.
SIDES = {"front": (0, -1, 0), "left": (1, 0, 0), "back": (0, 1, 0), "right": (-1, 0, 0)}
# Width and height of a view in pixels, and the part of it that both surfaces fill: left, top, right, bottom.
SIZE, AREA = (200, 182), (0.04, 0.04, 0.96, 0.96)
# Pixels that are left above and below what is drawn.
MARGIN = 4


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
    cameras = [fit(points, toward, SIZE, AREA) for toward in SIDES.values()]
    scale = min(camera.scale for camera in cameras)
    rows = np.full((len(surfaces), SIZE[1], len(cameras) * SIZE[0], 3), 255, np.uint8)

    def color(values: np.ndarray) -> np.ndarray:
        return interpolate(values if isSigned else np.abs(values), -limit if isSigned else 0.0, limit, palette)

    for row, surface in zip(rows, surfaces.values(), strict=True):
        shape = Shape(surface.points, surface.triangles, surface.signed, isClosed=isSigned)
        for number, camera in enumerate(cameras):
            draw(row[:, number * SIZE[0] : (number + 1) * SIZE[0]], shape, camera._replace(scale=scale), color)
    used = np.flatnonzero((rows < 255).any(axis=(0, 2, 3)))
    rows = rows[:, max(used.min() - MARGIN, 0) : used.max() + 1 + MARGIN] if len(used) else rows
    told, low = f"from the {', '.join(SIDES)}", -limit if isSigned else 0.0
    labels = joined(
        filled('<span style="left:$place%">$text</span>', place=f"{100 * (value - low) / (limit - low):.4g}", text=text)
        for value, text in zip(ticks["tickvals"], ticks["ticktext"], strict=True)
    )
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
        '<div class="views">$shown</div>'
        '<div class="colors"><div style="background:linear-gradient(to right,$colors)"></div>$labels</div>'
        '<p class="soft">$what</p>',
        shown=shown,
        colors=",".join(palette),
        labels=labels,
        what=what or ("Signed distance, + outside (mm)" if isSigned else "Distance (mm)"),
    )
