"""What the voxel grid itself contributes to measurements: their spread if it had lain a fraction of a voxel elsewhere.

A mask does not know its surface better than to the voxel. So the measured surfaces of both structures are put on the
reference's grid again and again, each time with the same random shift for both, and are measured anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from ..base.progress import checkpoint
from ..geometry.grids import Grid, translation
from ..geometry.masks import Mask, union
from ..geometry.meshing import fromMask
from ..geometry.voxelization import maskOf
from ..metrics.findings import Finding
from ..metrics.measurement import ROUNDING, Measurement, Spread
from ..metrics.metric import Asked
from ..metrics.pair import Pair
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST
from ..settings.settings import Settings

SHIFTS, SEED = 36, 0
# Standard deviations to either side of a number between which 95 % of a normal distribution lie.
REACH = 1.96
# For readers of the numbers.
NOTE = (
    f"Grid: how much the number changes if the voxel grid lies a fraction of a voxel elsewhere, from {SHIFTS} shifts "
    f"of the measured surfaces: the standard deviation (SD), and the number ± {REACH} SD. Differences no larger than "
    "this range say nothing about the contours. Where the mean over the shifts lies more than one SD from the number, "
    "it is stated, too."
)


def measureShifted(
    reference: Structure,
    test: Structure,
    settings: Settings,
    measure: Callable[[Structure, Structure, Settings], Mapping[str, Measurement]],
    displayed: Callable[[Structure], Structure] | None = None,
) -> tuple[dict[str, list[float]], list[Finding]]:
    """Return the values of each measurement, by key, for SHIFTS shifts; none if a structure is empty or has no inside.

    If one vanishes in any of the shifts, there are no values, but a finding that says so. measure: measures two
    structures. displayed: makes the surface that Slicer displays of a structure, for settings that ask for it.
    """
    if reference.isEmpty or test.isEmpty:
        return {}, []
    # of voxels the surface around them, a mesh as it is
    given = [one if one.mask is None else one.unsmoothed() for one in (reference, test)]
    if not all(one.surface.isClosed for one in given):
        return {}, []
    grid = reference.samplingGrid or test.samplingGrid or Pair(reference, test, settings).overlapGrid.grid
    # the profile of slices is none of the measurements
    families = tuple(family for family in settings.families if family != "slices")
    chosen = replace(settings, families=families) if families else settings
    found: dict[str, list[float]] = {}
    vanished = np.zeros(2, int)
    for shift in np.random.default_rng(SEED).uniform(-0.5, 0.5, (SHIFTS, 3)):
        checkpoint()
        if grid.flatAxis is not None:  # a planar grid stays in its plane
            shift[grid.flatAxis] = 0
        moved = Grid(grid.size, grid.matrix @ translation(shift), grid.planar)
        pair = [_on(moved, one) for one in given]
        vanished += [one.isEmpty for one in pair]
        if vanished.any():
            continue
        if settings.surface == "displayed" and displayed is not None:
            pair = [displayed(one) for one in pair]
        for key, measurement in measure(pair[0], pair[1], chosen).items():
            found.setdefault(key, []).append(measurement.value)
    if not vanished.any():
        return found, []
    counts = zip(REFERENCE_AND_TEST, vanished, strict=True)
    told = [f"the {which} vanishes in {number} of {SHIFTS} shifts" for which, number in counts if number]
    finding = Finding.remark(
        f"On voxel grids that lie a fraction of a voxel elsewhere, {' and '.join(told)}: no range is given of what the "
        "grid contributes."
    )
    return {}, [finding]


def spreads(
    measurements: Mapping[str, Measurement], values: Mapping[str, list[float]], asked: Iterable[Asked]
) -> dict[str, Spread]:
    """Return the spread of each measurement, by key, from its values for all shifts.

    Measurements that are not finite, as they are or for one of the shifts, are left out. asked: their definitions,
    which have their ranges.
    """
    limits = {one.key: (one.metric.low, one.metric.high) for one in asked}
    found = {}
    for key, measurement in measurements.items():
        given, number = np.array(values.get(key, [math.nan])), measurement.value
        if not (math.isfinite(number) and np.isfinite(given).all()):
            continue
        mean, sd = float(given.mean()), float(given.std(ddof=1))
        # the number itself is in it, whatever its rounding
        least, most = min(number, limits[key][0]), max(number, limits[key][1])
        ends = max(number - REACH * sd, least), min(number + REACH * sd, most)
        isOff = abs(mean - number) > sd + ROUNDING * abs(number)
        found[key] = Spread(mean if isOff else None, sd, *ends, len(given))
    return found


def _on(grid: Grid, structure: Structure) -> Structure:
    """Return a structure as its surface is on a grid; of known lesions each by itself."""
    lesions = structure.instances
    if lesions is None:
        mask = maskOf(structure.surface, grid)
    else:
        lesions = tuple(one for lesion in lesions if not (one := maskOf(fromMask(lesion), grid)).isEmpty)
        mask = union(lesions) if lesions else Mask.empty(grid)
    return replace(
        structure, mask=mask, givenSurface=None, surfaceKind="unsmoothed", memberships=None, instances=lesions
    )
