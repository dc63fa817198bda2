"""The common extent: two structures reduced to the slab that both contours cover, without their end caps.

Where the contours of a spinal cord, an esophagus or a vessel end is often arbitrary. Nobody drew the caps at these ends
as a boundary, and the distance between the ends says little about the quality of the contours. Over the common extent,
only what both observers contoured is compared:

- The slab runs from the first to the last slice plane in which both have a contour; the slices are those of the
  reference, or of the test if the reference is a mesh. Between two meshes it runs along the patient's axis, from where
  the last of the two lower caps ends to where the first of the two upper caps begins. Gaps within the slab are
  differences and count.
- Boundary: the lateral boundary within the slab. Distances are measured to the lateral boundary of the other structure
  within the slab, in both directions, so that neither a cap nor anything beyond the slab is ever the nearest point. To
  distinguish inside from outside, a structure is assumed to continue beyond the slab as it is at the slab's ends.
- Volumes, overlap and everything else that is counted: the voxels of the slices in the slab, which reach half a slice
  beyond its end planes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from ..base.texts import SettingPlace, pluralize
from ..geometry.grids import Grid
from ..geometry.lateral import lateralOfMask, lateralOfSurface, maskWithin
from ..geometry.parts import components
from ..geometry.slabs import SAME_PLANE, Slab, alignedAxis, normalOf
from ..geometry.surfaces import Surface, outwardNormals
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST

# Triangles that face the end of a mesh within 60 degrees of the axis belong to its cap.
CAP_COSINE = 0.5
COMMON = SettingPlace("--extent common", 'extent="common"', "Advanced > Extent")
NO_COMMON_EXTENT = "the two contours have no common extent along the axis of the slices"


@dataclass(frozen=True, eq=False)
class Section(Structure):
    """The part of a structure within a slab. whole: the whole structure."""

    whole: Structure = field(kw_only=True)
    slab: Slab = field(kw_only=True)

    @cached_property
    def surface(self) -> Surface:
        """The lateral boundary."""
        if self.givenSurface is not None:
            return self.givenSurface
        mask = self.whole.ownMask
        if self.slab.fits(mask.grid):
            return lateralOfMask(mask, self.slab)
        return lateralOfSurface(self.whole.surface, self.slab)


@dataclass(frozen=True, eq=False)
class Extent:
    """The part of two structures that is compared. slab: None for all. problem: why nothing can be compared, or "".

    description: for files, None for the whole structures. sentence: for people, "" if there is nothing to say.
    """

    slab: Slab | None = None
    problem: str = ""
    description: Mapping | None = None
    sentence: str = ""


def reduceToCommon(reference: Structure, test: Structure) -> tuple[Structure, Structure, Extent]:
    """Return two structures reduced to their common extent, and that extent.

    Pairs with an empty structure and contours in one plane have no ends and are returned unchanged. So are structures
    without a common extent, or with a surface that has no inside; the extent then states the problem.
    """
    if reference.isEmpty or test.isEmpty or reference.dimension == 2:
        why = "contours in one plane have no ends" if reference.dimension == 2 else "one structure is empty"
        return reference, test, Extent(description={"choice": "whole", "reason": why})
    given = (s.givenSurface for s in (reference, test))
    problems = [
        f"the surface of the {which} {surface.whyNoInside}, so it cannot be cut to an extent"
        for which, surface in zip(REFERENCE_AND_TEST, given, strict=True)
        if surface is not None and not surface.isClosed
    ]
    if not problems:
        slab, spans = slabOf(reference, test)
        parts = [] if slab is None else [section(structure, slab) for structure in (reference, test)]
        if slab is not None and not any(part.isEmpty for part in parts):
            return parts[0], parts[1], _extentOf(slab, spans, homeGrid(reference, test))
        problems = [NO_COMMON_EXTENT]
    return reference, test, Extent(problem=problems[0], description={"choice": "common", "reason": problems[0]})


def _extentOf(slab: Slab, spans: list[tuple[float, float]], home: Grid | None) -> Extent:
    """Return the extent with its descriptions. spans: lower and upper end of each structure along the normal in mm."""
    slices = None
    if home is not None:
        first, last = slab.rows(home, 2)
        slices = last - first + 1
    beyond = {
        which: [max(0.0, slab.low - low), max(0.0, high - slab.high)]
        for which, (low, high) in zip(REFERENCE_AND_TEST, spans, strict=True)
    }
    ends = {"normal": slab.normal.tolist(), "low": slab.low, "high": slab.high}
    description = {"choice": "common", **ends, "slices": slices, "beyond": beyond}
    count = "" if slices is None else f"{pluralize(slices, 'slice')}, "
    left = " and ".join(f"{sum(ends):.1f} mm of the {which}" for which, ends in beyond.items())
    sentence = (
        f"Evaluated over the common extent only: {count}{slab.high - slab.low:.1f} mm; what lies beyond, {left}, "
        "and the end caps are left out."
    )
    return Extent(slab, description=description, sentence=sentence)


def homeGrid(reference: Structure, test: Structure) -> Grid | None:
    """Return the grid whose slices, across its k axis, define the ends of the structures; None for two meshes."""
    return next((s.mask.grid.slicesLast() for s in (reference, test) if s.mask is not None), None)


def slabOf(reference: Structure, test: Structure) -> tuple[Slab | None, list[tuple[float, float]]]:
    """Return the slab that two structures in space have in common, None if there is none, and the span of each."""
    structures = (reference, test)
    home = homeGrid(*structures)
    normal = np.array([0.0, 0.0, 1.0]) if home is None else normalOf(home.axes)
    spans = [endsAlong(structure, normal) for structure in structures]
    low, high = max(span[0] for span in spans), min(span[1] for span in spans)
    corners = np.concatenate([structure.box for structure in structures])
    reach = 2 * float(np.linalg.norm(np.ptp(corners, axis=0))) + 1.0
    if home is None:
        return (Slab(normal, low, high, low, high, reach) if high - low > SAME_PLANE else None), spans
    step, start = (float(vector @ normal) for vector in (home.axes[:, 2], home.origin))
    # step is negative for slices in a left-handed order; rounding must not separate two that share only one slice
    areApart = low - high > SAME_PLANE * abs(step)
    first, last = (1, 0) if areApart else sorted((height - start) / step for height in (low, high))
    first, last = int(np.ceil(first - SAME_PLANE)), int(np.floor(last + SAME_PLANE))
    if first > last:
        return None, spans
    low, high = sorted(start + row * step for row in (first, last))
    outer = low - abs(step) / 2, high + abs(step) / 2
    if first == last:  # a single slice keeps its thickness
        low, high = outer
    return Slab(normal, low, high, *outer, reach), spans


def endsAlong(structure: Structure, normal: np.ndarray) -> tuple[float, float]:
    """Return the lower and upper end in mm along a normal of a structure's slices, or of its boundary without caps."""
    if structure.mask is not None and not structure.mask.isEmpty:
        mask = structure.mask
        if alignedAxis(mask.grid, normal) is not None:
            heights = mask.grid.toWorld([mask.low, mask.high]) @ normal
        else:
            heights = mask.grid.toWorld(np.argwhere(mask.voxels)[:, ::-1] + mask.offset) @ normal
        return float(heights.min()), float(heights.max())
    surface = structure.surface
    return -_endWithoutCap(surface, -normal), _endWithoutCap(surface, normal)


def _endWithoutCap(surface: Surface, normal: np.ndarray) -> float:
    """Return the position in mm along a normal where the cap at that end of a mesh begins."""
    heights = surface.points @ normal
    facing = np.flatnonzero(outwardNormals(surface, np.arange(len(surface.cells))) @ normal >= CAP_COSINE)
    cells = surface.cells[facing]
    if not len(cells):
        return float(heights.max())
    used, corners = np.unique(cells, return_inverse=True)
    first, second, third = corners.reshape(cells.shape).T
    parts = components(np.concatenate([first, first]), np.concatenate([second, third]), len(used))
    top = parts[heights[used].argmax()]
    return float(heights[used][parts == top].min())


def section(structure: Structure, slab: Slab) -> Section:
    """Return the part of a structure within a slab."""
    given = structure.givenSurface
    values = {one.name: getattr(structure, one.name) for one in fields(structure) if one.init}
    values["givenSurface"] = None if given is None else lateralOfSurface(given, slab)
    for name in ("mask", "memberships"):
        if values[name] is not None:
            values[name] = maskWithin(values[name], slab)
    return Section(**values, whole=structure, slab=slab)
