"""Whether a closed surface cuts through itself, seen on lines through it.

Along any line a surface that does not is entered and left by turns. Where a line is inside twice, or less than not at
all, parts of the surface lie in each other, and what the surface encloses depends on how one counts.
"""

from __future__ import annotations

import numpy as np

from .surfaces import Surface

# Lines to look along: as many as this many triangles' tests allow, within limits.
TESTS, FEWEST_LINES, MOST_LINES = 3_000_000, 12, 96
# How far from the middle of a triangle a line passes, as a share of the triangle's size, so that none runs along the
# edges of a regular mesh; the same in every run.
ASIDE, SEED = 0.1, 1


def doublyCoveredShare(surface: Surface) -> float:
    """Return the share of a closed surface's inside, on lines through it, that lies in it more than once; in [0, 1].

    surface: of triangles that face outward. Its size is that of the parts of all lines that are inside in any sense.
    """
    points, cells = surface.points, surface.cells
    count = int(np.clip(TESTS // max(len(cells), 1), FEWEST_LINES, MOST_LINES))
    chosen = points[cells[np.unique(np.linspace(0, len(cells) - 1, count).astype(int))]]
    aside = np.random.default_rng(SEED).uniform(-ASIDE, ASIDE, (len(chosen), 3))
    starts = chosen.mean(axis=1) + aside * np.ptp(chosen, axis=1).max(axis=1, keepdims=True)
    # axis by axis, which is many times faster than over the corners of every triangle
    ends = [[np.take(points[:, axis], column) for column in cells.T] for axis in range(3)]
    lows, highs = ([kind(kind(a, b), c) for a, b, c in ends] for kind in (np.minimum, np.maximum))
    inside, wrong = 0.0, 0.0
    for axis in range(3):
        across = [a for a in range(3) if a != axis]
        for start in starts[axis::3][:, across]:
            near = np.flatnonzero((lows[across[0]] <= start[0]) & (highs[across[0]] >= start[0]))
            near = near[(lows[across[1]][near] <= start[1]) & (highs[across[1]][near] >= start[1])]
            places, steps = _crossings(points[cells[near]], start, axis, across)
            if steps.sum():  # along an edge: the line says nothing
                continue
            lengths, winding = np.diff(places), np.cumsum(steps)[:-1]
            inside += float(lengths[winding != 0].sum())
            wrong += float(lengths[(winding < 0) | (winding > 1)].sum())
    return wrong / inside if inside else 0.0


def _crossings(corners: np.ndarray, start: np.ndarray, axis: int, across: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return where a line along an axis crosses triangles (n, 3, 3), in order, and if it enters (1) or leaves (-1).

    start: (2,) where the line lies along the other two axes.
    """
    flat = corners[:, :, across] - start
    following = np.roll(flat, -1, axis=1)
    # twice the area that the line's point makes with each side: all of one sign means that it is inside
    parts = flat[:, :, 0] * following[:, :, 1] - flat[:, :, 1] * following[:, :, 0]
    hit = (parts > 0).all(axis=1) | (parts < 0).all(axis=1)
    parts, corners = parts[hit], corners[hit]
    weights = np.roll(parts, -1, axis=1) / parts.sum(axis=1, keepdims=True)
    places = (weights * corners[:, :, axis]).sum(axis=1)
    # the two other axes, in ascending order, are left-handed with the second axis
    facing = np.sign(parts[:, 0]) * (-1 if axis == 1 else 1)
    order = np.argsort(places, kind="stable")
    return places[order], -facing[order].astype(int)
