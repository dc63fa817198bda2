"""Noticing that something was done to the compared segments, or that something else is chosen now."""

import qt
import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from SegmentMetricsLib.errors import InputError

from .enumerations import Mode
from .pairs import choicesOf
from .parameters import settingsOf
from .protocols import versionOf

# Milliseconds to wait after the last event: one stroke of a brush makes many.
DELAY = 300


def whyStale(outcome, parameters) -> str:
    """Return why what is chosen is not what an outcome was made of, "" when it is."""
    p = parameters
    nodes = [outcome.node("reference"), outcome.node("test")]
    if None in nodes:
        return _("A compared segmentation was removed.")
    isOther = [p.reference, p.test] != nodes or outcome.isOfAll != (p.mode == Mode.allStructures)
    if not outcome.isOfAll and [(p.referenceSegment, p.testSegment)] != list(outcome.segments):
        isOther = True
    if isOther:
        return _("The selection has changed.")
    if outcome.isOfAll and choicesOf(p) != outcome.choices:
        return _("The pairs have changed.")
    try:
        isSame = settingsOf(p) == outcome.settings
        isSame = isSame and versionOf(p) == (outcome.judgment or {}).get("version")
    except InputError:
        isSame = False
    return "" if isSame else _("The settings have changed.")


def outOfDate() -> str:
    """Return why nothing can be done with results that are out of date."""
    return _("The results are out of date. Press Apply again.")


class SegmentWatcher(VTKObservationMixin):
    """Watches segmentation nodes and reports, a moment after the last event, which segments may have changed.

    onSuspect: called with a set of segment IDs, or with None when it may be any of them. isActive: while False, what
    happens is only remembered.
    """

    def __init__(self, onSuspect):
        super().__init__()
        self.onSuspect = onSuspect
        self.nodes = []
        self.isActive = True
        self.suspects: set[str] | None = set()
        self.timer = qt.QTimer()
        self.timer.setSingleShot(True)
        self.timer.setInterval(DELAY)
        self.timer.connect("timeout()", self.onTimeout)

    def watch(self, nodes) -> None:
        """Watch these nodes from now on, and no others."""
        wanted = list(dict.fromkeys(node for node in nodes if node is not None))
        if wanted == self.nodes:
            return
        self.removeObservers()
        self.nodes = wanted
        for node in wanted:
            for event in (
                slicer.vtkSegmentation.SegmentModified,
                slicer.vtkSegmentation.SegmentAdded,
                slicer.vtkSegmentation.SegmentRemoved,
            ):
                self.addObserver(node, event, self.onSegmentEvent)
            for event in (
                # comes with an ID, with an object or with nothing, and does not say which
                slicer.vtkSegmentation.SourceRepresentationModified,
                slicer.vtkMRMLSegmentationNode.SegmentationChangedEvent,
                slicer.vtkMRMLTransformableNode.TransformModifiedEvent,
            ):
                self.addObserver(node, event, self.onNodeEvent)

    def stop(self) -> None:
        """Watch nothing."""
        self.watch([])
        self.timer.stop()
        self.suspects = set()

    def setActive(self, isActive: bool) -> None:
        """Report from now on, or only remember."""
        self.isActive = isActive
        if isActive and self.suspects != set():
            self.timer.start()

    @vtk.calldata_type(vtk.VTK_STRING)
    def onSegmentEvent(self, node, _event, segmentID=None) -> None:
        if segmentID not in node.GetSegmentation().GetSegmentIDs():
            self.suspects = None
        elif self.suspects is not None:
            self.suspects.add(segmentID)
        self.timer.start()

    def onNodeEvent(self, _node, _event) -> None:
        self.suspects = None
        self.timer.start()

    def settle(self) -> None:
        """Report at once what was going to be reported in a moment, or is only remembered."""
        self.timer.stop()
        if self.suspects != set():
            self._report()

    def onTimeout(self) -> None:
        if slicer.mrmlScene.IsBatchProcessing():
            self.timer.start()
        elif self.isActive:
            self._report()

    def _report(self) -> None:
        suspects, self.suspects = self.suspects, set()
        self.onSuspect(suspects)
