"""The per-slice profile of a pair."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import numpy as np

from ...comparison.definitions import Need
from ...comparison.sections import solidOf
from ...comparison.workspace import Workspace
from ..boundary import formulas as boundary
from ..effort import formulas as effort
from ..effort.ofpair import lengthsBeyond, sidesOf, stacksOf
from ..overlap import formulas as overlap
from ..similarity.ofpair import inSlices
from . import areas as sliceareas
from .formulas import SliceRow, profile


def needsOfProfile(pair: Workspace) -> tuple[Need, ...]:
    """Return what the profile of a pair needs that findings and results can use, too."""
    return (Workspace.distances, Workspace.crispCounts) if pair.dimension == 2 and not pair.emptiness else ()


def profileOf(pair: Workspace) -> tuple[SliceRow, ...]:
    """Return a row for every slice of the reference that either structure is in; one row for contours in one plane.

    The slices are those of the reference's image, in its own orientation; a test on another lattice, or given as a
    mesh, is cut by their planes. If the reference is empty, the slices are those of the test. Raises Undefined if both
    structures are empty or the reference is a mesh.
    """
    if pair.dimension == 2 and not pair.emptiness:
        return _withSimilarity(pair, (_ofContours(pair),))
    sides, stacks = pair.once(sidesOf), pair.once(stacksOf)
    reference, test = (solidOf(pair, which, side) for which, side in enumerate(sides))
    areas = sliceareas.areasOf((reference, test), stacks)
    beyond = {t: pair.once(lengthsBeyond, t) for t in pair.settings.tolerances}
    return _withSimilarity(pair, profile(areas, stacks, beyond, sides[0].grid))


def _withSimilarity(pair: Workspace, rows: tuple[SliceRow, ...]) -> tuple[SliceRow, ...]:
    """Return the rows with what the similarity family measured in their slices, unchanged if it measured nothing."""
    found = pair.planned(inSlices)
    if found is None:
        return rows
    key = "MeanBLD" if found.unit == "mm" else f"MeanBLD_{found.unit}"
    missing = {"MSI": 0.0, key: math.inf}
    values = {s.index: {"MSI": s.score, key: math.inf if s.meanBLD is None else s.meanBLD} for s in found.slices}
    return tuple(replace(row, similarity=values.get(row.index, missing)) for row in rows)


def _ofContours(pair: Workspace) -> SliceRow:
    """Return the row of two contours in one plane, neither empty."""
    hausdorff = boundary.hausdorff(pair.distances).value
    direction = max(pair.distances.directions, key=lambda d: d.largest)
    place = direction.largestPlace
    counts = pair.crispCounts
    pixel = 1.0 if counts.unit == "area" else pair.masks[0].grid.voxelSize
    normal = cast(np.ndarray, pair.reference.surface.normal)
    normal = normal * np.sign(normal[np.abs(normal).argmax()])
    return SliceRow(
        index=0,
        position=float(place @ normal),
        place=tuple(place.tolist()),
        only="",
        dice=overlap.dice(counts),
        hausdorff=hausdorff,
        meanDistance=boundary.meanAverageSurfaceDistance(pair.distances).value,
        areaReference=counts.reference * pixel,
        areaTest=counts.test * pixel,
        addedPathLengths={t: effort.addedPathLength(pair.once(lengthsBeyond, t)) for t in pair.settings.tolerances},
    )
