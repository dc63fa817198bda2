"""The images that a file refers to: a structure set may have been drawn on several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Reference(NamedTuple):
    """A series that a file refers to.

    study, frame, series: UIDs, "" if the file does not have it; the frame is that of reference. items: with the UIDs of
    the instances.
    """

    study: str
    frame: str
    series: str
    items: Sequence


@dataclass(frozen=True)
class Image:
    """An image that a structure set refers to.

    series: instance UID, "" if the structure set does not contain it. frame: UID of its frame of reference. instances:
    SOP instance UIDs of its slices.
    """

    series: str
    frame: str
    instances: frozenset[str]


def referencesIn(dataset) -> Iterator[Reference]:
    """Yield the series that a structure set or a segmentation refers to."""
    study = str(dataset.get("StudyInstanceUID", ""))
    for series in dataset.get("ReferencedSeriesSequence", None) or ():
        items = series.get("ReferencedInstanceSequence", None) or ()
        yield Reference(study, "", str(series.get("SeriesInstanceUID", "")), items)
    yield from _drawnOn(dataset)


def _drawnOn(dataset) -> Iterator[Reference]:
    """Yield the series on which the contours of a structure set were drawn."""
    for frame in dataset.get("ReferencedFrameOfReferenceSequence", None) or ():
        uid = str(frame.get("FrameOfReferenceUID", ""))
        for study in frame.get("RTReferencedStudySequence", None) or ():
            name = str(study.get("ReferencedSOPInstanceUID", ""))
            for series in study.get("RTReferencedSeriesSequence", None) or ():
                items = series.get("ContourImageSequence", None) or ()
                yield Reference(name, uid, str(series.get("SeriesInstanceUID", "")), items)


def imagesOf(dataset) -> list[Image]:
    """Return the images that a structure set refers to, in its order; at least one, whose series may be unknown."""
    images = [Image(one.series, one.frame, frozenset(_instancesIn(one.items))) for one in _drawnOn(dataset)]
    if images:
        return images
    frames = dataset.get("ReferencedFrameOfReferenceSequence", [])
    instances = frozenset(uid for drawn in dataset.get("ROIContourSequence", []) for uid in _instancesOf(drawn))
    return [Image("", str(frames[0].get("FrameOfReferenceUID", "")) if frames else "", instances)]


def imagesFor(region, drawn, images: Sequence[Image]) -> list[Image]:
    """Return the images that a region of interest may have been drawn on, at least one.

    It is the image that most of its contours refer to, else those in its frame of reference, else the first. drawn: its
    item in the sequence of contours.
    """
    named = Counter(_instancesOf(drawn))
    shares = [sum(number for uid, number in named.items() if uid in image.instances) for image in images]
    if any(shares):
        return [images[shares.index(max(shares))]]
    frame = str(region.get("ReferencedFrameOfReferenceUID", ""))
    return [image for image in images if image.frame == frame] or [images[0]]


def _instancesOf(drawn) -> Iterator[str]:
    for contour in drawn.get("ContourSequence", []):
        yield from _instancesIn(contour.get("ContourImageSequence", []))


def _instancesIn(items) -> Iterator[str]:
    return (str(image.ReferencedSOPInstanceUID) for image in items)
