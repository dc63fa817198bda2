"""Boundaries of structures: triangle surfaces in 3D, closed contours of line segments in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import VTK_ID_TYPE, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

from .masks import Mask
from .triangles import areaVectors, dot

if TYPE_CHECKING:
    from .slabs import Slab

# The corners of the halves of a segment and of the quarters of a triangle, among its corners and its sides' middles.
PIECES = {2: np.array([[0, 2], [2, 1]]), 3: np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])}


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    """The boundary of one structure.

    Parameters
    ----------
    points : np.ndarray
        (n, 3) LPS mm, double precision.
    cells : np.ndarray
        (m, 3) point indices of triangles whose normals point outward, or (m, 2) of directed line segments with the
        inside on their left as seen along `normal`.
    normal : np.ndarray | None, optional
        (3,) unit normal of the contours' plane, None in 3D.
    openEdges, nonManifoldEdges : int, optional
        Numbers of edges that belong to one triangle only, and to more than two.
    repairs : tuple[str, ...], optional
        What was cleaned, in words.
    mask : Mask | None, optional
        The mask that the surface was made from, None for others.
    defect : str, optional
        Why a boundary without open edges nevertheless has no inside, "" if it has one.
    """

    points: np.ndarray
    cells: np.ndarray
    normal: np.ndarray | None = None
    openEdges: int = 0
    nonManifoldEdges: int = 0
    repairs: tuple[str, ...] = ()
    mask: Mask | None = None
    defect: str = ""

    def __repr__(self) -> str:
        kind = "triangles" if self.dimension == 3 else "line segments"
        return f"<Surface of {len(self.cells)} {kind}{f', {self.openEdges} open edges' if self.openEdges else ''}>"

    @property
    def dimension(self) -> int:
        """3 for a surface, 2 for contours in a plane."""
        return self.cells.shape[1]

    @property
    def isEmpty(self) -> bool:
        return len(self.cells) == 0

    @property
    def count(self) -> int:
        """Number of triangles or segments."""
        return len(self.cells)

    @property
    def isClosed(self) -> bool:
        """Whether the boundary separates an inside from an outside."""
        return not self.whyNoInside

    @property
    def whyNoInside(self) -> str:
        """The reason why the boundary does not separate an inside from an outside, "" if it does."""
        return "is not closed" if self.openEdges else self.defect

    def normalsOf(self, cells: np.ndarray) -> np.ndarray:
        """Return outward unit normals (n, 3) of elements by number (n,), in a contour's plane; zeros without size."""
        return outwardNormals(self, cells)

    @property
    def target(self) -> Surface:
        """The boundary to measure distances to; a part of a boundary overrides it."""
        return self

    @property
    def solid(self) -> Surface:
        """The boundary of the enclosed volume; a part of a boundary overrides it."""
        return self

    @property
    def slab(self) -> Slab | None:
        """The slab to which the boundary was reduced, None if it was not."""
        return None

    def corners(self, numbers: np.ndarray) -> np.ndarray:
        """Return the corners (n, 3, 3) of triangles, or the ends (n, 2, 3) of segments, by number (n,), mm."""
        # much faster than points[cells[numbers]]
        return self.points.take(self.cells.take(numbers, axis=0), axis=0)

    @cached_property
    def center(self) -> np.ndarray:
        """(3,) mean of the points, LPS mm."""
        # column by column: NumPy is slow to reduce short rows
        return np.array([column.mean() for column in self.points.T])

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest LPS coordinates (3,) in mm; the boundary must not be empty."""
        low, high = (np.array([function(column) for column in self.points.T]) for function in (np.min, np.max))
        return low, high

    @cached_property
    def sizes(self) -> np.ndarray:
        """(m,) area of every triangle in mm2, or length of every segment in mm."""
        if self.dimension == 2:
            corners = self.points.take(self.cells, axis=0)
            return np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
        return self.sizesAndVolume[0]

    @cached_property
    def volume(self) -> float:
        """Enclosed volume in mm3 (area in mm2 for contours), by the divergence theorem; NaN without an inside.

        This is a third (half) of the integral of x along the outward normal: summed over triangles, a sixth of a corner
        times the cross product of two sides, see sizesAndVolume; over segments, half the cross product of both ends.
        """
        if self.isEmpty:
            return 0.0
        if not self.isClosed:
            return float("nan")
        if self.dimension == 2:
            corners = self._local[self.cells]
            return float(np.cross(corners[:, 0], corners[:, 1]).dot(cast(np.ndarray, self.normal)).sum() / 2)
        return self.sizesAndVolume[1]

    @property
    def _local(self) -> np.ndarray:
        """(n, 3) the points relative to their center, so that structures far from the origin keep their digits."""
        return self.points - self.center

    @cached_property
    def sizesAndVolume(self) -> tuple[np.ndarray, float]:
        """Area (m,) of every triangle and the volume they enclose, computed from the same vectors."""
        doubled, sixfold = [np.zeros(0)], 0.0
        for (corner, _, _), vectors in areaVectors(self._local, self.cells):
            doubled.append(np.sqrt(dot(vectors, vectors)))
            sixfold += float(np.einsum("ij,ij->", corner, vectors))
        return np.concatenate(doubled) / 2, sixfold / 6


def outwardNormals(surface: Surface, cells: np.ndarray) -> np.ndarray:
    """Return outward unit normals (n, 3) of cells, in their plane for contours; zeros for those without size."""
    if surface.dimension == 2:
        corners = surface.corners(cells)
        return _unit(np.cross(corners[:, 1] - corners[:, 0], cast(np.ndarray, surface.normal)))
    # in batches, as vectors of many at once take much memory
    batches = areaVectors(surface.points, surface.cells[cells])
    return np.concatenate([np.zeros((0, 3)), *(_unit(vectors.T) for _, vectors in batches)])


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3) scaled to length 1; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def empty(dimension: int = 3) -> Surface:
    """Return the boundary of nothing."""
    return Surface(np.zeros((0, 3)), np.zeros((0, dimension), np.int64))


def toPolyData(surface: Surface) -> vtkPolyData:
    """Return a surface as vtkPolyData in LPS mm, double precision; contours become lines."""
    polyData = vtkPolyData()
    polyData.SetPoints(doublePoints(surface.points))
    count, corners = surface.cells.shape
    offsets = numpy_to_vtk(np.arange(0, (count + 1) * corners, corners), deep=True, array_type=VTK_ID_TYPE)
    connectivity = numpy_to_vtk(surface.cells.astype(np.int64).ravel(), deep=True, array_type=VTK_ID_TYPE)
    cellArray = vtkCellArray()
    cellArray.SetData(offsets, connectivity)
    (polyData.SetPolys if corners == 3 else polyData.SetLines)(cellArray)
    return polyData


def doublePoints(points: np.ndarray) -> vtkPoints:
    """Return (n, 3) coordinates as vtkPoints in double precision."""
    result = vtkPoints()
    result.SetData(numpy_to_vtk(np.ascontiguousarray(points, dtype=float), deep=True))
    return result


def mergePoints(polyData: vtkPolyData, reach: float = 0.0) -> vtkPolyData:
    """Return a polydata in double precision with equal points merged. reach: mm within which points count as equal."""
    from vtkmodules.vtkFiltersCore import vtkCleanPolyData

    clean = vtkCleanPolyData()
    clean.SetInputData(polyData)
    clean.ToleranceIsAbsoluteOn()
    clean.SetAbsoluteTolerance(reach)
    clean.ConvertPolysToLinesOff()
    clean.ConvertLinesToPointsOff()
    clean.SetOutputPointsPrecision(1)
    clean.Update()
    return clean.GetOutput()


def triangleIndices(polyData: vtkPolyData) -> np.ndarray:
    """Return the (m, 3) point indices of a polydata of triangles."""
    if polyData.GetNumberOfPolys() == 0:
        return np.zeros((0, 3), np.int64)
    return vtk_to_numpy(polyData.GetPolys().GetConnectivityArray()).astype(np.int64).reshape(-1, 3)


@lru_cache(maxsize=16)
def barycentricWeights(corners: int, subdivisions: int) -> np.ndarray:
    """Return the weights of an element's corners for the centers of its pieces.

    A triangle (corners=3) is cut into four and a segment (corners=2) into two, `subdivisions` times. Row r of the
    result holds integer weights of the corners for the center of piece r; every row sums to corners * 2**subdivisions.
    """
    pieces = np.eye(corners, dtype=np.int64)[None]
    for _ in range(subdivisions):
        nodes = np.concatenate([2 * pieces, pieces + np.roll(pieces, -1, axis=1)], axis=1)
        pieces = nodes[:, PIECES[corners]].reshape(-1, corners, corners)
    weights = pieces.sum(axis=1)
    # cached, so callers must not change it
    weights.setflags(write=False)
    return weights


def meanLength(surface: Surface) -> float:
    """Return the length in mm of an average element: the root of the mean area of triangles."""
    return float(surface.sizes.mean()) ** (1 / (surface.dimension - 1))


def longestSides(surface: Surface) -> np.ndarray:
    """Return the length (m,) in mm of the longest side of every element of a boundary."""
    ends = surface.points[surface.cells]
    return np.max([np.linalg.norm(ends[:, n] - ends[:, n - 1], axis=1) for n in range(ends.shape[1])], axis=0)


def evenElements(surface: Surface, longest: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the LPS centers (n, 3) in mm and the sizes (n,) of equal parts of a boundary's elements.

    Sides longer than `longest`, mm, are halved until none is. If this results in more than `most` parts, the limit is
    doubled until it does not. Elements that are short enough stay whole, however many there are.
    """
    pieces = 2 ** (surface.dimension - 1)
    halvings = np.ceil(np.log2(np.maximum(longestSides(surface) / longest, 1.0))).astype(int)
    while halvings.any() and float((float(pieces) ** halvings).sum()) > most:
        halvings = np.maximum(halvings - 1, 0)
    counts = pieces**halvings
    centers = np.empty((int(counts.sum()), 3))
    starts = np.cumsum(counts) - counts
    for number in np.unique(halvings):
        chosen = np.flatnonzero(halvings == number)
        rows = starts[chosen, None] + np.arange(pieces**number)
        centers[rows.ravel()] = elementCenters(surface.points, surface.cells[chosen], int(number))
    return centers, np.repeat(surface.sizes / counts, counts)


def elementCenters(points: np.ndarray, cells: np.ndarray, subdivisions: int) -> np.ndarray:
    """Return the centers (m * pieces, 3) of the pieces of cells (m, corners), cell by cell."""
    weights = barycentricWeights(cells.shape[1], subdivisions)
    centers = np.einsum("pc,mcx->mpx", weights / weights[0].sum(), points.take(cells, axis=0), optimize=True)
    return centers.reshape(-1, 3)
