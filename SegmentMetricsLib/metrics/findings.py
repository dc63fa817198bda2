"""Findings: sentences that a reader of the numbers should know about a pair, each of a kind."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..base.texts import SettingPlace, Statement, kindNamed
from ..model.structure import Structure

# Other units that files may be in, by their size in mm; and the intersection over union of the boxes above which
# structures are alike in another unit or with other axes.
UNITS, ALIKE = {10: "cm instead of mm", 1000: "m instead of mm"}, 0.3


class Severity(enum.Enum):
    """How much a finding matters."""

    ALARM = "to be checked before the numbers can be used"
    ADVICE = "good to know when reading the numbers"


def _alarm(*sentences: str) -> tuple[Severity, tuple[str, ...]]:
    return Severity.ALARM, sentences


def _advice(*sentences: str) -> tuple[Severity, tuple[str, ...]]:
    return Severity.ADVICE, sentences


class Kind(enum.Enum):
    """Kinds of findings that code depends on, with severity and templates of sentences; all others are remarks."""

    # identity of the two structures
    NO_OVERLAP = _alarm(
        "The two contours do not overlap at all: check that they are the same structure of the same patient."
    )
    HARDLY_OVERLAP = _alarm("The two contours hardly overlap (Dice {dice}): check that they are the same structure.")
    OTHER_STRUCTURE = _alarm(
        "{name} of the {other} lies in the same place as the {which}, with a Dice of {best} instead of {dice}: check "
        "which structures belong together.",
        "If these two do, pair them {pair}.",
    )
    EXCHANGED = _alarm(
        "{first} and {second} are exchanged: each lies in the place of the other.",
        "Check the names and the orientation of both files; if only the names are wrong, pair them {pairs}.",
    )
    SAME = _alarm("The reference and the test are the same structure of the same file.")
    OTHER_PATIENTS = _alarm("The files belong to different patients: their patient IDs differ.")
    OTHER_CODES = _alarm("The two structures have terminology codes {what}: check that they are the same.")
    OTHER_LABELS = _alarm(
        "The two images have one label each, but different ones ({reference} and {test}): check that they are the same "
        "structure."
    )
    # side of the patient
    OTHER_SIDES = _alarm("Check the sides: {reference} is compared with {test}.")
    MIRRORED = _alarm(
        "The test matches better when mirrored left-right (Dice {best} instead of {dice}): "
        "check the sides, or the orientation in the file's header."
    )
    # location
    OTHER_FRAMES = _alarm(
        "The files have different frames of reference ({reference} and {test}): "
        "distances are meaningful only if the images are registered."
    )
    IMAGES_APART = _alarm(
        "The two images do not overlap in space: they have different frames of reference, or one has a wrong header."
    )
    OTHER_UNITS = _alarm(
        "Scaled by {scale}, the {which} would match the other contour: its file may be in another unit ({units})."
    )
    OTHER_AXES = _alarm(
        "The test would lie on the reference with the signs of x and y changed: one of the files may be in RAS "
        "coordinates, the other in LPS."
    )
    CROPPED = _advice(
        "The image of the {which} begins where the other one does but is smaller ({sizes} voxels), and the {which} "
        "would match better farther inside: if the image was cropped, its origin was not moved with it."
    )
    OTHER_DOSE_FRAME = _alarm(
        "The dose has another frame of reference than {what}: its numbers mean something only if the images are "
        "registered."
    )
    OTHER_DOSE_PATIENT = _alarm("The dose belongs to another patient than {what}: the patient IDs differ.")
    OUTSIDE_DOSE = _alarm(
        "{share} % of {what} lies outside the region of the dose: the numbers are those of the part inside."
    )
    DOSE_IN_CGY = _alarm(
        "Half of {what} receives {dose} Gy or more: the dose is likely in cGy, its numbers 100 times too large."
    )
    # the image under the contours
    IMAGE_OF_OTHER = _alarm(
        "The image under the contours, {image}, belongs to another patient than {names}: their patient IDs differ."
    )
    IMAGE_IN_OTHER_FRAME = _alarm(
        "The image under the contours, {image}, has another frame of reference than {names}: it shows the anatomy at "
        "the contours only if the two are registered."
    )
    IMAGE_ELSEWHERE = _alarm(
        "The image under the contours, {image}, does not reach {names}: check that it is the one they were drawn on."
    )
    IMAGE_IN_PART = _advice("The image under the contours, {image}, does not cover all of {names}.")
    # missing numbers
    ONE_EMPTY = _advice("Only one contour exists: {reason}.")
    NOTHING_COMPARED = _advice("Nothing was compared: {reason}.")
    NO_PROFILE = _advice("There is no per-slice profile: {reason}.")
    PLAN_OF_ONE = _advice(
        "The plan was made for one of the two contours: for the other one, another plan would have been made."
    )
    # advice on a setting
    COUNTED_IN_PART = _advice(
        "Voxels of the {which} count in part, by their membership, for overlap and agreement, while surfaces and "
        "distances are those at 0.5; with a threshold, such as 0.5, every voxel counts fully or not at all {where}."
    )
    LOW_PERCENTILE = _advice(
        "HD{percentile} is the distance within which {percentile} % of the boundary lies; the percentile that leaves "
        "out the farthest {rest} % is {better} {where}."
    )
    SEVERAL_PARTS = _advice(
        "{parts}: numbers for the whole can hide a part that is missing or added.{told}",
        "The family Lesions lists them one by one {where}.",
    )
    MOSTLY_ONE_KIND = _advice(
        "More than {most} % of the evaluated grid ({grid}) is {place}: {keys} near {best} best whatever the test is.",
        "Prefer KAP or ARI, which are corrected for chance.",
    )
    IMAGE_MOSTLY_ONE_KIND = _advice(
        "More than {most} % of the evaluated grid ({grid}) is {place}: {keys} near {best} best whatever the test is.",
        "Prefer KAP or ARI, which are corrected for chance; or choose the grid union {where}, or one volume "
        "for all cases.",
    )
    SMALL = _advice(
        "The reference is small: {extent} of the image's {size} along one axis.",
        "Overlap changes much with few voxels, so prefer distances.",
    )
    ENDS_DECIDE = _advice(
        "The Hausdorff distance of {distance} mm lies at the {end} end, which only one of the contours reaches; where "
        "both are, they lie at most about {within} mm apart.",
        "If it is arbitrary where the structure ends (spinal cord, esophagus, vessels), choose the common extent "
        "{where}.",
    )
    PROPOSED = _advice(
        "{reference} of the reference and {test} of the test may be the same structure{sides}: they overlap with a "
        "Dice of {dice}.",
        "If they are, pair them {where}.",
    )
    REMARK = _advice("{text}")

    def __init__(self, severity: Severity, sentences: tuple[str, ...]):
        self.severity, self.sentences = severity, sentences


class Finding(Statement):
    """What a reader of the numbers should know; kind and values say the same to programs."""

    kind: Kind = Kind.REMARK

    @classmethod
    def remark(cls, *sentences: str) -> Finding:
        """Return a remark of several sentences, of which other structures may share some."""
        return cls(" ".join(sentences), sentences=sentences)

    @property
    def reason(self) -> str:
        """Why numbers are missing, in the words of their measurements, if the sentence states that, else ""."""
        return self.values.get("reason", "")

    @property
    def isAlarm(self) -> bool:
        return self.kind.severity == Severity.ALARM


def asFinding(given: str | Mapping[str, Any]) -> Finding:
    """Return a finding as it is, or from the result of toDictionary(), for example in a file.

    A plain sentence is a remark, and so is a kind of another version.
    """
    if isinstance(given, Finding):
        return given
    if isinstance(given, str):
        return Finding(given)
    kind = kindNamed(given["kind"], Kind)
    values = {
        name: SettingPlace(**value) if isinstance(value, Mapping) else value for name, value in given["values"].items()
    }
    return Finding(given["text"], kind or Kind.REMARK, values if kind else {})


class Split(NamedTuple):
    """Alarms, which make all numbers doubtful, and all other findings, both in order."""

    alarms: list[Finding]
    advice: list[Finding]


def splitAlarms(findings: Iterable[str | Mapping[str, Any]]) -> Split:
    """Return findings, or what files have of them, by whether they are alarms."""
    found = Split([], [])
    for finding in map(asFinding, findings):
        (found.alarms if finding.isAlarm else found.advice).append(finding)
    return found


def alarmsFirst(findings: Iterable[str]) -> tuple[Finding, ...]:
    """Return findings in the order in which they are listed everywhere: alarms first."""
    return tuple(sorted(map(asFinding, findings), key=lambda finding: finding.kind.severity == Severity.ADVICE))


def asDictionaries(findings: Iterable[str]) -> list[dict[str, Any]]:
    """Return findings as plain values for files."""
    return [asFinding(finding).toDictionary() for finding in findings]


def otherUnits(reference: Structure, test: Structure) -> Iterator[Finding]:
    """Yield findings that two structures would match if the file of one of them were in another unit."""
    boxes = np.array(test.box), np.array(reference.box)
    for scale, units in UNITS.items():
        for which, one, other in (("test", *boxes), ("reference", *boxes[::-1])):
            if shareOfBoxes(scale * one, other) > ALIKE:
                yield Finding.of(Kind.OTHER_UNITS, which=which, scale=scale, units=units)


def shareOfBoxes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the intersection over union of boxes, each given by its lowest and highest corner (..., 2, 3)."""
    common = np.minimum(first[..., 1, :], second[..., 1, :]) - np.maximum(first[..., 0, :], second[..., 0, :])
    both = np.prod(np.maximum(common, 0), axis=-1)
    either = sum(np.prod(np.ptp(boxes, axis=-2), axis=-1) for boxes in (first, second)) - both
    return np.divide(both, either, out=np.zeros(np.shape(either)), where=either > 0)
