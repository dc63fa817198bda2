"""Structures: named contours with a mask, a surface or both; and the pairing of two sets of them by name."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from types import NoneType

import numpy as np

from ..base.errors import InputError, PairError, requireKind
from ..base.texts import commaSeparated, didYouMean
from ..geometry import meshing
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface
from . import naming

# The names of the two structures of a pair, used everywhere.
REFERENCE_AND_TEST = ("reference", "test")
REFERENCE_EMPTY, TEST_EMPTY, BOTH_EMPTY = "the reference is empty", "the test is empty", "both structures are empty"
# The reason for measurements without a value because they need an inside.
WITHOUT_INSIDE = "the surface of the {which} {why}, so it has no inside"
# Keys of Structure.source:
# Marks the empty structure that stands for a whole image without labels.
WITHOUT_LABELS = "withoutLabels"
# The labels of an image, if the (empty) structure stands for a label that does not occur in it.
WITHOUT_LABEL = "withoutLabel"
# The name of the segmentation node that a segment was read from.
SEGMENTATION = "segmentation"
# The terminology entry of a segment, as Slicer writes it.
TERMINOLOGY = "terminology"
# A fingerprint of the patient's ID, and remarks from reading the file.
PATIENT, NOTES = "patient", "notes"
# The name of its label, such as Label 1, if a structure was called by its file because that label has no name.
LABEL = "label"
# Marks a structure whose only name is that of a file that stands for a case.
OF_CASE = "ofCase"
# Marks a structure that was drawn but is empty, as its contours enclose no voxel.
WITHOUT_VOXELS = "withoutVoxels"
# Remarks, by name, about other structures of the same file that cannot be used.
LEFT_OUT = "leftOut"
# Names of structures that are only known by a number.
NUMBERED = re.compile(r"Label (\d+)( of layer \d+)?")
# Those names in LEFT_OUT that are files in a folder which need not hold structures: a CT, or a kind that is not read.
NO_STRUCTURES = "noStructures"
# Remarks on files in a folder whose structures are not known, by the beginning of the names that these would have; ""
# if they may have any name.
LOST = "lost"
# Most remarks in a message about what was left out.
MOST_REMARKS = 8


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """One contour of one observer.

    mask: its voxels, None when only a surface is known. memberships: the fraction of each voxel that belongs to it,
    None for binary masks. givenSurface: a surface in LPS mm, None to make it from the mask. surfaceKind: "unsmoothed"
    (made from the mask), "displayed" (as Slicer shows it) or "imported". file, source, frameOfReference: its origin.
    color: red, green, blue in [0, 1].
    """

    name: str
    mask: Mask | None = None
    _: KW_ONLY
    givenSurface: Surface | None = None
    surfaceKind: str = "unsmoothed"
    file: str = ""
    frameOfReference: str = ""
    color: tuple[float, float, float] | None = None
    source: Mapping = field(default_factory=dict)
    memberships: Mask | None = None

    def __post_init__(self) -> None:
        requireKind(self.name, str, "The name of a structure", "a text")
        requireKind(self.mask, (Mask, NoneType), f"The mask of {self.name!r}", "a Mask")
        requireKind(self.givenSurface, (Surface, NoneType), f"The surface of {self.name!r}", "a Surface")
        if self.mask is None and self.givenSurface is None:
            raise InputError(f"The structure {self.name!r} has neither voxels nor a surface.")

    def __repr__(self) -> str:
        size = "empty" if self.isEmpty else f"{self.mask.count} voxels" if self.mask else "a surface"
        return f"<Structure {self.name!r}{f' of {self.file}' if self.file else ''}: {size}>"

    def named(self, name: str) -> Structure:
        """Return the structure under another name."""
        return replace(self, name=name)

    def anew(self) -> Structure:
        """Return a copy that shares the voxels but not the cached results derived from them."""
        return replace(self, mask=None if self.mask is None else replace(self.mask))

    def unsmoothed(self) -> Structure:
        """Return the structure with the surface of its voxels instead of the one that Slicer displays.

        Structures without a displayed surface are returned unchanged; imported surfaces have no alternative. Raises
        ValueError when only a displayed surface is known.
        """
        if self.surfaceKind != "displayed":
            return self
        if self.mask is None:
            raise InputError(
                f"Only the displayed surface of {self.name} can be measured: a transform has bent its voxels, so they "
                "are not an image grid any more, and a surface without smoothing cannot be made of them."
            )
        return replace(self, givenSurface=None, surfaceKind="unsmoothed")

    def cutAt(self, threshold: float) -> Structure:
        """Return the structure with the voxels at or above a membership; unchanged if it has no memberships.

        Raises ValueError when its surface is given, as that is the surface at 0.5.
        """
        if self.memberships is None:
            return self
        if self.givenSurface is not None:
            raise InputError(f"The displayed surface of {self.name} is that at 0.5: leave the threshold out.")
        return replace(self, mask=self.memberships.cut(threshold))

    @cached_property
    def surface(self) -> Surface:
        """The boundary that is measured."""
        return meshing.fromMask(self.mask) if self.givenSurface is None else self.givenSurface

    @property
    def isEmpty(self) -> bool:
        return self.mask.isEmpty if self.givenSurface is None else self.givenSurface.isEmpty

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest LPS coordinates (3,) in mm of a structure that is not empty."""
        if self.givenSurface is not None:
            return self.givenSurface.box
        corners = self.mask.corners()
        return corners.min(axis=0), corners.max(axis=0)

    @property
    def dimension(self) -> int:
        """3 for a structure in space, 2 for contours in a plane."""
        if self.givenSurface is not None:
            return self.givenSurface.dimension
        return 2 if self.mask.grid.planar else 3

    @property
    def samplingGrid(self) -> Grid | None:
        """The image grid that the structure belongs to; None for meshes."""
        return None if self.mask is None else self.mask.grid


def dimensionOf(reference: Structure, test: Structure) -> int:
    """Return 3 for a pair of structures in space, 2 for contours in a plane; an empty reference does not count."""
    return (test if reference.isEmpty else reference).dimension


def codeSource(terminology: str) -> dict[str, str]:
    """Return the entries of Structure.source for a terminology entry; none if that is empty."""
    return {TERMINOLOGY: terminology} if terminology else {}


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
    failures: errors by name for structures that are neither, because a set has several of that name.
    """

    pairs: tuple[Match, ...]
    unmatchedReference: tuple[Structure, ...]
    unmatchedTest: tuple[Structure, ...]
    proposals: tuple[Match, ...] = ()
    findings: tuple[str, ...] = ()
    failures: Mapping[str, PairError] = field(default_factory=dict)

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
    reference, test = list(reference), list(test)
    if names is not None:
        requireKnown(names, reference, test)
    if isAlonePair and len(reference) == len(test) == 1 and not unusableOf(reference, test):
        isNameless = any(s.source.get(WITHOUT_LABELS) for s in (*reference, *test))
        how = "name" if isNameless or reference[0].name == test[0].name else "only"
        return Pairing((Match(reference[0], test[0], how),), (), ())
    reference, test = _lacking(reference, test), _lacking(test, reference)
    if names is not None:
        reference, test = ([s for s in structures if s.name in names] for structures in (reference, test))
    for which, structures in zip(REFERENCE_AND_TEST, (reference, test), strict=True):
        for name in namesOfSeveral(structures):
            raise severalNamed(name, which, structures)
    byName = {structure.name: structure for structure in test}
    pairs = tuple(Match(r, byName.pop(r.name)) for r in reference if r.name in byName)
    paired = {r.name for r, _ in pairs}
    return Pairing(pairs, tuple(r for r in reference if r.name not in paired), tuple(byName.values()))


def namesOfSeveral(structures: Iterable[Structure]) -> list[str]:
    """Return the names that more than one structure of a set has."""
    return [name for name, number in Counter(s.name for s in structures).items() if number > 1]


def severalNamed(name: str, which: str, structures: Iterable[Structure]) -> PairError:
    """Return an error for several structures of one name in a set. which: "reference" or "test"."""
    homes = dict.fromkeys(s.file for s in structures if s.name == name and s.file)
    said = f"The {which} has more than one structure named {name!r}"
    wayOut = "Rename all but the one that is meant."
    return PairError(f"{said}{f' ({commaSeparated(homes)})' if homes else ''}. {wayOut}", f"{said}. {wayOut}")


def _lacking(structures: list[Structure], others: list[Structure]) -> list[Structure]:
    """Return the structures, or for an image without labels an empty structure named like each of the others."""
    if len(structures) == 1 and structures[0].source.get(WITHOUT_LABELS):
        return [replace(structures[0], name=other.name) for other in others]
    return structures


def numbered(label: int) -> str:
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


def labelNamed(name: str | int, structures: Iterable[Structure], labelNames: Mapping[int, str] | None = None) -> str:
    """Return the name of the structure with a label number; any other name is returned unchanged.

    labelNames: names of labels by number. A structure whose name is that number takes precedence. A structure that is
    called by its file is also found by the name of its label, such as Label 1, if no other has that label. Raises
    InputError for anything but a name or a number.
    """
    name, structures = asName(name), list(structures)
    known = {structure.name for structure in structures}
    if name in known:
        return name
    meant = [name]
    if name.isascii() and name.isdigit():
        meant = [other for other in ((labelNames or {}).get(int(name)), numbered(int(name))) if other]
    labeled = [structure.name for structure in structures if structure.source.get(LABEL) in meant]
    return next((other for other in meant if other in known), labeled[0] if len(labeled) == 1 else name)


def inAnySpelling(
    names: Iterable[str | int], labelNames: Mapping[int, str] | None, *sets: Iterable[Structure]
) -> list[str]:
    """Return names in the spelling of the structures; those that match no structure in any spelling are unchanged.

    A label may also be given by its number. labelNames: names of labels by number. Structures that were left out of
    their file are matched only if no other has the name. Raises InputError as labelNamed().
    """
    sets = [list(structures) for structures in sets]
    everything = [s for structures in sets for s in structures]
    known = list(dict.fromkeys(s.name for s in everything))
    leftOut = list(dict.fromkeys(name for s in everything for name in s.source.get(LEFT_OUT, ())))
    found = []
    # the labels of each side, as the structure of a label may be called differently on both
    meant = (labelNamed(name, own, labelNames) for name in names for own in _sidesOf(name, sets, labelNames))
    for name in dict.fromkeys(meant):
        spelled = naming.parse(name).spelled
        alike = ([other for other in some if naming.parse(other).spelled == spelled] for some in (known, leftOut))
        found += [name] if name in known or name in leftOut else next(filter(None, alike), [name])
    return list(dict.fromkeys(found))


def _sidesOf(
    name: str | int, sets: list[list[Structure]], labelNames: Mapping[int, str] | None
) -> list[list[Structure]]:
    """Return the sets in which to look for a name: those that have it as it is or as a label, else all as one."""
    everything = [s for structures in sets for s in structures]
    having = [own for own in sets if labelNamed(name, own, labelNames) != asName(name)]
    return having if having and asName(name) not in {s.name for s in everything} else [everything]


def nameMeant(name: str | int, structures: Iterable[Structure], labelNames: Mapping[int, str] | None = None) -> str:
    """Return the name of the structure with a name in any spelling, or with a label number.

    A name that matches several structures, or none, is returned unchanged. labelNames and errors are as for
    inAnySpelling().
    """
    meant = inAnySpelling([name], labelNames, structures)
    return meant[0] if len(meant) == 1 else asName(name)


def requireKnown(names: Collection[str], *sets: list[Structure]) -> None:
    """Raise InputError when no set has a structure of one of the names, or when it cannot be used."""
    for name in names:
        for structures in sets:
            requireUsable(name, structures)
    known = dict.fromkeys(s.name for structures in sets for s in structures)
    for name in names:
        if name not in known:
            raise InputError(
                f"There is no structure named {name!r}; there are {commaSeparated(known)}.{didYouMean(name, known)}"
            )


def requireUsable(name: str, structures: Iterable[Structure]) -> None:
    """Raise InputError, with the reason, when the requested structure was left out of a file."""
    for structure in structures:
        remark = structure.source.get(LEFT_OUT, {}).get(name)
        if remark:
            raise InputError(remark)


def whyLost(name: str, structures: Iterable[Structure]) -> str:
    """Return the remark on the file of a set that may hold a structure which the set lacks, "" if there is none."""
    own = naming.parse(name)
    sources = list({id(s.source.get(LEFT_OUT)): s.source for s in structures}.values())
    for source in sources:
        for other, why in source.get(LEFT_OUT, {}).items():
            given = naming.parse(other)
            if given.spelled == own.spelled or given.meaning == own.meaning:
                return why
    lost = {beginning: why for source in sources for beginning, why in source.get(LOST, {}).items()}
    isOf = (
        why for beginning, why in lost.items() if beginning and name.casefold().startswith(f"{beginning} ".casefold())
    )
    return next(isOf, lost.get("", ""))


def unusableIn(pairing: Pairing, reference: Collection[Structure], test: Collection[Structure]) -> dict[str, str]:
    """Return the reasons, by name, for which structures of two sets were left out of their files, or may have been.

    These are those of unusableOf(), and the structures without a counterpart that a file of the other set may hold.
    """
    found = unusableOf(reference, test)
    for unmatched, others in ((pairing.unmatchedReference, test), (pairing.unmatchedTest, reference)):
        for name in naming.notAmong((s.name for s in unmatched), found):
            if why := whyLost(name, others):
                found[name] = why
    return found


def leftOutOf(*sets: Iterable[Structure]) -> list[str]:
    """Return the remarks about structures that were left out of the files of some sets, and how many more there are."""
    remarks = (s.source.get(LEFT_OUT, {}).values() for structures in sets for s in structures)
    found = list(dict.fromkeys(why for reasons in remarks for why in reasons))
    more = len(found) - MOST_REMARKS
    return [*found[:MOST_REMARKS], f"And {more} more were left out."] if more > 0 else found


def unusableOf(*sets: Collection[Structure]) -> dict[str, str]:
    """Return the reasons, by name, for which structures were left out of the files of some sets.

    A file in a folder that need not hold structures, such as a CT beside the masks, is included only if a set has a
    structure of the same name, in any spelling.
    """
    spelled = {naming.parse(s.name).spelled for structures in sets for s in structures}
    found: dict[str, dict[str, None]] = {}
    for structures in sets:
        for structure in structures:
            for name, why in structure.source.get(LEFT_OUT, {}).items():
                isNone = name in structure.source.get(NO_STRUCTURES, ())
                if not isNone or naming.parse(name).spelled in spelled:
                    found.setdefault(name, {})[why] = None
    return {name: " ".join(reasons) for name, reasons in found.items()}
