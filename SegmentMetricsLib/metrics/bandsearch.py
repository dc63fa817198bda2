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
large it is: more are drawn until that is small enough.

How likely the interpolation is wrong at a point follows from how far off it was at some points of a first draw; the
chance to be drawn grows with the root of that, which is the best use of a number of searches (Neyman's allocation).
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
from .bandlookup import Bands, Estimate, scrambled, spread, spreadPositions

# Corners of cells lie on faces of surfaces of masks, exactly on a border of a band: they are outside, whatever rounding
# says. In mm, for tolerances below 1 mm as a share of them.
TIE_TOLERANCE = 1e-5
# Cells at whose corners is searched, about: as many as elements of both boundaries, but at least and at most so many;
# and into how many a voxel is cut along each axis for that at most.
FEWEST_CELLS, MOST_CELLS, MOST_PIECES = 5000, 10_000, 6
# How far from the corners of a cell is searched, as a share of its sides: where boundaries follow the lattice, corners
# are equally near to two parts of them, and rounding would decide which one is told of.
ASIDE = np.array([0.0031, -0.0047, 0.0059])
# Voxels looked at one by one; where the box around the structures has more, blocks of them.
LARGEST_VOLUME = 1 << 18
# Points in all, interpolated: at first, and at most where those do not suffice.
POINTS, LARGEST_POINTS = 150_000, 4_000_000
# Points searched in the first draw, in the second, and at most where those do not suffice.
FIRST_DRAW, SECOND_DRAW, LARGEST_DRAW = 1500, 2500, 400_000
# Chance to be drawn of points where the interpolation is hardly wrong, as a share of that where it surely is.
LEAST_CHANCE = 0.02
# Parts of the wanted error that the spread of the points and the draw may have; their squares make 1.
SPREAD_SHARE, DRAW_SHARE = 0.6, 0.8
# Different places in cells: at least, and for every point of a cell. Where boundaries follow the lattice, the same
# places in all cells would err alike in all of them, which no comparison of cells tells. Points in a cell are a power
# of two, at most so many as the first.
PLACES, PLACES_PER_POINT = 512, 8
# Margins are told apart in so many steps.
STEPS = 1024
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
        growth = min((1.1 * estimate.error / (SPREAD_SHARE * wanted)) ** 1.5, 8)
        perCell = min(powerOfTwo(perCell * growth), most)
    lottery = points.firstDraw()
    draw = min(SECOND_DRAW, points.count)
    while True:
        both, either, error = points.corrected(estimate, *lottery.draw(draw))
        if error <= DRAW_SHARE * wanted or draw >= min(LARGEST_DRAW, points.count):
            break
        draw = int(min(draw * np.clip((error / (DRAW_SHARE * wanted)) ** 2, 1.5, 8), LARGEST_DRAW, points.count))
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
    corners, and how they grow there along each side of the cell; of no meaning where the cell is not near.
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

    def _searchCorners(self) -> list[np.ndarray]:
        steps = np.zeros((2 ** len(self.axes), 3), int)
        steps[:, self.axes] = list(itertools.product((0, 1), repeat=len(self.axes)))
        nodes = (self.numbers[:, None] + steps).reshape(-1, 3)
        strides = np.cumprod([1, *(nodes.max(axis=0)[:2] + 1)]) if len(nodes) else np.ones(3, int)
        _, first, of = np.unique(nodes @ strides, return_index=True, return_inverse=True)
        of = of.reshape(-1, len(steps))
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

    perCell: a power of two. inBand: for each boundary which points (n, perCell) seem to lie in its band. margins: (n,
    perCell) how far in mm the next border of a band is from each, by interpolation.
    """

    def __init__(self, cells: Cells, perCell: int):
        self.cells, self.perCell = cells, perCell
        shape = len(cells.numbers), perCell
        self.count = shape[0] * perCell
        # every cell takes a part of the same places, which one by a hash
        self._places = spreadPlaces(len(cells.axes), max(PLACES, PLACES_PER_POINT * perCell))
        self._blocks = (scrambled(cells.numbers)[:, 0] * (len(self._places) // perCell)).astype(np.intp)
        self.inBand = [np.zeros(shape, bool) for _ in (0, 1)]
        self.margins = np.full(shape, np.inf, np.float32)
        weights = cells.weightsAt(self._places).astype(np.float32).reshape(-1, perCell, cells.corners[0].shape[1])
        order = np.argsort(self._blocks, kind="stable")
        ends = np.searchsorted(self._blocks[order], np.arange(len(weights) + 1))
        for block, (first, last) in enumerate(itertools.pairwise(ends.tolist())):
            for start in range(first, last, max(1, CHUNK // perCell)):
                checkpoint()
                self._interpolate(order[start : min(start + max(1, CHUNK // perCell), last)], weights[block])
        # by lot, always the same
        self._lots = np.random.default_rng(0).random(self.count, np.float32)
        self._searched = np.zeros(self.count, bool)
        self._found = [np.zeros(self.count, bool) for _ in (0, 1)]

    def _interpolate(self, rows: np.ndarray, weights: np.ndarray) -> None:
        """Tell what the corners of cells (k,) with the same places make of these; weights: (perCell, corners)."""
        inSlab = self._inSlab(rows)
        margins = np.full((len(rows), self.perCell), np.inf, np.float32)
        for number in (0, 1):
            near = self.cells.near[number][rows]
            signed = product(self.cells.corners[number][rows[near]], weights.T)
            member = self._member(signed)
            self.inBand[number][rows[near]] = member if inSlab is None else member & inSlab[near]
            # from the nearer one of the two borders, 0 and minus the tolerance
            half = np.float32(self.cells.tolerance / 2)
            margins[near] = np.minimum(margins[near], np.abs(np.abs(signed + half) - half))
        self.margins[rows] = margins

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

    def firstDraw(self) -> Lottery:
        """Search at some points, and return with which chances to draw more, as they tell how far off they are."""
        wrong = [np.zeros(1)]
        for signed, rows, which, number in self._search(np.flatnonzero(self._lots < FIRST_DRAW / self.count)):
            weights = self.cells.weightsAt(self._places[self._blocks[rows] * self.perCell + which])
            wrong.append(np.abs((self.cells.corners[number][rows] * weights).sum(axis=1) - signed))
        return Lottery(self._lots, self.margins.ravel(), np.sort(np.concatenate(wrong)))

    def _search(self, points: np.ndarray):
        """Search at points (k,), keep what is found, and yield for each boundary what it tells of which points."""
        cells = self.cells
        rows, which = np.divmod(points, self.perCell)
        slab = cells.boundaries.surfaces[0].slab
        places = self._at(rows, which)
        near = [flags[rows] for flags in cells.near]
        searches = [partial(cells.boundaries.search(n).signedDistances, places[near[n]]) for n in (0, 1)]
        for number, signed in enumerate(sideBySide(searches, len(points) > FEW_TO_SHARE)):
            chosen = near[number]
            found = self._member(signed)
            if slab is not None:
                found &= slab.contains(places[chosen])
            self._found[number][points[chosen]] = found
            yield signed, rows[chosen], which[chosen], number
        self._searched[points] = True

    def corrected(self, estimate: Estimate, drawn: np.ndarray, chances: np.ndarray) -> tuple[float, float, float]:
        """Return the numbers of points in both bands and in either, and the standard error of their ratio by the draw.

        drawn: (k,) the points that are searched. chances: (k,) they had to be drawn.
        """
        for _ in self._search(drawn[~self._searched[drawn]]):
            pass
        one, other = (member.ravel()[drawn] for member in self.inBand)
        isOne, isOther = (found[drawn] for found in self._found)
        both = (isOne & isOther).astype(float) - (one & other)
        either = (isOne | isOther).astype(float) - (one | other)
        inBoth = estimate.both.sum() + float((both / chances).sum())
        inEither = estimate.either.sum() + float((either / chances).sum())
        if inEither <= 0:
            return 0.0, 0.0, float("inf")
        excess = (both - inBoth / inEither * either) / chances
        return inBoth, inEither, float(np.sqrt((excess**2 * (1 - chances)).sum()) / inEither)


class Lottery:
    """Draws points by lot, each with a chance of its own. Who is drawn among few is drawn among more as well.

    lots: (n,) of the points, in [0, 1). margins: (n,) how far in mm the next border of a band is from each; those at
    inf are never drawn. wrong: how far off in mm the interpolation is at some points, ascending.
    """

    def __init__(self, lots: np.ndarray, margins: np.ndarray, wrong: np.ndarray):
        self._lots, top = lots, float(wrong[-1]) or 1.0
        # the chance falls with the margin without jumps: what rounding does to margins must not decide who is drawn
        share = 1 - np.searchsorted(wrong, top / STEPS * np.arange(STEPS + 2)) / len(wrong)
        atSteps = np.sqrt(np.maximum(share, LEAST_CHANCE**2)).astype(np.float32)
        places = np.minimum(margins * np.float32(STEPS / top), np.float32(STEPS + 0.5))
        steps = places.astype(np.int16)
        places -= steps
        places *= np.diff(atSteps).take(steps)
        places += atSteps.take(steps)
        isNowhere = np.isinf(margins)
        places[isNowhere] = 0
        self._weights = places
        # how many points have about which weight
        self._usual = (atSteps[1:] + atSteps[:-1]) / 2
        self._counts = np.bincount(steps, minlength=STEPS + 1)
        self._counts[STEPS] -= np.count_nonzero(isNowhere)

    def draw(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of about so many points, ascending, and the chances they had."""
        factor = count / max(float(self._usual @ self._counts), 1e-9)
        for _ in range(4):  # those that are sure to be drawn leave the others more
            factor *= count / max(float(np.minimum(self._usual * factor, 1) @ self._counts), 1e-9)
        drawn = np.flatnonzero(self._lots < self._weights * np.float32(factor))
        return drawn, np.minimum(self._weights[drawn].astype(float) * factor, 1)


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


def bandBlocks(
    masks: tuple[Mask, Mask], tolerance: float, most: int
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], np.ndarray]:
    """Return the blocks of voxels that can touch either band, about `most`: numbers and centers (n, 3), flags, sides.

    flags: for each mask which blocks (n,) can touch its band. sides: (3,) of the blocks, in voxels. Centers are voxel
    indices, not always whole ones. Blocks are counted from the structures, not from the image: cropping an image must
    not change where they lie.
    """
    grid = masks[0].grid
    axes = [axis for axis in range(3) if axis != grid.flatAxis]
    low, high = boxAround(masks)
    first, more = np.ones(3, int), np.ones(3, int)
    first[axes] = sideOf(float(np.prod(high - low + 1.0)), LARGEST_VOLUME, len(axes))
    low, flags = bandFlags(masks, tolerance, first)
    # of whole or half numbers of voxels
    more[axes] = sideOf(np.count_nonzero(flags[0] | flags[1]) * 2 ** len(axes), most, len(axes))
    if more[axes[0]] % 2 == 0 or more[axes[0]] == 1:
        more[axes] = (more[axes] + 1) // 2
    flags, sides = [joined(f, more[::-1]) for f in flags], first * more
    chosen = np.flatnonzero(flags[0] | flags[1])
    numbers = np.stack(np.unravel_index(chosen, flags[0].shape)[::-1], axis=1)
    return numbers, low + numbers * sides + (sides - 1) / 2, [f.ravel()[chosen] for f in flags], sides


def sideOf(count: float, most: float, dimension: int) -> int:
    """Return along how many of `count` things a block must reach so that there are about `most` blocks."""
    return max(1, round((count / most) ** (1 / dimension)))


def joined(flags: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return flags [k, j, i] of blocks of voxels that hold a flagged one. sides: of the blocks, in voxels."""
    for axis, side in enumerate(sides):
        if side == 1:
            continue
        lines = np.moveaxis(flags, axis, 0)
        held = lines[::side].copy()
        for step in range(1, side):
            more = lines[step::side]
            held[: len(more)] |= more
        flags = np.moveaxis(held, 0, axis)
    return flags


def boxAround(masks: tuple[Mask, Mask]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last voxel index (i, j, k) of a box around both masks, with room."""
    grid = masks[0].grid
    low = np.min([m.low for m in masks], axis=0) - 2
    high = np.max([m.high for m in masks], axis=0) + 2
    if grid.planar:
        low[grid.flatAxis] = high[grid.flatAxis] = 0
    return low, high


def bandFlags(
    masks: tuple[Mask, Mask], tolerance: float, sides: np.ndarray | None = None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return for each mask which voxels can touch its band, as bool [k, j, i], and the index (i, j, k) of the first.

    sides: (3,) of blocks of voxels that are told of instead, those along the last ones smaller.
    """
    grid = masks[0].grid
    sides = np.ones(3, int) if sides is None else sides
    low, high = boxAround(masks)
    # A voxel whose surrounding box of this half-width is all inside lies deeper than the band, whatever its sub-voxel.
    depth = np.ceil(np.ceil(tolerance / grid.spacing + 0.5) / sides).astype(int)
    grown = np.ones(3, int)
    if grid.planar:
        depth[grid.flatAxis] = grown[grid.flatAxis] = 0

    def found(mask: Mask) -> np.ndarray:
        inside, outside = _heldBy(mask, low, high, sides)
        return spread(inside, grown[::-1]) & spread(outside, depth[::-1])

    flags = eachSideBySide(found, masks)
    return low, flags


def _heldBy(mask: Mask, low: np.ndarray, high: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which blocks [k, j, i] of a box around a mask hold voxels of it, and which others.

    low, high: first and last voxel index (i, j, k) of the box. sides: (3,) of the blocks, in voxels.
    """
    size, side = high - low + 1, int(sides[2])
    inside = np.zeros((-(-size[2] // side), size[1], size[0]), bool)
    outside = np.ones_like(inside)
    if not mask.isEmpty:
        i, j, before = (mask.low - low).tolist()
        depth, height, width = mask.voxels.shape
        part = slice(j, j + height), slice(i, i + width)
        # some layers at a time, so that large volumes are read once and nothing as large is made
        for row in range(before // side, (before + depth - 1) // side + 1):
            first = row * side - before
            layers = mask.voxels[max(first, 0) : first + side]
            inside[row][part] = layers.max(axis=0) > 0
            if len(layers) == side:
                outside[row][part] = layers.min(axis=0) == 0
    return tuple(joined(flags, (1, *sides[1::-1])) for flags in (inside, outside))
