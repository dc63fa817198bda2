"""Choosing the segments or segmentations to compare."""

import logging

import qt
import slicer

from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST

from ..markup import explain
from ..model.enumerations import Mode
from .view import View, silent, widen

# names of the segment list inside qMRMLSegmentSelectorWidget, and of the label before it
SEGMENTS_FRAME = "frame_Segment"
SEGMENTS_LABEL = "label_Segment"


class SegmentChooser:
    """Synchronizes a segment selector with the choice of one side, "reference" or "test", in the model's Inputs."""

    def __init__(self, selector, side: str, inputs):
        self.selector, self.side, self.inputs = selector, side, inputs
        # For a new node, the selector reports the first segment before the node itself: wait until both are set.
        self.timer = qt.QTimer()
        self.timer.setSingleShot(True)
        self.timer.setInterval(0)
        self.timer.connect("timeout()", self.take)
        selector.setMinimumWidth(150)  # otherwise long names would widen the whole panel
        for label in slicer.util.findChildren(selector, name=SEGMENTS_LABEL):
            label.setMaximumWidth(0)  # the room is for the names
        boxes = slicer.util.findChildren(selector, className="*ComboBox")
        self.boxes = [box for box in boxes if box.inherits("QComboBox")]
        self.frames = slicer.util.findChildren(selector, name=SEGMENTS_FRAME)
        if not self.frames:
            logging.warning(
                "Segment Metrics: the segment selector has no %s, its segments stay visible", SEGMENTS_FRAME
            )
        selector.connect("currentNodeChanged(vtkMRMLNode*)", self.onSelectorChanged)
        selector.connect("currentSegmentChanged(QString)", self.onSelectorChanged)

    def show(self) -> None:
        """Show the choice in the selector, unless a change of the selector is still to be processed."""
        if self.timer.isActive():
            return
        node, segment = self.inputs.chosen(self.side)
        with silent(self.selector):
            if self.selector.currentNode() is not node:
                self.selector.setCurrentNode(node)
            if node is not None and self.selector.currentSegmentID() != segment:
                self.selector.setCurrentSegmentID(segment)
        explain(self.selector, self.inputs.title(self.side))
        for box in self.boxes:
            widen(box)

    def onSelectorChanged(self, _ignored=None) -> None:
        if self.inputs.isActive and not slicer.mrmlScene.IsBatchProcessing():
            self.timer.start()

    def take(self) -> None:
        if not self.inputs.isActive or slicer.mrmlScene.IsBatchProcessing():
            return
        node = self.selector.currentNode()
        self.inputs.take(self.side, node, self.selector.currentSegmentID() if node else "")
        self.show()


class InputsView(View):
    """The selectors of what is compared, which switch by themselves when a segmentation is removed."""

    def __init__(self, panel):
        super().__init__(panel)
        self.inputs, ui = self.model.inputs, self.ui
        self.choosers = [
            SegmentChooser(getattr(ui, f"{side}Selector"), side, self.inputs) for side in REFERENCE_AND_TEST
        ]
        ui.swapButton.connect("clicked(bool)", lambda _checked=False: self.inputs.swap())

    def setActive(self, isActive: bool) -> None:
        for chooser in self.choosers:
            chooser.timer.stop()
        self.inputs.setActive(isActive)

    def draw(self) -> None:
        isPair = self.inputs.parameters.mode == Mode.onePair
        for chooser in self.choosers:
            chooser.show()
            for frame in chooser.frames:  # with the list of segments; the selector has no property for it
                frame.visible = isPair and self.inputs.chosen(chooser.side)[0] is not None
            chooser.selector.visible = self.inputs.parameters.mode != Mode.severalObservers

    def settle(self) -> None:
        for chooser in self.choosers:
            if chooser.timer.isActive():
                chooser.timer.stop()
                chooser.take()

    def onRemoved(self, node) -> None:
        """Clear the choice of a segmentation that is about to be removed; the selectors would switch to another one."""
        for chooser in self.choosers:
            if self.inputs.lose(chooser.side, node):
                chooser.timer.start()
