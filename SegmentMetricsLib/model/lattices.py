"""Structures whose voxels are parts of an image's voxels, and others on the same image: on one lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from ..geometry.grids import Grid
from .structure import Structure

# A structure that would have more voxels in its box is not divided: its voxels are compared as they are.
MOST_VOXELS = 2**28

# Divided structures, which are the same in all pairs and keep their surfaces, as long as the whole ones exist.
_divided: WeakKeyDictionary[Structure, dict[tuple, Structure]] = WeakKeyDictionary()


def onOneLattice(structures: Sequence[Structure]) -> list[Structure]:
    """Return structures with their voxels divided into parts of the size of the smallest of those drawn on one image.

    Dividing a voxel changes nothing of where it is. Without a structure whose voxels are such parts all are unchanged,
    and so are those on other lattices.
    """
    home = next((one.drawnOn for one in structures if one.drawnOn is not None), None)
    if home is None:
        return list(structures)
    parts = [_partsOf(one, home) for one in structures]
    finest = np.max([numbers for numbers in parts if numbers is not None], axis=0, initial=1)
    return [
        one if numbers is None or (numbers == finest).all() else _inParts(one, home, finest // numbers)
        for one, numbers in zip(structures, parts, strict=True)
    ]


def _partsOf(structure: Structure, home: Grid) -> np.ndarray | None:
    """Return into how many parts (3,) a structure's voxels divide those of an image, None if they are no such parts."""
    if structure.mask is None:
        return None
    if structure.drawnOn is None:
        return np.ones(3, int) if structure.mask.alongAxesOf(home).grid.offsetOn(home) is not None else None
    own = structure.mask.grid
    parts = np.maximum(np.rint(home.spacing / own.spacing).astype(int), 1)
    return None if own.offsetOn(home.divide(parts.tolist())) is None else parts


def _inParts(structure: Structure, home: Grid, parts: np.ndarray) -> Structure:
    """Return a structure with every voxel divided along the axes of an image, unchanged if it had too many voxels."""
    mask, numbers = structure.ownMask, parts.tolist()
    if mask.voxels.size * parts.prod() > MOST_VOXELS:
        return structure
    known, key = _divided.setdefault(structure, {}), (home, *numbers)
    if key not in known:
        memberships, lesions = structure.memberships, structure.instances
        known[key] = replace(
            structure,
            mask=mask.alongAxesOf(home).divide(numbers),
            memberships=memberships and memberships.alongAxesOf(home).divide(numbers),
            instances=lesions and tuple(one.alongAxesOf(home).divide(numbers) for one in lesions),
        )
    return known[key]
