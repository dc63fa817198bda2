"""The outcome of one comparison as plain, small data: what tables, files and other processes need of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .measurements import Measurement
from .places import Place


@dataclass(frozen=True)
class Record:
    """All numbers of one pair and how they came about, without the geometry.

    reference, test: name, file and volume of the structures. grid: the voxels on which overlap was counted, None if it
    was not. surface: on which surfaces was measured. method: how distances were found, "" if none were. worstPlaces:
    where the boundaries lie farther apart than the first tolerance.
    """

    reference: Mapping
    test: Mapping
    grid: Mapping | None
    surface: str
    convention: str
    method: str
    subdivisions: int
    measurements: Mapping[str, Measurement]
    findings: tuple[str, ...]
    worstPlaces: tuple[Place, ...] = ()

    @property
    def name(self) -> str:
        """What the pair is called: the structure's name, or both names where they differ."""
        names = dict.fromkeys((self.reference["name"], self.test["name"]))
        return " / ".join(names)

    def toDictionary(self) -> dict:
        """Return the record as in metrics.json: plain values, null for those that are not finite."""
        return {
            "reference": dict(self.reference),
            "test": dict(self.test),
            "grid": dict(self.grid) if self.grid else None,
            "surface": self.surface,
            "convention": self.convention,
            "method": self.method or None,
            "subdivisions": self.subdivisions,
            "measurements": {key: measurement.toDictionary() for key, measurement in self.measurements.items()},
            "findings": list(self.findings),
            "worstPlaces": [place.toDictionary() for place in self.worstPlaces],
        }
