"""Showing the distance map as the user wants it."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.mrml import maps, showDistanceMap


class MapControls:
    """Draws the maps of one pair as the parameters say, and hides those of all others.

    `problem` says why a map that is wanted cannot be shown, "" when it can.
    """

    def __init__(self, ui):
        self.ui = ui
        self.problem = ""
        self.shown = None

    def show(self, parameters, outcome, number: int) -> None:
        """Show the map of a pair of an outcome, or none when that is None.

        Nothing is done when nothing is new, so that what the user does to the model by other means stays.
        """
        p = parameters
        wanted = (p.showMap, p.mapSide, p.mapKind, p.mapSurface, p.automaticRange, p.opacity, p.sliceContour, p.legend)
        wanted += (outcome, number, None if p.automaticRange else p.range)
        if wanted == self.shown:
            return
        self.shown = None  # until it is done
        self.problem = ""
        scene = slicer.mrmlScene
        isFirst = not maps.allMaps(scene)
        found = {}
        if outcome is not None and outcome.records and p.showMap:
            kind = self._kind(p, outcome)
            found = self._draw(p, outcome, number, kind)
        for side, model in list(found.items()):
            automatic = maps.mapInformation(model)["limit"]
            if p.automaticRange and p.range != automatic:
                p.range = automatic
            try:
                maps.recolor(model, kind, p.range)
            except InputError as error:
                self.problem = str(error)
                del found[side]
                continue
            maps.setOpacity(model, p.opacity)
        maps.showMaps(list(found.values()), scene, p.sliceContour, p.legend)
        if found and isFirst and slicer.app.layoutManager() is not None:
            slicer.util.resetThreeDViews()  # the organ may lie anywhere
        self._enable(p)
        self.shown = wanted

    def onRemoved(self, node) -> bool:
        """Bring back the segments that a map covers that is about to be removed; return whether one that is shown is.

        node: any node.
        """
        scene = slicer.mrmlScene
        if not maps.isMap(node):
            return False
        maps.cover([model for model in maps.allMaps(scene) if model is not node and maps.isShown(model)], scene)
        return maps.isShown(node)

    def _kind(self, parameters, outcome) -> str:
        """Return what the colors mean: what is wanted, where that was measured."""
        if parameters.mapKind.name == "hazard" and "hazard" not in outcome.settings.families:
            self.problem = _("Hazard was not measured: the map shows signed distances.")
            return "signed"
        return parameters.mapKind.name

    def _draw(self, parameters, outcome, number: int, kind: str) -> dict:
        """Return the wanted maps by side; those that are missing, old, or of the other kind of surface are made."""
        found = maps.findMaps(outcome.pair(number), slicer.mrmlScene)
        shown = {}
        for side in parameters.mapSide.sides:
            model = found.get(side)
            isRight = outcome.shows(model) and maps.hasSurface(model)
            isRight = isRight and maps.mapInformation(model)["surface"] == parameters.mapSurface.name
            if not isRight and outcome.comparisons is None:
                self.problem = _("This map was not saved with the scene: Apply to draw it.")
                continue
            if not isRight:
                try:
                    model = showDistanceMap(
                        outcome.comparisons[number],
                        side,
                        kind,
                        surface=parameters.mapSurface.name,
                        modelNode=model,
                    )
                except InputError as error:
                    self.problem = str(error)
                    continue
                outcome.mark(model)
            shown[side] = model
        return shown

    def _enable(self, parameters) -> None:
        self.ui.mapControlsFrame.enabled = parameters.showMap
        hasRange = parameters.mapKind.name in ("signed", "absolute")
        for control in (self.ui.rangeLabel, self.ui.automaticRangeCheckBox):
            control.enabled = hasRange
        self.ui.rangeSpinBox.enabled = hasRange and not parameters.automaticRange
