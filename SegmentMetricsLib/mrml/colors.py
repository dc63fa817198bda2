"""Colors and legends of distance maps."""

from __future__ import annotations

import numpy as np

from ..palettes import ABSOLUTE, SIGNED

TOLERANCE = ("#3a76bd", "#dfe3bd", "#d95f0e")  # test too small, within, test too large
TOLERANCE_ABSOLUTE = ("#dfe3bd", "#d95f0e")
# other hues than those of distances, so that nobody takes a hazard for one
HAZARD = ("#ddd1ab", "#d6bdbf", "#c5a0c4", "#aa7bba", "#8d57a8", "#6c3089", "#4c1768")

# What the bands of a tolerance map say in the legend, in the order of TOLERANCE and TOLERANCE_ABSOLUTE.
BANDS = ("under-contoured", "within", "over-contoured")
BANDS_ABSOLUTE = ("within", "beyond")
# Share of a view's width and height that a legend takes with numbers, and with words.
SIZE_OF_NUMBERS, SIZE_OF_WORDS = (0.09, 0.5), (0.2, 0.5)

# What lies exactly at the tolerance is within, and so has to be the edge of its band, by this share.
HAIR = 1e-5

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


def bandNames(signed: bool = True) -> tuple[str, ...]:
    """Return what the bands of a tolerance map are called, low to high; signed as for mapColors()."""
    return BANDS if signed else BANDS_ABSOLUTE


def scalarRange(kind: str, limit: float, tolerance: float, signed: bool = True) -> tuple[float, float]:
    """Return the values in mm of the lowest and highest color; a hazard has no unit and goes from 0 to 1.

    limit: largest distance of a continuous map. A tolerance map takes no limit: its bands are equally wide, as the
    legend's words are, and everything beyond has the color of the outer bands.
    """
    if kind == "tolerance":
        beyond = tolerance * (1 + HAIR)
        return (-3 * beyond, 3 * beyond) if signed else (0.0, 2 * beyond)
    if kind == "hazard":
        return 0.0, 1.0
    return (-limit, limit) if kind == "signed" and signed else (0.0, limit)


def colorNodeClass(kind: str) -> str:
    """Return of which class the color node of a kind of map is: only a table keeps names in a saved scene."""
    return "vtkMRMLColorTableNode" if kind == "tolerance" else "vtkMRMLProceduralColorNode"


def fillColorNode(colorNode, kind: str, low: float, high: float, signed: bool = True) -> None:
    """Give a node of colorNodeClass() the colors of a kind of map between two of its values."""
    from vtkmodules.vtkRenderingCore import vtkColorTransferFunction

    colors = [rgb(color) for color in mapColors(kind, signed)]
    if kind == "tolerance":
        colorNode.SetTypeToUser()
        colorNode.SetNumberOfColors(len(colors))
        for n, (name, color) in enumerate(zip(bandNames(signed), colors, strict=True)):
            colorNode.SetColor(n, name, *color, 1.0)
        colorNode.GetLookupTable().SetTableRange(low, high)
    else:
        function = vtkColorTransferFunction()
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
    isOfWords = kind == "tolerance"
    legend.SetMaxNumberOfColors(len(mapColors(kind, signed)) if isOfWords else 256)
    legend.SetNumberOfLabels(5)
    right = side == "reference"
    if isNew or bool(legend.GetUseColorNamesForLabels()) != isOfWords:
        legend.SetUseColorNamesForLabels(isOfWords)
        # Slicer makes labels as large as their widest one fits beside the bar, and the title as large as the labels,
        # whatever the font sizes: blanks keep them small.
        legend.SetLabelFormat(f"%{'' if right else '-'}{'16s' if isOfWords else '12g'}")
        sizes = (SIZE_OF_NUMBERS, SIZE_OF_WORDS)
        if isNew or tuple(legend.GetSize()) == sizes[not isOfWords]:  # not one that somebody chose
            legend.SetSize(*sizes[isOfWords])
    if isNew:
        legend.SetOrientation(legend.Vertical)
        legend.SetPosition(0.97 if right else 0.03, 0.5)
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
    if kind == "tolerance":
        return f"Tolerance {tolerance:g} mm"
    return "Distance (mm)" + ("\n+ test outside\n- test inside" if signed and kind != "absolute" else "")
