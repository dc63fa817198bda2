"""Comparing segments of segmentation nodes."""

from __future__ import annotations

from collections.abc import Callable

from ..comparison import Comparison, compare
from ..errors import InputError
from ..settings import Settings
from ..structures import Structure, listed, pairByName
from .inputs import segmentationOf, structureFromSegment


class Comparisons(list):
    """The comparisons of two segmentations, and the structures that could not be compared.

    unmatchedReference, unmatchedTest: structures that only one of the two has. failures: names of structures that
    cannot be measured and the reasons. emptyNodes: names of segmentations that have no segments.
    """

    def __init__(self, comparisons=(), unmatchedReference=(), unmatchedTest=(), failures=None, emptyNodes=()):
        super().__init__(comparisons)
        self.unmatchedReference: tuple[Structure, ...] = tuple(unmatchedReference)
        self.unmatchedTest: tuple[Structure, ...] = tuple(unmatchedTest)
        self.failures: dict[str, str] = {} if failures is None else failures
        self.emptyNodes: tuple[str, ...] = tuple(emptyNodes)

    @property
    def remarks(self) -> list[str]:
        """What was not compared and why, in sentences."""
        sentences = [f"{name} has no segments." for name in self.emptyNodes]
        for which, structures in (("reference", self.unmatchedReference), ("test", self.unmatchedTest)):
            if structures:
                sentences.append(f"Only in the {which}: {listed(s.name for s in structures)}.")
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
) -> Comparison:
    """Compare a segment of one segmentation node with a segment of another or the same one.

    Segments are given by name or ID; parent transforms are applied; the nodes are not changed. Critical structures are
    segments of the reference node, by name.
    run: does the calculation, which touches no node; a user interface hands in one that does it in a thread.
    Raises ValueError for unknown segments and for segments without a closed surface.
    """
    settings = settings or Settings()
    reference = structureFromSegment(referenceNode, referenceSegment, settings.surface)
    test = structureFromSegment(testNode, testSegment, settings.surface)
    criticals = criticalStructures(referenceNode, settings)
    return run(lambda: compare(reference, test, settings, criticals=criticals))


def criticalStructures(referenceNode, settings: Settings) -> dict[str, Structure]:
    """Return the critical structures of a reference node that the settings name, none without the hazard family.

    Raises ValueError for names that the node does not have.
    """
    if "hazard" not in settings.families:
        return {}
    return {name: structureFromSegment(referenceNode, name, settings.surface) for name, _ in settings.critical}


def compareSegmentations(
    referenceNode,
    testNode,
    settings: Settings | None = None,
    progress: Callable[[int, int, str], bool | None] | None = None,
    run: Callable[[Callable[[], Comparison]], Comparison] = atOnce,
) -> Comparisons:
    """Compare all segments of two segmentation nodes that have the same name.

    progress: called before every segment that is read and every pair that is compared with its number, their number
    and the structure's name; returning False stops there, and the pairs compared so far are returned. run: as in
    compareSegments. A structure that cannot be measured is a failure with its reason; the others are compared.
    What was not compared is in the result's `remarks`. Raises ValueError for nodes that are no segmentations, and when
    a name occurs twice in one.
    """
    settings = settings or Settings()
    criticals = criticalStructures(referenceNode, settings)
    sets: tuple[list[Structure], list[Structure]] = ([], [])
    failures = {}
    nodes = (referenceNode, testNode)
    segmentations = [segmentationOf(node) for node in nodes]
    segments = [(number, s) for number, one in enumerate(segmentations) for s in one.GetSegmentIDs()]
    for count, (number, identifier) in enumerate(segments):
        name = segmentations[number].GetSegment(identifier).GetName()
        if progress is not None and progress(count, len(segments), name) is False:
            return Comparisons()
        try:
            sets[number].append(structureFromSegment(nodes[number], identifier, settings.surface))
        except InputError as error:
            failures[name] = str(error)
    # a structure that one side lacks only because it cannot be measured there is no unmatched one
    pairing = pairByName(*([s for s in structures if s.name not in failures] for structures in sets))
    emptyNodes = [node.GetName() for node, one in zip(nodes, segmentations) if one.GetNumberOfSegments() == 0]
    result = Comparisons([], pairing.unmatchedReference, pairing.unmatchedTest, failures, emptyNodes)
    for count, (one, other) in enumerate(pairing.pairs):
        if progress is not None and progress(count, len(pairing.pairs), one.name) is False:
            break
        try:
            result.append(run(lambda one=one, other=other: compare(one, other, settings, criticals=criticals)))
        except InputError as error:
            result.failures[one.name] = str(error)
    return result
