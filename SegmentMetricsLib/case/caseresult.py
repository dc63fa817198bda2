"""The result of comparing the structures of a case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, ClassVar, TypeVar

from ..base.errors import InputError, raiseAny
from ..model.naming import onlyIn, placeOf
from ..model.structure import Structure
from ..model.structures import Match, Pairing
from .comparison import Comparison, frameOf, pandasOrError
from .multilabel import MultiLabel, combineShares
from .protocol.judgment import Judgment

# What is kept of a comparison: itself, or its record if its geometry is no longer needed.
Kept = TypeVar("Kept")
# The reason why a pair is missing from the results of a comparison that was stopped.
STOPPED = "The comparison was stopped before this pair was measured."


class CaseResult(list[Kept]):
    """The comparisons of the structures of a case, in the order of the reference, and what could not be compared.

    Parameters
    ----------
    comparisons : Iterable[Kept], optional
        The result of each compared pair.
    pairing : Pairing | None, optional
        The pairs that were compared, and the structures that were not.

    Attributes
    ----------
    unmatchedReference, unmatchedTest : list[Structure]
        Structures that only one side has.
    failures : dict[str, str]
        The reasons why structures could not be compared, by name; for a pair with two names, by both:
        "Lens-Lt / Lens_L".
    emptyNodes : list[str]
        Names of segmentations without segments.
    proposals : list[Match]
        Likely pairs among the unmatched structures, which can be confirmed with the `choices` of another run.
    findings : tuple[str, ...]
        Sentences about doubtful pairs.
    judgment : Judgment | None
        The verdicts by a protocol, None without one.
    wasStopped : bool
        Whether the comparison was stopped before all pairs were compared; the others are among the failures.
    errors : dict[str, PairError]
        The failures that were raised as errors when structures were paired or compared, by name.
    """

    # A function of the face, as tables stand above cases.
    _repr_html_: ClassVar[Callable[..., str]]

    def __init__(self, comparisons: Iterable[Kept] = (), pairing: Pairing | None = None):
        super().__init__(comparisons)
        self.pairing = pairing or Pairing((), (), ())
        self.findings: tuple[str, ...] = self.pairing.findings
        self.failures: dict[str, str] = {}
        self.errors: dict[str, InputError] = {}
        self.emptyNodes: tuple[str, ...] = ()
        self.judgment: Judgment | None = None
        self.wasStopped = False

    @property
    def unmatchedReference(self) -> tuple[Structure, ...]:
        return self.pairing.unmatchedReference

    @property
    def unmatchedTest(self) -> tuple[Structure, ...]:
        return self.pairing.unmatchedTest

    @property
    def unmatched(self) -> dict[str, list[str]]:
        """The names of the structures that only one side has, by side."""
        return self.pairing.unmatched

    @property
    def proposals(self) -> tuple[Match, ...]:
        return self.pairing.proposals

    def requireAny(self) -> None:
        """Raise InputError with the reasons when no pair could be compared, if there are pairs."""
        if not self:
            raiseAny([error for title, error in self.errors.items() if title not in self.pairing.failures])

    def __getitem__(self, index):
        """Return one comparison, by its place or the name of its structure, or for a slice some of them.

        Those have the other attributes unchanged. A name may have any spelling, and a pair has that of either structure
        and that of both, as in case["Lens-Lt / Lens_L"]. Raises KeyError, with the names that there are.
        """
        if isinstance(index, str):
            kept: list[Any] = list(self)
            index = placeOf(index, [(one.name, one.reference.name, one.test.name) for one in kept])
        found = super().__getitem__(index)
        if not isinstance(index, slice):
            return found
        part = copy(self)
        part[:] = found
        return part

    @property
    def multiLabel(self: CaseResult[Any]) -> MultiLabel | None:
        """DICEml and JACml of all structures together; None for a single pair or without the agreement family.

        Raises ValueError instead of returning None if the settings contain label weights.
        """
        if not self:
            return None
        shares, settings = [comparison.share for comparison in self], self[0].settings
        number = len(shares) + len(self.unmatchedReference) + len(self.unmatchedTest) + len(self.failures)
        if number > 1 and None not in shares:
            return combineShares(shares, self.pairing, settings, self.failures)
        if settings.labelWeights:
            raise InputError("Weights of labels need several structures and the agreement family.")
        return None

    @property
    def remarks(self) -> list[str]:
        """Sentences about structures that were not compared, with the reasons."""
        sentences = [f"{name} has no segments." for name in self.emptyNodes]
        sentences += [f"{sentence}." for sentence in onlyIn(self.unmatched, self.failures)]
        sentences += self.findings
        return sentences + [f"{name} cannot be compared: {reason}" for name, reason in self.failures.items()]

    def toFrame(self: CaseResult[Comparison]):
        """Return the measurements of all structures as a pandas DataFrame, one row per structure and key.

        Its columns are those of Comparison.toFrame(). Raises InputError if pandas is not installed.
        """
        pandas = pandasOrError()
        frames = {one.name: frameOf(one.measurements) for one in self}
        return pandas.concat(frames, names=["structure"]) if frames else frameOf({})

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self.remarks])
