"""The choices of the panel's combo boxes and their labels."""

import enum
from functools import cache

from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST
from SegmentMetricsLib.settings.settings import DECLARED

from ..translation import _, translate

# What Slicer's translators call the file that declares the settings: its folder and its name.
DECLARED_IN = "settings.settings"


class Labeled(enum.Enum):
    """A choice with a label for the combo box; parameter nodes store its name."""

    def label(self) -> str:
        return self.texts()[self.name]


def translated(text: str) -> str:
    """Return the translation of a text that is declared with a setting."""
    return translate(DECLARED_IN, text)


@cache
def choicesOf(setting: str) -> type[Labeled]:
    """Return the choices that the panel offers for a setting; the names are those of Settings."""
    words = DECLARED[setting].panel.words
    kind = Labeled(setting[0].upper() + setting[1:], list(words), module=__name__)
    kind.texts = staticmethod(lambda: {name: translated(text) for name, text in words.items()})
    return kind


class Mode(Labeled):
    """Whether one pair of segments, all matching structures, or several observers are compared."""

    onePair = enum.auto()
    allStructures = enum.auto()
    severalObservers = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {
            "onePair": _("One pair of segments"),
            "allStructures": _("All matching structures"),
            "severalObservers": _("Several observers"),
        }


class ConsensusMethod(Labeled):
    """How the consensus of several observers is made; the names are those of compareObservers, without "-"."""

    majority = enum.auto()
    staple = enum.auto()
    meanSurface = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {"majority": _("Majority"), "staple": _("STAPLE"), "meanSurface": _("Mean surface")}

    @property
    def method(self) -> str:
        return "mean-surface" if self.name == "meanSurface" else self.name


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
    dose = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {
            "signed": _("Signed distance"),
            "absolute": _("Distance"),
            "tolerance": _("Within tolerance"),
            "hazard": _("Hazard"),
            "bld": _("Bidirectional local distance"),
            "dose": _("Dose"),
        }

    @staticmethod
    def meanings() -> dict[str, str]:
        return {
            "signed": _("where the test lies outside or inside the reference."),
            "absolute": _("how far the two lie apart."),
            "tolerance": _("what lies farther apart than the tolerance τ."),
            "hazard": _("how near the boundary is to critical structures."),
            "bld": _("how far apart corresponding points lie, which also shows spikes of the other surface."),
            "dose": _("what dose the surface receives."),
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
    session = enum.auto()

    @staticmethod
    def texts() -> dict[str, str]:
        return {
            "histogram": _("Histogram of distances"),
            "cumulative": _("Surface within a distance"),
            "session": _("Practice session"),
        }


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
