"""compare(): the single path by which every number is computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import SimpleITK

from ..base.errors import InputError, Undefined
from ..base.plain import finite, fromPlain, toPlain
from ..conventions.evaluation import Reported, conventions
from ..conventions.presets import QUANTITIES, metricsOf
from ..conventions.which import Candidate, numbersOf, which
from ..distances import surfacedistances
from ..distances.surfacedistances import SurfaceDistances
from ..io.doses import readDose
from ..metrics.dose import DoseCurves
from ..metrics.findings import Finding, Kind, asDictionaries, asFinding
from ..metrics.hazard import HazardField
from ..metrics.instances import Lesion, listOf
from ..metrics.measurement import Measurement, measure, measurementOf
from ..metrics.metric import Asked
from ..metrics.pair import MANY_ELEMENTS, Pair
from ..metrics.registry import MULTI_LABEL, findMetric, keyMeant, select
from ..metrics.similarity import Similarity, localDistancesAt, longestSide
from ..metrics.slices import SliceRow, needsOfProfile
from ..metrics.topology import Run
from ..model import inputs
from ..model.dose import Dose
from ..model.ignored import leaveOut
from ..model.naming import pairTitle
from ..model.structure import Identity, Structure
from ..model.structures import REFERENCE_AND_TEST, SEGMENTATION, asName
from ..settings.settings import Settings, asSettings
from . import multilabel, places, summary
from .findings import pairfindings
from .given import Comparable, asCriticals, asStructure, marksIn
from .multilabel import Share
from .places import Place, worstPlaces

# The measurement whose distances are those of each lesion, which would take long if nothing else needed them.
LESION_DISTANCES = "LesionHD95"
# The properties that a comparison keeps without its geometry.
KEPT = ("convention", "sides", "dimension", "surface", "method", "worstPlaces", "summary", "hasSides")
# Of the plain values of a comparison in files.
SCHEMA = 2
# The columns of a frame of measurements.
TOLD = ("title", "value", "unit", "status", "reason", "referenceToTest", "testToReference", "lower", "upper")
# What some families make beside numbers, by its name, with its type.
LISTED: dict[str, Any] = {
    "worstPlaces": tuple[Place, ...],
    "similarity": Similarity,
    **{"lesions": tuple[Lesion, ...], "gaps": tuple[Run, ...], "spurs": tuple[Run, ...]},
    "doseCurves": DoseCurves,
}
# What compare() takes as a dose: an image in Gy, or a file.
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
        The settings of the comparison.
    measurements : Mapping[str, Measurement]
        The measurements by key.
    findings : tuple[str, ...]
        Sentences that a reader of the numbers should know.
    grid : Mapping | None
        The grid on which overlap was counted, None if it was not.
    distances : SurfaceDistances | None
        The distances of all elements of both boundaries, None if a structure is empty or no measurement needed them.
    hazard : HazardField | None, optional
        The hazard at the evaluated grid's voxels, None without critical structures.
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
        What happened to each lesion, those that need a look first; None without the lesions family.
    gaps, spurs : tuple[Run, ...] | None, optional
        The stretches of center lines that the test lacks, or that only the test has, longest first; None without the
        vessels family.
    dose : Dose | None, optional
        The dose of a plan, None if none is given.
    doseCurves : DoseCurves | None, optional
        The dose-volume histograms of both, None without a dose in both.
    others : Mapping[str, Mapping[str, Measurement]], optional
        By convention and key, the measurements that a protocol asks of other tools.
    kept : Mapping[str, Any], optional
        What is known without geometry: values of the properties in KEPT by name. Both structures are then only an
        Identity, and distances, hazard, critical structures and dose are left out; settings, share and others are
        unknown if the comparison comes from a file.
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
    kept: Mapping[str, Any] = field(default_factory=dict)
    # Functions of the face, as these stand above comparisons.
    picture: ClassVar[Callable[..., Path]]
    withGridUncertainty: ClassVar[Callable[..., Comparison]]
    _repr_html_: ClassVar[Callable[..., str]]

    def __post_init__(self) -> None:
        vars(self).update(self.kept)  # as if these properties had been asked for already

    @property
    def byConvention(self) -> dict[str, Mapping[str, Measurement]]:
        """All measurements by convention and key, those of the comparison first."""
        return {self.convention: self.measurements, **self.others}

    @property
    def name(self) -> str:
        """The title of the pair, which is the structure's name, or both names where they differ."""
        return pairTitle((self.reference.name, self.test.name))

    @cached_property
    def convention(self) -> str:
        """The convention of the settings."""
        return self.settings.convention

    @cached_property
    def sides(self) -> tuple[Mapping, Mapping]:
        """What files say of both structures, such as name, file, volume, and the name of a segment's segmentation."""
        return describe(self.reference), describe(self.test)

    @cached_property
    def dimension(self) -> int:
        """3 for surfaces in space, 2 for contours in a plane."""
        return (self.test if self.reference.isEmpty else self.reference).dimension

    @cached_property
    def surface(self) -> str:
        """The kind of the measured surfaces."""
        return " and ".join(dict.fromkeys((self.reference.surfaceKind, self.test.surfaceKind)))

    @cached_property
    def method(self) -> str:
        """How distances were computed, "" if none were."""
        return self.distances.method if self.distances else ""

    @property
    def hasGeometry(self) -> bool:
        """Whether the comparison still has its structures, not only their numbers."""
        return not self.kept

    @cached_property
    def hasSides(self) -> bool:
        """Whether both boundaries are closed, so that inside and outside can be distinguished."""
        if self.distances is not None:
            return self.distances.hasSides
        asking = ("SignedMean", "VolumeReference", "VolumeTest")
        return all(self.measurements[key].status != "undefined" for key in asking if key in self.measurements)

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
        """The values alone by key, in each measurement's own unit; NaN if undefined, and infinite if infinite."""
        return {key: measurement.value for key, measurement in self.items()}

    @cached_property
    def worstPlaces(self) -> tuple[Place, ...]:
        """The patches that lie farther apart than the first tolerance, worst first; () without distances.

        With a dose, each place has its dose, by which the settings may rank them.
        """
        if self.distances is None or not self.settings.tolerances:
            return ()
        if self.dose is not None:
            isRanked = self.settings.placesBy == "dose"
            most = None if isRanked else places.MOST
            return places.withDose(worstPlaces(self.distances, self.settings.tolerances[0], most), self.dose, isRanked)
        return worstPlaces(self.distances, self.settings.tolerances[0])

    def requireGeometry(self) -> None:
        """Raise InputError when only the numbers of the comparison are left."""
        if not self.hasGeometry:
            raise InputError("This comparison was kept without its structures, which are needed here.")

    def localDistances(self, side: str) -> np.ndarray:
        """Return the bidirectional local distance (n,) in mm at every point of the measured surface of one side.

        side: "reference" or "test". The comparison must have distances.
        """
        reference, test = (direction.surface for direction in self.knownDistances.directions)
        longest = longestSide((self.reference, self.test), self.settings.meshSpacing)
        return localDistancesAt(*((reference, test) if side == "reference" else (test, reference)), longest)

    def conventions(
        self, keys: str | Iterable[str] | None = None, *, atEdge: bool = False
    ) -> dict[str, dict[str, Reported]]:
        """Return the values that other tools would have reported: convention -> key -> Reported.

        Keys that a tool does not report are missing; the KeyError lists those that exist. keys: one convention or
        several, in any case; all when None. atEdge: whether to keep the image edge, as the tools find it in the files.
        Otherwise background continues beyond the edge, so that a number does not depend on how the image was cropped.
        Raises ValueError for an unknown convention.
        """
        self.requireGeometry()
        return conventions((self.reference, self.test), self.settings, keys, atEdge, self.measurements, self.distances)

    def which(self, value: str | float, key: str | None = None) -> list[Candidate]:
        """Return the numbers that this pair may be given, the nearest to a value first, each with how it comes about.

        They are those of all tools, of other percentiles and tolerances, of one direction alone, and of common mistakes
        such as a spacing that is ignored. What agrees with all digits comes first. value: as text, in which 3.70 is
        more exact than 3.7, or as a number. key: what the value is said to be, such as HD95; None for any measurement.
        Raises ValueError for a value that is not a finite number, and for an unknown key.
        """
        return which(value, self._reportable, key)

    @cached_property
    def _reportable(self) -> tuple[Candidate, ...]:
        """All numbers that this pair may be given."""
        self.requireGeometry()
        return tuple(numbersOf((self.reference, self.test), self.settings))

    @cached_property
    def summary(self) -> str:
        """The outcome in one sentence."""
        return summary.sentence(self)

    def record(self, *, hasPlaces: bool = True) -> Self:
        """Return the comparison without its geometry, so small that many can be kept.

        hasPlaces: whether to keep the worst places, which take a while to find.
        """
        if not self.hasGeometry:
            return self
        kept = {name: getattr(self, name) for name in KEPT if hasPlaces or name != "worstPlaces"}
        reference, test = (identify(side) for side in self.sides)
        none: dict[str, Any] = {"distances": None, "hazard": None, "criticals": (), "dose": None}
        return replace(self, reference=reference, test=test, kept={"worstPlaces": None, **kept}, **none)

    def toFrame(self):
        """Return the measurements as a pandas DataFrame, one row per key, whose columns are those of a Measurement.

        Raises InputError if pandas is not installed; nothing else of the library needs it.
        """
        return frameOf(self)

    def toDictionary(self) -> dict:
        """Return the comparison as plain values, as in metrics.json; values that are not finite are null."""
        reference, test = self.sides
        told = {name: getattr(self, name) or None for name in ("grid", "extent", "surface", "convention", "method")}
        values = {"schema": SCHEMA, "reference": reference, "test": test, **told, "measurements": self.measurements}
        values |= {"findings": asDictionaries(self.findings), "slices": self.slices, "summary": self.summary}
        listed = {name: getattr(self, name) for name in LISTED}
        return toPlain(values | {name: found for name, found in listed.items() if found is not None})

    @classmethod
    def fromDictionary(cls, data: Mapping, settings: Settings | None = None) -> Self:
        """Return the comparison, without geometry, from the result of toDictionary(), for example in a saved scene.

        settings: of it, if known. Raises ValueError for any other data.
        """
        try:
            sides = tuple(dict(data[which]) for which in REFERENCE_AND_TEST)
            listed = {name: fromPlain(kind, data[name]) for name, kind in LISTED.items() if name in data}
            kept: dict[str, Any] = {
                "sides": sides,
                "worstPlaces": listed.pop("worstPlaces", ()),
                "dimension": 2 if "areaMm2" in sides[0] else 3,
            }
            kept |= {name: data[name] or "" for name in ("surface", "convention", "method")}
            if data["summary"]:  # else it is made of the measurements
                kept["summary"] = data["summary"]
            measurements, texts = {}, metricsOf(data["convention"])
            for key, one in data["measurements"].items():
                found = findMetric(key)
                if found is not None:  # with the texts of its convention
                    found = replace(found, metrics=(texts.get(found.metric.key, found.metric),))
                measurements[key] = Measurement.fromDictionary(key, one, found)
            return cls(
                reference=identify(sides[0]),
                test=identify(sides[1]),
                settings=cast(Settings, settings),
                measurements=measurements,
                findings=tuple(map(asFinding, data["findings"])),
                grid=dict(data["grid"]) if data["grid"] else None,
                distances=None,
                slices=fromPlain(tuple[SliceRow, ...], data.get("slices", ())),
                extent=dict(data["extent"]) if data.get("extent") else None,
                kept=kept,
                **listed,
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError("This is not a comparison that SegmentMetrics saved.") from error


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
        The structure to compare in files that hold several, in any spelling; `label` then applies to images alone.
    criticals : Mapping[str, Comparable] | None, optional
        Critical structures for the hazard family by name, of the same kinds as reference and test; in a file that holds
        several, the one of that name. Only those named in the settings are used, in any spelling, or all if the
        settings name none.
    dose : DoseLike | None, optional
        The dose of a plan: a Dose, an image in Gy, or a file (RTDOSE or an image in Gy). The family dose is then
        measured, too.
    ignore : str | int | None, optional
        The label of the reference that marks what nobody annotated, as in the settings: its number, or in a file its
        name.
    spacing : float | Sequence[float] | None, optional
        Voxel size of an array in mm, one number if it is the same along all axes; required for arrays. An array is
        indexed [k, j, i], like those of SimpleITK.GetArrayFromImage; spacing, origin and direction are in the order i,
        j, k, like those that the image's GetSpacing, GetOrigin and GetDirection return.
    origin : Sequence[float] | None, optional
        LPS position of an array's first voxel in mm, 0 when None.
    direction : Sequence | np.ndarray | None, optional
        Direction of an array: a matrix, or its numbers row by row, whose columns are the unit vectors along i, j, k;
        the axes of the patient when None.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        For input that is not a structure, and for a label that neither side has.
    """
    settings, plan = adapt(settings, ignore, dose)
    toImage = partial(inputs.imageFromArray, spacing=spacing, origin=origin, direction=direction)
    organs = {} if criticals is None else asCriticals(criticals, settings, toImage)
    inputs.requireUse(toImage.keywords, reference, test, *(criticals or {}).values())
    if label is not None:
        label = inputs.positiveLabel(label)
    if name is not None:
        asName(name)  # raises for anything but a name or a number
        if not any(isinstance(one, (str, os.PathLike)) for one in (reference, test)):
            raise InputError("The name chooses a structure of a file, and neither the reference nor the test is one.")
    structures = [
        asStructure(one, which, label, settings, name=name, toImage=toImage)
        for one, which in zip((reference, test), REFERENCE_AND_TEST)
    ]
    if settings.ignore is not None and not any(one.ignored for one in structures):  # else a case has left it out
        structures = leaveOut(structures, marksIn(reference, settings, toImage), settings.ignore)
    pair = Pair(structures[0], structures[1], settings, organs, dose=plan)
    # None of a side that has it
    others = [() if s.isUnlabeled else s.otherLabels for s in pair.given]
    if label is not None and None not in others and any(others):
        has, hasTest = (inputs.listLabels(labels or ()) for labels in others)
        raise InputError(f"Neither side has the label {label}: the reference has {has}, the test {hasTest}.")
    return comparePair(pair)


def adapt(
    settings: Settings | None, ignore: str | int | None = None, dose: DoseLike | None = None
) -> tuple[Settings, Dose | None]:
    """Return settings, the defaults for None, and the dose that goes with them.

    ignore: a label of the reference that they then ignore. With a dose they ask for its family.
    """
    settings = asSettings(settings)
    if ignore is not None:
        settings = settings.replace(ignore=ignore)
    if dose is None:
        return settings, None
    plan = dose if isinstance(dose, Dose) else readDose(dose)
    return settings.replace(families=(*settings.families, "dose")), plan


def ask(pair: Pair) -> tuple[Asked, ...]:
    """Return what a pair's settings ask for; the pair then knows what that needs, and what the convention replaces."""
    asked, needs, _ = _ask(pair.settings)
    pair.replaced = QUANTITIES.get(pair.settings.convention, {})
    pair.needed |= needs
    return asked


# the pairs of a case have the same settings
@lru_cache
def _ask(settings: Settings) -> tuple[tuple[Asked, ...], frozenset[str], bool]:
    """Return what settings ask for, what that needs, and whether they ask for numbers of all labels together."""
    asked = tuple(select(settings, metricsOf(settings.convention).values()))
    needs: frozenset[str] = frozenset().union(*(one.metric.needs for one in asked))
    return asked, needs, bool(select(settings, MULTI_LABEL))


def measureTogether(pairs: Iterable[Pair]) -> None:
    """Measure the distances of pairs that need them; those of small pairs on one grid are quicker together."""
    groups: dict[tuple, list[Pair]] = {}
    for pair in pairs:
        ask(pair)
        if pair.needsDistances:
            groups.setdefault((pair.settings.tolerances, pair.settings.percentiles), []).append(pair)
    for limits, members in groups.items():
        if len(members) > 1:
            together = surfacedistances.measureTogether([pair.boundaries for pair in members], *limits)
            for pair, distances in zip(members, together, strict=True):
                pair.distances = distances


def comparePair(pair: Pair) -> Comparison:
    """Return all measurements and findings of a pair."""
    families = pair.settings.families
    if pair.settings.surface == "displayed" and any(s.givenSurface is None and not s.isEmpty for s in pair.structures):
        raise InputError("Displayed surfaces come from Slicer: compare segments with SegmentMetricsLib.mrml.")
    asked = ask(pair)
    if "slices" in families:
        pair.need(*needsOfProfile(pair))
    if "instances" in families:
        pair.need("lesions")
    if not pair.needed.isdisjoint(("dosesInside", "bothDoses")):
        pair.need("doseCurves")
    values = {one.key: measure(pair, one) for one in asked}
    rows: tuple[SliceRow, ...] = ()
    missing = []
    if "slices" in families:
        try:
            if pair.extent.problem:
                raise Undefined(pair.extent.problem)
            rows = pair["profileRows"]
        except Undefined as undefined:
            missing = [Finding.of(Kind.NO_PROFILE, reason=str(undefined))]
    lesions = None if pair.findIfNeeded("lesions") is None else listOf(pair, LESION_DISTANCES in values)
    pair.forget(MANY_ELEMENTS)
    found = pairfindings.findAll(pair, values)
    pair.forget()
    return Comparison(
        *pair.given,
        settings=pair.settings,
        measurements=values,
        findings=(*found, *missing),
        grid=_gridOf(pair),
        distances=pair.findIfNeeded("distances", "signedDistances"),
        hazard=None if pair.findIfNeeded("hazardErrors") is None else pair["hazardField"],
        similarity=pair.findIfNeeded("sliceSimilarity"),
        slices=rows,
        extent=pair.extent.description,
        share=multilabel.measureShare(pair) if _ask(pair.settings)[2] else None,
        criticals=tuple(structure for structure, _ in pair.criticals),
        lesions=lesions,
        gaps=pair.findIfNeeded("gaps"),
        spurs=pair.findIfNeeded("spurs"),
        dose=pair.dose,
        doseCurves=pair.findIfNeeded("doseCurves"),
    )


def _gridOf(pair: Pair) -> dict | None:
    """Return a description of the grid on which what was asked for is counted, None if nothing is."""
    counts, errors = pair.findIfNeeded("exactCounts"), pair.findIfNeeded("hazardErrors")
    hasOutside = errors is not None or (counts is not None and counts.voxels is not None)
    isOfAreas = pair.dimension == 2 and all(s.samplingGrid is None for s in pair.structures)
    if not hasOutside and (isOfAreas or not pair.areVoxelsCounted):
        return None
    grid = {**pair.overlapGrid.grid.describe(), "choice": pair.overlapGrid.why}
    if hasOutside:
        evaluated = pair.evaluatedGrid
        size = round(pair.evaluatedVoxels)
        grid["evaluated"] = {**evaluated.grid.describe(), "voxels": size, "choice": evaluated.why}
    return grid


def describe(structure: Structure) -> dict:
    """Return the name, file and volume (area) of a structure, for files, and of a segment its segmentation's name."""
    volume = 0.0 if structure.isEmpty else structure.surface.volume
    key = "volumeMm3" if structure.dimension == 3 else "areaMm2"
    node = {} if structure.nodeID is None else {SEGMENTATION: structure.segmentation}
    return {"name": structure.name, "file": structure.file, key: finite(volume), **node}


def identify(side: Mapping) -> Structure:
    """Return what the result of describe() says of where a structure comes from: its Identity alone."""
    node = {"nodeID": "", "segmentation": side[SEGMENTATION]} if SEGMENTATION in side else {}
    return cast(Structure, Identity(side["name"], file=side["file"], **node))


def identityOf(sides: Sequence[Mapping]) -> list[str]:
    """Return the names of two structures, then their files, or segmentations of segments. sides: as of describe()."""
    return [*(one["name"] for one in sides), *(str(one["file"] or one.get(SEGMENTATION, "")) for one in sides)]


def pandasOrError():
    """Return the module pandas. Raises InputError if it is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise InputError("A frame needs pandas, which is not installed.") from error
    return pandas


def frameOf(measurements: Mapping[str, Measurement]):
    """Return measurements as a data frame, one row per key."""
    rows = {key: {name: getattr(measurement, name) for name in TOLD} for key, measurement in measurements.items()}
    return pandasOrError().DataFrame.from_dict(rows, orient="index", columns=TOLD).rename_axis("key")
