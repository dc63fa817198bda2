"""What several observers have drawn, stored in a table node, from which it is restored when a scene is loaded."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base.errors import InputError
from ..case.observers.observed import ObservedStructure
from ..case.observers.study import ObserverStudy
from ..settings.settings import Settings
from ..show.observers import overview
from . import folders, outputs
from .contents import ContentHashes
from .inputs import nameOf
from .outcomes import RUN_ATTRIBUTE
from .resultnodes import nameResult

OUTCOME_ATTRIBUTE = "SegmentMetrics.ObservedOutcome"
# node references from the table to the segmentations of all observers and tests; a role for each, because those behind
# a removed one would move up in a common role
OBSERVED = "SegmentMetrics.Observed{number}"
ROLE = "observers"
# Of a consensus and of a map, for folders.findResult().
CONSENSUS_ROLE = "consensus"
VARIATION_ROLE = "local SD of {name}"
# What is remembered of an outcome in addition to what the study says of itself.
REMEMBERED = ("run", "method", "given", "segments", "contentHashes")


@dataclass(eq=False)
class ObservedOutcome:
    """What several observers have drawn, and what it was computed from.

    table: the vtkMRMLTableNode that stores it. content: ObserverStudy.toDictionary(). settings, method: as they were
    measured. given: the ID of the segment of every observer and then every test, "" for all segments of a node.
    segments: of each structure, the segment IDs of all, "" for those who lack it. contentHashes: of each of them, the
    content hashes by segment ID. study: None after the scene was loaded. run: a unique identifier of this outcome.
    """

    table: Any
    content: Mapping
    settings: Settings
    method: str
    given: Sequence[str]
    segments: Sequence[Sequence[str]]
    contentHashes: Sequence[Mapping[str, str]]
    study: ObserverStudy | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    seen: dict[int, ContentHashes] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> list[str]:
        """The names of all observers, and then of all tests."""
        return [*self.content["observers"], *self.content["tests"]]

    @property
    def wasStopped(self) -> bool:
        """Whether the work was stopped before all structures were measured."""
        return self.study is not None and self.study.wasStopped

    @property
    def nodes(self) -> list:
        """The segmentation nodes of all, None for those that were removed."""
        return [self.table.GetNodeReference(OBSERVED.format(number=number)) for number in range(len(self.given))]

    @property
    def owner(self) -> folders.ComparedObservers:
        """What stands in for the study when its results are searched for."""
        return folders.ComparedObservers(tuple(self.names))

    def found(self, name: str) -> ObservedStructure | None:
        """Return what was found of a structure, None after the scene was loaded."""
        return None if self.study is None else self.study[name]

    def result(self, role: str):
        """Return the result node with a role, if it is one of this outcome; else None."""
        node = folders.findResult(self.owner, role, self.table.GetScene())
        return node if node is not None and node.GetAttribute(RUN_ATTRIBUTE) == self.run else None

    def mark(self, node):
        """Mark a node as showing details of this outcome, and return it."""
        node.SetAttribute(RUN_ATTRIBUTE, self.run)
        return node

    def change(self, suspects: Collection[str] | None = None) -> str:
        """Return a sentence about the first change to the compared segments since, or "" if there is none.

        suspects: IDs of the segments to check, None for all.
        """
        for number, (node, name, hashes) in enumerate(zip(self.nodes, self.names, self.contentHashes, strict=True)):
            if node is None or node.GetSegmentation() is None:
                return f"The segmentation of {name} was removed."
            identifiers = list(node.GetSegmentation().GetSegmentIDs())
            if not set(hashes) <= set(identifiers):
                return f"A segment of {name} was removed."
            if not self.given[number] and set(identifiers) != set(hashes):
                return f"Segments were added to {name}."
            suspected = [i for i, text in hashes.items() if text and (suspects is None or i in suspects)]
            seen = self.seen.setdefault(number, ContentHashes())
            try:
                for identifier, now in seen.current(node, suspected, self.settings.surface):
                    if now != hashes[identifier]:
                        segment = nameOf(node.GetSegmentation(), identifier)
                        return f"{segment} of {name} has changed." if segment != name else f"{name} has changed."
            except InputError as error:
                return str(error)
        return ""


def contentsOf(given: Sequence[tuple], surface: str) -> list[dict[str, str]]:
    """Return the content hashes by segment ID of every (node, segment ID), "" for all segments of the node.

    To be called before they are measured. Segments that cannot be read have the empty text.
    """
    return [
        _hashesOf(node, [segment] if segment else list(node.GetSegmentation().GetSegmentIDs()), surface)
        for node, segment in given
    ]


def _hashesOf(node, identifiers: Sequence[str], surface: str) -> dict[str, str]:
    try:
        return dict(ContentHashes().current(node, identifiers, surface))
    except InputError:  # the study says which one cannot be used and why
        if len(identifiers) == 1:
            return {identifiers[0]: ""}
        return {key: text for one in identifiers for key, text in _hashesOf(node, [one], surface).items()}


def keepObservers(study: ObserverStudy, given: Sequence[tuple], contents: Sequence[Mapping], method: str, scene):
    """Store a study in a table node and return its ObservedOutcome.

    given: (node, segment ID) of all observers and then all tests, "" for all segments. contents: of contentsOf().
    method: of the consensus.
    """
    owner = folders.ComparedObservers((*study.observers, *study.testNames))
    table = folders.findResult(owner, ROLE, scene) or scene.AddNewNodeByClass("vtkMRMLTableNode")
    nameResult(table, f"{len(study.observers)} observers")
    outputs.fillTable(table, overview(study))
    for number, (node, _) in enumerate(given):
        table.SetNodeReferenceID(OBSERVED.format(number=number), node.GetID())
    segments = [[s.segmentID if s is not None else "" for s in one.structures] for one in study]
    chosen = [segment for _, segment in given]
    outcome = ObservedOutcome(
        table, study.toDictionary(), study.settings, method, chosen, segments, contents, study=study
    )
    remembered = {name: getattr(outcome, name) for name in REMEMBERED} | {"content": outcome.content}
    table.SetAttribute(OUTCOME_ATTRIBUTE, json.dumps(remembered, allow_nan=False))
    folders.addToFolder(table, owner, ROLE)
    return outcome


def recallObservers(table) -> ObservedOutcome | None:
    """Return what a table node stores, for example after a scene was loaded, or None without any.

    Raises ValueError if it cannot be read, for example because another version of SegmentMetrics wrote it.
    """
    text = table.GetAttribute(OUTCOME_ATTRIBUTE) if table is not None else None
    if not text:
        return None
    try:
        remembered = json.loads(text)
        content = remembered.pop("content")
        return ObservedOutcome(table, content, Settings(**content["settings"]), **remembered)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"The results in {table.GetName()} cannot be read. {outputs.OTHER_VERSION}") from error


# On display nodes of segmentations that are hidden in 3D views because a map of the local SD would be inside them.
COVERED_ATTRIBUTE = "SegmentMetrics.CoveredByObservers"


def coverIn3D(nodes: Sequence, scene) -> None:
    """Hide segmentations in the 3D views, where they would cover a map, and show those again that it hid before."""
    wanted = [node.GetDisplayNode() for node in nodes if node is not None]
    for display in (node for node in scene.GetNodes() if node.IsA("vtkMRMLSegmentationDisplayNode")):
        isHidden = bool(display.GetAttribute(COVERED_ATTRIBUTE))
        if display in wanted and not isHidden and display.GetVisibility3D():
            display.SetAttribute(COVERED_ATTRIBUTE, "1")
            display.SetVisibility3D(False)
        elif display not in wanted and isHidden:
            display.RemoveAttribute(COVERED_ATTRIBUTE)
            display.SetVisibility3D(True)


def variationMaps(scene) -> list:
    """Return the models of all maps of the local SD of observers in a scene."""
    models = (node for node in scene.GetNodes() if node.IsA("vtkMRMLModelNode") and node.GetDisplayNode() is not None)
    start = VARIATION_ROLE.partition("{")[0]
    return [m for m in models if (m.GetAttribute(folders.ROLE_ATTRIBUTE) or "").startswith(start)]
