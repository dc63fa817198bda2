"""Long calculations with a progress dialog that can stop them."""

import threading
import time
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from subprocess import CalledProcessError

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.base.parallel import allCores
from SegmentMetricsLib.base.progress import Cancelled, stoppable

# Seconds before the dialog appears, during which the application does not react.
PATIENCE = 0.2
# Pixels of the dialog's width: less would cut off its title.
WIDTH = 360
# Seconds between two updates of the dialog.
INTERVAL = 0.02


@contextmanager
def waiting():
    """Show the wait cursor: creating nodes may take a second or two, and cannot be done in a thread."""
    # not slicer.util.WaitCursor, which processes events
    slicer.app.setOverrideCursor(qt.Qt.WaitCursor)
    try:
        yield
    finally:
        slicer.app.restoreOverrideCursor()


_offered = set()


def offer(package: str, module: str) -> None:
    """Offer to install a Python package whose module is missing, once; without it, some results are missing."""
    if package in _offered or find_spec(module) is not None:
        return
    _offered.add(package)
    # the user does not want it, or it cannot be installed, which Slicer says
    with suppress(RuntimeError, CalledProcessError):
        try:
            from slicer import packaging
        except ImportError:  # before Slicer 5.11
            question = _("The Python package {package} is needed. Install it?").format(package=package)
            if slicer.util.confirmOkCancelDisplay(question, _("Segment Metrics")):
                slicer.util.pip_install(package)
            return
        packaging.pip_ensure(package, requester="Segment Metrics")


class TaskThread(threading.Thread):
    """Runs a function in a thread, until isStopped() returns True. found, error: its result, or its exception."""

    def __init__(self, function, isStopped):
        super().__init__(name="SegmentMetrics", daemon=True)
        self.function, self.isStopped = function, isStopped
        self.found, self.error = None, None

    def run(self) -> None:
        try:
            with stoppable(self.isStopped):
                self.found = self.function()
        except BaseException as error:  # for the thread that waits for this one
            self.error = error


class LongWork(AbstractContextManager):
    """Runs calculations that access no node in a thread, so that the user can stop them, which raises Cancelled.

    isWanted: returns False to stop, too. keepsPart: whether what is finished then is a result.
    """

    def __init__(self, title: str, isWanted=lambda: True, keepsPart: bool = True):
        self.isWanted, self.keepsPart = isWanted, keepsPart
        self.title, self.text = title, title
        self.number, self.count = 0, 0
        self.dialog = None
        self.begin = time.monotonic()
        self.isStopped = False

    def __exit__(self, *error) -> None:
        if self.dialog:
            self.dialog.close()
            self.dialog.deleteLater()
            self.dialog = None

    def isPartWanted(self) -> bool:
        return self.keepsPart and self.isWanted()

    def report(self, number: int, count: int, text: str) -> None:
        """Report that part `number` of `count` begins. text: shown in the dialog."""
        self.number, self.count, self.text = number, count, text
        self._look()
        if self.isStopped:
            raise Cancelled(_("The work was stopped."))

    def run(self, function):
        """Run a function in a thread and return its result, or raise its exception."""
        task = TaskThread(function, lambda: self.isStopped)
        with allCores():  # set here, not in the thread while the views are rendering
            task.start()
            try:
                while task.is_alive():
                    # no events are processed until the dialog appears, so nothing can change during short calculations
                    task.join(max(self.begin + PATIENCE - time.monotonic(), INTERVAL))
                    self._look()
            finally:  # stop the calculation and wait for it, even if the dialog fails
                self.isStopped = self.isStopped or task.is_alive()
                task.join()
        if task.error is not None:
            raise task.error
        if self.isStopped:
            raise Cancelled(_("The work was stopped."))
        return task.found

    def _look(self) -> None:
        """Update the dialog once the patience has run out, and check whether the work is to be stopped."""
        if time.monotonic() < self.begin + PATIENCE:
            return
        if not self.dialog:
            self.dialog = slicer.util.createProgressDialog(
                windowTitle=self.title,
                labelText=self.text,
                maximum=self.count,
                windowModality=qt.Qt.WindowModal,  # the user cannot edit the segments meanwhile
                autoClose=False,
                autoReset=False,
            )
            self.dialog.setMinimumWidth(WIDTH)
        if self.dialog.wasCanceled:
            self.isStopped = True
        else:  # setting the value of a canceled dialog would show it again
            self.dialog.labelText = self.text
            self.dialog.maximum = self.count  # 0: a busy indicator
            self.dialog.value = self.number
        # let Qt do what is due; once the application is told to quit, which waits for this, no loop runs any more
        loop, usual = qt.QEventLoop(), 1
        qt.QTimer.singleShot(0, lambda: loop.exit(usual))
        if loop.exec() != usual or not self.isWanted():
            self.isStopped = True
