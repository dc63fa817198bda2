"""What was measured, kept in a table node, from which it is recalled when a scene is loaded."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..base.errors import InputError
from ..base.progress import Cancelled
from ..case.casework import atOnce
from ..case.comparison import Comparison
from ..case.observers.observed import ObservedStructure
from ..case.observers.study import ObserverStudy
from ..case.request import Request
from ..face import CaseResult
from ..metrics.findings import asDictionaries, asFinding
from ..model.structure import Identity, Structure
from ..model.structures import REFERENCE_AND_TEST
from ..settings.settings import Settings
from ..show.fingerprints import contentHashOfDose
from ..show.maps import findLimits
from ..show.observers import overview
from . import folders, outputs
from .charts import histogramOf
from .comparing import openCase
from .contents import ContentHashes, contentHashOfSegment
from .conversion import displayedSurface
from .folders import resultNode
from .inputs import nameOf
from .nodes import asScene, nodesOf
from .observers import compareObservers, owner

OUTCOME_ATTRIBUTE = "SegmentMetrics.Outcome"
# on nodes that show details of an outcome: its run
RUN_ATTRIBUTE = "SegmentMetrics.Run"
# node references from the table: to the dose, and to each compared segmentation; a role for each of them, because in a
# common role those behind a removed one would move up
DOSE, COMPARED = "SegmentMetrics.Dose", "SegmentMetrics.Compared{number}"
# Of the nodes of several observers, for folders.findResult().
OBSERVERS_ROLE, CONSENSUS_ROLE, VARIATION_ROLE = "observers", "consensus", "local SD of {name}"


@dataclass(eq=False, kw_only=True)
class Kept:
    """What was measured and of what, in a table node.

    given: the segment IDs of the compared, "" for all segments of a node. members: the IDs of all segments that each of
    these nodes had. hashes: by segment ID, of the contents of what was measured of each. run: tells this outcome from
    others.
    """

    table: Any
    settings: Settings
    given: Sequence[str]
    members: Sequence[Sequence[str]] = ()
    hashes: Sequence[Mapping[str, str]] = ()
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    seen: ContentHashes = field(default_factory=ContentHashes, repr=False)

    @property
    def names(self) -> Sequence[str]:
        return [f"the {side}" for side in REFERENCE_AND_TEST]

    @property
    def nodes(self) -> list:
        """The compared segmentation nodes, None for those that were removed."""
        return [self.table.GetNodeReference(COMPARED.format(number=number)) for number in range(len(self.given))]

    def shows(self, node) -> bool:
        """Return whether a node shows details of this outcome and not of an earlier one; False for None."""
        return node is not None and node.GetAttribute(RUN_ATTRIBUTE) == self.run

    def mark(self, node):
        """Mark a node as showing details of this outcome, and return it."""
        node.SetAttribute(RUN_ATTRIBUTE, self.run)
        return node

    def result(self, owner, role: str):
        """Return the node with a role that shows details of this outcome, else None. owner: as for findResult()."""
        node = folders.findResult(owner, role, self.table.GetScene())
        return node if self.shows(node) else None

    def change(self, suspects: Collection[str] | None = None) -> str:
        """Return a sentence about the first change of these segments, or of anything for None; "" without any."""
        for number, (node, name, hashes) in enumerate(zip(self.nodes, self.names, self.hashes, strict=True)):
            segmentation = node.GetSegmentation() if node is not None else None
            if segmentation is None:
                return f"The segmentation of {name} was removed."
            identifiers = segmentation.GetSegmentIDs()
            if not set(hashes) <= set(identifiers):
                return f"A segment of {name} was removed."
            suspected = [identifier for identifier in hashes if suspects is None or identifier in suspects]
            try:
                for identifier, now in self.seen.current(node, suspected, self.settings.surface):
                    if now != hashes[identifier]:
                        segment = nameOf(segmentation, identifier)
                        return f"{segment} of {name} has changed." if segment != name else f"{name} has changed."
            except InputError as error:
                return str(error)
            if not self.given[number] and set(identifiers) != set(self.members[number]):
                return f"Segments were added to or removed from {name}."
        return ""

    def remember(self, structures: Sequence[Sequence[Structure]], request: Request, **more) -> None:
        """Store this outcome in its table. structures: those of each of the compared that were measured."""
        surface, nodes = self.settings.surface, [node for node, _ in request.compared]
        for number, node in enumerate(nodes):
            self.table.SetNodeReferenceID(COMPARED.format(number=number), node.GetID())
        self.hashes = [
            {one.segmentID: contentHashOfSegment(one, node, surface) for one in own}
            for own, node in zip(structures, nodes, strict=True)
        ]
        self.members = [list(node.GetSegmentation().GetSegmentIDs()) for node in nodes]
        common = {name: getattr(self, name) for name in ("given", "members", "hashes", "run")}
        text = json.dumps(common | {"settings": self.settings.toDictionary()} | more)
        self.table.SetAttribute(OUTCOME_ATTRIBUTE, text)


# What is stored of the outcome of pairs beside what is stored of any.
OF_PAIRS = ("segments", "unmatched", "failures", "choices", "criticals", "judgment", "doseHash")


@dataclass(eq=False, kw_only=True)
class Outcome(Kept):
    """The results of one or many pairs.

    records: of all pairs. segments: the segment IDs of each. unmatched: names by side. choices: the pairs that somebody
    chose, as for pairSegments. comparisons: with the geometry; None after the scene was loaded. criticals: segment IDs
    by name. judgment: Judgment.toDictionary(). doseHash: of the contents of the dose, "" without one.
    """

    records: Sequence[Comparison]
    segments: Sequence[tuple[str, str]]
    unmatched: Mapping[str, Sequence[str]] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[str] = ()
    choices: Mapping[str, str | None] = field(default_factory=dict)
    comparisons: CaseResult | None = None
    criticals: Mapping[str, str] = field(default_factory=dict)
    judgment: Mapping | None = None
    doseHash: str = ""

    @property
    def isOfAll(self) -> bool:
        return not any(self.given)

    @property
    def wasStopped(self) -> bool:
        """Whether the work was stopped before all pairs were measured."""
        return self.comparisons is not None and self.comparisons.wasStopped

    def node(self, side: str):
        """Return the compared vtkMRMLSegmentationNode of a side, or None if it was removed."""
        return self.nodes[REFERENCE_AND_TEST.index(side)]

    @property
    def dose(self):
        """The volume node of the dose, or None if there was none or it was removed."""
        return self.table.GetNodeReference(DOSE)

    def pair(self, number: int | None) -> Comparison | folders.ComparedPair:
        """Return what owns the result nodes of the pair with this index, or of all pairs together for None."""
        nodeIDs = [self.table.GetNodeReferenceID(COMPARED.format(number=side)) or "" for side in range(2)]
        if number is None:
            return folders.ComparedPair(*(Identity("a deleted segmentation", nodeID=one) for one in nodeIDs))
        record, parts = self.records[number], zip(REFERENCE_AND_TEST, nodeIDs, self.segments[number], strict=True)
        sides: dict[str, Any] = {
            side: Identity(getattr(record, side).name, nodeID=node, segmentID=one) for side, node, one in parts
        }
        return replace(record, **sides)

    def change(self, suspects: Collection[str] | None = None) -> str:
        if found := super().change(suspects):
            return found
        segmentation = self.nodes[0].GetSegmentation()
        for name, identifier in self.criticals.items():  # critical structures are chosen by name
            if nameOf(segmentation, identifier) != name:
                return f"{name} in the reference was renamed."
        # the choice of another dose is noticed elsewhere
        if suspects is not None or not self.doseHash or self.dose is None:
            return ""
        try:
            return "" if self.seen.currentOfDose(self.dose) == self.doseHash else "The dose has changed."
        except InputError as error:
            return str(error)


@dataclass(eq=False, kw_only=True)
class ObservedOutcome(Kept):
    """What several observers have drawn.

    content: ObserverStudy.toDictionary(). method: of the consensus. segments: of each structure, the segment IDs of
    all, "" for those who lack it. study: None after the scene was loaded.
    """

    content: Mapping
    method: str
    segments: Sequence[Sequence[str]]
    study: ObserverStudy | None = None

    @property
    def names(self) -> list[str]:
        return [*self.content["observers"], *self.content["tests"]]

    @property
    def wasStopped(self) -> bool:
        """Whether the work was stopped before all structures were measured."""
        return self.study is not None and self.study.wasStopped

    @property
    def owner(self) -> folders.ComparedObservers:
        """What stands in for the study when its results are searched for."""
        return folders.ComparedObservers(tuple(self.names))


def measure(
    request: Request,
    *,
    progress: Callable[[int, int, str], bool | None] | None = None,
    run: Callable[[Callable[[], Any]], Any] = atOnce,
    isPartWanted: Callable[[], bool] = lambda: True,
    scene=None,
) -> Outcome | ObservedOutcome:
    """Measure what is asked for, and return the outcome, stored in a table node.

    Parameters
    ----------
    request : Request
        What to measure.
    progress, run : optional
        As for compareSegmentations.
    isPartWanted : Callable[[], bool], optional
        Whether to keep what is finished if the work is stopped.
    scene : optional
        The scene of the table; None means Slicer's.

    Returns
    -------
    Outcome | ObservedOutcome

    Raises
    ------
    ValueError
        If nothing can be compared, and for what cannot be read.
    Cancelled
        If the work is stopped before anything was compared, or what is finished is not wanted.
    """
    if request.observers:
        return _measureObservers(request, progress, run, isPartWanted, asScene(scene))
    return keep(request, compare(request, progress=progress, run=run, isPartWanted=isPartWanted))


def compare(
    request: Request,
    *,
    progress: Callable[[int, int, str], bool | None] | None = None,
    run: Callable[[Callable[[], Any]], Any] = atOnce,
    isPartWanted: Callable[[], bool] = lambda: True,
) -> CaseResult:
    """Compare the segments that are asked for, and return the result without storing it. Arguments as of measure()."""
    reference, test = request.compared
    if request.isOfAll:
        reference, test = reference[0], test[0]
    case = openCase(
        reference,
        test,
        request.settings,
        by="ID",
        choices=request.choices,
        proposed=request.proposed,
        protocol=request.protocol,
        dose=request.dose,
        progress=progress,
    )

    def runInFull(work: Callable[[], Sequence]) -> Sequence:
        # what is shown of each belongs to it: finding the worst places of a large structure is slow
        return run(lambda: [one.record() and one if isinstance(one, Comparison) else one for one in work()])

    result = case.compare(progress, runInFull)
    if result.wasStopped and not isPartWanted():
        raise Cancelled
    if not (result or request.isOfAll):
        raise InputError(*result.failures.values())
    return result


def keep(request: Request, result: CaseResult) -> Outcome:
    """Store the comparisons of what was asked for in a table node, and return the outcome."""
    sides = [[getattr(one, side) for one in result] for side in REFERENCE_AND_TEST]
    criticals = [one for comparison in result for one in comparison.criticals]
    outcome = Outcome(
        table=outputs.showComparisonsTable(result) if request.isOfAll else outputs.showTable(result[0]),
        settings=request.settings,
        given=[segment for _, segment in request.compared],
        records=[comparison.record() for comparison in result],
        segments=[(one.reference.segmentID, one.test.segmentID) for one in result],
        unmatched=result.unmatched,
        failures=result.failures,
        findings=result.findings,
        choices=dict(request.choices),
        comparisons=result,
        criticals={one.name: one.segmentID for one in criticals},
        judgment=None if result.judgment is None else result.judgment.toDictionary(),
        doseHash=next((contentHashOfDose(one.dose).hexdigest() for one in result if one.dose is not None), ""),
    )
    outcome.table.SetNodeReferenceID(DOSE, None if request.dose is None else request.dose.GetID())
    stored = {name: getattr(outcome, name) for name in OF_PAIRS} | {"findings": asDictionaries(outcome.findings)}
    outcome.remember([[*sides[0], *criticals], sides[1]], request, **stored)
    return outcome


def _measureObservers(request: Request, progress, run, isPartWanted, scene) -> ObservedOutcome:
    given = [(node, segment) if segment else node for node, segment in request.compared]
    count = request.observers

    def inFull(found: ObservedStructure | InputError) -> ObservedStructure | InputError:
        """Make the surface of the consensus that maps need, too."""
        if isinstance(found, ObservedStructure) and found.consensus is not None and not found.consensus.isEmpty:
            displayedSurface(found.consensus)
        return found

    study = compareObservers(
        given[:count],
        request.settings,
        tests=given[count:],
        consensus=request.consensus,
        progress=progress,
        run=lambda work: run(lambda: inFull(work())),
    )
    if study.wasStopped and not isPartWanted():
        raise Cancelled
    name = f"{len(study.observers)} observers"
    with resultNode("vtkMRMLTableNode", owner(study), OBSERVERS_ROLE, name, scene=scene) as table:
        outputs.fillTable(table, overview(study))
    outcome = ObservedOutcome(
        table=table,
        settings=study.settings,
        given=[segment for _, segment in request.compared],
        content=study.toDictionary(),
        method=request.consensus,
        segments=[[one.segmentID if one is not None else "" for one in found.structures] for found in study],
        study=study,
    )
    ofAll = zip(*(found.structures for found in study), strict=True) if len(study) else [()] * len(given)
    structures = [[one for one in own if one is not None] for own in ofAll]
    outcome.remember(structures, request, content=outcome.content, method=outcome.method, segments=outcome.segments)
    return outcome


def recall(tableNode) -> Outcome | ObservedOutcome | None:
    """Return what a table node keeps, None for None. Raises ValueError if another version wrote it."""
    if tableNode is None:
        return None
    try:
        kept = json.loads(tableNode.GetAttribute(OUTCOME_ATTRIBUTE) or "")
        kept["settings"] = Settings(**kept["settings"])
        if "content" in kept:
            return ObservedOutcome(table=tableNode, **kept)
        kept["segments"] = [tuple(pair) for pair in kept["segments"]]
        kept["findings"] = [*map(asFinding, kept["findings"])]
        isOfAll = not any(kept["given"])
        attribute = outputs.COMPARISONS_ATTRIBUTE if isOfAll else outputs.COMPARISON_ATTRIBUTE
        records = json.loads(tableNode.GetAttribute(attribute))
        records = [Comparison.fromDictionary(one) for one in (records if isOfAll else [records])]
        return Outcome(table=tableNode, records=records, **kept)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = f"{outputs.OTHER_VERSION} Press Apply to measure again."
        raise InputError(f"The results in {tableNode.GetName()} cannot be read. {why}") from error


def drawAhead(comparison, sides: Sequence[str], surface: str, kind: str) -> dict:
    """Compute what takes long of what views show, without any node; return the maps by side, and keep the rest."""
    comparison.record()
    structures = [getattr(comparison, side) for side in REFERENCE_AND_TEST]
    if surface == "displayed":
        for structure in structures:
            if not structure.isEmpty:
                displayedSurface(structure)
    if comparison.distances is None or any(structure.isEmpty for structure in structures):
        return {}
    histogramOf(comparison.distances, findLimits(comparison, "signed", None, None)[1])
    return {side: outputs.distanceMap(comparison, side, surface, None, kind == "bld") for side in sides}


def variationMaps(scene) -> list:
    """Return the models of all maps of the local SD of observers in a scene."""
    models = [model for model in nodesOf(scene, "vtkMRMLModelNode") if model.GetDisplayNode() is not None]
    start = VARIATION_ROLE.partition("{")[0]
    return [m for m in models if (m.GetAttribute(folders.ROLE_ATTRIBUTE) or "").startswith(start)]
