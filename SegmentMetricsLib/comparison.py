"""compare(): the one road that every number takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from . import effort, findings, hazard, inputs, measurements, overlap, signed, verdict, voxelization
from .bands import Bands, bands
from .distances import BoundaryPair, SurfaceDistances
from .errors import InputError, Undefined
from .grids import Grid
from .masks import Mask, commonGrid
from .measurements import Measurement
from .places import Place, worstPlaces
from .records import Record
from .settings import Settings
from .structures import Structure, bounds, listed

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

    def __init__(
        self,
        reference: Structure,
        test: Structure,
        settings: Settings,
        criticals: Mapping[str, Structure] | None = None,
    ):
        if not reference.isEmpty and not test.isEmpty and reference.dimension != test.dimension:
            raise InputError("A structure in space cannot be compared with contours in one slice.")
        self.reference, self.test, self.settings = reference, test, settings
        self.structures = (reference, test)
        self.criticals = _chosenCriticals(criticals or {}, settings)
        if not self.emptiness:
            self._requireReachable()
        self._bands = lru_cache(maxsize=None)(self._computeBands)
        self._addedPathLengths = lru_cache(maxsize=None)(lambda t: effort.addedPathLength(self.outlines, t))

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
        if self.reference.isEmpty and self.test.isEmpty:
            return "both structures are empty"
        for which, structure in (("reference", self.reference), ("test", self.test)):
            if structure.isEmpty:
                return f"the {which} is empty"
        return ""

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
            return next(mask.grid for mask in masks if mask), "the image's, with the mesh filled on it"
        grid = voxelization.gridForMeshes(*(s.surface for s in self.structures), self.settings.meshSpacing)
        return grid, "made for the meshes"

    @cached_property
    def counts(self) -> overlap.Counts:
        if self.dimension == 2 and all(s.samplingGrid is None for s in self.structures):
            return overlap.areas(*(s.surface for s in self.structures))
        return overlap.count(*self.masks)

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

    def largestOutside(self, over: bool) -> signed.Located:
        """Return the largest over- or under-contouring; without a counterpart it is infinite or nothing."""
        if self.reference.isEmpty and self.test.isEmpty:
            raise Undefined(self.emptiness)
        if self.emptiness:
            return signed.Located(math.inf if over == self.reference.isEmpty else 0.0, None)
        return signed.largest(self.signedDistances, over)

    @cached_property
    def sides(self) -> dict[str, signed.Side]:
        """The signed distances toward each side of the patient."""
        return signed.bySide(self.signedDistances)

    def volumeOutside(self, over: bool) -> float:
        """Return the volume in mm3 (area in mm2) that only the test (over) or only the reference encloses."""
        if self.emptiness:
            return self.voxelVolume(1 if over else 0)
        counts = self.counts
        number = counts.falsePositive if over else counts.falseNegative
        return number * (self.masks[0].grid.voxelSize if counts.unit == "voxel" else 1.0)

    @cached_property
    def evaluatedGrid(self) -> tuple[Grid, str]:
        """The grid whose voxels outside both structures count, and why it is that one."""
        grid, _ = self.overlapGrid
        homes = [s.samplingGrid for s in self.structures if s.samplingGrid is not None]
        boxes = [(mask.low, mask.high) for mask in self.masks if not mask.isEmpty]
        if not boxes:
            raise Undefined("neither structure encloses a voxel")
        if homes:
            corners = grid.toIndex(homes[0].corners())
            low = np.rint(corners.min(axis=0) + 0.5).astype(int)
            boxes.append((low, np.maximum(low, np.rint(corners.max(axis=0) - 0.5).astype(int))))
        lows, highs = zip(*boxes, strict=True)
        why = "the image, extended to contain both structures" if homes else "the box around both meshes"
        return grid.resized(np.min(lows, axis=0), np.max(highs, axis=0)), why

    @cached_property
    def hazardErrors(self) -> hazard.Errors:
        """The hazard of what the structures share and of what they do not."""
        if self.reference.isEmpty and self.test.isEmpty:
            raise Undefined(self.emptiness)
        if not self.criticals:
            raise Undefined("no critical structure is given")
        masks, grid = self.masks, self.overlapGrid[0]
        evaluated = self.evaluatedGrid[0]
        low = np.array(evaluated.offsetOn(grid))
        box = low, low + np.array(evaluated.size) - 1
        given = [(self._criticalMask(structure, grid), weight) for structure, weight in self.criticals]
        given = [(mask, weight) for mask, weight in given if not mask.isEmpty]
        if not given:
            raise Undefined("the critical structures are empty")
        corners = [m for m in masks if not m.isEmpty]
        both = np.min([m.low for m in corners], axis=0), np.max([m.high for m in corners], axis=0)
        return hazard.errors(hazard.field(given, grid, box, self.settings), *masks, both)

    def _criticalMask(self, structure: Structure, grid: Grid) -> Mask:
        if not structure.isEmpty and structure.dimension != self.dimension:
            raise Undefined(f"the critical structure {structure.name} is not of the same kind as the structures")
        if structure.mask is not None:
            return structure.mask.on(grid)
        if not structure.isEmpty and not structure.surface.isClosed:
            raise Undefined(f"the surface of the critical structure {structure.name} {structure.surface.whyNoInside}")
        return voxelization.maskOf(structure.surface, grid)

    @cached_property
    def outlines(self) -> list[effort.Outline]:
        """The contours of both in every slice of the reference."""
        if self.reference.isEmpty:
            if self.test.isEmpty:
                raise Undefined(self.emptiness)
            return []
        if self.dimension == 2:
            return [effort.outline(self.reference.surface, None if self.test.isEmpty else self.test.surface)]
        mask = self.reference.mask
        if mask is None:
            raise Undefined("the reference is a mesh, which has no slices")
        if self.test.mask is not None:
            return effort.outlines(mask, self.test.mask.on(mask.grid))
        self.requireClosed(self.test)
        return effort.outlines(mask, voxelization.maskOf(self.test.surface, mask.grid))

    def addedPathLength(self, tolerance: float) -> float:
        """Return APL in mm for a tolerance in mm."""
        return self._addedPathLengths(tolerance)

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
        """Return the voxel count times voxel size in mm3 (mm2) of the reference (0) or the test (1)."""
        structure = self.structures[number]
        if structure.mask is not None:
            return structure.mask.size
        return 0.0 if structure.isEmpty else self.masks[number].size


def _chosenCriticals(criticals: Mapping[str, Structure], settings: Settings) -> list[tuple[Structure, float]]:
    """Return the critical structures that the settings name, or all with weight 1 when they name none."""
    if "hazard" not in settings.families:
        return []
    weights = dict(settings.critical) or dict.fromkeys(criticals, 1.0)
    for name in weights:
        if name not in criticals:
            there = f"there are {listed(criticals)}" if criticals else "none is given"
            raise InputError(f"There is no critical structure {name!r}; {there}.")
    return [(criticals[name], weight) for name, weight in weights.items()]


def compare(
    reference,
    test,
    settings: Settings | None = None,
    label: int | None = None,
    criticals: Mapping[str, object] | None = None,
) -> Comparison:
    """Compare a test structure with a reference structure and return all measurements that the settings ask for.

    reference, test: SimpleITK images (masks, label maps, or memberships in [0, 1]; 2D or 3D), vtkPolyData in LPS mm
    (closed surfaces, or closed contours in a plane) or Structures; the two may differ in kind, grid and orientation.
    label: the label to compare when an image holds several. criticals: critical structures of the hazard family by
    name, of the same kinds; those that the settings name count, or all. Empty structures are no error: their
    measurements are zero, infinite or undefined, with a reason. Raises ValueError for input that is not a structure.
    """
    settings = settings or Settings()
    pair = Pair(
        _structure(reference, "reference", label, settings),
        _structure(test, "test", label, settings),
        settings,
        {name: _structure(c, f"critical structure {name}", None, settings) for name, c in (criticals or {}).items()},
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
