"""Writing the report and installing plotly, which draws its figures."""

import importlib
from pathlib import Path

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.case.protocol.measuring import measuredFor
from SegmentMetricsLib.show.report import Report, requirePlotly
from SegmentMetricsLib.show.writing import fileNames

from .enumerations import Mode
from .markup import explain
from .parameters import protocolOf, settingsOf
from .saving import askForPath
from .segments import segmentName
from .work import waiting

# the requirement of the extra "report" in pyproject.toml
PLOTLY = "plotly>=6,<8"


class Reports:
    """The report button. write: called with the path to write to; returns True on success."""

    def __init__(self, ui, write):
        self.ui, self.write = ui, write
        self.suggestion = "report"
        ui.reportButton.connect("clicked(bool)", self.onReport)

    def show(self, problem: str, outcome=None) -> None:
        """Enable the button, or disable it and show the problem in its tool tip. outcome: the subject of the report."""
        isPair = outcome is not None and not outcome.isOfAll and len(outcome.records) == 1
        self.suggestion = fileNames([outcome.records[0].name])[0] if isPair else "report"
        self.ui.reportButton.enabled = not problem
        about = _(
            "Write a page with all of this for the browser and for paper: numbers, distance map, worst places, slices."
        )
        explain(self.ui.reportButton, problem or about)

    def onReport(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The report could not be written.")):
            if not installPlotly():
                return
            path = askForPath(self.ui.reportButton, _("Write report"), f"{self.suggestion}.html", _("Page (*.html)"))
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


def origins(parameters) -> list[str]:
    """Return the names of the chosen segmentations, reference first; of a single pair, with the names of the segments.

    Two segments of a pair may have the same name, or be in the same segmentation.
    """
    p = parameters
    chosen = (p.reference, p.referenceSegment), (p.test, p.testSegment)
    if p.mode == Mode.allStructures:
        return [node.GetName() for node, _segment in chosen]
    text = _("{segment} of {segmentation}")
    return [text.format(segment=segmentName(node, s), segmentation=node.GetName()) for node, s in chosen]


def write(path: Path, parameters, outcome, logic, work) -> list[str]:
    """Write a report on the choices of a parameter node; return sentences about the pairs that are missing from it.

    The report is titled after its file. outcome: the results of the same choices; they are reused if they include
    everything that a report shows, otherwise all is measured again. logic: a SegmentMetricsLogic. work: a LongWork.
    Raises ValueError if nothing can be compared, and OSError.
    """
    scene = Path(slicer.mrmlScene.GetURL() or "").name
    report = Report(
        path.stem,
        settingsOf(parameters),
        withConventions=parameters.reportConventions,
        origins=origins(parameters),
        scene=scene,
    )
    isMeasured = outcome.comparisons is not None and outcome.settings == report.settings
    comparisons = outcome.comparisons if isMeasured else logic.compareChosen(parameters, report.settings, work)
    if comparisons.wasStopped and not isMeasured:
        raise Cancelled
    protocol, measured = protocolOf(parameters), []
    for number, comparison in enumerate(comparisons):
        work.report(number, len(comparisons), comparison.reference.name)
        work.run(lambda comparison=comparison: report.add(comparison))
        if protocol is not None:
            measured.append(work.run(lambda comparison=comparison: measuredFor(comparison, protocol)))
    judgment = logic.judge(parameters, comparisons, measured)
    c = comparisons
    work.run(
        lambda: report.write(path, judgment=judgment, unmatched=c.unmatched, failures=c.failures, findings=c.findings)
    )
    missing = _("{name} is not in it: {reason}")
    return [missing.format(name=name, reason=reason) for name, reason in comparisons.failures.items()]
