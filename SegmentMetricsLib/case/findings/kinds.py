"""The kinds of findings, and findings: sentences with a kind."""

from __future__ import annotations

import enum


class Severity(enum.Enum):
    """How much a finding matters."""

    ALARM = "no number means anything until somebody has looked"
    ADVICE = "what to know about the numbers"


class Kind(enum.Enum):
    """Kinds of findings that code depends on, with severity and sentence template; all others are remarks."""

    # identity of the two structures
    NO_OVERLAP = (
        Severity.ALARM,
        "The two contours do not overlap at all: check that they are the same structure of the same patient.",
    )
    HARDLY_OVERLAP = (
        Severity.ALARM,
        "The two contours hardly overlap (Dice {dice}): check that they are the same structure.",
    )
    OTHER_STRUCTURE = (
        Severity.ALARM,
        "{name} of the {other} lies in the same place as the {which}, with a Dice of {best} instead of {dice}: check "
        "which structures belong together. If these two do, pair them {pair}.",
    )
    EXCHANGED = (
        Severity.ALARM,
        "{first} and {second} are exchanged: each lies in the place of the other. Check the names and the orientation "
        "of both files; if only the names are wrong, pair them {pairs}.",
    )
    SAME = Severity.ALARM, "The reference and the test are the same structure of the same file."
    OTHER_PATIENTS = Severity.ALARM, "The files belong to different patients: their patient IDs differ."
    OTHER_CODES = (
        Severity.ALARM,
        "The two structures have terminology codes {what}: check that they are the same.",
    )
    OTHER_LABELS = (
        Severity.ALARM,
        "The two images have one label each, but different ones ({reference} and {test}): check that they are the same "
        "structure.",
    )
    # side of the patient
    OTHER_SIDES = Severity.ALARM, "Check the sides: {reference} is compared with {test}."
    MIRRORED = (
        Severity.ALARM,
        "The test matches better when mirrored left-right (Dice {best} instead of {dice}): "
        "check the sides, or the orientation in the file's header.",
    )
    # location
    OTHER_FRAMES = (
        Severity.ALARM,
        "The files have different frames of reference ({reference} and {test}): "
        "distances are meaningful only if the images are registered.",
    )
    IMAGES_APART = (
        Severity.ALARM,
        "The two images lie apart in space: they have different frames of reference, or one has a wrong header.",
    )
    OTHER_UNITS = (
        Severity.ALARM,
        "Scaled by {scale}, the {which} would match the other contour: its file may be in another unit ({units}).",
    )
    OTHER_AXES = (
        Severity.ALARM,
        "The test would lie on the reference with the signs of x and y changed: one of the files may be in RAS "
        "coordinates, the other one in LPS.",
    )
    # missing numbers
    ONE_EMPTY = Severity.ADVICE, "Only one contour exists: {reason}."
    NOTHING_COMPARED = Severity.ADVICE, "Nothing was compared: {reason}."
    NO_PROFILE = Severity.ADVICE, "There is no per-slice profile: {reason}."
    REMARK = Severity.ADVICE, "{text}"

    def __init__(self, severity: Severity, sentence: str):
        self.severity, self.sentence = severity, sentence


class Finding(str):
    """A sentence that a reader of the numbers should know; a plain string to code that does not need its kind.

    kind: see Kind. reason: why numbers are missing, in the words of their measurements, if the sentence states that;
    else "".
    """

    kind: Kind
    reason: str

    def __new__(cls, text: str, kind: Kind = Kind.REMARK, reason: str = "") -> Finding:
        finding = super().__new__(cls, text)
        finding.kind, finding.reason = kind, reason
        return finding

    @staticmethod
    def of(kind: Kind, **blanks: object) -> Finding:
        """Return a finding of a kind. blanks: the values for the placeholders in its sentence."""
        return Finding(kind.sentence.format(**blanks), kind, str(blanks.get("reason", "")))

    @property
    def isAlarm(self) -> bool:
        return self.kind.severity == Severity.ALARM
