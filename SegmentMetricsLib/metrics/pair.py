"""A pair of structures and the quantities that its measurements share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import nullcontext
from typing import Any, TypeVar, cast

import numpy as np

from ..base.errors import Cause, InputError, Reason, Undefined
from ..base.parallel import allCores
from ..base.texts import commaSeparated
from ..distances.surfacedistances import BoundaryPair, SurfaceDistances
from ..geometry import sharedvolume, voxelization
from ..geometry.closest import ClosestSurface
from ..geometry.grids import Grid
from ..geometry.masks import LARGEST_BOX, LARGEST_ROW, Mask, boxAround, commonGrid, finerFirst
from ..geometry.surfaces import Surface
from ..model import naming
from ..model.dose import Dose
from ..model.lattices import onOneLattice
from ..model.structures import BOTH_EMPTY, REFERENCE_EMPTY, TEST_EMPTY, Structure, dimensionOf
from ..settings.settings import Settings
from . import counts, evaluatedgrid, extents
from .counts import Counts, Table
from .evaluatedgrid import ChosenGrid
from .extents import Extent
from .findings import otherUnits
from .metric import Need

# Above this many elements of both boundaries, search trees and cached distances are freed before other work.
MANY_ELEMENTS = 1_000_000
# Above this many voxels of both masks, their surfaces are made on all cores.
FEW_TO_SHARE = 500_000
# Reason for an overlap grid that is neither mask's own.
RESAMPLED = "both masks resampled to the finer spacing"

T = TypeVar("T")


class shared(property):
    """A quantity of a pair that is computed on first use and kept, by once()."""

    def __get__(self, pair: Workspace | None, owner: type | None = None):
        return self if pair is None else pair.once(_functionOf(self))


class Workspace:
    """Two structures and the quantities that their measurements share, each computed on first use."""

    def __init__(
        self,
        reference: Structure,
        test: Structure,
        settings: Settings,
        criticals: Mapping[str, Structure] | None = None,
        searches: dict[Surface, ClosestSurface] | None = None,
        dose: Dose | None = None,
    ):
        """Prepare a pair. searches: as for BoundaryPair, shared by pairs that have structures in common.

        dose: of a plan, or None.
        """
        if not reference.isEmpty and not test.isEmpty and reference.dimension != test.dimension:
            raise InputError(
                "A structure in space cannot be compared with contours in one slice. An image that was cropped to a "
                "single slice needs one more beside it."
            )
        reference, test = onOneLattice((reference, test))
        self._done: dict[tuple, Any] = {}
        self._needs: set[Callable[..., Any]] = set()
        self._searches = None if settings.extent == "common" else searches
        self.given, self.settings, self.dose = (reference, test), settings, dose
        self.extent = Extent()
        if settings.extent == "common":
            reference, test, self.extent = extents.common(reference, test)
        self.reference, self.test = reference, test
        self.structures = (reference, test)
        self.criticals = _chosenCriticals(criticals or {}, settings)
        if not self.emptiness:
            self._requireReachable()

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
    def dimension(self) -> int:
        """3 for surfaces in space, 2 for contours in a plane."""
        return dimensionOf(*self.structures)

    def once(self, compute: Callable[..., T], *arguments: Hashable) -> T:
        """Return ``compute(self, *arguments)``, computed once: for quantities that a family's measurements share."""
        key = compute, *arguments
        if key not in self._done:
            self._done[key] = compute(self, *arguments)
        return self._done[key]

    def know(self, quantity: Need, value: Any) -> None:
        """Take the value of a quantity that was computed with those of other pairs."""
        self._done[(_functionOf(quantity),)] = value

    @property
    def needsDistances(self) -> bool:
        """Whether anything that was asked for needs the distances, and there are boundaries to measure."""
        wanted = {_functionOf(Workspace.distances), _functionOf(Workspace.signedDistances)}
        return not (wanted.isdisjoint(self._needs) or self.emptiness or self.extent.problem)

    def exchanged(self, criticals: Mapping[str, Structure] | None = None) -> Workspace:
        """Return the pair with reference and test exchanged; distances that are known already are not measured again.

        criticals: the critical structures of the pair in this order.
        """
        reference, test = self.given
        other = Workspace(test, reference, self.settings, criticals, self._searches)
        if self.extent.slab is None:
            for quantity in (Workspace.boundaries, Workspace.distances):
                if (known := self._done.get((_functionOf(quantity),))) is not None:
                    other._done[(_functionOf(quantity),)] = known.exchanged()
        return other

    def plan(self, needs: Iterable[Need]) -> None:
        """Declare what is needed by what was asked for, whatever else turns out to need it."""
        self._needs.update(map(_functionOf, needs))

    def planned(self, quantity: Need) -> Any | None:
        """Return a quantity if anything that was asked for needs it; None else, and for a pair that has none.

        So findings and outputs cause no computation that nobody asked for.
        """
        compute = _functionOf(quantity)
        if compute not in self._needs or self.extent.problem:
            return None
        try:
            return self.once(compute)
        except Undefined:
            return None

    def forget(self) -> None:
        """Free caches that are larger than the surfaces themselves and rarely needed again."""
        for quantity in (Workspace.boundaries, Workspace.distances):
            if (kept := self._done.get((_functionOf(quantity),))) is not None:
                kept.forget()

    @property
    def isLarge(self) -> bool:
        """Whether the boundaries exist and are so large that their caches should be freed before other work."""
        boundaries = self._done.get((_functionOf(Workspace.boundaries),))
        return boundaries is not None and sum(s.count for s in boundaries.surfaces) > MANY_ELEMENTS

    def forgetIfLarge(self) -> None:
        """Free the caches of large boundaries, which need too much memory beside what comes next."""
        if self.isLarge:
            self.forget()

    @shared
    def emptiness(self) -> str:
        """Which structure is empty, "" if none is."""
        return _whichIsEmpty(*(s.isEmpty for s in self.structures))

    @property
    def emptinessOfMemberships(self) -> str:
        """Which structure is empty where voxels count in part: one with memberships is not, however faint they are."""
        if not self.isFuzzy:
            return self.emptiness
        return _whichIsEmpty(*(s.isEmpty and s.memberships is None for s in self.structures))

    @property
    def isFuzzy(self) -> bool:
        """Whether voxels count in part."""
        return self.settings.threshold is None and any(s.memberships is not None for s in self.structures)

    @shared
    def boundaries(self) -> BoundaryPair:
        """Both boundaries, with what finds the distance from either to the other."""
        reach = max(self.settings.tolerances, default=0.0)
        voxels = [s.mask.voxels.size for s in self.structures if s.mask is not None]
        # VTK's filters hold Python's lock, but are multithreaded themselves
        with allCores() if sum(voxels) > FEW_TO_SHARE else nullcontext():
            return BoundaryPair(self.reference.surface, self.test.surface, reach, self._searches)

    @shared
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
    def plannedDistances(self) -> SurfaceDistances | None:
        """The distances if anything that was asked for needs them and they exist; else None."""
        found = self.planned(Workspace.distances)
        return self.planned(Workspace.signedDistances) if found is None else found

    @property
    def areVoxelsCounted(self) -> bool:
        """Whether anything that was asked for is counted in voxels of both structures on one grid, or in areas."""
        # by definition nothing is counted of an empty structure, except for what the confusion matrix says
        always, ofBoth = (Workspace.table,), (Workspace.counts, Workspace.crispCounts, Workspace.masks)
        return any(self.planned(one) is not None for one in (*always, *(() if self.emptiness else ofBoth)))

    @shared
    def masks(self) -> tuple[Mask, Mask]:
        """The voxels of both structures on one grid."""
        return self.masksOn(self.overlapGrid.grid)

    def masksOn(self, grid: Grid) -> tuple[Mask, Mask]:
        """Return the voxels of both structures on a grid; meshes are filled on it."""
        self.requireClosed(*(s for s in self.structures if s.mask is None))
        reference, test = (s.mask.on(grid) if s.mask else voxelization.maskOf(s.surface, grid) for s in self.structures)
        return reference, test

    @shared
    def overlapGrid(self) -> ChosenGrid:
        """The grid on which overlap is counted, and the reason for this choice."""
        reference, test = self.reference.mask, self.test.mask
        if reference and test:
            grid, resampled = commonGrid(reference, test)
            return ChosenGrid(grid, RESAMPLED if resampled else "the masks' own")
        if mask := reference or test:
            corners = np.concatenate([s.mask.corners() if s.mask else s.surface.points for s in self.structures])
            return ChosenGrid(mask.grid.grownTo(corners), "the image's lattice, with the mesh filled on it")
        return ChosenGrid(self.gridForMeshes(voxelization.STEPS_ACROSS), "made for the meshes")

    def gridForMeshes(self, steps: int) -> Grid:
        """Return a grid on which two meshes are filled, with at least this many steps across the smaller one."""
        return voxelization.gridForMeshes((self.reference.surface, self.test.surface), self.settings.meshSpacing, steps)

    @property
    def isResampled(self) -> bool:
        """Whether both structures are masks on different grids."""
        return self.overlapGrid.why == RESAMPLED

    @property
    def counts(self) -> Counts:
        """How many voxels the structures share, and how many only one of them has; those with memberships in part."""
        if not self.isFuzzy:
            return self.crispCounts
        table = self.table
        return Counts(float(table.truePositive), float(table.falsePositive), float(table.falseNegative))

    @shared
    def crispCounts(self) -> Counts:
        """The counts in which every voxel belongs to a structure or does not; memberships do from 0.5 on.

        In mm2 for contours without a grid. An empty structure has none. Counts of masks on different grids need not be
        whole.
        """
        if self.dimension == 2 and all(s.samplingGrid is None for s in self.structures):
            return counts.areas(*(s.surface for s in self.structures))
        if self.sharedVolume is None:
            return counts.count(*self.masks)
        volumes = (self.sharedVolume, *(s.ownMask.size for s in self.structures))
        both, reference, test = (volume / self.overlapGrid.grid.voxelSize for volume in volumes)
        return Counts(both, test - both, reference - both)

    @shared
    def sharedVolume(self) -> float | None:
        """The intersection of two masks on different grids, in mm3 (mm2); None for other pairs."""
        reference, test = self.reference.mask, self.test.mask
        if not reference or not test or not self.isResampled:
            return None
        return sharedvolume.sharedVolume(*finerFirst(reference, test))

    @shared
    def isTurned(self) -> bool:
        """Whether both structures are masks whose axes are turned against each other."""
        if self.sharedVolume is None:
            return False
        return sharedvolume.areTurned(*finerFirst(self.reference.ownMask, self.test.ownMask))

    @shared
    def memberships(self) -> tuple[Mask, Mask]:
        """The fraction of each voxel that belongs to each structure, on the grid on which overlap is counted."""
        grid, _ = self.overlapGrid
        reference, test = (
            mask if s.memberships is None else s.memberships.on(grid)
            for s, mask in zip(self.structures, self.masks, strict=True)
        )
        return reference, test

    @shared
    def evaluatedGrid(self) -> ChosenGrid:
        """The grid whose voxels outside both structures are true negatives, and the reason for this choice."""
        grid, _ = self.overlapGrid
        volume, why = self._chosenVolume
        if self.ignored is not None:
            why += ", without what is ignored"
        if self.settings.grid == "union":
            return ChosenGrid(grid.resized(*boxAround(*self.extents)), why)
        return self._withinExtent(evaluatedgrid.extended(volume or grid, grid, self.structures, self.extents, why))

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

    def _withinExtent(self, chosen: ChosenGrid) -> ChosenGrid:
        slab, (volume, why) = self.extent.slab, chosen
        if slab is None:
            return chosen
        box = slab.clip(volume, np.zeros(3, int), np.array(volume.size) - 1)
        return ChosenGrid(volume.resized(*box), f"{why}, within the common extent")

    @shared
    def evaluatedVoxels(self) -> float:
        """The size of the evaluated grid in voxels of the grid on which overlap is counted, but for what is ignored.

        It need not be whole where overlap is counted in parts of voxels.
        """
        return self._voxelsOfEvaluated - self._ignoredVoxels

    @property
    def ignored(self) -> Mask | None:
        """What nobody annotated, None if there is nothing of that."""
        return next((s.ignored.mask for s in self.structures if s.ignored is not None), None)

    @property
    def _ignoredVoxels(self) -> float:
        """The size of the part of the evaluated grid that nobody annotated, in the same voxels."""
        if self.ignored is None:
            return 0
        evaluated, grid = self.evaluatedGrid.grid, self.overlapGrid.grid
        within = self.ignored.on(evaluated).block((0, 0, 0), np.array(evaluated.size) - 1)
        number = int(np.count_nonzero(within))
        return number if evaluated.offsetOn(grid) is not None else number * evaluated.voxelSize / grid.voxelSize

    @property
    def _voxelsOfEvaluated(self) -> float:
        """The size of all of the evaluated grid in voxels of the grid on which overlap is counted."""
        evaluatedGrid, grid = self.evaluatedGrid.grid, self.overlapGrid.grid
        volume, _ = self._chosenVolume
        isTurned = self.isTurned or not (volume is None or grid.planar or evaluatedgrid.isParallel(volume, grid))
        if self.isFuzzy or self.sharedVolume is None or self.extent.slab is not None or isTurned:
            return evaluatedgrid.voxelsOf(evaluatedGrid, grid)
        return evaluatedgrid.voxelsAround(volume, self.reference.ownMask, self.test.ownMask, grid)

    @property
    def extents(self) -> tuple[Mask, Mask]:
        """The voxels that count, all or in part."""
        return self.memberships if self.isFuzzy else self.masks

    @shared
    def table(self) -> Table:
        """The confusion matrix of the two structures."""
        if self.isFuzzy:
            reference, test = self.memberships
            return Table.ofMemberships(reference, test, self.evaluatedVoxels)
        counts = self.crispCounts
        return Table.of(counts, None if counts.unit == "area" else self.evaluatedVoxels)

    @property
    def structuresWithInside(self) -> tuple[Structure, Structure]:
        """Both structures, if neither is empty and both enclose something."""
        if self.emptiness:
            raise Undefined(self.emptiness)
        self.requireClosed(*(s for s in self.structures if s.mask is None))
        return self.structures

    def volume(self, number: int) -> float:
        """Return the volume in mm3 (area in mm2) that the surface of the reference (0) or the test (1) encloses."""
        structure = self.structures[number]
        self.requireClosed(structure)
        return structure.surface.volume

    def voxelVolume(self, number: int) -> float:
        """Return the voxel count times the voxel size, in mm3 (mm2), of the reference (0) or the test (1)."""
        structure = self.structures[number]
        if structure.mask is not None:
            return structure.mask.size
        return 0.0 if structure.isEmpty else self.masks[number].size


def _functionOf(quantity: Need) -> Callable[..., Any]:
    """Return the function of a workspace that computes a quantity, given as a function or as a shared property."""
    return cast(Callable[..., Any], quantity.fget) if isinstance(quantity, property) else quantity


def _whichIsEmpty(reference: bool, test: bool) -> str:
    if reference and test:
        return BOTH_EMPTY
    return REFERENCE_EMPTY if reference else TEST_EMPTY if test else ""


def _chosenCriticals(criticals: Mapping[str, Structure], settings: Settings) -> list[tuple[Structure, float]]:
    """Return the critical structures that the settings name with their weights; all with weight 1 if they name none.

    The settings may name them in any spelling.
    """
    if "hazard" not in settings.families:
        return []
    weights: dict[str, float] = {}
    for given, weight in settings.critical:
        meant = naming.meant(given, criticals)
        if len(meant) != 1:
            there = f"there are {commaSeparated(meant or criticals)}" if criticals else "none is given"
            number, hint = ("more than one", "") if meant else ("no", naming.hintAt(given, criticals))
            raise InputError(f"There is {number} critical structure {given!r}; {there}.{hint}")
        if meant[0] in weights:
            raise InputError(f"The critical structure {meant[0]} is named twice, the second time as {given!r}.")
        weights[meant[0]] = weight
    return [(criticals[name], weight) for name, weight in (weights or dict.fromkeys(criticals, 1.0)).items()]
