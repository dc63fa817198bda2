"""Where results live in the scene: one folder per pair, found again by what was compared and never by a node's name.

What shows many pairs at once is in a folder of its own: there, the comparison that the functions take is what
allPairs() returns.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .colors import COLORS_ATTRIBUTE

ROLE_ATTRIBUTE = "SegmentMetrics.Role"
PAIR_ATTRIBUTE = "SegmentMetrics.Pair"
# on a result: its ID, which a copy that somebody makes of it takes over with the other attributes
NODE_ATTRIBUTE = "SegmentMetrics.Node"
# node references to the compared segmentations: Slicer keeps them right when scenes are merged
REFERENCE_ROLES = {"reference": "SegmentMetrics.Reference", "test": "SegmentMetrics.Test"}


@dataclass(frozen=True)
class Compared:
    """A segment, or a whole segmentation, in place of the structures of a comparison. source: as of a Structure."""

    name: str
    source: Mapping[str, str]
    file: str = ""


@dataclass(frozen=True)
class ComparedPair:
    """Two segments, or two whole segmentations; stands for their comparison where results are looked for."""

    reference: Compared
    test: Compared


def allPairs(comparisons: Sequence, scene) -> ComparedPair | None:
    """Return the two segmentations that all comparisons are about; None if they are not about the same two.

    They may have been removed from the scene since.
    """
    sides = []
    for side in REFERENCE_ROLES:
        sources = [getattr(getattr(comparison, side), "source", {}) for comparison in comparisons]
        nodeIDs = {source.get("nodeID") for source in sources}
        nodeID = nodeIDs.pop() if len(nodeIDs) == 1 else None
        if nodeID is None:
            return None
        node = scene.GetNodeByID(nodeID)
        sides.append(Compared(node.GetName() if node else "a deleted segmentation", {"nodeID": nodeID}))
    return ComparedPair(*sides)


def addToFolder(node, comparison, role: str) -> None:
    """Put a result's node into its pair's folder and mark it, as addAllToFolder() does with many.

    role: what the node is within the pair's results, for example "table".
    """
    addAllToFolder({role: node}, comparison)


def addAllToFolder(nodes: Mapping, comparison) -> None:
    """Put results' nodes into their pair's folder and mark them, so that the next run of the same pair finds them.

    nodes: of one scene, by role: what each is within the pair's results, for example "table". A node that was a result
    of another pair moves, and the other pair's folder goes when that leaves it empty. Many nodes together take much
    less time than one by one.
    """
    scene = next(iter(nodes.values())).GetScene()
    before = {resultFolder(node) for node in nodes.values()} - {0}
    folder = folderItem(comparison, scene)
    hierarchy = _hierarchy(scene)
    for role, node in nodes.items():
        node.SetAttribute(ROLE_ATTRIBUTE, role)
        node.SetAttribute(NODE_ATTRIBUTE, node.GetID())
        _setPair(node, comparison)
        item = hierarchy.GetItemByDataNode(node) or hierarchy.CreateItem(folder, node)
        if hierarchy.GetItemParent(item) != folder:
            hierarchy.SetItemParent(item, folder)
    for other in before - {folder}:
        removeIfEmpty(other, scene)


def isResult(node, *roles: str) -> bool:
    """Return whether a node is a result with one of these roles, and no copy that somebody made of one for himself.

    Slicer copies a node's attributes, but not what it refers to; IDs change when scenes are merged.
    """
    if node.GetAttribute(ROLE_ATTRIBUTE) not in roles:
        return False
    isOriginal = node.GetAttribute(NODE_ATTRIBUTE) == node.GetID()
    return isOriginal or any(node.GetNodeReferenceID(role) for role in REFERENCE_ROLES.values())


def findResult(comparison, role: str, scene):
    """Return the node with a role that an earlier run of the same pair left in the scene, or None."""
    return findResults(comparison, scene).get(role)


def findResults(comparison, scene) -> dict:
    """Return all nodes by role that earlier runs of the same pair left in the scene."""
    found: dict = {}
    for node in _results(comparison, scene):
        found.setdefault(node.GetAttribute(ROLE_ATTRIBUTE), node)
    return found


def folderItem(comparison, scene) -> int:
    """Return the subject hierarchy item of a pair's folder, made when the scene has none, with the current names."""
    hierarchy = _hierarchy(scene)
    folder = next((item for item in map(resultFolder, _results(comparison, scene)) if item), 0)
    if not folder:
        folder = hierarchy.CreateFolderItem(hierarchy.GetSceneItemID(), folderName(comparison, scene))
        hierarchy.SetItemAttribute(folder, ROLE_ATTRIBUTE, "folder")
    elif hierarchy.GetItemName(folder) != folderName(comparison, scene):
        hierarchy.SetItemName(folder, folderName(comparison, scene))
    return folder


def folderName(comparison, scene) -> str:
    """Return what a pair's folder is called."""
    if comparison is None:
        return "Segment Metrics: all pairs"
    names = [_fullName(compared, scene) for compared in (comparison.reference, comparison.test)]
    return f"Segment Metrics: {names[0]} (reference) vs {names[1]} (test)"


def _fullName(compared, scene) -> str:
    """Return a structure's name with that of its segmentation, if that is in the scene."""
    nodeID = _nodeID(compared, scene)
    if not nodeID:
        return compared.name
    isSegment = "segmentID" in compared.source
    return f"{compared.name if isSegment else 'all structures'} of {scene.GetNodeByID(nodeID).GetName()}"


def removeResults(comparison, scene=None) -> None:
    """Remove everything that was made for a pair from the scene: its folder, the nodes in it and their colors."""
    from .headless import ensureScene

    scene = ensureScene() if scene is None else scene
    nodes = _results(comparison, scene)
    folders = {resultFolder(node) for node in nodes} - {0}
    removeNodes(nodes, scene)
    for folder in folders:
        removeIfEmpty(folder, scene)
    removeUnusedColors(scene)


def removeNodes(nodes: Iterable, scene) -> None:
    """Remove nodes from the scene together with what only serves them: items, display nodes, storage nodes."""
    hierarchy = _hierarchy(scene)
    for node in nodes:
        # outside the application nobody removes items and display nodes along with their node
        if item := hierarchy.GetItemByDataNode(node):
            hierarchy.RemoveItem(item, False, False)
        for helper in helpersOf(node):
            scene.RemoveNode(helper)
        scene.RemoveNode(node)


def helpersOf(node) -> list:
    """Return the nodes that only serve a node: its display and storage nodes, as far as they are in the scene."""
    helpers = []
    if node.IsA("vtkMRMLDisplayableNode"):
        helpers += [node.GetNthDisplayNode(n) for n in range(node.GetNumberOfDisplayNodes())]
    if node.IsA("vtkMRMLStorableNode"):
        helpers += [node.GetNthStorageNode(n) for n in range(node.GetNumberOfStorageNodes())]
    return [helper for helper in helpers if helper is not None]


def removeUnusedColors(scene, among: Collection[str | None] | None = None) -> None:
    """Remove color nodes of distance maps whose models are gone; a color node is not deleted along with its model.

    among: IDs of those to look at, None for all.
    """
    used = {node.GetColorNodeID() for node in _nodesOf(scene, "vtkMRMLDisplayNode")}
    for node in _nodesOf(scene, "vtkMRMLColorNode"):
        isOurs = node.GetAttribute(COLORS_ATTRIBUTE) and (among is None or node.GetID() in among)
        if isOurs and node.GetID() not in used:
            scene.RemoveNode(node)


def _hierarchy(scene):
    import slicer

    return slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)


def _nodesOf(scene, className: str) -> list:
    # the scene's own lookup by class walks through all nodes for every single one
    return [node for node in scene.GetNodes() if node.IsA(className)]


def _results(comparison, scene) -> list:
    """All nodes of a scene that were made for the same pair."""
    key = _pairKey(comparison)
    nodeIDs = [_nodeID(structure, scene) for structure in _structures(comparison)]
    found = [
        node
        for node in _nodesOf(scene, "vtkMRMLNode")
        if node.GetAttribute(PAIR_ATTRIBUTE) == key
        and [node.GetNodeReferenceID(role) for role in REFERENCE_ROLES.values()] == nodeIDs
    ]
    if any(nodeIDs):
        return found
    # without segmentations to refer to, copies refer to as many
    return [node for node in found if node.GetAttribute(NODE_ATTRIBUTE) in (None, node.GetID())]


def resultFolder(node) -> int:
    """Return the item of the pair's folder that a node is in, 0 when it is in none (or the user moved it elsewhere)."""
    hierarchy = _hierarchy(node.GetScene())
    item = hierarchy.GetItemByDataNode(node)
    parent = hierarchy.GetItemParent(item) if item else 0
    return parent if parent and hierarchy.GetItemAttribute(parent, ROLE_ATTRIBUTE) == "folder" else 0


def removeIfEmpty(folder: int, scene) -> None:
    """Remove the folder of a pair, given by its item, if nothing is in it any more."""
    hierarchy = _hierarchy(scene)
    isFolder = hierarchy.GetItemAttribute(folder, ROLE_ATTRIBUTE) == "folder"  # numbers may come to mean others
    if isFolder and hierarchy.GetNumberOfItemChildren(folder) == 0:
        hierarchy.RemoveItem(folder)


def _structures(comparison) -> tuple:
    return (None, None) if comparison is None else (comparison.reference, comparison.test)


def _nodeID(structure, scene) -> str | None:
    """The ID of the segmentation a structure comes from, if that is in the scene."""
    nodeID = structure.source.get("nodeID") if structure is not None else None
    return nodeID if nodeID and scene.GetNodeByID(nodeID) is not None else None


def _setPair(node, comparison) -> None:
    node.SetAttribute(PAIR_ATTRIBUTE, _pairKey(comparison))
    for structure, role in zip(_structures(comparison), REFERENCE_ROLES.values(), strict=True):
        node.SetNodeReferenceID(role, _nodeID(structure, node.GetScene()))


def _pairKey(comparison) -> str:
    """Which segments are compared within their segmentations or files; the same for every run."""
    if comparison is None:
        return "all pairs"
    return json.dumps([_structureKey(comparison.reference), _structureKey(comparison.test)])


def _structureKey(structure) -> list:
    source = structure.source
    if source.get("segmentID"):
        return ["segment", source["segmentID"]]  # a segment can be renamed
    if "nodeID" in source:  # None when it is gone
        return ["segmentation"]
    return ["file", structure.file or "", source.get("label"), structure.name]
