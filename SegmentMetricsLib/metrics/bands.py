"""Boundary intersection over union: overlap of the two bands just inside the contours.

The band of a structure is what lies inside it and closer than tau to its own boundary. Both bands are measured on
points with exact distances to the boundaries; what lies wholly outside, or deeper than tau, is left out beforehand.

An explicit number of pieces cuts every voxel into so many sub-voxels along each axis and asks at their centers, as in
the source. Masks on a lattice have faces parallel to these rows of points, so that such a grid errs by up to 2 %pt, in
steps. Without that number the points are spread evenly but out of step with the lattice, each cell taking its own part
of them by a hash of its index alone. They become more until the error that their halves tell of is small enough.

Source: Podobnik & Vrtovec, Metrics Revolutions, arXiv:2410.02630; Cheng et al., Boundary IoU, CVPR 2021.
"""

from __future__ import annotations

import numpy as np

from ..distances import lattice
from ..distances.surfacedistances import BoundaryPair
from ..geometry.cases import subVoxelPositions
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.surfaces import elementCenters, outwardNormals
from ..progress import checkpoint
from .bandblocks import bandFlags
from .bandlookup import Bands, cellBands
from .bandsearch import TIE_TOLERANCE, searchedBands

# Standard error of the overlap at which there are points enough, for structures of so many voxels and for smaller ones.
WANTED_ERROR, WANTED_ERROR_OF_SMALL, SMALL = 0.0007, 0.0015, 1000
# More steps than this cost more to tabulate than to search.
LARGEST_TABLE_COUNT = 400
# Bands thinner than this share of a voxel are hardly met by points in voxels: they take so many at the boundaries.
THIN, THIN_BUDGET = 0.01, 20_000
# The same where so few points in voxels have met a band that they tell too little.
THIN_IF_NEEDED, FEW = 0.05, 2000
CHUNK = 1 << 20


def bands(boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, oversampling: int | None) -> Bands:
    """Return the overlap of the bands of two closed boundaries.

    masks: the structures' voxels on one grid, which say where to look. tolerance: tau in mm, > 0.
    oversampling: sub-voxels along each axis, all of them looked at; None chooses as many as the accuracy needs.
    """
    if oversampling is None:
        if isThin(tolerance, masks[0].grid, THIN):
            return _thinBands(boundaries, tolerance)
        wanted = WANTED_ERROR if max(mask.count for mask in masks) >= SMALL else WANTED_ERROR_OF_SMALL
        if boundaries.lattice is not None:
            found = cellBands(boundaries.lattice, tolerance, wanted, boundaries.surfaces[0].slab)
            if found is not None:
                return found
        found, met = searchedBands(boundaries, masks, tolerance, wanted)
        if met < FEW and isThin(tolerance, masks[0].grid, THIN_IF_NEEDED):
            return _thinBands(boundaries, tolerance)
        return found
    pieces, slab = oversampling, boundaries.surfaces[0].slab
    voxels, near = bandCandidates(masks, tolerance)
    sampler = _LookupSampler.of(boundaries, masks, tolerance, pieces) or _SearchSampler(boundaries, masks, pieces)
    grid = masks[0].grid
    perVoxel = pieces ** (2 if grid.planar else 3)
    both = either = 0
    for first in range(0, len(voxels), max(1, CHUNK // perVoxel)):
        checkpoint()
        chosen = slice(first, first + max(1, CHUNK // perVoxel))
        multiples = subVoxels(voxels[chosen], pieces, grid.flatAxis)
        inBand = []
        for number in (0, 1):
            rows = np.flatnonzero(np.repeat(near[number][chosen], perVoxel))
            member = np.zeros(len(multiples), bool)
            member[rows] = sampler.inBand(number, multiples[rows], tolerance - TIE_TOLERANCE)
            if slab is not None:
                member[rows] &= slab.contains(grid.toWorld(multiples[rows] / subVoxelDenominator(pieces)))
            inBand.append(member)
        both += int(np.count_nonzero(inBand[0] & inBand[1]))
        either += int(np.count_nonzero(inBand[0] | inBand[1]))
    scale = grid.voxelSize / perVoxel
    return Bands(both * scale, either * scale, len(voxels) * perVoxel)


def bandCandidates(masks: tuple[Mask, Mask], tolerance: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the voxels (n, 3) that can touch either band, and for each mask which of them can touch its own."""
    low, flags = bandFlags(masks, tolerance)
    chosen = np.flatnonzero(flags[0] | flags[1])
    voxels = np.stack(np.unravel_index(chosen, flags[0].shape)[::-1], axis=1) + low
    return voxels, [f.ravel()[chosen] for f in flags]


def subVoxels(voxels: np.ndarray, pieces: int, flatAxis: int | None) -> np.ndarray:
    """Return the centers of the sub-voxels of every voxel (n, 3) as multiples (n * m, 3) of 1 / denominator.

    The denominator is that of subVoxelPositions(pieces).
    """
    axes = [axis for axis in range(3) if axis != flatAxis]
    chosen = np.stack(np.meshgrid(*[np.arange(pieces)] * len(axes), indexing="ij"), axis=-1).reshape(-1, len(axes))
    scale, shift = (1, -(pieces // 2)) if pieces % 2 else (2, 1 - pieces)
    multiples = np.repeat((voxels * (pieces * scale))[:, None, :], len(chosen), axis=1)
    multiples[..., axes] += scale * chosen + shift
    return multiples.reshape(-1, 3)


def subVoxelDenominator(pieces: int) -> int:
    """Return the denominator of subVoxels()."""
    return pieces if pieces % 2 else 2 * pieces


def isThin(tolerance: float, grid: Grid, share: float) -> bool:
    """Return whether a tolerance in mm is less than a share of a voxel's shortest side."""
    spacing = np.delete(grid.spacing, [] if grid.flatAxis is None else grid.flatAxis)
    return bool(tolerance < share * spacing.min())


def _thinBands(boundaries: BoundaryPair, tolerance: float) -> Bands:
    """Return the overlap of bands far thinner than voxels: from points just inside the boundaries themselves.

    As large as the boundaries times the tolerance; where they bend, that errs by the tolerance over the radius.
    """
    shared = sizes = 0.0
    samples = 0
    for source in (0, 1):
        surface, other = boundaries.surfaces[source], boundaries.search(1 - source)
        subdivisions = max(1, int(np.ceil(np.log2(THIN_BUDGET / len(surface.cells)) / (surface.dimension - 1))))
        centers = elementCenters(surface.points, surface.cells, subdivisions)
        pieces = len(centers) // len(surface.cells)
        volumes = np.repeat(surface.sizes / pieces, pieces) * tolerance
        # the golden ratio spreads the depths evenly
        depths = tolerance * ((np.arange(len(centers)) + 0.5) * 0.6180339887498949 % 1)
        inward = -np.repeat(outwardNormals(surface, np.arange(len(surface.cells))), pieces, axis=0)
        signed = other.signedDistances(centers + depths[:, None] * inward)
        shared += float(volumes[(signed < 0) & (signed > -tolerance)].sum()) / 2
        sizes += float(volumes.sum())
        samples += len(centers)
    return Bands(shared, sizes - shared, samples)


class _LookupSampler:
    """Tells by table lookup which points lie in a band, for unsmoothed surfaces on the grid of the masks."""

    def __init__(self, pairLattice: lattice.Lattice, offset: np.ndarray, tables: lattice.CellTables, positions):
        self.lattice, self.offset, self.tables, self.positions = pairLattice, offset, tables, positions

    @staticmethod
    def of(boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, pieces: int) -> _LookupSampler | None:
        """Return the sampler, or None where the tables do not apply or would be too many."""
        pairLattice = boundaries.lattice
        if pairLattice is None:
            return None
        reach = lattice.cellsWithin(pairLattice.grid, tolerance)
        positions = subVoxelPositions(pieces)
        tables = lattice.cellTables(pairLattice.spacing, positions, reach)
        tooFar = reach > pairLattice.reach or tolerance > tables.horizon
        if tooFar or np.count_nonzero(tables.bounds < tolerance) > LARGEST_TABLE_COUNT:
            return None
        offset = masks[0].grid.offsetOn(pairLattice.grid)
        return None if offset is None else _LookupSampler(pairLattice, np.array(offset), tables, positions)

    def inBand(self, number: int, multiples: np.ndarray, tolerance: float) -> np.ndarray:
        cells, numbers = self.lattice.split(multiples + self.offset * self.positions.denominator, self.positions)
        inside = np.flatnonzero(self.lattice.isInside(number, cells, numbers, self.tables))
        asked = number, cells[inside], numbers[inside], self.tables
        result = np.zeros(len(cells), bool)
        # centers on the boundary itself are outside, whichever side the tables take them for
        result[inside] = self.lattice.isWithin(*asked, tolerance) & ~self.lattice.isWithin(*asked, TIE_TOLERANCE)
        return result


class _SearchSampler:
    """Tells by signed distance which points lie in a band, for any closed boundaries."""

    def __init__(self, boundaries: BoundaryPair, masks: tuple[Mask, Mask], pieces: int):
        self.boundaries, self.grid = boundaries, masks[0].grid
        self.denominator = subVoxelDenominator(pieces)

    def inBand(self, number: int, multiples: np.ndarray, tolerance: float) -> np.ndarray:
        signed = self.boundaries.search(number).signedDistances(self.grid.toWorld(multiples / self.denominator))
        return (signed < -TIE_TOLERANCE) & (signed > -tolerance)
