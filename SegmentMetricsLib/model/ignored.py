"""What nobody annotated: voxels that a label of the reference marks, and that count on neither side.

Partial annotations have such a label; nnU-Net calls it "ignore", and its evaluation leaves these voxels out. Contours
are cut there: a structure that runs into them ends at their border, on both sides alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..base.errors import InputError
from ..geometry.masks import Mask
from .instances import joinLesions
from .structure import Ignored, Structure
from .structures import Labels, nameMeant
from .structureset import StructureSet

# What nnU-Net calls the label.
IGNORE = "ignore"


def separateIgnored(
    sides: Iterable[Iterable[Structure]],
    ignore: str | None,
    labelNames: Mapping[Labels, str] | None = None,
    classes: Mapping[str, str] | None = None,
) -> tuple[StructureSet, StructureSet]:
    """Return the structures of both sides without the label that marks what nobody annotated, and what it marks.

    sides: the structures of the reference and of the test. ignore: its name or number in the reference; None for IGNORE
    if the names of the labels have it. classes: of lesions, as for joinLesions(), if every structure is one; else None.
    """
    reference, test = map(StructureSet.of, sides)
    marks: Sequence[Structure] = ()
    if ignore is not None or IGNORE in (labelNames or {}).values():
        (reference, marks), (test, _) = (setAside(own, ignore or IGNORE, labelNames) for own in (reference, test))
    if classes is not None:
        reference, test = (own.having(joinLesions(own, classes)) for own in (reference, test))
    if ignore is None and not marks:
        return reference, test
    reference, test = (own.having(leaveOut(own, marks, ignore or IGNORE)) for own in (reference, test))
    # what the test only has where nobody annotated is no structure of its own
    known = {one.name for one in reference}
    kept = [s for s in test if s.label or s.name in known or not (s.ignored and s.ignored.size and s.isEmpty)]
    return reference, test if len(kept) == len(test) else test.having(kept or [_asUnlabeled(test[0])])


def setAside(
    structures: StructureSet, ignore: str, labelNames: Mapping[Labels, str] | None = None
) -> tuple[StructureSet, Sequence[Structure]]:
    """Return a set without the structures of a name or number, and these; without any other it has no labels."""
    meant = nameMeant(ignore, structures, labelNames)
    marks = [one for one in structures if one.name == meant]
    others = [one for one in structures if one.name != meant]
    return structures.having(others or map(_asUnlabeled, marks[:1])), marks


def leaveOut(structures: Iterable[Structure], marks: Sequence[Structure], ignore: str) -> list[Structure]:
    """Return structures without the voxels that marks of the reference have; surfaces without voxels stay whole.

    Each knows then what was ignored, even if that is nothing. ignore: what the marks are called if there are none.
    """
    found = [replace(one, ignored=Ignored(ignore)) for one in structures]
    for mark in marks:
        if mark.mask is None:
            raise InputError(f"{mark.name} is a surface, and only voxels can mark what nobody annotated.")
        found = [_without(one, Ignored(mark.name, mark.mask), mark.mask) for one in found]
    return found


def _without(structure: Structure, ignored: Ignored, marked: Mask) -> Structure:
    left = structure.mask and structure.mask.without(marked)
    size = structure.mask.size - left.size if structure.mask and left else 0.0
    if not size and structure.memberships is None:
        return replace(structure, ignored=ignored)
    return replace(
        structure,
        ignored=ignored._replace(size=size),
        mask=left,
        memberships=structure.memberships and structure.memberships.without(marked),
        instances=structure.instances and tuple(one.without(marked) for one in structure.instances),
        givenSurface=None,
        surfaceKind="unsmoothed",
    )


def _asUnlabeled(structure: Structure) -> Structure:
    """Return the structure that stands for the image of another one, as if it had no label."""
    grid = structure.samplingGrid
    return structure if grid is None else replace(structure, mask=Mask.empty(grid), label="", isUnlabeled=True)
