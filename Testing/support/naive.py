"""Distances between boundaries by brute force: elements cut into many pieces, each with the distance of some place.

The places are random: those of the centers of pieces of a lattice's elements lie in rows, so that limits pass many of
them at once. Nothing is shared with the library, and nothing is fast. Boundaries are corners (m, 3, 3) of triangles or
(m, 2, 3) of segments in a plane z = const, mm.
"""

from __future__ import annotations

import math

import numpy as np

# Distances up to this count as the same, mm.
SAME = 1e-9
# How often elements are cut together.
LEVELS = 3


def distancesTo(points: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Return the distance (n, m) of every point (n, 3) from every element."""
    corners = elements.transpose(1, 0, 2)
    # along the sides (s, m, 3), which a segment has one of, from where each begins to the points (s, n, m, 3)
    sides = (np.roll(corners, -1, axis=0) - corners)[: 1 if len(corners) == 2 else 3]
    toPoints = points[:, None] - corners[: len(sides), None]
    share = np.einsum("snmx,smx->snm", toPoints, sides) / np.maximum((sides**2).sum(axis=2), 1e-300)[:, None]
    away = toPoints - np.clip(share, 0, 1)[..., None] * sides[:, None]
    found = np.sqrt(np.einsum("snmx,snmx->snm", away, away).min(axis=0))
    if len(sides) == 1:
        return found
    normals = np.cross(sides[0], sides[1])
    length = np.linalg.norm(normals, axis=1)
    isOpposite = (np.einsum("snmx,smx->snm", toPoints, np.cross(normals, sides)) >= 0).all(axis=0) & (length > 0)
    height = np.abs(np.einsum("nmx,mx->nm", toPoints[0], normals)) / np.maximum(length, 1e-300)
    return np.where(isOpposite, height, found)


def isInside(points: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Return whether points (n, 3) lie inside a closed boundary: what of the view around them it covers."""
    corners = elements[None] - points[:, None, None]
    if elements.shape[1] == 2:
        (ax, ay, _), (bx, by, _) = corners[:, :, 0].T, corners[:, :, 1].T
        return np.abs(np.arctan2(ax * by - ay * bx, ax * bx + ay * by).sum(axis=0)) > np.pi
    a, b, c = corners.transpose(2, 0, 1, 3)
    la, lb, lc = (np.linalg.norm(one, axis=2) for one in (a, b, c))
    volume = np.einsum("nmx,nmx->nm", a, np.cross(b, c))
    dots = [np.einsum("nmx,nmx->nm", one, other) for one, other in ((a, b), (b, c), (c, a))]
    angle = 2 * np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
    return np.abs(angle.sum(axis=1)) > 2 * np.pi


def cut(elements: np.ndarray) -> np.ndarray:
    """Return the equal pieces of elements (m, c, 3): the first one of each, then the second of each, and so on."""
    if elements.shape[1] == 2:
        a, b = elements.transpose(1, 0, 2)
        every = (a, (a + b) / 2), ((a + b) / 2, b)
    else:
        a, b, c = elements.transpose(1, 0, 2)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        every = (a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)
    return np.concatenate([np.stack(corners, axis=1) for corners in every])


class Dense:
    """The distances of one boundary to another, in pieces whose sides are at most `longest`, mm.

    hasSides: whether the other one is closed. outward: the sign of distances outside the other one, 1 on the test and
    -1 on the reference, whose places outside the test are under-contoured.

    sizes, values: (n,) of the pieces; the distances are signed. reach: how far any two places of a piece may be apart,
    mm. The methods also return three standard errors of what chance decides.
    """

    def __init__(self, elements: np.ndarray, others: np.ndarray, longest: float, hasSides=True, outward: int = 1):
        self.outward, self._random = outward if hasSides else 0, np.random.default_rng(0)
        sizes, values, self.reach = [], [], 0.0
        for element in elements:
            sides = np.linalg.norm(element - np.roll(element, -1, axis=0), axis=1)
            every, times = element[None], max(math.ceil(math.log2(sides.max() / longest)), 0)
            for _ in range(max(times - LEVELS, 0)):
                every = cut(every)
            for one in every:
                found = self._valuesOf(one, others, min(times, LEVELS))
                sizes.append(np.full(len(found), sizeOf(one) / len(found)))
                values.append(found)
        self.sizes, self.values = np.concatenate(sizes), np.concatenate(values)
        self.total = float(self.sizes.sum())

    def _valuesOf(self, element: np.ndarray, others: np.ndarray, times: int) -> np.ndarray:
        middle = element.mean(axis=0)
        reach = float(np.linalg.norm(element - middle, axis=1).max())
        # nothing else is nearest to any place of the element
        away = distancesTo(middle[None], others)[0]
        candidates = others[away <= away.min() + 2 * reach + SAME]
        every, sides = element[None], np.zeros(1)
        for level in range(times + 1):
            places = every.mean(axis=1)
            if level == times:
                weights = self._random.dirichlet(np.ones(len(element)), len(every))
                places = np.einsum("mc,mcx->mx", weights, every)
            found = distancesTo(places, candidates).min(axis=1)
            # a piece that does not reach the other boundary lies on one side of it
            asked = np.flatnonzero((sides == 0) & ((found > reach) | (level == times)))
            if self.outward and len(asked):
                sides[asked] = np.where(isInside(places[asked], others), -self.outward, self.outward)
            if level < times:
                every, reach, sides = cut(every), reach / 2, np.tile(sides, 2 if len(element) == 2 else 4)
        self.reach = max(self.reach, 2 * reach)
        return found * sides if self.outward else found

    def mean(self, isSigned: bool = False) -> tuple[float, float]:
        values = self.values if isSigned else np.abs(self.values)
        return float(values @ self.sizes) / self.total, 1.5 * self.reach * self._deviation(slice(None))

    def within(self, limit: float) -> tuple[float, float]:
        return self._share(np.abs(self.values) <= limit, np.abs(np.abs(self.values) - limit) <= self.reach)

    def beyond(self, limit: float, side: int) -> tuple[float, float]:
        return self._share(side * self.values > limit, np.abs(side * self.values - limit) <= self.reach)

    def _share(self, isMeant: np.ndarray, isCut: np.ndarray) -> tuple[float, float]:
        return float(self.sizes[isMeant].sum()) / self.total, 1.5 * self._deviation(isCut) + SAME

    def _deviation(self, chosen) -> float:
        return float(np.sqrt((self.sizes[chosen] ** 2).sum())) / self.total

    def percentile(self, percent: float) -> tuple[float, float]:
        values = np.abs(self.values)
        order = np.argsort(values)
        reached = np.cumsum(self.sizes[order]) / self.total * (1 + 1e-12)
        middle = values[order[np.searchsorted(reached, percent / 100)]]
        _, error = self.within(middle)
        rows = np.searchsorted(reached, [percent / 100 - error, min(percent / 100 + error, 1.0)])
        low, high = values[order[np.minimum(rows, len(order) - 1)]]
        return float(middle), float(max(high - middle, middle - low)) + SAME

    def largest(self, side: int = 0) -> float:
        return float((side * self.values if side else np.abs(self.values)).max())


def sizeOf(element: np.ndarray) -> float:
    if len(element) == 2:
        return float(np.linalg.norm(element[1] - element[0]))
    return float(np.linalg.norm(np.cross(*(element[1:] - element[0]))) / 2)
