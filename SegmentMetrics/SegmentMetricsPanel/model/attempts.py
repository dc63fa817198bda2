"""Long tasks: measuring, computing the results of other tools, proposing pairs, and writing the report."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.face import Comparison

from .. import reports
from ..translation import _
from .enumerations import Mode


class Attempts:
    """Runs long tasks, one at a time. The user may stop them, and a script may close the scene meanwhile.

    model: the PanelModel, whose notice says how the last attempt ended. logic: a SegmentMetricsLogic. host: the Panel,
    which notices at once what was chosen or edited a moment ago, runs the work, and takes and shows what was found.
    """

    def __init__(self, model, logic, host):
        self.model, self.logic, self.host = model, logic, host

    def apply(self, isRepeated: bool = False, pair=None) -> bool:
        """Run the chosen comparison and show its outcome. Returns True on success, else the panel shows the reason.

        isRepeated: by an automatic update, of which no part is shown if it is stopped. pair: of observers, to be
        compared in detail: node and segment ID of both; None for what is chosen.
        """
        model, stopped = self.model, _("The comparison was stopped.")
        with model.steady():
            self.host.settleChoices()
            if model.whyNot():
                return False
            parameters = model.parameters
            if pair is not None:
                model.observers.choosePair(pair)
                model.forget()
            elif parameters.mode == Mode.severalObservers:
                model.observers.accept()
            else:
                model.inputs.isGuess = False
            request = model.request(isOfPair=pair is not None)

            def take(outcome) -> None:
                if outcome.wasStopped:
                    model.notice, parameters.follow = stopped, False
                if request.observers:
                    self.host.takeObserved(outcome)
                else:
                    self.host.take(outcome, isRepeated)

            measure = partial(self.logic.measure, request)
            return self._attempt(measure, stopped, take, isPartWanted=not isRepeated, endsFollowing=True) is not None

    def compareTools(self) -> bool:
        """Compute the values that other tools would report for the shown pair. Returns True on success."""
        if not self._canBegin(self.model.whyNotTools):
            return False
        outcome, number = self.model.outcome, self.model.number()
        found = self._attempt(
            lambda work: work.run(outcome.comparisons[number].conventions),
            _("The calculation of other tools' results was stopped."),
            lambda found: self.host.takeTools(outcome, number, found),
        )
        return found is not None

    def which(self, text: str) -> list | None:
        """Return what gives a number of the shown pair, the nearest first; None if it was stopped or failed."""
        if self.model.isBusy or self.model.whyNotTools():
            return None
        comparison = Comparison.of(self.model.outcome.comparisons[self.model.number()])
        return self._attempt(lambda work: work.run(lambda: comparison.which(text)), _("The search was stopped."))

    def propose(self, task) -> list | None:
        """Return the pairs proposed by a task, or None if it did not finish. task: called with a LongWork."""
        if self.model.isBusy:
            return None

        def take(found) -> None:
            self.model.notice = "" if found else _("None of the unpaired structures overlap.")

        return self._attempt(task, _("The search for pairs was stopped."), take)

    def report(self, path) -> bool:
        """Write a report on the results, as DICOM if the path ends with .dcm. Returns True on success."""
        form = reports.writeDicom if Path(path).suffix.lower() == ".dcm" else reports.write
        return self._write(path, self.model.whyNotReport, partial(form, Path(path), self.model))

    def reportObservers(self, path) -> bool:
        """Write a report on several observers to a path. Returns True on success, else the panel shows the reason."""
        return self._write(
            path, self.model.whyNotObserverFiles, partial(reports.writeObservers, Path(path), self.model)
        )

    def _write(self, path, whyNot, write) -> bool:
        """Write a report if it is possible. write: called with a LongWork, returns sentences about what is missing."""
        if not self._canBegin(whyNot):
            return False

        def take(missing) -> None:
            self.model.notice = " ".join([_("The report was written to {path}.").format(path=path), *missing])

        return self._attempt(write, _("Writing the report was stopped."), take) is not None

    def _canBegin(self, whyNot) -> bool:
        """Notice what was edited a moment ago, and return whether a task is possible. whyNot: returns the reason."""
        if self.model.isBusy:
            return False
        self.host.settleEdits()
        return not whyNot()

    def _attempt(
        self, task, stopped: str, take=lambda result: None, isPartWanted: bool = False, endsFollowing: bool = False
    ):
        """Return the result of a task, or None if it was stopped or failed; the panel then shows the reason.

        take: called with a result before it is shown. isPartWanted: whether what is finished when it is stopped is a
        result. endsFollowing: whether nothing is measured again without being asked after it was stopped.
        """
        model, parameters, result = self.model, self.model.parameters, None
        model.isBusy, model.isNews = True, False
        self.host.freeze(True)
        try:
            with self.host.longWork(lambda: model.parameters is parameters, isPartWanted) as work:
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
            self.host.freeze(False)
            if model.parameters is not parameters:
                self.host.refresh()  # show the new scene, which was not possible during the attempt
        if model.parameters is not parameters:
            return None
        if result is not None:
            take(result)
        self.host.showOutcome()
        return result
