"""From images and polydata in memory to structures."""

from __future__ import annotations

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from . import masks, meshing
from .errors import InputError
from .grids import Grid
from .structures import Structure

# A label map has few values; an image whose integers pass this is a CT or MR, not a segmentation.
MOST_LABELS = 5000


def structureFromImage(image: SimpleITK.Image, name: str, label: int | None, threshold: float) -> Structure:
    """Return the structure of a mask, of one label of a label map, or of memberships in [0, 1].

    Raises ValueError when a label is needed or missing, and when the image is no segmentation.
    """
    found = labelMasks(image, threshold)
    if label is None:
        if len(found) > 1:
            labels = ", ".join(map(str, list(found)[:10])) + (", ..." if len(found) > 10 else "")
            raise InputError(
                f"The {name} image has {len(found)} labels ({labels}): say which one to compare (label=...)."
            )
        label = next(iter(found), None)
    # a label that does not occur is an empty structure
    return Structure(name, found.get(label, emptyMask(Grid.fromImage(image))))


def emptyMask(grid: Grid) -> masks.Mask:
    """Return the mask of a structure without voxels."""
    return masks.Mask(np.zeros((0, 0, 0), np.uint8), (0, 0, 0), grid)


def structureFromPolyData(polyData: vtkPolyData, name: str) -> Structure:
    """Return the structure of a surface or planar contours in LPS mm."""
    return Structure(name, givenSurface=meshing.fromPolyData(polyData), surfaceKind="imported")


def labelMasks(image: SimpleITK.Image, threshold: float) -> dict[int, masks.Mask]:
    """Return the mask of every label of an image, {1: mask} for memberships.

    threshold: membership from which a voxel belongs to the structure. Raises ValueError for images that are no
    segmentation: vector images, values outside [0, 1] that are not whole, negative values, more values than labels.
    """
    if image.GetNumberOfComponentsPerPixel() != 1:
        raise InputError("The image has several values per voxel; a segmentation has one.")
    array = SimpleITK.GetArrayViewFromImage(image)
    grid = Grid.fromImage(image)
    if array.ndim == 2:
        array = array[None]
    if array.dtype.kind == "c":
        raise InputError("The image has complex values; a segmentation has labels.")
    if array.dtype.kind == "f":
        low, high = float(array.min()), float(array.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise InputError("The image has values that are not numbers.")
        whole = bool((array == np.rint(array)).all()) if high > 1 else False
        if low >= 0 and high <= 1:
            mask = masks.Mask.fromArray(array >= threshold, grid)
            return {} if mask.isEmpty else {1: mask}
        if not whole:
            raise InputError(
                f"The image is neither a label map nor memberships in [0, 1]: it has values from {low:g} to {high:g}."
            )
        array = array.astype(np.int64)
    if array.size and array.min() < 0:
        raise InputError(f"The image is no label map: it has negative values, from {array.min()} to {array.max()}.")
    found = masks.fromLabels(array, grid)
    if len(found) > MOST_LABELS:
        raise InputError(f"The image is no label map: it has {len(found)} different values.")
    return found
