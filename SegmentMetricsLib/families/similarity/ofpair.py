"""How well the test follows the contours of the reference, shared by a pair's similarity measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from ...base.errors import Undefined
from ...comparison.sections import sideOf, unsmoothedOf
from ...distances.surfacedistances import liesInPlane, touching
from ...geometry import slicecontours, voxelization
from ...geometry.crosssections import CrossSections
from ...geometry.grids import Grid
from ...geometry.masks import Mask
from ...geometry.slicecontours import Planes
from ...geometry.surfaces import evenElements
from ...model.structures import Structure
from ...settings.settings import Settings
from ..voxel.formulas import requireVoxels
from . import formulas as similarity
from . import published as publishedsimilarity
from .formulas import Inside, Levels, Similarity, Slices

if TYPE_CHECKING:
    from ...case.comparison import Comparison
    from ...comparison.workspace import Workspace

# Maximum number of parts into which the elements of a mesh are cut.
MOST_PARTS = 200_000


def inSlices(pair: Workspace) -> Similarity:
    """Return how well the contours are followed in every slice of the reference's image, neither structure empty.

    If the reference is a mesh, the slices are those of the test's image. A mesh, or a mask with other voxels, is cut by
    their planes; with the setting asPublished, the authors' formula on boundary chains, it is resampled to the image.
    Two contours given as lines are used as they are. Raises Undefined for an empty structure, for two meshes, which
    have no slices, for contours in different planes, and for a structure that no slice goes through.
    """
    settings = pair.settings
    if pair.emptiness:
        raise Undefined(pair.emptiness)
    if pair.dimension == 2 and not liesInPlane(*(s.surface for s in pair.structures)):
        raise Undefined("the contours lie in different planes")
    grid = next((s.samplingGrid for s in pair.structures if s.samplingGrid is not None), None)
    levels = Levels(settings.il, settings.ol)
    if grid is None:
        return _ofLines(pair, levels)
    if settings.asPublished:
        reference, test = (_maskOn(grid, structure, pair) for structure in pair.structures)
        requireVoxels(reference, test)
        planes = Planes(grid, grid.sliceAxis, "pixel")
        ours, theirs = (slicecontours.chains(mask, planes) for mask in (reference, test))
        return publishedsimilarity.measure(ours, theirs, planes, levels)
    planes = Planes(grid, grid.sliceAxis, settings.msiUnit)
    (followed, inside), (following, _) = (_contoursOf(pair, which, planes) for which in (0, 1))
    return similarity.measure(followed, following, planes, levels, inside, settings.splitContours)


def _contoursOf(pair: Workspace, which: int, planes: Planes) -> tuple[Slices, Inside]:
    """Return the contours of the reference (0) or the test (1) in the slices of a grid, and a test for their inside."""
    structure = pair.structures[which]
    if structure.mask is not None and structure.mask.fits(planes.grid):
        mask = structure.mask.on(planes.grid)
        return slicecontours.ofMask(mask, planes), partial(slicecontours.isInside, mask, planes)
    if pair.dimension == 2:
        pair.requireClosed(structure)
        contours = slicecontours.ofSurface(unsmoothedOf(structure), planes)
        return contours, similarity.insidePolygons(contours)
    # its voxels do not fit the grid
    sections = cast(CrossSections, pair.once(sideOf, which, planes.grid.slicesLast()))
    contours = slicecontours.ofSections(sections, planes)
    if not contours:
        raise Undefined(f"no slice of the image goes through the {('reference', 'test')[which]}")
    return contours, partial(slicecontours.isInSections, sections, planes)


def _maskOn(grid: Grid, structure: Structure, pair: Workspace) -> Mask:
    if structure.mask is not None:
        return structure.mask.on(grid)
    pair.requireClosed(structure)
    return voxelization.maskOf(structure.surface, grid)


def _ofLines(pair: Workspace, levels: Levels) -> Similarity:
    """Return the index of contours given as lines; their sampling density follows from the spacing for meshes."""
    if pair.dimension == 3:
        raise Undefined("both are meshes, which have no slices: see MSI3D")
    if pair.settings.asPublished or pair.settings.msiUnit == "pixel":
        raise Undefined("contours without an image have no pixels")
    grid = pair.overlapGrid.grid
    planes = Planes(grid, grid.sliceAxis, "mm")
    reference, test = (slicecontours.ofSurface(s.surface, planes) for s in pair.structures)
    return similarity.measure(
        reference, test, planes, levels, similarity.insidePolygons(reference), pair.settings.splitContours
    )


def unitOfSlices(settings: Settings) -> str:
    """Return the unit of distances in slices."""
    return "pixel" if settings.asPublished else settings.msiUnit


def onBoundaries(pair: Workspace) -> float:
    """Return the index on whole boundaries, in [0, 1], of the measured surfaces (segments of contours in 2D).

    Raises Undefined for contours in different planes, and if inside and outside are judged differently but the
    reference has no inside.
    """
    surfaces = [s.surface for s in pair.structures]
    if pair.dimension == 2 and not liesInPlane(*surfaces):
        raise Undefined("the contours lie in different planes")
    levels = Levels(pair.settings.il, pair.settings.ol)
    longest = _longestSide(pair.structures, pair.settings)
    (others, otherSizes), (points, sizes) = (evenElements(s, longest, MOST_PARTS) for s in surfaces)
    sides = np.zeros(len(points))
    if levels.inside != levels.outside:
        pair.requireClosed(pair.reference)
        isCut = len(points) > len(surfaces[1].cells)
        boundaries = pair.boundaries
        signed = boundaries.search(0).signedDistances(points) if isCut else boundaries.signedDistances(1, 0)
        # where the two touch, rounding must not decide which level counts
        sides = np.where(np.abs(signed) > touching(math.sqrt(otherSizes.mean())), np.sign(signed), 0)
    origin = surfaces[0].center
    return similarity.surfaceScore(points - origin, sizes, others - origin, otherSizes, levels, sides)


def _longestSide(structures: Iterable[Structure], settings: Settings) -> float:
    """Return the length in mm from which sides of elements are cut.

    Elements of masks are as small as voxels, those of meshes can have any size.
    """
    diagonals = (float(np.linalg.norm(s.mask.grid.spacing)) for s in structures if s.mask is not None)
    return max(settings.meshSpacing, *diagonals, 0.0)


def localDistancesOn(comparison: Comparison, side: str) -> np.ndarray:
    """Return the bidirectional local distance (n,) in mm at every point of the measured surface of one side.

    side: "reference" or "test". The comparison must have distances.
    """
    surfaces = [direction.surface for direction in comparison.knownDistances.directions]
    mine, other = surfaces if side == "reference" else surfaces[::-1]
    longest = _longestSide((comparison.reference, comparison.test), comparison.settings)
    return similarity.localDistancesAt(mine, other, longest, MOST_PARTS)


def _note(pair: Workspace) -> str:
    """Return a note on the slices whose contours cannot be paired, with a placeholder; "" if there are none."""
    found = pair.once(inSlices)
    if found.flagged and not found.paired:
        return "in no slice can the contours be paired"
    return f"{len(found.flagged)} of {len(found.slices)} slices cannot be paired{{}}" if found.flagged else ""


def noteOnAll(pair: Workspace) -> str:
    """Return a note on slices that cannot be paired, for a number in which they count as 0."""
    return _note(pair).format(" and count as 0")


def noteOnPaired(pair: Workspace) -> str:
    """Return a note on slices that cannot be paired, for a number that leaves them out."""
    return _note(pair).format(" and are left out")
