"""Which segments, or which segmentations, are compared."""

from __future__ import annotations

from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST

from ..translation import _
from .editedpairs import entriesIn
from .enumerations import Mode


class Inputs:
    """The choice of reference and test, which is only written between setActive(True) and setActive(False)."""

    def __init__(self, scene):
        self.scene = scene
        self.parameters = None
        self.isActive = False
        self.isGuess = False  # whether nobody has chosen or measured anything yet
        self.guess = None  # what chooseLikely() wrote last
        self.lost = set()  # sides whose segmentation is being removed

    def choiceOf(self, side: str) -> tuple:
        """Return the segmentation and the segment ID of a side, "reference" or "test"."""
        return getattr(self.parameters, side), getattr(self.parameters, f"{side}Segment")

    def segmentName(self, side: str) -> str:
        node, segment = self.choiceOf(side)
        return self.scene.segments(node).get(segment, "")

    def title(self, side: str) -> str:
        node, name = getattr(self.parameters, side), self.segmentName(side)
        return ": ".join(filter(None, (self.scene.name(node), name))) if node else ""

    def setParameters(self, parameters) -> None:
        """Use a parameter node, or None; setActive() starts writing to it."""
        self.parameters = parameters
        self.setActive(False)
        if parameters:
            self.isGuess, self.guess = self._isNothingChosen(), None

    def setActive(self, isActive: bool) -> None:
        """Start, which needs parameters, or stop updating them; preselect likely inputs if nothing is chosen."""
        self.isActive = isActive
        self.lost.clear()
        for side in REFERENCE_AND_TEST if isActive else ():
            node, segment = self.choiceOf(side)
            if segment and segment not in self.scene.segments(node):
                setattr(self.parameters, f"{side}Segment", "")  # the segment was removed meanwhile
        self.chooseLikely()

    # What the user does

    def lose(self, side: str, node) -> bool:
        """Return whether a node that is about to be removed is the side's; take() will then leave nothing chosen."""
        isLost = self.isActive and node is getattr(self.parameters, side)
        if isLost:
            self.lost.add(side)
        return isLost

    def take(self, side: str, node, segment: str) -> None:
        """Choose what a selector shows, unless it only changed because the segmentation, or the segment, is gone."""
        before = self.choiceOf(side)
        isLost = side in self.lost and before[0] is None
        self.lost.discard(side)
        isGone = node is before[0] and before[1] and before[1] not in self.scene.segments(node)
        if isLost or isGone:
            node, segment = None if isLost else node, ""
        if (node, segment) != before:
            self.choose(side, node, segment)

    def choose(self, side: str, node, segment: str) -> None:
        """Set the segmentation node and the segment ID that the user chose for a side, "reference" or "test".

        In a new segmentation, the segment with the other side's name is chosen if there is one. The test follows the
        reference to its next segment as long as both had the same name or the test none; the reference never follows.
        """
        self.isGuess = False
        other = REFERENCE_AND_TEST[1 - REFERENCE_AND_TEST.index(side)]
        otherNode = getattr(self.parameters, other)
        before, otherName = self.segmentName(side), self.segmentName(other)
        isNewNode = node is not getattr(self.parameters, side)
        if isNewNode and node is not otherNode:
            segment = self._segmentNamed(node, otherName) or segment
        with self.scene.oneChange(self.parameters):
            setattr(self.parameters, side, node)
            setattr(self.parameters, f"{side}Segment", segment)
            isFollowed = side == "reference" and (before == otherName or not otherName)
            if node and not isNewNode and node is not otherNode and isFollowed:
                # both sides showed the same structure: keep it so, to avoid comparing different ones by accident
                setattr(self.parameters, f"{other}Segment", self._segmentNamed(otherNode, self.segmentName(side)))

    def chooseLikely(self) -> None:
        """Preselect the first two segmentations of the scene and a common structure, until somebody makes a choice."""
        p, scene = self.parameters, self.scene
        if not self.isActive or not self.isGuess:
            return
        if not self._isNothingChosen() and self._all() != self.guess:
            self.isGuess = False  # a script has written the parameters directly
            return
        nodes = [node for node in scene.segmentations() if scene.segments(node)]
        if not nodes:
            return
        reference, test = nodes[0], nodes[1] if len(nodes) > 1 else nodes[0]
        ours, theirs = scene.segments(reference), scene.segments(test)
        common = next((name for name in ours.values() if test is not reference and name in theirs.values()), "")
        with scene.oneChange(p):
            p.reference, p.test = reference, test
            p.referenceSegment = self._segmentNamed(reference, common) or next(iter(ours))
            p.testSegment = self._segmentNamed(test, common) or next(
                (i for i in theirs if test is not reference or i != p.referenceSegment), ""
            )
        self.guess = self._all()

    def swap(self) -> None:
        p = self.parameters
        self.isGuess = False
        reference, test = map(self.choiceOf, REFERENCE_AND_TEST)
        with self.scene.oneChange(p):
            (p.reference, p.referenceSegment), (p.test, p.testSegment) = test, reference
            # without the structures that have no counterpart
            p.pairs = [text for ours, theirs, how in entriesIn(p.pairs) if theirs for text in (theirs, ours, how)]

    # What is wrong

    def mistake(self) -> str:
        """Return why the chosen segmentations cannot be compared, or "" if they can or are still to be chosen."""
        p = self.parameters
        return self.whyNot() if p is not None and p.reference is not None and p.test is not None else ""

    def whyNot(self) -> str:
        """Return the reason why these inputs cannot be compared, or "" if they can."""
        p = self.parameters
        if p is None or self.scene.isChanging():
            return _("The scene is being opened or closed.")
        segments = self.scene.segments(p.reference), self.scene.segments(p.test)
        for node, names, missing in (
            (p.reference, segments[0], _("Choose a reference segmentation.")),
            (p.test, segments[1], _("Choose a test segmentation.")),
        ):
            if node is None:
                return missing
            if not names:
                return _("{name} has no segments.").format(name=self.scene.name(node))
        isSame = p.reference is p.test
        if p.mode == Mode.allStructures:
            return _("Choose two different segmentations to compare all their structures.") if isSame else ""
        if p.referenceSegment not in segments[0]:
            return _("Choose a segment of the reference.")
        if p.testSegment not in segments[1]:
            return _("Choose a segment of the test.")
        isSame = isSame and p.referenceSegment == p.testSegment
        return _("Reference and test are the same segment: choose two different ones.") if isSame else ""

    def origins(self) -> list[str]:
        """Return the names of the chosen segmentations, with those of the segments of a pair, which may be in one."""
        names = [self.scene.name(getattr(self.parameters, side)) for side in REFERENCE_AND_TEST]
        if self.parameters.mode == Mode.allStructures:
            return names
        text = _("{segment} of {segmentation}")
        segments = map(self.segmentName, REFERENCE_AND_TEST)
        return [text.format(segment=segment, segmentation=name) for segment, name in zip(segments, names)]

    def _segmentNamed(self, node, name: str) -> str:
        """Return the ID of the first segment with a name, or "" if there is none."""
        return next((i for i, own in self.scene.segments(node).items() if name and own == name), "")

    def _all(self) -> tuple:
        return self.choiceOf("reference") + self.choiceOf("test")

    def _isNothingChosen(self) -> bool:
        return self.parameters.reference is None and self.parameters.test is None
