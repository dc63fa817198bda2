"""The buttons that write files: tables, verdicts, reports, and what a practice session or several observers give."""

from functools import partial

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
    """All buttons that ask for a path and write a file there. writers: what writes each, by the button's name."""

    def __init__(self, panel):
        super().__init__(panel)
        model, report, self.buttons, self.writers = self.model, panel.report, [], {}
        self.table = table = _("Table (*.csv)")
        suggest = lambda kind, suffix=".csv": lambda: suggestedFile(kind, model.outcome, suffix=suffix)  # noqa: E731
        ofTools = lambda: suggestedFile("conventions", model.outcome, model.number())  # noqa: E731
        add, whyNot, whyNotObservers = self._add, model.whyNotReport, model.whyNotObserverFiles
        problem = _("The measurements could not be written.")
        write = lambda path: writing.writeCsv(model.outcome.records, path)  # noqa: E731
        add("export", _("Export measurements"), table, suggest("metrics"), write, problem, whyNot)
        problem = _("The verdicts could not be written.")
        write = lambda path: writeVerdicts(model.outcome.judgment, path)  # noqa: E731
        add("verdicts", _("Save verdicts"), table, suggest("verdicts"), write, problem, whyNot)
        problem = _("The table could not be written.")
        write = lambda path: conventions.writeCsv([panel.conventions.record], path)  # noqa: E731
        add("conventionsExport", _("Export"), table, ofTools, write, problem, model.outOfDate)
        problem = _("The session could not be written.")
        write = lambda path: practice.writeSession(model.parameters.session, path)  # noqa: E731
        add("session", _("Save session"), table, lambda: "practice-session.csv", write, problem, lambda: "")
        title, page, problem = _("Write report"), _("Page (*.html)"), _("The report could not be written.")
        add("report", title, page, suggest("", ".html"), report, problem, whyNot, ("plotly>=6", "plotly"))
        dicom, exported, highdicom = _("DICOM (*.dcm)"), _("Export to DICOM"), ("highdicom>=0.28,<0.30", "highdicom")
        add("dicom", exported, dicom, suggest("", ".dcm"), report, problem, whyNot, highdicom)
        write = partial(report, isOfObservers=True)
        add("observersReport", title, page, lambda: "observers.html", write, problem, whyNotObservers)
        problem, kind, title = _("The protocol could not be written."), _("Protocol (*.csv)"), _("Save protocol")
        write = lambda path: writing.writeProtocol(protocolFrom(model.observers.outcome.study), path)  # noqa: E731
        add("observersProtocol", title, kind, lambda: "observers.csv", write, problem, whyNotObservers)

    def _add(self, name: str, title: str, kind: str, suggest, write, problem: str, whyNot, package=()) -> None:
        """Connect a button, nameButton. title, kind: of the dialog. suggest: returns a file name. problem: if it fails.

        package: what is offered to be installed, as offer() takes it.
        """
        button, self.writers[name] = getattr(self.ui, f"{name}Button"), write
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
