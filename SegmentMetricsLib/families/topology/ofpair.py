"""The skeletons and Betti numbers of a pair, shared by its measurements of topology."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import formulas as topology
from .formulas import Betti, Run, Skeleton

if TYPE_CHECKING:
    from ...comparison.workspace import Workspace


def skeletonsOf(pair: Workspace) -> tuple[Skeleton, Skeleton]:
    """Return the skeletons of both on the grid on which overlap is counted."""
    reference, test = pair.masks
    return topology.skeletonOf(reference, test), topology.skeletonOf(test, reference)


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
