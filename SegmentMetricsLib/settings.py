"""What to measure and how."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from .errors import InputError

FAMILIES = ("boundary", "signed", "overlap")
SURFACES = ("unsmoothed", "displayed")
# Named ways to measure whose numbers never change; parity with the tool of that name is tested.
PRESETS = {
    "SegmentMetrics": {},
    "MeshMetrics-0.1": {"subdivisions": None, "oversampling": 5},
    "MeshMetrics-1.4.1": {"subdivisions": 0, "oversampling": 1},
}


@dataclass(frozen=True)
class Settings:
    """All choices that decide a comparison's numbers; every one has a default.

    tolerances: tau in mm, each > 0, for NSD, BIoU and the over- and under-contoured fractions.
    percentiles: of the Hausdorff distance, each in (0, 100].
    surface: "unsmoothed", the boundary between voxels, or "displayed", the smooth surface that Slicer shows.
    subdivisions: how often each element is cut before it is measured; None is 1 for surfaces and 5 for contours.
    oversampling: sub-voxels along each voxel axis for BIoU; None is as many as an accuracy of 0.2 %pt needs.
    families: names of the metric families to compute.
    threshold: membership from which a voxel of an image of probabilities belongs to the structure, in (0, 1].
    meshSpacing: voxel size in mm of the grid on which two meshes are compared by volume; finer for small structures.
    convention: name of the preset that these settings come from.
    Raises ValueError for values out of range.
    """

    tolerances: tuple[float, ...] = (2.0,)
    percentiles: tuple[float, ...] = (95.0,)
    surface: str = "unsmoothed"
    subdivisions: int | None = None
    oversampling: int | None = None
    families: tuple[str, ...] = FAMILIES
    threshold: float = 0.5
    meshSpacing: float = 1.0
    convention: str = "SegmentMetrics"

    def __post_init__(self) -> None:
        for name, what in (("tolerances", "tolerance"), ("percentiles", "percentile")):
            values = getattr(self, name)
            values = (values,) if isinstance(values, (int, float)) else tuple(values)
            numbers = tuple(dict.fromkeys(_number(value, what) for value in values))
            object.__setattr__(self, name, numbers)
        for tolerance in self.tolerances:
            if tolerance <= 0:
                raise InputError(f"A tolerance must be greater than 0 mm, not {tolerance:g}.")
        for percentile in self.percentiles:
            if not 0 < percentile <= 100:
                raise InputError(f"A percentile must be greater than 0 and at most 100, not {percentile:g}.")
        if self.surface not in SURFACES:
            raise InputError(f"The surface must be one of {', '.join(SURFACES)}, not {self.surface!r}.")
        for name, low, high in (("subdivisions", 0, 8), ("oversampling", 1, 20)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and low <= value <= high):
                raise InputError(f"The {name} must be a whole number from {low} to {high}, not {value!r}.")
        families = (self.families,) if isinstance(self.families, str) else tuple(self.families)
        if "all" in families:
            families = FAMILIES
        for family in families:
            if family not in FAMILIES:
                raise InputError(f"There is no metric family {family!r}; choose from {', '.join((*FAMILIES, 'all'))}.")
        object.__setattr__(self, "families", tuple(f for f in FAMILIES if f in families))
        if not 0 < _number(self.threshold, "threshold") <= 1:
            raise InputError(f"The threshold must be greater than 0 and at most 1, not {self.threshold:g}.")
        if not 0 < _number(self.meshSpacing, "grid spacing for meshes") < math.inf:
            raise InputError(f"The grid spacing for meshes must be greater than 0 mm, not {self.meshSpacing:g}.")
        if self.convention not in PRESETS:
            raise InputError(f"There is no preset {self.convention!r}; choose from {', '.join(PRESETS)}.")

    @staticmethod
    def preset(name: str, **changes) -> Settings:
        """Return the settings of a named preset, with further changes by keyword.

        Raises ValueError for an unknown name, and when a change contradicts the preset.
        """
        if name not in PRESETS:
            raise InputError(f"There is no preset {name!r}; choose from {', '.join(PRESETS)}.")
        for key, value in PRESETS[name].items():
            if changes.get(key, value) != value:
                raise InputError(f"The preset {name} fixes the {key}; leave either one out.")
        return Settings(**{**changes, **PRESETS[name], "convention": name})

    def subdivisionsFor(self, dimension: int) -> int:
        """Return how often elements are cut: triangles in 3D, segments in 2D."""
        if self.subdivisions is not None:
            return self.subdivisions
        return 1 if dimension == 3 else 5

    def toDictionary(self) -> dict:
        """Return the settings as plain values for files; `Settings(**values)` brings them back."""
        values = dataclasses.asdict(self)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def shortest(number: float) -> str:
    """Return a number as short as it can be written: 2.0 as 2, 2.5 as 2.5."""
    return format(number, ".12g")


def _number(value, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"A {what} must be a number, not {value!r}.") from None
    if not math.isfinite(number):
        raise InputError(f"A {what} must be a finite number, not {value!r}.")
    return number
