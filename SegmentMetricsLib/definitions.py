"""What the registry knows about a kind of measurement."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from .metrics.boundary import Directed
from .metrics.signed import Located
from .settings import Settings

if TYPE_CHECKING:
    from .pair import Pair

REVOLUTIONS = "Podobnik & Vrtovec, arXiv:2410.02630"
TAHA = "Taha & Hanbury, doi:10.1186/s12880-015-0068-x"
NIKOLOV = "Nikolov et al., arXiv:1809.04430"
CHENG = "Cheng et al., arXiv:2103.16562"
OURS = "SegmentMetrics"


class Empty(enum.Enum):
    """What a measurement is when exactly one structure is empty. When both are, it is undefined."""

    INFINITE = "infinite"
    ZERO = "0"
    SIGNED = "infinite, negative when the test is empty"
    ONE = "1"
    # its formula holds for one empty structure
    COUNTED = "as counted"
    # and for two
    COMPUTED = "as computed"


# Volumes in space, and the areas that contours in a plane have in their place.
VOLUME, AREA = "mm3", "mm2"
# What a key may hold, and the setting that lists its values; of some, the value 1 is left out of the key.
PARAMETERS = {"percentile": "percentiles", "tolerance": "tolerances", "beta": "betas", "quantile": "quantiles"}
UNMENTIONED = ("beta", "quantile")


@dataclass(frozen=True)
class Definition:
    """One kind of measurement.

    key, title, description: may hold a parameter such as {percentile}, filled in for every value of the settings. unit:
    "mm", "mm3" (mm2 for contours), "bit" or "" for fractions. low, high: range. better: "lower", "higher" or "".
    compute: takes the pair and, if there is one, the parameter. symmetric: whether it stays when reference and test are
    exchanged. identity: its value when both are the same, None if that depends on them. dependsOnGrid: whether the
    voxels outside both structures count. hint: when to choose it or not. emptiness: takes the pair and says which
    structure is empty for this measurement, "" if none is. note: takes the pair and says what a value leaves out, "" if
    nothing. side: of the patient, in words, of a measurement that exists for each of them. trend: how the value changes
    with a larger parameter, "rising", "falling" or "any"; "" without a parameter. formula: in LaTeX, lines parted by
    two backslashes, with the symbols that docs/formulas.md explains; the same for all keys of a kind, such as those of
    the six sides. code: the function or property in which the arithmetic of the formula is to be seen and that returns
    the measurement, by its name in the library. steps: further ones that compute what the formula is made of. symbols:
    those of the formula behind which there are settings, in LaTeX, each with the names of these; parameters need not be
    told. deviation: how the formula differs from what its source prints or computes, "" if it does not. heading: a
    short name for the head of a column, "" where the key is one. isMain: whether an overview of many structures shows
    it. unitSetting: returns the unit that settings ask for, None where they do not decide it. areaTitle,
    areaDescription: of volumes, title and description for contours in a plane, which have areas.
    """

    key: str
    title: str
    unit: str
    low: float
    high: float
    better: str
    family: str
    source: str
    empty: Empty
    description: str
    compute: Callable[..., float | Directed | Located]
    symmetric: bool = True
    identity: float | None = field(kw_only=True)
    formula: str = field(kw_only=True)
    code: str = field(kw_only=True)
    steps: tuple[str, ...] = ()
    symbols: tuple[tuple[str, tuple[str, ...]], ...] = ()
    deviation: str = ""
    dependsOnGrid: bool = False
    hint: str = ""
    side: str = ""
    trend: str = ""
    heading: str = ""
    isMain: bool = False
    unitSetting: Callable[[Settings], str] | None = None
    areaTitle: str = ""
    areaDescription: str = ""
    emptiness: Callable[[Pair], str] = lambda pair: pair.emptiness
    note: Callable[[Pair], str] = lambda pair: ""

    def parameters(self, settings: Settings) -> Iterator[dict[str, float]]:
        """Yield the parameters to compute the measurement for: none, or every value of the setting that it has."""
        if self._parameter is None:
            yield {}
        else:
            yield from ({self._parameter: value} for value in getattr(settings, PARAMETERS[self._parameter]))

    @cached_property
    def _parameter(self) -> str | None:
        return next((name for name in PARAMETERS if f"{{{name}}}" in self.key), None)

    @cached_property
    def unmentioned(self) -> tuple[str, ...]:
        """The parameters whose value 1 is left out of the key."""
        return tuple(name for name in UNMENTIONED if f"_{{{name}}}" in self.key)

    def keyFor(self, words: Mapping[str, str]) -> str:
        """Return the key for a parameter as text; beta 1 and quantile 1 are not mentioned."""
        for name in self.unmentioned:
            if words.get(name, "1") == "1":
                return self.key.replace(f"_{{{name}}}", "")
        return self.key.format(**words)

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        templates = [self.key]
        if self.unmentioned:
            templates.append(self.keyFor({}))
        # a parameter in braces is a number in a key
        return tuple(
            re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d[\\d.e+-]*)", re.escape(template))) for template in templates
        )

    def wordsIn(self, key: str) -> dict[str, str] | None:
        """Return the parameters in a key as text, {} without any, or None if it is no key of this definition."""
        for pattern in self._patterns:
            if found := pattern.fullmatch(key):
                return {**dict.fromkeys(self.unmentioned, "1"), **found.groupdict()}
        return None

    def unitFor(self, dimension: int, settings: Settings) -> str:
        """Return the unit for surfaces in space (dimension 3) or contours in a plane (2): these have mm2 for mm3."""
        if self.unitSetting is not None:
            return self.unitSetting(settings)
        return AREA if self.unit == VOLUME and dimension == 2 else self.unit

    def titleIn(self, unit: str) -> str:
        """Return the title of a measurement in a unit: that of its area if it has one."""
        return self.areaTitle if self.areaTitle and unit == AREA else self.title

    def descriptionIn(self, unit: str) -> str:
        """Return the description of a measurement in a unit: that of its area if it has one."""
        return self.areaDescription if self.areaDescription and unit == AREA else self.description


def ofMemberships(pair: Pair) -> str:
    """Return which structure is empty for a measurement in which memberships count."""
    return pair.emptinessOfMemberships
