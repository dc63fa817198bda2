"""Comparing the structures of a case: reading and pairing them, comparing each pair, and judging the case."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from ..base.errors import InputError, PairError, reasonOf, requireFunction, requireKind
from ..base.progress import Cancelled
from ..base.texts import commaSeparated
from ..io.labelnames import labelNamesFrom
from ..io.reading import readAll
from ..io.structurenames import adviceOnCases, settled
from ..metrics.findings import alarmsFirst
from ..metrics.measurement import Measurement
from ..model.dose import Dose
from ..model.grayimages import GrayImage
from ..model.ignored import annotated
from ..model.instances import joined
from ..model.naming import hintAt, isPattern
from ..model.structures import (
    Labels,
    Match,
    Pairing,
    Structure,
    asName,
    inAnySpelling,
    nameMeant,
    requireUsable,
    unusableIn,
)
from ..model.structureset import StructureSet
from ..settings.settings import Settings
from . import comparison
from .caseresult import CaseResult, PairResult
from .comparison import Comparison
from .findings.imagefit import imageUnder
from .pairing import pairStructures, whyNothingIsPaired
from .protocol.judgment import judgeCase
from .protocol.measuring import compareMatch
from .protocol.protocol import Protocol, asProtocol

T = TypeVar("T")
# What the structures of one side are given as: the path of a file or folder, or the structures themselves.
Side = str | os.PathLike | Iterable[Structure]
# Told before each pair of its number, from 0, the number of all pairs and the structure's name; False stops the work.
Progress = Callable[[int, int, str], bool | None]
# Compares each pair, and yields its number and its result, or why it cannot be compared, in any order.
Each = Callable[[Callable[[int, Match], PairResult], Sequence[Match]], Iterator[tuple[int, PairResult | InputError]]]


def atOnce(work: Callable[[], T]) -> T:
    """Run the work immediately, in the calling thread."""
    return work()


def compareCase(
    reference: Side,
    test: Side,
    settings: Settings | None = None,
    *,
    protocol: Protocol | str | os.PathLike | None = None,
    names: Collection[str] | None = None,
    choices: Mapping[str, str | None] | None = None,
    labelNames: Mapping[int, str] | None = None,
    dose: comparison.DoseLike | None = None,
    ignore: str | int | None = None,
    progress: Progress | None = None,
) -> CaseResult[Comparison]:
    """Compare all structures that a test and a reference have in common, and return their comparisons.

    They are paired by name, in any spelling, and by code. A structure that cannot be compared is among the result's
    failures, with its reason; the others are compared. The result's `remarks` list everything that was not compared.

    Parameters
    ----------
    reference, test : Side
        Paths of files or folders, as for readStructures(), or several Structures.
    settings : Settings | None, optional
        What to measure and how; None means the defaults. Critical structures that they name are those of the reference.
    protocol : Protocol | str | os.PathLike | None, optional
        Defines which measurements every structure needs, and determines the result's `judgment`: a Protocol, a file, or
        the name of an example.
    names : Collection[str] | None, optional
        Structures to compare, in any spelling, by label number, or by a pattern such as "Parotid*"; all when None.
    choices : Mapping[str, str | None] | None, optional
        Names of test structures by names of reference structures, which are compared regardless of their names; None
        leaves a structure without a counterpart.
    labelNames : Mapping[int, str] | None, optional
        Names, by number, of labels that have none of their own.
    dose : DoseLike | None, optional
        Of a plan, as for compare().
    ignore : str | int | None, optional
        Name or number of the label of the reference that marks what nobody annotated, as in the settings.
    progress : Progress | None, optional
        Called before every pair is compared, with its index, the number of pairs and the structure's name; returning
        False stops the comparison, and the pairs compared so far are returned.

    Returns
    -------
    CaseResult[Comparison]

    Raises
    ------
    ValueError
        For files that cannot be read, for names that do not exist or occur more than once, and for missing critical
        structures.
    """
    settings = comparison.withIgnored(settings, ignore)
    protocol = asProtocol(protocol)
    if choices is not None:
        requireKind(choices, Mapping, "The chosen pairs", "a mapping of reference to test names")
    if progress is not None:
        requireFunction(progress, "The progress function")
    numbers = None if labelNames is None else labelNamesFrom(labelNames)
    given = (choices or {}).items()
    chosen = [(asName(name), None if other is None else asName(other)) for name, other in given]
    case = openCase(reference, test, settings, names=names, choices=chosen, labelNames=numbers, dose=dose)
    return case.compare(protocol, each=partial(oneByOne, progress=progress))


@dataclass(frozen=True)
class Case:
    """The structures of a case, and what of them is compared.

    pairing: the structures that are compared. settings: with the names that the structures have in this case. sets: all
    structures of the reference and of the test. unusable: the reasons, by name, why structures cannot be used. isWhole:
    whether all structures are compared, not only chosen ones. advice: a sentence on the files, or "". whyNothing: why
    there is no pair, in sentences. image: the part around the structures of the image under the contours, or None.
    dose: of a plan, or None.
    """

    pairing: Pairing
    settings: Settings
    sets: Sequence[StructureSet] = (StructureSet(), StructureSet())
    unusable: Mapping[str, str] = field(default_factory=dict)
    isWhole: bool = True
    advice: str = ""
    whyNothing: Sequence[str] = ()
    image: GrayImage | None = None
    dose: Dose | None = None

    @cached_property
    def criticals(self) -> dict[str, Structure]:
        """The critical structures by name. Raises InputError if the reference does not have them."""
        return criticalsOf(self.sets[0], self.settings)

    def compare(
        self,
        protocol: Protocol | None = None,
        work: Callable[[int, Match], PairResult] | None = None,
        each: Each | None = None,
    ) -> CaseResult:
        """Return the comparisons of all pairs, judged by a protocol if there is one.

        protocol: to judge by, or None. work: compares a pair, given with its number; a PairWork for these settings and
        this protocol if None. each: applies it to all pairs; oneByOne() if None.
        """
        if work is None:
            work = PairWork(self.settings, protocol, self.criticals, dose=self.dose)
        pairs = self.pairing.pairs
        done: dict[int, PairResult] = {}
        raised: dict[int, InputError] = {}
        for number, outcome in (each or oneByOne)(work, pairs):
            if isinstance(outcome, InputError):
                raised[number] = outcome
            else:
                done[number] = outcome
        order = sorted(done)
        findings = (*filter(None, [self.advice]), *(self.whyNothing or self.pairing.findings))
        pairing = replace(self.pairing, pairs=tuple(pairs[number] for number in order), findings=findings)
        result = CaseResult((done[number].comparison for number in order), pairing)
        result.results = tuple(done[number] for number in order)
        result.errors = {**pairing.failures, **{pairs[number].title: raised[number] for number in sorted(raised)}}
        result.failures = {**self.unusable, **{title: reasonOf(error) for title, error in result.errors.items()}}
        missing = [match for number, match in enumerate(pairs) if number not in done and number not in raised]
        if missing:
            result.stop(missing)
        if protocol is not None:
            names = [(match.reference.name, match.test.name) for match in pairing.pairs]
            measured = [(both, one.byConvention) for both, one in zip(names, result.results, strict=True)]
            result.judgment = judgeCase(
                protocol, measured, result.unmatched, isWhole=self.isWhole, failures=result.failures
            )
        return result


@dataclass(frozen=True)
class PairWork:
    """The comparison of any pair of a case, small enough to be sent to other processes.

    protocol: adds measurements to those of the settings, or None. criticals: critical structures by name. displayed:
    makes the surface that Slicer displays of a structure, None if the structures already have those that are measured.
    run: executes a calculation. isSpread: whether to compute what the grid itself contributes to measurements. dose: of
    a plan, or None.
    """

    settings: Settings
    protocol: Protocol | None = None
    criticals: Mapping[str, Structure] = field(default_factory=dict)
    displayed: Callable[[Structure], Structure] | None = None
    run: Callable[[Callable[[], Comparison]], Comparison] = atOnce
    isSpread: bool = False
    dose: Dose | None = None

    def compare(self, match: Match) -> tuple[Comparison, dict[str, Mapping[str, Measurement]]]:
        """Return the comparison of a pair, and all measurements by convention and key, those of the comparison first.

        Raises PairError, naming the two structures, when it is not possible.
        """
        return compareMatch(match, self.settings, self.protocol, self._compareTwo)

    def _compareTwo(self, reference: Structure, test: Structure, settings: Settings) -> Comparison:
        def compared() -> Comparison:
            result = comparePair(reference, test, settings, self.criticals, self.displayed, self.dose)
            # the numbers of other tools are those of the files
            isOwn = settings.convention == self.settings.convention
            return result.withGridUncertainty(self.displayed) if self.isSpread and isOwn else result

        return self.run(compared)

    def __call__(self, number: int, match: Match) -> PairResult:
        comparison, byConvention = self.compare(match)
        return PairResult(comparison, byConvention, comparison.settings, comparison.share)


def oneByOne(
    work: Callable[[int, Match], PairResult], matches: Sequence[Match], progress: Progress | None = None
) -> Iterator[tuple[int, PairResult | InputError]]:
    """Compare pairs in this process, in order, until progress returns False or the work is stopped.

    Raises Cancelled if it is stopped before any pair was compared.
    """
    isAny = False
    outcome: PairResult | InputError
    for number, match in enumerate(matches):
        try:
            if progress is not None and progress(number, len(matches), match.reference.name) is False:
                return
            outcome = work(number, match)
            isAny = True
        except InputError as error:
            outcome = error
        except Cancelled:
            if not isAny:
                raise
            return
        yield number, outcome


def openCase(
    reference: Side,
    test: Side,
    settings: Settings,
    *,
    names: Collection[str] | None = None,
    choices: Iterable[tuple[str, str | None]] = (),
    labelNames: Mapping[Labels, str] | None = None,
    listedAs: str | None = None,
    needsPair: bool = False,
    image: str | os.PathLike | None = None,
    dose: comparison.DoseLike | None = None,
) -> Case:
    """Read the structures of a case and pair them.

    names, labelNames: as for compareCase(). choices: pairs as for readableChoices(). listedAs: the name of the
    structure of two files in a list of cases, as for settled(); choices and names that such a case does not have are
    left out. needsPair: whether to raise InputError if there is no pair. image: path of the image under the contours;
    what is doubtful about it is among the findings of the pairing. dose: of a plan, as for compare(); the settings then
    ask for its family.
    """
    settings, plan = comparison.withDose(settings, dose)
    given = (reference, test)
    paths = [one for one in given if isinstance(one, (str, os.PathLike))]
    found = iter(readAll(paths, settings.threshold, settings.membershipMaximum, labelNames))
    sets = [next(found) if isinstance(one, (str, os.PathLike)) else _several(one) for one in given]
    ours, theirs = annotated(sets, settings.ignore, labelNames, partial(_joined, settings=settings))
    sets = settled((ours, theirs), name=listedAs)
    isInFiles = len(paths) == len(given)
    ours, theirs = sets
    settings = withLabelsNamed(settings, ours, theirs, labelNames)
    chosen = readableChoices(choices, ours, theirs, labelNames, isNeeded=listedAs is None)
    if names is not None and listedAs is not None:
        names = _ofCase(names, sets, labelNames)
    pairing = pairStructures(ours, theirs, names=names, choices=chosen, labelNames=labelNames)
    advice = adviceOnCases(sets) if isInFiles and listedAs is None else ""
    why = []
    if not pairing.pairs:
        owners = paths if needsPair and isInFiles else ()
        why = whyNothingIsPaired(pairing, sets, owners, isChosen=bool(names))
        if needsPair:
            raise InputError(" ".join([*why, advice]).rstrip())
    isWhole = names is None or (not names and listedAs is None)
    unusable = unusableIn(pairing, ours, theirs) if isWhole else {}
    shown, doubts = (None, []) if image is None else imageUnder(Path(image), pairing.pairs)
    if doubts:
        pairing = replace(pairing, findings=alarmsFirst([*doubts, *pairing.findings]))
    return Case(pairing, settings, sets, unusable, isWhole, advice, why, shown, plan)


def _ofCase(names: Collection[str], sets: Sequence[StructureSet], labelNames: Mapping[Labels, str] | None) -> list[str]:
    """Return those names that a structure of either set has, or one that was left out of its file."""
    known = {one.name for own in sets for one in (*own, *own.leftOut)}
    return [name for name in inAnySpelling(names, labelNames, *sets) if name in known]


def _joined(structures: StructureSet, settings: Settings) -> StructureSet:
    """Return structures as they are, or those of an instance map, in which every label or segment is a lesion."""
    return (
        structures.having(joined(structures, dict(settings.instanceClasses))) if settings.instanceMaps else structures
    )


def _several(structures: Iterable[Structure]) -> StructureSet:
    """Return several structures as a set. Raises InputError for anything else."""
    kinds = "the path of a file or folder, or several Structures"
    requireKind(structures, Iterable, "The input", kinds)
    several = StructureSet.of(structures)
    for structure in several:
        requireKind(structure, Structure, "Each of several structures", "a Structure")
    return several


def comparePair(
    reference: Structure,
    test: Structure,
    settings: Settings,
    criticals: Mapping[str, Structure] | None = None,
    displayed: Callable[[Structure], Structure] | None = None,
    dose: Dose | None = None,
) -> Comparison:
    """Return the comparison of two structures. Raises PairError, naming the two, when it is not possible.

    displayed: makes the surface that Slicer displays of a structure, if the settings ask for it; None if the structures
    already have the surfaces that are measured. dose: of a plan, for settings that ask for its family.
    """
    # what a protocol asks of another tool has no dose
    dose = dose if "dose" in settings.families else None
    try:
        ours, theirs = (withSurface(structure, settings, displayed) for structure in (reference, test))
        return comparison.compare(ours, theirs, settings, criticals=criticals, dose=dose)
    except (InputError, MemoryError) as error:
        problem = str(error) if isinstance(error, InputError) else "this takes more memory than the computer has."
        names = f"{reference.name} of {reference.file} and {test.name} of {test.file}"
        raise PairError(f"{names}: {problem}", problem) from error


def withSurface(
    structure: Structure, settings: Settings, displayed: Callable[[Structure], Structure] | None
) -> Structure:
    """Return a structure with the surface that the settings ask for. displayed: as for comparePair()."""
    if displayed is None or settings.surface == "unsmoothed" or structure.mask is None or structure.isEmpty:
        return structure
    return displayed(structure)


def withLabelsNamed(
    settings: Settings,
    reference: Sequence[Structure],
    test: Sequence[Structure] = (),
    labelNames: Mapping[Labels, str] | None = None,
) -> Settings:
    """Return settings in which structures given in another spelling, by number or by pattern have their actual names.

    labelNames: names, by number, of labels that have none of their own.
    """

    def named(given: Iterable[tuple[str, float]], structures: Collection[Structure]) -> tuple[tuple[str, float], ...]:
        found: dict[str, float] = {}
        for name, weight in given:
            fitting = inAnySpelling([name], labelNames, structures) if isPattern(name) else ()
            found |= dict.fromkeys(fitting or [nameMeant(name, structures, labelNames)], weight)
        return tuple(found.items())

    both = StructureSet.of(reference) + test
    return replace(
        settings, critical=named(settings.critical, reference), labelWeights=named(settings.labelWeights, both)
    )


def criticalsOf(structures: Sequence[Structure], settings: Settings) -> dict[str, Structure]:
    """Return the critical structures that the settings name. Raises InputError for missing or ambiguous ones."""
    found = {}
    for name, _ in settings.critical:
        matches = [s for s in structures if s.name == name]
        if len(matches) != 1:
            requireUsable(name, structures)
            problem = "more than one" if matches else "no"
            raise InputError(
                f"The reference has {problem} critical structure named {name!r}; it has "
                f"{commaSeparated(s.name for s in structures)}.{hintAt(name, (s.name for s in structures))}"
            )
        found[name] = matches[0]
    return found


def readableChoices(
    choices: Iterable[tuple[str, str | None]],
    reference: Collection[Structure],
    test: Collection[Structure],
    labelNames: Mapping[Labels, str] | None = None,
    isNeeded: bool = True,
) -> dict[str, str | None]:
    """Return chosen pairs as pairStructures() takes them, each in the way in which both of its structures exist.

    choices: names of a reference and a test structure, None for none. Several are ways to read the same text if they
    are the same with an equals sign between the names; a pair of which no way exists is returned in the first way if
    isNeeded, else left out. Raises InputError when a reference structure is in several pairs.
    """
    known = [{structure.name for structure in structures} for structures in (reference, test)]

    def isThere(pair: tuple[str, str | None]) -> bool:
        both = zip(pair, (reference, test), known, strict=True)
        return all(name is None or nameMeant(name, own, labelNames) in names for name, own, names in both)

    texts: dict[str, list[tuple[str, str | None]]] = {}
    for pair in choices:
        texts.setdefault("=".join(name or "" for name in pair), []).append(pair)
    found: dict[str, str | None] = {}
    for ways in texts.values():
        there = [way for way in ways if isThere(way)] or ways[: int(isNeeded)]
        for name, counterpart in there[:1]:
            if name in found:
                raise InputError(f"{name!r} is in more than one of the given pairs.")
            found[name] = counterpart
    return found
