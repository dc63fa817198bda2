"""The voxels of a pair and their distances, shared by its voxel measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.errors import Undefined
from ...geometry.masks import Mask
from ...model.structures import REFERENCE_AND_TEST
from . import formulas as voxels

if TYPE_CHECKING:
    from ...comparison.workspace import Workspace


def cutsOf(pair: Workspace) -> list[tuple[Mask, Mask]]:
    """Return the voxels whose distances are measured: those of the masks, or of every cut not empty on both sides."""
    number = _cutsOf(pair)
    if not number:
        return [pair.masks]
    reference, test = pair.memberships
    cuts = ((reference.cut(n / number), test.cut(n / number)) for n in range(1, number + 1))
    return [cut for cut in cuts if not all(mask.isEmpty for mask in cut)]


def distancesOf(pair: Workspace) -> list[tuple[voxels.VoxelDistances, voxels.VoxelDistances]]:
    """Return the distances of the voxels in every cut."""
    areMeshes = all(s.samplingGrid is None for s in pair.structures)
    most = voxels.MOST_OF_MESH if areMeshes else None
    return [voxels.measure(*cut, pair.settings.voxelUnit, most) for cut in pair.once(cutsOf)]


def _cutsOf(pair: Workspace) -> int:
    """Return the number of cuts of memberships, 0 without any."""
    return (pair.settings.cuts or 0) if pair.isFuzzy else 0


def emptinessOfCuts(pair: Workspace) -> str:
    """Return text on the structure that is empty in the pair, or in any measured cut; "" if there is none."""
    if not _cutsOf(pair):
        return pair.emptiness
    cuts = pair.once(cutsOf)
    if not cuts:
        raise Undefined("every cut of the memberships is empty on both sides")
    for number, which in enumerate(REFERENCE_AND_TEST):
        if any(cut[number].isEmpty for cut in cuts):
            return f"the {which} is empty in a cut of the memberships"
    return ""


def noteOnCuts(pair: Workspace) -> str:
    """Return a note on the number of cuts left out because both structures are empty there, "" if none is."""
    number = _cutsOf(pair)
    if not number:
        return ""
    omitted = number - len(pair.once(cutsOf))
    are = "is" if omitted == 1 else "are"
    return f"{omitted} of {number} cuts {are} empty on both sides and left out" if omitted else ""


def noteOnDistances(pair: Workspace) -> str:
    """Return a note on cuts that were left out, or on voxels that were taken together."""
    ways = [way for ways in pair.once(distancesOf) for way in ways]
    step = max((way.step for way in ways), default=1)
    if step > 1:
        return f"voxels alone in one mesh were taken together in cubes {step} voxels long"
    return noteOnCuts(pair)
