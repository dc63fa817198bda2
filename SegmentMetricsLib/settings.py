"""What to measure and how."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import InputError
from .texts import didYouMean, inAnyCase, shortest

if TYPE_CHECKING:
    from .geometry.grids import Grid

FAMILIES = ("boundary", "signed", "overlap", "agreement", "voxel", "hazard", "similarity", "slices", "effort")
DEFAULT_FAMILIES = ("boundary", "signed", "overlap")
GRIDS = ("reference", "union")
VOXEL_UNITS = ("mm", "voxel")
MSI_UNITS = ("mm", "pixel")
KERNELS = ("polynomial", "exponential")
COMBINATIONS = ("max", "sum")
ACCURACIES = ("converged", "sampled")
DEFAULT_ACCURACY = "converged"
EXTENTS = ("whole", "common")
SURFACES = ("unsmoothed", "displayed")
# The preset, and thus the convention, of this library itself.
OWN_CONVENTION = "SegmentMetrics"
# Named ways to measure whose numbers never change; agreement with the tool of the same name is tested.
PRESETS = {
    OWN_CONVENTION: {},
    "MeshMetrics-0.1": {"surface": "unsmoothed", "accuracy": "sampled", "subdivisions": None, "oversampling": 5},
    "MeshMetrics-1.4.1": {"surface": "unsmoothed", "accuracy": "sampled", "subdivisions": 0, "oversampling": 1},
}
# settings that the conventions of other tools fix
DECIDED_BY_TOOLS = {"surface": "unsmoothed", "subdivisions": None, "oversampling": None}
# mm; contours of a patient are never farther apart
LARGEST_TOLERANCE = 1000.0
LARGEST_BETA = 1000.0
# most values of tolerances, percentiles and so on, as each takes time
MOST_NUMBERS = 100
LARGEST_MEMBERSHIP = 2**31 - 1
LARGEST_LEVEL = 1000.0


def _setting(default, label: str, unit: str = ""):
    """Return a field of Settings. label, unit: shown to users."""
    return dataclasses.field(default=default, metadata={"label": label, "unit": unit})


@dataclass(frozen=True)
class Settings:
    """All choices that determine the numbers of a comparison; each has a default.

    tolerances: tau in mm, each in (0, 1000], for NSD, BIoU and the over- and under-contoured fractions.
    percentiles: of the Hausdorff distance, each in (0, 100].
    surface: "unsmoothed", the boundary between voxels, or "displayed", the smooth surface that Slicer shows.
    accuracy: "converged", where elements are refined as far as each number needs and numbers have bounds, or "sampled",
        where distances are measured only at the centers of equal pieces. None is "sampled" if subdivisions are given,
        else "converged".
    subdivisions: if sampled, how often each element is cut before it is measured; None is 1 for surfaces and 5 for
        contours.
    oversampling: sub-voxels along each voxel axis for BIoU. None is as many sample points, not aligned with the voxels,
        as an accuracy of 0.2 %pt needs (0.5 for structures under 1,000 voxels).
    families: names of the metric families to compute.
    threshold: membership in (0, 1] at or above which a voxel of a membership image belongs to the structure. None:
        voxels count in part, by their membership, for overlap and agreement; surfaces and distances use 0.5.
    membershipMaximum: full membership of images with values above 1, such as 255 or 100. None: whole numbers are
        labels.
    cuts: number of membership thresholds, evenly spaced up to 1, over which the voxel family is averaged; None is the
        single threshold 0.5. Has no effect if a threshold is given.
    meshSpacing: voxel size in mm of the grid on which two meshes are compared by volume; finer for small structures.
    grid: where voxels outside both structures count: "reference", the reference's whole image, extended to contain the
        test; "union", the box around both structures; or a Grid or SimpleITK image, extended to contain both.
    extent: "whole", or "common": only the slices that both contours cover, without end caps, for organs whose ends are
        arbitrary.
    labelWeights: name -> weight > 0 of labels for DICEml and JACml; labels without one have weight 1. Kept as pairs.
    betas: weights of sensitivity against precision in the F-measure, each greater than 0.
    quantiles: of the Hausdorff distance of voxels, each in (0, 1].
    voxelUnit: "mm" or "voxel", the unit of the distances of the voxel family.
    critical: names of the critical structures of the hazard family, or name -> weight in (0, 1]; kept as pairs.
    hazardKernel: how hazard falls with the distance d in mm: "polynomial", 1 - (d / hazardReach)^hazardPower up to
        hazardReach mm, or "exponential", exp(-d / hazardDecay).
    hazardCombination: "max" or "sum" (at most 1) over several critical structures.
    hazardBalance: weight in [0, 1] of missed against added voxels in SIS and STAR. hazardTail: fraction in (0, 1] of
        the most hazardous errors that STAR considers.
    il, ol: inside and outside level of the Medical Similarity Index, each in (0, 1000]: how severely deviations inside
        and outside the reference are judged. At level 1 a deviation of 10 mm scores 0.61.
    asPublished: whether that index is computed as by its authors' program, in pixels, instead of by their definition.
    msiUnit: "mm" or "pixel", the unit of the index's distances.
    splitContours: whether contours that look like touching ones are cut apart where the other side has more of them.
    convention: name of the preset that these settings come from, or of the tool whose boundary and overlap numbers are
        to be reproduced: a key of SegmentMetricsLib.conventions, such as "MedPy", in any case.
    Raises ValueError for values out of range.
    """

    tolerances: tuple[float, ...] = _setting((2.0,), "Tolerance", "mm")
    percentiles: tuple[float, ...] = _setting((95.0,), "Percentile of the Hausdorff distance", "%")
    surface: str = _setting("unsmoothed", "Surface")
    accuracy: str | None = _setting(None, "Accuracy")
    subdivisions: int | None = _setting(None, "Subdivisions of surface elements")
    oversampling: int | None = _setting(None, "Parts of a voxel for the boundary IoU")
    families: tuple[str, ...] = _setting(DEFAULT_FAMILIES, "Families of measurements")
    threshold: float | None = _setting(None, "Membership from which a voxel belongs to a structure")
    membershipMaximum: int | None = _setting(None, "Full membership")
    cuts: int | None = _setting(None, "Cuts of memberships")
    meshSpacing: float = _setting(1.0, "Voxel size for the overlap of two meshes", "mm")
    grid: str | Grid = _setting("reference", "Voxels outside both structures are those of")  # noqa: RUF009 - a field, not a Grid
    extent: str = _setting("whole", "Extent")
    betas: tuple[float, ...] = _setting((1.0,), "Weight of sensitivity in the F-measure")
    quantiles: tuple[float, ...] = _setting((1.0,), "Quantile of the Hausdorff distance of voxels")
    voxelUnit: str = _setting("mm", "Unit of the distances of voxels")
    labelWeights: tuple[tuple[str, float], ...] = _setting((), "Weights of labels")
    critical: tuple[tuple[str, float], ...] = _setting((), "Critical structures")
    hazardKernel: str = _setting("polynomial", "Hazard falls with the distance")
    hazardReach: float = _setting(10.0, "Reach of the hazard", "mm")
    hazardPower: float = _setting(2.0, "Power of the hazard")
    hazardDecay: float = _setting(8.0, "Decay length of the hazard", "mm")
    hazardCombination: str = _setting("max", "Several critical structures")
    hazardBalance: float = _setting(0.7, "Weight of missed against added voxels")
    hazardTail: float = _setting(0.05, "Share of the most hazardous errors")
    il: float = _setting(1.0, "Level inside the reference")
    ol: float = _setting(1.0, "Level outside the reference")
    asPublished: bool = _setting(False, "As the authors' program")
    msiUnit: str = _setting("mm", "Unit of the similarity index")
    splitContours: bool = _setting(False, "Touching contours are cut apart")
    convention: str = _setting(OWN_CONVENTION, "Measured as")

    def __post_init__(self) -> None:
        object.__setattr__(self, "convention", _knownConvention(self.convention))
        for name, what in (("tolerances", "tolerance"), ("percentiles", "percentile")):
            object.__setattr__(self, name, _numbers(getattr(self, name), what))
        for tolerance in self.tolerances:
            if not 0 < tolerance <= LARGEST_TOLERANCE:
                raise InputError(
                    f"A tolerance must be greater than 0 and at most {LARGEST_TOLERANCE:g} mm, not {tolerance:g}."
                )
        for percentile in self.percentiles:
            if not 0 < percentile <= 100:
                raise InputError(f"A percentile must be greater than 0 and at most 100, not {percentile:g}.")
        if self.surface not in SURFACES:
            raise InputError(f"The surface must be one of {', '.join(SURFACES)}, not {self.surface!r}.")
        for name, what, low, high in (
            ("subdivisions", "subdivisions", 0, 8),
            ("oversampling", "oversampling", 1, 20),
            ("cuts", "cuts", 1, 100),
            ("membershipMaximum", "largest membership", 2, LARGEST_MEMBERSHIP),
        ):
            object.__setattr__(self, name, _wholeNumber(getattr(self, name), what, low, high))
        object.__setattr__(self, "families", _chosenFamilies(self.families))
        if self.threshold is not None:
            object.__setattr__(self, "threshold", _number(self.threshold, "threshold"))
            if not 0 < self.threshold <= 1:
                raise InputError(f"The threshold must be greater than 0 and at most 1, not {self.threshold:g}.")
        object.__setattr__(self, "meshSpacing", _number(self.meshSpacing, "grid spacing for meshes"))
        if not self.meshSpacing > 0:
            raise InputError(f"The grid spacing for meshes must be greater than 0 mm, not {self.meshSpacing:g}.")
        self._requireAgreement()
        self._requireHazard()
        self._requireSimilarity()
        self._chooseAccuracy()
        for name, value in (DECIDED_BY_TOOLS if self.isOfAnotherTool else PRESETS[self.convention]).items():
            if getattr(self, name) != value:
                raise InputError(f"The convention {self.convention} fixes the {name}; leave either one out.")

    def _chooseAccuracy(self) -> None:
        if self.accuracy is None:
            sampled = self.subdivisions is not None or "accuracy" in PRESETS.get(self.convention, {})
            object.__setattr__(self, "accuracy", "sampled" if sampled else DEFAULT_ACCURACY)
        if self.accuracy not in ACCURACIES:
            raise InputError(f"The accuracy must be one of {', '.join(ACCURACIES)}, not {self.accuracy!r}.")
        if self.accuracy == "converged" and self.subdivisions is not None:
            raise InputError("A fixed number of subdivisions is not converged; leave either one out.")

    def _requireAgreement(self) -> None:
        """Check and normalize the settings of the families that count voxels, and the extent."""
        object.__setattr__(self, "grid", _chosenGrid(self.grid))
        for name, what, choices in (
            ("extent", "extent", EXTENTS),
            ("voxelUnit", "unit of voxel distances", VOXEL_UNITS),
        ):
            if getattr(self, name) not in choices:
                raise InputError(f"The {what} must be one of {', '.join(choices)}, not {getattr(self, name)!r}.")
        for name, what in (("betas", "beta"), ("quantiles", "quantile")):
            object.__setattr__(self, name, _numbers(getattr(self, name), what))
        for beta in self.betas:
            if not 0 < beta <= LARGEST_BETA:
                raise InputError(f"A beta must be greater than 0 and at most {LARGEST_BETA:g}, not {beta:g}.")
        for quantile in self.quantiles:
            if not 0 < quantile <= 1:
                raise InputError(f"A quantile must be greater than 0 and at most 1, not {quantile:g}.")
        object.__setattr__(self, "labelWeights", _weights(self.labelWeights, "label", math.inf))

    def _requireHazard(self) -> None:
        """Check and normalize the settings of the hazard family."""
        object.__setattr__(self, "critical", _weights(self.critical, "critical structure", 1))
        for name, what, choices in (
            ("hazardKernel", "hazard kernel", KERNELS),
            ("hazardCombination", "combination of hazards", COMBINATIONS),
        ):
            if getattr(self, name) not in choices:
                raise InputError(f"The {what} must be one of {', '.join(choices)}, not {getattr(self, name)!r}.")
        for name, what in (
            ("hazardReach", "reach of the hazard"),
            ("hazardPower", "power of the hazard"),
            ("hazardDecay", "decay of the hazard"),
            ("hazardBalance", "balance of the hazard"),
            ("hazardTail", "tail of the hazard"),
        ):
            object.__setattr__(self, name, _number(getattr(self, name), what))
            value = getattr(self, name)
            if value <= 0 and name != "hazardBalance":
                raise InputError(f"The {what} must be greater than 0, not {value:g}.")
        if not 0 <= self.hazardBalance <= 1:
            raise InputError(f"The balance of the hazard must be from 0 to 1, not {self.hazardBalance:g}.")
        if not self.hazardTail <= 1:
            raise InputError(f"The tail of the hazard must be at most 1, not {self.hazardTail:g}.")

    def _requireSimilarity(self) -> None:
        """Check and normalize the settings of the Medical Similarity Index."""
        for name, what in (("il", "inside level"), ("ol", "outside level")):
            object.__setattr__(self, name, _number(getattr(self, name), what))
            if not 0 < getattr(self, name) <= LARGEST_LEVEL:
                raise InputError(
                    f"The {what} must be greater than 0 and at most {LARGEST_LEVEL:g}, not {getattr(self, name):g}."
                )
        if self.msiUnit not in MSI_UNITS:
            raise InputError(
                f"The unit of contour distances must be one of {', '.join(MSI_UNITS)}, not {self.msiUnit!r}."
            )
        for name, what in (
            ("asPublished", "the similarity index is computed as published"),
            ("splitContours", "contours are split"),
        ):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"Whether {what} must be True or False, not {getattr(self, name)!r}.")

    @staticmethod
    def preset(name: str, **changes) -> Settings:
        """Return the settings of a preset or convention, with further changes by keyword.

        name: in any case. Raises ValueError for an unknown name, and when a change contradicts the preset.
        """
        name = _knownConvention(name)
        return Settings(**{**PRESETS.get(name, {}), **changes, "convention": name})

    @property
    def isOfAnotherTool(self) -> bool:
        """Whether the boundary and overlap measurements reproduce those of another tool."""
        return self.convention not in PRESETS

    def changed(self, **changes) -> Settings:
        """Return the settings with changes by keyword."""
        if "subdivisions" in changes:
            changes = {"accuracy": None, **changes}
        return dataclasses.replace(self, **changes)

    def subdivisionsFor(self, dimension: int) -> int | None:
        """Return the number of times each element (triangle in 3D, segment in 2D) is cut, None if adaptive."""
        if self.accuracy == "converged":
            return None
        if self.subdivisions is not None:
            return self.subdivisions
        return 1 if dimension == 3 else 5

    def toDictionary(self) -> dict:
        """Return the settings as plain values for files; `Settings(**values)` restores them."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
        named = {name: dict(getattr(self, name)) for name in ("critical", "labelWeights")}
        return {**plain, **named, "grid": self.grid if isinstance(self.grid, str) else self.grid.toDictionary()}


def asSettings(given: Settings | None) -> Settings:
    """Return the given settings, or the defaults for None. Raises InputError for anything else."""
    if given is None:
        return Settings()
    if not isinstance(given, Settings):
        raise InputError(f"The settings must be Settings, not {type(given).__name__}.")
    return given


def _numbers(values, what: str) -> tuple[float, ...]:
    """Return one or several numbers as a tuple, without those that shortest() writes alike: they would share a key."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        values = (values,)
    different = {shortest(number): number for number in (_number(value, what) for value in values)}
    if len(different) > MOST_NUMBERS:
        raise InputError(f"There can be at most {MOST_NUMBERS} values of the {what}, not {len(different)}.")
    return tuple(different.values())


def _weights(given, what: str, most: float) -> tuple[tuple[str, float], ...]:
    """Return pairs of name and weight in (0, most] from one name, several names, or name -> weight."""
    if isinstance(given, str):
        given = (given,)
    weights = {}
    try:
        entries = given.items() if isinstance(given, Mapping) else given
        pairs = [(entry, 1.0) if isinstance(entry, str) else tuple(entry) for entry in entries]
        named = all(isinstance(name, str) for name, _ in pairs)
    except (TypeError, ValueError):
        named = False
    if not named:
        raise InputError(f"{what.capitalize()}s are given by name, or as name and weight, not as {given!r}.")
    for name, weight in pairs:
        weights[name] = _number(weight, f"weight of the {what} {name!r}")
        if not 0 < weights[name] <= most:
            limit = "" if math.isinf(most) else f" and at most {most:g}"
            raise InputError(f"The weight of the {what} {name!r} must be greater than 0{limit}, not {weights[name]:g}.")
    return tuple(weights.items())


def _number(value, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = None
    except OverflowError:  # an integer with hundreds of digits
        number = math.inf
    if number is None or isinstance(value, bool):
        raise InputError(f"The {what} must be a number, not {value!r}.")
    if not math.isfinite(number):
        raise InputError(f"The {what} must be a finite number, not {number}.")
    return number


def _wholeNumber(value, what: str, low: int, high: int) -> int | None:
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not low <= number <= high:
        raise InputError(f"The {what} must be a whole number from {low} to {high}, not {value!r}.")
    return number


def _chosenGrid(given) -> str | Grid:
    """Return the evaluated grid: a choice by name, or the grid of the given Grid, mapping or image."""
    if isinstance(given, str):
        if given not in GRIDS:
            raise InputError(
                f"The evaluated grid must be one of {', '.join(GRIDS)}, or an image whose grid it is, not {given!r}."
            )
        return given
    from .geometry.grids import Grid

    if isinstance(given, Grid):
        return given
    if isinstance(given, Mapping):
        return Grid.fromDictionary(given)
    if hasattr(given, "GetDirection") and hasattr(given, "GetSpacing"):
        return Grid.fromImage(given)
    raise InputError(
        f"The evaluated grid must be one of {', '.join(GRIDS)}, a Grid or an image, not {type(given).__name__}."
    )


def _knownConvention(given: str) -> str:
    """Return the proper spelling of a preset or convention given in any case. Raises InputError for unknown names."""
    name = inAnyCase(str(given), PRESETS)
    if name in PRESETS:  # saves importing the conventions
        return name
    from .conventions import known

    choices = dict.fromkeys((*PRESETS, *known()))
    name = inAnyCase(name, choices)
    if name not in choices:
        hint = didYouMean(name, choices)
        raise InputError(f"There is no convention {given!r}; choose from {', '.join(choices)}.{hint}")
    return name


def _chosenFamilies(families: str | Iterable[str]) -> tuple[str, ...]:
    families = (families,) if isinstance(families, str) else tuple(families)
    choice = ", ".join((*FAMILIES, "all"))
    if not families:
        raise InputError(f"No metric family is chosen; choose from {choice}.")
    for family in families:
        if family not in (*FAMILIES, "all"):
            hint = didYouMean(str(family), FAMILIES)
            raise InputError(f"There is no metric family {family!r}; choose from {choice}.{hint}")
    return tuple(f for f in FAMILIES if f in families or "all" in families)
