"""What takes long: measuring, what other tools would report, proposals of pairs, and the report."""

from pathlib import Path

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.errors import InputError
from SegmentMetricsLib.mrml import showConventionsTable
from SegmentMetricsLib.progress import Cancelled

from . import reports
from .work import LongWork


class Attempts:
    """Does what takes long, one thing at a time; the user may stop it, and a script may close the scene meanwhile.

    panel: says what is chosen and shown, and why something is impossible now. It is told when an attempt begins and
    ends, in `begin` and `end`, what was measured, in `take`, and what there is to say, in `notice`; `showOutcome` shows
    all of that. logic: a SegmentMetricsLogic.
    """

    def __init__(self, panel, logic):
        self.panel, self.logic = panel, logic

    def onApply(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The comparison failed.")):
            self.apply()

    def repeat(self) -> None:
        """Measure again because something has changed, which nobody asked for."""
        with slicer.util.tryWithErrorDisplay(_("The comparison failed.")):
            self.apply(isRepeated=True)

    def apply(self, isRepeated: bool = False) -> bool:
        """Measure what is chosen and show the outcome. Returns whether that was possible; the panel says why not.

        isRepeated: whether nobody asked for it, so that the structure that somebody looks at stays.
        """
        panel = self.panel
        panel.inputs.settle()
        if panel.whyNot():
            return False
        panel.inputs.accept()
        parameters = panel.parameters

        def measure(work):
            try:
                return self.logic.measure(parameters, work)
            except Cancelled:
                if panel.parameters is parameters:
                    parameters.autoUpdate = False
                raise

        outcome = self._attempt(measure, _("The comparison was stopped."))
        if panel.parameters is not parameters:  # the scene was closed meanwhile
            return False
        if outcome is not None:
            panel.take(outcome, isRepeated)
        panel.showOutcome()
        return outcome is not None

    def compareTools(self) -> bool:
        """Compute what other tools would report for the pair that is shown. Returns whether that was possible."""
        panel, outcome = self.panel, self.panel.outcome
        if panel.isBusy or outcome is None or panel.conventions.problem:
            return False
        comparison = outcome.comparisons[panel.pairNumber()]
        stopped = _("The calculation of other tools' results was stopped.")
        found = self._attempt(lambda work: work.run(comparison.conventions), stopped)
        if found is not None:
            outcome.mark(showConventionsTable(comparison, found))
        panel.showOutcome()
        return found is not None

    def propose(self, task) -> list | None:
        """Return the pairs that a task, which takes a LongWork, proposes; None when it was stopped."""
        if self.panel.isBusy:
            return None
        found = self._attempt(task, _("The search for pairs was stopped."))
        if found == []:
            self.panel.notice = _("None of the unpaired structures overlap.")
        self.panel.showOutcome()
        return found

    def report(self, path) -> bool:
        """Write a report about what is chosen to a path. Returns whether that was possible; the panel says why not."""
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
        """Return what a task returns; None when it was stopped or is impossible, and then the panel will say so.

        task: takes a LongWork. stopped: what to say when it was stopped.
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
                panel.refresh()  # the next scene, which the panel was too busy to show
        return result
