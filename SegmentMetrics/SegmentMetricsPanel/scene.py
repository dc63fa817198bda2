"""What the panel's model asks of Slicer's scene."""

from __future__ import annotations

from pathlib import Path

import slicer

from SegmentMetricsLib.mrml import folders, outcomes, pairSegments, protocolFromTable
from SegmentMetricsLib.mrml.folders import ROLE_ATTRIBUTE
from SegmentMetricsLib.mrml.inputs import isDose, nameOf
from SegmentMetricsLib.mrml.practice import practiceState
from SegmentMetricsLib.mrml.protocols import allProtocols


class SlicerScene:
    """The scene of the application, as the model asks for it; tests of the model have one of plain values."""

    def __init__(self):
        self.closedURL = None  # of the scene that was closed, which the empty one keeps

    recall = staticmethod(outcomes.recall)
    pairing = staticmethod(pairSegments)
    protocol = staticmethod(protocolFromTable)
    practiceState = staticmethod(practiceState)

    @staticmethod
    def isChanging() -> bool:
        return bool(slicer.mrmlScene.IsClosing() or slicer.mrmlScene.IsBatchProcessing())

    @staticmethod
    def name(node) -> str:
        return node.GetName() or ""

    @staticmethod
    def segments(node) -> dict[str, str]:
        segmentation = node.GetSegmentation() if node else None
        return {i: nameOf(segmentation, i) for i in segmentation.GetSegmentIDs()} if segmentation else {}

    @staticmethod
    def segmentations() -> list:
        nodes = slicer.util.getNodesByClass("vtkMRMLSegmentationNode")
        return [node for node in nodes if not node.GetHideFromEditors()]

    @staticmethod
    def isConsensus(node) -> bool:
        return folders.isResult(node, outcomes.CONSENSUS_ROLE)

    @staticmethod
    def protocols() -> list:
        return allProtocols(slicer.mrmlScene)

    @staticmethod
    def doses() -> dict:
        nodes = slicer.util.getNodesByClass("vtkMRMLScalarVolumeNode")
        # neither label maps nor what this module shows itself
        return {
            node: isDose(node)
            for node in nodes
            if not (node.IsA("vtkMRMLLabelMapVolumeNode") or node.GetHideFromEditors())
            and not node.GetAttribute(ROLE_ATTRIBUTE)
        }

    def fileName(self) -> str:
        url = slicer.mrmlScene.GetURL()
        return "" if url == self.closedURL else Path(url or "").name

    @staticmethod
    def oneChange(parameters):
        return slicer.util.NodeModify(parameters.parameterNode)
