"""Distances between meshed boundaries, as the generations of MeshMetrics measure them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..distances.surfacedistances import BoundaryPair
from ..geometry.cellcases import Positions
from ..geometry.masks import boxAround
from ..geometry.surfaces import barycentricWeights, elementCenters, longestSides
from ..geometry.voxelization import maskOf
from ..metrics.bands import lookup
from ..metrics.bands.methods import bands
from .rules import Sample
from .toolmasks import Sampling

# Voxel centers often lie exactly tau from a face. They do not count as closer, regardless of rounding.
TIE_TOLERANCE = 1e-5
# The voxel center at the corner of a cell, as often as the tables have bits at least.
BYTE = 8
CENTERS = Positions(1, np.zeros((BYTE, 3), int))

# Lookup tables grow with the number of pieces; above this many subdivisions the search tree is used.
LARGEST_LATTICE_SUBDIVISIONS = 1


@dataclass(frozen=True)
class Meshes:
    """Distances between the boundaries of the reference values, from the centers of their elements.

    subdivisions: how often triangles are cut into four; segments: how often segments are cut into two.
    """

    subdivisions: int
    segments: int

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        boundaries = boundariesOf(sampling)
        subdivisions = self.subdivisions if boundaries.surfaces[0].dimension == 3 else self.segments
        return samples(boundaries, subdivisions)


def exactBands(sampling: Sampling, tolerance: float) -> float:
    """Return the overlap, in [0, 1], of the bands inside the boundaries of the reference values."""
    boundaries = boundariesOf(sampling)
    volumes = [surface.volume for surface in boundaries.surfaces]
    return bands(boundaries, sampling.masks[0].grid, volumes, tolerance).overlap


def nearSurface(sampling: Sampling, number: int, tolerance: float) -> np.ndarray:
    """Return the voxels whose centers lie inside a boundary and closer than the tolerance in mm to it, as a box.

    Centers on the boundary itself are in no band.
    """
    boundaries = boundariesOf(sampling)
    lattice, limit = boundaries.lattice, tolerance - TIE_TOLERANCE
    if lattice is None or not boundaries.isLookedUp or limit > lattice.reach * min(lattice.spacing):
        return _searchedNear(sampling, number, limit)
    cells, near = sampling.keep(("cells", tolerance), lambda: lookup.bandCells(lattice, tolerance))
    tables, codes = lookup.bandTables(lattice.spacing, CENTERS, lattice.reach, limit), lattice.codes[number]
    cells = cells[near[number]]
    found = lookup.bandMembership(
        codes, tables.steps @ lattice.strides, cells, np.zeros_like(cells), tables.inBlocks(BYTE)
    )
    band = np.zeros(lattice.size, bool)
    band[cells[found > 0]] = True
    return band


def _searchedNear(sampling: Sampling, number: int, limit: float) -> np.ndarray:
    """Return nearSurface() by search, which any two boundaries allow. limit: mm."""
    boundaries, grid, (low, high) = boundariesOf(sampling), sampling.masks[0].grid, boxAround(*sampling.masks)
    # the boundary of voxels on another grid may enclose a few centers beside them
    low, high = low - 2, high + 2

    def measure() -> tuple[np.ndarray, np.ndarray]:
        surface = boundaries.surfaces[number]
        inside = maskOf(surface, grid).block(low, high).astype(bool)
        # places in the depth of a large structure, far from any corner of a triangle, would take most of the time
        around = np.sqrt(reach**2 + longestSides(surface.target).max() ** 2 / 3)
        steps = np.floor(around * np.linalg.norm(np.linalg.inv(grid.axes), axis=1) + 0.5)
        corners = np.clip(np.rint(grid.toIndex(surface.target.points)), low, high).astype(int) - low
        near = np.zeros(inside.shape, np.uint8)
        near[tuple(corners.T[::-1])] = 1
        inside &= lookup.spreadBits(near, steps[::-1]) > 0
        return inside, -boundaries.search(number).signedDistances(grid.toWorld(np.argwhere(inside)[:, ::-1] + low))

    reach = max(limit, *sampling.pair.settings.tolerances)
    near, depths = sampling.keep(("depths", number, reach), measure)
    band = near.copy()
    band[near] = (depths > TIE_TOLERANCE) & (depths < limit)
    return band


def boundariesOf(sampling: Sampling) -> BoundaryPair:
    """Return the boundaries that reference values are measured on."""
    reach = max(sampling.pair.settings.tolerances, default=0.0)
    reference, test = sampling.structures
    return sampling.keep("unsmoothed", lambda: BoundaryPair(reference.surface, test.surface, reach))


def samples(boundaries: BoundaryPair, subdivisions: int) -> tuple[Sample, Sample]:
    """Return the distances of two boundaries as samples."""
    found = []
    for source, surface in enumerate(boundaries.surfaces):
        signed = signedDistances(boundaries, source, subdivisions)
        pieces = len(signed) // surface.count
        found.append(Sample(np.abs(signed), np.repeat(surface.sizes / pieces, pieces)))
    return found[0], found[1]


def signedDistances(boundaries: BoundaryPair, source: int, subdivisions: int) -> np.ndarray:
    """Return signed distances (n,) in mm from the centers of the pieces of one boundary's elements.

    Positive where the test lies outside the reference. subdivisions: how often elements are cut into equal pieces.
    """
    surface, target = boundaries.surfaces[source], 1 - source
    if boundaries.lattice is not None and boundaries.isLookedUp and subdivisions <= LARGEST_LATTICE_SUBDIVISIONS:
        weights = tuple(map(tuple, barycentricWeights(3, subdivisions).tolist()))
        homes, triangles = boundaries.lattice.triangles(source)
        values, numbers, _ = boundaries.lattice.measure(homes, triangles, weights)
        return values.take(numbers.T.ravel())
    points = elementCenters(surface.points, surface.cells, subdivisions)
    values = boundaries.search(target).signedDistances(points)
    # outside the reference is over-contoured for the test; the reference outside the test is under-contoured
    return -values if source == 0 and boundaries.surfaces[target].isClosed else values
