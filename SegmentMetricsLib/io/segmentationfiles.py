"""Slicer's segmentation files: label images with layers for overlapping segments, which are listed in the header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np
import SimpleITK

from ..base.errors import InputError
from ..geometry.grids import Grid
from ..geometry.masks import Mask, fromLabels
from ..model import inputs, naming
from ..model.structure import Structure
from .formats.headers import unicodeText

# The words of the name that some programs give the label 0, which is no structure.
BACKGROUND = ("background",)


def segmentHeaders(image: SimpleITK.Image) -> list[dict]:
    """Return the segments listed in the header of a Slicer segmentation; [] for other images.

    Each has a name, a label, a layer, an extent, and further fields of its structure.
    """
    keys = image.GetMetaDataKeys()
    segments: list[dict] = []
    while f"Segment{len(segments)}_ID" in keys:
        prefix = f"Segment{len(segments)}_"

        def value(key: str, default: str, prefix: str = prefix) -> str:
            return unicodeText(image.GetMetaData(prefix + key)) if prefix + key in keys else default

        segments.append(
            {
                "name": value("Name", "") or value("ID", ""),
                # files of Slicer before 4.11 store every segment in its own layer
                "label": _wholeNumber(value("LabelValue", "1")),
                "layer": _wholeNumber(value("Layer", str(len(segments)))),
                "extent": value("Extent", ""),
                "fields": {
                    "segmentID": value("ID", ""),
                    "color": _color(value("Color", "")),
                    "terminology": _tag(value("Tags", ""), "TerminologyEntry"),
                },
            }
        )
    return segments


def _tag(tags: str, key: str) -> str:
    """Return one of the tags of a segment, which are written as key:value|key:value|, or "" if it is missing."""
    return next((tag[len(key) + 1 :] for tag in tags.split("|") if tag.startswith(f"{key}:")), "")


def _wholeNumber(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"the header has {text[:40]!r} where a segment's label or layer should be.") from None


def _color(text: str) -> tuple[float, float, float] | None:
    try:
        red, green, blue = (float(part) for part in text.split())
    except ValueError:
        return None
    # also false for what is not a number
    return (red, green, blue) if all(0 <= part <= 1 for part in (red, green, blue)) else None


def readSegments(image: SimpleITK.Image, segments: list[dict]) -> list[Structure]:
    """Return the structures of a segmentation's image, including labels that are missing from its header.

    segments: as returned by segmentHeaders(). Raises InputError for an image that does not match its header. Label 0 is
    not a structure, even if the header lists it as the background.
    """
    stored = SimpleITK.GetArrayViewFromImage(image)
    array = inputs.wholeNumbers(stored, *inputs.spanOf(stored)) if stored.dtype.kind == "f" else stored
    if array is None or array.dtype.kind not in "iu":
        raise InputError("the segmentation is stored with values that are not whole numbers.")
    if array.size and array.min() < 0:
        raise InputError(f"the segmentation has negative values, from {array.min()} to {array.max()}.")
    grid = Grid.fromImage(image)
    whole = wholeGrid(image, grid)
    layers = [array] if image.GetNumberOfComponentsPerPixel() == 1 else list(np.moveaxis(array, -1, 0))
    masks = [fromLabels(np.ascontiguousarray(layer), grid) for layer in layers]
    structures = []
    for segment in segments:
        if not 0 <= segment["layer"] < len(masks):
            raise InputError(f"the header puts segment {segment['name']!r} into a layer that the file does not have.")
        if segment["label"] == 0:
            if naming.parse(segment["name"]).words == BACKGROUND:
                continue
            raise InputError(f"the header gives segment {segment['name']!r} the label 0, which is the background.")
        mask = masks[segment["layer"]].get(segment["label"], Mask.empty(grid))
        notes = tuple(_beyondExtent(segment, mask))
        structures.append(
            Structure(segment["name"], mask.on(whole), number=segment["label"], notes=notes, **segment["fields"])
        )
    # add labels that are missing from the header
    known = {(segment["layer"], segment["label"]) for segment in segments}
    for number, layer in enumerate(masks):
        for label, mask in layer.items():
            if (number, label) not in known:
                name = f"Label {label}" if len(masks) == 1 else f"Label {label} of layer {number}"
                structures.append(Structure(name, mask.on(whole), number=label))
    return structures


def extentOf(segment: Mapping) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the first and the last voxel (3,) of the box that the header states for a segment, None without one."""
    try:
        numbers = np.array([int(part) for part in segment["extent"].split()])
    except ValueError:
        return None
    return (numbers[::2], numbers[1::2]) if len(numbers) == 6 else None


def _beyondExtent(segment: Mapping, mask: Mask) -> Iterator[str]:
    """Yield a remark on voxels of a segment outside of the box that its header states. mask: on the stored grid."""
    extent = extentOf(segment)
    if extent is None or mask.isEmpty:
        return
    low, high = np.maximum(extent[0], mask.low), np.minimum(extent[1], mask.high)
    inside = np.count_nonzero(mask.block(low, high)) if (low <= high).all() else 0
    if inside < mask.count:
        yield (
            f"the header states an old extent of the segment {segment['name']!r}: {mask.count - inside} of its "
            f"{mask.count} voxels lie outside, as after an edit without Slicer, and Slicer leaves them out"
        )


def wholeGrid(image: SimpleITK.Image | SimpleITK.ImageFileReader, grid: Grid) -> Grid:
    """Return the grid of the image that a segmentation was drawn on; Slicer stores only the used part of it.

    grid: of the stored image, returned if the whole one is unknown or does not match.
    """
    key = "Segmentation_ConversionParameters"
    parameters = image.GetMetaData(key) if key in image.GetMetaDataKeys() else ""
    found = re.search(r"Reference image geometry\|([^|]*)\|", parameters)
    try:
        geometry = Grid.fromSlicerGeometry(found.group(1)) if found else None
    except (ValueError, OverflowError):  # not essential: it only gives the size of the whole image
        geometry = None
    return geometry if geometry is not None and grid.offsetOn(geometry) is not None else grid
