"""The registry's entries of the effort family."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..definitions import OURS, Definition, Empty
from ..errors import Undefined
from ..geometry import slicing
from ..geometry.crosssections import CrossSections
from ..geometry.masks import Mask
from ..geometry.slicing import SliceStack
from ..metrics import effort
from ..structures import BOTH_EMPTY
from .sections import sideOf

if TYPE_CHECKING:
    from ..pair import Pair

VAASSEN = "Vaassen et al., doi:10.1016/j.phro.2019.12.001"


def sidesOf(pair: Pair) -> tuple[Mask | CrossSections, Mask | CrossSections]:
    """Return both in the slices of the reference, for a pair in space.

    They are voxels on a lattice whose k axis runs across the slices; of a test on another lattice, or a mesh, its
    cross-sections. Without a reference the slices of the test count. Raises Undefined when both are empty, when there
    are no slices, and for a mesh without an inside.
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
    return tuple(
        Mask.empty(grid) if structure.isEmpty else pair.once(sideOf, which, grid)
        for which, structure in enumerate(pair.structures)
    )


def stacksOf(pair: Pair) -> tuple[SliceStack, SliceStack]:
    """Return the contours of both in every slice of the reference."""
    return slicing.stacksOf(*pair.once(sidesOf))


def outlinesOf(pair: Pair) -> list[effort.Outline]:
    """Return the contours of both in every slice of the reference."""
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
    if pair.reference.isEmpty:
        return []
    if pair.dimension == 2:
        return [effort.outline(pair.reference.surface, None if pair.test.isEmpty else pair.test.surface)]
    return [effort.outline(*(stack.contours for stack in pair.once(stacksOf)))]


def lengthsBeyond(pair: Pair, tolerance: float) -> np.ndarray:
    """Return how much in mm of each segment (m,) of the reference's contours is farther than tau (mm) from the test's.

    A distance that equals the tolerance is within. Slices without a test count in full; (0,) without a reference.
    """
    lengths = [effort.lengthsBeyond(one, tolerance) for one in pair.once(outlinesOf)]
    return np.concatenate([np.zeros(0), *lengths])


def _addedPathLength(pair: Pair, tolerance: float) -> float:
    return effort.addedPathLength(pair.once(lengthsBeyond, tolerance))


EFFORT = (
    Definition(
        "APL_{tolerance}mm", "Added path length, {tolerance} mm", "mm", 0, math.inf, "lower", "effort", VAASSEN,
        Empty.COMPUTED,
        "Length of the reference's contours, slice by slice, that lies farther than {tolerance} mm from the test's: "
        "what somebody has to draw to correct the test.",
        _addedPathLength, symmetric=False, isMain=True, identity=0, trend="falling",
        hint="Choose it to judge how long corrections take; only what is missing from the reference counts.",
        formula=r"\mathrm{APL}_\tau = \sum_s \lvert \lbrace x \in \partial A_s : d(x, \partial B_s) > \tau "
        r"\rbrace \rvert",
        code="metrics.effort.addedPathLength",
        steps=("metrics.effort.lengthsBeyond",),
        deviation="The source counts pixels of the contour; here it is a length in mm, measured to the contour "
        "itself.",
    ),
    Definition(
        "RelativeAPL_{tolerance}mm", "Added path length relative to the reference, {tolerance} mm", "", 0, 1, "lower",
        "effort", VAASSEN, Empty.COMPUTED,
        "Share of the length of the reference's contours that lies farther than {tolerance} mm from the test's.",
        lambda pair, tolerance: effort.relativeAddedPathLength(
            pair.once(outlinesOf), _addedPathLength(pair, tolerance)
        ),
        symmetric=False, heading="Relative APL", identity=0, trend="falling",
        hint="Choose it to compare the effort between structures of different size.",
        formula=r"\mathrm{RelativeAPL}_\tau = \frac{\mathrm{APL}_\tau}{\sum_s \lvert \partial A_s \rvert}",
        code="metrics.effort.relativeAddedPathLength",
    ),
    *(
        Definition(
            f"CentroidShift{side}", f"Shift of the centroid toward {word}", "mm", -math.inf, math.inf, "", "effort",
            OURS, Empty.COMPUTED,
            f"How far the test's center of mass lies toward {word} of the reference's.",
            lambda pair, side=side: effort.centroidShift(*pair.structuresWithInside, side), symmetric=False,
            heading=f"Center to {short}", identity=0,
            hint="Tells a shift from a change of size; 0 for concentric structures of any size.",
            formula=r"\mathrm{CentroidShift}_k = (c_B - c_A) \cdot e_k", code="metrics.effort.centroidShift",
            steps=("metrics.effort.centroid",),
        )
        for side, word, short in (("R", "right", "right"), ("A", "anterior", "ant."), ("S", "superior", "sup."))
    ),
)  # fmt: skip
