"""The distance map of a report: as data for plotly.js, which turns it, and as plain pictures."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from ...base.markup import Markup, fill, join
from ...base.palettes import ABSOLUTE, SIGNED
from ...base.texts import shortest
from ...case.comparison import Comparison
from ...distances.surfacedistances import TIE_TOLERANCE
from ...model.dose import Dose
from ...model.structures import REFERENCE_AND_TEST
from ..distributions import doseRange, mapRange
from ..maps import Coloring
from ..rendering import Shape, draw, fit
from .blocks import fromFile
from .gray import jpeg
from .reduction import ReducedSurface, reduce

# Distance of the camera from the center of a distance map whose longest side is 1.
CAMERA = 1.42
# Step between the labels of the color bar for every limit that mapRange() can return, both divided by the power of ten.
TICK_STEPS = {1: 0.5, 1.5: 0.5, 2: 1, 3: 1, 4: 2, 5: 1, 6: 2, 8: 2}
MINUS = "\N{MINUS SIGN}"
EYE = (0.0, -CAMERA, 0.19 * CAMERA)
# Mostly ambient light, so that colors match the color bar, with just enough shading to show the shape.
LIGHTING = {"ambient": 0.75, "diffuse": 0.3, "specular": 0.0, "fresnel": 0.0, "roughness": 0.9}
# in the coordinates of the scene: in front of and above it, independent of the camera
LIGHT = {"x": 0, "y": -100_000, "z": 50_000}
# The sides from which a map is shown, by directions toward the viewer, LPS.
VIEWS = {"front": (0, -1, 0), "left": (1, 0, 0), "back": (0, 1, 0), "right": (-1, 0, 0)}
# Width and height of a view in pixels, and the part of it that both surfaces fill: left, top, right, bottom.
SIZE, AREA = (200, 182), (0.04, 0.04, 0.96, 0.96)
# Pixels that are left above and below what is drawn.
MARGIN = 4
FONT = {"family": "Helvetica Neue, Arial, sans-serif", "size": 12, "color": "#333"}


def pack(array: np.ndarray) -> dict:
    """Return an array in the binary form of plotly.js."""
    kinds = {"float32": "f4", "int32": "i4", "uint16": "u2"}
    return {"dtype": kinds[array.dtype.name], "bdata": base64.b64encode(np.ascontiguousarray(array).data).decode()}


def scale(colors: Sequence[str]) -> list[list]:
    """Return a color scale of equally spaced colors in ascending order."""
    return [[number / (len(colors) - 1), color] for number, color in enumerate(colors)]


def worseSide(comparison: Comparison) -> str:
    """Return the side whose boundary has the largest distance, "reference" or "test"; "reference" for equal ones."""
    reference, test = (direction.largest for direction in comparison.knownDistances.directions)
    return "test" if test > reference + TIE_TOLERANCE else "reference"


def mapSurfaces(comparison: Comparison) -> dict[str, ReducedSurface]:
    """Return both surfaces of a comparison for the distance map, by side.

    They are moved together so that the origin is in their middle: plotly.js shades a surface that is far from the
    origin as if it were flat.
    """
    surfaces = [reduce(direction, comparison.dose) for direction in comparison.knownDistances.directions]
    points = np.concatenate([surface.points for surface in surfaces])
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    moved = (replace(surface, points=surface.points - middle) for surface in surfaces)
    return dict(zip(REFERENCE_AND_TEST, moved, strict=True))


def colorRange(comparison: Comparison) -> tuple[Coloring, dict[str, dict]]:
    """Return how distances are colored, and the labels of the color bar by kind of distance."""
    tolerance, distances = next(iter(comparison.settings.tolerances), 0.0), comparison.knownDistances
    limit = mapRange(distances, tolerance)
    isBelow, isAbove = (any(d.reach(side) > limit + TIE_TOLERANCE for d in distances.directions) for side in (-1, 1))
    ticks = {"signed": colorTicks(limit, isBelow, isAbove), "absolute": colorTicks(limit, None, isBelow or isAbove)}
    return Coloring("signed", limit, tolerance, distances.hasSides), ticks


def flatMap(comparison: Comparison, surfaces: Mapping[str, ReducedSurface], isOfDose: bool = False) -> Markup:
    """Return the map as plain pictures of both surfaces from four sides, and the scale of their colors.

    It is for paper and wherever a map cannot be turned. surfaces: as of mapSurfaces(). isOfDose: whether it shows the
    dose, which the comparison has, instead of distances.
    """
    coloring, ofKinds = colorRange(comparison)
    isSigned = coloring.hasSides and not isOfDose
    ticks = ofKinds["signed" if isSigned else "absolute"]
    what = "Signed distance, + outside (mm)" if isSigned else "Distance (mm)"
    if isOfDose:
        limit = doseRange(cast(Dose, comparison.dose), comparison.knownDistances)
        coloring, ticks, what = Coloring("dose", limit, 0.0, False), colorTicks(limit, None, False), "Dose (Gy)"
    points = np.concatenate([surface.points for surface in surfaces.values()])
    cameras = [fit(points, toward, SIZE, AREA) for toward in VIEWS.values()]
    scale = min(camera.scale for camera in cameras)
    rows = np.full((len(surfaces), SIZE[1], len(cameras) * SIZE[0], 3), 255, np.uint8)
    for row, surface in zip(rows, surfaces.values(), strict=True):
        values = cast(np.ndarray, surface.dose) if isOfDose else surface.signed
        shape = Shape(surface.points, surface.triangles, values if isSigned else np.abs(values), isClosed=isSigned)
        for number, camera in enumerate(cameras):
            field = row[:, number * SIZE[0] : (number + 1) * SIZE[0]]
            draw(field, shape, camera._replace(scale=scale), coloring.colors)
    used = np.flatnonzero((rows < 255).any(axis=(0, 2, 3)))
    rows = rows[:, max(used.min() - MARGIN, 0) : used.max() + 1 + MARGIN] if len(used) else rows
    told, (low, high) = f"from the {', '.join(VIEWS)}", coloring.ends
    labels = join(
        fill('<span style="left:$place%">$text</span>', place=f"{100 * (value - low) / (high - low):.4g}", text=text)
        for value, text in zip(ticks["tickvals"], ticks["ticktext"], strict=True)
    )
    figure = (
        '<figure><img alt="$side $told" src="data:image/jpeg;base64,$data"><figcaption><b>$side</b> $told</figcaption>'
        "</figure>"
    )
    pictures = zip(surfaces, rows, strict=True)
    shown = join(fill(figure, side=side.capitalize(), told=told, data=jpeg(row)) for side, row in pictures)
    return fromFile("views", shown=shown, colors=",".join(coloring.legend.palette), labels=labels, what=what)


def distanceMap(comparison: Comparison, surfaces: Mapping[str, ReducedSurface]) -> dict:
    """Return the 3D distance map of a comparison in space, with both surfaces, those of mapSurfaces().

    Initially the surface with the largest distance is visible. The page has switches for the surface and for signed or
    absolute distances, for which `scales` and `ticks` have the colors and labels by kind; `limit` is the end of the
    color range in mm.
    """
    (coloring, ticks), first = colorRange(comparison), worseSide(comparison)
    shown = ticks["signed" if coloring.hasSides else "absolute"]
    meshes = [_mesh(surface, name, name == first, coloring, shown) for name, surface in surfaces.items()]
    points = np.concatenate([surface.points for surface in surfaces.values()])
    # the letters of the sides of the patient around both
    low, high = points.min(axis=0), points.max(axis=0)
    reach = (high - low) / 2 + 0.12 * (high - low).max()
    places = (low + high) / 2 + np.repeat(np.diag(reach), 2, axis=0) * np.tile([[-1], [1]], (3, 1))
    letters = {
        "type": "scatter3d",
        "mode": "text",
        "name": "sides",
        "text": list("RLAPIS"),  # of which the page hides some, see letter() in report.js
        **{axis: [round(float(place[number]), 2) for place in places] for number, axis in enumerate("xyz")},
        "textfont": {"size": 14, "color": "#666"},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return {
        "data": [*meshes, letters],
        "layout": {
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "font": FONT,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "scene": _frame(np.concatenate([points, places])),
        },
        "first": first,
        "signed": coloring.hasSides,
        "limit": coloring.limit,
        "scales": {"signed": scale(SIGNED), "absolute": scale(ABSOLUTE)},
        "ticks": ticks,
    }


def colorTicks(limit: float, isBelow: bool | None, isAbove: bool) -> dict:
    """Return the labels of a color bar from -limit, or from 0 if isBelow is None, to a limit in mm.

    limit: as returned by mapRange(). isBelow, isAbove: whether any distances are beyond that end, which is then marked
    in its label.
    """
    decade = 10.0 ** math.floor(math.log10(limit) + 1e-9)
    step = TICK_STEPS[round(limit / decade, 1)] * decade
    count = round(limit / step)
    values = [float(f"{number * step:.6g}") for number in range(0 if isBelow is None else -count, count + 1)]
    texts = [shortest(value).replace("-", MINUS) for value in values]
    if isBelow:
        texts[0] = f"≤ {texts[0]}"
    if isAbove:
        texts[-1] = f"≥ {texts[-1]}"
    return {"tickvals": values, "ticktext": texts}


def _frame(points: np.ndarray) -> dict:
    """Return the scene that fits points (n, 3), LPS in mm, of any shape without cutting them off.

    The longest side gets length 1. By default, plotly.js would scale the mean of the three sides to 1, and a long, thin
    structure would extend beyond the view.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    # letters extend beyond their positions
    room = 0.04 * (high - low).max()
    low, high = low - room, high + room
    sides = (high - low) / (high - low).max()
    return {
        "aspectmode": "manual",
        "aspectratio": {axis: round(float(side), 5) for axis, side in zip("xyz", sides)},
        "camera": {"eye": dict(zip("xyz", EYE)), "up": {"x": 0, "y": 0, "z": 1}},
        **{
            f"{axis}axis": {"visible": False, "range": [round(float(a), 3), round(float(b), 3)]}
            for axis, a, b in zip("xyz", low, high)
        },
    }


def _mesh(surface: ReducedSurface, name: str, visible: bool, coloring: Coloring, ticks: dict) -> dict:
    corners = surface.triangles
    if len(surface.points) <= np.iinfo(np.uint16).max:  # half the size
        corners = corners.astype(np.uint16)
    return {
        "type": "mesh3d",
        "name": name,
        "visible": visible,
        **{axis: pack(surface.points[:, number]) for number, axis in enumerate("xyz")},
        **{axis: pack(corners[:, number]) for number, axis in enumerate("ijk")},
        "intensity": pack(surface.signed if coloring.hasSides else np.abs(surface.signed)),
        "colorscale": scale(coloring.legend.palette),
        "cmin": -coloring.limit if coloring.hasSides else 0,
        "cmax": coloring.limit,
        "colorbar": {"title": {"text": "mm", "side": "top"}, "thickness": 12, "len": 0.75, "x": 0.98, **ticks},
        "lighting": LIGHTING,
        "lightposition": LIGHT,
        "flatshading": False,
        "hovertemplate": "%{intensity:.2f} mm<extra>" + name + "</extra>",
    }
