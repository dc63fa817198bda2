"""The bands along the boundaries of a pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.errors import Undefined
from ...geometry import voxelization
from ...model.structures import REFERENCE_AND_TEST
from .bands.methods import bands
from .bands.sizes import Bands

if TYPE_CHECKING:
    from ...comparison.workspace import Workspace


def bandsOf(pair: Workspace, tolerance: float) -> Bands:
    """Return the overlap of the two boundary bands for a tolerance in mm."""
    pair.requireClosed(*pair.structures)
    masks = pair.masks
    if any(s.mask is not None and s.givenSurface is not None for s in pair.structures):
        # the measured surfaces decide where to look, not the voxels from which they were made
        masks = tuple(voxelization.maskOf(s.surface, masks[0].grid) for s in pair.structures)
    for which, mask in zip(REFERENCE_AND_TEST, masks, strict=True):
        if mask.isEmpty:
            raise Undefined(f"the {which} encloses no voxel, so there is no telling where its band lies")
    pair.forgetIfLarge()
    return bands(pair.boundaries, masks, tolerance)
