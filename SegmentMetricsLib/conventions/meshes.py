"""Distances between meshed boundaries, as the generations of MeshMetrics measure them."""

from __future__ import annotations

from dataclasses import dataclass

from ..bands import bands
from ..distances import BoundaryPair
from .rules import Sample
from .sampling import Sampling


@dataclass(frozen=True)
class Meshes:
    """Distances between the boundaries of the reference values, from the centers of their elements.

    subdivisions: how often triangles are cut into four; segments: how often segments are cut into two.
    """

    subdivisions: int
    segments: int

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        boundaries = unsmoothed(sampling)
        subdivisions = self.subdivisions if boundaries.surfaces[0].dimension == 3 else self.segments
        return samples(boundaries, subdivisions)


@dataclass(frozen=True)
class MeshBands:
    """The overlap of the bands inside those boundaries. oversampling: see Settings."""

    oversampling: int | None

    def __call__(self, sampling: Sampling, tolerance: float) -> float:
        return bands(unsmoothed(sampling), sampling.masks, tolerance, self.oversampling).overlap


def unsmoothed(sampling: Sampling) -> BoundaryPair:
    """Return the boundaries that reference values are measured on."""

    def make() -> BoundaryPair:
        reach = max(sampling.pair.settings.tolerances, default=0.0)
        return BoundaryPair(*(structure.surface for structure in sampling.structures), reach)

    return sampling.keep("unsmoothed", make)


def samples(boundaries: BoundaryPair, subdivisions: int) -> tuple[Sample, Sample]:
    """Return the distances of two boundaries as samples."""
    there, back = (Sample(d.distances, d.sizes) for d in boundaries.measure(subdivisions).directions)
    return there, back
