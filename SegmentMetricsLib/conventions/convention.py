"""What a convention is: one tool's way to compute the numbers that all tools call by the same names.

A convention is data. A tool's file says which elements of the boundary the tool measures from, how it turns their
distances into numbers, what it gives for empty masks, and why. The elements and rules are shared, in elements.py,
rules.py and their neighbors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# Keys of the registry, whose placeholders are filled in for every value of the settings.
HD, HDP, MASD, ASSD = "HD", "HD{percentile}", "MASD", "ASSD"
NSD, BIOU, DSC, IOU = "NSD_{tolerance}mm", "BIoU_{tolerance}mm", "DSC", "IoU"
KEYS = (HD, HDP, MASD, ASSD, NSD, BIOU, DSC, IOU)
DISTANCES = (HD, HDP, MASD, ASSD)


@dataclass(frozen=True)
class Number:
    """How a tool computes one number.

    rule: takes what `elements` return, and the percentile or tolerance if the key has one. elements: takes the Sampling
    and returns what is measured from the reference and from the test; None is those of the convention. name: what the
    tool calls the number; `{percentile}` and `{tolerance}` are filled in. reason: in one line, what the tool does.
    notReproducible: why the tool's own number cannot be given, so that the value is that of the tool's definition; ""
    where it can. unit: None is that of the registry.
    """

    rule: Callable[..., float]
    name: str
    reason: str
    elements: Callable | None = None
    notReproducible: str = ""
    unit: str | None = None


@dataclass(frozen=True)
class Convention:
    """One tool's convention.

    key: its name in files. tool: the name for people. version: of the tool with which the numbers were compared, or
    from whose source they were read. source: where that is. elements: what the tool measures from. numbers: by key of
    the registry, what the tool reports.
    oneEmpty, bothEmpty: what it reports for empty masks, by key, under "" for the keys not named: a number, or in words
    what it does instead. referenceEmpty: what differs from oneEmpty when it is the reference that is empty.
    atEdge: what the tool makes of a structure that reaches the edge of its image, "" if nothing special.
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
        """Return what the tool reports when the reference, the test or both are empty."""
        given = self.bothEmpty if reference and test else self.oneEmpty
        if reference and not test:
            given = {**given, **self.referenceEmpty}
        return given.get(key, given[""])


def each(keys: tuple[str, ...], value: float | str) -> dict[str, float | str]:
    """Return a mapping of several keys to one value."""
    return dict.fromkeys(keys, value)
