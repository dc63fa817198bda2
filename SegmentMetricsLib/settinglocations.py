"""The places where a setting that a finding recommends can be changed: command line, Python and Slicer's panel."""

from __future__ import annotations


def whereToSet(option: str, argument: str, panel: str = "") -> str:
    """Return the places where a setting can be changed, in parentheses, to end a piece of advice.

    option: of the command line, with its value. argument: the same in Python. panel: its place in Slicer, "" if the
    panel does not have it.
    """
    places = [option, f"in Python {argument}", *([f"in Slicer {panel}"] if panel else [])]
    return f"({'; '.join(places)})"
