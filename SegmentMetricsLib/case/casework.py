"""Comparing the structures of a case: reading and pairing them, comparing each pair, and judging the case."""

from __future__ import annotations

import math
import operator
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..base.errors import InputError, PairError, reasonOf, requireFunction, requireKind
from ..base.progress import Cancelled
from ..base.texts import pluralize
from ..geometry.grids import Grid
from ..io.labelnames import labelNamesFrom
from ..io.reading import readAll
from ..io.structurenames import adviceOnCases, settleNames
from ..metrics.findings import alarmsFirst
from ..metrics.pair import Pair
from ..model.dose import Dose
from ..model.grayimages import GrayImage
from ..model.ignored import separateIgnored
from ..model.naming import isPattern
from ..model.structure import Structure
from ..model.structures import Labels, Match, Pairing, asName, inAnySpelling, nameMeant, onlyNamed, unusableIn
from ..model.structureset import StructureSet
from ..settings.settings import Settings
from . import comparison
from .caseresult import STOPPED, CaseResult
from .comparison import Comparison
from .findings.imagefit import imageUnder
from .given import asStructure
from .gridspread import withGridUncertainty
from .pairing import note, pairStructures, whyNothingIsPaired
from .protocol.judgment import judgeCase
from .protocol.protocol import Protocol, asProtocol

# What the structures of one side are given as: the path of a file or folder, or the structures themselves.
Side = str | os.PathLike | Iterable[Structure]
# Told before each pair of its number, from 0, the number of all pairs and the structure's name; False stops the work.
Progress = Callable[[int, int, str], bool | None]
# Executes a calculation and returns its result.
Run = Callable[[Callable[[], Any]], Any]
# Pairs of up to so many triangles are measured together, up to so many in all.
SMALL, MOST_TOGETHER = 15_000.0, 60_000.0
# Runs a calculation immediately, in the calling thread.
atOnce: Run = operator.call


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

    They are paired by name, in any spelling, and by terminology code. A structure that cannot be compared is among the
    result's failures, with its reason; the others are compared. The result's `remarks` list what was not compared.

    Parameters
    ----------
    reference, test : Side
        Paths of files or folders, as for readStructures(), or several Structures.
    settings : Settings | None, optional
        What to measure and how; None means the defaults. The critical structures that they name are in the reference.
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
        The dose of a plan, as for compare().
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
    settings, _ = comparison.adapt(settings, ignore)
    protocol = asProtocol(protocol)
    if choices is not None:
        requireKind(choices, Mapping, "The chosen pairs", "a mapping of reference to test names")
    if progress is not None:
        requireFunction(progress, "The progress function")
    more: dict[str, Any] = {"names": names, "labelNames": labelNamesFrom(labelNames), "dose": dose}
    chosen = [(asName(name), None if other is None else asName(other)) for name, other in (choices or {}).items()]
    return openCase(reference, test, settings, choices=chosen, protocol=protocol, **more).compare(progress)


@dataclass(frozen=True)
class Case:
    """The structures of a case, what of them is compared, and how.

    pairing: the structures that are compared. settings: with the names that the structures have in this case. protocol:
    adds measurements to those of the settings, and judges the case; None for none. criticals: the critical structures
    by name. dose: of a plan, or None. displayed: makes the surface that Slicer displays of a structure, for settings
    that ask for it; None if the structures already have the surfaces that are measured. isSpread: whether to compute
    what the grid itself contributes to measurements. unusable: the reasons, by name, why structures cannot be used.
    isWhole: whether all structures are compared, not only chosen ones. image: the part around the structures of the
    image under the contours, or None.
    """

    pairing: Pairing
    settings: Settings
    protocol: Protocol | None = None
    criticals: Mapping[str, Structure] = field(default_factory=dict)
    dose: Dose | None = None
    displayed: Callable[[Structure], Structure] | None = None
    isSpread: bool = False
    unusable: Mapping[str, str] = field(default_factory=dict)
    isWhole: bool = True
    image: GrayImage | None = None

    def pairs(self, matches: Iterable[Match]) -> Iterator[Comparison | PairError]:
        """Yield the comparison of each pair, in order, or why it cannot be compared.

        They are measured together, which is quicker for the pairs of one of packs().
        """
        opened = deque((match, self._open(match)) for match in matches)
        if len(opened) > 1:
            with suppress(InputError, MemoryError):  # which each pair then says for itself
                comparison.measureTogether(pair for _, pairs in opened if isinstance(pairs, list) for pair in pairs)
        while opened:
            yield self._compare(*opened.popleft())  # nothing of it is kept here

    def _open(self, match: Match) -> list[Pair] | PairError:
        """Return what is computed of a pair: with the settings, and with those of other conventions in the protocol."""
        chosen, pairs = [self.settings], []
        try:
            if self.protocol is not None:
                chosen = list(self.protocol.settingsFor(self.settings, *(one.name for one in match)).values())
            for settings in chosen:
                shown = (withSurface(one, settings, self.displayed) for one in match)
                reference, test = (asStructure(one, "", None, settings) for one in shown)
                # what a protocol asks of another tool has no dose
                dose = self.dose if "dose" in settings.families else None
                pairs.append(Pair(reference, test, settings, self.criticals, dose=dose))
        except (InputError, MemoryError) as error:
            return _pairError(match, error)
        return pairs

    def _compare(self, match: Match, pairs: list[Pair] | PairError) -> Comparison | PairError:
        if isinstance(pairs, PairError):
            return pairs
        try:
            first, *others = map(comparison.comparePair, pairs)
            if self.isSpread:
                first = withGridUncertainty(first, self.displayed)
            if others:
                first = replace(first, others={one.settings.convention: one.measurements for one in others})
            return note(first, match)
        except (InputError, MemoryError) as error:
            return _pairError(match, error)

    def packs(self) -> list[list[int]]:
        """Return the numbers of the pairs that are measured together: small ones on one grid; others are alone."""
        packs: list[list[int]] = []
        latest: dict[Grid, tuple[list[int], float]] = {}
        for number, match in enumerate(self.pairing.pairs):
            grids = {one.samplingGrid for one in match if one.givenSurface is None}
            cost, grid = costOf(match), grids.pop() if len(grids) == 1 else None
            if cost > SMALL or grid is None:
                packs.append([number])
                continue
            pack, total = latest.get(grid, ([], math.inf))
            if total + cost > MOST_TOGETHER:
                packs.append(pack := [])
                total = 0.0
            pack.append(number)
            latest[grid] = pack, total + cost
        return packs

    def compare(self, progress: Progress | None = None, run: Run = atOnce) -> CaseResult[Comparison]:
        """Compare all pairs in this process and return the result of the case.

        progress: as for compareCase(). run: executes a calculation, such as in another thread. Raises Cancelled if the
        work is stopped before any pair was compared.
        """
        pairs = self.pairing.pairs
        done: dict[int, Comparison | PairError] = {}
        for pack in self.packs():
            chosen: list[int] = []
            try:
                for number in pack:
                    begun, name = len(done) + len(chosen), pairs[number].reference.name
                    if progress is not None and progress(begun, len(pairs), name) is False:
                        break
                    chosen.append(number)
            except Cancelled:
                if not (done or chosen):
                    raise
            try:
                # the pairs are measured when they are listed
                found = run(partial(list, self.pairs(pairs[number] for number in chosen)))
                done.update(zip(chosen, found, strict=True))
            except Cancelled:
                if not done:
                    raise
                break
            if len(chosen) < len(pack):
                break
        return self.result(done)

    def result(self, found: Mapping[int, Any]) -> CaseResult:
        """Return the result of the case, judged by the protocol if there is one.

        found: by number of the pair, what is kept of its comparison, or why it cannot be compared; pairs without either
        were not compared because the work was stopped.
        """
        pairs = self.pairing.pairs
        done = {number: found[number] for number in sorted(found)}
        raised = {number: error for number, error in done.items() if isinstance(error, InputError)}
        order = [number for number in done if number not in raised]
        pairing = replace(self.pairing, pairs=tuple(pairs[number] for number in order))
        result: CaseResult = CaseResult((done[number] for number in order), pairing)
        result.errors = {**pairing.failures, **{pairs[number].title: error for number, error in raised.items()}}
        result.failures = {**self.unusable, **{title: reasonOf(error) for title, error in result.errors.items()}}
        if missing := [match.title for number, match in enumerate(pairs) if number not in done]:
            result.failures |= dict.fromkeys(missing, STOPPED)
            count = pluralize(len(result) + len(missing), "structure")
            result.findings = (f"Stopped: {len(result)} of {count} measured.", *result.findings)
            result.wasStopped = True
        self._judge(result)
        return result

    def exchange(self, result: CaseResult[Comparison], number: int, comparison: Comparison) -> CaseResult[Comparison]:
        """Return the result of a case of many pairs with another comparison of one of them, judged anew."""
        changed = copy(result)
        changed[number] = comparison
        replace(self, isWhole=True)._judge(changed)
        return changed

    def _judge(self, result: CaseResult) -> None:
        if self.protocol is not None:
            measured = [((one.reference.name, one.test.name), one.byConvention) for one in result]
            more: dict[str, Any] = {"isWhole": self.isWhole, "failures": result.failures}
            result.judgment = judgeCase(self.protocol, measured, result.unmatched, **more)


def costOf(structures: Iterable[Structure]) -> float:
    """Return about how many triangles the surfaces of structures have, by the boxes around their voxels."""
    total = 0.0
    for structure in structures:
        if structure.givenSurface is not None:
            total += len(structure.givenSurface.cells)
        elif structure.mask is not None:
            k, j, i = structure.mask.voxels.shape
            total += 3.0 * (k * j + j * i + i * k)
    return total


def _pairError(match: Match, error: InputError | MemoryError) -> PairError:
    problem = str(error) if isinstance(error, InputError) else "this takes more memory than the computer has."
    reference, test = match
    return PairError(f"{reference.name} of {reference.file} and {test.name} of {test.file}: {problem}", problem)


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
    protocol: Protocol | None = None,
) -> Case:
    """Read the structures of a case and pair them.

    names, labelNames: as for compareCase(). choices: pairs as for readableChoices(). listedAs: the name of the
    structure of two files in a list of cases, as for settleNames(); choices and names that such a case does not have
    are left out. needsPair: whether to raise InputError if there is no pair. image: path of the image under the
    contours; what is doubtful about it is among the findings of the pairing. dose: of a plan, as for compare(); the
    settings then ask for its family. protocol: as of a Case.
    """
    settings, plan = comparison.adapt(settings, dose=dose)
    given = (reference, test)
    paths = [one for one in given if isinstance(one, (str, os.PathLike))]
    found = iter(readAll(paths, settings.threshold, settings.membershipMaximum, labelNames))
    sets = [next(found) if isinstance(one, (str, os.PathLike)) else _several(one) for one in given]
    classes = dict(settings.instanceClasses) if settings.instanceMaps else None
    sets = settleNames(separateIgnored(sets, settings.ignore, labelNames, classes), name=listedAs)
    isInFiles = len(paths) == len(given)
    referenceSet, testSet = sets
    settings = withLabelsNamed(settings, referenceSet, testSet, labelNames)
    chosen = readableChoices(choices, referenceSet, testSet, labelNames, isNeeded=listedAs is None)
    if names is not None and listedAs is not None:
        known = {one.name for own in sets for one in (*own, *own.leftOut)}
        names = [name for name in inAnySpelling(names, labelNames, *sets) if name in known]
    pairing = pairStructures(referenceSet, testSet, names=names, choices=chosen, labelNames=labelNames)
    findings: Sequence[str] = pairing.findings
    advice = list(filter(None, [adviceOnCases(sets)])) if isInFiles and listedAs is None else []
    if not pairing.pairs:
        findings = whyNothingIsPaired(pairing, paths if needsPair and isInFiles else (), isChosen=bool(names))
        if needsPair:
            raise InputError(" ".join([*findings, *advice]))
    isWhole = names is None or (not names and listedAs is None)
    unusable = unusableIn(pairing, referenceSet, testSet) if isWhole else {}
    shown = None
    if image is not None:
        shown, doubts = imageUnder(Path(image), pairing.pairs)
        findings = alarmsFirst([*doubts, *findings])
    pairing = replace(pairing, findings=(*advice, *findings))
    criticals = criticalsOf(referenceSet, settings)
    return Case(pairing, settings, protocol, criticals, plan, unusable=unusable, isWhole=isWhole, image=shown)


def _several(structures: Iterable[Structure]) -> StructureSet:
    requireKind(structures, Iterable, "The input", "the path of a file or folder, or several Structures")
    several = StructureSet.of(structures)
    for structure in several:
        requireKind(structure, Structure, "Each of several structures", "a Structure")
    return several


def withSurface(
    structure: Structure, settings: Settings, displayed: Callable[[Structure], Structure] | None
) -> Structure:
    """Return a structure with the surface that the settings ask for, unless it has one. displayed: as of a Case."""
    isMade = settings.surface == "unsmoothed" or structure.mask is None or structure.givenSurface is not None
    return structure if displayed is None or isMade or structure.isEmpty else displayed(structure)


def withLabelsNamed(
    settings: Settings,
    reference: Sequence[Structure],
    test: Sequence[Structure] = (),
    labelNames: Mapping[Labels, str] | None = None,
) -> Settings:
    """Return settings in which structures given in another spelling, by number or by pattern have their actual names.

    labelNames: names, by number, of labels that have none of their own.
    """

    def spell(given: Iterable[tuple[str, float]], structures: Collection[Structure]) -> tuple[tuple[str, float], ...]:
        found: dict[str, float] = {}
        for name, weight in given:
            fitting = inAnySpelling([name], labelNames, structures) if isPattern(name) else ()
            found |= dict.fromkeys(fitting or [nameMeant(name, structures, labelNames)], weight)
        return tuple(found.items())

    both = StructureSet.of(reference) + test
    return replace(
        settings, critical=spell(settings.critical, reference), labelWeights=spell(settings.labelWeights, both)
    )


def criticalsOf(structures: Sequence[Structure], settings: Settings) -> dict[str, Structure]:
    """Return the critical structures that the settings name. Raises InputError for missing or ambiguous ones."""
    names = [name for name, _ in settings.critical]
    return {name: onlyNamed(name, structures, "The reference", what="critical structure") for name in names}


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
