"""Numbered markers at the worst places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..base.errors import requireKind
from ..base.palettes import SIGNED, rgb
from ..case.places import Place
from ..show.explanations import ofPlace
from .folders import resultNode
from .nodes import asScene, inRas, oneChange, requireComparison
from .outputs import pairName

# the end colors of the distance map, readable as text on a light background
UNDER_COLOR, OVER_COLOR = SIGNED[0], SIGNED[-1]


def showMarkers(
    comparison, *, places: Sequence[Place] | None = None, markersNode=None, scene=None, signed: bool | None = None
):
    """Show a numbered marker at every worst place of a pair and return the vtkMRMLMarkupsFiducialNode.

    A marker's label is the rank of the place, its description is that of ofPlace(). Markers are red where the test
    lies outside the reference, blue where inside. They cannot be moved, and the user's markup placement is not
    affected. Without places the node is empty and hidden.

    Parameters
    ----------
    comparison
        The comparison to show.
    places : Sequence[Place] | None, optional
        None uses comparison.worstPlaces.
    markersNode, scene : optional
        As for showTable.
    signed : bool | None, optional
        Whether inside and outside can be told apart; None determines it from the comparison's distances.

    Returns
    -------
    vtkMRMLMarkupsFiducialNode
    """
    requireComparison(comparison)
    scene = asScene(scene)
    places = comparison.worstPlaces if places is None else places
    requireKind(places, Sequence, "The places", "Places, like comparison.worstPlaces")
    for place in places:
        requireKind(place, Place, "Each of the places", "a Place")
    if signed is None:
        signed = comparison.distances is not None and comparison.distances.hasSides
    kind, name = "vtkMRMLMarkupsFiducialNode", f"{pairName(comparison)}: worst places"
    with placingKept(scene), resultNode(kind, comparison, "markers", name, scene=scene, given=markersNode) as node:
        isNew = node.GetDisplayNode() is None
        node.CreateDefaultDisplayNodes()
        node.SetFixedNumberOfControlPoints(False)
        node.RemoveAllControlPoints()
        for place in places:
            index = node.AddControlPoint(*inRas(place.position).tolist(), str(place.rank))
            node.SetNthControlPointDescription(index, ofPlace(place, signed))
            # the only way to use two colors: selected points have their own
            node.SetNthControlPointSelected(index, place.value > 0)
            node.SetNthControlPointLocked(index, True)
        node.SetFixedNumberOfControlPoints(True)
        node.SetLocked(True)
    display = node.GetDisplayNode()
    with oneChange(display):
        if isNew:  # readable on surfaces and on images, light or dark
            display.SetColor(*rgb(UNDER_COLOR))
            display.SetSelectedColor(*rgb(OVER_COLOR))
            display.SetActiveColor(*rgb(OVER_COLOR))
            display.SetUseGlyphScale(True)
            display.SetGlyphScale(1.3)  # % of the view: a small structure is still seen between them
            display.SetTextScale(3.0)
            display.SetPointLabelsVisibility(True)
            display.SetPropertiesLabelVisibility(False)
            # a place at the back of the structure shines through
            display.SetOccludedVisibility(True)
            display.SetOccludedOpacity(0.3)
            text = display.GetTextProperty()
            text.SetBold(True)
            text.SetBackgroundColor(1, 1, 1)
            text.SetBackgroundOpacity(0.5)
        display.SetVisibility(bool(places))
    return node


@contextmanager
def placingKept(scene) -> Iterator[None]:
    """Restore the user's markup placement after adding a markups node; otherwise clicks would add points to it."""
    selection = scene.GetNodeByID("vtkMRMLSelectionNodeSingleton")
    interaction = scene.GetNodeByID("vtkMRMLInteractionNodeSingleton")
    before = selection and (selection.GetActivePlaceNodeClassName(), selection.GetActivePlaceNodeID())
    mode = interaction and interaction.GetCurrentInteractionMode()
    yield
    if selection and before != (selection.GetActivePlaceNodeClassName(), selection.GetActivePlaceNodeID()):
        selection.SetReferenceActivePlaceNodeClassName(before[0])
        selection.SetReferenceActivePlaceNodeID(before[1])
    if interaction and interaction.GetCurrentInteractionMode() != mode:
        interaction.SetCurrentInteractionMode(mode)
