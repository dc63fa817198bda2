"""The points next to some places, found one by one: quick for a few thousand places, and no package to import."""

from __future__ import annotations

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData, vtkStaticPointLocator


class NearPoints:
    """Finds those of some points (n, 3) that are next to places, or within a distance of them."""

    def __init__(self, points: np.ndarray):
        # relative to their center, so that points far from the origin keep their digits
        self._center = points.mean(axis=0)
        coordinates = vtkPoints()
        coordinates.SetData(numpy_to_vtk(points - self._center, deep=True))
        polyData = vtkPolyData()
        polyData.SetPoints(coordinates)
        self._locator = vtkStaticPointLocator()
        self._locator.SetDataSet(polyData)
        self._locator.BuildLocator()

    def nearest(self, places: np.ndarray) -> np.ndarray:
        """Return the number of the point next to each place (k, 3)."""
        find = self._locator.FindClosestPoint
        return np.array([find(place) for place in (places - self._center).tolist()], np.int64)

    def within(self, places: np.ndarray, radius: float) -> list[np.ndarray]:
        """Return the numbers (m,) of the points within a radius of each place (k, 3), ascending."""
        found, cells = [], vtkIdList()
        for place in (places - self._center).tolist():
            self._locator.FindPointsWithinRadius(radius, place, cells)
            found.append(np.sort([cells.GetId(row) for row in range(cells.GetNumberOfIds())]).astype(np.int64))
        return found
