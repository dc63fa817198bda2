"""compare(): the single path by which every number is computed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from . import inputs, measurements, multilabel, summary
from .distances.surfacedistances import SurfaceDistances
from .errors import InputError, Undefined
from .findings import search
from .findings.kinds import Finding, Kind
from .measurements import Measurement, finite, measurementOf
from .metrics.hazard import Field
from .metrics.places import Place, worstPlaces
from .metrics.similarity import Similarity
from .metrics.slices import SliceRow
from .multilabel import Share
from .pair import Pair
from .quantities.hazard import fieldOf
from .quantities.similarity import inSlices
from .quantities.slices import profileOf
from .records import Record
from .settings import Settings, asSettings
from .structures import SEGMENTATION, Structure, dimensionOf

if TYPE_CHECKING:
    from .conventions.evaluation import Reported


@dataclass(frozen=True, eq=False)
class Comparison(Mapping):
    """The result of comparing two structures: a mapping from keys like "HD95" to measurements, with their context.

    measurements: by key. findings: sentences that a reader of the numbers should know. grid: the grid on which overlap
    was counted, None if it was not. distances: of all elements of both boundaries, None if a structure is empty or no
    measurement needed them. hazard: that of the evaluated grid's voxels, None without critical structures. similarity:
    the slice-by-slice agreement of the contours, None if it was not measured. slices: the per-slice profile, () if it
    was not requested or does not exist. extent: a description of the common extent, None if the whole structures were
    compared. share: the volumes (areas) of both and of their intersection in mm3 (mm2), None without the agreement
    family. criticals: the critical structures that were considered.
    """

    reference: Structure
    test: Structure
    settings: Settings
    measurements: Mapping[str, Measurement]
    findings: tuple[str, ...]
    grid: Mapping | None
    distances: SurfaceDistances | None
    hazard: Field | None = None
    similarity: Similarity | None = None
    slices: tuple[SliceRow, ...] = ()
    extent: Mapping | None = None
    share: Share | None = None
    criticals: tuple[Structure, ...] = ()

    @property
    def dimension(self) -> int:
        """3 for surfaces in space, 2 for contours in a plane."""
        return dimensionOf(self.reference, self.test)

    def __getitem__(self, key: str) -> Measurement:
        return measurementOf(key, self.measurements)

    def __repr__(self) -> str:
        shown = ", ".join(f"{key} {measurement.text()}" for key, measurement in self.items())
        return f"<Comparison of {self.test.name} with {self.reference.name}: {shown}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self.measurements)

    def __len__(self) -> int:
        return len(self.measurements)

    @property
    def numbers(self) -> dict[str, float]:
        """The values alone by key, in each measurement's own unit: NaN where undefined, and infinite where infinite."""
        return {key: measurement.value for key, measurement in self.items()}

    @cached_property
    def worstPlaces(self) -> tuple[Place, ...]:
        """The patches that lie farther apart than the first tolerance, worst first; () without distances."""
        if self.distances is None or not self.settings.tolerances:
            return ()
        return worstPlaces(self.distances, self.settings.tolerances[0])

    @cached_property
    def summary(self) -> str:
        """The outcome in one sentence."""
        return summary.sentence(self)

    def conventions(self, keys: Iterable[str] | None = None, atEdge: bool = False) -> dict[str, dict[str, Reported]]:
        """Return the values that other tools would have reported: convention -> key -> Reported.

        Keys that a tool does not report are missing; the KeyError lists those that exist. keys: the conventions, in any
        case; all when None. atEdge: whether to keep the image edge, as the tools find it in the files. Otherwise
        background continues beyond the edge, so that a number does not depend on how the image was cropped. Raises
        ValueError for an unknown convention.
        """
        from .conventions.evaluation import conventions

        return conventions(self, keys, atEdge)

    def record(self) -> Record:
        """Return the comparison without its geometry, so small that many can be kept."""
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
            slices=self.slices,
            extent=self.extent,
            worstPlaces=self.worstPlaces,
            summary=self.summary,
            similarity=self.similarity,
        )

    def toDictionary(self) -> dict:
        """Return the comparison as plain values, as in metrics.json; values that are not finite are null."""
        return self.record().toDictionary()


def compare(
    reference,
    test,
    settings: Settings | None = None,
    label: int | None = None,
    criticals: Mapping[str, object] | None = None,
) -> Comparison:
    """Compare a test structure with a reference structure and return all measurements that the settings select.

    Empty structures are not an error: their measurements are zero, infinite or undefined, with a reason.

    reference, test: SimpleITK images (masks, label maps, or memberships in [0, 1]; 2D or 3D), vtkPolyData in LPS mm
    (closed surfaces, or closed contours in a plane) or Structures; the two may differ in kind, grid and orientation.
    settings: what to measure and how; None means the defaults. label: the label to compare in images that hold several,
    the same in both; images of memberships have no labels. criticals: critical structures for the hazard family by
    name, of the same kinds as reference and test. Only those named in the settings are used, or all if the settings
    name none. Raises ValueError for input that is not a structure.
    """
    settings = asSettings(settings)
    pair = Pair(
        asStructure(reference, "reference", label, settings),
        asStructure(test, "test", label, settings),
        settings,
        asCriticals(criticals or {}, settings),
    )
    return compared(pair)


def compared(pair: Pair) -> Comparison:
    """Return all measurements and findings of a pair."""
    if pair.settings.surface == "displayed" and any(s.givenSurface is None and not s.isEmpty for s in pair.structures):
        raise InputError("Displayed surfaces come from Slicer: compare segments with SegmentMetricsLib.mrml.")
    values = measurements.evaluate(pair)
    rows, missing = _profile(pair)
    grid = None
    if pair.wasComputed("masks"):
        grid = {**pair.overlapGrid.grid.describe(), "choice": pair.overlapGrid.why}
        if pair.wasComputed("evaluatedGrid"):
            evaluated, choice = pair.evaluatedGrid
            grid["evaluated"] = {**evaluated.describe(), "voxels": round(pair.evaluatedVoxels), "choice": choice}
    pair.forgetIfLarge()
    found = search.find(pair, values)
    pair.forget()
    return Comparison(
        *pair.given,
        pair.settings,
        values,
        (*found, *missing),
        grid,
        pair.distances if pair.wasComputed("distances") else None,
        pair.done(fieldOf),
        pair.done(inSlices),
        rows,
        pair.extent.description,
        multilabel.shareOf(pair) if multilabel.isWanted(pair.settings) else None,
        tuple(structure for structure, _ in pair.criticals),
    )


def _profile(pair: Pair) -> tuple[tuple[SliceRow, ...], tuple[Finding, ...]]:
    """Return the per-slice profile if the settings request it, or a finding that explains why there is none."""
    if "slices" not in pair.settings.families:
        return (), ()
    try:
        if pair.extent.problem:
            raise Undefined(pair.extent.problem)
        return profileOf(pair), ()
    except Undefined as undefined:
        return (), (Finding.of(Kind.NO_PROFILE, reason=undefined),)


def asCriticals(given: Mapping[str, object], settings: Settings) -> dict[str, Structure]:
    """Return critical structures by name. Raises InputError for input that is not a structure or has several labels."""
    return {
        name: asStructure(one, f"critical structure {name}", None, settings, canChoose=False)
        for name, one in given.items()
    }


def asStructure(given, which: str, label: int | None, settings: Settings, canChoose: bool = True) -> Structure:
    """Return an argument of compare() as a structure. which: its name in messages.

    canChoose: whether the caller could have given a label. A displayed surface is dropped if the settings ask for the
    unsmoothed one. Raises InputError for input that is not a structure.
    """
    if isinstance(given, Structure):
        if settings.surface == "unsmoothed":
            given = given.unsmoothed()
        return given if settings.threshold is None else given.cutAt(settings.threshold)
    try:
        if isinstance(given, SimpleITK.Image):
            scale = (settings.threshold, settings.membershipMaximum)
            return inputs.structureFromImage(given, which, label, *scale, canChoose)
        if isinstance(given, vtkPolyData):
            return inputs.structureFromPolyData(given, which)
    except InputError as error:
        raise InputError(f"The {which} cannot be compared. {error}") from error
    kind = type(given).__name__
    raise InputError(f"The {which} must be a SimpleITK image, a vtkPolyData or a Structure, not {kind}{_hint(given)}.")


def _hint(given) -> str:
    """Return advice on converting an unsupported argument of compare() to a supported one, "" if there is none."""
    if isinstance(given, (str, os.PathLike)):
        return ": readStructures(path, name=...) of SegmentMetricsLib reads files"
    if isinstance(given, np.ndarray):
        return ": SimpleITK.GetImageFromArray() makes an image of it, whose spacing is to be set with SetSpacing()"
    return ""


def describe(structure: Structure) -> dict:
    """Return the name, file and volume (area) of a structure, for files, and of a segment its segmentation's name."""
    volume = 0.0 if structure.isEmpty else structure.surface.volume
    key = "volumeMm3" if structure.dimension == 3 else "areaMm2"
    node = {SEGMENTATION: structure.source[SEGMENTATION]} if SEGMENTATION in structure.source else {}
    return {"name": structure.name, "file": structure.file, key: finite(volume), **node}
