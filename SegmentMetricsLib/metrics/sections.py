"""The structures of a pair in the slices of an image: voxels if they coincide with the image's, else cross-sections."""

from __future__ import annotations

from ..geometry import crosssections, meshing
from ..geometry.crosssections import CrossSections
from ..geometry.grids import Grid
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface
from ..model.structure import Structure
from .metric import quantity
from .pair import Pair


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
