"""Whether two structures have the same contents: voxels or triangles, and where they are."""

from __future__ import annotations

import hashlib

import numpy as np

from .structures import Structure

# Positions are compared in steps of this many mm: saving and loading a scene changes the last digits.
STEP = 1e-5


def contentHash(structure: Structure) -> hashlib.blake2b:
    """Return a hash that is the same for structures with the same contents; the structure is not empty."""
    digest = hashlib.blake2b(digest_size=12)
    if structure.mask is not None:
        digest.update(repr(structure.mask.voxels.shape).encode())
        digest.update(structure.mask.voxels if structure.memberships is None else structure.memberships.voxels)
        places = structure.mask.corners()
    else:
        digest.update(np.ascontiguousarray(structure.surface.cells, np.int64))
        places = structure.surface.points
    digest.update(np.rint(places / STEP).astype(np.int64))
    return digest
