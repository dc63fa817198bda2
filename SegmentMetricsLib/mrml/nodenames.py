"""Names of the nodes of results: Slicer saves every node to a file of its name, and the last one of a name wins."""

from __future__ import annotations

import itertools
import re

# on nodes of results: what they were called before a number was added, or before somebody renamed them
NAME_ATTRIBUTE = "SegmentMetrics.Name"
# what Slicer leaves out of file names: among others all letters that are not Latin
LEFT_OUT = re.compile(r"[^A-Za-z0-9 \-_.()$!~#'%^{}]")
# Letters of a name at most. Names of two structures or segmentations are in it, and file systems end at 255 letters for
# a file, Windows at 260 with all of its folders.
LONGEST = 120


def nameResult(node, name: str) -> None:
    """Give a node of results a name, followed by a number if another node's file would be called the same.

    Of a long name the middle is left out: what the node shows is said at the end.
    A node that was given this name before keeps the one that it has now: it may be the user's.
    """
    if node.GetAttribute(NAME_ATTRIBUTE) == name:
        return
    others = (other for other in node.GetScene().GetNodes() if other is not node)
    taken = {fileName(other.GetName()) for other in others if other.IsA("vtkMRMLStorableNode")}
    half = LONGEST // 2
    short = name if len(name) <= LONGEST else f"{name[:half]}...{name[-half:]}"
    candidates = itertools.chain([short], (f"{short}_{number}" for number in itertools.count(1)))
    node.SetName(next(candidate for candidate in candidates if fileName(candidate) not in taken))
    node.SetAttribute(NAME_ATTRIBUTE, name)


def fileName(name: str | None) -> str:
    """Return what Slicer calls the file of a node, as file systems that take a for A compare it."""
    return LEFT_OUT.sub("", name or "").strip().lower()
