"""Colors and legends of distance maps."""

from __future__ import annotations

import numpy as np

from ..palettes import ABSOLUTE, SIGNED

TOLERANCE = ("#3a76bd", "#dfe3bd", "#d95f0e")  # test too small, within, test too large
TOLERANCE_ABSOLUTE = ("#dfe3bd", "#d95f0e")
# other hues than those of distances, so that nobody takes a hazard for one
HAZARD = ("#ddd1ab", "#d6bdbf", "#c5a0c4", "#aa7bba", "#8d57a8", "#6c3089", "#4c1768")

KINDS = ("signed", "absolute", "tolerance", "hazard")
COLORS_ATTRIBUTE = "SegmentMetrics.Colors"


def rgb(color: str) -> tuple[float, float, float]:
    """Return a color given as #rrggbb as three numbers 0..1."""
    return tuple(int(color[n : n + 2], 16) / 255 for n in (1, 3, 5))


def mapColors(kind: str, signed: bool = True) -> tuple[str, ...]:
    """Return the colors of a kind of map, low to high; signed: whether inside and outside can be told apart."""
    if kind == "tolerance":
        return TOLERANCE if signed else TOLERANCE_ABSOLUTE
    if kind == "hazard":
        return HAZARD
    return SIGNED if kind == "signed" and signed else ABSOLUTE


def scalarRange(kind: str, limit: float, tolerance: float, signed: bool = True) -> tuple[float, float]:
    """Return the values in mm of the lowest and highest color; a hazard has no unit and goes from 0 to 1.

    limit: largest distance of a continuous map. A tolerance map takes no limit: its bands are equally wide so that the
    legend's labels fall on their edges, and everything beyond has the color of the outer bands.
    """
    if kind == "tolerance":
        return (-3 * tolerance, 3 * tolerance) if signed else (0.0, 2 * tolerance)
    if kind == "hazard":
        return 0.0, 1.0
    return (-limit, limit) if kind == "signed" and signed else (0.0, limit)


def fillColorNode(colorNode, kind: str, low: float, high: float, signed: bool = True) -> None:
    """Give a vtkMRMLProceduralColorNode the colors of a kind of map between two of its values."""
    from vtkmodules.vtkRenderingCore import vtkColorTransferFunction

    colors = [rgb(color) for color in mapColors(kind, signed)]
    function = vtkColorTransferFunction()
    if kind == "tolerance":
        edges = np.linspace(low, high, len(colors) + 1)
        step = 1e-6 * (high - low)
        for n, color in enumerate(colors):
            function.AddRGBPoint(edges[n] + (step if n else 0), *color)
            function.AddRGBPoint(edges[n + 1], *color)
    else:
        for value, color in zip(np.linspace(low, high, len(colors)), colors, strict=True):
            function.AddRGBPoint(value, *color)
    colorNode.SetAndObserveColorTransferFunction(function)
    colorNode.SetAttribute(COLORS_ATTRIBUTE, kind)


def showLegend(modelNode, kind: str, side: str, tolerance: float, signed: bool = True):
    """Give a distance map a legend in the 3D views and return its vtkMRMLColorLegendDisplayNode.

    A legend that is there already gets the new content; where and whether it is shown stays as the user left it. The
    map on the test's surface has its legend at the left so that two maps in one view do not cover each other's.
    """
    import slicer

    isNew = legendOf(modelNode) is None
    legend = slicer.vtkSlicerColorLogic.AddDefaultColorLegendDisplayNode(modelNode)
    wasModifying = legend.StartModify()
    legend.SetTitleText(legendTitle(kind, tolerance, signed))
    if kind == "tolerance":
        bands = len(mapColors(kind, signed))
        legend.SetMaxNumberOfColors(bands)
        legend.SetNumberOfLabels(bands + 1)
    else:
        legend.SetMaxNumberOfColors(256)
        legend.SetNumberOfLabels(5)
    if isNew:
        right = side == "reference"
        # Slicer makes labels as large as their widest one fits beside the bar, and the title as large as the labels,
        # whatever the font sizes: blanks keep them small.
        legend.SetLabelFormat("%12g" if right else "%-12g")
        legend.SetOrientation(legend.Vertical)
        legend.SetPosition(0.97 if right else 0.03, 0.5)
        legend.SetSize(0.09, 0.5)
        legend.GetLabelTextProperty().SetFontFamilyToArial()
        legend.SetVisibility(True)
        legend.SetVisibility2D(False)  # in slice views it would cover the anatomy
    legend.EndModify(wasModifying)
    return legend


def legendOf(modelNode):
    """Return the vtkMRMLColorLegendDisplayNode of a distance map, or None."""
    import slicer

    return slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(modelNode)


def legendTitle(kind: str, tolerance: float, signed: bool = True) -> str:
    """Return what a legend says above its colors, in short lines because Slicer does not wrap them."""
    if kind == "hazard":
        return "Hazard"
    title = f"Tolerance {tolerance:g} mm" if kind == "tolerance" else "Distance (mm)"
    return title + ("\n+ test outside\n- test inside" if signed and kind != "absolute" else "")
