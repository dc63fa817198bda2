"""From images and polydata in memory to structures."""

from __future__ import annotations

import operator

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from .errors import InputError, NoSegmentation
from .geometry import masks, meshing
from .geometry.grids import Grid
from .settings import shortest
from .structures import Structure

# A label map has few values; an image whose integers pass this is a CT or MR, not a segmentation.
MOST_LABELS = 5000
# Images with more values than this are looked at more closely: labels lie together, intensities do not.
MOST_UNSUSPICIOUS_LABELS = 30
# How many slices that takes, and how many rows of each.
SLICES_LOOKED_AT, ROWS_LOOKED_AT = 16, 64
# Membership from which a voxel belongs to the surface that is measured, where no threshold is given.
HALF = 0.5
# By how much rounding in single precision may leave the range of memberships.
ROUNDING = 1e-6
# Whole numbers beyond this are not exact in files of floating-point numbers.
LARGEST_FLOAT_LABEL = 2**53
NO_NUMBERS = "The image has values that are not numbers."


def structureFromImage(
    image: SimpleITK.Image, name: str, label: int | None, threshold: float | None, maximum: int | None = None
) -> Structure:
    """Return the structure of a mask, of one label of a label map, or of memberships.

    label: of a label map; memberships have none and are taken as they are. threshold, maximum: see Settings. Raises
    ValueError when a label is needed or impossible, and when the image is no segmentation.
    """
    if label is not None:
        label = _positiveLabel(label)
    if image.GetPixelIDTypeAsString().startswith("label of"):  # asked for its voxels, it would end the program
        raise InputError("The image is a list of labeled objects without voxels; make it a label map first.")
    memberships = membershipsOf(image, maximum)
    if memberships is not None:
        return structureFromMemberships(name, memberships, threshold)
    threshold = HALF if threshold is None else threshold
    if label is not None:
        return Structure(name, labelMask(image, label, threshold))
    found = labelMasks(image, threshold)
    if len(found) > 1:
        labels = ", ".join(map(str, list(found)[:10])) + (", ..." if len(found) > 10 else "")
        raise InputError(f"The image has {len(found)} labels ({labels}): say which one to compare (label=...).")
    return Structure(name, next(iter(found.values()), masks.Mask.empty(Grid.fromImage(image))))


def structureFromMemberships(name: str, memberships: masks.Mask, threshold: float | None, **common) -> Structure:
    """Return a structure whose voxels count in part, or that of the voxels with at least so high a membership."""
    if threshold is not None:
        return Structure(name, memberships.cut(threshold), **common)
    return Structure(name, memberships.cut(HALF), memberships=memberships, **common)


def membershipsOf(image: SimpleITK.Image, maximum: int | None = None) -> masks.Mask | None:
    """Return the voxels of an image of memberships, None when it is a mask or a label map.

    maximum: full membership of images with values beyond 1; None: those are no memberships. Raises NoSegmentation, a
    ValueError, when the image has larger or negative values.
    """
    array = SimpleITK.GetArrayViewFromImage(image)
    if image.GetNumberOfComponentsPerPixel() != 1 or array.dtype.kind not in ("fiu" if maximum is not None else "f"):
        return None
    if not array.size:
        return None  # which is told by whoever looks for labels
    grid = Grid.fromImage(image)
    low, high = float(array.min()), float(array.max())
    if high > 1 and maximum is not None:
        if low < 0 or high > maximum:
            raise NoSegmentation(
                f"The image is not a map of memberships from 0 to {maximum}: it has values from {low:g} to {high:g}."
            )
        # as exact as single precision is: 8 bits of 255, or percent
        array = array / np.float32(maximum) if array.dtype.itemsize < 4 else array / maximum
    elif array.dtype.kind != "f" or not _areMemberships(low, high) or _areWhole(array):
        return None
    else:
        array = array.clip(0, 1)
    return masks.Mask.ofMemberships(array[None] if array.ndim == 2 else array, grid)


def _areMemberships(low: float, high: float) -> bool:
    """Return whether values from low to high are memberships in [0, 1], but for what rounding did to them."""
    return low >= -ROUNDING and high <= 1 + ROUNDING


def structureFromPolyData(polyData: vtkPolyData, name: str) -> Structure:
    """Return the structure of a surface or planar contours in LPS mm."""
    return Structure(name, givenSurface=meshing.fromPolyData(polyData), surfaceKind="imported")


def labelMasks(image: SimpleITK.Image, threshold: float) -> dict[int, masks.Mask]:
    """Return the mask of every label of an image, {1: mask} for memberships.

    threshold: membership from which a voxel belongs to the structure. Raises NoSegmentation, a ValueError, for images
    that are no segmentation: vector images, values outside [0, 1] that are not whole, negative values, more values than
    labels.
    """
    labels, peaks = _labelsOf(image, threshold)
    found = masks.fromLabels(labels, Grid.fromImage(image), peaks)
    if len(found) > MOST_LABELS:
        raise NoSegmentation(f"The image is not a label map: it has {len(found)} different values.")
    return found


def labelMask(image: SimpleITK.Image, label: int, threshold: float) -> masks.Mask:
    """Return the mask of one label of an image, sooner than labelMasks() finds all; empty if it does not occur.

    threshold, errors: as for labelMasks(), but however many labels there are.
    """
    labels, peaks = _labelsOf(image, threshold)
    return masks.oneOfLabels(labels, label, Grid.fromImage(image), peaks)


def _labelsOf(image: SimpleITK.Image, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels [k, j, i] of an image, 1 for memberships, and the largest label (k,) of every slice."""
    if image.GetNumberOfComponentsPerPixel() != 1:
        raise NoSegmentation("The image has several values per voxel; a segmentation has one.")
    if not image.GetNumberOfPixels():
        raise NoSegmentation(f"The image has no voxels: its size is {' x '.join(map(str, image.GetSize()))}.")
    array = SimpleITK.GetArrayViewFromImage(image)
    if array.ndim == 2:
        array = array[None]
    if array.dtype.kind == "c":
        raise NoSegmentation("The image has complex values; a segmentation has labels.")
    if array.dtype.kind == "f":
        low, high = float(array.min()), float(array.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise NoSegmentation(NO_NUMBERS)
        if _areMemberships(low, high):
            array = (array >= threshold).view(np.uint8)
            return array, masks.peaksOf(array)
        if max(-low, high) > LARGEST_FLOAT_LABEL or not _areWhole(array):
            raise NoSegmentation(
                "The image is neither a label map nor a map of memberships in [0, 1]: "
                f"it has values from {shortest(low)} to {shortest(high)}."
            )
        array = array.astype(np.int64)
    peaks = masks.peaksOf(array)
    low, high = 0 if array.dtype.kind == "u" else array.min(), peaks.max()
    if low < 0:
        raise NoSegmentation(f"The image is not a label map: it has negative values, from {low} to {high}.")
    if high > MOST_UNSUSPICIOUS_LABELS and _looksLikeIntensities(array):
        raise NoSegmentation(
            f"The image is not a label map: its values, up to {high}, change from voxel to voxel like those of a CT or "
            "MR image."
        )
    return array, peaks


def _positiveLabel(label) -> int:
    try:
        number = operator.index(label)
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"A label must be a whole number from 1, not {label!r}.")
    return number


def _areWhole(array: np.ndarray) -> bool:
    return bool((array == np.rint(array)).all())


def _looksLikeIntensities(array: np.ndarray) -> bool:
    """Return whether most values of an image [k, j, i] are scattered: their neighbors in the slice have other values.

    A look at some rows is enough. It spares the user the separate comparison of thousands of gray values.
    """
    slices, rows = (
        np.unique(np.linspace(0, count - 1, most).astype(int))
        for count, most in zip(array.shape, (SLICES_LOOKED_AT, ROWS_LOOKED_AT))
    )
    asked = array[np.ix_(slices, rows)]
    # the last row has none below
    pairs = (asked[..., 1:], asked[..., :-1]), (asked[:, :-1], array[np.ix_(slices, rows[:-1] + 1)])
    values = np.unique(asked)
    if np.count_nonzero(values) <= MOST_UNSUSPICIOUS_LABELS:
        return False
    neighbors, alike = np.zeros((2, len(values)))
    for first, second in pairs:
        areInside = (first != 0) & (second != 0)
        numbers = np.searchsorted(values, first[areInside])
        neighbors += np.bincount(numbers, minlength=len(values))
        alike += np.bincount(numbers[first[areInside] == second[areInside]], minlength=len(values))
    met = neighbors > 0
    return bool(met.any()) and float(np.median(alike[met] / neighbors[met])) < 0.5
