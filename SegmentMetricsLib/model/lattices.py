"""Structures whose voxels are parts of an image's voxels, and others on the same image: on one lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..geometry.grids import Grid
from .structures import Structure

# A structure that would have more voxels in its box is not divided: its voxels are compared as they are.
MOST_VOXELS = 2**28


def onOneLattice(structures: Sequence[Structure]) -> list[Structure]:
    """Return structures with their voxels divided into parts of the size of the smallest of those drawn on one image.

    Dividing a voxel changes nothing of where it is. Without a structure whose voxels are such parts all are unchanged,
    and so are those on other lattices.
    """
    home = next((one.drawnOn for one in structures if one.drawnOn is not None), None)
    if home is None:
        return list(structures)
    moved = [_alongAxesOf(one, home) for one in structures]
    parts = [_partsOf(one, home) for one in moved]
    finest = np.max([number for number in parts if number is not None], axis=0, initial=1)
    return [
        one if number is None or (number == finest).all() else _divided(own, finest // number) or one
        for one, own, number in zip(structures, moved, parts, strict=True)
    ]


def _alongAxesOf(structure: Structure, home: Grid) -> Structure:
    mask = structure.mask
    if mask is None or structure.drawnOn is not None or (moved := mask.alongAxesOf(home)) is mask:
        return structure
    memberships = structure.memberships
    return replace(structure, mask=moved, memberships=memberships and memberships.alongAxesOf(home))


def _partsOf(structure: Structure, home: Grid) -> np.ndarray | None:
    """Return into how many parts (3,) a structure's voxels divide those of an image, None if they are no such parts."""
    if structure.mask is None:
        return None
    own = structure.mask.grid
    parts = np.maximum(np.rint(home.spacing / own.spacing).astype(int), 1)
    if structure.drawnOn is None and (parts != 1).any():
        return None
    return None if own.offsetOn(home.divided(parts.tolist())) is None else parts


def _divided(structure: Structure, parts: np.ndarray) -> Structure | None:
    """Return a structure with every voxel divided, None if it would have too many."""
    mask, numbers = structure.ownMask, parts.tolist()
    if mask.voxels.size * parts.prod() > MOST_VOXELS:
        return None
    return replace(
        structure,
        mask=mask.divided(numbers),
        memberships=structure.memberships and structure.memberships.divided(numbers),
        instances=structure.instances and tuple(one.divided(numbers) for one in structure.instances),
    )
