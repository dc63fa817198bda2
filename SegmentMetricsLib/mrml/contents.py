"""Detecting whether segments, or a dose, have changed since they were measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.structure import Structure
from ..show.fingerprints import contentHash, contentHashOfDose
from .conversion import CLOSED_SURFACE, DISPLAY_PARAMETERS
from .inputs import UNIT, SegmentReader, doseOf, gridOf, linearMatrix, worldTransform


def contentHashOfSegment(structure: Structure, segmentationNode, surface: str = "unsmoothed") -> str:
    """Return a short text that stays the same as long as the measured contents of a segment of a node do.

    Slicer reports modifications also where nothing has changed, as when a scene is saved. surface: as in Settings.
    """
    if structure.isEmpty:
        return "empty"
    digest = contentHash(structure)
    if surface == "displayed":
        segmentation = segmentationNode.GetSegmentation()
        digest.update(repr([segmentation.GetConversionParameter(name) for name in DISPLAY_PARAMETERS]).encode())
    return digest.hexdigest()


class ContentHashes:
    """The current content hashes of segments and doses; those that cannot have changed are not read again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[tuple, str]] = {}

    def current(
        self, segmentationNode, segmentIDs: Iterable[str], surface: str = "unsmoothed"
    ) -> Iterator[tuple[str, str]]:
        """Yield the IDs of segments with their content hashes, before any of them is modified."""
        reader, keys = SegmentReader(segmentationNode), modificationKeys(segmentationNode)
        isLinear = linearMatrix(worldTransform(segmentationNode)) is not None
        # without a nonlinear transform the voxels are sufficient, and creating a smooth surface would take long
        read = "unsmoothed" if isLinear else surface
        for identifier in segmentIDs:
            place, key = (segmentationNode.GetID(), identifier), (surface, keys.get(identifier))
            before, found = self._known.get(place, (None, ""))
            if not isLinear or key != before:  # the key does not cover nonlinear transforms
                found = contentHashOfSegment(reader.structure(identifier, read, by="ID"), segmentationNode, surface)
                self._known[place] = key, found
            yield identifier, found

    def currentOfDose(self, volumeNode) -> str:
        """Return the content hash of the dose in a volume node. Raises ValueError as doseOf does."""
        place, image = (volumeNode.GetID(), ""), volumeNode.GetImageData()
        key = image and image.GetMTime(), volumeNode.GetAttribute(UNIT), gridOf(volumeNode).matrix.tobytes()
        before, found = self._known.get(place, (None, ""))
        if key != before:
            found = contentHashOfDose(doseOf(volumeNode)).hexdigest()
            self._known[place] = key, found
        return found


def modificationKeys(segmentationNode) -> dict[str, tuple]:
    """Return a key for every segment, by ID, that is equal only if it and its linear transform are unchanged."""
    segmentation = segmentationNode.GetSegmentation()
    linear = linearMatrix(worldTransform(segmentationNode))
    common = (
        segmentation.__this__,
        segmentation.GetMTime(),
        segmentation.GetSourceRepresentationName(),
        segmentation.ContainsRepresentation(CLOSED_SURFACE),
        segmentation.SerializeAllConversionParameters(),
        None if linear is None else linear.tobytes(),
    )
    # editing a labelmap in place may modify only one of the segments that share it
    latest: dict[str, int] = {}
    keys: dict[str, tuple] = {}
    stored: dict[str, list[tuple[str, str]]] = {}
    for identifier in segmentation.GetSegmentIDs():
        names: list[str] = []
        segment = segmentation.GetSegment(identifier)
        time = segment.GetMTime()
        keys[identifier] = common, segment.__this__, time
        segment.GetContainedRepresentationNames(names)
        data = {name: segment.GetRepresentation(name) for name in names}
        stored[identifier] = [(name, one.__this__) for name, one in data.items()]
        for one in data.values():
            latest[one.__this__] = max(latest.get(one.__this__, 0), one.GetMTime(), time)
    return {i: (*key, *((name, address, latest[address]) for name, address in stored[i])) for i, key in keys.items()}
