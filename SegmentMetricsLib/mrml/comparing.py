"""Comparing segments of segmentation nodes."""

from __future__ import annotations

from collections.abc import Callable

from ..comparison import Comparison, compare
from ..settings import Settings
from ..structures import Structure, pairByName
from .inputs import structureFromSegment


class Comparisons(list):
    """The comparisons of two segmentations, and the structures that only one of them has."""

    def __init__(self, comparisons=(), unmatchedReference=(), unmatchedTest=()):
        super().__init__(comparisons)
        self.unmatchedReference: tuple[Structure, ...] = tuple(unmatchedReference)
        self.unmatchedTest: tuple[Structure, ...] = tuple(unmatchedTest)


def compareSegments(
    referenceNode, referenceSegment: str, testNode, testSegment: str, settings: Settings | None = None
) -> Comparison:
    """Compare a segment of one segmentation node with a segment of another or the same one.

    Segments are given by name or ID; parent transforms are applied; the nodes are not changed.
    Raises ValueError for unknown segments and for segments without a closed surface.
    """
    settings = settings or Settings()
    reference = structureFromSegment(referenceNode, referenceSegment, settings.surface)
    test = structureFromSegment(testNode, testSegment, settings.surface)
    return compare(reference, test, settings)


def compareSegmentations(
    referenceNode,
    testNode,
    settings: Settings | None = None,
    progress: Callable[[int, int, str], bool | None] | None = None,
) -> Comparisons:
    """Compare all segments of two segmentation nodes that have the same name.

    progress: called before every pair with its number, the number of pairs and the structure's name; returning False
    stops there. Raises ValueError as compareSegments, and when a name occurs twice in one segmentation.
    """
    settings = settings or Settings()
    reference, test = (
        [
            structureFromSegment(node, identifier, settings.surface)
            for identifier in node.GetSegmentation().GetSegmentIDs()
        ]
        for node in (referenceNode, testNode)
    )
    pairing = pairByName(reference, test)
    result = Comparisons([], pairing.unmatchedReference, pairing.unmatchedTest)
    for number, (one, other) in enumerate(pairing.pairs):
        if progress is not None and progress(number, len(pairing.pairs), one.name) is False:
            break
        result.append(compare(one, other, settings))
    return result
