"""Overlap of several labels at once: one number for two label maps or segmentations.

Source: Crum, Camara & Hill, IEEE Transactions on Medical Imaging 2006, doi:10.1109/TMI.2006.880587.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..base.errors import InputError, Undefined, requireKind
from ..base.texts import commaSeparated
from ..metrics.measurement import Measurement, measurementOf, statusOf
from ..metrics.multilabel import GIVEN, WEIGHTINGS
from ..metrics.pair import Pair
from ..metrics.registry import MULTI_LABEL
from ..model import inputs, naming
from ..model.ignored import separateIgnored
from ..model.inputs import ToImage
from ..model.structure import Structure
from ..model.structures import BOTH_EMPTY, REFERENCE_AND_TEST, Pairing, pairByName
from ..model.structureset import StructureSet
from ..settings.settings import Settings, asSettings
from .given import Comparable, asStructure, readAs

# What compareLabels() takes as a reference or a test.
Labels = SimpleITK.Image | np.ndarray | str | os.PathLike | Iterable[Structure] | Mapping[str, Comparable]


@dataclass(frozen=True)
class Share:
    """The volumes of one label in mm3 (areas in mm2 for contours); memberships count in part.

    both: of the intersection. reference, test: of the label in each segmentation. problem: why these are unknown, "" if
    they are known.
    """

    name: str
    both: Fraction = Fraction(0)
    reference: Fraction = Fraction(0)
    test: Fraction = Fraction(0)
    problem: str = ""

    @property
    def either(self) -> Fraction:
        return self.reference + self.test - self.both

    def toDictionary(self) -> dict:
        """Return the share as plain values for files."""
        sizes = {key: float(getattr(self, key)) for key in ("reference", "test", "both")}
        return {"name": self.name, **({"problem": self.problem} if self.problem else sizes)}


@dataclass(frozen=True)
class MultiLabel(Mapping):
    """The overlap of all labels of two segmentations: a mapping from keys like "JACml" to measurements.

    shares: the volumes of each label that the measurements are computed from.
    """

    measurements: Mapping[str, Measurement]
    shares: tuple[Share, ...]
    # A function of the face, as tables stand above cases.
    _repr_html_: ClassVar[Callable[..., str]]

    def __getitem__(self, key: str) -> Measurement:
        return measurementOf(key, self.measurements)

    def __str__(self) -> str:
        return ", ".join(map(str, self.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.measurements)

    def __len__(self) -> int:
        return len(self.measurements)

    def toDictionary(self) -> dict:
        """Return the overlap as plain values, as in metrics.json; values that are not finite are null."""
        return {
            "labels": [share.toDictionary() for share in self.shares],
            "measurements": {key: measurement.toDictionary() for key, measurement in self.items()},
        }


def compareLabels(
    reference: Labels,
    test: Labels,
    settings: Settings | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    spacing: float | Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    direction: Sequence | np.ndarray | None = None,
) -> MultiLabel:
    """Return DICEml and JACml of all labels of two segmentations, each in [0, 1], as a MultiLabel.

    Labels are paired by name. A label that one side lacks is empty there; labels that are empty on both sides are
    ignored. Keys without a suffix weight all labels equally, "_volume" by 1 / volume in the reference, "_given" by the
    given weights. Measurements are undefined, with a reason, when no label has any volume; those by volume also when
    the reference lacks a label of the test.

    Parameters
    ----------
    reference, test : Labels
        A SimpleITK label map or an array of labels, which are named `Label 5`; the path of a file or folder; several
        Structures; or name -> one of what compare() takes, such as {"Liver": image}.
    settings : Settings | None, optional
        What to measure and how; None means the defaults.
    weights : Mapping[str, float] | None, optional
        Name, in any spelling, -> weight > 0, instead of the settings' label weights; labels without one have weight 1.
    spacing, origin, direction : optional
        Of arrays, as for compare(); the spacing is required for them.

    Returns
    -------
    MultiLabel

    Raises
    ------
    ValueError
        For input that is not a segmentation or has no names, and for weights of unknown labels.
    """
    settings = asSettings(settings)
    toImage = partial(inputs.imageFromArray, spacing=spacing, origin=origin, direction=direction)
    members = (given.values() if isinstance(given, Mapping) else [given] for given in (reference, test))
    inputs.requireUse(toImage.keywords, *(member for side in members for member in side))
    if weights is not None:
        settings = settings.replace(labelWeights=weights)
    sides = _structures(reference, "reference", settings, toImage), _structures(test, "test", settings, toImage)
    pairing = pairByName(*separateIgnored(sides, settings.ignore), isAlonePair=False)
    return combineShares((measureShare(Pair(one, other, settings)) for one, other in pairing.pairs), pairing, settings)


def measureShare(pair: Pair) -> Share:
    """Return the volumes of both structures of a pair and of their intersection."""
    name = pair.reference.name
    if pair.emptinessOfMemberships == BOTH_EMPTY:
        return Share(name)
    try:
        counts = pair.exactCounts
    except Undefined as undefined:
        return Share(name, problem=str(undefined))
    size = Fraction(pair.overlapGrid.grid.voxelSize) if counts.unit == "voxel" else Fraction(1)
    return Share(name, counts.truePositive * size, counts.reference * size, counts.test * size)


def _sizeOf(structure: Structure, settings: Settings) -> Fraction:
    if (soft := structure.memberships) is not None and settings.threshold is None:
        return Fraction(float(soft.voxels.sum(dtype=float))) * Fraction(soft.grid.voxelSize)
    if structure.mask is not None:
        return structure.mask.count * Fraction(structure.mask.grid.voxelSize)
    if not structure.isEmpty and not structure.surface.isClosed:
        raise Undefined(f"the surface {structure.surface.whyNoInside}, so it has no inside")
    return Fraction(0 if structure.isEmpty else structure.surface.volume)


def combineShares(
    shares: Iterable[Share], pairing: Pairing, settings: Settings, failures: Mapping[str, str] | None = None
) -> MultiLabel:
    """Return the overlap of all labels of two sets.

    shares: of the pairs. pairing: with the structures that only one set has. failures: reasons by name for structures
    that could not be compared. Raises ValueError for weights of unknown labels.
    """
    shares = list(shares)
    for side, structures in zip(REFERENCE_AND_TEST, (pairing.unmatchedReference, pairing.unmatchedTest), strict=True):
        for structure in structures:
            try:
                size: dict[str, Any] = {side: _sizeOf(structure, settings)}
            except Undefined as undefined:
                size = {"problem": str(undefined)}
            shares.append(Share(structure.name, **size))
    shares += [Share(name, problem=f"cannot be compared: {reason}") for name, reason in (failures or {}).items()]
    names = [share.name for share in shares]
    given = {naming.onlyMeant(n, names, "label {} to give a weight to"): weight for n, weight in settings.labelWeights}
    weightings: dict[str, Callable[[Share], Fraction]] = {
        "": lambda share: Fraction(1),
        "volume": lambda share: 1 / share.reference,
        GIVEN: lambda share: Fraction(given.get(share.name, 1.0)),
    }
    measurements = {}
    for metric in [one for one in MULTI_LABEL if one.key in settings.metrics] or MULTI_LABEL:
        weighting = next(name for name in reversed(WEIGHTINGS) if metric.key.endswith(name))
        if weighting == GIVEN and not given:
            continue
        try:
            value, reason = metric.function(jaccard(shares, weightings[weighting])), ""
        except Undefined as undefined:
            value, reason = math.nan, str(undefined)
        told = metric.ask(settings)[0].describe(metric.unit)
        measurements[metric.key] = Measurement(
            metric.key, value=value, unit=metric.unit, status=statusOf(value), reason=reason, **told
        )
    return MultiLabel(measurements, tuple(shares))


def jaccard(shares: Iterable[Share], weight: Callable[[Share], Fraction]) -> Fraction:
    """Return the weighted sum of the intersections of labels over that of their unions, exact, in [0, 1].

    Raises Undefined for a label with a problem, for an infinite weight, and when no label has any volume.
    """
    both = either = Fraction(0)
    infinite = []
    for share in shares:
        if share.problem:
            raise Undefined(f"{share.name}: {share.problem}")
        if not share.either:
            continue
        try:
            factor = weight(share)
        except ZeroDivisionError:
            infinite.append(share.name)
            continue
        both += factor * share.both
        either += factor * share.either
    if infinite:
        raise Undefined(f"without volume in the reference the weight is infinite: {commaSeparated(infinite)}")
    if not either:
        raise Undefined("no label has any volume")
    return both / either


def _structures(given: object, which: str, settings: Settings, toImage: ToImage) -> Sequence[Structure]:
    if isinstance(given, Mapping):
        for name in given:
            requireKind(name, str, f"The name of a label of the {which}", "a text")
        return [
            asStructure(one, f"{which} {name}", None, settings, False, name, toImage).rename(name)
            for name, one in given.items()
        ]
    if isinstance(given, (str, os.PathLike)):
        return readAs(given, settings)
    if isinstance(given, (np.ndarray, SimpleITK.Image)):
        try:
            given = toImage(given) if isinstance(given, np.ndarray) else given
            if (memberships := inputs.membershipsOf(given, settings.membershipMaximum)) is not None:
                return [inputs.structureFromMemberships("Label 1", memberships, settings.threshold)]
            labels = inputs.labelMasks(given, inputs.HALF)
        except InputError as error:
            raise InputError(f"The {which} cannot be compared. {error}") from error
        return [Structure(f"Label {label}", mask) for label, mask in labels.items()]
    if isinstance(given, Iterable):
        given = StructureSet.of(given)
        nameless = {vtkPolyData: "mesh", np.ndarray: "array", SimpleITK.Image: "image"}
        if kind := next((kind for one in given for type_, kind in nameless.items() if isinstance(one, type_)), ""):
            raise InputError(
                f"Labels are paired by name, but no {kind} of the {which} has one: name them, as in "
                f"{{'Liver': {kind}}}."
            )
        return given.having(asStructure(one, which, None, settings) for one in given)
    kinds = "a label map, an array, a path or several structures"
    raise InputError(f"The {which} must be {kinds}, not {type(given).__name__}.")
