"""Fractional label maps of Slicer and SlicerRT: how much of each voxel a segment takes, as scaled numbers.

The range of the numbers stands in the field data of the image in the scene, but in no file; there the type tells it,
since Slicer's conversion to fractional label maps knows one range for each type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import SimpleITK

from ..errors import InputError
from ..geometry.grids import Grid
from ..geometry.masks import Mask, slicesOf
from ..inputs import structureFromMemberships
from ..structures import Structure, codeSource

REPRESENTATION = "Fractional labelmap"
# What means nothing and all of a voxel, by the type of the numbers.
RANGES = {"i": (-108.0, 108.0), "u": (0.0, 216.0), "f": (0.0, 1.0)}
HEADERS = ("Segmentation_SourceRepresentation", "Segmentation_MasterRepresentation")


def memberships(array: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Return the memberships in [0, 1] that numbers from the low to the high limit stand for.

    Raises ValueError for numbers beyond the limits.
    """
    low, high = limits
    if not low < high or (array.size and not low <= float(array.min()) <= float(array.max()) <= high):
        raise InputError(f"the fractional label map has values beyond its range from {low:g} to {high:g}.")
    return ((array.astype(np.float32) - np.float32(low)) / np.float32(high - low)).astype(np.float32)


def isFractional(image: SimpleITK.Image) -> bool:
    """Return whether the header of a Slicer segmentation says that its segments are fractional."""
    keys = image.GetMetaDataKeys()
    return any(key in keys and image.GetMetaData(key).strip() == REPRESENTATION for key in HEADERS)


def segmentsOf(
    image: SimpleITK.Image, segments: Sequence[Mapping], whole: Grid, threshold: float | None, common: Mapping
) -> list[Structure]:
    """Return the structures of a file of fractional segments, each in a layer of its own.

    segments: what the header says of them. whole: the image that they were drawn on. threshold: see Settings. common:
    file and frame of reference. Raises ValueError when the file holds less than its header promises.
    """
    grid = Grid.fromImage(image)
    array = SimpleITK.GetArrayViewFromImage(image)
    layers = [array] if image.GetNumberOfComponentsPerPixel() == 1 else list(np.moveaxis(array, -1, 0))
    if np.prod(grid.size) == 1:
        raise InputError(
            "the segmentation is fractional, and Slicer saved none of its voxels: convert it to a binary labelmap."
        )
    if len({segment["layer"] for segment in segments}) < len(segments):
        raise InputError("the header puts several fractional segments into one layer.")
    structures = []
    for segment in segments:
        if not 0 <= segment["layer"] < len(layers):
            raise InputError(f"the header puts segment {segment['name']!r} into a layer that the file does not have.")
        values = memberships(layers[segment["layer"]], RANGES[array.dtype.kind])
        low, high = _extent(segment["extent"], grid)
        mask = Mask.ofMemberships(values[slicesOf(low, high)], grid, low).on(whole)
        source = {"segmentID": segment["id"], **codeSource(segment["terminology"])}
        structures.append(
            structureFromMemberships(segment["name"], mask, threshold, color=segment["color"], source=source, **common)
        )
    return structures


def _extent(text: str, grid: Grid) -> tuple[list[int], list[int]]:
    """Return the voxels that belong to a segment; those around it are filled with a number that means something."""
    try:
        numbers = [int(part) for part in text.split()]
    except ValueError:
        numbers = []
    last = [size - 1 for size in grid.size]
    if len(numbers) != 6:
        return [0, 0, 0], last
    return [max(n, 0) for n in numbers[::2]], [min(n, end) for n, end in zip(numbers[1::2], last, strict=True)]
