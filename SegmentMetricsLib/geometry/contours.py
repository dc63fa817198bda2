"""Contours in a plane: closed, directed line segments from masks of one slice or from given polylines."""

from __future__ import annotations

from typing import cast

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..base.errors import InputError
from ..base.progress import chunks
from . import arrangement
from .crosssections import ofVoxels
from .masks import Mask
from .ranges import levelsOf
from .surfaces import Surface, mergePoints

# Points of a contour may leave its plane by this fraction of the contour's extent (files store single precision).
PLANARITY_TOLERANCE = 1e-4


def fromMask(mask: Mask) -> Surface:
    """Return the unsmoothed contours of a planar mask, half-way between pixel centers, in LPS mm."""
    sections = ofVoxels(mask, cast(int, mask.grid.flatAxis))
    u, v = sections.grid.axes[:, :2].T
    normal = np.cross(u, v)
    order = np.lexsort(sections.start.T)  # row by row, wherever a contour begins
    index, cells = sections.start[order], np.argsort(order)[np.stack([sections.starts, sections.ends], axis=1)]
    x, y = index[cells].sum(axis=1).T / 2
    cells = cells[np.lexsort([x, np.floor(y)])]
    points = sections.grid.toWorld(np.insert(index, 2, 0, axis=1))
    return Surface(points, cells, normal / np.linalg.norm(normal), mask=mask)


def fromPolyData(polyData: vtkPolyData) -> Surface:
    """Return the contours given as closed planar polylines in LPS mm, as the boundary of what they enclose.

    Contours may cross each other and themselves: a place is inside if an odd number of them goes around it, and
    contours that repeat another count once. Such repairs are listed in `repairs`. Raises InputError if the lines are
    open, do not lie in one plane or enclose nothing.
    """
    bare = vtkPolyData()
    bare.SetPoints(polyData.GetPoints())
    bare.SetLines(polyData.GetLines())
    output = mergePoints(bare)
    points = vtk_to_numpy(output.GetPoints().GetData()).astype(float)
    connectivity, offsets = output.GetLines().GetConnectivityArray(), output.GetLines().GetOffsetsArray()
    lines = np.split(vtk_to_numpy(connectivity).astype(np.int64), vtk_to_numpy(offsets)[1:-1])
    loops = [np.stack([line[:-1], line[1:]], axis=1) for line in lines]
    loops = [loop[loop[:, 0] != loop[:, 1]] for loop in loops]
    different = arrangement.withoutRepeats(loops)
    cells = np.concatenate([np.zeros((0, 2), np.int64), *different])
    if not len(cells) or (np.bincount(cells.ravel(), minlength=len(points)) % 2).any():
        raise InputError("The contour lines are not closed.")
    normal = planeNormal(points)
    repairs: tuple[str, ...] = ()
    if len(different) < len(loops):
        repairs += (f"contours that repeat another were left out ({len(loops) - len(different)})",)
    return orient(uncross(Surface(points, cells, normal, repairs=repairs)))


def uncross(surface: Surface) -> Surface:
    """Return contours as the plain boundary of the area inside an odd number of them; `repairs` lists the changes."""
    axes = planeAxes(cast(np.ndarray, surface.normal))
    flat = surface.points @ axes
    positions, cells = arrangement.cutAtCrossings(flat, surface.cells)
    kept = arrangement.dropShared(cells)
    if cells is surface.cells and len(kept) == len(cells):
        return surface
    if not len(kept):
        raise InputError("The contour lines cancel each other out and enclose nothing.")
    repairs = surface.repairs
    if len(positions) > len(flat):
        repairs += ("lines cross each other, and inside is what an odd number of contours goes around",)
    if len(kept) < len(cells):
        repairs += ("lines with the inside on both sides were left out",)
    height = surface.normal * (surface.points @ surface.normal).mean()
    points = np.concatenate([surface.points, positions[len(flat) :] @ axes.T + height])
    used, numbers = np.unique(kept, return_inverse=True)
    return Surface(points[used], numbers.reshape(-1, 2), surface.normal, repairs=repairs)


def planeNormal(points: np.ndarray) -> np.ndarray:
    """Return the unit normal (3,) of the plane of points (n, 3), its largest component positive.

    Raises InputError if the points do not lie in one plane, or all lie on a line.
    """
    centered = points - points.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered)
    extent = np.sqrt(values.max())
    if np.abs(centered @ vectors[:, 0]).max() > PLANARITY_TOLERANCE * extent:
        raise InputError("The contour lines do not lie in one plane.")
    if np.abs(centered @ vectors[:, 1]).max() <= PLANARITY_TOLERANCE * extent:
        raise InputError("The contour lines all lie on one straight line and enclose nothing.")
    normal = vectors[:, 0]
    return normal * np.sign(normal[np.abs(normal).argmax()])


def planeAxes(normal: np.ndarray) -> np.ndarray:
    """Return a (3, 2) array of two unit vectors that span the plane, right-handed with its normal."""
    helper = np.eye(3)[np.abs(normal).argmin()]
    u = np.cross(helper, normal)
    u /= np.linalg.norm(u)
    return np.stack([u, np.cross(normal, u)], axis=1)


def orient(surface: Surface) -> Surface:
    """Return contours with the inside left of every segment: where an odd number of contours encloses a place."""
    if surface.isEmpty:
        return surface
    normal = planeNormal(surface.points) if surface.normal is None else surface.normal
    flat = surface.points @ planeAxes(normal)
    start, end = flat[surface.cells[:, 0]], flat[surface.cells[:, 1]]
    step = end - start
    left = np.stack([-step[:, 1], step[:, 0]], axis=1)
    # just beside the middle of every segment, much closer than any other contour can be
    probe = (start + end) / 2 + 1e-6 * left
    inward = insideContours(probe, start, end)
    cells = np.where(inward[:, None], surface.cells, surface.cells[:, ::-1])
    return Surface(surface.points, cells, normal, repairs=surface.repairs, mask=surface.mask)


def insideContours(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return whether points (n, 2) lie inside the contours of segments start, end (m, 2), by the even-odd rule."""
    inside = np.zeros(len(points), bool)
    low, high = np.minimum(start[:, 1], end[:, 1]), np.maximum(start[:, 1], end[:, 1])
    rise = np.where(high > low, end[:, 1] - start[:, 1], 1.0)
    slope = (end[:, 0] - start[:, 0]) / rise
    for chosen in chunks(len(points), max(1, 4_000_000 // max(1, len(start)))):
        x, y = points[chosen, :1], points[chosen, 1:]
        crosses = (low <= y) & (y < high) & (x < start[:, 0] + (y - start[:, 1]) * slope)
        inside[chosen] = crosses.sum(axis=1) % 2 == 1
    return inside


def sharedArea(reference: Surface, test: Surface, rows: int = 4096) -> float:
    """Return the area in mm2 inside both of two contours in one plane, by the even-odd rule.

    The plane is cut into thin strips that end at every contour point; lengths along a strip's middle line are exact.
    The area is exact, too, where the two contours do not cross within a strip.
    """
    if reference.isEmpty or test.isEmpty:  # empty contours may have no plane
        return 0.0
    axes = planeAxes(cast(np.ndarray, reference.normal))
    ends = [(surface.points @ axes)[surface.cells] for surface in (reference, test)]
    heights = np.concatenate([e[..., 1].ravel() for e in ends])
    edges = np.unique(np.concatenate([heights, np.linspace(heights.min(), heights.max(), rows)]))
    middles, thickness = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    found = []
    for number, segment in enumerate(ends):
        first = np.searchsorted(middles, segment[..., 1].min(axis=1))
        last = np.searchsorted(middles, segment[..., 1].max(axis=1))
        which, row = levelsOf(first, last)
        start, step = segment[which, 0], segment[which, 1] - segment[which, 0]
        x = start[:, 0] + (middles[row] - start[:, 1]) / step[:, 1] * step[:, 0]
        found.append(np.stack([row, x, np.full(len(row), number)], axis=1))
    crossings = np.concatenate(found)
    row, x, number = crossings[np.lexsort((crossings[:, 1], crossings[:, 0]))].T
    insideBoth = (np.cumsum(number == 0) % 2 == 1) & (np.cumsum(number == 1) % 2 == 1)
    return float((np.diff(x) * thickness[row[:-1].astype(int)])[insideBoth[:-1]].sum())


def liesInPlane(reference: Surface, test: Surface) -> bool:
    """Return whether two contours are coplanar within a thousandth of their extent."""
    offset = (test.points - reference.center) @ reference.normal
    return bool(np.abs(offset).max() <= 1e-3 * np.ptp([reference.box, test.box], axis=1).max())
