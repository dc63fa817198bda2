"""Draws docs/lattice.svg: how the distance between two masks' surfaces is looked up, shown in a plane.

    python Testing/benchmark/latticepicture.py [FILE]

Everything in the picture is computed from the two masks below, as the library does it in space.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Rows from top to bottom; # is inside.
REFERENCE = (
    "............",
    "...####.....",
    "..#######...",
    ".########...",
    ".########...",
    "..######....",
    "...###......",
    "............",
)
TEST = (
    "............",
    "............",
    "....#####...",
    "...#######..",
    "...########.",
    "....######..",
    ".....####...",
    "............",
)
# The cell, by the column and row of its upper left voxel, whose position asks.
ASKING = (2, 1)
UNIT, GAP, TOP, LEFT = 46, 64, 92, 34
INK, PALE, REFERENCE_COLOR, TEST_COLOR, MARK = "#24292f", "#d0d7de", "#0072B2", "#D55E00", "#F0E442"
# Corners of a cell, clockwise from the upper left, and what each counts in the cell's case.
CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))
# How far steps to other cells are shown.
REACH = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the picture."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    path = Path(given[0]) if given else Path(__file__).parents[2] / "docs" / "lattice.svg"
    path.write_text(picture(), "utf-8")


def insideOf(rows: Sequence[str]) -> np.ndarray:
    return np.array([[letter == "#" for letter in row] for row in rows])


def caseOf(inside: np.ndarray, column: int, row: int) -> int:
    """Return the case of a cell: the sum of the numbers of its corners that are inside."""
    return sum(2**n for n, (x, y) in enumerate(CORNERS) if inside[row + y, column + x])


def piecesOf(case: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the segments of a case, in the cell: between the middles of the sides whose ends differ."""
    middles = [np.array([0.5, 0.0]), np.array([1.0, 0.5]), np.array([0.5, 1.0]), np.array([0.0, 0.5])]
    crossed = [n for n in range(4) if bool(case >> n & 1) != bool(case >> (n + 1) % 4 & 1)]
    return [(middles[a], middles[b]) for a, b in zip(crossed[::2], crossed[1::2])]


def distance(point: np.ndarray, segment: tuple[np.ndarray, np.ndarray]) -> tuple[float, np.ndarray]:
    """Return how far a point is from a segment, and the nearest place."""
    start, along = segment[0], segment[1] - segment[0]
    place = start + along * np.clip((point - start) @ along / (along @ along), 0, 1)
    return float(np.linalg.norm(point - place)), place


def leastDistance(point: np.ndarray, step: tuple[int, int]) -> float:
    """Return how far a point of the cell at (0, 0) is from the cell a step away, whatever lies in that."""
    low = np.array(step, float)
    return float(np.linalg.norm(np.maximum(np.maximum(low - point, point - low - 1), 0)))


def looked(point: np.ndarray) -> tuple[list[tuple[tuple[int, int], float, float]], float, np.ndarray]:
    """Return the steps in the order they are looked at, each with its least and its found distance, and the nearest.

    The search ends as soon as the next step cannot be nearer than what was found. point: in the asking cell.
    """
    test = insideOf(TEST)
    steps = [(x, y) for y in range(-REACH, REACH + 1) for x in range(-REACH, REACH + 1)]
    steps.sort(key=lambda step: leastDistance(point, step))
    found, best, nearest = [], np.inf, point
    for step in steps:
        least = leastDistance(point, step)
        if least >= best:
            break
        column, row = ASKING[0] + step[0], ASKING[1] + step[1]
        own = np.inf
        if 0 <= row < test.shape[0] - 1 and 0 <= column < test.shape[1] - 1:
            for start, end in piecesOf(caseOf(test, column, row)):
                away, place = distance(point, (np.add(start, step), np.add(end, step)))
                if away < own:
                    own = away
                if away < best:
                    best, nearest = away, place
        found.append((step, least, own))
    return found, best, nearest


def picture() -> str:
    """Return the picture."""
    width, height = 1230, 560
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="14" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *surfacesPanel(),
        *stepsPanel(),
        "</svg>\n",
    ]
    return "\n".join(parts)


def surfacesPanel() -> list[str]:
    """Return the left part: both surfaces are made of the same few pieces."""
    reference, test = insideOf(REFERENCE), insideOf(TEST)
    rows, columns = reference.shape
    parts = [text(LEFT - 8, 28, "1  Both surfaces are made of the same few pieces", 17, bold=True)]
    words = "Dots are voxel centers. Four of them make a cell (eight in space); which of them"
    parts.append(text(LEFT - 8, 52, words))
    parts.append(
        text(LEFT - 8, 71, "are inside is the cell's case, and the case alone tells which piece is in the cell.")
    )
    for row in range(rows):
        parts.append(line((0, row), (columns - 1, row), PALE, 1))
    for column in range(columns):
        parts.append(line((column, 0), (column, rows - 1), PALE, 1))
    column, row = ASKING
    parts.append(square(ASKING, MARK, 0.55))
    for inside, color in ((reference, REFERENCE_COLOR), (test, TEST_COLOR)):
        for y in range(rows - 1):
            for x in range(columns - 1):
                for start, end in piecesOf(caseOf(inside, x, y)):
                    parts.append(line(np.add(start, (x, y)), np.add(end, (x, y)), color, 4))
    for y in range(rows):
        for x in range(columns):
            parts.append(dot((x, y), 4.2, INK if reference[y, x] or test[y, x] else "#8c959f"))
            if reference[y, x]:
                parts.append(ring((x, y), 7.2, REFERENCE_COLOR))
            if test[y, x]:
                parts.append(ring((x, y), 10.0, TEST_COLOR))
    below = TOP + (rows - 1) * UNIT + 34
    parts.append(text(LEFT, below, "reference (blue)", color=REFERENCE_COLOR, bold=True))
    parts.append(text(LEFT + 140, below, "test (red)", color=TEST_COLOR, bold=True))
    numbers = " + ".join(str(2**n) for n, (x, y) in enumerate(CORNERS) if reference[row + y, column + x])
    case = caseOf(reference, column, row)
    parts.append(
        text(LEFT, below + 24, f"Yellow cell: case {numbers} = {case} of the reference, corners counted 1, 2, 4, 8.")
    )
    same = sum(
        caseOf(reference, x, y) == caseOf(test, x, y) != 0 and bool(piecesOf(caseOf(test, x, y)))
        for y in range(rows - 1)
        for x in range(columns - 1)
    )
    words = f"Where both have the same case ({same} cells here) the distance is 0: no need to ask."
    parts.append(text(LEFT, below + 46, words))
    return parts


def stepsPanel() -> list[str]:
    """Return the right part: a position of the cell asks the cells around, the nearest ones first."""
    test = insideOf(TEST)
    case = caseOf(insideOf(REFERENCE), *ASKING)
    start, end = piecesOf(case)[0]
    point = (start + end) / 2
    found, best, nearest = looked(point)
    x0, unit = 640, 80
    top = TOP + 6

    def place(at) -> tuple[float, float]:
        return x0 + (at[0] + REACH) * unit, top + (at[1] + REACH) * unit

    parts = [text(x0 - 4, 28, "2  A distance is an entry of a table", 17, bold=True)]
    parts.append(text(x0 - 4, 52, "The position p of the blue piece asks the red pieces: the nearest cells first."))
    parts.append(text(x0 - 4, 71, "For each step to a cell, a table has the distance from p to the piece of any case."))
    order = {step: number for number, (step, _, _) in enumerate(found, start=1)}
    for y in range(-REACH, REACH + 1):
        for x in range(-REACH, REACH + 1):
            fill = MARK if (x, y) == (0, 0) else "#ddf4ff" if (x, y) in order else "white"
            left, upper = place((x, y))
            parts.append(
                f'<rect x="{left}" y="{upper}" width="{unit}" height="{unit}" fill="{fill}" stroke="{PALE}" '
                f'fill-opacity="{0.55 if (x, y) == (0, 0) else 1}"/>'
            )
            if (x, y) in order:
                least = leastDistance(point, (x, y))
                parts.append(text(left + 5, upper + 15, f"{order[x, y]}.", 13, bold=True))
                parts.append(text(left + unit - 5, upper + 15, f"≥ {least:.2f}", 11, anchor="end"))
            column, row = ASKING[0] + x, ASKING[1] + y
            if 0 <= row < test.shape[0] - 1 and 0 <= column < test.shape[1] - 1:
                for a, b in piecesOf(caseOf(test, column, row)):
                    parts.append(stroke(place(np.add(a, (x, y))), place(np.add(b, (x, y))), TEST_COLOR, 5))
    parts.append(stroke(place(start), place(end), REFERENCE_COLOR, 5))
    parts.append(stroke(place(point), place(nearest), INK, 2, "5 4"))
    cx, cy = place(point)
    parts.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="6" fill="{INK}"/>')
    parts.append(text(cx - 4, cy + 24, "p", 16, bold=True, anchor="end"))
    below = top + (2 * REACH + 1) * unit + 26
    step = next(step for step, _, own in found if own == best)
    theirs = caseOf(test, ASKING[0] + step[0], ASKING[1] + step[1])
    words = f"Found: table[step {step}, position p, case {theirs}] = {best:.2f} voxels."
    parts.append(text(x0 - 4, below, words, bold=True))
    words = (
        f"White cells are not looked at: nothing in them can be nearer ({len(order)} of {(2 * REACH + 1) ** 2} were)."
    )
    parts.append(text(x0 - 4, below + 22, words))
    return parts


def at(place) -> tuple[float, float]:
    return LEFT + place[0] * UNIT, TOP + place[1] * UNIT


def stroke(start, end, color: str, width: float, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" stroke="{color}" '
        f'stroke-width="{width}" stroke-linecap="round"{dashed}/>'
    )


def line(start, end, color: str, width: float) -> str:
    return stroke(at(start), at(end), color, width)


def square(place, color: str, opacity: float) -> str:
    x, y = at(place)
    return f'<rect x="{x}" y="{y}" width="{UNIT}" height="{UNIT}" fill="{color}" fill-opacity="{opacity}"/>'


def dot(place, radius: float, color: str) -> str:
    x, y = at(place)
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{color}"/>'


def ring(place, radius: float, color: str) -> str:
    x, y = at(place)
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="none" stroke="{color}" stroke-width="2"/>'


def text(x: float, y: float, words: str, size: int = 14, color: str = INK, bold: bool = False, anchor: str = "start"):
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="{anchor}"{weight}>{words}</text>'


if __name__ == "__main__":
    main()
