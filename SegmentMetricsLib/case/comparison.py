"""compare(): the single path by which every number is computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np
import SimpleITK

from ..base.errors import InputError, Undefined
from ..conventions.chosen import chosenFor, metricsOf
from ..distances import surfacedistances
from ..distances.surfacedistances import SurfaceDistances
from ..io.doses import readDose
from ..metrics.dose import DoseCurves
from ..metrics.findings import Finding, Kind
from ..metrics.hazard import HazardField
from ..metrics.instances import Lesion, listOf
from ..metrics.measurement import Measurement, evaluate, finite, measurementOf
from ..metrics.pair import Pair
from ..metrics.registry import keyMeant, selected
from ..metrics.similarity import Similarity, localDistancesOn
from ..metrics.slices import SliceRow, needsOfProfile
from ..metrics.topology import Run
from ..model import inputs
from ..model.dose import Dose
from ..model.ignored import leftOut
from ..model.inputs import Placing
from ..model.structure import Structure
from ..model.structures import REFERENCE_AND_TEST, SEGMENTATION, asName, dimensionOf
from ..settings.settings import Settings, asSettings
from . import gridspread, multilabel, places, summary
from .findings import pairfindings
from .given import Comparable, asCriticals, asStructure, criticalsFrom, marksIn
from .multilabel import Share
from .places import Place, worstPlaces
from .records import Record

# The measurement whose distances are those of each lesion, which would take long if nothing else needed them.
LESION_DISTANCES = "LesionHD95"
# What it takes as a dose: an image in Gy, or a file.
DoseLike = Dose | SimpleITK.Image | str | os.PathLike | Sequence[str | os.PathLike]


@dataclass(frozen=True, eq=False)
class Comparison(Mapping):
    """The result of comparing two structures: a mapping from keys like "HD95" to measurements, with their context.

    Parameters
    ----------
    reference : Structure
        The structure that the test is compared with.
    test : Structure
        The structure that is compared.
    settings : Settings
        With which they were compared.
    measurements : Mapping[str, Measurement]
        By key.
    findings : tuple[str, ...]
        Sentences that a reader of the numbers should know.
    grid : Mapping | None
        The grid on which overlap was counted, None if it was not.
    distances : SurfaceDistances | None
        Of all elements of both boundaries, None if a structure is empty or no measurement needed them.
    hazard : HazardField | None, optional
        That of the evaluated grid's voxels, None without critical structures.
    similarity : Similarity | None, optional
        The slice-by-slice agreement of the contours, None if it was not measured.
    slices : tuple[SliceRow, ...], optional
        The per-slice profile, () if it was not requested or does not exist.
    extent : Mapping | None, optional
        A description of the common extent, None if the whole structures were compared.
    share : Share | None, optional
        The volumes (areas) of both and of their intersection in mm3 (mm2), None without the agreement family.
    criticals : tuple[Structure, ...], optional
        The critical structures that were considered.
    lesions : tuple[Lesion, ...] | None, optional
        What happened to each lesion, those that need a look first; None without the instances family.
    gaps, spurs : tuple[Run, ...] | None, optional
        The stretches of center lines that the test lacks, or that only the test has, longest first; None without the
        topology family.
    dose : Dose | None, optional
        The dose of a plan, None if none is given.
    doseCurves : DoseCurves | None, optional
        The dose-volume histograms of both, None without a dose in both.
    others : Mapping[str, Mapping[str, Measurement]], optional
        By convention and key, the measurements that a protocol asks of other tools.
    """

    reference: Structure
    test: Structure
    settings: Settings
    measurements: Mapping[str, Measurement]
    findings: tuple[str, ...]
    grid: Mapping | None
    distances: SurfaceDistances | None
    hazard: HazardField | None = None
    similarity: Similarity | None = None
    slices: tuple[SliceRow, ...] = ()
    extent: Mapping | None = None
    share: Share | None = None
    criticals: tuple[Structure, ...] = ()
    lesions: tuple[Lesion, ...] | None = None
    gaps: tuple[Run, ...] | None = None
    spurs: tuple[Run, ...] | None = None
    dose: Dose | None = None
    doseCurves: DoseCurves | None = None
    others: Mapping[str, Mapping[str, Measurement]] = field(default_factory=dict)

    @property
    def byConvention(self) -> dict[str, Mapping[str, Measurement]]:
        """All measurements by convention and key, those of the comparison first."""
        return {self.settings.convention: self.measurements, **self.others}

    @property
    def dimension(self) -> int:
        """3 for surfaces in space, 2 for contours in a plane."""
        return dimensionOf(self.reference, self.test)

    @property
    def knownDistances(self) -> SurfaceDistances:
        """The distances of a comparison that has them."""
        return cast(SurfaceDistances, self.distances)

    def __getitem__(self, key: str) -> Measurement:
        meant = key if key in self.measurements else keyMeant(key)
        return measurementOf(meant if meant in self.measurements else key, self.measurements)

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
        """The patches that lie farther apart than the first tolerance, worst first; () without distances.

        With a dose, each has its own, and the settings may rank them by it.
        """
        if self.distances is None or not self.settings.tolerances:
            return ()
        if self.dose is not None:
            isRanked = self.settings.placesBy == "dose"
            most = None if isRanked else places.MOST
            return places.withDose(worstPlaces(self.distances, self.settings.tolerances[0], most), self.dose, isRanked)
        return worstPlaces(self.distances, self.settings.tolerances[0])

    def localDistances(self, side: str) -> np.ndarray:
        """Return the bidirectional local distance (n,) in mm at every point of the measured surface of one side.

        side: "reference" or "test". The comparison must have distances.
        """
        return localDistancesOn(self.knownDistances, (self.reference, self.test), self.settings.meshSpacing, side)

    @cached_property
    def summary(self) -> str:
        """The outcome in one sentence."""
        return summary.sentence(self)

    def record(self, *, hasPlaces: bool = True) -> Record:
        """Return the comparison without its geometry, so small that many can be kept.

        hasPlaces: whether the record has the worst places, which take a while to find.
        """
        return Record(
            reference=describe(self.reference),
            test=describe(self.test),
            grid=self.grid,
            surface=" and ".join(dict.fromkeys((self.reference.surfaceKind, self.test.surfaceKind))),
            convention=self.settings.convention,
            method=self.distances.method if self.distances else "",
            measurements=self.measurements,
            findings=self.findings,
            slices=self.slices,
            extent=self.extent,
            worstPlaces=self.worstPlaces if hasPlaces else None,
            summary=self.summary,
            similarity=self.similarity,
            lesions=self.lesions,
            gaps=self.gaps,
            spurs=self.spurs,
            doseCurves=self.doseCurves,
            settings=self.settings,
            share=self.share,
            others=self.others,
        )

    def toDictionary(self) -> dict:
        """Return the comparison as plain values, as in metrics.json; values that are not finite are null."""
        return self.record().toDictionary()


def compare(
    reference: Comparable,
    test: Comparable,
    settings: Settings | None = None,
    *,
    label: int | None = None,
    name: str | int | None = None,
    criticals: Mapping[str, Comparable] | None = None,
    dose: DoseLike | None = None,
    ignore: str | int | None = None,
    spacing: float | Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    direction: Sequence | np.ndarray | None = None,
) -> Comparison:
    """Compare a test structure with a reference structure and return all measurements that the settings select.

    Empty structures are not an error: their measurements are zero, infinite or undefined, with a reason.

    Parameters
    ----------
    reference, test : Comparable
        SimpleITK images (masks, label maps, or memberships in [0, 1]; 2D or 3D), numpy arrays of the same values,
        vtkPolyData in LPS mm (closed surfaces, or closed contours in a plane), Structures, or paths of files or
        folders, as for readStructures(); the two may differ in kind, grid and orientation.
    settings : Settings | None, optional
        What to measure and how; None means the defaults.
    label : int | None, optional
        The label to compare in images and files that hold several, the same in both; images of memberships have no
        labels.
    name : str | int | None, optional
        The structure to compare in files that hold several, in any spelling; label is for images then.
    criticals : Mapping[str, Comparable] | None, optional
        Critical structures for the hazard family by name, of the same kinds as reference and test; in a file that holds
        several, the one of that name. Only those named in the settings are used, in any spelling, or all if the
        settings name none.
    dose : DoseLike | None, optional
        Of a plan: a Dose, an image in Gy, or a file, RTDOSE or an image in Gy. The family dose is added to those that
        are asked for.
    ignore : str | int | None, optional
        The label of the reference that marks what nobody annotated, as in the settings: its number, in a file also its
        name.
    spacing : float | Sequence[float] | None, optional
        Of an array's voxels in mm, one number if it is the same along all axes; required for arrays. An array is
        indexed [k, j, i], like those of SimpleITK.GetArrayFromImage; spacing, origin and direction are in the order i,
        j, k, like those that the image's GetSpacing, GetOrigin and GetDirection return.
    origin : Sequence[float] | None, optional
        LPS position of an array's first voxel in mm, 0 when None.
    direction : Sequence | np.ndarray | None, optional
        Of an array: a matrix, or its numbers row by row, whose columns are the unit vectors along i, j, k; the axes of
        the patient when None.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        For input that is not a structure, and for a label that neither side has.
    """
    settings, dose = withDose(withIgnored(settings, ignore), dose)
    placing = Placing(spacing=spacing, origin=origin, direction=direction)
    criticals = criticalsFrom(criticals)
    placing.requireUse(reference, test, *criticals.values())
    if label is not None:
        label = inputs.positiveLabel(label)
    if name is not None:
        asName(name)  # raises for anything but a name or a number
        if not any(isinstance(one, (str, os.PathLike)) for one in (reference, test)):
            raise InputError("The name chooses a structure of a file, and neither the reference nor the test is one.")
    ours, theirs = (
        asStructure(one, which, label, settings, name=name, placing=placing)
        for one, which in zip((reference, test), REFERENCE_AND_TEST)
    )
    if settings.ignore is not None and not (ours.ignored or theirs.ignored):  # else a case has left it out already
        ours, theirs = leftOut((ours, theirs), marksIn(reference, settings, placing), settings.ignore)
    pair = Pair(
        ours,
        theirs,
        settings,
        asCriticals(criticals, settings, placing),
        dose=dose,
    )
    if label is not None:
        requireEither(pair.given, label)
    return compared(pair)


def withIgnored(settings: Settings | None, ignore: str | int | None) -> Settings:
    """Return settings, the defaults for None, that ignore a label of the reference if one is given."""
    settings = asSettings(settings)
    return settings if ignore is None else settings.changed(ignore=ignore)


def withDose(settings: Settings, given: DoseLike | None) -> tuple[Settings, Dose | None]:
    """Return settings and the dose that goes with them; with a dose they ask for its family."""
    if given is None:
        return settings, None
    dose = given if isinstance(given, Dose) else readDose(given)
    return settings.changed(families=(*settings.families, "dose")), dose


def requireEither(structures: Iterable[Structure], label: int) -> None:
    """Raise InputError when neither the reference nor the test has a label, and other labels could be meant."""
    others = [() if s.isUnlabeled else s.otherLabels for s in structures]
    if None not in others and any(others):
        reference, test = (inputs.listed(labels or ()) for labels in others)
        raise InputError(f"Neither side has the label {label}: the reference has {reference}, the test {test}.")


def measureTogether(pairs: Iterable[Pair]) -> None:
    """Measure the distances of pairs that need them; those of small pairs on one grid are quicker together."""
    groups: dict[tuple, list[Pair]] = {}
    for pair in pairs:
        pair.needed.update(*(one.metric.needs for one in chosenFor(pair)))
        if pair.needsDistances:
            groups.setdefault((pair.settings.tolerances, pair.settings.percentiles), []).append(pair)
    for limits, members in groups.items():
        if len(members) > 1:
            together = surfacedistances.measureTogether([pair.boundaries for pair in members], *limits)
            for pair, distances in zip(members, together, strict=True):
                pair.distances = distances


def compared(pair: Pair) -> Comparison:
    """Return all measurements and findings of a pair."""
    if pair.settings.surface == "displayed" and any(s.givenSurface is None and not s.isEmpty for s in pair.structures):
        raise InputError("Displayed surfaces come from Slicer: compare segments with SegmentMetricsLib.mrml.")
    asked = chosenFor(pair)
    pair.needed.update(*(one.metric.needs for one in asked))
    if "slices" in pair.settings.families:
        pair.need(*needsOfProfile(pair))
    if "instances" in pair.settings.families:
        pair.need("lesions")
    if not pair.needed.isdisjoint(("dosesInside", "bothDoses")):
        pair.need("doseCurves")
    values = evaluate(pair, asked)
    rows, missing = _profile(pair)
    hasDistances = any(one.metric.key == LESION_DISTANCES for one in asked)
    lesions = None if pair.known("lesions") is None else listOf(pair, hasDistances)
    pair.forgetIfLarge()
    found = pairfindings.find(pair, values)
    pair.forget()
    return Comparison(
        *pair.given,
        pair.settings,
        values,
        (*found, *missing),
        _gridOf(pair),
        pair.knownDistances,
        None if pair.known("hazardErrors") is None else pair["hazardField"],
        pair.known("sliceSimilarity"),
        rows,
        pair.extent.description,
        multilabel.shareOf(pair) if multilabel.isWanted(pair.settings) else None,
        tuple(structure for structure, _ in pair.criticals),
        lesions,
        pair.known("gaps"),
        pair.known("spurs"),
        pair.dose,
        pair.known("doseCurves"),
    )


def _gridOf(pair: Pair) -> dict | None:
    """Return a description of the grid on which what was asked for is counted, None if nothing is."""
    counts, errors = pair.known("exactCounts"), pair.known("hazardErrors")
    hasOutside = errors is not None or (counts is not None and counts.voxels is not None)
    isOfAreas = pair.dimension == 2 and all(s.samplingGrid is None for s in pair.structures)
    if not hasOutside and (isOfAreas or not pair.areVoxelsCounted):
        return None
    grid = {**pair.overlapGrid.grid.describe(), "choice": pair.overlapGrid.why}
    if hasOutside:
        evaluated, choice = pair.evaluatedGrid
        grid["evaluated"] = {**evaluated.describe(), "voxels": round(pair.evaluatedVoxels), "choice": choice}
    return grid


def _profile(pair: Pair) -> tuple[tuple[SliceRow, ...], tuple[Finding, ...]]:
    """Return the per-slice profile if the settings request it, or a finding that explains why there is none."""
    if "slices" not in pair.settings.families:
        return (), ()
    try:
        if pair.extent.problem:
            raise Undefined(pair.extent.problem)
        return pair["profileRows"], ()
    except Undefined as undefined:
        return (), (Finding.of(Kind.NO_PROFILE, reason=str(undefined)),)


def withGridUncertainty(
    comparison: Comparison, displayed: Callable[[Structure], Structure] | None = None
) -> Comparison:
    """Return a comparison with the spread of every measurement that the voxel grid alone causes, as its `grid`.

    The measured surfaces of both structures are measured on the reference's grid, shifted by fractions of a voxel. A
    structure that vanishes in some of the shifts is a finding instead. displayed: makes the surfaces that Slicer
    displays, for settings that ask for them.
    """
    criticals = {structure.name: structure for structure in comparison.criticals}

    def measure(reference: Structure, test: Structure, settings: Settings) -> Mapping[str, Measurement]:
        return compare(reference, test, settings, criticals=criticals, dose=comparison.dose).measurements

    settings = comparison.settings
    values, findings = gridspread.measureShifted(comparison.reference, comparison.test, settings, measure, displayed)
    asked = selected(settings, metricsOf(settings.convention).values())
    found = gridspread.spreads(comparison.measurements, values, asked)
    told = {key: replace(one, grid=found.get(key)) for key, one in comparison.measurements.items()}
    return replace(comparison, measurements=told, findings=(*comparison.findings, *findings))


def describe(structure: Structure) -> dict:
    """Return the name, file and volume (area) of a structure, for files, and of a segment its segmentation's name."""
    volume = 0.0 if structure.isEmpty else structure.surface.volume
    key = "volumeMm3" if structure.dimension == 3 else "areaMm2"
    node = {} if structure.nodeID is None else {SEGMENTATION: structure.segmentation}
    return {"name": structure.name, "file": structure.file, key: finite(volume), **node}
