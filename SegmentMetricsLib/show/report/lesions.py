"""The lesions of a pair in a report: a picture of where they are and what happened to each, and the list of all."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...base.markup import Markup, fill, join
from ...base.palettes import EVENTS
from ...base.texts import LETTERS_OF_AXES
from ...case.comparison import Comparison
from ...metrics.instances import Lesion
from ..resulttables import lesionsSentence, lesionsTable, runsTable
from .blocks import NOTHING, fromFile, table

# Pixels of a picture, and of the room around the lesions for letters and large ones.
SIZE, ROOM = 240, 26
FRAME = {"size": SIZE, "middle": SIZE / 2, "end": SIZE - 10, "low": SIZE - 8}
# Radius in pixels of the smallest lesion that is seen.
LEAST = 2.5
# Rows of a list that are shown.
MOST = 100
# Looks along an axis: the LPS axes of the picture, and the directions along them to the right, and down.
LOOKS = ("From the front", (0, 2), (1, -1)), ("From the left", (1, 2), (1, -1)), ("From below", (0, 1), (1, 1))


def lesionsSection(record: Comparison) -> Markup:
    """Return the section about the lesions of a pair, nothing if it has none."""
    found = lesionsTable(record)
    if found is None or not record.lesions:
        return NOTHING
    events = [event for event in EVENTS if any(lesion.event == event for lesion in record.lesions)]
    named = '<span><svg width="14" height="14">$mark</svg> $event</span>'
    return fromFile(
        "lesions",
        sentence=lesionsSentence(record.lesions),
        legend=join((fill(named, mark=_mark(event, 7, 7, 5), event=event) for event in events), " "),
        views=join(_picture(record.lesions, *look) for look in LOOKS[:: 1 if record.dimension == 3 else -1]),
        lesions=table(found, most=MOST),
    )


def gapsAndSpurs(record: Comparison) -> Markup:
    """Return the section about the gaps and spurs of center lines, nothing if there are none."""
    found = runsTable(record)
    return fill("<h3>Gaps and spurs</h3>$runs", runs=table(found, most=MOST)) if found else NOTHING


def _mark(event: str, x: float, y: float, radius: float, title: str = "") -> Markup:
    """Return a lesion: what is missed is an open circle, what is invented a square, all else a disk."""
    told, color = f"<title>{title}</title>" if title else "", EVENTS[event]
    if event == "invented":
        place = f'x="{x - radius:.1f}" y="{y - radius:.1f}" width="{2 * radius:.1f}" height="{2 * radius:.1f}"'
        return Markup(f'<rect class="lesion" {place} fill="{color}">{told}</rect>')
    look = f'class="lesion missed" stroke="{color}"' if event == "missed" else f'class="lesion" fill="{color}"'
    return Markup(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {look}>{told}</circle>')


def _picture(found: Sequence[Lesion], name: str, axes: tuple[int, int], signs: tuple[int, int]) -> Markup:
    everything = np.array([lesion.position for lesion in found])
    places = everything[:, list(axes)] * signs
    # of balls with the volumes of the lesions, mm
    volumes = np.array([max(lesion.volumeReference, lesion.volumeTest) for lesion in found])
    radii = (3 * volumes / (4 * math.pi)) ** (1 / 3)
    # the same scale in all views
    extent = float(((everything + radii[:, None]).max(axis=0) - (everything - radii[:, None]).min(axis=0)).max())
    scale = (SIZE - 2 * ROOM) / max(extent, 1e-9)
    low, high = (places - radii[:, None]).min(axis=0), (places + radii[:, None]).max(axis=0)
    pixels = (places - (low + high) / 2) * scale + SIZE / 2
    # what needs a look is drawn last
    marks = []
    for lesion, (x, y), radius in reversed(list(zip(found, pixels.tolist(), (radii * scale).tolist(), strict=True))):
        told = f"{lesion.event}: lesion {lesion.number} of the {lesion.side}"
        marks.append(_mark(lesion.event, x, y, max(radius, LEAST), told))
    letters = [letter for axis, sign in zip(axes, signs) for letter in LETTERS_OF_AXES[axis][::sign]]
    sides = dict(zip(("left", "right", "top", "bottom"), letters, strict=True))
    return fromFile("lesionview", **FRAME, **sides, name=name, marks=join(marks))
