"""Colors and legends of distance maps."""

from __future__ import annotations

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkDataObject

from ..base.palettes import rgb
from ..show.maps import Coloring
from .nodes import oneChange

# Size of a legend with numbers and of one with words, as fractions of the view's width and height: the letters of both
# are alike, and can be read in a view of 400 x 240 pixels. Positions are fractions of what is left beside the legend.
SIZE_OF_NUMBERS, SIZE_OF_WORDS = (0.09, 0.4), (0.24, 0.4)
POSITION = (0.98, 0.3)

COLORS_ATTRIBUTE = "SegmentMetrics.Colors"


def fillColorNode(colorNode, coloring: Coloring) -> None:
    """Fill a color table, for a tolerance, or a node of a color function with the colors of a map."""
    from vtkmodules.vtkRenderingCore import vtkColorTransferFunction

    colors, (low, high) = [rgb(color) for color in coloring.palette], coloring.ends
    if coloring.kind == "tolerance":
        colorNode.SetTypeToUser()
        colorNode.SetNumberOfColors(len(colors))
        for n, (name, color) in enumerate(zip(coloring.bands, colors, strict=True)):
            colorNode.SetColor(n, name, *color, 1.0)
        colorNode.GetLookupTable().SetTableRange(low, high)
    else:
        function = vtkColorTransferFunction()
        for value, color in zip(np.linspace(low, high, len(colors)), colors, strict=True):
            function.AddRGBPoint(value, *color)
        colorNode.SetAndObserveColorTransferFunction(function)
    colorNode.SetAttribute(COLORS_ATTRIBUTE, coloring.kind)


def showColors(display, colorNode, array: str, ends: tuple[float, float], isNew: bool) -> None:
    """Color a model by a point array. isNew: whether to set what users may change, too."""
    if isNew:
        display.SetVisibility2D(True)
        display.SetSliceIntersectionThickness(4)
        # little shading, so that the colors on the surface match the legend
        display.SetAmbient(0.3)
        display.SetDiffuse(0.8)
        display.SetSpecular(0.0)
    display.SetAndObserveColorNodeID(colorNode.GetID())
    display.SetActiveScalar(array, vtkDataObject.POINT)
    display.SetScalarRangeFlag(display.UseManualScalarRange)
    display.SetScalarRange(*ends)
    display.SetScalarVisibility(True)


def showLegend(modelNode, coloring: Coloring):
    """Give a map a legend in the 3D views and return its display node; an old one keeps its place and visibility."""
    import slicer

    isNew, isOfWords = legendOf(modelNode) is None, coloring.isOfWords
    legend = slicer.vtkSlicerColorLogic.AddDefaultColorLegendDisplayNode(modelNode)
    # one short line, because Slicer scales the title with the labels
    titles = {"bld": "Local (mm)", "sd": "Local SD (mm)"} | ({"signed": "mm, + outside"} if coloring.hasSides else {})
    with oneChange(legend):
        legend.SetTitleText(titles.get(coloring.kind, coloring.title))
        legend.SetMaxNumberOfColors(len(coloring.palette) if isOfWords else 256)
        legend.SetNumberOfLabels(3)
        # Slicer ignores font sizes: it scales the labels until the widest one fits beside the bar. Blanks keep short
        # ones as small as the others.
        legend.SetLabelFormat("%s" if isOfWords else "%+8.3g" if coloring.ends[0] < 0 else "%9.3g")
        if isNew or bool(legend.GetUseColorNamesForLabels()) != isOfWords:
            legend.SetUseColorNamesForLabels(isOfWords)
            sizes = (SIZE_OF_NUMBERS, SIZE_OF_WORDS)
            if isNew or tuple(legend.GetSize()) == sizes[not isOfWords]:  # keep a size that the user chose
                legend.SetSize(*sizes[isOfWords])
        if isNew:
            legend.SetOrientation(legend.Vertical)
            legend.SetPosition(*POSITION)
            legend.GetLabelTextProperty().SetFontFamilyToArial()
            legend.SetVisibility(True)
            legend.SetVisibility2D(False)  # in slice views it would cover the anatomy
    return legend


def makeRoom(legend, other) -> None:
    """Hide a new legend if another one says the same of the other side; if it says something else, move it aside."""
    if other is None or not other.GetVisibility() or not other.GetPrimaryDisplayNode().GetVisibility():
        return
    looks = [(node.GetTitleText(), node.GetPrimaryDisplayNode().GetScalarRange()) for node in (legend, other)]
    if looks[0] == looks[1]:
        legend.SetVisibility(False)
    else:
        legend.SetPosition(1 - POSITION[0], POSITION[1])


def legendOf(modelNode):
    """Return the vtkMRMLColorLegendDisplayNode of a distance map, or None."""
    import slicer

    return slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(modelNode)
