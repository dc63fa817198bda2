"""The nodes of results: found again or made, and named; each run fills those of the one before."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager

from . import folders
from .nodes import asNode, nodesOf, oneChange

# on result nodes: their name before a number was added or the user renamed them
NAME_ATTRIBUTE = "SegmentMetrics.Name"
# characters that Slicer removes from file names, including all letters outside ASCII
LEFT_OUT = re.compile(r"[^A-Za-z0-9 \-_.()$!~#'%^{}]")
# Maximum length of a name in characters. It contains the names of two structures or segmentations; file systems allow
# 255 characters in a file name, Windows 260 in a whole path.
LONGEST = 120


@contextmanager
def resultNode(className: str, owner, role: str, name: str, *, scene, given=None) -> Iterator:
    """Yield the node of a result, the given one, that of an earlier run or a new one, and put it into its folder."""
    node = asNode(given, className) or folders.findResult(owner, role, scene) or scene.AddNewNodeByClass(className)
    with oneChange(node):
        nameResult(node, name)
        yield node
    folders.addToFolder({role: node}, owner)


def nameResult(node, name: str) -> None:
    """Name a result node, with a number if another one's file would have the same name and replace it.

    The user may have renamed a node that was given this name before. A long name is shortened in the middle.
    """
    if node.GetAttribute(NAME_ATTRIBUTE) == name:
        return
    others = nodesOf(node.GetScene(), "vtkMRMLStorableNode")
    taken = {fileName(other.GetName()) for other in others if other is not node}
    half = LONGEST // 2
    short = name if len(name) <= LONGEST else f"{name[:half]}...{name[-half:]}"
    candidates = itertools.chain([short], (f"{short}_{number}" for number in itertools.count(1)))
    node.SetName(next(candidate for candidate in candidates if fileName(candidate) not in taken))
    node.SetAttribute(NAME_ATTRIBUTE, name)


def fileName(name: str | None) -> str:
    """Return Slicer's file name for a node in lower case, because some file systems ignore case."""
    return LEFT_OUT.sub("", name or "").strip().lower()
