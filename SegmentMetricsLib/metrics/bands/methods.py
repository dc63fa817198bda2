"""The choice between ways to measure the bands just inside two contours, by input.

Both bands are measured on points with exact distances to the boundaries. Regions that lie wholly outside, or deeper
than tau, are left out beforehand.

The source cuts every voxel into a number of sub-voxels along each axis and tests their centers. Masks on a lattice have
faces parallel to these rows of points, so such a grid errs by up to 2 %pt, in steps. Here the points are spread evenly
but out of step with the lattice: for masks on one lattice, each cell takes its own part of them by a hash of its index
alone; otherwise, the points are the voxels of a grid that runs askew. Their number is increased until the error, which
is reported, is small enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...distances.surfacedistances import BoundaryPair
from ...geometry.grids import Grid
from ...geometry.surfaces import elementCenters, outwardNormals
from . import Bands
from .bandsearch import searchedBands
from .lookup import cellBands

# Standard error of the overlap to be reached, for structures of at least SMALL voxels and for smaller ones: by lookup,
# where accuracy costs little, and by search, where the overlap has to be known to 0.2 %pt, of small ones to 0.5 %pt.
WANTED_ERROR, WANTED_ERROR_OF_SMALL, SMALL = 0.0007, 0.0015, 1000
SEARCHED_ERROR, SEARCHED_ERROR_OF_SMALL = 0.0010, 0.0022
# Points in voxels hardly hit bands thinner than this fraction of a voxel, so at least this many points at each boundary
# are used.
THIN, THIN_BUDGET = 0.01, 20_000
# Bands thinner than the first, a fraction of a voxel, are also measured on points at the boundaries if fewer than the
# second number of points hit a band, or if the error exceeds the wanted one by more than the third, a factor.
THIN_IF_NEEDED, FEW, VAGUE = 0.05, 2000, 3


def bands(boundaries: BoundaryPair, grid: Grid, volumes: Sequence[float], tolerance: float) -> Bands:
    """Return the sizes of the bands' intersection and union, of two closed boundaries.

    Computed by _thinBands() for bands far thinner than voxels, else by cellBands() for masks on one lattice if
    possible, else by searchedBands().

    grid: of the voxels, to which faces may be parallel. volumes: of the structures in mm3 (mm2), > 0. tolerance: tau
    in mm, > 0.
    """
    if isThin(tolerance, grid, THIN):
        return _thinBands(boundaries, tolerance)
    # the voxel size of a mesh is arbitrary, so it has at most as many voxels as there would be of 1 mm
    counts = [
        volume / (grid.voxelSize if surface.mask is not None else max(grid.voxelSize, 1.0))
        for volume, surface in zip(volumes, boundaries.surfaces, strict=True)
    ]
    isSmall = max(counts) < SMALL
    wanted = WANTED_ERROR_OF_SMALL if isSmall else WANTED_ERROR
    if boundaries.lattice is not None:
        found = cellBands(boundaries.lattice, tolerance, wanted, boundaries.surfaces[0].slab)
        if found is not None:
            return found
    wanted = SEARCHED_ERROR_OF_SMALL if isSmall else SEARCHED_ERROR
    found, met = searchedBands(boundaries, grid, volumes, tolerance, wanted)
    isVague = met < FEW or (found.error or 0.0) > VAGUE * wanted
    if isVague and isThin(tolerance, grid, THIN_IF_NEEDED):
        return _thinBands(boundaries, tolerance)
    return found


def isThin(tolerance: float, grid: Grid, share: float) -> bool:
    """Return whether a tolerance in mm is less than a fraction, `share`, of a voxel's shortest side."""
    spacing = np.delete(grid.spacing, [] if grid.flatAxis is None else grid.flatAxis)
    return bool(tolerance < share * spacing.min())


def _thinBands(boundaries: BoundaryPair, tolerance: float) -> Bands:
    """Return the sizes for bands far thinner than voxels, from points just inside the boundaries.

    The size of a band is that of the boundary times the tolerance; where the boundary bends, the relative error of this
    is the tolerance over the radius.
    """
    shared = sizes = 0.0
    for source in (0, 1):
        surface, other = boundaries.surfaces[source], boundaries.search(1 - source)
        subdivisions = max(1, int(np.ceil(np.log2(THIN_BUDGET / surface.count) / (surface.dimension - 1))))
        centers = elementCenters(surface.points, surface.cells, subdivisions)
        pieces = len(centers) // surface.count
        volumes = np.repeat(surface.sizes / pieces, pieces) * tolerance
        # the golden ratio spreads the depths evenly
        depths = tolerance * ((np.arange(len(centers)) + 0.5) * 0.6180339887498949 % 1)
        inward = -np.repeat(outwardNormals(surface, np.arange(surface.count)), pieces, axis=0)
        signed = other.signedDistances(centers + depths[:, None] * inward)
        shared += float(volumes[(signed < 0) & (signed > -tolerance)].sum()) / 2
        sizes += float(volumes.sum())
    return Bands(shared, sizes - shared)
