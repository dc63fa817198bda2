"""The observers' voxels on one grid: how many agree where, the consensus of all or of some, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import SimpleITK

from ...base.errors import InputError
from ...geometry import voxelization
from ...geometry.closest import ClosestSurface
from ...geometry.grids import Grid
from ...geometry.masks import LARGEST_BOX, Mask, finest
from ...geometry.surfaces import Surface
from ...model.lattices import onOneLattice
from ...model.structure import Structure

METHODS = ("majority", "staple", "mean-surface")
# Voxels around all observers that the STAPLE filter sees on each side; it learns from them what the background is.
STAPLE_MARGIN = 5
STAPLE_LEVEL = 0.5
# mm; a mean of distances is 0 up to rounding, which depends on the order of the observers.
ROUNDING = 1e-9
# Voxels whose distances to the observers' surfaces are measured at a time.
CHUNK = 1 << 15
# Of the area, whose local SD is told.
PERCENT = 95


class Performance(NamedTuple):
    """What STAPLE finds of an observer: the share of the consensus drawn, and the share of the rest left out."""

    sensitivity: float
    specificity: float


class Consensus(NamedTuple):
    """The voxels of a consensus. performances: of the observers, only known from STAPLE."""

    mask: Mask
    performances: tuple[Performance, ...] = ()


@dataclass(frozen=True, eq=False)
class Drawings:
    """The structures that the observers drew, and their voxels on one grid. None of them is empty.

    masks: the voxels. low, high: the smallest and the largest index i, j, k of the box around all of them. known: what
    signedDistances() has measured.
    """

    structures: Sequence[Structure]
    masks: Sequence[Mask]
    low: np.ndarray
    high: np.ndarray
    known: dict[bool, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    @staticmethod
    def of(structures: Sequence[Structure], meshSpacing: float) -> Drawings:
        """Return structures on their common grid. meshSpacing: as in Settings.

        The grid is the common lattice if there is one, else that of the observer with the smallest voxels, whatever
        their order; meshes are filled on it. Meshes must have an inside. Raises InputError for too large a box.
        """
        structures = onOneLattice(structures)
        if drawn := [s.mask for s in structures if s.mask is not None]:
            grid = finest(drawn).grid
        else:
            surfaces = [structure.surface for structure in structures]
            grid = voxelization.gridForMeshes(surfaces, meshSpacing, voxelization.STEPS_ACROSS)
        index = grid.toIndex(np.concatenate([np.stack(structure.box) for structure in structures]))
        if np.prod(np.ptp(index, axis=0) + 1) > LARGEST_BOX:
            raise InputError(
                "the box around all observers has more voxels than any image; check origins and spacings in the files."
            )
        masks = [voxelization.maskOf(s.surface, grid) if s.mask is None else s.mask.on(grid) for s in structures]
        if not (filled := [mask for mask in masks if not mask.isEmpty]):
            raise InputError("no voxel of the common grid lies inside an observer's contour.")
        low, high = np.min([mask.low for mask in filled], axis=0), np.max([mask.high for mask in filled], axis=0)
        return Drawings(structures, masks, low, high)

    @property
    def grid(self) -> Grid:
        return self.masks[0].grid

    @cached_property
    def searches(self) -> list[ClosestSurface]:
        """The closest-point search of every surface."""
        return [ClosestSurface(structure.surface.target) for structure in self.structures]

    @cached_property
    def votes(self) -> np.ndarray:
        """The number of observers [k, j, i] that have each voxel of the box around all."""
        return self.votesOf(range(len(self.masks)))

    def votesOf(self, chosen: Sequence[int]) -> np.ndarray:
        """Return the number of some observers [k, j, i], given by number, that have each voxel of the box."""
        votes = np.zeros((self.high - self.low + 1)[::-1], np.uint16)
        for number in chosen:
            votes += self.masks[number].block(self.low, self.high)
        return votes

    def signedDistances(self, voxels: np.ndarray, areTied: bool) -> np.ndarray:
        """Return the signed distances (m, n) in mm of voxels to the surfaces of all n observers, negative inside.

        voxels: (m,) indices of the flattened box. areTied: whether these are voxels that half of the observers have,
        with or without one of them; else any that some observers have and others have not. Distances of all such
        voxels are measured when the first are asked for, once for the consensus of all and those without one observer.
        """
        if areTied not in self.known:
            doubled, count = 2 * self.votes.astype(np.int32).ravel(), len(self.masks)
            isOpen = np.abs(doubled - count) <= 1 if areTied else (doubled > 0) & (doubled < 2 * count)
            every = np.flatnonzero(isOpen)
            found = np.empty((len(every), len(self.structures)))
            for first in range(0, len(every), CHUNK):
                chosen = slice(first, first + CHUNK)
                index = np.stack(np.unravel_index(every[chosen], self.votes.shape)[::-1], axis=1) + self.low
                points = self.grid.toWorld(index)
                for number, search in enumerate(self.searches):
                    found[chosen, number] = search.signedDistances(points)
            self.known[areTied] = every, found
        every, distances = self.known[areTied]
        return distances[np.searchsorted(every, voxels)]


def consensusOf(drawings: Drawings, method: str, chosen: Sequence[int] | None = None) -> Consensus:
    """Return the consensus of the observers. method: one of METHODS. chosen: numbers of some of them, None for all.

    majority: the voxels that more than half of them have; where exactly half have it, those in which the mean of the
    signed distances to their surfaces is inside. staple: SimpleITK's filter on the box around all observers and
    STAPLE_MARGIN voxels on each side, cut at STAPLE_LEVEL (Warfield et al., doi:10.1109/TMI.2004.828354). mean-surface:
    where the mean signed distance is inside.
    """
    numbers = range(len(drawings.masks)) if chosen is None else chosen
    if method == "staple":
        return _staple(drawings, numbers)
    votes = drawings.votes if chosen is None else drawings.votesOf(numbers)
    isMajority = method == "majority"
    isIn = 2 * votes.astype(np.int32) > len(numbers) if isMajority else votes == len(numbers)
    isOpen = 2 * votes.astype(np.int32) == len(numbers) if isMajority else (votes > 0) & ~isIn
    voxels = np.flatnonzero(isOpen)
    if len(voxels):
        means = drawings.signedDistances(voxels, isMajority)[:, list(numbers)].mean(axis=1)
        isIn.ravel()[voxels[means < -ROUNDING]] = True
    return Consensus(Mask.fromArray(isIn, drawings.grid, drawings.low))


def _staple(drawings: Drawings, numbers: Sequence[int]) -> Consensus:
    margin = np.full(3, STAPLE_MARGIN)
    if drawings.grid.flatAxis is not None:
        margin[drawings.grid.flatAxis] = 0
    some = [drawings.masks[number] for number in numbers if not drawings.masks[number].isEmpty]
    low = np.min([mask.low for mask in some], axis=0) - margin
    high = np.max([mask.high for mask in some], axis=0) + margin
    filter = SimpleITK.STAPLEImageFilter()
    filter.SetForegroundValue(1)
    images = [SimpleITK.GetImageFromArray(drawings.masks[number].block(low, high)) for number in numbers]
    probability = SimpleITK.GetArrayViewFromImage(filter.Execute(images))
    mask = Mask.fromArray(probability >= STAPLE_LEVEL, drawings.grid, low)
    rates = zip(filter.GetSensitivity(), filter.GetSpecificity(), strict=True)
    return Consensus(mask, tuple(Performance(*both) for both in rates))


def conformity(votes: np.ndarray, count: int) -> tuple[float, float]:
    """Return the conformity index and the generalized one. votes: how many of the observers have each voxel of a box.

    The first is the volume that all have over the volume that any has. The second is the sum of the volumes that two
    share over the sum of those that either of two has, over all pairs. count: of all observers.
    Source: Kouwenhoven et al., doi:10.1088/0031-9155/54/9/018.
    """
    havingIt = np.bincount(votes.ravel(), minlength=count + 1)
    number = np.arange(len(havingIt))
    # a voxel that n observers have is shared by n (n - 1) / 2 pairs
    shared = float(havingIt @ (number * (number - 1) / 2))
    either = (count - 1) * float(havingIt @ number) - shared
    return float(havingIt[count] / havingIt[1:].sum()), shared / either


@dataclass(frozen=True, eq=False)
class Variation:
    """How observers vary around a consensus.

    surface: of the consensus. distances: (observers, points) signed distances in mm from every point of it to each
    observer's surface, positive where the observer lies outside the consensus.
    """

    surface: Surface
    distances: np.ndarray

    @cached_property
    def localSD(self) -> np.ndarray:
        """(points,) sample standard deviation of the observers' distances in mm."""
        return self.distances.std(axis=0, ddof=1)

    @cached_property
    def shares(self) -> np.ndarray:
        """(points,) the share of the surface that each point stands for, an equal part of every cell around it."""
        cells = self.surface.cells
        sizes = np.repeat(self.surface.sizes / cells.shape[1], cells.shape[1])
        shares = np.bincount(cells.ravel(), sizes, len(self.surface.points))
        return shares / shares.sum()

    @property
    def rootMeanSquareSD(self) -> float:
        """Root of the mean of the squared local SD over the area, mm."""
        return float(np.sqrt(self.shares @ self.localSD**2))

    @property
    def percentile95SD(self) -> float:
        """The smallest local SD in mm that 95 % of the area does not exceed."""
        order = np.argsort(self.localSD, kind="stable")
        place = np.searchsorted(np.cumsum(self.shares[order]), PERCENT / 100 * (1 - 1e-12))
        return float(self.localSD[order[min(int(place), len(order) - 1)]])
