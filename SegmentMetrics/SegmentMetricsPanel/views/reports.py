"""The buttons that write reports, as pages and as DICOM, and the protocol that several observers make."""

from functools import partial

from slicer.i18n import tr as _

from SegmentMetricsLib.case.observers.limits import protocolFrom
from SegmentMetricsLib.show.writing import writeProtocol

from ..contents.results import suggestedFile
from ..work import offer
from .buttons import SaveButton
from .view import View


class ReportsView(View):
    """The reports on what was compared, and the report on several observers and their protocol.

    attempts: the Attempts, which write reports.
    """

    def __init__(self, ui, model, attempts):
        super().__init__(ui, model)
        self.attempts = attempts
        title, page, problem = _("Write report"), _("Page (*.html)"), _("The report could not be written.")
        dicom, exported = _("DICOM (*.dcm)"), _("Export to DICOM")
        suggestPage, suggestDicom = (partial(self.suggest, suffix) for suffix in (".html", ".dcm"))
        report = SaveButton(ui.reportButton, title, page, suggestPage, self.writePage, problem)
        report.tip = _(
            "Write a page with all of this for the browser and for paper: numbers, distance map, worst places, slices."
        )
        export = SaveButton(ui.dicomButton, exported, dicom, suggestDicom, self.writeDicom, problem)
        export.tip = _(
            "Export to DICOM: a structured report for the archive, with the numbers, findings and verdicts, and the "
            "segments beside it. Patient and study are those of the loaded DICOM images."
        )
        self.ofPairs = [report, export]
        write, button = attempts.reportObservers, ui.observersReportButton
        observers = SaveButton(button, title, page, lambda: "observers.html", write, problem)
        kind, problem = _("Protocol (*.csv)"), _("The protocol could not be written.")
        button, title = ui.observersProtocolButton, _("Save protocol")
        limits = SaveButton(button, title, kind, lambda: "observers.csv", self.writeProtocol, problem)
        self.ofObservers = [observers, limits]

    def enable(self) -> None:
        for button in self.ofPairs:
            button.enable(self.model.whyNotReport())
        for button in self.ofObservers:
            button.enable(self.model.whyNotObserverFiles())

    def suggest(self, suffix: str) -> str:
        return suggestedFile("", self.model.outcome, suffix=suffix)

    def writePage(self, path) -> None:
        offer("plotly>=6", "plotly")
        self.attempts.report(path)

    def writeDicom(self, path) -> None:
        offer("highdicom>=0.28,<0.30", "highdicom")
        self.attempts.report(path)

    def writeProtocol(self, path) -> None:
        writeProtocol(protocolFrom(self.model.observers.outcome.study), path)
