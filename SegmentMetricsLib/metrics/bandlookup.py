"""The overlap of two boundary bands by table lookup, for masks on one lattice.

A band is asked at positions spread over the cells of the lattice, whole rows of a table at a time: the squared
distances from all positions of a cell to one case of another cell lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..distances import lattice
from ..distances.bounded import Bounded
from ..geometry.lateral import Slab, alignedAxis
from ..progress import checkpoint

# Positions in a cell with tables: at first, as many as the tables' steps allow, at last for small or thin bands.
FEWEST_POSITIONS, MANY_POSITIONS, MOST_POSITIONS = 64, 512, 1024
# So many positions times steps are quickly tabulated, and so many are bearable.
QUICK_TABLE_SIZE, LARGEST_TABLE_SIZE = 16_384, 50_000
# More steps than this cost more to tabulate than to search.
LARGEST_TABLE_COUNT = 1000
# Points in memory at once; and points whose temporary arrays stay in the processor's cache.
CHUNK, ROWS_CHUNK = 1 << 20, 1 << 16


@dataclass(frozen=True)
class Bands:
    """Sizes of the two bands' intersection and union in mm3 (mm2 for contours), and how many points decided them.

    error: standard error of the overlap, None where it is not known.
    """

    intersection: float
    union: float
    samples: int
    error: float | None = None

    @property
    def overlap(self) -> float:
        """Intersection over union in [0, 1]; NaN when both bands are empty."""
        if not self.union:
            return float("nan")
        value = self.intersection / self.union
        return value if self.error is None else Bounded.within(value, 2 * self.error, 0.0, 1.0)


@dataclass(frozen=True)
class Estimate:
    """Points of both bands per group (a cell or a voxel), counted in its two halves: (n, 2) each."""

    both: np.ndarray
    either: np.ndarray

    @staticmethod
    def of(inBand: list[np.ndarray]) -> Estimate:
        """Count bands given as (n, m); the first and the second half of the m points are spread evenly each."""
        counts = []
        for member in (inBand[0] & inBand[1], inBand[0] | inBand[1]):
            halves = np.array_split(member, 2, axis=1)
            counts.append(np.stack([np.count_nonzero(half, axis=1) for half in halves], axis=1))
        return Estimate(*counts)

    @property
    def error(self) -> float:
        """Standard error of the overlap, rather too large than too small; infinite when no point is in a band."""
        union = self.either.sum()
        if not union:
            return float("inf")
        # what a group adds to the ratio's numerator beyond its share of the denominator
        excess = self.both - self.both.sum() / union * self.either
        return float(np.sqrt(((excess[:, 0] - excess[:, 1]) ** 2).sum()) / union)


def cellBands(pair: lattice.Lattice, tolerance: float, wanted: float, slab: Slab | None = None) -> Bands | None:
    """Return the overlap by table lookup, for unsmoothed surfaces on one lattice; None where tables do not serve.

    wanted: standard error of the overlap at which there are points enough. slab: only what lies in it counts.
    """
    reach = lattice.cellsWithin(pair.grid, tolerance)
    tables = lattice.cellTables(pair.spacing, spreadPositions(FEWEST_POSITIONS), reach)
    steps = np.count_nonzero(tables.bounds < tolerance)
    if reach > pair.reach or tolerance > tables.horizon or steps > LARGEST_TABLE_COUNT:
        return None
    count = int(np.clip(2 ** int(np.log2(QUICK_TABLE_SIZE / steps)), FEWEST_POSITIONS, MANY_POSITIONS))
    most = int(np.clip(2 ** int(np.log2(LARGEST_TABLE_SIZE / steps)), count, MOST_POSITIONS))
    near = bandCells(pair, tolerance)
    cells = np.flatnonzero(near[0] | near[1])
    if slab is not None:
        cells = cells[_layersOf(slab, pair, np.stack(np.unravel_index(cells, pair.shape, order="F"), axis=1))]
    near = [n[cells] for n in near]
    # counted from the structures, not from the image: cropping an image must not change the number
    index = np.stack(np.unravel_index(cells, pair.shape, order="F"), axis=1) - pair.reach
    draw = scrambled(index)[:, 0]
    # of evenly spread points the error falls with the root of the number of cells and the 2/3rd power of points in each
    guess = 1.5 * np.log2(0.4 / wanted / np.sqrt(max(1, len(cells))))
    perCell = min(count, 2 ** int(np.clip(np.ceil(guess), 1, 7)))
    while True:
        tables = lattice.cellTables(pair.spacing, spreadPositions(count if perCell <= count else most), reach)
        estimate = _cellEstimate(pair, tables, cells, near, draw, perCell, tolerance)
        error = estimate.error
        if error <= wanted or perCell >= most:
            break
        growth = min(8, (error / wanted) ** 1.5)
        perCell = min(perCell * 2 ** int(np.ceil(np.log2(growth))), most)
    if error > 2 * wanted:
        return None  # a few voxels, or a band far thinner than they are
    scale = pair.grid.voxelSize / perCell
    return Bands(estimate.both.sum() * scale, estimate.either.sum() * scale, len(cells) * perCell, error)


def _layersOf(slab: Slab, pair: lattice.Lattice, index: np.ndarray) -> np.ndarray:
    """Return which cells (n, 3), counted from the lattice's first one, lie between the first and last slice of a slab.

    A slab of one slice has one layer of cells: what goes on beyond the slab is alike everywhere.
    """
    axis = alignedAxis(pair.grid, slab.normal)
    first, last = slab.rows(pair.grid, axis)
    rows = index[:, axis] + pair.low[axis]
    return (rows >= first) & (rows < max(last, first + 1))


def _cellEstimate(pair, tables, cells, near, draw, perCell, tolerance) -> Estimate:
    """Ask `perCell` positions of every cell; the hash `draw` (n,) in [0, 1) says which part of all positions."""
    blocks = (draw * (len(tables.points) // perCell)).astype(np.intp)
    counts = []
    piece = max(1, CHUNK // perCell)
    for first in range(0, len(cells), piece):
        chosen = slice(first, first + piece)
        inBand = []
        for number in (0, 1):
            asked = near[number][chosen]
            if number == 0:
                member = np.zeros((len(asked), perCell), bool)
            else:
                member, asked = inBand[0].copy(), asked & near[2][chosen]
                member[near[2][chosen]] = False
            rows = np.flatnonzero(asked)
            member[rows] = bandMembership(
                pair, number, cells[chosen][rows], blocks[chosen][rows], perCell, tables, tolerance
            )
            inBand.append(member)
        counts.append(Estimate.of(inBand))
    return Estimate(*(np.concatenate([getattr(c, name) for c in counts]) for name in ("both", "either")))


def bandCells(pair: lattice.Lattice, limit: float) -> list[np.ndarray]:
    """Return for each mask which cells (n,) hold places inside it and closer than a limit in mm to its boundary.

    The third of the arrays tells where the masks differ so close by: elsewhere their bands are the same.
    """
    # only cells so many steps around have a gap below the limit
    reach = np.ceil(limit / np.array(pair.spacing)).astype(int)
    # one bit for every question, so that all are spread at once
    flags = (pair.codes[0] != pair.codes[1]).view(np.uint8) << np.uint8(2)
    for number, codes in enumerate(pair.codes):
        flags |= (codes - np.uint8(1) < 254).view(np.uint8) << np.uint8(number)
    around = spread(flags.reshape(pair.shape[::-1]), reach[::-1]).ravel()
    near = [(around & np.uint8(1 << number) != 0) & (codes != 0) for number, codes in enumerate(pair.codes)]
    return [*near, around & np.uint8(4) != 0]


def spread(flags: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return all bits that are set in a box around every place of a volume, so many places to either side."""
    for axis, steps in enumerate(reach):
        before, flags = np.moveaxis(flags, axis, 0), flags.copy()
        after = np.moveaxis(flags, axis, 0)
        for step in range(1, min(int(steps), len(before) - 1) + 1):
            after[step:] |= before[:-step]
            after[:-step] |= before[step:]
    return flags


def bandMembership(
    pair: lattice.Lattice,
    target: int,
    cells: np.ndarray,
    blocks: np.ndarray,
    size: int,
    tables: lattice.CellTables,
    limit: float,
) -> np.ndarray:
    """Return whether points lie inside the mask of that number and closer than a limit in mm to its boundary.

    cells, blocks: (n,) cell numbers and which aligned block of `size` positions is asked in each; the result is
    (n, size). Whole rows are looked up at a time, several times faster than single points.
    """
    if limit > tables.horizon:
        raise ValueError(f"The tables reach {tables.horizon} mm, less than {limit} mm.")
    codes = pair.codes[target]
    perCase = len(tables.points) // size
    squaredLimit = np.float32(limit**2)
    result = np.zeros((len(cells), size), bool)
    steps = np.flatnonzero(tables.bounds < limit)
    for first in range(0, len(cells), max(1, ROWS_CHUNK // size)):
        checkpoint()
        chosen = slice(first, first + max(1, ROWS_CHUNK // size))
        cell, block = cells[chosen], blocks[chosen]
        inside = tables.insideByCase.reshape(-1, size).take(codes.take(cell) * np.intp(perCase) + block, axis=0)
        within = np.zeros(inside.shape, bool)
        rows = np.flatnonzero(inside.any(axis=1))
        best = np.full((len(rows), size), np.inf, np.float32)
        buffer = np.empty_like(best)
        for position, number in enumerate(steps.tolist()):
            if position in (7, 19, 27) or (position > 27 and position % 32 == 0):
                # rows whose inside points are all within are done
                done = best < squaredLimit
                keep = (inside[rows] > done).any(axis=1)
                if keep.mean() < 0.8:
                    within[rows[~keep]] = done[~keep]
                    rows, best = rows[keep], best[keep]
                    buffer = buffer[: len(rows)]
            if not len(rows):
                break
            code = codes.take(cell[rows] + int(tables.steps[number] @ pair.strides)).astype(np.intp)
            table = tables.tableByCase(number).reshape(-1, size)
            table.take(code * perCase + block[rows], axis=0, out=buffer, mode="clip")
            np.minimum(best, buffer, out=best)
        within[rows] = best < squaredLimit
        result[chosen] = inside & within
    return result


@lru_cache(maxsize=8)
def spreadPositions(count: int) -> lattice.Positions:
    """Return positions spread evenly over the cell, in an order whose aligned blocks of 2, 4, 8 ... are even as well.

    count: a power of two. These are the first points of Sobol's sequence in three dimensions. Every one has a place of
    its own along each axis, none lies half-way across the cell, and the odd distances from the middle of that place
    keep them off the diagonals on which the triangles of masks lie.
    Source: Sobol', USSR Computational Mathematics and Mathematical Physics 7, 1967.
    """
    bits = count.bit_length() - 1
    directions = np.ones((bits, 3), np.int64)
    for bit in range(1, bits):
        directions[bit, 1] = 2 * directions[bit - 1, 1] ^ directions[bit - 1, 1]
        older = directions[bit - 2, 2]
        directions[bit, 2] = 3 if bit == 1 else 2 * directions[bit - 1, 2] ^ 4 * older ^ older
    place = np.zeros((count, 3), np.int64)
    for bit in range(bits):
        used = (np.arange(count) >> bit) & 1
        place ^= used[:, None] * (directions[bit] << (bits - 1 - bit))
    return lattice.Positions(16 * count, 16 * place + (7, 8, 10))


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
