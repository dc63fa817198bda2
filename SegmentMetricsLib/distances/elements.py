"""Elements of a boundary with the distances at their nodes, and sizes and means over them; see refinement.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..geometry.edges import CORNERS_OF_SIDES
from .crossing import total
from .cutting import cutCells
from .linear import PIECES, meanMagnitude, ordered, shareBelow, shareWithin

# Corners, by node number, of the whole element and then of each of its PIECES.
WITH_PIECES = {corners: np.vstack([np.arange(corners), ofPieces]) for corners, ofPieces in PIECES.items()}
# Elements processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 13
# A limit passes next to a node if it differs from the distance there by less than this fraction of the element's bend.
NEXT_TO_NODE = 0.25


@dataclass(eq=False)
class Part:
    """A set of elements, each with its nodes: the corners, then the middles of the sides.

    values: (n,) signed distances at all points, mm. nodes: (k, 3) or (k, 6) point numbers. sizes: (k,) mm or mm2.
    halvings: (k,) how often the sides have been halved. isLeaf: (k,) whether the element has not been cut further.
    """

    values: np.ndarray
    nodes: np.ndarray
    sizes: np.ndarray
    halvings: np.ndarray
    isLeaf: np.ndarray

    @property
    def corners(self) -> int:
        return 2 if self.nodes.shape[1] == 3 else 3

    def chosen(self, rows: np.ndarray) -> Part:
        """Return some of the elements."""
        return Part(
            self.values, self.nodes.take(rows, axis=0), self.sizes[rows], self.halvings[rows], self.isLeaf[rows]
        )

    def joined(self, other: Part) -> Part:
        """Return the elements of this part and another one, whose points include the points of this part."""
        both = ((getattr(self, name), getattr(other, name)) for name in ("nodes", "sizes", "halvings", "isLeaf"))
        return Part(other.values, *map(np.concatenate, both))

    def signed(self, rows: np.ndarray | slice) -> np.ndarray:
        """Return the signed distances (nodes, c) at the nodes of some elements (c,)."""
        nodes = self.nodes[rows] if isinstance(rows, slice) else self.nodes.take(rows, axis=0)
        return self.values.take(nodes.T)

    def pieces(self) -> np.ndarray:
        """Return the corners (pieces * k, 2 or 3) of the pieces of all elements, element by element."""
        return cutCells(self.nodes)

    @cached_property
    def _summary(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The smallest and largest signed distance, and the means from the corners and from the pieces, (k,) each."""
        low, high, coarse, fine = np.empty((4, len(self.nodes)))
        for first in range(0, len(self.nodes), CHUNK):
            chosen = slice(first, first + CHUNK)
            nodes = self.signed(chosen)
            np.minimum.reduce(nodes, axis=0, out=low[chosen])
            np.maximum.reduce(nodes, axis=0, out=high[chosen])
            corners, middles = (np.add.reduce(some, axis=0) for some in (nodes[: self.corners], nodes[self.corners :]))
            # each middle is a corner of three of the four pieces of a triangle, or of both pieces of a segment
            coarse[chosen] = corners / self.corners
            fine[chosen] = (corners + 3 * middles) / 12 if self.corners == 3 else (corners + 2 * middles) / 4
        return low, high, coarse, fine

    def forget(self) -> None:
        """Free the memory of the summary."""
        self.__dict__.pop("_summary", None)

    def signedRange(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest signed distance (k,) toward one side (1 or -1)."""
        low, high = self._summary[:2]
        return (low, high) if side > 0 else (-high, -low)

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest distance (k,) on every element."""
        low, high = self._summary[:2]
        smallest, largest = -high, -low
        np.maximum(low, smallest, out=smallest)
        return np.maximum(smallest, 0, out=smallest), np.maximum(high, largest, out=largest)

    def bends(self) -> np.ndarray:
        """Return the bend (k,) in mm: how far the mean at the sides' middles is off linear interpolation of corners."""
        coarse, fine = self.signedMeans()
        bends = np.abs(np.subtract(fine, coarse))
        # undo the weight of the middles in the finer mean
        bends *= 4 / 3 if self.corners == 3 else 2
        return bends

    def signedMeans(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean signed distance (k,) on every element: from its corners alone, and from its pieces."""
        return self._summary[2:]

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean distance (k,) on every element: from its corners alone, and from its pieces."""
        low, high, *means = self._summary
        coarse, fine = map(np.abs, means)
        # exact where the sign does not change
        crossed = np.flatnonzero((low < 0) & (high > 0))
        for first in range(0, len(crossed), CHUNK):
            chosen = crossed[first : first + CHUNK]
            magnitudes = meanMagnitude(withPieces(self.signed(chosen)))
            coarse[chosen], fine[chosen] = ofWholeAndPieces(magnitudes, self.corners)
        return coarse, fine


class Passed(NamedTuple):
    """The size up to a limit, or beyond it, and what determines its error: the leaves that the limit passes through.

    size: mm or mm2. chosen: (c,) numbers of these leaves. differences: (c,) size on each from its pieces, minus that
    from the whole element. doubts: (c,) size on each that both may miss, see doubtfulShares().
    """

    size: float
    chosen: np.ndarray
    differences: np.ndarray
    doubts: np.ndarray


class Leaves:
    """The elements of two parts that have not been cut further, numbered one part after the other.

    low, high: (k,) smallest and largest distance at the nodes, mm. sizes: (k,) mm or mm2.
    """

    def __init__(self, base: Part, fine: Part):
        self.base, self.fine = base, fine
        self.rows = np.flatnonzero(base.isLeaf), np.flatnonzero(fine.isLeaf)
        self._within: dict[float, Passed] = {}
        self.low, self.high = self._joined(base.range(), fine.range())
        self.sizes, self.halvings = self._joined((base.sizes, base.halvings), (fine.sizes, fine.halvings))

    def _joined(self, first: Iterable[np.ndarray], second: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        for one, other in zip(first, second, strict=True):
            if len(other) or len(self.rows[0]) < len(one):
                yield np.concatenate([one.take(self.rows[0]), other.take(self.rows[1])])
            else:
                yield one

    def split(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the row numbers in each part of some leaves (c,), which must be in ascending order."""
        count = len(self.rows[0])
        middle = np.searchsorted(chosen, count)
        return self.rows[0][chosen[:middle]], self.rows[1][chosen[middle:] - count]

    def signed(self, chosen: np.ndarray) -> np.ndarray:
        """Return the signed distances (nodes, c) at the nodes of some leaves."""
        first, second = self.split(chosen)
        return np.concatenate([self.base.signed(first), self.fine.signed(second)], axis=1)

    def mayHold(self, limits: Sequence[float], bent: float) -> np.ndarray:
        """Return which leaves (k,) bend by more than `bent` mm and may contain one of the limits in mm."""
        bends = next(self._joined([self.base.bends()], [self.fine.bends()]))
        rows = np.flatnonzero(bends > bent)
        low, high = self.low.take(rows) - bends.take(rows), self.high.take(rows) + bends.take(rows)
        flags = np.zeros(len(bends), bool)
        for limit in limits:
            flags[rows] |= (low <= limit) & (high > limit)
        return flags

    def within(self, limit: float) -> Passed:
        """Return the size within a limit in mm, with the leaves that the limit passes through."""
        if limit not in self._within:
            found = self.passed(limit)
            whole = float(self.sizes.compress(self.high <= limit).sum())
            self._within[limit] = found._replace(size=found.size + whole)
        return self._within[limit]

    def passed(self, limit: float) -> Passed:
        """Return the size within a limit in mm, counting only the leaves that the limit passes through."""
        chosen = np.flatnonzero((self.low <= limit) & (self.high > limit))
        return self._summed(chosen, turned, lambda values: shareWithin(values, limit), limit)

    def beyond(self, limit: float, side: int) -> Passed:
        """Return the size farther than a limit in mm toward the positive (1) or negative (-1) side."""
        low, high = self._joined(*(part.signedRange(side) for part in (self.base, self.fine)))
        chosen = np.flatnonzero((low <= limit) & (high > limit))
        found = self._summed(chosen, lambda nodes: side * nodes, lambda values: 1 - shareBelow(values, limit), limit)
        return found._replace(size=found.size + float(self.sizes.compress(low > limit).sum()))

    def _summed(
        self,
        chosen: np.ndarray,
        toward: Callable[[np.ndarray], np.ndarray],
        share: Callable[[np.ndarray], np.ndarray],
        limit: float,
    ) -> Passed:
        """Return the size of the shares of some leaves (c,).

        toward: gives the distances at the nodes the sign with which they are compared with the limit. share: returns
        the share (k,) of elements from such distances (corners, k) at their corners.
        """
        coarse, fine, doubts = np.empty((3, len(chosen)))
        for first in range(0, len(chosen), CHUNK):
            part = slice(first, first + CHUNK)
            nodes = toward(self.signed(chosen[part]))
            coarse[part], fine[part] = ofWholeAndPieces(share(withPieces(nodes)), self.base.corners)
            doubts[part] = doubtfulShares(nodes, limit)
        sizes = self.sizes.take(chosen)
        return Passed(total(fine, sizes), chosen, (fine - coarse) * sizes, doubts * sizes)

    def between(self, low: float, high: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the size of the leaves up to `low`, and the ascending distances (corners, n) and sizes (n,) of pieces.

        The pieces are those of the leaves that some limit from `low` to `high`, mm, passes through.
        """
        isBelow = self.high <= low
        chosen = np.flatnonzero((self.low <= high) & ~isBelow)
        count = len(PIECES[self.base.corners])
        ascending = np.empty((self.base.corners, count, len(chosen)))
        for first in range(0, len(chosen), CHUNK):
            part = slice(first, first + CHUNK)
            for column, values in zip(ascending, ordered(pieces(turned(self.signed(chosen[part])))), strict=True):
                column[:, part] = values.reshape(count, -1)
        sizes = np.tile(self.sizes.take(chosen) / count, count)
        return float(self.sizes.compress(isBelow).sum()), ascending.reshape(len(ascending), -1), sizes


def doubtfulShares(nodes: np.ndarray, limit: float) -> np.ndarray:
    """Return the fraction of elements (c,) that may lie on the other side of a limit in mm though both estimates agree.

    Where a flat region ends in a kink and the limit is close to the distance of the flat region, whole and pieces both
    place the limit's line right beside the flat node. In truth it may run along the kink, half-way on average.
    nodes: (., c) distances at the nodes in mm.
    """
    starts, ends = CORNERS_OF_SIDES[2 if len(nodes) == 3 else 3].T
    bends = np.maximum.reduce(np.abs(nodes[-len(starts) :] - (nodes[starts] + nodes[ends]) / 2))
    ranges = np.maximum.reduce(nodes) - np.minimum.reduce(nodes)
    isNear = np.minimum.reduce(np.abs(nodes - limit)) < NEXT_TO_NODE * bends
    return np.where(isNear, bends / np.maximum(ranges, bends) / 2, 0.0)


def turned(nodes: np.ndarray) -> np.ndarray:
    """Return values at the nodes (., c) of elements, negated for elements where their sum is negative."""
    return nodes * np.copysign(1.0, np.add.reduce(nodes, axis=0))


def pieces(nodes: np.ndarray) -> np.ndarray:
    """Return the values (corners, pieces * c) at the corners of the pieces of elements from those at nodes (., c)."""
    corners = 2 if len(nodes) == 3 else 3
    return nodes[PIECES[corners].T].reshape(corners, -1)


def withPieces(nodes: np.ndarray) -> np.ndarray:
    """Return the values (corners, (1 + pieces) * c) at the corners of elements, and then at those of their pieces."""
    corners = 2 if len(nodes) == 3 else 3
    return nodes[WITH_PIECES[corners].T].reshape(corners, -1)


def ofWholeAndPieces(values: np.ndarray, corners: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values (c,) of whole elements and the means over their pieces.

    values: ((1 + pieces) * c,) in the order of withPieces(). corners: number of corners of an element.
    """
    values = values.reshape(len(WITH_PIECES[corners]), -1)
    return values[0], np.add.reduce(values[1:]) / (len(values) - 1)
