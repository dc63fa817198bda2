"""What can be chosen in the combo boxes of the panel, and what they call it."""

import enum

from slicer.i18n import tr as _


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
        return {"onePair": _("One pair of segments"), "allStructures": _("All matching structures")}


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
        return {"reference": _("Reference image"), "union": _("Union of both")}


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

    @staticmethod
    def meanings() -> dict[str, str]:
        return {
            "signed": _("where the test lies outside or inside the reference."),
            "absolute": _("how far the two lie apart."),
            "tolerance": _("what lies farther apart than the tolerance τ."),
            "hazard": _("how near the boundary is to critical structures."),
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
