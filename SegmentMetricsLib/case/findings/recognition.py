"""Recognition of findings and reasons from their text, which is all that files and saved scenes contain.

Only this module depends on wording. When a sentence is reworded, its former wording must still be recognized, because
existing files contain it.
"""

from __future__ import annotations

import re

from ...base.errors import Cause
from ...families.signed.formulas import NO_BOUNDARY
from ...geometry.surfaces import NOT_CLOSED
from ...model.structures import WITHOUT_INSIDE
from .kinds import Finding, Kind


def _patternOf(sentence: str, end: str = "") -> re.Pattern:
    """Return a pattern that matches a sentence template, with a named group for each placeholder.

    end: a pattern of optional text after the sentence.
    """
    # non-greedy, else "is not" would belong to the first placeholder of "the {which} {why}"
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.*?)", re.escape(sentence)) + end, flags=re.DOTALL)


# Sentences of earlier versions.
FORMER = (
    (
        Kind.OTHER_UNITS,
        "The {which} would lie on the other contour if it were {scale} times as large: its file may be in another unit "
        "({units}).",
    ),
)
_SENTENCES = (*((kind, kind.sentence) for kind in Kind if kind != Kind.REMARK), *FORMER)
_KINDS = [(kind, _patternOf(sentence)) for kind, sentence in _SENTENCES]
# reasons for numbers of other tools may be followed by a remark
_WITHOUT_INSIDE, _NO_BOUNDARY = (_patternOf(reason, "(?:;.*)?") for reason in (WITHOUT_INSIDE, NO_BOUNDARY))


def asFinding(text: str) -> Finding:
    """Return a sentence as a finding: unchanged if it is one already, else with the kind recognized from its text."""
    if isinstance(text, Finding):
        return text
    for kind, pattern in _KINDS:
        if found := pattern.fullmatch(text):
            return Finding(text, kind, found.groupdict().get("reason", ""))
    return Finding(text)


def causeOf(reason: str) -> Cause | None:
    """Return the cause recognized from the reason for a measurement without a value, None for other reasons."""
    if found := _WITHOUT_INSIDE.fullmatch(reason):
        return Cause.NOT_CLOSED if found["why"] == NOT_CLOSED else Cause.DEFECT
    return Cause.NO_BOUNDARY if _NO_BOUNDARY.fullmatch(reason) else None
