"""Choosing what is compared."""

import logging

import qt
import slicer
from slicer.i18n import tr as _

from .enumerations import Mode
from .markup import explain
from .pairs import swapped
from .segments import segmentIDs, segmentName, segmentOfName

SIDES = ("reference", "test")
# what qMRMLSegmentSelectorWidget calls the part with the segments
SEGMENTS_FRAME = "frame_Segment"


class SegmentChooser:
    """Keeps one segment selector and two parameters, a segmentation node and a segment ID, the same.

    side: "reference" or "test", the name of the parameters. onChosen: called with side, node and segment ID when the
    user chose.
    """

    def __init__(self, selector, side: str, onChosen):
        self.selector, self.side, self.onChosen = selector, side, onChosen
        self.parameters = None
        self.isActive = False
        self.isShowing = False
        self.isLost = False
        self.isWarned = False
        # A new node makes the selector report its first segment before the node itself: look when it is done.
        self.timer = qt.QTimer()
        self.timer.setSingleShot(True)
        self.timer.setInterval(0)
        self.timer.connect("timeout()", self.take)
        selector.setMinimumWidth(150)  # else long names would widen the whole panel
        selector.connect("currentNodeChanged(vtkMRMLNode*)", self.onSelectorChanged)
        selector.connect("currentSegmentChanged(QString)", self.onSelectorChanged)

    @property
    def node(self):
        return getattr(self.parameters, self.side)

    @property
    def segment(self) -> str:
        return getattr(self.parameters, f"{self.side}Segment")

    def setActive(self, isActive: bool) -> None:
        """Take over from now on what the selector shows, or leave the parameters alone.

        The selector follows the scene by itself: it takes another segmentation when the one that it shows goes.
        """
        self.isActive, self.isLost = isActive, False
        self.timer.stop()
        if isActive and self.segment and self.segment not in segmentIDs(self.node):
            setattr(self.parameters, f"{self.side}Segment", "")  # it went meanwhile

    def show(self) -> None:
        """Show the parameters in the selector, unless it has something to tell first."""
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
        """Show the list of segments below that of segmentations, or hide it; the selector has no property for that."""
        frames = slicer.util.findChildren(self.selector, name=SEGMENTS_FRAME)
        for frame in frames:
            frame.visible = isShown
        if not frames and not self.isWarned:
            self.isWarned = True
            logging.warning(
                "Segment Metrics: the segment selector has no %s, its segments stay visible", SEGMENTS_FRAME
            )

    def onRemoved(self, node) -> None:
        """Choose nothing when the chosen segmentation goes; the selector would take another one by itself."""
        if self.isActive and node is self.node:
            self.isLost = True
            self.timer.start()

    def onSelectorChanged(self, _ignored=None) -> None:
        if self.isActive and not self.isShowing and not slicer.mrmlScene.IsBatchProcessing():
            self.timer.start()

    def take(self) -> None:
        """Take over what the selector shows, unless it only shows it because the chosen segment is gone.

        With that the segmentation is not chosen any more either, unless all of its segments are compared.
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
        self.choosers = [SegmentChooser(getattr(ui, f"{side}Selector"), side, self.choose) for side in SIDES]
        ui.swapButton.connect("clicked(bool)", self.swap)

    def setParameters(self, parameters) -> None:
        """Work with a parameter node, or with none; setActive() begins to write to it."""
        self.parameters = parameters
        self.setActive(False)
        for chooser in self.choosers:
            chooser.parameters = parameters
        if parameters:
            self.isGuess, self.guess = self._isNothingChosen(), None

    def setActive(self, isActive: bool) -> None:
        """Take over from now on what is chosen, and where nothing is, choose what is likely meant; or leave it alone.

        There have to be parameters to do so.
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
        """Take over at once what selectors show that was not taken over yet."""
        for chooser in self.choosers:
            if chooser.timer.isActive():
                chooser.timer.stop()
                chooser.take()

    def onRemoved(self, node) -> None:
        """Notice that a node is about to be removed from the scene."""
        for chooser in self.choosers:
            chooser.onRemoved(node)

    def choose(self, side: str, node, segment: str) -> None:
        """Take over which segmentation node and which segment (its ID) the user chose for one side.

        side: "reference" or "test". Likely meant, and chosen instead or as well, is a segment with the name of another:

        - Who chooses another segmentation gets its segment with the name of the other side's, if it has one.
        - Who chooses another segment of the reference gets the test's segment with its name, too, as long as both sides
          had the same name before or the test had none. If the test's segmentation has no such segment, none of it is
          chosen, and it follows again to the next one that it has.

        The reference never follows the test.
        """
        self.isGuess = False
        other = SIDES[1 - SIDES.index(side)]
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
                # both showed the same structure: keep it so, and never compare two different ones by accident
                setattr(parameters, f"{other}Segment", segmentOfName(otherNode, segmentName(node, segment)) or "")

    def chooseLikely(self) -> None:
        """Choose the first two segmentations of the scene and a structure that both have, until somebody chooses."""
        parameters = self.parameters
        if not self.isActive or not self.isGuess:
            return
        if not self._isNothingChosen() and self._chosen() != self.guess:
            self.isGuess = False  # a script chose: it writes the parameters and tells nobody
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
        """Let what is chosen stay, also where it was only guessed: it is measured now."""
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

    def whyNot(self) -> str:
        """Return why these inputs cannot be compared, "" when they can."""
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
