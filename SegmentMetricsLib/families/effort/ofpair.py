"""The contours of a pair in the slices of the reference, shared by its effort measurements and its profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import Undefined
from ...comparison.sections import sideOf
from ...geometry import slicing
from ...geometry.crosssections import CrossSections
from ...geometry.masks import Mask
from ...geometry.slicing import SliceStack
from ...model.structures import BOTH_EMPTY
from . import formulas as effort

if TYPE_CHECKING:
    from ...comparison.workspace import Workspace


def sidesOf(pair: Workspace) -> tuple[Mask | CrossSections, Mask | CrossSections]:
    """Return both structures in the slices of the reference, for a pair in space.

    They are masks on a lattice whose k axis runs across the slices; a test on another lattice, or a mesh, is given by
    its cross-sections. If the reference is empty, the slices of the test are used. Raises Undefined if both are empty,
    if there are no slices, and for a mesh without an inside.
    """
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
    given = [s.mask for s in pair.structures]
    if given[0] is None and not pair.reference.isEmpty:
        raise Undefined("the reference is a mesh, which has no slices")
    home = given[1] if pair.reference.isEmpty and given[1] is not None else given[0]
    if home is None:
        raise Undefined("the only structure is a mesh, which has no slices")
    grid = home.grid.slicesLast()
    reference, test = (
        Mask.empty(grid) if structure.isEmpty else pair.once(sideOf, which, grid)
        for which, structure in enumerate(pair.structures)
    )
    return reference, test


def stacksOf(pair: Workspace) -> tuple[SliceStack, SliceStack]:
    """Return the contours of both in every slice of the reference."""
    reference, test = slicing.stacksOf(*pair.once(sidesOf))
    return reference, test


def outlinesOf(pair: Workspace) -> list[effort.Outline]:
    """Return the contours of both in every slice of the reference, as outlines; none if the reference is empty."""
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
    if pair.reference.isEmpty:
        return []
    if pair.dimension == 2:
        return [effort.outline(pair.reference.surface, None if pair.test.isEmpty else pair.test.surface)]
    return [effort.outline(*(stack.contours for stack in pair.once(stacksOf)))]


def lengthsBeyond(pair: Workspace, tolerance: float) -> np.ndarray:
    """Return the length in mm of each segment (m,) of the reference's contours farther than tau (mm) from the test's.

    A distance equal to the tolerance is within. In slices without the test, segments count in full. The result is (0,)
    for an empty reference.
    """
    lengths = [effort.lengthsBeyond(one, tolerance) for one in pair.once(outlinesOf)]
    return np.concatenate([np.zeros(0), *lengths])


def centroidShift(pair: Workspace, side: str) -> float:
    """Return the shift in mm of the test's centroid from the reference's toward a side."""
    reference, test = pair.structuresWithInside
    return effort.centroidShift(reference, test, side)


def addedPathLength(pair: Workspace, tolerance: float) -> float:
    """Return the length in mm of the reference's contours farther than tau (mm) from the test's."""
    return effort.addedPathLength(pair.once(lengthsBeyond, tolerance))
