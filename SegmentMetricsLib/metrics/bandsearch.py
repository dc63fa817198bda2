"""The overlap of two boundary bands by search, for any two closed boundaries.

The idea
--------
A search is dear, a point is cheap. The signed distances of both boundaries are searched at the corners of cells, about
as wide as the bands, and interpolated in between, along with the directions in which they grow: so hundreds of
thousands of points, spread evenly, tell nearly whether they lie in a band. Nearly, because a distance has creases and
its curves are not of the second degree. Where it matters, at points whose interpolated distance is close to a border of
a band, some of them drawn by lot are searched as well, and what the interpolation got wrong there is corrected, each
time for as many points as the drawn one stands for. The result is free of any error of the interpolation but for chance
(a control variate, with the sampling of Horvitz and Thompson, doi:10.1080/01621459.1952.10483446), and chance tells how
large it is: more are drawn until that is small enough (lottery.py).

How likely the interpolation is wrong at a point follows from how far off it was at some points of a first draw, each
measured by how little the corners of its own cell agree with each other: between the corners of a smooth piece of a
distance the mean of the growth at two of them is what the values differ by, across a crease it is not.
"""

from __future__ import annotations

import itertools
from functools import lru_cache, partial

import numpy as np

from ..cores import eachSideBySide, sideBySide
from ..distances.surfacedistances import BoundaryPair
from ..geometry.masks import Mask
from ..geometry.products import product
from ..progress import checkpoint
from .bandblocks import bandBlocks
from .bandlookup import Bands, Estimate, scrambled, spreadPositions
from .lottery import IN_OTHER, NOWHERE, Corrections, Lottery, Trust

# Corners of cells lie on faces of surfaces of masks, exactly on a border of a band: they are outside, whatever rounding
# says. In mm, for tolerances below 1 mm as a share of them.
TIE_TOLERANCE = 1e-5
# Cells at whose corners is searched, about: as many as elements of both boundaries, but at least and at most so many;
# and into how many a voxel is cut along each axis for that at most.
FEWEST_CELLS, MOST_CELLS, MOST_PIECES = 5000, 10_000, 6
# How far from the corners of a cell is searched, as a share of its sides: where boundaries follow the lattice, corners
# are equally near to two parts of them, and rounding would decide which one is told of.
ASIDE = np.array([0.0031, -0.0047, 0.0059])
# Points in all, interpolated: at first, and at most where those do not suffice.
POINTS, LARGEST_POINTS = 150_000, 4_000_000
# Searches of each boundary in the first draw; of both in the second one at least, and at most where those do not
# suffice.
FIRST_DRAW, SECOND_DRAW, LARGEST_DRAW = 600, 2500, 800_000
# The first draw asks the points closest to a border among so many times as many.
CLOSEST_OF = 32
# Margins are told in steps of this share of a cell's longest side.
STEP = 2.0**-13
# Parts of the wanted error that the spread of the points and, at least, the draw may have; and both together, a little
# less than all of it, as a draw ends sooner where its error seems small by chance.
SPREAD_SHARE, DRAW_SHARE, BOTH_SHARE = 0.6, 0.7, 0.95
# Different places in cells: at least, and for every point of a cell. Where boundaries follow the lattice, the same
# places in all cells would err alike in all of them, which no comparison of cells tells. Points in a cell are a power
# of two, at most so many as the first.
PLACES, PLACES_PER_POINT = 512, 8
# Fewer points are not worth a thread for each boundary.
FEW_TO_SHARE = 4000
# Points interpolated at a time.
CHUNK = 1 << 17


def searchedBands(
    boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, wanted: float
) -> tuple[Bands, int]:
    """Return the overlap of the bands of two closed boundaries, and how many of the points have met either band.

    masks: the voxels on one grid, which say where to look. tolerance: tau in mm, > 0. wanted: standard error of the
    overlap at which there are points enough.
    """
    cells = Cells(boundaries, masks, tolerance)
    most = powerOfTwo(LARGEST_POINTS / max(1, len(cells.numbers)))
    perCell = min(powerOfTwo(POINTS / max(1, len(cells.numbers))), most)
    while True:
        points = Points(cells, perCell)
        estimate = Estimate.of(points.inBand)
        if estimate.error <= SPREAD_SHARE * wanted or perCell >= most:
            break
        # the error of evenly spread points falls with the 2/3rd power of their number
        growth = min((1.1 * estimate.error / (SPREAD_SHARE * wanted)) ** 1.5, 32)
        perCell = min(powerOfTwo(perCell * growth), most)
    # what the spread does not take of the error is left to the draw
    left = float(np.sqrt(max((BOTH_SHARE * wanted) ** 2 - estimate.error**2, (DRAW_SHARE * wanted) ** 2)))
    lottery, most = points.firstDraw(estimate), min(LARGEST_DRAW, 2 * points.count)
    factor = lottery.within(lottery.factorFor(left * max(1.0, float(estimate.either.sum()))), SECOND_DRAW, most)
    while True:
        both, either, error = points.corrected(estimate, lottery, factor)
        more = lottery.within(factor * np.clip((error / left) ** 2, 1.1, 8), 0, most)
        # no more than most, whatever rounding makes of it, nor where there is nothing to draw
        if error <= left or more <= factor:
            break
        factor = more
    scale = cells.size / perCell
    error = float(np.hypot(error, estimate.error))
    return Bands(both * scale, either * scale, points.count, error), int(estimate.either.sum())


def powerOfTwo(count: float) -> int:
    """Return the least power of two that is not less, from 4 to PLACES."""
    return int(np.clip(2 ** np.ceil(np.log2(max(count, 1))), 4, PLACES))


class Cells:
    """Cells that can touch either band, with the signed distances at their corners.

    numbers: (n, 3) which cells, counted from the structures. near: for each boundary whether a cell can touch its band.
    corners: for each boundary what pointWeights() weighs, (n, 12 or 32) float32: the signed distances in mm at the
    corners, and how they grow there along each side of the cell; of no meaning where the cell is not near. doubts: for
    each boundary by how much these disagree in mm, (n,) float32.
    size: of a cell in mm3 (mm2). tie: how close in mm to a border of a band counts as on it.
    """

    def __init__(self, boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float):
        self.boundaries, self.grid, self.tolerance = boundaries, masks[0].grid, tolerance
        self.tie = TIE_TOLERANCE * min(1.0, tolerance)
        self.axes = [axis for axis in range(3) if axis != self.grid.flatAxis]
        elements = sum(len(surface.cells) for surface in boundaries.surfaces)
        count = min(max(elements, FEWEST_CELLS), MOST_CELLS)
        blocks, centers, near, sides = bandBlocks(masks, tolerance, count)
        room = (count / max(1, len(blocks))) ** (1 / len(self.axes))
        pieces = np.ones(3, int)
        pieces[self.axes] = int(np.clip(round(room), 1, MOST_PIECES))
        parts = np.array(list(itertools.product(*map(range, pieces))))
        self.numbers = (blocks[:, None] * pieces + parts).reshape(-1, 3)
        self.near = [np.repeat(n, len(parts)) for n in near]
        self.sides = sides / pieces
        self.centers = (centers[:, None] + sides * ((parts + 0.5) / pieces - 0.5)).reshape(-1, 3)
        self.size = self.grid.voxelSize * float(self.sides.prod())
        self.corners = self._searchCorners()
        pairs = pairWeights(len(self.axes)).astype(np.float32)
        self.doubts = [np.abs(product(corners, pairs)).mean(axis=1) for corners in self.corners]

    def _searchCorners(self) -> list[np.ndarray]:
        steps = np.zeros((2 ** len(self.axes), 3), int)
        steps[:, self.axes] = list(itertools.product((0, 1), repeat=len(self.axes)))
        nodes = (self.numbers[:, None] + steps).reshape(-1, 3)
        shape = nodes.max(axis=0, initial=0) + 1
        nodes = np.ravel_multi_index(nodes.T, shape)
        # a corner of several cells is searched once, where the first one of them has it
        of, first = np.zeros(int(shape.prod()), np.intp), np.arange(len(nodes))
        of[nodes[::-1]] = first[::-1]
        first = first[of[nodes] == first]
        of[nodes[first]] = np.arange(len(first))
        of = of[nodes].reshape(-1, len(steps))
        corners = self.centers[:, None] + self.sides * np.where(np.isin(range(3), self.axes), steps - 0.5 + ASIDE, 0.0)
        places = self.grid.toWorld(corners.reshape(-1, 3)[first])
        alongSides = (self.grid.axes * self.sides)[:, self.axes]

        def searched(number: int) -> np.ndarray:
            asked = np.zeros(len(places), bool)
            asked[of[self.near[number]]] = True
            signed, growth = np.zeros(len(places), np.float32), np.zeros((len(places), len(self.axes)), np.float32)
            signed[asked], gradients = self.boundaries.search(number).signedDistancesAndGradients(places[asked])
            growth[asked] = product(gradients, alongSides)
            return np.concatenate([signed[of], growth[of].reshape(len(of), -1)], axis=1)

        return eachSideBySide(searched, (0, 1))

    def weightsAt(self, places: np.ndarray) -> np.ndarray:
        """Return which weights (n, 12 or 32) of corners make the signed distances at places (n, 2 or 3) in cells."""
        return pointWeights(places - ASIDE[self.axes])


class Points:
    """Points spread over cells, so many in each, and what the distances at the cells' corners make of them.

    perCell: a power of two. inBand: for each boundary which points (n, perCell) seem to lie in its band. codes: for
    each boundary (n, perCell) uint16: how far the next border of its band is, by interpolation, as Lottery has it.
    """

    def __init__(self, cells: Cells, perCell: int):
        self.cells, self.perCell = cells, perCell
        shape = len(cells.numbers), perCell
        self.count = shape[0] * perCell
        # every cell takes a part of the same places, which one by a hash
        self._places = spreadPlaces(len(cells.axes), max(PLACES, PLACES_PER_POINT * perCell))
        self._blocks = (scrambled(cells.numbers)[:, 0] * (len(self._places) // perCell)).astype(np.intp)
        self.inBand = [np.zeros(shape, bool) for _ in (0, 1)]
        self._step = STEP * float((cells.sides * cells.grid.spacing)[cells.axes].max())
        self.codes = [np.full(shape, NOWHERE, np.uint16) for _ in (0, 1)]
        weights = cells.weightsAt(self._places).astype(np.float32).reshape(-1, perCell, cells.corners[0].shape[1])
        order = np.argsort(self._blocks, kind="stable")
        ends = np.searchsorted(self._blocks[order], np.arange(len(weights) + 1))
        for block, (first, last) in enumerate(itertools.pairwise(ends.tolist())):
            for start in range(first, last, max(1, CHUNK // perCell)):
                checkpoint()
                self._interpolate(order[start : min(start + max(1, CHUNK // perCell), last)], weights[block])
        # by lot, always the same
        self._lots = np.random.default_rng(0).random(self.count, np.float32)
        self._searched = [np.zeros(self.count, bool) for _ in (0, 1)]
        self._found = [np.zeros(self.count, bool) for _ in (0, 1)]

    def _interpolate(self, rows: np.ndarray, weights: np.ndarray) -> None:
        """Tell what the corners of cells (k,) with the same places make of these; weights: (perCell, corners)."""
        inSlab = self._inSlab(rows)
        half = np.float32(self.cells.tolerance / 2)
        for number in (0, 1):
            near = self.cells.near[number][rows]
            chosen = rows[near]
            aside = product(self.cells.corners[number][chosen], weights.T)
            # from the middle of the band, then from the nearer one of its borders, 0 and minus the tolerance
            aside += half
            np.abs(aside, out=aside)
            member = aside < half - np.float32(self.cells.tie)
            self.inBand[number][chosen] = member if inSlab is None else member & inSlab[near]
            aside -= half
            np.abs(aside, out=aside)
            aside *= np.float32(1 / self._step)
            self.codes[number][chosen] = np.minimum(aside, np.float32(NOWHERE - 1), out=aside)
        for number in (0, 1):
            self.codes[number][rows] += self.inBand[1 - number][rows] * np.uint16(IN_OTHER)

    def _member(self, signed: np.ndarray) -> np.ndarray:
        return (signed < -self.cells.tie) & (signed > self.cells.tie - self.cells.tolerance)

    def _inSlab(self, rows: np.ndarray) -> np.ndarray | None:
        slab = self.cells.boundaries.surfaces[0].slab
        if slab is None:
            return None
        which = np.arange(self.perCell)
        return slab.contains(self._at(rows[:, None], which).reshape(-1, 3)).reshape(len(rows), -1)

    def _at(self, rows: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return the LPS points (..., 3) in mm of these numbers (...) in cells (...)."""
        places = self._places[self._blocks[rows] * self.perCell + which]
        offsets = np.zeros((*places.shape[:-1], 3))
        offsets[..., self.cells.axes] = places - 0.5
        index = self.cells.centers[rows] + self.cells.sides * offsets
        return self.cells.grid.toWorld(index.reshape(-1, 3)).reshape(index.shape)

    def firstDraw(self, estimate: Estimate) -> Lottery:
        """Search at some points, and return with which chances to draw more, as they tell how far off they are."""
        some = np.flatnonzero(self._lots < CLOSEST_OF * FIRST_DRAW / self.count)
        drawn = []
        for codes in self.codes:
            margins = codes.ravel()[some] & np.uint16(NOWHERE)
            closest = np.argsort(margins, kind="stable")[:FIRST_DRAW]
            drawn.append(np.sort(some[closest[margins[closest] < NOWHERE]]))
        trusts = []
        for number, (points, signed) in enumerate(self._search(drawn)):
            rows, which = np.divmod(points, self.perCell)
            weights = self.cells.weightsAt(self._places[self._blocks[rows] * self.perCell + which])
            off = np.abs((self.cells.corners[number][rows] * weights).sum(axis=1) - signed)
            trusts.append(Trust.of(self.cells.doubts[number], rows, off, self.cells.tie))
        overlap = float(estimate.both.sum() / max(1, estimate.either.sum()))
        return Lottery(self._lots, self.codes, self._step, trusts, overlap)

    def _search(self, drawn: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Search each boundary at points (k,), keep what is found, and return the points near it and the distances."""
        cells, slab = self.cells, self.cells.boundaries.surfaces[0].slab
        chosen = [points[cells.near[n][points // self.perCell]] for n, points in enumerate(drawn)]
        places = [self._at(*np.divmod(points, self.perCell)) for points in chosen]
        searches = [partial(cells.boundaries.search(n).signedDistances, places[n]) for n in (0, 1)]
        results = sideBySide(searches, max(map(len, chosen)) > FEW_TO_SHARE)
        for number, signed in enumerate(results):
            found = self._member(signed)
            if slab is not None:
                found &= slab.contains(places[number])
            self._found[number][chosen[number]] = found
            self._searched[number][drawn[number]] = True
        return list(zip(chosen, results, strict=True))

    def corrected(self, estimate: Estimate, lottery: Lottery, factor: float) -> tuple[float, float, float]:
        """Return the numbers of points in both bands and in either, and the standard error that corrections add.

        factor: of the lottery's chances.
        """
        drawn = [lottery.drawn(number, factor) for number in (0, 1)]
        self._search([points[~self._searched[number][points]] for number, points in enumerate(drawn)])
        # those searched for one boundary may have been searched for the other in the first draw, which does not count
        every = np.union1d(*drawn)
        guessed = [member.ravel()[every] for member in self.inBand]
        found = [member.copy() for member in guessed]
        for number, points in enumerate(drawn):
            found[number][np.searchsorted(every, points)] = self._found[number][points]
        chances = [lottery.chances(number, every, factor) for number in (0, 1)]
        corrections = Corrections(guessed, found, chances)
        inBoth, inEither = (float(n.sum()) for n in (estimate.both, estimate.either))
        inBoth, inEither = inBoth + corrections.both, inEither + corrections.either
        if inEither <= 0:
            return 0.0, 0.0, float("inf")
        return inBoth, inEither, corrections.error(inBoth / inEither) / inEither


@lru_cache(maxsize=4)
def spreadPlaces(dimension: int, count: int) -> np.ndarray:
    """Return places (count, 2 or 3) in [0, 1) along each axis, spread evenly, aligned blocks of 2, 4, 8 ... as well."""
    positions = spreadPositions(count)
    return positions.local[:, :dimension] / positions.denominator


def cornerWeights(places: np.ndarray) -> np.ndarray:
    """Return the weights (n, 2 ** d) by which values at corners make those at places (n, d), the last axis fastest."""
    weights = np.ones((len(places), 1))
    for along in places.T:
        parts = np.stack([1 - along, along], axis=1)
        weights = (weights[:, :, None] * parts[:, None]).reshape(len(places), -1)
    return weights


@lru_cache(maxsize=2)
def pairWeights(dimension: int) -> np.ndarray:
    """Return the weights (2 ** d * (1 + d), pairs) by which values at corners and their growth tell who disagrees.

    For every pair of corners: by how much their values differ beyond the mean growth between them, which is 0 for
    curves of the second degree.
    """
    corners = np.array(list(itertools.product((0, 1), repeat=dimension)))
    columns = []
    for one, other in itertools.combinations(range(len(corners)), 2):
        values, growth = np.zeros(len(corners)), np.zeros(corners.shape)
        values[other], values[one] = 1, -1
        growth[[one, other]] = (corners[one] - corners[other]) / 2
        columns.append(np.concatenate([values, growth.ravel()]))
    return np.stack(columns, axis=1)


def pointWeights(places: np.ndarray) -> np.ndarray:
    """Return the weights (n, 2 ** d * (1 + d)) by which values at corners and their growth make those at places (n, d).

    Growth is told corner by corner, along each axis, per side of the cell. Straight lines between values lie above a
    curve as far as its tangents lie below, in the mean of corners by their weights: so half of what tangents add is
    exact for curves of the second degree.
    """
    dimension = places.shape[1]
    corners = np.array(list(itertools.product((0, 1), repeat=dimension)))
    weights = cornerWeights(places)
    growth = weights[:, :, None] * (places[:, None] - corners) / 2
    return np.concatenate([weights, growth.reshape(len(places), -1)], axis=1)
