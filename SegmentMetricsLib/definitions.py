"""What the registry knows about a kind of measurement."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .boundary import Directed
from .settings import Settings
from .signed import Located

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
    COMPUTED = "as computed"


@dataclass(frozen=True)
class Definition:
    """One kind of measurement.

    key, title, description: may hold {percentile} or {tolerance}, filled in for every value of the settings.
    unit: "mm", "mm3" (mm2 for contours) or "" for fractions. low, high: range. better: "lower", "higher" or "".
    compute: takes the pair and, if there is one, the parameter. symmetric: whether it stays when reference and test are
    exchanged. identity: its value when both are the same, None if that depends on them. dependsOnGrid: whether the
    voxels outside both structures count. hint: when to choose it or not.
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
    identity: float | None = None
    dependsOnGrid: bool = False
    hint: str = ""

    def parameters(self, settings: Settings) -> Iterator[dict[str, float]]:
        """Yield the parameters to compute the measurement for: none, every percentile or every tolerance."""
        if "{percentile}" in self.key:
            yield from ({"percentile": p} for p in settings.percentiles)
        elif "{tolerance}" in self.key:
            yield from ({"tolerance": t} for t in settings.tolerances)
        else:
            yield {}

    def unitFor(self, dimension: int) -> str:
        return "mm2" if self.unit == "mm3" and dimension == 2 else self.unit
