"""Instance maps: every label, or segment, is one lesion, and several of them are one structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..base.errors import InputError
from ..geometry.masks import union
from .lattices import onOneLattice
from .structure import Structure

# What the lesions of all labels together are called.
LESIONS = "Lesions"


def joinLesions(structures: Iterable[Structure], classes: Mapping[str, str]) -> list[Structure]:
    """Return structures that are lesions as one structure, or as one of each class.

    classes: name of the class by the name of a label or segment, such as "Label 3", or by its number; those that it
    does not name are left out. Without classes, all are one structure. A voxel of several belongs to the first. Raises
    InputError for structures without voxels, and for those on different grids.
    """
    groups: dict[str, list[Structure]] = {name: [] for name in classes.values()} if classes else {LESIONS: []}
    for one in structures:
        number = one.name.removeprefix("Label ") if one.number is None else str(one.number)
        name = classes.get(one.name, classes.get(number)) if classes else LESIONS
        if name is not None:
            groups[name].append(one)
    return [_one(name, group) for name, group in groups.items() if group]


def _one(name: str, lesions: list[Structure]) -> Structure:
    lesions, masks = onOneLattice(lesions), []
    for one in lesions:
        if one.mask is None:
            raise InputError(f"{one.name} has no voxels, so it cannot be a lesion of an instance map.")
        if not one.mask.fits(lesions[0].ownMask.grid):
            raise InputError(f"{one.name} and {lesions[0].name} of an instance map lie on different grids.")
        if not one.mask.isEmpty:
            masks.append(one.mask)
    first = replace(lesions[0], label="", number=None, isUnlabeled=False, memberships=None, givenSurface=None)
    whole = union(masks) if masks else lesions[0].ownMask
    return replace(first, name=name, mask=whole, surfaceKind="unsmoothed", instances=tuple(masks))
