"""The user's choices in the panel, stored in a parameter node and saved with the scene."""

from typing import Annotated

import slicer
import vtk
from slicer.parameterNodeWrapper import Default, WithinRange, parameterNodeWrapper

from SegmentMetricsLib.settings.settings import (
    DEFAULT_FAMILIES,
    LARGEST_BETA,
    LARGEST_LEVEL,
    LARGEST_TOLERANCE,
    OWN_CONVENTION,
)

from .chosensettings import AUTOMATIC_OVERSAMPLING, AUTOMATIC_SUBDIVISIONS
from .enumerations import (
    EvaluatedGrid,
    Extent,
    HazardKernel,
    Labeled,
    MapKind,
    MapSide,
    MapSurface,
    MeasuredSurface,
    Mode,
    Plot,
    SliceQuantity,
    VoxelUnit,
)


@parameterNodeWrapper
class SegmentMetricsParameterNode:
    """Inputs, settings, display options, and the table that holds the results.

    Distances are in mm. Segments are given by ID, critical structures by their names in the reference.
    """

    mode: Mode = Mode.onePair
    reference: slicer.vtkMRMLSegmentationNode
    referenceSegment: str
    test: slicer.vtkMRMLSegmentationNode
    testSegment: str
    # edited pairs, flattened: reference name, test name ("" for none), and how the pair was found, repeated for each
    pairs: list[str]

    tolerance: Annotated[float, WithinRange(0.01, LARGEST_TOLERANCE)] = 2.0
    percentile: Annotated[float, WithinRange(1.0, 100.0)] = 95.0
    surface: MeasuredSurface = MeasuredSurface.unsmoothed
    families: Annotated[list[str], Default(generator=lambda: list(DEFAULT_FAMILIES))]
    critical: list[str]
    extent: Extent = Extent.whole
    subdivisions: Annotated[int, WithinRange(AUTOMATIC_SUBDIVISIONS, 4)] = AUTOMATIC_SUBDIVISIONS
    oversampling: Annotated[int, WithinRange(AUTOMATIC_OVERSAMPLING, 10)] = AUTOMATIC_OVERSAMPLING
    grid: EvaluatedGrid = EvaluatedGrid.reference
    beta: Annotated[float, WithinRange(0.01, LARGEST_BETA)] = 1.0
    quantile: Annotated[float, WithinRange(0.01, 1.0)] = 1.0
    voxelUnit: VoxelUnit = VoxelUnit.mm
    hazardKernel: HazardKernel = HazardKernel.polynomial
    hazardReach: Annotated[float, WithinRange(0.1, LARGEST_TOLERANCE)] = 10.0
    hazardDecay: Annotated[float, WithinRange(0.1, LARGEST_TOLERANCE)] = 8.0
    il: Annotated[float, WithinRange(0.01, LARGEST_LEVEL)] = 1.0
    ol: Annotated[float, WithinRange(0.01, LARGEST_LEVEL)] = 1.0
    convention: str = OWN_CONVENTION
    protocol: slicer.vtkMRMLTableNode
    autoUpdate: bool = False

    result: slicer.vtkMRMLTableNode
    shownPair: int = 0
    plot: Plot = Plot.histogram
    showMap: bool = True
    mapSide: MapSide = MapSide.reference
    mapKind: MapKind = MapKind.signed
    mapSurface: MapSurface = MapSurface.displayed
    automaticRange: bool = True
    range: Annotated[float, WithinRange(0.1, 1e6)] = 5.0
    opacity: Annotated[float, WithinRange(0.0, 1.0)] = 1.0
    sliceContour: bool = True
    legend: bool = True
    showMarkers: bool = False
    showHazard: bool = False
    sliceQuantity: SliceQuantity = SliceQuantity.HD
    reportConventions: bool = False


def forgetUnknownChoices(node) -> None:
    """Remove from a parameter node the choices that another version saved and this version does not offer.

    Otherwise Slicer would refuse to read any of its parameters.
    """
    for name, kind in SegmentMetricsParameterNode.__annotations__.items():
        if isinstance(kind, type) and issubclass(kind, Labeled):
            text = node.GetParameter(name)
            if text and text not in kind.__members__:
                node.UnsetParameter(name)


class GuiConnection:
    """Connects the widgets of a panel with a parameter node until end() is called.

    Slicer 5.10 does not remove all observers when a connection is ended. Each leftover observer would update all
    widgets again whenever a parameter changes, so they are removed here.
    """

    def __init__(self, parameters, ui):
        self._parameters = parameters
        node = parameters.parameterNode
        # observer tags are ascending, so those between these two were added by the connection
        first, self._tag, last = self._nextTag(node), parameters.connectGui(ui), self._nextTag(node)
        self._added = range(first + 1, last)

    @staticmethod
    def _nextTag(node) -> int:
        tag = node.AddObserver(vtk.vtkCommand.DeleteEvent, lambda *_: None)
        node.RemoveObserver(tag)
        return tag

    def end(self) -> None:
        """Disconnect the widgets."""
        self._parameters.disconnectGui(self._tag)
        for tag in self._added:
            self._parameters.parameterNode.RemoveObserver(tag)
