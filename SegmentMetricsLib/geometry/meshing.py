"""Clean boundaries from what users have: masks and polydata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import cast

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData

from ..base.errors import InputError
from ..base.texts import pluralize
from . import cellcases, contours, orientation
from .caps import haveArea, withoutCaps
from .grids import requireScale
from .masks import Mask
from .surfaces import PIECES, Surface, doublePoints, empty, longestSides, mergePoints, triangleIndices
from .triangles import uniqueSides

# As a fraction of a mesh's extent: points closer to each other than this are merged if edges are open otherwise.
NEAR = 1e-6
# Elements of meshes are cut until their sides are shorter than this fraction of the boundary's box, as long as that
# makes no more elements than this; and segments of contours into this many parts, more where there are few segments.
SHORT_SIDE, MOST_CUT, PARTS_OF_SEGMENT, FEWEST_PARTS = 1 / 64, 12_000, 16, 512
# Weights that make the places on triangles their corners.
CORNERS = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def fromMask(mask: Mask) -> Surface:
    """Return the unsmoothed boundary of a mask: discrete flying edges at the half-way points between voxel centers.

    The mask is padded with zeros, so the boundary is closed even at the image edge. Cells are made in voxel index space
    in the order i, j, k and then transformed to LPS, like Slicer's closed surface with smoothing factor 0.
    Source: Schroeder et al., Flying Edges, LDAV 2015; Podobnik & Vrtovec, arXiv:2410.02630.
    """
    if mask.isEmpty:
        return empty(2 if mask.grid.planar else 3)
    return contours.fromMask(mask) if mask.grid.planar else MaskSurface(mask)


class MaskSurface(Surface):
    """The unsmoothed boundary of a mask in space, made from the cases of its cells when something asks for it.

    Sizes and volume are sums over the cases, so that they need neither points nor triangles.
    """

    def __init__(self, mask: Mask):
        # a frozen dataclass lets nothing else be set
        self.__dict__["mask"] = mask

    def __getstate__(self) -> dict:
        return {"mask": self.mask}

    @property
    def isEmpty(self) -> bool:
        return False

    @property
    def dimension(self) -> int:
        return 3

    @cached_property
    def _mixed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers (k,) and cases (k,) of the cells that hold triangles, and how many cells there are along i, j, k."""
        mask = cast(Mask, self.mask)
        codes = cellcases.cellCodes(mask.block(mask.low - 1, mask.high + 1))
        cells = np.flatnonzero(codes.ravel() + np.uint8(1) > 1)
        return cells, codes.ravel().take(cells), np.array(codes.shape[::-1])

    @cached_property
    def _triangles(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points (n, 3) in voxel indices, the points (3, m) of triangles as Cases lists them, and (m, 3) outward."""
        cells, codes, shape = self._mixed
        rows, numbers, areTurned = cellcases.trianglesIn(codes)
        strides = np.array([1, shape[0], shape[0] * shape[1]])
        places = cellcases.trianglePlaces(CORNERS)[0]
        owners, positions, corners = cellcases.numberedPlaces(cells.take(rows), numbers, strides, CORNERS)
        points = np.stack(np.unravel_index(owners, shape, order="F"), axis=1) + (cast(Mask, self.mask).low - 1.0)
        points += (places.local / places.denominator).take(positions, axis=0)
        a, b, c = corners
        isTurned = areTurned != (np.linalg.det(cast(Mask, self.mask).grid.axes) < 0)
        return points, corners, np.stack([a, np.where(isTurned, c, b), np.where(isTurned, b, c)], axis=1)

    @property
    def lattice(self) -> np.ndarray:
        """(n, 3) the points in voxel indices of the mask's grid."""
        return self._triangles[0]

    @property
    def cells(self) -> np.ndarray:
        return self._triangles[2]

    @property
    def cornersOfCases(self) -> np.ndarray:
        """(3, m) the points of every triangle in the order of Cases."""
        return self._triangles[1]

    @cached_property
    def points(self) -> np.ndarray:
        return cast(Mask, self.mask).grid.toWorld(self.lattice)

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        mask = cast(Mask, self.mask)
        if np.count_nonzero(mask.grid.axes) > 3:  # its axes are not those of the patient
            return super().box
        ends = mask.grid.toWorld(np.array([mask.low - 0.5, mask.high + 0.5]))
        return ends.min(axis=0), ends.max(axis=0)

    @cached_property
    def count(self) -> int:
        return int(cellcases.cases().counts.take(self._mixed[1]).sum())

    @cached_property
    def sizes(self) -> np.ndarray:
        _, numbers, _ = cellcases.trianglesIn(self._mixed[1])
        return cellcases.caseAreas(self._axes).take(numbers)

    def normalsOf(self, cells: np.ndarray) -> np.ndarray:
        _, numbers, areTurned = cellcases.trianglesIn(self._mixed[1])
        normals = cellcases.caseNormals(self._axes).take(numbers.take(cells), axis=0)
        return np.where(areTurned.take(cells)[:, None], -normals, normals)

    @property
    def _axes(self) -> tuple[float, ...]:
        return tuple(cast(Mask, self.mask).grid.axes.ravel().tolist())

    @cached_property
    def volume(self) -> float:
        # the integral of x along the outward normal, with x from the middle of the box
        cells, codes, shape = self._mixed
        flux, moment = cellcases.caseFluxes()
        x = cells % shape[0] - shape[0] // 2
        inVoxels = float((x * flux.take(codes)).sum() + moment.take(codes).sum())
        return inVoxels * abs(float(np.linalg.det(cast(Mask, self.mask).grid.axes)))


def cleanTriangles(polyData: vtkPolyData, reach: float = 0.0) -> vtkPolyData:
    """Return polygons and strips as triangles in double precision, with points within `reach` in mm merged."""
    from vtkmodules.vtkFiltersCore import vtkTriangleFilter

    triangles = vtkTriangleFilter()
    triangles.SetInputData(polyData)
    triangles.PassVertsOff()
    triangles.PassLinesOff()
    triangles.Update()
    return mergePoints(triangles.GetOutput(), reach)


def paddedImage(mask: Mask) -> vtkImageData:
    """Return a mask padded by one voxel as a VTK image whose points are voxel indices from the mask's offset."""
    padded = np.pad(mask.voxels, 1)
    image = vtkImageData()
    image.SetDimensions(padded.shape[::-1])
    image.SetOrigin(-1.0, -1.0, -1.0)
    scalars = numpy_to_vtk(padded.ravel(), deep=True)
    scalars.SetName("Mask")
    image.GetPointData().SetScalars(scalars)
    return image


def fromPolyData(polyData: vtkPolyData) -> Surface:
    """Return the boundary given by a polydata in LPS mm: polygons make a surface, closed planar lines make contours.

    Equal points are merged, and if that leaves open edges, points closer than NEAR as well. Polygons are cut into
    triangles, cells without area and repeated ones are dropped, and triangles that face the wrong way are turned.
    Findings and repairs are stored in `repairs`, `openEdges`, `nonManifoldEdges` and `defect`. Polydata without points
    is an empty structure. Raises InputError for points that are not finite or farther from the origin than any patient,
    points without cells and the reverse, and open or non-planar lines.
    """
    _requireKnownPoints(polyData)
    if polyData.GetNumberOfPoints() == 0:
        return empty()
    coordinates = vtk_to_numpy(polyData.GetPoints().GetData())
    if not np.isfinite(coordinates).all():
        raise InputError("The surface has points whose coordinates are not numbers.")
    requireScale(float(np.abs(coordinates).max()))
    if polyData.GetNumberOfPolys() + polyData.GetNumberOfStrips() == 0:
        if polyData.GetNumberOfLines():
            return contours.fromPolyData(polyData)
        raise InputError("The surface has points but no triangles or contour lines.")
    bare = vtkPolyData()
    bare.SetPoints(doublePoints(coordinates))
    bare.SetPolys(polyData.GetPolys())
    bare.SetStrips(polyData.GetStrips())
    output = cleanTriangles(bare)
    # triangles whose points were merged are gone from the output already
    given = bare.GetNumberOfPolys() if bare.GetPolys().GetMaxCellSize() == 3 and not bare.GetNumberOfStrips() else 0
    given = max(given, output.GetNumberOfPolys())
    surface = _ofTriangles(output, given=given)
    if surface.isEmpty:
        raise InputError("The surface has no triangle with an area.")
    if surface.openEdges:
        closer = _ofTriangles(*_mergeNear(output), given=given)
        if not closer.isEmpty and closer.openEdges < surface.openEdges:
            return closer
    return surface


def _mergeNear(triangles: vtkPolyData) -> tuple[vtkPolyData, tuple[str, ...]]:
    """Return triangles with nearly equal points merged, and a description of that for `repairs`."""
    reach = NEAR * triangles.GetLength()
    merged = cleanTriangles(triangles, reach)
    number = triangles.GetNumberOfPoints() - merged.GetNumberOfPoints()
    return merged, (f"{pluralize(number, 'point was', 'points were')} merged with one nearer than {reach:.1g} mm",)


def _ofTriangles(triangles: vtkPolyData, repairs: tuple[str, ...] = (), given: int = 0) -> Surface:
    """Return the boundary of clean triangles. repairs: earlier repairs. given: number of triangles before these."""
    points, cells = vtk_to_numpy(triangles.GetPoints().GetData()).astype(float), triangleIndices(triangles)
    dropped = given - int(np.count_nonzero(haveArea(points, cells)))
    if dropped > 0:
        repairs += (f"{pluralize(dropped, 'triangle without area was', 'triangles without area were')} left out",)
    surface = Surface(points, withoutCaps(points, cells), repairs=repairs)
    return surface if surface.isEmpty else orientation.orient(surface)


def _requireKnownPoints(polyData: vtkPolyData) -> None:
    """Raise InputError for cells of nonexistent points: damaged files have such cells, and VTK does not check them."""
    for cells in (polyData.GetPolys(), polyData.GetStrips(), polyData.GetLines()):
        if cells.GetNumberOfConnectivityIds():
            low, high = cells.GetConnectivityArray().GetRange(0)
            if low < 0 or high >= polyData.GetNumberOfPoints():
                raise InputError("The surface has triangles or lines between points that do not exist.")


def transform(surface: Surface, toWorld: Callable[[np.ndarray], np.ndarray]) -> Surface:
    """Return the boundary with its points moved by a function of points (n, 3); normals stay outward if mirrored."""
    points = np.asarray(toWorld(surface.points), float)
    # not a copy of a mask's surface, which is no longer one
    moved = Surface(
        points, surface.cells, None, surface.openEdges, surface.nonManifoldEdges, surface.repairs, defect=surface.defect
    )
    if moved.dimension == 2:
        return contours.orient(moved)
    return replace(moved, cells=np.ascontiguousarray(moved.cells[:, ::-1])) if moved.volume < 0 else moved


def cutLong(surface: Surface) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the points (n, 3) and elements (k, 2 or 3) of a boundary after cutting long ones, and their cells (k,).

    Triangles may be as large as a face of the structure, over which the distance is not nearly linear.
    """
    points, cells, owners = surface.points, surface.cells, np.arange(surface.count)
    if surface.dimension == 2:
        count = max(PARTS_OF_SEGMENT, FEWEST_PARTS // surface.count)
        steps = np.arange(1, count)[:, None]
        start, end = points[cells[:, :1]], points[cells[:, 1:]]
        between = (start * (count - steps) + end * steps) / count
        numbers = len(points) + np.arange(between.shape[0] * between.shape[1]).reshape(len(cells), -1)
        chain = np.concatenate([cells[:, :1], numbers, cells[:, 1:]], axis=1)
        parts = np.stack([chain[:, :-1], chain[:, 1:]], axis=2).reshape(-1, 2)
        return np.concatenate([points, between.reshape(-1, 3)]), parts, np.repeat(owners, count)
    sides = longestSides(surface)
    longest = SHORT_SIDE * float(np.linalg.norm(np.subtract(*surface.box)))
    halvings = np.ceil(np.log2(np.maximum(sides / longest, 1.0))).astype(int)
    while halvings.any() and (4.0**halvings)[halvings > 0].sum() > MOST_CUT:
        halvings = np.maximum(halvings - 1, 0)
    for _ in range(int(halvings.max(initial=0))):
        isLong = halvings > 0
        large, halvings = cells[isLong], np.concatenate([halvings[~isLong], np.repeat(halvings[isLong] - 1, 4)])
        ends, numbers = uniqueSides(large)
        nodes = np.concatenate([large, len(points) + numbers], axis=1)
        points = np.concatenate([points, (points[ends[:, 0]] + points[ends[:, 1]]) / 2])
        cells = np.concatenate([cells[~isLong], nodes[:, PIECES[3]].reshape(-1, 3)])
        owners = np.concatenate([owners[~isLong], np.repeat(owners[isLong], 4)])
    return points, cells, owners
