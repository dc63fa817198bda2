"""Whether segments have changed is found out without reading again what is the same."""

from __future__ import annotations

import pytest
import shapes
import slicer
from segmentnodes import segmentationOf

from SegmentMetricsLib.mrml import inputs
from SegmentMetricsLib.mrml.contents import ContentHashes


@pytest.fixture
def reads(monkeypatch):
    """The segments that are read, by ID."""
    seen: list[str] = []
    read = inputs.SegmentReader.structure

    def counted(reader, segment, *more, **options):
        seen.append(segment)
        return read(reader, segment, *more, **options)

    monkeypatch.setattr(inputs.SegmentReader, "structure", counted)
    return seen


def testWhatIsTheSameIsNotReadAgain(scene, reads):
    """Whatever Slicer reports; of a change, only segments in the same labelmap are read."""
    node = segmentationOf(scene, A=shapes.box((2, 2, 2), (5, 5, 5)), B=shapes.box((8, 8, 8), (9, 9, 9)))
    segmentation, hashes = node.GetSegmentation(), ContentHashes()
    identifiers = segmentation.GetSegmentIDs()
    segmentation.SeparateSegmentLabelmap(identifiers[1])
    list(hashes.current(node, identifiers))
    assert reads == list(identifiers)
    transform = scene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    node.SetAndObserveTransformNodeID(transform.GetID())
    list(hashes.current(node, identifiers))
    reads.clear()
    modify = lambda: segmentation.InvokeEvent(slicer.vtkSegmentation.SegmentModified)  # noqa: E731
    for happens in (node.Modified, transform.Modified, modify):
        happens()
        list(hashes.current(node, identifiers))
        assert reads == []
    node.GetBinaryLabelmapInternalRepresentation(identifiers[1]).Modified()
    list(hashes.current(node, identifiers))
    assert reads == list(identifiers[1:])
