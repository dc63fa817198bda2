"""The properties of a kind of measurement in the registry."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..base.texts import shortest
from ..settings.settings import PARAMETERS, Settings
from .values import Directed, Located, Remarked

if TYPE_CHECKING:
    from .pair import Workspace

REVOLUTIONS = "Podobnik & Vrtovec, arXiv:2410.02630"
TAHA = "Taha & Hanbury, doi:10.1186/s12880-015-0068-x"
NIKOLOV = "Nikolov et al., arXiv:1809.04430"
CHENG = "Cheng et al., arXiv:2103.16562"
OURS = "SegmentMetrics"


# A quantity of a workspace, shared by measurements: one of its properties, or a function of it.
Need = property | Callable[..., Any]


class Empty(enum.Enum):
    """The value of a measurement when exactly one structure is empty. When both are, it is undefined."""

    INFINITE = "infinite"
    ZERO = "0"
    SIGNED = "infinite, negative when the test is empty"
    ONE = "1"
    # by its formula, which holds for one empty structure
    COUNTED = "as counted"
    # by its formula, which holds for two empty structures as well
    COMPUTED = "as computed"


# Units of volumes of surfaces in space, and of areas of contours in a plane.
VOLUME, AREA = "mm3", "mm2"
# Parameters that are omitted from the key if 1.
UNMENTIONED = ("beta", "quantile")
# Families in which voxels with memberships count in part.
BY_MEMBERSHIPS = ("overlap", "agreement")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """One kind of measurement.

    Parameters
    ----------
    key, title, description : str
        May hold a parameter such as {percentile}, filled in for every value of the settings.
    family : str
        One of settings.FAMILIES.
    source : str
        A publication with its DOI or arXiv number, or OURS.
    unit : str
        "mm", "mm3" (mm2 for contours), "bit" or "" for fractions.
    low, high : float
        Range.
    better : str
        "lower", "higher" or "".
    empty : Empty
        Its value when exactly one structure is empty.
    compute : Callable[..., float | Directed | Located | Remarked]
        Takes the pair and, if there is one, the parameter; returns the measurement.
    identity : float | None
        Its value for identical structures, None if that depends on them.
    formula : str
        In LaTeX, lines separated by two backslashes, with the symbols that docs/formulas.md explains; the same for all
        keys of a kind, such as those of the six sides.
    code : str
        The function or property, by its name in the library, that implements the formula and returns the measurement.
    steps : tuple[str, ...], optional
        Further ones that compute parts of the formula.
    symbols : tuple[tuple[str, tuple[str, ...]], ...], optional
        Symbols of the formula that stand for settings, in LaTeX, each with the names of the settings; parameters may be
        omitted.
    alias : str, optional
        Its short name in EvaluateSegmentation, the program of its source, "" if it has none there.
    deviation : str, optional
        How the formula differs from what its source prints or computes, "" if it does not.
    symmetric : bool, optional
        Whether the value stays the same when reference and test are exchanged.
    dependsOnGrid : bool, optional
        Whether the voxels outside both structures count.
    trend : str, optional
        How the value changes with a larger parameter, "rising", "falling" or "any"; "" without a parameter.
    side : str, optional
        The side of the patient, in words, of a measurement that exists for each of them.
    hint : str, optional
        When to choose it or not.
    heading : str, optional
        A short name for the head of a column, "" where the key is one.
    isMain : bool, optional
        Whether an overview of many structures shows it.
    isCount : bool, optional
        Whether it counts something: a whole number.
    areaTitle, areaDescription : str, optional
        For volumes, the title and description for contours in a plane, which have areas.
    unitSetting : Callable[[Settings], str] | None, optional
        Returns the unit that the settings choose, None if they do not determine it.
    emptiness : Callable[[Workspace], str] | None, optional
        Takes the pair and returns which structure is empty for this measurement, "" if none is; None stands for
        ofMemberships() in the families that count these, and for ofMasks() in all others.
    note : Callable[[Workspace], str], optional
        Takes the pair and returns what the value leaves out, "" if nothing.
    needs : tuple[Need, ...], optional
        The quantities that it needs and that findings or results can use, too: shared properties of a Workspace, or
        functions of it that are computed once. A comparison has those that something in it needs.
    """

    key: str
    title: str
    family: str
    source: str
    unit: str
    low: float
    high: float
    better: str
    empty: Empty
    description: str
    compute: Callable[..., float | Directed | Located | Remarked]
    identity: float | None
    formula: str
    code: str
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
    isMain: bool = False
    isCount: bool = False
    areaTitle: str = ""
    areaDescription: str = ""
    unitSetting: Callable[[Settings], str] | None = None
    emptiness: Callable[[Workspace], str] | None = None
    note: Callable[[Workspace], str] = lambda pair: ""
    needs: tuple[Need, ...] = ()

    def emptinessOf(self, pair: Workspace) -> str:
        """Return which structure is empty for this measurement, "" if none is."""
        usual = ofMemberships if self.family in BY_MEMBERSHIPS else ofMasks
        return (self.emptiness or usual)(pair)

    def parameters(self, settings: Settings) -> Iterator[dict[str, float]]:
        """Yield the parameters to compute the measurement for: none, or each value of the setting for its parameter."""
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
        """Return the key for a parameter as text; beta 1 and quantile 1 are omitted."""
        for name in self.unmentioned:
            if words.get(name, "1") == "1":
                return self.key.replace(f"_{{{name}}}", "")
        return self.key.format(**words)

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        templates = [self.key]
        if self.unmentioned:
            templates.append(self.keyFor({}))
        # a parameter in braces stands for a number in a key
        return tuple(
            re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d[\\d.e+-]*)", re.escape(template))) for template in templates
        )

    def wordsIn(self, key: str, inAnyCase: bool = False) -> dict[str, str] | None:
        """Return the parameters in a key as text, {} without any, or None if the key is not of this definition.

        inAnyCase: whether upper and lower case may differ from the definition's.
        """
        for pattern in self._patterns:
            if found := re.fullmatch(pattern, key) or (inAnyCase and re.fullmatch(pattern.pattern, key, re.IGNORECASE)):
                return {**dict.fromkeys(self.unmentioned, "1"), **found.groupdict()}
        return None

    def unitFor(self, dimension: int, settings: Settings) -> str:
        """Return the unit for surfaces in space (dimension 3) or contours in a plane (2), where mm2 replaces mm3."""
        if self.unitSetting is not None:
            return self.unitSetting(settings)
        return AREA if self.unit == VOLUME and dimension == 2 else self.unit

    def textsFor(self, words: Mapping[str, str], unit: str) -> dict[str, Any]:
        """Return what a measurement with these parameters, as text, and unit has of its definition."""
        return {
            "key": self.keyFor(words),
            "title": self.titleIn(unit).format(**words),
            "family": self.family,
            "description": self.descriptionIn(unit).format(**words),
            "source": self.source,
            "better": self.better,
            "isCount": self.isCount,
        }

    def titleIn(self, unit: str) -> str:
        """Return the title of a measurement in a unit: the area title for areas, if there is one."""
        return self.areaTitle if self.areaTitle and unit == AREA else self.title

    def descriptionIn(self, unit: str) -> str:
        """Return the description of a measurement in a unit: the area description for areas, if there is one."""
        return self.areaDescription if self.areaDescription and unit == AREA else self.description


class Asked(NamedTuple):
    """A measurement that is asked for: its definition, and its parameter with the value, {} without one."""

    definition: Definition
    parameter: Mapping[str, float]

    @property
    def key(self) -> str:
        """The key of the measurement, with its parameter."""
        return self.definition.keyFor({name: shortest(value) for name, value in self.parameter.items()})


def ofMasks(pair: Workspace) -> str:
    """Return the empty structure in words for measurements that look at boundaries or whole voxels."""
    return pair.emptiness


def ofMemberships(pair: Workspace) -> str:
    """Return the empty structure in words for measurements that count memberships."""
    return pair.emptinessOfMemberships
