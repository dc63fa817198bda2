"""Depths of the voxels inside a boundary, computed as far as they matter for the end of a band.

Searching is expensive; interpolating a voxel is cheap. Signed distances and the directions in which they grow are
searched at the corners of cells and interpolated in between. The cells are at first blocks of voxels, except for blocks
that lie entirely within the band or entirely deeper. Interpolation errs where a distance has creases and where its
curves are not of the second degree. The error is estimated by how much the corners of a cell disagree: within a smooth
piece of a distance, the values at two corners differ by the mean of the growth at both; across a crease they do not.
Parts of cells in which the error matters become cells themselves, as long as this saves more searches later
(bandsearch.py) than it costs.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np

from ...base.progress import checkpoint
from ...geometry.closest import ClosestSurface
from ...geometry.products import product
from .bandvoxels import SIDE, BandVoxels

# Approximate error of the interpolation, as a fraction of the corners' disagreement, until it is known from cut cells.
OFF = 0.25
# Weight of a cell's own disagreement in that error; the rest is the mean over all cells of its size.
OF_CELL = 0.7
# Nodes searched for every part of a cell that becomes a cell, and the fraction of the error that this removes.
NODES, GAIN = 1.7, 0.65
# The number of voxels to be searched is about the square of this factor times the ratio of the error without them to
# the wanted error.
DRAWS = 1.0
# Voxels along each side of the smallest cells, and of the parts that have a scale of their own.
SMALLEST, PART = 2, 2
# If the mean growth of depths at the corners of a cell is less, the cell is on a ridge, where two sides meet.
STEEP = 0.5
# Growth in the opposite direction, mm per mm, at a corner beyond a ridge.
AGAINST = 0.5
# Lower bound of the estimated errors of distances, as a fraction of a voxel.
LEAST_SCALE = 1e-4


class Depths:
    """Depths of the voxels inside one of two boundaries, relative to a tolerance.

    isDeep: blocks that lie entirely deeper than the tolerance. rows: for each block the row in the arrays below, -1 for
    blocks that their corners have decided. above: (n, SIDE ** d) float32, mm by which voxels are less deep than the
    tolerance, interpolated. scales: (n, (SIDE / PART) ** d) float32, approximate errors of that in mm, for parts of
    PART voxels along each side. areSteep: (n, (SIDE / PART) ** d) whether depths grow through a part from one side to
    the other, unlike at a ridge. error: approximate error of the overlap that results.
    """

    def __init__(
        self, closest: ClosestSurface, voxels: BandVoxels, number: int, tolerance: float, union: float, room: float
    ):
        """number: of the boundary. union: approximate size of both bands, mm3 (mm2). room: error left for a draw."""
        self._closest, self._voxels, self._tolerance = closest, voxels, tolerance
        self._union, self._room = union, room
        dimension = voxels.dimension
        self.isDeep = voxels.deeper(number, tolerance)
        isHolding = voxels.blocks >> np.uint8(number) & np.uint8(1) != 0
        blocks = np.stack(np.nonzero(isHolding & ~self.isDeep), axis=1)
        atCorners = self._corners(blocks, SIDE)
        depths = atCorners[:, : 2**dimension] + np.float32(tolerance)
        reach = SIDE * voxels.step * dimension**0.5 / 2
        lowest, highest = depths.min(axis=1), depths.max(axis=1)
        self.isDeep[tuple(blocks[highest < -reach].T)] = True
        mixed = np.flatnonzero((lowest <= reach) & (highest >= -reach))
        self.rows = np.full(self.isDeep.shape, -1, np.int32)
        self.rows[tuple(blocks[mixed].T)] = np.arange(len(mixed))
        self.above = np.empty((len(mixed), SIDE**dimension), np.float32)
        self.scales = np.empty((len(mixed), (SIDE // PART) ** dimension), np.float32)
        self.areSteep = np.empty(self.scales.shape, bool)
        self.error = 0.0
        self._fill(blocks[mixed], atCorners[mixed])
        np.maximum(self.scales, np.float32(LEAST_SCALE * voxels.step), out=self.scales)

    def _fill(self, cells: np.ndarray, atCorners: np.ndarray) -> None:
        """Interpolate in cells (n, d), and in parts of them that become cells. atCorners: (n, c) from _corners()."""
        if not len(cells):
            return
        dimension, step = self._voxels.dimension, self._voxels.step
        octants = cellCorners(dimension)
        rows, places = np.arange(len(cells)), np.zeros_like(cells)
        side, off = SIDE, OFF
        while True:
            checkpoint()
            disagreements = np.abs(product(atCorners, pairWeights(dimension))).mean(axis=1)
            scales = off * (OF_CELL * disagreements + (1 - OF_CELL) * float(disagreements.mean()))
            values = product(atCorners, placeWeights(dimension, side)) + np.float32(self._tolerance)
            inCells(self.above, dimension, side)[(rows, *places.T)] = values.reshape(-1, *[side] * dimension)
            isSteep = areSteep(atCorners[:, len(octants) :].reshape(-1, len(octants), dimension), side * step)
            for whole, found in ((self.scales, scales), (self.areSteep, isSteep)):
                inCells(whole, dimension, side // PART)[(rows, *places.T)] = found.reshape(-1, *[1] * dimension)
            half = side // 2
            # area of the band's end inside each part, taken as a ball, and the error of the overlap that it may cause
            middles = product(atCorners, placeWeights(dimension, 2)) + np.float32(self._tolerance)
            radii = 0.87 * half * step + scales
            passing = np.maximum(0.86 - 0.86 * (middles / radii[:, None]) ** 2, 0) * (half * step) ** (dimension - 1)
            errors = scales[:, None] * passing / self._union
            chosen = self._worthCutting(errors.ravel()) if half >= SMALLEST else np.zeros(0, int)
            self.error += float(errors.sum() - errors.ravel()[chosen].sum())
            if not len(chosen):
                return
            of, part = np.divmod(chosen, len(octants))
            rows, places, cells = rows[of], 2 * places[of] + octants[part], 2 * cells[of] + octants[part]
            before, atCorners, side = atCorners[of], self._corners(cells, half), half
            guessed = np.einsum("nk,nck->nc", before, halfwayWeights(dimension)[part])
            # each part shares one of its corners with its cell
            found = np.abs(guessed - atCorners[:, : len(octants)]).sum(axis=1) / (len(octants) - 1)
            off = float(found.mean()) / max(float(disagreements[of].mean()), 1e-12)

    def _worthCutting(self, errors: np.ndarray) -> np.ndarray:
        """Return the parts of cells that should become cells to minimize searches. errors: (n,) of the parts."""
        order = np.argsort(-errors, kind="stable")[: np.count_nonzero(errors)]
        less = np.concatenate([[0.0], np.cumsum(errors[order], dtype=float)])
        draws = (DRAWS / self._room * (self.error + less[-1] - GAIN * less)) ** 2
        return np.sort(order[: int(np.argmin(NODES * np.arange(len(less)) + draws))])

    def _corners(self, cells: np.ndarray, side: int) -> np.ndarray:
        """Return the signed distances at the corners of cells (n, d), `side` voxels wide, and their growth.

        (n, 12 or 32) float32, in the order of pointWeights(): mm, and mm along each side of the cell.
        """
        dimension = self._voxels.dimension
        if not len(cells):
            return np.zeros((0, 2**dimension * (1 + dimension)), np.float32)
        nodes, of = uniqueCorners(cells)
        signed, gradients = self._closest.signedDistancesAndGradients(self._voxels.places(side * nodes - 0.5))
        growth = product(gradients, side * self._voxels.axes)
        return np.concatenate([signed[of], growth[of].reshape(len(of), -1)], axis=1).astype(np.float32)


def areSteep(growth: np.ndarray, unit: float) -> np.ndarray:
    """Return whether depths grow through cells (n,) from one side to the other.

    growth: (n, 2 ** d, d) of the depths at the corners. unit: the growth that means 1 mm per mm.
    """
    # a sum along a short axis takes several times as long
    ofCell = np.einsum("ncd->nd", growth) / growth.shape[1]
    lengths = np.linalg.norm(ofCell, axis=1)
    # in a plate thinner than the cell, just one corner may lie on the other side
    along = np.matmul(growth, ofCell[:, :, None])[:, :, 0].min(axis=1)
    return (lengths > STEEP * unit) & (along > -AGAINST * unit * lengths)


def inCells(values: np.ndarray, dimension: int, side: int) -> np.ndarray:
    """Return a view of values in blocks (n, s ** d) as [block, cell along each axis, place in it along each axis]."""
    count = round(values.shape[1] ** (1 / dimension)) // side
    order = [0, *range(1, 2 * dimension, 2), *range(2, 2 * dimension + 1, 2)]
    return values.reshape(len(values), *[count, side] * dimension).transpose(order)


def cellCorners(dimension: int) -> np.ndarray:
    """Return the corners (2 ** d, d) of a cell, 0 or 1 along each axis, the last one fastest."""
    return np.array(list(itertools.product((0, 1), repeat=dimension)))


def uniqueCorners(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unique corners (k, d) of cells (n, d), and the indices (n, 2 ** d) of each cell's corners."""
    every = (cells[:, None] + cellCorners(cells.shape[1])).reshape(-1, cells.shape[1])
    low = every.min(axis=0)
    keys = np.ravel_multi_index((every - low).T, every.max(axis=0) - low + 1)
    _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
    return every[firsts], numbers.reshape(len(cells), -1)


@lru_cache(maxsize=16)
def placeWeights(dimension: int, side: int) -> np.ndarray:
    """Return the weights (c, side ** d) that interpolate corner data in the middle of a cell's equal parts."""
    places = (np.indices((side,) * dimension).reshape(dimension, -1).T + 0.5) / side
    return np.ascontiguousarray(pointWeights(places).T, np.float32)


@lru_cache(maxsize=2)
def halfwayWeights(dimension: int) -> np.ndarray:
    """Return the weights (2 ** d, 2 ** d, c) that interpolate corner data at the corners of half-size cells."""
    ends = cellCorners(dimension)
    places = (ends[:, None] + ends).reshape(-1, dimension) / 2
    return pointWeights(places).astype(np.float32).reshape(len(ends), len(ends), -1)


@lru_cache(maxsize=2)
def pairWeights(dimension: int) -> np.ndarray:
    """Return the weights (2 ** d * (1 + d), pairs) that turn values and growth at corners into disagreements.

    The disagreement of a pair of corners is the difference of their values less the mean growth between them, which is
    0 for curves of the second degree.
    """
    ends = cellCorners(dimension)
    columns = []
    for one, other in itertools.combinations(range(len(ends)), 2):
        values, growth = np.zeros(len(ends)), np.zeros(ends.shape)
        values[other], values[one] = 1, -1
        growth[[one, other]] = (ends[one] - ends[other]) / 2
        columns.append(np.concatenate([values, growth.ravel()]))
    return np.stack(columns, axis=1).astype(np.float32)


def pointWeights(places: np.ndarray) -> np.ndarray:
    """Return the weights (n, 2 ** d * (1 + d)) that interpolate values and growth at corners at places (n, d).

    Growth is given corner by corner, along each axis, per side of the cell. For curves of the second degree, straight
    lines between the values lie above the curve by as much as the weighted mean of the corners' tangents lies below it.
    So adding half of what the tangents add is exact.
    """
    dimension = places.shape[1]
    # of the corners' values, the last axis fastest
    weights = np.ones((len(places), 1))
    for along in places.T:
        parts = np.stack([1 - along, along], axis=1)
        weights = (weights[:, :, None] * parts[:, None]).reshape(len(places), -1)
    growth = weights[:, :, None] * (places[:, None] - cellCorners(dimension)) / 2
    return np.concatenate([weights, growth.reshape(len(places), -1)], axis=1)
