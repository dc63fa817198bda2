"""From boundaries to masks: the voxels of a grid whose centers lie inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ..base.errors import InputError
from .contours import planeAxes
from .filling import fillContours, fillSolid
from .grids import Grid, gridAround, roundIndex
from .masks import Mask
from .parts import components
from .surfaces import Surface

# Grids for comparing meshes by volume: this many steps across the smaller structure, with at most that many voxels.
STEPS_ACROSS = 100
LARGEST_GRID = 50_000_000
# Small or thin parts are counted as precisely as a ball of this share of the steps across.
STEPS_OF_PARTS = 1 / 4
# Standard error of the enclosed size, counted in voxels 1 mm wide, for boundaries of 1 mm2 (1 mm): about a third of a
# voxel for a single voxel next to the boundary. Measured on organs of all kinds.
NOISE = 0.32
# The boxes of up to so many parts are compared, each with each.
MOST_PARTS = 2_000


def maskOf(surface: Surface, grid: Grid, isCropped: bool = False) -> Mask:
    """Return the voxels of a grid whose centers lie inside a closed boundary, also beyond the grid's edges.

    isCropped: not beyond them, which is for triangles.
    """
    if surface.isEmpty:
        return Mask.empty(grid)
    surface = surface.solid
    index = grid.toIndex(surface.points)
    if surface.dimension == 2:
        flat = grid.flatAxis
        if flat is None:
            raise InputError("Contours in a plane can only be drawn on a grid of one slice.")
        kept = [axis for axis in range(3) if axis != flat]
        low, high = np.floor(index.min(axis=0)).astype(int), np.ceil(index.max(axis=0)).astype(int)
        low[flat] = 0
        columns, rows = (high - low + 1)[kept]
        start, end = (index[surface.cells[:, corner]][:, kept] - low[kept] for corner in (0, 1))
        return Mask.fromArray(np.expand_dims(fillContours(start, end, (rows, columns)), 2 - flat), grid, low)
    # keep faces that run through voxel centers there in spite of rounding
    index = roundIndex(index)
    # no center lies further out
    low, high = np.ceil(index.min(axis=0)).astype(int), np.floor(index.max(axis=0)).astype(int)
    if isCropped:
        low, high = np.maximum(low, 0), np.minimum(high, np.array(grid.size) - 1)
    if (low > high).any():
        return Mask.empty(grid)
    index -= low
    return Mask.fromArray(fillSolid(index, surface.cells, tuple((high - low + 1)[::-1])), grid, low, isOwn=True)


def gridForMeshes(surfaces: Sequence[Surface], spacing: float, steps: int) -> Grid:
    """Return a grid with cubic voxels that contains boundaries given as meshes, at least one of them not empty.

    spacing: mm; reduced so that the smallest structure's shortest side spans at least `steps` voxels, and small parts
    enough of them, as far as memory allows.
    """
    surfaces = [s for s in surfaces if not s.isEmpty]
    axes, planar = np.eye(3), surfaces[0].dimension == 2
    if planar:
        normal = cast(np.ndarray, surfaces[0].normal)
        axes = np.column_stack([planeAxes(normal), normal])
    spans = [np.ptp(s.points @ axes, axis=0)[: s.dimension] for s in surfaces]
    side = min(span.min() for span in spans)
    if side > 0:
        spacing = min(spacing, side / steps)
    # the relative error of a ball or circle so many voxels across, whose volume is boundary * across / (2 * dimension)
    dimension, across = surfaces[0].dimension, STEPS_OF_PARTS * steps
    boundary = np.pi * across ** (dimension - 1)
    share = noise(1, boundary, dimension) / (boundary * across / (2 * dimension))
    for volume, size in ((s.volume, s.sizes.sum()) for s in surfaces):
        if volume > 0:
            spacing = min(spacing, stepFor(share * volume, size, dimension))
    points = np.concatenate([s.points for s in surfaces])
    span = np.ptp(points @ axes, axis=0)[: surfaces[0].dimension]
    spacing = max(spacing, float((span.prod() / LARGEST_GRID) ** (1 / len(span))))
    # voxel centers half a step off the corner, so that flat sides do not run through them
    corner = axes @ ((points @ axes).min(axis=0))
    origin = corner + axes @ (0.5 * spacing * np.array([1, 1, 0 if planar else 1]))
    grid = gridAround(points, axes * spacing, origin)
    return grid.plane(int(np.rint(grid.toIndex(corner[None])[0, 2])), 2) if planar else grid


def noise(step: float, size: float, dimension: int) -> float:
    """Return the standard error in mm3 (mm2) of the size that boundaries enclose, counted in voxels `step` mm wide.

    size: of the boundaries, mm2 (mm).
    """
    return NOISE * step ** ((dimension + 1) / 2) * float(np.sqrt(size))


def stepFor(error: float, size: float, dimension: int) -> float:
    """Return the width in mm of voxels for which noise() equals an error in mm3 (mm2)."""
    return (error / noise(1.0, size, dimension)) ** (2 / (dimension + 1))


def closedParts(surface: Surface) -> list[Surface]:
    """Return the connected parts of a closed surface of triangles that enclose something, in the order of their points.

    Parts whose normals point inward are the walls of cavities, and are left out.
    """
    owners = components(surface.cells[:, [0, 1]].ravel(), surface.cells[:, [1, 2]].ravel(), len(surface.points))
    ofCells = owners[surface.cells[:, 0]]
    order = np.argsort(ofCells, kind="stable")
    every = np.split(order, np.flatnonzero(np.diff(ofCells[order])) + 1)
    return [part for part in (_partOf(surface, chosen) for chosen in every) if part.volume > 0]


def groupsApart(first: Surface, second: Surface) -> list[tuple[Surface, Surface]]:
    """Return the connected parts of two boundaries in groups whose boxes do not meet; one side of a group may be empty.

    All of them are one group if there are very many.
    """
    points = np.concatenate([first.points, second.points])
    cells = np.concatenate([first.cells, second.cells + len(first.points)])
    groups = components(cells[:, :-1].ravel(), cells[:, 1:].ravel(), len(points))[cells[:, 0]]
    lows, highs = points[cells].min(axis=1), points[cells].max(axis=1)
    while True:
        numbers, groups = np.unique(groups, return_inverse=True)
        if len(numbers) > MOST_PARTS:
            return [(first, second)]
        low, high = np.full((len(numbers), 3), np.inf), np.full((len(numbers), 3), -np.inf)
        np.minimum.at(low, groups, lows)
        np.maximum.at(high, groups, highs)
        meet = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
        if np.count_nonzero(meet) == len(numbers):
            break
        one, other = np.nonzero(meet)
        groups = components(one, other, len(numbers))[groups]
    ofFirst, ofSecond = np.split(groups, [first.count])
    return [(_partOf(first, ofFirst == group), _partOf(second, ofSecond == group)) for group in range(len(numbers))]


def _partOf(surface: Surface, chosen: np.ndarray) -> Surface:
    """Return chosen elements of a boundary, by number or flag, as a boundary."""
    cells = surface.cells[chosen]
    kept, anew = np.unique(cells, return_inverse=True)
    return Surface(surface.points[kept], anew.reshape(cells.shape), surface.normal)
