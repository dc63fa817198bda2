"""The list of lesions, gaps and spurs; clicking one moves all views there, a button colors the lesions."""

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import folders, navigation, showLesions

from ..contents import lesions
from .buttons import ExplainedButton
from .places import cameras
from .tables import SortableTable
from .view import View


class LesionsView(View):
    """Lists the lesions of the shown pair, and shows them in the views, colored by what happened, if asked."""

    def __init__(self, ui, model):
        super().__init__(ui, model)
        self.table = SortableTable(ui.lesionsTable, self.jump)
        self.button = ExplainedButton(ui.lesionsButton, _("Show the lesions in all views, colored by what happened."))
        ui.lesionsButton.connect("clicked(bool)", self.color)
        self.places = []

    def wanted(self) -> tuple:
        return self.pair

    def draw(self) -> None:
        """List the lesions, or nothing without an outcome, and hide those of other pairs."""
        record = self.model.record()
        self.places = lesions.places(record) if record else []
        self.table.show(lesions.lesions(record))
        self.ui.lesionsTable.visible = bool(self.places)
        self.ui.lesionsLabel.text = lesions.about(record)
        self.ui.lesionsButton.visible = bool(record and record.lesions)
        hasSurfaces = record is not None and self.model.outcome.comparisons is not None
        self.button.enable("" if hasSurfaces else _("Apply again: a saved scene holds no lesions to color."))
        number = self.model.number()
        mine = folders.findResult(self.model.outcome.pair(number), "lesions", slicer.mrmlScene) if record else None
        for node in slicer.util.getNodesByClass("vtkMRMLModelNode"):
            isOther = node is not mine or not self.model.outcome.shows(node)
            if isOther and folders.isResult(node, "lesions") and node.GetDisplayNode():
                node.GetDisplayNode().SetVisibility(False)

    def jump(self, number: int) -> None:
        """Move all slice views and 3D views to a lesion, gap or spur."""
        navigation.jumpTo(self.places[number], scene=slicer.mrmlScene, cameras=cameras())

    def color(self, _checked=False) -> None:
        """Show the lesions colored by what happened, in place of the map; a second click hides them."""
        outcome, number = self.model.outcome, self.model.number()
        shown = folders.findResult(outcome.pair(number), "lesions", slicer.mrmlScene)
        isShown = outcome.shows(shown) and shown.GetDisplayNode().GetVisibility()
        if isShown:
            shown.GetDisplayNode().SetVisibility(False)
            return
        node = outcome.mark(showLesions(outcome.comparisons[number], scene=slicer.mrmlScene))
        node.GetDisplayNode().SetVisibility(True)
        self.model.parameters.showMap = False
