"""compareObservers(): several observers of the same structures, and tests that are no observers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import cast

from ...base.errors import InputError, Undefined, reasonOf, requireFunction
from ...base.parallel import eachSideBySide
from ...base.texts import commaSeparated, inAnyCase
from ...geometry.closest import ClosestSurface
from ...geometry.masks import Mask
from ...geometry.surfaces import Surface
from ...io.labelnames import labelNamesFrom
from ...metrics.pair import Pair
from ...model.naming import placeOf
from ...model.structure import Structure
from ...model.structures import Labels
from ...settings.settings import Settings, asSettings
from ..casework import criticalsOf, withLabelsNamed, withSurface
from ..comparison import comparePair
from ..frames import frameOf, pandasOrError
from ..places import worstPlaces
from .consensus import METHODS, Consensus, Drawings, conformity, consensusOf, searchOf
from .gathering import Gathered, Observer, Organ, gather
from .matrix import Matrix, compareAll, percentileOf
from .observed import ENOUGH, NOTHING, TOLERATED, AgainstOthers, ObservedStructure, ofCopy, ofMissing, ofTooFew
from .variation import Variation
from .withinrange import verdictOf

# Most reasons in the message that nothing can be compared.
MOST_REASONS = 3
# Told before each structure of its number, from 0, the number of all and its name; False stops the work.
Progress = Callable[[int, int, str], bool | None]


class ObserverStudy(Sequence[ObservedStructure]):
    """What several observers have drawn, structure by structure; of a single structure, also its own attributes.

    Parameters
    ----------
    found : Sequence[ObservedStructure]
        What was found of each structure.
    gathered : Gathered
        What the observers and tests were given as.
    settings : Settings
        Of the comparisons.
    remarks : Sequence[str], optional
        Sentences on what was not compared, and on doubts about what was.
    wasStopped : bool, optional
        Whether the work was stopped before all structures were measured.

    Attributes
    ----------
    structures : tuple[ObservedStructure, ...]
        In the order of the observers' files; study["Parotid_L"] is one of them.
    observers, testNames : tuple[str, ...]
        The names of all.
    remarks : tuple[str, ...]
        As given.
    wasStopped : bool
        As given.
    """

    def __init__(
        self,
        found: Sequence[ObservedStructure],
        gathered: Gathered,
        settings: Settings,
        remarks: Sequence[str] = (),
        wasStopped: bool = False,
    ):
        self.structures = tuple(found)
        self.observers, self.testNames = tuple(gathered.observers), tuple(gathered.tests)
        self.settings, self.remarks, self.wasStopped = settings, tuple(remarks), wasStopped

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
    """Compare several observers of the same structures with each other, and with tests that are no observers.

    Every pair is compared in both orders. From three observers on there are a consensus, every observer against the
    consensus of the others, a map of where they differ, and for every test whether it is within what they do. Nothing
    that was given is changed.

    Parameters
    ----------
    observers : Sequence[Observer] | Mapping[str, Observer]
        At least two, perhaps by their names, each the path of a file or folder, a SimpleITK image, a vtkPolyData in LPS
        mm, a Structure, or several Structures. Those of files, folders and sets are matched by name and code; single
        ones are the same structure whatever they are called.
    settings : Settings | None, optional
        What to measure and how; None means the defaults. The critical structures that they name are those of the
        reference of each pair.
    tests : Sequence[Observer] | Mapping[str, Observer], optional
        What is compared with the observers, but is none itself, such as an automatic contour.
    names : Sequence[str] | None, optional
        Of the observers, or of them and the tests; None calls them like their files or structures.
    consensus : str, optional
        "majority", the voxels that more than half have, and where exactly half have one, those in which the mean of the
        signed distances to their surfaces is inside; "staple", SimpleITK's filter on the box around all and 5 voxels on
        each side, cut at 0.5; or "mean-surface", where the mean signed distance is inside. In any case.
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
    numbers = None if labelNames is None else labelNamesFrom(labelNames)
    gathered = gather(observers, tests, settings, names, structures, numbers)
    work = Work.of(gathered, settings, consensus, numbers)
    return studyOf(gathered, settings, oneByOne(work, gathered, progress))


def oneByOne(
    work: Callable[[Organ], ObservedStructure | InputError], gathered: Gathered, progress: Progress | None
) -> Iterator[ObservedStructure | InputError]:
    """Yield the results of the comparableOrgans() structures, in their order, until progress returns False."""
    organs = comparableOrgans(gathered)
    for number, organ in enumerate(organs):
        if progress is not None and progress(number, len(organs), organ.name) is False:
            return
        yield work(organ)


def comparableOrgans(gathered: Gathered) -> list[Organ]:
    """Return the structures that at least two observers have."""
    count = len(gathered.observers)
    return [organ for organ in gathered.organs if sum(s is not None for s in organ.structures[:count]) > 1]


def studyOf(gathered: Gathered, settings: Settings, found: Iterator[ObservedStructure | InputError]) -> ObserverStudy:
    """Return the study of what was found of each of the comparableOrgans() structures, in their order.

    Raises InputError if none of them could be compared.
    """
    organs, results, problems = comparableOrgans(gathered), [], []
    remarks = [*gathered.leftOut, *gathered.findings]
    for organ, outcome in zip(organs, found):
        if isinstance(outcome, InputError):
            problems.append(f"{organ.name} cannot be compared: {reasonOf(outcome)}")
        else:
            results.append(outcome)
    wasStopped = len(results) + len(problems) < len(organs)
    if wasStopped:
        remarks.append(f"Stopped: {len(results)} of {len(organs)} structures measured.")
    count = len(gathered.observers)
    for organ in gathered.organs:
        having = [gathered.observers[n] for n in range(count) if organ.structures[n] is not None]
        if len(having) < count:
            remarks.append(ofMissing(organ.name, having, gathered.observers))
        lacking = [n for n, test in enumerate(gathered.tests) if organ.structures[count + n] is None]
        if lacking and len(having) > 1:
            remarks.append(f"{organ.name} is missing in {commaSeparated(gathered.tests[n] for n in lacking)}.")
    remarks += [f"{name} cannot be compared: {reason}" for name, reason in gathered.failures.items()]
    if not results and not wasStopped:
        why = [*problems, *remarks] or ["The observers have no structure."]
        raise InputError(f"Nothing can be compared. {' '.join(why[:MOST_REASONS])}")
    return ObserverStudy(results, gathered, settings, [*problems, *remarks], wasStopped)


@dataclass(frozen=True)
class Work:
    """The work on any structure of a study, small enough to be sent to other processes.

    observers, tests: their names. criticals: the critical structures of each, by name, if any are needed. method: of
    the consensus. displayed: makes the surface that Slicer displays of a structure, if the settings ask for it; None if
    the structures already have those that are measured.
    """

    observers: Sequence[str]
    tests: Sequence[str]
    settings: Settings
    criticals: Sequence[Mapping[str, Structure]]
    method: str = METHODS[0]
    displayed: Callable[[Structure], Structure] | None = None

    @staticmethod
    def of(
        gathered: Gathered,
        settings: Settings,
        method: str,
        labelNames: Mapping[Labels, str] | None = None,
        displayed: Callable[[Structure], Structure] | None = None,
    ) -> Work:
        """Return the work on what was gathered. Raises InputError for an unknown method and critical structure."""
        method = inAnyCase(method, METHODS) if isinstance(method, str) else method
        if method not in METHODS:
            raise InputError(f"The consensus is one of {', '.join(METHODS)}, not {method!r}.")
        criticals: list[Mapping[str, Structure]] = [{} for _ in gathered.sets]
        if "hazard" in settings.families:
            named = (withLabelsNamed(settings, own, labelNames=labelNames) for own in gathered.sets)
            criticals = list(map(criticalsOf, gathered.sets, named))
        return Work(gathered.observers, gathered.tests, settings, criticals, method, displayed)

    def __call__(self, organ: Organ) -> ObservedStructure | InputError:
        """Return what the observers have drawn of a structure, or why they cannot be compared."""
        try:
            structures: list[Structure | None] = []
            for structure, name in zip(organ.structures, [*self.observers, *self.tests], strict=True):
                try:
                    structures.append(None if structure is None else self.withSurface(structure))
                except InputError as error:
                    raise InputError(f"{name}: {error}") from error
            return _observe(replace(organ, structures=structures), self)
        except InputError as error:
            return error
        except MemoryError:
            return InputError("this takes more memory than the computer has.")

    def withSurface(self, structure: Structure) -> Structure:
        """Return a structure with the surface that is measured."""
        return withSurface(structure, self.settings, self.displayed)


def _observe(organ: Organ, work: Work) -> ObservedStructure:
    settings = work.settings
    searches: dict[Surface, ClosestSurface] = {}
    count = len(work.observers)
    everyone = [*work.observers, *work.tests]
    matrix = compareAll(organ.structures, settings, work.criticals, searches)
    members = [n for n in range(count) if organ.structures[n] is not None]
    remarks = []
    for text, pairs in (*matrix.failures.items(), *matrix.findings.items()):
        named = [f"{everyone[first]} (reference) and {everyone[second]} (test)" for first, second in pairs]
        remarks.append(f"{'; '.join(named[:3])}{f' and {len(named) - 3} more pairs' if len(named) > 3 else ''}: {text}")
    if not matrix.pairs:
        raise InputError(" ".join(remarks[:2]) or "no two of them can be compared.")
    drawn = [n for n in members if not cast(Structure, organ.structures[n]).isEmpty]
    empty = [everyone[n] for n in members if n not in drawn]
    if empty:
        remarks.append(
            f"{commaSeparated(empty)} left {organ.name} empty: that counts in all pairs and in the agreement, but not "
            "in the consensus."
        )
    agreement, known = {"ConformityIndex": math.nan, "GeneralizedConformityIndex": math.nan}, {}
    pooled = [one for pair, one in matrix.pooled.items() if max(pair) < count]
    isComparable = all(pair in matrix.pairs for pair in combinations(members, 2))
    try:
        if drawn and isComparable:
            for number in drawn:
                structure = cast(Structure, organ.structures[number])
                if structure.givenSurface is not None and not structure.surface.isClosed:
                    raise InputError(f"the surface of {everyone[number]} {structure.surface.whyNoInside}.")
            drawings = Drawings.of(
                [cast(Structure, organ.structures[n]) for n in drawn], settings.meshSpacing, searches
            )
            blank = [drawings.masks[0].empty(drawings.grid)] * len(empty)
            agreement = dict(zip(agreement, conformity([*drawings.masks, *blank]), strict=True))
            if len(drawn) >= ENOUGH:
                known = _withConsensus(organ, drawn, drawings, work)
                remarks += known.pop("remarks")
    except (InputError, Undefined) as error:
        remarks.append(f"There is no agreement and no consensus of {organ.name}: {error}")
    if not isComparable:
        why = "not all observers can be compared with each other."
        remarks.append(f"There is no agreement and no consensus of {organ.name}: {why}")
    elif 0 < len(drawn) < ENOUGH:
        remarks.append(ofTooFew(len(drawn)))
    for n, name in enumerate(work.tests, count):
        if same := [work.observers[member] for member in drawn if _areEqual(organ.structures, matrix, (member, n))]:
            remarks.append(ofCopy(name, same))
    isRanked = len(members) >= ENOUGH
    tests = [
        verdictOf(matrix, name, count + n, members, isRanked)
        for n, name in enumerate(work.tests)
        if organ.structures[count + n] is not None
    ]
    return ObservedStructure(
        organ.name,
        work.observers,
        work.tests,
        organ.structures,
        settings,
        matrix,
        agreement,
        work.method,
        percentileOf(pooled, TOLERATED),
        tests=tests,
        remarks=remarks,
        **known,
    )


def _areEqual(structures: Sequence[Structure | None], matrix: Matrix, pair: tuple[int, int]) -> bool:
    """Return whether the structures of a pair are the same, by their distances if these were measured."""
    pooled, (one, other) = matrix.pooled.get(pair), (structures[number] for number in pair)
    if pooled is not None:
        return pooled.within(0.0) == 1.0
    masks = [structure.mask if structure is not None else None for structure in (one, other)]
    return all(mask is not None for mask in masks) and cast(Mask, masks[0]).isSameAs(cast(Mask, masks[1]))


def _withConsensus(organ: Organ, drawn: Sequence[int], drawings: Drawings, work: Work) -> dict:
    """Return what needs a consensus, by the names of the fields of an ObservedStructure, and remarks.

    drawn: the numbers of the observers.
    """
    names = [work.observers[n] for n in drawn]
    made, remarks = consensusOf(drawings, work.method), []
    consensus = _asStructure(made, organ.name, drawings, work)
    variation = None
    if consensus.isEmpty:
        remarks.append(f"The consensus of {organ.name} is empty, so there is no map of where the observers differ.")
    else:
        searches = [searchOf(s.surface, drawings.searches) for s in drawings.structures]
        variation = Variation.of(consensus.surface, searches)

    def leftOut(number: int) -> AgainstOthers:
        others = [n for n in range(len(drawn)) if n != number]
        made = consensusOf(drawings, work.method, others)
        reference = _asStructure(made, f"{organ.name} (consensus of the others)", drawings, work)
        own = drawings.structures[number]
        criticals = work.criticals[drawn[number]]
        comparison = comparePair(Pair(reference, own, work.settings, criticals, drawings.searches))
        places = comparison.worstPlaces
        if not places and comparison.distances is not None:  # the farthest one, if all is within the tolerance
            places = worstPlaces(comparison.distances, NOTHING, most=1)
        return AgainstOthers(names[number], comparison.measurements, places)

    return {
        "consensus": consensus,
        "variation": variation,
        "leaveOneOut": eachSideBySide(leftOut, range(len(drawn))),
        "performances": dict(zip(names, made.performances, strict=True)) if made.performances else {},
        "remarks": remarks,
    }


def _asStructure(made: Consensus, name: str, drawings: Drawings, work: Work) -> Structure:
    frames = {structure.frameOfReference for structure in drawings.structures}
    structure = Structure(name, made.mask, frameOfReference=frames.pop() if len(frames) == 1 else "")
    return work.withSurface(structure)
