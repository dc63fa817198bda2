"""What of a pair lies in the slices of an image: voxels where they are those of the image, else cross-sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..geometry import crosssections, meshing
from ..geometry.crosssections import CrossSections
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface
from ..structures import Structure

if TYPE_CHECKING:
    from ..pair import Pair


def sideOf(pair: Pair, which: int, grid: Grid) -> Mask | CrossSections:
    """Return the voxels of the reference (0) or the test (1) where they are those of a grid, else its sections.

    These are where the slices along the k axis cut the unsmoothed surface of the voxels, or the mesh. Raises Undefined
    for a mesh without an inside.
    """
    structure = pair.structures[which]
    if structure.mask is not None and structure.mask.fits(grid):
        return structure.mask.on(grid)
    if structure.mask is None:
        pair.requireClosed(structure)
    return crosssections.cut(unsmoothedOf(pair.given[which]), grid, _within(pair, grid))


def solidOf(pair: Pair, which: int, side: Mask | CrossSections) -> Mask | CrossSections:
    """Return what the area of one of both is taken from; side: what sideOf() returned of it.

    The voxels count as the boxes they are, as everywhere where volumes are counted.
    """
    given = pair.given[which]
    if isinstance(side, Mask) or given.mask is None:
        return side
    return crosssections.cut(crosssections.boxesOf(given.mask), side.grid, _within(pair, side.grid))


def unsmoothedOf(structure: Structure) -> Surface:
    """Return the surface of a structure's voxels, or the one that it was given as if it has none."""
    if structure.mask is None or structure.givenSurface is None:
        return structure.surface
    return meshing.fromMask(structure.mask)


def _within(pair: Pair, grid: Grid) -> tuple[int, int] | None:
    """Return the first and the last slice along the k axis of a grid that are compared, None for all."""
    return None if pair.extent.slab is None else pair.extent.slab.rows(grid, 2)
