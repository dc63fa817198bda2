"""Pairing the segments of two segmentation nodes, for review and editing before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from ..base.errors import InputError, requireFunction
from ..case.pairing import pairStructures, propose
from ..model.structure import Identity
from ..model.structures import Match, Pairing, nameMeant
from ..settings.settings import DECLARED
from .inputs import SegmentReader, nameOf, segmentationOf, tagOf


def pairSegments(
    referenceNode,
    testNode,
    *,
    choices: Mapping[str, str | None] | None = None,
    proposed: Mapping[str, float] | None = None,
) -> Pairing:
    """Return the pairing of two nodes' segments, by names and terminology, that compareSegmentations would use.

    No voxels are read, so there are no proposals, and the pairing contains names and sources instead of structures.

    Parameters
    ----------
    referenceNode
        The vtkMRMLSegmentationNode of the reference.
    testNode
        The vtkMRMLSegmentationNode of the test.
    choices : Mapping[str, str | None] | None, optional
        As for pairing.pairStructures.
    proposed : Mapping[str, float] | None, optional
        As for pairing.pairStructures.

    Returns
    -------
    Pairing

    Raises
    ------
    ValueError
        For nodes that are not segmentations, for a chosen name that does not exist, and if no pair remains because of
        names that occur more than once.
    """
    both: list[list] = []
    for node in (referenceNode, testNode):
        segmentation = segmentationOf(node)
        both.append([])
        for identifier in segmentation.GetSegmentIDs():
            segment = segmentation.GetSegment(identifier)
            code = tagOf(segment, segment.GetTerminologyEntryTagName())
            name = nameOf(segmentation, identifier)
            both[-1].append(Identity(name, terminology=code, nodeID=node.GetID(), segmentID=identifier))
    return pairStructures(*both, choices=choices, proposed=proposed, isProposing=False)


def proposePairs(
    referenceNode,
    testNode,
    *,
    choices: Mapping[str, str | None] | None = None,
    surface: str = "unsmoothed",
    run: Callable[[Callable[[], list[Match]]], list[Match]] = lambda work: work(),
) -> list[Match]:
    """Return pairs of overlapping segments among those that pairSegments leaves unmatched, most confident first.

    The confidence is the Dice similarity coefficient. Segments that `choices` leaves without a counterpart, and those
    that cannot be measured, are not proposed.

    Parameters
    ----------
    referenceNode
        The vtkMRMLSegmentationNode of the reference.
    testNode
        The vtkMRMLSegmentationNode of the test.
    choices : Mapping[str, str | None] | None, optional
        As for pairing.pairStructures.
    surface : str, optional
        As in Settings.
    run : Callable[[Callable[[], list[Match]]], list[Match]], optional
        As in comparing.compareSegments.

    Returns
    -------
    list[Match]

    Raises
    ------
    ValueError
        As pairSegments does.
    """
    DECLARED["surface"].check(surface)
    requireFunction(run, "The function that runs the calculation")
    pairing = pairSegments(referenceNode, testNode, choices=choices)
    left = pairing.unmatchedReference
    alone = [nameMeant(name, left) for name, counterpart in (choices or {}).items() if counterpart is None]
    structures: list[list] = []
    ours = [segment for segment in left if segment.name not in alone]
    for node, segments in ((referenceNode, ours), (testNode, pairing.unmatchedTest)):
        reader = SegmentReader(node)
        structures.append([])
        for segment in segments:
            with suppress(InputError):  # what cannot be measured a comparison will report
                structures[-1].append(reader.structure(segment.segmentID, surface, by="ID"))
    return run(lambda: propose(*structures))
