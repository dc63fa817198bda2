"""The overlap of two boundary bands by search, for any two closed boundaries.

The idea
--------
A band extends from its boundary to the depth tau. The voxels of a fine grid that a boundary encloses are known without
any search (bandvoxels.py). Their depth is searched at the corners of cells about as wide as the bands and interpolated
in between, but only where the band may end (depths.py): the bands of small structures mostly fill them. This
decides for every voxel whether it lies in a band, but only approximately, because interpolation errs. Therefore some
voxels, drawn at random, mostly where errors matter, are searched as well, and the errors found there are correct,
each for as many voxels as the drawn one represents. The interpolation then leaves no bias, only a random error (this is
a control variate with the sampling of Horvitz and Thompson, doi:10.1080/01621459.1952.10483446). The draw also yields
an estimate of that error, and voxels are drawn until it is small enough.

A voxel is searched for one boundary at a time, with a separate chance for each: voxels close to the end of one band are
mostly far from the end of the other. Changes that the search of one boundary makes by itself are divided by its chance;
changes that only both make together, by the smaller chance. So the expected result is that of searching every voxel.

A voxel next to the end of a band counts fractionally, on a ramp as wide as a voxel. So a correction is as large as the
error of the depth, instead of all or nothing at random, and a draw is as accurate with a tenth of the searches. On
ridges, where depths turn before they reach the other end of the ramp, this would change the mean; there, ramps are so
narrow that voxels count all or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from ...base.parallel import sideBySide
from ...base.progress import checkpoint
from ...distances.surfacedistances import BoundaryPair
from ...geometry.grids import Grid
from ...geometry.surfaces import Surface
from ...geometry.voxelization import groupsApart, noise, stepFor
from . import Bands
from .bandvoxels import BOTH, MOST_VOXELS, SIDE, BandVoxels
from .depths import DRAWS, PART, Depths

# Fractions of the wanted error for counting in voxels, for the draw (at least), and for both together. The last is a
# little less than 1, because a draw ends early when its error seems small by chance.
COUNT_SHARE, DRAW_SHARE, BOTH_SHARE = 0.7, 0.6, 0.88
# Minimum and maximum number of searches in the first draw, and maximum in all draws.
FIRST_DRAW, LARGEST_FIRST_DRAW, LARGEST_DRAW = 300, 4000, 800_000
# Up to this many blocks of both structures, a thread for each does not pay off.
FEW_TO_SHARE = 2000
# Width of ramps on ridges, as a fraction of that of other ramps.
NARROW = 1e-3
# Blocks processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 8
# Chance of voxels far from the end of the band, as a fraction of that of voxels at the end; and minimum chance of
# voxels outside the other band, as a fraction of that of voxels inside.
LEAST_CHANCE, LEAST_OUTSIDE = 0.01, 0.2
# Voxels are far if only an interpolation error of more than this many times the usual one would matter.
FAR = 4


def searchedBands(
    boundaries: BoundaryPair, home: Grid, volumes: Sequence[float], tolerance: float, wanted: float
) -> tuple[Bands, int]:
    """Return the overlap of the bands of two closed boundaries, and the number of voxels that seem to lie in a band.

    home: a grid to which faces may be parallel. volumes: of the structures, mm3 (mm2). tolerance: tau in mm, > 0.
    wanted: standard error of the overlap to be reached.
    """
    surfaces = boundaries.surfaces
    areas = [float(surface.sizes.sum()) for surface in surfaces]
    dimension = surfaces[0].dimension
    union = max(min(size, tolerance * area) for size, area in zip(volumes, areas, strict=True))
    step = stepFor(COUNT_SHARE * wanted * union, sum(areas), dimension)
    span = np.sort(np.ptp([surface.box for surface in surfaces], axis=(0, 1)))[-dimension:]
    if (span / step).prod() > MOST_VOXELS and surfaces[0].slab is None:
        # small parts far apart would have few voxels
        groups = groupsApart(*surfaces)
        if len(groups) > 1:
            return _bandsOfGroups(groups, home, tolerance, wanted)
    voxels, room = BandVoxels.around(boundaries, home, step), DRAW_SHARE * wanted
    searches = [partial(Depths, boundaries.search(n), voxels, n, tolerance, union, room) for n in (0, 1)]
    depths = sideBySide(searches, bool(np.count_nonzero(voxels.blocks & np.uint8(3)) > FEW_TO_SHARE))
    found = Members(boundaries, voxels, depths, tolerance)
    if not found.either:
        return Bands(0.0, 0.0, float("inf")), 0
    size = voxels.step**dimension
    # a voxel more or less has its full effect only where one of the two boundaries runs without the other
    overlap = found.both / found.either
    differing = 2 * (voxels.counts[1] - voxels.counts[0]) * voxels.step ** (dimension - 1)
    counting = noise(voxels.step, min(sum(areas), differing + (1 - overlap) ** 2 * sum(areas)), dimension)
    counting /= found.either * size
    # the part of the error that counting does not use is left for the draw
    left = float(np.sqrt(max((BOTH_SHARE * wanted) ** 2 - counting**2, room**2)))
    both, either, drawing = found.correct(left, sum(depth.error for depth in depths))
    error = float(np.hypot(counting, drawing))
    return Bands(both * size, either * size, error), found.either


def _bandsOfGroups(
    groups: Iterable[tuple[Surface, Surface]], home: Grid, tolerance: float, wanted: float
) -> tuple[Bands, int]:
    """Return the same of groups of parts, of which some may lack a side: a part's inside is nearest to its boundary.

    The error of the overlap is that of the parts' overlaps, weighted by their unions, and of these weights.
    """
    every, met = [], 0
    for group in groups:
        isShared = not any(surface.isEmpty for surface in group)
        first, second = group if isShared else [max(group, key=lambda surface: surface.count)] * 2
        volumes = first.volume, second.volume
        found, number = searchedBands(BoundaryPair(first, second), home, volumes, tolerance, wanted)
        if found.union:
            error = found.union * (found.error or 0.0)
            every.append((found.intersection, found.union, error) if isShared else (0.0, found.union, 0.0))
        met += number
    if not every:
        return Bands(0.0, 0.0, float("inf")), met
    shared, unions, errors = np.array(every).T
    both, either = float(shared.sum()), float(unions.sum())
    ofUnions = wanted * (shared - unions * both / either)
    return Bands(both, either, float(np.linalg.norm([errors, ofUnions])) / either), met


class Members:
    """The voxels that seem to lie in the bands.

    both, either: number of voxels in both bands, and in at least one.
    """

    def __init__(self, boundaries: BoundaryPair, voxels: BandVoxels, depths: list[Depths], tolerance: float):
        self._boundaries, self._voxels, self._depths, self._tolerance = boundaries, voxels, depths, tolerance
        # a ramp must not reach beyond the boundary itself
        width = min(voxels.step, 2 * tolerance)
        self._widths = [np.where(d.areSteep, np.float32(width), np.float32(NARROW * width)) for d in depths]
        self.both, self.either = voxels.counts
        isMixed = (depths[0].rows >= 0) | (depths[1].rows >= 0)
        # in fully known blocks, all voxels count except those that are too deep
        deep = np.nonzero((depths[0].isDeep | depths[1].isDeep) & ~isMixed)
        self._count(voxels.inBlocks(deep), [depth.isDeep[deep] for depth in depths])
        self._blocks = np.nonzero(isMixed)
        # maps these blocks to the rows of each boundary's depths, and back
        self._rows = [depth.rows[self._blocks] for depth in depths]
        self._places = [np.flatnonzero(rows >= 0) for rows in self._rows]
        self._codes = voxels.inBlocks(self._blocks)
        # for each boundary, the voxels searched so far, ascending, and their fractions
        self._searched = [(np.zeros(0, np.intp), np.zeros(0, np.float32)) for _ in (0, 1)]
        self._inBand = self._count(self._codes, [depth.isDeep[self._blocks] for depth in depths], self._places)

    def _count(
        self, codes: np.ndarray, isDeep: list[np.ndarray], places: list[np.ndarray] | None = None
    ) -> list[np.ndarray]:
        """Recount the voxels of blocks, and return for each band whether they (n, SIDE ** d) seem to lie in it.

        codes: (n, SIDE ** d) of the voxels. isDeep: for each boundary, whether blocks (n,) are entirely too deep.
        places: for each boundary, the indices of the blocks whose depths are known voxel by voxel.
        """
        members = []
        for number, isIn in enumerate(isDeep):
            member = codes & np.uint8(1 << number) != 0
            member[isIn] = False
            if places is not None:
                member[places[number]] &= self._depths[number].above > 0
            members.append(member)
        self.both += int(np.count_nonzero(members[0] & members[1]) - np.count_nonzero(codes == BOTH))
        self.either += int(np.count_nonzero(members[0] | members[1]) - np.count_nonzero(codes))
        return members

    def correct(self, wanted: float, about: float) -> tuple[float, float, float]:
        """Return the numbers of voxels in both bands and in either, and the standard error of the overlap by the draw.

        wanted: standard error at which no more voxels are drawn. about: approximate error of the overlap without a
        draw. A voxel's chances are multiplied by a factor until the error is small enough; every draw includes those
        before.
        """
        chances = [self._chances(number) for number in (0, 1)]
        total = float(sum(chance.sum(dtype=float) for chance in chances))
        if not total:
            return float(self.both), float(self.either), 0.0
        # reproducible
        draws = np.random.default_rng(0).random(len(chances[0]), np.float32)
        searched = 0.5 * (DRAWS * about / wanted) ** 2
        factor = float(np.clip(searched / total, FIRST_DRAW / total, LARGEST_FIRST_DRAW / total))
        while True:
            checkpoint()
            both, either, error = self._search(chances, draws, factor)
            more = min(factor * float(np.clip(1.1 * (error / wanted) ** 2, 1.2, 4)), LARGEST_DRAW / total)
            if not either or error <= wanted or more <= factor:
                return both, either, error
            factor = more

    def _search(self, chances: list[np.ndarray], draws: np.ndarray, factor: float) -> tuple[float, float, float]:
        """Return the same by a search of the voxels whose chances (n,), times a factor, exceed draws (n,)."""
        every = np.flatnonzero(draws < np.float32(factor) * np.maximum(*chances))
        guessed, found, inverse = self._guess(every), [], []
        for number in (0, 1):
            chance = np.minimum(chances[number].take(every) * np.float32(factor), 1)
            isDrawn = draws.take(every) < chance
            new = guessed[number].astype(float)
            new[isDrawn] = self._searchNew(number, every[isDrawn])
            found.append(new)
            # voxels that are never searched change nothing
            inverse.append(1 / np.where(chance > 0, chance.astype(float), 1))
        (a, b), (c, d), together = (some.astype(float) for some in guessed), found, np.maximum(*inverse)
        # by the search of one boundary, of the other, and of both; the ends of both bands are mostly parallel, so the
        # smaller fraction of a voxel is in both bands
        changes = [[f(*parts) - f(a, b) for parts in ((c, b), (a, d), (c, d))] for f in (np.minimum, np.maximum)]

        def estimate(first: np.ndarray, second: np.ndarray, whole: np.ndarray) -> np.ndarray:
            # in this order, equal changes in both bands and in either are equal to the last digit
            return whole * together + (first * (inverse[0] - together) + second * (inverse[1] - together))

        both, either = (n + float(estimate(*some).sum()) for n, some in zip((self.both, self.either), changes))
        if either <= 0:
            return 0.0, 0.0, float("inf")
        # of the intersection minus the overlap times the union, in voxels
        parts = [one - both / either * other for one, other in zip(*changes)]
        return both, either, float(np.sqrt((estimate(*parts) ** 2 * (1 - 1 / together)).sum())) / either

    def _searchNew(self, number: int, voxels: np.ndarray) -> np.ndarray:
        """Return the search results of voxels (k,), ascending, which include all that were searched before."""
        before, values = self._searched[number]
        isNew = np.ones(len(voxels), bool)
        isNew[np.searchsorted(voxels, before)] = False
        found = np.empty(len(voxels), np.float32)
        found[~isNew] = values
        if isNew.any():
            found[isNew] = self._searchOne(number, voxels[isNew])
        self._searched[number] = voxels, found
        return found

    def _chances(self, number: int) -> np.ndarray:
        """Return numbers (n,) proportional to the probabilities of voxels to be searched for one boundary.

        The optimum is the root mean square of a voxel's change (Neyman's allocation), here for exponentially
        distributed errors of depths.
        """
        depth, places = self._depths[number], self._places[number]
        # joining one band changes the overlap in proportion to 1 inside the other band, and to the overlap outside
        outside = np.float32(max(self.both / max(self.either, 1), LEAST_OUTSIDE))
        parts, inPart = depth.scales.shape[1], partOfVoxels(self._voxels.dimension)
        result = np.zeros(self._codes.shape, np.float32)
        for first in range(0, len(places), CHUNK):
            rows = places[first : first + CHUNK]
            above, scales = depth.above[first : first + CHUNK], depth.scales[first : first + CHUNK]
            widths = self._widths[number][first : first + CHUNK]
            isInside = self._codes[rows] & np.uint8(1 << number) != 0
            reach = np.float32(FAR) * scales.take(inPart, axis=1) + widths.take(inPart, axis=1) / 2
            near = np.flatnonzero((np.abs(above) < reach) & isInside)
            row, voxel = np.divmod(near, len(inPart))
            part = row * parts + inPart.take(voxel)
            # of voxels at the end of the band
            largest = np.minimum(scales * np.float32(1.4) / widths, 1)
            chances = np.where(isInside, LEAST_CHANCE * largest.mean(axis=1, keepdims=True), np.float32(0))
            beyond = np.maximum(np.abs(above.ravel().take(near)) - widths.ravel().take(part) / 2, 0)
            found = largest.ravel().take(part) * np.exp(beyond / (-2 * scales.ravel().take(part)))
            isOther = self._inBand[1 - number].ravel().take(rows.take(row) * len(inPart) + voxel)
            chances.ravel()[near] = found * np.where(isOther, np.float32(1), outside)
            result[rows] = chances
        return result.ravel()

    def _guess(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Return for each band the fractions of voxels (k,), given by index, that seem to lie in it."""
        block, voxel = np.divmod(numbers, self._codes.shape[1])
        codes, inPart, result = self._codes.ravel().take(numbers), partOfVoxels(self._voxels.dimension), []
        for number, (rows, depth, inBand) in enumerate(zip(self._rows, self._depths, self._inBand, strict=True)):
            row, member = rows.take(block), inBand.ravel().take(numbers).astype(np.float32)
            known = np.flatnonzero((row >= 0) & (codes & np.uint8(1 << number) != 0))
            row, some = row[known], voxel[known]
            member[known] = ramp(depth.above[row, some], self._widths[number][row, inPart.take(some)])
            result.append(member)
        return result

    def _searchOne(self, number: int, numbers: np.ndarray) -> np.ndarray:
        """Return the fractions of voxels (k,), given by index and inside one boundary, that lie in its band."""
        block, voxel = np.divmod(numbers, self._codes.shape[1])
        within = np.stack(np.unravel_index(voxel, (SIDE,) * self._voxels.dimension), axis=1)
        index = SIDE * np.stack(self._blocks, axis=1)[block] + within
        away = self._boundaries.search(number).distances(self._voxels.places(index))
        widths = self._widths[number][self._rows[number][block], partOfVoxels(self._voxels.dimension).take(voxel)]
        return ramp((self._tolerance - away).astype(np.float32), widths)


def partOfVoxels(dimension: int) -> np.ndarray:
    """Return for each voxel (SIDE ** d,) of a block the index of its part, which is PART voxels wide."""
    index = np.indices((SIDE,) * dimension).reshape(dimension, -1) // PART
    return np.asarray(np.ravel_multi_index(tuple(index), (SIDE // PART,) * dimension))


def ramp(above: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the fractions (n,) of voxels, in [0, 1], that count as in a band.

    above: (n,) mm by which they are less deep than the end of the band. widths: (n,) of the ramps, mm.
    """
    return np.clip(above / widths + np.float32(0.5), 0, 1)
