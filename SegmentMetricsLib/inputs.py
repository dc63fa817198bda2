"""From images and polydata in memory to structures."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterator

import numpy as np
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from .errors import InputError, NoSegmentation
from .geometry import masks, meshing
from .geometry.grids import Grid
from .settinglocations import whereToSet
from .settings import shortest
from .structures import NOTES, WITHOUT_LABEL, Structure

# A label map has few values; an image whose integers pass this is a CT or MR, not a segmentation.
MOST_LABELS = 5000
# Images with more values than this are looked at more closely: labels lie together, intensities do not.
MOST_UNSUSPICIOUS_LABELS = 30
# How many slices that takes, and how many rows of each.
SLICES_LOOKED_AT, ROWS_LOOKED_AT = 16, 64
# Membership from which a voxel belongs to the surface that is measured, where no threshold is given.
HALF = 0.5
# Memberships this far from 0 and 1 decide nothing; of a structure that was segmented, no larger share of an image does.
UNDECIDED, MOST_UNDECIDED = 0.1, 0.5
# By how much rounding in single precision may leave the range of memberships.
ROUNDING = 1e-6
# Whole numbers beyond this are not exact in files of floating-point numbers.
LARGEST_FLOAT_LABEL = 2**53
# What memberships beyond 1 mostly go up to: percent, and 8 and 16 bits.
FULL_MEMBERSHIPS = (100, 255, 65535)
NO_NUMBERS = "The image has values that are not numbers."


def structureFromImage(
    image: SimpleITK.Image,
    name: str,
    label: int | None,
    threshold: float | None,
    maximum: int | None = None,
    canChoose: bool = True,
) -> Structure:
    """Return the structure of a mask, of one label of a label map, or of memberships.

    label: of a label map; memberships have none and are taken as they are. threshold, maximum: see Settings. canChoose:
    whether whoever gave the image could have given a label. Raises ValueError when a label is needed or impossible, and
    when the image is no segmentation.
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
        mask, others = labelMask(image, label, threshold)
        # the note tells a label that was mistyped from a structure that nobody drew
        note = f"Label {label} does not occur in the {name}, which has {_listed(others)}."
        return Structure(name, mask, source={WITHOUT_LABEL: others, NOTES: (note,)} if others else {})
    found = labelMasks(image, threshold)
    if len(found) > 1:
        advice = "say which one to compare (label=...)" if canChoose else f"give one alone, as in image == {min(found)}"
        raise InputError(f"The image has {len(found)} {_listed(found)}: {advice}.")
    return Structure(name, next(iter(found.values()), masks.Mask.empty(Grid.fromImage(image))))


def _listed(labels: Collection[int]) -> str:
    """Return some of the labels of an image, in words."""
    shown = ", ".join(map(str, list(labels)[:10])) + (", ..." if len(labels) > 10 else "")
    return f"labels ({shown})" if len(labels) > 1 else f"label {shown}"


def structureFromMemberships(name: str, memberships: masks.Mask, threshold: float | None, **common) -> Structure:
    """Return a structure whose voxels count in part, or that of the voxels with at least so high a membership."""
    undecided = np.count_nonzero((memberships.voxels > UNDECIDED) & (memberships.voxels < 1 - UNDECIDED))
    if undecided > MOST_UNDECIDED * math.prod(memberships.grid.size):
        between = f"{UNDECIDED:g} and {1 - UNDECIDED:g}"
        note = f"most values lie between {between}: it may be an image of intensities instead of memberships"
        source = common.get("source", {})
        common["source"] = {**source, NOTES: (*source.get(NOTES, ()), note)}
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
    low, high = _span(array)
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


def labelMask(image: SimpleITK.Image, label: int, threshold: float) -> tuple[masks.Mask, tuple[int, ...]]:
    """Return the mask of one label of an image, sooner than labelMasks() finds all.

    It is empty if the label does not occur; only then the labels that do are returned as well. threshold, errors: as
    for labelMasks(), but however many labels there are.
    """
    labels, peaks = _labelsOf(image, threshold)
    mask = masks.oneOfLabels(labels, label, Grid.fromImage(image), peaks)
    return mask, tuple(masks.boxesOfLabels(labels)) if mask.isEmpty else ()


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
        low, high = _span(array)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise NoSegmentation(NO_NUMBERS)
        if _areMemberships(low, high):
            array = (array >= threshold).view(np.uint8)
            return array, masks.peaksOf(array)
        whole = None if max(-low, high) > LARGEST_FLOAT_LABEL else _wholeNumbers(array, low, high)
        if whole is None:
            raise NoSegmentation(
                "The image is neither a label map nor a map of memberships in [0, 1]: "
                f"it has values from {shortest(low + 0.0)} to {shortest(high)}.{_ifScaled(low, high)}"
            )
        array = whole
    peaks = masks.peaksOf(array)
    low, high = 0 if array.dtype.kind == "u" else array.min(), peaks.max()
    if low < 0:
        raise NoSegmentation(f"The image is not a label map: it has negative values, from {low} to {high}.")
    if high > MOST_UNSUSPICIOUS_LABELS and _looksLikeIntensities(array):
        raise NoSegmentation(
            f"The image is not a label map: its values, up to {high}, change from voxel to voxel like those of a CT or "
            f"MR image.{_ifScaled(float(low), float(high))}"
        )
    return array, peaks


def _ifScaled(low: float, high: float) -> str:
    """Return how values from low to high would be taken for memberships that go beyond 1, "" where they hardly are."""
    full = next((full for full in FULL_MEMBERSHIPS if full / 2 < high <= full), 0)
    if low < 0 or not full:
        return ""
    where = whereToSet(f"--membership-maximum {full}", f"membershipMaximum={full}")
    return f" If they are memberships, and {full} is a full one, say so {where}."


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


def _span(array: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest of some numbers, both NaN if one of them is."""
    lows, highs = zip(*((part.min(), part.max()) for part in _parts(array)), strict=True)
    return float(np.min(lows)), float(np.max(highs))


def _wholeNumbers(array: np.ndarray, low: float, high: float) -> np.ndarray | None:
    """Return floating-point numbers as integers of as few bytes as they need, None where not all of them are whole.

    low, high: the smallest and the largest of them.
    """
    whole = np.empty(array.shape, np.uint8 if low >= 0 and high <= 255 else np.int64)
    for given, result in zip(_parts(array), _parts(whole), strict=True):
        result[:] = given
        if (result != given).any():
            return None
    return whole


def _parts(array: np.ndarray) -> Iterator[np.ndarray]:
    """Yield an array in parts that fit in the processor's cache, for what is asked of them one after the other."""
    numbers = array.reshape(-1)
    return (numbers[first : first + masks.BLOCK] for first in range(0, len(numbers), masks.BLOCK))


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
