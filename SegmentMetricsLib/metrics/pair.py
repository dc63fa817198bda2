"""A pair of structures and the quantities that its measurements share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from ..base.errors import Cause, InputError, Reason, Undefined
from ..base.parallel import allCores
from ..distances.surfacedistances import BoundaryPair, SurfaceDistances
from ..geometry import sharedvolume, voxelization
from ..geometry.grids import Grid
from ..geometry.masks import LARGEST_BOX, LARGEST_ROW, Mask, boxAround, commonGrid, finerFirst
from ..model import naming
from ..model.dose import Dose
from ..model.lattices import onOneLattice
from ..model.structure import Structure
from ..model.structures import BOTH_EMPTY, REFERENCE_EMPTY, TEST_EMPTY
from . import evaluatedgrid, extents, overlap
from .evaluatedgrid import ChosenGrid
from .extents import Extent
from .findings import otherUnits
from .metric import QUANTITIES, Named, argumentsOf, closureOf
from .overlap import Counts

# Above this many elements of both boundaries, search trees and cached distances are freed before other work.
MANY_ELEMENTS = 1_000_000
# Above this many voxels of both masks, their surfaces are made on all cores.
FEW_TO_SHARE = 500_000
# Reason for an overlap grid that is neither mask's own.
RESAMPLED = "both masks resampled to the finer spacing"
# Which structure is empty, in words, by whether the reference and the test are.
EMPTINESS: dict[tuple[bool, ...], str] = {
    (False, False): "",
    (True, False): REFERENCE_EMPTY,
    (False, True): TEST_EMPTY,
    (True, True): BOTH_EMPTY,
}
# Properties with caches that are larger than what is kept, and that hold for both orders of a pair.
MEASURED = ("boundaries", "distances")


class Pair:
    """Two structures, and the quantities that their measurements share.

    Those that every pair has are properties here; others are functions with @quantity beside the metrics that need
    them. Each is computed on first use, and kept. Whoever has one already may set it: the distances of a pack of small
    pairs are measured together.

    reference, test: contours in a plane go with contours in a plane. criticals: the critical structures by name, of
    which the settings choose. dose: of a plan.
    """

    def __init__(
        self,
        reference: Structure,
        test: Structure,
        settings: Any,
        criticals: Mapping[str, Structure] | None = None,
        dose: Dose | None = None,
    ):
        if not reference.isEmpty and not test.isEmpty and reference.dimension != test.dimension:
            raise InputError(
                "A structure in space cannot be compared with contours in one slice. An image that was cropped to a "
                "single slice needs one more beside it."
            )
        if any(one.drawnOn is not None for one in (reference, test)):
            reference, test = onOneLattice((reference, test))
        self._done: dict[tuple, Any] = {}
        self.needed: set[str] = set()
        # quantities that a convention computes in another way, by name
        self.replaced: Mapping[str, Callable[..., Any]] = {}
        self.given, self.settings, self.dose = (reference, test), settings, dose
        self.extent = Extent()
        if settings.extent == "common":
            reference, test, self.extent = extents.reduceToCommon(reference, test)
        self.structures = self.reference, self.test = reference, test
        # 3 for surfaces in space, 2 for contours in a plane; an empty reference does not count
        self.dimension = (test if reference.isEmpty else reference).dimension
        # whether voxels count in part; then a structure with memberships is not empty, however faint they are
        self.isFuzzy = settings.threshold is None and any(s.memberships is not None for s in self.structures)
        self.emptiness = EMPTINESS[reference.isEmpty, test.isEmpty]
        faint = (s.isEmpty and not (self.isFuzzy and s.memberships is not None) for s in self.structures)
        self.emptinessOfMemberships = EMPTINESS[tuple(faint)]
        self.criticals = _chosenCriticals(criticals or {}, settings) if "hazard" in settings.families else []
        if not self.emptiness:
            self._requireReachable()

    def __getitem__(self, name: str) -> Any:
        """Return what the name of an argument stands for."""
        return self.find(name, {})

    def find(self, name: str, given: Mapping[str, Any]) -> Any:
        """Return what the name of an argument stands for. given: what stands for some of them, by name."""
        if name in given:
            found = given[name]
            if not isinstance(found, Named):
                return found
            both = self.find(found.name, given)
            return both if found.number is None else both(found.number) if callable(both) else both[found.number]
        function = self.replaced.get(name) or QUANTITIES.get(name)
        if function is None:
            owner = self if hasattr(type(self), name) or name in vars(self) else self.settings
            return self if name == "pair" else getattr(owner, name)
        key = (name, *[value for one, value in given.items() if one in closureOf(name)])
        if key not in self._done:
            self._done[key] = self.call(function, given)
        return self._done[key]

    def call(self, function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        """Return what a function makes of the things that the names of its arguments stand for."""
        return function(*map(self.find, argumentsOf(function), repeat(given)))

    def need(self, *names: str) -> None:
        """Declare what is needed by what was asked for, whatever else turns out to need it."""
        self.needed.update(*map(closureOf, names))

    def findIfNeeded(self, *names: str) -> Any | None:
        """Return a quantity if anything that was asked for needs it; otherwise None, as for a pair that has none.

        So findings and outputs cause no computation that nobody asked for. names: the first that is needed is returned;
        the distances of a surface without an inside are "distances", as signed distances need one.
        """
        name = names[0] if names[0] in self.needed else names[-1]
        if name not in self.needed or self.extent.problem:
            return None
        try:
            return self.find(name, {})
        except Undefined:
            return None

    def _requireReachable(self) -> None:
        """Raise InputError when the box around both structures has more voxels, in all or in a row, than any image."""
        grids = [s.samplingGrid for s in self.structures if s.samplingGrid is not None]
        if not grids:
            return
        low, high = zip(*(s.box for s in self.structures), strict=True)
        size = np.max(high, axis=0) - np.min(low, axis=0)
        steps = np.min([grid.worldSteps for grid in grids], axis=0)
        voxels = np.maximum(size / steps, 1)
        # very thick slices, in steps as thin as those of the other image, make a long row of few voxels
        if np.prod(voxels) > LARGEST_BOX or voxels.max() > LARGEST_ROW:
            for finding in otherUnits(*self.structures):
                raise InputError(str(finding))
            apart = np.linalg.norm(np.maximum(np.max(low, axis=0) - np.min(high, axis=0), 0))
            raise InputError(
                f"The two structures are too far apart or too different in size to be compared: {apart:.6g} mm lie "
                f"between them, the box around both measures {' x '.join(f'{length:.6g}' for length in size)} mm, and "
                f"voxels {' x '.join(f'{length:.6g}' for length in steps)} mm. Check the origins and spacings in the "
                "files."
            )

    @property
    def needsDistances(self) -> bool:
        """Whether anything that was asked for needs the distances, and there are boundaries to measure."""
        isNone = self.needed.isdisjoint(("distances", "signedDistances"))
        return not (isNone or self.emptiness or self.extent.problem)

    def exchange(self, criticals: Mapping[str, Structure] | None = None) -> Pair:
        """Return the pair with reference and test exchanged; distances that are known already are not measured again.

        criticals: the critical structures of the pair in this order.
        """
        reference, test = self.given
        other = Pair(test, reference, self.settings, criticals)
        if self.extent.slab is None:
            vars(other).update({name: vars(self)[name].exchange() for name in MEASURED if name in vars(self)})
        return other

    def forget(self, most: int = 0) -> None:
        """Free caches that are larger than the surfaces themselves and rarely needed again.

        most: they are kept for boundaries of up to so many elements.
        """
        if "boundaries" in vars(self) and sum(s.count for s in self.boundaries.surfaces) > most:
            for known in [vars(self)[name] for name in MEASURED if name in vars(self)]:
                known.forget()

    @cached_property
    def boundaries(self) -> BoundaryPair:
        """Both boundaries, with what finds the distance from either to the other."""
        reach = max(self.settings.tolerances, default=0.0)
        voxels = [s.mask.voxels.size for s in self.structures if s.mask is not None]
        # VTK's filters hold Python's lock, but are multithreaded themselves
        with allCores() if sum(voxels) > FEW_TO_SHARE else nullcontext():
            return BoundaryPair(self.reference.surface, self.test.surface, reach)

    @cached_property
    def distances(self) -> SurfaceDistances:
        """The distances in mm from each boundary to the other, with the sizes of the elements that have them.

        Raises Undefined for an empty structure.
        """
        if self.emptiness:
            raise Undefined(self.emptiness)
        return self.boundaries.measure(self.settings.tolerances, self.settings.percentiles)

    @property
    def signedDistances(self) -> SurfaceDistances:
        """The distances; raises Undefined unless both boundaries have an inside."""
        self.requireClosed(*self.structures)
        return self.distances

    def requireClosed(self, *structures: Structure) -> None:
        """Raise Undefined when a structure's surface has no inside, because it is open or has another defect."""
        for structure in structures:
            if not structure.surface.isClosed:
                which = "reference" if structure is self.reference else "test"
                if structure.surface.openEdges:
                    raise Undefined(Reason.of(Cause.NOT_CLOSED, which=which))
                raise Undefined(Reason.of(Cause.DEFECT, which=which, why=structure.surface.whyNoInside))

    @property
    def areVoxelsCounted(self) -> bool:
        """Whether anything that was asked for is counted in voxels of both structures on one grid, or in areas."""
        # by definition nothing is counted of an empty structure, except for what the confusion matrix says
        ofBoth = () if self.emptiness else ("counts", "crispCounts", "masks")
        return any(self.findIfNeeded(one) is not None for one in ("exactCounts", *ofBoth))

    @cached_property
    def masks(self) -> tuple[Mask, Mask]:
        """The voxels of both structures on one grid."""
        return self.masksOn(self.overlapGrid.grid)

    def masksOn(self, grid: Grid) -> tuple[Mask, Mask]:
        """Return the voxels of both structures on a grid; meshes are filled on it."""
        for structure in self.structures:
            if structure.mask is None:
                self.requireClosed(structure)
        reference, test = (s.mask.on(grid) if s.mask else voxelization.maskOf(s.surface, grid) for s in self.structures)
        return reference, test

    @cached_property
    def overlapGrid(self) -> ChosenGrid:
        """The grid on which overlap is counted, and the reason for this choice."""
        reference, test = self.reference.mask, self.test.mask
        if reference and test:
            grid, resampled = commonGrid(reference, test)
            return ChosenGrid(grid, RESAMPLED if resampled else "the masks' own", resampled)
        if mask := reference or test:
            corners = np.concatenate([s.mask.corners() if s.mask else s.surface.points for s in self.structures])
            return ChosenGrid(mask.grid.growTo(corners), "the image's lattice, with the mesh filled on it")
        return ChosenGrid(self.gridForMeshes(voxelization.STEPS_ACROSS), "made for the meshes")

    def gridForMeshes(self, steps: int) -> Grid:
        """Return a grid on which two meshes are filled, with at least this many steps across the smaller one."""
        return voxelization.gridForMeshes((self.reference.surface, self.test.surface), self.settings.meshSpacing, steps)

    @property
    def counts(self) -> Counts:
        """How many voxels the structures share, and how many only one of them has; those with memberships in part."""
        if not self.isFuzzy:
            return self.crispCounts
        exact = self.exactCounts
        return Counts(float(exact.truePositive), float(exact.falsePositive), float(exact.falseNegative))

    @cached_property
    def crispCounts(self) -> Counts:
        """The counts in which every voxel belongs to a structure or does not; memberships do from 0.5 on.

        In mm2 for contours without a grid. An empty structure has none. Counts of masks on different grids need not be
        whole.
        """
        if self.dimension == 2 and all(s.samplingGrid is None for s in self.structures):
            return overlap.areas(*(s.surface for s in self.structures))
        if self.sharedVolume is None:
            return overlap.count(*self.masks)
        volumes = (self.sharedVolume, *(s.ownMask.size for s in self.structures))
        both, reference, test = (volume / self.overlapGrid.grid.voxelSize for volume in volumes)
        return Counts(both, test - both, reference - both)

    @cached_property
    def sharedVolume(self) -> float | None:
        """The intersection of two masks on different grids, in mm3 (mm2); None for other pairs."""
        reference, test = self.reference.mask, self.test.mask
        if not reference or not test or not self.overlapGrid.isResampled:
            return None
        return sharedvolume.sharedVolume(*finerFirst(reference, test))

    @cached_property
    def isTurned(self) -> bool:
        """Whether both structures are masks whose axes are turned against each other."""
        if self.sharedVolume is None:
            return False
        return sharedvolume.areTurned(*finerFirst(self.reference.ownMask, self.test.ownMask))

    @cached_property
    def memberships(self) -> tuple[Mask, Mask]:
        """The fraction of each voxel that belongs to each structure, on the grid on which overlap is counted."""
        grid = self.overlapGrid.grid
        reference, test = (
            mask if s.memberships is None else s.memberships.on(grid)
            for s, mask in zip(self.structures, self.masks, strict=True)
        )
        return reference, test

    @cached_property
    def evaluatedGrid(self) -> ChosenGrid:
        """The grid whose voxels outside both structures are true negatives, and the reason for this choice."""
        grid = self.overlapGrid.grid
        volume, why = self._chosenVolume
        if self.ignored is not None:
            why += ", without what is ignored"
        if self.settings.grid == "union":
            return ChosenGrid(grid.resize(*boxAround(*self.extents)), why)
        chosen = evaluatedgrid.extendVolume(volume or grid, grid, self.structures, self.extents, why)
        if self.extent.slab is None:
            return chosen
        box = self.extent.slab.clip(chosen.grid, np.zeros(3, int), np.array(chosen.grid.size) - 1)
        return ChosenGrid(chosen.grid.resize(*box), f"{chosen.why}, within the common extent")

    @property
    def _chosenVolume(self) -> tuple[Grid | None, str]:
        """The volume that the evaluated grid contains besides both structures, None if there is none, and its name."""
        if self.settings.grid == "union":
            return None, "the box around both structures"
        if not isinstance(self.settings.grid, str):
            return self.settings.grid, "the given volume"
        homes = [s.samplingGrid for s in self.structures if s.samplingGrid is not None]
        if not homes:
            return None, "the box around both meshes"
        return homes[0], "the reference's image" if self.reference.samplingGrid is not None else "the test's image"

    @cached_property
    def evaluatedVoxels(self) -> float:
        """The size of the evaluated grid in voxels of the grid on which overlap is counted, but for what is ignored.

        It need not be whole where overlap is counted in parts of voxels.
        """
        evaluated, grid = self.evaluatedGrid.grid, self.overlapGrid.grid
        volume, _ = self._chosenVolume
        isTurned = self.isTurned or not (volume is None or grid.planar or evaluatedgrid.isParallel(volume, grid))
        if self.isFuzzy or self.sharedVolume is None or self.extent.slab is not None or isTurned:
            size: float = evaluatedgrid.sizeInVoxels(evaluated, grid)
        else:
            size = evaluatedgrid.voxelsAround(volume, self.reference.ownMask, self.test.ownMask, grid)
        if self.ignored is None:
            return size
        number = int(np.count_nonzero(self.ignored.on(evaluated).block((0, 0, 0), np.array(evaluated.size) - 1)))
        isOnLattice = evaluated.offsetOn(grid) is not None
        return size - (number if isOnLattice else number * evaluated.voxelSize / grid.voxelSize)

    @property
    def ignored(self) -> Mask | None:
        """What nobody annotated, None if there is nothing of that."""
        return next((s.ignored.mask for s in self.structures if s.ignored is not None), None)

    @property
    def extents(self) -> tuple[Mask, Mask]:
        """The voxels that count, all or in part."""
        return self.memberships if self.isFuzzy else self.masks

    @cached_property
    def exactCounts(self) -> Counts:
        """The same counts as exact fractions, with the size of the evaluated grid."""
        if self.isFuzzy:
            return overlap.countMemberships(*self.memberships, self.evaluatedVoxels)
        found = self.crispCounts
        return found.exactly(None if found.unit == "area" else self.evaluatedVoxels)

    @property
    def structuresWithInside(self) -> tuple[Structure, Structure]:
        """Both structures, if neither is empty and both enclose something."""
        if self.emptiness:
            raise Undefined(self.emptiness)
        self.requireClosed(*(s for s in self.structures if s.mask is None))
        return self.structures

    def closedSide(self, number: int) -> Structure:
        """Return the reference (0) or the test (1). Raises Undefined if its surface has no inside."""
        self.requireClosed(self.structures[number])
        return self.structures[number]

    @property
    def someStructures(self) -> tuple[Structure, Structure]:
        """Both structures. Raises Undefined if both are empty."""
        if self.emptiness == BOTH_EMPTY:
            raise Undefined(BOTH_EMPTY)
        return self.structures

    def voxelsOf(self, number: int) -> Mask | None:
        """Return the voxels of the reference (0) or the test (1), None for an empty mesh."""
        structure = self.structures[number]
        return structure.mask or (None if structure.isEmpty else self.masks[number])


def _chosenCriticals(criticals: Mapping[str, Structure], settings: Any) -> list[tuple[Structure, float]]:
    """Return the critical structures that the settings name with their weights; all with weight 1 if they name none.

    The settings may name them in any spelling.
    """
    weights: dict[str, float] = {}
    for given, weight in settings.critical:
        name = naming.onlyMeant(given, criticals, "critical structure {}")
        if name in weights:
            raise InputError(f"The critical structure {name} is named twice, the second time as {given!r}.")
        weights[name] = weight
    return [(criticals[name], weight) for name, weight in (weights or dict.fromkeys(criticals, 1.0)).items()]
