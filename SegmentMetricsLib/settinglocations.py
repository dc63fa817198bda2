"""Where a setting that a finding advises is found: on the command line, in Python and in Slicer's panel."""

from __future__ import annotations


def whereToSet(option: str, argument: str, panel: str = "") -> str:
    """Return where to set something, in brackets, for the end of a piece of advice.

    option: of the command line, with its value. argument: the same in Python. panel: where it is in Slicer, "" where
    the panel does not have it.
    """
    places = [option, f"in Python {argument}", *([f"in Slicer {panel}"] if panel else [])]
    return f"({'; '.join(places)})"
