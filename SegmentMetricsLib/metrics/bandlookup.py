"""The overlap of two boundary bands by table lookup, for masks on one lattice.

A band is asked at positions spread over the cells of the lattice, 16 to 64 at a time: which of them are inside the
case of their own cell, and which are closer than tau to the case of a cell so many steps away, are the bits of one
number. The band in a cell is the "or" of a few such numbers, and its size how many bits are set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..cores import eachSideBySide, evenParts
from ..distances import lattice
from ..geometry.cases import Positions
from ..geometry.lateral import Slab, alignedAxis
from ..progress import checkpoint
from .bands import Bands
from .bandtables import WORD, BandTables

# Positions in a number of bits, at least.
SHORT_WORD = 16
# Positions in a cell with tables: as few as serve, as many as the tables' steps allow, at last for small or thin bands.
FEWEST_POSITIONS, MANY_POSITIONS, MOST_POSITIONS = WORD, 512, 1024
# So many positions times steps are quickly tabulated, and so many are bearable.
QUICK_TABLE_SIZE, LARGEST_TABLE_SIZE = 16_384, 50_000
# More steps than this cost more to tabulate than to search.
LARGEST_TABLE_COUNT = 1000
# Cells asked at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 16
# The digits to turn of so many positions along each axis: of 3,000 random choices those by which a single voxel, the
# eight corners of as many cells, has most nearly its volume, and among them the cases of all cells theirs.
TURNED = {64: (1, 35, 19), 128: (16, 43, 70), 256: (25, 97, 218), 512: (261, 92, 92), 1024: (703, 960, 864)}
# So many steps from cells to others are looked up all at once: each by itself, calls would take longer than look-ups.
AT_ONCE = 1 << 14
# Layers of cells, and cells, looked at at a time, so that temporary arrays are small beside the whole; of fewer cells
# than FEW_TO_SHARE, several threads only wait for each other.
LAYERS, CELLS, FEW_TO_SHARE = 32, 1 << 18, 1 << 21


@dataclass(frozen=True)
class Estimate:
    """Points of both bands per group (a cell or a voxel), counted in its two halves: (n, 2) each."""

    both: np.ndarray
    either: np.ndarray

    @staticmethod
    def of(inBand: list[np.ndarray]) -> Estimate:
        """Count bands given as bool (n, m); the first and the second half of the m points are spread evenly each."""
        return Estimate(*(_inHalves(member, np.count_nonzero) for member in _bothAndEither(*inBand)))

    @staticmethod
    def ofBits(inBand: list[np.ndarray]) -> Estimate:
        """Count bands given as numbers (n,) or (n, w) whose bits are points."""
        bytes_ = (member.reshape(len(member), -1).view(np.uint8) for member in _bothAndEither(*inBand))
        return Estimate(*(_inHalves(member, countedBits) for member in bytes_))

    @property
    def error(self) -> float:
        """Standard error of the overlap, rather too large than too small; infinite when no point is in a band."""
        union = self.either.sum()
        if not union:
            return float("inf")
        # what a group adds to the ratio's numerator beyond its share of the denominator
        ratio, differences = self.both.sum() / union, np.empty(len(self.both))
        for first in range(0, len(differences), CELLS):
            part = slice(first, first + CELLS)
            excess = self.both[part].astype(float) - ratio * self.either[part]
            np.subtract(excess[:, 0], excess[:, 1], out=differences[part])
        return float(np.sqrt(np.square(differences, out=differences).sum()) / union)


def _bothAndEither(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return one & other, one | other


def _inHalves(member: np.ndarray, counted) -> np.ndarray:
    half = -(-member.shape[1] // 2)
    return np.stack([counted(member[:, :half], axis=1), counted(member[:, half:], axis=1)], axis=1)


@lru_cache(maxsize=1)
def _bitCounts() -> np.ndarray:
    """(256,) how many bits of a byte are set."""
    return np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint16)


def countedBits(bytes_: np.ndarray, axis: int) -> np.ndarray:
    """Return how many bits are set in bytes, along an axis."""
    # one column after the other, as short rows are slow to reduce
    return np.add.reduce(_bitCounts().take(np.moveaxis(bytes_, axis, 0)), axis=0, dtype=np.uint16)


@lru_cache(maxsize=32)
def bandTables(spacing: tuple[float, float, float], positions: int, reach: int, tolerance: float) -> BandTables:
    """Return the tables of a spacing and a tolerance in mm, kept for the next pair of structures."""
    return BandTables(lattice.cellTables(spacing, spreadPositions(positions), reach), tolerance)


def cellBands(pair: lattice.Lattice, tolerance: float, wanted: float, slab: Slab | None = None) -> Bands | None:
    """Return the overlap by table lookup, for unsmoothed surfaces on one lattice; None where tables do not serve.

    wanted: standard error of the overlap at which there are points enough. slab: only what lies in it counts.
    """
    reach = lattice.cellsWithin(pair.grid, tolerance)
    steps = stepsWithin(pair, spreadPositions(FEWEST_POSITIONS), tolerance)
    if steps is None or steps > LARGEST_TABLE_COUNT:
        return None
    count = _within(2 ** int(np.log2(QUICK_TABLE_SIZE / steps)), FEWEST_POSITIONS, MANY_POSITIONS)
    most = _within(2 ** int(np.log2(LARGEST_TABLE_SIZE / steps)), count, MOST_POSITIONS)
    cells, near = bandCells(pair, tolerance)
    if slab is not None:
        chosen = _layersOf(slab, pair, cellIndices(pair, cells))
        cells, near = cells[chosen], near[:, chosen]
    # of evenly spread points the error falls with the root of the number of cells and the 2/3rd power of points in each
    guess = 1.5 * np.log2(0.55 / wanted / np.sqrt(max(1, len(cells))))
    perCell = int(_within(2.0 ** np.ceil(guess), SHORT_WORD, count))
    while True:
        tables = bandTables(pair.spacing, count if perCell <= count else most, reach, tolerance)
        estimate = _cellEstimate(pair, tables, cells, near, perCell)
        error = estimate.error
        if error <= wanted or perCell >= most:
            break
        growth = min(8, (error / wanted) ** 1.5)
        perCell = min(perCell * 2 ** int(np.ceil(np.log2(growth))), most)
    if error > 2 * wanted:
        return None  # a few voxels, or a band far thinner than they are
    scale = pair.grid.voxelSize / perCell
    return Bands(estimate.both.sum() * scale, estimate.either.sum() * scale, len(cells) * perCell, error)


def _within(value: float, least: float, most: float) -> float:
    return max(least, min(value, most))


def stepsWithin(pair: lattice.Lattice, positions: Positions, tolerance: float) -> int | None:
    """Return for how many steps from cell to cell a tolerance in mm needs tables; None where these do not reach."""
    reach = lattice.cellsWithin(pair.grid, tolerance)
    tables = lattice.cellTables(pair.spacing, positions, reach)
    isReached = reach <= pair.reach and tolerance <= tables.horizon
    return int(np.count_nonzero(tables.bounds < tolerance)) if isReached else None


def _layersOf(slab: Slab, pair: lattice.Lattice, index: np.ndarray) -> np.ndarray:
    """Return which cells (n, 3), counted from the lattice's first one, lie between the first and last slice of a slab.

    A slab of one slice has one layer of cells: what goes on beyond the slab is alike everywhere.
    """
    axis = alignedAxis(pair.grid, slab.normal)
    first, last = slab.rows(pair.grid, axis)
    rows = index[:, axis] + pair.low[axis]
    return (rows >= first) & (rows < max(last, first + 1))


def cellIndices(pair: lattice.Lattice, cells: np.ndarray) -> np.ndarray:
    """Return which cells (n, 3) along i, j, k those of these numbers (n,) are."""
    return np.stack(np.unravel_index(cells, pair.shape, order="F"), axis=1)


def _cellEstimate(pair, tables: BandTables, cells, near, perCell: int) -> Estimate:
    """Ask so many positions of every cell; a hash of the cell's place says which of all positions."""
    strides = tables.steps @ pair.strides

    def counted(chosen: slice) -> Estimate:
        checkpoint()
        cell = cells[chosen]
        # counted from the structures, not from the image: cropping an image must not change the number
        draw = scrambled(cellIndices(pair, cell) - pair.reach, 1)[:, 0]
        blocks = (draw * (tables.count // perCell)).astype(np.intp)

        def ask(codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
            return bandMembership(codes, strides, cell[rows], blocks[rows], tables.inBlocks(perCell))

        return Estimate.ofBits(bandsOfBoth(pair, near[:, chosen], ask))

    tables.inBlocks(perCell)  # which threads would fill once each
    counts = eachSideBySide(counted, evenParts(len(cells), max(1, CHUNK * SHORT_WORD // perCell)))
    return Estimate(*(np.concatenate([getattr(c, name) for c in counts]) for name in ("both", "either")))


def bandsOfBoth(
    pair: lattice.Lattice, near: np.ndarray, ask: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> list[np.ndarray]:
    """Return which positions in cells lie in the band of either mask, as bits (n,) or (n, words).

    near: (3, n) what bandCells() tells of the cells. ask: tells the bits (k,) of some of them, given a mask's cases on
    the lattice and which cells (k,).
    """
    (nearFirst, nearSecond, isDifferent), inBand = near, []
    for codes, isAsked in zip(pair.codes, (nearFirst, nearSecond & isDifferent), strict=True):
        rows = np.flatnonzero(isAsked)
        found = ask(codes, rows)
        inBand.append(np.zeros((len(isAsked), *found.shape[1:]), found.dtype))
        inBand[-1][rows] = found
    # where the masks do not differ so close by, their bands are the same
    inBand[1][~isDifferent] = inBand[0][~isDifferent]
    return inBand


def bandCells(pair: lattice.Lattice, limit: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells (c,) that hold places inside a mask and closer than a limit in mm to its boundary, ascending.

    And for each mask which (c,) of them hold its own; the third row (3, c) tells where the masks differ so close by:
    elsewhere their bands are the same.
    """
    # only cells so many steps around have a gap below the limit
    reach = np.ceil(limit / np.array(pair.spacing)).astype(int)
    # one bit for every question, so that all are spread at once
    around = np.empty(len(pair.codes[0]), np.uint8)
    parts = evenParts(len(around), CELLS)

    def mark(part: slice) -> None:
        # several times faster than to shift bits
        marks = (pair.codes[0][part] != pair.codes[1][part]) * np.uint8(4)
        for weight, codes in zip((1, 2), pair.codes, strict=True):
            marks += (codes[part] - np.uint8(1) < 254) * np.uint8(weight)
        around[part] = marks

    def choose(part: slice) -> tuple[np.ndarray, np.ndarray]:
        # numbers that are not 0 take ten times as long to find as what is true
        cells = np.flatnonzero((around[part] & np.uint8(3)) != 0) + part.start
        bits = around.take(cells)
        near = [(bits & np.uint8(1 << n) != 0) & (codes.take(cells) != 0) for n, codes in enumerate(pair.codes)]
        chosen = np.flatnonzero(near[0] | near[1])
        return cells.take(chosen), np.stack([*near, bits & np.uint8(4) != 0]).take(chosen, axis=1)

    isLong = len(around) > FEW_TO_SHARE
    eachSideBySide(mark, parts, isLong)
    spread(around.reshape(pair.shape[::-1]), reach[::-1])
    cells, near = zip(*eachSideBySide(choose, parts, isLong), strict=True)
    return np.concatenate(cells), np.concatenate(near, axis=1)


def spread(flags: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Set all bits that are set in a box around every place of a volume, so many places to either side; return it."""
    for axis, steps in enumerate(reach):
        lines = np.moveaxis(flags, axis, 0)
        # some at a time, as what was before has to be kept
        for first in range(0, lines.shape[1], LAYERS):
            _spreadAlong(lines[:, first : first + LAYERS], min(int(steps), len(lines) - 1))
    return flags


def _spreadAlong(lines: np.ndarray, steps: int) -> None:
    """Set all bits that are set so many places before or behind along the first axis."""
    done = 0
    while done < steps:
        # boxes that overlap make a larger one
        step = min(done + 1, steps - done)
        before = lines.copy(order="K")  # in the order of memory
        lines[step:] |= before[:-step]
        lines[:-step] |= before[step:]
        done += step


def bandMembership(
    codes: np.ndarray,
    strides: np.ndarray,
    cells: np.ndarray,
    blocks: np.ndarray,
    tables: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return which positions lie inside a mask and close to its boundary, as bits (n,) or (n, words).

    codes: the mask's cases on a lattice. strides: (s,) from a cell to that one step away, nearest first. cells, blocks:
    (n,) cell numbers and which block of positions is asked in each. tables: what BandTables.inBlocks() tells.
    """
    ofCell, within = tables
    base, lowest = blocks * 256, int(strides.min(initial=0))
    inside = ofCell.take(base + codes.take(cells), axis=0)
    result, rows = np.zeros_like(inside), np.flatnonzero(_hasBits(inside))
    # counted from a step, where the cases are the same array from another place on: nothing is to be added
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
    """Return in which rows (n,) of numbers (n,) or (n, w) a bit is set."""
    return words != 0 if words.ndim == 1 else (words != 0).any(axis=1)


@lru_cache(maxsize=8)
def spreadPositions(count: int) -> Positions:
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
    return Positions(16 * count, 16 * (place ^ TURNED.get(count, (0, 0, 0))) + (7, 8, 10))


def scrambled(voxels: np.ndarray, count: int = 3) -> np.ndarray:
    """Return numbers (n, count) in [0, 1) for voxel indices (n, 3), as if random but always the same (splitmix64)."""
    state = voxels.astype(np.uint64) @ np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    numbers = np.empty((len(voxels), count))
    for column in range(count):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        numbers[:, column] = (mixed >> np.uint64(11)) / 2.0**53
    return numbers
