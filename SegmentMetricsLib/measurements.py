"""The registry: every measurement that exists, what it is called, and the function that computes it.

Tables, tooltips, CSV headers, the README's table of metrics and the documentation are made from it. A new metric is a
function in its family's file and one entry here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import boundary, overlap, signed
from .agreementregistry import AGREEMENT, VOXEL
from .boundary import Directed
from .definitions import CHENG, NIKOLOV, OURS, REVOLUTIONS, TAHA, Definition, Empty
from .errors import Undefined
from .progress import checkpoint
from .settings import shortest
from .similarityregistry import SIMILARITY
from .structures import BOTH_EMPTY

if TYPE_CHECKING:
    from .comparison import Pair


@dataclass(frozen=True)
class Measurement:
    """One number of a comparison.

    value: may be infinite, or NaN when undefined. status: "ok", "infinite" or "undefined", with the reason if not ok,
    or what was left out.
    referenceToTest, testToReference: the value of either direction alone, None where there is none.
    """

    key: str
    title: str
    value: float
    unit: str
    status: str
    reason: str
    family: str
    description: str
    source: str
    better: str
    referenceToTest: float | None = None
    testToReference: float | None = None

    def toDictionary(self) -> dict:
        """Return the measurement for JSON: null for values that are not finite, directed values where they exist.

        JSON knows no infinity; "sign": -1 says that an infinite value is negative.
        """
        result = {"value": finite(self.value), "unit": self.unit, "status": self.status}
        if self.value == -math.inf:
            result["sign"] = -1
        if self.reason:
            result["reason"] = self.reason
        if self.referenceToTest is not None:
            result["referenceToTest"] = finite(self.referenceToTest)
            result["testToReference"] = finite(self.testToReference)
        return result

    @staticmethod
    def fromDictionary(key: str, data: Mapping) -> Measurement:
        """Return the measurement that toDictionary() described; words come from the registry.

        A key that the registry does not know, of another version, is its own title.
        """
        definition, words = findDefinition(key) or (None, {})
        missing = math.copysign(math.inf, data.get("sign", 1)) if data["status"] == "infinite" else math.nan

        def number(name: str) -> float:
            return missing if data[name] is None else float(data[name])

        isDirected = "referenceToTest" in data
        return Measurement(
            key=key,
            title=definition.title.format(**words) if definition else key,
            value=number("value"),
            unit=data["unit"],
            status=data["status"],
            reason=data.get("reason", ""),
            family=definition.family if definition else "",
            description=definition.description.format(**words) if definition else "",
            source=definition.source if definition else "",
            better=definition.better if definition else "",
            referenceToTest=number("referenceToTest") if isDirected else None,
            testToReference=number("testToReference") if isDirected else None,
        )

    def text(self) -> str:
        """Return value and unit as people read them."""
        if self.status == "undefined":
            return "undefined"
        if self.status == "infinite":
            return "-inf" if self.value < 0 else "inf"
        if self.unit in ("mm3", "mm2"):
            scale, unit = (1000, "cm3") if self.unit == "mm3" else (100, "cm2")
            return f"{rounded(self.value / scale, 2)} {unit}"
        if self.unit in ("mm", "voxel", "pixel"):
            return f"{rounded(self.value, 2)} {self.unit}"
        return f"{rounded(self.value, 3)} {self.unit}".rstrip()


def rounded(value: float, digits: int) -> str:
    """Return a number with so many digits behind the point; nothing is negative zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def finite(value: float | None) -> float | None:
    """Return a value as JSON can hold it."""
    return value if value is not None and math.isfinite(value) else None


REGISTRY = (
    Definition(
        "HD", "Hausdorff distance", "mm", 0, math.inf, "lower", "boundary", REVOLUTIONS, Empty.INFINITE,
        "Largest distance from any place of one contour to the other contour. One outlier decides it.",
        lambda pair: boundary.hausdorff(pair.distances),
        identity=0,
    ),
    Definition(
        "HD{percentile}", "Hausdorff distance, {percentile}th percentile", "mm", 0, math.inf, "lower", "boundary",
        REVOLUTIONS, Empty.INFINITE,
        "Distance that {percentile} % of either contour's area does not exceed; the larger of the two directions.",
        lambda pair, percentile: boundary.percentileHausdorff(pair.distances, percentile),
        identity=0,
    ),
    Definition(
        "MASD", "Mean average surface distance", "mm", 0, math.inf, "lower", "boundary", REVOLUTIONS, Empty.INFINITE,
        "Mean distance to the other contour, averaged over the two directions.",
        lambda pair: boundary.meanAverageSurfaceDistance(pair.distances),
        identity=0,
    ),
    Definition(
        "ASSD", "Average symmetric surface distance", "mm", 0, math.inf, "lower", "boundary", REVOLUTIONS,
        Empty.INFINITE,
        "Mean distance to the other contour over the area of both contours together.",
        lambda pair: boundary.averageSymmetricSurfaceDistance(pair.distances),
        identity=0,
    ),
    Definition(
        "NSD_{tolerance}mm", "Normalized surface distance (surface Dice), {tolerance} mm", "", 0, 1, "higher",
        "boundary", NIKOLOV, Empty.ZERO,
        "Share of both contours' area that lies within {tolerance} mm of the other contour.",
        lambda pair, tolerance: boundary.normalizedSurfaceDistance(pair.distances, tolerance),
        identity=1,
    ),
    Definition(
        "BIoU_{tolerance}mm", "Boundary intersection over union, {tolerance} mm", "", 0, 1, "higher", "boundary",
        CHENG, Empty.ZERO,
        "Overlap of the two bands that lie inside the contours and closer than {tolerance} mm to them.",
        lambda pair, tolerance: pair.bands(tolerance).overlap,
        identity=1,
    ),
    Definition(
        "SignedMean", "Signed mean distance", "mm", -math.inf, math.inf, "", "signed", OURS, Empty.SIGNED,
        "Mean distance with a sign: positive where the test lies outside the reference, negative where inside.",
        lambda pair: signed.mean(pair.signedDistances), symmetric=False,
        identity=0,
    ),
    Definition(
        "OverFraction_{tolerance}mm", "Over-contoured fraction, {tolerance} mm", "", 0, 1, "lower", "signed", OURS,
        Empty.COMPUTED,
        "Share of both contours' area where the test lies more than {tolerance} mm outside the reference.",
        lambda pair, tolerance: pair.fractionOutside(tolerance, over=True), symmetric=False,
        identity=0,
    ),
    Definition(
        "UnderFraction_{tolerance}mm", "Under-contoured fraction, {tolerance} mm", "", 0, 1, "lower", "signed", OURS,
        Empty.COMPUTED,
        "Share of both contours' area where the test lies more than {tolerance} mm inside the reference.",
        lambda pair, tolerance: pair.fractionOutside(tolerance, over=False), symmetric=False,
        identity=0,
    ),
    Definition(
        "DSC", "Dice similarity coefficient", "", 0, 1, "higher", "overlap", TAHA, Empty.ZERO,
        "Twice the shared volume over the sum of both volumes, counted in voxels.",
        lambda pair: overlap.dice(pair.weightedCounts),
        identity=1,
    ),
    Definition(
        "IoU", "Intersection over union (Jaccard)", "", 0, 1, "higher", "overlap", TAHA, Empty.ZERO,
        "Shared volume over the volume that either one covers, counted in voxels.",
        lambda pair: overlap.intersectionOverUnion(pair.weightedCounts),
        identity=1,
    ),
    Definition(
        "TPR", "Sensitivity (recall)", "", 0, 1, "higher", "overlap", TAHA, Empty.ZERO,
        "Share of the reference that the test covers, counted in voxels.",
        lambda pair: overlap.sensitivity(pair.weightedCounts), symmetric=False,
        identity=1,
    ),
    Definition(
        "PPV", "Precision (positive predictive value)", "", 0, 1, "higher", "overlap", TAHA, Empty.ZERO,
        "Share of the test that lies in the reference, counted in voxels.",
        lambda pair: overlap.precision(pair.weightedCounts), symmetric=False,
        identity=1,
    ),
    Definition(
        "VolumeReference", "Volume of the reference", "mm3", 0, math.inf, "", "overlap", OURS, Empty.COMPUTED,
        "Volume that the reference's closed surface encloses.",
        lambda pair: pair.volume(0), symmetric=False,
        identity=None,
    ),
    Definition(
        "VolumeTest", "Volume of the test", "mm3", 0, math.inf, "", "overlap", OURS, Empty.COMPUTED,
        "Volume that the test's closed surface encloses.",
        lambda pair: pair.volume(1), symmetric=False,
        identity=None,
    ),
    Definition(
        "VolumeDifference", "Volume difference", "mm3", -math.inf, math.inf, "", "overlap", OURS, Empty.COMPUTED,
        "Volume of the test minus volume of the reference, of the closed surfaces.",
        lambda pair: pair.volume(1) - pair.volume(0), symmetric=False,
        identity=0,
    ),
    Definition(
        "VoxelVolumeReference", "Voxel volume of the reference", "mm3", 0, math.inf, "", "overlap", OURS,
        Empty.COMPUTED,
        "Number of the reference's voxels times the voxel size.",
        lambda pair: pair.voxelVolume(0), symmetric=False,
        identity=None,
    ),
    Definition(
        "VoxelVolumeTest", "Voxel volume of the test", "mm3", 0, math.inf, "", "overlap", OURS, Empty.COMPUTED,
        "Number of the test's voxels times the voxel size.",
        lambda pair: pair.voxelVolume(1), symmetric=False,
        identity=None,
    ),
    *AGREEMENT,
    *VOXEL,
    *SIMILARITY,
)  # fmt: skip


def findDefinition(key: str) -> tuple[Definition, dict[str, str]] | None:
    """Return the definition to which a key like "NSD_2mm" belongs and its parameter as text, None if there is none."""
    for definition in REGISTRY:
        for template in dict.fromkeys(
            (definition.key, definition.keyFor({}) if definition.unmentioned else definition.key)
        ):
            pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d[\\d.e+-]*)", re.escape(template))
            if found := re.fullmatch(pattern, key):
                return definition, {**dict.fromkeys(definition.unmentioned, "1"), **found.groupdict()}
    return None


def evaluate(pair: Pair) -> dict[str, Measurement]:
    """Return all measurements of a pair that its settings ask for, by key."""
    measurements = {}
    for definition in REGISTRY:
        if definition.family in pair.settings.families:
            for parameter in definition.parameters(pair.settings):
                checkpoint()
                measurement = _measure(definition, pair, parameter)
                measurements[measurement.key] = measurement
    return measurements


def _measure(definition: Definition, pair: Pair, parameter: dict[str, float]) -> Measurement:
    words = {name: shortest(value) for name, value in parameter.items()}
    directed = (None, None)
    reason = ""
    try:
        value = _emptyValue(definition, pair)
        if value is None:
            value = definition.compute(pair, **parameter)
            if isinstance(value, Directed):
                value, *directed = value
            if math.isnan(value):
                raise Undefined("the definition divides by zero for this pair")
            reason = pair.noteOn(definition)
        else:
            reason = pair.emptinessFor(definition)
    except Undefined as undefined:
        value, directed, reason = math.nan, (None, None), str(undefined)
    status = "undefined" if math.isnan(value) else "infinite" if math.isinf(value) else "ok"
    return Measurement(
        key=definition.keyFor(words),
        title=definition.title.format(**words),
        value=float(value),
        unit=definition.unitFor(pair.dimension, pair.settings),
        status=status,
        reason=reason,
        family=definition.family,
        description=definition.description.format(**words),
        source=definition.source,
        better=definition.better,
        referenceToTest=directed[0],
        testToReference=directed[1],
    )


def _emptyValue(definition: Definition, pair: Pair) -> float | None:
    """Return what a measurement of structures one or both of which are empty is by definition, else None."""
    emptiness = pair.emptinessFor(definition)
    if not emptiness or definition.empty == Empty.COMPUTED:
        return None
    if emptiness == BOTH_EMPTY:
        raise Undefined(emptiness)
    if definition.empty == Empty.COUNTED:
        return None
    if definition.empty in (Empty.ZERO, Empty.ONE):
        return float(definition.empty == Empty.ONE)
    return -math.inf if definition.empty == Empty.SIGNED and pair.test.isEmpty else math.inf
