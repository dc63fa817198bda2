"""What scripts call: comparisons with all that can be asked of them.

The layers below compute and keep; what is convenient of what they return stands here, so that none of them has to know
those above it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, wraps
from pathlib import Path

from .case import caseresult, casework, comparison, multilabel, stress
from .case.caseresult import frameOf
from .case.gridspread import withGridUncertainty
from .case.stress import StressTest
from .conventions.evaluation import Reported, conventions
from .conventions.which import Candidate, numbersOf, which
from .model.structure import Structure
from .show.resulttables import labelsTable, overviewHtml, pairHtml
from .show.tablemodel import notebookTable


class Comparison(comparison.Comparison):  # noqa: D101 - that of the class below
    __doc__ = comparison.Comparison.__doc__

    @classmethod
    def of(cls, given: comparison.Comparison) -> Comparison:
        """Return a comparison of the layers below as one of these."""
        if isinstance(given, cls):
            return given
        made = cls.__new__(cls)
        made.__dict__.update(given.__dict__)  # also what was computed already
        return made

    def _repr_html_(self) -> str:
        return pairHtml(self)

    def conventions(
        self, keys: str | Iterable[str] | None = None, *, atEdge: bool = False
    ) -> dict[str, dict[str, Reported]]:
        """Return the values that other tools would have reported: convention -> key -> Reported.

        Keys that a tool does not report are missing; the KeyError lists those that exist. keys: one convention or
        several, in any case; all when None. atEdge: whether to keep the image edge, as the tools find it in the files.
        Otherwise background continues beyond the edge, so that a number does not depend on how the image was cropped.
        Raises ValueError for an unknown convention.
        """
        self.requireGeometry()
        return conventions((self.reference, self.test), self.settings, keys, atEdge, self.measurements, self.distances)

    def which(self, value: str | float, key: str | None = None) -> list[Candidate]:
        """Return the numbers that this pair may be given, the nearest to a value first, each with how it comes about.

        They are those of all tools, of other percentiles and tolerances, of one direction alone, and of common mistakes
        such as a spacing that is ignored. What agrees with all digits comes first. value: as text, in which 3.70 is
        more exact than 3.7, or as a number. key: what the value is said to be, such as HD95; None for any measurement.
        Raises ValueError for a value that is not a finite number, and for an unknown key.
        """
        return which(value, self._reportable, key)

    @cached_property
    def _reportable(self) -> tuple[Candidate, ...]:
        """All numbers that this pair may be given."""
        self.requireGeometry()
        return tuple(numbersOf((self.reference, self.test), self.settings))

    def withGridUncertainty(self, displayed: Callable[[Structure], Structure] | None = None) -> Comparison:
        """Return the comparison with the spread of every measurement that the voxel grid alone causes, as its `grid`.

        The measured surfaces of both structures are measured on the reference's grid, shifted by fractions of a voxel.
        A structure that vanishes in some of the shifts is a finding instead. displayed: makes the surfaces that Slicer
        displays, if the settings ask for them, such as mrml.inputs.asDisplayed.
        """
        self.requireGeometry()
        return Comparison.of(withGridUncertainty(self, displayed))

    def picture(self, path: str | os.PathLike, *, size: tuple[int, int] = (1200, 700), kind: str = "signed") -> Path:
        """Draw both surfaces colored by their distance, side by side, write them as PNG and return the path.

        The measured surfaces are drawn. size: width and height in pixels, at least 640 x 400. kind: of the map, as for
        mrml.showDistanceMap. Raises InputError if there are no distances, and OSError if the file cannot be written.
        """
        from .show.pictures.overlay import drawOverlay  # imports what draws

        return drawOverlay(self, path, size=size, kind=kind)

    def toFrame(self):
        """Return the measurements as a pandas DataFrame, one row per key, whose columns are those of a Measurement.

        Raises InputError if pandas is not installed; nothing else of the library needs it.
        """
        return frameOf(self)


class MultiLabel(multilabel.MultiLabel):  # noqa: D101 - that of the class below
    __doc__ = multilabel.MultiLabel.__doc__

    def _repr_html_(self) -> str:
        return notebookTable(labelsTable(self.measurements, remark="remark"))


class CaseResult(caseresult.CaseResult[Comparison]):  # noqa: D101 - that of the class below
    __doc__ = caseresult.CaseResult.__doc__

    @classmethod
    def of(cls, given: caseresult.CaseResult) -> CaseResult:
        """Return the result of a case, and its comparisons, as those of this module."""
        made = cls()
        made.__dict__.update(given.__dict__)
        made[:] = map(Comparison.of, given)
        return made

    @property
    def multiLabel(self) -> MultiLabel | None:
        found = super().multiLabel
        return None if found is None else MultiLabel(found.measurements, found.shares)

    def _repr_html_(self) -> str:
        return overviewHtml(((one.name, one.measurements) for one in self), self.remarks)


@wraps(comparison.compare)
def compare(*given, **named) -> Comparison:
    """See case.comparison.compare(), whose documentation this function has."""
    return Comparison.of(comparison.compare(*given, **named))


@wraps(casework.compareCase)
def compareCase(*given, **named) -> CaseResult:
    """See case.casework.compareCase(), whose documentation this function has."""
    return CaseResult.of(casework.compareCase(*given, **named))


@wraps(stress.stressTest)
def stressTest(*given, **named) -> StressTest:
    """See case.stress.stressTest(), whose documentation this function has."""
    found = stress.stressTest(*given, **named)
    return replace(found, risky=Comparison.of(found.risky), neutral=Comparison.of(found.neutral))


@wraps(multilabel.compareLabels)
def compareLabels(*given, **named) -> MultiLabel:
    """See case.multilabel.compareLabels(), whose documentation this function has."""
    found = multilabel.compareLabels(*given, **named)
    return MultiLabel(found.measurements, found.shares)
