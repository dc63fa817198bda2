"""The buttons for reports: a page, and DICOM."""

import slicer
from slicer.i18n import tr as _

from ..contents.results import suggestedReport
from ..saving import askForPath
from ..work import offer
from .buttons import ExplainedButton
from .view import View


class ReportsView(View):
    """The buttons for reports. write: called with the path to write to; returns True on success."""

    def __init__(self, ui, model, write):
        super().__init__(ui, model)
        self.write = write
        about = _(
            "Write a page with all of this for the browser and for paper: numbers, distance map, worst places, slices."
        )
        aboutDicom = _(
            "Export to DICOM: a structured report for the archive, with the numbers, findings and verdicts, and the "
            "segments beside it. Patient and study are those of the loaded DICOM images."
        )
        self.buttons = [ExplainedButton(ui.reportButton, about), ExplainedButton(ui.dicomButton, aboutDicom)]
        ui.reportButton.connect("clicked(bool)", self.onReport)
        ui.dicomButton.connect("clicked(bool)", self.onDicom)

    def enable(self) -> None:
        for button in self.buttons:
            button.enable(self.model.whyNotReport())

    def onReport(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The report could not be written.")):
            suggestion = suggestedReport(self.model.outcome)
            path = askForPath(self.ui.reportButton, _("Write report"), suggestion, _("Page (*.html)"))
            if path:
                offer("plotly>=6", "plotly")
                self.write(path)

    def onDicom(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The report could not be written.")):
            suggestion = suggestedReport(self.model.outcome, ".dcm")
            path = askForPath(self.ui.dicomButton, _("Export to DICOM"), suggestion, _("DICOM (*.dcm)"))
            if path:
                offer("highdicom>=0.24,<0.30", "highdicom")
                self.write(path)
