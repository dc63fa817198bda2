"""The common extent: two structures reduced to the slab that both contours cover, without their end caps.

Where the contours of a spinal cord, an esophagus or a vessel end is often arbitrary. The caps at these ends are no
boundary that anybody drew, and how far the ends lie apart says little about how well the organ was found. Over the
common extent only what both observers contoured is compared:

- The slab runs from the first to the last slice plane in which both have a contour: slices of the reference, else of
  the test. Between meshes it runs along the patient's axis from where the lower cap of the one that begins later ends
  to where the upper cap of the one that stops earlier begins. Gaps within the slab are differences and count.
- Boundary: the lateral boundary within the slab. Distances are measured to the lateral boundary of the other within
  the slab, in both directions, so that neither a cap nor what lies beyond the slab is ever the nearest place. To tell
  inside from outside, a structure is thought to go on beyond the slab as it is at its ends.
- Volumes, overlap and everything else that is counted: the voxels of the slices in the slab, a half slice beyond its
  end planes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .distances.surfacedistances import DirectedDistances, SurfaceDistances
from .errors import counted
from .geometry.graphs import components
from .geometry.grids import Grid
from .geometry.lateral import SAME_PLANE, Slab, alignedAxis, lateralOfMask, lateralOfSurface, maskWithin
from .geometry.surfaces import Surface, outwardNormals
from .settinglocations import whereToSet
from .structures import Structure

# A cap of a mesh is what faces its end within 60 degrees of the axis.
CAP_COSINE = 0.5
# A structure is long if it is that many times as long as wide; its ends decide HD if without them it were that share.
LONG, DECISIVE = 2.0, 0.75
# As a share of the structure's length no distance: no reason to speak of where it lies.
NEGLIGIBLE = 1e-4
COMMON = whereToSet("--extent common", 'extent="common"', "Advanced > Extent")
NO_COMMON_EXTENT = "the two contours have no common extent along the axis of the slices"


@dataclass(frozen=True, eq=False)
class Section(Structure):
    """The part of a structure within a slab. whole: the structure."""

    whole: Structure = field(kw_only=True)
    slab: Slab = field(kw_only=True)

    @cached_property
    def surface(self) -> Surface:
        """The lateral boundary."""
        if self.givenSurface is not None:
            return self.givenSurface
        mask = self.whole.mask
        if self.slab.fits(mask.grid):
            return lateralOfMask(mask, self.slab)
        return lateralOfSurface(self.whole.surface, self.slab)


@dataclass(frozen=True, eq=False)
class Extent:
    """How much of two structures is compared. slab: None is all. problem: why nothing can be compared, "" if it can.

    description: for files. sentence: for people, "" if there is nothing to say.
    """

    slab: Slab | None = None
    problem: str = ""
    description: Mapping | None = None
    sentence: str = ""


def common(reference: Structure, test: Structure) -> tuple[Structure, Structure, Extent]:
    """Return two structures reduced to their common extent.

    An empty structure has no ends, nor have contours in one plane: such structures stay as they are, and so do two
    that have no common extent, whose extent tells the problem.
    """
    if reference.isEmpty or test.isEmpty or reference.dimension == 2:
        why = "contours in one plane have no ends" if reference.dimension == 2 else "one structure is empty"
        return reference, test, Extent(description={"choice": "whole", "reason": why})
    structures = (reference, test)
    for which, structure in zip(("reference", "test"), structures, strict=True):
        if structure.givenSurface is not None and not structure.givenSurface.isClosed:
            why = f"the surface of the {which} {structure.givenSurface.whyNoInside}, so it cannot be cut to an extent"
            return reference, test, Extent(problem=why, description={"choice": "common", "reason": why})
    slab, spans = slabOf(*structures)
    parts = None if slab is None else tuple(section(structure, slab) for structure in structures)
    if parts is None or any(part.isEmpty for part in parts):
        return (
            reference,
            test,
            Extent(problem=NO_COMMON_EXTENT, description={"choice": "common", "reason": NO_COMMON_EXTENT}),
        )
    return *parts, _extentOf(slab, spans, homeGrid(*structures))


def _extentOf(slab: Slab, spans: list[tuple[float, float]], home: Grid | None) -> Extent:
    """Return the extent with its descriptions. spans: of the two structures along the normal, mm."""
    slices = None
    if home is not None:
        first, last = slab.rows(home, 2)
        slices = last - first + 1
    beyond = {
        which: [max(0.0, slab.low - low), max(0.0, high - slab.high)]
        for which, (low, high) in zip(("reference", "test"), spans, strict=True)
    }
    description = {
        "choice": "common",
        "normal": slab.normal.tolist(),
        "low": slab.low,
        "high": slab.high,
        "slices": slices,
        "beyond": beyond,
    }
    count = "" if slices is None else f"{counted(slices, 'slice')}, "
    left = " and ".join(f"{sum(ends):.1f} mm of the {which}" for which, ends in beyond.items())
    sentence = (
        f"Evaluated over the common extent only: {count}{slab.high - slab.low:.1f} mm; what lies beyond, {left}, "
        "and the end caps are left out."
    )
    return Extent(slab, description=description, sentence=sentence)


def homeGrid(reference: Structure, test: Structure) -> Grid | None:
    """Return the grid whose slices, across its k axis, tell where structures begin and end; None for two meshes."""
    return next((s.mask.grid.slicesLast() for s in (reference, test) if s.mask is not None), None)


def slabOf(reference: Structure, test: Structure) -> tuple[Slab | None, list[tuple[float, float]]]:
    """Return the slab that two structures in space have in common, None if there is none, and the span of either."""
    structures = (reference, test)
    home = homeGrid(*structures)
    normal = np.array([0.0, 0.0, 1.0])
    if home is not None:
        normal = np.cross(home.axes[:, 0], home.axes[:, 1])
        normal /= np.linalg.norm(normal) * np.sign(normal[np.abs(normal).argmax()])
    spans = [spanOf(structure, normal) for structure in structures]
    low, high = max(span[0] for span in spans), min(span[1] for span in spans)
    corners = np.concatenate([structure.box for structure in structures])
    reach = 2 * float(np.linalg.norm(np.ptp(corners, axis=0))) + 1.0
    if home is None:
        return (Slab(normal, low, high, low, high, reach) if high - low > SAME_PLANE else None), spans
    step, start = (float(vector @ normal) for vector in (home.axes[:, 2], home.origin))
    # slices in a left-handed order count backward
    # where both share one slice only, rounding must not part them
    areApart = low - high > SAME_PLANE * abs(step)
    first, last = (1, 0) if areApart else sorted((height - start) / step for height in (low, high))
    first, last = int(np.ceil(first - SAME_PLANE)), int(np.floor(last + SAME_PLANE))
    if first > last:
        return None, spans
    low, high = sorted(start + row * step for row in (first, last))
    outer = low - abs(step) / 2, high + abs(step) / 2
    if first == last:  # one slice only: as thick as it is
        low, high = outer
    return Slab(normal, low, high, *outer, reach), spans


def spanOf(structure: Structure, normal: np.ndarray) -> tuple[float, float]:
    """Return from where to where in mm along a normal a structure's slices, or its boundary without caps, go."""
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
    """Return where in mm along a normal the cap begins with which a mesh ends there."""
    heights = surface.points @ normal
    facing = np.flatnonzero(outwardNormals(surface, np.arange(len(surface.cells))) @ normal >= CAP_COSINE)
    cells = surface.cells[facing]
    if not len(cells):
        return float(heights.max())
    used, corners = np.unique(cells, return_inverse=True)
    corners = corners.reshape(cells.shape)
    first, second, third = corners.T
    parts = components(np.concatenate([first, first]), np.concatenate([second, third]), len(used))
    top = parts[heights[used].argmax()]
    return float(heights[used][parts == top].min())


def section(structure: Structure, slab: Slab) -> Section:
    """Return the part of a structure within a slab."""
    given = structure.givenSurface
    values = {name: getattr(structure, name) for name in structure.__dataclass_fields__}
    values["givenSurface"] = None if given is None else lateralOfSurface(given, slab)
    for name in ("mask", "memberships"):
        if values[name] is not None:
            values[name] = maskWithin(values[name], slab)
    return Section(**values, whole=structure, slab=slab)


def decisiveEnd(reference: Structure, test: Structure, distances: SurfaceDistances) -> Iterator[str]:
    """Yield the finding that the ends of two long structures decide the Hausdorff distance, if they do."""
    structures = (reference, test)
    if reference.dimension == 2 or not all(s.surface.isClosed for s in structures):
        return
    slab = slabOf(*structures)[0] if all(map(isLong, structures)) else None
    if slab is None:
        return
    worst = max(distances.directions, key=lambda d: d.largest)
    length = float(np.subtract(*reference.box[::-1]).max())
    if worst.largest <= NEGLIGIBLE * length:
        return
    place = worst.largestPlace
    if slab.contains(place[None])[0]:
        return
    # mostly one of the few places that are nearly as far tells that it is not the ends alone
    limits = DECISIVE * worst.largest * 0.5 ** np.arange(8)
    within = max(_largestWithin(direction, slab, limits) for direction in distances.directions)
    if within > DECISIVE * worst.largest:
        return
    end = "upper" if place @ slab.normal > slab.high else "lower"
    yield (
        f"The Hausdorff distance of {worst.largest:.1f} mm lies at the {end} end, beyond what both contours cover; "
        f"within that they lie at most about {within:.1f} mm apart. If it is arbitrary where the structure ends "
        "(spinal cord, esophagus, vessels), choose the common extent "
        f"{COMMON}."
    )


def _largestWithin(direction: DirectedDistances, slab: Slab, limits: np.ndarray) -> float:
    """Return the largest distance in mm of the elements in a slab, 0 if there are none.

    limits: falling distances in mm: elements beyond the first one are looked at first, as where elements lie costs more
    to tell than how far.
    """
    above = np.inf
    for limit in (*limits, -1.0):
        some = np.flatnonzero((direction.distances > limit) & (direction.distances <= above))
        inside = some[slab.contains(direction.positionsOf(some))]
        if len(inside):
            return float(direction.distances[inside].max())
        above = limit
    return 0.0


def isLong(structure: Structure) -> bool:
    """Return whether a closed structure is much longer than wide, by its box and its volume."""
    low, high = structure.box
    length, volume = float((high - low).max()), structure.surface.volume
    return volume > 0 and length >= LONG * float(np.sqrt(volume / length))
