"""Showing the distance map with the options that the user chose, and hazard over the image in the slice views."""

from functools import partial

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.mrml import maps, showDistanceMap, showHazard
from SegmentMetricsLib.mrml.hazard import showOver
from SegmentMetricsLib.mrml.outputs import mapRole

from ..contents.maps import controls, isEmpty, kindOf
from ..markup import explain
from ..model.enumerations import MapKind
from .buttons import ExplainedButton
from .view import View, say, silent

# The controls of a map, except those of its range.
OF_MAP = ("mapSideLabel", "mapSideComboBox", "mapKindLabel", "mapKindComboBox", "mapSurfaceLabel", "mapSurfaceComboBox",
          "opacityLabel", "opacitySlider", "mapOptionsLabel", "sliceContourCheckBox", "legendCheckBox")  # fmt: skip


class MapView(View):
    """Draws the maps of the shown pair according to the parameters, and hides those of all other pairs."""

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        meanings = {
            MapKind.signed: _("where the test lies outside or inside the reference."),
            MapKind.absolute: _("how far the two lie apart."),
            MapKind.tolerance: _("what lies farther apart than the tolerance τ."),
            MapKind.hazard: _("how near the boundary is to critical structures."),
            MapKind.bld: _("how far apart corresponding points lie, which also shows spikes of the other surface."),
            MapKind.dose: _("what dose the surface receives."),
        }
        explain(ui.mapKindComboBox, "\n".join(f"{kind.label()}: {meaning}" for kind, meaning in meanings.items()))
        self.showButton = ExplainedButton(ui.showMapCheckBox)
        self.isDrawing = False
        self.held = None  # the pair and kind that are drawn on, and the range of their colors
        self.current = []  # the pair's maps on the chosen sides, shown or not
        self.visible = []  # all visible maps
        self.prepared = {}  # what drawAhead() returned for the shown outcome
        ui.rangeSpinBox.connect("valueChanged(double)", panel.onMapRange)
        ui.automaticRangeCheckBox.connect("clicked(bool)", self.onAutomatic)

    def wanted(self) -> tuple:
        p = self.model.parameters
        wanted = (p.showMap, p.mapSide, p.mapKind, p.mapSurface, p.automaticRange, p.opacity, p.sliceContour, p.legend)
        return *self.pair, *wanted, None if p.automaticRange else p.range, self.model.edit() is not None

    def draw(self) -> None:
        """Show the map, or none; what has not changed is left as somebody made it outside the panel."""
        p, outcome, number = self.model.parameters, self.model.outcome, self.model.number()
        self.isDrawing = True
        try:
            self._show(p, outcome, number)
        finally:
            self.isDrawing = False
        self._watch(p, outcome, number)
        self._enable(p, self.model.record())

    def release(self) -> None:
        super().release()
        self.current, self.visible = [], []

    def _show(self, p, outcome, number: int) -> None:
        scene = slicer.mrmlScene
        found, kind = {}, p.mapKind.name
        if outcome is not None and outcome.records and p.showMap:
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
        maps.showMaps(list(found.values()), scene, p.sliceContour, p.legend, p.opacity)

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
            self.panel.onMapRange(self.ui.rangeSpinBox.value)

    def _watch(self, p, outcome, number: int) -> None:
        """Observe the maps in order to notice when one is shown or hidden outside the panel."""
        models = maps.allMaps(slicer.mrmlScene)
        self.visible = [model for model in models if maps.isShown(model)]
        sides = p.mapSide.sides if self.model.record() is not None else ()
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
                partial(self._isRight, kind),
                outcome.comparisons,
                lambda pairs, how=how, prepared=prepared: showDistanceMap(pairs[number], **how, drawnSurface=prepared),
                lost,
                isQuick=prepared is not None,
            )
            if model is not None:
                shown[side] = model
        return shown

    def _isRight(self, kind: str, model) -> bool:
        """Return whether a map has what is wanted."""
        isRight = maps.hasSurface(model)
        isRight = isRight and maps.mapInformation(model)["surface"] == self.model.parameters.mapSurface.name
        return isRight and (kind != "bld" or maps.hasLocalDistances(model))

    def missing(self) -> list[str]:
        """Return the sides whose maps are wanted and have yet to be computed."""
        p, (outcome, number) = self.model.parameters, self.pair
        if self.model.record() is None or not p.showMap:
            return []
        kind, _problem = kindOf(p, outcome)
        found = {side: outcome.result(outcome.pair(number), mapRole(side)) for side in p.mapSide.sides}
        return [side for side, model in found.items() if model is None or not self._isRight(kind, model)]

    def _enable(self, parameters, record) -> None:
        ui, can = self.ui, controls(parameters, record)
        self.showButton.enable(can.problem)
        ui.mapControlsFrame.enabled = can.hasOptions
        for name in OF_MAP:  # not the control of the hazard overlay, which needs no distances
            getattr(ui, name).enabled = not can.problem
        ui.rangeLabel.enabled = ui.automaticRangeCheckBox.enabled = can.hasRange
        ui.rangeSpinBox.enabled = can.isRangeFree
        notes = [model.GetDescription() for model in self.current] if parameters.showMap else []
        say(ui.mapFarthestLabel, " ".join(filter(None, (can.remark, *notes))))


class HazardView(View):
    """Shows the hazard of the shown pair if requested."""

    def wanted(self) -> tuple:
        return *self.pair, self.model.parameters.showHazard

    def draw(self) -> None:
        outcome, number, isWanted = self.wanted()
        isMeasured = self.model.record() is not None and "hazard" in outcome.settings.families
        self.ui.showHazardCheckBox.visible = isMeasured
        node = None
        if isMeasured and isWanted:
            lost, measured = _("The hazard is not in the scene. Press Apply again to show it."), outcome.comparisons
            hasImage, make = lambda node: node.GetImageData() is not None, lambda pairs: showHazard(pairs[number])
            node = self.resultOf(outcome, outcome.pair(number), "hazard", hasImage, measured, make, lost)
        showOver(node, slicer.mrmlScene)
