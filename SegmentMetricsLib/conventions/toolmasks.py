"""Two masks as a voxel-based tool gets them, with a cache of derived data that several conventions need."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import Undefined
from ..base.parallel import threads
from ..base.progress import checkpoint
from ..geometry.masks import Mask, boxAround
from ..model.structure import Structure

if TYPE_CHECKING:
    from ..metrics.pair import Pair

# Voxels of background around both structures, so that cropping an image does not change the numbers.
MARGIN = 2
# Minimum number of voxels across the smaller of two meshes.
STEPS_ACROSS = 10
NO_BORDER = "the tool finds no border: a structure fills the image"


class Sampling:
    """The voxels of a reference (0) and a test (1), at least one not empty, on one grid.

    Two meshes are filled on voxels of the settings' meshSpacing, as they would be exported for tools that take images.
    On voxels as fine as those on which their overlap is counted, tools would differ less than they do in practice.

    atEdge: whether to keep the edge of the image where a structure reaches it, as the tool finds it in the files;
    otherwise background continues beyond it. ofMeshes: whether both are meshes. Raises Undefined if a structure has no
    inside.
    """

    def __init__(self, pair: Pair, atEdge: bool = False):
        self.pair = pair
        self.ofMeshes = all(structure.mask is None for structure in pair.structures)
        self.masks: tuple[Mask, Mask] = pair.masksOn(pair.gridForMeshes(STEPS_ACROSS)) if self.ofMeshes else pair.masks
        grid = self.masks[0].grid
        self.flatAxis = None if grid.flatAxis is None else 2 - grid.flatAxis
        margin = np.full(3, MARGIN)
        if grid.flatAxis is not None:
            margin[grid.flatAxis] = 0
        first, last = boxAround(*self.masks)
        low, high = first - margin, last + margin
        if atEdge:
            # the edge of the grid, or of the structure that lies beyond it, in an image of its own
            low = np.maximum(low, np.minimum(first, 0))
            high = np.minimum(high, np.maximum(last, np.array(grid.size) - 1))
        # (3,) mm along k, j, i; rounded like values in headers, so that 0.97999999 is 0.98
        self.spacing = np.round(grid.spacing[::-1], 9)
        self.arrays = tuple(mask.block(low, high).astype(bool) for mask in self.masks)
        self.kept: dict[Hashable, object] = {}

    def keep(self, key: Hashable, make: Callable):
        """Return the cached result of make() for a key, calling it on first use."""
        if key not in self.kept:
            checkpoint()
            self.kept[key] = make()
        return self.kept[key]

    def replace(self, **values) -> Sampling:
        """Return a copy with other values of these attributes, and nothing kept."""
        result = copy.copy(self)
        result.__dict__.update(values, kept={})
        return result

    @cached_property
    def structures(self) -> tuple[Structure, Structure]:
        """The structures with boundaries made from their voxels, regardless of given surfaces; meshes are unchanged."""
        reference, test = (s if s.mask is None else Structure(s.name, mask=s.mask) for s in self.pair.structures)
        return reference, test

    def voxels(self, kind: Callable, number: int) -> np.ndarray:
        """Return the voxels [k, j, i] of a kind, like the border, of a mask."""
        return self.keep((kind, number), lambda: kind(self.arrays[number], self.flatAxis))

    def indices(self, kind: Callable, number: int) -> np.ndarray:
        """Return the indices (n, 3) of those voxels."""
        return self.keep(("indices", kind, number), lambda: np.argwhere(self.voxels(kind, number)))

    def nearest(self, source: Callable, number: int, target: Callable, unit: tuple[float, ...]) -> np.ndarray:
        """Return the distance (n,) from the voxels of one kind of a mask to the nearest of another kind of the other.

        unit: (3,) the length of a step along k, j, i.
        """

        def find() -> np.ndarray:
            indices = self.indices(source, number)
            apart = ~self.voxels(target, 1 - number)[tuple(indices.T)]
            found = np.zeros(len(indices))
            if apart.any():
                goals = self.indices(target, 1 - number)
                if not len(goals):
                    raise Undefined(NO_BORDER)
                _, which = self.tree(target, 1 - number, unit).query(indices[apart] * unit, workers=threads())
                # from whole steps, as in distance transforms: equal steps give equal distances to the last digit
                found[apart] = np.sqrt((((indices[apart] - goals[which]) * unit) ** 2).sum(axis=1))
            return found

        return self.keep(("nearest", source, number, target, unit), find)

    def tree(self, kind: Callable, number: int, unit: tuple[float, ...]):
        """Return the search tree of the voxels of a kind."""
        from scipy.spatial import cKDTree

        return self.keep(("tree", kind, number, unit), lambda: cKDTree(self.indices(kind, number) * unit))
