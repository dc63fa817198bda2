"""The places where a setting that a finding recommends can be changed: command line, Python and Slicer's panel."""

from __future__ import annotations

import re

# What whereToSet() returns; names of structures in it may contain parentheses. First with a place in the panel.
_PLACES = (
    (re.compile(r"\(--(?:(?!\(--).)*?; in Python (?:(?!\(--).)*?; in Slicer ([^()]*)\)"), r"(\1)"),
    (re.compile(r"\(--[^()]*; in Python [^()]*\)"), "(in scripts only)"),
)


def whereToSet(option: str, argument: str, panel: str = "") -> str:
    """Return the places where a setting can be changed, in parentheses, to end a piece of advice.

    option: of the command line, with its value. argument: the same in Python. panel: its place in Slicer, "" if the
    panel does not have it.
    """
    places = [option, f"in Python {argument}", *([f"in Slicer {panel}"] if panel else [])]
    return f"({'; '.join(places)})"


def inPanel(text: str) -> str:
    """Return a text for users of Slicer's panel: of the places that whereToSet() names, only that in the panel."""
    for pattern, replacement in _PLACES:
        text = pattern.sub(replacement, text)
    return text
