"""Explanations of measurements and settings for tool tips, made from the registry."""

from __future__ import annotations

from ..comparison.measurements import Measurement, rounded
from ..families.registry import REGISTRY, findDefinition

SETTINGS = {
    "tolerance": "Distance in mm up to which two contours count as the same.",
    "percentile": "Share of the surface, in %, that the reported Hausdorff distance covers; 95 ignores the worst 5 %.",
    "surface": (
        "The boundary that is measured. Unsmoothed: exactly around the voxels, so the numbers do not depend on how "
        "Slicer displays the segments. As displayed: the smooth surface of the 3D views."
    ),
    "subdivisions": (
        "How often each surface element is cut before its distance is measured. Automatic: as often as every number "
        "needs, which then comes with bounds. A fixed number compares with tools that sample so."
    ),
    "convention": (
        "The tool whose conventions are used for boundary and overlap metrics, if a study or a protocol demands one. "
        "SegmentMetrics: as they are defined. Another tool: as it would report them; it decides the surface, too."
    ),
    "protocol": (
        "Limits to judge the structures by: a table of the scene, which can be edited in the module Tables, an "
        "example, or a file. What a rule needs is measured whatever is chosen above."
    ),
    "extent": (
        "How much of the two is compared. Whole: everything. Common: only the slices that both contours cover, without "
        "the caps at the ends, for organs whose ends are arbitrary."
    ),
    "oversampling": (
        "Into how many parts along each axis voxels are cut for the boundary IoU. Automatic: as fine as needed for "
        "0.2 percentage points."
    ),
    "critical": (
        "Structures of the reference segmentation near which differences are dangerous, such as the spinal cord beside "
        "a target."
    ),
    "grid": (
        "Which voxels outside both segments count. Reference image: all of those that the reference was drawn on, and "
        "more where the test needs them. Union of both: the box around them."
    ),
    "beta": "Weight of sensitivity against precision in the F-measure; 1 is the Dice coefficient.",
    "quantile": "Share of the voxels that the Hausdorff distance of voxels covers; 0.95 ignores the worst 5 %.",
    "voxelUnit": "The unit of distances between voxels.",
    "hazardKernel": (
        "How hazard falls with the distance to a critical structure: to zero at the reach, as 1 - (distance / reach)², "
        "or exponentially, to 37 % at the decay length."
    ),
    "hazardReach": "Distance to a critical structure, in mm, at and beyond which there is no hazard.",
    "hazardDecay": "Distance to a critical structure, in mm, at which hazard has fallen to 37 %.",
    "il": "How severely the similarity index judges contours inside the reference; at 1, 10 mm score 0.61.",
    "ol": "How severely the similarity index judges contours outside the reference; at 1, 10 mm score 0.61.",
}
FAMILIES = {
    "boundary": "How far the contours lie apart.",
    "signed": "In which direction the contours differ: test outside or inside the reference.",
    "overlap": "How much volume the segments share, and how large they are.",
    "agreement": "How often the two agree voxel by voxel, also beyond chance; most depend on how large the image is.",
    "voxel": "How far the voxels of the segments lie apart, counted over whole segments rather than their contours.",
    "hazard": "How dangerous the differences are: those near the chosen critical structures count more.",
    "similarity": "How well contours are followed slice by slice, with what lies inside and outside judged by levels.",
    "slices": "How the segments differ in every slice of the reference, as a table and a chart.",
    "effort": "What it takes to correct the test: the length of contour to draw, and how far the center is off.",
}


def ofMeasurement(measurement: Measurement) -> str:
    """Return the meaning of a measurement, its bounds or the reason for a missing value, and its source."""
    better = {"lower": "Lower is better.", "higher": "Higher is better."}.get(measurement.better, "")
    lines = [measurement.title, " ".join(filter(None, (measurement.description, better)))]
    found = findDefinition(measurement.key)
    if found and found.definition.hint:
        lines.append(found.definition.hint)
    if measurement.reason:
        lines.append(f"Here: {measurement.reason}.")
    if measurement.lower is not None and measurement.status == "ok":
        bounds = dict.fromkeys(rounded(bound, 4) for bound in (measurement.lower, measurement.upper))
        between = "between " if len(bounds) > 1 else ""
        lines.append(f"Here: {between}{' and '.join(bounds)} {measurement.unit}".rstrip() + ".")
    lines.append(f"Source: {measurement.source}")
    return "\n".join(lines)


def ofFamily(family: str) -> str:
    """Return the purpose of a family of metrics, and its metrics."""
    keys = [_keyOf(definition) for definition in REGISTRY if definition.family == family]
    return f"{FAMILIES[family]}\n{', '.join(keys)}".strip()


def ofSetting(name: str) -> str:
    """Return the effect of a setting, and the metrics that have it as a parameter, if any."""
    keys = [_keyOf(definition) for definition in REGISTRY if f"{{{name}}}" in definition.key]
    return SETTINGS[name] + (f"\nUsed by {', '.join(keys)}." if keys else "")


def _keyOf(definition) -> str:
    return definition.keyFor({"percentile": "95", "tolerance": "τ"}).replace("_", " ")
