"""Long work, with a progress dialog and a way out of it."""

import threading
import time
from contextlib import contextmanager

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.cores import allCores
from SegmentMetricsLib.progress import Cancelled, stoppable

# Seconds before a dialog shows up: most comparisons are done by then.
PATIENCE = 1.0
# Seconds between two looks at the dialog.
INTERVAL = 0.02


@contextmanager
def waiting():
    """Show the wait cursor meanwhile: making nodes may take a second or two, and nobody may do it in a thread."""
    # not slicer.util.WaitCursor, which lets other events happen in between
    slicer.app.setOverrideCursor(qt.Qt.WaitCursor)
    try:
        yield
    finally:
        slicer.app.restoreOverrideCursor()


class LongWork:
    """Runs calculations in a thread, so that the application stays alive and the user can stop them.

    The calculations must not touch any node of the scene. Raises Cancelled from `run` and `report` when stopped, by
    the user or because `isWanted` returns False.

        with LongWork(_("Comparing segments")) as work:
            comparison = work.run(lambda: compare(reference, test, settings))
    """

    def __init__(self, title: str, isWanted=lambda: True):
        self.isWanted = isWanted
        self.title, self.text = title, title
        self.number, self.count = 0, 0
        self.dialog = None
        self.begin = time.monotonic()
        self.isStopped = False

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        if self.dialog:
            self.dialog.close()
            self.dialog.deleteLater()
            self.dialog = None

    @property
    def patience(self) -> float:
        """Seconds that are left before the dialog shows up."""
        return self.begin + PATIENCE - time.monotonic()

    def report(self, number: int, count: int, text: str) -> None:
        """Say which of how many parts begins now."""
        self.number, self.count, self.text = number, count, text
        self._look()
        if self.isStopped:
            raise Cancelled(_("The work was stopped."))

    def run(self, function):
        """Return what the function returns, or raise what it raises."""
        outcome = {}

        def work():
            try:
                with stoppable(lambda: self.isStopped):
                    outcome["value"] = function()
            except BaseException as error:  # raised again below, where somebody can catch it
                outcome["error"] = error

        thread = threading.Thread(target=work, name="SegmentMetrics")
        with allCores():  # set here, not by the thread while the views draw
            thread.start()
            try:
                while thread.is_alive():
                    # nothing else happens in the first moment, so that nothing can change under our hands
                    thread.join(max(self.patience, INTERVAL))
                    self._look()
            finally:  # nobody else would stop the calculation when the dialog fails, or wait for it
                self.isStopped = self.isStopped or thread.is_alive()
                thread.join()
        if "error" in outcome:
            raise outcome["error"]
        if self.isStopped:
            raise Cancelled(_("The work was stopped."))
        return outcome["value"]

    def _look(self) -> None:
        """Bring the dialog up to date, once the patience is over, and see whether the user wants to stop."""
        if self.patience > 0:
            return
        if not self.dialog:
            self.dialog = slicer.util.createProgressDialog(
                windowTitle=self.title,
                labelText=self.text,
                maximum=self.count,
                windowModality=qt.Qt.WindowModal,  # nobody changes the segments meanwhile
                autoClose=False,
                autoReset=False,
            )
        if self.dialog.wasCanceled:
            self.isStopped = True
        else:  # setting the value of a canceled dialog would show it again
            self.dialog.labelText = self.text
            self.dialog.maximum = self.count  # 0: busy, without an end in sight
            self.dialog.value = self.number
        slicer.app.processEvents()
        if not self.isWanted():
            self.isStopped = True
