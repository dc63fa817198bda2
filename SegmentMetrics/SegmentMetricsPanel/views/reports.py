"""The report button, and installing plotly, which draws the report's figures."""

import importlib

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.show.report import requirePlotly

from ..contents.results import suggestedReport
from ..saving import askForPath
from ..work import waiting
from .buttons import ExplainedButton

# the requirement of the extra "report" in pyproject.toml
PLOTLY = "plotly>=6,<8"


class ReportsView:
    """The report button. write: called with the path to write to; returns True on success."""

    def __init__(self, ui, model, write):
        self.ui, self.model, self.write = ui, model, write
        about = _(
            "Write a page with all of this for the browser and for paper: numbers, distance map, worst places, slices."
        )
        self.button = ExplainedButton(ui.reportButton, about)
        ui.reportButton.connect("clicked(bool)", self.onReport)

    def enable(self) -> None:
        """Enable the button, or disable it and show the problem in its tool tip."""
        self.button.enable(self.model.whyNotReport())

    def onReport(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The report could not be written.")):
            if not installPlotly():
                return
            suggestion = suggestedReport(self.model.outcome)
            path = askForPath(self.ui.reportButton, _("Write report"), suggestion, _("Page (*.html)"))
            if path:
                self.write(path)


def hasPlotly() -> bool:
    """Return whether plotly is installed."""
    try:
        requirePlotly()
    except InputError:
        return False
    return True


def installPlotly() -> bool:
    """Install plotly if it is missing and the user agrees; return whether it is available."""
    if hasPlotly():
        return True
    question = _("A report needs the Python package plotly. Download and install it? That may take a minute.")
    if not slicer.util.confirmOkCancelDisplay(question, _("Segment Metrics")):
        return False
    try:
        from slicer.packaging import pip_ensure  # in Slicer 5.11 and later; shows the progress
    except ImportError:
        with waiting():
            slicer.util.pip_install(PLOTLY)
    else:
        pip_ensure(PLOTLY, prompt_install=False, requester=_("Segment Metrics"))
    importlib.invalidate_caches()
    requirePlotly()
    return True
