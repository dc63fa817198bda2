"""Showing the distance map as the user wants it."""

import slicer
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.mrml import maps, showDistanceMap

from .buttons import ExplainedButton
from .enumerations import MapKind
from .markup import explain
from .work import waiting

# The controls of a map but for those of its range.
OF_MAP = ("mapSideLabel", "mapSideComboBox", "mapKindLabel", "mapKindComboBox", "mapSurfaceLabel", "mapSurfaceComboBox",
          "opacityLabel", "opacitySlider", "mapOptionsLabel", "sliceContourCheckBox", "legendCheckBox")  # fmt: skip


class MapControls(VTKObservationMixin):
    """Draws the maps of one pair as the parameters say, and hides those of all others.

    onEye: called with whether the pair's maps are shown when somebody showed or hid them by other means, as with the
    eye in the Data module. onRange: called with the range in mm that the user chose. `problem` says why a map that is
    wanted cannot be shown, "" when it can.
    """

    def __init__(self, ui, onEye, onRange):
        super().__init__()
        self.ui, self.onEye, self.onRange = ui, onEye, onRange
        explain(ui.mapKindComboBox, "\n".join(f"{kind.label()}: {MapKind.meanings()[kind.name]}" for kind in MapKind))
        self.showButton = ExplainedButton(ui.showMapCheckBox)
        self.problem = ""
        self.shown = None
        self.isDrawing = False
        self.current = []  # the pair's maps on the wanted sides, shown or not
        self.visible = []  # all maps that can be seen
        ui.rangeSpinBox.connect("valueChanged(double)", onRange)
        ui.automaticRangeCheckBox.connect("clicked(bool)", self.onAutomatic)

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
        self.isDrawing = True
        try:
            self._show(p, outcome, number)
        finally:
            self.isDrawing = False
        self._watch(p, outcome, number)
        self._enable(p, outcome.records[number] if outcome is not None and outcome.records else None)
        self.shown = wanted

    def release(self) -> None:
        """Let go of the outcome and of the scene."""
        self.removeObservers()
        self.shown, self.problem = None, ""
        self.current, self.visible = [], []
        self.ui.mapSection.visible = False

    def _show(self, p, outcome, number: int) -> None:
        """Show the wanted maps of a pair and hide all others."""
        self.problem = ""
        scene = slicer.mrmlScene
        isFirst = not maps.allMaps(scene)
        found = {}
        if outcome is not None and outcome.records and p.showMap:
            kind = self._kind(p, outcome)
            found = self._draw(p, outcome, number, kind)
        if not p.automaticRange:
            self._showRange(p.range)
        for side, model in list(found.items()):
            if p.automaticRange:
                self._showRange(maps.mapInformation(model)["limit"])
            try:
                maps.recolor(model, kind, None if p.automaticRange else p.range)
            except InputError as error:
                self.problem = str(error)
                del found[side]
                continue
            maps.setOpacity(model, p.opacity)
        maps.showMaps(list(found.values()), scene, p.sliceContour, p.legend)
        if found and isFirst and slicer.app.layoutManager() is not None:
            slicer.util.resetThreeDViews()  # the organ may lie anywhere

    def _showRange(self, range: float) -> None:
        """Show the range of a map in mm. Who only looks chooses nothing: an automatic one is not kept anywhere."""
        wasBlocked = self.ui.rangeSpinBox.blockSignals(True)
        self.ui.rangeSpinBox.value = range
        self.ui.rangeSpinBox.blockSignals(wasBlocked)

    def onAutomatic(self, isAutomatic: bool) -> None:
        """Begin with the range that is shown when the user wants to choose one."""
        if not isAutomatic:
            self.onRange(self.ui.rangeSpinBox.value)

    def _watch(self, p, outcome, number: int) -> None:
        """Notice from now on when somebody shows or hides a map."""
        models = maps.allMaps(slicer.mrmlScene)
        self.visible = [model for model in models if maps.isShown(model)]
        found = maps.findMaps(outcome.pair(number), slicer.mrmlScene) if outcome and outcome.records else {}
        self.current = [model for side, model in found.items() if side in p.mapSide.sides and outcome.shows(model)]
        self.removeObservers()
        for model in models:
            self.addObserver(model, slicer.vtkMRMLDisplayableNode.DisplayModifiedEvent, self.onDisplay)

    def onDisplay(self, _model, _event) -> None:
        """Bring back the segments that a map covers that somebody hides, and hide those of one that is shown."""
        if self.isDrawing:
            return
        before = self.visible
        self.visible = [model for model in maps.allMaps(slicer.mrmlScene) if maps.isShown(model)]
        if self.visible == before:
            return
        maps.cover(self.visible, slicer.mrmlScene)
        # one that loses its display node is about to go altogether, which is nobody's choice
        current = [model for model in self.current if model.GetDisplayNode() is not None]
        wasShown, isShown = (any(model in shown for model in current) for shown in (before, self.visible))
        if isShown != wasShown:
            self.onEye(isShown)

    def onRemoved(self, node) -> bool:
        """Bring back the segments that a map covers that is about to be removed; return whether one that is shown is.

        node: any node.
        """
        scene = slicer.mrmlScene
        if not maps.isMap(node):
            return False
        if self.hasObserver(node, slicer.vtkMRMLDisplayableNode.DisplayModifiedEvent, self.onDisplay):
            self.removeObserver(node, slicer.vtkMRMLDisplayableNode.DisplayModifiedEvent, self.onDisplay)
        self.current, self.visible = ([m for m in known if m is not node] for known in (self.current, self.visible))
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
                self.problem = _("This map is not in the scene. Press Apply again to draw it.")
                continue
            if not isRight:
                comparison, surface = outcome.comparisons[number], parameters.mapSurface.name
                try:
                    with waiting():
                        model = showDistanceMap(comparison, side, kind, surface=surface, modelNode=model)
                except InputError as error:
                    self.problem = str(error)
                    continue
                outcome.mark(model)
            shown[side] = model
        return shown

    def _enable(self, parameters, record) -> None:
        """Enable what makes a difference to the map of a record; None when there is nothing to draw one of."""
        self.ui.mapSection.visible = record is not None
        # the tick stays, as the next structure may have a map
        isPossible = record is None or bool(record.method)
        self.showButton.enable("" if isPossible else _("No distances were measured."))
        self.ui.mapControlsFrame.enabled = parameters.showMap or not isPossible
        for name in OF_MAP:  # not that of the hazard, which needs no distances
            getattr(self.ui, name).enabled = isPossible
        hasRange = isPossible and parameters.mapKind.name in ("signed", "absolute")
        for control in (self.ui.rangeLabel, self.ui.automaticRangeCheckBox):
            control.enabled = hasRange
        self.ui.rangeSpinBox.enabled = hasRange and not parameters.automaticRange
        isOfDistances = record is not None and parameters.mapKind.name != "hazard"
        remark = farthest(record, parameters.mapSide.sides) if isOfDistances else ""
        self.ui.mapFarthestLabel.text = remark
        self.ui.mapFarthestLabel.visible = bool(remark)


def farthest(record, sides) -> str:
    """Return on which surface the largest distance of a pair is if the map is not on that one, "" if it is.

    sides: those that the map is on. Nothing is said where tenths of a mm do not tell the two surfaces apart.
    """
    largest = record.measurements.get("HD")
    if len(sides) > 1 or largest is None or largest.referenceToTest is None:
        return ""
    found = {"reference": largest.referenceToTest, "test": largest.testToReference}
    (other,) = found.keys() - set(sides)
    if not round(found[other], 1) > round(found[sides[0]], 1):
        return ""
    sentence = (
        _("The largest distance is on the test: {distance} mm.")
        if other == "test"
        else _("The largest distance is on the reference: {distance} mm.")
    )
    return sentence.format(distance=f"{found[other]:.1f}")
