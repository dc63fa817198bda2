"""The hazard that a pair's measurements share."""

from __future__ import annotations

import itertools
import math
import weakref
from typing import TYPE_CHECKING, cast

import numpy as np

from ...base.errors import Undefined
from ...base.texts import commaSeparated
from ...geometry import voxelization
from ...geometry.grids import Grid
from ...geometry.masks import Mask, boxAround
from ...geometry.surfaces import Surface, elementCenters
from ...geometry.voxelization import LARGEST_GRID
from ...model.dose import Dose
from ...model.structures import BOTH_EMPTY, Structure
from ...settings.settings import Settings
from . import formulas as hazard

if TYPE_CHECKING:
    from ...comparison.workspace import Workspace

# The structures of one patient share a field, which can be as large as their image: while one comparison keeps it, the
# others reuse it. The key holds the critical structures, so that no others can take their place.
_fields: weakref.WeakValueDictionary[tuple, hazard.Field] = weakref.WeakValueDictionary()


def errorsOf(pair: Workspace) -> hazard.Errors:
    """Return the hazard of the structures' overlap and of their differences."""
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
    reference, test = pair.masks
    field = pair.once(fieldOf)
    if pair.ignored is not None:
        field = field.without(pair.ignored.on(field.grid))
    return hazard.errors(field, reference, test, boxAround(reference, test))


def fieldOf(pair: Workspace) -> hazard.Field:
    """Return the hazard of all voxels of the evaluated grid, on the lattice on which overlap is counted."""
    isOfDose = pair.settings.hazardKernel == "dose"
    if isOfDose and (pair.dose is None or pair.settings.prescription is None):
        raise Undefined("hazard by dose needs a dose and a prescription")
    if not isOfDose and not pair.criticals:
        raise Undefined("no critical structure is given")
    grid, evaluated = pair.overlapGrid.grid, pair.evaluatedGrid.grid
    start = evaluated.offsetOn(grid)
    if start is None:
        corners = grid.toIndex(evaluated.corners())
        box = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int)
    else:
        box = np.array(start), np.add(start, evaluated.size) - 1
    lattices = tuple((g.matrix.tobytes(), g.size, g.planar) for g in (grid.resized(*box), evaluated))
    source = (pair.dose, pair.settings.prescription) if isOfDose else tuple(pair.criticals)
    key = source, kernelOf(pair.settings), grid.matrix.tobytes(), lattices
    field = _fields.get(key)
    if field is None:
        field = _fieldOfDose(pair, grid, box) if isOfDose else _newField(pair, grid, box)
        field = _fields[key] = field if start is not None else field.within(evaluated)
    return field


def kernelOf(settings: Settings) -> hazard.Kernel:
    """Return the kernel by which hazard decreases with the distance, from settings."""
    s = settings
    return hazard.Kernel(s.hazardKernel, s.hazardReach, s.hazardPower, s.hazardDecay, s.hazardCombination)


def _newField(pair: Workspace, grid: Grid, box: tuple[np.ndarray, np.ndarray]) -> hazard.Field:
    given = [(_critical(pair, s, grid), weight) for s, weight in pair.criticals if not s.isEmpty]
    if not given:
        raise Undefined("the critical structures are empty")
    return hazard.field(given, grid, box, kernelOf(pair.settings))


def _fieldOfDose(pair: Workspace, grid: Grid, box: tuple[np.ndarray, np.ndarray]) -> hazard.Field:
    """Return the dose as a share of the prescription, at most 1; outside the dose's grid there is no hazard."""
    dose, full = cast(Dose, pair.dose), cast(float, pair.settings.prescription)
    low, high = box
    values = np.zeros((high - low + 1)[::-1])
    j, i = np.meshgrid(*(np.arange(n) for n in values.shape[1:]), indexing="ij")
    for k, layer in enumerate(values):
        index = np.stack([i, j, np.full_like(i, k)], axis=-1).reshape(-1, 3) + low
        doses, isWithin = dose.at(grid.toWorld(index))
        layer[:] = np.where(isWithin, np.minimum(doses / full, 1), 0).reshape(layer.shape)
    return hazard.Field(values, low, grid, box)


def _critical(pair: Workspace, structure: Structure, grid: Grid) -> Mask | Surface:
    """Return the voxels of a critical structure on a grid, or its surface if there would be too many voxels."""
    if structure.dimension != pair.dimension:
        raise Undefined(f"the critical structure {structure.name} is not of the same kind as the structures")
    if structure.mask is None and not structure.surface.isClosed:
        raise Undefined(f"the surface of the critical structure {structure.name} {structure.surface.whyNoInside}")
    isOnLattice = structure.mask is not None and structure.mask.alongAxesOf(grid).grid.offsetOn(grid) is not None
    if not isOnLattice:
        corners = grid.toIndex(np.array(list(itertools.product(*zip(*structure.box, strict=True)))))
        if np.prod(np.ptp(corners, axis=0) + 1) > LARGEST_GRID:
            return structure.surface
    mask = structure.mask.on(grid) if structure.mask is not None else voxelization.maskOf(structure.surface, grid)
    # a structure too thin to contain a voxel center is dangerous all the same
    return _crossed(structure.surface, grid) if mask.isEmpty else mask


def _crossed(surface: Surface, grid: Grid) -> Mask:
    """Return the voxels that a boundary crosses, except for those that it only grazes at a corner."""
    corners = surface.points[surface.cells]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max()
    subdivisions = max(0, math.ceil(math.log2(4 * longest / grid.spacing.min())))
    return _voxelsAt(elementCenters(surface.points, surface.cells, subdivisions), grid)


def _voxelsAt(points: np.ndarray, grid: Grid) -> Mask:
    """Return the voxels in which points (n, 3) lie."""
    index = np.rint(grid.toIndex(points)).astype(int)
    low = index.min(axis=0)
    voxels = np.zeros((index.max(axis=0) - low + 1)[::-1], np.uint8)
    voxels[tuple((index - low).T[::-1])] = 1
    return Mask.fromArray(voxels, grid, low)


def emptyCriticals(pair: Workspace) -> str:
    """Return a note on critical structures left out because they are empty, "" if there are none."""
    names = [structure.name for structure, _ in pair.criticals if structure.isEmpty]
    return f"left out because empty: {commaSeparated(names)}" if names else ""
