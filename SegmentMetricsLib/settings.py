"""What to measure and how."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .errors import InputError

FAMILIES = ("boundary", "signed", "overlap", "agreement", "voxel", "hazard", "effort")
DEFAULT_FAMILIES = ("boundary", "signed", "overlap")
GRIDS = ("reference", "union")
VOXEL_UNITS = ("mm", "voxel")
KERNELS = ("polynomial", "exponential")
COMBINATIONS = ("max", "sum")
ACCURACIES = ("converged", "sampled")
SURFACES = ("unsmoothed", "displayed")
# Named ways to measure whose numbers never change; parity with the tool of that name is tested.
PRESETS = {
    "SegmentMetrics": {},
    "MeshMetrics-0.1": {"surface": "unsmoothed", "accuracy": "sampled", "subdivisions": None, "oversampling": 5},
    "MeshMetrics-1.4.1": {"surface": "unsmoothed", "accuracy": "sampled", "subdivisions": 0, "oversampling": 1},
}
# mm; no contour of a patient is farther from another one
LARGEST_TOLERANCE = 1000.0
LARGEST_BETA = 1000.0


@dataclass(frozen=True)
class Settings:
    """All choices that decide a comparison's numbers; every one has a default.

    tolerances: tau in mm, each in (0, 1000], for NSD, BIoU and the over- and under-contoured fractions.
    percentiles: of the Hausdorff distance, each in (0, 100].
    surface: "unsmoothed", the boundary between voxels, or "displayed", the smooth surface that Slicer shows.
    accuracy: "converged", elements are looked at as closely as every number needs, which then has bounds, or "sampled",
        at the centers of equal pieces alone; None is "sampled" where subdivisions are given, else "converged".
    subdivisions: if sampled, how often each element is cut before it is measured; None is 1 for surfaces and 5 for
        contours.
    oversampling: sub-voxels along each voxel axis for BIoU; None is as many points, out of step with the voxels, as an
        accuracy of 0.2 %pt needs (0.5 for structures under 1,000 voxels).
    families: names of the metric families to compute.
    threshold: membership from which a voxel of an image of probabilities belongs to the structure, in (0, 1].
    fuzzy: whether voxels of images of probabilities count in part, by their membership, for overlap and agreement; if
        not, the threshold decides. Distances and surfaces always go by the threshold.
    cuts: into how many cuts memberships are divided for the voxel family if fuzzy, each from one share of the full
        membership on, whose values are averaged; None is the one cut at the threshold.
    meshSpacing: voxel size in mm of the grid on which two meshes are compared by volume; finer for small structures.
    grid: where voxels outside both structures count: "reference", the reference's whole image, extended to contain the
        test, or "union", the box around both structures.
    betas: weights of sensitivity against precision in the F-measure, each greater than 0.
    quantiles: of the Hausdorff distance of voxels, each in (0, 1].
    voxelUnit: "mm" or "voxel", the unit of the distances of the voxel family.
    critical: names of the critical structures of the hazard family, or name -> weight in (0, 1]; kept as pairs.
    hazardKernel: how hazard falls with the distance d in mm: "polynomial", 1 - (d / hazardReach)^hazardPower up to
        hazardReach mm, or "exponential", exp(-d / hazardDecay).
    hazardCombination: "max" or "sum" (at most 1) of several critical structures.
    hazardBalance: weight in [0, 1] of missed against added voxels in SIS and STAR. hazardTail: share in (0, 1] of the
        most hazardous errors that STAR looks at.
    convention: name of the preset that these settings come from.
    Raises ValueError for values out of range.
    """

    tolerances: tuple[float, ...] = (2.0,)
    percentiles: tuple[float, ...] = (95.0,)
    surface: str = "unsmoothed"
    accuracy: str | None = None
    subdivisions: int | None = None
    oversampling: int | None = None
    families: tuple[str, ...] = DEFAULT_FAMILIES
    threshold: float = 0.5
    fuzzy: bool = False
    cuts: int | None = None
    meshSpacing: float = 1.0
    grid: str = "reference"
    betas: tuple[float, ...] = (1.0,)
    quantiles: tuple[float, ...] = (1.0,)
    voxelUnit: str = "mm"
    critical: tuple[tuple[str, float], ...] = ()
    hazardKernel: str = "polynomial"
    hazardReach: float = 10.0
    hazardPower: float = 2.0
    hazardDecay: float = 8.0
    hazardCombination: str = "max"
    hazardBalance: float = 0.7
    hazardTail: float = 0.05
    convention: str = "SegmentMetrics"

    def __post_init__(self) -> None:
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
        for name, low, high in (("subdivisions", 0, 8), ("oversampling", 1, 20), ("cuts", 1, 100)):
            object.__setattr__(self, name, _wholeNumber(getattr(self, name), name, low, high))
        object.__setattr__(self, "families", _chosenFamilies(self.families))
        for name, what in (("threshold", "threshold"), ("meshSpacing", "grid spacing for meshes")):
            object.__setattr__(self, name, _number(getattr(self, name), what))
        if not 0 < self.threshold <= 1:
            raise InputError(f"The threshold must be greater than 0 and at most 1, not {self.threshold:g}.")
        if not self.meshSpacing > 0:
            raise InputError(f"The grid spacing for meshes must be greater than 0 mm, not {self.meshSpacing:g}.")
        self._requireAgreement()
        self._requireHazard()
        if self.convention not in PRESETS:
            raise InputError(f"There is no preset {self.convention!r}; choose from {', '.join(PRESETS)}.")
        self._chooseAccuracy()
        for name, value in PRESETS[self.convention].items():
            if getattr(self, name) != value:
                raise InputError(f"The preset {self.convention} fixes the {name}; leave either one out.")

    def _chooseAccuracy(self) -> None:
        if self.accuracy is None:
            sampled = self.subdivisions is not None or "accuracy" in PRESETS[self.convention]
            object.__setattr__(self, "accuracy", "sampled" if sampled else "converged")
        if self.accuracy not in ACCURACIES:
            raise InputError(f"The accuracy must be one of {', '.join(ACCURACIES)}, not {self.accuracy!r}.")
        if self.accuracy == "converged" and self.subdivisions is not None:
            raise InputError("A fixed number of subdivisions is not converged; leave either one out.")

    def _requireAgreement(self) -> None:
        """Check the settings of the families that count voxels."""
        for name, choices in (("grid", GRIDS), ("voxelUnit", VOXEL_UNITS)):
            if getattr(self, name) not in choices:
                what = "evaluated grid" if name == "grid" else "unit of voxel distances"
                raise InputError(f"The {what} must be one of {', '.join(choices)}, not {getattr(self, name)!r}.")
        for name, what in (("betas", "beta"), ("quantiles", "quantile")):
            object.__setattr__(self, name, _numbers(getattr(self, name), what))
        if not isinstance(self.fuzzy, bool):
            raise InputError(f"Whether memberships count in part must be True or False, not {self.fuzzy!r}.")
        for beta in self.betas:
            if not 0 < beta <= LARGEST_BETA:
                raise InputError(f"A beta must be greater than 0 and at most {LARGEST_BETA:g}, not {beta:g}.")
        for quantile in self.quantiles:
            if not 0 < quantile <= 1:
                raise InputError(f"A quantile must be greater than 0 and at most 1, not {quantile:g}.")

    def _requireHazard(self) -> None:
        """Check the settings of the hazard family."""
        object.__setattr__(self, "critical", _weights(self.critical))
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

    @staticmethod
    def preset(name: str, **changes) -> Settings:
        """Return the settings of a named preset, with further changes by keyword.

        Raises ValueError for an unknown name, and when a change contradicts the preset.
        """
        if name not in PRESETS:
            raise InputError(f"There is no preset {name!r}; choose from {', '.join(PRESETS)}.")
        return Settings(**{**PRESETS[name], **changes, "convention": name})

    def subdivisionsFor(self, dimension: int) -> int | None:
        """Return how often elements are cut: triangles in 3D, segments in 2D; None where that differs by element."""
        if self.accuracy == "converged":
            return None
        if self.subdivisions is not None:
            return self.subdivisions
        return 1 if dimension == 3 else 5

    def toDictionary(self) -> dict:
        """Return the settings as plain values for files; `Settings(**values)` brings them back."""
        values = dataclasses.asdict(self)
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
        return {**plain, "critical": dict(self.critical)}


def shortest(number: float) -> str:
    """Return a number as short as it can be written: 2.0 as 2, 2.5 as 2.5."""
    return format(number, ".12g")


def _numbers(values, what: str) -> tuple[float, ...]:
    """Return one number or several as a tuple, each once; two that are written alike would share a key."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        values = (values,)
    return tuple({shortest(number): number for number in (_number(value, what) for value in values)}.values())


def _weights(critical) -> tuple[tuple[str, float], ...]:
    """Return critical structures, given as one name, several, or name -> weight, as pairs of name and weight."""
    if isinstance(critical, str):
        critical = (critical,)
    weights = {}
    try:
        entries = critical.items() if isinstance(critical, Mapping) else critical
        pairs = [(entry, 1.0) if isinstance(entry, str) else tuple(entry) for entry in entries]
        named = all(isinstance(name, str) for name, _ in pairs)
    except (TypeError, ValueError):
        named = False
    if not named:
        raise InputError(f"Critical structures are given by name, or as name and weight, not as {critical!r}.")
    for name, weight in pairs:
        weights[name] = _number(weight, f"weight of the critical structure {name!r}")
        if not 0 < weights[name] <= 1:
            raise InputError(
                f"The weight of the critical structure {name!r} must be greater than 0 and at most 1, "
                f"not {weights[name]:g}."
            )
    return tuple(weights.items())


def _number(value, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"The {what} must be a number, not {value!r}.") from None
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


def _chosenFamilies(families: str | Iterable[str]) -> tuple[str, ...]:
    families = (families,) if isinstance(families, str) else tuple(families)
    choice = ", ".join((*FAMILIES, "all"))
    if not families:
        raise InputError(f"No metric family is chosen; choose from {choice}.")
    for family in families:
        if family not in (*FAMILIES, "all"):
            raise InputError(f"There is no metric family {family!r}; choose from {choice}.")
    return tuple(f for f in FAMILIES if f in families or "all" in families)
