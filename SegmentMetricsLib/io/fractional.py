"""Fractional label maps of Slicer and SlicerRT: the fraction of each voxel inside a segment, as scaled numbers.

In a scene, the range of the numbers is in the field data of the image. Files do not contain it, but it follows from the
type, because Slicer's conversion to fractional label maps uses one range for each type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import SimpleITK

from ..base.errors import InputError
from ..geometry.grids import Grid
from ..geometry.masks import Mask, slicesOf
from ..model.inputs import structureFromMemberships
from ..model.structure import Structure
from .segmentationfiles import extentOf

REPRESENTATION = "Fractional labelmap"
# The numbers for memberships 0 and 1, by the kind of their type.
RANGES = {"i": (-108.0, 108.0), "u": (0.0, 216.0), "f": (0.0, 1.0)}
HEADERS = ("Segmentation_SourceRepresentation", "Segmentation_MasterRepresentation")


def memberships(array: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Return numbers scaled from the range between two limits to memberships in [0, 1].

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
    image: SimpleITK.Image, segments: Sequence[Mapping], whole: Grid, threshold: float | None
) -> list[Structure]:
    """Return the structures of a file of fractional segments, each in its own layer.

    segments: from the header. whole: grid of the image that they were drawn on. threshold: see Settings.
    Raises ValueError if the file holds less than its header says.
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
        # voxels beyond the extent hold a number that is not a membership
        last = np.array(grid.size) - 1
        low, high = extentOf(segment) or (np.zeros(3, int), last)
        low, high = np.maximum(low, 0), np.minimum(high, last)
        mask = Mask.ofMemberships(values[slicesOf(low, high)], grid, low).on(whole)
        structure = structureFromMemberships(segment["name"], mask, threshold)
        structures.append(replace(structure, number=segment["label"], **segment["fields"]))
    return structures
