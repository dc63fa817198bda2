"""Several observers in Slicer: segmentation nodes in; consensus, map of the local SD and matrices out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from ..base.errors import InputError, requireFunction, requireKind
from ..case.casework import Progress, atOnce
from ..case.observers.consensus import METHODS
from ..case.observers.gathering import gather, withNames
from ..case.observers.observed import ObservedStructure
from ..case.observers.study import ObserverStudy, observeAll
from ..geometry.masks import Mask
from ..model.structure import Structure
from ..model.structureset import LeftOut, StructureSet
from ..settings.settings import Settings, asSettings
from ..show.maps import Coloring, nearestValues, variationLimit
from ..show.tablemodel import Column, Table
from . import folders, outputs
from .conversion import addVoxels, drawnSurface, pointsOf
from .folders import resultNode
from .inputs import SegmentReader, asDisplayed, findSegment, nameOf, readAll, segmentationOf
from .nodes import addToPoints

STUDY_ATTRIBUTE = "SegmentMetrics.Observers"


def compareObservers(
    observers: Sequence | Mapping,
    settings: Settings | None = None,
    *,
    tests: Sequence | Mapping = (),
    names: Sequence[str] | None = None,
    consensus: str = METHODS[0],
    progress: Progress | None = None,
    run: Callable[[Callable[[], ObservedStructure | InputError]], ObservedStructure | InputError] = atOnce,
) -> ObserverStudy:
    """Compare several observers, given as segmentation nodes, with each other, and tests with them.

    Parent transforms are applied. The nodes are not changed.

    Parameters
    ----------
    observers : Sequence | Mapping
        At least two, or a mapping from their names: each a vtkMRMLSegmentationNode with all its segments, or a segment
        as (node, name or ID), so that segments of one node can be observers, too.
    settings, tests, names, consensus, progress : optional
        As for SegmentMetricsLib.compareObservers; the names are those of nodes or segments if None.
    run : Callable, optional
        As for compareSegments, called once for each structure.

    Returns
    -------
    ObserverStudy

    Raises
    ------
    ValueError
        For fewer than two observers, for nodes that are not segmentations, and for unknown segments.
    """
    settings = asSettings(settings)
    requireFunction(run, "The function that runs the calculation")
    observers, tests, names = withNames(observers, tests, names, lambda some: _names(some, len(some)))
    given = [*observers, *tests]
    read = [_read(one, settings.surface) for one in given]
    called = names if names is not None else _names(given, len(observers))
    count = len(observers)
    case = gather(read[:count], read[count:], settings, called, consensus)
    # the consensus is measured on the surface that Slicer would show of it
    return observeAll(replace(case, displayed=asDisplayed), progress, run)


def _isSegment(given) -> bool:
    return isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[1], str)


def _read(given, surface: str) -> Structure | StructureSet:
    """Return a segment as a structure, or all segments of a node as a set with the reasons why some cannot be used."""
    if _isSegment(given):
        return SegmentReader(given[0]).structure(given[1], surface)
    structures, problems = readAll(given, surface)
    leftOut = (LeftOut(nameOf(given.GetSegmentation(), identifier), why) for identifier, why in problems.items())
    return StructureSet(tuple(structures.values()), leftOut=tuple(leftOut))


def _names(given: Sequence, count: int) -> list[str]:
    """Return the names of nodes and segments; with the node's if several segments are called alike, else by number."""
    nodes = [one[0] if _isSegment(one) else one for one in given]
    segments = [nameOf(segmentationOf(one[0]), findSegment(*one)) if _isSegment(one) else "" for one in given]
    ways = (
        [segment or node.GetName() for segment, node in zip(segments, nodes, strict=True)],
        [node.GetName() for node in nodes],
        [f"{node.GetName()} {segment}".strip() for segment, node in zip(segments, nodes, strict=True)],
        [f"Observer {n + 1}" if n < count else f"Test {n + 1 - count}" for n in range(len(given))],
    )
    return next(names for names in ways if len(set(names)) == len(names))


def owner(study: ObserverStudy | ObservedStructure) -> folders.ComparedObservers:
    """Return what stands in for a study when its results are searched for."""
    return folders.ComparedObservers((*study.observers, *study.testNames))


def showConsensus(study: ObserverStudy, *, segmentationNode=None, scene=None):
    """Show the consensus of all structures as a new segmentation and return its vtkMRMLSegmentationNode.

    Parameters
    ----------
    study : ObserverStudy
        The result of compareObservers().
    segmentationNode, scene : optional
        As for showTable; all segments of the node are replaced.

    Returns
    -------
    vtkMRMLSegmentationNode

    Raises
    ------
    ValueError
        If no structure has a consensus.
    """
    requireKind(study, ObserverStudy, "What is shown", "the result of compareObservers()")
    made = [found for found in study if found.consensus is not None and not found.consensus.isEmpty]
    if not made:
        raise InputError(f"There is no consensus to show. {' '.join(r for found in study for r in found.remarks)}")
    kind, name = "vtkMRMLSegmentationNode", f"Consensus of {len(study.observers)} observers ({made[0].method})"
    with resultNode(kind, owner(study), "consensus", name, scene=scene, given=segmentationNode) as node:
        node.GetSegmentation().RemoveAllSegments()
        for found in made:
            segment = addVoxels(node.GetSegmentation(), found.name, cast(Mask, cast(Structure, found.consensus).mask))
            colors = [s.color for s in found.structures if s is not None and s.color is not None]
            if colors:
                segment.SetColor(*colors[0])
        node.CreateDefaultDisplayNodes()
    return node


def showVariation(found: ObservedStructure, *, surface: str = "displayed", modelNode=None, scene=None):
    """Show where the observers differ and return the vtkMRMLModelNode: the consensus, colored by the local SD.

    Its point array LocalSD is in mm.

    Parameters
    ----------
    found : ObservedStructure
        A structure of the result of compareObservers().
    surface : str, optional
        "displayed" or "measured", as for showDistanceMap.
    modelNode, scene : optional
        As for showTable.

    Returns
    -------
    vtkMRMLModelNode

    Raises
    ------
    ValueError
        If there is no map.
    """
    requireKind(found, ObservedStructure, "What is shown", "a structure of the result of compareObservers()")
    if found.variation is None:
        raise InputError(f"There is no map of where the observers of {found.name} differ. {' '.join(found.remarks)}")
    measured, values = found.variation.surface, found.variation.localSD
    coloring = Coloring("sd", variationLimit(found), 0.0, True)
    polyData, isMeasured = drawnSurface(found.consensus, "consensus", measured, surface)
    if not isMeasured:
        values = nearestValues(pointsOf(polyData), measured.points, values)
    addToPoints(polyData, coloring.legend.array, values)
    role, name = f"local SD of {found.name}", f"{found.name}: local SD of {len(found.having)} observers"
    with resultNode("vtkMRMLModelNode", owner(found), role, name, scene=scene, given=modelNode) as model:
        model.SetAndObservePolyData(polyData)
    outputs.colorMap(model, coloring)
    return model


def showMatrix(found: ObservedStructure, key: str, *, tableNode=None, scene=None):
    """Show the matrix of a measurement as a table and return its vtkMRMLTableNode.

    A row is the reference and a column the test; both are in the order of the observers and then of the tests. Missing
    numbers are NaN. The node's attribute SegmentMetrics.Observers holds found.toDictionary() as JSON with all digits.

    Parameters
    ----------
    found : ObservedStructure
        A structure of the result of compareObservers().
    key : str
        Key of the measurement, such as "HD95".
    tableNode, scene : optional
        As for showTable.

    Returns
    -------
    vtkMRMLTableNode

    Raises
    ------
    ValueError
        For a measurement that was not made.
    """
    requireKind(found, ObservedStructure, "What is shown", "a structure of the result of compareObservers()")
    if key not in found.pairs.keys:
        raise InputError(f"{key} was not measured; choose from {', '.join(found.pairs.keys)}.")
    one = found.pairs.any(key)
    columns = [Column("Reference", isText=True)]
    columns += [Column(name, unit=one.unit, description=one.title) for name in found.everyone]
    values = np.where(np.eye(len(found.everyone), dtype=bool), np.nan, found.pairs.values(key))
    rows = [[name, *map(float, row)] for name, row in zip(found.everyone, values, strict=True)]
    role, name = f"matrix of {found.name}", f"{found.name}: {key} of all observers"
    with resultNode("vtkMRMLTableNode", owner(found), role, name, scene=scene, given=tableNode) as node:
        outputs.fillTable(node, Table(columns, rows))
        node.SetAttribute(STUDY_ATTRIBUTE, json.dumps(found.toDictionary(), allow_nan=False))
    return node
