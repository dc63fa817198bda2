"""Long tasks: measuring, computing the results of other tools, proposing pairs, and writing the report."""

from __future__ import annotations

import typing
from pathlib import Path

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.progress import Cancelled
from SegmentMetricsLib.face import Comparison

from .. import reports
from ..translation import _


class Host(typing.Protocol):
    """What attempts ask of the panel."""

    def settleChoices(self) -> None: ...  # take over at once what the user chose a moment ago
    def settleEdits(self) -> None: ...  # notice at once what the user edited a moment ago
    def longWork(self, isWanted, keepsPart: bool): ...  # the LongWork, as a context, that runs while isWanted() is true
    def freeze(self, isFrozen: bool) -> None: ...  # freeze while an attempt is running, then resume
    def take(self, outcome, isRepeated: bool) -> None: ...  # set a new outcome; isRepeated: by an automatic update
    def takeObserved(self, outcome) -> None: ...  # set what was found of several observers
    def takeTools(self, outcome, number: int, found) -> None: ...  # store other tools' values for a pair
    def showOutcome(self) -> None: ...  # show the result, also while another module is open
    def refresh(self) -> None: ...  # show what is chosen now


class Attempts:
    """Runs long tasks, one at a time. The user may stop them, and a script may close the scene meanwhile.

    model: the PanelModel, whose notice says how the last attempt ended. logic: a SegmentMetricsLogic.
    """

    def __init__(self, model, logic, host: Host):
        self.model, self.logic, self.host = model, logic, host

    def apply(self, isRepeated: bool = False) -> bool:
        """Run the chosen comparison and show its outcome. Returns True on success, else the panel shows the reason.

        isRepeated: whether this is an automatic update, which keeps the structure that is shown in detail. If the user
        stops the comparison, the structures that are finished are shown, or after an automatic update those before.
        """
        model = self.model
        with model.steady():
            self.host.settleChoices()
            if model.whyNot():
                return False
            (model.observers if model.observers.isChosen else model.inputs).accept()
            return self._measure(model.request(), isRepeated)

    def _measure(self, request, isRepeated: bool = False) -> bool:
        model, parameters, stopped = self.model, self.model.parameters, _("The comparison was stopped.")

        def measure(work):
            try:
                return self.logic.measure(request, work)
            except Cancelled:
                if model.parameters is parameters:
                    parameters.follow = False
                raise

        def take(outcome) -> None:
            if outcome.wasStopped:
                model.notice, parameters.follow = stopped, False
            if request.observers:
                self.host.takeObserved(outcome)
            else:
                self.host.take(outcome, isRepeated)

        return self._attempt(measure, stopped, take, isPartWanted=not isRepeated) is not None

    def showObservedPair(self, row: int, column: int) -> bool:
        """Compare the pair in a cell of the observers' matrix, to be shown in detail. Returns True on success."""
        model = self.model
        pair = model.observers.segmentsOf(row, column)
        if model.isBusy or model.whyNot() or pair is None:
            return False
        model.observers.choosePair(pair)
        return self._measure(model.request(isOfPair=True))

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
        model = self.model
        if model.isBusy or model.whyNotTools():
            return None
        comparison = Comparison.of(model.outcome.comparisons[model.number()])
        return self._attempt(lambda work: work.run(lambda: comparison.which(text)), _("The search was stopped."))

    def propose(self, task) -> list | None:
        """Return the pairs proposed by a task, or None if it did not finish. task: called with a LongWork."""
        if self.model.isBusy:
            return None

        def take(found) -> None:
            self.model.notice = "" if found else _("None of the unpaired structures overlap.")

        return self._attempt(task, _("The search for pairs was stopped."), take)

    def report(self, path) -> bool:
        """Write a report on the results to a path: as a page, or as DICOM if it ends with .dcm.

        Returns True on success, else the panel shows the reason.
        """
        model, form = self.model, reports.writeDicom if Path(path).suffix.lower() == ".dcm" else reports.write
        return self._write(path, model.whyNotReport, lambda work: form(Path(path), model, self.logic, work))

    def reportObservers(self, path) -> bool:
        """Write a report on several observers to a path. Returns True on success, else the panel shows the reason."""
        found, write = self.model.observers, reports.writeObservers
        return self._write(
            path, self.model.whyNotObserverFiles, lambda work: write(Path(path), found.outcome.study, work)
        )

    def _write(self, path, whyNot, write) -> bool:
        """Write a report unless there is a reason not to.

        write: called with a LongWork, returns sentences about what is missing from the report.
        """
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

    def _attempt(self, task, stopped: str, take=lambda result: None, isPartWanted: bool = False):
        """Return the result of a task, or None if it was stopped or failed; the panel then shows the reason.

        task: called with a LongWork. stopped: the message to show if it was stopped. take: called with a result before
        the panel shows it. isPartWanted: whether what is finished when it is stopped is a result.
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
