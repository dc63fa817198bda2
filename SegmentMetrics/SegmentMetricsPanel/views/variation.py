"""The consensus of several observers, colored by how they vary, and as a segmentation of its own."""

import slicer

from SegmentMetricsLib.mrml import colors, folders, navigation, showConsensus, showVariation
from SegmentMetricsLib.mrml.conversion import pointsOf
from SegmentMetricsLib.mrml.maps import coverNodes
from SegmentMetricsLib.mrml.outcomes import CONSENSUS_ROLE, VARIATION_ROLE, variationMaps

from ..contents.observers import outlierPlaces
from ..translation import _
from ..work import waiting
from .focus import boxAround
from .view import View


class VariationView(View):
    """Shows the map of the local SD while all observers are looked at together."""

    def __init__(self, panel):
        super().__init__(panel)
        self.observers, self.isNew, self.shown = self.model.observers, False, ()
        self.map = None  # the model that is shown
        self.framed = None  # the run and the structure that the views went to last
        self.isDrawing = False

    def take(self) -> None:
        """Note that there are new results: their consensus is to be made, and the views are to go there."""
        self.shown, self.isNew = None, True

    def release(self) -> None:
        super().release()
        self.shown, self.isNew, self.map = (), False, None

    def state(self) -> tuple:
        """Return the run and the structure that is looked at, and whether its map is wanted; () for none."""
        outcome, found = self.observers.outcome, self.observers.structure()
        if not self.observers.isShown or self.model.outcome is not None or found is None:
            return ()
        return outcome.run, found["name"], self.model.parameters.showVariation and bool(found["variation"])

    def draw(self) -> None:
        self.isDrawing = True
        try:
            self._show(self.observers.outcome, self.observers.structure(), self.state())
        finally:
            self.isDrawing = self.isNew = False

    def _show(self, outcome, found, wanted) -> None:
        *looked, isMapWanted = wanted or [False]
        with waiting():
            if self.isNew and any(one.consensus is not None and not one.consensus.isEmpty for one in outcome.study):
                isFirst = folders.findResult(outcome.owner, CONSENSUS_ROLE, slicer.mrmlScene) is None
                node = outcome.mark(showConsensus(outcome.study))
                if isFirst:  # later it is shown as the user likes it
                    node.GetDisplayNode().SetVisibility2DFill(False)
            model = None
            if isMapWanted:
                lost = _("The map of the local SD is not in the scene. Press Apply again to draw it.")
                hasSurface, name = lambda model: model.GetPolyData() is not None, found["name"]
                make, role = lambda study: showVariation(study[name]), VARIATION_ROLE.format(name=name)
                model = self.resultOf(outcome, outcome.owner, role, hasSurface, outcome.study, make, lost)
            for other in variationMaps(slicer.mrmlScene):
                other.GetDisplayNode().SetVisibility(other is model)
                legend = colors.legendOf(other)
                if legend is not None:
                    legend.SetVisibility(other is model)
            consensus = outcome.result(outcome.owner, CONSENSUS_ROLE) if outcome is not None else None
            coverNodes([*outcome.nodes, consensus] if model is not None else [], slicer.mrmlScene)
            isOther = self.isNew or self.framed not in (None, looked)
            if looked and isOther and outcome.study is not None:
                self._frame(outcome.study[found["name"]], model, outlierPlaces(found))
            self.framed = looked or self.framed
        self.removeObservers()
        self.map = model
        if model is not None:
            self.addObserver(model, slicer.vtkMRMLDisplayableNode.DisplayModifiedEvent, self.onDisplay)

    def onDisplay(self, model, _event) -> None:
        """Show the segmentations in 3D again when the map was hidden outside the panel, as in the Data module."""
        display = model.GetDisplayNode()
        if not self.isDrawing and display is not None and not display.GetVisibility():
            self.uncover()
            self.model.parameters.showVariation = False

    def onRemoved(self, node) -> bool:
        """Show the segmentations in 3D again when the map is about to be removed; return whether it was shown."""
        if node is not self.map:
            return False
        self.uncover()
        return True

    def uncover(self) -> None:
        self.removeObservers()
        self.map = None
        coverNodes([], slicer.mrmlScene)

    def _frame(self, found, model, places) -> None:
        """Let all views go to the outlier's worst place and show what all observers have drawn around it."""
        place = places[0] if places else None
        position, normal = (place.position, place.normal) if place is not None else (None, None)
        drawn = pointsOf(model.GetPolyData()) if model is not None else None
        if found.drawn:
            box = boxAround([found.structures[number] for number in found.drawn])
            navigation.frame(box, position, normal=normal, drawn=drawn, scene=slicer.mrmlScene)
