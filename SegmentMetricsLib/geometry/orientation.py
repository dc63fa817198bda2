"""The orientation of the triangles of a mesh, and whether the mesh has an inside at all.

Triangles that share an edge face the same way if they run along it in opposite directions. This determines, for every
shell (a connected part that is closed in itself), which of its triangles have to be turned to agree. A shell then has
to face outward if it lies inside an even number of others, and inward otherwise, as it bounds a cavity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.texts import pluralize
from .closest import ClosestSurface
from .parts import components
from .surfaces import Surface
from .triangles import areaVectors, dot, orderRows, uniqueSides
from .windings import doublyCoveredShare

# Why a closed mesh has no inside.
ONE_SIDED = "has triangles that cannot all face outward"
SELF_CROSSING = "has parts that cut through each other"
FLAT = "encloses nothing"
# A body whose volume is below this fraction of its surface area to the power of 1.5 is flat.
FLATNESS = 1e-9
# Points that determine which shell lies inside which: of all shells together, and at least of each.
PROBES, PROBES_PER_SHELL = 400, 8
# Folds of a smoothed surface enclose less than this fraction of its inside twice, which does not affect any number.
MOST_DOUBLY_COVERED = 0.002


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a mesh, one row for every side of a triangle, sorted so that sides on the same edge are adjacent.

    triangles: (n,) the triangle that the side belongs to. forward: (n,) whether the triangle runs along it from the
    point with the lower number to that with the higher. first: (e,) first row of each edge. uses: (e,) its number of
    sides.
    """

    triangles: np.ndarray
    forward: np.ndarray
    first: np.ndarray
    uses: np.ndarray

    @staticmethod
    def of(cells: np.ndarray) -> Edges:
        numbers = uniqueSides(cells)[1].ravel()
        order, uses = orderRows(numbers), np.bincount(numbers)
        forward = (cells < np.roll(cells, -1, axis=1)).ravel()
        return Edges(order // 3, forward[order], np.cumsum(uses) - uses, uses)

    @property
    def numbers(self) -> np.ndarray:
        """(n,) the edge of every side."""
        return np.repeat(np.arange(len(self.first)), self.uses)

    @property
    def areBalanced(self) -> bool:
        """Whether the triangles run along every edge equally often in both directions."""
        return bool((2 * np.add.reduceat(self.forward.astype(np.int64), self.first) == self.uses).all())

    @cached_property
    def links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of triangles on the edges that have exactly two, and whether the two face opposite ways."""
        row = self.first[self.uses == 2]
        return self.triangles[row], self.triangles[row + 1], self.forward[row] == self.forward[row + 1]


def withoutRepeats(cells: np.ndarray) -> np.ndarray:
    """Return triangles (m, 3) without those that repeat another one facing the same way."""
    lowest = cells.argmin(axis=1)
    turned = np.take_along_axis(cells, (lowest[:, None] + np.arange(3)) % 3, axis=1)
    _, kept = np.unique(turned, axis=0, return_index=True)
    return cells[np.sort(kept)]


def withoutOpposites(cells: np.ndarray) -> np.ndarray:
    """Return triangles (m, 3) without superfluous ones that repeat an earlier one facing the other way.

    They are superfluous if an odd number of triangles meets at their edges, or if every triangle has its reverse, as in
    a mesh made to be seen from both sides, and if the others are closed without them. A wall between two bodies that
    belongs to both is kept.
    """
    _, first, number, counts = np.unique(
        np.sort(cells, axis=1), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    isPaired = counts[number.ravel()] == 2
    if not isPaired.any():
        return cells
    isLater = np.ones(len(cells), bool)
    isLater[first] = False
    edges = Edges.of(cells)
    left = np.add.reduceat((~isLater[edges.triangles]).astype(np.int64), edges.first)
    isAtPair = isPaired[edges.triangles]
    triangle, edge = edges.triangles[isAtPair], edges.numbers[isAtPair]
    follows = edge[1:] == edge[:-1]
    parts = components(triangle[1:][follows], triangle[:-1][follows], len(cells))
    isOpened = np.zeros(len(cells), bool)
    isOpened[parts[triangle[(left[edge] < 2) | (left[edge] % 2 == 1)]]] = True
    isOdd = np.full(len(cells), bool(isPaired.all()))
    isOdd[parts[triangle[edges.uses[edge] % 2 == 1]]] = True
    return cells[~(isLater & isPaired & isOdd[parts] & ~isOpened[parts])]


def orient(surface: Surface) -> Surface:
    """Return the surface with its triangles facing outward (into cavities), its open and non-manifold edges counted.

    Repairs are added to `repairs`; `defect` is the reason why a closed surface has no inside. Open surfaces and those
    without an inside keep the orientation of their triangles.
    """
    edges = Edges.of(surface.cells)
    if (edges.uses > 2).any():
        for remove, way in ((withoutRepeats, ""), (withoutOpposites, ", facing the other way,")):
            cells = remove(surface.cells)
            repeated = len(surface.cells) - len(cells)
            if repeated:
                what = pluralize(
                    repeated, f"triangle that repeats another{way} was", f"triangles that repeat another{way} were"
                )
                surface = replace(surface, cells=cells, repairs=(*surface.repairs, f"{what} left out"))
        edges = Edges.of(surface.cells)
    surface = replace(
        surface,
        openEdges=int(np.count_nonzero(edges.uses == 1)),
        nonManifoldEdges=int(np.count_nonzero(edges.uses > 2)),
    )
    if surface.openEdges:
        return surface
    turned = np.zeros(len(surface.cells), bool)
    consistent = surface
    if not edges.areBalanced:
        found = minority(edges, len(turned))
        if found is None:
            return replace(surface, defect=ONE_SIDED)
        turned = found
        consistent = replace(surface, cells=flip(surface.cells, turned))
        edges = Edges.of(consistent.cells)
        if not edges.areBalanced:
            return replace(surface, defect=ONE_SIDED)
    shells = shellsOf(edges, len(turned))
    inward, crossing = facingWrongly(consistent, shells)
    if crossing:
        return replace(surface, defect=SELF_CROSSING)
    turned ^= inward[shells]
    result = surface
    if turned.any():
        number = np.count_nonzero(turned)
        count = "its" if turned.all() else f"{number} of its {len(turned)}"
        way = "inward" if turned.all() else "the wrong way"
        were = "was" if number == 1 else "were"
        repairs = (*surface.repairs, f"{count} triangles faced {way} and {were} turned")
        result = replace(surface, cells=flip(surface.cells, turned), repairs=repairs)
    if abs(result.volume) <= FLATNESS * result.sizes.sum() ** 1.5:
        return replace(surface, defect=FLAT)
    if doublyCoveredShare(result) > MOST_DOUBLY_COVERED:
        return replace(surface, defect=SELF_CROSSING)
    return result


def flip(cells: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return triangles (m, 3) with the chosen ones (m,) turned over."""
    return np.ascontiguousarray(np.where(chosen[:, None], cells[:, ::-1], cells))


def minority(edges: Edges, count: int) -> np.ndarray | None:
    """Return whether to turn each of the triangles (count,) for neighbors to agree, as few as possible in every sheet.

    None if some cannot agree, as on a Klein bottle.
    """
    one, other, opposed = edges.links
    # every triangle is a node twice, as it is and turned over; links connect neighbors that face the same way
    start, end = np.concatenate([one, one + count]), np.concatenate([other, other + count])
    end = np.where(np.concatenate([opposed, opposed]), (end + count) % (2 * count), end)
    labels = components(start, end, 2 * count)
    asIs, over = labels[:count], labels[count:]
    if (asIs == over).any():
        return None
    # a sheet has two components, each the other's mirror image: choose the one with more triangles as they are
    sizes = np.bincount(asIs, minlength=labels.max() + 1)
    wins = (sizes[asIs] > sizes[over]) | ((sizes[asIs] == sizes[over]) & (asIs < over))
    return ~wins


def shellsOf(edges: Edges, count: int) -> np.ndarray:
    """Return the shell number of every triangle (count,): shells are the parts that are closed in themselves.

    Shells may touch along edges; parts that need each other there to be closed are one shell.
    """
    one, other, _ = edges.links
    sheets = components(one, other, count)
    if (edges.uses == 2).all():
        return sheets
    numbers, sheet = edges.numbers, sheets[edges.triangles]
    keys, side = np.unique(numbers * (sheets.max() + 1) + sheet, return_inverse=True)
    surplus = np.bincount(side, weights=np.where(edges.forward, 1, -1)) != 0
    edge, sheet = np.divmod(keys[surplus], sheets.max() + 1)
    if not len(edge):
        return sheets
    # sheets that are not closed are connected at the edges where they need each other
    follows = edge[1:] == edge[:-1]
    return components(sheet[1:][follows], sheet[:-1][follows], int(sheets.max()) + 1)[sheets]


def facingWrongly(surface: Surface, shells: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return whether each shell (s,) of a closed surface has to be turned, and whether two cut through each other."""
    local = surface.points - surface.center
    sixfold = np.concatenate([dot(corners[0], vectors) for corners, vectors in areaVectors(local, surface.cells)])
    volumes = np.bincount(shells, weights=sixfold) / 6
    count = len(volumes)
    if count == 1:
        return volumes < 0, False
    corners = local[surface.cells]
    order = np.argsort(shells, kind="stable")
    starts = np.searchsorted(shells[order], np.arange(count))
    low = np.minimum.reduceat(corners.min(axis=1)[order], starts)
    high = np.maximum.reduceat(corners.max(axis=1)[order], starts)
    members = np.split(order, starts[1:])
    depth = np.zeros(count, np.int64)
    each = max(PROBES_PER_SHELL, PROBES // count)
    for number in range(count):
        others = np.flatnonzero((low <= high[number]).all(axis=1) & (high >= low[number]).all(axis=1))
        others = others[others != number]
        if not len(others):
            continue
        chosen = [members[o][:: -(-len(members[o]) // each)] for o in others]
        probes = surface.points[surface.cells[np.concatenate(chosen), 0]]
        owner = np.repeat(np.arange(len(others)), [len(c) for c in chosen])
        own = surface.cells[members[number]]
        used, cells = np.unique(own[:, ::-1] if volumes[number] < 0 else own, return_inverse=True)
        away = ClosestSurface(Surface(surface.points[used], cells.reshape(-1, 3))).signedDistances(probes)
        # where shells touch they are neither inside nor outside
        touching = 1e-6 * np.linalg.norm(high[number] - low[number])
        inside = np.bincount(owner, weights=away < -touching, minlength=len(others)) > 0
        outside = np.bincount(owner, weights=away > touching, minlength=len(others)) > 0
        if (inside & outside).any():
            return np.zeros(count, bool), True
        depth[others[inside]] += 1
    return np.where(depth % 2 == 0, volumes < 0, volumes > 0), False
