"""Whether segments are still what they were when they were measured."""

from __future__ import annotations

import hashlib

import numpy as np

from ..structures import Structure
from .conversion import DISPLAY_PARAMETERS
from .inputs import linearMatrix, structureFromSegment, worldTransform

# Positions are compared in steps of this many mm: saving and loading a scene changes the last digits.
STEP = 1e-5


def stamp(structure: Structure, segmentationNode, surface: str = "unsmoothed") -> str:
    """Return a short text that is equal as long as what was measured of a segment is equal.

    Slicer reports modifications also when nothing changed, for example when the scene is saved, so results can only be
    known to be out of date by contents: voxels or surface, and where they are in the world. structure: made of a
    segment of the node. surface: as in Settings; how smooth surfaces are made counts for "displayed" only.
    """
    if structure.isEmpty:
        return "empty"
    digest = hashlib.blake2b(digest_size=12)
    if structure.mask is not None:
        digest.update(repr(structure.mask.voxels.shape).encode())
        digest.update(structure.mask.voxels if structure.memberships is None else structure.memberships.voxels)
        places = structure.mask.corners()
    else:
        digest.update(np.ascontiguousarray(structure.surface.cells, np.int64))
        places = structure.surface.points
    digest.update(np.rint(places / STEP).astype(np.int64))
    if surface == "displayed":
        segmentation = segmentationNode.GetSegmentation()
        digest.update(repr([segmentation.GetConversionParameter(name) for name in DISPLAY_PARAMETERS]).encode())
    return digest.hexdigest()


def currentStamp(segmentationNode, segmentID: str, surface: str = "unsmoothed") -> str:
    """Return the stamp of a segment as it is now. Raises ValueError as structureFromSegment does."""
    isLinear = linearMatrix(worldTransform(segmentationNode)) is not None
    # where voxels are known and not bent they tell enough, and a smooth surface would take long to make
    structure = structureFromSegment(segmentationNode, segmentID, "unsmoothed" if isLinear else surface, by="ID")
    return stamp(structure, segmentationNode, surface)
