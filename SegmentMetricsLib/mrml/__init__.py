"""SegmentMetrics for Slicer's MRML nodes: segments in; tables, colored surfaces and plots out.

It works in the Slicer application and, with the slicer-core package, without it::

    from SegmentMetricsLib import mrml

    comparison = mrml.compareSegments(referenceNode, "Liver", testNode, "Liver")
    mrml.showTable(comparison)
    mrml.showDistanceMap(comparison, side="reference", kind="signed")
"""

from __future__ import annotations

from ..case.request import Request
from .charts import showCumulative, showDoseVolume, showHistogram, showSlices
from .comparing import Comparisons, compareSegmentations, compareSegments, openCase, pairSegments, proposePairs
from .conventions import recallConventions, showConventionsTable
from .folders import removeResults
from .hazard import showHazard
from .headless import ensureScene
from .inputs import doseOf, gridOf
from .lesions import showLesions, showLesionsTable
from .markers import showMarkers
from .navigation import jumpTo, jumpToSlice
from .observers import compareObservers, showConsensus, showMatrix, showVariation
from .outcomes import measure
from .outputs import showComparisonsTable, showDistanceMap, showTable
from .protocols import protocolFromTable, tableFromProtocol

__all__ = [
    "Comparisons",
    "Request",
    "compareObservers",
    "compareSegmentations",
    "compareSegments",
    "doseOf",
    "ensureScene",
    "gridOf",
    "jumpTo",
    "jumpToSlice",
    "measure",
    "openCase",
    "pairSegments",
    "proposePairs",
    "protocolFromTable",
    "recallConventions",
    "removeResults",
    "showComparisonsTable",
    "showConsensus",
    "showConventionsTable",
    "showCumulative",
    "showDistanceMap",
    "showDoseVolume",
    "showHazard",
    "showHistogram",
    "showLesions",
    "showLesionsTable",
    "showMarkers",
    "showMatrix",
    "showSlices",
    "showTable",
    "showVariation",
    "tableFromProtocol",
]
