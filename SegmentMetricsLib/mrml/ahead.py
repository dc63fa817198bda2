"""What views show of a comparison, computed before they are drawn, in a thread while the application stays alive."""

from __future__ import annotations

from collections.abc import Iterable

from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..case.observers.observed import ObservedStructure
from ..model.structures import REFERENCE_AND_TEST
from ..show.maps import findLimits
from .charts import histogramOf
from .conversion import displayedSurface
from .outputs import distanceMap


def drawAhead(
    comparison, sides: Iterable[str] = REFERENCE_AND_TEST, surface: str = "displayed", kind: str = "signed"
) -> dict[str, vtkPolyData]:
    """Compute what takes long of a record, maps, outlines and charts; return the maps by side, for showDistanceMap.

    No node is accessed. What is not returned is kept for those who ask for it next. sides, surface, kind: of maps, as
    for showDistanceMap; a side without a surface has none.
    """
    comparison.record()
    structures = [getattr(comparison, side) for side in REFERENCE_AND_TEST]
    if surface == "displayed":
        for structure in structures:
            if not structure.isEmpty:
                displayedSurface(structure)
    if comparison.distances is None or any(structure.isEmpty for structure in structures):
        return {}
    _, tolerance = findLimits(comparison, "signed", None, None)
    histogramOf(comparison.distances, tolerance)
    return {side: distanceMap(comparison, side, surface, None, kind == "bld") for side in sides}


def withDrawnConsensus(found):
    """Return what was found of a structure of observers, after making the surface of the consensus that maps need.

    found: an ObservedStructure, or why it cannot be compared.
    """
    if isinstance(found, ObservedStructure) and found.consensus is not None and not found.consensus.isEmpty:
        displayedSurface(found.consensus)
    return found
