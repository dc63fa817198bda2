"""The image that contours were drawn on: a structure set may refer to several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Image:
    """An image that a structure set refers to.

    series: instance UID, "" if the structure set does not contain it. frame: UID of its frame of reference. instances:
    SOP instance UIDs of its slices.
    """

    series: str
    frame: str
    instances: frozenset[str]


def imagesOf(dataset) -> list[Image]:
    """Return the images that a structure set refers to, in its order; at least one, whose series may be unknown."""
    images = []
    for frame in dataset.get("ReferencedFrameOfReferenceSequence", []):
        for study in frame.get("RTReferencedStudySequence", []):
            for series in study.get("RTReferencedSeriesSequence", []):
                instances = frozenset(_instancesIn(series))
                identifier = str(frame.get("FrameOfReferenceUID", ""))
                images.append(Image(str(series.get("SeriesInstanceUID", "")), identifier, instances))
    if images:
        return images
    frames = dataset.get("ReferencedFrameOfReferenceSequence", [])
    instances = frozenset(uid for drawn in dataset.get("ROIContourSequence", []) for uid in _instancesOf(drawn))
    return [Image("", str(frames[0].get("FrameOfReferenceUID", "")) if frames else "", instances)]


def imagesFor(region, drawn, images: Sequence[Image]) -> list[Image]:
    """Return the images that a region of interest may have been drawn on, at least one.

    It is the image that most of its contours refer to, else those in its frame of reference, else the first. drawn: its
    item in the sequence of contours, None if it has none.
    """
    named = Counter(() if drawn is None else _instancesOf(drawn))
    shares = [sum(number for uid, number in named.items() if uid in image.instances) for image in images]
    if any(shares):
        return [images[shares.index(max(shares))]]
    frame = str(region.get("ReferencedFrameOfReferenceUID", ""))
    return [image for image in images if image.frame == frame] or [images[0]]


def _instancesOf(drawn) -> Iterator[str]:
    for contour in drawn.get("ContourSequence", []):
        yield from _instancesIn(contour)


def _instancesIn(item) -> Iterator[str]:
    for image in item.get("ContourImageSequence", []):
        yield str(image.ReferencedSOPInstanceUID)
