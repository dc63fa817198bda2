"""What the user chooses in the panel, kept in a parameter node and saved with the scene."""

import enum
from typing import Annotated

import slicer
from slicer.i18n import tr as _
from slicer.parameterNodeWrapper import WithinRange, parameterNodeWrapper

from SegmentMetricsLib.settings import LARGEST_TOLERANCE, Settings

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

    @staticmethod
    def texts() -> dict[str, str]:
        return {"signed": _("Signed distance"), "absolute": _("Distance"), "tolerance": _("Within tolerance")}


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


@parameterNodeWrapper
class SegmentMetricsParameterNode:
    """Inputs, settings, how results are shown, and the table that holds them.

    Distances are in mm; segments are given by ID.
    """

    mode: Mode = Mode.onePair
    reference: slicer.vtkMRMLSegmentationNode
    referenceSegment: str
    test: slicer.vtkMRMLSegmentationNode
    testSegment: str

    tolerance: Annotated[float, WithinRange(0.01, LARGEST_TOLERANCE)] = 2.0
    percentile: Annotated[float, WithinRange(1.0, 100.0)] = 95.0
    surface: MeasuredSurface = MeasuredSurface.unsmoothed
    boundary: bool = True
    signed: bool = True
    overlap: bool = True
    subdivisions: Annotated[int, WithinRange(AUTOMATIC_SUBDIVISIONS, 4)] = AUTOMATIC_SUBDIVISIONS
    oversampling: Annotated[int, WithinRange(AUTOMATIC_OVERSAMPLING, 10)] = AUTOMATIC_OVERSAMPLING
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


def settingsOf(parameters: SegmentMetricsParameterNode) -> Settings:
    """Return the settings that the user chose. Raises ValueError when no family of metrics is chosen."""
    return Settings(
        tolerances=(parameters.tolerance,),
        percentiles=(parameters.percentile,),
        surface=parameters.surface.name,
        subdivisions=None if parameters.subdivisions == AUTOMATIC_SUBDIVISIONS else parameters.subdivisions,
        oversampling=None if parameters.oversampling == AUTOMATIC_OVERSAMPLING else parameters.oversampling,
        families=[family for family in ("boundary", "signed", "overlap") if getattr(parameters, family)],
    )
