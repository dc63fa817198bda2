"""The surface of a consensus with the local SD of the observers at every point."""

from __future__ import annotations

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..base.errors import InputError
from ..show.distributions import roundAbove
from . import colors, outputs
from .conversion import drawnSurface, pointsOf

# The least end of the color range in mm, for observers who agree everywhere.
LEAST_LIMIT = 0.1


def limitOf(found) -> float:
    """Return the end of the color range in mm of a map: a round number that 95 % of the surface does not exceed."""
    return roundAbove(max(found.variation.percentile95SD, LEAST_LIMIT))


def variationMap(found, surface: str = "displayed") -> vtkPolyData:
    """Return the consensus surface in RAS with the point array LocalSD in mm.

    found: an ObservedStructure. surface: as for outputs.showDistanceMap; every point has the value of the nearest
    measured one. Raises InputError if there is no map.
    """
    if found.variation is None:
        raise InputError(f"There is no map of where the observers of {found.name} differ. {' '.join(found.remarks)}")
    measured, values = found.variation.surface, found.variation.localSD
    result, isMeasured = drawnSurface(found.consensus, "consensus", measured, surface)
    if not isMeasured:
        values = outputs.nearestValues(pointsOf(result), measured.points, values)
    array = numpy_to_vtk(np.ascontiguousarray(values, dtype=float), deep=True)
    array.SetName(colors.ARRAYS["sd"])
    result.GetPointData().AddArray(array)
    return result
