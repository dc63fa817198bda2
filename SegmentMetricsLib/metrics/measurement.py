"""Measurements: one number each, computed for a pair by a metric."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..base.errors import Cause, Reason, Undefined
from ..base.plain import toPlain
from ..base.progress import checkpoint
from ..base.texts import commaSeparated, didYouMean, hyphenate, kindNamed
from ..model.structures import BOTH_EMPTY
from .metric import Asked, Empty
from .pair import Pair

# The value that a measurement has by definition when exactly one structure is empty; SIGNED is negative for the test.
OF_EMPTY = {Empty.ZERO: 0.0, Empty.ONE: 1.0, Empty.INFINITE: math.inf, Empty.SIGNED: math.inf}
# What is known of a number beside its value.
DIRECTED = ("referenceToTest", "testToReference", "lower", "upper")
# Relative difference up to which values count as equal: distances are looked up in single precision.
ROUNDING = 1e-6
# Values up to this size equal 0, in the unit of the measurement: sums of signed distances leave such a rest.
ROUNDING_OF_ZERO = 1e-9
LENGTHS = ("mm", "voxel", "pixel")
# Decimal places by unit, the same for all numbers of a column; other units have those of fractions.
DECIMALS = {**dict.fromkeys((*LENGTHS, "cm3", "cm2", "Gy"), 2), "mm3": 1, "mm2": 1, "voxels": 0, "": 3}
# The larger unit in which volumes (areas) are shown, and its size in mm3 (mm2).
IN_CENTIMETERS = {"mm3": ("cm3", 1000), "mm2": ("cm2", 100)}
# Volumes below this in the larger unit would have too few digits to compare small organs.
LEAST_IN_CENTIMETERS = 0.1
# Below these, numbers are rounding errors: lengths, and others.
LEAST_LENGTH, LEAST = 1e-5, 1e-12
# Of a dose, which is taken at many places, not everywhere.
LEAST_DOSE = 1e-3


class Spread(NamedTuple):
    """The spread of a measurement that the voxel grid alone causes, from shifts of it by less than a voxel.

    mean: over the shifts, if it lies more than one SD from the number, else None. sd: over the shifts. low, high: the
    number less and plus 1.96 SD, cut to the range of the measurement. shifts: how many there were.
    """

    mean: float | None
    sd: float
    low: float
    high: float
    shifts: int


class Reading:
    """A number of a pair as text and in formats; text() is value and unit."""

    key: str
    value: float
    reason: str

    def text(self) -> str:
        raise NotImplementedError

    @property
    def cause(self) -> Cause | None:
        """The cause that the reason states, None for most reasons."""
        return self.reason.kind if isinstance(self.reason, Reason) else None

    def __str__(self) -> str:
        return f"{self.key}: {self.text()}{f' ({self.reason})' if self.reason else ''}"

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, form: str) -> str:
        """Return the value in a format of numbers, such as ".2f"; "" and texts, such as ">40s", are for all of it."""
        return format(str(self), form) if form == "" or form.endswith("s") else format(float(self), form)


@dataclass(frozen=True)
class Measurement(Reading):
    """One number of a comparison.

    Parameters
    ----------
    key : str
        The measurement's key, such as HD95.
    title : str
        Its name in words.
    value : float
        The number; infinite, or NaN when undefined, if the status says so.
    unit : str
        Unit of the value, empty for fractions.
    status : str
        "ok", "infinite" or "undefined".
    reason : str
        Why the status is not ok, or what the value leaves out.
    family : str
        The family that it belongs to.
    description : str
        What it measures, in a sentence.
    source : str
        The publication that defines it.
    better : str
        The better direction, "lower" or "higher"; empty if there is none.
    referenceToTest, testToReference : float | None, optional
        The value of each direction alone, None if there is none.
    lower, upper : float | None, optional
        Bounds of the true value, certain for the largest distances and valid for about 95 % of pairs for others; None
        if unknown.
    position : tuple[float, float, float] | None, optional
        LPS in mm of the single place that the value refers to, None if there is none.
    empty : str, optional
        Which structure is empty, in words, "" if none is.
    isCount : bool, optional
        Whether it counts something, so that it is shown without decimal places.
    grid : Spread | None, optional
        The spread that the voxel grid alone causes, None if it was not computed.
    """

    key: str
    title: str
    value: float
    unit: str
    status: str
    reason: str
    family: str
    description: str
    source: str
    better: str
    referenceToTest: float | None = None
    testToReference: float | None = None
    lower: float | None = None
    upper: float | None = None
    position: tuple[float, float, float] | None = None
    empty: str = ""
    isCount: bool = False
    grid: Spread | None = None

    def __repr__(self) -> str:
        """Return the fields that tell something about this number; texts that all numbers of its kind share are not."""
        names = ("key", "value", "unit", "status", "reason", "referenceToTest", "testToReference", "lower", "upper")
        told = ((name, getattr(self, name)) for name in names)
        return f"Measurement({', '.join(f'{name}={value!r}' for name, value in told if value not in (None, ''))})"

    def toDictionary(self) -> dict:
        """Return the measurement for JSON: null for values that are not finite, directed values where they exist.

        JSON has no infinity; "sign": -1 marks a negative infinite value.
        """
        reason = self.reason
        cause = {"kind": hyphenate(reason.kind), "values": reason.values} if isinstance(reason, Reason) else None
        told = {
            "sign": -1 if self.value == -math.inf else None,
            "reason": str(reason) or None,
            **{name: getattr(self, name) for name in (*DIRECTED, "position")},
            "empty": self.empty or None,
            "gridUncertainty": self.grid and self.grid._asdict(),
            "cause": cause,
        }
        result = {"value": self.value, "unit": self.unit, "status": self.status}
        return toPlain(result | {name: value for name, value in told.items() if value is not None})

    @staticmethod
    def fromDictionary(key: str, data: Mapping, asked: Asked | None = None) -> Measurement:
        """Return the measurement from the result of toDictionary(); title and other texts come from its metric.

        asked: what the key stands for; one without a metric, from another version, is its own title.
        """
        missing = math.copysign(math.inf, data.get("sign", 1)) if data["status"] == "infinite" else math.nan
        named = (name for name in ("value", "referenceToTest", "testToReference") if name in data)
        numbers: dict[str, Any] = {name: missing if data[name] is None else float(data[name]) for name in named}
        cause = kindNamed(data.get("cause", {}).get("kind"), Cause)  # none of another version
        reason = data.get("reason", "")
        texts: dict[str, Any] = {"title": key, **dict.fromkeys(("family", "description", "source", "better"), "")}
        if asked is not None:
            texts = asked.describe(data["unit"])
            key = asked.metric.keyFor(asked.parameters)
        return Measurement(
            key,
            **texts,
            **numbers,
            unit=data["unit"],
            status=data["status"],
            reason=reason if cause is None else Reason(reason, cause, data["cause"]["values"]),
            lower=data.get("lower"),
            upper=data.get("upper"),
            position=tuple(data["position"]) if "position" in data else None,
            empty=data.get("empty", ""),
            grid=Spread(**data["gridUncertainty"]) if "gridUncertainty" in data else None,
        )

    def text(self) -> str:
        """Return value and unit as text for people."""
        if self.status == "undefined":
            return "undefined"
        return roundText(self.value, 0) if self.isCount else withUnit(self.value, self.unit)


def measurementOf(key: str, measurements: Mapping[str, Measurement]) -> Measurement:
    """Return the measurement of a key. Raises KeyError that suggests the likeliest key, or lists all keys."""
    try:
        return measurements[key]
    except KeyError:
        told = didYouMean(str(key), measurements) or f" Choose from {commaSeparated(measurements)}."
        raise KeyError(f"There is no measurement {key!r} here.{told}") from None


def withUnit(value: float, unit: str) -> str:
    """Return a number with its unit as text, formatted as by fixDecimals(); volumes in cm3 unless they are small.

    An infinite one has no unit.
    """
    if math.isinf(value):
        return roundText(value, 0)
    if unit in IN_CENTIMETERS:
        larger, scale = IN_CENTIMETERS[unit]
        if abs(value) <= LEAST or abs(value) / scale >= LEAST_IN_CENTIMETERS:
            value, unit = value / scale, larger
    return f"{fixDecimals(value, unit)} {unit}".rstrip()


def fixDecimals(value: float, unit: str) -> str:
    """Return a number with the decimal places of its unit, so that all numbers of a column have the same.

    A number that is not 0 but would be shown as 0 becomes "< 0.01". A negative one is shown to its first digit, such as
    "-0.003": hardly anybody reads "> -0.01" as small.
    """
    decimals = decimalsOf(unit)
    # below this, they are errors of rounding, or of sampling
    least = LEAST_LENGTH if unit in LENGTHS else LEAST_DOSE if unit == "Gy" else LEAST
    if round(value, decimals) != 0 or abs(value) <= least:
        return roundText(value, decimals)
    return f"< {0.1**decimals:.{decimals}f}" if value > 0 else roundText(value, -math.floor(math.log10(-value)))


def decimalsOf(unit: str) -> int:
    """Return the number of decimal places for a unit."""
    return DECIMALS.get(unit, DECIMALS[""])


def roundText(value: float, digits: int) -> str:
    """Return a number with the given number of decimal places, without negative zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def typeset(text: str) -> str:
    """Return a text with superscript exponents in units, which are not used on the terminal."""
    return re.sub(r"\b([mc]m)([23])\b", lambda found: found[1] + "²³"[int(found[2]) - 2], text)


def statusOf(value: float) -> str:
    """Return "undefined" for NaN, "infinite" for infinity of either sign, and else "ok"."""
    return "undefined" if math.isnan(value) else "infinite" if math.isinf(value) else "ok"


def measure(pair: Pair, asked: Asked) -> Measurement:
    """Return the measurement of a pair that is asked for."""
    checkpoint()
    metric, given = asked.metric, {**asked.metric.given, **asked.parameters}
    value, reason, emptiness = math.nan, "", ""
    try:
        emptiness = pair.find(metric.emptiness, given)
        if pair.extent.problem:
            raise Undefined(pair.extent.problem)
        if emptiness and metric.ofEmpty is not None:
            value = pair.call(metric.ofEmpty, given)
        elif emptiness == BOTH_EMPTY and metric.empty != Empty.COMPUTED:
            raise Undefined(emptiness)
        elif emptiness and metric.empty in OF_EMPTY:
            value, reason = OF_EMPTY[metric.empty], emptiness
            if metric.empty == Empty.SIGNED and pair.test.isEmpty:
                value = -value
        else:
            value = pair.call(metric.function, given)
        if math.isnan(value):
            raise Undefined("the definition divides by zero for this pair")
        reason = reason or getattr(value, "remark", "") or (pair.call(metric.note, given) if metric.note else "")
    except Undefined as undefined:
        value, reason = math.nan, pair.extent.problem or undefined.reason
    if math.isinf(value):
        reason = reason or pair.emptiness
    unit = metric.unitFor(pair.dimension, pair.settings)
    # adding 0 turns -0.0 into 0.0
    known: dict[str, Any] = {n: float(one) + 0.0 for n in DIRECTED if (one := getattr(value, n, None)) is not None}
    return Measurement(
        asked.key,
        value=float(value) + 0.0,
        unit=unit,
        status=statusOf(value),
        reason=reason,
        position=getattr(value, "position", None),
        empty=emptiness,
        **known,
        **asked.describe(unit),
    )
