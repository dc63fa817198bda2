"""The buttons that write files: tables, verdicts, reports, and what a practice session or several observers give."""

from functools import partial
from pathlib import Path

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.case.observers.limits import protocolFrom
from SegmentMetricsLib.mrml import practice
from SegmentMetricsLib.show import conventions, writing
from SegmentMetricsLib.show.verdicts import writeVerdicts

from ..contents.results import suggestedFile
from ..saving import askForPath
from ..work import offer
from .view import ExplainedButton, View


class FilesView(View):
    """All buttons that ask for a path and write a file there."""

    def __init__(self, panel):
        super().__init__(panel)
        ui, model, write, self.buttons = self.ui, self.model, panel.report, []
        self.table = table = _("Table (*.csv)")
        page, report = _("Page (*.html)"), _("The report could not be written.")
        suggest = lambda kind, suffix=".csv": lambda: suggestedFile(kind, model.outcome, suffix=suffix)  # noqa: E731
        ofTools = lambda: suggestedFile("conventions", model.outcome, model.number())  # noqa: E731
        add, whyNot, whyNotObservers = self._add, model.whyNotReport, model.whyNotObserverFiles
        problem = _("The measurements could not be written.")
        add(ui.exportButton, _("Export measurements"), table, suggest("metrics"), self.exportNumbers, problem, whyNot)
        problem = _("The verdicts could not be written.")
        add(ui.verdictsButton, _("Save verdicts"), table, suggest("verdicts"), self.exportVerdicts, problem, whyNot)
        problem = _("The table could not be written.")
        add(ui.conventionsExportButton, _("Export"), table, ofTools, self.exportTools, problem, model.outOfDate)
        problem = _("The session could not be written.")
        name = "practice-session.csv"
        add(ui.sessionButton, _("Save session"), table, lambda: name, self.saveSession, problem, lambda: "")
        title, plotly = _("Write report"), ("plotly>=6", "plotly")
        add(ui.reportButton, title, page, suggest("", ".html"), write, report, whyNot, plotly)
        dicom, exported, highdicom = _("DICOM (*.dcm)"), _("Export to DICOM"), ("highdicom>=0.28,<0.30", "highdicom")
        add(ui.dicomButton, exported, dicom, suggest("", ".dcm"), write, report, whyNot, highdicom)
        write, button = partial(write, isOfObservers=True), ui.observersReportButton
        add(button, title, page, lambda: "observers.html", write, report, whyNotObservers)
        problem, title = _("The protocol could not be written."), _("Save protocol")
        kind, button = _("Protocol (*.csv)"), ui.observersProtocolButton
        add(button, title, kind, lambda: "observers.csv", self.writeProtocol, problem, whyNotObservers)

    def _add(self, button, title: str, kind: str, suggest, write, problem: str, whyNot, package=()) -> None:
        """Connect a button. title, kind: of the dialog. suggest: returns a file name. problem: said of an error.

        package: what is offered to be installed, as offer() takes it.
        """
        self.buttons.append((ExplainedButton(button), whyNot))

        def onClicked(_checked=False) -> None:
            with slicer.util.tryWithErrorDisplay(problem):
                path = askForPath(button, title, suggest(), kind)
                if path and package:
                    offer(*package)
                if path:
                    write(path)
                if path and kind == self.table:
                    self.panel.say(_("The table was written to {path}.").format(path=path))

        button.connect("clicked(bool)", onClicked)

    def enable(self) -> None:
        for button, whyNot in self.buttons:
            button.enable(whyNot())

    def exportNumbers(self, path: Path) -> None:
        """Write all measurements with all digits as CSV, and a schema that describes the columns beside it."""
        writing.writeCsv(self.model.outcome.records, path)

    def exportVerdicts(self, path: Path) -> None:
        """Write all verdicts in the format of the command line: one row per rule."""
        writeVerdicts(self.model.outcome.judgment, path)

    def exportTools(self, path: Path) -> None:
        """Write the values of all tools and metrics, with all digits and explanations, as CSV."""
        conventions.writeCsv([self.panel.conventions.record], path)

    def saveSession(self, path: Path) -> None:
        practice.writeSession(self.model.parameters.session, path)

    def writeProtocol(self, path: Path) -> None:
        writing.writeProtocol(protocolFrom(self.model.observers.outcome.study), path)
