"""The images that a file refers to: a structure set may have been drawn on several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Image(NamedTuple):
    """An image that a file refers to.

    study, frame, series: UIDs, "" if the file does not have it; the frame is that of reference. slices: UIDs of their
    instances and SOP classes.
    """

    study: str
    frame: str
    series: str
    slices: tuple[tuple[str, str], ...]

    @property
    def instances(self) -> frozenset[str]:
        """The UIDs of the slices."""
        return frozenset(uid for uid, _ in self.slices)


def imagesNamedIn(dataset) -> Iterator[Image]:
    """Yield the images that a structure set or a segmentation refers to."""
    study = str(dataset.get("StudyInstanceUID", ""))
    for one in dataset.get("ReferencedSeriesSequence", None) or ():
        yield Image(study, "", str(one.get("SeriesInstanceUID", "")), _slicesIn(one, "ReferencedInstanceSequence"))
    yield from _imagesUnder(dataset)


def _imagesUnder(dataset) -> Iterator[Image]:
    for frame in dataset.get("ReferencedFrameOfReferenceSequence", None) or ():
        uid = str(frame.get("FrameOfReferenceUID", ""))
        for study in frame.get("RTReferencedStudySequence", None) or ():
            name = str(study.get("ReferencedSOPInstanceUID", ""))
            for series in study.get("RTReferencedSeriesSequence", None) or ():
                yield Image(name, uid, str(series.get("SeriesInstanceUID", "")), _slicesIn(series))


def _slicesIn(item, sequence: str = "ContourImageSequence") -> tuple[tuple[str, str], ...]:
    named = item.get(sequence, None) or ()
    return tuple((str(one.ReferencedSOPInstanceUID), str(one.get("ReferencedSOPClassUID", ""))) for one in named)


def imagesOf(dataset) -> list[Image]:
    """Return the images that a structure set refers to, in its order; at least one, whose series may be unknown."""
    if images := list(_imagesUnder(dataset)):
        return images
    frames = dataset.get("ReferencedFrameOfReferenceSequence", [])
    slices = tuple(one for drawn in dataset.get("ROIContourSequence", []) for one in _slicesUnder(drawn))
    return [Image("", str(frames[0].get("FrameOfReferenceUID", "")) if frames else "", "", slices)]


def imagesFor(region, drawn, images: Sequence[Image]) -> list[Image]:
    """Return the images that a region of interest may have been drawn on, at least one.

    It is the image that most of its contours refer to, else those in its frame of reference, else the first. drawn: its
    item in the sequence of contours.
    """
    named = Counter(uid for uid, _ in _slicesUnder(drawn))
    shares = [sum(named[uid] for uid in image.instances) for image in images]
    if any(shares):
        return [images[shares.index(max(shares))]]
    frame = str(region.get("ReferencedFrameOfReferenceUID", ""))
    return [image for image in images if image.frame == frame] or [images[0]]


def _slicesUnder(drawn) -> Iterator[tuple[str, str]]:
    for contour in drawn.get("ContourSequence", []):
        yield from _slicesIn(contour)
