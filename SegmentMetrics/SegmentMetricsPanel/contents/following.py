"""What is said while the user edits: the numbers in the corners of the views, and which places are corrected."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from SegmentMetricsLib.base.plain import fromPlain, toPlain
from SegmentMetricsLib.case.places import Place
from SegmentMetricsLib.show import tables

from ..translation import _

# Millimeters to which a brush size is rounded, and the smallest one that is suggested.
BRUSH_STEP = 0.5
SMALLEST_BRUSH = 1.0


@dataclass
class Edit:
    """What was there when following a pair began, and what became of its places.

    pair: its key. numbers: the values of the main measurements by key; without those that were not finite. places: in
    the order in which they are visited; new ones are appended. isDone: whether each of them is corrected. current:
    index of the place that was visited last, -1 for none.
    """

    pair: tuple[tuple[str, ...], ...]
    numbers: Mapping[str, float]
    places: tuple[Place, ...] = ()
    isDone: tuple[bool, ...] = ()
    current: int = -1

    def toText(self) -> str:
        """Return the edit as it is saved with the scene."""
        return json.dumps(toPlain(self))

    @staticmethod
    def fromText(text: str) -> Edit | None:
        """Return the edit that toText() described; None if there is none, or one that another version wrote."""
        try:
            return fromPlain(Edit, json.loads(text))
        except (KeyError, TypeError, ValueError):
            return None


def mainKeys(measurements: Mapping) -> list[str]:
    """Return the keys of the numbers that are followed: DSC, the first percentile of the distance, the first NSD."""
    percentile = next((key for key in measurements if key.startswith("HD") and key[2:3].isdigit()), "HD")
    surface = next((key for key in measurements if key.startswith("NSD")), "")
    return [key for key in ("DSC", percentile, surface) if key in measurements]


def cornerText(record, edit: Edit | None) -> str:
    """Return the numbers of a pair, one a line, with the change since the edit began, and the brush to take."""
    lines = []
    for key in mainKeys(record.measurements):
        measurement = record.measurements[key]
        text = f"{tables.heading(key)} {measurement.text()}"
        before = edit.numbers.get(key) if edit is not None else None
        if before is not None and math.isfinite(measurement.value):
            text += f" ({changeText(measurement.value - before, measurement.unit)})"
        lines.append(text)
    number = edit.current if edit is not None else -1
    if edit is not None and not (0 <= number < len(edit.places) and not edit.isDone[number]):
        number = following(edit, 1)
    if edit is not None and number is not None:
        place = edit.places[number]
        text = _("Place {rank}: brush {size} mm")
        lines.append(text.format(rank=place.rank, size=f"{brushSize(place):g}"))
    return "\n".join(lines)


def changeText(change: float, unit: str) -> str:
    """Return a change with its sign and as many decimals as the number has, never as -0."""
    text = f"{change:+.2f}" if unit else f"{change:+.3f}"
    return text if float(text) else text.replace("-", "+")


def beginEdit(pair: tuple, measurements: Mapping, places: Sequence[Place]) -> Edit:
    """Return the Edit of a pair that begins now. places: all of them, worst first."""
    values = {key: measurements[key].value for key in mainKeys(measurements)}
    numbers = {key: value for key, value in values.items() if math.isfinite(value)}
    return Edit(pair, numbers, tuple(places), (False,) * len(places))


def advance(edit: Edit, places: Sequence[Place]) -> Edit:
    """Return an edit after places were measured again. places: all that there are now, worst first.

    A place now belongs to the nearest one of the edit on the same side of the reference, if that is within its reach:
    its radius as a disk, or its largest distance, as far as a contour may move there. A place of the edit to which none
    belongs is corrected; a place that belongs to none is a new one.
    """
    known, isDone = list(edit.places), [True] * len(edit.places)
    positions = np.array([one.position for one in edit.places]).reshape(-1, 3)
    values = np.array([one.value for one in edit.places])
    reaches = np.array([max(radiusOf(one), abs(one.value)) for one in edit.places])
    for place in places:
        away = np.linalg.norm(positions - place.position, axis=1)
        away[((values > 0) != (place.value > 0)) | (away > reaches + radiusOf(place))] = np.inf
        if np.isfinite(away).any():
            isDone[int(away.argmin())] = False
        else:
            known.append(replace(place, rank=len(known) + 1))
            isDone.append(False)
    return replace(edit, places=tuple(known), isDone=tuple(isDone))


def radiusOf(place: Place) -> float:
    """Return the radius in mm of the disk that is as large as a place."""
    return math.sqrt(place.area / math.pi)


def following(edit: Edit, step: int) -> int | None:
    """Return the index of the next place that is not corrected, or of the previous one for step -1; None if all are."""
    count = len(edit.places)
    start = edit.current if edit.current >= 0 or step > 0 else 0
    order = [(start + step * number) % count for number in range(1, count + 1)] if count else []
    return next((number for number in order if not edit.isDone[number]), None)


def brushSize(place: Place) -> float:
    """Return the diameter, mm, of a brush that touches both contours halfway and is not wider than the place."""
    size = min(abs(place.value), 2 * radiusOf(place))
    return max(SMALLEST_BRUSH, float(np.round(size / BRUSH_STEP)) * BRUSH_STEP)


def progressText(edit: Edit, tolerance: float) -> str:
    """Return how many places are corrected, and the brush for the one that was visited last."""
    done, count = sum(edit.isDone), len(edit.places)
    if not count:
        return ""
    text = _("{done} of {count} places within {tolerance} mm.")
    sentences = [text.format(done=done, count=count, tolerance=f"{tolerance:g}")]
    if 0 <= edit.current < count:
        place = edit.places[edit.current]
        if edit.isDone[edit.current]:
            sentences.append(_("Place {rank} is corrected.").format(rank=place.rank))
        else:
            text = _("Place {rank}: a brush of {size} mm.")
            sentences.append(text.format(rank=place.rank, size=f"{brushSize(place):g}"))
    return " ".join(sentences)
