"""The overlap of two boundary bands by search, for any two closed boundaries.

The idea
--------
A search is dear, a point is cheap. The signed distances of both boundaries are searched at the corners of cells about
as large as the bands are wide, and interpolated in between: so hundreds of thousands of points, spread evenly, tell
nearly whether they lie in a band. Nearly, because a distance is not linear within a cell. Where it matters, at points
whose interpolated distance is close to a border of a band, some of them drawn by lot are searched as well, and what
the interpolation got wrong there is corrected, each time for as many points as the drawn one stands for. The result is
free of any error of the interpolation but for chance (a control variate, with the sampling of Horvitz and Thompson,
doi:10.1080/01621459.1952.10483446), and chance tells how large it is: more are drawn until that is small enough.

How likely the interpolation is wrong at a point follows from how far off it was at some points of a first draw; the
chance to be drawn grows with the root of that, which is the best use of a number of searches (Neyman's allocation).
"""

from __future__ import annotations

import itertools

import numpy as np

from ..distances.surfacedistances import BoundaryPair
from ..geometry.masks import Mask
from ..progress import checkpoint
from .bandlookup import Bands, Estimate, scrambled

# Cells at whose corners is searched: for every element of the boundaries, at least, and at most; and into how many a
# voxel is cut along each axis for that at most.
CELLS_PER_ELEMENT, FEWEST_CELLS, MOST_CELLS, MOST_PIECES = 1, 15_000, 40_000, 6
# Points in all, interpolated: at first, and at most where those do not suffice.
POINTS, LARGEST_POINTS = 150_000, 4_000_000
# Points searched in the first draw, in the second, and at most where those do not suffice.
FIRST_DRAW, SECOND_DRAW, LARGEST_DRAW = 1500, 5000, 400_000
# Chance to be drawn of points where the interpolation is hardly wrong, as a share of that where it surely is.
LEAST_CHANCE = 0.02
# Parts of the wanted error that the spread of the points and the draw may have; their squares make 1.
SPREAD_SHARE, DRAW_SHARE = 0.6, 0.8
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
    perCell = max(4, POINTS // max(1, len(cells.numbers)) // 2 * 2)
    while True:
        points = Points(cells, perCell)
        estimate = Estimate.of(points.inBand)
        most = LARGEST_POINTS // max(1, len(cells.numbers)) // 2 * 2
        if estimate.error <= SPREAD_SHARE * wanted or perCell >= most:
            break
        # the error of evenly spread points falls with the 2/3rd power of their number
        growth = min((1.1 * estimate.error / (SPREAD_SHARE * wanted)) ** 1.5, 8)
        perCell = min(int(np.ceil(perCell * growth / 2)) * 2, most)
    wrong = points.firstDraw()
    draw = min(SECOND_DRAW, points.count)
    while True:
        both, either, error = points.corrected(estimate, wrong, draw)
        if error <= DRAW_SHARE * wanted or draw >= min(LARGEST_DRAW, points.count):
            break
        draw = int(min(draw * np.clip((error / (DRAW_SHARE * wanted)) ** 2, 1.5, 8), LARGEST_DRAW, points.count))
    scale = cells.size / perCell
    error = float(np.hypot(error, estimate.error))
    return Bands(both * scale, either * scale, points.count, error), int(estimate.either.sum())


class Cells:
    """Cells that can touch either band, with the signed distances at their corners.

    numbers: (n, 3) which cells, counted from the structures. near: for each boundary whether a cell can touch its band.
    corners: for each boundary the signed distances (n, 4 or 8) in mm, of no meaning where the cell is not near.
    size: of a cell in mm3 (mm2).
    """

    def __init__(self, boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float):
        self.boundaries, self.grid, self.tolerance = boundaries, masks[0].grid, tolerance
        self.axes = [axis for axis in range(3) if axis != self.grid.flatAxis]
        elements = sum(len(surface.cells) for surface in boundaries.surfaces)
        most = int(np.clip(CELLS_PER_ELEMENT * elements, FEWEST_CELLS, MOST_CELLS))
        blocks, centers, near, sides = bandBlocks(masks, tolerance, most)
        room = (most / max(1, len(blocks))) ** (1 / len(self.axes))
        pieces = np.ones(3, int)
        pieces[self.axes] = int(np.clip(room, 1, MOST_PIECES))
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
        corners = self.centers[:, None] + self.sides * np.where(np.isin(range(3), self.axes), steps - 0.5, 0.0)
        places = self.grid.toWorld(corners.reshape(-1, 3)[first])
        values = []
        for number in (0, 1):
            asked = np.zeros(len(places), bool)
            asked[of[self.near[number]]] = True
            signed = np.zeros(len(places))
            signed[asked] = self.boundaries.search(number).signedDistances(places[asked])
            values.append(signed[of])
        return values


class Points:
    """Points spread over cells, so many in each, and what the distances at the cells' corners make of them.

    inBand: for each boundary which points (n, perCell) seem to lie in its band. margins: (n, perCell) how far in mm the
    next border of a band is from each, by interpolation.
    """

    def __init__(self, cells: Cells, perCell: int):
        self.cells, self.perCell = cells, perCell
        shape = len(cells.numbers), perCell
        self.count = shape[0] * perCell
        self.inBand = [np.zeros(shape, bool) for _ in (0, 1)]
        self.margins = np.full(shape, np.inf, np.float32)
        rows = max(1, CHUNK // perCell)
        for first in range(0, shape[0], rows):
            checkpoint()
            chosen = slice(first, first + rows)
            offsets = spreadOffsets(cells.numbers[chosen], perCell, cells.grid.flatAxis)
            inSlab = self._inSlab(np.arange(*chosen.indices(shape[0])), offsets)
            for number in (0, 1):
                near = cells.near[number][chosen]
                signed = interpolated(cells.corners[number][chosen][near], offsets[near][..., cells.axes] + 0.5)
                self.inBand[number][chosen][near] = self._member(signed)
                margins = np.minimum(np.abs(signed), np.abs(signed + cells.tolerance))
                self.margins[chosen][near] = np.minimum(self.margins[chosen][near], margins)
                if inSlab is not None:
                    self.inBand[number][chosen] &= inSlab
        # by lot, always the same
        random = np.random.default_rng(0)
        self._lots = random.random(self.count)
        self._searched = np.zeros(self.count, bool)
        self._found = [np.zeros(self.count, bool) for _ in (0, 1)]

    def _member(self, signed: np.ndarray) -> np.ndarray:
        return (signed < 0) & (signed > -self.cells.tolerance)

    def _inSlab(self, rows: np.ndarray, offsets: np.ndarray) -> np.ndarray | None:
        slab = self.cells.boundaries.surfaces[0].slab
        if slab is None:
            return None
        return slab.contains(self._places(rows[:, None], offsets).reshape(-1, 3)).reshape(offsets.shape[:2])

    def _places(self, rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        index = self.cells.centers[rows] + self.cells.sides * offsets
        return self.cells.grid.toWorld(index.reshape(-1, 3)).reshape(index.shape)

    def firstDraw(self) -> np.ndarray:
        """Return how far off in mm the interpolation is at some points, ascending."""
        drawn = np.argpartition(self._lots, min(FIRST_DRAW, self.count - 1))[:FIRST_DRAW]
        wrong = []
        for signed, rows, offsets, number in self._search(drawn):
            values = interpolated(self.cells.corners[number][rows], offsets[:, None, self.cells.axes] + 0.5)
            wrong.append(np.abs(values[:, 0] - signed))
        return np.sort(np.concatenate(wrong))

    def _search(self, points: np.ndarray):
        """Search at points (k,), keep what is found, and yield for each boundary what it tells of which points."""
        cells = self.cells
        rows, which = np.divmod(points, self.perCell)
        offsets = offsetsOf(cells.numbers[rows], which, cells.grid.flatAxis)
        slab = cells.boundaries.surfaces[0].slab
        places = self._places(rows, offsets)
        for number in (0, 1):
            near = cells.near[number][rows]
            signed = cells.boundaries.search(number).signedDistances(places[near])
            found = self._member(signed)
            if slab is not None:
                found &= slab.contains(places[near])
            self._found[number][points[near]] = found
            yield signed, rows[near], offsets[near], number
        self._searched[points] = True

    def corrected(self, estimate: Estimate, wrong: np.ndarray, draw: int) -> tuple[float, float, float]:
        """Return the numbers of points in both bands and in either, and the standard error of their ratio by the draw.

        wrong: see firstDraw(). draw: how many points are searched, about.
        """
        margins = self.margins.ravel()
        chances = np.where(np.isinf(margins), 0.0, LEAST_CHANCE)
        close = np.flatnonzero(margins < wrong[-1]) if len(wrong) else np.zeros(0, int)
        share = 1 - np.searchsorted(wrong, margins[close]) / max(1, len(wrong))
        chances[close] = np.sqrt(np.maximum(share, LEAST_CHANCE**2))
        factor = draw / max(chances.sum(), 1e-9)
        for _ in range(4):  # those that are sure to be drawn leave the others more
            factor *= draw / max(np.minimum(chances * factor, 1).sum(), 1e-9)
        chances = np.minimum(chances * factor, 1)
        drawn = np.flatnonzero(self._lots < chances)
        for _ in self._search(drawn[~self._searched[drawn]]):
            pass
        one, other = (member.ravel()[drawn] for member in self.inBand)
        isOne, isOther = (found[drawn] for found in self._found)
        chances = chances[drawn]
        both = (isOne & isOther).astype(float) - (one & other)
        either = (isOne | isOther).astype(float) - (one | other)
        inBoth = estimate.both.sum() + float((both / chances).sum())
        inEither = estimate.either.sum() + float((either / chances).sum())
        if inEither <= 0:
            return 0.0, 0.0, float("inf")
        excess = (both - inBoth / inEither * either) / chances
        return inBoth, inEither, float(np.sqrt((excess**2 * (1 - chances)).sum()) / inEither)


def interpolated(corners: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return values (n, m) at places (n, m, d) in [0, 1] between corners (n, 2 ** d), the last axis the fastest."""
    values = corners[:, None, :]
    for axis in range(places.shape[2]):
        low, high = np.split(values, 2, axis=2)
        values = low + (high - low) * places[..., axis, None]
    return values[..., 0]


def bandBlocks(
    masks: tuple[Mask, Mask], tolerance: float, most: int
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], np.ndarray]:
    """Return the same for blocks of voxels, about `most` of them: numbers (n, 3), centers (n, 3), flags, sides (3,).

    Centers are voxel indices, not always whole ones. Blocks are counted from the structures, not from the image:
    cropping an image must not change where they lie.
    """
    grid = masks[0].grid
    low, flags = bandFlags(masks, tolerance)
    axes = [axis for axis in range(3) if axis != grid.flatAxis]
    sides = np.ones(3, int)
    sides[axes] = max(1, int(np.ceil((np.count_nonzero(flags[0] | flags[1]) / most) ** (1 / len(axes)))))
    flags = [joined(f, sides[::-1]) for f in flags]
    chosen = np.flatnonzero(flags[0] | flags[1])
    numbers = np.stack(np.unravel_index(chosen, flags[0].shape)[::-1], axis=1)
    return numbers, low + numbers * sides + (sides - 1) / 2, [f.ravel()[chosen] for f in flags], sides


def joined(flags: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return flags [k, j, i] of blocks of voxels that hold a flagged one. sides: of the blocks, in voxels."""
    for axis, side in enumerate(sides):
        flags = np.logical_or.reduceat(flags, np.arange(0, flags.shape[axis], side), axis=axis)
    return flags


def bandFlags(masks: tuple[Mask, Mask], tolerance: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return for each mask which voxels can touch its band, as bool [k, j, i], and the index (i, j, k) of the first."""
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
    flags = []
    for mask in masks:
        block = mask.block(low, high)
        outside = maximum_filter(block, grown[::-1], mode="constant")
        deep = minimum_filter(block, (2 * depth + 1)[::-1], mode="constant")
        flags.append(outside > deep)
    return low, flags


def spreadOffsets(voxels: np.ndarray, count: int, flatAxis: int | None) -> np.ndarray:
    """Return places in every voxel (n, 3), (n, count, 3) relative to its center, spread evenly.

    They are powers of the inverse of the root of x^(d + 1) = x + 1 (Roberts 2018), begun at a hash of the voxel index.
    """
    return offsetsOf(voxels[:, None], np.arange(count), flatAxis)


def offsetsOf(voxels: np.ndarray, numbers: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the places (..., 3) of these numbers (...) that spreadOffsets() gives the voxels (..., 3)."""
    axes = [axis for axis in range(3) if axis != flatAxis]
    root = {2: 1.32471795724474602596, 3: 1.22074408460575947536}[len(axes)]
    steps = numbers[..., None] * root ** -np.arange(1, len(axes) + 1)
    starts = scrambled(voxels.reshape(-1, 3)).reshape(voxels.shape)[..., : len(axes)]
    places = (starts + steps) % 1.0 - 0.5
    offsets = np.zeros((*places.shape[:-1], 3))
    offsets[..., axes] = places
    return offsets
