"""Comparing segments of segmentation nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from ..comparison import Comparison, compare
from ..errors import InputError, reasonOf
from ..multilabel import MultiLabel, ofShares
from ..naming import pairTitle
from ..pairing import withProposals
from ..protocol.judgment import Judgment, judgeCase
from ..protocol.measuring import compareMatch
from ..protocol.protocol import Protocol
from ..settings import Settings, asSettings
from ..structures import Match, Pairing, Structure, commaSeparated
from .inputs import SegmentReader, findSegment, nameOf, segmentationOf, structureFromSegment
from .pairs import pairSegments


class Comparisons(list):
    """The comparisons of two segmentations, and the structures that could not be compared.

    unmatchedReference, unmatchedTest: structures that only one of the two has. failures: reasons by name of what could
    not be compared; of a pair with two names, by both: "Lens-Lt / Lens_L". emptyNodes: names of segmentations that have
    no segments. proposals: which of the unmatched structures might belong together; `choices` of another run can say
    so. findings: what is doubtful about the pairs, in sentences. judgment: what a protocol says, None without one.
    """

    def __init__(
        self,
        comparisons=(),
        unmatchedReference=(),
        unmatchedTest=(),
        failures=None,
        emptyNodes=(),
        proposals=(),
        findings=(),
    ):
        super().__init__(comparisons)
        self.unmatchedReference: tuple[Structure, ...] = tuple(unmatchedReference)
        self.unmatchedTest: tuple[Structure, ...] = tuple(unmatchedTest)
        self.failures: dict[str, str] = {} if failures is None else failures
        self.emptyNodes: tuple[str, ...] = tuple(emptyNodes)
        self.proposals: tuple[Match, ...] = tuple(proposals)
        self.findings: tuple[str, ...] = tuple(findings)
        self.judgment: Judgment | None = None

    def __getitem__(self, index):
        """Return a comparison; or some of them, with what is known about all."""
        found = super().__getitem__(index)
        if not isinstance(index, slice):
            return found
        part = copy(self)
        part[:] = found
        return part

    @property
    def multiLabel(self) -> MultiLabel | None:
        """DICEml and JACml of all structures together; None for a single pair or without the agreement family.

        Raises ValueError where that is so in spite of the settings' weights of labels.
        """
        if not self:
            return None
        shares = [comparison.share for comparison in self]
        return ofShares(shares, self.unmatchedReference, self.unmatchedTest, self[0].settings, self.failures)

    @property
    def unmatched(self) -> dict[str, list[str]]:
        """The names of the structures that only one of the two has, by side."""
        sides = {"reference": self.unmatchedReference, "test": self.unmatchedTest}
        return {which: [structure.name for structure in structures] for which, structures in sides.items()}

    @property
    def remarks(self) -> list[str]:
        """What was not compared and why, in sentences."""
        sentences = [f"{name} has no segments." for name in self.emptyNodes]
        for which, structures in (("reference", self.unmatchedReference), ("test", self.unmatchedTest)):
            if structures:
                sentences.append(f"Only in the {which}: {commaSeparated(s.name for s in structures)}.")
        sentences += self.findings
        return sentences + [f"{name} cannot be compared: {reason}" for name, reason in self.failures.items()]

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self.remarks])


def atOnce(work: Callable[[], Comparison]) -> Comparison:
    """Do the work here and now."""
    return work()


def compareSegments(
    referenceNode,
    referenceSegment: str,
    testNode,
    testSegment: str,
    settings: Settings | None = None,
    run: Callable[[Callable[[], Comparison]], Comparison] = atOnce,
    by: str = "any",
) -> Comparison:
    """Compare a segment of one segmentation node with a segment of another or the same one.

    Segments are given by name or ID; parent transforms are applied; the nodes are not changed. Critical structures are
    segments of the reference node, by name.
    run: does the calculation, which touches no node; a user interface hands in one that does it in a thread. by: "ID"
    or "name" where only one of them is meant; "any" refuses what is the ID of one segment and the name of another.
    Raises ValueError for unknown and for ambiguous segments, and for segments without a closed surface.
    """
    settings = asSettings(settings)
    reference, test = (
        _structureOf(which, node, findSegment(node, segment, by), settings.surface)
        for which, node, segment in (
            ("reference", referenceNode, referenceSegment),
            ("test", testNode, testSegment),
        )
    )
    criticals = criticalStructures(referenceNode, settings)
    return run(lambda: compare(reference, test, settings, criticals=criticals))


def _structureOf(which: str, node, identifier: str, surface: str) -> Structure:
    """Return a segment, given by ID, as a structure. which: of the two it is, for the message when it is refused."""
    try:
        return structureFromSegment(node, identifier, surface, by="ID")
    except InputError as error:
        name = nameOf(segmentationOf(node), identifier)
        raise InputError(f"The {which}, {name} of {node.GetName()}, cannot be compared. {error}") from error


def criticalStructures(referenceNode, settings: Settings) -> dict[str, Structure]:
    """Return the critical structures of a reference node that the settings name, none without the hazard family.

    Raises ValueError for names that the node does not have, or has twice.
    """
    if "hazard" not in settings.families:
        return {}
    reader = SegmentReader(referenceNode)
    return {name: reader.structure(name, settings.surface, by="name") for name, _ in settings.critical}


def compareSegmentations(
    referenceNode,
    testNode,
    settings: Settings | None = None,
    progress: Callable[[int, int, str], bool | None] | None = None,
    run: Callable[[Callable[[], Comparison]], Comparison] = atOnce,
    choices: Mapping[str, str | None] | None = None,
    protocol: Protocol | None = None,
) -> Comparisons:
    """Compare all segments of two segmentation nodes that belong together by their names or terminology.

    progress: called before every segment that is read and every pair that is compared with its number, their number
    and the structure's name; returning False stops there, and the pairs compared so far are returned. run: as in
    compareSegments. choices: as for pairing.pairStructures. protocol: says what to measure of every structure, and to
    judge the result's `judgment` by. A structure that cannot be measured, or whose name occurs twice in one node, is a
    failure with its reason; the others are compared. What was not compared is in the result's `remarks`. Raises
    ValueError for nodes that are no segmentations, and when names that occur twice leave no pair.
    """
    settings = asSettings(settings)
    families = (*settings.families, *(protocol.families if protocol else ()))
    criticals = criticalStructures(referenceNode, replace(settings, families=families))
    # names and codes decide what belongs together, whether or not it can be measured
    pairing = pairSegments(referenceNode, testNode, choices)
    nodes = (referenceNode, testNode)
    found = _readAll(nodes, settings.surface, progress)
    if found is None:
        return Comparisons()
    read, problems = found
    failures = {name: reasonOf(error) for name, error in pairing.failures.items()}
    failures.update(_failuresOf(pairing, problems))
    pairing = withProposals(_measurable(pairing, *read), [r for r, t in (choices or {}).items() if t is None])
    emptyNodes = [node.GetName() for node in nodes if segmentationOf(node).GetNumberOfSegments() == 0]
    result = Comparisons(
        [],
        pairing.unmatchedReference,
        pairing.unmatchedTest,
        failures,
        emptyNodes,
        pairing.proposals,
        pairing.findings,
    )
    measured = []

    def compareTwo(reference: Structure, test: Structure, wanted: Settings) -> Comparison:
        return run(lambda: compare(reference, test, wanted, criticals=criticals))

    for count, match in enumerate(pairing.pairs):
        name = match.reference.name
        if progress is not None and progress(count, len(pairing.pairs), name) is False:
            break
        try:
            comparison, byConvention = compareMatch(match, settings, protocol, compareTwo)
        except InputError as error:
            result.failures[pairTitle((name, match.test.name))] = reasonOf(error)
            continue
        result.append(comparison)
        measured.append(((name, match.test.name), byConvention))
    if protocol is not None:
        result.judgment = judgeCase(protocol, measured, result.unmatched, failures=result.failures)
    return result


def _readAll(
    nodes: Sequence, surface: str, progress: Callable[[int, int, str], bool | None] | None
) -> tuple[list[dict[str, Structure]], list[dict[str, str]]] | None:
    """Return the structures of every node by segment ID, and why others of it cannot be read, by segment ID, too.

    None when progress, which is as for compareSegmentations, stopped it.
    """
    segmentations = [segmentationOf(node) for node in nodes]
    readers = [SegmentReader(node) for node in nodes]
    segments = [(number, s) for number, one in enumerate(segmentations) for s in one.GetSegmentIDs()]
    read: list[dict[str, Structure]] = [{} for _ in nodes]
    problems: list[dict[str, str]] = [{} for _ in nodes]
    for count, (number, identifier) in enumerate(segments):
        name = nameOf(segmentations[number], identifier)
        if progress is not None and progress(count, len(segments), name) is False:
            return None
        try:
            read[number][identifier] = readers[number].structure(identifier, surface, by="ID")
        except InputError as error:
            problems[number][identifier] = str(error)
    return read, problems


def _failuresOf(pairing: Pairing, problems: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return why pairs of segments, and segments without a counterpart, cannot be measured, by what they are called.

    problems: of the segments of either node that cannot be read, by segment ID.
    """
    alone = [(structure, None) for structure in pairing.unmatchedReference]
    alone += [(None, structure) for structure in pairing.unmatchedTest]
    failures = {}
    for sides in (*map(tuple, pairing.pairs), *alone):
        whys = [ofNode.get(s.source["segmentID"]) for s, ofNode in zip(sides, problems, strict=True) if s is not None]
        if any(whys):
            failures[pairTitle(s.name for s in sides if s is not None)] = " ".join(dict.fromkeys(filter(None, whys)))
    return failures


def _measurable(pairing: Pairing, reference: Mapping[str, Structure], test: Mapping[str, Structure]) -> Pairing:
    """Return a pairing of segments as one of the structures that were read of them, by segment ID.

    Those that could not be read are in it no more, and neither are their partners: what one side lacks only because it
    cannot be measured there is nothing that it lacks.
    """

    def found(segments: Iterable, structures: Mapping[str, Structure]) -> list[Structure | None]:
        return [structures.get(segment.source["segmentID"]) for segment in segments]

    ours, theirs = found((r for r, _ in pairing.pairs), reference), found((t for _, t in pairing.pairs), test)
    pairs = zip(pairing.pairs, ours, theirs, strict=True)
    return replace(
        pairing,
        pairs=tuple(replace(match, reference=r, test=t) for match, r, t in pairs if r is not None and t is not None),
        unmatchedReference=tuple(filter(None, found(pairing.unmatchedReference, reference))),
        unmatchedTest=tuple(filter(None, found(pairing.unmatchedTest, test))),
    )
