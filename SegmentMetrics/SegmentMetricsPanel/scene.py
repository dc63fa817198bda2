"""What the panel's model asks of Slicer's scene."""

from __future__ import annotations

from pathlib import Path

import slicer

from SegmentMetricsLib.mrml import outcomes, pairSegments, protocolFromTable
from SegmentMetricsLib.mrml.inputs import nameOf
from SegmentMetricsLib.mrml.protocols import allProtocols


class SlicerScene:
    """The model.Scene of the application."""

    recall = staticmethod(outcomes.recall)
    pairing = staticmethod(pairSegments)
    protocol = staticmethod(protocolFromTable)

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
    def protocols() -> list:
        return allProtocols(slicer.mrmlScene)

    @staticmethod
    def fileName() -> str:
        return Path(slicer.mrmlScene.GetURL() or "").name

    @staticmethod
    def oneChange(parameters):
        return slicer.util.NodeModify(parameters.parameterNode)
