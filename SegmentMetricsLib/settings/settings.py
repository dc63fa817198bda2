"""What to measure and how."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base.errors import InputError, requireKind
from ..base.texts import didYouMean, inAnyCase
from .checks import oneOf, orNone, positive, several, share, weights, wholeNumber, yesOrNo

if TYPE_CHECKING:
    from ..geometry.grids import Grid

FAMILIES = ("boundary", "signed", "overlap", "agreement", "voxel", "hazard", "similarity", "slices", "effort")
DEFAULT_FAMILIES = ("boundary", "signed", "overlap")
FAMILY_CHOICE = ", ".join((*FAMILIES, "all"))
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
LARGEST_MEMBERSHIP = 2**31 - 1
LARGEST_LEVEL = 1000.0
# What is measured unless something else is asked for, by setting.
DEFAULT_PARAMETERS = {"tolerances": (2.0,), "percentiles": (95.0,), "betas": (1.0,), "quantiles": (1.0,)}


def _chosenFamilies(families: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(families, str):
        families = (families,)
    requireKind(families, Iterable, "The metric families", "names")
    families = tuple(families)
    if not families:
        raise InputError(f"No metric family is chosen; choose from {FAMILY_CHOICE}.")
    for family in families:
        if family not in (*FAMILIES, "all"):
            hint = didYouMean(str(family), FAMILIES)
            raise InputError(f"There is no metric family {family!r}; choose from {FAMILY_CHOICE}.{hint}")
    return _inOrder(families)


def _inOrder(families: Iterable[str]) -> tuple[str, ...]:
    """Return families in the order in which results list them, each once; "all" stands for every one."""
    families = set(families)
    return tuple(family for family in FAMILIES if family in families or "all" in families)


def _chosenMetrics(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names of measurements and of families, each in its proper spelling and once."""
    names = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else (names,)
    return tuple(dict.fromkeys(_metricOf(name) for name in names))


def _metricOf(name: object) -> str:
    """Return the proper spelling of a measurement or a family. Raises InputError for an unknown one."""
    if not isinstance(name, str):
        raise InputError(f"Measurements and families are given by name, not as {name!r}.")
    if (family := inAnyCase(name.strip(), (*FAMILIES, "all"))) in (*FAMILIES, "all"):
        return family
    from ..families.selection import likeliest, wanted

    try:
        return wanted(name.strip()).key
    except InputError:
        meant = likeliest(name.strip(), FAMILIES)
        hint = f" Did you mean {meant}?" if meant else ""
        raise InputError(
            f"There is no metric family {name!r}, nor such a measurement; choose from {FAMILY_CHOICE}, or from the "
            f"keys of measurements, such as DSC and HD95.{hint}"
        ) from None


def _chosenGrid(given) -> str | Grid:
    """Return the evaluated grid: a choice by name, or the grid of the given Grid, mapping or image."""
    if isinstance(given, str):
        if given not in GRIDS:
            raise InputError(
                f"The evaluated grid must be one of {', '.join(GRIDS)}, or an image whose grid it is, not {given!r}."
            )
        return given
    from ..geometry.grids import Grid

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
    from ..conventions import known

    choices = dict.fromkeys((*PRESETS, *known()))
    name = inAnyCase(name, choices)
    if name not in choices:
        hint = didYouMean(name, choices)
        raise InputError(f"There is no convention {given!r}; choose from {', '.join(choices)}.{hint}")
    return name


def _setting(default, check: Callable, label: str, unit: str = ""):
    """Return a field of Settings. check: see settingchecks. label, unit: shown to users."""
    return dataclasses.field(default=default, metadata={"check": check, "label": label, "unit": unit})


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """All choices that determine the numbers of a comparison; each has a default.

    tolerances: tau in mm, each in (0, 1000], for NSD, BIoU and the over- and under-contoured fractions. None is those
        in the keys of the metrics, else 2 mm; the same holds for percentiles, betas and quantiles.
    percentiles: of the Hausdorff distance, each in (0, 100]; None is 95.
    surface: "unsmoothed", the boundary between voxels, or "displayed", the smooth surface that Slicer shows.
    accuracy: "converged", where elements are refined as far as each number needs and numbers have bounds, or "sampled",
        where distances are measured only at the centers of equal pieces. None is "sampled" if subdivisions are given,
        else "converged".
    subdivisions: if sampled, how often each element is cut before it is measured; None is 1 for surfaces and 5 for
        contours.
    oversampling: sub-voxels along each voxel axis for BIoU. None is as many sample points, not aligned with the voxels,
        as an accuracy of 0.2 %pt needs (0.5 for structures under 1,000 voxels).
    families: names of the metric families to compute; None is those of the metrics, else boundary, signed and overlap.
    metrics: single measurements to compute, by key in any case: of their families only they are computed, and all of
        the others. A key without its parameter, such as "NSD", stands for all tolerances. The name of a family stands
        for all its measurements, and keys of that family are then left out.
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
    betas: weights of sensitivity against precision in the F-measure, each greater than 0; None is 1.
    quantiles: of the Hausdorff distance of voxels, each in (0, 1]; None is 1.
    voxelUnit: "mm" or "voxel", the unit of the distances of the voxel family.
    critical: names of the critical structures of the hazard family, or name -> weight in (0, 1]; kept as pairs.
    hazardKernel: how hazard falls with the distance d in mm: "polynomial", 1 - (d / hazardReach)^hazardPower up to
        hazardReach mm, or "exponential", exp(-d / hazardDecay).
    hazardCombination: "max" or "sum" (at most 1) over several critical structures.
    hazardBalance: weight in [0, 1] of missed against added voxels in SIS and STAR. hazardTail: fraction in (0, 1] of
        the most hazardous errors that STAR considers.
    il, ol: inside and outside level of the Medical Similarity Index, each in (0, 1000]: how severely deviations inside
        and outside the reference are judged. At level 1 a deviation of 10 mm scores 0.61.
    asPublished: whether that index is computed by the authors' formula on chains of boundary pixels, in pixels, instead
        of by their definition. It is not their program, which traces other edges.
    msiUnit: "mm" or "pixel", the unit of the index's distances and of the 10 in its formula; published values are in
        pixels.
    splitContours: whether contours that look like touching ones are cut apart where the other side has more of them.
    convention: name of the preset that these settings come from, or of the tool whose boundary and overlap numbers are
        to be reproduced: a key of SegmentMetricsLib.conventions, such as "MedPy", in any case.
    Raises ValueError for values out of range.
    """

    tolerances: tuple[float, ...] | None = _setting(
        None, orNone(several("tolerance", LARGEST_TOLERANCE, " mm")), "Tolerance", "mm"
    )
    percentiles: tuple[float, ...] | None = _setting(
        None, orNone(several("percentile", 100)), "Percentile of the Hausdorff distance", "%"
    )
    surface: str = _setting("unsmoothed", oneOf("surface", SURFACES), "Surface")
    accuracy: str | None = _setting(None, orNone(oneOf("accuracy", ACCURACIES)), "Accuracy")
    subdivisions: int | None = _setting(
        None, orNone(wholeNumber("subdivisions", 0, 8)), "Subdivisions of surface elements"
    )
    oversampling: int | None = _setting(
        None, orNone(wholeNumber("oversampling", 1, 20)), "Parts of a voxel for the boundary IoU"
    )
    families: tuple[str, ...] | None = _setting(None, orNone(_chosenFamilies), "Families of measurements")
    metrics: tuple[str, ...] = _setting((), _chosenMetrics, "Single measurements")
    threshold: float | None = _setting(
        None, orNone(positive("threshold", 1)), "Membership from which a voxel belongs to a structure"
    )
    membershipMaximum: int | None = _setting(
        None, orNone(wholeNumber("largest membership", 2, LARGEST_MEMBERSHIP)), "Full membership"
    )
    cuts: int | None = _setting(None, orNone(wholeNumber("cuts", 1, 100)), "Cuts of memberships")
    meshSpacing: float = _setting(
        1.0, positive("grid spacing for meshes", unit=" mm"), "Voxel size for the overlap of two meshes", "mm"
    )
    grid: str | Grid = _setting("reference", _chosenGrid, "Voxels outside both structures are those of")  # noqa: RUF009 - a field, not a Grid
    extent: str = _setting("whole", oneOf("extent", EXTENTS), "Extent")
    betas: tuple[float, ...] | None = _setting(
        None, orNone(several("beta", LARGEST_BETA)), "Weight of sensitivity in the F-measure"
    )
    quantiles: tuple[float, ...] | None = _setting(
        None, orNone(several("quantile", 1)), "Quantile of the Hausdorff distance of voxels"
    )
    voxelUnit: str = _setting("mm", oneOf("unit of voxel distances", VOXEL_UNITS), "Unit of the distances of voxels")
    labelWeights: tuple[tuple[str, float], ...] = _setting((), weights("label"), "Weights of labels")
    critical: tuple[tuple[str, float], ...] = _setting((), weights("critical structure", 1), "Critical structures")
    hazardKernel: str = _setting("polynomial", oneOf("hazard kernel", KERNELS), "Hazard falls with the distance")
    hazardReach: float = _setting(10.0, positive("reach of the hazard"), "Reach of the hazard", "mm")
    hazardPower: float = _setting(2.0, positive("power of the hazard"), "Power of the hazard")
    hazardDecay: float = _setting(8.0, positive("decay of the hazard"), "Decay length of the hazard", "mm")
    hazardCombination: str = _setting(
        "max", oneOf("combination of hazards", COMBINATIONS), "Several critical structures"
    )
    hazardBalance: float = _setting(0.7, share("balance of the hazard"), "Weight of missed against added voxels")
    hazardTail: float = _setting(0.05, positive("tail of the hazard", 1), "Share of the most hazardous errors")
    il: float = _setting(1.0, positive("inside level", LARGEST_LEVEL), "Level inside the reference")
    ol: float = _setting(1.0, positive("outside level", LARGEST_LEVEL), "Level outside the reference")
    asPublished: bool = _setting(
        False, yesOrNo("the similarity index is computed as published"), "By the authors' formula, on boundary chains"
    )
    msiUnit: str = _setting("mm", oneOf("unit of contour distances", MSI_UNITS), "Unit of the similarity index")
    splitContours: bool = _setting(False, yesOrNo("contours are split"), "Touching contours are cut apart")
    convention: str = _setting(OWN_CONVENTION, _knownConvention, "Measured as")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, field.metadata["check"](getattr(self, field.name)))
        self._chooseMetrics()
        self._chooseAccuracy()
        for name, value in (DECIDED_BY_TOOLS if self.isOfAnotherTool else PRESETS[self.convention]).items():
            if getattr(self, name) != value:
                raise InputError(f"The convention {self.convention} fixes the {name}; leave either one out.")

    def _chooseMetrics(self) -> None:
        """Settle the families, the single measurements, and the parameters that their keys state."""
        whole = [name for name in self.metrics if name in (*FAMILIES, "all")]
        families, stated = _inOrder((*(self.families or ()), *whole)), {}
        if keys := tuple(name for name in self.metrics if name not in whole):
            from ..families.selection import parametersIn, wanted

            familyOf = {key: wanted(key).definition.family for key in keys}
            keys = tuple(key for key in keys if familyOf[key] not in _inOrder(whole))
            families, stated = _inOrder((*families, *(familyOf[key] for key in keys))), parametersIn(keys)
        object.__setattr__(self, "metrics", keys)
        object.__setattr__(self, "families", families or DEFAULT_FAMILIES)
        for name, default in DEFAULT_PARAMETERS.items():
            given, values = getattr(self, name), stated.get(name, ())
            values = (values or default) if given is None else (*given, *values)
            object.__setattr__(self, name, type(self).__dataclass_fields__[name].metadata["check"](values))

    def _chooseAccuracy(self) -> None:
        if self.accuracy is None:
            sampled = self.subdivisions is not None or "accuracy" in PRESETS.get(self.convention, {})
            object.__setattr__(self, "accuracy", "sampled" if sampled else DEFAULT_ACCURACY)
        if self.accuracy == "converged" and self.subdivisions is not None:
            raise InputError("A fixed number of subdivisions is not converged; leave either one out.")

    def __repr__(self) -> str:
        """Return the settings that differ from the defaults, as they can be given."""
        usual = Settings()
        given = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in given if value != getattr(usual, name))})"

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
    requireKind(given, Settings, "The settings", "Settings")
    return given
