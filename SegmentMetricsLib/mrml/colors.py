"""Colors and legends of distance maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..base.palettes import rgb
from ..show.maps import Coloring
from .nodes import oneChange

# Size of a legend with numbers and of one with words, as fractions of the view's width and height: the letters of both
# are alike, and can be read in a view of 400 x 240 pixels. Positions are fractions of what is left beside the legend.
SIZE_OF_NUMBERS, SIZE_OF_WORDS = (0.09, 0.4), (0.24, 0.4)
POSITION = (0.98, 0.3)

COLORS_ATTRIBUTE = "SegmentMetrics.Colors"


def fillColorNode(colorNode, kind: str, colors: Mapping[str, str] | Sequence[str], ends: tuple[float, float]) -> None:
    """Fill a color table with named colors, or a node of a color function with colors, between two values."""
    from vtkmodules.vtkRenderingCore import vtkColorTransferFunction

    if isinstance(colors, Mapping):
        colorNode.SetTypeToUser()
        colorNode.SetNumberOfColors(len(colors))
        for n, (name, color) in enumerate(colors.items()):
            colorNode.SetColor(n, name, *rgb(color), 1.0)
        colorNode.GetLookupTable().SetTableRange(*ends)
    else:
        function = vtkColorTransferFunction()
        for value, color in zip(np.linspace(*ends, len(colors)), colors, strict=True):
            function.AddRGBPoint(value, *rgb(color))
        colorNode.SetAndObserveColorTransferFunction(function)
    colorNode.SetAttribute(COLORS_ATTRIBUTE, kind)


def showLegend(modelNode, coloring: Coloring, count: int):
    """Give a map a legend in the 3D views and return its display node; an old one keeps its place and visibility."""
    import slicer

    isNew, isOfWords = legendOf(modelNode) is None, coloring.isOfWords
    legend = slicer.vtkSlicerColorLogic.AddDefaultColorLegendDisplayNode(modelNode)
    # one short line, because Slicer scales the title with the labels
    titles = {"bld": "Local (mm)", "sd": "Local SD (mm)"} | ({"signed": "mm, + outside"} if coloring.hasSides else {})
    with oneChange(legend):
        legend.SetTitleText(titles.get(coloring.kind, coloring.title))
        legend.SetMaxNumberOfColors(count if isOfWords else 256)
        legend.SetNumberOfLabels(max(3, count) if isOfWords else 3)
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
