"""From segmentation nodes to pairs, to a case, and to its comparison."""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..base.errors import InputError, reasonOf, requireFunction
from ..base.progress import Cancelled
from ..case.casework import Case, atOnce, withSurface
from ..case.comparison import adapt
from ..case.pairing import pairStructures, propose, withProposals
from ..case.protocol.protocol import Protocol, asProtocol
from ..face import CaseResult, Comparison
from ..model.dose import Dose
from ..model.ignored import leaveOut, separateIgnored
from ..model.naming import pairTitle
from ..model.structure import Identity, Structure
from ..model.structures import Match, Pairing, nameMeant
from ..model.structureset import StructureSet
from ..settings.settings import DECLARED, Settings
from .inputs import SegmentReader, asDisplayed, doseOf, findSegment, nameOf, readAll, segmentationOf, tagOf

# What comparisons import only when they need it.
LATER = ("scipy.ndimage", "scipy.sparse.csgraph", "scipy.spatial", "vtkmodules.vtkFiltersGeneral")
# The name of the result for scripts in Slicer.
Comparisons = CaseResult


def prepare() -> None:
    """Import what comparisons need, while the user still chooses: the first one then takes no longer than the next."""
    for module in LATER:
        importlib.import_module(module)


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
    referenceNode, testNode
        The vtkMRMLSegmentationNodes of the reference and of the test.
    choices, proposed : Mapping | None, optional
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
    referenceNode, testNode
        The vtkMRMLSegmentationNodes of the reference and of the test.
    choices : Mapping[str, str | None] | None, optional
        As for pairSegments.
    surface : str, optional
        As in Settings.
    run : Callable[[Callable[[], list[Match]]], list[Match]], optional
        As for compareSegments.

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


def openCase(
    reference,
    test,
    settings: Settings | None = None,
    *,
    by: str = "any",
    choices: Mapping[str, str | None] | None = None,
    proposed: Mapping[str, float] | None = None,
    protocol: Protocol | str | os.PathLike | None = None,
    dose=None,
    progress: Callable[[int, int, str], bool | None] | None = None,
) -> Case:
    """Read segments as the structures of a case, and pair them. The nodes are not needed afterwards.

    Parameters
    ----------
    reference, test
        A vtkMRMLSegmentationNode with all its segments, or one of them as (node, name or ID). Two segments are one
        pair, whatever they are called.
    settings : Settings | None, optional
        What to measure and how; None means the defaults. Critical structures are segments of the reference.
    by, choices, proposed, protocol, dose : optional
        As for compareSegments and compareSegmentations.
    progress : Callable[[int, int, str], bool | None] | None, optional
        Called before each segment is read with its index, the total count and its name. Returning False stops it.

    Returns
    -------
    Case

    Raises
    ------
    ValueError
        For nodes that are not segmentations, for unknown and ambiguous segments, for one of two segments that has no
        closed surface, and if no pair remains because of names that occur more than once.
    Cancelled
        If it is stopped.
    """
    settings, plan = adapt(settings, dose=dose if dose is None or isinstance(dose, Dose) else doseOf(dose))
    protocol = asProtocol(protocol)
    isPair = isinstance(reference, (tuple, list)) and isinstance(test, (tuple, list))
    criticals = {}
    if "hazard" in (*settings.families, *(protocol.families if protocol else ())):
        reader = SegmentReader(reference[0] if isPair else reference)
        for name, _ in settings.critical:
            criticals[name] = reader.structure(name, settings.surface, by="name")
    if isPair:
        pair: list[Structure] = []
        for which, (node, segment) in (("reference", reference), ("test", test)):
            identifier = findSegment(node, segment, by)
            try:
                pair.append(SegmentReader(node).structure(identifier, settings.surface, by="ID"))
            except InputError as error:
                name = nameOf(segmentationOf(node), identifier)
                raise InputError(f"The {which}, {name} of {node.GetName()}, cannot be compared. {error}") from error
        if settings.ignore is not None:
            mark = SegmentReader(reference[0]).structure(settings.ignore)
            pair = [withSurface(one, settings, asDisplayed) for one in leaveOut(pair, [mark], settings.ignore)]
        return Case(Pairing((Match(pair[0], pair[1]),), (), ()), settings, protocol, criticals, plan, isWhole=False)
    # segments are paired by name and code, whether or not they can be measured
    pairing = pairSegments(reference, test, choices=choices, proposed=proposed)
    count, numbers = sum(node.GetSegmentation().GetNumberOfSegments() for node in (reference, test)), itertools.count()

    def tell(name: str) -> None:
        if progress is not None and progress(next(numbers), count, name) is False:
            raise Cancelled

    read, problems = zip(*(readAll(node, settings.surface, tell) for node in (reference, test)), strict=True)
    everything = [structures.values() for structures in read]
    if settings.instanceMaps:  # every segment is a lesion
        sides = separateIgnored(everything, settings.ignore, classes=dict(settings.instanceClasses))
        lost = {name: why for reasons in problems for name, why in reasons.items()}
        return Case(pairStructures(*sides, choices=choices), settings, protocol, criticals, plan, unusable=lost)
    if settings.ignore is not None:
        known = separateIgnored(everything, settings.ignore)
        read = tuple({one.segmentID: withSurface(one, settings, asDisplayed) for one in side} for side in known)
    failures = {name: reasonOf(error) for name, error in pairing.failures.items()}
    alone: list[tuple[Structure | None, ...]] = [(structure, None) for structure in pairing.unmatchedReference]
    alone += [(None, structure) for structure in pairing.unmatchedTest]
    for both in (*map(tuple, pairing.pairs), *alone):
        whys = [ofNode.get(one.segmentID) for one, ofNode in zip(both, problems, strict=True) if one is not None]
        if why := " ".join(dict.fromkeys(filter(None, whys))):
            failures[pairTitle(one.name for one in both if one is not None)] = why
    left = [nameMeant(r, pairing.unmatchedReference) for r, t in (choices or {}).items() if t is None]
    ours, theirs = read
    pairs = [
        replace(match, reference=ours[match.reference.segmentID], test=theirs[match.test.segmentID])
        for match in pairing.pairs
        if match.reference.segmentID in ours and match.test.segmentID in theirs
    ]
    pairing = replace(
        pairing,
        pairs=tuple(pairs),
        unmatchedReference=tuple(filter(None, (ours.get(one.segmentID) for one in pairing.unmatchedReference))),
        unmatchedTest=tuple(filter(None, (theirs.get(one.segmentID) for one in pairing.unmatchedTest))),
        sets=(StructureSet.of(ours.values()), StructureSet.of(theirs.values())),
        failures={},
    )
    pairing = withProposals(pairing, left)
    return Case(pairing, settings, protocol, criticals, plan, unusable=failures)


def compareSegments(
    referenceNode,
    referenceSegment: str,
    testNode,
    testSegment: str,
    settings: Settings | None = None,
    *,
    run: Callable[[Callable[[], Any]], Any] = atOnce,
    by: str = "any",
    dose=None,
) -> Comparison:
    """Compare a segment of one segmentation node with a segment of another or the same one.

    Segments are given by name, in any spelling, or by ID. Parent transforms are applied. The nodes are not changed.
    Critical structures are segments of the reference node, by name.

    Parameters
    ----------
    referenceNode, referenceSegment
        The vtkMRMLSegmentationNode of the reference, and the name or ID of its segment.
    testNode, testSegment
        The same for the test.
    settings : Settings | None, optional
        What to measure and how; None means the defaults.
    run : Callable[[Callable[[], Any]], Any], optional
        Executes the calculation, which accesses no node; a user interface can pass a function that runs it in a thread.
    by : str, optional
        "ID" or "name" to accept only one of them; "any" accepts both, but rejects a text that is the ID of one segment
        and the name of another.
    dose : optional
        The dose of a plan: a vtkMRMLScalarVolumeNode as for doseOf, or a Dose. The family dose is then measured, too.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        For unknown and for ambiguous segments, and for segments without a closed surface.
    """
    requireFunction(run, "The function that runs the calculation")
    case = openCase((referenceNode, referenceSegment), (testNode, testSegment), settings, by=by, dose=dose)
    result = case.compare(run=run)
    if result.failures:
        raise InputError(*result.failures.values())
    return result[0]


def compareSegmentations(
    referenceNode,
    testNode,
    settings: Settings | None = None,
    *,
    run: Callable[[Callable[[], Any]], Any] = atOnce,
    dose=None,
    progress: Callable[[int, int, str], bool | None] | None = None,
    choices: Mapping[str, str | None] | None = None,
    proposed: Mapping[str, float] | None = None,
    protocol: Protocol | str | os.PathLike | None = None,
) -> Comparisons:
    """Compare all segments of two segmentation nodes that match by their names or terminology.

    Parameters
    ----------
    referenceNode, testNode
        The vtkMRMLSegmentationNodes of the reference and of the test.
    settings, run, dose : optional
        As for compareSegments; small segments are measured together.
    progress : Callable[[int, int, str], bool | None] | None, optional
        Called before every segment is read and before every pair is compared, with its index, the total count and the
        structure's name; returning False stops the comparison, and the pairs compared so far are returned. If it or run
        raises progress.Cancelled, the same happens unless no pair was compared yet.
    choices, proposed : Mapping | None, optional
        As for pairSegments.
    protocol : Protocol | str | os.PathLike | None, optional
        Defines which measurements every structure needs, and determines the result's `judgment`: a Protocol, a file, or
        the name of an example. A structure that cannot be measured, or whose name occurs more than once in a node, is a
        failure with its reason; the others are compared. The result's `remarks` list everything that was not compared.

    Returns
    -------
    Comparisons

    Raises
    ------
    ValueError
        For nodes that are not segmentations, and if no pair remains because of names that occur more than once.
    """
    requireFunction(run, "The function that runs the calculation")
    if progress is not None:
        requireFunction(progress, "The progress function")
    options = {"choices": choices, "proposed": proposed, "protocol": protocol, "dose": dose}
    try:
        case = openCase(referenceNode, testNode, settings, **options, progress=progress)
    except Cancelled:
        return Comparisons()
    result = case.compare(progress, run)
    nodes = (referenceNode, testNode)
    result.emptyNodes = tuple(node.GetName() for node in nodes if not node.GetSegmentation().GetNumberOfSegments())
    return result
