"""Pairing of the structures of two sets: by name, by code or, as a proposal, by location."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..base.errors import InputError, PairError, Undefined, requireKind
from ..base.progress import checkpoint
from ..base.texts import SettingPlace, commaSeparated, cutShort
from ..metrics import overlap
from ..metrics.findings import ALIKE, Finding, Kind, alarmsFirst, asFinding, shareOfBoxes
from ..metrics.pair import Pair
from ..model import naming
from ..model.structure import Structure
from ..model.structures import (
    REFERENCE_AND_TEST,
    Labels,
    Match,
    Pairing,
    inAnySpelling,
    isNumbered,
    nameMeant,
    nameNumber,
    namesOfSeveral,
    onlyNamed,
    pairByName,
    remarksOnLeftOut,
    requireKnown,
    severalNamed,
)
from ..model.structureset import StructureSet
from ..settings.settings import Settings
from .findings.wholecase import refute

# Confidence of a match by anything but equal names.
CONFIDENCE = {"choice": 1.0, "spelling": 0.95, "code": 0.9, "words": 0.8, "only": 0.5}
# Least Dice of two structures for a proposal.
LEAST_DICE = 0.1
# Least Dice of two structures that lie in the same place.
SAME_PLACE = 0.5
# Names of the labels of a mask, whose voxels are 1 or 255.
MASKS = frozenset(map(nameNumber, (1, 255)))
# Findings that follow when two structures are exchanged.
FOLLOW_EXCHANGE = (Kind.NO_OVERLAP, Kind.HARDLY_OVERLAP, Kind.MIRRORED, Kind.OTHER_AXES)
REASONS = {
    "spelling": "their names differ in spelling only",
    "words": "their names consist of the same words",
    "code": "they have the same terminology codes",
    "choice": "that was chosen",
    "overlap": "they overlap, which was proposed and accepted",
}
# What two structures have in common that are paired, each way tried in this order; None for nothing.
KEYS: dict[str, Callable[[Structure], Hashable]] = {
    "spelling": lambda structure: naming.parse(structure.name).spelled,
    "code": lambda structure: getattr(naming.parseTerminology(structure.terminology), "parts", None),
    "words": lambda structure: ("words", *naming.parse(structure.name).meaning),
}
# How pairs were found that are paired whatever their names are.
GIVEN = ("choice", "overlap")


def pairStructures(
    reference: Iterable[Structure],
    test: Iterable[Structure],
    *,
    names: Collection[str] | None = None,
    choices: Mapping[str, str | None] | None = None,
    proposed: Mapping[str, float] | None = None,
    isProposing: bool = True,
    isAlonePair: bool = True,
    labelNames: Mapping[Labels, str] | None = None,
) -> Pairing:
    """Return the structures of two sets paired by name and terminology code, in the order of the reference.

    Equal names are paired first, then names that differ only in spelling, then equal terminology codes, then names of
    the same words; left and right are never paired. A single structure on each side is a pair regardless of its name,
    unless isAlonePair is False, or both have names or numbers that say different things and do not overlap. Other
    structures stay unmatched; two of these that overlap are a proposal. A name that a set has more than once is among
    the failures of the pairing, as are names that differ from it only in spelling, and some of the chosen names if
    their structures were left out of the files. names: structures to pair, in any spelling, all when None. choices:
    names of test structures by names of reference structures. They take precedence and are paired regardless of their
    names; None leaves a structure without a counterpart. proposed: the Dice of those choices that are proposals by
    overlap, by names of reference structures. isProposing: False to use names and codes only, never locations.
    labelNames: names of labels by number, so that names and choices may be numbers of labels. Raises ValueError for a
    chosen name that does not exist or occurs more than once, and when names that occur more than once leave no pair.
    """
    sets = StructureSet.of(reference), StructureSet.of(test)
    chosen, alone = _matchGiven(choices, proposed, labelNames, *sets)
    failures: dict[str, PairError] = {}
    if names is not None:
        names, failures = _spellNames(names, labelNames, *sets)
    rest = [_without(structures, chosen, alone) for structures in sets]
    if names is None:
        failures = _ambiguous(*rest)
    reference, test = (structures.having(s for s in structures if s.name not in failures) for structures in rest)
    isWhole = isAlonePair and not (chosen or alone or failures) and not (isProposing and _areTwo(reference, test))
    found, left = _byEqualNames(reference, test, names, isWhole)
    unclear: list[str] = []
    for how in KEYS:
        more, doubts = _matchBy(how, *left)
        found += more
        unclear += doubts
        left = [_without(structures, more) for structures in left]
    matches = [replace(match, findings=(*match.findings, *_doubts(match))) for match in (*chosen, *found)]
    unmatched = [[*left[0], *alone], [*left[1]]]
    beside: tuple[Collection[Structure], Collection[Structure]] = ((), ())
    if names is not None:
        # explicitly chosen pairs are always compared
        matches = [m for m in matches if m.how in GIVEN or m.reference.name in names or m.test.name in names]
        unmatched = [[s for s in structures if s.name in names] for structures in unmatched]
        # counterparts may have been lost while the other set was read
        lost = {s.name: others.whyLost(s.name) for own, others in zip(unmatched, reversed(sets)) for s in own}
        failures |= {name: PairError(why) for name, why in lost.items() if why}
        beside = _withoutRelatives(reference, test, names)
    elif failures and not matches:
        raise next(iter(failures.values()))
    order = {structure.name: number for number, structure in enumerate(sets[0])}
    matches.sort(key=lambda match: order.get(match.reference.name, len(order)))
    onlyReference, onlyTest = map(tuple, unmatched)
    pairing = Pairing(tuple(matches), onlyReference, onlyTest, (), tuple(dict.fromkeys(unclear)), failures, sets)
    return withProposals(pairing, [structure.name for structure in alone], beside) if isProposing else pairing


def _matchGiven(
    choices: Mapping[str, str | None] | None,
    proposed: Mapping[str, float] | None,
    labelNames: Mapping[Labels, str] | None,
    reference: StructureSet,
    test: StructureSet,
) -> tuple[list[Match], list[Structure]]:
    """Return the chosen and accepted matches, and the reference structures that are to have no counterpart.

    Raises InputError when two choices are for the same structure.
    """
    if choices is not None:
        requireKind(choices, Mapping, "The chosen pairs", "a mapping of reference to test names")
    dice = {nameMeant(name, reference, labelNames): value for name, value in (proposed or {}).items()}
    matches: list[Match] = []
    named: set[str] = set()
    alone: list[Structure] = []
    used: dict[str, str] = {}
    for given, givenCounterpart in (choices or {}).items():
        one = onlyNamed(given, reference, "The reference", labelNames)
        if one.name in named:
            raise InputError(f"{one.name!r} is in more than one of the given pairs.")
        named.add(one.name)
        if givenCounterpart is None:
            alone.append(one)
            continue
        other = onlyNamed(givenCounterpart, test, "The test", labelNames)
        if other.name in used:
            raise InputError(f"{other.name!r} of the test is chosen for both {used[other.name]!r} and {one.name!r}.")
        used[other.name] = one.name
        how, confidence = ("overlap", dice[one.name]) if one.name in dice else ("choice", CONFIDENCE["choice"])
        matches.append(Match(one, other, how, confidence))
    return matches, alone


def _spellNames(
    names: Collection[str], labelNames: Mapping[Labels, str] | None, *sets: StructureSet
) -> tuple[list[str], dict[str, PairError]]:
    """Return the names of the structures to pair as the sets spell them, and errors for those that were left out."""
    names = [names] if isinstance(names, (str, int)) else names
    requireKind(names, Iterable, "The structures to pair", "names")
    names = inAnySpelling(names, labelNames, *sets)
    remarks = {name: next(filter(None, (own.remarkOn(name) for own in sets)), "") for name in names}
    failures = {name: PairError(remark) for name, remark in remarks.items() if remark}
    names = [name for name in names if name not in failures] or names
    requireKnown(names, *sets)
    return names, failures


def withProposals(
    pairing: Pairing, alone: Collection[str], beside: tuple[Collection[Structure], Collection[Structure]] = ((), ())
) -> Pairing:
    """Return a pairing with proposals for its unmatched structures, and findings about them.

    Matches also get a finding if one of their structures lies in the place of another structure of the other side.
    alone: names of reference structures that are to have no counterpart. beside: structures of each side that may be
    proposed for an unmatched one, if they are not in the pairing.
    """
    free = [[s for s in given if not s.isEmpty] for given in pairing.sets]
    free[0] = [s for s in free[0] if s.name not in alone]
    boxed = [(some, np.array([s.box for s in some]).reshape(-1, 2, 3)) for some in free]
    found = [replace(m, findings=(*m.findings, *_elsewhere(m, *boxed))) for m in pairing.pairs]
    pairs = []
    for match, refuted in zip(found, refute(found), strict=True):  # nor shall their comparisons have what is refuted
        kept = tuple(text for text in match.findings if asFinding(text).kind not in refuted)
        pairs.append(replace(match, findings=kept, refuted=refuted))
    pairing = replace(pairing, pairs=tuple(pairs))
    left = [s for s in pairing.unmatchedReference if s.name not in alone], pairing.unmatchedTest
    wanted = {id(s) for structures in left for s in structures}
    found = propose(*([*own, *others] for own, others in zip(left, beside, strict=True))) if wanted else []
    proposals = tuple(match for match in found if any(id(structure) in wanted for structure in match))
    findings: list[str] = [*pairing.findings]
    for match in proposals:
        reference, test = match
        sides = " although their names say different sides" if naming.oppositeSides(reference.name, test.name) else ""
        names = {"reference": reference.name, "test": test.name, "sides": sides, "where": _howToPair((reference, test))}
        findings.append(Finding.of(Kind.PROPOSED, dice=f"{match.confidence:.2f}", **names))
    return replace(pairing, proposals=proposals, findings=tuple(dict.fromkeys(findings)))


def propose(reference: Iterable[Structure], test: Iterable[Structure]) -> list[Match]:
    """Return the one-to-one assignment of structures with the largest sum of Dice, best matches first.

    The confidence of a match is its Dice similarity coefficient. Those below LEAST_DICE are omitted.
    """
    reference, test = list(reference), list(test)
    if not reference or not test:
        return []
    from scipy.optimize import linear_sum_assignment

    shared = np.array([[_dice(r, t) for t in test] for r in reference])
    assigned = zip(*linear_sum_assignment(shared, maximize=True), strict=True)
    found = [Match(reference[row], test[column], "overlap", float(shared[row, column])) for row, column in assigned]
    return sorted((m for m in found if m.confidence >= LEAST_DICE), key=lambda match: -match.confidence)


def _byEqualNames(reference: StructureSet, test: StructureSet, names: Collection[str] | None, isWhole: bool):
    """Return the matches by equal names, and what is left. isWhole: whether what is alone on each side is a pair."""
    if not isWhole and not (reference and test):
        return [], [reference, test]
    if names is not None:
        known = {s.name for s in (*reference, *test)}
        # what both have once under the very name is not disturbed by other spellings, even if there are several
        own = [[s.name for s in structures] for structures in (reference, test)]
        alone = [name for name in names if all(some.count(name) == 1 for some in own)]
        others = [name for name in names if name in known and name not in alone]
        # with related names that may denote the same structures in the other set
        wanted = {key for s in (*reference, *test) if s.name in others for key in _keys(s)}
        relatives = (s.name for s in (*reference, *test) if wanted & _keys(s))
        names = [*alone, *dict.fromkeys([*others, *relatives])]
    pairing = pairByName(reference, test, names)
    matches = [replace(m, confidence=CONFIDENCE.get(m.how, 1.0)) for m in pairing.pairs if isWhole or m.how != "only"]
    apart = [m for m in pairing.pairs if not isWhole and m.how == "only"]
    return matches, [
        reference.having([*pairing.unmatchedReference, *(m.reference for m in apart)]),
        test.having([*pairing.unmatchedTest, *(m.test for m in apart)]),
    ]


def _areTwo(reference: StructureSet, test: StructureSet) -> bool:
    """Return whether the only structures of both sides are two: they are called differently and do not overlap.

    Where files have no names for their labels, the labels decide, whatever the files are called.
    """
    if not len(reference) == len(test) == 1:
        return False
    pair = (reference[0], test[0])
    if any(s.isUnlabeled or s.isOfCase for s in pair) or _keys(pair[0]) & _keys(pair[1]):
        return False
    labels = [_labelOf(structure) for structure in pair]
    if any(labels) and not all(labels):
        return False
    return not _areMasks(*pair) and _dice(*pair) < LEAST_DICE


def _labelOf(structure: Structure) -> str:
    """Return the name of a structure's label if that is only a number, else ""."""
    return structure.label or (structure.name if isNumbered(structure.name) else "")


def _areMasks(reference: Structure, test: Structure) -> bool:
    """Return whether both are labels that are equal, or whose numbers say nothing about what they show."""
    labels = {_labelOf(reference), _labelOf(test)}
    return "" not in labels and (len(labels) == 1 or labels <= MASKS)


def _without(structures: StructureSet, matches: Iterable[Match], others: Iterable[Structure] = ()) -> StructureSet:
    taken = {id(s) for match in matches for s in match} | {id(s) for s in others}
    return structures.having(s for s in structures if id(s) not in taken)


def note(comparison, match: Match):
    """Return a comparison with the findings of its match added to its own, except for what one of them implies.

    Explanations that other pairs of the case refute are left out, too.
    """
    if not (match.findings or match.refuted):
        return comparison
    isExchanged = any(asFinding(text).kind == Kind.EXCHANGED for text in match.findings)
    implied = {*match.refuted, *(FOLLOW_EXCHANGE if isExchanged else ())}
    own = [text for text in comparison.findings if asFinding(text).kind not in implied]
    return replace(comparison, findings=alarmsFirst((*match.findings, *own)))


def _ambiguous(reference: StructureSet, test: StructureSet) -> dict[str, PairError]:
    """Return the errors, by name, for structures that cannot be paired because a set has several of their name.

    Names that differ from it only in spelling are included, unless they have a counterpart with exactly their name.
    """
    failures: dict[str, PairError] = {}
    sets = reference, test
    for which, structures in zip(REFERENCE_AND_TEST, sets, strict=True):
        for name in namesOfSeveral(structures):
            failures.setdefault(name, severalNamed(name, f"The {which}", structures))
    spelled: dict[Hashable, PairError] = {naming.parse(name).spelled: error for name, error in failures.items()}
    names = [{s.name for s in structures} for structures in sets]
    for structure in (*reference, *test) if failures else ():
        isAlone = not all(structure.name in known for known in names)
        spelling = KEYS["spelling"](structure)
        if isAlone and spelling in spelled and not structure.isUnlabeled:
            failures.setdefault(structure.name, spelled[spelling])
    return failures


def _withoutRelatives(reference: StructureSet, test: StructureSet, names: Collection[str]):
    """Return the structures of each set, without those of some names, that have no related name in the other set."""
    keys = [{key for s in structures for key in _keys(s)} for structures in (reference, test)]
    return tuple(
        [s for s in structures if s.name not in names and not _keys(s) & others]
        for structures, others in zip((reference, test), reversed(keys), strict=True)
    )


def _keys(structure: Structure) -> set[Hashable]:
    """Return what a structure has in common with one of the other set that it may be paired with."""
    return {key(structure) for key in KEYS.values()} - {None}


def _matchBy(how: str, reference: StructureSet, test: StructureSet):
    """Return the matches of structures with equal KEYS of a kind, and sentences about ambiguous ones."""
    key, matches, doubts = KEYS[how], [], []
    for value in dict.fromkeys(key(s) for s in reference):
        if value is None:
            continue
        inReference, inTest = ([s for s in structures if key(s) == value] for structures in (reference, test))
        if not inTest:
            continue
        if len(inReference) > 1 or len(inTest) > 1:
            doubts.append(
                "It is not clear which belong together, so they are not paired: "
                f"{commaSeparated(s.name for s in inReference)} of the reference and "
                f"{commaSeparated(s.name for s in inTest)} of the test."
            )
        elif naming.oppositeSides(inReference[0].name, inTest[0].name):
            doubts.append(
                f"{inReference[0].name} and {inTest[0].name} have the same terminology codes, but their names say "
                "different sides: they are not paired."
            )
        else:
            matches.append(Match(inReference[0], inTest[0], how, CONFIDENCE[how]))
    return matches, doubts


def _doubts(match: Match) -> list[Finding]:
    reference, test = match
    sentences = []
    if match.how in REASONS:
        sentences.append(Finding(f"{reference.name} was paired with {test.name} because {REASONS[match.how]}."))
    if naming.oppositeSides(reference.name, test.name):
        sentences.append(Finding.of(Kind.OTHER_SIDES, reference=reference.name, test=test.name))
    labels = [_labelOf(structure) for structure in match]
    if match.how == "only" and all(labels) and not _areMasks(*match):
        sentences.append(Finding.of(Kind.OTHER_LABELS, reference=labels[0], test=labels[1]))
    referenceCode, testCode = (naming.parseTerminology(s.terminology) for s in match)
    if referenceCode and testCode and referenceCode.parts != testCode.parts:
        sides = {referenceCode.side, testCode.side}
        what = "for different sides" if sides == {naming.LEFT, naming.RIGHT} else "that differ"
        sentences.append(Finding.of(Kind.OTHER_CODES, what=what))
    return sentences


def _elsewhere(
    match: Match, reference: tuple[list[Structure], np.ndarray], test: tuple[list[Structure], np.ndarray]
) -> list[Finding]:
    """Return the finding that a structure of a match lies in the place of another one of the other side, [] if not.

    reference, test: all structures that are not empty, and their boxes (n, 2, 3) in mm. Chosen matches are not doubted,
    nor are those that overlap: targets are nested, and one that is drawn too large looks like the next.
    """
    if match.how in GIVEN or any(structure.isEmpty for structure in match):
        return []
    own, counterpart = match
    inTest, inReference = _inTheSamePlace(own, counterpart, *test), _inTheSamePlace(counterpart, own, *reference)
    other = inTest or inReference
    if other is None or _dice(*match) >= LEAST_DICE:
        return []
    if inTest and inReference and _keys(inTest) & _keys(inReference):
        first, second = sorted((own.name, inReference.name))
        both = _howToPair((own, inTest), (inReference, counterpart))
        return [Finding.of(Kind.EXCHANGED, first=first, second=second, pairs=both)]
    which, opposite = REFERENCE_AND_TEST if inTest else reversed(REFERENCE_AND_TEST)
    pair = (own, other) if inTest else (other, counterpart)
    names = {"name": other.name, "which": which, "other": opposite, "pair": _howToPair(pair)}
    shares = {"best": f"{_dice(*pair):.2f}", "dice": f"{_dice(*match):.2f}"}
    return [Finding.of(Kind.OTHER_STRUCTURE, **names, **shares)]


def _inTheSamePlace(
    own: Structure, counterpart: Structure, others: list[Structure], boxes: np.ndarray
) -> Structure | None:
    """Return the structure that lies in the place of another one and fits it better than its counterpart, or None.

    others: the candidates, of which those with the counterpart's name do not count. boxes: theirs, (n, 2, 3), LPS mm.
    """
    # boxes are quick to compare and usually rule out all other structures, so that no voxels need to be compared
    box = np.array(own.box)
    least = max(float(shareOfBoxes(box, np.array(counterpart.box))), ALIKE)
    near = (others[n] for n in np.flatnonzero(shareOfBoxes(box, boxes) > least))
    likely = [s for s in near if s.name != counterpart.name]
    best = max(likely, key=lambda structure: _dice(own, structure), default=None)
    return best if best is not None and _dice(own, best) >= SAME_PLACE else None


def _howToPair(*pairs: tuple[Structure, Structure]) -> SettingPlace:
    names = dict(sorted((reference.name, test.name) for reference, test in pairs))
    options = " ".join(f'--pair "{reference}={test}"' for reference, test in names.items())
    return SettingPlace(options, f"choices={names}", "Pairs")


def _dice(reference: Structure, test: Structure) -> float:
    checkpoint()
    if reference.isEmpty or test.isEmpty or reference.dimension != test.dimension:
        return 0.0
    (low, high), (otherLow, otherHigh) = reference.box, test.box
    if (low > otherHigh).any() or (otherLow > high).any():
        return 0.0
    try:
        return overlap.dice(Pair(reference, test, Settings()).crispCounts)
    except (InputError, Undefined):
        return 0.0


def whyNothingIsPaired(pairing: Pairing, owners: Sequence[str | os.PathLike], isChosen: bool) -> list[str]:
    """Return sentences on why a pairing has no pair, with findings that may help.

    owners: the files of its sets; () for "the reference" and "the test". isChosen: whether only some structures were to
    be paired.
    """
    sets = pairing.sets
    if isChosen:
        unmatched = (pairing.unmatchedReference, pairing.unmatchedTest)
        named = [f"the {which} has" for which in REFERENCE_AND_TEST]
        sides = [f"only {has} {_namesOf(left)}" for has, left in zip(named, unmatched, strict=True) if left]
        lacking = zip(named, reversed(unmatched), sets, strict=True)
        sides += [f"{has} {_namesOf(own)}" for has, missing, own in lacking if missing]
        problem = f"None of the chosen structures is in both: {'; '.join(sides)}."
    else:
        owned = zip(owners or ("the reference", "the test"), sets, strict=True)
        sides = [f"{owner} has {_namesOf(structures)}" for owner, structures in owned]
        problem = f"No structure has the same name in both: {'; '.join(sides)}."
    return [problem, *cutShort(pairing.findings), *cutShort(remarksOnLeftOut(*sets))]


def _namesOf(structures: Iterable[Structure]) -> str:
    return commaSeparated(f"{s.name} (empty)" if s.isEmpty else s.name for s in structures)
