"""Showing the distance map with the options that the user chose, and hazard over the image in the slice views."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.mrml import maps, showDistanceMap, showHazard
from SegmentMetricsLib.mrml.hazard import showOver
from SegmentMetricsLib.mrml.outputs import mapRole

from ..contents.maps import farthest, isEmpty, kindOf
from .view import ExplainedButton, View, say, silent

# The controls of a map, except those of its range.
OF_MAP = (
    *("mapSideLabel", "mapSideComboBox", "mapKindLabel", "mapKindComboBox", "mapSurfaceLabel", "mapSurfaceComboBox"),
    *("opacityLabel", "opacitySlider", "mapOptionsLabel", "sliceContourCheckBox", "legendCheckBox"),
)


class MapView(View):
    """Draws the maps of the shown pair according to the parameters, and hides those of all other pairs."""

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        self.showButton = ExplainedButton(ui.showMapCheckBox)
        self.isDrawing = False
        self.held = None  # the pair and kind that are drawn on, and the range of their colors
        self.current = []  # the pair's maps on the chosen sides, shown or not
        self.visible = []  # all visible maps
        self.prepared = {}  # what drawAhead() returned for the shown outcome
        ui.rangeSpinBox.connect("valueChanged(double)", self.onRange)
        ui.automaticRangeCheckBox.connect("clicked(bool)", self.onAutomatic)

    def state(self) -> tuple:
        p = self.model.parameters
        wanted = (p.showMap, p.mapSide, p.mapKind, p.mapSurface, p.automaticRange, p.opacity, p.sliceContour, p.legend)
        return *self.pair, *wanted, None if p.automaticRange else p.range, self.model.edit() is not None

    def draw(self) -> None:
        """Show the map, or none; what has not changed is left as somebody made it outside the panel."""
        self.isDrawing = True
        try:
            self._show()
        finally:
            self.isDrawing = False
        self._watch()
        self._enable(self.model.parameters, self.model.record())

    def release(self) -> None:
        super().release()
        self.current, self.visible = [], []

    def _show(self) -> None:
        p, (outcome, number) = self.model.parameters, self.pair
        found, kind = {}, p.mapKind.name
        if self.model.record() is not None and p.showMap:
            kind, self.problem = kindOf(p, outcome)
            found = self._draw(outcome, number, kind)
        if not p.automaticRange:
            self._showRange(p.range)
        held = self._heldRange(found, kind) if p.automaticRange else p.range
        for side, model in list(found.items()):
            if p.automaticRange:
                self._showRange(held or maps.mapInformation(model)["limit"])
            try:
                maps.recolor(model, kind, held)
            except InputError as error:
                self.problem = str(error)
                del found[side]
        maps.showMaps(list(found.values()), slicer.mrmlScene, p.sliceContour, p.legend, p.opacity)

    def _heldRange(self, found, kind: str) -> float | None:
        """Return the range in mm that colors had when the user began to draw, None for that of what is shown now."""
        edit = self.model.edit()
        if edit is None or kind not in ("signed", "absolute", "bld"):
            self.held = None
        elif found and (self.held is None or self.held[0] != (edit.pair, kind)):
            self.held = (edit.pair, kind), max(maps.mapInformation(model)["limit"] for model in found.values())
        return self.held and self.held[1]

    def _showRange(self, range: float) -> None:
        """Show the range of a map in mm without storing it as a choice in the parameters."""
        with silent(self.ui.rangeSpinBox):
            self.ui.rangeSpinBox.value = range

    def onAutomatic(self, isAutomatic: bool) -> None:
        """Start from the shown range when the user turns off the automatic one."""
        if not isAutomatic:
            self.onRange(self.ui.rangeSpinBox.value)

    def onRange(self, range: float) -> None:
        if self.panel.isActive:
            self.model.parameters.range = range

    def _watch(self) -> None:
        """Observe the maps in order to notice when one is shown or hidden outside the panel."""
        models, (outcome, number) = maps.allMaps(slicer.mrmlScene), self.pair
        self.visible = [model for model in models if maps.isShown(model)]
        sides = self.model.parameters.mapSide.sides if self.model.record() is not None else ()
        self.current = [one for side in sides if (one := outcome.result(outcome.pair(number), mapRole(side)))]
        self.removeObservers()
        for model in models:
            self.addObserver(model, slicer.vtkMRMLDisplayableNode.DisplayModifiedEvent, self.onDisplay)

    def onDisplay(self, _model, _event) -> None:
        """Restore the segments covered by a map that was hidden, and hide those covered by a map that was shown."""
        if self.isDrawing:
            return
        before = self.visible
        self.visible = [model for model in maps.allMaps(slicer.mrmlScene) if maps.isShown(model)]
        if self.visible == before:
            return
        maps.cover(self.visible, slicer.mrmlScene)
        maps.showLegend(self.visible if self.model.parameters.legend else (), slicer.mrmlScene)
        # a map that loses its display node is being removed, which does not change the user's choice
        current = [model for model in self.current if model.GetDisplayNode() is not None]
        wasShown, isShown = (any(model in shown for model in current) for shown in (before, self.visible))
        if isShown != wasShown:  # outside the panel, for example with the eye icon in the Data module
            self.model.parameters.showMap = isShown

    def onRemoved(self, node) -> bool:
        """Restore what a map that is about to be removed covers; return whether the node is a map that was visible."""
        scene = slicer.mrmlScene
        if not maps.isMap(node):
            return False
        if self.hasObserver(node, slicer.vtkMRMLDisplayableNode.DisplayModifiedEvent, self.onDisplay):
            self.removeObserver(node, slicer.vtkMRMLDisplayableNode.DisplayModifiedEvent, self.onDisplay)
        self.current, self.visible = ([m for m in known if m is not node] for known in (self.current, self.visible))
        maps.cover([model for model in maps.allMaps(scene) if model is not node and maps.isShown(model)], scene)
        return maps.isShown(node)

    def _draw(self, outcome, number: int, kind: str) -> dict:
        """Return the chosen maps by side; maps that are missing, outdated, or on the other surface are created."""
        surface, shown = self.model.parameters.mapSurface.name, {}
        if isEmpty(outcome.records[number]):
            return shown  # which the sentence about the pair says
        lost = _("This map is not in the scene. Press Apply again to draw it.")
        for side in self.model.parameters.mapSide.sides:
            prepared, how = self.prepared.get(side), {"side": side, "kind": kind, "surface": surface}
            model = self.resultOf(
                outcome,
                outcome.pair(number),
                mapRole(side),
                lambda model: maps.isMadeFor(model, surface, kind),
                outcome.comparisons,
                lambda pairs, how=how, prepared=prepared: showDistanceMap(pairs[number], **how, drawnSurface=prepared),
                lost,
                isQuick=prepared is not None,
            )
            if model is not None:
                shown[side] = model
        return shown

    def missing(self) -> list[str]:
        """Return the sides whose maps are wanted and have yet to be computed."""
        p, (outcome, number) = self.model.parameters, self.pair
        if self.model.record() is None or not p.showMap:
            return []
        (kind, _problem), surface = kindOf(p, outcome), p.mapSurface.name
        found = {side: outcome.result(outcome.pair(number), mapRole(side)) for side in p.mapSide.sides}
        return [side for side, model in found.items() if model is None or not maps.isMadeFor(model, surface, kind)]

    def _enable(self, p, record) -> None:
        ui, kind, isPossible = self.ui, p.mapKind.name, record is None or bool(record.method)
        self.showButton.enable("" if isPossible else _("No distances were measured."))
        # the check mark stays, because the next structure may have a map
        ui.mapControlsFrame.enabled = p.showMap or not isPossible
        for name in OF_MAP:  # not the control of the hazard overlay, which needs no distances
            getattr(ui, name).enabled = isPossible
        hasRange = isPossible and kind in ("signed", "absolute", "bld")
        ui.rangeLabel.enabled = ui.automaticRangeCheckBox.enabled = hasRange
        ui.rangeSpinBox.enabled = hasRange and not p.automaticRange
        isOfDistances = record is not None and kind not in ("hazard", "dose")
        remark = farthest(record, p.mapSide.sides) if isOfDistances else ""
        notes = [model.GetDescription() for model in self.current] if p.showMap else []
        say(ui.mapFarthestLabel, " ".join(filter(None, (remark, *notes))))


class HazardView(View):
    """Shows the hazard of the shown pair if requested."""

    def state(self) -> tuple:
        return *self.pair, self.model.parameters.showHazard

    def draw(self) -> None:
        outcome, number, isWanted = self.state()
        isMeasured = self.model.record() is not None and "hazard" in outcome.settings.families
        self.ui.showHazardCheckBox.visible = isMeasured
        node = None
        if isMeasured and isWanted:
            lost, measured = _("The hazard is not in the scene. Press Apply again to show it."), outcome.comparisons
            hasImage, make = lambda node: node.GetImageData() is not None, lambda pairs: showHazard(pairs[number])
            node = self.resultOf(outcome, outcome.pair(number), "hazard", hasImage, measured, make, lost)
        showOver(node, slicer.mrmlScene)
