"""What sentences mean that were kept as text: files and saved scenes have nothing else.

Nowhere else do words decide. A sentence that is said in other words from now on has to be recognized in its former
ones, too, as there are files that have them.
"""

from __future__ import annotations

import re

from .errors import Cause
from .findingkinds import Finding, Kind
from .geometry.surfaces import NOT_CLOSED
from .metrics.signed import NO_BOUNDARY
from .structures import WITHOUT_INSIDE


def _patternOf(sentence: str, end: str = "") -> re.Pattern:
    """Return what matches a sentence whatever stands in its blanks, each of which is a group.

    end: a pattern of what may follow.
    """
    # as short as can be, else "is not" would belong to the first blank of "the {which} {why}"
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.*?)", re.escape(sentence)) + end, flags=re.DOTALL)


# In what words earlier versions said the same.
FORMER = (
    (
        Kind.OTHER_UNITS,
        "The {which} would lie on the other contour if it were {scale} times as large: its file may be in another unit "
        "({units}).",
    ),
)
_SENTENCES = (*((kind, kind.sentence) for kind in Kind if kind != Kind.REMARK), *FORMER)
_KINDS = [(kind, _patternOf(sentence)) for kind, sentence in _SENTENCES]
# numbers of other tools may have a remark behind their reason
_WITHOUT_INSIDE, _NO_BOUNDARY = (_patternOf(reason, "(?:;.*)?") for reason in (WITHOUT_INSIDE, NO_BOUNDARY))


def asFinding(text: str) -> Finding:
    """Return a sentence as a finding: as it is if it is one that knows its kind, else with the kind that it reads."""
    if isinstance(text, Finding):
        return text
    for kind, pattern in _KINDS:
        if found := pattern.fullmatch(text):
            return Finding(text, kind, found.groupdict().get("reason", ""))
    return Finding(text)


def causeOf(reason: str) -> Cause | None:
    """Return the cause of which the reason tells that a measurement has no value, None for any other reason."""
    if found := _WITHOUT_INSIDE.fullmatch(reason):
        return Cause.NOT_CLOSED if found["why"] == NOT_CLOSED else Cause.DEFECT
    return Cause.NO_BOUNDARY if _NO_BOUNDARY.fullmatch(reason) else None
