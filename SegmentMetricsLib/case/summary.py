"""The outcome of a comparison in one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..base.errors import Cause
from ..base.texts import pluralize
from ..metrics.findings import Kind, asFinding
from ..metrics.measurement import Measurement
from ..model.structures import REFERENCE_AND_TEST
from .places import mostlyToward

ADVERBS = {
    "R": "on the right",
    "L": "on the left",
    "A": "anteriorly",
    "P": "posteriorly",
    "I": "inferiorly",
    "S": "superiorly",
}
# mm; element centers of equal contours differ by rounding only
EQUAL = 1e-6
# Fraction of the boundary beyond the tolerance at or above which over- or under-contouring is mentioned.
WORTH_A_WORD = 0.005
# If one of the two is more than this many times the other, only that one is mentioned.
CLEARLY_MORE = 3.0
# Relative difference up to which two volumes are described as about the same.
SAME_VOLUME = 0.005


def sentence(pair: Any) -> str:
    """Return the outcome of a comparison in a sentence that a clinician reads at a glance.

    As far as it was measured: which lesions were missed and invented, how much the contours overlap, how far apart they
    are, how much lies within the first tolerance, which one is larger, and where the test is over- or under-contoured.
    """
    both = (pair.reference, pair.test) if pair.hasGeometry else ()  # without, a comparison keeps what is known of it
    empty = [which for which, one in zip(REFERENCE_AND_TEST, both) if one.isEmpty]
    if len(empty) == 2:
        return "Both contours are empty."
    if empty:
        return f"Only the {'test' if empty == ['reference'] else 'reference'} exists: the {empty[0]} is empty."
    if pair.extent and pair.extent["choice"] == "common" and "reason" in pair.extent:
        return f"Nothing was compared: {pair.extent['reason']}."
    measurements = pair.measurements
    if measurements["HD"].value <= EQUAL if "HD" in measurements else _value(measurements, "IoU") == 1:
        return "The two contours are identical."
    isPlanar = any(measurement.unit == "mm2" for measurement in measurements.values())
    parts = [_lesions(pair.lesions or ()), _closeness(measurements, isPlanar), _difference(pair, isPlanar)]
    text = "; ".join(part for part in parts if part)
    return f"{text[:1].upper()}{text[1:]}." if text else "The chosen measurements do not allow a summary."


def _lesions(lesions) -> str:
    """Return what happened to lesions in words: "2 of 9 lesions missed, 1 invented"; "" without any."""
    events = [lesion.event for lesion in lesions]
    missed, invented = events.count("missed"), events.count("invented")
    count = len(events) - invented
    if not count:
        return f"{pluralize(invented, 'lesion')} invented" if invented else ""
    more = f", {invented} invented" if invented else ""
    return f"{missed or 'none'} of {pluralize(count, 'lesion')} missed{more}"


def _closeness(measurements: Mapping[str, Measurement], isPlanar: bool) -> str:
    """Return the closeness of the contours in words: "DSC 0.87, HD95 3.2 mm, 94 % of the surface within 2 mm"."""
    parts = []
    if (dice := _value(measurements, "DSC")) is not None:
        parts.append(f"DSC {_fraction(dice)}")
    distance = next((key for key in measurements if re.fullmatch(r"HD[\d.]+", key)), "HD")
    if _value(measurements, distance) is not None:
        parts.append(f"{distance} {_millimeters(measurements[distance].value)}")
    if found := _withParameter(measurements, "NSD_"):
        share, tolerance = found
        parts.append(f"{_percent(share)} of the {'contour' if isPlanar else 'surface'} within {tolerance} mm")
    return ", ".join(parts)


def _difference(pair, isPlanar: bool) -> str:
    """Return the difference of the contours in words: "test is 4.1 cm3 larger, over-contoured mostly inferiorly"."""
    measurements, what = pair.measurements, "area" if isPlanar else "volume"
    causes = {measurement.cause for measurement in measurements.values()}
    isOpen, hasDefect = Cause.NOT_CLOSED in causes, Cause.DEFECT in causes
    parts = []
    if (difference := _value(measurements, "VolumeDifference")) is not None:
        reference = abs(_value(measurements, "VolumeReference") or 0.0)
        if abs(difference) <= SAME_VOLUME * reference:
            about = "about " if difference else ""
            parts.append(f"test has {about}the same {what}")
        else:
            larger = "larger" if difference > 0 else "smaller"
            parts.append(f"test is {_size(abs(difference), isPlanar)} {larger}")
    elif (mean := _value(measurements, "SignedMean")) is not None and abs(mean) >= 0.05:
        parts.append(f"test lies {_millimeters(abs(mean))} {'outside' if mean > 0 else 'inside'} on average")
    elif isOpen or hasDefect:
        why = f"a {'contour' if isPlanar else 'surface'} {'is not closed' if isOpen else 'has a defect'}"
        return f"{why}, so inside, outside and {what}s are undefined"
    if contoured := _whereContoured(pair):
        parts.append(contoured if parts else f"test is {contoured}")
    return ", ".join(parts)


def _whereContoured(pair) -> str:
    """Return where the test is beyond the tolerance: "over-contoured mostly inferiorly"; "" if hardly anywhere.

    Of contours that do not overlap at all, neither is a correction of the other, so that no direction helps.
    """
    if any(asFinding(finding).kind == Kind.NO_OVERLAP for finding in pair.findings):
        return ""
    over, under = (_withParameter(pair.measurements, f"{which}Fraction_") for which in ("Over", "Under"))
    if over is None or under is None:
        return ""
    tolerance = float(over[1])
    shares = {"over": over[0], "under": under[0]}
    most = max(shares.values())
    named = [which for which, share in shares.items() if share >= WORTH_A_WORD and share * CLEARLY_MORE >= most]
    sides = []
    for which in named:
        side = "" if pair.distances is None else mostlyToward(pair.distances, tolerance, which == "over")
        sides.append(f" mostly {ADVERBS[side]}" if side else "")
    if len(named) == 2 and not any(sides):
        return "over- and under-contoured"
    return " and ".join(f"{which}-contoured{side}" for which, side in zip(named, sides, strict=True))


def _value(measurements: Mapping[str, Measurement], key: str) -> float | None:
    measurement = measurements.get(key)
    return measurement.value if measurement is not None and measurement.status == "ok" else None


def _withParameter(measurements: Mapping[str, Measurement], prefix: str) -> tuple[float, str] | None:
    """Return the value and the tolerance of the first measurement of a kind, for example (0.94, "2")."""
    key = next((key for key in measurements if key.startswith(prefix)), "")
    value = _value(measurements, key)
    return None if value is None else (value, key[len(prefix) :].removesuffix("mm"))


def _millimeters(value: float) -> str:
    """Return a distance as text for people; only zero is shown as 0."""
    if value <= EQUAL:
        return "0 mm"
    if value < 0.05:
        return "below 0.1 mm"
    return f"{value:.0f} mm" if value >= 99.95 else f"{value:.1f} mm"


def _fraction(share: float) -> str:
    """Return a fraction with two decimal places; only 1 is shown as 1.00 and only 0 as 0."""
    if share <= 1e-9:
        return "0"
    return "1.00" if share >= 1 - 1e-9 else f"{min(max(share, 0.01), 0.99):.2f}"


def _percent(share: float) -> str:
    """Return a fraction in %; only 1 is shown as 100 % and only 0 as 0 %."""
    percent = 100 * share
    if 1e-9 < percent < 0.5:
        return "less than 1 %"
    if not 99.5 <= percent < 100 - 1e-9:
        return f"{percent:.0f} %"
    return f"{min(percent, 99.9):.1f} %" if percent < 99.95 else "more than 99.9 %"


def _size(amount: float, planar: bool) -> str:
    """Return a volume in mm3 (or area in mm2) as text for people; it is never shown as 0."""
    unit, scale = ("2", 100) if planar else ("3", 1000)
    if amount < 0.05:
        return f"less than 0.1 mm{unit}"
    if amount < 0.095 * scale:
        return f"{amount:.1f} mm{unit}" if amount < 9.5 else f"{amount:.0f} mm{unit}"
    amount /= scale
    return f"{amount:.0f} cm{unit}" if amount >= 99.95 else f"{amount:.1f} cm{unit}"
