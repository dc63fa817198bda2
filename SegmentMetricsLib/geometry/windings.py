"""Detection of closed surfaces that cut through themselves, by lines through them.

Any line enters and leaves an intact surface alternately. Where a line is inside twice, or a negative number of times,
parts of the surface lie in each other, and the volume that the surface encloses depends on how one counts.
"""

from __future__ import annotations

import numpy as np

from ..base.progress import chunks
from .surfaces import Surface

# Number of lines: as many as this number of triangle tests allows, within limits.
TESTS, FEWEST_LINES, MOST_LINES = 3_000_000, 12, 96
# Pairs of lines and boxes tested at a time, so that temporary arrays stay in the processor's cache.
AT_ONCE = 1 << 15
# Largest offset of a line from the middle of a triangle, as a fraction of the triangle's size, so that none runs along
# the edges of a regular mesh; and the seed of these offsets, so that they are the same in every run.
ASIDE, SEED = 0.1, 1


def doublyCoveredShare(surface: Surface) -> float:
    """Return the fraction of a closed surface's inside, on lines through it, that is not inside just once; in [0, 1].

    surface: triangles that face outward. The inside consists of the parts of lines with a nonzero winding number.
    """
    points, cells = surface.points, surface.cells
    count = int(np.clip(TESTS // max(len(cells), 1), FEWEST_LINES, MOST_LINES))
    chosen = points[cells[np.unique(np.linspace(0, len(cells) - 1, count).astype(int))]]
    aside = np.random.default_rng(SEED).uniform(-ASIDE, ASIDE, (len(chosen), 3))
    starts = chosen.mean(axis=1) + aside * np.ptp(chosen, axis=1).max(axis=1, keepdims=True)
    # axis by axis, which is many times faster than over the corners of every triangle
    ends = [[coordinate.take(column) for column in cells.T] for coordinate in np.ascontiguousarray(points.T)]
    lows, highs = ([kind(kind(a, b), c) for a, b, c in ends] for kind in (np.minimum, np.maximum))
    inside, wrong = 0.0, 0.0
    for axis in range(3):
        lines = np.delete(starts[axis::3], axis, axis=1)
        line, places, steps = _crossings(points, cells, (lows, highs), lines, axis)
        # a line that runs along an edge is left out, as its crossings do not balance
        isWhole = (np.bincount(line, steps, len(lines)) == 0)[line]
        # the others begin and end outside, so that nothing is counted between them
        lengths, winding = np.diff(places[isWhole]), np.cumsum(steps[isWhole])[:-1]
        inside += float(lengths[winding != 0].sum())
        wrong += float(lengths[(winding < 0) | (winding > 1)].sum())
    return wrong / inside if inside else 0.0


def _crossings(
    points: np.ndarray, cells: np.ndarray, boxes: tuple[list[np.ndarray], ...], lines: np.ndarray, axis: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the crossings of lines along an axis with triangles: the line (n,), place (n,) and step (n,) of each.

    A step is 1 where a line enters the surface and -1 where it leaves it. boxes: the lowest and the highest coordinates
    (m,) of the triangles, by axes. lines: (l, 2) their positions along the other two axes. The crossings are sorted by
    line and by place.
    """
    one, other = across = [a for a in range(3) if a != axis]
    lows, highs = boxes
    found, count = [np.zeros(0, np.intp)], len(cells)
    for chosen in chunks(len(lines), max(1, AT_ONCE // count)):
        places = lines[chosen]
        isBeside = lows[one] <= places[:, :1]
        isBeside &= highs[one] >= places[:, :1]
        beside = np.flatnonzero(isBeside)
        line, triangle = np.divmod(beside, count)
        place = places[:, 1].take(line)
        isNear = (lows[other].take(triangle) <= place) & (highs[other].take(triangle) >= place)
        found.append(beside[isNear] + chosen.start * count)
    line, triangle = np.divmod(np.concatenate(found), count)
    corners = points[cells[triangle]]
    flat = corners[:, :, across] - lines[line, None]
    following = flat[:, [1, 2, 0]]
    # twice the area that the line's point makes with each side: all of one sign means that it is inside
    parts = flat[:, :, 0] * following[:, :, 1] - flat[:, :, 1] * following[:, :, 0]
    hit = (parts > 0).all(axis=1) | (parts < 0).all(axis=1)
    parts, corners, line = parts[hit], corners[hit], line[hit]
    weights = parts[:, [1, 2, 0]] / parts.sum(axis=1, keepdims=True)
    places = (weights * corners[:, :, axis]).sum(axis=1)
    # the two other axes, in ascending order, are left-handed with the second axis
    facing = np.sign(parts[:, 0]) * (-1 if axis == 1 else 1)
    order = np.lexsort([places, line])
    return line[order], places[order], -facing[order].astype(int)
