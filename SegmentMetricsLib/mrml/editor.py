"""Which segment Segment Editor edits when it is opened."""

from __future__ import annotations

from .images import shownVolumes


def chooseInEditor(segmentationNode, segment: str, scene) -> None:
    """Let Segment Editor edit a segment, given by ID, on the image that the slice views show, when it is opened.

    It would open on the first segmentation of the scene otherwise, and ask to show one that is hidden.
    """
    node = scene.GetSingletonNode("SegmentEditor", "vtkMRMLSegmentEditorNode")
    if node is None:
        import slicer

        node = slicer.vtkMRMLSegmentEditorNode()
        node.SetSingletonTag("SegmentEditor")
        node = scene.AddNode(node)
    wasModifying = node.StartModify()
    node.SetAndObserveSegmentationNode(segmentationNode)
    node.SetSelectedSegmentID(segment)
    for image in shownVolumes(scene)[:1]:
        node.SetAndObserveSourceVolumeNode(image)
    node.EndModify(wasModifying)
