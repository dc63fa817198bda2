"""The overlap of two boundary bands by table lookup, for masks on one lattice.

A band is tested at positions spread over the cells of the lattice, 16 to 64 at a time. The bits of one number show
which of them are inside the case of their own cell; the bits of others, which are closer than tau to the case of a cell
a given step away. The band in a cell is the "or" of a few of the latter within the former, and its size is the number
of set bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np

from ...base.parallel import eachSideBySide
from ...base.progress import chunks
from ...distances.lattice import CellTables, Lattice, cellsWithin, cellTables
from ...geometry.cellcases import Positions, cases, ofCases
from ...geometry.slabs import Slab, alignedAxis
from ...geometry.triangles import TriangleSet
from . import Bands

# Minimum and maximum number of positions stored in one number.
SHORT_WORD, WORD = 16, 64
# Positions per cell in tables: at least, at most at first, and at most for small or thin bands; fewer if there are many
# steps.
FEWEST_POSITIONS, MANY_POSITIONS, MOST_POSITIONS = WORD, 512, 1024
# Positions times steps that are tabulated quickly, and in acceptable time.
QUICK_TABLE_SIZE, LARGEST_TABLE_SIZE = 16_384, 50_000
# Above this many steps, tabulating costs more than searching.
LARGEST_TABLE_COUNT = 1000
# Cells processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 16
# Bits to flip along each axis, by number of positions. Of 3,000 random choices, those for which the volume of a single
# voxel, which is the corner of eight cells, is most accurate, and among these the volumes of all cases.
TURNED = {64: (1, 35, 19), 128: (16, 43, 70), 256: (25, 97, 218), 512: (261, 92, 92), 1024: (703, 960, 864)}
# Up to this many steps from cells to others are looked up in one call: step by step, calls would take longer than
# look-ups.
AT_ONCE = 1 << 14
# Layers of cells, and cells, processed at a time, so that temporary arrays are small compared with the whole. Up to
# FEW_TO_SHARE cells, several threads would only wait for each other.
LAYERS, CELLS, FEW_TO_SHARE = 32, 1 << 18, 1 << 21


@dataclass(frozen=True)
class Estimate:
    """Points in both bands and in either, per group (a cell or a voxel) and half of its points: (n, 2) each."""

    both: np.ndarray
    either: np.ndarray

    @staticmethod
    def of(inBand: list[np.ndarray]) -> Estimate:
        """Count bands given as numbers (n,) or (n, w) whose bits are points. Each half must be spread evenly."""
        halves = []
        for member in (inBand[0] & inBand[1], inBand[0] | inBand[1]):
            counts = _bitCounts().take(member.reshape(len(member), -1).view(np.uint8).T)
            # column by column: NumPy is slow to reduce along a short axis
            halves.append([np.add.reduce(half, dtype=np.uint16) for half in np.split(counts, 2)])
        return Estimate(*(np.stack(columns, axis=1) for columns in halves))

    @property
    def error(self) -> float:
        """Standard error of the overlap, over- rather than underestimated; infinite if no point is in a band."""
        union = self.either.sum()
        if not union:
            return float("inf")
        # each group's excess in the ratio's numerator over its share of the denominator
        ratio = self.both.sum() / union
        one, other = (both.astype(float) - ratio * either for both, either in zip(self.both.T, self.either.T))
        return float(np.sqrt(np.square(one - other).sum()) / union)


@lru_cache(maxsize=1)
def _bitCounts() -> np.ndarray:
    """(256,) number of set bits of every byte."""
    return np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint16)


class BandTables:
    """The positions in a cell that lie in a structure's band, as bits, for every case of the cell and of its neighbors.

    tables: of a lattice, with a power of two of positions. tolerance: in mm. steps: (n, 3) from cell to cell along i,
    j, k, nearest first; only those over which some case comes closer to a position than the tolerance.
    """

    def __init__(self, tables: CellTables, tolerance: float):
        if tolerance > tables.horizon:
            raise ValueError(f"The tables reach {tables.horizon} mm, less than {tolerance} mm.")
        self._tables = tables
        self.count = len(tables.points)
        squared = np.float32(tolerance**2)
        steps = tables.steps[tables.bounds < tolerance]
        # (n, 256, count / 8) bytes: the positions closer than the tolerance to a case one step away
        within = np.empty((len(steps), 256, self.count // 8), np.uint8)
        pieces = TriangleSet(cases().triangles * tables.spacing)
        for step, table in zip(steps, within, strict=True):
            # the triangles stay where they are: the points move the other way
            away = tables.distancesTo(pieces, tables.points - step * tables.spacing)
            table[:] = ofCases(np.packbits(away < squared, axis=1), np.bitwise_or)
        # bounds are those of whole cells, which come closer than their contents
        isClose = within.any(axis=(1, 2))
        self.steps, self._within = steps[isClose], within[isClose]
        self._inBlocks: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def inBlocks(self, perCell: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a table of the positions inside each case, and one per step of the positions close to a case there.

        perCell: positions tested in a cell, an aligned block of them: a power of two from 8 on. A table has the bits of
        block b for case c at 256 b + c, in one or more numbers: its shape is (blocks * 256,), or (blocks * 256, words)
        for more than 64 positions. The tables of all steps form one array.
        """
        if perCell not in self._inBlocks:
            bits = min(perCell, WORD)

            def arrange(bytes_: np.ndarray) -> np.ndarray:
                words = bytes_.view(f"u{bits // 8}").reshape(256, -1, perCell // bits).swapaxes(0, 1)
                return np.ascontiguousarray(words).reshape(-1, *words.shape[2:][: perCell > bits])

            inside = arrange(np.packbits(self._tables.inside.reshape(-1, 256), axis=0).T.copy())
            within = np.empty((len(self.steps), *inside.shape), inside.dtype)
            for table, bytes_ in zip(within, self._within, strict=True):
                table[:] = arrange(bytes_)
            self._inBlocks[perCell] = inside, within
        return self._inBlocks[perCell]


@lru_cache(maxsize=32)
def bandTables(spacing: tuple[float, float, float], positions: Positions, reach: int, tolerance: float) -> BandTables:
    """Return the tables of a spacing and a tolerance in mm, cached for the next pair of structures."""
    return BandTables(cellTables(spacing, positions, reach), tolerance)


def cellBands(pair: Lattice, tolerance: float, wanted: float, slab: Slab | None = None) -> Bands | None:
    """Return the overlap by table lookup, for unsmoothed surfaces on one lattice; None if tables are unsuitable.

    wanted: standard error of the overlap to be reached. slab: limits the cells that count; None for all.
    """
    reach = cellsWithin(pair.grid, tolerance)
    tables = cellTables(pair.spacing, spreadPositions(FEWEST_POSITIONS), reach)
    steps = int(np.count_nonzero(tables.bounds < tolerance))
    if reach > pair.reach or tolerance > tables.horizon or steps > LARGEST_TABLE_COUNT:
        return None
    count = int(np.clip(2 ** int(np.log2(QUICK_TABLE_SIZE / steps)), FEWEST_POSITIONS, MANY_POSITIONS))
    most = int(np.clip(2 ** int(np.log2(LARGEST_TABLE_SIZE / steps)), count, MOST_POSITIONS))
    cells, near = bandCells(pair, tolerance)
    if slab is not None:
        chosen = _layersOf(slab, pair, cellIndices(pair, cells))
        cells, near = cells[chosen], near[:, chosen]
    # with evenly spread points, the error falls with the root of the number of cells and the 2/3 power of points in
    # each
    guess = 1.5 * np.log2(0.55 / wanted / np.sqrt(max(1, len(cells))))
    perCell = int(np.clip(2.0 ** np.ceil(guess), SHORT_WORD, count))
    while True:
        used = bandTables(pair.spacing, spreadPositions(count if perCell <= count else most), reach, tolerance)
        estimate = _cellEstimate(pair, used, cells, near, perCell)
        error = estimate.error
        if error <= wanted or perCell >= most:
            break
        growth = min(8, (error / wanted) ** 1.5)
        perCell = min(perCell * 2 ** int(np.ceil(np.log2(growth))), most)
    if error > 2 * wanted:
        return None  # only a few voxels, or a band far thinner than voxels
    scale = pair.grid.voxelSize / perCell
    return Bands(estimate.both.sum() * scale, estimate.either.sum() * scale, error)


def _layersOf(slab: Slab, pair: Lattice, index: np.ndarray) -> np.ndarray:
    """Return whether cells, given by index (n, 3) in the lattice, lie between the first and last slice of a slab.

    A slab of one slice has one layer of cells, because structures continue unchanged beyond the slab.
    """
    axis = cast(int, alignedAxis(pair.grid, slab.normal))
    first, last = slab.rows(pair.grid, axis)
    rows = index[:, axis] + pair.low[axis]
    return (rows >= first) & (rows < max(last, first + 1))


def cellIndices(pair: Lattice, cells: np.ndarray) -> np.ndarray:
    """Return the indices (n, 3) along i, j, k of cells, given by number (n,)."""
    return np.stack(np.unravel_index(cells, pair.shape, order="F"), axis=1)


def _cellEstimate(pair: Lattice, tables: BandTables, cells: np.ndarray, near: np.ndarray, perCell: int) -> Estimate:
    """Test `perCell` positions in every cell; a hash of the cell's place selects them from all positions.

    cells, near: from bandCells().
    """
    strides = tables.steps @ pair.strides

    def countPart(chosen: slice) -> Estimate:
        cell = cells[chosen]
        # relative to the structures, not to the image: cropping an image must not change the result
        draw = scramble(cellIndices(pair, cell) - pair.reach)
        blocks = (draw * (tables.count // perCell)).astype(np.intp)
        (nearFirst, nearSecond, isDifferent), inBand = near[:, chosen], []
        for codes, isAsked in zip(pair.codes, (nearFirst, nearSecond & isDifferent), strict=True):
            rows = np.flatnonzero(isAsked)
            found = bandMembership(codes, strides, cell[rows], blocks[rows], tables.inBlocks(perCell))
            inBand.append(np.zeros((len(cell), *found.shape[1:]), found.dtype))
            inBand[-1][rows] = found
        # where the masks do not differ nearby, their bands are the same
        inBand[1][~isDifferent] = inBand[0][~isDifferent]
        return Estimate.of(inBand)

    tables.inBlocks(perCell)  # fills the cache, or every thread would
    counts = eachSideBySide(countPart, chunks(len(cells), max(1, CHUNK * SHORT_WORD // perCell)))
    return Estimate(*(np.concatenate([getattr(c, name) for c in counts]) for name in ("both", "either")))


def bandCells(pair: Lattice, limit: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells (c,), ascending, that may hold places inside a mask and within a limit in mm of its boundary.

    Also returns three flags (3, c) of these cells: whether they may hold such places of the first mask, of the second,
    and whether the masks differ that close by; if not, their bands are the same.
    """
    # only cells within this many steps have a gap below the limit
    reach = np.ceil(limit / np.array(pair.spacing)).astype(int)
    # one bit per flag, so that all are spread at once
    around = np.empty(len(pair.codes[0]), np.uint8)
    parts = list(chunks(len(around), CELLS))

    def mark(part: slice) -> None:
        # several times faster than shifting bits
        marks = (pair.codes[0][part] != pair.codes[1][part]) * np.uint8(4)
        for weight, codes in zip((1, 2), pair.codes, strict=True):
            marks += (codes[part] - np.uint8(1) < 254) * np.uint8(weight)
        around[part] = marks

    def choose(part: slice) -> tuple[np.ndarray, np.ndarray]:
        # finding nonzero numbers takes ten times as long as finding True
        cells = np.flatnonzero((around[part] & np.uint8(3)) != 0) + part.start
        bits = around.take(cells)
        near = [(bits & np.uint8(1 << n) != 0) & (codes.take(cells) != 0) for n, codes in enumerate(pair.codes)]
        chosen = np.flatnonzero(near[0] | near[1])
        return cells.take(chosen), np.stack([*near, bits & np.uint8(4) != 0]).take(chosen, axis=1)

    isLong = len(around) > FEW_TO_SHARE
    eachSideBySide(mark, parts, isLong)
    spreadBits(around.reshape(pair.shape[::-1]), reach[::-1])
    cells, near = zip(*eachSideBySide(choose, parts, isLong), strict=True)
    return np.concatenate(cells), np.concatenate(near, axis=1)


def spreadBits(flags: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Set at every place of a volume the bits set within `reach` places along each axis, in place; return it."""
    for axis, steps in enumerate(reach):
        lines = np.moveaxis(flags, axis, 0)
        # in batches, because each needs a copy of what was before
        for first in range(0, lines.shape[1], LAYERS):
            _spreadAlong(lines[:, first : first + LAYERS], min(int(steps), len(lines) - 1))
    return flags


def _spreadAlong(lines: np.ndarray, steps: int) -> None:
    """Set at every place the bits set within `steps` places before or behind along the first axis, in place."""
    done = 0
    while done < steps:
        # overlapping boxes form a larger one
        step = min(done + 1, steps - done)
        before = lines.copy(order="K")  # in the order of memory
        lines[step:] |= before[:-step]
        lines[:-step] |= before[step:]
        done += step


def bandMembership(
    codes: np.ndarray, strides: np.ndarray, cells: np.ndarray, blocks: np.ndarray, tables: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the positions inside a mask and close to its boundary, as bits (n,) or (n, words).

    codes: the mask's cases on a lattice. strides: (s,) from a cell to the cell each step away, nearest first. cells,
    blocks: (n,) numbers of cells and of the block of positions tested in each. tables: from BandTables.inBlocks().
    """
    ofCell, within = tables
    base, lowest = blocks * 256, int(strides.min(initial=0))
    inside = ofCell.take(base + codes.take(cells), axis=0)
    result, rows = np.zeros_like(inside), np.flatnonzero(_hasBits(inside))
    # relative to the lowest step, so that each step is a view of the cases from another start, without an addition
    cells, base, wanted = cells[rows] + lowest, base[rows], inside[rows]
    found = np.zeros_like(wanted)
    for number, stride in enumerate(strides.tolist()):
        if number in (0, 1, 7, 19, 27) or (number > 27 and number % 16 == 0):
            isOpen = np.flatnonzero(_hasBits(wanted & ~found))
            if len(isOpen) < 0.8 * len(rows):
                result[rows] = found
                rows, cells, base, wanted, found = (x.take(isOpen, axis=0) for x in (rows, cells, base, wanted, found))
            if len(rows) * (len(strides) - number) <= AT_ONCE:
                index = codes.take(cells + (strides[number:, None] - lowest), mode="clip") + base
                index += len(ofCell) * np.arange(len(index))[:, None]
                left = within[number:].reshape(-1, *ofCell.shape[1:])
                found |= np.bitwise_or.reduce(left.take(index, axis=0, mode="clip"), axis=0)
                break
            case, index, bits = np.empty(len(cells), codes.dtype), np.empty_like(base), np.empty_like(found)
        codes[stride - lowest :].take(cells, out=case, mode="clip")
        np.add(base, case, out=index)
        found |= within[number].take(index, axis=0, out=bits, mode="clip")
    result[rows] = found
    return result & inside


def _hasBits(words: np.ndarray) -> np.ndarray:
    """Return whether a bit is set in each row (n,) of numbers (n,) or (n, w)."""
    return words != 0 if words.ndim == 1 else (words != 0).any(axis=1)


@lru_cache(maxsize=8)
def spreadPositions(count: int) -> Positions:
    """Return positions spread evenly over the cell, in an order whose aligned blocks of 2, 4, 8 ... are even as well.

    count: a power of two. These are the first points of Sobol's sequence in three dimensions. Along each axis, every
    point has an interval of its own and none lies half-way across the cell. Odd offsets from the middle of the interval
    keep the points off the diagonals on which the triangles of masks lie.
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
    return Positions(16 * count, 16 * (place ^ TURNED.get(count, (0, 0, 0))) + (7, 8, 10))


def scramble(voxels: np.ndarray) -> np.ndarray:
    """Return reproducible pseudorandom numbers (n,) in [0, 1) for voxel indices (n, 3), by splitmix64."""
    state = voxels.astype(np.uint64) @ np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    state = state + np.uint64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(11)) / 2.0**53
