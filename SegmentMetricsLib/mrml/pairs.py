"""Which segments of two segmentation nodes belong together, to be looked at and edited before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..errors import InputError
from ..pairing import pairStructures, propose
from ..structures import Match, Pairing, codeSource
from .folders import Compared
from .inputs import SegmentReader, nameOf, segmentationOf, tagOf


def pairSegments(referenceNode, testNode, choices: Mapping[str, str | None] | None = None) -> Pairing:
    """Return which segments of two nodes compareSegmentations would compare, by their names and terminology.

    No voxels are read, so there are no proposals; instead of structures there are names and sources. choices: as for
    pairing.pairStructures. Raises ValueError for nodes that are no segmentations, for a chosen name that is not there,
    and when names that occur twice in one leave no pair.
    """
    return pairStructures(_named(referenceNode), _named(testNode), None, choices, isProposing=False)


def proposePairs(
    referenceNode,
    testNode,
    choices: Mapping[str, str | None] | None = None,
    surface: str = "unsmoothed",
    run: Callable[[Callable[[], list[Match]]], list[Match]] = lambda work: work(),
) -> list[Match]:
    """Return which of the segments that pairSegments leaves over share voxels, the surest first.

    The confidence is their Dice similarity coefficient; segments that `choices` leaves without a counterpart, and those
    that cannot be measured, are in no pair. surface: as in Settings. run: as in comparing.compareSegments. Raises
    ValueError as pairSegments does.
    """
    pairing = pairSegments(referenceNode, testNode, choices)
    alone = [name for name, counterpart in (choices or {}).items() if counterpart is None]
    sides = (
        (referenceNode, [s for s in pairing.unmatchedReference if s.name not in alone]),
        (testNode, pairing.unmatchedTest),
    )
    structures = [_measurable(node, left, surface) for node, left in sides]
    return run(lambda: propose(*structures))


def _named(node) -> list[Compared]:
    """Return the names, codes and IDs of the segments of a node, in place of structures."""
    segmentation = segmentationOf(node)
    found = []
    for identifier in segmentation.GetSegmentIDs():
        segment = segmentation.GetSegment(identifier)
        code = codeSource(tagOf(segment, segment.GetTerminologyEntryTagName()))
        found.append(
            Compared(nameOf(segmentation, identifier), {"nodeID": node.GetID(), "segmentID": identifier, **code})
        )
    return found


def _measurable(node, segments, surface: str) -> list:
    """Return the structures of segments, without those of which a comparison will say why they cannot be measured."""
    structures, reader = [], SegmentReader(node)
    for segment in segments:
        try:
            structures.append(reader.structure(segment.source["segmentID"], surface, by="ID"))
        except InputError:
            continue
    return structures
