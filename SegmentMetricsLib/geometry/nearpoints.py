"""The points next to some places, found one by one: quick for many thousand places, and no package to import."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData, vtkStaticPointLocator

# Up to this many places in all, measuring the distances to all points takes less time than making a search tree.
FEW = 12


class NearPoints:
    """Finds those of some points (n, 3) that are next to places, or within a distance of them."""

    def __init__(self, points: np.ndarray):
        # relative to their center, so that points far from the origin keep their digits
        self._center = points.mean(axis=0)
        self._columns = np.ascontiguousarray((points - self._center).T)
        self._asked = 0

    def nearest(self, places: np.ndarray) -> np.ndarray:
        """Return the number of the point next to each place (k, 3)."""
        if self._areFew(places):
            return np.array([self._squaredFrom(place).argmin() for place in places], np.int64)
        find = self._locator.FindClosestPoint
        return np.array([find(place) for place in (places - self._center).tolist()], np.int64)

    def within(self, places: np.ndarray, radius: float) -> list[np.ndarray]:
        """Return the numbers (m,) of the points within a radius of each place (k, 3), ascending."""
        if self._areFew(places):
            return [np.flatnonzero(self._squaredFrom(place) <= radius**2) for place in places]
        found, numbers = vtkIdList(), []
        for place in (places - self._center).tolist():
            self._locator.FindPointsWithinRadius(radius, place, found)
            numbers.append(np.sort(np.array([found.GetId(row) for row in range(found.GetNumberOfIds())], np.int64)))
        return numbers

    def _areFew(self, places: np.ndarray) -> bool:
        """Return whether so few places were asked about, these (k, 3) included, that no search tree is worth making."""
        self._asked += len(places)
        return self._asked <= FEW

    def _squaredFrom(self, place: np.ndarray) -> np.ndarray:
        """Return the squared distances (n,) of all points from a place (3,)."""
        result = np.zeros(self._columns.shape[1])
        for column, coordinate in zip(self._columns, place - self._center, strict=True):
            way = column - coordinate
            result += np.square(way, out=way)
        return result

    @cached_property
    def _locator(self) -> vtkStaticPointLocator:
        coordinates = vtkPoints()
        coordinates.SetData(numpy_to_vtk(self._columns.T, deep=True))
        polyData = vtkPolyData()
        polyData.SetPoints(coordinates)
        locator = vtkStaticPointLocator()
        locator.SetDataSet(polyData)
        locator.BuildLocator()
        return locator
