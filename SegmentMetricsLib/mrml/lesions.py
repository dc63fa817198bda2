"""Lesions in Slicer: their surfaces, colored by what happened to each, and the list as a table."""

from __future__ import annotations

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkAppendPolyData

from ..base.errors import InputError
from ..base.palettes import EVENTS
from ..base.plain import toPlain
from ..case.comparison import ask
from ..geometry.meshing import fromMask
from ..geometry.surfaces import toPolyData
from ..metrics.instances import Event, Lesions
from ..metrics.pair import Pair
from ..show.maps import Coloring
from ..show.resulttables import LESION_COLUMNS
from ..show.tablemodel import Column, Table
from . import outputs
from .conversion import pointsOf, toRas
from .folders import resultNode
from .navigation import PLACE_COLUMNS
from .nodes import addToPoints, inRas, requireComparison

EVENT = "Event"


def showLesions(comparison, *, modelNode=None, scene=None):
    """Show the lesions of a pair, colored by what happened to each, and return the vtkMRMLModelNode.

    They are those of the reference and the invented ones of the test, in the 3D views with a legend, and in the slice
    views as a colored line. The point array Event holds the index of the color. The colors can be told apart with every
    color vision deficiency.

    Parameters
    ----------
    comparison
        The comparison to show; it must have the family lesions.
    modelNode, scene : optional
        As for showTable.

    Returns
    -------
    vtkMRMLModelNode

    Raises
    ------
    ValueError
        If there are no lesions, or none were looked for.
    """
    found = _requireLesions(comparison)
    if not comparison.hasGeometry:
        raise InputError("The lesions of a record cannot be shown: it holds the numbers, but no surfaces.")
    events = [event for event in EVENTS if any(lesion.event == event for lesion in found)]
    pair = Pair(comparison.reference, comparison.test, comparison.settings)
    ask(pair)
    append = vtkAppendPolyData()
    for side, lesions in zip(("reference", "test"), pair["lesions"], strict=True):
        happened = {lesion.number - 1: events.index(lesion.event) for lesion in found if lesion.side == side}
        if happened:
            append.AddInputData(_colorPoints(lesions, happened))
    append.Update()
    name = f"{outputs.pairName(comparison)}: lesions"
    with resultNode("vtkMRMLModelNode", comparison, "lesions", name, scene=scene, given=modelNode) as model:
        model.SetAndObservePolyData(append.GetOutput())
    names = {Event.INVENTED.value: "invented (test)"}
    words = {names.get(event, event): EVENTS[event] for event in events}
    outputs.colorMap(model, Coloring("lesions", 0.0, 0.0, True), EVENT, words)
    return model


def showLesionsTable(comparison, *, tableNode=None, scene=None):
    """Show what happened to each lesion as a table, those that need a look first, and return the vtkMRMLTableNode.

    Its columns are those of lesions.csv, with the center in RAS mm as R, A and S: jumpToSlice() goes there.

    Parameters
    ----------
    comparison
        The comparison to show; it must have the family lesions.
    tableNode, scene : optional
        As for showTable.

    Returns
    -------
    vtkMRMLTableNode

    Raises
    ------
    ValueError
        If there are no lesions, or none were looked for.
    """
    found = _requireLesions(comparison)
    places = [Column(axis, unit="mm", description="Center of the lesion") for axis in PLACE_COLUMNS]
    rows = [[*list(toPlain(one).values())[:-1], *inRas(one.position).tolist()] for one in found]
    name = f"{outputs.pairName(comparison)}: list of lesions"
    with resultNode("vtkMRMLTableNode", comparison, "lesions table", name, scene=scene, given=tableNode) as node:
        outputs.fillTable(node, Table([*LESION_COLUMNS, *places], rows))
    return node


def _requireLesions(comparison) -> tuple:
    requireComparison(comparison)
    if comparison.lesions is None:
        raise InputError("There are no lesions to show: measure the family lesions.")
    if not comparison.lesions:
        raise InputError("There are no lesions to show: neither structure has one.")
    return comparison.lesions


def _colorPoints(lesions: Lesions, happened: dict[int, int]) -> vtkPolyData:
    """Return the surface around the voxels of some lesions, by number, in RAS, with what happened to each."""
    from scipy.spatial import cKDTree

    result = toRas(toPolyData(fromMask(lesions.mask(happened))))
    voxels = [np.argwhere(mask.voxels)[:, ::-1] + mask.low for mask in map(lesions.masks.__getitem__, happened)]
    nearest = cKDTree(lesions.grid.toWorld(np.concatenate(voxels))).query(pointsOf(result))[1]
    addToPoints(result, EVENT, np.repeat(list(happened.values()), list(map(len, voxels)))[nearest])
    return result
