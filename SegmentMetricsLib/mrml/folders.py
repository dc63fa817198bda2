"""Folders of results in the scene: one per pair, identified by the compared segments and never by a node's name.

What is called a comparison here may be what stands in for it: a ComparedPair, ComparedObservers, or None for all pairs.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ..model.structure import Identity
from .colors import COLORS_ATTRIBUTE
from .nodes import asNode, asScene, nodesOf, oneChange, requireComparison

ROLE_ATTRIBUTE = "SegmentMetrics.Role"
PAIR_ATTRIBUTE = "SegmentMetrics.Pair"
# on a result: its own ID; in a copy of the node, this attribute is copied and no longer matches
NODE_ATTRIBUTE = "SegmentMetrics.Node"
# node references to the compared segmentations: Slicer updates them when scenes are merged
REFERENCE_ROLES = {"reference": "SegmentMetrics.Reference", "test": "SegmentMetrics.Test"}
# on result nodes: their name before a number was added or the user renamed them
NAME_ATTRIBUTE = "SegmentMetrics.Name"
# characters that Slicer removes from file names, including all letters outside ASCII
LEFT_OUT = re.compile(r"[^A-Za-z0-9 \-_.()$!~#'%^{}]")
# Maximum length of a name in characters. It contains the names of two structures or segmentations; file systems allow
# 255 characters in a file name, Windows 260 in a whole path.
LONGEST = 120


@dataclass(frozen=True)
class ComparedPair:
    """Two whole segmentations."""

    reference: Identity
    test: Identity


@dataclass(frozen=True)
class ComparedObservers:
    """Several observers, by name."""

    observers: tuple[str, ...]


def allPairs(comparisons: Sequence, scene) -> ComparedPair | None:
    """Return the two segmentations, perhaps removed since, that all comparisons have in common; None if they do not."""
    sides = []
    for side in REFERENCE_ROLES:
        nodeIDs = {getattr(getattr(comparison, side), "nodeID", None) for comparison in comparisons}
        nodeID = nodeIDs.pop() if len(nodeIDs) == 1 else None
        if not nodeID:
            return None
        node = scene.GetNodeByID(nodeID)
        sides.append(Identity(node.GetName() if node else "a deleted segmentation", nodeID=nodeID))
    return ComparedPair(*sides)


@contextmanager
def resultNode(className: str, owner, role: str, name: str, *, scene, given=None) -> Iterator:
    """Yield a result's node, given, of an earlier run or new, and put it into its folder. scene: None is Slicer's."""
    scene = asScene(scene)
    node = asNode(given, className) or findResult(owner, role, scene) or scene.AddNewNodeByClass(className)
    with oneChange(node):
        nameResult(node, name)
        yield node
    addToFolder({role: node}, owner)


def nameResult(node, name: str) -> None:
    """Name a result node, with a number if another one's file would have the same name and replace it.

    The user may have renamed a node that was given this name before. A long name is shortened in the middle.
    """
    if node.GetAttribute(NAME_ATTRIBUTE) == name:
        return
    others = nodesOf(node.GetScene(), "vtkMRMLStorableNode")
    taken = {fileNameOfNode(other.GetName()) for other in others if other is not node}
    half = LONGEST // 2
    short = name if len(name) <= LONGEST else f"{name[:half]}...{name[-half:]}"
    candidates = itertools.chain([short], (f"{short}_{number}" for number in itertools.count(1)))
    node.SetName(next(candidate for candidate in candidates if fileNameOfNode(candidate) not in taken))
    node.SetAttribute(NAME_ATTRIBUTE, name)


def fileNameOfNode(name: str | None) -> str:
    """Return Slicer's file name for a node in lower case, because some file systems ignore case."""
    return LEFT_OUT.sub("", name or "").strip().lower()


def addToFolder(nodes: Mapping, comparison) -> None:
    """Put result nodes, by role such as "table", into the folder of their pair, where the next run finds them.

    The former folder of a node is removed if it is then empty. One call for many nodes is much faster.
    """
    scene = next(iter(nodes.values())).GetScene()
    hierarchy, name = _hierarchy(scene), folderName(comparison, scene)
    before = {resultFolder(node) for node in nodes.values()} - {0}
    folder = next((item for item in map(resultFolder, _results(comparison, scene)) if item), 0)
    if not folder:
        folder = hierarchy.CreateFolderItem(hierarchy.GetSceneItemID(), name)
        hierarchy.SetItemAttribute(folder, ROLE_ATTRIBUTE, "folder")
    elif hierarchy.GetItemName(folder) != name:
        hierarchy.SetItemName(folder, name)
    nodeIDs = _nodeIDs(comparison, scene)
    for role, node in nodes.items():
        node.SetAttribute(ROLE_ATTRIBUTE, role)
        node.SetAttribute(NODE_ATTRIBUTE, node.GetID())
        node.SetAttribute(PAIR_ATTRIBUTE, _pairKey(comparison))
        for reference, nodeID in zip(REFERENCE_ROLES.values(), nodeIDs, strict=True):
            node.SetNodeReferenceID(reference, nodeID)
        item = hierarchy.GetItemByDataNode(node) or hierarchy.CreateItem(folder, node)
        if hierarchy.GetItemParent(item) != folder:
            hierarchy.SetItemParent(item, folder)
    for other in before - {folder}:
        removeIfEmpty(other, scene)


def isResult(node, *roles: str) -> bool:
    """Return whether a node is a result with one of these roles, and not a copy that the user made of one.

    Slicer copies a node's attributes but not its references, and IDs change when scenes are merged.
    """
    if node.GetAttribute(ROLE_ATTRIBUTE) not in roles:
        return False
    isOriginal = node.GetAttribute(NODE_ATTRIBUTE) == node.GetID()
    return isOriginal or any(node.GetNodeReferenceID(role) for role in REFERENCE_ROLES.values())


def findResult(comparison, role: str, scene):
    """Return the node with a role that an earlier run of the same pair left in the scene, or None."""
    return findResults(comparison, scene).get(role)


def findResults(comparison, scene) -> dict:
    """Return all nodes that earlier runs of the same pair left in the scene, by role."""
    found: dict = {}
    for node in _results(comparison, scene):
        found.setdefault(node.GetAttribute(ROLE_ATTRIBUTE), node)
    return found


def folderName(comparison, scene) -> str:
    """Return the name of a pair's folder, with the names of the segmentations that are in the scene."""
    if comparison is None:
        return "Segment Metrics: all pairs"
    if isinstance(comparison, ComparedObservers):
        return f"Segment Metrics: observers {', '.join(comparison.observers)}"
    names = []
    for one, nodeID in zip((comparison.reference, comparison.test), _nodeIDs(comparison, scene), strict=True):
        what = one.name if one.segmentID else "all structures"
        names.append(f"{what} of {scene.GetNodeByID(nodeID).GetName()}" if nodeID else one.name)
    return f"Segment Metrics: {names[0]} (reference) vs {names[1]} (test)"


def removeResults(comparison, *, scene=None) -> None:
    """Remove all results of a pair from the scene: its folder, the nodes in it and their color nodes.

    Parameters
    ----------
    comparison
        The comparison whose results are removed.
    scene : optional
        The scene of the nodes; None means Slicer's.
    """
    if comparison is not None:  # which stands for all pairs
        requireComparison(comparison)
    scene = asScene(scene)
    removeNodes(_results(comparison, scene), scene)


def removeNodes(nodes: Iterable, scene) -> None:
    """Remove nodes from the scene together with all that belongs to them, such as display nodes and empty folders."""
    hierarchy, leftovers = _hierarchy(scene), Leftovers()
    for node in nodes:
        leftovers.note(node)
        # outside the application, items are not removed together with their node
        if item := hierarchy.GetItemByDataNode(node):
            hierarchy.RemoveItem(item, False, False)
        for helper in helpersOf(node):  # first: a map that loses its display node was not removed by the user
            scene.RemoveNode(helper)
        scene.RemoveNode(node)
    leftovers.remove(scene)


def helpersOf(node) -> list:
    """Return the display and storage nodes of a node that are in the scene."""
    helpers = []
    if node.IsA("vtkMRMLDisplayableNode"):
        helpers += [node.GetNthDisplayNode(n) for n in range(node.GetNumberOfDisplayNodes())]
    if node.IsA("vtkMRMLStorableNode"):
        helpers += [node.GetNthStorageNode(n) for n in range(node.GetNumberOfStorageNodes())]
    return [helper for helper in helpers if helper is not None]


def removeUnusedColors(scene, among: Collection[str | None] | None = None) -> None:
    """Remove color nodes of results that no display node uses: all, or those among these IDs."""
    used = {node.GetColorNodeID() for node in nodesOf(scene, "vtkMRMLDisplayNode")}
    for node in nodesOf(scene, "vtkMRMLColorNode"):
        isOurs = node.GetAttribute(COLORS_ATTRIBUTE) and (among is None or node.GetID() in among)
        if isOurs and node.GetID() not in used:
            scene.RemoveNode(node)


def _hierarchy(scene):
    import slicer

    return slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)


def _results(comparison, scene) -> list:
    key, nodeIDs = _pairKey(comparison), _nodeIDs(comparison, scene)
    found = [
        node
        for node in scene.GetNodes()
        if node.GetAttribute(PAIR_ATTRIBUTE) == key
        and [node.GetNodeReferenceID(role) for role in REFERENCE_ROLES.values()] == nodeIDs
    ]
    if any(nodeIDs):
        return found
    # without segmentations, neither results nor copies have references, so only the ID attribute tells them apart
    return [node for node in found if node.GetAttribute(NODE_ATTRIBUTE) in (None, node.GetID())]


def resultFolder(node) -> int:
    """Return the item of the pair's folder that contains a node, or 0 if none does (the user may have moved it)."""
    hierarchy = _hierarchy(node.GetScene())
    item = hierarchy.GetItemByDataNode(node)
    parent = hierarchy.GetItemParent(item) if item else 0
    return parent if parent and hierarchy.GetItemAttribute(parent, ROLE_ATTRIBUTE) == "folder" else 0


def removeIfEmpty(folder: int, scene) -> None:
    """Remove the folder of a pair, given by its item, if it is empty."""
    hierarchy = _hierarchy(scene)
    isFolder = hierarchy.GetItemAttribute(folder, ROLE_ATTRIBUTE) == "folder"  # item IDs may be reused
    if isFolder and hierarchy.GetNumberOfItemChildren(folder) == 0:
        hierarchy.RemoveItem(folder)


def _nodeIDs(comparison, scene) -> list[str | None]:
    """Return the IDs of the two segmentations, None for what is in none, or in one that is not in the scene."""
    if comparison is None or isinstance(comparison, ComparedObservers):
        return [None, None]
    given = [one.nodeID for one in (comparison.reference, comparison.test)]
    return [nodeID if nodeID and scene.GetNodeByID(nodeID) is not None else None for nodeID in given]


def _pairKey(comparison) -> str:
    """Return a key for the compared segments within their segmentations or files; it is the same for every run."""
    if comparison is None:
        return "all pairs"
    if isinstance(comparison, ComparedObservers):
        return json.dumps(["observers", *comparison.observers])
    return json.dumps([_structureKey(comparison.reference), _structureKey(comparison.test)])


def _structureKey(structure) -> list:
    if structure.segmentID:
        return ["segment", structure.segmentID]  # a segment can be renamed
    if structure.nodeID is not None:
        return ["segmentation"]
    return ["file", structure.file or "", structure.label or None, structure.name]


class Leftovers:
    """Records what belongs to results that are about to be removed, and removes it afterwards, but no other results."""

    def __init__(self) -> None:
        self.forget()

    def note(self, node) -> None:
        """Record what belongs to a result that is about to be removed from its scene."""
        helpers = helpersOf(node)
        self.helpers |= {helper.GetID() for helper in helpers}
        self.colors |= {helper.GetColorNodeID() for helper in helpers if helper.IsA("vtkMRMLDisplayNode")}
        self.items |= {resultFolder(node)} - {0}

    def forget(self) -> None:
        self.helpers: set[str] = set()  # IDs of display and storage nodes
        self.colors: set[str | None] = set()  # IDs of the color nodes that these display nodes use
        self.items: set[int] = set()  # of the subject hierarchy

    def remove(self, scene) -> None:
        """Remove the recorded helpers that no remaining node uses, and recorded folders that are empty."""
        # nodes that are removed here may be noted in turn
        helpers, items, colors = self.helpers, self.items, self.colors
        self.forget()
        if not (helpers or items):
            return
        used = {helper.GetID() for node in scene.GetNodes() for helper in helpersOf(node)}
        for helper in filter(None, map(scene.GetNodeByID, helpers - used)):
            scene.RemoveNode(helper)
        for item in items:
            removeIfEmpty(item, scene)
        removeUnusedColors(scene, colors)
