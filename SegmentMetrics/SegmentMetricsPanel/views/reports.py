"""The report button."""

import slicer
from slicer.i18n import tr as _

from ..contents.results import suggestedReport
from ..saving import askForPath
from ..work import offer
from .buttons import ExplainedButton
from .view import View


class ReportsView(View):
    """The report button. write: called with the path to write to; returns True on success."""

    def __init__(self, ui, model, write):
        super().__init__(ui, model)
        self.write = write
        about = _(
            "Write a page with all of this for the browser and for paper: numbers, distance map, worst places, slices."
        )
        self.button = ExplainedButton(ui.reportButton, about)
        ui.reportButton.connect("clicked(bool)", self.onReport)

    def enable(self) -> None:
        self.button.enable(self.model.whyNotReport())

    def onReport(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The report could not be written.")):
            suggestion = suggestedReport(self.model.outcome)
            path = askForPath(self.ui.reportButton, _("Write report"), suggestion, _("Page (*.html)"))
            if path:
                offer("plotly>=6", "plotly")
                self.write(path)
