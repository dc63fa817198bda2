"""The buttons that write reports, and the protocol that several observers make."""

from slicer.i18n import tr as _

from SegmentMetricsLib.case.observers.limits import protocolFrom
from SegmentMetricsLib.show.writing import writeProtocol

from ..contents.results import suggestedFile
from ..work import offer
from .buttons import SaveButton
from .view import View


class ReportsView(View):
    """The report on what was compared, and the report on several observers and their protocol.

    attempts: the Attempts, which write reports.
    """

    def __init__(self, ui, model, attempts):
        super().__init__(ui, model)
        self.attempts = attempts
        title, page, problem = _("Write report"), _("Page (*.html)"), _("The report could not be written.")
        suggest = lambda: suggestedFile("", model.outcome)  # noqa: E731
        self.report = SaveButton(ui.reportButton, title, page, suggest, self.write, problem)
        self.report.tip = _(
            "Write a page with all of this for the browser and for paper: numbers, distance map, worst places, slices."
        )
        write, button = attempts.reportObservers, ui.observersReportButton
        observers = SaveButton(button, title, page, lambda: "observers.html", write, problem)
        kind, problem = _("Protocol (*.csv)"), _("The protocol could not be written.")
        button, title = ui.observersProtocolButton, _("Save protocol")
        limits = SaveButton(button, title, kind, lambda: "observers.csv", self.writeProtocol, problem)
        self.ofObservers = [observers, limits]

    def enable(self) -> None:
        self.report.enable(self.model.whyNotReport())
        for button in self.ofObservers:
            button.enable(self.model.whyNotObserverFiles())

    def write(self, path) -> bool:
        """Write the report. Returns True on success, else the panel shows the reason."""
        offer("plotly>=6", "plotly")
        return self.attempts.report(path)

    def writeProtocol(self, path) -> None:
        writeProtocol(protocolFrom(self.model.observers.outcome.study), path)
