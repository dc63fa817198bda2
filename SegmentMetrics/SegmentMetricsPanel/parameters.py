"""The user's choices in the panel, stored in a parameter node and saved with the scene."""

from typing import Annotated

import slicer
import vtk
from slicer.i18n import tr as _
from slicer.parameterNodeWrapper import Default, WithinRange, parameterNodeWrapper

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.relevance import isRelevant
from SegmentMetricsLib.mrml import protocolFromTable
from SegmentMetricsLib.settings.settings import (
    DECIDED_BY_TOOLS,
    DEFAULT_FAMILIES,
    LARGEST_BETA,
    LARGEST_LEVEL,
    LARGEST_TOLERANCE,
    OWN_CONVENTION,
    Settings,
)

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
from .segments import segmentName, segmentNames

# The lowest values of the spin boxes, displayed as "Automatic".
AUTOMATIC_SUBDIVISIONS, AUTOMATIC_OVERSAMPLING = -1, 0


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


def settingsOf(parameters: SegmentMetricsParameterNode) -> Settings:
    """Return the chosen settings, with defaults for those that no chosen family of metrics uses.

    Raises ValueError if no family is chosen, or the hazard family without any critical structure.
    """
    p = parameters
    families = list(p.families)
    convention = conventionOf(parameters)
    chosen = {
        "percentiles": ("percentile", p.percentile),
        "subdivisions": ("subdivisions", None if p.subdivisions == AUTOMATIC_SUBDIVISIONS else p.subdivisions),
        "oversampling": ("oversampling", None if p.oversampling == AUTOMATIC_OVERSAMPLING else p.oversampling),
        "grid": ("grid", p.grid.name),
        "betas": ("beta", p.beta),
        "quantiles": ("quantile", p.quantile),
        "voxelUnit": ("voxelUnit", p.voxelUnit.name),
        "critical": ("critical", criticalNames(p)),
        "hazardKernel": ("hazardKernel", p.hazardKernel.name),
        "hazardReach": ("hazardReach", p.hazardReach),
        "hazardDecay": ("hazardDecay", p.hazardDecay),
        "il": ("il", p.il),
        "ol": ("ol", p.ol),
    }
    relevant = {field: value for field, (setting, value) in chosen.items() if isRelevant(setting, families)}
    relevant["surface"] = p.surface.name
    if convention != OWN_CONVENTION:
        relevant = {field: value for field, value in relevant.items() if field not in DECIDED_BY_TOOLS}
    if not relevant.get("critical", True):
        raise InputError(_("Choose critical structures, or turn off the hazard metrics."))
    return Settings.preset(convention, tolerances=(p.tolerance,), extent=p.extent.name, families=families, **relevant)


def conventionOf(parameters: SegmentMetricsParameterNode) -> str:
    """Return the chosen convention if it affects any chosen family, otherwise SegmentMetrics' own."""
    return parameters.convention if isRelevant("convention", list(parameters.families)) else OWN_CONVENTION


def possibleCriticals(parameters: SegmentMetricsParameterNode) -> list[str]:
    """Return the names of the reference's segments that can be critical structures: all but the compared one."""
    p = parameters
    compared = segmentName(p.reference, p.referenceSegment) if p.mode == Mode.onePair else None
    return [name for name in segmentNames(p.reference) if name != compared]


def criticalNames(parameters: SegmentMetricsParameterNode) -> list[str]:
    """Return the names of the chosen critical structures that exist in the reference."""
    return [name for name in possibleCriticals(parameters) if name in list(parameters.critical)]


def protocolOf(parameters):
    """Return the chosen protocol, or None. Raises ValueError that names the row and column of a mistake."""
    return protocolFromTable(parameters.protocol) if parameters.protocol is not None else None


def versionOf(parameters) -> str | None:
    """Return a version string that changes with the rules of the chosen protocol, or None. Raises as protocolOf."""
    protocol = protocolOf(parameters)
    return protocol.version if protocol else None
