"""compareObservers(): several observers of the same structures, and tests."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from ...base.errors import InputError, Undefined, reasonOf, requireFunction
from ...base.parallel import eachSideBySide
from ...base.progress import Cancelled
from ...base.texts import commaSeparated, pluralize
from ...io.labelnames import labelNamesFrom
from ...metrics.pair import Pair
from ...model.naming import placeOf
from ...model.structure import Structure
from ...settings.settings import Settings, asSettings
from ..casework import Progress, Run, atOnce, withSurface
from ..comparison import comparePair, frameOf, pandasOrError
from ..places import worstPlaces
from .consensus import Consensus, Drawings, Variation, conformity, consensusOf
from .gathering import Observer, ObserverCase, Organ, gather
from .matrix import compareAll, percentileOf, verdictOf
from .observed import ENOUGH, NOTHING, NUMBERS, TOLERATED, AgainstOthers, ObservedStructure

# Most reasons in the message that nothing can be compared.
MOST_REASONS = 3


class ObserverStudy(Sequence[ObservedStructure]):
    """What several observers have drawn, structure by structure; if there is only one, its attributes are here, too.

    Parameters
    ----------
    found : Sequence[ObservedStructure]
        What was found of each structure.
    case : ObserverCase
        What the observers and tests have drawn, and how it was compared.
    remarks : Sequence[str], optional
        Sentences on what was not compared, and on doubts about what was.
    wasStopped : bool, optional
        Whether the work was stopped before all structures were measured.

    Attributes
    ----------
    structures : tuple[ObservedStructure, ...]
        The structures, in the order of the observers' files; study["Parotid_L"] is one of them.
    observers, testNames : tuple[str, ...]
        Names of the observers, and of the tests.
    remarks : tuple[str, ...]
        As given.
    wasStopped : bool
        As given.
    """

    def __init__(
        self,
        found: Sequence[ObservedStructure],
        case: ObserverCase,
        remarks: Sequence[str] = (),
        wasStopped: bool = False,
    ):
        self.structures = tuple(found)
        self.observers, self.testNames = tuple(case.observers), tuple(case.tests)
        self.settings, self.remarks, self.wasStopped = case.settings, tuple(remarks), wasStopped

    def __len__(self) -> int:
        return len(self.structures)

    def __getitem__(self, index):
        if isinstance(index, str):
            return self.structures[placeOf(index, [[one.name] for one in self.structures])]
        return self.structures[index]

    def __iter__(self) -> Iterator[ObservedStructure]:
        return iter(self.structures)

    def __getattr__(self, name: str):
        if name.startswith("_") or name not in (*ObservedStructure.__dataclass_fields__, *vars(ObservedStructure)):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if len(self.structures) != 1:
            names = commaSeparated(one.name for one in self.structures)
            raise AttributeError(f"{name} is that of a structure: choose one of {names}, as in study[0].{name}")
        return getattr(self.structures[0], name)

    def __repr__(self) -> str:
        return "\n".join([f"<ObserverStudy of {commaSeparated(self.observers)}>", *map(repr, self), *self.remarks])

    def toFrame(self):
        """Return the measurements of all pairs as a pandas DataFrame, one row per structure, reference, test and key.

        Observers and tests are the reference and the test of each pair. Its columns are those of Comparison.toFrame().
        Raises InputError if pandas is not installed.
        """
        pandas = pandasOrError()
        frames = {
            (one.name, one.everyone[row], one.everyone[column]): frameOf(measurements)
            for one in self
            for (row, column), measurements in one.pairs.pairs.items()
        }
        return pandas.concat(frames, names=["structure", "reference", "test"]) if frames else frameOf({})

    def toDictionary(self) -> dict:
        """Return the content of observers.json, without its schema and software."""
        return {
            "settings": self.settings.toDictionary(),
            "observers": list(self.observers),
            "tests": list(self.testNames),
            "structures": [one.toDictionary() for one in self.structures],
            "remarks": list(self.remarks),
        }


def compareObservers(
    observers: Sequence[Observer] | Mapping[str, Observer],
    settings: Settings | None = None,
    *,
    tests: Sequence[Observer] | Mapping[str, Observer] = (),
    names: Sequence[str] | None = None,
    consensus: str = "majority",
    structures: Collection[str] | None = None,
    labelNames: Mapping[int, str] | None = None,
    progress: Progress | None = None,
) -> ObserverStudy:
    """Compare several observers of the same structures with each other, and tests with them.

    Every pair is compared in both orders. With three or more observers there are also a consensus, every observer
    against the consensus of the others, a map of where they differ, and for every test whether it is within their
    range. The inputs are never changed.

    Parameters
    ----------
    observers : Sequence[Observer] | Mapping[str, Observer]
        At least two, or a mapping from their names: each the path of a file or folder, a SimpleITK image, a vtkPolyData
        in LPS mm, a Structure, or several Structures. Those of files, folders and sets are matched by name and code;
        single ones are taken for the same structure, whatever their names.
    settings : Settings | None, optional
        What to measure and how; None means the defaults. The critical structures that they name are those of the
        reference of each pair.
    tests : Sequence[Observer] | Mapping[str, Observer], optional
        What is compared with the observers, such as automatic contours.
    names : Sequence[str] | None, optional
        Names of the observers, or of observers and tests; None uses those of their files or structures.
    consensus : str, optional
        "majority", the voxels that more than half of the observers have; where exactly half have one, the mean of the
        signed distances to their surfaces decides; "staple", SimpleITK's filter on the box around all and 5 voxels on
        each side, cut at 0.5; or "mean-surface", where the mean signed distance is inside. Upper or lower case.
    structures : Collection[str] | None, optional
        Names of those to compare, in any spelling, or patterns such as "Parotid*"; all when None.
    labelNames : Mapping[int, str] | None, optional
        Names by number for labels without a name of their own.
    progress : Progress | None, optional
        Called before every structure with its index, the number of structures and its name; returning False stops the
        work.

    Returns
    -------
    ObserverStudy

    Raises
    ------
    ValueError
        For fewer than two observers, for files that cannot be read, and for unknown names.
    """
    settings = asSettings(settings)
    if progress is not None:
        requireFunction(progress, "What is told of the progress")
    case = gather(observers, tests, settings, names, consensus, structures, labelNamesFrom(labelNames))
    return observeAll(case, progress)


def observeAll(case: ObserverCase, progress: Progress | None = None, run: Run = atOnce) -> ObserverStudy:
    """Compare the observers of every structure in this process, and return the study.

    run: executes a calculation, such as in another thread. Raises Cancelled if the work is stopped before any structure
    was measured, and InputError if none could be compared.
    """
    organs, found = case.comparable, []
    try:
        for number, organ in enumerate(organs):
            if progress is not None and progress(number, len(organs), organ.name) is False:
                break
            found.append(run(partial(observe, case, organ)))
    except Cancelled:
        if not found:
            raise
    return studyOf(case, found)


def studyOf(case: ObserverCase, found: Sequence[ObservedStructure | InputError]) -> ObserverStudy:
    """Return the study of what was found of each comparable structure, in order. Raises InputError if there is none."""
    organs, count = case.comparable, len(case.observers)
    results = [one for one in found if not isinstance(one, InputError)]
    problems = [
        f"{organ.name} cannot be compared: {reasonOf(one)}"
        for organ, one in zip(organs, found, strict=False)
        if isinstance(one, InputError)
    ]
    remarks = [*case.leftOut, *case.findings]
    if wasStopped := len(found) < len(organs):
        remarks.append(f"Stopped: {len(results)} of {len(organs)} structures measured.")
    for organ in case.organs:
        having = [name for name, one in zip(case.observers, organ.structures, strict=False) if one is not None]
        if len(having) < count:
            have = f"{'has' if len(having) == 1 else 'have'} it{f': {commaSeparated(having)}' if having else ''}."
            left = "" if len(having) > 1 else " There is nothing to compare."
            remarks.append(f"{organ.name}: {len(having)} of {pluralize(count, 'observer')} {have}{left}")
        lacking = [name for name, one in zip(case.tests, organ.structures[count:], strict=True) if one is None]
        if lacking and len(having) > 1:
            remarks.append(f"{organ.name} is missing in {commaSeparated(lacking)}.")
    remarks += [f"{name} cannot be compared: {reason}" for name, reason in case.failures.items()]
    if not results and not wasStopped:
        why = [*problems, *remarks] or ["The observers have no structure."]
        raise InputError(f"Nothing can be compared. {' '.join(why[:MOST_REASONS])}")
    return ObserverStudy(results, case, [*problems, *remarks], wasStopped)


def observe(case: ObserverCase, organ: Organ) -> ObservedStructure | InputError:
    """Return what the observers have drawn of a structure, or why they cannot be compared."""
    structures: list[Structure | None] = []
    try:
        for structure, name in zip(organ.structures, [*case.observers, *case.tests], strict=True):
            try:
                structures.append(structure and withSurface(structure, case.settings, case.displayed))
            except InputError as error:
                raise InputError(f"{name}: {error}") from error
        return _observe(case, organ.name, structures)
    except InputError as error:
        return error
    except MemoryError:
        return InputError("this takes more memory than the computer has.")


def _observe(case: ObserverCase, organ: str, structures: Sequence[Structure | None]) -> ObservedStructure:
    settings, count = case.settings, len(case.observers)
    matrix = compareAll(structures, settings, case.criticals)
    tolerance = percentileOf([one for pair, one in matrix.pooled.items() if max(pair) < count], TOLERATED)
    agreement = {"ConformityIndex": math.nan, "GeneralizedConformityIndex": math.nan}
    found = ObservedStructure(
        organ, case.observers, case.tests, structures, settings, matrix, agreement, case.method, tolerance
    )
    everyone, drawn, remarks = found.everyone, found.drawn, []
    for text, pairs in (*matrix.failures.items(), *matrix.findings.items()):
        named = [f"{everyone[first]} (reference) and {everyone[second]} (test)" for first, second in pairs]
        remarks.append(f"{'; '.join(named[:3])}{f' and {len(named) - 3} more pairs' if len(named) > 3 else ''}: {text}")
    if not matrix.pairs:
        raise InputError(" ".join(remarks[:2]) or "no two of them can be compared.")
    if empty := [everyone[n] for n in found.members if n not in drawn]:
        remarks.append(
            f"{commaSeparated(empty)} left {organ} empty: that counts in all pairs and in the agreement, but not "
            "in the consensus."
        )
    try:
        if drawn and found.isComparable:
            contours = [cast(Structure, structures[n]) for n in drawn]
            for number, structure in zip(drawn, contours, strict=True):
                if structure.givenSurface is not None and not structure.surface.isClosed:
                    raise InputError(f"the surface of {everyone[number]} {structure.surface.whyNoInside}.")
            drawings = Drawings.of(contours, settings.meshSpacing)
            indices = conformity(drawings.votes, len(found.members))
            found = replace(found, agreement=dict(zip(agreement, indices, strict=True)))
            if len(drawn) >= ENOUGH:
                found = _withConsensus(found, drawings, case)
                if found.variation is None:
                    remarks.append(
                        f"The consensus of {organ} is empty, so there is no map of where the observers differ."
                    )
    except (InputError, Undefined) as error:
        remarks.append(f"There is no agreement and no consensus of {organ}: {error}")
    if not found.isComparable:
        why = "not all observers can be compared with each other."
        remarks.append(f"There is no agreement and no consensus of {organ}: {why}")
    elif 0 < len(drawn) < ENOUGH:
        who = "one observer" if len(drawn) == 1 else f"{NUMBERS[len(drawn)]} observers"
        remarks.append(
            f"With {who} there is no consensus, map of where they differ, outlier or verdict on tests: these need at "
            f"least {NUMBERS[ENOUGH]}."
        )
    isRanked, tests = len(found.members) >= ENOUGH, []
    for n, name in enumerate(case.tests, count):
        if structures[n] is not None:
            tests.append(verdictOf(matrix, name, n, found.members, isRanked))
        if same := [case.observers[member] for member in drawn if _areEqual(found, member, n)]:
            whom = "that observer" if len(same) == 1 else "them"
            remarks.append(
                f"{name} equals {' and '.join(same)}: a distance of 0 to {whom} flatters its mean against the "
                "observers, its rank and its verdict."
            )
    return replace(found, tests=tests, remarks=remarks)


def _areEqual(found: ObservedStructure, *pair: int) -> bool:
    """Return whether an observer and a test drew the same, by their distances if these were measured."""
    if (pooled := found.pairs.pooled.get(cast(tuple[int, int], pair))) is not None:
        return pooled.within(0.0) == 1.0
    own = (found.structures[number] for number in pair)
    masks = [structure.mask for structure in own if structure is not None and structure.mask is not None]
    return len(masks) == 2 and masks[0].isSameAs(masks[1])


def _withConsensus(found: ObservedStructure, drawings: Drawings, case: ObserverCase) -> ObservedStructure:
    names = [found.observers[n] for n in found.drawn]
    made = consensusOf(drawings, case.method)
    consensus, variation = _asStructure(made, found.name, drawings, case), None
    if not consensus.isEmpty:
        points = consensus.surface.points
        distances = eachSideBySide(lambda search: 0.0 - search.signedDistances(points), drawings.searches)
        variation = Variation(consensus.surface, np.array(distances))

    def leaveOut(number: int) -> AgainstOthers:
        others = [n for n in range(len(names)) if n != number]
        ofOthers = consensusOf(drawings, case.method, others)
        reference = _asStructure(ofOthers, f"{found.name} (consensus of the others)", drawings, case)
        criticals = case.criticals[found.drawn[number]]
        comparison = comparePair(Pair(reference, drawings.structures[number], case.settings, criticals))
        places = comparison.worstPlaces
        if not places and comparison.distances is not None:  # the farthest one, if all is within the tolerance
            places = worstPlaces(comparison.distances, NOTHING, most=1)
        return AgainstOthers(names[number], comparison.measurements, places)

    return replace(
        found,
        consensus=consensus,
        variation=variation,
        leaveOneOut=eachSideBySide(leaveOut, range(len(names))),
        performances=dict(zip(names, made.performances)),
    )


def _asStructure(made: Consensus, name: str, drawings: Drawings, case: ObserverCase) -> Structure:
    frames = {structure.frameOfReference for structure in drawings.structures}
    structure = Structure(name, made.mask, frameOfReference=frames.pop() if len(frames) == 1 else "")
    return withSurface(structure, case.settings, case.displayed)
