"""Colors and legends of distance maps."""

from __future__ import annotations

import numpy as np

from ..base.palettes import ABSOLUTE, DOSE, EVENTS, SIGNED

TOLERANCE = ("#3a76bd", "#dfe3bd", "#d95f0e")  # test too small, within, test too large
TOLERANCE_ABSOLUTE = ("#dfe3bd", "#d95f0e")
# hues that differ from those of distances, so that hazard is not mistaken for distance
HAZARD = ("#ddd1ab", "#d6bdbf", "#c5a0c4", "#aa7bba", "#8d57a8", "#6c3089", "#4c1768")

# Legend labels of the bands of a tolerance map, in the order of TOLERANCE and TOLERANCE_ABSOLUTE.
BANDS = ("under-contoured", "within", "over-contoured")
BANDS_ABSOLUTE = ("within", "beyond")
# Size of a legend with numbers and of one with words, as fractions of the view's width and height: large enough to be
# read in a view of 400 x 240 pixels. Positions are fractions of what is left beside the legend.
SIZE_OF_NUMBERS, SIZE_OF_WORDS = (0.17, 0.6), (0.32, 0.45)
POSITION = (0.98, 0.3)

# Bands extend beyond the tolerance by this fraction, because a distance equal to the tolerance is within it.
HAIR = 1e-5

# Kinds whose legends have words instead of numbers.
OF_WORDS = ("tolerance", "lesions")
KINDS = ("signed", "absolute", "tolerance", "hazard", "bld", "dose")
# The point array that each kind of map shows; a surface without sides shows Distance instead of SignedDistance.
ARRAYS = {
    "signed": "SignedDistance", "absolute": "Distance", "tolerance": "SignedDistance", "hazard": "Hazard", "bld": "BLD",
    "dose": "Dose",
    "sd": "LocalSD",  # of several observers, no map of a pair
}  # fmt: skip
COLORS_ATTRIBUTE = "SegmentMetrics.Colors"


def rgb(color: str) -> tuple[float, float, float]:
    """Return a color given as #rrggbb as three numbers in [0, 1]."""
    red, green, blue = (int(color[n : n + 2], 16) / 255 for n in (1, 3, 5))
    return red, green, blue


def mapColors(kind: str, signed: bool = True) -> tuple[str, ...]:
    """Return the colors of a kind of map in ascending order; signed: whether inside and outside can be told apart."""
    if kind == "tolerance":
        return TOLERANCE if signed else TOLERANCE_ABSOLUTE
    if kind == "hazard":
        return HAZARD
    if kind == "lesions":
        return tuple(EVENTS.values())
    if kind == "dose":
        return DOSE
    return SIGNED if kind == "signed" and signed else ABSOLUTE


def bandNames(signed: bool = True) -> tuple[str, ...]:
    """Return the names of the bands of a tolerance map in ascending order; signed as for mapColors()."""
    return BANDS if signed else BANDS_ABSOLUTE


def scalarRange(kind: str, limit: float, tolerance: float, signed: bool = True) -> tuple[float, float]:
    """Return the values in mm (Gy) of the lowest and highest color; a hazard has no unit and ranges from 0 to 1.

    limit: largest distance (dose) of a continuous map. A tolerance map ignores it: its bands have equal widths, like
    the words in the legend, and all larger values have the colors of the outer bands.
    """
    if kind == "tolerance":
        beyond = tolerance * (1 + HAIR)
        return (-3 * beyond, 3 * beyond) if signed else (0.0, 2 * beyond)
    if kind == "hazard":
        return 0.0, 1.0
    return (-limit, limit) if kind == "signed" and signed else (0.0, limit)


def colorNodeClass(kind: str) -> str:
    """Return the class of the color node of a kind of map; only a color table keeps names in a saved scene."""
    return "vtkMRMLColorTableNode" if kind == "tolerance" else "vtkMRMLProceduralColorNode"


def fillColorNode(colorNode, kind: str, low: float, high: float, signed: bool = True) -> None:
    """Fill a node of colorNodeClass() with the colors of a kind of map. low, high: values of the end colors."""
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

    An existing legend gets the new content but keeps its position and visibility. The maps of both sides have the same
    colors: one of their legends is enough, see maps.showMaps().
    """
    import slicer

    isNew = legendOf(modelNode) is None
    legend = slicer.vtkSlicerColorLogic.AddDefaultColorLegendDisplayNode(modelNode)
    wasModifying = legend.StartModify()
    legend.SetTitleText(shortTitle(kind, tolerance, signed))
    isOfWords = kind in OF_WORDS
    legend.SetMaxNumberOfColors(len(mapColors(kind, signed)) if isOfWords else 256)
    legend.SetNumberOfLabels(3)
    # Slicer ignores font sizes: it scales the labels until the widest one fits beside the bar, and the title to match.
    # Blanks keep short ones as small as the others.
    legend.SetLabelFormat("%s" if isOfWords else "%+8.3g" if kind == "signed" and signed else "%9.3g")
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
    legend.EndModify(wasModifying)
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


def shortTitle(kind: str, tolerance: float, signed: bool = True) -> str:
    """Return the title of a legend in a view: one short line, because Slicer scales it with the labels."""
    if kind == "dose":
        return "Dose (Gy)"
    if kind == "bld":
        return "Local (mm)"
    if kind == "sd":
        return "Local SD (mm)"
    if kind in ("hazard", "tolerance", "lesions"):
        return legendTitle(kind, tolerance, signed)
    return "mm, + outside" if signed and kind != "absolute" else "Distance (mm)"


def legendTitle(kind: str, tolerance: float, signed: bool = True) -> str:
    """Return the title of a legend in a picture, in short lines because Slicer does not wrap it."""
    if kind == "hazard":
        return "Hazard"
    if kind == "lesions":
        return "Lesions"
    if kind == "dose":
        return "Dose (Gy)"
    if kind == "sd":
        return "Local SD (mm)\nof the observers"
    if kind == "bld":
        return "Bidirectional\nlocal distance\n(mm)"
    if kind == "tolerance":
        return f"Tolerance {tolerance:g} mm"
    return "Distance (mm)" + ("\n+ test outside\n- test inside" if signed and kind != "absolute" else "")
