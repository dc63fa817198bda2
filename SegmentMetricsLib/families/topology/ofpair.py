"""The skeletons and Betti numbers of a pair, shared by its measurements of topology."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ...base.parallel import sideBySide
from . import formulas as topology
from .formulas import Betti, Run, Skeleton
from .thinning import TooLarge

if TYPE_CHECKING:
    from ...comparison.workspace import Workspace

# Voxels of both together from which on they are thinned side by side.
MANY_VOXELS = 50_000


class Finer(NamedTuple):
    """The skeletons of both on the lattice of twice the resolution, without spikes.

    lost: of each, the stretches that the skeleton of its voxels does not reach; if there are none, nobody needs these.
    """

    skeletons: tuple[Skeleton, ...]
    lost: tuple[tuple[Run, ...], ...]


def skeletonsOf(pair: Workspace) -> tuple[Skeleton, ...]:
    """Return the skeletons of both on the grid on which overlap is counted.

    They are those of the voxels, or where these do not reach a part of one of both, those of twice the resolution.
    """
    finer = pair.once(finerOf)
    return finer.skeletons if finer and any(finer.lost) else pair.once(thinnedOf)


def thinnedOf(pair: Workspace) -> tuple[Skeleton, ...]:
    """Return the skeletons of the voxels of both, as other tools take them."""
    return _skeletons(pair, 1)


def finerOf(pair: Workspace) -> Finer | None:
    """Return the skeletons of twice the resolution, None for structures that are too large for them."""
    try:
        skeletons = _skeletons(pair, 2)
    except TooLarge:
        return None
    lost = tuple(map(topology.lostRuns, skeletons, pair.once(thinnedOf), pair.masks))
    return Finer(tuple(map(topology.withoutSpikes, skeletons, pair.masks)) if any(lost) else skeletons, lost)


def _skeletons(pair: Workspace, perVoxel: int) -> tuple[Skeleton, ...]:
    reference, test = pair.masks
    tasks = [partial(topology.skeletonOf, *both, perVoxel) for both in ((reference, test), (test, reference))]
    return tuple(sideBySide(tasks, reference.voxels.size + test.voxels.size > MANY_VOXELS))


def bettiNumbersOf(pair: Workspace) -> tuple[Betti, Betti]:
    """Return the numbers of parts, tunnels and cavities of both."""
    reference, test = pair.masks
    return topology.bettiNumbers(reference), topology.bettiNumbers(test)


def gapsOf(pair: Workspace) -> tuple[Run, ...]:
    """Return the stretches of the reference's skeleton that the test does not cover."""
    return topology.runsOutside(pair.once(skeletonsOf)[0])


def spursOf(pair: Workspace) -> tuple[Run, ...]:
    """Return the stretches of the test's skeleton outside the reference."""
    return topology.runsOutside(pair.once(skeletonsOf)[1])


def bettiErrorOf(pair: Workspace, number: int) -> int:
    """Return the absolute difference of one Betti number: 0 for parts, 1 for tunnels, 2 for cavities."""
    reference, test = pair.once(bettiNumbersOf)
    return topology.bettiErrorOf(reference, test, number)
