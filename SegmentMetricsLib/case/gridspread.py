"""What the voxel grid itself contributes to measurements: their spread if it had lain a fraction of a voxel elsewhere.

A mask does not know its surface better than to the voxel. So the measured surfaces of both structures are put on the
reference's grid again and again, each time with the same random shift for both, and are measured anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..base.progress import checkpoint
from ..conventions.presets import metricsOf
from ..geometry.grids import Grid, affine
from ..geometry.masks import Mask, union
from ..geometry.meshing import fromMask
from ..geometry.voxelization import maskOf
from ..metrics.findings import Finding
from ..metrics.measurement import ROUNDING, Spread
from ..metrics.metric import Metric
from ..metrics.pair import Pair
from ..metrics.registry import select
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST
from .comparison import Comparison, compare

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


def withGridUncertainty(given: Comparison, displayed: Callable[[Structure], Structure] | None = None) -> Comparison:
    """Return a comparison with the spread of every measurement that the voxel grid alone causes, as its `grid`.

    The measured surfaces of both structures are measured on the reference's grid, shifted by fractions of a voxel.
    Measurements that are not finite, as they are or for one of the shifts, have none; nor does any if a structure is
    empty or has no inside. If one vanishes in any of the shifts, a finding says so instead. displayed: makes the
    surfaces that Slicer displays, if the settings ask for them, such as mrml.inputs.asDisplayed.
    """
    given.requireGeometry()
    structures, settings = (given.reference, given.test), given.settings
    # of voxels the surface around them, a mesh as it is
    drawn = [one if one.mask is None else one.withoutSmoothing() for one in structures]
    if any(one.isEmpty or not one.surface.isClosed for one in drawn):
        return given
    grid = drawn[0].samplingGrid or drawn[1].samplingGrid or Pair(*structures, settings).overlapGrid.grid
    # the profile of slices is none of the measurements
    families = tuple(family for family in settings.families if family != "slices")
    settings = replace(settings, families=families) if families else settings
    criticals = {one.name: one for one in given.criticals}
    values: dict[str, list[float]] = {}
    vanished = np.zeros(2, int)
    for shift in np.random.default_rng(SEED).uniform(-0.5, 0.5, (SHIFTS, 3)):
        checkpoint()
        if grid.flatAxis is not None:  # a planar grid stays in its plane
            shift[grid.flatAxis] = 0
        moved = Grid(grid.size, grid.matrix @ affine(np.eye(3), shift), grid.planar)
        pair = [_on(moved, one) for one in drawn]
        vanished += [one.isEmpty for one in pair]
        if vanished.any():
            continue
        if settings.surface == "displayed" and displayed is not None:
            pair = [displayed(one) for one in pair]
        for key, measurement in compare(pair[0], pair[1], settings, criticals=criticals, dose=given.dose).items():
            values.setdefault(key, []).append(measurement.value)
    if vanished.any():
        counts = zip(REFERENCE_AND_TEST, vanished, strict=True)
        told = [f"the {which} vanishes in {number} of {SHIFTS} shifts" for which, number in counts if number]
        finding = Finding.remark(
            f"With the voxel grid shifted by fractions of a voxel, {' and '.join(told)}: no range is given of what "
            "the grid contributes."
        )
        return replace(given, findings=(*given.findings, finding))
    metrics = {one.key: one.metric for one in select(settings, metricsOf(settings.convention).values())}
    measured = {
        key: replace(one, grid=_spread(one.value, np.array(values[key]), metrics[key])) if key in values else one
        for key, one in given.measurements.items()
    }
    return replace(given, measurements=measured)


def _spread(number: float, values: np.ndarray, metric: Metric) -> Spread | None:
    """Return the spread of a number from its values (n,) for all shifts, None unless all are finite."""
    if not (math.isfinite(number) and np.isfinite(values).all()):
        return None
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    # the number itself is in it, whatever its rounding
    ends = max(number - REACH * sd, min(number, metric.low)), min(number + REACH * sd, max(number, metric.high))
    return Spread(mean if abs(mean - number) > sd + ROUNDING * abs(number) else None, sd, *ends, len(values))


def _on(grid: Grid, structure: Structure) -> Structure:
    """Return a structure as its surface is on a grid; of known lesions each by itself."""
    if (lesions := structure.instances) is None:
        mask = maskOf(structure.surface, grid)
    else:
        lesions = tuple(one for lesion in lesions if not (one := maskOf(fromMask(lesion), grid)).isEmpty)
        mask = union(lesions) if lesions else Mask.empty(grid)
    return replace(
        structure, mask=mask, givenSurface=None, surfaceKind="unsmoothed", memberships=None, instances=lesions
    )
