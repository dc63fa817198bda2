"""What the voxel grid itself contributes to measurements: their spread if it had lain a fraction of a voxel elsewhere.

A mask does not know its surface better than to the voxel. So the smooth surfaces of both structures are put on the
reference's grid again and again, each time with the same random shift for both, and are measured anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ..base.progress import checkpoint
from ..comparison.measurements import Measurement, Spread
from ..comparison.workspace import Workspace
from ..geometry.grids import Grid, translation
from ..geometry.surfaces import Surface
from ..geometry.voxelization import maskOf
from ..model.structures import Structure
from ..settings.settings import Settings

SHIFTS, SEED = 36, 0
# The range that 95 % of the shifts are in, in percent.
RANGE = 2.5, 97.5
# The smooth surface is that of the structure only if its area exceeds this fraction of the measured one: smoothing
# makes almost nothing of a structure one or two voxels thick.
LEAST_AREA = 0.25
# For readers of the numbers.
NOTE = (
    f"Grid: what the number is when the voxel grid lies a fraction of a voxel elsewhere, from {SHIFTS} shifts of the "
    "smooth surfaces. Differences no larger than this range say nothing about the contours. The mean may lie beside "
    "the number itself: smoothing makes small structures smaller."
)


def spreads(
    reference: Structure,
    test: Structure,
    settings: Settings,
    measure: Callable[[Structure, Structure, Settings], Mapping[str, Measurement]],
    displayed: Callable[[Structure], Structure],
) -> dict[str, Spread]:
    """Return the spread of each measurement, by key, for SHIFTS shifts; {} if a structure is empty.

    Measurements without a finite value for any of the shifts are left out. measure: measures two structures. displayed:
    makes the surface that Slicer displays of a structure.
    """
    if reference.isEmpty or test.isEmpty:
        return {}
    surfaces = [_smoothSurface(structure, displayed) for structure in (reference, test)]
    grid = reference.samplingGrid or test.samplingGrid or Workspace(reference, test, settings).overlapGrid.grid
    # the profile of slices is none of the measurements
    families = tuple(family for family in settings.families if family != "slices")
    chosen = replace(settings, families=families) if families else settings
    found: dict[str, list[float]] = {}
    for shift in np.random.default_rng(SEED).uniform(-0.5, 0.5, (SHIFTS, 3)):
        checkpoint()
        moved = _moved(grid, shift)
        pair = [
            replace(
                structure, mask=maskOf(surface, moved), givenSurface=None, surfaceKind="unsmoothed", memberships=None
            )
            for structure, surface in zip((reference, test), surfaces, strict=True)
        ]
        if settings.surface == "displayed":
            pair = [one if one.isEmpty else displayed(one) for one in pair]
        for key, measurement in measure(pair[0], pair[1], chosen).items():
            if math.isfinite(measurement.value):
                found.setdefault(key, []).append(measurement.value)
    return {key: _spreadOf(np.array(values)) for key, values in found.items()}


def _smoothSurface(structure: Structure, displayed: Callable[[Structure], Structure]) -> Surface:
    """Return the surface of a structure that is put on the grids: that of a mesh as it is, contours in a plane, too."""
    if structure.mask is None or structure.surfaceKind == "displayed" or structure.dimension == 2:
        return structure.surface
    smooth = displayed(structure).surface
    isThere = not smooth.isEmpty and smooth.sizes.sum() > LEAST_AREA * structure.surface.sizes.sum()
    return smooth if isThere else structure.surface


def _moved(grid: Grid, shift: np.ndarray) -> Grid:
    """Return a grid moved by a fraction of a voxel along each of its axes; a planar one stays in its plane."""
    along = shift.copy()
    if grid.flatAxis is not None:
        along[grid.flatAxis] = 0
    return Grid(grid.size, grid.matrix @ translation(along), grid.planar)


def _spreadOf(values: np.ndarray) -> Spread:
    low, high = np.percentile(values, RANGE)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return Spread(float(values.mean()), deviation, float(low), float(high), len(values))
