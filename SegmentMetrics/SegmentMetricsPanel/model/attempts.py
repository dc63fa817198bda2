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
        self.host.settleChoices()
        if model.whyNot():
            return False
        (model.observers if model.observers.isChosen else model.inputs).accept()
        return self._measure(model.request(), isRepeated)

    def _measure(self, request, isRepeated: bool = False) -> bool:
        model, parameters = self.model, self.model.parameters
        stopped = _("The comparison was stopped.")
        outcome = self._attempt(lambda work: self.logic.measure(request, work), stopped, isPartWanted=not isRepeated)
        if model.parameters is not parameters:  # the scene was closed meanwhile
            return False
        if outcome is not None and outcome.wasStopped:
            model.notice = stopped
        if model.notice == stopped:
            parameters.follow = False
        if outcome is not None and request.observers:
            self.host.takeObserved(outcome)
        elif outcome is not None:
            self.host.take(outcome, isRepeated)
        self.host.showOutcome()
        return outcome is not None

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
        model = self.model
        if not model.isBusy:
            self.host.settleEdits()
        if model.isBusy or model.whyNotTools():
            return False
        outcome, number = model.outcome, model.number()
        stopped = _("The calculation of other tools' results was stopped.")
        found = self._attempt(lambda work: work.run(outcome.comparisons[number].conventions), stopped)
        if found is not None:
            self.host.takeTools(outcome, number, found)
        self.host.showOutcome()
        return found is not None

    def which(self, text: str) -> list | None:
        """Return what gives a number of the shown pair, the nearest first; None if it was stopped or failed."""
        model = self.model
        if model.isBusy or model.whyNotTools():
            return None
        comparison = Comparison.of(model.outcome.comparisons[model.number()])
        found = self._attempt(lambda work: work.run(lambda: comparison.which(text)), _("The search was stopped."))
        self.host.showOutcome()
        return found

    def propose(self, task) -> list | None:
        """Return the pairs proposed by a task, or None if it did not finish. task: called with a LongWork."""
        if self.model.isBusy:
            return None
        found = self._attempt(task, _("The search for pairs was stopped."))
        if found == []:
            self.model.notice = _("None of the unpaired structures overlap.")
        self.host.showOutcome()
        return found

    def report(self, path) -> bool:
        """Write a report on the results to a path: as a page, or as DICOM if it ends with .dcm.

        Returns True on success, else the panel shows the reason.
        """
        model = self.model
        if not model.isBusy:
            self.host.settleEdits()
        if model.whyNotReport():
            return False
        stopped = _("Writing the report was stopped.")
        write = reports.writeDicom if Path(path).suffix.lower() == ".dcm" else reports.write
        missing = self._attempt(lambda work: write(Path(path), model, self.logic, work), stopped)
        if missing is not None:
            model.notice = " ".join([_("The report was written to {path}.").format(path=path), *missing])
        self.host.showOutcome()
        return missing is not None

    def reportObservers(self, path) -> bool:
        """Write a report on several observers to a path. Returns True on success, else the panel shows the reason."""
        model = self.model
        if not model.isBusy:
            self.host.settleEdits()
        if model.isBusy or model.whyNotObserverFiles():
            return False
        study = model.observers.outcome.study

        def write(work) -> bool:
            reports.writeObservers(Path(path), study, work)
            return True

        written = self._attempt(write, _("Writing the report was stopped."))
        if written:
            model.notice = _("The report was written to {path}.").format(path=path)
        self.host.showOutcome()
        return bool(written)

    def _attempt(self, task, stopped: str, isPartWanted: bool = False):
        """Return the result of a task, or None if it was stopped or failed; the panel will then show the reason.

        task: called with a LongWork. stopped: the message to show if it was stopped. isPartWanted: whether what is
        finished then is a result.
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
        return result
