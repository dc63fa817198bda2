"""Which positions in a cell lie in a band, as bits, for every case of the cell itself and of those around it."""

from __future__ import annotations

import numpy as np

from ..distances.lattice import CellTables
from ..geometry.cases import ofCases

# Positions in a number of bits, at most.
WORD = 64


class BandTables:
    """Which positions in a cell lie in a structure's band, from the tables of a lattice and a tolerance in mm.

    steps: (n, 3) from cell to cell along i, j, k, of those over which some case comes so close to a position, nearest
    first.
    """

    def __init__(self, tables: CellTables, tolerance: float):
        if tolerance > tables.horizon:
            raise ValueError(f"The tables reach {tables.horizon} mm, less than {tolerance} mm.")
        self._tables = tables
        self.count = len(tables.points)
        # bits of the numbers that hold one for every position
        self.room = roomFor(self.count)
        squared = np.float32(tolerance**2)
        steps = tables.steps[tables.bounds < tolerance]
        # (n, 256, room / 8) bytes: which positions are closer than the tolerance to a case one step away
        within = np.empty((len(steps), 256, self.room // 8), np.uint8)
        for step, table in zip(steps, within, strict=True):
            table[:] = ofCases(packed(tables.pieceDistances(step) < squared), np.bitwise_or)
        # the cells a step away come closer than what is in them
        isClose = within.any(axis=(1, 2))
        self.steps, self._within = steps[isClose], within[isClose]
        self._inBlocks: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def inBlocks(self, perCell: int) -> tuple[np.ndarray, np.ndarray]:
        """Return which positions lie inside a case, and for each step which of them are close to a case there.

        perCell: positions asked in a cell, a power of two from 8 or all there is room for: an aligned block of them.
        Every table has one or more numbers for block b and case c at 256 b + c, whose bits are positions:
        (blocks * 256,), or with more than 64 positions (blocks * 256, words). Those of the steps are in one array.
        """
        if perCell not in self._inBlocks:
            inside = inBlocks(packed(self._tables.inside.reshape(-1, 256).T), perCell)
            within = np.empty((len(self.steps), *inside.shape), inside.dtype)
            for table, bytes_ in zip(within, self._within, strict=True):
                table[:] = inBlocks(bytes_, perCell)
            self._inBlocks[perCell] = inside, within
        return self._inBlocks[perCell]


def roomFor(count: int) -> int:
    """Return how many bits hold `count` flags in one number, or in several of 64 bits."""
    return max(8, 1 << (count - 1).bit_length()) if count <= WORD else -(-count // WORD) * WORD


def packed(flags: np.ndarray) -> np.ndarray:
    """Return flags (n, p) of positions as bits of bytes (n, room / 8); those without a position are not set."""
    room = roomFor(flags.shape[1])
    bytes_ = np.zeros((len(flags), room // 8), np.uint8)
    bytes_[:, : -(-flags.shape[1] // 8)] = np.packbits(np.ascontiguousarray(flags), axis=1)
    return bytes_


def inBlocks(bytes_: np.ndarray, perCell: int) -> np.ndarray:
    """Return bits of positions (n, room / 8), so many of them a block, as BandTables.inBlocks() lays them out."""
    bits = min(perCell, WORD)
    words = bytes_.view(f"u{bits // 8}").reshape(len(bytes_), -1, perCell // bits).swapaxes(0, 1)
    return np.ascontiguousarray(words).reshape(-1, *words.shape[2:][: perCell > bits])
