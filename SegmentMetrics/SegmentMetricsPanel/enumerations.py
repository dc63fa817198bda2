"""The choices of the panel's combo boxes and their labels."""

import enum

from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST

from .translation import _


class Labeled(enum.Enum):
    """A choice with a label for the combo box; parameter nodes store its name."""

    def label(self) -> str:
        return self.texts()[self.name]


class Mode(Labeled):
    """Whether one pair of segments or all matching structures are compared."""

    onePair = enum.auto()
    allStructures = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"onePair": _("One pair of segments"), "allStructures": _("All matching structures")}


class MeasuredSurface(Labeled):
    """The boundary that is measured; the names are those of Settings."""

    unsmoothed = enum.auto()
    displayed = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"unsmoothed": _("Unsmoothed (as segmented)"), "displayed": _("As displayed (smoothed)")}


class Extent(Labeled):
    """The part of the structures that is compared; the names are those of Settings."""

    whole = enum.auto()
    common = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"whole": _("Whole structures"), "common": _("Common extent")}


class EvaluatedGrid(Labeled):
    """The voxels to evaluate for metrics that count those outside both segments; the names are those of Settings."""

    reference = enum.auto()
    union = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"reference": _("Reference image"), "union": _("Union of both")}


class VoxelUnit(Labeled):
    """The unit of the voxel family's distances; the names are those of Settings."""

    mm = enum.auto()
    voxel = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"mm": _("Millimeters"), "voxel": _("Voxels")}


class HazardKernel(Labeled):
    """How hazard decreases with distance; the names are those of Settings."""

    polynomial = enum.auto()
    exponential = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"polynomial": _("Polynomial (to zero)"), "exponential": _("Exponential")}


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
        return REFERENCE_AND_TEST if self.name == "both" else (self.name,)


class MapKind(Labeled):
    """The quantity that the colors show; the names are those of showDistanceMap."""

    signed = enum.auto()
    absolute = enum.auto()
    tolerance = enum.auto()
    hazard = enum.auto()
    bld = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {
            "signed": _("Signed distance"),
            "absolute": _("Distance"),
            "tolerance": _("Within tolerance"),
            "hazard": _("Hazard"),
            "bld": _("Bidirectional local distance"),
        }

    @staticmethod
    def meanings() -> dict[str, str]:
        return {
            "signed": _("where the test lies outside or inside the reference."),
            "absolute": _("how far the two lie apart."),
            "tolerance": _("what lies farther apart than the tolerance τ."),
            "hazard": _("how near the boundary is to critical structures."),
            "bld": _("how far apart what belongs together lies, which also sees spikes of the other surface."),
        }


class MapSurface(Labeled):
    """The surface that is drawn; the names are those of showDistanceMap."""

    displayed = enum.auto()
    measured = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"displayed": _("Smooth surface"), "measured": _("Measured surface")}


class Plot(Labeled):
    """The kind of plot."""

    histogram = enum.auto()
    cumulative = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"histogram": _("Histogram of distances"), "cumulative": _("Surface within a distance")}


class SliceQuantity(Labeled):
    """The quantity in the plot of slices; the names are the keys of a slice's values, without a tolerance."""

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
