"""The lists of worst places and of lesions; clicking one moves all views there."""

from dataclasses import replace

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import folders, markers, navigation, showLesions

from ..contents import following, places
from ..work import waiting
from .tables import SortableTable
from .view import ExplainedButton, View, say


class PlacesView(View):
    """Lists the worst places of the shown pair and shows their markers."""

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        self.table = SortableTable(ui.placesTable, self.jump)
        self.places, self.about = (), ""
        self.visited = -1  # the place that was visited last while nothing is followed
        ui.nextPlaceButton.connect("clicked(bool)", lambda _checked: self.step(1))
        ui.previousPlaceButton.connect("clicked(bool)", lambda _checked: self.step(-1))
        self.shortcuts = []  # they work in every module, as long as they are enabled
        for key, step in (("Right", 1), ("Left", -1)) if slicer.util.mainWindow() is not None else ():
            shortcut = qt.QShortcut(qt.QKeySequence(f"Ctrl+Shift+{key}"), slicer.util.mainWindow())
            shortcut.connect("activated()", lambda step=step: self.step(step))
            shortcut.enabled = False
            self.shortcuts.append(shortcut)

    def close(self) -> None:
        """Release the main window before the panel is deleted."""
        for shortcut in self.shortcuts:
            shortcut.deleteLater()
        self.shortcuts = []

    def state(self) -> tuple:
        return *self.pair, self.model.isFollowing(), self.model.parameters.showMarkers

    def draw(self) -> None:
        """List the places of the pair, or of its edit while it is followed, and show their markers if requested."""
        record, ui = self.model.record(), self.ui
        self.showInViews()
        listed, about = places.places(record, self.model.edit()), places.about(record, self.model.outcome)
        if (listed, about) != (self.table.shown, self.about):  # else the chosen place stays chosen
            self.visited = -1
            self.table.show(listed)
            edit = self.model.edit()
            self.table.select(edit.current if edit is not None else None)
            ui.placesLabel.text = self.about = about
        for widget in (ui.placesTable, ui.showMarkersCheckBox, ui.nextPlaceButton, ui.previousPlaceButton):
            widget.visible = bool(self.places)
        self.showProgress()

    def showInViews(self) -> None:
        """Use the places of the outcome, and show their markers if requested, without listing them."""
        outcome, record, edit = self.model.outcome, self.model.record(), self.model.edit()
        self.places = edit.places if edit is not None else record.worstPlaces if record else ()
        for shortcut in self.shortcuts:
            shortcut.enabled = self.model.isFollowing()
        mine = None
        if record and self.model.parameters.showMarkers and self.places:
            pair, scene = outcome.pair(self.model.number()), slicer.mrmlScene
            mine = markers.showMarkers(pair, places=self.places, scene=scene, signed=record.hasSides)
        for node in slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode"):
            if folders.isResult(node, "markers") and node.GetDisplayNode():
                node.GetDisplayNode().SetVisibility(node is mine)

    def showProgress(self) -> None:
        """Say how many places are corrected, and which brush suits the one that was visited last."""
        edit, outcome = self.model.edit(), self.model.outcome
        text = following.progressText(edit, outcome.settings.tolerances[0]) if edit is not None else ""
        say(self.ui.progressLabel, text)

    def jump(self, number: int) -> None:
        """Move all slice views and 3D views to a place, and say if it is on the surface that the map does not color."""
        place, edit = self.places[number], self.model.edit()
        self.visited = number
        if edit is not None:
            self.model.parameters.edit = replace(edit, current=number).toText()
            self.showProgress()
        self.ui.placesLabel.text = self.model.remark(place.side) or self.about
        navigation.jumpTo(place.position, normal=place.normal)

    def step(self, step: int) -> None:
        """Go to the next place that is not corrected, or to the previous one for -1; do nothing if there is none."""
        edit = self.model.edit()
        if edit is None:
            edit = following.Edit((), {}, self.places, (False,) * len(self.places), self.visited)
        number = following.following(edit, step)
        if number is not None:
            self.table.select(number)
            self.jump(number)


class LesionsView(View):
    """Lists the lesions of the shown pair, and shows them in the views, colored by what happened, if asked."""

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        self.table = SortableTable(ui.lesionsTable, lambda number: navigation.jumpTo(self.places[number].position))
        self.button = ExplainedButton(ui.lesionsButton)
        ui.lesionsButton.connect("clicked(bool)", self.onClicked)
        self.places = []

    def state(self) -> tuple:
        return *self.pair, self.model.areLesionsShown()

    def draw(self) -> None:
        """List the lesions, or nothing without an outcome; show those of the pair if asked, and hide all others."""
        outcome, number, isShown = self.state()
        record, ui, p = self.model.record(), self.ui, self.model.parameters
        if p is not None and p.showMap and p.showLesions:
            p.showLesions = False  # the map took their place; without it, they do not come back by themselves
        self.places = [*(record.lesions or ()), *(record.gaps or ()), *(record.spurs or ())] if record else []
        self.table.show(places.lesions(record))
        ui.lesionsTable.visible = bool(self.places)
        ui.lesionsLabel.text = places.aboutLesions(record)
        ui.lesionsButton.visible = bool(record and record.lesions)
        ui.lesionsButton.text = _("Back to the map") if isShown else _("Color lesions")
        hides = _("Show the lesions in all views, colored by what happened, in place of the distance map.")
        self.button.tip = _("Show the distance map again, in place of the lesions.") if isShown else hides
        node = outcome.result(outcome.pair(number), "lesions") if record else None
        isThere = node is not None and node.GetPolyData() is not None
        isPossible = isThere or (record is not None and outcome.comparisons is not None)
        self.button.enable("" if isPossible else _("Apply again: a saved scene holds no lesions to color."))
        if isShown and isPossible and not isThere:
            with waiting():
                node = outcome.mark(showLesions(outcome.comparisons[number], scene=slicer.mrmlScene))
        for other in slicer.util.getNodesByClass("vtkMRMLModelNode"):
            if folders.isResult(other, "lesions") and other.GetDisplayNode():
                other.GetDisplayNode().SetVisibility(other is node and isShown and isPossible)

    def onClicked(self, _checked=False) -> None:
        """Show the lesions colored by what happened, in place of the map; a second click goes back to it."""
        p, isShown = self.model.parameters, self.model.areLesionsShown()
        with self.model.scene.oneChange(p):
            p.showLesions, p.showMap = not isShown, isShown
