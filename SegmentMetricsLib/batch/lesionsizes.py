"""How many lesions of a cohort are found, by their size: a table, and a picture with a curve for each structure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..base.markup import escape
from ..base.palettes import METHODS
from ..base.texts import shortest
from ..metrics.instances import Event
from ..show.charts import Axis
from ..show.tablemodel import Column, Table
from ..show.tables import shorten
from ..show.writing import writeTable
from .missing import TEST, Counted
from .plots import INK
from .ranks import wilson
from .statistics import NO_METHOD
from .summaryoptions import LEAVE_OUT
from .tableschema import SIZE_COLUMNS, SIZES_FILE

FILES = TABLE, PICTURE = SIZES_FILE, "lesions_by_size.svg"
# Where groups of sizes begin, in mm3: twice in each power of ten, from less than an atom on.
STARTS = [step * 10.0**power for power in range(-60, 60) for step in (1, 3)]
# Most curves of a picture, those of the most lesions; and its size in pixels.
MOST_CURVES, WIDTH, HEIGHT = len(METHODS), 520, 300
LEFT, TOP, ROW = 60, 20, 18
PALE = "#d0d7de"
# Most characters of an entry of the legend.
LONGEST = 60


class LesionSizes:
    """Sizes of a cohort's lesions by structure and method, and how many of each size a lesion of the test overlaps."""

    def __init__(self) -> None:
        # lesions, those found, and those of structures that the test lacks, by structure and method, then by group
        self._counts: dict[tuple[str, str], dict[int, list[int]]] = {}

    def add(self, method: str, named: Iterable[Counted]) -> None:
        """Add the lesions of the reference in all structures of a case of a method. named: as from Cohort.add()."""
        for record, structure, counts in named:
            for lesion in record.get("lesions", ()) if counts else ():
                if lesion["side"] == "reference":
                    groups = self._counts.setdefault((structure, method), {})
                    numbers = groups.setdefault(bisect_right(STARTS, lesion["volumeReference"]) - 1, [0, 0, 0])
                    numbers[0] += 1
                    numbers[1] += lesion["event"] != Event.MISSED.value
                    numbers[2] += record.get("missing") == TEST

    def rows(self, missing: str) -> Iterator[tuple]:
        """Yield the rows of the table, with the columns SIZE_COLUMNS. missing: as of Options."""
        for (structure, method), groups in self._counts.items():
            for group, (lesions, found, lacked) in sorted(groups.items()):
                if number := lesions - lacked * (missing == LEAVE_OUT):
                    share = found / number
                    yield (structure, method, *STARTS[group : group + 2], number, found, share, *wilson(share, number))

    def write(self, folder: Path, missing: str) -> None:
        """Write the table and the picture into a folder, in place of those of an earlier run. missing: as of rows()."""
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        rows = list(self.rows(missing))
        if rows:
            writeTable(Table(list(map(Column, SIZE_COLUMNS)), rows), folder / TABLE)
            # what no file can hold becomes question marks
            (folder / PICTURE).write_text(picture(rows), encoding="utf-8", errors="replace")


def picture(rows: list[tuple]) -> str:
    """Return a picture of the sensitivity over the volume, with its intervals. rows: as from LesionSizes.rows()."""
    curves: dict[tuple, list[tuple]] = {}
    for row in rows:
        curves.setdefault(row[:2], []).append(row)
    names = sorted(curves, key=lambda name: -sum(row[4] for row in curves[name]))[:MOST_CURVES]
    shown = [row for name in names for row in curves[name]]
    groups = {row: STARTS.index(row[2]) for row in shown}
    span = range(min(groups.values()), max(groups.values()) + 2)
    hasMethods = any(method for _, method in curves)
    height = TOP + HEIGHT + 50 + ROW * len(names)
    x = Axis(span, "", LEFT, WIDTH - 20, hasRoom=False).at
    y = Axis((0, 1), "", TOP + HEIGHT, TOP, hasRoom=False).at
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<line x1="{x(span[0])}" x2="{x(span[-1])}" y1="{y(tick)}" y2="{y(tick)}" stroke="{PALE}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4}" text-anchor="end">{100 * tick:g} %</text>')
    for group in span[:: 1 + len(span) // 12]:
        label = shortest(float(f"{STARTS[group]:.3g}"))
        parts.append(f'<text x="{x(group)}" y="{y(0) + 18}" text-anchor="middle">{label}</text>')
    middle = x((span[0] + span[-1]) / 2)
    parts.append(f'<text x="{middle}" y="{y(0) + 36}" text-anchor="middle">volume of the lesion (mm³)</text>')
    for number, name in enumerate(names):
        color, below = METHODS[number], y(0) + 56 + ROW * number
        # curves of the same groups are drawn beside each other
        shift = (number - (len(names) - 1) / 2) * 0.08
        points = [(x(groups[row] + 0.5 + shift), row) for row in curves[name]]
        line = " ".join(f"{place},{y(row[6])}" for place, row in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        for place, row in points:
            told = f"<title>{row[5]} of {row[4]} lesions</title>"
            parts.append(f'<line x1="{place}" x2="{place}" y1="{y(row[7])}" y2="{y(row[8])}" stroke="{color}"/>')
            parts.append(f'<circle cx="{place}" cy="{y(row[6])}" r="4" fill="{color}">{told}</circle>')
        words = f"{name[0]}, {name[1] or NO_METHOD}" if hasMethods else name[0]
        told = escape(shorten(f"{words} ({sum(row[4] for row in curves[name])} lesions)", LONGEST))
        parts.append(f'<rect x="{LEFT}" y="{below - 10}" width="12" height="12" fill="{color}"/>')
        parts.append(f'<text x="{LEFT + 18}" y="{below}">{told}</text>')
    return "\n".join([*parts, "</svg>\n"])
