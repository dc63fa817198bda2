"""From what the observers are given as to the structures that belong together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from pathlib import Path
from typing import TypeGuard

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ...base.errors import InputError, requireKind
from ...base.texts import commaSeparated, inAnyCase, pluralize, tellingApart
from ...geometry.parts import components
from ...io.reading import UnusableFile, readAll, stemOf
from ...io.structurenames import commonName, isAlone, settleNames
from ...model.structure import Structure
from ...model.structures import Labels, inAnySpelling, namesOfSeveral, requireKnown, unusableOf
from ...model.structureset import StructureSet
from ...settings.settings import Settings
from ..casework import criticalsOf, withLabelsNamed
from ..given import asStructure
from ..pairing import pairStructures
from .consensus import METHODS

# What an observer is given as: a file or folder, or one structure or several.
Observer = Structure | SimpleITK.Image | vtkPolyData | Iterable[Structure] | str | os.PathLike
# The name of a structure that every observer calls differently.
UNNAMED = "Structure"


@dataclass(frozen=True)
class Organ:
    """The structures of one name. structures: of all observers and then all tests, None where one has none."""

    name: str
    structures: Sequence[Structure | None]


@dataclass(frozen=True)
class ObserverCase:
    """The structures of all observers and tests, and how they are compared; small to send without the organs.

    observers, tests: their names. organs: the structures that belong together. method: of the consensus. criticals: the
    critical structures of each, by name, if any are needed. findings: doubts about what belongs together, in sentences.
    failures: why structures cannot be compared, by name. leftOut: who could not be read, in sentences. displayed: as of
    a Case.
    """

    observers: Sequence[str]
    tests: Sequence[str]
    settings: Settings
    method: str
    organs: Sequence[Organ]
    criticals: Sequence[Mapping[str, Structure]]
    findings: Sequence[str] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    leftOut: Sequence[str] = ()
    displayed: Callable[[Structure], Structure] | None = None

    @property
    def comparable(self) -> list[Organ]:
        """The structures that at least two observers have."""
        count = len(self.observers)
        return [organ for organ in self.organs if sum(s is not None for s in organ.structures[:count]) > 1]


def withNames(
    observers: Sequence | Mapping, tests: Sequence | Mapping, names: Sequence[str] | None, usual: Callable
) -> tuple[Sequence, Sequence, Sequence[str] | None]:
    """Return observers, tests and their names, which mappings have. usual: returns the names of some without any."""
    if isinstance(observers, Mapping):
        if names is not None:
            raise InputError("The observers are given with their names: leave out the other names.")
        observers, names = list(observers.values()), list(observers)
    if isinstance(tests, Mapping):
        tests, names = list(tests.values()), [*(usual(observers) if names is None else names), *tests]
    return observers, tests, names


def gather(
    observers: Sequence[Observer] | Mapping[str, Observer],
    tests: Sequence[Observer] | Mapping[str, Observer],
    settings: Settings,
    names: Sequence[str] | None,
    consensus: str,
    structures: Collection[str] | None = None,
    labelNames: Mapping[Labels, str] | None = None,
) -> ObserverCase:
    """Return the structures of observers and tests that belong together; arguments are those of compareObservers()."""
    method = inAnyCase(consensus, METHODS) if isinstance(consensus, str) else consensus
    if method not in METHODS:
        raise InputError(f"The consensus is one of {', '.join(METHODS)}, not {method!r}.")
    observers, tests, names = withNames(observers, tests, names, lambda some: _names(list(some), len(some), None))
    given = [*_several(observers, "The observers"), *_several(tests, "The tests")]
    if (count := len(given) - len(tests)) < 2:
        raise InputError(f"Observers are compared with each other: at least two are needed, not {count}.")
    called = _names(given, count, names)
    read = _read(given, count, settings, labelNames)
    failed = {n: one for n, one in enumerate(read) if isinstance(one, UnusableFile)}
    if count - sum(n < count for n in failed) < 2:
        raise failed[min(failed)]
    leftOut = [f"{called[n]} is left out: {error}" for n, error in failed.items()]
    given, called = ([one for n, one in enumerate(each) if n not in failed] for each in (given, called))
    sets = [own for own in read if not isinstance(own, UnusableFile)]
    count = len(given) - (len(tests) - sum(n >= count for n in failed))
    areSingle = not any(isinstance(one, (str, os.PathLike, StructureSet)) or _isSeveral(one) for one in given)
    findings: Sequence[str] = ()
    failures: dict[str, str] = {}
    if areSingle and structures is None:
        # one organ, whatever each of them is called
        alone = [own[0] for own in sets]
        theirs = [structure.name for structure in alone]
        organs = [Organ(UNNAMED if len(set(theirs)) == len(theirs) else _usual(theirs), alone)]
    else:
        sets, failures = _nameAlike(sets, called)
        organs, findings = _match(sets, called)
        if structures is None:
            failures |= unusableOf(*sets)
        else:
            wanted = inAnySpelling([structures] if isinstance(structures, str) else structures, labelNames, *sets)
            requireKnown(wanted, *sets)
            organs = [organ for organ in organs if any(s is not None and s.name in wanted for s in organ.structures)]
            failures = {name: reason for name, reason in failures.items() if name in wanted}
    named = (withLabelsNamed(settings, own, labelNames=labelNames) for own in sets)
    isNeeded = "hazard" in settings.families
    criticals = list(map(criticalsOf, sets, named)) if isNeeded else [{} for _ in sets]
    observers, tests = called[:count], called[count:]
    return ObserverCase(observers, tests, settings, method, organs, criticals, findings, failures, leftOut)


def _nameAlike(sets: Sequence[StructureSet], called: Sequence[str]) -> tuple[list[StructureSet], dict[str, str]]:
    """Return sets whose nameless structures have names, and no name twice; and the reasons for names that were.

    Files with a single nameless structure are called as settleNames() calls two of them.
    """
    areAlone, given, sets = list(map(isAlone, sets)), sets, list(sets)
    common = reduce(commonName, [own[0].name for own in given]) or UNNAMED if all(areAlone) else ""
    for n, own in enumerate(given):
        if common:
            sets[n] = own.having([own[0].rename(common)])
        elif areAlone[n]:
            sets[n], _ = settleNames((own, StructureSet.of([s for other in given if other is not own for s in other])))
    # an image without labels has every structure of the others, empty
    known = dict.fromkeys(s.name for own in sets for s in own if not s.isUnlabeled)
    for n, own in enumerate(sets):
        if len(own) == 1 and own[0].isUnlabeled:
            sets[n] = own.having(replace(own[0], name=name) for name in known)
    repeated = {name: owner for own, owner in zip(sets, called, strict=True) for name in namesOfSeveral(own)}
    failures = {
        name: f"{owner} has more than one structure named {name!r}. Rename all but the one that is meant."
        for name, owner in repeated.items()
    }
    return [own.having(s for s in own if s.name not in repeated) for own in sets], failures


def _several(given: object, what: str) -> Sequence:
    isOne = isinstance(given, (str, os.PathLike, Structure, StructureSet, SimpleITK.Image, vtkPolyData))
    if isOne or not isinstance(given, Iterable):
        raise InputError(f"{what} must be a list, with a file, folder, structure or image for each of them.")
    return list(given)


def _isSeveral(given: object) -> TypeGuard[Sequence[Structure]]:
    return isinstance(given, (list, tuple)) and all(isinstance(one, Structure) for one in given)


def _read(
    given: Sequence[Observer], count: int, settings: Settings, labelNames: Mapping[Labels, str] | None
) -> list[StructureSet | UnusableFile]:
    """Return the structures of every observer and test, or why a file cannot be used. count: number of observers.

    Raises UnusableFile for a path that does not exist, which was probably mistyped.
    """
    paths = [one for one in given if isinstance(one, (str, os.PathLike))]
    found = iter(readAll(paths, settings.threshold, settings.membershipMaximum, labelNames, isGoingOn=True))
    sets: list[StructureSet | UnusableFile] = []
    for number, one in enumerate(given):
        if isinstance(one, (str, os.PathLike)):
            own = next(found)
            if isinstance(own, UnusableFile):
                if not os.path.exists(one):
                    raise own
                sets.append(own)
                continue
        elif isinstance(one, StructureSet) or _isSeveral(one):
            own = StructureSet.of(one)
        elif isinstance(one, np.ndarray):
            raise InputError("An array does not say how large its voxels are: give a SimpleITK image instead.")
        else:
            which = f"contour of {f'observer {number + 1}' if number < count else f'test {number - count + 1}'}"
            own = StructureSet.of([asStructure(one, which, None, settings, canChoose=False)])
        sets.append(own.having(asStructure(s, s.name, None, settings) for s in own))
    return sets


def _names(given: Sequence[Observer], count: int, names: Sequence[str] | None) -> list[str]:
    """Return what observers and tests are called: as given, else like their files or structures, else by number."""
    usual = [f"Observer {n + 1}" if n < count else f"Test {n + 1 - count}" for n in range(len(given))]
    if names is not None:
        names = [names] if isinstance(names, str) else list(names)
        for name in names:
            requireKind(name, str, "The name of an observer", "a text")
        if len(names) not in (count, len(given)):
            number = f"There {'is' if len(names) == 1 else 'are'} {pluralize(len(names), 'name')}"
            tests = f", or of those and the {len(given) - count} tests" if len(given) > count else ""
            raise InputError(f"{number}; give those of the {count} observers{tests}.")
        usual = [*names, *_names(given[len(names) :], 0, None)]
    elif len(paths := [Path(one) for one in given if isinstance(one, (str, os.PathLike))]) == len(given) > 0:
        # the part of the path, from its end, in which all differ
        parts = [[stemOf(path), *reversed(path.absolute().parts[:-1])] for path in paths]
        levels = (list(level) for level in zip(*parts, strict=False))
        usual = next(
            (level for level in levels if len(set(level)) == len(level)), [tellingApart(paths)[path] for path in paths]
        )
    elif len(own := dict.fromkeys(one.name for one in given if isinstance(one, Structure))) == len(given):
        usual = list(own)
    if several := [name for name, number in Counter(usual).items() if number > 1]:
        raise InputError(f"Two observers or tests are both called {several[0]!r}: give every one a name of its own.")
    return usual


def _match(sets: Sequence[StructureSet], called: Sequence[str]) -> tuple[list[Organ], list[str]]:
    """Return the organs of all sets, matched by name and code as two sets are, and doubts in sentences.

    Structures belong together if a chain of pairs connects them; a chain with two structures of one set is a doubt, and
    no organ.
    """
    if not (places := [(number, row) for number, own in enumerate(sets) for row in range(len(own))]):
        return [], []
    numberOf = {id(sets[number][row]): n for n, (number, row) in enumerate(places)}
    links = [(0, 0)]
    findings: dict[str, str] = {}
    areSingle = all(len(own) == 1 for own in sets)
    for first, second in combinations(range(len(sets)), 2):
        both = f"{called[first]} (reference) and {called[second]} (test)"
        pairing = pairStructures(sets[first], sets[second], isProposing=areSingle, isAlonePair=areSingle)
        for finding in pairing.findings:
            findings.setdefault(str(finding), f"{both}: {finding}")
        for match in pairing.pairs:
            findings.update((str(finding), str(finding)) for finding in match.findings)
            links.append((numberOf[id(match.reference)], numberOf[id(match.test)]))
    organs = []
    first, second = np.array(links).T
    parts = components(first, second, len(places))
    for part in dict.fromkeys(parts.tolist()):
        members = [places[n] for n in np.flatnonzero(parts == part)]
        names = [sets[number][row].name for number, row in members]
        if len({number for number, _ in members}) < len(members):
            listed = commaSeparated(sorted(set(names)))
            unclear = f"It is not clear which belong together, so they are not compared: {listed}."
            findings[unclear] = unclear
            continue
        structures: list[Structure | None] = [None] * len(sets)
        for number, row in members:
            structures[number] = sets[number][row]
        organs.append(Organ(_usual(names), structures))
    return organs, list(findings.values())


def _usual(names: Sequence[str]) -> str:
    """Return the name that most have, the first in the alphabet of equally common ones."""
    counts = Counter(names)
    return min(names, key=lambda name: (-counts[name], name))
