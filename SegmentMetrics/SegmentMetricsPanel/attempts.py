"""Long tasks: measuring, computing the results of other tools, proposing pairs, and writing the report."""

from pathlib import Path

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.mrml import showConventionsTable

from . import reports
from .work import LongWork


class Attempts:
    """Runs long tasks, one at a time. The user may stop them, and a script may close the scene meanwhile.

    panel: provides the choices and the reasons why a task is impossible. Its `begin` and `end` are called around each
    attempt, `take` receives the results, `notice` is set to a message, and `showOutcome` updates the panel. logic: a
    SegmentMetricsLogic.
    """

    def __init__(self, panel, logic):
        self.panel, self.logic = panel, logic

    def onApply(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The comparison failed.")):
            self.apply()

    def repeat(self) -> None:
        """Measure again automatically because something has changed."""
        with slicer.util.tryWithErrorDisplay(_("The comparison failed.")):
            self.apply(isRepeated=True)

    def apply(self, isRepeated: bool = False) -> bool:
        """Run the chosen comparison and show its outcome. Returns True on success, else the panel shows the reason.

        isRepeated: whether this is an automatic update, which keeps the structure that is shown in detail. If the user
        stops the comparison, the structures that are finished are shown, or after an automatic update those before.
        """
        panel = self.panel
        panel.inputs.settle()
        if panel.whyNot():
            return False
        panel.inputs.accept()
        parameters = panel.parameters

        def measure(work):
            try:
                return self.logic.measure(parameters, work, isPartWanted=not isRepeated)
            except Cancelled:
                if panel.parameters is parameters:
                    parameters.autoUpdate = False
                raise

        stopped = _("The comparison was stopped.")
        outcome = self._attempt(measure, stopped)
        if panel.parameters is not parameters:  # the scene was closed meanwhile
            return False
        if outcome is not None:
            panel.take(outcome, isRepeated)
            if outcome.comparisons.wasStopped:
                parameters.autoUpdate = False
                panel.notice = stopped
        panel.showOutcome()
        return outcome is not None

    def compareTools(self) -> bool:
        """Compute the values that other tools would report for the shown pair. Returns True on success."""
        panel, outcome = self.panel, self.panel.outcome
        if panel.isBusy or outcome is None or panel.conventions.problem:
            return False
        comparison = outcome.comparisons[panel.pairNumber()]
        stopped = _("The calculation of other tools' results was stopped.")
        found = self._attempt(lambda work: work.run(comparison.conventions), stopped)
        if found is not None:
            outcome.mark(showConventionsTable(comparison, conventions=found))
        panel.showOutcome()
        return found is not None

    def propose(self, task) -> list | None:
        """Return the pairs proposed by a task, or None if it did not finish. task: called with a LongWork."""
        if self.panel.isBusy:
            return None
        found = self._attempt(task, _("The search for pairs was stopped."))
        if found == []:
            self.panel.notice = _("None of the unpaired structures overlap.")
        self.panel.showOutcome()
        return found

    def report(self, path) -> bool:
        """Write a report on the results to a path. Returns True on success, else the panel shows the reason."""
        panel = self.panel
        if not panel.isBusy:
            panel.watcher.settle()
        if panel.whyNotReport():
            return False
        parameters = panel.parameters

        def write(work):
            return reports.write(Path(path), parameters, panel.outcome, self.logic, work)

        missing = self._attempt(write, _("Writing the report was stopped."))
        if missing is not None:
            panel.notice = " ".join([_("The report was written to {path}.").format(path=path), *missing])
        panel.showOutcome()
        return missing is not None

    def _attempt(self, task, stopped: str):
        """Return the result of a task, or None if it was stopped or failed; the panel will then show the reason.

        task: called with a LongWork. stopped: the message to show if it was stopped.
        """
        panel, parameters, result = self.panel, self.panel.parameters, None
        panel.begin()
        try:
            with LongWork(_("Segment Metrics"), lambda: panel.parameters is parameters) as work:
                result = task(work)
            panel.notice = ""
        except Cancelled:
            panel.notice = stopped
        except InputError as error:
            panel.notice = str(error)
        finally:
            panel.end()
            if panel.parameters is not parameters:
                panel.refresh()  # show the new scene, which was not possible while the panel was busy
        return result
