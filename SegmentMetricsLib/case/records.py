"""The outcome of one comparison as small, plain data: the part that tables, files and other processes need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..base.errors import InputError
from ..conventions.chosen import metricsOf
from ..metrics.dose import DoseCurves
from ..metrics.findings import asDictionaries, asFinding
from ..metrics.instances import Lesion
from ..metrics.measurement import Measurement
from ..metrics.registry import findMetric
from ..metrics.similarity import Similarity
from ..metrics.slices import SliceRow
from ..metrics.topology import Run
from ..model.naming import pairTitle
from ..model.structures import SEGMENTATION
from ..settings.settings import Settings
from .multilabel import Share
from .places import Place

# Of the plain values of a record.
SCHEMA = 2
# Lists that some families make, by the names of their fields, with what is in them.
LISTS: dict[str, Any] = {"lesions": Lesion, "gaps": Run, "spurs": Run}


@dataclass(frozen=True)
class Record:
    """All numbers of one pair and their context, without the geometry.

    reference, test: name, file and volume of the structures, and the name of a segment's segmentation. grid: the grid
    on which overlap was counted, None if it was not. surface: the kind of the measured surfaces. method: how distances
    were computed, "" if none were. worstPlaces: where the boundaries lie farther apart than the first tolerance, None
    if nobody asked for them. summary: the outcome in one sentence. similarity: the slice-by-slice agreement of the
    contours, None if it was not measured. slices: the per-slice profile, () if it was not requested or does not exist.
    extent: a description of the common extent, None if the whole structures were compared. lesions: what happened to
    each, those that need a look first; gaps, spurs: stretches of center lines that the test lacks, or has too many;
    doseCurves: the dose-volume histograms of both; None if they were not measured. settings, share, others: as of a
    Comparison; a record that is read from a file has none.
    """

    reference: Mapping
    test: Mapping
    grid: Mapping | None
    surface: str
    convention: str
    method: str
    measurements: Mapping[str, Measurement]
    findings: tuple[str, ...]
    worstPlaces: tuple[Place, ...] | None = ()
    summary: str = ""
    similarity: Similarity | None = None
    slices: tuple[SliceRow, ...] = ()
    extent: Mapping | None = None
    lesions: tuple[Lesion, ...] | None = None
    gaps: tuple[Run, ...] | None = None
    spurs: tuple[Run, ...] | None = None
    doseCurves: DoseCurves | None = None
    settings: Settings | None = None
    share: Share | None = None
    others: Mapping[str, Mapping[str, Measurement]] = field(default_factory=dict)

    @property
    def byConvention(self) -> dict[str, Mapping[str, Measurement]]:
        """All measurements by convention and key, those of the comparison first."""
        return {self.convention: self.measurements, **self.others}

    @property
    def name(self) -> str:
        """The title of the pair: the structure's name, or both names where they differ."""
        return pairTitle((self.reference["name"], self.test["name"]))

    @property
    def dimension(self) -> int:
        """3 for surfaces in space, 2 for contours in a plane."""
        return 2 if "areaMm2" in self.reference else 3

    @property
    def hasSides(self) -> bool:
        """Whether both boundaries are closed, so that inside and outside can be distinguished."""
        asking = ("SignedMean", "VolumeReference", "VolumeTest")
        return all(self.measurements[key].status != "undefined" for key in asking if key in self.measurements)

    def toDictionary(self) -> dict:
        """Return the record as plain values, as in metrics.json; values that are not finite are null."""
        values = {
            "schema": SCHEMA,
            "reference": dict(self.reference),
            "test": dict(self.test),
            "grid": dict(self.grid) if self.grid else None,
            "extent": dict(self.extent) if self.extent else None,
            "surface": self.surface,
            "convention": self.convention,
            "method": self.method or None,
            "measurements": {key: measurement.toDictionary() for key, measurement in self.measurements.items()},
            "findings": asDictionaries(self.findings),
            "slices": [row.toDictionary() for row in self.slices],
            "summary": self.summary,
        }
        if self.worstPlaces is not None:
            values["worstPlaces"] = [place.toDictionary() for place in self.worstPlaces]
        if self.similarity is not None:
            values["similarity"] = self.similarity.toDictionary()
        for name in LISTS:
            if (listed := getattr(self, name)) is not None:
                values[name] = [one.toDictionary() for one in listed]
        if self.doseCurves is not None:
            values["doseCurves"] = self.doseCurves.toDictionary()
        return values

    @staticmethod
    def fromDictionary(data: Mapping) -> Record:
        """Return the record from the result of toDictionary(), for example one that was saved with a scene.

        Raises ValueError for any other data.
        """
        try:
            lists: dict[str, Any] = {
                name: tuple(map(kind.fromDictionary, data[name])) for name, kind in LISTS.items() if name in data
            }
            return Record(
                reference=dict(data["reference"]),
                test=dict(data["test"]),
                grid=dict(data["grid"]) if data["grid"] else None,
                surface=data["surface"],
                convention=data["convention"],
                method=data["method"] or "",
                measurements={key: _measurement(key, m, data["convention"]) for key, m in data["measurements"].items()},
                findings=tuple(map(asFinding, data["findings"])),
                worstPlaces=tuple(Place.fromDictionary(place) for place in data.get("worstPlaces", ())),
                summary=data["summary"],
                slices=tuple(SliceRow.fromDictionary(row) for row in data.get("slices", ())),
                extent=dict(data["extent"]) if data.get("extent") else None,
                similarity=Similarity.fromDictionary(data["similarity"]) if "similarity" in data else None,
                **lists,
                doseCurves=DoseCurves.fromDictionary(data["doseCurves"]) if "doseCurves" in data else None,
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError("This is not a comparison that SegmentMetrics saved.") from error


def identityOf(pair) -> list[str]:
    """Return the names of the two structures, then where they are from: their files, or the segmentations of segments.

    pair: a Record, or another object with the mappings `reference` and `test`.
    """
    both = (pair.reference, pair.test)
    return [*(one["name"] for one in both), *(str(one["file"] or one.get(SEGMENTATION, "")) for one in both)]


def _measurement(key: str, data: Mapping, convention: str) -> Measurement:
    """Return a measurement with the texts of its convention."""
    found = findMetric(key)
    if found is not None:
        found = found._replace(metrics=(metricsOf(convention).get(found.metric.key, found.metric),))
    return Measurement.fromDictionary(key, data, found)
