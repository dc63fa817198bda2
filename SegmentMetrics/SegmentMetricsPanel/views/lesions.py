"""The list of lesions, gaps and spurs; clicking one moves all views there, a button colors the lesions."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import folders, showLesions

from ..contents import lesions
from ..work import waiting
from .buttons import ExplainedButton
from .places import goTo
from .tables import SortableTable
from .view import View


class LesionsView(View):
    """Lists the lesions of the shown pair, and shows them in the views, colored by what happened, if asked."""

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        self.table = SortableTable(ui.lesionsTable, lambda number: goTo(self.places[number]))
        self.button = ExplainedButton(ui.lesionsButton)
        ui.lesionsButton.connect("clicked(bool)", self.onClicked)
        self.places = []

    def wanted(self) -> tuple:
        return *self.pair, self.model.areLesionsShown()

    def draw(self) -> None:
        """List the lesions, or nothing without an outcome; show those of the pair if asked, and hide all others."""
        outcome, number, isShown = self.wanted()
        record, ui = self.model.record(), self.ui
        self.places = lesions.places(record) if record else []
        self.table.show(lesions.lesions(record))
        ui.lesionsTable.visible = bool(self.places)
        ui.lesionsLabel.text = lesions.about(record)
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
