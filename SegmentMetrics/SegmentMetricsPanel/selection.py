"""Choosing the segments or segmentations to compare."""

import logging

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST

from .editedpairs import swapped
from .enumerations import Mode
from .markup import explain
from .segments import segmentIDs, segmentName, segmentOfName

# name of the segment list inside qMRMLSegmentSelectorWidget
SEGMENTS_FRAME = "frame_Segment"


class SegmentChooser:
    """Synchronizes a segment selector with two parameters, a segmentation node and a segment ID.

    side: "reference" or "test", the name of the parameters. onChosen: called with side, node and segment ID when the
    user makes a choice.
    """

    def __init__(self, selector, side: str, onChosen):
        self.selector, self.side, self.onChosen = selector, side, onChosen
        self.parameters = None
        self.isActive = False
        self.isShowing = False
        self.isLost = False
        self.isWarned = False
        # For a new node, the selector reports the first segment before the node itself: wait until both are set.
        self.timer = qt.QTimer()
        self.timer.setSingleShot(True)
        self.timer.setInterval(0)
        self.timer.connect("timeout()", self.take)
        selector.setMinimumWidth(150)  # otherwise long names would widen the whole panel
        selector.connect("currentNodeChanged(vtkMRMLNode*)", self.onSelectorChanged)
        selector.connect("currentSegmentChanged(QString)", self.onSelectorChanged)

    @property
    def node(self):
        return getattr(self.parameters, self.side)

    @property
    def segment(self) -> str:
        return getattr(self.parameters, f"{self.side}Segment")

    def setActive(self, isActive: bool) -> None:
        """Start or stop updating the parameters from the selector.

        The selector itself keeps following the scene: if its segmentation is removed, it switches to another one.
        """
        self.isActive, self.isLost = isActive, False
        self.timer.stop()
        if isActive and self.segment and self.segment not in segmentIDs(self.node):
            setattr(self.parameters, f"{self.side}Segment", "")  # the segment was removed meanwhile

    def show(self) -> None:
        """Show the parameters in the selector, unless a change of the selector is still to be processed."""
        if self.timer.isActive():
            return
        node, segment = self.node, self.segment
        self.isShowing = True
        try:
            if self.selector.currentNode() is not node:
                self.selector.setCurrentNode(node)
            if node is not None and self.selector.currentSegmentID() != segment:
                self.selector.setCurrentSegmentID(segment)
        finally:
            self.isShowing = False
        name = segmentName(node, segment)
        text = f"{node.GetName()}: {name}" if node and name else node.GetName() if node else ""
        explain(self.selector, text)

    def showSegments(self, isShown: bool) -> None:
        """Show or hide the list of segments below the list of segmentations; the selector has no property for it."""
        frames = slicer.util.findChildren(self.selector, name=SEGMENTS_FRAME)
        for frame in frames:
            frame.visible = isShown
        if not frames and not self.isWarned:
            self.isWarned = True
            logging.warning(
                "Segment Metrics: the segment selector has no %s, its segments stay visible", SEGMENTS_FRAME
            )

    def onRemoved(self, node) -> None:
        """Clear the choice when the chosen segmentation is removed; the selector would switch to another one."""
        if self.isActive and node is self.node:
            self.isLost = True
            self.timer.start()

    def onSelectorChanged(self, _ignored=None) -> None:
        if self.isActive and not self.isShowing and not slicer.mrmlScene.IsBatchProcessing():
            self.timer.start()

    def take(self) -> None:
        """Update the parameters from the selector, unless it only changed because the chosen segment was removed.

        In that case the segmentation is deselected, too, unless all of its segments are compared.
        """
        if not self.isActive or slicer.mrmlScene.IsBatchProcessing():
            return
        node = self.selector.currentNode()
        segment = self.selector.currentSegmentID() if node else ""
        isLost, self.isLost = self.isLost and self.node is None, False
        isGone = node is self.node and self.segment and self.segment not in segmentIDs(node)
        if isLost or isGone:
            isKept = not isLost and self.parameters.mode == Mode.allStructures
            node, segment = node if isKept else None, ""
        if (node, segment) != (self.node, self.segment):
            self.onChosen(self.side, node, segment)
        self.show()


class Inputs:
    """The upper part of the panel: which segments, or which segmentations, are compared."""

    def __init__(self, ui):
        self.ui = ui
        self.parameters = None
        self.isActive = False
        self.isGuess = False
        self.guess = None  # what chooseLikely() wrote last
        self.choosers = [
            SegmentChooser(getattr(ui, f"{side}Selector"), side, self.choose) for side in REFERENCE_AND_TEST
        ]
        ui.swapButton.connect("clicked(bool)", self.swap)

    def setParameters(self, parameters) -> None:
        """Use a parameter node, or None; setActive() starts writing to it."""
        self.parameters = parameters
        self.setActive(False)
        for chooser in self.choosers:
            chooser.parameters = parameters
        if parameters:
            self.isGuess, self.guess = self._isNothingChosen(), None

    def setActive(self, isActive: bool) -> None:
        """Start or stop updating the parameters; on start, preselect likely inputs if nothing is chosen.

        Must not be activated without parameters.
        """
        self.isActive = isActive
        for chooser in self.choosers:
            chooser.setActive(isActive)
        self.chooseLikely()

    def show(self) -> None:
        """Show the parameters."""
        isPair = self.parameters.mode == Mode.onePair
        for chooser in self.choosers:
            chooser.show()
            chooser.showSegments(isPair)

    def settle(self) -> None:
        """Process pending changes of the selectors immediately."""
        for chooser in self.choosers:
            if chooser.timer.isActive():
                chooser.timer.stop()
                chooser.take()

    def onRemoved(self, node) -> None:
        """Handle a node that is about to be removed from the scene."""
        for chooser in self.choosers:
            chooser.onRemoved(node)

    def choose(self, side: str, node, segment: str) -> None:
        """Set the segmentation node and the segment ID that the user chose for one side.

        side: "reference" or "test". Segments of the same name are chosen together:

        - When another segmentation is chosen, its segment with the name of the other side's segment is selected, if it
          has one.
        - When another segment of the reference is chosen, the test follows to the segment of that name, as long as both
          sides had the same name before or the test had none. If the test's segmentation has no such segment, none is
          chosen, and the test follows again to the next name that it has.

        The reference never follows the test.
        """
        self.isGuess = False
        other = REFERENCE_AND_TEST[1 - REFERENCE_AND_TEST.index(side)]
        parameters = self.parameters
        otherNode = getattr(parameters, other)
        before = segmentName(getattr(parameters, side), getattr(parameters, f"{side}Segment"))
        otherName = segmentName(otherNode, getattr(parameters, f"{other}Segment"))
        isNewNode = node is not getattr(parameters, side)
        if isNewNode and node is not otherNode:
            segment = segmentOfName(node, otherName) or segment
        with slicer.util.NodeModify(parameters.parameterNode):
            setattr(parameters, side, node)
            setattr(parameters, f"{side}Segment", segment)
            isFollowed = side == "reference" and (before == otherName or not otherName)
            if node and not isNewNode and node is not otherNode and isFollowed:
                # both sides showed the same structure: keep it so, to avoid comparing different ones by accident
                setattr(parameters, f"{other}Segment", segmentOfName(otherNode, segmentName(node, segment)) or "")

    def chooseLikely(self) -> None:
        """Preselect the first two segmentations of the scene and a common structure, until somebody makes a choice."""
        parameters = self.parameters
        if not self.isActive or not self.isGuess:
            return
        if not self._isNothingChosen() and self._chosen() != self.guess:
            self.isGuess = False  # a script has written the parameters directly
            return
        everything = slicer.util.getNodesByClass("vtkMRMLSegmentationNode")
        nodes = [node for node in everything if not node.GetHideFromEditors() and segmentIDs(node)]
        if not nodes:
            return
        reference, test = nodes[0], nodes[1] if len(nodes) > 1 else nodes[0]
        names = [segmentName(reference, i) for i in segmentIDs(reference)]
        common = next((n for n in names if test is not reference and segmentOfName(test, n)), None)
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.reference, parameters.test = reference, test
            parameters.referenceSegment = segmentOfName(reference, common) or segmentIDs(reference)[0]
            parameters.testSegment = segmentOfName(test, common) or next(
                (i for i in segmentIDs(test) if test is not reference or i != parameters.referenceSegment), ""
            )
        self.guess = self._chosen()

    def accept(self) -> None:
        """Keep the current choice, even if it was only a guess, because it is now being measured."""
        self.isGuess = False

    def _chosen(self) -> tuple:
        p = self.parameters
        return p.reference, p.referenceSegment, p.test, p.testSegment

    def _isNothingChosen(self) -> bool:
        return self.parameters.reference is None and self.parameters.test is None

    def swap(self, _checked=False) -> None:
        """Exchange reference and test."""
        if not self.parameters:
            return
        self.isGuess = False
        p = self.parameters
        reference, test = (p.reference, p.referenceSegment), (p.test, p.testSegment)
        with slicer.util.NodeModify(p.parameterNode):
            (p.reference, p.referenceSegment), (p.test, p.testSegment) = test, reference
            p.pairs = swapped(p.pairs)

    def mistake(self) -> str:
        """Return why the chosen segmentations cannot be compared, or "" if they can or are still to be chosen."""
        p = self.parameters
        return self.whyNot() if p is not None and p.reference is not None and p.test is not None else ""

    def whyNot(self) -> str:
        """Return the reason why these inputs cannot be compared, or "" if they can."""
        p = self.parameters
        if p is None or slicer.mrmlScene.IsClosing() or slicer.mrmlScene.IsBatchProcessing():
            return _("The scene is being opened or closed.")
        for side, missing in (
            ("reference", _("Choose a reference segmentation.")),
            ("test", _("Choose a test segmentation.")),
        ):
            node = getattr(p, side)
            if node is None or node.GetSegmentation() is None:
                return missing
            if not segmentIDs(node):
                return _("{name} has no segments.").format(name=node.GetName())
        if p.mode == Mode.allStructures:
            if p.reference is p.test:
                return _("Choose two different segmentations to compare all their structures.")
            return ""
        for side, missing in (
            ("reference", _("Choose a segment of the reference.")),
            ("test", _("Choose a segment of the test.")),
        ):
            if getattr(p, f"{side}Segment") not in segmentIDs(getattr(p, side)):
                return missing
        if p.reference is p.test and p.referenceSegment == p.testSegment:
            return _("Reference and test are the same segment: choose two different ones.")
        return ""
