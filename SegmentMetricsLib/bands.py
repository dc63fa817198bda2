"""Boundary intersection over union: overlap of the two bands just inside the contours.

The band of a structure is what lies inside it and closer than tau to its own boundary. Both bands are measured on
voxels cut into sub-voxels (five along each axis by default, as in the source), by exact distance to the boundaries.
Voxels that lie wholly outside, or deeper than tau, are left out beforehand. Of the others a large structure needs only
a few sub-voxels each: they are drawn evenly, by a rule that depends on the voxel alone, so that the result is always
the same and converges to that of the full grid.

Source: Podobnik & Vrtovec, Metrics Revolutions, arXiv:2410.02630; Cheng et al., Boundary IoU, CVPR 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import lattice
from .distances import BoundaryPair
from .masks import Mask
from .progress import checkpoint

# Sub-voxels along each axis of a voxel when none are asked for.
AUTOMATIC_PIECES = 5
# How many sub-voxels are looked at by table lookup and by search tree, unless an explicit number of pieces demands all.
LOOKUP_BUDGET, SEARCH_BUDGET = 300_000, 100_000
# More steps than this cost more to tabulate than to search.
LARGEST_TABLE_COUNT = 400
CHUNK = 1 << 20
# Points on a lattice lie exactly tau deep in great numbers: they are outside the band, whatever rounding says.
TIE_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Bands:
    """Sizes of the two bands' intersection and union in mm3 (mm2 for contours), and how many points decided them."""

    intersection: float
    union: float
    samples: int

    @property
    def overlap(self) -> float:
        """Intersection over union in [0, 1]; NaN when both bands are empty."""
        return self.intersection / self.union if self.union else float("nan")


def bands(boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, oversampling: int | None) -> Bands:
    """Return the overlap of the bands of two closed boundaries.

    masks: the structures' voxels on one grid, which say where to look. tolerance: tau in mm, > 0.
    oversampling: sub-voxels along each axis, all of them looked at; None chooses as many as the accuracy needs.
    """
    pieces = oversampling or AUTOMATIC_PIECES
    voxels, near = bandCandidates(masks, tolerance)
    sampler = _LookupSampler.of(boundaries, masks, tolerance, pieces) or _SearchSampler(boundaries, masks, pieces)
    grid = masks[0].grid
    axes = 2 if grid.planar else 3
    perVoxel = pieces**axes
    if oversampling is None:
        perVoxel = min(perVoxel, max(1, sampler.budget // max(1, len(voxels))))
    # counted from the structures, not from the image: cropping an image must not change the number
    corner = np.min([m.low for m in masks], axis=0)
    both = either = 0
    for first in range(0, len(voxels), max(1, CHUNK // perVoxel)):
        checkpoint()
        chosen = slice(first, first + max(1, CHUNK // perVoxel))
        multiples = subVoxels(voxels[chosen], pieces, perVoxel, grid.flatAxis, corner)
        inBand = []
        for number in (0, 1):
            rows = np.flatnonzero(np.repeat(near[number][chosen], perVoxel))
            member = np.zeros(len(multiples), bool)
            member[rows] = sampler.inBand(number, multiples[rows], tolerance - TIE_TOLERANCE)
            inBand.append(member)
        both += int(np.count_nonzero(inBand[0] & inBand[1]))
        either += int(np.count_nonzero(inBand[0] | inBand[1]))
    scale = grid.voxelSize / perVoxel
    return Bands(both * scale, either * scale, len(voxels) * perVoxel)


def bandCandidates(masks: tuple[Mask, Mask], tolerance: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the voxels (n, 3) that can touch either band, and for each mask which of them can touch its own."""
    from scipy.ndimage import maximum_filter, minimum_filter

    grid = masks[0].grid
    low = np.min([m.low for m in masks], axis=0) - 2
    high = np.max([m.high for m in masks], axis=0) + 2
    if grid.planar:
        low[grid.flatAxis] = high[grid.flatAxis] = 0
    # A voxel whose surrounding box of this half-width is all inside lies deeper than the band, whatever its sub-voxel.
    depth = np.ceil(tolerance / grid.spacing + 0.5).astype(int)
    grown = np.full(3, 3)
    if grid.planar:
        depth[grid.flatAxis], grown[grid.flatAxis] = 0, 1
    near = []
    for mask in masks:
        block = mask.block(low, high)
        outside = maximum_filter(block, grown[::-1], mode="constant")
        deep = minimum_filter(block, (2 * depth + 1)[::-1], mode="constant")
        near.append((outside > deep).ravel())
    chosen = np.flatnonzero(near[0] | near[1])
    shape = (high - low + 1)[::-1]
    voxels = np.stack(np.unravel_index(chosen, shape)[::-1], axis=1) + low
    return voxels, [n[chosen] for n in near]


def subVoxels(
    voxels: np.ndarray, pieces: int, perVoxel: int, flatAxis: int | None, corner: np.ndarray | int = 0
) -> np.ndarray:
    """Return the centers of `perVoxel` sub-voxels of every voxel (n, 3) as multiples (n * m, 3) of 1 / denominator.

    The denominator is that of lattice.subVoxelPositions(pieces). When not all sub-voxels are wanted, each voxel gets
    its own part of an evenly spread sequence, begun at a place that is a hash of the voxel's index from a corner (3,).
    """
    axes = [axis for axis in range(3) if axis != flatAxis]
    if perVoxel == pieces ** len(axes):
        chosen = np.stack(np.meshgrid(*[np.arange(pieces)] * len(axes), indexing="ij"), axis=-1).reshape(
            1, perVoxel, -1
        )
    else:
        # powers of the inverse of the root of x^(d + 1) = x + 1: evenly spread in d dimensions (Roberts 2018)
        root = {2: 1.32471795724474602596, 3: 1.22074408460575947536}[len(axes)]
        steps = np.arange(perVoxel)[:, None] * root ** -np.arange(1, len(axes) + 1)
        start = scrambled(voxels - corner)[:, None, : len(axes)]
        chosen = ((start + steps) % 1.0 * pieces).astype(np.int64)
    scale, shift = (1, -(pieces // 2)) if pieces % 2 else (2, 1 - pieces)
    multiples = np.repeat((voxels * (pieces * scale))[:, None, :], perVoxel, axis=1)
    multiples[..., axes] += scale * chosen + shift
    return multiples.reshape(-1, 3)


def scrambled(voxels: np.ndarray) -> np.ndarray:
    """Return three numbers in [0, 1) for every voxel index (n, 3), as if random but always the same (splitmix64)."""
    state = voxels.astype(np.uint64) @ np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    numbers = np.empty((len(voxels), 3))
    for column in range(3):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        numbers[:, column] = (mixed >> np.uint64(11)) / 2.0**53
    return numbers


class _LookupSampler:
    """Tells by table lookup which points lie in a band, for unsmoothed surfaces on the grid of the masks."""

    budget = LOOKUP_BUDGET

    def __init__(self, pairLattice: lattice.Lattice, offset: np.ndarray, tables: lattice.CellTables, positions):
        self.lattice, self.offset, self.tables, self.positions = pairLattice, offset, tables, positions

    @staticmethod
    def of(boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, pieces: int) -> _LookupSampler | None:
        """Return the sampler, or None where the tables do not apply or would be too many."""
        pairLattice = boundaries.lattice
        if pairLattice is None:
            return None
        reach = lattice.cellsWithin(pairLattice.grid, tolerance)
        positions = lattice.subVoxelPositions(pieces)
        tables = lattice.cellTables(pairLattice.spacing, positions, reach)
        tooFar = reach > pairLattice.reach or tolerance > tables.horizon
        if tooFar or np.count_nonzero(tables.bounds < tolerance) > LARGEST_TABLE_COUNT:
            return None
        offset = masks[0].grid.offsetOn(pairLattice.grid)
        return None if offset is None else _LookupSampler(pairLattice, np.array(offset), tables, positions)

    def inBand(self, number: int, multiples: np.ndarray, tolerance: float) -> np.ndarray:
        cells, numbers = self.lattice.split(multiples + self.offset * self.positions.denominator, self.positions)
        inside = np.flatnonzero(self.lattice.isInside(number, cells, numbers, self.tables))
        result = np.zeros(len(cells), bool)
        result[inside] = self.lattice.isWithin(number, cells[inside], numbers[inside], self.tables, tolerance)
        return result


class _SearchSampler:
    """Tells by signed distance which points lie in a band, for any closed boundaries."""

    budget = SEARCH_BUDGET

    def __init__(self, boundaries: BoundaryPair, masks: tuple[Mask, Mask], pieces: int):
        self.boundaries, self.grid = boundaries, masks[0].grid
        self.denominator = pieces if pieces % 2 else 2 * pieces

    def inBand(self, number: int, multiples: np.ndarray, tolerance: float) -> np.ndarray:
        signed = self.boundaries.search(number).signedDistances(self.grid.toWorld(multiples / self.denominator))
        return (signed < 0) & (signed > -tolerance)
