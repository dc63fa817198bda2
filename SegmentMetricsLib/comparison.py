"""compare(): the one road that every number takes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from . import findings, inputs, measurements, overlap, signed, verdict, voxelization, voxels
from .agreement import Table
from .bands import Bands, bands
from .definitions import Definition
from .distances import BoundaryPair, SurfaceDistances
from .errors import InputError, Undefined
from .grids import Grid
from .masks import Mask, boxAround, commonGrid
from .measurements import Measurement
from .places import Place, worstPlaces
from .records import Record
from .settings import Settings
from .structures import BOTH_EMPTY, Structure, bounds

if TYPE_CHECKING:
    from .conventions.evaluation import Reported

# Beyond these a comparison would take more memory than computers have.
LARGEST_NUMBER_OF_ELEMENTS = 200_000_000
LARGEST_BOX = 2_000_000_000


@dataclass(frozen=True, eq=False)
class Comparison(Mapping):
    """The result of comparing two structures: a mapping from keys like "HD95" to measurements, and how they came about.

    measurements: by key. findings: sentences that a reader of the numbers should know. grid: the voxels on which
    overlap was counted, None if it was not. distances: of all elements of both boundaries, None if a structure is empty
    or no measurement needed them.
    """

    reference: Structure
    test: Structure
    settings: Settings
    measurements: Mapping[str, Measurement]
    findings: tuple[str, ...]
    grid: Mapping | None
    distances: SurfaceDistances | None

    @property
    def dimension(self) -> int:
        """3 for surfaces in space, 2 for contours in a plane."""
        return (self.test if self.reference.isEmpty else self.reference).dimension

    def __getitem__(self, key: str) -> Measurement:
        try:
            return self.measurements[key]
        except KeyError:
            raise KeyError(f"There is no measurement {key!r} here; there are {', '.join(self.measurements)}.") from None

    def __repr__(self) -> str:
        shown = ", ".join(f"{key} {measurement.text()}" for key, measurement in self.items())
        return f"<Comparison of {self.test.name} with {self.reference.name}: {shown}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self.measurements)

    def __len__(self) -> int:
        return len(self.measurements)

    @cached_property
    def worstPlaces(self) -> tuple[Place, ...]:
        """The patches that lie farther apart than the first tolerance, the worst first; () without distances."""
        if self.distances is None or not self.settings.tolerances:
            return ()
        return worstPlaces(self.distances, self.settings.tolerances[0])

    @cached_property
    def summary(self) -> str:
        """The outcome in one sentence."""
        return verdict.sentence(self)

    def conventions(self, keys: Iterable[str] | None = None, atEdge: bool = False) -> dict[str, dict[str, Reported]]:
        """Return what other tools would have reported: convention -> key -> value, difference to ours, and why.

        keys: the conventions, all when None. See SegmentMetricsLib.conventions.
        """
        from .conventions.evaluation import conventions

        return conventions(self, keys, atEdge)

    def record(self) -> Record:
        """Return the comparison without its geometry, small enough to keep many of them."""
        return Record(
            reference=describe(self.reference),
            test=describe(self.test),
            grid=self.grid,
            surface=" and ".join(dict.fromkeys((self.reference.surfaceKind, self.test.surfaceKind))),
            convention=self.settings.convention,
            method=self.distances.method if self.distances else "",
            subdivisions=self.settings.subdivisionsFor(self.dimension),
            measurements=self.measurements,
            findings=self.findings,
            worstPlaces=self.worstPlaces,
            summary=self.summary,
        )

    def toDictionary(self) -> dict:
        """Return the comparison as in metrics.json: plain values, null for those that are not finite."""
        return self.record().toDictionary()


class Pair:
    """Two structures and what their measurements share, each computed when first asked for."""

    def __init__(self, reference: Structure, test: Structure, settings: Settings):
        if not reference.isEmpty and not test.isEmpty and reference.dimension != test.dimension:
            raise InputError("A structure in space cannot be compared with contours in one slice.")
        self.reference, self.test, self.settings = reference, test, settings
        self.structures = (reference, test)
        if not self.emptiness:
            self._requireReachable()
        self._bands = lru_cache(maxsize=None)(self._computeBands)

    def _requireReachable(self) -> None:
        """Raise InputError when the box around both structures has more voxels than any image."""
        grids = [s.samplingGrid for s in self.structures if s.samplingGrid is not None]
        if not grids:
            return
        low, high = zip(*(bounds(s) for s in self.structures), strict=True)
        size = np.max(high, axis=0) - np.min(low, axis=0)
        steps = np.min([grid.spacing.min() for grid in grids])
        if np.prod(np.maximum(size / steps, 1)) > LARGEST_BOX:
            apart = np.linalg.norm(np.maximum(np.max(low, axis=0) - np.min(high, axis=0), 0))
            raise InputError(
                f"The two structures are too far apart or too different in size to be compared: {apart:.6g} mm lie "
                f"between them, the box around both measures {' x '.join(f'{length:.6g}' for length in size)} mm, and "
                f"the finest voxels {steps:.6g} mm. Check the origins and spacings in the files."
            )

    @property
    def dimension(self) -> int:
        return (self.test if self.reference.isEmpty else self.reference).dimension

    def wasComputed(self, name: str) -> bool:
        """Return whether a shared quantity was needed so far; findings must not cause further computation."""
        return name in self.__dict__

    @cached_property
    def emptiness(self) -> str:
        """Which structure is empty, "" if none is."""
        return _whichIsEmpty(*(s.isEmpty for s in self.structures))

    def emptinessFor(self, definition: Definition) -> str:
        """Which structure is empty for a measurement: faint memberships are something where voxels count in part."""
        if self.isFuzzy and definition.countsMemberships(self.settings):
            if definition.family == "voxel":
                if not self.cuts:
                    raise Undefined("every cut of the memberships is empty on both sides")
                for number, which in enumerate(("reference", "test")):
                    if any(cut[number].isEmpty for cut in self.cuts):
                        return f"the {which} is empty in a cut of the memberships"
            return _whichIsEmpty(*(s.isEmpty and s.memberships is None for s in self.structures))
        return self.emptiness

    @property
    def isFuzzy(self) -> bool:
        """Whether voxels count in part."""
        return self.settings.fuzzy and any(s.memberships is not None for s in self.structures)

    @cached_property
    def boundaries(self) -> BoundaryPair:
        reach = max(self.settings.tolerances, default=0.0)
        return BoundaryPair(self.reference.surface, self.test.surface, reach)

    @cached_property
    def distances(self) -> SurfaceDistances:
        subdivisions = self.settings.subdivisionsFor(self.dimension)
        elements = (
            sum(len(s.surface.cells) for s in self.structures) * (4 if self.dimension == 3 else 2) ** subdivisions
        )
        if elements > LARGEST_NUMBER_OF_ELEMENTS:
            raise InputError(
                f"Cut {subdivisions} times, the two boundaries have {elements / 1e6:.0f} million elements: "
                "choose fewer subdivisions."
            )
        return self.boundaries.measure(subdivisions)

    @property
    def signedDistances(self) -> SurfaceDistances:
        """The distances, if both boundaries have an inside."""
        self.requireClosed(*self.structures)
        return self.distances

    def requireClosed(self, *structures: Structure) -> None:
        """Raise Undefined when a structure's surface has no inside, because it is open or has another defect."""
        for structure in structures:
            if not structure.surface.isClosed:
                which = "reference" if structure is self.reference else "test"
                raise Undefined(f"the surface of the {which} {structure.surface.whyNoInside}, so it has no inside")

    @cached_property
    def masks(self) -> tuple[Mask, Mask]:
        """The voxels of both structures on one grid."""
        self.requireClosed(*(s for s in self.structures if s.mask is None))
        grid, _ = self.overlapGrid
        return tuple(s.mask.on(grid) if s.mask else voxelization.maskOf(s.surface, grid) for s in self.structures)

    @cached_property
    def overlapGrid(self) -> tuple[Grid, str]:
        """The grid on which overlap is counted, and why it is that one."""
        masks = [s.mask for s in self.structures]
        if all(masks):
            grid, resampled = commonGrid(*masks)
            return grid, "both masks resampled to the finer spacing" if resampled else "the masks' own"
        if any(masks):
            grid = next(mask.grid for mask in masks if mask)
            corners = np.concatenate([np.reshape(bounds(s), (2, 3)) for s in self.structures if not s.isEmpty])
            return grid.grownTo(corners), "the image's lattice, with the mesh filled on it"
        grid = voxelization.gridForMeshes(*(s.surface for s in self.structures), self.settings.meshSpacing)
        return grid, "made for the meshes"

    @cached_property
    def counts(self) -> overlap.Counts:
        if self.dimension == 2 and all(s.samplingGrid is None for s in self.structures):
            return overlap.areas(*(s.surface for s in self.structures))
        return overlap.count(*self.masks)

    @property
    def weightedCounts(self) -> overlap.Counts:
        """The counts, with voxels that count in part if the settings ask for it."""
        if not self.isFuzzy:
            return self.counts
        table = self.table
        return overlap.Counts(*map(float, (table.truePositive, table.falsePositive, table.falseNegative)))

    @cached_property
    def memberships(self) -> tuple[Mask, Mask]:
        """How much of each voxel belongs to either structure, on the grid on which overlap is counted."""
        grid, why = self.overlapGrid
        if "resampled" in why:
            raise Undefined("memberships are compared on one grid only, and the images have different ones")
        return tuple(
            mask if s.memberships is None else s.memberships.on(grid)
            for s, mask in zip(self.structures, self.masks, strict=True)
        )

    @cached_property
    def evaluatedGrid(self) -> tuple[Grid, str]:
        """The grid whose voxels outside both structures are true negatives, and why it is that one."""
        grid, _ = self.overlapGrid
        if self.settings.grid == "union":
            return grid.resized(*boxAround(*self.extents)), "the box around both structures"
        homes = [s.samplingGrid for s in self.structures if s.samplingGrid is not None]
        home = homes[0] if homes else grid
        why = "the reference's image" if self.reference.samplingGrid is not None else "the test's image"
        corners = grid.toIndex(home.corners())
        low, high = (np.rint(c).astype(int) for c in (corners.min(axis=0) + 0.5, corners.max(axis=0) - 0.5))
        high = np.maximum(low, high)
        box = boxAround(*self.extents, (low, high))
        extended = (box[0] < low).any() or (box[1] > high).any()
        why += ", extended to contain both structures" if extended else ""
        return grid.resized(*box), why if homes else "the box around both meshes"

    @property
    def extents(self) -> tuple[Mask, Mask]:
        """The voxels that count, all or in part."""
        return self.memberships if self.isFuzzy else self.masks

    @cached_property
    def table(self) -> Table:
        """What is in both, in either and in neither."""
        if self.isFuzzy:
            return Table.ofMemberships(*self.memberships, math.prod(self.evaluatedGrid[0].size))
        counts = self.counts
        return Table.of(counts, None if counts.unit == "area" else math.prod(self.evaluatedGrid[0].size))

    @cached_property
    def cuts(self) -> list[tuple[Mask, Mask]]:
        """The voxels whose distances are measured: of the masks, or of every cut that is not empty on both sides."""
        if not self.isFuzzy or self.settings.cuts is None:
            return [self.masks]
        levels = (number / self.settings.cuts for number in range(1, self.settings.cuts + 1))
        cuts = (tuple(mask.cut(level) for mask in self.memberships) for level in levels)
        return [cut for cut in cuts if not all(mask.isEmpty for mask in cut)]

    @cached_property
    def voxelDistances(self) -> list[tuple[voxels.VoxelDistances, voxels.VoxelDistances]]:
        """The distances in every cut."""
        return [voxels.measure(*cut, self.settings.voxelUnit) for cut in self.cuts]

    def noteOn(self, definition: Definition) -> str:
        """Return what there is to say about a measurement that is not undefined, "" if nothing."""
        if definition.key == "PBD" and not self.table.products:
            return "the two do not overlap"
        if definition.family != "voxel" or not self.isFuzzy or self.settings.cuts is None:
            return ""
        omitted = self.settings.cuts - len(self.cuts)
        return f"{omitted} of {self.settings.cuts} cuts are empty on both sides and left out" if omitted else ""

    def bands(self, tolerance: float) -> Bands:
        """Return the overlap of the two boundary bands for a tolerance in mm."""
        return self._bands(tolerance)

    def _computeBands(self, tolerance: float) -> Bands:
        self.requireClosed(*self.structures)
        masks = self.masks
        if any(s.mask is not None and s.givenSurface is not None for s in self.structures):
            # where to look follows from the surfaces that are measured, not from the voxels that they were made of
            masks = tuple(voxelization.maskOf(s.surface, masks[0].grid) for s in self.structures)
        for which, mask in zip(("reference", "test"), masks, strict=True):
            if mask.isEmpty:
                raise Undefined(f"the {which} encloses no voxel, so there is no telling where its band lies")
        return bands(self.boundaries, masks, tolerance, self.settings.oversampling)

    def fractionOutside(self, tolerance: float, over: bool) -> float:
        """Return the over- or under-contoured share of both boundaries; without a counterpart it is all or nothing."""
        if self.reference.isEmpty and self.test.isEmpty:
            raise Undefined(self.emptiness)
        if self.emptiness:
            return float(over == self.reference.isEmpty)
        function = signed.overFraction if over else signed.underFraction
        return function(self.signedDistances, tolerance)

    def volume(self, number: int) -> float:
        """Return the volume in mm3 (area in mm2) that the surface of the reference (0) or the test (1) encloses."""
        structure = self.structures[number]
        self.requireClosed(structure)
        return structure.surface.volume

    def voxelVolume(self, number: int) -> float:
        """Return the voxel count times voxel size in mm3 (mm2) of the reference (0) or the test (1)."""
        structure = self.structures[number]
        if structure.mask is not None:
            return structure.mask.size
        return 0.0 if structure.isEmpty else self.masks[number].size


def _whichIsEmpty(reference: bool, test: bool) -> str:
    if reference and test:
        return BOTH_EMPTY
    return f"the {'reference' if reference else 'test'} is empty" if reference or test else ""


def compare(reference, test, settings: Settings | None = None, label: int | None = None) -> Comparison:
    """Compare a test structure with a reference structure and return all measurements that the settings ask for.

    reference, test: SimpleITK images (masks, label maps, or memberships in [0, 1]; 2D or 3D), vtkPolyData in LPS mm
    (closed surfaces, or closed contours in a plane) or Structures; the two may differ in kind, grid and orientation.
    label: the label to compare when an image holds several. Empty structures are no error: their measurements are zero,
    infinite or undefined, with a reason. Raises ValueError for input that is not a structure.
    """
    settings = settings or Settings()
    pair = Pair(
        _structure(reference, "reference", label, settings), _structure(test, "test", label, settings), settings
    )
    return compared(pair)


def compared(pair: Pair) -> Comparison:
    """Return all measurements and findings of a pair."""
    if pair.settings.surface == "displayed" and any(s.givenSurface is None and not s.isEmpty for s in pair.structures):
        raise InputError("Displayed surfaces come from Slicer: compare segments with SegmentMetricsLib.mrml.")
    values = measurements.evaluate(pair)
    grid = None
    if pair.wasComputed("masks"):
        grid = {**pair.overlapGrid[0].describe(), "choice": pair.overlapGrid[1]}
        if pair.wasComputed("evaluatedGrid"):
            evaluated, choice = pair.evaluatedGrid
            grid["evaluated"] = {**evaluated.describe(), "voxels": math.prod(evaluated.size), "choice": choice}
    return Comparison(
        pair.reference,
        pair.test,
        pair.settings,
        values,
        tuple(findings.find(pair)),
        grid,
        pair.distances if pair.wasComputed("distances") else None,
    )


def _structure(given, which: str, label: int | None, settings: Settings) -> Structure:
    if isinstance(given, Structure):
        return given
    try:
        if isinstance(given, SimpleITK.Image):
            return inputs.structureFromImage(given, which, label, settings.threshold)
        if isinstance(given, vtkPolyData):
            return inputs.structureFromPolyData(given, which)
    except InputError as error:
        raise InputError(f"The {which} cannot be compared. {error}") from error
    raise InputError(
        f"The {which} must be a SimpleITK image, a vtkPolyData or a Structure, not {type(given).__name__}."
    )


def describe(structure: Structure) -> dict:
    """Return who a structure is, for files."""
    volume = 0.0 if structure.isEmpty else structure.surface.volume
    key = "volumeMm3" if structure.dimension == 3 else "areaMm2"
    return {"name": structure.name, "file": structure.file, key: measurements.finite(volume)}
