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

    def __new__(cls, text: str):
        choice = object.__new__(cls)
        choice._value_ = len(cls.__members__)  # not the text: two may be alike in another language
        choice.text = text
        return choice

    def label(self) -> str:
        return self.text


def translateDeclared(text: str) -> str:
    """Return the translation of a text that is declared with a setting."""
    return translate(DECLARED_IN, text)


@cache
def choicesOf(setting: str) -> type[Labeled]:
    """Return the choices that the panel offers for a setting; the names are those of Settings."""
    words = {name: translateDeclared(text) for name, text in DECLARED[setting].panel.words.items()}
    return Labeled(setting[0].upper() + setting[1:], words, module=__name__)


class Mode(Labeled):
    """Whether one pair of segments, all matching structures, or several observers are compared."""

    onePair = _("One pair of segments")
    allStructures = _("All matching structures")
    severalObservers = _("Several observers")


class ConsensusMethod(Labeled):
    """How the consensus of several observers is made; the names are those of compareObservers, without "-"."""

    majority = _("Majority")
    staple = _("STAPLE")
    meanSurface = _("Mean surface")

    @property
    def method(self) -> str:
        return "mean-surface" if self.name == "meanSurface" else self.name


class MapSide(Labeled):
    """The surfaces that are colored."""

    reference = _("Reference")
    test = _("Test")
    both = _("Both")

    @property
    def sides(self) -> tuple[str, ...]:
        return REFERENCE_AND_TEST if self.name == "both" else (self.name,)


class MapKind(Labeled):
    """The quantity that the colors show; the names are those of showDistanceMap."""

    signed = _("Signed distance")
    absolute = _("Distance")
    tolerance = _("Within tolerance")
    hazard = _("Hazard")
    bld = _("Bidirectional local distance")
    dose = _("Dose")


class MapSurface(Labeled):
    """The surface that is drawn; the names are those of showDistanceMap."""

    displayed = _("Smooth surface")
    measured = _("Measured surface")


class Plot(Labeled):
    """The kind of plot."""

    histogram = _("Histogram of distances")
    cumulative = _("Surface within a distance")
    session = _("Practice session")


class SliceQuantity(Labeled):
    """The quantity in the plot of slices; the names are the keys of a slice's values, without a tolerance."""

    HD = _("Largest distance (HD)")
    MASD = _("Mean distance (MASD)")
    DSC = _("Dice coefficient (DSC)")
    AreaDifference = _("Area difference")
    APL = _("Added path length (APL)")
