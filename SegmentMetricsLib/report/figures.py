"""The pictures of a report as data that plotly.js draws: traces and layouts, arrays packed."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np

from ..comparison import Comparison
from ..distances import SurfaceDistances
from ..distributions import histogram, roundAbove
from ..settings import shortest
from .reduction import ReducedSurface, reduced

# Low to high, blue where the test lies inside the reference, red where outside; the colors of the overlay in Slicer.
SIGNED = ("#1f3f8f", "#3a76bd", "#77b0dc", "#bcd6dd", "#f1e8ca", "#f6c48d", "#e98a50", "#cc4a31", "#8c1427")
ABSOLUTE = ("#f1e8ca", "#f8cf84", "#f4a653", "#e2733f", "#c14140", "#8d2349", "#551247")
INSIDE, WITHIN, OUTSIDE = "#3a76bd", "#b9b48a", "#d95f0e"
FONT = {"family": "Helvetica Neue, Arial, sans-serif", "size": 12, "color": "#333"}


def packed(array: np.ndarray) -> dict:
    """Return an array as plotly.js takes it in binary form."""
    kinds = {"float32": "f4", "int32": "i4"}
    return {"dtype": kinds[array.dtype.name], "bdata": base64.b64encode(np.ascontiguousarray(array)).decode()}


def scale(colors: Sequence[str]) -> list[list]:
    """Return a color scale of equally spaced colors, low to high."""
    return [[number / (len(colors) - 1), color] for number, color in enumerate(colors)]


def distanceMap(comparison: Comparison) -> dict:
    """Return the 3D distance map of a comparison in space: both surfaces, the reference shown first.

    Which surface is shown and whether colors tell the sign is switched in the page: `signedRange`, `absoluteRange` are
    the ranges of the colors in mm.
    """
    distances = comparison.distances
    signed = all(direction.surface.isClosed for direction in distances.directions)
    limit = colorLimit(distances)
    return {
        "data": [
            _mesh(reduced(direction), name, number == 0, signed, limit)
            for number, (name, direction) in enumerate(zip(("reference", "test"), distances.directions, strict=True))
        ],
        "layout": {
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "font": FONT,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "scene": {
                "aspectmode": "data",
                "camera": {"eye": {"x": 0.0, "y": -2.3, "z": 0.4}, "up": {"x": 0, "y": 0, "z": 1}},
                **{
                    f"{axis}axis": {
                        "title": {"text": title},
                        "showbackground": False,
                        "gridcolor": "#e8e8e8",
                        "nticks": 4,
                    }
                    for axis, title in (
                        ("x", "← right, left →"),
                        ("y", "← anterior, posterior →"),
                        ("z", "← inferior, superior →"),
                    )
                },
            },
        },
        "signed": signed,
        "limit": limit,
        "scales": {"signed": scale(SIGNED), "absolute": scale(ABSOLUTE)},
    }


def colorLimit(distances: SurfaceDistances) -> float:
    """Return the distance in mm of the outermost color: nearly all distances are below it."""
    usual = max(direction.percentile(98) for direction in distances.directions)
    return roundAbove(max(usual, 0.1))


def _mesh(surface: ReducedSurface, name: str, visible: bool, signed: bool, limit: float) -> dict:
    corners = surface.triangles
    return {
        "type": "mesh3d",
        "name": name,
        "visible": visible,
        **{axis: packed(surface.points[:, number]) for number, axis in enumerate("xyz")},
        **{axis: packed(corners[:, number]) for number, axis in enumerate("ijk")},
        "intensity": packed(surface.signed if signed else np.abs(surface.signed)),
        "colorscale": scale(SIGNED if signed else ABSOLUTE),
        "cmin": -limit if signed else 0,
        "cmax": limit,
        "colorbar": {"title": {"text": "mm", "side": "top"}, "thickness": 12, "len": 0.75, "x": 0.98},
        "lighting": {"ambient": 0.55, "diffuse": 0.6, "specular": 0.1, "roughness": 0.9},
        "flatshading": False,
        "hovertemplate": "%{intensity:.2f} mm<extra>" + name + "</extra>",
    }


def distribution(comparison: Comparison) -> dict:
    """Return the histogram of the distances of a comparison, with the first tolerance marked."""
    distances = comparison.distances
    signed = all(direction.surface.isClosed for direction in distances.directions)
    tolerance = comparison.settings.tolerances[0] if comparison.settings.tolerances else None
    found = histogram(distances, tolerance or colorLimit(distances) / 2, signed)
    colors = [
        WITHIN if tolerance is not None and abs(center) <= tolerance else OUTSIDE if center > 0 else INSIDE
        for center in found.centers
    ]
    lines = [] if tolerance is None else [tolerance, -tolerance] if signed else [tolerance]
    return {
        "data": [
            {
                "type": "bar",
                "x": [round(float(x), 6) for x in found.centers],
                "y": [round(float(y), 4) for y in found.shares],
                "width": [round(float(w), 6) for w in np.diff(found.edges)],
                "marker": {"color": colors, "line": {"width": 0}},
                "hovertemplate": "%{x:.2f} mm: %{y:.2f} %<extra></extra>",
            }
        ],
        "layout": {
            "margin": {"l": 50, "r": 10, "t": 24, "b": 42},
            "font": FONT,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "bargap": 0,
            "xaxis": {
                "title": {"text": "signed distance (mm): - inside, + outside" if signed else "distance (mm)"},
                "zeroline": False,
                "gridcolor": "#eee",
            },
            "yaxis": {"title": {"text": "share of both contours (%)"}, "gridcolor": "#eee", "zeroline": False},
            "shapes": [
                {
                    "type": "line",
                    "x0": x,
                    "x1": x,
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "line": {"dash": "dash", "color": "#333", "width": 1},
                }
                for x in lines
            ],
            "annotations": [
                {
                    "x": x,
                    "y": 1,
                    "yref": "paper",
                    "yanchor": "bottom",
                    "showarrow": False,
                    "text": f"τ = {shortest(abs(x))} mm",
                    "font": {"size": 11},
                }
                for x in lines[:1]
            ],
        },
    }
