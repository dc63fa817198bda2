"""In which direction the contours differ: test outside or inside the reference.

Signed distances are positive where the test lies outside the reference, that is, over-contoured. All numbers pool the
distances of both directions, weighted by element size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, cast

import numpy as np

from ..base.errors import Cause, Reason, Undefined
from ..base.parallel import lockedCache
from ..base.progress import chunks
from ..distances.bounded import Bounded, combine
from ..distances.largest import NEAR_CORNER
from ..distances.lattice import CellTables, Lattice, cellTables
from ..distances.surfacedistances import BoundaryPair, DirectedDistances, SurfaceDistances, touching, withTies
from ..geometry.cellcases import caseNormals, trianglePlaces
from ..geometry.cellcases import cases as caseTable
from ..geometry.closest import ClosestSurface
from ..geometry.products import product
from ..geometry.surfaces import Surface, meanLength, outwardNormals
from ..geometry.triangles import closestPoints, distancesToTriangles
from ..model.structures import BOTH_EMPTY
from .evaluatedgrid import ChosenGrid
from .metric import OURS, VOLUME, Empty, Family, Value, each, formula, hint, metric, quantity
from .overlap import Counts, voxelVolume
from .pair import MANY_ELEMENTS, Pair

FAMILY = Family(20)
# Sides of the patient and the LPS vectors that point there.
DIRECTIONS = {"R": (-1, 0, 0), "L": (1, 0, 0), "A": (0, -1, 0), "P": (0, 1, 0), "S": (0, 0, 1), "I": (0, 0, -1)}
# Words for the sides in the order in which results list them.
SIDES = {"R": "right", "L": "left", "A": "anterior", "P": "posterior", "S": "superior", "I": "inferior"}
# Components of unit normals that differ by less than this are equal: a diagonal surface faces two sides.
EQUAL_COMPONENTS = 1e-6
# Squared distances that differ by at most this fraction are equal: the tables have single precision.
EQUAL_SQUARES = 1e-5
# Weights of a triangle's corners at its center.
CENTER = ((1, 1, 1),)
# Points looked up at a time: small enough that the temporary arrays stay in the processor's cache.
FACING_CHUNK = 1 << 15


def sidesOf(normals: np.ndarray) -> np.ndarray:
    """Return the sides (n,) toward which unit normals (n, 3) have their largest component, as the sum of sideBit()."""
    x, y, z = np.abs(normals.T)
    # a cell without size has a zero normal and faces no side
    least = np.maximum(np.maximum(np.maximum(x, y), z) - EQUAL_COMPONENTS, EQUAL_COMPONENTS)
    result = np.zeros(len(normals), np.uint8)
    for side, vector in DIRECTIONS.items():
        axis = int(np.abs(vector).argmax())
        result |= (normals[:, axis] * vector[axis] >= least).view(np.uint8) * sideBit(side)
    return result


def sideBit(side: str) -> np.uint8:
    """Return the power of two that stands for one of the DIRECTIONS."""
    return np.uint8(1 << list(DIRECTIONS).index(side))


def sidesBelow(boundaries: BoundaryPair, test: DirectedDistances) -> np.ndarray:
    """Return the sides (k,) that the reference faces where it is nearest to each element of the test.

    boundaries: the pair, both closed. test: the distances from its test. The sides are sums of sideBit().
    """
    if boundaries.isLookedUp:
        return _byLookup(boundaries)
    touch = touching(meanLength(boundaries.surfaces[0]))
    return sidesOf(_normalsAt(boundaries.search(0), test.centers, touch))


def _normalsAt(reference: ClosestSurface, points: np.ndarray, touch: float) -> np.ndarray:
    """Return the outward unit normals (n, 3) of a boundary nearest to points (n, 3).

    At an edge between two cells, the normal is the direction from the edge to the point, unless that distance is at
    most `touch`, mm.
    """
    signed, outward = reference.signedDistancesAndGradients(points)
    near = np.flatnonzero(np.abs(signed) <= touch)
    corners = reference.nearestTriangles(points[near]).reshape(-1, 3)
    triangles = Surface(corners, np.arange(len(corners)).reshape(-1, 3))
    outward[near] = outwardNormals(triangles, np.arange(len(near)))
    return outward


def _byLookup(boundaries: BoundaryPair) -> np.ndarray:
    """Return the sides (k,) that the reference faces where it is nearest to the centers of the test's triangles.

    Triangles that the reference has as well are left out.
    """
    lattice = cast(Lattice, boundaries.lattice)
    homes, triangles = lattice.triangles(1, areDiffering=True)
    # a center never lies on the face of its cell
    places, ofTriangles, _ = trianglePlaces(CENTER)
    cells, numbers = homes - lattice.codes.shape[1], ofTriangles[:, 0].take(triangles)
    tables = cellTables(lattice.spacing, places)
    # rounded, or rotated images would get tables of their own for a difference in the sixteenth digit
    axes = (lattice.grid.axes / lattice.grid.spacing).round(12)
    sides = _sidesOfTriples(lattice.spacing, tuple(axes.ravel().tolist()))
    isInside = tables.inside.take(numbers * 256 + lattice.codes[0].take(cells))
    result, parts = np.empty(len(cells), np.uint8), [np.zeros(0, np.intp)]
    for chosen in chunks(len(cells), FACING_CHUNK):
        result[chosen], isFar = _ofAllNearest(lattice, cells[chosen], numbers[chosen], isInside[chosen], sides)
        parts.append(chosen.start + isFar)
    far = np.concatenate(parts)
    if len(far):
        result[far] = _sidesOfAllNearest(lattice, lattice.pointsOf(cells, numbers, places, far))
    return result


def _sidesOfAllNearest(lattice: Lattice, places: np.ndarray) -> np.ndarray:
    """Return the sides (n,) that the reference faces at all of its places nearest to LPS points (n, 3) far from it."""
    squared = distancesToTriangles(places, lattice.nearestTriangles(np.zeros(1, int), places)) ** 2
    limits = squared * (1 + EQUAL_SQUARES) + touching(min(lattice.spacing)) ** 2
    corners, owners = lattice.trianglesWithin(0, places, limits)
    ways = places[owners] - closestPoints(places[owners], corners)
    ways *= np.where(lattice.isInsideAt(0, places), -1, 1)[owners, None]
    result = np.zeros(len(places), np.uint8)
    np.bitwise_or.at(result, owners, sidesOf(ways / np.linalg.norm(ways, axis=1, keepdims=True)))
    return result


def _ofAllNearest(
    lattice: Lattice, cells: np.ndarray, numbers: np.ndarray, isInside: np.ndarray, sides: SidesOfTriples
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides (n,) that the reference faces at all of its places nearest to points, and far points (k,).

    cells, numbers, isInside: (n,) of the points. The sides of the far points, which are given by index, have no
    meaning.
    """
    tables, codes = sides.tables, lattice.codes[0]
    shifts, touch = tables.steps @ lattice.strides, np.float32(touching(min(lattice.spacing)) ** 2)
    best, active, found = np.full(len(cells), np.inf, np.float32), np.arange(len(cells)), []
    block = range(0)
    while len(active) and block.stop < len(tables.order):
        block = tables.blockFrom(block.stop)
        cell, number = cells.take(active), numbers.take(active)
        squared = lattice.lookUp(cell, number, block, tables)
        best[active] = nearest = np.minimum(best.take(active), squared.min(axis=0))
        limit = nearest * np.float32(1 + EQUAL_SQUARES) + touch
        hits = np.flatnonzero(squared <= limit)
        ranks, columns = np.divmod(hits, len(active))
        number, cell = number.take(columns), cell.take(columns)
        steps = tables.order.ravel().take((ranks + block.start) * len(tables.points) + number).astype(np.intp)
        triples = (steps * len(tables.points) + number) * 256 + codes.take(cell + shifts.take(steps))
        found.append((active.take(columns), triples, squared.ravel().take(hits)))
        active = active[limit >= tables.gaps[block.stop].take(numbers.take(active))]
    owners, triples, squared = map(np.concatenate, zip(*found, strict=True))
    # something nearer may have been found later, or nothing at all
    isNearest = (squared <= best.take(owners) * np.float32(1 + EQUAL_SQUARES) + touch) & (squared < np.inf)
    owners, triples = owners.compress(isNearest), triples.compress(isNearest)
    result = np.zeros(len(cells), np.uint8)
    np.bitwise_or.at(result, owners, sides.of(triples, isInside.take(owners)))
    return result, active


class SidesOfTriples:
    """Table of the sides that the reference faces nearest to positions in cells, for one spacing and image orientation.

    A triple is (index of the step to a cell * number of positions + index of the position) * 256 + the cell's case.
    axes: (3, 3) unit vectors of the lattice in columns. Entries are computed when first needed.
    """

    def __init__(self, tables: CellTables, axes: np.ndarray):
        self.tables, self._axes = tables, axes
        # for positions outside the reference and inside; 0 means not computed yet
        self._known = np.zeros((2, len(tables.steps) * len(tables.points) * 256), np.uint8)

    def of(self, triples: np.ndarray, isInside: np.ndarray) -> np.ndarray:
        """Return sides (n,) by triple (n,). isInside: (n,) whether the position is inside the reference."""
        asked = triples.compress(self._known[0].take(triples) == 0)
        if len(asked):
            asked = np.unique(asked)
            self._known[:, asked] = self._compute(asked)
        return self._known.ravel().take(isInside * self._known.shape[1] + triples)

    def _compute(self, triples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sides (n,) for positions outside the reference, and for those inside, by triple (n,)."""
        tables = self.tables
        triangles, trianglesOf, *_ = caseTable()
        rest, cases = np.divmod(triples, 256)
        steps, numbers = np.divmod(rest, len(tables.points))
        # every triangle of every case once
        isOther = np.ones((len(cases), trianglesOf.shape[1]), bool)
        isOther[:, 1:] = np.diff(trianglesOf[cases], axis=1) != 0
        owners, slots = np.nonzero(isOther)
        points = (tables.points[numbers] - tables.steps[steps] * tables.spacing)[owners]
        ways = points - closestPoints(points, triangles[trianglesOf[cases[owners], slots]] * tables.spacing)
        squared = (ways**2).sum(axis=1)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        touch = touching(float(tables.spacing.min()))
        limits = np.minimum.reduceat(squared, starts) * (1 + EQUAL_SQUARES) + touch**2
        nearest = np.flatnonzero(squared <= limits[owners])
        owners, slots, ways = owners[nearest], slots[nearest], ways[nearest]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        touches = squared[nearest] <= touch**2
        # the other way where the case turns the triangle
        normals = caseNormals(tuple(np.diag(tables.spacing).ravel().tolist()))[trianglesOf[cases[owners], slots]]
        normals = np.where(caseTable().areTurned[cases[owners], slots, None], -normals, normals)
        lengths = np.linalg.norm(ways, axis=1, keepdims=True)
        toward = np.where(lengths > touch, ways / np.where(lengths > 0, lengths, 1), normals)
        outside = sidesOf(product(toward, self._axes.T))
        # inside, the vector from the boundary to the position points to the opposite side: the DIRECTIONS come in pairs
        inside = np.where(touches, outside, (outside & 0b010101) << 1 | (outside & 0b101010) >> 1)
        return np.bitwise_or.reduceat(outside, starts), np.bitwise_or.reduceat(inside, starts)


@lockedCache(4)
def _sidesOfTriples(spacing: tuple[float, float, float], axes: tuple[float, ...]) -> SidesOfTriples:
    """Return the table of sides for a spacing in mm and the axes of a lattice, cached for the next pair."""
    return SidesOfTriples(cellTables(spacing, trianglePlaces(CENTER)[0]), np.reshape(axes, (3, 3)))


class Side(NamedTuple):
    """Signed distances in mm of the boundary toward one side of the patient: mean, largest and smallest."""

    mean: float
    largest: float
    smallest: float


class FacingPart(NamedTuple):
    """The part of one boundary that faces one side: its size in mm2 or mm, and its signed distances in mm.

    over, under: the largest distance found there, including the corners of elements, and the negative of the smallest.
    """

    size: float
    mean: float
    over: float
    under: float


# What numbers with a sign have in common, and what over- and under-contouring.
ofSigned = partial(metric, source=OURS, unit="mm", identity=0, low=-math.inf, empty=Empty.SIGNED, symmetric=False)
# outside and inside the reference
BOTH_KINDS = {"sign": (1, -1), "Kind": ("Over", "Under"), "where": ("outside", "inside")}
ofKind = partial(metric, source=OURS, best=0, empty=Empty.COMPUTED, symmetric=False)


@ofSigned("SignedMean: Signed mean distance", isMain=True, heading="Signed mean")
@hint("Shows whether contours are too large or too small on the whole; errors of both kinds cancel.")
@formula(r"\mathrm{SignedMean} = \frac{1}{\lvert E \rvert} \int_E s(x) \, dx", "distances.field.Field.mean")
def mean(signedDistances: SurfaceDistances) -> float:
    """Mean distance with a sign: positive where the test lies outside the reference, negative where inside."""
    sizes = [direction.totalSize for direction in signedDistances.directions]
    means = [direction.signedMean for direction in signedDistances.directions]
    return combine(lambda *parts: sum(m * s for m, s in zip(parts, sizes)) / sum(sizes), *means)


@ofKind(
    "{Kind}Fraction_{tolerance}mm: {Kind}-contoured fraction, {tolerance} mm",
    ofEmpty=lambda someStructures, sign: float((sign > 0) == someStructures[0].isEmpty),
    heading="{Kind} >",
    trend="falling",
)
@formula(
    r"\mathrm{{Kind}Fraction}_\tau = \frac{\lvert \lbrace x \in E : s(x) {isBeyond} \rbrace \rvert}{\lvert "
    r"E \rvert}",
    "distances.field.Field.size",
)
@each(
    **BOTH_KINDS,
    isBeyond=(r"> \tau", r"< -\tau"),
    hint=(
        "Choose it when drawing too much matters; it does not tell how far outside.",
        "Choose it when missing a part matters; it does not tell how far inside.",
    ),
)
def fractionBeyond(signedDistances: SurfaceDistances, tolerance: float, sign: int) -> float:
    """Share of both contours' area where the test lies more than {tolerance} mm {where} the reference.

    sign: 1 for outside the reference, over-contoured, -1 for inside, under-contoured.
    """
    # ties count as in the normalized surface distance, so that the two fractions and NSD add up to 1
    beyond = [d.sizeBeyond(withTies(tolerance), sign) for d in signedDistances.directions]
    size = sum(d.totalSize for d in signedDistances.directions)
    return combine(lambda *parts: sum(parts) / size, *beyond)


@ofKind(
    "{Kind}Max: Largest {kind}-contouring",
    unit="mm",
    ofEmpty=lambda someStructures, sign: math.inf if (sign > 0) == someStructures[0].isEmpty else 0.0,
    heading="{Kind} max.",
)
@hint("One outlier determines it: choose it when every error counts.")
@formula(
    r"\mathrm{{Kind}Max} = \max\left(0, \; {extreme}_{x \in E} s(x)\right)",
    "distances.surfacedistances.DirectedDistances.farthest",
)
@each(**BOTH_KINDS, kind=("over", "under"), extreme=(r"\max", r"-\min"))
def largest(signedDistances: SurfaceDistances, sign: int) -> Value:
    """Largest distance of the test {where} the reference; 0 when it is nowhere {where}.

    With its place, unless it is 0. sign: 1 for outside, over-contoured, -1 for inside, under-contoured.
    """
    found = [direction.farthest(sign) for direction in signedDistances.directions]
    value = combine(lambda *values: max(0.0, *values), *(distance for distance, _ in found))
    _, place = max(found, key=lambda one: one[0])
    return Value(value, position=tuple(place.tolist()) if value > 0 else None)


@ofKind(
    "{Kind}Volume: {Kind}-contoured volume",
    unit=VOLUME,
    heading="{Kind} vol.",
    # all of the other one
    ofEmpty=lambda pair, sign: voxelVolume(pair.voxelsOf(int(sign > 0))),
    areaTitle="{Kind}-contoured area",
    areaDescription="Area {what}, counted in voxels.",
)
@hint("Grows with the structure: compare it between tests of one reference.")
@formula(r"\mathrm{{Kind}Volume} = v \, \mathrm{{count}}", "metrics.overlap.count")
@each(
    **BOTH_KINDS,
    count=("FP", "FN"),
    what=("that the test has outside the reference", "of the reference that the test leaves out"),
)
def volumeOutside(crispCounts: Counts, overlapGrid: ChosenGrid, sign: int) -> float:
    """Volume {what}, counted in voxels."""
    number = crispCounts.falsePositive if sign > 0 else crispCounts.falseNegative
    return number * (overlapGrid.grid.voxelSize if crispCounts.unit == "voxel" else 1.0)


def bySide(distances: SurfaceDistances, boundaries: BoundaryPair, over: Bounded, under: Bounded) -> dict[str, Side]:
    """Return the signed distances toward each side of the patient that parts of the boundary face.

    An element belongs to the side of the largest component of the reference's outward normal: on the reference, the
    element's own normal; on the test, the normal at the nearest place of the reference. An element that faces two sides
    equally belongs to both. boundaries: the boundaries between which the distances were measured. over, under: the
    largest over- and under-contouring in mm, from largest(); the side on which each lies gets the same value.
    """
    reference, test = distances.directions
    # one boundary after the other, because all elements of one take much memory
    faces = [_faces(reference, sidesOf(reference.surface.normalsOf(reference.cells)))]
    faces.append(_faces(test, sidesBelow(boundaries, test)))
    # distances between nodes exceed those at the nodes by no more than this
    longest = max(one.field.base.sides[one.rows].max(initial=0.0) for one in distances.directions)
    between = float(longest) / 2 * NEAR_CORNER[reference.surface.dimension]
    found = {name: [one[name] for one in faces if name in one] for name in DIRECTIONS}
    found = {name: parts for name, parts in found.items() if sum(part.size for part in parts) > 0}
    largest = extremes({name: max(part.over for part in parts) for name, parts in found.items()}, between, over)
    smallest = extremes({name: max(part.under for part in parts) for name, parts in found.items()}, between, under)
    result = {}
    for name, parts in found.items():
        least, (lower, upper) = smallest[name], smallest[name].bounds
        result[name] = Side(meanOver(parts), largest[name], Bounded(0.0 - least, 0.0 - upper, 0.0 - lower))
    return result


def meanOver(parts: Sequence[FacingPart]) -> float:
    """Return the mean signed distance in mm toward one side. parts: of either boundary facing it, not both empty."""
    size = sum(part.size for part in parts)
    means = [part.mean for part in parts]
    return combine(lambda *values: sum(m * part.size for m, part in zip(values, parts)) / size, *means)


def extremes(found: dict[str, float], between: float, known: Bounded) -> dict[str, Bounded]:
    """Return the largest distance in mm toward each side, with bounds.

    found: the largest ones found at places of the parts that face each side, by the side's letter. between: upper bound
    in mm of how far distances between these places exceed them. known: the largest distance of all sides, not negative:
    an upper bound, and the value of the sides on which it lies, several if they are equal.
    """
    top = max(found.values(), default=0.0)
    result = {}
    for name, value in found.items():
        isThere = value >= top - touching(abs(top))
        upper = max(value, min(value + between, known.bounds[1]))
        # adding 0 turns -0.0 into 0.0
        result[name] = known if known and isThere else Bounded(value + 0.0, value + 0.0, upper + 0.0)
    return result


def _faces(direction: DirectedDistances, sides: np.ndarray) -> dict[str, FacingPart]:
    """Return the parts of a boundary that face sides, by the side's letter.

    sides: (k,) sums of sideBit(), one per element of the field.
    """
    base, surface, shared = direction.field.base, direction.surface, direction.sharedCells
    sizes, sizesShared = base.sizes[direction.rows], surface.sizes.take(shared)
    reached = [base.signedRange(side * direction.sign)[1][direction.rows] for side in (1, -1)]
    sidesShared = sidesOf(surface.normalsOf(shared))
    found = {}
    for name in DIRECTIONS:
        part, common = (np.flatnonzero((some & sideBit(name)) != 0) for some in (sides, sidesShared))
        if len(part) or len(common):
            more = float(sizesShared.take(common).sum())
            size = float(sizes.take(part).sum()) + more
            mean = direction.meanOver(part, more) if size else 0.0
            least = 0.0 if len(common) else -math.inf
            extremes = (float(values.take(part).max(initial=least)) for values in reached)
            found[name] = FacingPart(size, mean, *extremes)
    return found


@quantity()
def emptinessToward(pair: Pair, letter: str) -> str:
    """Return the pair's emptiness. Raises Undefined if it does not matter, as no part of a contour faces the side.

    The reason is then the same as without an empty structure. Closed surfaces in space face all sides.
    """
    if pair.emptiness and pair.emptiness != BOTH_EMPTY and pair.dimension == 2:
        surface = next(structure for structure in pair.structures if not structure.isEmpty).surface
        sides = sidesOf(outwardNormals(surface, np.arange(surface.count)))
        if not (sides & sideBit(letter)).any():
            raise Undefined(Reason.of(Cause.NO_BOUNDARY, side=letter))
    return pair.emptiness


@quantity()
def towardSides(pair: Pair, signedDistances: SurfaceDistances) -> dict[str, Side]:
    """Return the signed distances of the boundary that faces each side of the patient, by its letter."""
    # numbers of the whole boundary come first: what they need is freed before single elements take as much memory
    over, under = (Bounded(one, one.lower, one.upper) for one in (largest(signedDistances, side) for side in (1, -1)))
    if sum(surface.count for surface in pair.boundaries.surfaces) > MANY_ELEMENTS:
        signedDistances.forget()
    return bySide(signedDistances, pair.boundaries, over, under)


SIDES_OF_BOTH = ("bySide", "sidesOf", "sidesBelow")


@ofSigned("{What}{letter}: {called}, {side} side", emptiness="emptinessToward")
@hint("Choose it when a direction matters, such as that of a neighboring organ.")
@each(
    What=("Mean", "Max", "Min"),
    called=("Signed mean", "Largest signed distance", "Smallest signed distance"),
    number=("mean", "largest", "smallest"),
    description=(
        "Mean signed distance of the boundary that faces {side}: positive where the test lies outside the reference.",
        "Largest over-contouring of the boundary that faces {side}; negative when the test lies inside the reference "
        "everywhere there.",
        "Largest under-contouring of the boundary that faces {side}, as a negative number; positive when the test lies "
        "outside the reference everywhere there.",
    ),
    formula=(
        r"\mathrm{Mean}_k = \frac{1}{\lvert E_k \rvert} \int_{E_k} s(x) \, dx",
        r"\mathrm{Max}_k = \max_{x \in E_k} s(x)",
        r"\mathrm{Min}_k = \min_{x \in E_k} s(x)",
    ),
    steps=tuple((step, *SIDES_OF_BOTH) for step in ("meanOver", "extremes", "extremes")),
)
@each(letter=tuple(SIDES), side=tuple(SIDES.values()))
def numberToward(towardSides: dict[str, Side], letter: str, number: str) -> float:
    """A signed distance of the boundary that faces one side of the patient."""
    if letter not in towardSides:
        raise Undefined(Reason.of(Cause.NO_BOUNDARY, side=letter))
    return getattr(towardSides[letter], number)
