"""Tables of the positions in a cell that lie in a band, as bits, for every case of the cell and of its neighbors."""

from __future__ import annotations

import numpy as np

from ...distances.lattice import CellTables
from ...geometry.cellcases import ofCases

# Maximum number of positions stored in one number.
WORD = 64


class BandTables:
    """The positions in a cell that lie in a structure's band, from the tables of a lattice and a tolerance in mm.

    steps: (n, 3) from cell to cell along i, j, k, nearest first; only those over which some case comes closer to a
    position than the tolerance.
    """

    def __init__(self, tables: CellTables, tolerance: float):
        if tolerance > tables.horizon:
            raise ValueError(f"The tables reach {tables.horizon} mm, less than {tolerance} mm.")
        self._tables = tables
        self.count = len(tables.points)
        # number of bits stored per entry, at least one for every position
        self.room = roomFor(self.count)
        squared = np.float32(tolerance**2)
        steps = tables.steps[tables.bounds < tolerance]
        # (n, 256, room / 8) bytes: the positions closer than the tolerance to a case one step away
        within = np.empty((len(steps), 256, self.room // 8), np.uint8)
        for step, table in zip(steps, within, strict=True):
            table[:] = ofCases(packed(tables.pieceDistances(step) < squared), np.bitwise_or)
        # bounds are those of whole cells, which come closer than their contents
        isClose = within.any(axis=(1, 2))
        self.steps, self._within = steps[isClose], within[isClose]
        self._inBlocks: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def inBlocks(self, perCell: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a table of the positions inside each case, and one per step of the positions close to a case there.

        perCell: positions tested in a cell, an aligned block of them: a power of two from 8 on, or `room`. A table has
        at 256 b + c the bits of block b for case c, in one or more numbers: its shape is (blocks * 256,), or (blocks *
        256, words) for more than 64 positions. The tables of all steps form one array.
        """
        if perCell not in self._inBlocks:
            inside = inBlocks(packed(self._tables.inside.reshape(-1, 256).T), perCell)
            within = np.empty((len(self.steps), *inside.shape), inside.dtype)
            for table, bytes_ in zip(within, self._within, strict=True):
                table[:] = inBlocks(bytes_, perCell)
            self._inBlocks[perCell] = inside, within
        return self._inBlocks[perCell]


def roomFor(count: int) -> int:
    """Return the number of bits that hold `count` flags, in one number or in several of 64 bits."""
    return max(8, 1 << (count - 1).bit_length()) if count <= WORD else -(-count // WORD) * WORD


def packed(flags: np.ndarray) -> np.ndarray:
    """Return flags (n, p) of positions as bits of bytes (n, room / 8); bits without a position are 0."""
    room = roomFor(flags.shape[1])
    bytes_ = np.zeros((len(flags), room // 8), np.uint8)
    bytes_[:, : -(-flags.shape[1] // 8)] = np.packbits(np.ascontiguousarray(flags), axis=1)
    return bytes_


def inBlocks(bytes_: np.ndarray, perCell: int) -> np.ndarray:
    """Return bits of positions (n, room / 8) in blocks of `perCell`, in the layout of BandTables.inBlocks()."""
    bits = min(perCell, WORD)
    words = bytes_.view(f"u{bits // 8}").reshape(len(bytes_), -1, perCell // bits).swapaxes(0, 1)
    return np.ascontiguousarray(words).reshape(-1, *words.shape[2:][: perCell > bits])
