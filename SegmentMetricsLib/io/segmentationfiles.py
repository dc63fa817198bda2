"""Slicer's segmentation files: label images with layers for overlapping segments, which are listed in the header.

Fractional label maps, which SlicerRT makes as well, hold the fraction of each voxel inside a segment, as scaled
numbers. In a scene, the range of the numbers is in the field data of the image. Files do not contain it, but it follows
from the type, because Slicer's conversion to fractional label maps uses one range for each type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ..base.errors import InputError
from ..geometry.grids import Grid
from ..geometry.masks import Mask, fromLabels, slicesOf
from ..model import inputs, naming
from ..model.structure import Structure
from .formats.headers import unicodeText

# The words of the name that some programs give the label 0, which is no structure.
BACKGROUND = ("background",)
FRACTIONAL = "Fractional labelmap"
# The numbers for memberships 0 and 1, by the kind of their type.
RANGES = {"i": (-108.0, 108.0), "u": (0.0, 216.0), "f": (0.0, 1.0)}
# How the tag of a segment begins that says what it is.
CODE = "TerminologyEntry:"
HEADERS = ("Segmentation_SourceRepresentation", "Segmentation_MasterRepresentation")


def segmentHeaders(image: SimpleITK.Image) -> list[dict]:
    """Return the segments listed in the header of a Slicer segmentation; [] for other images.

    Each has a name, a label, a layer, an extent, and further fields of its structure.
    """
    given = {key: unicodeText(image.GetMetaData(key)) for key in image.GetMetaDataKeys() if key.startswith("Segment")}
    segments: list[dict] = []
    while f"{(prefix := f'Segment{len(segments)}_')}ID" in given:
        segments.append(
            {
                # files of Slicer before 4.11 store every segment in its own layer
                "label": _wholeNumber(given.get(f"{prefix}LabelValue", "1")),
                "layer": _wholeNumber(given.get(f"{prefix}Layer", str(len(segments)))),
                "extent": given.get(f"{prefix}Extent", ""),
                "name": given.get(f"{prefix}Name") or given[f"{prefix}ID"],
                "fields": _fieldsIn(given, prefix),
            }
        )
    return segments


def segmentOfMesh(polyData: vtkPolyData) -> dict[str, Any]:
    """Return the fields of a structure that Slicer keeps in the surface of a segment, {} for other meshes."""
    data = polyData.GetFieldData()
    arrays = [data.GetAbstractArray(number) for number in range(data.GetNumberOfArrays())]
    values = {a.GetName(): map(a.GetValue, range(a.GetNumberOfValues())) for a in arrays}
    given = {name: " ".join(map(str, values[name])) for name in values if name and name.startswith("Segment_")}
    if "Segment_ID" not in given:
        return {}
    return {"name": given.get("Segment_Name") or given["Segment_ID"], **_fieldsIn(given, "Segment_")}


def _fieldsIn(given: Mapping[str, str], prefix: str) -> dict[str, Any]:
    """Return fields of the structure of a segment besides its name. given: texts of a file by their keys."""
    tags = given.get(f"{prefix}Tags", "").split("|")  # key:value|key:value|
    return {
        "segmentID": given[f"{prefix}ID"],
        "color": _color(given.get(f"{prefix}Color", "")),
        "terminology": next((tag[len(CODE) :] for tag in tags if tag.startswith(CODE)), ""),
    }


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


def readSegments(image: SimpleITK.Image, segments: list[dict], threshold: float | None) -> list[Structure]:
    """Return the structures of a segmentation's image, including labels that are missing from its header.

    segments: as returned by segmentHeaders(). threshold: of memberships, see Settings. Raises InputError for an image
    that does not match its header. Label 0 is not a structure, even if the header lists it as the background.
    """
    stored, grid = SimpleITK.GetArrayViewFromImage(image), Grid.fromImage(image)
    stored = stored.reshape(grid.size[::-1] + stored.shape[image.GetDimension() :])
    whole = wholeGrid(image, grid)
    layers = [stored] if image.GetNumberOfComponentsPerPixel() == 1 else list(np.moveaxis(stored, -1, 0))
    missing = [segment["name"] for segment in segments if not 0 <= segment["layer"] < len(layers)]
    keys = image.GetMetaDataKeys()
    if any(key in keys and image.GetMetaData(key).strip() == FRACTIONAL for key in HEADERS):
        if stored.size == len(layers):
            raise InputError(
                "the segmentation is fractional, and Slicer saved none of its voxels: convert it to a binary labelmap."
            )
        if len({segment["layer"] for segment in segments}) < len(segments):
            raise InputError("the header puts several fractional segments into one layer.")
        if missing:
            raise InputError(f"the header puts segment {missing[0]!r} into a layer that the file does not have.")
        return [_fractional(segment, layers[segment["layer"]], grid, whole, threshold) for segment in segments]
    array = inputs.wholeNumbers(stored, *inputs.spanOf(stored)) if stored.dtype.kind == "f" else stored
    if array is None or array.dtype.kind not in "iu":
        raise InputError("the segmentation is stored with values that are not whole numbers.")
    if array.size and array.min() < 0:
        raise InputError(f"the segmentation has negative values, from {array.min()} to {array.max()}.")
    if missing:
        raise InputError(f"the header puts segment {missing[0]!r} into a layer that the file does not have.")
    layers = [array] if len(layers) == 1 else list(np.moveaxis(array, -1, 0))
    masks = [fromLabels(np.ascontiguousarray(layer), grid) for layer in layers]
    structures = []
    for segment in segments:
        if segment["label"] == 0:
            if naming.parse(segment["name"]).words == BACKGROUND:
                continue
            raise InputError(f"the header gives segment {segment['name']!r} the label 0, which is the background.")
        mask = masks[segment["layer"]].get(segment["label"], Mask.empty(grid))
        more = {"number": segment["label"], "notes": tuple(_beyondExtent(segment, mask)), **segment["fields"]}
        structures.append(Structure(segment["name"], mask.on(whole), **more))
    # add labels that are missing from the header
    known = {(segment["layer"], segment["label"]) for segment in segments}
    for number, layer in enumerate(masks):
        for label, mask in layer.items():
            if (number, label) not in known:
                name = f"Label {label}" if len(masks) == 1 else f"Label {label} of layer {number}"
                structures.append(Structure(name, mask.on(whole), number=label))
    return structures


def _fractional(segment: Mapping, layer: np.ndarray, grid: Grid, whole: Grid, threshold: float | None) -> Structure:
    """Return a fractional segment. layer: its values. whole: grid of the image that it was drawn on."""
    values = scaleMemberships(layer, RANGES[layer.dtype.kind])
    # voxels beyond the extent hold a number that is not a membership
    last = np.array(grid.size) - 1
    low, high = _extentOf(segment) or (np.zeros(3, int), last)
    low, high = np.maximum(low, 0), np.minimum(high, last)
    mask = Mask.ofMemberships(values[slicesOf(low, high)], grid, low).on(whole)
    structure = inputs.structureFromMemberships(segment["name"], mask, threshold)
    return replace(structure, number=segment["label"], **segment["fields"])


def scaleMemberships(array: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Return numbers scaled from between two limits to memberships in [0, 1]. Raises InputError for numbers beyond."""
    low, high = limits
    if not low < high or (array.size and not low <= float(array.min()) <= float(array.max()) <= high):
        raise InputError(f"the fractional label map has values beyond its range from {low:g} to {high:g}.")
    return ((array.astype(np.float32) - np.float32(low)) / np.float32(high - low)).astype(np.float32)


def _extentOf(segment: Mapping) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the first and the last voxel (3,) of the box that the header states for a segment, None without one."""
    try:
        numbers = np.array([int(part) for part in segment["extent"].split()])
    except ValueError:
        return None
    return (numbers[::2], numbers[1::2]) if len(numbers) == 6 else None


def _beyondExtent(segment: Mapping, mask: Mask) -> Iterator[str]:
    """Yield a remark on voxels of a segment outside of the box that its header states. mask: on the stored grid."""
    extent = _extentOf(segment)
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
