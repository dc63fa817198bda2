"""Whether segments are still what they were when they were measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..fingerprints import contentHash
from ..structures import Structure
from .conversion import DISPLAY_PARAMETERS
from .inputs import SegmentReader, linearMatrix, worldTransform


def contentHashOfSegment(structure: Structure, segmentationNode, surface: str = "unsmoothed") -> str:
    """Return a short text that is equal as long as what was measured of a segment is equal.

    Slicer reports modifications also when nothing changed, for example when the scene is saved, so results can only be
    known to be out of date by contents: voxels or surface, and where they are in the world. structure: made of a
    segment of the node. surface: as in Settings; how smooth surfaces are made counts for "displayed" only.
    """
    if structure.isEmpty:
        return "empty"
    digest = contentHash(structure)
    if surface == "displayed":
        segmentation = segmentationNode.GetSegmentation()
        digest.update(repr([segmentation.GetConversionParameter(name) for name in DISPLAY_PARAMETERS]).encode())
    return digest.hexdigest()


class ContentHashes:
    """The content hashes of a node's segments as they are now, and with which modification keys they were read last.

    What has the same key still is what it was, and is not read again. The keys mean nothing in another session.
    """

    def __init__(self):
        self._read: dict[str, tuple[tuple, str]] = {}

    def current(
        self, segmentationNode, segmentIDs: Iterable[str], surface: str = "unsmoothed"
    ) -> Iterator[tuple[str, str]]:
        """Yield the IDs of segments with their content hashes, to be gone through at once.

        Raises ValueError as structureFromSegment does.
        """
        reader, keys = SegmentReader(segmentationNode), modificationKeys(segmentationNode)
        isLinear = linearMatrix(worldTransform(segmentationNode)) is not None
        # where voxels are known and not bent they tell enough, and a smooth surface would take long to make
        read = "unsmoothed" if isLinear else surface
        for identifier in segmentIDs:
            key = surface, keys.get(identifier)
            before, found = self._read.get(identifier, (None, ""))
            if not isLinear or key != before:  # nothing tells whether a bending transform is the same
                found = contentHashOfSegment(reader.structure(identifier, read, by="ID"), segmentationNode, surface)
                self._read[identifier] = key, found
            yield identifier, found


def modificationKeys(segmentationNode) -> dict[str, tuple]:
    """Return for every segment, by ID, what is equal only if nothing has happened to it under a linear transform.

    It takes no look at the voxels, and often differs where they do not. Times of modification are never the same twice,
    so an object at the address of an earlier one has another.
    """
    import slicer

    segmentation = segmentationNode.GetSegmentation()
    linear = linearMatrix(worldTransform(segmentationNode))
    surfaceName = slicer.vtkSegmentationConverter.GetSegmentationClosedSurfaceRepresentationName()
    common = (
        segmentation.__this__,
        segmentation.GetMTime(),
        segmentation.GetSourceRepresentationName(),
        segmentation.ContainsRepresentation(surfaceName),
        segmentation.SerializeAllConversionParameters(),
        None if linear is None else linear.tobytes(),
    )
    segments = {identifier: segmentation.GetSegment(identifier) for identifier in segmentation.GetSegmentIDs()}
    stored = {identifier: _representations(segment) for identifier, segment in segments.items()}
    # whoever edits a labelmap in place says so of one of the segments that share it
    latest: dict[str, int] = {}
    for identifier, segment in segments.items():
        for _, address, time in stored[identifier]:
            latest[address] = max(latest.get(address, 0), time, segment.GetMTime())
    return {
        identifier: (
            common,
            segment.__this__,
            segment.GetMTime(),
            segment.GetLabelValue(),
            tuple((name, address, latest[address]) for name, address, _ in stored[identifier]),
        )
        for identifier, segment in segments.items()
    }


def _representations(segment) -> list[tuple[str, str, int]]:
    """Return the name, the address and the time of modification of all that is stored of a vtkSegment."""
    names: list[str] = []
    segment.GetContainedRepresentationNames(names)
    found = [(name, segment.GetRepresentation(name)) for name in names]
    return [(name, data.__this__, data.GetMTime()) for name, data in found]
