"""Conventions: each one is a tool's way to compute the numbers that all tools call by the same names.

A convention is data. A tool's file names the elements of the boundary that the tool measures from, how it turns their
distances into numbers, its numbers for empty masks, and the reasons. The elements and rules are shared, in elements.py,
rules.py and their neighbors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# The convention of this library itself.
OWN_CONVENTION = "SegmentMetrics"
# Keys of the registry, whose placeholders are filled in for every value of the settings.
HD, HDP, MASD, ASSD = "HD", "HD{percentile}", "MASD", "ASSD"
NSD, BIOU, DSC, IOU = "NSD_{tolerance}mm", "BIoU_{tolerance}mm", "DSC", "IoU"
KEYS = (HD, HDP, MASD, ASSD, NSD, BIOU, DSC, IOU)
DISTANCES = (HD, HDP, MASD, ASSD)


@dataclass(frozen=True)
class Number:
    """How a tool computes one number.

    rule: function of the result of `elements`, and of the percentile or tolerance if the key has one. elements:
    function of the Sampling that returns the measurements from the reference and from the test; None for that of the
    convention. name: the tool's name for the number; `{percentile}` and `{tolerance}` are filled in. reason: one line
    on what the tool does. notReproducible: why the tool's own number cannot be given, so that the value is that of the
    tool's definition; "" if it can. unit: None for that of the registry. dimension: 2 or 3 if the tool takes
    images of one slice or volumes alone, and stops for the others.
    """

    rule: Callable[..., float]
    name: str
    reason: str
    elements: Callable | None = None
    notReproducible: str = ""
    unit: str | None = None
    dimension: int | None = None


@dataclass(frozen=True)
class Convention:
    """One tool's convention.

    key: name in files. tool: name for people. version: of the tool that the numbers were compared with, or whose source
    they were read from. source: web address of the tool. elements: the elements that the tool measures from. numbers:
    the reported numbers, by key of the registry.
    oneEmpty, bothEmpty: the results for empty masks, by key, under "" for all other keys: a number, NaN unless stated,
    or in words what the tool does instead. referenceEmpty: differences from oneEmpty if the reference is the empty one.
    atEdge: how the tool treats a structure that reaches the edge of its image, "" if nothing special.
    """

    key: str
    tool: str
    version: str
    source: str
    elements: Callable
    numbers: Mapping[str, Number] = field(default_factory=dict)
    oneEmpty: Mapping[str, float | str] = field(default_factory=lambda: {"": math.nan})
    bothEmpty: Mapping[str, float | str] = field(default_factory=lambda: {"": math.nan})
    referenceEmpty: Mapping[str, float | str] = field(default_factory=dict)
    atEdge: str = ""

    @property
    def label(self) -> str:
        """Tool and version, for people."""
        return f"{self.tool} {self.version}"

    def valueIfEmpty(self, key: str, reference: bool, test: bool) -> float | str:
        """Return the tool's result if the reference, the test or both are empty."""
        given = self.bothEmpty if reference and test else self.oneEmpty
        if reference and not test:
            given = {**given, **self.referenceEmpty}
        return given.get(key, given[""])
