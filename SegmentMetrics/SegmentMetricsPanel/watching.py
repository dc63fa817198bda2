"""Noticing that segments, or a dose, may have been modified."""

import qt
import slicer
import vtk
from slicer.util import VTKObservationMixin

# Milliseconds to wait after the last event: one brush stroke triggers many.
DELAY = 300


class SegmentWatcher(VTKObservationMixin):
    """Watches segmentation nodes and volumes, and reports, shortly after the last event, what may have changed.

    onSuspect: called with a set of segment IDs, or with None if any segment or volume may have changed. onEvent: called
    at once, before it is known what has changed. isActive: while False, changes are only recorded.
    """

    def __init__(self, onSuspect, onEvent):
        super().__init__()
        self.onSuspect, self.onEvent = onSuspect, onEvent
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
        self.nodes, kind = wanted, slicer.vtkSegmentation
        for node in wanted:
            # call data of the source may be an ID, an object or nothing, without a way to tell which
            ofNode = [kind.SourceRepresentationModified, slicer.vtkMRMLSegmentationNode.SegmentationChangedEvent]
            ofSegments = [kind.SegmentModified, kind.SegmentAdded, kind.SegmentRemoved]
            if node.IsA("vtkMRMLVolumeNode"):  # of which, for example, the origin changes
                ofNode = [slicer.vtkMRMLVolumeNode.ImageDataModifiedEvent, vtk.vtkCommand.ModifiedEvent]
                ofSegments = []
            for event in (slicer.vtkMRMLTransformableNode.TransformModifiedEvent, *ofNode):
                self.addObserver(node, event, self.onNodeEvent)
            for event in ofSegments:
                self.addObserver(node, event, self.onSegmentEvent)

    def stop(self) -> None:
        self.watch([])
        self.timer.stop()
        self.suspects = set()

    def setActive(self, isActive: bool) -> None:
        """Start reporting changes, or only record them."""
        if isActive and not self.isActive and self.suspects != set():
            self.timer.start()
        self.isActive = isActive

    @vtk.calldata_type(vtk.VTK_STRING)
    def onSegmentEvent(self, node, _event, segmentID=None) -> None:
        if segmentID not in node.GetSegmentation().GetSegmentIDs():
            self.suspects = None
        elif self.suspects is not None:
            self.suspects.add(segmentID)
        self._await()

    def onNodeEvent(self, _node, _event) -> None:
        self.suspects = None
        self._await()

    def _await(self) -> None:
        """Wait for further events; what was measured may be out of date."""
        self.timer.start()
        self.onEvent()

    def settle(self) -> None:
        """Report pending and recorded changes immediately."""
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
