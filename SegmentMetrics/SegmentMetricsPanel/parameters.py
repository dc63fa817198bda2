"""What the user chooses in the panel, kept in a parameter node and saved with the scene."""

import enum
from typing import Annotated

import slicer
from slicer.i18n import tr as _
from slicer.parameterNodeWrapper import Default, WithinRange, parameterNodeWrapper

from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.relevance import isRelevant
from SegmentMetricsLib.settings import DEFAULT_FAMILIES, LARGEST_BETA, LARGEST_LEVEL, LARGEST_TOLERANCE, Settings

from .segments import segmentName, segmentNames

# Shown as "Automatic" by the spin boxes, whose lowest value it is.
AUTOMATIC_SUBDIVISIONS, AUTOMATIC_OVERSAMPLING = -1, 0


class Labeled(enum.Enum):
    """A choice that knows what the combo box calls it; parameter nodes save the name."""

    def label(self) -> str:
        return self.texts()[self.name]


class Mode(Labeled):
    """What is compared."""

    onePair = enum.auto()
    allStructures = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"onePair": _("One pair of segments"), "allStructures": _("All structures of the same name")}


class MeasuredSurface(Labeled):
    """The boundary that is measured; the names are those of Settings."""

    unsmoothed = enum.auto()
    displayed = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"unsmoothed": _("Unsmoothed (as segmented)"), "displayed": _("As displayed (smoothed)")}


class Extent(Labeled):
    """How much of the two is compared; the names are those of Settings."""

    whole = enum.auto()
    common = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"whole": _("Whole structures"), "common": _("Common extent")}


class EvaluatedGrid(Labeled):
    """The voxels that count where those outside both segments do; the names are those of Settings."""

    reference = enum.auto()
    union = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"reference": _("Reference image"), "union": _("Box around both")}


class VoxelUnit(Labeled):
    """The unit of the voxel family's distances; the names are those of Settings."""

    mm = enum.auto()
    voxel = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"mm": _("Millimeters"), "voxel": _("Voxels")}


class HazardKernel(Labeled):
    """How hazard falls with distance; the names are those of Settings."""

    polynomial = enum.auto()
    exponential = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"polynomial": _("To zero"), "exponential": _("Exponentially")}


class MapSide(Labeled):
    """The surfaces that are colored."""

    reference = enum.auto()
    test = enum.auto()
    both = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"reference": _("Reference"), "test": _("Test"), "both": _("Both")}

    @property
    def sides(self) -> tuple[str, ...]:
        return ("reference", "test") if self.name == "both" else (self.name,)


class MapKind(Labeled):
    """What the colors mean; the names are those of showDistanceMap."""

    signed = enum.auto()
    absolute = enum.auto()
    tolerance = enum.auto()
    hazard = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {
            "signed": _("Signed distance"),
            "absolute": _("Distance"),
            "tolerance": _("Within tolerance"),
            "hazard": _("Hazard"),
        }


class MapSurface(Labeled):
    """The surface that is drawn; the names are those of showDistanceMap."""

    displayed = enum.auto()
    measured = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"displayed": _("Smooth surface"), "measured": _("Measured surface")}


class Plot(Labeled):
    """What the plot shows."""

    histogram = enum.auto()
    cumulative = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"histogram": _("Histogram of distances"), "cumulative": _("Surface within a distance")}


class SliceQuantity(Labeled):
    """What the plot of slices shows; the names are those of the values of slices, without a tolerance."""

    HD = enum.auto()
    MASD = enum.auto()
    DSC = enum.auto()
    AreaDifference = enum.auto()
    APL = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {
            "HD": _("Largest distance (HD)"),
            "MASD": _("Mean distance (MASD)"),
            "DSC": _("Dice coefficient (DSC)"),
            "AreaDifference": _("Area difference"),
            "APL": _("Added path length (APL)"),
        }


@parameterNodeWrapper
class SegmentMetricsParameterNode:
    """Inputs, settings, how results are shown, and the table that holds them.

    Distances are in mm; segments are given by ID, critical structures by the names that they have in the reference.
    """

    mode: Mode = Mode.onePair
    reference: slicer.vtkMRMLSegmentationNode
    referenceSegment: str
    test: slicer.vtkMRMLSegmentationNode
    testSegment: str

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


def settingsOf(parameters: SegmentMetricsParameterNode) -> Settings:
    """Return the settings that the user chose, but for those that no chosen family of metrics uses.

    Raises ValueError when no family is chosen, and for the hazard family when no critical structure is.
    """
    p = parameters
    families = list(p.families)
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
    if not relevant.get("critical", True):
        raise InputError(_("Choose the critical organs, or leave out the metrics of hazard."))
    return Settings(
        tolerances=(p.tolerance,), surface=p.surface.name, extent=p.extent.name, families=families, **relevant
    )


def possibleCriticals(parameters: SegmentMetricsParameterNode) -> list[str]:
    """Return the names of the reference's segments that can be critical structures: not the compared one."""
    p = parameters
    compared = segmentName(p.reference, p.referenceSegment) if p.mode == Mode.onePair else None
    return [name for name in segmentNames(p.reference) if name != compared]


def criticalNames(parameters: SegmentMetricsParameterNode) -> list[str]:
    """Return the names of the chosen critical structures, as far as the reference has them."""
    return [name for name in possibleCriticals(parameters) if name in list(parameters.critical)]
