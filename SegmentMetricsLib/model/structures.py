"""Structures: named contours with a mask, a surface or both; and the pairing of two sets of them by name."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..base.errors import InputError, PairError
from ..base.texts import commaSeparated
from . import naming
from .structure import Structure
from .structureset import StructureSet

# The names of the two structures of a pair, used everywhere.
REFERENCE_AND_TEST = ("reference", "test")
# What names of labels are for: the number of a label, or those of a region that consists of several labels.
Labels = int | tuple[int, ...]
REFERENCE_EMPTY, TEST_EMPTY, BOTH_EMPTY = "the reference is empty", "the test is empty", "both structures are empty"
# The key, in files, of the name of the segmentation node that a segment was read from.
SEGMENTATION = "segmentation"
# Names of structures that are only known by a number.
NUMBERED = re.compile(r"Label (\d+)( of layer \d+)?")
# A surface that encloses less than this fraction of the volume of the voxels hardly shows them.
LEAST_ENCLOSED = 0.9


def shareLeft(structure: Structure, volume: float) -> float | None:
    """Return the fraction of its voxels' volume that a smoothed surface encloses, if so little is left of a structure.

    Smoothing shrinks small and thin structures. None if at least LEAST_ENCLOSED is left, for contours in a plane, and
    without voxels. volume: of the surface, mm3.
    """
    if structure.mask is None or structure.mask.isEmpty or structure.mask.grid.planar:
        return None
    share = max(volume, 0.0) / structure.mask.size
    return share if share < LEAST_ENCLOSED else None


@dataclass(frozen=True)
class Match:
    """Two structures that belong together, or might; unpacks into the two.

    how: the criterion: "name", "spelling", "words", "code", "only", "choice" or "overlap". confidence: in [0, 1].
    findings: sentences that a reader of the numbers should know about the match. refuted: kinds of findings of the
    comparison that other pairs of the case refute.
    """

    reference: Structure
    test: Structure
    how: str = "name"
    confidence: float = 1.0
    findings: tuple[str, ...] = ()
    refuted: frozenset = frozenset()

    def __iter__(self) -> Iterator[Structure]:
        return iter((self.reference, self.test))

    @property
    def title(self) -> str:
        """The title of the pair: the structures' name, or both names where they differ."""
        return naming.pairTitle(structure.name for structure in self)

    def anew(self) -> Match:
        """Return a copy of the match with copies of both structures, whose cached results are freed along with them."""
        return replace(self, reference=self.reference.anew(), test=self.test.anew())

    def toDictionary(self) -> dict:
        """Return the match as plain values for files."""
        return {
            "reference": self.reference.name,
            "test": self.test.name,
            "how": self.how,
            "confidence": round(self.confidence, 3),
        }


@dataclass(frozen=True)
class Pairing:
    """The structures of two sets that are compared, and those without a counterpart.

    proposals: pairs of the latter that might belong together judging by their location. findings: doubts, in sentences.
    failures: errors by name for structures that are neither, because a set has several of that name. sets: all
    structures of each side, with what cannot be used of it.
    """

    pairs: tuple[Match, ...]
    unmatchedReference: tuple[Structure, ...]
    unmatchedTest: tuple[Structure, ...]
    proposals: tuple[Match, ...] = ()
    findings: tuple[str, ...] = ()
    failures: Mapping[str, PairError] = field(default_factory=dict)
    sets: tuple[StructureSet, StructureSet] = (StructureSet(), StructureSet())

    @property
    def unmatched(self) -> dict[str, list[str]]:
        """The names of the structures that only one side has, by side."""
        sides = zip(REFERENCE_AND_TEST, (self.unmatchedReference, self.unmatchedTest), strict=True)
        return {side: [structure.name for structure in structures] for side, structures in sides}


def pairByName(
    reference: Iterable[Structure],
    test: Iterable[Structure],
    names: Collection[str] | None = None,
    isAlonePair: bool = True,
) -> Pairing:
    """Return the structures of two sets paired by equal name, in the order of the reference.

    An image without labels lacks every structure of the other set: each is compared with an empty one. names:
    structures to pair, all when None. isAlonePair: whether a single structure on each side is a pair regardless of its
    name, unless other structures of its file cannot be used. Raises ValueError when a chosen name is in neither set, or
    more than once in one.
    """
    reference, test = StructureSet.of(reference), StructureSet.of(test)
    if names is not None:
        requireKnown(names, reference, test)
    if isAlonePair and len(reference) == len(test) == 1 and not unusableOf(reference, test):
        isNameless = any(s.isUnlabeled for s in (*reference, *test))
        how = "name" if isNameless or reference[0].name == test[0].name else "only"
        return Pairing((Match(reference[0], test[0], how),), (), ())
    both = [_lacking(reference, test), _lacking(test, reference)]
    if names is not None:
        both = [[s for s in structures if s.name in names] for structures in both]
    for which, structures in zip(REFERENCE_AND_TEST, both, strict=True):
        for name in namesOfSeveral(structures):
            raise severalNamed(name, f"The {which}", structures)
    byName = {structure.name: structure for structure in both[1]}
    pairs = tuple(Match(r, byName.pop(r.name)) for r in both[0] if r.name in byName)
    paired = {r.name for r, _ in pairs}
    return Pairing(pairs, tuple(r for r in both[0] if r.name not in paired), tuple(byName.values()))


def namesOfSeveral(structures: Iterable[Structure]) -> list[str]:
    """Return the names that more than one structure of a set has."""
    return [name for name, number in Counter(s.name for s in structures).items() if number > 1]


def severalNamed(name: str, owner: str, structures: Iterable[Structure]) -> PairError:
    """Return an error for several structures of one name. owner: of them, as at the beginning of a sentence."""
    homes = dict.fromkeys(s.file for s in structures if s.name == name and s.file)
    said = f"{owner} has more than one structure named {name!r}"
    wayOut = "Rename all but the one that is meant."
    return PairError(f"{said}{f' ({commaSeparated(homes)})' if homes else ''}. {wayOut}", f"{said}. {wayOut}")


def _lacking(structures: Sequence[Structure], others: Sequence[Structure]) -> Sequence[Structure]:
    """Return the structures, or for an image without labels an empty structure named like each of the others."""
    if len(structures) == 1 and structures[0].isUnlabeled:
        return [replace(structures[0], name=other.name) for other in others]
    return structures


def nameNumber(label: int) -> str:
    """Return the name of a label that only has a number."""
    return f"Label {label}"


def isNumbered(name: str) -> bool:
    """Return whether a name only consists of the number of a label."""
    return NUMBERED.fullmatch(name) is not None


def asName(given: str | int) -> str:
    """Return a name, or the number of a label, as text. Raises InputError for anything else."""
    if isinstance(given, str):
        return given
    try:
        return str(operator.index(given))
    except TypeError:
        raise InputError(f"A structure is given by its name or the number of its label, not by {given!r}.") from None


def labelNamed(name: str, structures: Sequence[Structure], labelNames: Mapping[Labels, str] | None) -> str:
    """Return the name of the structure with a label number, such as 5 or Label 5; other names are returned unchanged.

    labelNames: names of labels by number. A structure that is called so takes precedence, then the only one whose label
    has that number in its file, whatever it is called.
    """
    known = {structure.name for structure in structures}
    number = naming.labelNumber(name)
    if name in known or number is None:
        return name
    own = {structure.name for structure in structures if structure.number == number}
    named = own.pop() if len(own) == 1 else (labelNames or {}).get(number)
    return next((other for other in (named, nameNumber(number)) if other in known), name)


def inAnySpelling(
    names: Iterable[str | int], labelNames: Mapping[Labels, str] | None, *sets: Iterable[Structure]
) -> list[str]:
    """Return names in the spelling of the structures; those that match no structure in any spelling are unchanged.

    A label may also be given by its number, and a pattern stands for all structures that fit it. labelNames: names of
    labels by number. Structures that were left out of their file are matched only if no other has the name. Raises
    InputError as asName().
    """
    sides = [StructureSet.of(structures) for structures in sets]
    known = list(dict.fromkeys(s.name for structures in sides for s in structures))
    leftOut = list(dict.fromkeys(one.name for structures in sides for one in structures.leftOut))
    given: list[str] = []
    for name in map(asName, names):
        # the structure of a label may be called differently on both sides
        byLabel = [called for own in sides if (called := labelNamed(name, own, labelNames)) != name]
        given += byLabel if byLabel and name not in known else [name]
    found = (
        [name] if name in leftOut else naming.findMeant(name, known) or naming.findMeant(name, leftOut) or [name]
        for name in dict.fromkeys(given)
    )
    return list(dict.fromkeys(name for each in found for name in each))


def nameMeant(name: str | int, structures: Iterable[Structure], labelNames: Mapping[Labels, str] | None = None) -> str:
    """Return the name of the structure with a name in any spelling, or with a label number.

    A name that matches several structures, or none, is returned unchanged. labelNames and errors are as for
    inAnySpelling().
    """
    meant = inAnySpelling([name], labelNames, structures)
    return meant[0] if len(meant) == 1 else asName(name)


def onlyNamed(
    name: str | int,
    structures: Iterable[Structure],
    owner: str,
    labelNames: Mapping[Labels, str] | None = None,
    what: str = "structure",
) -> Structure:
    """Return the structure with a name in any spelling, or with a label number. Raises InputError unless there is one.

    owner: of the structures, as at the beginning of a sentence. labelNames: as for inAnySpelling(). what: is wanted.
    """
    meant = nameMeant(name, structures, labelNames)
    found = [structure for structure in structures if structure.name == meant]
    if len(found) > 1:
        raise severalNamed(meant, owner, structures)
    if not found:
        requireUsable(meant, structures)
        known = [structure.name for structure in structures]
        hint = naming.hintAt(meant, known)
        raise InputError(f"{owner} has no {what} named {meant!r}; it has {commaSeparated(known)}.{hint}")
    return found[0]


def requireKnown(names: Collection[str], *sets: Iterable[Structure]) -> None:
    """Raise InputError when no set has a structure of one of the names, or when it cannot be used."""
    for name in names:
        for structures in sets:
            requireUsable(name, structures)
    known = dict.fromkeys(s.name for structures in sets for s in structures)
    for name in names:
        if name not in known:
            raise InputError(
                f"There is no structure named {name!r}; choose from {commaSeparated(known)}."
                f"{naming.hintAt(name, known)}"
            )


def requireUsable(name: str, structures: Iterable[Structure]) -> None:
    """Raise InputError, with the reason, when the requested structure was left out of a file."""
    remark = StructureSet.of(structures).remarkOn(name)
    if remark:
        raise InputError(remark)


def unusableIn(pairing: Pairing, reference: Iterable[Structure], test: Iterable[Structure]) -> dict[str, str]:
    """Return the reasons, by name, for which structures of two sets were left out of their files, or may have been.

    These are those of unusableOf(), and the structures without a counterpart that a file of the other set may hold.
    """
    found = unusableOf(reference, test)
    for unmatched, others in ((pairing.unmatchedReference, test), (pairing.unmatchedTest, reference)):
        for name in naming.notAmong((s.name for s in unmatched), found):
            if why := StructureSet.of(others).whyLost(name):
                found[name] = why
    return found


def remarksOnLeftOut(*sets: Iterable[Structure]) -> list[str]:
    """Return the remarks about structures that were left out of the files of some sets."""
    return list(dict.fromkeys(one.remark for structures in sets for one in StructureSet.of(structures).leftOut))


def unusableOf(*sets: Iterable[Structure]) -> dict[str, str]:
    """Return the reasons, by name, for which structures were left out of the files of some sets.

    A file in a folder that need not hold structures, such as a CT beside the masks, is included only if a set has a
    structure of the same name, in any spelling.
    """
    both = [StructureSet.of(structures) for structures in sets]
    spelled = {naming.parse(s.name).spelled for structures in both for s in structures}
    found: dict[str, dict[str, None]] = {}
    for one in (one for structures in both for one in structures.leftOut):
        if not one.isOptional or naming.parse(one.name).spelled in spelled:
            found.setdefault(one.name, {})[one.remark] = None
    return {name: " ".join(reasons) for name, reasons in found.items()}
