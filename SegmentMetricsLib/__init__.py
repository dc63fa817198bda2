"""SegmentMetrics: how two contours differ, where, and how much.

::

    import SegmentMetricsLib

    settings = SegmentMetricsLib.Settings(tolerances=(2.0,), percentiles=(95,))
    comparison = SegmentMetricsLib.compare(referenceImage, testImage, settings)
    comparison["HD95"].value, comparison["HD95"].unit, comparison["HD95"].status
    f"{comparison['HD95']:.2f}"

    case = SegmentMetricsLib.compareCase("oncologist/", "radiographer/", settings)  # all structures that both have
    print(*case.remarks)

References and tests are SimpleITK images, numpy arrays, vtkPolyData in LPS millimeters, Structures, or paths of files.
Everything after the inputs and the settings is given by keyword. In Slicer, or with slicer-core::

    from SegmentMetricsLib import mrml

    comparison = mrml.compareSegments(referenceNode, "Liver", testNode, "Liver", settings)
    mrml.showTable(comparison)
    mrml.showDistanceMap(comparison, side="reference", kind="signed")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .base.version import __version__

# ruff: noqa: F401
if TYPE_CHECKING:  # for type checkers and editors, which do not run __getattr__
    from .batch.batchresults import BatchResults, readBatch
    from .case.observers.study import ObserverStudy, compareObservers
    from .case.stress import StressTest
    from .commands.batchrun import compareBatch
    from .face import CaseResult, Comparison, compare, compareCase, compareLabels, stressTest
    from .geometry.grids import Grid
    from .geometry.masks import Mask
    from .geometry.surfaces import Surface
    from .io.doses import readDose
    from .io.reading import readStructures
    from .metrics.measurement import Measurement
    from .model.dose import Dose
    from .model.structure import Structure
    from .model.structureset import StructureSet
    from .settings.settings import Settings
    from .show.structuredreport import readReport, writeReport

# Public names are imported on first use, so that importing the package itself takes no time.
_NAMES = {
    "batch.batchresults": ("BatchResults", "readBatch"),
    "case.observers.study": ("ObserverStudy", "compareObservers"),
    "case.stress": ("StressTest",),
    "commands.batchrun": ("compareBatch",),
    "face": ("CaseResult", "Comparison", "compare", "compareCase", "compareLabels", "stressTest"),
    "geometry.grids": ("Grid",),
    "geometry.masks": ("Mask",),
    "geometry.surfaces": ("Surface",),
    "io.doses": ("readDose",),
    "io.reading": ("readStructures",),
    "metrics.measurement": ("Measurement",),
    "model.dose": ("Dose",),
    "model.structure": ("Structure",),
    "model.structureset": ("StructureSet",),
    "settings.settings": ("Settings",),
    "show.structuredreport": ("readReport", "writeReport"),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str):
    if name == "samples":
        return importlib.import_module(".io.samples", __name__)
    if name in _HOMES:
        importlib.import_module(".face", __name__)  # results that others return show themselves, too
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
