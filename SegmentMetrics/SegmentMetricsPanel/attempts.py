"""Long tasks: measuring, computing the results of other tools, proposing pairs, and writing the report."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from slicer.i18n import tr as _

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.mrml import proposePairs, showConventionsTable

from . import reports
from .model import editedpairs
from .model.enumerations import Mode
from .work import LongWork


class Attempts:
    """Runs long tasks of a Panel, one at a time. The user may stop them, and a script may close the scene meanwhile."""

    def __init__(self, panel):
        self.panel, self.model = panel, panel.model

    def apply(self, isRepeated: bool = False, pair=None) -> bool:
        """Run the chosen comparison and show its outcome. Returns True on success, else the panel shows the reason.

        isRepeated: by an automatic update, of which no part is shown if it is stopped. pair: of observers, to be
        compared in detail: node and segment ID of both; None for what is chosen.
        """
        panel, model, stopped = self.panel, self.model, _("The comparison was stopped.")
        with model.steady():
            panel.inputs.settle()
            if model.whyNot():
                return False
            parameters = p = model.parameters
            if pair is not None:
                with model.scene.oneChange(p):
                    (p.reference, p.referenceSegment), (p.test, p.testSegment) = pair
                model.forget()
            elif p.mode == Mode.severalObservers:
                model.observers.setRole()  # what is now being measured is no longer a guess
            else:
                model.inputs.isGuess = False
            request = model.request(isOfPair=pair is not None)

            def take(outcome) -> None:
                if outcome.wasStopped:
                    model.notice, parameters.follow = stopped, False
                if request.observers:
                    model.takeObserved(outcome)
                    panel.variation.take()
                    panel.pages.current = "observers"
                    return
                panel.follower.stop()  # what it measures now may be of other settings
                panel.conventions.forget(outcome)
                model.take(outcome, isRepeated)

            measure = partial(panel.logic.measure, request)
            return self._attempt(measure, stopped, take, isPartWanted=not isRepeated, endsFollowing=True) is not None

    def compareTools(self) -> bool:
        """Compute the values that other tools would report for the shown pair. Returns True on success."""
        if not self._canBegin(self.model.whyNotTools):
            return False
        outcome, number = self.model.outcome, self.model.number()
        comparison = outcome.comparisons[number]
        take = lambda found: outcome.mark(showConventionsTable(comparison, conventions=found))  # noqa: E731
        stopped = _("The calculation of other tools' results was stopped.")
        return self._attempt(lambda work: work.run(comparison.conventions), stopped, take) is not None

    def which(self, text: str) -> list | None:
        """Return what gives a number of the shown pair, the nearest first; None if it was stopped or failed."""
        if self.model.isBusy or self.model.whyNotTools():
            return None
        comparison = self.model.outcome.comparisons[self.model.number()]
        return self._attempt(lambda work: work.run(lambda: comparison.which(text)), _("The search was stopped."))

    def propose(self) -> bool:
        """Pair structures that have no counterpart with those that they overlap. Returns whether there are any."""
        model, p = self.model, self.model.parameters
        if model.isBusy:
            return False
        choices, surface = editedpairs.choicesOf(p, model.scene), p.surface.name
        find = partial(proposePairs, p.reference, p.test, choices=choices, surface=surface)

        def take(found) -> None:
            editedpairs.accept(p, found)
            model.notice = "" if found else _("None of the unpaired structures overlap.")

        return bool(self._attempt(lambda work: find(run=work.run), _("The search for pairs was stopped."), take))

    def report(self, path, isOfObservers: bool = False) -> bool:
        """Write a report on the pairs or observers, as DICOM if the path ends with .dcm. Returns True on success."""
        model, path = self.model, Path(path)
        write = reports.writeDicom if path.suffix.lower() == ".dcm" else reports.write
        if not self._canBegin(model.whyNotObserverFiles if isOfObservers else model.whyNotReport):
            return False

        def take(missing) -> None:
            model.notice = " ".join([_("The report was written to {path}.").format(path=path), *missing])

        write = partial(reports.writeObservers if isOfObservers else write, path, model)
        return self._attempt(write, _("Writing the report was stopped."), take) is not None

    def _canBegin(self, whyNot) -> bool:
        """Notice what was edited a moment ago, and return whether a task is possible. whyNot: returns the reason."""
        if self.model.isBusy:
            return False
        self.panel.watcher.settle()
        return not whyNot()

    def _attempt(
        self, task, stopped: str, take=lambda result: None, isPartWanted: bool = False, endsFollowing: bool = False
    ):
        """Return the result of a task, or None if it was stopped or failed; the panel then shows the reason.

        take: called with a result before it is shown. isPartWanted: whether what is finished when it is stopped is a
        result. endsFollowing: whether nothing is measured again without being asked after it was stopped.
        """
        panel, model, parameters, result = self.panel, self.model, self.model.parameters, None
        model.isBusy, model.isNews = True, False
        panel.watcher.isActive = False  # changes made meanwhile are checked against the new outcome, not the old one
        panel.enableApply()
        try:
            with LongWork(_("Segment Metrics"), lambda: model.parameters is parameters, isPartWanted) as work:
                result = task(work)
            model.notice = ""
        except Cancelled:
            model.notice = stopped
            if endsFollowing and model.parameters is parameters:
                parameters.follow = False
        except InputError as error:
            model.notice = str(error)
        finally:
            model.isBusy = False
            if model.isNews:  # somebody chose something else meanwhile
                model.forget()
            model.isNews = False  # repeating the same attempt would have the same result
            panel.watch()
            panel.enableApply()
            if model.parameters is not parameters:
                panel.refresh()  # show the new scene, which was not possible during the attempt
        if model.parameters is not parameters:
            return None
        if result is not None:
            take(result)
        panel.showOutcome()
        return result
