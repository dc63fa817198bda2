"""What each label contributes to the overlap of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Share:
    """The volumes of one label in mm3 (areas in mm2 for contours); memberships count in part.

    both: of the intersection. reference, test: of the label in each segmentation. problem: why these are unknown, "" if
    they are known.
    """

    name: str
    both: Fraction = Fraction(0)
    reference: Fraction = Fraction(0)
    test: Fraction = Fraction(0)
    problem: str = ""

    @property
    def either(self) -> Fraction:
        return self.reference + self.test - self.both

    def toDictionary(self) -> dict:
        """Return the share as plain values for files."""
        if self.problem:
            return {"name": self.name, "problem": self.problem}
        sizes = {key: float(getattr(self, key)) for key in ("reference", "test", "both")}
        return {"name": self.name, **sizes}
