"""Where observers differ: the standard deviation of their distances at every point of the consensus surface."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...geometry.surfaces import Surface

PERCENT = 95


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
        """(points,) the share of the surface that each point stands for: of every cell around it, one per corner."""
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
        reached = np.cumsum(self.shares[order])
        return float(
            self.localSD[order[min(int(np.searchsorted(reached, PERCENT / 100 * (1 - 1e-12))), len(order) - 1)]]
        )
