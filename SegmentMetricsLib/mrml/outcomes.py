"""The results of a comparison stored in a table node, from which they are restored when a scene is loaded."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base.errors import InputError
from ..case.comparison import Comparison
from ..case.protocol.judgment import Judgment
from ..case.records import Record
from ..metrics.findings import asDictionaries, asFinding
from ..model.structures import Identity
from ..settings.settings import Settings
from ..show.fingerprints import contentHashOfDose
from .comparing import Comparisons
from .contents import ContentHashes, DoseHash, contentHashOfSegment
from .folders import ComparedPair
from .inputs import nameOf
from .outputs import COMPARISON_ATTRIBUTE, COMPARISONS_ATTRIBUTE, OTHER_VERSION, showComparisonsTable, showTable

OUTCOME_ATTRIBUTE = "SegmentMetrics.Outcome"
# on nodes that show details of an outcome: its run
RUN_ATTRIBUTE = "SegmentMetrics.Run"
# fields of an outcome stored in its table in addition to the records and settings
REMEMBERED = (
    "run",
    "segments",
    "isOfAll",
    "members",
    "unmatched",
    "failures",
    "findings",
    "choices",
    "criticals",
    "judgment",
    "doseHash",
)
# key under which the content hashes are stored, kept for compatibility with saved scenes
CONTENT_HASHES = "stamps"
# node references from the table to the compared segmentations
DOSE = "SegmentMetrics.Dose"
COMPARED = {"reference": "SegmentMetrics.ComparedReference", "test": "SegmentMetrics.ComparedTest"}


@dataclass(eq=False)
class Outcome:
    """The results of one or many pairs, and the inputs that they were computed from.

    table: the vtkMRMLTableNode that stores them. records: of all pairs. segments: the segment IDs of each pair.
    contentHashes: of the compared segments, by side and segment ID. isOfAll: whether all structures were compared.
    members: the IDs of all segments by side, if all structures were compared. unmatched: names of structures that only
    one side has, by side. failures: reasons by name. findings: sentences about doubtful pairs. choices: the pairs that
    somebody chose, as for pairing.pairStructures. comparisons: of all pairs, with the geometry; None after the scene
    was loaded. criticals: the segment IDs of the critical structures by name. judgment: of a protocol, as returned by
    Judgment.toDictionary(), None without one. run: a unique identifier of this outcome. doseHash: of the contents of
    the dose, "" without one. seen, seenDose: the latest known contents of the segments, by side, and of the dose.
    """

    table: Any  # a vtkMRMLTableNode
    records: Sequence[Record]
    segments: Sequence[tuple[str, str]]
    settings: Settings
    contentHashes: Mapping[str, Mapping[str, str]]
    isOfAll: bool = False
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unmatched: Mapping[str, Sequence[str]] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[str] = ()
    choices: Mapping[str, str | None] = field(default_factory=dict)
    comparisons: Comparisons | None = None
    criticals: Mapping[str, str] = field(default_factory=dict)
    judgment: Mapping | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    doseHash: str = ""
    seen: Mapping[str, ContentHashes] = field(
        default_factory=lambda: {side: ContentHashes() for side in COMPARED}, repr=False
    )
    seenDose: DoseHash = field(default_factory=DoseHash, repr=False)

    def shows(self, node) -> bool:
        """Return whether a node shows details of this outcome and not of an earlier one; False for None."""
        return node is not None and node.GetAttribute(RUN_ATTRIBUTE) == self.run

    def mark(self, node):
        """Mark a node as showing details of this outcome, and return it."""
        node.SetAttribute(RUN_ATTRIBUTE, self.run)
        return node

    def node(self, side: str):
        """Return the compared vtkMRMLSegmentationNode of a side, or None if it was removed."""
        return self.table.GetNodeReference(COMPARED[side])

    @property
    def dose(self):
        """The volume node of the dose, or None if there was none or it was removed."""
        return self.table.GetNodeReference(DOSE)

    def whole(self) -> ComparedPair:
        """Return the ComparedPair that owns the result nodes of all pairs together."""
        nodeIDs = [self.table.GetNodeReferenceID(role) for role in COMPARED.values()]
        return ComparedPair(*(Identity("a deleted segmentation", nodeID=nodeID or "") for nodeID in nodeIDs))

    def pair(self, number: int) -> ComparedPair:
        """Return the ComparedPair that owns the result nodes of the pair with this index."""
        segments = []
        for side, identifier in zip(COMPARED, self.segments[number], strict=True):
            nodeID = self.table.GetNodeReferenceID(COMPARED[side]) or ""
            segments.append(Identity(getattr(self.records[number], side)["name"], nodeID=nodeID, segmentID=identifier))
        return ComparedPair(*segments)

    def change(self, suspects: Collection[str] | None = None) -> str:
        """Return a sentence about the first change to the compared segments or the dose, or "" if there is none.

        suspects: IDs of the segments to check, None for all and the dose.
        """
        for side, hashes in self.contentHashes.items():
            node = self.node(side)
            if node is None or node.GetSegmentation() is None:
                return f"The {side} segmentation was removed."
            identifiers = node.GetSegmentation().GetSegmentIDs()
            if not set(hashes) <= set(identifiers):
                return f"A segment of the {side} was removed."
            suspected = [identifier for identifier in hashes if suspects is None or identifier in suspects]
            try:
                for identifier, now in self.seen[side].current(node, suspected, self.settings.surface):
                    if now != hashes[identifier]:
                        name = nameOf(node.GetSegmentation(), identifier)
                        return f"{name} of the {side} has changed."
            except InputError as error:
                return str(error)
            if side == "reference":
                for name, identifier in self.criticals.items():  # critical structures are chosen by name
                    if nameOf(node.GetSegmentation(), identifier) != name:
                        return f"{name} in the reference was renamed."
            if self.isOfAll and set(identifiers) != set(self.members[side]):
                return f"Segments were added to or removed from the {side}."
        return self._doseChange() if suspects is None else ""

    def _doseChange(self) -> str:
        # scenes saved by earlier versions do not know what the dose was; the choice of another one is noticed elsewhere
        if not self.doseHash or self.dose is None:
            return ""
        try:
            return "" if self.seenDose.current(self.dose) == self.doseHash else "The dose has changed."
        except InputError as error:
            return str(error)


def keepPair(comparison: Comparison, judgment: Judgment | None = None, dose=None) -> Outcome:
    """Store the comparison of two segments in a table node. dose: the volume node of the dose, or None."""
    nodeIDs = [structure.nodeID for structure in (comparison.reference, comparison.test)]
    comparisons = Comparisons([comparison])
    return _keep(showTable(comparison), nodeIDs, comparisons, comparison.settings, judgment, dose)


def keepAll(
    comparisons: Comparisons,
    referenceNode,
    testNode,
    settings: Settings,
    judgment: Judgment | None = None,
    choices: Mapping[str, str | None] | None = None,
    dose=None,
) -> Outcome:
    """Store the comparisons of two segmentation nodes in a table node. dose: the volume node of the dose, or None."""
    table = showComparisonsTable(comparisons)
    members = {
        side: list(node.GetSegmentation().GetSegmentIDs())
        for side, node in (("reference", referenceNode), ("test", testNode))
    }
    more = {
        "isOfAll": True,
        "members": members,
        "unmatched": comparisons.unmatched,
        "failures": comparisons.failures,
        "findings": list(comparisons.findings),
        "choices": dict(choices or {}),
    }
    return _keep(table, [referenceNode.GetID(), testNode.GetID()], comparisons, settings, judgment, dose, **more)


def _keep(
    table,
    nodeIDs: Sequence[str | None],
    comparisons: Comparisons,
    settings: Settings,
    judgment: Judgment | None,
    dose,
    **more,
) -> Outcome:
    table.SetNodeReferenceID(DOSE, None if dose is None else dose.GetID())
    hashes: dict[str, dict[str, str]] = {}
    for (side, role), nodeID in zip(COMPARED.items(), nodeIDs, strict=True):
        table.SetNodeReferenceID(role, nodeID)
        node = table.GetNodeReference(role)
        structures = [getattr(comparison, side) for comparison in comparisons]
        if side == "reference":
            structures += [structure for c in comparisons for structure in c.criticals]
        hashes[side] = {s.segmentID: contentHashOfSegment(s, node, settings.surface) for s in structures}
    outcome = Outcome(
        table=table,
        records=[comparison.record() for comparison in comparisons],
        segments=[(c.reference.segmentID, c.test.segmentID) for c in comparisons],
        settings=settings,
        contentHashes=hashes,
        comparisons=comparisons,
        criticals={s.name: s.segmentID for c in comparisons for s in c.criticals},
        judgment=None if judgment is None else judgment.toDictionary(),
        doseHash=next((contentHashOfDose(c.dose).hexdigest() for c in comparisons if c.dose is not None), ""),
        **more,
    )
    remembered = {name: getattr(outcome, name) for name in REMEMBERED}
    remembered |= {CONTENT_HASHES: outcome.contentHashes, "settings": settings.toDictionary()}
    remembered["findings"] = asDictionaries(outcome.findings)
    table.SetAttribute(OUTCOME_ATTRIBUTE, json.dumps(remembered))
    return outcome


def recall(tableNode) -> Outcome | None:
    """Return the results stored in a table node, for example after a scene was loaded, or None without any.

    Raises ValueError if they cannot be read, for example because another version of SegmentMetrics wrote them.
    """
    text = tableNode.GetAttribute(OUTCOME_ATTRIBUTE) if tableNode is not None else None
    if not text:
        return None
    try:
        return _recalled(tableNode, json.loads(text))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"The results in {tableNode.GetName()} cannot be read. {OTHER_VERSION}") from error


def _recalled(tableNode, remembered: Mapping) -> Outcome:
    many = tableNode.GetAttribute(COMPARISONS_ATTRIBUTE) if remembered["isOfAll"] else None
    records = json.loads(many) if many else [json.loads(tableNode.GetAttribute(COMPARISON_ATTRIBUTE))]
    return Outcome(
        table=tableNode,
        records=[Record.fromDictionary(record) for record in records],
        segments=[tuple(pair) for pair in remembered["segments"]],
        settings=Settings(**remembered["settings"]),
        contentHashes=remembered[CONTENT_HASHES],
        isOfAll=remembered["isOfAll"],
        members=remembered["members"],
        unmatched=remembered["unmatched"],
        failures=remembered["failures"],
        findings=[*map(asFinding, remembered.get("findings", ()))],
        choices=remembered.get("choices", {}),
        criticals=remembered.get("criticals", {}),
        judgment=remembered.get("judgment"),
        run=remembered["run"],
        doseHash=remembered.get("doseHash", ""),
    )
