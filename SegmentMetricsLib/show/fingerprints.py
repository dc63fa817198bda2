"""Hashes of structures and doses by their contents: voxels, triangles or values, and their positions."""

from __future__ import annotations

import hashlib

import numpy as np

from ..model.dose import Dose
from ..model.structure import Structure

# Positions are rounded to multiples of this many mm, as saving and loading a scene changes the last digits.
STEP = 1e-5


def contentHash(structure: Structure) -> hashlib.blake2b:
    """Return a hash that is equal for structures with equal contents. structure: not empty."""
    digest = hashlib.blake2b(digest_size=12)
    if structure.mask is not None:
        digest.update(repr(structure.mask.voxels.shape).encode())
        digest.update((structure.memberships or structure.mask).voxels.data)
        places = structure.mask.corners()
    else:
        digest.update(np.ascontiguousarray(structure.surface.cells, np.int64).data)
        places = structure.surface.points
    digest.update(np.rint(places / STEP).astype(np.int64).data)
    return digest


def contentHashOfDose(dose: Dose) -> hashlib.blake2b:
    """Return a hash that is equal for doses of equal values at equal places."""
    digest = hashlib.blake2b(np.ascontiguousarray(dose.values).data, digest_size=12)
    digest.update(np.rint(dose.grid.corners() / STEP).astype(np.int64).data)
    if dose.planes is not None:
        digest.update(np.rint(dose.planes * dose.grid.spacing[2] / STEP).astype(np.int64).data)
    return digest
