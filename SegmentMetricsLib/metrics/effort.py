"""What it takes to correct the test: the length of contour to draw, and how far the center is off.

Source of the added path length: Vaassen et al., Physics and Imaging in Radiation Oncology 2020,
doi:10.1016/j.phro.2019.12.001; here as a length in mm, measured to the contour itself instead of counted in pixels.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np

from ..base.errors import Undefined
from ..base.progress import checkpoint
from ..distances.surfacedistances import withTies
from ..geometry import crosssections, meshing, slicing
from ..geometry.closest import ROUNDINGS
from ..geometry.crosssections import CrossSections
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.slicing import SliceStack
from ..geometry.surfaces import Surface
from ..model.structure import Structure
from ..model.structures import BOTH_EMPTY
from .metric import Empty, Family, each, formula, hint, metric, quantity
from .nearcontour import NearContour
from .pair import Pair
from .signed import DIRECTIONS, ofSigned

FAMILY = Family(120)
VAASSEN = "Vaassen et al., doi:10.1016/j.phro.2019.12.001"
# Where a contour crosses the tolerance, it is bisected down to pieces of this length in mm; for tolerances below 1 mm,
# of this fraction of the tolerance.
SHORTEST_PIECE = 0.0001


@quantity()
def slicedSide(pair: Pair, which: int, sliceGrid: Grid) -> Mask | CrossSections:
    """Return the voxels of the reference (0) or the test (1) if they coincide with a grid's, else its cross-sections.

    The slices along the k axis cut the unsmoothed surface of the voxels, or the mesh. Raises Undefined for a mesh
    without an inside.
    """
    structure = pair.structures[which]
    if structure.mask is not None and structure.mask.fits(sliceGrid):
        return structure.mask.on(sliceGrid)
    if structure.mask is None:
        pair.requireClosed(structure)
    return crosssections.cut(voxelSurfaces(pair.given[which]), sliceGrid, _within(pair, sliceGrid))


def solidOf(pair: Pair, which: int, side: Mask | CrossSections) -> Mask | CrossSections:
    """Return the voxels or cross-sections from which the area of a structure is computed. side: from slicedSide().

    Cross-sections are those of the voxels as boxes, as everywhere where volumes are counted.
    """
    given = pair.given[which]
    if isinstance(side, Mask) or given.mask is None:
        return side
    return crosssections.cut(crosssections.boxesOf(given.mask), side.grid, _within(pair, side.grid))


def voxelSurfaces(structure: Structure) -> Surface:
    """Return the surface made from a structure's voxels, or the given one if it has no voxels."""
    if structure.mask is None or structure.givenSurface is None:
        return structure.surface
    return meshing.fromMask(structure.mask)


def _within(pair: Pair, grid: Grid) -> tuple[int, int] | None:
    """Return the first and the last compared slice along the k axis of a grid, None for all slices."""
    return None if pair.extent.slab is None else pair.extent.slab.rows(grid, 2)


@quantity()
def slicedSides(pair: Pair) -> tuple[Mask | CrossSections, Mask | CrossSections]:
    """Return both structures in the slices of the reference, for a pair in space.

    They are masks on a lattice whose k axis runs across the slices; a test on another lattice, or a mesh, is given by
    its cross-sections. If the reference is empty, the slices of the test are used. Raises Undefined if both are empty,
    if there are no slices, and for a mesh without an inside.
    """
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
    if pair.reference.mask is None and not pair.reference.isEmpty:
        raise Undefined("the reference is a mesh, which has no slices")
    home = pair.test.mask if pair.reference.isEmpty and pair.test.mask is not None else pair.reference.mask
    if home is None:
        raise Undefined("the only structure is a mesh, which has no slices")
    grid = home.grid.slicesLast()
    reference, test = (
        Mask.empty(grid) if structure.isEmpty else pair.find("slicedSide", {"which": which, "sliceGrid": grid})
        for which, structure in enumerate(pair.structures)
    )
    return reference, test


@quantity()
def sliceStacks(slicedSides: tuple[Mask | CrossSections, Mask | CrossSections]) -> tuple[SliceStack, SliceStack]:
    """Return the contours of both in every slice of the reference."""
    reference, test = slicing.stacksOf(*slicedSides)
    return reference, test


@quantity()
def outlines(pair: Pair) -> tuple[Surface, NearContour | None]:
    """Return the contours of the reference, in one slice or in a stack of slices, and a search for those of the test.

    The search is None without contours of the test, or of the reference. Raises Undefined if both are empty.
    """
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
    if pair.reference.isEmpty:
        return pair.reference.surface, None
    contours = (s.surface for s in pair.structures)
    reference, test = contours if pair.dimension == 2 else (stack.contours for stack in pair["sliceStacks"])
    return reference, None if test.isEmpty else NearContour(test)


@quantity()
def lengthsBeyond(outlines: tuple[Surface, NearContour | None], tolerance: float) -> np.ndarray:
    """Return the length in mm of each segment (m,) of the reference's contours farther than tau (mm) from the test's.

    A distance equal to the tolerance is within. In slices without the test, segments count in full. The result is (0,)
    for an empty reference.
    """
    contours, near = outlines
    if near is None:
        return np.zeros(0) if contours.isEmpty else contours.sizes
    # pieces as short as rounding cannot be bisected
    rounding = ROUNDINGS * float(np.finfo(float).eps * np.abs(contours.points).max(initial=0.0))
    limit, shortest = withTies(tolerance), max(SHORTEST_PIECE * min(1.0, tolerance), rounding)
    start, end = (contours.points[contours.cells[:, corner]] for corner in (0, 1))
    owner = np.arange(len(start))
    beyond = np.zeros(len(start))
    while len(start):
        checkpoint()
        middle, half = (start + end) / 2, np.linalg.norm(end - start, axis=1) / 2
        # along a piece, the distance differs from that of its middle by at most half the piece's length
        distances, nearest = near.nearest(middle, limit + half.max())
        # a piece is near a segment if both its ends are
        within = [near.areWithin(ends, nearest, limit) for ends in (start, end)]
        decided = (np.abs(distances - limit) >= half) | (within[0] & within[1]) | (2 * half <= shortest)
        counted = decided & (distances > limit)
        beyond += np.bincount(owner[counted], 2 * half[counted], len(beyond))
        rest = ~decided
        start, middle, end, owner = start[rest], middle[rest], end[rest], owner[rest]
        start, end = np.concatenate([start, middle]), np.concatenate([middle, end])
        owner = np.concatenate([owner, owner])
    return beyond


# What the path lengths have in common.
ofPath = partial(metric, source=VAASSEN, best=0, empty=Empty.COMPUTED, symmetric=False, trend="falling")


@ofPath("APL_{tolerance}mm: Added path length, {tolerance} mm", unit="mm", isMain=True)
@hint("Choose it to judge how long corrections take; only what is missing from the reference counts.")
@formula(
    r"\mathrm{APL}_\tau = \sum_s \lvert \lbrace x \in \partial A_s : d(x, \partial B_s) > \tau \rbrace \rvert",
    "lengthsBeyond",
    deviation="The source counts pixels of the contour; here it is a length in mm, measured to the contour itself.",
)
def addedPathLength(lengthsBeyond: np.ndarray) -> float:
    """Length of the reference's contours, slice by slice, that lies farther than {tolerance} mm from the test's: what
    has to be drawn to correct the test.
    """
    return float(lengthsBeyond.sum())


@ofPath(
    "RelativeAPL_{tolerance}mm: Added path length relative to the reference, {tolerance} mm", heading="Relative APL"
)
@hint("Choose it to compare the effort between structures of different size.")
@formula(r"\mathrm{RelativeAPL}_\tau = \frac{\mathrm{APL}_\tau}{\sum_s \lvert \partial A_s \rvert}")
def relativeAddedPathLength(outlines: tuple[Surface, NearContour | None], lengthsBeyond: np.ndarray) -> float:
    """Share of the length of the reference's contours that lies farther than {tolerance} mm from the test's."""
    reference, _ = outlines
    if reference.isEmpty:
        raise Undefined("the reference has no contour")
    return min(addedPathLength(lengthsBeyond) / float(reference.sizes.sum()), 1.0)


@ofSigned(
    "CentroidShift{letter}: Shift of the centroid toward {word}", empty=Empty.COMPUTED, heading="Center to {short}"
)
@hint("Distinguishes a shift from a change of size; 0 for concentric structures of any size.")
@formula(r"\mathrm{CentroidShift}_k = (c_B - c_A) \cdot e_k", "centroid")
@each(letter=("R", "A", "S"), word=("right", "anterior", "superior"), short=("right", "ant.", "sup."))
def centroidShift(structuresWithInside: tuple[Structure, Structure], letter: str) -> float:
    """How far the test's center of mass lies toward {word} of the reference's: that of the voxels, or, if either
    structure is a mesh, of what the surfaces enclose.

    The parts of a mask that are one voxel thin weigh less by its surface than by its voxels, so that even a mask and
    its own mesh would differ. letter: R, L, A, P, S or I.
    """
    reference, test = structuresWithInside
    areMasks = reference.mask is not None and test.mask is not None
    centroids = [centroid(structure, areMasks) for structure in (test, reference)]
    shift = float((centroids[0] - centroids[1]) @ np.array(DIRECTIONS[letter], float))
    # equal centroids may be computed from different corners of the same grid
    return shift if abs(shift) > ROUNDINGS * np.finfo(float).eps * np.abs(centroids).max() else 0.0


def centroid(structure: Structure, isOfVoxels: bool) -> np.ndarray:
    """Return the LPS center of mass (3,) in mm of a structure's voxels, or of the interior of its closed surface."""
    if isOfVoxels:
        mask = cast(Mask, structure.mask)
        sums = [mask.voxels.sum(axis=others, dtype=np.int64) for others in ((0, 1), (0, 2), (1, 2))]
        return mask.grid.toWorld([[s @ np.arange(len(s)) / s.sum() for s in sums] + mask.low])[0]
    surface = structure.surface.solid
    center = surface.center
    corners = (surface.points - center)[surface.cells]
    # tetrahedra (triangles) between the center and every cell
    if surface.dimension == 2:
        sizes = np.cross(corners[:, 0], corners[:, 1]) @ surface.normal
    else:
        sizes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    return center + sizes @ corners.sum(axis=1) / (surface.dimension + 1) / sizes.sum()
