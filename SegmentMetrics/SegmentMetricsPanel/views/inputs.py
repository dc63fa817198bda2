"""Choosing the segments or segmentations to compare."""

import qt
import slicer

from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST

from ..markup import explain
from ..model.enumerations import Mode
from .view import View, silent, widen

# names of the segment list inside qMRMLSegmentSelectorWidget, and of the label before it
SEGMENTS_FRAME = "frame_Segment"
SEGMENTS_LABEL = "label_Segment"


class InputsView(View):
    """The selectors of what is compared, which switch by themselves when a segmentation is removed."""

    def __init__(self, panel):
        super().__init__(panel)
        self.inputs, self.boxes, self.frames = self.model.inputs, [], {}
        self.selectors = {side: getattr(self.ui, f"{side}Selector") for side in REFERENCE_AND_TEST}
        self.changed = set()  # sides whose selector has changed
        # For a new node, the selector reports the first segment before the node itself: wait until both are set.
        self.timer = qt.QTimer()
        self.timer.setSingleShot(True)
        self.timer.setInterval(0)
        self.timer.connect("timeout()", self.settle)
        for side, selector in self.selectors.items():
            selector.setMinimumWidth(150)  # otherwise long names would widen the whole panel
            for label in slicer.util.findChildren(selector, name=SEGMENTS_LABEL):
                label.setMaximumWidth(0)  # the room is for the names
            boxes = slicer.util.findChildren(selector, className="*ComboBox")
            self.boxes += [box for box in boxes if box.inherits("QComboBox")]
            # with the list of segments; the selector has no property for it
            self.frames[side] = slicer.util.findChildren(selector, name=SEGMENTS_FRAME)
            onChanged = lambda *_now, side=side: self.onChanged(side)  # noqa: E731
            selector.connect("currentNodeChanged(vtkMRMLNode*)", onChanged)
            selector.connect("currentSegmentChanged(QString)", onChanged)
        self.ui.swapButton.connect("clicked(bool)", lambda _checked=False: self.inputs.swap())

    def setActive(self, isActive: bool) -> None:
        self.timer.stop()
        self.changed.clear()
        self.inputs.setActive(isActive)

    def draw(self) -> None:
        mode = self.inputs.parameters.mode
        for side, selector in self.selectors.items():
            node, segment = self.inputs.choiceOf(side)
            if side not in self.changed:  # else a change of the selector is still to be processed
                with silent(selector):
                    if selector.currentNode() is not node:
                        selector.setCurrentNode(node)
                    if node is not None and selector.currentSegmentID() != segment:
                        selector.setCurrentSegmentID(segment)
                explain(selector, self.inputs.title(side))
            for frame in self.frames[side]:
                frame.visible = mode == Mode.onePair and node is not None
            selector.visible = mode != Mode.severalObservers
        for box in self.boxes:
            widen(box)

    def onChanged(self, side: str) -> None:
        if self.inputs.isActive and not slicer.mrmlScene.IsBatchProcessing():
            self.changed.add(side)
            self.timer.start()

    def settle(self) -> None:
        """Choose what the selectors show that have changed."""
        self.timer.stop()
        changed = sorted(self.changed)
        self.changed.clear()
        if changed and self.inputs.isActive and not slicer.mrmlScene.IsBatchProcessing():
            for side in changed:
                node = self.selectors[side].currentNode()
                self.inputs.take(side, node, self.selectors[side].currentSegmentID() if node else "")
            self.draw()

    def onRemoved(self, node) -> None:
        """Clear the choice of a segmentation that is about to be removed; the selectors would switch to another one."""
        for side in REFERENCE_AND_TEST:
            if self.inputs.lose(side, node):
                self.changed.add(side)
                self.timer.start()
