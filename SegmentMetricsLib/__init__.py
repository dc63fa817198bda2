"""SegmentMetrics: how two contours differ, where, and how much.

    import SegmentMetricsLib

    settings = SegmentMetricsLib.Settings(tolerances=(2.0,), percentiles=(95,))
    comparison = SegmentMetricsLib.compare(referenceImage, testImage, settings)
    comparison["HD95"].value, comparison["HD95"].unit, comparison["HD95"].status

References and tests are SimpleITK images, vtkPolyData in LPS millimeters, or Structures. In Slicer, or with
slicer-core:

    from SegmentMetricsLib import mrml

    comparison = mrml.compareSegments(referenceNode, "Liver", testNode, "Liver", settings)
    mrml.showTable(comparison)
    mrml.showDistanceMap(comparison, side="reference", kind="signed")
"""

from __future__ import annotations

import importlib

from .version import __version__

__all__ = [
    "Comparison",
    "Grid",
    "Mask",
    "Measurement",
    "Settings",
    "StressTest",
    "Structure",
    "Surface",
    "__version__",
    "compare",
    "compareLabels",
    "readStructures",
    "stressTest",
]

# Public names are imported on first use, so that importing the package itself takes no time.
_HOMES = {
    "Comparison": "comparison",
    "Grid": "geometry.grids",
    "Mask": "geometry.masks",
    "Measurement": "measurements",
    "Settings": "settings",
    "StressTest": "stress",
    "Structure": "structures",
    "Surface": "geometry.surfaces",
    "compare": "comparison",
    "compareLabels": "multilabel",
    "readStructures": "files.reading",
    "stressTest": "stress",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
