"""The user's choices in the panel, stored in a parameter node and saved with the scene."""

from functools import partial
from typing import Annotated

import slicer
import vtk
from slicer.parameterNodeWrapper import Default, WithinRange, parameterNodeWrapper

from SegmentMetricsLib.conventions.convention import OWN_CONVENTION
from SegmentMetricsLib.settings.settings import DECLARED, DEFAULT_FAMILIES, Settings

from .model import enumerations
from .model.chosensettings import IN_PANEL


def withSettings(kind: type) -> type:
    """Add parameters for the settings that the panel offers to a class; those that are not there yet."""
    for name, panel in IN_PANEL.items():
        declaration, usual = DECLARED[name], getattr(Settings, name)
        if panel.name in kind.__annotations__:
            continue
        if panel.words:
            choices = enumerations.choicesOf(name)
            kind.__annotations__[panel.name] = choices
            usual = choices[str(usual)]
        else:
            number = declaration.check.option["type"]
            kind.__annotations__[panel.name] = Annotated[number, WithinRange(number(panel.low), number(panel.high))]
            if usual is None:
                usual = declaration.parameter.values[0] if declaration.parameter else panel.low
        setattr(kind, panel.name, usual)
    return kind


@parameterNodeWrapper
@withSettings
class SegmentMetricsParameterNode:
    """Inputs, settings, display options, and the table that holds the results.

    withSettings() adds one for each setting. Distances are in mm. Segments are given by ID, critical structures by
    their names in the reference.
    """

    mode: enumerations.Mode = enumerations.Mode.onePair
    reference: slicer.vtkMRMLSegmentationNode
    referenceSegment: str
    test: slicer.vtkMRMLSegmentationNode
    testSegment: str
    # edited pairs, flattened: reference name, test name ("" for none), and how the pair was found, repeated for each
    pairs: list[str]

    # several observers: segmentations, or segments of observersOf
    observersOf: slicer.vtkMRMLSegmentationNode
    observerNodes: list[slicer.vtkMRMLSegmentationNode]
    testNodes: list[slicer.vtkMRMLSegmentationNode]
    observerSegments: list[str]
    testSegments: list[str]
    areObserversChosen: bool = False
    consensus: enumerations.ConsensusMethod = enumerations.ConsensusMethod.majority
    observersResult: slicer.vtkMRMLTableNode
    observedOnly: str
    observedStructure: str
    observedKey: str = "HD95"
    showVariation: bool = True

    families: Annotated[list[str], Default(generator=lambda: list(DEFAULT_FAMILIES))]
    critical: list[str]
    convention: str = OWN_CONVENTION
    protocol: slicer.vtkMRMLTableNode
    dose: slicer.vtkMRMLScalarVolumeNode
    follow: bool = False
    edit: str = ""  # the Edit of the pair that is followed
    session: slicer.vtkMRMLTableNode  # of the last practice

    result: slicer.vtkMRMLTableNode
    shownPair: int = 0
    plot: enumerations.Plot = enumerations.Plot.histogram
    showMap: bool = True
    focus: bool = True
    mapSide: enumerations.MapSide = enumerations.MapSide.reference
    mapKind: enumerations.MapKind = enumerations.MapKind.signed
    mapSurface: enumerations.MapSurface = enumerations.MapSurface.displayed
    automaticRange: bool = True
    range: Annotated[float, WithinRange(0.1, 1e6)] = 5.0
    opacity: Annotated[float, WithinRange(0.0, 1.0)] = 1.0
    sliceContour: bool = True
    legend: bool = True
    showMarkers: bool = False
    showHazard: bool = False
    showLesions: bool = False
    sliceQuantity: enumerations.SliceQuantity = enumerations.SliceQuantity.HD
    reportConventions: bool = False


def parametersOf(node) -> SegmentMetricsParameterNode:
    """Return a parameter node without choices that another version saved: Slicer would refuse to read any of it."""
    for name, kind in SegmentMetricsParameterNode.__annotations__.items():
        if isinstance(kind, type) and issubclass(kind, enumerations.Labeled):
            text = node.GetParameter(name)
            if text and text not in kind.__members__:
                node.UnsetParameter(name)
    return SegmentMetricsParameterNode(node)


class GuiConnection:
    """Connects the widgets of a panel with a parameter node until end() is called.

    Slicer 5.10 does not remove all observers when a connection is ended. Each leftover observer would update all
    widgets again whenever a parameter changes, so they are removed here.
    """

    def __init__(self, parameters, ui):
        self._parameters = parameters
        observe = partial(parameters.parameterNode.AddObserver, vtk.vtkCommand.DeleteEvent, lambda *_: None)
        # observer tags are ascending, so those between these two are added by the connection
        first, self._tag, last = observe(), parameters.connectGui(ui), observe()
        self._added = range(first, last + 1)

    def end(self) -> None:
        """Disconnect the widgets."""
        self._parameters.disconnectGui(self._tag)
        for tag in self._added:
            self._parameters.parameterNode.RemoveObserver(tag)
