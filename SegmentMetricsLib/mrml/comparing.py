"""Comparing segments of segmentation nodes."""

from __future__ import annotations

from collections.abc import Callable

from ..comparison import Comparison, compare
from ..errors import InputError
from ..settings import Settings
from ..structures import Structure, pairByName
from .inputs import structureFromSegment


class Comparisons(list):
    """The comparisons of two segmentations, and the structures that could not be compared.

    unmatchedReference, unmatchedTest: structures that only one of the two has. failures: names of structures that
    cannot be measured and the reasons.
    """

    def __init__(self, comparisons=(), unmatchedReference=(), unmatchedTest=(), failures=None):
        super().__init__(comparisons)
        self.unmatchedReference: tuple[Structure, ...] = tuple(unmatchedReference)
        self.unmatchedTest: tuple[Structure, ...] = tuple(unmatchedTest)
        self.failures: dict[str, str] = {} if failures is None else failures


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

    Segments are given by name or ID; parent transforms are applied; the nodes are not changed.
    run: does the calculation, which touches no node; a user interface hands in one that does it in a thread.
    Raises ValueError for unknown segments and for segments without a closed surface.
    """
    settings = settings or Settings()
    reference = structureFromSegment(referenceNode, referenceSegment, settings.surface)
    test = structureFromSegment(testNode, testSegment, settings.surface)
    return run(lambda: compare(reference, test, settings))


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
    Raises ValueError when a name occurs twice in one segmentation.
    """
    settings = settings or Settings()
    sets: tuple[list[Structure], list[Structure]] = ([], [])
    failures = {}
    segments = [
        (number, node, identifier)
        for number, node in enumerate((referenceNode, testNode))
        for identifier in node.GetSegmentation().GetSegmentIDs()
    ]
    for count, (number, node, identifier) in enumerate(segments):
        name = node.GetSegmentation().GetSegment(identifier).GetName()
        if progress is not None and progress(count, len(segments), name) is False:
            return Comparisons()
        try:
            sets[number].append(structureFromSegment(node, identifier, settings.surface))
        except InputError as error:
            failures[name] = str(error)
    # a structure that one side lacks only because it cannot be measured there is no unmatched one
    pairing = pairByName(*([s for s in structures if s.name not in failures] for structures in sets))
    result = Comparisons([], pairing.unmatchedReference, pairing.unmatchedTest, failures)
    for count, (one, other) in enumerate(pairing.pairs):
        if progress is not None and progress(count, len(pairing.pairs), one.name) is False:
            break
        try:
            result.append(run(lambda one=one, other=other: compare(one, other, settings)))
        except InputError as error:
            result.failures[one.name] = str(error)
    return result
