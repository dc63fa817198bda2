"""How a number is declared: a metric is a function with a decorator, and the names of its arguments are what it needs.

::

    @metric("HD{percentile}: Hausdorff distance, {percentile}th percentile", REVOLUTIONS, unit="mm", best=0, ...)
    @hint("Ignores the worst errors, up to the share it leaves out ...")
    @formula(r"\\mathrm{HD}_p = ...", "distances.field.Field.percentile")
    def percentileHausdorff(distances: SurfaceDistances, percentile: float) -> Value:
        \"\"\"Distance that {percentile} % of either contour's area does not exceed; the larger of both.\"\"\"

A name is looked up as pytest looks up fixtures: first in the key, which states the percentile, then among the functions
with @quantity, which are computed once for a pair, then among the properties of a Pair, and last among the settings. So
what findings and results can use of a pair follows from what was asked for: it is the closure of these names.

The function is plain Python: called with what its arguments say, it returns the number. Its name is that of the code in
docs/formulas.md, the first paragraph of its docstring the description that people see, and its file the family.
"""

from __future__ import annotations

import enum
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar, cast

from ..base.texts import shortest
from ..distances.bounded import Bounded

REVOLUTIONS = "Podobnik & Vrtovec, arXiv:2410.02630"
TAHA = "Taha & Hanbury, doi:10.1186/s12880-015-0068-x"
NIKOLOV = "Nikolov et al., arXiv:1809.04430"
CHENG = "Cheng et al., arXiv:2103.16562"
OURS = "SegmentMetrics"
# Units of volumes of surfaces in space, and of areas of contours in a plane.
VOLUME, AREA = "mm3", "mm2"

Function = TypeVar("Function", bound=Callable[..., Any])


class Parameter(NamedTuple):
    """A parameter in keys, such as {tolerance}, whose values are a setting.

    setting: that has the values. values: measured unless something else is asked for. symbol: its letter in texts.
    latex: the same in a formula. example: a value for examples, None for the first of `values`. isUnmentioned: whether
    the key leaves out the value 1.
    """

    name: str
    setting: str
    values: tuple[float, ...]
    symbol: str
    latex: str
    example: float | None = None
    isUnmentioned: bool = False


PARAMETERS = {
    one.name: one
    for one in (
        Parameter("tolerance", "tolerances", (2.0,), "τ", r"\tau"),
        Parameter("percentile", "percentiles", (95.0,), "p", "p"),
        Parameter("beta", "betas", (1.0,), "β", r"\beta", isUnmentioned=True),
        Parameter("quantile", "quantiles", (1.0,), "q", "q", isUnmentioned=True),
        Parameter("dosePercent", "dosePercents", (2.0, 50.0, 95.0, 98.0), "x", "x"),
        Parameter("doseVolume", "doseVolumes", (0.03,), "v", "v"),
        Parameter("doseLevel", "doseLevels", (), "d", "d", 20.0),
    )
}
EXAMPLES = {name: shortest(one.example or one.values[0]) for name, one in PARAMETERS.items()}


class Empty(enum.Enum):
    """The value of a measurement when exactly one structure is empty. When both are, it is undefined."""

    INFINITE = "infinite"
    ZERO = "0"
    SIGNED = "infinite, negative when the test is empty"
    ONE = "1"
    # by its formula, which holds for one empty structure
    COUNTED = "as counted"
    # by its formula, which holds for two empty structures as well, or by a function of its own
    COMPUTED = "as computed"


class Value(Bounded):
    """A number, and what is known of it beside its bounds.

    referenceToTest, testToReference: the values of the single directions, None if there are none. position: LPS in mm
    of its place, None if it has none. remark: what a reader should know about it, "" for nothing.
    """

    referenceToTest: float | None
    testToReference: float | None
    position: tuple[float, float, float] | None
    remark: str

    def __new__(
        cls,
        value: float,
        referenceToTest: float | None = None,
        testToReference: float | None = None,
        position: tuple[float, float, float] | None = None,
        remark: str = "",
    ) -> Value:
        number = cast(Value, super().__new__(cls, value, getattr(value, "lower", None), getattr(value, "upper", None)))
        number.referenceToTest, number.testToReference = referenceToTest, testToReference
        number.position, number.remark = position, remark
        return number


class Family(NamedTuple):
    """What a family's file declares as FAMILY; the description of the family is the first line of the file.

    rank: families with a smaller one come first. called: what people call it, too. isOnlyByName: whether "all" leaves
    it out, because it needs extra input.
    """

    rank: int
    called: tuple[str, ...] = ()
    isOnlyByName: bool = False


class Named(NamedTuple):
    """The name of a quantity or parameter that an argument with another name stands for.

    number: of the item of a quantity of both structures, or of the side that a method asks for, 0 for the reference;
    None for all of it.
    """

    name: str
    number: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Metric:
    """One kind of measurement.

    key, title, description: may hold a parameter such as {percentile}, filled in for every value of the settings.
    function: returns the number, with what its arguments say. family: the name of its file. source: a publication with
    its DOI or arXiv number, or OURS. unit: "mm", "mm3" (mm2 for contours), "bit" or "" for fractions. low, high: range.
    better: "lower", "higher" or "". empty: its value when exactly one structure is empty. identity: its value for
    identical structures, None if that depends on them. formula: in LaTeX, lines separated by two backslashes, with the
    symbols that docs/formulas.md explains; the same for all keys of a kind, such as those of the six sides.

    steps: further functions that compute parts of the formula, by their names in the library. symbols: of the formula
    that stand for settings, in LaTeX, each with the names of the settings; parameters may be omitted. alias: its short
    name in EvaluateSegmentation, the program of its source, "" if it has none there. deviation: how the formula differs
    from what its source prints or computes, "" if it does not. symmetric: whether the value stays the same when
    reference and test are exchanged. dependsOnGrid: whether the voxels outside both structures count. trend: how the
    value changes with a larger parameter, "rising", "falling" or "any"; "" without a parameter. side: the side of the
    patient, in words, of a measurement that exists for each of them. hint: when to choose it or not. heading: a short
    name for the head of a column, "" where the key is one. concept: code, scheme and meaning in DICOM of a concept of
    others that means precisely this, of the structure that a group of measurements is about, which is the test; None
    for one of our own, whose code is the key. isMain: whether an overview of many structures shows it. isCount: whether
    it counts something: a whole number. areaTitle, areaDescription: for volumes, the title and description for contours
    in a plane, which have areas. unitSetting: returns the unit that the settings choose, None if they do not determine
    it. emptiness: the quantity that says which structure is empty for this measurement, "" if none is. ofEmpty: returns
    the number when a structure is empty; None if the formula, or `empty`, says it. note: returns what the value leaves
    out, "" if nothing. given: what arguments stand for that are not looked up by their names: a value, or the name of
    something else.
    """

    key: str
    title: str
    function: Callable[..., float]
    family: str
    source: str
    unit: str
    low: float
    high: float
    better: str
    empty: Empty
    description: str
    identity: float | None
    formula: str
    steps: tuple[str, ...] = ()
    symbols: tuple[tuple[str, tuple[str, ...]], ...] = ()
    alias: str = ""
    deviation: str = ""
    symmetric: bool = True
    dependsOnGrid: bool = False
    trend: str = ""
    side: str = ""
    hint: str = ""
    heading: str = ""
    concept: tuple[str, str, str] | None = None
    isMain: bool = False
    isCount: bool = False
    areaTitle: str = ""
    areaDescription: str = ""
    unitSetting: Callable[[Any], str] | None = None
    emptiness: str = "emptiness"
    ofEmpty: Callable[..., float] | None = None
    note: Callable[..., str] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """The name of its function in the library."""
        return f"{self.function.__module__.partition('.')[2]}.{self.function.__qualname__}"

    @cached_property
    def parameter(self) -> str | None:
        """The parameter in its key, None without one."""
        return next((name for name in PARAMETERS if f"{{{name}}}" in self.key), None)

    @cached_property
    def needs(self) -> frozenset[str]:
        """The names of everything that it needs of a pair."""
        given = (self.given.get(name, Named(name)) for name in argumentsOf(self.function))
        return frozenset().union(*(closureOf(one.name) for one in given if isinstance(one, Named)))

    def ask(self, settings: Any) -> list[Asked]:
        """Return what is measured of it with settings: itself, or itself with each value of its parameter."""
        if self.parameter is None:
            return [Asked(self.key, (self,), {})]
        stated = [{self.parameter: value} for value in getattr(settings, PARAMETERS[self.parameter].setting)]
        return [Asked(self.keyFor(parameters), (self,), parameters) for parameters in stated]

    def isStatedBy(self, parameters: Mapping[str, float]) -> bool:
        """Return whether parameters are all that its key needs."""
        return self.parameter is None or self.parameter in parameters or PARAMETERS[self.parameter].isUnmentioned

    def keyFor(self, parameters: Mapping[str, float | str]) -> str:
        """Return the key for a parameter, a number or text; beta 1 and quantile 1 are left out."""
        if self.parameter is None:
            return self.key
        value = parameters.get(self.parameter, 1.0)
        word = value if isinstance(value, str) else shortest(value)
        if word == "1" and PARAMETERS[self.parameter].isUnmentioned:
            return self.key.replace(f"_{{{self.parameter}}}", "")
        return self.key.replace(f"{{{self.parameter}}}", word)

    def readKey(self, key: str) -> dict[str, float] | None:
        """Return the parameters that a key states, {} without any, or None if the key is not of this metric."""
        if self.parameter is not None and PARAMETERS[self.parameter].isUnmentioned and key == self.keyFor({}):
            return {self.parameter: 1.0}
        return readTemplate(self.key, key)

    def unitFor(self, dimension: int, settings: Any) -> str:
        """Return the unit for surfaces in space (dimension 3) or contours in a plane (2), where mm2 replaces mm3."""
        if self.unitSetting is not None:
            return self.unitSetting(settings)
        return AREA if self.unit == VOLUME and dimension == 2 else self.unit


@dataclass(frozen=True, eq=False)
class Asked:
    """Measurements that a name stands for.

    key: as it is kept, such as HD95, NSD for all tolerances, or D95 for those of the reference, the test, and their
    difference. metrics: of these measurements, mostly one. parameters: that the name states; those that it leaves out
    have the values of the settings.
    """

    key: str
    metrics: tuple[Metric, ...]
    parameters: Mapping[str, float]

    @cached_property
    def metric(self) -> Metric:
        """The first, and mostly the only one."""
        return self.metrics[0]

    @cached_property
    def words(self) -> dict[str, str]:
        """The parameters as texts show them."""
        return {name: shortest(value) for name, value in self.parameters.items()}

    def describe(self, unit: str) -> dict[str, Any]:
        """Return what a measurement in a unit has of its metric."""
        one, isArea = self.metric, unit == AREA and self.metric.areaTitle
        texts = (one.areaTitle, one.areaDescription) if isArea else (one.title, one.description)
        title, description = (text.format(**self.words) for text in texts)
        plain = {"family": one.family, "source": one.source, "better": one.better, "isCount": one.isCount}
        return {"title": title, "description": description, **plain}


# The functions that numbers of a pair share, by name.
QUANTITIES: dict[str, Callable[..., Any]] = {}
# What these take from a pair itself.
USED: dict[str, tuple[str, ...]] = {}


def quantity(*uses: str) -> Callable[[Function], Function]:
    """Declare a function whose result numbers of a pair share: it is computed once, and known by the function's name.

    Its arguments are looked up as those of metrics. One called `pair` is the pair itself, for what is needed only
    sometimes. uses: the names of what findings can use of that.
    """

    def declare(function: Function) -> Function:
        name = function.__name__
        if QUANTITIES.setdefault(name, function).__module__ != function.__module__:
            raise ValueError(f"There are two quantities {name!r}.")
        USED[name] = uses
        return function

    return declare


def formula(text: str, *steps: str, **more: Any) -> Callable[[Function], Function]:
    """Declare the formula of the metric above it, in LaTeX.

    steps: functions that compute parts of it, by their names in the library, or in the file of the metric. more:
    `symbols` that stand for settings, and the `deviation` from its source: see Metric.
    """
    return _tell(formula=text, **({"steps": steps} if steps else {}), **more)


def hint(text: str) -> Callable[[Function], Function]:
    """Declare when to choose the metric above it or not."""
    return _tell(hint=text)


def _tell(**texts: Any) -> Callable[[Function], Function]:
    def declare(function: Function) -> Function:
        vars(function).setdefault("told", {}).update(texts)
        return function

    return declare


def each(**columns: Sequence[Any]) -> Callable[[Function], Function]:
    """Declare that the metric above it is several of one function, and what differs between them.

    columns: by name, with a value for each of them: an argument of the function, a {word} in texts, or something that
    Metric has. Two such declarations make every combination, in which the lower one changes first.
    """
    rows = [dict(zip(columns, row)) for row in zip(*columns.values(), strict=True)]

    def declare(function: Function) -> Function:
        others = vars(function).get("variants", ({},))
        vars(function)["variants"] = [{**own, **other} for own in rows for other in others]
        return function

    return declare


def metric(
    named: str, source: str, *, best: float | None = None, unit: str = "", family: str = "", **more: Any
) -> Callable[[Function], Function]:
    """Declare a function as a metric.

    named: key and title, such as "HD: Hausdorff distance". source, unit, family, more: see Metric; the family is the
    name of the file unless another one is given. best: the best value, which equal structures have: 0 where lower is
    better, from 0 on, or 1 where higher is, up to 1; None for neither. formula(), hint() and each() below it say more.
    """

    def declare(function: Function) -> Function:
        key, _, title = named.partition(": ")
        home = function.__module__.partition(".")[2]
        paragraph = inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0]
        isCounted = not {"counts", "exactCounts"}.isdisjoint(argumentsOf(function))
        said: dict[str, Any] = {
            "function": function,
            "key": key,
            "title": title,
            "source": source,
            "unit": unit,
            "family": family or home.rpartition(".")[2],
            "description": " ".join(paragraph.split("\n")),
            "low": 0,
            "high": 1 if unit == "" and not more.get("isCount") else math.inf,
            "better": "" if best is None else ("lower", "higher")[best > 0],
            "identity": best,
            # where memberships count in part, a structure is not empty as long as it has any
            "emptiness": "emptinessOfMemberships" if isCounted else "emptiness",
            "given": {},
            **vars(function).get("told", {}),
            **more,
        }
        found = vars(function).setdefault("metrics", [])
        for variant in vars(function).pop("variants", ({},)):
            own = {**said, **{name: value for name, value in variant.items() if name in Metric.__dataclass_fields__}}
            for word, text in variant.items():
                if isinstance(text, str):
                    for name, template in own.items():
                        if isinstance(template, str):
                            own[name] = template.replace(f"{{{word}}}", text)
            # some of them are words of texts only, or properties
            own["given"] = {**said["given"], **{name: value for name, value in variant.items() if name not in own}}
            own["steps"] = tuple(f"{home}.{one}" if one.count(".") < 2 else one for one in own.get("steps", ()))
            found.append(Metric(**own))
        return function

    return declare


def readTemplate(template: str, text: str, flags: int = 0) -> dict[str, float] | None:
    """Return the {parameters} in a text that is like a template with numbers for them; None for another text.

    flags: of regular expressions.
    """
    found = _patternOf(template, flags).fullmatch(text)
    return None if found is None else {name: float(number) for name, number in found.groupdict().items()}


@cache
def _patternOf(template: str, flags: int) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d+\\.?\\d*(?:e[+-]?\\d+)?)", re.escape(template)), flags)


@cache
def argumentsOf(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a function's arguments."""
    return tuple(inspect.signature(function).parameters)


@cache
def closureOf(name: str) -> frozenset[str]:
    """Return a name, and those of everything that the quantity of this name needs."""
    if name not in QUANTITIES:
        return frozenset((name,))
    return frozenset((name,)).union(*map(closureOf, (*argumentsOf(QUANTITIES[name]), *USED[name])))
